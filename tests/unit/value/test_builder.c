/* SPDX-License-Identifier: Apache-2.0 */
/* Building documents: nesting, links and what they pin, repeats, places, limits, failures that stick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/oom.h"
#include "value/build.h"
#include "value/doc.h"

static grove_env *env;
static grove_builder *b;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env) < 0 || grove_builder_new(env, &b) < 0;
}

static int teardown(void **state) {
    (void)state;
    grove_builder_free(b);
    grove_env_unref(env);
    return 0;
}

static grove_doc *parsed(grove_env *e, const char *text) {
    grove_doc *doc = NULL;
    if (grove_doc_parse_json(e, text, strlen(text), 0, &doc, NULL) < 0) {
        fail_msg("not JSON: %s", text);
    }
    return doc;
}

static grove_doc *finished(void) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_builder_finish(b, &doc, &err) < 0) {
        fail_msg("%s", err.message);
    }
    return doc;
}

static void assert_json(const grove_node *node, const char *expected) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(node, 0, &out, NULL), GROVE_OK);
    assert_string_equal(out.data, expected);
    grove_buf_fini(&out);
}

static void test_values(void **state) {
    (void)state;
    grove_builder_open_object(b, NULL);
    grove_builder_null(b, "n");
    grove_builder_bool(b, "t", 7);
    grove_builder_bool(b, "f", 0);
    grove_builder_int64(b, "i", INT64_MIN);
    grove_builder_number(b, "d", "1.50", 4);
    grove_builder_string(b, "s", "caf\xC3\xA9\n");
    grove_builder_stringn(b, "z", "a\0b", 3);
    grove_builder_string(b, "none", NULL);
    grove_builder_open_array(b, "list");
    grove_builder_int64(b, NULL, 0);
    grove_builder_open_object(b, NULL);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_doc *doc = finished();
    assert_json(grove_doc_root(doc),
                "{\"n\":null,\"t\":true,\"f\":false,\"i\":-9223372036854775808,\"d\":1.50,"
                "\"s\":\"caf\xC3\xA9\\n\",\"z\":\"a\\u0000b\",\"none\":\"\",\"list\":[0,{}]}");
    grove_doc_unref(doc);
    grove_builder_string(b, NULL, "a scalar is a document too"); /* the builder can be used again */
    doc = finished();
    assert_json(grove_doc_root(doc), "\"a scalar is a document too\"");
    grove_doc_unref(doc);
}

static void test_links(void **state) {
    (void)state;
    oom_memory m;
    oom_memory_init(&m);
    grove_env *e = oom_env(&m, NULL);
    grove_doc *inner = parsed(e, "{\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"x\":\"s\"}");
    const grove_node *spec = grove_node_get(grove_doc_root(inner), "spec");
    grove_builder_open_object(b, NULL);
    grove_builder_link(b, "podSpec", inner, spec);
    grove_builder_link(b, "small", inner, grove_node_get(grove_doc_root(inner), "x"));
    grove_builder_close(b);
    grove_doc *middle = finished();
    const grove_node *linked = grove_node_get(grove_doc_root(middle), "podSpec");
    assert_string_equal(grove_node_key(linked, NULL), "podSpec"); /* the link has its own key */
    assert_ptr_equal(grove_node_first(linked), grove_node_first(spec)); /* and no copy below */
    assert_int_equal(gv_node_column(linked), gv_node_column(spec));
    grove_builder_open_array(b, NULL);
    grove_builder_link(b, NULL, middle, linked); /* leads to `inner` at once */
    grove_builder_link(b, NULL, middle, grove_node_first(linked));
    grove_builder_close(b);
    grove_doc *outer = finished();
    grove_doc_unref(middle); /* only `inner` is still needed */
    grove_doc_unref(inner);
    assert_int_equal(m.live_blocks, 2); /* its env and its block */
    assert_json(grove_doc_root(outer), "[{\"containers\":[{\"name\":\"c\"}]},[{\"name\":\"c\"}]]");
    grove_doc_unref(outer);
    grove_env_unref(e);
    assert_int_equal(m.live_blocks, 0);
}

