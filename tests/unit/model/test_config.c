/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations: built-in settings, defaults, what the operator refuses, look-ups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/config.h"
#include "support/files.h"
#include "support/oom.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

#define OPERATOR \
    "{\"apiVersion\":\"operator.config.grove.io/v1alpha1\",\"kind\":\"OperatorConfiguration\""

static char CLUSTER[] =
    "[" OPERATOR ",\"network\":{\"autoMNNVLEnabled\":true},\"scheduler\":{\"profiles\":[{\"name\":"
    "\"volcano\"},{\"name\":\"default-scheduler\",\"config\":{\"gangScheduling\":true}}],"
    "\"defaultProfileName\":\"volcano\"},\"topologyAwareScheduling\":{\"enabled\":true},"
    "\"unknown\":1},"
    "{\"kind\":\"List\",\"items\":[{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":"
    "\"ClusterTopologyBinding\",\"metadata\":{\"name\":\"fabric\"},\"spec\":{\"levels\":[{"
    "\"domain\":"
    "\"zone\",\"key\":\"topology.kubernetes.io/zone\"},{\"domain\":\"rack\",\"key\":\"example.com/"
    "rack\"}]}}]},"
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"high\"},\"value\":1000},"
    "{\"apiVersion\":\"resource.k8s.io/"
    "v1\",\"kind\":\"ResourceClaimTemplate\",\"metadata\":{\"name\":"
    "\"nic\",\"namespace\":\"team\"},\"spec\":{}},"
    "{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"Queue\",\"metadata\":{\"name\":"
    "\"q\"}}]";

static void built_in(void **state) {
    (void)state;
    grove_config *c = NULL;
    assert_int_equal(grove_config_new(env, &c), 0);
    assert_true(c->topology_enabled);
    assert_false(c->auto_mnnvl);
    assert_int_equal(c->schedulers.n, 2);
    assert_string_equal(c->default_scheduler, "default-scheduler");
    assert_non_null(gv_config_scheduler(c, GV_STR("kai-scheduler")));
    assert_null(gv_config_binding(c, GV_STR("fabric")));
    assert_ptr_equal(grove_config_ref(c), c);
    grove_config_unref(c);
    grove_config_unref(c);
    grove_config_unref(NULL);
}

static void cluster_objects(void **state) {
    (void)state;
    grove_config *c = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_config_new(env, &c), 0);
    assert_int_equal(grove_config_load(c, CLUSTER, sizeof CLUSTER - 1, &err), 0);
    assert_true(c->topology_enabled);
    assert_true(c->auto_mnnvl);
    assert_int_equal(c->schedulers.n, 2);
    assert_string_equal(c->default_scheduler, "volcano");
    assert_true(gv_config_scheduler(c, GV_STR("default-scheduler"))->gang_scheduling);
    assert_false(gv_config_scheduler(c, GV_STR("volcano"))->gang_scheduling);
    const gv_topology_binding *b = gv_config_binding(c, GV_STR("fabric"));
    assert_non_null(b);
    assert_int_equal(b->n_levels, 2);
    assert_int_equal(gv_binding_level(b, GV_STR("rack")), 1);
    assert_int_equal(gv_binding_level(b, GV_STR("host")), -1);
    assert_true(gv_str_is(b->levels[1].key, "example.com/rack"));
    assert_non_null(gv_config_priority_class(c, GV_STR("high")));
    assert_null(gv_config_priority_class(c, GV_STR("low")));
    assert_non_null(gv_config_claim_template(c, GV_STR("team"), GV_STR("nic")));
    assert_null(gv_config_claim_template(c, GV_STR("tea"), GV_STR("mnic")));
    assert_null(gv_config_claim_template(c, GV_STR(""), GV_STR("nic")));
    assert_non_null(gv_config_queue(c, GV_STR("q")));
    grove_config_unref(c);
}

#define QUEUES(list)                                                                            \
    ",\"scheduler\":{\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{\"queues\":[" list \
    "]}}]}"

