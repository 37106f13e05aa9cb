/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on the scheduler that cannot be answered: each is refused by name, and nothing changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#include "support/oom.h"

typedef struct world {
    oom_memory memory; /* all is given back at the end */
    grove_env *env;
    grove_sched *s, *other;
    grove_gang *g, *foreign;
    grove_decision *d;
    uint32_t topology, cls, node, pg;
    uint64_t hash;
} world;

static void open_world(world *w) {
    static const char *const keys[] = {"rack"};
    static const int64_t capacity[] = {4, 8}, requests[] = {1, 1};
    uint32_t gpu;
    memset(w, 0, sizeof *w);
    oom_memory_init(&w->memory);
    w->env = oom_env(&w->memory, NULL);
    assert_int_equal(grove_sched_new(w->env, NULL, &w->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_new(w->env, NULL, &w->other, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(w->s, "gpu", &gpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(w->s, "t", keys, 1, &w->topology, NULL), GROVE_OK);
    grove_sched_node node = {
        .size = (uint32_t)sizeof node, .name = "n", .capacity = capacity, .n_capacity = 2};
    assert_int_equal(grove_sched_node_add(w->s, &node, &w->node, NULL), GROVE_OK);
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    assert_int_equal(grove_sched_class(w->s, &spec, &w->cls, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(w->s, &w->g), GROVE_OK);
    assert_int_equal(grove_gang_new(w->other, &w->foreign), GROVE_OK);
    assert_int_equal(grove_decision_new(w->s, &w->d), GROVE_OK);
    assert_int_equal(grove_gang_begin(w->g, w->topology, "gang"), GROVE_OK);
    assert_int_equal(
        grove_gang_podgroup(w->g, "p", w->cls, 1, 2, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &w->pg),
        GROVE_OK);
    w->hash = grove_sched_hash(w->s);
}

static void close_world(world *w) {
    assert_true(grove_sched_hash(w->s) == w->hash);
    assert_int_equal(grove_sched_verify(w->s, NULL), GROVE_OK);
    grove_gang_free(w->g);
    grove_gang_free(w->foreign);
    grove_decision_free(w->d);
    grove_sched_free(w->s);
    grove_sched_free(w->other);
    grove_env_unref(w->env);
    assert_int_equal(w->memory.live_blocks, 0);
}

#define REFUSED(call) assert_int_equal((call), GROVE_E_INVALID)
#define UNKNOWN(call) assert_int_equal((call), GROVE_E_NOT_FOUND)

static void test_gangs(void **state) {
    (void)state;
    world w;
    open_world(&w);
    grove_gang *g = w.g, *out = NULL;
    uint32_t id = 7, one = 0;
    REFUSED(grove_gang_new(NULL, &out));
    REFUSED(grove_gang_new(w.s, NULL));
    assert_null(out);
    REFUSED(grove_gang_begin(NULL, 0, "x"));
    REFUSED(grove_gang_begin(g, 9, "x"));
    REFUSED(grove_gang_pack(NULL, 0, 0));
    REFUSED(grove_gang_podgroup(NULL, "p", w.cls, 1, 1, -1, -1, &id));
    REFUSED(grove_gang_podgroup(g, "p", 99, 1, 1, -1, -1, &id));
    REFUSED(grove_gang_podgroup(g, "p", w.cls, 2, 1, -1, -1, &id));
    REFUSED(grove_gang_group(NULL, "g", &one, 1, -1, -1, &id));
    REFUSED(grove_gang_group(g, "g", NULL, 1, -1, -1, &id));
    REFUSED(grove_gang_member(NULL, 0, w.node));
    REFUSED(grove_gang_member(g, 1, w.node));
    REFUSED(grove_gang_sticky(NULL, 0, 0, w.node));
    REFUSED(grove_gang_sticky(g, 1, 0, w.node));
    REFUSED(grove_gang_anchor(NULL, 0, w.node, GROVE_STRENGTH_REQUIRED));
    REFUSED(grove_gang_spread(NULL, 0, 1, GROVE_STRENGTH_REQUIRED, &w.node, 1));
    REFUSED(grove_gang_spread(g, 0, 1, GROVE_STRENGTH_REQUIRED, NULL, 1));
    REFUSED(grove_gang_priority(NULL, 1));
    REFUSED(grove_gang_queue(NULL, 0));
    REFUSED(grove_gang_waiting(NULL, 0, 0));
    REFUSED(grove_gang_flags(NULL, 0));
    REFUSED(grove_gang_base(NULL, 0));
    assert_int_equal(id, 7);
    close_world(&w);
}

static void test_decisions(void **state) {
    (void)state;
    world w;
    open_world(&w);
    grove_decision *out = NULL;
    uint32_t gang = 7;
    REFUSED(grove_decision_new(NULL, &out));
    REFUSED(grove_decision_new(w.s, NULL));
    assert_null(out);
    REFUSED(grove_sched_place(NULL, w.g, NULL, w.d, NULL));
    REFUSED(grove_sched_place(w.s, NULL, NULL, w.d, NULL));
    REFUSED(grove_sched_place(w.s, w.g, NULL, NULL, NULL));
    REFUSED(grove_sched_place(w.s, w.foreign, NULL, w.d, NULL));
    REFUSED(grove_sched_preempt(w.s, w.foreign, NULL, w.d, NULL));
    REFUSED(grove_sched_reclaim(NULL, w.g, NULL, 0, NULL, w.d, NULL));
    REFUSED(grove_sched_reclaim(w.s, NULL, NULL, 0, NULL, w.d, NULL));
    REFUSED(grove_sched_reclaim(w.s, w.g, NULL, 0, NULL, NULL, NULL));
    REFUSED(grove_sched_reclaim(w.s, w.foreign, NULL, 0, NULL, w.d, NULL));
    REFUSED(grove_sched_reclaim(w.s, w.g, NULL, 1, NULL, w.d, NULL));
    REFUSED(grove_sched_commit(w.s, w.g, w.d, &gang, NULL)); /* nothing was decided */
    assert_int_equal(grove_sched_place(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    REFUSED(grove_sched_commit(w.s, w.foreign, w.d, &gang, NULL));
    REFUSED(grove_decision_cost(w.d, NULL));
    REFUSED(grove_decision_certificate(w.d, NULL));
    assert_int_equal(gang, 7);
    close_world(&w);
}

static void test_cluster(void **state) {
    (void)state;
    static const char *const twice[] = {"a", "b", "a"};
    const char *many[31];
    static const int64_t odd[] = {1, -1}, wide[] = {1, 1, 1, 1};
    world w;
    open_world(&w);
    uint32_t id = 7;
    uint64_t mark;
    grove_sched *out = NULL;
    for (int i = 0; i < 31; i++) {
        many[i] = "k";
    }
    REFUSED(grove_sched_new(NULL, NULL, &out, NULL));
    REFUSED(grove_sched_new(w.env, NULL, NULL, NULL));
    REFUSED(grove_sched_resource(NULL, "x", &id));
    REFUSED(grove_sched_resource(w.s, NULL, &id));
    REFUSED(grove_sched_resource(w.s, "", &id));
    REFUSED(grove_sched_resource(w.s, "x", NULL));
    REFUSED(grove_sched_topology(w.s, "x", twice, 3, &id, NULL));
    REFUSED(grove_sched_topology(w.s, "x", many, 31, &id, NULL));
    REFUSED(grove_sched_topology(w.s, NULL, twice, 2, &id, NULL));
    REFUSED(grove_sched_topology(w.s, "x", NULL, 2, &id, NULL));
    grove_sched_label no_key = {NULL, "v"}, no_value = {"k", NULL};
    grove_sched_taint bare = {.key = NULL};
    grove_sched_node node = {.size = (uint32_t)sizeof node, .name = "m"};
    node.labels = &no_key, node.n_labels = 1;
    REFUSED(grove_sched_node_add(w.s, &node, &id, NULL));
    node.labels = &no_value;
    REFUSED(grove_sched_node_add(w.s, &node, &id, NULL));
    node.n_labels = 0, node.taints = &bare, node.n_taints = 1;
    REFUSED(grove_sched_node_add(w.s, &node, &id, NULL));
    node.n_taints = 0, node.capacity = wide, node.n_capacity = 4;
    REFUSED(grove_sched_node_add(w.s, &node, &id, NULL));
    UNKNOWN(grove_sched_node_update(w.s, 9, &node, NULL));
    UNKNOWN(grove_sched_node_remove(w.s, 9));
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec};
    spec.requests = wide, spec.n_requests = 4;
    REFUSED(grove_sched_class(w.s, &spec, &id, NULL));
    spec.n_requests = 0, spec.selector = &no_key, spec.n_selector = 1;
    REFUSED(grove_sched_class(w.s, &spec, &id, NULL));
    spec.selector = &no_value;
    REFUSED(grove_sched_class(w.s, &spec, &id, NULL));
    grove_sched_pod pod = {.size = (uint32_t)sizeof pod, .node = 9, .class_id = w.cls};
    UNKNOWN(grove_sched_pod_add(w.s, &pod, &id, NULL));
    pod.node = w.node, pod.class_id = 9;
    REFUSED(grove_sched_pod_add(w.s, &pod, &id, NULL));
    pod.class_id = w.cls, pod.queue = 9;
    UNKNOWN(grove_sched_pod_add(w.s, &pod, &id, NULL));
    pod.queue = 0, pod.class_id = GROVE_SCHED_NONE, pod.requests = wide, pod.n_requests = 4;
    REFUSED(grove_sched_pod_add(w.s, &pod, &id, NULL));
    pod.requests = odd, pod.n_requests = 2;
    assert_int_equal(grove_sched_pod_add(w.s, &pod, &id, NULL), GROVE_E_RANGE);
    UNKNOWN(grove_sched_pod_remove(w.s, 0));
    UNKNOWN(grove_sched_release(w.s, 0));
    UNKNOWN(grove_sched_gang_base(w.s, 0, 0));
    UNKNOWN(grove_sched_gang_flags(w.s, 0, 0));
    REFUSED(grove_sched_mark(w.s, NULL));
    REFUSED(grove_sched_rollback(w.s, 1));
    REFUSED(grove_sched_keep(w.s, 1));
    assert_int_equal(grove_sched_mark(w.s, &mark), GROVE_OK);
    REFUSED(grove_sched_topology(w.s, "x", twice, 2, &id, NULL));
    REFUSED(grove_sched_resource(w.s, "late", &id));
    REFUSED(grove_sched_node_remove(w.s, w.node));
    assert_int_equal(grove_sched_rollback(w.s, mark), GROVE_OK);
    assert_int_equal(id, 7);
    close_world(&w);
}

/* A topology takes thirty keys; what it has no domain for is none. */
static void test_levels(void **state) {
    (void)state;
    static char names[30][8];
    const char *keys[30];
    world w;
    open_world(&w);
    uint32_t id, gone;
    for (int i = 0; i < 30; i++) {
        snprintf(names[i], sizeof names[i], "k%d", i);
        keys[i] = names[i];
    }
    assert_int_equal(grove_sched_topology(w.s, "wide", keys, 30, &id, NULL), GROVE_OK);
    assert_int_equal(grove_sched_host_level(w.s, id), 30);
    grove_sched_node spec = {.size = (uint32_t)sizeof spec, .name = "gone"};
    assert_int_equal(grove_sched_node_add(w.s, &spec, &gone, NULL), GROVE_OK);
    assert_int_equal(grove_sched_node_add(w.s, &spec, &id, NULL), GROVE_E_EXISTS);
    assert_int_equal(grove_sched_node_remove(w.s, gone), GROVE_OK);
    const grove_level none[] = {GROVE_LEVEL_NONE, GROVE_LEVEL_UNKNOWN, 2, 31, INT32_MAX};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(grove_sched_domain_of(w.s, w.topology, none[i], w.node), GROVE_SCHED_NONE);
        assert_int_equal(grove_sched_domain_count(w.s, w.topology, none[i]), 0);
        assert_int_equal(grove_sched_topology_conflicts(w.s, w.topology, none[i]), 0);
        assert_null(grove_sched_level_key(w.s, w.topology, none[i]));
    }
    assert_int_equal(grove_sched_domain_of(w.s, w.topology, 1, w.node), w.node);
    assert_int_equal(grove_sched_domain_of(w.s, w.topology, 0, w.node), GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_domain_of(w.s, w.topology, 1, gone), GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_domain_of(w.s, w.topology, 1, 99), GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_domain_of(w.s, 9, 1, w.node), GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_domain_count(w.s, 9, 0), 0);
    assert_null(grove_sched_level_key(w.s, 9, 0));
    assert_int_equal(grove_sched_level(w.s, w.topology, "rack"), 0);
    assert_int_equal(grove_sched_level(w.s, w.topology, "no"), GROVE_LEVEL_UNKNOWN);
    assert_int_equal(grove_gang_begin(w.g, w.topology, "g"), GROVE_OK);
    assert_int_equal(grove_gang_anchor(w.g, 0, gone, GROVE_STRENGTH_REQUIRED), GROVE_E_INVALID);
    assert_int_equal(grove_gang_anchor(w.g, 0, 99, GROVE_STRENGTH_REQUIRED), GROVE_E_INVALID);
    assert_int_equal(grove_gang_anchor(w.g, 0, w.node, -1), GROVE_E_INVALID);
    assert_int_equal(grove_gang_anchor(w.g, 31, w.node, GROVE_STRENGTH_REQUIRED), GROVE_E_INVALID);
    assert_int_equal(grove_gang_anchor(w.g, 0, w.node, 99), GROVE_E_INVALID);
    assert_int_equal(grove_sched_class_allows(w.s, 9, w.node), 0);
    assert_int_equal(grove_sched_class_allows(w.s, w.cls, w.node), 1);
    assert_int_equal(grove_sched_class_allows(w.s, w.cls, gone), 0);
    assert_int_equal(grove_sched_class_allows(w.s, w.cls, 99), 0);
    w.hash = grove_sched_hash(w.s);
    close_world(&w);
}

/* How wide a gang may be, how many pods, how many queues: to the last one. */
static void test_bounds(void **state) {
    (void)state;
    world w;
    open_world(&w);
    uint32_t id;
    assert_int_equal(grove_gang_podgroup(w.g, "p", w.cls, 0, 65535, -1, -1, &id), GROVE_OK);
    assert_int_equal(grove_gang_podgroup(w.g, "p", w.cls, 0, 65536, -1, -1, &id), GROVE_E_LIMIT);
    assert_int_equal(grove_gang_begin(w.g, w.topology, "wide"), GROVE_OK);
    for (uint32_t i = 0; i < 4096; i++) {
        assert_int_equal(grove_gang_podgroup(w.g, "p", w.cls, 0, 1, -1, -1, &id), GROVE_OK);
        assert_int_equal(id, i);
    }
    assert_int_equal(grove_gang_podgroup(w.g, "p", w.cls, 0, 1, -1, -1, &id), GROVE_E_LIMIT);
    for (uint32_t i = 2; i < 64; i++) { /* pods and GPUs are there */
        char name[8];
        snprintf(name, sizeof name, "r%u", (unsigned)i);
        assert_int_equal(grove_sched_resource(w.s, name, &id), GROVE_OK);
        assert_int_equal(id, i);
    }
    assert_int_equal(grove_sched_resource(w.s, "r64", &id), GROVE_E_LIMIT);
    assert_int_equal(grove_sched_resource(w.s, "r63", &id), GROVE_OK); /* one that is known */
    assert_int_equal(grove_sched_resource_count(w.s), 64);
    w.hash = grove_sched_hash(w.s);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gangs),   cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_cluster), cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests_name("sched misuse", tests, NULL, NULL);
}
