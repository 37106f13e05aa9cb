/* SPDX-License-Identifier: Apache-2.0 */
/* The states of an election, as client-go's candidates go through them, and the fence around writes. */
#include "lease.h"

#include <grove/sys/util.h>

#define SECOND INT64_C(1000000000)
#define LONGEST_MARGIN (2 * SECOND)
#define LONGEST (INT64_C(86400) * SECOND)

const char *gv_lease_fault(int64_t duration, int64_t renew_deadline, int64_t retry) {
    if (retry <= 0 || renew_deadline <= 0 || duration < SECOND || duration > LONGEST) {
        return "a lease lasts from 1 s to a day, and its times are above zero";
    }
    if (duration % SECOND != 0) {
        return "a lease lasts whole seconds";
    }
    if (duration <= renew_deadline) {
        return "the lease must last longer than the renew deadline";
    }
    if (renew_deadline <= retry + retry / 5) {
        return "the renew deadline must be longer than 1.2 retry periods";
    }
    return NULL;
}

void gv_lease_init(gv_lease *l, int64_t duration, int64_t renew_deadline, int64_t retry,
                   uint64_t seed, int64_t now) {
    *l = (gv_lease){.duration = duration,
                    .renew_deadline = renew_deadline,
                    .retry = retry,
                    .random = seed,
                    .next = GV_LEASE_READ,
                    .next_at = now};
}

/* What another clock may run faster by, and what a write may take to leave. */
static int64_t margin(const gv_lease *l) {
    int64_t fifth = l->duration / 5;
    return fifth < LONGEST_MARGIN ? fifth : LONGEST_MARGIN;
}

/* How long a holder that does not renew may go on. */
static int64_t patience(const gv_lease *l) {
    int64_t lasts = l->duration - margin(l);
    return lasts < l->renew_deadline ? lasts : l->renew_deadline;
}

int64_t gv_lease_fence(const gv_lease *l) {
    return l->state == GV_LEASE_LEADING ? l->renewed_at + patience(l) : INT64_MIN;
}

bool gv_lease_may_write(const gv_lease *l, int64_t now) {
    return now < gv_lease_fence(l);
}

static void plan(gv_lease *l, gv_lease_step step, int64_t at) {
    l->next = step;
    l->next_at = at;
}

static void end(gv_lease *l, gv_lease_state state) {
    l->state = state;
    plan(l, GV_LEASE_NOTHING, INT64_MAX);
}

static bool holds(const gv_lease *l) {
    return l->state == GV_LEASE_LEADING || l->state == GV_LEASE_RELEASING;
}

/* A holder that could not renew for so long is none. */
static void expire(gv_lease *l, int64_t now) {
    if (holds(l) && now >= l->renewed_at + patience(l)) {
        end(l, GV_LEASE_LOST);
    }
}

gv_lease_step gv_lease_next(gv_lease *l, int64_t now, bool writes) {
    expire(l, now);
    l->undrained = writes && l->next == GV_LEASE_RELEASE;
    if (l->undrained || l->running != GV_LEASE_NOTHING || l->next == GV_LEASE_NOTHING ||
        now < l->next_at) {
        return GV_LEASE_NOTHING;
    }
    l->running = l->next;
    l->began_at = now;
    return l->running;
}

int64_t gv_lease_deadline(const gv_lease *l) {
    int64_t at = l->running == GV_LEASE_NOTHING && !l->undrained ? l->next_at : INT64_MAX;
    int64_t lost_at = holds(l) ? l->renewed_at + patience(l) : INT64_MAX;
    return at < lost_at ? at : lost_at;
}

/* Nothing came of this round. */
static void next_round(gv_lease *l, int64_t now) {
    int64_t jitter = (int64_t)(grove_random_next(&l->random) % (uint64_t)(l->retry / 5 + 1));
    l->reread = false;
    plan(l, GV_LEASE_READ, now + l->retry + (holds(l) ? 0 : jitter));
}

/* There is a record, and it is fresh: what now? */
static void decide(gv_lease *l, int64_t now) {
    int64_t until = l->seen_at + l->seen.duration;
    if (l->seen.mine) {
        plan(l, l->state == GV_LEASE_RELEASING ? GV_LEASE_RELEASE : GV_LEASE_RENEW, now);
    } else if (l->state == GV_LEASE_LEADING) {
        end(l, GV_LEASE_LOST);
    } else if (l->state == GV_LEASE_RELEASING) {
        end(l, GV_LEASE_RELEASED);
    } else if (l->seen.free || now >= until) {
        plan(l, GV_LEASE_TAKE, now);
    } else {
        next_round(l, now);
        l->next_at = until < l->next_at ? until : l->next_at;
    }
}

static void absent(gv_lease *l, int64_t now) {
    l->known = false;
    if (l->state == GV_LEASE_RELEASING) {
        end(l, GV_LEASE_RELEASED);
    } else {
        plan(l, GV_LEASE_CREATE, now);
    }
}

/* The record is ours now. */
static void held(gv_lease *l, int64_t now) {
    l->reread = false;
    if (l->state != GV_LEASE_RELEASING && now >= l->began_at + patience(l)) {
        plan(l, GV_LEASE_RENEW, now); /* held, but the answer took too long to lead by it */
        return;
    }
    l->renewed_at = l->began_at;
    if (l->state == GV_LEASE_RELEASING) {
        plan(l, GV_LEASE_RELEASE, now);
        return;
    }
    l->state = GV_LEASE_LEADING;
    plan(l, GV_LEASE_RENEW, l->began_at + l->retry);
}

/* A write that failed, or whose answer was lost: read once in this round, then wait. */
static void failed(gv_lease *l, int64_t now) {
    if (holds(l) && !l->reread) {
        l->reread = true;
        plan(l, GV_LEASE_READ, now);
    } else {
        next_round(l, now);
    }
}

void gv_lease_answer(gv_lease *l, int64_t now, grove_status status, const gv_lease_record *record) {
    gv_lease_step ran = l->running;
    l->running = GV_LEASE_NOTHING;
    expire(l, now);
    if (l->state == GV_LEASE_LOST || l->state == GV_LEASE_RELEASED) {
        return;
    }
    if (record && (!l->known || l->seen.hash != record->hash)) {
        l->seen_at = now;
    }
    if (record) {
        l->seen = *record;
        l->known = true;
    }
    if (ran == GV_LEASE_READ && status == GROVE_OK && record) {
        decide(l, now);
    } else if (ran == GV_LEASE_READ && status == GROVE_E_NOT_FOUND) {
        absent(l, now);
    } else if (ran == GV_LEASE_READ || status < 0) {
        failed(l, now);
    } else if (ran == GV_LEASE_RELEASE) {
        end(l, GV_LEASE_RELEASED);
    } else {
        held(l, now);
    }
}

void gv_lease_resign(gv_lease *l, int64_t now) {
    if (l->state == GV_LEASE_LEADING) {
        l->state = GV_LEASE_RELEASING;
        plan(l, GV_LEASE_RELEASE, now);
    } else if (l->state == GV_LEASE_STANDBY) {
        /* a request that would make us holder may be on its way: looked at when it ends */
        bool may_hold = l->running == GV_LEASE_CREATE || l->running == GV_LEASE_TAKE ||
                        l->running == GV_LEASE_RENEW;
        l->state = may_hold ? GV_LEASE_RELEASING : GV_LEASE_RELEASED;
        l->renewed_at = now;
        plan(l, may_hold ? GV_LEASE_READ : GV_LEASE_NOTHING, may_hold ? now : INT64_MAX);
    }
    expire(l, now);
}
