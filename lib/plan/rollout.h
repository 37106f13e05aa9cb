/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of a rolling update, for the files that share it. */
#ifndef GV_PLAN_ROLLOUT_H
#define GV_PLAN_ROLLOUT_H

#include "plan/work.h"

void gv_judge(gv_work *w); /* facts.c: breaches and availability, once progress is known */
void gv_progress_finish(gv_progress *p);

/* One replica of a scaling group: rollout_members.c. */
typedef struct gv_index_state {
    bool old; /* some living member carries another hash than its template's */
    bool
        broken; /* some member has fewer scheduled or ready pods than its minimum; or of an old one some
                      member is gone, as when it could be taken down in part only */
    bool complete; /* all members live, are of the new version and have their minimum */
    bool absent;   /* no living member */
    bool parked;   /* of the new version, and the scheduler has no room for some pod of it */
} gv_index_state;
gv_index_state gv_index_look(gv_work *w, const gv_work_group *g, int64_t r);
bool gv_index_works(gv_work *w, const gv_work_group *g, int64_t r);
/* What is missing is not made anew before the last of the old ones was told to go: it would go with them. */
void gv_index_hold_back(gv_work *w, const gv_work_group *g, int64_t r);
grove_status gv_index_remove(gv_work *w, gv_work_group *g, int64_t r, const char *why);

grove_status gv_roll_pods(gv_work *w, gv_work_clique *c);   /* rollout_pods.c */
grove_status gv_roll_members(gv_work *w, gv_work_group *g); /* rollout_members.c */

#endif
