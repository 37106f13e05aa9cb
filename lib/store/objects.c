/* SPDX-License-Identifier: Apache-2.0 */
/* Making, copying and freeing what the store keeps of one object: one allocation each. */
#include <stddef.h>

#include "base/hash.h"
#include "model/labels.h"
#include "model/records_take.h"
#include "store/inside.h"
#include "value/doc.h"

uint64_t gv_name_hash(const gv_name_key *key) {
    uint64_t h = gv_mix64((uint64_t)key->kind + 1);
    h = gv_fnv1a(h, key->ns.p, key->ns.n);
    h = gv_fnv1a(h, "/", 1);
    return gv_fnv1a(h, key->name.p, key->name.n);
}

bool gv_name_is(const void *object, const void *key) {
    const gv_head *head = &((const gv_object *)object)->u.head;
    const gv_name_key *k = key;
    return head->kind == k->kind && gv_str_eq(gv_str_c(head->name), k->name) &&
           gv_str_eq(gv_str_c(head->ns), k->ns);
}

#define OBJECT_BYTES(member) (offsetof(gv_object, u) + sizeof(((gv_object *)NULL)->u.member))

static gv_object *reserve(grove_store *s, size_t fixed, size_t tail, grove_error *err,
                          grove_status *status) {
    size_t bytes = fixed + tail;
    uint64_t limit = gv_env_limits(s->env)->store_bytes;
    if (limit != 0 && s->bytes + s->pool.bytes + bytes > limit) {
        *status = gv_error(err, GROVE_E_LIMIT, "the store's memory limit is reached");
        return NULL;
    }
    gv_object *o = gv_alloc(s->env, bytes);
    if (o == NULL) {
        *status = gv_error_nomem(err);
        return NULL;
    }
    memset(o->link, 0, sizeof o->link);
    o->bytes = bytes;
    o->relist = 0;
    return o;
}

static grove_status finish(grove_store *s, gv_object *o, bool ok, gv_object **out,
                           grove_error *err) {
    if (!ok) {
        gv_free(s->env, o, o->bytes);
        return gv_error_nomem(err);
    }
    s->bytes += o->bytes;
    *out = o;
    return GROVE_OK;
}

static grove_status make_pod(grove_store *s, const gv_pod_facts *f, gv_object **out,
                             grove_error *err) {
    grove_status status = GROVE_OK;
    gv_object *o = reserve(s, OBJECT_BYTES(pod), gv_pod_tail(f), err, &status);
    if (o == NULL) {
        return status;
    }
    return finish(s, o, gv_pod_fill(&o->u.pod, (char *)o + OBJECT_BYTES(pod), f, &s->pool), out,
                  err);
}

static grove_status make_node(grove_store *s, const gv_node_facts *f, gv_object **out,
                              grove_error *err) {
    grove_status status = GROVE_OK;
    gv_object *o = reserve(s, OBJECT_BYTES(node), gv_node_tail(f), err, &status);
    if (o == NULL) {
        return status;
    }
    return finish(s, o, gv_node_fill(&o->u.node, (char *)o + OBJECT_BYTES(node), f, &s->pool), out,
                  err);
}

static grove_status make_document(grove_store *s, const gv_head_facts *f, grove_doc *doc,
                                  const grove_node *node, gv_object **out, grove_error *err) {
    grove_status status = GROVE_OK;
    gv_object *o = reserve(s, OBJECT_BYTES(document), gv_head_tail(f), err, &status);
    if (o == NULL) {
        return status;
    }
    char *tail = (char *)o + OBJECT_BYTES(document);
    status = finish(s, o, gv_head_fill(&o->u.head, tail, f, &s->pool), out, err);
    if (status == GROVE_OK) {
        o->u.document.doc = grove_doc_ref(doc);
        o->u.document.node = node;
    }
    return status;
}

grove_status gv_object_make(grove_store *s, grove_doc *doc, const grove_node *node,
                            uint32_t extra_flags, gv_object **out, grove_error *err) {
    gv_kind kind = gv_kind_of(node);
    grove_status status;
    if (kind == GV_KIND_POD) {
        status = gv_pod_read(s->env, node, &s->pod, err);
        s->pod.head.flags |= extra_flags;
        return status < 0 ? status : make_pod(s, &s->pod, out, err);
    }
    if (kind == GV_KIND_NODE) {
        status = gv_node_read(s->env, node, &s->node, err);
        s->node.head.flags |= extra_flags;
        return status < 0 ? status : make_node(s, &s->node, out, err);
    }
    gv_head_facts head;
    status = gv_head_read(node, &head, err);
    if (status < 0) {
        return status;
    }
    head.flags |= extra_flags;
    return make_document(s, &head, doc, node, out, err);
}

grove_status gv_object_make_record(grove_store *s, const grove_extract *record, gv_object **out,
                                   grove_error *err) {
    return record->kind == GV_KIND_POD ? make_pod(s, &record->pod, out, err)
                                       : make_node(s, &record->node, out, err);
}

/* ---- copies with a change ---- */

