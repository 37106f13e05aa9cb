/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The working memory of decisions, kept from one to the next: an arena, and an overlay in which a
 * decision in progress takes room on nodes without changing the cluster.
 */
#ifndef GV_SCHED_WORK_H
#define GV_SCHED_WORK_H

#include "sched/problem.h"
#include "sched/vset.h"

/* One entry of the decision in progress: `count` pods of a part on a node. */
typedef struct gv_put {
    uint32_t part, node, count;
} gv_put;

typedef struct gv_touched {
    uint32_t node;
    uint32_t pods; /* put there by this decision */
} gv_touched;

typedef struct gv_choice {
    uint32_t id;
    uint32_t avail;
    uint32_t dislike; /* smaller is nicer */
    uint32_t used;    /* 2: the decision has pods there already; + 1: a sticky node lies there */
} gv_choice;

typedef GV_VEC(uint32_t) gv_u32_vec;

/* Narrowest label domains and hosts that stay without a pod of the gang. */
typedef struct gv_spare {
    uint32_t domains, hosts;
} gv_spare;

/* Memory of one listing of combinations (oracle.c); listings nest a few deep. */
typedef struct gv_listing_memory {
    gv_word_vec rows, chunks, list_rows, list_keys;
} gv_listing_memory;
#define GV_LISTINGS 4u

typedef struct gv_work {
    gv_arena mem;       /* of one decision */
    gv_arena scratch;   /* of one exact search */
    uint32_t *touch_of; /* node -> index + 1 into touched; 0: untouched */
    size_t cap_nodes;
    GV_VEC(gv_touched) touched;
    GV_VEC(int64_t) rooms; /* by touched, rows of stride */
    GV_VEC(gv_put) puts;
    GV_VEC(uint32_t) in_domain; /* by level and domain: pods put below; see level_at */
    GV_VEC(uint32_t) level_at;  /* level -> offset into in_domain */
    bool wishes;                /* the gang has sticky nodes: the next two count them */
    gv_u32_vec wish_node, wish_domain;
    uint64_t shape; /* topology version that in_domain is laid out for */
    uint32_t topology;
    GV_VEC(uint32_t) seen_node, seen_domain; /* stamps: counted already for the present question */
    uint32_t stamp;
    GV_VEC(gv_choice) choices; /* a stack */
    GV_VEC(uint64_t) keys;     /* a stack as well: of the domains that units may go to */
    GV_VEC(uint64_t) stack;    /* patterns of the walk in progress */
    gv_listing_memory listings[GV_LISTINGS];
    uint32_t listing_depth;
    gv_spare spare_cap;               /* the exact search can be asked to leave so many empty */
    uint32_t likely[8], n_likely;     /* narrowest domains that pass the bounds for everything */
    struct gv_cache *cache;           /* cache.c */
    struct gv_exact *exact;           /* of the problem in progress, in scratch */
    gv_word_vec heap_rows, heap_keys; /* lent to the exact search */
    uint16_t *urgency; /* by unit, then by part: how often it found no place; NULL: not asked for */
    GV_VEC(uint32_t) barred; /* nodes that seem full to greedy passes */
    uint64_t steps, budget;
    grove_status status; /* sticks at the first failure */
} gv_work;

/* Makes the working memory fit the cluster; everything in it is empty afterwards. */
grove_status gv_work_begin(grove_sched *s, uint32_t topology, uint64_t budget);

static inline gv_work *gv_work_of(const gv_problem *p) {
    return (gv_work *)p->s->work;
}
/* False once the budget is spent or memory has run out. */
static inline bool gv_work_step(gv_work *w, uint64_t n) {
    w->steps += n;
    return w->steps <= w->budget && w->status == GROVE_OK;
}

/* Copies of problem class k that fit on the node as the overlay sees it. */
static inline uint32_t gv_work_fit(const gv_problem *p, const gv_work *w, uint32_t node,
                                   uint32_t k) {
    const gv_problem_class *c = &p->classes[k];
    uint32_t n = c->column->count[node];
    uint32_t at = w->touch_of[node];
    if (n == 0 || at == 0) {
        return n;
    }
    return gv_fit(c->cls, w->rooms.v + (size_t)(at - 1) * p->s->stride);
}
/* Room of a node as the overlay sees it. */
static inline const int64_t *gv_work_room(const gv_problem *p, const gv_work *w, uint32_t node) {
    uint32_t at = w->touch_of[node];
    return at ? w->rooms.v + (size_t)(at - 1) * p->s->stride : gv_node_free(p->s, node);
}
static inline uint32_t gv_work_in(const gv_problem *p, const gv_work *w, uint32_t level,
                                  uint32_t d) {
    if (level > p->t->n_levels) {
        uint32_t at = w->touch_of[d];
        return at ? w->touched.v[at - 1].pods : 0;
    }
    return w->in_domain.v[w->level_at.v[level] + d];
}

