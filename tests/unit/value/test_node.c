/* SPDX-License-Identifier: Apache-2.0 */
/* Reading nodes: types, look-ups, numbers, pointers, places; and that NULL is always answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "value/doc.h"

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

static grove_doc *parsed(const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(env, text, strlen(text), 0, &doc, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return doc;
}

static void test_null_is_answered(void **state) {
    (void)state;
    size_t n = 7;
    int64_t i = 7;
    double d = 7;
    uint32_t line = 7;
    assert_int_equal(grove_node_type(NULL), GROVE_MISSING);
    assert_int_equal(grove_node_size(NULL), 0);
    assert_null(grove_node_get(NULL, "a"));
    assert_null(grove_node_getn(NULL, "a", 1));
    assert_null(grove_node_at(NULL, 0));
    assert_null(grove_node_first(NULL));
    assert_null(grove_node_next(NULL, NULL));
    assert_null(grove_node_key(NULL, &n));
    assert_int_equal(n, 0);
    assert_null(grove_node_at_path(NULL, "/a"));
    assert_null(grove_node_text(NULL));
    assert_int_equal(grove_node_is_true(NULL), 0);
    assert_int_equal(grove_node_int64(NULL, &i), GROVE_E_TYPE);
    assert_int_equal(grove_node_double(NULL, &d), GROVE_E_TYPE);
    assert_int_equal(grove_node_equal(NULL, NULL), 1);
    grove_node_position(NULL, NULL, &line, NULL);
    assert_int_equal(line, 0);
    assert_int_equal(grove_node_is_defaulted(NULL), 0);
    assert_null(grove_doc_root(NULL));
    assert_null(grove_doc_env(NULL));
    assert_null(grove_doc_ref(NULL));
    grove_doc_unref(NULL);
    assert_int_equal(grove_doc_bytes(NULL), 0);
    assert_string_equal(gv_node_str(NULL).p, "");
    assert_string_equal(gv_node_key(NULL).p, "");
    assert_string_equal(gv_node_get_str(NULL, "a").p, "");
    assert_int_equal(gv_node_get_int(NULL, "a", -3), -3);
    assert_null(gv_node_path(NULL, "a.b"));
    assert_true(gv_node_is_nothing(NULL));
    unsigned rounds = 0;
    GV_EACH(child, NULL) {
        rounds += child != NULL;
    }
    assert_int_equal(rounds, 0);
}

static void test_look_ups(void **state) {
    (void)state;
    grove_doc *doc = parsed("{\"kind\":\"Pod\",\"Kind\":1,\"spec\":{\"n\":[10,{\"x\":true},[]],"
                            "\"e\":null},\"a\\u0000b\":2}");
    const grove_node *root = grove_doc_root(doc);
    assert_int_equal(grove_node_size(root), 4);
    assert_string_equal(grove_node_text(grove_node_get(root, "kind")), "Pod");
    assert_null(grove_node_get(root, "KIND"));
    assert_null(grove_node_get(root, "kin"));
    assert_null(grove_node_get(root, NULL));
    assert_null(grove_node_get(grove_node_get(root, "kind"), "x"));
    assert_int_equal(gv_node_get_int(root, "Kind", 0), 1);
    assert_int_equal(gv_node_get_int(root, "kind", 5), 5);
    int64_t two = 0;
    assert_int_equal(grove_node_int64(grove_node_getn(root, "a\0b", 3), &two), GROVE_OK);
    assert_int_equal(two, 2);
    const grove_node *list = gv_node_path(root, "spec.n");
    assert_int_equal(grove_node_type(list), GROVE_ARRAY);
    assert_int_equal(grove_node_size(list), 3);
    assert_true(gv_node_get_bool(grove_node_at(list, 1), "x"));
    assert_null(grove_node_at(list, 3));
    assert_null(grove_node_first(grove_node_at(list, 2)));
    assert_null(grove_node_key(grove_node_at(list, 0), NULL));
    assert_null(grove_node_key(root, NULL));
    assert_int_equal(grove_node_type(gv_node_path(root, "spec.e")), GROVE_NULL_NODE);
    assert_null(gv_node_path(root, "spec.n.x"));
    assert_ptr_equal(gv_node_path(root, ""), root);
    assert_ptr_equal(grove_doc_env(doc), env);
    assert_true(grove_doc_bytes(doc) > 0);
    grove_doc_unref(doc);
}

static void test_pointers(void **state) {
    (void)state;
    grove_doc *doc = parsed(
        "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8,\"~1\":9,\"01\":7}");
    const grove_node *root = grove_doc_root(doc);
    assert_ptr_equal(grove_node_at_path(root, ""), root);
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/foo/1")), "baz");
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/")), "0");
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/a~1b")), "1");
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/m~0n")), "8");
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/~01")), "9");
    assert_string_equal(grove_node_text(grove_node_at_path(root, "/01")), "7");
    static const char *const nowhere[] = {
        "foo",   "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/1/x",
        "/foo/", "/a~b",   "/m~",    "/nope",   "//",      "/foo/99999999999999999999"};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        assert_null(grove_node_at_path(root, nowhere[i]));
    }
    assert_null(grove_node_at_path(root, NULL));
    grove_doc_unref(doc);
}

typedef struct integer {
    const char *text;
    grove_status status;
    int64_t value;
} integer;

static const integer integers[] = {
    {"0", GROVE_OK, 0},
    {"-0", GROVE_OK, 0},
    {"2.0", GROVE_OK, 2},
    {"1e3", GROVE_OK, 1000},
    {"-12.500e1", GROVE_OK, -125},
    {"1000e-3", GROVE_OK, 1},
    {"0e999999999", GROVE_OK, 0},
    {"9007199254740993", GROVE_OK, INT64_C(9007199254740993)},
    {"9223372036854775807", GROVE_OK, INT64_MAX},
    {"9223372036854775807.0", GROVE_OK, INT64_MAX},
    {"-9223372036854775808", GROVE_OK, INT64_MIN},
    {"-922337203685477580.8e1", GROVE_OK, INT64_MIN},
    {"9223372036854775808", GROVE_E_RANGE, 0},
    {"9223372036854775808.0", GROVE_E_RANGE, 0},
    {"-9223372036854775809", GROVE_E_RANGE, 0},
    {"-922337203685477580.9e1", GROVE_E_RANGE, 0},
    {"1e400", GROVE_E_RANGE, 0},
    {"0.5", GROVE_E_TYPE, 0},
    {"1e-400", GROVE_E_TYPE, 0},
    {"1.5e0", GROVE_E_TYPE, 0},
    {"\"1\"", GROVE_E_TYPE, 0},
    {"true", GROVE_E_TYPE, 0},
};

static void test_integers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        grove_doc *doc = parsed(integers[i].text);
        int64_t value = 4711;
        const grove_status st = grove_node_int64(grove_doc_root(doc), &value);
        if (st != integers[i].status || value != (st < 0 ? 4711 : integers[i].value)) {
            fail_msg("%s: %s", integers[i].text, grove_status_name(st));
        }
        grove_doc_unref(doc);
    }
}

static void check_double(const char *text) {
    grove_doc *doc = parsed(text);
    double got = -1;
    assert_int_equal(grove_node_double(grove_doc_root(doc), &got), GROVE_OK);
    const double expected = strtod(text, NULL); /* glibc rounds correctly */
    if (!(got == expected)) {
        fail_msg("%s: %.17g instead of %.17g", text, got, expected);
    }
    grove_doc_unref(doc);
}

