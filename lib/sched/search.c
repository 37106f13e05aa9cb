/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributing a demand over the domains below one domain. Two exact ways, both on the children's
 * frontiers: domain by domain with bounds and a memo of dead ends, which finds answers in few steps when
 * they exist; and running sums of frontiers with the way back, which decides when sets stay small.
 */
#include "sched/exact.h"

#include <string.h>

#include "sched/keys.h"

#define FUNCTIONALS 48                /* linear bounds kept */
#define FIRST_SLICE 4000              /* steps of the first walk */
#define DEAD_ENDS (1u << 18)          /* remembered at most */
#define LEFT_SCALE (INT64_C(1) << 24) /* whole demands stay below 2^40 */

/* A weight per dimension: no distribution reaches more of it than the children's maxima together. */
typedef struct functional {
    int64_t *weight; /* by dimension */
    int64_t *most;   /* by child: the most that any one child from this one on reaches */
    int64_t *rest;   /* by child: reachable from this child on; n_children + 1 entries */
} functional;

typedef struct walk {
    gv_exact *x;
    const gv_dims *dims;
    uint32_t level; /* of the children */
    uint32_t n;     /* children that can take anything */
    gv_slice *children;
    uint32_t words;
    uint64_t *demand;
    functional f[FUNCTIONALS];
    uint32_t n_f;
    int64_t *size;             /* by dimension: how much of the scarce resource one takes */
    uint32_t most_used;        /* children that may take anything; 0: all of them */
    uint32_t root_level, root; /* what the children lie in */
    bool exact;                /* every child's set is */
    gv_memo dead;
} walk;

static int64_t weigh(const walk *w, const int64_t *weight, const uint64_t *v) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < w->dims->n; i++) {
        sum += weight[i] * (int64_t)gv_lane_get(w->x->lanes, v, i);
    }
    return sum;
}

static int64_t scaled(const gv_exact *x, int64_t a, uint32_t r) {
    int64_t all = x->p->amounts[r];
    /* Parts of the gang's whole demand, so that sums of many cannot overflow. */
    return all <= INT64_MAX / LEFT_SCALE ? a : a / (all / (INT64_MAX / LEFT_SCALE) + 1);
}

static int64_t scaled_amount(const gv_exact *x, uint32_t type, uint32_t r) {
    return scaled(x, x->types[type].amounts[r], r);
}

static void add_functional(walk *w, const int64_t *weight) {
    uint32_t n = w->dims->n;
    for (uint32_t i = 0; i < w->n_f; i++) {
        if (memcmp(w->f[i].weight, weight, n * sizeof *weight) == 0) {
            return;
        }
    }
    if (w->n_f == FUNCTIONALS) {
        return;
    }
    functional *f = &w->f[w->n_f];
    f->weight = gv_arena_array(w->x->mem, int64_t, n);
    f->rest = gv_arena_array(w->x->mem, int64_t, w->n + 1);
    f->most = gv_arena_array(w->x->mem, int64_t, w->n + 1);
    if (!f->weight || !f->rest || !f->most) {
        w->x->w->status = GROVE_E_NOMEM;
        w->x->stopped = true;
        return;
    }
    memcpy(f->weight, weight, n * sizeof *weight);
    w->n_f++;
}

static bool takes_anything(const gv_problem *p, uint32_t level, uint32_t d) {
    for (uint32_t k = 0; k < p->n_classes; k++) {
        const gv_column *c = p->classes[k].column;
        if (level == p->host ? c->count[d] > 0 : c->sum[level][d] > 0) {
            return true;
        }
    }
    return false;
}

/*
 * With so many domains left empty the others must hold everything: with the room of the smallest that may be
 * used as the weight of an empty one, no distribution beats the largest ones together.
 */
