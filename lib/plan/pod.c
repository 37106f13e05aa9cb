/* SPDX-License-Identifier: Apache-2.0 */
/* Pods: the podSpec of their PodClique plus the edits listed in README.md, and nothing else. */
#include "base/mem.h"
#include "model/labels.h"
#include "plan/body.h"
#include "plan/podspec.h"

typedef struct pod {
    const gv_want *w;
    const gv_pod_args *args;
    const gv_want_clique *c;
    const gv_want_replica *rep;
    const gv_template *t;
    const gv_adapter *adapter;
    gv_pclq pclq;
    gv_arena *a;
    bool failed; /* out of memory */
} pod;

static gv_str kept(pod *p, gv_str name) {
    p->failed |= !name.p;
    return name.p ? name : GV_STR("");
}

/* ---- shared claims ---- */

static bool lists(const grove_node *names, gv_str name) {
    for (const grove_node *n = grove_node_first(names); n; n = grove_node_next(names, n)) {
        if (gv_str_eq(gv_view_str(n), name)) {
            return true;
        }
    }
    return false;
}

typedef struct claim_level {
    gv_str owner;
    int64_t index; /* of the replica at this level */
    const gv_sharing *sharing;
    uint32_t n;
    gv_str group; /* name that a filter may list beside the clique's; "" none */
} claim_level;

static bool passes(const gv_sharing *entry, const claim_level *level, gv_str clique) {
    return !entry->filtered || lists(entry->filter_cliques, clique) ||
           (level->group.n && lists(entry->filter_groups, level->group));
}

static uint32_t levels_of(const pod *p, claim_level out[3]) {
    const gv_pcs *pcs = &p->t->pcs;
    const gv_clique *clique = &pcs->cliques[p->c->clique];
    uint32_t n = 0;
    out[n] = (claim_level){p->w->set, p->rep->index, pcs->sharing, pcs->n_sharing, GV_STR("")};
    if (p->c->group != GV_STANDALONE) {
        const gv_want_group *g = &p->w->groups[p->c->group];
        const gv_group *view = &pcs->groups[g->config];
        out[n].group = view->name;
        out[++n] = (claim_level){g->name, p->c->group_replica, view->sharing, view->n_sharing,
                                 GV_STR("")};
    }
    out[++n] = (claim_level){p->c->name, p->args->index, clique->sharing, clique->n_sharing,
                             GV_STR("")};
    return n + 1;
}

/* Set, scaling group, clique; at each level first what all replicas share, then what each has. */
static const gv_str *claims_of(pod *p, uint32_t *out_n) {
    claim_level levels[3];
    uint32_t n_levels = levels_of(p, levels), most = 1, n = 0;
    for (uint32_t l = 0; l < n_levels; l++) {
        most += levels[l].n;
    }
    gv_str *names = gv_arena_array(p->a, gv_str, most);
    p->failed |= !names;
    gv_str clique = p->t->pcs.cliques[p->c->clique].name;
    for (uint32_t l = 0; names && l < n_levels; l++) {
        for (int each = 0; each < 2; each++) {
            for (uint32_t e = 0; e < levels[l].n; e++) {
                const gv_sharing *entry = &levels[l].sharing[e];
                if (entry->each == (each == 1) && passes(entry, &levels[l], clique)) {
                    names[n++] = kept(p, gv_name_claim(p->a, levels[l].owner,
                                                       each ? levels[l].index : -1, entry->name));
                }
            }
        }
    }
    *out_n = n;
    return names;
}

/* ---- start order ---- */

/* The PodClique's own list decides: an older PodClique waits as it was made to. */
static bool waiter_of(pod *p, gv_waiter *out) {
    uint32_t n = grove_node_size(p->pclq.starts_after);
    if (n == 0) {
        return false;
    }
    gv_want_parent *parents = gv_arena_array(p->a, gv_want_parent, n);
    p->failed |= !parents;
    uint32_t i = 0;
    const grove_node *name = grove_node_first(p->pclq.starts_after);
    for (; parents && name; name = grove_node_next(p->pclq.starts_after, name), i++) {
        uint32_t at = gv_want_find_clique(p->w, gv_view_str(name));
        parents[i] = (gv_want_parent){gv_view_str(name), at,
                                      at == GV_NOT_WANTED ? 1 : p->w->cliques[at].min_available};
    }
    *out = (gv_waiter){gv_str_c(p->t->config->initc_image),
                       kept(p, gv_name_token_secret(p->a, p->w->set)), parents, parents ? n : 0};
    return true;
}

/* ---- metadata and spec ---- */

