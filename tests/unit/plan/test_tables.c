/* SPDX-License-Identifier: Apache-2.0 */
/* Truth tables: breach conditions of cliques and groups, victims of a scale-in, indices of pods. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "plan/status.h"
#include "manifests.h"

/* ---- cliques ---- */

/* One letter a pod: '.' released and not scheduled, s scheduled and starting, r ready, n started and not
 * ready, e failed before and not ready, x failed before and ready. */
static void set_pod(cluster *c, const char *clique, int index, char letter) {
    char text[512];
    bool ready = letter == 'r' || letter == 'x';
    bool started = ready || letter == 'n';
    if (letter == '.') {
        return;
    }
    snprintf(
        text, sizeof text,
        "{\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":"
        "\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"%s\"}],"
        "\"containerStatuses\":[{\"name\":\"c\",\"started\":%s,\"ready\":%s%s}]}}",
        letter == 's' ? "Pending" : "Running", ready ? "True" : "False", started ? "true" : "false",
        ready ? "true" : "false",
        letter == 'e' || letter == 'x' ? ",\"lastState\":{\"terminated\":{\"exitCode\":137}}" : "");
    cluster_merge(c, GV_KIND_POD, cluster_pod(c, clique, index)->name, text);
}

static void test_clique_breach(void **state) {
    (void)state;
    static const struct {
        const char *pods; /* of a clique of 3 with minimum 2 */
        const char *breached, *reason, *scheduled;
    } rows[] = {
        {"...", "True", "ScheduledReplicasBelowMinAvailable", "False"},
        {"s..", "True", "ScheduledReplicasBelowMinAvailable", "False"},
        {"ss.", "False", "SufficientReadyPods", "True"},
        {"sn.", "True", "InsufficientReadyPods", "True"},
        {"se.", "True", "InsufficientReadyPods", "True"},
        {"sx.", "False", "SufficientReadyPods", "True"},
        {"rr.", "False", "SufficientReadyPods", "True"},
        {"rrr", "False", "SufficientReadyPods", "True"},
        {"rrn", "False", "SufficientReadyPods", "True"},
        {"rnn", "True", "InsufficientReadyPods", "True"},
        {"rne", "True", "InsufficientReadyPods", "True"},
        {"xxe", "False", "SufficientReadyPods", "True"},
        {"nee", "True", "InsufficientReadyPods", "True"},
        {"n..", "True", "ScheduledReplicasBelowMinAvailable", "False"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_ONE);
        cluster_settle(&c, 12);
        for (int k = 0; k < 3; k++) {
            set_pod(&c, "s-0-a", k, rows[i].pods[k]);
        }
        cluster_settle(&c, 12);
        const char *type = "MinAvailableBreached";
        assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", type),
                            rows[i].breached);
        assert_string_equal(cluster_reason(&c, GV_KIND_PODCLIQUE, "s-0-a", type), rows[i].reason);
        assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "PodCliqueScheduled"),
                            rows[i].scheduled);
        assert_string_equal(
            cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "libgrove.io/EverScheduled"),
            rows[i].scheduled[0] == 'T' ? "True" : "");
        cluster_close(&c);
    }
}

/* The time of a condition moves with its status only. */
static void test_transition_time(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 12);
    c.now += INT64_C(5) * 1000000000;
    set_pod(&c, "s-0-a", 0, 'n');
    set_pod(&c, "s-0-a", 1, 'n');
    cluster_settle(&c, 12);
    char since[64];
    const char *path = "/status/conditions/1/lastTransitionTime";
    snprintf(since, sizeof since, "%s", cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path));
    c.now += INT64_C(5) * 1000000000;
    set_pod(&c, "s-0-a", 2, 'e');
    cluster_settle(&c, 12);
    assert_string_equal(cluster_reason(&c, GV_KIND_PODCLIQUE, "s-0-a", "MinAvailableBreached"),
                        "InsufficientReadyPods");
    assert_string_equal(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path), since);
    set_pod(&c, "s-0-a", 0, 'r');
    set_pod(&c, "s-0-a", 1, 'r');
    cluster_settle(&c, 12);
    assert_string_not_equal(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path), since);
    cluster_close(&c);
}

/* ---- groups ---- */

