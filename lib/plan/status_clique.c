/* SPDX-License-Identifier: Apache-2.0 */
/* Status of PodCliques. */
#include "plan/status.h"

static uint64_t signature(const gv_work *w, const gv_work_clique *c) {
    uint64_t sig = gv_sig_int(w->memory->template_id, c->obj->u.head.generation);
    sig = gv_sig_int(sig, (int64_t)c->n_pods);
    sig = gv_sig_int(sig, c->ready);
    sig = gv_sig_int(sig, c->scheduled);
    sig = gv_sig_int(sig, c->gated);
    sig = gv_sig_int(sig, c->updated);
    sig = gv_sig_int(sig, c->bad);
    sig = gv_sig_int(sig, (int64_t)c->breach | (c->is_scheduled ? 4 : 0) |
                              (c->ever_scheduled ? 8 : 0) | (c->recycled ? 16 : 0) |
                              (c->n_failed ? 32 : 0));
    sig = gv_sig_text(sig, gv_str_c(c->breach_reason));
    sig = gv_sig_text(sig, c->hash);
    sig = gv_sig_text(sig, c->set_hash);
    sig = gv_sig_progress(sig, &c->progress);
    return gv_sig_faults(w, sig) | 1u;
}

static void write_selection(gv_delta *d, const grove_node *live, const gv_progress *p,
                            gv_str stood) {
    const char *key = "readyPodsSelectedToUpdate";
    if (p->current_pod.n == 0) {
        gv_delta_away(d, live, key);
        return;
    }
    const grove_node *at = grove_node_get(live, key);
    gv_delta_enter(d, key);
    gv_delta_text(d, at, "current", p->current_pod);
    if (p->complete_current) {
        gv_delta_touch(d);
        grove_builder_open_array(d->b, "completed");
        for (const grove_node *n = grove_node_first(p->completed); n;
             n = grove_node_next(p->completed, n)) {
            grove_builder_copy(d->b, NULL, n);
        }
        grove_builder_stringn(d->b, NULL, stood.p, stood.n);
        grove_builder_close(d->b);
    }
    gv_delta_leave(d);
}

static void write_progress(gv_work *w, gv_delta *d, const gv_work_clique *c) {
    const grove_node *live = grove_node_get(c->memo->status, "updateProgress");
    if (!c->progress.set) {
        return;
    }
    gv_delta_enter(d, "updateProgress");
    gv_status_progress(w, d, live, &c->progress);
    gv_delta_text(d, live, "podCliqueSetGenerationHash", c->progress.set_hash);
    gv_delta_text(d, live, "podTemplateHash", c->progress.clique_hash);
    write_selection(d, live, &c->progress, c->memo->progress.current_pod);
    gv_delta_leave(d);
}

