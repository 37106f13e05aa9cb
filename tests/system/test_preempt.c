/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preemption: the engine dies at every write of one, and random streams of gangs with priorities meet a small
 * cluster whose nodes fail and whose engine dies. At every instant no gang is in part where nobody is about to
 * take the rest or to bring it back; at rest the most important gangs run and nobody goes for nothing.
 * GROVE_PREEMPT_SEEDS (default 48) histories, from GROVE_PREEMPT_FIRST (default 1); GROVE_CRASH_STEP (default
 * 1): only every n-th write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "mortal.h"
#include "support/oom.h"

#define GANGS 8

static const char classes[] =
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"p1\"},\"value\":10}\n"
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"p2\"},\"value\":20}\n"
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"p3\"},\"value\":30}\n";

/* A set of one gang of `pods` pods with a GPU each, in a namespace that needs no making. */
static void write_set(char *out, size_t cap, const char *name, int priority, int pods) {
    snprintf(
        out, cap,
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{"
        "\"name\":\"%s\"},\"spec\":{\"replicas\":1,\"template\":{\"priorityClassName\":\"p%d\","
        "\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":%d,"
        "\"minAvailable\":%d,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}}]}}}",
        name, priority, pods, pods);
}

static void add_set(world *w, const char *name, int priority, int pods) {
    char text[700];
    write_set(text, sizeof text, name, priority, pods);
    world_apply(w, text);
}

/* ---- what holds at every instant ---- */

static const char *text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

/* Pods there are that were evicted. */
static uint64_t evictions_seen(const grove_node *pods) {
    uint64_t n = 0;
    for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
        const grove_node *list = grove_node_at_path(p, "/status/conditions");
        for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            n += strcmp(text_at(c, "/reason"), "EvictionByEvictionAPI") == 0;
        }
    }
    return n;
}

/* ---- dying at every write ---- */

static uint64_t most_evicted;

static void count_evictions(world *w, const grove_node *pods) {
    uint64_t n = evictions_seen(pods);
    (void)w;
    most_evicted = n > most_evicted ? n : most_evicted;
}

static uint64_t preempt_once(grove_env *env, uint64_t k, bool after, bool with_standby,
                             char **out_digest) {
    mortal m;
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=6,gpu=1"};
    most_evicted = 0;
    mortal_start(&m, env, options, with_standby);
    world_apply(&m.w, classes);
    add_set(&m.w, "low", 1, 2);
    mortal_run(&m, 70 * SECOND);
    add_set(&m.w, "mid", 2, 4);
    mortal_run(&m, 70 * SECOND);
    uint64_t before = m.in_charge->writes;
    m.w.promise = count_evictions;
    if (k > 0) {
        mortal_arm(&m, k, after);
    }
    add_set(&m.w, "top", 3, 2); /* low has to go, and nobody else */
    mortal_run(&m, 300 * SECOND);
    if (k > 0 && m.deaths != 1) {
        fail_msg("%llu deaths at write %llu", (unsigned long long)m.deaths, (unsigned long long)k);
    }
    uint64_t writes = m.in_charge->writes - before;
    mortal_settle(&m);
    world_check_rest(&m.w);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=top"), 2);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=mid"), 4);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=low"), 0);
    assert_true(most_evicted <= 2);
    *out_digest = world_digest(&m.w);
    mortal_end(&m);
    return writes;
}

