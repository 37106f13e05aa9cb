/* SPDX-License-Identifier: Apache-2.0 */
/* PodCliques, standalone ones and members of scaling groups. */
#include "model/labels.h"
#include "plan/body.h"
#include "plan/podspec.h"

/* Pods of one replica of the group as the template has it, whatever was scaled since. */
static int64_t template_pods(const gv_template *t, const gv_group *group) {
    int64_t n = 0;
    for (uint32_t k = 0; k < group->n_cliques; k++) {
        n += t->facts[group->cliques[k]].replicas;
    }
    return n;
}

static void label_clique(gv_body *body, const gv_want_clique *c) {
    const gv_want *w = body->w;
    const gv_want_gang *gang = &w->gangs[c->gang];
    gv_pairs *labels = &body->labels;
    gv_pairs_put_all(labels, body->t->pcs.cliques[c->source].labels);
    gv_pairs_put_index(labels, GV_LABEL_SET_REPLICA, body->o->replica);
    gv_pairs_put(labels, GV_LABEL_GANG, gang->name);
    gv_pairs_put(labels, GV_LABEL_TEMPLATE_HASH, c->hash);
    if (c->group != GV_STANDALONE) {
        gv_pairs_put(labels, GV_LABEL_GROUP, w->groups[c->group].name);
        gv_pairs_put_index(labels, GV_LABEL_GROUP_REPLICA, c->group_replica);
    }
    if (c->scaled) {
        gv_pairs_put(labels, GV_LABEL_BASE_GANG, w->gangs[gang->base].name);
    }
}

/* The claim template its GPU containers get, "" for none: the clique's own word counts, then that of its
 * scaling group, then the set's. */
static gv_str mnnvl_template(gv_body *body, const gv_want_clique *c) {
    const gv_pcs *pcs = &body->t->pcs;
    const gv_group *group = c->group == GV_STANDALONE
                                ? NULL
                                : &pcs->groups[body->w->groups[c->group].config];
    const grove_node *layers[] = {pcs->cliques[c->source].annotations,
                                  group ? group->annotations : NULL, pcs->meta.annotations};
    gv_str name = gv_mnnvl_group(layers, 3);
    if (name.n == 0) {
        return name;
    }
    name = gv_name_computedomain(body->a, body->w->set, body->o->replica, name);
    body->failed |= !name.p;
    return name;
}

static void write_waits(gv_body *body) {
    const gv_want_parent *parents = NULL;
    uint32_t n = 0;
    if (gv_want_parents(body->w, body->o->at, body->a, &parents, &n) < 0) {
        body->failed = true;
        return;
    }
    if (n == 0) {
        return;
    }
    grove_builder_open_array(body->b, "startsAfter");
    for (uint32_t i = 0; i < n; i++) {
        gv_write_str(body->b, NULL, parents[i].name);
    }
    grove_builder_close(body->b);
}

static void write_pod_spec(gv_body *body, const gv_want_clique *c, const grove_node *pod_spec) {
    gv_env_var env[3];
    gv_podspec_edit edit = {.env = env, .mnnvl_template = mnnvl_template(body, c)};
    if (c->group != GV_STANDALONE) {
        const gv_group *group = &body->t->pcs.groups[body->w->groups[c->group].config];
        const char *pods = gv_arena_fmt(body->a, "%lld", (long long)template_pods(body->t, group));
        body->failed |= !pods;
        env[0] = (gv_env_var){GV_ENV_GROUP_NAME, GV_STR(""), GV_FIELD_OF_LABEL(GV_LABEL_GROUP)};
        env[1] = (gv_env_var){GV_ENV_GROUP_PODS, gv_str_c(pods), NULL};
        env[2] = (gv_env_var){GV_ENV_GROUP_INDEX, GV_STR(""),
                              GV_FIELD_OF_LABEL(GV_LABEL_GROUP_REPLICA)};
        edit.n_env = 3;
    }
    gv_write_podspec(body->b, "podSpec", body->t->doc, pod_spec, &edit, body->a);
}

static void write_spec(gv_body *body, const gv_want_clique *c) {
    const grove_node *spec = body->t->pcs.cliques[c->source].spec;
    grove_builder *b = body->b;
    grove_builder_open_object(b, "spec");
    const grove_node *m = grove_node_first(spec);
    for (; m; m = grove_node_next(spec, m)) {
        if (gv_member_is(m, "podSpec")) {
            write_pod_spec(body, c, m);
        } else if (!gv_member_is(m, "replicas") && !gv_member_is(m, "startsAfter") &&
                   !gv_member_is(m, "coreMember")) { /* a word about the set */
            grove_builder_link(b, grove_node_key(m, NULL), body->t->doc, m);
        }
    }
    /* What lives belongs to scalers: the number is kept, also where it is below minAvailable. */
    int64_t template_replicas = body->t->facts[c->source].replicas;
    grove_builder_int64(b, "replicas", c->live_replicas < 0 ? template_replicas : c->live_replicas);
    write_waits(body);
    grove_builder_close(b);
}

void gv_build_podclique(gv_body *body) {
    const gv_want_clique *c = &body->w->cliques[body->o->at];
    label_clique(body, c);
    gv_pairs_put_all(&body->annotations, body->t->pcs.cliques[c->source].annotations);
    gv_pairs_drop(&body->annotations, GV_ANNOTATION_TOPOLOGY);
    gv_body_open(body, GV_FINALIZER_CLIQUE);
    write_spec(body, c);
}
