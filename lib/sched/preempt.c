/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption and reclaim, domain first. Removing everything that may go decides whether any set of victims
 * helps at all; then the domains are visited by how much at least would have to go, as long as one of them
 * could still do with less than what is known.
 */
#include "sched/preempt.h"

#include <string.h>

#include "sched/keys.h"

#define DOMAINS_VISITED 24u   /* at least, when each takes many questions */
#define QUESTIONS_CHEAP 2000u /* as long as fewer have been asked, further domains are visited */

/* ---- what if they went ---- */

static bool evict(gv_hunt *h, const gv_prey *v) {
    grove_sched *s = h->s;
    if (v->who.pod != GV_NONE) {
        /* it may have gone with its gang already */
        return s->pods.v[v->who.pod].node == GV_NONE ||
               grove_sched_pod_remove(s, v->who.pod) == GROVE_OK;
    }
    for (uint32_t k = 0; k < v->gangs; k++) {
        uint32_t gang = h->gangs[v->first + k];
        if (s->gangs.v[gang].live && grove_sched_release(s, gang) < 0) {
            return false;
        }
    }
    return true;
}

grove_verdict gv_hunt_ask(gv_hunt *h, gv_prey *const *list, uint32_t n) {
    uint64_t mark;
    h->tests++;
    h->asked++;
    h->st = grove_sched_mark(h->s, &mark);
    if (h->st < 0) {
        return GROVE_UNKNOWN;
    }
    for (uint32_t i = 0; i < n && h->st == GROVE_OK; i++) {
        if (list[i]->chosen && !evict(h, list[i])) {
            h->st = GROVE_E_NOMEM;
        }
    }
    if (h->st == GROVE_OK) {
        h->s->verdict_only = !h->answering;
        h->st = grove_sched_place(h->s, h->g, h->o, h->d, NULL);
        h->s->verdict_only = false;
        h->steps += h->d->steps;
    }
    grove_sched_rollback(h->s, mark);
    return h->st < 0 ? GROVE_UNKNOWN : h->d->verdict;
}

static grove_verdict ask_without(gv_hunt *h, uint32_t n) {
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->all[i]->chosen = i < n;
    }
    return gv_hunt_ask(h, h->all, n);
}

/* ---- what a domain could give ---- */

/* What could be freed in each domain of the level, in all and by single pods, and the largest pod. */
typedef struct ledger {
    int64_t *freed, *singly, *largest;
    uint32_t n;
} ledger;

static void enter_pod(gv_hunt *h, ledger *l, uint32_t pod, bool single) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    const int64_t *row = gv_sched_row(s, s->pods.v[pod].vector);
    size_t at = (size_t)gv_topology_dom(t, s->pods.v[pod].node, h->level) * s->stride;
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        l->freed[at + r] += row[r];
        l->singly[at + r] += single ? row[r] : 0;
        l->largest[at + r] = row[r] > l->largest[at + r] ? row[r] : l->largest[at + r];
    }
}

static bool make_ledger(gv_hunt *h, ledger *l) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    l->n = h->level > t->n_levels ? (uint32_t)s->nodes.n : t->levels[h->level].n;
    size_t size = (size_t)l->n * s->stride + 1;
    l->freed = gv_arena_array(h->mem, int64_t, size);
    l->singly = gv_arena_array(h->mem, int64_t, size);
    l->largest = gv_arena_array(h->mem, int64_t, size);
    if (!l->freed || !l->singly || !l->largest) {
        return false;
    }
    for (uint32_t i = 0; i < h->n_all; i++) {
        const gv_prey *v = h->all[i];
        if (v->who.pod != GV_NONE) {
            enter_pod(h, l, v->who.pod, true);
            continue;
        }
        for (uint32_t p = s->gangs.v[v->who.gang].head; p != GV_NONE; p = s->pods.v[p].gang_next) {
            if ((s->pods.v[p].flags & GV_POD_SURPLUS) == 0) {
                enter_pod(h, l, p, false); /* surplus pods were entered by themselves */
            }
        }
    }
    return true;
}

typedef struct least {
    uint32_t pods, gangs;
} least;

