/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as HTTP: method, path, query, body, for each verb. */
#include <stdio.h>
#include <string.h>

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include "backend.h"

#define JSON "application/json"

typedef struct work {
    gv_k8s *k;
    const grove_op *op;
    gv_k8s_call *call;
    const grove_node *body;
    const char *ns;
    grove_builder *b;
} work;

static const char *sub_of(const grove_op *op) {
    static const char *const words[] = {NULL, "status", "scale", "binding", "eviction"};
    return op->subresource >= 0 && op->subresource <= 4 ? words[op->subresource] : NULL;
}

/* ---- bodies ---- */

static void preconditions(const work *w) {
    if (!gv_k8s_empty(w->op->uid)) {
        grove_builder_string(w->b, "uid", w->op->uid);
    }
    if (!gv_k8s_empty(w->op->resource_version)) {
        grove_builder_string(w->b, "resourceVersion", w->op->resource_version);
    }
}

static bool is_precondition(const grove_op *op, const char *key) {
    return (!gv_k8s_empty(op->uid) && strcmp(key, "uid") == 0) ||
           (!gv_k8s_empty(op->resource_version) && strcmp(key, "resourceVersion") == 0);
}

/* metadata as it is, with name and preconditions where they are wanted */
static void write_metadata(const work *w, const grove_node *meta, const char *name) {
    grove_builder_open_object(w->b, "metadata");
    if (name && !grove_node_get(meta, "name") && !grove_node_get(meta, "generateName")) {
        grove_builder_string(w->b, "name", name);
    }
    for (const grove_node *c = grove_node_first(meta); c; c = grove_node_next(meta, c)) {
        const char *key = grove_node_key(c, NULL);
        if (!is_precondition(w->op, key)) {
            grove_builder_link(w->b, key, w->op->body_doc, c);
        }
    }
    preconditions(w);
    grove_builder_close(w->b);
}

/* An object, or a patch that looks like one. */
static void write_object(const work *w, bool typed, const char *name) {
    char version[96];
    grove_builder_open_object(w->b, NULL);
    if (typed && !grove_node_get(w->body, "apiVersion")) {
        grove_builder_string(w->b, "apiVersion", gv_k8s_api_version(w->op->kind, version));
    }
    if (typed && !grove_node_get(w->body, "kind")) {
        grove_builder_string(w->b, "kind", grove_kind_name(w->op->kind));
    }
    bool have_meta = false;
    for (const grove_node *c = grove_node_first(w->body); c; c = grove_node_next(w->body, c)) {
        const char *key = grove_node_key(c, NULL);
        if (strcmp(key, "metadata") == 0) {
            have_meta = true;
            write_metadata(w, c, name);
        } else {
            grove_builder_link(w->b, key, w->op->body_doc, c);
        }
    }
    if (!have_meta && (name || w->call->has_precondition)) {
        write_metadata(w, NULL, name);
    }
    grove_builder_close(w->b);
}

static void write_test(const work *w, const char *path, const char *value) {
    if (!gv_k8s_empty(value)) {
        grove_builder_open_object(w->b, NULL);
        grove_builder_string(w->b, "op", "test");
        grove_builder_string(w->b, "path", path);
        grove_builder_string(w->b, "value", value);
        grove_builder_close(w->b);
    }
}

static void write_json_patch(const work *w) {
    grove_builder_open_array(w->b, NULL);
    write_test(w, "/metadata/uid", w->op->uid);
    write_test(w, "/metadata/resourceVersion", w->op->resource_version);
    for (const grove_node *c = grove_node_first(w->body); c; c = grove_node_next(w->body, c)) {
        grove_builder_link(w->b, NULL, w->op->body_doc, c);
    }
    grove_builder_close(w->b);
}

static void write_delete_options(const work *w, const char *key) {
    static const char *const policies[] = {NULL, "Background", "Foreground", "Orphan"};
    grove_builder_open_object(w->b, key);
    grove_builder_string(w->b, "apiVersion", "v1");
    grove_builder_string(w->b, "kind", "DeleteOptions");
    if (w->op->propagation > 0 && w->op->propagation <= 3) {
        grove_builder_string(w->b, "propagationPolicy", policies[w->op->propagation]);
    }
    if (w->op->grace_seconds >= 0) {
        grove_builder_int64(w->b, "gracePeriodSeconds", w->op->grace_seconds);
    }
    if (w->call->has_precondition) {
        grove_builder_open_object(w->b, "preconditions");
        preconditions(w);
        grove_builder_close(w->b);
    }
    grove_builder_close(w->b);
}

static void open_pod_request(const work *w, const char *version, const char *kind, bool with_uid) {
    grove_builder_open_object(w->b, NULL);
    grove_builder_string(w->b, "apiVersion", version);
    grove_builder_string(w->b, "kind", kind);
    grove_builder_open_object(w->b, "metadata");
    grove_builder_string(w->b, "name", w->op->name);
    grove_builder_string(w->b, "namespace", w->ns);
    if (with_uid) {
        preconditions(w);
    }
    grove_builder_close(w->b);
}

