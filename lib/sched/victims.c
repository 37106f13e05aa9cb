/* SPDX-License-Identifier: Apache-2.0 */
/* Who may go for a gang: by priority in its own queue, or from queues above their share. */
#include "sched/preempt.h"

#include <string.h>

#include "sched/keys.h"

#define PREY_MAX 0x1fffffu /* units that a sort key can number */

/* ---- eligibility ---- */

static bool lies_below(const grove_sched *s, uint32_t queue, uint32_t above) {
    while (queue != GROVE_QUEUE_NONE && queue != above) {
        queue = gv_queue_at(s, queue)->parent;
    }
    return queue == above;
}

static bool queue_may_lose(const gv_hunt *h, uint32_t queue) {
    const grove_sched *s = h->s;
    if (!h->reclaim) {
        return queue == GROVE_QUEUE_NONE || queue == h->g->queue;
    }
    if (queue == GROVE_QUEUE_NONE || gv_queue_branch(s, h->g->queue, queue) == GV_NONE) {
        return false;
    }
    uint32_t top = gv_queue_branch(s, queue, h->g->queue);
    if (top == GV_NONE) {
        return false; /* one lies above the other */
    }
    if (h->within != GROVE_QUEUE_NONE && !lies_below(s, queue, h->within)) {
        return false; /* the one that has all it may would end with more */
    }
    for (uint32_t q = queue;; q = gv_queue_at(s, q)->parent) {
        if (gv_queue_at(s, q)->used[h->scarce] <= gv_queue_at(s, q)->share[h->scarce]) {
            return false;
        }
        if (q == top) {
            return true;
        }
    }
}

static bool pod_may_go(const gv_hunt *h, const gv_pod *p) {
    return (h->reclaim || p->priority < h->g->priority) &&
           (p->flags & GROVE_POD_NEVER_EVICT) == 0 && queue_may_lose(h, gv_pod_queue(p));
}

static bool gang_may_go(const gv_hunt *h, uint32_t id) {
    const gv_gang_record *g = &h->s->gangs.v[id];
    return (h->reclaim || g->priority < h->g->priority) &&
           (g->flags & GROVE_GANG_NEVER_EVICT) == 0 && queue_may_lose(h, g->queue) &&
           id != h->g->base;
}

/* Whether `id` goes when `base` goes. */
static bool goes_with(const grove_sched *s, uint32_t id, uint32_t base) {
    while (id != GV_NONE && id != base) {
        id = gv_gang_base(s, id);
    }
    return id == base;
}

/* ---- listing ---- */

/* Importance in the high bits, then the kind (single pods first), then how many pods go. */
static uint64_t prey_key(const gv_prey *v) {
    uint64_t importance = (uint64_t)((int64_t)v->priority - INT32_MIN);
    uint64_t pods = v->pods < 1023 ? v->pods : 1023;
    return importance << 11 | (uint64_t)(v->gangs > 0) << 10 | pods;
}

typedef struct listing {
    gv_hunt *h;
    gv_prey *units;
    uint32_t n, most;
    uint32_t n_gangs, cap_gangs;
    uint32_t *has_base; /* gangs with a base, which are few */
    uint32_t n_has_base;
    gv_prey **unit_of; /* gang -> its unit */
} listing;

static bool add_gang(listing *l, uint32_t id) {
    gv_hunt *h = l->h;
    const grove_sched *s = h->s;
    gv_prey *v = &l->units[l->n];
    if (!gang_may_go(h, id)) {
        return true;
    }
    *v = (gv_prey){.who = {id, GV_NONE}, .first = l->n_gangs, .priority = INT32_MIN};
    for (uint32_t i = 0; i <= l->n_has_base; i++) {
        uint32_t one = i == 0 ? id : l->has_base[i - 1];
        if (i > 0 && (one == id || !goes_with(s, one, id))) {
            continue;
        }
        if (!gang_may_go(h, one)) {
            l->n_gangs = v->first;
            return true;
        }
        if (l->n_gangs == l->cap_gangs) {
            return false;
        }
        const gv_gang_record *g = &s->gangs.v[one];
        h->gangs[l->n_gangs++] = one;
        v->gangs++;
        v->pods += g->n_pods;
        v->priority = g->priority > v->priority ? g->priority : v->priority;
    }
    l->unit_of[id] = v;
    l->n++;
    return true;
}

static bool goes_singly(gv_hunt *h, uint32_t pod) {
    const grove_sched *s = h->s;
    const gv_pod *p = &s->pods.v[pod];
    bool single = p->gang == GV_NONE || (p->flags & GV_POD_SURPLUS);
    bool held = p->gang != GV_NONE && (s->gangs.v[p->gang].flags & GROVE_GANG_NEVER_EVICT);
    return p->node != GV_NONE && single && !held && pod_may_go(h, p);
}