/* At least so much has to go before the sums of the domain suffice; false: never. */
static bool least_of(const gv_hunt *h, const ledger *l, uint32_t d, const int64_t *need,
                     least *out) {
    const grove_sched *s = h->s;
    const gv_topology *t = &s->topologies.v[h->g->topology];
    size_t at = (size_t)d * s->stride;
    const int64_t *room = h->level > t->n_levels ? gv_node_free(s, d)
                                                 : t->levels[h->level].free + at;
    *out = (least){0, 0};
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        int64_t have = room[r] > 0 ? room[r] : 0, lack = need[r] - have;
        if (need[r] == 0 || lack <= 0) {
            continue;
        }
        if (l->freed[at + r] < lack) {
            return false;
        }
        int64_t pods = (lack + l->largest[at + r] - 1) / l->largest[at + r];
        out->pods = pods > out->pods ? (uint32_t)pods : out->pods;
        out->gangs = l->singly[at + r] < lack ? 1 : out->gangs;
    }
    return true;
}

/* ---- all domains ---- */

static uint32_t a_node_of(const gv_hunt *h, uint32_t d) {
    const gv_topology *t = &h->s->topologies.v[h->g->topology];
    return h->level > t->n_levels ? d : t->order[t->levels[h->level].lo[d]];
}

/* Looks for the best set with the gang held inside domain d. */
static void visit(gv_hunt *h, uint32_t d, const least *low) {
    const gv_topology *t = &h->s->topologies.v[h->g->topology];
    grove_gang *g = h->g;
    uint32_t level = g->anchor_level, node = g->anchor_node, there = a_node_of(h, d);
    grove_strength strength = g->anchor;
    if (strength == GROVE_STRENGTH_REQUIRED && level <= h->level &&
        gv_topology_dom(t, there, level) != gv_topology_dom(t, node, level)) {
        return;
    }
    if (h->level > 0 && (strength != GROVE_STRENGTH_REQUIRED || level <= h->level)) {
        g->anchor = GROVE_STRENGTH_REQUIRED;
        g->anchor_level = h->level;
        g->anchor_node = there;
    }
    h->n_here = 0;
    for (uint32_t i = 0; i < h->n_all; i++) {
        h->all[i]->chosen = false;
        if (gv_prey_in_domain(h, h->all[i], d)) {
            h->here[h->n_here++] = h->all[i];
        }
    }
    gv_hunt_minimal(h, low->gangs, low->pods);
    g->anchor = strength;
    g->anchor_level = level;
    g->anchor_node = node;
}

/* Whether a set with this much could still be better than the best one known. */
static bool worth_it(const gv_hunt *h, const least *low) {
    gv_toll t = {.priority = h->floor, .gangs = low->gangs, .pods = low->pods};
    return gv_toll_better(&t, &h->best);
}

/*
 * With everything gone that may go: whoever still does not fit is not helped by any victims. But for a
 * required spread, which further room may turn against the gang: it is left out of this question.
 */
static bool anything_helps(gv_hunt *h) {
    grove_strength spread = h->g->spread;
    if (spread == GROVE_STRENGTH_REQUIRED) {
        h->g->spread = GROVE_STRENGTH_NONE;
    }
    grove_verdict v = ask_without(h, h->n_all);
    h->g->spread = spread;
    h->helpless = h->st != GROVE_OK || v != GROVE_PLACED;
    return !h->helpless;
}

/* `unasked`: nobody has asked yet whether anything helps. A set that is found answers that as well. */
static grove_status visit_domains(gv_hunt *h, bool unasked) {
    const gv_topology *t = &h->s->topologies.v[h->g->topology];
    ledger l;
    int64_t need[GV_RESOURCES_MAX];
    if (!make_ledger(h, &l)) {
        return GROVE_E_NOMEM;
    }
    gv_gang_needs(h->s, h->g, need);
    uint64_t *keys = gv_arena_array(h->mem, uint64_t, l.n + 1);
    if (!keys) {
        return GROVE_E_NOMEM;
    }
    uint32_t n = 0, visited = 0;
    for (uint32_t d = 0; d < l.n; d++) {
        bool there = h->level > t->n_levels ? gv_node_live(h->s, d) && gv_node_up(h->s, d)
                                            : t->levels[h->level].labelled[d];
        least low;
        if (there && least_of(h, &l, d, need, &low)) {
            uint64_t pods = low.pods < 0x3fffffff ? low.pods : 0x3fffffff;
            keys[n++] = (uint64_t)low.gangs << 62 | pods << 32 | d;
        }
    }
    gv_keys_sort(keys, n);
    for (uint32_t i = 0; i < n && h->st == GROVE_OK; i++) {
        least low = {(uint32_t)(keys[i] >> 32) & 0x3fffffff, (uint32_t)(keys[i] >> 62)};
        if (!worth_it(h, &low)) {
            continue;
        }
        if (visited >= DOMAINS_VISITED && h->asked >= QUESTIONS_CHEAP && h->best.who) {
            h->cut = true;
            break;
        }
        visited++;
        visit(h, (uint32_t)keys[i], &low);
        if (unasked && !h->best.who && !anything_helps(h)) {
            return h->st;
        }
        unasked = false;
    }
    if (unasked) {
        (void)anything_helps(h);
    }
    return h->st;
}

