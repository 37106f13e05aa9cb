/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fair shares by filling with water, level by level of the tree and resource by resource: each queue gets
 * what it deserves as far as it wants it; what is left over goes to the queues of the largest priority by
 * weight until they are full, then to the next. The remainder of a division goes to those that are filled
 * last, so that nothing is lost.
 */
#include "sched/queue.h"

#include <string.h>

#include "base/arena.h"
#include "base/sort.h"

/* a * b in 128 bits: out[1] the upper half. */
static void multiply(uint64_t a, uint64_t b, uint64_t out[2]) {
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), other = a0 * b1 + (mid & UINT32_MAX);
    out[0] = other << 32 | (low & UINT32_MAX);
    out[1] = a1 * b1 + (mid >> 32) + (other >> 32);
}

int gv_ratio_cmp(int64_t a, int64_t b, int64_t c, int64_t d) {
    if (b == 0 || d == 0) {
        int x = b == 0 && a > 0, y = d == 0 && c > 0; /* infinite */
        if (x || y) {
            return x - y;
        }
        a = b == 0 ? 0 : a;
        c = d == 0 ? 0 : c;
        b = b == 0 ? 1 : b;
        d = d == 0 ? 1 : d;
    }
    uint64_t left[2], right[2];
    multiply((uint64_t)a, (uint64_t)d, left);
    multiply((uint64_t)c, (uint64_t)b, right);
    if (left[1] != right[1]) {
        return left[1] < right[1] ? -1 : 1;
    }
    return left[0] < right[0] ? -1 : left[0] > right[0];
}

/* a * b / c, which fits when b <= c. */
static int64_t part_of(int64_t a, uint64_t b, uint64_t c) {
    uint64_t product[2];
    multiply((uint64_t)a, b, product);
    uint64_t rest = product[1] % c, result = 0;
    for (int bit = 63; bit >= 0; bit--) {
        bool carry = rest >> 63;
        rest = rest << 1 | (product[0] >> bit & 1);
        if (carry || rest >= c) {
            rest -= c;
            result |= UINT64_C(1) << bit;
        }
    }
    return (int64_t)result;
}

typedef struct vessel {
    uint32_t queue;
    int64_t need;
    uint64_t weight;
} vessel;

static int by_height(const void *a, const void *b, void *ctx) {
    const vessel *x = a, *y = b;
    (void)ctx;
    int order = gv_ratio_cmp(x->need, (int64_t)x->weight, y->need, (int64_t)y->weight);
    return order ? order : x->queue < y->queue ? -1 : x->queue > y->queue;
}

typedef struct filling {
    grove_sched *s;
    uint32_t *first, *children; /* children of queue q: children[first[q]..first[q + 1]) */
    vessel *vessels;
    const vessel **order;
    uint32_t resource;
} filling;

/* Pours into the vessels by weight, those that are full first; what is left is returned. */
static int64_t pour(filling *f, uint32_t n, int64_t amount) {
    uint64_t weights = 0;
    for (uint32_t i = 0; i < n; i++) {
        f->order[i] = &f->vessels[i];
        weights += f->vessels[i].weight;
    }
    gv_sort((const void **)(void *)f->order, n, by_height, NULL);
    for (uint32_t i = 0; i < n && weights > 0; i++) {
        const vessel *v = f->order[i];
        int64_t part = part_of(amount, v->weight, weights);
        int64_t given = v->need < part ? v->need : part;
        gv_queue_at(f->s, v->queue)->share[f->resource] += given;
        amount -= given;
        weights -= v->weight;
    }
    return amount;
}

