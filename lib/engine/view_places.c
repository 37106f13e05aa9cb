/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PodGang remembers, as wishes for the placement engine: each pod back on the node its index had, and
 * a scaled gang in the domain of its base. Wishes only: they decide between places that are otherwise alike.
 * A place that the predecessor is about to leave is no place yet: that much a pod waits.
 */
#include "engine/view_sched.h"
#include "model/labels.h"
#include "model/places.h"
#include "value/doc.h"

static gv_str annotation(const grove_node *podgang, const char *key) {
    return gv_node_get_str(gv_node_path(podgang, "metadata.annotations"), key);
}

/* Seats stand podgroup by podgroup with rising index, as the entries of a clique do. */
static grove_status wish_nodes(gv_view *v, gv_str places, const gv_view_gang *gang) {
    gv_str rest = {NULL, 0}, node = {NULL, 0};
    int64_t index = -1;
    uint32_t at = 0;
    for (uint32_t i = 0; i < gang->n_seats; i++, at++) {
        const gv_view_seat *seat = gang->seats[i];
        if (i == 0 || gang->seats[i - 1]->podgroup != seat->podgroup) {
            rest = gv_places_of(places, gv_str_c(seat->pod->clique));
            index = -1;
            at = 0;
        }
        bool more = true;
        while (more && index < seat->pod->index) {
            more = gv_places_next(&rest, &index, &node);
        }
        uint32_t id = more && index == seat->pod->index
                          ? (uint32_t)(uintptr_t)gv_map_get(&v->nodes, node)
                          : 0;
        grove_status st = id ? grove_gang_sticky(v->gang, seat->podgroup, at, id - 1) : GROVE_OK;
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

/* Some node that carries the label; 0: none, else its id + 1. */
static uint32_t node_with(const gv_view *v, const grove_store *store, gv_str key, gv_str value) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&v->nodes, &i));) {
        const gv_object *o = gv_store_get(store, GV_KIND_NODE, GV_STR(""),
                                          (gv_str){e->key, e->key_len});
        const char *label = o ? gv_node_record_label(&o->u.node, key) : NULL;
        if (label && gv_str_is(value, label)) {
            return (uint32_t)(uintptr_t)e->value;
        }
    }
    return 0;
}

static grove_status wish_domain(gv_view *v, const grove_store *store, uint32_t topology,
                                gv_str domain) {
    const char *mark = domain.n ? memchr(domain.p, '=', domain.n) : NULL;
    if (!mark) {
        return GROVE_OK;
    }
    gv_str key = {gv_arena_dup(&v->scratch, (gv_str){domain.p, (size_t)(mark - domain.p)}),
                  (size_t)(mark - domain.p)};
    gv_str value = {mark + 1, domain.n - key.n - 1};
    if (!key.p) {
        return GROVE_E_NOMEM;
    }
    grove_level level = grove_sched_level(v->sched, topology, key.p);
    uint32_t id = level == GROVE_LEVEL_UNKNOWN ? 0 : node_with(v, store, key, value);
    return id ? grove_gang_anchor(v->gang, level, id - 1, GROVE_STRENGTH_PREFERRED) : GROVE_OK;
}

grove_status gv_view_recall(gv_view *v, const grove_store *store, uint32_t topology, gv_str ns,
                            const grove_node *podgang, const gv_view_gang *gang) {
    if (gang->n_seats == 0) {
        return GROVE_OK;
    }
    gv_str base = gv_str_c(gang->seats[0]->pod->base_gang);
    const gv_object *of = base.n ? gv_store_get(store, GV_KIND_PODGANG, ns, base) : NULL;
    gv_str domain = annotation(of ? gv_object_node(of) : podgang, GV_ANNOTATION_ANCHOR);
    grove_status st = wish_nodes(v, annotation(podgang, GV_ANNOTATION_PLACES), gang);
    return st == GROVE_OK ? wish_domain(v, store, topology, domain) : st;
}

/* ---- predecessors ---- */

/* How long after its time a pod may still be on its way out before nobody waits for it. */
#define LATE_NS INT64_C(30000000000)

static bool remembers(gv_str places, const gv_pod *pod) {
    gv_str rest = gv_places_of(places, gv_str_c(pod->clique)), node = {NULL, 0};
    int64_t index = -1;
    while (index < pod->index && gv_places_next(&rest, &index, &node)) {
        if (index == pod->index) {
            return gv_str_eq(node, gv_str_c(pod->node));
        }
    }
    return false;
}

static bool has_seat(const gv_view_gang *gang, const gv_pod *before) {
    for (uint32_t i = 0; i < gang->n_seats; i++) {
        const gv_pod *pod = gang->seats[i]->pod;
        if (pod->index == before->index && pod->clique == before->clique) {
            return true;
        }
    }
    return false;
}

static bool is_on_ready_node(const grove_store *store, const gv_pod *pod) {
    const gv_object *o = gv_store_get(store, GV_KIND_NODE, GV_STR(""), gv_str_c(pod->node));
    return o && (o->u.node.flags & (GV_NODE_READY | GV_NODE_UNSCHEDULABLE)) == GV_NODE_READY;
}

int64_t gv_view_leaving(const grove_store *store, gv_str ns, const grove_node *podgang,
                        const gv_view_gang *gang) {
    gv_str places = annotation(podgang, GV_ANNOTATION_PLACES);
    int64_t until = GV_TIME_NONE;
    if (places.n == 0) {
        return until;
    }
    const gv_list *pods = gv_store_of_gang(
        store, ns, gv_node_get_str(gv_node_path(podgang, "metadata"), "name"));
    for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
        const gv_pod *pod = &o->u.pod;
        bool leaves = (pod->head.flags & GV_HEAD_TERMINATING) != 0 && gv_pod_is_bound(pod) &&
                      !gv_pod_is_final(pod) && pod->head.deleted != GV_TIME_NONE;
        if (leaves && remembers(places, pod) && has_seat(gang, pod) &&
            is_on_ready_node(store, pod)) {
            int64_t by = pod->head.deleted + LATE_NS;
            until = by > until ? by : until;
        }
    }
    return until;
}
