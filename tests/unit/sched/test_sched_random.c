/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of decisions on random clusters, with an independent judge: right verdicts against brute
 * force, valid placements, checked proofs, and answers that do not depend on order or names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/oom.h"
#include "support/sched_drive.h"

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

static const sd_shape small = {2, 2, 2, 2, 4, 3, 60, 8};
static const sd_shape middle = {2, 3, 4, 4, 7, 5, 70, 4};

static void shuffled(gv_prng *r, int32_t n, int32_t *out) {
    for (int32_t i = 0; i < n; i++) {
        int32_t at = (int32_t)gv_prng_below(r, (uint64_t)i + 1);
        out[i] = out[at];
        out[at] = i;
    }
}

static grove_verdict decide(const sc_case *c, const int32_t *nodes, const int32_t *podgroups,
                            uint32_t flags, const char **out_wrong, int *out_proof) {
    sd_run run;
    assert_int_equal(sd_start(env, c, nodes, &run), GROVE_OK);
    assert_int_equal(sd_describe(&run, c, podgroups), GROVE_OK);
    assert_int_equal(sd_place(&run, flags, 0), GROVE_OK);
    *out_wrong = sd_judge(&run, c, podgroups, out_proof);
    grove_verdict v = grove_decision_verdict(run.d);
    sd_end(&run);
    return v;
}

/* Every verdict on small cases is the brute force's, with and without greedy passes, in any order. */
static void test_against_brute_force(void **state) {
    (void)state;
    uint32_t placed = 0, refused = 0, proved = 0, open = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        gv_prng r;
        gv_prng_seed(&r, seed);
        sd_case *d = sd_random(&r, &small);
        int truth = sc_feasible(&d->c, 300000);
        int32_t nodes[64], podgroups[64];
        shuffled(&r, d->c.n_nodes, nodes);
        shuffled(&r, d->c.n_podgroups, podgroups);
        for (int way = 0; way < 3; way++) {
            const char *wrong;
            int proof;
            grove_verdict v = decide(&d->c, way == 2 ? nodes : NULL, way == 2 ? podgroups : NULL,
                                     way == 1 ? GROVE_PLACE_EXACT_ONLY : 0, &wrong, &proof);
            if (wrong) {
                fail_msg("seed %llu, way %d: %s", (unsigned long long)seed, way, wrong);
            }
            if (truth >= 0 && v != (truth ? GROVE_PLACED : GROVE_INFEASIBLE)) {
                fail_msg("seed %llu, way %d: verdict %d, brute force %d", (unsigned long long)seed,
                         way, v, truth);
            }
            placed += v == GROVE_PLACED;
            refused += v == GROVE_INFEASIBLE;
            proved += proof != 0;
            open += v == GROVE_UNKNOWN;
        }
        sd_free(d);
    }
    print_message("brute force: %u placed, %u infeasible (%u proved by plain bounds), %u unknown\n",
                  placed, refused, proved, open);
    assert_int_equal(open, 0);
    assert_true(placed > 1000 && refused > 1000);
}

/* Larger cases: order of nodes and podgroups changes nothing but names; more room never hurts. */
static void test_order_and_growth(void **state) {
    (void)state;
    uint32_t unknown = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 7000 + seed);
        sd_case *d = sd_random(&r, &middle);
        int32_t nodes[64], podgroups[64];
        const char *wrong;
        int proof;
        shuffled(&r, d->c.n_nodes, nodes);
        shuffled(&r, d->c.n_podgroups, podgroups);
        grove_verdict a = decide(&d->c, NULL, NULL, 0, &wrong, &proof);
        assert_null(wrong);
        grove_verdict b = decide(&d->c, nodes, podgroups, 0, &wrong, &proof);
        assert_null(wrong);
        grove_verdict e = decide(&d->c, NULL, NULL, GROVE_PLACE_EXACT_ONLY, &wrong, &proof);
        assert_null(wrong);
        unknown += a == GROVE_UNKNOWN;
        unknown += b == GROVE_UNKNOWN;
        unknown += e == GROVE_UNKNOWN;
        assert_true(a == b || a == GROVE_UNKNOWN || b == GROVE_UNKNOWN);
        assert_true(a == e || a == GROVE_UNKNOWN || e == GROVE_UNKNOWN);
        sc_node *lucky = &d->nodes[gv_prng_below(&r, (uint64_t)d->c.n_nodes)];
        for (int k = 0; k < SC_RESOURCES; k++) {
            lucky->free[k] += 8;
        }
        grove_verdict more = decide(&d->c, NULL, NULL, 0, &wrong, &proof);
        assert_null(wrong);
        assert_false(a == GROVE_PLACED && more == GROVE_INFEASIBLE);
        sd_free(d);
    }
    print_message("order and growth: %u of 1200 unknown\n", unknown);
    assert_true(unknown <= 6);
}

