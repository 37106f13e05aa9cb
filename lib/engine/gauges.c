/* SPDX-License-Identifier: Apache-2.0 */
/* What stands at a moment and is worth watching: waiting pods and gangs, and what incomplete gangs hold. */
#include "engine/engine.h"
#include "model/labels.h"
#include "value/doc.h"

static int64_t older(int64_t oldest, int64_t now, int64_t since) {
    return since != GV_TIME_NONE && now - since > oldest ? now - since : oldest;
}

/* Neither running nor starting: its minimum has no nodes yet. */
static bool is_incomplete(const gv_object *gang) {
    gv_str phase = gv_node_get_str(gv_node_path(gv_object_node(gang), "status"), "phase");
    return phase.n == 0 || gv_str_is(phase, GV_PHASE_PENDING);
}

static void look_at_pod(const grove_engine *e, const gv_pod *pod, int64_t now,
                        grove_engine_gauges *g) {
    if (!pod->gang[0] || !gv_pod_is_active(pod)) {
        return;
    }
    if (pod->n_gates > 0) {
        g->pods_gated++;
        g->oldest_gate_ns = older(g->oldest_gate_ns, now, pod->head.created);
    }
    const gv_object *gang = gv_pod_is_bound(pod)
                                ? gv_store_get(e->store, GV_KIND_PODGANG, gv_str_c(pod->head.ns),
                                               gv_str_c(pod->gang))
                                : NULL;
    for (uint32_t i = 0; gang && is_incomplete(gang) && i < pod->n_requests; i++) {
        if (strcmp(pod->requests[i].name, GV_RESOURCE_GPU) == 0) {
            g->gpus_held += (uint64_t)pod->requests[i].amount;
        }
    }
}

/* Of a fraction as the planner writes it: "1" or "0.873". */
static uint64_t thousandths(const grove_node *score) {
    gv_str text = {NULL, 0};
    uint64_t value = 0, left = 0;
    bool fraction = false;
    text.p = grove_node_textn(score, &text.n);
    for (size_t i = 0; text.p && i < text.n && !(fraction && left == 0); i++) {
        if (text.p[i] == '.') {
            fraction = true;
            left = 3;
        } else if (text.p[i] >= '0' && text.p[i] <= '9' && value < 100000) {
            value = value * 10 + (uint64_t)(text.p[i] - '0');
            left -= fraction;
        }
    }
    for (left = fraction ? left : 3; left > 0; left--) {
        value *= 10;
    }
    return value;
}

static void look_at_gang(const gv_object *gang, int64_t now, grove_engine_gauges *g) {
    const grove_node *score = grove_node_get(gv_node_path(gv_object_node(gang), "status"),
                                             "placementScore");
    if (is_incomplete(gang)) {
        g->gangs_incomplete++;
        g->longest_gang_wait_ns = older(g->longest_gang_wait_ns, now, gang->u.head.created);
    }
    if (grove_node_type(score) == GROVE_NUMBER) {
        g->gangs_scored++;
        g->score_thousandths += thousandths(score);
    }
}

grove_status grove_engine_gauges_get(const grove_engine *e, int64_t now_ns,
                                     grove_engine_gauges *out_gauges) {
    if (!e || !out_gauges || out_gauges->size < offsetof(grove_engine_gauges, oldest_gate_ns)) {
        return GROVE_E_INVALID;
    }
    grove_engine_gauges g = {0};
    const gv_object *o = gv_store_of_kind(e->store, GV_KIND_POD)->first;
    for (; o; o = gv_list_next(o, GV_LIST_KIND)) {
        look_at_pod(e, &o->u.pod, now_ns, &g);
    }
    o = gv_store_of_kind(e->store, GV_KIND_PODGANG)->first;
    for (; o; o = gv_list_next(o, GV_LIST_KIND)) {
        look_at_gang(o, now_ns, &g);
    }
    uint32_t size = out_gauges->size < sizeof g ? out_gauges->size : (uint32_t)sizeof g;
    g.size = out_gauges->size;
    memcpy(out_gauges, &g, size);
    return GROVE_OK;
}
