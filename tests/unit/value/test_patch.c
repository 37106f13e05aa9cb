/* SPDX-License-Identifier: Apache-2.0 */
/* Merge patches and JSON patches: applying, making, refusing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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

static grove_doc *parsed(const char *text) {
    grove_doc *doc = NULL;
    if (grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL) < 0) {
        fail_msg("not JSON: %s", text);
    }
    return doc;
}

static void assert_json(grove_doc *doc, const char *expected, const char *label) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &out, NULL), GROVE_OK);
    if (strcmp(out.data, expected) != 0) {
        fail_msg("%s: got %s, expected %s", label, out.data, expected);
    }
    grove_buf_fini(&out);
}

typedef grove_status (*patch_fn)(grove_doc *, const grove_node *, grove_doc *, const grove_node *,
                                 grove_doc **, grove_error *);

/* The result outlives both inputs: they are given back before it is read. */
static grove_status call(patch_fn fn, const char *a, const char *b, grove_doc **out,
                         grove_error *err) {
    grove_doc *da = parsed(a);
    grove_doc *db = parsed(b);
    const grove_status st = fn(da, grove_doc_root(da), db, grove_doc_root(db), out, err);
    grove_doc_unref(da);
    grove_doc_unref(db);
    return st;
}

typedef struct triple {
    const char *a, *b, *result;
} triple;

static void check_all(patch_fn fn, const triple *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        grove_doc *out = NULL;
        grove_error err = GROVE_ERROR_INIT;
        if (call(fn, cases[i].a, cases[i].b, &out, &err) < 0) {
            fail_msg("%s with %s: %s", cases[i].a, cases[i].b, err.message);
        }
        assert_json(out, cases[i].result, cases[i].b);
        grove_doc_unref(out);
    }
}
#define CHECK_ALL(fn, cases) check_all((fn), (cases), sizeof(cases) / sizeof *(cases))

