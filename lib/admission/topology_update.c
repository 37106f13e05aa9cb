/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topology constraints on update: immutable, with two ways out for old objects: packDomain may move to
 * pack.required, and a constraint that never had a topologyName may gain one (not both at once).
 */
#include "admission/topology.h"
#include "value/doc.h"

static gv_str name_of(const grove_node *c) {
    return gv_node_get_str(c, "topologyName");
}
static gv_str pack_domain_of(const grove_node *c) {
    return gv_node_get_str(c, "packDomain");
}

static const grove_node *constraint_of(const grove_node *owner) {
    const grove_node *c = grove_node_get(owner, "topologyConstraint");
    return grove_node_type(c) == GROVE_OBJECT ? c : NULL;
}

static bool changed(const grove_node *old, const grove_node *new) {
    return !old != !new || !gv_str_eq(name_of(old), name_of(new)) ||
           !gv_str_eq(pack_domain_of(old), pack_domain_of(new)) ||
           !gv_str_eq(gv_constraint_required(old), gv_constraint_required(new)) ||
           !gv_str_eq(gv_constraint_preferred(old), gv_constraint_preferred(new));
}

/* packDomain X became pack.required X, nothing else moved. */
static bool migrated(const grove_node *old, const grove_node *new) {
    return old && new &&pack_domain_of(old).n &&pack_domain_of(new).n == 0 &&
           gv_str_eq(gv_node_str(gv_node_path(new, "pack.required")), pack_domain_of(old)) &&
           gv_str_eq(name_of(old), name_of(new)) &&
           gv_str_eq(gv_constraint_preferred(old), gv_constraint_preferred(new));
}

/* A constraint gained its topologyName and kept its packDomain. */
static bool named(const grove_node *old, const grove_node *new) {
    return old && new &&name_of(old).n == 0 &&
           name_of(new).n &&gv_str_eq(pack_domain_of(old), pack_domain_of(new)) &&
           gv_str_eq(gv_constraint_preferred(old), gv_constraint_preferred(new));
}

static bool allowed(const grove_node *old, const grove_node *new, bool repair) {
    return !changed(old, new) || migrated(old, new) || (repair && named(old, new));
}

static const char *why(const grove_node *old, const grove_node *new) {
    if (old && new &&pack_domain_of(old).n && pack_domain_of(new).n == 0) {
        return "packDomain may only become pack.required with the same domain, all else equal";
    }
    return "topology constraints may not be changed, added or removed";
}

static void check_list(gv_rules *r, const grove_node *old_list, const grove_node *new_list,
                       gv_path (*path)(uint32_t, const char *), bool repair) {
    gv_map was;
    gv_map_init(&was, r->env);
    GV_EACH(entry, old_list) {
        if (!gv_map_put(&was, gv_node_get_str(entry, "name"), gv_map_value(entry))) {
            r->failed = true;
        }
    }
    uint32_t i = 0;
    GV_EACH(entry, new_list) {
        const grove_node *before = constraint_of(gv_map_get(&was, gv_node_get_str(entry, "name")));
        const grove_node *after = constraint_of(entry);
        if (!allowed(before, after, repair)) {
            gv_rules_error(r, GV_CODE_TOPOLOGY_IMMUTABLE, "Forbidden", after ? after : entry,
                           path(i, ".topologyConstraint"), "%s", why(before, after));
        }
        i++;
    }
    gv_map_fini(&was);
}

static void check_immutable(gv_rules *r, const grove_node *old_tmpl, bool repair) {
    const grove_node *before = constraint_of(old_tmpl), *after = constraint_of(r->tmpl);
    if (!allowed(before, after, repair)) {
        bool renamed = !gv_str_eq(name_of(before), name_of(after));
        gv_rules_error(r, GV_CODE_TOPOLOGY_IMMUTABLE, "Forbidden", after ? after : r->tmpl,
                       gv_path_fmt(GV_TMPL ".topologyConstraint%s", renamed ? ".topologyName" : ""),
                       "%s", why(before, after));
    }
    check_list(r, grove_node_get(old_tmpl, "cliques"), grove_node_get(r->tmpl, "cliques"),
               gv_clique_path, repair);
    check_list(r, grove_node_get(old_tmpl, "podCliqueScalingGroups"),
               grove_node_get(r->tmpl, "podCliqueScalingGroups"), gv_group_path, repair);
}

void gv_rules_topology_update(gv_rules *r, const grove_node *old) {
    const grove_node *old_tmpl = gv_node_path(old, GV_TMPL);
    gv_constraints all = {0};
    gv_topology_name found = {.name = {"", 0}};
    bool legacy = false;
    if (gv_constraints_of(r, old_tmpl, &all)) {
        for (size_t i = 0; i < all.n; i++) {
            legacy = legacy || (name_of(all.v[i].node).n == 0 && pack_domain_of(all.v[i].node).n);
        }
        if (legacy) {
            found = gv_topology_resolve(r, &all, false);
        }
    }
    gv_vec_fini(r->env, &all);
    if (found.missing == 0 && found.conflicting) {
        gv_rules_error(r, GV_CODE_TOPOLOGY_UNREADABLE, "InternalError", r->tmpl,
                       gv_path_fmt(GV_TMPL ".topologyConstraint.topologyName"),
                       "the stored object names several topologies");
        return;
    }
    uint32_t before = r->errors;
    bool repair = found.missing > 0;
    check_immutable(r, old_tmpl, repair);
    if (repair && r->errors == before) {
        gv_rules_topology_create(r);
    }
}

void gv_rules_pack_domain_warnings(gv_rules *r) {
    gv_constraints all = {0};
    if (gv_constraints_of(r, r->tmpl, &all)) {
        for (size_t i = 0; i < all.n; i++) {
            const grove_node *domain = grove_node_get(all.v[i].node, "packDomain");
            if (gv_node_str(domain).n) {
                gv_rules_warning(r, GV_CODE_TOPOLOGY_DEPRECATED, domain,
                                 gv_path_fmt("%s.packDomain", all.v[i].path.s),
                                 "packDomain is deprecated; use pack.required");
            }
        }
    }
    gv_vec_fini(r->env, &all);
}
