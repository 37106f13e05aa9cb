/* SPDX-License-Identifier: Apache-2.0 */
/* Who finds nodes for pods: the built-in schedulers, and those that the caller registered. */
#ifndef GV_SIM_SCHEDULER_H
#define GV_SIM_SCHEDULER_H

#include "sim/state.h"

/* Lets every scheduler look at the pods that wait for it. */
grove_status gv_sim_schedule(grove_sim *sim);
void gv_sim_schedulers_fini(grove_sim *sim);

#endif
