/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of hosts, fields of nodes, and wishes about nodes; the rest of the filters goes through grovectl fit. */
#include "blocks.h"

typedef struct class_parts {
    const char *token;
    uint32_t alone;
    const grove_sched_requirement *must, *wish;
} class_parts;

static uint32_t class_with(world *w, const class_parts *parts) {
    uint32_t id;
    int64_t requests[2] = {1, 1};
    grove_sched_token token = {.name = parts->token, .alone = parts->alone};
    grove_sched_term must = {parts->must, 1, 0}, wish = {parts->wish, 1, 50};
    grove_sched_terms list = {&must, 1, 0};
    grove_sched_class_spec spec = {.size = (uint32_t)sizeof spec,
                                   .requests = requests,
                                   .n_requests = 2,
                                   .required = &list,
                                   .n_required = parts->must != NULL,
                                   .preferred = &wish,
                                   .n_preferred = parts->wish != NULL,
                                   .tokens = &token,
                                   .n_tokens = parts->token != NULL};
    assert_int_equal(grove_sched_class(w->s, &spec, &id, NULL), GROVE_OK);
    return id;
}

/* Everything on one host: do these two go together there? */
static grove_verdict together(world *w, uint32_t a, uint32_t n_a, uint32_t b, uint32_t n_b) {
    begin(w, HOST, GROVE_LEVEL_NONE);
    group_of(w, a, n_a, n_a, GROVE_LEVEL_NONE);
    group_of(w, b, n_b, n_b, GROVE_LEVEL_NONE);
    return place(w);
}

static void test_tokens(void **state) {
    static char long_name[300];
    world w;
    (void)state;
    make(&w);
    memset(long_name, 'x', sizeof long_name - 1);
    uint32_t alone = class_with(&w, &(class_parts){.token = "t", .alone = 1});
    uint32_t shared = class_with(&w, &(class_parts){.token = "t"});
    uint32_t other = class_with(&w, &(class_parts){.token = "u", .alone = 1});
    uint32_t none = class_with(&w, &(class_parts){.token = NULL});
    uint32_t far = class_with(&w, &(class_parts){.token = long_name, .alone = 1});
    long_name[298] = 'y'; /* told apart beyond what a resource's name holds */
    uint32_t further = class_with(&w, &(class_parts){.token = long_name, .alone = 1});
    assert_int_not_equal(alone, shared);
    assert_int_equal(together(&w, alone, 1, alone, 1), GROVE_INFEASIBLE);
    assert_int_equal(together(&w, alone, 1, shared, 1), GROVE_INFEASIBLE);
    assert_int_equal(together(&w, shared, 4, shared, 4), GROVE_PLACED);
    assert_int_equal(together(&w, alone, 1, other, 1), GROVE_PLACED);
    assert_int_equal(together(&w, alone, 1, none, 7), GROVE_PLACED);
    assert_int_equal(together(&w, far, 1, further, 1), GROVE_PLACED);
    assert_int_equal(together(&w, far, 2, none, 1), GROVE_INFEASIBLE);
    grove_sched_token nameless = {.alone = 1};
    grove_sched_class_spec bad = {.size = (uint32_t)sizeof bad, .tokens = &nameless, .n_tokens = 1};
    assert_int_equal(grove_sched_class(w.s, &bad, &alone, NULL), GROVE_E_INVALID);
    end(&w);
}

/* Callers that were built before there were tokens. */
static void test_shorter_class(void **state) {
    world w;
    uint32_t id;
    (void)state;
    make(&w);
    int64_t requests[2] = {1, 8};
    grove_sched_class_spec spec = {.size = (uint32_t)offsetof(grove_sched_class_spec, tokens),
                                   .requests = requests,
                                   .n_requests = 2,
                                   .n_tokens = 7};
    assert_int_equal(grove_sched_class(w.s, &spec, &id, NULL), GROVE_OK);
    assert_int_equal(id, w.whole);
    spec.size -= 8;
    assert_int_equal(grove_sched_class(w.s, &spec, &id, NULL), GROVE_E_INVALID);
    end(&w);
}

static void test_names(void **state) {
    static const char *const names[] = {"n03", "n04"};
    world w;
    (void)state;
    make(&w);
    grove_sched_requirement in = {NULL, names, 2, GROVE_MATCH_NAME_IN},
                            out = {NULL, names, 2, GROVE_MATCH_NAME_NOT_IN};
    uint32_t one = class_with(&w, &(class_parts){.must = &in});
    uint32_t rest = class_with(&w, &(class_parts){.must = &out});
    for (uint32_t i = 0; i < NODES; i++) {
        int named = i == 3 || i == 4;
        assert_int_equal(grove_sched_class_allows(w.s, one, w.node[i]), named);
        assert_int_equal(grove_sched_class_allows(w.s, rest, w.node[i]), !named);
    }
    end(&w);
}

/* A wish decides between places that are alike in span and hosts, also against the tighter one. */
static void test_wishes(void **state) {
    static const char *const rack = "r2", *const name = "n10";
    world w;
    (void)state;
    make(&w);
    grove_sched_requirement in_rack = {"rack", &rack, 1, GROVE_MATCH_IN},
                            on_node = {NULL, &name, 1, GROVE_MATCH_NAME_IN};
    fill(&w, 0, 2); /* the tightest */
    uint32_t racked = class_with(&w, &(class_parts){.wish = &in_rack});
    uint32_t named = class_with(&w, &(class_parts){.wish = &on_node});
    grove_level levels[] = {GROVE_LEVEL_NONE, BLOCK, RACK, HOST};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        begin(&w, levels[i], GROVE_LEVEL_NONE);
        uint32_t pg = group_of(&w, named, 2, 2, GROVE_LEVEL_NONE);
        assert_int_equal(place(&w), GROVE_PLACED);
        assert_int_equal(node_at(&w, pg, 0), w.node[10]);
        assert_int_equal(node_at(&w, pg, 1), w.node[10]);
        begin(&w, levels[i], GROVE_LEVEL_NONE);
        pg = group_of(&w, racked, 2, 2, RACK);
        assert_int_equal(place(&w), GROVE_PLACED);
        assert_int_equal(domain(&w, RACK, node_at(&w, pg, 0)), 2);
        grove_cost cost = {.size = (uint32_t)sizeof cost};
        assert_int_equal(grove_decision_cost(w.d, &cost), GROVE_OK);
        assert_int_equal(cost.disliked, 0);
    }
    for (uint32_t i = 8; i < 12; i++) {
        fill(&w, i, 0);
    }
    begin(&w, RACK, GROVE_LEVEL_NONE);
    group_of(&w, racked, 2, 2, GROVE_LEVEL_NONE);
    assert_int_equal(place(&w), GROVE_PLACED); /* it is a wish */
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tokens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shorter_class, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wishes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
