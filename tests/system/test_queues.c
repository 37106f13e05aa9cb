/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues in the engine: it dies at every write of a reclaim, and random streams of gangs in queues meet a small
 * cluster whose nodes fail and whose engine dies. At every instant no queue runs more than its limit; at rest each
 * has what it deserves as far as it wants it, and nothing is left over that somebody could have.
 * GROVE_PREEMPT_SEEDS (default 12) histories, from GROVE_PREEMPT_FIRST (default 1); GROVE_CRASH_STEP (default 1):
 * only every n-th write.
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
#define NODES 4

static const char classes[] =
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"p1\"},\"value\":10}\n"
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"p2\"},\"value\":20}\n";

/* Both queues are promised half of the cluster and may have three quarters of it. */
#define QUEUES                                                                                 \
    "\"queues\":[{\"name\":\"a\",\"deserved\":{\"nvidia.com/gpu\":2},\"limit\":{\"nvidia.com/" \
    "gpu\":"                                                                                   \
    "3}},{\"name\":\"b\",\"deserved\":{\"nvidia.com/gpu\":2},\"limit\":{\"nvidia.com/gpu\":3}}]"

static grove_config *config_with(grove_env *env, const char *settings) {
    char text[600];
    grove_config *config = NULL;
    int n = snprintf(text, sizeof text,
                     "{\"apiVersion\":\"operator.config.grove.io/v1alpha1\",\"kind\":"
                     "\"OperatorConfiguration\",\"scheduler\":{\"defaultProfileName\":"
                     "\"grove-scheduler\",\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{"
                     "%s}}]}}",
                     settings);
    assert_true(n > 0 && (size_t)n < sizeof text);
    if (grove_config_new(env, &config) == GROVE_OK &&
        grove_config_load(config, text, (size_t)n, NULL) < 0) {
        grove_config_unref(config);
        config = NULL;
    }
    return config;
}

/* A set of one gang of pods with a GPU each, of which `least` have to be there. */
static void write_set(char *out, size_t cap, const char *name, const char *queue, int priority,
                      int pods, int least) {
    snprintf(
        out, cap,
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{"
        "\"name\":\"%s\"},\"spec\":{\"replicas\":1,\"template\":{\"priorityClassName\":\"p%d\","
        "\"cliques\":[{\"name\":\"w\",\"labels\":{\"kai.scheduler/queue\":\"%s\"},\"spec\":{"
        "\"roleName\":\"w\",\"replicas\":%d,\"minAvailable\":%d,\"podSpec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}"
        "]}}}]}}}",
        name, priority, queue, pods, least);
}

static void add_set(world *w, const char *name, const char *queue, int priority, int pods,
                    int least) {
    char text[700];
    write_set(text, sizeof text, name, queue, priority, pods, least);
    world_apply(w, text);
}

static const char *text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

/* ---- dying at every write of a reclaim ---- */

/* An event tells for whom the gang goes, and why. */
static bool is_told(world *w) {
    bool told = false;
    grove_doc *list = NULL;
    assert_int_equal(grove_sim_list(w->c->sim, GROVE_KIND_EVENT, NULL, NULL, &list, NULL), 0);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *e = grove_node_first(items); e; e = grove_node_next(items, e)) {
        told = told || (strcmp(text_at(e, "/reason"), "Preempted") == 0 &&
                        strcmp(text_at(e, "/involvedObject/name"), "rich2-0") == 0 &&
                        strstr(text_at(e, "/message"), "its queue a has less than its share"));
    }
    grove_doc_unref(list);
    return told;
}

