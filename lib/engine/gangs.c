/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which gangs are placed when: a gang is looked at when one of its pods or its PodGang changed, and all
 * that wait are looked at again when capacity changed. Order of service: priority, then those that lack
 * their minimum, then age, then name.
 */
#include "engine/gangs.h"

#include "base/sort.h"
#include "model/labels.h"
#include "model/view.h"
#include "value/doc.h"

grove_status gv_engine_check_gang(grove_engine *e, gv_str ns, gv_str gang) {
    gv_str key = gv_engine_key(&e->op_text, ns, gang);
    return key.p && gv_map_put(&e->gangs_to_check, key, e) ? GROVE_OK : GROVE_E_NOMEM;
}

grove_status gv_engine_check_followers(grove_engine *e, const gv_pod *pod) {
    bool any = false;
    for (size_t i = 0; i < e->config->schedulers.n; i++) {
        any = any || e->config->schedulers.v[i].gang_scheduling;
    }
    if (!any || pod->base_gang[0] || !gv_pod_is_bound(pod)) {
        return GROVE_OK;
    }
    gv_str ns = gv_str_c(pod->head.ns);
    const gv_list *list = gv_store_of_set(e->store, ns, gv_str_c(pod->head.part_of));
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        if (o->u.head.kind == GV_KIND_PODGANG &&
            gv_engine_check_gang(e, ns, gv_str_c(o->u.head.name)) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

void gv_gangs_drop(grove_engine *e, gv_str key) {
    gv_decided *d = gv_map_remove(&e->decided, key);
    if (d) {
        gv_arena_fini(&d->arena);
        gv_free(e->env, d, sizeof *d);
    }
}

void gv_engine_gangs_fini(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        gv_gangs_drop(e, (gv_str){entry->key, entry->key_len});
    }
    gv_map_fini(&e->decided);
    gv_map_fini(&e->gangs_to_check);
    gv_map_fini(&e->held);
    gv_vec_fini(e->env, &e->placements);
}

const gv_decided *gv_engine_decision(grove_engine *e, gv_str ns, gv_str gang) {
    gv_str key = gv_engine_key(&e->op_text, ns, gang);
    return key.p ? gv_map_get(&e->decided, key) : NULL;
}

uint32_t gv_engine_gangs_waiting(const grove_engine *e) {
    uint32_t n = 0;
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        n += d->placement.verdict != GROVE_VERDICT_PLACED;
    }
    return n;
}

/* ---- is the gang ours to place ---- */

static gv_str scheduler_of(const grove_engine *e, const grove_node *podgang) {
    gv_str name = gv_node_get_str(gv_node_path(podgang, "metadata.labels"), GV_LABEL_SCHEDULER);
    return name.n ? name : gv_str_c(e->config->default_scheduler);
}

const gv_scheduler_profile *gv_gangs_profile(const grove_engine *e, const grove_node *podgang) {
    return gv_config_scheduler(e->config, scheduler_of(e, podgang));
}

/* A stock scheduler that is to place gangs whole: we find the places, release the pods towards them, and
 * it binds. */
bool gv_gangs_released(const grove_engine *e, const grove_node *podgang) {
    const gv_scheduler_profile *p = gv_gangs_profile(e, podgang);
    return p && p->gang_scheduling;
}

bool gv_gangs_ours(const grove_engine *e, const grove_node *podgang) {
    return gv_gangs_released(e, podgang) ||
           (e->bind_schedulers && gv_str_in_list(e->bind_schedulers, scheduler_of(e, podgang)));
}

/* ---- keeping an answer ---- */

gv_decided *gv_gangs_answer(grove_engine *e, gv_str ns, gv_str gang, gv_str set) {
    gv_str key = gv_engine_key(&e->op_text, ns, gang);
    gv_decided *d = gv_zalloc(e->env, sizeof *d);
    if (!d) {
        return NULL;
    }
    gv_arena_init(&d->arena, e->env);
    d->ns.p = gv_arena_dup(&d->arena, ns);
    d->set.p = gv_arena_dup(&d->arena, set);
    d->placement.gang = gv_arena_dup(&d->arena, gang);
    if (!key.p || !d->ns.p || !d->set.p || !d->placement.gang) {
        gv_arena_fini(&d->arena);
        gv_free(e->env, d, sizeof *d);
        return NULL;
    }
    d->ns.n = ns.n;
    d->set.n = set.n;
    d->placement.size = (uint32_t)sizeof d->placement;
    d->placement.retry_ns = d->look_again = GROVE_NEVER;
    d->placement.reason = d->placement.text = "";
    gv_gangs_drop(e, key);
    if (!gv_map_put(&e->decided, key, d)) {
        gv_arena_fini(&d->arena);
        gv_free(e->env, d, sizeof *d);
        return NULL;
    }
    return d;
}

