/* SPDX-License-Identifier: Apache-2.0 */
/* Every object that comes out of one set, offline: see grove/render.h. */
#include <grove/render.h>

#include "base/mem.h"
#include "base/sort.h"
#include "model/served.h"
#include "plan/adapters/adapters.h"
#include "plan/body.h"

typedef struct render {
    grove_env *env;
    const gv_want *w;
    uint32_t flags;
    grove_builder *list; /* the List */
    grove_builder *one;  /* the object being made */
    gv_arena a;
    bool *has_pods; /* per clique */
    grove_error *err;
} render;

/* ---- which pods there are ---- */

/* A PodClique whose pods the API server refuses exists all the same, without them. */
static bool find_pods(render *r) {
    const gv_want *w = r->w;
    r->has_pods = gv_arena_array(&r->a, bool, w->n_cliques + 1);
    for (uint32_t i = 0; r->has_pods && i < w->n_cliques; i++) {
        const gv_want_clique *c = &w->cliques[i];
        const gv_clique *source = &w->replicas[c->replica].t->pcs.cliques[c->source];
        r->has_pods[i] = !c->pods_blocked && !gv_served_refuses_pod(source->pod_spec);
    }
    return r->has_pods != NULL;
}

static bool gang_complete(const render *r, const gv_want_gang *g) {
    for (uint32_t i = 0; i < g->n_cliques; i++) {
        uint32_t c = g->first_clique + i;
        if (!r->has_pods[c] && r->w->cliques[c].replicas > 0) {
            return false;
        }
    }
    return true;
}

/*
 * Pods of the base gang are released once the gang lists them, standalone ones only when the gang is
 * complete; pods of scaled gangs wait for the base gang's minimum to be scheduled. Where the engine
 * finds the places itself, all wait for it.
 */
static bool is_gated(const render *r, const gv_want_clique *c) {
    const gv_want_gang *g = &r->w->gangs[c->gang];
    const gv_adapter *adapter = r->w->replicas[c->replica].t->facts[c->source].adapter;
    if (adapter && adapter->caps & GV_ADAPTER_RELEASER) {
        return true;
    }
    if (c->group == GV_STANDALONE && !gang_complete(r, g)) {
        return true;
    }
    return c->scaled && gv_gang_minimum(r->w, g->base) > 0;
}

static gv_str pod_name(render *r, const gv_want_clique *c, int64_t index) {
    return gv_name_pod(&r->a, c->name, GV_STR(""), index, GV_STR(""), 0);
}

/* ---- objects ---- */

/* Ends the object in r->one and appends it to the List. */
static grove_status append(render *r, gv_kind kind) {
    grove_doc *doc = NULL;
    grove_status s = grove_builder_finish(r->one, &doc, r->err);
    if (s < 0) {
        return s;
    }
    if (r->flags & GROVE_RENDER_AS_SENT) {
        grove_builder_link(r->list, NULL, doc, grove_doc_root(doc));
    } else {
        gv_served_write(r->list, NULL, doc, grove_doc_root(doc), kind);
    }
    grove_doc_unref(doc);
    return GROVE_OK;
}

static int by_name(const void *a, const void *b, void *ctx) {
    (void)ctx;
    return gv_str_cmp(*(const gv_str *)a, *(const gv_str *)b);
}

static bool name_pods(render *r, uint32_t clique, gv_gang_refs *out) {
    const gv_want_clique *c = &r->w->cliques[clique];
    uint32_t n = r->has_pods[clique] ? (uint32_t)c->replicas : 0;
    gv_str *names = gv_arena_array(&r->a, gv_str, n + 1);
    gv_str *in_order = gv_arena_array(&r->a, gv_str, n + 1);
    const void **sorted = gv_arena_array(&r->a, const void *, n + 1);
    if (!names || !in_order || !sorted) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        names[i] = pod_name(r, c, i);
        sorted[i] = &names[i];
        if (!names[i].p) {
            return false;
        }
    }
    gv_sort(sorted, n, by_name, NULL);
    for (uint32_t i = 0; i < n; i++) {
        in_order[i] = *(const gv_str *)sorted[i];
    }
    *out = (gv_gang_refs){in_order, n};
    return true;
}

