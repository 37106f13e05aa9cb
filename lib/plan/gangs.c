/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "gangs": who belongs to each gang (written once per change of membership), which pods lose their
 * gate, and which are bound where a placement says so.
 *
 * A gang that runs nothing yet is released only when every clique has all its pods; once released, a
 * replaced or added pod is released as soon as it is a member. Pods of a scaled gang wait until the base
 * gang has its minimum *scheduled* (not ready: the base may need what the scaled pods bring).
 */
#include <stddef.h>

#include "base/hash.h"
#include "plan/body_patch.h"
#include "plan/delta.h"
#include "plan/gates.h"

static gv_work_clique *clique_of(gv_work *w, const gv_work_gang *g, uint32_t k) {
    return &w->cliques[g->want->first_clique + k];
}

static bool in_gang(const gv_pod *p, const gv_work_gang *g) {
    return gv_str_eq(gv_str_c(p->gang), g->want->name);
}

/* ---- what the gang is like ---- */

static void look(gv_work *w, gv_work_gang *g) {
    g->complete = g->scheduled = g->ready = true;
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = clique_of(w, g, k);
        int64_t members = 0, scheduled = 0, ready = 0;
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if (!in_gang(p, g)) {
                continue;
            }
            members++;
            scheduled += (p->flags & GV_POD_SCHEDULED) != 0 || gv_pod_is_bound(p) ? 1 : 0;
            ready += (p->flags & GV_POD_READY) != 0 ? 1 : 0;
            g->released = g->released || (p->flags & GV_POD_GROVE_GATE) == 0;
            g->disrupted = g->disrupted || (p->flags & GV_POD_DISRUPTED) != 0;
        }
        /* A bound pod on its way out still holds its slot: the gang's phase does not fall back. */
        for (uint32_t i = 0; i < c->n_gone; i++) {
            const gv_pod *p = c->gone[i];
            scheduled += in_gang(p, g) && gv_pod_is_bound(p) && !gv_pod_is_final(p) ? 1 : 0;
            g->disrupted = g->disrupted || (in_gang(p, g) && (p->flags & GV_POD_DISRUPTED) != 0);
        }
        bool whole = c->obj != NULL && !c->dying && !c->deletes && members >= c->want->replicas;
        g->complete = g->complete && whole;
        g->stuck = g->stuck || (!whole && (c->refused || c->rival != NULL));
        g->scheduled = g->scheduled && scheduled >= c->want->gang_minimum;
        g->ready = g->ready && ready >= c->want->gang_minimum;
        g->unsettled = g->unsettled || c->unsettled || c->deletes || c->creates;
    }
    g->stuck = g->stuck && !g->complete;
}

/* ---- membership ---- */

static int compare_names(const void *a, const void *b) {
    const gv_str *x = a, *y = b;
    return gv_str_cmp(*x, *y);
}

/* Heap sort: in place and without recursion. */
static void sort_names(gv_str *v, uint32_t n) {
    for (uint32_t end = n, start = n / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            gv_str swap = v[0];
            v[0] = v[end];
            v[end] = swap;
        }
        for (uint32_t at = start;;) {
            uint32_t child = 2 * at + 1;
            if (child >= end) {
                break;
            }
            if (child + 1 < end && compare_names(&v[child], &v[child + 1]) < 0) {
                child++;
            }
            if (compare_names(&v[at], &v[child]) >= 0) {
                break;
            }
            gv_str swap = v[at];
            v[at] = v[child];
            v[child] = swap;
            at = child;
        }
    }
}

