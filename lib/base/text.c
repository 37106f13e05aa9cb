/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing, trimming and reading pieces of text. */
#include "base/text.h"

int gv_str_cmp(gv_str a, gv_str b) {
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n > 0 ? memcmp(a.p, b.p, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

bool gv_str_starts(gv_str s, gv_str prefix) {
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

bool gv_str_ends(gv_str s, gv_str suffix) {
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + (s.n - suffix.n), suffix.p, suffix.n) == 0);
}

bool gv_str_int64(gv_str s, int64_t *out) {
    size_t i = 0;
    bool negative = s.n > 0 && s.p[0] == '-';
    i += negative || (s.n > 0 && s.p[0] == '+');
    if (i == s.n) {
        return false;
    }
    const uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    uint64_t value = 0;
    for (; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9') {
            return false;
        }
        unsigned digit = (unsigned)(s.p[i] - '0');
        if (value > (limit - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

gv_str gv_str_trim(gv_str s) {
    while (s.n > 0 && is_space(s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && is_space(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

bool gv_str_in_list(const char *list, gv_str word) {
    gv_str rest = gv_str_c(list);
    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;
        if (gv_str_eq(gv_str_trim((gv_str){rest.p, n}), word)) {
            return true;
        }
        rest = comma ? (gv_str){comma + 1, rest.n - n - 1} : (gv_str){rest.p, 0};
    }
    return false;
}