/* Sticky nodes of the gang inside a domain. */
static inline uint32_t gv_work_wished(const gv_problem *p, const gv_work *w, uint32_t level,
                                      uint32_t d) {
    if (!w->wishes) {
        return 0;
    }
    return level > p->t->n_levels ? w->wish_node.v[d] : w->wish_domain.v[w->level_at.v[level] + d];
}
/* Empties an arena and lets one block hold as much as it took: the next round allocates nothing. */
void gv_work_reset(gv_arena *a);

/* Marks the gang's sticky nodes for the decision; false: out of memory. */
bool gv_work_wish(grove_sched *s, const grove_gang *gang);

/* Puts pods of a part on a node; false when out of memory (sticks). Fit is the caller's business. */
bool gv_work_put(const gv_problem *p, gv_work *w, uint32_t part, uint32_t node, uint32_t count);
/* Takes back every put from index `to` on. */
void gv_work_back(const gv_problem *p, gv_work *w, size_t to);

/* Makes a node that holds no pods seem full to greedy passes, until all are free again. */
bool gv_work_bar(const gv_problem *p, gv_work *w, uint32_t node);
void gv_work_free_barred(const gv_problem *p, gv_work *w);

/* Ends a decision: takes everything back and forgets which nodes were touched. */
void gv_work_end(const gv_problem *p);

/* greedy.c: one pass in one order. True: every part has its pods in `puts`. */
typedef enum gv_pass {
    GV_PASS_LARGE_FIRST,
    GV_PASS_SMALL_FIRST,
    GV_PASS_SCARCE_FIRST,
    GV_PASS_LISTED,
    GV_PASS_REVERSED,
    GV_PASS_ROOMY, /* largest first, into the emptiest domains */
    GV_PASSES,
    GV_PASS_URGENT = GV_PASSES /* what failed most often first: gv_work.urgency */
} gv_pass;
bool gv_greedy_fill(const gv_problem *p, gv_pass pass, uint32_t dom);
/* One pass after the other, each with what has failed so far brought forward: at most `passes`. */
bool gv_greedy_insist(const gv_problem *p, uint32_t dom, uint32_t passes);
/* Copies of a problem class below a domain, and putting up to `need` pods of a part there. */
uint32_t gv_greedy_room(const gv_problem *p, uint32_t cls, uint32_t level, uint32_t d);
uint32_t gv_greedy_spread(const gv_problem *p, uint32_t part, uint32_t need, uint32_t level,
                          uint32_t d);

/* bounds.c */
typedef struct gv_bound {
    grove_reason reason; /* NONE: every bound holds */
    uint32_t cls, resource;
    int64_t have, need;
} gv_bound;
/* The first necessary condition for `unit` inside domain d of its level that does not hold. */
void gv_bounds_check(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out);
/* Its two halves: what is free in the domain, then a place for each unit inside (GROVE_REASON_CAPABILITY). */
void gv_bounds_sums(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out);
void gv_bounds_children(const gv_problem *p, uint32_t unit, uint32_t d, gv_bound *out);
static inline bool gv_bounds_hold(const gv_problem *p, uint32_t unit, uint32_t d) {
    gv_bound b;
    gv_bounds_check(p, unit, d, &b);
    return b.reason == GROVE_REASON_NONE;
}

/* exact.c: whether the root unit fits into domain `dom` of its level, with everything in `puts` if so. */
typedef enum gv_answer { GV_NO, GV_YES, GV_DONT_KNOW } gv_answer;
/* With most_used > 0: using at most so many of the narrowest label domains, searched for briefly. */
gv_answer gv_exact_fill(const gv_problem *p, uint32_t dom, uint32_t frontier_limit,
                        uint32_t most_used);
/*
 * The same with so many of the domains and hosts below `dom` left empty that could take something; at most
 * gv_work.spare_cap of either, which stays as it is from gv_exact_begin on. *out_all: how many there are.
 */
gv_answer gv_exact_fill_sparing(const gv_problem *p, uint32_t dom, uint32_t frontier_limit,
                                const gv_spare *spare);
bool gv_exact_usable(const gv_problem *p, uint32_t dom, uint32_t frontier_limit, gv_spare *out_all);
/* Forgets what gv_exact_fill has remembered about this problem. */
void gv_exact_begin(const gv_problem *p);
/* Gives back what the search borrowed. */
void gv_exact_end(const gv_problem *p);

#endif
