/* SPDX-License-Identifier: Apache-2.0 */
/* The thin path: from nothing to running pods, scaled, healed and deleted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"
#include "model/names.h"

static const char one_clique[] = SET_ONE;
static const char grouped[] = SET_GROUPED("1", "RollingRecreate");

static void test_single_clique(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    uint32_t rounds = cluster_settle(&c, 12);
    assert_true(rounds <= 8);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 1);
    for (int i = 0; i < 3; i++) {
        assert_false(cluster_gated(cluster_pod(&c, "s-0-a", i)));
    }
    assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "MinAvailableBreached"),
                        "True");
    cluster_live(&c, 12);
    assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "MinAvailableBreached"),
                        "False");
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "libgrove.io/EverScheduled"), "True");
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/readyReplicas"), 3);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/availableReplicas"), 1);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 1);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", "/status/phase"), "Running");
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "Initialized"), "True");
    cluster_close(&c);
}

static void test_scaled_gang_waits_for_base(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, grouped);
    cluster_settle(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 2);
    assert_false(cluster_gated(cluster_pod(&c, "s-0-r", 0)));
    assert_false(cluster_gated(cluster_pod(&c, "s-0-g-0-d", 2)));
    assert_true(cluster_gated(cluster_pod(&c, "s-0-g-1-p", 0)));
    assert_true(cluster_waits(&c, "BaseGangNotScheduled", "s-0-g-0", NULL));
    /* Scheduled is enough; ready is not asked for. */
    cluster_bind(&c, cluster_pod(&c, "s-0-r", 0));
    cluster_bind(&c, cluster_pod(&c, "s-0-g-0-p", 0));
    cluster_bind(&c, cluster_pod(&c, "s-0-g-0-d", 0));
    cluster_settle(&c, 12);
    assert_true(cluster_gated(cluster_pod(&c, "s-0-g-1-p", 0)));
    cluster_bind(&c, cluster_pod(&c, "s-0-g-0-d", 1));
    cluster_settle(&c, 12);
    assert_false(cluster_gated(cluster_pod(&c, "s-0-g-1-p", 0)));
    assert_false(cluster_gated(cluster_pod(&c, "s-0-g-1-d", 2)));
    cluster_live(&c, 12);
    assert_int_equal(
        cluster_int(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "/status/availableReplicas"), 2);
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "MinAvailableBreached"),
        "False");
    cluster_close(&c);
}

/* The phase follows exactly the minimum of each pod group. */
static void test_phase_at_the_minimum(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_settle(&c, 12);
    const char *path = "/status/phase";
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 0));
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), "Pending");
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 1));
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), "Starting");
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), true);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), "Starting");
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 1), true);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), "Running");
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Ready"), "True");
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 1), false);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), "Starting");
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Unhealthy"),
                        "True");
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "libgrove.io/Scheduled"),
                        "True");
    cluster_close(&c);
}

/* A bound pod with a long grace still holds its slot. */
static void test_phase_while_terminating(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    for (int i = 0; i < 2; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s", cluster_pod(&c, "s-0-a", i)->name);
        cluster_merge(&c, GV_KIND_POD, name, "{\"metadata\":{\"finalizers\":[\"x/slow\"]}}");
        cluster_delete(&c, GV_KIND_POD, name);
    }
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", "/status/phase"), "Starting");
    cluster_close(&c);
}

/* A group scaled below its minimum keeps it, and says so once. */
static void test_group_below_minimum(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, grouped);
    cluster_live(&c, 12);
    uint32_t events = c.events;
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":0}}");
    cluster_live(&c, 12);
    assert_non_null(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-g-0-p"));
    assert_null(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-g-1-p"));
    assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g",
                                          "libgrove.io/ScaleBelowMinAvailable"),
                        "True");
    assert_int_equal(c.events, events + 1);
    assert_string_equal(c.last_event, "ScaleBelowMinAvailable");
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":2}}");
    cluster_live(&c, 12);
    assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g",
                                          "libgrove.io/ScaleBelowMinAvailable"),
                        "");
    cluster_close(&c);
}

