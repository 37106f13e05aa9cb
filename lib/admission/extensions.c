/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for what libgrove adds to Grove's API. An object that uses none of it passes here unseen; that the
 * fields are there at all is refused before, at decoding, where the caller wants Grove's own API only.
 */
#include <grove/quantity.h>

#include "admission/topology.h"

#include "value/doc.h"
#include "value/scalar.h"

#define TEXT(s) (int)(s).n, (s).p

static bool is_false(const grove_node *node) {
    return grove_node_type(node) == GROVE_BOOL && !grove_node_is_true(node);
}

static bool is_wish(const grove_node *node) {
    gv_str word = gv_node_str(node);
    return word.n > 0 && !gv_str_is(word, "None");
}

/* ---- coreMember ---- */

/* Scaled gangs are named `<group>-<number>`, that of a clique outside the core unit `<clique>`. */
static bool named_as_scaled_gang(const gv_rules *r, gv_str clique) {
    GV_EACH(group, grove_node_get(r->tmpl, "podCliqueScalingGroups")) {
        gv_str name = gv_node_get_str(group, "name");
        int64_t index = 0;
        if (clique.n > name.n + 1 && memcmp(clique.p, name.p, name.n) == 0 &&
            clique.p[name.n] == '-' &&
            gv_str_int64((gv_str){clique.p + name.n + 1, clique.n - name.n - 1}, &index) &&
            index >= 0) {
            return true;
        }
    }
    return false;
}

static void check_core_members(gv_rules *r) {
    uint32_t i = 0, core = 0;
    const grove_node *outside = NULL;
    gv_path path = {""};
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        gv_str name = gv_node_get_str(clique, "name");
        const grove_node *flag = gv_node_path(clique, "spec.coreMember");
        if (!is_false(flag)) {
            core++;
            i++;
            continue;
        }
        outside = flag;
        path = gv_clique_path(i++, ".spec.coreMember");
        if (gv_map_has(&r->member_of, name)) {
            gv_rules_error(r, GV_CODE_CORE_MEMBER, "Invalid", flag, path,
                           "\"%.*s\" is a member of a scaling group and belongs to its replicas",
                           TEXT(name));
        } else if (named_as_scaled_gang(r, name)) {
            gv_rules_error(r, GV_CODE_CORE_MEMBER, "Invalid", flag, path,
                           "the gang of \"%.*s\" would have the name of a scaled gang", TEXT(name));
        }
    }
    if (outside && core == 0) {
        gv_rules_error(r, GV_CODE_CORE_MEMBER, "Invalid", outside, path,
                       "no clique is left for the base gang");
    }
}

/* ---- spread and crossGangPack ---- */

static void check_spread(gv_rules *r, const gv_constraint *c, const gv_topology_binding *t) {
    const grove_node *spread = grove_node_get(c->node, "spread");
    const grove_node *node = grove_node_get(spread, "domain");
    gv_str domain = gv_node_str(node), pack = gv_constraint_required(c->node);
    gv_path path = gv_path_fmt("%s.spread.domain", c->path.s);
    if (c->level == GV_CONSTRAINT_CLIQUE) {
        gv_rules_error(r, GV_CODE_SPREAD, "Forbidden", spread, gv_path_fmt("%s.spread", c->path.s),
                       "the pods of a clique are not spread; sets and scaling groups are");
        return;
    }
    bool binding = !gv_str_is(gv_node_get_str(spread, "mode"), "Prefer");
    if (c->level == GV_CONSTRAINT_GROUP && binding &&
        gv_node_get_int(c->owner, "minAvailable", 1) > 1) {
        gv_rules_error(r, GV_CODE_SPREAD, "Invalid", spread, gv_path_fmt("%s.spread", c->path.s),
                       "the first minAvailable replicas are parts of one gang, whose parts are not "
                       "kept apart: Require needs minAvailable 1");
    }
    if (!t) {
        return; /* told by the rules of topology constraints */
    }
    int32_t level = gv_binding_level(t, domain), within = pack.n ? gv_binding_level(t, pack) : -1;
    if (level < 0) {
        gv_rules_error(r, GV_CODE_TOPOLOGY_DOMAIN, "Invalid", node, path,
                       "the topology has no level \"%.*s\"", TEXT(domain));
    } else if (within >= 0 && within < level) {
        gv_rules_error(r, GV_CODE_SPREAD, "Invalid", node, path,
                       "each replica has to lie within one \"%.*s\", and is packed into a \"%.*s\" "
                       "only, which is broader",
                       TEXT(domain), TEXT(pack));
    }
}

