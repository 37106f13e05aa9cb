/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ladder: bounds, greedy passes, exact search, for one choice of levels; and around it the climb of
 * preferred constraints from narrow to broad.
 */
#include "sched/decision.h"

#include <string.h>

#define FIRST_PASS_DOMAINS 8 /* candidates that the first greedy pass tries */
#define OTHER_PASS_DOMAINS 3 /* and each further pass */
#define TOGETHER_DOMAINS 3   /* narrowest domains tried for the whole gang */
#define LIKELY_DOMAINS 2     /* of many narrow candidates, tried before all are gathered */
#define SPAN_PODS 512u       /* larger gangs keep the span that was found first */
#define SPAN_CANDIDATES 6u
#define SPAN_SINGLES 2u
#define SPAN_FRONTIER 512u
#define SPAN_STEPS 6000u
#define DEFAULT_FRONTIER 4096u
#define SCRATCH_LIMIT ((size_t)256 << 20) /* memory of one exact search before it starts over */
#define CLIMBS 96u                        /* combinations of preferred levels tried best first */

/* ---- one choice of levels ---- */

typedef struct attempt {
    grove_sched *s;
    const grove_gang *gang;
    grove_decision *d;
    const grove_place_options *o;
    gv_problem p;
    bool one_domain_bounded; /* some narrowest domain passes the bounds for everything */
} attempt;

