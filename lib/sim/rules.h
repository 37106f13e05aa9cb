/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts: how the containers of which pods behave. */
#ifndef GV_SIM_RULES_H
#define GV_SIM_RULES_H

#include "sim/state.h"

/* The options, overlaid by every rule that matches the pod, oldest first. */
void gv_sim_rules_apply(const grove_sim *sim, const gv_sim_object *pod,
                        gv_sim_behaviour *out_behaviour);
void gv_sim_rules_fini(grove_sim *sim);

#endif
