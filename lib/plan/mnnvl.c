/* SPDX-License-Identifier: Apache-2.0 */
/* Auto-MNNVL: who is enrolled in which group, and what counts as a GPU. */
#include <grove/quantity.h>

#include "model/labels.h"
#include "plan/template_def.h"

gv_str gv_mnnvl_group(const grove_node *const *layers, uint32_t n_layers) {
    for (uint32_t i = 0; i < n_layers; i++) {
        const grove_node *value = grove_node_get(layers[i], GV_ANNOTATION_MNNVL);
        if (value) {
            gv_str group = gv_view_str(value);
            return gv_str_is(group, GV_MNNVL_NONE) ? GV_STR("") : group;
        }
    }
    return GV_STR("");
}

static bool is_zero(const grove_node *quantity) {
    size_t n = 0;
    const char *text = grove_node_textn(quantity, &n);
    grove_quantity q;
    return !text || (grove_quantity_parse(text, n, &q, NULL) == GROVE_OK && q.hi == 0 && q.lo == 0);
}

bool gv_container_wants_gpu(const grove_node *container) {
    const grove_node *resources = grove_node_get(container, "resources");
    const grove_node *limit = grove_node_get(grove_node_get(resources, "limits"), GV_RESOURCE_GPU);
    const grove_node *request = grove_node_get(grove_node_get(resources, "requests"),
                                               GV_RESOURCE_GPU);
    return !is_zero(limit) || !is_zero(request);
}

static bool some_wants_gpu(const grove_node *containers) {
    const grove_node *c = grove_node_first(containers);
    for (; c; c = grove_node_next(containers, c)) {
        if (gv_container_wants_gpu(c)) {
            return true;
        }
    }
    return false;
}

bool gv_pod_spec_wants_gpu(const grove_node *pod_spec) {
    return some_wants_gpu(grove_node_get(pod_spec, "containers")) ||
           some_wants_gpu(grove_node_get(pod_spec, "initContainers"));
}

bool gv_mnnvl_domains(gv_template *t) {
    t->domains = gv_arena_array(&t->arena, gv_str, t->pcs.n_cliques + 1);
    if (!t->domains) {
        return false;
    }
    if (!t->config->auto_mnnvl) {
        return true;
    }
    for (uint32_t c = 0; c < t->pcs.n_cliques; c++) {
        const gv_clique *clique = &t->pcs.cliques[c];
        const grove_node *layers[] = {
            clique->annotations,
            clique->group < 0 ? NULL : t->pcs.groups[clique->group].annotations,
            t->pcs.meta.annotations,
        };
        gv_str group = gv_mnnvl_group(layers, 3);
        bool known = group.n == 0 || !t->facts[c].gpu;
        for (uint32_t i = 0; !known && i < t->n_domains; i++) {
            known = gv_str_eq(t->domains[i], group);
        }
        if (!known) {
            t->domains[t->n_domains++] = group;
        }
    }
    return true;
}
