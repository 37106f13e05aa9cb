/* SPDX-License-Identifier: Apache-2.0 */
/* Deletion: preconditions, finalizers, owners. */
#include "backend/kit.h"
#include "value/doc.h"

static bool gone(gv_kit *k, grove_kind kind, char letter) {
    return gv_kit_is(gv_kit_get(k, kind, gv_kit_name(k, letter)), GROVE_E_NOT_FOUND, 404);
}

/* Waits for something that the cluster does by itself. */
static bool goes(gv_kit *k, char letter) {
    for (int tries = 0; tries < 50; tries++) {
        if (gone(k, GROVE_KIND_CONFIGMAP, letter)) {
            return true;
        }
        gv_kit_settle(k);
    }
    return false;
}

static void delete_now(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a')), GROVE_OK, 200));
    WANT(k, gone(k, GROVE_KIND_CONFIGMAP, 'a'));
}

static void delete_missing(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'z')),
                      GROVE_E_NOT_FOUND, 404));
}

static void delete_preconditions(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    grove_op op = gv_kit_op(GROVE_VERB_DELETE, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.uid = "00000000-0000-0000-0000-000000000000";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_CONFLICT, 409));
    op.uid = gv_kit_text(made, "/metadata/uid").p;
    op.resource_version = "1";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_CONFLICT, 409));
    op.resource_version = gv_kit_text(made, "/metadata/resourceVersion").p;
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 200));
}

static void recreate(gv_kit *k) {
    const grove_completion *first = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a')), GROVE_OK, 200));
    const grove_completion *second = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(second, GROVE_OK, 201));
    WANT(k, !gv_str_eq(gv_kit_text(first, "/metadata/uid"), gv_kit_text(second, "/metadata/uid")));
}

/* A ConfigMap with metadata of the caller's. */
static const grove_completion *with_meta(gv_kit *k, char letter, const char *meta) {
    return gv_kit_create(k, GROVE_KIND_CONFIGMAP,
                         gv_kit_doc(k,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                                    "\"name\":\"%s\",%s}}",
                                    gv_kit_name(k, letter), meta));
}

static void finalizer_holds(gv_kit *k) {
    WANT(k, gv_kit_is(with_meta(k, 'a', "\"finalizers\":[\"example.com/hold\"]"), GROVE_OK, 201));
    const grove_completion *c = gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(c, GROVE_OK, 0));
    WANT(k, gv_kit_text(c, "/metadata/deletionTimestamp").n > 0);
    c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    gv_str version = gv_kit_text(c, "/metadata/resourceVersion");
    const grove_completion *again = gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(again, GROVE_OK, 0));
    WANT(k, gv_str_eq(gv_kit_text(again, "/metadata/resourceVersion"), version));
    c = gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_JSON,
                     gv_kit_doc(k,
                                "[{\"op\":\"test\",\"path\":\"/metadata/finalizers/0\",\"value\":"
                                "\"example.com/hold\"},{\"op\":\"remove\",\"path\":"
                                "\"/metadata/finalizers/0\"}]"));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gone(k, GROVE_KIND_CONFIGMAP, 'a'));
}

static void finalizer_not_added_late(gv_kit *k) {
    WANT(k, gv_kit_is(with_meta(k, 'a', "\"finalizers\":[\"example.com/hold\"]"), GROVE_OK, 201));
    (void)gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    const grove_completion *c = gv_kit_patch(
        k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
        gv_kit_doc(k, "{\"metadata\":{\"finalizers\":[\"example.com/hold\",\"example.com/b\"]}}"));
    WANT(k, gv_kit_is(c, GROVE_E_REFUSED, 422));
    (void)gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                       gv_kit_doc(k, "{\"metadata\":{\"finalizers\":null}}"));
}

/* ---- owners ---- */

static const grove_completion *owned(gv_kit *k, char letter, char owner, const char *uid) {
    char meta[400];
    (void)gv_fmt(
        meta, sizeof meta,
        "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"%s\","
        "\"uid\":\"%s\",\"controller\":true,\"blockOwnerDeletion\":true}]",
        gv_kit_name(k, owner), uid);
    return with_meta(k, letter, meta);
}

static void delete_with(gv_kit *k, char letter, grove_propagation propagation) {
    grove_op op = gv_kit_op(GROVE_VERB_DELETE, GROVE_KIND_CONFIGMAP, gv_kit_name(k, letter));
    op.propagation = propagation;
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_OK, 0));
}

static void background(gv_kit *k) {
    const grove_completion *a = gv_kit_config_map(k, 'a');
    const grove_completion *b = owned(k, 'b', 'a', gv_kit_text(a, "/metadata/uid").p);
    WANT(k, gv_kit_is(b, GROVE_OK, 201));
    WANT(k, gv_kit_is(owned(k, 'c', 'b', gv_kit_text(b, "/metadata/uid").p), GROVE_OK, 201));
    delete_with(k, 'a', GROVE_PROPAGATION_BACKGROUND);
    WANT(k, gone(k, GROVE_KIND_CONFIGMAP, 'a'));
    WANT(k, goes(k, 'b') && goes(k, 'c'));
}

static void foreground(gv_kit *k) {
    const grove_completion *a = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(owned(k, 'b', 'a', gv_kit_text(a, "/metadata/uid").p), GROVE_OK, 201));
    grove_op op = gv_kit_op(GROVE_VERB_DELETE, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    op.propagation = GROVE_PROPAGATION_FOREGROUND;
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 0));
    WANT(k, gv_str_is(gv_kit_text(c, "/metadata/finalizers/0"), "foregroundDeletion"));
    WANT(k, goes(k, 'b') && goes(k, 'a'));
}

static void orphan(gv_kit *k) {
    const grove_completion *a = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(owned(k, 'b', 'a', gv_kit_text(a, "/metadata/uid").p), GROVE_OK, 201));
    delete_with(k, 'a', GROVE_PROPAGATION_ORPHAN);
    WANT(k, goes(k, 'a'));
    gv_kit_settle(k);
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'b'));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_at_path(c->object, "/metadata/ownerReferences") == NULL);
}

static void absent_owner(gv_kit *k) {
    WANT(k, gv_kit_is(owned(k, 'b', 'z', "00000000-0000-0000-0000-00000000dead"), GROVE_OK, 201));
    WANT(k, goes(k, 'b'));
}

const gv_check gv_checks_deletion[] = {
    {"delete-removes", 0, delete_now},
    {"delete-missing", 0, delete_missing},
    {"delete-preconditions", 0, delete_preconditions},
    {"recreate-has-new-uid", 0, recreate},
    {"finalizer-holds", 0, finalizer_holds},
    {"finalizer-not-added-late", 0, finalizer_not_added_late},
    {"owner-background", GROVE_CAP_GC, background},
    {"owner-foreground", GROVE_CAP_GC, foreground},
    {"owner-orphan", GROVE_CAP_GC, orphan},
    {"owner-absent", GROVE_CAP_GC, absent_owner},
    {NULL, 0, NULL},
};