/* The members as they should be, one list per PodGroup. NULL: out of memory. */
static gv_gang_refs *members_of(gv_work *w, const gv_work_gang *g, uint64_t *out_sig) {
    gv_gang_refs *refs = gv_arena_array(&w->arena, gv_gang_refs, g->want->n_cliques + 1);
    uint64_t sig = gv_mix64(w->memory->template_id);
    for (uint32_t k = 0; refs != NULL && k < g->want->n_cliques; k++) {
        const gv_work_clique *c = clique_of(w, g, k);
        gv_str *names = gv_arena_array(&w->arena, gv_str, c->n_pods + 1);
        if (names == NULL) {
            return NULL;
        }
        for (uint32_t i = 0; i < c->n_pods && !c->deletes && !c->dying; i++) {
            if (in_gang(c->pods[i], g)) {
                names[refs[k].n++] = gv_str_c(c->pods[i]->head.name);
            }
        }
        sort_names(names, refs[k].n);
        refs[k].names = names;
        for (uint32_t i = 0; i < refs[k].n; i++) {
            sig = gv_fnv1a(sig, names[i].p, names[i].n + 1);
        }
        sig = gv_fnv1a(sig, "|", 1);
    }
    *out_sig = sig | 1u;
    return refs;
}

gv_act *gv_gang_patch(gv_work *w, gv_work_gang *g, const char *reason, const char *what) {
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, GV_KIND_PODGANG, g->want->name,
                             GV_ORDER_MEMBERSHIP, reason, "%s of PodGang %.*s", what,
                             ARG_STR(g->want->name));
    if (act != NULL) {
        act->patch_type = GROVE_PATCH_MERGE;
        act->uid = gv_str_c(g->obj->u.head.uid);
        act->rv = gv_str_c(g->obj->u.head.rv);
        g->writes = true;
    }
    return act;
}

static grove_status write_gang(gv_work *w, gv_work_gang *g, uint32_t object) {
    uint64_t sig = 0;
    gv_gang_refs *refs = members_of(w, g, &sig);
    if (refs == NULL) {
        return gv_work_nomem(w);
    }
    if (g->memo->body_sig == sig) {
        return GROVE_OK;
    }
    if (!g->complete && !g->stuck) {
        return GROVE_OK; /* more pods are coming: one write for all of them */
    }
    gv_body_args args = {.owner_uid = gv_str_c(w->pcs->u.head.uid), .refs = refs};
    grove_doc *body = NULL;
    grove_status status = gv_object_build(w->want, object, &args, w->b, w->err);
    if (status == GROVE_OK) {
        status = grove_builder_finish(w->b, &body, w->err);
    }
    if (status < 0) {
        return status;
    }
    bool differs = gv_body_patch(w, g->obj, body);
    grove_doc_unref(body);
    if (!differs) {
        g->memo->body_sig = sig;
        return GROVE_OK;
    }
    gv_act *act = gv_gang_patch(w, g, "Membership", "write members");
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->event = GV_EVENT_GANG_WRITTEN;
    act->event_kind = GV_KIND_PODCLIQUESET;
    act->event_name = w->set;
    act->event_uid = gv_str_c(w->pcs->u.head.uid);
    return gv_act_finish_body(w, act);
}

/* ---- gates ---- */

bool gv_base_scheduled(const gv_work *w, const gv_work_gang *g,
                       const gv_want_clique **out_missing) {
    const gv_want_gang *base = &w->want->gangs[g->want->base];
    for (uint32_t k = 0; k < base->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[base->first_clique + k];
        if (c->scheduled < c->want->gang_minimum) {
            *out_missing = c->want;
            return false;
        }
    }
    return true;
}

/* The PodGroup of a clique in the gang as it stands. */
static const grove_node *group_of(const gv_work_gang *g, gv_str clique) {
    const grove_node *list = grove_node_at_path(g->memo->node, "/spec/podgroups");
    for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n)) {
        if (gv_str_eq(gv_get_str(n, "name"), clique)) {
            return n;
        }
    }
    return NULL;
}

typedef struct listed {
    gv_str *names;
    uint32_t n;
} listed;

