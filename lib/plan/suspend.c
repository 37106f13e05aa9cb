/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suspended set: somebody outside decides whether it may run (spec.suspend). Pods that were let go are made
 * anew, gated, so that their room is free again; nothing else of the set changes, and what it remembers of
 * having run is taken back, so that it starts as a new one when it is resumed.
 */
#include "plan/status.h"

static grove_status take_room_back(gv_work *w, gv_work_clique *c) {
    for (uint32_t i = 0; i < c->n_pods; i++) {
        const gv_pod *p = c->pods[i];
        bool holds = (p->flags & GV_POD_GROVE_GATE) == 0 && p->head.uid[0] != '\0';
        grove_status status =
            holds ? gv_pod_remove(w, c, p, GV_REASON_SUSPENDED, "the set is suspended") : GROVE_OK;
        if (status < 0) {
            return status;
        }
    }
    c->ever_scheduled = false;
    return GROVE_OK;
}

grove_status gv_suspend(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        grove_status status = c->memo == NULL || c->dying || c->deletes ? GROVE_OK
                                                                        : take_room_back(w, c);
        if (status < 0) {
            return status;
        }
    }
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        w->groups[i].ever_healthy = false;
    }
    return GROVE_OK;
}