static unsigned long setting(const char *name, unsigned long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void every_boundary(bool with_standby) {
    grove_env *env = NULL;
    char *calm = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    uint64_t writes = preempt_once(env, 0, false, with_standby, &calm);
    for (uint64_t k = 1; k <= writes; k += setting("GROVE_CRASH_STEP", 1)) {
        for (int after = 0; after < 2; after++) {
            char *digest = NULL;
            (void)preempt_once(env, k, after != 0, with_standby, &digest);
            if (strcmp(calm, digest) != 0) {
                print_error("without a death:\n%s\nwith it:\n%s\n", calm, digest);
                fail_msg("death %s write %llu ends otherwise", after ? "after" : "before",
                         (unsigned long long)k);
            }
            free(digest);
        }
    }
    print_message("%llu writes\n", (unsigned long long)writes);
    assert_true(writes > 10);
    free(calm);
    grove_env_unref(env);
}

static void test_death_at_every_write(void **state) {
    (void)state;
    every_boundary(false);
}

static void test_takeover_at_every_write(void **state) {
    (void)state;
    every_boundary(true);
}

/* ---- random streams ---- */

typedef struct stream {
    mortal m;
    gv_prng r;
    int priority[GANGS]; /* of set s<i>; 0: not there */
} stream;

static uint64_t preemptions; /* over all streams: one that never comes proves nothing */

static int index_of(const grove_node *pod) {
    const char *name = grove_node_text(
        grove_node_get(grove_node_at_path(pod, "/metadata/labels"), "app.kubernetes.io/part-of"));
    return name && name[0] == 's' ? atoi(name + 1) : 0;
}

static bool is_let_in(const grove_node *pod) {
    return text_at(pod, "/spec/nodeName")[0] && !text_at(pod, "/metadata/deletionTimestamp")[0];
}

/* Each node holds one pod: nobody is bound where somebody still is. */
static void check_nodes(world *w, const grove_node *pods) {
    for (const grove_node *a = grove_node_first(pods); a; a = grove_node_next(pods, a)) {
        for (const grove_node *b = grove_node_next(pods, a); b; b = grove_node_next(pods, b)) {
            const char *node = text_at(a, "/spec/nodeName");
            if (node[0] && strcmp(node, text_at(b, "/spec/nodeName")) == 0) {
                world_broken(w, "pods %s and %s share a node", text_at(a, "/metadata/name"),
                             text_at(b, "/metadata/name"));
            }
        }
    }
}

static void watch_stream(world *w, const grove_node *pods) {
    check_nodes(w, pods);
    preemptions += evictions_seen(pods) > 0;
}

static void arrive(stream *s) {
    char name[8];
    int at = (int)gv_prng_below(&s->r, GANGS);
    snprintf(name, sizeof name, "s%d", at);
    if (s->priority[at]) {
        world_delete(&s->m.w, GROVE_KIND_PODCLIQUESET, name);
        s->priority[at] = 0;
        return;
    }
    s->priority[at] = 1 + (int)gv_prng_below(&s->r, 3);
    add_set(&s->m.w, name, s->priority[at], 2);
}

static void disturb(stream *s) {
    static const char *const nodes[] = {"node-b0-r0-n0", "node-b0-r0-n1", "node-b0-r0-n2",
                                        "node-b0-r0-n3"};
    grove_error err = GROVE_ERROR_INIT;
    const char *node = nodes[gv_prng_below(&s->r, 4)];
    switch (gv_prng_below(&s->r, 4)) {
    case 0:
        mortal_arm(&s->m, 1 + gv_prng_below(&s->r, 12), gv_prng_below(&s->r, 2) == 1);
        break;
    case 1:
        mortal_restart(&s->m);
        break;
    case 2:
        grove_sim_fail_node(s->m.w.c->sim, node, &err);
        mortal_run(&s->m, (int64_t)(5 + 395 * gv_prng_below(&s->r, 2)) * SECOND);
        grove_sim_recover_node(s->m.w.c->sim, node, &err);
        break;
    default:
        break;
    }
}

/* All gangs are alike: those that run are the most important ones, and they run whole. */
static void check_end(stream *s, unsigned long seed) {
    int runs[GANGS] = {0}, n = 0, most_waiting = 0, least_running = 99, there = 0;
    grove_doc *list = NULL;
    assert_int_equal(grove_sim_list(s->m.w.c->sim, GROVE_KIND_POD, NULL, NULL, &list, NULL), 0);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
        runs[index_of(p)] += is_let_in(p);
    }
    grove_doc_unref(list);
    for (int i = 0; i < GANGS; i++) {
        there += s->priority[i] > 0;
        if (runs[i] != 0 && runs[i] != 2) {
            fail_msg("seed %lu: gang s%d runs with %d of 2 pods", seed, i, runs[i]);
        }
        n += runs[i];
        if (s->priority[i] && runs[i] == 0 && s->priority[i] > most_waiting) {
            most_waiting = s->priority[i];
        }
        if (runs[i] && s->priority[i] < least_running) {
            least_running = s->priority[i];
        }
    }
    if (most_waiting > least_running) {
        fail_msg("seed %lu: a gang of priority %d waits, one of %d runs", seed, most_waiting,
                 least_running);
    }
    assert_int_equal(n, there >= 2 ? 4 : 2 * there);
}