static void write_metadata(pod *p, grove_builder *b) {
    const gv_pod_args *args = p->args;
    gv_pairs labels = {.a = p->a}, annotations = {.a = p->a};
    gv_str gang = gv_get_str(p->pclq.meta.labels, GV_LABEL_GANG);
    gv_put_default_labels(&labels, p->w->set);
    gv_pairs_put_all(&labels, p->pclq.meta.labels);
    gv_pairs_put(&labels, GV_LABEL_CLIQUE, p->pclq.meta.name);
    gv_pairs_put_index(&labels, GV_LABEL_SET_REPLICA, p->rep->index);
    gv_pairs_put(&labels, GV_LABEL_GANG, gang);
    gv_pairs_put_index(&labels, GV_LABEL_POD_INDEX, args->index);
    if (args->incarnation > 0) {
        gv_pairs_put_index(&labels, GV_LABEL_INCARNATION, args->incarnation);
    }
    gv_pairs_put_all(&annotations, p->pclq.meta.annotations);
    gv_pairs_drop(&annotations, GV_ANNOTATION_RESTARTS); /* the PodClique's own */
    gv_pod_marks marks = {.n_labels = 0};
    if (p->adapter->mark_pod) {
        p->adapter->mark_pod(gang, p->pclq.meta.name, &marks);
    }
    for (uint32_t i = 0; i < marks.n_labels; i++) {
        gv_pairs_put(&labels, marks.labels[i].key.p, marks.labels[i].value);
    }
    for (uint32_t i = 0; i < marks.n_annotations; i++) {
        gv_pairs_put(&annotations, marks.annotations[i].key.p, marks.annotations[i].value);
    }
    grove_builder_open_object(b, "metadata");
    gv_write_str(b, "name", args->name);
    gv_write_made(b, "generateName", gv_arena_fmt(p->a, "%.*s-", (int)p->c->name.n, p->c->name.p));
    gv_write_str(b, "namespace", p->w->ns);
    gv_pairs_write(&labels, b, "labels");
    gv_pairs_write(&annotations, b, "annotations");
    gv_write_owner(b, GV_KIND_PODCLIQUE, p->pclq.meta.name, args->owner_uid);
    grove_builder_close(b);
    p->failed |= labels.failed || annotations.failed;
}

static void write_spec(pod *p, grove_builder *b, gv_str scheduler) {
    const char *index = gv_arena_fmt(p->a, "%lld", (long long)p->rep->index);
    p->failed |= !index;
    const gv_env_var env[] = {
        {GV_ENV_SET_NAME, p->w->set, NULL},
        {GV_ENV_SET_INDEX, gv_str_c(index), NULL},
        {GV_ENV_CLIQUE_NAME, p->pclq.meta.name, NULL},
        {GV_ENV_SERVICE, kept(p, gv_name_service_address(p->a, p->rep->name, p->w->ns)), NULL},
        {GV_ENV_POD_INDEX, GV_STR(""), GV_FIELD_OF_LABEL(GV_LABEL_POD_INDEX)},
    };
    gv_waiter waiter;
    gv_podspec_edit edit = {
        .env = env,
        .n_env = sizeof env / sizeof *env,
        .pod = true,
        .gated = p->args->gated,
        .scheduler = scheduler,
        .hostname = kept(p, gv_name_hostname(p->a, p->c->name, p->args->index)),
        .subdomain = p->rep->name,
        .waiter = waiter_of(p, &waiter) ? &waiter : NULL,
    };
    edit.claims = claims_of(p, &edit.n_claims);
    gv_write_podspec(b, "spec", p->args->pclq_doc, p->pclq.pod_spec, &edit, p->a);
}

grove_status gv_pod_build(const gv_want *w, const gv_pod_args *args, grove_builder *b,
                          grove_error *err) {
    const gv_want_clique *c = &w->cliques[args->clique];
    pod p = {.w = w, .args = args, .c = c, .rep = &w->replicas[c->replica]};
    p.t = p.rep->t;
    gv_pclq_read(args->pclq, &p.pclq);
    gv_str scheduler = gv_get_str(p.pclq.pod_spec, "schedulerName");
    if (scheduler.n == 0) {
        scheduler = gv_str_c(p.t->config->default_scheduler);
    }
    p.adapter = gv_adapter_of(p.t->config, scheduler);
    if (!p.adapter) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "scheduler %.*s is not configured",
                        (int)scheduler.n, scheduler.p);
    }
    gv_arena a;
    gv_arena_init(&a, p.t->env);
    p.a = &a;
    grove_builder_open_object(b, NULL);
    gv_write_kind(b, GV_KIND_POD);
    write_metadata(&p, b);
    write_spec(&p, b, scheduler);
    grove_builder_close(b);
    gv_arena_fini(&a);
    return p.failed ? gv_error_nomem(err) : GROVE_OK;
}
