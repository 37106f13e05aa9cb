/* SPDX-License-Identifier: Apache-2.0 */
/* Events: one object for each thing that happened to one object, counted when it happens again. */
#include "base/hash.h"
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/meta.h"

/* What a GROVE_VERB_EVENT says. */
typedef struct happening {
    gv_str uid, type, reason, note, action;
    const char *manager;
} happening;

static uint64_t fingerprint(const happening *h) {
    uint64_t x = GV_FNV_START;
    const gv_str parts[] = {h->uid, h->type, h->reason, h->note};
    for (size_t i = 0; i < 4; i++) {
        x = gv_fnv1a(x, parts[i].p, parts[i].n);
        x = gv_fnv1a(x, "\0", 1);
    }
    return gv_mix64(x);
}

static void event_body(gv_sim_call *c, const happening *h, const char *name, const char *ns) {
    char api_version[96];
    grove_builder *b = c->sim->builder;
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", name);
    grove_builder_string(b, "namespace", ns);
    grove_builder_close(b);
    grove_builder_open_object(b, "involvedObject");
    grove_builder_string(b, "kind", c->info->name);
    if (c->ns.n > 0) {
        grove_builder_string(b, "namespace", c->ns.p);
    }
    grove_builder_stringn(b, "name", c->name.p, c->name.n);
    grove_builder_stringn(b, "uid", h->uid.p, h->uid.n);
    grove_builder_string(b, "apiVersion",
                         gv_kind_api_version(c->kind, api_version, sizeof api_version));
    grove_builder_close(b);
    grove_builder_stringn(b, "reason", h->reason.p, h->reason.n);
    grove_builder_stringn(b, "message", h->note.p, h->note.n);
    grove_builder_open_object(b, "source");
    grove_builder_string(b, "component", h->manager);
    grove_builder_close(b);
    gv_sim_build_time(c->sim, b, "firstTimestamp", c->sim->now);
    gv_sim_build_time(c->sim, b, "lastTimestamp", c->sim->now);
    grove_builder_int64(b, "count", 1);
    grove_builder_stringn(b, "type", h->type.p, h->type.n);
    if (h->action.n > 0) {
        grove_builder_stringn(b, "action", h->action.p, h->action.n);
    }
    grove_builder_string(b, "reportingComponent", h->manager);
    grove_builder_close(b);
}

static grove_status create_event(gv_sim_call *c, const happening *h, const char *name,
                                 const char *ns) {
    grove_doc *doc = NULL;
    event_body(c, h, name, ns);
    grove_status st = grove_builder_finish(c->sim->builder, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_ensure_namespace(c->sim, gv_str_c(ns));
    }
    if (st == GROVE_OK) {
        grove_op op = {.size = sizeof op, .verb = GROVE_VERB_CREATE, .kind = GROVE_KIND_EVENT};
        op.ns = ns;
        op.body_doc = doc;
        st = gv_sim_run(c->sim, &op, c->res);
    }
    grove_doc_unref(doc);
    return st;
}

/* Once more: count and lastTimestamp. */
static grove_status count_event(gv_sim_call *c, gv_sim_object *o) {
    grove_builder *b = c->sim->builder;
    const grove_node *root = gv_sim_root(o);
    grove_doc *doc = NULL;
    grove_builder_open_object(b, NULL);
    grove_builder_int64(b, "count", gv_node_get_int(root, "count", 1) + 1);
    gv_sim_build_time(c->sim, b, "lastTimestamp", c->sim->now);
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        grove_op op = {.size = sizeof op, .verb = GROVE_VERB_PATCH, .kind = GROVE_KIND_EVENT};
        op.ns = o->ns.n > 0 ? gv_node_get_str(grove_node_get(root, "metadata"), "namespace").p : "";
        op.name = o->name.p;
        op.patch_type = GROVE_PATCH_MERGE;
        op.body_doc = doc;
        st = gv_sim_run(c->sim, &op, c->res);
    }
    grove_doc_unref(doc);
    return st;
}

grove_status gv_sim_event_op(gv_sim_call *c) {
    happening h = {gv_str_c(c->op->uid),
                   gv_node_get_str(c->body, "type"),
                   gv_node_get_str(c->body, "reason"),
                   gv_node_get_str(c->body, "note"),
                   gv_node_get_str(c->body, "action"),
                   c->op->manager ? c->op->manager : "grove"};
    if (h.reason.n == 0) {
        return gv_sim_invalid(c, "reason", "FieldValueRequired", "Required value");
    }
    if (h.type.n == 0) {
        h.type = GV_STR("Normal");
    }
    char name[300];
    size_t keep = c->name.n > 230 ? 230 : c->name.n;
    (void)gv_fmt(name, sizeof name, "%.*s.%016llx", (int)keep, c->name.p,
                 (unsigned long long)fingerprint(&h));
    const char *ns = c->ns.n > 0 ? c->ns.p : "default";
    gv_sim_object *had = gv_sim_find(c->sim, GV_KIND_EVENT, gv_str_c(ns), gv_str_c(name));
    return had ? count_event(c, had) : create_event(c, &h, name, ns);
}