/* Without one of its rules, in exact mode, what could be placed can be placed still. */
static void less_strict(sd_case *d, int32_t *rule) {
    int32_t before = *rule;
    const char *wrong;
    int proof;
    if (before != SC_NONE) {
        *rule = SC_NONE;
        grove_verdict v = decide(&d->c, NULL, NULL, GROVE_PLACE_EXACT_ONLY, &wrong, &proof);
        assert_null(wrong);
        assert_int_not_equal(v, GROVE_INFEASIBLE);
        *rule = before;
    }
}

static void test_fewer_rules(void **state) {
    (void)state;
    uint32_t placed = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 8000 + seed);
        sd_case *d = sd_random(&r, &middle);
        const char *wrong;
        int proof;
        if (decide(&d->c, NULL, NULL, GROVE_PLACE_EXACT_ONLY, &wrong, &proof) == GROVE_PLACED) {
            placed++;
            less_strict(d, &d->c.required);
            for (int32_t i = 0; i < d->c.n_groups; i++) {
                less_strict(d, &d->groups[i].required);
            }
            for (int32_t i = 0; i < d->c.n_podgroups; i++) {
                less_strict(d, &d->podgroups[i].required);
            }
        }
        assert_null(wrong);
        sd_free(d);
    }
    assert_true(placed > 20);
}

/* A hidden placement is laid down first; the nodes keep what it uses and little more. */
static void plant(gv_prng *r, sd_case *d) {
    for (int32_t n = 0; n < d->c.n_nodes; n++) {
        d->nodes[n].closed = 0;
        for (int k = 0; k < SC_RESOURCES; k++) {
            d->nodes[n].free[k] = k == 0 ? 4 : (int64_t)gv_prng_below(r, 3);
        }
    }
    for (int32_t p = 0; p < d->c.n_podgroups; p++) {
        sc_podgroup *pg = &d->podgroups[p];
        int32_t home = (int32_t)gv_prng_below(r, (uint64_t)d->c.n_nodes);
        pg->required = pg->required == 3 ? 3 : 2;
        for (int32_t k = 0; k < pg->count; k++) {
            int32_t n = home;
            for (int tries = 0; pg->required == 2 && tries < 8; tries++) {
                int32_t other = (int32_t)gv_prng_below(r, (uint64_t)d->c.n_nodes);
                n = d->nodes[other].domain[2] == d->nodes[home].domain[2] ? other : n;
            }
            for (int q = 0; q < SC_RESOURCES; q++) {
                d->nodes[n].free[q] += pg->req[q];
            }
        }
    }
}

static void test_planted(void **state) {
    (void)state;
    uint32_t unknown = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 9000 + seed);
        sd_shape shape = middle;
        shape.unlabelled = 0;
        shape.groups = 0;
        sd_case *d = sd_random(&r, &shape);
        const char *wrong;
        int proof;
        d->c.required = SC_NONE;
        plant(&r, d);
        grove_verdict v = decide(&d->c, NULL, NULL, seed % 2 ? GROVE_PLACE_EXACT_ONLY : 0, &wrong,
                                 &proof);
        assert_null(wrong);
        if (v == GROVE_INFEASIBLE) {
            fail_msg("planted seed %llu: infeasible", (unsigned long long)seed);
        }
        unknown += v == GROVE_UNKNOWN;
        sd_free(d);
    }
    print_message("planted: %u of 400 unknown\n", unknown);
    assert_true(unknown <= 2);
}

