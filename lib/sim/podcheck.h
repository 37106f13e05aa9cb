/* SPDX-License-Identifier: Apache-2.0 */
/* What an API server refuses in a new pod, as far as manifests of sets run into it. */
#ifndef GV_SIM_PODCHECK_H
#define GV_SIM_PODCHECK_H

#include "sim/call.h"

/* 422 with the first thing wrong. */
grove_status gv_sim_check_pod(gv_sim_call *c, const grove_node *spec);

#endif
