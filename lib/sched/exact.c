/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search from the root unit down: find what each child domain takes, hand it the units and pods
 * for it, and go on below, until pods lie on hosts.
 */
#include "sched/exact.h"

#include <string.h>

#define FEW_STEPS 600u /* of one search for a smaller span */

/* A unit, or `count` pods of a part, waiting for a place inside the present domain. */
typedef struct waiting {
    struct waiting *next;
    uint32_t id, count;
} waiting;

static bool out_of_memory(gv_exact *x) {
    x->w->status = GROVE_E_NOMEM;
    x->stopped = true;
    return false;
}

void gv_exact_begin(const gv_problem *p) {
    gv_work *w = gv_work_of(p);
    gv_exact_end(p);
    gv_work_reset(&w->scratch);
    w->exact = NULL;
}

void gv_exact_end(const gv_problem *p) {
    gv_work *w = gv_work_of(p);
    if (w->exact) {
        /* The vectors may have grown while lent. */
        w->heap_rows = w->exact->heap.rows;
        w->heap_keys = w->exact->heap.keys;
        w->exact = NULL;
    }
}

static gv_exact *start(const gv_problem *p, uint32_t limit) {
    gv_work *w = gv_work_of(p);
    if (w->exact) {
        return w->exact;
    }
    gv_exact *x = gv_arena_new(&w->scratch, gv_exact);
    if (!x) {
        w->status = GROVE_E_NOMEM;
        return NULL;
    }
    *x = (gv_exact){.p = p, .w = w, .mem = &w->scratch, .limit = limit, .cap_sets = 64};
    x->sets = gv_arena_array(x->mem, gv_vset, x->cap_sets);
    if (!x->sets || !gv_types_build(x)) {
        w->status = GROVE_E_NOMEM;
        return NULL;
    }
    x->sets[0] = (gv_vset){0, 1, true, NULL};
    x->n_sets = 1;
    gv_memo_init(&x->memo, x->mem);
    x->heap.env = p->s->env;
    x->heap.rows = w->heap_rows;
    x->heap.keys = w->heap_keys;
    x->heap.lanes = x->lanes;
    x->heap.limit = limit;
    for (uint32_t k = 0; x->usable && k < p->n_classes && k < 64; k++) {
        x->host_cap[k] = p->classes[k].need;
    }
    w->exact = x;
    return x;
}

static bool wait_for(gv_exact *x, waiting **list, uint32_t id, uint32_t count) {
    waiting *e = gv_arena_new(x->mem, waiting);
    if (!e) {
        return out_of_memory(x);
    }
    *e = (waiting){*list, id, count};
    *list = e;
    return true;
}

/* The contents of a unit join the lists of their types. */
static bool open_unit(gv_exact *x, uint32_t unit, waiting **lists) {
    const gv_problem *p = x->p;
    const gv_unit *u = &p->units[unit];
    for (uint32_t i = u->n_parts; i-- > 0;) {
        const gv_part *part = &p->parts[u->first_part + i];
        if (!wait_for(x, &lists[part->cls], u->first_part + i, part->need)) {
            return false;
        }
    }
    for (uint32_t i = u->n_children; i-- > 0;) {
        uint32_t child = p->children[u->first_child + i];
        if (p->units[child].pods > 0 && !wait_for(x, &lists[p->units[child].type], child, 1)) {
            return false;
        }
    }
    return true;
}

static bool put_all(gv_exact *x, uint32_t node, waiting **lists) {
    for (uint32_t k = 0; k < x->p->n_classes; k++) {
        for (waiting *e = lists[k]; e; e = e->next) {
            if (!gv_work_put(x->p, x->w, e->id, node, e->count)) {
                x->stopped = true;
                return false;
            }
        }
    }
    return true;
}

/* Moves `n` of a type from the domain's list to a child's; units of the child's level are opened. */
static bool hand_down(gv_exact *x, uint32_t child_level, uint32_t type, uint32_t n, waiting **from,
                      waiting **to) {
    bool opens = x->types[type].level == child_level, vanishes = opens && x->types[type].empty;
    while (n > 0 && from[type]) {
        waiting *e = from[type];
        uint32_t take = e->count < n ? e->count : n;
        e->count -= take;
        n -= take;
        if (e->count == 0) {
            from[type] = e->next;
        }
        if (!vanishes && !(opens ? open_unit(x, e->id, to) : wait_for(x, &to[type], e->id, take))) {
            return false;
        }
    }
    return n == 0;
}

