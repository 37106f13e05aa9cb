/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random stories, told whole: clusters of several topologies, with queues, gangs of every wish, pods, victims,
 * nodes that change, budgets that end, and callbacks. Every word of every answer goes into one number a story
 * (tests/golden/sched-stories.txt): verdict, score, cost vector, nodes, levels, certificate, victims,
 * explanation, order of service, shares, and what is free, recounted.
 *
 * When a number changes: SCHED_STORY=N prints story N, before and after the change; what differs must be
 * meant. GROVE_UPDATE_GOLDEN=1 writes the numbers anew.
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
#include "base/prng.h"
#include "base/text.h"
#include "support/files.h"
#include "support/oom.h"
#include "tell.h"

#define STORIES 320u
#define STEPS 40
#define CLASSES 12
#define MOST 64 /* gangs and pods kept in mind */
#define SERVED 5
#define QUEUES 5
#define RESOURCES 16u /* at most; bounds per host count as such */

typedef struct story {
    gv_prng r;
    telling t;
    grove_buf out;
    uint32_t number, topologies[2], n_nodes, n_names;
    uint32_t gangs[MOST], n_gangs, pods[MOST], n_pods;
    grove_gang *waiting[SERVED];
    grove_decision *answers[SERVED];
    uint32_t described[SERVED][3]; /* topology, podgroups, groups of each that waits */
    uint64_t hash, verdicts[4], victims;
    bool told; /* printed, for those who compare */
} story;

static uint32_t below(story *s, uint32_t n) {
    return n ? (uint32_t)gv_prng_below(&s->r, n) : 0;
}

static bool chance(story *s, uint32_t percent) {
    return below(s, 100) < percent;
}

/*
 * Numbers to come, in their order: a list of initialisers or arguments must not draw itself, for C leaves it
 * open which one is made first.
 */
static void draw(story *s, uint32_t *d, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        d[i] = below(s, 10000);
    }
}

static void tell(story *s) {
    s->hash = gv_fnv1a(s->hash, s->out.data, (size_t)s->out.len);
    if (s->told) {
        print_message("%s", s->out.data);
    }
    grove_buf_clear(&s->out);
}

/* ---- the cluster ---- */

static void put_node(story *s, uint32_t number, bool update) {
    uint32_t d[19];
    draw(s, d, 19);
    static const char *const archs[] = {"arm", "x86"};
    static const char *const gens[] = {"1", "5", "12", "x"};
    char texts[4][16], name[16];
    uint32_t id, kind = d[0] % 100, from = d[18] % 4 == 0 ? 2 : 0;
    snprintf(name, sizeof name, "n%u", (unsigned)number);
    snprintf(texts[0], sizeof texts[0], "b%u", (unsigned)number / 8);
    snprintf(texts[1], sizeof texts[1], "r%u", (unsigned)(number / 3 + (d[13] % 100 < 5)));
    snprintf(texts[2], sizeof texts[2], "y%u", (unsigned)number % 3);
    grove_sched_label labels[] = {{"arch", archs[d[2] % 2]},
                                  {"gen", gens[d[3] % 4]},
                                  {"block", texts[0]},
                                  {"rack", texts[1]},
                                  {"row", texts[2]}};
    grove_sched_taint taints[] = {{.key = "t", .value = "v", .effect = (int32_t)(1 + d[4] % 3)},
                                  {.key = "u", .value = "", .effect = (int32_t)(1 + d[5] % 3)}};
    int64_t capacity[3] = {2 + d[6] % 9, d[14] % 100 < 80 ? 8 : d[7] % 9,
                           4000 + 4000 * (int64_t)(d[8] % 8)};
    grove_sched_node spec = {.size = (uint32_t)sizeof spec,
                             .name = name,
                             .labels = labels + from,
                             .n_labels = d[15] % 100 < 90 ? 5 - from : 1 + d[9] % 3,
                             .taints = taints,
                             .n_taints = kind < 12   ? 1
                                         : kind < 16 ? 2
                                                     : 0,
                             .capacity = capacity,
                             .n_capacity = d[16] % 100 < 95 ? 3 : d[10] % 3,
                             .flags = d[17] % 100 < 90 ? 0 : 1 + d[11] % 3};
    grove_status st = update ? grove_sched_node_update(s->t.s, d[12] % s->n_nodes, &spec, NULL)
                             : grove_sched_node_add(s->t.s, &spec, &id, NULL);
    gv_buf_fmt(&s->out, "node %s: %s\n", name, grove_status_name(st));
}

