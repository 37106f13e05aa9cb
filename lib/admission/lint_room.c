/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the given nodes cannot hold: a pod that is larger than each of them, and devices that a whole set
 * needs more of than there are. Other pods on the nodes are not known here, so that silence proves nothing.
 */
#include "admission/lint.h"

#include <grove/quantity.h>

static grove_quantity zero(void) {
    return (grove_quantity){0, 0, GROVE_QUANTITY_DECIMAL_SI, 0};
}

static bool read_amount(const grove_node *node, grove_quantity *out) {
    gv_str text = gv_node_str(node);
    return text.n > 0 && grove_quantity_parse(text.p, text.n, out, NULL) == GROVE_OK;
}

static grove_quantity sum(grove_quantity a, grove_quantity b) {
    grove_quantity out = a;
    return grove_quantity_add(&a, &b, &out) == GROVE_OK ? out : a;
}

/* What all containers of a pod ask for together; the limit stands for a request that is not given. */
static grove_quantity need_of_pod(const grove_node *pod, gv_str resource) {
    grove_quantity all = zero(), one;
    GV_EACH(container, grove_node_get(pod, "containers")) {
        const grove_node *resources = grove_node_get(container, "resources");
        const grove_node *amount = gv_node_get(grove_node_get(resources, "requests"), resource);
        amount = amount ? amount : gv_node_get(grove_node_get(resources, "limits"), resource);
        if (read_amount(amount, &one)) {
            all = sum(all, one);
        }
    }
    return all;
}

static grove_quantity room_of_node(const grove_node *node, gv_str resource) {
    const grove_node *status = grove_node_get(node, "status");
    const grove_node *amount = gv_node_get(grove_node_get(status, "allocatable"), resource);
    grove_quantity room = zero();
    amount = amount ? amount : gv_node_get(grove_node_get(status, "capacity"), resource);
    return read_amount(amount, &room) ? room : zero();
}

/* ---- one pod ---- */

static bool fits_some_node(const gv_lint *l, gv_str resource, const grove_quantity *need) {
    GV_EACH(node, gv_lint_nodes(l)) {
        grove_quantity room = room_of_node(node, resource);
        if (grove_quantity_compare(need, &room) <= 0) {
            return true;
        }
    }
    return false;
}

static void check_pod(gv_lint *l, const grove_node *clique, const gv_path *containers) {
    static const char *const lists[] = {"requests", "limits"};
    const grove_node *pod = gv_node_path(clique, "spec.podSpec");
    uint32_t i = 0;
    GV_EACH(container, grove_node_get(pod, "containers")) {
        gv_path entry = gv_path_index(containers, i++);
        gv_path here = gv_path_key(&entry, "resources", 9);
        const grove_node *resources = grove_node_get(container, "resources");
        for (size_t k = 0; k < 2; k++) {
            GV_EACH(amount, grove_node_get(resources, lists[k])) {
                gv_str name = gv_node_key(amount);
                grove_quantity need = need_of_pod(pod, name);
                bool told = k > 0 && gv_node_get(grove_node_get(resources, lists[0]), name);
                if (!told && !fits_some_node(l, name, &need)) {
                    GV_LINT(l, GV_CODE_LINT_ROOM, &here, amount,
                            "no node has as much %.*s as one pod asks for", (int)name.n, name.p);
                }
            }
        }
    }
}

/* ---- the whole set ---- */

/* Pods of a clique in one set replica: the least that its gang needs, or the most there can be. */
static int64_t pods_of(const gv_lint *l, const grove_node *clique, bool most) {
    const grove_node *spec = grove_node_get(clique, "spec");
    const grove_node *group = gv_lint_group_of(l, gv_node_get_str(clique, "name"));
    int64_t own = most ? gv_lint_most(spec, "autoScalingConfig")
                       : gv_node_get_int(spec, "minAvailable", 1);
    int64_t copies = !group ? 1
                     : most ? gv_lint_most(group, "scaleConfig")
                            : gv_node_get_int(group, "minAvailable", 1);
    return own > 0 && copies > 0 && own <= INT64_MAX / copies ? own * copies : 0;
}

static grove_quantity need_of_set(const gv_lint *l, gv_str resource, bool most) {
    int64_t replicas = gv_node_get_int(grove_node_get(l->set, "spec"), "replicas", 0);
    grove_quantity all = zero();
    GV_EACH(clique, l->cliques) {
        grove_quantity one = need_of_pod(gv_node_path(clique, "spec.podSpec"), resource), many;
        int64_t pods = pods_of(l, clique, most);
        if (grove_quantity_mul(&one, pods, &many) == GROVE_OK) {
            all = sum(all, many);
        }
    }
    grove_quantity out = all;
    /* the least is one copy: the others may wait */
    return most && grove_quantity_mul(&all, replicas, &out) == GROVE_OK ? out : all;
}

static void check_total(gv_lint *l, gv_str resource, const grove_node *at) {
    grove_quantity room = zero(), least = need_of_set(l, resource, false);
    grove_quantity most = need_of_set(l, resource, true);
    GV_EACH(node, gv_lint_nodes(l)) {
        room = sum(room, room_of_node(node, resource));
    }
    if (grove_quantity_compare(&least, &room) > 0) {
        GV_LINT(l, GV_CODE_LINT_ROOM, &l->tmpl_path, at,
                "all nodes together have less %.*s than one copy needs at the least",
                (int)resource.n, resource.p);
    } else if (grove_quantity_compare(&most, &room) > 0) {
        GV_LINT(l, GV_CODE_LINT_ROOM, &l->tmpl_path, at,
                "all nodes together have less %.*s than the set needs when it is scaled to its "
                "most",
                (int)resource.n, resource.p);
    }
}

static bool is_device(gv_str resource) {
    return resource.n > 0 && memchr(resource.p, '/', resource.n) != NULL;
}

/* Devices of all pods; identical findings are kept once, so that a resource may come up again. */
static void check_totals(gv_lint *l) {
    static const char *const lists[] = {"requests", "limits"};
    GV_EACH(clique, l->cliques) {
        GV_EACH(container, gv_node_path(clique, "spec.podSpec.containers")) {
            const grove_node *resources = grove_node_get(container, "resources");
            for (size_t k = 0; k < 2; k++) {
                GV_EACH(amount, grove_node_get(resources, lists[k])) {
                    if (is_device(gv_node_key(amount))) {
                        check_total(l, gv_node_key(amount), l->tmpl);
                    }
                }
            }
        }
    }
}

void gv_lint_room(gv_lint *l) {
    uint32_t i = 0;
    if (!gv_lint_nodes(l)) {
        return;
    }
    GV_EACH(clique, l->cliques) {
        gv_path entry = gv_path_index(&l->cliques_path, i++);
        gv_path spec = gv_path_key(&entry, "spec", 4), pod = gv_path_key(&spec, "podSpec", 7);
        gv_path containers = gv_path_key(&pod, "containers", 10);
        check_pod(l, clique, &containers);
    }
    check_totals(l);
}
