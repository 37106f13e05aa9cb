/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "children": every wanted object that is missing is created whole, every one that differs in a field
 * of ours is patched, every one of ours that is not wanted is deleted. Decided by name and owner, never by
 * counts. Pods are another step; a PodGang's membership too.
 */
#include "plan/body_patch.h"

#include "base/hash.h"
#include "plan/delta.h"
#include "plan/revisions.h"

#define RIVAL_RETRY_NS (30 * GV_NS_PER_S)

/* ---- what belongs together ---- */

static const gv_object *owner_of(const gv_work *w, const gv_want_object *o) {
    switch (o->owner) {
    case GV_OWNER_GROUP:
        return w->groups[o->owner_index].obj;
    case GV_OWNER_CLIQUE:
        return w->cliques[o->owner_index].obj;
    case GV_OWNER_GANG:
        return w->gangs[o->owner_index].obj;
    case GV_OWNER_SET:
    default:
        return w->pcs;
    }
}

/* The event that a write earns, and on which object it is told. */
static void tell(const gv_work *w, const gv_want_object *o, gv_act *act) {
    const gv_object *about = w->pcs;
    switch (o->kind) {
    case GV_KIND_PODCLIQUE:
        act->event = o->owner == GV_OWNER_GROUP && !w->manual ? GV_EVENT_MEMBER_CREATED
                                                              : GV_EVENT_CLIQUE_WRITTEN;
        about = owner_of(w, o);
        break;
    case GV_KIND_PODCLIQUESCALINGGROUP:
        act->event = GV_EVENT_GROUP_CREATED;
        break;
    case GV_KIND_PODGANG:
        act->event = GV_EVENT_GANG_WRITTEN;
        break;
    case GV_KIND_COMPUTEDOMAIN:
        act->event = GV_EVENT_COMPUTEDOMAIN_CREATED;
        break;
    default:
        return;
    }
    act->event_kind = about->u.head.kind;
    act->event_name = gv_str_c(about->u.head.name);
    act->event_uid = gv_str_c(about->u.head.uid);
}

/* The code under which Grove reports a failed write of this kind. */
static const char *error_code(const gv_want_object *o) {
    switch (o->kind) {
    case GV_KIND_PODCLIQUE:
        return o->owner == GV_OWNER_GROUP ? "ERR_CREATE_PODCLIQUES" : "ERR_SYNC_PODCLIQUE";
    case GV_KIND_PODCLIQUESCALINGGROUP:
        return "ERR_SYNC_PODCLIQUESCALINGGROUP";
    case GV_KIND_PODGANG:
        return "ERR_CREATE_OR_PATCH_PODGANG";
    case GV_KIND_SERVICE:
        return "ERR_SYNC_PODCLIQUESET_SERVICE";
    case GV_KIND_SERVICEACCOUNT:
        return "ERR_SYNC_SERVICEACCOUNT";
    case GV_KIND_SECRET:
        return "ERR_CREATE_SECRET";
    case GV_KIND_ROLE:
        return "ERR_SYNC_ROLE";
    case GV_KIND_ROLEBINDING:
        return "ERR_SYNC_ROLEBINDING";
    case GV_KIND_HPA:
        return "ERR_SYNC_HPA";
    case GV_KIND_RESOURCECLAIM:
        return o->owner == GV_OWNER_SET     ? "ERR_SYNC_PCS_RESOURCE_CLAIM"
               : o->owner == GV_OWNER_GROUP ? "ERR_SYNC_PCSG_RESOURCE_CLAIM"
                                            : "ERR_SYNC_PCLQ_RESOURCE_CLAIM";
    case GV_KIND_COMPUTEDOMAIN:
        return "ERR_SYNC_COMPUTEDOMAIN";
    case GV_KIND_CONTROLLERREVISION:
        return "ERR_SYNC_CONTROLLERREVISION";
    default:
        return "ERR_SYNC_PODGROUP";
    }
}

/* ---- one object ---- */

typedef struct target {
    uint32_t at; /* index in want->objects */
    const gv_want_object *want;
    const gv_object *owner;
    gv_object *obj, *rival;
    bool skip;
} target;

