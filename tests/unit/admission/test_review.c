/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grove's webhooks as a function of bytes: the patch makes the object that grove_default makes, refusals
 * say where, deletions pass, bytes that are no review are an error; and no memory at every point, for
 * validating and defaulting too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>

#include "base/text.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"

#define PATH_DEFAULT "/webhooks/default-podcliqueset"
#define PATH_SET "/webhooks/validate-podcliqueset"
#define PATH_BINDING "/webhooks/validate-clustertopology"

#define SET(meta, clique_name)                                                                  \
    "{\"apiVersion\":\"grove.io/"                                                               \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"" meta                    \
    "},\"spec\":{\"template\":{\"cliques\":[{\"name\":\"" clique_name                           \
    "\",\"spec\":{\"roleName\":\"r\",\"replicas\":2,\"autoScalingConfig\":{\"maxReplicas\":3}," \
    "\"podSpec\":{\"containers\":[{\"name\":\"m\",\"image\":\"i\",\"env\":[{\"name\":\"A/B~\"," \
    "\"value\":\"\"}]}]}}}],\"podCliqueScalingGroups\":[]}}}"
#define REVIEW(operation, rest)                                                                  \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":" \
    "\"u-1\",\"namespace\":\"team\",\"operation\":\"" operation "\"," rest "}}"
#define OBJECT(set) "\"object\":" set

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

static grove_doc *parse(const char *text, size_t len) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, text, len, 0, &doc, NULL), 0);
    return doc;
}

/* The response to a review; the caller unrefs it. */
static grove_doc *ask(const char *path, const char *review) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_admission_review(env, NULL, path, review, strlen(review), &out, NULL),
                     0);
    grove_doc *doc = parse(out.data, (size_t)out.len);
    grove_buf_fini(&out);
    assert_string_equal(gv_node_str(gv_node_path(grove_doc_root(doc), "response.uid")).p, "u-1");
    return doc;
}

static bool allowed(const grove_doc *doc) {
    return gv_node_get_bool(grove_node_get(grove_doc_root(doc), "response"), "allowed");
}

static bool ask_allowed(const char *path, const char *review) {
    grove_doc *doc = ask(path, review);
    bool answer = allowed(doc);
    grove_doc_unref(doc);
    return answer;
}

/* ---- the patch ---- */

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);
    return at && c ? (int)(at - digits) : -1;
}

static grove_doc *patch_of(const grove_doc *response) {
    const grove_node *inner = grove_node_get(grove_doc_root(response), "response");
    gv_str text = gv_node_get_str(inner, "patch");
    grove_buf json;
    grove_buf_init(&json, env);
    assert_int_equal(text.n % 4, 0);
    assert_string_equal(gv_node_get_str(inner, "patchType").p, "JSONPatch");
    for (size_t i = 0; i < text.n; i += 4) {
        int n = text.p[i + 2] == '=' ? 1 : text.p[i + 3] == '=' ? 2 : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 4; k++) {
            int digit = text.p[i + k] == '=' ? 0 : digit_of(text.p[i + k]);
            assert_true(digit >= 0);
            bits = bits << 6 | (uint32_t)digit;
        }
        for (int k = 0; k < n; k++) {
            gv_buf_char(&json, (char)(unsigned char)(bits >> (16 - 8 * k)));
        }
    }
    grove_doc *doc = parse(json.data, (size_t)json.len);
    grove_buf_fini(&json);
    return doc;
}

/* What the API server makes of an object and the webhook's patch, against grove_default. */
static void check_patch(const char *set) {
    grove_validate_options options = {
        .size = (uint32_t)sizeof options, .fields = GROVE_FIELDS_IGNORE, .namespace_name = "team"};
    grove_buf review;
    grove_doc *object = parse(set, strlen(set)), *patched = NULL, *stored = NULL, *again = NULL;
    grove_buf_init(&review, env);
    gv_buf_fmt(&review,
               "{\"request\":{\"uid\":\"u-1\",\"namespace\":\"team\",\"operation\":"
               "\"CREATE\",\"object\":%s}}",
               set);
    grove_doc *response = ask(PATH_DEFAULT, review.data);
    if (!allowed(response)) {
        print_error("refused: %s\n", set);
    }
    assert_true(allowed(response));
    grove_doc *patch = patch_of(response);
    assert_int_equal(grove_json_patch_apply(object, grove_doc_root(object), patch,
                                            grove_doc_root(patch), &patched, NULL),
                     0);
    assert_int_equal(
        grove_default(env, object, grove_doc_root(object), &options, NULL, &stored, NULL), 0);
    /* the server prunes and fills in what the schema says, as after any webhook */
    assert_int_equal(
        grove_default(env, patched, grove_doc_root(patched), &options, NULL, &again, NULL), 0);
    assert_true(grove_node_equal(grove_doc_root(again), grove_doc_root(stored)));
    assert_false(grove_node_equal(grove_doc_root(object), grove_doc_root(stored)));
    grove_doc_unref(again);
    grove_doc_unref(stored);
    grove_doc_unref(patched);
    grove_doc_unref(patch);
    grove_doc_unref(response);
    grove_doc_unref(object);
    grove_buf_fini(&review);
}

