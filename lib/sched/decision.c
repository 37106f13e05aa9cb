/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for a decision, reading it, and turning it into pods. */
#include "sched/decision.h"
#include "sched/queue.h"

#include <string.h>

grove_status grove_decision_new(grove_sched *sched, grove_decision **out_decision) {
    if (!sched || !out_decision) {
        return GROVE_E_INVALID;
    }
    grove_decision *d = gv_zalloc(sched->env, sizeof *d);
    if (!d) {
        return GROVE_E_NOMEM;
    }
    d->sched = sched;
    d->verdict = GROVE_UNKNOWN;
    *out_decision = d;
    return GROVE_OK;
}

void gv_decision_clear(grove_decision *d) {
    d->verdict = GROVE_UNKNOWN;
    d->victims_proven = false;
    d->victims.n = d->nodes.n = d->first.n = d->needed.n = d->level.n = 0;
    d->certificate = (grove_certificate){.size = (uint32_t)sizeof d->certificate};
    d->score = 0;
}

void grove_decision_free(grove_decision *decision) {
    if (!decision) {
        return;
    }
    grove_env *env = decision->sched->env;
    gv_vec_fini(env, &decision->nodes);
    gv_vec_fini(env, &decision->first);
    gv_vec_fini(env, &decision->needed);
    gv_vec_fini(env, &decision->level);
    gv_vec_fini(env, &decision->victims);
    gv_free(env, decision, sizeof *decision);
}

/* What every question needs: checked arguments, tree of groups, tree of domains, working memory. */
static grove_status prepare(grove_sched *s, const grove_gang *gang,
                            const grove_place_options *options, const grove_decision *d,
                            grove_place_options *o, grove_error *err) {
    memset(o, 0, sizeof *o);
    if (!s || !gang || !d || gang->sched != s || d->sched != s || gang->topology == GV_NONE) {
        return gv_error(err, GROVE_E_INVALID, "gang and decision must belong to this scheduler");
    }
    if (options) {
        grove_status known = gv_struct_in(o, sizeof *o, options, options->size,
                                          sizeof(uint32_t) * 2);
        if (known < 0) {
            return gv_error(err, known, "grove_place_options has a wrong size");
        }
    }
    grove_status st = gv_gang_link((grove_gang *)(uintptr_t)gang, err);
    if (st < 0) {
        return st;
    }
    uint64_t steps = o->steps ? o->steps : gv_env_limits(s->env)->search_steps;
    if (gv_topology_refresh(s, gang->topology) < 0 || gv_work_begin(s, gang->topology, steps) < 0) {
        return gv_error_nomem(err);
    }
    return gv_work_wish(s, gang) ? GROVE_OK : gv_error_nomem(err);
}

grove_status grove_sched_place(grove_sched *sched, const grove_gang *gang,
                               const grove_place_options *options, grove_decision *decision,
                               grove_error *err) {
    grove_place_options o;
    grove_status st = prepare(sched, gang, options, decision, &o, err);
    if (st < 0) {
        return st;
    }
    if (!gv_allow_gang(sched, gang, decision)) {
        return GROVE_OK;
    }
    if (gv_cache_ask(sched, gang, &o, decision)) {
        return GROVE_OK;
    }
    st = gv_place(sched, gang, &o, decision);
    if (st < 0) {
        return gv_error_nomem(err);
    }
    gv_cache_keep(sched, gang, decision);
    return GROVE_OK;
}

grove_verdict grove_decision_verdict(const grove_decision *decision) {
    return decision->verdict;
}

uint64_t grove_decision_steps(const grove_decision *decision) {
    return decision->steps;
}

const uint32_t *grove_decision_nodes(const grove_decision *decision, uint32_t podgroup,
                                     uint32_t *out_n) {
    if (decision->verdict != GROVE_PLACED || podgroup + 1 >= decision->first.n) {
        *out_n = 0;
        return NULL;
    }
    *out_n = decision->first.v[podgroup + 1] - decision->first.v[podgroup];
    /* A decision without any pod has no list to point into. */
    return decision->nodes.v ? decision->nodes.v + decision->first.v[podgroup] : NULL;
}

grove_level grove_decision_level(const grove_decision *decision, int32_t kind, uint32_t id) {
    size_t at = kind == GROVE_ENTITY_GANG    ? 0
                : kind == GROVE_ENTITY_GROUP ? 1 + (size_t)id
                                             : 1 + (size_t)decision->n_groups + id;
    if (decision->verdict != GROVE_PLACED || at >= decision->level.n) {
        return GROVE_LEVEL_NONE;
    }
    return (grove_level)decision->level.v[at] - 1;
}

