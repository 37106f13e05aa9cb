/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a gang waits for its minimum to be scheduled (template.gangWait). The clock is the transition time
 * of a condition on the PodGang, so that a restart loses nothing. A gang that is made anew gives back what it
 * holds: its pods that were let go are deleted, and the new ones stay gated until the last of them is gone.
 */
#include "plan/gates.h"
#include "plan/status.h"

static bool is_base_ready(const gv_work *w, const gv_work_gang *g) {
    const gv_want_clique *missing = NULL;
    return g->want->group == GV_STANDALONE || gv_base_scheduled(w, g, &missing);
}

/* What ran and lost its minimum has a clock of its own: terminationDelay. */
static bool is_breached(const gv_work *w, const gv_work_gang *g) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        if (c->breach == GV_TRUE && c->ever_scheduled) {
            return true;
        }
    }
    return false;
}

static gv_condition waiting(void) {
    return (gv_condition){.type = GV_COND_GANG_WAIT,
                          .status = GV_FALSE,
                          .reason = "Waiting",
                          .message = GV_STR("its minimum is not scheduled yet")};
}

static gv_condition timed_out(gv_work *w) {
    return (gv_condition){.type = GV_COND_GANG_WAIT,
                          .status = GV_TRUE,
                          .reason = "TimedOut",
                          .message = gv_text(w, "its minimum was not scheduled within %.*s",
                                             ARG_STR(w->view->gang_wait.timeout))};
}

/* The time at which a gang that waits has waited for long enough. */
static int64_t deadline(const gv_work *w, const gv_stands *live) {
    int64_t since = live->since == GV_TIME_NONE ? w->now : live->since;
    return since > GROVE_NEVER - w->gang_wait ? GROVE_NEVER : since + w->gang_wait;
}

gv_condition gv_gang_wait_condition(gv_work *w, const gv_work_gang *g) {
    gv_stands live = gv_condition_stands(g->memo->conditions, GV_COND_GANG_WAIT);
    gv_condition none = {.type = GV_COND_GANG_WAIT, .absent = true, .reason = ""};
    bool done = w->gang_wait <= 0 || g->scheduled || w->suspended || is_breached(w, g);
    bool waits = g->complete && is_base_ready(w, g);
    if (done || (!live.present && !waits)) {
        return none;
    }
    if (!live.present) {
        return waiting();
    }
    if (live.status == GV_TRUE) {
        bool anew = w->view->gang_wait.recreate && waits && !g->released;
        return anew ? waiting() : timed_out(w);
    }
    return waits && deadline(w, &live) <= w->now ? timed_out(w) : waiting();
}

bool gv_gang_is_made_anew(const gv_work *w, const gv_work_gang *g) {
    return w->gang_wait > 0 && w->view->gang_wait.recreate && !g->scheduled && !w->suspended &&
           gv_condition_stands(g->memo->conditions, GV_COND_GANG_WAIT).status == GV_TRUE;
}

static grove_status remove_pods(gv_work *w, const gv_work_gang *g) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods && !c->deletes; i++) {
            const gv_pod *p = c->pods[i];
            bool stays = (p->flags & GV_POD_GROVE_GATE) != 0 || p->head.uid[0] == '\0' ||
                         !gv_str_eq(gv_str_c(p->gang), g->want->name);
            grove_status status = stays ? GROVE_OK
                                        : gv_pod_remove(w, c, p, "GangWaitTimeout",
                                                        "its gang waited too long");
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}

grove_status gv_gang_wait(gv_work *w, gv_work_gang *g) {
    if (w->gang_wait <= 0 || g->scheduled) {
        return GROVE_OK;
    }
    if (gv_gang_is_made_anew(w, g) && !is_breached(w, g)) {
        return remove_pods(w, g);
    }
    gv_condition c = gv_gang_wait_condition(w, g);
    gv_stands live = gv_condition_stands(g->memo->conditions, GV_COND_GANG_WAIT);
    if (c.absent || c.status == GV_TRUE || !live.present || !g->complete) {
        return GROVE_OK;
    }
    bool ok = gv_wait_say(w, GV_KIND_PODGANG, g->want->name, "GangWait", GV_KIND_PODGANG,
                          g->want->name, live.since, deadline(w, &live),
                          w->view->gang_wait.recreate
                              ? GV_STR("fewer pods than its minimum are scheduled; all are made "
                                       "anew, gated, when gangWait.timeout runs out")
                              : GV_STR("fewer pods than its minimum are scheduled; that is told "
                                       "when gangWait.timeout runs out"));
    return ok ? GROVE_OK : gv_work_nomem(w);
}
