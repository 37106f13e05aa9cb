/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of objects: insert, update, remove, each atomic also when memory runs out. */
#include "sim/state.h"

#include "sim/condition.h"
#include "sim/index.h"
#include "sim/kubelet.h"
#include "sim/meta.h"
#include "sim/node.h"
#include "sim/room.h"

/* ---- finding ---- */

gv_str gv_sim_key(char *buf, gv_str ns, gv_str name) {
    size_t n = 0;
    if (ns.n + name.n + 2 <= GV_SIM_KEY_MAX) {
        memcpy(buf, ns.p, ns.n);
        buf[ns.n] = '/';
        memcpy(buf + ns.n + 1, name.p, name.n);
        n = ns.n + 1 + name.n;
    }
    buf[n] = '\0';
    return (gv_str){buf, n};
}

gv_sim_object *gv_sim_find(const grove_sim *sim, gv_kind kind, gv_str ns, gv_str name) {
    char buf[GV_SIM_KEY_MAX];
    return gv_map_get(&sim->tables[kind].objects, gv_sim_key(buf, ns, name));
}

gv_sim_object *gv_sim_find_uid(const grove_sim *sim, gv_str uid) {
    return gv_map_get(&sim->by_uid, uid);
}

const grove_node *gv_sim_root(const gv_sim_object *o) {
    return grove_doc_root(o->doc);
}

static const gv_sim_section *section_of(const gv_sim_object *o, gv_str key) {
    for (size_t i = 0; o && i < o->sections.n; i++) {
        if (gv_str_eq(o->sections.v[i].key, key)) {
            return &o->sections.v[i];
        }
    }
    return NULL;
}

grove_doc *gv_sim_section_doc(const gv_sim_object *o, const char *key) {
    const gv_sim_section *s = section_of(o, gv_str_c(key));
    return s ? s->doc : NULL;
}

/* ---- life of an object ---- */

static void sections_fini(grove_sim *sim, gv_sim_sections *s) {
    for (size_t i = 0; i < s->n; i++) {
        grove_doc_unref(s->v[i].doc);
    }
    gv_vec_fini(sim->env, s);
}

void gv_sim_object_unref(grove_sim *sim, gv_sim_object *o) {
    if (--o->refs > 0) {
        return;
    }
    gv_sim_kubelet_forget(sim, o);
    gv_sim_node_forget(sim, o);
    gv_sim_needs_forget(sim, o);
    sections_fini(sim, &o->sections);
    grove_doc_unref(o->doc);
    gv_free(sim->env, o->text, o->text_cap);
    gv_free(sim->env, o, sizeof *o);
}

static bool object_names(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *m) {
    o->text_cap = m->ns.n + m->name.n + m->uid.n + 3;
    o->text = gv_alloc(sim->env, o->text_cap);
    if (!o->text) {
        return false;
    }
    char *p = o->text;
    memcpy(p, m->ns.p, m->ns.n);
    p[m->ns.n] = '/';
    memcpy(p + m->ns.n + 1, m->name.p, m->name.n);
    o->ns = (gv_str){p, m->ns.n};
    o->name = (gv_str){p + m->ns.n + 1, m->name.n};
    o->key = (gv_str){p, m->ns.n + 1 + m->name.n};
    p += o->key.n;
    *p++ = '\0';
    memcpy(p, m->uid.p, m->uid.n);
    p[m->uid.n] = '\0';
    o->uid = (gv_str){p, m->uid.n};
    return true;
}

/* ---- parts ---- */

static gv_sim_part *part_of(gv_sim_parts *parts, gv_str key) {
    for (size_t i = 0; i < parts->n; i++) {
        if (gv_str_eq(parts->v[i].key, key)) {
            return &parts->v[i];
        }
    }
    return NULL;
}

