/* SPDX-License-Identifier: Apache-2.0 */
/* Gang termination: who is recycled, when, and who is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

#define SECOND INT64_C(1000000000)

static void uids(cluster *c, const char *clique, int n, char out[][32]) {
    for (int i = 0; i < n; i++) {
        object *o = cluster_pod(c, clique, i);
        snprintf(out[i], 32, "%s", o ? o->uid : "");
    }
}

/* How many of the pods remembered still live. */
static int kept(cluster *c, const char *clique, int n, char was[][32]) {
    int k = 0;
    for (int i = 0; i < n; i++) {
        object *o = cluster_pod(c, clique, i);
        k += o && strcmp(o->uid, was[i]) == 0 ? 1 : 0;
    }
    return k;
}

static void open_set(cluster *c, const char *yaml) {
    cluster_open(c, "s");
    cluster_add(c, yaml);
    cluster_live(c, 20);
    c->now += 60 * SECOND;
}

static void fail_pod(cluster *c, const char *clique, int index) {
    cluster_ready(c, cluster_pod(c, clique, index), false);
}

/* GT1, GT3: a standalone clique below its minimum recycles the whole replica, after the delay. */
static void test_standalone_breach(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_LOOSE("1"));
    char a[2][32], x0[3][32], x1[3][32];
    uids(&c, "s-0-a", 2, a);
    uids(&c, "s-0-x-0-c", 3, x0);
    uids(&c, "s-0-x-1-c", 3, x1);
    fail_pod(&c, "s-0-a", 0);
    cluster_settle(&c, 12);
    c.now += 60 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 2); /* one of two is enough */
    fail_pod(&c, "s-0-a", 1);
    int64_t since = c.now, deadline = 0;
    cluster_settle(&c, 12);
    assert_string_equal(cluster_reason(&c, GV_KIND_PODCLIQUE, "s-0-a", "MinAvailableBreached"),
                        "InsufficientReadyPods");
    assert_true(cluster_waits(&c, "BreachTimer", "s-0-a", &deadline));
    assert_true(deadline >= since + 29 * SECOND && deadline <= since + 31 * SECOND);
    c.now = since + 28 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 2);
    c.now = since + 31 * SECOND;
    cluster_settle(&c, 30);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 0);
    assert_int_equal(kept(&c, "s-0-x-0-c", 3, x0), 0);
    assert_int_equal(kept(&c, "s-0-x-1-c", 3, x1), 0);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 2);
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-x", "GangTerminationInProgress"),
        "True");
    /* The new pods never ran: no second recycling, however long it takes. */
    uids(&c, "s-0-a", 2, a);
    c.now += 600 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 2);
    cluster_live(&c, 20);
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-x", "GangTerminationInProgress"),
        "");
    assert_int_equal(kept(&c, "s-0-a", 2, a), 2);
    cluster_close(&c);
}

/* GT2: a group at its minimum has no replica to spare: its breach is the set replica's. */
static void test_group_breach_escalates(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_TIGHT("1"));
    char a[2][32];
    uids(&c, "s-0-a", 2, a);
    fail_pod(&c, "s-0-x-0-c", 1);
    cluster_settle(&c, 12);
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-x", "MinAvailableBreached"),
        "True");
    c.now += 31 * SECOND;
    cluster_settle(&c, 30);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 0);
    cluster_live(&c, 20);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    cluster_close(&c);
}

/* GT4, GT5: the group can spare the replica: only that one goes. */
static void test_one_group_replica(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_LOOSE("1"));
    char a[2][32], x0[3][32], x1[3][32], b0[1][32];
    uids(&c, "s-0-a", 2, a);
    uids(&c, "s-0-x-0-c", 3, x0);
    uids(&c, "s-0-x-0-b", 1, b0);
    uids(&c, "s-0-x-1-c", 3, x1);
    fail_pod(&c, "s-0-x-0-c", 0);
    c.now += 60 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-x-0-c", 3, x0), 3);
    fail_pod(&c, "s-0-x-0-c", 1);
    fail_pod(&c, "s-0-x-0-c", 2);
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "ReplicaBreachTimer", "s-0-x", NULL));
    c.now += 31 * SECOND;
    cluster_settle(&c, 30);
    assert_int_equal(kept(&c, "s-0-x-0-c", 3, x0), 0);
    assert_int_equal(kept(&c, "s-0-x-0-b", 1, b0), 0);
    assert_int_equal(kept(&c, "s-0-x-1-c", 3, x1), 3);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 2);
    uids(&c, "s-0-x-0-c", 3, x0);
    c.now += 300 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-x-0-c", 3, x0), 3);
    cluster_live(&c, 20);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    cluster_close(&c);
}

