/* SPDX-License-Identifier: Apache-2.0 */
/* A chart of Kubernetes objects. */
#include "chart.h"

#include "io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SQUARES 64

static const char *label(const grove_node *object, const char *key) {
    return grove_node_text(grove_node_get(grove_node_at_path(object, "/metadata/labels"), key));
}

static int is_kind(const grove_node *object, const char *kind) {
    return strcmp(io_member(object, "kind"), kind) == 0;
}

/* Whole devices or cores; thousandths are rounded up. */
static uint32_t amount(const grove_node *quantity) {
    const char *text = grove_node_text(quantity);
    char *end = NULL;
    long n = text ? strtol(text, &end, 10) : 0;
    n = end && *end == 'm' ? (n + 999) / 1000 : n;
    return n < 0 ? 0 : (uint32_t)n;
}

/* ---- what to show ---- */

typedef struct source {
    chart *c;
    const grove_node *const *objects;
    size_t n;
    const char *keys[CHART_LEVELS];
    const char *resource;
} source;

static int some_node_has(const source *s, const char *key) {
    for (size_t i = 0; i < s->n; i++) {
        if (is_kind(s->objects[i], "Node") && label(s->objects[i], key)) {
            return 1;
        }
    }
    return 0;
}

static void add_level(source *s, const char *name, const char *key) {
    if (s->c->n_levels < CHART_LEVELS && strcmp(key, "kubernetes.io/hostname") != 0 &&
        some_node_has(s, key)) {
        s->keys[s->c->n_levels] = key;
        chart_add_level(s->c, name);
    }
}

static void choose_levels(source *s) {
    static const char *const common[][2] = {
        {"region", "topology.kubernetes.io/region"},    {"zone", "topology.kubernetes.io/zone"},
        {"block", "topology.kubernetes.io/block"},      {"block", "node.network.kwai.io/block"},
        {"block", "network.topology.nvidia.com/block"}, {"rack", "topology.kubernetes.io/rack"},
        {"rack", "node.network.kwai.io/rack"},
    };
    for (size_t i = 0; i < s->n; i++) {
        if (is_kind(s->objects[i], "ClusterTopologyBinding")) {
            const grove_node *levels = grove_node_at_path(s->objects[i], "/spec/levels");
            for (const grove_node *l = grove_node_first(levels); l;
                 l = grove_node_next(levels, l)) {
                add_level(s, io_member(l, "domain"), io_member(l, "key"));
            }
            return;
        }
    }
    for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
        add_level(s, common[i][0], common[i][1]);
    }
}

/* The first extended resource with a name that says GPU; without any, CPU. */
static void choose_resource(source *s) {
    s->resource = "cpu";
    s->c->device = "CPU";
    for (size_t i = 0; i < s->n; i++) {
        const grove_node *all = grove_node_at_path(s->objects[i], "/status/allocatable");
        for (const grove_node *r = grove_node_first(all); r && is_kind(s->objects[i], "Node");
             r = grove_node_next(all, r)) {
            const char *name = grove_node_key(r, NULL);
            if (strstr(name, "/gpu") && amount(r) > 0) {
                s->resource = name;
                s->c->device = "GPU";
                return;
            }
        }
    }
}

/* ---- nodes, gangs, pods ---- */

static int is_ready(const grove_node *node) {
    const grove_node *ready = io_condition(node, "Ready");
    return !ready || strcmp(io_member(ready, "status"), "True") == 0;
}

static int add_node(source *s, const grove_node *object) {
    int cordoned = strcmp(io_text_at(object, "/spec/unschedulable"), "true") == 0;
    chart_node node = {.name = io_name(object), .down = cordoned || !is_ready(object)};
    uint32_t n = amount(
        grove_node_get(grove_node_at_path(object, "/status/allocatable"), s->resource));
    node.devices = n < MOST_SQUARES ? n : MOST_SQUARES;
    for (uint32_t l = 0; l < s->c->n_levels; l++) {
        node.path[l] = label(object, s->keys[l]);
    }
    return chart_add_node(s->c, &node) != UINT32_MAX;
}

static uint32_t find_node(const source *s, const char *name) {
    for (uint32_t i = 0; i < s->c->n_nodes; i++) {
        if (strcmp(s->c->nodes[i].name, name) == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void full_name(const char *ns, const char *name, char *out, size_t cap) {
    snprintf(out, cap, "%s%s%s", strcmp(ns, "default") == 0 ? "" : ns,
             strcmp(ns, "default") == 0 ? "" : "/", name);
}

static uint32_t gang_of(source *s, const grove_node *pod) {
    const char *name = label(pod, "grove.io/podgang");
    char text[512];
    if (!name) {
        return CHART_NO_GANG;
    }
    full_name(io_text_at(pod, "/metadata/namespace"), name, text, sizeof text);
    for (uint32_t i = 0; i < s->c->n_gangs; i++) {
        if (strcmp(s->c->gangs[i].name, text) == 0) {
            return i;
        }
    }
    return chart_add_gang(s->c, text, NULL);
}

static uint32_t asked(const source *s, const grove_node *pod) {
    const grove_node *containers = grove_node_at_path(pod, "/spec/containers");
    uint32_t n = 0;
    for (const grove_node *c = grove_node_first(containers); c;
         c = grove_node_next(containers, c)) {
        const grove_node *resources = grove_node_get(c, "resources");
        const grove_node *r = grove_node_get(grove_node_get(resources, "requests"), s->resource);
        n += amount(r ? r : grove_node_get(grove_node_get(resources, "limits"), s->resource));
    }
    return n;
}

static int add_pod(source *s, const grove_node *pod) {
    const char *phase = io_text_at(pod, "/status/phase"), *node = io_text_at(pod, "/spec/nodeName");
    const char *clique = label(pod, "grove.io/podclique");
    if (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0) {
        return 1;
    }
    uint32_t gang = gang_of(s, pod);
    chart_pods one = {.node = find_node(s, node),
                      .gang = gang,
                      .what = clique ? clique : io_name(pod),
                      .count = 1,
                      .devices = asked(s, pod)};
    return one.node == UINT32_MAX || chart_add_pods(s->c, &one) != UINT32_MAX;
}

/* A gang whose pods all lack a node waits. */
static void mark_waiting(chart *c) {
    for (uint32_t g = 0; g < c->n_gangs; g++) {
        int placed = 0;
        for (uint32_t i = 0; i < c->n_pods && !placed; i++) {
            placed = c->pods[i].gang == g;
        }
        c->gangs[g].why = placed ? NULL : "none of its pods has a node";
    }
}

grove_status chart_add_objects(chart *c, const grove_node *const *objects, size_t n) {
    source s = {.c = c, .objects = objects, .n = n};
    int ok = 1;
    choose_levels(&s);
    choose_resource(&s);
    for (size_t i = 0; ok && i < n; i++) {
        ok = !is_kind(objects[i], "Node") || add_node(&s, objects[i]);
    }
    for (size_t i = 0; ok && i < n; i++) {
        ok = !is_kind(objects[i], "Pod") || add_pod(&s, objects[i]);
    }
    mark_waiting(c);
    return ok ? GROVE_OK : GROVE_E_NOMEM;
}
