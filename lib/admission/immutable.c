/* SPDX-License-Identifier: Apache-2.0 */
/* What may not change between the stored and the new object; looked at only when the new one is valid. */
#include <grove/quantity.h>

#include "admission/rules.h"
#include "value/doc.h"

/* Equality by meaning: an absent list or map equals an empty one, at any depth, and null equals absent. */
static bool is_empty(const grove_node *node) {
    grove_type type = grove_node_type(node);
    return type == GROVE_MISSING || type == GROVE_NULL_NODE ||
           (type == GROVE_ARRAY && grove_node_size(node) == 0);
}

static bool same_quantity(const grove_node *a, const grove_node *b) {
    grove_quantity x, y;
    gv_str s = gv_node_str(a), t = gv_node_str(b);
    return grove_quantity_parse(s.p, s.n, &x, NULL) == GROVE_OK &&
           grove_quantity_parse(t.p, t.n, &y, NULL) == GROVE_OK &&
           grove_quantity_compare(&x, &y) == 0;
}

static bool same_in(const grove_node *a, const grove_node *b, bool quantities);

/* Structures that the typed form holds by value: written as {} or not at all, they are the same. */
static bool is_zero_struct(gv_str key, const grove_node *node) {
    return grove_node_type(node) == GROVE_OBJECT && grove_node_size(node) == 0 &&
           (gv_str_is(key, "metadata") || gv_str_is(key, "devices"));
}

/* Capacities are the quantities among what is compared here: 1024Mi equals 1Gi. */
static bool covers(const grove_node *a, const grove_node *b, bool quantities) {
    GV_EACH(member, a) {
        gv_str key = gv_node_key(member);
        if (!is_empty(member) && !is_zero_struct(key, member) &&
            !same_in(member, grove_node_getn(b, key.p, key.n),
                     quantities || gv_str_is(key, "capacity"))) {
            return false;
        }
    }
    return true;
}

static bool same(const grove_node *a, const grove_node *b) {
    return same_in(a, b, false);
}

static bool same_in(const grove_node *a, const grove_node *b, bool quantities) {
    if (is_empty(a) || is_empty(b)) {
        return is_empty(a) && is_empty(b);
    }
    grove_type type = grove_node_type(a);
    if (quantities && type != GROVE_OBJECT && type != GROVE_ARRAY) {
        return same_quantity(a, b);
    }
    if (type != grove_node_type(b)) {
        return false;
    }
    if (type == GROVE_OBJECT) {
        return covers(a, b, quantities) && covers(b, a, quantities);
    }
    if (type == GROVE_ARRAY) {
        const grove_node *x = grove_node_first(a), *y = grove_node_first(b);
        while (x && y && same_in(x, y, quantities)) {
            x = grove_node_next(a, x);
            y = grove_node_next(b, y);
        }
        return !x && !y;
    }
    return grove_node_equal(a, b) != 0;
}

/* "" equals absent for a scalar field that the typed structure holds by value. */
static bool same_text(const grove_node *a, const grove_node *b) {
    return gv_str_eq(gv_node_str(a), gv_node_str(b));
}

static void changed(gv_rules *r, const grove_node *at, const char *path, const char *what) {
    gv_rules_error(r, GV_CODE_IMMUTABLE, "Invalid", at, gv_path_fmt("%s", path),
                   "%s may not change after creation", what);
}

static bool is_outside(const grove_node *spec) {
    const grove_node *flag = grove_node_get(spec, "coreMember");
    return grove_node_type(flag) == GROVE_BOOL && !grove_node_is_true(flag);
}

static void check_clique(gv_rules *r, const grove_node *was, const grove_node *is, uint32_t i) {
    const grove_node *old_spec = grove_node_get(was, "spec"), *spec = grove_node_get(is, "spec");
    if (!same_text(grove_node_get(old_spec, "roleName"), grove_node_get(spec, "roleName"))) {
        changed(r, spec, GV_TMPL ".cliques.spec.roleName", "roleName");
    }
    if (!same(grove_node_get(old_spec, "minAvailable"), grove_node_get(spec, "minAvailable"))) {
        changed(r, grove_node_get(spec, "minAvailable"), GV_TMPL ".cliques.spec.minAvailable",
                "minAvailable");
    }
    if (!same(grove_node_get(old_spec, "startsAfter"), grove_node_get(spec, "startsAfter"))) {
        changed(r, spec, GV_TMPL ".cliques.spec.startsAfter", "startsAfter");
    }
    if (is_outside(old_spec) != is_outside(spec)) {
        changed(r, spec, GV_TMPL ".cliques.spec.coreMember", "coreMember");
    }
    if (!same_text(gv_node_path(old_spec, "podSpec.schedulerName"),
                   gv_node_path(spec, "podSpec.schedulerName"))) {
        changed(r, spec, GV_TMPL ".cliques.spec.podSpec.schedulerName",
                "schedulerName (\"\" and the default's name are different)");
    }
    if (!same(grove_node_get(was, "resourceSharing"), grove_node_get(is, "resourceSharing"))) {
        changed(r, is, gv_clique_path(i, ".resourceSharing").s, "resourceSharing");
    }
}

