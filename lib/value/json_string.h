/* SPDX-License-Identifier: Apache-2.0 */
/* Scanning one JSON string in place. */
#ifndef GV_VALUE_JSON_STRING_H
#define GV_VALUE_JSON_STRING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct gv_json_string {
    char *next;        /* behind the closing quote; on failure the byte at fault */
    size_t len;        /* of the decoded text */
    const char *error; /* NULL: decoded and NUL-terminated where it began */
} gv_json_string;

/* s: behind the opening quote. The text ends with a NUL that has GV_JSON_PADDING readable bytes after it. */
#define GV_JSON_PADDING 8
gv_json_string gv_json_string_scan(char *begin);

/* Non-zero when one of the eight bytes is a quote, a backslash, below a space or beyond ASCII. */
static inline uint64_t gv_json_special(uint64_t x) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    const uint64_t quote = x ^ (ones * '"'), backslash = x ^ (ones * '\\');
    return (x | ((x - ones * ' ') & ~x) | ((quote - ones) & ~quote) |
            ((backslash - ones) & ~backslash)) &
           highs;
}

/* The first byte from s on that is a quote, a backslash, a control character or beyond ASCII; else end. */
static inline const char *gv_json_plain(const char *s, const char *end) {
#ifdef __SSE2__
    while (end - s >=
           16) { /* a signed byte below a space is a control character, or beyond ASCII */
        const __m128i x = _mm_loadu_si128((const __m128i *)s);
        const __m128i quote = _mm_cmpeq_epi8(x, _mm_set1_epi8('"'));
        const __m128i backslash = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
        const __m128i other = _mm_cmplt_epi8(x, _mm_set1_epi8(' '));
        const int special = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), other));
        if (special != 0) {
            return s + __builtin_ctz((unsigned)special);
        }
        s += 16;
    }
#endif
    while (end - s >= 8) {
        uint64_t x;
        memcpy(&x, s, sizeof x);
        const uint64_t special = gv_json_special(x);
        if (special != 0) {
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return s + __builtin_ctzll(special) / 8; /* the lowest one is never a false alarm */
#else
            break;
#endif
        }
        s += 8;
    }
    while (s < end && (unsigned char)*s < 0x80 && (unsigned char)*s >= ' ' && *s != '"' &&
           *s != '\\') {
        s++;
    }
    return s;
}

#endif
