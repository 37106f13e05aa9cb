/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "waits": what a gang still waits for once its pods are let go, so that nobody has to guess: a
 * scheduler, another clique's start, or its own containers.
 */
#include "plan/work.h"

static bool in_gang(const gv_pod *p, const gv_work_gang *g) {
    return gv_str_eq(gv_str_c(p->gang), g->want->name);
}

static bool is_scheduled(const gv_pod *p) {
    return (p->flags & GV_POD_SCHEDULED) != 0 || gv_pod_is_bound(p);
}

static bool is_ready(const gv_pod *p) {
    return (p->flags & GV_POD_READY) != 0;
}

typedef struct shortage {
    const gv_work_clique *c;
    const gv_pod *first; /* that has not got so far; NULL: a pod is missing */
    int64_t have;
} shortage;

/* The first clique of the gang that has fewer such pods than its minimum. */
static bool find_shortage(const gv_work *w, const gv_work_gang *g, bool (*got)(const gv_pod *),
                          shortage *out) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        *out = (shortage){.c = c};
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_pod *p = c->pods[i];
            if (!in_gang(p, g)) {
                continue;
            }
            bool ok = got(p);
            out->have += ok ? 1 : 0;
            out->first = out->first == NULL && !ok ? p : out->first;
        }
        if (out->have < c->want->gang_minimum) {
            return true;
        }
    }
    return false;
}

static bool await_scheduler(gv_work *w, const gv_work_gang *g, const shortage *s) {
    const gv_pod *p = s->first;
    bool tried = (p->flags & GV_POD_UNSCHEDULABLE) != 0;
    return gv_wait_say(w, GV_KIND_PODGANG, g->want->name, "AwaitScheduler", GV_KIND_POD,
                       gv_str_c(p->head.name), p->head.created, GROVE_NEVER,
                       tried ? GV_STR("fewer pods than its minimum are scheduled: the scheduler "
                                      "finds no node for this one")
                             : GV_STR("fewer pods than its minimum are scheduled: the scheduler "
                                      "has not bound this one"));
}

/* The first parent of the clique that has fewer ready pods than the clique waits for. */
static grove_status find_parent(gv_work *w, const gv_work_clique *c, const gv_want_parent **out) {
    const gv_want_parent *list = NULL;
    uint32_t n = 0;
    *out = NULL;
    grove_status status = gv_want_parents(w->want, (uint32_t)(c - w->cliques), &w->arena, &list,
                                          &n);
    for (uint32_t i = 0; status == GROVE_OK && i < n && *out == NULL; i++) {
        bool known = list[i].clique != GV_NOT_WANTED;
        if (!known || w->cliques[list[i].clique].ready < list[i].ready) {
            *out = &list[i];
        }
    }
    return status;
}

static grove_status await_ready(gv_work *w, const gv_work_gang *g, const shortage *s) {
    const gv_want_parent *parent = NULL;
    const gv_pod *p = s->first;
    grove_status status = find_parent(w, s->c, &parent);
    if (status < 0) {
        return gv_work_nomem(w);
    }
    bool ok = true;
    if (parent != NULL) {
        ok = gv_wait_add(w, GV_KIND_PODCLIQUE, s->c->want->name, "StartsAfter", GV_KIND_PODCLIQUE,
                         parent->name, p->head.created, GROVE_NEVER,
                         "its pods start when %.*s has %lld ready pods", ARG_STR(parent->name),
                         (long long)parent->ready);
    } else {
        gv_str what = (p->flags & GV_POD_ERRONEOUS) != 0
                          ? GV_STR("fewer pods than its minimum are ready: a container of this "
                                   "one ended with an error")
                      : (p->flags & GV_POD_STARTED_NOT_READY) != 0
                          ? GV_STR("fewer pods than its minimum are ready: a container of this "
                                   "one has started and is not ready")
                          : GV_STR("fewer pods than its minimum are ready: containers of this "
                                   "one have not started");
        ok = gv_wait_say(w, GV_KIND_PODGANG, g->want->name, "AwaitReady", GV_KIND_POD,
                         gv_str_c(p->head.name), p->head.created, GROVE_NEVER, what);
    }
    return ok ? GROVE_OK : gv_work_nomem(w);
}

grove_status gv_step_waits(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_gangs && !w->suspended; i++) {
        const gv_work_gang *g = &w->gangs[i];
        bool unplaced = g->placement != NULL && g->placement->verdict != GROVE_VERDICT_NONE &&
                        g->placement->verdict != GROVE_VERDICT_PLACED;
        shortage s = {NULL, NULL, 0};
        if (g->memo == NULL || g->dying || !g->released || (g->scheduled && g->ready) || unplaced) {
            continue; /* nothing to wait for, or it was told with the gates or the placement */
        }
        grove_status status = GROVE_OK;
        if (!g->scheduled) {
            if (find_shortage(w, g, is_scheduled, &s) && s.first != NULL && s.first->n_gates == 0 &&
                !await_scheduler(w, g, &s)) {
                status = gv_work_nomem(w);
            }
        } else if (find_shortage(w, g, is_ready, &s) && s.first != NULL) {
            status = await_ready(w, g, &s);
        }
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}
