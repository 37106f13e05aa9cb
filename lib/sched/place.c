/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ladder for one choice of levels: the likeliest domains, bounds, greedy passes, exact search.
 */
#include "sched/attempt.h"

#include <string.h>

#define FIRST_PASS_DOMAINS 8 /* candidates that the first greedy pass tries */
#define OTHER_PASS_DOMAINS 3 /* and each further pass */
#define TOGETHER_DOMAINS 2   /* narrowest domains tried for the whole gang */
#define LIKELY_DOMAINS 2     /* of many narrow candidates, tried before all are gathered */
#define DEFAULT_FRONTIER 4096u
#define WIDEST_FRONTIER 65536u /* where the budget lasts for another search with wider ones */
#define SCRATCH_LIMIT ((size_t)256 << 20) /* memory of one exact search before it starts over */

/* ---- one choice of levels ---- */

static bool try_greedy(gv_attempt *a, gv_candidates *c) {
    for (uint32_t i = 0; i < FIRST_PASS_DOMAINS && gv_candidates_next(c, i); i++) {
        if (gv_greedy_fill(&a->p, GV_PASS_LARGE_FIRST, c->v[i].domain)) {
            return true;
        }
    }
    for (uint32_t pass = GV_PASS_LARGE_FIRST + 1; pass < GV_PASSES; pass++) {
        for (uint32_t i = 0; i < OTHER_PASS_DOMAINS && gv_candidates_next(c, i); i++) {
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
static bool try_likely(gv_attempt *a) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint32_t level = p->units[0].level;
    uint32_t tried = 0;
    bool placed = false;
    w->n_likely = 0;
    a->one_domain_bounded = true;
    if (a->s->order || a->s->score) {
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

/* All candidates from the first on with frontiers of `limit` entries. */
static gv_answer search_all(gv_attempt *a, gv_candidates *c, uint32_t limit) {
    gv_work *w = gv_work_of(&a->p);
    gv_answer all = GV_NO;
    gv_exact_begin(&a->p);
    for (uint32_t i = 0; gv_candidates_next(c, i); i++) {
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

/* What was left open only because frontiers were cut is searched with wider ones, as far as the budget goes. */
static gv_answer try_exact(gv_attempt *a, gv_candidates *c) {
    const gv_work *w = gv_work_of(&a->p);
    uint32_t limit = a->o->frontier ? a->o->frontier : DEFAULT_FRONTIER;
    gv_answer all = search_all(a, c, limit);
    while (all == GV_DONT_KNOW && !a->o->frontier && limit < WIDEST_FRONTIER &&
           w->status == GROVE_OK && w->steps <= w->budget) {
        limit *= 4;
        all = search_all(a, c, limit);
    }
    return all;
}

/* The decision from what lies in the overlay. */
static gv_answer write_down(gv_attempt *a) {
    gv_work *w = gv_work_of(&a->p);
    gv_surplus_fill(&a->p);
    if (w->status == GROVE_OK) {
        w->status = gv_decision_fill(&a->p, a->d);
    }
    return w->status < 0 ? GV_DONT_KNOW : GV_YES;
}

static gv_answer finish(gv_attempt *a) {
    gv_span_shrink(a);
    return write_down(a);
}

/*
 * What the first greedy pass finds in domain i, as it is: a look for fewer hosts could leave the domain that
 * the caller scores. The overlay is to be emptied afterwards.
 */
static bool fill_and_write(gv_attempt *a, const gv_candidates *c, uint32_t i) {
    return gv_greedy_fill(&a->p, GV_PASS_LARGE_FIRST, c->v[i].domain) && write_down(a) == GV_YES;
}

/* The caller's favourite among the first candidates; it is made once more at the end. */
static bool try_scored(gv_attempt *a, gv_candidates *c) {
    gv_work *w = gv_work_of(&a->p);
    uint32_t best = GV_NONE;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < a->s->score_among && w->status == GROVE_OK && gv_candidates_next(c, i);
         i++) {
        if (fill_and_write(a, c, i)) {
            a->d->verdict = GROVE_PLACED; /* the caller reads it */
            int64_t cost = a->s->score(a->s->score_ctx, a->d);
            a->d->verdict = GROVE_UNKNOWN;
            best = best == GV_NONE || cost < least ? i : best;
            least = best == i ? cost : least;
        }
        gv_work_end(&a->p);
    }
    return best != GV_NONE && w->status == GROVE_OK && fill_and_write(a, c, best);
}

/* Solves for one choice of levels; on GV_YES the decision is filled, on GV_NO the certificate. */
static gv_answer solve(gv_attempt *a, const uint32_t *levels) {
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
    if (!exact_only && a->s->score && try_scored(a, &c)) {
        return GV_YES;
    }
    if (!exact_only && try_greedy(a, &c)) {
        return finish(a);
    }
    gv_answer answer = gv_candidates_next(&c, 0) ? GV_DONT_KNOW : GV_NO;
    if (c.n > 0 && (a->o->flags & GROVE_PLACE_GREEDY_ONLY) == 0) {
        answer = try_exact(a, &c);
    }
    if (answer == GV_YES) {
        return finish(a);
    }
    if (answer == GV_NO) {
        gv_certificate_bounds(&a->p, a->d, &c);
    }
    return answer;
}

gv_answer gv_attempt_levels(gv_attempt *a, const uint32_t *levels, int64_t climbed) {
    gv_work *w = (gv_work *)a->s->work;
    a->d->cost.climbed = climbed;
    gv_answer answer = solve(a, levels);
    if (w->puts.n > 0 || w->touched.n > 0) {
        gv_work_end(&a->p);
    }
    return answer;
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
    gv_attempt a = {.s = s, .gang = gang, .d = d, .o = o};
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
    uint32_t n_entities = 1 + (uint32_t)gang->groups.n + (uint32_t)gang->podgroups.n;
    gv_answer answer = gv_climb(&a, required, n_entities);
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