static void weigh_empty(walk *w, uint32_t r, uint32_t type, int64_t *weight) {
    gv_exact *x = w->x;
    const gv_problem *p = x->p;
    uint32_t at = type == GV_NONE ? GV_NONE : w->dims->index_of[type], lo, hi, n = 0;
    uint32_t empty = at == GV_NONE ? 0 : gv_lane_get(x->lanes, w->demand, at);
    if (empty == 0) {
        return;
    }
    uint32_t level = x->types[type].level;
    gv_problem_range(p->t, w->root_level, w->root, level, &lo, &hi);
    uint64_t *rooms = gv_arena_array(x->mem, uint64_t, hi - lo + 1);
    for (uint32_t i = lo; rooms && i < hi; i++) {
        uint32_t d = level == p->host ? p->t->order[i] : i;
        int64_t free = level == p->host ? gv_node_free(p->s, d)[r]
                                        : p->t->levels[level].free[(size_t)d * p->s->stride + r];
        if (takes_anything(p, level, d) && free > 0) {
            rooms[n++] = (uint64_t)scaled(x, free < p->amounts[r] ? free : p->amounts[r], r);
        }
    }
    if (rooms && empty < n) {
        gv_keys_sort(rooms, n);
        weight[at] = (int64_t)rooms[empty];
        add_functional(w, weight);
        weight[at] = 0;
    }
}

/*
 * Amounts of each resource, the count of each type, and the count of all types that take at least as
 * much of a resource as a given one: the last is what catches odd sizes in even domains.
 */
static void make_functionals(walk *w) {
    const gv_exact *x = w->x;
    uint32_t n = w->dims->n;
    int64_t weight[64];
    for (uint32_t r = 0; r < x->p->n_res; r++) {
        for (uint32_t i = 0; i < n; i++) {
            weight[i] = scaled_amount(x, w->dims->type[i], r);
        }
        if (x->p->amounts[r] > 0) {
            add_functional(w, weight);
            weigh_empty(w, r, x->empty_domain, weight);
            weigh_empty(w, r, x->empty_host, weight);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        memset(weight, 0, sizeof weight);
        weight[i] = 1;
        add_functional(w, weight);
    }
    for (uint32_t r = 0; r < x->p->n_res; r++) {
        for (uint32_t i = 0; x->p->amounts[r] > 0 && i < n; i++) {
            int64_t least = x->types[w->dims->type[i]].amounts[r];
            for (uint32_t k = 0; k < n; k++) {
                weight[k] = x->types[w->dims->type[k]].amounts[r] >= least;
            }
            add_functional(w, weight);
        }
    }
}

static void fill_functionals(walk *w) {
    for (uint32_t i = 0; i < w->n_f; i++) {
        functional *f = &w->f[i];
        for (uint32_t c = w->n; c-- > 0;) {
            const gv_vset *set = &w->x->sets[w->children[c].set];
            int64_t best = 0;
            if (c + 1 < w->n && w->children[c + 1].set == w->children[c].set) {
                best = f->rest[c + 1] - f->rest[c + 2];
            } else {
                for (uint32_t k = 0; k < set->n; k++) {
                    int64_t v = weigh(w, f->weight, set->v + (size_t)k * set->words);
                    best = v > best ? v : best;
                }
                w->x->heap.work += set->n;
            }
            f->rest[c] = f->rest[c + 1] + best;
            f->most[c] = best > f->most[c + 1] ? best : f->most[c + 1];
        }
    }
}

static bool within_bounds(const walk *w, uint32_t child, uint32_t used, const uint64_t *left) {
    for (uint32_t i = 0; i < w->n_f; i++) {
        int64_t want = weigh(w, w->f[i].weight, left);
        if (want > w->f[i].rest[child] ||
            (w->most_used > 0 && want > w->f[i].most[child] * (int64_t)(w->most_used - used))) {
            return false;
        }
    }
    return true;
}

/* Only one child may be used, and this one has not the room for the whole gang. */
static bool too_small_alone(const walk *w, uint32_t level, uint32_t child) {
    const gv_problem *p = w->x->p;
    return w->most_used == 1 && level == p->units[0].level && w->level <= p->t->n_levels &&
           !gv_sums_allow(w->x, &w->x->types[p->units[0].type], w->level, child);
}

/* Children with room, the tightest first; equal sets side by side. */
static bool gather(walk *w, uint32_t level, uint32_t d) {
    gv_exact *x = w->x;
    const gv_topology *t = x->p->t;
    uint32_t lo, hi;
    gv_problem_range(t, level, d, w->level, &lo, &hi);
    uint64_t *keys = gv_arena_array(x->mem, uint64_t, 2 * (size_t)(hi - lo) + 1);
    w->children = gv_arena_array(x->mem, gv_slice, hi - lo + 1);
    if (!keys || !w->children) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return false;
    }
    uint32_t n = 0;
    gv_slice *found = w->children;
    for (uint32_t i = lo; i < hi && !x->stopped; i++) {
        uint32_t child = w->level == x->p->host ? t->order[i] : i;
        uint32_t set = too_small_alone(w, level, child) ? 0 : gv_frontier(x, w->level, child);
        if (set == 0) {
            continue;
        }
        found[n] = (gv_slice){child, set, NULL};
        w->exact = w->exact && x->sets[set].exact;
        n++;
    }
    gv_slice *sorted = gv_arena_array(x->mem, gv_slice, n + 1);
    uint64_t *most = keys + n, largest = 1;
    bool few = x->empty_domain != GV_NONE || x->empty_host != GV_NONE;
    if (!sorted || x->stopped) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const gv_vset *set = &x->sets[found[i].set];
        for (uint32_t k = 0; k < set->n; k++) {
            uint64_t v = (uint64_t)weigh(w, w->size, set->v + (size_t)k * set->words);
            most[i] = v > most[i] ? v : most[i];
        }
        largest = most[i] > largest ? most[i] : largest;
    }
    uint32_t shift = 0;
    while (largest >> shift > 0xffffff) {
        shift++;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t size = most[i] >> shift;
        keys[i] = (few ? 0xffffff - size : size) << 40 | (uint64_t)(found[i].set & 0xfffff) << 20 |
                  i;
    }
    gv_keys_sort(keys, n);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = found[keys[i] & 0xfffff];
    }
    w->children = sorted;
    w->n = n;
    return true;
}

