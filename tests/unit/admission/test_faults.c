/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults from the field: the cases of tests/golden/faults (its README.md has the form). Whatever a case is
 * about, its object is also defaulted twice, judged in JSON with its keys turned round, and judged by the
 * webhook without having been defaulted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>

#include "support/files.h"
#include "value/doc.h"

static grove_env *env;
static unsigned cases, wrong;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

/* ---- a case's parts ---- */

/* The whole object of a case: `object`, or a set named s around the template in `set`. */
static grove_doc *object_of(grove_doc *doc, const grove_node *node) {
    grove_builder *b = NULL;
    grove_doc *out = NULL;
    assert_int_equal(grove_builder_new(env, &b), 0);
    if (grove_node_get(node, "kind")) {
        grove_builder_link(b, NULL, doc, node);
    } else {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", "grove.io/v1alpha1");
        grove_builder_string(b, "kind", "PodCliqueSet");
        grove_builder_open_object(b, "metadata");
        grove_builder_string(b, "name", "s");
        grove_builder_close(b);
        grove_builder_open_object(b, "spec");
        grove_builder_int64(b, "replicas", 1);
        grove_builder_link(b, "template", doc, node);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    assert_int_equal(grove_builder_finish(b, &out, NULL), 0);
    grove_builder_free(b);
    return out;
}

static grove_config *config_of(grove_doc *doc, const grove_node *list) {
    grove_config *config = NULL;
    assert_int_equal(grove_config_new(env, &config), 0);
    GV_EACH(object, list) {
        assert_int_equal(grove_config_add(config, doc, object, NULL), 0);
    }
    return config;
}

/* ---- what was found against what should be ---- */

static bool has_code(const grove_diags *found, int64_t code) {
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        if (grove_diags_at(found, i)->code == (uint32_t)code) {
            return true;
        }
    }
    return false;
}

static bool codes_are(const grove_diags *found, const grove_node *list, bool expected) {
    bool right = true;
    GV_EACH(entry, list) {
        int64_t code = 0;
        assert_int_equal(grove_node_int64(entry, &code), 0);
        right = right && has_code(found, code) == expected;
    }
    return right;
}

static bool errors_are(const grove_diags *found, const grove_node *list) {
    const grove_node *want = grove_node_first(list);
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        if (d->severity != GROVE_SEVERITY_ERROR) {
            continue;
        }
        if (!want || !gv_str_is(gv_node_str(grove_node_at(want, 0)), d->type) ||
            !gv_str_is(gv_node_str(grove_node_at(want, 1)), d->path)) {
            return false;
        }
        want = grove_node_next(list, want);
    }
    return !want;
}

static void print_found(const char *file, const grove_node *test, const grove_diags *found,
                        const grove_admission_verdict *verdict) {
    print_error("%s: %s: %s\n", file, gv_node_get_str(test, "name").p,
                verdict->allowed ? "allowed" : grove_stage_name(verdict->stage));
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        print_error("  - [%s, \"%s\"] GRV%04u %s\n", d->type, d->path, (unsigned)d->code,
                    d->message);
    }
}

/* ---- what holds for every object ---- */

/* The same value, each object's members in the opposite order. */
static void turn(grove_builder *b, const char *key, grove_doc *doc, const grove_node *node) {
    uint32_t n = grove_node_size(node);
    if (!gv_node_is(node, GROVE_OBJECT) && !gv_node_is(node, GROVE_ARRAY)) {
        grove_builder_link(b, key, doc, node);
        return;
    }
    bool object = gv_node_is(node, GROVE_OBJECT);
    object ? grove_builder_open_object(b, key) : grove_builder_open_array(b, key);
    for (uint32_t i = 0; i < n; i++) {
        const grove_node *child = grove_node_at(node, object ? n - 1 - i : i);
        turn(b, object ? grove_node_key(child, NULL) : NULL, doc, child);
    }
    grove_builder_close(b);
}

static grove_doc *turned_json(grove_doc *doc) {
    grove_builder *b = NULL;
    grove_doc *turned = NULL, *out = NULL;
    grove_buf json;
    grove_buf_init(&json, env);
    assert_int_equal(grove_builder_new(env, &b), 0);
    turn(b, NULL, doc, grove_doc_root(doc));
    assert_int_equal(grove_builder_finish(b, &turned, NULL), 0);
    assert_int_equal(grove_node_write_json(grove_doc_root(turned), 0, &json, NULL), 0);
    assert_int_equal(grove_doc_parse_json(env, json.data, (size_t)json.len, 0, &out, NULL), 0);
    grove_buf_fini(&json);
    grove_builder_free(b);
    grove_doc_unref(turned);
    return out;
}

/* Errors as one text, sorted by nothing: the order of keys may order them. */
static uint32_t judge(grove_doc *doc, grove_doc *old, const grove_validate_options *options,
                      grove_diags *found, grove_admission_verdict *verdict) {
    assert_int_equal(grove_validate(env, doc, grove_doc_root(doc), old,
                                    old ? grove_doc_root(old) : NULL, options, found, verdict,
                                    NULL),
                     0);
    return grove_diags_errors(found);
}

