/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that other schedulers had in the field, by their number in our collection (SCH, TOP), and
 * small cases in which a scheduler that takes one thing after the other loses (CX).
 */
#include "blocks.h"

#include "support/oom.h"

/* Equal required and preferred levels are legal and behave as required. */
static void test_TOP_04(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, RACK, RACK);
    group_of(&w, w.whole, 4, 4, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), RACK);
    begin(&w, RACK, RACK);
    group_of(&w, w.whole, 5, 5, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    end(&w);
}

/* Nothing to place is placed; pods without requests are bounded by the number of pods alone. */
static void test_TOP_06(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, RACK, BLOCK);
    group_of(&w, w.whole, 0, 0, HOST);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t nothing = class_of(&w, 0);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, nothing, 440, 440, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, nothing, 441, 441, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    end(&w);
}

/* The tree is whole both ways, whatever comes first: a new rack of a known block takes part at once. */
static void test_TOP_07(void **state) {
    (void)state;
    world w;
    uint32_t id;
    make(&w);
    for (uint32_t i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "late%u", i);
        grove_sched_label labels[2] = {{"rack", "new"}, {"block", i < 2 ? "b1" : "b2"}};
        int64_t capacity[2] = {110, 64};
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .name = name,
                                 .labels = labels,
                                 .n_labels = 2,
                                 .capacity = capacity,
                                 .n_capacity = 2};
        assert_int_equal(grove_sched_node_add(w.s, &node, &id, NULL), GROVE_OK);
        assert_int_equal(grove_sched_verify(w.s, NULL), GROVE_OK);
        assert_int_equal(grove_sched_domain_count(w.s, w.topo, RACK), i < 2 ? 5 : 6);
    }
    uint32_t big = class_of(&w, 64);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, big, 2, 2, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    begin(&w, RACK,
          GROVE_LEVEL_NONE); /* two racks of the name "new", in different blocks, are two */
    group_of(&w, big, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    end(&w);
}

/* Counts do not overflow, and a node that holds more than it has takes nothing, for now. */
static void test_TOP_09(void **state) {
    (void)state;
    world w;
    uint32_t mem, id;
    make(&w);
    assert_int_equal(grove_sched_resource(w.s, "memory", &mem), GROVE_OK);
    grove_sched_label labels[2] = {{"block", "b0"}, {"rack", "r0"}};
    int64_t capacity[3] = {3, 0, INT64_C(2) << 40};
    grove_sched_node node = {.size = (uint32_t)sizeof node,
                             .name = "huge",
                             .labels = labels,
                             .n_labels = 2,
                             .capacity = capacity,
                             .n_capacity = 3};
    assert_int_equal(grove_sched_node_add(w.s, &node, &id, NULL), GROVE_OK);
    int64_t requests[3] = {1, 0, 1};
    uint32_t cls;
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 3};
    assert_int_equal(grove_sched_class(w.s, &spec, &cls, NULL), GROVE_OK);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, cls, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    (void)commit(&w);
    capacity[2] = 1; /* three bytes are used */
    assert_int_equal(grove_sched_node_update(w.s, id, &node, NULL), GROVE_OK);
    assert_true(grove_sched_node_free(w.s, id)[mem] < 0);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, cls, 1, 1, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    capacity[0] = 9;
    capacity[2] = 9;
    assert_int_equal(grove_sched_node_update(w.s, id, &node, NULL), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    end(&w);
}

/* Two gangs of different queues and one free node: the second is decided after the first is committed. */
static void test_TOP_11(void **state) {
    (void)state;
    world w;
    make(&w);
    grove_gang *gangs[2] = {w.g, NULL};
    grove_decision *decisions[2] = {w.d, NULL};
    const grove_served *served;
    assert_int_equal(grove_gang_new(w.s, &gangs[1]), GROVE_OK);
    assert_int_equal(grove_decision_new(w.s, &decisions[1]), GROVE_OK);
    for (uint32_t i = 1; i < NODES; i++) {
        fill(&w, i, 0);
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t q, pg;
        grove_queue spec = {.size = (uint32_t)sizeof spec, .name = i ? "b" : "a", .weight = 1};
        assert_int_equal(grove_sched_queue(w.s, &spec, &q, NULL), GROVE_OK);
        assert_int_equal(grove_gang_begin(gangs[i], w.topo, "g"), GROVE_OK);
        assert_int_equal(grove_gang_podgroup(gangs[i], "p", w.whole, 1, 1, GROVE_LEVEL_NONE,
                                             GROVE_LEVEL_NONE, &pg),
                         GROVE_OK);
        assert_int_equal(grove_gang_queue(gangs[i], q), GROVE_OK);
    }
    assert_int_equal(
        grove_sched_serve(w.s, (const grove_gang *const *)gangs, decisions, 2, NULL, &served, NULL),
        GROVE_OK);
    assert_int_equal(grove_decision_verdict(decisions[0]), GROVE_PLACED);
    assert_int_equal(grove_decision_verdict(decisions[1]), GROVE_INFEASIBLE);
    assert_int_equal(grove_sched_release(w.s, served[0].gang), GROVE_OK);
    assert_int_equal(grove_sched_serve(w.s, (const grove_gang *const *)gangs + 1, decisions + 1, 1,
                                       NULL, &served, NULL),
                     GROVE_OK);
    assert_int_equal(grove_decision_verdict(decisions[1]), GROVE_PLACED); /* not pinned to a loss */
    grove_gang_free(gangs[1]);
    grove_decision_free(decisions[1]);
    end(&w);
}

