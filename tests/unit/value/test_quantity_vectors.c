/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities mean what k8s.io/apimachinery says they mean, as far as 128 bits of nano-units reach. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/quantity.h>

#include "value/doc.h"
#include "vectors.h"

static grove_env *env;
static size_t wrong;

static void differs(gv_str a, gv_str b, const char *ours) {
    if (++wrong <= 40) {
        print_error("\"%.*s\" %.*s: ours %s\n", (int)a.n, a.p, (int)b.n, b.p, ours);
    }
}

/* Decimal text as a two's complement number; false when it needs more than 128 bits. */
static bool to_wide(gv_str s, uint64_t *hi, uint64_t *lo) {
    bool negative = s.n > 0 && s.p[0] == '-';
    uint32_t w[5] = {0};
    for (size_t i = negative; i < s.n; i++) {
        uint64_t carry = (uint64_t)(s.p[i] - '0');
        for (size_t k = 0; k < 5; k++) {
            carry += (uint64_t)w[k] * 10;
            w[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (w[4] != 0) {
            return false;
        }
    }
    *hi = (uint64_t)w[3] << 32 | w[2];
    *lo = (uint64_t)w[1] << 32 | w[0];
    if (*hi >> 63) {
        return false; /* -2^127 itself does not occur */
    }
    if (negative) {
        *lo = ~*lo + 1;
        *hi = ~*hi + (*lo == 0);
    }
    return true;
}

static bool has_family(const grove_quantity *q, gv_str family) {
    static const char *const names[] = {"DecimalSI", "BinarySI", "DecimalExponent"};
    return q->format < 3 && gv_str_is(family, names[q->format]);
}

static bool formats_as(const grove_quantity *q, gv_str expected, grove_buf *buf) {
    grove_buf_clear(buf);
    assert_int_equal(grove_quantity_format(q, buf), GROVE_OK);
    return gv_str_eq(gv_buf_view(buf), expected);
}

/* Does the text stand for this very value? */
static bool stands_for(gv_str text, const grove_quantity *q) {
    grove_quantity back;
    return grove_quantity_parse(text.p, text.n, &back, NULL) == GROVE_OK &&
           grove_quantity_compare(&back, q) == 0;
}

static void test_texts(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/quantities.jsonl");
    grove_buf buf;
    grove_buf_init(&buf, env);
    size_t n = 0, beyond = 0, lossy = 0;
    wrong = 0;
    for (const grove_node *v; (v = vectors_next(&f)); n++) {
        const gv_str text = gv_node_get_str(v, "text");
        const gv_str format = gv_node_get_str(v, "format");
        grove_quantity q;
        uint64_t hi = 0, lo = 0;
        const grove_status st = grove_quantity_parse(text.p, text.n, &q, NULL);
        if (gv_node_get_bool(v, "error")) {
            if (st != GROVE_E_PARSE) {
                differs(text, format, st < 0 ? grove_status_name(st) : "accepted");
            }
        } else if (!to_wide(gv_node_get_str(v, "nano"), &hi, &lo)) {
            beyond++; /* Go falls back to arbitrary precision */
            if (st != GROVE_E_RANGE) {
                differs(text, format, grove_status_name(st));
            }
        } else if (st < 0) {
            differs(text, format, grove_status_name(st));
        } else if ((uint64_t)q.hi != hi || q.lo != lo ||
                   !has_family(&q, gv_node_get_str(v, "family"))) {
            differs(text, format, "another value or family");
        } else if (!stands_for(format, &q)) {
            lossy++; /* from 1000E on Go's text is a thousand times too small, or more */
            if (formats_as(&q, format, &buf) || !stands_for(gv_buf_view(&buf), &q)) {
                differs(text, format, buf.data);
            }
        } else if (!formats_as(&q, format, &buf)) {
            differs(text, format, buf.data);
        }
    }
    grove_buf_fini(&buf);
    print_message("%zu quantities, %zu beyond 128 bits, %zu whose Go text is another value\n", n,
                  beyond, lossy);
    assert_true(lossy <= 15);
    assert_int_equal(wrong, 0);
    assert_true(n >= 4000);
}

static void test_pairs(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/quantity_pairs.jsonl");
    grove_buf buf;
    grove_buf_init(&buf, env);
    size_t n = 0;
    wrong = 0;
    for (const grove_node *v; (v = vectors_next(&f));) {
        const gv_str ta = gv_node_get_str(v, "a"), tb = gv_node_get_str(v, "b");
        grove_quantity a, b, r;
        if (grove_quantity_parse(ta.p, ta.n, &a, NULL) < 0 ||
            grove_quantity_parse(tb.p, tb.n, &b, NULL) < 0) {
            continue; /* beyond 128 bits */
        }
        n++;
        if (grove_quantity_compare(&a, &b) != gv_node_get_int(v, "cmp", 9)) {
            differs(ta, tb, "another order");
        }
        if (grove_quantity_add(&a, &b, &r) == GROVE_OK &&
            !formats_as(&r, gv_node_get_str(v, "sum"), &buf)) {
            differs(ta, tb, buf.data);
        }
        if (grove_quantity_sub(&a, &b, &r) == GROVE_OK &&
            !formats_as(&r, gv_node_get_str(v, "sub"), &buf)) {
            differs(ta, tb, buf.data);
        }
    }
    grove_buf_fini(&buf);
    print_message("%zu pairs\n", n);
    assert_int_equal(wrong, 0);
    assert_true(n >= 800);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts), cmocka_unit_test(test_pairs)};
    if (grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    grove_env_unref(env);
    return failed;
}
