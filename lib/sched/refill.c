/* SPDX-License-Identifier: Apache-2.0 */
/* A decision from places that are known already: decided together with other gangs, or grown pod by pod. */
#include "sched/decision.h"

/* Puts `n` pods of a part on the nodes from `nodes` on, passing over those without one. */
static bool put_pods(const gv_problem *p, uint32_t part, const uint32_t *nodes, uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        if (nodes[k] != GV_NONE && !gv_work_put(p, gv_work_of(p), part, nodes[k], 1)) {
            return false;
        }
    }
    return true;
}

static bool put_all(const gv_problem *p, const uint32_t *const *nodes, const uint32_t *n_nodes) {
    for (uint32_t i = 0; i < p->n_parts + p->n_surplus; i++) {
        uint32_t pg = p->parts[i].podgroup, need = p->parts[i].need;
        const gv_podgroup *group = &p->gang->podgroups.v[pg];
        uint32_t min = group->min > group->members ? group->min - group->members : 0;
        uint32_t from = i < p->n_parts ? 0 : min;
        uint32_t there = from < n_nodes[pg] ? n_nodes[pg] - from : 0;
        if (!put_pods(p, i, nodes[pg] + (there ? from : 0), there < need ? there : need)) {
            return false;
        }
    }
    return true;
}

grove_status gv_decision_refill(grove_sched *s, const grove_gang *gang,
                                const uint32_t *const *nodes, const uint32_t *n_nodes,
                                grove_decision *d) {
    gv_problem p;
    gv_refusal refusal;
    uint64_t steps = d->steps;
    if (gv_topology_refresh(s, gang->topology) < 0 ||
        gv_work_begin(s, gang->topology, UINT64_MAX) < 0 || !gv_work_wish(s, gang)) {
        return GROVE_E_NOMEM;
    }
    gv_work *w = (gv_work *)s->work;
    uint32_t *levels = gv_required_levels(gang, &w->mem, &refusal);
    grove_status st = levels ? gv_problem_build(s, gang, levels, &w->mem, &p, &refusal)
                             : GROVE_E_NOMEM;
    if (st < 0) {
        return st;
    }
    gv_decision_clear(d);
    d->cost.climbed = 0;
    st = put_all(&p, nodes, n_nodes) ? gv_decision_fill(&p, d) : GROVE_E_NOMEM;
    gv_work_end(&p);
    if (st == GROVE_OK) {
        d->verdict = GROVE_PLACED;
        d->steps = steps;
        d->cost.climbed = gv_climbed(gang, d->level.v);
    }
    return st;
}
