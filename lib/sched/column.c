/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count columns: for a class of pods, how many copies fit on each node and below each domain. A column
 * is built when first asked for and replays the journal of changed nodes afterwards.
 */
#include "sched/state.h"

#include <string.h>

void gv_column_clear(grove_sched *s, gv_column *c) {
    gv_free(s->env, c->count, c->cap_nodes * sizeof *c->count);
    for (uint32_t l = 0; c->sum && c->cap_sum && l <= c->n_levels; l++) {
        gv_free(s->env, c->sum[l], c->cap_sum[l] * sizeof *c->sum[l]);
    }
    if (c->sum) {
        gv_free(s->env, c->sum, (c->n_levels + 1) * sizeof *c->sum);
    }
    if (c->empty) {
        gv_free(s->env, c->empty, (c->n_levels + 2) * sizeof *c->empty);
    }
    if (c->cap_sum) {
        gv_free(s->env, c->cap_sum, (c->n_levels + 1) * sizeof *c->cap_sum);
    }
    memset(c, 0, sizeof *c);
}

static uint32_t copies_now(const grove_sched *s, uint32_t class_id, uint32_t node) {
    uint32_t n = gv_fit(&s->classes.v[class_id], gv_node_free(s, node));
    return n > 0 && gv_class_allows(s, class_id, node) ? n : 0;
}

static bool shape(grove_sched *s, gv_column *c, const gv_topology *t) {
    if (c->cap_nodes < t->cap_nodes) {
        gv_free(s->env, c->count, c->cap_nodes * sizeof *c->count);
        c->count = gv_alloc(s->env, t->cap_nodes * sizeof *c->count);
        c->cap_nodes = c->count ? t->cap_nodes : 0;
    }
    c->n_levels = t->n_levels;
    c->sum = c->sum ? c->sum : gv_zalloc(s->env, (t->n_levels + 1) * sizeof *c->sum);
    c->cap_sum = c->cap_sum ? c->cap_sum
                            : gv_zalloc(s->env, (t->n_levels + 1) * sizeof *c->cap_sum);
    c->empty = c->empty ? c->empty : gv_zalloc(s->env, (t->n_levels + 2) * sizeof *c->empty);
    if (!c->count || !c->sum || !c->cap_sum || !c->empty) {
        return false;
    }
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        if (c->cap_sum[l] < t->levels[l].n) {
            gv_free(s->env, c->sum[l], c->cap_sum[l] * sizeof *c->sum[l]);
            c->sum[l] = gv_alloc(s->env, t->levels[l].n * sizeof *c->sum[l]);
            c->cap_sum[l] = c->sum[l] ? t->levels[l].n : 0;
            if (!c->sum[l]) {
                return false;
            }
        }
    }
    return true;
}

/* Without nodes a level has no domains, and no sums to clear. */
static void clear_sums(gv_column *c, const gv_topology *t, uint32_t level) {
    if (c->sum[level]) {
        memset(c->sum[level], 0, t->levels[level].n * sizeof *c->sum[level]);
    }
}

/* What the domains could hold if nothing ran: the measure of the placement score. Uses the sums as
 * scratch, so it comes before they are filled. */
static void measure_empty(grove_sched *s, gv_column *c, const gv_topology *t) {
    const gv_class *cls = &s->classes.v[c->class_id];
    memset(c->empty, 0, (t->n_levels + 2) * sizeof *c->empty);
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        clear_sums(c, t, l);
    }
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        uint64_t n = s->nodes.v[i].name ? gv_fit(cls, s->cap + (size_t)i * s->stride) : 0;
        if (n == 0 || (cls->filtered && !gv_class_allows(s, c->class_id, i))) {
            continue;
        }
        c->empty[t->n_levels + 1] = n > c->empty[t->n_levels + 1] ? n : c->empty[t->n_levels + 1];
        for (uint32_t l = 0; l <= t->n_levels; l++) {
            uint64_t *sum = &c->sum[l][gv_topology_dom(t, i, l)];
            *sum += n;
            c->empty[l] = *sum > c->empty[l] ? *sum : c->empty[l];
        }
    }
}

