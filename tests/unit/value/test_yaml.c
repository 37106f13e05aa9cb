/* SPDX-License-Identifier: Apache-2.0 */
/* YAML in: places, errors, limits, aliases, merge keys. Typing itself: test_yaml_vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "same.h"
#include "support/oom.h"

static grove_env *env;

static grove_status parse_with(grove_env *with, const char *text, size_t len, uint32_t flags,
                               grove_doc **out, grove_error *err) {
    char *copy = malloc(len ? len : 1); /* of that very size, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, text, len);
    const grove_status st = grove_doc_parse_yaml(with, copy, len, flags, out, err);
    free(copy);
    return st;
}

static grove_doc *parsed(const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (parse_with(env, text, strlen(text), 0, &doc, &err) < 0) {
        fail_msg("%s: %u:%u: %s", text, err.line, err.column, err.message);
    }
    return doc;
}

static void assert_json(const char *yaml, const char *json) {
    grove_doc *doc = parsed(yaml);
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &out, NULL), GROVE_OK);
    assert_string_equal(out.data, json);
    grove_buf_fini(&out);
    grove_doc_unref(doc);
}

static void test_numbers_keep_their_text(void **state) {
    (void)state;
    assert_json("cpu: 0.10", "{\"cpu\":0.10}");
    assert_json("cpu: 1e3", "{\"cpu\":1e3}");
    assert_json("- 1E+3\n- 1.50\n- -0.0\n- 12e03", "[1E+3,1.50,-0.0,12e03]");
    assert_json("- 9007199254740993\n- 18446744073709551615",
                "[9007199254740993,18446744073709551615]");
    /* Where JSON has no such form, the nearest one. */
    assert_json("[+5, 0x1F, 014, 0o14, 0b101, 1_000, .5, 5., 007.5, +.5e3]",
                "[5,31,12,12,5,1000,0.5,5,7.5,0.5e3]");
    assert_json("[1e400, -1e400, 1e-400, 0e9999999999, 1e-9999999999, 1e9999999999]",
                "[\"1e400\",\"-1e400\",1e-400,0,0,\"1e9999999999\"]");
}

static void test_nul_and_escapes(void **state) {
    (void)state;
    grove_doc *doc = parsed("a: \"x\\0y\"\n\"k\\0\": 1\n");
    size_t n = 0;
    const grove_node *root = grove_doc_root(doc);
    assert_memory_equal(grove_node_textn(grove_node_get(root, "a"), &n), "x\0y", 4);
    assert_int_equal(n, 3);
    assert_non_null(grove_node_getn(root, "k\0", 2));
    assert_null(grove_node_get(root, "k"));
    grove_doc_unref(doc);
}

typedef struct place_case {
    const char *yaml, *pointer;
    uint32_t line, column;
} place_case;

