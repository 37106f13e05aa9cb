/* SPDX-License-Identifier: Apache-2.0 */
/* Watches. */
#include "backend/kit.h"
#include "value/doc.h"

static void selector(gv_kit *k, char *out, size_t cap) {
    (void)gv_fmt(out, cap, "set=%s", gv_kit_name(k, 's'));
}

static bool event_is(const grove_event *e, grove_event_type type, const char *name) {
    return e && e->type == type &&
           gv_str_is(gv_node_get_str(grove_node_get(e->object, "metadata"), "name"), name);
}

static uint64_t number(const char *version) {
    int64_t n = 0;
    return gv_str_int64(gv_str_c(version), &n) ? (uint64_t)n : 0;
}

static void lists_then_syncs(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'b'), GROVE_OK, 201));
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'b')));
    const grove_event *e = gv_kit_event(k, w);
    WANT(k, e && e->type == GROVE_EVENT_SYNCED && e->resource_version[0]);
    WANT(k, e->object == NULL && e->kind == GROVE_KIND_CONFIGMAP);
}

static void empty_syncs(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, "", NULL);
    const grove_event *e = gv_kit_event(k, w);
    WANT(k, e && e->type == GROVE_EVENT_SYNCED);
}

/* added, modified, deleted, in order, with growing versions */
static void follows(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, gv_kit_synced(k, w));
    const grove_completion *made = gv_kit_config_map(k, 'a');
    (void)gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                       gv_kit_doc(k, "{\"data\":{\"b\":\"2\"}}"));
    (void)gv_kit_delete(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    const grove_event *added = gv_kit_event(k, w), *modified = gv_kit_event(k, w);
    const grove_event *deleted = gv_kit_event(k, w);
    WANT(k, event_is(added, GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
    WANT(k, event_is(modified, GROVE_EVENT_MODIFIED, gv_kit_name(k, 'a')));
    WANT(k, event_is(deleted, GROVE_EVENT_DELETED, gv_kit_name(k, 'a')));
    WANT(k, gv_str_is(gv_kit_text(made, "/metadata/resourceVersion"), added->resource_version));
    WANT(k, number(added->resource_version) < number(modified->resource_version));
    WANT(k, number(modified->resource_version) < number(deleted->resource_version));
    gv_str shown = gv_node_get_str(grove_node_get(deleted->object, "metadata"), "resourceVersion");
    WANT(k, gv_str_is(shown, deleted->resource_version));
    WANT(k, gv_str_is(gv_node_get_str(grove_node_get(deleted->object, "data"), "b"), "2"));
}

static void resumes(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    const grove_completion *a = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(a, GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'b'), GROVE_OK, 201));
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set,
                              gv_kit_text(a, "/metadata/resourceVersion").p, NULL);
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'b')));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'c'), GROVE_OK, 201));
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'c')));
}

static void selector_entered_and_left(gv_kit *k) {
    char set[80];
    (void)gv_fmt(set, sizeof set, "in=%s", gv_kit_name(k, 's'));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, gv_kit_synced(k, w));
    (void)gv_kit_patch(
        k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
        gv_kit_doc(k, "{\"metadata\":{\"labels\":{\"in\":\"%s\"}}}", gv_kit_name(k, 's')));
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
    (void)gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                       gv_kit_doc(k, "{\"metadata\":{\"labels\":{\"in\":null}}}"));
    const grove_event *e = gv_kit_event(k, w);
    WANT(k, event_is(e, GROVE_EVENT_DELETED, gv_kit_name(k, 'a')));
    const grove_node *meta = grove_node_get(e->object, "metadata");
    WANT(k, gv_str_is(gv_node_get_str(meta, "resourceVersion"), e->resource_version));
    WANT(k, grove_node_get(grove_node_get(meta, "labels"), "in")); /* as it was when it matched */
}

static void cancelled_is_silent(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, gv_kit_synced(k, w));
    WANT(k, k->backend.ops->cancel(k->backend.impl, w, NULL) == GROVE_OK);
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    gv_kit_settle(k);
    WANT(k, gv_kit_event(k, w) == NULL);
    WANT(k, k->backend.ops->cancel(k->backend.impl, w, NULL) == GROVE_E_NOT_FOUND);
}

static void two_watches(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    uint64_t one = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    uint64_t two = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, gv_kit_synced(k, one) && gv_kit_synced(k, two));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, event_is(gv_kit_event(k, one), GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
    WANT(k, event_is(gv_kit_event(k, two), GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
}

static void lost_position(gv_kit *k) {
    char set[80];
    selector(k, set, sizeof set);
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, gv_kit_synced(k, w));
    grove_status st = k->backend.ops->control
                          ? k->backend.ops->control(k->backend.impl, GROVE_CONTROL_SYNC_LOST, NULL,
                                                    NULL)
                          : GROVE_E_UNSUPPORTED;
    if (st == GROVE_E_UNSUPPORTED) {
        gv_kit_skip(k, "the backend cannot be made to lose its position");
        return;
    }
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    const grove_event *e = gv_kit_event(k, w);
    WANT(k, e && e->type == GROVE_EVENT_GONE);
    WANT(k, k->backend.ops->cancel(k->backend.impl, w, NULL) == GROVE_E_NOT_FOUND);
    w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, set, NULL, NULL);
    WANT(k, event_is(gv_kit_event(k, w), GROVE_EVENT_ADDED, gv_kit_name(k, 'a')));
}

static void bad_selector(gv_kit *k) {
    grove_status st = GROVE_OK;
    uint64_t w = gv_kit_watch(k, GROVE_KIND_CONFIGMAP, "a===b", NULL, &st);
    if (w != 0) { /* some backends only learn it from the cluster */
        const grove_event *e = gv_kit_event(k, w);
        WANT(k, e && e->type == GROVE_EVENT_GONE);
    } else {
        WANT(k, st == GROVE_E_REFUSED);
    }
}

const gv_check gv_checks_watches[] = {
    {"watch-lists-then-syncs", GROVE_CAP_SELECTORS, lists_then_syncs},
    {"watch-empty-syncs", GROVE_CAP_SELECTORS, empty_syncs},
    {"watch-follows-in-order", GROVE_CAP_SELECTORS, follows},
    {"watch-resumes-from-version", GROVE_CAP_SELECTORS, resumes},
    {"watch-selector-entered-and-left", GROVE_CAP_SELECTORS, selector_entered_and_left},
    {"watch-cancelled-is-silent", GROVE_CAP_SELECTORS, cancelled_is_silent},
    {"watch-two-at-once", GROVE_CAP_SELECTORS, two_watches},
    {"watch-lost-position", GROVE_CAP_SELECTORS, lost_position},
    {"watch-bad-selector", GROVE_CAP_SELECTORS, bad_selector},
    {NULL, 0, NULL},
};
