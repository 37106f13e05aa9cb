/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of documents over random trees: written text reads back equal; the canonical form does not depend
 * on the order of keys or the way numbers are written; made patches lead where they should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/random_json.h"
#include "value/build.h"
#include "value/doc.h"

#define ROUNDS 1500

static grove_env *env;
static const uint64_t seed = 20261130;

static int setup(void **state) {
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

static grove_doc *parsed(const char *text, size_t len) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(env, text, len, GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("%u:%u: %s: %s", err.line, err.column, err.message, text);
    }
    return doc;
}

static grove_doc *random_doc(gv_prng *r) {
    grove_buf text;
    grove_buf_init(&text, env);
    random_json(r, 4, &text);
    grove_doc *doc = parsed(text.data, (size_t)text.len);
    grove_buf_fini(&text);
    return doc;
}

static void assert_equal(const grove_doc *a, const grove_doc *b, const char *law) {
    uint64_t ha = 0;
    uint64_t hb = 1;
    assert_int_equal(grove_node_hash(grove_doc_root(a), &ha, NULL), GROVE_OK);
    assert_int_equal(grove_node_hash(grove_doc_root(b), &hb, NULL), GROVE_OK);
    if (!grove_node_equal(grove_doc_root(a), grove_doc_root(b)) || ha != hb) {
        grove_buf out;
        grove_buf_init(&out, env);
        grove_node_write_json(grove_doc_root(a), 0, &out, NULL);
        gv_buf_c(&out, "   against   ");
        grove_node_write_json(grove_doc_root(b), 0, &out, NULL);
        fail_msg("%s: %s", law, out.data);
    }
}

static void test_written_text_reads_back(void **state) {
    (void)state;
    gv_prng r;
    gv_prng_seed(&r, seed);
    grove_buf first;
    grove_buf second;
    grove_buf_init(&first, env);
    grove_buf_init(&second, env);
    static const uint32_t forms[] = {0, GROVE_WRITE_PRETTY, GROVE_WRITE_CANONICAL};
    for (int i = 0; i < ROUNDS; i++) {
        grove_doc *doc = random_doc(&r);
        for (size_t f = 0; f < 3; f++) {
            grove_buf_clear(&first);
            grove_buf_clear(&second);
            assert_int_equal(grove_node_write_json(grove_doc_root(doc), forms[f], &first, NULL),
                             GROVE_OK);
            grove_doc *again = parsed(first.data, (size_t)first.len);
            assert_equal(doc, again, "parse(write(x)) = x");
            assert_int_equal(grove_node_write_json(grove_doc_root(again), forms[f], &second, NULL),
                             GROVE_OK);
            assert_string_equal(first.data, second.data);
            grove_doc_unref(again);
        }
        grove_doc_unref(doc);
    }
    grove_buf_fini(&first);
    grove_buf_fini(&second);
}

/* Rebuilds with members in another order and numbers in canonical writing. */
static void shuffle(gv_prng *r, grove_builder *b, gv_str key, const grove_node *node) {
    const grove_type type = grove_node_type(node);
    const uint32_t n = grove_node_size(node);
    if (type == GROVE_OBJECT) {
        gv_build_open(b, key, type);
        const uint32_t begin = n > 0 ? (uint32_t)gv_prng_below(r, n) : 0;
        for (uint32_t i = 0; i < n; i++) {
            const grove_node *m = grove_node_at(node, (begin + n - i) % n);
            shuffle(r, b, gv_node_key(m), m);
        }
        grove_builder_close(b);
    } else if (type == GROVE_ARRAY) {
        gv_build_open(b, key, type);
        GV_EACH(child, node) {
            shuffle(r, b, GV_NO_KEY, child);
        }
        grove_builder_close(b);
    } else if (type == GROVE_NUMBER) {
        grove_buf text;
        grove_buf_init(&text, env);
        assert_int_equal(grove_node_write_json(node, GROVE_WRITE_CANONICAL, &text, NULL), GROVE_OK);
        gv_build_scalar(b, key, type, gv_buf_view(&text));
        grove_buf_fini(&text);
    } else {
        gv_build_copy(b, key, node);
    }
}

static void test_canonical_form(void **state) {
    (void)state;
    gv_prng r;
    gv_prng_seed(&r, seed + 1);
    grove_builder *b = NULL;
    grove_buf one;
    grove_buf other;
    grove_buf_init(&one, env);
    grove_buf_init(&other, env);
    assert_int_equal(grove_builder_new(env, &b), GROVE_OK);
    for (int i = 0; i < ROUNDS; i++) {
        grove_doc *doc = random_doc(&r);
        grove_doc *shuffled = NULL;
        shuffle(&r, b, GV_NO_KEY, grove_doc_root(doc));
        assert_int_equal(grove_builder_finish(b, &shuffled, NULL), GROVE_OK);
        assert_equal(doc, shuffled, "equality ignores the order of keys");
        grove_buf_clear(&one);
        grove_buf_clear(&other);
        grove_node_write_json(grove_doc_root(doc), GROVE_WRITE_CANONICAL, &one, NULL);
        grove_node_write_json(grove_doc_root(shuffled), GROVE_WRITE_CANONICAL, &other, NULL);
        assert_string_equal(one.data, other.data);
        grove_doc_unref(doc);
        grove_doc_unref(shuffled);
    }
    grove_buf_fini(&one);
    grove_buf_fini(&other);
    grove_builder_free(b);
}

typedef grove_status (*patch_fn)(grove_doc *, const grove_node *, grove_doc *, const grove_node *,
                                 grove_doc **, grove_error *);

/* apply(a, make(a, b)) = b; returns how often make could not say it. */
static int check_patch_law(uint64_t s, patch_fn make, patch_fn apply, const char *law) {
    gv_prng r;
    gv_prng_seed(&r, s);
    int unsupported = 0;
    for (int i = 0; i < ROUNDS; i++) {
        grove_doc *a = random_doc(&r);
        grove_doc *b = random_doc(&r);
        grove_doc *patch = NULL;
        grove_doc *result = NULL;
        grove_error err = GROVE_ERROR_INIT;
        const grove_status st = make(a, grove_doc_root(a), b, grove_doc_root(b), &patch, &err);
        if (st == GROVE_OK) {
            if (apply(a, grove_doc_root(a), patch, grove_doc_root(patch), &result, &err) < 0) {
                fail_msg("%s: %s", law, err.message);
            }
            assert_equal(result, b, law);
        } else {
            assert_int_equal(st, GROVE_E_UNSUPPORTED);
            unsupported++;
        }
        grove_doc_unref(a);
        grove_doc_unref(b);
        grove_doc_unref(patch);
        grove_doc_unref(result);
    }
    return unsupported;
}

static void test_patches_lead_there(void **state) {
    (void)state;
    const int merges = check_patch_law(seed + 2, grove_merge_patch_make, grove_merge_patch_apply,
                                       "merge_apply(a, merge_make(a, b)) = b");
    print_message("%d of %d cannot be said by a merge patch\n", merges, ROUNDS);
    assert_true(merges > 0 && merges < ROUNDS / 2);
    assert_int_equal(check_patch_law(seed + 3, grove_json_patch_make, grove_json_patch_apply,
                                     "json_apply(a, json_make(a, b)) = b"),
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_text_reads_back),
        cmocka_unit_test(test_canonical_form),
        cmocka_unit_test(test_patches_lead_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
