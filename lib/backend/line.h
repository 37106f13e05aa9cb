/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a recording, one JSON object each. Calls: {"submit":OP,"status":N}, {"cancel":TOKEN,...},
 * {"watch":WATCH,...}, {"control":CODE,...}, {"process":{"now","budget"}} ... {"processed":{"status",
 * "deadline"}}. Between the last two, deliveries: {"completion":{...}}, {"event":{...}}, each followed by
 * {"failed":STATUS} when the sink did not take it.
 */
#ifndef GV_BACKEND_LINE_H
#define GV_BACKEND_LINE_H

#include <grove/sys/backend.h>

/* Each appends the line without its newline. */
/* The first line: {"recording":{"version":1,"caps":N}} */
grove_status gv_line_head(grove_builder *b, uint32_t caps, grove_buf *out);
grove_status gv_line_submit(grove_builder *b, const grove_op *op, grove_buf *out);
grove_status gv_line_watch(grove_builder *b, const grove_watch *w, grove_buf *out);
grove_status gv_line_cancel(grove_builder *b, uint64_t token, grove_buf *out);
grove_status gv_line_control(grove_builder *b, grove_control what, grove_buf *out);
grove_status gv_line_process(grove_builder *b, int64_t now, uint32_t budget, grove_buf *out);
grove_status gv_line_completion(grove_builder *b, const grove_completion *c, grove_buf *out);
grove_status gv_line_event(grove_builder *b, const grove_event *e, grove_buf *out);
/* {"status":N} or {"failed":N} */
grove_status gv_line_number(grove_builder *b, const char *key, int64_t n, grove_buf *out);
grove_status gv_line_processed(grove_builder *b, grove_status status, int64_t deadline,
                               grove_buf *out);

/* Reads what a recorded delivery said; texts and nodes are borrowed from `line`. */
void gv_line_read_completion(grove_doc *line, const grove_node *said, grove_completion *out);
void gv_line_read_event(grove_doc *line, const grove_node *said, grove_event *out);

#endif
