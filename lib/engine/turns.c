/* SPDX-License-Identifier: Apache-2.0 */
/* A gang's turn: whether it may be decided on now, its places, and what becomes of several whose turn it is. */
#include "engine/gangs.h"
#include "engine/view_queues.h"

#include "model/labels.h"
#include "model/view.h"
#include "value/doc.h"

/* A decision holds until its pods are bound; after that the gang is looked at afresh. */
static bool is_decided(grove_engine *e, gv_str ns, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    if (!d || d->placement.verdict != GROVE_VERDICT_PLACED) {
        return false;
    }
    for (uint32_t i = 0; i < d->placement.n_pods; i++) {
        const gv_object *pod = gv_store_get(e->store, GV_KIND_POD, ns,
                                            gv_str_c(d->placement.pods[i].pod));
        if (pod && gv_pod_is_active(&pod->u.pod) && !gv_pod_is_bound(&pod->u.pod) &&
            strcmp(pod->u.pod.head.uid, d->placement.pods[i].uid) == 0) {
            return true;
        }
    }
    return false;
}

bool gv_gangs_is_scheduled(const grove_engine *e, gv_str ns, gv_str gang) {
    const gv_object *object = gv_store_get(e->store, GV_KIND_PODGANG, ns, gang);
    const gv_list *pods = gv_store_of_gang(e->store, ns, gang);
    GV_EACH(group, gv_node_path(object ? gv_object_node(object) : NULL, "spec.podgroups")) {
        gv_str clique = gv_node_get_str(group, "name");
        int64_t bound = 0;
        for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_GANG)) {
            bound += gv_str_is(clique, o->u.pod.clique) && gv_pod_is_active(&o->u.pod) &&
                     gv_pod_is_bound(&o->u.pod);
        }
        if (bound < gv_node_get_int(group, "minReplicas", 0)) {
            return false;
        }
    }
    return object != NULL;
}

/* Gated pods of a scaled gang take no room before their base gang has its own. */
static bool waits_for_base(const grove_engine *e, gv_str ns, gv_str gang) {
    const gv_object *first = gv_store_of_gang(e->store, ns, gang)->first;
    gv_str base = first ? gv_str_c(first->u.pod.base_gang) : (gv_str){"", 0};
    return base.n > 0 && !gv_gangs_is_scheduled(e, ns, base);
}

/* Not before the places that the gang remembers are left, which is soon. */
static grove_status hold(grove_engine *e, gv_str key, int64_t until) {
    gv_gangs_take_back(e, key);
    e->held_until = until < e->held_until ? until : e->held_until;
    return gv_map_put(&e->held, key, e) ? GROVE_OK : GROVE_E_NOMEM;
}

static bool is_suspended(const grove_engine *e, gv_str ns, gv_str set) {
    const gv_object *o = set.n ? gv_store_get(e->store, GV_KIND_PODCLIQUESET, ns, set) : NULL;
    return o != NULL && gv_set_is_suspended(gv_object_node(o));
}

/* Its places are held, and others still have to leave them. */
static bool is_nominated(const grove_engine *e, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    return d && d->reserved;
}

static bool is_unplaced(const grove_engine *e, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    return d && !d->reserved &&
           (d->placement.verdict == GROVE_VERDICT_INFEASIBLE ||
            d->placement.verdict == GROVE_VERDICT_UNKNOWN);
}

/* Less important gangs make room for it; one that has waited too long is not overtaken any more. */
static grove_status make_room_for(grove_engine *e, const gv_candidate *c, grove_error *err) {
    const gv_decided *d = gv_map_get(&e->decided, c->key);
    if (d && d->barred) {
        return GROVE_OK;
    }
    grove_status st = is_unplaced(e, c->key) ? gv_engine_preempt(e, c->key, c->podgang, err)
                                             : GROVE_OK;
    return st == GROVE_OK && is_unplaced(e, c->key)
               ? gv_engine_keep_room(e, c->key, c->podgang, err)
               : st;
}

