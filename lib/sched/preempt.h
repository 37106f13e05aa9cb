/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for victims. Units that can go: surplus pods and pods without a gang one by one, and whole
 * gangs with all that have them as their base. victims.c says who may go, preempt.c walks the domains,
 * minimal.c finds the best set in one of them.
 */
#ifndef GV_SCHED_PREEMPT_H
#define GV_SCHED_PREEMPT_H

#include "sched/decision.h"
#include "sched/queue.h"

typedef struct gv_prey {
    grove_victim who;
    int32_t priority; /* of the most important that goes */
    uint32_t gangs, pods;
    uint32_t first; /* whole gangs: `gangs` entries of gv_hunt.gangs from here on */
    struct gv_prey
        *under;  /* the unit that would take this one along: its gang, or that one's base */
    bool chosen; /* gone in the question that is asked */
    bool in;     /* minimal.c: settled to go */
} gv_prey;

/* What a set of victims costs, and which it is. */
typedef struct gv_toll {
    int32_t priority; /* of the most important victim */
    uint32_t gangs, pods, n;
    gv_prey **who; /* NULL: no set is known */
} gv_toll;

typedef struct gv_hunt {
    grove_sched *s;
    grove_gang *g; /* its anchor and spread are borrowed and given back */
    const grove_place_options *o;
    grove_decision *d;
    gv_arena *mem; /* the scheduler's, so that a warm one allocates nothing */
    gv_prey **all; /* least important first */
    uint32_t n_all;
    uint32_t *gangs; /* of whole-gang units, one list after the other */
    gv_prey **here;  /* of the domain in question */
    uint32_t n_here;
    uint32_t level; /* internal level of the domains */
    uint32_t tests; /* questions asked for this domain */
    uint32_t asked; /* for all */
    bool answering; /* the placement is wanted, not the verdict alone */
    uint64_t steps; /* spent on them */
    int32_t floor;  /* no set is known to do without a victim of this priority */
    bool helpless;  /* not even everything gone would help */
    bool cut;       /* something was left open: the best set found may not be the best there is */
    grove_status st;
    /* reclaim */
    bool reclaim;
    uint32_t scarce; /* the resource in which the victims' queues are weighed */
    uint32_t
        within; /* victims must be of queues below it, as it has all that it may; GROVE_QUEUE_NONE: none has */
    int64_t *less; /* by queue: what the chosen ones would take from its use */
    gv_toll best;
} gv_hunt;

/* victims.c */
grove_status gv_prey_collect(gv_hunt *h); /* fills all, sorted */
bool gv_prey_covered(const gv_prey *v);   /* goes along with a chosen unit */
bool gv_prey_equal(const gv_hunt *h, const gv_prey *a, const gv_prey *b); /* interchangeable */
/* A gang of a unit with pods in the domain, or the pod itself. */
bool gv_prey_in_domain(const gv_hunt *h, const gv_prey *v, uint32_t domain);
/* Reclaim: notes that a unit goes (+1) or stays (-1); false: a queue would fall below its share. */
bool gv_prey_afford(gv_hunt *h, const gv_prey *v, int sign);
/*
 * Reclaim: whether the gang's queue would stay within its share; else the certificate is written. One above it that
 * would not bounds the victims: what they give up there makes up for it.
 */
bool gv_reclaim_entitled(gv_hunt *h);

/* preempt.c: asks again without the chosen ones of `list`; the cluster is as before afterwards. */
grove_verdict gv_hunt_ask(gv_hunt *h, gv_prey *const *list, uint32_t n);

/*
 * minimal.c: the best set among h->here, into h->best when it is better than what is known. `pods` and
 * `gangs` are known to be the least that can do.
 */
void gv_hunt_minimal(gv_hunt *h, uint32_t gangs, uint32_t pods);
/* Gives back whatever of h->best's set can stay, most important first. */
void gv_hunt_thin_out(gv_hunt *h);
bool gv_toll_better(const gv_toll *a, const gv_toll *b);

#endif