static void write_binding(const work *w) {
    open_pod_request(w, "v1", "Binding", true);
    grove_builder_open_object(w->b, "target");
    grove_builder_string(w->b, "apiVersion", "v1");
    grove_builder_string(w->b, "kind", "Node");
    grove_builder_string(w->b, "name", w->op->target);
    grove_builder_close(w->b);
    grove_builder_close(w->b);
}

static void write_eviction(const work *w) {
    open_pod_request(w, "policy/v1", "Eviction", false);
    write_delete_options(w, "deleteOptions");
    grove_builder_close(w->b);
}

static void write_scale(const work *w) {
    grove_builder_open_object(w->b, NULL);
    if (w->call->has_precondition) {
        write_metadata(w, NULL, NULL);
    }
    grove_builder_open_object(w->b, "spec");
    grove_builder_int64(w->b, "replicas", w->op->replicas);
    grove_builder_close(w->b);
    grove_builder_close(w->b);
}

/* ---- verbs ---- */

typedef struct verb_row {
    const char *method;
    gv_k8s_class class;
    bool write, managed, needs_name, needs_body;
} verb_row;

static const verb_row verbs[GROVE_VERB_COUNT] = {
    [GROVE_VERB_GET] = {"GET", GV_K8S_CLASS_READ, false, false, true, false},
    [GROVE_VERB_LIST] = {"GET", GV_K8S_CLASS_READ, false, false, false, false},
    [GROVE_VERB_CREATE] = {"POST", GV_K8S_CLASS_CREATE, true, true, false, true},
    [GROVE_VERB_PATCH] = {"PATCH", GV_K8S_CLASS_PATCH, true, true, true, true},
    [GROVE_VERB_APPLY] = {"PATCH", GV_K8S_CLASS_PATCH, true, true, true, true},
    [GROVE_VERB_DELETE] = {"DELETE", GV_K8S_CLASS_DELETE, true, false, true, false},
    [GROVE_VERB_BIND] = {"POST", GV_K8S_CLASS_CREATE, true, true, true, false},
    [GROVE_VERB_EVICT] = {"POST", GV_K8S_CLASS_DELETE, true, false, true, false},
    [GROVE_VERB_EVENT] = {"POST", GV_K8S_CLASS_EVENT, true, true, true, true},
    [GROVE_VERB_SCALE] = {"PATCH", GV_K8S_CLASS_PATCH, true, true, true, false},
    [GROVE_VERB_REPLACE] = {"PUT", GV_K8S_CLASS_PATCH, true, true, true, true},
};

static const char *patch_type(const grove_op *op) {
    static const char *const types[] = {NULL, "application/merge-patch+json",
                                        "application/json-patch+json",
                                        "application/strategic-merge-patch+json"};
    return op->patch_type > 0 && op->patch_type <= 3 ? types[op->patch_type] : NULL;
}

static const char *content_type(const grove_op *op) {
    switch (op->verb) {
    case GROVE_VERB_PATCH:
        return patch_type(op);
    case GROVE_VERB_APPLY:
        return "application/apply-patch+yaml";
    case GROVE_VERB_SCALE:
        return "application/merge-patch+json";
    default:
        return JSON;
    }
}

static grove_status write_body(work *w) {
    const grove_op *op = w->op;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(w->k->env, &w->b);
    if (st < 0) {
        return st;
    }
    switch (op->verb) {
    case GROVE_VERB_CREATE:
        write_object(w, true, op->name);
        break;
    case GROVE_VERB_APPLY:
    case GROVE_VERB_REPLACE:
        write_object(w, true, op->name);
        break;
    case GROVE_VERB_PATCH:
        if (op->patch_type == GROVE_PATCH_JSON) {
            write_json_patch(w);
        } else {
            write_object(w, false, NULL);
        }
        break;
    case GROVE_VERB_BIND:
        write_binding(w);
        break;
    case GROVE_VERB_EVICT:
        write_eviction(w);
        break;
    case GROVE_VERB_SCALE:
        write_scale(w);
        break;
    default:
        write_delete_options(w, NULL);
        break;
    }
    st = grove_builder_finish(w->b, &doc, NULL);
    grove_builder_free(w->b);
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, &w->call->body, NULL);
    grove_doc_unref(doc);
    return st;
}

static const char *object_name(const work *w) {
    const char *name = w->op->name;
    if (w->op->verb == GROVE_VERB_CREATE) {
        const char *own = gv_k8s_member(grove_node_get(w->body, "metadata"), "name");
        name = own ? own : name;
    }
    return name;
}

