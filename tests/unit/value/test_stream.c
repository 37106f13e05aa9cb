/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of many documents, JSON and YAML, whole and broken; runs with and without YAML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oom.h"
#include "value/doc.h"

static grove_env *env;

/* Reads all: "[index line:column] json", or "[index] STATUS line:column" for a refused document. */
static void describe(const char *text, size_t len, grove_buf *out) {
    grove_stream *stream = NULL;
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    assert_int_equal(grove_stream_new(env, copy, len, 0, &stream, NULL), GROVE_OK);
    grove_buf_clear(out);
    for (int guard = 0; guard < 100; guard++) {
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        grove_status st = grove_stream_next(stream, &doc, &err);
        uint32_t index = grove_stream_index(stream);
        if (st < 0) {
            assert_null(doc);
            gv_buf_fmt(out, "[%u] %s %u:%u; ", index, grove_status_name(st), err.line, err.column);
            continue;
        }
        if (!doc) {
            /* The end stays the end. */
            assert_int_equal(grove_stream_next(stream, &doc, &err), GROVE_OK);
            assert_null(doc);
            break;
        }
        const grove_node *root = grove_doc_root(doc);
        const grove_node *last = grove_node_at(root, grove_node_size(root) - 1);
        gv_buf_fmt(out, "[%u %u:%u %u:%u] ", index, gv_node_line(root), gv_node_column(root),
                   gv_node_line(last), gv_node_column(last));
        assert_int_equal(grove_node_write_json(root, 0, out, NULL), GROVE_OK);
        gv_buf_c(out, "; ");
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    free(copy);
}

typedef struct stream_case {
    const char *text, *expected;
} stream_case;

static void check(const stream_case *cases, size_t n) {
    grove_buf out;
    grove_buf_init(&out, env);
    for (size_t i = 0; i < n; i++) {
        describe(cases[i].text, strlen(cases[i].text), &out);
        const char *got = out.data ? out.data : "";
        if (strcmp(got, cases[i].expected) != 0) {
            fail_msg("%s\n   gives    %s\n   expected %s", cases[i].text, got, cases[i].expected);
        }
    }
    grove_buf_fini(&out);
}

static void test_json(void **state) {
    (void)state;
    static const stream_case cases[] = {
        {"", ""},
        {"  \n ", ""},
        {"{\"a\":1}", "[0 1:1 1:6] {\"a\":1}; "},
        {"{\"a\":1}{\"b\":2}\n[3]",
         "[0 1:1 1:6] {\"a\":1}; [1 1:8 1:13] {\"b\":2}; [2 2:1 2:2] [3]; "},
        {"\n {\"a\":\n1}  {\"b\":[\"}\\\"{\",\n2]}",
         "[0 2:2 3:1] {\"a\":1}; [1 3:5 3:10] {\"b\":[\"}\\\"{\",2]}; "},
        {"\xef\xbb\xbf{\"a\":1}", "[0 1:1 1:6] {\"a\":1}; "},
    };
    check(cases, sizeof cases / sizeof cases[0]);
}

#ifdef GV_HAVE_YAML
static void test_yaml(void **state) {
    (void)state;
    static const stream_case cases[] = {
        {"a: 1\n---\nb: 2\n", "[0 1:1 1:4] {\"a\":1}; [1 3:1 3:4] {\"b\":2}; "},
        {"---\n# c\n---\nnull\n---\na: 1\n...\n---\n~\n---\n- b",
         "[2 6:1 6:4] {\"a\":1}; [4 11:1 11:3] [\"b\"]; "},
        {"\xef\xbb\xbf"
         "a: 1\n",
         "[0 1:1 1:4] {\"a\":1}; "},
        {"a: 1\r\n---\r\nb: 2\r\n", "[0 1:1 1:4] {\"a\":1}; [1 3:1 3:4] {\"b\":2}; "},
        {"# x\n\xc3\xa9: 1\n---\n\xc3\xa9: [2]\n",
         "[0 2:1 2:5] {\"\xc3\xa9\":1}; [1 4:1 4:5] {\"\xc3\xa9\":[2]}; "},
        /* Content is refused document by document; behind broken syntax there is nothing to find. */
        {"a: 1\n---\nb: [!x 2]\nc: {d: [1]}\n---\ne: 3\n",
         "[0 1:1 1:4] {\"a\":1}; [1] GROVE_E_PARSE 3:5; [2 6:1 6:4] {\"e\":3}; "},
        {"a: *x\n---\nb: .inf\n---\nc: 1\n",
         "[0] GROVE_E_PARSE 1:4; [1] GROVE_E_PARSE 3:4; [2 5:1 5:4] {\"c\":1}; "},
        {"a: 1\n---\nb: c: d\n---\ne: 3\n", "[0 1:1 1:4] {\"a\":1}; [1] GROVE_E_PARSE 3:5; "},
        {"&a x: 1\n---\nb: *a\n",
         "[0 1:1 1:7] {\"x\":1}; [1] GROVE_E_PARSE 3:4; "}, /* anchors end with it */
        /* JSON and YAML side by side. */
        {"{\"a\":1}\n---\n{\"b\":2}\n---\nc: 3\n",
         "[0 1:1 1:6] {\"a\":1}; [1 3:1 3:6] {\"b\":2}; [2 5:1 5:4] {\"c\":3}; "},
        {"{a: 1}\n", "[0 1:1 1:5] {\"a\":1}; "},
        {"{\"a\":1} {b: 2}", "[0 1:1 1:6] {\"a\":1}; [1 1:9 1:13] {\"b\":2}; "},
        {"[a,\n b]\n", "[0 1:1 2:2] [\"a\",\"b\"]; "},
        {"{\"a\":1}\n# the end\n", "[0 1:1 1:6] {\"a\":1}; "},
        {"{\"a\":1}\nb: 2\n", "[0 1:1 1:6] {\"a\":1}; [1 2:1 2:4] {\"b\":2}; "},
        {"---\n{\"a\":1}\n", "[0 2:1 2:6] {\"a\":1}; "},
        {"\n  a: 1\n  b: 2\n",
         "[0 2:3 3:6] {\"a\":1,\"b\":2}; "}, /* blanks in front are indentation */
        {"  {a: 1}\n", "[0 1:3 1:7] {\"a\":1}; "},
        {"{\"a\":1}\n  b: 2\n  c: 3\n", "[0 1:1 1:6] {\"a\":1}; [1 2:3 3:6] {\"b\":2,\"c\":3}; "},
        /* Broken both ways: told by the reader that got further. */
        {"{\"a\": 1,\n \"b\" 2}", "[0] GROVE_E_PARSE 2:6; "},
        {"{a: 1,\n b: &}", "[0] GROVE_E_PARSE 2:6; "},
        {"{\"a\": ", "[0] GROVE_E_PARSE 1:7; "},
    };
    check(cases, sizeof cases / sizeof cases[0]);
}
#else
static void test_no_yaml(void **state) {
    (void)state;
    static const stream_case cases[] = {
        {"{\"a\":1}\n---\n{\"b\":2}", "[0 1:1 1:6] {\"a\":1}; [1] GROVE_E_UNSUPPORTED 0:0; "},
        {"a: 1", "[0] GROVE_E_UNSUPPORTED 0:0; "},
        {"{a: 1}", "[0] GROVE_E_PARSE 1:2; "},
    };
    check(cases, sizeof cases / sizeof cases[0]);
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_yaml(env, "a: 1", 4, 0, &doc, NULL), GROVE_E_UNSUPPORTED);
    assert_null(doc);
}
#endif

