/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a clique's pods are given up. */
#ifndef GV_PLAN_VICTIMS_H
#define GV_PLAN_VICTIMS_H

#include "plan/work.h"

/* Fills `out` (room for c->n_pods) with the active pods, first to go first. False: out of memory. */
bool gv_pod_victims(gv_work *w, const gv_work_clique *c, const gv_pod **out);

/* freeing.c: ranks parallel to c->pods, the lowest goes first; NULL where it is not asked for. They decide
 * between pods that are equally well. False: out of memory. */
bool gv_freeing_ranks(gv_work *w, const gv_work_clique *c, const uint32_t **out);

#endif
