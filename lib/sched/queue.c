/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: declared by name, charged with every pod, asked whether more is allowed. */
#include "sched/queue.h"

#include <stddef.h>
#include <string.h>

static struct gv_queues *queues_of(grove_sched *s) {
    if (s->queues) {
        return s->queues;
    }
    struct gv_queues *q = gv_zalloc(s->env, sizeof *q);
    if (!q) {
        return NULL;
    }
    gv_map_init(&q->ids, s->env);
    gv_queue root = {.parent = GV_NONE, .weight = 1};
    for (uint32_t r = 0; r < GV_RESOURCES_MAX; r++) {
        root.limit[r] = root.firm[r] = GV_UNBOUNDED;
    }
    if (!gv_vec_push(s->env, &q->list, root)) {
        gv_free(s->env, q, sizeof *q);
        return NULL;
    }
    s->queues = q;
    return q;
}

void gv_queues_free(grove_sched *s) {
    struct gv_queues *q = s->queues;
    if (!q) {
        return;
    }
    for (size_t i = 0; i < q->list.n; i++) {
        gv_sched_dup_free(s, q->list.v[i].name);
    }
    gv_vec_fini(s->env, &q->list);
    gv_map_fini(&q->ids);
    gv_free(s->env, q, sizeof *q);
    s->queues = NULL;
}

static void set_promises(const grove_queue *in, gv_queue *q) {
    for (uint32_t r = 0; r < GV_RESOURCES_MAX; r++) {
        int64_t deserved = r < in->n_deserved ? in->deserved[r] : -1;
        int64_t limit = r < in->n_limit ? in->limit[r] : -1;
        q->firm[r] = deserved < 0 || deserved > GV_UNBOUNDED ? GV_UNBOUNDED : deserved;
        q->deserved[r] = deserved < 0 ? 0 : deserved < GV_UNBOUNDED ? deserved : GV_UNBOUNDED;
        q->limit[r] = limit < 0 || limit > GV_UNBOUNDED ? GV_UNBOUNDED : limit;
    }
    q->weight = in->weight;
    q->priority = in->priority;
}

static grove_status add_queue(grove_sched *s, const grove_queue *in, uint32_t *out,
                              grove_error *err) {
    struct gv_queues *all = s->queues;
    if (all->list.n >= GV_QUEUES_MAX) {
        return gv_error(err, GROVE_E_LIMIT, "more than %u queues", GV_QUEUES_MAX);
    }
    if (!gv_vec_reserve(s->env, &all->list, all->list.n + 1)) {
        return gv_error_nomem(err);
    }
    uint32_t id = (uint32_t)all->list.n;
    gv_queue *q = &all->list.v[id];
    memset(q, 0, sizeof *q);
    q->parent = in->parent;
    q->depth = all->list.v[in->parent].depth + 1;
    set_promises(in, q);
    q->name = gv_sched_dup(s, in->name);
    if (!q->name || !gv_map_put(&all->ids, gv_str_c(in->name), (void *)(uintptr_t)id)) {
        gv_sched_dup_free(s, q->name);
        return gv_error_nomem(err);
    }
    all->list.v[in->parent].inner = true;
    all->list.n++;
    *out = id;
    return GROVE_OK;
}

grove_status grove_sched_queue(grove_sched *sched, const grove_queue *queue, uint32_t *out_queue,
                               grove_error *err) {
    grove_queue in;
    grove_status st = gv_struct_in(&in, sizeof in, queue, queue ? queue->size : 0, sizeof in);
    if (st < 0 || !sched || !out_queue) {
        return gv_error(err, st < 0 ? st : GROVE_E_INVALID, "grove_queue has a wrong size");
    }
    if (!in.name || !in.name[0] || (in.n_deserved && !in.deserved) || (in.n_limit && !in.limit) ||
        in.n_deserved > sched->resource_names.n || in.n_limit > sched->resource_names.n) {
        return gv_error(err, GROVE_E_INVALID,
                        "a queue needs a name, and amounts of known resources");
    }
    if (!queues_of(sched)) {
        return gv_error_nomem(err);
    }
    if (in.parent >= sched->queues->list.n) {
        return gv_error(err, GROVE_E_NOT_FOUND, "queue '%s' has no parent %u", in.name, in.parent);
    }
    uint32_t known = grove_sched_queue_find(sched, in.name);
    if (known == GROVE_QUEUE_NONE) {
        return add_queue(sched, &in, out_queue, err);
    }
    if (gv_queue_at(sched, known)->parent != in.parent) {
        return gv_error(err, GROVE_E_INVALID, "queue '%s' cannot change its parent", in.name);
    }
    set_promises(&in, gv_queue_at(sched, known));
    *out_queue = known;
    return GROVE_OK;
}

