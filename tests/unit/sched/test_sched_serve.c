/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and the order of service: who is next, who may have how much, who is decided together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oom.h"
#include "support/sched_drive.h"

#define GANGS 12

/* Racks of nodes with 8 GPUs, and gangs of one podgroup. */
typedef struct world {
    grove_sched *s;
    uint32_t topo, gpu, cls;
    grove_gang *gangs[GANGS];
    grove_decision *decisions[GANGS];
    const grove_served *served;
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
    for (int i = 0; i < GANGS; i++) {
        grove_gang_free(w->gangs[i]);
        grove_decision_free(w->decisions[i]);
    }
    grove_sched_free(w->s);
}

static grove_status world_make(grove_env *e, const int *nodes_of_rack, int racks, world *w) {
    static const char *const keys[] = {"rack"};
    int64_t requests[2] = {1, 8}, capacity[2] = {110, 8};
    uint32_t id;
    memset(w, 0, sizeof *w);
    grove_status st = grove_sched_new(e, NULL, &w->s, NULL);
    st = st < 0 ? st : grove_sched_resource(w->s, "gpu", &w->gpu);
    st = st < 0 ? st : grove_sched_topology(w->s, "t", keys, 1, &w->topo, NULL);
    for (int r = 0; r < racks; r++) {
        for (int n = 0; n < nodes_of_rack[r] && st == GROVE_OK; n++) {
            char rack[8], name[16];
            snprintf(rack, sizeof rack, "r%d", r);
            snprintf(name, sizeof name, "r%dn%d", r, n);
            grove_sched_label label = {"rack", rack};
            grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                                     .name = name,
                                     .labels = &label,
                                     .n_labels = 1,
                                     .capacity = capacity,
                                     .n_capacity = 2};
            st = grove_sched_node_add(w->s, &spec, &id, NULL);
        }
    }
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    st = st < 0 ? st : grove_sched_class(w->s, &spec, &w->cls, NULL);
    for (int i = 0; i < GANGS && st == GROVE_OK; i++) {
        st = grove_gang_new(w->s, &w->gangs[i]);
        st = st < 0 ? st : grove_decision_new(w->s, &w->decisions[i]);
    }
    if (st < 0) {
        world_free(w);
    }
    return st;
}

/* Gang i: pods of 8 GPUs, packed in a rack or anywhere. */
static void describe(world *w, int i, uint32_t min, uint32_t count, int rack, uint32_t queue,
                     int32_t priority, int64_t since) {
    uint32_t pg;
    grove_gang *g = w->gangs[i];
    assert_int_equal(grove_gang_begin(g, w->topo, "g"), GROVE_OK);
    assert_int_equal(
        grove_gang_podgroup(g, "w", w->cls, min, count, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &pg),
        GROVE_OK);
    assert_int_equal(grove_gang_pack(g, rack ? 0 : GROVE_LEVEL_NONE, GROVE_LEVEL_NONE), GROVE_OK);
    assert_int_equal(grove_gang_queue(g, queue), GROVE_OK);
    assert_int_equal(grove_gang_priority(g, priority), GROVE_OK);
    assert_int_equal(grove_gang_waiting(g, since, 0), GROVE_OK);
}

static grove_status declare(world *w, const char *name, uint32_t parent, int64_t deserved,
                            int64_t limit, uint32_t weight, int32_t priority, uint32_t *out) {
    int64_t d[2] = {-1, deserved}, l[2] = {-1, limit};
    grove_queue q = {.size = (uint32_t)sizeof q,
                     .name = name,
                     .parent = parent,
                     .deserved = d,
                     .n_deserved = 2,
                     .limit = l,
                     .n_limit = 2,
                     .weight = weight,
                     .priority = priority};
    return grove_sched_queue(w->s, &q, out, NULL);
}

static uint32_t queue(world *w, const char *name, uint32_t parent, int64_t deserved, int64_t limit,
                      uint32_t weight, int32_t priority) {
    uint32_t id = 0;
    assert_int_equal(declare(w, name, parent, deserved, limit, weight, priority, &id), GROVE_OK);
    return id;
}

