/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where types of pods are too many for the exact search to tell how few domains and hosts do: greedy passes on
 * chosen ones alone. The others seem full to them. Every pass is bounded, and so are all together.
 */
#include "sched/attempt.h"
#include "sched/balance.h"
#include "sched/keys.h"

#include <string.h>

#define PASSES 12u /* of those that learn from what failed */
#define REPACK_STEPS 160000u
#define SUBSETS 200u /* of domains, each as many as there may be */
#define DOMAINS 8u   /* in one of them */

typedef struct refit {
    const gv_problem *p;
    uint32_t dom, lo, hi; /* the root's domain and its hosts */
    bool *allowed;        /* by host */
    gv_kept *best;
    uint64_t until; /* steps */
} refit;

/* What the allowed hosts have of each resource and class is enough. */
static bool sums_allow(const refit *f) {
    const gv_problem *p = f->p;
    for (uint32_t r = 0; r < p->n_res; r++) {
        int64_t free = 0;
        for (uint32_t i = f->lo; i < f->hi && free < p->amounts[r]; i++) {
            free += f->allowed[i - f->lo] ? gv_node_free(p->s, p->t->order[i])[r] : 0;
        }
        if (free < p->amounts[r]) {
            return false;
        }
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        uint64_t room = 0;
        for (uint32_t i = f->lo; i < f->hi; i++) {
            room += f->allowed[i - f->lo] ? p->classes[k].column->count[p->t->order[i]] : 0;
        }
        if (room < p->classes[k].need) {
            return false;
        }
    }
    return true;
}

/* Greedy passes on the allowed hosts alone; what is better than the best is kept. */
static bool fits_on_allowed(refit *f) {
    const gv_problem *p = f->p;
    gv_work *w = gv_work_of(p);
    if (w->steps > f->until || !gv_work_step(w, (f->hi - f->lo) / 8 + 1) || !sums_allow(f)) {
        return false;
    }
    gv_work_back(p, w, 0);
    bool ready = true;
    for (uint32_t i = f->lo; i < f->hi && ready; i++) {
        ready = f->allowed[i - f->lo] || gv_work_bar(p, w, p->t->order[i]);
    }
    bool found = ready &&
                 (gv_greedy_fill(p, GV_PASS_SMALL_FIRST, f->dom) ||
                  gv_greedy_fill(p, GV_PASS_SCARCE_FIRST, f->dom) ||
                  gv_greedy_fill(p, GV_PASS_ROOMY, f->dom) || gv_greedy_insist(p, f->dom, PASSES));
    gv_work_free_barred(p, w);
    return found && gv_kept_beaten(p, f->best) && gv_kept_take(p, f->best);
}

static void allow_used(refit *f) {
    const gv_topology *t = (*f->p).t;
    memset(f->allowed, 0, f->hi - f->lo);
    for (size_t i = 0; i < f->best->n; i++) {
        uint32_t pos = t->pos[f->best->v[i].node];
        if (pos >= f->lo && pos < f->hi) {
            f->allowed[pos - f->lo] = true;
        }
    }
}

static bool without(refit *f, uint32_t x, uint32_t y) {
    f->allowed[x] = f->allowed[y] = false;
    if (fits_on_allowed(f)) {
        return true;
    }
    f->allowed[x] = f->allowed[y] = true;
    return false;
}

/* Host z, which is not used, in the place of any two that are. */
static bool swap_in(refit *f, uint32_t z) {
    uint32_t n = f->hi - f->lo;
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = x + 1; y < n && f->allowed[x]; y++) {
            if (f->allowed[y] && x != z && y != z && without(f, x, y)) {
                return true;
            }
        }
    }
    return false;
}

/* One host less; or one less and another one in the place of a second. */
static bool drop_host(refit *f) {
    uint32_t n = f->hi - f->lo;
    allow_used(f);
    for (uint32_t x = 0; x < n; x++) {
        if (f->allowed[x] && without(f, x, x)) {
            return true;
        }
    }
    for (uint32_t z = 0; z < n; z++) {
        allow_used(f);
        if (!f->allowed[z]) {
            f->allowed[z] = true;
            if (swap_in(f, z)) {
                return true;
            }
        }
    }
    return false;
}

