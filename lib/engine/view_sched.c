/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, and the room that pods take, kept in step with the store. */
#include "engine/view_sched.h"

#include "engine/view_class.h"
#include "engine/view_queues.h"
#include "value/doc.h"

typedef struct gv_view_pod {
    uint32_t pod;      /* of the placement engine */
    uint32_t node;     /* of the placement engine */
    uint32_t class_id; /* that it counts as; GROVE_SCHED_NONE: only what it asks for */
    uint32_t queue;    /* that it is charged to */
    bool assumed;      /* decided here, not yet seen as bound */
} gv_view_pod;

grove_status gv_view_init(gv_view *v, grove_env *env, grove_error *err) {
    memset(v, 0, sizeof *v);
    v->env = env;
    gv_map_init(&v->nodes, env);
    gv_map_init(&v->pods, env);
    gv_map_init(&v->topologies, env);
    gv_arena_init(&v->scratch, env);
    grove_status st = grove_sched_new(env, NULL, &v->sched, err);
    if (st == GROVE_OK) {
        st = grove_gang_new(v->sched, &v->gang);
    }
    if (st == GROVE_OK) {
        st = grove_decision_new(v->sched, &v->decision);
    }
    if (st < 0) {
        gv_view_fini(v);
        return gv_error(err, st, "the placement engine could not be made");
    }
    return GROVE_OK;
}

void gv_view_fini(gv_view *v) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&v->pods, &i));) {
        gv_free(v->env, e->value, sizeof(gv_view_pod));
    }
    gv_view_topologies_fini(v);
    gv_map_fini(&v->nodes);
    gv_map_fini(&v->pods);
    gv_map_fini(&v->topologies);
    gv_vec_fini(v->env, &v->requests);
    gv_vec_fini(v->env, &v->notes);
    gv_vec_fini(v->env, &v->refused);
    gv_arena_fini(&v->scratch);
    for (uint32_t i = 0; i < GV_VIEW_BATCH; i++) {
        grove_gang_free(v->batch[i]);
        grove_decision_free(v->answers[i]);
    }
    grove_decision_free(v->decision);
    grove_gang_free(v->gang);
    grove_sched_free(v->sched);
    memset(v, 0, sizeof *v); /* a view that could not be made is ended twice */
}

grove_status gv_view_seat_in_batch(gv_view *v, uint32_t at) {
    grove_status st = v->batch[at] ? GROVE_OK : grove_gang_new(v->sched, &v->batch[at]);
    return st < 0 || v->answers[at] ? st : grove_decision_new(v->sched, &v->answers[at]);
}

/* ---- nodes ---- */

static grove_taint_effect effect_of(const char *word) {
    return strcmp(word, "NoSchedule") == 0         ? GROVE_TAINT_NO_SCHEDULE
           : strcmp(word, "PreferNoSchedule") == 0 ? GROVE_TAINT_PREFER_NO_SCHEDULE
                                                   : GROVE_TAINT_NO_EXECUTE;
}

static grove_status describe_node(gv_view *v, const gv_node_record *record, grove_sched_node *out,
                                  grove_error *err) {
    grove_sched_label *labels = gv_arena_array(&v->scratch, grove_sched_label,
                                               record->n_labels + 1);
    grove_sched_taint *taints = gv_arena_array(&v->scratch, grove_sched_taint,
                                               record->n_taints + 1);
    if (!labels || !taints) {
        return gv_error_nomem(err);
    }
    for (uint32_t i = 0; i < record->n_labels; i++) {
        labels[i] = (grove_sched_label){record->labels[i].key, record->labels[i].value};
    }
    for (uint32_t i = 0; i < record->n_taints; i++) {
        const gv_taint *t = &record->taints[i];
        taints[i] = (grove_sched_taint){t->key, t->value, effect_of(t->effect), 0};
    }
    int64_t *capacity = NULL;
    uint32_t n = 0;
    grove_status st = gv_view_amounts(v, record->allocatable, record->n_allocatable, false,
                                      &capacity, &n);
    if (st < 0) {
        return gv_error(err, st, "a node's resources could not be read");
    }
    bool down = (record->flags & GV_NODE_READY) == 0 ||
                (record->head.flags & GV_HEAD_TERMINATING) != 0;
    bool cordoned = (record->flags & GV_NODE_UNSCHEDULABLE) != 0;
    *out = (grove_sched_node){.size = (uint32_t)sizeof *out,
                              .flags = (down ? GROVE_NODE_DOWN : 0) |
                                       (cordoned ? GROVE_NODE_UNSCHEDULABLE : 0),
                              .name = record->head.name,
                              .labels = labels,
                              .taints = taints,
                              .capacity = capacity,
                              .n_labels = record->n_labels,
                              .n_taints = record->n_taints,
                              .n_capacity = n};
    return GROVE_OK;
}

