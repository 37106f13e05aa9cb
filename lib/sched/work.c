/* SPDX-License-Identifier: Apache-2.0 */
/* The overlay: room taken by a decision in progress, taken back in O(changes). */
#include "sched/decision.h"

#include <string.h>

static grove_status lay_out(grove_sched *s, gv_work *w, uint32_t topology) {
    const gv_topology *t = &s->topologies.v[topology];
    if (w->cap_nodes < t->cap_nodes) {
        gv_free(s->env, w->touch_of, w->cap_nodes * sizeof *w->touch_of);
        w->touch_of = gv_zalloc(s->env, t->cap_nodes * sizeof *w->touch_of);
        w->cap_nodes = w->touch_of ? t->cap_nodes : 0;
        if (!w->touch_of) {
            return GROVE_E_NOMEM;
        }
    }
    if (w->shape == t->version && w->topology == topology) {
        return GROVE_OK;
    }
    size_t total = 0;
    if (!gv_vec_reserve(s->env, &w->level_at, t->n_levels + 1)) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        w->level_at.v[l] = (uint32_t)total;
        total += t->levels[l].n;
    }
    w->shape = 0;
    if (!gv_vec_reserve(s->env, &w->in_domain, total) ||
        !gv_vec_reserve(s->env, &w->seen_domain, total) ||
        !gv_vec_reserve(s->env, &w->seen_node, t->cap_nodes)) {
        return GROVE_E_NOMEM;
    }
    memset(w->seen_domain.v, 0, total * sizeof *w->seen_domain.v);
    memset(w->seen_node.v, 0, t->cap_nodes * sizeof *w->seen_node.v);
    w->stamp = 0;
    memset(w->in_domain.v, 0, total * sizeof *w->in_domain.v);
    w->shape = t->version;
    w->topology = topology;
    return GROVE_OK;
}

#define KEPT_AT_MOST ((size_t)64 << 20)

void gv_work_reset(gv_arena *a) {
    size_t bytes = a->bytes;
    gv_arena_reset(a);
    if (bytes > a->bytes && bytes < KEPT_AT_MOST && gv_arena_alloc(a, bytes)) {
        gv_arena_reset(a);
    }
}

grove_status gv_work_begin(grove_sched *s, uint32_t topology, uint64_t budget) {
    if (!s->work) {
        gv_work *fresh = gv_zalloc(s->env, sizeof *fresh);
        if (!fresh) {
            return GROVE_E_NOMEM;
        }
        gv_arena_init(&fresh->mem, s->env);
        gv_arena_init(&fresh->scratch, s->env);
        s->work = (struct gv_work *)fresh;
    }
    gv_work *w = (gv_work *)s->work;
    gv_work_reset(&w->mem);
    w->touched.n = w->rooms.n = w->puts.n = w->choices.n = w->keys.n = 0;
    w->wishes = false;
    w->listing_depth = 0;
    w->spare_cap = (gv_spare){0, 0};
    w->urgency = NULL;
    w->barred.n = 0;
    w->steps = 0;
    w->budget = budget;
    w->status = GROVE_OK;
    return lay_out(s, w, topology);
}

void gv_work_free(grove_sched *s) {
    gv_work *w = (gv_work *)s->work;
    if (!w) {
        return;
    }
    gv_cache_free(s, w->cache);
    gv_arena_fini(&w->mem);
    gv_arena_fini(&w->scratch);
    gv_free(s->env, w->touch_of, w->cap_nodes * sizeof *w->touch_of);
    gv_vec_fini(s->env, &w->touched);
    gv_vec_fini(s->env, &w->rooms);
    gv_vec_fini(s->env, &w->puts);
    gv_vec_fini(s->env, &w->in_domain);
    gv_vec_fini(s->env, &w->level_at);
    gv_vec_fini(s->env, &w->wish_node);
    gv_vec_fini(s->env, &w->wish_domain);
    gv_vec_fini(s->env, &w->barred);
    gv_vec_fini(s->env, &w->seen_node);
    gv_vec_fini(s->env, &w->seen_domain);
    gv_vec_fini(s->env, &w->choices);
    gv_vec_fini(s->env, &w->keys);
    gv_vec_fini(s->env, &w->stack);
    for (uint32_t i = 0; i < GV_LISTINGS; i++) {
        gv_vec_fini(s->env, &w->listings[i].rows);
        gv_vec_fini(s->env, &w->listings[i].chunks);
        gv_vec_fini(s->env, &w->listings[i].list_rows);
        gv_vec_fini(s->env, &w->listings[i].list_keys);
    }
    gv_vec_fini(s->env, &w->heap_rows);
    gv_vec_fini(s->env, &w->heap_keys);
    gv_free(s->env, w, sizeof *w);
    s->work = NULL;
}

