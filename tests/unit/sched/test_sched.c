/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's public interface: one small cluster, looked at from all sides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#include "support/oom.h"

/* Two blocks of two racks of four nodes with 8 GPUs. */
typedef struct world {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topo, gpu, cpu;
    uint32_t node[16];
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

static grove_status add_node(world *w, uint32_t i, const char *block, const char *rack,
                             uint32_t *out) {
    char name[16];
    snprintf(name, sizeof name, "n%02u", i);
    grove_sched_label labels[2];
    uint32_t n = 0;
    if (block) {
        labels[n++] = (grove_sched_label){"block", block};
    }
    if (rack) {
        labels[n++] = (grove_sched_label){"rack", rack};
    }
    int64_t capacity[3] = {110, 8, 64000};
    grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                             .name = name,
                             .labels = labels,
                             .n_labels = n,
                             .capacity = capacity,
                             .n_capacity = 3};
    return grove_sched_node_add(w->s, &spec, out, NULL);
}

static void world_free(world *w) {
    grove_gang_free(w->g);
    grove_decision_free(w->d);
    grove_sched_free(w->s);
}

static grove_status world_make(grove_env *e, world *w) {
    static const char *const keys[] = {"block", "rack"};
    static const char *const blocks[] = {"b0", "b1"};
    static const char *const racks[] = {"r0", "r1", "r2", "r3"};
    memset(w, 0, sizeof *w);
    grove_status st = grove_sched_new(e, NULL, &w->s, NULL);
    st = st < 0 ? st : grove_sched_resource(w->s, "gpu", &w->gpu);
    st = st < 0 ? st : grove_sched_resource(w->s, "cpu", &w->cpu);
    st = st < 0 ? st : grove_sched_topology(w->s, "t", keys, 2, &w->topo, NULL);
    st = st < 0 ? st : grove_gang_new(w->s, &w->g);
    st = st < 0 ? st : grove_decision_new(w->s, &w->d);
    for (uint32_t i = 0; i < 16 && st == GROVE_OK; i++) {
        st = add_node(w, i, blocks[i / 8], racks[i / 4], &w->node[i]);
    }
    if (st < 0) {
        world_free(w);
    }
    return st;
}

static grove_status gpu_class(world *w, int64_t gpus, uint32_t *out) {
    int64_t requests[3] = {1, gpus, 1000};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 3};
    return grove_sched_class(w->s, &spec, out, NULL);
}

static void describe(world *w, uint32_t cls, uint32_t min, uint32_t count, const char *required,
                     const char *preferred) {
    uint32_t pg;
    assert_int_equal(grove_gang_begin(w->g, w->topo, "gang"), GROVE_OK);
    assert_int_equal(
        grove_gang_podgroup(w->g, "w", cls, min, count, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
        GROVE_OK);
    grove_level r = required ? grove_sched_level(w->s, w->topo, required) : GROVE_LEVEL_NONE;
    grove_level p = preferred ? grove_sched_level(w->s, w->topo, preferred) : GROVE_LEVEL_NONE;
    assert_int_equal(grove_gang_pack(w->g, r, p), GROVE_OK);
}

static grove_verdict place(world *w) {
    assert_int_equal(grove_sched_place(w->s, w->g, NULL, w->d, NULL), GROVE_OK);
    return grove_decision_verdict(w->d);
}

static uint32_t commit(world *w) {
    uint32_t id;
    assert_int_equal(grove_sched_commit(w->s, w->g, w->d, &id, NULL), GROVE_OK);
    assert_int_equal(grove_sched_verify(w->s, NULL), GROVE_OK);
    return id;
}

static void test_required_rack(void **state) {
    (void)state;
    world w;
    uint32_t cls, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 4, 4, "rack", NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    const uint32_t *nodes = grove_decision_nodes(w.d, 0, &n);
    assert_int_equal(n, 4);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(grove_sched_domain_of(w.s, w.topo, 1, nodes[i]),
                         grove_sched_domain_of(w.s, w.topo, 1, nodes[0]));
    }
    assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), 1);
    assert_int_equal(grove_decision_score(w.d), 1000000);
    describe(&w, cls, 5, 5, "rack", NULL);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(w.d, &c), GROVE_OK);
    assert_int_equal(c.reason, GROVE_REASON_COUNT);
    assert_int_equal(c.have, 4);
    assert_int_equal(c.need, 5);
    world_free(&w);
}

static void test_preferred_climbs(void **state) {
    (void)state;
    world w;
    uint32_t cls;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 5, 5, NULL, "rack");
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), 0); /* the block */
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    assert_int_equal(grove_decision_cost(w.d, &cost), GROVE_OK);
    assert_true(cost.climbed > 0);
    describe(&w, cls, 9, 9, NULL, "rack");
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_decision_level(w.d, GROVE_ENTITY_GANG, 0), GROVE_LEVEL_NONE);
    describe(&w, cls, 9, 9, "block", "rack");
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    world_free(&w);
}

