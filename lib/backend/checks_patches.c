/* SPDX-License-Identifier: Apache-2.0 */
/* Patches, apply, status and scale, generations. */
#include "backend/kit.h"
#include "value/doc.h"

#define VERSION "/metadata/resourceVersion"

static const grove_completion *merge(gv_kit *k, grove_kind kind, char letter, grove_doc *body) {
    return gv_kit_patch(k, kind, gv_kit_name(k, letter), GROVE_PATCH_MERGE, body);
}

static void merge_sets(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const grove_completion *c = merge(k, GROVE_KIND_CONFIGMAP, 'a',
                                      gv_kit_doc(k, "{\"data\":{\"b\":\"2\"}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_is(gv_kit_text(c, "/data/a"), "1") && gv_str_is(gv_kit_text(c, "/data/b"), "2"));
    WANT(k, !gv_str_eq(gv_kit_text(c, VERSION), gv_kit_text(made, VERSION)));
}

static void merge_removes(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    const grove_completion *c = merge(k, GROVE_KIND_CONFIGMAP, 'a',
                                      gv_kit_doc(k, "{\"data\":{\"a\":null,\"b\":\"2\"}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_text(c, "/data/a").n == 0 && gv_str_is(gv_kit_text(c, "/data/b"), "2"));
}

static void merge_replaces_lists(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    (void)merge(k, GROVE_KIND_PODCLIQUE, 'a',
                gv_kit_doc(k, "{\"metadata\":{\"finalizers\":[\"example.com/a\","
                              "\"example.com/b\"]}}"));
    const grove_completion *c = merge(
        k, GROVE_KIND_PODCLIQUE, 'a',
        gv_kit_doc(k, "{\"metadata\":{\"finalizers\":[\"example.com/c\"]}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_at_path(c->object, "/metadata/finalizers")) == 1);
    (void)merge(k, GROVE_KIND_PODCLIQUE, 'a',
                gv_kit_doc(k, "{\"metadata\":{\"finalizers\":null}}"));
}

static void merge_noop(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const grove_completion *c = merge(k, GROVE_KIND_CONFIGMAP, 'a',
                                      gv_kit_doc(k, "{\"data\":{\"a\":\"1\"}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_eq(gv_kit_text(c, VERSION), gv_kit_text(made, VERSION)));
}

static void merge_version_in_body(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const char *version = gv_kit_text(made, VERSION).p;
    const grove_completion *c = merge(
        k, GROVE_KIND_CONFIGMAP, 'a',
        gv_kit_doc(k, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"b\":\"2\"}}",
                   version));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    c = merge(k, GROVE_KIND_CONFIGMAP, 'a',
              gv_kit_doc(k, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"b\":\"3\"}}",
                         version));
    WANT(k, gv_kit_is(c, GROVE_E_CONFLICT, 409));
}

static void preconditions(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    grove_op op = gv_kit_op(GROVE_VERB_PATCH, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.patch_type = GROVE_PATCH_MERGE;
    op.body_doc = gv_kit_doc(k, "{\"data\":{\"b\":\"2\"}}");
    WANT(k, op.body_doc != NULL);
    op.uid = "00000000-0000-0000-0000-000000000000";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_CONFLICT, 0)); /* servers say 409 or 422 */
    op.uid = gv_kit_text(made, "/metadata/uid").p;
    op.resource_version = gv_kit_text(made, VERSION).p;
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 200));
    op.body_doc = gv_kit_doc(k, "{\"data\":{\"b\":\"3\"}}");
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_CONFLICT, 409));
}

static void patch_missing(gv_kit *k) {
    WANT(k, gv_kit_is(merge(k, GROVE_KIND_CONFIGMAP, 'z', gv_kit_doc(k, "{}")), GROVE_E_NOT_FOUND,
                      404));
}

static void patch_name(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(merge(k, GROVE_KIND_CONFIGMAP, 'a',
                            gv_kit_doc(k, "{\"metadata\":{\"name\":\"other\"}}")),
                      GROVE_E_REFUSED, 400));
}

static const grove_completion *json(gv_kit *k, grove_doc *body) {
    return gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_JSON, body);
}

static void json_applies(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    const grove_completion *c = json(
        k, gv_kit_doc(k, "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"1\"},"
                         "{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":\"2\"},"
                         "{\"op\":\"add\",\"path\":\"/metadata/labels/x~1y\",\"value\":\"3\"}]"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_is(gv_kit_text(c, "/data/a"), "2") &&
                gv_str_is(gv_kit_text(c, "/metadata/labels/x~1y"), "3"));
}

static void json_test_fails(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k,
         gv_kit_is(json(k, gv_kit_doc(k, "[{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"},"
                                         "{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"9\"}"
                                         "]")),
                   GROVE_E_REFUSED, 422));
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_text(c, "/data/b").n == 0); /* all or nothing */
}

