/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in and out: the right answer for each hard case, and a readable error for each wrong text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/doc.h>

#include "support/oom.h"
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

/* Parses from a block of exactly that size, so that sanitizers see a read behind it. */
static grove_status parse(const char *text, size_t len, uint32_t flags, grove_doc **out,
                          grove_error *err) {
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    const grove_status st = grove_doc_parse_json(env, len ? copy : NULL, len, flags, out, err);
    free(copy);
    return st;
}

static grove_doc *parsed(const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (parse(text, strlen(text), GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("%s: %u:%u: %s", text, err.line, err.column, err.message);
    }
    return doc;
}

static void assert_written(const grove_node *node, uint32_t flags, const char *expected) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(node, flags, &out, NULL), GROVE_OK);
    assert_string_equal(out.data, expected);
    grove_buf_fini(&out);
}

typedef struct round_trip {
    const char *text, *plain, *canonical;
} round_trip;

static const round_trip round_trips[] = {
    {"{\"replicas\": 0}", "{\"replicas\":0}", "{\"replicas\":0}"},
    {" [ ] ", "[]", "[]"},
    {"\t{\r\n}", "{}", "{}"},
    {"{\"b\":1,\"a\":[true,false,null]}", "{\"b\":1,\"a\":[true,false,null]}",
     "{\"a\":[true,false,null],\"b\":1}"},
    {"9223372036854775807", "9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
    {"9007199254740993", "9007199254740993", "9007199254740993"},
    {"1e400", "1e400", "1e+400"},
    {"1.0", "1.0", "1"},
    {"-0.0", "-0.0", "0"},
    {"0e5", "0e5", "0"},
    {"1E3", "1E3", "1000"},
    {"100", "100", "100"},
    {"1e20", "1e20", "100000000000000000000"},
    {"1e21", "1e21", "1e+21"},
    {"123456789012345678901234567890", "123456789012345678901234567890",
     "1.2345678901234567890123456789e+29"},
    {"0.10", "0.10", "0.1"},
    {"-12.50e1", "-12.50e1", "-125"},
    {"0.000001", "0.000001", "0.000001"},
    {"0.0000001", "0.0000001", "1e-7"},
    {"12.34e-8", "12.34e-8", "1.234e-7"},
    {"\"a\\u0000b\"", "\"a\\u0000b\"", "\"a\\u0000b\""},
    {"\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"",
     "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\"",
     "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\""},
    {"\"\x7F\"", "\"\x7F\"", "\"\x7F\""},
    {"{\"\":1}", "{\"\":1}", "{\"\":1}"},
    {"\xEF\xBB\xBF[1]", "[1]", "[1]"},
    {"{\"aa\":1,\"a\":2,\"B\":3}", "{\"aa\":1,\"a\":2,\"B\":3}", "{\"B\":3,\"a\":2,\"aa\":1}"},
};

static void test_round_trips(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof round_trips / sizeof *round_trips; i++) {
        grove_doc *doc = parsed(round_trips[i].text);
        assert_written(grove_doc_root(doc), 0, round_trips[i].plain);
        assert_written(grove_doc_root(doc), GROVE_WRITE_CANONICAL, round_trips[i].canonical);
        grove_doc_unref(doc);
    }
}

