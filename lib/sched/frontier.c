/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frontiers bottom up. Equal inputs give the same set without computing it again: hosts by what is free
 * of the resources in question, domains by the multiset of their children's sets.
 */
#include "sched/exact.h"

#include <string.h>

#include "sched/keys.h"

#define NOTHING 0u
#define CLOSE_WORK (UINT64_C(1) << 22) /* ways to close units of one set, before it is cut short */

bool gv_exact_charge(gv_exact *x) {
    bool go_on = gv_work_step(x->w, x->heap.work / 8 + 1);
    x->heap.work = 0;
    if (x->heap.failed) {
        x->w->status = GROVE_E_NOMEM;
    }
    if (!go_on || x->heap.failed) {
        x->stopped = true;
    }
    return !x->stopped;
}

uint32_t gv_exact_keep(gv_exact *x, gv_vset set) {
    if (set.n == 0 && set.exact) {
        return NOTHING;
    }
    if (x->n_sets == x->cap_sets) {
        uint32_t cap = x->cap_sets * 2;
        gv_vset *more = gv_arena_array(x->mem, gv_vset, cap);
        if (!more) {
            x->w->status = GROVE_E_NOMEM;
            x->stopped = true;
            return NOTHING;
        }
        memcpy(more, x->sets, x->n_sets * sizeof *more);
        x->sets = more;
        x->cap_sets = cap;
    }
    x->sets[x->n_sets] = set;
    return x->n_sets++;
}

static uint32_t remember(gv_exact *x, const uint64_t *key, uint32_t n, uint32_t set) {
    if (!x->stopped && !gv_memo_add(&x->memo, key, n, set)) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
    }
    return set;
}

/* ---- closing ---- */

/* Which unit types of the level may be closed in this domain, as bits over dims[level]. */
static uint64_t closable(const gv_exact *x, uint32_t level, uint32_t d) {
    const gv_dims *dims = &x->dims[level];
    uint64_t bits = 0;
    for (uint32_t i = 0; i < dims->n; i++) {
        const gv_type *t = &x->types[dims->type[i]];
        if (t->level == level && !t->empty && gv_domain_seen(x->p->t, level, d, t->seen_on) &&
            (t->pin == GV_NONE || t->pin == d)) {
            bits |= UINT64_C(1) << i;
        }
    }
    return bits;
}

typedef struct closing {
    gv_exact *x;
    const gv_dims *up, *down;
    uint64_t allowed;
    uint64_t alone;    /* types that share nothing with others: as many as fit, never fewer */
    uint32_t left[64]; /* what of the inner vector is not used up, by dimension of `down` */
    uint64_t row[GV_VSET_WORDS];
} closing;

static void push_rest(closing *c) {
    uint64_t row[GV_VSET_WORDS];
    memcpy(row, c->row, sizeof row);
    for (uint32_t i = 0; i < c->up->n; i++) {
        uint32_t inner = c->down->index_of[c->up->type[i]];
        bool passes = inner != GV_NONE && (c->allowed >> i & 1) == 0;
        if (passes && c->left[inner] > 0) {
            uint32_t x = c->left[inner] < c->up->cap[i] ? c->left[inner] : c->up->cap[i];
            gv_lane_add(c->x->lanes, row, i, x);
        }
    }
    c->x->heap.work += 4;
    gv_vheap_push(&c->x->heap, row);
}

static uint32_t times_it_fits(const closing *c, const gv_type *t, uint32_t cap) {
    for (uint32_t k = 0; k < t->n_items; k++) {
        uint32_t inner = c->down->index_of[t->item_type[k]];
        uint32_t fits = inner == GV_NONE ? 0 : c->left[inner] / t->item_count[k];
        cap = fits < cap ? fits : cap;
    }
    return cap;
}

