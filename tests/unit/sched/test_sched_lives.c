/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lives: random clusters on which gangs with every kind of wish come and go. Each placement is judged by
 * plain recomputation from what was asked: minimums, required levels, the levels reported, and the cost
 * vector as far as its definition goes; a search by the exact engine alone must agree on the verdict, and
 * the books must agree with a recount.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#include "base/prng.h"
#include "support/oom.h"

#define LIVES 400
#define DECISIONS 12
#define CLASSES 6
#define NODES 48
#define HOST 2 /* level */

typedef struct asked {
    uint32_t class_id, min, count, sticky, member; /* nodes; GROVE_SCHED_NONE: none */
    grove_level required;
} asked;

typedef struct life {
    gv_prng r;
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topology, n_nodes, gangs[DECISIONS], n_gangs;
    bool x86[NODES], dislikes[NODES], labelled[NODES];
    asked pg[4];
    uint32_t n_pg;
    grove_level pack, group; /* required; the group holds the first two podgroups */
    bool has_group, anchored;
    uint64_t seed, placed, refused, preempted;
} life;

static uint32_t below(life *l, uint32_t n) {
    return (uint32_t)gv_prng_below(&l->r, n);
}

static bool chance(life *l, uint32_t percent) {
    return below(l, 100) < percent;
}

/* ---- the cluster ---- */

static void add_node(life *l, uint32_t i, uint32_t rack_of, uint32_t block_of) {
    static const char *const archs[] = {"arm", "x86"};
    char block[16], rack[16], name[16];
    uint32_t id, kind = below(l, 100);
    snprintf(block, sizeof block, "b%u", (unsigned)block_of);
    snprintf(rack, sizeof rack, "r%u", (unsigned)rack_of);
    snprintf(name, sizeof name, "n%u", (unsigned)i);
    l->x86[i] = chance(l, 70);
    l->labelled[i] = chance(l, 90);
    l->dislikes[i] = kind < 10;
    grove_sched_label labels[3] = {{"arch", archs[l->x86[i]]}, {"block", block}, {"rack", rack}};
    grove_sched_taint taint = {.key = "t", .value = "", .effect = kind < 10 ? 2 : 1};
    int64_t capacity[3] = {2 + below(l, 9), chance(l, 80) ? 8 : below(l, 9),
                           4000 + 4000 * (int64_t)below(l, 8)};
    grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                             .name = name,
                             .labels = labels,
                             .n_labels = l->labelled[i] ? 3 : 1 + below(l, 2),
                             .taints = &taint,
                             .n_taints = kind < 20,
                             .capacity = capacity,
                             .n_capacity = 3};
    assert_int_equal(grove_sched_node_add(l->s, &spec, &id, NULL), GROVE_OK);
    assert_int_equal(id, i);
}

static void add_nodes(life *l) {
    uint32_t blocks = 1 + below(l, 3), racks = 1 + below(l, 3), hosts = 2 + below(l, 3);
    for (uint32_t i = 0; i < blocks * racks * hosts; i++) {
        add_node(l, i, i / hosts, i / hosts / racks);
    }
    l->n_nodes = blocks * racks * hosts;
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
        assert_int_equal(grove_sched_class(l->s, &spec, &id, NULL), GROVE_OK);
        assert_int_equal(id, i);
    }
}

/* ---- gangs ---- */

static grove_level any_level(life *l, uint32_t percent) {
    return !chance(l, percent) ? GROVE_LEVEL_NONE : chance(l, 10) ? HOST : (grove_level)below(l, 2);
}

static void wishes(life *l) {
    asked *one = &l->pg[below(l, l->n_pg)];
    uint32_t at = (uint32_t)(one - l->pg);
    if (chance(l, 15)) {
        one->sticky = below(l, l->n_nodes);
        assert_int_equal(grove_gang_sticky(l->g, at, 0, one->sticky), GROVE_OK);
    } else if (chance(l, 10)) {
        one->member = below(l, l->n_nodes);
        assert_int_equal(grove_gang_member(l->g, at, one->member), GROVE_OK);
    }
    l->anchored = chance(l, 15);
    if (l->anchored) {
        (void)grove_gang_anchor(l->g, (grove_level)below(l, 2), below(l, l->n_nodes),
                                1 + (grove_strength)chance(l, 30));
    }
    if (chance(l, 20)) {
        uint32_t nodes[3] = {below(l, l->n_nodes), below(l, l->n_nodes), below(l, l->n_nodes)};
        (void)grove_gang_spread(l->g, (grove_level)below(l, 3), 1 + below(l, 2),
                                1 + (grove_strength)chance(l, 40), nodes, 1 + below(l, 3));
    }
    (void)grove_gang_priority(l->g, (int32_t)below(l, 4));
}