static void serve(world *w, uint32_t n, uint32_t flags, uint32_t together, uint32_t starving) {
    grove_serve_options o = {.size = (uint32_t)sizeof o,
                             .flags = flags,
                             .together = together,
                             .starving_after = starving};
    assert_int_equal(grove_sched_serve(w->s, (const grove_gang *const *)w->gangs, w->decisions, n,
                                       &o, &w->served, NULL),
                     GROVE_OK);
    assert_int_equal(grove_sched_verify(w->s, NULL), GROVE_OK);
}

static void check_order(const world *w, const uint32_t *order, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (w->served[i].index != order[i]) {
            fail_msg("place %u of the order is gang %u, not %u", i, w->served[i].index, order[i]);
        }
    }
}

static grove_verdict verdict(const world *w, int i) {
    return grove_decision_verdict(w->decisions[i]);
}

static grove_certificate proof(const world *w, int i) {
    grove_certificate c = {.size = (uint32_t)sizeof c};
    assert_int_equal(grove_decision_certificate(w->decisions[i], &c), GROVE_OK);
    return c;
}

/* ---- order ---- */

static void test_priority_then_age(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){8}, 1, &w), GROVE_OK);
    describe(&w, 0, 1, 1, 0, 0, 0, 30);
    describe(&w, 1, 1, 1, 0, 0, 5, 40);
    describe(&w, 2, 1, 1, 0, 0, 0, 20);
    describe(&w, 3, 1, 1, 0, 0, 5, 40);
    serve(&w, 4, 0, 0, 0);
    check_order(&w, (uint32_t[]){1, 3, 2, 0}, 4);
    world_free(&w);
}

/* Below what it deserves first; then by priority; then by the part of the fair share in use; none last. */
static void test_queues_take_turns(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){12}, 1, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 0, -1, 1, 0), b = queue(&w, "b", 0, 16, -1, 1, 0);
    uint32_t c = queue(&w, "c", 0, 0, -1, 1, 9);
    describe(&w, 0, 1, 1, 0, a, 100, 0); /* gang priority does not reach over queues */
    describe(&w, 1, 1, 1, 0, a, 100, 1);
    describe(&w, 2, 1, 1, 0, b, 0, 0);
    describe(&w, 3, 1, 1, 0, b, 0, 1);
    describe(&w, 4, 1, 1, 0, b, 0, 2);
    describe(&w, 5, 1, 1, 0, c, 0, 0);
    describe(&w, 6, 1, 1, 0, 0, 1000, 0);
    serve(&w, 7, 0, 0, 0);
    /* b up to its 16; c by priority; then a (nothing used), then b's third against a's second: a has
     * used 1/2 of its share, b 2/3 */
    check_order(&w, (uint32_t[]){2, 3, 5, 0, 1, 4, 6}, 7);
    world_free(&w);
}

/* The tree is walked down: the branch that uses the smaller part goes first, whatever its leaves hold. */
static void test_hierarchy(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){8}, 1, &w), GROVE_OK);
    uint32_t x = queue(&w, "x", 0, 0, -1, 1, 0), y = queue(&w, "y", 0, 0, -1, 1, 0);
    uint32_t x1 = queue(&w, "x1", x, 0, -1, 1, 0), x2 = queue(&w, "x2", x, 0, -1, 1, 0);
    for (int i = 0; i < 2; i++) {
        describe(&w, i, 1, 1, 0, x1, 0, i);
        describe(&w, 2 + i, 1, 1, 0, x2, 0, i);
        describe(&w, 4 + i, 1, 1, 0, y, 0, i);
    }
    serve(&w, 6, 0, 0, 0);
    check_order(&w, (uint32_t[]){0, 4, 2, 1, 5, 3}, 6);
    assert_int_equal(grove_sched_queue_used(w.s, x)[w.gpu], 32);
    assert_int_equal(grove_sched_queue_used(w.s, x2)[w.gpu], 16);
    assert_int_equal(grove_sched_queue_share(w.s, y)[w.gpu], 16);
    world_free(&w);
}

/* ---- bounds ---- */

