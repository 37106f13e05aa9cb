/* SPDX-License-Identifier: Apache-2.0 */
/* Typed views: presence apart from value, membership, effective topology. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/view.h"
#include "support/oom.h"

static grove_env *env;
static gv_arena arena;

static int setup(void **state) {
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    gv_arena_init(&arena, env);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gv_arena_fini(&arena);
    grove_env_unref(env);
    return 0;
}

static grove_doc *parse(const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), 0);
    return doc;
}

static const char SET[] =
    "{\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\",\"labels\":{\"a\":\"b\"}},\"spec\":{"
    "\"replicas\":0,\"updateStrategy\":{\"type\":\"OnDelete\"},\"template\":{"
    "\"cliqueStartupType\":\"CliqueStartupTypeExplicit\",\"priorityClassName\":\"high\","
    "\"topologyConstraint\":{\"packDomain\":\"block\"},"
    "\"cliques\":[{\"name\":\"a\",\"spec\":{\"replicas\":2,\"podSpec\":{}}},"
    "{\"name\":\"b\",\"topologyConstraint\":{\"topologyName\":\"t\",\"pack\":{\"required\":"
    "\"rack\","
    "\"preferred\":\"host\"},\"packDomain\":\"zone\"},\"spec\":{\"minAvailable\":0,"
    "\"autoScalingConfig\":{\"maxReplicas\":4},\"podSpec\":{}}}],"
    "\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":[\"b\",\"nobody\"],\"replicas\":3,"
    "\"resourceSharing\":[{\"name\":\"nic\",\"scope\":\"PerReplica\",\"filter\":{"
    "\"childCliqueNames\":[\"b\"]}},{\"name\":\"shm\",\"scope\":\"AllReplicas\"}]}],"
    "\"resourceClaimTemplates\":[{\"name\":\"nic\",\"templateSpec\":{\"spec\":{\"devices\":{}}}}]}}"
    "}";

static void set_of_everything(void **state) {
    (void)state;
    grove_doc *doc = parse(SET);
    gv_pcs s;
    assert_int_equal(gv_pcs_read(&arena, grove_doc_root(doc), &s, NULL), 0);
    assert_true(s.replicas.set);
    assert_int_equal(s.replicas.value, 0);
    assert_int_equal(s.update, GV_UPDATE_MANUAL);
    assert_int_equal(s.startup, GV_STARTUP_LISTED);
    assert_true(gv_str_is(s.priority_class, "high"));
    assert_true(gv_str_is(s.topology.required, "block"));
    assert_int_equal(s.n_cliques, 2);
    assert_int_equal(s.cliques[0].group, -1);
    assert_int_equal(s.cliques[1].group, 0);
    assert_false(s.cliques[0].min_available.set);
    assert_true(s.cliques[1].min_available.set);
    assert_int_equal(s.cliques[1].min_available.value, 0);
    assert_false(s.cliques[1].scaling.min_replicas.set);
    assert_int_equal(s.cliques[1].scaling.max_replicas.value, 4);
    assert_true(gv_str_is(s.cliques[1].topology.required, "rack")); /* pack wins over packDomain */
    assert_true(gv_str_is(s.cliques[1].topology.preferred, "host"));
    assert_true(gv_str_is(gv_pcs_topology_name(&s), "t"));
    assert_int_equal(s.n_groups, 1);
    assert_int_equal(s.groups[0].cliques[0], 1);
    assert_int_equal(s.groups[0].cliques[1], GV_NO_CLIQUE);
    assert_false(s.groups[0].min_available.set);
    assert_int_equal(s.groups[0].n_sharing, 2);
    assert_true(s.groups[0].sharing[0].each && s.groups[0].sharing[0].filtered);
    assert_false(s.groups[0].sharing[1].each || s.groups[0].sharing[1].filtered);
    assert_int_equal(s.n_claim_templates, 1);
    assert_non_null(s.claim_templates[0].spec);
    assert_int_equal(gv_pcs_find_clique(&s, GV_STR("b")), 1);
    assert_int_equal(gv_pcs_find_clique(&s, GV_STR("c")), GV_NO_CLIQUE);
    grove_doc_unref(doc);
}

static void no_set(void **state) {
    (void)state;
    static const char *const texts[] = {"{}", "[]", "{\"spec\":3}", "{\"spec\":{\"template\":[]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        grove_doc *doc = parse(texts[i]);
        gv_pcs s;
        assert_int_equal(gv_pcs_read(&arena, grove_doc_root(doc), &s, NULL), GROVE_E_TYPE);
        grove_doc_unref(doc);
    }
}

/* What has a wrong type reads as absent; nothing is taken from it. */
static void wrong_types(void **state) {
    (void)state;
    grove_doc *doc = parse(
        "{\"metadata\":{\"name\":3,\"labels\":[]},\"spec\":{\"replicas\":\"3\","
        "\"template\":{\"cliques\":{\"a\":1},\"podCliqueScalingGroups\":null}}}");
    gv_pcs s;
    assert_int_equal(gv_pcs_read(&arena, grove_doc_root(doc), &s, NULL), 0);
    assert_int_equal(s.meta.name.n, 0);
    assert_null(s.meta.labels);
    assert_false(s.replicas.set);
    assert_int_equal(s.n_cliques, 0);
    assert_int_equal(s.n_groups, 0);
    assert_int_equal(gv_pcs_topology_name(&s).n, 0);
    grove_doc_unref(doc);
}

static void children(void **state) {
    (void)state;
    grove_doc *doc = parse(
        "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"deletionTimestamp\":\"2026-01-01T00:00:"
        "00Z\","
        "\"ownerReferences\":[{\"name\":\"x\"},{\"name\":\"y\",\"controller\":true}]},"
        "\"spec\":{\"replicas\":3,\"minAvailable\":2,\"startsAfter\":[\"p\"],\"podSpec\":{}},"
        "\"status\":{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\"}]}}");
    gv_pclq c;
    gv_pclq_read(grove_doc_root(doc), &c);
    assert_true(c.meta.deleting);
    assert_true(gv_str_is(c.meta.uid, "u"));
    assert_true(gv_str_is(gv_get_str(gv_meta_view_controller(&c.meta), "name"), "y"));
    assert_int_equal(c.replicas.value, 3);
    assert_int_equal(grove_node_size(c.starts_after), 1);
    assert_true(gv_str_is(gv_get_str(gv_condition_find(c.conditions, "A"), "status"), "True"));
    assert_null(gv_condition_find(c.conditions, "C"));
    assert_null(gv_condition_find(NULL, "C"));
    gv_pcsg g;
    gv_pcsg_read(NULL, &g);
    assert_false(g.replicas.set);
    gv_podgang p;
    gv_podgang_read(grove_doc_root(doc), &p);
    assert_null(p.groups);
    grove_doc_unref(doc);
}

static grove_status read_once(grove_env *e, void *ctx) {
    grove_doc *doc = NULL;
    grove_status s = grove_doc_parse_json(e, ctx, strlen(ctx), 0, &doc, NULL);
    if (s == GROVE_OK) {
        gv_arena a;
        gv_pcs pcs;
        gv_arena_init(&a, e);
        s = gv_pcs_read(&a, grove_doc_root(doc), &pcs, NULL);
        gv_arena_fini(&a);
    }
    grove_doc_unref(doc);
    return s;
}

static void out_of_memory(void **state) {
    char text[sizeof SET];
    (void)state;
    memcpy(text, SET, sizeof SET);
    oom_loop("view", read_once, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_of_everything), cmocka_unit_test(no_set),
        cmocka_unit_test(wrong_types),       cmocka_unit_test(children),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
