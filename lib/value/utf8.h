/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: one character at a time. */
#ifndef GV_VALUE_UTF8_H
#define GV_VALUE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length of the valid sequence at s (1 to 4); 0: invalid or cut off. Reads no further than a byte that
 * breaks the sequence, so a NUL behind the text is enough of an end. */
static inline size_t gv_utf8_length(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] < 0xC2 || s[0] > 0xF4) {
        return 0;
    }
    if ((s[1] & 0xC0) != 0x80) {
        return 0;
    }
    if (s[0] < 0xE0) {
        return 2;
    }
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F) || (s[2] & 0xC0) != 0x80) {
        return 0;
    }
    if (s[0] < 0xF0) {
        return 3;
    }
    return (s[3] & 0xC0) == 0x80 ? 4 : 0;
}

/* Writes a code point (no surrogate); returns the length, 1 to 4. */
static inline size_t gv_utf8_write(char *out, uint32_t c) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

#endif