/* A member scaled to nothing is passed over, also inside a group and when the rest is placed anew. */
static void test_TOP_13(void **state) {
    (void)state;
    world w;
    uint32_t ids[2], group;
    make(&w);
    begin(&w, BLOCK, GROVE_LEVEL_NONE);
    ids[0] = group_of(&w, w.whole, 0, 0, HOST);
    ids[1] = group_of(&w, w.whole, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_group(w.g, "g", ids, 2, RACK, GROVE_LEVEL_NONE, &group), GROVE_OK);
    assert_int_equal(grove_gang_group(w.g, "empty", NULL, 0, RACK, GROVE_LEVEL_NONE, &group),
                     GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(placed(&w, ids[0]), 0);
    assert_int_equal(placed(&w, ids[1]), 3);
    (void)commit(&w);
    end(&w);
}

/* A leader and two workers run; two more workers are placed near them, and nobody moves. */
static void test_TOP_15(void **state) {
    (void)state;
    world w;
    uint32_t n;
    make(&w);
    for (uint32_t i = 8; i < 11; i++) {
        fill(&w, i, 4);
    }
    begin(&w, RACK, GROVE_LEVEL_NONE);
    uint32_t leader = group_of(&w, w.half, 1, 1, GROVE_LEVEL_NONE);
    uint32_t worker = group_of(&w, w.half, 4, 4, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_member(w.g, leader, w.node[8]), GROVE_OK);
    assert_int_equal(grove_gang_member(w.g, worker, w.node[9]), GROVE_OK);
    assert_int_equal(grove_gang_member(w.g, worker, w.node[10]), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    (void)grove_decision_nodes(w.d, leader, &n);
    assert_int_equal(n, 0);
    (void)grove_decision_nodes(w.d, worker, &n);
    assert_int_equal(n, 2);
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(domain(&w, RACK, node_at(&w, worker, k)), domain(&w, RACK, w.node[8]));
    }
    end(&w);
}

/* A description is read only: asked again, also after explaining and preempting, it means the same. */
static void test_TOP_16(void **state) {
    (void)state;
    world w;
    grove_buf text;
    make(&w);
    fill(&w, 0, 0);
    begin(&w, RACK, HOST);
    uint32_t p = group_of(&w, w.whole, 5, 7, RACK);
    grove_buf_init(&text, env);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(place(&w), GROVE_INFEASIBLE);
        assert_int_equal(reason(&w), GROVE_REASON_COUNT);
        assert_int_equal(grove_sched_explain(w.s, w.g, w.d, 0, &text, NULL), GROVE_OK);
        assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
        assert_int_equal(grove_decision_verdict(w.d), GROVE_INFEASIBLE);
    }
    grove_buf_fini(&text);
    assert_int_equal(grove_gang_pack(w.g, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE), GROVE_OK);
    assert_int_equal(place(&w), GROVE_INFEASIBLE); /* the podgroup's own level is still there */
    (void)p;
    end(&w);
}

/* Two nested domains with the same nodes: the narrower one is what the pods share. */
static void test_TOP_17(void **state) {
    (void)state;
    world w;
    make(&w);
    for (uint32_t i = 4; i < 8; i++) { /* block 0 has one rack left */
        assert_int_equal(grove_sched_node_remove(w.s, w.node[i]), GROVE_OK);
    }
    begin(&w, BLOCK, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 4, 4, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_anchor(w.g, BLOCK, w.node[0], GROVE_STRENGTH_REQUIRED), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), RACK);
    end(&w);
}