static void test_limits(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){8}, 1, &w), GROVE_OK);
    uint32_t top = queue(&w, "top", 0, 0, 24, 1, 0), a = queue(&w, "a", top, 8, -1, 1, 0);
    describe(&w, 0, 2, 2, 0, a, 1, 0);
    describe(&w, 1, 2, 2, 0, a, 0, 0);
    describe(&w, 2, 1, 9, 0, a, 0, 1);
    serve(&w, 3, 0, 0, 0);
    assert_int_equal(verdict(&w, 0), GROVE_PLACED);
    assert_int_equal(verdict(&w, 1), GROVE_INFEASIBLE);
    assert_int_equal(proof(&w, 1).reason, GROVE_REASON_QUEUE_LIMIT);
    assert_int_equal(proof(&w, 1).resource, w.gpu);
    assert_int_equal(proof(&w, 1).have, 8);
    assert_int_equal(proof(&w, 1).need, 16);
    uint32_t n;
    const uint32_t *nodes = grove_decision_nodes(w.decisions[2], 0, &n);
    assert_int_equal(n, 9); /* one of nine: the limit leaves no surplus, though there is room */
    assert_int_not_equal(nodes[0], GROVE_SCHED_NONE);
    assert_int_equal(nodes[1], GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_queue_used(w.s, top)[w.gpu], 24);
    world_free(&w);
}

static void test_never_evicted_stays_within_deserved(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){8}, 1, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 16, -1, 1, 0);
    describe(&w, 0, 3, 3, 0, a, 0, 0);
    assert_int_equal(grove_gang_flags(w.gangs[0], GROVE_GANG_NEVER_EVICT), GROVE_OK);
    describe(&w, 1, 3, 3, 0, a, 0, 1);
    serve(&w, 2, 0, 0, 0);
    assert_int_equal(verdict(&w, 0), GROVE_INFEASIBLE);
    assert_int_equal(proof(&w, 0).reason, GROVE_REASON_QUEUE_SHARE);
    assert_int_equal(proof(&w, 0).have, 16);
    assert_int_equal(verdict(&w, 1), GROVE_PLACED);
    world_free(&w);
}

/* The minimum of a later gang comes before the surplus of an earlier one. */
static void test_minimum_before_surplus(void **state) {
    (void)state;
    world w;
    uint32_t n;
    assert_int_equal(world_make(env, (int[]){4}, 1, &w), GROVE_OK);
    describe(&w, 0, 1, 4, 0, 0, 1, 0);
    describe(&w, 1, 2, 2, 0, 0, 0, 0);
    serve(&w, 2, 0, 0, 0);
    assert_int_equal(verdict(&w, 1), GROVE_PLACED);
    const uint32_t *nodes = grove_decision_nodes(w.decisions[0], 0, &n);
    assert_int_equal(n, 4);
    assert_int_not_equal(nodes[1], GROVE_SCHED_NONE); /* what is left over */
    assert_int_equal(nodes[2], GROVE_SCHED_NONE);
    assert_int_equal(grove_sched_pod_count(w.s), 4);
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    assert_int_equal(grove_decision_cost(w.decisions[0], &cost), GROVE_OK);
    assert_int_equal(cost.hosts, 2);
    world_free(&w);
}

/* ---- together ---- */

/* CX3 with gangs in place of groups: racks of 4 and 6, gangs of 3, 3, 2, 2 nodes, in all orders. */
static void test_together(void **state) {
    (void)state;
    static const uint32_t orders[6][4] = {{3, 3, 2, 2}, {3, 2, 3, 2}, {3, 2, 2, 3},
                                          {2, 3, 3, 2}, {2, 3, 2, 3}, {2, 2, 3, 3}};
    int alone = 0;
    for (int o = 0; o < 6; o++) {
        for (uint32_t together = 0; together <= 8; together += 8) {
            world w;
            assert_int_equal(world_make(env, (int[]){4, 6}, 2, &w), GROVE_OK);
            for (int i = 0; i < 4; i++) {
                describe(&w, i, orders[o][i], orders[o][i], 1, 0, 0, i);
            }
            serve(&w, 4, 0, together, 0);
            int placed = 0, joined = 0;
            for (int i = 0; i < 4; i++) {
                placed += verdict(&w, i) == GROVE_PLACED;
                joined += (w.served[i].flags & GROVE_SERVED_TOGETHER) != 0;
                assert_true(verdict(&w, i) != GROVE_PLACED ||
                            grove_decision_level(w.decisions[i], GROVE_ENTITY_GANG, 0) >= 0);
            }
            if (together) {
                assert_int_equal(placed, 4);
                assert_int_equal(grove_sched_pod_count(w.s), 10);
            } else {
                alone += placed == 4;
            }
            assert_true(together > 0 || joined == 0);
            world_free(&w);
        }
    }
    assert_true(alone <
                6); /* one after the other loses in some order, or this test shows nothing */
}

