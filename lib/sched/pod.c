/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that hold room, alone or as members of a committed gang. */
#include "sched/state.h"

#include <stddef.h>
#include <string.h>

static void node_link(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    gv_node *node = &s->nodes.v[p->node];
    p->prev = GV_NONE;
    p->next = node->pods;
    if (node->pods != GV_NONE) {
        s->pods.v[node->pods].prev = id;
    }
    node->pods = id;
    node->n_pods++;
    gv_node_busy(s, p->node, node->n_pods - 1);
}

static void node_unlink(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    gv_node *node = &s->nodes.v[p->node];
    if (p->prev != GV_NONE) {
        s->pods.v[p->prev].next = p->next;
    } else {
        node->pods = p->next;
    }
    if (p->next != GV_NONE) {
        s->pods.v[p->next].prev = p->prev;
    }
    node->n_pods--;
    gv_node_busy(s, p->node, node->n_pods + 1);
}

static void gang_link(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    if (p->gang == GV_NONE) {
        return;
    }
    gv_gang_record *g = &s->gangs.v[p->gang];
    p->gang_next = GV_NONE;
    p->gang_prev = g->tail;
    if (g->tail != GV_NONE) {
        s->pods.v[g->tail].gang_next = id;
    } else {
        g->head = id;
    }
    g->tail = id;
    g->n_pods++;
}

/* Back between its former neighbours, which undo in reverse order has restored. */
static void gang_relink(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    if (p->gang == GV_NONE) {
        return;
    }
    gv_gang_record *g = &s->gangs.v[p->gang];
    if (p->gang_prev != GV_NONE) {
        s->pods.v[p->gang_prev].gang_next = id;
    } else {
        g->head = id;
    }
    if (p->gang_next != GV_NONE) {
        s->pods.v[p->gang_next].gang_prev = id;
    } else {
        g->tail = id;
    }
    g->n_pods++;
}

static void gang_unlink(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    if (p->gang == GV_NONE) {
        return;
    }
    gv_gang_record *g = &s->gangs.v[p->gang];
    if (p->gang_prev != GV_NONE) {
        s->pods.v[p->gang_prev].gang_next = p->gang_next;
    } else {
        g->head = p->gang_next;
    }
    if (p->gang_next != GV_NONE) {
        s->pods.v[p->gang_next].gang_prev = p->gang_prev;
    } else {
        g->tail = p->gang_prev;
    }
    g->n_pods--;
}

/* The room of a pod's node, and what its queue uses. */
static void charge(grove_sched *s, const gv_pod *p, int sign) {
    const int64_t *row = gv_sched_row(s, p->vector);
    gv_node_charge(s, p->node, row, sign);
    if (gv_pod_queue(p) != 0) {
        gv_queue_charge(s, gv_pod_queue(p), row, -sign);
    }
}

grove_status gv_pod_insert(grove_sched *s, const gv_pod *pod, uint32_t *out_id) {
    if (!gv_undo_room(s, 1)) {
        return GROVE_E_NOMEM;
    }
    uint32_t id = s->free_pod;
    gv_undo_kind kind = id != GV_NONE ? GV_UNDO_POD_ADD : GV_UNDO_POD_NEW;
    if (id != GV_NONE) {
        s->free_pod = s->pods.v[id].next;
        s->pods.v[id] = *pod;
    } else {
        if (!gv_vec_push(s->env, &s->pods, *pod)) {
            return GROVE_E_NOMEM;
        }
        id = (uint32_t)s->pods.n - 1;
    }
    node_link(s, id);
    gang_link(s, id);
    charge(s, pod, -1);
    s->live_pods++;
    if (s->marks > 0) {
        gv_undo_note(s, &(gv_undo){.kind = kind, .id = id});
    }
    *out_id = id;
    return GROVE_OK;
}

/* The caller has made room in the undo log, except when node removal (never undone) calls. */
void gv_pod_erase(grove_sched *s, uint32_t id) {
    gv_pod *p = &s->pods.v[id];
    if (s->marks > 0) {
        gv_undo_note(s, &(gv_undo){.kind = GV_UNDO_POD_REMOVE, .id = id, .was.pod = *p});
    }
    node_unlink(s, id);
    gang_unlink(s, id);
    charge(s, p, +1);
    s->live_pods--;
    p->node = GV_NONE;
    p->next = s->free_pod;
    s->free_pod = id;
}

/* Undo of an erase: the slot is at the head of the free list again. */
static void pod_restore(grove_sched *s, uint32_t id, const gv_pod *was) {
    s->free_pod = s->pods.v[id].next;
    s->pods.v[id] = *was;
    /* Back to where it was in the node's list: its neighbours are as they were then. */
    gv_node *node = &s->nodes.v[was->node];
    if (was->prev != GV_NONE) {
        s->pods.v[was->prev].next = id;
    } else {
        node->pods = id;
    }
    if (was->next != GV_NONE) {
        s->pods.v[was->next].prev = id;
    }
    node->n_pods++;
    gv_node_busy(s, was->node, node->n_pods - 1);
    gang_relink(s, id);
    charge(s, was, -1);
    s->live_pods++;
}

