/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption, domain first. A gang is never left below its minimum: victims are surplus pods one by one,
 * whole gangs, and pods without a gang. Removing everything that may go decides whether any set of victims
 * helps at all; then the domains are visited by how many pods at least would have to go, and in each the
 * shortest list of victims is sought and thinned out.
 */
#include "sched/decision.h"

#include <string.h>

#include "sched/keys.h"

#define DOMAINS_VISITED 24u
#define TESTS_PER_DOMAIN 400u

typedef struct victim {
    grove_victim who;
    int32_t priority;
    uint32_t pods;
    bool chosen;
} victim;

typedef struct hunt {
    grove_sched *s;
    grove_gang *g; /* its anchor is borrowed and given back */
    const grove_place_options *o;
    grove_decision *d;
    gv_arena mem;
    victim *all; /* least important first */
    uint32_t n_all;
    victim **here; /* of the domain in question */
    uint32_t n_here;
    uint32_t level; /* internal level of the domains */
    uint32_t tests;
    grove_status st;
} hunt;

/* ---- who may go ---- */

static bool may_evict(const hunt *h, const gv_pod *p) {
    return p->node != GV_NONE && p->priority < h->g->priority &&
           (p->flags & GROVE_POD_NEVER_EVICT) == 0;
}

/* Importance in the high bits, then the kind (surplus first), then how many pods go. */
static uint64_t victim_key(const victim *v) {
    uint64_t importance = (uint64_t)((int64_t)v->priority - INT32_MIN);
    uint64_t kind = v->who.pod != GV_NONE && v->who.gang != GV_NONE ? 0 : 1;
    uint64_t pods = v->pods < 1023 ? v->pods : 1023;
    return importance << 11 | kind << 10 | pods;
}

static void add_victim(hunt *h, uint32_t gang, uint32_t pod, int32_t priority, uint32_t pods) {
    h->all[h->n_all++] = (victim){{gang, pod}, priority, pods, false};
}

static void sort_victims(hunt *h, uint64_t *keys, victim *scratch) {
    for (uint32_t i = 0; i < h->n_all; i++) {
        keys[i] = victim_key(&h->all[i]) << 21 | i;
        scratch[i] = h->all[i];
    }
    gv_keys_sort(keys, h->n_all);
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->all[i] = scratch[keys[i] & 0x1fffff];
    }
}

static bool collect(hunt *h) {
    grove_sched *s = h->s;
    size_t most = s->pods.n + s->gangs.n;
    if (most > 0x1fffff) {
        most = 0x1fffff;
    }
    h->all = gv_arena_array(&h->mem, victim, most + 1);
    h->here = gv_arena_array(&h->mem, victim *, most + 1);
    uint64_t *keys = gv_arena_array(&h->mem, uint64_t, most + 1);
    victim *scratch = gv_arena_array(&h->mem, victim, most + 1);
    if (!h->all || !h->here || !keys || !scratch) {
        return false;
    }
    for (uint32_t i = 0; i < s->pods.n && h->n_all < most; i++) {
        const gv_pod *p = &s->pods.v[i];
        bool single = p->gang == GV_NONE || (p->flags & GV_POD_SURPLUS);
        if (single && may_evict(h, p)) {
            add_victim(h, p->gang, i, p->priority, 1);
        }
    }
    for (uint32_t i = 0; i < s->gangs.n && h->n_all < most; i++) {
        const gv_gang_record *g = &s->gangs.v[i];
        if (g->live && g->n_pods > 0 && g->priority < h->g->priority) {
            add_victim(h, i, GV_NONE, g->priority, g->n_pods);
        }
    }
    sort_victims(h, keys, scratch);
    return true;
}

/* ---- what if they went ---- */

static bool evict(hunt *h, const victim *v) {
    grove_sched *s = h->s;
    if (v->who.pod != GV_NONE) {
        /* it may have gone with its gang already */
        return s->pods.v[v->who.pod].node == GV_NONE ||
               grove_sched_pod_remove(s, v->who.pod) == GROVE_OK;
    }
    return !s->gangs.v[v->who.gang].live || grove_sched_release(s, v->who.gang) == GROVE_OK;
}