/* Of the allowed hosts only the `most` roomiest stay so; then each of the others in the place of the last. */
static bool on_roomiest(refit *f, uint32_t most) {
    const gv_problem *p = f->p;
    uint64_t keys[GV_SPARE_HOSTS];
    uint32_t n = 0;
    for (uint32_t i = f->lo; i < f->hi; i++) {
        if (f->allowed[i - f->lo]) {
            int64_t room = gv_node_free(p->s, p->t->order[i])[p->rank_res];
            uint64_t share = (uint64_t)gv_share(p, p->rank_res, room > 0 ? room : 0);
            keys[n++] = (UINT64_C(0xffffffff) - share) << 20 | (i - f->lo);
        }
    }
    if (most == 0 || most > n) {
        return false;
    }
    gv_keys_sort(keys, n);
    memset(f->allowed, 0, f->hi - f->lo);
    for (uint32_t i = 0; i + 1 < most; i++) {
        f->allowed[keys[i] & 0xfffff] = true;
    }
    for (uint32_t i = most - 1; i < n; i++) {
        f->allowed[keys[i] & 0xfffff] = true;
        if (fits_on_allowed(f)) {
            return true;
        }
        f->allowed[keys[i] & 0xfffff] = false;
    }
    return false;
}

/* The next of all choices of `most` numbers from lo to hi - 1, in order; false after the last. */
static bool next_choice(uint32_t *at, uint32_t most, uint32_t hi) {
    uint32_t i = most;
    while (i > 0 && at[i - 1] == hi - most + i - 1) {
        i--;
    }
    if (i == 0) {
        return false;
    }
    at[i - 1]++;
    for (; i < most; i++) {
        at[i] = at[i - 1] + 1;
    }
    return true;
}

static void allow_domains(refit *f, const uint32_t *at, uint32_t n) {
    const gv_level *level = &f->p->t->levels[f->p->t->n_levels];
    memset(f->allowed, 0, f->hi - f->lo);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t pos = level->lo[at[i]]; pos < level->hi[at[i]]; pos++) {
            f->allowed[pos - f->lo] = true;
        }
    }
}

/* Sets of `most` domains, one after the other; with `hosts`, on fewer hosts of theirs than now. */
static bool on_domains(refit *f, uint32_t most, bool hosts) {
    const gv_problem *p = f->p;
    uint32_t lo, hi, at[DOMAINS];
    if (p->units[0].level >= p->t->n_levels || most == 0 || most > DOMAINS) {
        return false;
    }
    gv_problem_range(p->t, p->units[0].level, f->dom, p->t->n_levels, &lo, &hi);
    if (most > hi - lo) {
        return false;
    }
    for (uint32_t i = 0; i < most; i++) {
        at[i] = lo + i;
    }
    for (uint32_t tried = 0; tried < SUBSETS; tried++) {
        allow_domains(f, at, most);
        if (hosts ? on_roomiest(f, f->best->hosts - 1) : fits_on_allowed(f)) {
            return true;
        }
        if (!next_choice(at, most, hi)) {
            break;
        }
    }
    return false;
}

static bool one_fewer(refit *f, bool hosts) {
    return hosts ? on_domains(f, f->best->domains, true) || drop_host(f)
                 : on_domains(f, f->best->domains - 1, false);
}

void gv_repack(gv_attempt *a, gv_candidates *c, bool hosts, uint32_t least, gv_kept *best) {
    const gv_problem *p = &a->p;
    gv_work *w = gv_work_of(p);
    refit f = {.p = p, .best = best, .until = w->steps + REPACK_STEPS};
    f.allowed = gv_arena_array(&w->mem, bool, GV_SPARE_HOSTS);
    if (!f.allowed) {
        w->status = GROVE_E_NOMEM;
        return;
    }
    w->urgency = NULL; /* it has the size of the problem at hand */
    for (uint32_t i = 0; i < GV_SPARE_CANDIDATES && gv_candidates_next(c, i); i++) {
        f.dom = c->v[i].domain;
        gv_problem_range(p->t, p->units[0].level, f.dom, p->host, &f.lo, &f.hi);
        bool more = f.hi - f.lo <= GV_SPARE_HOSTS;
        while (more && (hosts ? best->hosts : best->domains) > least) {
            more = one_fewer(&f, hosts);
        }
    }
}