void gv_pod_undo(grove_sched *s, const gv_undo *u) {
    if (u->kind == GV_UNDO_POD_REMOVE) {
        pod_restore(s, u->id, &u->was.pod);
        return;
    }
    gv_pod *p = &s->pods.v[u->id];
    node_unlink(s, u->id);
    gang_unlink(s, u->id);
    charge(s, p, +1);
    s->live_pods--;
    if (u->kind == GV_UNDO_POD_NEW) {
        s->pods.n--; /* going back in order, it is the last one */
        return;
    }
    p->node = GV_NONE;
    p->next = s->free_pod;
    s->free_pod = u->id;
}

grove_status grove_sched_pod_add(grove_sched *sched, const grove_sched_pod *pod, uint32_t *out_pod,
                                 grove_error *err) {
    grove_sched *s = sched;
    grove_sched_pod in;
    grove_status st = gv_struct_in(&in, sizeof in, pod, pod ? pod->size : 0,
                                   offsetof(grove_sched_pod, queue));
    if (st < 0) {
        return gv_error(err, st, "grove_sched_pod has a wrong size");
    }
    if (in.queue != GROVE_QUEUE_NONE && in.queue >= grove_sched_queue_count(s)) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no queue %u", in.queue);
    }
    if (!gv_node_live(s, in.node)) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no node %u", in.node);
    }
    if (in.class_id != GV_NONE ? in.class_id >= s->classes.n
                               : in.n_requests > s->resource_names.n) {
        return gv_error(err, GROVE_E_INVALID, "a pod names an unknown class or resource");
    }
    gv_pod fresh = {.node = in.node,
                    .gang = GV_NONE,
                    .priority = in.priority,
                    .flags = (in.flags & GROVE_POD_NEVER_EVICT) | in.queue << GV_POD_QUEUE_SHIFT};
    if (in.class_id != GV_NONE) {
        fresh.vector = s->classes.v[in.class_id].vector;
    } else {
        int64_t row[GV_RESOURCES_MAX] = {0};
        for (uint32_t r = 0; r < in.n_requests && r < GV_RESOURCES_MAX; r++) {
            if (in.requests[r] < 0 || in.requests[r] > INT64_MAX / 1048576) {
                return gv_error(err, GROVE_E_RANGE, "request %u of a pod is out of range", r);
            }
            row[r] = in.requests[r];
        }
        row[0] = 1;
        if (!gv_sched_vector(s, row, in.n_requests ? in.n_requests : 1, &fresh.vector)) {
            return gv_error_nomem(err);
        }
    }
    st = gv_pod_insert(s, &fresh, out_pod);
    return st < 0 ? gv_error_nomem(err) : GROVE_OK;
}

static bool pod_live(const grove_sched *s, uint32_t id) {
    return id < s->pods.n && s->pods.v[id].node != GV_NONE;
}

grove_status grove_sched_pod_remove(grove_sched *sched, uint32_t pod) {
    if (!sched || !pod_live(sched, pod)) {
        return GROVE_E_NOT_FOUND;
    }
    if (!gv_undo_room(sched, 1)) {
        return GROVE_E_NOMEM;
    }
    gv_pod_erase(sched, pod);
    return GROVE_OK;
}

uint32_t grove_sched_pod_node(const grove_sched *sched, uint32_t pod) {
    return pod_live(sched, pod) ? sched->pods.v[pod].node : GV_NONE;
}

uint64_t grove_sched_pod_count(const grove_sched *sched) {
    return sched->live_pods;
}

uint32_t gv_gang_base(const grove_sched *s, uint32_t id) {
    const gv_gang_record *g = &s->gangs.v[id];
    bool there = g->base != GV_NONE && gv_gang_live(s, g->base) &&
                 s->gangs.v[g->base].serial == g->base_serial;
    return there ? g->base : GV_NONE;
}

grove_status gv_gang_insert(grove_sched *s, const gv_gang_record *fresh, uint32_t *out_id) {
    if (!gv_undo_room(s, 1)) {
        return GROVE_E_NOMEM;
    }
    gv_gang_record made = *fresh;
    made.head = made.tail = GV_NONE;
    made.n_pods = 0;
    made.live = true;
    made.serial = ++s->gang_serial ? s->gang_serial : ++s->gang_serial;
    uint32_t id = s->free_gang;
    gv_undo_kind kind = id != GV_NONE ? GV_UNDO_GANG_ADD : GV_UNDO_GANG_NEW;
    if (id != GV_NONE) {
        s->free_gang = s->gangs.v[id].head;
        s->gangs.v[id] = made;
    } else {
        if (!gv_vec_push(s->env, &s->gangs, made)) {
            return GROVE_E_NOMEM;
        }
        id = (uint32_t)s->gangs.n - 1;
    }
    if (s->marks > 0) {
        gv_undo_note(s, &(gv_undo){.kind = kind, .id = id});
    }
    *out_id = id;
    return GROVE_OK;
}