/* What follows the kind of an OperatorConfiguration, and the path of the first complaint ("" is none). */
static const struct {
    const char *fields, *path;
    const char *default_scheduler;
} operators[] = {
    {"", "", "default-scheduler"},
    {",\"scheduler\":{\"profiles\":[],\"defaultProfileName\":\"kai-scheduler\"}", "",
     "default-scheduler"},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"kai-scheduler\"}],\"defaultProfileName\":\"kai-"
     "scheduler\"}",
     "", "kai-scheduler"},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"kai-scheduler\"}]}", "", "default-scheduler"},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"kai-scheduler\"}],\"defaultProfileName\":"
     "\"volcano\"}",
     "scheduler.defaultProfileName", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"\"}]}", "scheduler.profiles[0].name", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"volcano\"},{\"name\":\"other\"}]}",
     "scheduler.profiles[1].name", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"volcano\"},{\"name\":\"volcano\"}]}",
     "scheduler.profiles[1].name", NULL},
    {",\"scheduler\":{\"profiles\":{}}", "scheduler.profiles", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{\"preemptionPolicy\":"
     "\"Never\",\"starvationGuard\":\"10m\"}}]}",
     "", "default-scheduler"},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{\"preemptionPolicy\":"
     "\"never\"}}]}",
     "scheduler.profiles[0].config.preemptionPolicy", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{\"starvationGuard\":"
     "\"0s\"}}]}",
     "scheduler.profiles[0].config.starvationGuard", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"grove-scheduler\",\"config\":{\"starvationGuard\":"
     "5}}]}",
     "scheduler.profiles[0].config.starvationGuard", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"default-scheduler\",\"config\":{"
     "\"gangScheduling\":true,\"onNoFit\":\"ReleaseForAutoscaler\"}}]}",
     "", "default-scheduler"},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"default-scheduler\",\"config\":{\"onNoFit\":"
     "\"Release\"}}]}",
     "scheduler.profiles[0].config.onNoFit", NULL},
    {QUEUES("{\"name\":\"a\",\"limit\":{\"cpu\":\"1500m\",\"memory\":\"2Gi\"}},{\"name\":\"b\","
            "\"parent\":"
            "\"a\",\"deserved\":{\"nvidia.com/gpu\":4},\"weight\":0,\"priority\":-3}"),
     "", "default-scheduler"},
    {QUEUES("{\"parent\":\"\"}"), "scheduler.profiles[0].config.queues[0].name", NULL},
    {QUEUES("{\"name\":\"a\"},{\"name\":\"a\"}"), "scheduler.profiles[0].config.queues[1].name",
     NULL},
    {QUEUES("{\"name\":\"a\",\"parent\":\"b\"},{\"name\":\"b\"}"),
     "scheduler.profiles[0].config.queues[0].parent", NULL},
    {QUEUES("{\"name\":\"a\",\"limit\":{\"nvidia.com/gpu\":-1}}"),
     "scheduler.profiles[0].config.queues[0].limit.nvidia.com/gpu", NULL},
    {QUEUES("{\"name\":\"a\",\"deserved\":{\"cpu\":\"many\"}}"),
     "scheduler.profiles[0].config.queues[0].deserved.cpu", NULL},
    {QUEUES("{\"name\":\"a\",\"deserved\":4}"), "scheduler.profiles[0].config.queues[0].deserved",
     NULL},
    {QUEUES("{\"name\":\"a\",\"weight\":-1}"), "scheduler.profiles[0].config.queues[0].weight",
     NULL},
    {QUEUES("{\"name\":\"a\",\"priority\":\"1\"}"),
     "scheduler.profiles[0].config.queues[0].priority", NULL},
    {QUEUES("{\"name\":\"a\",\"limits\":{}}"), "scheduler.profiles[0].config.queues[0].limits",
     NULL},
    {QUEUES("7"), "scheduler.profiles[0].config.queues[0]", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"volcano\",\"config\":{\"queues\":{}}}]}",
     "scheduler.profiles[0].config.queues", NULL},
    {",\"scheduler\":{\"profiles\":[{\"name\":\"volcano\",\"config\":{\"queues\":[{\"name\":\"a\"}]"
     "}},"
     "{\"name\":\"kai-scheduler\",\"config\":{\"queues\":[{\"name\":\"a\"}]}}]}",
     "scheduler.profiles[1].config.queues", NULL},
    {",\"logLevel\":\"warn\"", "logLevel", NULL},
    {",\"logLevel\":\" \",\"logFormat\":\"text\"", "", "default-scheduler"},
    {",\"logFormat\":\"yaml\"", "logFormat", NULL},
    {",\"leaderElection\":{\"leaseDuration\":\"-1s\"}", "", "default-scheduler"},
    {",\"leaderElection\":{\"enabled\":true}", "", "default-scheduler"},
    {",\"leaderElection\":{\"enabled\":true,\"leaseDuration\":\"-1s\"}",
     "leaderElection.leaseDuration", NULL},
    {",\"leaderElection\":{\"enabled\":true,\"leaseDuration\":\"10s\"}",
     "leaderElection.leaseDuration", NULL},
    {",\"leaderElection\":{\"enabled\":true,\"retryPeriod\":\"2\"}", "leaderElection.retryPeriod",
     NULL},
    {",\"runtimeClientConnection\":{\"burst\":-1}", "clientConnection.burst", NULL},
    {",\"runtimeClientConnection\":{\"burst\":0}", "", "default-scheduler"},
    {",\"controllers\":{\"podGang\":{\"concurrentSyncs\":0}}",
     "controllers.podGang.concurrentSyncs", NULL},
    {",\"topologyAwareScheduling\":{\"enabled\":\"yes\"}", "topologyAwareScheduling.enabled", NULL},
};

