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

/* Whether they hold, without saying which does not. */
static inline bool sums_suffice(const gv_problem *p, const uint32_t *total, const int64_t *need,
                                uint32_t level, uint32_t d) {
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (p->classes[k].column->sum[level][d] < total[k]) {
            return false;
        }
    }
    const int64_t *free = p->t->levels[level].free + (size_t)d * p->s->stride;
    for (uint32_t r = 0; p->n_classes > 1 && r < p->n_res; r++) {
        if (need[r] > free[r]) {
            return false;
        }
    }
    return true;
}

/* The first domain of the unit's own level from `at` on that passes the bounds for it alone; hi: there is none. */
static uint32_t held_from(const gv_problem *p, uint32_t unit, uint32_t at, uint32_t hi) {
    const gv_unit *u = &p->units[unit];
    const uint32_t *total = p->totals + (size_t)unit * p->n_classes;
    const int64_t *need = p->amounts + (size_t)unit * p->n_res;
    for (; at < hi; at++) {
        if (u->level == p->host || u->n_children > 0) {
            if (gv_bounds_hold(p, unit, u->level == p->host ? p->t->order[at] : at)) {
                return at;
            }
        } else if (sums_suffice(p, total, need, u->level, at)) {
            return at;
        }
    }
    return hi;
}

/* The sums of two units over one domain of their level. */
static bool both_suffice(const gv_problem *p, uint32_t a, uint32_t b, uint32_t d) {
    uint32_t level = p->units[a].level;
    const uint32_t *of_a = p->totals + (size_t)a * p->n_classes;
    const uint32_t *of_b = p->totals + (size_t)b * p->n_classes;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (p->classes[k].column->sum[level][d] < (uint64_t)of_a[k] + of_b[k]) {
            return false;
        }
    }
    const int64_t *free = p->t->levels[level].free + (size_t)d * p->s->stride;
    for (uint32_t r = 0; r < p->n_res; r++) {
        int64_t need = p->amounts[(size_t)a * p->n_res + r] + p->amounts[(size_t)b * p->n_res + r];
        if (need > 0 && need > free[r]) {
            return false;
        }
    }
    return true;
}

/* A unit, the first domain that may hold it, and the range they were looked for in. */
typedef struct seat {
    uint32_t unit, first, hi;
} seat;

/* Two units that only one and the same domain may hold must go there together. */
static bool seats_for_both(const gv_problem *p, const seat *a, const seat *b) {
    if (p->units[a->unit].level != p->units[b->unit].level || a->first != b->first ||
        p->units[a->unit].level == p->host) {
        return true;
    }
    return held_from(p, a->unit, a->first + 1, a->hi) < a->hi ||
           held_from(p, b->unit, b->first + 1, b->hi) < b->hi ||
           both_suffice(p, a->unit, b->unit, a->first);
}

/* Each child unit needs a domain of its own level below d that could hold it alone, each two that are listed
 * one after the other at least one more or room for both. */
static void check_children(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    const gv_unit *u = &p->units[unit];
    seat last = {GV_NONE, 0, 0};
    for (uint32_t i = 0; i < u->n_children; i++) {
        uint32_t child = p->children[u->first_child + i], lo;
        const gv_unit *c = &p->units[child];
        if (c->pods == 0 || c->pin != GV_NONE) {
            continue;
        }
        seat now = {child, 0, 0};
        if (last.unit != GV_NONE && same_demand(p, child, last.unit)) {
            now = (seat){child, last.first, last.hi};
        } else {
            gv_problem_range(p->t, u->level, d, c->level, &lo, &now.hi);
            now.first = held_from(p, child, lo, now.hi);
        }
        if (now.first == now.hi || (last.unit != GV_NONE && !seats_for_both(p, &last, &now))) {
            const uint32_t *total = p->totals + (size_t)child * p->n_classes;
            uint32_t k = 0;
            while (k + 1 < p->n_classes && total[k] == 0) {
                k++;
            }
            fails(out, GROVE_REASON_CAPABILITY, k, GV_NONE, now.first == now.hi ? 0 : 1,
                  now.first == now.hi ? 1 : 2);
            return;
        }
        last = now;
    }
}

void gv_bounds_sums(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    const gv_unit *u = &p->units[unit];
    out->reason = GROVE_REASON_NONE;
    if (u->level == p->host) {
        check_host(p, unit, d, out);
    } else {
        (void)sums_hold(p, unit, u->level, d, out);
    }
}

void gv_bounds_children(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    out->reason = GROVE_REASON_NONE;
    if (p->units[unit].level < p->host) {
        check_children(p, unit, d, out);
    }
}

void gv_bounds_check(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out) {
    gv_bounds_sums(p, unit, d, out);
    if (out->reason == GROVE_REASON_NONE) {
        gv_bounds_children(p, unit, d, out);
    }
}
