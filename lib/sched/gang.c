/* SPDX-License-Identifier: Apache-2.0 */
/* Describing a gang: podgroups, groups, members, wishes. */
#include "sched/gang.h"

#include <string.h>

grove_status grove_gang_new(grove_sched *sched, grove_gang **out_gang) {
    if (!sched || !out_gang) {
        return GROVE_E_INVALID;
    }
    grove_gang *g = gv_zalloc(sched->env, sizeof *g);
    if (!g) {
        return GROVE_E_NOMEM;
    }
    g->sched = sched;
    g->topology = GV_NONE;
    *out_gang = g;
    return GROVE_OK;
}

void grove_gang_free(grove_gang *gang) {
    if (!gang) {
        return;
    }
    grove_env *env = gang->sched->env;
    gv_vec_fini(env, &gang->texts);
    gv_vec_fini(env, &gang->podgroups);
    gv_vec_fini(env, &gang->groups);
    gv_vec_fini(env, &gang->group_members);
    gv_vec_fini(env, &gang->group_order);
    gv_vec_fini(env, &gang->owner);
    gv_vec_fini(env, &gang->members);
    gv_vec_fini(env, &gang->sticky);
    gv_vec_fini(env, &gang->spread_nodes);
    gv_free(env, gang, sizeof *gang);
}

static grove_status keep_text(grove_gang *g, const char *text, uint32_t *out) {
    size_t n = strlen(text ? text : "") + 1;
    if (g->texts.n + n > UINT32_MAX || !gv_vec_reserve(g->sched->env, &g->texts, g->texts.n + n)) {
        return GROVE_E_NOMEM;
    }
    memcpy(g->texts.v + g->texts.n, text ? text : "", n);
    *out = (uint32_t)g->texts.n;
    g->texts.n += n;
    return GROVE_OK;
}

/* Public to internal; false: out of range. */
static bool take_level(const grove_gang *g, grove_level level, uint32_t *out) {
    grove_level host = grove_sched_host_level(g->sched, g->topology);
    if (level < GROVE_LEVEL_UNKNOWN || level > host) {
        return false;
    }
    *out = level == GROVE_LEVEL_UNKNOWN ? GV_LEVEL_UNKNOWN : (uint32_t)(level + 1);
    return true;
}

static bool described(const grove_gang *g) {
    return g && g->topology != GV_NONE;
}

grove_status grove_gang_begin(grove_gang *gang, uint32_t topology, const char *name) {
    grove_gang *g = gang;
    if (!g || topology >= g->sched->topologies.n) {
        return GROVE_E_INVALID;
    }
    g->topology = topology;
    g->required = g->preferred = 0;
    g->priority = 0;
    g->queue = g->flags = g->blocked = 0;
    g->base = GV_NONE;
    g->since = 0;
    g->texts.n = g->podgroups.n = g->groups.n = g->group_members.n = 0;
    g->members.n = g->sticky.n = g->spread_nodes.n = 0;
    g->anchor = g->spread = GROVE_STRENGTH_NONE;
    g->linked = false;
    return keep_text(g, name, &g->name);
}

grove_status grove_gang_pack(grove_gang *gang, grove_level required, grove_level preferred) {
    uint32_t r, p;
    if (!described(gang) || !take_level(gang, required, &r) || !take_level(gang, preferred, &p)) {
        return GROVE_E_INVALID;
    }
    gang->required = r;
    gang->preferred = p;
    return GROVE_OK;
}

