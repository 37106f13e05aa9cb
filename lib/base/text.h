/* SPDX-License-Identifier: Apache-2.0 */
/* Strings as pointer and length, and text building without a locale. */
#ifndef GV_BASE_TEXT_H
#define GV_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <grove/buf.h>

/* A borrowed piece of text; p may be NULL only when n is 0. Not necessarily NUL-terminated. */
typedef struct gv_str {
    const char *p;
    size_t n;
} gv_str;

#define GV_STR(literal) ((gv_str){(literal), sizeof(literal) - 1})

static inline gv_str gv_str_c(const char *s) {
    return (gv_str){s ? s : "", s ? strlen(s) : 0};
}
static inline bool gv_str_eq(gv_str a, gv_str b) {
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool gv_str_is(gv_str a, const char *literal) {
    return gv_str_eq(a, gv_str_c(literal));
}
/* <0, 0, >0 by bytes, shorter first. */
int gv_str_cmp(gv_str a, gv_str b);
bool gv_str_starts(gv_str s, gv_str prefix);
bool gv_str_ends(gv_str s, gv_str suffix);
/* Decimal int64, whole string; false on anything else (also overflow). */
bool gv_str_int64(gv_str s, int64_t *out);
gv_str gv_str_trim(gv_str s); /* ASCII white space */
/* Whether a comma-separated list has the word. */
bool gv_str_in_list(const char *list, gv_str word);

/* printf-like append, no floating point (a source check refuses %f %g %e). */
grove_status gv_buf_fmt(grove_buf *buf, const char *fmt, ...) GROVE_PRINTF(2, 3);
grove_status gv_buf_vfmt(grove_buf *buf, const char *fmt, va_list ap) GROVE_PRINTF(2, 0);
static inline grove_status gv_buf_str(grove_buf *buf, gv_str s) {
    return grove_buf_append(buf, s.p, s.n);
}
static inline grove_status gv_buf_c(grove_buf *buf, const char *s) {
    return grove_buf_append(buf, s, strlen(s));
}
grove_status gv_buf_char(grove_buf *buf, char c);
static inline gv_str gv_buf_view(const grove_buf *buf) {
    return (gv_str){buf->data ? buf->data : "", (size_t)buf->len};
}
/* Formats into a fixed array, NUL-terminated, cut when too long; returns the length written. */
size_t gv_fmt(char *out, size_t cap, const char *fmt, ...) GROVE_PRINTF(3, 4);
size_t gv_vfmt(char *out, size_t cap, const char *fmt, va_list ap) GROVE_PRINTF(3, 0);

#endif
