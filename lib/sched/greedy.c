/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greedy passes. Each fills the gang's tree top down in one fixed order and gives up when a unit finds no
 * domain within a few tries. Most gangs are placed here; what fails goes to the exact search, so a pass
 * may be as short-sighted as it likes.
 */
#include "sched/balance.h"
#include "sched/keys.h"
#include "sched/work.h"

#include <string.h>

#define TRIES 4       /* domains tried per unit and pass */
#define MISFIT_BITS 6 /* of a misfit, see balance.h */

typedef struct pass_ctx {
    const gv_problem *p;
    gv_work *w;
    gv_pass pass;
} pass_ctx;

static bool fill_unit(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom);

/* ---- pods of one part over a domain ---- */

/* So many copies fewer fit below a domain than before the pass put its own pods there. */
static uint64_t gone_by_now(const pass_ctx *c, uint32_t k, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    const gv_work *w = c->w;
    const uint16_t *count = p->classes[k].column->count;
    uint32_t lo, hi;
    uint64_t gone = 0;
    gv_problem_range(p->t, level, d, p->host, &lo, &hi);
    if (w->touched.n > hi - lo) {
        for (uint32_t pos = lo; pos < hi; pos++) {
            uint32_t node = p->t->order[pos];
            gone += count[node] - gv_work_fit(p, w, node, k);
        }
        return gone;
    }
    for (size_t i = 0; i < w->touched.n; i++) {
        uint32_t node = w->touched.v[i].node;
        if (w->touched.v[i].pods > 0 && gv_topology_dom(p->t, node, level) == d) {
            gone += count[node] - gv_work_fit(p, w, node, k);
        }
    }
    return gone;
}

/* Copies of the part's class below a domain, the pass's own pods taken into account. */
static uint32_t domain_room(pass_ctx *c, uint32_t k, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    if (level == p->host) {
        return gv_work_fit(p, c->w, d, k);
    }
    uint64_t sum = p->classes[k].column->sum[level][d];
    if (gv_work_in(p, c->w, level, d) > 0) {
        sum -= gone_by_now(c, k, level, d);
    }
    return sum > GV_COUNT_MAX ? GV_COUNT_MAX : (uint32_t)sum;
}

/* Hosts that take a pod, as choices; there is room for them. */
static void gather_hosts(pass_ctx *c, uint32_t k, uint32_t lo, uint32_t hi) {
    const gv_problem *p = c->p;
    gv_work *w = c->w;
    const uint16_t *count = p->classes[k].column->count;
    const uint16_t *dislike = p->classes[k].dislike ? p->classes[k].dislike[p->host] : NULL;
    gv_choice *at = w->choices.v + w->choices.n;
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t node = p->t->order[i], avail = count[node], touched = w->touch_of[node], used = 0;
        if (avail > 0 && touched > 0) {
            avail = gv_work_fit(p, w, node, k);
            used = w->touched.v[touched - 1].pods > 0 ? 2 : 0;
        }
        if (avail > 0) {
            used += gv_work_wished(p, w, p->host, node) > 0;
            *at++ = (gv_choice){node, avail, dislike ? dislike[node] : 0, used};
        }
    }
    w->choices.n = (size_t)(at - w->choices.v);
}

static bool gather(pass_ctx *c, uint32_t k, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    uint32_t lo, hi;
    gv_problem_range(p->t, level, d, level + 1, &lo, &hi);
    if (!gv_vec_reserve(p->s->env, &c->w->choices, c->w->choices.n + (hi - lo))) {
        c->w->status = GROVE_E_NOMEM;
        return false;
    }
    if (level + 1 == p->host) {
        gather_hosts(c, k, lo, hi);
        return true;
    }
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t avail = domain_room(c, k, level + 1, i);
        if (avail > 0) {
            uint32_t used = gv_work_in(p, c->w, level + 1, i) > 0 ? 2 : 0;
            used += gv_work_wished(p, c->w, level + 1, i) > 0;
            uint32_t dislike = gv_dislike(p, k, level + 1, i);
            c->w->choices.v[c->w->choices.n++] = (gv_choice){i, avail, dislike, used};
        }
    }
    return true;
}

/* Choices that one spreading of pods of class k picks from; `need` is how many there are in all. */
typedef struct spreading {
    gv_choice *v;
    size_t n;
    uint32_t k, need;
    bool hosts;
} spreading;

