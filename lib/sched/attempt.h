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

#endif
