/* SPDX-License-Identifier: Apache-2.0 */
/* Environment, errors, buffers, formatting, arena, vector, map, sorting, random numbers, findings, log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/map.h"
#include "base/prng.h"
#include "base/sort.h"
#include "base/vec.h"
#include "support/oom.h"

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

/* ---- environment ---- */

static void test_env_defaults(void **state) {
    (void)state;
    const grove_limits *l = gv_env_limits(env);
    assert_int_equal(l->depth, 128);
    assert_int_equal(l->document_bytes, 64u << 20);
    assert_int_equal(l->document_nodes, 4194304);
    assert_int_equal(l->diagnostics, 1000);
    assert_int_equal(l->search_steps, 2000000);
    assert_true(l->store_bytes == UINT64_MAX);
    assert_int_equal(grove_env_new(NULL, NULL), GROVE_E_INVALID);
    grove_env_unref(NULL);
    assert_null(grove_env_ref(NULL));
}

static void test_env_sizes(void **state) {
    (void)state;
    grove_env *e = NULL;
    grove_env_options o = {.size = 2};
    assert_int_equal(grove_env_new(&o, &e), GROVE_E_INVALID);
    struct {
        grove_env_options known;
        uint64_t unknown;
    } newer = {.known.size = (uint32_t)sizeof newer};
    assert_int_equal(grove_env_new(&newer.known, &e), GROVE_OK);
    grove_env_unref(e);
    e = NULL;
    newer.unknown = 1;
    assert_int_equal(grove_env_new(&newer.known, &e), GROVE_E_TOO_NEW);
    assert_null(e);
    grove_allocator partial = {.size = (uint32_t)sizeof partial};
    o = (grove_env_options){.size = (uint32_t)sizeof o, .allocator = &partial};
    assert_int_equal(grove_env_new(&o, &e), GROVE_E_INVALID);
    const grove_limits deep = {.size = (uint32_t)sizeof deep, .depth = 1000000};
    o = (grove_env_options){.size = (uint32_t)sizeof o, .limits = &deep};
    assert_int_equal(grove_env_new(&o, &e), GROVE_OK);
    assert_int_equal(gv_env_limits(e)->depth, 1000); /* code recurses over documents */
    grove_env_unref(e);
}

static void test_two_envs(void **state) {
    (void)state;
    oom_memory a;
    oom_memory b;
    oom_memory_init(&a);
    oom_memory_init(&b);
    grove_env *ea = oom_env(&a, NULL);
    grove_env *eb = oom_env(&b, NULL);
    void *pa = gv_alloc(ea, 10);
    void *pb = gv_zalloc(eb, 0);
    assert_int_equal(a.live_bytes - b.live_bytes, 9);
    gv_free(ea, pa, 10);
    gv_free(eb, pb, 0);
    gv_free(eb, NULL, 5);
    grove_env_unref(grove_env_ref(ea));
    grove_env_unref(ea);
    grove_env_unref(eb);
    assert_int_equal(a.live_blocks + b.live_blocks, 0);
}

/* ---- errors ---- */

static void test_errors(void **state) {
    (void)state;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(gv_error_at(&err, GROVE_E_PARSE, 3, 4, "/a/b", "found %d", 7), GROVE_E_PARSE);
    assert_int_equal(err.status, GROVE_E_PARSE);
    assert_int_equal(err.category, GROVE_CATEGORY_INPUT);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 4);
    assert_string_equal(err.path, "/a/b");
    assert_string_equal(err.message, "found 7");
    gv_error(&err, GROVE_E_BUSY, "later");
    assert_int_equal(err.flags, GROVE_ERROR_RETRIABLE);
    assert_int_equal(err.line, 0);
    assert_string_equal(err.path, "");
    assert_int_equal(gv_error(NULL, GROVE_E_TYPE, "no one listens"), GROVE_E_TYPE);
    grove_error unset = {0};
    gv_error(&unset, GROVE_E_TYPE, "not initialised: left alone");
    assert_string_equal(unset.message, "");
    assert_string_equal(grove_status_name(GROVE_E_PARSE), "GROVE_E_PARSE");
    assert_string_equal(grove_status_name(GROVE_OK), "GROVE_OK");
    assert_string_equal(grove_status_name(-77), "GROVE_E_?");
}