/* ---- the answer ---- */

/* Nothing was found although everything together would do: shares, spread or the budget stand against it. */
static void no_answer(gv_hunt *h) {
    if (h->reclaim && !h->cut && !h->best.who && h->g->spread != GROVE_STRENGTH_REQUIRED) {
        h->d->verdict = GROVE_INFEASIBLE;
        gv_certificate_queue(h->d, GROVE_REASON_QUEUE_SHARE, h->g->queue, h->scarce, 0, 0);
        return;
    }
    h->d->verdict = GROVE_UNKNOWN;
    gv_certificate_queue(h->d, GROVE_REASON_BUDGET, GROVE_QUEUE_NONE, GV_NONE, (int64_t)h->steps,
                         0);
}

static bool has_pod_on(const gv_hunt *h, const gv_prey *v, const uint8_t *used) {
    const grove_sched *s = h->s;
    if (v->who.pod != GV_NONE) {
        return used[s->pods.v[v->who.pod].node];
    }
    for (uint32_t k = 0; k < v->gangs; k++) {
        uint32_t pod = s->gangs.v[h->gangs[v->first + k]].head;
        for (; pod != GV_NONE; pod = s->pods.v[pod].gang_next) {
            if (used[s->pods.v[pod].node]) {
                return true;
            }
        }
    }
    return false;
}

/*
 * A search that was cut short may have left victims that take up nothing of what the gang gets. Where a queue
 * bounds the gang, those of its own queue may be needed all the same.
 */
static bool spare_bystanders(gv_hunt *h) {
    uint8_t *used = gv_arena_array(h->mem, uint8_t, h->s->nodes.n + 1);
    uint32_t n = 0;
    if (!used) {
        return false;
    }
    for (size_t i = 0; i < h->d->nodes.n; i++) {
        if (h->d->nodes.v[i] != GV_NONE) {
            used[h->d->nodes.v[i]] = 1;
        }
    }
    for (uint32_t i = 0; i < h->best.n; i++) {
        if (h->g->queue != GROVE_QUEUE_NONE || has_pod_on(h, h->best.who[i], used)) {
            h->best.who[n++] = h->best.who[i];
        }
    }
    h->best.n = n;
    return true;
}

/* The final question, with exactly the victims of the best set gone. */
static grove_status answer(gv_hunt *h) {
    if (h->cut) {
        gv_hunt_thin_out(h);
    }
    for (uint32_t i = 0; i < h->best.n; i++) {
        h->best.who[i]->chosen = true;
    }
    bool proven = !h->cut;
    h->answering = true;
    grove_verdict verdict = gv_hunt_ask(h, h->best.who, h->best.n);
    uint32_t n = 0;
    if (h->cut && verdict == GROVE_PLACED && !spare_bystanders(h)) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < h->best.n; i++) {
        n += h->best.who[i]->gangs > 0 ? h->best.who[i]->gangs : 1;
    }
    if (h->st < 0 || !gv_vec_reserve(h->s->env, &h->d->victims, n)) {
        return GROVE_E_NOMEM;
    }
    if (h->d->verdict != GROVE_PLACED) { /* without the borrowed anchor the budget may not do */
        no_answer(h);
        return GROVE_OK;
    }
    for (uint32_t i = 0; i < h->best.n; i++) {
        const gv_prey *v = h->best.who[i];
        for (uint32_t k = 0; k < v->gangs; k++) {
            h->d->victims.v[h->d->victims.n++] = (grove_victim){h->gangs[v->first + k], GV_NONE};
        }
        if (v->gangs == 0) {
            h->d->victims.v[h->d->victims.n++] = v->who;
        }
    }
    h->d->victims_proven = proven;
    return GROVE_OK;
}

/* The least priority up to which everything has to be allowed to go; units above it are struck off. */
static void strike_off_important(gv_hunt *h) {
    uint32_t low = 0, high = h->n_all; /* ask_without(high) places, ask_without(low) does not */
    while (h->all[low]->priority != h->all[high - 1]->priority && h->st == GROVE_OK) {
        uint32_t mid = low + (high - low) / 2;
        while (mid > low && h->all[mid - 1]->priority == h->all[mid]->priority) {
            mid--;
        }
        while (mid <= low || h->all[mid - 1]->priority == h->all[mid]->priority) {
            mid++; /* the first of a priority, with some before and after it */
        }
        grove_verdict v = ask_without(h, mid);
        h->cut = h->cut || v == GROVE_UNKNOWN;
        if (v == GROVE_PLACED) {
            high = mid;
        } else {
            low = mid;
        }
    }
    h->n_all = high;
    h->floor = h->all[high - 1]->priority;
}