static target find(const gv_work *w, uint32_t at) {
    target t = {.at = at, .want = &w->want->objects[at]};
    t.owner = owner_of(w, t.want);
    switch (t.want->kind) {
    case GV_KIND_PODCLIQUE:
        t.obj = w->cliques[t.want->at].obj;
        t.rival = w->cliques[t.want->at].rival;
        t.skip = w->cliques[t.want->at].deletes || w->cliques[t.want->at].held;
        break;
    case GV_KIND_PODCLIQUESCALINGGROUP:
        t.obj = w->groups[t.want->at].obj;
        t.rival = w->groups[t.want->at].rival;
        break;
    case GV_KIND_PODGANG:
        t.obj = w->gangs[t.want->at].obj;
        t.rival = w->gangs[t.want->at].rival;
        break;
    default: {
        gv_object *o = gv_store_get(w->store, t.want->kind, w->ns, t.want->name);
        bool ours = o != NULL && t.owner != NULL && t.owner->u.head.uid[0] != '\0' &&
                    strcmp(o->u.head.owner_uid, t.owner->u.head.uid) == 0;
        t.obj = ours ? o : NULL;
        t.rival = ours ? NULL : o;
        break;
    }
    }
    return t;
}

static grove_status build(gv_work *w, const target *t, gv_str owner_uid, grove_doc **out) {
    gv_body_args args = {.owner_uid = owner_uid, .revision = w->next_revision};
    grove_status status = gv_object_build(w->want, t->at, &args, w->b, w->err);
    return status < 0 ? status : grove_builder_finish(w->b, out, w->err);
}

static void mark_created(gv_work *w, const target *t) {
    if (t->want->kind == GV_KIND_PODCLIQUE) {
        w->cliques[t->want->at].creates = true;
    } else if (t->want->kind == GV_KIND_PODCLIQUESCALINGGROUP) {
        w->groups[t->want->at].creates = true;
    } else if (t->want->kind == GV_KIND_PODGANG) {
        w->gangs[t->want->at].creates = true;
    }
}

static grove_status create(gv_work *w, const target *t) {
    const gv_want_object *o = t->want;
    const char *kind = gv_kind_get(o->kind)->name;
    const grove_refusal *r = gv_refusal_of(w, GROVE_VERB_CREATE, o->kind, o->name);
    if (r != NULL) {
        gv_str why = gv_text(w, "%s %.*s was refused: %s", kind, ARG_STR(o->name),
                             r->message ? r->message : "");
        if (!gv_fault_add(w, GV_KIND_PODCLIQUESET, w->set, error_code(o), r->at_ns, why)) {
            return gv_work_nomem(w);
        }
        if (gv_is_refused(w, GROVE_VERB_CREATE, o->kind, o->name)) {
            return gv_wait_add(w, o->kind, o->name, "CreateRefused", o->kind, o->name, r->at_ns,
                               r->retry_ns, "%.*s", ARG_STR(why))
                       ? GROVE_OK
                       : gv_work_nomem(w);
        }
    }
    grove_doc *body = NULL;
    grove_status status = build(w, t, gv_str_c(t->owner->u.head.uid), &body);
    if (status < 0) {
        return status;
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_CREATE, o->kind, o->name, GV_ORDER_CREATE, "Missing",
                             "create %s %.*s", kind, ARG_STR(o->name));
    if (act == NULL) {
        grove_doc_unref(body);
        return gv_work_nomem(w);
    }
    act->body = body;
    if (o->kind == GV_KIND_ROLEBINDING || o->kind == GV_KIND_SECRET) {
        act->flags |= GROVE_ACTION_NAMES_ANOTHER;
    }
    tell(w, o, act);
    mark_created(w, t);
    return GROVE_OK;
}

/* How much of an object that stands follows what is wanted. */
typedef enum extent {
    NOTHING,
    IDENTITY, /* the labels that say where it belongs; its template's words wait for its turn */
    WHOLE
} extent;

/* Everything that the wanted body of this kind depends on, beside the object itself. */
static uint64_t signature(const gv_work *w, extent how) {
    return gv_mix64(w->memory->template_id * 4 + (uint64_t)how) | 1u;
}

