/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that were added one by one and are made a gang: they go together, and what cannot be is refused. */
#include "blocks.h"

/* A pod of 8 GPUs on a node, which nobody may evict. */
static uint32_t add(world *w, uint32_t node) {
    uint32_t id = GROVE_SCHED_NONE;
    grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                           .node = w->node[node],
                           .class_id = w->whole,
                           .flags = GROVE_POD_NEVER_EVICT};
    assert_int_equal(grove_sched_pod_add(w->s, &pod, &id, NULL), GROVE_OK);
    return id;
}

static grove_status form(world *w, const uint32_t *pods, uint32_t n, uint32_t surplus,
                         int32_t priority, uint32_t *out) {
    grove_sched_members m = {.size = (uint32_t)sizeof m,
                             .priority = priority,
                             .n_pods = n,
                             .n_surplus = surplus,
                             .pods = pods};
    return grove_sched_gang_form(w->s, &m, out, NULL);
}

static grove_verdict preempt(world *w, uint32_t pods, int32_t priority) {
    begin(w, RACK, GROVE_LEVEL_NONE);
    (void)group_of(w, w->whole, pods, pods, GROVE_LEVEL_NONE);
    assert_int_equal(grove_gang_priority(w->g, priority), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w->s, w->g, NULL, w->d, NULL), GROVE_OK);
    return grove_decision_verdict(w->d);
}

static void test_whole_and_single(void **state) {
    (void)state;
    world w;
    uint32_t pods[NODES], low, lower, n;
    uint64_t mark;
    make(&w);
    for (uint32_t i = 0; i < NODES; i++) {
        pods[i] = add(&w, i);
    }
    uint64_t before = grove_sched_hash(w.s);
    assert_int_equal(preempt(&w, 2, 9), GROVE_INFEASIBLE); /* pods by themselves stay */
    assert_int_equal(grove_sched_mark(w.s, &mark), GROVE_OK);
    assert_int_equal(form(&w, pods, 4, 2, 5, &low), GROVE_OK); /* rack 0: two it can do without */
    assert_int_equal(form(&w, pods + 4, 4, 0, 1, &lower), GROVE_OK);
    const uint32_t *members = grove_sched_gang_pods(w.s, low, &n);
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(members[i], pods[i]); /* the ids are kept */
        assert_int_equal(grove_sched_pod_node(w.s, pods[i]), w.node[i]);
    }
    assert_int_equal(preempt(&w, 2, 1), GROVE_INFEASIBLE); /* not of its own priority */
    assert_int_equal(preempt(&w, 2, 9), GROVE_PLACED);
    const grove_victim *v = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 1); /* the least important gang, whole */
    assert_int_equal(v[0].gang, lower);
    assert_int_equal(v[0].pod, GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_gang_flags(w.s, lower, GROVE_GANG_NEVER_EVICT), GROVE_OK);
    assert_int_equal(preempt(&w, 2, 9), GROVE_PLACED);
    v = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 2); /* the two pods that the other can do without */
    assert_true((v[0].pod == pods[2] && v[1].pod == pods[3]) ||
                (v[0].pod == pods[3] && v[1].pod == pods[2]));
    assert_int_equal(grove_sched_rollback(w.s, mark), GROVE_OK);
    assert_true(grove_sched_hash(w.s) == before);
    end(&w);
}

static void test_refused(void **state) {
    (void)state;
    world w;
    uint32_t pods[3], gang, other = 77;
    make(&w);
    for (uint32_t i = 0; i < 3; i++) {
        pods[i] = add(&w, i);
    }
    uint32_t twice[2] = {pods[0], pods[0]}, unknown[1] = {99};
    uint64_t before = grove_sched_hash(w.s);
    assert_int_equal(form(&w, twice, 2, 0, 0, &other), GROVE_E_INVALID);
    assert_int_equal(form(&w, unknown, 1, 0, 0, &other), GROVE_E_INVALID);
    assert_int_equal(form(&w, pods, 1, 2, 0, &other), GROVE_E_INVALID);
    assert_int_equal(form(&w, NULL, 1, 0, 0, &other), GROVE_E_INVALID);
    grove_sched_members m = {.size = (uint32_t)sizeof m, .queue = 5};
    assert_int_equal(grove_sched_gang_form(w.s, &m, &other, NULL), GROVE_E_NOT_FOUND);
    m = (grove_sched_members){.size = 3};
    assert_int_equal(grove_sched_gang_form(w.s, &m, &other, NULL), GROVE_E_INVALID);
    assert_true(grove_sched_hash(w.s) == before);
    assert_int_equal(other, 77);
    assert_int_equal(form(&w, pods, 2, 0, 0, &gang), GROVE_OK);
    assert_int_equal(form(&w, pods + 1, 2, 0, 0, &other), GROVE_E_INVALID); /* one has a gang */
    assert_int_equal(grove_sched_release(w.s, gang), GROVE_OK);
    assert_int_equal(grove_sched_pod_count(w.s), 1);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_and_single),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("sched form", tests, setup, teardown);
}
