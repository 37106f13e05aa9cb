/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a gang for a scheduler, rule by rule (S1 to S14), through the public interface. */
#include "blocks.h"

static void test_S1_whole_or_not_at_all(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 10, 10, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 7, 7, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    assert_null(grove_decision_nodes(w.d, 0, &(uint32_t){0}));
    uint32_t id;
    assert_int_equal(grove_sched_commit(w.s, w.g, w.d, &id, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_sched_pod_count(w.s), 0);
    end(&w);
}

static void test_S2_surplus_after_the_minimum(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    uint32_t a = group_of(&w, w.whole, 2, 9, GROVE_LEVEL_NONE);
    uint32_t b = group_of(&w, w.whole, 1, 1, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(placed(&w, a), 3); /* the rack's fourth node; surplus never leaves the rack */
    assert_int_equal(placed(&w, b), 1);
    uint32_t gang = commit(&w), n;
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 13, 13, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_pack(w.g, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE), GROVE_OK);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    const grove_victim *v = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 1); /* and it is the first to go */
    assert_int_equal(v[0].gang, gang);
    assert_int_not_equal(v[0].pod, GROVE_SCHED_NONE);
    end(&w);
}

static void test_S3_domains_nest(void **state) {
    (void)state;
    world w;
    uint32_t ids[2], group;
    make(&w);
    begin(&w, BLOCK, GROVE_LEVEL_NONE);
    ids[0] = group_of(&w, w.half, 2, 2, HOST);
    ids[1] = group_of(&w, w.whole, 3, 3, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 4, 4, RACK);
    assert_int_equal(grove_gang_group(w.g, "g", ids, 2, RACK, GROVE_LEVEL_NONE, &group), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t first = node_at(&w, 0, 0);
    assert_int_equal(node_at(&w, 0, 1), first);
    for (uint32_t k = 0; k < 3; k++) {
        assert_int_equal(domain(&w, RACK, node_at(&w, 1, k)), domain(&w, RACK, first));
    }
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal(domain(&w, BLOCK, node_at(&w, 2, k)), domain(&w, BLOCK, first));
    }
    end(&w);
}

static void test_S4_preferred_climbs_and_is_reported(void **state) {
    (void)state;
    static const struct {
        uint32_t pods;
        grove_level reached;
    } rows[] = {{4, RACK}, {5, BLOCK}, {8, BLOCK}, {9, GROVE_LEVEL_NONE}};
    world w;
    make(&w);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(&w, GROVE_LEVEL_NONE, RACK);
        group_of(&w, w.whole, rows[i].pods, rows[i].pods, GROVE_LEVEL_NONE);
        assert_int_equal(place(&w), GROVE_PLACED);
        assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), rows[i].reached);
    }
    end(&w);
}

static void test_S5_siblings_are_free(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.half, 2, 2, RACK);
    group_of(&w, w.half, 2, 2, RACK);
    assert_int_equal(place(&w), GROVE_PLACED); /* they may share */
    assert_int_equal(domain(&w, RACK, node_at(&w, 0, 0)), domain(&w, RACK, node_at(&w, 1, 0)));
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 3, 3, RACK);
    group_of(&w, w.whole, 3, 3, RACK);
    assert_int_equal(place(&w), GROVE_PLACED); /* they need not */
    assert_int_not_equal(domain(&w, RACK, node_at(&w, 0, 0)), domain(&w, RACK, node_at(&w, 1, 0)));
    end(&w);
}

static void test_S6_late_pods_stay_in_pinned_domains(void **state) {
    (void)state;
    world w;
    make(&w);
    fill(&w, 8, 0);                              /* a member sits there */
    for (uint32_t lost = 1; lost <= 3; lost++) { /* after any number of lost nodes */
        begin(&w, RACK, GROVE_LEVEL_NONE);
        uint32_t p = group_of(&w, w.whole, 1 + lost, 1 + lost, GROVE_LEVEL_NONE);
        assert_int_equal(grove_gang_member(w.g, p, w.node[8]), GROVE_OK);
        assert_int_equal(place(&w), GROVE_PLACED);
        for (uint32_t k = 0; k < lost; k++) {
            assert_int_equal(domain(&w, RACK, node_at(&w, p, k)), domain(&w, RACK, w.node[8]));
        }
    }
    fill(&w, 9, 0);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    uint32_t p = group_of(&w, w.whole, 4, 4, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_member(w.g, p, w.node[8]), GROVE_OK);
    assert_int_equal(place(&w),
                     GROVE_INFEASIBLE); /* never silently widened; other racks are empty */
    end(&w);
}

static void test_S7_scaled_gang_goes_with_its_base(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 8, 8, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t base = commit(&w), n;
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 8, 8, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_base(w.g, base), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t scaled = commit(&w);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 8, 8, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    const grove_victim *v = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 1); /* the scaled gang alone: its base would drag it along */
    assert_int_equal(v[0].gang, scaled);
    end(&w);
}

