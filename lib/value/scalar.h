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

/* "a=b,c!=d,e in (x,y),!f" and the LabelSelector object form. */
typedef struct gv_selector gv_selector;
grove_status gv_selector_parse(grove_env *env, gv_str text, gv_selector **out, grove_error *err);
grove_status gv_selector_from_node(grove_env *env, const grove_node *selector, gv_selector **out,
                                   grove_error *err);
void gv_selector_free(gv_selector *s);
/* labels: an object node or NULL. */
bool gv_selector_matches(const gv_selector *s, const grove_node *labels);

#endif