static void take_items(closing *c, const gv_type *t, uint32_t n, int sign) {
    for (uint32_t k = 0; k < t->n_items; k++) {
        uint32_t amount = n * t->item_count[k];
        uint32_t *left = &c->left[c->down->index_of[t->item_type[k]]];
        *left = sign < 0 ? *left - amount : *left + amount;
    }
}

/* Every way to close units of the types from dimension i on. */
static void close_from(closing *c, uint32_t i) {
    while (i < c->up->n && (c->allowed >> i & 1) == 0) {
        i++;
    }
    if (i == c->up->n) {
        push_rest(c);
        return;
    }
    const gv_type *t = &c->x->types[c->up->type[i]];
    uint32_t most = times_it_fits(c, t, c->up->cap[i]);
    uint32_t least = c->alone >> i & 1 ? most : 0;
    for (uint32_t n = most + 1; n-- > least;) {
        if (c->x->heap.failed || c->x->heap.work > CLOSE_WORK) {
            c->x->heap.exact = false;
            return;
        }
        if (n > 0) {
            take_items(c, t, n, -1);
        }
        gv_lane_add(c->x->lanes, c->row, i, n);
        close_from(c, i + 1);
        gv_lane_sub(c->x->lanes, c->row, i, n);
        if (n > 0) {
            take_items(c, t, n, +1);
        }
    }
}

static uint64_t types_alone(const closing *c) {
    uint32_t users[64] = {0};
    uint64_t alone = 0;
    for (uint32_t i = 0; i < c->up->n; i++) {
        const gv_type *t = &c->x->types[c->up->type[i]];
        if (c->allowed >> i & 1) {
            for (uint32_t k = 0; k < t->n_items; k++) {
                uint32_t inner = c->down->index_of[t->item_type[k]];
                users[inner == GV_NONE ? 63 : inner]++;
            }
        } else if (c->down->index_of[c->up->type[i]] != GV_NONE) {
            users[c->down->index_of[c->up->type[i]]]++;
        }
    }
    for (uint32_t i = 0; i < c->up->n; i++) {
        const gv_type *t = &c->x->types[c->up->type[i]];
        bool shares = (c->allowed >> i & 1) == 0;
        for (uint32_t k = 0; !shares && k < t->n_items; k++) {
            uint32_t inner = c->down->index_of[t->item_type[k]];
            shares = inner == GV_NONE || users[inner] > 1;
        }
        alone |= (uint64_t)!shares << i;
    }
    return alone;
}

static bool dims_equal(const gv_dims *a, const gv_dims *b) {
    return a->n == b->n && memcmp(a->type, b->type, a->n * sizeof *a->type) == 0 &&
           memcmp(a->cap, b->cap, a->n * sizeof *a->cap) == 0;
}

/* From a set over dims[level + 1] to one over dims[level]. */
static uint32_t close_set(gv_exact *x, uint32_t level, uint32_t inner, uint64_t allowed) {
    const gv_dims *up = &x->dims[level], *down = &x->dims[level + 1];
    if (inner == NOTHING || (allowed == 0 && dims_equal(up, down))) {
        return inner;
    }
    uint64_t key[4] = {1, level, inner, allowed};
    gv_memo_entry *known = gv_memo_find(&x->memo, key, 4);
    if (known) {
        return known->value;
    }
    gv_vset from = x->sets[inner], to;
    closing c = {.x = x, .up = up, .down = down, .allowed = allowed};
    c.alone = types_alone(&c);
    gv_vheap_begin(&x->heap, x->lanes, up->words, x->limit);
    for (uint32_t i = 0; i < from.n; i++) {
        for (uint32_t k = 0; k < down->n; k++) {
            c.left[k] = gv_lane_get(x->lanes, from.v + (size_t)i * from.words, k);
        }
        close_from(&c, 0);
        x->heap.work += 8;
    }
    if (from.n == 0) {
        uint64_t zero[GV_VSET_WORDS] = {0};
        gv_vheap_push(&x->heap, zero);
    }
    if (!gv_vheap_end(&x->heap, x->mem, &to)) {
        x->heap.failed = true;
    }
    if (!gv_exact_charge(x)) {
        return NOTHING;
    }
    to.exact = to.exact && from.exact;
    return remember(x, key, 4, gv_exact_keep(x, to));
}