static void test_S8_anchor_domain(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 2, 2, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_anchor(w.g, BLOCK, w.node[15], GROVE_STRENGTH_REQUIRED), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(domain(&w, BLOCK, node_at(&w, 0, 0)), domain(&w, BLOCK, w.node[15]));
    for (uint32_t i = 8; i < 16; i++) {
        fill(&w, i, 0);
    }
    assert_int_equal(place(&w),
                     GROVE_INFEASIBLE); /* anchor full, although the other block is empty */
    assert_int_equal(grove_gang_anchor(w.g, BLOCK, w.node[15], GROVE_STRENGTH_PREFERRED), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED); /* a wish only breaks ties */
    end(&w);
}

static void test_S9_spread(void **state) {
    (void)state;
    world w;
    make(&w);
    uint32_t siblings[5];
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 4; i++) { /* one gang after the other: each rack once */
        begin(&w, RACK, GROVE_LEVEL_NONE);
        group_of(&w, w.half, 1, 1, GROVE_LEVEL_NONE);
        assert_int_equal(grove_gang_spread(w.g, RACK, 1, GROVE_STRENGTH_REQUIRED, siblings, i),
                         GROVE_OK);
        assert_int_equal(place(&w), GROVE_PLACED);
        siblings[i] = node_at(&w, 0, 0);
        seen |= 1u << domain(&w, RACK, siblings[i]);
        (void)commit(&w);
    }
    assert_int_equal(seen, 0xf);
    end(&w);
}

