/* SPDX-License-Identifier: Apache-2.0 */
/* One answer, kept until the next. */
#ifndef GV_SCHED_DECISION_H
#define GV_SCHED_DECISION_H

#include "sched/work.h"

struct grove_decision {
    grove_sched *sched;
    grove_verdict verdict;
    uint64_t steps;
    GV_VEC(uint32_t) nodes;  /* of all podgroups, one after the other */
    GV_VEC(uint32_t) first;  /* podgroup -> offset into nodes; one more entry at the end */
    GV_VEC(uint32_t) needed; /* podgroup -> how many of its nodes belong to the minimum */
    GV_VEC(uint32_t) level;  /* entity -> narrowest level shared, internal; 0: none */
    uint32_t n_groups;
    grove_cost cost;
    int32_t score;
    grove_certificate certificate;
    GV_VEC(grove_victim) victims;
    bool victims_proven; /* no better set exists */
};

/* candidates.c: domains of the root's level in the order in which they are tried. */
typedef struct gv_candidate {
    uint64_t key;
    uint32_t domain;
} gv_candidate;
typedef struct gv_candidates {
    const gv_problem *p;
    gv_candidate *v;
    uint32_t n;
    uint32_t settled;    /* the first of v are the best ones in order, and pass every bound */
    uint32_t considered; /* domains looked at, those that a bound rules out included */
    uint32_t banned;     /* by spread alone */
    gv_bound nearest;    /* the bound that the nearest miss fails */
    uint32_t nearest_domain;
} gv_candidates;
grove_status gv_candidates_gather(const gv_problem *p, gv_arena *mem, gv_candidates *out);
/*
 * The best `n` candidates one after the other until try_one says yes; without looking closely at the rest,
 * so nothing follows from a no. A caller's ordering is not asked.
 */
typedef bool (*gv_few_fn)(const gv_problem *p, uint32_t domain);
grove_status gv_candidates_few(const gv_problem *p, gv_arena *mem, uint32_t n, gv_few_fn try_one,
                               bool *out_found, uint32_t *out_tried);
/* Whether there is a candidate i, which is then v[i]: asked for from 0 on. After a no, v holds those that passed. */
bool gv_candidates_next(gv_candidates *c, uint32_t i);

/* surplus.c: after the minimum, as many further pods as fit, each inside its constraints. */
void gv_surplus_fill(const gv_problem *p);

/* score.c: nodes by index, levels reached, cost and score from the finished puts. */
grove_status gv_decision_fill(const gv_problem *p, grove_decision *d);

/* climb.c: weighted levels short of what was preferred, from the levels reached by entity. */
int64_t gv_climbed(const grove_gang *g, const uint32_t *reached);

/*
 * refill.c: the decision that puts the gang's pods where they are known to go: nodes[i] holds the nodes of
 * podgroup i, members apart, GV_NONE for pods without one; missing entries count as GV_NONE.
 */
grove_status gv_decision_refill(grove_sched *s, const grove_gang *gang,
                                const uint32_t *const *nodes, const uint32_t *n_nodes,
                                grove_decision *d);

/* certificate.c */
void gv_certificate_refusal(grove_decision *d, const gv_refusal *r);
/* Nothing is wrong with the places: a queue of the gang has all that it may have. */
static inline bool gv_certificate_of_queue(const grove_decision *d) {
    return d->verdict == GROVE_INFEASIBLE && (d->certificate.reason == GROVE_REASON_QUEUE_LIMIT ||
                                              d->certificate.reason == GROVE_REASON_QUEUE_SHARE);
}
/* Use and need together would be beyond what a queue may have. */
void gv_certificate_queue(grove_decision *d, grove_reason reason, uint32_t queue, uint32_t resource,
                          int64_t have, int64_t need);
void gv_certificate_bounds(const gv_problem *p, grove_decision *d, const gv_candidates *c);

/* Empties a decision before it is filled. */
void gv_decision_clear(grove_decision *d);

/* cache.c: true when the same question was answered INFEASIBLE and nothing has changed since. */
bool gv_cache_ask(grove_sched *s, const grove_gang *gang, const grove_place_options *o,
                  grove_decision *d);
void gv_cache_keep(grove_sched *s, const grove_gang *gang, const grove_decision *d);
void gv_cache_free(grove_sched *s, struct gv_cache *c);

/* place.c */
/* Required levels by entity; *refusal tells of a level that the topology lacks. NULL: out of memory. */
uint32_t *gv_required_levels(const grove_gang *g, gv_arena *mem, gv_refusal *refusal);
grove_status gv_place(grove_sched *s, const grove_gang *gang, const grove_place_options *o,
                      grove_decision *d);

#endif
