/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room that a kubelet does not have although its node says so. What a refused pod asked for stays taken on
 * that node for a while, so that its successors are not sent there one after the other; each time that the
 * node refuses again as soon as the room is given back, twice as long.
 */
#include "engine/view_sched.h"

#define FIRST_WAIT_NS (INT64_C(30) * 1000 * 1000 * 1000)
#define LONGEST_WAIT_NS (16 * FIRST_WAIT_NS)

/* Refusals while room is still held back are of the same time. */
static int64_t wait_on(const gv_view *v, uint32_t node) {
    int64_t wait = FIRST_WAIT_NS;
    for (size_t i = 0; i < v->refused.n; i++) {
        const gv_view_refused *r = &v->refused.v[i];
        int64_t next = r->pod != GROVE_SCHED_NONE ? r->wait : 2 * r->wait;
        if (r->node == node && next > wait) {
            wait = next;
        }
    }
    return wait < LONGEST_WAIT_NS ? wait : LONGEST_WAIT_NS;
}

grove_status gv_view_refuse(gv_view *v, const gv_pod *pod, uint32_t node, int64_t now,
                            grove_error *err) {
    gv_view_refused entry = {.node = node, .wait = wait_on(v, node)};
    grove_sched_pod room;
    gv_arena_reset(&v->scratch);
    grove_status st = gv_view_room_of(v, pod, node, &room, err);
    if (st < 0) {
        return st;
    }
    if (!gv_vec_reserve(v->env, &v->refused, v->refused.n + 1)) {
        return gv_error_nomem(err);
    }
    st = grove_sched_pod_add(v->sched, &room, &entry.pod, err);
    if (st == GROVE_OK) {
        entry.until = now + entry.wait;
        v->refused.v[v->refused.n++] = entry;
    }
    return st;
}

bool gv_view_end_refusals(gv_view *v, int64_t now) {
    bool room = false;
    size_t kept = 0;
    for (size_t i = 0; i < v->refused.n; i++) {
        gv_view_refused r = v->refused.v[i];
        if (r.until <= now && r.pod == GROVE_SCHED_NONE) {
            continue; /* nothing was refused since */
        }
        if (r.until <= now) {
            grove_sched_pod_remove(v->sched, r.pod);
            r.pod = GROVE_SCHED_NONE;
            r.until = now + r.wait;
            room = true;
        }
        v->refused.v[kept++] = r;
    }
    v->refused.n = kept;
    return room;
}

void gv_view_forget_refusals(gv_view *v, uint32_t node) {
    size_t kept = 0;
    for (size_t i = 0; i < v->refused.n; i++) {
        if (v->refused.v[i].node != node) {
            v->refused.v[kept++] = v->refused.v[i];
        }
    }
    v->refused.n = kept;
}

int64_t gv_view_refusals_until(const gv_view *v) {
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < v->refused.n; i++) {
        const gv_view_refused *r = &v->refused.v[i];
        first = r->pod != GROVE_SCHED_NONE && r->until < first ? r->until : first;
    }
    return first;
}