static const triple merges[] = {
    {"{\"a\":1}", "{\"a\":2}", "{\"a\":2}"},
    {"{\"a\":1}", "{\"b\":2}", "{\"a\":1,\"b\":2}"},
    {"{\"a\":1}", "{\"a\":null}", "{}"},
    {"{\"a\":1,\"b\":2}", "{\"a\":null}", "{\"b\":2}"},
    {"{\"a\":[1]}", "{\"a\":2}", "{\"a\":2}"},
    {"{\"a\":2}", "{\"a\":[1]}", "{\"a\":[1]}"},
    {"{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"b\":3,\"c\":null}}", "{\"a\":{\"b\":3}}"},
    {"{\"a\":[{\"b\":1}]}", "{\"a\":[null,1]}", "{\"a\":[null,1]}"},
    {"[1,2]", "[3]", "[3]"},
    {"[1,2]", "{\"a\":1,\"b\":null}", "{\"a\":1}"},
    {"{\"a\":1}", "[3]", "[3]"},
    {"{\"a\":1}", "null", "null"},
    {"{\"a\":1}", "{}", "{\"a\":1}"},
    {"7", "{}", "{}"},
    {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
    {"{}", "{\"a\":{\"b\":{\"c\":null}}}", "{\"a\":{\"b\":{}}}"},
    {"{\"a\":\"x\"}", "{\"a\":{\"b\":{\"c\":1,\"d\":null}}}", "{\"a\":{\"b\":{\"c\":1}}}"},
    {"{\"spec\":{\"replicas\":3,\"x\":[1,2]}}", "{\"spec\":{\"replicas\":0}}",
     "{\"spec\":{\"replicas\":0,\"x\":[1,2]}}"},
};

static const triple merges_made[] = {
    {"{\"a\":1}", "{\"a\":1}", "{}"},
    {"{\"a\":1}", "{\"a\":1.0}", "{}"},
    {"{\"a\":1,\"b\":2}", "{\"b\":2}", "{\"a\":null}"},
    {"{\"a\":{\"b\":1,\"c\":[1]}}", "{\"a\":{\"b\":1,\"c\":[1,2]}}", "{\"a\":{\"c\":[1,2]}}"},
    {"{\"a\":[1,null]}", "{\"a\":[null]}", "{\"a\":[null]}"},
    {"{\"a\":1}", "{\"a\":{\"b\":{}}}", "{\"a\":{\"b\":{}}}"},
    {"[1]", "{\"a\":1}", "{\"a\":1}"},
    {"{\"a\":1}", "[1]", "[1]"},
    {"{\"a\":null}", "{\"a\":null,\"b\":1}", "{\"b\":1}"},
};

static void test_merge(void **state) {
    (void)state;
    CHECK_ALL(grove_merge_patch_apply, merges);
    CHECK_ALL(grove_merge_patch_make, merges_made);
}

static void test_merge_cannot_say_null(void **state) {
    (void)state;
    grove_doc *out = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(
        call(grove_merge_patch_make, "{\"a\":{}}", "{\"a\":{\"x/y\":{\"~\":null}}}", &out, &err),
        GROVE_E_UNSUPPORTED);
    assert_null(out);
    assert_string_equal(err.path, "/a/x~1y/~0");
    assert_int_equal(call(grove_merge_patch_make, "{\"a\":1}", "{\"a\":null}", &out, &err),
                     GROVE_E_UNSUPPORTED);
    assert_string_equal(err.path, "/a");
}

#define OPS(...) "[" __VA_ARGS__ "]"
#define ADD_OP(path, value) "{\"op\":\"add\",\"path\":\"" path "\",\"value\":" value "}"
#define REPLACE_OP(path, value) "{\"op\":\"replace\",\"path\":\"" path "\",\"value\":" value "}"
#define TEST_OP(path, value) "{\"op\":\"test\",\"path\":\"" path "\",\"value\":" value "}"
#define REMOVE_OP(path) "{\"op\":\"remove\",\"path\":\"" path "\"}"
#define MOVE_OP(from, path) "{\"op\":\"move\",\"from\":\"" from "\",\"path\":\"" path "\"}"
#define COPY_OP(from, path) "{\"op\":\"copy\",\"from\":\"" from "\",\"path\":\"" path "\"}"

static const triple patches[] = {
    {"{\"a\":1}", OPS(), "{\"a\":1}"},
    {"{\"a\":1}", OPS(ADD_OP("/b", "{\"c\":[]}")), "{\"a\":1,\"b\":{\"c\":[]}}"},
    {"{\"a\":1,\"b\":2}", OPS(ADD_OP("/a", "3")), "{\"a\":3,\"b\":2}"},
    {"[1,2]", OPS(ADD_OP("/0", "0")), "[0,1,2]"},
    {"[1,2]", OPS(ADD_OP("/1", "0")), "[1,0,2]"},
    {"[1,2]", OPS(ADD_OP("/2", "0")), "[1,2,0]"},
    {"[1,2]", OPS(ADD_OP("/-", "0")), "[1,2,0]"},
    {"[]", OPS(ADD_OP("/-", "[]") "," ADD_OP("/0/-", "1")), "[[1]]"},
    {"{\"a\":1}", OPS(ADD_OP("", "[7]")), "[7]"},
    {"{\"a\":{\"b\":1,\"c\":2}}", OPS(REMOVE_OP("/a/b")), "{\"a\":{\"c\":2}}"},
    {"[1,2,3]", OPS(REMOVE_OP("/1")), "[1,3]"},
    {"{\"a\":[1,{\"b\":2}]}", OPS(REPLACE_OP("/a/1/b", "null")), "{\"a\":[1,{\"b\":null}]}"},
    {"{\"a\":1}", OPS(REPLACE_OP("", "2")), "2"},
    {"{\"a\":{\"b\":1},\"c\":{}}", OPS(MOVE_OP("/a/b", "/c/d")), "{\"a\":{},\"c\":{\"d\":1}}"},
    {"[1,2,3,4]", OPS(MOVE_OP("/0", "/3")), "[2,3,4,1]"},
    {"[1,2,3,4]", OPS(MOVE_OP("/3", "/0")), "[4,1,2,3]"},
    {"{\"a\":1}", OPS(MOVE_OP("/a", "/a")), "{\"a\":1}"},
    {"{\"a\":{\"b\":1}}", OPS(MOVE_OP("/a/b", "/a")), "{\"a\":1}"},
    {"{\"a\":1,\"ab\":2}", OPS(MOVE_OP("/a", "/ab")), "{\"ab\":1}"},
    {"{\"a\":[1,2]}", OPS(COPY_OP("/a", "/a/0")), "{\"a\":[[1,2],1,2]}"},
    {"{\"a\":1}", OPS(COPY_OP("", "/b")), "{\"a\":1,\"b\":{\"a\":1}}"},
    {"{\"a/b\":1,\"c~d\":2,\"\":3}",
     OPS(REPLACE_OP("/a~1b", "9") "," REMOVE_OP("/c~0d") "," REPLACE_OP("/", "8") "," ADD_OP(
         "/x~1~0y", "7")),
     "{\"a/b\":9,\"\":8,\"x/~y\":7}"},
    {"{\"a\":[1,2.0,{\"y\":1,\"x\":2}]}",
     OPS(TEST_OP("/a", "[1.0,2,{\"x\":2,\"y\":1}]") "," REMOVE_OP("/a/2")), "{\"a\":[1,2.0]}"},
    {"{\"a\":null}", OPS(TEST_OP("/a", "null")), "{\"a\":null}"},
    {"{\"01\":1}", OPS(REPLACE_OP("/01", "2")), "{\"01\":2}"},
    {"{\"a\":1}",
     "[{\"op\":\"remove\",\"path\":\"/a\",\"note\":\"unknown members are passed over\"}]", "{}"},
};

static const triple patches_made[] = {
    {"{\"a\":1}", "{\"a\":1.0}", "[]"},
    {"1", "2", OPS(REPLACE_OP("", "2"))},
    {"{\"a\":1,\"b\":{\"c\":2}}", "{\"b\":{\"c\":3},\"d/e\":null}",
     OPS(REMOVE_OP("/a") "," REPLACE_OP("/b/c", "3") "," ADD_OP("/d~1e", "null"))},
    {"[1,2,3,4]", "[1,4]", OPS(REMOVE_OP("/2") "," REMOVE_OP("/1"))},
    {"[1,4]", "[1,2,3,4]", OPS(ADD_OP("/1", "2") "," ADD_OP("/2", "3"))},
    {"[1,{\"a\":1},3]", "[1,{\"a\":2},3,3]", OPS(REPLACE_OP("/1/a", "2") "," ADD_OP("/2", "3"))},
    {"[1,1]", "[1]", OPS(REMOVE_OP("/1"))},
    {"[]", "{}", OPS(REPLACE_OP("", "{}"))},
};

static void test_json_patch(void **state) {
    (void)state;
    CHECK_ALL(grove_json_patch_apply, patches);
    CHECK_ALL(grove_json_patch_make, patches_made);
}

typedef struct refusal {
    const char *target, *patch;
    grove_status status;
    const char *path, *message;
} refusal;

static const refusal refusals[] = {
    {"{}", "{}", GROVE_E_INVALID, "", "a JSON patch is an array of operations"},
    {"{}", "[7]", GROVE_E_INVALID, "",
     "operation 0 (unknown): \"op\" names no operation of RFC 6902"},
    {"{}", "[{\"op\":\"spam\",\"path\":\"/a\"}]", GROVE_E_INVALID, "",
     "operation 0 (unknown): \"op\" names no operation of RFC 6902"},
    {"{}", "[{\"op\":\"remove\"}]", GROVE_E_INVALID, "",
     "operation 0 (remove): \"path\" or \"from\" is no JSON pointer"},
    {"{}", OPS(REMOVE_OP("a")), GROVE_E_INVALID, "a",
     "operation 0 (remove): \"path\" or \"from\" is no JSON pointer"},
    {"{}", OPS(REMOVE_OP("/a~2")), GROVE_E_INVALID, "/a~2",
     "operation 0 (remove): \"path\" or \"from\" is no JSON pointer"},
    {"{}", "[{\"op\":\"add\",\"path\":\"/a\"}]", GROVE_E_INVALID, "/a",
     "operation 0 (add): \"value\" is missing"},
    {"{\"a\":1}", OPS(REMOVE_OP("/a") "," REMOVE_OP("/a")), GROVE_E_NOT_FOUND, "/a",
     "operation 1 (remove): there is no such place"},
    {"{}", OPS(REPLACE_OP("/a", "1")), GROVE_E_NOT_FOUND, "/a",
     "operation 0 (replace): there is no such place"},
    {"{}", OPS(ADD_OP("/a/b", "1")), GROVE_E_NOT_FOUND, "/a/b",
     "operation 0 (add): there is no such place"},
    {"{\"a\":1}", OPS(ADD_OP("/a/b", "1")), GROVE_E_NOT_FOUND, "/a/b",
     "operation 0 (add): there is no such place"},
    {"[1]", OPS(ADD_OP("/2", "1")), GROVE_E_NOT_FOUND, "/2",
     "operation 0 (add): there is no such place"},
    {"[1]", OPS(REMOVE_OP("/1")), GROVE_E_NOT_FOUND, "/1",
     "operation 0 (remove): there is no such place"},
    {"[1]", OPS(REMOVE_OP("/-")), GROVE_E_NOT_FOUND, "/-",
     "operation 0 (remove): there is no such place"},
    {"[1]", OPS(REPLACE_OP("/00", "1")), GROVE_E_NOT_FOUND, "/00",
     "operation 0 (replace): there is no such place"},
    {"[1]", OPS(REPLACE_OP("/4294967296", "1")), GROVE_E_NOT_FOUND, "/4294967296",
     "operation 0 (replace): there is no such place"},
    {"{\"a\":1}", OPS(TEST_OP("/a", "\"1\"")), GROVE_E_CONFLICT, "/a",
     "operation 0 (test): the value is another one"},
    {"{\"a\":1}", OPS(TEST_OP("/b", "1")), GROVE_E_NOT_FOUND, "/b",
     "operation 0 (test): there is no such value"},
    {"{\"a\":1}", OPS(COPY_OP("/b", "/c")), GROVE_E_NOT_FOUND, "/b",
     "operation 0 (copy): there is no such value"},
    {"{\"a\":{}}", OPS(MOVE_OP("/a", "/a/b")), GROVE_E_INVALID, "/a/b",
     "operation 0 (move): a value cannot move into itself"},
    {"{\"a\":{}}", OPS(REMOVE_OP("")), GROVE_E_INVALID, "",
     "operation 0 (remove): the whole document cannot be removed"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        grove_doc *out = NULL;
        grove_error err = GROVE_ERROR_INIT;
        const grove_status st = call(grove_json_patch_apply, r->target, r->patch, &out, &err);
        if (st != r->status || strcmp(err.path, r->path) != 0 ||
            strcmp(err.message, r->message) != 0) {
            fail_msg("%s: %s at %s: %s", r->patch, grove_status_name(st), err.path, err.message);
        }
        assert_null(out);
    }
    grove_doc *out = NULL;
    assert_int_equal(grove_json_patch_apply(NULL, NULL, NULL, NULL, &out, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_merge_patch_make(NULL, NULL, NULL, NULL, &out, NULL), GROVE_E_INVALID);
}

/* A thousand patches one on the other: memory stays flat, since only living documents are pinned. */
static void test_long_chain(void **state) {
    (void)state;
    oom_memory m;
    oom_memory_init(&m);
    grove_env *e = oom_env(&m, NULL);
    static const char start[] = "{\"spec\":{\"a\":{\"b\":{\"c\":[1,2,3]}}},\"status\":{\"n\":0,"
                                "\"conditions\":[{\"t\":1}]}}";
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(e, start, sizeof start - 1, 0, &doc, NULL), GROVE_OK);
    for (int i = 0; i < 1000; i++) {
        char text[64];
        const size_t n = gv_fmt(text, sizeof text, "{\"status\":{\"n\":%d,\"extra\":{\"m\":{}}}}",
                                i);
        grove_doc *patch = NULL;
        grove_doc *next = NULL;
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(grove_doc_parse_json(e, text, n, 0, &patch, NULL), GROVE_OK);
        if (grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &next,
                                    &err) < 0) {
            fail_msg("patch %d: %s", i, err.message);
        }
        grove_doc_unref(patch);
        grove_doc_unref(doc);
        doc = next;
        assert_true(m.live_blocks < 12);
    }
    assert_int_equal(gv_node_get_int(grove_node_get(grove_doc_root(doc), "status"), "n", -1), 999);
    assert_int_equal(grove_node_size(gv_node_path(grove_doc_root(doc), "spec.a.b.c")), 3);
    grove_doc_unref(doc);
    grove_env_unref(e);
    assert_int_equal(m.live_blocks, 0);
}

