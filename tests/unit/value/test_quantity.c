/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities against vectors that Go's library made (tests/oracles/quantity), and laws: what is formatted
 * reads back, sums and products agree with 128-bit integers where the compiler has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "support/files.h"
#include "value/quantity.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

static grove_quantity quantity(const char *text) {
    grove_quantity q = {0};
    if (grove_quantity_parse(text, strlen(text), &q, NULL) < 0) {
        fail_msg("%s is no quantity", text);
    }
    return q;
}

static void assert_format(const grove_quantity *q, const char *expected, const char *label) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_quantity_format(q, &out), GROVE_OK);
    if (strcmp(out.data, expected) != 0) {
        fail_msg("%s is formatted as %s, not %s", label, out.data, expected);
    }
    grove_buf_fini(&out);
}

/* ---- Go's answers ---- */

static const char *const format_names[] = {"DecimalSI", "BinarySI", "DecimalExponent"};

static void check_scaled(const char *text, const char *expected, grove_status st, int64_t got) {
    char shown[24];
    if (strcmp(expected, "-") != 0) {
        gv_fmt(shown, sizeof shown, "%lld", (long long)got);
        if (st < 0 || strcmp(shown, expected) != 0) {
            fail_msg("%s: scaled to %s, not %s", text, shown, expected);
        }
    }
}

static void check_vector(char *fields[6]) {
    const char *text = fields[0];
    grove_quantity q;
    grove_error err = GROVE_ERROR_INIT;
    const grove_status st = grove_quantity_parse(text, strlen(text), &q, &err);
    if (strcmp(fields[1], "error") == 0) {
        if (st != GROVE_E_PARSE) {
            fail_msg("\"%s\" was read", text);
        }
        return;
    }
    if (st < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    grove_buf back;
    grove_buf_init(&back, env);
    assert_int_equal(gv_quantity_rewrite(gv_str_c(text), &back, NULL), GROVE_OK);
    if (strcmp(back.data, fields[1]) != 0) {
        fail_msg("%s is written back as %s, not %s", text, back.data, fields[1]);
    }
    grove_buf_fini(&back);
    assert_format(&q, fields[2], text);
    if (strcmp(format_names[q.format], fields[3]) != 0) {
        fail_msg("%s has the format %s, not %s", text, format_names[q.format], fields[3]);
    }
    int64_t milli = 0;
    int64_t units = 0;
    const grove_status milli_st = grove_quantity_milli(&q, &milli);
    check_scaled(text, fields[4], milli_st, milli);
    const grove_status units_st = grove_quantity_units(&q, &units);
    check_scaled(text, fields[5], units_st, units);
}

static void test_go_vectors(void **state) {
    (void)state;
    char *text = test_read("tests/golden/quantity/vectors.tsv", NULL);
    unsigned lines = 0;
    for (char *at = text; *at; lines++) {
        char *end = strchr(at, '\n');
        assert_non_null(end);
        *end = '\0';
        char *fields[6] = {NULL};
        for (unsigned i = 0; i < 6 && at; i++) {
            fields[i] = at;
            at = strchr(at, '\t');
            if (at) {
                *at++ = '\0';
            }
        }
        check_vector(fields);
        at = end + 1;
    }
    print_message("%u vectors\n", lines);
    assert_true(lines > 1000);
    free(text);
}

/* ---- where libgrove differs from Go on purpose, and limits ---- */

static void test_range(void **state) {
    (void)state;
    static const char *const too_large[] = {"170141183460469231731687303716",
                                            "1e30",
                                            "1e99999999",
                                            "200000000000E",
                                            "1e4294967296",
                                            "170141183460469231731687303715.8841057275"};
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        grove_quantity q = {1, 2, 3, 4};
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(grove_quantity_parse(too_large[i], strlen(too_large[i]), &q, &err),
                         GROVE_E_RANGE);
        assert_int_equal(q.hi, 1);
    }
    const grove_quantity most = quantity("170141183460469231731687303715.884105727");
    assert_format(&most, "170141183460469231731687303715884105727n", "the largest");
    grove_quantity q = quantity("1000E");
    assert_format(&q, "1000E", "1000E"); /* Go prints 1 */
    q = quantity("0e999999999");
    assert_format(&q, "0", "zero of any exponent");
    q = quantity("0.000000000000000000000000000000000000000000000000001");
    assert_format(&q, "1n", "a little");
    const grove_quantity one = quantity("1n");
    assert_int_equal(grove_quantity_add(&most, &one, &q), GROVE_E_RANGE);
    assert_int_equal(grove_quantity_mul(&most, 2, &q), GROVE_E_RANGE);
    assert_int_equal(grove_quantity_mul(&most, INT64_MIN, &q), GROVE_E_RANGE);
    int64_t v = 7;
    assert_int_equal(grove_quantity_units(&most, &v), GROVE_E_RANGE);
    assert_int_equal(v, 7);
    q = quantity("9223372036854775807");
    assert_int_equal(grove_quantity_units(&q, &v), GROVE_OK);
    assert_true(v == INT64_MAX);
    assert_int_equal(grove_quantity_milli(&q, &v), GROVE_E_RANGE);
    q = quantity("-1500m");
    assert_int_equal(grove_quantity_units(&q, &v), GROVE_OK);
    assert_int_equal(v, -2); /* away from zero */
    assert_int_equal(grove_quantity_parse("1\0m", 3, &q, NULL), GROVE_E_PARSE);
    assert_int_equal(grove_quantity_parse(NULL, 0, &q, NULL), GROVE_E_PARSE);
    assert_int_equal(grove_quantity_parse("1", 1, NULL, NULL), GROVE_E_INVALID);
}

