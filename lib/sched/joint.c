/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs decided together. In the order of service each gang takes what is best for itself, and a later one
 * may find no place although both would fit. It is then described as one gang with some of those before it,
 * each a group with its own constraints, and the search that places groups places gangs. Nobody loses: the
 * others either keep their places or all get new ones.
 */
#include "sched/serve.h"

/* Wishes of the whole gang that a group cannot have. */
static bool can_join(const gv_guest *guest, const grove_gang *with) {
    const grove_gang *g = guest->g;
    return g->anchor != GROVE_STRENGTH_REQUIRED && g->spread != GROVE_STRENGTH_REQUIRED &&
           g->topology == with->topology && guest->d->verdict != GROVE_UNKNOWN;
}

static grove_level outer(uint32_t level) {
    return level == GV_LEVEL_UNKNOWN ? GROVE_LEVEL_UNKNOWN : (grove_level)level - 1;
}

static grove_status add_groups(grove_gang *joint, const grove_gang *g, uint32_t first,
                               uint32_t *ids) {
    uint32_t id, n = (uint32_t)g->podgroups.n;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = first + i;
    }
    grove_status st = grove_gang_group(joint, gv_gang_text(g, g->name), ids, n, outer(g->required),
                                       outer(g->preferred), &id);
    for (uint32_t i = 0; i < g->groups.n && st == GROVE_OK; i++) {
        const gv_group *group = &g->groups.v[i];
        for (uint32_t k = 0; k < group->n; k++) {
            ids[k] = first + g->group_members.v[group->first + k];
        }
        st = grove_gang_group(joint, gv_gang_text(g, group->name), ids, group->n,
                              outer(group->required), outer(group->preferred), &id);
    }
    return st;
}

static grove_status add_guest(gv_serve *v, const grove_gang *g) {
    grove_gang *joint = v->joint;
    uint32_t first = (uint32_t)joint->podgroups.n, id, n = (uint32_t)g->podgroups.n;
    uint32_t *ids = gv_arena_array(&v->mem, uint32_t, n + 1);
    grove_status st = ids ? GROVE_OK : GROVE_E_NOMEM;
    for (uint32_t i = 0; i < n && st == GROVE_OK; i++) {
        const gv_podgroup *p = &g->podgroups.v[i];
        st = grove_gang_podgroup(joint, gv_gang_text(g, p->name), p->class_id, p->min, p->count,
                                 outer(p->required), outer(p->preferred), &id);
    }
    for (size_t i = 0; i < g->members.n && st == GROVE_OK; i++) {
        st = grove_gang_member(joint, first + g->members.v[i].podgroup, g->members.v[i].node);
    }
    for (size_t i = 0; i < g->sticky.n && st == GROVE_OK; i++) {
        const gv_sticky *wish = &g->sticky.v[i];
        st = grove_gang_sticky(joint, first + wish->podgroup, wish->index, wish->node);
    }
    return st == GROVE_OK && n > 0 ? add_groups(joint, g, first, ids) : st;
}

/* Who takes part, in the order of service: the guest and the last that got their places. */
static uint32_t choose(const gv_serve *v, uint32_t at, uint32_t *list) {
    uint32_t n = 0, most = v->o.together < 64 ? v->o.together : 64;
    for (uint32_t i = v->n_served; i-- > 0 && n + 1 < most;) {
        const gv_guest *one = &v->guests[v->order[i]];
        if (one->gang != GV_NONE && can_join(one, v->guests[at].g)) {
            list[n++] = v->order[i];
        }
    }
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = list[i];
        list[i] = list[n - 1 - i];
        list[n - 1 - i] = swap;
    }
    list[n++] = at;
    return n;
}

static grove_status describe(gv_serve *v, const uint32_t *list, uint32_t n) {
    grove_status st = GROVE_OK;
    if (!v->joint) {
        st = grove_gang_new(v->s, &v->joint);
    }
    if (st == GROVE_OK && !v->joint_decision) {
        st = grove_decision_new(v->s, &v->joint_decision);
    }
    st = st < 0 ? st : grove_gang_begin(v->joint, v->guests[list[0]].g->topology, "together");
    for (uint32_t i = 0; i < n && st == GROVE_OK; i++) {
        st = add_guest(v, v->guests[list[i]].g);
    }
    return st;
}

/* Each guest's own decision from its part of the joint one, and its pods. */
static grove_status take_apart(gv_serve *v, const uint32_t *list, uint32_t n) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        gv_guest *one = &v->guests[list[i]];
        uint32_t n_pg = (uint32_t)one->g->podgroups.n;
        const uint32_t **nodes = gv_arena_array(&v->mem, const uint32_t *, n_pg + 1);
        uint32_t *counts = gv_arena_array(&v->mem, uint32_t, n_pg + 1);
        if (!nodes || !counts) {
            return GROVE_E_NOMEM;
        }
        for (uint32_t k = 0; k < n_pg; k++) {
            nodes[k] = grove_decision_nodes(v->joint_decision, at++, &counts[k]);
        }
        grove_status st = gv_decision_refill(v->s, one->g, nodes, counts, one->d);
        st = st < 0 ? st : gv_serve_commit(v, list[i]);
        if (st < 0) {
            return st;
        }
        one->flags |= GROVE_SERVED_TOGETHER;
    }
    return GROVE_OK;
}

grove_status gv_joint_place(gv_serve *v, uint32_t at, bool *out_placed) {
    uint32_t list[64];
    uint64_t mark;
    *out_placed = false;
    if (v->o.together < 2 || !can_join(&v->guests[at], v->guests[at].g)) {
        return GROVE_OK;
    }
    uint32_t n = choose(v, at, list);
    if (n < 2) {
        return GROVE_OK;
    }
    grove_status st = describe(v, list, n);
    st = st < 0 ? st : grove_sched_mark(v->s, &mark);
    if (st < 0) {
        return st == GROVE_E_LIMIT ? GROVE_OK : st; /* too many podgroups for one gang */
    }
    for (uint32_t i = 0; i + 1 < n && st == GROVE_OK; i++) {
        st = grove_sched_release(v->s, v->guests[list[i]].gang);
    }
    st = st < 0 ? st : grove_sched_place(v->s, v->joint, &v->place, v->joint_decision, NULL);
    if (st == GROVE_OK && grove_decision_verdict(v->joint_decision) == GROVE_PLACED) {
        *out_placed = true;
        st = take_apart(v, list, n);
    }
    if (st < 0 || !*out_placed) {
        grove_sched_rollback(v->s, mark);
        return st;
    }
    return grove_sched_keep(v->s, mark);
}
