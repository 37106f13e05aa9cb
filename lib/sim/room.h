/* SPDX-License-Identifier: Apache-2.0 */
/* What pods ask for and what nodes have left, for the built-in schedulers. */
#ifndef GV_SIM_ROOM_H
#define GV_SIM_ROOM_H

#include "sim/state.h"

/* An amount of one resource: cpu in thousandths, everything else in units. */
typedef struct gv_amount {
    gv_str name; /* borrowed from a document that outlives the list */
    int64_t n;
} gv_amount;

typedef GV_VEC(gv_amount) gv_amounts;

typedef struct gv_sim_needs {
    grove_doc *doc; /* holds the names */
    gv_amounts all; /* a pod takes one of "pods" too */
} gv_sim_needs;

typedef struct gv_room {
    const gv_sim_object *node;
    gv_amounts free;
} gv_room;

typedef struct gv_rooms {
    GV_VEC(gv_room) all; /* nodes in order of creation */
    gv_map by_name;      /* node name -> index + 1 */
} gv_rooms;

/* Computed once per pod and kept with it; NULL: out of memory. */
const gv_sim_needs *gv_sim_needs_of(grove_sim *sim, gv_sim_object *pod);
void gv_sim_needs_forget(grove_sim *sim, gv_sim_object *o);

grove_status gv_rooms_make(grove_sim *sim, gv_rooms *out_rooms);
void gv_rooms_fini(grove_sim *sim, gv_rooms *rooms);
bool gv_room_has(const gv_room *room, const gv_sim_needs *needs);
void gv_room_take(gv_room *room, const gv_sim_needs *needs,
                  int64_t sign); /* +1 takes, -1 gives back */

/* Whether taints, cordon, selector and required affinity let the pod onto the node. */
bool gv_room_allows(const gv_sim_object *node, const gv_sim_object *pod);
/* Sum of the weights of the preferred node terms that match. */
int64_t gv_room_preference(const gv_sim_object *node, const gv_sim_object *pod);

#endif
