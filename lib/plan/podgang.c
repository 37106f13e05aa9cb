/* SPDX-License-Identifier: Apache-2.0 */
/* PodGangs: the pods that only make sense together, base gangs and those of scaled group replicas. */
#include "model/labels.h"
#include "plan/body.h"

void gv_gang_labels(const gv_want *w, uint32_t gang, gv_pairs *labels) {
    const gv_template *t = w->replicas[w->gangs[gang].replica].t;
    gv_pairs_put_foreign(labels, t->pcs.meta.labels);
    gv_put_default_labels(labels, w->set);
    gv_pairs_put(labels, GV_LABEL_COMPONENT, GV_STR(GV_COMPONENT_GANG));
    gv_pairs_put(labels, GV_LABEL_SCHEDULER, t->gang_scheduler);
}

/* ---- what the engine is told beside the constraints; nothing where somebody else chooses the nodes ---- */

static const char *mode_word(gv_wish wish) {
    return wish == GV_WISH_REQUIRE ? "Require" : "Prefer";
}

gv_str gv_gang_anchor_key(const gv_want *w, uint32_t gang) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_template *t = w->replicas[g->replica].t;
    const gv_topology *own = &t->pcs.topology;
    if (t->pcs.cross_gang_pack == GV_WISH_NONE || g->role != GV_NO_ROLE) {
        return GV_STR("");
    }
    return gv_template_level_key(t, own->required.n ? own->required : own->preferred);
}

/* The group whose replica the gang is: a scaled gang, or a base gang that holds nothing but one. */
static const gv_want_group *group_of_gang(const gv_want *w, const gv_want_gang *g) {
    const gv_want_replica *rep = &w->replicas[g->replica];
    if (g->group != GV_STANDALONE) {
        return &w->groups[g->group];
    }
    bool alone = g->role == GV_NO_ROLE && rep->n_standalone == rep->n_outside && rep->n_groups == 1;
    const gv_want_group *only = alone ? &w->groups[rep->first_group] : NULL;
    return only && only->min_available == 1 ? only : NULL;
}

static const gv_spread *spread_of(const gv_want *w, const gv_want_gang *g, gv_str *out_family) {
    const gv_template *t = w->replicas[g->replica].t;
    const gv_want_group *group = group_of_gang(w, g);
    bool base = g->group == GV_STANDALONE && g->role == GV_NO_ROLE;
    *out_family = w->set;
    if (base && t->pcs.topology.spread.domain.n) {
        return &t->pcs.topology.spread;
    }
    *out_family = group ? group->name : w->set;
    return group ? &t->pcs.groups[group->config].topology.spread : NULL;
}

static void put_wishes(const gv_want *w, uint32_t gang, gv_pairs *annotations) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_template *t = w->replicas[g->replica].t;
    gv_str key = gv_gang_anchor_key(w, gang), base = w->gangs[g->base].name, family;
    if (!t->gang_adapter || !(t->gang_adapter->caps & GV_ADAPTER_PLACED)) {
        return;
    }
    if (key.n) {
        const char *text = gv_arena_fmt(annotations->a, "%s %.*s %.*s",
                                        mode_word(t->pcs.cross_gang_pack), (int)key.n, key.p,
                                        (int)base.n, base.p);
        annotations->failed |= !text;
        gv_pairs_put(annotations, GV_ANNOTATION_CROSS_GANG, gv_str_c(text ? text : ""));
    }
    const gv_spread *spread = spread_of(w, g, &family);
    key = spread && spread->mode != GV_WISH_NONE ? gv_template_level_key(t, spread->domain)
                                                 : GV_STR("");
    if (key.n) {
        const char *text = gv_arena_fmt(annotations->a, "%s %.*s %lld %.*s",
                                        mode_word(spread->mode), (int)key.n, key.p,
                                        (long long)spread->max_skew, (int)family.n, family.p);
        annotations->failed |= !text;
        gv_pairs_put(annotations, GV_ANNOTATION_SPREAD, gv_str_c(text ? text : ""));
    }
}

