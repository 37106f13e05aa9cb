/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs and pods that make room for a gang of higher priority. A whole gang, and the scaled gangs that are of
 * no use without it, get the condition that tells so; when that stands, all its pods are evicted. It stands
 * until none is left: an eviction that began goes on after any restart. A single pod, one that its gang can do
 * without, is evicted when it is asked for.
 */
#include "plan/delta.h"
#include "plan/gates.h"
#include "plan/status.h"

static bool in_gang(const gv_pod *p, const gv_work_gang *g) {
    return gv_str_eq(gv_str_c(p->gang), g->want->name);
}

static const grove_disruption *disruption_of(const gv_work *w, gv_str gang) {
    for (uint32_t i = 0; i < w->request->n_disruptions; i++) {
        const grove_disruption *d = w->request->disruptions[i];
        if (d->pod == NULL && gv_str_eq(gv_str_c(d->gang), gang)) {
            return d;
        }
    }
    return NULL;
}

/* Has a node and is not on its way out. */
static bool may_go(const gv_work_clique *c, uint32_t i, const gv_work_gang *g) {
    const gv_pod *p = c->pods[i];
    return in_gang(p, g) && gv_pod_is_bound(p) && !c->goes[i] && !c->deletes;
}

static bool is_left(const gv_work *w, const gv_work_gang *g) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        const gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            if (may_go(c, i, g)) {
                return true;
            }
        }
    }
    return false;
}

static const grove_node *standing(const gv_work_gang *g) {
    const grove_node *c = gv_condition_find(g->memo->conditions, GV_COND_GANG_DISRUPTION);
    bool on = gv_str_is(gv_get_str(c, "status"), "True") &&
              gv_str_is(gv_get_str(c, "reason"), GV_REASON_PREEMPTED);
    return on ? c : NULL;
}

static void judge(const gv_work *w, gv_work_gang *g, const grove_node *stands) {
    const gv_work_gang *base = &w->gangs[g->want->base];
    const grove_disruption *asked = disruption_of(w, g->want->name);
    const grove_disruption *of_base = base != g ? disruption_of(w, base->want->name) : NULL;
    bool withdrawn = (asked && asked->flags & GROVE_DISRUPTION_WITHDRAWN) ||
                     (of_base && of_base->flags & GROVE_DISRUPTION_WITHDRAWN);
    bool follows = base != g && base->condemned;
    g->condemned = !withdrawn && (asked || stands || follows) && is_left(w, g);
    g->condemned_text = stands    ? gv_get_str(stands, "message")
                        : asked   ? gv_str_c(asked->text ? asked->text : "")
                        : follows ? base->condemned_text
                                  : (gv_str){"", 0};
}

static grove_status evict(gv_work *w, gv_work_clique *c, const gv_pod *p, gv_str why) {
    if (p->head.uid[0] == '\0' || (p->head.flags & GV_HEAD_EXPECTED) != 0) {
        return GROVE_OK; /* a write to it is on its way */
    }
    gv_act *act = gv_act_add(w, GROVE_VERB_EVICT, GV_KIND_POD, gv_str_c(p->head.name),
                             GV_ORDER_POD_DELETE, "Preempted", "evict pod %s: %.*s", p->head.name,
                             ARG_STR(why));
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->uid = gv_str_c(p->head.uid);
    c->unsettled = true;
    return GROVE_OK;
}

static grove_status evict_gang(gv_work *w, const gv_work_gang *g) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            grove_status status = may_go(c, i, g) ? evict(w, c, c->pods[i], g->condemned_text)
                                                  : GROVE_OK;
            if (status < 0) {
                return status;
            }
        }
    }
    return GROVE_OK;
}

static grove_status evict_pod(gv_work *w, const gv_work_gang *g, const grove_disruption *d) {
    for (uint32_t k = 0; k < g->want->n_cliques; k++) {
        gv_work_clique *c = &w->cliques[g->want->first_clique + k];
        for (uint32_t i = 0; i < c->n_pods; i++) {
            const gv_head *h = &c->pods[i]->head;
            if (may_go(c, i, g) && strcmp(h->name, d->pod) == 0 &&
                (d->uid == NULL || strcmp(h->uid, d->uid) == 0)) {
                return evict(w, c, c->pods[i], gv_str_c(d->text ? d->text : ""));
            }
        }
    }
    return GROVE_OK;
}

grove_status gv_gang_disrupt(gv_work *w, gv_work_gang *g) {
    const grove_node *stands = standing(g);
    judge(w, g, stands);
    if (g->condemned) {
        bool written = (g->obj->u.head.flags & GV_HEAD_EXPECTED) == 0;
        return stands && written ? evict_gang(w, g) : GROVE_OK;
    }
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < w->request->n_disruptions && status == GROVE_OK; i++) {
        const grove_disruption *d = w->request->disruptions[i];
        if (d->pod != NULL && gv_str_eq(gv_str_c(d->gang), g->want->name)) {
            status = evict_pod(w, g, d);
        }
    }
    return status;
}