/* ---- hosts ---- */

typedef struct host_fill {
    gv_exact *x;
    const gv_dims *dims;
    int64_t room[64];
    bool may[64];
    uint64_t row[GV_VSET_WORDS];
    uint32_t tried;
} host_fill;

#define HOST_CANDIDATES 65536u

static void fill_host(host_fill *f, uint32_t i) {
    while (i < f->dims->n && !f->may[i]) {
        i++;
    }
    if (i == f->dims->n) {
        f->tried++;
        gv_vheap_push(&f->x->heap, f->row);
        return;
    }
    const gv_class *c = f->x->p->classes[f->dims->type[i]].cls;
    uint32_t most = gv_fit(c, f->room);
    uint32_t cap = f->x->host_cap[f->dims->type[i]];
    most = most < cap ? most : cap;
    uint32_t last = i + 1;
    while (last < f->dims->n && !f->may[last]) {
        last++;
    }
    /* The last class takes what it can: fewer would be covered anyway. */
    uint32_t least = last == f->dims->n ? most : 0;
    for (uint32_t n = most + 1; n-- > least;) {
        if (f->tried > HOST_CANDIDATES || f->x->heap.failed) {
            f->x->heap.exact = false;
            return;
        }
        for (uint32_t k = 0; k < c->n_needs; k++) {
            f->room[c->needs[k].resource] -= c->needs[k].amount * (int64_t)n;
        }
        gv_lane_add(f->x->lanes, f->row, i, n);
        fill_host(f, i + 1);
        gv_lane_sub(f->x->lanes, f->row, i, n);
        for (uint32_t k = 0; k < c->n_needs; k++) {
            f->room[c->needs[k].resource] += c->needs[k].amount * (int64_t)n;
        }
    }
}

static uint32_t host_set(gv_exact *x, uint32_t node) {
    const gv_problem *p = x->p;
    const gv_dims *dims = &x->dims[p->host + 1];
    const int64_t *room = gv_node_free(p->s, node);
    host_fill f = {.x = x, .dims = dims};
    uint64_t key[2 + 64 + 64];
    uint32_t n_key = 2;
    key[0] = 2;
    key[1] = 0;
    for (uint32_t i = 0; i < dims->n; i++) {
        uint32_t cls = dims->type[i];
        f.may[i] = x->host_cap[cls] > 0 && p->classes[cls].column->count[node] > 0;
        if (f.may[i]) {
            key[n_key++] = x->host_cap[cls];
        }
        key[1] |= (uint64_t)f.may[i] << i;
    }
    if (key[1] == 0) {
        return NOTHING;
    }
    for (uint32_t r = 0; r < p->n_res; r++) {
        if (p->amounts[r] > 0) {
            f.room[r] = room[r] < p->amounts[r] ? room[r] : p->amounts[r];
            key[n_key++] = (uint64_t)f.room[r];
        }
    }
    gv_memo_entry *known = gv_memo_find(&x->memo, key, n_key);
    if (known) {
        return known->value;
    }
    gv_vset set;
    gv_vheap_begin(&x->heap, x->lanes, dims->words, x->limit);
    fill_host(&f, 0);
    x->heap.work += f.tried;
    bool full_list = f.tried <= HOST_CANDIDATES;
    if (!gv_vheap_end(&x->heap, x->mem, &set)) {
        x->heap.failed = true;
    }
    if (!gv_exact_charge(x)) {
        return NOTHING;
    }
    set.exact = set.exact && full_list;
    return remember(x, key, n_key, gv_exact_keep(x, set));
}

/* ---- left empty ---- */