static void test_arguments(void **state) {
    (void)state;
    grove_stream *stream = NULL;
    grove_doc *doc = NULL;
    assert_int_equal(grove_stream_new(NULL, "a", 1, 0, &stream, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_stream_new(env, NULL, 1, 0, &stream, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_stream_new(env, "a", 1, 0x80, &stream, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_stream_new(env, "a", 1, 0, NULL, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_stream_next(NULL, &doc, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_stream_index(NULL), 0);
    grove_stream_free(NULL);
    assert_int_equal(grove_stream_new(env, NULL, 0, 0, &stream, NULL), GROVE_OK);
    assert_int_equal(grove_stream_next(stream, &doc, NULL), GROVE_OK);
    assert_null(doc);
    grove_stream_free(stream);
#ifdef GV_HAVE_YAML
    assert_int_equal(grove_doc_parse_yaml(env, NULL, 1, 0, &doc, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_doc_parse_yaml(env, "a", 1, 0x80, &doc, NULL), GROVE_E_INVALID);
#endif
}

/* Reads all documents and refusals of a text. */
static grove_status read_all(grove_env *with, void *ctx) {
    grove_stream *stream = NULL;
    grove_status st = grove_stream_new(with, ctx, strlen(ctx), 0, &stream, NULL);
    while (st == GROVE_OK) {
        grove_doc *doc = NULL;
        st = grove_stream_next(stream, &doc, NULL);
        if (st == GROVE_OK && !doc) {
            break;
        }
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    char json[] = "{\"a\":1}\n{\"b\":[2]}";
    oom_loop("json stream", read_all, json);
#ifdef GV_HAVE_YAML
    char yaml[] = "{\"a\":1}\n{b: 2}\n---\n---\nc: &x {d: 1}\ne: *x\n";
    oom_loop("yaml stream", read_all, yaml);
#endif
}

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
#ifdef GV_HAVE_YAML
        cmocka_unit_test(test_yaml),
#else
        cmocka_unit_test(test_no_yaml),
#endif
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