static bool read_listed(gv_work *w, const gv_work_gang *g, gv_str clique, listed *out) {
    const grove_node *refs = grove_node_get(group_of(g, clique), "podReferences");
    uint32_t n = grove_node_size(refs);
    out->n = 0;
    out->names = gv_arena_array(&w->arena, gv_str, n + 1);
    if (out->names == NULL) {
        return false;
    }
    bool sorted = true;
    for (const grove_node *r = grove_node_first(refs); r; r = grove_node_next(refs, r)) {
        gv_str name = gv_get_str(r, "name");
        sorted = sorted && (out->n == 0 || gv_str_cmp(out->names[out->n - 1], name) <= 0);
        out->names[out->n++] = name;
    }
    if (!sorted) {
        sort_names(out->names, out->n);
    }
    return true;
}

static bool is_listed(const listed *l, gv_str name) {
    uint32_t lo = 0, hi = l->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = gv_str_cmp(l->names[mid], name);
        if (c == 0) {
            return true;
        }
        if (c < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return false;
}

/* Why the gang's gated pods stay gated; NULL: they need not. */
static const char *held(gv_work *w, const gv_work_gang *g, gv_kind *for_kind, gv_str *for_name,
                        const char **text) {
    const gv_want_clique *missing = NULL;
    const gv_adapter *adapter = gv_template_gang_adapter(w->t, NULL);
    *for_kind = GV_KIND_PODGANG;
    *for_name = g->want->name;
    if (w->suspended) {
        *for_kind = GV_KIND_PODCLIQUESET;
        *for_name = w->set;
        *text = "the set is suspended";
        return GV_REASON_SUSPENDED;
    }
    if (gv_gang_is_made_anew(w, g)) {
        *text = "the gang waited too long for its minimum and is made anew";
        return "GangWaitTimeout";
    }
    if (!g->released && !g->complete) {
        *text = "not all pods of the gang exist yet";
        return "GangIncomplete";
    }
    if (g->want->group != GV_STANDALONE && !gv_base_scheduled(w, g, &missing)) {
        *for_kind = GV_KIND_PODCLIQUE;
        *for_name = missing->name;
        *text = "the base gang is not scheduled yet";
        return "BaseGangNotScheduled";
    }
    if ((g->obj->u.head.flags & GV_HEAD_EXPECTED) != 0 || g->writes) {
        *text = "the gang's members are being written";
        return "MembershipInFlight";
    }
    if (adapter != NULL && (adapter->caps & GV_ADAPTER_RELEASER) != 0 &&
        (g->placement == NULL || g->placement->verdict != GROVE_VERDICT_PLACED) &&
        !gv_gang_goes_unplaced(w, g)) {
        *text = g->placement != NULL && g->placement->text ? g->placement->text
                                                           : "no place for the gang is found yet";
        return "NoPlacement";
    }
    return NULL;
}

static grove_status open_gates(gv_work *w, gv_work_gang *g) {
    gv_kind for_kind = GV_KIND_NONE;
    gv_str for_name = {"", 0};
    const char *text = "", *reason = NULL;
    bool asked = false;
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = clique_of(w, g, k);
        listed members = {NULL, 0};
        if (c->dying || c->deletes) {
            continue;
        }
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if ((p->flags & GV_POD_GROVE_GATE) == 0 || p->head.uid[0] == '\0' || c->goes[i]) {
                continue;
            }
            if (!asked) {
                asked = true;
                reason = held(w, g, &for_kind, &for_name, &text);
                if (reason != NULL) {
                    return gv_wait_add(w, GV_KIND_PODGANG, g->want->name, reason, for_kind,
                                       for_name, GV_TIME_NONE, GROVE_NEVER, "pods stay gated: %s",
                                       text)
                               ? GROVE_OK
                               : gv_work_nomem(w);
                }
            }
            if (members.names == NULL && !read_listed(w, g, c->want->name, &members)) {
                return gv_work_nomem(w);
            }
            if (!is_listed(&members, gv_str_c(p->head.name))) {
                continue;
            }
            grove_status status = gv_gate_open(w, g, c, p);
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}

/* ---- placements ---- */

/* This plan removes or changes the pod already: it is not bound in the same breath. The list of what is
 * written is short whenever there is something to bind. */
static bool is_written(const gv_work *w, gv_str pod) {
    for (size_t i = 0; i < w->acts.n; i++) {
        const gv_act *act = &w->acts.v[i];
        if (act->kind == GV_KIND_POD && act->verb != GROVE_VERB_CREATE &&
            gv_str_eq(act->name, pod)) {
            return true;
        }
    }
    return false;
}

static grove_status bind_pods(gv_work *w, const gv_work_gang *g) {
    for (uint32_t i = 0; i < g->placement->n_pods; i++) {
        const grove_placed_pod *place = &g->placement->pods[i];
        const gv_object *o = gv_store_get(w->store, GV_KIND_POD, w->ns, gv_str_c(place->pod));
        if (o == NULL || !gv_pod_is_active(&o->u.pod) || gv_pod_is_bound(&o->u.pod) ||
            o->u.pod.n_gates > 0 || !in_gang(&o->u.pod, g) ||
            (place->uid != NULL && place->uid[0] != '\0' &&
             strcmp(place->uid, o->u.head.uid) != 0) ||
            is_written(w, gv_str_c(o->u.head.name))) {
            continue;
        }
        gv_act *act = gv_act_add(w, GROVE_VERB_BIND, GV_KIND_POD, gv_str_c(o->u.head.name),
                                 GV_ORDER_BIND, "Placed", "bind pod %s to node %s", o->u.head.name,
                                 place->node);
        if (act == NULL) {
            return gv_work_nomem(w);
        }
        act->uid = gv_str_c(o->u.head.uid);
        act->node = gv_str_c(place->node);
    }
    return GROVE_OK;
}

static grove_status follow_placement(gv_work *w, const gv_work_gang *g) {
    const grove_placement *p = g->placement;
    const gv_adapter *adapter = gv_template_gang_adapter(w->t, NULL);
    if (p->verdict == GROVE_VERDICT_PLACED) {
        /* Where the gate carries the place, the scheduler binds. */
        bool released = adapter != NULL && (adapter->caps & GV_ADAPTER_RELEASER) != 0;
        return released ? GROVE_OK : bind_pods(w, g);
    }
    if (p->verdict == GROVE_VERDICT_NONE) {
        return GROVE_OK;
    }
    const char *text = p->text && p->text[0] ? p->text : "no placement was found";
    gv_str behind = gv_str_c(p->size > offsetof(grove_placement, behind) && p->behind ? p->behind
                                                                                      : "");
    bool ok = gv_wait_add(
        w, GV_KIND_PODGANG, g->want->name, p->reason && p->reason[0] ? p->reason : "NotPlaced",
        behind.n ? GV_KIND_PODGANG : GV_KIND_NODE, behind, GV_TIME_NONE, p->retry_ns, "%s", text);
    if (ok && p->verdict == GROVE_VERDICT_NOMINATED) {
        return GROVE_OK; /* room is being made: no node has to be added for it */
    }
    return ok ? gv_gang_tell_unplaced(w, g, text) : gv_work_nomem(w);
}

/* ---- the step ---- */

static grove_status sync_gang(gv_work *w, uint32_t at) {
    gv_work_gang *g = &w->gangs[at];
    look(w, g);
    if (g->memo == NULL || g->dying) {
        return GROVE_OK;
    }
    uint32_t object = gv_want_find_object(w->want, GV_KIND_PODGANG, g->want->name);
    grove_status status = gv_gang_disrupt(w, g);
    if (status == GROVE_OK && object != GV_NOT_WANTED) {
        status = write_gang(w, g, object);
    }
    if (status == GROVE_OK) {
        status = gv_gang_take_back(w, g);
    }
    if (status == GROVE_OK) {
        status = gv_gang_wait(w, g);
    }
    if (status == GROVE_OK) {
        status = open_gates(w, g);
    }
    if (status == GROVE_OK && g->placement != NULL) {
        status = follow_placement(w, g);
    }
    return status == GROVE_OK ? gv_gang_remember(w, g) : status;
}

grove_status gv_step_gangs(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_gangs; i++) {
        grove_status status = sync_gang(w, i);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
