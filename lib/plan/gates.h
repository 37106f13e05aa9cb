/* SPDX-License-Identifier: Apache-2.0 */
/* Taking Grove's gate off a pod. */
#ifndef GV_PLAN_GATES_H
#define GV_PLAN_GATES_H

#include "plan/work.h"

/* One JSON patch: tests and removes the gate; with an adapter that releases pods to their place, the
 * required domains of the chosen node and the node itself as a preference go in with it. */
grove_status gv_gate_open(gv_work *w, const gv_work_gang *g, const gv_work_clique *c,
                          const gv_pod *p);

/* gangs.c: the merge patch of a PodGang that was seen, its body still to be finished; NULL: no memory. */
gv_act *gv_gang_patch(gv_work *w, gv_work_gang *g, const char *reason, const char *what);

/* places.c: the PodGang remembers which node each index has, once the pods have theirs. */
grove_status gv_gang_remember(gv_work *w, gv_work_gang *g);

/*
 * disrupt.c: a gang that makes room for another one. Its condition comes first and stands until none of its
 * pods is left to be evicted, so that no gang is left in part by whoever takes over in between.
 */
grove_status gv_gang_disrupt(gv_work *w, gv_work_gang *g);

/* unplaced.c: the pods of a gang without a place get the condition that says so, once. */
grove_status gv_gang_tell_unplaced(gv_work *w, const gv_work_gang *g, const char *text);
/* It has no place, and is released nevertheless so that nodes are added for it. */
bool gv_gang_goes_unplaced(const gv_work *w, const gv_work_gang *g);
/* Its pods were handed to a stock scheduler, and the minimum is not bound yet. */
bool gv_gang_is_out(const gv_work *w, const gv_work_gang *g);
/* A gang that has been out for too long is made anew, gated. Counted from the condition in its status. */
#define GV_RELEASE_LIMIT_NS (60 * GV_NS_PER_S)
grove_status gv_gang_take_back(gv_work *w, gv_work_gang *g);

/* gang_wait.c: tells how long the gang still waits for its minimum, or takes back what it holds. */
grove_status gv_gang_wait(gv_work *w, gv_work_gang *g);
/* It has waited for too long: its new pods stay gated until the former ones are gone. */
bool gv_gang_is_made_anew(const gv_work *w, const gv_work_gang *g);

#endif
