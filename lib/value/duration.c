/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go writes and reads them, in nanoseconds. */
#include "base/mem.h"
#include "value/scalar.h"

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)
#define LARGEST (UINT64_C(1) << 63) /* the magnitude of INT64_MIN */

typedef struct duration_unit {
    const char *name;
    uint64_t ns;
} duration_unit;

static const duration_unit units[] = {
    {"ns", 1},
    {"us", NS_PER_US},
    {"\xc2\xb5s", NS_PER_US}, /* micro sign */
    {"\xce\xbcs", NS_PER_US}, /* Greek mu */
    {"ms", NS_PER_MS},
    {"s", NS_PER_S},
    {"m", 60 * NS_PER_S},
    {"h", 3600 * NS_PER_S},
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static grove_status refuse(grove_error *err, gv_str text, const char *why) {
    return gv_error(err, GROVE_E_PARSE, "invalid duration \"%.*s\": %s",
                    (int)(text.n < 64 ? text.n : 64), text.n ? text.p : "", why);
}

/* Digits before the point; false when they exceed LARGEST. */
static bool take_whole(gv_str *s, uint64_t *out) {
    uint64_t v = 0;
    for (; s->n > 0 && is_digit(s->p[0]); s->p++, s->n--) {
        uint64_t digit = (uint64_t)(s->p[0] - '0');
        if (v > LARGEST / 10 || v * 10 + digit > LARGEST) {
            return false;
        }
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

/* Digits after the point as numerator and power of ten; those beyond 63 bits no longer count. */
static void take_fraction(gv_str *s, uint64_t *out_value, double *out_scale) {
    uint64_t v = 0;
    double scale = 1;
    bool full = false;
    for (; s->n > 0 && is_digit(s->p[0]); s->p++, s->n--) {
        uint64_t next = v * 10 + (uint64_t)(s->p[0] - '0');
        full = full || v > (LARGEST - 1) / 10 || next > LARGEST;
        if (!full) {
            v = next;
            scale *= 10;
        }
    }
    *out_value = v;
    *out_scale = scale;
}

static uint64_t take_unit(gv_str *s) {
    size_t n = 0;
    while (n < s->n && s->p[n] != '.' && !is_digit(s->p[n])) {
        n++;
    }
    gv_str name = {s->p, n};
    s->p += n;
    s->n -= n;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (gv_str_is(name, units[i].name)) {
            return units[i].ns;
        }
    }
    return 0;
}

/* One number with its unit; *why is set on failure. */
static bool take_part(gv_str *s, uint64_t *out_ns, const char **why) {
    uint64_t whole = 0, fraction = 0;
    double scale = 1;
    size_t before = s->n;
    *why = "too large";
    if (!take_whole(s, &whole)) {
        return false;
    }
    bool digits = s->n != before;
    if (s->n > 0 && s->p[0] == '.') {
        s->p++;
        s->n--;
        before = s->n;
        take_fraction(s, &fraction, &scale);
        digits = digits || s->n != before;
    }
    if (!digits) {
        *why = "a number is expected";
        return false;
    }
    if (s->n == 0 || s->p[0] == '.') {
        *why = "a unit is missing (ns, us, ms, s, m, h)";
        return false;
    }
    uint64_t unit = take_unit(s);
    if (unit == 0) {
        *why = "unknown unit (ns, us, ms, s, m, h are known)";
        return false;
    }
    if (whole > LARGEST / unit) {
        return false;
    }
    uint64_t ns = whole * unit;
    if (fraction > 0) {
        /* Doubles, since Go's result is defined by them; each step is stored, so that IEEE 754 gives the
         * same bits everywhere. */
        const double step = (double)unit / scale;
        const double part = (double)fraction * step;
        ns += (uint64_t)part;
    }
    *out_ns = ns;
    return ns <= LARGEST;
}

grove_status gv_duration_parse(gv_str text, int64_t *out_ns, grove_error *err) {
    gv_str s = text;
    bool negative = false;
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
        negative = s.p[0] == '-';
        s.p++;
        s.n--;
    }
    if (s.n == 0) {
        return refuse(err, text, "it is empty");
    }
    if (gv_str_is(s, "0")) {
        *out_ns = 0;
        return GROVE_OK;
    }
    uint64_t total = 0;
    while (s.n > 0) {
        uint64_t part = 0;
        const char *why = NULL;
        if (!take_part(&s, &part, &why)) {
            return refuse(err, text, why);
        }
        total +=
            part; /* two values of at most 2^63: no wrap before the check, except at 2^63 + 2^63 */
        if (total > LARGEST || total < part) {
            return refuse(err, text, "too large");
        }
    }
    if (!negative && total == LARGEST) {
        return refuse(err, text, "too large");
    }
    *out_ns = negative ? (total == LARGEST ? INT64_MIN : -(int64_t)total) : (int64_t)total;
    return GROVE_OK;
}

/* Appends value / 10^digits without trailing zeros, then the unit. */
static grove_status put_decimal(grove_buf *buf, uint64_t value, uint32_t digits, const char *unit) {
    uint64_t power = 1;
    for (uint32_t i = 0; i < digits; i++) {
        power *= 10;
    }
    uint64_t fraction = value % power;
    while (digits > 0 && fraction % 10 == 0) {
        fraction /= 10;
        digits--;
    }
    grove_status st = gv_buf_fmt(buf, "%llu", (unsigned long long)(value / power));
    if (st == GROVE_OK && digits > 0) {
        char text[16];
        for (uint32_t i = digits; i > 0; i--, fraction /= 10) {
            text[i] = (char)('0' + fraction % 10);
        }
        text[0] = '.';
        st = grove_buf_append(buf, text, digits + 1);
    }
    return st == GROVE_OK ? gv_buf_c(buf, unit) : st;
}

grove_status gv_duration_format(int64_t ns, grove_buf *buf) {
    uint64_t u = ns < 0 ? (uint64_t)0 - (uint64_t)ns : (uint64_t)ns;
    if (u == 0) {
        return gv_buf_c(buf, "0s");
    }
    grove_status st = ns < 0 ? gv_buf_char(buf, '-') : GROVE_OK;
    if (st < 0) {
        return st;
    }
    if (u < NS_PER_US) {
        return put_decimal(buf, u, 0, "ns");
    }
    if (u < NS_PER_MS) {
        return put_decimal(buf, u, 3, "\xc2\xb5s");
    }
    if (u < NS_PER_S) {
        return put_decimal(buf, u, 6, "ms");
    }
    uint64_t minutes = u / (60 * NS_PER_S);
    if (minutes >= 60) {
        st = gv_buf_fmt(buf, "%lluh", (unsigned long long)(minutes / 60));
    }
    if (st == GROVE_OK && minutes > 0) {
        st = gv_buf_fmt(buf, "%llum", (unsigned long long)(minutes % 60));
    }
    return st == GROVE_OK ? put_decimal(buf, u % (60 * NS_PER_S), 9, "s") : st;
}