grove_status gv_turn_take(grove_engine *e, gv_candidate *c, uint32_t flags, grove_error *err) {
    const grove_node *meta = grove_node_get(c->podgang, "metadata");
    gv_str ns = gv_node_get_str(meta, "namespace"), name = gv_node_get_str(meta, "name");
    gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
    gv_view_gang gang;
    if (is_suspended(e, ns, set)) {
        gv_gangs_wants_nothing(e, c->key);
        gv_gangs_take_back(e, c->key); /* looked at again when its condition goes */
        return GROVE_OK;
    }
    if (is_decided(e, ns, c->key)) {
        return GROVE_OK;
    }
    bool favoured = gv_map_remove(&e->favoured, c->key) != NULL;
    if (is_nominated(e, c->key)) {
        favoured = true;
        gv_gangs_take_back(e, c->key);
    }
    if (gv_victims_going(e, gv_gangs_find(e, c->key))) {
        gv_gangs_drop(e, c->key); /* all of it leaves first */
        return GROVE_OK;
    }
    if (gv_view_queue_of(&e->view, e->store, ns, set).problem) {
        return gv_gangs_bar(e, ns, name, set, err);
    }
    if (gv_gangs_released(e, c->podgang)) {
        flags |= GV_DESCRIBE_GATED;
        if (waits_for_base(e, ns, name)) {
            gv_gangs_drop(e, c->key);
            return GROVE_OK;
        }
    }
    grove_status st = gv_view_describe(&e->view, e->store, e->config, c->podgang, flags, &gang,
                                       err);
    if (st < 0) {
        return st;
    }
    c->may_grow = gang.left_out > 0;
    c->tied = gang.tied;
    if (!gang.complete) {
        gv_gangs_wants_nothing(e, c->key);
        gv_gangs_drop(e, c->key);
        return GROVE_OK;
    }
    int64_t until = gv_view_leaving(e->store, ns, c->podgang, &gang);
    if (until > e->now && !favoured) {
        return hold(e, c->key, until) < 0 ? gv_error_nomem(err) : GROVE_OK;
    }
    c->fresh = !favoured;
    st = gv_gangs_decide(e, ns, name, set, &gang, err);
    return st == GROVE_OK && favoured ? make_room_for(e, c, err) : st;
}

/* ---- together ---- */

static bool is_placed(grove_engine *e, const gv_candidate *c) {
    const gv_decided *d = gv_map_get(&e->decided, c->key);
    return d && d->placement.verdict == GROVE_VERDICT_PLACED;
}

grove_status gv_gangs_describe_least(grove_engine *e, const grove_node *podgang, gv_view_gang *out,
                                     grove_error *err) {
    uint32_t flags = GV_DESCRIBE_LEAST | (gv_gangs_released(e, podgang) ? GV_DESCRIBE_GATED : 0);
    return gv_view_describe(&e->view, e->store, e->config, podgang, flags, out, err);
}

static void swap_seat(gv_view *v, uint32_t at) {
    grove_gang *gang = v->gang;
    grove_decision *decision = v->decision;
    v->gang = v->batch[at];
    v->decision = v->answers[at];
    v->batch[at] = gang;
    v->answers[at] = decision;
}

/* Of gangs of one priority the age decides. Those of queues are in their order already and within their limits. */
static grove_status keep_order(grove_engine *e, const gv_candidate *c, uint32_t at) {
    grove_gang *gang = e->view.gang;
    if (!e->view.queued) {
        return grove_gang_waiting(gang, c->created, 0);
    }
    grove_status st = grove_gang_queue(gang, GROVE_QUEUE_NONE);
    return st < 0 ? st : grove_gang_waiting(gang, at, 0);
}

static grove_status describe_batch(grove_engine *e, gv_candidate *const *list, uint32_t n,
                                   grove_error *err) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        gv_view_gang gang;
        st = gv_view_seat_in_batch(&e->view, i);
        if (st == GROVE_OK) {
            swap_seat(&e->view, i);
            st = gv_gangs_describe_least(e, list[i]->podgang, &gang, err);
            st = st < 0 ? st : keep_order(e, list[i], i);
            swap_seat(&e->view, i);
        }
    }
    return st;
}

static grove_status keep_batch(grove_engine *e, gv_candidate *const *list, uint32_t n,
                               grove_error *err) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        const grove_node *meta = grove_node_get(list[i]->podgang, "metadata");
        gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
        gv_view_gang gang;
        st = gv_gangs_describe_least(e, list[i]->podgang, &gang,
                                     err); /* the seats; the question is the same */
        if (st == GROVE_OK) {
            swap_seat(&e->view, i);
            st = gv_gangs_keep_decision(e, gv_node_get_str(meta, "namespace"),
                                        gv_node_get_str(meta, "name"), set, &gang, err);
            swap_seat(&e->view, i);
        }
    }
    return st;
}

