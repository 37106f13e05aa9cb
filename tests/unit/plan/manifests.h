/* SPDX-License-Identifier: Apache-2.0 */
/* Sets that the planner's tests share. */
#ifndef TESTS_PLAN_MANIFESTS_H
#define TESTS_PLAN_MANIFESTS_H

#define SET_HEAD(replicas, strategy)                                \
    "apiVersion: grove.io/v1alpha1\n"                               \
    "kind: PodCliqueSet\n"                                          \
    "metadata: {name: s, namespace: t}\n"                           \
    "spec:\n"                                                       \
    "  replicas: " replicas "\n"                                    \
    "  updateStrategy: {type: " strategy "}\n"                      \
    "  template:\n"                                                 \
    "    cliqueStartupType: CliqueStartupTypeAnyOrder\n"            \
    "    terminationDelay: 30s\n"                                   \
    "    headlessServiceConfig: {publishNotReadyAddresses: true}\n" \
    "    cliques:\n"

#define SET_CLIQUE(name, replicas, minimum)                                           \
    "    - name: " name "\n"                                                          \
    "      spec: {roleName: " name ", replicas: " replicas ", minAvailable: " minimum \
    ", podSpec: {containers: [{name: c, image: i}]}}\n"

#define SET_GROUP(name, cliques, replicas, minimum)                          \
    "    podCliqueScalingGroups:\n"                                          \
    "    - {name: " name ", cliqueNames: [" cliques "], replicas: " replicas \
    ", minAvailable: " minimum "}\n"

/* One standalone clique of 3 with minimum 2. */
#define SET_ONE SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "3", "2")
/* Router 2/1; group g (2/1) of p 1/1 and d 3/2: 10 pods a replica. */
#define SET_GROUPED(replicas, strategy) \
    SET_HEAD(replicas, strategy)        \
    SET_CLIQUE("r", "2", "1")           \
    SET_CLIQUE("p", "1", "1") SET_CLIQUE("d", "3", "2") SET_GROUP("g", "p, d", "2", "1")
/* As Grove's acceptance workload 1: everything at its minimum. */
#define SET_TIGHT(replicas)               \
    SET_HEAD(replicas, "RollingRecreate") \
    SET_CLIQUE("a", "2", "2")             \
    SET_CLIQUE("b", "1", "1") SET_CLIQUE("c", "3", "3") SET_GROUP("x", "b, c", "2", "2")
/* Workload 2: one of each is enough. */
#define SET_LOOSE(replicas)               \
    SET_HEAD(replicas, "RollingRecreate") \
    SET_CLIQUE("a", "2", "1")             \
    SET_CLIQUE("b", "1", "1") SET_CLIQUE("c", "3", "1") SET_GROUP("x", "b, c", "2", "1")

/* A ClusterTopologyBinding named b. */
#define NAMED_BINDING(spec) \
    "apiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: b}\n" spec

#endif