static void put_class(story *s, uint32_t i) {
    uint32_t d[12];
    draw(s, d, 12);
    static const char *const arm[] = {"arm"}, *const five[] = {"5"}, *const gens[] = {"1", "12"};
    static const char *const names[] = {"n0", "n3", "n5", "n9"};
    grove_sched_requirement wishes[] = {
        {.key = "arch", .values = arm, .n_values = 1, .op = GROVE_MATCH_IN},
        {.key = "gen", .values = gens, .n_values = 2, .op = GROVE_MATCH_NOT_IN},
        {.key = "gen", .values = five, .n_values = 1, .op = GROVE_MATCH_GT},
        {.key = "gen", .values = five, .n_values = 1, .op = GROVE_MATCH_LT},
        {.key = "rack", .op = GROVE_MATCH_EXISTS},
        {.key = "rack", .op = GROVE_MATCH_DOES_NOT_EXIST},
        {.values = names, .n_values = 4, .op = GROVE_MATCH_NAME_IN}};
    uint32_t at = d[0] % 7, liked = d[1] % 7;
    grove_sched_term terms[2] = {{.requirements = &wishes[at], .n_requirements = at < 6 ? 2 : 1},
                                 {.requirements = &wishes[liked], .n_requirements = 1}};
    grove_sched_term wish = {
        .requirements = &wishes[liked], .n_requirements = 1, .weight = (int32_t)(d[2] % 9)};
    grove_sched_terms list = {.terms = terms, .n_terms = 1 + d[3] % 2};
    grove_sched_toleration some[] = {{.key = "t", .value = "v", .effect = (int32_t)(d[4] % 4)},
                                     {.key = d[9] % 100 < 50 ? "u" : "",
                                      .value = "",
                                      .effect = (int32_t)(d[5] % 4),
                                      .exists = 1}};
    grove_sched_port port = {.protocol = d[10] % 100 < 50 ? "TCP" : "UDP",
                             .ip = d[11] % 100 < 50 ? "" : "10.0.0.1",
                             .port = 80};
    grove_sched_label arch = {"arch", "x86"};
    int64_t requests[3] = {1, (int64_t[]){0, 1, 2, 3, 4, 8}[d[6] % 6],
                           500 * (1 + (int64_t)(d[7] % 8))};
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                   .requests = requests,
                                   .n_requests = 3,
                                   .selector = &arch,
                                   .n_selector = i % 6 == 1,
                                   .required = &list,
                                   .n_required = i % 6 == 3,
                                   .preferred = &wish,
                                   .n_preferred = i % 3 == 0,
                                   .tolerations = some,
                                   .n_tolerations = i % 3,
                                   .ports = &port,
                                   .n_ports = i % 5 == 4,
                                   .max_per_host = i % 6 == 5 ? 1 + d[8] % 2 : 0};
    uint32_t id = 0;
    assert_int_equal(grove_sched_class(s->t.s, &spec, &id, NULL), GROVE_OK);
    gv_buf_fmt(&s->out, "class %u:", (unsigned)id);
    for (uint32_t n = 0; n < s->n_nodes; n++) {
        gv_buf_fmt(&s->out, " %d", (int)grove_sched_class_allows(s->t.s, id, n));
    }
    gv_buf_fmt(&s->out, "\n");
}

static void put_queue(story *s, uint32_t i) {
    uint32_t d[8];
    draw(s, d, 8);
    static const uint32_t parents[QUEUES] = {0, 0, 0, 2, 2};
    char name[16];
    uint32_t id;
    int64_t deserved[3] = {-1, d[0] % 25, d[6] % 100 < 70 ? -1 : 1000 * (int64_t)(d[1] % 40)};
    int64_t limit[3] = {-1, d[7] % 100 < 70 ? -1 : (int64_t)(d[2] % 60), -1};
    snprintf(name, sizeof name, "q%u", (unsigned)i);
    grove_queue spec = {.size = (uint32_t)sizeof spec,
                        .name = name,
                        .parent = parents[i],
                        .deserved = deserved,
                        .n_deserved = 1 + d[3] % 3,
                        .limit = limit,
                        .n_limit = 2,
                        .weight = d[4] % 3,
                        .priority = (int32_t)(d[5] % 2)};
    grove_status st = grove_sched_queue(s->t.s, &spec, &id, NULL);
    gv_buf_fmt(&s->out, "queue %s: %s\n", name, grove_status_name(st));
}