/* Levels in the wrong order are seen. */
static void test_TOP_18(void **state) {
    (void)state;
    static const char *const reversed[] = {"rack", "block"};
    world w;
    uint32_t topo;
    make(&w);
    assert_int_equal(grove_sched_topology(w.s, "reversed", reversed, 2, &topo, NULL), GROVE_OK);
    assert_int_equal(grove_sched_topology_conflicts(w.s, w.topo, RACK), 0);
    assert_int_equal(grove_sched_topology_conflicts(w.s, topo, 1),
                     2); /* each block under two racks */
    end(&w);
}

/* The same gang with and without a constraint: a refusal of one says nothing about the other. */
static void test_SCH_01(void **state) {
    (void)state;
    world w;
    make(&w);
    for (int twice = 0; twice < 2; twice++) {
        begin(&w, RACK, GROVE_LEVEL_NONE);
        group_of(&w, w.whole, 5, 5, GROVE_LEVEL_NONE);
        assert_int_equal(place(&w), GROVE_INFEASIBLE);
        begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
        group_of(&w, w.whole, 5, 5, GROVE_LEVEL_NONE);
        assert_int_equal(place(&w), GROVE_PLACED);
    }
    end(&w);
}

/* Victims of an elastic gang: surplus down to the minimum, then the whole gang. */
static void test_SCH_03(void **state) {
    (void)state;
    world w;
    uint32_t n;
    make(&w);
    for (uint32_t i = 6; i < NODES; i++) {
        fill(&w, i, 0);
    }
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 2, 6, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(placed(&w, 0), 6);
    (void)commit(&w);
    for (uint32_t need = 1; need <= 6; need++) {
        begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
        group_of(&w, w.whole, need, need, GROVE_LEVEL_NONE);
        assert_int_equal(grove_gang_priority(w.g, 1000), GROVE_OK);
        assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
        const grove_victim *v = grove_decision_victims(w.d, &n);
        assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
        assert_int_equal(n, need <= 4 ? need : 1);
        assert_true((v[0].pod == GROVE_SCHED_NONE) == (need > 4));
    }
    end(&w);
}

/* Groups without a level, with a wish only, with a must, and with both: all are placed. */
static void test_SCH_05(void **state) {
    (void)state;
    world w;
    make(&w);
    for (int way = 0; way < 4; way++) {
        uint32_t ids[2], group;
        begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
        ids[0] = group_of(&w, w.half, 1, 1, GROVE_LEVEL_NONE);
        ids[1] = group_of(&w, w.whole, 2, 2, GROVE_LEVEL_NONE);
        assert_int_equal(grove_gang_group(w.g, "g", ids, 2, way & 2 ? BLOCK : GROVE_LEVEL_NONE,
                                          way & 1 ? RACK : GROVE_LEVEL_NONE, &group),
                         GROVE_OK);
        assert_int_equal(place(&w), GROVE_PLACED);
        assert_true(grove_decision_level(w.d, GROVE_ENTITY_GROUP, group) >= (way & 1   ? RACK
                                                                             : way & 2 ? BLOCK
                                                                                       : -1));
    }
    end(&w);
}

