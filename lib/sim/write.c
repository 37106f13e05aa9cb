/* SPDX-License-Identifier: Apache-2.0 */
/* The next version of an object: what a client may change, and what the cluster's own controllers write. */
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/lease.h"
#include "sim/managers.h"
#include "sim/meta.h"
#include "sim/podrules.h"
#include "value/doc.h"

grove_status gv_sim_preconditions(gv_sim_call *c) {
    char rv[24];
    const char *uid = c->op->uid, *want = c->op->resource_version;
    if (uid && uid[0] && !gv_str_is(c->obj->uid, uid)) {
        return gv_sim_conflict(c, "the uid in the precondition is not the uid in record");
    }
    (void)gv_fmt(rv, sizeof rv, "%llu", (unsigned long long)c->obj->rv);
    if (want && want[0] && strcmp(want, rv) != 0) {
        return gv_sim_conflict(c, "the object has been modified; please apply your changes to the "
                                  "latest version and try again");
    }
    return GROVE_OK;
}

/* ---- what a client may not do ---- */

static bool finalizers_grow(const gv_sim_meta *was, const gv_sim_meta *next) {
    GV_EACH(f, next->finalizers) {
        if (!gv_sim_has_finalizer(was, grove_node_text(f) ? grove_node_text(f) : "")) {
            return true;
        }
    }
    return false;
}

static grove_status check_identity(gv_sim_call *c, const grove_node *next,
                                   const gv_sim_meta *meta) {
    if (grove_node_type(next) != GROVE_OBJECT) {
        return gv_sim_bad_request(c, "the object is not an object any more");
    }
    if (gv_kind_of(next) != GV_KIND_NONE && gv_kind_of(next) != c->kind) {
        return gv_sim_bad_request(c, "the kind of an object cannot change");
    }
    if (meta->name.n > 0 && !gv_str_eq(meta->name, c->obj->name)) {
        return gv_sim_bad_request(c,
                                  "the name of the object (%.*s) does not match the name on the "
                                  "URL (%.*s)",
                                  (int)meta->name.n, meta->name.p, (int)c->name.n, c->name.p);
    }
    if (meta->ns.n > 0 && !gv_str_eq(meta->ns, c->obj->ns)) {
        return gv_sim_bad_request(c, "the namespace of the provided object does not match the "
                                     "namespace sent on the request");
    }
    gv_str rv = gv_node_get_str(grove_node_get(next, "metadata"), "resourceVersion");
    char have[24];
    (void)gv_fmt(have, sizeof have, "%llu", (unsigned long long)c->obj->rv);
    if (rv.n > 0 && !gv_str_is(rv, have)) {
        return gv_sim_conflict(c, "the object has been modified; please apply your changes to the "
                                  "latest version and try again");
    }
    if (meta->uid.n > 0 && !gv_str_eq(meta->uid, c->obj->uid)) {
        return c->info->custom && c->op->verb == GROVE_VERB_PATCH
                   ? gv_sim_invalid(c, "metadata.uid", "FieldValueInvalid",
                                    "Invalid value: field is immutable")
                   : gv_sim_conflict(c, "the uid in the precondition is not the uid in record");
    }
    return GROVE_OK;
}

static grove_status check_change(gv_sim_call *c, const grove_node *next, const gv_sim_meta *was,
                                 const gv_sim_meta *meta) {
    if (c->obj->dying && finalizers_grow(was, meta)) {
        return gv_sim_invalid(c, "metadata.finalizers", "FieldValueForbidden",
                              "Forbidden: no new finalizers can be added if the object is being "
                              "deleted");
    }
    if (c->kind == GV_KIND_LEASE) {
        return gv_sim_check_lease(c, next);
    }
    if (c->kind == GV_KIND_POD) {
        return gv_sim_check_pod_change(c, grove_node_get(gv_sim_root(c->obj), "spec"),
                                       grove_node_get(next, "spec"));
    }
    return GROVE_OK;
}

/* ---- storing ---- */

/* What the server owns comes from the stored object. */
static void merge_meta(gv_sim_call *c, const gv_sim_meta *was, gv_sim_meta *meta) {
    gv_sim_meta next = *was;
    if (c->op->subresource != GROVE_SUBRESOURCE_STATUS) {
        next.labels = meta->labels;
        next.annotations = meta->annotations;
        next.owners = meta->owners;
        next.finalizers = meta->finalizers;
    }
    *meta = next;
}

/* Only finalizers kept it, and the last one is gone. */
static bool may_go(const gv_sim_meta *meta) {
    return meta->deleted_ns != GV_SIM_NO_TIME && meta->grace <= 0 && !meta->finalizers;
}

static grove_status finish(gv_sim_call *c, gv_sim_meta *meta, const gv_sim_meta *was,
                           gv_sim_parts *parts) {
    bool body = gv_sim_parts_differ(parts, c->obj, "status");
    if (meta->generation > 0 && body) {
        meta->generation++;
    }
    if (!gv_sim_parts_differ(parts, c->obj, "") && gv_sim_meta_same(meta, was)) {
        return gv_sim_answer_object(c, 200, c->obj); /* a write that changes nothing is none */
    }
    if (c->dry_run) {
        grove_doc *doc = NULL;
        grove_status st = gv_sim_compose(c->sim, c->kind, meta, parts, c->obj->rv, &doc);
        return st < 0 ? st : gv_sim_answer(c, 200, doc);
    }
    if (may_go(meta) && c->kind != GV_KIND_NAMESPACE) {
        gv_sim_object *o = c->obj;
        grove_status st = gv_sim_remove(c->sim, o, meta, parts);
        /* the queue holds the object until the controllers have seen it */
        return st < 0 ? st : gv_sim_answer_object(c, 200, o);
    }
    grove_status st = gv_sim_update(c->sim, c->obj, meta, parts);
    return st < 0 ? st : gv_sim_answer_object(c, 200, c->obj);
}

