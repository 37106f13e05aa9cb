/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preferred levels: each wish is tried at its own level and climbs one level at a time up to what is
 * required. The combination with the least weighted climb that can be placed wins.
 */
#include "sched/attempt.h"

#include <string.h>

#define CLIMBS 96u /* combinations of preferred levels tried best first */

typedef struct wish {
    uint32_t slot;   /* entity */
    uint32_t top;    /* preferred level */
    uint32_t bottom; /* broadest level that still says something: 0 when the wish is dropped */
    uint32_t weight;
    uint32_t twin; /* an earlier wish of an equal entity, or GV_NONE */
} wish;

typedef struct climb {
    gv_attempt *a;
    uint32_t n_entities;
    uint32_t *levels; /* working copy */
    const uint32_t *required;
    wish *wishes;
    uint32_t n;
} climb;

static const uint32_t weights[] = {256, 16, 1}; /* gang, group, podgroup */

static int64_t climb_of(uint32_t kind, uint32_t required, uint32_t preferred, uint32_t reached) {
    if (preferred == 0 || preferred == GV_LEVEL_UNKNOWN || preferred <= required ||
        reached >= preferred) {
        return 0;
    }
    return (int64_t)weights[kind] * (preferred - (reached > required ? reached : required));
}

int64_t gv_climbed(const grove_gang *g, const uint32_t *reached) {
    int64_t sum = climb_of(0, g->required, g->preferred, reached[0]);
    for (size_t i = 0; i < g->groups.n; i++) {
        const gv_group *group = &g->groups.v[i];
        sum += climb_of(1, group->required, group->preferred, reached[1 + i]);
    }
    for (size_t i = 0; i < g->podgroups.n; i++) {
        const gv_podgroup *p = &g->podgroups.v[i];
        sum += climb_of(2, p->required, p->preferred, reached[1 + g->groups.n + i]);
    }
    return sum;
}

static bool equal_podgroups(const gv_podgroup *a, const gv_podgroup *b) {
    return a->class_id == b->class_id && a->min == b->min && a->members == 0 && b->members == 0 &&
           a->required == b->required && a->preferred == b->preferred && a->parent == b->parent;
}

static bool equal_groups(const grove_gang *g, const gv_group *a, const gv_group *b) {
    if (a->n != b->n || a->parent != b->parent || a->required != b->required ||
        a->preferred != b->preferred) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        const gv_podgroup *pa = &g->podgroups.v[g->group_members.v[a->first + i]];
        const gv_podgroup *pb = &g->podgroups.v[g->group_members.v[b->first + i]];
        if (pa->class_id != pb->class_id || pa->min != pb->min || pa->members || pb->members ||
            pa->required != pb->required || pa->preferred != pb->preferred) {
            return false;
        }
    }
    return true;
}

static bool twins(const grove_gang *g, uint32_t a, uint32_t b) {
    uint32_t n_groups = (uint32_t)g->groups.n;
    if (a == 0 || b == 0 || (a <= n_groups) != (b <= n_groups)) {
        return false;
    }
    return a <= n_groups ? equal_groups(g, &g->groups.v[a - 1], &g->groups.v[b - 1])
                         : equal_podgroups(&g->podgroups.v[a - 1 - n_groups],
                                           &g->podgroups.v[b - 1 - n_groups]);
}

static void add_wish(climb *c, const grove_gang *g, uint32_t slot, uint32_t kind, uint32_t required,
                     uint32_t preferred) {
    if (preferred == 0 || preferred == GV_LEVEL_UNKNOWN || preferred <= required) {
        return;
    }
    wish *w = &c->wishes[c->n];
    *w = (wish){slot, preferred, required, weights[kind], GV_NONE};
    for (uint32_t i = c->n; i-- > 0 && w->twin == GV_NONE;) {
        w->twin = twins(g, c->wishes[i].slot, slot) ? i : GV_NONE;
    }
    c->n++;
}

static void collect_wishes(climb *c) {
    const grove_gang *g = c->a->gang;
    add_wish(c, g, 0, 0, g->required, g->preferred);
    for (uint32_t i = 0; i < g->groups.n; i++) {
        add_wish(c, g, 1 + i, 1, g->groups.v[i].required, g->groups.v[i].preferred);
    }
    for (uint32_t i = 0; i < g->podgroups.n; i++) {
        add_wish(c, g, 1 + (uint32_t)g->groups.n + i, 2, g->podgroups.v[i].required,
                 g->podgroups.v[i].preferred);
    }
}

static void set_levels(climb *c, const uint8_t *up) {
    memcpy(c->levels, c->required, c->n_entities * sizeof *c->levels);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t level = c->wishes[i].top - up[i];
        uint32_t *at = &c->levels[c->wishes[i].slot];
        *at = level > *at ? level : *at;
    }
}

/* Climbing further than the required level says nothing new. */
static uint32_t most_up(const wish *w) {
    return w->top - w->bottom;
}

/* States in order of cost; `last` is the wish climbed last, so that no state is made twice. */
typedef struct state {
    uint8_t *up;
    uint64_t cost;
    uint32_t last;
    bool done;
} state;

static bool twin_order(const climb *c, const uint8_t *up) {
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->wishes[i].twin != GV_NONE && up[i] < up[c->wishes[i].twin]) {
            return false;
        }
    }
    return true;
}