/* ---- domain by domain ---- */

typedef struct frame {
    uint64_t *left;  /* demand before this child */
    size_t patterns; /* what the child may take, best first: offset into the work's stack */
    uint32_t n, at;
    uint32_t used; /* earlier children that take something */
} frame;

/* left - min(left, v) */
static void subtract(gv_lanes l, const uint64_t *left, const uint64_t *v, uint64_t *out,
                     uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        out[i] = left[i] - gv_word_min(l, left[i], v[i]);
    }
}

/* The child's maximal patterns within what is left, the ones that take most first. */
static bool open_frame(walk *w, frame *f, uint32_t child) {
    gv_exact *x = w->x;
    gv_vheap *h = &x->heap;
    const gv_vset *set = &x->sets[w->children[child].set];
    uint64_t row[GV_VSET_WORDS];
    gv_vheap_begin(h, x->lanes, w->words, UINT32_MAX);
    for (uint32_t k = 0; k < set->n; k++) {
        const uint64_t *v = set->v + (size_t)k * set->words;
        for (uint32_t i = 0; i < w->words; i++) {
            row[i] = gv_word_min(x->lanes, f->left[i], v[i]);
        }
        gv_vheap_push(h, row);
    }
    gv_vheap_prune(h);
    size_t n = h->n, base = x->w->stack.n;
    if (h->failed || !gv_vec_reserve(h->env, &h->keys, n + 1) ||
        !gv_vec_reserve(h->env, &x->w->stack, base + (n + 1) * w->words)) {
        h->failed = true;
        n = 0;
    }
    for (size_t k = 0; k < n; k++) {
        uint64_t v = (uint64_t)weigh(w, w->size, h->rows.v + k * w->words);
        h->keys.v[k] = (UINT64_C(0xffffffffff) - v) << 20 | k;
    }
    gv_keys_sort(h->keys.v, n);
    for (size_t k = 0; k < n; k++) {
        memcpy(x->w->stack.v + base + k * w->words, h->rows.v + (h->keys.v[k] & 0xfffff) * w->words,
               w->words * sizeof(uint64_t));
    }
    if (w->most_used > 0 && !h->failed) {
        /* with few children to use, passing one over is a choice of its own */
        memset(x->w->stack.v + base + n * w->words, 0, w->words * sizeof(uint64_t));
        n++;
    }
    x->w->stack.n = base + n * w->words;
    h->work += (uint64_t)w->n_f * w->dims->n / 4;
    f->patterns = base;
    f->n = (uint32_t)n;
    f->at = 0;
    return gv_exact_charge(x);
}

