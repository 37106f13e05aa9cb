/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who leads, by a Lease: a machine without I/O and without a clock. It says which request comes next, is told
 * how that ended, and knows until when this process may write.
 *
 * Times are those of a clock that never goes back. The times that stand in a Lease are other machines' and
 * decide nothing: a holder is believed alive for its duration after *we* saw its record change.
 */
#ifndef GV_K8S_LEASE_H
#define GV_K8S_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include <grove/status.h>

typedef enum gv_lease_state {
    GV_LEASE_STANDBY,   /* somebody else leads, or nobody yet */
    GV_LEASE_LEADING,   /* we do */
    GV_LEASE_RELEASING, /* we stop in order: no write any more, the Lease is being given back */
    GV_LEASE_RELEASED,  /* given back, or never held */
    GV_LEASE_LOST,      /* we led and could not renew, or another one leads: for good */
} gv_lease_state;

typedef enum gv_lease_step {
    GV_LEASE_NOTHING,
    GV_LEASE_READ,    /* GET */
    GV_LEASE_CREATE,  /* POST, with us as holder */
    GV_LEASE_TAKE,    /* PUT over what was seen: we are the holder from now on */
    GV_LEASE_RENEW,   /* PUT over what was seen: we go on */
    GV_LEASE_RELEASE, /* PUT over what was seen: nobody is the holder */
} gv_lease_step;

/* What a Lease says. */
typedef struct gv_lease_record {
    uint64_t hash; /* of its spec: two records that differ have different ones */
    bool mine, free;
    int64_t duration; /* nanoseconds */
} gv_lease_record;

typedef struct gv_lease {
    int64_t duration, renew_deadline, retry; /* nanoseconds */
    uint64_t random;                         /* so that candidates do not ask in step */
    gv_lease_state state;
    gv_lease_step next;
    int64_t next_at;
    gv_lease_step running; /* NOTHING: no request is on its way */
    int64_t began_at;      /* of the one that runs */
    bool undrained;        /* giving back waits for writes */
    bool reread;           /* this round has fallen back to reading already */
    bool known;
    gv_lease_record seen;
    int64_t seen_at;
    int64_t renewed_at; /* when the last write that made or kept us holder was sent */
} gv_lease;

/* NULL, or why these times cannot work. */
const char *gv_lease_fault(int64_t duration, int64_t renew_deadline, int64_t retry);
void gv_lease_init(gv_lease *l, int64_t duration, int64_t renew_deadline, int64_t retry,
                   uint64_t seed, int64_t now);
/*
 * The request to send now; NOTHING: none. Its end must be told by gv_lease_answer. writes: some are on their
 * way; the Lease is not given back before they have ended.
 */
gv_lease_step gv_lease_next(gv_lease *l, int64_t now, bool writes);
/*
 * How the request ended. record: the Lease in the answer, NULL when there was none. GROVE_E_NOT_FOUND of a
 * READ means that there is no Lease.
 */
void gv_lease_answer(gv_lease *l, int64_t now, grove_status status, const gv_lease_record *record);
/* Give it back: from now on nothing may be written. */
void gv_lease_resign(gv_lease *l, int64_t now);
/* True while nobody else can hold the Lease: a write may leave. */
bool gv_lease_may_write(const gv_lease *l, int64_t now);
/* Until when it may, as things stand; INT64_MIN: it may not. */
int64_t gv_lease_fence(const gv_lease *l);
/* When to call gv_lease_next again at the latest. */
int64_t gv_lease_deadline(const gv_lease *l);

#endif
