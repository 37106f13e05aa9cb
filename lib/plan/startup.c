/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start order: which PodCliques a PodClique waits for.
 *
 * The rule is stated between clique templates (the previous one, or those listed) and then spread over
 * the objects: in the base gang a parent stands for all of its copies in the base gang; in a scaled gang
 * only for its copy in the same group replica. Nothing waits across gangs.
 */
#include "model/labels.h"
#include "plan/expand.h"
#include "plan/template_def.h"

typedef struct parents {
    const gv_want *w;
    const gv_want_clique *c;
    const gv_want_replica *rep;
    gv_want_parent *list; /* NULL while counting */
    uint32_t n;
} parents;

static void add(parents *p, uint32_t clique) {
    if (p->list) {
        const gv_want_clique *parent = &p->w->cliques[clique];
        p->list[p->n] = (gv_want_parent){parent->name, clique, parent->min_available};
    }
    p->n++;
}

/* The wanted PodCliques that the clique template `parent` stands for. */
static void add_parent(parents *p, uint32_t parent) {
    const gv_template *t = p->rep->t;
    int32_t config = t->pcs.cliques[parent].group;
    if (config < 0) {
        if (!p->c->scaled) {
            add(p, p->rep->first_clique + t->place[parent]);
        }
        return;
    }
    uint32_t group = p->rep->first_group + (uint32_t)config;
    const gv_want_group *g = &p->w->groups[group];
    if (!p->c->scaled) {
        for (int64_t r = 0; r < g->min_available; r++) {
            add(p, gv_want_member(g, r, t->place[parent]));
        }
    } else if (group == p->c->group) {
        add(p, gv_want_member(g, p->c->group_replica, t->place[parent]));
    }
}

static void add_parents(parents *p) {
    const gv_pcs *pcs = &p->rep->t->pcs;
    if (pcs->startup == GV_STARTUP_ORDERED && p->c->source > 0) {
        add_parent(p, p->c->source - 1);
    }
    if (pcs->startup == GV_STARTUP_LISTED) {
        const grove_node *list = pcs->cliques[p->c->source].starts_after;
        for (const grove_node *n = grove_node_first(list); n; n = grove_node_next(list, n)) {
            uint32_t parent = gv_pcs_find_clique(pcs, gv_view_str(n));
            if (parent != GV_NO_CLIQUE) { /* admission refuses names of nothing */
                add_parent(p, parent);
            }
        }
    }
}

grove_status gv_want_parents(const gv_want *w, uint32_t clique, gv_arena *a,
                             const gv_want_parent **out, uint32_t *out_n) {
    const gv_want_clique *c = &w->cliques[clique];
    parents p = {w, c, &w->replicas[c->replica], NULL, 0};
    add_parents(&p);
    p.list = gv_arena_array(a, gv_want_parent, p.n + 1);
    if (!p.list) {
        return GROVE_E_NOMEM;
    }
    p.n = 0;
    add_parents(&p);
    *out = p.list;
    *out_n = p.n;
    return GROVE_OK;
}
