/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status of PodGangs: the phase is live, Initialized and Scheduled are sticky. Conditions of our own carry
 * our prefix, so that Grove's list stays as Grove writes it.
 */
#include "plan/status.h"

static const char *phase_of(const gv_work_gang *g, bool initialized) {
    return !initialized || !g->scheduled ? GV_PHASE_PENDING
           : g->ready                    ? GV_PHASE_RUNNING
                                         : GV_PHASE_STARTING;
}

static bool stands(const gv_work_gang *g, const char *type) {
    return gv_str_is(gv_get_str(gv_condition_find(g->memo->conditions, type), "status"), "True");
}

static bool is_enforced(const gv_work *w) {
    const gv_adapter *a = gv_template_gang_adapter(w->t, NULL);
    return a == NULL ||
           (a->caps & (GV_ADAPTER_GANG | GV_ADAPTER_RELEASER | GV_ADAPTER_BINDER)) != 0;
}

static bool write_conditions(gv_work *w, gv_delta *d, const gv_work_gang *g, bool initialized) {
    bool scheduled = stands(g, GV_COND_GANG_SCHEDULED) || (initialized && g->scheduled);
    bool ran = stands(g, GV_COND_GANG_READY) || stands(g, GV_COND_GANG_UNHEALTHY);
    gv_condition all[5];
    all[0] = (gv_condition){.type = GV_COND_INITIALIZED,
                            .status = initialized ? GV_TRUE : GV_FALSE,
                            .reason = initialized ? GV_REASON_PODS_CREATED : GV_REASON_PODS_PENDING,
                            .message = initialized
                                           ? GV_STR("all pods of the gang were created")
                                           : GV_STR("some pods of the gang do not exist yet")};
    all[1] = (gv_condition){.type = GV_COND_GANG_SCHEDULED,
                            .status = GV_TRUE,
                            .absent = !scheduled,
                            .reason = "PodGangScheduled",
                            .message = GV_STR("every pod group had its minimum scheduled")};
    all[2] = (gv_condition){
        .type = GV_COND_GANG_READY,
        .status = g->ready ? GV_TRUE : GV_FALSE,
        .absent = !scheduled,
        .reason = g->ready ? "PodGangReady" : "PodGangNotReady",
        .message = g->ready ? GV_STR("every pod group has its minimum ready")
                            : GV_STR("some pod group has less than its minimum ready")};
    all[3] = (gv_condition){.type = GV_COND_GANG_UNHEALTHY,
                            .status = GV_TRUE,
                            .absent = !ran || (g->ready && g->scheduled),
                            .reason = "PodGangDegraded",
                            .message = GV_STR("the gang ran and lost its minimum")};
    all[4] = (gv_condition){
        .type = GV_COND_GANG_NOT_ENFORCED,
        .status = GV_TRUE,
        .absent = is_enforced(w),
        .reason = "SchedulerBindsPodByPod",
        .message = GV_STR("the scheduler of this gang gives no all-or-nothing guarantee")};
    return gv_delta_conditions(w, d, g->memo, g->obj->u.head.generation, all, 5);
}

static grove_status write_gang(gv_work *w, gv_work_gang *g) {
    bool initialized = stands(g, GV_COND_INITIALIZED) || g->complete;
    int64_t score = g->placement && g->placement->verdict == GROVE_VERDICT_PLACED
                        ? (int64_t)g->placement->score
                        : 0;
    uint64_t sig = gv_sig_int(w->memory->template_id,
                              (initialized ? 1 : 0) | (g->scheduled ? 2 : 0) | (g->ready ? 4 : 0));
    sig = gv_sig_int(sig, score) | 1u;
    if (g->memo->status_sig == sig) {
        return GROVE_OK;
    }
    gv_delta d;
    gv_status_begin(w, &d);
    gv_delta_text(&d, g->memo->status, "phase", gv_str_c(phase_of(g, initialized)));
    if (score > 0) {
        /* A fraction by Grove's type; thousandths are exact in four digits. */
        gv_str text = score >= 1000 ? GV_STR("1") : gv_text(w, "0.%03d", (int)score);
        const grove_node *live = grove_node_get(g->memo->status, "placementScore");
        gv_str now = {NULL, 0};
        now.p = grove_node_textn(live, &now.n);
        if (now.p == NULL || !gv_str_eq(now, text)) {
            gv_delta_touch(&d);
            grove_builder_number(d.b, "placementScore", text.p, text.n);
        }
    }
    if (!write_conditions(w, &d, g, initialized)) {
        return gv_work_nomem(w);
    }
    return gv_status_end(w, &d, g->obj, g->memo, sig);
}

grove_status gv_status_gangs(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_gangs; i++) {
        gv_work_gang *g = &w->gangs[i];
        if (g->memo == NULL || g->dying || g->writes || g->unsettled) {
            continue;
        }
        grove_status status = write_gang(w, g);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
