/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal to double, correctly rounded, by exact integers: the decimal becomes a quotient of big
 * integers with at least 64 significant bits, and what is left over only decides the rounding.
 */
#include <math.h>

#include "value/number.h"

/* 800 digits decide every double; what follows them matters only as "not zero". */
#define DIGITS_MAX 800
/* Room for 800 digits times 2^shift below; the largest shift is for 800 digits under 10^1200. */
#define WORDS_MAX 320

typedef struct big {
    uint32_t w[WORDS_MAX]; /* little end first */
    size_t n;
    bool rest; /* something non-zero was cut off below */
} big;

static void big_mul_add(big *x, uint32_t factor, uint32_t add) {
    uint64_t carry = add;
    for (size_t i = 0; i < x->n; i++) {
        carry += (uint64_t)x->w[i] * factor;
        x->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry > 0) {
        x->w[x->n++] = (uint32_t)carry;
    }
}

static void big_div(big *x, uint32_t divisor) {
    uint64_t remainder = 0;
    for (size_t i = x->n; i-- > 0;) {
        remainder = remainder << 32 | x->w[i];
        x->w[i] = (uint32_t)(remainder / divisor);
        remainder %= divisor;
    }
    while (x->n > 0 && x->w[x->n - 1] == 0) {
        x->n--;
    }
    x->rest |= remainder != 0;
}

static void big_shift_words(big *x, size_t words) {
    for (size_t i = x->n; i-- > 0;) {
        x->w[i + words] = x->w[i];
    }
    for (size_t i = 0; i < words; i++) {
        x->w[i] = 0;
    }
    x->n += words;
}

/* The top 64 bits of x as a number with its highest bit set; *out_low: weight of its lowest bit, log2. */
static uint64_t big_top(big *x, int *out_low) {
    uint64_t top = 0;
    int bits = 0;
    size_t i = x->n;
    uint32_t high = x->w[i - 1];
    while (high >> bits > 1) {
        bits++;
    }
    bits++; /* length of the top word */
    int taken = 0;
    while (i > 0 && taken < 64) {
        uint32_t word = x->w[--i];
        int width = taken == 0 ? bits : 32;
        int room = 64 - taken;
        if (width <= room) {
            top = top << width | word;
            taken += width;
        } else {
            top = top << room | word >> (width - room);
            x->rest |= (word & ((UINT32_C(1) << (width - room)) - 1)) != 0;
            taken = 64;
        }
    }
    while (i > 0) {
        x->rest |= x->w[--i] != 0;
    }
    *out_low = (int)(x->n - 1) * 32 + bits - taken;
    if (taken > 0 && taken < 64) {
        top <<= 64 - taken;
        *out_low -= 64 - taken;
    }
    return top;
}

/* top * 2^low, highest bit of top set, rounded to the nearest double, ties to even. */
static double round_to_double(uint64_t top, int low, bool rest) {
    int drop = 11; /* 64 - 53 */
    const int lowest = -1074;
    if (low + drop < lowest) { /* subnormal: fewer bits */
        drop = lowest - low;
    }
    if (drop > 64) {
        return 0.0;
    }
    uint64_t kept = drop == 64 ? 0 : top >> drop;
    const uint64_t half = UINT64_C(1) << (drop - 1);
    const uint64_t below = drop == 64 ? top : top & ((half << 1) - 1);
    if (below > half || (below == half && (rest || (kept & 1)))) {
        kept++;
    }
    return ldexp((double)kept, low + drop); /* exact, or infinite */
}

double gv_decimal_double(const gv_decimal *d) {
    if (d->n == 0) {
        return 0.0;
    }
    if (d->point > 310) {
        return d->negative ? -HUGE_VAL : HUGE_VAL;
    }
    if (d->point < -330) {
        return d->negative ? -0.0 : 0.0;
    }
    big x = {.w = {0}};
    const char *at = d->first;
    const size_t used = d->n < DIGITS_MAX ? d->n : DIGITS_MAX;
    for (size_t i = 0; i < used; i++) {
        at += *at == '.';
        big_mul_add(&x, 10, (uint32_t)(*at++ - '0'));
    }
    x.rest = used < d->n; /* the last digit of a decimal is not 0 */
    int64_t power = d->point - (int64_t)used;
    for (; power > 0; power--) {
        big_mul_add(&x, 10, 0);
    }
    /* Divide by 10^-power, first shifted so far that 64 bits and more remain: 10^k < 2^(4k). */
    const size_t words = power < 0 ? ((size_t)-power * 4 + 31) / 32 + 3 : 0;
    if (words > 0) {
        big_shift_words(&x, words);
    }
    for (; power <= -9; power += 9) {
        big_div(&x, 1000000000);
    }
    for (; power < 0; power++) {
        big_div(&x, 10);
    }
    int low;
    const uint64_t top = big_top(&x, &low);
    const double value = round_to_double(top, low - (int)words * 32, x.rest);
    return d->negative ? -value : value;
}