/* Asks again without the chosen ones of `list`; the cluster is as before afterwards. */
static grove_verdict ask(hunt *h, victim *const *list, uint32_t n, bool chosen_only) {
    uint64_t mark;
    h->tests++;
    h->st = grove_sched_mark(h->s, &mark);
    if (h->st < 0) {
        return GROVE_UNKNOWN;
    }
    for (uint32_t i = 0; i < n && h->st == GROVE_OK; i++) {
        if ((!chosen_only || list[i]->chosen) && !evict(h, list[i])) {
            h->st = GROVE_E_NOMEM;
        }
    }
    if (h->st == GROVE_OK) {
        h->st = grove_sched_place(h->s, h->g, h->o, h->d, NULL);
    }
    grove_sched_rollback(h->s, mark);
    return h->st < 0 ? GROVE_UNKNOWN : h->d->verdict;
}

/* ---- one domain ---- */

typedef struct outcome {
    int32_t priority; /* of the most important victim */
    uint32_t gangs, pods, n;
    grove_victim *who;
} outcome;

static bool better(const outcome *a, const outcome *b) {
    if (b->who == NULL || a->priority != b->priority) {
        return b->who == NULL || a->priority < b->priority;
    }
    return a->gangs != b->gangs ? a->gangs < b->gangs : a->pods < b->pods;
}

static void choose_first(hunt *h, uint32_t k) {
    for (uint32_t i = 0; i < h->n_here; i++) {
        h->here[i]->chosen = i < k;
    }
}

/* The shortest sufficient prefix of the list, by doubling and halving; 0 when not even all suffice. */
static uint32_t shortest_prefix(hunt *h, uint32_t at_least) {
    uint32_t low = 0, high = at_least ? at_least : 1;
    for (;; high *= 2) {
        high = high < h->n_here ? high : h->n_here;
        choose_first(h, high);
        if (ask(h, h->here, h->n_here, true) == GROVE_PLACED) {
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
        if (ask(h, h->here, h->n_here, true) == GROVE_PLACED) {
            high = mid;
        } else {
            low = mid;
        }
    }
    choose_first(h, high);
    return high;
}

/* Reverse delete: the most important first, each tried to stay. */
static void thin_out(hunt *h, uint32_t n) {
    for (uint32_t i = n; i-- > 0 && h->tests < TESTS_PER_DOMAIN && h->st == GROVE_OK;) {
        h->here[i]->chosen = false;
        if (ask(h, h->here, n, true) != GROVE_PLACED) {
            h->here[i]->chosen = true;
        }
    }
}

static bool keep_outcome(hunt *h, outcome *best) {
    outcome o = {INT32_MIN, 0, 0, 0, NULL};
    for (uint32_t i = 0; i < h->n_here; i++) {
        const victim *v = h->here[i];
        if (v->chosen) {
            o.priority = v->priority > o.priority ? v->priority : o.priority;
            o.gangs += v->who.pod == GV_NONE;
            o.pods += v->pods;
            o.n++;
        }
    }
    o.who = gv_arena_array(&h->mem, grove_victim, o.n + 1);
    if (!o.who) {
        return false;
    }
    for (uint32_t i = 0, n = 0; i < h->n_here; i++) {
        if (h->here[i]->chosen) {
            o.who[n++] = h->here[i]->who;
        }
    }
    if (better(&o, best)) {
        *best = o;
    }
    return true;
}

static bool has_pod_in(const hunt *h, const victim *v, uint32_t d) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    if (v->who.pod != GV_NONE) {
        return gv_topology_dom(t, s->pods.v[v->who.pod].node, h->level) == d;
    }
    for (uint32_t p = s->gangs.v[v->who.gang].head; p != GV_NONE; p = s->pods.v[p].gang_next) {
        if (gv_topology_dom(t, s->pods.v[p].node, h->level) == d) {
            return true;
        }
    }
    return false;
}

static bool try_domain(hunt *h, uint32_t d, uint32_t at_least, outcome *best) {
    h->n_here = 0;
    h->tests = 0;
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->all[i].chosen = false;
        if (has_pod_in(h, &h->all[i], d)) {
            h->here[h->n_here++] = &h->all[i];
        }
    }
    uint32_t n = h->n_here > 0 ? shortest_prefix(h, at_least) : 0;
    if (n == 0) {
        return h->st == GROVE_OK;
    }
    uint32_t pods = 0;
    for (uint32_t i = 0; i < n; i++) {
        pods += h->here[i]->pods;
    }
    if (pods > at_least) { /* else nobody can be spared */
        thin_out(h, n);
    }
    return h->st == GROVE_OK && keep_outcome(h, best);
}

