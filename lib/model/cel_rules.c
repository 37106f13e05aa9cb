/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CEL rules of the resource definitions, written out by hand: there are six of them, and an
 * evaluator would be larger than all of this layer. Their CEL texts stand beside the types they belong
 * to in lib/model/schema/; each name there has its case here.
 */
#include "model/schema_walk.h"

static bool has(const grove_node *object, const char *member) {
    return grove_node_get(object, member) != NULL;
}

static bool deprecated(const grove_node *owner) {
    return has(grove_node_get(owner, "topologyConstraint"), "packDomain");
}

static bool any_deprecated(const grove_node *list) {
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        if (deprecated(m)) {
            return true;
        }
    }
    return false;
}

bool gv_rule_holds(gv_schema_rule_id rule, const grove_node *self, bool create) {
    const grove_node *set = grove_node_get(grove_node_get(self, "spec"), "template");
    switch (rule) {
    case GV_RULE_PACK_NOT_EMPTY:
        return has(self, "required") || has(self, "preferred");
    case GV_RULE_CONSTRAINT_HAS_PACK:
        return has(self, "pack") || has(self, "packDomain");
    case GV_RULE_CONSTRAINT_ONE_REQUIRED:
        return !has(self, "packDomain") || !has(grove_node_get(self, "pack"), "required");
    case GV_RULE_NEW_SET_WITHOUT_PACK_DOMAIN:
        return !create || !deprecated(set);
    case GV_RULE_NEW_CLIQUES_WITHOUT_PACK_DOMAIN:
        return !create || !any_deprecated(grove_node_get(set, "cliques"));
    case GV_RULE_NEW_GROUPS_WITHOUT_PACK_DOMAIN:
        return !create || !any_deprecated(grove_node_get(set, "podCliqueScalingGroups"));
    case GV_RULE_COUNT:
        break;
    }
    return true;
}