static void json_missing_path(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(json(k, gv_kit_doc(k, "[{\"op\":\"remove\",\"path\":\"/data/zz\"}]")),
                      GROVE_E_REFUSED, 422));
}

static void strategic_merges(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_pod(k, 'a', false), GROVE_OK, 201));
    const grove_completion *c = gv_kit_patch(
        k, GROVE_KIND_POD, gv_kit_name(k, 'a'), GROVE_PATCH_STRATEGIC,
        gv_kit_doc(k,
                   "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"example.com/a:2\"}]}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_is(gv_kit_text(c, "/spec/containers/0/image"), "example.com/a:2"));
    WANT(k, gv_str_is(gv_kit_text(c, "/spec/containers/0/name"), "c"));
}

static void strategic_custom(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    WANT(k,
         gv_kit_is(gv_kit_patch(k, GROVE_KIND_PODCLIQUE, gv_kit_name(k, 'a'), GROVE_PATCH_STRATEGIC,
                                gv_kit_doc(k, "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}")),
                   GROVE_E_UNSUPPORTED, 415));
}

/* ---- apply ---- */

static const grove_completion *apply(gv_kit *k, const char *manager, uint32_t flags,
                                     const char *data) {
    grove_op op = gv_kit_op(GROVE_VERB_APPLY, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.manager = manager;
    op.flags = flags;
    op.body_doc = gv_kit_doc(k,
                             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                             "\"name\":\"%s\"},\"data\":%s}",
                             op.name, data);
    return op.body_doc ? gv_kit_run(k, &op) : NULL;
}

static void apply_owns(gv_kit *k) {
    const grove_completion *made = apply(k, "one", 0, "{\"a\":\"1\",\"b\":\"2\"}");
    WANT(k, gv_kit_is(made, GROVE_OK, 201));
    const grove_completion *c = apply(k, "one", 0, "{\"a\":\"1\",\"b\":\"2\"}");
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_eq(gv_kit_text(c, VERSION), gv_kit_text(made, VERSION)));
    c = apply(k, "one", 0, "{\"a\":\"1\"}");
    WANT(k, gv_kit_is(c, GROVE_OK, 200) && gv_kit_text(c, "/data/b").n == 0);
}

static void apply_conflicts(gv_kit *k) {
    WANT(k, gv_kit_is(apply(k, "one", 0, "{\"a\":\"1\"}"), GROVE_OK, 201));
    WANT(k, gv_kit_is(apply(k, "two", 0, "{\"a\":\"9\"}"), GROVE_E_CONFLICT, 409));
    const grove_completion *c = apply(k, "two", GROVE_OP_FORCE, "{\"a\":\"9\"}");
    WANT(k, gv_kit_is(c, GROVE_OK, 200) && gv_str_is(gv_kit_text(c, "/data/a"), "9"));
}

/* ---- status, generation ---- */

static void status_ignored_on_create(gv_kit *k) {
    const grove_completion *c = gv_kit_clique(k, 'a');
    WANT(k, gv_kit_is(c, GROVE_OK, 201));
    WANT(k, gv_kit_int(c, "/status/replicas") == -1);
    WANT(k, gv_kit_int(c, "/metadata/generation") == 1);
}

static void status_apart(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    grove_op op = gv_kit_op(GROVE_VERB_PATCH, GROVE_KIND_PODCLIQUE, gv_kit_name(k, 'a'));
    op.patch_type = GROVE_PATCH_MERGE;
    op.subresource = GROVE_SUBRESOURCE_STATUS;
    op.body_doc = gv_kit_doc(k, "{\"spec\":{\"replicas\":9},\"status\":{\"replicas\":3}}");
    WANT(k, op.body_doc != NULL);
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_int(c, "/spec/replicas") == 2 && gv_kit_int(c, "/status/replicas") == 3);
    WANT(k, gv_kit_int(c, "/metadata/generation") == 1);
    c = merge(k, GROVE_KIND_PODCLIQUE, 'a',
              gv_kit_doc(k, "{\"spec\":{\"replicas\":4},\"status\":{\"replicas\":8}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_int(c, "/spec/replicas") == 4 && gv_kit_int(c, "/status/replicas") == 3);
    WANT(k, gv_kit_int(c, "/metadata/generation") == 2);
}

static void generation_keeps(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    const grove_completion *c = merge(
        k, GROVE_KIND_PODCLIQUE, 'a',
        gv_kit_doc(k, "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"annotations\":{\"c\":\"d\"}}}"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_int(c, "/metadata/generation") == 1);
}

/* ---- scale ---- */

static const grove_completion *scale(gv_kit *k, grove_kind kind, int64_t replicas) {
    grove_op op = gv_kit_op(GROVE_VERB_SCALE, kind, gv_kit_name(k, 'a'));
    op.replicas = replicas;
    return gv_kit_run(k, &op);
}

static void scale_sets(gv_kit *k) {
    const grove_completion *made = gv_kit_clique(k, 'a');
    const grove_completion *c = scale(k, GROVE_KIND_PODCLIQUE, 5);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_is(gv_kit_text(c, "/kind"), "Scale") && gv_kit_int(c, "/spec/replicas") == 5);
    WANT(k, gv_str_eq(gv_kit_text(c, "/metadata/uid"), gv_kit_text(made, "/metadata/uid")));
    const grove_completion *after = gv_kit_get(k, GROVE_KIND_PODCLIQUE, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_int(after, "/spec/replicas") == 5);
    WANT(k, gv_kit_int(after, "/metadata/generation") == 2);
    WANT(k, gv_str_eq(gv_kit_text(after, VERSION), gv_kit_text(c, VERSION)));
}

static void scale_noop(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    (void)scale(k, GROVE_KIND_PODCLIQUE, 2); /* the first ones may change who owns the field */
    const grove_completion *first = scale(k, GROVE_KIND_PODCLIQUE, 2);
    const grove_completion *c = scale(k, GROVE_KIND_PODCLIQUE, 2);
    WANT(k, gv_kit_is(first, GROVE_OK, 200) && gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_eq(gv_kit_text(c, VERSION), gv_kit_text(first, VERSION)));
}

static void scale_negative(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(scale(k, GROVE_KIND_PODCLIQUE, -1), GROVE_E_REFUSED, 422));
}

static void scale_of_no_scale(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(scale(k, GROVE_KIND_CONFIGMAP, 1), GROVE_E_NOT_FOUND, 404));
}