/* ---- gangs ---- */

static grove_level any_level(story *s, uint32_t percent) {
    if (!chance(s, percent)) {
        return GROVE_LEVEL_NONE;
    }
    if (chance(s, 3)) {
        return GROVE_LEVEL_UNKNOWN;
    }
    return chance(s, 10) ? grove_sched_host_level(s->t.s, s->t.topology) : (grove_level)below(s, 2);
}

/* What the library says of a wish: some are not to be had. */
static void said(story *s, const char *what, grove_status st) {
    if (st < 0) {
        gv_buf_fmt(&s->out, "  %s: %s\n", what, grove_status_name(st));
    }
}

static void wishes(story *s, grove_gang *g) {
    for (uint32_t p = 0; p < s->t.n_podgroups; p++) {
        for (uint32_t i = 0; i < 3 && chance(s, 12); i++) {
            said(s, "sticky", grove_gang_sticky(g, p, i, below(s, s->n_nodes)));
        }
        if (chance(s, 8)) {
            said(s, "member", grove_gang_member(g, p, below(s, s->n_nodes)));
        }
    }
    uint32_t d[6];
    draw(s, d, 6);
    if (chance(s, 20)) {
        said(s, "anchor",
             grove_gang_anchor(g, (grove_level)(d[0] % 3), d[1] % s->n_nodes,
                               1 + (grove_strength)(d[2] % 100 < 40)));
    }
    if (chance(s, 20)) {
        uint32_t nodes[4];
        for (uint32_t i = 0; i < 4; i++) {
            nodes[i] = below(s, s->n_nodes);
        }
        said(s, "spread",
             grove_gang_spread(g, (grove_level)(d[3] % 3), 1 + d[4] % 3,
                               1 + (grove_strength)(d[2] % 100 < 40), nodes, d[5] % 5));
    }
    if (s->n_gangs > 0 && chance(s, 15)) {
        said(s, "base", grove_gang_base(g, s->gangs[below(s, s->n_gangs)]));
    }
}

static void describe(story *s, grove_gang *g) {
    static const uint32_t leaves[] = {0, 0, 1, 3, 4, 5};
    uint32_t id;
    s->t.topology = s->topologies[chance(s, 15)];
    s->t.n_podgroups = 1 + below(s, 4);
    s->t.n_groups = 0;
    assert_int_equal(grove_gang_begin(g, s->t.topology, "gang"), GROVE_OK);
    for (uint32_t i = 0; i < s->t.n_podgroups; i++) {
        uint32_t min = below(s, 8) ? 1 + below(s, 3) : 0, cls = below(s, CLASSES);
        uint32_t count = min + (chance(s, 30) ? below(s, 4) : 0);
        grove_level required = any_level(s, 12), preferred = any_level(s, 20);
        said(s, "podgroup", grove_gang_podgroup(g, "p", cls, min, count, required, preferred, &id));
    }
    for (uint32_t n = 2; n < s->t.n_podgroups + 1 && chance(s, 40); n += 1) {
        uint32_t first[4] = {0, 1, 2, 3};
        grove_level required = any_level(s, 50), preferred = any_level(s, 30);
        said(s, "group", grove_gang_group(g, "g", first, n, required, preferred, &id));
        s->t.n_groups++;
    }
    grove_level required = any_level(s, 30), preferred = any_level(s, 40);
    said(s, "pack", grove_gang_pack(g, required, preferred));
    wishes(s, g);
    said(s, "priority", grove_gang_priority(g, (int32_t)below(s, 4)));
    said(s, "queue", grove_gang_queue(g, leaves[below(s, 6)]));
    uint32_t since = below(s, 4), passed_over = below(s, 4);
    said(s, "waiting", grove_gang_waiting(g, since, passed_over));
    said(s, "flags", grove_gang_flags(g, chance(s, 15) ? 1 + below(s, 3) : 0));
}

static void keep_gang(story *s, uint32_t gang) {
    if (s->n_gangs < MOST) {
        s->gangs[s->n_gangs++] = gang;
    }
}

static void commit(story *s) {
    uint32_t gang = 0, n;
    grove_status st = grove_sched_commit(s->t.s, s->t.g, s->t.d, &gang, NULL);
    gv_buf_fmt(&s->out, "commit: %s", grove_status_name(st));
    if (st == GROVE_OK) {
        const uint32_t *pods = grove_sched_gang_pods(s->t.s, gang, &n);
        for (uint32_t i = 0; i < n; i++) {
            gv_buf_fmt(&s->out, " %u", (unsigned)pods[i]);
        }
        keep_gang(s, gang);
    }
    gv_buf_fmt(&s->out, "\n");
}