/* Of choices that are equal otherwise from `at` on: what strands least, then the tightest; ties by position. */
static size_t least_misfit(const pass_ctx *c, const spreading *s, size_t at, uint32_t left) {
    const gv_problem *p = c->p;
    const gv_choice *v = s->v, *like = &v[at];
    const int64_t *last = NULL;
    size_t best = s->n;
    uint32_t least = 0, misfit = 0, last_copies = 0;
    for (size_t i = at; i < s->n; i++) {
        if (v[i].avail < left || v[i].used != like->used || v[i].dislike != like->dislike) {
            continue;
        }
        const int64_t *room = s->hosts ? gv_work_room(p, c->w, v[i].id) : NULL;
        uint32_t copies = v[i].avail < s->need ? v[i].avail : s->need;
        if (room &&
            (!last || copies != last_copies || memcmp(room, last, p->n_res * sizeof *room) != 0)) {
            misfit = gv_misfit(p, room, p->classes[s->k].row, copies);
            last = room; /* empty hosts are all alike */
            last_copies = copies;
        }
        if (best == s->n || misfit < least || (misfit == least && v[i].avail < v[best].avail)) {
            best = i;
            least = misfit;
        }
    }
    return best;
}

/* Among those that hold all: used before fresh, then what is disliked least, then see above. */
static size_t best_fit(const pass_ctx *c, const spreading *s, uint32_t left) {
    const gv_choice *v = s->v;
    size_t best = s->n;
    bool alone = true;
    for (size_t i = 0; i < s->n; i++) {
        if (v[i].avail < left) {
            continue;
        }
        if (best < s->n && v[i].used == v[best].used && v[i].dislike == v[best].dislike) {
            alone = false;
        } else if (best == s->n || v[i].used > v[best].used ||
                   (v[i].used == v[best].used && v[i].dislike < v[best].dislike)) {
            best = i;
            alone = true;
        }
    }
    return alone ? best : least_misfit(c, s, best, left);
}

static size_t largest(const gv_choice *v, size_t n) {
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (v[i].avail > 0 && (best == n || v[i].avail > v[best].avail ||
                               (v[i].avail == v[best].avail && v[i].used > v[best].used))) {
            best = i;
        }
    }
    return best;
}

/* Puts up to `need` pods of a part below a domain; returns how many found a place. */
static uint32_t spread_pods(pass_ctx *c, uint32_t part, uint32_t need, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    gv_work *w = c->w;
    if (level == p->host) {
        uint32_t n = gv_work_fit(p, w, d, p->parts[part].cls);
        n = n < need ? n : need;
        return n > 0 && gv_work_put(p, w, part, d, n) ? n : 0;
    }
    size_t base = w->choices.n;
    if (!gather(c, p->parts[part].cls, level, d)) {
        return 0;
    }
    spreading s = {.n = w->choices.n - base, .k = p->parts[part].cls, .need = need};
    s.hosts = level + 1 == p->host;
    uint32_t left = need;
    w->steps += s.n / 16 + 1;
    while (left > 0) {
        s.v = w->choices.v + base; /* it moves when the levels below need room */
        size_t at = best_fit(c, &s, left);
        at = at < s.n ? at : largest(s.v, s.n);
        if (at == s.n) {
            break;
        }
        uint32_t id = s.v[at].id, take = s.v[at].avail < left ? s.v[at].avail : left;
        s.v[at].avail = 0;
        uint32_t got = spread_pods(c, part, take, level + 1, id);
        if (got == 0 && w->status < 0) {
            break;
        }
        left -= got;
    }
    w->choices.n = base;
    return need - left;
}

/* ---- units over domains ---- */

static bool unit_may_fit(pass_ctx *c, uint32_t unit, uint32_t d) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    const uint32_t *total = p->totals + (size_t)unit * p->n_classes;
    if (!gv_domain_seen(p->t, u->level, d, u->seen_on)) {
        return false;
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (total[k] > 0 && domain_room(c, k, u->level, d) < total[k]) {
            return false;
        }
    }
    return true;
}

#define FRESH (UINT64_C(3) << 61)
#define FOLLOW (UINT64_C(2) << 61)
#define UNWISHED (UINT64_C(1) << 60)
#define DISLIKE_AT 47
#define STRUCK UINT64_MAX

/* What the last key was computed from: empty domains are all alike. */
typedef struct key_memo {
    const int64_t *room;
    uint64_t key;
} key_memo;

static bool covers(const int64_t *room, const int64_t *need, uint32_t n) {
    for (uint32_t r = 0; r < n; r++) {
        if (need[r] > room[r]) {
            return false;
        }
    }
    return true;
}

/*
 * Smaller is tried first: where the gang is already, then where all siblings could follow, then a sticky
 * node's domain, then what wishes have least against, then the least room, then what strands least.
 */
