/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of events.k8s.io: the first of its kind about an object is created, further ones are counted in
 * its series, and not more often than every few minutes. What went well is of one kind by its reason, whatever its
 * note (a Lease apart): a clique that gets ten pods tells of the first, and not ten times; every ten minutes one
 * is told anew.
 * Best effort: nothing is retried for long.
 */
#include <stdio.h>
#include <string.h>

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include "backend.h"

#define NOTE_LIMIT 1024
#define WORD_LIMIT 128
#define REPEAT_PERIOD \
    (360 * GV_K8S_SECOND)                  /* between two writes of one series, from the third on */
#define ALIKE_PERIOD (600 * GV_K8S_SECOND) /* for so long what went well is told in one event */
#define GROUP "/apis/events.k8s.io/v1/namespaces/"

typedef struct telling {
    const char *type, *reason, *note, *action, *controller, *ns;
} telling;

/* Cut at a character, not in it. */
static void put_cut(grove_builder *b, const char *key, const char *text, size_t limit) {
    size_t n = strlen(text);
    if (n > limit) {
        n = limit;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) {
            n--;
        }
    }
    grove_builder_stringn(b, key, text, n);
}

static void build(grove_builder *b, const grove_op *op, const telling *t, const char *name) {
    char version[96];
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "events.k8s.io/v1");
    grove_builder_string(b, "kind", "Event");
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", name);
    grove_builder_string(b, "namespace", t->ns);
    grove_builder_close(b);
    grove_builder_string(b, "reportingController", t->controller);
    grove_builder_string(b, "reportingInstance", t->controller);
    put_cut(b, "action", t->action, WORD_LIMIT);
    put_cut(b, "reason", t->reason, WORD_LIMIT);
    put_cut(b, "note", t->note, NOTE_LIMIT);
    grove_builder_string(b, "type", t->type);
    grove_builder_open_object(b, "regarding");
    grove_builder_string(b, "apiVersion", gv_k8s_api_version(op->kind, version));
    grove_builder_string(b, "kind", grove_kind_name(op->kind));
    if (grove_kind_is_namespaced(op->kind)) {
        grove_builder_string(b, "namespace", t->ns);
    }
    grove_builder_string(b, "name", op->name);
    if (!gv_k8s_empty(op->uid)) {
        grove_builder_string(b, "uid", op->uid);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static grove_status write_body(gv_k8s *k, const grove_op *op, const telling *t, const char *name,
                               grove_buf *out) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(k->env, &b);
    if (st == GROVE_OK) {
        build(b, op, t, name);
        st = grove_builder_finish(b, &doc, NULL);
        grove_builder_free(b);
    }
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, out, NULL);
    grove_doc_unref(doc);
    return st;
}

static grove_status write_paths(gv_k8s_event *e, const telling *t, const char *name, bool dry) {
    grove_buf *paths[2] = {&e->create_path, &e->count_path};
    grove_status st = GROVE_OK;
    for (int i = 0; i < 2 && st == GROVE_OK; i++) {
        st = gv_k8s_put(paths[i], GROUP);
        st = st < 0 ? st : gv_k8s_put_escaped(paths[i], t->ns);
        st = st < 0 ? st : gv_k8s_put(paths[i], "/events");
        if (i == 1) {
            st = st < 0 ? st : gv_k8s_put(paths[i], "/");
            st = st < 0 ? st : gv_k8s_put_escaped(paths[i], name);
        }
        st = st < 0 ? st : gv_k8s_put_query(paths[i], "fieldManager", t->controller);
        st = st < 0 || !dry ? st : gv_k8s_put_query(paths[i], "dryRun", "All");
    }
    return st;
}