static bool build(grove_sched *s, gv_column *c, const gv_topology *t) {
    c->version = 0;
    if (!shape(s, c, t)) {
        return false;
    }
    measure_empty(s, c, t);
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        clear_sums(c, t, l);
    }
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (!s->nodes.v[i].name) {
            c->count[i] = 0;
            continue;
        }
        uint32_t n = copies_now(s, c->class_id, i);
        c->count[i] = (uint16_t)n;
        c->sum[t->n_levels][gv_topology_dom(t, i, t->n_levels)] += n;
    }
    for (uint32_t l = t->n_levels; l > 0; l--) {
        for (uint32_t d = 0; d < t->levels[l].n; d++) {
            c->sum[l - 1][t->levels[l].parent[d]] += c->sum[l][d];
        }
    }
    c->version = t->version;
    c->seen = s->journal_end;
    return true;
}

static void replay(grove_sched *s, gv_column *c, const gv_topology *t) {
    const gv_class *cls = &s->classes.v[c->class_id];
    const uint64_t end = s->journal_end;
    const uint32_t levels = t->n_levels + 1;
    uint64_t **sum = c->sum;
    uint32_t entry = c->seen < end ? gv_journal_at(s, c->seen) : GV_NONE;
    for (uint64_t at = c->seen; at < end; at++) {
        uint32_t node = entry & ~GV_DESCRIBED, was = c->count[node];
        uint32_t next = at + 1 < end ? gv_journal_at(s, at + 1) : GV_NONE;
        /* where copies fitted and only the room changed, the filters still let the class in */
        bool allowed = was > 0 && entry == node && !s->veto;
        bool again = next == entry || next == (node | GV_DESCRIBED);
        entry = next;
        if (again) {
            continue; /* pods of a gang come to a node one after the other: look at the last */
        }
        uint32_t now = allowed ? gv_fit(cls, gv_node_free(s, node))
                               : copies_now(s, c->class_id, node);
        if (now == was) {
            continue;
        }
        c->count[node] = (uint16_t)now;
        const uint32_t *dom = t->dom + (size_t)node * levels;
        for (uint32_t l = 0; l < levels; l++) {
            sum[l][dom[l]] += (uint64_t)now - was;
        }
    }
    c->seen = end;
}

/* The class's column, or an empty one given to it: a new one, or the coldest when there are many. */
static gv_column *find_column(grove_sched *s, uint32_t topology, uint32_t class_id) {
    gv_class *cls = &s->classes.v[class_id];
    if (cls->column < s->columns.n) {
        gv_column *c = s->columns.v[cls->column];
        if (c->class_id == class_id && c->topology == topology) {
            return c;
        }
    }
    size_t coldest = 0;
    for (size_t i = 0; i < s->columns.n; i++) {
        gv_column *c = s->columns.v[i];
        if (c->class_id == class_id && c->topology == topology) {
            cls->column = (uint32_t)i;
            return c;
        }
        coldest = c->used < s->columns.v[coldest]->used ? i : coldest;
    }
    if (s->columns.n >= GV_COLUMNS_KEPT) {
        gv_column_clear(s, s->columns.v[coldest]);
    } else {
        gv_column *fresh = gv_zalloc(s->env, sizeof *fresh);
        if (!fresh || !gv_vec_push(s->env, &s->columns, fresh)) {
            gv_free(s->env, fresh, sizeof *fresh);
            return NULL;
        }
        coldest = s->columns.n - 1;
    }
    s->columns.v[coldest]->class_id = class_id;
    s->columns.v[coldest]->topology = topology;
    cls->column = (uint32_t)coldest;
    return s->columns.v[coldest];
}

gv_column *gv_column_get(grove_sched *s, uint32_t topology, uint32_t class_id) {
    const gv_topology *t = &s->topologies.v[topology];
    gv_column *c = find_column(s, topology, class_id);
    if (!c) {
        return NULL;
    }
    c->used = ++s->column_clock;
    uint64_t behind = s->journal_end - c->seen;
    if (c->version != t->version || behind > s->journal_size) {
        return build(s, c, t) ? c : NULL;
    }
    replay(s, c, t);
    return c;
}
