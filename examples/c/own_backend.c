/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend of one's own: a cluster that is an array of documents. It claims what it can (status apart from the
 * rest, determinism) and passes the conformance kit for that:
 *
 *     own_backend        runs the kit and prints what failed
 *
 * Everything is data: operations are queued by submit and carried out by process, which alone delivers. Objects are
 * changed by merge patches made of text, which is all the JSON this program ever writes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/conformance.h>
#include <grove/sys/util.h>

#define MAX 512

typedef struct entry {
    grove_kind kind;
    char ns[64], name[128];
    grove_doc *doc; /* NULL: a free place */
} entry;

/* An answer: HTTP code, status, reason, and the object. */
typedef struct answer {
    grove_status status;
    int32_t http;
    const char *reason;
    grove_doc *doc; /* owned */
} answer;

/* What was asked for, copied: the caller's texts may go at once. */
typedef struct asked {
    grove_op op;
    char ns[64], name[128], uid[64], version[32], target[64];
    int carried_out;
    answer done; /* kept until the sink has taken it */
} asked;

typedef struct told {
    uint64_t token;
    grove_kind kind;
    grove_event_type type;
    char version[32];
    grove_doc *doc;
} told;

typedef struct cluster {
    grove_env *env;
    entry objects[MAX];
    asked queue[MAX];
    told events[MAX];
    struct {
        uint64_t token;
        grove_kind kind;
        char ns[64];
    } watches[32];
    uint32_t n_queue, n_events, n_watches;
    int version;
} cluster;

static const answer not_found = {GROVE_E_NOT_FOUND, 404, "NotFound", NULL};
static const answer conflict = {GROVE_E_CONFLICT, 409, "Conflict", NULL};
static const answer refused = {GROVE_E_REFUSED, 422, "Invalid", NULL};
static const answer bad_request = {GROVE_E_REFUSED, 400, "BadRequest", NULL};
static const answer no_memory = {GROVE_E_NOMEM, 0, "", NULL};

static void copy(char *to, size_t cap, const char *from) {
    snprintf(to, cap, "%s", from ? from : "");
}

static const char *text_at(const grove_doc *doc, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(grove_doc_root(doc), pointer));
    return text ? text : "";
}

static uint32_t size_at(const grove_doc *doc, const char *pointer) {
    return grove_node_size(grove_node_at_path(grove_doc_root(doc), pointer));
}

/* `doc` changed by a merge patch that printf makes; the reference moves. NULL: it could not be made. */
static grove_doc *with(grove_env *env, grove_doc *doc, const char *format, ...) {
    char text[1024];
    grove_doc *patch = NULL, *out = NULL;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (doc && n > 0 && (size_t)n < sizeof text &&
        grove_doc_parse_json(env, text, (size_t)n, 0, &patch, NULL) == GROVE_OK) {
        (void)grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &out,
                                      NULL);
    }
    grove_doc_unref(patch);
    grove_doc_unref(doc);
    return out;
}

