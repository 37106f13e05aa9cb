/* SPDX-License-Identifier: Apache-2.0 */
/* Taking Grove's gate off a pod. */
#ifndef GV_PLAN_GATES_H
#define GV_PLAN_GATES_H

#include "plan/work.h"

/* One JSON patch: tests and removes the gate; with an adapter that releases pods to their place, the
 * required domains of the chosen node and the node itself as a preference go in with it. */
grove_status gv_gate_open(gv_work *w, const gv_work_gang *g, const gv_work_clique *c,
                          const gv_pod *p);

#endif