/* One letter an index: h healthy, b breached, i incomplete (a member on its way out), . never started. */
static void test_group_breach(void **state) {
    (void)state;
    static const struct {
        const char *indices;
        int minimum;
        const char *breached;
    } rows[] = {
        {"bhhhh", 2, "False"}, {"bh", 1, "False"}, {"bb", 1, "True"}, {"bbh", 2, "True"},
        {"ib", 1, "True"},     {"ih", 1, "False"}, {"..", 1, "True"}, {"hh", 2, "False"},
        {"hi", 2, "True"},     {"hb", 2, "True"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        char set[2048], clique[32];
        int n = (int)strlen(rows[i].indices);
        snprintf(set, sizeof set,
                 "%s    podCliqueScalingGroups:\n    - {name: g, cliqueNames: [p, d], "
                 "replicas: %d, minAvailable: %d}\n",
                 SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "1", "1")
                     SET_CLIQUE("d", "1", "1"),
                 n, rows[i].minimum);
        cluster_open(&c, "s");
        cluster_add(&c, set);
        if (rows[i].indices[0] == '.') {
            cluster_settle(&c, 20);
        } else {
            cluster_live(&c, 20);
        }
        for (int k = 0; k < n; k++) {
            snprintf(clique, sizeof clique, "s-0-g-%d-p", k);
            if (rows[i].indices[k] == 'b') {
                set_pod(&c, clique, 0, 'n');
            } else if (rows[i].indices[k] == 'i') {
                cluster_merge(&c, GV_KIND_PODCLIQUE, clique,
                              "{\"metadata\":{\"finalizers\":[\"x/hold\"]}}");
                cluster_delete(&c, GV_KIND_PODCLIQUE, clique);
            }
        }
        cluster_settle(&c, 20);
        assert_string_equal(
            cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "MinAvailableBreached"),
            rows[i].breached);
        assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g",
                                              "libgrove.io/EverHealthy"),
                            rows[i].indices[0] == '.' ? "" : "True");
        cluster_close(&c);
    }
}

/* ---- victims ---- */

/* The index that goes when a clique of three is scaled to two, each pod in its own state. */
static void test_victims(void **state) {
    (void)state;
    static const struct {
        const char *pods;
        int gone;
    } rows[] = {
        {"rr.", 2},             /* without a node before all others */
        {".rr", 0}, {"srr", 0}, /* pending before running */
        {"rsn", 1},             /* phase before readiness */
        {"nrr", 0},             /* not ready before ready */
        {"rnr", 1}, {"rrr", 2}, /* equal in all: the highest index */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_ONE);
        cluster_settle(&c, 12);
        for (int k = 0; k < 3; k++) {
            set_pod(&c, "s-0-a", k, rows[i].pods[k]);
        }
        cluster_settle(&c, 12);
        cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":2}}");
        cluster_settle(&c, 12);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(cluster_pod(&c, "s-0-a", k) == NULL, k == rows[i].gone);
        }
        cluster_close(&c);
    }
}

/* Ranks of a scaling group's clique stay without a gap: the highest index goes, whatever its state. */
static void test_members_keep_their_ranks(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "3", "1")
                        SET_GROUP("g", "p", "1", "1"));
    cluster_live(&c, 20);
    set_pod(&c, "s-0-g-0-p", 0, 'n');
    cluster_settle(&c, 12);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-g-0-p", "{\"spec\":{\"replicas\":1}}");
    cluster_settle(&c, 12);
    assert_non_null(cluster_pod(&c, "s-0-g-0-p", 0));
    assert_null(cluster_pod(&c, "s-0-g-0-p", 1));
    assert_null(cluster_pod(&c, "s-0-g-0-p", 2));
    cluster_close(&c);
}

static void test_younger_goes_first(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 12);
    c.now += INT64_C(10) * 1000000000;
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-a", 0)->name);
    cluster_live(&c, 12); /* index 0 is now the youngest */
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":2}}");
    cluster_settle(&c, 12);
    assert_null(cluster_pod(&c, "s-0-a", 0));
    cluster_close(&c);
}