static grove_status write_path(work *w) {
    const grove_op *op = w->op;
    grove_buf *out = &w->call->path;
    const char *sub = op->verb == GROVE_VERB_SCALE   ? "scale"
                      : op->verb == GROVE_VERB_BIND  ? "binding"
                      : op->verb == GROVE_VERB_EVICT ? "eviction"
                                                     : sub_of(op);
    bool whole = op->verb == GROVE_VERB_CREATE || op->verb == GROVE_VERB_LIST;
    grove_kind kind = op->verb == GROVE_VERB_BIND || op->verb == GROVE_VERB_EVICT ? GROVE_KIND_POD
                                                                                  : op->kind;
    grove_status st = gv_k8s_put_path(out, kind, w->ns, whole ? NULL : op->name,
                                      whole ? NULL : sub);
    if (st == GROVE_OK && verbs[op->verb].managed) {
        st = gv_k8s_put_query(out, "fieldManager", op->manager ? op->manager : w->k->manager);
    }
    if (st == GROVE_OK && op->verb == GROVE_VERB_APPLY && (op->flags & GROVE_OP_FORCE) != 0) {
        st = gv_k8s_put_query(out, "force", "true");
    }
    if (st == GROVE_OK && w->call->is_write && (op->flags & GROVE_OP_DRY_RUN) != 0) {
        st = gv_k8s_put_query(out, "dryRun", "All");
    }
    if (st < 0 || op->verb != GROVE_VERB_LIST) {
        return st;
    }
    char limit[16] = "";
    if (op->limit > 0) {
        (void)snprintf(limit, sizeof limit, "%u", op->limit);
    }
    st = gv_k8s_put_query(out, "labelSelector", op->label_selector);
    st = st < 0 ? st : gv_k8s_put_query(out, "fieldSelector", op->field_selector);
    st = st < 0 ? st : gv_k8s_put_query(out, "limit", limit);
    return st < 0 ? st : gv_k8s_put_query(out, "continue", op->position);
}

/* ---- the whole ---- */

static const char *fault(const work *w) {
    const grove_op *op = w->op;
    const verb_row *v = &verbs[op->verb];
    bool pods_only = op->verb == GROVE_VERB_BIND || op->verb == GROVE_VERB_EVICT;
    if (!pods_only && (op->kind <= GROVE_KIND_NONE || op->kind >= GROVE_KIND_COUNT)) {
        return "unknown kind";
    }
    if (v->needs_name && gv_k8s_empty(op->name)) {
        return "the operation needs a name";
    }
    if (v->needs_body && !w->body) {
        return "the operation needs a body";
    }
    if (op->verb == GROVE_VERB_PATCH && !patch_type(op)) {
        return "unknown type of patch";
    }
    if (op->verb == GROVE_VERB_BIND && gv_k8s_empty(op->target)) {
        return "a binding needs a target";
    }
    return NULL;
}

static void describe(work *w) {
    gv_k8s_call *c = w->call;
    const grove_op *op = w->op;
    c->token = op->token;
    c->verb = op->verb;
    c->kind = op->kind;
    c->flags = op->flags;
    c->class = verbs[op->verb].class;
    c->method = verbs[op->verb].method;
    c->is_write = verbs[op->verb].write;
    c->has_precondition = !gv_k8s_empty(op->uid) || !gv_k8s_empty(op->resource_version);
    c->is_json_patch = op->verb == GROVE_VERB_PATCH && op->patch_type == GROVE_PATCH_JSON;
    c->is_repeatable = !c->is_write;
    if (op->kind == GROVE_KIND_LEASE) {
        c->class = GV_K8S_CLASS_LEASE;
    } else if (op->subresource == GROVE_SUBRESOURCE_STATUS && c->is_write) {
        c->class = GV_K8S_CLASS_STATUS;
    }
}

grove_status gv_k8s_compile(gv_k8s *k, const grove_op *op, gv_k8s_call *call, grove_error *err) {
    work w = {k, op, call, op->body, op->ns, NULL};
    if (!w.body && op->body_doc) {
        w.body = grove_doc_root(op->body_doc);
    }
    const char *why = fault(&w);
    if (why) {
        return grove_error_set(err, GROVE_E_INVALID, why);
    }
    if (gv_k8s_empty(w.ns) && op->verb != GROVE_VERB_LIST) {
        w.ns = k->access.ns;
    }
    describe(&w);
    grove_status st;
    if (op->verb == GROVE_VERB_EVENT) {
        st = gv_k8s_compile_event(k, op, call, err);
    } else {
        st = write_path(&w);
        if (st == GROVE_OK && call->is_write) {
            call->content_type = content_type(op);
            st = write_body(&w);
        }
    }
    if (st == GROVE_E_INVALID) {
        return grove_error_set(err, st, "a name or namespace cannot stand in a path");
    }
    const char *name = object_name(&w);
    if (st == GROVE_OK && call->is_write && name && op->verb != GROVE_VERB_EVENT) {
        bool pod = op->verb == GROVE_VERB_BIND || op->verb == GROVE_VERB_EVICT;
        grove_kind kind = pod ? GROVE_KIND_POD : op->kind;
        bool namespaced = grove_kind_is_namespaced(kind) != 0;
        call->object = gv_k8s_hash(gv_k8s_hash(gv_k8s_hash((uint64_t)kind, grove_kind_plural(kind)),
                                               namespaced ? w.ns : ""),
                                   name) |
                       1;
    }
    return st < 0 ? grove_error_set(err, st, st == GROVE_E_NOMEM ? "out of memory" : "bad body")
                  : st;
}
