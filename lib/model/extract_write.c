/* SPDX-License-Identifier: Apache-2.0 */
/* Records as JSON: what was read, nothing else. */
#include "model/extract.h"

static void put_text(grove_builder *b, const char *key, gv_str text) {
    if (text.n > 0) {
        grove_builder_stringn(b, key, text.p, text.n);
    }
}

static void put_time(grove_builder *b, const char *key, int64_t ns) {
    if (ns != GV_TIME_NONE) {
        grove_builder_int64(b, key, ns);
    }
}

static void put_amounts(grove_builder *b, const char *key, const gv_request_facts *list) {
    grove_builder_open_array(b, key);
    for (size_t i = 0; i < list->n; i++) {
        grove_builder_open_object(b, NULL);
        grove_builder_stringn(b, "name", list->v[i].name.p, list->v[i].name.n);
        grove_builder_int64(b, "amount", list->v[i].amount);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_head(grove_builder *b, const gv_head_facts *h) {
    grove_builder_string(b, "kind", gv_kind_get(h->kind)->name);
    put_text(b, "namespace", h->ns);
    put_text(b, "name", h->name);
    put_text(b, "uid", h->uid);
    put_text(b, "resourceVersion", h->rv);
    grove_builder_int64(b, "generation", h->generation);
    put_time(b, "created", h->created);
    put_time(b, "deleted", h->deleted);
    grove_builder_int64(b, "headFlags", h->flags);
    grove_builder_int64(b, "owners", h->n_owners);
    grove_builder_int64(b, "ownerKind", h->owner_kind);
    put_text(b, "ownerUid", h->owner_uid);
    put_text(b, "ownerName", h->owner_name);
    put_text(b, "partOf", h->part_of);
}

static grove_status finish(grove_builder *b, grove_buf *buf) {
    grove_doc *doc = NULL;
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, buf, NULL);
    grove_doc_unref(doc);
    return st;
}

grove_status gv_pod_facts_write(grove_env *env, const gv_pod_facts *f, grove_buf *buf) {
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    put_head(b, &f->head);
    grove_builder_int64(b, "flags", f->flags);
    grove_builder_int64(b, "phase", f->phase);
    grove_builder_int64(b, "index", f->index);
    grove_builder_int64(b, "hostnameIndex", f->hostname_index);
    if (f->incarnation > 0) {
        grove_builder_int64(b, "incarnation", f->incarnation);
    }
    grove_builder_int64(b, "priority", f->priority);
    grove_builder_int64(b, "gateAt", f->gate_at);
    grove_builder_int64(b, "gates", f->n_gates);
    put_text(b, "clique", f->clique);
    put_text(b, "gang", f->gang);
    put_text(b, "baseGang", f->base_gang);
    put_text(b, "hash", f->hash);
    put_text(b, "node", f->node);
    put_text(b, "scheduler", f->scheduler);
    put_text(b, "priorityClass", f->priority_class);
    put_time(b, "readySince", f->ready_since);
    put_time(b, "scheduledSince", f->scheduled_since);
    put_time(b, "ended", f->ended);
    put_amounts(b, "requests", &f->requests);
    grove_builder_open_array(b, "hostPorts");
    for (size_t i = 0; i < f->ports.n; i++) {
        grove_builder_open_object(b, NULL);
        grove_builder_int64(b, "port", f->ports.v[i].port);
        grove_builder_int64(b, "protocol", f->ports.v[i].protocol);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    return finish(b, buf);
}

grove_status gv_node_facts_write(grove_env *env, const gv_node_facts *f, grove_buf *buf) {
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    put_head(b, &f->head);
    grove_builder_int64(b, "flags", f->flags);
    grove_builder_open_array(b, "labels");
    for (size_t i = 0; i < f->labels.n; i++) {
        grove_builder_open_object(b, NULL);
        put_text(b, "key", f->labels.v[i].key);
        put_text(b, "value", f->labels.v[i].value);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_open_array(b, "taints");
    for (size_t i = 0; i < f->taints.n; i++) {
        grove_builder_open_object(b, NULL);
        put_text(b, "key", f->taints.v[i].key);
        put_text(b, "value", f->taints.v[i].value);
        put_text(b, "effect", f->taints.v[i].effect);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    put_amounts(b, "allocatable", &f->allocatable);
    return finish(b, buf);
}

grove_status grove_extract_write(const grove_extract *x, grove_buf *buf) {
    if (x == NULL || buf == NULL || x->kind == GV_KIND_NONE) {
        return GROVE_E_INVALID;
    }
    return x->kind == GV_KIND_POD ? gv_pod_facts_write(x->env, &x->pod, buf)
                                  : gv_node_facts_write(x->env, &x->node, buf);
}
