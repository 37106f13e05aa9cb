/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scheduling policy of one's own, without a fork: the engine keeps to the rules (whole gangs, required
 * levels, filters) and proves what cannot be placed; which of the possible places is taken is decided here.
 *
 *     cc own_policy.c $(pkg-config --cflags --libs libgrove)
 *
 * Three racks of four nodes draw from power lines of different load. The engine alone packs tightly; one
 * policy orders the racks by what is free, emptiest first; another one scores placements by the load of the
 * lines they would draw from.
 */
#include <stdio.h>
#include <string.h>

#include <grove/sched.h>

#define RACKS 3
#define NODES 4

/* What the policies look at; the engine hands it back with each question. */
typedef struct site {
    grove_sched *sched;
    uint32_t gpu;
    uint32_t node[RACKS * NODES];
    int64_t line_load[RACKS]; /* in percent, by rack */
} site;

static int64_t free_in_rack(const site *s, uint32_t rack) {
    int64_t sum = 0;
    for (uint32_t i = rack * NODES; i < (rack + 1) * NODES; i++) {
        sum += grove_sched_node_free(s->sched, s->node[i])[s->gpu];
    }
    return sum;
}

static uint32_t rack_of(const site *s, uint32_t node) {
    for (uint32_t i = 0; i < RACKS * NODES; i++) {
        if (s->node[i] == node) {
            return i / NODES;
        }
    }
    return 0;
}

/* Plug point 1: the order in which racks are tried; smaller first. */
static int64_t emptiest_first(void *ctx, const grove_sched_candidate *c) {
    const site *s = ctx;
    for (uint32_t rack = 0; rack < RACKS; rack++) {
        uint32_t a_node = s->node[rack * NODES];
        if (grove_sched_domain_of(s->sched, c->topology, c->level, a_node) == c->domain) {
            return -free_in_rack(s, rack);
        }
    }
    return 0;
}

/* Plug point 2: what a finished placement costs; smaller is better. */
static int64_t loaded_lines(void *ctx, const grove_decision *placed) {
    const site *s = ctx;
    uint32_t n = 0;
    int64_t cost = 0;
    const uint32_t *nodes = grove_decision_nodes(placed, 0, &n);
    for (uint32_t i = 0; i < n; i++) {
        cost += s->line_load[rack_of(s, nodes[i])];
    }
    return cost;
}

static grove_status build(grove_env *env, grove_sched_options *options, site *s,
                          uint32_t *topology) {
    static const char *const keys[] = {"rack"};
    grove_status st = grove_sched_new(env, options, &s->sched, NULL);
    st = st < 0 ? st : grove_sched_resource(s->sched, "nvidia.com/gpu", &s->gpu);
    st = st < 0 ? st : grove_sched_topology(s->sched, "t", keys, 1, topology, NULL);
    for (uint32_t i = 0; i < RACKS * NODES && st == GROVE_OK; i++) {
        char name[16], rack[16];
        snprintf(rack, sizeof rack, "r%u", i / NODES);
        snprintf(name, sizeof name, "r%u-n%u", i / NODES, i % NODES);
        grove_sched_label label = {"rack", rack};
        /* the first rack is half used, the second a little, the third not at all */
        int64_t capacity[2] = {110, i / NODES == 0 ? 4 : i / NODES == 1 ? 7 : 8};
        grove_sched_node node = {.size = (uint32_t)sizeof node,
                                 .name = name,
                                 .labels = &label,
                                 .n_labels = 1,
                                 .capacity = capacity,
                                 .n_capacity = 2};
        st = grove_sched_node_add(s->sched, &node, &s->node[i], NULL);
    }
    return st;
}

static grove_status place_one(const site *s, uint32_t topology, const char *policy) {
    grove_gang *gang = NULL;
    grove_decision *d = NULL;
    uint32_t cls = 0, pg = 0, n = 0;
    int64_t requests[2] = {1, 2};
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
    grove_status st = grove_sched_class(s->sched, &spec, &cls, NULL);
    st = st < 0 ? st : grove_gang_new(s->sched, &gang);
    st = st < 0 ? st : grove_decision_new(s->sched, &d);
    st = st < 0 ? st : grove_gang_begin(gang, topology, "job");
    st = st < 0 ? st
                : grove_gang_podgroup(gang, "worker", cls, 6, 6, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE,
                                      &pg);
    st = st < 0 ? st
                : grove_gang_pack(gang, grove_sched_level(s->sched, topology, "rack"),
                                  GROVE_LEVEL_NONE);
    st = st < 0 ? st : grove_sched_place(s->sched, gang, NULL, d, NULL);
    if (st == GROVE_OK && grove_decision_verdict(d) == GROVE_PLACED) {
        const uint32_t *nodes = grove_decision_nodes(d, pg, &n);
        printf("%-15s rack r%u:", policy, rack_of(s, nodes[0]));
        for (uint32_t i = 0; i < n; i++) {
            printf(" %s", grove_sched_node_name(s->sched, nodes[i]));
        }
        printf("\n");
    }
    grove_decision_free(d);
    grove_gang_free(gang);
    return st;
}

static int run(grove_env *env, const char *policy, grove_sched_options options) {
    site s = {.line_load = {10, 90, 60}};
    uint32_t topology = 0;
    options.size = (uint32_t)sizeof options;
    options.order_ctx = options.score_ctx = &s;
    grove_status st = build(env, &options, &s, &topology);
    st = st < 0 ? st : place_one(&s, topology, policy);
    if (st < 0) {
        fprintf(stderr, "%s: %s\n", policy, grove_status_name(st));
    }
    grove_sched_free(s.sched);
    return st < 0;
}

int main(void) {
    grove_env *env = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return 1;
    }
    int failed = run(env, "engine", (grove_sched_options){0});
    failed |= run(env, "emptiest first", (grove_sched_options){.order = emptiest_first});
    failed |= run(env, "power lines", (grove_sched_options){.score = loaded_lines});
    grove_env_unref(env);
    return failed;
}