/* H-13: what never ran is never recycled. */
static void test_never_healthy(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("1"));
    cluster_settle(&c, 20);
    uint32_t deletes = c.deletes;
    for (int i = 0; i < 10; i++) {
        c.now += 600 * SECOND;
        cluster_settle(&c, 12);
    }
    assert_int_equal(c.deletes, deletes);
    cluster_close(&c);
}

static void test_recovery_stops_the_clock(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_ONE);
    char a[3][32];
    uids(&c, "s-0-a", 3, a);
    for (int i = 0; i < 4; i++) {
        fail_pod(&c, "s-0-a", 0);
        fail_pod(&c, "s-0-a", 1);
        cluster_settle(&c, 12);
        c.now += 20 * SECOND;
        cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), true);
        cluster_settle(&c, 12);
        c.now += 20 * SECOND;
    }
    assert_int_equal(kept(&c, "s-0-a", 3, a), 3);
    cluster_close(&c);
}

/* A planner without memory decides the same: the clock is in the status. */
static void test_restart_keeps_the_clock(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_ONE);
    char a[3][32];
    uids(&c, "s-0-a", 3, a);
    fail_pod(&c, "s-0-a", 0);
    fail_pod(&c, "s-0-a", 1);
    cluster_settle(&c, 12);
    c.now += 20 * SECOND;
    grove_planner_free(c.planner);
    assert_int_equal(grove_planner_new(c.env, &c.planner), 0);
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 3, a), 3);
    c.now += 11 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 3, a), 0);
    cluster_close(&c);
}

/* H-33: a missing clique does not switch termination off for its neighbours. */
static void test_missing_neighbour(void **state) {
    (void)state;
    cluster c;
    open_set(&c,
             SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "2", "2") SET_CLIQUE("b", "2", "2"));
    char a[2][32];
    uids(&c, "s-0-a", 2, a);
    fail_pod(&c, "s-0-a", 0);
    cluster_settle(&c, 12);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-b",
                  "{\"metadata\":{\"finalizers\":[\"grove.io/podclique.grove.io\",\"x/hold\"]}}");
    cluster_delete(&c, GV_KIND_PODCLIQUE, "s-0-b");
    cluster_settle(&c, 12);
    c.now += 31 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 2, a), 0);
    cluster_close(&c);
}

/* H-60: a scaled clique comes back at its scale, not at the template's. */
static void test_scale_survives(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_LOOSE("1"));
    char uid[32], a[5][32];
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":5}}");
    cluster_live(&c, 20);
    uids(&c, "s-0-a", 5, a);
    snprintf(uid, sizeof uid, "%s", cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-a")->uid);
    for (int i = 0; i < 5; i++) {
        fail_pod(&c, "s-0-a", i);
    }
    cluster_settle(&c, 12);
    c.now += 31 * SECOND;
    cluster_live(&c, 30);
    assert_int_equal(kept(&c, "s-0-a", 5, a), 0);
    assert_string_equal(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-a")->uid, uid);
    assert_non_null(cluster_pod(&c, "s-0-a", 4));
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/readyReplicas"), 5);
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "libgrove.io/EverScheduled"), "True");
    cluster_close(&c);
}

/* The recycled pods fail at once: the next recycling comes a whole delay later, not at once. */
static void test_clock_starts_anew(void **state) {
    (void)state;
    cluster c;
    open_set(&c, SET_ONE);
    char a[3][32];
    fail_pod(&c, "s-0-a", 0);
    fail_pod(&c, "s-0-a", 1);
    cluster_settle(&c, 12);
    c.now += 31 * SECOND;
    cluster_settle(&c, 12);
    uids(&c, "s-0-a", 3, a);
    c.now += 5 * SECOND;
    for (int i = 0; i < 3; i++) {
        fail_pod(&c, "s-0-a", i); /* scheduled, started and not ready in one event */
    }
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 3, a), 3);
    c.now += 20 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 3, a), 3);
    c.now += 11 * SECOND;
    cluster_settle(&c, 12);
    assert_int_equal(kept(&c, "s-0-a", 3, a), 0);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standalone_breach),
        cmocka_unit_test(test_group_breach_escalates),
        cmocka_unit_test(test_one_group_replica),
        cmocka_unit_test(test_never_healthy),
        cmocka_unit_test(test_recovery_stops_the_clock),
        cmocka_unit_test(test_restart_keeps_the_clock),
        cmocka_unit_test(test_missing_neighbour),
        cmocka_unit_test(test_scale_survives),
        cmocka_unit_test(test_clock_starts_anew),
    };
    return cmocka_run_group_tests_name("plan gang termination", tests, NULL, NULL);
}
