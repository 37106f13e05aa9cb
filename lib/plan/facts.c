/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "facts": what the pods say. Counts are of active pods only: a pod on its way out, or finished, is
 * nobody's replica. Conditions are judged from the counts, never from conditions of children.
 */
#include "plan/rollout.h"

static void count_pods(gv_work_clique *c) {
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        bool is_ready = (p->flags & GV_POD_READY) != 0;
        c->ready += is_ready ? 1 : 0;
        c->scheduled += (p->flags & GV_POD_SCHEDULED) != 0 || gv_pod_is_bound(p) ? 1 : 0;
        c->gated += (p->flags & GV_POD_GATED_COND) != 0 ? 1 : 0;
        c->bad += !is_ready && (p->flags & (GV_POD_ERRONEOUS | GV_POD_STARTED_NOT_READY)) != 0 ? 1
                                                                                               : 0;
    }
}

grove_status gv_step_facts(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        count_pods(c);
        c->is_scheduled = c->obj != NULL && c->scheduled >= c->want->min_available;
        if (c->memo != NULL) {
            /* Sticky; an object of another operator is seeded from what that one observed. */
            bool once = c->memo->ever.present ? c->memo->ever.status == GV_TRUE
                                              : c->memo->scheduled.status == GV_TRUE;
            c->ever_scheduled = once || c->is_scheduled;
        }
    }
    return GROVE_OK;
}

/* ---- breaches ---- */

int64_t gv_breach_deadline(const gv_work *w, int64_t since) {
    return since > GROVE_NEVER - w->delay ? GROVE_NEVER : since + w->delay;
}

static int64_t breach_start(const gv_work *w, const gv_memo *memo) {
    bool stood = memo != NULL && memo->breach.present && memo->breach.status == GV_TRUE &&
                 memo->breach.since != GV_TIME_NONE;
    return stood ? memo->breach.since : w->now;
}

static void judge_clique(const gv_work *w, gv_work_clique *c) {
    int64_t minimum = c->want->min_available;
    if (w->suspended) {
        c->breach = GV_UNSURE;
        c->breach_reason = GV_REASON_SUSPENDED;
    } else if (c->progress.set && !c->progress.ended) {
        c->breach = GV_UNSURE;
        c->breach_reason = GV_REASON_UPDATE_IN_PROGRESS;
    } else if (c->scheduled < minimum) {
        c->breach = GV_TRUE;
        c->breach_reason = GV_REASON_SCHEDULED_BELOW_MIN;
    } else if (c->scheduled - c->bad < minimum) {
        c->breach = GV_TRUE;
        c->breach_reason = GV_REASON_READY_BELOW_MIN;
    } else {
        c->breach = GV_FALSE;
        c->breach_reason = GV_REASON_READY_ENOUGH;
    }
    c->breach_since = breach_start(w, c->memo);
}

typedef struct index_facts {
    bool whole, scheduled, available, updated, breached;
} index_facts;

static index_facts judge_index(const gv_work *w, const gv_work_group *g, int64_t r) {
    index_facts f = {.whole = true, .scheduled = true, .available = true, .updated = true};
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        const gv_work_clique *c = &w->cliques[gv_want_member(g->want, r, k)];
        if (c->obj == NULL || c->dying) {
            return (index_facts){0};
        }
        f.scheduled = f.scheduled && c->is_scheduled;
        f.available = f.available && c->ready >= c->want->min_available;
        f.updated = f.updated && c->converged;
        f.breached = f.breached || c->breach == GV_TRUE;
    }
    f.available = f.available && f.scheduled;
    f.updated = f.updated && f.available;
    return f;
}

static void judge_group(const gv_work *w, gv_work_group *g) {
    for (int64_t r = 0; r < g->want->replicas; r++) {
        index_facts f = judge_index(w, g, r);
        g->scheduled += f.scheduled && f.whole ? 1 : 0;
        g->available += f.available ? 1 : 0;
        g->updated += f.updated ? 1 : 0;
        g->healthy += f.whole && !f.breached ? 1 : 0;
    }
    if (w->suspended || (g->progress.set && !g->progress.ended)) {
        g->breach = GV_UNSURE;
    } else {
        g->breach = g->healthy < g->want->min_available ? GV_TRUE : GV_FALSE;
    }
    g->breach_since = breach_start(w, g->memo);
    if (g->memo != NULL) {
        g->ever_healthy = g->memo->ever.status == GV_TRUE ||
                          (g->memo->breach.present && g->memo->breach.status == GV_FALSE) ||
                          g->breach == GV_FALSE;
        g->was_terminating = g->memo->terminating.status == GV_TRUE;
        /* Only a real recovery ends the episode: health that was seen, not a gap in the facts. */
        g->terminating = g->was_terminating && g->breach != GV_FALSE;
    }
}

static void judge_replica(gv_work *w, uint32_t at) {
    const gv_want_replica *r = &w->want->replicas[at];
    gv_work_replica *out = &w->replicas[at];
    out->available = out->updated = true;
    for (uint32_t i = 0; i < r->n_standalone; i++) {
        const gv_work_clique *c = &w->cliques[r->first_clique + i];
        bool lives = c->obj != NULL && !c->dying;
        out->available = out->available && lives && c->ready >= c->want->min_available;
        out->updated = out->updated && lives && c->converged;
    }
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const gv_work_group *g = &w->groups[r->first_group + i];
        bool lives = g->obj != NULL && !g->dying;
        out->available = out->available && lives && g->available >= g->want->min_available;
        out->updated = out->updated && lives && gv_str_eq(g->set_hash, w->set_hash);
    }
    out->updated = out->updated && out->available;
}

void gv_judge(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        judge_clique(w, &w->cliques[i]);
    }
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        judge_group(w, &w->groups[i]);
    }
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        judge_replica(w, i);
    }
}
