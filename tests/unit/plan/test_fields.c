/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of a child follow the template, and which stay as servers, scalers and others left them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

static const char set[] = SET_HEAD(
    "1",
    "RollingRecreate") "    - name: a\n"
                       "      spec: {roleName: a, replicas: 2, minAvailable: 1, podSpec: "
                       "{containers: [{name: c, image: "
                       "i}]},\n"
                       "        autoScalingConfig: {minReplicas: 2, maxReplicas: 4, metrics: "
                       "[{type: Resource, resource: "
                       "{name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}}\n";

#define CPU_80                                                           \
    "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"target\":" \
    "{\"type\":\"Utilization\",\"averageUtilization\":80}}}]"

typedef struct row {
    const char *what;
    gv_kind kind; /* first a merge patch of a child, as somebody else's doing; NULL: nothing */
    const char *name, *foreign;
    const char *change;  /* then one of the set; NULL: nothing */
    const char *pointer; /* what stands in the child at the end */
    const char *want;    /* as JSON; "": nothing */
    uint32_t writes;     /* of any child but by status, until all rests */
} row;

#define SPEC(json) "{\"spec\":{\"template\":" json "}}"
#define SCALING(json)                                                                          \
    SPEC("{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":2,"          \
         "\"minAvailable\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}," \
         "\"autoScalingConfig\":" json "}}]}")

static const row rows[] = {
    {"a Service stops publishing pods that are not ready", GV_KIND_SERVICE, "s-0", NULL,
     SPEC("{\"headlessServiceConfig\":{\"publishNotReadyAddresses\":false}}"),
     "/spec/publishNotReadyAddresses", "", 1},
    {"what a server adds to a Service stays", GV_KIND_SERVICE, "s-0",
     "{\"spec\":{\"ipFamilyPolicy\":\"SingleStack\",\"sessionAffinity\":\"None\"}}", NULL,
     "/spec/sessionAffinity", "\"None\"", 0},
    {"a selector that somebody changed is set right", GV_KIND_SERVICE, "s-0",
     "{\"spec\":{\"selector\":{\"grove.io/podcliqueset-replica-index\":\"7\"}}}", NULL,
     "/spec/selector/grove.io~1podcliqueset-replica-index", "\"0\"", 1},
    {"an autoscaler loses metrics that are no longer given", GV_KIND_HPA, "s-0-a", NULL,
     SCALING("{\"minReplicas\":2,\"maxReplicas\":4}"), "/spec/metrics", "", 2},
    {"the metric that a server gives it instead stays", GV_KIND_HPA, "s-0-a",
     "{\"spec\":{\"metrics\":" CPU_80 "}}", SCALING("{\"minReplicas\":2,\"maxReplicas\":4}"),
     "/spec/metrics", CPU_80, 1},
    {"its bounds follow", GV_KIND_HPA, "s-0-a", NULL,
     SCALING("{\"minReplicas\":3,\"maxReplicas\":5,\"metrics\":" CPU_80 "}"), "/spec/minReplicas",
     "3", 2},
    {"its behaviour is the user's", GV_KIND_HPA, "s-0-a",
     "{\"spec\":{\"behavior\":{\"scaleDown\":{\"stabilizationWindowSeconds\":9}}}}", NULL,
     "/spec/behavior/scaleDown/stabilizationWindowSeconds", "9", 0},
    {"a label of the gang that another writer put there stays", GV_KIND_PODGANG, "s-0",
     "{\"metadata\":{\"labels\":{\"example.com/x\":\"y\"}}}", NULL,
     "/metadata/labels/example.com~1x", "\"y\"", 0},
    {"replicas are the scaler's", GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":4}}",
     SPEC("{\"priorityClassName\":null}"), "/spec/replicas", "4", 0},
};

/* How many specs of children the plan writes. */
static uint32_t spec_writes(cluster *c) {
    grove_plan *plan = cluster_plan(c);
    uint32_t n = 0;
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        n += strcmp(grove_plan_action(plan, i)->reason, "Differs") == 0 ? 1 : 0;
    }
    grove_plan_unref(plan);
    return n;
}

static void test_table(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, set);
        cluster_live(&c, 20);
        if (r->foreign != NULL) {
            cluster_merge(&c, r->kind, r->name, r->foreign);
        }
        if (r->change != NULL) {
            cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", r->change);
        }
        uint32_t wrote = 0;
        do {
            wrote += spec_writes(&c);
        } while (cluster_round(&c) > 0);
        grove_buf b;
        grove_buf_init(&b, c.env);
        const grove_node *n = cluster_node(&c, r->kind, r->name, r->pointer);
        if (n != NULL) {
            assert_int_equal(grove_node_write_json(n, 0, &b, NULL), 0);
        }
        if (strcmp(b.data ? b.data : "", r->want) != 0 || wrote != r->writes) {
            fail_msg("%s: %s after %u writes, not %s after %u", r->what,
                     b.data ? b.data : "nothing", wrote, r->want, r->writes);
        }
        grove_buf_fini(&b);
        cluster_close(&c);
    }
}

/* Conditions of other writers outlive ours being written, on every kind that has both. */
static void test_conditions_of_others(void **unused) {
    (void)unused;
    static const struct {
        gv_kind kind;
        const char *name;
    } owners[] = {{GV_KIND_PODCLIQUESET, "s"},
                  {GV_KIND_PODCLIQUE, "s-0-r"},
                  {GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g"},
                  {GV_KIND_PODGANG, "s-0"}};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
        cluster_live(&c, 20);
        uint32_t before = c.patches;
        cluster_merge(&c, owners[i].kind, owners[i].name,
                      "{\"status\":{\"conditions\":[{\"type\":\"Theirs\",\"status\":\"True\","
                      "\"reason\":\"R\",\"message\":\"m\",\"lastTransitionTime\":"
                      "\"2027-01-01T00:00:00Z\"}]}}");
        cluster_settle(&c, 12);
        assert_true(c.patches > before); /* ours are there again */
        assert_string_equal(cluster_reason(&c, owners[i].kind, owners[i].name, "Theirs"), "R");
        cluster_close(&c);
    }
}

/* What stands beside spec, in a ServiceAccount, is ours as well. */
static void test_members_beside_spec(void **unused) {
    (void)unused;
    static const char *const theirs[] = {"{\"automountServiceAccountToken\":false}",
                                         "{\"automountServiceAccountToken\":null}"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_ONE);
        cluster_live(&c, 20);
        cluster_merge(&c, GV_KIND_SERVICEACCOUNT, "s", theirs[i]);
        cluster_settle(&c, 12);
        assert_true(grove_node_is_true(
            cluster_node(&c, GV_KIND_SERVICEACCOUNT, "s", "/automountServiceAccountToken")));
        cluster_close(&c);
    }
}

/* An autoscaler that is refused is told under its own code. */
static void test_refused_autoscaler(void **unused) {
    (void)unused;
    cluster c;
    cluster_open(&c, "s");
    grove_refusal r = {.size = sizeof r,
                       .verb = GROVE_VERB_CREATE,
                       .kind = GROVE_KIND_HPA,
                       .name = "s-0-a",
                       .message = "no",
                       .at_ns = c.now,
                       .retry_ns = c.now + INT64_C(3600) * 1000000000};
    c.refusals[0] = &r;
    c.n_refusals = 1;
    cluster_add(&c, set);
    cluster_settle(&c, 12);
    assert_string_equal(cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors/0/code"),
                        "ERR_SYNC_HPA");
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table), cmocka_unit_test(test_members_beside_spec),
        cmocka_unit_test(test_refused_autoscaler), cmocka_unit_test(test_conditions_of_others)};
    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