grove_status grove_decision_cost(const grove_decision *decision, grove_cost *out_cost) {
    if (decision->verdict != GROVE_PLACED || !out_cost || out_cost->size < sizeof(uint32_t) * 2) {
        return GROVE_E_INVALID;
    }
    uint32_t size = out_cost->size;
    memcpy(out_cost, &decision->cost, size < sizeof *out_cost ? size : sizeof *out_cost);
    out_cost->size = size;
    return GROVE_OK;
}

int32_t grove_decision_score(const grove_decision *decision) {
    return decision->verdict == GROVE_PLACED ? decision->score : 0;
}

grove_status grove_decision_certificate(const grove_decision *decision,
                                        grove_certificate *out_certificate) {
    if (!out_certificate || out_certificate->size < sizeof(uint32_t) * 2) {
        return GROVE_E_INVALID;
    }
    uint32_t size = out_certificate->size;
    memcpy(out_certificate, &decision->certificate,
           size < sizeof *out_certificate ? size : sizeof *out_certificate);
    out_certificate->size = size;
    return GROVE_OK;
}

const grove_victim *grove_decision_victims(const grove_decision *decision, uint32_t *out_n) {
    *out_n = (uint32_t)decision->victims.n;
    return decision->victims.v;
}

int32_t grove_decision_victims_proven(const grove_decision *decision) {
    return decision->victims_proven;
}

/* ---- commit ---- */

/* Pods one after the other; those that no longer fit end it. */
static grove_status insert_all(grove_sched *s, const grove_gang *gang, const grove_decision *d,
                               uint32_t gang_id) {
    for (uint32_t i = 0; i < gang->podgroups.n; i++) {
        const gv_class *c = &s->classes.v[gang->podgroups.v[i].class_id];
        uint32_t first = d->first.v[i], n = d->first.v[i + 1] - first;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t node = d->nodes.v[first + k], id;
            if (node == GV_NONE) {
                continue;
            }
            if (!gv_node_live(s, node) || gv_fit(c, gv_node_free(s, node)) == 0 ||
                !gv_class_allows(s, gang->podgroups.v[i].class_id, node)) {
                return GROVE_E_CONFLICT;
            }
            gv_pod pod = {.node = node,
                          .vector = c->vector,
                          .gang = gang_id,
                          .podgroup = i,
                          .priority = gang->priority,
                          .flags = (k >= d->needed.v[i] ? GV_POD_SURPLUS : 0) |
                                   gang->queue << GV_POD_QUEUE_SHIFT};
            if (gv_pod_insert(s, &pod, &id) < 0) {
                return GROVE_E_NOMEM;
            }
        }
    }
    return GROVE_OK;
}

grove_status grove_sched_commit(grove_sched *sched, const grove_gang *gang,
                                const grove_decision *decision, uint32_t *out_gang,
                                grove_error *err) {
    grove_sched *s = sched;
    if (!s || !gang || !decision || decision->verdict != GROVE_PLACED ||
        decision->first.n != gang->podgroups.n + 1 || !out_gang) {
        return gv_error(err, GROVE_E_INVALID,
                        "only a PLACED decision on this gang can be committed");
    }
    uint64_t mark;
    uint32_t id;
    grove_status st = grove_sched_mark(s, &mark);
    if (st < 0) {
        return gv_error_nomem(err);
    }
    gv_gang_record fresh = {.priority = gang->priority,
                            .base = gang->base,
                            .queue = (uint16_t)gang->queue,
                            .flags = (uint8_t)gang->flags};
    if (fresh.base != GV_NONE) {
        bool there = gv_gang_live(s, fresh.base);
        fresh.base_serial = there ? s->gangs.v[fresh.base].serial : 0;
    }
    st = gv_gang_insert(s, &fresh, &id);
    st = st < 0 ? st : insert_all(s, gang, decision, id);
    if (st < 0) {
        grove_sched_rollback(s, mark);
        return gv_error(err, st,
                        st == GROVE_E_CONFLICT ? "the decision no longer fits the cluster"
                                               : "out of memory");
    }
    grove_sched_keep(s, mark);
    *out_gang = id;
    return GROVE_OK;
}
