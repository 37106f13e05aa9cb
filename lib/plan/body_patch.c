/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a live object and the wanted one to the merge patch of the fields that are ours. What servers,
 * scalers and other controllers put beside them stays.
 */
#include "plan/body_patch.h"

#include "plan/delta.h"
#include "value/doc.h"

/* How much of an object is ours. */
typedef struct ownership {
    bool whole_spec; /* spec members we do not want go away; else only those we want are compared */
    bool whole_annotations; /* the same for annotations */
    const char *kept[4];    /* spec members of others, NULL-terminated */
} ownership;

static ownership owned(gv_kind kind) {
    switch (kind) {
    case GV_KIND_PODCLIQUE:
    case GV_KIND_PODCLIQUESCALINGGROUP:
        return (ownership){.whole_spec = true, .whole_annotations = true, .kept = {"replicas"}};
    case GV_KIND_PODGANG:
        return (ownership){.whole_spec = true, .kept = {"reuseReservationRef"}};
    case GV_KIND_KAI_PODGROUP:
        return (ownership){.whole_spec = true,
                           .kept = {"markUnschedulable", "schedulingBackoff", "queue"}};
    default:
        return (ownership){0};
    }
}

/* Spec members that we leave out where the server's default is meant: such a one goes when it is no longer
 * wanted, unless what stands there is that default. */
static bool is_false(const grove_node *spec, const char *key) {
    return !gv_node_get_bool(spec, key);
}

static bool is_one(const grove_node *spec, const char *key) {
    return gv_opt_or(gv_get_int(spec, key), 1) == 1;
}

/* What an autoscaler gets that names no metric: 80 % of the CPU asked for. */
static bool is_cpu_metric(const grove_node *spec, const char *key) {
    const grove_node *list = grove_node_get(spec, key);
    const grove_node *r = grove_node_get(grove_node_first(list), "resource");
    const grove_node *target = grove_node_get(r, "target");
    return grove_node_size(list) == 1 && gv_str_is(gv_get_str(r, "name"), "cpu") &&
           gv_str_is(gv_get_str(target, "type"), "Utilization") &&
           gv_opt_or(gv_get_int(target, "averageUtilization"), 0) == 80;
}

static bool is_never(const grove_node *spec, const char *key) {
    (void)spec;
    (void)key;
    return false;
}

static const struct {
    gv_kind kind;
    const char *key;
    bool (*is_default)(const grove_node *spec, const char *key);
} defaulted[] = {
    {GV_KIND_SERVICE, "publishNotReadyAddresses", is_false},
    {GV_KIND_HPA, "minReplicas", is_one},
    {GV_KIND_HPA, "metrics", is_cpu_metric},
    {GV_KIND_VOLCANO_PODGROUP, "priorityClassName", is_never},
};

static void drop_defaulted(gv_delta *d, gv_kind kind, const grove_node *live,
                           const grove_node *want) {
    for (size_t i = 0; i < sizeof defaulted / sizeof *defaulted; i++) {
        const char *key = defaulted[i].key;
        if (defaulted[i].kind == kind && grove_node_get(live, key) != NULL &&
            grove_node_get(want, key) == NULL && !defaulted[i].is_default(live, key)) {
            gv_delta_away(d, live, key);
        }
    }
}

static bool is_kept(const ownership *own, gv_str key) {
    for (int i = 0; i < 4 && own->kept[i]; i++) {
        if (gv_str_is(key, own->kept[i])) {
            return true;
        }
    }
    return false;
}

static gv_str key_of(const grove_node *member) {
    gv_str key = {NULL, 0};
    key.p = grove_node_key(member, &key.n);
    return key;
}

/* Every leaf of `want` is in `live`; lists are of one length. What a server adds is no difference. */
static bool covers(const grove_node *live, const grove_node *want) {
    grove_type type = grove_node_type(want);
    if (type != GROVE_OBJECT && type != GROVE_ARRAY) {
        return grove_node_equal(live, want) != 0;
    }
    if (grove_node_type(live) != type) {
        return type == GROVE_OBJECT && grove_node_size(want) == 0 && live == NULL;
    }
    if (type == GROVE_ARRAY && grove_node_size(live) != grove_node_size(want)) {
        return false;
    }
    const grove_node *other = grove_node_first(live);
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        gv_str key = type == GROVE_OBJECT ? key_of(m) : (gv_str){NULL, 0};
        const grove_node *at = type == GROVE_OBJECT ? grove_node_getn(live, key.p, key.n) : other;
        if (!covers(at, m)) {
            return false;
        }
        other = type == GROVE_ARRAY ? grove_node_next(live, other) : NULL;
    }
    return true;
}

/* ---- labels and annotations ---- */

/* Keys of a PodGang that go when they are no longer wanted. */
static bool is_ours_alone(gv_str key) {
    return gv_str_is(key, GV_ANNOTATION_TOPOLOGY) || gv_str_is(key, GV_LABEL_SCHEDULER) ||
           gv_str_is(key, GV_ANNOTATION_CROSS_GANG) || gv_str_is(key, GV_ANNOTATION_SPREAD);
}

static void patch_key(gv_delta *d, const grove_node *live, const grove_node *want) {
    gv_str key = key_of(want), value = gv_view_str(want);
    const grove_node *stands = grove_node_getn(live, key.p, key.n);
    if (stands == NULL || !gv_str_eq(gv_view_str(stands), value)) {
        gv_delta_touch(d);
        grove_builder_stringn(d->b, key.p, value.p, value.n);
    }
}

