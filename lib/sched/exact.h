/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search. Pods of one class, and units of equal shape, are interchangeable: they are types, and
 * what a domain can take is a set of count vectors over the types that may still be split at its level.
 *
 *   frontier(host)   = maximal pod counts that fit, host units closed
 *   frontier(domain) = sum of the children's frontiers, capped at the demand, units of its level closed
 *
 * "Closing" a unit turns its contents into one count of its type. The root's demand is then distributed
 * over the domains below the candidate: by sums with the way back, or domain by domain.
 */
#ifndef GV_SCHED_EXACT_H
#define GV_SCHED_EXACT_H

#include "sched/memo.h"
#include "sched/vset.h"
#include "sched/work.h"

/* Types 0..n_classes-1 are pods of that class; the others are units, or domains that stay empty. */
typedef struct gv_type {
    uint32_t level;   /* 0: pods */
    uint32_t seen_on; /* as in gv_unit */
    uint32_t pin;     /* the only domain that may hold it, or GV_NONE */
    uint32_t n_items;
    uint32_t *item_type, *item_count; /* contents of a unit */
    int64_t *amounts;                 /* n_res: what one of it asks for */
    const uint32_t *pods;             /* of a unit, by class; NULL for pods */
    uint32_t total;                   /* of this type in the gang */
    bool empty;                       /* stands for a domain of `level` that stays without pods */
} gv_type;

/* Types that are open at a level: contents of units broader than it, not broader than it themselves. */
typedef struct gv_dims {
    uint32_t n, words;
    uint32_t *type;
    uint32_t *cap;               /* demand of the whole gang */
    uint32_t *index_of;          /* type -> dimension or GV_NONE */
    uint64_t row[GV_VSET_WORDS]; /* the caps as a vector */
} gv_dims;

struct gv_exact;
typedef struct gv_exact {
    const gv_problem *p;
    gv_work *w;
    gv_arena *mem;
    bool usable; /* false: too many types or pods for vectors */
    gv_type *types;
    uint32_t n_types;
    uint32_t empty_domain, empty_host; /* types, or GV_NONE */
    gv_lanes lanes;
    gv_dims *dims; /* by level, up to host + 1 */
    uint32_t limit;
    gv_vset *sets; /* set 0: nothing fits */
    uint32_t n_sets, cap_sets;
    gv_memo memo;
    gv_vheap heap;
    uint32_t host_cap[64]; /* by class: what a host need consider; the whole demand, or less */
    bool stopped;          /* budget or memory: answers may be incomplete */
} gv_exact;

/* types.c */
bool gv_types_build(gv_exact *x);

/* frontier.c: number of the set of what domain d of `level` can take, over dims[level]. */
uint32_t gv_frontier(gv_exact *x, uint32_t level, uint32_t d);
/* Adds how many narrowest label domains and hosts below d can take anything. */
void gv_frontier_usable(gv_exact *x, uint32_t level, uint32_t d, gv_spare *sum);
/* Whether a label domain has the room for one unit of a type as far as sums tell. */
bool gv_sums_allow(const gv_exact *x, const gv_type *t, uint32_t level, uint32_t d);
/* Charges the heap's work to the budget; false when it is spent. */
bool gv_exact_charge(gv_exact *x);
uint32_t gv_exact_keep(gv_exact *x, gv_vset set);

/* oracle.c: the same by listing combinations; not exact when there are too many. */
gv_vset gv_frontier_listed(gv_exact *x, uint32_t level, uint32_t d, uint64_t closable);

/* search.c */
/* The broadest level below `level` on which any unit is packed: those in between decide nothing. */
uint32_t gv_next_used_level(const gv_exact *x, uint32_t level);
typedef struct gv_slice {
    uint32_t domain; /* child */
    uint32_t set;
    const uint64_t *take; /* vector over dims[child level] */
} gv_slice;
typedef struct gv_slices {
    gv_slice *v;
    uint32_t n;
    uint32_t level; /* of the domains in v */
} gv_slices;
/*
 * Distributes `demand` (over dims[level + 1]) to domains below domain d of `level`. On GV_YES the slices
 * (in x->mem) say what each takes.
 */
gv_answer gv_search(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *demand,
                    gv_slices *out);
/* The same with one walk of at most `steps`. */
gv_answer gv_search_briefly(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *demand,
                            uint64_t steps, gv_slices *out);
/* The same with at most `most_used` domains of `child_level` taking anything. */
gv_answer gv_search_few(gv_exact *x, uint32_t level, uint32_t child_level, uint32_t d,
                        const uint64_t *demand, uint32_t most_used, uint64_t steps, gv_slices *out);

#endif
