/* SPDX-License-Identifier: Apache-2.0 */
/* Watches: lines of JSON, one an event, for as long as the client stays. */
#include "front/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INITIAL_END "k8s.io/initial-events-end"

struct gv_front_stream {
    uint64_t token;
    gv_front_shape shape;
    bool bookmarks;      /* allowWatchBookmarks */
    bool initial_events; /* sendInitialEvents: the end of the first list is a bookmark */
    bool told_columns;
    struct gv_front_stream *next;
};

static gv_front_stream **place_of(gv_front *front, uint64_t token) {
    gv_front_stream **at = &front->streams;
    while (*at && (*at)->token != token) {
        at = &(*at)->next;
    }
    return at;
}

static void forget(gv_front *front, uint64_t token) {
    gv_front_stream **at = place_of(front, token), *gone = *at;
    if (gone) {
        *at = gone->next;
        free(gone);
    }
}

void gv_front_streams_free(gv_front *front) {
    while (front->streams) {
        forget(front, front->streams->token);
    }
}

void gv_front_unwatch(gv_front *front, uint64_t watch) {
    if (*place_of(front, watch)) {
        (void)front->backend.ops->cancel(front->backend.impl, watch, NULL);
        forget(front, watch);
    }
}

grove_status gv_front_bookmark(gv_front *front, grove_error *err) {
    return front->backend.ops->control(front->backend.impl, GROVE_CONTROL_FLUSH, NULL, err);
}

void gv_front_forget(gv_front *front) {
    grove_sim_compact(front->sim);
}

/* ---- beginning ---- */

static grove_status begin(gv_front_call *c, gv_front_stream *s, grove_error *err) {
    gv_front *front = c->front;
    const char *version = gv_front_query_get(&c->query, "resourceVersion");
    bool from_start = !version || !version[0] || strcmp(version, "0") == 0 || s->initial_events;
    char selector[300];
    grove_watch watch = {.size = (uint32_t)sizeof watch,
                         .kind = c->route.kind,
                         .token = s->token,
                         .ns = c->route.ns,
                         .label_selector = gv_front_query_get(&c->query, "labelSelector"),
                         .field_selector = gv_front_query_get(&c->query, "fieldSelector"),
                         .resource_version = from_start ? NULL : version};
    if (c->route.name[0]) {
        (void)snprintf(selector, sizeof selector, "metadata.name=%.253s", c->route.name);
        watch.field_selector = selector;
    }
    return front->backend.ops->watch(front->backend.impl, &watch, err);
}

static gv_front_stream *stream_new(gv_front_call *c) {
    gv_front_stream *s = calloc(1, sizeof *s);
    const char *include = gv_front_query_get(&c->query, "includeObject");
    if (!s) {
        return NULL;
    }
    s->token = ++c->front->last_token;
    s->shape = (gv_front_shape){c->env, c->route.kind, c->form, 0, {0}};
    (void)snprintf(s->shape.include, sizeof s->shape.include, "%s", include ? include : "");
    s->bookmarks = gv_front_query_true(&c->query, "allowWatchBookmarks");
    s->initial_events = gv_front_query_true(&c->query, "sendInitialEvents");
    return s;
}

grove_status gv_front_watch(gv_front_call *c) {
    grove_error err = GROVE_ERROR_INIT;
    bool ok = true;
    grove_status st = gv_front_check_version(c, &ok);
    if (st < 0 || !ok) {
        return st;
    }
    gv_front_stream *s = stream_new(c);
    if (!s) {
        return GROVE_E_NOMEM;
    }
    st = begin(c, s, &err);
    if (st < 0) {
        free(s);
        return st == GROVE_E_NOMEM
                   ? st
                   : gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE, "%s", err.message);
    }
    const char *timeout = gv_front_query_get(&c->query, "timeoutSeconds");
    s->next = c->front->streams;
    c->front->streams = s;
    c->res->http = 200;
    c->res->watch = s->token;
    c->res->timeout_s = timeout ? strtoll(timeout, NULL, 10) : 0;
    return GROVE_OK;
}

/* ---- telling ---- */

