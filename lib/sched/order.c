/* SPDX-License-Identifier: Apache-2.0 */
/* Who is served next: down the tree of queues by promise, priority and use, then by priority and age. */
#include "sched/serve.h"

#include "base/sort.h"

static int by_age(const void *a, const void *b, void *ctx) {
    const gv_guest *x = a, *y = b;
    (void)ctx;
    if (x->g->priority != y->g->priority) {
        return x->g->priority > y->g->priority ? -1 : 1;
    }
    if (x->g->since != y->g->since) {
        return x->g->since < y->g->since ? -1 : 1;
    }
    return x < y ? -1 : x > y; /* one array: the order given */
}

static grove_status make_lines(gv_serve *v) {
    uint32_t n_queues = grove_sched_queue_count(v->s), n_res = (uint32_t)v->s->resource_names.n;
    v->lines = gv_arena_array(&v->mem, gv_line, n_queues);
    v->waiting = gv_arena_array(&v->mem, int64_t, (size_t)n_queues * n_res);
    const void **sorted = gv_arena_array(&v->mem, const void *, v->n + 1);
    if (!v->lines || !v->waiting || !sorted) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t q = 0; q < n_queues; q++) {
        v->lines[q].head = GV_NONE;
    }
    for (uint32_t i = 0; i < v->n; i++) {
        sorted[i] = &v->guests[i];
    }
    gv_sort(sorted, v->n, by_age, NULL);
    for (uint32_t i = v->n; i-- > 0;) {
        gv_guest *one = &v->guests[(const gv_guest *)sorted[i] - v->guests];
        gv_line *line = &v->lines[one->g->queue];
        one->next = line->head;
        line->head = (uint32_t)(one - v->guests);
        for (uint32_t r = 0; r < n_res; r++) {
            v->waiting[(size_t)one->g->queue * n_res + r] += one->need[r];
        }
        if (one->g->queue == GROVE_QUEUE_NONE) {
            continue; /* counted by its head alone: last of all */
        }
        for (uint32_t q = one->g->queue; q != GV_NONE; q = gv_queue_at(v->s, q)->parent) {
            v->lines[q].waiting++;
        }
    }
    return GROVE_OK;
}

grove_status gv_order_begin(gv_serve *v) {
    for (uint32_t i = 0; i < v->n; i++) {
        gv_gang_needs(v->s, v->guests[i].g, v->guests[i].need);
    }
    grove_status st = make_lines(v);
    return st < 0 ? st : gv_shares_compute(v->s, v->waiting, grove_sched_queue_count(v->s));
}

static bool is_promised(const grove_sched *s, uint32_t r) {
    return s->resource_fixed.v[r] < 0; /* ports are not */
}

/* Something that the queue deserves and has not got. */
static bool below_deserved(const grove_sched *s, const gv_queue *q) {
    bool promised = false;
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        if (is_promised(s, r) && q->deserved[r] > 0) {
            promised = true;
            if (q->used[r] >= q->deserved[r]) {
                return false;
            }
        }
    }
    return promised;
}

/* The resource of whose share the queue uses the largest part. */
static uint32_t dominant(const grove_sched *s, const gv_queue *q) {
    uint32_t best = 0;
    for (uint32_t r = 1; r < s->resource_names.n; r++) {
        if (is_promised(s, r) &&
            gv_ratio_cmp(q->used[r], q->share[r], q->used[best], q->share[best]) > 0) {
            best = r;
        }
    }
    return best;
}

/* Whether queue a comes before queue b. */
static bool before(const grove_sched *s, uint32_t a, uint32_t b) {
    const gv_queue *x = gv_queue_at(s, a), *y = gv_queue_at(s, b);
    bool poor_x = below_deserved(s, x), poor_y = below_deserved(s, y);
    if (poor_x != poor_y) {
        return poor_x;
    }
    if (x->priority != y->priority) {
        return x->priority > y->priority;
    }
    uint32_t i = dominant(s, x), k = dominant(s, y);
    int order = gv_ratio_cmp(x->used[i], x->share[i], y->used[k], y->share[k]);
    return order ? order < 0 : a < b;
}

static uint32_t take(gv_serve *v, uint32_t queue) {
    uint32_t at = v->lines[queue].head, n_res = (uint32_t)v->s->resource_names.n;
    v->lines[queue].head = v->guests[at].next;
    for (uint32_t r = 0; r < n_res; r++) {
        v->waiting[(size_t)queue * n_res + r] -= v->guests[at].need[r];
    }
    for (uint32_t q = queue; queue != GROVE_QUEUE_NONE && q != GV_NONE;
         q = gv_queue_at(v->s, q)->parent) {
        v->lines[q].waiting--;
    }
    return at;
}

/* Down the tree to the queue that is served now; the root: none is. Its own gangs come after those below it. */
static uint32_t descend(const grove_sched *s, const gv_line *lines) {
    uint32_t at = 0;
    while (s->queues && lines[at].waiting > 0) {
        uint32_t best = GV_NONE;
        for (uint32_t q = at + 1; q < s->queues->list.n; q++) { /* children follow their parents */
            if (gv_queue_at(s, q)->parent == at && lines[q].waiting > 0 &&
                (best == GV_NONE || before(s, q, best))) {
                best = q;
            }
        }
        if (best == GV_NONE) {
            return at;
        }
        at = best;
    }
    return 0;
}

uint32_t gv_order_next(gv_serve *v) {
    uint32_t at = descend(v->s, v->lines);
    return v->lines[at].head == GV_NONE ? GV_NONE : take(v, at);
}

grove_status grove_sched_next_queue(grove_sched *sched, const uint32_t *gangs,
                                    const int64_t *waiting, uint32_t n_queues, uint32_t *out_queue,
                                    grove_error *err) {
    if (!sched || !out_queue || (n_queues && (!gangs || !waiting))) {
        return gv_error(err, GROVE_E_INVALID, "next_queue needs a scheduler, counts and amounts");
    }
    if (gv_shares_compute(sched, waiting, n_queues) < 0) {
        return gv_error_nomem(err);
    }
    uint32_t n = grove_sched_queue_count(sched);
    gv_line *lines = gv_arena_array(&sched->share_mem, gv_line, n);
    if (!lines) {
        return gv_error_nomem(err);
    }
    for (uint32_t q = 1; q < n && q < n_queues; q++) {
        for (uint32_t at = q; gangs[q] > 0 && at != GV_NONE; at = gv_queue_at(sched, at)->parent) {
            lines[at].waiting += gangs[q];
        }
    }
    *out_queue = descend(sched, lines);
    return GROVE_OK;
}