static gv_head_facts head_facts(const gv_head *h, const gv_object_change *change) {
    bool dies = (change->set_flags & GV_HEAD_TERMINATING) != 0;
    return (gv_head_facts){.kind = h->kind,
                           .owner_kind = h->owner_kind,
                           .flags = h->flags | change->set_flags,
                           .n_owners = h->n_owners,
                           .ns = gv_str_c(h->ns),
                           .name = gv_str_c(h->name),
                           .uid = gv_str_c(h->uid),
                           .rv = gv_str_c(h->rv),
                           .owner_uid = gv_str_c(h->owner_uid),
                           .owner_name = gv_str_c(h->owner_name),
                           .part_of = gv_str_c(h->part_of),
                           .generation = h->generation,
                           .created = h->created,
                           .deleted = dies ? change->deleted : h->deleted};
}

/* A patch of labels, as far as a pod's record keeps them. */
static void take_labels(const grove_node *labels, gv_pod_facts *f) {
    const struct {
        const char *key;
        gv_str *out;
    } texts[] = {{GV_LABEL_PART_OF, &f->head.part_of},
                 {GV_LABEL_CLIQUE, &f->clique},
                 {GV_LABEL_GANG, &f->gang},
                 {GV_LABEL_BASE_GANG, &f->base_gang}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (grove_node_get(labels, texts[i].key) != NULL) {
            *texts[i].out = gv_node_get_str(labels, texts[i].key);
        }
    }
    if (grove_node_get(labels, GV_LABEL_POD_INDEX) != NULL) {
        f->index = gv_pod_index_of(gv_node_get_str(labels, GV_LABEL_POD_INDEX));
    }
}

static grove_status copy_pod(grove_store *s, const gv_pod *p, const gv_object_change *change,
                             gv_object **out, grove_error *err) {
    gv_pod_facts *f = &s->pod;
    f->head = head_facts(&p->head, change);
    f->flags = p->flags & ~(change->drop_gate ? GV_POD_GROVE_GATE : 0u);
    f->n_gates = (uint16_t)(p->n_gates - (f->flags != p->flags ? 1 : 0));
    if (change->unschedulable) {
        f->flags = (f->flags & ~GV_POD_GATED_COND) | GV_POD_UNSCHEDULABLE;
    }
    f->gate_at = p->gate_at;
    f->phase = p->phase;
    f->index = p->index;
    f->hostname_index = p->hostname_index;
    f->incarnation = p->incarnation;
    f->priority = p->priority;
    f->clique = gv_str_c(p->clique);
    f->gang = gv_str_c(p->gang);
    f->base_gang = gv_str_c(p->base_gang);
    f->hash = gv_str_c(p->hash);
    f->node = change->node.n > 0 ? change->node : gv_str_c(p->node);
    f->scheduler = gv_str_c(p->scheduler);
    f->priority_class = gv_str_c(p->priority_class);
    f->ready_since = p->ready_since;
    f->scheduled_since = p->scheduled_since;
    f->ended = p->ended;
    take_labels(change->labels, f);
    f->requests.n = f->ports.n = 0;
    for (uint32_t i = 0; i < p->n_requests; i++) {
        gv_request_fact r = {gv_str_c(p->requests[i].name), p->requests[i].amount};
        if (!gv_vec_push(s->env, &f->requests, r)) {
            return gv_error_nomem(err);
        }
    }
    for (uint32_t i = 0; i < p->n_ports; i++) {
        if (!gv_vec_push(s->env, &f->ports, p->ports[i])) {
            return gv_error_nomem(err);
        }
    }
    return make_pod(s, f, out, err);
}

grove_status gv_object_copy(grove_store *s, const gv_object *from, const gv_object_change *change,
                            gv_object **out, grove_error *err) {
    if (from->u.head.kind == GV_KIND_POD) {
        return copy_pod(s, &from->u.pod, change, out, err);
    }
    if (from->u.head.kind == GV_KIND_NODE) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "nodes are not written");
    }
    gv_head_facts head = head_facts(&from->u.head, change);
    const gv_document *d = &from->u.document;
    return make_document(s, &head, change->doc ? change->doc : d->doc,
                         change->doc ? change->at : d->node, out, err);
}

void gv_object_free(grove_store *s, gv_object *o) {
    if (o == NULL) {
        return;
    }
    if (o->u.head.kind == GV_KIND_POD) {
        gv_pod_drop(&o->u.pod, &s->pool);
    } else if (o->u.head.kind == GV_KIND_NODE) {
        gv_node_drop(&o->u.node, &s->pool);
    } else {
        grove_doc_unref(o->u.document.doc);
        gv_head_drop(&o->u.head, &s->pool);
    }
    s->bytes -= o->bytes;
    gv_free(s->env, o, o->bytes);
}

bool gv_object_same(const gv_object *a, const gv_object *b) {
    if (a->u.head.kind == GV_KIND_POD) {
        return gv_pod_same(&a->u.pod, &b->u.pod);
    }
    if (a->u.head.kind == GV_KIND_NODE) {
        return gv_node_same(&a->u.node, &b->u.node);
    }
    if (strcmp(a->u.head.uid, b->u.head.uid) != 0 || a->u.head.flags != b->u.head.flags) {
        return false;
    }
    return (a->u.head.rv[0] != '\0' && strcmp(a->u.head.rv, b->u.head.rv) == 0) ||
           grove_node_equal(a->u.document.node, b->u.document.node) != 0;
}
