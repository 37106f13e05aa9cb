/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives: random clusters on which gangs with every kind of wish come and go. Each answer is one line of
 * tests/golden/sched-plays/lives.txt, and a second search, made by the exact engine alone, must agree on
 * whether there is a place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/text.h"
#include "support/files.h"
#include "tell.h"

#define LIVES 60
#define DECISIONS 12
#define CLASSES 6

typedef struct life {
    gv_prng r;
    telling t;
    uint32_t n_nodes, gangs[DECISIONS], n_gangs;
    uint64_t refused, placed, preempted;
} life;

static uint32_t below(life *l, uint32_t n) {
    return (uint32_t)gv_prng_below(&l->r, n);
}

static bool chance(life *l, uint32_t percent) {
    return below(l, 100) < percent;
}

/* ---- the cluster ---- */

static void add_nodes(life *l) {
    static const char *const archs[] = {"arm", "x86"};
    uint32_t blocks = 1 + below(l, 3), racks = 1 + below(l, 3), hosts = 2 + below(l, 3);
    for (uint32_t i = 0; i < blocks * racks * hosts; i++) {
        uint32_t rack_of = i / hosts, block_of = rack_of / racks;
        char block[16], rack[16], name[16];
        snprintf(block, sizeof block, "b%u", (unsigned)block_of);
        snprintf(rack, sizeof rack, "r%u", (unsigned)rack_of);
        snprintf(name, sizeof name, "n%u", (unsigned)i);
        grove_sched_label labels[3] = {
            {"arch", archs[chance(l, 70)]}, {"block", block}, {"rack", rack}};
        grove_sched_taint taint = {
            .key = "t", .value = "", .effect = 1 + (grove_taint_effect)below(l, 2)};
        int64_t capacity[3] = {2 + below(l, 9), chance(l, 80) ? 8 : below(l, 9),
                               4000 + 4000 * (int64_t)below(l, 8)};
        grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                                 .name = name,
                                 .labels = labels,
                                 .n_labels = chance(l, 90) ? 3 : 1 + below(l, 2),
                                 .taints = &taint,
                                 .n_taints = chance(l, 15),
                                 .capacity = capacity,
                                 .n_capacity = 3};
        uint32_t id;
        assert_int_equal(grove_sched_node_add(l->t.s, &spec, &id, NULL), GROVE_OK);
        l->n_nodes++;
    }
}

static void add_classes(life *l) {
    static const char *const arm[] = {"arm"};
    grove_sched_requirement is_arm = {.key = "arch", .values = arm, .n_values = 1, .op = 1};
    grove_sched_term term = {.requirements = &is_arm, .n_requirements = 1, .weight = 5};
    grove_sched_terms list = {.terms = &term, .n_terms = 1};
    grove_sched_toleration all = {.key = "", .value = "", .exists = 1};
    grove_sched_port port = {.protocol = "TCP", .ip = "", .port = 80};
    static const int64_t requests[CLASSES][3] = {{1, 1, 1000}, {1, 4, 2000}, {1, 8, 1000},
                                                 {1, 2, 9000}, {1, 0, 3000}, {1, 3, 500}};
    for (uint32_t i = 0; i < CLASSES; i++) {
        grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                       .requests = requests[i],
                                       .n_requests = 3,
                                       .required = &list,
                                       .n_required = i == 3,
                                       .preferred = &term,
                                       .n_preferred = i == 0,
                                       .tolerations = &all,
                                       .n_tolerations = i % 2,
                                       .ports = &port,
                                       .n_ports = i == 4,
                                       .max_per_host = i == 5 ? 2 : 0};
        uint32_t id;
        assert_int_equal(grove_sched_class(l->t.s, &spec, &id, NULL), GROVE_OK);
        assert_int_equal(id, i);
    }
}

/* ---- gangs ---- */

static grove_level any_level(life *l, uint32_t percent) {
    return !chance(l, percent) ? GROVE_LEVEL_NONE
           : chance(l, 10)     ? 2 /* the host */
                               : (grove_level)below(l, 2);
}

static void wishes(life *l) {
    if (chance(l, 15)) {
        (void)grove_gang_sticky(l->t.g, below(l, l->t.n_podgroups), 0, below(l, l->n_nodes));
    }
    if (chance(l, 10)) {
        (void)grove_gang_member(l->t.g, below(l, l->t.n_podgroups), below(l, l->n_nodes));
    }
    if (chance(l, 15)) {
        (void)grove_gang_anchor(l->t.g, (grove_level)below(l, 2), below(l, l->n_nodes),
                                1 + (grove_strength)chance(l, 30));
    }
    if (chance(l, 20)) {
        uint32_t nodes[3] = {below(l, l->n_nodes), below(l, l->n_nodes), below(l, l->n_nodes)};
        (void)grove_gang_spread(l->t.g, (grove_level)below(l, 3), 1 + below(l, 2),
                                1 + (grove_strength)chance(l, 40), nodes, 1 + below(l, 3));
    }
    (void)grove_gang_priority(l->t.g, (int32_t)below(l, 4));
}

