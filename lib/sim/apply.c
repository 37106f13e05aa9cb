/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply, and `kubectl apply` as one manager of it: the configuration laid over the object, without
 * what the manager applied before and lets go now.
 */
#include "sim/apply.h"

#include "sim/call.h"
#include "sim/defaults.h"
#include "sim/managers.h"
#include "sim/meta.h"

/* ---- memory, for objects that do not carry managedFields ---- */

void gv_sim_applied_fini(grove_sim *sim) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->applied, &i));) {
        grove_doc_unref(e->value);
    }
    gv_map_fini(&sim->applied);
}

void gv_sim_applied_forget(grove_sim *sim, const gv_sim_object *o) {
    grove_doc_unref(gv_map_remove(&sim->applied, o->uid));
}

/* The entries so far; NULL: none. */
static const grove_node *managers_of(const gv_sim_call *c) {
    if (!c->obj) {
        return NULL;
    }
    if (gv_sim_tracks_fields(c->sim)) {
        return grove_node_at_path(gv_sim_root(c->obj), "/metadata/managedFields");
    }
    const grove_doc *doc = gv_map_get(&c->sim->applied, c->obj->uid);
    return doc ? grove_doc_root(doc) : NULL;
}

static grove_status remember(gv_sim_call *c) {
    if (gv_sim_tracks_fields(c->sim) || !c->managed) {
        return GROVE_OK;
    }
    grove_doc *had = gv_map_get(&c->sim->applied, c->obj->uid);
    if (!gv_map_put(&c->sim->applied, c->obj->uid, c->managed)) {
        return GROVE_E_NOMEM;
    }
    (void)grove_doc_ref(c->managed);
    grove_doc_unref(had);
    return GROVE_OK;
}

/* ---- applying ---- */

/* The object with the configuration over it, less what is let go. */
static grove_status lay_over(gv_sim_call *c, const gv_apply *apply, grove_doc **out_doc) {
    grove_doc *merged = NULL;
    grove_builder *b = c->sim->builder;
    gv_fields_merge(b, c->kind, gv_sim_root(c->obj), c->body);
    grove_status st = grove_builder_finish(b, &merged, NULL);
    if (st < 0) {
        return st;
    }
    st = gv_fields_prune(c->sim->env, b, c->kind, grove_doc_root(merged), &apply->let_go);
    grove_status built = grove_builder_finish(b, out_doc, NULL);
    grove_doc_unref(merged);
    if (st < 0 && built == GROVE_OK) {
        grove_doc_unref(*out_doc);
        *out_doc = NULL;
    }
    return st < 0 ? st : built;
}

/* A pod's defaults come back where they were let go: to apply less is not to change a pod. */
static grove_status fill_in(gv_sim_call *c, grove_doc **doc) {
    grove_doc *filled = NULL;
    if (c->kind != GV_KIND_POD) {
        return GROVE_OK;
    }
    grove_status st = gv_sim_default_new(c->sim, c->kind, *doc, grove_doc_root(*doc), &filled);
    if (st == GROVE_OK) {
        grove_doc_unref(*doc);
        *doc = filled;
    }
    return st;
}

/* Creates or changes; `next` is NULL for an object that does not exist yet. */
static grove_status write_applied(gv_sim_call *c, gv_apply *apply, grove_doc *next) {
    const grove_node *root = next ? grove_doc_root(next) : c->body;
    grove_doc *managed = NULL;
    grove_status st = gv_apply_finish(c, apply, managers_of(c), c->obj ? gv_sim_root(c->obj) : NULL,
                                      root, &managed);
    if (st == GROVE_OK && !gv_sim_refused(c)) {
        c->applies = true;
        c->managed = managed;
        st = next ? gv_sim_write(c, next, root) : gv_sim_create(c, c->op->body_doc, c->body);
    }
    if (st == GROVE_OK && !gv_sim_refused(c) && c->obj && c->obj->exists && !c->dry_run &&
        c->op->subresource == GROVE_SUBRESOURCE_NONE) {
        st = remember(c);
    }
    c->managed = NULL;
    grove_doc_unref(managed);
    return st;
}

static grove_status apply(gv_sim_call *c) {
    gv_apply apply;
    grove_doc *next = NULL;
    grove_status st = gv_apply_begin(c, managers_of(c), &apply);
    st = st < 0 || !c->obj ? st : lay_over(c, &apply, &next);
    st = st < 0 || !next ? st : fill_in(c, &next);
    st = st < 0 ? st : write_applied(c, &apply, next);
    grove_doc_unref(next);
    gv_apply_fini(&apply);
    return st;
}

grove_status gv_sim_apply_op(gv_sim_call *c) {
    const char *manager = c->op->manager;
    if (!manager || !manager[0]) {
        return gv_sim_invalid(c, "fieldManager", "FieldValueRequired",
                              "Required value: is required for apply patch");
    }
    if (grove_node_type(c->body) != GROVE_OBJECT) {
        return gv_sim_bad_request(c, "the body is not an object");
    }
    if (c->name.n == 0) {
        c->name = gv_node_get_str(grove_node_get(c->body, "metadata"), "name");
    }
    c->obj = gv_sim_find(c->sim, c->kind, c->ns, c->name);
    grove_status st = c->obj ? gv_sim_preconditions(c) : GROVE_OK;
    return st < 0 || gv_sim_refused(c) ? st : apply(c);
}
