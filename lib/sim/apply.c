/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-side apply, and `kubectl apply` as one manager of it: three-way merge of what the manager applied
 * last, what it applies now, and the object.
 *
 * Ownership is kept per manager as the whole document applied, not as field sets: fields that were written
 * by other means belong to nobody, so only two appliers can conflict.
 */
#include "sim/apply.h"

#include "sim/call.h"
#include "sim/meta.h"
#include "sim/strategic.h"

/* ---- memory ---- */

typedef struct applied {
    char *manager;
    grove_doc *doc;
    const grove_node *root; /* of the object within doc */
} applied;

typedef struct gv_sim_applied {
    GV_VEC(applied) by;
} gv_sim_applied;

static void applied_free(grove_sim *sim, gv_sim_applied *a) {
    for (size_t i = 0; i < a->by.n; i++) {
        gv_free(sim->env, a->by.v[i].manager, strlen(a->by.v[i].manager) + 1);
        grove_doc_unref(a->by.v[i].doc);
    }
    gv_vec_fini(sim->env, &a->by);
    gv_free(sim->env, a, sizeof *a);
}

void gv_sim_applied_fini(grove_sim *sim) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->applied, &i));) {
        applied_free(sim, e->value);
    }
    gv_map_fini(&sim->applied);
}

void gv_sim_applied_forget(grove_sim *sim, const gv_sim_object *o) {
    gv_sim_applied *a = gv_map_remove(&sim->applied, o->uid);
    if (a) {
        applied_free(sim, a);
    }
}

static applied *applied_by(const grove_sim *sim, gv_str uid, const char *manager) {
    gv_sim_applied *a = gv_map_get(&sim->applied, uid);
    for (size_t i = 0; a && i < a->by.n; i++) {
        if (strcmp(a->by.v[i].manager, manager) == 0) {
            return &a->by.v[i];
        }
    }
    return NULL;
}

static grove_status remember(grove_sim *sim, gv_str uid, const char *manager, grove_doc *doc,
                             const grove_node *root) {
    applied *had = applied_by(sim, uid, manager);
    if (had) {
        grove_doc *old = had->doc;
        had->doc = grove_doc_ref(doc);
        had->root = root;
        grove_doc_unref(old);
        return GROVE_OK;
    }
    gv_sim_applied *a = gv_map_get(&sim->applied, uid);
    if (!a) {
        a = gv_zalloc(sim->env, sizeof *a);
        if (!a || !gv_map_put(&sim->applied, uid, a)) {
            gv_free(sim->env, a, sizeof *a);
            return GROVE_E_NOMEM;
        }
    }
    size_t n = strlen(manager) + 1;
    applied entry = {gv_alloc(sim->env, n), doc, root};
    if (!entry.manager || !gv_vec_push(sim->env, &a->by, entry)) {
        gv_free(sim->env, entry.manager, n);
        return GROVE_E_NOMEM;
    }
    memcpy(entry.manager, manager, n);
    (void)grove_doc_ref(doc);
    return GROVE_OK;
}

/* ---- conflicts ---- */

/* The first leaf of `next` that `other` applied too and the object has with another value. */
static bool conflicts(const grove_node *next, const grove_node *other, const grove_node *have,
                      grove_buf *path) {
    if (grove_node_type(next) != GROVE_OBJECT || grove_node_type(other) != GROVE_OBJECT) {
        return !gv_sim_node_same(next, have);
    }
    uint64_t n = path->len;
    GV_EACH(m, next) {
        const char *key = grove_node_key(m, NULL);
        const grove_node *o = grove_node_get(other, key);
        if (!o) {
            continue;
        }
        (void)gv_buf_fmt(path, ".%s", key);
        if (conflicts(m, o, grove_node_get(have, key), path)) {
            return true;
        }
        path->len = n;
    }
    return false;
}

static grove_status check_conflicts(gv_sim_call *c, const char *manager) {
    gv_sim_applied *a = gv_map_get(&c->sim->applied, c->obj->uid);
    grove_buf path;
    grove_status st = GROVE_OK;
    grove_buf_init(&path, c->sim->env);
    for (size_t i = 0; a && i < a->by.n && st == GROVE_OK && !gv_sim_refused(c); i++) {
        const applied *other = &a->by.v[i];
        grove_buf_clear(&path);
        if (strcmp(other->manager, manager) != 0 &&
            conflicts(c->body, other->root, gv_sim_root(c->obj), &path)) {
            char why[160];
            (void)gv_fmt(why, sizeof why, "conflict with \"%s\"", other->manager);
            gv_sim_cause cause = {"FieldManagerConflict", why, path.data ? path.data : ""};
            st = gv_sim_refuse(c, 409, "Conflict", &cause, "Apply failed with 1 conflict: %s: %s",
                               why, cause.field);
        }
    }
    grove_buf_fini(&path);
    return st;
}

