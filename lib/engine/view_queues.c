/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues: as the configuration has them, and of which the pods of a set are. That is read off the set each time, so
 * a queue is charged with what runs, whoever decided on it and under which name that was.
 */
#include "engine/view_queues.h"

#include "engine/view_class.h"
#include "model/queues.h"
#include "model/records_take.h"
#include "value/doc.h"

#define DEFAULT_QUEUE "default"

/* ---- declaring ---- */

/* Amounts of a queue by resource; what it does not name is -1. In the scratch. */
static grove_status read_amounts(gv_view *v, const grove_node *amounts, int64_t **out,
                                 uint32_t *out_n) {
    gv_request *list = gv_arena_array(&v->scratch, gv_request, grove_node_size(amounts) + 1);
    int64_t *known = NULL;
    uint32_t n = 0;
    GV_EACH(amount, amounts) {
        size_t len = 0;
        const char *text = grove_node_textn(amount, &len);
        if (list) {
            list[n++] = (gv_request){
                .name = gv_node_key(amount).p,
                .amount = gv_request_amount((gv_str){text, text ? len : 0}, gv_node_key(amount))};
        }
    }
    grove_status st = list ? gv_view_amounts(v, list, n, false, &known, out_n) : GROVE_E_NOMEM;
    int64_t *row = st < 0 ? NULL : gv_arena_array(&v->scratch, int64_t, *out_n + 1);
    if (!row) {
        return st < 0 ? st : GROVE_E_NOMEM;
    }
    for (uint32_t r = 0; r < *out_n; r++) {
        const char *name = grove_sched_resource_name(v->sched, r);
        row[r] = grove_node_get(amounts, name) ? known[r] : -1;
    }
    *out = row;
    return GROVE_OK;
}

static grove_status declare(gv_view *v, const grove_node *entry, grove_error *err) {
    gv_queue_setting q = gv_config_queue_setting(entry);
    int64_t *deserved = NULL, *limit = NULL;
    grove_queue spec = {.size = (uint32_t)sizeof spec,
                        .name = q.name.p,
                        .parent = q.parent.n ? grove_sched_queue_find(v->sched, q.parent.p)
                                             : GROVE_QUEUE_NONE,
                        .weight = q.weight,
                        .priority = q.priority};
    uint32_t id = 0;
    gv_arena_reset(&v->scratch);
    grove_status st = read_amounts(v, q.deserved, &deserved, &spec.n_deserved);
    st = st < 0 ? st : read_amounts(v, q.limit, &limit, &spec.n_limit);
    spec.deserved = deserved;
    spec.limit = limit;
    return st < 0 ? gv_error(err, st, "a queue's amounts could not be read")
                  : grove_sched_queue(v->sched, &spec, &id, err);
}

grove_status gv_view_declare_queues(gv_view *v, const grove_config *config, grove_error *err) {
    const gv_scheduler_profile *profile = gv_config_queued(config);
    grove_status st = GROVE_OK;
    if (!profile) {
        return GROVE_OK;
    }
    GV_EACH(entry, profile->queues) {
        st = st < 0 ? st : declare(v, entry, err);
    }
    v->queued = profile->name;
    v->otherwise = config->default_scheduler;
    return st;
}

/* ---- of whom ---- */

static bool is_inner(const gv_view *v, uint32_t queue) {
    for (uint32_t q = 1; q < grove_sched_queue_count(v->sched); q++) {
        if (grove_sched_queue_parent(v->sched, q) == queue) {
            return true;
        }
    }
    return false;
}

static bool is_queued(const gv_view *v, const grove_node *set) {
    const grove_node *first = grove_node_first(gv_node_path(set, "spec.template.cliques"));
    gv_str scheduler = gv_node_str(gv_node_path(first, "spec.podSpec.schedulerName"));
    return set && gv_str_is(scheduler.n ? scheduler : gv_str_c(v->otherwise), v->queued);
}

gv_view_queue gv_view_queue_of(const gv_view *v, const grove_store *store, gv_str ns, gv_str set) {
    gv_view_queue out = {.name = {"", 0}};
    const gv_object *o = v->queued ? gv_store_get(store, GV_KIND_PODCLIQUESET, ns, set) : NULL;
    const grove_node *node = o ? gv_object_node(o) : NULL;
    if (!node || !is_queued(v, node)) {
        return out;
    }
    if (!gv_set_queue_name(node, &out.name)) {
        out.problem = "the set and its cliques name more than one queue";
        return out;
    }
    out.name = out.name.n ? out.name : GV_STR(DEFAULT_QUEUE);
    out.id = grove_sched_queue_find(v->sched, out.name.p);
    if (out.id == GROVE_QUEUE_NONE) {
        out.problem = "no queue of that name is configured";
    } else if (is_inner(v, out.id)) {
        out.problem = "it has queues below it, and gangs belong to those";
        out.id = GROVE_QUEUE_NONE;
    }
    return out;
}

uint32_t gv_view_queue_of_pod(const gv_view *v, const grove_store *store, const gv_pod *pod,
                              uint32_t otherwise) {
    gv_str ns = gv_str_c(pod->head.ns), set = gv_str_c(pod->head.part_of);
    if (!v->queued || (pod->head.flags & GV_HEAD_MANAGED) == 0) {
        return GROVE_QUEUE_NONE;
    }
    return gv_store_get(store, GV_KIND_PODCLIQUESET, ns, set)
               ? gv_view_queue_of(v, store, ns, set).id
               : otherwise;
}

/* ---- when a set is another one than before ---- */

grove_status gv_view_sync_queue(gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                                bool *out_moved, grove_error *err) {
    const gv_list *list = gv_store_of_set(store, ns, set);
    grove_status st = GROVE_OK;
    for (const gv_object *o = list->first; o && st == GROVE_OK; o = gv_list_next(o, GV_LIST_SET)) {
        if (gv_object_is_pod(o)) {
            st = gv_view_charge(v, store, &o->u.pod, out_moved, err);
        }
    }
    return st;
}
