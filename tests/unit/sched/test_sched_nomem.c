/* SPDX-License-Identifier: Apache-2.0 */
/* A rich scheduler's life with each allocation refused in turn: a clean error, or the same answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sched.h>

#include "support/oom.h"

#define TRY(call) st = st < 0 ? st : (call)

typedef struct world {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topology, plain, picky;
    uint64_t want; /* hash at the end, from the run without refusals; 0: not known yet */
    grove_buf text;
    char told[16384];
} world;

static grove_sched_label labels[3];

static grove_sched_node node_spec(uint32_t i, char *name, char *rack) {
    static const int64_t capacity[] = {10, 8, 16000};
    static const grove_sched_taint taint = {
        .key = "k", .value = "v", .effect = GROVE_TAINT_NO_SCHEDULE};
    snprintf(name, 16, "n%u", (unsigned)i);
    snprintf(rack, 16, "r%u", (unsigned)i / 3);
    labels[0] = (grove_sched_label){"block", i < 6 ? "b0" : "b1"};
    labels[1] = (grove_sched_label){"rack", rack};
    labels[2] = (grove_sched_label){"arch", i % 2 ? "arm" : "x86"};
    return (grove_sched_node){.size = (uint32_t)sizeof(grove_sched_node),
                              .name = name,
                              .labels = labels,
                              .n_labels = 3,
                              .taints = &taint,
                              .n_taints = i == 4,
                              .capacity = capacity,
                              .n_capacity = 3};
}

static grove_status add_nodes(world *w) {
    static const char *const keys[] = {"block", "rack"};
    grove_status st = GROVE_OK;
    uint32_t id;
    char name[16], rack[16];
    TRY(grove_sched_resource(w->s, "gpu", &id));
    TRY(grove_sched_resource(w->s, "cpu", &id));
    for (uint32_t i = 0; i < 12 && st == GROVE_OK; i++) {
        grove_sched_node spec = node_spec(i, name, rack);
        TRY(grove_sched_node_add(w->s, &spec, &id, NULL));
    }
    TRY(grove_sched_topology(w->s, "t", keys, 2, &w->topology, NULL)); /* nodes are there already */
    return st;
}

static grove_status add_classes(world *w) {
    static const char *const values[] = {"arm", "x86"};
    static const grove_sched_requirement requirement = {"arch", values, 2, GROVE_MATCH_IN};
    static const grove_sched_term term = {&requirement, 1, 7};
    static const grove_sched_terms list = {&term, 1, 0};
    static const grove_sched_toleration toleration = {"k", "v", GROVE_TAINT_NO_SCHEDULE, 0};
    static const grove_sched_port port = {"TCP", "", 80, 0};
    static const grove_sched_label selector = {"block", "b0"};
    static const int64_t requests[] = {1, 2, 1000};
    grove_status st = GROVE_OK;
    grove_sched_class_spec spec = {
        .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 3};
    TRY(grove_sched_class(w->s, &spec, &w->plain, NULL));
    spec.required = &list, spec.n_required = 1;
    spec.preferred = &term, spec.n_preferred = 1;
    spec.tolerations = &toleration, spec.n_tolerations = 1;
    spec.ports = &port, spec.n_ports = 1;
    spec.selector = &selector, spec.n_selector = 1;
    spec.max_per_host = 1;
    TRY(grove_sched_class(w->s, &spec, &w->picky, NULL));
    return st;
}

static grove_status describe(world *w, uint32_t n, int32_t priority, grove_level level) {
    grove_status st = GROVE_OK;
    uint32_t id, both[2] = {0, 1}, nodes[3] = {0, 3, 6};
    TRY(grove_gang_begin(w->g, w->topology, "gang"));
    TRY(grove_gang_podgroup(w->g, "a", w->plain, n, n + 1, level, GROVE_LEVEL_NONE, &id));
    TRY(grove_gang_podgroup(w->g, "b", w->picky, 2, 2, GROVE_LEVEL_NONE, 1, &id));
    TRY(grove_gang_podgroup(w->g, "c", w->plain, 1, 1, 1, GROVE_LEVEL_NONE, &id));
    TRY(grove_gang_group(w->g, "g", both, 2, 0, 1, &id));
    TRY(grove_gang_pack(w->g, GROVE_LEVEL_NONE, 0));
    TRY(grove_gang_sticky(w->g, 0, 0, 1));
    TRY(grove_gang_anchor(w->g, 0, 0, GROVE_STRENGTH_PREFERRED));
    TRY(grove_gang_spread(w->g, 1, 1, GROVE_STRENGTH_PREFERRED, nodes, 3));
    TRY(grove_gang_priority(w->g, priority));
    return st;
}

