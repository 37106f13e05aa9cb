/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: entries of status.conditions. */
#ifndef GV_SIM_CONDITION_H
#define GV_SIM_CONDITION_H

#include "sim/state.h"

/* The entry of that type; NULL when absent. */
const grove_node *gv_sim_condition(const grove_node *object, const char *type);
bool gv_sim_condition_true(const grove_node *object, const char *type);

typedef struct gv_sim_new_condition {
    const char *type;
    const char *status; /* "True", "False", "Unknown"; NULL: leave the condition out */
    const char *reason; /* NULL or "": none */
    const char *message;
} gv_sim_new_condition;

/* Appends one entry; its transition time is `old`'s when old has the same status, else now. */
void gv_sim_build_condition(grove_sim *sim, grove_builder *b, const gv_sim_new_condition *c,
                            const grove_node *old);
/*
 * Appends the member "conditions": the `n` new ones, then those of `object` whose types are not among
 * them, as they are.
 */
void gv_sim_build_conditions(grove_sim *sim, grove_builder *b, const grove_node *object,
                             const gv_sim_new_condition *set, size_t n);
/* Sets conditions in the status of a stored object and leaves the rest of the status. */
grove_status gv_sim_set_conditions(grove_sim *sim, gv_sim_object *o,
                                   const gv_sim_new_condition *set, size_t n);

#endif
