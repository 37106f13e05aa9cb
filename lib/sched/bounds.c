/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Necessary conditions, read off running sums: cheap enough to try on every domain. A condition that
 * fails is a proof. Sums are those of the cluster without the decision in progress, so they hold for a
 * unit alone.
 */
#include "sched/work.h"

#include <string.h>

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

/* The plain sums of a unit over a label domain. */
static bool sums_hold(const gv_problem *p, uint32_t unit, uint32_t level, uint32_t d,
                      gv_bound *out) {
    const uint32_t *total = p->totals + (size_t)unit * p->n_classes;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t have = p->classes[k].column->sum[level][d];
        if (have < total[k]) {
            fails(out, GROVE_REASON_COUNT, k, GV_NONE, (int64_t)have, total[k]);
            return false;
        }
    }
    const int64_t *free = p->t->levels[level].free + (size_t)d * p->s->stride;
    const int64_t *need = p->amounts + (size_t)unit * p->n_res;
    for (uint32_t r = 0; p->n_classes > 1 && r < p->n_res; r++) {
        if (need[r] > free[r]) {
            fails(out, GROVE_REASON_RESOURCE, GV_NONE, r, free[r], need[r]);
            return false;
        }
    }
    return true;
}

static bool same_demand(const gv_problem *p, uint32_t a, uint32_t b) {
    return p->units[a].level == p->units[b].level && p->units[a].n_children == 0 &&
           p->units[b].n_children == 0 && p->units[b].pin == GV_NONE &&
           memcmp(p->totals + (size_t)a * p->n_classes, p->totals + (size_t)b * p->n_classes,
                  p->n_classes * sizeof *p->totals) == 0;
}

/* Some domain of the unit's own level inside domain d of `level` passes the bounds for it alone. */
static bool held_somewhere(const gv_problem *p, uint32_t unit, uint32_t level, uint32_t d) {
    const gv_unit *u = &p->units[unit];
    gv_bound unused;
    uint32_t lo, hi;
    gv_problem_range(p->t, level, d, u->level, &lo, &hi);
    for (uint32_t at = lo; at < hi; at++) {
        if (u->level == p->host || u->n_children > 0) {
            if (gv_bounds_hold(p, unit, u->level == p->host ? p->t->order[at] : at)) {
                return true;
            }
        } else if (sums_hold(p, unit, u->level, at, &unused)) {
            return true;
        }
    }
    return false;
}

/* Each child unit needs a domain of its own level below d that could hold it alone. */
static void check_children(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    const gv_unit *u = &p->units[unit];
    for (uint32_t i = 0; i < u->n_children; i++) {
        uint32_t child = p->children[u->first_child + i];
        const gv_unit *c = &p->units[child];
        bool again = i > 0 && same_demand(p, child, p->children[u->first_child + i - 1]);
        if (c->pods == 0 || c->pin != GV_NONE || again) {
            continue;
        }
        if (!held_somewhere(p, child, u->level, d)) {
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
    } else if (sums_hold(p, unit, u->level, d, out)) {
        check_children(p, unit, d, out);
    }
}
