/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Float keys. A mapping's key must become a string, and the Go tools write a float key as the shortest
 * decimal that still names the same float32. Done here with exact decimal integers.
 */
#include <math.h>

#include "value/number.h"
#include "value/yaml_text.h"

#define DIGITS_MAX 176     /* 2^27 * 5^151 has 115 digits; 2^27 * 2^104 has 40 */
#define PLAIN_DIGITS_MAX 6 /* from 10^6 on with an exponent */

typedef struct decimal {
    uint8_t d[DIGITS_MAX]; /* most significant first, padded with zeros in front */
} decimal;

static void set(decimal *x, uint32_t value, uint32_t factor, uint32_t times) {
    memset(x, 0, sizeof *x);
    for (size_t i = DIGITS_MAX; value > 0; value /= 10) {
        x->d[--i] = (uint8_t)(value % 10);
    }
    for (uint32_t t = 0; t < times; t++) {
        uint32_t carry = 0;
        for (size_t i = DIGITS_MAX; i-- > 0;) {
            carry += x->d[i] * factor;
            x->d[i] = (uint8_t)(carry % 10);
            carry /= 10;
        }
    }
}

static int compare(const decimal *a, const decimal *b) {
    return memcmp(a->d, b->d, sizeof a->d);
}

/* Cuts behind digit `last`; with `up`, to the next larger number of that length. */
static decimal cut(const decimal *x, size_t last, bool up) {
    decimal c = *x;
    memset(c.d + last + 1, 0, DIGITS_MAX - last - 1);
    for (size_t i = last + 1; up && i-- > 0;) {
        c.d[i] = (uint8_t)((c.d[i] + 1) % 10);
        up = c.d[i] == 0;
    }
    return c;
}

/* True when the rest of x behind digit `last` is at least half of one unit of that digit. */
static bool upper_half(const decimal *x, size_t last) {
    return last + 1 < DIGITS_MAX && x->d[last + 1] >= 5;
}

/* The shortest number strictly between low and high (or equal to them, when inclusive), next to value. */
static decimal shortest(const decimal *low, const decimal *value, const decimal *high,
                        bool inclusive) {
    size_t first = 0;
    while (value->d[first] == 0) {
        first++;
    }
    for (size_t last = first > 0 ? first - 1 : 0; last < DIGITS_MAX; last++) {
        decimal down = cut(value, last, false), up = cut(value, last, true);
        int from_low = compare(&down, low), to_high = compare(high, &up);
        bool down_fits = last >= first && (from_low > 0 || (inclusive && from_low == 0));
        bool up_fits = to_high > 0 || (inclusive && to_high == 0);
        if (down_fits && up_fits) {
            return upper_half(value, last) ? up : down;
        }
        if (down_fits || up_fits) {
            return down_fits ? down : up;
        }
    }
    return *value;
}

/* Go's %g: digits are those of `x`, the point stands behind `scale` of them counted from the end. */
static grove_status put(const decimal *x, uint32_t scale, grove_buf *out) {
    size_t first = 0, end = DIGITS_MAX;
    while (x->d[first] == 0) {
        first++;
    }
    while (x->d[end - 1] == 0) {
        end--;
    }
    char digits[DIGITS_MAX];
    for (size_t i = first; i < end; i++) {
        digits[i - first] = (char)('0' + x->d[i]);
    }
    size_t n = end - first;
    int32_t exponent = (int32_t)(DIGITS_MAX - first) - (int32_t)scale - 1;
    if (exponent < -4 || exponent >= PLAIN_DIGITS_MAX) {
        uint32_t size = (uint32_t)(exponent < 0 ? -exponent : exponent);
        grove_status st = grove_buf_append(out, digits, 1);
        if (st == GROVE_OK && n > 1) {
            st = gv_buf_fmt(out, ".%.*s", (int)n - 1, digits + 1);
        }
        return st < 0 ? st : gv_buf_fmt(out, "e%c%02u", exponent < 0 ? '-' : '+', size);
    }
    grove_status st = GROVE_OK;
    if (exponent < 0) {
        return gv_buf_fmt(out, "0.%.*s%.*s", -exponent - 1, "000", (int)n, digits);
    }
    for (size_t i = 0; st == GROVE_OK && i < n; i++) {
        st = i == (size_t)exponent + 1 ? gv_buf_char(out, '.') : GROVE_OK;
        st = st < 0 ? st : gv_buf_char(out, digits[i]);
    }
    for (size_t i = n; st == GROVE_OK && i <= (size_t)exponent; i++) {
        st = gv_buf_char(out, '0');
    }
    return st;
}

/* f: finite and positive. */
static grove_status put_float(float f, grove_buf *out) {
    uint32_t bits = 0;
    memcpy(&bits, &f, sizeof bits);
    uint32_t mantissa = bits & 0x7FFFFF, biased = bits >> 23;
    /* The lower neighbour of a power of two is nearer than the upper one. */
    uint32_t below = mantissa == 0 && biased > 1 ? 1 : 2;
    if (biased > 0) {
        mantissa |= 0x800000;
    }
    int32_t power = (biased > 0 ? (int32_t)biased : 1) - 150 -
                    2; /* of the quarter units used below */
    uint32_t factor = power < 0 ? 5 : 2, times = (uint32_t)(power < 0 ? -power : power);
    decimal low, value, high;
    set(&low, 4 * mantissa - below, factor, times);
    set(&value, 4 * mantissa, factor, times);
    set(&high, 4 * mantissa + 2, factor, times);
    decimal best = shortest(&low, &value, &high, mantissa % 2 == 0);
    return put(&best, power < 0 ? times : 0, out);
}

grove_status gv_yaml_float_key(gv_str number, grove_buf *scratch, gv_str *out) {
    gv_decimal d = gv_decimal_read(number);
    double wide = gv_decimal_double(&d);
    float f = (float)fabs(wide);
    bool negative = number.n > 0 && number.p[0] == '-';
    grove_buf_clear(scratch);
    if (isinf(f)) {
        *out = negative ? GV_STR("-.inf") : GV_STR(".inf");
        return GROVE_OK;
    }
    grove_status st = negative ? gv_buf_char(scratch, '-') : GROVE_OK;
    if (st == GROVE_OK) {
        st = f > 0 ? put_float(f, scratch) : gv_buf_char(scratch, '0');
    }
    *out = gv_buf_view(scratch);
    return st;
}