grove_status grove_gang_podgroup(grove_gang *gang, const char *name, uint32_t class_id,
                                 uint32_t min, uint32_t count, grove_level required,
                                 grove_level preferred, uint32_t *out_podgroup) {
    gv_podgroup p = {.class_id = class_id, .min = min, .count = count, .parent = GV_NONE};
    if (!described(gang) || class_id >= gang->sched->classes.n || min > count ||
        !take_level(gang, required, &p.required) || !take_level(gang, preferred, &p.preferred)) {
        return GROVE_E_INVALID;
    }
    if (count > GV_COUNT_MAX || gang->podgroups.n >= 4096) {
        return GROVE_E_LIMIT;
    }
    grove_status st = keep_text(gang, name, &p.name);
    if (st < 0 || !gv_vec_push(gang->sched->env, &gang->podgroups, p)) {
        return GROVE_E_NOMEM;
    }
    gang->linked = false;
    *out_podgroup = (uint32_t)gang->podgroups.n - 1;
    return GROVE_OK;
}

grove_status grove_gang_group(grove_gang *gang, const char *name, const uint32_t *podgroups,
                              uint32_t n_podgroups, grove_level required, grove_level preferred,
                              uint32_t *out_group) {
    gv_group g = {.n = n_podgroups, .parent = GV_NONE};
    if (!described(gang) || (n_podgroups && !podgroups) ||
        !take_level(gang, required, &g.required) || !take_level(gang, preferred, &g.preferred)) {
        return GROVE_E_INVALID;
    }
    g.first = (uint32_t)gang->group_members.n;
    if (keep_text(gang, name, &g.name) < 0 ||
        !gv_vec_reserve(gang->sched->env, &gang->group_members, g.first + n_podgroups) ||
        !gv_vec_push(gang->sched->env, &gang->groups, g)) {
        return GROVE_E_NOMEM;
    }
    if (n_podgroups > 0) {
        memcpy(gang->group_members.v + g.first, podgroups, n_podgroups * sizeof *podgroups);
    }
    gang->group_members.n += n_podgroups;
    gang->linked = false;
    *out_group = (uint32_t)gang->groups.n - 1;
    return GROVE_OK;
}

grove_status grove_gang_member(grove_gang *gang, uint32_t podgroup, uint32_t node) {
    if (!described(gang) || podgroup >= gang->podgroups.n || !gv_node_live(gang->sched, node)) {
        return GROVE_E_INVALID;
    }
    if (!gv_vec_push(gang->sched->env, &gang->members, ((gv_member){podgroup, node}))) {
        return GROVE_E_NOMEM;
    }
    gang->podgroups.v[podgroup].members++;
    return GROVE_OK;
}

grove_status grove_gang_sticky(grove_gang *gang, uint32_t podgroup, uint32_t index, uint32_t node) {
    if (!described(gang) || podgroup >= gang->podgroups.n) {
        return GROVE_E_INVALID;
    }
    if (!gv_node_live(gang->sched, node)) {
        return GROVE_OK; /* a wish for a node that is gone is no wish */
    }
    return gv_vec_push(gang->sched->env, &gang->sticky, ((gv_sticky){podgroup, index, node}))
               ? GROVE_OK
               : GROVE_E_NOMEM;
}

grove_status grove_gang_anchor(grove_gang *gang, grove_level level, uint32_t node,
                               grove_strength strength) {
    uint32_t l;
    if (!described(gang) || !take_level(gang, level, &l) || strength < GROVE_STRENGTH_NONE ||
        strength > GROVE_STRENGTH_REQUIRED || !gv_node_live(gang->sched, node)) {
        return GROVE_E_INVALID;
    }
    gang->anchor = l == 0 ? GROVE_STRENGTH_NONE : strength;
    gang->anchor_level = l;
    gang->anchor_node = node;
    return GROVE_OK;
}

grove_status grove_gang_spread(grove_gang *gang, grove_level level, uint32_t max_skew,
                               grove_strength strength, const uint32_t *nodes, uint32_t n_nodes) {
    uint32_t l;
    if (!described(gang) || !take_level(gang, level, &l) || strength < GROVE_STRENGTH_NONE ||
        strength > GROVE_STRENGTH_REQUIRED || max_skew == 0 || (n_nodes && !nodes)) {
        return GROVE_E_INVALID;
    }
    gang->spread_nodes.n = 0;
    for (uint32_t i = 0; i < n_nodes; i++) {
        if (!gv_vec_push(gang->sched->env, &gang->spread_nodes, nodes[i])) {
            return GROVE_E_NOMEM;
        }
    }
    gang->spread = l == 0 || l == GV_LEVEL_UNKNOWN ? GROVE_STRENGTH_NONE : strength;
    gang->spread_level = l;
    gang->spread_skew = max_skew;
    return GROVE_OK;
}

