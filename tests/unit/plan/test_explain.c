/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan tells people and programs, and what refusals become in lastErrors. */
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

/* A clique whose breach timer has run for 10 of its 30 seconds. */
static void open_breached(cluster *c) {
    cluster_open(c, "s");
    cluster_add(c, SET_ONE);
    cluster_live(c, 12);
    c->now = INT64_C(1800000100) * SECOND;
    cluster_ready(c, cluster_pod(c, "s-0-a", 0), false);
    cluster_ready(c, cluster_pod(c, "s-0-a", 1), false);
    cluster_settle(c, 12);
    c->now = INT64_C(1800000110) * SECOND;
}

static void assert_explains(cluster *c, grove_kind kind, const char *name, const char *want) {
    grove_plan *plan = cluster_plan(c);
    grove_buf b;
    grove_buf_init(&b, c->env);
    assert_int_equal(grove_plan_explain(plan, kind, name, c->now, &b, NULL), 0);
    assert_string_equal(b.data ? b.data : "", want);
    grove_buf_fini(&b);
    grove_plan_unref(plan);
}

static void test_text(void **state) {
    (void)state;
    static const char paragraph[] =
        "PodClique s-0-a waits: BreachTimer\n"
        "  the clique is below minAvailable; it is recycled when terminationDelay runs out\n"
        "  for: PodClique s-0-a\n"
        "  since: 10s ago\n"
        "  at the latest in: 20s\n";
    char gang[400], both[900];
    cluster c;
    open_breached(&c);
    snprintf(gang, sizeof gang,
             "PodGang s-0 waits: AwaitReady\n"
             "  fewer pods than its minimum are ready: a container of this one has started and is "
             "not ready\n"
             "  for: Pod %s\n  since: 1m50s ago\n",
             cluster_pod(&c, "s-0-a", 0)->name);
    snprintf(both, sizeof both, "%s%s", paragraph, gang);
    assert_explains(&c, GROVE_KIND_NONE, NULL, both);
    assert_explains(&c, GROVE_KIND_PODCLIQUE, NULL, paragraph);
    assert_explains(&c, GROVE_KIND_PODCLIQUE, "s-0-a", paragraph);
    assert_explains(&c, GROVE_KIND_PODCLIQUE, "s-0-b", "");
    assert_explains(&c, GROVE_KIND_PODGANG, NULL, gang);
    cluster_close(&c);
}

static void test_json(void **state) {
    (void)state;
    cluster c;
    open_breached(&c);
    grove_plan *plan = cluster_plan(&c);
    grove_buf b;
    grove_buf_init(&b, c.env);
    assert_int_equal(grove_plan_write_json(plan, 0, &b, NULL), 0);
    assert_string_equal(
        b.data,
        "{\"apiVersion\":\"libgrove.io/"
        "v1alpha1\",\"kind\":\"Plan\",\"actions\":[],\"waits\":[{\"kind\":"
        "\"PodClique\",\"name\":\"s-0-a\",\"reason\":\"BreachTimer\",\"waitsFor\":{\"kind\":"
        "\"PodClique\","
        "\"name\":\"s-0-a\"},\"message\":\"the clique is below minAvailable; it is recycled when "
        "terminationDelay runs out\",\"since\":\"2027-01-15T08:01:40.000000Z\",\"deadline\":"
        "\"2027-01-15T08:02:10.000000Z\"},{\"kind\":\"PodGang\",\"name\":\"s-0\",\"reason\":"
        "\"AwaitReady\",\"waitsFor\":{\"kind\":\"Pod\",\"name\":\"s-0-a-vq58w\"},\"message\":"
        "\"fewer pods than its minimum are ready: a container of this one has started and is not "
        "ready\",\"since\":"
        "\"2027-01-15T08:00:00.000000Z\"}],\"deadline\":\"2027-01-15T08:02:10.000000Z\"}");
    assert_true(grove_plan_deadline(plan) == INT64_C(1800000130) * SECOND);
    assert_null(grove_plan_action(plan, 0));
    assert_null(grove_plan_wait(plan, 2));
    grove_plan *again = grove_plan_ref(plan);
    grove_plan_unref(plan);
    assert_int_equal(grove_plan_waits(again), 2);
    grove_plan_unref(again);
    grove_buf_fini(&b);
    cluster_close(&c);
}

/* A plan of nothing is one object, whoever asks. */
static void test_empty_plan(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    grove_plan *none = cluster_plan(&c);
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 12);
    grove_plan *settled = cluster_plan(&c);
    assert_ptr_equal(none, settled);
    assert_int_equal(grove_plan_actions(settled), 0);
    assert_true(grove_plan_deadline(settled) == GROVE_NEVER);
    grove_plan_unref(grove_plan_ref(settled));
    grove_plan_unref(none);
    grove_plan_unref(settled);
    cluster_close(&c);
}