static sd_case *case_of_gangs(uint64_t seed) {
    static const sd_shape shape = {2, 2, 3, 4, 5, 3, 25, 0};
    gv_prng r;
    gv_prng_seed(&r, seed);
    sd_case *d = sd_random(&r, &shape);
    d->c.required = SC_NONE;
    for (int32_t g = 0; g < d->c.n_groups; g++) {
        d->groups[g].required = gv_prng_below(&r, 4) ? 2 : d->groups[g].required;
    }
    return d;
}

/* Racks of equal nodes and gangs of whole nodes that nearly fill them: where the order decides. */
static sd_case *tight_gangs(uint64_t seed) {
    gv_prng r;
    gv_prng_seed(&r, seed);
    int32_t racks = 2 + (int32_t)gv_prng_below(&r, 2), n_nodes = 0, n = 0, left;
    int32_t rack_of[16];
    for (int32_t k = 0; k < racks; k++) {
        for (int32_t size = 2 + (int32_t)gv_prng_below(&r, 4); size > 0 && n_nodes < 10; size--) {
            rack_of[n_nodes++] = k;
        }
    }
    sd_case *d = sd_new(n_nodes, 6, 6, 6);
    for (int32_t i = 0; i < n_nodes; i++) {
        d->nodes[i] = (sc_node){{0, 0, rack_of[i]}, {8, 8, 64, 512}, 0};
    }
    for (left = n_nodes; n < 6 && left > 0; n++) {
        int32_t size = 1 + (int32_t)gv_prng_below(&r, 4);
        size = size < left ? size : left;
        left -= size;
        d->podgroups[n] = (sc_podgroup){size, {1, 8, 4, 16}, SC_NONE};
        d->members[n] = n;
        d->groups[n] = (sc_group){&d->members[n], 1, 2};
    }
    d->c.n_podgroups = d->c.n_groups = n;
    d->c.required = SC_NONE;
    return d;
}

static grove_status describe_group(const sd_run *run, const sc_case *c, int32_t g,
                                   grove_gang *gang) {
    uint32_t pg, cls;
    grove_status st = grove_gang_begin(gang, run->topology, "g");
    for (int32_t i = 0; i < c->groups[g].n && st == GROVE_OK; i++) {
        const sc_podgroup *p = &c->podgroups[c->groups[g].podgroups[i]];
        grove_sched_class_spec spec = {
            .size = (uint32_t)sizeof spec, .requests = p->req, .n_requests = SC_RESOURCES};
        st = grove_sched_class(run->s, &spec, &cls, NULL);
        st = st < 0 ? st
                    : grove_gang_podgroup(gang, "p", cls, (uint32_t)p->count, (uint32_t)p->count,
                                          p->required, GROVE_LEVEL_NONE, &pg);
    }
    return st < 0 ? st : grove_gang_pack(gang, c->groups[g].required, GROVE_LEVEL_NONE);
}

/*
 * Against brute force: each group of a random case as a gang of its own. A gang gets a place exactly when
 * it fits together with all those before it that got one; one after the other, it must at least never get
 * one that it could not have.
 */
