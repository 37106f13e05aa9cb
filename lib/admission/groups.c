/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for podCliqueScalingGroups. */
#include "admission/rules.h"
#include "model/syntax.h"
#include "value/doc.h"

#define NAME_BUDGET 45

static void check_members(gv_rules *r, const grove_node *group, uint32_t i) {
    gv_str name = gv_node_get_str(group, "name");
    const grove_node *members = grove_node_get(group, "cliqueNames");
    grove_buf unknown;
    grove_buf_init(&unknown, r->env);
    uint32_t j = 0;
    GV_EACH(member, members) {
        gv_str text = gv_node_str(member);
        if (!gv_map_has(&r->cliques, text)) {
            if ((unknown.len && gv_buf_c(&unknown, ", ") < 0) || gv_buf_str(&unknown, text) < 0) {
                r->failed = true;
            }
            if (text.n == 0 && unknown.len == 0 && gv_buf_c(&unknown, "\"\"") < 0) {
                r->failed = true;
            }
        }
    }
    if (unknown.len) {
        gv_rules_error(r, GV_CODE_GROUP_UNKNOWN_CLIQUE, "Invalid", members,
                       gv_group_path(i, ".cliqueNames"), "the set has no clique named %s",
                       gv_buf_view(&unknown).p);
    }
    grove_buf_fini(&unknown);
    GV_EACH(member, members) {
        gv_str text = gv_node_str(member);
        size_t length = r->set_name.n + name.n + text.n;
        if (length > NAME_BUDGET) {
            const char *why = "names of set, group and clique may have %u bytes together, not %u";
            gv_path at = gv_path_fmt(GV_TMPL ".podCliqueScalingGroups[%u].cliqueNames[%u].name", i,
                                     j);
            gv_rules_error(r, GV_CODE_NAME_BUDGET, "Invalid", member, at, why, NAME_BUDGET,
                           (unsigned)length);
            gv_rules_error(r, GV_CODE_NAME_BUDGET, "Invalid", group, gv_group_path(i, ".name"), why,
                           NAME_BUDGET, (unsigned)length);
            gv_rules_error(r, GV_CODE_NAME_BUDGET, "Invalid",
                           gv_node_path(r->root, "metadata.name"), gv_path_fmt("metadata.name"),
                           why, NAME_BUDGET, (unsigned)length);
        }
        j++;
    }
}

static void check_counts(gv_rules *r, const grove_node *group, uint32_t i) {
    int64_t replicas = gv_node_get_int(group, "replicas", 1);
    const grove_node *min = grove_node_get(group, "minAvailable");
    int64_t least = gv_node_get_int(group, "minAvailable", 1);
    if (replicas <= 0) {
        gv_rules_error(r, GV_CODE_REPLICAS, "Invalid", grove_node_get(group, "replicas"),
                       gv_group_path(i, ".replicas"), "replicas must be greater than 0");
    }
    if (min && least <= 0) {
        gv_rules_error(r, GV_CODE_MIN_AVAILABLE, "Invalid", min, gv_group_path(i, ".minAvailable"),
                       "minAvailable must be greater than 0");
    }
    if (min && least > replicas) {
        gv_rules_error(r, GV_CODE_MIN_AVAILABLE, "Invalid", min, gv_group_path(i, ".minAvailable"),
                       "minAvailable %lld is more than the %lld replicas", (long long)least,
                       (long long)replicas);
    }
    const grove_node *scale = grove_node_get(group, "scaleConfig");
    const grove_node *floor = grove_node_get(scale, "minReplicas");
    if (floor && gv_node_get_int(scale, "minReplicas", 0) < least) {
        gv_rules_error(r, GV_CODE_SCALE_MIN, "Invalid", floor,
                       gv_group_path(i, ".scaleConfig.minReplicas"),
                       "the autoscaler may not go below minAvailable %lld", (long long)least);
    }
}

static void check_group_sharing(gv_rules *r, const grove_node *group, uint32_t i) {
    const grove_node *sharing = grove_node_get(group, "resourceSharing");
    if (!sharing) {
        return;
    }
    gv_rules_sharing(r, group, gv_group_path(i, ""));
    gv_map members;
    gv_map_init(&members, r->env);
    GV_EACH(name, grove_node_get(group, "cliqueNames")) {
        if (!gv_map_put(&members, gv_node_str(name), &members)) {
            r->failed = true;
        }
    }
    uint32_t j = 0;
    GV_EACH(entry, sharing) {
        gv_path at = gv_path_fmt("%s.resourceSharing[%u]", gv_group_path(i, "").s, j++);
        gv_rules_sharing_filter(r, entry, at, &members, NULL);
    }
    gv_map_fini(&members);
}

/* A clique listed more than once, in one group or in several, counts once in the message. */
static void check_listed_once(gv_rules *r, const grove_node *groups) {
    gv_map seen;
    grove_buf twice;
    gv_map_init(&seen, r->env);
    grove_buf_init(&twice, r->env);
    bool any = false;
    GV_EACH(group, groups) {
        GV_EACH(name, grove_node_get(group, "cliqueNames")) {
            gv_str text = gv_node_str(name);
            intptr_t times = (intptr_t)gv_map_get(&seen, text);
            if (times == 1) {
                if ((any && gv_buf_c(&twice, ", ") < 0) || gv_buf_str(&twice, text) < 0) {
                    r->failed = true;
                }
                any = true;
            }
            if (times < 2 && !gv_map_put(&seen, text, (void *)(times + 1))) {
                r->failed = true;
            }
        }
    }
    if (any) {
        gv_rules_error(r, GV_CODE_GROUP_CLIQUE_TWICE, "Duplicate", groups,
                       gv_path_fmt(GV_TMPL ".podCliqueScalingGroups.cliqueNames"),
                       "a clique may be in one group only, once: %s", gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
    gv_map_fini(&seen);
}

void gv_rules_groups(gv_rules *r) {
    const grove_node *groups = grove_node_get(r->tmpl, "podCliqueScalingGroups");
    uint32_t i = 0;
    GV_EACH(group, groups) {
        gv_str name = gv_node_get_str(group, "name");
        if (!gv_syntax_subdomain(name)) {
            gv_rules_error(r, GV_CODE_GROUP_NAME, "Invalid", grove_node_get(group, "name"),
                           gv_group_path(i, ".name"),
                           "\"%.*s\" is not a DNS-1123 subdomain (a-z, 0-9, '-' and '.')",
                           (int)name.n, name.p);
        }
        check_members(r, group, i);
        check_counts(r, group, i);
        check_group_sharing(r, group, i);
        i++;
    }
    grove_buf twice;
    grove_buf_init(&twice, r->env);
    if (gv_repeated(r, groups, "name", &twice)) {
        gv_rules_error(r, GV_CODE_GROUP_TWICE, "Duplicate", groups,
                       gv_path_fmt(GV_TMPL ".podCliqueScalingGroups.name"),
                       "several scaling groups are named %s", gv_buf_view(&twice).p);
    }
    grove_buf_fini(&twice);
    check_listed_once(r, groups);
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        gv_str name = gv_node_get_str(clique, "name");
        const grove_node *scale = gv_node_path(clique, "spec.autoScalingConfig");
        if (scale && gv_map_has(&r->member_of, name)) {
            gv_rules_error(r, GV_CODE_GROUP_AUTOSCALED_MEMBER, "Invalid", scale,
                           gv_path_fmt(GV_TMPL ".podCliqueScalingGroups"),
                           "clique \"%.*s\" is scaled by its group: it may have no "
                           "autoScalingConfig of its own",
                           (int)name.n, name.p);
        }
    }
}
