/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of count vectors, kept as their maximal members. A vector is a row of words with one lane per
 * dimension; the top bit of each lane stays free, so that whole words are compared at once.
 */
#ifndef GV_SCHED_VSET_H
#define GV_SCHED_VSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

#define GV_VSET_WORDS 8

typedef struct gv_lanes {
    uint32_t bits;  /* 8 or 16 */
    uint64_t guard; /* the top bit of every lane */
} gv_lanes;

static inline gv_lanes gv_lanes_for(uint32_t largest) {
    return largest <= 127 ? (gv_lanes){8, UINT64_C(0x8080808080808080)}
                          : (gv_lanes){16, UINT64_C(0x8000800080008000)};
}
static inline uint32_t gv_lanes_words(gv_lanes l, uint32_t dims) {
    return (dims * l.bits + 63) / 64;
}
static inline uint32_t gv_lane_get(gv_lanes l, const uint64_t *v, uint32_t dim) {
    uint32_t at = dim * l.bits;
    return (uint32_t)(v[at / 64] >> (at % 64)) & ((1u << (l.bits - 1)) - 1);
}
static inline void gv_lane_add(gv_lanes l, uint64_t *v, uint32_t dim, uint32_t x) {
    uint32_t at = dim * l.bits;
    v[at / 64] += (uint64_t)x << (at % 64);
}
static inline void gv_lane_sub(gv_lanes l, uint64_t *v, uint32_t dim, uint32_t x) {
    uint32_t at = dim * l.bits;
    v[at / 64] -= (uint64_t)x << (at % 64);
}
/* a >= b in every lane */
static inline bool gv_covers(gv_lanes l, const uint64_t *a, const uint64_t *b, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        if ((((a[i] | l.guard) - b[i]) & l.guard) != l.guard) {
            return false;
        }
    }
    return true;
}
/* Lane-wise minimum of one word. */
static inline uint64_t gv_word_min(gv_lanes l, uint64_t a, uint64_t b) {
    uint64_t ge = ((a | l.guard) - b) & l.guard; /* lanes where a >= b */
    uint64_t mask = (ge - (ge >> (l.bits - 1))) | ge;
    return (b & mask) | (a & ~mask);
}
static inline bool gv_is_zero(const uint64_t *v, uint32_t words) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < words; i++) {
        any |= v[i];
    }
    return any == 0;
}
uint64_t gv_lane_sum(gv_lanes l, const uint64_t *v, uint32_t words);

typedef struct gv_vset {
    uint32_t n; /* 0: only the zero vector */
    uint32_t words;
    bool exact; /* false: members may be missing */
    const uint64_t *v;
} gv_vset;

/* A heap of candidates on the way to a set. */
typedef GV_VEC(uint64_t) gv_word_vec;

typedef struct gv_vheap {
    grove_env *env;
    gv_lanes lanes;
    uint32_t words;
    uint32_t limit; /* members kept */
    bool exact;
    gv_word_vec rows, keys;
    size_t n;
    uint64_t work; /* comparisons, for the budget */
    bool failed;   /* out of memory */
} gv_vheap;

void gv_vheap_begin(gv_vheap *h, gv_lanes lanes, uint32_t words, uint32_t limit);
void gv_vheap_push(gv_vheap *h, const uint64_t *row);
/* Keeps the maximal candidates, largest lane sum first, at most `limit` of them. */
void gv_vheap_prune(gv_vheap *h);
/* Prunes and copies the result into `mem`; the zero vector alone gives n 0. */
bool gv_vheap_end(gv_vheap *h, gv_arena *mem, gv_vset *out);
void gv_vheap_fini(gv_vheap *h);

/* All sums a + b, each lane at most the one of `cap`. */
bool gv_vset_sum(gv_vheap *h, const gv_vset *a, const gv_vset *b, const uint64_t *cap,
                 gv_arena *mem, gv_vset *out);

#endif