/* Notes each pod's node and holds its room until it is seen there. */
grove_status gv_gangs_keep_places(grove_engine *e, gv_decided *d, const gv_view_gang *gang,
                                  grove_error *err) {
    grove_placed_pod *pods = gv_arena_array(&d->arena, grove_placed_pod, gang->n_seats + 1);
    uint64_t *sigs = gv_arena_array(&d->arena, uint64_t, gang->n_seats + 1);
    uint32_t n = 0;
    if (!pods || !sigs) {
        return gv_error_nomem(err);
    }
    for (uint32_t i = 0, at = 0; i < gang->n_seats; i++) {
        const gv_view_seat *seat = gang->seats[i];
        at = i > 0 && gang->seats[i - 1]->podgroup == seat->podgroup ? at + 1 : 0;
        uint32_t count = 0;
        const uint32_t *nodes = grove_decision_nodes(e->view.decision, seat->podgroup, &count);
        if (at >= count || nodes[at] == GROVE_SCHED_NONE) {
            continue; /* a surplus pod without room */
        }
        gv_str uid = gv_str_c(seat->pod->head.uid);
        pods[n].pod = gv_arena_dup(&d->arena, gv_str_c(seat->pod->head.name));
        pods[n].uid = gv_arena_dup(&d->arena, uid);
        pods[n].node = gv_arena_dup(&d->arena,
                                    gv_str_c(grove_sched_node_name(e->view.sched, nodes[at])));
        if (!pods[n].pod || !pods[n].uid || !pods[n].node) {
            return gv_error_nomem(err);
        }
        sigs[n] = gv_engine_node_sig(e, pods[n].node);
        d->gated = d->gated || seat->pod->n_gates > 0;
        grove_status st = gv_view_assume(&e->view, uid, nodes[at], seat->class_id, err);
        if (st < 0) {
            return st;
        }
        n++;
    }
    d->placement.pods = pods;
    d->node_sigs = sigs;
    d->placement.n_pods = n;
    d->unplaced = gang->n_seats + gang->left_out - n;
    if (gv_engine_gang_terms(e, d->ns, gv_str_c(d->placement.gang), &d->terms) < 0) {
        return gv_error_nomem(err);
    }
    return GROVE_OK;
}

/* The value of a node's label; "" when there is none. */
static const char *label_of(const grove_engine *e, uint32_t node, const char *key) {
    const char *name = grove_sched_node_name(e->view.sched, node);
    const gv_object *o = name ? gv_store_get(e->store, GV_KIND_NODE, GV_STR(""), gv_str_c(name))
                              : NULL;
    const char *value = o && key ? gv_node_record_label(&o->u.node, gv_str_c(key)) : NULL;
    return value ? value : "";
}

/* One line for conditions and events, with the level that blocks; grove_sched_explain has the whole story. */
static grove_status keep_explanation(grove_engine *e, gv_decided *d, const gv_view_gang *gang,
                                     grove_error *err) {
    grove_certificate proof = {.size = (uint32_t)sizeof proof};
    if (grove_decision_certificate(e->view.decision, &proof) < 0) {
        d->placement.reason = grove_reason_name(GROVE_REASON_BUDGET);
        d->placement.text = "the search budget ended before an answer was found";
        return GROVE_OK;
    }
    const char *what = grove_sched_resource_name(e->view.sched, proof.resource);
    const char *key = grove_sched_level_key(e->view.sched, gang->topology, proof.level);
    const char *nearest = label_of(e, proof.nearest, key);
    const char *which = nearest[0] ? gv_arena_fmt(&d->arena, ", %s,", nearest) : "";
    d->placement.reason = grove_reason_name(proof.reason);
    d->placement.text = gv_arena_fmt(
        &d->arena,
        "no place for the whole gang: %s in each of %u domains%s%s; the nearest%s has %lld of "
        "%lld %s",
        d->placement.reason, proof.candidates, key ? " of " : "", key ? key : "",
        which ? which : "", (long long)proof.have, (long long)proof.need, what ? what : "pods");
    return which && d->placement.text ? GROVE_OK : gv_error_nomem(err);
}

