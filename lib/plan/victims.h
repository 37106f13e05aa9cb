/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which a clique's pods are given up. */
#ifndef GV_PLAN_VICTIMS_H
#define GV_PLAN_VICTIMS_H

#include "plan/work.h"

/* Fills `out` (room for c->n_pods) with the active pods, first to go first. */
void gv_pod_victims(const gv_work *w, const gv_work_clique *c, const gv_pod **out);

#endif