static void test_places(void **state) {
    (void)state;
    static const place_case cases[] = {
        {"a: 1\nb:\n  c: [x, y]\n", "", 1, 1},
        {"a: 1\nb:\n  c: [x, y]\n", "/a", 1, 4},
        {"a: 1\nb:\n  c: [x, y]\n", "/b", 3, 3},
        {"a: 1\nb:\n  c: [x, y]\n", "/b/c", 3, 6},
        {"a: 1\nb:\n  c: [x, y]\n", "/b/c/1", 3, 10},
        {"# c\n---\n- x\n-  y\n", "/1", 4, 4},
        {"\xc3\xa9\xc3\xa9: x\n", "/\xc3\xa9\xc3\xa9", 1, 7}, /* columns are bytes */
        {"\xe2\x98\xba: {a: \xe2\x98\xba, b: 1}\n", "/\xe2\x98\xba/b", 1, 18},
        {"\xef\xbb\xbf"
         "a: 1\n",
         "/a", 1, 4}, /* a mark at the start has no width */
        {"a: 1\r\nb: 2\r\n", "/b", 2, 4},
        {"a: |\n  x\n  y\nb: 2\n", "/a", 1, 4},
        {"a: |\n  x\n  y\nb: 2\n", "/b", 4, 4},
        {"a: &x {b: 1}\nc: *x\n", "/c/b", 1, 11}, /* where the text stands */
        {"a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n", "/c/b", 2, 6},
        {"a: \"\xc3\xa9\n  x\"\nb: 1\n", "/b", 3, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grove_doc *doc = parsed(cases[i].yaml);
        uint32_t line = 0, column = 0;
        const grove_node *node = grove_node_at_path(grove_doc_root(doc), cases[i].pointer);
        assert_non_null(node);
        grove_node_position(doc, node, &line, &column);
        if (line != cases[i].line || column != cases[i].column) {
            fail_msg("%s%s: at %u:%u", cases[i].yaml, cases[i].pointer, line, column);
        }
        grove_doc_unref(doc);
    }
}

typedef struct error_case {
    const char *yaml;
    uint32_t flags;
    grove_status status;
    uint32_t line, column;
    const char *message; /* a part of it */
} error_case;

static void test_errors(void **state) {
    (void)state;
    static const error_case cases[] = {
        {"a: b: c\n", 0, GROVE_E_PARSE, 1, 5, "a ':' is not allowed here"},
        {"a: 1\n b: 2\n", 0, GROVE_E_PARSE, 2, 3, "a ':' is not allowed here"},
        {"a:\n\tb: 1\n", 0, GROVE_E_PARSE, 2, 1, "tab"},
        {"\xc3\xa9: 1\n\xc3\xa9: b: 1\n", 0, GROVE_E_PARSE, 2, 6, "':'"},
        {"a: [1,\n  2\n", 0, GROVE_E_PARSE, 3, 1, "list that begins in line 1"},
        {"a: 'x\nb: 1\n", 0, GROVE_E_PARSE, 3, 1, "quoted value that begins in line 1"},
        {"a: @x\n", 0, GROVE_E_PARSE, 1, 4, "quote it"},
        {"a: \"\\q\"\n", 0, GROVE_E_PARSE, 1, 5, "escape"},
        {"a: x\x01y\n", 0, GROVE_E_PARSE, 1, 5, "control character"},
        {"a: x\n\xc3\xa9: \xff\n", 0, GROVE_E_PARSE, 2, 5, "UTF-8"},
        {"a: *x\n", 0, GROVE_E_PARSE, 1, 4, "&x"},
        {"a: &x [1, *x]\n", 0, GROVE_E_PARSE, 1, 11, "contains itself"},
        {"a: .inf\n", 0, GROVE_E_PARSE, 1, 4, "infinity"},
        {"a: .nan\n", 0, GROVE_E_PARSE, 1, 4, "NaN"},
        {"a:\n- !foo 1\n", 0, GROVE_E_PARSE, 2, 3, "tag"},
        {"a: !!int x\n", 0, GROVE_E_PARSE, 1, 4, "!!int"},
        {"a: !!binary 'x'\n", 0, GROVE_E_PARSE, 1, 4, "!!binary"},
        {"a: 1\n~: 2\n", 0, GROVE_E_PARSE, 2, 1, "null"},
        {"[a]: 2\n", 0, GROVE_E_PARSE, 1, 1, "scalar"},
        {"a: &x [1]\n*x : 2\n", 0, GROVE_E_PARSE, 2, 1, "scalar"},
        {"99999999999999999999: 2\n18446744073709551615: 1", 0, GROVE_E_PARSE, 2, 1, "64 bits"},
        {"a:\n  <<: 1\n", 0, GROVE_E_PARSE, 2, 7, "merge key"},
        {"a: 1\nb: 2\na: 3\n", GROVE_PARSE_STRICT, GROVE_E_PARSE, 3, 1, "twice"},
        {"a:\n  x: 1\n  y: {}\n  x:\n  - 2\n", GROVE_PARSE_STRICT, GROVE_E_PARSE, 4, 3, "twice"},
        {"a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", GROVE_PARSE_STRICT, GROVE_E_PARSE, 4, 3, "twice"},
        {"1: a\n0x1: b\n", GROVE_PARSE_STRICT, GROVE_E_PARSE, 2, 1, "\"1\" is there twice"},
        {"a: 1\n---\nb: 2\n", 0, GROVE_E_PARSE, 3, 1, "second document"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const error_case *c = &cases[i];
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        grove_status st = parse_with(env, c->yaml, strlen(c->yaml), c->flags, &doc, &err);
        if (st != c->status || err.line != c->line || err.column != c->column ||
            !strstr(err.message, c->message) || doc) {
            fail_msg("%s: %s %u:%u: %s", c->yaml, grove_status_name(st), err.line, err.column,
                     err.message);
        }
        assert_int_equal(err.status, st);
        assert_int_equal(parse_with(env, c->yaml, strlen(c->yaml), c->flags, &doc, NULL), st);
    }
}

static void test_empty_documents(void **state) {
    (void)state;
    assert_json("", "null");
    assert_json("# nothing\n", "null");
    assert_json("---\n...\n", "null");
    assert_json("---\n# c\n---\na: 1\n---\n", "{\"a\":1}"); /* empty ones around it do not count */
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_yaml(env, NULL, 0, 0, &doc, NULL), GROVE_OK);
    assert_int_equal(grove_node_type(grove_doc_root(doc)), GROVE_NULL_NODE);
    grove_doc_unref(doc);
}

/* ---- limits ---- */

static grove_env *limited(uint32_t depth, uint64_t nodes, uint64_t bytes) {
    grove_limits limits = {
        .size = sizeof limits, .depth = depth, .document_nodes = nodes, .document_bytes = bytes};
    grove_env_options options = {.size = sizeof options, .limits = &limits};
    grove_env *e = NULL;
    assert_int_equal(grove_env_new(&options, &e), GROVE_OK);
    return e;
}

static void assert_status(grove_env *with, const char *text, grove_status expected) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = parse_with(with, text, strlen(text), 0, &doc, &err);
    if (st != expected) {
        fail_msg("%.60s: %s: %s", text, grove_status_name(st), err.message);
    }
    grove_doc_unref(doc);
}