static bool try_greedy(attempt *a, gv_candidates *c, uint32_t *sorted) {
    for (uint32_t i = 0; i < c->n && i < FIRST_PASS_DOMAINS; i++) {
        gv_candidates_next(c, i);
        *sorted = i + 1;
        if (gv_greedy_fill(&a->p, GV_PASS_LARGE_FIRST, c->v[i].domain)) {
            return true;
        }
    }
    for (uint32_t pass = GV_PASS_LARGE_FIRST + 1; pass < GV_PASSES; pass++) {
        for (uint32_t i = 0; i < c->n && i < OTHER_PASS_DOMAINS; i++) {
            if (gv_greedy_fill(&a->p, (gv_pass)pass, c->v[i].domain)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether one domain of the narrowest label level could hold everything, if it were empty. */
static bool small_enough(const gv_problem *p) {
    if (p->units[0].level >= p->t->n_levels) {
        return false;
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (p->classes[k].need > p->classes[k].column->empty[p->t->n_levels]) {
            return false;
        }
    }
    for (uint32_t u = 0; u < p->n_units; u++) {
        /* a unit broader than that domain would have to be looked up outside it */
        if (p->units[u].pin != GV_NONE || (u > 0 && p->units[u].level < p->t->n_levels)) {
            return false;
        }
    }
    return true;
}

static bool fill_largest_first(const gv_problem *p, uint32_t domain) {
    gv_work *w = gv_work_of(p);
    if (p->units[0].level == p->t->n_levels && w->n_likely < 8) {
        w->likely[w->n_likely++] = domain;
    }
    return gv_greedy_fill(p, GV_PASS_LARGE_FIRST, domain);
}

/*
 * The most likely domains, for speed. The whole gang in one narrowest domain comes first: nothing spans
 * less than that, whatever level the gang asks for.
 */
static bool try_likely(attempt *a) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint32_t level = p->units[0].level;
    uint32_t tried = 0;
    bool placed = false;
    w->n_likely = 0;
    a->one_domain_bounded = true;
    if (a->s->order) {
        return false;
    }
    if (small_enough(p)) {
        p->units[0].level = p->t->n_levels;
        w->status = gv_candidates_few(p, &w->mem, TOGETHER_DOMAINS, fill_largest_first, &placed,
                                      &tried);
        p->units[0].level = level;
        a->one_domain_bounded = tried > 0;
    }
    if (!placed && w->status == GROVE_OK && level >= p->t->n_levels) {
        w->status = gv_candidates_few(p, &w->mem, LIKELY_DOMAINS, fill_largest_first, &placed,
                                      &tried);
    }
    return placed && w->status == GROVE_OK;
}

static gv_answer try_exact(attempt *a, gv_candidates *c, uint32_t sorted) {
    gv_work *w = gv_work_of(&a->p);
    uint32_t limit = a->o->frontier ? a->o->frontier : DEFAULT_FRONTIER;
    gv_answer all = GV_NO;
    gv_exact_begin(&a->p);
    for (uint32_t i = 0; i < c->n; i++) {
        if (i >= sorted) {
            gv_candidates_next(c, i);
        }
        if (w->scratch.bytes > SCRATCH_LIMIT) {
            gv_exact_begin(&a->p);
        }
        gv_answer one = gv_exact_fill(&a->p, c->v[i].domain, limit, 0);
        if (one == GV_YES) {
            all = GV_YES;
            break;
        }
        all = one == GV_NO ? all : GV_DONT_KNOW;
        if (w->status < 0 || w->steps > w->budget) {
            all = GV_DONT_KNOW;
            break;
        }
    }
    gv_exact_end(&a->p);
    return all;
}

/* ---- span ---- */

static uint32_t domains_used(const gv_problem *p, uint32_t level) {
    gv_work *w = gv_work_of(p);
    uint32_t n = 0;
    w->stamp++;
    for (size_t i = 0; i < w->puts.n; i++) {
        uint32_t at = w->level_at.v[level] + gv_topology_dom(p->t, w->puts.v[i].node, level);
        n += w->seen_domain.v[at] != w->stamp;
        w->seen_domain.v[at] = w->stamp;
    }
    return n;
}

/* So many narrowest domains it takes at least, even were they empty. */
static uint32_t least_domains(const attempt *a) {
    const gv_problem *p = &a->p;
    uint32_t least = a->one_domain_bounded ? 1 : 2;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t holds = p->classes[k].column->empty[p->t->n_levels];
        uint64_t n = holds ? (p->classes[k].need + holds - 1) / holds : 0;
        least = n > least ? (uint32_t)n : least;
    }
    return least;
}

static bool span_may_shrink(const attempt *a) {
    const gv_problem *p = &a->p;
    if (p->units[0].level >= p->t->n_levels || p->units[0].pods > SPAN_PODS || a->s->order ||
        (a->o->flags & GROVE_PLACE_GREEDY_ONLY)) {
        return false;
    }
    for (uint32_t u = 0; u < p->n_units; u++) {
        if (p->units[u].pin != GV_NONE || (u > 0 && p->units[u].level < p->t->n_levels)) {
            return false;
        }
    }
    return true;
}

/* Everything in one of the narrowest domains that the bounds allow. */
static bool place_on_one(attempt *a) {
    const gv_problem *p = &a->p;
    const gv_work *w = gv_work_of(p);
    uint32_t last = GV_NONE;
    for (uint32_t i = 0, tried = 0; i < w->n_likely && tried < SPAN_SINGLES; i++) {
        uint32_t d = w->likely[i];
        for (uint32_t l = p->t->n_levels; l > p->units[0].level; l--) {
            d = p->t->levels[l].parent[d];
        }
        if (d != last && gv_exact_fill(p, d, SPAN_FRONTIER, 1) == GV_YES) {
            return true;
        }
        tried += d != last;
        last = d;
    }
    return false;
}

/* Looks for a placement on `most` narrowest domains in the likeliest candidates. */
static bool place_on_few(attempt *a, gv_candidates *c, uint32_t most) {
    if (most == 1) {
        return place_on_one(a);
    }
    for (uint32_t i = 0; i < c->n && i < SPAN_CANDIDATES; i++) {
        gv_candidates_next(c, i);
        if (gv_exact_fill(&a->p, c->v[i].domain, SPAN_FRONTIER, most) == GV_YES) {
            return true;
        }
    }
    return false;
}

/*
 * A placement was found; one that spans fewer narrowest domains is looked for, briefly, from the fewest
 * on. What was found stays when there is none.
 */
static void shrink_span(attempt *a) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint32_t used = span_may_shrink(a) ? domains_used(p, p->t->n_levels) : 0;
    uint32_t least = used > 1 ? least_domains(a) : used;
    if (used <= least) {
        return;
    }
    size_t n = w->puts.n;
    gv_put *before = gv_arena_alloc(&w->mem, n * sizeof *before);
    gv_candidates c = {0};
    if (!before || (used > 2 && gv_candidates_gather(p, &w->mem, &c) < 0)) {
        w->status = GROVE_E_NOMEM;
        return;
    }
    memcpy(before, w->puts.v, n * sizeof *before);
    gv_work_back(p, w, 0);
    uint64_t budget = w->budget;
    w->budget = w->steps + SPAN_STEPS < budget ? w->steps + SPAN_STEPS : budget;
    bool found = false;
    gv_exact_begin(p);
    for (uint32_t most = least; most < used && !found && w->status == GROVE_OK; most++) {
        found = place_on_few(a, &c, most);
    }
    gv_exact_end(p);
    w->budget = budget;
    for (size_t i = 0; i < n && !found && w->status == GROVE_OK; i++) {
        gv_work_put(p, w, before[i].part, before[i].node, before[i].count);
    }
}

static gv_answer finish(attempt *a) {
    gv_work *w = gv_work_of(&a->p);
    shrink_span(a);
    gv_surplus_fill(&a->p);
    if (w->status == GROVE_OK) {
        w->status = gv_decision_fill(&a->p, a->d);
    }
    return w->status < 0 ? GV_DONT_KNOW : GV_YES;
}

/* Solves for one choice of levels; on GV_YES the decision is filled, on GV_NO the certificate. */
static gv_answer solve(attempt *a, const uint32_t *levels) {
    gv_work *w = (gv_work *)a->s->work;
    gv_refusal refusal;
    grove_status st = gv_problem_build(a->s, a->gang, levels, &w->mem, &a->p, &refusal);
    if (st < 0) {
        w->status = st;
        return GV_DONT_KNOW;
    }
    if (refusal.reason != GROVE_REASON_NONE) {
        gv_certificate_refusal(a->d, &refusal);
        return GV_NO;
    }
    if (a->p.units[0].pods == 0) {
        return finish(a);
    }
    bool exact_only = (a->o->flags & GROVE_PLACE_EXACT_ONLY) != 0;
    a->one_domain_bounded = true;
    if (!exact_only && try_likely(a)) {
        return finish(a);
    }
    if (w->status < 0) {
        return GV_DONT_KNOW;
    }
    gv_candidates c;
    w->status = gv_candidates_gather(&a->p, &w->mem, &c);
    if (w->status < 0) {
        return GV_DONT_KNOW;
    }
    uint32_t sorted = 0;
    if (!exact_only && try_greedy(a, &c, &sorted)) {
        return finish(a);
    }
    gv_answer answer = c.n == 0 ? GV_NO : GV_DONT_KNOW;
    if (c.n > 0 && (a->o->flags & GROVE_PLACE_GREEDY_ONLY) == 0) {
        answer = try_exact(a, &c, sorted);
    }
    if (answer == GV_YES) {
        return finish(a);
    }
    if (answer == GV_NO) {
        gv_certificate_bounds(&a->p, a->d, &c);
    }
    return answer;
}

/* One attempt with an empty overlay before and after. */
static gv_answer attempt_levels(attempt *a, const uint32_t *levels, int64_t climbed) {
    gv_work *w = (gv_work *)a->s->work;
    a->d->cost.climbed = climbed;
    gv_answer answer = solve(a, levels);
    if (w->puts.n > 0 || w->touched.n > 0) {
        gv_work_end(&a->p);
    }
    return answer;
}

/* ---- preferred levels ---- */

typedef struct wish {
    uint32_t slot;   /* entity */
    uint32_t top;    /* preferred level */
    uint32_t bottom; /* broadest level that still says something: 0 when the wish is dropped */
    uint32_t weight;
    uint32_t twin; /* an earlier wish of an equal entity, or GV_NONE */
} wish;

typedef struct climb {
    attempt *a;
    uint32_t n_entities;
    uint32_t *levels; /* working copy */
    const uint32_t *required;
    wish *wishes;
    uint32_t n;
} climb;

static const uint32_t weights[] = {256, 16, 1}; /* gang, group, podgroup */

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
            gv_answer a = attempt_levels(c->a, c->levels, (int64_t)best->cost);
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
    for (uint32_t i = 0; i < c->n && w->status == GROVE_OK; i++) {
        uint8_t all = up[i];
        for (uint8_t k = 0; k < all; k++) {
            up[i] = k;
            set_levels(c, up);
            int64_t less = cost - (int64_t)(all - k) * c->wishes[i].weight;
            if (attempt_levels(c->a, c->levels, less) == GV_YES) {
                cost = less;
                break;
            }
            up[i] = all;
        }
    }
    set_levels(c, up);
    return attempt_levels(c->a, c->levels, cost);
}