/*
 * Each gang in turn takes what is best for itself, and a later one may find no place although all would fit.
 * Where that may be so, those of this step are decided anew, together: in the same order, and nobody loses.
 */
static grove_status decide_together(grove_engine *e, gv_candidate *const *list, uint32_t n,
                                    grove_error *err) {
    gv_candidate *batch[GV_VIEW_BATCH];
    uint32_t m = 0, without = 0;
    for (uint32_t i = 0; i < n && m < GV_VIEW_BATCH; i++) {
        if (list[i]->tied) {
            return GROVE_OK; /* others must not move under it */
        }
        if (list[i]->fresh) {
            without += !is_placed(e, list[i]);
            batch[m++] = list[i];
        }
    }
    if (without == 0 || without == m) {
        return GROVE_OK;
    }
    const grove_gang *gangs[GV_VIEW_BATCH];
    grove_decision *answers[GV_VIEW_BATCH];
    const grove_served *served = NULL;
    grove_serve_options o = {
        .size = (uint32_t)sizeof o, .flags = GROVE_SERVE_PLAN, .together = GV_VIEW_BATCH};
    for (uint32_t i = 0; i < m; i++) {
        gv_gangs_take_back(e, batch[i]->key);
    }
    grove_status st = describe_batch(e, batch, m, err);
    for (uint32_t i = 0; st == GROVE_OK && i < m; i++) {
        gangs[i] = e->view.batch[i];
        answers[i] = e->view.answers[i];
    }
    st = st < 0 ? st : grove_sched_serve(e->view.sched, gangs, answers, m, &o, &served, err);
    return st < 0 ? st : keep_batch(e, batch, m, err);
}

grove_status gv_turn_starters(grove_engine *e, gv_candidate *const *list, uint32_t n,
                              bool more_follow, grove_error *err) {
    bool alone = n == 1 && !more_follow;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = gv_turn_take(e, list[i], alone ? 0 : GV_DESCRIBE_LEAST, err);
    }
    st = st < 0 ? st : decide_together(e, list, n, err);
    for (uint32_t i = 0; st == GROVE_OK && i < n && !more_follow; i++) {
        st = gv_turn_grow(e, list[i], err);
    }
    return st;
}

grove_status gv_turn_grow(grove_engine *e, gv_candidate *c, grove_error *err) {
    const gv_decided *d = gv_map_get(&e->decided, c->key);
    if (!c->may_grow || (d && d->placement.verdict != GROVE_VERDICT_PLACED)) {
        return GROVE_OK;
    }
    gv_gangs_take_back(e, c->key);
    return gv_turn_take(e, c, 0, err);
}

bool gv_turn_waits(const grove_engine *e, const gv_candidate *c) {
    return is_unplaced(e, c->key);
}

/* The last of `served` with those before it that have their places since this step. */
static grove_status join(grove_engine *e, gv_candidate *const *served, uint32_t n,
                         grove_error *err) {
    gv_candidate *batch[GV_VIEW_BATCH];
    uint32_t m = 0, first = n > GV_VIEW_BATCH ? n - GV_VIEW_BATCH : 0;
    for (uint32_t i = first; i < n; i++) {
        if (i == n - 1 || (served[i]->fresh && is_placed(e, served[i]))) {
            batch[m++] = served[i];
        }
    }
    return decide_together(e, batch, m, err);
}

grove_status gv_turn_queued(grove_engine *e, gv_candidate *const *served, uint32_t n,
                            uint32_t flags, grove_error *err) {
    gv_candidate *c = served[n - 1];
    grove_status st = gv_turn_take(e, c, flags, err);
    const gv_decided *d = gv_map_get(&e->decided, c->key);
    if (st == GROVE_OK && c->fresh && is_unplaced(e, c->key) && !d->bounded) {
        st = join(e, served, n, err);
    }
    st = st < 0 ? st : make_room_for(e, c, err);
    c->fresh = c->fresh && !is_nominated(e, c->key);
    return st;
}

grove_status gv_turn_make_room(grove_engine *e, gv_candidate *const *list, uint32_t n,
                               grove_error *err) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = make_room_for(e, list[i], err);
    }
    return st;
}
