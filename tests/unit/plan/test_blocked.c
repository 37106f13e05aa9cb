/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be made holds up what comes after it, is waited for by name, and heals when it is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

#define SHARING "resourceSharing: [{name: nic, scope: AllReplicas}]"

static const char of_set[] = SET_HEAD("1", "RollingRecreate")
    SET_CLIQUE("a", "1", "1") "    " SHARING "\n";
static const char of_clique[] = SET_HEAD("1", "RollingRecreate")
    SET_CLIQUE("a", "1", "1") "    - name: b\n"
                              "      " SHARING "\n"
                              "      spec: {roleName: b, replicas: 1, minAvailable: 1, podSpec: "
                              "{containers: [{name: c, image: "
                              "i}]}}\n";
static const char template_yaml[] = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, "
                                    "metadata: {name: nic, namespace: "
                                    "t}, spec: {spec: {devices: {}}}}";

static void claim_template_appears(cluster *c) {
    assert_int_equal(grove_config_new(c->env, &c->config), 0);
    assert_int_equal(grove_config_load(c->config, template_yaml, strlen(template_yaml), NULL), 0);
}

static void test_of_the_set(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, of_set);
    cluster_settle(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_SERVICEACCOUNT), 1);
    assert_int_equal(cluster_count(&c, GV_KIND_PODCLIQUE), 0);
    assert_int_equal(cluster_count(&c, GV_KIND_PODGANG), 0);
    assert_true(cluster_waits(&c, "ERR_SYNC_PCS_RESOURCE_CLAIM", "s", NULL));
    claim_template_appears(&c);
    cluster_settle(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 1);
    assert_int_equal(cluster_count(&c, GV_KIND_RESOURCECLAIM), 1);
    assert_false(cluster_waits(&c, "ERR_SYNC_PCS_RESOURCE_CLAIM", "s", NULL));
    cluster_close(&c);
}

static void test_of_a_clique(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, of_clique);
    cluster_settle(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_PODCLIQUE), 2);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 1); /* the other clique's */
    assert_true(cluster_gated(cluster_pod(&c, "s-0-a", 0)));
    claim_template_appears(&c);
    cluster_settle(&c, 12);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 2);
    assert_false(cluster_gated(cluster_pod(&c, "s-0-a", 0)));
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_the_set),
        cmocka_unit_test(test_of_a_clique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