grove_status grove_gang_priority(grove_gang *gang, int32_t priority) {
    if (!described(gang)) {
        return GROVE_E_INVALID;
    }
    gang->priority = priority;
    return GROVE_OK;
}

grove_status grove_gang_queue(grove_gang *gang, uint32_t queue) {
    if (!described(gang) || queue >= grove_sched_queue_count(gang->sched)) {
        return GROVE_E_INVALID;
    }
    gang->queue = queue;
    return GROVE_OK;
}

grove_status grove_gang_waiting(grove_gang *gang, int64_t since, uint32_t blocked) {
    if (!described(gang)) {
        return GROVE_E_INVALID;
    }
    gang->since = since;
    gang->blocked = blocked;
    return GROVE_OK;
}

grove_status grove_gang_flags(grove_gang *gang, uint32_t flags) {
    if (!described(gang) || (flags & ~(uint32_t)(GROVE_GANG_NEVER_EVICT | GROVE_GANG_YIELDS))) {
        return GROVE_E_INVALID;
    }
    gang->flags = flags;
    return GROVE_OK;
}

grove_status grove_gang_base(grove_gang *gang, uint32_t base) {
    if (!described(gang) || (base != GV_NONE && !gv_gang_live(gang->sched, base))) {
        return GROVE_E_INVALID;
    }
    gang->base = base;
    return GROVE_OK;
}

/* Largest groups first; equal ones keep their order. */
static void order_groups(grove_gang *g) {
    for (uint32_t i = 0; i < g->groups.n; i++) {
        uint32_t at = i;
        while (at > 0 && g->groups.v[g->group_order.v[at - 1]].n < g->groups.v[i].n) {
            g->group_order.v[at] = g->group_order.v[at - 1];
            at--;
        }
        g->group_order.v[at] = i;
    }
}

grove_status gv_gang_link(grove_gang *gang, grove_error *err) {
    grove_gang *g = gang;
    if (g->linked) {
        return GROVE_OK;
    }
    if (!gv_vec_reserve(g->sched->env, &g->group_order, g->groups.n) ||
        !gv_vec_reserve(g->sched->env, &g->owner, g->podgroups.n)) {
        return gv_error_nomem(err);
    }
    order_groups(g);
    for (size_t p = 0; p < g->podgroups.n; p++) {
        g->owner.v[p] = GV_NONE;
    }
    for (size_t i = 0; i < g->groups.n; i++) {
        uint32_t id = g->group_order.v[i];
        gv_group *group = &g->groups.v[id];
        for (uint32_t k = 0; k < group->n; k++) {
            uint32_t of = g->group_members.v[group->first + k];
            if (of >= g->podgroups.n) {
                return gv_error(err, GROVE_E_INVALID,
                                "group '%s' names podgroup %u, which is not there",
                                gv_gang_text(g, group->name), of);
            }
            if (g->owner.v[of] == id) {
                return gv_error(err, GROVE_E_INVALID, "group '%s' names a podgroup twice",
                                gv_gang_text(g, group->name));
            }
            if (k > 0 && g->owner.v[of] != group->parent) {
                return gv_error(err, GROVE_E_INVALID, "group '%s' crosses another group",
                                gv_gang_text(g, group->name));
            }
            group->parent = g->owner.v[of];
            g->owner.v[of] = id;
        }
        if (group->n == 0) {
            group->parent = GV_NONE;
        }
    }
    for (size_t p = 0; p < g->podgroups.n; p++) {
        g->podgroups.v[p].parent = g->owner.v[p];
    }
    g->linked = true;
    return GROVE_OK;
}
