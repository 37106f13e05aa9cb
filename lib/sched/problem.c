/* SPDX-License-Identifier: Apache-2.0 */
/* From the description of a gang and a choice of levels to a tree of units. */
#include "sched/balance.h"

typedef struct draft {
    grove_sched *s;
    const grove_gang *g;
    const gv_topology *t;
    gv_arena *mem;
    gv_problem *p;
    uint32_t *unit_of;    /* entity -> unit */
    uint32_t *class_slot; /* podgroup -> problem class */
    gv_refusal *refusal;
} draft;

static uint32_t group_entity(uint32_t group) {
    return 1 + group;
}

static uint32_t podgroup_entity(const grove_gang *g, uint32_t podgroup) {
    return 1 + (uint32_t)g->groups.n + podgroup;
}

static uint32_t still_needed(const gv_podgroup *p) {
    return p->min > p->members ? p->min - p->members : 0;
}

static uint32_t surplus_of(const gv_podgroup *p) {
    uint32_t held = p->members > p->min ? p->members : p->min;
    return p->count > held ? p->count - held : 0;
}

static void refuse(draft *d, grove_reason reason, int32_t kind, uint32_t entity, uint32_t level) {
    if (d->refusal->reason == GROVE_REASON_NONE) {
        *d->refusal = (gv_refusal){reason, kind, entity, level};
    }
}

/* An entity becomes a unit when its level is narrower than that of the unit it lies in. */
static void add_entity(draft *d, int32_t kind, uint32_t entity, uint32_t slot, uint32_t level,
                       uint32_t parent_unit, bool has_pods) {
    gv_problem *p = d->p;
    if (level <= p->units[parent_unit].level) {
        p->units[parent_unit].seen_on |= level > 0 && has_pods ? 1u << level : 0;
        d->unit_of[slot] = parent_unit;
        return;
    }
    gv_unit *u = &p->units[p->n_units];
    *u = (gv_unit){.kind = kind,
                   .entity = entity,
                   .level = level,
                   .seen_on = 1u << level,
                   .parent = parent_unit,
                   .pin = GV_NONE};
    d->unit_of[slot] = p->n_units++;
}

/* Pods that the minimum needs, or that are there already. */
static bool podgroup_has_pods(const gv_podgroup *p) {
    return p->min > 0 || p->members > 0;
}

static bool group_has_pods(const grove_gang *g, const gv_group *group) {
    for (uint32_t i = 0; i < group->n; i++) {
        if (podgroup_has_pods(&g->podgroups.v[g->group_members.v[group->first + i]])) {
            return true;
        }
    }
    return false;
}

static void make_units(draft *d, const uint32_t *levels) {
    const grove_gang *g = d->g;
    gv_problem *p = d->p;
    uint32_t root = levels[0];
    if (g->anchor == GROVE_STRENGTH_REQUIRED && g->anchor_level != GV_LEVEL_UNKNOWN &&
        g->anchor_level > root) {
        root = g->anchor_level;
    }
    if (g->spread == GROVE_STRENGTH_REQUIRED && g->spread_level > root) {
        root = g->spread_level;
    }
    p->units[0] = (gv_unit){.kind = GROVE_ENTITY_GANG,
                            .level = root,
                            .seen_on = 1u << root | 1u << levels[0],
                            .parent = GV_NONE,
                            .pin = GV_NONE};
    p->n_units = 1;
    d->unit_of[0] = 0;
    for (size_t i = 0; i < g->groups.n; i++) {
        uint32_t id = g->group_order.v[i];
        const gv_group *group = &g->groups.v[id];
        uint32_t up = group->parent == GV_NONE ? 0 : group_entity(group->parent);
        add_entity(d, GROVE_ENTITY_GROUP, id, group_entity(id), levels[group_entity(id)],
                   d->unit_of[up], group_has_pods(g, group));
    }
    for (uint32_t i = 0; i < g->podgroups.n; i++) {
        uint32_t parent = g->podgroups.v[i].parent;
        uint32_t up = parent == GV_NONE ? 0 : group_entity(parent);
        add_entity(d, GROVE_ENTITY_PODGROUP, i, podgroup_entity(g, i),
                   levels[podgroup_entity(g, i)], d->unit_of[up],
                   podgroup_has_pods(&g->podgroups.v[i]));
    }
}