static grove_status run(gv_hunt *h) {
    grove_status st = gv_prey_collect(h);
    if (st < 0 || h->n_all == 0) {
        return st;
    }
    bool spread = h->g->spread == GROVE_STRENGTH_REQUIRED;
    bool one_priority = h->all[0]->priority == h->all[h->n_all - 1]->priority;
    bool later = !spread && (h->reclaim || one_priority); /* few go; all are many to ask about */
    if (!later && !anything_helps(h)) {
        return h->st;
    }
    h->floor = h->all[0]->priority;
    h->level = h->g->required;
    if (!h->reclaim && !spread) {
        strike_off_important(h);
    }
    st = h->st < 0 ? h->st : visit_domains(h, later);
    if (st < 0 || h->helpless) {
        return st;
    }
    if (!h->best.who && !h->reclaim) {
        /* Not within a single domain's questions: over the whole cluster. */
        h->cut = true;
        h->n_here = h->n_all;
        memcpy(h->here, h->all, h->n_all * sizeof(*h->here));
        gv_hunt_minimal(h, 0, 1);
    }
    if (h->best.who) {
        return answer(h);
    }
    no_answer(h);
    return h->st;
}

static grove_status hunt_for(grove_sched *s, const grove_gang *gang, const int64_t *waiting,
                             uint32_t n_waiting, bool reclaim, const grove_place_options *o,
                             grove_decision *d, grove_error *err) {
    grove_status st = grove_sched_place(s, gang, o, d, err);
    if (st < 0 || d->verdict == GROVE_PLACED || gang->required == GV_LEVEL_UNKNOWN) {
        return st;
    }
    gv_hunt h = {.s = s,
                 .g = (grove_gang *)(uintptr_t)gang,
                 .o = o,
                 .d = d,
                 .mem = &s->hunt_mem,
                 .reclaim = reclaim,
                 .best.priority = INT32_MAX};
    gv_arena_reset(h.mem);
    st = reclaim ? gv_shares_compute(s, waiting, n_waiting) : GROVE_OK;
    if (st == GROVE_OK && (!reclaim || gv_reclaim_entitled(&h))) {
        st = run(&h);
    }
    return st < 0 ? gv_error(err, st, "the search for victims ended early") : GROVE_OK;
}

grove_status grove_sched_preempt(grove_sched *sched, const grove_gang *gang,
                                 const grove_place_options *options, grove_decision *decision,
                                 grove_error *err) {
    return hunt_for(sched, gang, NULL, 0, false, options, decision, err);
}

/* What waits, with the gang's own need added: its queue wants that as well. */
static int64_t *waiting_with(grove_sched *s, const grove_gang *gang, const int64_t *waiting,
                             uint32_t n_waiting, gv_arena *mem) {
    uint32_t n = grove_sched_queue_count(s), n_res = (uint32_t)s->resource_names.n;
    int64_t *rows = gv_arena_array(mem, int64_t, (size_t)n * n_res);
    int64_t need[GV_RESOURCES_MAX];
    if (!rows) {
        return NULL;
    }
    for (uint32_t i = 0; waiting && i < n * n_res && i < n_waiting * n_res; i++) {
        rows[i] = waiting[i];
    }
    gv_gang_needs(s, gang, need);
    for (uint32_t r = 0; r < n_res; r++) {
        rows[(size_t)gang->queue * n_res + r] += need[r];
    }
    return rows;
}

grove_status grove_sched_reclaim(grove_sched *sched, const grove_gang *gang, const int64_t *waiting,
                                 uint32_t n_waiting, const grove_place_options *options,
                                 grove_decision *decision, grove_error *err) {
    if (!sched || !gang || gang->sched != sched || (n_waiting && !waiting)) {
        return gv_error(err, GROVE_E_INVALID, "reclaim needs a gang of this scheduler");
    }
    if (gang->queue == GROVE_QUEUE_NONE) { /* nobody promised it anything */
        return grove_sched_place(sched, gang, options, decision, err);
    }
    gv_arena_reset(&sched->waiting_mem);
    int64_t *rows = waiting_with(sched, gang, waiting, n_waiting, &sched->waiting_mem);
    return rows ? hunt_for(sched, gang, rows, grove_sched_queue_count(sched), true, options,
                           decision, err)
                : gv_error_nomem(err);
}