static void test_together_against_brute_force(void **state) {
    (void)state;
    uint32_t placed = 0, refused = 0, joined = 0, open = 0;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        sd_case *d = seed % 2 ? case_of_gangs(seed) : tight_gangs(seed);
        sd_run run;
        int32_t counts[16], n = d->c.n_groups;
        grove_gang *gangs[8];
        grove_decision *decisions[8];
        const grove_served *served;
        grove_serve_options o = {.size = (uint32_t)sizeof o, .together = 8};
        assert_int_equal(sd_start(env, &d->c, NULL, &run), GROVE_OK);
        for (int32_t g = 0; g < n; g++) {
            assert_int_equal(grove_gang_new(run.s, &gangs[g]), GROVE_OK);
            assert_int_equal(grove_decision_new(run.s, &decisions[g]), GROVE_OK);
            assert_int_equal(describe_group(&run, &d->c, g, gangs[g]), GROVE_OK);
        }
        assert_int_equal(grove_sched_serve(run.s, (const grove_gang *const *)gangs, decisions,
                                           (uint32_t)n, &o, &served, NULL),
                         GROVE_OK);
        assert_int_equal(grove_sched_verify(run.s, NULL), GROVE_OK);
        for (int32_t p = 0; p < d->c.n_podgroups; p++) {
            counts[p] = d->podgroups[p].count;
            d->podgroups[p].count = 0;
        }
        for (int32_t g = 0; g < n; g++) {
            for (int32_t i = 0; i < d->groups[g].n; i++) {
                d->podgroups[d->groups[g].podgroups[i]].count = counts[d->groups[g].podgroups[i]];
            }
            int truth = sc_feasible(&d->c, 300000);
            int got = grove_decision_verdict(decisions[g]) == GROVE_PLACED;
            assert_int_equal(served[g].index, g);
            joined += (served[g].flags & GROVE_SERVED_TOGETHER) != 0;
            placed += (uint32_t)got;
            refused += !got;
            open += truth < 0;
            if (truth >= 0 && got != truth) {
                fail_msg("seed %llu, gang %d: placed %d, brute force %d", (unsigned long long)seed,
                         g, got, truth);
            }
            for (int32_t i = 0; i < d->groups[g].n && !got; i++) {
                d->podgroups[d->groups[g].podgroups[i]].count = 0;
            }
        }
        for (int32_t g = 0; g < n; g++) {
            grove_gang_free(gangs[g]);
            grove_decision_free(decisions[g]);
        }
        sd_end(&run);
        sd_free(d);
    }
    print_message("together: %u placed (%u decided anew with others), %u refused, %u left open\n",
                  placed, joined, refused, open);
    assert_true(joined >= 300 && refused > 300 && open < 20);
}

/* ---- victims ---- */

/* Two gangs that are too wide to be one are not decided together, and that is no error. */
static void test_too_wide_to_join(void **state) {
    (void)state;
    static const int racks[] = {1};
    world w;
    assert_int_equal(world_make(env, racks, 1, &w), GROVE_OK);
    for (int i = 0; i < 2; i++) {
        describe(&w, i, 1, 1, 0, 0, 0, i);
        for (uint32_t k = 0, pg; k < 2100; k++) {
            assert_int_equal(grove_gang_podgroup(w.gangs[i], "none", w.cls, 0, 0, GROVE_LEVEL_NONE,
                                                 GROVE_LEVEL_NONE, &pg),
                             GROVE_OK);
        }
    }
    serve(&w, 2, 0, 2, 0);
    assert_int_equal(verdict(&w, 0), GROVE_PLACED);
    assert_int_equal(verdict(&w, 1), GROVE_INFEASIBLE);
    world_free(&w);
}