/* What a linked part links in turn is pinned and can be linked from the result; each document once. */
static void test_links_below_links(void **state) {
    (void)state;
    grove_doc *inner = parsed(env, "{\"deep\":{\"list\":[1,2]}}");
    grove_builder_open_object(b, NULL);
    grove_builder_link(b, "in", inner, grove_doc_root(inner));
    grove_builder_close(b);
    grove_doc *middle = finished();
    uint64_t bytes[2];
    grove_doc *outer = NULL;
    for (int n = 0; n < 2; n++) { /* the second time with a hundred links to the same document */
        grove_doc_unref(outer);
        grove_builder_open_array(b, NULL);
        for (int i = 0; i < (n == 0 ? 1 : 100); i++) {
            grove_builder_link(b, NULL, middle, grove_doc_root(middle));
        }
        grove_builder_close(b);
        outer = finished();
        bytes[n] = grove_doc_bytes(outer);
    }
    assert_int_equal((bytes[1] - bytes[0]) / 99, 24); /* a node each and no further pin */
    grove_doc_unref(middle);
    grove_doc_unref(inner);
    const grove_node *list = gv_node_path(grove_node_first(grove_doc_root(outer)), "in.deep.list");
    grove_builder_link(b, NULL, outer, list);
    grove_doc *last = finished();
    grove_doc_unref(outer);
    assert_json(grove_doc_root(last), "[1,2]");
    grove_doc_unref(last);
}

static void test_link_to_a_stranger(void **state) {
    (void)state;
    grove_doc *one = parsed(env, "{\"a\":[1]}");
    grove_doc *two = parsed(env, "{\"a\":[1]}");
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_builder_link(b, NULL, one, grove_doc_root(two));
    assert_int_equal(grove_builder_finish(b, &doc, &err), GROVE_E_INVALID);
    assert_string_equal(err.message, "the node to link is not in the document given");
    grove_builder_link(b, NULL, one, NULL);
    assert_int_equal(grove_builder_finish(b, &doc, &err), GROVE_E_INVALID);
    assert_null(doc);
    grove_doc_unref(one);
    grove_doc_unref(two);
}

/* A chain of documents, each pinning the one before, is freed without recursion. */
static void test_long_chain_is_freed(void **state) {
    (void)state;
    grove_doc *doc = parsed(env, "[[0]]");
    for (int i = 0; i < 20000; i++) {
        grove_builder_open_array(b, NULL);
        grove_builder_link(b, NULL, doc, grove_node_first(grove_doc_root(doc)));
        grove_builder_open_array(b, NULL);
        grove_builder_int64(b, NULL, i);
        grove_builder_close(b);
        grove_builder_close(b);
        grove_doc *next = finished();
        grove_doc_unref(doc);
        doc = next;
    }
    assert_json(grove_doc_root(doc), "[[0],[19999]]");
    grove_doc_unref(doc);
}

static void test_places(void **state) {
    (void)state;
    grove_doc *source = parsed(env, "{\n  \"a\": {\"b\": [7]}\n}");
    const grove_node *a = grove_node_get(grove_doc_root(source), "a");
    grove_builder_open_object(b, NULL);
    grove_builder_position(b, a, 1);
    grove_builder_int64(b, "added", 3);
    grove_builder_position(b, NULL, 0);
    grove_builder_copy(b, "copy", a);
    grove_builder_int64(b, "plain", 4);
    gv_build_at(b, 9, 5);
    grove_builder_copy(b, "placed", a);
    grove_builder_close(b);
    grove_doc *doc = finished();
    grove_doc_unref(source);
    const grove_node *root = grove_doc_root(doc);
    assert_int_equal(gv_node_line(grove_node_get(root, "added")), 2);
    assert_int_equal(gv_node_column(grove_node_get(root, "added")), 8);
    assert_int_equal(grove_node_is_defaulted(grove_node_get(root, "added")), 1);
    assert_int_equal(gv_node_column(gv_node_path(root, "copy.b")), 14); /* each node its own */
    assert_int_equal(grove_node_is_defaulted(grove_node_get(root, "copy")), 0);
    assert_int_equal(gv_node_line(grove_node_get(root, "plain")), 0);
    assert_int_equal(gv_node_line(gv_node_path(root, "placed.b")), 9);
    grove_doc_unref(doc);
}

