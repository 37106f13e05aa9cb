/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a pod's spec may change after creation. */
#ifndef GV_SIM_PODRULES_H
#define GV_SIM_PODRULES_H

#include "sim/call.h"

grove_status gv_sim_check_pod_change(gv_sim_call *c, const grove_node *was, const grove_node *next);

#endif