static void test_depth(void **state) {
    (void)state;
    grove_env *e = limited(3, 0, 0);
    assert_status(e, "[[[]]]", GROVE_OK);
    assert_status(e, "[[[[]]]]", GROVE_E_LIMIT);
    assert_status(e, "a:\n  b:\n    c: 1\n", GROVE_OK);
    assert_status(e, "a:\n  b:\n    c:\n      d: 1\n", GROVE_E_LIMIT);
    assert_status(e, "a: &x [[]]\nb: *x\n", GROVE_OK);
    assert_status(e, "a: &x [[]]\nb: [*x]\n", GROVE_E_LIMIT);
    grove_env_unref(e);
    e = limited(1000000, 0, 0); /* reading recurses, so it keeps to a depth of its own */
    char deep[4001];
    memset(deep, '[', 4000);
    deep[4000] = '\0';
    assert_status(e, deep, GROVE_E_LIMIT);
    grove_env_unref(e);
}

static void test_nodes_and_bytes(void **state) {
    (void)state;
    grove_env *e = limited(0, 5, 40);
    assert_status(e, "[1, 2, 3, 4]", GROVE_OK);
    assert_status(e, "[1, 2, 3, 4, 5]", GROVE_E_LIMIT);
    assert_status(e, "{a: &x 1, b: *x, c: *x, d: *x}", GROVE_OK);
    assert_status(e, "{a: &x 1, b: *x, c: *x, d: *x, e: *x}", GROVE_E_LIMIT);
    assert_status(e, "- &x 0123456789\n- *x\n- *x\n- *x\n", GROVE_OK);
    assert_status(e, "- &x 0123456789a\n- *x\n- *x\n- *x\n", GROVE_E_LIMIT);
    assert_status(e, "# 34567890123456789012345678901234567890\n", GROVE_E_LIMIT);
    grove_env_unref(e);
}

/* Each line holds the one before it ten times: 10^n values from n lines. */
static void laughs(grove_buf *out, const char *first, const char *form, int lines) {
    grove_buf_clear(out);
    assert_int_equal(gv_buf_fmt(out, "a0: &a0 %s\n", first), GROVE_OK);
    for (int i = 1; i <= lines; i++) {
        assert_int_equal(gv_buf_fmt(out, "a%d: &a%d %s", i, i, form), GROVE_OK);
        for (int k = 0; k < 10; k++) {
            assert_int_equal(gv_buf_fmt(out, "%s*a%d", k ? "," : "", i - 1), GROVE_OK);
        }
        assert_int_equal(gv_buf_fmt(out, "%s\n", form[0] == '{' ? "]}" : "]"), GROVE_OK);
    }
}

static void test_billion_laughs(void **state) {
    (void)state;
    grove_buf text;
    grove_buf_init(&text, env);
    laughs(&text, "ha", "[", 9);
    assert_status(env, text.data, GROVE_E_LIMIT);
    laughs(&text, "ha", "[", 60); /* counts saturate */
    assert_status(env, text.data, GROVE_E_LIMIT);
    laughs(&text, "{}", "{<<: [", 9); /* merges that add nothing cost as well */
    assert_status(env, text.data, GROVE_E_LIMIT);
    laughs(&text, "{x: 1}", "{<<: [", 9);
    assert_status(env, text.data, GROVE_E_LIMIT);
    laughs(&text, "ha", "[", 4);
    assert_status(env, text.data, GROVE_OK);
    /* A chain of merges nests although the document does not. */
    grove_buf_clear(&text);
    assert_int_equal(gv_buf_fmt(&text, "a0: &a0 {x: 1}\n"), GROVE_OK);
    for (int i = 1; i < 5000; i++) {
        assert_int_equal(gv_buf_fmt(&text, "a%d: &a%d {<<: *a%d}\n", i, i, i - 1), GROVE_OK);
    }
    assert_status(env, text.data, GROVE_E_LIMIT);
    grove_buf_fini(&text);
}

/* ---- memory through the environment; libyaml's own: test_yaml_oom ---- */

static const char everything[] =
    "%YAML 1.1\n---\na: &a {x: 1, y: [0x1F, 1_0, 1_0.5, .5_0, yes, ~]}\nb: *a\nc:\n  <<: [*a, {z: "
    "1}]\n  y: 2\n"
    "1.5: k\n0x10: k\nd: !!binary aGk=\ne: !!str 1\nf: |\n  text\n  more\ng: \"x\\0y\"\nh: 'a''b'\n"
    "? long\n: v\nx: 1\nx: 2\n";

static grove_status parse_everything(grove_env *with, void *ctx) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_yaml(with, ctx, sizeof everything - 1, 0, &doc, NULL);
    grove_doc_unref(doc);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    char copy[sizeof everything];
    memcpy(copy, everything, sizeof everything);
    oom_loop("yaml", parse_everything, copy);
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
        cmocka_unit_test(test_numbers_keep_their_text),
        cmocka_unit_test(test_nul_and_escapes),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_empty_documents),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_nodes_and_bytes),
        cmocka_unit_test(test_billion_laughs),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