bool gv_work_wish(grove_sched *s, const grove_gang *gang) {
    gv_work *w = (gv_work *)s->work;
    const gv_topology *t = &s->topologies.v[gang->topology];
    if (gang->sticky.n == 0) {
        return true;
    }
    size_t total = w->level_at.v[t->n_levels] + t->levels[t->n_levels].n;
    if (!gv_vec_reserve(s->env, &w->wish_domain, total) ||
        !gv_vec_reserve(s->env, &w->wish_node, t->cap_nodes)) {
        return false;
    }
    memset(w->wish_domain.v, 0, total * sizeof *w->wish_domain.v);
    memset(w->wish_node.v, 0, t->cap_nodes * sizeof *w->wish_node.v);
    for (size_t i = 0; i < gang->sticky.n; i++) {
        uint32_t node = gang->sticky.v[i].node;
        for (uint32_t l = 0; gv_node_live(s, node) && l <= t->n_levels; l++) {
            w->wish_domain.v[w->level_at.v[l] + gv_topology_dom(t, node, l)]++;
        }
        w->wish_node.v[node] += gv_node_live(s, node);
    }
    w->wishes = true;
    return true;
}

static uint32_t touch(const gv_problem *p, gv_work *w, uint32_t node) {
    uint32_t at = w->touch_of[node];
    if (at) {
        return at - 1;
    }
    size_t stride = p->s->stride;
    if (!gv_vec_reserve(p->s->env, &w->rooms, (w->touched.n + 1) * stride) ||
        !gv_vec_push(p->s->env, &w->touched, ((gv_touched){node, 0}))) {
        w->status = GROVE_E_NOMEM;
        return GV_NONE;
    }
    memcpy(w->rooms.v + (w->touched.n - 1) * stride, gv_node_free(p->s, node),
           stride * sizeof(int64_t));
    w->rooms.n = w->touched.n * stride;
    w->touch_of[node] = (uint32_t)w->touched.n;
    return (uint32_t)w->touched.n - 1;
}

static void count_in(const gv_problem *p, gv_work *w, uint32_t node, uint32_t change) {
    w->touched.v[w->touch_of[node] - 1].pods += change;
    for (uint32_t l = 0; l <= p->t->n_levels; l++) {
        w->in_domain.v[w->level_at.v[l] + gv_topology_dom(p->t, node, l)] += change;
    }
}

static void charge(const gv_problem *p, gv_work *w, const gv_put *put, int sign) {
    uint32_t at = w->touch_of[put->node] - 1;
    int64_t *room = w->rooms.v + (size_t)at * p->s->stride;
    const gv_class *c = p->classes[p->parts[put->part].cls].cls;
    for (uint32_t i = 0; i < c->n_needs; i++) {
        room[c->needs[i].resource] += sign * c->needs[i].amount * (int64_t)put->count;
    }
    count_in(p, w, put->node, sign < 0 ? put->count : 0u - put->count);
}

bool gv_work_put(const gv_problem *p, gv_work *w, uint32_t part, uint32_t node, uint32_t count) {
    gv_put put = {part, node, count};
    if (touch(p, w, node) == GV_NONE) {
        return false;
    }
    if (!gv_vec_push(p->s->env, &w->puts, put)) {
        w->status = GROVE_E_NOMEM;
        return false;
    }
    charge(p, w, &put, -1);
    return true;
}

void gv_work_back(const gv_problem *p, gv_work *w, size_t to) {
    while (w->puts.n > to) {
        gv_put put = w->puts.v[--w->puts.n];
        charge(p, w, &put, +1);
    }
}

bool gv_work_bar(const gv_problem *p, gv_work *w, uint32_t node) {
    uint32_t at = touch(p, w, node);
    if (at == GV_NONE || !gv_vec_push(p->s->env, &w->barred, node)) {
        w->status = GROVE_E_NOMEM;
        return false;
    }
    size_t stride = p->s->stride;
    memset(w->rooms.v + at * stride, 0, stride * sizeof(int64_t));
    count_in(p, w, node, 1);
    return true;
}

void gv_work_free_barred(const gv_problem *p, gv_work *w) {
    size_t stride = p->s->stride;
    while (w->barred.n > 0) {
        uint32_t node = w->barred.v[--w->barred.n];
        memcpy(w->rooms.v + (w->touch_of[node] - 1) * stride, gv_node_free(p->s, node),
               stride * sizeof(int64_t));
        count_in(p, w, node, UINT32_MAX);
    }
}

void gv_work_end(const gv_problem *p) {
    gv_work *w = gv_work_of(p);
    gv_work_back(p, w, 0);
    for (size_t i = 0; i < w->touched.n; i++) {
        w->touch_of[w->touched.v[i].node] = 0;
    }
    w->touched.n = 0;
    w->rooms.n = 0;
}
