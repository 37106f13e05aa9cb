/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers by their decimal text: exact value, nearest double, canonical text. No locale, no strtod. */
#ifndef GV_VALUE_NUMBER_H
#define GV_VALUE_NUMBER_H

#include <stdbool.h>

#include "value/out.h"

/* A larger exponent is refused when a number is read, so that exponents always fit an int32. */
#define GV_EXPONENT_DIGITS_MAX 9

/* Length of the JSON number at the start of s; 0: none. *out_integer: no fraction, no exponent. */
size_t gv_number_scan(gv_str s, bool *out_integer);

/* value = (-1)^negative * 0.d1d2d3... * 10^point; digits of the text from `first`, `n` of them, neither
 * the first nor the last being 0; n 0 stands for zero. The text may hold a '.' between the digits. */
typedef struct gv_decimal {
    const char *first;
    size_t n;
    int64_t point;
    bool negative;
} gv_decimal;

/* text: a JSON number. */
gv_decimal gv_decimal_read(gv_str text);
bool gv_decimal_equal(const gv_decimal *a, const gv_decimal *b);
/* False: not integral (*out_range false) or beyond int64 (*out_range true). */
bool gv_decimal_int64(const gv_decimal *d, int64_t *out, bool *out_range);
/* Nearest double, ties to even; infinite when too large. */
double gv_decimal_double(const gv_decimal *d);
/* Canonical text: same value, same bytes. */
grove_status gv_decimal_write(const gv_decimal *d, gv_out *out);

#endif
