/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several sufficient places strands the least: where one resource runs out, what is left of the
 * others is of no use. Amounts are compared as shares of what is free in the whole cluster, so that a
 * place is kept near the mix that the cluster can still offer.
 */
#ifndef GV_SCHED_BALANCE_H
#define GV_SCHED_BALANCE_H

#include "sched/problem.h"

#define GV_SHARE (INT64_C(1) << 40) /* everything that is free */
#define GV_MISFIT_STEPS 31          /* misfits lie in 0 .. 2 * steps */

/* An amount as a share of what is free in the cluster. */
static inline int64_t gv_share(const gv_problem *p, uint32_t r, int64_t amount) {
    if (amount <= 0) {
        return 0;
    }
    return p->share_div[r] ? amount / p->share_div[r] : amount * p->share_mul[r];
}

static inline int64_t gv_stranded(const gv_problem *p, const int64_t *room, const int64_t *need,
                                  int64_t times) {
    int64_t base = gv_share(p, p->rank_res, room[p->rank_res] - times * need[p->rank_res]);
    int64_t sum = 0;
    for (uint32_t i = 0; i < p->n_shares; i++) {
        uint32_t r = p->shares[i];
        int64_t other = gv_share(p, r, room[r] - times * need[r]);
        sum += other < base ? base - other : 0;
    }
    return sum;
}

/* How much worse the mix gets by taking `times` * need, in steps of a part of what is taken. */
static inline uint32_t gv_misfit(const gv_problem *p, const int64_t *room, const int64_t *need,
                                 int64_t times) {
    if (p->n_shares == 0) {
        return GV_MISFIT_STEPS;
    }
    int64_t step = gv_share(p, p->rank_res, times * need[p->rank_res]) / 4 + 1;
    int64_t worse = gv_stranded(p, room, need, times) - gv_stranded(p, room, need, 0);
    int64_t steps = worse / step;
    steps = steps < -GV_MISFIT_STEPS ? -GV_MISFIT_STEPS : steps;
    steps = steps > GV_MISFIT_STEPS ? GV_MISFIT_STEPS : steps;
    return (uint32_t)(steps + GV_MISFIT_STEPS);
}

#endif