static grove_status decide_all(world *w) {
    grove_place_options exact = {.size = (uint32_t)sizeof exact, .flags = GROVE_PLACE_EXACT_ONLY};
    grove_status st = GROVE_OK;
    uint32_t id;
    uint64_t mark;
    TRY(describe(w, 7, 0, 1));
    TRY(grove_sched_place(w->s, w->g, NULL, w->d, NULL));
    TRY(grove_sched_commit(w->s, w->g, w->d, &id, NULL));
    TRY(describe(w, 9, 1, 1));
    TRY(grove_sched_place(w->s, w->g, &exact, w->d, NULL));
    TRY(grove_sched_explain(w->s, w->g, w->d, 0, &w->text, NULL));
    TRY(grove_sched_mark(w->s, &mark));
    TRY(grove_sched_release(w->s, id));
    TRY(grove_sched_place(w->s, w->g, NULL, w->d, NULL));
    TRY(grove_sched_commit(w->s, w->g, w->d, &id, NULL));
    TRY(grove_sched_rollback(w->s, mark));
    TRY(describe(w, 20, 5, GROVE_LEVEL_NONE));
    TRY(grove_sched_preempt(w->s, w->g, NULL, w->d, NULL));
    TRY(grove_sched_explain(w->s, w->g, w->d, GROVE_EXPLAIN_JSON, &w->text, NULL));
    return st;
}

static grove_status change_nodes(world *w) {
    grove_status st = GROVE_OK;
    char name[16], rack[16];
    uint32_t pod, id;
    grove_sched_pod spec = {.size = (uint32_t)sizeof spec, .node = 11, .class_id = w->plain};
    grove_sched_node node = node_spec(11, name, rack);
    labels[1].value = "other"; /* a rack of its own */
    TRY(grove_sched_pod_add(w->s, &spec, &pod, NULL));
    TRY(grove_sched_node_update(w->s, 11, &node, NULL));
    TRY(grove_sched_node_remove(w->s, 10));
    grove_sched_members members = {
        .size = (uint32_t)sizeof members, .priority = 2, .n_pods = 1, .pods = &pod};
    TRY(grove_sched_gang_form(w->s, &members, &id, NULL));
    TRY(describe(w, 3, 0, 1));
    TRY(grove_sched_place(w->s, w->g, NULL, w->d, NULL));
    return st < 0 ? st : grove_sched_verify(w->s, NULL);
}

/* A cache that could not grow costs steps, no answer. */
static void hide_steps(grove_buf *text) {
    char *digits = text->data ? strstr(text->data, "\"steps\":") : NULL;
    for (digits = digits ? digits + 8 : NULL; digits && *digits >= '0' && *digits <= '9';
         digits++) {
        *digits = '0';
    }
}

static grove_status live(grove_env *env, void *ctx) {
    world *w = ctx;
    grove_status st = GROVE_OK;
    w->s = NULL, w->g = NULL, w->d = NULL;
    grove_buf_init(&w->text, env);
    TRY(grove_sched_new(env, NULL, &w->s, NULL));
    TRY(grove_gang_new(w->s, &w->g));
    TRY(grove_decision_new(w->s, &w->d));
    TRY(add_nodes(w));
    TRY(add_classes(w));
    TRY(decide_all(w));
    TRY(change_nodes(w));
    hide_steps(&w->text);
    if (st == GROVE_OK && w->want == 0) {
        w->want = grove_sched_hash(w->s);
        assert_true(w->text.len < sizeof w->told);
        memcpy(w->told, w->text.data, (size_t)w->text.len + 1);
    } else if (st == GROVE_OK) {
        assert_true(grove_sched_hash(w->s) == w->want);
        size_t at = 0;
        while (w->text.data[at] && w->text.data[at] == w->told[at]) {
            at++;
        }
        if (w->text.data[at] != w->told[at]) {
            at -= at < 60 ? at : 60;
            fail_msg("%.160s\ninstead of\n%.160s", w->text.data + at, w->told + at);
        }
    }
    grove_buf_fini(&w->text);
    grove_gang_free(w->g);
    grove_decision_free(w->d);
    grove_sched_free(w->s);
    return st;
}

static void test_rich_life(void **state) {
    (void)state;
    static world w;
    oom_loop("a rich scheduler", live, &w);
    assert_true(w.want != 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rich_life),
    };
    return cmocka_run_group_tests_name("sched nomem", tests, NULL, NULL);
}