static void describe(life *l) {
    uint32_t id;
    l->n_pg = 1 + below(l, 4);
    assert_int_equal(grove_gang_begin(l->g, l->topology, "gang"), GROVE_OK);
    for (uint32_t i = 0; i < l->n_pg; i++) {
        uint32_t min = 1 + below(l, 3), count = min + (chance(l, 30) ? below(l, 3) : 0);
        l->pg[i] = (asked){.class_id = below(l, CLASSES),
                           .min = min,
                           .count = count,
                           .sticky = GROVE_SCHED_NONE,
                           .member = GROVE_SCHED_NONE,
                           .required = any_level(l, 20)};
        assert_int_equal(grove_gang_podgroup(l->g, "p", l->pg[i].class_id, min, count,
                                             l->pg[i].required, any_level(l, 20), &id),
                         GROVE_OK);
    }
    l->has_group = l->n_pg > 2 && chance(l, 50);
    l->group = any_level(l, 50);
    if (l->has_group) {
        uint32_t first[2] = {0, 1};
        assert_int_equal(grove_gang_group(l->g, "g", first, 2, l->group, any_level(l, 30), &id),
                         GROVE_OK);
    }
    l->pack = any_level(l, 40);
    assert_int_equal(grove_gang_pack(l->g, l->pack, any_level(l, 40)), GROVE_OK);
    wishes(l);
}

/* ---- the judge ---- */

static uint32_t domain(const life *l, grove_level level, uint32_t node) {
    return level == HOST ? node : grove_sched_domain_of(l->s, l->topology, level, node);
}

/* The narrowest level on which all pods of podgroups [from, to) lie in one domain. */
static grove_level level_of(const life *l, uint32_t from, uint32_t to) {
    for (grove_level level = HOST; level >= 0; level--) {
        uint32_t first = GROVE_SCHED_NONE;
        bool same = true, any = false;
        for (uint32_t p = from; p < to; p++) {
            uint32_t n;
            const uint32_t *nodes = grove_decision_nodes(l->d, p, &n);
            for (uint32_t i = 0; i <= n; i++) {
                uint32_t node = i < n ? nodes[i] : l->pg[p].member;
                uint32_t at = node == GROVE_SCHED_NONE ? GROVE_SCHED_NONE : domain(l, level, node);
                if (node != GROVE_SCHED_NONE) {
                    same = same && at != GROVE_SCHED_NONE && (!any || at == first);
                    first = at;
                    any = true;
                }
            }
        }
        if (same) {
            return level;
        }
    }
    return GROVE_LEVEL_NONE;
}

static void judge_levels(const life *l) {
    grove_level gang = level_of(l, 0, l->n_pg), group = level_of(l, 0, 2);
    assert_int_equal(grove_decision_level(l->d, GROVE_ENTITY_GANG, 0), gang);
    assert_true(gang >= l->pack);
    if (l->has_group) {
        assert_int_equal(grove_decision_level(l->d, GROVE_ENTITY_GROUP, 0), group);
        assert_true(group >= l->group);
    }
    for (uint32_t p = 0; p < l->n_pg; p++) {
        grove_level own = level_of(l, p, p + 1);
        assert_int_equal(grove_decision_level(l->d, GROVE_ENTITY_PODGROUP, p), own);
        assert_true(own >= l->pg[p].required);
    }
}

static void judge_cost(const life *l) {
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    bool host[NODES] = {false}, rack[NODES] = {false}, all_labelled = true, members = false;
    int64_t hosts = 0, span = 0, moved = 0, disliked = 0;
    for (uint32_t p = 0; p < l->n_pg; p++) {
        uint32_t n;
        const uint32_t *nodes = grove_decision_nodes(l->d, p, &n);
        members = members || l->pg[p].member != GROVE_SCHED_NONE;
        moved += l->pg[p].sticky != GROVE_SCHED_NONE && nodes[0] != l->pg[p].sticky;
        for (uint32_t i = 0; i < n; i++) {
            if (nodes[i] == GROVE_SCHED_NONE) {
                continue;
            }
            all_labelled = all_labelled && l->labelled[nodes[i]];
            hosts += !host[nodes[i]];
            host[nodes[i]] = true;
            uint32_t r = domain(l, 1, nodes[i]);
            if (r != GROVE_SCHED_NONE) {
                span += !rack[r];
                rack[r] = true;
            }
            bool tolerates = l->pg[p].class_id % 2;
            disliked += (l->pg[p].class_id == 0 && l->x86[nodes[i]] ? 5 : 0) +
                        (l->dislikes[nodes[i]] && !tolerates ? 100 : 0);
        }
    }
    assert_int_equal(grove_decision_cost(l->d, &cost), GROVE_OK);
    assert_int_equal(cost.disliked, disliked);
    if (!members) {
        assert_int_equal(cost.hosts, hosts);
        assert_true(!all_labelled || cost.span == span);
        assert_true(l->anchored || cost.moved == moved);
    }
    assert_true(grove_decision_score(l->d) >= 0 && grove_decision_score(l->d) <= 1000000);
}

