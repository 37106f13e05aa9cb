/* SPDX-License-Identifier: Apache-2.0 */
/* What grove_engine_gauges_get tells of gates, gangs, scores and GPUs that lie idle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

#define CLIQUE(name, gpus)                                                          \
    "{\"name\":\"" name "\",\"spec\":{\"roleName\":\"" name "\",\"replicas\":2,"    \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\",\"resources\":" \
    "{\"limits\":{\"nvidia.com/gpu\":\"" gpus "\"}}}]}}}"
#define SET(name, cliques, rest)                                          \
    "{\"apiVersion\":\"grove.io/"                                         \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"" name \
    "\"},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[" cliques "]" rest "}}}"

static const char whole[] = SET("whole", CLIQUE("a", "4"), "");
/* Two pods find nodes, two never do. */
static const char halved[] = SET("halved", CLIQUE("a", "4") "," CLIQUE("b", "99"), "");
/* The second replica of its group keeps its gates until the first one has nodes. */
static const char waiting[] = SET("waiting", CLIQUE("a", "99"),
                                  ",\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":"
                                  "[\"a\"],\"replicas\":3,\"minAvailable\":1}]");

static grove_engine_gauges look(const world *w, int64_t later) {
    grove_engine_gauges g = {.size = (uint32_t)sizeof g};
    assert_int_equal(grove_engine_gauges_get(w->c->engine, cluster_now(w->c) + later, &g),
                     GROVE_OK);
    assert_int_equal(g.size, sizeof g);
    return g;
}

static void begin(world *w, int stock, const char *set) {
    world_start(w, env, (cluster_options){.nodes = "1x1x2x8", .stock_scheduler = stock});
    if (set) {
        world_apply(w, set);
        world_settle(w);
    }
}

static void test_nothing_is_there(void **state) {
    world w;
    (void)state;
    begin(&w, 0, NULL);
    grove_engine_gauges g = look(&w, 0), none = {.size = (uint32_t)sizeof none};
    assert_memory_equal(&g, &none, sizeof g);
    assert_int_equal(grove_engine_gauges_get(NULL, 0, &g), GROVE_E_INVALID);
    assert_int_equal(grove_engine_gauges_get(w.c->engine, 0, NULL), GROVE_E_INVALID);
    g.size = 4;
    assert_int_equal(grove_engine_gauges_get(w.c->engine, 0, &g), GROVE_E_INVALID);
    world_end(&w);
}

/* Of an older host only the members that it knows are written. */
static void test_a_shorter_struct_keeps_its_rest(void **state) {
    world w;
    (void)state;
    begin(&w, 0, whole);
    grove_engine_gauges g = {.size = (uint32_t)offsetof(grove_engine_gauges, longest_gang_wait_ns),
                             .longest_gang_wait_ns = -7,
                             .gpus_held = 99};
    assert_int_equal(grove_engine_gauges_get(w.c->engine, cluster_now(w.c), &g), GROVE_OK);
    assert_int_equal(g.size, offsetof(grove_engine_gauges, longest_gang_wait_ns));
    assert_int_equal(g.longest_gang_wait_ns, -7);
    assert_int_equal(g.gpus_held, 99);
    world_end(&w);
}

static void test_a_whole_gang_waits_for_nothing(void **state) {
    world w;
    (void)state;
    begin(&w, 0, whole);
    grove_engine_gauges g = look(&w, 100 * SECOND);
    assert_int_equal(world_ready_pods(&w, NULL), 2);
    assert_int_equal(g.pods_gated, 0);
    assert_int_equal(g.oldest_gate_ns, 0);
    assert_int_equal(g.gangs_incomplete, 0);
    assert_int_equal(g.longest_gang_wait_ns, 0);
    assert_int_equal(g.gpus_held, 0);
    /* placed by the engine, so it has a score: a fraction of one, in thousandths */
    assert_int_equal(g.gangs_scored, 1);
    assert_in_range(g.score_thousandths, 1, 1000);
    world_end(&w);
}

static void test_what_an_incomplete_gang_holds(void **state) {
    world w;
    (void)state;
    begin(&w, 1, halved);
    grove_engine_gauges g = look(&w, 0), later = look(&w, 100 * SECOND);
    assert_int_equal(g.gangs_incomplete, 1);
    assert_int_equal(g.gpus_held, 8);
    assert_int_equal(g.pods_gated, 0);
    assert_int_equal(g.gangs_scored, 0);
    assert_int_equal(later.longest_gang_wait_ns - g.longest_gang_wait_ns, 100 * SECOND);
    world_end(&w);
}

static void test_gates_and_their_age(void **state) {
    world w;
    (void)state;
    begin(&w, 1, waiting);
    grove_engine_gauges g = look(&w, 0), later = look(&w, 100 * SECOND);
    assert_int_equal(g.pods_gated, 4);
    assert_int_equal(g.gangs_incomplete, 3);
    assert_int_equal(g.gpus_held, 0);
    assert_int_equal(later.oldest_gate_ns - g.oldest_gate_ns, 100 * SECOND);
    world_end(&w);
}

int main(void) {
#define ONE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ONE(test_nothing_is_there),
        ONE(test_a_shorter_struct_keeps_its_rest),
        ONE(test_a_whole_gang_waits_for_nothing),
        ONE(test_what_an_incomplete_gang_holds),
        ONE(test_gates_and_their_age),
    };
    return cmocka_run_group_tests_name("system_gauges", tests, NULL, NULL);
}