static bool push_state(climb *c, state *states, uint32_t *n, uint32_t cap, const state *from,
                       uint32_t at) {
    gv_work *w = (gv_work *)c->a->s->work;
    if (*n == cap) {
        return true;
    }
    uint8_t *up = gv_arena_array(&w->mem, uint8_t, c->n);
    if (!up) {
        w->status = GROVE_E_NOMEM;
        return false;
    }
    if (from) {
        memcpy(up, from->up, c->n);
        up[at]++;
    }
    states[(*n)++] = (state){up, from ? from->cost + c->wishes[at].weight : 0, at, false};
    return true;
}

/* Best first over combinations of climbs; the cheapest that can be placed wins. */
static gv_answer climb_best_first(climb *c) {
    gv_work *w = (gv_work *)c->a->s->work;
    uint32_t cap = CLIMBS * 8, n = 0;
    state *states = gv_arena_array(&w->mem, state, cap);
    if (!states || !push_state(c, states, &n, cap, NULL, 0)) {
        w->status = GROVE_E_NOMEM;
        return GV_DONT_KNOW;
    }
    bool complete = true;
    for (uint32_t tried = 0; tried < CLIMBS && w->status == GROVE_OK;) {
        state *best = NULL;
        for (uint32_t i = 0; i < n; i++) {
            best = !states[i].done && (!best || states[i].cost < best->cost) ? &states[i] : best;
        }
        if (!best) {
            return complete ? GV_NO : GV_DONT_KNOW;
        }
        best->done = true;
        if (twin_order(c, best->up)) {
            set_levels(c, best->up);
            tried++;
            gv_answer a = gv_attempt_levels(c->a, c->levels, (int64_t)best->cost);
            if (a == GV_YES) {
                return a;
            }
            complete = complete && a == GV_NO;
        }
        for (uint32_t i = best->last; i < c->n; i++) {
            if (best->up[i] < most_up(&c->wishes[i]) && !push_state(c, states, &n, cap, best, i)) {
                return GV_DONT_KNOW;
            }
        }
    }
    return GV_DONT_KNOW;
}

/* One wish after the other, each as narrow as the former ones leave it: never worse than required. */
static gv_answer climb_in_turn(climb *c) {
    gv_work *w = (gv_work *)c->a->s->work;
    uint8_t *up = gv_arena_array(&w->mem, uint8_t, c->n);
    if (!up) {
        w->status = GROVE_E_NOMEM;
        return GV_DONT_KNOW;
    }
    int64_t cost = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        up[i] = (uint8_t)most_up(&c->wishes[i]);
        cost += (int64_t)up[i] * c->wishes[i].weight;
    }
    bool verdict_only = c->a->s->verdict_only;
    c->a->s->verdict_only = true; /* the last attempt is the answer */
    for (uint32_t i = 0; i < c->n && w->status == GROVE_OK; i++) {
        uint8_t all = up[i];
        for (uint8_t k = 0; k < all; k++) {
            up[i] = k;
            set_levels(c, up);
            int64_t less = cost - (int64_t)(all - k) * c->wishes[i].weight;
            if (gv_attempt_levels(c->a, c->levels, less) == GV_YES) {
                cost = less;
                break;
            }
            up[i] = all;
        }
    }
    c->a->s->verdict_only = verdict_only;
    set_levels(c, up);
    return gv_attempt_levels(c->a, c->levels, cost);
}

static gv_answer climb_wishes(climb *c) {
    gv_work *w = (gv_work *)c->a->s->work;
    uint64_t budget = w->budget;
    if (c->n == 0) {
        return gv_attempt_levels(c->a, c->required, 0);
    }
    /* Most often every wish comes true at once. */
    uint8_t *none = gv_arena_array(&w->mem, uint8_t, c->n);
    if (!none) {
        w->status = GROVE_E_NOMEM;
        return GV_DONT_KNOW;
    }
    w->budget = budget / 4;
    set_levels(c, none);
    gv_answer a = gv_attempt_levels(c->a, c->levels, 0);
    if (a == GV_YES || w->status < 0) {
        return a;
    }
    /* The requirements alone decide between PLACED and INFEASIBLE. */
    w->budget = budget;
    uint64_t spent = w->steps;
    a = gv_attempt_levels(c->a, c->required, 0);
    if (a != GV_YES) {
        return a;
    }
    w->budget = spent + (budget - spent) / 2;
    a = climb_best_first(c);
    if (a != GV_YES && w->status == GROVE_OK) {
        w->budget = UINT64_MAX;
        a = climb_in_turn(c);
    }
    return a;
}

gv_answer gv_climb(gv_attempt *a, const uint32_t *required, uint32_t n_entities) {
    gv_work *w = (gv_work *)a->s->work;
    climb c = {.a = a, .required = required, .n_entities = n_entities};
    c.levels = gv_arena_array(&w->mem, uint32_t, n_entities);
    c.wishes = gv_arena_array(&w->mem, wish, n_entities);
    if (!c.levels || !c.wishes) {
        w->status = GROVE_E_NOMEM;
        return GV_DONT_KNOW;
    }
    collect_wishes(&c);
    return climb_wishes(&c);
}
