/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded cluster: pods created, bound by its own scheduler, run to Ready and deleted, with a client that
 * watches them all. Best of several rounds.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grove/sys/sim.h>

#define ROUNDS 5
#define SECOND INT64_C(1000000000)

static void check(int ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench_sim: %s\n", what);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t events;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    (void)ctx;
    (void)c;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    events++;
    return GROVE_OK;
}

static void live(grove_sim *sim, grove_backend *b, int64_t seconds) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, NULL, on_completion, on_event};
    int64_t deadline = 0, to = grove_sim_now(sim) + seconds * SECOND;
    check(b->ops->process(b->impl, to, 0, &sink, &deadline, NULL) == GROVE_OK, "process");
}

static void create(grove_env *env, grove_sim *sim, int i) {
    char text[700];
    grove_doc *doc = NULL;
    int n = snprintf(
        text, sizeof text,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-%d\",\"labels\":{"
        "\"grove.io/podgang\":\"g-%d\",\"grove.io/podclique\":\"c\"}},\"spec\":{%s\"containers\":[{"
        "\"name\":\"main\",\"image\":\"example.com/serve:1\",\"resources\":{\"limits\":{\"cpu\":"
        "\"100m\"}}}]}}",
        i, i / 10,
        i % 10 ? "\"initContainers\":[{\"name\":\"grove-initc\",\"image\":\"example.com/initc:1\","
                 "\"args\":[\"--podcliques=c:1\"]}],"
               : "");
    check(grove_doc_parse_json(env, text, (size_t)n, 0, &doc, NULL) == GROVE_OK, "parse");
    check(grove_sim_apply(sim, doc, NULL, NULL) == GROVE_OK, "apply");
    grove_doc_unref(doc);
}

static double one_life(grove_env *env, int pods) {
    grove_sim *sim = NULL;
    grove_backend b;
    grove_watch w = {.size = sizeof w, .kind = GROVE_KIND_POD, .token = 1};
    char name[32];
    grove_sim_options o = {.size = sizeof o, .history = 1u << 20}; /* the client loses nothing */
    check(grove_sim_new(env, &o, &sim, NULL) == GROVE_OK, "new");
    check(grove_sim_add_nodes(sim, "blocks=4,racks=4,nodes=8", NULL) == GROVE_OK, "nodes");
    check(grove_sim_backend(sim, &b, NULL) == GROVE_OK, "backend");
    check(b.ops->watch(b.impl, &w, NULL) == GROVE_OK, "watch");
    double from = now();
    for (int i = 0; i < pods; i++) {
        create(env, sim, i);
    }
    live(sim, &b, 60);
    for (int i = 0; i < pods; i++) {
        (void)snprintf(name, sizeof name, "p-%d", i);
        check(grove_sim_delete(sim, GROVE_KIND_POD, "default", name, NULL) == GROVE_OK, "delete");
    }
    live(sim, &b, 60);
    double took = now() - from;
    check(grove_sim_count(sim, GROVE_KIND_POD) == 0, "pods are left");
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
    return took;
}

static void measure(grove_env *env, int pods) {
    double best = 0;
    for (int i = 0; i < ROUNDS; i++) {
        events = 0;
        double took = one_life(env, pods);
        best = i == 0 || took < best ? took : best;
    }
    printf("%d pods: %.1f us a pod from creation to deletion, %.1f events a pod\n", pods,
           best / pods * 1e6, (double)events / pods);
    printf(
        "{\"bench\":\"sim\",\"figure\":\"pod_life_us\",\"value\":%.1f,\"unit\":\"us\",\"setting\":"
        "\"%d pods, one watch\"}\n",
        best / pods * 1e6, pods);
}

int main(void) {
    grove_env *env = NULL;
    check(grove_env_new(NULL, &env) == GROVE_OK, "env");
    measure(env, 1000);
    measure(env, 5000);
    grove_env_unref(env);
    return 0;
}