/* Members of the next version: the status from one side, everything else from the other. */
static grove_status choose_parts(gv_sim_call *c, const grove_node *next, gv_sim_parts *parts) {
    bool status_write = c->op->subresource == GROVE_SUBRESOURCE_STATUS;
    const grove_node *stored = gv_sim_root(c->obj);
    grove_status st = gv_sim_parts_of(c->sim, status_write ? stored : next, c->obj, parts);
    if (st < 0 || !c->info->has_status) {
        return st;
    }
    const grove_node *status = grove_node_get(status_write ? next : stored, "status");
    if (!status) {
        gv_sim_parts_remove(parts, "status");
        return GROVE_OK;
    }
    grove_doc *had = gv_sim_section_doc(c->obj, "status");
    bool same = had && gv_sim_node_same(grove_doc_root(had), status);
    return gv_sim_parts_set(c->sim, parts, "status", status, same ? had : NULL);
}

static grove_status store(gv_sim_call *c, const grove_node *next, const gv_sim_meta *was) {
    gv_sim_meta meta;
    gv_sim_meta_read(next, &meta);
    merge_meta(c, was, &meta);
    gv_sim_parts parts = {0};
    grove_doc *managed = NULL;
    grove_status st = choose_parts(c, next, &parts);
    const grove_node *had = c->claims ? c->claims : meta.managed;
    st = st < 0 ? st : gv_managers_track(c, c->obj, had, &meta, &parts, &managed);
    st = st < 0 ? st : finish(c, &meta, was, &parts);
    grove_doc_unref(managed);
    gv_vec_fini(c->sim->env, &parts);
    return st;
}

grove_status gv_sim_write(gv_sim_call *c, grove_doc *next_doc, const grove_node *next) {
    gv_sim_meta was, meta;
    gv_sim_meta_read(gv_sim_root(c->obj), &was);
    gv_sim_meta_read(next, &meta);
    const grove_node *claims = grove_node_at_path(next, "/metadata/managedFields");
    c->claims = claims && !gv_sim_node_same(claims, was.managed) ? claims : NULL;
    grove_status st = check_identity(c, next, &meta);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    if (c->op->subresource == GROVE_SUBRESOURCE_STATUS) {
        return store(c, next, &was);
    }
    st = check_change(c, next, &was, &meta);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    grove_doc *admitted = grove_doc_ref(next_doc);
    c->said = next == grove_doc_root(next_doc) ? next_doc : NULL;
    st = next == grove_doc_root(next_doc) ? gv_sim_admit(c, GROVE_VERB_REPLACE, &admitted)
                                          : GROVE_OK;
    if (st == GROVE_OK && !gv_sim_refused(c)) {
        st = store(c, admitted == next_doc ? next : grove_doc_root(admitted), &was);
    }
    c->said = NULL;
    grove_doc_unref(admitted);
    return st;
}

grove_status gv_sim_replace(gv_sim_call *c) {
    gv_str rv = gv_node_get_str(grove_node_get(c->body, "metadata"), "resourceVersion");
    if (rv.n == 0 && c->info->custom) {
        return gv_sim_invalid(c, "metadata.resourceVersion", "FieldValueInvalid",
                              "Invalid value: 0: must be specified for an update");
    }
    return gv_sim_write(c, c->op->body_doc, c->body);
}

/* ---- controllers ---- */

static grove_status own_write(grove_sim *sim, gv_sim_object *o, gv_sim_meta *meta, const char *key,
                              grove_doc *doc) {
    gv_sim_meta was;
    gv_sim_meta_read(gv_sim_root(o), &was);
    gv_sim_parts parts = {0};
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < o->sections.n && st == GROVE_OK; i++) {
        gv_sim_part p = {o->sections.v[i].key, NULL, o->sections.v[i].doc};
        st = gv_vec_push(sim->env, &parts, p) ? GROVE_OK : GROVE_E_NOMEM;
    }
    if (st == GROVE_OK && key) {
        grove_doc *had = gv_sim_section_doc(o, key);
        bool same = had && gv_sim_node_same(grove_doc_root(had), grove_doc_root(doc));
        st = gv_sim_parts_set(sim, &parts, key, NULL, same ? had : doc);
    }
    if (st == GROVE_OK &&
        (gv_sim_parts_differ(&parts, o, "") || !gv_sim_meta_same(meta ? meta : &was, &was))) {
        st = gv_sim_update(sim, o, meta ? meta : &was, &parts);
    }
    gv_vec_fini(sim->env, &parts);
    return st;
}

grove_status gv_sim_put_section(grove_sim *sim, gv_sim_object *o, const char *key, grove_doc *doc) {
    return own_write(sim, o, NULL, key, doc);
}

grove_status gv_sim_put_meta(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta) {
    gv_sim_meta copy = *meta;
    return own_write(sim, o, &copy, NULL, NULL);
}
