/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of managedFields in and out, and what writes make of them. */
#include "sim/managers.h"

#include "model/schema.h"
#include "sim/meta.h"
#include "value/doc.h"
#include "value/scalar.h"

#define OWN_MANAGER "libgrove" /* of writes that name none, as with the backend to a real server */

bool gv_sim_tracks_fields(const grove_sim *sim) {
    return sim->options.flags & GROVE_SIM_MANAGED_FIELDS;
}

/* ---- entries ---- */

typedef struct entry {
    gv_str manager, operation, version, time, subresource;
    gv_fields set;
    struct entry *next;
} entry;

static bool read_entry(gv_arena *a, const grove_node *node, entry *out) {
    out->manager = gv_node_get_str(node, "manager");
    out->operation = gv_node_get_str(node, "operation");
    out->version = gv_node_get_str(node, "apiVersion");
    out->time = gv_node_get_str(node, "time");
    out->subresource = gv_node_get_str(node, "subresource");
    return gv_fields_read(a, grove_node_get(node, "fieldsV1"), &out->set);
}

static bool read_entries(gv_arena *a, const grove_node *list, entry **out) {
    entry **at = out;
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        *at = gv_arena_new(a, entry);
        if (!*at || !read_entry(a, e, *at)) {
            return false;
        }
        at = &(*at)->next;
    }
    return true;
}

static void write_entry(grove_builder *b, const entry *e) {
    grove_builder_open_object(b, NULL);
    grove_builder_stringn(b, "manager", e->manager.p, e->manager.n);
    grove_builder_stringn(b, "operation", e->operation.p, e->operation.n);
    grove_builder_stringn(b, "apiVersion", e->version.p, e->version.n);
    if (e->time.n > 0) {
        grove_builder_stringn(b, "time", e->time.p, e->time.n);
    }
    grove_builder_string(b, "fieldsType", "FieldsV1");
    gv_fields_write(b, "fieldsV1", &e->set);
    if (e->subresource.n > 0) {
        grove_builder_stringn(b, "subresource", e->subresource.p, e->subresource.n);
    }
    grove_builder_close(b);
}

static grove_status write_entries(grove_sim *sim, const entry *list, grove_doc **out_doc) {
    bool any = false;
    grove_builder_open_array(sim->builder, NULL);
    for (; list; list = list->next) {
        if (gv_fields_any(&list->set)) {
            write_entry(sim->builder, list);
            any = true;
        }
    }
    grove_builder_close(sim->builder);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(sim->builder, &doc, NULL);
    if (st == GROVE_OK && any) {
        *out_doc = doc;
    } else {
        grove_doc_unref(doc);
    }
    return st;
}

static const char *subresource_of(const gv_sim_call *c) {
    return c->op->subresource == GROVE_SUBRESOURCE_STATUS  ? "status"
           : c->op->subresource == GROVE_SUBRESOURCE_SCALE ? "scale"
                                                           : "";
}

/* The entry of the one who writes, which may have to be made; NULL: no memory. */
static entry *own_entry(gv_sim_call *c, gv_arena *a, const char *operation, entry **list) {
    char version[96];
    const char *manager = c->op->manager && c->op->manager[0] ? c->op->manager : OWN_MANAGER;
    (void)gv_kind_api_version(c->kind, version, sizeof version);
    entry **at = list;
    for (; *at; at = &(*at)->next) {
        if (gv_str_is((*at)->manager, manager) && gv_str_is((*at)->operation, operation) &&
            gv_str_is((*at)->version, version) &&
            gv_str_is((*at)->subresource, subresource_of(c))) {
            return *at;
        }
    }
    entry *made = gv_arena_new(a, entry);
    char *name = made ? gv_arena_dup(a, gv_str_c(manager)) : NULL;
    char *api = name ? gv_arena_dup(a, gv_str_c(version)) : NULL;
    if (!api) {
        return NULL;
    }
    made->manager = gv_str_c(name);
    made->version = gv_str_c(api);
    made->operation = gv_str_c(operation);
    made->subresource = gv_str_c(subresource_of(c));
    *at = made;
    return made;
}

static bool stamp(gv_sim_call *c, gv_arena *a, entry *e) {
    grove_buf_clear(&c->sim->scratch);
    (void)gv_time_format(c->sim->now, &c->sim->scratch); /* roomy from birth */
    char *text = gv_arena_dup(a, (gv_str){c->sim->scratch.data, (size_t)c->sim->scratch.len});
    e->time = text ? gv_str_c(text) : e->time;
    return text != NULL;
}

/* ---- updates ---- */