grove_status gv_sim_parts_of(grove_sim *sim, const grove_node *object, const gv_sim_object *old,
                             gv_sim_parts *out_parts) {
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        gv_str key = {0};
        key.p = grove_node_key(m, &key.n);
        if (gv_str_is(key, "apiVersion") || gv_str_is(key, "kind") || gv_str_is(key, "metadata")) {
            continue;
        }
        gv_sim_part part = {key, m, NULL};
        const gv_sim_section *had = section_of(old, key);
        if (had && gv_sim_node_same(grove_doc_root(had->doc), m)) {
            part.shared = had->doc;
        }
        if (!gv_vec_push(sim->env, out_parts, part)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

grove_status gv_sim_parts_set(grove_sim *sim, gv_sim_parts *parts, const char *key,
                              const grove_node *node, grove_doc *shared) {
    gv_sim_part part = {gv_str_c(key), node, shared};
    gv_sim_part *had = part_of(parts, part.key);
    if (had) {
        *had = part;
        return GROVE_OK;
    }
    return gv_vec_push(sim->env, parts, part) ? GROVE_OK : GROVE_E_NOMEM;
}

void gv_sim_parts_remove(gv_sim_parts *parts, const char *key) {
    gv_sim_part *had = part_of(parts, gv_str_c(key));
    if (had) {
        size_t i = (size_t)(had - parts->v);
        memmove(had, had + 1, (parts->n - i - 1) * sizeof *had);
        parts->n--;
    }
}

bool gv_sim_parts_differ(const gv_sim_parts *parts, const gv_sim_object *old, const char *except) {
    size_t same = 0, had = 0;
    for (size_t i = 0; i < old->sections.n; i++) {
        had += gv_str_is(old->sections.v[i].key, except) ? 0 : 1;
    }
    for (size_t i = 0; i < parts->n; i++) {
        if (gv_str_is(parts->v[i].key, except)) {
            continue;
        }
        const gv_sim_section *s = section_of(old, parts->v[i].key);
        if (!s || s->doc != parts->v[i].shared) {
            return true;
        }
        same++;
    }
    return same != had;
}

/* ---- the next version ---- */

/* Everything a write needs, made before anything is changed. */
typedef struct version {
    grove_doc *doc;
    gv_sim_sections sections;
} version;

static void version_fini(grove_sim *sim, version *v) {
    sections_fini(sim, &v->sections);
    grove_doc_unref(v->doc);
    v->doc = NULL;
}

static grove_status section_doc(grove_sim *sim, const gv_sim_part *part, grove_doc **out_doc) {
    if (part->shared) {
        *out_doc = grove_doc_ref(part->shared);
        return GROVE_OK;
    }
    grove_builder_copy(sim->builder, NULL, part->node);
    return grove_builder_finish(sim->builder, out_doc, NULL);
}

static grove_status version_doc(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                                const gv_sim_parts *parts, uint64_t rv, version *v) {
    char api_version[96];
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion",
                         gv_kind_api_version(kind, api_version, sizeof api_version));
    grove_builder_string(b, "kind", gv_kind_get(kind)->name);
    gv_sim_meta_build(sim, b, meta, rv);
    for (size_t i = 0; i < parts->n; i++) {
        /* Keys are NUL-terminated texts of documents or literals. */
        grove_builder_link(b, parts->v[i].key.p, v->sections.v[i].doc,
                           grove_doc_root(v->sections.v[i].doc));
    }
    grove_builder_close(b);
    return grove_builder_finish(b, &v->doc, NULL);
}

/* The sections' keys are borrowed from the new document, whose members stand in the same order. */
static void name_sections(version *v) {
    const grove_node *root = grove_doc_root(v->doc);
    const grove_node *m = grove_node_at(root, 3);
    for (size_t i = 0; i < v->sections.n; i++) {
        v->sections.v[i].key.p = grove_node_key(m, &v->sections.v[i].key.n);
        m = grove_node_next(root, m);
    }
}

static grove_status version_make(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                                 const gv_sim_parts *parts, uint64_t rv, version *out) {
    version v = {0};
    if (!gv_vec_reserve(sim->env, &v.sections, parts->n)) {
        return GROVE_E_NOMEM;
    }
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < parts->n && st == GROVE_OK; i++) {
        gv_sim_section s = {0};
        st = section_doc(sim, &parts->v[i], &s.doc);
        if (st == GROVE_OK) {
            v.sections.v[v.sections.n++] = s;
        }
    }
    if (st == GROVE_OK) {
        st = version_doc(sim, kind, meta, parts, rv, &v);
    }
    if (st < 0) {
        version_fini(sim, &v);
        return st;
    }
    name_sections(&v);
    *out = v;
    return GROVE_OK;
}

