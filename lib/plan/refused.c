/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes that the cluster refused. Creations are held back where they are decided, as they hold up others;
 * here are the updates, deletions and binds: told in lastErrors, and left out of the plan until their time.
 */
#include "plan/delta.h"

typedef struct code {
    gv_kind kind;
    const char *update, *status, *remove;
} code;

/* As Grove names a failed write of that kind. */
static const code codes[] = {
    {GV_KIND_PODCLIQUESET, "ERR_UPDATE_PCS_STATUS", NULL, NULL},
    {GV_KIND_PODCLIQUE, "ERR_SYNC_PODCLIQUE", "ERR_UPDATE_PODCLIQUE_STATUS",
     "ERR_DELETE_PODCLIQUE"},
    {GV_KIND_PODCLIQUESCALINGGROUP, "ERR_SYNC_PODCLIQUESCALINGGROUP", "ERR_UPDATE_STATUS",
     "ERR_DELETE_PODCLIQUESCALINGGROUP"},
    {GV_KIND_PODGANG, "ERR_CREATE_OR_PATCH_PODGANG", "ERR_CREATE_OR_PATCH_PODGANG",
     "ERR_DELETE_EXCESS_PODGANG"},
    {GV_KIND_POD, "ERR_REMOVE_POD_SCHEDULING_GATE", NULL, "ERR_DELETE_POD"},
    {GV_KIND_SERVICE, "ERR_SYNC_PODCLIQUESET_SERVICE", NULL, "ERR_DELETE_PODCLIQUESET_SERVICE"},
    {GV_KIND_SERVICEACCOUNT, "ERR_SYNC_SERVICEACCOUNT", NULL, NULL},
    {GV_KIND_HPA, "ERR_SYNC_HPA", NULL, "ERR_DELETE_HPA"},
    {GV_KIND_RESOURCECLAIM, "ERR_SYNC_PCS_RESOURCE_CLAIM", NULL, "ERR_DELETE_PCS_RESOURCE_CLAIM"},
    {GV_KIND_CONTROLLERREVISION, "ERR_SYNC_CONTROLLERREVISION", NULL,
     "ERR_DELETE_CONTROLLERREVISION"},
    {GV_KIND_COMPUTEDOMAIN, "ERR_SYNC_COMPUTEDOMAIN", NULL, "ERR_DELETE_COMPUTEDOMAIN"},
};

static const char *code_of(const grove_refusal *r) {
    const char *found = NULL;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const code *c = &codes[i];
        if (c->kind == (gv_kind)r->kind) {
            found = r->verb == GROVE_VERB_DELETE                 ? c->remove
                    : r->subresource == GROVE_SUBRESOURCE_STATUS ? c->status
                                                                 : c->update;
        }
    }
    return found != NULL ? found : "ERR_SYNC_PODGROUP";
}

static bool is_held_here(const grove_refusal *r) {
    return r->verb != GROVE_VERB_CREATE;
}

/* A server that is busy or away has not judged the write. */
static bool was_judged(const grove_refusal *r) {
    return r->http >= 400 && r->http < 500 && r->http != 429;
}

/* The set's status cannot tell that it was refused: once that is written, it is no longer so. */
static bool is_own_status(const grove_refusal *r) {
    return (gv_kind)r->kind == GV_KIND_PODCLIQUESET && r->subresource == GROVE_SUBRESOURCE_STATUS;
}

static bool note(gv_work *w, const grove_refusal *r) {
    gv_str name = gv_str_c(r->name), on = w->set;
    gv_kind kind = GV_KIND_PODCLIQUESET;
    gv_str why = gv_text(
        w, "%s of %s %.*s was refused: %s", r->verb == GROVE_VERB_DELETE ? "deletion" : "update",
        gv_kind_get((gv_kind)r->kind)->name, ARG_STR(name), r->message ? r->message : "");
    if ((gv_kind)r->kind == GV_KIND_POD) {
        const gv_object *o = gv_store_get(w->store, GV_KIND_POD, w->ns, name);
        if (o == NULL) {
            return true;
        }
        kind = GV_KIND_PODCLIQUE;
        on = gv_str_c(o->u.pod.clique);
    }
    bool ok = gv_fault_add(w, kind, on, code_of(r), r->at_ns, why);
    gv_fault_event(w, "WriteRefused", NULL);
    return ok;
}

grove_status gv_step_refusals(gv_work *w) {
    for (uint32_t i = 0; i < w->request->n_refusals; i++) {
        const grove_refusal *r = w->request->refusals[i];
        if (!is_held_here(r)) {
            continue;
        }
        if (r->retry_ns > w->now) {
            gv_deadline(w, r->retry_ns);
        }
        if (was_judged(r) && !is_own_status(r) && !note(w, r)) {
            return gv_work_nomem(w);
        }
    }
    return GROVE_OK;
}

/* ---- out of the plan ---- */

static const grove_refusal *holds(const gv_work *w, const gv_act *act) {
    if (act->verb == GROVE_VERB_CREATE || act->verb == GROVE_VERB_EVENT) {
        return NULL;
    }
    const grove_refusal *r = gv_refusal_of(w, act->verb, act->kind, act->name);
    return r != NULL && r->retry_ns > w->now && r->subresource == act->subresource ? r : NULL;
}

/* Without its finalizer a set could go without its children: then nothing is made for it, and its status
 * says why. */
static void drop(gv_work *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->acts.n; i++) {
        gv_act *act = &w->acts.v[i];
        bool useless = w->unheld && act->kind != GV_KIND_PODCLIQUESET;
        if (useless || holds(w, act) != NULL) {
            grove_doc_unref(act->body);
        } else {
            w->acts.v[n++] = *act;
        }
    }
    w->acts.n = n;
}

grove_status gv_step_hold(gv_work *w) {
    bool any = w->unheld;
    for (size_t i = 0; i < w->acts.n && w->request->n_refusals > 0; i++) {
        const gv_act *act = &w->acts.v[i];
        const grove_refusal *r = holds(w, act);
        if (r == NULL) {
            continue;
        }
        any = true;
        if (!gv_wait_add(w, act->kind, act->name, "WriteRefused", act->kind, act->name, r->at_ns,
                         r->retry_ns, "%.*s: %s", ARG_STR(act->text),
                         r->message ? r->message : "")) {
            return gv_work_nomem(w);
        }
    }
    if (any) {
        drop(w);
    }
    return GROVE_OK;
}