/* ---- steps ---- */

static void drop_victims(story *s) {
    uint32_t n;
    grove_victim list[MOST];
    const grove_victim *v = grove_decision_victims(s->t.d, &n);
    n = n < MOST ? n : MOST;
    for (uint32_t i = 0; i < n; i++) {
        list[i] = v[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        said(s, "victim",
             list[i].pod == GROVE_SCHED_NONE ? grove_sched_release(s->t.s, list[i].gang)
                                             : grove_sched_pod_remove(s->t.s, list[i].pod));
    }
    s->victims += n;
}

static void decide(story *s, uint32_t how) {
    grove_place_options o = {.size = (uint32_t)sizeof o};
    o.flags = chance(s, 80) ? 0 : below(s, 3);
    o.steps = chance(s, 85) ? 0 : 1 + below(s, 400);
    o.frontier = chance(s, 90) ? 0 : 1 + below(s, 6);
    int64_t wanted[(QUEUES + 1) * RESOURCES] = {0};
    assert_true(grove_sched_resource_count(s->t.s) <= RESOURCES);
    uint64_t before = grove_sched_hash(s->t.s);
    uint32_t n_wanted = below(s, QUEUES + 2);
    for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        wanted[i] = below(s, 12);
    }
    grove_status st = how == 0   ? grove_sched_place(s->t.s, s->t.g, &o, s->t.d, NULL)
                      : how == 1 ? grove_sched_preempt(s->t.s, s->t.g, &o, s->t.d, NULL)
                                 : grove_sched_reclaim(s->t.s, s->t.g, n_wanted ? wanted : NULL,
                                                       n_wanted, &o, s->t.d, NULL);
    assert_true(grove_sched_hash(s->t.s) == before);
    gv_buf_fmt(&s->out, "decide %u: %s\n", (unsigned)how, grove_status_name(st));
    if (st < 0) {
        return;
    }
    s->verdicts[grove_decision_verdict(s->t.d)]++;
    tell_long(&s->t);
    if (grove_decision_verdict(s->t.d) == GROVE_PLACED && chance(s, 80)) {
        drop_victims(s);
        commit(s);
    }
}

static void tell_shares(story *s) {
    for (uint32_t q = 1; q < grove_sched_queue_count(s->t.s); q++) {
        const int64_t *share = grove_sched_queue_share(s->t.s, q);
        const int64_t *used = grove_sched_queue_used(s->t.s, q);
        gv_buf_fmt(&s->out, "  %s:", grove_sched_queue_name(s->t.s, q));
        for (uint32_t r = 0; r < 3; r++) {
            gv_buf_fmt(&s->out, " %lld of %lld", (long long)used[r],
                       share ? (long long)share[r] : -1);
        }
        gv_buf_fmt(&s->out, "\n");
    }
}

static void serve(story *s) {
    telling t = s->t;
    grove_serve_options o = {.size = (uint32_t)sizeof o};
    o.flags = below(s, 8);
    o.together = below(s, 4);
    o.starving_after = below(s, 3);
    const grove_served *served = NULL;
    uint32_t n = 1 + below(s, SERVED);
    for (uint32_t i = 0; i < n; i++) {
        describe(s, s->waiting[i]);
        s->described[i][0] = s->t.topology;
        s->described[i][1] = s->t.n_podgroups;
        s->described[i][2] = s->t.n_groups;
    }
    grove_status st = grove_sched_serve(s->t.s, (const grove_gang *const *)s->waiting, s->answers,
                                        n, &o, &served, NULL);
    gv_buf_fmt(&s->out, "serve %u: %s\n", (unsigned)n, grove_status_name(st));
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        gv_buf_fmt(&s->out, " gang %u: %d, flags %u, node %d\n", (unsigned)served[i].index,
                   (int)served[i].gang, (unsigned)served[i].flags, (int)served[i].node);
        if (served[i].gang != GROVE_SCHED_NONE && !(o.flags & GROVE_SERVE_PLAN)) {
            keep_gang(s, served[i].gang);
        }
    }
    for (uint32_t i = 0; st == GROVE_OK && i < n; i++) {
        t.d = s->answers[i];
        t.topology = s->described[i][0];
        t.n_podgroups = s->described[i][1];
        t.n_groups = s->described[i][2];
        tell_short(&t);
        uint32_t n_victims = 0;
        (void)grove_decision_victims(t.d, &n_victims);
        gv_buf_fmt(&s->out, "  score %d, %u victims\n", (int)grove_decision_score(t.d),
                   (unsigned)n_victims);
    }
    tell_shares(s);
}