static void scale_read(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_clique(k, 'a'), GROVE_OK, 201));
    grove_op op = gv_kit_op(GROVE_VERB_GET, GROVE_KIND_PODCLIQUE, gv_kit_name(k, 'a'));
    op.subresource = GROVE_SUBRESOURCE_SCALE;
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_int(c, "/spec/replicas") == 2 && gv_kit_int(c, "/status/replicas") == 0);
}

const gv_check gv_checks_patches[] = {
    {"merge-patch-sets", 0, merge_sets},
    {"merge-patch-null-removes", 0, merge_removes},
    {"merge-patch-replaces-lists", 0, merge_replaces_lists},
    {"merge-patch-noop-writes-nothing", 0, merge_noop},
    {"merge-patch-version-in-body", 0, merge_version_in_body},
    {"patch-preconditions", 0, preconditions},
    {"patch-missing", 0, patch_missing},
    {"patch-cannot-rename", 0, patch_name},
    {"json-patch-applies", 0, json_applies},
    {"json-patch-test-fails", 0, json_test_fails},
    {"json-patch-missing-path", 0, json_missing_path},
    {"strategic-patch-merges-by-key", GROVE_CAP_STRATEGIC, strategic_merges},
    {"strategic-patch-not-for-custom", GROVE_CAP_STRATEGIC, strategic_custom},
    {"apply-owns-fields", GROVE_CAP_APPLY, apply_owns},
    {"apply-conflicts", GROVE_CAP_APPLY, apply_conflicts},
    {"status-ignored-on-create", GROVE_CAP_STATUS, status_ignored_on_create},
    {"status-and-spec-apart", GROVE_CAP_STATUS, status_apart},
    {"generation-counts-spec-only", 0, generation_keeps},
    {"scale-sets-replicas", GROVE_CAP_SCALE, scale_sets},
    {"scale-noop-writes-nothing", GROVE_CAP_SCALE, scale_noop},
    {"scale-negative-refused", GROVE_CAP_SCALE, scale_negative},
    {"scale-of-kind-without", GROVE_CAP_SCALE, scale_of_no_scale},
    {"scale-read", GROVE_CAP_SCALE, scale_read},
    {NULL, 0, NULL},
};