/* Pins a unit to the domain of `node`; two different domains contradict each other. */
static void pin_unit(draft *d, uint32_t unit, uint32_t node, grove_reason reason) {
    gv_unit *u = &d->p->units[unit];
    if (u->level == 0) {
        return;
    }
    uint32_t dom = gv_topology_dom(d->t, node, u->level);
    bool seen = u->level > d->t->n_levels || d->t->levels[u->level].labelled[dom];
    if (!seen || (u->pin != GV_NONE && u->pin != dom)) {
        refuse(d, reason, u->kind, u->entity, u->level);
        return;
    }
    u->pin = dom;
}

static void pin_members(draft *d) {
    const grove_gang *g = d->g;
    for (size_t i = 0; i < g->members.n; i++) {
        uint32_t unit = d->unit_of[podgroup_entity(g, g->members.v[i].podgroup)];
        for (; unit != GV_NONE; unit = d->p->units[unit].parent) {
            pin_unit(d, unit, g->members.v[i].node, GROVE_REASON_PINNED_APART);
        }
    }
    if (g->anchor != GROVE_STRENGTH_REQUIRED) {
        return;
    }
    if (g->anchor_level == GV_LEVEL_UNKNOWN) {
        refuse(d, GROVE_REASON_UNKNOWN_LEVEL, GROVE_ENTITY_GANG, 0, 0);
    } else if (g->anchor_level <= d->t->n_levels &&
               !d->t->levels[g->anchor_level]
                    .labelled[gv_topology_dom(d->t, g->anchor_node, g->anchor_level)]) {
        refuse(d, GROVE_REASON_ANCHOR, GROVE_ENTITY_GANG, 0, g->anchor_level);
    } else if (g->anchor_level == d->p->units[0].level) {
        pin_unit(d, 0, g->anchor_node, GROVE_REASON_ANCHOR);
    }
}

static grove_status make_classes(draft *d) {
    const grove_gang *g = d->g;
    gv_problem *p = d->p;
    for (uint32_t i = 0; i < g->podgroups.n; i++) {
        const gv_podgroup *pg = &g->podgroups.v[i];
        uint32_t need = still_needed(pg), k = 0;
        if (need == 0 && surplus_of(pg) == 0) {
            continue;
        }
        while (k < p->n_classes && p->classes[k].class_id != pg->class_id) {
            k++;
        }
        if (k == p->n_classes) {
            const gv_class *cls = &d->s->classes.v[pg->class_id];
            p->classes[k] = (gv_problem_class){pg->class_id, 0, cls, NULL,
                                               gv_sched_row(d->s, cls->vector)};
            p->n_classes++;
        }
        p->classes[k].need += need;
        d->class_slot[i] = k;
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        p->classes[k].column = gv_column_get(d->s, g->topology, p->classes[k].class_id);
        if (!p->classes[k].column) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

/* Parts and children of each unit as ranges, by counting sort over the unit they belong to. */
static grove_status make_ranges(draft *d) {
    const grove_gang *g = d->g;
    gv_problem *p = d->p;
    for (uint32_t i = 0; i < g->podgroups.n; i++) {
        if (still_needed(&g->podgroups.v[i]) > 0) {
            p->units[d->unit_of[podgroup_entity(g, i)]].n_parts++;
            p->n_parts++;
        }
    }
    for (uint32_t u = 1; u < p->n_units; u++) {
        p->units[p->units[u].parent].n_children++;
    }
    p->parts = gv_arena_array(d->mem, gv_part, p->n_parts + g->podgroups.n + 1);
    p->children = gv_arena_array(d->mem, uint32_t, p->n_units);
    if (!p->parts || !p->children) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t u = 0, part = 0, child = 0; u < p->n_units; u++) {
        gv_unit *unit = &p->units[u];
        unit->first_part = part;
        unit->first_child = child;
        part += unit->n_parts;
        child += unit->n_children;
        unit->n_parts = unit->n_children = 0;
    }
    for (uint32_t u = 1; u < p->n_units; u++) {
        gv_unit *up = &p->units[p->units[u].parent];
        p->children[up->first_child + up->n_children++] = u;
    }
    for (uint32_t i = 0; i < g->podgroups.n; i++) {
        uint32_t need = still_needed(&g->podgroups.v[i]);
        if (need > 0) {
            uint32_t u = d->unit_of[podgroup_entity(g, i)];
            gv_unit *unit = &p->units[u];
            p->parts[unit->first_part + unit->n_parts++] = (gv_part){i, d->class_slot[i], need, u};
        }
        uint32_t extra = surplus_of(&g->podgroups.v[i]);
        if (extra > 0) {
            p->parts[p->n_parts + p->n_surplus++] = (gv_part){i, d->class_slot[i], extra,
                                                              d->unit_of[podgroup_entity(g, i)]};
        }
    }
    return GROVE_OK;
}

static grove_status make_totals(draft *d) {
    gv_problem *p = d->p;
    size_t n_cls = p->n_classes ? p->n_classes : 1;
    p->totals = gv_arena_array(d->mem, uint32_t, p->n_units * n_cls);
    p->amounts = gv_arena_array(d->mem, int64_t, (size_t)p->n_units * p->n_res);
    if (!p->totals || !p->amounts) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < p->n_parts; i++) {
        const gv_part *part = &p->parts[i];
        p->totals[(size_t)part->unit * n_cls + part->cls] += part->need;
    }
    for (uint32_t u = p->n_units; u-- > 0;) {
        uint32_t *total = p->totals + (size_t)u * n_cls;
        for (uint32_t k = 0; k < p->n_classes; k++) {
            if (total[k] == 0) {
                continue;
            }
            p->units[u].pods += total[k];
            const gv_class *cls = p->classes[k].cls;
            for (uint32_t i = 0; i < cls->n_needs; i++) {
                int64_t *sum = &p->amounts[(size_t)u * p->n_res + cls->needs[i].resource];
                int64_t amount = cls->needs[i].amount;
                bool huge = amount > (INT64_MAX / 2 - *sum) / total[k];
                *sum = huge ? INT64_MAX / 2 : *sum + amount * total[k];
            }
            if (u > 0) {
                p->totals[(size_t)p->units[u].parent * n_cls + k] += total[k];
            }
        }
    }
    return GROVE_OK;
}