/* The most that one member of the set holds of a type. */
static uint32_t most_of(const gv_exact *x, uint32_t level, uint32_t set, uint32_t type) {
    uint32_t i = type == GV_NONE ? GV_NONE : x->dims[level].index_of[type], most = 0;
    const gv_vset *s = &x->sets[set];
    for (uint32_t k = 0; i != GV_NONE && k < s->n; k++) {
        uint32_t n = gv_lane_get(x->lanes, s->v + (size_t)k * s->words, i);
        most = n > most ? n : most;
    }
    return most;
}

/* Whatever part of the demand is looked at just now: so many hosts can be left empty, neither more nor fewer. */
static bool takes_a_pod(const gv_exact *x, uint32_t node) {
    uint32_t k = 0;
    while (k < x->p->n_classes && x->p->classes[k].column->count[node] == 0) {
        k++;
    }
    return k < x->p->n_classes;
}

/* The set of a domain or host, with "nothing at all goes there" as one more member. */
static uint32_t or_empty(gv_exact *x, uint32_t level, uint32_t set) {
    uint32_t type = level == x->p->host ? x->empty_host : x->empty_domain;
    if (type == GV_NONE || level < x->p->t->n_levels || x->stopped) {
        return set;
    }
    const gv_dims *dims = &x->dims[level];
    uint64_t key[3] = {5, level, set}, row[GV_VSET_WORDS] = {0};
    gv_memo_entry *known = gv_memo_find(&x->memo, key, 3);
    if (known) {
        return known->value;
    }
    gv_vset from = x->sets[set], to;
    gv_lane_add(x->lanes, row, dims->index_of[type], 1);
    if (level < x->p->host && x->empty_host != GV_NONE) {
        gv_lane_add(x->lanes, row, dims->index_of[x->empty_host],
                    most_of(x, level, set, x->empty_host));
    }
    gv_vheap_begin(&x->heap, x->lanes, dims->words, x->limit + 1);
    for (uint32_t i = 0; i < from.n; i++) {
        gv_vheap_push(&x->heap, from.v + (size_t)i * from.words);
    }
    gv_vheap_push(&x->heap, row);
    if (!gv_vheap_end(&x->heap, x->mem, &to)) {
        x->heap.failed = true;
    }
    if (!gv_exact_charge(x)) {
        return NOTHING;
    }
    to.exact = to.exact && from.exact;
    return remember(x, key, 3, gv_exact_keep(x, to));
}

/* ---- domains ---- */

bool gv_sums_allow(const gv_exact *x, const gv_type *t, uint32_t level, uint32_t d) {
    const gv_problem *p = x->p;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        if (p->classes[k].column->sum[level][d] < t->pods[k]) {
            return false;
        }
    }
    const int64_t *free = p->t->levels[level].free + (size_t)d * p->s->stride;
    for (uint32_t r = 0; r < p->n_res; r++) {
        if (t->amounts[r] > free[r]) {
            return false;
        }
    }
    return true;
}

/* Nothing that is open above the level can go into the domain: neither a pod nor a whole unit. */
static bool nothing_fits(const gv_exact *x, uint32_t level, uint32_t d) {
    const gv_problem *p = x->p;
    const gv_dims *dims = &x->dims[level];
    for (uint32_t i = 0; i < dims->n; i++) {
        const gv_type *t = &x->types[dims->type[i]];
        if (t->empty) {
            continue;
        }
        if (t->pods ? gv_sums_allow(x, t, level, d)
                    : p->classes[dims->type[i]].column->sum[level][d] > 0) {
            return false;
        }
    }
    return true;
}