static uint64_t reclaim_once(grove_env *env, grove_config *config, uint64_t k, bool after,
                             bool with_standby, char **out_digest) {
    mortal m;
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=4,gpu=1", .config = config};
    mortal_start(&m, env, options, with_standby);
    world_apply(&m.w, classes);
    add_set(&m.w, "rich1", "b", 2, 2, 2);
    add_set(&m.w, "rich2", "b", 2, 1, 1);
    add_set(&m.w, "poor1", "a", 1, 1, 1);
    mortal_run(&m, 70 * SECOND);
    assert_int_equal(world_ready_pods(&m.w, NULL), 4);
    uint64_t before = m.in_charge->writes;
    if (k > 0) {
        mortal_arm(&m, k, after);
    }
    add_set(&m.w, "poor2", "a", 1, 1, 1); /* less important, and its queue is owed a GPU */
    mortal_run(&m, 300 * SECOND);
    if (k > 0 && m.deaths != 1) {
        fail_msg("%llu deaths at write %llu", (unsigned long long)m.deaths, (unsigned long long)k);
    }
    uint64_t writes = m.in_charge->writes - before;
    mortal_settle(&m);
    world_check_rest(&m.w);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=rich1"), 2);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=rich2"), 0);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=poor1"), 1);
    assert_int_equal(world_ready_pods(&m.w, "app.kubernetes.io/part-of=poor2"), 1);
    assert_true(k > 0 || is_told(&m.w));
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
    grove_config *config = config_with(env, QUEUES);
    uint64_t writes = reclaim_once(env, config, 0, false, with_standby, &calm);
    unsigned long step = setting("GROVE_CRASH_STEP", 1) * (with_standby ? 3 : 1);
    for (uint64_t k = 1; k <= writes; k += step) {
        for (int after = 0; after < 2; after++) {
            char *digest = NULL;
            reclaim_once(env, config, k, after == 1, with_standby, &digest);
            if (strcmp(digest, calm) != 0) {
                fail_msg("death %s write %llu ends elsewhere:\n%s\nnot\n%s",
                         after ? "after" : "before", (unsigned long long)k, digest, calm);
            }
            free(digest);
        }
    }
    free(calm);
    grove_config_unref(config);
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
    char queue[GANGS]; /* of set s<i>; 0: not there */
    int pods[GANGS];
    int largest; /* gang */
} stream;

static bool queued;                 /* the present one has queues */
static uint64_t evictions, limited; /* over all streams: what never comes proves nothing */

static int index_of(const grove_node *pod) {
    const char *name = grove_node_text(
        grove_node_get(grove_node_at_path(pod, "/metadata/labels"), "app.kubernetes.io/part-of"));
    return name && name[0] == 's' ? atoi(name + 1) : -1;
}

/* A queue runs no more than its limit, and each node one pod. (What leaves counts too, see test_leaving, but a new
 * engine does not know the queue of a set that is gone.) */
static void watch_stream(world *w, const grove_node *pods) {
    int used[2] = {0};
    for (const grove_node *p = grove_node_first(pods); p; p = grove_node_next(pods, p)) {
        const char *node = text_at(p, "/spec/nodeName");
        const grove_node *all = grove_node_at_path(p, "/status/conditions");
        for (const grove_node *c = grove_node_first(all); c; c = grove_node_next(all, c)) {
            evictions += strcmp(text_at(c, "/reason"), "EvictionByEvictionAPI") == 0;
        }
        const grove_node *labels = grove_node_at_path(p, "/metadata/labels");
        const char *team = grove_node_text(grove_node_get(labels, "kai.scheduler/queue"));
        if (node[0] && team && !text_at(p, "/metadata/deletionTimestamp")[0]) {
            used[team[0] == 'b']++;
        }
        for (const grove_node *b = grove_node_next(pods, p); b; b = grove_node_next(pods, b)) {
            if (node[0] && strcmp(node, text_at(b, "/spec/nodeName")) == 0) {
                world_broken(w, "pods %s and %s share a node", text_at(p, "/metadata/name"),
                             text_at(b, "/metadata/name"));
            }
        }
    }
    for (int q = 0; q < 2; q++) {
        if (queued && used[q] > 3) {
            world_broken(w, "queue %s runs more than its limit%s", q ? "b" : "a", "");
        }
    }
}

static void arrive(stream *s) {
    char name[8], queue[2] = {0};
    int at = (int)gv_prng_below(&s->r, GANGS);
    snprintf(name, sizeof name, "s%d", at);
    if (s->queue[at]) {
        world_delete(&s->m.w, GROVE_KIND_PODCLIQUESET, name);
        s->queue[at] = 0;
        return;
    }
    s->queue[at] = queue[0] = gv_prng_below(&s->r, 3) == 0 ? 'a' : 'b';
    s->pods[at] = 1 + (int)gv_prng_below(&s->r, (uint64_t)s->largest);
    add_set(&s->m.w, name, queue, 1 + (int)gv_prng_below(&s->r, 2), s->pods[at], s->pods[at]);
}

