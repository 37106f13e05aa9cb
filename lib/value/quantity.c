/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities as exact counts of nano-units: sign and a magnitude of two words inside,
 * two's complement outside.
 */
#include "value/quantity.h"

#include "base/mem.h"
#include "value/wide.h"

#define NANO 1000000000u
#define NANO_DIGITS 9
/* Digits before the point beyond this cannot fit 127 bits of nano-units. */
#define WHOLE_DIGITS_MAX 40

/* A text taken apart: [sign] whole [. fraction] suffix; the texts may be empty. */
typedef struct parts {
    bool negative;
    gv_str whole; /* without leading zeros */
    gv_str fraction;
    uint32_t format;
    int64_t exponent; /* of ten, or of two for the binary suffixes */
} parts;

typedef struct suffix {
    char text[3];
    uint32_t format;
    int exponent;
} suffix;

static const suffix suffixes[] = {
    {"", GROVE_QUANTITY_DECIMAL_SI, 0},   {"n", GROVE_QUANTITY_DECIMAL_SI, -9},
    {"u", GROVE_QUANTITY_DECIMAL_SI, -6}, {"m", GROVE_QUANTITY_DECIMAL_SI, -3},
    {"k", GROVE_QUANTITY_DECIMAL_SI, 3},  {"M", GROVE_QUANTITY_DECIMAL_SI, 6},
    {"G", GROVE_QUANTITY_DECIMAL_SI, 9},  {"T", GROVE_QUANTITY_DECIMAL_SI, 12},
    {"P", GROVE_QUANTITY_DECIMAL_SI, 15}, {"E", GROVE_QUANTITY_DECIMAL_SI, 18},
    {"Ki", GROVE_QUANTITY_BINARY_SI, 10}, {"Mi", GROVE_QUANTITY_BINARY_SI, 20},
    {"Gi", GROVE_QUANTITY_BINARY_SI, 30}, {"Ti", GROVE_QUANTITY_BINARY_SI, 40},
    {"Pi", GROVE_QUANTITY_BINARY_SI, 50}, {"Ei", GROVE_QUANTITY_BINARY_SI, 60},
};

static const char *suffix_text(uint32_t format, int exponent) {
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (suffixes[i].format == format && suffixes[i].exponent == exponent) {
            return suffixes[i].text;
        }
    }
    return "";
}

/* ---- reading ---- */

static bool read_suffix(gv_str text, parts *out) {
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (gv_str_is(text, suffixes[i].text)) {
            out->format = suffixes[i].format;
            out->exponent = suffixes[i].exponent;
            return true;
        }
    }
    out->format = GROVE_QUANTITY_DECIMAL_EXPONENT;
    return text.n > 1 && (text.p[0] == 'e' || text.p[0] == 'E') &&
           gv_str_int64((gv_str){text.p + 1, text.n - 1}, &out->exponent);
}

static size_t count_digits(gv_str s) {
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') {
        n++;
    }
    return n;
}

static gv_str behind(gv_str s, size_t n) {
    return (gv_str){s.p + n, s.n - n};
}

/* Go reads a text without any digit as zero, unless the suffix leads it past its shortcut. */
static bool digitless_is_zero(const parts *p) {
    return p->format == GROVE_QUANTITY_BINARY_SI ? p->exponent < 50 : p->exponent >= -NANO_DIGITS;
}

static bool take_apart(gv_str s, parts *out) {
    *out = (parts){.negative = s.n > 0 && s.p[0] == '-'};
    if (s.n == 0) {
        return false;
    }
    s = behind(s, s.p[0] == '-' || s.p[0] == '+');
    const char *digits = s.p;
    while (s.n > 0 && s.p[0] == '0') {
        s = behind(s, 1);
    }
    out->whole = (gv_str){s.p, count_digits(s)};
    s = behind(s, out->whole.n);
    bool digitless = s.p == digits;
    if (s.n > 0 && s.p[0] == '.') {
        s = behind(s, 1);
        out->fraction = (gv_str){s.p, count_digits(s)};
        s = behind(s, out->fraction.n);
        digitless &= out->fraction.n == 0;
    }
    return read_suffix(s, out) && (!digitless || digitless_is_zero(out));
}

