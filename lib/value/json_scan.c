/* SPDX-License-Identifier: Apache-2.0 */
/* The reader: what is wanted is taken, the rest passed over. */
#include "value/json_scan.h"

#include "base/env.h"
#include "value/json_pass.h"
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
    s->at = gv_json_space(s->at, s->end);
    return s->at < s->end ? *s->at : '\0';
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

/* Takes a string whose opening quote is next; its raw text. */
static gv_str raw_string(gv_scan *s, bool *out_escaped) {
    const char *begin = s->at + 1, *quote = gv_json_pass_text(begin, s->end, out_escaped);
    if (!quote) {
        gv_scan_fail(s, GROVE_E_PARSE);
        return (gv_str){"", 0};
    }
    s->at = quote + 1;
    s->first = false;
    return (gv_str){begin, (size_t)(quote - begin)};
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
            p += gv_json_escape(p, end, &c);
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

gv_str gv_scan_skip(gv_scan *s) {
    grove_status why = GROVE_OK;
    if (s->status < 0) {
        return (gv_str){"", 0};
    }
    const char *from = gv_scan_at(s),
               *to = gv_json_pass(from, s->end, s->max_depth - s->depth, &why);
    if (!to) {
        gv_scan_fail(s, why);
        return (gv_str){"", 0};
    }
    s->at = to;
    s->first = false;
    return (gv_str){from, (size_t)(to - from)};
}
