/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fewest narrowest domains and then the fewest hosts, where few hosts are in question: the exact search is
 * asked to leave more and more of them empty, until it proves that no more can be. Where it cannot prove that,
 * repack.c tries. What was found stays when nothing better is found.
 */
#include "sched/attempt.h"

#define SPARE_PODS 64u
#define SPARE_FRONTIER 1024u
#define SPARE_STEPS 40000u /* for domains, and once more for hosts */

/* So many domains or hosts it takes at least, even were they empty. */
static uint32_t least_at(const gv_problem *p, uint32_t level) {
    uint32_t least = 1;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t holds = p->classes[k].column->empty[level];
        uint64_t n = holds ? (p->classes[k].need + holds - 1) / holds : 0;
        least = n > least ? (uint32_t)n : least;
    }
    return least;
}

bool gv_spare_applies(const gv_attempt *a) {
    const gv_problem *p = &a->p;
    const gv_work *w = gv_work_of(p);
    uint32_t level = p->units[0].level, lo, hi;
    if (level >= p->host || p->units[0].pods > SPARE_PODS || w->puts.n == 0) {
        return false;
    }
    for (uint32_t u = 0; u < p->n_units && level < p->t->n_levels; u++) {
        if (p->units[u].pin != GV_NONE) { /* domains of members cost nothing: not counted here */
            return false;
        }
    }
    gv_problem_range(p->t, level, gv_topology_dom(p->t, w->puts.v[0].node, level), p->host, &lo,
                     &hi);
    return hi - lo <= GV_SPARE_HOSTS;
}

/* One step from `best` in candidate domain `d`: a domain less or, with `hosts`, a host less. */
static gv_answer leave_one_more(gv_attempt *a, uint32_t d, bool hosts, const gv_kept *best) {
    const gv_problem *p = &a->p;
    gv_spare all, ask = {0, 0};
    gv_work_back(p, gv_work_of(p), 0);
    if (!gv_exact_usable(p, d, SPARE_FRONTIER, &all)) {
        return GV_DONT_KNOW;
    }
    uint32_t domains = hosts ? best->domains : best->domains - 1;
    if (p->units[0].level < p->t->n_levels) {
        ask.domains = all.domains > domains ? all.domains - domains : 0;
    }
    if (hosts) {
        ask.hosts = all.hosts >= best->hosts ? all.hosts - best->hosts + 1 : 0;
    }
    return gv_exact_fill_sparing(p, d, SPARE_FRONTIER, &ask);
}

/* As few as there can be, as far as the budget goes; false: there may be fewer. */
static bool leave_most(gv_attempt *a, gv_candidates *c, bool hosts, uint32_t least, gv_kept *best) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint64_t budget = w->budget;
    bool proven = true;
    w->budget = w->steps + SPARE_STEPS < budget ? w->steps + SPARE_STEPS : budget;
    w->spare_cap.domains = p->units[0].level < p->t->n_levels ? GV_SPARE_HOSTS : 0;
    w->spare_cap.hosts = hosts ? GV_SPARE_HOSTS : 0;
    gv_exact_begin(p);
    for (uint32_t i = 0; i < GV_SPARE_CANDIDATES && gv_candidates_next(c, i); i++) {
        gv_answer more = GV_YES;
        while (more == GV_YES && (hosts ? best->hosts : best->domains) > least) {
            more = leave_one_more(a, c->v[i].domain, hosts, best);
            if (more == GV_YES && (!gv_kept_beaten(p, best) || !gv_kept_take(p, best))) {
                more = GV_DONT_KNOW;
            }
        }
        proven = proven && more != GV_DONT_KNOW;
    }
    gv_exact_end(p);
    w->spare_cap = (gv_spare){0, 0};
    w->budget = budget;
    return proven;
}

void gv_spare_more(gv_attempt *a) {
    gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    uint32_t domains = least_at(p, p->t->n_levels), hosts = least_at(p, p->host);
    domains = domains == 1 && !a->one_domain_bounded ? 2 : domains;
    if (w->status < 0 ||
        (gv_domains_used(p, p->t->n_levels) <= domains && gv_hosts_used(p) <= hosts)) {
        return;
    }
    gv_kept best = {0};
    gv_candidates c;
    if (!gv_kept_take(p, &best) || gv_candidates_gather(p, &w->mem, &c) < 0) {
        w->status = GROVE_E_NOMEM;
        return;
    }
    if (best.domains > domains && !leave_most(a, &c, false, domains, &best)) {
        gv_repack(a, &c, false, domains, &best);
    }
    if (best.hosts > hosts && !leave_most(a, &c, true, hosts, &best)) {
        gv_repack(a, &c, true, hosts, &best);
    }
    gv_kept_restore(p, &best);
}