static void judge(const life *l) {
    for (uint32_t p = 0; p < l->n_pg; p++) {
        uint32_t n, placed = l->pg[p].member != GROVE_SCHED_NONE, there = placed;
        const uint32_t *nodes = grove_decision_nodes(l->d, p, &n);
        assert_int_equal(n, l->pg[p].count - there);
        for (uint32_t i = 0; i < n; i++) {
            placed += nodes[i] != GROVE_SCHED_NONE;
            assert_true(nodes[i] == GROVE_SCHED_NONE ||
                        grove_sched_class_allows(l->s, l->pg[p].class_id, nodes[i]));
        }
        assert_true(placed >= l->pg[p].min);
    }
    judge_levels(l);
    judge_cost(l);
}

/* ---- one life ---- */

static grove_verdict place(life *l, uint32_t flags) {
    grove_place_options o = {.size = (uint32_t)sizeof o, .flags = flags};
    assert_int_equal(grove_sched_place(l->s, l->g, &o, l->d, NULL), GROVE_OK);
    grove_verdict v = grove_decision_verdict(l->d);
    if (v == GROVE_PLACED) {
        judge(l);
    }
    return v;
}

/* Victims leave, and then there is room; afterwards all is as before. */
static void preempt(life *l) {
    uint64_t before = grove_sched_hash(l->s), mark;
    uint32_t n, id;
    assert_int_equal(grove_sched_preempt(l->s, l->g, NULL, l->d, NULL), GROVE_OK);
    assert_true(grove_sched_hash(l->s) == before);
    if (grove_decision_verdict(l->d) != GROVE_PLACED) {
        return;
    }
    judge(l);
    const grove_victim *victims = grove_decision_victims(l->d, &n);
    assert_true(n > 0);
    assert_int_equal(grove_sched_mark(l->s, &mark), GROVE_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(victims[i].pod == GROVE_SCHED_NONE
                             ? grove_sched_release(l->s, victims[i].gang)
                             : grove_sched_pod_remove(l->s, victims[i].pod),
                         GROVE_OK);
    }
    assert_int_equal(grove_sched_commit(l->s, l->g, l->d, &id, NULL), GROVE_OK);
    assert_int_equal(grove_sched_verify(l->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_rollback(l->s, mark), GROVE_OK);
    assert_true(grove_sched_hash(l->s) == before);
    l->preempted++;
}

static void one_decision(life *l) {
    describe(l);
    grove_verdict exact = place(l, GROVE_PLACE_EXACT_ONLY), v = place(l, 0);
    assert_int_equal(v, exact);
    if (v == GROVE_PLACED) {
        assert_int_equal(grove_sched_commit(l->s, l->g, l->d, &l->gangs[l->n_gangs++], NULL),
                         GROVE_OK);
        l->placed++;
    } else {
        l->refused++;
        preempt(l);
        if (l->n_gangs > 0 && chance(l, 60)) { /* somebody leaves */
            uint32_t at = below(l, l->n_gangs);
            assert_int_equal(grove_sched_release(l->s, l->gangs[at]), GROVE_OK);
            l->gangs[at] = l->gangs[--l->n_gangs];
        }
    }
    assert_int_equal(grove_sched_verify(l->s, NULL), GROVE_OK);
}

static void one_life(grove_env *env, life *l) {
    static const char *const keys[] = {"block", "rack"};
    uint32_t id;
    l->n_gangs = 0;
    gv_prng_seed(&l->r, l->seed);
    assert_int_equal(grove_sched_new(env, NULL, &l->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(l->s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(l->s, "cpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_topology(l->s, "t", keys, 2, &l->topology, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(l->s, &l->g), GROVE_OK);
    assert_int_equal(grove_decision_new(l->s, &l->d), GROVE_OK);
    add_nodes(l);
    add_classes(l);
    for (int i = 0; i < DECISIONS; i++) {
        one_decision(l);
    }
    grove_gang_free(l->g);
    grove_decision_free(l->d);
    grove_sched_free(l->s);
}

static void test_lives(void **state) {
    (void)state;
    grove_env *env = NULL;
    static life l;
    oom_memory memory;
    oom_memory_init(&memory); /* never refuses here: it counts, and nothing it gives is zero */
    env = oom_env(&memory, NULL);
    for (l.seed = 1; l.seed <= LIVES; l.seed++) {
        one_life(env, &l);
    }
    print_message("lives: %u placed, %u refused, %u of these had victims\n", (unsigned)l.placed,
                  (unsigned)l.refused, (unsigned)l.preempted);
    assert_true(l.placed > LIVES && l.refused > LIVES && l.preempted > LIVES / 4);
    grove_env_unref(env);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lives),
    };
    return cmocka_run_group_tests_name("sched lives", tests, NULL, NULL);
}
