/* SPDX-License-Identifier: Apache-2.0 */
/* Background, foreground and orphaning deletion; namespaces. */
#include "sim/owner.h"

#include "sim/call.h"
#include "sim/index.h"
#include "sim/meta.h"

static bool owner_lives(const grove_sim *sim, const gv_sim_object *o, gv_str uid) {
    const gv_sim_object *owner = gv_sim_find_uid(sim, uid);
    return owner && (owner->ns.n == 0 || gv_str_eq(owner->ns, o->ns));
}

/* An object all of whose owners are gone is garbage. */
static grove_status collect_orphan(grove_sim *sim, gv_sim_object *o) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    if (!meta.owners || o->dying) {
        return GROVE_OK;
    }
    GV_EACH(r, meta.owners) {
        if (owner_lives(sim, o, gv_node_get_str(r, "uid"))) {
            return GROVE_OK;
        }
    }
    return gv_sim_delete_quietly(sim, o);
}

/* A copy that holds references, since deleting shortens the index list. */
static grove_status dependents_of(grove_sim *sim, gv_str uid, gv_sim_objects *out) {
    const gv_sim_objects *list = gv_sim_index_get(&sim->dependents, uid);
    if (!list) {
        return GROVE_OK;
    }
    if (!gv_vec_reserve(sim->env, out, list->n)) {
        return GROVE_E_NOMEM;
    }
    for (size_t i = 0; i < list->n; i++) {
        list->v[i]->refs++;
        out->v[out->n++] = list->v[i];
    }
    return GROVE_OK;
}

static void release(grove_sim *sim, gv_sim_objects *list) {
    for (size_t i = 0; i < list->n; i++) {
        gv_sim_object_unref(sim, list->v[i]);
    }
    gv_vec_fini(sim->env, list);
}

static grove_status collect_dependents(grove_sim *sim, const gv_sim_object *gone) {
    gv_sim_objects list = {0};
    grove_status st = dependents_of(sim, gone->uid, &list);
    for (size_t i = 0; i < list.n && st == GROVE_OK; i++) {
        if (list.v[i]->exists) {
            st = collect_orphan(sim, list.v[i]);
        }
    }
    release(sim, &list);
    return st;
}

/* Whether the reference of `o` to `uid` blocks a foreground deletion. */
static bool blocks(const gv_sim_object *o, gv_str uid) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    GV_EACH(r, meta.owners) {
        if (gv_str_eq(gv_node_get_str(r, "uid"), uid)) {
            return gv_node_get_bool(r, "blockOwnerDeletion");
        }
    }
    return false;
}

static grove_status drop_finalizer(grove_sim *sim, gv_sim_object *o, const char *finalizer) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    grove_builder *b = sim->builder;
    grove_builder_open_array(b, NULL);
    GV_EACH(f, meta.finalizers) {
        if (!gv_str_is(gv_node_str(f), finalizer)) {
            grove_builder_copy(b, NULL, f);
        }
    }
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st < 0) {
        return st;
    }
    const grove_node *rest = grove_doc_root(doc);
    meta.finalizers = grove_node_size(rest) > 0 ? rest : NULL;
    st = gv_sim_put_meta(sim, o, &meta);
    if (st == GROVE_OK && !meta.finalizers && meta.grace <= 0) {
        st = gv_sim_finish_delete(sim, o);
    }
    grove_doc_unref(doc);
    return st;
}

/* Foreground: dependents first; those that block must be gone before the owner goes. */
static grove_status collect_foreground(grove_sim *sim, gv_sim_object *o) {
    gv_sim_objects list = {0};
    grove_status st = dependents_of(sim, o->uid, &list);
    bool blocked = false;
    for (size_t i = 0; i < list.n && st == GROVE_OK; i++) {
        st = gv_sim_delete_quietly(sim, list.v[i]);
        blocked = blocked || (list.v[i]->exists && blocks(list.v[i], o->uid));
    }
    release(sim, &list);
    return st < 0 || blocked ? st : drop_finalizer(sim, o, GV_SIM_FINALIZER_FOREGROUND);
}