static void test_preempt_in_service(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){4, 4}, 2, &w), GROVE_OK);
    describe(&w, 0, 2, 2, 0, 0, 0, 0);
    describe(&w, 1, 2, 2, 0, 0, 0, 1);
    describe(&w, 2, 4, 4, 0, 0, 0, 2);
    serve(&w, 3, 0, 0, 0);
    assert_int_equal(grove_sched_pod_count(w.s), 8);
    describe(&w, 0, 4, 4, 1, 0, 7, 0);
    uint64_t before = grove_sched_hash(w.s);
    serve(&w, 1, 0, 0, 0);
    assert_int_equal(verdict(&w, 0), GROVE_INFEASIBLE);
    serve(&w, 1, GROVE_SERVE_PREEMPT | GROVE_SERVE_PLAN, 0, 0);
    assert_int_equal(verdict(&w, 0), GROVE_PLACED);
    assert_true(grove_sched_hash(w.s) == before); /* a plan changes nothing */
    serve(&w, 1, GROVE_SERVE_PREEMPT, 0, 0);
    assert_int_equal(w.served[0].flags, GROVE_SERVED_PREEMPTED);
    uint32_t n;
    (void)grove_decision_victims(w.decisions[0], &n);
    assert_int_equal(n, 1); /* the gang of four, not the two gangs of two */
    assert_int_equal(grove_decision_victims_proven(w.decisions[0]), 1);
    assert_int_equal(grove_sched_pod_count(w.s), 8);
    world_free(&w);
}

/* Half of the cluster each: what is reclaimed is not reclaimed back. */
static void test_reclaim_in_service(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){8}, 1, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 0, -1, 1, 0), b = queue(&w, "b", 0, 0, -1, 1, 0);
    for (int i = 0; i < 8; i++) {
        describe(&w, i, 1, 1, 0, a, 0, i);
    }
    serve(&w, 8, 0, 0, 0);
    assert_int_equal(grove_sched_queue_used(w.s, a)[w.gpu], 64);
    for (int i = 0; i < 6; i++) {
        describe(&w, i, 1, 1, 0, b, 0, i);
    }
    serve(&w, 6, GROVE_SERVE_PREEMPT | GROVE_SERVE_RECLAIM, 0, 0);
    assert_int_equal(grove_sched_queue_used(w.s, a)[w.gpu], 32);
    assert_int_equal(grove_sched_queue_used(w.s, b)[w.gpu], 32);
    assert_int_equal(verdict(&w, 4), GROVE_INFEASIBLE);
    assert_int_equal(proof(&w, 4).reason, GROVE_REASON_QUEUE_SHARE);
    for (int i = 0; i < 4; i++) {
        describe(&w, i, 1, 1, 0, a, 0, i);
    }
    uint64_t before = grove_sched_hash(w.s);
    serve(&w, 4, GROVE_SERVE_PREEMPT | GROVE_SERVE_RECLAIM, 0, 0);
    assert_true(grove_sched_hash(w.s) == before); /* nobody takes anything back */
    world_free(&w);
}

/* A scaled gang goes with its base, and a base of a more important gang stays. */
static void test_dependants(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){4}, 1, &w), GROVE_OK);
    describe(&w, 0, 2, 2, 0, 0, 0, 0);
    describe(&w, 1, 2, 2, 0, 0, 1, 0);
    serve(&w, 2, 0, 0, 0);
    uint32_t scaled = w.served[0].gang, base = w.served[1].gang,
             n; /* the more important one first */
    assert_int_equal(grove_sched_gang_base(w.s, scaled, base), GROVE_OK);
    assert_int_equal(grove_sched_gang_base(w.s, base, scaled), GROVE_E_INVALID);
    describe(&w, 2, 1, 1, 0, 0, 1, 0);
    assert_int_equal(grove_sched_preempt(w.s, w.gangs[2], NULL, w.decisions[2], NULL), GROVE_OK);
    assert_int_equal(verdict(&w, 2),
                     GROVE_INFEASIBLE); /* base is less important, what it drags along is not */
    describe(&w, 2, 3, 3, 0, 0, 2, 0);
    assert_int_equal(grove_sched_preempt(w.s, w.gangs[2], NULL, w.decisions[2], NULL), GROVE_OK);
    assert_int_equal(verdict(&w, 2), GROVE_PLACED);
    (void)grove_decision_victims(w.decisions[2], &n);
    assert_int_equal(n, 2);
    assert_int_equal(grove_sched_gang_flags(w.s, scaled, GROVE_GANG_NEVER_EVICT), GROVE_OK);
    assert_int_equal(grove_sched_preempt(w.s, w.gangs[2], NULL, w.decisions[2], NULL), GROVE_OK);
    assert_int_equal(verdict(&w, 2), GROVE_INFEASIBLE);
    world_free(&w);
}

