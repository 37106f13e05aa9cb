/* SPDX-License-Identifier: Apache-2.0 */
/* Names: lengths at full scale, what DNS takes, and names that two children would share. */
#include "admission/lint.h"

#include "base/arena.h"
#include "base/map.h"
#include "model/names.h"
#include "model/syntax.h"

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Services, hostnames and labels are DNS labels, template names are only subdomains. */
static void check_labels(gv_lint *l) {
    const grove_node *metadata = grove_node_get(l->set, "metadata");
    gv_str name = gv_node_get_str(metadata, "name");
    gv_path meta = gv_path_key(NULL, "metadata", 8), at = gv_path_key(&meta, "name", 4);
    if (name.n > 0 && name.p[0] >= '0' && name.p[0] <= '9') {
        GV_LINT(l, GV_CODE_LINT_SERVICE_NAME, &at, grove_node_get(metadata, "name"),
                "a Service named after the set would begin with a digit: many clusters refuse it");
    } else if (name.n > 0 && !gv_syntax_label(name) && gv_syntax_subdomain(name)) {
        GV_LINT(l, GV_CODE_LINT_SERVICE_NAME, &at, grove_node_get(metadata, "name"),
                "a Service cannot have a '.' in its name");
    }
    uint32_t i = 0;
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path here = gv_path_key(&entry, "name", 4);
        gv_str own = gv_node_get_str(clique, "name");
        if (gv_syntax_subdomain(own) && !gv_syntax_label(own)) {
            GV_LINT(l, GV_CODE_LINT_SERVICE_NAME, &here, grove_node_get(clique, "name"),
                    "the host name of a pod cannot have a '.' in it");
        }
    }
}

/* The longest host name of a clique's pods, once everything is scaled to its most. */
static void check_lengths(gv_lint *l, gv_arena *a) {
    const gv_layout *layout = gv_layout_base();
    gv_str set = gv_node_get_str(grove_node_get(l->set, "metadata"), "name");
    int64_t copies = larger(gv_node_get_int(grove_node_get(l->set, "spec"), "replicas", 1), 1);
    uint32_t i = 0;
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path here = gv_path_key(&entry, "name", 4);
        gv_str name = gv_node_get_str(clique, "name");
        const grove_node *group = gv_lint_group_of(l, name);
        const grove_node *spec = grove_node_get(clique, "spec");
        gv_str full = group
                          ? layout->member(a,
                                           layout->in_replica(a, set, copies - 1,
                                                              gv_node_get_str(group, "name")),
                                           larger(gv_lint_most(group, "scaleConfig") - 1, 0), name)
                          : layout->in_replica(a, set, copies - 1, name);
        gv_str host = gv_name_hostname(a, full,
                                       larger(gv_lint_most(spec, "autoScalingConfig") - 1, 0));
        if (!full.p || !host.p) {
            l->c.status = GROVE_E_NOMEM;
            return;
        }
        if (host.n > 63) {
            GV_LINT(l, GV_CODE_LINT_NAME_LENGTH, &here, grove_node_get(clique, "name"),
                    "at full scale a pod's host name is %.*s: %u characters, at most 63",
                    (int)host.n, host.p, (unsigned)host.n);
        }
    }
}

/* PodCliques of one set replica that would get the same name by different ways. */
static void check_collisions(gv_lint *l, gv_arena *a) {
    const gv_layout *layout = gv_layout_base();
    gv_map names;
    uint32_t g = 0;
    gv_map_init(&names, grove_doc_env(l->c.doc));
    GV_EACH(clique, l->cliques) {
        gv_str name = gv_node_get_str(clique, "name");
        if (!gv_lint_group_of(l, name) && !gv_map_put(&names, name, &names)) {
            l->c.status = GROVE_E_NOMEM;
        }
    }
    GV_EACH(group, l->groups) {
        gv_path entry = gv_path_index(&l->groups_path, g++);
        gv_path here = gv_path_key(&entry, "name", 4);
        const grove_node *at = grove_node_get(group, "name");
        gv_str group_name = gv_node_str(at);
        int64_t n = gv_lint_most(group, "scaleConfig");
        if (gv_map_has(&names, group_name)) {
            GV_LINT(
                l, GV_CODE_LINT_COLLISION, &here, at,
                "a clique has the name of the group: their objects are told apart by kind only");
        }
        GV_EACH(member, grove_node_get(group, "cliqueNames")) {
            for (int64_t r = 0; r < n && r < 100; r++) {
                gv_str full = layout->member(a, group_name, r, gv_node_str(member));
                if (full.p && gv_map_has(&names, full)) {
                    GV_LINT(
                        l, GV_CODE_LINT_COLLISION, &here, at,
                        "clique %.*s has the name that replica %lld of the group gives a member",
                        (int)full.n, full.p, (long long)r);
                }
            }
        }
    }
    gv_map_fini(&names);
}

void gv_lint_names(gv_lint *l) {
    gv_arena arena;
    gv_arena_init(&arena, grove_doc_env(l->c.doc));
    check_labels(l);
    check_lengths(l, &arena);
    check_collisions(l, &arena);
    gv_arena_fini(&arena);
}