static void test_surplus_after_minimum(void **state) {
    (void)state;
    world w;
    uint32_t cls, n, placed = 0;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 3, 6, "rack", NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    const uint32_t *nodes = grove_decision_nodes(w.d, 0, &n);
    assert_int_equal(n, 6);
    for (uint32_t i = 0; i < n; i++) {
        placed += nodes[i] != GROVE_SCHED_NONE;
        assert_true(i >= 4 || nodes[i] != GROVE_SCHED_NONE);
    }
    assert_int_equal(placed, 4); /* the rack's size; two of the surplus stay out */
    commit(&w);
    world_free(&w);
}

static void test_members_pin(void **state) {
    (void)state;
    world w;
    uint32_t cls, n, pod;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    grove_sched_pod there = {.size = (uint32_t)sizeof there, .node = w.node[9], .class_id = cls};
    assert_int_equal(grove_sched_pod_add(w.s, &there, &pod, NULL), GROVE_OK);
    describe(&w, cls, 3, 3, "rack", NULL);
    assert_int_equal(grove_gang_member(w.g, 0, w.node[9]), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    const uint32_t *nodes = grove_decision_nodes(w.d, 0, &n);
    assert_int_equal(n, 2);
    assert_true(nodes[0] >= 8 && nodes[0] < 12 && nodes[1] >= 8 && nodes[1] < 12);
    describe(&w, cls, 3, 3, "rack", NULL);
    assert_int_equal(grove_gang_member(w.g, 0, w.node[9]), GROVE_OK);
    assert_int_equal(grove_gang_member(w.g, 0, w.node[0]), GROVE_OK);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(w.d, &c), GROVE_OK);
    assert_int_equal(c.reason, GROVE_REASON_PINNED_APART);
    world_free(&w);
}

static void test_anchor_and_spread(void **state) {
    (void)state;
    world w;
    uint32_t cls, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 2, 2, "rack", NULL);
    assert_int_equal(grove_gang_anchor(w.g, 0, w.node[12], GROVE_STRENGTH_REQUIRED), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_true(grove_decision_nodes(w.d, 0, &n)[0] >= 8);
    describe(&w, cls, 2, 2, "rack", NULL);
    uint32_t siblings[] = {w.node[0], w.node[4], w.node[8]};
    assert_int_equal(grove_gang_spread(w.g, 1, 1, GROVE_STRENGTH_REQUIRED, siblings, 3), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_true(grove_decision_nodes(w.d, 0, &n)[0] >= 12);
    world_free(&w);
}

static void test_sticky(void **state) {
    (void)state;
    world w;
    uint32_t cls, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 1, 1, "rack", NULL);
    assert_int_equal(grove_gang_sticky(w.g, 0, 0, w.node[6]), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_decision_nodes(w.d, 0, &n)[0], w.node[6]);
    world_free(&w);
}

static void test_what_if(void **state) {
    (void)state;
    world w;
    uint32_t cls;
    uint64_t mark;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 4, 4, "rack", NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t first = commit(&w);
    uint64_t before = grove_sched_hash(w.s);
    assert_int_equal(grove_sched_mark(w.s, &mark), GROVE_OK);
    assert_int_equal(grove_sched_release(w.s, first), GROVE_OK);
    assert_int_equal(place(&w), GROVE_PLACED);
    commit(&w);
    assert_int_equal(place(&w), GROVE_PLACED);
    commit(&w);
    assert_int_not_equal(grove_sched_hash(w.s), before);
    assert_int_equal(grove_sched_rollback(w.s, mark), GROVE_OK);
    assert_int_equal(grove_sched_hash(w.s), before);
    assert_int_equal(grove_sched_verify(w.s, NULL), GROVE_OK);
    world_free(&w);
}

static void test_unlabelled_nodes(void **state) {
    (void)state;
    world w;
    uint32_t cls, id, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    for (uint32_t i = 16; i < 22; i++) {
        assert_int_equal(add_node(&w, i, "b1", NULL, &id), GROVE_OK);
    }
    describe(&w, cls, 5, 5, "rack", NULL);
    assert_int_equal(place(&w), GROVE_INFEASIBLE); /* six nodes without a rack are no rack */
    describe(&w, cls, 14, 14, "block", NULL);
    assert_int_equal(place(&w), GROVE_PLACED); /* but they lie in the block */
    assert_true(grove_decision_nodes(w.d, 0, &n)[0] >= 8);
    assert_int_equal(grove_sched_domain_of(w.s, w.topo, 1, id), GROVE_SCHED_NONE);
    world_free(&w);
}

