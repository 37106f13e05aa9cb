/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars that only a tag brings: !!binary and !!timestamp. */
#include "value/utf8.h"
#include "value/yaml_text.h"

/* ---- base64, standard alphabet, padded; line breaks between the letters do not count ---- */

static int32_t base64_value(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_utf8(gv_str s) {
    for (size_t i = 0; i < s.n;) {
        size_t n = gv_utf8_length(s.p + i);
        if (n == 0 || n > s.n - i) {
            return false;
        }
        i += n;
    }
    return true;
}

/* Appends the bytes; false when the text is not base64. */
static bool decode(gv_str text, grove_buf *out, grove_status *st) {
    uint32_t bits = 0, letters = 0, padding = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\n' || c == '\r') {
            continue;
        }
        if (c == '=') {
            padding++;
            if (letters < 2 || letters + padding > 4) {
                return false;
            }
            continue;
        }
        int32_t v = base64_value(c);
        if (v < 0 || padding > 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)v;
        if (++letters == 4) {
            const char bytes[3] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
            *st = *st < 0 ? *st : grove_buf_append(out, bytes, 3);
            bits = letters = 0;
        }
    }
    if (letters == 0) {
        return padding == 0;
    }
    bits <<= 6 * (4 - letters);
    const char bytes[2] = {(char)(bits >> 16), (char)(bits >> 8)};
    *st = *st < 0 ? *st : grove_buf_append(out, bytes, letters - 1);
    return letters + padding == 4;
}

grove_status gv_yaml_base64(gv_str text, grove_buf *scratch, gv_str *out, const char **out_why) {
    grove_status st = grove_buf_append(scratch, "", 0);
    if (!decode(text, scratch, &st)) {
        *out_why = "the text is not base64, as its tag !!binary says";
        return GROVE_E_PARSE;
    }
    if (st == GROVE_OK && !is_utf8(gv_buf_view(scratch))) {
        *out_why = "the bytes of a !!binary are not UTF-8 and cannot be a string";
        return GROVE_E_PARSE;
    }
    *out = gv_buf_view(scratch);
    return st;
}

/* ---- timestamps: date, date and time, with short fields ---- */

static bool is_digit_at(gv_str s, size_t i) {
    return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

/* One or two digits (exactly two when `full`) up to `high`. */
static bool take_number(gv_str *s, bool full, uint32_t high, uint32_t *out) {
    uint32_t v = 0;
    size_t n = 0;
    while (n < 2 && is_digit_at(*s, n)) {
        v = v * 10 + (uint32_t)(s->p[n++] - '0');
    }
    *s = (gv_str){s->p + n, s->n - n};
    *out = v;
    return n > 0 && (n == 2 || !full) && v <= high;
}

static bool take_char(gv_str *s, char c) {
    bool found = s->n > 0 && s->p[0] == c;
    *s = (gv_str){s->p + found, s->n - found};
    return found;
}

static bool take_date(gv_str *s) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint32_t century = 0, year = 0, month = 0, day = 0;
    if (!take_number(s, true, 99, &century) || !take_number(s, true, 99, &year) ||
        !take_char(s, '-') || !take_number(s, false, 12, &month) || month == 0 ||
        !take_char(s, '-') || !take_number(s, false, 31, &day) || day == 0) {
        return false;
    }
    bool leap = year % 4 == 0 && (year != 0 || century % 4 == 0);
    return day <= days[month - 1] + (month == 2 && leap ? 1u : 0u);
}

static bool take_clock(gv_str *s) {
    uint32_t ignored = 0;
    if (!take_number(s, false, 23, &ignored) || !take_char(s, ':') ||
        !take_number(s, false, 59, &ignored) || !take_char(s, ':') ||
        !take_number(s, false, 59, &ignored)) {
        return false;
    }
    if (s->n > 1 && (s->p[0] == '.' || s->p[0] == ',') && is_digit_at(*s, 1)) {
        size_t n = 1;
        while (is_digit_at(*s, n)) {
            n++;
        }
        *s = (gv_str){s->p + n, s->n - n};
    }
    return true;
}

static bool take_zone(gv_str *s) {
    uint32_t ignored = 0;
    if (take_char(s, 'Z')) {
        return true;
    }
    return (take_char(s, '+') || take_char(s, '-')) && take_number(s, true, 24, &ignored) &&
           take_char(s, ':') && take_number(s, true, 60, &ignored);
}

bool gv_yaml_is_timestamp(gv_str text) {
    gv_str s = text;
    if (!take_date(&s)) {
        return false;
    }
    if (s.n == 0) {
        return true;
    }
    if (take_char(&s, ' ')) {
        while (take_char(&s, ' ')) {
        }
        return take_clock(&s) && s.n == 0;
    }
    return (take_char(&s, 'T') || take_char(&s, 't')) && take_clock(&s) && take_zone(&s) &&
           s.n == 0;
}
