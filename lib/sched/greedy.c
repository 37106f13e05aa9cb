/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greedy passes. Each fills the gang's tree top down in one fixed order and gives up when a unit finds no
 * domain within a few tries. Most gangs are placed here; what fails goes to the exact search, so a pass
 * may be as short-sighted as it likes.
 */
#include "sched/balance.h"
#include "sched/keys.h"
#include "sched/work.h"

#define TRIES 4       /* domains tried per unit and pass */
#define MISFIT_BITS 6 /* dislike weighs more than misfit, which weighs less than this */

typedef struct pass_ctx {
    const gv_problem *p;
    gv_work *w;
    gv_pass pass;
} pass_ctx;

static bool fill_unit(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom);

/* ---- pods of one part over a domain ---- */

/* Copies of the part's class below a domain, the pass's own pods taken into account. */
static uint32_t domain_room(pass_ctx *c, uint32_t k, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    if (level == p->host) {
        return gv_work_fit(p, c->w, d, k);
    }
    uint64_t sum = p->classes[k].column->sum[level][d];
    if (gv_work_in(p, c->w, level, d) > 0) {
        sum = 0;
        uint32_t lo, hi;
        gv_problem_range(p->t, level, d, p->host, &lo, &hi);
        for (uint32_t pos = lo; pos < hi; pos++) {
            sum += gv_work_fit(p, c->w, p->t->order[pos], k);
        }
    }
    return sum > GV_COUNT_MAX ? GV_COUNT_MAX : (uint32_t)sum;
}

static bool gather(pass_ctx *c, uint32_t k, uint32_t need, uint32_t level, uint32_t d) {
    const gv_problem *p = c->p;
    uint32_t lo, hi;
    gv_problem_range(p->t, level, d, level + 1, &lo, &hi);
    if (!gv_vec_reserve(p->s->env, &c->w->choices, c->w->choices.n + (hi - lo))) {
        c->w->status = GROVE_E_NOMEM;
        return false;
    }
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t id = level + 1 == p->host ? p->t->order[i] : i;
        uint32_t avail = domain_room(c, k, level + 1, id);
        if (avail > 0) {
            uint32_t used = gv_work_in(p, c->w, level + 1, id) > 0 ? 2 : 0;
            used += gv_work_wished(p, c->w, level + 1, id) > 0;
            uint32_t dislike = gv_dislike(p, k, level + 1, id) << MISFIT_BITS;
            c->w->choices.v[c->w->choices.n++] = (gv_choice){id, avail, dislike, used};
            if (level + 1 == p->host) {
                c->w->choices.v[c->w->choices.n - 1].misfit += gv_misfit(
                    p, gv_work_room(p, c->w, id), p->classes[k].row, avail < need ? avail : need);
            }
        }
    }
    return true;
}

/* Used before fresh, then what is disliked least, then what strands least, then the tightest that holds all; ties by position. */
static size_t best_fit(const gv_choice *v, size_t n, uint32_t need) {
    size_t best = n;
    for (size_t i = 0; i < n; i++) {
        if (v[i].avail < need) {
            continue;
        }
        if (best < n && (v[i].used < v[best].used ||
                         (v[i].used == v[best].used &&
                          (v[i].misfit > v[best].misfit ||
                           (v[i].misfit == v[best].misfit && v[i].avail >= v[best].avail))))) {
            continue;
        }
        best = i;
    }
    return best;
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
    if (!gather(c, p->parts[part].cls, need, level, d)) {
        return 0;
    }
    size_t n = w->choices.n - base;
    uint32_t left = need;
    w->steps += n / 16 + 1;
    while (left > 0) {
        gv_choice *v = w->choices.v + base;
        size_t at = best_fit(v, n, left);
        at = at < n ? at : largest(v, n);
        if (at == n) {
            break;
        }
        uint32_t id = v[at].id, take = v[at].avail < left ? v[at].avail : left;
        v[at].avail = 0;
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
static uint64_t domain_key(pass_ctx *c, uint32_t unit, uint32_t d) {
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
    const int64_t *all = u->parent == GV_NONE ? need : p->amounts + (size_t)u->parent * p->n_res;
    bool follow = covers(room, all, p->n_res);
    key = (key << MISFIT_BITS) + gv_misfit(p, room, follow ? all : need, 1);
    key += gv_unit_dislike(p, unit, u->level, d) << DISLIKE_AT;
    key += gv_work_wished(p, c->w, u->level, d) > 0 ? 0 : UNWISHED;
    return key + (follow ? FOLLOW : FRESH);
}

static bool place_unit(pass_ctx *c, uint32_t unit, uint32_t level, uint32_t dom) {
    const gv_problem *p = c->p;
    const gv_unit *u = &p->units[unit];
    if (u->pin != GV_NONE) {
        return unit_may_fit(c, unit, u->pin) && fill_unit(c, unit, u->level, u->pin);
    }
    uint32_t lo, hi;
    gv_problem_range(p->t, level, dom, u->level, &lo, &hi);
    uint64_t last_key = 0;
    uint32_t last = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t best_key = UINT64_MAX;
        uint32_t best = GV_NONE;
        if (!gv_work_step(c->w, (hi - lo) / 16 + 1)) {
            return false;
        }
        for (uint32_t i = lo; i < hi; i++) {
            uint32_t d = u->level == p->host ? p->t->order[i] : i;
            uint64_t key = domain_key(c, unit, d);
            bool later = tries == 0 || key > last_key || (key == last_key && i > last);
            if (later && key < best_key && unit_may_fit(c, unit, d)) {
                best_key = key;
                best = i;
            }
        }
        if (best == GV_NONE) {
            return false;
        }
        last_key = best_key;
        last = best;
        size_t before = c->w->puts.n;
        if (fill_unit(c, unit, u->level, u->level == p->host ? p->t->order[best] : best)) {
            return true;
        }
        gv_work_back(p, c->w, before);
    }
    return false;
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
            keys[i] = size_key(c, p->amounts[(size_t)child * p->n_res + p->rank_res], i);
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
            keys[i] = size_key(c, row[p->rank_res], i);
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

uint32_t gv_greedy_room(const gv_problem *p, uint32_t cls, uint32_t level, uint32_t d) {
    pass_ctx c = {p, gv_work_of(p), GV_PASS_LARGE_FIRST};
    return domain_room(&c, cls, level, d);
}

uint32_t gv_greedy_spread(const gv_problem *p, uint32_t part, uint32_t need, uint32_t level,
                          uint32_t d) {
    pass_ctx c = {p, gv_work_of(p), GV_PASS_LARGE_FIRST};
    return spread_pods(&c, part, need, level, d);
}