/* a = a * 10 + digit; true when it overflows. */
static bool push_digit(gv_wide *a, char digit) {
    bool over = gv_wide_mul(a, 10);
    return gv_wide_add(a, (gv_wide){0, (uint64_t)(digit - '0')}) || over;
}

static gv_wide one_more(gv_wide a) {
    gv_wide_add(&a, (gv_wide){0, 1}); /* never at the very end of the range: see the callers */
    return a;
}

/* Magnitude of a decimal quantity: the digits, with the point moved, rounded up. False: out of range. */
static bool decimal_magnitude(const parts *p, gv_wide *out) {
    const int64_t total = (int64_t)(p->whole.n + p->fraction.n);
    *out = (gv_wide){0, 0};
    bool nothing = p->whole.n == 0;
    for (size_t i = 0; i < p->fraction.n; i++) {
        nothing &= p->fraction.p[i] == '0';
    }
    if (nothing) {
        return true;
    }
    if (p->exponent > (int64_t)p->fraction.n + WHOLE_DIGITS_MAX) {
        return false;
    }
    /* How many digits count nano-units; those behind only make the result round up. */
    const int64_t kept = p->exponent < -total - NANO_DIGITS
                             ? 0
                             : (int64_t)p->whole.n + p->exponent + NANO_DIGITS;
    bool rest = false;
    for (int64_t i = 0; i < (kept > total ? kept : total); i++) {
        const char digit = i >= total               ? '0'
                           : (size_t)i < p->whole.n ? p->whole.p[i]
                                                    : p->fraction.p[(size_t)i - p->whole.n];
        if (i >= kept) {
            rest |= digit != '0';
        } else if (push_digit(out, digit) || out->hi > INT64_MAX) {
            return false;
        }
    }
    *out = rest ? one_more(*out) : *out;
    return out->hi <= INT64_MAX;
}

/* (2^63 - 1) units: what binary quantities are cut to. */
static gv_wide binary_cap(void) {
    return gv_wide_product(INT64_MAX, NANO);
}

/* Magnitude of a binary quantity: (whole + fraction) * 2^exponent * 10^9, rounded up and cut to the cap. */
static gv_wide binary_magnitude(const parts *p) {
    const gv_wide cap = binary_cap();
    const gv_wide unit = gv_wide_product(UINT64_C(1) << p->exponent, NANO);
    gv_wide whole = {0, 0};
    for (size_t i = 0; i < p->whole.n; i++) {
        if (push_digit(&whole, p->whole.p[i]) || whole.hi != 0) {
            return cap;
        }
    }
    gv_wide sum = unit;
    if (gv_wide_mul(&sum, whole.lo)) {
        return cap;
    }
    gv_wide part = {
        0, 0}; /* from the last digit to the first: (digit * unit + what stands behind) / 10 */
    bool rest = false;
    for (size_t i = p->fraction.n; i-- > 0;) {
        gv_wide scaled = unit;
        gv_wide_mul(&scaled, (uint64_t)(p->fraction.p[i] - '0'));
        gv_wide_add(&scaled, part);
        rest |= gv_wide_div(&scaled, 10) != 0;
        part = scaled;
    }
    part = rest ? one_more(part) : part;
    return gv_wide_add(&sum, part) || gv_wide_cmp(sum, cap) > 0 ? cap : sum;
}

/* Sign and magnitude (below 2^127) to the public form. */
static void store(grove_quantity *q, bool negative, gv_wide magnitude, uint32_t format) {
    if (negative && !gv_wide_is_zero(magnitude)) {
        magnitude = gv_wide_sub((gv_wide){UINT64_MAX, UINT64_MAX}, magnitude);
        magnitude = one_more(magnitude);
    }
    *q = (grove_quantity){(int64_t)magnitude.hi, magnitude.lo, format, 0};
}

static gv_wide magnitude_of(const grove_quantity *q) {
    const gv_wide v = {(uint64_t)q->hi, q->lo};
    return q->hi < 0 ? one_more(gv_wide_sub((gv_wide){UINT64_MAX, UINT64_MAX}, v)) : v;
}