static void test_replacement_keeps_index_and_name(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    char uid[32];
    strcpy(uid, cluster_pod(&c, "s-0-a", 1)->uid);
    uint32_t creates = c.creates;
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-a", 1)->name);
    cluster_live(&c, 12);
    assert_int_equal(c.creates, creates + 1);
    assert_non_null(cluster_pod(&c, "s-0-a", 1));
    /* The same name as if its predecessor were still seen leaving: see the next test. */
    gv_arena a;
    gv_arena_init(&a, c.env);
    gv_str want = gv_name_pod(&a, GV_STR("s-0-a"),
                              gv_str_c(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-a")->uid), 1,
                              gv_str_c(uid), 0);
    assert_string_equal(cluster_pod(&c, "s-0-a", 1)->name, want.p);
    gv_arena_fini(&a);
    cluster_close(&c);
}

static void test_terminating_pod_is_replaced_at_once(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    object *p = cluster_pod(&c, "s-0-a", 0);
    char old[128];
    strcpy(old, p->name);
    cluster_merge(&c, GV_KIND_POD, old, "{\"metadata\":{\"finalizers\":[\"x/y\"]}}");
    cluster_delete(&c, GV_KIND_POD, old);
    cluster_live(&c, 12);
    object *fresh = cluster_pod(&c, "s-0-a", 0);
    assert_non_null(fresh);
    assert_string_not_equal(fresh->name, old);
    /* Whoever decides this replacement chooses this name. */
    gv_arena a;
    gv_arena_init(&a, c.env);
    gv_str want = gv_name_pod(&a, GV_STR("s-0-a"),
                              gv_str_c(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-a")->uid), 0,
                              gv_str_c(cluster_get(&c, GV_KIND_POD, old)->uid), 0);
    assert_string_equal(fresh->name, want.p);
    gv_arena_fini(&a);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 4);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/replicas"), 3);
    cluster_close(&c);
}

static void test_finished_pod_is_replaced(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    c.now += INT64_C(60) * 1000000000;
    char old[128];
    strcpy(old, cluster_pod(&c, "s-0-a", 2)->name);
    cluster_merge(&c, GV_KIND_POD, old, "{\"status\":{\"phase\":\"Failed\",\"conditions\":[]}}");
    cluster_live(&c, 12);
    assert_null(cluster_get(&c, GV_KIND_POD, old));
    assert_non_null(cluster_pod(&c, "s-0-a", 2));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    cluster_close(&c);
}

static void test_scale_clique(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":5}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 5);
    assert_int_equal(grove_node_size(cluster_node(&c, GV_KIND_PODGANG, "s-0",
                                                  "/spec/podgroups/0/podReferences")),
                     5);
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), false);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":4}}");
    cluster_settle(&c, 12);
    /* The one that is not ready goes, whatever its index; the hole is filled by the next scale-out. */
    assert_null(cluster_pod(&c, "s-0-a", 0));
    assert_non_null(cluster_pod(&c, "s-0-a", 4));
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":1}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 2); /* minAvailable is kept */
    assert_string_equal(
        cluster_condition(&c, GV_KIND_PODCLIQUE, "s-0-a", "libgrove.io/ScaleBelowMinAvailable"),
        "True");
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":3}}");
    cluster_live(&c, 12);
    assert_non_null(cluster_pod(&c, "s-0-a", 0));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    cluster_close(&c);
}

static void test_scale_group_and_set(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, grouped);
    cluster_live(&c, 12);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":4}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 4);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 18);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":3}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 3);
    assert_null(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-g-3-p"));
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":2}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 24);
    assert_int_equal(cluster_count(&c, GV_KIND_SERVICE), 2);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/availableReplicas"), 2);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":1}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 14);
    assert_int_equal(cluster_count(&c, GV_KIND_SERVICE), 1);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":0}}");
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 0);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 0);
    cluster_close(&c);
}

static void test_delete(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, grouped);
    cluster_live(&c, 12);
    cluster_delete(&c, GV_KIND_PODCLIQUESET, "s");
    cluster_settle(&c, 12);
    for (uint32_t i = 0; i < c.n; i++) {
        assert_true(c.objects[i].gone);
    }
    cluster_close(&c);
}