/*
 * The gang has to lie in the domain of its base gang and does not fit there. Whether it would fit elsewhere is
 * asked for as well: who reads it decides between waiting and giving up the wish.
 */
static grove_status explain_anchor(grove_engine *e, gv_decided *d, const gv_view_anchor *anchor,
                                   grove_error *err) {
    const char *value = label_of(e, anchor->node, anchor->key);
    grove_status st = grove_gang_anchor(e->view.gang, anchor->level, anchor->node,
                                        GROVE_STRENGTH_NONE);
    if (st == GROVE_OK) {
        st = grove_sched_place(e->view.sched, e->view.gang, NULL, e->view.decision, err);
    }
    if (st < 0) {
        return st;
    }
    bool elsewhere = grove_decision_verdict(e->view.decision) == GROVE_PLACED;
    d->placement.reason = "AnchorDomainFull";
    d->placement.text = gv_arena_fmt(
        &d->arena, "anchor domain full: %s=%s, the domain of gang %.*s, has no room (%s); %s",
        anchor->key, value, (int)anchor->gang.n, anchor->gang.p, d->placement.text,
        elsewhere ? "another domain has" : "no other domain has either");
    return d->placement.text ? GROVE_OK : gv_error_nomem(err);
}

/* Keeps what e->view.decision says of the gang described last. */
static grove_status keep_decision(grove_engine *e, gv_str ns, gv_str name, gv_str set,
                                  const gv_view_gang *gang, grove_error *err) {
    grove_status st = GROVE_OK;
    gv_decided *d = gv_gangs_answer(e, ns, name, set);
    if (!d) {
        return gv_error_nomem(err);
    }
    grove_verdict verdict = grove_decision_verdict(e->view.decision);
    e->stats.decisions++;
    if (verdict == GROVE_PLACED) {
        e->stats.placed++;
        d->placement.verdict = GROVE_VERDICT_PLACED;
        d->placement.score = (uint32_t)grove_decision_score(e->view.decision) / 1000;
        st = gv_gangs_keep_places(e, d, gang, err);
    } else {
        d->placement.verdict = verdict == GROVE_INFEASIBLE ? GROVE_VERDICT_INFEASIBLE
                                                           : GROVE_VERDICT_UNKNOWN;
        st = keep_explanation(e, d, gang, err);
        if (st == GROVE_OK && verdict == GROVE_INFEASIBLE && gang->anchor.key) {
            st = explain_anchor(e, d, &gang->anchor, err);
        }
    }
    return st == GROVE_OK ? grove_store_mark(e->store, d->ns.p, d->set.p) : st;
}

static grove_status decide(grove_engine *e, gv_str ns, gv_str name, gv_str set,
                           const gv_view_gang *gang, grove_error *err) {
    grove_status st = grove_sched_place(e->view.sched, e->view.gang, NULL, e->view.decision, err);
    return st < 0 ? st : keep_decision(e, ns, name, set, gang, err);
}

/* ---- looking at gangs ---- */

typedef struct candidate {
    gv_str key;
    const grove_node *podgang;
    int64_t priority, created;
    bool has_its_least; /* it runs, and waits for room for more */
    bool fresh;         /* decided in this step: nobody has been told */
    bool tied;          /* to the places of others */
    bool may_grow;      /* its decision leaves pods out that it could do without */
} candidate;

static int by_service(const void *a, const void *b, void *ctx) {
    const candidate *x = a, *y = b;
    (void)ctx;
    if (x->priority != y->priority) {
        return x->priority > y->priority ? -1 : 1;
    }
    if (x->has_its_least != y->has_its_least) {
        return y->has_its_least ? -1 : 1;
    }
    if (x->created != y->created) {
        return x->created < y->created ? -1 : 1;
    }
    return gv_str_cmp(x->key, y->key);
}

int64_t gv_gangs_priority(const grove_engine *e, const grove_node *podgang) {
    gv_str name = gv_node_str(gv_node_path(podgang, "spec.priorityClassName"));
    return name.n ? gv_node_get_int(gv_config_priority_class(e->config, name), "value", 0) : 0;
}

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

/* Every podgroup of the gang has its minimum on nodes. */
static bool is_scheduled(const grove_engine *e, gv_str ns, gv_str gang) {
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
    return base.n > 0 && !is_scheduled(e, ns, base);
}

