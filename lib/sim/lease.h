/* SPDX-License-Identifier: Apache-2.0 */
/* Times of Leases: exactly six digits of a second, as the server reads them. */
#ifndef GV_SIM_LEASE_H
#define GV_SIM_LEASE_H

#include "sim/call.h"

/* 400, or 422 in a patch, when a time of the Lease cannot be read. */
grove_status gv_sim_check_lease(gv_sim_call *c, const grove_node *lease);

#endif