static grove_status patch(gv_work *w, const target *t, extent how) {
    const gv_want_object *o = t->want;
    gv_memo *memo = t->obj->u.head.uid[0] != '\0' ? gv_memory_of(w, t->obj) : NULL;
    if (memo == NULL) {
        return t->obj->u.head.uid[0] != '\0' ? gv_work_nomem(w) : GROVE_OK;
    }
    uint64_t sig = signature(w, how);
    /* Shortcut: nothing that the body is made of has changed. */
    if (memo->body_sig == sig) {
        return GROVE_OK;
    }
    grove_doc *body = NULL;
    grove_status status = build(w, t, gv_str_c(t->owner->u.head.uid), &body);
    if (status < 0) {
        return status;
    }
    bool differs = how == WHOLE ? gv_body_patch(w, t->obj, body)
                                : gv_identity_patch(w, t->obj, body);
    grove_doc_unref(body);
    if (!differs) {
        memo->body_sig = sig;
        return GROVE_OK;
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, o->kind, o->name, GV_ORDER_PATCH, "Differs",
                             "update %s %.*s", gv_kind_get(o->kind)->name, ARG_STR(o->name));
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(t->obj->u.head.uid);
    act->rv = gv_str_c(t->obj->u.head.rv);
    tell(w, o, act);
    if (o->kind == GV_KIND_PODCLIQUE) {
        w->cliques[o->at].writes = true;
    } else if (o->kind == GV_KIND_PODCLIQUESCALINGGROUP) {
        w->groups[o->at].writes = true;
    }
    return gv_act_finish_body(w, act);
}

/* A member under RollingRecreate is made anew in its turn and never rewritten; a standalone clique is
 * rewritten in its turn. */
static extent follows(gv_work *w, const target *t) {
    if (t->want->kind == GV_KIND_PODGANG) {
        return NOTHING; /* written with its members */
    }
    if (t->want->kind == GV_KIND_CONTROLLERREVISION) {
        return NOTHING; /* its number and labels: revisions.c */
    }
    if (t->want->create_only) {
        return IDENTITY;
    }
    if (t->want->kind != GV_KIND_PODCLIQUE) {
        return WHOLE;
    }
    const gv_work_clique *c = &w->cliques[t->want->at];
    bool whole = c->want->group == GV_STANDALONE ? !gv_clique_needs_turn(w, c) : w->manual;
    return whole ? WHOLE : IDENTITY;
}

/* Somebody else's object stands where ours should: said, and looked at again. */
static grove_status report_rival(gv_work *w, const target *t) {
    const gv_want_object *o = t->want;
    const char *kind = gv_kind_get(o->kind)->name;
    bool leaves = gv_object_is_terminating(t->rival);
    gv_str text = gv_text(w, "%s %.*s exists and is %s", kind, ARG_STR(o->name),
                          leaves ? "still being deleted" : "owned by somebody else");
    bool ok = gv_wait_add(w, o->kind, o->name, leaves ? "NameInDeletion" : "NameTaken", o->kind,
                          o->name, GV_TIME_NONE, w->now + RIVAL_RETRY_NS, "%.*s", ARG_STR(text));
    if (ok && !leaves) {
        const char *code = o->kind == GV_KIND_SECRET ? "ERR_SECRET_CONFLICT" : error_code(o);
        ok = gv_fault_add(w, GV_KIND_PODCLIQUESET, w->set, code, GV_TIME_NONE, text);
        gv_fault_event(w, "NameTaken", NULL);
    }
    return ok ? GROVE_OK : gv_work_nomem(w);
}

