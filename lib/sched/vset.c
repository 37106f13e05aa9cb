/* SPDX-License-Identifier: Apache-2.0 */
/* Pruning to maximal vectors, and Minkowski sums capped at the demand. */
#include "sched/vset.h"

#include <string.h>

#include "sched/keys.h"

#define PRUNE_AT 32768 /* candidates held before they are pruned in between */

uint64_t gv_lane_sum(gv_lanes l, const uint64_t *v, uint32_t words) {
    uint64_t sum = 0,
             mask = l.bits == 8 ? UINT64_C(0x00ff00ff00ff00ff) : UINT64_C(0x0000ffff0000ffff);
    for (uint32_t i = 0; i < words; i++) {
        uint64_t pairs = (v[i] & mask) + ((v[i] >> l.bits) & mask);
        for (uint32_t shift = 0; shift < 64; shift += 2 * l.bits) {
            sum += (pairs >> shift) & ((UINT64_C(1) << (2 * l.bits)) - 1);
        }
    }
    return sum;
}

void gv_vheap_begin(gv_vheap *h, gv_lanes lanes, uint32_t words, uint32_t limit) {
    h->lanes = lanes;
    h->words = words;
    h->limit = limit;
    h->exact = true;
    h->n = 0;
}

void gv_vheap_push(gv_vheap *h, const uint64_t *row) {
    if (h->n >= PRUNE_AT + (size_t)h->limit) {
        gv_vheap_prune(h);
    }
    if (!gv_vec_reserve(h->env, &h->rows, (h->n + 1) * h->words)) {
        h->failed = true;
        return;
    }
    memcpy(h->rows.v + h->n * h->words, row, h->words * sizeof *row);
    h->n++;
}

/* Orders the rows by falling lane sum; a row can then only be covered by an earlier one. */
static bool order_rows(gv_vheap *h) {
    uint32_t words = h->words;
    if (!gv_vec_reserve(h->env, &h->keys, h->n) ||
        !gv_vec_reserve(h->env, &h->rows, 2 * h->n * words)) {
        return false;
    }
    for (size_t i = 0; i < h->n; i++) {
        uint64_t sum = gv_lane_sum(h->lanes, h->rows.v + i * words, words);
        h->keys.v[i] = (UINT64_C(0xffffffff) - sum) << 32 | i;
    }
    gv_keys_sort(h->keys.v, h->n);
    uint64_t *sorted = h->rows.v + h->n * words;
    for (size_t i = 0; i < h->n; i++) {
        memcpy(sorted + i * words, h->rows.v + (h->keys.v[i] & UINT32_MAX) * words,
               words * sizeof *sorted);
    }
    return true;
}

void gv_vheap_prune(gv_vheap *h) {
    uint32_t words = h->words;
    if (h->n == 0) {
        return;
    }
    if (!order_rows(h)) {
        h->failed = true;
        return;
    }
    const uint64_t *sorted = h->rows.v + h->n * words;
    size_t kept = 0;
    for (size_t i = 0; i < h->n; i++) {
        const uint64_t *row = sorted + i * words;
        size_t k = 0;
        while (k < kept && !gv_covers(h->lanes, h->rows.v + k * words, row, words)) {
            k++;
        }
        h->work += k / 16 + 1;
        if (k < kept) {
            continue;
        }
        if (kept == h->limit) {
            h->exact = false;
            break;
        }
        memcpy(h->rows.v + kept * words, row, words * sizeof *row);
        kept++;
    }
    h->n = kept;
}

bool gv_vheap_end(gv_vheap *h, gv_arena *mem, gv_vset *out) {
    gv_vheap_prune(h);
    uint32_t words = h->words;
    size_t n = h->n;
    if (n == 1 && gv_is_zero(h->rows.v, words)) {
        n = 0;
    }
    uint64_t *rows = gv_arena_alloc(mem, (n ? n : 1) * words * sizeof *rows);
    if (!rows || h->failed) {
        return false;
    }
    if (n > 0) {
        memcpy(rows, h->rows.v, n * words * sizeof *rows);
    }
    *out = (gv_vset){(uint32_t)n, words, h->exact, rows};
    return true;
}

void gv_vheap_fini(gv_vheap *h) {
    gv_vec_fini(h->env, &h->rows);
    gv_vec_fini(h->env, &h->keys);
}

/* One candidate of a sum; true when it is the whole demand. */
static bool push_sum(gv_vheap *h, const uint64_t *a, const uint64_t *b, const uint64_t *cap) {
    uint64_t row[GV_VSET_WORDS], missing = 0;
    for (uint32_t i = 0; i < h->words; i++) {
        row[i] = a[i] + gv_word_min(h->lanes, b[i], cap[i] - a[i]);
        missing |= row[i] ^ cap[i];
    }
    if (missing == 0) {
        h->n = 0; /* nothing else matters */
    }
    gv_vheap_push(h, row);
    return missing == 0;
}

bool gv_vset_sum(gv_vheap *h, const gv_vset *a, const gv_vset *b, const uint64_t *cap,
                 gv_arena *mem, gv_vset *out) {
    if (a->n == 0 || b->n == 0) {
        bool exact = a->exact && b->exact;
        *out = a->n == 0 ? *b : *a;
        out->exact = exact;
        return true;
    }
    gv_vheap_begin(h, h->lanes, a->words, h->limit);
    bool full = false;
    for (uint32_t j = 0; !full && !h->failed && j < b->n; j++) {
        for (uint32_t i = 0; !full && i < a->n; i++) {
            full = push_sum(h, a->v + (size_t)i * a->words, b->v + (size_t)j * b->words, cap);
        }
    }
    h->work += (uint64_t)a->n * b->n;
    if (!gv_vheap_end(h, mem, out)) {
        return false;
    }
    out->exact = full || (h->exact && a->exact && b->exact);
    return true;
}