/* Orphan: dependents lose their reference to the owner and stay. */
static grove_status disown(grove_sim *sim, gv_sim_object *o, gv_str uid) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    grove_builder *b = sim->builder;
    grove_builder_open_array(b, NULL);
    GV_EACH(r, meta.owners) {
        if (!gv_str_eq(gv_node_get_str(r, "uid"), uid)) {
            grove_builder_copy(b, NULL, r);
        }
    }
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        const grove_node *rest = grove_doc_root(doc);
        meta.owners = grove_node_size(rest) > 0 ? rest : NULL;
        st = gv_sim_put_meta(sim, o, &meta);
        grove_doc_unref(doc);
    }
    return st;
}

static grove_status collect_orphaning(grove_sim *sim, gv_sim_object *o) {
    gv_sim_objects list = {0};
    grove_status st = dependents_of(sim, o->uid, &list);
    for (size_t i = 0; i < list.n && st == GROVE_OK; i++) {
        st = disown(sim, list.v[i], o->uid);
    }
    release(sim, &list);
    return st < 0 ? st : drop_finalizer(sim, o, GV_SIM_FINALIZER_ORPHAN);
}

/* An owner that waits in the foreground looks again when something of its own went. */
static grove_status wake_owners(grove_sim *sim, const gv_sim_object *gone) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(gone), &meta);
    GV_EACH(r, meta.owners) {
        gv_sim_object *owner = gv_sim_find_uid(sim, gv_node_get_str(r, "uid"));
        if (owner && owner->dying && gv_sim_touch(sim, owner) < 0) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

grove_status gv_sim_collect(grove_sim *sim, gv_sim_object *o) {
    if (!o->exists) {
        grove_status st = collect_dependents(sim, o);
        return st < 0 ? st : wake_owners(sim, o);
    }
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    if (o->dying && gv_sim_has_finalizer(&meta, GV_SIM_FINALIZER_FOREGROUND)) {
        return collect_foreground(sim, o);
    }
    if (o->dying && gv_sim_has_finalizer(&meta, GV_SIM_FINALIZER_ORPHAN)) {
        return collect_orphaning(sim, o);
    }
    return collect_orphan(sim, o);
}

/* ---- namespaces ---- */

static grove_status empty_kind(grove_sim *sim, gv_kind kind, gv_str ns, uint32_t *left) {
    gv_sim_table *t = &sim->tables[kind];
    gv_sim_objects list = {0};
    gv_map_entry *e;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; (e = gv_map_next(&t->objects, &i));) {
        gv_sim_object *o = e->value;
        if (gv_str_eq(o->ns, ns)) {
            if (!gv_vec_push(sim->env, &list, o)) {
                st = GROVE_E_NOMEM;
                break;
            }
            o->refs++;
        }
    }
    for (size_t i = 0; i < list.n && st == GROVE_OK; i++) {
        st = gv_sim_delete_quietly(sim, list.v[i]);
        *left += list.v[i]->exists ? 1 : 0;
    }
    release(sim, &list);
    return st;
}

static grove_status say_terminating(grove_sim *sim, gv_sim_object *ns) {
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "phase", "Terminating");
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_put_section(sim, ns, "status", doc);
        grove_doc_unref(doc);
    }
    return st;
}

grove_status gv_sim_collect_namespace(grove_sim *sim, gv_sim_object *ns) {
    uint32_t left = 0;
    grove_status st = say_terminating(sim, ns);
    for (int k = GV_KIND_NONE + 1; k < GV_KIND_COUNT && st == GROVE_OK; k++) {
        if (gv_kind_get((gv_kind)k)->namespaced) {
            st = empty_kind(sim, (gv_kind)k, ns->name, &left);
        }
    }
    return st == GROVE_OK && left == 0 ? gv_sim_finish_delete(sim, ns) : st;
}
