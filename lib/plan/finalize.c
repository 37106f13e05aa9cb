/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "finalizers": the set holds itself until its ComputeDomains are gone; everything else is released
 * at once and left to the cluster's garbage collection, which follows the owner references.
 */
#include "plan/work.h"

static bool has_finalizer(const gv_object *o, const char *finalizer) {
    const grove_node *list = grove_node_at_path(gv_object_node(o), "/metadata/finalizers");
    for (const grove_node *f = grove_node_first(list); f; f = grove_node_next(list, f)) {
        if (gv_str_is(gv_view_str(f), finalizer)) {
            return true;
        }
    }
    return false;
}

static const char *own_finalizer(gv_kind kind) {
    switch (kind) {
    case GV_KIND_PODCLIQUE:
        return GV_FINALIZER_CLIQUE;
    case GV_KIND_PODCLIQUESCALINGGROUP:
        return GV_FINALIZER_GROUP;
    case GV_KIND_COMPUTEDOMAIN:
        return GV_FINALIZER_COMPUTEDOMAIN;
    default:
        return NULL;
    }
}

static bool is_leaving(const gv_work *w, const gv_object *o) {
    (void)w;
    return own_finalizer(o->u.head.kind) != NULL && gv_object_is_terminating(o) &&
           (o->u.head.flags & GV_HEAD_EXPECTED) == 0;
}

/* Children on their way out, whoever deleted them and whether or not their set still lives. */
static grove_status release_children(gv_work *w) {
    uint32_t n = 0;
    const gv_object **leaving = gv_work_pick(w, is_leaving, &n);
    if (n > 0 && leaving == NULL) {
        return gv_work_nomem(w);
    }
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < n && status == GROVE_OK; i++) {
        status = gv_act_drop_finalizer(w, leaving[i], own_finalizer(leaving[i]->u.head.kind));
    }
    return status;
}

/* A set is held before anything is made for it; what was found out about its hashes goes with it. */
static grove_status hold_set(gv_work *w) {
    bool held = has_finalizer(w->pcs, GV_FINALIZER_SET);
    if (held && w->adopted.n == 0) {
        return GROVE_OK;
    }
    const gv_head *h = &w->pcs->u.head;
    const grove_refusal *r = gv_refusal_of(w, GROVE_VERB_PATCH, GV_KIND_PODCLIQUESET, w->set);
    if (r != NULL && r->subresource == GROVE_SUBRESOURCE_NONE && r->retry_ns > w->now) {
        w->unheld = !held;
        return gv_wait_add(w, GV_KIND_PODCLIQUESET, w->set, "WriteRefused", GV_KIND_PODCLIQUESET,
                           w->set, r->at_ns, r->retry_ns, "the set cannot be written: %s",
                           r->message ? r->message : "")
                   ? GROVE_OK
                   : gv_work_nomem(w);
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, GV_KIND_PODCLIQUESET, w->set, GV_ORDER_FINALIZER,
                             held ? "TakenOver" : "FinalizerMissing", "%s PodCliqueSet %s",
                             held ? "note the hashes of" : "add the finalizer of", h->name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(h->uid);
    act->rv = gv_str_c(h->rv);
    grove_builder_open_object(w->b, NULL);
    grove_builder_open_object(w->b, "metadata");
    if (!held) {
        const grove_node *list = grove_node_at_path(gv_object_node(w->pcs), "/metadata/finalizers");
        grove_builder_open_array(w->b, "finalizers");
        for (const grove_node *f = grove_node_first(list); f; f = grove_node_next(list, f)) {
            grove_builder_copy(w->b, NULL, f);
        }
        grove_builder_string(w->b, NULL, GV_FINALIZER_SET);
        grove_builder_close(w->b);
    }
    if (w->adopted.n > 0) {
        grove_builder_open_object(w->b, "annotations");
        grove_builder_stringn(w->b, GV_ANNOTATION_ADOPTED, w->adopted.p, w->adopted.n);
        grove_builder_close(w->b);
    }
    grove_builder_close(w->b);
    grove_builder_close(w->b);
    return gv_act_finish_body(w, act);
}

static bool is_own_domain(const gv_work *w, const gv_object *o) {
    return o->u.head.kind == GV_KIND_COMPUTEDOMAIN &&
           strcmp(o->u.head.owner_uid, w->pcs->u.head.uid) == 0;
}

/* ComputeDomains carry a finalizer that only we lift: they go before the set does. */
static grove_status release_set(gv_work *w) {
    uint32_t n = 0;
    const gv_object **domains = gv_work_pick(w, is_own_domain, &n);
    if (n > 0 && domains == NULL) {
        return gv_work_nomem(w);
    }
    for (uint32_t i = 0; i < n; i++) {
        const gv_head *h = &domains[i]->u.head;
        grove_status status = gv_act_delete(w, domains[i], GV_ORDER_DELETE, "SetDeleted",
                                            GV_EVENT_COMPUTEDOMAIN_DELETED,
                                            GV_STR("its set is being deleted"));
        if (status == GROVE_OK &&
            !gv_wait_add(w, GV_KIND_PODCLIQUESET, w->set, "ComputeDomainsRemain",
                         GV_KIND_COMPUTEDOMAIN, gv_str_c(h->name), GV_TIME_NONE, GROVE_NEVER,
                         "ComputeDomain %s goes first", h->name)) {
            status = gv_work_nomem(w);
        }
        if (status < 0) {
            return status;
        }
    }
    return n > 0 ? GROVE_OK : gv_act_drop_finalizer(w, w->pcs, GV_FINALIZER_SET);
}

grove_status gv_step_finalizers(gv_work *w) {
    grove_status status = release_children(w);
    if (status < 0 || w->pcs == NULL) {
        return status;
    }
    return gv_object_is_terminating(w->pcs) ? release_set(w) : hold_set(w);
}
