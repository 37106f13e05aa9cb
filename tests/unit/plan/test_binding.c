/* SPDX-License-Identifier: Apache-2.0 */
/* ClusterTopologyBindings: the schedulers' topology objects, drift, and what the status says of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"
#include "model/labels.h"

#define CTB GV_KIND_CLUSTERTOPOLOGYBINDING
#define TOPOLOGY GV_KIND_KAI_TOPOLOGY
#define DRIFT "SchedulerTopologyDrift"
#define LEVELS "levels: [{domain: zone, key: z}, {domain: host, key: h}]"
#define KAI_TO(name) \
    "schedulerTopologyBindings: [{schedulerName: kai-scheduler, topologyReference: " name "}]"
#define FOREIGN(name, keys)                                                      \
    "apiVersion: kai.scheduler/v1alpha1\nkind: Topology\nmetadata: {name: " name \
    "}\nspec: {levels: [" keys "]}\n"

static void begin(cluster *c, const char *yaml) {
    cluster_open(c, "b");
    c->ns = "";
    cluster_add(c, yaml);
}

static void assert_drift(cluster *c, const char *status, const char *reason) {
    assert_string_equal(cluster_condition(c, CTB, "b", DRIFT), status);
    assert_string_equal(cluster_reason(c, CTB, "b", DRIFT), reason);
}

/* status.schedulerTopologyStatuses[i].key as JSON. */
static void assert_entry(cluster *c, int i, const char *key, const char *json) {
    char path[96];
    grove_buf b;
    grove_buf_init(&b, c->env);
    snprintf(path, sizeof path, "/status/schedulerTopologyStatuses/%d/%s", i, key);
    const grove_node *n = cluster_node(c, CTB, "b", path);
    assert_int_equal(grove_node_write_json(n, 0, &b, NULL), 0);
    assert_string_equal(b.data, json);
    grove_buf_fini(&b);
}

static void test_made_and_kept(void **unused) {
    (void)unused;
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS "}"));
    cluster_settle(&c, 4);
    assert_string_equal(cluster_text(&c, TOPOLOGY, "b", "/spec/levels/0/nodeLabel"), "z");
    assert_string_equal(cluster_text(&c, TOPOLOGY, "b", "/spec/levels/1/nodeLabel"), "h");
    assert_string_equal(cluster_text(&c, TOPOLOGY, "b", "/metadata/ownerReferences/0/uid"),
                        cluster_get(&c, CTB, "b")->uid);
    assert_drift(&c, "False", "InSync");
    assert_string_equal(c.last_event, "TopologyInSync");
    assert_int_equal(c.events, 1);
    assert_int_equal(cluster_int(&c, CTB, "b", "/status/observedGeneration"), 1);
    assert_entry(&c, 0, "schedulerName", "\"kai-scheduler\"");
    assert_entry(&c, 0, "inSync", "true");
    /* Somebody deletes it: it comes back, and nobody is told of a drift. */
    cluster_delete(&c, TOPOLOGY, "b");
    cluster_settle(&c, 4);
    assert_non_null(cluster_get(&c, TOPOLOGY, "b"));
    assert_int_equal(c.events, 1);
    /* The binding goes, and with it what it made. */
    cluster_delete(&c, CTB, "b");
    cluster_settle(&c, 4);
    assert_null(cluster_get(&c, TOPOLOGY, "b"));
    cluster_close(&c);
}

/* Levels cannot be changed in place: the object is replaced, and the status stays as it was meanwhile. */
static void test_new_levels(void **unused) {
    (void)unused;
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS "}"));
    cluster_settle(&c, 4);
    char before[32];
    snprintf(before, sizeof before, "%s", cluster_get(&c, TOPOLOGY, "b")->uid);
    cluster_merge(&c, TOPOLOGY, "b", "{\"metadata\":{\"finalizers\":[\"example.com/slow\"]}}");
    cluster_merge(&c, CTB, "b", "{\"spec\":{\"levels\":[{\"domain\":\"rack\",\"key\":\"r\"}]}}");
    cluster_settle(&c, 4);
    assert_true(cluster_waits(&c, "NameInDeletion", "b", NULL));
    assert_drift(&c, "False", "InSync");
    assert_int_equal(cluster_int(&c, CTB, "b", "/status/observedGeneration"), 1);
    /* It does not go: after a while that is said. */
    cluster_merge(&c, TOPOLOGY, "b",
                  "{\"metadata\":{\"deletionTimestamp\":\"2027-01-15T07:00:00Z\"}}");
    cluster_settle(&c, 4);
    assert_drift(&c, "True", "Drift");
    assert_string_equal(c.last_event, "TopologyDriftDetected");
    cluster_merge(&c, TOPOLOGY, "b", "{\"metadata\":{\"finalizers\":null}}");
    cluster_settle(&c, 4);
    assert_string_not_equal(cluster_get(&c, TOPOLOGY, "b")->uid, before);
    assert_string_equal(cluster_text(&c, TOPOLOGY, "b", "/spec/levels/0/nodeLabel"), "r");
    assert_drift(&c, "False", "InSync");
    assert_int_equal(cluster_int(&c, CTB, "b", "/status/observedGeneration"), 2);
    assert_int_equal(c.events, 3);
    cluster_close(&c);
}

