/* SPDX-License-Identifier: Apache-2.0 */
/* Queues for callers who place gang by gang: limits hold in every decision, and the order can be asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#include "support/oom.h"

/* One node of 16 GPUs; gangs of one podgroup with a GPU each. */
typedef struct world {
    grove_sched *s;
    uint32_t topo, gpu, cls;
    grove_gang *g;
    grove_decision *d;
} world;

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

static void world_free(world *w) {
    grove_gang_free(w->g);
    grove_decision_free(w->d);
    grove_sched_free(w->s);
}

static grove_status world_make(grove_env *e, world *w) {
    static const char *const keys[] = {"rack"};
    int64_t requests[2] = {1, 1}, capacity[2] = {110, 16};
    grove_sched_label label = {"rack", "r"};
    grove_sched_node node = {.size = (uint32_t)sizeof node,
                             .name = "n",
                             .labels = &label,
                             .n_labels = 1,
                             .capacity = capacity,
                             .n_capacity = 2};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    uint32_t id;
    memset(w, 0, sizeof *w);
    grove_status st = grove_sched_new(e, NULL, &w->s, NULL);
    st = st < 0 ? st : grove_sched_resource(w->s, "gpu", &w->gpu);
    st = st < 0 ? st : grove_sched_topology(w->s, "t", keys, 1, &w->topo, NULL);
    st = st < 0 ? st : grove_sched_node_add(w->s, &node, &id, NULL);
    st = st < 0 ? st : grove_sched_class(w->s, &spec, &w->cls, NULL);
    st = st < 0 ? st : grove_gang_new(w->s, &w->g);
    st = st < 0 ? st : grove_decision_new(w->s, &w->d);
    if (st < 0) {
        world_free(w);
    }
    return st;
}

static grove_status describe(world *w, uint32_t min, uint32_t count, uint32_t queue,
                             int32_t priority) {
    uint32_t pg;
    grove_status st = grove_gang_begin(w->g, w->topo, "g");
    st = st < 0 ? st
                : grove_gang_podgroup(w->g, "w", w->cls, min, count, GROVE_LEVEL_NONE,
                                      GROVE_LEVEL_NONE, &pg);
    st = st < 0 ? st : grove_gang_queue(w->g, queue);
    return st < 0 ? st : grove_gang_priority(w->g, priority);
}

static grove_status declare(world *w, const char *name, uint32_t parent, int64_t deserved,
                            int64_t limit, uint32_t *out) {
    int64_t d[2] = {-1, deserved}, l[2] = {-1, limit};
    grove_queue q = {.size = (uint32_t)sizeof q,
                     .name = name,
                     .parent = parent,
                     .deserved = d,
                     .n_deserved = 2,
                     .limit = l,
                     .n_limit = 2,
                     .weight = 1};
    return grove_sched_queue(w->s, &q, out, NULL);
}

static uint32_t queue(world *w, const char *name, uint32_t parent, int64_t deserved,
                      int64_t limit) {
    uint32_t id = 0;
    assert_int_equal(declare(w, name, parent, deserved, limit, &id), GROVE_OK);
    return id;
}

static grove_verdict place(world *w, uint32_t min, uint32_t count, uint32_t queue,
                           int32_t priority) {
    assert_int_equal(describe(w, min, count, queue, priority), GROVE_OK);
    assert_int_equal(grove_sched_place(w->s, w->g, NULL, w->d, NULL), GROVE_OK);
    return grove_decision_verdict(w->d);
}

static void commit(world *w, uint32_t pods, uint32_t queue, int32_t priority) {
    uint32_t gang;
    assert_int_equal(place(w, pods, pods, queue, priority), GROVE_PLACED);
    assert_int_equal(grove_sched_commit(w->s, w->g, w->d, &gang, NULL), GROVE_OK);
}

static void check_limit(const world *w, uint32_t queue, int64_t have, int64_t need) {
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_verdict(w->d), GROVE_INFEASIBLE);
    assert_int_equal(grove_decision_certificate(w->d, &c), GROVE_OK);
    assert_int_equal(c.reason, GROVE_REASON_QUEUE_LIMIT);
    assert_int_equal(c.queue, queue);
    assert_int_equal(c.resource, w->gpu);
    assert_int_equal(c.have, have);
    assert_int_equal(c.need, need);
}

static uint32_t placed_pods(const world *w) {
    uint32_t n = 0, found = 0;
    const uint32_t *nodes = grove_decision_nodes(w->d, 0, &n);
    for (uint32_t i = 0; i < n; i++) {
        found += nodes[i] != GROVE_SCHED_NONE;
    }
    return found;
}

/* The minimum is refused, by the queue that is exceeded; surplus pods are left out. */
static void test_limits_hold_in_a_decision(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    uint32_t top = queue(&w, "top", 0, 0, 6), a = queue(&w, "a", top, 0, 5);
    uint32_t b = queue(&w, "b", top, 0, -1);
    assert_int_equal(place(&w, 6, 6, a, 0), GROVE_INFEASIBLE);
    check_limit(&w, a, 5, 6);
    commit(&w, 4, a, 0);
    assert_int_equal(place(&w, 3, 3, b, 0), GROVE_INFEASIBLE);
    check_limit(&w, top, 2, 3); /* that of the one above */
    assert_int_equal(place(&w, 1, 9, b, 0), GROVE_PLACED);
    assert_int_equal(placed_pods(&w), 2);
    assert_int_equal(place(&w, 0, 9, a, 0), GROVE_PLACED);
    assert_int_equal(placed_pods(&w), 1);
    assert_int_equal(place(&w, 12, 12, GROVE_QUEUE_NONE, 0), GROVE_PLACED);
    /* the answer that is remembered for a question is not that of the queue */
    assert_int_equal(place(&w, 13, 13, GROVE_QUEUE_NONE, 0), GROVE_INFEASIBLE);
    assert_int_equal(place(&w, 3, 3, b, 0), GROVE_INFEASIBLE);
    check_limit(&w, top, 2, 3);
    world_free(&w);
}

