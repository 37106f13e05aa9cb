/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wishes about nodes: preferred node affinity that does not hold there, and taints that are merely disliked.
 * They order the places that could hold the pods, after where the gang is already, sticky nodes and anchors.
 */
#include "sched/problem.h"

#include <string.h>

#define MOST ((1u << GV_DISLIKE_BITS) - 1)

static bool has_wishes(const grove_sched *s, const gv_class *c) {
    return c->n_preferred > 0 || s->soft_taints;
}

/* A row for each level, all at the most; the host level's is by node. */
static uint16_t **make_rows(const gv_problem *p, gv_arena *mem) {
    uint16_t **rows = gv_arena_array(mem, uint16_t *, p->host + 1);
    for (uint32_t l = 0; rows && l <= p->host; l++) {
        size_t n = l == p->host ? p->s->nodes.n : p->t->levels[l].n;
        rows[l] = gv_arena_alloc(mem, (n + 1) * sizeof *rows[l]);
        if (!rows[l]) {
            return NULL;
        }
        memset(rows[l], 0xff, (n + 1) * sizeof *rows[l]);
    }
    return rows;
}

static grove_status fill(gv_problem *p, gv_problem_class *k, gv_arena *mem) {
    const gv_topology *t = p->t;
    uint16_t **rows = make_rows(p, mem);
    bool any = false;
    if (!rows) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t node = 0; node < p->s->nodes.n; node++) {
        if (k->column->count[node] == 0) {
            continue;
        }
        int64_t much = gv_class_dislike(p->s, k->class_id, node);
        uint16_t at = (uint16_t)(much < MOST ? much : MOST);
        any = any || at > 0;
        rows[p->host][node] = at;
        for (uint32_t l = 0; l <= t->n_levels; l++) {
            uint16_t *least = &rows[l][gv_topology_dom(t, node, l)];
            *least = at < *least ? at : *least;
        }
    }
    k->dislike = any ? rows : NULL;
    p->wishes = p->wishes || any;
    return GROVE_OK;
}

grove_status gv_problem_dislikes(gv_problem *p, gv_arena *mem) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < p->n_classes; i++) {
        if (has_wishes(p->s, p->classes[i].cls)) {
            st = fill(p, &p->classes[i], mem);
        }
    }
    return st;
}
