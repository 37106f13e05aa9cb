/* SPDX-License-Identifier: Apache-2.0 */
/* kai-scheduler: a gang becomes a KAI PodGroup, its PodGroups and group configs become sub-groups. */
#include "plan/adapters/adapters.h"

#include "base/mem.h"
#include "model/labels.h"
#include "model/queues.h"

static void mark_pod(gv_str gang, gv_str clique, gv_pod_marks *out) {
    gv_mark(out->annotations, &out->n_annotations, GV_STR(GV_ANNOTATION_KAI_SKIP), GV_STR("true"));
    gv_mark(out->annotations, &out->n_annotations, GV_STR(GV_ANNOTATION_KAI_GROUP), gang);
    gv_mark(out->labels, &out->n_labels, GV_STR(GV_LABEL_KAI_SUBGROUP), clique);
}

/* ---- what may be missing ---- */

/* The set's queue, which every clique that names one must share; else the one its cliques agree on. */
static gv_str queue_of(const gv_pcs *pcs) {
    gv_str queue = gv_queue_key_of(pcs->meta.labels, pcs->meta.annotations);
    for (uint32_t i = 0; i < pcs->n_cliques; i++) {
        gv_str one = gv_queue_key_of(pcs->cliques[i].labels, pcs->cliques[i].annotations);
        if (one.n && queue.n && !gv_str_eq(one, queue)) {
            return GV_STR("");
        }
        queue = queue.n ? queue : one;
    }
    return queue;
}

static gv_str topology_of(const gv_pcs *pcs, bool has_topology) {
    gv_str name = has_topology ? gv_pcs_topology_name(pcs) : GV_STR("");
    return name.n ? name : gv_get_str(pcs->meta.annotations, GV_ANNOTATION_KAI_TOPOLOGY);
}

static grove_status check(const gv_want *w, uint32_t gang, gv_arena *a, gv_str *out_problem) {
    const gv_template *t = w->replicas[w->gangs[gang].replica].t;
    (void)a;
    *out_problem = GV_STR("");
    if (queue_of(&t->pcs).n == 0) {
        *out_problem = GV_STR("no single kai.scheduler/queue can be told from the set and its "
                              "cliques");
    } else if (w->gangs[gang].has_topology && topology_of(&t->pcs, true).n == 0) {
        *out_problem = GV_STR("a pack constraint is given but no topology is named");
    }
    return GROVE_OK;
}

/* ---- the PodGroup ---- */

typedef struct kai {
    const gv_want *w;
    const gv_want_gang *g;
    const gv_template *t;
    gv_str topology;
    grove_builder *b;
} kai;

/* even_empty: the gang's own constraint is an empty object where there is none. */
static void write_constraint(kai *k, const gv_topology *constraint, bool even_empty) {
    gv_str required = gv_template_level_key(k->t, constraint->required);
    gv_str preferred = gv_template_level_key(k->t, constraint->preferred);
    bool any = required.n || preferred.n;
    if (!any && !even_empty) {
        return;
    }
    grove_builder_open_object(k->b, "topologyConstraint");
    if (any) {
        gv_write_str(k->b, "topology", k->topology);
    }
    if (required.n) {
        gv_write_str(k->b, "requiredTopologyLevel", required);
    }
    if (preferred.n) {
        gv_write_str(k->b, "preferredTopologyLevel", preferred);
    }
    grove_builder_close(k->b);
}

