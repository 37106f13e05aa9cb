/* SPDX-License-Identifier: Apache-2.0 */
/* Disruption budgets, counted when somebody asks. */
#ifndef GV_SIM_PDB_H
#define GV_SIM_PDB_H

#include "sim/state.h"

/* Whether every budget that selects `pod` can lose one healthy pod; else `why` names the budget. */
grove_status gv_sim_pdb_allows(grove_sim *sim, const gv_sim_object *pod, bool *out_allowed,
                               char *why, size_t cap);

#endif
