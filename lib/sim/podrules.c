/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two pod specs for what an update may change. */
#include "sim/podrules.h"

#include "sim/meta.h"
#include "value/doc.h"

/* Members of two objects differ in nothing but `except`. */
static bool same_but(const grove_node *a, const grove_node *b, const char *except) {
    GV_EACH(m, a) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, except) != 0 && !gv_sim_node_same(m, grove_node_get(b, key))) {
            return false;
        }
    }
    GV_EACH(m, b) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, except) != 0 && !grove_node_get(a, key)) {
            return false;
        }
    }
    return true;
}

/* The same containers in the same order, but for their images. */
static bool same_but_images(const grove_node *a, const grove_node *b) {
    const grove_node *y = grove_node_first(b);
    GV_EACH(x, a) {
        if (!y || !same_but(x, y, "image")) {
            return false;
        }
        y = grove_node_next(b, y);
    }
    return y == NULL;
}

/* Every element of `part` is an element of `whole`. */
static bool within(const grove_node *part, const grove_node *whole) {
    GV_EACH(p, part) {
        bool found = false;
        GV_EACH(w, whole) {
            found = found || grove_node_equal(p, w);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool allowed(const char *key, const grove_node *was, const grove_node *next, bool gated) {
    if (strcmp(key, "containers") == 0 || strcmp(key, "initContainers") == 0) {
        return same_but_images(was, next);
    }
    if (strcmp(key, "tolerations") == 0) {
        return within(was, next);
    }
    if (strcmp(key, "schedulingGates") == 0) {
        return within(next, was);
    }
    if (strcmp(key, "affinity") == 0 || strcmp(key, "nodeSelector") == 0) {
        return gated; /* a gated pod may be narrowed down */
    }
    return strcmp(key, "activeDeadlineSeconds") == 0 ||
           strcmp(key, "terminationGracePeriodSeconds") == 0;
}

static grove_status refuse(gv_sim_call *c, const char *key) {
    char field[128];
    (void)gv_fmt(field, sizeof field, "spec.%s", key);
    return gv_sim_invalid(c, field, "FieldValueForbidden",
                          strcmp(key, "schedulingGates") == 0
                              ? "Forbidden: only deletion is allowed"
                              : "Forbidden: pod updates may not change this field");
}

grove_status gv_sim_check_pod_change(gv_sim_call *c, const grove_node *was,
                                     const grove_node *next) {
    bool gated = grove_node_size(grove_node_get(was, "schedulingGates")) > 0;
    GV_EACH(m, next) {
        const char *key = grove_node_key(m, NULL);
        const grove_node *had = grove_node_get(was, key);
        if (!gv_sim_node_same(m, had) && !allowed(key, had, m, gated)) {
            return refuse(c, key);
        }
    }
    GV_EACH(m, was) {
        const char *key = grove_node_key(m, NULL);
        if (!grove_node_get(next, key) && !allowed(key, m, NULL, gated)) {
            return refuse(c, key);
        }
    }
    return GROVE_OK;
}
