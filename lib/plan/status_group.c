/* SPDX-License-Identifier: Apache-2.0 */
/* Status of PodCliqueScalingGroups. */
#include "plan/status.h"

static uint64_t signature(const gv_work *w, const gv_work_group *g) {
    uint64_t sig = gv_sig_int(w->memory->template_id, g->obj->u.head.generation);
    sig = gv_sig_int(sig, g->want->replicas);
    sig = gv_sig_int(sig, g->scheduled);
    sig = gv_sig_int(sig, g->available);
    sig = gv_sig_int(sig, g->updated);
    sig = gv_sig_int(sig, g->healthy);
    sig = gv_sig_int(sig, g->members_updated);
    sig = gv_sig_int(sig, g->n_failed);
    sig = gv_sig_int(sig, (int64_t)g->breach | (g->ever_healthy ? 4 : 0) |
                              (g->terminating ? 8 : 0) | (w->suspended ? 16 : 0));
    sig = gv_sig_text(sig, g->set_hash);
    sig = gv_sig_progress(sig, &g->progress);
    return gv_sig_faults(w, sig) | 1u;
}

static void write_selection(gv_delta *d, const grove_node *live, const gv_progress *p,
                            int64_t stood) {
    const char *key = "readyReplicaIndicesSelectedToUpdate";
    if (p->current_index < 0) {
        gv_delta_away(d, live, key);
        return;
    }
    const grove_node *at = grove_node_get(live, key);
    gv_delta_enter(d, key);
    gv_delta_int(d, at, "current", p->current_index);
    if (p->complete_current) {
        gv_delta_touch(d);
        grove_builder_open_array(d->b, "completed");
        for (const grove_node *n = grove_node_first(p->completed); n;
             n = grove_node_next(p->completed, n)) {
            grove_builder_copy(d->b, NULL, n);
        }
        grove_builder_int64(d->b, NULL, stood);
        grove_builder_close(d->b);
    }
    gv_delta_leave(d);
}

static void write_progress(gv_work *w, gv_delta *d, const gv_work_group *g) {
    const grove_node *live = grove_node_get(g->memo->status, "updateProgress");
    if (!g->progress.set) {
        return;
    }
    gv_delta_enter(d, "updateProgress");
    gv_status_progress(w, d, live, &g->progress);
    gv_delta_text(d, live, "podCliqueSetGenerationHash", g->progress.set_hash);
    gv_delta_count(d, live, "updatedPodCliquesCount", g->members_updated);
    gv_delta_int(d, live, "totalPodCliquesCount", g->want->replicas * (int64_t)g->want->n_members);
    write_selection(d, live, &g->progress, g->memo->progress.current_index);
    gv_delta_leave(d);
}

static bool is_below(const gv_work_group *g) {
    return g->want->live_replicas >= 0 && g->want->live_replicas < g->want->min_available;
}

static bool write_conditions(gv_work *w, gv_delta *d, const gv_work_group *g,
                             const gv_condition *spread, const gv_condition *ratio) {
    long long healthy = (long long)g->healthy, want = (long long)g->want->min_available;
    gv_condition all[7];
    all[0] = (gv_condition){
        .type = GV_COND_MIN_AVAILABLE_BREACHED,
        .status = g->breach,
        .reason = w->suspended             ? GV_REASON_SUSPENDED
                  : g->breach == GV_UNSURE ? GV_REASON_UPDATE_IN_PROGRESS
                  : g->breach == GV_TRUE   ? GV_REASON_GROUP_BELOW_MIN
                                           : GV_REASON_GROUP_ENOUGH,
        .message = w->suspended ? GV_STR("not judged while the set is suspended")
                   : g->breach == GV_UNSURE
                       ? GV_STR("not judged while the group is being updated")
                       : gv_text(w,
                                 "%lld replicas are whole and none of their cliques is in "
                                 "breach, minAvailable is %lld",
                                 healthy, want)};
    all[0].can_wait = g->breach == GV_TRUE && g->scheduled >= g->want->min_available;
    all[1] = (gv_condition){
        .type = GV_COND_GANG_TERMINATION,
        .status = GV_TRUE,
        .absent = !g->terminating,
        .reason = GV_REASON_GANG_TERMINATION,
        .message = GV_STR("the set replica was recycled and has not recovered")};
    all[2] = (gv_condition){.type = GV_COND_EVER_HEALTHY,
                            .status = GV_TRUE,
                            .absent = !g->ever_healthy,
                            .reason = "MinAvailableWasHealthy",
                            .message = GV_STR("minAvailable replicas were healthy at one time")};
    all[3] = (gv_condition){
        .type = GV_COND_SCALE_BELOW_MIN,
        .status = GV_TRUE,
        .absent = !is_below(g),
        .reason = "ReplicasBelowMinAvailable",
        .message = is_below(g)
                       ? gv_text(w, "replicas %lld is below minAvailable %lld, which is kept",
                                 (long long)g->want->live_replicas, want)
                       : GV_STR("")};
    all[4] = *spread;
    all[5] = *ratio;
    all[6] = gv_failed_condition(w, g->n_failed);
    return gv_delta_conditions(w, d, g->memo, g->obj->u.head.generation, all, 7);
}

static grove_status tell(gv_work *w, const gv_work_group *g) {
    return gv_status_tell(w, g->obj, g->memo, g->scheduled,
                          GV_STR("no replica of the group is scheduled any more"), is_below(g),
                          GV_STR("scaled below minAvailable; minAvailable replicas are kept"));
}

static grove_status write_group(gv_work *w, gv_work_group *g) {
    gv_condition spread = gv_group_spread_condition(w, g);
    gv_condition ratio = gv_ratio_condition(w, g->want->ratio, g->want->asked, g->want->replicas);
    uint64_t sig = gv_sig_condition(gv_sig_condition(signature(w, g), &spread), &ratio) | 1u;
    /* Shortcut: nothing that the status is made of has changed. */
    if (g->memo->status_sig == sig) {
        return GROVE_OK;
    }
    const grove_node *live = g->memo->status;
    gv_delta d;
    gv_status_begin(w, &d);
    gv_delta_count(&d, live, "replicas",
                   g->want->live_replicas < 0 ? g->want->asked : g->want->live_replicas);
    gv_delta_count(&d, live, "scheduledReplicas", g->scheduled);
    gv_status_available(&d, live, "availableReplicas", g->available, g->want->replicas);
    gv_delta_count(&d, live, "updatedReplicas", g->updated);
    gv_delta_text(&d, live, "selector",
                  gv_text(w, "%s=%s,%s=%.*s,%s=%.*s", GV_LABEL_MANAGED_BY, GV_MANAGER,
                          GV_LABEL_PART_OF, ARG_STR(w->set), GV_LABEL_GROUP,
                          ARG_STR(g->want->name)));
    gv_delta_int(&d, live, "observedGeneration", g->obj->u.head.generation);
    gv_delta_errors(w, &d, live, GV_KIND_PODCLIQUESCALINGGROUP, g->want->name);
    gv_delta_text(&d, live, "currentPodCliqueSetGenerationHash", g->set_hash);
    write_progress(w, &d, g);
    if (!write_conditions(w, &d, g, &spread, &ratio)) {
        return gv_work_nomem(w);
    }
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, g->obj, g->memo, sig);
    return status == GROVE_OK && w->acts.n > before ? tell(w, g) : status;
}

grove_status gv_status_groups(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        gv_work_group *g = &w->groups[i];
        if (g->memo == NULL || g->dying || g->deletes || g->writes) {
            continue;
        }
        grove_status status = write_group(w, g);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