static void disturb(stream *s) {
    static const char *const nodes[] = {"node-b0-r0-n0", "node-b0-r0-n1", "node-b0-r0-n2",
                                        "node-b0-r0-n3"};
    grove_error err = GROVE_ERROR_INIT;
    const char *node = nodes[gv_prng_below(&s->r, NODES)];
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

static int least_of(int a, int b) {
    return a < b ? a : b;
}

static void check_end(stream *s, unsigned long seed) {
    int runs[GANGS] = {0}, wants[2] = {0}, has[2] = {0};
    grove_doc *list = NULL;
    assert_int_equal(grove_sim_list(s->m.w.c->sim, GROVE_KIND_POD, NULL, NULL, &list, NULL), 0);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
        if (text_at(p, "/spec/nodeName")[0] && !text_at(p, "/metadata/deletionTimestamp")[0]) {
            assert_true(index_of(p) >= 0);
            runs[index_of(p)]++;
        }
    }
    grove_doc_unref(list);
    for (int i = 0; i < GANGS; i++) {
        int q = s->queue[i] == 'b';
        if (runs[i] != 0 && runs[i] != s->pods[i]) {
            fail_msg("seed %lu: gang s%d runs with %d of %d pods", seed, i, runs[i], s->pods[i]);
        }
        wants[q] += s->queue[i] ? s->pods[i] : 0;
        has[q] += runs[i];
    }
    limited += wants[0] > 3 || wants[1] > 3;
    if (s->largest > 1) { /* what large gangs leave need not be of use to anybody */
        return;
    }
    for (int q = 0; q < 2; q++) {
        if (has[q] < least_of(wants[q], 2)) {
            fail_msg("seed %lu: queue %c wants %d, deserves 2 and has %d", seed, 'a' + q, wants[q],
                     has[q]);
        }
    }
    assert_int_equal(has[0] + has[1],
                     least_of(NODES, least_of(wants[0], 3) + least_of(wants[1], 3)));
}

static void play(unsigned long seed, int largest, const char *settings) {
    stream s = {.largest = largest};
    queued = strstr(settings, "queues") != NULL;
    grove_env *env = NULL;
    gv_prng_seed(&s.r, seed * 7919);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_config *config = config_with(env, settings);
    cluster_options options = {
        .nodes = "blocks=1,racks=1,nodes=4,gpu=1", .seed = seed, .config = config};
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
    grove_config_unref(config);
    grove_env_unref(env);
}

static void test_streams(void **state) {
    (void)state;
    unsigned long first = setting("GROVE_PREEMPT_FIRST", 1);
    for (unsigned long seed = first; seed < first + setting("GROVE_PREEMPT_SEEDS", 12); seed++) {
        play(seed, 1, QUEUES);
    }
    bool enough = setting("GROVE_PREEMPT_SEEDS", 12) >= 12;
    assert_true(!enough || (evictions > 0 && limited > 0));
}

/* Large gangs among small ones, none of which is overtaken for longer than a minute; with queues and without. */
static void test_streams_with_a_guard(void **state) {
    (void)state;
    unsigned long first = setting("GROVE_PREEMPT_FIRST", 1);
    for (unsigned long seed = first; seed < first + setting("GROVE_PREEMPT_SEEDS", 12); seed++) {
        play(1000 + seed, 3,
             seed % 2 ? "\"starvationGuard\":\"1m\"," QUEUES : "\"starvationGuard\":\"1m\"");
    }
}

/* ---- a set that changes its queue ---- */