static void test_rival_is_left_alone(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, "apiVersion: v1\nkind: Service\nmetadata: {name: s-0, namespace: t}\n"
                    "spec: {selector: {a: b}}\n");
    cluster_add(&c, one_clique);
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    assert_true(cluster_waits(&c, "NameTaken", "s-0", NULL));
    assert_string_equal(cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors/0/code"),
                        "ERR_SYNC_PODCLIQUESET_SERVICE");
    cluster_delete(&c, GV_KIND_SERVICE, "s-0");
    cluster_live(&c, 12);
    assert_null(cluster_node(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors"));
    cluster_close(&c);
}

static void test_refused_pod(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, one_clique);
    cluster_round(&c);
    cluster_round(&c);
    char name[128] = "";
    object *last = cluster_pod(&c, "s-0-a", 2);
    if (last != NULL) {
        cluster_delete(&c, GV_KIND_POD, last->name);
    }
    grove_refusal r = {.size = sizeof r, .verb = GROVE_VERB_CREATE, .kind = GROVE_KIND_POD};
    grove_plan *plan = cluster_plan(&c);
    for (uint32_t i = 0; i < grove_plan_actions(plan) && !name[0]; i++) {
        const grove_action *a = grove_plan_action(plan, i);
        if (a->kind == GROVE_KIND_POD && a->verb == GROVE_VERB_CREATE) {
            strcpy(name, a->name);
        }
    }
    grove_plan_unref(plan);
    assert_true(name[0] != '\0');
    r.name = name;
    r.message = "exceeded quota";
    r.at_ns = c.now;
    r.retry_ns = c.now + INT64_C(3600) * 1000000000;
    c.refusals[0] = &r;
    c.n_refusals = 1;
    cluster_settle(&c, 12);
    int64_t deadline = 0;
    assert_true(cluster_waits(&c, "CreateRefused", "s-0-a", &deadline));
    assert_true(deadline == r.retry_ns);
    assert_string_equal(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/lastErrors/0/code"),
                        "ERR_CREATE_POD");
    assert_string_equal(cluster_condition(&c, GV_KIND_PODGANG, "s-0", "Initialized"), "False");
    for (uint32_t i = 0; i < c.n; i++) {
        if (c.objects[i].kind == GV_KIND_POD && !c.objects[i].gone) {
            assert_true(cluster_gated(&c.objects[i]));
        }
    }
    c.n_refusals = 0;
    cluster_live(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 3);
    assert_null(cluster_node(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/lastErrors"));
    cluster_close(&c);
}

/* Blocks of memory that the planner holds after a group was scaled out and in again so many times. */
static uint64_t planner_blocks(int times) {
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, grouped);
    cluster_live(&c, 20);
    for (int i = 0; i < times; i++) {
        cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":7}}");
        cluster_live(&c, 20);
        cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":1}}");
        cluster_live(&c, 20);
    }
    uint64_t with = c.memory.live_blocks;
    grove_planner_free(c.planner);
    c.planner = NULL;
    uint64_t without = c.memory.live_blocks;
    cluster_close(&c);
    return with - without;
}

/* What is gone is forgotten: memory does not grow with the number of objects that ever were. */
static void test_memory_has_an_end(void **state) {
    (void)state;
    uint64_t few = planner_blocks(4), many = planner_blocks(24);
    print_message("planner: %u blocks after 4 times, %u after 24\n", (unsigned)few, (unsigned)many);
    assert_true(many < 2 * few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_clique),
        cmocka_unit_test(test_scaled_gang_waits_for_base),
        cmocka_unit_test(test_phase_at_the_minimum),
        cmocka_unit_test(test_phase_while_terminating),
        cmocka_unit_test(test_group_below_minimum),
        cmocka_unit_test(test_replacement_keeps_index_and_name),
        cmocka_unit_test(test_terminating_pod_is_replaced_at_once),
        cmocka_unit_test(test_finished_pod_is_replaced),
        cmocka_unit_test(test_scale_clique),
        cmocka_unit_test(test_scale_group_and_set),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_rival_is_left_alone),
        cmocka_unit_test(test_refused_pod),
        cmocka_unit_test(test_memory_has_an_end),
    };
    return cmocka_run_group_tests_name("plan thin path", tests, NULL, NULL);
}
