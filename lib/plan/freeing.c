/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom to give up so that whole domains are left free (template.placement.scaleIn: FreeDomains): level by level,
 * broadest first, the pods of the domain where the clique has the fewest and nobody else of the set has any.
 */
#include "base/map.h"
#include "base/sort.h"
#include "plan/template_def.h"
#include "plan/victims.h"

typedef struct domain {
    uint32_t own, others; /* pods of the clique, and of the rest of the set */
    const char *name;
} domain;

typedef struct row {
    uint32_t pod;          /* place in c->pods */
    const domain **levels; /* broadest first; NULL: not in a domain of that level */
    uint32_t n;
} row;

/* The domains of one level, by name. */
typedef struct level {
    gv_str key; /* node label; "": the node itself */
    gv_map domains;
} level;

static gv_str domain_of(const gv_work *w, const gv_pod *p, gv_str key) {
    if (key.n == 0) {
        return gv_str_c(p->node);
    }
    const gv_object *node = gv_store_get(w->store, GV_KIND_NODE, GV_STR(""), gv_str_c(p->node));
    return gv_str_c(node ? gv_node_record_label(&node->u.node, key) : NULL);
}

static bool count_pod(gv_work *w, const gv_work_clique *c, const gv_pod *p, level *l) {
    gv_str name = domain_of(w, p, l->key);
    if (name.n == 0) {
        return true;
    }
    domain *d = gv_map_get(&l->domains, name);
    if (d == NULL) {
        d = gv_arena_new(&w->arena, domain);
        if (d == NULL || !gv_map_put(&l->domains, name, d)) {
            return false;
        }
        d->name = name.p;
    }
    bool own = gv_str_is(c->want->name, p->clique);
    d->own += own ? 1 : 0;
    d->others += own ? 0 : 1;
    return true;
}

static bool count_set(gv_work *w, const gv_work_clique *c, level *levels, uint32_t n) {
    const gv_list *list = gv_store_of_set(w->store, w->ns, w->set);
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        bool counts = gv_object_is_pod(o) && gv_pod_is_active(&o->u.pod) &&
                      gv_pod_is_bound(&o->u.pod);
        for (uint32_t k = 0; counts && k < n; k++) {
            if (!count_pod(w, c, &o->u.pod, &levels[k])) {
                return false;
            }
        }
    }
    return true;
}

/* < 0: a's domain is freed before b's. Domains that others of the set are in are none to be freed. */
static int compare_domains(const domain *a, const domain *b) {
    bool free_a = a != NULL && a->others == 0, free_b = b != NULL && b->others == 0;
    if (free_a != free_b) {
        return free_a ? -1 : 1;
    }
    if (!free_a || a == b) {
        return 0;
    }
    if (a->own != b->own) {
        return a->own < b->own ? -1 : 1;
    }
    return strcmp(b->name, a->name); /* ranks, as indices, are given up from above */
}

static int compare_rows(const void *x, const void *y, void *ctx) {
    const row *a = x, *b = y;
    (void)ctx;
    for (uint32_t k = 0; k < a->n; k++) {
        int order = compare_domains(a->levels[k], b->levels[k]);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static bool rank(gv_work *w, const gv_work_clique *c, const level *levels, uint32_t n,
                 uint32_t *ranks) {
    const row **rows = gv_arena_array(&w->arena, const row *, c->n_pods + 1);
    for (uint32_t i = 0; rows != NULL && i < c->n_pods; i++) {
        row *r = gv_arena_new(&w->arena, row);
        if (r == NULL || (r->levels = gv_arena_array(&w->arena, const domain *, n + 1)) == NULL) {
            return false;
        }
        r->pod = i;
        r->n = n;
        for (uint32_t k = 0; k < n; k++) {
            gv_str name = domain_of(w, c->pods[i], levels[k].key);
            r->levels[k] = name.n > 0 ? gv_map_get(&levels[k].domains, name) : NULL;
        }
        rows[i] = r;
    }
    if (rows == NULL) {
        return false;
    }
    gv_sort((const void **)(void *)rows, c->n_pods, compare_rows, NULL);
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->n_pods; i++) {
        at += i > 0 && compare_rows(rows[i - 1], rows[i], NULL) != 0 ? 1 : 0;
        ranks[rows[i]->pod] = at;
    }
    return true;
}

bool gv_freeing_ranks(gv_work *w, const gv_work_clique *c, const uint32_t **out) {
    const gv_template *t = w->want->replicas[c->want->replica].t;
    *out = NULL;
    if (!t->pcs.free_domains || c->n_pods == 0) {
        return true;
    }
    uint32_t n = t->binding ? t->binding->n_levels : 0;
    level *levels = gv_arena_array(&w->arena, level, n + 1);
    uint32_t *ranks = gv_arena_array(&w->arena, uint32_t, c->n_pods);
    if (levels == NULL || ranks == NULL) {
        return false;
    }
    for (uint32_t k = 0; k <= n; k++) {
        levels[k].key = k < n ? t->binding->levels[k].key : GV_STR("");
        gv_map_init(&levels[k].domains, w->env);
    }
    bool ok = count_set(w, c, levels, n + 1) && rank(w, c, levels, n + 1, ranks);
    for (uint32_t k = 0; k <= n; k++) {
        gv_map_fini(&levels[k].domains);
    }
    *out = ok ? ranks : NULL;
    return ok;
}
