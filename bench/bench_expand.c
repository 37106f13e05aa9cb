/* SPDX-License-Identifier: Apache-2.0 */
/* Expanding a set of 500 cliques: facts when nothing changed, and every body from nothing. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <grove/render.h>

#include "plan/expand.h"

#define CLIQUES 500
#define ROUNDS 200

static uint64_t allocations;

static void *count_alloc(void *ctx, size_t n) {
    (void)ctx;
    allocations++;
    return malloc(n);
}
static void *count_resize(void *ctx, void *p, size_t old_n, size_t n) {
    (void)ctx;
    (void)old_n;
    allocations++;
    return realloc(p, n);
}
static void count_release(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void figure(const char *name, double value, const char *unit) {
    printf("{\"bench\":\"expand\",\"figure\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"setting\":"
           "\"%d cliques, half of them in scaling groups\"}\n",
           name, value, unit, CLIQUES);
}

/* 250 standalone cliques; 50 groups of five with two replicas, one of them scaled. */
static void write_set(grove_buf *text) {
    gv_buf_c(text, "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{"
                   "\"name\":\"s\"},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[");
    for (int i = 0; i < CLIQUES; i++) {
        gv_buf_fmt(text,
                   "%s{\"name\":\"c%d\",\"labels\":{\"role\":\"r%d\"},\"spec\":{\"roleName\":"
                   "\"c%d\",\"replicas\":2,\"minAvailable\":1,\"podSpec\":{\"containers\":[{"
                   "\"name\":\"main\",\"image\":\"example.com/i:%d\",\"args\":[\"--a\",\"--b\"],"
                   "\"env\":[{\"name\":\"A\",\"value\":\"b\"}],\"resources\":{\"limits\":{\"cpu\":"
                   "\"4\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"1\"}}}]}}}",
                   i ? "," : "", i, i, i, i);
    }
    gv_buf_c(text, "],\"podCliqueScalingGroups\":[");
    for (int g = 0; g < 50; g++) {
        gv_buf_fmt(text, "%s{\"name\":\"g%d\",\"replicas\":2,\"minAvailable\":1,\"cliqueNames\":[",
                   g ? "," : "", g);
        for (int k = 0; k < 5; k++) {
            gv_buf_fmt(text, "%s\"c%d\"", k ? "," : "", 250 + 5 * g + k);
        }
        gv_buf_c(text, "]}");
    }
    gv_buf_c(text, "]}}}");
}

int main(void) {
    grove_allocator a = {sizeof a, 0, NULL, count_alloc, count_resize, count_release};
    grove_env_options o = {.size = sizeof o, .allocator = &a};
    grove_env *env = NULL;
    grove_doc *doc = NULL, *list = NULL;
    grove_config *config = NULL;
    gv_template *t = NULL;
    gv_expander *x = NULL;
    const gv_want *w = NULL;
    grove_buf text;
    if (grove_env_new(&o, &env) < 0) {
        return 1;
    }
    grove_buf_init(&text, env);
    write_set(&text);
    if (grove_doc_parse_json(env, text.data, (size_t)text.len, 0, &doc, NULL) < 0 ||
        grove_config_new(env, &config) < 0 || gv_expander_new(env, &x) < 0) {
        return 1;
    }
    double start = seconds();
    if (gv_template_new(env, doc, grove_doc_root(doc), config, NULL, &t, NULL) < 0) {
        return 1;
    }
    figure("template_ms", 1e3 * (seconds() - start), "ms");
    gv_expand_input in = {.current = t};
    for (int i = 0; i < 3; i++) {
        gv_expand(x, &in, &w, NULL);
    }
    uint64_t before = allocations;
    start = seconds();
    for (int i = 0; i < ROUNDS; i++) {
        gv_expand(x, &in, &w, NULL);
    }
    double each = (seconds() - start) / ROUNDS;
    figure("expand_ms", 1e3 * each, "ms");
    figure("expand_allocations", (double)(allocations - before), "allocations");
    figure("objects", w->n_objects, "objects");
    start = seconds();
    if (grove_render(env, doc, grove_doc_root(doc), config, NULL, 0, &list, NULL) < 0) {
        return 1;
    }
    double n = grove_node_size(grove_node_get(grove_doc_root(list), "items"));
    figure("render_ms", 1e3 * (seconds() - start), "ms");
    figure("render_us_per_object", 1e6 * (seconds() - start) / n, "us");
    grove_doc_unref(list);
    gv_expander_free(x);
    gv_template_unref(t);
    grove_config_unref(config);
    grove_doc_unref(doc);
    grove_buf_fini(&text);
    grove_env_unref(env);
    return 0;
}
