/* SPDX-License-Identifier: Apache-2.0 */
/* One decision in progress, shared by the ladder, the climb of preferred levels and the look at the span. */
#ifndef GV_SCHED_ATTEMPT_H
#define GV_SCHED_ATTEMPT_H

#include "sched/decision.h"

typedef struct gv_attempt {
    grove_sched *s;
    const grove_gang *gang;
    grove_decision *d;
    const grove_place_options *o;
    gv_problem p;
    bool one_domain_bounded; /* some narrowest domain passes the bounds for everything */
} gv_attempt;

/* place.c: one attempt at the given levels, with an empty overlay before and after. */
gv_answer gv_attempt_levels(gv_attempt *a, const uint32_t *levels, int64_t climbed);

/* climb.c: preferred levels from narrow to broad; the cheapest combination that can be placed. */
gv_answer gv_climb(gv_attempt *a, const uint32_t *required, uint32_t n_entities);

/* span.c: fewer narrowest domains, then fewer hosts, for what has been found. */
void gv_span_shrink(gv_attempt *a);
uint32_t gv_domains_used(const gv_problem *p, uint32_t level);
uint32_t gv_hosts_used(const gv_problem *p);

/* A finished set of puts, kept aside. */
typedef struct gv_kept {
    gv_put *v;
    size_t n;
    uint32_t domains, hosts; /* narrowest label domains and hosts that it takes */
} gv_kept;
bool gv_kept_take(const gv_problem *p, gv_kept *k);
void gv_kept_restore(const gv_problem *p, const gv_kept *k);
/* The puts at hand take fewer domains, or as many and fewer hosts. */
bool gv_kept_beaten(const gv_problem *p, const gv_kept *k);

/* spare.c: the same where few hosts are in question: as many as possible of them are left empty. */
#define GV_SPARE_HOSTS 72u /* below a domain of the root's level */
#define GV_SPARE_CANDIDATES 6u
bool gv_spare_applies(const gv_attempt *a);
void gv_spare_more(gv_attempt *a);

/* repack.c: greedy passes on chosen domains, or with `hosts` on chosen hosts, fewer than `best` takes. */
void gv_repack(gv_attempt *a, gv_candidates *c, bool hosts, uint32_t least, gv_kept *best);

#endif