/* The placement engine drops a removed node's pods with it. */
static void forget_pods_on(gv_view *v, uint32_t node) {
    gv_map_entry *e;
    gv_view_forget_refusals(v, node);
    for (uint32_t i = 0; (e = gv_map_next(&v->pods, &i));) {
        gv_view_pod *p = e->value;
        if (p->node == node) {
            gv_map_remove(&v->pods, (gv_str){e->key, e->key_len});
            gv_free(v->env, p, sizeof *p);
        }
    }
}

/* Pods that were bound before their node was seen take their room now. */
static grove_status take_room_on(gv_view *v, const grove_store *store, gv_str name,
                                 grove_error *err) {
    const gv_list *list = gv_store_on_node(store, name);
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_NODE)) {
        grove_status st = gv_view_sync_pod(v, store, &o->u.pod, gv_str_c(o->u.pod.head.uid), err);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

grove_status gv_view_sync_node(gv_view *v, const grove_store *store, gv_str name,
                               grove_error *err) {
    uint32_t known = (uint32_t)(uintptr_t)gv_map_get(&v->nodes, name);
    const gv_object *object = gv_store_get(store, GV_KIND_NODE, GV_STR(""), name);
    grove_sched_node node;
    gv_arena_reset(&v->scratch);
    if (!object) {
        if (known) {
            forget_pods_on(v, known - 1);
            gv_map_remove(&v->nodes, name);
            return grove_sched_node_remove(v->sched, known - 1);
        }
        return GROVE_OK;
    }
    grove_status st = describe_node(v, &object->u.node, &node, err);
    if (st < 0) {
        return st;
    }
    if (known) {
        return grove_sched_node_update(v->sched, known - 1, &node, err);
    }
    uint32_t id = 0;
    st = grove_sched_node_add(v->sched, &node, &id, err);
    if (st < 0) {
        return st;
    }
    if (!gv_map_put(&v->nodes, name, (void *)(uintptr_t)(id + 1))) {
        grove_sched_node_remove(v->sched, id);
        return gv_error_nomem(err);
    }
    return take_room_on(v, store, name, err);
}

/* ---- pods ---- */

static grove_status hold(gv_view *v, gv_str uid, const grove_sched_pod *pod, bool assumed,
                         grove_error *err) {
    gv_view_pod *entry = gv_alloc(v->env, sizeof *entry);
    if (!entry) {
        return gv_error_nomem(err);
    }
    *entry = (gv_view_pod){
        .node = pod->node, .class_id = pod->class_id, .queue = pod->queue, .assumed = assumed};
    grove_status st = grove_sched_pod_add(v->sched, pod, &entry->pod, err);
    if (st == GROVE_OK && !gv_map_put(&v->pods, uid, entry)) {
        grove_sched_pod_remove(v->sched, entry->pod);
        st = gv_error_nomem(err);
    }
    if (st < 0) {
        gv_free(v->env, entry, sizeof *entry);
    }
    return st;
}

void gv_view_release(gv_view *v, gv_str uid) {
    gv_view_pod *entry = gv_map_remove(&v->pods, uid);
    if (entry) {
        grove_sched_pod_remove(v->sched, entry->pod);
        gv_free(v->env, entry, sizeof *entry);
    }
}

bool gv_view_place(const gv_view *v, gv_str uid, uint32_t *out_node) {
    const gv_view_pod *entry = gv_map_get(&v->pods, uid);
    if (entry) {
        *out_node = entry->node;
    }
    return entry != NULL;
}

uint32_t gv_view_pod_id(const gv_view *v, gv_str uid) {
    const gv_view_pod *entry = gv_map_get(&v->pods, uid);
    return entry ? entry->pod : GROVE_SCHED_NONE;
}

grove_status gv_view_assume(gv_view *v, const gv_pod *pod, uint32_t node, uint32_t class_id,
                            uint32_t queue, grove_error *err) {
    gv_str uid = gv_str_c(pod->head.uid);
    grove_sched_pod room = {.size = (uint32_t)sizeof room,
                            .node = node,
                            .class_id = class_id,
                            .flags = GROVE_POD_NEVER_EVICT,
                            .queue = queue};
    gv_view_release(v, uid);
    return hold(v, uid, &room, true, err);
}

grove_status gv_view_hold_class(gv_view *v, const gv_pod *pod, uint32_t class_id,
                                grove_error *err) {
    gv_str uid = gv_str_c(pod->head.uid);
    const gv_view_pod *held = gv_map_get(&v->pods, uid);
    if (!held || held->class_id == class_id) {
        return GROVE_OK;
    }
    grove_sched_pod room = {.size = (uint32_t)sizeof room,
                            .node = held->node,
                            .class_id = class_id,
                            .priority = pod->priority,
                            .flags = GROVE_POD_NEVER_EVICT,
                            .queue = held->queue};
    bool assumed = held->assumed;
    gv_view_release(v, uid);
    return hold(v, uid, &room, assumed, err);
}

grove_status gv_view_room_of(gv_view *v, const gv_pod *pod, uint32_t node, grove_sched_pod *out,
                             grove_error *err) {
    *out = (grove_sched_pod){.size = (uint32_t)sizeof *out,
                             .node = node,
                             .class_id = GROVE_SCHED_NONE,
                             .priority = pod->priority,
                             .flags = GROVE_POD_NEVER_EVICT}; /* victims are gangs: victims.c */
    if (pod->n_ports > 0) {
        grove_status st = gv_view_plain_class(v, pod, NULL, 0, &out->class_id, err);
        if (st != GROVE_E_LIMIT) {
            return st;
        }
        out->class_id = GROVE_SCHED_NONE; /* more ports than can be told apart: amounts only */
    }
    int64_t *amounts = NULL;
    grove_status st = gv_view_amounts(v, pod->requests, pod->n_requests, true, &amounts,
                                      &out->n_requests);
    out->requests = amounts;
    return st < 0 ? gv_error(err, st, "a pod's resources could not be read") : st;
}

grove_status gv_view_charge(gv_view *v, const grove_store *store, const gv_pod *pod,
                            bool *out_moved, grove_error *err) {
    gv_view_pod *held = gv_map_get(&v->pods, gv_str_c(pod->head.uid));
    uint32_t queue = held ? gv_view_queue_of_pod(v, store, pod, held->queue) : GROVE_QUEUE_NONE;
    if (!held || held->queue == queue) {
        return GROVE_OK;
    }
    grove_sched_pod room = {.size = (uint32_t)sizeof room,
                            .node = held->node,
                            .class_id = held->class_id,
                            .priority = pod->priority,
                            .flags = GROVE_POD_NEVER_EVICT};
    uint32_t id = 0;
    gv_arena_reset(&v->scratch);
    grove_status st = room.class_id == GROVE_SCHED_NONE
                          ? gv_view_room_of(v, pod, held->node, &room, err)
                          : GROVE_OK;
    room.queue = queue;
    st = st < 0 ? st : grove_sched_pod_add(v->sched, &room, &id, err);
    if (st < 0) {
        return st; /* it stays where it was */
    }
    grove_sched_pod_remove(v->sched, held->pod);
    held->pod = id;
    held->queue = queue;
    *out_moved = true;
    return GROVE_OK;
}

grove_status gv_view_sync_pod(gv_view *v, const grove_store *store, const gv_pod *pod, gv_str uid,
                              grove_error *err) {
    gv_view_pod *held = gv_map_get(&v->pods, uid);
    /* A terminating pod holds its room until it is gone; a finished one holds none. */
    bool holds = pod && gv_pod_is_bound(pod) && !gv_pod_is_final(pod);
    uint32_t node = holds ? (uint32_t)(uintptr_t)gv_map_get(&v->nodes, gv_str_c(pod->node)) : 0;
    if (holds && node == 0) {
        holds = false; /* bound to a node that is not known (yet) */
    }
    if (!holds) {
        bool undecided = pod && held && held->assumed && !gv_pod_is_bound(pod) &&
                         gv_pod_is_active(pod);
        if (held && !undecided) {
            gv_view_release(v, uid);
        }
        return GROVE_OK;
    }
    if (held && held->node == node - 1) {
        held->assumed = false;
        return GROVE_OK;
    }
    uint32_t queue = gv_view_queue_of_pod(v, store, pod, held ? held->queue : GROVE_QUEUE_NONE);
    gv_view_release(v, uid);
    gv_arena_reset(&v->scratch);
    grove_sched_pod room;
    grove_status st = gv_view_room_of(v, pod, node - 1, &room, err);
    if (st < 0) {
        return st;
    }
    room.queue = queue;
    return hold(v, uid, &room, false, err);
}

/* ---- all at once, after a relist ---- */

static bool still_holds(const grove_store *store, gv_str uid) {
    const gv_object *object = gv_store_by_uid(store, uid);
    return object && gv_object_is_pod(object);
}

grove_status gv_view_resync(gv_view *v, const grove_store *store, grove_error *err) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&v->pods, &i));) {
        gv_str uid = {e->key, e->key_len};
        if (!still_holds(store, uid)) {
            gv_view_release(v, uid);
        }
    }
    for (uint32_t i = 0; (e = gv_map_next(&v->nodes, &i));) {
        gv_str name = {e->key, e->key_len};
        if (!gv_store_get(store, GV_KIND_NODE, GV_STR(""), name)) {
            grove_status st = gv_view_sync_node(v, store, name, err);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

/* ---- law (f) ---- */

static bool should_hold(const gv_view *v, const gv_pod *pod) {
    return gv_pod_is_bound(pod) && !gv_pod_is_final(pod) &&
           gv_map_has(&v->nodes, gv_str_c(pod->node));
}

grove_status gv_view_verify(const gv_view *v, const grove_store *store, grove_error *err) {
    uint32_t bound = 0, held = 0;
    const gv_list *pods = gv_store_of_kind(store, GV_KIND_POD);
    for (const gv_object *o = pods->first; o; o = gv_list_next(o, GV_LIST_KIND)) {
        const gv_pod *pod = &o->u.pod;
        const gv_view_pod *entry = gv_map_get(&v->pods, gv_str_c(pod->head.uid));
        if (entry && entry->queue != gv_view_queue_of_pod(v, store, pod, entry->queue)) {
            return gv_error(err, GROVE_E_INTERNAL, "pod %s is charged to another queue",
                            pod->head.name);
        }
        if (!should_hold(v, pod)) {
            continue;
        }
        bound++;
        uint32_t node = (uint32_t)(uintptr_t)gv_map_get(&v->nodes, gv_str_c(pod->node));
        /* What is laid over the store is followed when its event arrives. */
        if (!entry && !(pod->head.flags & GV_HEAD_EXPECTED)) {
            return gv_error(err, GROVE_E_INTERNAL, "pod %s holds no room", pod->head.name);
        }
        if (entry && entry->node != node - 1) {
            return gv_error(err, GROVE_E_INTERNAL, "pod %s holds room elsewhere", pod->head.name);
        }
    }
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&v->pods, &i));) {
        held += !((const gv_view_pod *)e->value)->assumed;
    }
    if (held > bound) {
        return gv_error(err, GROVE_E_INTERNAL, "room of %u pods is held, %u are bound", held,
                        bound);
    }
    return grove_sched_verify(v->sched, err);
}
