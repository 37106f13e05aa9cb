/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frontiers from the other side. Where the sum of the children's sets grows too large (many different
 * pods), few combinations of *units* may still be possible: they are listed one by one, each judged by a
 * quick packing and, where that fails, by a search with exactly this demand.
 */
#include "sched/exact.h"

#include <string.h>

#include "sched/keys.h"

#define LISTED 6000u /* combinations found before giving up */
#define JUDGE_STEPS 3000u

/* Pods that go to one host together: one pod, or all of a host unit. */
typedef struct chunk {
    uint32_t type;
    uint64_t size;
} chunk;

typedef struct listing {
    gv_exact *x;
    uint32_t level, d;
    const gv_dims *up, *down;
    uint64_t closable;
    uint64_t row[GV_VSET_WORDS]; /* the combination, over `up` */
    uint32_t count[64];          /* the same, unpacked */
    uint32_t demand[64];         /* what it asks for, over `down` */
    gv_word_vec *rows, *chunks;
    bool flat; /* nothing is packed between this level and the hosts: quick packing may judge */
    bool exact;
    uint32_t found;
    gv_vheap list;
} listing;

/* ---- quick packing ---- */

static uint64_t chunk_size(const gv_exact *x, uint32_t type, uint32_t r) {
    const gv_type *t = &x->types[type];
    int64_t whole = x->p->amounts[r], a = t->amounts[r];
    return whole > 0 ? (uint64_t)(a / (whole / 65536 + 1)) : 0;
}

static bool host_takes(const gv_exact *x, uint32_t node, uint32_t type) {
    const gv_problem *p = x->p;
    const gv_type *t = &x->types[type];
    if (t->level == 0) {
        return p->classes[type].column->count[node] > 0;
    }
    for (uint32_t i = 0; i < t->n_items; i++) {
        if (p->classes[t->item_type[i]].column->count[node] < t->item_count[i]) {
            return false;
        }
    }
    return (t->pin == GV_NONE || t->pin == node) && gv_domain_seen(p->t, p->host, node, t->seen_on);
}

/* Hosts that could take something and have taken nothing. */
static uint32_t hosts_left(const listing *l, const int64_t *rooms, uint32_t lo, uint32_t hi) {
    const gv_problem *p = l->x->p;
    uint32_t n = 0;
    for (uint32_t i = lo; i < hi; i++) {
        uint32_t node = p->t->order[i], k = 0;
        while (k < p->n_classes && p->classes[k].column->count[node] == 0) {
            k++;
        }
        n += k < p->n_classes && memcmp(rooms + (size_t)(i - lo) * p->n_res,
                                        gv_node_free(p->s, node), p->n_res * sizeof *rooms) == 0;
    }
    return n;
}

/* Best fit of all chunks, largest first, on copies of the hosts' room. */
static bool pack(listing *l, uint64_t *keys, uint32_t n, uint32_t rank) {
    gv_exact *x = l->x;
    const gv_problem *p = x->p;
    uint32_t lo, hi, width = p->n_res;
    gv_problem_range(p->t, l->level, l->d, p->host, &lo, &hi);
    if (!gv_vec_reserve(p->s->env, l->rows, (size_t)(hi - lo) * width)) {
        x->heap.failed = true;
        return false;
    }
    int64_t *rooms = (int64_t *)l->rows->v;
    for (uint32_t i = lo; i < hi; i++) {
        memcpy(rooms + (size_t)(i - lo) * width, gv_node_free(p->s, p->t->order[i]),
               width * sizeof *rooms);
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t type = (uint32_t)(keys[k] & 0xffff);
        if (x->types[type].empty) { /* the last ones: on hosts that were not touched */
            return n - k <= hosts_left(l, rooms, lo, hi);
        }
        const int64_t *need = x->types[type].amounts;
        uint32_t best = GV_NONE;
        for (uint32_t i = lo; i < hi; i++) {
            const int64_t *room = rooms + (size_t)(i - lo) * width;
            bool fits = host_takes(x, p->t->order[i], type);
            for (uint32_t r = 0; fits && r < width; r++) {
                fits = room[r] >= need[r];
            }
            if (fits &&
                (best == GV_NONE || room[rank] < rooms[(size_t)(best - lo) * width + rank])) {
                best = i;
            }
        }
        if (best == GV_NONE) {
            return false;
        }
        for (uint32_t r = 0; r < width; r++) {
            rooms[(size_t)(best - lo) * width + r] -= need[r];
        }
    }
    x->heap.work += (uint64_t)n * (hi - lo) / 4;
    return true;
}

static bool quick_pack(listing *l) {
    gv_exact *x = l->x;
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->down->n; i++) {
        n += l->demand[i];
    }
    if (n > 256 || !gv_vec_reserve(x->p->s->env, l->chunks, n + 1)) {
        return false;
    }
    for (uint32_t r = 1; r < x->p->n_res; r++) {
        if (x->p->amounts[r] == 0) {
            continue;
        }
        uint32_t at = 0;
        for (uint32_t i = 0; i < l->down->n; i++) {
            uint32_t type = l->down->type[i];
            uint64_t size = 0;
            for (uint32_t q = 1; q < x->p->n_res; q++) {
                size += chunk_size(x, type, q) * (q == r ? 4 : 1);
            }
            for (uint32_t k = 0; k < l->demand[i]; k++) {
                l->chunks->v[at++] = (UINT64_C(0xffffffffffff) - size) << 16 | type;
            }
        }
        gv_keys_sort(l->chunks->v, n);
        if (pack(l, l->chunks->v, n, r)) {
            return true;
        }
    }
    return false;
}