/* CLI-13: what clients hung on, or took for something else. NULL: refused as too large, "": as none. */
static void test_traps(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"2E6024865272343", NULL},
        {"2E-6024865272343", "1e-9"},
        {"0E6024865272343", "0"},
        {"644245094400m", "644245094400m"},
        {"1500u", "1500u"},
        {"100n", "100n"},
        {"0.1", "100m"},
        {"1e3", "1e3"},
        {"1Ki", "1Ki"},
        {"9E", "9E"},
        {"-1", "-1"},
        {"", ""},
        {"1 Gi", ""},
        {"9E99999999999999999999999999999999999999", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grove_quantity q;
        const char *text = rows[i].text, *want = rows[i].canonical;
        grove_status st = grove_quantity_parse(text, strlen(text), &q, NULL);
        if (want && want[0]) {
            assert_int_equal(st, GROVE_OK);
            assert_format(&q, want, text);
        } else if (st != (want ? GROVE_E_PARSE : GROVE_E_RANGE)) {
            fail_msg("%s: status %d", text, (int)st);
        }
    }
}

static void test_format_of_sums(void **state) {
    (void)state;
    const grove_quantity zero = quantity("0");
    const grove_quantity gi = quantity("1Gi");
    const grove_quantity m = quantity("500m");
    grove_quantity q;
    assert_int_equal(grove_quantity_add(&zero, &gi, &q), GROVE_OK);
    assert_format(&q, "1Gi", "0 + 1Gi");
    assert_int_equal(grove_quantity_add(&gi, &m, &q), GROVE_OK);
    assert_format(&q, "1073741824500m", "1Gi + 500m");
    assert_int_equal(grove_quantity_sub(&m, &m, &q), GROVE_OK);
    assert_format(&q, "0", "500m - 500m");
    assert_int_equal(grove_quantity_mul(&gi, -3, &q), GROVE_OK);
    assert_format(&q, "-3Gi", "1Gi * -3");
    assert_int_equal(grove_quantity_compare(&m, &gi), -1);
    assert_int_equal(grove_quantity_compare(&q, &zero), -1);
    const grove_quantity same = quantity("0.5");
    assert_int_equal(grove_quantity_compare(&m, &same), 0);
}

/* ---- laws ---- */

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;

static int128 as_int128(const grove_quantity *q) {
    return (int128)((unsigned __int128)(uint64_t)q->hi << 64 | q->lo);
}
#endif

static grove_quantity random_quantity(gv_prng *r) {
    const unsigned shift = (unsigned)gv_prng_below(r, 126);
    const uint64_t hi = gv_prng_next(r);
    const uint64_t lo = gv_prng_next(r);
    grove_quantity q = {0, 0, (uint32_t)gv_prng_below(r, 3), 0};
    q.hi = shift < 64 ? (int64_t)hi >> 1 >> shift : hi & 1 ? -1 : 0;
    q.lo = shift < 64 ? lo : lo >> (shift - 64);
    return q;
}

static void test_laws(void **state) {
    (void)state;
    const uint64_t seed = 20261129;
    print_message("seed %llu\n", (unsigned long long)seed);
    gv_prng r;
    gv_prng_seed(&r, seed);
    grove_buf out;
    grove_buf_init(&out, env);
    for (int i = 0; i < 20000; i++) {
        const grove_quantity a = random_quantity(&r);
        const grove_quantity b = random_quantity(&r);
        grove_quantity sum = {0};
        grove_quantity back = {0};
        grove_buf_clear(&out);
        assert_int_equal(grove_quantity_format(&a, &out), GROVE_OK);
        assert_int_equal(grove_quantity_parse(out.data, (size_t)out.len, &back, NULL), GROVE_OK);
        assert_int_equal(grove_quantity_compare(&a, &back), 0);
        if (grove_quantity_add(&a, &b, &sum) == GROVE_OK) {
            assert_int_equal(grove_quantity_sub(&sum, &b, &back), GROVE_OK);
            assert_int_equal(grove_quantity_compare(&a, &back), 0);
        }
#ifdef __SIZEOF_INT128__
        int128 exact;
        const bool fits = !__builtin_add_overflow(as_int128(&a), as_int128(&b), &exact);
        assert_true(grove_quantity_add(&a, &b, &sum) == (fits ? GROVE_OK : GROVE_E_RANGE));
        assert_true(!fits || as_int128(&sum) == exact);
        const int64_t factor = (int64_t)gv_prng_next(&r) >> gv_prng_below(&r, 64);
        const bool multiplies = !__builtin_mul_overflow(as_int128(&a), (int128)factor, &exact);
        assert_true(grove_quantity_mul(&a, factor, &sum) ==
                    (multiplies ? GROVE_OK : GROVE_E_RANGE));
        assert_true(!multiplies || as_int128(&sum) == exact);
        assert_int_equal(grove_quantity_compare(&a, &b),
                         (as_int128(&a) > as_int128(&b)) - (as_int128(&a) < as_int128(&b)));
#endif
    }
    grove_buf_fini(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_vectors), cmocka_unit_test(test_range),
        cmocka_unit_test(test_traps),      cmocka_unit_test(test_format_of_sums),
        cmocka_unit_test(test_laws),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