typedef struct oom_case {
    patch_fn fn;
    const char *a, *b;
} oom_case;

static grove_status oom_patch(grove_env *e, void *ctx) {
    const oom_case *c = ctx;
    grove_doc *a = NULL;
    grove_doc *b = NULL;
    grove_doc *out = NULL;
    grove_status st = grove_doc_parse_json(e, c->a, strlen(c->a), 0, &a, NULL);
    st = st == GROVE_OK ? grove_doc_parse_json(e, c->b, strlen(c->b), 0, &b, NULL) : st;
    st = st == GROVE_OK ? c->fn(a, grove_doc_root(a), b, grove_doc_root(b), &out, NULL) : st;
    grove_doc_unref(a);
    grove_doc_unref(b);
    grove_doc_unref(out);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    oom_case cases[] = {
        {grove_merge_patch_apply, "{\"a\":{\"b\":[1]},\"c\":[2]}",
         "{\"a\":{\"d\":[3]},\"e\":{\"f\":[]}}"},
        {grove_merge_patch_make, "{\"a\":{\"b\":[1]},\"c\":[2]}",
         "{\"a\":{\"d\":[3]},\"e\":{\"f\":[]}}"},
        {grove_json_patch_apply, "{\"a\":{\"b\":[1]},\"c\":[2]}",
         OPS(ADD_OP("/x", "{\"y\":[1]}") "," MOVE_OP("/a/b", "/x/~0") "," COPY_OP("/c", "/c/0"))},
        {grove_json_patch_make, "{\"a\":{\"b\":[1]},\"c\":[2]}",
         "{\"a\":{\"d\":[3]},\"e\":{\"f\":[]}}"},
    };
    static const char *const names[] = {"merge apply", "merge make", "json apply", "json make"};
    for (size_t i = 0; i < 4; i++) {
        oom_loop(names[i], oom_patch, &cases[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge),      cmocka_unit_test(test_merge_cannot_say_null),
        cmocka_unit_test(test_json_patch), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_long_chain), cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
