/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The problem that one attempt solves: the gang's constraints at fixed levels, as a tree of units. A unit
 * is a set of pods that must lie in one domain of its level; constraints that add nothing to those above
 * them have been merged away.
 */
#ifndef GV_SCHED_PROBLEM_H
#define GV_SCHED_PROBLEM_H

#include "base/arena.h"
#include "sched/gang.h"

/* Pods of one podgroup that belong to a unit directly and still need a place. */
typedef struct gv_part {
    uint32_t podgroup;
    uint32_t cls; /* index into gv_problem.classes */
    uint32_t need;
    uint32_t unit;
} gv_part; /* parts from gv_problem.n_parts on stand for surplus pods: need is then how many */

typedef struct gv_unit {
    int32_t kind; /* GROVE_ENTITY_* of the constraint */
    uint32_t entity;
    uint32_t level; /* 0: anywhere */
    uint32_t
        seen_on; /* bits of levels, its own and merged ones, on which its nodes must have a label */
    uint32_t parent; /* unit; the root has GV_NONE */
    uint32_t pin;    /* domain that members fix, or GV_NONE */
    uint32_t first_part, n_parts;
    uint32_t first_child, n_children; /* range of gv_problem.children */
    uint32_t pods;                    /* needed, descendants included */
    uint32_t type;                    /* of the exact search */
} gv_unit;

typedef struct gv_problem_class {
    uint32_t class_id;
    uint32_t need;
    const gv_class *cls;
    const gv_column *column;
    const int64_t *row; /* requests */
    uint16_t *
        *dislike; /* by level, then domain or node: the least of it below; NULL: none anywhere */
} gv_problem_class;

typedef struct gv_problem {
    grove_sched *s;
    const grove_gang *gang;
    const gv_topology *t;
    uint32_t host;  /* internal host level */
    gv_unit *units; /* parents before children; 0 is the root */
    uint32_t n_units;
    uint32_t *children;
    gv_part *parts;
    uint32_t n_parts, n_surplus;
    gv_problem_class *classes;
    uint32_t n_classes;
    uint32_t *totals; /* unit * n_classes + class: pods needed below the unit */
    int64_t *amounts; /* unit * n_res + resource */
    uint32_t n_res;
    bool wishes;       /* some class has something against some node */
    uint32_t rank_res; /* the resource that is scarcest for this gang */
    uint32_t *shares;  /* the other resources that it asks for, see balance.h */
    uint32_t n_shares;
    int64_t *share_mul, *share_div; /* by resource */
} gv_problem;

/* Why a problem is infeasible before any domain is looked at. */
typedef struct gv_refusal {
    grove_reason reason;
    int32_t kind;
    uint32_t entity;
    uint32_t level;
} gv_refusal;

/*
 * Levels of every entity for one attempt: levels[0] the gang, then groups, then podgroups. Everything is
 * allocated in `mem`. *out_refusal.reason stays GROVE_REASON_NONE when the problem can be solved for.
 */
grove_status gv_problem_build(grove_sched *s, const grove_gang *gang, const uint32_t *levels,
                              gv_arena *mem, gv_problem *out, gv_refusal *out_refusal);

/* dislike.c: looks up what wishes of the classes and soft taints have against each place. */
grove_status gv_problem_dislikes(gv_problem *p, gv_arena *mem);

#define GV_DISLIKE_BITS 13
/* What a pod of class k has against the best node below a domain: 0 when nothing. */
static inline uint32_t gv_dislike(const gv_problem *p, uint32_t k, uint32_t level, uint32_t d) {
    return p->classes[k].dislike ? p->classes[k].dislike[level][d] : 0;
}
/* The same on average over the pods of a unit. */
static inline uint64_t gv_unit_dislike(const gv_problem *p, uint32_t unit, uint32_t level,
                                       uint32_t d) {
    uint64_t sum = 0;
    if (!p->wishes || p->units[unit].pods == 0) {
        return 0;
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        sum += (uint64_t)gv_dislike(p, k, level, d) * p->totals[(size_t)unit * p->n_classes + k];
    }
    return sum / p->units[unit].pods;
}

/* Domains of `level` inside domain `d` of the broader `from`; positions for the host level. */
static inline void gv_problem_range(const gv_topology *t, uint32_t from, uint32_t d, uint32_t level,
                                    uint32_t *out_lo, uint32_t *out_hi) {
    uint32_t lo = d, hi = d + 1;
    if (from > t->n_levels) { /* a host inside itself */
        *out_lo = t->pos[d];
        *out_hi = t->pos[d] + 1;
        return;
    }
    for (uint32_t l = from; l < level && lo < hi; l++) { /* without nodes there is nothing inside */
        uint32_t first = t->levels[l].first[lo];
        hi = t->levels[l].end[hi - 1];
        lo = first;
    }
    *out_lo = lo;
    *out_hi = hi;
}

/* Whether the nodes of a domain have a label on each of the levels, none of them narrower than it. */
static inline bool gv_domain_seen(const gv_topology *t, uint32_t level, uint32_t d,
                                  uint32_t levels) {
    if (!t->gaps) {
        return true;
    }
    uint32_t node = level > t->n_levels ? d : t->order[t->levels[level].lo[d]];
    for (uint32_t l = 1; l <= t->n_levels; l++) {
        if ((levels >> l & 1) && !t->levels[l].labelled[gv_topology_dom(t, node, l)]) {
            return false;
        }
    }
    return true;
}

#endif