static void test_pretty(void **state) {
    (void)state;
    grove_doc *doc = parsed("{\"a\":[1,{\"b\":[]}],\"c\":{}}");
    assert_written(grove_doc_root(doc), GROVE_WRITE_PRETTY,
                   "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
    grove_doc_unref(doc);
}

typedef struct refusal {
    const char *text;
    size_t len; /* 0: strlen */
    uint32_t flags;
    grove_status status;
    uint32_t line, column;
    const char *message;
} refusal;

#define S GROVE_PARSE_STRICT
#define F64 GROVE_PARSE_NUMBERS_AS_FLOAT64

static const refusal refusals[] = {
    {"", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found the end of the text"},
    {" \n ", 0, 0, GROVE_E_PARSE, 2, 2, "expected a value, found the end of the text"},
    {"[1,]", 0, 0, GROVE_E_PARSE, 1, 4, "expected a value, found ']'"},
    {"[,1]", 0, 0, GROVE_E_PARSE, 1, 2, "expected a value, found ','"},
    {"[1 2]", 0, 0, GROVE_E_PARSE, 1, 4, "expected ',' or ']', found '2'"},
    {"[1}", 0, 0, GROVE_E_PARSE, 1, 3, "expected ',' or ']', found '}'"},
    {"{\"a\":1,}", 0, 0, GROVE_E_PARSE, 1, 8, "expected a key in double quotes, found '}'"},
    {"{a:1}", 0, 0, GROVE_E_PARSE, 1, 2, "expected a key in double quotes or '}', found 'a'"},
    {"{\"a\" 1}", 0, 0, GROVE_E_PARSE, 1, 6, "expected ':' behind the key, found '1'"},
    {"{\"a\":1]", 0, 0, GROVE_E_PARSE, 1, 7, "expected ',' or '}', found ']'"},
    {"{\"a\":}", 0, 0, GROVE_E_PARSE, 1, 6, "expected a value, found '}'"},
    {"[1]\n]", 0, 0, GROVE_E_PARSE, 2, 1, "expected the end of the text, found ']'"},
    {"NaN", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found 'N'"},
    {"[Infinity]", 0, 0, GROVE_E_PARSE, 1, 2, "expected a value, found 'I'"},
    {"nulL", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found 'n'"},
    {"nullx", 0, 0, GROVE_E_PARSE, 1, 5, "expected the end of the text, found 'x'"},
    {"// c\n1", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found '/'"},
    {"[1/**/]", 0, 0, GROVE_E_PARSE, 1, 3, "expected ',' or ']', found '/'"},
    {"'a'", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found '''"},
    {"[\n  01]", 0, 0, GROVE_E_PARSE, 2, 3, "a number must not begin with 0"},
    {"[-01]", 0, 0, GROVE_E_PARSE, 1, 3, "a number must not begin with 0"},
    {"+1", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found '+'"},
    {".5", 0, 0, GROVE_E_PARSE, 1, 1, "expected a value, found '.'"},
    {"[-]", 0, 0, GROVE_E_PARSE, 1, 3, "expected a digit after '-', found ']'"},
    {"[1.]", 0, 0, GROVE_E_PARSE, 1, 4, "expected a digit after '.', found ']'"},
    {"[1.e3]", 0, 0, GROVE_E_PARSE, 1, 4, "expected a digit after '.', found 'e'"},
    {"[1e]", 0, 0, GROVE_E_PARSE, 1, 4, "expected a digit in the exponent, found ']'"},
    {"[1.5e+]", 0, 0, GROVE_E_PARSE, 1, 7, "expected a digit in the exponent, found ']'"},
    {"0x10", 0, 0, GROVE_E_PARSE, 1, 2, "expected the end of the text, found 'x'"},
    {"1e1000000000", 0, 0, GROVE_E_RANGE, 1, 3, "the exponent of a number is out of range"},
    {"{\"a\": 1e400}", 0, F64, GROVE_E_RANGE, 1, 7, "the number is too large for a float64"},
    {"-1.7976931348623159e308", 0, F64, GROVE_E_RANGE, 1, 1,
     "the number is too large for a float64"},
    {"\"abc", 0, 0, GROVE_E_PARSE, 1, 5, "the string is not closed"},
    {"\"abc\\", 0, 0, GROVE_E_PARSE, 1, 5, "unknown escape in a string"},
    {"\"a\nb\"", 0, 0, GROVE_E_PARSE, 1, 3,
     "a control character in a string must be written as an escape"},
    {"\"a\0b\"", 5, 0, GROVE_E_PARSE, 1, 3,
     "a control character in a string must be written as an escape"},
    {"\"\\x\"", 0, 0, GROVE_E_PARSE, 1, 2, "unknown escape in a string"},
    {"\"\\u12g4\"", 0, 0, GROVE_E_PARSE, 1, 2, "expected four hexadecimal digits after \\u"},
    {"\"\\ud800\"", 0, 0, GROVE_E_PARSE, 1, 2, "a high surrogate stands alone"},
    {"\"\\ud800\\u0041\"", 0, 0, GROVE_E_PARSE, 1, 2, "a high surrogate stands alone"},
    {"\"\\udbff\\ue000\"", 0, 0, GROVE_E_PARSE, 1, 2, "a high surrogate stands alone"},
    {"\"\\udfff\"", 0, 0, GROVE_E_PARSE, 1, 2, "a low surrogate stands alone"},
    {"\"\xF0\x8F\xBF\xBF\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"\xE0\x9F\xBF\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"x\\udc00\"", 0, 0, GROVE_E_PARSE, 1, 3, "a low surrogate stands alone"},
    {"[\n\"a\x80\"]", 0, 0, GROVE_E_PARSE, 2, 3, "invalid UTF-8"},
    {"\"\xC0\xAF\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"\xED\xA0\x80\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"\xF4\x90\x80\x80\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"\xE2\x82\"", 0, 0, GROVE_E_PARSE, 1, 2, "invalid UTF-8"},
    {"\"\\n\xFF\"", 0, 0, GROVE_E_PARSE, 1, 4, "invalid UTF-8"},
    {"[1\0]", 4, 0, GROVE_E_PARSE, 1, 3, "expected ',' or ']', found byte 0x00"},
    {"1\0", 2, 0, GROVE_E_PARSE, 1, 2, "expected the end of the text, found byte 0x00"},
    {"[\xFF]", 0, 0, GROVE_E_PARSE, 1, 2, "expected a value, found byte 0xff"},
    {"[\xEF\xBB\xBF]", 0, 0, GROVE_E_PARSE, 1, 2, "expected a value, found byte 0xef"},
    {"{\"a\":1,\"a\":2}", 0, S, GROVE_E_PARSE, 1, 8, "the key \"a\" is there twice"},
    {"{\"a\":1,\n  \"b\":{\"x\":1,\n \"\\u0078\" :\n\t3}}", 0, S, GROVE_E_PARSE, 3, 2,
     "the key \"x\" is there twice"},
    {"\xEF\xBB\xBF{\"\\\"\":1,\"\\\"\":2}", 0, S, GROVE_E_PARSE, 1, 9,
     "the key \"\"\" is there twice"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        const grove_status st = parse(r->text, r->len ? r->len : strlen(r->text), r->flags, &doc,
                                      &err);
        if (st != r->status || err.status != st || err.line != r->line || err.column != r->column ||
            strcmp(err.message, r->message) != 0) {
            fail_msg("%s: %s %u:%u %s", r->text, grove_status_name(st), err.line, err.column,
                     err.message);
        }
        assert_null(doc);
    }
}

static void test_truncation(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\": [1, -2.5e+10, true, null, \"x\\u00e9\\n\xE2\x82\xAC\"],\n \"b\": {\"c\":"
        " false}, \"d\": \"\\ud83d\\ude00\"}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(parse(text, n, 0, &doc, &err), GROVE_E_PARSE);
        assert_null(doc);
        assert_true(err.line >= 1 && err.line <= 2 && err.column >= 1 && err.column <= n + 1);
        assert_true(err.message[0] != '\0');
    }
    grove_doc_unref(parsed(text));
}

static void test_duplicates_last_wins(void **state) {
    (void)state;
    grove_doc *doc = NULL;
    static const char text[] = "{\"a\":{\"x\":[1,\"s\"]},\"b\":\"keep\",\"a\":2,\"c\":[\"u\",{"
                               "\"k\":\"v\",\"k\":\"w\"}],\"b\":\"last\"}";
    assert_int_equal(parse(text, sizeof text - 1, 0, &doc, NULL), GROVE_OK);
    const grove_node *root = grove_doc_root(doc);
    assert_int_equal(grove_node_size(root), 3);
    assert_written(root, 0, "{\"a\":2,\"c\":[\"u\",{\"k\":\"w\"}],\"b\":\"last\"}");
    assert_string_equal(grove_node_text(grove_node_get(root, "b")), "last");
    grove_doc_unref(doc);
}

/* Objects beyond the index threshold: look-ups, duplicates, order. */
static void test_large_objects(void **state) {
    (void)state;
    for (unsigned n = 30; n < 260; n += 23) {
        grove_buf text;
        grove_buf_init(&text, env);
        gv_buf_c(&text, "[{");
        for (unsigned i = 0; i < n; i++) {
            gv_buf_fmt(&text, "\"k%u\":{\"v\":\"%u\"},", (i * 7919) % n, i);
        }
        gv_buf_fmt(&text, "\"k3\":{\"v\":\"again\"},\"k5\":\"once more\"},7]");
        grove_doc *doc = NULL;
        assert_int_equal(parse(text.data, (size_t)text.len, 0, &doc, NULL), GROVE_OK);
        const grove_node *object = grove_node_at(grove_doc_root(doc), 0);
        assert_int_equal(grove_node_size(object), n);
        unsigned seen = 0;
        GV_EACH(member, object) {
            assert_ptr_equal(gv_node_get(object, gv_node_key(member)), member);
            seen++;
        }
        assert_int_equal(seen, n);
        assert_string_equal(gv_node_get_str(grove_node_get(object, "k3"), "v").p, "again");
        assert_string_equal(gv_node_get_str(object, "k5").p, "once more");
        assert_null(grove_node_get(object, "k"));
        assert_int_equal(gv_node_str(grove_node_at(grove_doc_root(doc), 1)).p[0], '7');
        grove_doc_unref(doc);
        doc = NULL;
        assert_int_equal(parse(text.data, (size_t)text.len, GROVE_PARSE_STRICT, &doc, NULL),
                         GROVE_E_PARSE);
        grove_buf_fini(&text);
    }
}

static void test_limits(void **state) {
    (void)state;
    const grove_limits limits = {
        .size = (uint32_t)sizeof limits, .depth = 5, .document_bytes = 40, .document_nodes = 8};
    const grove_env_options options = {.size = (uint32_t)sizeof options, .limits = &limits};
    grove_env *small = NULL;
    assert_int_equal(grove_env_new(&options, &small), GROVE_OK);
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_doc_parse_json(small, "[[[[[]]]]]", 10, 0, &doc, &err), GROVE_OK);
    grove_doc_unref(doc);
    doc = NULL;
    assert_int_equal(grove_doc_parse_json(small, "[[[[[[]]]]]]", 12, 0, &doc, &err), GROVE_E_LIMIT);
    assert_int_equal(err.column, 6);
    assert_int_equal(grove_doc_parse_json(small, "[1,2,3,4,5,6,7]", 15, 0, &doc, &err), GROVE_OK);
    grove_doc_unref(doc);
    doc = NULL;
    assert_int_equal(grove_doc_parse_json(small, "[1,2,3,4,5,6,7,8]", 17, 0, &doc, &err),
                     GROVE_E_LIMIT);
    assert_int_equal(err.column, 16);
    assert_int_equal(grove_doc_parse_json(small, "                                         1", 42,
                                          0, &doc, &err),
                     GROVE_E_LIMIT);
    assert_null(doc);
    grove_env_unref(small);
    /* the default limit */
    char deep[300];
    memset(deep, '[', 129);
    memset(deep + 129, ']', 129);
    assert_int_equal(parse(deep, 258, 0, &doc, &err), GROVE_E_LIMIT);
    assert_int_equal(err.column, 129);
    assert_int_equal(parse(deep + 1, 256, 0, &doc, &err), GROVE_OK);
    grove_doc_unref(doc);
}

static void test_invalid_arguments(void **state) {
    (void)state;
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(NULL, "1", 1, 0, &doc, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_doc_parse_json(env, NULL, 1, 0, &doc, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_doc_parse_json(env, "1", 1, 0, NULL, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_doc_parse_json(env, "1", 1, 0x80000000u, &doc, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_node_write_json(NULL, 0, NULL, NULL), GROVE_E_INVALID);
}

static grove_status oom_parse(grove_env *e, void *ctx) {
    const char *text = ctx;
    grove_doc *doc = NULL;
    grove_buf out;
    grove_buf_init(&out, e);
    grove_status st = grove_doc_parse_json(e, text, strlen(text), 0, &doc, NULL);
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_CANONICAL, &out, NULL);
    }
    grove_buf_fini(&out);
    grove_doc_unref(doc);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    grove_buf text;
    grove_buf_init(&text, env);
    gv_buf_c(&text, "[1,2,3,4,5,6,7,8,9,{");
    for (unsigned i = 0; i < 100; i++) {
        gv_buf_fmt(&text, "\"key%u\":%u,", i % 90, i);
    }
    gv_buf_c(&text, "\"last\":{\"a\":[{},{}]}}]");
    oom_loop("parse and write JSON", oom_parse, text.data);
    grove_buf_fini(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_pretty),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_large_objects), cmocka_unit_test(test_duplicates_last_wins),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_invalid_arguments),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