/* What it runs counts where its label says, and gangs that wait in its new queue notice. */
static void test_relabel(void **state) {
    (void)state;
    world w;
    grove_env *env = NULL;
    char text[400];
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_config *config = config_with(env, QUEUES);
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=8,gpu=1", .config = config};
    world_start(&w, env, options);
    world_apply(&w, classes);
    add_set(&w, "first", "a", 1, 3, 3);
    world_run(&w, 60 * SECOND);
    add_set(&w, "second", "a", 1, 2, 2);
    world_run(&w, 60 * SECOND);
    assert_int_equal(world_ready_pods(&w, NULL), 3);
    world_text(&w, GROVE_KIND_PODGANG, "second-0", "/status/conditions/1/message", text,
               sizeof text);
    world_json_patch(&w, GROVE_KIND_PODCLIQUESET, "first",
                     "[{\"op\":\"replace\",\"path\":\"/spec/template/cliques/0/labels/"
                     "kai.scheduler~1queue\",\"value\":\"b\"}]");
    world_run(&w, 60 * SECOND);
    assert_int_equal(world_ready_pods(&w, "app.kubernetes.io/part-of=second"), 2);
    add_set(&w, "third", "b", 1, 1, 1);
    world_run(&w, 60 * SECOND);
    assert_int_equal(world_ready_pods(&w, "app.kubernetes.io/part-of=third"), 0);
    world_settle(&w);
    world_check_rest(&w);
    world_end(&w);
    grove_config_unref(config);
    grove_env_unref(env);
}

/* What leaves counts until it is gone, also when its set is gone before. */
static void test_leaving(void **state) {
    (void)state;
    world w;
    grove_env *env = NULL;
    uint32_t moments = 0;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_config *config = config_with(env, QUEUES);
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=8,gpu=1", .config = config};
    world_start(&w, env, options);
    world_apply(&w, classes);
    add_set(&w, "first", "a", 1, 3, 3);
    world_run(&w, 60 * SECOND);
    add_set(&w, "second", "a", 1, 1, 1);
    world_run(&w, 60 * SECOND);
    world_delete(&w, GROVE_KIND_PODCLIQUESET, "first");
    while (world_pods(&w, "app.kubernetes.io/part-of=first", NULL) > 2) {
        assert_int_equal(world_pods(&w, "app.kubernetes.io/part-of=second", "Running"), 0);
        world_run(&w, SECOND / 10);
        assert_true(++moments < 10000);
    }
    assert_true(moments > 1);
    world_run(&w, 60 * SECOND);
    assert_int_equal(world_ready_pods(&w, "app.kubernetes.io/part-of=second"), 1);
    world_check_rest(&w);
    world_end(&w);
    grove_config_unref(config);
    grove_env_unref(env);
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

typedef struct act {
    const char *name, *queue;
    int pods, least;
} act;

static grove_status life(grove_env *env, void *ctx) {
    static const act acts[] = {
        {"rich", "b", 2, 1},  /* one of them is beyond its minimum */
        {"poor", "a", 1, 1},  /* which goes for this one */
        {"typo", "c", 1, 1},  /* waits, and says why */
        {"large", "b", 4, 4}, /* more than the limit */
    };
    char text[700];
    cluster *c = NULL;
    (void)ctx;
    grove_config *config = config_with(env, "\"starvationGuard\":\"5s\"," QUEUES);
    if (!config) {
        return GROVE_E_NOMEM;
    }
    cluster_options options = {.nodes = "blocks=1,racks=1,nodes=2,gpu=1", .config = config};
    grove_status st = cluster_new(env, &options, &c, NULL);
    st = st < 0 ? st : apply(c, classes);
    for (size_t i = 0; i < sizeof acts / sizeof *acts && st == GROVE_OK; i++) {
        write_set(text, sizeof text, acts[i].name, acts[i].queue, 1, acts[i].pods, acts[i].least);
        st = apply(c, text);
    }
    write_set(text, sizeof text, "typo", "a", 1, 1, 1); /* its queue is another one from now on */
    st = st < 0 ? st : apply(c, text);
    cluster_free(c);
    grove_config_unref(config);
    return st;
}

static void test_memory(void **state) {
    (void)state;
    oom_loop("queues", life, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_death_at_every_write),
        cmocka_unit_test(test_takeover_at_every_write),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_streams_with_a_guard),
        cmocka_unit_test(test_relabel),
        cmocka_unit_test(test_leaving),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
