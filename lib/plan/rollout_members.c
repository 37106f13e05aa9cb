/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolling the replicas of one scaling group: an outdated replica that does not work goes at once; working
 * ones go whole and one by one, lowest index first, each only after its predecessor works again.
 */
#include "plan/rollout.h"

static gv_work_clique *member(gv_work *w, const gv_work_group *g, int64_t r, uint32_t k) {
    return &w->cliques[gv_want_member(g->want, r, k)];
}

gv_index_state gv_index_look(gv_work *w, const gv_work_group *g, int64_t r) {
    gv_index_state s = {.complete = true, .absent = true};
    bool torn = false;
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        const gv_work_clique *c = member(w, g, r, k);
        if (c->memo == NULL || c->dying) {
            s.complete = false;
            torn = true;
            continue;
        }
        s.absent = false;
        s.old = s.old || !gv_str_eq(c->memo->hash_label, c->want->expected_hash);
        s.broken = s.broken || c->scheduled < c->want->min_available ||
                   c->ready < c->want->min_available;
        s.complete = s.complete && c->converged;
        for (uint32_t i = 0; i < c->n_pods; i++) {
            s.parked = s.parked || (c->pods[i]->flags & GV_POD_UNSCHEDULABLE) != 0;
        }
    }
    s.broken = s.broken || (s.old && torn);
    s.parked = s.parked && !s.old;
    return s;
}

void gv_index_hold_back(gv_work *w, const gv_work_group *g, int64_t r) {
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        gv_work_clique *c = member(w, g, r, k);
        c->held = c->obj == NULL;
    }
}

grove_status gv_index_remove(gv_work *w, gv_work_group *g, int64_t r, const char *why) {
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        gv_work_clique *c = member(w, g, r, k);
        if (c->obj == NULL || c->dying || c->deletes) {
            continue;
        }
        grove_status status = gv_act_delete(w, c->obj, GV_ORDER_DELETE, "RollingUpdate",
                                            GV_EVENT_GROUP_REPLICA_DELETED, gv_str_c(why));
        if (status < 0) {
            return status;
        }
        c->deletes = true;
    }
    return GROVE_OK;
}

static bool note(gv_work *w, const gv_work_group *g, const char *reason, const char *fmt,
                 int64_t index) {
    return gv_wait_add(w, GV_KIND_PODCLIQUESCALINGGROUP, g->want->name, reason,
                       GV_KIND_PODCLIQUESCALINGGROUP, g->want->name, GV_TIME_NONE, GROVE_NEVER, fmt,
                       (long long)index);
}

bool gv_index_works(gv_work *w, const gv_work_group *g, int64_t r) {
    for (uint32_t k = 0; k < g->want->n_members; k++) {
        const gv_work_clique *c = member(w, g, r, k);
        if (c->obj == NULL || c->dying || c->deletes || !c->is_scheduled ||
            c->ready < c->want->min_available) {
            return false;
        }
    }
    return true;
}

/* As for pods: a replica that does not work, and not for want of room, spends the budget. */
static bool budget_is_spent(gv_work *w, const gv_work_group *g, int64_t *out_available) {
    bool spent = false;
    *out_available = 0;
    for (int64_t r = 0; r < g->want->replicas; r++) {
        bool works = gv_index_works(w, g, r);
        *out_available += works ? 1 : 0;
        spent = spent || (!works && !gv_index_look(w, g, r).parked);
    }
    return spent;
}

static grove_status follow_current(gv_work *w, gv_work_group *g, bool *out_next) {
    int64_t r = g->progress.current_index;
    *out_next = false;
    if (r < 0 || r >= g->want->replicas) {
        *out_next = true;
        return GROVE_OK;
    }
    gv_index_state s = gv_index_look(w, g, r);
    if (s.old) {
        int64_t available = 0;
        if ((g->obj->u.head.flags & GV_HEAD_EXPECTED) != 0) {
            return GROVE_OK; /* the choice is not yet known to stand in the cluster */
        }
        if (!s.broken && budget_is_spent(w, g, &available)) {
            return note(w, g, "ReplacementNotReady",
                        "some replica does not work: replica %lld is not taken down beside it", r)
                       ? GROVE_OK
                       : gv_work_nomem(w);
        }
        return gv_index_remove(w, g, r, "its turn in the rolling update");
    }
    if (!s.complete) {
        bool ok = note(w, g, "ReplacementNotReady", "replica %lld was renewed and is not ready yet",
                       r);
        return ok ? GROVE_OK : gv_work_nomem(w);
    }
    *out_next = true;
    return GROVE_OK;
}

static int64_t lowest_ready_old(gv_work *w, const gv_work_group *g) {
    for (int64_t r = 0; r < g->want->replicas; r++) {
        gv_index_state s = gv_index_look(w, g, r);
        if (s.old && !s.broken && r != g->progress.current_index) {
            return r;
        }
    }
    return -1;
}

grove_status gv_roll_members(gv_work *w, gv_work_group *g) {
    bool removed = false;
    for (int64_t r = 0; r < g->want->replicas; r++) {
        gv_index_state s = gv_index_look(w, g, r);
        if (s.old && s.broken) {
            gv_index_hold_back(w, g, r);
        }
        if (r != g->progress.current_index && s.old && s.broken) {
            grove_status status = gv_index_remove(w, g, r, "old version and not working");
            if (status < 0) {
                return status;
            }
            removed = true;
        }
    }
    bool next = false;
    grove_status status = follow_current(w, g, &next);
    if (status < 0 || !next) {
        return status;
    }
    int64_t r = lowest_ready_old(w, g);
    if (r < 0) {
        if (!removed) {
            gv_progress_finish(&g->progress);
        }
        return GROVE_OK;
    }
    int64_t available = 0;
    if (budget_is_spent(w, g, &available)) {
        return note(w, g, "ReplacementNotReady",
                    "some replica does not work: replica %lld is not taken down beside it", r)
                   ? GROVE_OK
                   : gv_work_nomem(w);
    }
    if (available < g->want->min_available) {
        bool ok = note(w, g, "BelowMinAvailable",
                       "fewer replicas are available than minAvailable: replica %lld is not taken "
                       "down",
                       r);
        return ok ? GROVE_OK : gv_work_nomem(w);
    }
    g->progress.complete_current = g->progress.current_index >= 0;
    g->progress.current_index = r;
    return GROVE_OK;
}