static void describe(life *l) {
    uint32_t id, n = 1 + below(l, 4);
    assert_int_equal(grove_gang_begin(l->t.g, l->t.topology, "gang"), GROVE_OK);
    l->t.n_podgroups = n;
    l->t.n_groups = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t min = 1 + below(l, 3), count = min + (chance(l, 30) ? below(l, 3) : 0);
        assert_int_equal(grove_gang_podgroup(l->t.g, "p", below(l, CLASSES), min, count,
                                             any_level(l, 20), any_level(l, 20), &id),
                         GROVE_OK);
    }
    if (n > 2 && chance(l, 50)) {
        uint32_t first[2] = {0, 1};
        assert_int_equal(
            grove_gang_group(l->t.g, "g", first, 2, any_level(l, 50), any_level(l, 30), &id),
            GROVE_OK);
        l->t.n_groups = 1;
    }
    assert_int_equal(grove_gang_pack(l->t.g, any_level(l, 40), any_level(l, 40)), GROVE_OK);
    wishes(l);
}

/* ---- one life ---- */

static grove_verdict place(life *l, uint32_t flags) {
    grove_place_options o = {.size = (uint32_t)sizeof o, .flags = flags};
    assert_int_equal(grove_sched_place(l->t.s, l->t.g, &o, l->t.d, NULL), GROVE_OK);
    return grove_decision_verdict(l->t.d);
}

static void commit(life *l) {
    assert_int_equal(grove_sched_commit(l->t.s, l->t.g, l->t.d, &l->gangs[l->n_gangs], NULL),
                     GROVE_OK);
    l->n_gangs++;
    l->placed++;
}

static void one_decision(life *l) {
    describe(l);
    grove_verdict exact = place(l, GROVE_PLACE_EXACT_ONLY);
    gv_buf_fmt(l->t.out, " exact");
    tell_short(&l->t);
    grove_verdict v = place(l, 0);
    gv_buf_fmt(l->t.out, " place");
    tell_short(&l->t);
    assert_int_equal(v, exact);
    if (v == GROVE_PLACED) {
        commit(l);
        return;
    }
    l->refused++;
    assert_int_equal(grove_sched_preempt(l->t.s, l->t.g, NULL, l->t.d, NULL), GROVE_OK);
    if (grove_decision_verdict(l->t.d) == GROVE_PLACED) {
        uint32_t n;
        const grove_victim *victims = grove_decision_victims(l->t.d, &n);
        gv_buf_fmt(l->t.out, " preempt");
        tell_short(&l->t);
        for (uint32_t i = 0; i < n; i++) {
            gv_buf_fmt(l->t.out, "  victim %d/%d\n", (int)victims[i].gang, (int)victims[i].pod);
        }
        l->preempted++;
    }
    if (l->n_gangs > 0 && chance(l, 60)) { /* somebody leaves */
        uint32_t at = below(l, l->n_gangs);
        assert_int_equal(grove_sched_release(l->t.s, l->gangs[at]), GROVE_OK);
        l->gangs[at] = l->gangs[--l->n_gangs];
    }
}

static void one_life(grove_env *env, uint64_t seed, grove_buf *out, life *l) {
    static const char *const keys[] = {"block", "rack"};
    uint32_t id;
    l->t = (telling){.out = out};
    l->n_nodes = l->n_gangs = 0;
    gv_prng_seed(&l->r, seed);
    gv_buf_fmt(out, "life %u\n", (unsigned)seed);
    assert_int_equal(grove_sched_new(env, NULL, &l->t.s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(l->t.s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(l->t.s, "cpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_topology(l->t.s, "t", keys, 2, &l->t.topology, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(l->t.s, &l->t.g), GROVE_OK);
    assert_int_equal(grove_decision_new(l->t.s, &l->t.d), GROVE_OK);
    add_nodes(l);
    add_classes(l);
    for (int i = 0; i < DECISIONS; i++) {
        one_decision(l);
    }
    tell_room(&l->t);
    grove_gang_free(l->t.g);
    grove_decision_free(l->t.d);
    grove_sched_free(l->t.s);
}

static void test_lives(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_buf out;
    life l = {0};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_buf_init(&out, env);
    for (uint64_t seed = 1; seed <= LIVES; seed++) {
        one_life(env, seed, &out, &l);
    }
    print_message("lives: %u placed, %u refused, %u of these by preemption\n", (unsigned)l.placed,
                  (unsigned)l.refused, (unsigned)l.preempted);
    assert_true(l.placed > LIVES && l.refused > LIVES && l.preempted > LIVES / 4);
    test_golden("sched-plays/lives.txt", out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lives),
    };
    return cmocka_run_group_tests_name("sched lives", tests, NULL, NULL);
}
