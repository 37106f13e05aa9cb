/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of field paths: the laws of sets on random ones, FieldsV1 there and back, memory failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "sim/fields.h"
#include "support/oom.h"
#include "value/doc.h"

#define ROUNDS 500

static bool fill(gv_arena *a, gv_prng *r, gv_fields *set, int depth) {
    static const char *const steps[] = {"f:a", "f:b", "k:{\"name\":\"x\"}", "v:\"y\""};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (gv_prng_below(r, 2) == 0) {
            continue;
        }
        gv_fields *c = gv_fields_child(a, set, gv_str_c(steps[i]));
        if (!c) {
            return false;
        }
        c->member = gv_prng_below(r, 2);
        if (depth > 0 && !fill(a, r, c, depth - 1)) {
            return false;
        }
    }
    return true;
}

static gv_fields *copy_of(gv_arena *a, const gv_fields *set) {
    gv_fields *made = gv_arena_new(a, gv_fields);
    return made && gv_fields_add(a, made, set) ? made : NULL;
}

static grove_status there_and_back(grove_env *env, gv_arena *a, const gv_fields *set,
                                   gv_fields *out) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st == GROVE_OK) {
        gv_fields_write(b, NULL, set);
        st = grove_builder_finish(b, &doc, NULL);
    }
    st = st < 0 || gv_fields_read(a, grove_doc_root(doc), out) ? st : GROVE_E_NOMEM;
    grove_doc_unref(doc);
    grove_builder_free(b);
    return st;
}

static void check_laws(grove_env *env, gv_arena *a, gv_prng *r) {
    gv_fields x = {0}, y = {0}, both = {0}, again = {0};
    assert_true(fill(a, r, &x, 3) && fill(a, r, &y, 3));
    gv_fields *sum = copy_of(a, &x), *less = copy_of(a, &x), *rest = copy_of(a, &x);
    assert_true(gv_fields_add(a, sum, &y));
    gv_fields_drop(sum, &y);
    gv_fields_drop(less, &y);
    assert_true(gv_fields_same(sum, less)); /* (X + Y) - Y = X - Y */
    gv_fields_drop(rest, less);
    assert_true(gv_fields_meet(a, &x, &y, &both));
    assert_true(gv_fields_same(rest, &both)); /* X - (X - Y) = X meets Y */
    assert_int_equal(there_and_back(env, a, &x, &again), GROVE_OK);
    assert_true(gv_fields_same(&x, &again));
    gv_fields *gone = copy_of(a, &x);
    gv_fields_drop(gone, &x);
    assert_false(gv_fields_any(gone));
}

static void test_laws(void **state) {
    grove_env *env = NULL;
    gv_arena a;
    gv_prng r;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    gv_arena_init(&a, env);
    gv_prng_seed(&r, 42);
    for (int i = 0; i < ROUNDS; i++) {
        check_laws(env, &a, &r);
        gv_arena_reset(&a);
    }
    gv_arena_fini(&a);
    grove_env_unref(env);
}

/* ---- objects ---- */

