/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the other gangs are that a gang is to lie beside or apart from. The planner wrote on the PodGang which
 * ones (docs/reference/annotations.md); where they are is what the store and the decisions under way say, so
 * that a restart forgets nothing.
 */
#include "engine/view_sched.h"
#include "model/labels.h"
#include "value/doc.h"

typedef struct wish {
    grove_strength strength;
    gv_str key, name;
    int64_t skew;
} wish;

static gv_str next_word(gv_str *rest) {
    const char *space = rest->n ? memchr(rest->p, ' ', rest->n) : NULL;
    size_t n = space ? (size_t)(space - rest->p) : rest->n;
    gv_str word = {rest->p, n};
    *rest = (gv_str){rest->p + n + (space ? 1 : 0), rest->n - n - (space ? 1 : 0)};
    return word;
}

/* What somebody else wrote there is no wish. */
static bool read_wish(const grove_node *podgang, const char *annotation, bool with_skew,
                      wish *out) {
    gv_str rest = gv_node_get_str(gv_node_path(podgang, "metadata.annotations"), annotation);
    gv_str mode = next_word(&rest);
    *out = (wish){.key = next_word(&rest), .skew = 1};
    out->strength = gv_str_is(mode, "Require")  ? GROVE_STRENGTH_REQUIRED
                    : gv_str_is(mode, "Prefer") ? GROVE_STRENGTH_PREFERRED
                                                : GROVE_STRENGTH_NONE;
    bool ok = !with_skew || (gv_str_int64(next_word(&rest), &out->skew) && out->skew > 0 &&
                             out->skew <= INT32_MAX);
    out->name = rest;
    return ok && out->strength != GROVE_STRENGTH_NONE && out->key.n && out->name.n;
}

/* ---- where something is ---- */

static uint32_t node_of(const gv_view *v, const gv_pod *pod) {
    uint32_t node = GROVE_SCHED_NONE;
    bool there = gv_pod_is_active(pod) && gv_view_place(v, gv_str_c(pod->head.uid), &node);
    return there ? node : GROVE_SCHED_NONE;
}

static uint32_t node_of_gang(const gv_view *v, const grove_store *store, gv_str ns, gv_str gang) {
    const gv_list *pods = gv_store_of_gang(store, ns, gang);
    uint32_t node = GROVE_SCHED_NONE;
    for (const gv_object *o = pods->first; o && node == GROVE_SCHED_NONE;
         o = gv_list_next(o, GV_LIST_GANG)) {
        node = node_of(v, &o->u.pod);
    }
    return node;
}

static bool is_of(const gv_object *o, const char *annotation, const wish *w) {
    if (o->u.head.kind != GV_KIND_PODGANG || gv_object_is_terminating(o)) {
        return false;
    }
    wish other;
    return read_wish(gv_object_node(o), annotation, strcmp(annotation, GV_ANNOTATION_SPREAD) == 0,
                     &other) &&
           gv_str_eq(other.name, w->name) && gv_str_eq(other.key, w->key);
}

/* ---- the domain of the base gang ---- */

/* Where the gang itself is, else its base gang, else any other gang of the set replica. */
static uint32_t find_anchor(const gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                            gv_str gang, const wish *w) {
    uint32_t node = node_of_gang(v, store, ns, gang);
    if (node == GROVE_SCHED_NONE) {
        node = node_of_gang(v, store, ns, w->name);
    }
    const gv_list *all = gv_store_of_set(store, ns, set);
    for (const gv_object *o = all->first; o && node == GROVE_SCHED_NONE;
         o = gv_list_next(o, GV_LIST_SET)) {
        if (is_of(o, GV_ANNOTATION_CROSS_GANG, w)) {
            node = node_of_gang(v, store, ns, gv_str_c(o->u.head.name));
        }
    }
    return node;
}

/* ---- the places of other replicas ---- */

typedef GV_VEC(uint32_t) places;

/* Of a set replica: where its base gang is, or what it will return to. */
static uint32_t node_of_replica(const gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                                const gv_object *base) {
    gv_str gang = gv_str_c(base->u.head.name);
    wish w;
    return read_wish(gv_object_node(base), GV_ANNOTATION_CROSS_GANG, false, &w)
               ? find_anchor(v, store, ns, set, gang, &w)
               : node_of_gang(v, store, ns, gang);
}

/* Base gangs of the other set replicas: one place each. */
static bool places_of_set(const gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                          gv_str gang, const wish *w, places *out) {
    const gv_list *all = gv_store_of_set(store, ns, set);
    for (const gv_object *o = all->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        uint32_t node = gv_str_is(gang, o->u.head.name) || !is_of(o, GV_ANNOTATION_SPREAD, w)
                            ? GROVE_SCHED_NONE
                            : node_of_replica(v, store, ns, set, o);
        if (node != GROVE_SCHED_NONE && !gv_vec_push(v->env, out, node)) {
            return false;
        }
    }
    return true;
}