void gv_gang_annotations(const gv_want *w, uint32_t gang, gv_pairs *annotations) {
    const gv_template *t = w->replicas[w->gangs[gang].replica].t;
    gv_pairs_put_foreign(annotations, t->pcs.meta.annotations);
    if (w->gangs[gang].has_topology) {
        gv_pairs_put(annotations, GV_ANNOTATION_TOPOLOGY, gv_pcs_topology_name(&t->pcs));
    }
    put_wishes(w, gang, annotations);
}

const gv_group_config *gv_gang_group_configs(const gv_want *w, uint32_t gang, gv_arena *a,
                                             uint32_t *out_n) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_want_replica *rep = &w->replicas[g->replica];
    const gv_template *t = rep->t;
    bool base = g->group == GV_STANDALONE && g->role == GV_NO_ROLE && t->config->topology_enabled;
    int64_t n = 0;
    for (uint32_t i = 0; base && i < rep->n_groups; i++) {
        n += t->pcs.groups[i].topology.set ? w->groups[rep->first_group + i].min_available : 0;
    }
    gv_group_config *list = gv_arena_array(a, gv_group_config, n + 1);
    uint32_t at = 0;
    for (uint32_t i = 0; list && base && i < rep->n_groups; i++) {
        const gv_want_group *group = &w->groups[rep->first_group + i];
        for (int64_t r = 0; t->pcs.groups[i].topology.set && r < group->min_available; r++) {
            gv_group_config *c = &list[at++];
            *c = (gv_group_config){
                .name = gv_name_group_config(a, group->name, r),
                .topology = &t->pcs.groups[i].topology,
                .first_clique = gv_want_member(group, r, 0),
                .n_cliques = group->n_members,
            };
            if (!c->name.p) {
                return NULL;
            }
        }
    }
    *out_n = at;
    return list;
}

static void write_podgroups(gv_body *body, const gv_want_gang *g) {
    grove_builder *b = body->b;
    grove_builder_open_array(b, "podgroups");
    for (uint32_t i = 0; i < g->n_cliques; i++) {
        const gv_want_clique *c = &body->w->cliques[g->first_clique + i];
        const gv_gang_refs *refs = body->args->refs ? &body->args->refs[i] : NULL;
        grove_builder_open_object(b, NULL);
        gv_write_str(b, "name", c->name);
        grove_builder_open_array(b, "podReferences");
        for (uint32_t p = 0; refs && p < refs->n; p++) {
            grove_builder_open_object(b, NULL);
            gv_write_str(b, "namespace", body->w->ns);
            gv_write_str(b, "name", refs->names[p]);
            grove_builder_close(b);
        }
        grove_builder_close(b);
        grove_builder_int64(b, "minReplicas", c->gang_minimum);
        gv_write_topology(b, body->t, &body->t->pcs.cliques[c->clique].topology);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void write_group_configs(gv_body *body) {
    grove_builder *b = body->b;
    uint32_t n = 0;
    const gv_group_config *configs = gv_gang_group_configs(body->w, body->o->at, body->a, &n);
    body->failed |= !configs;
    if (!configs || n == 0) {
        return;
    }
    grove_builder_open_array(b, "topologyConstraintGroupConfigs");
    for (uint32_t i = 0; i < n; i++) {
        grove_builder_open_object(b, NULL);
        gv_write_str(b, "name", configs[i].name);
        grove_builder_open_array(b, "podGroupNames");
        for (uint32_t k = 0; k < configs[i].n_cliques; k++) {
            gv_write_str(b, NULL, body->w->cliques[configs[i].first_clique + k].name);
        }
        grove_builder_close(b);
        gv_write_topology(b, body->t, configs[i].topology);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

void gv_build_podgang(gv_body *body) {
    const gv_want_gang *g = &body->w->gangs[body->o->at];
    gv_gang_labels(body->w, body->o->at, &body->labels);
    gv_gang_annotations(body->w, body->o->at, &body->annotations);
    gv_body_open(body, NULL);
    grove_builder_open_object(body->b, "spec");
    write_podgroups(body, g);
    gv_write_topology(body->b, body->t, g->topology);
    write_group_configs(body);
    if (body->t->pcs.priority_class.n) {
        gv_write_str(body->b, "priorityClassName", body->t->pcs.priority_class);
    }
    grove_builder_close(body->b);
}
