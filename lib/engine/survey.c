/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the store knows all pods of a set. A replacement is named after the pod it replaces, so that a
 * second creation of it is refused. Who takes over with an old view may know neither that pod's successor
 * nor its end: the name is free again, and the index would get two pods. So before an engine creates the
 * first pod of a set that was there before it, it lists the set's pods and waits until its watches have shown
 * all of them. Once is enough: from then on it is the one that creates them.
 */
#include "engine/engine.h"
#include "model/labels.h"
#include "value/doc.h"

bool gv_engine_needs_survey(const grove_engine *e, gv_str ns, gv_str name) {
    const gv_list *list = gv_store_of_set(e->store, ns, name);
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        if (o->u.head.kind == GV_KIND_PODCLIQUE) {
            return true;
        }
    }
    return false;
}

bool gv_engine_awaits_survey(const gv_set *set, const grove_action *a) {
    return set->unsurveyed && a->verb == GROVE_VERB_CREATE && (gv_kind)a->kind == GV_KIND_POD;
}

grove_status gv_engine_survey(grove_engine *e, gv_set *set, bool *out, grove_error *err) {
    if (set->surveying) {
        return GROVE_OK;
    }
    grove_buf_clear(&e->op_text);
    if (gv_buf_fmt(&e->op_text, GV_LABEL_MANAGED_BY "=" GV_MANAGER "," GV_LABEL_PART_OF "=%s",
                   set->name) < 0 ||
        !gv_vec_reserve(e->env, &e->in_flight, e->in_flight.n + 1)) {
        return gv_error_nomem(err);
    }
    uint64_t token = ++e->next_token;
    e->in_flight.v[e->in_flight.n++] = (gv_in_flight){
        .token = token, .set = set, .kind = GV_KIND_POD};
    set->in_flight++;
    set->surveying = true;
    e->op = (grove_op){.size = (uint32_t)sizeof e->op,
                       .verb = GROVE_VERB_LIST,
                       .token = token,
                       .kind = GROVE_KIND_POD,
                       .ns = set->ns,
                       .label_selector = gv_buf_view(&e->op_text).p,
                       .reason = "Survey",
                       .grace_seconds = GROVE_GRACE_DEFAULT};
    gv_engine_count(e, GROVE_VERB_LIST);
    *out = true;
    return GROVE_OK;
}

/* Pods of somebody else's owner are not the set's, whatever their labels say. */
static bool is_known(const grove_engine *e, const grove_node *pod) {
    const grove_node *meta = grove_node_get(pod, "metadata");
    GV_EACH(owner, grove_node_get(meta, "ownerReferences")) {
        if (grove_node_is_true(grove_node_get(owner, "controller")) &&
            gv_store_by_uid(e->store, gv_node_get_str(owner, "uid"))) {
            return gv_store_by_uid(e->store, gv_node_get_str(meta, "uid")) != NULL;
        }
    }
    return true;
}

static bool are_known(const grove_engine *e, const grove_node *list) {
    GV_EACH(pod, grove_node_get(list, "items")) {
        if (!is_known(e, pod)) {
            return false;
        }
    }
    return true;
}

void gv_engine_surveyed(grove_engine *e, gv_set *set, const grove_completion *c) {
    /* Where nothing may be listed there is nobody to ask. */
    bool cannot = c->status == GROVE_E_UNSUPPORTED || c->status == GROVE_E_FORBIDDEN;
    set->surveying = false;
    set->in_flight--;
    if (cannot || (c->status == GROVE_OK && c->object && are_known(e, c->object))) {
        set->unsurveyed = false;
        set->outdated = 0;
        return;
    }
    set->dropped = set->dirty = true;
    set->not_before = e->now + gv_engine_backoff(e, ++set->outdated);
}