/* ---- all domains ---- */

/* What could be freed in each domain of the level, and the largest single pod, by resource. */
typedef struct ledger {
    int64_t *freed, *largest;
    uint32_t n;
} ledger;

static void enter_pod(hunt *h, ledger *l, uint32_t pod) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    const int64_t *row = gv_sched_row(s, s->pods.v[pod].vector);
    size_t at = (size_t)gv_topology_dom(t, s->pods.v[pod].node, h->level) * s->stride;
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        l->freed[at + r] += row[r];
        l->largest[at + r] = row[r] > l->largest[at + r] ? row[r] : l->largest[at + r];
    }
}

static bool make_ledger(hunt *h, ledger *l) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    l->n = h->level > t->n_levels ? (uint32_t)s->nodes.n : t->levels[h->level].n;
    l->freed = gv_arena_array(&h->mem, int64_t, (size_t)l->n * s->stride + 1);
    l->largest = gv_arena_array(&h->mem, int64_t, (size_t)l->n * s->stride + 1);
    if (!l->freed || !l->largest) {
        return false;
    }
    for (uint32_t i = 0; i < h->n_all; i++) {
        const victim *v = &h->all[i];
        if (v->who.pod != GV_NONE) {
            enter_pod(h, l, v->who.pod);
            continue;
        }
        for (uint32_t p = s->gangs.v[v->who.gang].head; p != GV_NONE; p = s->pods.v[p].gang_next) {
            if ((s->pods.v[p].flags & GV_POD_SURPLUS) == 0) {
                enter_pod(h, l, p); /* surplus pods were entered by themselves */
            }
        }
    }
    return true;
}

/* At least so many pods have to go before the sums of the domain suffice; GV_NONE: never. */
static uint32_t least_pods(const hunt *h, const ledger *l, uint32_t d, const int64_t *need) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    size_t at = (size_t)d * s->stride;
    const int64_t *room = h->level > t->n_levels ? gv_node_free(s, d)
                                                 : t->levels[h->level].free + at;
    uint32_t least = 0;
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        int64_t have = room[r] > 0 ? room[r] : 0, lack = need[r] - have;
        if (need[r] == 0 || lack <= 0) {
            continue;
        }
        if (l->freed[at + r] < lack) {
            return GV_NONE;
        }
        int64_t pods = (lack + l->largest[at + r] - 1) / l->largest[at + r];
        least = pods > least ? (uint32_t)pods : least;
    }
    return least;
}

static void gang_needs(const hunt *h, int64_t *need) {
    const grove_gang *g = h->g;
    memset(need, 0, GV_RESOURCES_MAX * sizeof *need);
    for (size_t i = 0; i < g->podgroups.n; i++) {
        const gv_podgroup *p = &g->podgroups.v[i];
        const gv_class *c = &h->s->classes.v[p->class_id];
        int64_t n = p->min > p->members ? p->min - p->members : 0;
        for (uint32_t k = 0; k < c->n_needs; k++) {
            need[c->needs[k].resource] += n * c->needs[k].amount;
        }
    }
}

static uint32_t a_node_of(const hunt *h, uint32_t d) {
    const gv_topology *t = &h->s->topologies.v[h->g->topology];
    return h->level > t->n_levels ? d : t->order[t->levels[h->level].lo[d]];
}

