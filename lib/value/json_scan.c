/* SPDX-License-Identifier: Apache-2.0 */
/* The reader: eight bytes at a time through strings, nothing kept of what is passed over. */
#include "value/json_scan.h"

#include "base/env.h"
#include "value/json_string.h"
#include "value/number.h"
#include "value/utf8.h"

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

void gv_scan_fail(gv_scan *s, grove_status status) {
    s->status = s->status < 0 ? s->status : status;
    s->at = s->end;
}

void gv_scan_begin(gv_scan *s, gv_str text, gv_arena *decoded, uint32_t max_depth) {
    bool marked = text.n >= 3 && memcmp(text.p, BYTE_ORDER_MARK, 3) == 0;
    const char *begin = text.p + (marked ? 3 : 0);
    *s = (gv_scan){.at = begin,
                   .begin = begin,
                   .end = text.p + text.n,
                   .decoded = decoded,
                   .max_depth = max_depth,
                   .status = GROVE_OK};
}

/* The next byte that is no white space, without taking it; NUL at the end. */
static inline char peek(gv_scan *s) {
    while (s->at < s->end) {
        char c = *s->at;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            return c;
        }
        s->at++;
    }
    return '\0';
}

const char *gv_scan_at(gv_scan *s) {
    (void)peek(s);
    return s->at;
}

grove_status gv_scan_end(gv_scan *s) {
    if (s->status == GROVE_OK && (peek(s) != '\0' || s->at < s->end || s->depth > 0)) {
        s->status = GROVE_E_PARSE;
    }
    return s->status;
}

/* ---- strings ---- */

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

/* Length of the escape at p, its character in *out; 0: none that is allowed. */
static size_t escape_at(const char *p, const char *end, uint32_t *out) {
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

/* Takes a string whose opening quote is next; its raw text. */
static gv_str raw_string(gv_scan *s, bool *out_escaped) {
    const char *p = s->at + 1, *begin = p;
    *out_escaped = false;
    for (;;) {
        p = gv_json_plain(p, s->end);
        if (p >= s->end) {
            break;
        }
        uint32_t c;
        size_t n = 0;
        if (*p == '"') {
            s->at = p + 1;
            s->first = false;
            return (gv_str){begin, (size_t)(p - begin)};
        }
        if (*p == '\\') {
            bool quoted = s->end - p >= 2 && (p[1] == '"' || p[1] == '\\'); /* nearly all */
            *out_escaped = true;
            n = quoted ? 2 : escape_at(p, s->end, &c);
        } else if ((unsigned char)*p >= 0x80) {
            n = wide_at(p, s->end);
        }
        if (n == 0) {
            break;
        }
        p += n;
    }
    gv_scan_fail(s, GROVE_E_PARSE);
    return (gv_str){"", 0};
}

static gv_str decode(gv_scan *s, gv_str raw) {
    char *text = gv_arena_alloc(s->decoded, raw.n), *out = text;
    const char *end = raw.p + raw.n;
    if (!text) {
        gv_scan_fail(s, GROVE_E_NOMEM);
        return (gv_str){"", 0};
    }
    for (const char *p = raw.p; p < end;) {
        uint32_t c;
        if (*p != '\\') {
            *out++ = *p++;
        } else {
            p += escape_at(p, end, &c);
            out += gv_utf8_write(out, c);
        }
    }
    return (gv_str){text, (size_t)(out - text)};
}

static gv_str string(gv_scan *s) {
    bool escaped;
    gv_str raw = raw_string(s, &escaped);
    return escaped ? decode(s, raw) : raw;
}

/* ---- containers ---- */

static bool enter(gv_scan *s) {
    if (s->depth >= s->max_depth) {
        gv_scan_fail(s, GROVE_E_LIMIT);
        return false;
    }
    s->depth++;
    s->at++;
    s->first = true;
    return true;
}

static void leave(gv_scan *s) {
    s->depth--;
    s->at++;
    s->first = false;
}

bool gv_scan_open(gv_scan *s, char bracket) {
    if (peek(s) == bracket) {
        return enter(s);
    }
    (void)gv_scan_skip(s);
    return false;
}

/* True when another child comes; false at `close`, which is taken, or at a fault. */
static bool another(gv_scan *s, char close) {
    char c = peek(s);
    if (c == close) {
        leave(s);
        return false;
    }
    if (!s->first) {
        if (c != ',') {
            gv_scan_fail(s, GROVE_E_PARSE);
            return false;
        }
        s->at++;
        c = peek(s);
    }
    if (c == '\0' || c == close) {
        gv_scan_fail(s, GROVE_E_PARSE);
        return false;
    }
    return true;
}

static bool colon(gv_scan *s) {
    if (peek(s) != ':') {
        gv_scan_fail(s, GROVE_E_PARSE);
        return false;
    }
    s->at++;
    return true;
}

bool gv_scan_member(gv_scan *s, gv_str *out_key) {
    if (s->status < 0 || !another(s, '}')) {
        return false;
    }
    if (*s->at != '"') {
        gv_scan_fail(s, GROVE_E_PARSE);
        return false;
    }
    *out_key = string(s);
    return s->status == GROVE_OK && colon(s);
}

bool gv_scan_element(gv_scan *s) {
    return s->status == GROVE_OK && another(s, ']');
}

/* ---- scalars ---- */

static gv_str number(gv_scan *s, bool *out_integer) {
    size_t n = gv_number_scan((gv_str){s->at, (size_t)(s->end - s->at)}, out_integer);
    gv_str text = {s->at, n};
    if (n == 0) {
        gv_scan_fail(s, GROVE_E_PARSE);
        return (gv_str){NULL, 0};
    }
    s->at += n;
    s->first = false;
    return text;
}

static bool is_number(char c) {
    return c == '-' || (c >= '0' && c <= '9');
}

gv_str gv_scan_text(gv_scan *s) {
    if (peek(s) == '"') {
        return string(s);
    }
    (void)gv_scan_skip(s);
    return (gv_str){"", 0};
}

gv_str gv_scan_scalar(gv_scan *s) {
    char c = peek(s);
    bool integer;
    if (c == '"') {
        return string(s);
    }
    if (is_number(c)) {
        return number(s, &integer);
    }
    (void)gv_scan_skip(s);
    return (gv_str){NULL, 0};
}

bool gv_scan_is_true(gv_scan *s) {
    return gv_str_is(gv_scan_skip(s), "true");
}

int64_t gv_scan_int(gv_scan *s, int64_t otherwise) {
    bool integer = false, range;
    int64_t value = 0;
    if (!is_number(peek(s))) {
        (void)gv_scan_skip(s);
        return otherwise;
    }
    gv_str text = number(s, &integer);
    if (text.n == 0) {
        return otherwise;
    }
    if (integer) {
        return gv_str_int64(text, &value) ? value : otherwise;
    }
    const gv_decimal d = gv_decimal_read(text);
    return gv_decimal_int64(&d, &value, &range) ? value : otherwise;
}

static void literal(gv_scan *s, const char *text, size_t n) {
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0) {
        gv_scan_fail(s, GROVE_E_PARSE);
        return;
    }
    s->at += n;
    s->first = false;
}

