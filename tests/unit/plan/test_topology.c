/* SPDX-License-Identifier: Apache-2.0 */
/* The set's condition TopologyLevelsUnavailable: every row of its table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

#define OPERATOR(enabled)                                                          \
    "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n" \
    "topologyAwareScheduling: {enabled: " enabled "}\n"
#define BINDING                                                                                  \
    "---\napiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: topo}\n" \
    "spec: {levels: [{domain: rack, key: x/rack}]}\n"
#define WITH(constraint)                                                                        \
    SET_HEAD("1", "RollingRecreate")                                                            \
    "    - name: a\n" constraint                                                                \
    "      spec: {roleName: a, replicas: 1, minAvailable: 1, podSpec: {containers: [{name: c, " \
    "image: i}]}}\n"
#define NAMED(pack) "      topologyConstraint: {topologyName: topo, pack: {" pack "}}\n"

static void test_table(void **state) {
    (void)state;
    static const struct {
        const char *config, *set, *status, *reason;
    } rows[] = {
        {OPERATOR("false") BINDING, WITH(NAMED("required: rack")), "Unknown",
         "TopologyAwareSchedulingDisabled"},
        {OPERATOR("false") BINDING, WITH(""), "", ""},
        {OPERATOR("true") BINDING, WITH(""), "False", "AllClusterTopologyLevelsAvailable"},
        {OPERATOR("true") BINDING, WITH("      topologyConstraint: {pack: {required: rack}}\n"),
         "Unknown", "TopologyNameMissing"},
        {OPERATOR("true"), WITH(NAMED("required: rack")), "Unknown", "ClusterTopologyNotFound"},
        {OPERATOR("true") BINDING, WITH(NAMED("required: block")), "True",
         "ClusterTopologyLevelsUnavailable"},
        {OPERATOR("true") BINDING, WITH(NAMED("required: rack, preferred: host")), "True",
         "ClusterTopologyLevelsUnavailable"},
        {OPERATOR("true") BINDING, WITH(NAMED("preferred: rack")), "False",
         "AllClusterTopologyLevelsAvailable"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cluster c;
        cluster_open(&c, "s");
        assert_int_equal(grove_config_new(c.env, &c.config), 0);
        assert_int_equal(grove_config_load(c.config, rows[i].config, strlen(rows[i].config), NULL),
                         0);
        cluster_add(&c, rows[i].set);
        cluster_live(&c, 12);
        const char *type = "TopologyLevelsUnavailable";
        assert_string_equal(cluster_condition(&c, GV_KIND_PODCLIQUESET, "s", type), rows[i].status);
        assert_string_equal(cluster_reason(&c, GV_KIND_PODCLIQUESET, "s", type), rows[i].reason);
        cluster_close(&c);
    }
}

/* A binding that comes back, or goes, is followed: condition and constraint of the gang. */
static void test_binding_comes_and_goes(void **state) {
    (void)state;
    cluster c;
    const char *texts[] = {OPERATOR("true") BINDING, OPERATOR("true"), OPERATOR("true") BINDING};
    cluster_open(&c, "s");
    cluster_add(&c, WITH(NAMED("required: rack")));
    for (int i = 0; i < 3; i++) {
        grove_config *next = NULL;
        assert_int_equal(grove_config_new(c.env, &next), 0);
        assert_int_equal(grove_config_load(next, texts[i], strlen(texts[i]), NULL), 0);
        grove_config_unref(c.config);
        c.config = next;
        cluster_live(&c, 12);
        const char *path = "/spec/podgroups/0/topologyConstraint/packConstraint/required";
        assert_string_equal(cluster_text(&c, GV_KIND_PODGANG, "s-0", path), i == 1 ? "" : "x/rack");
        assert_string_equal(
            cluster_condition(&c, GV_KIND_PODCLIQUESET, "s", "TopologyLevelsUnavailable"),
            i == 1 ? "Unknown" : "False");
    }
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_binding_comes_and_goes),
    };
    return cmocka_run_group_tests_name("plan topology", tests, NULL, NULL);
}