/* Gives the places of a decision back; what is bound has its own. */
void gv_gangs_take_back(grove_engine *e, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    for (uint32_t i = 0; d && i < d->placement.n_pods; i++) {
        const gv_object *pod = gv_store_get(e->store, GV_KIND_POD, d->ns,
                                            gv_str_c(d->placement.pods[i].pod));
        if (!pod || !gv_pod_is_bound(&pod->u.pod)) {
            gv_view_release(&e->view, gv_str_c(d->placement.pods[i].uid));
        }
    }
    gv_gangs_drop(e, key);
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

static grove_status reopen(grove_engine *e, gv_str key) {
    if (!gv_map_put(&e->gangs_to_check, key, e) || !gv_map_put(&e->favoured, key, e)) {
        return GROVE_E_NOMEM;
    }
    gv_gangs_take_back(e, key);
    return GROVE_OK;
}

static bool is_unplaced(const grove_engine *e, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    return d && !d->reserved &&
           (d->placement.verdict == GROVE_VERDICT_INFEASIBLE ||
            d->placement.verdict == GROVE_VERDICT_UNKNOWN);
}

/* Less important gangs make room for it; one that has waited too long is not overtaken any more. */
static grove_status make_room_for(grove_engine *e, const candidate *c, grove_error *err) {
    grove_status st = is_unplaced(e, c->key) ? gv_engine_preempt(e, c->key, c->podgang, err)
                                             : GROVE_OK;
    return st == GROVE_OK && is_unplaced(e, c->key)
               ? gv_engine_keep_room(e, c->key, c->podgang, err)
               : st;
}

static grove_status look_at(grove_engine *e, candidate *c, uint32_t flags, grove_error *err) {
    const grove_node *meta = grove_node_get(c->podgang, "metadata");
    gv_str ns = gv_node_get_str(meta, "namespace"), name = gv_node_get_str(meta, "name");
    gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
    gv_view_gang gang;
    if (is_suspended(e, ns, set)) {
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
        gv_gangs_drop(e, c->key);
        return GROVE_OK;
    }
    int64_t until = gv_view_leaving(e->store, ns, c->podgang, &gang);
    if (until > e->now && !favoured) {
        return hold(e, c->key, until) < 0 ? gv_error_nomem(err) : GROVE_OK;
    }
    c->fresh = !favoured;
    st = decide(e, ns, name, set, &gang, err);
    return st == GROVE_OK && favoured ? make_room_for(e, c, err) : st;
}

/* ---- together ---- */

static bool is_placed(grove_engine *e, const candidate *c) {
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

static grove_status describe_batch(grove_engine *e, candidate *const *list, uint32_t n,
                                   grove_error *err) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        gv_view_gang gang;
        st = gv_view_seat_in_batch(&e->view, i);
        if (st == GROVE_OK) {
            swap_seat(&e->view, i);
            st = gv_gangs_describe_least(e, list[i]->podgang, &gang, err);
            st = st < 0 ? st : grove_gang_waiting(e->view.gang, list[i]->created, 0);
            swap_seat(&e->view, i);
        }
    }
    return st;
}

static grove_status keep_batch(grove_engine *e, candidate *const *list, uint32_t n,
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
            st = keep_decision(e, gv_node_get_str(meta, "namespace"), gv_node_get_str(meta, "name"),
                               set, &gang, err);
            swap_seat(&e->view, i);
        }
    }
    return st;
}

/*
 * Each gang in turn takes what is best for itself, and a later one may find no place although all would fit.
 * Where that may be so, those of this step are decided anew, together: in the same order, and nobody loses.
 */
static grove_status decide_together(grove_engine *e, candidate *const *list, uint32_t n,
                                    grove_error *err) {
    candidate *batch[GV_VIEW_BATCH];
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

/*
 * Gangs of one priority that lack their minimum, `n` of them: where there are several, each first gets what
 * it needs to start, and only then, with the minimum of all others held, what it could have beside that.
 */
static grove_status look_at_starters(grove_engine *e, candidate *const *list, uint32_t n,
                                     bool more_follow, grove_error *err) {
    bool alone = n == 1 && !more_follow;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = look_at(e, list[i], alone ? 0 : GV_DESCRIBE_LEAST, err);
    }
    st = st < 0 ? st : decide_together(e, list, n, err);
    for (uint32_t i = 0; st == GROVE_OK && i < n && !more_follow; i++) {
        const gv_decided *d = gv_map_get(&e->decided, list[i]->key);
        if (list[i]->may_grow && (!d || d->placement.verdict == GROVE_VERDICT_PLACED)) {
            gv_gangs_take_back(e, list[i]->key);
            st = look_at(e, list[i], 0, err);
        }
    }
    return st;
}