/* A client owns what it said and what the server adds by itself, but nothing that a webhook adds. */
static grove_status leave_out_webhooks(gv_sim_call *c, gv_arena *a, gv_fields *changed) {
    grove_doc *doc = NULL;
    gv_fields said = {0}, nothing = {0}, both = {0};
    if (!c->said || !gv_schema_has(c->kind)) {
        return GROVE_OK;
    }
    grove_status st = gv_schema_default(c->kind, c->said, grove_doc_root(c->said), 0, c->ns, &doc,
                                        NULL);
    if (st == GROVE_OK) {
        bool ok = gv_fields_compare(a, c->kind, NULL, grove_doc_root(doc), &said, &nothing) &&
                  gv_fields_meet(a, changed, &said, &both);
        st = ok ? GROVE_OK : GROVE_E_NOMEM;
    }
    if (st == GROVE_OK) {
        *changed = both;
    }
    grove_doc_unref(doc);
    return st;
}

static grove_status update(gv_sim_call *c, gv_arena *a, const grove_node *had,
                           const grove_node *was, const grove_node *next, grove_doc **out_doc) {
    entry *list = NULL;
    gv_fields changed = {0}, removed = {0}, before = {0};
    if (!read_entries(a, had, &list) ||
        !gv_fields_compare(a, c->kind, was, next, &changed, &removed)) {
        return GROVE_E_NOMEM;
    }
    grove_status st = leave_out_webhooks(c, a, &changed);
    if (st < 0) {
        return st;
    }
    entry *own = gv_fields_any(&changed) ? own_entry(c, a, "Update", &list) : NULL;
    if (gv_fields_any(&changed) && (!own || !gv_fields_add(a, &before, &own->set))) {
        return GROVE_E_NOMEM;
    }
    for (entry *e = list; e; e = e->next) {
        gv_fields_drop(&e->set, &removed);
        if (e != own) {
            gv_fields_drop(&e->set, &changed);
        }
    }
    if (own && (!gv_fields_add(a, &own->set, &changed) || !stamp(c, a, own))) {
        return GROVE_E_NOMEM;
    }
    return write_entries(c->sim, list, out_doc);
}

/* The entries after a client's update from `was` (NULL: it is created) to `next`; `had` are those so far, NULL:
 * none. *out_doc stays NULL when there are none. */
static grove_status entries_after(gv_sim_call *c, const grove_node *had, const grove_node *was,
                                  const grove_node *next, grove_doc **out_doc) {
    gv_arena a;
    gv_arena_init(&a, c->sim->env);
    grove_status st = update(c, &a, had, was, next, out_doc);
    gv_arena_fini(&a);
    return st;
}

grove_status gv_managers_track(gv_sim_call *c, const gv_sim_object *was, const grove_node *had,
                               gv_sim_meta *meta, const gv_sim_parts *parts,
                               grove_doc **out_managed) {
    grove_doc *next = NULL;
    grove_status st = GROVE_OK;
    if (!gv_sim_tracks_fields(c->sim)) {
        return GROVE_OK;
    }
    if (c->applies) {
        *out_managed = grove_doc_ref(c->managed);
    } else {
        st = gv_sim_compose(c->sim, c->kind, meta, parts, was ? was->rv : 0, &next);
        st = st < 0 ? st
                    : entries_after(c, had, was ? gv_sim_root(was) : NULL, grove_doc_root(next),
                                    out_managed);
    }
    grove_doc_unref(next);
    meta->managed = *out_managed ? grove_doc_root(*out_managed) : NULL;
    return st;
}

/* ---- applying ---- */

grove_status gv_apply_begin(gv_sim_call *c, const grove_node *had, gv_apply *out) {
    entry *list = NULL;
    *out = (gv_apply){0};
    gv_arena_init(&out->arena, c->sim->env);
    if (!read_entries(&out->arena, had, &list) ||
        !gv_fields_of(&out->arena, c->kind, c->body, &out->claimed)) {
        return GROVE_E_NOMEM;
    }
    const entry *own = own_entry(c, &out->arena, "Apply", &list);
    if (!own || !gv_fields_add(&out->arena, &out->let_go, &own->set)) {
        return GROVE_E_NOMEM;
    }
    gv_fields_release(&out->let_go, &out->claimed);
    for (const entry *e = list; e; e = e->next) {
        if (e != own) {
            gv_fields_release(&out->let_go, &e->set);
        }
    }
    return GROVE_OK;
}

void gv_apply_fini(gv_apply *apply) {
    gv_arena_fini(&apply->arena);
}

/* Who is in the way, for the answer. */
typedef struct conflicts {
    uint32_t n;
    grove_buf causes; /* lines: field, TAB, reason, TAB, message */
    grove_buf text;   /* "conflicts with "a" using v1:\n- .spec\n..." */
    grove_buf path;
    char who[300]; /* of the entry at hand */
} conflicts;