static const gv_gang_refs *refs_of(render *r, uint32_t gang) {
    const gv_want_gang *g = &r->w->gangs[gang];
    gv_gang_refs *refs = gv_arena_array(&r->a, gv_gang_refs, g->n_cliques + 1);
    for (uint32_t i = 0; refs && i < g->n_cliques; i++) {
        if (!name_pods(r, g->first_clique + i, &refs[i])) {
            return NULL;
        }
    }
    return refs;
}

static grove_status append_pods(render *r, uint32_t clique, grove_doc *pclq) {
    const gv_want_clique *c = &r->w->cliques[clique];
    bool gated = is_gated(r, c);
    for (int64_t i = 0; r->has_pods[clique] && i < c->replicas; i++) {
        gv_pod_args args = {.clique = clique,
                            .index = i,
                            .name = pod_name(r, c, i),
                            .gated = gated,
                            .pclq_doc = pclq,
                            .pclq = grove_doc_root(pclq)};
        grove_status s = args.name.p ? gv_pod_build(r->w, &args, r->one, r->err) : GROVE_E_NOMEM;
        if (s == GROVE_OK) {
            s = append(r, GV_KIND_POD);
        }
        if (s < 0) {
            return s;
        }
    }
    return GROVE_OK;
}

/* A PodClique and its pods, which are made from it. */
static grove_status append_podclique(render *r, uint32_t clique) {
    grove_doc *doc = NULL;
    grove_status s = grove_builder_finish(r->one, &doc, r->err);
    if (s == GROVE_OK) {
        grove_builder_link(r->list, NULL, doc, grove_doc_root(doc));
        s = append_pods(r, clique, doc);
    }
    grove_doc_unref(doc);
    return s;
}

static grove_status append_object(render *r, uint32_t i) {
    const gv_want_object *o = &r->w->objects[i];
    gv_body_args args = {.refs = NULL};
    if (o->kind == GV_KIND_PODGANG) {
        args.refs = refs_of(r, o->at);
        if (!args.refs) {
            return gv_error_nomem(r->err);
        }
    }
    grove_status s = gv_object_build(r->w, i, &args, r->one, r->err);
    if (s < 0) {
        return s;
    }
    return o->kind == GV_KIND_PODCLIQUE ? append_podclique(r, o->at) : append(r, o->kind);
}

/* The set itself, in its namespace and without status. */
static void append_set(render *r, grove_doc *doc) {
    const grove_node *set = r->w->current->pcs.node;
    grove_builder *b = r->list;
    grove_builder_open_object(b, NULL);
    for (const grove_node *m = grove_node_first(set); m; m = grove_node_next(set, m)) {
        if (gv_member_is(m, "metadata")) {
            grove_builder_open_object(b, "metadata");
            const grove_node *f = grove_node_first(m);
            for (; f; f = grove_node_next(m, f)) {
                if (!gv_member_is(f, "namespace")) {
                    grove_builder_link(b, grove_node_key(f, NULL), doc, f);
                }
            }
            gv_write_str(b, "namespace", r->w->ns);
            grove_builder_close(b);
        } else if (!gv_member_is(m, "status")) {
            grove_builder_link(b, grove_node_key(m, NULL), doc, m);
        }
    }
    grove_builder_close(b);
}

static void write_note(render *r, uint32_t *n, const char *text) {
    const char *key = gv_arena_fmt(&r->a, "libgrove.io/problem-%u", (*n)++);
    gv_write_made(r->list, key ? key : "", key ? text : NULL);
}

/* The first PodClique of its clique that is made from another one's template? */
static bool is_misled(const gv_want *w, uint32_t i) {
    const gv_want_clique *c = &w->cliques[i];
    for (uint32_t o = 0; o < i; o++) {
        if (w->cliques[o].clique == c->clique && w->cliques[o].source != c->clique) {
            return false;
        }
    }
    return c->source != c->clique;
}