/* ---- starvation ---- */

static void test_starving_gang_gets_a_rack(void **state) {
    (void)state;
    world w;
    assert_int_equal(world_make(env, (int[]){4, 4}, 2, &w), GROVE_OK);
    for (int i = 0; i < 5; i++) { /* one rack full, of the other one node */
        describe(&w, i, 1, 1, 0, 0, 0, i);
    }
    serve(&w, 5, 0, 0, 0);
    describe(&w, 0, 4, 4, 1, 0, 9, 0);
    assert_int_equal(grove_gang_waiting(w.gangs[0], 0, 3), GROVE_OK);
    describe(&w, 1, 1, 1, 0, 0, 0, 1);
    describe(&w, 2, 1, 1, 0, 0, 0, 2);
    assert_int_equal(grove_gang_flags(w.gangs[2], GROVE_GANG_YIELDS), GROVE_OK);
    serve(&w, 3, GROVE_SERVE_PLAN, 0, 4); /* not yet */
    assert_int_equal(verdict(&w, 1), GROVE_PLACED);
    serve(&w, 3, 0, 0, 3);
    assert_int_equal(verdict(&w, 0), GROVE_INFEASIBLE);
    assert_int_equal(w.served[0].flags, GROVE_SERVED_KEPT);
    assert_true(grove_sched_node_free(w.s, w.served[0].node)[w.gpu] >= 0);
    assert_int_equal(verdict(&w, 1), GROVE_INFEASIBLE);
    assert_int_equal(proof(&w, 1).reason, GROVE_REASON_KEPT);
    assert_int_equal(verdict(&w, 2), GROVE_PLACED); /* it yields when asked */
    serve(&w, 2, GROVE_SERVE_PLAN, 0, 0);
    assert_int_equal(verdict(&w, 1), GROVE_PLACED); /* kept for that round only */
    world_free(&w);
}

/* ---- shares ---- */

/* Whatever the queues: nothing lost, nobody above demand, promises first, what is left over by weight. */
static void test_shares(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        world w;
        gv_prng r;
        gv_prng_seed(&r, seed);
        assert_int_equal(world_make(env, (int[]){12}, 1, &w), GROVE_OK);
        uint32_t ids[5];
        int64_t deserved[5], demand[5], sum = 0, wanted = 0, promised = 0;
        uint32_t weight[5];
        for (uint32_t i = 0; i < 5; i++) {
            char name[4] = {'q', (char)('0' + i), 0, 0};
            deserved[i] = (int64_t)gv_prng_below(&r, 40);
            weight[i] = 1 + (uint32_t)gv_prng_below(&r, 5);
            ids[i] = queue(&w, name, 0, deserved[i], -1, weight[i], 0);
            uint32_t pods = (uint32_t)gv_prng_below(&r, 6);
            describe(&w, (int)i, pods, pods, 0, ids[i], 0, 0);
            demand[i] = 8 * (int64_t)pods;
            wanted += demand[i];
            promised += demand[i] < deserved[i] ? demand[i] : deserved[i];
        }
        serve(&w, 5, GROVE_SERVE_PLAN, 0, 0);
        for (uint32_t i = 0; i < 5; i++) {
            int64_t x = grove_sched_queue_share(w.s, ids[i])[w.gpu];
            int64_t least = demand[i] < deserved[i] ? demand[i] : deserved[i];
            assert_true(x <= demand[i]);
            assert_true(promised > 96 || x >= least);
            sum += x;
            for (uint32_t k = 0; k < 5 && promised <= 96; k++) {
                int64_t y = grove_sched_queue_share(w.s, ids[k])[w.gpu];
                int64_t own = demand[k] < deserved[k] ? demand[k] : deserved[k];
                /* i could take more, so k has no more over its promise by weight, roundings apart */
                assert_true(x == demand[i] ||
                            (y - own - 4) * weight[i] <= (x - least + 4) * weight[k]);
            }
        }
        assert_int_equal(sum, wanted < 96 ? wanted : 96);
        world_free(&w);
    }
}

