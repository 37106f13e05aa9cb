/* SPDX-License-Identifier: Apache-2.0 */
/* Topology constraints on create: one topology by inheritance, known domains, no child broader. */
#include "admission/topology.h"

#include "value/doc.h"

static bool add(gv_rules *r, gv_constraints *out, gv_constraint_level level, uint32_t index,
                const grove_node *owner, gv_path path) {
    const grove_node *node = grove_node_get(owner, "topologyConstraint");
    if (grove_node_type(node) != GROVE_OBJECT) {
        return true;
    }
    gv_constraint c = {.level = level, .index = index, .owner = owner, .node = node, .path = path};
    return gv_vec_push(r->env, out, c);
}

bool gv_constraints_of(gv_rules *r, const grove_node *tmpl, gv_constraints *out) {
    bool ok = add(r, out, GV_CONSTRAINT_SET, 0, tmpl, gv_path_fmt(GV_TMPL ".topologyConstraint"));
    uint32_t i = 0;
    GV_EACH(clique, grove_node_get(tmpl, "cliques")) {
        ok = ok &&
             add(r, out, GV_CONSTRAINT_CLIQUE, i, clique, gv_clique_path(i, ".topologyConstraint"));
        i++;
    }
    i = 0;
    GV_EACH(group, grove_node_get(tmpl, "podCliqueScalingGroups")) {
        ok = ok &&
             add(r, out, GV_CONSTRAINT_GROUP, i, group, gv_group_path(i, ".topologyConstraint"));
        i++;
    }
    r->failed = r->failed || !ok;
    return ok;
}

gv_str gv_constraint_required(const grove_node *constraint) {
    gv_str required = gv_node_str(gv_node_path(constraint, "pack.required"));
    return required.n ? required : gv_node_get_str(constraint, "packDomain");
}

gv_str gv_constraint_preferred(const grove_node *constraint) {
    return gv_node_str(gv_node_path(constraint, "pack.preferred"));
}

/* One constraint's name from its own and the inherited one; notes where a name stands alone. */
static gv_str settle(gv_rules *r, const gv_constraint *c, gv_str inherited, bool report,
                     gv_topology_name *out, gv_str *alone, bool *alone_differ) {
    const grove_node *node = grove_node_get(c->node, "topologyName");
    gv_str own = gv_node_str(node);
    gv_path path = gv_path_fmt("%s.topologyName", c->path.s);
    if (own.n == 0 && inherited.n == 0) {
        out->missing++;
        if (report) {
            gv_rules_error(r, GV_CODE_TOPOLOGY_NAME_MISSING, "Required", c->node, path,
                           "name the ClusterTopologyBinding, here or at a parent");
        }
        return own;
    }
    if (own.n && inherited.n && !gv_str_eq(own, inherited)) {
        out->conflicting++;
        if (report) {
            gv_rules_error(r, GV_CODE_TOPOLOGY_NAME_DIFFERS, "Invalid", node, path,
                           "\"%.*s\" differs from the inherited \"%.*s\"", (int)own.n, own.p,
                           (int)inherited.n, inherited.p);
        }
        return (gv_str){"", 0};
    }
    if (own.n && inherited.n == 0) {
        *alone_differ = *alone_differ || (alone->n && !gv_str_eq(own, *alone));
        if (alone->n == 0) {
            *alone = own;
        }
    }
    return own.n ? own : inherited;
}

static void report_differing(gv_rules *r, const gv_constraints *all, gv_topology_name *out,
                             bool report) {
    out->conflicting++;
    for (size_t i = 0; report && i < all->n; i++) {
        const grove_node *name = grove_node_get(all->v[i].node, "topologyName");
        if (gv_node_str(name).n) {
            gv_rules_error(r, GV_CODE_TOPOLOGY_NAME_DIFFERS, "Invalid", name,
                           gv_path_fmt("%s.topologyName", all->v[i].path.s),
                           "all constraints of one set must name one topology");
        }
    }
}

gv_topology_name gv_topology_resolve(gv_rules *r, const gv_constraints *all, bool report) {
    gv_topology_name out = {.name = {"", 0}};
    gv_str set = {"", 0}, alone = {"", 0};
    bool differ = false;
    gv_map inherited; /* clique name -> its group's constraint, when that names a topology */
    gv_map_init(&inherited, r->env);
    for (size_t i = 0; i < all->n; i++) {
        if (all->v[i].level == GV_CONSTRAINT_SET) {
            set = settle(r, &all->v[i], set, report, &out, &alone, &differ);
        }
    }
    for (size_t i = 0; i < all->n; i++) {
        const gv_constraint *c = &all->v[i];
        if (c->level != GV_CONSTRAINT_GROUP) {
            continue;
        }
        gv_str name = settle(r, c, set, report, &out, &alone, &differ);
        bool own = name.n && gv_node_get_str(c->node, "topologyName").n;
        const grove_node *from = own ? c->node : NULL;
        GV_EACH(member, grove_node_get(c->owner, "cliqueNames")) {
            /* No name of its own (or a refused one): members inherit the set's. */
            if (from && !gv_map_put(&inherited, gv_node_str(member), gv_map_value(from))) {
                r->failed = true;
            } else if (!from) {
                gv_map_remove(&inherited, gv_node_str(member));
            }
        }
    }
    for (size_t i = 0; i < all->n; i++) {
        const gv_constraint *c = &all->v[i];
        if (c->level == GV_CONSTRAINT_CLIQUE) {
            const grove_node *from = gv_map_get(&inherited, gv_node_get_str(c->owner, "name"));
            gv_str name = from ? gv_node_get_str(from, "topologyName") : set;
            settle(r, c, name, report, &out, &alone, &differ);
        }
    }
    if (differ) {
        report_differing(r, all, &out, report);
    }
    gv_map_fini(&inherited);
    out.name = alone;
    return out;
}

