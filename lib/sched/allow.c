/* SPDX-License-Identifier: Apache-2.0 */
/* How much a gang may have at all, whatever room there is: what its queue may, and those above it. */
#include "sched/decision.h"
#include "sched/queue.h"

static void refuse(const grove_sched *s, grove_decision *d, grove_reason reason, uint32_t queue,
                   uint32_t r, int64_t need) {
    const gv_queue *q = gv_queue_at(s, queue);
    int64_t most = reason == GROVE_REASON_QUEUE_LIMIT ? q->limit[r] : q->deserved[r];
    gv_decision_clear(d);
    d->verdict = GROVE_INFEASIBLE;
    d->steps = 0;
    gv_certificate_queue(d, reason, queue, r, most - q->used[r], need);
}

bool gv_allow_gang(const grove_sched *s, const grove_gang *g, grove_decision *d) {
    int64_t need[GV_RESOURCES_MAX];
    uint32_t r = 0;
    if (g->queue == GROVE_QUEUE_NONE) {
        return true;
    }
    gv_gang_needs(s, g, need);
    uint32_t over = gv_queue_over_limit(s, g->queue, need, &r);
    if (over != GV_NONE) {
        refuse(s, d, GROVE_REASON_QUEUE_LIMIT, over, r, need[r]);
    }
    return over == GV_NONE;
}

bool gv_allow_firm_gang(const grove_sched *s, const grove_gang *g, grove_decision *d) {
    int64_t need[GV_RESOURCES_MAX];
    uint32_t r = 0;
    if (g->queue == GROVE_QUEUE_NONE || (g->flags & GROVE_GANG_NEVER_EVICT) == 0) {
        return true;
    }
    gv_gang_needs(s, g, need);
    uint32_t over = gv_queue_over_deserved(s, g->queue, need, &r);
    if (over != GV_NONE) {
        refuse(s, d, GROVE_REASON_QUEUE_SHARE, over, r, need[r]);
    }
    return over == GV_NONE;
}

uint32_t gv_allow_more(const grove_sched *s, const grove_gang *g, const int64_t *taken,
                       const int64_t *row, uint32_t n) {
    for (uint32_t at = g->queue; at != GROVE_QUEUE_NONE && n > 0; at = gv_queue_at(s, at)->parent) {
        const gv_queue *q = gv_queue_at(s, at);
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            int64_t left = q->limit[r] - q->used[r] - taken[r];
            if (row[r] > 0 && s->resource_fixed.v[r] < 0 && left < row[r] * (int64_t)n) {
                n = left < row[r] ? 0 : (uint32_t)(left / row[r]);
            }
        }
    }
    return n;
}