static void test_error_is_cut_between_characters(void **state) {
    (void)state;
    char text[600];
    for (size_t lead = 0; lead < 4; lead++) {
        memset(text, 'x', lead);
        size_t n = lead;
        while (n + 4 < sizeof text) {
            memcpy(text + n, "\xF0\x9F\x98\x80", 4);
            n += 4;
        }
        text[n] = '\0';
        grove_error err = GROVE_ERROR_INIT;
        gv_error(&err, GROVE_E_PARSE, "%s", text);
        const size_t kept = strlen(err.message);
        assert_true(kept <= 511 && kept > 507);
        assert_int_equal((kept - lead) % 4, 0);
    }
}

/* ---- buffers and formatting ---- */

static void test_buf(void **state) {
    (void)state;
    grove_buf b;
    grove_buf_init(&b, env);
    assert_null(b.data);
    assert_int_equal(grove_buf_append(&b, NULL, 0), GROVE_OK);
    assert_string_equal(b.data, "");
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(gv_buf_fmt(&b, "%d,", i), GROVE_OK);
    }
    assert_int_equal(b.len, 3890);
    assert_int_equal(strlen(b.data), 3890);
    assert_int_equal(grove_buf_reserve(&b, SIZE_MAX), GROVE_E_NOMEM);
    grove_buf_clear(&b);
    assert_int_equal(b.len, 0);
    assert_true(b.cap >= 3890);
    grove_buf_fini(&b);
    grove_buf_fini(&b); /* twice is harmless */
    grove_buf_fini(NULL);
    grove_buf_clear(NULL);
    grove_buf_init(NULL, env);
    assert_int_equal(grove_buf_append(NULL, "x", 1), GROVE_E_INVALID);
    assert_int_equal(grove_buf_reserve(NULL, 1), GROVE_E_INVALID);
    assert_int_equal(grove_buf_append(&b, "x", 1), GROVE_E_INVALID);
}

#define assert_fmt(expected, ...)                   \
    do {                                            \
        char out_[128];                             \
        size_t n_ = gv_fmt(out_, 128, __VA_ARGS__); \
        assert_string_equal(out_, expected);        \
        assert_int_equal(n_, sizeof(expected) - 1); \
    } while (0)

static void test_fmt(void **state) {
    (void)state;
    assert_fmt("a 1 -2 b%", "a %d %i %s%%", 1, -2, "b");
    assert_fmt("-2147483648 -9223372036854775808", "%d %lld", INT32_MIN, (long long)INT64_MIN);
    assert_fmt("18446744073709551615 ffffffffffffffff", "%llu %llx", (unsigned long long)UINT64_MAX,
               (unsigned long long)UINT64_MAX);
    assert_fmt("7 8 9 10", "%ld %zu %td %jd", 7L, (size_t)8, (ptrdiff_t)9, (intmax_t)10);
    assert_fmt("-1 255 -3 65533", "%hhd %hhu %hd %hu", (signed char)-1, (unsigned char)255,
               (short)-3, (unsigned short)65533);
    assert_fmt("[   ab] [ab   ] [00042] [-0042] [   42] [42   ]",
               "[%5s] [%-5s] [%05d] [%05d] [%5d] [%-5d]", "ab", "ab", 42, -42, 42, 42);
    assert_fmt("abc abc [  ab]", "%.3s %.*s [%*.2s]", "abcdef", 3, "abcdef", 4, "abcdef");
    assert_fmt("x 0XDEAD 0xbeef", "%c 0X%X 0x%x", 'x', 0xDEADu, 0xbeefu);
    char small[4];
    assert_int_equal(gv_fmt(small, sizeof small, "%s", "abcdef"), 3);
    assert_string_equal(small, "abc");
    assert_int_equal(gv_fmt(small, sizeof small, "ab\xC3\xA9"), 2); /* not half a character */
    assert_string_equal(small, "ab");
    assert_int_equal(gv_fmt(small, 0, "x"), 0);
}