static bool dead_end(walk *w, uint32_t child, uint32_t used, const uint64_t *left, bool add) {
    uint64_t key[1 + GV_VSET_WORDS];
    key[0] = (w->most_used > 0 ? (uint64_t)used << 32 : 0) | child;
    memcpy(key + 1, left, w->words * sizeof *key);
    if (!add) {
        return gv_memo_find(&w->dead, key, 1 + w->words) != NULL;
    }
    if (w->dead.used < DEAD_ENDS && !gv_memo_find(&w->dead, key, 1 + w->words) &&
        !gv_memo_add(&w->dead, key, 1 + w->words, 0)) {
        w->x->w->status = GROVE_E_NOMEM;
        w->x->stopped = true;
    }
    return true;
}

/* The patterns on the path become what the children take. */
static bool keep_walk(walk *w, const frame *frames, uint32_t depth) {
    uint64_t *takes = gv_arena_array(w->x->mem, uint64_t, ((size_t)depth + 1) * w->words);
    if (!takes) {
        w->x->w->status = GROVE_E_NOMEM;
        w->x->stopped = true;
        return false;
    }
    for (uint32_t c = 0; c < w->n; c++) {
        w->children[c].take = c < depth ? takes + (size_t)c * w->words : NULL;
        if (c < depth) {
            const frame *f = &frames[c];
            memcpy(takes + (size_t)c * w->words,
                   w->x->w->stack.v + f->patterns + (size_t)(f->at - 1) * w->words,
                   w->words * sizeof *takes);
        }
    }
    return true;
}

/* Walks the children in order; `steps` bounds this walk, 0: only the whole budget does. */
static gv_answer walk_children(walk *w, uint64_t steps) {
    gv_exact *x = w->x;
    frame *frames = gv_arena_array(x->mem, frame, w->n + 1);
    uint64_t *lefts = gv_arena_array(x->mem, uint64_t, ((size_t)w->n + 1) * w->words);
    uint64_t until = steps ? x->w->steps + steps : UINT64_MAX;
    if (!frames || !lefts) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return GV_DONT_KNOW;
    }
    memcpy(lefts, w->demand, w->words * sizeof *lefts);
    if (!within_bounds(w, 0, 0, lefts)) {
        return w->exact ? GV_NO : GV_DONT_KNOW;
    }
    frames[0].left = lefts;
    frames[0].used = 0;
    x->w->stack.n = 0;
    uint32_t depth = 0;
    bool fresh = true;
    for (;;) {
        frame *f = &frames[depth];
        if (gv_is_zero(f->left, w->words)) {
            return keep_walk(w, frames, depth) ? GV_YES : GV_DONT_KNOW;
        }
        bool open = !fresh || (depth < w->n && open_frame(w, f, depth));
        if (x->stopped || x->w->steps > until) {
            return GV_DONT_KNOW;
        }
        if (!open || f->at == f->n) {
            dead_end(w, depth, f->used, f->left, true);
            if (depth == 0) {
                return w->exact ? GV_NO : GV_DONT_KNOW;
            }
            depth--;
            x->w->stack.n = frames[depth].patterns + (size_t)frames[depth].n * w->words;
            fresh = false;
            continue;
        }
        uint64_t *left = lefts + (size_t)(depth + 1) * w->words;
        const uint64_t *pattern = x->w->stack.v + f->patterns + (size_t)f->at * w->words;
        uint32_t used = f->used + !gv_is_zero(pattern, w->words);
        subtract(x->lanes, f->left, pattern, left, w->words);
        f->at++;
        fresh = false;
        if ((w->most_used == 0 || used <= w->most_used) &&
            within_bounds(w, depth + 1, used, left) && !dead_end(w, depth + 1, used, left, false)) {
            frames[++depth].left = left;
            frames[depth].used = used;
            fresh = true;
        }
    }
}