/* Room is there, only not for the queue: less important gangs of it make some, others are of no use. */
static void test_preemption_below_a_limit(void **state) {
    (void)state;
    world w;
    uint32_t n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 0, 5), b = queue(&w, "b", 0, 0, -1);
    commit(&w, 4, b, 0);
    commit(&w, 3, a, 1);
    commit(&w, 2, a, 2);
    assert_int_equal(describe(&w, 2, 2, a, 5), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
    const grove_victim *victims = grove_decision_victims(w.d, &n);
    assert_int_equal(n, 1);
    uint32_t count = 0;
    (void)grove_sched_gang_pods(w.s, victims[0].gang, &count);
    assert_int_equal(count, 3);
    assert_int_equal(describe(&w, 6, 6, a, 5), GROVE_OK); /* more than the limit: nobody helps */
    assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
    check_limit(&w, a, 5, 6);
    assert_int_equal(grove_sched_verify(w.s, NULL), GROVE_OK);
    world_free(&w);
}

/* Service preempts below a limit, and does not reclaim: what other queues have is of no use. */
static void test_service_below_a_limit(void **state) {
    (void)state;
    world w;
    const grove_served *served = NULL;
    grove_serve_options o = {.size = (uint32_t)sizeof o,
                             .flags = GROVE_SERVE_PREEMPT | GROVE_SERVE_RECLAIM,
                             .together = 4};
    assert_int_equal(world_make(env, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 16, 5), b = queue(&w, "b", 0, 0, -1);
    commit(&w, 4, b, 0);
    commit(&w, 4, a, 1);
    assert_int_equal(describe(&w, 2, 2, a, 1), GROVE_OK);
    const grove_gang *gangs[] = {w.g};
    assert_int_equal(grove_sched_serve(w.s, gangs, &w.d, 1, &o, &served, NULL), GROVE_OK);
    check_limit(&w, a, 1, 2);
    assert_int_equal(grove_gang_priority(w.g, 2), GROVE_OK);
    assert_int_equal(grove_sched_serve(w.s, gangs, &w.d, 1, &o, &served, NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
    assert_int_equal(served[0].flags, GROVE_SERVED_PREEMPTED);
    assert_int_equal(grove_sched_queue_used(w.s, a)[w.gpu], 2);
    assert_int_equal(grove_sched_queue_used(w.s, b)[w.gpu], 4);
    world_free(&w);
}

/* Gang by gang: who asks before each gang walks in the order of service. */
static void test_whose_turn_it_is(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    uint32_t x = queue(&w, "x", 0, 0, -1), y = queue(&w, "y", 0, 4, -1),
             z = queue(&w, "z", x, 0, -1);
    uint32_t gangs[4] = {0}, next = 9;
    int64_t waiting[4 * 2] = {0};
    gangs[y] = gangs[z] = 3;
    assert_int_equal(describe(&w, 2, 5, y, 0), GROVE_OK);
    int64_t need[3] = {7, 7, 7};
    assert_int_equal(grove_gang_needs(w.g, need, 3), GROVE_OK);
    assert_int_equal(need[0], 2);
    assert_int_equal(need[w.gpu], 2);
    assert_int_equal(need[2], 0); /* there is no such resource */
    waiting[y * 2 + w.gpu] = waiting[z * 2 + w.gpu] = 6;
    static const char order[] =
        "yyzzzy"; /* y up to what it deserves; then who uses less; then x, declared first */
    for (int i = 0; order[i]; i++) {
        assert_int_equal(grove_sched_next_queue(w.s, gangs, waiting, 4, &next, NULL), GROVE_OK);
        if (next != (order[i] == 'y' ? y : z)) {
            fail_msg("turn %d is that of queue %u", i, next);
        }
        gangs[next]--;
        waiting[next * 2 + w.gpu] -= 2;
        commit(&w, 2, next, 0);
    }
    assert_int_equal(grove_sched_next_queue(w.s, gangs, waiting, 4, &next, NULL), GROVE_OK);
    assert_int_equal(next, GROVE_QUEUE_NONE);
    assert_int_equal(grove_sched_next_queue(w.s, NULL, NULL, 0, &next, NULL), GROVE_OK);
    assert_int_equal(next, GROVE_QUEUE_NONE);
    assert_int_equal(grove_sched_next_queue(w.s, NULL, waiting, 4, &next, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_gang_needs(NULL, need, 2), GROVE_E_INVALID);
    world_free(&w);
}

static grove_status ask_once(grove_env *e, void *ctx) {
    world w;
    (void)ctx;
    uint32_t q = 0, next = 0, gangs[2] = {0, 1};
    int64_t waiting[4] = {0, 0, 0, 8};
    grove_status st = world_make(e, &w);
    if (st < 0) {
        return st;
    }
    st = declare(&w, "a", 0, 0, 4, &q);
    st = st < 0 ? st : grove_sched_next_queue(w.s, gangs, waiting, 2, &next, NULL);
    st = st < 0 ? st : describe(&w, 2, 9, q, 0);
    st = st < 0 ? st : grove_sched_place(w.s, w.g, NULL, w.d, NULL);
    if (st == GROVE_OK) {
        assert_int_equal(next, q);
        assert_int_equal(placed_pods(&w), 4);
    }
    world_free(&w);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    oom_loop("limits", ask_once, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_hold_in_a_decision),
        cmocka_unit_test(test_preemption_below_a_limit),
        cmocka_unit_test(test_service_below_a_limit),
        cmocka_unit_test(test_whose_turn_it_is),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