static void visit_domains(hunt *h, outcome *best) {
    const gv_topology *t = &h->s->topologies.v[h->g->topology];
    ledger l;
    int64_t need[GV_RESOURCES_MAX];
    if (!make_ledger(h, &l)) {
        h->st = GROVE_E_NOMEM;
        return;
    }
    gang_needs(h, need);
    uint64_t *keys = gv_arena_array(&h->mem, uint64_t, l.n + 1);
    uint32_t n = 0;
    for (uint32_t d = 0; keys && d < l.n; d++) {
        bool there = h->level > t->n_levels ? gv_node_live(h->s, d)
                                            : t->levels[h->level].labelled[d];
        uint32_t least = there ? least_pods(h, &l, d, need) : GV_NONE;
        if (least != GV_NONE) {
            keys[n++] = (uint64_t)least << 32 | d;
        }
    }
    if (!keys) {
        h->st = GROVE_E_NOMEM;
        return;
    }
    gv_keys_sort(keys, n);
    grove_gang *g = h->g;
    uint32_t level = g->anchor_level, node = g->anchor_node;
    grove_strength strength = g->anchor;
    for (uint32_t i = 0, visited = 0; i < n && visited < DOMAINS_VISITED && h->st == GROVE_OK;
         i++) {
        uint32_t d = (uint32_t)keys[i], least = (uint32_t)(keys[i] >> 32);
        if (best->who && best->gangs == 0 && least >= best->pods) {
            break; /* no domain from here on can do with fewer pods */
        }
        uint32_t there = a_node_of(h, d);
        if (strength == GROVE_STRENGTH_REQUIRED &&
            gv_topology_dom(t, there, level) != gv_topology_dom(t, node, level)) {
            continue;
        }
        if (h->level > 0 && (strength != GROVE_STRENGTH_REQUIRED || level <= h->level)) {
            g->anchor = GROVE_STRENGTH_REQUIRED;
            g->anchor_level = h->level;
            g->anchor_node = there;
        }
        visited++;
        if (!try_domain(h, d, least, best) && h->st == GROVE_OK) {
            h->st = GROVE_E_NOMEM;
        }
        g->anchor = strength;
        g->anchor_level = level;
        g->anchor_node = node;
    }
}

/* The final question, with exactly the victims of the best outcome gone. */
static grove_status settle(hunt *h, const outcome *best) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->all[i].chosen = false;
        for (uint32_t k = 0; k < best->n; k++) {
            if (h->all[i].who.gang == best->who[k].gang && h->all[i].who.pod == best->who[k].pod) {
                h->all[i].chosen = true;
            }
        }
        if (h->all[i].chosen) {
            h->here[n++] = &h->all[i];
        }
    }
    (void)ask(h, h->here, n, true);
    if (h->st < 0 || !gv_vec_reserve(h->s->env, &h->d->victims, best->n)) {
        return GROVE_E_NOMEM;
    }
    if (best->n > 0) { /* none: nothing was reserved to copy to */
        memcpy(h->d->victims.v, best->who, best->n * sizeof *best->who);
    }
    h->d->victims.n = best->n;
    return GROVE_OK;
}

static grove_status run(hunt *h) {
    if (!collect(h)) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->here[i] = &h->all[i];
    }
    /* With everything gone that may go: whoever still does not fit is not helped by any victims. */
    if (h->n_all == 0 || ask(h, h->here, h->n_all, false) != GROVE_PLACED) {
        return h->st;
    }
    h->level = h->g->required;
    outcome best = {INT32_MAX, 0, 0, 0, NULL};
    visit_domains(h, &best);
    if (h->st < 0) {
        return h->st;
    }
    if (!best.who) {
        /* Not within the domains visited: a list over the whole cluster, which is known to exist. */
        h->n_here = h->n_all;
        h->tests = 0;
        for (uint32_t i = 0; i < h->n_all; i++) {
            h->here[i] = &h->all[i];
        }
        uint32_t n = shortest_prefix(h, 1);
        thin_out(h, n);
        if (h->st == GROVE_OK && !keep_outcome(h, &best)) {
            h->st = GROVE_E_NOMEM;
        }
    }
    if (h->st < 0) {
        return h->st;
    }
    return settle(h, &best);
}

grove_status grove_sched_preempt(grove_sched *sched, const grove_gang *gang,
                                 const grove_place_options *options, grove_decision *decision,
                                 grove_error *err) {
    grove_status st = grove_sched_place(sched, gang, options, decision, err);
    if (st < 0 || decision->verdict == GROVE_PLACED || gang->required == GV_LEVEL_UNKNOWN) {
        return st;
    }
    hunt h = {.s = sched, .g = (grove_gang *)(uintptr_t)gang, .o = options, .d = decision};
    gv_arena_init(&h.mem, sched->env);
    st = run(&h);
    gv_arena_fini(&h.mem);
    return st < 0 ? gv_error(err, st, "preemption ended early") : GROVE_OK;
}