static void test_repeats(void **state) {
    (void)state;
    grove_builder_open_array(b, NULL);
    const uint32_t mark = gv_build_mark(b);
    grove_builder_open_object(b, NULL);
    for (int i = 0; i < 40; i++) { /* large enough for an index */
        char key[8];
        gv_fmt(key, sizeof key, "k%d", i);
        grove_builder_int64(b, key, i);
    }
    grove_builder_close(b);
    gv_build_repeat(b, GV_NO_KEY, mark);
    grove_builder_open_object(b, NULL);
    gv_build_repeat(b, GV_STR("again"), mark);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_doc *doc = finished();
    const grove_node *root = grove_doc_root(doc);
    assert_true(grove_node_equal(grove_node_at(root, 0), grove_node_at(root, 1)) == 1);
    assert_int_equal(gv_node_get_int(grove_node_get(grove_node_at(root, 2), "again"), "k39", -1),
                     39);
    grove_doc_unref(doc);
    doc = NULL;
    grove_builder_open_array(b, NULL);
    gv_build_repeat(b, GV_NO_KEY, 0); /* within itself */
    grove_builder_close(b);
    assert_int_equal(grove_builder_finish(b, &doc, NULL), GROVE_E_INVALID);
}

static void test_duplicates(void **state) {
    (void)state;
    for (int strict = 0; strict < 2; strict++) {
        for (int n = 2; n < 100; n += 47) {
            gv_build_strict(b, strict);
            grove_builder_open_object(b, NULL);
            for (int i = 0; i < n; i++) {
                char key[8];
                gv_fmt(key, sizeof key, "k%d", i % (n - 1));
                gv_build_at(b, (uint32_t)i + 1, 1);
                grove_builder_int64(b, key, i);
            }
            grove_builder_close(b);
            grove_doc *doc = NULL;
            grove_error err = GROVE_ERROR_INIT;
            const grove_status st = grove_builder_finish(b, &doc, &err);
            assert_int_equal(st, strict ? GROVE_E_PARSE : GROVE_OK);
            if (strict) {
                assert_int_equal(err.line, n);
                assert_string_equal(err.message, "the key \"k0\" is there twice");
            } else {
                assert_int_equal(grove_node_size(grove_doc_root(doc)), n - 1);
                assert_int_equal(gv_node_get_int(grove_doc_root(doc), "k0", -1), n - 1);
            }
            grove_doc_unref(doc);
        }
    }
    gv_build_strict(b, false);
}

typedef void (*misuse_fn)(void);

static void close_nothing(void) {
    grove_builder_close(b);
}
static void leave_open(void) {
    grove_builder_open_array(b, NULL);
}
static void build_nothing(void) {
}
static void two_roots(void) {
    grove_builder_null(b, NULL);
    grove_builder_null(b, NULL);
}
static void key_at_root(void) {
    grove_builder_null(b, "k");
}
static void key_in_array(void) {
    grove_builder_open_array(b, NULL);
    grove_builder_null(b, "k");
}
static void no_key_in_object(void) {
    grove_builder_open_object(b, NULL);
    grove_builder_null(b, NULL);
}
static void bad_number(void) {
    grove_builder_number(b, NULL, "1.", 2);
}
static void no_number(void) {
    grove_builder_number(b, NULL, NULL, 3);
}
static void bad_text(void) {
    grove_builder_string(b, NULL, "\xFF");
}
static void cut_text(void) {
    grove_builder_stringn(b, NULL, "\xC3", 1);
}
static void bad_key(void) {
    grove_builder_open_object(b, NULL);
    grove_builder_null(b, "\xED\xA0\x80");
}
static void copy_nothing(void) {
    grove_builder_copy(b, NULL, NULL);
}

static void test_misuse_sticks(void **state) {
    (void)state;
    static const misuse_fn misuses[] = {
        close_nothing, leave_open, build_nothing,    two_roots, key_at_root,
        key_in_array,  bad_number, no_key_in_object, no_number, bad_text,
        cut_text,      bad_key,    copy_nothing};
    for (size_t i = 0; i < sizeof misuses / sizeof *misuses; i++) {
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        misuses[i]();
        const grove_status first = gv_build_status(b);
        if (first < 0) {
            grove_builder_string(b, NULL, "passed over");
        }
        assert_int_equal(grove_builder_finish(b, &doc, &err), GROVE_E_INVALID);
        assert_true(err.message[0] != '\0');
        assert_null(doc);
        assert_int_equal(gv_build_status(b), GROVE_OK); /* and the builder is fresh again */
    }
    grove_builder_null(NULL, NULL);
    grove_builder_close(NULL);
    grove_builder_position(NULL, NULL, 0);
    grove_builder_free(NULL);
    assert_int_equal(grove_builder_finish(NULL, NULL, NULL), GROVE_E_INVALID);
}