/* Replicas of a group cannot be apart and in one domain. */
static void check_against_cross_gang_pack(gv_rules *r, const gv_constraint *c,
                                          const gv_topology_binding *t) {
    const grove_node *spread = grove_node_get(c->node, "spread");
    gv_str domain = gv_node_get_str(spread, "domain");
    gv_str pack = gv_constraint_required(grove_node_get(r->tmpl, "topologyConstraint"));
    int32_t level = t ? gv_binding_level(t, domain) : -1;
    int32_t shared = t && pack.n ? gv_binding_level(t, pack) : -1;
    if (c->level == GV_CONSTRAINT_GROUP && level >= 0 && shared >= level &&
        gv_str_is(gv_node_get_str(r->tmpl, "crossGangPack"), "Require") &&
        !gv_str_is(gv_node_get_str(spread, "mode"), "Prefer")) {
        gv_rules_error(
            r, GV_CODE_SPREAD, "Invalid", spread, gv_path_fmt("%s.spread", c->path.s),
            "crossGangPack requires all gangs in one \"%.*s\": replicas cannot be spread "
            "over \"%.*s\"",
            TEXT(pack), TEXT(domain));
    }
}

static void check_cross_gang_pack(gv_rules *r) {
    const grove_node *wish = grove_node_get(r->tmpl, "crossGangPack");
    const grove_node *own = grove_node_get(r->tmpl, "topologyConstraint");
    bool required = gv_constraint_required(own).n > 0;
    bool preferred = gv_constraint_preferred(own).n > 0;
    gv_path path = gv_path_fmt(GV_TMPL ".crossGangPack");
    if (gv_str_is(gv_node_str(wish), "Require") && !required) {
        gv_rules_error(r, GV_CODE_CROSS_GANG_PACK, "Invalid", wish, path,
                       "Require needs topologyConstraint.pack.required on the set's template");
    } else if (is_wish(wish) && !required && !preferred) {
        gv_rules_error(r, GV_CODE_CROSS_GANG_PACK, "Invalid", wish, path,
                       "Prefer needs topologyConstraint.pack on the set's template");
    }
}

/* ---- ratios ---- */

typedef struct ratio_check {
    gv_rules *r;
    const grove_node *node;
    uint32_t index;
    gv_map moved, used; /* names that an earlier ratio may move, and that it reads */
} ratio_check;

static void refuse_ratio(ratio_check *c, const grove_node *at, const char *member,
                         const char *why) {
    gv_rules_error(c->r, GV_CODE_RATIO, "Invalid", at ? at : c->node,
                   gv_path_fmt(GV_TMPL ".ratios[%u].%s", c->index, member), "%s", why);
}

static bool scales(const gv_rules *r, gv_str name) {
    return gv_map_has(&r->groups, name) ||
           (gv_map_has(&r->cliques, name) && !gv_map_has(&r->member_of, name));
}

/* Thousandths, at least 0; false: no bound that could be used. */
static bool bound_of(const grove_node *node, int64_t *out) {
    grove_quantity q;
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    *out = 0;
    return !node || (text && grove_quantity_parse(text, n, &q, NULL) == GROVE_OK &&
                     grove_quantity_milli(&q, out) == GROVE_OK && *out > 0 && *out <= INT32_MAX);
}

static void check_ratio(ratio_check *c) {
    const grove_node *above = grove_node_get(c->node, "numerator");
    const grove_node *below = grove_node_get(c->node, "denominator");
    const grove_node *least = grove_node_get(c->node, "min"),
                     *most = grove_node_get(c->node, "max");
    gv_str numerator = gv_node_str(above), denominator = gv_node_str(below);
    bool follow = gv_str_is(gv_node_get_str(c->node, "mode"), "Follow");
    int64_t min = 0, max = 0;
    if (!scales(c->r, numerator)) {
        refuse_ratio(c, above, "numerator", "no standalone clique or scaling group has this name");
    } else if (gv_map_has(&c->moved, numerator) || gv_map_has(&c->used, numerator)) {
        refuse_ratio(c, above, "numerator", "an earlier ratio has its replicas already");
    }
    if (!scales(c->r, denominator) || gv_str_eq(numerator, denominator)) {
        refuse_ratio(c, below, "denominator",
                     "no other standalone clique or scaling group has this name");
    } else if (!follow &&
               (gv_map_has(&c->moved, denominator) || gv_map_has(&c->used, denominator))) {
        refuse_ratio(c, below, "denominator",
                     "only what follows may be led by a part of another ratio");
    }
    if (!bound_of(least, &min)) {
        refuse_ratio(c, least, "min", "must be greater than 0");
    } else if (!bound_of(most, &max)) {
        refuse_ratio(c, most, "max", "must be greater than 0");
    } else if (min == 0 && max == 0) {
        refuse_ratio(c, c->node, "min", "min or max has to be there");
    } else if (max > 0 && min > max) {
        refuse_ratio(c, least, "min", "min is greater than max");
    }
    if (!gv_map_put(&c->moved, numerator, c) || !gv_map_put(&c->used, denominator, c)) {
        c->r->failed = true;
    }
}

static void check_ratios(gv_rules *r) {
    ratio_check c = {.r = r};
    gv_map_init(&c.moved, r->env);
    gv_map_init(&c.used, r->env);
    GV_EACH(node, grove_node_get(r->tmpl, "ratios")) {
        c.node = node;
        check_ratio(&c);
        c.index++;
    }
    gv_map_fini(&c.moved);
    gv_map_fini(&c.used);
}

