/* SPDX-License-Identifier: Apache-2.0 */
/* YAML out: the look of it, and that it reads back as what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "same.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/build.h"

#define RANDOM_DOCUMENTS 3000
#define SEED 20261129

static grove_env *env;

static grove_doc *from_json(const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(env, text, strlen(text), 0, &doc, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return doc;
}

static void assert_reads_back(const grove_node *root) {
    grove_buf out;
    grove_doc *back = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_yaml(root, 0, &out, NULL), GROVE_OK);
    if (grove_doc_parse_yaml(env, out.data, (size_t)out.len, GROVE_PARSE_STRICT, &back, &err) < 0) {
        fail_msg("%s\n%u:%u: %s", out.data, err.line, err.column, err.message);
    }
    if (!same_value(grove_doc_root(back), root)) {
        fail_msg("reads back differently:\n%s", out.data);
    }
    grove_doc_unref(back);
    grove_buf_fini(&out);
}

static void test_look(void **state) {
    (void)state;
    size_t len = 0;
    char *json = test_read("tests/golden/yaml/write.json", &len);
    grove_doc *doc = from_json(json);
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_yaml(grove_doc_root(doc), 0, &out, NULL), GROVE_OK);
    test_golden("yaml/write.yaml", out.data, (size_t)out.len);
    assert_reads_back(grove_doc_root(doc));
    grove_buf_fini(&out);
    grove_doc_unref(doc);
    free(json);
}

static void test_roots(void **state) {
    (void)state;
    static const char *const roots[][2] = {
        {"{}", "{}\n"},
        {"[]", "[]\n"},
        {"null", "null\n"},
        {"true", "true\n"},
        {"1", "1\n"},
        {"\"a\"", "a\n"},
        {"\"\"", "\"\"\n"},
        {"[1]", "- 1\n"},
        {"[[1],[]]", "- - 1\n- []\n"},
        {"1E5", "1.0e+5\n"},
        {"\"a\\nb\"", "|-\n  a\n  b\n"},
        {"\"---\"", "'---'\n"},
        {"[{\"a\":[{\"b\":1}]}]", "- a:\n  - b: 1\n"},
    };
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        grove_doc *doc = from_json(roots[i][0]);
        grove_buf out;
        grove_buf_init(&out, env);
        assert_int_equal(grove_node_write_yaml(grove_doc_root(doc), 0, &out, NULL), GROVE_OK);
        assert_string_equal(out.data, roots[i][1]);
        assert_reads_back(grove_doc_root(doc));
        grove_buf_fini(&out);
        grove_doc_unref(doc);
    }
}

/* A number that the YAML reader would call a string has no plain form. */
static void test_refused(void **state) {
    (void)state;
    grove_doc *doc = from_json("{\"a\":[1,-1e400]}");
    grove_buf out;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&out, env);
    gv_buf_c(&out, "kept");
    assert_int_equal(grove_node_write_yaml(grove_doc_root(doc), 0, &out, &err), GROVE_E_RANGE);
    assert_string_equal(out.data, "kept");
    assert_non_null(strstr(err.message, "-1e400"));
    assert_int_equal(grove_node_write_yaml(NULL, 0, &out, &err), GROVE_E_INVALID);
    assert_int_equal(grove_node_write_yaml(grove_doc_root(doc), 0x80, &out, &err), GROVE_E_INVALID);
    grove_buf_fini(&out);
    grove_doc_unref(doc);
}

/* Every text of the vectors as a value, as a key and as an element. */
static void test_texts_of_vectors(void **state) {
    (void)state;
    size_t len = 0, n = 0;
    char *text = test_read("tests/golden/yaml/vectors.jsonl", &len);
    grove_builder *b = NULL;
    assert_int_equal(grove_builder_new(env, &b), GROVE_OK);
    for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
        grove_doc *vector = NULL, *doc = NULL;
        assert_int_equal(grove_doc_parse_json(env, at, (size_t)(end - at), 0, &vector, NULL),
                         GROVE_OK);
        gv_str s = gv_node_get_str(grove_doc_root(vector), "yaml");
        /* "k: X\n" and "[X, 1]\n" hold the scalars of the generator. */
        if (gv_str_starts(s, GV_STR("k: "))) {
            s = (gv_str){s.p + 3, s.n - 4};
        }
        gv_build_open(b, GV_NO_KEY, GROVE_OBJECT);
        gv_build_string(b, s, s);
        gv_build_open(b, GV_STR("list"), GROVE_ARRAY);
        gv_build_string(b, GV_NO_KEY, s);
        grove_builder_close(b);
        grove_builder_close(b);
        assert_int_equal(grove_builder_finish(b, &doc, NULL), GROVE_OK);
        assert_reads_back(grove_doc_root(doc));
        grove_doc_unref(doc);
        grove_doc_unref(vector);
        n++;
    }
    assert_true(n > 4000);
    grove_builder_free(b);
    free(text);
}

/* ---- random documents ---- */

