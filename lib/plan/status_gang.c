/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status of PodGangs: the phase is live, Initialized and Scheduled are sticky. Conditions of our own carry
 * our prefix, so that Grove's list stays as Grove writes it.
 */
#include "plan/gates.h"
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

/* A reason for which no place was found; NULL: it has one, or nobody was asked. */
static const char *unplaced(const gv_work_gang *g) {
    const grove_placement *p = g->placement;
    bool not_placed = p != NULL && (p->verdict == GROVE_VERDICT_INFEASIBLE ||
                                    p->verdict == GROVE_VERDICT_UNKNOWN);
    return !not_placed ? NULL : p->reason && p->reason[0] ? p->reason : "NotPlaced";
}

/* The explanation of the moment at which it began: the numbers in it change with every node, and are not
 * worth a write each. */
static gv_condition unplaced_condition(const gv_work_gang *g) {
    const char *reason = unplaced(g);
    const grove_node *live = gv_condition_find(g->memo->conditions, GV_COND_GANG_UNPLACED);
    gv_condition c = {.type = GV_COND_GANG_UNPLACED,
                      .status = GV_TRUE,
                      .absent = reason == NULL,
                      .reason = reason ? reason : "",
                      .message = {"", 0}};
    if (reason != NULL) {
        bool same = gv_str_is(gv_get_str(live, "reason"), reason);
        c.message = same ? gv_get_str(live, "message") : gv_str_c(g->placement->text);
    }
    return c;
}

static gv_condition flag(const char *type, bool on, const char *reason, gv_str message) {
    return (gv_condition){
        .type = type, .status = GV_TRUE, .absent = !on, .reason = reason, .message = message};
}

static bool write_conditions(gv_work *w, gv_delta *d, const gv_work_gang *g, bool initialized,
                             const gv_condition *cross, const gv_condition *wait) {
    bool scheduled = stands(g, GV_COND_GANG_SCHEDULED) || (initialized && g->scheduled);
    bool ran = stands(g, GV_COND_GANG_READY) || stands(g, GV_COND_GANG_UNHEALTHY);
    gv_condition all[11];
    all[0] = (gv_condition){.type = GV_COND_INITIALIZED,
                            .status = initialized ? GV_TRUE : GV_FALSE,
                            .reason = initialized ? GV_REASON_PODS_CREATED : GV_REASON_PODS_PENDING,
                            .message = initialized
                                           ? GV_STR("all pods of the gang were created")
                                           : GV_STR("some pods of the gang do not exist yet")};
    all[1] = flag(GV_COND_GANG_SCHEDULED, scheduled, "PodGangScheduled",
                  GV_STR("every pod group had its minimum scheduled"));
    all[2] = (gv_condition){
        .type = GV_COND_GANG_READY,
        .status = g->ready ? GV_TRUE : GV_FALSE,
        .absent = !scheduled,
        .reason = g->ready ? "PodGangReady" : "PodGangNotReady",
        .message = g->ready ? GV_STR("every pod group has its minimum ready")
                            : GV_STR("some pod group has less than its minimum ready")};
    all[3] = flag(GV_COND_GANG_UNHEALTHY, ran && !w->suspended && !(g->ready && g->scheduled),
                  "PodGangDegraded", GV_STR("the gang ran and lost its minimum"));
    all[4] = flag(GV_COND_GANG_NOT_ENFORCED, !is_enforced(w), "SchedulerBindsPodByPod",
                  GV_STR("the scheduler of this gang gives no all-or-nothing guarantee"));
    all[5] = g->condemned
                 ? flag(GV_COND_GANG_DISRUPTION, true, GV_REASON_PREEMPTED, g->condemned_text)
                 : flag(GV_COND_GANG_DISRUPTION, g->disrupted, "PodDisrupted",
                        GV_STR("some pod of the gang is being evicted or preempted"));
    all[6] = flag(GV_COND_GANG_RELEASED, gv_gang_is_out(w, g), "AwaitsScheduler",
                  GV_STR("the pods were let go; the scheduler has not bound the minimum yet"));
    all[7] = unplaced_condition(g);
    all[8] = *cross;
    all[9] = flag(GV_COND_SUSPENDED, w->suspended, GV_REASON_SUSPENDED,
                  GV_STR("the set is suspended: its pods stay gated"));
    all[10] = *wait;
    return gv_delta_conditions(w, d, g->memo, g->obj->u.head.generation, all, 11);
}

static bool is_preempted_anew(const gv_work_gang *g) {
    const grove_node *live = gv_condition_find(g->memo->conditions, GV_COND_GANG_DISRUPTION);
    return g->condemned && !gv_str_is(gv_get_str(live, "reason"), GV_REASON_PREEMPTED);
}

static grove_status tell_unplaced(gv_work *w, const gv_work_gang *g) {
    const char *reason = unplaced(g);
    if (is_preempted_anew(g)) {
        return gv_act_event(w, g->obj, true, "Preempted", g->condemned_text);
    }
    const grove_node *live = gv_condition_find(g->memo->conditions, GV_COND_GANG_UNPLACED);
    if (reason == NULL || gv_str_is(gv_get_str(live, "reason"), reason)) {
        return GROVE_OK;
    }
    return gv_act_event(w, g->obj, true, "Unschedulable", gv_str_c(g->placement->text));
}

static grove_status tell(gv_work *w, const gv_work_gang *g, const gv_condition *wait) {
    bool over = !wait->absent && wait->status == GV_TRUE && !stands(g, GV_COND_GANG_WAIT);
    grove_status status = over ? gv_act_event(w, g->obj, true, "GangWaitTimeout", wait->message)
                               : GROVE_OK;
    return status == GROVE_OK ? tell_unplaced(w, g) : status;
}

static grove_status write_gang(gv_work *w, gv_work_gang *g) {
    bool initialized = stands(g, GV_COND_INITIALIZED) || g->complete;
    int64_t score = g->placement && g->placement->verdict == GROVE_VERDICT_PLACED
                        ? (int64_t)g->placement->score
                        : 0;
    uint64_t sig = gv_sig_int(w->memory->template_id,
                              (initialized ? 1 : 0) | (g->scheduled ? 2 : 0) | (g->ready ? 4 : 0));
    sig = gv_sig_int(sig, (g->disrupted ? 1 : 0) | (gv_gang_is_out(w, g) ? 2 : 0) |
                              (w->suspended ? 4 : 0) | (g->condemned ? 8 : 0));
    sig = gv_sig_text(sig, gv_str_c(unplaced(g)));
    gv_condition cross = gv_gang_cross_condition(w, g);
    gv_condition wait = gv_gang_wait_condition(w, g);
    sig = gv_sig_condition(gv_sig_condition(gv_sig_int(sig, score), &cross), &wait) | 1u;
    /* Shortcut: nothing that the status is made of has changed. */
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
            gv_delta_open(&d); /* the phase that follows takes it along */
            grove_builder_number(d.b, "placementScore", text.p, text.n);
        }
    }
    if (!write_conditions(w, &d, g, initialized, &cross, &wait)) {
        return gv_work_nomem(w);
    }
    size_t before = w->acts.n;
    grove_status status = gv_status_end(w, &d, g->obj, g->memo, sig);
    return status == GROVE_OK && w->acts.n > before ? tell(w, g, &wait) : status;
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