/* ---- the patch from what was applied last to what is applied now ---- */

static void patch_object(grove_builder *b, const char *key, const grove_node *last,
                         const grove_node *next, gv_kind kind, bool keyed);

static const grove_node *same_element(const grove_node *list, const char *by,
                                      const grove_node *element) {
    const grove_node *want = grove_node_get(element, by);
    GV_EACH(e, list) {
        if (want && grove_node_get(e, by) && grove_node_equal(grove_node_get(e, by), want)) {
            return e;
        }
    }
    return NULL;
}

static void patch_list(grove_builder *b, const char *key, const grove_node *last,
                       const grove_node *next, gv_kind kind, const char *by) {
    grove_builder_open_array(b, key);
    GV_EACH(e, next) {
        const grove_node *had = same_element(last, by, e);
        if (grove_node_type(e) == GROVE_OBJECT) {
            patch_object(b, NULL, had, e, kind, true);
        } else {
            grove_builder_copy(b, NULL, e);
        }
    }
    GV_EACH(e, last) {
        if (grove_node_get(e, by) && !same_element(next, by, e)) {
            grove_builder_open_object(b, NULL);
            grove_builder_string(b, "$patch", "delete");
            grove_builder_copy(b, by, grove_node_get(e, by));
            grove_builder_close(b);
        }
    }
    grove_builder_close(b);
}

static void patch_object(grove_builder *b, const char *key, const grove_node *last,
                         const grove_node *next, gv_kind kind, bool keyed) {
    grove_builder_open_object(b, key);
    GV_EACH(m, next) {
        const char *k = grove_node_key(m, NULL);
        const grove_node *had = grove_node_get(last, k);
        const char *by = keyed ? gv_strategic_merge_key(kind, k) : NULL;
        if (grove_node_type(m) == GROVE_OBJECT) {
            patch_object(b, k, had, m, kind, keyed);
        } else if (grove_node_type(m) == GROVE_ARRAY && by) {
            patch_list(b, k, had, m, kind, by);
        } else {
            grove_builder_copy(b, k, m);
        }
    }
    GV_EACH(m, last) {
        const char *k = grove_node_key(m, NULL);
        if (!grove_node_get(next, k)) {
            grove_builder_null(b, k);
        }
    }
    grove_builder_close(b);
}

static grove_status apply_to(gv_sim_call *c, const char *manager) {
    applied *had = applied_by(c->sim, c->obj->uid, manager);
    grove_doc *patch = NULL, *next = NULL;
    grove_error err = GROVE_ERROR_INIT;
    patch_object(c->sim->builder, NULL, had ? had->root : NULL, c->body, c->kind, !c->info->custom);
    grove_status st = grove_builder_finish(c->sim->builder, &patch, NULL);
    if (st == GROVE_OK) {
        st = c->info->custom
                 ? grove_merge_patch_apply(c->obj->doc, gv_sim_root(c->obj), patch,
                                           grove_doc_root(patch), &next, &err)
                 : gv_strategic_patch_apply(c->sim->env, c->obj->doc, gv_sim_root(c->obj), patch,
                                            grove_doc_root(patch), c->kind, &next, &err);
    }
    if (st == GROVE_OK) {
        st = gv_sim_write(c, next, grove_doc_root(next));
    }
    grove_doc_unref(next);
    grove_doc_unref(patch);
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
    grove_status st = GROVE_OK;
    if (!c->obj) {
        st = gv_sim_create(c, c->op->body_doc, c->body);
    } else {
        st = gv_sim_preconditions(c);
        if (st == GROVE_OK && !gv_sim_refused(c) && !(c->op->flags & GROVE_OP_FORCE)) {
            st = check_conflicts(c, manager);
        }
        if (st == GROVE_OK && !gv_sim_refused(c)) {
            st = apply_to(c, manager);
        }
    }
    if (st == GROVE_OK && !gv_sim_refused(c) && c->obj && c->obj->exists && !c->dry_run &&
        c->op->subresource == GROVE_SUBRESOURCE_NONE) {
        st = remember(c->sim, c->obj->uid, manager, c->op->body_doc, c->body);
    }
    return st;
}
