/* SPDX-License-Identifier: Apache-2.0 */
/* A small cluster that shows every level, and short words for what tests do with it. */
#ifndef TESTS_SCHED_BLOCKS_H
#define TESTS_SCHED_BLOCKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

/* Two blocks of two racks of four nodes with 8 GPUs: node 0-3 rack 0, ... 12-15 rack 3. */
#define NODES 16u
#define BLOCK 0
#define RACK 1
#define HOST 2

typedef struct world {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topo, node[NODES], whole, half; /* pods of 8 and of 4 GPUs */
} world;

static grove_env *env;

static inline int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static inline int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

static inline uint32_t class_of(world *w, int64_t gpus) {
    uint32_t id;
    int64_t requests[2] = {1, gpus};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    assert_int_equal(grove_sched_class(w->s, &spec, &id, NULL), GROVE_OK);
    return id;
}

static inline void make(world *w) {
    static const char *const keys[] = {"block", "rack"};
    uint32_t gpu;
    assert_int_equal(grove_sched_new(env, NULL, &w->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(w->s, "gpu", &gpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(w->s, "t", keys, 2, &w->topo, NULL), GROVE_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[8], block[8], rack[8];
        snprintf(name, sizeof name, "n%02u", i);
        snprintf(block, sizeof block, "b%u", i / 8);
        snprintf(rack, sizeof rack, "r%u", i / 4);
        grove_sched_label labels[2] = {{"block", block}, {"rack", rack}};
        int64_t capacity[2] = {110, 8};
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .name = name,
                                 .labels = labels,
                                 .n_labels = 2,
                                 .capacity = capacity,
                                 .n_capacity = 2};
        assert_int_equal(grove_sched_node_add(w->s, &node, &w->node[i], NULL), GROVE_OK);
    }
    assert_int_equal(grove_gang_new(w->s, &w->g), GROVE_OK);
    assert_int_equal(grove_decision_new(w->s, &w->d), GROVE_OK);
    w->whole = class_of(w, 8);
    w->half = class_of(w, 4);
}

static inline void end(world *w) {
    assert_int_equal(grove_sched_verify(w->s, NULL), GROVE_OK);
    grove_gang_free(w->g);
    grove_decision_free(w->d);
    grove_sched_free(w->s);
}

static inline void begin(world *w, grove_level required, grove_level preferred) {
    assert_int_equal(grove_gang_begin(w->g, w->topo, "gang"), GROVE_OK);
    assert_int_equal(grove_gang_pack(w->g, required, preferred), GROVE_OK);
}

static inline uint32_t group_of(world *w, uint32_t cls, uint32_t min, uint32_t count,
                                grove_level required) {
    uint32_t id;
    assert_int_equal(
        grove_gang_podgroup(w->g, "p", cls, min, count, required, GROVE_LEVEL_NONE, &id), GROVE_OK);
    return id;
}

static inline grove_verdict place(world *w) {
    assert_int_equal(grove_sched_place(w->s, w->g, NULL, w->d, NULL), GROVE_OK);
    return grove_decision_verdict(w->d);
}

static inline uint32_t commit(world *w) {
    uint32_t id;
    assert_int_equal(grove_sched_commit(w->s, w->g, w->d, &id, NULL), GROVE_OK);
    return id;
}

static inline uint32_t node_at(const world *w, uint32_t podgroup, uint32_t k) {
    uint32_t n;
    const uint32_t *nodes = grove_decision_nodes(w->d, podgroup, &n);
    return k < n ? nodes[k] : GROVE_SCHED_NONE;
}

static inline uint32_t placed(const world *w, uint32_t podgroup) {
    uint32_t n, sum = 0;
    const uint32_t *nodes = grove_decision_nodes(w->d, podgroup, &n);
    for (uint32_t i = 0; i < n; i++) {
        sum += nodes[i] != GROVE_SCHED_NONE;
    }
    return sum;
}

static inline uint32_t domain(const world *w, grove_level level, uint32_t node) {
    return grove_sched_domain_of(w->s, w->topo, level, node);
}

static inline grove_reason reason(const world *w) {
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(w->d, &c), GROVE_OK);
    return c.reason;
}

/* Fills a node but for `left` GPUs, for good. */
static inline void fill(world *w, uint32_t node, int64_t left) {
    int64_t requests[2] = {1, 8 - left};
    uint32_t id;
    grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                           .node = w->node[node],
                           .class_id = GROVE_SCHED_NONE,
                           .requests = requests,
                           .n_requests = 2,
                           .flags = GROVE_POD_NEVER_EVICT};
    assert_int_equal(grove_sched_pod_add(w->s, &pod, &id, NULL), GROVE_OK);
}

#endif
