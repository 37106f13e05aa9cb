/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings, line by line: writing them and reading deliveries back. */
#include "backend/line.h"

#include "backend/redact.h"
#include "model/kinds.h"
#include "value/doc.h"

/* ---- writing ---- */

static void text(grove_builder *b, const char *key, const char *value) {
    if (value && value[0]) {
        grove_builder_string(b, key, value);
    }
}

static void number(grove_builder *b, const char *key, int64_t value, int64_t absent) {
    if (value != absent) {
        grove_builder_int64(b, key, value);
    }
}

static void kind(grove_builder *b, grove_kind k) {
    const gv_kind_info *info = gv_kind_get((gv_kind)k);
    if (info) {
        char name[160], api_version[96];
        (void)gv_fmt(name, sizeof name, "%s/%s",
                     gv_kind_api_version(info->kind, api_version, sizeof api_version), info->name);
        grove_builder_string(b, "kind", name);
    }
}

static void object(grove_builder *b, const char *key, grove_kind k, grove_doc *doc,
                   const grove_node *node) {
    if (doc) {
        gv_redact_copy(b, key, k, node ? node : grove_doc_root(doc));
    }
}

static grove_status end(grove_builder *b, grove_buf *out) {
    grove_doc *doc = NULL;
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(doc), 0, out, NULL);
        grove_doc_unref(doc);
    }
    return st;
}

grove_status gv_line_head(grove_builder *b, uint32_t caps, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "recording");
    grove_builder_int64(b, "version", 1);
    grove_builder_int64(b, "caps", caps);
    grove_builder_close(b);
    return end(b, out);
}

grove_status gv_line_submit(grove_builder *b, const grove_op *op, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "submit");
    grove_builder_int64(b, "token", (int64_t)op->token);
    grove_builder_string(b, "verb", grove_verb_name(op->verb));
    kind(b, op->kind);
    text(b, "ns", op->ns);
    text(b, "name", op->name);
    number(b, "subresource", op->subresource, 0);
    number(b, "patchType", op->patch_type, 0);
    number(b, "propagation", op->propagation, 0);
    number(b, "flags", op->flags, 0);
    number(b, "limit", op->limit, 0);
    text(b, "uid", op->uid);
    text(b, "resourceVersion", op->resource_version);
    text(b, "target", op->target);
    text(b, "manager", op->manager);
    text(b, "reason", op->reason);
    text(b, "labelSelector", op->label_selector);
    text(b, "fieldSelector", op->field_selector);
    text(b, "position", op->position);
    if (op->verb == GROVE_VERB_DELETE || op->verb == GROVE_VERB_EVICT) {
        number(b, "graceSeconds", op->grace_seconds, GROVE_GRACE_DEFAULT);
    }
    if (op->verb == GROVE_VERB_SCALE) {
        grove_builder_int64(b, "replicas", op->replicas);
    }
    object(b, "body", op->kind, op->body_doc, op->body);
    grove_builder_close(b);
    return end(b, out);
}

grove_status gv_line_watch(grove_builder *b, const grove_watch *w, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "watch");
    grove_builder_int64(b, "token", (int64_t)w->token);
    kind(b, w->kind);
    text(b, "ns", w->ns);
    text(b, "labelSelector", w->label_selector);
    text(b, "fieldSelector", w->field_selector);
    text(b, "resourceVersion", w->resource_version);
    grove_builder_close(b);
    return end(b, out);
}

grove_status gv_line_number(grove_builder *b, const char *key, int64_t n, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_int64(b, key, n);
    return end(b, out);
}

grove_status gv_line_cancel(grove_builder *b, uint64_t token, grove_buf *out) {
    return gv_line_number(b, "cancel", (int64_t)token, out);
}

grove_status gv_line_control(grove_builder *b, grove_control what, grove_buf *out) {
    return gv_line_number(b, "control", what, out);
}

grove_status gv_line_process(grove_builder *b, int64_t now, uint32_t budget, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "process");
    grove_builder_int64(b, "now", now);
    number(b, "budget", budget, 0);
    grove_builder_close(b);
    return end(b, out);
}

grove_status gv_line_processed(grove_builder *b, grove_status status, int64_t deadline,
                               grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "processed");
    grove_builder_int64(b, "status", status);
    grove_builder_int64(b, "deadline", deadline);
    grove_builder_close(b);
    return end(b, out);
}

grove_status gv_line_completion(grove_builder *b, const grove_completion *c, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "completion");
    grove_builder_int64(b, "token", (int64_t)c->token);
    grove_builder_int64(b, "status", c->status);
    number(b, "http", c->http, 0);
    number(b, "flags", c->flags, 0);
    number(b, "retryAfterMs", c->retry_after_ms, 0);
    text(b, "reason", c->reason);
    text(b, "message", c->message);
    object(b, "object", GROVE_KIND_NONE, c->object_doc, c->object);
    grove_builder_close(b);
    return end(b, out);
}

static const char *const event_names[] = {"",         "ADDED",  "MODIFIED", "DELETED",
                                          "BOOKMARK", "SYNCED", "GONE"};

grove_status gv_line_event(grove_builder *b, const grove_event *e, grove_buf *out) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "event");
    grove_builder_string(b, "type", event_names[e->type]);
    grove_builder_int64(b, "token", (int64_t)e->token);
    kind(b, e->kind);
    text(b, "resourceVersion", e->resource_version);
    object(b, "object", e->kind, e->object_doc, e->object);
    grove_builder_close(b);
    return end(b, out);
}

/* ---- reading ---- */

void gv_line_read_completion(grove_doc *line, const grove_node *said, grove_completion *out) {
    grove_completion c = {(uint32_t)sizeof c};
    c.status = (grove_status)gv_node_get_int(said, "status", 0);
    c.token = (uint64_t)gv_node_get_int(said, "token", 0);
    c.http = (int32_t)gv_node_get_int(said, "http", 0);
    c.flags = (uint32_t)gv_node_get_int(said, "flags", 0);
    c.retry_after_ms = (uint32_t)gv_node_get_int(said, "retryAfterMs", 0);
    c.reason = gv_node_get_str(said, "reason").p;
    c.message = gv_node_get_str(said, "message").p;
    c.object = grove_node_get(said, "object");
    c.object_doc = c.object ? line : NULL;
    *out = c;
}

static grove_kind read_kind(gv_str said) {
    size_t slash = said.n;
    while (slash > 0 && said.p[slash - 1] != '/') {
        slash--;
    }
    if (slash == 0) {
        return GROVE_KIND_NONE;
    }
    return (grove_kind)gv_kind_find((gv_str){said.p, slash - 1},
                                    (gv_str){said.p + slash, said.n - slash});
}

void gv_line_read_event(grove_doc *line, const grove_node *said, grove_event *out) {
    grove_event e = {(uint32_t)sizeof e};
    gv_str type = gv_node_get_str(said, "type");
    for (grove_event_type t = GROVE_EVENT_ADDED; t <= GROVE_EVENT_GONE; t++) {
        if (gv_str_is(type, event_names[t])) {
            e.type = t;
        }
    }
    e.token = (uint64_t)gv_node_get_int(said, "token", 0);
    e.kind = read_kind(gv_node_get_str(said, "kind"));
    e.resource_version = gv_node_get_str(said, "resourceVersion").p;
    e.object = grove_node_get(said, "object");
    e.object_doc = e.object ? line : NULL;
    *out = e;
}
