/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubelets that have less room than their nodes say. Here the test is the kubelet: a gang whose pods are
 * refused goes to another node; where there is none, it is tried again, less and less often, and runs as soon
 * as it is tried after the room has come.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

#define MINUTE (60 * SECOND)

static const char set_text[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
    "\"spec\":{\"replicas\":1,\"template\":{\"terminationDelay\":\"24h\",\"cliques\":[{\"name\":"
    "\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":2,\"minAvailable\":2,\"podSpec\":{"
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"limits\":{"
    "\"nvidia.com/gpu\":\"2\"}}}]}}}]}}}";

#define RUNS                                                                              \
    "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":"  \
    "\"True\"},{\"type\":\"PodScheduled\",\"status\":\"True\"}],\"containerStatuses\":[{" \
    "\"name\":\"c\",\"started\":true,\"ready\":true,\"state\":{\"running\":{}}}]}}"

typedef struct kubelets {
    world w;
    grove_env *env;
    char bad[64];        /* the node whose kubelet refuses; "": none; "?": the first that is used */
    const char *refusal; /* the merge patch that says so */
    uint32_t refused;
} kubelets;

static void write_status(kubelets *k, const char *pod, const char *text) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *body = NULL;
    assert_int_equal(grove_doc_parse_json(k->env, text, strlen(text), 0, &body, &err), GROVE_OK);
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_PATCH,
                   .token = 1,
                   .kind = GROVE_KIND_POD,
                   .subresource = GROVE_SUBRESOURCE_STATUS,
                   .patch_type = GROVE_PATCH_MERGE,
                   .ns = "default",
                   .name = pod,
                   .body_doc = body};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    assert_int_equal(grove_sim_execute(k->w.c->sim, &op, &result), GROVE_OK);
    assert_int_equal(result.status, GROVE_OK);
    grove_doc_unref(result.doc);
    grove_doc_unref(body);
}

/* Each pod that was bound and has no phase yet is run or refused. */
static void look(kubelets *k) {
    char name[128], node[64], phase[32];
    uint32_t n = world_pods(&k->w, NULL, NULL);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(world_pod_name(&k->w, NULL, i, name, sizeof name));
        world_text(&k->w, GROVE_KIND_POD, name, "/spec/nodeName", node, sizeof node);
        world_text(&k->w, GROVE_KIND_POD, name, "/status/phase", phase, sizeof phase);
        if (!node[0] || strcmp(phase, "Running") == 0 || strcmp(phase, "Failed") == 0) {
            continue;
        }
        if (strcmp(k->bad, "?") == 0) {
            snprintf(k->bad, sizeof k->bad, "%s", node);
        }
        bool refuses = strcmp(k->bad, node) == 0;
        write_status(k, name, refuses ? k->refusal : RUNS);
        k->refused += refuses;
    }
}

static void run(kubelets *k, int64_t ns) {
    for (int64_t end = cluster_now(k->w.c) + ns; cluster_now(k->w.c) < end;) {
        world_run(&k->w, SECOND / 2);
        look(k);
    }
}

static void start(kubelets *k, const char *nodes, const char *refusal) {
    *k = (kubelets){.bad = "?", .refusal = refusal};
    assert_int_equal(grove_env_new(NULL, &k->env), GROVE_OK);
    world_start(&k->w, k->env,
                (cluster_options){.nodes = nodes, .sim_flags = GROVE_SIM_NO_KUBELET});
    world_apply(&k->w, set_text);
}

static void end(kubelets *k) {
    world_end(&k->w);
    grove_env_unref(k->env);
}

#define FAILED(reason) "{\"status\":{\"phase\":\"Failed\",\"reason\":\"" reason "\"}}"

static void test_goes_elsewhere(void **state) {
    static const char *const reasons[] = {FAILED("OutOfnvidia.com/gpu"),
                                          FAILED("UnexpectedAdmissionError"),
                                          FAILED("TopologyAffinityError"), FAILED("NodePorts")};
    (void)state;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        kubelets k;
        char node[64], name[128];
        start(&k, "blocks=1,racks=1,nodes=2,gpu=4", reasons[i]);
        run(&k, MINUTE);
        assert_int_equal(world_ready_pods(&k.w, NULL), 2);
        assert_in_range(k.refused, 1, 2);
        for (uint32_t p = 0; p < 2; p++) {
            assert_true(world_pod_name(&k.w, NULL, p, name, sizeof name));
            world_text(&k.w, GROVE_KIND_POD, name, "/spec/nodeName", node, sizeof node);
            assert_string_not_equal(node, k.bad);
        }
        end(&k);
    }
}

/* A pod that ended for other reasons says nothing of the node's room: it returns there. */
static void test_other_ends(void **state) {
    kubelets k;
    (void)state;
    start(&k, "blocks=1,racks=1,nodes=1,gpu=4", FAILED("Evicted"));
    run(&k, 5 * SECOND);
    assert_int_equal(k.refused, 2);
    k.bad[0] = '\0';
    run(&k, 10 * SECOND); /* 10 s after their creation they are replaced */
    assert_int_equal(world_ready_pods(&k.w, NULL), 2);
    end(&k);
}

static void test_tried_less_and_less(void **state) {
    kubelets k;
    (void)state;
    start(&k, "blocks=1,racks=1,nodes=1,gpu=4", FAILED("OutOfcpu"));
    run(&k, 25 * SECOND);
    assert_int_equal(k.refused, 2); /* both at once; their successors find no room */
    run(&k, 60 * MINUTE);
    assert_in_range(k.refused, 2 * 5, 2 * 14); /* after 30 s, 1 min, 2, 4, 8, 8 ... */
    assert_int_equal(world_ready_pods(&k.w, NULL), 0);
    k.bad[0] = '\0';
    run(&k, 9 * MINUTE);
    assert_int_equal(world_ready_pods(&k.w, NULL), 2);
    world_check_moment(&k.w);
    assert_int_equal(k.w.broken, 0);
    end(&k);
}

/* The node comes back under its name: nothing is known against it. */
static void test_node_replaced(void **state) {
    kubelets k;
    grove_error err = GROVE_ERROR_INIT;
    char node[1024];
    (void)state;
    start(&k, "blocks=1,racks=1,nodes=1,gpu=4", FAILED("OutOfcpu"));
    run(&k, 15 * SECOND);
    assert_int_equal(k.refused, 2);
    snprintf(node, sizeof node,
             "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"},\"status\":{"
             "\"allocatable\":{\"nvidia.com/gpu\":\"4\",\"pods\":\"110\"},\"conditions\":[{"
             "\"type\":\"Ready\",\"status\":\"True\"}]}}",
             k.bad);
    assert_int_equal(grove_sim_delete(k.w.c->sim, GROVE_KIND_NODE, "", k.bad, &err), GROVE_OK);
    run(&k, SECOND);
    k.bad[0] = '\0';
    world_apply(&k.w, node);
    run(&k, 3 * SECOND);
    assert_int_equal(world_ready_pods(&k.w, NULL), 2);
    end(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_elsewhere), cmocka_unit_test(test_other_ends),
        cmocka_unit_test(test_tried_less_and_less), cmocka_unit_test(test_node_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