static void play(unsigned long seed) {
    stream s = {.priority = {0}};
    grove_env *env = NULL;
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=4,gpu=1", .seed = seed};
    gv_prng_seed(&s.r, seed * 7919);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    mortal_start(&s.m, env, options, false);
    s.m.w.promise = watch_stream;
    world_apply(&s.m.w, classes);
    for (int i = 0; i < 14; i++) {
        arrive(&s);
        if (gv_prng_below(&s.r, 2) == 0) {
            disturb(&s);
        }
        mortal_run(&s.m, (int64_t)gv_prng_below(&s.r, 4) * SECOND);
    }
    mortal_restart(&s.m);
    mortal_settle(&s.m);
    world_check_rest(&s.m.w);
    check_end(&s, seed);
    mortal_end(&s.m);
    grove_env_unref(env);
}

static void test_streams(void **state) {
    (void)state;
    unsigned long first = setting("GROVE_PREEMPT_FIRST", 1);
    for (unsigned long seed = first; seed < first + setting("GROVE_PREEMPT_SEEDS", 48); seed++) {
        play(seed);
    }
    assert_true(preemptions > 0);
}

/* ---- memory ---- */

static grove_status settle(cluster *c) {
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = GROVE_OK;
    for (int i = 0; st == GROVE_OK && i < 40; i++) {
        st = cluster_settle_now(c, &err);
        if (st < 0 || c->deadline == INT64_MAX) {
            break;
        }
        st = grove_sim_advance(c->sim, c->deadline, &err);
    }
    return st;
}

static grove_status apply(cluster *c, const char *text) {
    grove_stream *texts = NULL;
    grove_status st = grove_stream_new(c->env, text, strlen(text), 0, &texts, NULL);
    for (grove_doc *doc = NULL; st == GROVE_OK; doc = NULL) {
        st = grove_stream_next(texts, &doc, NULL);
        if (st < 0 || !doc) {
            break;
        }
        st = cluster_apply(c, doc, NULL, NULL);
        grove_doc_unref(doc);
    }
    grove_stream_free(texts);
    return st == GROVE_OK ? settle(c) : st;
}

static grove_status life(grove_env *env, void *ctx) {
    static const char budget[] =
        "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":"
        "\"b\",\"namespace\":\"default\"},\"spec\":{\"minAvailable\":1,\"selector\":{"
        "\"matchLabels\":{\"grove.io/podclique\":\"lowest-0-a\"}}}}";
    cluster *c = NULL;
    char text[700];
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=2,gpu=1"};
    (void)ctx;
    grove_status st = cluster_new(env, &options, &c, NULL);
    st = st < 0 ? st : apply(c, classes);
    st = st < 0 ? st : apply(c, budget);
    write_set(text, sizeof text, "lowest", 1, 1);
    st = st < 0 ? st : apply(c, text);
    write_set(text, sizeof text, "low", 2, 1);
    st = st < 0 ? st : apply(c, text);
    write_set(text, sizeof text, "top", 3, 1); /* lowest is protected: low has to go */
    st = st < 0 ? st : apply(c, text);
    cluster_free(c);
    return st;
}

static void test_memory(void **state) {
    (void)state;
    oom_loop("a preemption", life, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death_at_every_write),
        cmocka_unit_test(test_takeover_at_every_write),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