/* Level of a domain (0 broadest), or -1 when the binding does not have it or it is "". */
static int32_t level_of(const gv_topology_binding *topology, gv_str domain) {
    return domain.n ? gv_binding_level(topology, domain) : -1;
}

static bool narrower(const gv_topology_binding *t, gv_str a, gv_str b) {
    return level_of(t, a) >= 0 && level_of(t, b) >= 0 && level_of(t, a) > level_of(t, b);
}

static void check_domain(gv_rules *r, const gv_constraint *c, const gv_topology_binding *t,
                         const char *below) {
    const grove_node *node = gv_node_path(c->node, below);
    gv_str domain = gv_node_str(node);
    if (domain.n && level_of(t, domain) < 0) {
        gv_rules_error(r, GV_CODE_TOPOLOGY_DOMAIN, "Invalid", node,
                       gv_path_fmt("%s.%s", c->path.s, below), "the topology has no level \"%.*s\"",
                       (int)domain.n, domain.p);
    }
}

static bool is_parent(const gv_constraint *parent, const gv_constraint *child) {
    if (parent->level == GV_CONSTRAINT_SET) {
        return child->level != GV_CONSTRAINT_SET;
    }
    if (parent->level != GV_CONSTRAINT_GROUP || child->level != GV_CONSTRAINT_CLIQUE) {
        return false;
    }
    gv_str name = gv_node_get_str(child->owner, "name");
    GV_EACH(member, grove_node_get(parent->owner, "cliqueNames")) {
        if (gv_str_eq(gv_node_str(member), name)) {
            return true;
        }
    }
    return false;
}

static void check_pair(gv_rules *r, const gv_topology_binding *t, const gv_constraint *parent,
                       const gv_constraint *child) {
    gv_str outer = gv_constraint_required(parent->node),
           inner = gv_constraint_required(child->node);
    if (narrower(t, outer, inner)) {
        gv_rules_error(r, GV_CODE_TOPOLOGY_HIERARCHY, "Invalid", parent->node, parent->path,
                       "\"%.*s\" is narrower than \"%.*s\" required at %s", (int)outer.n, outer.p,
                       (int)inner.n, inner.p, child->path.s);
    }
    outer = gv_constraint_preferred(parent->node);
    inner = gv_constraint_preferred(child->node);
    if (narrower(t, outer, inner)) {
        gv_rules_error(r, GV_CODE_TOPOLOGY_HIERARCHY, "Invalid", parent->node,
                       gv_path_fmt("%s.pack.preferred", parent->path.s),
                       "\"%.*s\" is narrower than \"%.*s\" preferred at %s", (int)outer.n, outer.p,
                       (int)inner.n, inner.p, child->path.s);
    }
}

static void check_levels(gv_rules *r, const gv_constraints *all, const gv_topology_binding *t) {
    uint32_t before = r->errors;
    for (size_t i = 0; i < all->n; i++) {
        const gv_constraint *c = &all->v[i];
        check_domain(r, c, t, "packDomain");
        check_domain(r, c, t, "pack.required");
        check_domain(r, c, t, "pack.preferred");
        if (narrower(t, gv_constraint_required(c->node), gv_constraint_preferred(c->node))) {
            gv_rules_warning(r, GV_CODE_TOPOLOGY_REDUNDANT, c->node,
                             gv_path_fmt("%s.pack.preferred", c->path.s),
                             "the preferred level is broader than the required one and has no "
                             "effect");
        }
    }
    for (size_t p = 0; p < all->n && r->errors == before; p++) {
        for (size_t k = 0; k < all->n; k++) {
            if (is_parent(&all->v[p], &all->v[k])) {
                check_pair(r, t, &all->v[p], &all->v[k]);
            }
        }
        before = r->errors; /* findings about one parent do not hide the next parent's */
    }
}

void gv_rules_topology_create(gv_rules *r) {
    gv_constraints all = {0};
    if (gv_constraints_of(r, r->tmpl, &all) && all.n) {
        if (!r->config->topology_enabled) {
            for (size_t i = 0; i < all.n; i++) {
                gv_rules_error(r, GV_CODE_TOPOLOGY_DISABLED, "Invalid", all.v[i].node,
                               all.v[i].path,
                               "topology-aware scheduling is disabled in the operator");
            }
        } else {
            gv_topology_name found = gv_topology_resolve(r, &all, true);
            const gv_topology_binding *t = gv_config_binding(r->config, found.name);
            if (found.missing + found.conflicting == 0 && !t) {
                gv_rules_error(r, GV_CODE_TOPOLOGY_NOT_FOUND, "Invalid", all.v[0].node,
                               gv_path_fmt(GV_TMPL ".topologyConstraint.topologyName"),
                               "there is no ClusterTopologyBinding \"%.*s\"", (int)found.name.n,
                               found.name.p);
            } else if (found.missing + found.conflicting == 0) {
                check_levels(r, &all, t);
            }
        }
    }
    gv_vec_fini(r->env, &all);
}