/* The code under which each refused object is reported. */
static void test_codes_of_refusals(void **state) {
    (void)state;
    static const struct {
        grove_kind kind;
        const char *name, *code;
    } rows[] = {
        {GROVE_KIND_SERVICE, "s-0", "ERR_SYNC_PODCLIQUESET_SERVICE"},
        {GROVE_KIND_SERVICEACCOUNT, "s", "ERR_SYNC_SERVICEACCOUNT"},
        {GROVE_KIND_SECRET, "s-ic-sat", "ERR_CREATE_SECRET"},
        {GROVE_KIND_ROLE, "grove.io:pcs:s", "ERR_SYNC_ROLE"},
        {GROVE_KIND_ROLEBINDING, "grove.io:pcs:s", "ERR_SYNC_ROLEBINDING"},
        {GROVE_KIND_PODCLIQUE, "s-0-r", "ERR_SYNC_PODCLIQUE"},
        {GROVE_KIND_PODCLIQUE, "s-0-g-0-p", "ERR_CREATE_PODCLIQUES"},
        {GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "ERR_SYNC_PODCLIQUESCALINGGROUP"},
        {GROVE_KIND_PODGANG, "s-0-g-0", "ERR_CREATE_OR_PATCH_PODGANG"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        cluster_open(&c, "s");
        grove_refusal r = {.size = sizeof r,
                           .verb = GROVE_VERB_CREATE,
                           .kind = rows[i].kind,
                           .name = rows[i].name,
                           .message = "no",
                           .at_ns = c.now,
                           .retry_ns = c.now + 3600 * SECOND};
        c.refusals[0] = &r;
        c.n_refusals = 1;
        cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
        cluster_settle(&c, 20);
        assert_null(cluster_get(&c, (gv_kind)rows[i].kind, rows[i].name));
        assert_string_equal(
            cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors/0/code"), rows[i].code);
        assert_true(cluster_waits(&c, "CreateRefused", rows[i].name, NULL));
        c.now = r.retry_ns; /* the time has come: it is tried again */
        cluster_settle(&c, 20);
        assert_non_null(cluster_get(&c, (gv_kind)rows[i].kind, rows[i].name));
        c.n_refusals = 0;
        cluster_live(&c, 20);
        assert_null(cluster_node(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors"));
        cluster_close(&c);
    }
}

/* From creation to rest there is always something to read, and it names what is waited for. */
static void test_every_stage_waits_for_something(void **state) {
    (void)state;
    static const char set[] = SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "1", "1")
        SET_CLIQUE("b", "1", "1");
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, set);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s",
                  "{\"spec\":{\"template\":{\"cliqueStartupType\":\"CliqueStartupTypeInOrder\"}}}");
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "AwaitScheduler", "s-0", NULL));
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 0));
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "AwaitScheduler", "s-0", NULL));
    cluster_bind(&c, cluster_pod(&c, "s-0-b", 0));
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "AwaitReady", "s-0", NULL)); /* of a, which waits for nobody */
    cluster_ready(&c, cluster_pod(&c, "s-0-b", 0), false);
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), true);
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "AwaitReady", "s-0", NULL)); /* of b, whose turn has come */
    cluster_ready(&c, cluster_pod(&c, "s-0-b", 0), true);
    cluster_settle(&c, 12);
    grove_plan *plan = cluster_plan(&c);
    assert_int_equal(grove_plan_waits(plan), 0);
    grove_plan_unref(plan);
    /* b comes first in the gang's order of complaint when only it lacks something. */
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), false);
    cluster_settle(&c, 12);
    assert_true(cluster_waits(&c, "AwaitReady", "s-0", NULL));
    cluster_close(&c);
}

static void test_start_order_is_waited_for(void **state) {
    (void)state;
    static const char set[] = SET_HEAD("1", "RollingRecreate") SET_CLIQUE("b", "1", "1")
        SET_CLIQUE("a", "1", "1");
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, set);
    cluster_merge(
        &c, GV_KIND_PODCLIQUESET, "s",
        "{\"spec\":{\"template\":{\"cliqueStartupType\":\"CliqueStartupTypeExplicit\","
        "\"cliques\":[{\"name\":\"b\",\"spec\":{\"roleName\":\"b\",\"replicas\":1,"
        "\"minAvailable\":1,\"startsAfter\":[\"a\"],\"podSpec\":{\"containers\":[{\"name\":"
        "\"c\",\"image\":\"i\"}]}}},{\"name\":\"a\",\"spec\":{\"roleName\":\"a\","
        "\"replicas\":1,\"minAvailable\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\","
        "\"image\":\"i\"}]}}}]}}}");
    cluster_settle(&c, 12);
    cluster_bind(&c, cluster_pod(&c, "s-0-a", 0));
    cluster_bind(&c, cluster_pod(&c, "s-0-b", 0));
    cluster_settle(&c, 12);
    assert_explains(&c, GROVE_KIND_PODCLIQUE, "s-0-b",
                    "PodClique s-0-b waits: StartsAfter\n"
                    "  its pods start when s-0-a has 1 ready pods\n"
                    "  for: PodClique s-0-a\n"
                    "  since: 1s ago\n");
    cluster_ready(&c, cluster_pod(&c, "s-0-a", 0), true);
    cluster_settle(&c, 12);
    assert_false(cluster_waits(&c, "StartsAfter", NULL, NULL));
    assert_true(cluster_waits(&c, "AwaitReady", "s-0", NULL));
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_empty_plan),
        cmocka_unit_test(test_codes_of_refusals),
        cmocka_unit_test(test_every_stage_waits_for_something),
        cmocka_unit_test(test_start_order_is_waited_for),
    };
    return cmocka_run_group_tests_name("plan explained", tests, NULL, NULL);
}