static void test_S10_no_constraint_is_not_an_unknown_level(void **state) {
    (void)state;
    world w;
    make(&w);
    assert_int_equal(grove_sched_level(w.s, w.topo, "nvlink"), GROVE_LEVEL_UNKNOWN);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_UNKNOWN); /* a dropped wish */
    group_of(&w, w.whole, 1, 1, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    begin(&w, GROVE_LEVEL_UNKNOWN, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 1, 1, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    assert_int_equal(reason(&w), GROVE_REASON_UNKNOWN_LEVEL);
    end(&w);
}

/* S11: pins hold for the life of a gang; a gang whose members were moved apart is told so. */
static void test_S11_pins_for_life(void **state) {
    (void)state;
    world w;
    make(&w);
    begin(&w, RACK, GROVE_LEVEL_NONE);
    uint32_t p = group_of(&w, w.whole, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_member(w.g, p, w.node[0]), GROVE_OK);
    assert_int_equal(grove_gang_member(w.g, p, w.node[4]), GROVE_OK);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    assert_int_equal(reason(&w), GROVE_REASON_PINNED_APART);
    end(&w);
}

static void test_S12_queue_is_an_opaque_key(void **state) {
    (void)state;
    world w;
    uint32_t q;
    make(&w);
    grove_queue spec = {.size = (uint32_t)sizeof spec, .name = "team/a: \xc3\xa4", .weight = 1};
    assert_int_equal(grove_sched_queue(w.s, &spec, &q, NULL), GROVE_OK);
    assert_int_equal(grove_sched_queue_find(w.s, spec.name), q);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 2, 2, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_queue(w.g, q), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t gang = commit(&w);
    assert_int_equal(grove_sched_queue_used(w.s, q)[1], 16);
    assert_int_equal(grove_sched_release(w.s, gang), GROVE_OK);
    assert_int_equal(grove_sched_queue_used(w.s, q)[1], 0);
    end(&w);
}

/* S13: the loss of a pod does not undo the gang, and pod index keeps its node when it comes back. */
static void test_S13_sticky_by_index(void **state) {
    (void)state;
    world w;
    uint32_t n;
    make(&w);
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 3, 3, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t gang = commit(&w), lost = node_at(&w, 0, 1);
    const uint32_t *pods = grove_sched_gang_pods(w.s, gang, &n);
    assert_int_equal(grove_sched_pod_remove(w.s, pods[1]), GROVE_OK);
    (void)grove_sched_gang_pods(w.s, gang, &n);
    assert_int_equal(n, 2); /* still a gang */
    begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 2, 2, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_sticky(w.g, 0, 1, lost), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(node_at(&w, 0, 1), lost);
    end(&w);
}

/* S14: a gang is packed by its own topology's labels, which need not agree with another one's. */
static void test_S14_several_topologies(void **state) {
    (void)state;
    static const char *const keys[] = {"rack", "slot"}; /* racks broadest, then hosts' halves */
    world w;
    uint32_t other, pg;
    make(&w);
    assert_int_equal(grove_sched_topology(w.s, "other", keys, 1, &other, NULL), GROVE_OK);
    assert_int_equal(grove_sched_host_level(w.s, other), 1);
    assert_int_equal(grove_sched_level(w.s, other, "block"), GROVE_LEVEL_UNKNOWN);
    assert_int_equal(grove_gang_begin(w.g, other, "g"), GROVE_OK);
    assert_int_equal(
        grove_gang_podgroup(w.g, "p", w.whole, 4, 4, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
        GROVE_OK);
    assert_int_equal(grove_gang_pack(w.g, 0, GROVE_LEVEL_NONE), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(domain(&w, RACK, node_at(&w, 0, 0)), domain(&w, RACK, node_at(&w, 0, 3)));
    (void)commit(&w);
    begin(&w, BLOCK, GROVE_LEVEL_NONE); /* the other tree sees what was taken */
    group_of(&w, w.whole, 8, 8, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED);
    (void)commit(&w);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    end(&w);
}

/* Parts of a host as nodes of their own, the host as narrowest label level. */
static void test_levels_below_the_host(void **state) {
    (void)state;
    static const char *const keys[] = {"rack", "machine"};
    uint32_t gpu, topo, id, cls, pg;
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    assert_int_equal(grove_sched_new(env, NULL, &s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "gpu", &gpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(s, "t", keys, 2, &topo, NULL), GROVE_OK);
    for (uint32_t i = 0; i < 8; i++) { /* four machines of two NUMA nodes with 4 GPUs */
        char name[16], machine[16];
        snprintf(name, sizeof name, "m%u-numa%u", i / 2, i % 2);
        snprintf(machine, sizeof machine, "m%u", i / 2);
        grove_sched_label labels[2] = {{"rack", "r"}, {"machine", machine}};
        int64_t capacity[2] = {110, 4};
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .name = name,
                                 .labels = labels,
                                 .n_labels = 2,
                                 .capacity = capacity,
                                 .n_capacity = 2};
        assert_int_equal(grove_sched_node_add(s, &node, &id, NULL), GROVE_OK);
    }
    assert_int_equal(grove_gang_new(s, &g), GROVE_OK);
    assert_int_equal(grove_decision_new(s, &d), GROVE_OK);
    int64_t requests[2] = {1, 3};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    assert_int_equal(grove_sched_class(s, &spec, &cls, NULL), GROVE_OK);
    for (uint32_t pods = 2; pods <= 3; pods++) {
        assert_int_equal(grove_gang_begin(g, topo, "g"), GROVE_OK);
        assert_int_equal(
            grove_gang_podgroup(g, "p", cls, pods, pods, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
            GROVE_OK);
        assert_int_equal(grove_gang_pack(g, 1, GROVE_LEVEL_NONE), GROVE_OK);
        assert_int_equal(grove_sched_place(s, g, NULL, d, NULL), GROVE_OK);
        /* 3 + 3 of 8 GPUs fit on a machine, one on each part; a third one has a part for itself no more */
        assert_int_equal(grove_decision_verdict(d), pods == 2 ? GROVE_PLACED : GROVE_INFEASIBLE);
    }
    grove_gang_free(g);
    grove_decision_free(d);
    grove_sched_free(s);
}

/* Two groups of three whole nodes each, where one rack alone has three: proved without a search. */
static void test_one_rack_for_two(void **state) {
    (void)state;
    world w;
    make(&w);
    for (uint32_t i = 6; i < NODES; i++) {
        fill(&w, i, 0);
    }
    begin(&w, BLOCK, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 3, 3, RACK);
    group_of(&w, w.whole, 3, 3, RACK);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(w.d, &c), GROVE_OK);
    assert_int_equal(c.reason, GROVE_REASON_CAPABILITY);
    assert_int_equal(c.have, 1);
    assert_int_equal(c.need, 2);
    /* One whole node less in one of them, and the other rack does. */
    begin(&w, BLOCK, GROVE_LEVEL_NONE);
    group_of(&w, w.whole, 3, 3, RACK);
    group_of(&w, w.whole, 2, 2, RACK);
    assert_int_equal(place(&w), GROVE_PLACED);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_S1_whole_or_not_at_all),
        cmocka_unit_test(test_S2_surplus_after_the_minimum),
        cmocka_unit_test(test_S3_domains_nest),
        cmocka_unit_test(test_S4_preferred_climbs_and_is_reported),
        cmocka_unit_test(test_S5_siblings_are_free),
        cmocka_unit_test(test_S6_late_pods_stay_in_pinned_domains),
        cmocka_unit_test(test_S7_scaled_gang_goes_with_its_base),
        cmocka_unit_test(test_S8_anchor_domain),
        cmocka_unit_test(test_S9_spread),
        cmocka_unit_test(test_S10_no_constraint_is_not_an_unknown_level),
        cmocka_unit_test(test_S11_pins_for_life),
        cmocka_unit_test(test_S12_queue_is_an_opaque_key),
        cmocka_unit_test(test_S13_sticky_by_index),
        cmocka_unit_test(test_S14_several_topologies),
        cmocka_unit_test(test_levels_below_the_host),
        cmocka_unit_test(test_one_rack_for_two),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
