/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A placement was found; does it have to spread as far? Brief exact searches for fewer narrowest domains.
 * What was found stays when they find nothing better. Where few hosts are in question spare.c looks closer.
 */
#include "sched/attempt.h"

#include <string.h>

#define SPAN_PODS 512u /* larger gangs keep the span that was found first */
#define SPAN_CANDIDATES 6u
#define SPAN_SINGLES 2u
#define SPAN_FRONTIER 512u
#define SPAN_STEPS 6000u

uint32_t gv_domains_used(const gv_problem *p, uint32_t level) {
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

uint32_t gv_hosts_used(const gv_problem *p) {
    gv_work *w = gv_work_of(p);
    uint32_t n = 0;
    w->stamp++;
    for (size_t i = 0; i < w->puts.n; i++) {
        uint32_t node = w->puts.v[i].node;
        n += w->seen_node.v[node] != w->stamp;
        w->seen_node.v[node] = w->stamp;
    }
    return n;
}

bool gv_kept_beaten(const gv_problem *p, const gv_kept *k) {
    uint32_t domains = gv_domains_used(p, p->t->n_levels);
    return domains < k->domains || (domains == k->domains && gv_hosts_used(p) < k->hosts);
}

bool gv_kept_take(const gv_problem *p, gv_kept *k) {
    gv_work *w = gv_work_of(p);
    k->n = w->puts.n;
    k->domains = gv_domains_used(p, p->t->n_levels);
    k->hosts = gv_hosts_used(p);
    k->v = gv_arena_alloc(&w->mem, k->n * sizeof *k->v);
    if (!k->v) {
        w->status = GROVE_E_NOMEM;
        k->n = 0;
        return false;
    }
    memcpy(k->v, w->puts.v, k->n * sizeof *k->v);
    return true;
}

void gv_kept_restore(const gv_problem *p, const gv_kept *k) {
    gv_work *w = gv_work_of(p);
    gv_work_back(p, w, 0);
    for (size_t i = 0; i < k->n && w->status == GROVE_OK; i++) {
        gv_work_put(p, w, k->v[i].part, k->v[i].node, k->v[i].count);
    }
}

/* So many narrowest domains it takes at least, even were they empty. */
static uint32_t least_domains(const gv_attempt *a) {
    const gv_problem *p = &a->p;
    uint32_t least = a->one_domain_bounded ? 1 : 2;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t holds = p->classes[k].column->empty[p->t->n_levels];
        uint64_t n = holds ? (p->classes[k].need + holds - 1) / holds : 0;
        least = n > least ? (uint32_t)n : least;
    }
    return least;
}

static bool span_may_shrink(const gv_attempt *a) {
    const gv_problem *p = &a->p;
    if (p->units[0].level >= p->t->n_levels || p->units[0].pods > SPAN_PODS) {
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
static bool place_on_one(gv_attempt *a) {
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
static bool place_on_few(gv_attempt *a, gv_candidates *c, uint32_t most) {
    if (most == 1) {
        return place_on_one(a);
    }
    for (uint32_t i = 0; i < SPAN_CANDIDATES && gv_candidates_next(c, i); i++) {
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
static void shrink_span(gv_attempt *a) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint32_t used = span_may_shrink(a) ? gv_domains_used(p, p->t->n_levels) : 0;
    uint32_t least = used > 1 ? least_domains(a) : used;
    if (used <= least) {
        return;
    }
    gv_kept before;
    gv_candidates c = {0};
    if (!gv_kept_take(p, &before) || (used > 2 && gv_candidates_gather(p, &w->mem, &c) < 0)) {
        w->status = GROVE_E_NOMEM;
        return;
    }
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
    if (!found) {
        gv_kept_restore(p, &before);
    }
}

void gv_span_shrink(gv_attempt *a) {
    if (a->s->order || a->s->verdict_only || (a->o->flags & GROVE_PLACE_GREEDY_ONLY)) {
        return;
    }
    if (gv_spare_applies(a)) {
        gv_spare_more(a);
    } else {
        shrink_span(a);
    }
}