static bool write_conditions(gv_work *w, gv_delta *d, const gv_work_clique *c,
                             const gv_condition *ratio) {
    long long want = (long long)c->want->min_available, sched = (long long)c->scheduled;
    long long good = (long long)(c->scheduled - c->bad);
    bool below = c->want->live_replicas >= 0 && c->want->live_replicas < c->want->min_available;
    gv_condition all[6];
    all[0] = (gv_condition){
        .type = GV_COND_CLIQUE_SCHEDULED,
        .status = c->is_scheduled ? GV_TRUE : GV_FALSE,
        .reason = c->is_scheduled ? GV_REASON_SCHEDULED_ENOUGH : GV_REASON_SCHEDULED_TOO_FEW,
        .message = gv_text(w, "%lld pods are scheduled, minAvailable is %lld", sched, want)};
    all[1] = (gv_condition){
        .type = GV_COND_MIN_AVAILABLE_BREACHED,
        .status = c->breach,
        .reason = c->breach_reason,
        .message = w->suspended ? GV_STR("not judged while the set is suspended")
                   : c->breach == GV_UNSURE
                       ? GV_STR("not judged while the clique is being updated")
                       : gv_text(w,
                                 "%lld pods are scheduled and %lld of them work or start, "
                                 "minAvailable is %lld",
                                 sched, good, want)};
    all[1].restart = c->recycled;
    /* Between its containers' start and its readiness a pod counts as bad: often for a moment only. */
    all[1].can_wait = c->breach == GV_TRUE &&
                      gv_str_is(gv_str_c(c->breach_reason), GV_REASON_READY_BELOW_MIN);
    /* Recycled pods have their first time still before them. */
    all[2] = (gv_condition){
        .type = GV_COND_EVER_SCHEDULED,
        .status = c->ever_scheduled ? GV_TRUE : GV_FALSE,
        .absent = !c->ever_scheduled && !c->memo->ever.present,
        .reason = c->ever_scheduled ? "MinAvailableWasScheduled" : "Recycled",
        .message = c->ever_scheduled ? GV_STR("minAvailable pods were scheduled at one time")
                                     : GV_STR("no minAvailable pods were scheduled since all pods "
                                              "were recycled")};
    all[3] = (gv_condition){
        .type = GV_COND_SCALE_BELOW_MIN,
        .status = GV_TRUE,
        .absent = !below,
        .reason = "ReplicasBelowMinAvailable",
        .message = below ? gv_text(w, "replicas %lld is below minAvailable %lld, which is kept",
                                   (long long)c->want->live_replicas, want)
                         : GV_STR("")};
    all[4] = *ratio;
    all[5] = gv_failed_condition(w, c->n_failed);
    return gv_delta_conditions(w, d, c->memo, c->obj->u.head.generation, all, 6);
}

static grove_status tell(gv_work *w, const gv_work_clique *c) {
    bool below = c->want->live_replicas >= 0 && c->want->live_replicas < c->want->min_available;
    return gv_status_tell(w, c->obj, c->memo, c->scheduled,
                          GV_STR("no pod of the clique is scheduled any more"), below,
                          GV_STR("scaled below minAvailable; minAvailable pods are kept"));
}

static grove_status write_clique(gv_work *w, gv_work_clique *c) {
    gv_condition ratio = gv_ratio_condition(w, c->want->ratio, c->want->asked, c->want->replicas);
    uint64_t sig = gv_sig_condition(signature(w, c), &ratio) | 1u;
    /* Shortcut: nothing that the status is made of has changed. */
    if (c->memo->status_sig == sig) {
        return GROVE_OK;
    }
    const grove_node *live = c->memo->status;
    gv_delta d;
    gv_status_begin(w, &d);
    gv_delta_int(&d, live, "observedGeneration", c->obj->u.head.generation);
    gv_delta_errors(w, &d, live, GV_KIND_PODCLIQUE, c->want->name);
    gv_delta_count(&d, live, "replicas", (int64_t)c->n_pods);
    gv_status_available(&d, live, "readyReplicas", c->ready, (int64_t)c->n_pods);
    gv_delta_count(&d, live, "updatedReplicas", c->updated);
    gv_delta_count(&d, live, "scheduleGatedReplicas", c->gated);
    gv_delta_count(&d, live, "scheduledReplicas", c->scheduled);
    if (c->want->group == GV_STANDALONE) {
        gv_delta_text(&d, live, "hpaPodSelector",
                      gv_text(w, "%s=%s,%s=%.*s,%s=%.*s", GV_LABEL_MANAGED_BY, GV_MANAGER,
                              GV_LABEL_PART_OF, ARG_STR(w->set), GV_LABEL_CLIQUE,
                              ARG_STR(c->want->name)));
    }
    gv_delta_text(&d, live, "currentPodTemplateHash", c->hash);
    gv_delta_text(&d, live, "currentPodCliqueSetGenerationHash", c->set_hash);
    write_progress(w, &d, c);
    if (!write_conditions(w, &d, c, &ratio)) {
        return gv_work_nomem(w);
    }
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, c->obj, c->memo, sig);
    return status == GROVE_OK && w->acts.n > before ? tell(w, c) : status;
}

grove_status gv_status_cliques(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        /* One write per object and plan; and while its pods are on their way, one report at the end. */
        if (c->memo == NULL || c->dying || c->deletes || c->writes ||
            (c->unsettled && !c->recycled)) {
            continue;
        }
        grove_status status = write_clique(w, c);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
