/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for a ClusterTopologyBinding. */
#include "admission/rules.h"
#include "value/doc.h"

/* The only scheduler that keeps a topology object of its own. */
#define TOPOLOGY_AWARE "kai-scheduler"

static void check_level(gv_rules *r, const grove_node *level, uint32_t i, const char *key,
                        gv_map *seen) {
    gv_str text = gv_node_get_str(level, key);
    if (gv_map_has(seen, text)) {
        gv_rules_error(r, GV_CODE_LEVEL_TWICE, "Duplicate", grove_node_get(level, key),
                       gv_path_fmt("spec.levels[%u].%s", i, key),
                       "\"%.*s\" stands at an earlier level already", (int)text.n, text.p);
    } else if (!gv_map_put(seen, text, seen)) {
        r->failed = true;
    }
}

/* The path keeps the field's former name, as Grove's does. */
static void check_scheduler(gv_rules *r, const grove_node *entry, uint32_t i, gv_map *seen) {
    const grove_node *node = grove_node_get(entry, "schedulerName");
    gv_str name = gv_node_str(node);
    gv_path path = gv_path_fmt("spec.schedulerTopologyReferences[%u].schedulerName", i);
    if (gv_map_has(seen, name)) {
        gv_rules_error(r, GV_CODE_BINDING_TWICE, "Duplicate", node, path,
                       "\"%.*s\" is bound already", (int)name.n, name.p);
    } else if (!gv_map_put(seen, name, seen)) {
        r->failed = true;
    }
    if (!gv_rules_scheduler_enabled(r, name)) {
        gv_rules_error(r, GV_CODE_BINDING_SCHEDULER, "Invalid", node, path,
                       "scheduler \"%.*s\" is not enabled", (int)name.n, name.p);
    } else if (!gv_str_is(name, TOPOLOGY_AWARE)) {
        gv_rules_error(r, GV_CODE_BINDING_SCHEDULER, "Invalid", node, path,
                       "scheduler \"%.*s\" keeps no topology", (int)name.n, name.p);
    }
}

void gv_rules_binding(gv_rules *r) {
    gv_map domains, keys, schedulers;
    gv_map_init(&domains, r->env);
    gv_map_init(&keys, r->env);
    gv_map_init(&schedulers, r->env);
    uint32_t i = 0;
    GV_EACH(level, gv_node_path(r->root, "spec.levels")) {
        check_level(r, level, i, "domain", &domains);
        check_level(r, level, i, "key", &keys);
        i++;
    }
    i = 0;
    GV_EACH(entry, gv_node_path(r->root, "spec.schedulerTopologyBindings")) {
        check_scheduler(r, entry, i++, &schedulers);
    }
    gv_map_fini(&domains);
    gv_map_fini(&keys);
    gv_map_fini(&schedulers);
}