uint32_t grove_sched_queue_find(const grove_sched *sched, const char *name) {
    return sched->queues && name
               ? (uint32_t)(uintptr_t)gv_map_get(&sched->queues->ids, gv_str_c(name))
               : GROVE_QUEUE_NONE;
}

uint32_t grove_sched_queue_count(const grove_sched *sched) {
    return sched->queues ? (uint32_t)sched->queues->list.n : 1;
}

static const gv_queue *known(const grove_sched *s, uint32_t id) {
    return id != GROVE_QUEUE_NONE && id < grove_sched_queue_count(s) ? gv_queue_at(s, id) : NULL;
}

const char *grove_sched_queue_name(const grove_sched *sched, uint32_t queue) {
    const gv_queue *q = known(sched, queue);
    return q ? q->name : NULL;
}

uint32_t grove_sched_queue_parent(const grove_sched *sched, uint32_t queue) {
    const gv_queue *q = known(sched, queue);
    return q ? q->parent : GROVE_QUEUE_NONE;
}

const int64_t *grove_sched_queue_used(const grove_sched *sched, uint32_t queue) {
    const gv_queue *q = known(sched, queue);
    return q ? q->used : NULL;
}

const int64_t *grove_sched_queue_share(const grove_sched *sched, uint32_t queue) {
    const gv_queue *q = known(sched, queue);
    return q ? q->share : NULL;
}

void gv_queue_charge(grove_sched *s, uint32_t queue, const int64_t *row, int sign) {
    for (uint32_t at = queue; at != GV_NONE; at = gv_queue_at(s, at)->parent) {
        gv_queue *q = gv_queue_at(s, at);
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            q->used[r] += sign * row[r];
        }
    }
}

void gv_gang_needs(const grove_sched *s, const grove_gang *g, int64_t *need) {
    memset(need, 0, GV_RESOURCES_MAX * sizeof *need);
    for (size_t i = 0; i < g->podgroups.n; i++) {
        const gv_podgroup *p = &g->podgroups.v[i];
        const gv_class *c = &s->classes.v[p->class_id];
        int64_t n = p->min > p->members ? p->min - p->members : 0;
        for (uint32_t k = 0; k < c->n_needs; k++) {
            need[c->needs[k].resource] += n * c->needs[k].amount;
        }
    }
}

grove_status grove_gang_needs(const grove_gang *gang, int64_t *amounts, uint32_t n) {
    int64_t need[GV_RESOURCES_MAX];
    if (!gang || !gang->sched || (n && !amounts)) {
        return GROVE_E_INVALID;
    }
    gv_gang_needs(gang->sched, gang, need);
    for (uint32_t r = 0; r < n; r++) {
        amounts[r] = r < gang->sched->resource_names.n ? need[r] : 0;
    }
    return GROVE_OK;
}

/* The queue from `queue` up in which use and need exceed the amounts at `offset` of the queue. */
static uint32_t over(const grove_sched *s, uint32_t queue, const int64_t *need, size_t offset,
                     uint32_t *out_resource) {
    for (uint32_t at = queue; at != GROVE_QUEUE_NONE; at = gv_queue_at(s, at)->parent) {
        const gv_queue *q = gv_queue_at(s, at);
        const int64_t *most = (const int64_t *)(const void *)((const char *)q + offset);
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            if (need[r] > 0 && s->resource_fixed.v[r] < 0 && q->used[r] + need[r] > most[r]) {
                *out_resource = r;
                return at;
            }
        }
    }
    return GV_NONE;
}

uint32_t gv_queue_over_limit(const grove_sched *s, uint32_t queue, const int64_t *need,
                             uint32_t *out_resource) {
    return over(s, queue, need, offsetof(gv_queue, limit), out_resource);
}

uint32_t gv_queue_over_deserved(const grove_sched *s, uint32_t queue, const int64_t *need,
                                uint32_t *out_resource) {
    return over(s, queue, need, offsetof(gv_queue, firm), out_resource);
}

uint32_t gv_queue_branch(const grove_sched *s, uint32_t a, uint32_t b) {
    uint32_t at = GV_NONE;
    while (a != b) {
        if (gv_queue_at(s, a)->depth >= gv_queue_at(s, b)->depth) {
            at = a;
            a = gv_queue_at(s, a)->parent;
        } else {
            b = gv_queue_at(s, b)->parent;
        }
    }
    return at;
}