static void check_case(const char *relative, void *ctx) {
    size_t len = 0;
    char *text = test_read(relative, &len);
    grove_doc *doc = NULL;
    grove_buf json;
    (void)ctx;
    grove_buf_init(&json, env);
    assert_int_equal(grove_doc_parse_yaml(env, text, len, 0, &doc, NULL), 0);
    const grove_node *set = grove_node_get(grove_doc_root(doc), "object");
    set = set ? set : grove_doc_root(doc);
    if (gv_str_is(gv_node_get_str(set, "kind"), "PodCliqueSet")) {
        assert_int_equal(grove_node_write_json(set, 0, &json, NULL), 0);
        check_patch(json.data);
    }
    grove_doc_unref(doc);
    grove_buf_fini(&json);
    free(text);
}

static void test_patch(void **state) {
    (void)state;
    check_patch(SET("", "a"));
    check_patch(SET(",\"labels\":{\"k/l\":\"v\"},\"unknown\":1", "a"));
    assert_true(test_each_file("tests/golden/lint", ".yaml", check_case, NULL) > 0);
}

/* What needs no default gets no patch. */
static void test_no_patch(void **state) {
    (void)state;
    grove_doc *object = parse(SET("", "a"), strlen(SET("", "a"))), *stored = NULL;
    grove_buf review;
    grove_buf_init(&review, env);
    assert_int_equal(grove_default(env, object, grove_doc_root(object), NULL, NULL, &stored, NULL),
                     0);
    gv_buf_c(&review, "{\"request\":{\"uid\":\"u-1\",\"operation\":\"UPDATE\",\"object\":");
    grove_node_write_json(grove_doc_root(stored), 0, &review, NULL);
    gv_buf_c(&review, "}}");
    grove_doc *response = ask(PATH_DEFAULT, review.data);
    assert_true(allowed(response));
    assert_null(gv_node_path(grove_doc_root(response), "response.patch"));
    grove_doc_unref(response);
    grove_doc_unref(stored);
    grove_doc_unref(object);
    grove_buf_fini(&review);
}

/* ---- verdicts ---- */

static void test_verdicts(void **state) {
    static const char good[] = REVIEW("CREATE", OBJECT(SET("", "a")));
    static const char bad[] = REVIEW("CREATE", OBJECT(SET("", "A_b")));
    (void)state;
    /* the validating webhook sees defaulted objects; this one lacks minAvailable */
    assert_false(ask_allowed(PATH_SET, good));
    grove_doc *response = ask(PATH_SET, bad);
    const grove_node *status = gv_node_path(grove_doc_root(response), "response.status");
    assert_false(allowed(response));
    assert_int_equal(gv_node_get_int(status, "code", 0), 403);
    assert_non_null(strstr(gv_node_get_str(status, "message").p, "spec.template.cliques[0].name"));
    grove_doc_unref(response);
}

static void test_passed(void **state) {
    (void)state;
    assert_true(ask_allowed(PATH_SET, REVIEW("DELETE", "\"oldObject\":" SET("", "A_b"))));
    assert_true(ask_allowed(PATH_SET, REVIEW("CONNECT", OBJECT(SET("", "A_b")))));
    /* a finalizer has to go, whatever the object has become */
    static const char deleting[] = REVIEW(
        "UPDATE", OBJECT(SET(",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", "A_b")));
    assert_true(ask_allowed(PATH_SET, deleting));
    grove_doc *response = ask(PATH_DEFAULT, deleting);
    assert_true(allowed(response));
    assert_null(gv_node_path(grove_doc_root(response), "response.patch"));
    grove_doc_unref(response);
}

static void test_wrong(void **state) {
    static const char *const broken[] = {"",
                                         "{",
                                         "null",
                                         "[]",
                                         "{\"request\":{}}",
                                         "{\"request\":{\"uid\":\"\"}}",
                                         "{\"request\":{\"uid\":1}}",
                                         "{\"request\":\"u\"}",
                                         "\xff\xfe"};
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        grove_buf out;
        grove_buf_init(&out, env);
        assert_int_equal(
            grove_admission_review(env, NULL, PATH_SET, broken[i], strlen(broken[i]), &out, NULL),
            GROVE_E_PARSE);
        assert_int_equal(out.len, 0);
        grove_buf_fini(&out);
    }
    static const char set[] = REVIEW("CREATE", OBJECT(SET("", "a")));
    assert_false(ask_allowed("/elsewhere", set));
    assert_false(ask_allowed(PATH_BINDING, set));
    assert_false(ask_allowed(PATH_SET, REVIEW("CREATE", "\"object\":null")));
    assert_false(ask_allowed(PATH_DEFAULT, REVIEW("CREATE", "\"object\":{\"kind\":\"Pod\"}")));
}

/* ---- no memory ---- */

static grove_status review_once(grove_env *e, void *path) {
    static const char review[] = REVIEW("CREATE", OBJECT(SET("", "a")));
    grove_buf out;
    grove_buf_init(&out, e);
    grove_status status = grove_admission_review(e, NULL, path, review, sizeof review - 1, &out,
                                                 NULL);
    grove_buf_fini(&out);
    return status;
}

