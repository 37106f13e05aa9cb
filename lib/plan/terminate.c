/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "gang termination": what was healthy once and has been below its minimum for terminationDelay is
 * recycled whole. A group that still has minAvailable healthy replicas recycles only the breached ones;
 * otherwise the whole set replica goes, standalone cliques and groups alike.
 *
 * The clocks are the transition times of the conditions in status: a restart loses nothing.
 */
#include "plan/delta.h"

typedef struct breach {
    bool any;
    int64_t deadline; /* of the one that runs out first */
} breach;

static void take(breach *b, int64_t deadline) {
    b->deadline = b->any && b->deadline < deadline ? b->deadline : deadline;
    b->any = true;
}

static bool clique_breached(const gv_work_clique *c) {
    return c->obj != NULL && !c->dying && !c->deletes && c->breach == GV_TRUE && c->ever_scheduled;
}

static bool group_breached(const gv_work_group *g) {
    return g->obj != NULL && !g->dying && g->breach == GV_TRUE && g->ever_healthy &&
           !g->was_terminating;
}

static bool note(gv_work *w, gv_kind kind, gv_str name, const char *reason, int64_t since,
                 int64_t deadline, const char *what) {
    return gv_wait_add(w, kind, name, reason, kind, name, since, deadline,
                       "%s is below minAvailable; it is recycled when terminationDelay runs out",
                       what);
}

/* ---- a whole set replica ---- */

static bool look_at_clique(gv_work *w, const gv_work_clique *c, breach *out) {
    if (!clique_breached(c)) {
        return true;
    }
    int64_t deadline = gv_breach_deadline(w, c->breach_since);
    take(out, deadline);
    return deadline <= w->now || note(w, GV_KIND_PODCLIQUE, c->want->name, "BreachTimer",
                                      c->breach_since, deadline, "the clique");
}

/* The core unit: what is outside it neither ends it nor goes with it. */
static bool look_at_replica(gv_work *w, uint32_t at, breach *out) {
    const gv_want_replica *r = &w->want->replicas[at];
    for (uint32_t i = r->n_outside; i < r->n_standalone; i++) {
        if (!look_at_clique(w, &w->cliques[r->first_clique + i], out)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < r->n_groups; i++) {
        const gv_work_group *g = &w->groups[r->first_group + i];
        if (!group_breached(g)) {
            continue;
        }
        int64_t deadline = gv_breach_deadline(w, g->breach_since);
        take(out, deadline);
        if (deadline > w->now && !note(w, GV_KIND_PODCLIQUESCALINGGROUP, g->want->name,
                                       "BreachTimer", g->breach_since, deadline, "the group")) {
            return false;
        }
    }
    return true;
}

static grove_status remove_clique(gv_work *w, gv_work_clique *c, const char *event,
                                  const char *why) {
    if (c->obj == NULL || c->dying || c->deletes) {
        return GROVE_OK;
    }
    grove_status status = gv_act_delete(w, c->obj, GV_ORDER_DELETE, "GangTermination", event,
                                        gv_str_c(why));
    c->deletes = status == GROVE_OK;
    return status;
}

/* A standalone clique keeps its object, and with it the replicas that a scaler gave it: its pods go, and
 * what it remembers of the former ones is taken back. */
static grove_status recycle_pods(gv_work *w, gv_work_clique *c, const char *why) {
    if (c->memo == NULL || c->dying || c->deletes) {
        return GROVE_OK;
    }
    for (uint32_t i = 0; i < c->n_pods; i++) {
        grove_status status = gv_pod_remove(w, c, c->pods[i], "GangTermination", why);
        if (status < 0) {
            return status;
        }
    }
    c->recycled = true;
    c->ever_scheduled = false;
    return GROVE_OK;
}

static grove_status recycle_replica(gv_work *w, uint32_t at) {
    static const char why[] = "the set replica was below minAvailable for terminationDelay";
    const gv_want_replica *r = &w->want->replicas[at];
    for (uint32_t i = r->n_outside; i < r->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[r->first_clique + i];
        grove_status status = i < r->n_standalone ? recycle_pods(w, c, why)
                                                  : remove_clique(w, c, NULL, why);
        if (status < 0) {
            return status;
        }
    }
    for (uint32_t i = 0; i < r->n_groups; i++) {
        w->groups[r->first_group + i].terminating = true;
    }
    w->replicas[at].terminate = true;
    return gv_act_event(w, w->pcs, false, GV_EVENT_SET_REPLICA_DELETED,
                        gv_text(w, "set replica %lld is recycled", (long long)r->index));
}

/* Each clique outside the core unit is a unit of its own. */
static grove_status look_at_outside(gv_work *w, const gv_want_replica *r) {
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < r->n_outside && status == GROVE_OK; i++) {
        gv_work_clique *c = &w->cliques[r->first_clique + i];
        breach b = {0};
        if (!look_at_clique(w, c, &b)) {
            status = gv_work_nomem(w);
        } else if (b.any && b.deadline <= w->now) {
            status = recycle_pods(w, c, "the clique was below minAvailable for terminationDelay");
        }
    }
    return status;
}

/* ---- replicas of one group ---- */

static gv_work_clique *member(gv_work *w, const gv_work_group *g, int64_t r, uint32_t k) {
    return &w->cliques[gv_want_member(g->want, r, k)];
}

static breach look_at_index(gv_work *w, const gv_work_group *g, int64_t r) {
    breach out = {0};
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        const gv_work_clique *c = member(w, g, r, k);
        if (clique_breached(c)) {
            take(&out, gv_breach_deadline(w, c->breach_since));
        }
    }
    return out;
}

static grove_status recycle_index(gv_work *w, gv_work_group *g, int64_t r) {
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        grove_status status = remove_clique(
            w, member(w, g, r, k), GV_EVENT_GROUP_REPLICA_DELETED,
            "the group replica was below minAvailable for terminationDelay");
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

static grove_status look_at_group(gv_work *w, gv_work_group *g) {
    if (g->obj == NULL || g->dying || (g->progress.set && !g->progress.ended)) {
        return GROVE_OK;
    }
    int64_t breached = 0;
    for (int64_t r = 0; r < g->want->replicas; r++) {
        breached += look_at_index(w, g, r).any ? 1 : 0;
    }
    if (breached == 0 || g->want->replicas - breached < g->want->min_available) {
        return GROVE_OK; /* nothing, or the group itself is in breach and its set decides */
    }
    for (int64_t r = 0; r < g->want->replicas; r++) {
        breach b = look_at_index(w, g, r);
        if (!b.any) {
            continue;
        }
        grove_status status = GROVE_OK;
        if (b.deadline <= w->now) {
            status = recycle_index(w, g, r);
        } else if (!note(w, GV_KIND_PODCLIQUESCALINGGROUP, g->want->name, "ReplicaBreachTimer",
                         GV_TIME_NONE, b.deadline, "a replica of the group")) {
            status = gv_work_nomem(w);
        }
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

grove_status gv_step_terminate(gv_work *w) {
    if (w->suspended) {
        return gv_suspend(w); /* nothing runs that could fall below its minimum */
    }
    for (uint32_t i = 0; i < w->want->n_replicas; i++) {
        breach b = {0};
        if (!look_at_replica(w, i, &b)) {
            return gv_work_nomem(w);
        }
        grove_status status = b.any && b.deadline <= w->now ? recycle_replica(w, i) : GROVE_OK;
        status = status == GROVE_OK ? look_at_outside(w, &w->want->replicas[i]) : status;
        if (status < 0) {
            return status;
        }
    }
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        grove_status status = look_at_group(w, &w->groups[i]);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
