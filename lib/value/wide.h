/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsigned numbers of two words, in ISO C. The word is 64 bits wide; a test includes this file with words
 * of 8 bits (GV_WIDE_WORD, GV_WIDE_BITS) and tries every pair of operands, which stands for a proof.
 */
#ifndef GV_VALUE_WIDE_H
#define GV_VALUE_WIDE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef GV_WIDE_WORD
#define GV_WIDE_WORD uint64_t
#define GV_WIDE_BITS 64
#endif

typedef GV_WIDE_WORD gv_word;
#define GV_WORD_MAX ((gv_word) ~(gv_word)0)
#define GV_WORD_HALF (GV_WIDE_BITS / 2)
#define GV_HALF_MASK ((gv_word)(GV_WORD_MAX >> GV_WORD_HALF))

typedef struct gv_wide {
    gv_word hi, lo;
} gv_wide;

static inline bool gv_wide_is_zero(gv_wide a) {
    return (a.hi | a.lo) == 0;
}

static inline int gv_wide_cmp(gv_wide a, gv_wide b) {
    if (a.hi != b.hi) {
        return a.hi < b.hi ? -1 : 1;
    }
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

/* a += b; true when it overflows. */
static inline bool gv_wide_add(gv_wide *a, gv_wide b) {
    const gv_word lo = (gv_word)(a->lo + b.lo);
    const gv_word carry = lo < b.lo;
    const gv_word sum = (gv_word)(a->hi + b.hi);
    const gv_word hi = (gv_word)(sum + carry);
    const bool over = sum < b.hi || hi < sum;
    a->lo = lo;
    a->hi = hi;
    return over;
}

/* a - b, for a >= b. */
static inline gv_wide gv_wide_sub(gv_wide a, gv_wide b) {
    const gv_word borrow = a.lo < b.lo;
    return (gv_wide){(gv_word)(a.hi - b.hi - borrow), (gv_word)(a.lo - b.lo)};
}

static inline gv_wide gv_wide_product(gv_word a, gv_word b) {
    const gv_word al = a & GV_HALF_MASK;
    const gv_word ah = (gv_word)(a >> GV_WORD_HALF);
    const gv_word bl = b & GV_HALF_MASK;
    const gv_word bh = (gv_word)(b >> GV_WORD_HALF);
    const gv_word low = (gv_word)(al * bl);
    const gv_word mid1 = (gv_word)(ah * bl + (low >> GV_WORD_HALF));
    const gv_word mid2 = (gv_word)(al * bh + (mid1 & GV_HALF_MASK));
    return (gv_wide){(gv_word)(ah * bh + (mid1 >> GV_WORD_HALF) + (mid2 >> GV_WORD_HALF)),
                     (gv_word)((gv_word)(mid2 << GV_WORD_HALF) | (low & GV_HALF_MASK))};
}

/* a *= factor; true when it overflows. */
static inline bool gv_wide_mul(gv_wide *a, gv_word factor) {
    const gv_wide low = gv_wide_product(a->lo, factor);
    const gv_wide high = gv_wide_product(a->hi, factor);
    const gv_word hi = (gv_word)(low.hi + high.lo);
    const bool over = high.hi != 0 || hi < high.lo;
    a->lo = low.lo;
    a->hi = hi;
    return over;
}

/* a /= divisor, which fits half a word and is not 0; returns the remainder. */
static inline gv_word gv_wide_div(gv_wide *a, gv_word divisor) {
    gv_word parts[4] = {(gv_word)(a->hi >> GV_WORD_HALF), a->hi & GV_HALF_MASK,
                        (gv_word)(a->lo >> GV_WORD_HALF), a->lo & GV_HALF_MASK};
    gv_word rest = 0;
    for (int i = 0; i < 4; i++) {
        const gv_word part = (gv_word)((gv_word)(rest << GV_WORD_HALF) | parts[i]);
        parts[i] = (gv_word)(part / divisor);
        rest = (gv_word)(part % divisor);
    }
    a->hi = (gv_word)((gv_word)(parts[0] << GV_WORD_HALF) | parts[1]);
    a->lo = (gv_word)((gv_word)(parts[2] << GV_WORD_HALF) | parts[3]);
    return rest;
}

#endif
