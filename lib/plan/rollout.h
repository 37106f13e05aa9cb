/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of a rolling update, for the files that share it. */
#ifndef GV_PLAN_ROLLOUT_H
#define GV_PLAN_ROLLOUT_H

#include "plan/work.h"

void gv_judge(gv_work *w); /* facts.c: breaches and availability, once progress is known */
void gv_progress_finish(gv_progress *p);
grove_status gv_roll_pods(gv_work *w, gv_work_clique *c);   /* rollout_pods.c */
grove_status gv_roll_members(gv_work *w, gv_work_group *g); /* rollout_members.c */

#endif