static gv_answer climb_wishes(climb *c) {
    gv_work *w = (gv_work *)c->a->s->work;
    uint64_t budget = w->budget;
    if (c->n == 0) {
        return attempt_levels(c->a, c->required, 0);
    }
    /* Most often every wish comes true at once. */
    uint8_t *none = gv_arena_array(&w->mem, uint8_t, c->n);
    if (!none) {
        w->status = GROVE_E_NOMEM;
        return GV_DONT_KNOW;
    }
    w->budget = budget / 4;
    set_levels(c, none);
    gv_answer a = attempt_levels(c->a, c->levels, 0);
    if (a == GV_YES || w->status < 0) {
        return a;
    }
    /* The requirements alone decide between PLACED and INFEASIBLE. */
    w->budget = budget;
    uint64_t spent = w->steps;
    a = attempt_levels(c->a, c->required, 0);
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

/* ---- entry ---- */

uint32_t *gv_required_levels(const grove_gang *g, gv_arena *mem, gv_refusal *refusal) {
    size_t n = 1 + g->groups.n + g->podgroups.n;
    uint32_t *levels = gv_arena_array(mem, uint32_t, n);
    if (!levels) {
        return NULL;
    }
    levels[0] = g->required;
    for (size_t i = 0; i < g->groups.n; i++) {
        levels[1 + i] = g->groups.v[i].required;
    }
    for (size_t i = 0; i < g->podgroups.n; i++) {
        levels[1 + g->groups.n + i] = g->podgroups.v[i].required;
    }
    refusal->reason = GROVE_REASON_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i] == GV_LEVEL_UNKNOWN && refusal->reason == GROVE_REASON_NONE) {
            uint32_t groups = (uint32_t)g->groups.n;
            int32_t kind = i == 0        ? GROVE_ENTITY_GANG
                           : i <= groups ? GROVE_ENTITY_GROUP
                                         : GROVE_ENTITY_PODGROUP;
            uint32_t id = i == 0 ? 0 : i <= groups ? i - 1 : i - 1 - groups;
            *refusal = (gv_refusal){GROVE_REASON_UNKNOWN_LEVEL, kind, id, GV_LEVEL_UNKNOWN};
        }
    }
    return levels;
}