/* One scalar, or the opening of a container. */
static void step_into(gv_scan *s) {
    bool ignored;
    switch (peek(s)) {
    case '"':
        (void)raw_string(s, &ignored);
        return;
    case '{':
    case '[':
        (void)enter(s);
        return;
    case 't':
        literal(s, "true", 4);
        return;
    case 'f':
        literal(s, "false", 5);
        return;
    case 'n':
        literal(s, "null", 4);
        return;
    default:
        if (is_number(peek(s))) {
            (void)number(s, &ignored);
        } else {
            gv_scan_fail(s, GROVE_E_PARSE);
        }
    }
}

static void key_passed(gv_scan *s) {
    bool ignored;
    if (*s->at != '"') {
        gv_scan_fail(s, GROVE_E_PARSE);
        return;
    }
    (void)raw_string(s, &ignored);
    (void)(s->status == GROVE_OK && colon(s));
}

gv_str gv_scan_skip(gv_scan *s) {
    const uint32_t base = s->depth;
    uint64_t objects[GV_DEPTH_MAX / 64 + 1]; /* a bit for each level passed: is it an object? */
    if (s->status < 0) {
        return (gv_str){"", 0};
    }
    (void)peek(s);
    const char *from = s->at;
    do {
        uint32_t before = s->depth;
        bool object = peek(s) == '{';
        step_into(s);
        if (s->depth > before) {
            uint32_t level = s->depth - base;
            uint64_t bit = UINT64_C(1) << (level % 64), *word = &objects[level / 64];
            *word = level == 1 || level % 64 == 0 ? 0 : *word;
            *word = object ? *word | bit : *word & ~bit;
        }
        while (s->depth > base && s->status == GROVE_OK) { /* to the next value, out of what ends */
            uint32_t level = s->depth - base;
            bool in_object = (objects[level / 64] >> (level % 64) & 1) != 0;
            if (another(s, in_object ? '}' : ']')) {
                if (in_object) {
                    key_passed(s);
                }
                break;
            }
        }
    } while (s->depth > base && s->status == GROVE_OK);
    return s->status < 0 ? (gv_str){"", 0} : (gv_str){from, (size_t)(s->at - from)};
}
