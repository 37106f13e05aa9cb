/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of a scheduler profile, for gangs that this library's engine places, and by what a set names its own. */
#ifndef GV_MODEL_QUEUES_H
#define GV_MODEL_QUEUES_H

#include "model/config.h"

/* An entry of config.queues. */
typedef struct gv_queue_setting {
    gv_str name, parent;                /* parent "": at the top */
    const grove_node *deserved, *limit; /* quantities by resource; NULL: none */
    uint32_t weight;
    int32_t priority;
} gv_queue_setting;
gv_queue_setting gv_config_queue_setting(const grove_node *entry);

/* The profile that has queues; NULL: none has. */
const gv_scheduler_profile *gv_config_queued(const grove_config *config);

/* The queue that an owner names: its label before its annotation; "" none. */
gv_str gv_queue_key_of(const grove_node *labels, const grove_node *annotations);
/* The set's queue, which every clique that names one must share; else the one its cliques agree on; "" none. false:
 * more than one is named. */
bool gv_set_queue_name(const grove_node *set, gv_str *out_name);

#endif
