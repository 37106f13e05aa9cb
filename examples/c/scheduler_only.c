/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduling engine by itself: nodes of one's own, a gang, an answer with its reason.
 *
 * Two racks of two nodes with eight GPUs. A gang of two pods with eight GPUs each, which must share a rack,
 * fits; one of three does not, and the answer says why and what would help.
 */
#include <stdio.h>

#include <grove/grove.h>

static grove_status add_nodes(grove_sched *s, uint32_t gpu) {
    for (int i = 0; i < 4; i++) {
        char name[16], rack[16];
        snprintf(name, sizeof name, "node-%d", i);
        snprintf(rack, sizeof rack, "rack-%d", i / 2);
        const grove_sched_label labels[] = {{"rack", rack}};
        int64_t capacity[8] = {0};
        capacity[0] = 110; /* resource 0 is "pods" in every scheduler */
        capacity[gpu] = 8;
        grove_sched_node node = {0};
        node.size = sizeof node;
        node.name = name;
        node.labels = labels;
        node.n_labels = 1;
        node.capacity = capacity;
        node.n_capacity = gpu + 1;
        uint32_t id = 0;
        grove_status st = grove_sched_node_add(s, &node, &id, NULL);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

static void show(grove_sched *s, const grove_gang *gang, const grove_decision *d, grove_env *env) {
    if (grove_decision_verdict(d) == GROVE_PLACED) {
        uint32_t n = 0;
        const uint32_t *nodes = grove_decision_nodes(d, 0, &n);
        for (uint32_t i = 0; i < n; i++) {
            printf("  pod %u on %s\n", i, grove_sched_node_name(s, nodes[i]));
        }
        return;
    }
    grove_buf why;
    grove_buf_init(&why, env);
    if (grove_sched_explain(s, gang, d, 0, &why, NULL) == GROVE_OK) {
        printf("%s", why.data);
    }
    grove_buf_fini(&why);
}

int main(void) {
    grove_env *env = NULL;
    grove_sched *s = NULL;
    grove_gang *gang = NULL;
    grove_decision *decision = NULL;
    uint32_t gpu = 0, topology = 0, worker = 0, group = 0;
    const char *levels[] = {"rack"};
    int status = 1;
    if (grove_env_new(NULL, &env) < 0 || grove_sched_new(env, NULL, &s, NULL) < 0 ||
        grove_sched_resource(s, "nvidia.com/gpu", &gpu) < 0 ||
        grove_sched_topology(s, "default", levels, 1, &topology, NULL) < 0 ||
        add_nodes(s, gpu) < 0 || grove_gang_new(s, &gang) < 0 ||
        grove_decision_new(s, &decision) < 0) {
        goto out;
    }
    int64_t requests[8] = {0};
    requests[gpu] = 8;
    grove_sched_class_spec spec = {0};
    spec.size = sizeof spec;
    spec.requests = requests;
    spec.n_requests = gpu + 1;
    if (grove_sched_class(s, &spec, &worker, NULL) < 0) {
        goto out;
    }
    for (uint32_t pods = 2; pods <= 3; pods++) {
        printf("%u pods in one rack:\n", pods);
        if (grove_gang_begin(gang, topology, "train") < 0 ||
            grove_gang_pack(gang, grove_sched_level(s, topology, "rack"), GROVE_LEVEL_NONE) < 0 ||
            grove_gang_podgroup(gang, "worker", worker, pods, pods, GROVE_LEVEL_NONE,
                                GROVE_LEVEL_NONE, &group) < 0 ||
            grove_sched_place(s, gang, NULL, decision, NULL) < 0) {
            goto out;
        }
        show(s, gang, decision, env);
    }
    status = 0;
out:
    grove_decision_free(decision);
    grove_gang_free(gang);
    grove_sched_free(s);
    grove_env_unref(env);
    return status;
}
