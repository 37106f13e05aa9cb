/* SPDX-License-Identifier: Apache-2.0 */
/* Pods beyond the minimum: best effort, never outside a required domain, never in the way of it. */
#include "sched/decision.h"
#include "sched/queue.h"

/* The domain in which a unit lies by now, or GV_NONE. */
static uint32_t unit_domain(const gv_problem *p, const gv_work *w, uint32_t unit) {
    const gv_unit *u = &p->units[unit];
    if (u->level == 0) {
        return 0;
    }
    if (u->pin != GV_NONE) {
        return u->pin;
    }
    for (size_t i = 0; i < w->puts.n; i++) {
        uint32_t at = p->parts[w->puts.v[i].part].unit;
        while (at != GV_NONE && at != unit) {
            at = p->units[at].parent;
        }
        if (at == unit) {
            return gv_topology_dom(p->t, w->puts.v[i].node, u->level);
        }
    }
    return GV_NONE;
}

/* A unit without any pod yet gets the domain with the most room for the class, inside its parent's. */
static uint32_t choose_domain(const gv_problem *p, gv_work *w, uint32_t unit, uint32_t cls) {
    const gv_unit *u = &p->units[unit];
    uint32_t at = unit_domain(p, w, unit);
    if (at != GV_NONE) {
        return at;
    }
    uint32_t up_level = u->parent == GV_NONE ? 0 : p->units[u->parent].level;
    uint32_t up = u->parent == GV_NONE ? 0 : choose_domain(p, w, u->parent, cls);
    if (up == GV_NONE) {
        return GV_NONE;
    }
    uint32_t lo, hi, best = GV_NONE, most = 0;
    gv_problem_range(p->t, up_level, up, u->level, &lo, &hi);
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t d = u->level == p->host ? p->t->order[i] : i;
        if (!gv_domain_seen(p->t, u->level, d, u->seen_on)) {
            continue;
        }
        uint32_t room = gv_greedy_room(p, cls, u->level, d);
        if (room > most) {
            most = room;
            best = d;
        }
    }
    return best;
}

/* Levels of all constraints on a podgroup: those merged into broader ones ask for a label as well. */
static uint32_t levels_asked(const grove_gang *g, uint32_t podgroup) {
    uint32_t bits = 1u << g->required | 1u << g->podgroups.v[podgroup].required;
    for (uint32_t at = g->podgroups.v[podgroup].parent; at != GV_NONE;
         at = g->groups.v[at].parent) {
        bits |= 1u << g->groups.v[at].required;
    }
    return bits;
}

/* What the gang's queues are charged for in this decision so far: its minimum. */
static void charge_minimum(const gv_problem *p, int64_t *taken) {
    if (p->gang->queue != GROVE_QUEUE_NONE) {
        gv_gang_needs(p->s, p->gang, taken);
    }
}

/* As many as there is room for and the queues allow. */
static void spread(const gv_problem *p, uint32_t part, uint32_t level, uint32_t d, int64_t *taken) {
    uint32_t need = p->parts[part].need;
    if (p->gang->queue == GROVE_QUEUE_NONE) {
        gv_greedy_spread(p, part, need, level, d);
        return;
    }
    const int64_t *row = p->classes[p->parts[part].cls].row;
    need = gv_allow_more(p->s, p->gang, taken, row, need);
    uint32_t got = gv_greedy_spread(p, part, need, level, d);
    for (uint32_t r = 0; r < p->s->resource_names.n; r++) {
        taken[r] += (int64_t)got * row[r];
    }
}

void gv_surplus_fill(const gv_problem *p) {
    gv_work *w = gv_work_of(p);
    int64_t taken[GV_RESOURCES_MAX];
    charge_minimum(p, taken);
    for (uint32_t i = 0; i < p->n_surplus && w->status == GROVE_OK; i++) {
        uint32_t part = p->n_parts + i;
        uint32_t unit = p->parts[part].unit;
        uint32_t d = choose_domain(p, w, unit, p->parts[part].cls);
        uint32_t level = p->units[unit].level;
        if (d != GV_NONE &&
            (level == 0 ||
             gv_domain_seen(p->t, level, d, levels_asked(p->gang, p->parts[part].podgroup)))) {
            spread(p, part, level, d, taken);
        }
    }
}