static void test_unknown_level_and_crossing_groups(void **state) {
    (void)state;
    world w;
    uint32_t cls, pg[3], gr;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 1, &cls), GROVE_OK);
    assert_int_equal(grove_sched_level(w.s, w.topo, "zone"), GROVE_LEVEL_UNKNOWN);
    describe(&w, cls, 1, 1, "zone", NULL);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    describe(&w, cls, 1, 1, NULL, "zone");
    assert_int_equal(place(&w), GROVE_PLACED);
    assert_int_equal(grove_gang_begin(w.g, w.topo, "x"), GROVE_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            grove_gang_podgroup(w.g, "p", cls, 1, 1, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg[i]),
            GROVE_OK);
    }
    assert_int_equal(grove_gang_group(w.g, "a", &pg[0], 2, 1, GROVE_LEVEL_NONE, &gr), GROVE_OK);
    assert_int_equal(grove_gang_group(w.g, "b", &pg[1], 2, 1, GROVE_LEVEL_NONE, &gr), GROVE_OK);
    assert_int_equal(grove_sched_place(w.s, w.g, NULL, w.d, NULL), GROVE_E_INVALID);
    world_free(&w);
}

static void test_nothing_to_place(void **state) {
    (void)state;
    world w;
    uint32_t cls;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 1, &cls), GROVE_OK);
    describe(&w, cls, 0, 0, "rack", NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    commit(&w);
    describe(&w, cls, 0, 3, "rack", NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t n;
    assert_int_not_equal(grove_decision_nodes(w.d, 0, &n)[2], GROVE_SCHED_NONE);
    world_free(&w);
}

/* A cluster that has lost all its nodes: whatever the gang requires, a no. */
static void test_no_nodes(void **state) {
    static const char *const levels[] = {NULL, "block", "rack", "host"};
    (void)state;
    world w;
    uint32_t cls;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 1, &cls), GROVE_OK);
    for (uint32_t i = 0; i < grove_sched_node_limit(w.s); i++) {
        assert_int_equal(grove_sched_node_remove(w.s, i), GROVE_OK);
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        for (size_t k = i; k < sizeof levels / sizeof *levels; k++) {
            grove_buf text;
            describe(&w, cls, 2, 2, levels[i], levels[k]);
            assert_int_equal(place(&w), GROVE_INFEASIBLE);
            grove_buf_init(&text, env);
            assert_int_equal(grove_sched_explain(w.s, w.g, w.d, 0, &text, NULL), GROVE_OK);
            grove_buf_fini(&text);
            assert_int_equal(grove_sched_preempt(w.s, w.g, NULL, w.d, NULL), GROVE_OK);
            assert_int_equal(grove_decision_verdict(w.d), GROVE_INFEASIBLE);
        }
    }
    assert_int_equal(grove_sched_verify(w.s, NULL), GROVE_OK);
    world_free(&w);
}

static uint32_t fill_node(world *w, uint32_t node, uint32_t cls, uint32_t n, int32_t priority) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        grove_sched_pod pod = {
            .size = (uint32_t)sizeof pod, .node = node, .class_id = cls, .priority = priority};
        assert_int_equal(grove_sched_pod_add(w->s, &pod, &last, NULL), GROVE_OK);
    }
    return last;
}

static void preempt(world *w, uint32_t *out_victims) {
    uint64_t before = grove_sched_hash(w->s);
    assert_int_equal(grove_sched_preempt(w->s, w->g, NULL, w->d, NULL), GROVE_OK);
    assert_int_equal(grove_sched_hash(w->s), before);
    (void)grove_decision_victims(w->d, out_victims);
}

static void test_preempt_one_rack(void **state) {
    (void)state;
    world w;
    uint32_t one, eight, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 1, &one), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &eight), GROVE_OK);
    for (uint32_t i = 0; i < 16; i++) {
        fill_node(&w, w.node[i], one, i == 6 ? 5 : 8, 0);
    }
    describe(&w, eight, 4, 4, "rack", NULL);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    preempt(&w, &n); /* equal priority: nobody goes */
    assert_int_equal(grove_decision_verdict(w.d), GROVE_INFEASIBLE);
    assert_int_equal(grove_gang_priority(w.g, 10), GROVE_OK);
    preempt(&w, &n);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
    assert_int_equal(n, 29); /* the rack with three GPUs free already */
    uint32_t k;
    const uint32_t *nodes = grove_decision_nodes(w.d, 0, &k);
    assert_true(nodes[0] >= 4 && nodes[0] < 8);
    world_free(&w);
}

