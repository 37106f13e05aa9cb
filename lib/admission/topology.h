/* SPDX-License-Identifier: Apache-2.0 */
/* Topology constraints of a set, seen as one list: the set's own, then cliques', then groups'. */
#ifndef GV_ADMISSION_TOPOLOGY_H
#define GV_ADMISSION_TOPOLOGY_H

#include "admission/rules.h"
#include "base/vec.h"

typedef enum gv_constraint_level {
    GV_CONSTRAINT_SET,
    GV_CONSTRAINT_CLIQUE,
    GV_CONSTRAINT_GROUP
} gv_constraint_level;

typedef struct gv_constraint {
    gv_constraint_level level;
    uint32_t index;
    const grove_node *owner; /* template, clique or group */
    const grove_node *node;  /* its topologyConstraint */
    gv_path path;
} gv_constraint;

typedef GV_VEC(gv_constraint) gv_constraints;

bool gv_constraints_of(gv_rules *r, const grove_node *tmpl, gv_constraints *out);

/* pack.required, or the deprecated packDomain; "" when there is none. */
gv_str gv_constraint_required(const grove_node *constraint);
gv_str gv_constraint_preferred(const grove_node *constraint);

/* What kept a topology name from being found. */
typedef struct gv_topology_name {
    gv_str name; /* "" when none was found */
    uint32_t missing, conflicting;
} gv_topology_name;

/* Resolves the one name by inheritance; with `report` each failure becomes a finding. */
gv_topology_name gv_topology_resolve(gv_rules *r, const gv_constraints *all, bool report);

#endif