static void test_doubles(void **state) {
    (void)state;
    static const char *const hard[] = {
        "0.1",
        "0.3",
        "1e23",
        "9007199254740993",
        "9007199254740993.0000000000000000000000000001",
        "5e-324",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e400",
        "-1e400",
        "1e-400",
        "6.631236846766476e-316",
        "3.237883913302901e-319",
        "179769313486231580793e289",
        "0.000000000000000000000001",
        "123456789012345678901234567890",
        "2.22507385850720212418870147920222032907240528279439037814303133837435107e-308",
        "1e22",
        "1e-22",
        "8.5e22",
        "4503599627370496.5",
        "4503599627370497.5",
        "0.5e-323",
        "1e309",
        "17976931348623157e292"};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        check_double(hard[i]);
    }
}

/* What decides the rounding may stand behind any number of zeros. */
static void test_long_doubles(void **state) {
    (void)state;
    for (size_t zeros = 700; zeros < 1000; zeros += 37) {
        char text[1100];
        const size_t n = gv_fmt(text, sizeof text, "9007199254740993.");
        memset(text + n, '0', zeros);
        gv_fmt(text + n + zeros, sizeof text - n - zeros, "1");
        check_double(text);
    }
}

static void test_random_doubles(void **state) {
    (void)state;
    const uint64_t seed = 20261129;
    print_message("seed %llu\n", (unsigned long long)seed);
    gv_prng r;
    gv_prng_seed(&r, seed);
    for (int i = 0; i < 20000; i++) {
        char text[96];
        size_t n = gv_fmt(text, sizeof text, "%s%llu", gv_prng_below(&r, 2) ? "-" : "",
                          (unsigned long long)(gv_prng_next(&r) >> gv_prng_below(&r, 64)));
        if (gv_prng_below(&r, 2)) {
            n += gv_fmt(text + n, sizeof text - n, ".%llu", (unsigned long long)gv_prng_next(&r));
        }
        gv_fmt(text + n, sizeof text - n, "e%d", (int)gv_prng_below(&r, 700) - 360);
        check_double(text);
        /* a double written with all its digits, and halfway to its neighbour */
        uint64_t bits = gv_prng_next(&r) & UINT64_C(0x7FEFFFFFFFFFFFFF);
        double d;
        memcpy(&d, &bits, sizeof d);
        char digits[1200];
        snprintf(digits, sizeof digits, "%.17g", d);
        check_double(digits);
        snprintf(digits, sizeof digits, "%.780e", d);
        check_double(digits);
    }
}

