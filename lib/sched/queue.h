/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of queues: promises, bounds, use and fair shares. Queue 0 is the root, the whole cluster. */
#ifndef GV_SCHED_QUEUE_H
#define GV_SCHED_QUEUE_H

#include "sched/gang.h"

#define GV_QUEUES_MAX 65535u
#define GV_UNBOUNDED (INT64_MAX / 1048576) /* a limit that is none; sums over all queues fit */

typedef struct gv_queue {
    char *name;
    uint32_t parent, depth; /* the root has depth 0 */
    uint32_t weight;
    int32_t priority;
    bool inner; /* has queues below it */
    int64_t deserved[GV_RESOURCES_MAX], limit[GV_RESOURCES_MAX];
    int64_t firm[GV_RESOURCES_MAX]; /* deserved, or GV_UNBOUNDED where nothing was said */
    int64_t used[GV_RESOURCES_MAX];
    int64_t demand[GV_RESOURCES_MAX], share[GV_RESOURCES_MAX]; /* of the last gv_shares_compute */
} gv_queue;

struct gv_queues {
    gv_map ids; /* name -> id */
    GV_VEC(gv_queue) list;
};

static inline gv_queue *gv_queue_at(const grove_sched *s, uint32_t id) {
    return &s->queues->list.v[id];
}

/* What the gang's minimum still needs, by resource; GV_RESOURCES_MAX entries. */
void gv_gang_needs(const grove_sched *s, const grove_gang *g, int64_t *need);

/*
 * allow.c: whether the gang's minimum is within the limits of its queue and of those above it. false: *d says
 * which is exceeded, and in what.
 */
bool gv_allow_gang(const grove_sched *s, const grove_gang *g, grove_decision *d);
/* A gang that is never evicted cannot be taken back: within what they deserve? */
bool gv_allow_firm_gang(const grove_sched *s, const grove_gang *g, grove_decision *d);
/* How many of n further pods of `row` the queues allow, with `taken` charged to them beside what they use. */
uint32_t gv_allow_more(const grove_sched *s, const grove_gang *g, const int64_t *taken,
                       const int64_t *row, uint32_t n);

/* The queue from `queue` up that `need` more would carry beyond its limit; GV_NONE: none. */
uint32_t gv_queue_over_limit(const grove_sched *s, uint32_t queue, const int64_t *need,
                             uint32_t *out_resource);
/* The same for what they deserve: gangs that can never be evicted must stay within it. */
uint32_t gv_queue_over_deserved(const grove_sched *s, uint32_t queue, const int64_t *need,
                                uint32_t *out_resource);

/* The child of the branches' meeting point on the side of `a`; GV_NONE when `b` lies on the same branch. */
uint32_t gv_queue_branch(const grove_sched *s, uint32_t a, uint32_t b);

/*
 * share.c: fair shares from what is used and what waits (rows of the resources by queue id; NULL:
 * nothing). Nothing to do without queues.
 */
grove_status gv_shares_compute(grove_sched *s, const int64_t *waiting, uint32_t n_waiting);
/* All room for gangs of queues: the cluster's less what pods outside of queues take. */
void gv_shares_total(const grove_sched *s, int64_t *total);

/* -1, 0, 1 as a / b compares with c / d; amounts >= 0; x / 0 is more than anything but 0 / 0, which is 0. */
int gv_ratio_cmp(int64_t a, int64_t b, int64_t c, int64_t d);

#endif