static uint64_t domain_key(pass_ctx *c, uint32_t unit, uint32_t d, key_memo *memo) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    const int64_t *need = p->amounts + (size_t)unit * p->n_res;
    const int64_t *room = u->level == p->host
                              ? gv_work_room(p, c->w, d)
                              : p->t->levels[u->level].free + (size_t)d * p->s->stride;
    uint64_t key = (uint64_t)gv_share(p, p->rank_res, room[p->rank_res]);
    if (c->pass == GV_PASS_ROOMY) {
        return FRESH - key;
    }
    if (gv_work_in(p, c->w, u->level, d) > 0) {
        return key;
    }
    if (!memo->room || memcmp(memo->room, room, p->n_res * sizeof *room) != 0) {
        const int64_t *all = u->parent == GV_NONE ? need
                                                  : p->amounts + (size_t)u->parent * p->n_res;
        bool follow = covers(room, all, p->n_res);
        memo->room = room;
        memo->key = (key << MISFIT_BITS) + gv_misfit(p, room, follow ? all : need, 1);
        memo->key += follow ? FOLLOW : FRESH;
    }
    key = memo->key + (gv_unit_dislike(p, unit, u->level, d) << DISLIKE_AT);
    return key + (gv_work_wished(p, c->w, u->level, d) > 0 ? 0 : UNWISHED);
}

/* The least key of a domain that may hold the unit is struck off; those that may not are as well. */
static uint32_t take_best(pass_ctx *c, uint32_t unit, size_t base, uint32_t lo, uint32_t hi) {
    const gv_problem *p = c->p;
    uint64_t *keys = c->w->keys.v + base;
    uint64_t least = STRUCK;
    uint32_t best = GV_NONE;
    bool host = p->units[unit].level == p->host;
    for (uint32_t i = lo; i < hi; i++) {
        if (keys[i - lo] >= least) {
            continue;
        }
        if (unit_may_fit(c, unit, host ? p->t->order[i] : i)) {
            least = keys[i - lo];
            best = i;
        } else {
            keys[i - lo] = STRUCK;
        }
    }
    if (best != GV_NONE) {
        keys[best - lo] = STRUCK;
    }
    return best;
}

static bool place_unit(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    if (u->pin != GV_NONE) {
        return unit_may_fit(c, unit, u->pin) && fill_unit(c, unit, u->level, u->pin);
    }
    uint32_t lo, hi;
    gv_problem_range(p->t, level, dom, u->level, &lo, &hi);
    size_t base = c->w->keys.n;
    if (!gv_vec_reserve(p->s->env, &c->w->keys, base + (hi - lo))) {
        c->w->status = GROVE_E_NOMEM;
        return false;
    }
    key_memo memo = {NULL, 0};
    c->w->keys.n += hi - lo;
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t d = u->level == p->host ? p->t->order[i] : i;
        c->w->keys.v[base + (i - lo)] = domain_key(c, unit, d, &memo);
    }
    bool placed = false;
    for (int tries = 0; tries < TRIES && !placed; tries++) {
        if (!gv_work_step(c->w, (hi - lo) / 16 + 1)) {
            break;
        }
        uint32_t best = take_best(c, unit, base, lo, hi);
        if (best == GV_NONE) {
            break;
        }
        size_t before = c->w->puts.n;
        placed = fill_unit(c, unit, u->level, u->level == p->host ? p->t->order[best] : best);
        if (!placed) {
            gv_work_back(p, c->w, before);
        }
    }
    c->w->keys.n = base;
    return placed;
}

/* ---- orders ---- */

static uint64_t scarcity(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    uint32_t lo, hi;
    uint64_t n = 0;
    gv_problem_range(p->t, level, dom, u->level, &lo, &hi);
    for (uint32_t i = lo; i < hi; i++) {
        n += unit_may_fit(c, unit, u->level == p->host ? p->t->order[i] : i);
    }
    return n;
}

#define KEY_BITS 20 /* index of the entry in the low bits: at most 8,192 entities */
#define URGENCY_AT 52
#define URGENCY_MOST 2047u

/* The entry that failed most often comes first, and of those that are even the largest. */
static uint64_t urgent(const pass_ctx *c, uint64_t key, uint32_t slot) {
    if (c->pass != GV_PASS_URGENT) {
        return key;
    }
    uint64_t mask = (UINT64_C(1) << KEY_BITS) - 1;
    return (uint64_t)(URGENCY_MOST - c->w->urgency[slot]) << URGENCY_AT |
           ((key & ~mask) >> (62 - URGENCY_AT) & ~mask) | (key & mask);
}

static void found_no_place(const pass_ctx *c, uint32_t slot) {
    uint16_t *urgency = c->w->urgency;
    if (c->pass == GV_PASS_URGENT && urgency[slot] < URGENCY_MOST) {
        urgency[slot]++;
    }
}

