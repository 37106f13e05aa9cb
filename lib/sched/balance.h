/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several sufficient places strands the least: where one resource runs out, what is left of the
 * others is of no use.
 */
#ifndef GV_SCHED_BALANCE_H
#define GV_SCHED_BALANCE_H

#include "sched/problem.h"

#define GV_SHARE (INT64_C(1) << 40) /* everything that is free */

/* An amount as a share of what is free in the cluster. */
static inline int64_t gv_share(const gv_problem *p, uint32_t r, int64_t amount) {
    if (amount <= 0) {
        return 0;
    }
    return p->share_div[r] ? amount / p->share_div[r] : amount * p->share_mul[r];
}

/* What a demand takes of a room, as a part of 2^28; both are shrunk alike when they are large. */
static inline int64_t gv_taken(int64_t need, int64_t room) {
    while (need >= INT64_C(1) << 34) {
        need >>= 8;
        room >>= 8;
    }
    return (need << 28) / (room > 0 ? room : 1);
}

#define GV_MISFIT_STRANDS \
    32 /* misfits from here on leave something of the scarce resource stranded */

/*
 * How ill `times` * need goes with what a place has, 0 .. 63. When it takes a larger part of another
 * resource than of the scarce one, less and less can follow and the rest of the scarce one is stranded:
 * GV_MISFIT_STRANDS and more. When it takes a smaller part, the place is better kept for gangs that need
 * what it is rich in: up to GV_MISFIT_STRANDS - 1. When nothing scarce is left over, nothing is stranded.
 */
static inline uint32_t gv_misfit(const gv_problem *p, const int64_t *room, const int64_t *need,
                                 int64_t times) {
    int64_t scarce = times * need[p->rank_res], most = 0;
    if (p->n_shares == 0 || scarce <= 0 || scarce >= room[p->rank_res]) {
        return 0;
    }
    scarce = gv_taken(scarce, room[p->rank_res]) + 1;
    for (uint32_t i = 0; i < p->n_shares; i++) {
        uint32_t r = p->shares[i];
        int64_t part = gv_taken(times * need[r], room[r]);
        most = part > most ? part : most;
    }
    if (most < scarce) {
        return (uint32_t)((scarce - 1 - most) * GV_MISFIT_STRANDS / scarce);
    }
    int64_t worse = (most - scarce) * GV_MISFIT_STRANDS / scarce;
    return (uint32_t)(worse < GV_MISFIT_STRANDS ? GV_MISFIT_STRANDS + worse
                                                : 2 * GV_MISFIT_STRANDS - 1);
}

#endif
