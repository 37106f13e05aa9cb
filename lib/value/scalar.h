/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars of Kubernetes documents: quantities, int-or-string, durations, times, label selectors. */
#ifndef GV_VALUE_SCALAR_H
#define GV_VALUE_SCALAR_H

#include <stdbool.h>

#include <grove/doc.h>
#include <grove/quantity.h>

#include "base/text.h"

/* Go durations ("1h30m", "90s", "1.5h", "-2ms"): nanoseconds. */
grove_status gv_duration_parse(gv_str text, int64_t *out_ns, grove_error *err);
/* Go's canonical text ("4h0m0s", "1m30s", "0s"). */
grove_status gv_duration_format(int64_t ns, grove_buf *buf);

/* RFC 3339 and MicroTime texts <-> nanoseconds since the epoch (UTC). */
grove_status gv_time_parse(gv_str text, int64_t *out_ns, grove_error *err);
grove_status gv_time_format(int64_t ns, grove_buf *buf);      /* 2026-11-29T20:19:59Z (seconds) */
grove_status gv_microtime_format(int64_t ns, grove_buf *buf); /* 2026-11-29T20:19:59.000000Z */

/* A node that is an integer or a text ("30%", "http"); text borrows from the node. */
typedef struct gv_int_or_string {
    bool is_int;
    int32_t value; /* when is_int */
    gv_str text;   /* when not */
} gv_int_or_string;
/* GROVE_E_TYPE when neither, GROVE_E_RANGE beyond int32. */
grove_status gv_int_or_string_read(const grove_node *node, gv_int_or_string *out, grove_error *err);
/* The percentage of a text such as "30%": an integer and one % sign; GROVE_E_PARSE otherwise. */
grove_status gv_percent_parse(gv_str text, int32_t *out_percent, grove_error *err);
/* The integer itself, or the percentage of `total`, rounded up or down. */
grove_status gv_int_or_percent(const gv_int_or_string *v, int32_t total, bool round_up,
                               int32_t *out, grove_error *err);

/* "a=b,c!=d,e in (x,y),!f" and the LabelSelector object form. */
typedef struct gv_selector gv_selector;
grove_status gv_selector_parse(grove_env *env, gv_str text, gv_selector **out, grove_error *err);
/* NULL and null select nothing; the empty object selects everything. err->path is relative to `selector`. */
grove_status gv_selector_from_node(grove_env *env, const grove_node *selector, gv_selector **out,
                                   grove_error *err);
void gv_selector_free(gv_selector *s);
/* labels: an object node or NULL. */
bool gv_selector_matches(const gv_selector *s, const grove_node *labels);
/* The same over labels kept in another way: the value of `key`, or {NULL, 0} when absent. */
typedef gv_str (*gv_label_lookup)(const void *ctx, gv_str key);
bool gv_selector_matches_by(const gv_selector *s, gv_label_lookup lookup, const void *ctx);
/* The string form, keys sorted ("" for everything). GROVE_E_UNSUPPORTED when it selects nothing. */
grove_status gv_selector_format(const gv_selector *s, grove_buf *buf);

#endif