/* More room is for gangs without a place, and for pods that a placed gang could do without. */
static bool wants_room(const gv_decided *d) {
    return d->placement.verdict != GROVE_VERDICT_PLACED || d->unplaced > 0;
}

grove_status gv_gangs_mark_waiting(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (wants_room(d) &&
            !gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

gv_object *gv_gangs_find(const grove_engine *e, gv_str key) {
    const char *slash = memchr(key.p, '/', key.n);
    gv_str ns = {key.p, (size_t)(slash - key.p)};
    gv_str name = {slash + 1, key.n - ns.n - 1};
    return gv_store_get(e->store, GV_KIND_PODGANG, ns, name);
}

/* Fills `list` with the gangs to look at, in order of service. */
static grove_status collect(grove_engine *e, gv_arena *arena, candidate ***out, uint32_t *out_n) {
    uint32_t n = 0;
    candidate **list = gv_arena_array(arena, candidate *, gv_map_size(&e->gangs_to_check) + 1);
    gv_map_entry *entry;
    for (uint32_t i = 0; list && (entry = gv_map_next(&e->gangs_to_check, &i));) {
        gv_str key = {entry->key, entry->key_len};
        const gv_object *object = gv_gangs_find(e, key);
        if (!object || gv_object_is_terminating(object) ||
            !gv_gangs_ours(e, gv_object_node(object))) {
            gv_gangs_drop(e, key);
            gv_map_remove(&e->gangs_to_check, key);
            continue;
        }
        candidate *c = gv_arena_new(arena, candidate);
        if (!c || !(c->key.p = gv_arena_dup(arena, key))) {
            return GROVE_E_NOMEM;
        }
        c->key.n = key.n;
        c->podgang = gv_object_node(object);
        c->priority = gv_gangs_priority(e, c->podgang);
        c->created = object->u.head.created;
        const gv_decided *d = gv_map_get(&e->decided, key);
        c->has_its_least = (d && d->placement.verdict == GROVE_VERDICT_PLACED) ||
                           is_scheduled(e, gv_str_c(object->u.head.ns),
                                        gv_str_c(object->u.head.name));
        list[n++] = c;
    }
    gv_sort((const void **)(void *)list, n, by_service, NULL);
    *out = list;
    *out_n = n;
    return list ? GROVE_OK : GROVE_E_NOMEM;
}

/* The first from `i` on that has its minimum or another priority. */
static uint32_t end_of_starters(candidate *const *list, uint32_t i, uint32_t n) {
    uint32_t end = i;
    while (end < n && !list[end]->has_its_least && list[end]->priority == list[i]->priority) {
        end++;
    }
    return end;
}

grove_status gv_gangs_reopen_below(grove_engine *e, int64_t priority) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (d->reserved && d->priority < priority &&
            reopen(e, (gv_str){entry->key, entry->key_len}) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static bool any_reserved(const grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        if (((const gv_decided *)entry->value)->reserved) {
            return true;
        }
    }
    return false;
}

/* Whoever is more important chooses first: places held for less important gangs are chosen anew after it. */
static grove_status let_important_choose(grove_engine *e) {
    gv_map_entry *entry;
    int64_t most = INT64_MIN;
    if (!any_reserved(e)) {
        return GROVE_OK;
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->gangs_to_check, &i));) {
        const gv_object *gang = gv_gangs_find(e, (gv_str){entry->key, entry->key_len});
        int64_t priority = gang ? gv_gangs_priority(e, gv_object_node(gang)) : INT64_MIN;
        most = priority > most ? priority : most;
    }
    return gv_gangs_reopen_below(e, most);
}

/* Those that found no place, after all of their priority had their turn: who would have to make room? */
static grove_status make_room(grove_engine *e, candidate *const *list, uint32_t n,
                              grove_error *err) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        st = make_room_for(e, list[i], err);
    }
    return st;
}