static const grove_node *labels_of(const gv_object *o) {
    return grove_node_get(grove_node_get(gv_object_node(o), "metadata"), "labels");
}

static bool index_of(const gv_object *o, const wish *w, int64_t *out) {
    const grove_node *labels = labels_of(o);
    return gv_str_eq(gv_node_get_str(labels, GV_LABEL_GROUP), w->name) &&
           gv_str_int64(gv_node_get_str(labels, GV_LABEL_GROUP_REPLICA), out);
}

static uint32_t node_of_clique(const gv_view *v, const grove_store *store,
                               const gv_object *clique) {
    const gv_list *owned = gv_store_owned_by(store, gv_str_c(clique->u.head.uid));
    uint32_t node = GROVE_SCHED_NONE;
    for (const gv_object *o = owned->first; o && node == GROVE_SCHED_NONE;
         o = gv_list_next(o, GV_LIST_OWNER)) {
        node = gv_object_is_pod(o) ? node_of(v, &o->u.pod) : node;
    }
    return node;
}

/* The other replicas of the group, also those that are part of the base gang: one place each. */
static bool places_of_group(const gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                            gv_str gang, const wish *w, places *out) {
    const gv_list *all = gv_store_of_set(store, ns, set);
    gv_map seen;
    gv_map_init(&seen, v->env);
    bool ok = true;
    for (const gv_object *o = all->first; ok && o; o = gv_list_next(o, GV_LIST_SET)) {
        int64_t index = 0;
        if (o->u.head.kind != GV_KIND_PODCLIQUE || !index_of(o, w, &index) ||
            gv_str_eq(gv_node_get_str(labels_of(o), GV_LABEL_GANG), gang)) {
            continue;
        }
        gv_str key = {(const char *)&index, sizeof index};
        uint32_t node = gv_map_has(&seen, key) ? GROVE_SCHED_NONE : node_of_clique(v, store, o);
        if (node != GROVE_SCHED_NONE) {
            ok = gv_map_put(&seen, key, &seen) && gv_vec_push(v->env, out, node);
        }
    }
    gv_map_fini(&seen);
    return ok;
}

/* ---- both ---- */

static grove_status set_spread(gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                               gv_str gang, uint32_t topology, const wish *w) {
    places nodes = {0};
    bool of_set = gv_str_eq(w->name, set);
    bool ok = of_set ? places_of_set(v, store, ns, set, gang, w, &nodes)
                     : places_of_group(v, store, ns, set, gang, w, &nodes);
    const char *key = gv_arena_dup(&v->scratch, w->key);
    grove_status st = ok && key ? GROVE_OK : GROVE_E_NOMEM;
    if (st == GROVE_OK) {
        st = grove_gang_spread(v->gang, grove_sched_level(v->sched, topology, key),
                               (uint32_t)w->skew, w->strength, nodes.v, (uint32_t)nodes.n);
    }
    gv_vec_fini(v->env, &nodes);
    return st;
}

grove_status gv_view_siblings(gv_view *v, const grove_store *store, const grove_node *podgang,
                              uint32_t topology, gv_view_gang *out) {
    const grove_node *meta = grove_node_get(podgang, "metadata");
    gv_str ns = gv_node_get_str(meta, "namespace"), gang = gv_node_get_str(meta, "name");
    gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
    grove_status st = GROVE_OK;
    bool settled = node_of_gang(v, store, ns, gang) != GROVE_SCHED_NONE;
    wish w;
    out->tied = read_wish(podgang, GV_ANNOTATION_CROSS_GANG, false, &w) ||
                read_wish(podgang, GV_ANNOTATION_SPREAD, true, &w);
    if (read_wish(podgang, GV_ANNOTATION_CROSS_GANG, false, &w)) {
        const char *key = gv_arena_dup(&v->scratch, w.key);
        uint32_t node = find_anchor(v, store, ns, set, gang, &w);
        if (!key) {
            return GROVE_E_NOMEM;
        }
        if (node != GROVE_SCHED_NONE) {
            grove_level level = grove_sched_level(v->sched, topology, key);
            st = grove_gang_anchor(v->gang, level, node, w.strength);
            if (w.strength == GROVE_STRENGTH_REQUIRED) {
                out->anchor = (gv_view_anchor){key, w.name, node, level};
                settled = true;
            }
        }
    }
    /* What lies somewhere stays there: its rest follows, whatever became of the others meanwhile. */
    if (st == GROVE_OK && !settled && read_wish(podgang, GV_ANNOTATION_SPREAD, true, &w)) {
        st = set_spread(v, store, ns, set, gang, topology, &w);
    }
    return st;
}
