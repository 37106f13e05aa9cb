/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of label keys and label values. */
#include "value/label.h"

#define NAME_MAX_BYTES 63
#define PREFIX_MAX_BYTES 253

static bool is_lower_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alphanumeric(char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool name_ok(gv_str s) {
    if (s.n == 0 || s.n > NAME_MAX_BYTES || !is_alphanumeric(s.p[0]) ||
        !is_alphanumeric(s.p[s.n - 1])) {
        return false;
    }
    for (size_t i = 1; i + 1 < s.n; i++) {
        char c = s.p[i];
        if (!is_alphanumeric(c) && c != '-' && c != '_' && c != '.') {
            return false;
        }
    }
    return true;
}

/* Dot-separated parts of lower-case letters, digits and inner dashes. Parts have no length limit of their own. */
static bool subdomain_ok(gv_str s) {
    if (s.n == 0 || s.n > PREFIX_MAX_BYTES) {
        return false;
    }
    bool at_edge = true; /* a dash may not stand first in a part */
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool last = i + 1 == s.n || s.p[i + 1] == '.';
        if (c == '.') {
            if (at_edge) {
                return false;
            }
            at_edge = true;
        } else if (is_lower_or_digit(c) || (c == '-' && !at_edge && !last)) {
            at_edge = false;
        } else {
            return false;
        }
    }
    return !at_edge;
}

bool gv_label_key_ok(gv_str key) {
    const char *slash = key.n ? memchr(key.p, '/', key.n) : NULL;
    if (!slash) {
        return name_ok(key);
    }
    size_t prefix = (size_t)(slash - key.p);
    return subdomain_ok((gv_str){key.p, prefix}) &&
           name_ok((gv_str){slash + 1, key.n - prefix - 1});
}

bool gv_label_value_ok(gv_str value) {
    return value.n == 0 || name_ok(value);
}