grove_status gv_place(grove_sched *s, const grove_gang *gang, const grove_place_options *o,
                      grove_decision *d) {
    gv_work *w = (gv_work *)s->work;
    attempt a = {.s = s, .gang = gang, .d = d, .o = o};
    gv_refusal refusal;
    uint32_t *required = gv_required_levels(gang, &w->mem, &refusal);
    if (!required) {
        return GROVE_E_NOMEM;
    }
    gv_decision_clear(d);
    if (refusal.reason != GROVE_REASON_NONE) {
        gv_certificate_refusal(d, &refusal);
        d->verdict = GROVE_INFEASIBLE;
        d->steps = 0;
        return GROVE_OK;
    }
    climb c = {.a = &a, .required = required};
    c.n_entities = 1 + (uint32_t)gang->groups.n + (uint32_t)gang->podgroups.n;
    c.levels = gv_arena_array(&w->mem, uint32_t, c.n_entities);
    c.wishes = gv_arena_array(&w->mem, wish, c.n_entities);
    if (!c.levels || !c.wishes) {
        return GROVE_E_NOMEM;
    }
    collect_wishes(&c);
    gv_answer answer = climb_wishes(&c);
    if (w->status < 0) {
        return w->status;
    }
    d->verdict = answer == GV_YES  ? GROVE_PLACED
                 : answer == GV_NO ? GROVE_INFEASIBLE
                                   : GROVE_UNKNOWN;
    d->steps = w->steps;
    if (answer == GV_YES) {
        d->certificate.reason = GROVE_REASON_NONE;
    } else if (answer == GV_DONT_KNOW) {
        d->certificate = (grove_certificate){.size = (uint32_t)sizeof d->certificate,
                                             .reason = GROVE_REASON_BUDGET,
                                             .level = GROVE_LEVEL_NONE,
                                             .nearest = GV_NONE,
                                             .class_id = GV_NONE,
                                             .resource = GV_NONE,
                                             .have = (int64_t)w->steps};
    }
    return GROVE_OK;
}
