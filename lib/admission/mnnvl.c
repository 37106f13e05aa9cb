/* SPDX-License-Identifier: Apache-2.0 */
/* The annotation grove.io/mnnvl-group at the set, its cliques and its groups. */
#include "admission/rules.h"
#include "model/syntax.h"
#include "value/doc.h"

#define MNNVL "grove.io/mnnvl-group"

static gv_path below(const char *path) {
    return gv_path_fmt("%s." MNNVL, path);
}

static void check_value(gv_rules *r, const grove_node *annotations, const char *path) {
    const grove_node *node = grove_node_get(annotations, MNNVL);
    gv_str value = gv_node_str(node);
    if (!node || gv_str_is(value, "none")) {
        return;
    }
    if (!r->config->auto_mnnvl) {
        gv_rules_error(r, GV_CODE_MNNVL_DISABLED, "Invalid", node, below(path),
                       "automatic MNNVL is not enabled in the operator; only \"none\" is taken");
    }
    if (!gv_syntax_label(value)) {
        gv_rules_error(r, GV_CODE_MNNVL_VALUE, "Invalid", node, below(path),
                       "\"%.*s\" is neither \"none\" nor a DNS-1123 label", (int)value.n, value.p);
    }
}

void gv_rules_mnnvl_create(gv_rules *r) {
    check_value(r, gv_node_path(r->root, "metadata.annotations"), "metadata.annotations");
    uint32_t i = 0;
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        check_value(r, grove_node_get(clique, "annotations"), gv_clique_path(i, ".annotations").s);
        i++;
    }
    i = 0;
    GV_EACH(group, grove_node_get(r->tmpl, "podCliqueScalingGroups")) {
        check_value(r, grove_node_get(group, "annotations"), gv_group_path(i, ".annotations").s);
        i++;
    }
}

static void check_kept(gv_rules *r, const grove_node *old, const grove_node *new,
                       const grove_node *at, const char *path) {
    const grove_node *was = grove_node_get(old, MNNVL), *is = grove_node_get(new, MNNVL);
    if (!was && !is) {
        return;
    }
    if (was && is && gv_str_eq(gv_node_str(was), gv_node_str(is))) {
        return;
    }
    gv_rules_error(r, GV_CODE_MNNVL_IMMUTABLE, was && is ? "Invalid" : "Forbidden", is ? is : at,
                   below(path), "the annotation may not be %s",
                   was && is ? "changed"
                   : was     ? "removed"
                             : "added");
}

static void check_list(gv_rules *r, const grove_node *old_list, const grove_node *new_list,
                       gv_path (*path)(uint32_t, const char *)) {
    gv_map was;
    gv_map_init(&was, r->env);
    GV_EACH(entry, old_list) {
        if (!gv_map_put(&was, gv_node_get_str(entry, "name"), gv_map_value(entry))) {
            r->failed = true;
        }
    }
    uint32_t i = 0;
    GV_EACH(entry, new_list) {
        const grove_node *before = gv_map_get(&was, gv_node_get_str(entry, "name"));
        if (before) {
            check_kept(r, grove_node_get(before, "annotations"),
                       grove_node_get(entry, "annotations"), entry, path(i, ".annotations").s);
        }
        i++;
    }
    gv_map_fini(&was);
}

void gv_rules_mnnvl_update(gv_rules *r, const grove_node *old) {
    const grove_node *old_tmpl = gv_node_path(old, GV_TMPL);
    check_kept(r, gv_node_path(old, "metadata.annotations"),
               gv_node_path(r->root, "metadata.annotations"), r->root, "metadata.annotations");
    check_list(r, grove_node_get(old_tmpl, "cliques"), grove_node_get(r->tmpl, "cliques"),
               gv_clique_path);
    check_list(r, grove_node_get(old_tmpl, "podCliqueScalingGroups"),
               grove_node_get(r->tmpl, "podCliqueScalingGroups"), gv_group_path);
}