static void put_pod(story *s) {
    uint32_t d[9];
    draw(s, d, 9);
    static const uint32_t leaves[] = {0, 0, 1, 3, 4, 5};
    int64_t requests[3] = {1, d[0] % 6, 500 * (int64_t)(d[1] % 6)};
    bool by_class = (d[8] % 100 < 50);
    uint32_t id = 0;
    grove_sched_pod pod = {.size = (uint32_t)sizeof pod,
                           .node = d[2] % s->n_nodes,
                           .class_id = by_class ? d[3] % CLASSES : GROVE_SCHED_NONE,
                           .requests = requests,
                           .n_requests = by_class ? 0 : 1 + d[4] % 3,
                           .priority = (int32_t)(d[5] % 4),
                           .flags = d[6] % 5 == 0,
                           .queue = leaves[d[7] % 6]};
    grove_status st = grove_sched_pod_add(s->t.s, &pod, &id, NULL);
    gv_buf_fmt(&s->out, "pod %u: %s\n", (unsigned)id, grove_status_name(st));
    if (st == GROVE_OK && s->n_pods < MOST) {
        s->pods[s->n_pods++] = id;
    }
}

/* Somebody leaves, or is looked at otherwise. */
static void change(story *s) {
    uint32_t g = below(s, s->n_gangs), p = below(s, s->n_pods);
    switch (below(s, 5)) {
    case 0:
        if (s->n_pods > 0) {
            said(s, "unpod", grove_sched_pod_remove(s->t.s, s->pods[p]));
            s->pods[p] = s->pods[--s->n_pods];
        }
        break;
    case 1:
        if (s->n_gangs > 0) {
            said(s, "flags", grove_sched_gang_flags(s->t.s, s->gangs[g], below(s, 2)));
        }
        break;
    case 2:
        if (s->n_gangs > 0) {
            said(s, "base",
                 grove_sched_gang_base(s->t.s, s->gangs[g], s->gangs[below(s, s->n_gangs)]));
        }
        break;
    default:
        if (s->n_gangs > 0) {
            said(s, "release", grove_sched_release(s->t.s, s->gangs[g]));
            s->gangs[g] = s->gangs[--s->n_gangs];
        }
        break;
    }
}

/* A decision, tried and taken back: all is as before. */
static void what_if(story *s) {
    uint64_t before = grove_sched_hash(s->t.s), mark;
    uint32_t n_gangs = s->n_gangs, n_pods = s->n_pods;
    assert_int_equal(grove_sched_mark(s->t.s, &mark), GROVE_OK);
    for (uint32_t i = 0; i < 3; i++) {
        describe(s, s->t.g);
        decide(s, 0);
        put_pod(s);
    }
    assert_int_equal(grove_sched_rollback(s->t.s, mark), GROVE_OK);
    assert_true(grove_sched_hash(s->t.s) == before);
    s->n_gangs = n_gangs;
    s->n_pods = n_pods;
}

static void step(story *s) {
    switch (below(s, 12)) {
    case 0:
        serve(s);
        break;
    case 1:
        put_pod(s);
        break;
    case 2:
        change(s);
        break;
    case 3:
        if (chance(s, 30)) {
            put_node(s, s->n_nodes++, false);
        } else {
            put_node(s, below(s, s->n_names), true);
        }
        break;
    case 4:
        what_if(s);
        break;
    case 5:
        put_queue(s, below(s, QUEUES));
        break;
    case 6:
        if (chance(s, 40)) {
            said(s, "drop", grove_sched_node_remove(s->t.s, below(s, s->n_nodes)));
        }
        tell_room(&s->t);
        break;
    case 7:
    case 8:
        describe(s, s->t.g);
        if (chance(s, 70)) { /* one to whom the others must give way */
            said(s, "priority", grove_gang_priority(s->t.g, 5));
        }
        decide(s, 1 + below(s, 2));
        break;
    default:
        describe(s, s->t.g);
        decide(s, 0);
        break;
    }
    gv_buf_fmt(&s->out, "books %016llx\n", (unsigned long long)grove_sched_hash(s->t.s));
    tell(s);
}

