/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The starvation guard. Small gangs that come and go can keep a large one waiting for ever: it then gets the
 * domain that the fewest pods would have to leave, and what becomes free there stays free for it.
 */
#include "sched/serve.h"

/* What the domain has and holds, as far as its nodes are up. */
typedef struct content {
    int64_t room[GV_RESOURCES_MAX], held[GV_RESOURCES_MAX], largest[GV_RESOURCES_MAX];
} content;

static uint32_t nodes_of(const gv_topology *t, uint32_t level, uint32_t d, const uint32_t **out) {
    uint32_t lo = level > t->n_levels ? t->pos[d] : t->levels[level].lo[d];
    uint32_t hi = level > t->n_levels ? lo + 1 : t->levels[level].hi[d];
    *out = t->order + lo;
    return hi - lo;
}

static void look_into(const grove_sched *s, const uint32_t *nodes, uint32_t n, content *c) {
    *c = (content){{0}, {0}, {0}};
    for (uint32_t i = 0; i < n; i++) {
        if (!gv_node_up(s, nodes[i])) {
            continue;
        }
        for (uint32_t r = 0; r < s->resource_names.n; r++) {
            int64_t room = gv_node_free(s, nodes[i])[r];
            c->room[r] += room > 0 ? room : 0;
        }
        for (uint32_t p = s->nodes.v[nodes[i]].pods; p != GV_NONE; p = s->pods.v[p].next) {
            const int64_t *row = gv_sched_row(s, s->pods.v[p].vector);
            for (uint32_t r = 0; r < s->resource_names.n; r++) {
                c->held[r] += row[r];
                c->largest[r] = row[r] > c->largest[r] ? row[r] : c->largest[r];
            }
        }
    }
}

/* How many pods at least have to leave before the sums suffice; GV_NONE: they never will. */
static uint32_t pods_to_leave(const grove_sched *s, const content *c, const int64_t *need) {
    int64_t most = 0;
    for (uint32_t r = 0; r < s->resource_names.n; r++) {
        int64_t lack = need[r] - c->room[r];
        if (need[r] == 0 || lack <= 0) {
            continue;
        }
        if (c->held[r] < lack || c->largest[r] <= 0) {
            return GV_NONE;
        }
        int64_t pods = (lack + c->largest[r] - 1) / c->largest[r];
        most = pods > most ? pods : most;
    }
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX - 1;
}

void gv_keep_close(gv_serve *v, bool closed) {
    if (closed == v->kept_now) {
        return;
    }
    v->kept_now = closed;
    for (uint32_t i = 0; i < v->n_kept; i++) {
        v->s->nodes.v[v->kept[i]].flags ^= GV_NODE_KEPT;
        gv_node_touch(v->s, v->kept[i]);
    }
}

static grove_status keep_nodes(gv_serve *v, const uint32_t *nodes, uint32_t n) {
    if (!v->kept) {
        v->kept = gv_arena_array(&v->mem, uint32_t, v->s->nodes.n + 1);
        if (!v->kept) {
            return GROVE_E_NOMEM;
        }
    }
    gv_keep_close(v, true);
    for (uint32_t i = 0; i < n; i++) {
        if ((v->s->nodes.v[nodes[i]].flags & GV_NODE_KEPT) == 0) {
            v->kept[v->n_kept++] = nodes[i];
            v->s->nodes.v[nodes[i]].flags |= GV_NODE_KEPT;
            gv_node_touch(v->s, nodes[i]);
        }
    }
    return GROVE_OK;
}

grove_status gv_keep_domain(gv_serve *v, uint32_t at) {
    grove_sched *s = v->s;
    gv_guest *guest = &v->guests[at];
    uint32_t level = guest->g->required, best = GV_NONE, fewest = GV_NONE;
    const gv_topology *t = &s->topologies.v[guest->g->topology];
    if (level == 0 || level == GV_LEVEL_UNKNOWN || gv_topology_refresh(s, guest->g->topology) < 0) {
        return GROVE_OK; /* without a domain there is nothing to keep but the whole cluster */
    }
    uint32_t n = level > t->n_levels ? (uint32_t)s->nodes.n : t->levels[level].n;
    for (uint32_t d = 0; d < n; d++) {
        const uint32_t *nodes;
        content c;
        if (level > t->n_levels ? !gv_node_live(s, d) : !t->levels[level].labelled[d]) {
            continue;
        }
        uint32_t n_nodes = nodes_of(t, level, d, &nodes);
        if (n_nodes == 0 || (s->nodes.v[nodes[0]].flags & GV_NODE_KEPT)) {
            continue; /* kept for another one */
        }
        look_into(s, nodes, n_nodes, &c);
        uint32_t pods = pods_to_leave(s, &c, guest->need);
        if (pods < fewest) {
            fewest = pods;
            best = d;
        }
    }
    if (best == GV_NONE) {
        return GROVE_OK;
    }
    const uint32_t *nodes;
    uint32_t n_nodes = nodes_of(t, level, best, &nodes);
    guest->flags |= GROVE_SERVED_KEPT;
    guest->node = nodes[0];
    return keep_nodes(v, nodes, n_nodes);
}