/* What could not be made, and where Grove's look-up of templates goes astray. */
static void write_problems(render *r) {
    const gv_want *w = r->w;
    uint32_t n = 0;
    grove_builder_open_object(r->list, "metadata");
    grove_builder_open_object(r->list, "annotations");
    for (uint32_t i = 0; i < w->n_problems; i++) {
        const gv_want_problem *p = &w->problems[i];
        write_note(r, &n, gv_arena_fmt(&r->a, "%s: %.*s", p->code, (int)p->text.n, p->text.p));
    }
    for (uint32_t i = 0; i < w->n_cliques; i++) {
        const gv_want_clique *c = &w->cliques[i];
        const gv_clique *cliques = w->replicas[c->replica].t->pcs.cliques;
        gv_str own = cliques[c->clique].name, used = cliques[c->source].name;
        if (is_misled(w, i)) {
            write_note(r, &n,
                       gv_arena_fmt(&r->a,
                                    "PodClique %.*s is made from clique %.*s, as Grove's operator "
                                    "does: the name of clique %.*s ends with it",
                                    (int)c->name.n, c->name.p, (int)used.n, used.p, (int)own.n,
                                    own.p));
        }
    }
    grove_builder_close(r->list);
    grove_builder_close(r->list);
}

static bool has_problems(const gv_want *w) {
    bool found = w->n_problems > 0;
    for (uint32_t i = 0; !found && i < w->n_cliques; i++) {
        found = w->cliques[i].source != w->cliques[i].clique;
    }
    return found;
}

static grove_status write_list(render *r, grove_doc *doc, grove_doc **out) {
    if (!find_pods(r)) {
        return gv_error_nomem(r->err);
    }
    grove_builder_open_object(r->list, NULL);
    grove_builder_string(r->list, "apiVersion", "v1");
    grove_builder_string(r->list, "kind", "List");
    if (has_problems(r->w)) {
        write_problems(r);
    }
    grove_builder_open_array(r->list, "items");
    append_set(r, doc);
    for (uint32_t i = 0; i < r->w->n_objects; i++) {
        grove_status s = r->w->objects[i].blocked ? GROVE_OK : append_object(r, i);
        if (s < 0) {
            return s;
        }
    }
    grove_builder_close(r->list);
    grove_builder_close(r->list);
    return grove_builder_finish(r->list, out, r->err);
}

/* ---- the call ---- */

static grove_status render_template(grove_env *env, const gv_template *t, uint32_t flags,
                                    grove_doc **out, grove_error *err) {
    gv_expander *x = NULL;
    render r = {.env = env, .flags = flags, .err = err};
    gv_arena_init(&r.a, env);
    grove_status s = gv_expander_new(env, &x);
    if (s == GROVE_OK) {
        s = gv_expand(x, &(gv_expand_input){.current = t}, &r.w, err);
    }
    if (s == GROVE_OK) {
        s = grove_builder_new(env, &r.list);
    }
    if (s == GROVE_OK) {
        s = grove_builder_new(env, &r.one);
    }
    if (s == GROVE_OK) {
        s = write_list(&r, t->doc, out);
    }
    grove_builder_free(r.one);
    grove_builder_free(r.list);
    gv_expander_free(x);
    gv_arena_fini(&r.a);
    return s == GROVE_E_NOMEM ? gv_error_nomem(err) : s;
}

grove_status grove_render(grove_env *env, grove_doc *doc, const grove_node *pcs,
                          grove_config *config, const char *ns, uint32_t flags,
                          grove_doc **out_list, grove_error *err) {
    gv_template_options options = {
        .ns = gv_str_c(ns),
        .match = flags & GROVE_RENDER_EXACT_TEMPLATES ? GV_MATCH_EXACT : GV_MATCH_SUFFIX,
    };
    gv_template *t = NULL;
    grove_config *own = NULL;
    grove_status s = GROVE_OK;
    if (gv_kind_of(pcs) != GV_KIND_PODCLIQUESET) {
        return gv_error(err, GROVE_E_TYPE, "the object is no PodCliqueSet");
    }
    if (!config) {
        s = grove_config_new(env, &own);
    }
    if (s == GROVE_OK) {
        s = gv_template_new(env, doc, pcs, config ? config : own, &options, &t, err);
    }
    if (s == GROVE_OK) {
        s = render_template(env, t, flags, out_list, err);
    }
    gv_template_unref(t);
    grove_config_unref(own);
    return s;
}
