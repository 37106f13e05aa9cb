/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tightest domain that holds the gang, the lowest id among equals: against a plain look at all racks,
 * while pods come and go, nodes change and what-ifs are rolled back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <grove/sched.h>

#include "base/prng.h"

#define NODES_A_RACK 3
#define MOST_NODES 240
#define MOST_PODS 2000

typedef struct world {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topo, cls, n_nodes, n_pods;
    uint32_t pods[MOST_PODS];
    int down[MOST_NODES];
} world;

static grove_sched_node describe(uint32_t i, int down, char text[2][24], grove_sched_label *label,
                                 int64_t *capacity) {
    snprintf(text[0], 24, "n%u", i);
    snprintf(text[1], 24, "r%u", i / NODES_A_RACK);
    *label = (grove_sched_label){"rack", text[1]};
    capacity[0] = 16;
    capacity[1] = 8;
    return (grove_sched_node){.size = (uint32_t)sizeof(grove_sched_node),
                              .flags = down ? GROVE_NODE_DOWN : 0,
                              .name = text[0],
                              .labels = label,
                              .n_labels = 1,
                              .capacity = capacity,
                              .n_capacity = 2};
}

static void add_node(world *w) {
    char text[2][24];
    grove_sched_label label;
    int64_t capacity[2];
    uint32_t id;
    grove_sched_node spec = describe(w->n_nodes, 0, text, &label, capacity);
    assert_int_equal(grove_sched_node_add(w->s, &spec, &id, NULL), GROVE_OK);
    assert_int_equal(id, w->n_nodes++);
}

static void turn_node(world *w, uint32_t i) {
    char text[2][24];
    grove_sched_label label;
    int64_t capacity[2];
    w->down[i] = !w->down[i];
    grove_sched_node spec = describe(i, w->down[i], text, &label, capacity);
    assert_int_equal(grove_sched_node_update(w->s, i, &spec, NULL), GROVE_OK);
}

static void begin(world *w, grove_env *env) {
    static const char *const keys[] = {"rack"};
    int64_t requests[2] = {1, 1};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    uint32_t gpu;
    memset(w, 0, sizeof *w);
    assert_int_equal(grove_sched_new(env, NULL, &w->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(w->s, "gpu", &gpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(w->s, "t", keys, 1, &w->topo, NULL), GROVE_OK);
    assert_int_equal(grove_sched_class(w->s, &spec, &w->cls, NULL), GROVE_OK);
    for (int i = 0; i < 150; i++) {
        add_node(w);
    }
    assert_int_equal(grove_gang_new(w->s, &w->g), GROVE_OK);
    assert_int_equal(grove_decision_new(w->s, &w->d), GROVE_OK);
}

/* The rack with the least room among those that hold n pods, the first of equals; GROVE_SCHED_NONE: none. */
static uint32_t tightest(const world *w, int64_t n) {
    uint32_t best = GROVE_SCHED_NONE;
    int64_t least = 0;
    for (uint32_t rack = 0; rack * NODES_A_RACK < w->n_nodes; rack++) {
        int64_t room = 0;
        for (uint32_t i = rack * NODES_A_RACK; i < (rack + 1) * NODES_A_RACK; i++) {
            room += i < w->n_nodes && !w->down[i] ? grove_sched_node_free(w->s, i)[1] : 0;
        }
        if (room >= n && (best == GROVE_SCHED_NONE || room < least)) {
            best = rack;
            least = room;
        }
    }
    return best;
}

static void ask(world *w, gv_prng *r) {
    uint32_t n = 1 + (uint32_t)gv_prng_below(r, 20), pg, count;
    uint32_t want = tightest(w, n);
    /* without the search for fewer hosts, which may choose another rack */
    grove_place_options greedy = {.size = (uint32_t)sizeof greedy,
                                  .flags = GROVE_PLACE_GREEDY_ONLY};
    assert_int_equal(grove_gang_begin(w->g, w->topo, "g"), GROVE_OK);
    assert_int_equal(
        grove_gang_podgroup(w->g, "w", w->cls, n, n, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
        GROVE_OK);
    assert_int_equal(grove_gang_pack(w->g, 0, GROVE_LEVEL_NONE), GROVE_OK);
    assert_int_equal(grove_sched_place(w->s, w->g, &greedy, w->d, NULL), GROVE_OK);
    if (want == GROVE_SCHED_NONE) {
        assert_int_equal(grove_decision_verdict(w->d), GROVE_INFEASIBLE);
        return;
    }
    assert_int_equal(grove_decision_verdict(w->d), GROVE_PLACED);
    const uint32_t *nodes = grove_decision_nodes(w->d, pg, &count);
    assert_int_equal(nodes[0] / NODES_A_RACK, want);
}

static void change(world *w, gv_prng *r) {
    uint32_t node = (uint32_t)gv_prng_below(r, w->n_nodes);
    uint64_t what = gv_prng_below(r, 40);
    if (what == 0 && w->n_nodes < MOST_NODES) {
        add_node(w);
    } else if (what < 3) {
        turn_node(w, node);
    } else if (what < 16 && w->n_pods > 0) {
        uint32_t at = (uint32_t)gv_prng_below(r, w->n_pods);
        assert_int_equal(grove_sched_pod_remove(w->s, w->pods[at]), GROVE_OK);
        w->pods[at] = w->pods[--w->n_pods];
    } else if (grove_sched_node_free(w->s, node)[1] > 0 && w->n_pods < MOST_PODS) {
        grove_sched_pod pod = {.size = (uint32_t)sizeof pod, .node = node, .class_id = w->cls};
        assert_int_equal(grove_sched_pod_add(w->s, &pod, &w->pods[w->n_pods++], NULL), GROVE_OK);
    }
}

/* Pods leave and the question is asked in between; then everything is taken back. */
static void what_if(world *w, gv_prng *r) {
    uint64_t mark;
    assert_int_equal(grove_sched_mark(w->s, &mark), GROVE_OK);
    for (int i = 0; i < 20 && w->n_pods > 20; i++) {
        (void)grove_sched_pod_remove(w->s, w->pods[gv_prng_below(r, w->n_pods)]);
    }
    ask(w, r);
    assert_int_equal(grove_sched_rollback(w->s, mark), GROVE_OK);
}

static void test_tightest_first(void **state) {
    (void)state;
    grove_env *env;
    world w;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        gv_prng r;
        gv_prng_seed(&r, seed);
        begin(&w, env);
        for (int round = 0; round < 3000; round++) {
            for (uint64_t n = gv_prng_below(&r, 6); n > 0; n--) {
                change(&w, &r);
            }
            if (round % 100 == 0) {
                what_if(&w, &r);
            }
            ask(&w, &r);
        }
        assert_int_equal(grove_sched_verify(w.s, NULL), GROVE_OK);
        grove_gang_free(w.g);
        grove_decision_free(w.d);
        grove_sched_free(w.s);
    }
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tightest_first)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