static uint64_t size_key(const pass_ctx *c, int64_t amount, uint32_t index) {
    uint64_t size = amount > 0 ? (uint64_t)amount : 0;
    size = size < (UINT64_C(1) << 42) ? size : (UINT64_C(1) << 42) - 1;
    if (c->pass != GV_PASS_SMALL_FIRST) {
        size = (UINT64_C(1) << 42) - 1 - size;
    }
    return size << KEY_BITS | index;
}

static uint64_t *child_order(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    uint64_t *keys = gv_arena_array(&c->w->mem, uint64_t, u->n_children);
    for (uint32_t i = 0; keys && i < u->n_children; i++) {
        uint32_t child = p->children[u->first_child + i];
        switch (c->pass) {
        case GV_PASS_SCARCE_FIRST:
            keys[i] = scarcity(c, child, level, dom) << KEY_BITS | i;
            break;
        case GV_PASS_LISTED:
            keys[i] = i;
            break;
        case GV_PASS_REVERSED:
            keys[i] = (uint64_t)(u->n_children - 1 - i) << KEY_BITS | i;
            break;
        default:
            keys[i] = urgent(c, size_key(c, p->amounts[(size_t)child * p->n_res + p->rank_res], i),
                             child);
        }
    }
    if (keys && c->pass != GV_PASS_LISTED) {
        gv_keys_sort(keys, u->n_children);
    }
    return keys;
}

static uint64_t *part_order(pass_ctx *c, uint32_t unit) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    uint64_t *keys = gv_arena_array(&c->w->mem, uint64_t, u->n_parts);
    for (uint32_t i = 0; keys && i < u->n_parts; i++) {
        const int64_t *row = p->classes[p->parts[u->first_part + i].cls].row;
        if (c->pass == GV_PASS_LISTED) {
            keys[i] = i;
        } else if (c->pass == GV_PASS_REVERSED) {
            keys[i] = (uint64_t)(u->n_parts - 1 - i) << KEY_BITS | i;
        } else {
            keys[i] = urgent(c, size_key(c, row[p->rank_res], i), p->n_units + u->first_part + i);
        }
    }
    if (keys) {
        gv_keys_sort(keys, u->n_parts);
    }
    return keys;
}

static bool fill_unit(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    const uint64_t mask = (UINT64_C(1) << KEY_BITS) - 1;
    if (u->n_children > 0) {
        uint64_t *order = child_order(c, unit, level, dom);
        for (uint32_t i = 0; order && i < u->n_children; i++) {
            uint32_t child = p->children[u->first_child + (uint32_t)(order[i] & mask)];
            if (p->units[child].pods > 0 && !place_unit(c, child, level, dom)) {
                found_no_place(c, child);
                return false;
            }
        }
        if (!order) {
            c->w->status = GROVE_E_NOMEM;
            return false;
        }
    }
    if (u->n_parts == 0) {
        return true;
    }
    uint64_t *order = part_order(c, unit);
    for (uint32_t i = 0; order && i < u->n_parts; i++) {
        uint32_t part = u->first_part + (uint32_t)(order[i] & mask), need = p->parts[part].need;
        if (spread_pods(c, part, need, level, dom) < need) {
            found_no_place(c, p->n_units + part);
            return false;
        }
    }
    if (!order) {
        c->w->status = GROVE_E_NOMEM;
    }
    return order != NULL;
}

bool gv_greedy_fill(const gv_problem *p, gv_pass pass, uint32_t dom) {
    pass_ctx c = {p, gv_work_of(p), pass};
    size_t before = c.w->puts.n;
    if (fill_unit(&c, 0, p->units[0].level, dom)) {
        return true;
    }
    gv_work_back(p, c.w, before);
    return false;
}

bool gv_greedy_insist(const gv_problem *p, uint32_t dom, uint32_t passes) {
    gv_work *w = gv_work_of(p);
    size_t n = (size_t)p->n_units + p->n_parts;
    if (!w->urgency && !(w->urgency = gv_arena_array(&w->mem, uint16_t, n))) {
        w->status = GROVE_E_NOMEM;
        return false;
    }
    memset(w->urgency, 0, n * sizeof *w->urgency);
    for (uint32_t i = 0; i < passes && w->status == GROVE_OK && w->steps <= w->budget; i++) {
        if (gv_greedy_fill(p, GV_PASS_URGENT, dom)) {
            return true;
        }
    }
    return false;
}

uint32_t gv_greedy_room(const gv_problem *p, uint32_t cls, uint32_t level, uint32_t d) {
    pass_ctx c = {p, gv_work_of(p), GV_PASS_LARGE_FIRST};
    return domain_room(&c, cls, level, d);
}

uint32_t gv_greedy_spread(const gv_problem *p, uint32_t part, uint32_t need, uint32_t level,
                          uint32_t d) {
    pass_ctx c = {p, gv_work_of(p), GV_PASS_LARGE_FIRST};
    return spread_pods(&c, part, need, level, d);
}