/* ---- judging one combination ---- */

static bool sums_allow(const listing *l) {
    const gv_problem *p = l->x->p;
    const int64_t *have = p->t->levels[l->level].free + (size_t)l->d * p->s->stride;
    for (uint32_t r = 0; r < p->n_res; r++) {
        int64_t need = 0;
        for (uint32_t i = 0; i < l->down->n; i++) {
            need += l->x->types[l->down->type[i]].amounts[r] * (int64_t)l->demand[i];
        }
        if (need > have[r]) {
            return false;
        }
    }
    return true;
}

/* The demand on pods of each class, units below opened, as bounds on what a host need consider. */
static void add_pods(const gv_exact *x, uint32_t type, uint32_t n, uint32_t *pods) {
    const gv_type *t = &x->types[type];
    if (t->level == 0) {
        pods[type] += n;
        return;
    }
    for (uint32_t i = 0; i < t->n_items; i++) {
        add_pods(x, t->item_type[i], n * t->item_count[i], pods);
    }
}

static gv_answer judge(listing *l) {
    gv_exact *x = l->x;
    if (!sums_allow(l)) {
        return GV_NO;
    }
    if (l->flat && quick_pack(l)) {
        return GV_YES;
    }
    uint64_t demand[GV_VSET_WORDS] = {0};
    uint32_t pods[64] = {0}, before[64];
    for (uint32_t i = 0; i < l->down->n; i++) {
        gv_lane_add(x->lanes, demand, i, l->demand[i]);
        add_pods(x, l->down->type[i], l->demand[i], pods);
    }
    memcpy(before, x->host_cap, sizeof before);
    memcpy(x->host_cap, pods, sizeof pods);
    gv_slices unused;
    gv_answer a = gv_search_briefly(x, l->level, l->d, demand, JUDGE_STEPS, &unused);
    memcpy(x->host_cap, before, sizeof before);
    return a;
}

/* ---- listing ---- */

static bool add_one(listing *l, uint32_t i, int sign) {
    const gv_exact *x = l->x;
    uint32_t type = l->up->type[i];
    bool closes = l->closable >> i & 1;
    if (!closes && l->down->index_of[type] == GV_NONE) {
        return false; /* a unit that cannot be closed here */
    }
    const gv_type *t = &x->types[type];
    for (uint32_t k = 0; closes && k < t->n_items; k++) {
        uint32_t *at = &l->demand[l->down->index_of[t->item_type[k]]];
        *at = sign > 0 ? *at + t->item_count[k] : *at - t->item_count[k];
    }
    if (!closes) {
        uint32_t *at = &l->demand[l->down->index_of[type]];
        *at = sign > 0 ? *at + 1 : *at - 1;
    }
    l->count[i] = sign > 0 ? l->count[i] + 1 : l->count[i] - 1;
    if (sign > 0) {
        gv_lane_add(x->lanes, l->row, i, 1);
    } else {
        gv_lane_sub(x->lanes, l->row, i, 1);
    }
    return true;
}

/* All combinations that contain the present one and add only types from dimension `from` on. */
static void extend(listing *l, uint32_t from) {
    gv_vheap_push(&l->list, l->row);
    for (uint32_t i = from; i < l->up->n; i++) {
        if (l->count[i] == l->up->cap[i] || !add_one(l, i, +1)) {
            continue;
        }
        gv_answer a = judge(l);
        l->exact = l->exact && a != GV_DONT_KNOW;
        if (a == GV_YES && ++l->found <= LISTED) {
            extend(l, i);
        }
        add_one(l, i, -1);
        if (l->found > LISTED || !gv_exact_charge(l->x)) {
            l->exact = false;
            return;
        }
    }
}

gv_vset gv_frontier_listed(gv_exact *x, uint32_t level, uint32_t d, uint64_t closable) {
    listing l = {.x = x,
                 .level = level,
                 .d = d,
                 .up = &x->dims[level],
                 .down = &x->dims[level + 1],
                 .closable = closable,
                 .exact = true};
    gv_vset set = {0, l.up->words, false, NULL};
    if (x->w->listing_depth == GV_LISTINGS) {
        return set;
    }
    gv_listing_memory *m = &x->w->listings[x->w->listing_depth++];
    l.rows = &m->rows;
    l.chunks = &m->chunks;
    l.flat = gv_next_used_level(x, level) == x->p->host;
    l.list = (gv_vheap){.env = x->heap.env, .rows = m->list_rows, .keys = m->list_keys};
    gv_vheap_begin(&l.list, x->lanes, l.up->words, x->limit);
    extend(&l, 0);
    if (!gv_vheap_end(&l.list, x->mem, &set)) {
        x->heap.failed = true;
    }
    set.exact = l.exact && l.list.exact && !x->stopped;
    m->list_rows = l.list.rows; /* they may have grown */
    m->list_keys = l.list.keys;
    x->w->listing_depth--;
    return set;
}