static entry *find(cluster *c, grove_kind kind, const char *ns, const char *name) {
    for (int i = 0; i < MAX; i++) {
        entry *e = &c->objects[i];
        if (e->doc && e->kind == kind && strcmp(e->ns, ns) == 0 && strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

static void tell(cluster *c, uint64_t token, grove_kind kind, grove_event_type type,
                 grove_doc *doc) {
    if (c->n_events < MAX) {
        told *t = &c->events[c->n_events++];
        *t = (told){token, kind, type, "", doc ? grove_doc_ref(doc) : NULL};
        snprintf(t->version, sizeof t->version, "%d", c->version);
    }
}

/* Stores what `e` shall be from now on (the reference moves) and tells the watches. */
static answer store(cluster *c, entry *e, grove_event_type type, grove_doc *doc, int32_t http) {
    doc = with(c->env, doc, "{\"metadata\":{\"resourceVersion\":\"%d\"}}", ++c->version);
    if (!doc) {
        return no_memory;
    }
    grove_doc_unref(e->doc);
    e->doc = type == GROVE_EVENT_DELETED ? NULL : grove_doc_ref(doc);
    for (uint32_t i = 0; i < c->n_watches; i++) {
        if (c->watches[i].kind == e->kind &&
            (!c->watches[i].ns[0] || strcmp(c->watches[i].ns, e->ns) == 0)) {
            tell(c, c->watches[i].token, e->kind, type, doc);
        }
    }
    return (answer){GROVE_OK, http, "", doc};
}

/* ---- verbs ---- */

static int valid_name(const char *name) {
    return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.:") == strlen(name);
}

static answer create(cluster *c, const asked *a) {
    const grove_op *op = &a->op;
    grove_doc *doc = grove_doc_ref(op->body_doc);
    const char *kind = grove_kind_name(op->kind), *given = text_at(doc, "/kind");
    char name[128];
    copy(name, sizeof name, text_at(doc, "/metadata/name"));
    if (!name[0] && text_at(doc, "/metadata/generateName")[0]) {
        snprintf(name, sizeof name, "%s%05d", text_at(doc, "/metadata/generateName"), c->version);
    }
    entry *e = c->objects;
    while (e < c->objects + MAX && e->doc) {
        e++;
    }
    const answer *no = NULL;
    if (given[0] && strcmp(given, kind) != 0) {
        no = &bad_request;
    } else if (!valid_name(name) || e == c->objects + MAX) {
        no = &refused;
    } else if (a->ns[0] && !find(c, GROVE_KIND_NAMESPACE, "", a->ns)) {
        no = &not_found;
    } else if (find(c, op->kind, a->ns, name)) {
        grove_doc_unref(doc);
        return (answer){GROVE_E_EXISTS, 409, "AlreadyExists", NULL};
    }
    if (no) {
        grove_doc_unref(doc);
        return *no;
    }
    const char *group = grove_kind_group(op->kind);
    doc = with(c->env, doc,
               "{\"apiVersion\":\"%s%s%s\",\"kind\":\"%s\",\"status\":null,\"metadata\":{\"name\":"
               "\"%s\",\"uid\":"
               "\"00000000-0000-0000-0000-%012d\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
               "\"generation\":1}}",
               group, group[0] ? "/" : "", grove_kind_version(op->kind), kind, name,
               c->version + 1);
    if (a->ns[0]) {
        doc = with(c->env, doc, "{\"metadata\":{\"namespace\":\"%s\"}}", a->ns);
    }
    if (op->kind == GROVE_KIND_POD) {
        int gated = size_at(doc, "/spec/schedulingGates") > 0;
        doc = with(c->env, doc, "{\"status\":{\"phase\":\"Pending\"%s}}",
                   gated ? ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
                           "\"reason\":\"SchedulingGated\"}]"
                         : "");
    }
    e->kind = op->kind;
    copy(e->ns, sizeof e->ns, a->ns);
    copy(e->name, sizeof e->name, name);
    return store(c, e, GROVE_EVENT_ADDED, doc, 201);
}

static int same(const grove_doc *a, const grove_doc *b, const char *pointer) {
    const grove_node *x = grove_node_at_path(grove_doc_root(a), pointer);
    const grove_node *y = grove_node_at_path(grove_doc_root(b), pointer);
    return x == y || (x && y && grove_node_equal(x, y));
}

/* What an update must not do; NULL when it may. */
static const answer *forbidden(const entry *e, const grove_doc *after) {
    if (!same(e->doc, after, "/metadata/name") || !same(e->doc, after, "/metadata/uid")) {
        return &bad_request;
    }
    if (!same(e->doc, after, "/metadata/resourceVersion")) {
        return &conflict;
    }
    if (text_at(e->doc, "/metadata/deletionTimestamp")[0] &&
        size_at(after, "/metadata/finalizers") > size_at(e->doc, "/metadata/finalizers")) {
        return &refused;
    }
    int pod_kept = same(e->doc, after, "/spec/nodeName") &&
                   same(e->doc, after, "/spec/schedulerName") &&
                   size_at(after, "/spec/schedulingGates") <=
                       size_at(e->doc, "/spec/schedulingGates");
    return e->kind == GROVE_KIND_POD && !pod_kept ? &refused : NULL;
}

/* `to` with the member `key` of `from`: status and all else are written apart. */
static grove_doc *member_of(grove_env *env, grove_doc *to, grove_doc *from, const char *key) {
    grove_builder *b = NULL;
    grove_doc *out = NULL;
    if (grove_builder_new(env, &b) == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        const grove_node *root = grove_doc_root(to),
                         *member = grove_node_get(grove_doc_root(from), key);
        for (const grove_node *m = grove_node_first(root); m; m = grove_node_next(root, m)) {
            if (strcmp(grove_node_key(m, NULL), key) != 0) {
                grove_builder_link(b, grove_node_key(m, NULL), to, m);
            }
        }
        if (member) {
            grove_builder_link(b, key, from, member);
        }
        grove_builder_close(b);
        (void)grove_builder_finish(b, &out, NULL);
    }
    grove_builder_free(b);
    return out;
}

static answer update(cluster *c, entry *e, grove_doc *wanted, grove_subresource subresource) {
    const answer *no = forbidden(e, wanted);
    grove_doc *after = NULL;
    if (!no) {
        after = subresource == GROVE_SUBRESOURCE_STATUS
                    ? member_of(c->env, e->doc, wanted, "status")
                    : member_of(c->env, wanted, e->doc, "status");
    }
    grove_doc_unref(wanted);
    if (no || !after) {
        return no ? *no : no_memory;
    }
    if (same(e->doc, after, "")) {
        grove_doc_unref(after);
        return (answer){GROVE_OK, 200, "", grove_doc_ref(e->doc)};
    }
    int64_t generation = 0;
    (void)grove_node_int64(grove_node_at_path(grove_doc_root(after), "/metadata/generation"),
                           &generation);
    if (!same(e->doc, after, "/spec")) {
        after = with(c->env, after, "{\"metadata\":{\"generation\":%lld}}",
                     (long long)generation + 1);
    }
    int ends = text_at(after, "/metadata/deletionTimestamp")[0] &&
               size_at(after, "/metadata/finalizers") == 0;
    return store(c, e, ends ? GROVE_EVENT_DELETED : GROVE_EVENT_MODIFIED, after, 200);
}

static answer patch(cluster *c, entry *e, const grove_op *op) {
    const grove_node *body = op->body ? op->body : grove_doc_root(op->body_doc);
    grove_doc *after = NULL;
    grove_status (*apply)(grove_doc *, const grove_node *, grove_doc *, const grove_node *,
                          grove_doc **, grove_error *) = op->patch_type == GROVE_PATCH_JSON
                                                             ? grove_json_patch_apply
                                                             : grove_merge_patch_apply;
    if (apply(e->doc, grove_doc_root(e->doc), op->body_doc, body, &after, NULL) < 0) {
        return refused;
    }
    return update(c, e, after, op->subresource);
}

static answer delete_object(cluster *c, entry *e) {
    if (size_at(e->doc, "/metadata/finalizers") == 0) {
        return store(c, e, GROVE_EVENT_DELETED, grove_doc_ref(e->doc), 200);
    }
    if (text_at(e->doc, "/metadata/deletionTimestamp")[0]) {
        return (answer){GROVE_OK, 200, "", grove_doc_ref(e->doc)};
    }
    grove_doc *marked = with(c->env, grove_doc_ref(e->doc),
                             "{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
    return store(c, e, GROVE_EVENT_MODIFIED, marked, 200);
}

static answer bind_pod(cluster *c, entry *e, const asked *a) {
    if (size_at(e->doc, "/spec/schedulingGates") > 0 || text_at(e->doc, "/spec/nodeName")[0]) {
        return conflict;
    }
    grove_doc *bound = with(c->env, grove_doc_ref(e->doc), "{\"spec\":{\"nodeName\":\"%s\"}}",
                            a->target);
    answer done = store(c, e, GROVE_EVENT_MODIFIED, bound, 201);
    grove_doc_unref(done.doc);
    done.doc = NULL;
    return done;
}

static answer carry_out(cluster *c, const asked *a) {
    const grove_op *op = &a->op;
    if (op->verb == GROVE_VERB_CREATE) {
        return create(c, a);
    }
    if (op->verb == GROVE_VERB_EVENT) {
        return (answer){GROVE_OK, 201, "", NULL};
    }
    entry *e = find(c, op->kind, a->ns, a->name);
    if (!e) {
        return not_found;
    }
    if ((a->uid[0] && strcmp(a->uid, text_at(e->doc, "/metadata/uid")) != 0) ||
        (a->version[0] && strcmp(a->version, text_at(e->doc, "/metadata/resourceVersion")) != 0)) {
        return conflict;
    }
    switch (op->verb) {
    case GROVE_VERB_GET:
        return (answer){GROVE_OK, 200, "", grove_doc_ref(e->doc)};
    case GROVE_VERB_PATCH:
        return patch(c, e, op);
    case GROVE_VERB_DELETE:
        return delete_object(c, e);
    case GROVE_VERB_BIND:
        return bind_pod(c, e, a);
    default:
        return (answer){GROVE_E_UNSUPPORTED, 405, "MethodNotAllowed", NULL};
    }
}

/* ---- the seven functions ---- */

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    cluster *c = impl;
    if (op->size < sizeof *op || op->token == 0 || op->verb <= 0 || op->verb >= GROVE_VERB_COUNT) {
        return grove_error_set(err, GROVE_E_INVALID, "not an operation");
    }
    if (c->n_queue == MAX) {
        return grove_error_set(err, GROVE_E_LIMIT, "the queue is full");
    }
    asked *a = &c->queue[c->n_queue++];
    memset(a, 0, sizeof *a);
    a->op = *op;
    copy(a->ns, sizeof a->ns, op->ns);
    copy(a->name, sizeof a->name, op->name);
    copy(a->uid, sizeof a->uid, op->uid);
    copy(a->version, sizeof a->version, op->resource_version);
    copy(a->target, sizeof a->target, op->target);
    if (op->body_doc) {
        grove_doc_ref(op->body_doc);
    }
    return GROVE_OK;
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    cluster *c = impl;
    for (uint32_t i = 0; i < c->n_queue; i++) {
        if (c->queue[i].op.token == token) {
            c->queue[i].done = (answer){GROVE_E_CANCELLED, 0, "", NULL};
            c->queue[i].carried_out = 1;
            return GROVE_OK;
        }
    }
    for (uint32_t i = 0; i < c->n_watches; i++) {
        if (c->watches[i].token == token) {
            c->watches[i] = c->watches[--c->n_watches];
            return GROVE_OK;
        }
    }
    return grove_error_set(err, GROVE_E_NOT_FOUND, "no such token");
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    cluster *c = impl;
    if (c->n_watches == sizeof c->watches / sizeof c->watches[0] || w->token == 0) {
        return grove_error_set(err, GROVE_E_INVALID, "no token, or too many watches");
    }
    c->watches[c->n_watches].token = w->token;
    c->watches[c->n_watches].kind = w->kind;
    copy(c->watches[c->n_watches++].ns, sizeof c->watches[0].ns, w->ns);
    for (int i = 0; i < MAX; i++) {
        const entry *e = &c->objects[i];
        if (e->doc && e->kind == w->kind && (!w->ns || !w->ns[0] || strcmp(w->ns, e->ns) == 0)) {
            tell(c, w->token, w->kind, GROVE_EVENT_ADDED, e->doc);
        }
    }
    tell(c, w->token, w->kind, GROVE_EVENT_SYNCED, NULL);
    return GROVE_OK;
}

static void forget_first(cluster *c) {
    grove_doc_unref(c->queue[0].done.doc);
    grove_doc_unref(c->queue[0].op.body_doc);
    memmove(c->queue, c->queue + 1, --c->n_queue * sizeof c->queue[0]);
}

/* What the sink does not take comes again: it is carried out once only. */
static grove_status reply(cluster *c, const grove_sink *sink) {
    asked *a = &c->queue[0];
    if (!a->carried_out) {
        a->done = carry_out(c, a);
        a->carried_out = 1;
    }
    grove_completion completion = {0};
    completion.size = sizeof completion;
    completion.status = a->done.status;
    completion.token = a->op.token;
    completion.http = a->done.http;
    completion.reason = a->done.reason;
    completion.message = "";
    completion.object_doc = a->done.doc;
    completion.object = a->done.doc ? grove_doc_root(a->done.doc) : NULL;
    grove_status st = GROVE_OK;
    if (!(a->op.flags & GROVE_OP_NO_REPLY)) {
        st = sink->completion(sink->ctx, &completion);
    }
    if (st == GROVE_OK) {
        forget_first(c);
    }
    return st;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    cluster *c = impl;
    uint32_t left = budget ? budget : UINT32_MAX;
    (void)err;
    for (; left > 0 && c->n_queue > 0; left--) {
        grove_status st = reply(c, sink);
        if (st < 0) {
            return st;
        }
    }
    for (; left > 0 && c->n_events > 0; left--) {
        told *t = &c->events[0];
        grove_event event = {sizeof event,
                             t->type,
                             t->token,
                             t->kind,
                             0,
                             t->doc,
                             t->doc ? grove_doc_root(t->doc) : NULL,
                             t->version};
        grove_status st = sink->event(sink->ctx, &event);
        if (st < 0) {
            return st;
        }
        grove_doc_unref(t->doc);
        memmove(c->events, c->events + 1, --c->n_events * sizeof c->events[0]);
    }
    *out_deadline = c->n_queue + c->n_events > 0 ? now : INT64_MAX;
    return GROVE_OK;
}

static void destroy(void *impl) {
    cluster *c = impl;
    while (c->n_queue > 0) {
        forget_first(c);
    }
    for (uint32_t i = 0; i < c->n_events; i++) {
        grove_doc_unref(c->events[i].doc);
    }
    for (int i = 0; i < MAX; i++) {
        grove_doc_unref(c->objects[i].doc);
    }
    grove_env_unref(c->env);
    free(c);
}

static const grove_backend_ops operations = {sizeof operations, 0,    submit, cancel, watch, NULL,
                                             process,           NULL, destroy};

static void report(void *ctx, const char *check, grove_check_result result, const char *message) {
    (void)ctx;
    if (result == GROVE_CHECK_FAILED) {
        printf("%s: %s\n", check, message);
    }
}

int main(void) {
    grove_env *env = NULL;
    cluster *c = calloc(1, sizeof *c);
    if (!c || grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    c->env = grove_env_ref(env);
    grove_backend backend = {sizeof backend, GROVE_CAP_STATUS | GROVE_CAP_DETERMINISTIC,
                             &operations, c};
    grove_conformance_options options = {0};
    options.size = sizeof options;
    options.report = report;
    grove_conformance_report counts = {sizeof counts, 0, 0, 0};
    grove_error err = GROVE_ERROR_INIT;
    if (grove_conformance_run(env, &backend, &options, &counts, &err) < 0) {
        printf("%s\n", err.message);
        counts.failed++;
    }
    printf("%u checks hold, %u do not, %u are not for it\n", counts.passed, counts.failed,
           counts.skipped);
    destroy(c);
    grove_env_unref(env);
    return counts.failed == 0 && counts.passed > 40 ? 0 : 1;
}