static void gang_slot_free(grove_sched *s, uint32_t id) {
    s->gangs.v[id] = (gv_gang_record){.head = s->free_gang, .tail = GV_NONE, .base = GV_NONE};
    s->free_gang = id;
}

void gv_gang_erase(grove_sched *s, uint32_t id) {
    while (s->gangs.v[id].head != GV_NONE) {
        gv_pod_erase(s, s->gangs.v[id].head);
    }
    if (s->marks > 0) {
        gv_undo_note(s,
                     &(gv_undo){.kind = GV_UNDO_GANG_REMOVE, .id = id, .was.gang = s->gangs.v[id]});
    }
    gang_slot_free(s, id);
}

void gv_gang_undo(grove_sched *s, const gv_undo *u) {
    if (u->kind == GV_UNDO_GANG_NEW) {
        s->gangs.n--;
        return;
    }
    if (u->kind == GV_UNDO_GANG_ADD) {
        gang_slot_free(s, u->id);
        return;
    }
    if (u->kind == GV_UNDO_GANG_EDIT) {
        s->gangs.v[u->id].flags = u->was.gang.flags;
        s->gangs.v[u->id].base = u->was.gang.base;
        s->gangs.v[u->id].base_serial = u->was.gang.base_serial;
        return;
    }
    s->free_gang = s->gangs.v[u->id].head;
    s->gangs.v[u->id] = u->was.gang;
}

/* Before flags or base of a gang are changed. */
static grove_status note_edit(grove_sched *s, uint32_t id) {
    if (!s || !gv_gang_live(s, id)) {
        return GROVE_E_NOT_FOUND;
    }
    if (!gv_undo_room(s, 1)) {
        return GROVE_E_NOMEM;
    }
    if (s->marks > 0) {
        gv_undo_note(s,
                     &(gv_undo){.kind = GV_UNDO_GANG_EDIT, .id = id, .was.gang = s->gangs.v[id]});
    }
    return GROVE_OK;
}

grove_status grove_sched_gang_base(grove_sched *sched, uint32_t gang, uint32_t base) {
    if (base != GV_NONE && (!sched || !gv_gang_live(sched, base) || base == gang)) {
        return GROVE_E_NOT_FOUND;
    }
    for (uint32_t up = base; up != GV_NONE; up = gv_gang_base(sched, up)) {
        if (up == gang) {
            return GROVE_E_INVALID; /* it would go with itself */
        }
    }
    grove_status st = note_edit(sched, gang);
    if (st == GROVE_OK) {
        sched->gangs.v[gang].base = base;
        sched->gangs.v[gang].base_serial = base == GV_NONE ? 0 : sched->gangs.v[base].serial;
    }
    return st;
}

grove_status grove_sched_gang_flags(grove_sched *sched, uint32_t gang, uint32_t flags) {
    if (flags & ~(uint32_t)(GROVE_GANG_NEVER_EVICT | GROVE_GANG_YIELDS)) {
        return GROVE_E_INVALID;
    }
    grove_status st = note_edit(sched, gang);
    if (st == GROVE_OK) {
        sched->gangs.v[gang].flags = (uint8_t)flags;
    }
    return st;
}

grove_status grove_sched_release(grove_sched *sched, uint32_t gang) {
    if (!sched || !gv_gang_live(sched, gang)) {
        return GROVE_E_NOT_FOUND;
    }
    if (!gv_undo_room(sched, (size_t)sched->gangs.v[gang].n_pods + 1)) {
        return GROVE_E_NOMEM;
    }
    gv_gang_erase(sched, gang);
    return GROVE_OK;
}

const uint32_t *grove_sched_gang_pods(grove_sched *sched, uint32_t gang, uint32_t *out_n) {
    *out_n = 0;
    if (!gv_gang_live(sched, gang) ||
        !gv_vec_reserve(sched->env, &sched->gang_pods, sched->gangs.v[gang].n_pods)) {
        return NULL;
    }
    uint32_t n = 0;
    for (uint32_t p = sched->gangs.v[gang].head; p != GV_NONE; p = sched->pods.v[p].gang_next) {
        sched->gang_pods.v[n++] = p;
    }
    *out_n = n;
    return sched->gang_pods.v;
}
