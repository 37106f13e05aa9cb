/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings: eight bytes at a time while nothing special comes, one character at a time else. */
#include "value/json_string.h"

#include <stdbool.h>

#include "value/utf8.h"

/* 0: stands for itself, 1: quote, 2: backslash, 3: control character, 4: beyond ASCII. */
static const unsigned char kinds[256] = {
    [0x00] = 3, [0x01] = 3, [0x02] = 3, [0x03] = 3, [0x04] = 3, [0x05] = 3, [0x06] = 3,
    [0x07] = 3, [0x08] = 3, [0x09] = 3, [0x0A] = 3, [0x0B] = 3, [0x0C] = 3, [0x0D] = 3,
    [0x0E] = 3, [0x0F] = 3, [0x10] = 3, [0x11] = 3, [0x12] = 3, [0x13] = 3, [0x14] = 3,
    [0x15] = 3, [0x16] = 3, [0x17] = 3, [0x18] = 3, [0x19] = 3, [0x1A] = 3, [0x1B] = 3,
    [0x1C] = 3, [0x1D] = 3, [0x1E] = 3, [0x1F] = 3, ['"'] = 1,  ['\\'] = 2,
};

static char *skip_plain(char *s) {
    for (;;) {
        uint64_t x;
        memcpy(&x, s, sizeof x);
        if (gv_json_special(x) != 0) {
            break;
        }
        s += 8;
    }
    while ((unsigned char)*s < 0x80 && kinds[(unsigned char)*s] == 0) {
        s++;
    }
    return s;
}

static gv_json_string failed(char *at, const char *error) {
    return (gv_json_string){at, 0, error};
}

static const char *control_error(char c) {
    return c == '\0' ? "the string is not closed"
                     : "a control character in a string must be written as an escape";
}

/* Four hex digits; negative: none. */
static int32_t read_hex4(const char *s) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        int digit;
        if (c >= '0' && c <= '9') {
            digit = c - '0';
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
            digit = (c | 0x20) - 'a' + 10;
        } else {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* *s: behind "\u"; writes the character at *out. */
static const char *decode_unicode(char **s, char **out) {
    int32_t unit = read_hex4(*s);
    if (unit < 0) {
        return "expected four hexadecimal digits after \\u";
    }
    uint32_t code = (uint32_t)unit;
    *s += 4;
    if (code >= 0xDC00 && code <= 0xDFFF) {
        return "a low surrogate stands alone";
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
        int32_t low = (*s)[0] == '\\' && (*s)[1] == 'u' ? read_hex4(*s + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF) {
            return "a high surrogate stands alone";
        }
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        *s += 6;
    }
    *out += gv_utf8_write(*out, code);
    return NULL;
}

/* *s: at a backslash. */
static const char *decode_escape(char **s, char **out) {
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    const char c = (*s)[1];
    if (c == 'u') {
        *s += 2;
        return decode_unicode(s, out);
    }
    const char *found = c ? strchr(from, c) : NULL;
    if (!found) {
        return "unknown escape in a string";
    }
    *(*out)++ = to[found - from];
    *s += 2;
    return NULL;
}

/* begin: where the string's text begins; s: its first backslash. Decoded text trails behind the source. */
static gv_json_string scan_escaped(char *begin, char *s) {
    char *out = s;
    for (;;) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"') {
            *out = '\0';
            return (gv_json_string){s + 1, (size_t)(out - begin), NULL};
        }
        if (c == '\\') {
            char *escape = s;
            const char *error = decode_escape(&s, &out);
            if (error) {
                return failed(escape, error);
            }
            continue;
        }
        size_t n = c < 0x80 ? kinds[c] == 0 : gv_utf8_length(s);
        if (n == 0) {
            return failed(s, c < 0x80 ? control_error(*s) : "invalid UTF-8");
        }
        while (n-- > 0) {
            *out++ = *s++;
        }
    }
}

gv_json_string gv_json_string_scan(char *begin) {
    char *s = skip_plain(begin);
    while ((unsigned char)*s >= 0x80) {
        const size_t n = gv_utf8_length(s);
        if (n == 0) {
            return failed(s, "invalid UTF-8");
        }
        s = skip_plain(s + n);
    }
    if (*s == '"') {
        *s = '\0';
        return (gv_json_string){s + 1, (size_t)(s - begin), NULL};
    }
    return *s == '\\' ? scan_escaped(begin, s) : failed(s, control_error(*s));
}
