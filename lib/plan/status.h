/* SPDX-License-Identifier: Apache-2.0 */
/* What the status files share. */
#ifndef GV_PLAN_STATUS_H
#define GV_PLAN_STATUS_H

#include "plan/body.h"
#include "plan/delta.h"

/* Condition types of our own; the gang's stand beside Grove's Initialized without changing its list. */
#define GV_COND_SCALE_BELOW_MIN "libgrove.io/ScaleBelowMinAvailable"
#define GV_COND_GANG_SCHEDULED "libgrove.io/Scheduled"
#define GV_COND_GANG_READY "libgrove.io/Ready"
#define GV_COND_GANG_UNHEALTHY "libgrove.io/Unhealthy"
#define GV_COND_GANG_NOT_ENFORCED "libgrove.io/GangNotEnforced"
#define GV_COND_GANG_RELEASED "libgrove.io/Released"
#define GV_COND_SUSPENDED "libgrove.io/Suspended" /* of the set, and of its PodGangs */
#define GV_COND_FAILED "libgrove.io/Failed"       /* PodClique, PodCliqueScalingGroup */
#define GV_COND_GANG_WAIT "libgrove.io/WaitTimedOut"
#define GV_COND_GANG_UNPLACED "libgrove.io/Unplaced"
#define GV_COND_UPDATE_STALLED "libgrove.io/UpdateStalled" /* PodCliqueSet */

grove_status gv_status_cliques(gv_work *w);
grove_status gv_status_groups(gv_work *w);
grove_status gv_status_gangs(gv_work *w);
grove_status gv_status_set(gv_work *w);

/* A set that cannot be read: its lastErrors, and the event. */
grove_status gv_status_unreadable(gv_work *w, gv_str why);

/* Begins the patch of an object's status; `end` turns it into an action, or does nothing. */
void gv_status_begin(gv_work *w, gv_delta *d);
grove_status gv_status_end(gv_work *w, gv_delta *d, const gv_object *o, gv_memo *memo,
                           uint64_t sig);

/* The events of a status that changed: nothing is scheduled any more, scaled below minAvailable. */
grove_status gv_status_tell(gv_work *w, const gv_object *o, const gv_memo *memo, int64_t scheduled,
                            gv_str lost, bool below, gv_str below_text);

/* A number that people wait for: urgent when it comes to all or none, or leaves all. */
void gv_status_available(gv_delta *d, const grove_node *live, const char *key, int64_t value,
                         int64_t all);

/* Signatures: everything that a status depends on, mixed. */
uint64_t gv_sig_int(uint64_t sig, int64_t v);
uint64_t gv_sig_text(uint64_t sig, gv_str s);
uint64_t gv_sig_faults(const gv_work *w, uint64_t sig);
uint64_t gv_sig_progress(uint64_t sig, const gv_progress *p);

/* failure.c: absent while no unit failed for good. */
gv_condition gv_failed_condition(gv_work *w, int64_t n_failed);
/* gang_wait.c: absent where gangWait is not asked for, and once the gang is scheduled. */
gv_condition gv_gang_wait_condition(gv_work *w, const gv_work_gang *g);
/* status_placed.c: what became of crossGangPack and spread; absent where they were not asked for. */
gv_condition gv_gang_cross_condition(gv_work *w, const gv_work_gang *g);
gv_condition gv_set_spread_condition(gv_work *w);
gv_condition gv_group_spread_condition(gv_work *w, const gv_work_group *g);
/* A ratio that the replicas asked for break (NULL: none), and what is planned instead. */
gv_condition gv_ratio_condition(gv_work *w, const gv_ratio *ratio, int64_t asked, int64_t planned);
uint64_t gv_sig_condition(uint64_t sig, const gv_condition *c);

/* updateStartedAt, updateEndedAt and the hashes of an updateProgress that was entered. */
void gv_status_progress(gv_work *w, gv_delta *d, const grove_node *live, const gv_progress *p);

#endif
