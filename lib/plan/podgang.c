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

void gv_gang_annotations(const gv_want *w, uint32_t gang, gv_pairs *annotations) {
    const gv_template *t = w->replicas[w->gangs[gang].replica].t;
    gv_pairs_put_foreign(annotations, t->pcs.meta.annotations);
    if (w->gangs[gang].has_topology) {
        gv_pairs_put(annotations, GV_ANNOTATION_TOPOLOGY, gv_pcs_topology_name(&t->pcs));
    }
}

const gv_group_config *gv_gang_group_configs(const gv_want *w, uint32_t gang, gv_arena *a,
                                             uint32_t *out_n) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_want_replica *rep = &w->replicas[g->replica];
    const gv_template *t = rep->t;
    bool base = g->group == GV_STANDALONE && t->config->topology_enabled;
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
