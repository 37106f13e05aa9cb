/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best set of victims in one domain. First the shortest sufficient prefix of the list from the least
 * important on, thinned out; if the bounds leave room for a better one, branch and bound: the most important
 * unit first, each tried to stay. What is still to be settled counts as gone in each question, so a no ends
 * the branch: whoever does not fit then fits with none of the sets below it.
 */
#include "sched/preempt.h"

#include <string.h>

#define TESTS_PER_DOMAIN 600u
#define TESTS_IN_ALL 6000u
#define UNITS_SEARCHED 256u

bool gv_toll_better(const gv_toll *a, const gv_toll *b) {
    if (!b->who || a->priority != b->priority) {
        return !b->who || a->priority < b->priority;
    }
    return a->gangs != b->gangs ? a->gangs < b->gangs : a->pods < b->pods;
}

static bool may_ask(gv_hunt *h) {
    const grove_place_options *o = h->o;
    uint64_t budget = o && o->steps ? o->steps : gv_env_limits(h->s->env)->search_steps;
    return h->st == GROVE_OK && h->tests < TESTS_PER_DOMAIN && h->asked < TESTS_IN_ALL &&
           h->steps <= budget;
}

static bool ask(gv_hunt *h) {
    grove_verdict v = gv_hunt_ask(h, h->here, h->n_here);
    h->cut = h->cut || v == GROVE_UNKNOWN;
    return v == GROVE_PLACED;
}

/* ---- a first set ---- */

/* The first k units, less those that their queues cannot afford to lose. */
static void choose_first(gv_hunt *h, uint32_t k) {
    memset(h->less, 0, grove_sched_queue_count(h->s) * sizeof *h->less);
    for (uint32_t i = 0; i < h->n_here; i++) {
        h->here[i]->chosen = false;
    }
    for (uint32_t i = 0; i < h->n_here && i < k; i++) {
        gv_prey *v = h->here[i];
        if (!gv_prey_covered(v)) {
            v->chosen = gv_prey_afford(h, v, 1);
            if (!v->chosen) {
                (void)gv_prey_afford(h, v, -1);
            }
        }
    }
}

/* The shortest sufficient prefix, by doubling and halving; 0 when not even all suffice. */
static uint32_t shortest_prefix(gv_hunt *h, uint32_t at_least) {
    uint32_t low = 0, high = at_least ? at_least : 1;
    for (;; high *= 2) {
        high = high < h->n_here ? high : h->n_here;
        choose_first(h, high);
        if (ask(h)) {
            break;
        }
        if (high == h->n_here || h->st < 0) {
            return 0;
        }
        low = high;
    }
    while (high - low > 1 && h->st == GROVE_OK) {
        uint32_t mid = low + (high - low) / 2;
        choose_first(h, mid);
        if (ask(h)) {
            high = mid;
        } else {
            low = mid;
        }
    }
    choose_first(h, high);
    return high;
}

static gv_toll toll_of(const gv_hunt *h) {
    gv_toll t = {.priority = INT32_MIN};
    for (uint32_t i = 0; i < h->n_here; i++) {
        const gv_prey *v = h->here[i];
        if (v->chosen && !gv_prey_covered(v)) {
            t.priority = v->priority > t.priority ? v->priority : t.priority;
            t.gangs += v->gangs;
            t.pods += v->pods;
            t.n++;
        }
    }
    return t;
}

/* Keeps the chosen set when it is the best so far. */
static void keep(gv_hunt *h) {
    gv_toll t = toll_of(h);
    if (!gv_toll_better(&t, &h->best)) {
        return;
    }
    t.who = gv_arena_array(h->mem, gv_prey *, t.n + 1);
    if (!t.who) {
        h->st = GROVE_E_NOMEM;
        return;
    }
    for (uint32_t i = 0, n = 0; i < h->n_here; i++) {
        if (h->here[i]->chosen && !gv_prey_covered(h->here[i])) {
            t.who[n++] = h->here[i];
        }
    }
    h->best = t;
}

