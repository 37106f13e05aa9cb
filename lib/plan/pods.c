/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "pods": each clique gets as many active pods as it wants, each with the lowest free index. A pod on
 * its way out, or finished, is replaced at once under the same index; its successor's name is made from
 * its uid, so that everyone who decides the same replacement chooses the same name.
 */
#include "model/names.h"
#include "plan/delta.h"
#include "plan/victims.h"

/* A pod that ended sooner than this after its creation is replaced only this long after it. */
#define SHORT_LIFE_NS (10 * GV_NS_PER_S)
#define NAME_TRIES 64u

/* ---- too many ---- */

static grove_status scale_in(gv_work *w, gv_work_clique *c, uint32_t excess) {
    const gv_pod **order = gv_arena_array(&w->arena, const gv_pod *, c->n_pods);
    if (order == NULL) {
        return gv_work_nomem(w);
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        excess -= c->goes[i] && excess > 0 ? 1u : 0u; /* a rolling update takes it down already */
    }
    if (!gv_pod_victims(w, c, order)) {
        return gv_work_nomem(w);
    }
    for (uint32_t i = 0; i < c->n_pods && excess > 0; i++) {
        if (c->goes[gv_pod_place(c, order[i])]) {
            continue;
        }
        grove_status status = gv_pod_remove(w, c, order[i], "ScaledIn", "the clique is scaled in");
        if (status < 0) {
            return status;
        }
        excess--;
    }
    return GROVE_OK;
}