static int64_t at_least(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Gives the children of a queue their shares of `amount`. */
static void share_out(filling *f, uint32_t parent, int64_t amount) {
    uint32_t r = f->resource, n = 0, lo = f->first[parent], hi = f->first[parent + 1];
    for (uint32_t i = lo; i < hi; i++) {
        const gv_queue *q = gv_queue_at(f->s, f->children[i]);
        int64_t need = q->demand[r] < q->deserved[r] ? q->demand[r] : q->deserved[r];
        if (need > 0) { /* promises that are more than there is are cut in proportion */
            f->vessels[n++] = (vessel){f->children[i], need, (uint64_t)q->deserved[r]};
        }
    }
    amount = pour(f, n, amount);
    int64_t below = INT64_MAX; /* priorities from here on are served */
    while (amount > 0) {
        int64_t next = INT64_MIN;
        for (uint32_t i = lo; i < hi; i++) {
            int32_t priority = gv_queue_at(f->s, f->children[i])->priority;
            next = priority < below ? at_least(next, priority) : next;
        }
        if (next == INT64_MIN) {
            return;
        }
        n = 0;
        for (uint32_t i = lo; i < hi; i++) {
            const gv_queue *q = gv_queue_at(f->s, f->children[i]);
            int64_t need = q->demand[r] - q->share[r];
            if (q->priority == next && need > 0 && q->weight > 0) {
                f->vessels[n++] = (vessel){f->children[i], need, q->weight};
            }
        }
        amount = pour(f, n, amount);
        below = next;
    }
}

void gv_shares_total(const grove_sched *s, int64_t *total) {
    memset(total, 0, GV_RESOURCES_MAX * sizeof *total);
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        for (uint32_t r = 0; gv_node_live(s, i) && gv_node_up(s, i) && r < s->resource_names.n;
             r++) {
            int64_t room = gv_node_free(s, i)[r];
            total[r] += room > 0 ? room : 0;
        }
    }
    for (uint32_t r = 0; s->queues && r < s->resource_names.n; r++) {
        total[r] += gv_queue_at(s, 0)->used[r];
    }
}

/* What each queue wants: its use and what waits, its own and that below it, up to its limit. */
static void sum_demand(grove_sched *s, const int64_t *waiting, uint32_t n_waiting) {
    uint32_t n = grove_sched_queue_count(s), n_res = (uint32_t)s->resource_names.n;
    for (uint32_t q = 0; q < n; q++) {
        gv_queue *queue = gv_queue_at(s, q);
        for (uint32_t r = 0; r < n_res; r++) {
            bool waits = waiting && q > 0 && q < n_waiting;
            queue->demand[r] = waits ? at_least(waiting[(size_t)q * n_res + r], 0) : 0;
            queue->demand[r] += queue->inner ? 0 : queue->used[r];
            queue->share[r] = 0;
        }
    }
    for (uint32_t q = n; q-- > 1;) { /* parents were declared before their children */
        gv_queue *queue = gv_queue_at(s, q), *up = gv_queue_at(s, queue->parent);
        for (uint32_t r = 0; r < n_res; r++) {
            queue->demand[r] = queue->demand[r] < queue->limit[r] ? queue->demand[r]
                                                                  : queue->limit[r];
            up->demand[r] += queue->demand[r];
        }
    }
}

static void list_children(filling *f, uint32_t n) {
    for (uint32_t q = 1; q < n; q++) {
        f->first[gv_queue_at(f->s, q)->parent + 1]++;
    }
    for (uint32_t q = 0; q < n; q++) {
        f->first[q + 1] += f->first[q];
    }
    for (uint32_t q = n; q-- > 1;) { /* backwards, so that each range ends up in order of id */
        uint32_t up = gv_queue_at(f->s, q)->parent;
        f->children[--f->first[up + 1]] = q;
    }
    for (uint32_t q = 0; q < n; q++) { /* the starts have moved one place up */
        f->first[q] = f->first[q + 1];
    }
    f->first[n] = n - 1;
}

grove_status gv_shares_compute(grove_sched *s, const int64_t *waiting, uint32_t n_waiting) {
    uint32_t n = grove_sched_queue_count(s);
    int64_t total[GV_RESOURCES_MAX];
    gv_arena *mem = &s->share_mem;
    if (!s->queues) {
        return GROVE_OK;
    }
    gv_arena_reset(mem);
    filling f = {.s = s,
                 .first = gv_arena_array(mem, uint32_t, n + 2),
                 .children = gv_arena_array(mem, uint32_t, n),
                 .vessels = gv_arena_array(mem, vessel, n),
                 .order = gv_arena_array(mem, const vessel *, n)};
    bool ok = f.first && f.children && f.vessels && f.order;
    if (ok) {
        list_children(&f, n);
        sum_demand(s, waiting, n_waiting);
        gv_shares_total(s, total);
    }
    for (f.resource = 0; ok && f.resource < s->resource_names.n; f.resource++) {
        gv_queue_at(s, 0)->share[f.resource] = total[f.resource];
        for (uint32_t q = 0; q < n; q++) {
            share_out(&f, q, gv_queue_at(s, q)->share[f.resource]);
        }
    }
    return ok ? GROVE_OK : GROVE_E_NOMEM;
}
