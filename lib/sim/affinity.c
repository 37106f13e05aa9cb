/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a node takes a pod at all: cordon, taints, node selector, node affinity. */
#include "sim/meta.h"
#include "sim/room.h"

/* ---- taints ---- */

static bool tolerates(const grove_node *tolerations, const grove_node *taint) {
    gv_str key = gv_node_get_str(taint, "key"), effect = gv_node_get_str(taint, "effect");
    GV_EACH(t, tolerations) {
        gv_str tkey = gv_node_get_str(t, "key"), teffect = gv_node_get_str(t, "effect");
        bool exists = gv_str_is(gv_node_get_str(t, "operator"), "Exists");
        bool key_ok = (tkey.n == 0 && exists) || gv_str_eq(tkey, key);
        bool effect_ok = teffect.n == 0 || gv_str_eq(teffect, effect);
        bool value_ok = exists ||
                        gv_str_eq(gv_node_get_str(t, "value"), gv_node_get_str(taint, "value"));
        if (key_ok && effect_ok && value_ok) {
            return true;
        }
    }
    return false;
}

static bool taints_allow(const grove_node *node_spec, const grove_node *pod_spec) {
    const grove_node *tolerations = grove_node_get(pod_spec, "tolerations");
    GV_EACH(taint, grove_node_get(node_spec, "taints")) {
        bool soft = gv_str_is(gv_node_get_str(taint, "effect"), "PreferNoSchedule");
        if (!soft && !tolerates(tolerations, taint)) {
            return false;
        }
    }
    return true;
}

/* ---- node selector terms ---- */

static bool in_values(const grove_node *requirement, gv_str value) {
    GV_EACH(v, grove_node_get(requirement, "values")) {
        if (gv_str_eq(gv_node_str(v), value)) {
            return true;
        }
    }
    return false;
}

static bool compares(const grove_node *requirement, gv_str value, bool greater) {
    int64_t have = 0, want = 0;
    gv_str text = gv_node_str(grove_node_first(grove_node_get(requirement, "values")));
    return gv_str_int64(value, &have) && gv_str_int64(text, &want) &&
           (greater ? have > want : have < want);
}

static bool requirement_holds(const grove_node *r, bool present, gv_str value) {
    gv_str op = gv_node_get_str(r, "operator");
    if (gv_str_is(op, "In")) {
        return present && in_values(r, value);
    }
    if (gv_str_is(op, "NotIn")) {
        return !present || !in_values(r, value);
    }
    if (gv_str_is(op, "Exists")) {
        return present;
    }
    if (gv_str_is(op, "DoesNotExist")) {
        return !present;
    }
    return present && (gv_str_is(op, "Gt") || gv_str_is(op, "Lt")) &&
           compares(r, value, gv_str_is(op, "Gt"));
}

static bool term_holds(const grove_node *term, const gv_sim_object *node) {
    const grove_node *labels = grove_node_get(grove_node_get(gv_sim_root(node), "metadata"),
                                              "labels");
    const grove_node *expressions = grove_node_get(term, "matchExpressions");
    const grove_node *fields = grove_node_get(term, "matchFields");
    if (grove_node_size(expressions) + grove_node_size(fields) == 0) {
        return false;
    }
    GV_EACH(r, expressions) {
        const grove_node *label = gv_node_get(labels, gv_node_get_str(r, "key"));
        if (!requirement_holds(r, label != NULL, gv_node_str(label))) {
            return false;
        }
    }
    GV_EACH(r, fields) {
        bool name = gv_str_is(gv_node_get_str(r, "key"), "metadata.name");
        if (!requirement_holds(r, name, node->name)) {
            return false;
        }
    }
    return true;
}

static const grove_node *node_affinity(const grove_node *pod_spec) {
    return grove_node_get(grove_node_get(pod_spec, "affinity"), "nodeAffinity");
}

static bool affinity_allows(const grove_node *pod_spec, const gv_sim_object *node) {
    const grove_node *required = grove_node_get(node_affinity(pod_spec),
                                                "requiredDuringSchedulingIgnoredDuringExecution");
    if (!required) {
        return true;
    }
    GV_EACH(term, grove_node_get(required, "nodeSelectorTerms")) {
        if (term_holds(term, node)) {
            return true;
        }
    }
    return false;
}

static bool selector_allows(const grove_node *pod_spec, const gv_sim_object *node) {
    const grove_node *labels = grove_node_get(grove_node_get(gv_sim_root(node), "metadata"),
                                              "labels");
    GV_EACH(want, grove_node_get(pod_spec, "nodeSelector")) {
        const grove_node *have = gv_node_get(labels, gv_node_key(want));
        if (!have || !gv_str_eq(gv_node_str(have), gv_node_str(want))) {
            return false;
        }
    }
    return true;
}

bool gv_room_allows(const gv_sim_object *node, const gv_sim_object *pod) {
    const grove_node *node_spec = grove_node_get(gv_sim_root(node), "spec");
    const grove_node *pod_spec = grove_node_get(gv_sim_root(pod), "spec");
    return !node->dying && !gv_node_get_bool(node_spec, "unschedulable") &&
           taints_allow(node_spec, pod_spec) && selector_allows(pod_spec, node) &&
           affinity_allows(pod_spec, node);
}

int64_t gv_room_preference(const gv_sim_object *node, const gv_sim_object *pod) {
    const grove_node *spec = grove_node_get(gv_sim_root(pod), "spec");
    const grove_node *list = grove_node_get(node_affinity(spec),
                                            "preferredDuringSchedulingIgnoredDuringExecution");
    int64_t sum = 0;
    GV_EACH(p, list) {
        if (term_holds(grove_node_get(p, "preference"), node)) {
            sum += gv_node_get_int(p, "weight", 0);
        }
    }
    return sum;
}
