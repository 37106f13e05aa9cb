/* SPDX-License-Identifier: Apache-2.0 */
/* What the cluster would have to have: nodes that carry the levels, one scheduler a node, classes. */
#include "admission/lint.h"

#include "base/map.h"

static bool any_node_has(const gv_lint *l, gv_str key) {
    GV_EACH(node, gv_lint_nodes(l)) {
        if (gv_node_get(gv_node_path(node, "metadata.labels"), key)) {
            return true;
        }
    }
    return false;
}

static void check_level(gv_lint *l, const gv_topology_binding *binding, const grove_node *domain,
                        const gv_path *path) {
    int32_t level = domain ? gv_binding_level(binding, gv_node_str(domain)) : -1;
    if (level >= 0 && !any_node_has(l, binding->levels[level].key)) {
        gv_str key = binding->levels[level].key;
        GV_LINT(l, GV_CODE_LINT_LEVEL, path, domain, "no node carries the label %.*s of this level",
                (int)key.n, key.p);
    }
}

/* Every place of the set that may hold a constraint. */
static void check_constraint(gv_lint *l, const grove_node *owner, gv_str set_topology,
                             const gv_path *path) {
    const grove_node *constraint = grove_node_get(owner, "topologyConstraint");
    const grove_node *pack = grove_node_get(constraint, "pack");
    gv_str name = gv_node_get_str(constraint, "topologyName");
    const gv_topology_binding *binding =
        constraint ? gv_config_binding(l->config, name.n ? name : set_topology) : NULL;
    if (!binding || !gv_lint_nodes(l)) {
        return;
    }
    static const char *const keys[] = {"required", "preferred"};
    gv_path here = gv_path_key(path, "topologyConstraint", 18);
    gv_path inner = gv_path_key(&here, "pack", 4);
    gv_path old = gv_path_key(&here, "packDomain", 10);
    for (size_t i = 0; i < 2; i++) {
        gv_path at = gv_path_key(&inner, keys[i], strlen(keys[i]));
        check_level(l, binding, grove_node_get(pack, keys[i]), &at);
    }
    check_level(l, binding, grove_node_get(constraint, "packDomain"), &old);
}

/* Two schedulers that each take a node's free room for theirs. */
static void check_schedulers(gv_lint *l) {
    gv_str used = {NULL, 0};
    bool pinned = true;
    uint32_t gangs = 0;
    GV_EACH(clique, l->cliques) {
        const grove_node *pod = gv_node_path(clique, "spec.podSpec");
        gv_str own = gv_node_get_str(pod, "schedulerName");
        used = own.n ? own : gv_str_c(l->config->default_scheduler);
        pinned = pinned && (grove_node_get(pod, "nodeSelector") || grove_node_get(pod, "affinity"));
    }
    for (size_t i = 0; i < l->config->schedulers.n; i++) {
        const gv_scheduler_profile *p = &l->config->schedulers.v[i];
        gangs += p->gang_scheduling || !gv_str_is(gv_str_c(p->name), "default-scheduler");
    }
    if (gangs > 1 && !pinned && used.n > 0) {
        GV_LINT(
            l, GV_CODE_LINT_SCHEDULERS, &l->cliques_path, l->cliques,
            "%u gang schedulers are enabled and nothing keeps the pods of %.*s on nodes of their "
            "own: two schedulers can give away the same GPU",
            (unsigned)gangs, (int)used.n, used.p);
    }
}

static void check_priority(gv_lint *l) {
    const grove_node *node = grove_node_get(l->tmpl, "priorityClassName");
    gv_str name = gv_node_str(node);
    gv_path here = gv_path_key(&l->tmpl_path, "priorityClassName", 17);
    if (name.n > 0 && gv_map_size(&l->config->priority_classes) > 0 &&
        !gv_str_starts(name, GV_STR("system-")) && !gv_config_priority_class(l->config, name)) {
        GV_LINT(l, GV_CODE_LINT_PRIORITY, &here, node, "no PriorityClass %.*s", (int)name.n,
                name.p);
    }
}

/* ---- bindings ---- */

static gv_str label_of(const grove_node *node, gv_str key) {
    return gv_node_str(gv_node_get(gv_node_path(node, "metadata.labels"), key));
}

/* A domain of the inner level that lies in two domains of the outer one: the levels do not nest. */
static void check_nesting(gv_lint *l, gv_str outer, gv_str inner, const grove_node *at,
                          const gv_path *path) {
    gv_map seen; /* inner value -> the first node that has it */
    gv_map_init(&seen, grove_doc_env(l->c.doc));
    GV_EACH(node, gv_lint_nodes(l)) {
        gv_str value = label_of(node, inner), around = label_of(node, outer);
        const grove_node *first = gv_map_get(&seen, value);
        if (value.n == 0 || around.n == 0) {
            continue;
        }
        if (!first && !gv_map_put(&seen, value, (void *)(uintptr_t)node)) {
            l->c.status = GROVE_E_NOMEM;
            break;
        }
        if (first && !gv_str_eq(label_of(first, outer), around)) {
            GV_LINT(l, GV_CODE_LINT_NESTING, path, at,
                    "%.*s=%.*s lies in more than one %.*s: levels go from broad to narrow",
                    (int)inner.n, inner.p, (int)value.n, value.p, (int)outer.n, outer.p);
            break;
        }
    }
    gv_map_fini(&seen);
}

void gv_lint_binding(gv_lint *l) {
    gv_path levels = gv_path_key(&l->spec_path, "levels", 6);
    gv_str outer = {NULL, 0};
    uint32_t i = 0;
    if (grove_node_size(gv_lint_nodes(l)) == 0) {
        return;
    }
    GV_EACH(level, gv_node_path(l->set, "spec.levels")) {
        gv_path entry = gv_path_index(&levels, i++), key = gv_path_key(&entry, "key", 3);
        const grove_node *at = grove_node_get(level, "key");
        gv_str own = gv_node_str(at);
        if (!any_node_has(l, own)) {
            GV_LINT(l, GV_CODE_LINT_LEVEL, &key, at, "no node carries the label %.*s", (int)own.n,
                    own.p);
        } else if (outer.n > 0) {
            check_nesting(l, outer, own, at, &key);
        }
        outer = own;
    }
}

void gv_lint_cluster(gv_lint *l) {
    gv_str topology = gv_node_str(gv_node_path(l->tmpl, "topologyConstraint.topologyName"));
    uint32_t i = 0, g = 0;
    check_constraint(l, l->tmpl, topology, &l->tmpl_path);
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        check_constraint(l, clique, topology, &entry);
    }
    GV_EACH(group, l->groups) {
        gv_path entry = gv_path_index(&l->groups_path, g++);
        check_constraint(l, group, topology, &entry);
    }
    check_schedulers(l);
    check_priority(l);
}
