/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling and start order: bounds that cannot work, settings that have no effect. */
#include "admission/lint.h"

#define EXPLICIT "CliqueStartupTypeExplicit"

static void check_autoscaler(gv_lint *l, const grove_node *owner, const char *key,
                             const gv_path *path) {
    const grove_node *scaling = grove_node_get(owner, key);
    gv_path here = gv_path_key(path, key, strlen(key));
    gv_path max = gv_path_key(&here, "maxReplicas", 11);
    if (!scaling) {
        return;
    }
    int64_t replicas = gv_node_get_int(owner, "replicas", 1);
    int64_t least = gv_node_get_int(owner, "minAvailable", replicas);
    int64_t floor = gv_node_get_int(scaling, "minReplicas", replicas);
    int64_t ceiling = gv_node_get_int(scaling, "maxReplicas", 0);
    if (ceiling < floor || ceiling < replicas) {
        GV_LINT(
            l, GV_CODE_LINT_AUTOSCALER, &max, scaling,
            "%lld is below minReplicas or replicas: the autoscaler is refused or scales in at once",
            (long long)ceiling);
    } else if (ceiling == floor) {
        GV_LINT(l, GV_CODE_LINT_AUTOSCALER, &max, scaling,
                "minReplicas and maxReplicas are equal: the autoscaler never scales");
    }
    if (replicas > 1 && least == replicas && floor <= least && ceiling > replicas) {
        GV_LINT(l, GV_CODE_LINT_FLOOR, &here, scaling,
                "minAvailable is all of the replicas: losing one pod is a breach, and scaling in "
                "never goes below %lld",
                (long long)least);
    }
    if (grove_node_size(grove_node_get(scaling, "metrics")) == 0) {
        GV_LINT(l, GV_CODE_LINT_AUTOSCALER, &here, scaling,
                "without metrics the autoscaler asks for 80 %% of the CPU request");
    }
}

static bool has_probe(const grove_node *clique) {
    const grove_node *pod = gv_node_path(clique, "spec.podSpec");
    GV_EACH(k, grove_node_get(pod, "containers")) {
        if (grove_node_get(k, "readinessProbe")) {
            return true;
        }
    }
    return false;
}

static const grove_node *clique_named(const gv_lint *l, gv_str name) {
    GV_EACH(clique, l->cliques) {
        if (gv_str_eq(gv_node_get_str(clique, "name"), name)) {
            return clique;
        }
    }
    return NULL;
}

static void check_start(gv_lint *l, const grove_node *spec, const gv_path *path) {
    const grove_node *after = grove_node_get(spec, "startsAfter");
    gv_path here = gv_path_key(path, "startsAfter", 11);
    uint32_t i = 0;
    if (grove_node_size(after) == 0) {
        return;
    }
    if (!gv_str_is(gv_node_get_str(l->tmpl, "cliqueStartupType"), EXPLICIT)) {
        GV_LINT(l, GV_CODE_LINT_STARTS_AFTER, &here, after,
                "has no effect without cliqueStartupType: " EXPLICIT);
        return;
    }
    GV_EACH(name, after) {
        gv_path entry = gv_path_index(&here, i++);
        const grove_node *first = clique_named(l, gv_node_str(name));
        if (first && !has_probe(first)) {
            GV_LINT(l, GV_CODE_LINT_NO_PROBE, &entry, name,
                    "clique %.*s has no readinessProbe: its pods count as ready once they run",
                    (int)gv_node_str(name).n, gv_node_str(name).p);
        }
    }
}

/* Replicas of a template are read at the creation of its objects only. */
static void check_edit(gv_lint *l, const char *key, const grove_node *entry, const grove_node *now,
                       const gv_path *path) {
    gv_path here = gv_path_key(path, "replicas", 8);
    GV_EACH(old, grove_node_get(l->old_tmpl, key)) {
        const grove_node *before = gv_str_is(GV_STR("cliques"), key) ? grove_node_get(old, "spec")
                                                                     : old;
        int64_t was = gv_node_get_int(before, "replicas", 1);
        int64_t is = gv_node_get_int(now, "replicas", 1);
        if (gv_str_eq(gv_node_get_str(old, "name"), gv_node_get_str(entry, "name")) && was != is) {
            GV_LINT(l, GV_CODE_LINT_REPLICAS_EDIT, &here, now,
                    "changing %lld to %lld reaches no object that exists: scale the object instead",
                    (long long)was, (long long)is);
        }
    }
}

static void check_set(gv_lint *l) {
    const grove_node *spec = grove_node_get(l->set, "spec");
    gv_path replicas = gv_path_key(&l->spec_path, "replicas", 8);
    if (gv_node_get_int(spec, "replicas", 0) == 0) {
        GV_LINT(l, GV_CODE_LINT_NOTHING, &replicas, grove_node_get(spec, "replicas"),
                "0 copies: nothing is created");
    }
}

void gv_lint_scaling(gv_lint *l) {
    uint32_t i = 0, g = 0;
    check_set(l);
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path here = gv_path_key(&entry, "spec", 4);
        const grove_node *spec = grove_node_get(clique, "spec");
        check_autoscaler(l, spec, "autoScalingConfig", &here);
        check_start(l, spec, &here);
        check_edit(l, "cliques", clique, spec, &here);
    }
    GV_EACH(group, l->groups) {
        gv_path here = gv_path_index(&l->groups_path, g++);
        gv_path names = gv_path_key(&here, "cliqueNames", 11);
        check_autoscaler(l, group, "scaleConfig", &here);
        check_edit(l, "podCliqueScalingGroups", group, group, &here);
        if (grove_node_size(grove_node_get(group, "cliqueNames")) == 0) {
            GV_LINT(l, GV_CODE_LINT_NOTHING, &names, group, "a group without cliques does nothing");
        }
    }
}
