/* SPDX-License-Identifier: Apache-2.0 */
/* Matchers for the names and keys of Kubernetes; hand-written, linear, without a regular expression. */
#include "model/syntax.h"

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_lower_alnum(char c) {
    return is_lower(c) || is_digit(c);
}

static bool is_alnum(char c) {
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])? of any length */
static bool dns_part(gv_str s) {
    if (s.n == 0 || !is_lower_alnum(s.p[0]) || !is_lower_alnum(s.p[s.n - 1])) {
        return false;
    }
    for (size_t i = 1; i < s.n; i++) {
        if (!is_lower_alnum(s.p[i]) && s.p[i] != '-') {
            return false;
        }
    }
    return true;
}

bool gv_syntax_label(gv_str s) {
    return s.n <= 63 && dns_part(s);
}

bool gv_syntax_subdomain(gv_str s) {
    if (s.n > 253) {
        return false;
    }
    size_t start = 0;
    for (size_t i = 0; i <= s.n; i++) {
        if (i == s.n || s.p[i] == '.') {
            if (!dns_part((gv_str){s.p + start, i - start})) {
                return false;
            }
            start = i + 1;
        }
    }
    return true;
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] of any length */
static bool name_part(gv_str s) {
    if (s.n == 0 || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1])) {
        return false;
    }
    for (size_t i = 1; i < s.n; i++) {
        char c = s.p[i];
        if (!is_alnum(c) && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

/* Splits at the last slash; false when there is none. */
static bool split_prefix(gv_str s, gv_str *prefix, gv_str *name) {
    for (size_t i = s.n; i > 0; i--) {
        if (s.p[i - 1] == '/') {
            *prefix = (gv_str){s.p, i - 1};
            *name = (gv_str){s.p + i, s.n - i};
            return true;
        }
    }
    *name = s;
    return false;
}

bool gv_syntax_qualified(gv_str s) {
    gv_str prefix = {NULL, 0}, name;
    if (split_prefix(s, &prefix, &name) && !gv_syntax_subdomain(prefix)) {
        return false;
    }
    return name.n <= 63 && name_part(name);
}

bool gv_syntax_level_key(gv_str s) {
    gv_str prefix = {NULL, 0}, name;
    if (split_prefix(s, &prefix, &name) && !name_part(prefix)) {
        return false;
    }
    return name_part(name);
}

bool gv_syntax_condition_type(gv_str s) {
    gv_str prefix = {NULL, 0}, name;
    if (split_prefix(s, &prefix, &name)) {
        size_t start = 0;
        for (size_t i = 0; i <= prefix.n; i++) {
            if (i == prefix.n || prefix.p[i] == '.') {
                if (!dns_part((gv_str){prefix.p + start, i - start})) {
                    return false;
                }
                start = i + 1;
            }
        }
    }
    return name_part(name);
}

bool gv_syntax_condition_reason(gv_str s) {
    if (s.n == 0 || !is_alnum(s.p[0]) || is_digit(s.p[0])) {
        return false;
    }
    for (size_t i = 1; i < s.n; i++) {
        char c = s.p[i];
        bool inner = i + 1 < s.n && (c == ',' || c == ':');
        if (!is_alnum(c) && c != '_' && !inner) {
            return false;
        }
    }
    return true;
}

bool gv_syntax_label_value(gv_str s) {
    return s.n == 0 || (s.n <= 63 && name_part(s));
}

bool gv_syntax_env_name(gv_str s) {
    if (s.n == 0 || is_digit(s.p[0]) || gv_str_is(s, ".") || gv_str_starts(s, GV_STR(".."))) {
        return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (!is_alnum(c) && c != '-' && c != '.' && c != '_') {
            return false;
        }
    }
    return true;
}

bool gv_syntax_domain_form(gv_str s) {
    if (s.n == 0 || !is_lower(s.p[0])) {
        return false;
    }
    for (size_t i = 1; i < s.n; i++) {
        if (!is_lower_alnum(s.p[i]) && s.p[i] != '-') {
            return false;
        }
    }
    return true;
}

bool gv_syntax_domain(gv_str s) {
    return s.n <= 63 && gv_syntax_domain_form(s);
}

static size_t skip_digits(gv_str s, size_t i) {
    while (i < s.n && is_digit(s.p[i])) {
        i++;
    }
    return i;
}

/* ([0-9]+(\.[0-9]*)?)|(\.[0-9]+) from position i; the end, or i when there is none */
static size_t skip_decimal(gv_str s, size_t i) {
    size_t whole = skip_digits(s, i);
    if (whole < s.n && s.p[whole] == '.') {
        size_t end = skip_digits(s, whole + 1);
        return whole > i || end > whole + 1 ? end : i;
    }
    return whole;
}

bool gv_syntax_quantity(gv_str s) {
    size_t i = s.n > 0 && (s.p[0] == '+' || s.p[0] == '-') ? 1 : 0;
    size_t end = skip_decimal(s, i);
    if (end == i || end == s.n) {
        return end != i;
    }
    gv_str suffix = {s.p + end, s.n - end};
    if (suffix.n == 1) {
        return memchr("numkMGTPE", suffix.p[0], 9) != NULL;
    }
    if (suffix.n == 2 && suffix.p[1] == 'i') {
        return memchr("KMGTPE", suffix.p[0], 6) != NULL;
    }
    if (suffix.p[0] != 'e' && suffix.p[0] != 'E') {
        return false;
    }
    size_t from = suffix.p[1] == '+' || suffix.p[1] == '-' ? 2 : 1;
    return skip_decimal(suffix, from) == suffix.n && from < suffix.n;
}

bool gv_syntax_blank(gv_str s) {
    /* unicode.IsSpace over UTF-8 */
    for (size_t i = 0; i < s.n;) {
        const unsigned char *p = (const unsigned char *)s.p + i;
        size_t left = s.n - i;
        if (*p == ' ' || (*p >= '\t' && *p <= '\r')) {
            i += 1;
        } else if (left >= 2 && p[0] == 0xC2 && (p[1] == 0x85 || p[1] == 0xA0)) {
            i += 2;
        } else if (left >= 3 && ((p[0] == 0xE1 && p[1] == 0x9A && p[2] == 0x80) ||
                                 (p[0] == 0xE2 && p[1] == 0x80 &&
                                  ((p[2] >= 0x80 && p[2] <= 0x8A) || p[2] == 0xA8 || p[2] == 0xA9 ||
                                   p[2] == 0xAF)) ||
                                 (p[0] == 0xE2 && p[1] == 0x81 && p[2] == 0x9F) ||
                                 (p[0] == 0xE3 && p[1] == 0x80 && p[2] == 0x80))) {
            i += 3;
        } else {
            return false;
        }
    }
    return true;
}

bool gv_syntax_labels(const grove_node *labels) {
    for (const grove_node *v = grove_node_first(labels); v; v = grove_node_next(labels, v)) {
        gv_str key = {NULL, 0}, value = {NULL, 0};
        key.p = grove_node_key(v, &key.n);
        value.p = grove_node_textn(v, &value.n);
        if (!gv_syntax_qualified(key) || !gv_syntax_label_value(value)) {
            return false;
        }
    }
    return true;
}

/* A qualified name once lower-cased: keys of annotations are compared that way. */
static bool annotation_key(gv_str key) {
    char lower[320]; /* a longer key has a part that is too long */
    if (key.n >= sizeof lower) {
        return false;
    }
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return gv_syntax_qualified((gv_str){lower, key.n});
}

bool gv_syntax_annotations(const grove_node *annotations, uint64_t *out_bytes) {
    bool good = true;
    uint64_t bytes = 0;
    for (const grove_node *v = grove_node_first(annotations); v;
         v = grove_node_next(annotations, v)) {
        gv_str key = {NULL, 0};
        size_t value = 0;
        key.p = grove_node_key(v, &key.n);
        grove_node_textn(v, &value);
        bytes += key.n + value;
        good = good && annotation_key(key);
    }
    *out_bytes = bytes;
    return good;
}