/* The resource of which the gang wants the largest part of what is free. */
static void choose_rank(draft *d) {
    gv_problem *p = d->p;
    int64_t best = -1;
    for (uint32_t r = 1; r < p->n_res; r++) {
        int64_t want = p->amounts[r], have = d->t->levels[0].free[r];
        if (want == 0) {
            continue;
        }
        int64_t share = want <= INT64_MAX / 1048576 ? want * 1048576 / (have + 1)
                                                    : want / (have / 1048576 + 1);
        if (share > best) {
            best = share;
            p->rank_res = r;
        }
    }
}

static grove_status measure_shares(draft *d) {
    gv_problem *p = d->p;
    p->shares = gv_arena_array(d->mem, uint32_t, p->n_res);
    p->share_mul = gv_arena_array(d->mem, int64_t, p->n_res);
    p->share_div = gv_arena_array(d->mem, int64_t, p->n_res);
    if (!p->shares || !p->share_mul || !p->share_div) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t r = 1; r < p->n_res; r++) {
        int64_t all = d->t->levels[0].free[r];
        bool asked = p->amounts[r] > 0 && d->s->resource_fixed.v[r] < 0;
        if (asked && r != p->rank_res) {
            p->shares[p->n_shares++] = r;
        }
        p->share_div[r] = all > GV_SHARE ? all / GV_SHARE : 0;
        p->share_mul[r] = all > GV_SHARE || all == 0 ? 1 : GV_SHARE / all;
    }
    return GROVE_OK;
}

grove_status gv_problem_build(grove_sched *s, const grove_gang *gang, const uint32_t *levels,
                              gv_arena *mem, gv_problem *out, gv_refusal *out_refusal) {
    uint32_t n_entities = 1 + (uint32_t)gang->groups.n + (uint32_t)gang->podgroups.n;
    gv_problem p = {.s = s, .gang = gang, .t = &s->topologies.v[gang->topology]};
    p.host = gv_topology_host(p.t);
    p.n_res = (uint32_t)s->resource_names.n;
    p.units = gv_arena_array(mem, gv_unit, n_entities);
    p.classes = gv_arena_array(mem, gv_problem_class, gang->podgroups.n + 1);
    draft d = {.s = s, .g = gang, .t = p.t, .mem = mem, .p = &p, .refusal = out_refusal};
    d.unit_of = gv_arena_array(mem, uint32_t, n_entities);
    d.class_slot = gv_arena_array(mem, uint32_t, gang->podgroups.n + 1);
    if (!p.units || !p.classes || !d.unit_of || !d.class_slot) {
        return GROVE_E_NOMEM;
    }
    out_refusal->reason = GROVE_REASON_NONE;
    make_units(&d, levels);
    pin_members(&d);
    grove_status st = make_classes(&d);
    st = st < 0 ? st : make_ranges(&d);
    st = st < 0 ? st : make_totals(&d);
    if (st < 0) {
        return st;
    }
    choose_rank(&d);
    st = measure_shares(&d);
    st = st < 0 ? st : gv_problem_dislikes(&p, mem);
    if (st < 0) {
        return st;
    }
    *out = p;
    return GROVE_OK;
}