/* Two active pods with one index share a host name: the older stays. */
static grove_status drop_duplicates(gv_work *w, gv_work_clique *c, uint32_t *out_dropped) {
    *out_dropped = 0;
    for (uint32_t i = 1; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        if (p->index < 0 || p->index != c->pods[i - 1]->index || gv_pod_index_is_bent(p) ||
            gv_pod_index_is_bent(c->pods[i - 1])) {
            continue; /* labels that somebody wrote over are no host names */
        }
        (*out_dropped)++;
        grove_status status = gv_pod_remove(w, c, p, "DuplicateIndex",
                                            "an older pod has the same index and host name");
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

/* A pod whose index cannot be read keeps its replica from everybody else: said, and left alone. They are
 * sorted last. */
static grove_status report_unnumbered(gv_work *w, const gv_work_clique *c) {
    for (uint32_t i = c->n_pods; i-- > 0 && c->pods[i]->index < 0;) {
        const char *name = c->pods[i]->head.name;
        if (gv_pod_index_is_bent(c->pods[i]) && gv_pod_labels_drifted(w, c, c->pods[i])) {
            continue; /* it gets its label back */
        }
        gv_str why = gv_text(w,
                             "pod %s has no index in its label " GV_LABEL_POD_INDEX
                             ": it counts as a replica, and no pod takes the index it had",
                             name);
        if (!gv_fault_add(w, GV_KIND_PODCLIQUE, c->want->name,
                          "ERR_GET_AVAILABLE_POD_HOSTNAME_INDICES", GV_TIME_NONE, why) ||
            !gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, "PodIndexUnreadable", GV_KIND_POD,
                         gv_str_c(name), GV_TIME_NONE, GROVE_NEVER, "%.*s", ARG_STR(why))) {
            return gv_work_nomem(w);
        }
    }
    return GROVE_OK;
}

/* When a pod may be replaced that ended soon after its creation; INT64_MIN: it lived long enough. */
static int64_t rest_of_short_life(const gv_work *w, const gv_pod *p) {
    if (p == NULL || !gv_pod_is_final(p) || p->head.created == GV_TIME_NONE) {
        return INT64_MIN;
    }
    int64_t until = p->head.created + SHORT_LIFE_NS;
    return until > w->now ? until : INT64_MIN;
}

/* One that is replaced stays until it may be: the server takes a finished pod away at once, and who ended so
 * soon, and why, would be forgotten with it. */
static grove_status sweep_finished(gv_work *w, gv_work_clique *c, bool replaced) {
    for (uint32_t i = 0; i < c->n_gone; i++) {
        const gv_pod *p = c->gone[i];
        if (!gv_pod_is_final(p) || (p->head.flags & GV_HEAD_TERMINATING) != 0) {
            continue;
        }
        int64_t until = rest_of_short_life(w, p);
        if (replaced && until != INT64_MIN) {
            gv_deadline(w, until);
            continue;
        }
        grove_status status = gv_pod_remove(w, c, p, "PodFinished", "it has ended and is replaced");
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

/* ---- too few ---- */

/* The latest of the pods that had this index and are leaving: they are sorted by index, then age. */
static const gv_pod *predecessor(const gv_work_clique *c, int64_t index) {
    uint32_t lo = 0, hi = c->n_gone;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int64_t at = c->gone[mid]->index;
        if (at >= 0 && at <= index) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo > 0 && c->gone[lo - 1]->index == index ? c->gone[lo - 1] : NULL;
}

/* The name, free in the store; p NULL when out of memory, n 0 when every try is taken. */
static gv_str free_name(gv_work *w, const gv_work_clique *c, int64_t index, const gv_pod *before) {
    gv_str uid = gv_str_c(c->obj->u.head.uid);
    gv_str replaces = before ? gv_str_c(before->head.uid) : gv_store_departed(w->store, uid, index);
    for (uint32_t salt = 0; salt < NAME_TRIES; salt++) {
        gv_str name = gv_name_pod(&w->arena, c->want->name, uid, index, replaces, salt);
        if (name.p == NULL || gv_store_get(w->store, GV_KIND_POD, w->ns, name) == NULL) {
            return name;
        }
    }
    return (gv_str){"", 0};
}

/* A pod that keeps ending at once is not replaced in a tight loop. */
static bool too_soon(gv_work *w, const gv_work_clique *c, const gv_pod *before, bool *out_nomem) {
    int64_t until = rest_of_short_life(w, before);
    *out_nomem = false;
    if (until == INT64_MIN) {
        return false;
    }
    *out_nomem = !gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, "PodBackOff", GV_KIND_POD,
                              gv_str_c(before->head.name), before->head.created, until,
                              "pod %s ended within %d s of its creation", before->head.name,
                              (int)(SHORT_LIFE_NS / GV_NS_PER_S));
    return true;
}

/* Somebody's quota is spent: what one pod of the set was refused for, all of them would be. */
static const grove_refusal *spent_quota(const gv_work *w) {
    for (uint32_t i = 0; i < w->request->n_refusals; i++) {
        const grove_refusal *r = w->request->refusals[i];
        bool quota = r->verb == GROVE_VERB_CREATE && (gv_kind)r->kind == GV_KIND_POD &&
                     r->http == 403 && r->message != NULL &&
                     strstr(r->message, "exceeded quota") != NULL;
        if (quota) {
            return r;
        }
    }
    return NULL;
}

static grove_status refuse(gv_work *w, gv_work_clique *c, gv_str name, bool *out_skip) {
    *out_skip = false;
    const grove_refusal *r = w->request->n_refusals
                                 ? gv_refusal_of(w, GROVE_VERB_CREATE, GV_KIND_POD, name)
                                 : NULL;
    if (r == NULL) {
        return GROVE_OK;
    }
    gv_str why = gv_text(w, "pod %.*s was refused: %s", ARG_STR(name),
                         r->message ? r->message : "");
    bool ok = r == spent_quota(w) /* told already */ ||
              gv_fault_add(w, GV_KIND_PODCLIQUE, c->want->name, "ERR_CREATE_POD", r->at_ns, why);
    if (gv_is_refused(w, GROVE_VERB_CREATE, GV_KIND_POD, name)) {
        *out_skip = true;
        c->refused = true;
        ok = ok && gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, "CreateRefused", GV_KIND_POD,
                               name, r->at_ns, r->retry_ns, "%.*s", ARG_STR(why));
    }
    return ok ? GROVE_OK : gv_work_nomem(w);
}

/* Until its time has come, one try of one pod: the others of the set wait with it. */
static grove_status await_quota(gv_work *w, gv_work_clique *c, const grove_refusal *r) {
    gv_str name = gv_str_c(r->name);
    gv_str why = gv_text(w, "pod %.*s was refused: %s", ARG_STR(name), r->message);
    bool holds = r->retry_ns > w->now;
    bool ok = gv_fault_add(w, GV_KIND_PODCLIQUE, c->want->name, "ERR_CREATE_POD", r->at_ns, why);
    if (holds) {
        c->refused = true;
        ok = ok && gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, "CreateRefused", GV_KIND_POD,
                               name, r->at_ns, r->retry_ns, "%.*s", ARG_STR(why));
    }
    return ok ? GROVE_OK : gv_work_nomem(w);
}