static void patch_map(gv_delta *d, const char *name, const grove_node *live, const grove_node *want,
                      bool whole) {
    gv_delta_enter(d, name);
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        patch_key(d, live, m);
    }
    for (const grove_node *m = grove_node_first(live); m; m = grove_node_next(live, m)) {
        gv_str key = key_of(m);
        /* What else has our prefix are notes that only their author takes away. */
        bool ours = is_ours_alone(key) ||
                    (whole && !gv_str_starts(key, GV_STR(GV_COND_OWN_PREFIX)));
        if (ours && grove_node_getn(want, key.p, key.n) == NULL) {
            gv_delta_away(d, live, key.p);
        }
    }
    gv_delta_leave(d);
}

/* ---- spec ---- */

/* A member that differs: within our own kinds the smallest patch, else the whole wanted value. */
static void patch_member(gv_delta *d, const gv_object *o, gv_str key, const grove_node *live,
                         grove_doc *want_doc, const grove_node *want, bool exact) {
    grove_doc *patch = NULL;
    gv_delta_touch(d);
    if (exact && grove_node_type(live) == GROVE_OBJECT && grove_node_type(want) == GROVE_OBJECT &&
        grove_merge_patch_make(o->u.document.doc, live, want_doc, want, &patch, NULL) == GROVE_OK) {
        grove_builder_link(d->b, key.p, patch, grove_doc_root(patch));
        grove_doc_unref(patch);
        return;
    }
    grove_builder_link(d->b, key.p, want_doc, want);
}

static void patch_object(gv_delta *d, const gv_object *o, const grove_node *live,
                         grove_doc *want_doc, const grove_node *want, const ownership *own) {
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        gv_str key = key_of(m);
        const grove_node *at = grove_node_getn(live, key.p, key.n);
        bool same = own->whole_spec ? grove_node_equal(at, m) != 0 : covers(at, m);
        if (same || is_kept(own, key)) {
            continue;
        }
        patch_member(d, o, key, at, want_doc, m, own->whole_spec);
    }
    for (const grove_node *m = own->whole_spec ? grove_node_first(live) : NULL; m;
         m = grove_node_next(live, m)) {
        gv_str key = key_of(m);
        if (!is_kept(own, key) && grove_node_getn(want, key.p, key.n) == NULL) {
            gv_delta_away(d, live, key.p);
        }
    }
}

static bool is_envelope(gv_str key) {
    return gv_str_is(key, "apiVersion") || gv_str_is(key, "kind") || gv_str_is(key, "metadata") ||
           gv_str_is(key, "status") || gv_str_is(key, "spec");
}

/* Members beside spec: a ServiceAccount's, a Role's. */
static void patch_rest(gv_delta *d, const gv_object *o, grove_doc *want_doc, const grove_node *live,
                       const grove_node *want) {
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        gv_str key = key_of(m);
        const grove_node *at = grove_node_getn(live, key.p, key.n);
        if (!is_envelope(key) && !covers(at, m)) {
            patch_member(d, o, key, at, want_doc, m, false);
        }
    }
}

/* A PodClique takes another template on: labels that were its old template's go. Between two templates what
 * is not ours is somebody else's, and stays. */
static bool is_renewed(const grove_node *live, const grove_node *want) {
    return grove_node_get(want, GV_LABEL_TEMPLATE_HASH) != NULL &&
           !gv_str_eq(gv_get_str(live, GV_LABEL_TEMPLATE_HASH),
                      gv_get_str(want, GV_LABEL_TEMPLATE_HASH));
}

/* What says where an object belongs, whatever its template. */
static bool is_identity(gv_str key) {
    return !gv_str_is(key, GV_LABEL_TEMPLATE_HASH) &&
           (gv_str_starts(key, GV_STR("grove.io/")) ||
            gv_str_starts(key, GV_STR("app.kubernetes.io/")));
}

bool gv_identity_patch(gv_work *w, const gv_object *o, const grove_doc *want_doc) {
    const grove_node *want = grove_node_at_path(grove_doc_root(want_doc), "/metadata/labels");
    const grove_node *live = grove_node_at_path(gv_object_node(o), "/metadata/labels");
    gv_delta d;
    gv_delta_begin(&d, w->b);
    gv_delta_enter(&d, "metadata");
    gv_delta_enter(&d, "labels");
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        if (is_identity(key_of(m))) {
            patch_key(&d, live, m);
        }
    }
    return gv_delta_end(&d);
}

bool gv_body_patch(gv_work *w, const gv_object *o, grove_doc *want_doc) {
    const grove_node *want = grove_doc_root(want_doc);
    const grove_node *live = gv_object_node(o);
    const grove_node *want_meta = grove_node_get(want, "metadata");
    const grove_node *live_meta = grove_node_get(live, "metadata");
    const grove_node *live_labels = grove_node_get(live_meta, "labels");
    const grove_node *want_labels = grove_node_get(want_meta, "labels");
    ownership own = owned(o->u.head.kind);
    gv_delta d;
    gv_delta_begin(&d, w->b);
    gv_delta_enter(&d, "metadata");
    patch_map(&d, "labels", live_labels, want_labels, is_renewed(live_labels, want_labels));
    patch_map(&d, "annotations", grove_node_get(live_meta, "annotations"),
              grove_node_get(want_meta, "annotations"), own.whole_annotations);
    gv_delta_leave(&d);
    gv_delta_enter(&d, "spec");
    patch_object(&d, o, grove_node_get(live, "spec"), want_doc, grove_node_get(want, "spec"), &own);
    drop_defaulted(&d, o->u.head.kind, grove_node_get(live, "spec"), grove_node_get(want, "spec"));
    gv_delta_leave(&d);
    patch_rest(&d, o, want_doc, live, want);
    return gv_delta_end(&d);
}
