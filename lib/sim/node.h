/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: their failure, what the node lifecycle controller makes of it, and pods whose node is gone. */
#ifndef GV_SIM_NODE_H
#define GV_SIM_NODE_H

#include "sim/state.h"

typedef struct gv_sim_node {
    gv_sim_object *obj; /* borrowed: the object owns it */
    gv_sim_timer timer;
    bool silent;    /* its kubelet does not report */
    bool not_ready; /* and the cluster has noticed */
    bool noticed;   /* and has told the pods */
    bool recovered; /* it reports again: to be said in its status */
} gv_sim_node;

/* A node appeared, changed or went. */
grove_status gv_sim_node_look(grove_sim *sim, gv_sim_object *o);
grove_status gv_sim_node_tick(grove_sim *sim, gv_sim_node *n);
void gv_sim_node_forget(grove_sim *sim, gv_sim_object *o);
/* Whether the node of this pod is silent. */
bool gv_sim_node_silent(const grove_sim *sim, const gv_sim_object *pod);

#endif