/* Reverse delete: the most important first, each tried to stay. */
static void thin_out(gv_hunt *h, uint32_t n) {
    for (uint32_t i = n; i-- > 0 && may_ask(h);) {
        if (h->here[i]->chosen) {
            h->here[i]->chosen = false;
            h->here[i]->chosen = !ask(h);
        }
    }
}

/* ---- all sets ---- */

typedef struct branch {
    int32_t priority;
    uint32_t gangs, pods;
} branch;

/* The settled units of this branch, and what is needed at least. */
static bool can_win(const gv_hunt *h, const branch *b, uint32_t gangs, uint32_t pods) {
    gv_toll least = {.priority = b->priority,
                     .gangs = b->gangs > gangs ? b->gangs : gangs,
                     .pods = b->pods > pods ? b->pods : pods};
    return gv_toll_better(&least, &h->best);
}

static bool goes_along(const gv_prey *v) {
    for (const gv_prey *up = v->under; up; up = up->under) {
        if (up->in) {
            return true;
        }
    }
    return false;
}

/* Of equal units those that stay are the ones settled first. */
static bool equal_one_goes(const gv_hunt *h, uint32_t i) {
    for (uint32_t k = i + 1; k < h->n_here; k++) {
        if (h->here[k]->in && gv_prey_equal(h, h->here[i], h->here[k])) {
            return true;
        }
    }
    return false;
}

typedef struct search {
    gv_hunt *h;
    uint32_t gangs, pods; /* the least that can do */
} search;

/* Units from i on are settled; those below are gone for now. */
static void settle(search *x, uint32_t i, branch b) {
    gv_hunt *h = x->h;
    if (!can_win(h, &b, x->gangs, x->pods) || h->st < 0) {
        return;
    }
    if (i == 0) {
        keep(h);
        return;
    }
    gv_prey *v = h->here[i - 1];
    if (goes_along(v)) {
        settle(x, i - 1, b);
        return;
    }
    if (!equal_one_goes(h, i - 1)) {
        if (!may_ask(h)) {
            h->cut = true;
            return;
        }
        v->chosen = false;
        if (ask(h)) {
            settle(x, i - 1, b);
        }
        v->chosen = true;
    }
    branch with = {v->priority > b.priority ? v->priority : b.priority, b.gangs + v->gangs,
                   b.pods + v->pods};
    v->in = true;
    if (gv_prey_afford(h, v, 1)) {
        settle(x, i - 1, with);
    }
    (void)gv_prey_afford(h, v, -1);
    v->in = false;
}

static void branch_and_bound(gv_hunt *h, uint32_t gangs, uint32_t pods) {
    search x = {h, gangs, pods};
    branch none = {h->floor, 0, 0};
    if (!can_win(h, &none, gangs, pods)) {
        return;
    }
    if (h->n_here > UNITS_SEARCHED) {
        h->cut = true;
        return;
    }
    memset(h->less, 0, grove_sched_queue_count(h->s) * sizeof *h->less);
    for (uint32_t i = 0; i < h->n_here; i++) {
        h->here[i]->chosen = true;
        h->here[i]->in = false;
    }
    if (ask(h)) {
        settle(&x, h->n_here, none);
    }
}

void gv_hunt_minimal(gv_hunt *h, uint32_t gangs, uint32_t pods) {
    h->tests = 0;
    if (h->n_here == 0) {
        return;
    }
    uint32_t n = shortest_prefix(h, pods);
    if (n > 0 && h->st == GROVE_OK) {
        if (toll_of(h).pods > pods) { /* else nobody can be spared */
            thin_out(h, n);
        }
        if (h->st == GROVE_OK) {
            keep(h);
        }
    }
    /* Without a prefix only the shares can stand in the way: another choice may be affordable. */
    if (h->st == GROVE_OK && (n > 0 || h->reclaim)) {
        branch_and_bound(h, gangs, pods);
    }
}

void gv_hunt_thin_out(gv_hunt *h) {
    for (uint32_t i = 0; i < h->best.n; i++) {
        h->here[i] = h->best.who[i];
        h->here[i]->chosen = true;
    }
    h->n_here = h->best.n;
    h->tests = 0;
    thin_out(h, h->n_here);
    keep(h);
}