static gv_answer distribute(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *demand,
                            uint32_t most_used, gv_slices *out) {
    if (most_used > 0) {
        return gv_search_few(x, level, x->p->t->n_levels, d, demand, most_used, FEW_STEPS, out);
    }
    return gv_search(x, level, d, demand, out);
}

static gv_answer fill_domain(gv_exact *x, uint32_t level, uint32_t d, waiting **lists,
                             uint32_t most_used) {
    if (level == x->p->host) {
        return put_all(x, d, lists) ? GV_YES : GV_DONT_KNOW;
    }
    const gv_dims *dims = &x->dims[level + 1];
    uint64_t demand[GV_VSET_WORDS] = {0};
    for (uint32_t i = 0; i < dims->n; i++) {
        uint32_t n = 0;
        for (const waiting *e = lists[dims->type[i]]; e; e = e->next) {
            n += e->count;
        }
        gv_lane_add(x->lanes, demand, i, n);
    }
    gv_slices slices;
    gv_answer a = distribute(x, level, d, demand, most_used, &slices);
    for (uint32_t c = 0; a == GV_YES && c < slices.n; c++) {
        const gv_slice *slice = &slices.v[c];
        if (!slice->take || gv_is_zero(slice->take, dims->words)) {
            continue;
        }
        waiting **below = gv_arena_array(x->mem, waiting *, x->n_types);
        if (!below) {
            out_of_memory(x);
            return GV_DONT_KNOW;
        }
        for (uint32_t i = 0; i < dims->n; i++) {
            uint32_t n = gv_lane_get(x->lanes, slice->take, i);
            if (n > 0 && !hand_down(x, slices.level, dims->type[i], n, lists, below)) {
                return GV_DONT_KNOW;
            }
        }
        /* A child's frontier promised this: anything but yes is a search that ended early. */
        a = fill_domain(x, slices.level, slice->domain, below, 0) == GV_YES ? GV_YES : GV_DONT_KNOW;
    }
    return a;
}

/* The root's contents, and what is to stay empty, in the root's domain. */
static gv_answer fill_root(gv_exact *x, uint32_t dom, uint32_t most_used, gv_spare spare) {
    const gv_problem *p = x->p;
    waiting **lists = gv_arena_array(x->mem, waiting *, x->n_types);
    if (!lists || !open_unit(x, 0, lists) ||
        (spare.domains > 0 && !wait_for(x, &lists[x->empty_domain], 0, spare.domains)) ||
        (spare.hosts > 0 && !wait_for(x, &lists[x->empty_host], 0, spare.hosts))) {
        return GV_DONT_KNOW;
    }
    size_t before = x->w->puts.n;
    gv_answer a = fill_domain(x, p->units[0].level, dom, lists, most_used);
    if (a != GV_YES) {
        gv_work_back(p, x->w, before);
    }
    return a;
}

gv_answer gv_exact_fill(const gv_problem *p, uint32_t dom, uint32_t frontier_limit,
                        uint32_t most_used) {
    gv_exact *x = start(p, frontier_limit);
    return x && x->usable ? fill_root(x, dom, most_used, (gv_spare){0, 0}) : GV_DONT_KNOW;
}

gv_answer gv_exact_fill_sparing(const gv_problem *p, uint32_t dom, uint32_t frontier_limit,
                                const gv_spare *spare) {
    gv_exact *x = start(p, frontier_limit);
    bool can = x && x->usable && (spare->domains == 0 || x->empty_domain != GV_NONE) &&
               (spare->hosts == 0 || x->empty_host != GV_NONE);
    return can ? fill_root(x, dom, 0, *spare) : GV_DONT_KNOW;
}

bool gv_exact_usable(const gv_problem *p, uint32_t dom, uint32_t frontier_limit,
                     gv_spare *out_all) {
    gv_exact *x = start(p, frontier_limit);
    *out_all = (gv_spare){0, 0};
    if (x && x->usable) {
        gv_frontier_usable(x, p->units[0].level, dom, out_all);
    }
    return x && x->usable && !x->stopped;
}
