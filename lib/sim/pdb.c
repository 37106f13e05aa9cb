/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what a disruption budget allows. */
#include "sim/pdb.h"

#include "sim/meta.h"
#include "value/scalar.h"

static const grove_node *labels_of(const gv_sim_object *o) {
    return grove_node_get(grove_node_get(gv_sim_root(o), "metadata"), "labels");
}

typedef struct count {
    int32_t healthy, total;
} count;

static count count_pods(const grove_sim *sim, const gv_sim_object *pdb, const gv_selector *s) {
    count n = {0, 0};
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[GV_KIND_POD].objects, &i));) {
        const gv_sim_object *o = e->value;
        if (gv_str_eq(o->ns, pdb->ns) && gv_selector_matches(s, labels_of(o))) {
            n.total++;
            n.healthy += o->pod_ready ? 1 : 0;
        }
    }
    return n;
}

/* How many of `total` must stay; 0 when the budget says nothing. */
static int32_t needed(const grove_node *spec, int32_t total) {
    gv_int_or_string v;
    int32_t n = 0;
    const grove_node *min = grove_node_get(spec, "minAvailable");
    const grove_node *max = grove_node_get(spec, "maxUnavailable");
    if (min && gv_int_or_string_read(min, &v, NULL) == GROVE_OK &&
        gv_int_or_percent(&v, total, true, &n, NULL) == GROVE_OK) {
        return n;
    }
    if (max && gv_int_or_string_read(max, &v, NULL) == GROVE_OK &&
        gv_int_or_percent(&v, total, true, &n, NULL) == GROVE_OK) {
        return total - n;
    }
    return 0;
}

grove_status gv_sim_pdb_allows(grove_sim *sim, const gv_sim_object *pod, bool *out_allowed,
                               char *why, size_t cap) {
    gv_map_entry *e;
    bool allowed = true;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[GV_KIND_PDB].objects, &i));) {
        const gv_sim_object *pdb = e->value;
        const grove_node *spec = grove_node_get(gv_sim_root(pdb), "spec");
        gv_selector *s = NULL;
        if (!gv_str_eq(pdb->ns, pod->ns)) {
            continue;
        }
        grove_status st = gv_selector_from_node(sim->env, grove_node_get(spec, "selector"), &s,
                                                NULL);
        if (st == GROVE_E_NOMEM) {
            return st;
        }
        if (s && gv_selector_matches(s, labels_of(pod)) && pod->pod_ready) {
            count n = count_pods(sim, pdb, s);
            int32_t keep = needed(spec, n.total);
            if (n.healthy - 1 < keep) {
                allowed = false;
                (void)gv_fmt(why, cap,
                             "The disruption budget %s needs %d healthy pods and has %d currently",
                             pdb->name.p, keep, n.healthy);
            }
        }
        gv_selector_free(s);
    }
    *out_allowed = allowed;
    return GROVE_OK;
}