static void check_turned(grove_doc *doc, grove_doc *old, const grove_validate_options *options,
                         const grove_diags *before, const grove_admission_verdict *verdict) {
    grove_diags *found = NULL;
    grove_admission_verdict again = GROVE_ADMISSION_VERDICT_INIT;
    grove_doc *turned = turned_json(doc);
    assert_int_equal(grove_diags_new(env, &found), 0);
    assert_int_equal(judge(turned, old, options, found, &again), grove_diags_errors(before));
    assert_int_equal(again.allowed, verdict->allowed);
    assert_int_equal(again.stage, verdict->stage);
    assert_int_equal(grove_diags_count(found), grove_diags_count(before));
    for (uint32_t i = 0; i < grove_diags_count(before); i++) {
        assert_true(has_code(found, grove_diags_at(before, i)->code));
    }
    grove_diags_free(found);
    grove_doc_unref(turned);
}

static void check_defaults(grove_doc *doc, grove_doc *old, const grove_validate_options *options,
                           const grove_admission_verdict *verdict) {
    grove_doc *once = NULL, *twice = NULL;
    grove_diags *found = NULL;
    grove_admission_verdict again = GROVE_ADMISSION_VERDICT_INIT;
    if (grove_default(env, doc, grove_doc_root(doc), options, NULL, &once, NULL) < 0) {
        assert_int_equal(verdict->stage, GROVE_STAGE_DECODE);
        return;
    }
    assert_int_equal(grove_default(env, once, grove_doc_root(once), options, NULL, &twice, NULL),
                     0);
    assert_true(grove_node_equal(grove_doc_root(once), grove_doc_root(twice)));
    assert_int_equal(grove_diags_new(env, &found), 0);
    judge(once, old, options, found, &again);
    assert_int_equal(again.allowed, verdict->allowed);
    grove_diags_free(found);
    grove_doc_unref(twice);
    grove_doc_unref(once);
}

/* A caller that forgets to default: an answer, whatever it is. */
static void check_undefaulted(grove_doc *doc, grove_config *config) {
    grove_buf review, response;
    grove_doc *answer = NULL;
    grove_buf_init(&review, env);
    grove_buf_init(&response, env);
    gv_buf_c(&review, "{\"request\":{\"uid\":\"u\",\"operation\":\"CREATE\",\"object\":");
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &review, NULL), 0);
    gv_buf_c(&review, "}}");
    assert_int_equal(grove_admission_review(env, config, "/webhooks/validate-podcliqueset",
                                            review.data, (size_t)review.len, &response, NULL),
                     0);
    assert_int_equal(
        grove_doc_parse_json(env, response.data, (size_t)response.len, 0, &answer, NULL), 0);
    assert_int_equal(grove_node_type(gv_node_path(grove_doc_root(answer), "response.allowed")),
                     GROVE_BOOL);
    grove_doc_unref(answer);
    grove_buf_fini(&response);
    grove_buf_fini(&review);
}

/* ---- running ---- */

static void run_case(const char *file, grove_doc *doc) {
    const grove_node *test = grove_doc_root(doc), *set = grove_node_get(test, "set");
    const grove_node *before = grove_node_get(test, "old");
    grove_validate_options options = {.size = (uint32_t)sizeof options};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_diags *found = NULL;
    options.config = config_of(doc, grove_node_get(test, "config"));
    options.flags = gv_node_get_bool(test, "lint") ? GROVE_VALIDATE_LINT : 0;
    grove_doc *object = object_of(doc, set ? set : grove_node_get(test, "object"));
    grove_doc *old = before ? object_of(doc, before) : NULL;
    assert_int_equal(grove_diags_new(env, &found), 0);
    judge(object, old, &options, found, &verdict);
    bool right = verdict.allowed == gv_node_get_bool(test, "allowed") &&
                 errors_are(found, grove_node_get(test, "errors")) &&
                 codes_are(found, grove_node_get(test, "warnings"), true) &&
                 codes_are(found, grove_node_get(test, "not"), false);
    if (!right) {
        print_found(file, test, found, &verdict);
    }
    cases++;
    wrong += !right;
    check_turned(object, old, &options, found, &verdict);
    check_defaults(object, old, &options, &verdict);
    check_undefaulted(object, options.config);
    grove_diags_free(found);
    grove_doc_unref(old);
    grove_doc_unref(object);
    grove_config_unref(options.config);
}

static void run_file(const char *relative, void *ctx) {
    size_t len = 0;
    char *text = test_read(relative, &len);
    grove_stream *stream = NULL;
    grove_doc *doc = NULL;
    (void)ctx;
    assert_int_equal(grove_stream_new(env, text, len, GROVE_PARSE_STRICT, &stream, NULL), 0);
    for (;;) {
        assert_int_equal(grove_stream_next(stream, &doc, NULL), 0);
        if (!doc) {
            break;
        }
        run_case(relative, doc);
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
    free(text);
}

static void test_faults(void **state) {
    (void)state;
    assert_true(test_each_file("tests/golden/faults", ".yaml", run_file, NULL) >= 11);
    print_message("%u cases\n", cases);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
