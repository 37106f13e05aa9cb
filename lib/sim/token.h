/* SPDX-License-Identifier: Apache-2.0 */
/* The token controller: fills Secrets that ask for a service account's token. */
#ifndef GV_SIM_TOKEN_H
#define GV_SIM_TOKEN_H

#include "sim/state.h"

/* A Secret or ServiceAccount appeared or changed. */
grove_status gv_sim_token_look(grove_sim *sim, gv_sim_object *o);

#endif
