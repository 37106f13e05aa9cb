/* SPDX-License-Identifier: Apache-2.0 */
/* Gates and placements: who is bound, who is released to a place, who waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

static const char gang_config[] =
    "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
    "topologyAwareScheduling: {enabled: true}\n"
    "scheduler: {defaultProfileName: default-scheduler, profiles: [{name: default-scheduler, "
    "config: "
    "{gangScheduling: true}}]}\n"
    "---\napiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: topo}\n"
    "spec: {levels: [{domain: rack, key: x/rack}, {domain: host, key: kubernetes.io/hostname}]}\n";

static const char node[] = "apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {x/rack: r7, "
                           "kubernetes.io/hostname: n1}}\n";

static void load_config(cluster *c, const char *text) {
    assert_int_equal(grove_config_new(c->env, &c->config), 0);
    grove_error err = GROVE_ERROR_INIT;
    grove_status s = grove_config_load(c->config, text, strlen(text), &err);
    if (s < 0) {
        print_message("%s\n", err.message);
    }
    assert_int_equal(s, 0);
}

static void place(cluster *c, grove_placement *p, grove_placed_pod *pods,
                  grove_gang_verdict verdict, int n) {
    for (int i = 0; i < n; i++) {
        object *o = cluster_pod(c, "s-0-a", i);
        pods[i] = (grove_placed_pod){.pod = o->name, .uid = o->uid, .node = "n1"};
    }
    *p = (grove_placement){.size = sizeof *p,
                           .verdict = verdict,
                           .gang = "s-0",
                           .reason = "InsufficientCapacity",
                           .text = "needs 3 more GPUs",
                           .pods = pods,
                           .n_pods = (uint32_t)n,
                           .retry_ns = GROVE_NEVER};
    c->placements[0] = p;
    c->n_placements = 1;
}

static void test_bind(void **state) {
    (void)state;
    cluster c;
    grove_placement p;
    grove_placed_pod pods[3];
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_settle(&c, 12);
    place(&c, &p, pods, GROVE_VERDICT_PLACED, 3);
    cluster_settle(&c, 12);
    assert_int_equal(c.binds, 3);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", "/status/phase"), "Starting");
    p.score = 875;
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", "/status/placementScore"),
                        "0.875");
    cluster_close(&c);
}

/* Each adapter gives the guarantee, or the PodGang says from its first status on that nobody does. */
static void test_every_adapter_enforces_or_says_so(void **state) {
    static const struct {
        const char *profile;
        const char *missing; /* status of the condition; "": it is not there */
    } all[] = {
        {"name: default-scheduler", "True"},
        {"name: default-scheduler, config: {gangScheduling: true}", ""},
        {"name: kai-scheduler", ""},
        {"name: volcano", ""},
        {"name: lpx-scheduler", "True"},
        {"name: grove-scheduler", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[256], name[64];
        cluster c;
        sscanf(all[i].profile, "name: %63[a-z-]", name);
        snprintf(text, sizeof text,
                 "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
                 "scheduler: {defaultProfileName: %s, profiles: [{%s}]}\n",
                 name, all[i].profile);
        cluster_open(&c, "s");
        load_config(&c, text);
        cluster_add(&c, SET_ONE);
        cluster_settle(&c, 12);
        assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", "/status/phase"), "Pending");
        assert_string_equal(
            cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/GangNotEnforced"),
            all[i].missing);
        cluster_close(&c);
    }
}

static void test_unplaced_gang_says_why(void **state) {
    (void)state;
    cluster c;
    grove_placement p;
    grove_placed_pod pods[3];
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_settle(&c, 12);
    place(&c, &p, pods, GROVE_VERDICT_INFEASIBLE, 0);
    p.retry_ns = c.now + INT64_C(1) * 60000000000;
    int64_t deadline = 0;
    assert_true(cluster_waits(&c, "InsufficientCapacity", "s-0", &deadline));
    assert_true(deadline == p.retry_ns);
    assert_int_equal(c.binds, 0);
    cluster_close(&c);
}

static void release(const char *set, const char *required, const char *preferred) {
    cluster c;
    grove_placement p;
    grove_placed_pod pods[3];
    cluster_open(&c, "s");
    load_config(&c, gang_config);
    cluster_add(&c, node);
    cluster_add(&c, set);
    cluster_settle(&c, 12);
    assert_true(cluster_gated(cluster_pod(&c, "s-0-a", 0)));
    assert_true(cluster_waits(&c, "NoPlacement", "s-0", NULL));
    place(&c, &p, pods, GROVE_VERDICT_PLACED, 2);
    cluster_settle(&c, 12);
    assert_int_equal(c.binds, 0);
    for (int i = 0; i < 2; i++) {
        object *o = cluster_pod(&c, "s-0-a", i);
        assert_false(cluster_gated(o));
        grove_buf b;
        grove_buf_init(&b, c.env);
        const char *stem = "/spec/affinity/nodeAffinity/";
        char path[128];
        snprintf(path, sizeof path, "%srequiredDuringSchedulingIgnoredDuringExecution", stem);
        const grove_node *n = cluster_node(&c, GV_KIND_POD, o->name, path);
        if (n != NULL) {
            grove_node_write_json(n, GROVE_WRITE_CANONICAL, &b, NULL);
        }
        assert_string_equal(b.data ? b.data : "", required);
        grove_buf_clear(&b);
        snprintf(path, sizeof path, "%spreferredDuringSchedulingIgnoredDuringExecution", stem);
        grove_node_write_json(cluster_node(&c, GV_KIND_POD, o->name, path), GROVE_WRITE_CANONICAL,
                              &b, NULL);
        assert_string_equal(b.data, preferred);
        grove_buf_fini(&b);
    }
    assert_true(cluster_gated(cluster_pod(&c, "s-0-a", 2))); /* no place of its own yet */
    cluster_close(&c);
}

#define PREFERS                                                        \
    "{\"preference\":{\"matchExpressions\":[{\"key\":\"kubernetes.io/" \
    "hostname\",\"operator\":\"In\","                                  \
    "\"values\":[\"n1\"]}]},\"weight\":100}"
#define RACK "{\"key\":\"x/rack\",\"operator\":\"In\",\"values\":[\"r7\"]}"
#define CLIQUE(spec, topology)                                                \
    "    - name: a\n" topology                                                \
    "      spec: {roleName: a, replicas: 3, minAvailable: 2, podSpec: {" spec \
    "containers: [{name: c, image: i}]}}\n"
#define IN_RACK "      topologyConstraint: {topologyName: topo, pack: {required: rack}}\n"

static void test_release_without_constraint(void **state) {
    (void)state;
    release(SET_ONE, "", "[" PREFERS "]");
}

static void test_release_into_domain(void **state) {
    (void)state;
    release(SET_HEAD("1", "RollingRecreate") CLIQUE("", IN_RACK),
            "{\"nodeSelectorTerms\":[{\"matchExpressions\":[" RACK "]}]}", "[" PREFERS "]");
}

/* Terms are alternatives: each is narrowed. */
static void test_release_narrows_every_term(void **state) {
    (void)state;
    release(SET_HEAD("1", "RollingRecreate")
                CLIQUE("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                       "{nodeSelectorTerms: [{matchExpressions: [{key: k, operator: Exists}]}, "
                       "{matchFields: [{key: "
                       "metadata.name, operator: In, values: [n1]}]}]}, "
                       "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
                       "{matchExpressions: [{key: q, operator: Exists}]}}]}}, ",
                       IN_RACK),
            "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"k\",\"operator\":\"Exists\"}"
            "," RACK "]},{\"matchExpressions\":[" RACK
            "],\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}"
            "]}]}",
            "[{\"preference\":{\"matchExpressions\":[{\"key\":\"q\",\"operator\":\"Exists\"}]},"
            "\"weight\":1}"
            "," PREFERS "]");
}

/* A gate of somebody else stays. */
static void test_foreign_gate(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_round(&c);
    cluster_round(&c);
    object *o = cluster_pod(&c, "s-0-a", 0);
    cluster_merge(&c, GV_KIND_POD, o->name,
                  "{\"spec\":{\"schedulingGates\":[{\"name\":\"x/y\"},{\"name\":"
                  "\"grove.io/podgang-pending-creation\"}]}}");
    cluster_settle(&c, 12);
    o = cluster_pod(&c, "s-0-a", 0);
    assert_string_equal(cluster_text(&c, GV_KIND_POD, o->name, "/spec/schedulingGates/0/name"),
                        "x/y");
    assert_null(cluster_node(&c, GV_KIND_POD, o->name, "/spec/schedulingGates/1"));
    cluster_close(&c);
}

/* onNoFit: with nodes that come for pods nobody can place, a gang without a place goes as well, and is taken back alike. */
static void test_released_without_place(void **state) {
    static const char *const words[] = {"Wait", "ReleaseForAutoscaler"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        cluster c;
        grove_placement p;
        char text[256], first[128];
        int64_t deadline = 0;
        cluster_open(&c, "s");
        snprintf(text, sizeof text,
                 "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
                 "scheduler: {profiles: [{name: default-scheduler, config: {gangScheduling: true, "
                 "onNoFit: %s}}]}\n",
                 words[i]);
        load_config(&c, text);
        cluster_add(&c, SET_ONE);
        cluster_settle(&c, 12);
        assert_true(cluster_gated(cluster_pod(&c, "s-0-a", 0))); /* nothing is decided yet */
        place(&c, &p, NULL, GROVE_VERDICT_INFEASIBLE, 0);
        p.reason = "QueueLimit"; /* no new node changes that */
        cluster_settle(&c, 12);
        assert_true(cluster_gated(cluster_pod(&c, "s-0-a", 0)));
        place(&c, &p, NULL, GROVE_VERDICT_INFEASIBLE, 0);
        cluster_settle(&c, 12);
        for (int k = 0; k < 3; k++) {
            object *o = cluster_pod(&c, "s-0-a", k);
            assert_int_equal(cluster_gated(o), i == 0);
            assert_null(cluster_node(&c, GV_KIND_POD, o->name, "/spec/affinity"));
        }
        assert_int_equal(cluster_waits(&c, "NoPlacement", "s-0", NULL), i == 0);
        assert_int_equal(cluster_waits(&c, "ReleasedNotBound", "s-0", &deadline), i == 1);
        snprintf(first, sizeof first, "%s", cluster_pod(&c, "s-0-a", 0)->name);
        if (i == 1) {
            c.now = deadline;
            cluster_settle(&c, 24);
            assert_string_not_equal(cluster_pod(&c, "s-0-a", 0)->name, first);
            assert_false(cluster_gated(cluster_pod(&c, "s-0-a", 0))); /* and goes again */
        }
        cluster_close(&c);
    }
}

/* Handed to a stock scheduler that has no room any more: after a minute the gang is gated again. */
static void test_released_and_not_bound(void **state) {
    (void)state;
    cluster c;
    grove_placement p;
    grove_placed_pod pods[3];
    char first[128];
    int64_t deadline = 0;
    cluster_open(&c, "s");
    load_config(&c, gang_config);
    cluster_add(&c, node);
    cluster_add(&c, SET_ONE);
    cluster_settle(&c, 12);
    place(&c, &p, pods, GROVE_VERDICT_PLACED, 3);
    cluster_settle(&c, 12);
    snprintf(first, sizeof first, "%s", cluster_pod(&c, "s-0-a", 0)->name);
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Released"),
                        "True");
    assert_true(cluster_waits(&c, "ReleasedNotBound", "s-0", &deadline));
    assert_true(deadline > c.now && deadline <= c.now + INT64_C(60) * 1000000000);
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 1)); /* one of a minimum of two */
    c.now = deadline - INT64_C(1000000000);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_pod(&c, "s-0-a", 0)->name, first);
    assert_int_equal(c.deletes, 0);
    c.now = deadline;
    c.n_placements = 0;
    cluster_round(&c);
    assert_string_equal(c.last_event, "GangReleaseLost");
    cluster_settle(&c, 12);
    assert_int_equal(c.deletes, 3); /* the bound one as well: it holds room for nothing */
    for (int i = 0; i < 3; i++) {
        assert_true(cluster_gated(cluster_pod(&c, "s-0-a", i)));
    }
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Released"), "");
    /* A place again: let go, and the time runs anew; bound, it stays. */
    c.now += INT64_C(1000) * 1000000000;
    place(&c, &p, pods, GROVE_VERDICT_PLACED, 3);
    cluster_settle(&c, 12);
    c.now += INT64_C(50) * 1000000000;
    cluster_settle(&c, 12);
    assert_int_equal(c.deletes, 3);
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 0));
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 1));
    cluster_settle(&c, 12);
    c.now += INT64_C(1000) * 1000000000;
    cluster_settle(&c, 12);
    assert_int_equal(c.deletes, 3);
    cluster_close(&c);
}