static grove_status create_pod(gv_work *w, gv_work_clique *c, int64_t index) {
    const gv_pod *before = predecessor(c, index);
    bool nomem = false, skip = false;
    if (too_soon(w, c, before, &nomem)) {
        return nomem ? gv_work_nomem(w) : GROVE_OK;
    }
    gv_str name = free_name(w, c, index, before);
    if (name.n == 0) {
        return name.p == NULL ? gv_work_nomem(w) : GROVE_OK;
    }
    grove_status status = refuse(w, c, name, &skip);
    if (status < 0 || skip) {
        return status;
    }
    gv_pod_args args = {.clique = (uint32_t)(c - w->cliques),
                        .index = index,
                        .name = name,
                        .owner_uid = gv_str_c(c->obj->u.head.uid),
                        .gated = true,
                        .incarnation = c->incarnation,
                        .pclq_doc = c->obj->u.document.doc,
                        .pclq = c->obj->u.document.node};
    grove_doc *body = NULL;
    status = gv_pod_build(w->want, &args, w->b, w->err);
    if (status == GROVE_OK) {
        status = grove_builder_finish(w->b, &body, w->err);
    }
    if (status < 0) {
        return status;
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_CREATE, GV_KIND_POD, name, GV_ORDER_POD_CREATE,
                             before ? "Replacement" : "Missing", "create pod %.*s with index %lld",
                             ARG_STR(name), (long long)index);
    if (act == NULL) {
        grove_doc_unref(body);
        return gv_work_nomem(w);
    }
    act->body = body;
    act->clique = args.clique;
    act->event = GV_EVENT_POD_CREATED;
    act->event_kind = GV_KIND_PODCLIQUE;
    act->event_name = c->want->name;
    act->event_uid = args.owner_uid;
    c->unsettled = true;
    return GROVE_OK;
}

/* Pods that cannot be built (an unknown scheduler) are said, and stop nobody else. */
static grove_status unbuildable(gv_work *w, gv_work_clique *c) {
    const gv_clique_facts *facts = gv_template_clique(w->t, c->want->source);
    if (facts->adapter != NULL) {
        return GROVE_OK;
    }
    gv_str why = gv_text(w, "scheduler %.*s is not configured", ARG_STR(facts->scheduler));
    c->refused = true;
    bool ok = gv_fault_add(w, GV_KIND_PODCLIQUE, c->want->name, "ERR_BUILD_POD_RESOURCE",
                           GV_TIME_NONE, why);
    gv_fault_event(w, "SchedulerUnknown", NULL);
    ok = ok && gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, "SchedulerUnknown", GV_KIND_NONE,
                           facts->scheduler, GV_TIME_NONE, GROVE_NEVER, "%.*s", ARG_STR(why));
    return ok ? GROVE_OK : gv_work_nomem(w);
}

static grove_status scale_out(gv_work *w, gv_work_clique *c, uint32_t missing) {
    grove_status status = unbuildable(w, c);
    const grove_refusal *quota = spent_quota(w);
    uint32_t at = 0;
    if (c->want->pods_blocked) {
        missing = 0; /* what blocks them is waited for */
    }
    if (status == GROVE_OK && missing > 0 && !c->refused && quota != NULL) {
        status = await_quota(w, c, quota);
    }
    for (int64_t index = 0; missing > 0 && status == GROVE_OK && !c->refused; index++) {
        while (at < c->n_pods && c->pods[at]->index >= 0 && c->pods[at]->index < index) {
            at++;
        }
        if (at < c->n_pods && c->pods[at]->index == index) {
            continue;
        }
        status = create_pod(w, c, index);
        missing--;
    }
    return status;
}

static grove_status sync_clique(gv_work *w, gv_work_clique *c) {
    if (c->memo == NULL || c->dying || c->deletes || c->noted) {
        return GROVE_OK;
    }
    uint32_t duplicates = 0;
    grove_status status = drop_duplicates(w, c, &duplicates);
    if (status == GROVE_OK) {
        status = report_unnumbered(w, c);
    }
    int64_t wanted = c->want->replicas, active = (int64_t)c->n_pods - duplicates;
    if (status == GROVE_OK) {
        status = sweep_finished(w, c, active < wanted);
    }
    if (status < 0) {
        return status;
    }
    if (active > wanted && duplicates == 0) {
        return scale_in(w, c, (uint32_t)(active - wanted));
    }
    /* A clique about to be rewritten, now or once its turn is known to stand, makes its pods from what it
     * will be. */
    if (active < wanted && !c->writes && !c->paused && !gv_clique_is_next(w, c)) {
        return scale_out(w, c, (uint32_t)(wanted - active));
    }
    return GROVE_OK;
}

grove_status gv_step_pods(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        grove_status status = sync_clique(w, &w->cliques[i]);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