/* Node by node, so that the first ones of a list leave whole nodes rather than a part of each. */
static bool list_pods(listing *l) {
    gv_hunt *h = l->h;
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    uint32_t *from = gv_arena_array(h->mem, uint32_t, s->nodes.n + 1);
    uint8_t *goes = gv_arena_array(h->mem, uint8_t, s->pods.n + 1);
    if (!from || !goes) {
        return false;
    }
    for (uint32_t i = 0; i < s->pods.n; i++) {
        goes[i] = goes_singly(h, i);
        from[goes[i] ? t->pos[s->pods.v[i].node] + 1 : 0] += goes[i];
    }
    for (uint32_t n = 0; n < s->nodes.n; n++) {
        from[n + 1] += from[n];
    }
    l->n = from[s->nodes.n] < l->most ? from[s->nodes.n] : l->most;
    h->cut = h->cut || from[s->nodes.n] > l->most;
    for (uint32_t i = 0; i < s->pods.n; i++) {
        const gv_pod *p = &s->pods.v[i];
        uint32_t at = goes[i] ? from[t->pos[p->node]]++ : l->n;
        if (at < l->n) {
            l->units[at] = (gv_prey){.who = {p->gang, i}, .priority = p->priority, .pods = 1};
        }
    }
    return true;
}

static bool list_units(listing *l) {
    gv_hunt *h = l->h;
    const grove_sched *s = h->s;
    if (!list_pods(l)) {
        return false;
    }
    for (uint32_t i = 0; i < s->gangs.n; i++) {
        bool there = s->gangs.v[i].live && s->gangs.v[i].n_pods > 0;
        if (there && (l->n == l->most || !add_gang(l, i))) {
            h->cut = true; /* more than can be listed: fewer choices */
        }
    }
    return true;
}

static void tie_units(listing *l) {
    const grove_sched *s = l->h->s;
    for (uint32_t i = 0; i < l->n; i++) {
        gv_prey *v = &l->units[i];
        if (v->who.gang == GV_NONE) {
            continue;
        }
        uint32_t up = v->who.pod != GV_NONE ? v->who.gang : gv_gang_base(s, v->who.gang);
        while (up != GV_NONE && !l->unit_of[up]) {
            up = gv_gang_base(s, up);
        }
        v->under = up == GV_NONE ? NULL : l->unit_of[up];
    }
}

/* Room for the lists of gangs: each gang stands in its own and in those of its bases. */
static uint32_t count_closures(listing *l) {
    const grove_sched *s = l->h->s;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->gangs.n; i++) {
        if (!s->gangs.v[i].live) {
            continue;
        }
        if (gv_gang_base(s, i) != GV_NONE) {
            l->has_base[l->n_has_base++] = i;
        }
        for (uint32_t up = i; up != GV_NONE; up = gv_gang_base(s, up)) {
            n++;
        }
    }
    return n;
}

grove_status gv_prey_collect(gv_hunt *h) {
    const grove_sched *s = h->s;
    size_t most = s->pods.n + s->gangs.n;
    listing l = {.h = h, .most = most < PREY_MAX ? (uint32_t)most : PREY_MAX};
    l.units = gv_arena_array(h->mem, gv_prey, l.most + 1);
    l.unit_of = gv_arena_array(h->mem, gv_prey *, s->gangs.n + 1);
    l.has_base = gv_arena_array(h->mem, uint32_t, s->gangs.n + 1);
    h->all = gv_arena_array(h->mem, gv_prey *, l.most + 1);
    h->here = gv_arena_array(h->mem, gv_prey *, l.most + 1);
    uint64_t *keys = gv_arena_array(h->mem, uint64_t, l.most + 1);
    if (!l.units || !l.unit_of || !l.has_base || !h->all || !h->here || !keys) {
        return GROVE_E_NOMEM;
    }
    l.cap_gangs = count_closures(&l);
    h->gangs = gv_arena_array(h->mem, uint32_t, l.cap_gangs + 1);
    h->less = gv_arena_array(h->mem, int64_t, grove_sched_queue_count(s));
    if (!h->gangs || !h->less) {
        return GROVE_E_NOMEM;
    }
    if (!list_units(&l)) {
        return GROVE_E_NOMEM;
    }
    tie_units(&l);
    for (uint32_t i = 0; i < l.n; i++) {
        keys[i] = prey_key(&l.units[i]) << 21 | i;
    }
    gv_keys_sort(keys, l.n);
    for (uint32_t i = 0; i < l.n; i++) {
        h->all[i] = &l.units[keys[i] & PREY_MAX];
    }
    h->n_all = l.n;
    return GROVE_OK;
}

