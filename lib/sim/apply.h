/* SPDX-License-Identifier: Apache-2.0 */
/* What each manager applied to each object last, so that a field left out can be told from one never set. */
#ifndef GV_SIM_APPLY_H
#define GV_SIM_APPLY_H

#include "sim/state.h"

void gv_sim_applied_fini(grove_sim *sim);
/* Forgets what was applied to an object that is gone. */
void gv_sim_applied_forget(grove_sim *sim, const gv_sim_object *o);

#endif
