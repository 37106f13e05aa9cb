/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON without a document: a reader walks over the text, takes what it wants and passes over the rest. What
 * is accepted is what grove_doc_parse_json accepts (but for the number of values), also where it is only
 * passed over.
 *
 *     gv_scan s;
 *     gv_scan_begin(&s, text, &arena, depth);
 *     if (gv_scan_open(&s, '{')) {
 *         for (gv_str key; gv_scan_member(&s, &key);) {
 *             if (gv_str_is(key, "name")) name = gv_scan_text(&s);
 *             else gv_scan_skip(&s);
 *         }
 *     }
 *     grove_status st = gv_scan_end(&s);
 *
 * Each value must be taken exactly once. After a fault nothing more comes; gv_scan_end tells it.
 */
#ifndef GV_VALUE_JSON_SCAN_H
#define GV_VALUE_JSON_SCAN_H

#include "base/arena.h"

typedef struct gv_scan {
    const char *at, *end, *begin;
    gv_arena *decoded; /* texts with escapes are copied here */
    uint32_t depth, max_depth;
    bool first; /* in a container, before its first child */
    grove_status status;
} gv_scan;

void gv_scan_begin(gv_scan *s, gv_str text, gv_arena *decoded, uint32_t max_depth);
/* Stops the reading: gv_scan_end answers this. */
void gv_scan_fail(gv_scan *s, grove_status status);
/* GROVE_OK when exactly one value was there. */
grove_status gv_scan_end(gv_scan *s);

/* Enters the next value when it begins with `bracket`; passes over it otherwise. */
bool gv_scan_open(gv_scan *s, char bracket);
/* The next member of the object entered last; false at its end, which leaves it. */
bool gv_scan_member(gv_scan *s, gv_str *out_key);
/* The next element of the array entered last; false at its end, which leaves it. */
bool gv_scan_element(gv_scan *s);

/* The next value, whose text is borrowed or in the arena: "" when it is no string. */
gv_str gv_scan_text(gv_scan *s);
/* Text of a string, or of a number as it stands; p NULL otherwise. */
gv_str gv_scan_scalar(gv_scan *s);
bool gv_scan_is_true(gv_scan *s);
int64_t gv_scan_int(gv_scan *s, int64_t otherwise);
/* Where the next value begins. */
const char *gv_scan_at(gv_scan *s);
/* Passes over the next value; its text. */
gv_str gv_scan_skip(gv_scan *s);

#endif
