/* SPDX-License-Identifier: Apache-2.0 */
/* Unknown names in startsAfter, and cycles (strongly connected components, found by Tarjan's method). */
#include "admission/startup_graph.h"

#include "value/doc.h"

typedef struct vertex {
    const grove_node *clique;
    const grove_node *next; /* entry of startsAfter still to follow */
    uint32_t index, low;    /* 0: not visited */
    uint32_t below;         /* vertex to return to, + 1 */
    bool on_stack, entered;
} vertex;

typedef struct graph {
    gv_rules *r;
    vertex *v;
    uint32_t n;
    uint32_t *stack;
    uint32_t depth, counter;
    grove_buf cycles;
} graph;

static void check_unknown(gv_rules *r, const grove_node *cliques) {
    grove_buf unknown;
    grove_buf_init(&unknown, r->env);
    bool any = false;
    GV_EACH(clique, cliques) {
        GV_EACH(entry, gv_node_path(clique, "spec.startsAfter")) {
            gv_str name = gv_node_str(entry);
            if (gv_map_has(&r->cliques, name)) {
                continue;
            }
            if (gv_buf_fmt(&unknown, any ? ", \"%.*s\"" : "\"%.*s\"", (int)name.n, name.p) < 0) {
                r->failed = true;
            }
            any = true;
        }
    }
    if (any) {
        gv_rules_error(r, GV_CODE_STARTS_AFTER_UNKNOWN, "Invalid", cliques,
                       gv_path_fmt(GV_TMPL ".cliques.startsAfter"), "there is no clique %s",
                       gv_buf_view(&unknown).p);
    }
    grove_buf_fini(&unknown);
}

/* Pops one component; only those of two and more cliques are cycles (a clique that names itself is
 * another rule's finding). */
static void pop_component(graph *g, uint32_t root) {
    uint32_t size = 0;
    while (g->stack[g->depth - 1 - size] != root) {
        size++;
    }
    size++;
    for (uint32_t k = 0; k < size; k++) {
        uint32_t member = g->stack[g->depth - size + k];
        gv_str name = gv_node_get_str(g->v[member].clique, "name");
        g->v[member].on_stack = false;
        if (size > 1 && gv_buf_fmt(&g->cycles, "%s%.*s",
                                   k               ? " -> "
                                   : g->cycles.len ? "; "
                                                   : "",
                                   (int)name.n, name.p) < 0) {
            g->r->failed = true;
        }
    }
    g->depth -= size;
}

/* Index of the clique a dependency names, or n when it is unknown or the clique itself. */
static uint32_t target(const graph *g, const gv_map *index, const grove_node *entry,
                       uint32_t self) {
    uint32_t at = (uint32_t)(uintptr_t)gv_map_get(index, gv_node_str(entry));
    return at == 0 || at - 1 == self ? g->n : at - 1;
}

static void enter(graph *g, uint32_t i, uint32_t from) {
    vertex *v = &g->v[i];
    v->index = v->low = ++g->counter;
    v->below = from;
    v->on_stack = v->entered = true;
    v->next = grove_node_first(gv_node_path(v->clique, "spec.startsAfter"));
    g->stack[g->depth++] = i;
}

static void walk(graph *g, const gv_map *index, uint32_t start) {
    uint32_t i = start;
    enter(g, i, 0);
    for (;;) {
        vertex *v = &g->v[i];
        if (v->next) {
            uint32_t to = target(g, index, v->next, i);
            v->next = grove_node_next(gv_node_path(v->clique, "spec.startsAfter"), v->next);
            if (to < g->n && !g->v[to].entered) {
                enter(g, to, i + 1);
                i = to;
            } else if (to < g->n && g->v[to].on_stack && g->v[to].index < v->low) {
                v->low = g->v[to].index;
            }
            continue;
        }
        if (v->low == v->index) {
            pop_component(g, i);
        }
        if (v->below == 0) {
            return;
        }
        vertex *up = &g->v[v->below - 1];
        if (v->low < up->low) {
            up->low = v->low;
        }
        i = v->below - 1;
    }
}

static void check_cycles(gv_rules *r, const grove_node *cliques) {
    uint32_t n = grove_node_size(cliques);
    graph g = {.r = r, .n = n};
    gv_map index;
    gv_map_init(&index, r->env);
    grove_buf_init(&g.cycles, r->env);
    g.v = gv_zalloc(r->env, n * sizeof *g.v);
    g.stack = gv_zalloc(r->env, n * sizeof *g.stack);
    if (g.v && g.stack) {
        uint32_t i = 0;
        GV_EACH(clique, cliques) {
            g.v[i].clique = clique;
            gv_str name = gv_node_get_str(clique, "name");
            if (!gv_map_has(&index, name) &&
                !gv_map_put(&index, name, (void *)(uintptr_t)(i + 1))) {
                r->failed = true;
            }
            i++;
        }
        for (i = 0; i < n; i++) {
            if (!g.v[i].entered) {
                walk(&g, &index, i);
            }
        }
    } else {
        r->failed = true;
    }
    if (g.cycles.len) {
        gv_rules_error(r, GV_CODE_STARTS_AFTER_CYCLE, "Invalid", cliques,
                       gv_path_fmt(GV_TMPL ".cliques"), "cliques wait for each other: %s",
                       gv_buf_view(&g.cycles).p);
    }
    gv_free(r->env, g.v, n * sizeof *g.v);
    gv_free(r->env, g.stack, n * sizeof *g.stack);
    grove_buf_fini(&g.cycles);
    gv_map_fini(&index);
}

void gv_rules_startup_graph(gv_rules *r) {
    const grove_node *cliques = grove_node_get(r->tmpl, "cliques");
    check_unknown(r, cliques);
    check_cycles(r, cliques);
}