static void test_places(void **state) {
    (void)state;
    grove_doc *doc = parsed("{\n  \"a\": 1, \"b\":\r\n\t[true,\n\n\"\xC3\xA9\", {}]\n}");
    const grove_node *root = grove_doc_root(doc);
    assert_int_equal(gv_node_line(root), 1);
    assert_int_equal(gv_node_column(root), 1);
    assert_int_equal(gv_node_line(grove_node_get(root, "a")), 2);
    assert_int_equal(gv_node_column(grove_node_get(root, "a")), 8);
    const grove_node *list = grove_node_get(root, "b");
    assert_int_equal(gv_node_line(list), 3);
    assert_int_equal(gv_node_column(list), 2);
    assert_int_equal(gv_node_line(grove_node_at(list, 2)), 5);
    assert_int_equal(gv_node_column(grove_node_at(list, 2)), 7); /* bytes, not characters */
    grove_doc_unref(doc);
}

typedef struct pair {
    const char *a, *b;
    int equal;
} pair;

static const pair pairs[] = {
    {"1", "1.0", 1},
    {"100", "1e2", 1},
    {"-0", "0", 1},
    {"1", "\"1\"", 0},
    {"0.1", "0.10", 1},
    {"1e400", "10e399", 1},
    {"1e400", "2e400", 0},
    {"12", "120", 0},
    {"12", "1.2", 0},
    {"1", "-1", 0},
    {"true", "false", 0},
    {"null", "false", 0},
    {"[1,2]", "[1,2]", 1},
    {"[1,2]", "[2,1]", 0},
    {"[1]", "[1,1]", 0},
    {"[]", "{}", 0},
    {"{\"a\":1,\"b\":2}", "{\"b\":2.0,\"a\":1}", 1},
    {"{\"a\":1}", "{\"b\":1}", 0},
    {"{\"a\":1}", "{\"a\":1,\"b\":1}", 0},
    {"\"a\"", "\"\\u0061\"", 1},
    {"9007199254740993", "9007199254740992", 0},
};

static void test_equality(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        grove_doc *a = parsed(pairs[i].a);
        grove_doc *b = parsed(pairs[i].b);
        uint64_t ha = 0;
        uint64_t hb = 0;
        grove_node_hash(grove_doc_root(a), &ha, NULL);
        grove_node_hash(grove_doc_root(b), &hb, NULL);
        if (grove_node_equal(grove_doc_root(a), grove_doc_root(b)) != pairs[i].equal ||
            grove_node_equal(grove_doc_root(b), grove_doc_root(a)) != pairs[i].equal ||
            (ha == hb) != (pairs[i].equal == 1)) {
            fail_msg("%s and %s", pairs[i].a, pairs[i].b);
        }
        grove_doc_unref(a);
        grove_doc_unref(b);
    }
}

/* The value is part of the promise: names and revisions hang on it. */
static void test_hash_is_frozen(void **state) {
    (void)state;
    grove_doc *doc = parsed("{\"b\":[1.50,true,null],\"a\":\"\\u00e9\"}");
    uint64_t hash = 0;
    assert_int_equal(grove_node_hash(grove_doc_root(doc), &hash, NULL), GROVE_OK);
    static const char canonical[] = "{\"a\":\"\xC3\xA9\",\"b\":[1.5,true,null]}";
    assert_true(hash == gv_fnv1a(GV_FNV_START, canonical, sizeof canonical - 1));
    assert_int_equal(grove_node_hash(NULL, &hash, NULL), GROVE_E_INVALID);
    grove_doc_unref(doc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_answered), cmocka_unit_test(test_look_ups),
        cmocka_unit_test(test_pointers),         cmocka_unit_test(test_integers),
        cmocka_unit_test(test_doubles),          cmocka_unit_test(test_random_doubles),
        cmocka_unit_test(test_long_doubles),     cmocka_unit_test(test_places),
        cmocka_unit_test(test_equality),         cmocka_unit_test(test_hash_is_frozen),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