/* Commit, release, flap, roll back: sums never drift, marks lead back to the same state. */
static void test_events(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 4000 + seed);
        sd_shape shape = {2, 4, 5, 3, 5, 4, 20, 4};
        sd_case *d = sd_random(&r, &shape);
        sd_run run;
        uint32_t gangs[64], n_gangs = 0;
        uint64_t mark = 0, before = 0;
        int marked = 0;
        assert_int_equal(sd_start(env, &d->c, NULL, &run), GROVE_OK);
        for (int step = 0; step < 120; step++) {
            uint64_t what = gv_prng_below(&r, 10);
            if (what < 5 && n_gangs < 64) {
                sd_case *other = sd_random(&r, &shape);
                other->c.n_nodes = d->c.n_nodes;
                assert_int_equal(sd_describe(&run, &other->c, NULL), GROVE_OK);
                assert_int_equal(sd_place(&run, 0, 20000), GROVE_OK);
                if (grove_decision_verdict(run.d) == GROVE_PLACED) {
                    assert_int_equal(grove_sched_commit(run.s, run.g, run.d, &gangs[n_gangs], NULL),
                                     GROVE_OK);
                    n_gangs++;
                }
                sd_free(other);
            } else if (what < 7 && n_gangs > 0 && !marked) {
                uint32_t at = (uint32_t)gv_prng_below(&r, n_gangs);
                assert_int_equal(grove_sched_release(run.s, gangs[at]), GROVE_OK);
                gangs[at] = gangs[--n_gangs];
            } else if (what == 7) {
                int32_t i = (int32_t)gv_prng_below(&r, (uint64_t)d->c.n_nodes);
                grove_sched_label label = {"rack", "d0"};
                grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                                         .labels = &label,
                                         .n_labels = 0,
                                         .capacity = d->nodes[i].free,
                                         .n_capacity = SC_RESOURCES,
                                         .flags = (uint32_t)gv_prng_below(&r, 3)};
                if (!marked) {
                    assert_int_equal(grove_sched_node_update(run.s, run.node_ids[i], &spec, NULL),
                                     GROVE_OK);
                }
            } else if (what == 8 && !marked) {
                before = grove_sched_hash(run.s);
                assert_int_equal(grove_sched_mark(run.s, &mark), GROVE_OK);
                marked = (int)n_gangs + 1;
            } else if (what == 9 && marked) {
                assert_int_equal(grove_sched_rollback(run.s, mark), GROVE_OK);
                assert_true(grove_sched_hash(run.s) == before);
                n_gangs = (uint32_t)marked - 1;
                marked = 0;
            }
            grove_error err = GROVE_ERROR_INIT;
            if (grove_sched_verify(run.s, &err) < 0) {
                fail_msg("seed %llu step %d: %s", (unsigned long long)seed, step, err.message);
            }
        }
        sd_end(&run);
        sd_free(d);
    }
}

/* The same questions a thousand times, and on every compiler and machine: one log. */
static void test_repeatable(void **state) {
    (void)state;
    uint64_t first = sd_decision_log(env, 31), all = GV_FNV_START;
    for (int i = 0; i < 1000; i++) {
        assert_true(sd_decision_log(env, 31) == first);
    }
    for (uint64_t seed = 0; seed < 50; seed++) {
        all = sd_log_number(all, sd_decision_log(env, 100 + seed), sizeof all);
    }
    print_message("log of 600 decisions: %016llx\n", (unsigned long long)all);
    assert_true(all ==
                UINT64_C(0xa971c192482ab768)); /* changes only when decisions do: then look why */
}

/* Once warm, a decision allocates nothing, be the answer yes or no. */
static void test_no_allocation_when_warm(void **state) {
    (void)state;
#ifdef GV_DEBUG_ARENA /* there each object is an allocation of its own */
    print_message("SKIPPED: the debug arena allocates for each object\n");
    skip();
#endif
    oom_memory memory;
    oom_memory_init(&memory);
    grove_env *e = oom_env(&memory, NULL);
    uint32_t decisions = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        gv_prng r;
        gv_prng_seed(&r, 600 + seed);
        sd_shape shape = {2, 4, 5, 3, 5, 4, 30, 0};
        sd_case *d = sd_random(&r, &shape);
        sd_run run;
        assert_int_equal(sd_start(e, &d->c, NULL, &run), GROVE_OK);
        assert_int_equal(sd_describe(&run, &d->c, NULL), GROVE_OK);
        for (int i = 0; i < 16; i++) { /* the arena's blocks grow until one holds a decision */
            assert_int_equal(sd_place(&run, 0, 20000), GROVE_OK);
        }
        uint64_t before = memory.allocations;
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sd_place(&run, 0, 20000), GROVE_OK);
            decisions++;
        }
        if (memory.allocations != before) {
            fail_msg("seed %llu: %llu allocations in warm decisions", (unsigned long long)seed,
                     (unsigned long long)(memory.allocations - before));
        }
        sd_end(&run);
        sd_free(d);
    }
    assert_int_equal(decisions, 150);
    grove_env_unref(e);
}

typedef struct crowd {
    grove_sched *s;
    grove_gang *g[4];
    grove_decision *d[4];
    uint32_t queue[2];
} crowd;

