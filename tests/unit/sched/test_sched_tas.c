/* SPDX-License-Identifier: Apache-2.0 */
/* Topology scenarios from tests/golden/tas: verdicts and the levels that pods share, step by step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/doc.h>
#include <grove/sched.h>

#include "support/files.h"

typedef struct scene {
    grove_sched *s;
    grove_gang *g;
    grove_decision *d;
    uint32_t topology;
    uint32_t first_node; /* of the first gang placed: the anchor */
} scene;

static const char *text(const grove_node *object, const char *key) {
    const char *value = grove_node_text(grove_node_get(object, key));
    return value ? value : "";
}

static uint32_t number(const grove_node *object, const char *key) {
    int64_t n = 0;
    (void)grove_node_int64(grove_node_get(object, key), &n);
    return (uint32_t)n;
}

static grove_level level(const scene *c, const char *name) {
    return name[0] ? grove_sched_level(c->s, c->topology, name) : GROVE_LEVEL_NONE;
}

static void build(grove_env *env, const grove_node *cluster, scene *c) {
    static const char *const keys[] = {"block", "rack"};
    uint32_t id, odd = number(cluster, "odd_block_gpu");
    *c = (scene){.first_node = GROVE_SCHED_NONE};
    assert_int_equal(grove_sched_new(env, NULL, &c->s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(c->s, "gpu", &id), GROVE_OK);
    assert_int_equal(grove_sched_topology(c->s, "t", keys, 2, &c->topology, NULL), GROVE_OK);
    assert_int_equal(grove_gang_new(c->s, &c->g), GROVE_OK);
    assert_int_equal(grove_decision_new(c->s, &c->d), GROVE_OK);
    for (uint32_t b = 0; b < number(cluster, "blocks"); b++) {
        for (uint32_t r = 0; r < number(cluster, "racks"); r++) {
            for (uint32_t h = 0; h < number(cluster, "hosts"); h++) {
                char block[16], rack[32], name[48];
                snprintf(block, sizeof block, "b%u", b);
                snprintf(rack, sizeof rack, "b%ur%u", b, r);
                snprintf(name, sizeof name, "b%ur%uh%u", b, r, h);
                grove_sched_label labels[2] = {{"block", block}, {"rack", rack}};
                int64_t capacity[2] = {110, b % 2 && odd ? odd : number(cluster, "gpu")};
                grove_sched_node node = {.size = (uint32_t)sizeof node,
                                         .name = name,
                                         .labels = labels,
                                         .n_labels = 2,
                                         .capacity = capacity,
                                         .n_capacity = 2};
                assert_int_equal(grove_sched_node_add(c->s, &node, &id, NULL), GROVE_OK);
            }
        }
    }
}

static void describe(scene *c, const grove_node *gang) {
    const grove_node *pgs = grove_node_get(gang, "podgroups"),
                     *groups = grove_node_get(gang, "groups");
    uint32_t id, cls, members[32];
    assert_int_equal(grove_gang_begin(c->g, c->topology, "gang"), GROVE_OK);
    for (const grove_node *p = grove_node_first(pgs); p; p = grove_node_next(pgs, p)) {
        int64_t requests[2] = {1, number(p, "gpu")};
        grove_sched_class_spec spec = {
            .size = (uint32_t)sizeof spec, .requests = requests, .n_requests = 2};
        assert_int_equal(grove_sched_class(c->s, &spec, &cls, NULL), GROVE_OK);
        assert_int_equal(grove_gang_podgroup(c->g, text(p, "name"), cls, number(p, "min"),
                                             number(p, "count"), level(c, text(p, "required")),
                                             level(c, text(p, "preferred")), &id),
                         GROVE_OK);
    }
    for (const grove_node *g = grove_node_first(groups); g; g = grove_node_next(groups, g)) {
        const grove_node *names = grove_node_get(g, "podgroups");
        uint32_t n = 0;
        for (const grove_node *m = grove_node_first(names); m; m = grove_node_next(names, m), n++) {
            members[n] = 0;
            for (uint32_t i = 0; i < grove_node_size(pgs); i++) {
                bool same = strcmp(text(grove_node_at(pgs, i), "name"), grove_node_text(m)) == 0;
                members[n] = same ? i : members[n];
            }
        }
        assert_int_equal(grove_gang_group(c->g, text(g, "name"), members, n,
                                          level(c, text(g, "required")),
                                          level(c, text(g, "preferred")), &id),
                         GROVE_OK);
    }
    assert_int_equal(
        grove_gang_pack(c->g, level(c, text(gang, "required")), level(c, text(gang, "preferred"))),
        GROVE_OK);
    if (text(gang, "anchor")[0] && c->first_node != GROVE_SCHED_NONE) {
        assert_int_equal(grove_gang_anchor(c->g, level(c, text(gang, "anchor")), c->first_node,
                                           GROVE_STRENGTH_REQUIRED),
                         GROVE_OK);
    }
}

/* The level that the pods of a named entity share is at least as narrow as the one expected. */
static void check_shared(const scene *c, const grove_node *gang, const grove_node *expected,
                         const char *where) {
    const grove_node *pgs = grove_node_get(gang, "podgroups"),
                     *groups = grove_node_get(gang, "groups");
    for (const grove_node *e = grove_node_first(expected); e; e = grove_node_next(expected, e)) {
        const char *name = grove_node_key(e, NULL);
        grove_level got = grove_decision_level(c->d, GROVE_ENTITY_GANG, 0);
        for (uint32_t i = 0; i < grove_node_size(groups); i++) {
            if (strcmp(text(grove_node_at(groups, i), "name"), name) == 0) {
                got = grove_decision_level(c->d, GROVE_ENTITY_GROUP, i);
            }
        }
        for (uint32_t i = 0; i < grove_node_size(pgs); i++) {
            if (strcmp(text(grove_node_at(pgs, i), "name"), name) == 0) {
                got = grove_decision_level(c->d, GROVE_ENTITY_PODGROUP, i);
            }
        }
        if (got < level(c, grove_node_text(e))) {
            fail_msg("%s: %s shares level %d only", where, name, got);
        }
    }
}

static void step(scene *c, const grove_node *s, const char *where) {
    const grove_node *gang = grove_node_get(s, "gang");
    describe(c, gang);
    assert_int_equal(grove_sched_place(c->s, c->g, NULL, c->d, NULL), GROVE_OK);
    bool placed = grove_decision_verdict(c->d) == GROVE_PLACED;
    if (grove_decision_verdict(c->d) == GROVE_UNKNOWN ||
        placed != (strcmp(text(s, "verdict"), "placed") == 0)) {
        fail_msg("%s: verdict %d", where, grove_decision_verdict(c->d));
    }
    if (placed) {
        uint32_t id, n;
        check_shared(c, gang, grove_node_get(s, "shared"), where);
        const uint32_t *nodes = grove_decision_nodes(c->d, 0, &n);
        c->first_node = c->first_node == GROVE_SCHED_NONE && n > 0 ? nodes[0] : c->first_node;
        assert_int_equal(grove_sched_commit(c->s, c->g, c->d, &id, NULL), GROVE_OK);
        assert_int_equal(grove_sched_verify(c->s, NULL), GROVE_OK);
    }
}

static void run_file(const char *path, void *ctx) {
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    scene c;
    size_t len;
    char *json = test_read(path, &len);
    (void)ctx;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_doc_parse_json(env, json, len, 0, &doc, NULL), GROVE_OK);
    const grove_node *root = grove_doc_root(doc), *steps = grove_node_get(root, "steps");
    build(env, grove_node_get(root, "cluster"), &c);
    for (const grove_node *s = grove_node_first(steps); s; s = grove_node_next(steps, s)) {
        step(&c, s, path);
    }
    grove_gang_free(c.g);
    grove_decision_free(c.d);
    grove_sched_free(c.s);
    grove_doc_unref(doc);
    grove_env_unref(env);
    free(json);
}

static void test_scenarios(void **state) {
    (void)state;
    size_t n = test_each_file("tests/golden/tas", ".json", run_file, NULL);
    print_message("%zu topology scenarios\n", n);
    assert_true(n >= 21);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenarios)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