/* ---- one story ---- */

static int32_t veto(void *ctx, uint32_t class_id, uint32_t node) {
    return (class_id + node + *(const uint32_t *)ctx) % 5 == 0;
}

static int64_t backwards(void *ctx, const grove_sched_candidate *candidate) {
    (void)ctx;
    return candidate->level % 2 ? -candidate->rank : -(int64_t)candidate->domain;
}

static int64_t few_hosts_last(void *ctx, const grove_decision *placed) {
    grove_cost cost = {.size = (uint32_t)sizeof cost};
    (void)ctx;
    assert_int_equal(grove_decision_cost(placed, &cost), GROVE_OK);
    return -cost.hosts;
}

static void begin(story *s, grove_env *env) {
    static const char *const keys[] = {"block", "rack"}, *const rows[] = {"row", "block", "name"};
    grove_sched_options o = {.size = (uint32_t)sizeof o,
                             .host_key = s->number % 3 ? NULL : "name",
                             .veto = s->number % 4 == 1 ? veto : NULL,
                             .veto_ctx = &s->number,
                             .order = s->number % 8 == 2 ? backwards : NULL,
                             .score = s->number % 8 == 3 ? few_hosts_last : NULL,
                             .score_among = s->number % 16 == 3 ? 2 : 0};
    uint32_t id;
    assert_int_equal(grove_sched_new(env, &o, &s->t.s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s->t.s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(s->t.s, "cpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_topology(s->t.s, "t", keys, 2, &s->topologies[0], NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(s->t.s, &s->t.g), GROVE_OK);
    assert_int_equal(grove_decision_new(s->t.s, &s->t.d), GROVE_OK);
    s->n_nodes = s->n_names = s->number % 64 == 63 ? 420 : 6 + below(s, 18);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        put_node(s, i, false);
    }
    assert_int_equal(grove_sched_topology(s->t.s, "rows", rows, 2, &s->topologies[1], NULL),
                     GROVE_OK);
    for (uint32_t i = 0; i < QUEUES; i++) {
        put_queue(s, i);
    }
    for (uint32_t i = 0; i < CLASSES; i++) {
        put_class(s, i);
    }
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        put_pod(s);
    }
    for (uint32_t i = 0; i < SERVED; i++) {
        assert_int_equal(grove_gang_new(s->t.s, &s->waiting[i]), GROVE_OK);
        assert_int_equal(grove_decision_new(s->t.s, &s->answers[i]), GROVE_OK);
    }
}

static void one_story(uint32_t number, grove_env *env, grove_buf *out) {
    static story s;
    const char *told = getenv("SCHED_STORY");
    memset(&s, 0, sizeof s);
    s.number = number;
    s.hash = GV_FNV_START;
    s.told = told && strtoul(told, NULL, 10) == number;
    gv_prng_seed(&s.r, 7300 + number);
    grove_buf_init(&s.out, env);
    s.t.out = &s.out;
    begin(&s, env);
    for (int i = 0; i < STEPS; i++) {
        step(&s);
    }
    tell_room(&s.t);
    tell(&s);
    gv_buf_fmt(out, "%u: %u placed, %u infeasible, %u unknown, %u victims, %016llx\n",
               (unsigned)number, (unsigned)s.verdicts[GROVE_PLACED],
               (unsigned)s.verdicts[GROVE_INFEASIBLE], (unsigned)s.verdicts[GROVE_UNKNOWN],
               (unsigned)s.victims, (unsigned long long)s.hash);
    for (uint32_t i = 0; i < SERVED; i++) {
        grove_gang_free(s.waiting[i]);
        grove_decision_free(s.answers[i]);
    }
    grove_gang_free(s.t.g);
    grove_decision_free(s.t.d);
    grove_sched_free(s.t.s);
    grove_buf_fini(&s.out);
}

static void test_stories(void **state) {
    (void)state;
    oom_memory memory;
    oom_memory_init(&memory); /* never refuses here: it counts, and nothing it gives is zero */
    grove_env *env = oom_env(&memory, NULL);
    grove_buf out;
    grove_buf_init(&out, env);
    for (uint32_t i = 0; i < STORIES; i++) {
        one_story(i, env, &out);
    }
    test_golden("sched-stories.txt", out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_env_unref(env);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stories),
    };
    return cmocka_run_group_tests_name("sched stories", tests, NULL, NULL);
}
