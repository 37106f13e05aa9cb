/* SPDX-License-Identifier: Apache-2.0 */
/* The answers about gangs until their pods are seen bound: kept with the room they hold, told, taken back. */
#include "engine/gangs.h"
#include "engine/view_queues.h"

#include "value/doc.h"

void gv_gangs_drop(grove_engine *e, gv_str key) {
    gv_decided *d = gv_map_remove(&e->decided, key);
    if (d) {
        gv_arena_fini(&d->arena);
        gv_free(e->env, d, sizeof *d);
    }
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

void gv_gangs_wants_nothing(grove_engine *e, gv_str key) {
    const gv_decided *d = gv_map_get(&e->decided, key);
    e->wants_less = e->wants_less || (d && d->wants);
}

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
    d->queue = gv_view_queue_of(&e->view, e->store, ns, set).id;
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
        grove_status st = gv_view_assume(&e->view, seat->pod, nodes[at], seat->class_id, d->queue,
                                         err);
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

/* Its queue, or one above it, may not have so much. */
static grove_status explain_limit(grove_engine *e, gv_decided *d, const grove_certificate *proof,
                                  grove_error *err) {
    const grove_sched *s = e->view.sched;
    int64_t limit = grove_sched_queue_used(s, proof->queue)[proof->resource] + proof->have;
    d->bounded = true;
    d->placement.reason = "QueueLimit";
    d->placement.text = gv_arena_fmt(
        &d->arena,
        "the limit of queue %s does not allow it: of %lld %s it has %lld left, and the gang needs "
        "%lld",
        grove_sched_queue_name(s, proof->queue), (long long)limit,
        grove_sched_resource_name(s, proof->resource), (long long)proof->have,
        (long long)proof->need);
    return d->placement.text ? GROVE_OK : gv_error_nomem(err);
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
    if (proof.reason == GROVE_REASON_QUEUE_LIMIT) {
        return explain_limit(e, d, &proof, err);
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

/* What the gang described last still needs counts as wanted by its queue until it has a place. */
static grove_status keep_wants(grove_engine *e, gv_decided *d, grove_error *err) {
    if (d->queue == GROVE_QUEUE_NONE) {
        return GROVE_OK;
    }
    d->n_wants = grove_sched_resource_count(e->view.sched);
    d->wants = gv_arena_array(&d->arena, int64_t, d->n_wants + 1);
    return d->wants ? grove_gang_needs(e->view.gang, d->wants, d->n_wants) : gv_error_nomem(err);
}

grove_status gv_gangs_bar(grove_engine *e, gv_str ns, gv_str name, gv_str set, grove_error *err) {
    gv_view_queue queue = gv_view_queue_of(&e->view, e->store, ns, set);
    gv_str key = gv_engine_key(&e->op_text, ns, name);
    if (!key.p) {
        return gv_error_nomem(err);
    }
    gv_gangs_take_back(e, key);
    gv_decided *d = gv_gangs_answer(e, ns, name, set);
    if (!d) {
        return gv_error_nomem(err);
    }
    d->barred = true;
    d->placement.verdict = GROVE_VERDICT_INFEASIBLE;
    d->placement.reason = "QueueUnknown";
    d->placement.text = queue.name.n ? gv_arena_fmt(&d->arena, "queue %.*s: %s", (int)queue.name.n,
                                                    queue.name.p, queue.problem)
                                     : queue.problem;
    return d->placement.text ? grove_store_mark(e->store, d->ns.p, d->set.p) : gv_error_nomem(err);
}

grove_status gv_gangs_keep_decision(grove_engine *e, gv_str ns, gv_str name, gv_str set,
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
        st = st < 0 ? st : keep_wants(e, d, err);
        if (st == GROVE_OK && verdict == GROVE_INFEASIBLE && gang->anchor.key && !d->bounded) {
            st = explain_anchor(e, d, &gang->anchor, err);
        }
    }
    return st == GROVE_OK ? grove_store_mark(e->store, d->ns.p, d->set.p) : st;
}

grove_status gv_gangs_decide(grove_engine *e, gv_str ns, gv_str name, gv_str set,
                             const gv_view_gang *gang, grove_error *err) {
    grove_status st = grove_sched_place(e->view.sched, e->view.gang, NULL, e->view.decision, err);
    return st < 0 ? st : gv_gangs_keep_decision(e, ns, name, set, gang, err);
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