static grove_status parse(gv_str text, parts *p, grove_quantity *q, grove_error *err) {
    const int shown = (int)(text.n < 64 ? text.n : 64);
    if (!take_apart(text, p)) {
        return gv_error(err, GROVE_E_PARSE, "\"%.*s\" is not a quantity like 2, 500m or 1.5Gi",
                        shown, text.p ? text.p : "");
    }
    gv_wide magnitude;
    if (p->format == GROVE_QUANTITY_BINARY_SI) {
        magnitude = binary_magnitude(p);
        if (!gv_wide_is_zero(magnitude) && gv_wide_cmp(magnitude, (gv_wide){0, NANO}) < 0) {
            p->format = GROVE_QUANTITY_DECIMAL_SI; /* less than one unit */
        }
    } else if (!decimal_magnitude(p, &magnitude)) {
        return gv_error(err, GROVE_E_RANGE, "the quantity \"%.*s\" is too large", shown, text.p);
    }
    store(q, p->negative, magnitude, p->format);
    return GROVE_OK;
}

grove_status grove_quantity_parse(const char *text, size_t len, grove_quantity *out_q,
                                  grove_error *err) {
    if (!out_q || (!text && len > 0)) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_quantity_parse is invalid");
    }
    parts p;
    return parse((gv_str){text, len}, &p, out_q, err);
}

/* ---- writing ---- */

static grove_status write_wide(bool negative, gv_wide v, grove_buf *buf) {
    char digits[48];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + gv_wide_div(&v, 10));
    } while (!gv_wide_is_zero(v));
    if (negative) {
        digits[--at] = '-';
    }
    return grove_buf_append(buf, digits + at, sizeof digits - at);
}

/* Divides by `by` as often as it goes evenly, at most `most` times; returns how often. */
static int divide_evenly(gv_wide *v, uint64_t by, int most) {
    int times = 0;
    for (gv_wide next = *v; times < most && gv_wide_div(&next, by) == 0; times++) {
        *v = next;
    }
    return times;
}

grove_status grove_quantity_format(const grove_quantity *q, grove_buf *buf) {
    if (!q || !buf) {
        return GROVE_E_INVALID;
    }
    const bool negative = q->hi < 0;
    gv_wide v = magnitude_of(q);
    if (gv_wide_is_zero(v)) {
        return gv_buf_char(buf, '0');
    }
    if (q->format == GROVE_QUANTITY_BINARY_SI) {
        gv_wide units = v;
        const bool whole = gv_wide_div(&units, NANO) == 0;
        if (whole && gv_wide_cmp(units, (gv_wide){0, 1024}) >= 0) {
            const int times = divide_evenly(&units, 1024, 6);
            grove_status st = write_wide(negative, units, buf);
            return st < 0 ? st : gv_buf_c(buf, suffix_text(q->format, times * 10));
        }
    }
    const bool with_exponent = q->format == GROVE_QUANTITY_DECIMAL_EXPONENT;
    const int exponent = divide_evenly(&v, 1000, with_exponent ? 13 : 9) * 3 - NANO_DIGITS;
    grove_status st = write_wide(negative, v, buf);
    if (st < 0) {
        return st;
    }
    if (with_exponent) {
        return exponent == 0 ? GROVE_OK : gv_buf_fmt(buf, "e%d", exponent);
    }
    return gv_buf_c(buf, suffix_text(GROVE_QUANTITY_DECIMAL_SI, exponent));
}

/* ---- Go's shortcut for texts that look canonical ---- */

static bool fits_int64(gv_str digits, uint64_t factor) {
    gv_wide v = {0, 0};
    for (size_t i = 0; i < digits.n; i++) {
        if (push_digit(&v, digits.p[i])) {
            return false;
        }
    }
    return !gv_wide_mul(&v, factor) && v.hi == 0 && v.lo <= INT64_MAX;
}

/* Up to 18 digits, not trailed by three zeros, at a multiple of three decimal places. */
static bool looks_canonical_decimal(const parts *p) {
    const size_t digits = p->whole.n + p->fraction.n;
    const int64_t scale = p->exponent - (int64_t)p->fraction.n;
    if (digits > 18 || p->whole.n == 0 || scale < -NANO_DIGITS || scale % 3 != 0) {
        return false;
    }
    size_t zeros = 0;
    while (zeros < digits) {
        const size_t i = digits - 1 - zeros;
        if ((i < p->whole.n ? p->whole.p[i] : p->fraction.p[i - p->whole.n]) != '0') {
            break;
        }
        zeros++;
    }
    return zeros < 3;
}