typedef struct pump {
    gv_front *front;
    const gv_front_sink *sink;
} pump;

static void put_bookmark(const gv_front_stream *s, grove_builder *b, const grove_event *e) {
    char version[96];
    const char *group = grove_kind_group(s->shape.kind);
    (void)snprintf(version, sizeof version, "%s%s%s", group, group[0] ? "/" : "",
                   grove_kind_version(s->shape.kind));
    grove_builder_open_object(b, "object");
    grove_builder_string(b, "kind", grove_kind_name(s->shape.kind));
    grove_builder_string(b, "apiVersion", version);
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "resourceVersion", e->resource_version);
    if (e->type == GROVE_EVENT_SYNCED) {
        grove_builder_open_object(b, "annotations");
        grove_builder_string(b, INITIAL_END, "true");
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static void put_expired(grove_builder *b) {
    grove_builder_open_object(b, "object");
    grove_builder_string(b, "kind", "Status");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    grove_builder_string(b, "status", "Failure");
    grove_builder_string(b, "message", "too old resource version");
    grove_builder_string(b, "reason", "Expired");
    grove_builder_int64(b, "code", 410);
    grove_builder_close(b);
}

static const char *word_of(grove_event_type type) {
    switch (type) {
    case GROVE_EVENT_ADDED:
        return "ADDED";
    case GROVE_EVENT_MODIFIED:
        return "MODIFIED";
    case GROVE_EVENT_DELETED:
        return "DELETED";
    case GROVE_EVENT_GONE:
        return "ERROR";
    default:
        return "BOOKMARK";
    }
}

static grove_status put_event(gv_front_stream *s, grove_builder *b, const grove_event *e) {
    grove_status st = GROVE_OK;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "type", word_of(e->type));
    if (e->type == GROVE_EVENT_GONE) {
        put_expired(b);
    } else if (!e->object) {
        put_bookmark(s, b, e);
    } else {
        st = gv_front_shape_put(&s->shape, b, "object", e->object_doc, e->object, !s->told_columns);
    }
    grove_builder_close(b);
    return st;
}

static grove_status write_line(gv_front_stream *s, const grove_event *e, grove_buf *line) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(s->shape.env, &b);
    st = st < 0 ? st : put_event(s, b, e);
    st = st < 0 ? st : grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(doc), 0, line, NULL);
        st = st < 0 ? st : grove_buf_append(line, "\n", 1);
    }
    grove_doc_unref(doc);
    grove_builder_free(b);
    return st;
}

static bool wanted(const gv_front_stream *s, const grove_event *e) {
    return e->type == GROVE_EVENT_SYNCED     ? s->initial_events
           : e->type == GROVE_EVENT_BOOKMARK ? s->bookmarks
                                             : true;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    pump *p = ctx;
    gv_front_stream *s = *place_of(p->front, e->token);
    if (!s || !wanted(s, e)) {
        return GROVE_OK;
    }
    grove_buf line;
    grove_buf_init(&line, p->front->env);
    s->shape.now = grove_sim_now(p->front->sim);
    grove_status st = write_line(s, e, &line);
    if (st == GROVE_OK) {
        uint64_t token = s->token;
        s->told_columns = s->told_columns || e->object;
        p->sink->line(p->sink->ctx, token, line.data, (size_t)line.len);
        if (e->type == GROVE_EVENT_GONE) {
            forget(p->front, token);
            p->sink->end(p->sink->ctx, token);
        }
    }
    grove_buf_fini(&line);
    return st;
}

static grove_status on_completion(void *ctx, const grove_completion *completion) {
    (void)ctx;
    (void)completion; /* nothing is ever submitted */
    return GROVE_OK;
}

grove_status gv_front_pump(gv_front *front, const gv_front_sink *sink, grove_error *err) {
    pump p = {front, sink};
    grove_sink in = {
        .size = (uint32_t)sizeof in, .ctx = &p, .completion = on_completion, .event = on_event};
    int64_t deadline = 0;
    return front->backend.ops->process(front->backend.impl, grove_sim_now(front->sim), 0, &in,
                                       &deadline, err);
}
