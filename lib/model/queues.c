/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of a scheduler profile, config.queues, and by what a set names its own. */
#include "model/queues.h"

#include "model/labels.h"
#include "value/doc.h"

const gv_scheduler_profile *gv_config_queued(const grove_config *config) {
    for (size_t i = 0; i < config->schedulers.n; i++) {
        if (config->schedulers.v[i].queues) {
            return &config->schedulers.v[i];
        }
    }
    return NULL;
}

gv_queue_setting gv_config_queue_setting(const grove_node *entry) {
    return (gv_queue_setting){.name = gv_node_get_str(entry, "name"),
                              .parent = gv_node_get_str(entry, "parent"),
                              .deserved = grove_node_get(entry, "deserved"),
                              .limit = grove_node_get(entry, "limit"),
                              .weight = (uint32_t)gv_node_get_int(entry, "weight", 1),
                              .priority = (int32_t)gv_node_get_int(entry, "priority", 0)};
}

gv_str gv_queue_key_of(const grove_node *labels, const grove_node *annotations) {
    gv_str queue = gv_node_get_str(labels, GV_KEY_KAI_QUEUE);
    return queue.n ? queue : gv_node_get_str(annotations, GV_KEY_KAI_QUEUE);
}

bool gv_set_queue_name(const grove_node *set, gv_str *out_name) {
    const grove_node *meta = grove_node_get(set, "metadata");
    gv_str name = gv_queue_key_of(grove_node_get(meta, "labels"),
                                  grove_node_get(meta, "annotations"));
    GV_EACH(clique, gv_node_path(set, "spec.template.cliques")) {
        gv_str one = gv_queue_key_of(grove_node_get(clique, "labels"),
                                     grove_node_get(clique, "annotations"));
        if (one.n && name.n && !gv_str_eq(one, name)) {
            return false;
        }
        name = name.n ? name : one;
    }
    *out_name = name;
    return true;
}
