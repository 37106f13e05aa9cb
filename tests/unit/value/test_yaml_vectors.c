/* SPDX-License-Identifier: Apache-2.0 */
/* YAML means to us what it means to sigs.k8s.io/yaml, but for the listed differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "same.h"
#include "support/files.h"
#include "value/yaml_scalar.h"

#define VECTORS_AT_LEAST 4000

typedef struct lines {
    char *text;
    size_t len, at;
} lines;

static grove_env *env;

static lines open_lines(const char *relative) {
    lines l = {NULL, 0, 0};
    l.text = test_read(relative, &l.len);
    return l;
}

/* The next line as a document; NULL at the end. */
static grove_doc *next_line(lines *l) {
    if (l->at >= l->len) {
        return NULL;
    }
    const char *begin = l->text + l->at;
    const char *end = memchr(begin, '\n', l->len - l->at);
    size_t n = end ? (size_t)(end - begin) : l->len - l->at;
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(env, begin, n, GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("line at byte %zu: %s", l->at, err.message);
    }
    l->at += n + 1;
    return doc;
}

/* Does the text come out as `expected` says ("json", or any error)? */
static bool agrees(const grove_node *vector, const grove_node *expected) {
    const gv_str text = gv_node_get_str(vector, "yaml");
    const grove_node *json = grove_node_get(expected, "json");
    grove_doc *doc = NULL;
    char *copy = malloc(text.n ? text.n : 1);
    assert_non_null(copy);
    memcpy(copy, text.p, text.n);
    const grove_status st = grove_doc_parse_yaml(
        env, copy, text.n, gv_node_get_bool(vector, "strict") ? GROVE_PARSE_STRICT : 0, &doc, NULL);
    free(copy);
    const bool ok = st < 0 ? !json : json && same_value(grove_doc_root(doc), json);
    grove_doc_unref(doc);
    return ok;
}

static bool is_same_input(const grove_node *a, const grove_node *b) {
    return gv_str_eq(gv_node_get_str(a, "yaml"), gv_node_get_str(b, "yaml")) &&
           gv_node_get_bool(a, "strict") == gv_node_get_bool(b, "strict");
}

static void test_vectors(void **state) {
    (void)state;
    lines vectors = open_lines("tests/golden/yaml/vectors.jsonl");
    lines known = open_lines("tests/golden/yaml/differences.jsonl");
    grove_doc *difference = next_line(&known);
    size_t n = 0, n_different = 0, wrong = 0;
    for (grove_doc *v = next_line(&vectors); v; v = next_line(&vectors)) {
        const grove_node *vector = grove_doc_root(v);
        const grove_node *expected = vector;
        n++;
        /* Differences are listed in the order of the vectors. */
        if (difference && is_same_input(vector, grove_doc_root(difference))) {
            expected = grove_doc_root(difference);
            n_different++;
            if (agrees(vector, vector)) {
                wrong++;
                print_error("no difference any more: %s\n", gv_node_get_str(vector, "yaml").p);
            }
        }
        if (!agrees(vector, expected)) {
            wrong++;
            print_error("%s: %s\n", expected == vector ? "differs" : "differs from its list entry",
                        gv_node_get_str(vector, "yaml").p);
        }
        if (expected != vector) {
            grove_doc_unref(difference);
            difference = next_line(&known);
        }
        grove_doc_unref(v);
    }
    assert_null(difference); /* each entry was met */
    assert_int_equal(wrong, 0);
    assert_true(n >= VECTORS_AT_LEAST);
    print_message("%zu vectors, %zu of them listed as different\n", n, n_different);
    free(vectors.text);
    free(known.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    if (grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    grove_env_unref(env);
    return failed;
}