/* ---- running sums ---- */

/* Some member of the set covers v. */
static bool reaches(const gv_exact *x, const gv_vset *set, const uint64_t *v) {
    if (gv_is_zero(v, set->words)) {
        return true;
    }
    for (uint32_t k = 0; k < set->n; k++) {
        if (gv_covers(x->lanes, set->v + (size_t)k * set->words, v, set->words)) {
            return true;
        }
    }
    return false;
}

/* From the last sum back to the first: what each child takes. */
static void walk_back(walk *w, const gv_vset *sums, uint32_t n) {
    gv_exact *x = w->x;
    uint64_t *left = gv_arena_array(x->mem, uint64_t, w->words);
    uint64_t *takes = gv_arena_array(x->mem, uint64_t, ((size_t)n + 1) * w->words);
    if (!left || !takes) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return;
    }
    memcpy(left, w->demand, w->words * sizeof *left);
    for (uint32_t c = w->n; c-- > 0;) {
        w->children[c].take = NULL;
        if (c >= n || reaches(x, &sums[c], left)) {
            continue; /* the earlier children can do it without this one */
        }
        const gv_vset *set = &x->sets[w->children[c].set];
        for (uint32_t k = 0; k < set->n; k++) {
            uint64_t rest[GV_VSET_WORDS];
            const uint64_t *v = set->v + (size_t)k * set->words;
            subtract(x->lanes, left, v, rest, w->words);
            if (reaches(x, &sums[c], rest)) {
                uint64_t *take = takes + (size_t)c * w->words;
                for (uint32_t i = 0; i < w->words; i++) {
                    take[i] = left[i] - rest[i];
                }
                w->children[c].take = take;
                memcpy(left, rest, w->words * sizeof *left);
                break;
            }
        }
    }
}

static gv_answer sum_children(walk *w, uint32_t limit) {
    gv_exact *x = w->x;
    gv_vset *sums = gv_arena_array(x->mem, gv_vset, w->n + 1);
    if (!sums) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return GV_DONT_KNOW;
    }
    sums[0] = (gv_vset){0, w->words, true, NULL};
    x->heap.lanes = x->lanes;
    x->heap.limit = limit;
    for (uint32_t c = 0; c < w->n; c++) {
        gv_vset set = x->sets[w->children[c].set];
        if (sums[c].n == 0) {
            /* the first child's members are clipped by a sum with nothing but zero */
            uint64_t *zero = gv_arena_array(x->mem, uint64_t, w->words);
            if (zero) {
                gv_vset one = {1, w->words, sums[c].exact, zero};
                x->heap.failed = !gv_vset_sum(&x->heap, &one, &set, w->demand, x->mem,
                                              &sums[c + 1]);
            } else {
                x->heap.failed = true;
            }
        } else if (!gv_vset_sum(&x->heap, &sums[c], &set, w->demand, x->mem, &sums[c + 1])) {
            x->heap.failed = true;
        }
        if (!gv_exact_charge(x)) {
            return GV_DONT_KNOW;
        }
        if (reaches(x, &sums[c + 1], w->demand)) {
            walk_back(w, sums, c + 1);
            return x->stopped ? GV_DONT_KNOW : GV_YES;
        }
    }
    return w->exact && sums[w->n].exact ? GV_NO : GV_DONT_KNOW;
}