/* The sum of some sets over dims[level], given in ascending order of their numbers. */
static uint32_t sum_sets(gv_exact *x, uint32_t level, const uint64_t *ids, uint32_t n,
                         uint32_t limit) {
    uint32_t total = NOTHING;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key[5] = {3, level, total, ids[i], limit};
        gv_memo_entry *known = gv_memo_find(&x->memo, key, 5);
        if (known) {
            total = known->value;
            continue;
        }
        gv_vset sum;
        gv_vset a = x->sets[total], b = x->sets[ids[i]];
        x->heap.lanes = x->lanes;
        x->heap.limit = limit;
        if (!gv_vset_sum(&x->heap, &a, &b, x->dims[level].row, x->mem, &sum)) {
            x->heap.failed = true;
        }
        if (!gv_exact_charge(x)) {
            return NOTHING;
        }
        total = total == NOTHING ? (uint32_t)ids[i] : gv_exact_keep(x, sum);
        remember(x, key, 5, total);
        if (limit < x->limit && !x->sets[total].exact) {
            break; /* too many: the caller has another way */
        }
    }
    return total;
}

/*
 * First the sum, as long as it stays small; else the combinations one by one; and when there are too many
 * of these as well, the sum cut short. `ids` starts with what tells this domain from others: a mark, the
 * level, the units that may be closed in it; then the children's sets.
 */
static uint32_t domain_set(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *ids,
                           uint32_t n) {
    uint64_t allowed = ids[2];
    uint32_t few = x->limit / 16 + 1;
    uint32_t inner = sum_sets(x, level + 1, ids + 3, n, few);
    if (x->stopped || x->sets[inner].exact) {
        return close_set(x, level, inner, allowed);
    }
    gv_memo_entry *known = gv_memo_find(&x->memo, ids, n + 3);
    if (known) {
        return known->value;
    }
    gv_vset listed = gv_frontier_listed(x, level, d, allowed);
    if (x->stopped || listed.exact) {
        return remember(x, ids, n + 3, gv_exact_keep(x, listed));
    }
    inner = sum_sets(x, level + 1, ids + 3, n, x->limit);
    uint32_t cut = close_set(x, level, inner, allowed);
    return remember(x, ids, n + 3, listed.n > x->sets[cut].n ? gv_exact_keep(x, listed) : cut);
}

uint32_t gv_frontier(gv_exact *x, uint32_t level, uint32_t d) {
    const gv_problem *p = x->p;
    if (x->stopped) {
        return NOTHING;
    }
    if (level == p->host) {
        uint32_t inner = host_set(x, d);
        inner = close_set(x, level, inner, inner == NOTHING ? 0 : closable(x, level, d));
        return takes_a_pod(x, d) ? or_empty(x, level, inner) : inner;
    }
    if (nothing_fits(x, level, d)) {
        return NOTHING;
    }
    uint32_t lo, hi, n = 0;
    gv_problem_range(p->t, level, d, level + 1, &lo, &hi);
    uint64_t *ids = gv_arena_alloc(x->mem, (hi - lo + 3) * sizeof *ids);
    if (!ids) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return NOTHING;
    }
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t set = gv_frontier(x, level + 1, level + 1 == p->host ? p->t->order[i] : i);
        if (set != NOTHING) {
            ids[3 + n++] = set;
        }
    }
    gv_keys_sort(ids + 3, n);
    ids[0] = 4;
    ids[1] = level;
    ids[2] = closable(x, level, d);
    return or_empty(x, level, domain_set(x, level, d, ids, n));
}

void gv_frontier_usable(gv_exact *x, uint32_t level, uint32_t d, gv_spare *sum) {
    const gv_problem *p = x->p;
    uint32_t lo, hi;
    if (level > p->units[0].level) {
        uint32_t set = gv_frontier(x, level, d);
        if (set == NOTHING || level >= p->t->n_levels) {
            sum->domains += level == p->t->n_levels && set != NOTHING;
            sum->hosts += level == p->host ? set != NOTHING : most_of(x, level, set, x->empty_host);
            return;
        }
    }
    gv_problem_range(p->t, level, d, level + 1, &lo, &hi);
    for (uint32_t i = lo; i < hi; i++) {
        gv_frontier_usable(x, level + 1, level + 1 == p->host ? p->t->order[i] : i, sum);
    }
}
