/* SPDX-License-Identifier: Apache-2.0 */
/* Resources by name, and rows of amounts: one width for all rows, widened when a resource is added. */
#include "sched/state.h"

#include <string.h>

/* Moves n rows of `old` columns to rows of `wide` columns, in place, last row first. */
static void spread_rows(int64_t *rows, size_t n, size_t old, size_t wide) {
    for (size_t i = n; i-- > 0;) {
        memmove(rows + i * wide, rows + i * old, old * sizeof *rows);
        memset(rows + i * wide + old, 0, (wide - old) * sizeof *rows);
    }
}

static void vectors_rehash(grove_sched *s) {
    gv_map_clear(&s->vector_ids);
    for (uint32_t i = 0; i < s->n_vectors; i++) {
        gv_str key = {(const char *)gv_sched_row(s, i), s->stride * sizeof(int64_t)};
        /* The map keeps its memory when cleared, so this finds room; a lost entry only costs sharing. */
        (void)gv_map_put(&s->vector_ids, key, (void *)(uintptr_t)(i + 1));
    }
}

/* The trees are simply built anew: resources are rarely added late. */
static bool widen(grove_sched *s, uint32_t wide) {
    size_t old = s->stride;
    for (size_t i = 0; i < s->topologies.n; i++) {
        gv_topology_clear(s, &s->topologies.v[i]);
    }
    /* All room first: what gives rows back takes their size from the stride. */
    if (!gv_vec_reserve(s->env, &s->request_rows, (size_t)s->n_vectors * wide + wide)) {
        return false;
    }
    if (s->cap_rows > 0) {
        size_t was = s->cap_rows * old * sizeof(int64_t),
               now = s->cap_rows * wide * sizeof(int64_t);
        int64_t *room = gv_alloc(s->env, now), *cap = room ? gv_alloc(s->env, now) : NULL;
        if (!cap) {
            gv_free(s->env, room, now);
            return false;
        }
        memcpy(room, s->free, was);
        memcpy(cap, s->cap, was);
        gv_free(s->env, s->free, was);
        gv_free(s->env, s->cap, was);
        s->free = room;
        s->cap = cap;
    }
    spread_rows(s->free, s->nodes.n, old, wide);
    spread_rows(s->cap, s->nodes.n, old, wide);
    spread_rows(s->request_rows.v, s->n_vectors, old, wide);
    s->request_rows.n = (size_t)s->n_vectors * wide;
    s->stride = wide;
    vectors_rehash(s);
    return true;
}

grove_status gv_sched_resource_fixed(grove_sched *s, const char *name, int64_t every_node,
                                     uint32_t *out_resource) {
    uintptr_t known = (uintptr_t)gv_map_get(&s->resource_ids, gv_str_c(name));
    if (known) {
        *out_resource = (uint32_t)known - 1;
        return GROVE_OK;
    }
    uint32_t id = (uint32_t)s->resource_names.n;
    if (s->marks > 0) {
        return GROVE_E_INVALID;
    }
    if (id >= GV_RESOURCES_MAX) {
        return GROVE_E_LIMIT;
    }
    if (id + 1 > s->stride && !widen(s, s->stride * 2)) {
        return GROVE_E_NOMEM;
    }
    char *copy = gv_sched_dup(s, name);
    if (!copy) {
        return GROVE_E_NOMEM;
    }
    if (!gv_vec_reserve(s->env, &s->resource_names, id + 1) ||
        !gv_vec_reserve(s->env, &s->resource_fixed, id + 1) ||
        !gv_map_put(&s->resource_ids, gv_str_c(name), (void *)(uintptr_t)(id + 1))) {
        gv_sched_dup_free(s, copy);
        return GROVE_E_NOMEM;
    }
    s->resource_names.v[s->resource_names.n++] = copy;
    s->resource_fixed.v[s->resource_fixed.n++] = every_node;
    for (uint32_t i = 0; every_node > 0 && i < s->nodes.n; i++) {
        s->free[(size_t)i * s->stride + id] = every_node;
        s->cap[(size_t)i * s->stride + id] = every_node;
    }
    if (every_node > 0) {
        for (size_t i = 0; i < s->topologies.n; i++) {
            s->topologies.v[i].dirty = true;
        }
    }
    *out_resource = id;
    return GROVE_OK;
}

grove_status grove_sched_resource(grove_sched *sched, const char *name, uint32_t *out_resource) {
    if (!sched || !name || !name[0] || !out_resource) {
        return GROVE_E_INVALID;
    }
    return gv_sched_resource_fixed(sched, name, -1, out_resource);
}

const char *grove_sched_resource_name(const grove_sched *sched, uint32_t resource) {
    return resource < sched->resource_names.n ? sched->resource_names.v[resource] : NULL;
}

uint32_t grove_sched_resource_count(const grove_sched *sched) {
    return (uint32_t)sched->resource_names.n;
}

bool gv_sched_vector(grove_sched *s, const int64_t *row, uint32_t n, uint32_t *out_vector) {
    size_t width = s->stride;
    if (!gv_vec_reserve(s->env, &s->request_rows, ((size_t)s->n_vectors + 1) * width)) {
        return false;
    }
    int64_t *fresh = s->request_rows.v + (size_t)s->n_vectors * width;
    memset(fresh, 0, width * sizeof *fresh);
    memcpy(fresh, row, (n < width ? n : width) * sizeof *fresh);
    gv_str key = {(const char *)fresh, width * sizeof *fresh};
    uintptr_t known = (uintptr_t)gv_map_get(&s->vector_ids, key);
    if (known) {
        *out_vector = (uint32_t)known - 1;
        return true;
    }
    if (!gv_map_put(&s->vector_ids, key, (void *)(uintptr_t)(s->n_vectors + 1))) {
        return false;
    }
    *out_vector = s->n_vectors++;
    s->request_rows.n = (size_t)s->n_vectors * width;
    return true;
}