/* Few enough digits for the suffix, no fraction, and no multiple of eight. */
static bool looks_canonical_binary(const parts *p) {
    const int64_t room = 15 - (int64_t)p->whole.n - p->exponent * 3 / 10 - 1;
    int64_t value;
    return p->fraction.n == 0 && p->whole.n > 0 && room >= 0 &&
           fits_int64(p->whole, UINT64_C(1) << p->exponent) && gv_str_int64(p->whole, &value) &&
           value % 8 != 0;
}

grove_status gv_quantity_rewrite(gv_str text, grove_buf *buf, grove_error *err) {
    parts p;
    grove_quantity q = {0};
    grove_status st = parse(text, &p, &q, err);
    if (st < 0) {
        return st;
    }
    const bool kept = p.format == GROVE_QUANTITY_BINARY_SI ? looks_canonical_binary(&p)
                                                           : looks_canonical_decimal(&p);
    st = kept ? gv_buf_str(buf, text) : grove_quantity_format(&q, buf);
    return st < 0 ? gv_error_nomem(err) : GROVE_OK;
}

/* ---- arithmetic ---- */

int32_t grove_quantity_compare(const grove_quantity *a, const grove_quantity *b) {
    if (!a || !b) { /* nothing comes first */
        return (a != NULL) - (b != NULL);
    }
    if (a->hi != b->hi) {
        return a->hi < b->hi ? -1 : 1;
    }
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

static grove_status add(const grove_quantity *a, bool a_negative, gv_wide ma,
                        const grove_quantity *b, bool b_negative, gv_wide mb, grove_quantity *out) {
    bool negative = a_negative;
    const uint32_t format = gv_wide_is_zero(ma) ? b->format : a->format;
    if (a_negative == b_negative) {
        if (gv_wide_add(&ma, mb) || ma.hi > INT64_MAX) {
            return GROVE_E_RANGE;
        }
    } else if (gv_wide_cmp(ma, mb) >= 0) {
        ma = gv_wide_sub(ma, mb);
    } else {
        ma = gv_wide_sub(mb, ma);
        negative = b_negative;
    }
    store(out, negative, ma, format);
    return GROVE_OK;
}

grove_status grove_quantity_add(const grove_quantity *a, const grove_quantity *b,
                                grove_quantity *out_q) {
    if (!a || !b || !out_q) {
        return GROVE_E_INVALID;
    }
    return add(a, a->hi < 0, magnitude_of(a), b, b->hi < 0, magnitude_of(b), out_q);
}

grove_status grove_quantity_sub(const grove_quantity *a, const grove_quantity *b,
                                grove_quantity *out_q) {
    if (!a || !b || !out_q) {
        return GROVE_E_INVALID;
    }
    return add(a, a->hi < 0, magnitude_of(a), b, b->hi >= 0, magnitude_of(b), out_q);
}

grove_status grove_quantity_mul(const grove_quantity *a, int64_t factor, grove_quantity *out_q) {
    if (!a || !out_q) {
        return GROVE_E_INVALID;
    }
    gv_wide m = magnitude_of(a);
    if (gv_wide_mul(&m, factor < 0 ? 0 - (uint64_t)factor : (uint64_t)factor) || m.hi > INT64_MAX) {
        return GROVE_E_RANGE;
    }
    store(out_q, (a->hi < 0) != (factor < 0), m, a->format);
    return GROVE_OK;
}

/* Divides by `nanos`, away from zero, into an int64. */
static grove_status scaled(const grove_quantity *q, uint32_t nanos, int64_t *out) {
    if (!q || !out) {
        return GROVE_E_INVALID;
    }
    gv_wide m = magnitude_of(q);
    if (gv_wide_div(&m, nanos) != 0) {
        m = one_more(m);
    }
    if (m.hi != 0 || m.lo > INT64_MAX) {
        return GROVE_E_RANGE;
    }
    *out = q->hi < 0 ? -(int64_t)m.lo : (int64_t)m.lo;
    return GROVE_OK;
}

grove_status grove_quantity_milli(const grove_quantity *q, int64_t *out_milli) {
    return scaled(q, NANO / 1000, out_milli);
}

grove_status grove_quantity_units(const grove_quantity *q, int64_t *out_units) {
    return scaled(q, NANO, out_units);
}
