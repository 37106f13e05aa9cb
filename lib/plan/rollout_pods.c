/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolling the pods of one standalone clique: whatever of the old version is not ready goes at once; ready
 * pods go one by one, oldest first, each only after its predecessor's replacement is ready and while the
 * clique has its minimum.
 */
#include "plan/rollout.h"

static bool is_old(const gv_work_clique *c, const gv_pod *p) {
    return !gv_str_eq(gv_str_c(p->hash), c->want->expected_hash);
}

static bool is_ready(const gv_pod *p) {
    return (p->flags & GV_POD_READY) != 0;
}

static const gv_pod *pod_named(const gv_work_clique *c, gv_str name) {
    for (uint32_t i = 0; i < c->n_pods; i++) {
        if (gv_str_eq(gv_str_c(c->pods[i]->head.name), name)) {
            return c->pods[i];
        }
    }
    return NULL;
}

/* The oldest ready pod of the old version; ties go to the lower index. */
static const gv_pod *candidate(const gv_work_clique *c) {
    const gv_pod *best = NULL;
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        if (is_old(c, p) && is_ready(p) && (best == NULL || p->head.created < best->head.created)) {
            best = p;
        }
    }
    return best;
}

static bool wait_for(gv_work *w, const gv_work_clique *c, const char *reason, gv_str pod,
                     const char *text) {
    return gv_wait_add(w, GV_KIND_PODCLIQUE, c->want->name, reason, GV_KIND_POD, pod, GV_TIME_NONE,
                       GROVE_NEVER, "%s", text);
}

static grove_status below_minimum(gv_work *w, const gv_work_clique *c) {
    return wait_for(w, c, "BelowMinAvailable", (gv_str){"", 0},
                    "fewer pods are ready than minAvailable: no further one is taken down")
               ? GROVE_OK
               : gv_work_nomem(w);
}

/*
 * Pods that are neither ready nor known not to fit draw from the same budget as the update: while there is
 * one, however it came about, no ready pod is taken down. A new pod that the scheduler has no room for
 * does not count: waiting for it might never end.
 */
static bool budget_is_spent(const gv_work_clique *c) {
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        bool parked = !is_old(c, p) && (p->flags & GV_POD_UNSCHEDULABLE) != 0;
        if (c->goes[i] || (!is_ready(p) && !parked)) {
            return true;
        }
    }
    return (int64_t)c->n_pods < c->want->replicas;
}

static grove_status spent(gv_work *w, const gv_work_clique *c) {
    return wait_for(w, c, "ReplacementNotReady", (gv_str){"", 0},
                    "some pod is not ready: no ready one is taken down beside it")
               ? GROVE_OK
               : gv_work_nomem(w);
}

/* What stands as current: act on it, wait for it, or go on. *out_next: the next may be chosen. */
static grove_status follow_current(gv_work *w, gv_work_clique *c, int64_t n_new, int64_t new_ready,
                                   bool *out_next) {
    gv_str name = c->progress.current_pod;
    *out_next = false;
    if (name.n == 0) {
        *out_next = true;
        return GROVE_OK;
    }
    const gv_pod *p = pod_named(c, name);
    if (p != NULL && is_old(c, p)) {
        if ((c->obj->u.head.flags & GV_HEAD_EXPECTED) != 0) {
            return GROVE_OK; /* the choice is not yet known to stand in the cluster */
        }
        if (!is_ready(p)) {
            return GROVE_OK; /* it goes with the others that are not */
        }
        if (budget_is_spent(c)) {
            return spent(w, c);
        }
        return c->ready >= c->want->min_available
                   ? gv_pod_remove(w, c, p, "RollingUpdate", "its turn in the rolling update")
                   : below_minimum(w, c);
    }
    int64_t done = (int64_t)grove_node_size(c->progress.completed);
    /* A clique scaled in meanwhile has fewer pods than were replaced: then it is enough that none is
     * missing and all of the new version are ready. */
    bool whole = (int64_t)c->n_pods >= c->want->replicas && new_ready == n_new;
    if (new_ready < done + 1 && !whole) {
        return wait_for(w, c, "ReplacementNotReady", name,
                        "the pod that replaces the last one taken down is not ready yet")
                   ? GROVE_OK
                   : gv_work_nomem(w);
    }
    *out_next = true;
    return GROVE_OK;
}

grove_status gv_roll_pods(gv_work *w, gv_work_clique *c) {
    if (!gv_str_eq(c->memo->hash_label, c->want->expected_hash)) {
        return GROVE_OK; /* the clique itself carries the old template: it is written first */
    }
    int64_t old = 0, n_new = 0, new_ready = 0;
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        n_new += is_old(c, p) ? 0 : 1;
        new_ready += !is_old(c, p) && is_ready(p) ? 1 : 0;
        if (!is_old(c, p)) {
            continue;
        }
        if (is_ready(p)) {
            old++;
            continue;
        }
        grove_status status = gv_pod_remove(w, c, p, "RollingUpdate", "old version and not ready");
        if (status < 0) {
            return status;
        }
    }
    bool next = false;
    grove_status status = follow_current(w, c, n_new, new_ready, &next);
    if (status < 0 || !next) {
        return status;
    }
    if (old == 0) {
        gv_progress_finish(&c->progress);
        return GROVE_OK;
    }
    if (budget_is_spent(c)) {
        return spent(w, c);
    }
    if (c->ready < c->want->min_available) {
        return below_minimum(w, c);
    }
    const gv_pod *p = candidate(c);
    if (p != NULL) {
        c->progress.complete_current = c->progress.current_pod.n > 0;
        c->progress.current_pod = gv_str_c(p->head.name);
    }
    return GROVE_OK;
}
