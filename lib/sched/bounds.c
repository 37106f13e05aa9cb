/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Necessary conditions, read off running sums: cheap enough to try on every domain. A condition that
 * fails is a proof. Sums are those of the cluster without the decision in progress, so they hold for a
 * unit alone.
 */
#include "sched/work.h"

static void fails(gv_bound *out, grove_reason reason, uint32_t cls, uint32_t resource, int64_t have,
                  int64_t need) {
    *out = (gv_bound){reason, cls, resource, have, need};
}

/* A host takes all of the unit or nothing: the sum of its requests must fit. */
static void check_host(const gv_problem *p, uint32_t unit, uint32_t node, gv_bound *out) {
    const uint32_t *total = p->totals + (size_t)unit * p->n_classes;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (total[k] > 0 && p->classes[k].column->count[node] < total[k]) {
            fails(out, GROVE_REASON_COUNT, k, GV_NONE, p->classes[k].column->count[node], total[k]);
            return;
        }
    }
    const int64_t *room = gv_node_free(p->s, node), *need = p->amounts + (size_t)unit * p->n_res;
    for (uint32_t r = 0; r < p->n_res; r++) {
        if (need[r] > 0 && room[r] < need[r]) {
            fails(out, GROVE_REASON_RESOURCE, GV_NONE, r, room[r], need[r]);
            return;
        }
    }
}

/* Each child unit needs a domain of its own level below d that could hold it alone. */
static void check_children(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    const gv_unit *u = &p->units[unit];
    for (uint32_t i = 0; i < u->n_children; i++) {
        uint32_t child = p->children[u->first_child + i];
        const gv_unit *c = &p->units[child];
        if (c->pods == 0 || c->pin != GV_NONE) {
            continue;
        }
        uint32_t lo, hi, at;
        gv_problem_range(p->t, u->level, d, c->level, &lo, &hi);
        for (at = lo; at < hi; at++) {
            if (gv_bounds_hold(p, child, c->level == p->host ? p->t->order[at] : at)) {
                break;
            }
        }
        if (at == hi) {
            const uint32_t *total = p->totals + (size_t)child * p->n_classes;
            uint32_t k = 0;
            while (k + 1 < p->n_classes && total[k] == 0) {
                k++;
            }
            fails(out, GROVE_REASON_CAPABILITY, k, GV_NONE, 0, 1);
            return;
        }
    }
}

void gv_bounds_check(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    const gv_unit *u = &p->units[unit];
    out->reason = GROVE_REASON_NONE;
    if (u->level == p->host) {
        check_host(p, unit, d, out);
        return;
    }
    const gv_level *lv = &p->t->levels[u->level];
    const uint32_t *total = p->totals + (size_t)unit * p->n_classes;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t have = p->classes[k].column->sum[u->level][d];
        if (have < total[k]) {
            fails(out, GROVE_REASON_COUNT, k, GV_NONE, (int64_t)have, total[k]);
            return;
        }
    }
    const int64_t *free = lv->free + (size_t)d * p->s->stride;
    const int64_t *need = p->amounts + (size_t)unit * p->n_res;
    for (uint32_t r = 0; p->n_classes > 1 && r < p->n_res; r++) {
        if (need[r] > free[r]) {
            fails(out, GROVE_REASON_RESOURCE, GV_NONE, r, free[r], need[r]);
            return;
        }
    }
    check_children(p, unit, d, out);
}
