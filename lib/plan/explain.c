/* SPDX-License-Identifier: Apache-2.0 */
/* A plan told to people and programs: what would be done, and what waits for what, until when. */
#include "plan/plan.h"
#include "value/scalar.h"

static grove_status put_time(grove_builder *b, const char *key, int64_t ns, grove_buf *scratch) {
    if (ns == GROVE_NEVER || ns == INT64_MIN) {
        return GROVE_OK;
    }
    grove_buf_clear(scratch);
    grove_status status = gv_microtime_format(ns, scratch);
    if (status == GROVE_OK) {
        grove_builder_stringn(b, key, scratch->data, (size_t)scratch->len);
    }
    return status;
}

static const char *kind_name(grove_kind kind) {
    const gv_kind_info *info = gv_kind_get((gv_kind)kind);
    return info ? info->name : "";
}

static void put_text(grove_builder *b, const char *key, const char *text) {
    if (text[0] != '\0') {
        grove_builder_string(b, key, text);
    }
}

static void put_action(grove_builder *b, const grove_action *a) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "verb", grove_verb_name(a->verb));
    grove_builder_string(b, "apiVersion", a->api_version);
    grove_builder_string(b, "kind", a->kind_name);
    put_text(b, "namespace", a->ns);
    grove_builder_string(b, "name", a->name);
    if (a->subresource == GROVE_SUBRESOURCE_STATUS) {
        grove_builder_string(b, "subresource", "status");
    } else if (a->subresource == GROVE_SUBRESOURCE_SCALE) {
        grove_builder_string(b, "subresource", "scale");
    }
    put_text(b, "uid", a->uid);
    put_text(b, "resourceVersion", a->resource_version);
    put_text(b, "patchType",
             a->patch_type == GROVE_PATCH_MERGE       ? "merge"
             : a->patch_type == GROVE_PATCH_JSON      ? "json"
             : a->patch_type == GROVE_PATCH_STRATEGIC ? "strategic"
                                                      : "");
    put_text(b, "node", a->node);
    grove_builder_string(b, "reason", a->reason);
    grove_builder_string(b, "message", a->text);
    if (a->body != NULL) {
        grove_builder_link(b, "body", a->body, grove_doc_root(a->body));
    }
    grove_builder_close(b);
}

grove_status gv_wait_put(grove_builder *b, const grove_wait *w, grove_buf *scratch) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", kind_name(w->kind));
    grove_builder_string(b, "name", w->name);
    grove_builder_string(b, "reason", w->reason);
    if (w->for_kind != GROVE_KIND_NONE || w->for_name[0] != '\0') {
        grove_builder_open_object(b, "waitsFor");
        put_text(b, "kind", kind_name(w->for_kind));
        put_text(b, "name", w->for_name);
        grove_builder_close(b);
    }
    grove_builder_string(b, "message", w->text);
    grove_status status = put_time(b, "since", w->since_ns, scratch);
    status = status < 0 ? status : put_time(b, "deadline", w->deadline_ns, scratch);
    grove_builder_close(b);
    return status;
}

grove_status grove_plan_write_json(const grove_plan *plan, uint32_t flags, grove_buf *buf,
                                   grove_error *err) {
    if (plan == NULL || buf == NULL) {
        return gv_error(err, GROVE_E_INVALID, "plan and buffer are required");
    }
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_buf scratch;
    grove_status status = grove_builder_new(buf->env, &b);
    if (status < 0) {
        return gv_error(err, status, "out of memory");
    }
    grove_buf_init(&scratch, buf->env);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "libgrove.io/v1alpha1");
    grove_builder_string(b, "kind", "Plan");
    grove_builder_open_array(b, "actions");
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        put_action(b, grove_plan_action(plan, i));
    }
    grove_builder_close(b);
    grove_builder_open_array(b, "waits");
    for (uint32_t i = 0; i < grove_plan_waits(plan) && status == GROVE_OK; i++) {
        status = gv_wait_put(b, grove_plan_wait(plan, i), &scratch);
    }
    grove_builder_close(b);
    status = status < 0 ? status : put_time(b, "deadline", grove_plan_deadline(plan), &scratch);
    grove_builder_close(b);
    if (status < 0) {
        (void)gv_error(err, status, "a time of the plan could not be written");
    } else {
        status = grove_builder_finish(b, &doc, err);
    }
    if (status == GROVE_OK) {
        status = grove_node_write_json(grove_doc_root(doc), flags, buf, err);
    }
    grove_doc_unref(doc);
    grove_builder_free(b);
    grove_buf_fini(&scratch);
    return status;
}

/* ---- text ---- */

static grove_status put_span(grove_buf *buf, const char *before, int64_t ns) {
    grove_status status = gv_buf_c(buf, before);
    /* Whole seconds, rounded up: nobody plans in nanoseconds. */
    int64_t s = ns <= 0 ? 0 : (ns - 1) / INT64_C(1000000000) + 1;
    return status < 0 ? status : gv_duration_format(s * INT64_C(1000000000), buf);
}

grove_status gv_wait_write(const grove_wait *w, int64_t now, grove_buf *buf) {
    grove_status status = gv_buf_fmt(buf, "%s %s waits: %s\n  %s\n", kind_name(w->kind), w->name,
                                     w->reason, w->text);
    if (status == GROVE_OK && w->for_kind != GROVE_KIND_NONE) {
        status = gv_buf_fmt(buf, "  for: %s%s%s\n", kind_name(w->for_kind),
                            w->for_name[0] ? " " : "", w->for_name);
    }
    if (status == GROVE_OK && w->since_ns != INT64_MIN) {
        status = put_span(buf, "  since: ", now - w->since_ns);
        status = status < 0 ? status : gv_buf_c(buf, " ago\n");
    }
    if (status == GROVE_OK && w->deadline_ns != GROVE_NEVER) {
        status = put_span(buf, "  at the latest in: ", w->deadline_ns - now);
        status = status < 0 ? status : gv_buf_char(buf, '\n');
    }
    return status;
}

grove_status grove_plan_explain(const grove_plan *plan, grove_kind kind, const char *name,
                                int64_t now_ns, grove_buf *buf, grove_error *err) {
    if (plan == NULL || buf == NULL) {
        return gv_error(err, GROVE_E_INVALID, "plan and buffer are required");
    }
    for (uint32_t i = 0; i < grove_plan_waits(plan); i++) {
        const grove_wait *w = grove_plan_wait(plan, i);
        bool asked = kind == GROVE_KIND_NONE ||
                     (w->kind == kind && (name == NULL || strcmp(name, w->name) == 0));
        grove_status status = asked ? gv_wait_write(w, now_ns, buf) : GROVE_OK;
        if (status < 0) {
            return gv_error(err, status, "the explanation could not be written");
        }
    }
    return GROVE_OK;
}
