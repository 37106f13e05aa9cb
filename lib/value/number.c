/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers as text: scanning, normal form, exact integers, canonical text. */
#include "value/number.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static size_t skip_digits(gv_str s, size_t i) {
    while (i < s.n && is_digit(s.p[i])) {
        i++;
    }
    return i;
}

size_t gv_number_scan(gv_str s, bool *out_integer) {
    size_t i = s.n > 0 && s.p[0] == '-';
    size_t digits = i;
    *out_integer = true;
    i = skip_digits(s, i);
    if (i == digits || (s.p[digits] == '0' && i > digits + 1)) {
        return 0;
    }
    if (i < s.n && s.p[i] == '.') {
        *out_integer = false;
        digits = i + 1;
        i = skip_digits(s, digits);
        if (i == digits) {
            return 0;
        }
    }
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        *out_integer = false;
        digits = i + 1;
        digits += digits < s.n && (s.p[digits] == '+' || s.p[digits] == '-');
        i = skip_digits(s, digits);
        if (i == digits) {
            return 0;
        }
        while (digits < i && s.p[digits] == '0') {
            digits++;
        }
        if (i - digits > GV_EXPONENT_DIGITS_MAX) {
            return 0;
        }
    }
    return i;
}

/* Reads an exponent ("e+12", "" is 0); bounded by gv_number_scan. */
static int64_t read_exponent(gv_str s) {
    if (s.n == 0) {
        return 0;
    }
    size_t i = 1;
    bool negative = i < s.n && s.p[i] == '-';
    i += i < s.n && (s.p[i] == '-' || s.p[i] == '+');
    int64_t value = 0;
    for (; i < s.n; i++) {
        value = value * 10 + (s.p[i] - '0');
    }
    return negative ? -value : value;
}

gv_decimal gv_decimal_read(gv_str text) {
    gv_decimal d = {.negative = text.n > 0 && text.p[0] == '-'};
    size_t at = d.negative;
    size_t end = at;
    size_t dot = SIZE_MAX;
    size_t first = SIZE_MAX;
    size_t last = 0;
    for (; end < text.n && text.p[end] != 'e' && text.p[end] != 'E'; end++) {
        if (text.p[end] == '.') {
            dot = end;
        } else if (text.p[end] != '0') {
            first = first == SIZE_MAX ? end : first;
            last = end;
        }
    }
    if (first == SIZE_MAX) { /* zero, whatever its sign and exponent */
        d.negative = false;
        return d;
    }
    dot = dot == SIZE_MAX ? end : dot;
    d.first = text.p + first;
    d.n = last - first + 1 - (first < dot && dot < last);
    d.point = read_exponent((gv_str){text.p + end, text.n - end});
    d.point += first < dot ? (int64_t)(dot - first) : -(int64_t)(first - dot - 1);
    return d;
}

/* Next digit of a decimal's text, passing over the '.'. */
static unsigned take_digit(const char **at) {
    if (**at == '.') {
        (*at)++;
    }
    return (unsigned)(*(*at)++ - '0');
}

bool gv_decimal_equal(const gv_decimal *a, const gv_decimal *b) {
    if (a->negative != b->negative || a->n != b->n || a->point != b->point) {
        return false;
    }
    const char *pa = a->first;
    const char *pb = b->first;
    for (size_t i = 0; i < a->n; i++) {
        if (take_digit(&pa) != take_digit(&pb)) {
            return false;
        }
    }
    return true;
}

bool gv_decimal_int64(const gv_decimal *d, int64_t *out, bool *out_range) {
    *out_range = false;
    if (d->n == 0) {
        *out = 0;
        return true;
    }
    if (d->point < 0 || (uint64_t)d->point < d->n) {
        return false;
    }
    *out_range = true;
    if (d->point > 19) {
        return false;
    }
    const uint64_t limit = (uint64_t)INT64_MAX + d->negative;
    const char *at = d->first;
    uint64_t value = 0;
    for (int64_t i = 0; i < d->point; i++) {
        unsigned digit = (size_t)i < d->n ? take_digit(&at) : 0;
        if (value > (limit - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = d->negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Integers up to this many digits and fractions with fewer zeros in front are written without exponent. */
#define PLAIN_DIGITS_MAX 21
#define PLAIN_ZEROS_MAX 6

static grove_status write_digits(const char **at, size_t n, gv_out *out) {
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < n && st == GROVE_OK; i++) {
        st = gv_out_char(out, (char)('0' + take_digit(at)));
    }
    return st;
}

static grove_status write_zeros(int64_t n, gv_out *out) {
    grove_status st = GROVE_OK;
    for (int64_t i = 0; i < n && st == GROVE_OK; i++) {
        st = gv_out_char(out, '0');
    }
    return st;
}

static grove_status write_plain(const gv_decimal *d, gv_out *out) {
    const char *at = d->first;
    const size_t whole = d->point <= 0 ? 0 : d->n < (size_t)d->point ? d->n : (size_t)d->point;
    grove_status st = whole > 0 ? write_digits(&at, whole, out) : gv_out_char(out, '0');
    if (st == GROVE_OK) {
        st = write_zeros(d->point - (int64_t)d->n, out);
    }
    if (st == GROVE_OK && whole < d->n) {
        st = gv_out_char(out, '.');
        st = st == GROVE_OK ? write_zeros(-d->point, out) : st;
        st = st == GROVE_OK ? write_digits(&at, d->n - whole, out) : st;
    }
    return st;
}

static grove_status write_scientific(const gv_decimal *d, gv_out *out) {
    const char *at = d->first;
    grove_status st = write_digits(&at, 1, out);
    if (st == GROVE_OK && d->n > 1) {
        st = gv_out_char(out, '.');
        st = st == GROVE_OK ? write_digits(&at, d->n - 1, out) : st;
    }
    const int64_t exponent = d->point - 1;
    char text[24];
    const size_t n = gv_fmt(text, sizeof text, "e%s%lld", exponent < 0 ? "" : "+",
                            (long long)exponent);
    return st == GROVE_OK ? gv_out_put(out, text, n) : st;
}

grove_status gv_decimal_write(const gv_decimal *d, gv_out *out) {
    if (d->n == 0) {
        return gv_out_char(out, '0');
    }
    grove_status st = d->negative ? gv_out_char(out, '-') : GROVE_OK;
    if (st < 0) {
        return st;
    }
    const bool plain = d->point <= PLAIN_DIGITS_MAX && d->point > -PLAIN_ZEROS_MAX;
    return plain ? write_plain(d, out) : write_scientific(d, out);
}
