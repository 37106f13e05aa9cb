/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 3339 times in UTC as nanoseconds since the epoch: years 1678 to 2262. */
#include "base/mem.h"
#include "value/scalar.h"

#define NS_PER_S INT64_C(1000000000)
#define S_PER_DAY INT64_C(86400)

typedef struct civil {
    int64_t year;
    uint32_t month, day; /* 1-based */
} civil;

/* Days since the epoch. Years are counted from March, so that the leap day comes last. */
static int64_t days_from_civil(civil c) {
    int64_t year = c.year - (c.month <= 2 ? 1 : 0);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t month = (int64_t)c.month + (c.month > 2 ? -3 : 9);
    int64_t day_of_year = (153 * month + 2) / 5 + (int64_t)c.day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

static civil civil_from_days(int64_t days) {
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t day_of_era = z - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    civil c;
    c.day = (uint32_t)(day_of_year - (153 * month + 2) / 5 + 1);
    c.month = (uint32_t)(month < 10 ? month + 3 : month - 9);
    c.year = year_of_era + era * 400 + (c.month <= 2 ? 1 : 0);
    return c;
}

static uint32_t days_in_month(int64_t year, uint32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

/* Exactly n digits within [low, high]. */
static bool take_number(gv_str *s, size_t n, uint32_t low, uint32_t high, uint32_t *out) {
    uint32_t v = 0;
    if (s->n < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        char c = s->p[i];
        if (c < '0' || c > '9') {
            return false;
        }
        v = v * 10 + (uint32_t)(c - '0');
    }
    s->p += n;
    s->n -= n;
    *out = v;
    return v >= low && v <= high;
}

static bool take_char(gv_str *s, char c) {
    if (s->n == 0 || s->p[0] != c) {
        return false;
    }
    s->p++;
    s->n--;
    return true;
}

static bool take_date(gv_str *s, int64_t *out_days) {
    uint32_t year = 0, month = 0, day = 0;
    if (!take_number(s, 4, 0, 9999, &year) || !take_char(s, '-') ||
        !take_number(s, 2, 1, 12, &month) || !take_char(s, '-') ||
        !take_number(s, 2, 1, days_in_month(year, month), &day)) {
        return false;
    }
    *out_days = days_from_civil((civil){year, month, day});
    return true;
}

/* hh:mm:ss with an optional fraction, of which nine digits count. */
static bool take_clock(gv_str *s, int64_t *out_seconds, int64_t *out_ns) {
    uint32_t hour = 0, minute = 0, second = 0;
    if (!take_number(s, 2, 0, 23, &hour) || !take_char(s, ':') ||
        !take_number(s, 2, 0, 59, &minute) || !take_char(s, ':') ||
        !take_number(s, 2, 0, 59, &second)) {
        return false;
    }
    *out_seconds = (int64_t)hour * 3600 + minute * 60 + second;
    *out_ns = 0;
    if (take_char(s, '.') || take_char(s, ',')) {
        int64_t unit = NS_PER_S;
        size_t before = s->n;
        for (; s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9'; s->p++, s->n--) {
            unit /= 10;
            *out_ns += unit * (s->p[0] - '0');
        }
        return s->n != before;
    }
    return true;
}

static bool take_zone(gv_str *s, int64_t *out_seconds) {
    uint32_t hour = 0, minute = 0;
    *out_seconds = 0;
    if (take_char(s, 'Z')) {
        return true;
    }
    bool west = s->n > 0 && s->p[0] == '-';
    if (!(take_char(s, '+') || take_char(s, '-')) || !take_number(s, 2, 0, 24, &hour) ||
        !take_char(s, ':') || !take_number(s, 2, 0, 60, &minute)) {
        return false;
    }
    int64_t east = (int64_t)hour * 3600 + minute * 60;
    *out_seconds = west ? -east : east;
    return true;
}

grove_status gv_time_parse(gv_str text, int64_t *out_ns, grove_error *err) {
    gv_str s = text;
    int64_t days = 0, seconds = 0, ns = 0, zone = 0;
    if (!take_date(&s, &days) || !take_char(&s, 'T') || !take_clock(&s, &seconds, &ns) ||
        !take_zone(&s, &zone) || s.n != 0) {
        return gv_error(err, GROVE_E_PARSE,
                        "invalid time \"%.*s\": RFC 3339 is expected (2006-01-02T15:04:05Z)",
                        (int)(text.n < 64 ? text.n : 64), text.n ? text.p : "");
    }
    int64_t at = days * S_PER_DAY + seconds - zone;
    int64_t last = INT64_MAX / NS_PER_S, first = INT64_MIN / NS_PER_S - 1;
    if (at > last || at < first || (at == last && ns > INT64_MAX % NS_PER_S) ||
        (at == first && ns < NS_PER_S + INT64_MIN % NS_PER_S)) {
        return gv_error(err, GROVE_E_RANGE, "time \"%.*s\" lies outside of 1678 to 2262",
                        (int)(text.n < 64 ? text.n : 64), text.p);
    }
    /* The negative branch adds before it multiplies fully, so that the earliest instant does not overflow. */
    *out_ns = at >= 0 ? at * NS_PER_S + ns : (at + 1) * NS_PER_S + (ns - NS_PER_S);
    return GROVE_OK;
}

/* Whole seconds towards the past and the nanoseconds after them. */
static grove_status put_time(int64_t ns, bool micro, grove_buf *buf) {
    int64_t seconds = ns / NS_PER_S, rest = ns % NS_PER_S;
    if (rest < 0) {
        rest += NS_PER_S;
        seconds--;
    }
    int64_t days = seconds / S_PER_DAY, of_day = seconds % S_PER_DAY;
    if (of_day < 0) {
        of_day += S_PER_DAY;
        days--;
    }
    civil c = civil_from_days(days);
    grove_status st = gv_buf_fmt(buf, "%04d-%02u-%02uT%02u:%02u:%02u", (int)c.year, c.month, c.day,
                                 (unsigned)(of_day / 3600), (unsigned)(of_day / 60 % 60),
                                 (unsigned)(of_day % 60));
    if (st == GROVE_OK && micro) {
        st = gv_buf_fmt(buf, ".%06u", (unsigned)(rest / 1000));
    }
    return st == GROVE_OK ? gv_buf_char(buf, 'Z') : st;
}

grove_status gv_time_format(int64_t ns, grove_buf *buf) {
    return put_time(ns, false, buf);
}

grove_status gv_microtime_format(int64_t ns, grove_buf *buf) {
    return put_time(ns, true, buf);
}
