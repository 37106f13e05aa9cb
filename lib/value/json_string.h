/* SPDX-License-Identifier: Apache-2.0 */
/* Scanning one JSON string in place. */
#ifndef GV_VALUE_JSON_STRING_H
#define GV_VALUE_JSON_STRING_H

#include <stddef.h>

typedef struct gv_json_string {
    char *next;        /* behind the closing quote; on failure the byte at fault */
    size_t len;        /* of the decoded text */
    const char *error; /* NULL: decoded and NUL-terminated where it began */
} gv_json_string;

/* s: behind the opening quote. The text ends with a NUL that has GV_JSON_PADDING readable bytes after it. */
#define GV_JSON_PADDING 8
gv_json_string gv_json_string_scan(char *begin);

/* The first byte from s on that is a quote, a backslash, a control character or beyond ASCII; else end. */
const char *gv_json_plain(const char *s, const char *end);

#endif