static void random_text(gv_prng *r, char *out, size_t *out_len) {
    static const char *const pieces[] = {"a",
                                         "B",
                                         "7",
                                         "0",
                                         " ",
                                         "  ",
                                         "\n",
                                         "\n\n",
                                         "\t",
                                         ":",
                                         ": ",
                                         "#",
                                         " #",
                                         "-",
                                         "- ",
                                         "---",
                                         "...",
                                         "?",
                                         "'",
                                         "\"",
                                         "\\",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         "&",
                                         "*",
                                         "!",
                                         "|",
                                         ">",
                                         "%",
                                         "@",
                                         "`",
                                         "=",
                                         "<<",
                                         "~",
                                         "null",
                                         "yes",
                                         "on",
                                         "1.5",
                                         "1e3",
                                         "0x1",
                                         "_",
                                         ".",
                                         "+",
                                         "\xc3\xa9",
                                         "\xe2\x98\xba",
                                         "\xf0\x9f\x98\x80",
                                         "\xc2\x85",
                                         "\xe2\x80\xa8",
                                         "\xef\xbb\xbf",
                                         "\r",
                                         "\r\n",
                                         "\x01",
                                         "\x7f",
                                         "\xc2\xa0",
                                         "\xef\xbf\xbe",
                                         "12:30",
                                         "2001-01-01"};
    *out_len = 0;
    for (uint64_t n = gv_prng_below(r, 7); n > 0; n--) {
        const char *piece = pieces[gv_prng_below(r, sizeof pieces / sizeof pieces[0])];
        memcpy(out + *out_len, piece, strlen(piece));
        *out_len += strlen(piece);
    }
    if (gv_prng_below(r, 40) == 0) {
        out[(*out_len)++] = '\0';
    }
    if (gv_prng_below(r, 60) == 0) { /* longer than a simple key may be */
        memset(out + *out_len, 'k', 1100);
        *out_len += 1100;
    }
}

static void random_value(gv_prng *r, grove_builder *b, gv_str key, int depth) {
    static const char *const numbers[] = {"0",       "-1",   "9223372036854775807",  "1.50", "1e3",
                                          "-2.5E-7", "-0.0", "123456789012345678901"};
    char text[1400];
    size_t len = 0;
    switch (gv_prng_below(r, depth > 0 ? 8 : 5)) {
    case 0:
        gv_build_scalar(b, key, GROVE_NULL_NODE, GV_STR(""));
        break;
    case 1:
        gv_build_scalar(b, key, GROVE_BOOL, gv_str_c(gv_prng_below(r, 2) ? "true" : "false"));
        break;
    case 2:
        gv_build_scalar(b, key, GROVE_NUMBER,
                        gv_str_c(numbers[gv_prng_below(r, sizeof numbers / sizeof numbers[0])]));
        break;
    case 3:
    case 4:
        random_text(r, text, &len);
        gv_build_string(b, key, (gv_str){text, len});
        break;
    case 5:
        gv_build_open(b, key, GROVE_ARRAY);
        for (uint64_t n = gv_prng_below(r, 4); n > 0; n--) {
            random_value(r, b, GV_NO_KEY, depth - 1);
        }
        grove_builder_close(b);
        break;
    default:
        gv_build_open(b, key, GROVE_OBJECT);
        for (uint64_t n = gv_prng_below(r, 4); n > 0; n--) {
            random_text(r, text, &len);
            random_value(r, b, (gv_str){text, len}, depth - 1);
        }
        grove_builder_close(b);
    }
}

static void test_random_documents(void **state) {
    (void)state;
    gv_prng r;
    gv_prng_seed(&r, SEED);
    grove_builder *b = NULL;
    assert_int_equal(grove_builder_new(env, &b), GROVE_OK);
    for (int i = 0; i < RANDOM_DOCUMENTS; i++) {
        grove_doc *doc = NULL;
        random_value(&r, b, GV_NO_KEY, 5);
        assert_int_equal(grove_builder_finish(b, &doc, NULL), GROVE_OK);
        assert_reads_back(grove_doc_root(doc));
        grove_doc_unref(doc);
    }
    grove_builder_free(b);
    print_message("%d random documents, seed %d\n", RANDOM_DOCUMENTS, SEED);
}

static grove_status write_all(grove_env *with, void *ctx) {
    grove_buf out;
    grove_buf_init(&out, with);
    grove_status st = grove_node_write_yaml(ctx, 0, &out, NULL);
    grove_buf_fini(&out);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    grove_doc *doc = from_json(
        "{\"a\":[1,{\"b\":\"x\\ny\"},\"1_0\",1e5],\"k: 1\":\"\\u0001\",\"c\":[[[]]]}");
    union {
        const grove_node *in;
        void *out;
    } root = {grove_doc_root(doc)};
    oom_loop("yaml write", write_all, root.out);
    grove_doc_unref(doc);
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
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_texts_of_vectors),
        cmocka_unit_test(test_random_documents),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