/* H-02: what is leaving is no victim and does not count. */
static void test_leaving_pods_are_no_victims(void **state) {
    (void)state;
    static const struct { int leaving, want, deleted; } rows[] = {{0, 2, 1}, {1, 2, 0}, {2, 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_ONE);
        cluster_live(&c, 12);
        for (int k = 0; k < rows[i].leaving; k++) {
            char name[128];
            snprintf(name, sizeof name, "%s", cluster_pod(&c, "s-0-a", k)->name);
            cluster_merge(&c, GV_KIND_POD, name, "{\"metadata\":{\"finalizers\":[\"x/slow\"]}}");
            cluster_delete(&c, GV_KIND_POD, name);
        }
        cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":2}}");
        uint32_t before = c.deletes;
        cluster_settle(&c, 12);
        assert_int_equal(c.deletes - before, rows[i].deleted);
        int live = 0;
        for (int k = 0; k < 3; k++) {
            live += cluster_pod(&c, "s-0-a", k) != NULL ? 1 : 0;
        }
        assert_int_equal(live, rows[i].want);
        cluster_close(&c);
    }
}

/* ---- indices ---- */

/* Adds a pod of the clique as if somebody else had made it. */
static void add_pod(cluster *c, const char *name, const char *index) {
    char text[1024];
    snprintf(text, sizeof text,
             "apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  labels:\n"
             "    app.kubernetes.io/managed-by: grove-operator\n    app.kubernetes.io/part-of: s\n"
             "    grove.io/podclique: s-0-a\n    grove.io/podgang: s-0\n%s%s%s"
             "  ownerReferences: [{apiVersion: grove.io/v1alpha1, kind: PodClique, name: s-0-a, "
             "uid: %s, controller: true}]\nspec: {containers: [{name: c, image: i}]}\n",
             name, index ? "    grove.io/podclique-pod-index: \"" : "", index ? index : "",
             index ? "\"\n" : "", cluster_get(c, GV_KIND_PODCLIQUE, "s-0-a")->uid);
    cluster_add(c, text);
}

static void test_lowest_free_index(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "6", "1"));
    cluster_live(&c, 12);
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-a", 1)->name);
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-a", 4)->name);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":7}}");
    cluster_live(&c, 12);
    for (int k = 0; k < 7; k++) {
        assert_non_null(cluster_pod(&c, "s-0-a", k));
    }
    assert_null(cluster_pod(&c, "s-0-a", 7));
    cluster_close(&c);
}

/* H-12: of two with one index the younger goes, and nothing stands still. */
static void test_duplicate_index(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 12);
    char old[128];
    snprintf(old, sizeof old, "%s", cluster_pod(&c, "s-0-a", 1)->name);
    c.now += INT64_C(10) * 1000000000;
    add_pod(&c, "twin", "1");
    cluster_live(&c, 12);
    assert_null(cluster_get(&c, GV_KIND_POD, "twin"));
    assert_non_null(cluster_get(&c, GV_KIND_POD, old));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    cluster_close(&c);
}

/* A pod without an index counts as one of the clique's: never more than wanted. */
static void test_pod_without_index(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 12);
    add_pod(&c, "odd", "x");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    cluster_close(&c);
}

/* A signature is of all its parts: another template may not make up for other flags. */
static void test_signatures_differ(void **state) {
    (void)state;
    uint64_t seen[16 * 16];
    for (uint64_t id = 0; id < 16; id++) {
        for (int64_t flags = 0; flags < 16; flags++) {
            seen[id * 16 + (uint64_t)flags] = gv_sig_int(id, flags);
        }
    }
    for (size_t i = 0; i < 256; i++) {
        for (size_t k = i + 1; k < 256; k++) {
            assert_true(seen[i] != seen[k]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures_differ),
        cmocka_unit_test(test_clique_breach),
        cmocka_unit_test(test_transition_time),
        cmocka_unit_test(test_group_breach),
        cmocka_unit_test(test_victims),
        cmocka_unit_test(test_members_keep_their_ranks),
        cmocka_unit_test(test_younger_goes_first),
        cmocka_unit_test(test_leaving_pods_are_no_victims),
        cmocka_unit_test(test_lowest_free_index),
        cmocka_unit_test(test_duplicate_index),
        cmocka_unit_test(test_pod_without_index),
    };
    return cmocka_run_group_tests_name("plan tables", tests, NULL, NULL);
}
