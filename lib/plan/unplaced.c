/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs that nobody has found a place for. Where we bind, we speak as a scheduler does: the pods get the
 * condition that tells so, once, and an event with the explanation. Where a stock scheduler binds what we
 * release, a gang that it could not bind whole in time is taken back: its pods are made anew, gated.
 */
#include "plan/gates.h"
#include "plan/status.h"
#include "value/scalar.h"

static grove_status mark_pod(gv_work *w, const gv_pod *p, const char *text) {
    const gv_object *o = gv_store_get(w->store, GV_KIND_POD, w->ns, gv_str_c(p->head.name));
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, GV_KIND_POD, gv_str_c(p->head.name),
                             GV_ORDER_STATUS, "Unschedulable", "tell that pod %s has no place",
                             p->head.name);
    if (act == NULL || o == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_STRATEGIC;
    act->subresource = GROVE_SUBRESOURCE_STATUS;
    act->uid = gv_str_c(p->head.uid);
    grove_builder *b = w->b;
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "status");
    grove_builder_open_array(b, "conditions");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "type", "PodScheduled");
    grove_builder_string(b, "status", "False");
    grove_builder_string(b, "reason", "Unschedulable");
    grove_builder_string(b, "message", text);
    grove_builder_stringn(b, "lastTransitionTime", w->now_text.p, w->now_text.n);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_status status = gv_act_finish_body(w, act);
    return status < 0 ? status : gv_act_event(w, o, true, "FailedScheduling", gv_str_c(text));
}

grove_status gv_gang_tell_unplaced(gv_work *w, const gv_work_gang *g, const char *text) {
    const uint32_t told = GV_POD_UNSCHEDULABLE | GV_POD_SCHEDULED;
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if (c->goes[i] || c->deletes || gv_pod_is_bound(p) || p->n_gates > 0 ||
                (p->flags & told) != 0 || p->head.uid[0] == '\0' ||
                (p->head.flags & GV_HEAD_EXPECTED) != 0 ||
                !gv_str_eq(gv_str_c(p->gang), g->want->name)) {
                continue;
            }
            grove_status status = mark_pod(w, p, text);
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}

/* More nodes would help: it is not its queue that keeps it back. */
static bool lacks_nodes(const grove_placement *p) {
    gv_str reason = gv_str_c(p->reason ? p->reason : "");
    return !gv_str_is(reason, "QueueLimit") && !gv_str_is(reason, "QueueUnknown");
}

bool gv_gang_goes_unplaced(const gv_work *w, const gv_work_gang *g) {
    const gv_adapter *a = gv_template_gang_adapter(w->t, NULL);
    return a != NULL && (a->caps & GV_ADAPTER_UNPLACED) != 0 && g->placement != NULL &&
           (g->placement->verdict == GROVE_VERDICT_INFEASIBLE ||
            g->placement->verdict == GROVE_VERDICT_UNKNOWN) &&
           lacks_nodes(g->placement);
}

/* ---- released, and not bound whole ---- */

bool gv_gang_is_out(const gv_work *w, const gv_work_gang *g) {
    const gv_adapter *a = gv_template_gang_adapter(w->t, NULL);
    return a != NULL && (a->caps & GV_ADAPTER_RELEASER) != 0 && g->released && !g->scheduled &&
           !w->suspended;
}

static int64_t latest_birth(const gv_work *w, const gv_work_gang *g) {
    int64_t latest = GV_TIME_NONE;
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            int64_t born = c->pods[i]->head.created;
            latest = born > latest ? born : latest;
        }
    }
    return latest;
}

grove_status gv_gang_take_back(gv_work *w, gv_work_gang *g) {
    const grove_node *since = gv_condition_find(g->memo->conditions, GV_COND_GANG_RELEASED);
    int64_t at = 0;
    if (!gv_gang_is_out(w, g) || since == NULL ||
        gv_time_parse(gv_get_str(since, "lastTransitionTime"), &at, NULL) < 0) {
        return GROVE_OK;
    }
    int64_t born = latest_birth(w, g);
    at = born > at ? born : at; /* the condition may still tell of the pods before these */
    if (w->now < at + GV_RELEASE_LIMIT_NS) {
        return gv_wait_add(w, GV_KIND_PODGANG, g->want->name, "ReleasedNotBound", GV_KIND_PODGANG,
                           g->want->name, at, at + GV_RELEASE_LIMIT_NS,
                           "the scheduler has not bound the minimum of the gang yet; its pods are "
                           "made anew, gated, if it does not")
                   ? GROVE_OK
                   : gv_work_nomem(w);
    }
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods && !c->deletes; i++) {
            const gv_pod *p = c->pods[i];
            bool gated = (p->flags & GV_POD_GROVE_GATE) != 0;
            grove_status status = gated || !gv_str_eq(gv_str_c(p->gang), g->want->name)
                                      ? GROVE_OK
                                      : gv_pod_remove(w, c, p, "GangReleaseLost",
                                                      "its gang was not bound whole in time");
            if (status < 0) {
                return status;
            }
        }
    }
    return gv_act_event(w, g->obj, true, "GangReleaseLost",
                        GV_STR("the scheduler did not bind the gang whole in time: its pods are "
                               "made anew and wait for a place"));
}
