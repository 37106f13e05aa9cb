/* SPDX-License-Identifier: Apache-2.0 */
/* Every name that a set can come to use, at the most its autoscalers allow: see grove/render.h. */
#include <grove/render.h>

#include "base/map.h"
#include "base/mem.h"
#include "model/kinds.h"
#include "plan/expand.h"

/* How long a name may be, and what sets the limit. */
typedef struct name_limit {
    uint32_t max;
    const char *by;
} name_limit;

typedef struct listing {
    grove_env *env;
    const gv_want *w;
    grove_builder *b;
    gv_arena a;
    gv_map seen; /* "Kind name"; the value is not used */
    uint32_t count, over, twice;
    int64_t least; /* the smallest margin */
    bool nomem;
} listing;

#define DNS_LABEL 63
#define DNS_SUBDOMAIN 253

static name_limit limit_of(gv_kind kind) {
    switch (kind) {
    case GV_KIND_SERVICE:
        return (name_limit){DNS_LABEL, "name of a Service"};
    case GV_KIND_PODCLIQUESET:
    case GV_KIND_PODCLIQUE:
    case GV_KIND_PODCLIQUESCALINGGROUP:
    case GV_KIND_PODGANG:
    case GV_KIND_COMPUTEDOMAIN:
        return (name_limit){DNS_LABEL, "value of a label"};
    case GV_KIND_RESOURCECLAIM:
        return (name_limit){DNS_LABEL, "name of a claim in a pod"};
    default:
        return (name_limit){DNS_SUBDOMAIN, "name of an object"};
    }
}

static void put_name(listing *l, const char *kind, gv_str name, name_limit limit) {
    char *key = gv_arena_fmt(&l->a, "%s %.*s", kind, (int)name.n, name.p);
    if (!key || !name.p) {
        l->nomem = true;
        return;
    }
    bool twice = gv_map_has(&l->seen, gv_str_c(key));
    int64_t margin = (int64_t)limit.max - (int64_t)name.n;
    l->nomem = l->nomem || !gv_map_put(&l->seen, gv_str_c(key), &l->seen);
    l->least = l->count == 0 || margin < l->least ? margin : l->least;
    l->count++;
    l->over += margin < 0;
    l->twice += twice;
    grove_builder_open_object(l->b, NULL);
    grove_builder_string(l->b, "kind", kind);
    grove_builder_stringn(l->b, "name", name.p, name.n);
    grove_builder_int64(l->b, "length", (int64_t)name.n);
    grove_builder_int64(l->b, "limit", limit.max);
    grove_builder_int64(l->b, "margin", margin);
    grove_builder_string(l->b, "by", limit.by);
    if (twice) {
        grove_builder_bool(l->b, "twice", 1);
    }
    grove_builder_close(l->b);
}

/* The letters of a pod's name depend on its PodClique's uid; its host name does not. */
static void put_pods(listing *l, const gv_want_clique *c) {
    const char *pod = gv_arena_fmt(&l->a, "%.*s-?????", (int)c->name.n, c->name.p);
    put_name(l, "Pod", gv_str_c(pod), (name_limit){DNS_LABEL, "cut where the server adds letters"});
    for (int64_t i = 0; i < c->replicas && !l->nomem; i++) {
        put_name(l, "Hostname", gv_name_hostname(&l->a, c->name, i),
                 (name_limit){DNS_LABEL, "host name of a pod"});
    }
}

static grove_status write_list(listing *l, grove_doc **out, grove_error *err) {
    const gv_want *w = l->w;
    grove_builder_open_object(l->b, NULL);
    grove_builder_string(l->b, "apiVersion", "libgrove.io/v1alpha1");
    grove_builder_string(l->b, "kind", "NameList");
    grove_builder_stringn(l->b, "set", w->set.p, w->set.n);
    grove_builder_open_array(l->b, "names");
    put_name(l, "PodCliqueSet", w->set, limit_of(GV_KIND_PODCLIQUESET));
    for (uint32_t i = 0; i < w->n_objects && !l->nomem; i++) {
        const gv_want_object *o = &w->objects[i];
        put_name(l, gv_kind_get(o->kind)->name, o->name, limit_of(o->kind));
        if (o->kind == GV_KIND_PODCLIQUE) {
            put_pods(l, &w->cliques[o->at]);
        }
    }
    grove_builder_close(l->b);
    grove_builder_int64(l->b, "count", l->count);
    grove_builder_int64(l->b, "leastMargin", l->least);
    grove_builder_int64(l->b, "overLimit", l->over);
    grove_builder_int64(l->b, "twice", l->twice);
    grove_builder_close(l->b);
    return l->nomem ? GROVE_E_NOMEM : grove_builder_finish(l->b, out, err);
}