static grove_status check_held(grove_engine *e) {
    gv_map_entry *entry;
    for (uint32_t i = 0; (entry = gv_map_next(&e->held, &i));) {
        if (!gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
            return GROVE_E_NOMEM;
        }
    }
    gv_map_clear(&e->held);
    e->held_until = GROVE_NEVER;
    return GROVE_OK;
}

/* Gangs that have waited too long by now. */
static grove_status look_when_due(grove_engine *e, int64_t now) {
    gv_map_entry *entry;
    if (e->look_at > now) {
        return GROVE_OK;
    }
    e->look_at = GROVE_NEVER;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        gv_decided *d = entry->value;
        if (d->look_again > now) {
            e->look_at = d->look_again < e->look_at ? d->look_again : e->look_at;
        } else {
            if (!gv_map_put(&e->gangs_to_check, (gv_str){entry->key, entry->key_len}, e)) {
                return GROVE_E_NOMEM;
            }
            d->look_again = GROVE_NEVER;
            gv_laws_outside(e);
        }
    }
    return GROVE_OK;
}

int64_t gv_engine_gangs_deadline(const grove_engine *e) {
    int64_t spared = gv_victims_spared_until(e);
    return spared < e->look_at ? spared : e->look_at;
}

grove_status gv_engine_place_gangs(grove_engine *e, int64_t now, grove_error *err) {
    grove_status looked = gv_victims_review(e, now);
    looked = looked < 0 ? looked : look_when_due(e, now);
    bool room = looked == GROVE_OK && gv_store_take_capacity_mark(e->store);
    if (room) {
        looked = gv_gangs_mark_waiting(e);
    }
    if (looked == GROVE_OK && (room || e->held_until <= now)) {
        looked = check_held(e);
    }
    if (looked < 0) {
        return gv_error_nomem(err);
    }
    if (gv_map_size(&e->gangs_to_check) == 0) {
        return GROVE_OK;
    }
    if (let_important_choose(e) < 0) {
        return gv_error_nomem(err);
    }
    gv_arena arena;
    candidate **list = NULL;
    uint32_t n = 0;
    gv_arena_init(&arena, e->env);
    grove_status st = collect(e, &arena, &list, &n);
    if (st < 0) {
        gv_error_nomem(err);
    }
    uint32_t limit = n < e->gangs_a_step ? n : e->gangs_a_step;
    for (uint32_t i = 0; st == GROVE_OK && i < limit;) {
        uint32_t end = end_of_starters(list, i, n), stop = end < limit ? end : limit;
        if (end > i) {
            st = look_at_starters(e, list + i, stop - i, end > limit, err);
            st = st < 0 ? st : make_room(e, list + i, stop - i, err);
        } else {
            st = look_at(e, list[i], 0, err);
            stop = i + 1;
        }
        for (; st == GROVE_OK && i < stop; i++) {
            gv_map_remove(&e->gangs_to_check, list[i]->key);
        }
    }
    gv_arena_fini(&arena);
    if (st == GROVE_OK && e->flags & GROVE_ENGINE_CHECK) {
        st = gv_view_verify(&e->view, e->store, err);
    }
    return st;
}

/* ---- for the planner ---- */

grove_status gv_engine_decisions_of(grove_engine *e, gv_str ns, gv_str set,
                                    const grove_placement *const **out, uint32_t *out_n) {
    gv_map_entry *entry;
    e->placements.n = 0;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (gv_str_eq(d->ns, ns) && gv_str_eq(d->set, set) &&
            !gv_vec_push(e->env, &e->placements, &d->placement)) {
            return GROVE_E_NOMEM;
        }
    }
    *out = e->placements.v;
    *out_n = (uint32_t)e->placements.n;
    return GROVE_OK;
}

grove_status gv_engine_withdraw(grove_engine *e, gv_str ns, gv_str gang) {
    grove_status st = gv_engine_check_gang(e, ns, gang); /* first: both may be the decision's own */
    gv_str key = gv_engine_key(&e->op_text, ns, gang);
    if (st < 0 || !key.p) {
        return GROVE_E_NOMEM;
    }
    gv_gangs_take_back(e, key);
    return GROVE_OK;
}

grove_status gv_engine_binding_failed(grove_engine *e, gv_str ns, gv_str pod_name) {
    const gv_object *pod = gv_store_get(e->store, GV_KIND_POD, ns, pod_name);
    return pod ? gv_engine_withdraw(e, ns, gv_str_c(pod->u.pod.gang)) : GROVE_OK;
}