static void test_own_failure(void **state) {
    (void)state;
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_builder_open_array(b, NULL);
    gv_build_fail(b, GROVE_E_LIMIT, 3, 4, "%s", "too many aliases");
    gv_build_fail(b, GROVE_E_PARSE, 1, 1, "%s", "the first failure stays");
    grove_builder_close(b);
    assert_int_equal(grove_builder_finish(b, &doc, &err), GROVE_E_LIMIT);
    assert_int_equal(err.line, 3);
    assert_string_equal(err.message, "too many aliases");
}

static void test_limits(void **state) {
    (void)state;
    const grove_limits limits = {
        .size = (uint32_t)sizeof limits, .depth = 3, .document_bytes = 64, .document_nodes = 6};
    const grove_env_options options = {.size = (uint32_t)sizeof options, .limits = &limits};
    grove_env *small = NULL;
    grove_builder *s = NULL;
    grove_doc *doc = NULL;
    assert_int_equal(grove_env_new(&options, &small), GROVE_OK);
    assert_int_equal(grove_builder_new(small, &s), GROVE_OK);
    for (int i = 0; i < 4; i++) {
        grove_builder_open_array(s, NULL);
    }
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_E_LIMIT);
    grove_doc *deep = parsed(env, "[[[]],[[1]]]");
    grove_builder_open_array(s, NULL);
    grove_builder_link(s, NULL, deep, grove_doc_root(deep)); /* one level too deep through a link */
    grove_builder_close(s);
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_E_LIMIT);
    grove_builder_open_array(s, NULL);
    grove_builder_link(s, NULL, deep, grove_node_at(grove_doc_root(deep), 1));
    grove_builder_close(s);
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_OK);
    grove_doc_unref(doc);
    doc = NULL;
    grove_builder_open_array(s, NULL);
    for (int i = 0; i < 6; i++) {
        grove_builder_null(s, NULL);
    }
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_E_LIMIT);
    grove_builder_open_array(s, NULL);
    const uint32_t mark = gv_build_mark(s);
    grove_builder_open_array(s, NULL);
    grove_builder_null(s, NULL);
    grove_builder_close(s);
    gv_build_repeat(s, GV_NO_KEY, mark);
    gv_build_repeat(s, GV_NO_KEY, mark); /* repeats count in full */
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_E_LIMIT);
    char text[80];
    memset(text, 'x', sizeof text);
    grove_builder_stringn(s, NULL, text, sizeof text);
    assert_int_equal(grove_builder_finish(s, &doc, NULL), GROVE_E_LIMIT);
    assert_null(doc);
    grove_doc_unref(deep);
    grove_builder_free(s);
    grove_env_unref(small);
}

static grove_status oom_build(grove_env *e, void *ctx) {
    grove_doc *source = ctx;
    grove_builder *builder = NULL;
    grove_doc *doc = NULL;
    if (grove_builder_new(e, &builder) < 0) {
        return GROVE_E_NOMEM;
    }
    grove_builder_open_object(builder, NULL);
    for (int i = 0; i < 50; i++) {
        char key[8];
        gv_fmt(key, sizeof key, "k%d", i % 45);
        grove_builder_link(builder, key, source, grove_doc_root(source));
        grove_builder_copy(builder, "copy", grove_doc_root(source));
    }
    grove_builder_close(builder);
    const grove_status st = grove_builder_finish(builder, &doc, NULL);
    grove_doc_unref(doc);
    grove_builder_free(builder);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    grove_doc *source = parsed(env, "{\"a\":[1,{\"b\":\"text\"}]}");
    oom_loop("build, link, copy", oom_build, source);
    grove_doc_unref(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_links_below_links),
        cmocka_unit_test(test_link_to_a_stranger),
        cmocka_unit_test(test_long_chain_is_freed),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_misuse_sticks),
        cmocka_unit_test(test_own_failure),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