/* ---- placement ---- */

static const grove_node *sticky_of(const gv_rules *r) {
    return gv_node_path(r->tmpl, "placement.sticky");
}

static void check_sticky(gv_rules *r) {
    const grove_node *wish = sticky_of(r);
    if (gv_str_is(gv_node_str(wish), "Require")) {
        gv_rules_error(r, GV_CODE_STICKY_REQUIRE, "Forbidden", wish,
                       gv_path_fmt(GV_TMPL ".placement.sticky"),
                       "Require is reserved: a pod does not wait for the node of its index yet; "
                       "Prefer brings it back where there is room");
    }
}

/* ---- gangWait ---- */

static void check_gang_wait(gv_rules *r) {
    const grove_node *timeout = gv_node_path(r->tmpl, "gangWait.timeout");
    int64_t ns = 0;
    if (timeout && (gv_duration_parse(gv_node_str(timeout), &ns, NULL) < 0 || ns <= 0)) {
        gv_rules_error(r, GV_CODE_GANG_WAIT, "Invalid", timeout,
                       gv_path_fmt(GV_TMPL ".gangWait.timeout"), "timeout must be greater than 0");
    }
}

/* ---- failurePolicy ---- */

static void check_failure(gv_rules *r, const grove_node *owner, gv_path path, bool member) {
    const grove_node *policy = grove_node_get(owner, "failurePolicy");
    const grove_node *backoff = grove_node_get(policy, "backoff");
    int64_t ns = 0;
    if (policy && member) {
        gv_rules_error(r, GV_CODE_FAILURE_POLICY, "Forbidden", policy, path,
                       "a member of a scaling group stands and falls with its replica: the group "
                       "has the policy");
    } else if (backoff && (gv_duration_parse(gv_node_str(backoff), &ns, NULL) < 0 || ns < 0)) {
        gv_rules_error(r, GV_CODE_FAILURE_POLICY, "Invalid", backoff,
                       gv_path_fmt("%s.backoff", path.s), "backoff must not be negative");
    }
}

static void check_failures(gv_rules *r) {
    uint32_t i = 0;
    GV_EACH(clique, grove_node_get(r->tmpl, "cliques")) {
        check_failure(r, clique, gv_clique_path(i++, ".failurePolicy"),
                      gv_map_has(&r->member_of, gv_node_get_str(clique, "name")));
    }
    i = 0;
    GV_EACH(group, grove_node_get(r->tmpl, "podCliqueScalingGroups")) {
        gv_path path = gv_path_fmt(GV_TMPL ".podCliqueScalingGroups[%u].failurePolicy", i++);
        check_failure(r, group, path, false);
    }
}

/* ---- who can do it ---- */

/* The engine finds the places for these; all others choose nodes themselves. */
static bool engine_places(const gv_rules *r, gv_str scheduler) {
    const gv_scheduler_profile *profile = gv_config_scheduler(r->config, scheduler);
    return !profile || profile->gang_scheduling || gv_str_is(scheduler, "grove-scheduler");
}

static void refuse_field(gv_rules *r, const grove_node *node, gv_path path, gv_str scheduler) {
    if (node) {
        gv_rules_error(
            r, GV_CODE_EXTENSION_BACKEND, "Forbidden", node, path,
            "%.*s chooses the nodes of each gang by itself and cannot be told where pods "
            "of this or of other gangs are",
            TEXT(scheduler));
    }
}

static void check_backend(gv_rules *r, const gv_constraints *all) {
    gv_str name = gv_rules_scheduler(r, grove_node_first(grove_node_get(r->tmpl, "cliques")));
    if (engine_places(r, name)) {
        return;
    }
    const grove_node *wish = grove_node_get(r->tmpl, "crossGangPack");
    refuse_field(r, is_wish(wish) ? wish : NULL, gv_path_fmt(GV_TMPL ".crossGangPack"), name);
    wish = sticky_of(r);
    refuse_field(r, is_wish(wish) ? wish : NULL, gv_path_fmt(GV_TMPL ".placement.sticky"), name);
    for (size_t i = 0; i < all->n; i++) {
        refuse_field(r, grove_node_get(all->v[i].node, "spread"),
                     gv_path_fmt("%s.spread", all->v[i].path.s), name);
    }
}

void gv_rules_extensions(gv_rules *r) {
    gv_constraints all = {0};
    check_core_members(r);
    check_cross_gang_pack(r);
    check_sticky(r);
    check_ratios(r);
    check_gang_wait(r);
    check_failures(r);
    if (gv_constraints_of(r, r->tmpl, &all)) {
        gv_topology_name found = gv_topology_resolve(r, &all, false);
        const gv_topology_binding *t = gv_config_binding(r->config, found.name);
        for (size_t i = 0; i < all.n; i++) {
            if (grove_node_get(all.v[i].node, "spread")) {
                check_spread(r, &all.v[i], t);
                check_against_cross_gang_pack(r, &all.v[i], t);
            }
        }
        check_backend(r, &all);
    }
    gv_vec_fini(r->env, &all);
}