static void operator_checks(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        char text[512];
        grove_config *c = NULL;
        grove_error err = GROVE_ERROR_INIT;
        snprintf(text, sizeof text, OPERATOR "%s}", operators[i].fields);
        assert_int_equal(grove_config_new(env, &c), 0);
        grove_status status = grove_config_load(c, text, strlen(text), &err);
        assert_int_equal(status, operators[i].path[0] ? GROVE_E_REFUSED : 0);
        if (status < 0) {
            assert_string_equal(err.path, operators[i].path);
            assert_true(err.line > 0);
        } else {
            assert_string_equal(c->default_scheduler, operators[i].default_scheduler);
            assert_false(c->topology_enabled);
            assert_non_null(gv_config_scheduler(c, GV_STR("default-scheduler")));
        }
        grove_config_unref(c);
    }
}

static void foreign_kinds_are_refused(void **state) {
    (void)state;
    static const char text[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}";
    grove_config *c = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_config_new(env, &c), 0);
    assert_int_equal(grove_config_load(c, text, sizeof text - 1, &err), GROVE_E_UNSUPPORTED);
    assert_string_equal(err.path, "kind");
    assert_int_equal(grove_config_load(c, "", 0, &err), 0);
    grove_config_unref(c);
}

static grove_status load_all(grove_env *e, void *ctx) {
    const char *text = ctx;
    grove_config *c = NULL;
    grove_status status = grove_config_new(e, &c);
    if (status == GROVE_OK) {
        status = grove_config_load(c, text, strlen(text), NULL);
    }
    grove_config_unref(c);
    return status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    oom_loop("config", load_all, CLUSTER);
}

/* The configuration of the recordings. */
static void recorded_configuration(void **state) {
    (void)state;
    char *path = test_shared_path("conformance/live-config.json");
    if (!path) {
        print_message("SKIPPED: the recorded configuration is not beside this checkout\n");
        skip();
    }
    size_t len = 0;
    char *text = test_read_path(path, &len);
    grove_config *c = NULL;
    assert_non_null(text);
    assert_int_equal(grove_config_new(env, &c), 0);
    assert_int_equal(grove_config_load(c, text, len, NULL), 0);
    assert_int_equal(gv_config_binding(c, GV_STR("grove-topology"))->n_levels, 4);
    assert_int_equal(c->schedulers.n, 2);
    grove_config_unref(c);
    free(text);
    free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in),
        cmocka_unit_test(cluster_objects),
        cmocka_unit_test(operator_checks),
        cmocka_unit_test(foreign_kinds_are_refused),
        cmocka_unit_test(survives_allocation_failure),
        cmocka_unit_test(recorded_configuration),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