grove_status gv_k8s_compile_event(gv_k8s *k, const grove_op *op, gv_k8s_call *call,
                                  grove_error *err) {
    const grove_node *body = op->body ? op->body : grove_doc_root(op->body_doc);
    telling t = {gv_k8s_member(body, "type"),
                 gv_k8s_member(body, "reason"),
                 gv_k8s_member(body, "note"),
                 gv_k8s_member(body, "action"),
                 op->manager ? op->manager : k->manager,
                 "default"};
    if (gv_k8s_empty(t.reason)) {
        return grove_error_set(err, GROVE_E_INVALID, "an event needs a reason");
    }
    t.type = gv_k8s_empty(t.type) ? "Normal" : t.type;
    t.note = t.note ? t.note : "";
    t.action = gv_k8s_empty(t.action) ? t.reason : t.action;
    if (grove_kind_is_namespaced(op->kind)) {
        t.ns = gv_k8s_empty(op->ns) ? k->access.ns : op->ns;
    }
    gv_k8s_event *e = grove_memory_alloc(k->env, sizeof *e);
    if (!e) {
        return gv_k8s_nomem(err);
    }
    call->event = e;
    grove_buf_init(&e->body, k->env);
    grove_buf_init(&e->create_path, k->env);
    grove_buf_init(&e->count_path, k->env);
    e->hash = gv_k8s_hash(gv_k8s_hash(gv_k8s_hash(7, t.ns), op->uid ? op->uid : op->name), t.type);
    char period[32];
    (void)snprintf(period, sizeof period, "%lld", (long long)(k->now / ALIKE_PERIOD));
    /* Who leads began, and stopped, under one reason: only the note tells which. */
    bool well = strcmp(t.type, "Normal") == 0 && op->kind != GROVE_KIND_LEASE;
    e->hash = gv_k8s_hash(gv_k8s_hash(e->hash, t.reason), well ? period : t.note);
    char name[300];
    (void)snprintf(name, sizeof name, "%.230s.%016llx", op->name, (unsigned long long)e->hash);
    call->object = e->hash | 1;
    call->content_type = "application/json";
    grove_status st = write_body(k, op, &t, name, &e->body);
    st = st < 0 ? st : write_paths(e, &t, name, (op->flags & GROVE_OP_DRY_RUN) != 0);
    return st < 0 ? gv_k8s_nomem(err) : st;
}

static gv_k8s_seen *slot(gv_k8s *k, const gv_k8s_call *call) {
    return &k->seen[call->event->hash % GV_K8S_SEEN];
}

static grove_status use(gv_k8s_call *call, const char *method, const char *type,
                        const grove_buf *path) {
    call->method = method;
    call->content_type = type;
    grove_buf_clear(&call->path);
    grove_buf_clear(&call->body);
    return grove_buf_append(&call->path, path->data, (size_t)path->len);
}

grove_status gv_k8s_event_prepare(gv_k8s *k, gv_k8s_call *call, bool *out_send) {
    gv_k8s_event *e = call->event;
    gv_k8s_seen *s = slot(k, call);
    char when[32];
    gv_k8s_time_write(k->now, when);
    bool known = s->hash == e->hash;
    *out_send = true;
    if (!known && !call->counts) {
        grove_status st = use(call, "POST", "application/json", &e->create_path);
        st = st < 0 ? st : gv_k8s_putf(&call->body, "{\"eventTime\":\"%s\",", when);
        return st < 0 ? st
                      : grove_buf_append(&call->body, e->body.data + 1, (size_t)e->body.len - 1);
    }
    uint32_t count = known ? s->count + 1 : 2;
    if (known && count > 2 && k->now - s->told_at < REPEAT_PERIOD) {
        s->count = count; /* told with the next one */
        *out_send = false;
        return GROVE_OK;
    }
    call->counts = true;
    grove_status st = use(call, "PATCH", "application/merge-patch+json", &e->count_path);
    return st < 0
               ? st
               : gv_k8s_putf(&call->body, "{\"series\":{\"count\":%u,\"lastObservedTime\":\"%s\"}}",
                             count, when);
}

bool gv_k8s_event_answered(gv_k8s *k, gv_k8s_call *call) {
    gv_k8s_seen *s = slot(k, call);
    grove_status st = call->verdict.status;
    bool known = s->hash == call->event->hash;
    if (st == GROVE_OK && (call->flags & GROVE_OP_DRY_RUN) == 0) {
        *s = (gv_k8s_seen){call->event->hash, k->now, known ? s->count + 1 : call->counts ? 2 : 1};
    } else if (st == GROVE_E_EXISTS && !call->counts) {
        call->counts = true; /* told before this process began */
        return true;
    } else if (st == GROVE_E_NOT_FOUND && call->counts && known) {
        *s = (gv_k8s_seen){0}; /* the server has forgotten it */
        call->counts = false;
        return true;
    }
    return false;
}

void gv_k8s_event_free(gv_k8s *k, gv_k8s_event *e) {
    if (e) {
        grove_buf_fini(&e->body);
        grove_buf_fini(&e->create_path);
        grove_buf_fini(&e->count_path);
        grove_memory_free(k->env, e, sizeof *e);
    }
}
