/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps that take more than one gang, in every order of their lists: CX11, CX12 and CX14 (CX10 and CX13 are in
 * test_sched_faults.c, CX1 to CX9 in tests/golden/sched/cx.jsonl).
 */
#include "blocks.h"

/* The next order of n numbers; 0 after the last. */
static int next_order(uint32_t *v, uint32_t n) {
    uint32_t i = n - 1, k = n - 1;
    while (i > 0 && v[i - 1] >= v[i]) {
        i--;
    }
    if (i == 0) {
        return 0;
    }
    while (v[k] <= v[i - 1]) {
        k--;
    }
    uint32_t t = v[i - 1];
    v[i - 1] = v[k];
    v[k] = t;
    for (k = n - 1; i < k; i++, k--) {
        t = v[i];
        v[i] = v[k];
        v[k] = t;
    }
    return 1;
}

/* A small job on every half of every node, racks in the given order; those of low priority lie in all racks. */
static void crowd(world *w, const uint32_t *racks) {
    for (uint32_t i = 0; i < 2 * NODES; i++) {
        int64_t requests[2] = {1, 4};
        uint32_t id, node = 4 * racks[i % 4] + i / 4 % 4;
        grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                               .node = w->node[node],
                               .class_id = GROVE_SCHED_NONE,
                               .requests = requests,
                               .n_requests = 2,
                               .priority = (int32_t)(i / 8)};
        assert_int_equal(grove_sched_pod_add(w->s, &pod, &id, NULL), GROVE_OK);
    }
}

/* CX11: every rack is full of small jobs and a whole rack is needed: the victims empty one, and one only. */
static void test_CX11(void **state) {
    (void)state;
    uint32_t racks[4] = {0, 1, 2, 3}, n, orders = 0;
    do {
        world w;
        make(&w);
        crowd(&w, racks);
        begin(&w, RACK, GROVE_LEVEL_NONE);
        group_of(&w, w.whole, 4, 4, GROVE_LEVEL_NONE);
        assert_int_equal(grove_gang_priority(w.g, 10), GROVE_OK);
        assert_int_equal(place(&w), GROVE_INFEASIBLE);
        assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
        assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
        const grove_victim *v = grove_decision_victims(w.d, &n);
        assert_int_equal(n, 8);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(domain(&w, RACK, grove_sched_pod_node(w.s, v[i].pod)),
                             domain(&w, RACK, node_at(&w, 0, 0)));
        }
        end(&w);
        orders++;
    } while (next_order(racks, 4));
    assert_int_equal(orders, 24);
}

/* Podgroups of whole nodes in the given order. */
static void describe(world *w, const uint32_t *sizes, uint32_t n) {
    begin(w, BLOCK, GROVE_LEVEL_NONE);
    for (uint32_t i = 0; i < n; i++) {
        group_of(w, w->whole, sizes[i], sizes[i], GROVE_LEVEL_NONE);
    }
}

/*
 * CX12: a base gang that just fills the tighter block would leave its scaled gang no room in it. Asked about all
 * of the set at once, the scheduler names the block that has room for it; pinned there, base and scaled gang both
 * fit. Pinned to the wrong one, the scaled gang is refused and not put elsewhere.
 */
static void test_CX12(void **state) {
    (void)state;
    uint32_t sizes[4] = {1, 2, 3, 2}, orders = 0; /* the last two are the scaled gang's */
    uint32_t order[4] = {0, 1, 2, 3};
    do {
        world w;
        uint32_t listed[4], base[2], scaled[2], n_base = 0, n_scaled = 0;
        for (uint32_t i = 0; i < 4; i++) {
            listed[i] = sizes[order[i]];
            if (order[i] < 2) {
                base[n_base++] = listed[i];
            } else {
                scaled[n_scaled++] = listed[i];
            }
        }
        make(&w);
        for (uint32_t i = 0; i < 5; i++) {
            fill(&w, i,
                 0); /* three nodes are left in the first block: as many as the base asks for */
        }
        describe(&w, base, 2);
        assert_int_equal(place(&w), GROVE_PLACED);
        uint32_t tight = node_at(&w, 0, 0);
        assert_int_equal(domain(&w, BLOCK, tight), domain(&w, BLOCK, w.node[0]));

        describe(&w, listed, 4);
        assert_int_equal(place(&w), GROVE_PLACED);
        uint32_t home = node_at(&w, 0, 0);
        describe(&w, base, 2);
        assert_int_equal(grove_gang_anchor(w.g, BLOCK, home, GROVE_STRENGTH_REQUIRED), GROVE_OK);
        assert_int_equal(place(&w), GROVE_PLACED);
        commit(&w);
        describe(&w, scaled, 2);
        assert_int_equal(grove_gang_anchor(w.g, BLOCK, tight, GROVE_STRENGTH_REQUIRED), GROVE_OK);
        assert_int_equal(place(&w), GROVE_INFEASIBLE);
        assert_int_equal(grove_gang_anchor(w.g, BLOCK, home, GROVE_STRENGTH_REQUIRED), GROVE_OK);
        assert_int_equal(place(&w), GROVE_PLACED);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(domain(&w, BLOCK, node_at(&w, i, 0)), domain(&w, BLOCK, home));
        }
        end(&w);
        orders++;
    } while (next_order(order, 4));
    assert_int_equal(orders, 24);
}

/* CX14: workers of two roles, each half a rack: paired in groups, every rack holds one of either role. */
static void test_CX14(void **state) {
    (void)state;
    uint32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, orders = 0;
    do {
        world w;
        uint32_t id[8], group, racks = 0;
        if (orders++ % 97 != 0) { /* 416 of the 40,320 */
            continue;
        }
        make(&w);
        begin(&w, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE);
        for (uint32_t i = 0; i < 8; i++) { /* worker i: of role i % 2, in pair i / 2 */
            id[order[i]] = group_of(&w, w.whole, 2, 2, RACK);
        }
        for (uint32_t pair = 0; pair < 4; pair++) {
            uint32_t both[2] = {id[2 * pair], id[2 * pair + 1]};
            assert_int_equal(grove_gang_group(w.g, "g", both, 2, RACK, GROVE_LEVEL_NONE, &group),
                             GROVE_OK);
        }
        assert_int_equal(place(&w), GROVE_PLACED);
        for (uint32_t pair = 0; pair < 4; pair++) {
            uint32_t rack = domain(&w, RACK, node_at(&w, id[2 * pair], 0));
            assert_int_equal(domain(&w, RACK, node_at(&w, id[2 * pair + 1], 0)), rack);
            racks |= 1u << rack;
        }
        assert_int_equal(racks, 0xf);
        end(&w);
    } while (next_order(order, 8));
    assert_int_equal(orders, 40320);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_CX11),
        cmocka_unit_test(test_CX12),
        cmocka_unit_test(test_CX14),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