grove_status gv_sim_compose(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                            const gv_sim_parts *parts, uint64_t rv, grove_doc **out_doc) {
    version v = {0};
    grove_status st = version_make(sim, kind, meta, parts, rv, &v);
    if (st == GROVE_OK) {
        *out_doc = grove_doc_ref(v.doc);
        version_fini(sim, &v);
    }
    return st;
}

/* ---- history ---- */

static void change_fini(gv_sim_change *c) {
    grove_doc_unref(c->doc);
    grove_doc_unref(c->old);
}

void gv_sim_history_trim(gv_sim_table *t, size_t keep) {
    while (t->history.n - t->history_head > keep) {
        gv_sim_change *c = &t->history.v[t->history_head++];
        t->lost_rv = c->rv;
        t->dropped++;
        change_fini(c);
    }
    /* Move down only when half is waste: amortised constant. */
    if (t->history_head > 0 && t->history_head * 2 >= t->history.n) {
        memmove(t->history.v, t->history.v + t->history_head,
                (t->history.n - t->history_head) * sizeof *t->history.v);
        t->history.n -= t->history_head;
        t->history_head = 0;
    }
}

static bool history_reserve(grove_sim *sim, gv_sim_table *t) {
    return gv_vec_reserve(sim->env, &t->history, t->history.n + 1);
}

/* Takes the references over; room was reserved. */
static void history_add(grove_sim *sim, gv_kind kind, gv_sim_change change) {
    gv_sim_table *t = &sim->tables[kind];
    t->last_rv = change.rv;
    t->history.v[t->history.n++] = change;
    if (sim->observe) {
        char rv[24];
        (void)gv_fmt(rv, sizeof rv, "%llu", (unsigned long long)change.rv);
        grove_event e = {(uint32_t)sizeof e,         change.type, 0,
                         (grove_kind)kind,           0,           change.doc,
                         grove_doc_root(change.doc), rv};
        sim->observe(sim->observe_ctx, sim->now, &e);
    }
    gv_sim_history_trim(t, sim->options.history);
}

/* ---- the queue of the controllers ---- */

grove_status gv_sim_touch(grove_sim *sim, gv_sim_object *o) {
    if (o->queued) {
        return GROVE_OK;
    }
    if (!gv_vec_push(sim->env, &sim->queue, o)) {
        return GROVE_E_NOMEM;
    }
    o->queued = true;
    o->refs++;
    return GROVE_OK;
}

/* ---- writing ---- */