static void test_str(void **state) {
    (void)state;
    int64_t v = 5;
    assert_true(gv_str_int64(GV_STR("9223372036854775807"), &v) && v == INT64_MAX);
    assert_true(gv_str_int64(GV_STR("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(gv_str_int64(GV_STR("+7"), &v) && v == 7);
    assert_false(gv_str_int64(GV_STR("9223372036854775808"), &v));
    assert_false(gv_str_int64(GV_STR("-9223372036854775809"), &v));
    assert_false(gv_str_int64(GV_STR("99999999999999999999999"), &v));
    assert_false(gv_str_int64(GV_STR(""), &v) || gv_str_int64(GV_STR("-"), &v));
    assert_false(gv_str_int64(GV_STR("1 "), &v) || gv_str_int64(GV_STR("0x1"), &v));
    assert_int_equal(v, 7);
    assert_true(gv_str_cmp(GV_STR("a"), GV_STR("b")) < 0);
    assert_true(gv_str_cmp(GV_STR("a"), GV_STR("ab")) < 0);
    assert_true(gv_str_cmp(GV_STR("\xFF"), GV_STR("a")) > 0);
    assert_int_equal(gv_str_cmp((gv_str){NULL, 0}, GV_STR("")), 0);
    assert_true(gv_str_starts(GV_STR("abc"), GV_STR("ab")) &&
                gv_str_ends(GV_STR("abc"), GV_STR("bc")));
    assert_false(gv_str_starts(GV_STR("a"), GV_STR("ab")) ||
                 gv_str_ends(GV_STR("c"), GV_STR("bc")));
    assert_true(gv_str_is(gv_str_trim(GV_STR(" \t a b\n ")), "a b"));
    assert_int_equal(gv_str_trim(GV_STR("   ")).n, 0);
}

/* ---- arena, vector, map ---- */

static void test_arena(void **state) {
    (void)state;
    gv_arena a;
    gv_arena_init(&a, env);
    char *kept = gv_arena_dup(&a, GV_STR("kept"));
    for (size_t n = 0; n < 3000; n += 37) {
        unsigned char *p = gv_arena_zalloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 8, 0);
        memset(p, 0xFF, n);
    }
    assert_string_equal(kept, "kept");
    char *text = gv_arena_fmt(&a, "%s-%d", "name", 5);
    assert_string_equal(text, "name-5");
    char *wide = gv_arena_fmt(&a, "%1000d", 7);
    assert_int_equal(strlen(wide), 1000);
    assert_null(gv_arena_alloc(&a, SIZE_MAX - 3));
    gv_arena_reset(&a);
    assert_non_null(gv_arena_new(&a, gv_str));
    assert_non_null(gv_arena_array(&a, int64_t, 10));
    gv_arena_fini(&a);
    assert_int_equal(a.bytes, 0);
}

#ifndef GV_DEBUG_ARENA
static void test_arena_is_quiet_when_warm(void **state) {
    (void)state;
    oom_memory m;
    oom_memory_init(&m);
    grove_env *e = oom_env(&m, NULL);
    gv_arena a;
    gv_arena_init(&a, e);
    uint64_t before = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 400; i++) {
            assert_non_null(gv_arena_alloc(&a, 100));
        }
        if (round == 3) {
            before = m.allocations;
        }
        gv_arena_reset(&a);
    }
    assert_int_equal(m.allocations, before);
    gv_arena_fini(&a);
    grove_env_unref(e);
    assert_int_equal(m.live_blocks, 0);
}
#endif

static void test_vec(void **state) {
    (void)state;
    GV_VEC(int64_t) v = {0};
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(gv_vec_push(env, &v, i * i));
    }
    assert_int_equal(v.n, 1000);
    assert_int_equal(v.v[999], 998001);
    assert_false(gv_vec_reserve(env, &v, SIZE_MAX / 4));
    assert_int_equal(v.v[500], 250000);
    gv_vec_fini(env, &v);
    assert_null(v.v);
}

