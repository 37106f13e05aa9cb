/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that hold room already become the members of a gang. */
#include "sched/state.h"

static bool is_free(const grove_sched *s, uint32_t pod) {
    return pod < s->pods.n && s->pods.v[pod].node != GV_NONE && s->pods.v[pod].gang == GV_NONE;
}

static grove_status judge(const grove_sched *s, const grove_sched_members *in, grove_error *err) {
    if ((in->n_pods > 0 && !in->pods) || in->n_surplus > in->n_pods ||
        (in->flags & ~(uint32_t)(GROVE_GANG_NEVER_EVICT | GROVE_GANG_YIELDS)) != 0) {
        return gv_error(err, GROVE_E_INVALID, "the members of a gang are not given as they must");
    }
    if (in->queue != GROVE_QUEUE_NONE && in->queue >= grove_sched_queue_count(s)) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no queue %u", in->queue);
    }
    for (uint32_t i = 0; i < in->n_pods; i++) {
        if (!is_free(s, in->pods[i])) {
            return gv_error(err, GROVE_E_INVALID, "pod %u is not there or belongs to a gang",
                            in->pods[i]);
        }
    }
    return GROVE_OK;
}

/* Taken out and put back: its slot, the first free one now, is used again. */
static grove_status join(grove_sched *s, uint32_t id, uint32_t gang, const grove_sched_members *in,
                         bool surplus) {
    gv_pod pod = s->pods.v[id];
    if (pod.gang != GV_NONE) {
        return GROVE_E_INVALID; /* named twice */
    }
    if (!gv_undo_room(s, 2)) {
        return GROVE_E_NOMEM;
    }
    gv_pod_erase(s, id);
    pod.gang = gang;
    pod.priority = in->priority;
    pod.flags = (surplus ? GV_POD_SURPLUS : 0) | in->queue << GV_POD_QUEUE_SHIFT;
    return gv_pod_insert(s, &pod, &id);
}

static grove_status form(grove_sched *s, const grove_sched_members *in, uint32_t *out) {
    gv_gang_record fresh = {.priority = in->priority,
                            .base = GV_NONE,
                            .queue = (uint16_t)in->queue,
                            .flags = (uint8_t)in->flags};
    grove_status st = gv_gang_insert(s, &fresh, out);
    for (uint32_t i = 0; st == GROVE_OK && i < in->n_pods; i++) {
        st = join(s, in->pods[i], *out, in, i >= in->n_pods - in->n_surplus);
    }
    return st;
}

grove_status grove_sched_gang_form(grove_sched *sched, const grove_sched_members *members,
                                   uint32_t *out_gang, grove_error *err) {
    grove_sched_members in;
    grove_status st = gv_struct_in(&in, sizeof in, members, members ? members->size : 0, sizeof in);
    if (st < 0 || !sched || !out_gang) {
        return gv_error(err, st < 0 ? st : GROVE_E_INVALID, "grove_sched_members has a wrong size");
    }
    st = judge(sched, &in, err);
    if (st < 0) {
        return st;
    }
    uint64_t mark;
    uint32_t id = GV_NONE;
    if (grove_sched_mark(sched, &mark) < 0) {
        return gv_error_nomem(err);
    }
    st = form(sched, &in, &id);
    if (st < 0) {
        grove_sched_rollback(sched, mark);
        return st == GROVE_E_INVALID ? gv_error(err, st, "a pod is named twice")
                                     : gv_error_nomem(err);
    }
    grove_sched_keep(sched, mark);
    *out_gang = id;
    return GROVE_OK;
}