void gv_sim_make_uid(grove_sim *sim, char *out) {
    uint64_t a = gv_prng_next(&sim->prng), b = gv_prng_next(&sim->prng);
    (void)gv_fmt(out, 37, "%08x-%04x-4%03x-%04x-%04x%08x", (unsigned)(a >> 32),
                 (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                 (unsigned)((b >> 48 & 0x3fff) | 0x8000), (unsigned)(b >> 32 & 0xffff),
                 (unsigned)(b & 0xffffffff));
}

/* What later decisions read of an object, without its document. */
static void object_facts(gv_sim_object *o, const gv_sim_meta *meta) {
    o->dying = meta->deleted_ns != GV_SIM_NO_TIME;
    if (o->kind == GV_KIND_POD) {
        o->pod_ready = !o->dying && gv_sim_condition_true(gv_sim_root(o), "Ready");
    }
}

grove_status gv_sim_insert(grove_sim *sim, gv_kind kind, const gv_sim_meta *meta,
                           const gv_sim_parts *parts, gv_sim_object **out_object) {
    gv_sim_table *t = &sim->tables[kind];
    gv_sim_object *o = gv_zalloc(sim->env, sizeof *o);
    if (!o) {
        return GROVE_E_NOMEM;
    }
    o->refs = 1;
    o->kind = kind;
    version v = {0};
    if (!object_names(sim, o, meta) || !history_reserve(sim, t)) {
        gv_sim_object_unref(sim, o);
        return GROVE_E_NOMEM;
    }
    grove_status st = version_make(sim, kind, meta, parts, sim->rv + 1, &v);
    if (st < 0) {
        gv_sim_object_unref(sim, o);
        return st;
    }
    o->doc = v.doc;
    o->sections = v.sections;
    if (!gv_map_put(&t->objects, o->key, o) || !gv_map_put(&sim->by_uid, o->uid, o) ||
        !gv_sim_index_object(sim, o, meta, NULL) || gv_sim_touch(sim, o) < 0) {
        gv_sim_unindex_object(sim, o, meta, NULL);
        (void)gv_map_remove(&sim->by_uid, o->uid);
        (void)gv_map_remove(&t->objects, o->key);
        gv_sim_object_unref(sim, o);
        return GROVE_E_NOMEM;
    }
    o->exists = true;
    o->rv = ++sim->rv;
    o->serial = ++sim->serial;
    object_facts(o, meta);
    history_add(sim, kind, (gv_sim_change){GROVE_EVENT_ADDED, o->rv, grove_doc_ref(o->doc), NULL});
    *out_object = o;
    return GROVE_OK;
}

grove_status gv_sim_update(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_parts *parts) {
    gv_sim_table *t = &sim->tables[o->kind];
    gv_sim_meta was;
    gv_sim_meta_read(gv_sim_root(o), &was);
    version v = {0};
    if (!history_reserve(sim, t) || gv_sim_touch(sim, o) < 0) {
        return GROVE_E_NOMEM;
    }
    grove_status st = version_make(sim, o->kind, meta, parts, sim->rv + 1, &v);
    if (st < 0) {
        return st;
    }
    if (!gv_sim_index_object(sim, o, meta, &was)) {
        gv_sim_unindex_object(sim, o, meta, &was);
        version_fini(sim, &v);
        return GROVE_E_NOMEM;
    }
    gv_sim_unindex_object(sim, o, &was, meta);
    grove_doc *old = o->doc;
    sections_fini(sim, &o->sections);
    o->doc = v.doc;
    o->sections = v.sections;
    o->rv = ++sim->rv;
    /* Borrowed texts of `meta` and `parts` may have ended with the old version's documents: the new
     * document says the same. */
    gv_sim_meta now;
    gv_sim_meta_read(gv_sim_root(o), &now);
    object_facts(o, &now);
    history_add(sim, o->kind,
                (gv_sim_change){GROVE_EVENT_MODIFIED, o->rv, grove_doc_ref(o->doc), old});
    return GROVE_OK;
}

grove_status gv_sim_remove(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_parts *parts) {
    gv_sim_table *t = &sim->tables[o->kind];
    version v = {0};
    if (!history_reserve(sim, t) || gv_sim_touch(sim, o) < 0) {
        return GROVE_E_NOMEM;
    }
    grove_status st = version_make(sim, o->kind, meta, parts, sim->rv + 1, &v);
    if (st < 0) {
        return st;
    }
    gv_sim_meta was;
    gv_sim_meta_read(gv_sim_root(o), &was);
    gv_sim_unindex_object(sim, o, &was, NULL);
    (void)gv_map_remove(&sim->by_uid, o->uid);
    (void)gv_map_remove(&t->objects, o->key);
    gv_sim_kubelet_forget(sim, o);
    gv_sim_node_forget(sim, o);
    grove_doc *old = o->doc;
    sections_fini(sim, &o->sections);
    o->doc = v.doc;
    o->sections = v.sections;
    o->exists = false;
    o->pod_ready = false;
    o->rv = ++sim->rv;
    history_add(sim, o->kind,
                (gv_sim_change){GROVE_EVENT_DELETED, o->rv, grove_doc_ref(o->doc), old});
    gv_sim_object_unref(sim, o); /* the table's reference; the queue still holds one */
    return GROVE_OK;
}