/* Against a plain list as reference. */
static void test_map(void **state) {
    (void)state;
    const uint64_t seed = 20261129;
    print_message("seed %llu\n", (unsigned long long)seed);
    gv_prng r;
    gv_prng_seed(&r, seed);
    gv_map m;
    gv_map_init(&m, env);
    static int values[200];
    int order[200]; /* key numbers in order of insertion */
    int n = 0;
    for (int step = 0; step < 20000; step++) {
        const int key = (int)gv_prng_below(&r, 200);
        char text[16];
        const gv_str k = {text, gv_fmt(text, sizeof text, "key-%d", key)};
        int at = 0;
        while (at < n && order[at] != key) {
            at++;
        }
        assert_int_equal(gv_map_has(&m, k), at < n);
        if (gv_prng_below(&r, 2) == 0) {
            assert_true(gv_map_put(&m, k, &values[key]));
            if (at == n) {
                order[n++] = key;
            }
        } else {
            assert_ptr_equal(gv_map_remove(&m, k), at < n ? &values[key] : NULL);
            if (at < n) {
                n--;
                memmove(order + at, order + at + 1, (size_t)(n - at) * sizeof *order);
            }
        }
        assert_int_equal(gv_map_size(&m), n);
    }
    int seen = 0;
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&m, &i));) {
        assert_ptr_equal(e->value, &values[order[seen++]]);
        gv_map_remove(&m, (gv_str){e->key, e->key_len}); /* removing the current one is allowed */
    }
    assert_int_equal(seen, n);
    assert_int_equal(gv_map_size(&m), 0);
    assert_null(gv_map_get(&m, GV_STR("key-1")));
    gv_map_fini(&m);
}

static int compare_ints(const void *a, const void *b, void *ctx) {
    (*(int *)ctx)++;
    return *(const int *)a - *(const int *)b;
}

static void test_sort(void **state) {
    (void)state;
    enum { N = 1000 };
    static int numbers[N];
    const void *pointers[N];
    for (int shape = 0; shape < 4; shape++) { /* falling, rising, equal, random */
        gv_prng r;
        gv_prng_seed(&r, 7);
        for (int i = 0; i < N; i++) {
            numbers[i] = shape == 0   ? N - i
                         : shape == 1 ? i
                         : shape == 2 ? 5
                                      : (int)gv_prng_below(&r, 300);
            pointers[i] = &numbers[i];
        }
        int compares = 0;
        gv_sort(pointers, N, compare_ints, &compares);
        assert_true(compares < 25000);
        for (int i = 1; i < N; i++) {
            assert_true(*(const int *)pointers[i - 1] <= *(const int *)pointers[i]);
        }
    }
    gv_sort(pointers, 0, compare_ints, NULL);
}

static void test_prng(void **state) {
    (void)state;
    gv_prng r;
    gv_prng_seed(&r, 0);
    assert_true(gv_prng_next(&r) == UINT64_C(0xe220a8397b1dcdaf)); /* splitmix64, seed 0 */
    assert_int_equal(gv_prng_below(&r, 1), 0);
    unsigned counts[6] = {0};
    for (int i = 0; i < 6000; i++) {
        counts[gv_prng_below(&r, 6)]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(counts[i], 880, 1120);
    }
}

/* ---- findings and log ---- */