/* Where we bind, the pods say that they have no place: once each, whatever the numbers do. */
static void test_pods_say_so_once(void **state) {
    (void)state;
    cluster c;
    grove_placement p;
    grove_placed_pod pods[3];
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_settle(&c, 12);
    place(&c, &p, pods, GROVE_VERDICT_INFEASIBLE, 0);
    uint32_t before = c.events;
    cluster_settle(&c, 12);
    for (int i = 0; i < 3; i++) {
        object *o = cluster_pod(&c, "s-0-a", i);
        assert_string_equal(cluster_reason(&c, GV_KIND_POD, o->name, "PodScheduled"),
                            "Unschedulable");
    }
    assert_int_equal(c.events, before + 4); /* the gang's, and one a pod */
    assert_string_equal(cluster_reason(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Unplaced"),
                        "InsufficientCapacity");
    uint64_t version = c.version;
    p.text = "needs 2 more GPUs";
    cluster_settle(&c, 12);
    assert_int_equal(c.version, version);
    p.reason = "TaintsExclude"; /* another cause is news */
    cluster_settle(&c, 12);
    assert_string_equal(cluster_reason(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Unplaced"),
                        "TaintsExclude");
    place(&c, &p, pods, GROVE_VERDICT_PLACED, 3);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Unplaced"), "");
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_every_adapter_enforces_or_says_so),
        cmocka_unit_test(test_unplaced_gang_says_why),
        cmocka_unit_test(test_release_without_constraint),
        cmocka_unit_test(test_release_into_domain),
        cmocka_unit_test(test_release_narrows_every_term),
        cmocka_unit_test(test_foreign_gate),
        cmocka_unit_test(test_released_without_place),
        cmocka_unit_test(test_released_and_not_bound),
        cmocka_unit_test(test_pods_say_so_once),
    };
    return cmocka_run_group_tests_name("plan gates", tests, NULL, NULL);
}