/* ---- the most that scalers may ask for ---- */

static int64_t look_up(const void *ctx, gv_kind kind, gv_str name) {
    const gv_map *most = ctx;
    const int64_t *n = gv_map_get(most, name);
    (void)kind;
    return n ? *n : -1;
}

static grove_status note(listing *l, gv_map *most, gv_str name, gv_opt_int replicas,
                         const gv_scaling *scaling) {
    int64_t *n = gv_arena_alloc(&l->a, sizeof *n);
    if (!n) {
        return GROVE_E_NOMEM;
    }
    int64_t now = gv_opt_or(replicas, 1);
    *n = scaling->set ? gv_opt_or(scaling->max_replicas, now) : now;
    *n = *n > now ? *n : now;
    return gv_map_put(most, name, n) ? GROVE_OK : GROVE_E_NOMEM;
}

/* Names of what scalers scale, with the most they may ask for: standalone cliques and groups. */
static grove_status note_most(listing *l, gv_map *most) {
    const gv_want *w = l->w;
    grove_status s = GROVE_OK;
    for (uint32_t i = 0; i < w->n_cliques && s == GROVE_OK; i++) {
        const gv_want_clique *c = &w->cliques[i];
        const gv_clique *view = &gv_template_pcs(w->current)->cliques[c->clique];
        if (c->group == GV_STANDALONE) {
            s = note(l, most, c->name, view->replicas, &view->scaling);
        }
    }
    for (uint32_t i = 0; i < w->n_groups && s == GROVE_OK; i++) {
        const gv_want_group *g = &w->groups[i];
        const gv_group *view = &gv_template_pcs(w->current)->groups[g->config];
        s = note(l, most, g->name, view->replicas, &view->scaling);
    }
    return s;
}

static grove_status list_names(listing *l, const gv_template *t, gv_map *most, grove_doc **out,
                               grove_error *err) {
    gv_expander *x = NULL;
    grove_status s = gv_expander_new(l->env, &x);
    if (s == GROVE_OK) {
        s = gv_expand(x, &(gv_expand_input){.current = t}, &l->w, err);
    }
    if (s == GROVE_OK) {
        s = note_most(l, most);
    }
    if (s == GROVE_OK) {
        gv_expand_input scaled = {.current = t, .live_replicas = look_up, .live_ctx = most};
        s = gv_expand(x, &scaled, &l->w, err);
    }
    if (s == GROVE_OK) {
        s = write_list(l, out, err);
    }
    gv_expander_free(x);
    return s;
}

grove_status grove_names_list(grove_env *env, grove_doc *doc, const grove_node *pcs,
                              grove_config *config, grove_doc **out_list, grove_error *err) {
    gv_template_options options = {.match = GV_MATCH_EXACT};
    gv_template *t = NULL;
    grove_config *own = NULL;
    listing l = {.env = env};
    gv_map most;
    if (!env || !doc || !out_list) {
        return gv_error(err, GROVE_E_INVALID, "grove_names_list: an argument is missing");
    }
    if (gv_kind_of(pcs) != GV_KIND_PODCLIQUESET) {
        return gv_error(err, GROVE_E_TYPE, "the object is no PodCliqueSet");
    }
    if (gv_get_str(grove_node_get(pcs, "metadata"), "name").n == 0) {
        return gv_error(err, GROVE_E_INVALID, "the set has no name yet");
    }
    gv_arena_init(&l.a, env);
    gv_map_init(&l.seen, env);
    gv_map_init(&most, env);
    grove_status s = config ? GROVE_OK : grove_config_new(env, &own);
    if (s == GROVE_OK) {
        s = gv_template_new(env, doc, pcs, config ? config : own, &options, &t, err);
    }
    if (s == GROVE_OK) {
        s = grove_builder_new(env, &l.b);
    }
    if (s == GROVE_OK) {
        s = list_names(&l, t, &most, out_list, err);
    }
    grove_builder_free(l.b);
    gv_template_unref(t);
    grove_config_unref(own);
    gv_map_fini(&most);
    gv_map_fini(&l.seen);
    gv_arena_fini(&l.a);
    return s == GROVE_E_NOMEM ? gv_error_nomem(err) : s;
}
