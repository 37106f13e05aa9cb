/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE: grace, finalizers, propagation; and the last words of controllers. */
#include "sim/admit.h"
#include "sim/call.h"
#include "sim/meta.h"
#include "sim/owner.h"

/* Every section as it is. */
static grove_status same_parts(grove_sim *sim, const gv_sim_object *o, gv_sim_parts *parts) {
    for (size_t i = 0; i < o->sections.n; i++) {
        gv_sim_part p = {o->sections.v[i].key, NULL, o->sections.v[i].doc};
        if (!gv_vec_push(sim->env, parts, p)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static grove_status remove_now(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta) {
    gv_sim_parts parts = {0};
    grove_status st = same_parts(sim, o, &parts);
    if (st == GROVE_OK) {
        st = gv_sim_remove(sim, o, meta, &parts);
    }
    gv_vec_fini(sim->env, &parts);
    return st;
}

/* Seconds that a pod gets; 0 for all other kinds, and for pods that nothing runs for. */
static int64_t grace_of(const gv_sim_object *o, int64_t wanted) {
    if (o->kind != GV_KIND_POD) {
        return 0;
    }
    const grove_node *root = gv_sim_root(o);
    const grove_node *spec = grove_node_get(root, "spec");
    gv_str phase = gv_node_get_str(grove_node_get(root, "status"), "phase");
    if (gv_node_get_str(spec, "nodeName").n == 0 || gv_str_is(phase, "Succeeded") ||
        gv_str_is(phase, "Failed")) {
        return 0;
    }
    return wanted >= 0 ? wanted : gv_node_get_int(spec, "terminationGracePeriodSeconds", 30);
}

/* The deletion mark; a later one never lengthens the time that is left. */
static void mark(grove_sim *sim, gv_sim_meta *meta, int64_t grace) {
    bool first = meta->deleted_ns == GV_SIM_NO_TIME;
    int64_t until = sim->now + grace * GV_SECOND;
    if (!first && (until >= meta->deleted_ns || grace >= meta->grace)) {
        return;
    }
    meta->deleted_ns = until;
    meta->grace = grace;
    if (first && meta->generation > 0) {
        meta->generation++;
    }
}

/* A finalizer of the garbage collector's, when the propagation asks for one. */
static const char *own_finalizer(grove_propagation propagation) {
    return propagation == GROVE_PROPAGATION_FOREGROUND ? GV_SIM_FINALIZER_FOREGROUND
           : propagation == GROVE_PROPAGATION_ORPHAN   ? GV_SIM_FINALIZER_ORPHAN
                                                       : NULL;
}

/* meta->finalizers plus one; *out_doc holds the list. */
static grove_status add_finalizer(grove_sim *sim, gv_sim_meta *meta, const char *finalizer,
                                  grove_doc **out_doc) {
    if (!finalizer || gv_sim_has_finalizer(meta, finalizer)) {
        return GROVE_OK;
    }
    grove_builder *b = sim->builder;
    grove_builder_open_array(b, NULL);
    GV_EACH(f, meta->finalizers) {
        grove_builder_copy(b, NULL, f);
    }
    grove_builder_string(b, NULL, finalizer);
    grove_builder_close(b);
    grove_status st = grove_builder_finish(b, out_doc, NULL);
    if (st == GROVE_OK) {
        meta->finalizers = grove_doc_root(*out_doc);
    }
    return st;
}

/* Deletes or marks; `answer` is told which object state to show. */
static grove_status delete_marked(gv_sim_call *c, gv_sim_meta *meta, int64_t grace) {
    gv_sim_object *o = c->obj;
    mark(c->sim, meta, grace);
    if (c->dry_run) {
        return gv_sim_answer_success(c, 200, o->uid);
    }
    bool waits = meta->finalizers || (o->kind == GV_KIND_POD && meta->grace > 0) ||
                 o->kind == GV_KIND_NAMESPACE;
    if (waits) {
        grove_status st = gv_sim_put_meta(c->sim, o, meta);
        return st < 0 ? st : gv_sim_answer_object(c, 200, o);
    }
    grove_doc *status = NULL;
    grove_status st = gv_sim_success_doc(c, 200, o->uid, &status);
    if (st == GROVE_OK) {
        st = remove_now(c->sim, o, meta);
    }
    if (st < 0 || o->kind == GV_KIND_POD) {
        grove_doc_unref(status);
        return st < 0 ? st : gv_sim_answer_object(c, 200, o);
    }
    return gv_sim_answer(c, 200, status);
}

grove_status gv_sim_delete_object(gv_sim_call *c, int64_t grace, grove_propagation propagation) {
    gv_sim_meta meta;
    grove_doc *list = NULL;
    gv_sim_meta_read(gv_sim_root(c->obj), &meta);
    grove_status st = add_finalizer(c->sim, &meta, own_finalizer(propagation), &list);
    if (st == GROVE_OK) {
        st = delete_marked(c, &meta, grace_of(c->obj, grace));
    }
    grove_doc_unref(list);
    return st;
}

grove_status gv_sim_remove_op(gv_sim_call *c) {
    grove_doc *none = NULL;
    grove_status st = gv_sim_admit(c, GROVE_VERB_DELETE, &none);
    if (st < 0 || gv_sim_refused(c)) {
        return st;
    }
    return gv_sim_delete_object(c, c->op->grace_seconds, c->op->propagation);
}

grove_status gv_sim_finish_delete(grove_sim *sim, gv_sim_object *o) {
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    mark(sim, &meta, 0);
    meta.grace = 0;
    return meta.finalizers ? gv_sim_put_meta(sim, o, &meta) : remove_now(sim, o, &meta);
}

grove_status gv_sim_delete_quietly(grove_sim *sim, gv_sim_object *o) {
    if (o->dying) {
        return GROVE_OK;
    }
    grove_op op = {.size = sizeof op, .verb = GROVE_VERB_DELETE};
    grove_sim_result res = {.size = sizeof res};
    gv_sim_call c = {sim, &op, gv_kind_get(o->kind), o->kind, o->ns, o->name, NULL, o, &res, false};
    grove_status st = gv_sim_delete_object(&c, GROVE_GRACE_DEFAULT, GROVE_PROPAGATION_BACKGROUND);
    grove_doc_unref(res.doc);
    return st;
}
