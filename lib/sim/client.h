/* SPDX-License-Identifier: Apache-2.0 */
/* A client of the cluster: the backend's seven functions over its own queues. */
#ifndef GV_SIM_CLIENT_H
#define GV_SIM_CLIENT_H

#include "sim/state.h"

extern const grove_backend_ops gv_sim_client_ops;
grove_status gv_sim_client_new(grove_sim *sim, struct gv_sim_client **out_client);

#endif