static const char was_text[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"1\"},\"finalizers\":[\"f\"]"
    "},"
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"args\":[\"x\"],"
    "\"ports\":[{\"containerPort\":80,\"protocol\":\"TCP\"}]}],\"nodeSelector\":{\"k\":\"v\"}}}";
static const char next_text[] =
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"2\"}},"
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\",\"args\":[\"y\"]},{\"name\":\"d\"}"
    "],"
    "\"nodeSelector\":{\"k\":\"w\"}}}";
static const char changed_text[] =
    "{\"f:metadata\":{\"f:labels\":{\"f:a\":{}}},\"f:spec\":{\"f:containers\":{"
    "\"k:{\\\"name\\\":\\\"c\\\"}\":{\"f:args\":{}},"
    "\"k:{\\\"name\\\":\\\"d\\\"}\":{\".\":{},\"f:name\":{}}},\"f:nodeSelector\":{}}}";
static const char removed_text[] = "{\"f:metadata\":{\"f:finalizers\":{\".\":{},\"v:\\\"f\\\"\":{}}"
                                   "},\"f:spec\":{\"f:containers\":{"
                                   "\"k:{\\\"name\\\":\\\"c\\\"}\":{\"f:ports\":{\".\":{},"
                                   "\"k:{\\\"containerPort\\\":80,\\\"protocol\\\":\\\"TCP\\\"}\":{"
                                   "\".\":{},\"f:containerPort\":{},"
                                   "\"f:protocol\":{}}}}}}}";

static grove_status text_of(grove_env *env, const gv_fields *set, grove_buf *out) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st == GROVE_OK) {
        gv_fields_write(b, NULL, set);
        st = grove_builder_finish(b, &doc, NULL);
    }
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, out, NULL);
    st = st < 0 ? st : grove_buf_append(out, "", 1);
    grove_doc_unref(doc);
    grove_builder_free(b);
    return st;
}

static grove_status compare_texts(grove_env *env, gv_arena *a, const grove_node *was,
                                  const grove_node *next) {
    gv_fields changed = {0}, removed = {0};
    grove_buf one, other;
    grove_buf_init(&one, env);
    grove_buf_init(&other, env);
    grove_status st = gv_fields_compare(a, GV_KIND_POD, was, next, &changed, &removed)
                          ? GROVE_OK
                          : GROVE_E_NOMEM;
    st = st < 0 ? st : text_of(env, &changed, &one);
    st = st < 0 ? st : text_of(env, &removed, &other);
    if (st == GROVE_OK) {
        assert_string_equal(one.data, changed_text);
        assert_string_equal(other.data, removed_text);
    }
    grove_buf_fini(&one);
    grove_buf_fini(&other);
    return st;
}

/* What was claimed and is let go leaves the merged object as if it had never been. */
static grove_status merge_and_prune(grove_env *env, gv_arena *a, const grove_node *was,
                                    const grove_node *next) {
    gv_fields extra = {0}, own = {0};
    grove_builder *b = NULL;
    grove_doc *merged = NULL, *pruned = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st == GROVE_OK) {
        gv_fields_merge(b, GV_KIND_POD, was, next);
        st = grove_builder_finish(b, &merged, NULL);
    }
    if (st == GROVE_OK &&
        (!gv_fields_of(a, GV_KIND_POD, was, &extra) || !gv_fields_of(a, GV_KIND_POD, next, &own))) {
        st = GROVE_E_NOMEM;
    }
    if (st == GROVE_OK) {
        gv_fields_release(&extra, &own);
        st = gv_fields_prune(env, b, GV_KIND_POD, grove_doc_root(merged), &extra);
    }
    grove_status built = b ? grove_builder_finish(b, &pruned, NULL) : GROVE_OK;
    st = st < 0 ? st : built;
    if (st == GROVE_OK) {
        assert_true(grove_node_equal(grove_doc_root(pruned), next));
    }
    grove_doc_unref(pruned);
    grove_doc_unref(merged);
    grove_builder_free(b);
    return st;
}

static grove_status run(grove_env *env, void *ctx) {
    grove_doc *was = NULL, *next = NULL;
    gv_arena a;
    (void)ctx;
    gv_arena_init(&a, env);
    grove_status st = grove_doc_parse_json(env, was_text, sizeof was_text - 1, 0, &was, NULL);
    st = st < 0 ? st : grove_doc_parse_json(env, next_text, sizeof next_text - 1, 0, &next, NULL);
    st = st < 0 ? st : compare_texts(env, &a, grove_doc_root(was), grove_doc_root(next));
    st = st < 0 ? st : merge_and_prune(env, &a, grove_doc_root(was), grove_doc_root(next));
    grove_doc_unref(next);
    grove_doc_unref(was);
    gv_arena_fini(&a);
    return st;
}

static void test_objects(void **state) {
    (void)state;
    oom_loop("fields", run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_objects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