/* A thousand pods of 300m on 300 CPUs: exactly, not one more and not one less. */
static void test_SCH_06(void **state) {
    (void)state;
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t cpu, topo, id, cls, pg;
    static const char *const keys[] = {"rack"};
    assert_int_equal(grove_sched_new(env, NULL, &s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "cpu", &cpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(s, "t", keys, 1, &topo, NULL), GROVE_OK);
    int64_t capacity[2] = {2000, 300000}, requests[2] = {1, 300};
    grove_sched_node node = {
        .size = (uint32_t)sizeof node, .name = "n", .capacity = capacity, .n_capacity = 2};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    assert_int_equal(grove_sched_node_add(s, &node, &id, NULL), GROVE_OK);
    assert_int_equal(grove_sched_class(s, &spec, &cls, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(s, &g), GROVE_OK);
    assert_int_equal(grove_decision_new(s, &d), GROVE_OK);
    for (uint32_t n = 1000; n <= 1001; n++) {
        assert_int_equal(grove_gang_begin(g, topo, "g"), GROVE_OK);
        assert_int_equal(
            grove_gang_podgroup(g, "p", cls, n, n, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
            GROVE_OK);
        assert_int_equal(grove_sched_place(s, g, NULL, d, NULL), GROVE_OK);
        assert_int_equal(grove_decision_verdict(d), n == 1000 ? GROVE_PLACED : GROVE_INFEASIBLE);
    }
    grove_gang_free(g);
    grove_decision_free(d);
    grove_sched_free(s);
}

/* 20,000 gangs come and go, some preempted: memory stays what the first hundred took. */
static void test_SCH_08(void **state) {
    (void)state;
    oom_memory memory;
    oom_memory_init(&memory);
    grove_env *usual = env;
    world w;
    env = oom_env(&memory, NULL);
    make(&w);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        begin(&w, i % 3 ? GROVE_LEVEL_NONE : RACK, i % 2 ? RACK : GROVE_LEVEL_NONE);
        group_of(&w, i % 5 ? w.half : w.whole, 1 + i % 4, 1 + i % 4 + i % 2, GROVE_LEVEL_NONE);
        assert_int_equal(place(&w), GROVE_PLACED);
        assert_int_equal(grove_sched_release(w.s, commit(&w)), GROVE_OK);
        before = i == 100 ? memory.allocations : before;
    }
#ifndef GV_DEBUG_ARENA /* there each object is an allocation of its own */
    assert_true(memory.allocations - before < 50);
#else
    (void)before;
#endif
    end(&w);
    grove_env_unref(env);
    env = usual;
}

/* A request of 0 is no request: on nodes without that resource as well. */
static void test_SCH_09(void **state) {
    (void)state;
    world w;
    make(&w);
    for (uint32_t i = 0; i < NODES; i++) {
        fill(&w, i, 0);
    }
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, class_of(&w, 0), 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    end(&w);
}

/* CX10: pods that ask for no GPU at all stand in the way of one that does. */
static void test_CX10(void **state) {
    (void)state;
    world w;
    uint32_t cpu, id, cls, n;
    make(&w);
    assert_int_equal(grove_sched_resource(w.s, "cpu", &cpu), GROVE_OK);
    for (uint32_t i = 0; i < NODES; i++) {
        int64_t capacity[3] = {110, 8, 16}, small[3] = {1, 1, 0}, wide[3] = {1, 0, 14};
        grove_sched_label labels[2] = {{"block", i < 8 ? "b0" : "b1"}, {"rack", "r"}};
        char rack[8];
        snprintf(rack, sizeof rack, "r%u", i / 4);
        labels[1].value = rack;
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .labels = labels,
                                 .n_labels = 2,
                                 .capacity = capacity,
                                 .n_capacity = 3};
        assert_int_equal(grove_sched_node_update(w.s, w.node[i], &node, NULL), GROVE_OK);
        grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                               .node = w.node[i],
                               .class_id = GROVE_SCHED_NONE,
                               .requests = small,
                               .n_requests = 3};
        assert_int_equal(grove_sched_pod_add(w.s, &pod, &id, NULL), GROVE_OK);
        pod.requests = wide;
        assert_int_equal(grove_sched_pod_add(w.s, &pod, &id, NULL), GROVE_OK);
    }
    int64_t requests[3] = {1, 4, 14};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 3};
    assert_int_equal(grove_sched_class(w.s, &spec, &cls, NULL), GROVE_OK);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, cls, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
    const grove_victim *v = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 3); /* the GPU pods can stay */
    for (uint32_t i = 0; i < n; i++) {
        assert_true(v[i].pod % 2 == 1); /* the wide ones were added second on each node */
    }
    end(&w);
}

/* CX13: equal segments, each in one rack: which rack takes how many decides. */
static void test_CX13(void **state) {
    (void)state;
    world w;
    make(&w);
    fill(&w, 0, 0); /* racks of 3, 4, 4 and 3 nodes */
    fill(&w, 15, 0);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    for (int i = 0; i < 2; i++) {
        group_of(&w, w.whole, 3, 3, RACK);
        group_of(&w, w.whole, 2, 2, RACK);
        group_of(&w, w.whole, 2, 2, RACK);
    }
    assert_int_equal(place(&w), GROVE_PLACED); /* 14 nodes, none to spare */
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_TOP_04), cmocka_unit_test(test_TOP_06), cmocka_unit_test(test_TOP_07),
        cmocka_unit_test(test_TOP_09), cmocka_unit_test(test_TOP_11), cmocka_unit_test(test_TOP_13),
        cmocka_unit_test(test_TOP_15), cmocka_unit_test(test_TOP_16), cmocka_unit_test(test_TOP_17),
        cmocka_unit_test(test_TOP_18), cmocka_unit_test(test_SCH_01), cmocka_unit_test(test_SCH_03),
        cmocka_unit_test(test_SCH_05), cmocka_unit_test(test_SCH_06), cmocka_unit_test(test_SCH_08),
        cmocka_unit_test(test_SCH_09), cmocka_unit_test(test_CX10),   cmocka_unit_test(test_CX13),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