static grove_status put_conflict(conflicts *k) {
    k->n++;
    grove_status st = gv_buf_fmt(&k->causes, "%.*s\tFieldManagerConflict\tconflict with %s\n",
                                 (int)k->path.len, k->path.data, k->who);
    return st < 0 ? st : gv_buf_fmt(&k->text, "\n- %.*s", (int)k->path.len, k->path.data);
}

static grove_status put_conflicts(conflicts *k, const gv_fields *set) {
    uint64_t n = k->path.len;
    grove_status st = set->member && n > 0 ? put_conflict(k) : GROVE_OK;
    for (const gv_fields *f = set->first; st == GROVE_OK && f; f = f->next) {
        st = gv_fields_put_step(f->step, &k->path);
        st = st < 0 ? st : put_conflicts(k, f);
        k->path.len = n;
    }
    return st;
}

static void name_entry(const entry *e, char *out, size_t cap) {
    bool updates = gv_str_is(e->operation, "Update"), part = e->subresource.n > 0;
    (void)gv_fmt(out, cap, "\"%.*s\"%s%.*s%s%s%.*s", (int)e->manager.n, e->manager.p,
                 part ? " with subresource \"" : "", (int)e->subresource.n, e->subresource.p,
                 part ? "\"" : "", updates ? " using " : "", updates ? (int)e->version.n : 0,
                 e->version.p);
}

static grove_status find_conflicts(gv_apply *apply, const entry *list, const entry *own,
                                   const gv_fields *changed, conflicts *k) {
    grove_status st = GROVE_OK;
    for (const entry *e = list; st == GROVE_OK && e; e = e->next) {
        gv_fields both = {0};
        if (e == own) {
            continue;
        }
        if (!gv_fields_meet(&apply->arena, &e->set, changed, &both)) {
            return GROVE_E_NOMEM;
        }
        if (gv_fields_any(&both)) {
            name_entry(e, k->who, sizeof k->who);
            st = gv_buf_fmt(&k->text, "%sconflicts with %s:", k->text.len ? "\n" : "", k->who);
            st = st < 0 ? st : put_conflicts(k, &both);
        }
    }
    return st;
}

static grove_status refuse(gv_sim_call *c, conflicts *k) {
    char message[1000], last[400] = "";
    grove_status st = grove_buf_append(&k->causes, "", 1);
    st = st < 0 ? st : grove_buf_append(&k->text, "", 1);
    if (st < 0) {
        return st;
    }
    (void)gv_fmt(last, sizeof last, "conflict with %s: %.*s", k->who,
                 (int)(strchr(k->causes.data, '\t') - k->causes.data), k->causes.data);
    (void)gv_fmt(message, sizeof message, "Apply failed with %u conflict%s: %s", k->n,
                 k->n == 1 ? "" : "s", k->n == 1 ? last : k->text.data);
    return gv_sim_refuse_causes(c, 409, "Conflict", k->causes.data, message);
}

static grove_status check_conflicts(gv_sim_call *c, gv_apply *apply, const entry *list,
                                    const entry *own, const gv_fields *changed) {
    conflicts k = {0};
    grove_buf *bufs[] = {&k.causes, &k.text, &k.path};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        grove_buf_init(bufs[i], c->sim->env);
    }
    grove_status st = find_conflicts(apply, list, own, changed, &k);
    st = st < 0 || k.n == 0 ? st : refuse(c, &k);
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) {
        grove_buf_fini(bufs[i]);
    }
    return st;
}

grove_status gv_apply_finish(gv_sim_call *c, gv_apply *apply, const grove_node *had,
                             const grove_node *was, const grove_node *next, grove_doc **out_doc) {
    gv_arena *a = &apply->arena;
    entry *list = NULL;
    gv_fields changed = {0}, removed = {0};
    if (!read_entries(a, had, &list) ||
        !gv_fields_compare(a, c->kind, was, next, &changed, &removed)) {
        return GROVE_E_NOMEM;
    }
    entry *own = own_entry(c, a, "Apply", &list);
    if (!own) {
        return GROVE_E_NOMEM;
    }
    if (!(c->op->flags & GROVE_OP_FORCE)) {
        grove_status st = check_conflicts(c, apply, list, own, &changed);
        if (st < 0 || gv_sim_refused(c)) {
            return st;
        }
    }
    for (entry *e = list; e; e = e->next) {
        if (e != own) {
            gv_fields_drop(&e->set, &changed);
            gv_fields_drop(&e->set, &removed);
        }
    }
    bool same = gv_fields_same(&own->set, &apply->claimed) && own->time.n > 0;
    own->set = apply->claimed;
    if (!same && !stamp(c, a, own)) {
        return GROVE_E_NOMEM;
    }
    return write_entries(c->sim, list, out_doc);
}