static void test_diags(void **state) {
    (void)state;
    const grove_limits limits = {.size = (uint32_t)sizeof limits, .diagnostics = 3};
    const grove_env_options options = {.size = (uint32_t)sizeof options, .limits = &limits};
    grove_env *e = NULL;
    assert_int_equal(grove_env_new(&options, &e), GROVE_OK);
    grove_diags *d = NULL;
    assert_int_equal(grove_diags_new(e, &d), GROVE_OK);
    assert_true(gv_diag_add(d, GROVE_SEVERITY_ERROR, 1001, "Required", GV_STR("spec.a"), 2, 3,
                            "is %s", "missing"));
    assert_true(gv_diag_add(d, GROVE_SEVERITY_ERROR, 1001, "Required", GV_STR("spec.a"), 2, 3,
                            "is missing"));
    assert_true(
        gv_diag_add(d, GROVE_SEVERITY_WARNING, 1001, NULL, GV_STR("spec.b"), 0, 0, "is missing"));
    assert_int_equal(grove_diags_count(d), 2);
    assert_int_equal(grove_diags_errors(d), 1);
    const grove_diag *first = grove_diags_at(d, 0);
    assert_int_equal(first->code, 1001);
    assert_int_equal(first->line, 2);
    assert_string_equal(first->type, "Required");
    assert_string_equal(first->path, "spec.a");
    assert_string_equal(first->message, "is missing");
    assert_string_equal(grove_diags_at(d, 1)->type, "");
    assert_null(grove_diags_at(d, 2));
    gv_diag_add(d, GROVE_SEVERITY_NOTE, 3, "", GV_STR(""), 0, 0, "c");
    gv_diag_add(d, GROVE_SEVERITY_NOTE, 4, "", GV_STR(""), 0, 0, "d");
    assert_int_equal(grove_diags_count(d), 3);
    assert_int_equal(grove_diags_dropped(d), 1);
    grove_diags_clear(d);
    assert_int_equal(grove_diags_count(d) + grove_diags_errors(d) + grove_diags_dropped(d), 0);
    grove_diags_free(d);
    grove_env_unref(e);
    assert_int_equal(grove_diags_count(NULL), 0);
    grove_diags_free(NULL);
    grove_diags_clear(NULL);
}

typedef struct seen_log {
    int records;
    char line[128];
} seen_log;

static void on_log(void *ctx, const grove_log_record *r) {
    seen_log *seen = ctx;
    seen->records++;
    gv_fmt(seen->line, sizeof seen->line, "%d %s %s %s %s=%s %u", r->level, r->component, r->code,
           r->message, r->fields[0].key, r->fields[0].value, r->n_fields);
}

static void test_log(void **state) {
    (void)state;
    seen_log seen = {0};
    const grove_env_options options = {
        .size = (uint32_t)sizeof options, .log = on_log, .log_ctx = &seen};
    grove_env *e = NULL;
    assert_int_equal(grove_env_new(&options, &e), GROVE_OK);
    const char *const fields[] = {"node", "n1", "gang", NULL, NULL};
    gv_log(e, GROVE_LOG_INFO, "engine", NULL, "placed", fields);
    assert_string_equal(seen.line, "3 engine  placed node=n1 2");
    assert_false(gv_log_enabled(e, GROVE_LOG_DEBUG));
    gv_log(e, GROVE_LOG_DEBUG, "engine", "", "not built", fields);
    assert_int_equal(seen.records, 1);
    assert_false(gv_log_enabled(env, GROVE_LOG_ERROR));
    grove_env_unref(e);
}

/* ---- out of memory ---- */

static grove_status use_everything(grove_env *e, void *ctx) {
    (void)ctx;
    bool ok = true;
    gv_arena a;
    gv_arena_init(&a, e);
    gv_map m;
    gv_map_init(&m, e);
    GV_VEC(int) v = {0};
    grove_diags *d = NULL;
    ok = grove_diags_new(e, &d) == GROVE_OK;
    for (int i = 0; ok && i < 100; i++) {
        const char *text = gv_arena_fmt(&a, "%*d", i * 5, i);
        ok = text && gv_map_put(&m, gv_str_c(text), NULL) && gv_vec_push(e, &v, i) &&
             gv_diag_add(d, GROVE_SEVERITY_ERROR, (uint32_t)i, "Invalid", gv_str_c(text), 0, 0,
                         "%s", text);
    }
    grove_diags_free(d);
    gv_vec_fini(e, &v);
    gv_map_fini(&m);
    gv_arena_fini(&a);
    return ok ? GROVE_OK : GROVE_E_NOMEM;
}

static void test_out_of_memory(void **state) {
    (void)state;
    oom_loop("arena, map, vector, findings", use_everything, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_env_defaults),
        cmocka_unit_test(test_env_sizes),
        cmocka_unit_test(test_two_envs),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_error_is_cut_between_characters),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_fmt),
        cmocka_unit_test(test_str),
        cmocka_unit_test(test_arena),
#ifndef GV_DEBUG_ARENA
        cmocka_unit_test(test_arena_is_quiet_when_warm),
#endif
        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_prng),
        cmocka_unit_test(test_diags),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
