/* SPDX-License-Identifier: Apache-2.0 */
/* Planning a ClusterTopologyBinding: the schedulers' topology objects and the binding's status. */
#ifndef GV_PLAN_BINDING_H
#define GV_PLAN_BINDING_H

#include "plan/work.h"

/* The binding lives, has a uid and is not being deleted. */
grove_status gv_step_binding(gv_work *w, const gv_object *binding);

#endif