/* One object of somebody else: never written, only compared. */
static void test_managed_by_others(void **unused) {
    (void)unused;
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS ", " KAI_TO("t") "}"));
    cluster_settle(&c, 4);
    assert_drift(&c, "True", "Drift");
    assert_entry(&c, 0, "topologyReference", "\"t\"");
    assert_entry(&c, 0, "inSync", "false");
    assert_entry(&c, 0, "message", "\"Topology t does not exist\"");
    assert_true(cluster_waits(&c, "TopologyMissing", "b", NULL));
    assert_int_equal(cluster_int(&c, CTB, "b", "/status/observedGeneration"), 1);
    cluster_add(&c, FOREIGN("t", "{nodeLabel: h}, {nodeLabel: z}"));
    cluster_settle(&c, 4);
    assert_drift(&c, "True", "Drift");
    assert_true(cluster_waits(&c, "TopologyDiffers", "b", NULL));
    assert_entry(&c, 0, "schedulerBackendTopologyObservedGeneration", "1");
    cluster_merge(&c, TOPOLOGY, "t",
                  "{\"spec\":{\"levels\":[{\"nodeLabel\":\"z\"},{\"nodeLabel\":\"h\"}]}}");
    cluster_settle(&c, 4);
    assert_drift(&c, "False", "InSync");
    assert_entry(&c, 0, "schedulerBackendTopologyObservedGeneration", "2");
    assert_string_equal(c.last_event, "TopologyInSync");
    assert_int_equal(c.creates + c.deletes, 0);
    assert_null(cluster_get(&c, TOPOLOGY, "b"));
    cluster_close(&c);
}

/* Somebody else's object stands under our name: it is left alone. */
static void test_name_taken(void **unused) {
    (void)unused;
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS "}"));
    cluster_add(&c, FOREIGN("b", "{nodeLabel: z}, {nodeLabel: h}"));
    cluster_settle(&c, 4);
    assert_drift(&c, "True", "Drift");
    assert_true(cluster_waits(&c, "NameTaken", "b", NULL));
    assert_int_equal(cluster_int(&c, CTB, "b", "/status/observedGeneration"), -1);
    cluster_delete(&c, TOPOLOGY, "b");
    cluster_settle(&c, 4);
    assert_drift(&c, "False", "InSync");
    cluster_close(&c);
}

static void test_refused(void **unused) {
    (void)unused;
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS "}"));
    grove_refusal no = {.size = sizeof no,
                        .verb = GROVE_VERB_CREATE,
                        .kind = GROVE_KIND_KAI_TOPOLOGY,
                        .http = 404,
                        .name = "b",
                        .message = "no such resource",
                        .at_ns = c.now,
                        .retry_ns = c.now + INT64_C(60000000000)};
    c.refusals[0] = &no;
    c.n_refusals = 1;
    cluster_settle(&c, 4);
    int64_t deadline = 0;
    assert_true(cluster_waits(&c, "CreateRefused", "b", &deadline));
    assert_int_equal(deadline, no.retry_ns);
    assert_drift(&c, "True", "Drift");
    assert_entry(&c, 0, "message", "\"Topology b was refused: no such resource\"");
    c.now = no.retry_ns;
    cluster_round(&c);
    assert_non_null(cluster_get(&c, TOPOLOGY, "b"));
    c.n_refusals = 0;
    cluster_settle(&c, 4);
    assert_drift(&c, "False", "InSync");
    cluster_close(&c);
}

/* Schedulers without topology objects, and without any: said, and nothing is known of a drift. */
static void test_unserved(void **unused) {
    (void)unused;
    static const char *const settings =
        "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
        "scheduler: {profiles: [{name: default-scheduler}]}\n";
    cluster c;
    begin(&c, NAMED_BINDING("spec: {" LEVELS "}"));
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_yaml(c.env, settings, strlen(settings), 0, &doc, NULL), 0);
    assert_int_equal(grove_config_new(c.env, &c.config), 0);
    assert_int_equal(grove_config_add(c.config, doc, grove_doc_root(doc), NULL), 0);
    grove_doc_unref(doc);
    cluster_settle(&c, 4);
    assert_string_equal(cluster_condition(&c, CTB, "b", DRIFT), ""); /* nobody to differ from */
    assert_null(cluster_node(&c, CTB, "b", "/status/schedulerTopologyStatuses"));
    cluster_merge(&c, CTB, "b",
                  "{\"spec\":{\"schedulerTopologyBindings\":[{\"schedulerName\":\"default-"
                  "scheduler\",\"topologyReference\":\"x\"},{\"schedulerName\":\"nobody\","
                  "\"topologyReference\":\"y\"}]}}");
    cluster_settle(&c, 4);
    assert_drift(&c, "Unknown", "TopologyNotFound");
    assert_entry(&c, 0, "message", "\"scheduler default-scheduler has no topology objects\"");
    assert_entry(&c, 1, "message", "\"scheduler nobody is not configured\"");
    assert_int_equal(c.events, 0);
    cluster_merge(&c, CTB, "b", "{\"spec\":{\"schedulerTopologyBindings\":null}}");
    cluster_settle(&c, 4);
    assert_string_equal(cluster_condition(&c, CTB, "b", DRIFT), "");
    assert_null(cluster_node(&c, CTB, "b", "/status/schedulerTopologyStatuses"));
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_and_kept),     cmocka_unit_test(test_new_levels),
        cmocka_unit_test(test_managed_by_others), cmocka_unit_test(test_name_taken),
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_unserved),
    };
    return cmocka_run_group_tests_name("topology bindings", tests, NULL, NULL);
}