/* Eight nodes of two racks, full of pods of one queue and of a gang that may go; four gangs that wait. */
static void make_crowd(grove_env *e, crowd *c) {
    static const char *const keys[] = {"rack"};
    uint32_t gpu, topo, cls, id;
    int64_t capacity[2] = {16, 8}, half[2] = {1, 4}, deserved[2] = {-1, 32};
    assert_int_equal(grove_sched_new(e, NULL, &c->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(c->s, "gpu", &gpu), GROVE_OK);
    assert_int_equal(grove_sched_topology(c->s, "t", keys, 1, &topo, NULL), GROVE_OK);
    for (uint32_t i = 0; i < 2; i++) {
        grove_queue q = {.size = (uint32_t)sizeof q,
                         .name = i ? "b" : "a",
                         .deserved = deserved,
                         .n_deserved = 2,
                         .weight = 1};
        assert_int_equal(grove_sched_queue(c->s, &q, &c->queue[i], NULL), GROVE_OK);
    }
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = half, .n_requests = 2};
    assert_int_equal(grove_sched_class(c->s, &spec, &cls, NULL), GROVE_OK);
    for (uint32_t i = 0; i < 8; i++) {
        char name[8], rack[8];
        snprintf(name, sizeof name, "n%u", i);
        snprintf(rack, sizeof rack, "r%u", i / 4);
        grove_sched_label label = {"rack", rack};
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .name = name,
                                 .labels = &label,
                                 .n_labels = 1,
                                 .capacity = capacity,
                                 .n_capacity = 2};
        assert_int_equal(grove_sched_node_add(c->s, &node, &id, NULL), GROVE_OK);
        for (int k = 0; k < 2; k++) {
            grove_sched_pod pod = {
                .size = (uint32_t)sizeof pod, .node = id, .class_id = cls, .queue = c->queue[0]};
            assert_int_equal(grove_sched_pod_add(c->s, &pod, &gpu, NULL), GROVE_OK);
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(grove_gang_new(c->s, &c->g[i]), GROVE_OK);
        assert_int_equal(grove_decision_new(c->s, &c->d[i]), GROVE_OK);
        assert_int_equal(grove_gang_begin(c->g[i], topo, "g"), GROVE_OK);
        assert_int_equal(
            grove_gang_podgroup(c->g[i], "p", cls, 3 - i % 2, 3, 0, GROVE_LEVEL_NONE, &id),
            GROVE_OK);
        assert_int_equal(grove_gang_priority(c->g[i], 5), GROVE_OK);
        assert_int_equal(grove_gang_queue(c->g[i], c->queue[i / 2]), GROVE_OK);
    }
}

static void decide_on_crowd(const crowd *c) {
    grove_serve_options o = {.size = (uint32_t)sizeof o,
                             .flags = GROVE_SERVE_PLAN | GROVE_SERVE_PREEMPT | GROVE_SERVE_RECLAIM,
                             .together = 4};
    const grove_served *served = NULL;
    const grove_gang *gangs[] = {c->g[0], c->g[1], c->g[2], c->g[3]};
    grove_decision *decisions[] = {c->d[0], c->d[1], c->d[2], c->d[3]};
    uint32_t n = 0;
    assert_int_equal(grove_sched_preempt(c->s, c->g[0], NULL, c->d[0], NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(c->d[0]), GROVE_PLACED);
    (void)grove_decision_victims(c->d[0], &n);
    assert_int_equal(n, 3);
    assert_int_equal(grove_sched_reclaim(c->s, c->g[2], NULL, 0, NULL, c->d[2], NULL), GROVE_OK);
    assert_int_equal(grove_decision_verdict(c->d[2]), GROVE_PLACED);
    assert_int_equal(grove_sched_serve(c->s, gangs, decisions, 4, &o, &served, NULL), GROVE_OK);
}

/* The same for victims of both kinds and for gangs that are served and planned together. */
static void test_no_allocation_when_warm_victims(void **state) {
    (void)state;
#ifdef GV_DEBUG_ARENA
    print_message("SKIPPED: the debug arena allocates for each object\n");
    skip();
#endif
    oom_memory memory;
    crowd c;
    oom_memory_init(&memory);
    grove_env *e = oom_env(&memory, NULL);
    make_crowd(e, &c);
    uint64_t hash = grove_sched_hash(c.s);
    for (int i = 0; i < 16; i++) {
        decide_on_crowd(&c);
    }
    uint64_t before = memory.allocations;
    for (int i = 0; i < 5; i++) {
        decide_on_crowd(&c);
        assert_true(grove_sched_hash(c.s) == hash);
    }
    assert_int_equal(memory.allocations - before, 0);
    for (uint32_t i = 0; i < 4; i++) {
        grove_gang_free(c.g[i]);
        grove_decision_free(c.d[i]);
    }
    grove_sched_free(c.s);
    grove_env_unref(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_order_and_growth),
        cmocka_unit_test(test_fewer_rules),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_repeatable),
        cmocka_unit_test(test_no_allocation_when_warm),
        cmocka_unit_test(test_no_allocation_when_warm_victims),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