static grove_status validate_once(grove_env *e, void *set) {
    grove_validate_options options = {.size = (uint32_t)sizeof options};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_doc *doc = NULL;
    grove_diags *found = NULL;
    options.flags = GROVE_VALIDATE_LINT | GROVE_VALIDATE_POD_WARNINGS | GROVE_VALIDATE_LEGACY;
    grove_status status = grove_doc_parse_json(e, set, strlen(set), 0, &doc, NULL);
    if (status == GROVE_OK) {
        status = grove_diags_new(e, &found);
    }
    if (status == GROVE_OK) {
        status = grove_validate(e, doc, grove_doc_root(doc), doc, grove_doc_root(doc), &options,
                                found, &verdict, NULL);
    }
    grove_diags_free(found);
    grove_doc_unref(doc);
    return status;
}

static grove_status default_once(grove_env *e, void *set) {
    grove_doc *doc = NULL, *stored = NULL;
    grove_status status = grove_doc_parse_json(e, set, strlen(set), 0, &doc, NULL);
    if (status == GROVE_OK) {
        status = grove_default(e, doc, grove_doc_root(doc), NULL, NULL, &stored, NULL);
    }
    grove_doc_unref(stored);
    grove_doc_unref(doc);
    return status;
}

#define TARGET(kind, spec) \
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"" kind "\",\"spec\":{" spec "}}"

/* A scale below minAvailable: admitted as by Grove, refused where the configuration says so. */
static void test_scale(void **state) {
    static const struct {
        const char *config, *target;
        int replicas, allowed;
    } rows[] = {
        {"{}", TARGET("PodClique", "\"minAvailable\":2"), 1, 1},
        {"guardScale: Allow", TARGET("PodClique", "\"minAvailable\":2"), 0, 1},
        {"guardScale: Deny", TARGET("PodClique", "\"minAvailable\":2"), 1, 0},
        {"guardScale: Deny", TARGET("PodClique", "\"minAvailable\":2"), 2, 1},
        {"guardScale: Deny", TARGET("PodClique", "\"minAvailable\":2"), 3, 1},
        {"guardScale: Deny", TARGET("PodCliqueScalingGroup", ""), 0,
         0}, /* nothing given counts as one */
        {"guardScale: Deny", TARGET("PodCliqueScalingGroup", ""), 1, 1},
        {"guardScale: Deny", TARGET("PodCliqueSet", ""), 0, 1},
        {"guardScale: Deny", NULL, 0, 1}, /* a target that is not known */
        {"guardScale: Deny",
         "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":"
         "{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{\"minAvailable\":2}}",
         0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grove_config *config = NULL;
        grove_doc *target = rows[i].target ? parse(rows[i].target, strlen(rows[i].target)) : NULL;
        char review[512];
        grove_buf out;
        grove_buf_init(&out, env);
        assert_int_equal(grove_config_new(env, &config), 0);
        assert_int_equal(grove_config_load(config, rows[i].config, strlen(rows[i].config), NULL),
                         0);
        snprintf(review, sizeof review,
                 REVIEW("UPDATE",
                        "\"subResource\":\"scale\",\"object\":{\"apiVersion\":"
                        "\"autoscaling/v1\",\"kind\":\"Scale\",\"spec\":{\"replicas\":%d}}"),
                 rows[i].replicas);
        const grove_node *at = target ? grove_doc_root(target) : NULL;
        assert_int_equal(
            grove_admission_review_scale(env, config, at, review, strlen(review), &out, NULL), 0);
        grove_doc *answer = parse(out.data, (size_t)out.len);
        const grove_node *response = grove_node_get(grove_doc_root(answer), "response");
        assert_int_equal(gv_node_get_bool(response, "allowed"), rows[i].allowed);
        assert_string_equal(grove_node_text(grove_node_get(response, "uid")), "u-1");
        if (!rows[i].allowed) {
            const char *text = grove_node_text(grove_node_at_path(response, "/status/message"));
            assert_non_null(strstr(text, "minAvailable"));
        }
        grove_doc_unref(answer);
        grove_doc_unref(target);
        grove_config_unref(config);
        grove_buf_fini(&out);
    }
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_admission_review_scale(env, NULL, NULL, "{}", 2, &out, NULL),
                     GROVE_E_PARSE);
    grove_buf_fini(&out);
}

static void test_oom(void **state) {
    char path_default[] = PATH_DEFAULT, path_set[] = PATH_SET;
    char good[] = SET("", "a"), bad[] = SET("", "A_b");
    (void)state;
    oom_loop("review default", review_once, path_default);
    oom_loop("review validate", review_once, path_set);
    oom_loop("validate", validate_once, good);
    oom_loop("validate refused", validate_once, bad);
    oom_loop("default", default_once, good);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patch),    cmocka_unit_test(test_no_patch),
        cmocka_unit_test(test_verdicts), cmocka_unit_test(test_passed),
        cmocka_unit_test(test_wrong),    cmocka_unit_test(test_scale),
        cmocka_unit_test(test_oom)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