typedef struct place {
    const grove_node *node;
    uint32_t index;
} place;

static void check_cliques(gv_rules *r, const grove_node *old_list, const grove_node *list) {
    uint32_t n = grove_node_size(old_list), i = 0;
    if (n != grove_node_size(list)) {
        gv_rules_error(r, GV_CODE_CLIQUE_COUNT, "Forbidden", list, gv_path_fmt(GV_TMPL ".cliques"),
                       "cliques may not be added or removed after creation");
    }
    gv_map was;
    gv_map_init(&was, r->env);
    place *places = gv_zalloc(r->env, n * sizeof *places);
    GV_EACH(clique, old_list) {
        if (!places || !gv_map_put(&was, gv_node_get_str(clique, "name"), &places[i])) {
            r->failed = true;
            break;
        }
        places[i] = (place){clique, i};
        i++;
    }
    gv_str type = gv_node_get_str(r->tmpl, "cliqueStartupType");
    bool ordered = gv_str_is(type, "CliqueStartupTypeInOrder") ||
                   gv_str_is(type, "CliqueStartupTypeExplicit");
    i = 0;
    GV_EACH(clique, list) {
        gv_str name = gv_node_get_str(clique, "name");
        const place *before = gv_map_get(&was, name);
        if (!before) {
            gv_rules_error(r, GV_CODE_CLIQUE_ADDED, "Forbidden", clique,
                           gv_path_fmt(GV_TMPL ".cliques.name"),
                           "there was no clique \"%.*s\" before", (int)name.n, name.p);
        } else {
            if (ordered && before->index != i) {
                gv_rules_error(r, GV_CODE_CLIQUE_ORDER, "Invalid", clique,
                               gv_path_fmt(GV_TMPL ".cliques"),
                               "clique \"%.*s\" may not move: the order of cliques counts",
                               (int)name.n, name.p);
            }
            check_clique(r, before->node, clique, i);
        }
        i++;
    }
    gv_map_fini(&was);
    gv_free(r->env, places, n * sizeof *places);
}

static void check_groups(gv_rules *r, const grove_node *old_list, const grove_node *list) {
    static const char *const fixed[] = {"cliqueNames", "minAvailable", "resourceSharing"};
    if (grove_node_size(old_list) != grove_node_size(list)) {
        gv_rules_error(r, GV_CODE_GROUP_COUNT, "Forbidden", list ? list : r->tmpl,
                       gv_path_fmt(GV_TMPL ".podCliqueScalingGroups"),
                       "scaling groups may not be added or removed after creation");
        return;
    }
    gv_map was;
    gv_map_init(&was, r->env);
    GV_EACH(group, old_list) {
        if (!gv_map_put(&was, gv_node_get_str(group, "name"), gv_map_value(group))) {
            r->failed = true;
        }
    }
    GV_EACH(group, list) {
        gv_str name = gv_node_get_str(group, "name");
        const grove_node *before = gv_map_get(&was, name);
        if (!before) {
            gv_rules_error(r, GV_CODE_GROUP_ADDED, "Forbidden", group,
                           gv_path_fmt(GV_TMPL ".podCliqueScalingGroups.name"),
                           "there was no scaling group \"%.*s\" before", (int)name.n, name.p);
            continue;
        }
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) {
            if (!same(grove_node_get(before, fixed[k]), grove_node_get(group, fixed[k]))) {
                changed(r, group, gv_path_fmt(GV_TMPL ".podCliqueScalingGroups.%s", fixed[k]).s,
                        fixed[k]);
            }
        }
    }
    gv_map_fini(&was);
}

void gv_rules_immutable(gv_rules *r, const grove_node *old) {
    const grove_node *before = gv_node_path(old, GV_TMPL);
    check_cliques(r, grove_node_get(before, "cliques"), grove_node_get(r->tmpl, "cliques"));
    if (!same(grove_node_get(before, "cliqueStartupType"),
              grove_node_get(r->tmpl, "cliqueStartupType"))) {
        changed(r, grove_node_get(r->tmpl, "cliqueStartupType"), GV_TMPL ".cliqueStartupType",
                "cliqueStartupType");
    }
    check_groups(r, grove_node_get(before, "podCliqueScalingGroups"),
                 grove_node_get(r->tmpl, "podCliqueScalingGroups"));
    gv_rules_topology_update(r, old);
    static const char *const fixed[] = {"resourceClaimTemplates", "resourceSharing"};
    for (size_t k = 0; k < 2; k++) {
        const grove_node *node = grove_node_get(r->tmpl, fixed[k]);
        if (!same(grove_node_get(before, fixed[k]), node)) {
            changed(r, node ? node : r->tmpl, gv_path_fmt(GV_TMPL ".%s", fixed[k]).s, fixed[k]);
        }
    }
}
