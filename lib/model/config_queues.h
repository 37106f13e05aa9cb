/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused in the queues of a scheduler profile: part of config_check.c. */
#ifndef GV_MODEL_CONFIG_QUEUES_H
#define GV_MODEL_CONFIG_QUEUES_H

#include "model/schema_walk.h"

/* `config`: path of the profile's config; *elsewhere: a profile before it has queues, or (out) this one. */
void gv_config_queues_check(gv_check *c, const gv_path *config, const grove_node *queues,
                            bool *elsewhere);

#endif