static void test_preempt_surplus_first(void **state) {
    (void)state;
    world w;
    uint32_t cls, n;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    describe(&w, cls, 2, 16, NULL, NULL);
    assert_int_equal(place(&w), GROVE_PLACED);
    uint32_t gang = commit(&w);
    describe(&w, cls, 3, 3, NULL, NULL);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    preempt(&w, &n);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_PLACED);
    assert_int_equal(n, 3); /* three of its fourteen surplus pods, the minimum stays */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m;
        assert_int_equal(grove_decision_victims(w.d, &m)[i].gang, gang);
        assert_int_not_equal(grove_decision_victims(w.d, &m)[i].pod, GROVE_SCHED_NONE);
    }
    describe(&w, cls, 15, 15, NULL, NULL);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    preempt(&w, &n);
    assert_int_equal(n, 1); /* all sixteen pods of it as a whole, never half a minimum */
    uint32_t m;
    assert_int_equal(grove_decision_victims(w.d, &m)[0].pod, GROVE_SCHED_NONE);
    describe(&w, cls, 17, 17, NULL, NULL);
    assert_int_equal(grove_gang_priority(w.g, 1), GROVE_OK);
    preempt(&w, &n);
    assert_int_equal(grove_decision_verdict(w.d), GROVE_INFEASIBLE); /* no victims help */
    world_free(&w);
}

static void test_explain(void **state) {
    (void)state;
    world w;
    uint32_t cls;
    grove_buf text;
    assert_int_equal(world_make(env, &w), GROVE_OK);
    assert_int_equal(gpu_class(&w, 8, &cls), GROVE_OK);
    grove_buf_init(&text, env);
    describe(&w, cls, 6, 6, "rack", NULL);
    assert_int_equal(place(&w), GROVE_INFEASIBLE);
    assert_int_equal(grove_sched_explain(w.s, w.g, w.d, 0, &text, NULL), GROVE_OK);
    assert_non_null(strstr(text.data, "infeasible (COUNT)"));
    assert_non_null(strstr(text.data, "0 of 4 domains"));
    assert_non_null(strstr(text.data, "has 4 of 6 pods"));
    assert_non_null(strstr(text.data, "packed on block instead of rack"));
    grove_buf_clear(&text);
    assert_int_equal(grove_sched_explain(w.s, w.g, w.d, GROVE_EXPLAIN_JSON, &text, NULL), GROVE_OK);
    assert_non_null(strstr(text.data, "\"would_help\":[{\"relax\":\"gang\""));
    grove_buf_fini(&text);
    world_free(&w);
}

static grove_status whole_life(grove_env *e, void *ctx) {
    (void)ctx;
    world w;
    uint32_t cls, pg, gr, id;
    uint64_t mark;
    grove_status st = world_make(e, &w);
    if (st < 0) {
        return st;
    }
    st = gpu_class(&w, 3, &cls);
    st = st < 0 ? st : grove_gang_begin(w.g, w.topo, "g");
    for (int i = 0; i < 3 && st == GROVE_OK; i++) {
        st = grove_gang_podgroup(w.g, "p", cls, 4, 5, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg);
        st = st < 0 ? st : grove_gang_group(w.g, "g", &pg, 1, 1, GROVE_LEVEL_NONE, &gr);
    }
    grove_place_options exact = {.size = (uint32_t)sizeof exact, .flags = GROVE_PLACE_EXACT_ONLY};
    st = st < 0 ? st : grove_gang_pack(w.g, GROVE_LEVEL_NONE, 0);
    st = st < 0 ? st : grove_sched_place(w.s, w.g, NULL, w.d, NULL);
    st = st < 0 ? st : grove_sched_commit(w.s, w.g, w.d, &id, NULL);
    st = st < 0 ? st : grove_sched_place(w.s, w.g, &exact, w.d, NULL);
    st = st < 0 ? st : grove_gang_pack(w.g, 1, GROVE_LEVEL_NONE);
    st = st < 0 ? st : grove_gang_priority(w.g, 1);
    st = st < 0 ? st : grove_sched_preempt(w.s, w.g, NULL, w.d, NULL);
    grove_buf text;
    grove_buf_init(&text, e);
    st = st < 0 ? st : grove_sched_explain(w.s, w.g, w.d, 0, &text, NULL);
    grove_buf_fini(&text);
    st = st < 0 ? st : grove_sched_mark(w.s, &mark);
    st = st < 0 ? st : grove_sched_release(w.s, id);
    st = st < 0 ? st : grove_sched_rollback(w.s, mark);
    world_free(&w);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    oom_loop("sched", whole_life, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_required_rack),
        cmocka_unit_test(test_preferred_climbs),
        cmocka_unit_test(test_surplus_after_minimum),
        cmocka_unit_test(test_members_pin),
        cmocka_unit_test(test_anchor_and_spread),
        cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_what_if),
        cmocka_unit_test(test_unlabelled_nodes),
        cmocka_unit_test(test_unknown_level_and_crossing_groups),
        cmocka_unit_test(test_nothing_to_place),
        cmocka_unit_test(test_no_nodes),
        cmocka_unit_test(test_preempt_one_rack),
        cmocka_unit_test(test_preempt_surplus_first),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