static void write_sub_groups(kai *k, const gv_group_config *configs, uint32_t n_configs) {
    grove_builder *b = k->b;
    grove_builder_open_array(b, "subGroups");
    for (uint32_t i = 0; i < n_configs; i++) {
        if (configs[i].n_cliques == 0) {
            continue;
        }
        grove_builder_open_object(b, NULL);
        gv_write_str(b, "name", configs[i].name);
        grove_builder_int64(b, "minSubGroup", configs[i].n_cliques);
        write_constraint(k, configs[i].topology, false);
        grove_builder_close(b);
    }
    for (uint32_t i = 0; i < k->g->n_cliques; i++) {
        uint32_t at = k->g->first_clique + i;
        const gv_want_clique *c = &k->w->cliques[at];
        grove_builder_open_object(b, NULL);
        gv_write_str(b, "name", c->name);
        grove_builder_int64(b, "minMember", c->gang_minimum);
        for (uint32_t j = 0; j < n_configs; j++) {
            if (at >= configs[j].first_clique &&
                at < configs[j].first_clique + configs[j].n_cliques) {
                gv_write_str(b, "parent", configs[j].name);
            }
        }
        write_constraint(k, &k->t->pcs.cliques[c->clique].topology, false);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static grove_status build(const gv_want *w, uint32_t gang, gv_str owner_uid, gv_arena *a,
                          grove_builder *b, grove_error *err) {
    const gv_want_gang *g = &w->gangs[gang];
    const gv_template *t = w->replicas[g->replica].t;
    kai k = {w, g, t, topology_of(&t->pcs, g->has_topology), b};
    gv_pairs labels = {.a = a}, annotations = {.a = a};
    uint32_t n_configs = 0;
    const gv_group_config *configs = gv_gang_group_configs(w, gang, a, &n_configs);
    if (!configs) {
        return gv_error_nomem(err);
    }
    gv_gang_labels(w, gang, &labels);
    gv_gang_annotations(w, gang, &annotations);
    gv_pairs_put(&annotations, GV_ANNOTATION_KAI_SKIP, GV_STR("true"));
    gv_open_gang_object(w, gang, GV_KIND_KAI_PODGROUP, owner_uid, &labels, &annotations, b);
    grove_builder_open_object(b, "spec");
    grove_builder_int64(b, "minMember", gv_gang_minimum(w, gang));
    gv_write_str(b, "queue", queue_of(&t->pcs));
    if (t->pcs.priority_class.n) {
        gv_write_str(b, "priorityClassName", t->pcs.priority_class);
    }
    write_constraint(&k, g->topology, true);
    write_sub_groups(&k, configs, n_configs);
    grove_builder_close(b);
    return labels.failed || annotations.failed ? gv_error_nomem(err) : GROVE_OK;
}

/* ---- the Topology ---- */

static const grove_node *levels_of(const grove_node *object) {
    return grove_node_at_path(object, "/spec/levels");
}

/* Cluster-wide, named as the binding and controlled by it; its levels can never be changed in place. */
static void build_topology(const grove_node *binding, gv_str owner_uid, grove_builder *b) {
    gv_str name = gv_get_str(grove_node_get(binding, "metadata"), "name");
    const grove_node *levels = levels_of(binding);
    grove_builder_open_object(b, NULL);
    gv_write_kind(b, GV_KIND_KAI_TOPOLOGY);
    grove_builder_open_object(b, "metadata");
    gv_write_str(b, "name", name);
    gv_write_owner(b, GV_KIND_CLUSTERTOPOLOGYBINDING, name, owner_uid);
    grove_builder_close(b);
    grove_builder_open_object(b, "spec");
    grove_builder_open_array(b, "levels");
    for (const grove_node *l = grove_node_first(levels); l; l = grove_node_next(levels, l)) {
        grove_builder_open_object(b, NULL);
        gv_write_str(b, "nodeLabel", gv_get_str(l, "key"));
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

static bool topology_fits(const grove_node *binding, const grove_node *topology) {
    const grove_node *want = levels_of(binding), *have = levels_of(topology);
    const grove_node *at = grove_node_first(have);
    if (grove_node_size(want) != grove_node_size(have)) {
        return false;
    }
    for (const grove_node *l = grove_node_first(want); l; l = grove_node_next(want, l)) {
        if (!gv_str_eq(gv_get_str(l, "key"), gv_get_str(at, "nodeLabel"))) {
            return false;
        }
        at = grove_node_next(have, at);
    }
    return true;
}

const gv_adapter *gv_adapter_kai(void) {
    static const gv_adapter adapter = {
        .profile = GV_SCHEDULER_KAI,
        .caps = GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY,
        .gang_kind = GV_KIND_KAI_PODGROUP,
        .topology_kind = GV_KIND_KAI_TOPOLOGY,
        .mark_pod = mark_pod,
        .check = check,
        .build = build,
        .build_topology = build_topology,
        .topology_fits = topology_fits,
    };
    return &adapter;
}