/* ---- questions about units ---- */

bool gv_prey_covered(const gv_prey *v) {
    for (const gv_prey *up = v->under; up; up = up->under) {
        if (up->chosen) {
            return true;
        }
    }
    return false;
}

bool gv_prey_equal(const gv_hunt *h, const gv_prey *a, const gv_prey *b) {
    if (a->who.pod == GV_NONE || b->who.pod == GV_NONE) {
        return false;
    }
    const gv_pod *x = &h->s->pods.v[a->who.pod], *y = &h->s->pods.v[b->who.pod];
    return x->node == y->node && x->vector == y->vector && x->gang == y->gang &&
           x->priority == y->priority && x->flags == y->flags;
}

bool gv_prey_in_domain(const gv_hunt *h, const gv_prey *v, uint32_t domain) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    if (v->who.pod != GV_NONE) {
        return gv_topology_dom(t, s->pods.v[v->who.pod].node, h->level) == domain;
    }
    for (uint32_t k = 0; k < v->gangs; k++) {
        uint32_t p = s->gangs.v[h->gangs[v->first + k]].head;
        for (; p != GV_NONE; p = s->pods.v[p].gang_next) {
            if (gv_topology_dom(t, s->pods.v[p].node, h->level) == domain) {
                return true;
            }
        }
    }
    return false;
}

/* ---- shares ---- */

static bool charge_queue(gv_hunt *h, uint32_t queue, int64_t amount) {
    const grove_sched *s = h->s;
    uint32_t top = gv_queue_branch(s, queue, h->g->queue);
    bool within = true;
    for (uint32_t q = queue; q != GV_NONE; q = gv_queue_at(s, q)->parent) {
        h->less[q] += amount;
        within = within && gv_queue_at(s, q)->used[h->scarce] - h->less[q] >=
                               gv_queue_at(s, q)->share[h->scarce];
        if (q == top) {
            break;
        }
    }
    return within;
}

bool gv_prey_afford(gv_hunt *h, const gv_prey *v, int sign) {
    const grove_sched *s = h->s;
    if (!h->reclaim) {
        return true;
    }
    if (v->who.pod != GV_NONE) {
        const gv_pod *p = &s->pods.v[v->who.pod];
        return charge_queue(h, gv_pod_queue(p), sign * gv_sched_row(s, p->vector)[h->scarce]);
    }
    bool within = true;
    for (uint32_t k = 0; k < v->gangs; k++) {
        const gv_gang_record *g = &s->gangs.v[h->gangs[v->first + k]];
        int64_t sum = 0;
        for (uint32_t p = g->head; p != GV_NONE; p = s->pods.v[p].gang_next) {
            sum += gv_sched_row(s, s->pods.v[p].vector)[h->scarce];
        }
        within = charge_queue(h, g->queue, sign * sum) && within;
    }
    return within;
}

/* Where the gang asks for the largest part of all there is; pods count only when it asks for nothing else. */
static uint32_t scarcest(const grove_sched *s, const int64_t *need) {
    int64_t total[GV_RESOURCES_MAX];
    uint32_t best = 0;
    gv_shares_total(s, total);
    for (uint32_t r = 1; r < s->resource_names.n; r++) {
        bool asked = need[r] > 0 && s->resource_fixed.v[r] < 0;
        if (asked && (best == 0 || gv_ratio_cmp(need[r], total[r], need[best], total[best]) > 0)) {
            best = r;
        }
    }
    return best;
}

/* The first resource of which the queue would have more than its share with `need` more; GV_NONE: none. */
static uint32_t over_share(const grove_sched *s, uint32_t q, const int64_t *need) {
    const gv_queue *queue = gv_queue_at(s, q);
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        if (need[r] > 0 && s->resource_fixed.v[r] < 0 &&
            queue->used[r] + need[r] > queue->share[r]) {
            return r;
        }
    }
    return GV_NONE;
}

bool gv_reclaim_entitled(gv_hunt *h) {
    grove_sched *s = h->s;
    int64_t need[GV_RESOURCES_MAX];
    gv_gang_needs(s, h->g, need);
    h->scarce = scarcest(s, need);
    h->within = h->g->queue;
    uint32_t r = over_share(s, h->within, need);
    if (r != GV_NONE) {
        const gv_queue *queue = gv_queue_at(s, h->within);
        h->d->verdict = GROVE_INFEASIBLE;
        gv_certificate_queue(h->d, GROVE_REASON_QUEUE_SHARE, h->within, r,
                             queue->share[r] - queue->used[r], need[r]);
        return false;
    }
    while (h->within != GROVE_QUEUE_NONE && over_share(s, h->within, need) == GV_NONE) {
        h->within = gv_queue_at(s, h->within)->parent;
    }
    return true;
}