static void test_queue_errors(void **state) {
    (void)state;
    world w;
    uint32_t id;
    assert_int_equal(world_make(env, (int[]){1}, 1, &w), GROVE_OK);
    uint32_t a = queue(&w, "a", 0, 8, -1, 1, 0);
    assert_int_equal(declare(&w, "b", 7, 0, -1, 1, 0, &id), GROVE_E_NOT_FOUND);
    assert_int_equal(declare(&w, "", 0, 0, -1, 1, 0, &id), GROVE_E_INVALID);
    assert_int_equal(declare(&w, "a", a, 0, -1, 1, 0, &id), GROVE_E_INVALID);
    assert_int_equal(grove_sched_queue_count(w.s), 2);
    assert_int_equal(grove_sched_queue_find(w.s, "a"), a);
    assert_int_equal(grove_sched_queue_find(w.s, "c"), GROVE_QUEUE_NONE);
    assert_string_equal(grove_sched_queue_name(w.s, a), "a");
    assert_null(grove_sched_queue_used(w.s, 9));
    describe(&w, 0, 1, 1, 0, a, 0, 0);
    assert_int_equal(grove_gang_queue(w.gangs[0], 9), GROVE_E_INVALID);
    assert_int_equal(grove_gang_flags(w.gangs[0], 0x80), GROVE_E_INVALID);
    assert_int_equal(grove_sched_gang_base(w.s, 0, GROVE_SCHED_NONE), GROVE_E_NOT_FOUND);
    serve(&w, 0, 0, 0, 0);
    world_free(&w);
}

static grove_status whole_service(grove_env *e, void *ctx) {
    (void)ctx;
    world w;
    uint32_t a = 0, b = 0, pg;
    const grove_served *served;
    grove_status st = world_make(e, (int[]){4, 6}, 2, &w);
    if (st < 0) {
        return st;
    }
    st = declare(&w, "a", 0, 8, -1, 1, 0, &a);
    st = st < 0 ? st : declare(&w, "b", 0, 8, 40, 1, 0, &b);
    for (uint32_t i = 0; i < 4 && st == GROVE_OK; i++) {
        uint32_t n = i < 2 ? 3 : 2;
        st = grove_gang_begin(w.gangs[i], w.topo, "g");
        st = st < 0 ? st
                    : grove_gang_podgroup(w.gangs[i], "w", w.cls, n, n + 1, GROVE_LEVEL_NONE,
                                          GROVE_LEVEL_NONE, &pg);
        st = st < 0 ? st : grove_gang_pack(w.gangs[i], 0, GROVE_LEVEL_NONE);
        st = st < 0 ? st : grove_gang_queue(w.gangs[i], i == 0 ? b : a);
        st = st < 0 ? st : grove_gang_waiting(w.gangs[i], i, 5);
    }
    grove_serve_options o = {.size = (uint32_t)sizeof o,
                             .flags = GROVE_SERVE_PREEMPT | GROVE_SERVE_RECLAIM,
                             .together = 8,
                             .starving_after = 2};
    for (int round = 0; round < 2 && st == GROVE_OK; round++) {
        st = grove_sched_serve(w.s, (const grove_gang *const *)w.gangs, w.decisions, 4, &o, &served,
                               NULL);
    }
    grove_error err = GROVE_ERROR_INIT;
    if (grove_sched_verify(w.s, &err) < 0 && err.status == GROVE_E_INTERNAL) {
        fail_msg("%s", err.message);
    }
    world_free(&w);
    return st;
}

static void test_out_of_memory(void **state) {
    (void)state;
    oom_loop("serve", whole_service, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priority_then_age),
        cmocka_unit_test(test_queues_take_turns),
        cmocka_unit_test(test_hierarchy),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_never_evicted_stays_within_deserved),
        cmocka_unit_test(test_minimum_before_surplus),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_together_against_brute_force),
        cmocka_unit_test(test_too_wide_to_join),
        cmocka_unit_test(test_preempt_in_service),
        cmocka_unit_test(test_reclaim_in_service),
        cmocka_unit_test(test_dependants),
        cmocka_unit_test(test_starving_gang_gets_a_rack),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_queue_errors),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
