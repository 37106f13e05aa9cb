/* SPDX-License-Identifier: Apache-2.0 */
/* The list of names at full scale: what is in it, room, names given twice, and no memory at every point. */
#include "sets.h"

#include <stdio.h>

#include <grove/admission.h>
#include <grove/render.h>

#include "support/oom.h"
#include "value/doc.h"

#define POD "podSpec: {containers: [{name: c, image: i}]}"

static const char SCALED[] =
    "{cliques: [{name: r, spec: {roleName: r, replicas: 1, autoScalingConfig: {maxReplicas: "
    "3}, " POD "}}, {name: w, spec: {roleName: w, replicas: 2, " POD "}}], "
    "podCliqueScalingGroups: [{name: g, cliqueNames: [w], replicas: 1, minAvailable: 1, "
    "scaleConfig: {maxReplicas: 12}}]}";

/* A standalone clique has the name that replica 1 of the group gives its member, once scaled. */
static const char COLLIDING[] =
    "{cliques: [{name: g-1-w, spec: {roleName: r, replicas: 1, " POD
    "}}, {name: w, spec: {roleName: w, replicas: 1, " POD "}}], "
    "podCliqueScalingGroups: [{name: g, cliqueNames: [w], replicas: 1, scaleConfig: "
    "{maxReplicas: 2}}]}";

typedef struct input {
    const char *name, *tmpl;
    int replicas;
} input;

static grove_status list(grove_env *env, const input *in, grove_doc **out) {
    char text[2048];
    grove_doc *doc = NULL, *stored = NULL;
    int n = snprintf(text, sizeof text,
                     "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: %s}\n"
                     "spec: {replicas: %d, template: %s}\n",
                     in->name, in->replicas, in->tmpl);
    grove_status s = grove_doc_parse_yaml(env, text, (size_t)n, 0, &doc, NULL);
    if (s == GROVE_OK) {
        s = grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, NULL);
    }
    if (s == GROVE_OK) {
        s = grove_names_list(env, stored, grove_doc_root(stored), NULL, out, NULL);
    }
    grove_doc_unref(stored);
    grove_doc_unref(doc);
    return s;
}

static const grove_node *find(const grove_node *names, const char *kind, const char *name) {
    GV_EACH(e, names) {
        if (gv_str_is(gv_node_get_str(e, "kind"), kind) &&
            gv_str_is(gv_node_get_str(e, "name"), name)) {
            return e;
        }
    }
    return NULL;
}

static void test_full_scale(void **state) {
    const input in = {"s", SCALED, 2};
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(list(env, &in, &doc), 0);
    const grove_node *root = grove_doc_root(doc), *names = grove_node_get(root, "names");
    assert_non_null(find(names, "Hostname", "s-1-r-2"));
    assert_null(find(names, "Hostname", "s-1-r-3"));
    assert_non_null(find(names, "PodClique", "s-0-g-11-w"));
    assert_null(find(names, "PodClique", "s-0-g-12-w"));
    assert_non_null(find(names, "PodGang", "s-1-g-10"));
    assert_non_null(find(names, "Pod", "s-1-g-11-w-?????"));
    assert_non_null(find(names, "Service", "s-1"));
    assert_int_equal(gv_node_get_int(root, "twice", -1), 0);
    assert_int_equal(gv_node_get_int(root, "overLimit", -1), 0);
    assert_int_equal(gv_node_get_int(root, "count", -1), grove_node_size(names));
    assert_int_equal(gv_node_get_int(root, "leastMargin", -1), 63 - 16);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

static void test_too_long_and_twice(void **state) {
    const input colliding = {"s", COLLIDING, 1};
    const input longer = {"a23456789-123456789-123456789-123456789-123", SCALED, 11};
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(list(env, &colliding, &doc), 0);
    const grove_node *names = grove_node_get(grove_doc_root(doc), "names");
    assert_int_equal(gv_node_get_int(grove_doc_root(doc), "twice", 0), 3);
    assert_null(grove_node_get(find(names, "PodClique", "s-0-g-0-w"), "twice"));
    grove_doc_unref(doc);

    doc = NULL;
    assert_int_equal(list(env, &longer, &doc), 0);
    /* 43 letters, -10-g-11-w-11111: 58 and the pod's letters; every pod of the group fits, barely */
    assert_int_equal(gv_node_get_int(grove_doc_root(doc), "leastMargin", 0), 63 - 43 - 16);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

/* A claim's name has 63 letters at replica index 9: index 10 is one too long, and the list says so. */
static void test_claims_at_the_highest_index(void **state) {
    static const char CLAIMS[] =
        "{resourceClaimTemplates: [{name: t23456789-123456789-123456789-123456789-123456789-1, "
        "templateSpec: {spec: {devices: {requests: [{name: d, exactly: {deviceClassName: "
        "x}}]}}}}], "
        "cliques: [{name: w, resourceSharing: [{name: "
        "t23456789-123456789-123456789-123456789-123456789-1, scope: PerReplica}], spec: "
        "{roleName: "
        "w, replicas: 2, minAvailable: 1, autoScalingConfig: {maxReplicas: 11}, " POD "}}]}";
    const input in = {"a2345", CLAIMS, 1};
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(list(env, &in, &doc), 0);
    const grove_node *root = grove_doc_root(doc);
    const grove_node *last = find(
        grove_node_get(root, "names"), "ResourceClaim",
        "a2345-0-w-10-t23456789-123456789-123456789-123456789-123456789-1");
    assert_non_null(last);
    assert_int_equal(gv_node_get_int(last, "margin", 0), 63 - 64);
    assert_int_equal(gv_node_get_int(root, "overLimit", 0), 1);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

static void test_refuses(void **state) {
    const input nameless = {"''", SCALED, 1};
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(list(env, &nameless, &doc), GROVE_E_INVALID);
    assert_int_equal(grove_doc_parse_json(env, "{\"kind\":\"Pod\"}", 14, 0, &doc, NULL), 0);
    grove_doc *out = NULL;
    assert_int_equal(grove_names_list(env, doc, grove_doc_root(doc), NULL, &out, NULL),
                     GROVE_E_TYPE);
    assert_null(out);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

/* The set is read beforehand: YAML takes memory that the loop does not see. */
static grove_status again(grove_env *env, void *ctx) {
    grove_doc *doc = NULL, *out = NULL;
    grove_status s = grove_doc_parse_json(env, ctx, strlen(ctx), 0, &doc, NULL);
    if (s == GROVE_OK) {
        s = grove_names_list(env, doc, grove_doc_root(doc), NULL, &out, NULL);
    }
    grove_doc_unref(out);
    grove_doc_unref(doc);
    return s;
}

static void test_oom(void **state) {
    char set[] = "{\"apiVersion\":\"grove.io/"
                 "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
                 "\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"w\",\"spec\":{"
                 "\"replicas\":1,"
                 "\"minAvailable\":1,\"autoScalingConfig\":{\"minReplicas\":1,\"maxReplicas\":2},"
                 "\"podSpec\":{"
                 "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}}";
    (void)state;
    oom_loop("names", again, set);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full_scale),
                                       cmocka_unit_test(test_too_long_and_twice),
                                       cmocka_unit_test(test_claims_at_the_highest_index),
                                       cmocka_unit_test(test_refuses), cmocka_unit_test(test_oom)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