/* An account of our name without a controller is taken over: pods may already name it. */
static grove_status adopt_account(gv_work *w, const target *t) {
    grove_doc *body = NULL;
    grove_status status = build(w, t, gv_str_c(t->owner->u.head.uid), &body);
    if (status < 0) {
        return status;
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, t->want->kind, t->want->name, GV_ORDER_PATCH,
                             "Adopted", "take over ServiceAccount %.*s", ARG_STR(t->want->name));
    if (act == NULL) {
        grove_doc_unref(body);
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(t->rival->u.head.uid);
    act->rv = gv_str_c(t->rival->u.head.rv);
    const grove_node *meta = grove_node_get(grove_doc_root(body), "metadata");
    grove_builder_open_object(w->b, NULL);
    grove_builder_open_object(w->b, "metadata");
    grove_builder_copy(w->b, "labels", grove_node_get(meta, "labels"));
    grove_builder_copy(w->b, "ownerReferences", grove_node_get(meta, "ownerReferences"));
    grove_builder_close(w->b);
    grove_builder_bool(w->b, "automountServiceAccountToken", 1);
    grove_builder_close(w->b);
    grove_doc_unref(body);
    return gv_act_finish_body(w, act);
}

static grove_status sync_object(gv_work *w, uint32_t at) {
    target t = find(w, at);
    bool held = t.owner != NULL && t.owner->u.head.uid[0] != '\0' &&
                !gv_object_is_terminating(t.owner);
    if (t.skip || !held) {
        return GROVE_OK; /* its owner comes first, or is on its way out */
    }
    if (t.rival != NULL && gv_revision_is_free(t.rival)) {
        return GROVE_OK; /* taken over by the step before this one */
    }
    if (t.rival != NULL) {
        bool account = t.want->kind == GV_KIND_SERVICEACCOUNT &&
                       t.rival->u.head.owner_uid[0] == '\0' && t.rival->u.head.uid[0] != '\0';
        return account && !gv_object_is_terminating(t.rival) ? adopt_account(w, &t)
                                                             : report_rival(w, &t);
    }
    if (t.obj == NULL) {
        return t.want->blocked ? GROVE_OK : create(w, &t); /* what blocks it is waited for */
    }
    extent how = gv_object_is_terminating(t.obj) ? NOTHING : follows(w, &t);
    return how == NOTHING ? GROVE_OK : patch(w, &t, how);
}

/* ---- what is not wanted ---- */

static bool ours_to_delete(const gv_work *w, const gv_object *o) {
    const gv_head *h = &o->u.head;
    switch (h->kind) {
    case GV_KIND_PODCLIQUE:
    case GV_KIND_PODCLIQUESCALINGGROUP:
    case GV_KIND_PODGANG:
    case GV_KIND_SERVICE:
    case GV_KIND_HPA:
    case GV_KIND_RESOURCECLAIM:
    case GV_KIND_COMPUTEDOMAIN:
        break;
    default:
        return false; /* pods have their own step; the rest stands or falls with the set */
    }
    const gv_object *owner = gv_store_by_uid(w->store, gv_str_c(h->owner_uid));
    for (int depth = 0; owner != NULL && depth < 4; depth++) {
        if (owner == w->pcs) {
            return true;
        }
        if (gv_object_is_terminating(owner)) {
            return false; /* goes with its owner */
        }
        owner = gv_store_by_uid(w->store, gv_str_c(owner->u.head.owner_uid));
    }
    return false;
}

static const char *delete_event(gv_kind kind) {
    switch (kind) {
    case GV_KIND_PODCLIQUE:
        return GV_EVENT_CLIQUE_DELETED;
    case GV_KIND_PODCLIQUESCALINGGROUP:
        return GV_EVENT_GROUP_DELETED;
    case GV_KIND_PODGANG:
        return GV_EVENT_GANG_DELETED;
    case GV_KIND_COMPUTEDOMAIN:
        return GV_EVENT_COMPUTEDOMAIN_DELETED;
    default:
        return NULL;
    }
}

static bool is_stray(const gv_work *w, const gv_object *o) {
    const gv_head *h = &o->u.head;
    return h->kind != GV_KIND_POD && h->kind != GV_KIND_PODCLIQUESET &&
           !gv_object_is_terminating(o) &&
           gv_want_find_object(w->want, h->kind, gv_str_c(h->name)) == GV_NOT_WANTED &&
           ours_to_delete(w, o);
}

static grove_status remove_strays(gv_work *w) {
    uint32_t n = 0;
    const gv_object **strays = gv_work_pick(w, is_stray, &n);
    if (n > 0 && strays == NULL) {
        return gv_work_nomem(w);
    }
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < n && status == GROVE_OK; i++) {
        status = gv_act_delete(w, strays[i], GV_ORDER_DELETE, "NotWanted",
                               delete_event(strays[i]->u.head.kind), GV_STR("no longer wanted"));
    }
    return status;
}

grove_status gv_step_children(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_problems; i++) {
        const gv_want_problem *p = &w->want->problems[i];
        if (!gv_fault_add(w, GV_KIND_PODCLIQUESET, w->set, p->code, GV_TIME_NONE, p->text) ||
            !gv_wait_add(w, GV_KIND_PODCLIQUESET, w->set, p->code, p->kind, p->name, GV_TIME_NONE,
                         w->now + RIVAL_RETRY_NS, "%.*s", ARG_STR(p->text))) {
            return gv_work_nomem(w);
        }
        bool of_gang = strcmp(p->code, GV_EVENT_KAI_MAPPING_FAILED) == 0;
        uint32_t gang = of_gang ? gv_want_find_object(w->want, GV_KIND_PODGANG, p->name)
                                : GV_NOT_WANTED;
        const gv_object *about = gang == GV_NOT_WANTED ? NULL
                                                       : w->gangs[w->want->objects[gang].at].obj;
        gv_fault_event(w, of_gang ? p->code : "Blocked", about);
    }
    grove_status status = remove_strays(w);
    for (uint32_t i = 0; i < w->want->n_objects && status == GROVE_OK; i++) {
        status = sync_object(w, i);
    }
    return status;
}
