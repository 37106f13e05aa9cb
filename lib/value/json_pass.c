/* SPDX-License-Identifier: Apache-2.0 */
/* Passing over JSON: one loop, whose state is where it is, and the brackets that have to close. */
#include "value/json_pass.h"

#include "base/env.h"
#include "value/json_string.h"
#include "value/number.h"
#include "value/utf8.h"

/* ---- texts ---- */

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int hex_value(char c) {
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* The code unit of "\uXXXX" at p; negative: none. */
static int32_t unit_at(const char *p, const char *end) {
    int32_t unit = 0;
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return -1;
    }
    for (int i = 2; i < 6; i++) {
        if (!is_hex(p[i])) {
            return -1;
        }
        unit = unit * 16 + hex_value(p[i]);
    }
    return unit;
}

size_t gv_json_escape(const char *p, const char *end, uint32_t *out) {
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char *found = end - p >= 2 && p[1] != '\0' ? strchr(from, p[1]) : NULL;
    if (found) {
        *out = (uint32_t)to[found - from];
        return 2;
    }
    int32_t unit = unit_at(p, end);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) {
        return 0;
    }
    *out = (uint32_t)unit;
    if (unit < 0xD800 || unit > 0xDBFF) {
        return 6;
    }
    int32_t low = unit_at(p + 6, end);
    if (low < 0xDC00 || low > 0xDFFF) {
        return 0;
    }
    *out = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    return 12;
}

/* A character beyond ASCII; 0: not whole, or none. */
static size_t wide_at(const char *p, const char *end) {
    char bytes[5] = "";
    size_t n = (size_t)(end - p) < 4 ? (size_t)(end - p) : 4;
    memcpy(bytes, p, n);
    return gv_utf8_length(bytes);
}

/* Length of what stands at p, where no plain byte does; 0: a fault. */
static size_t special_at(const char *p, const char *end) {
    uint32_t c;
    if (*p == '\\') {
        return gv_json_escape(p, end, &c);
    }
    return (unsigned char)*p >= 0x80 ? wide_at(p, end) : 0;
}

static inline const char *pass_text(const char *p, const char *end, bool *out_escaped) {
    for (;;) {
        p = gv_json_plain(p, end);
        if (p >= end) {
            return NULL;
        }
        if (*p == '"') {
            return p;
        }
        *out_escaped = *out_escaped || *p == '\\';
        bool quoted = *p == '\\' && end - p >= 2 && (p[1] == '"' || p[1] == '\\'); /* nearly all */
        size_t n = quoted ? 2 : special_at(p, end);
        if (n == 0) {
            return NULL;
        }
        p += n;
    }
}

const char *gv_json_pass_text(const char *p, const char *end, bool *out_escaped) {
    *out_escaped = false;
    return pass_text(p, end, out_escaped);
}

/* ---- values ---- */

/* Behind the number or the literal at p; NULL: neither. */
static const char *pass_word(const char *p, const char *end) {
    static const char *const words[] = {"true", "false", "null"};
    bool integer;
    if (p < end && (*p == '-' || (*p >= '0' && *p <= '9'))) {
        size_t n = gv_number_scan((gv_str){p, (size_t)(end - p)}, &integer);
        return n > 0 ? p + n : NULL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0) {
            return p + n;
        }
    }
    return NULL;
}

/* Behind the key at p and its colon; NULL: there is none. */
static inline const char *pass_key(const char *p, const char *end) {
    bool escaped = false;
    p = gv_json_space(p, end);
    if (p >= end || *p != '"') {
        return NULL;
    }
    p = pass_text(p + 1, end, &escaped);
    p = p ? gv_json_space(p + 1, end) : NULL;
    return p && p < end && *p == ':' ? p + 1 : NULL;
}

/*
 * Behind the value that ended at p: out of the containers that end, to where the next value begins. closing:
 * the brackets that have to come, *level of them.
 */
static inline const char *pass_on(const char *p, const char *end, const char *closing,
                                  uint32_t *level) {
    while (*level > 0) {
        p = gv_json_space(p, end);
        if (p >= end) {
            return NULL;
        }
        if (*p == closing[*level - 1]) {
            (*level)--;
            p++;
        } else if (*p == ',') {
            return closing[*level - 1] == '}' ? pass_key(p + 1, end) : p + 1;
        } else {
            return NULL;
        }
    }
    return p;
}

const char *gv_json_pass(const char *p, const char *end, uint32_t depth, grove_status *out_status) {
    char closing[GV_DEPTH_MAX];
    uint32_t level = 0;
    bool escaped = false;
    *out_status = GROVE_E_PARSE;
    do {
        p = gv_json_space(p, end);
        char c = p < end ? *p : '\0';
        if (c == '{' || c == '[') {
            if (level >= depth || level >= GV_DEPTH_MAX) {
                *out_status = GROVE_E_LIMIT;
                return NULL;
            }
            closing[level++] = c == '{' ? '}' : ']';
            p = gv_json_space(p + 1, end);
            if (p >= end || *p != closing[level - 1]) {
                p = c == '{' ? pass_key(p, end) : p;
                continue; /* to its first value */
            }
        } else if (c == '"') {
            p = pass_text(p + 1, end, &escaped);
            p = p ? p + 1 : NULL;
        } else {
            p = pass_word(p, end);
        }
        p = p ? pass_on(p, end, closing, &level) : NULL;
    } while (p && level > 0);
    *out_status = p ? GROVE_OK : *out_status;
    return p;
}