static bool start_walk(walk *w, uint32_t level, uint32_t d, const uint64_t *demand) {
    gv_exact *x = w->x;
    const gv_dims *dims = w->dims;
    w->size = gv_arena_array(x->mem, int64_t, dims->n);
    w->demand = gv_arena_array(x->mem, uint64_t, dims->words);
    if (!w->size || !w->demand) {
        x->w->status = GROVE_E_NOMEM;
        x->stopped = true;
        return false;
    }
    memcpy(w->demand, demand, dims->words * sizeof *demand);
    for (uint32_t i = 0; i < dims->n; i++) {
        w->size[i] = scaled_amount(x, dims->type[i], x->p->rank_res);
    }
    w->root_level = level;
    w->root = d;
    if (!gather(w, level, d)) {
        return false;
    }
    make_functionals(w);
    fill_functionals(w);
    gv_memo_init(&w->dead, x->mem);
    return gv_exact_charge(x);
}

/* Searches with the domains of `child_level` as children. */
static gv_answer search_at(gv_exact *x, uint32_t level, uint32_t child_level, uint32_t d,
                           const uint64_t *demand, bool sums, uint64_t steps, gv_slices *out) {
    const gv_dims *dims = &x->dims[level + 1];
    walk w = {.x = x, .dims = dims, .level = child_level, .words = dims->words, .exact = true};
    if (!start_walk(&w, level, d, demand)) {
        return GV_DONT_KNOW;
    }
    gv_answer a = walk_children(&w, steps);
    if (sums && a == GV_DONT_KNOW && !x->stopped) {
        a = sum_children(&w, x->limit / 8 + 1);
    }
    if (sums && a == GV_DONT_KNOW && !x->stopped) {
        a = sum_children(&w, x->limit);
    }
    *out = (gv_slices){w.children, w.n, child_level};
    return a;
}

uint32_t gv_next_used_level(const gv_exact *x, uint32_t level) {
    uint32_t used = x->p->host;
    for (uint32_t t = x->p->n_classes; t < x->n_types; t++) {
        if (x->types[t].level > level && x->types[t].level < used) {
            used = x->types[t].level;
        }
    }
    return used;
}

gv_answer gv_search(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *demand,
                    gv_slices *out) {
    uint32_t used = gv_next_used_level(x, level);
    gv_answer a = GV_DONT_KNOW;
    if (used > level + 1) {
        a = search_at(x, level, used, d, demand, false, FIRST_SLICE, out);
    }
    if (a == GV_DONT_KNOW && !x->stopped) {
        a = search_at(x, level, level + 1, d, demand, true, FIRST_SLICE, out);
    }
    if (a == GV_DONT_KNOW && !x->stopped) {
        a = search_at(x, level, used, d, demand, false, 0, out);
    }
    return a;
}

gv_answer gv_search_briefly(gv_exact *x, uint32_t level, uint32_t d, const uint64_t *demand,
                            uint64_t steps, gv_slices *out) {
    return search_at(x, level, gv_next_used_level(x, level), d, demand, false, steps, out);
}

gv_answer gv_search_few(gv_exact *x, uint32_t level, uint32_t child_level, uint32_t d,
                        const uint64_t *demand, uint32_t most_used, uint64_t steps,
                        gv_slices *out) {
    const gv_dims *dims = &x->dims[level + 1];
    walk w = {.x = x,
              .dims = dims,
              .level = child_level,
              .words = dims->words,
              .most_used = most_used,
              .exact = true};
    if (!start_walk(&w, level, d, demand)) {
        return GV_DONT_KNOW;
    }
    gv_answer a = walk_children(&w, steps);
    *out = (gv_slices){w.children, w.n, child_level};
    return a;
}
