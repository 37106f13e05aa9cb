/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of children: what the recorded sets do not happen to hold, and every edit made to a pod. */
#include "sets.h"

#include "model/labels.h"
#include "plan/adapters/adapter.h"

#define HEAD \
    "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, namespace: ns}\n"

/* ---- pods ---- */

static const char POD_SET[] = HEAD
    "spec:\n"
    "  replicas: 1\n"
    "  template:\n"
    "    cliqueStartupType: CliqueStartupTypeInOrder\n"
    "    resourceSharing:\n"
    "    - {name: each, scope: PerReplica}\n"
    "    - {name: all, scope: AllReplicas}\n"
    "    - {name: hidden, scope: AllReplicas, filter: {childCliqueNames: [first]}}\n"
    "    - {name: shown, scope: AllReplicas, filter: {childScalingGroupNames: [g]}}\n"
    "    resourceClaimTemplates:\n"
    "    - {name: each, templateSpec: {spec: {}}}\n"
    "    - {name: all, templateSpec: {spec: {}}}\n"
    "    - {name: hidden, templateSpec: {spec: {}}}\n"
    "    - {name: shown, templateSpec: {spec: {}}}\n"
    "    cliques:\n"
    "    - {name: first, spec: {replicas: 2, minAvailable: 2, podSpec: {containers: [{name: c, "
    "image: i}]}}}\n"
    "    - name: w\n"
    "      labels: {role: w, app.kubernetes.io/part-of: mine}\n"
    "      annotations: {note: x, grove.io/topology-name: t}\n"
    "      resourceSharing: [{name: each, scope: PerReplica}]\n"
    "      spec:\n"
    "        roleName: r\n"
    "        replicas: 2\n"
    "        minAvailable: 1\n"
    "        podSpec:\n"
    "          hostname: mine\n"
    "          schedulingGates: [{name: foreign}]\n"
    "          serviceAccountName: sa\n"
    "          initContainers: [{name: fetch, image: f, env: [{name: GROVE_PCS_NAME, value: x}, "
    "{name: A, value: a}]}]\n"
    "          containers: [{name: c, image: i, resources: {limits: {cpu: 1}}}, {name: d, image: "
    "j}]\n"
    "          volumes: [{name: v, emptyDir: {}}]\n"
    "    podCliqueScalingGroups:\n"
    "    - {name: g, cliqueNames: [w], replicas: 2, minAvailable: 1, resourceSharing: [{name: all, "
    "scope: AllReplicas}]}\n";

static void pod_metadata(void **state) {
    (void)state;
    expanded *e = expand_new(POD_SET, NULL);
    grove_doc *pod = pod_of(e, "s-0-g-1-w", 1);
    assert_at(pod, "/metadata/name", "\"the-pod\"");
    assert_at(pod, "/metadata/generateName", "\"s-0-g-1-w-\"");
    assert_at(pod, "/metadata/annotations", "{\"note\":\"x\"}");
    assert_at(pod, "/metadata/labels/role", "\"w\"");
    assert_at(pod, "/metadata/labels/app.kubernetes.io~1part-of", "\"s\"");
    assert_at(pod, "/metadata/labels/app.kubernetes.io~1component", "\"pcsg-podclique\"");
    assert_at(pod, "/metadata/labels/grove.io~1podgang", "\"s-0-g-0\"");
    assert_at(pod, "/metadata/labels/grove.io~1base-podgang", "\"s-0\"");
    assert_at(pod, "/metadata/labels/grove.io~1podclique", "\"s-0-g-1-w\"");
    assert_at(pod, "/metadata/labels/grove.io~1podclique-pod-index", "\"1\"");
    assert_at(pod, "/metadata/finalizers", "null");
    assert_at(pod, "/metadata/ownerReferences",
              "[{\"apiVersion\":\"grove.io/v1alpha1\",\"blockOwnerDeletion\":true,\"controller\":"
              "true,\"kind\":\"PodClique\",\"name\":\"s-0-g-1-w\",\"uid\":\"uid-1\"}]");
    grove_doc_unref(pod);
    expand_free(e);
}

static void pod_edits(void **state) {
    (void)state;
    expanded *e = expand_new(POD_SET, NULL);
    grove_doc *pod = pod_of(e, "s-0-g-0-w", 0);
    /* five of the pod, three of its group, then the user's; the user's GROVE_PCS_NAME is dropped */
    static const char *const names[] = {"GROVE_PCS_NAME",
                                        "GROVE_PCS_INDEX",
                                        "GROVE_PCLQ_NAME",
                                        "GROVE_HEADLESS_SERVICE",
                                        "GROVE_PCLQ_POD_INDEX",
                                        "GROVE_PCSG_NAME",
                                        "GROVE_PCSG_TEMPLATE_NUM_PODS",
                                        "GROVE_PCSG_INDEX",
                                        "A"};
    const grove_node *env = grove_node_at_path(grove_doc_root(pod), "/spec/initContainers/0/env");
    assert_int_equal(grove_node_size(env), 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_true(gv_str_is(gv_get_str(grove_node_at(env, i), "name"), names[i]));
    }
    assert_at(pod, "/spec/initContainers/0/env/0/value", "\"s\"");
    assert_at(pod, "/spec/containers/1/env/3/value", "\"s-0.ns.svc.cluster.local\"");
    assert_at(pod, "/spec/containers/1/env/6/value", "\"2\"");
    assert_at(pod, "/spec/containers/0/env/4/valueFrom",
              "{\"fieldRef\":{\"fieldPath\":\"metadata.labels['grove.io/podclique-pod-index']\"}}");
    assert_at(pod, "/spec/hostname", "\"s-0-g-0-w-0\"");
    assert_at(pod, "/spec/subdomain", "\"s-0\"");
    assert_at(pod, "/spec/schedulerName", "\"default-scheduler\"");
    assert_at(pod, "/spec/schedulingGates", "[{\"name\":\"grove.io/podgang-pending-creation\"}]");
    assert_at(pod, "/spec/serviceAccountName", "\"sa\"");
    /* the user's init containers first, the waiter last and without the variables */
    assert_at(pod, "/spec/initContainers/1/name", "\"grove-initc\"");
    assert_at(pod, "/spec/initContainers/1/args", "[\"--podcliques=s-0-first:2\"]");
    assert_at(pod, "/spec/initContainers/1/env", "null");
    assert_at(pod, "/spec/initContainers/1/resources", "null");
    assert_at(pod, "/spec/volumes/0/name", "\"v\"");
    assert_at(pod, "/spec/volumes/1/secret", "{\"defaultMode\":420,\"secretName\":\"s-ic-sat\"}");
    assert_at(pod, "/spec/volumes/2/downwardAPI/items/1/path", "\"podgangname\"");
    grove_doc_unref(pod);
    expand_free(e);
}

/* Set, group, clique; at each level what all share first; filters by clique or group name. */
static void pod_claims(void **state) {
    (void)state;
    expanded *e = expand_new(POD_SET, NULL);
    grove_doc *pod = pod_of(e, "s-0-g-0-w", 1);
    static const char claims[] =
        "[{\"name\":\"s-all-all\"},{\"name\":\"s-all-shown\"},{\"name\":\"s-0-each\"},"
        "{\"name\":\"s-0-g-all-all\"},{\"name\":\"s-0-g-0-w-1-each\"}]";
    assert_at(pod, "/spec/containers/1/resources/claims", claims);
    assert_at(pod, "/spec/initContainers/0/resources/claims", claims);
    assert_at(pod, "/spec/containers/0/resources/limits", "{\"cpu\":1}");
    assert_at(pod, "/spec/resourceClaims/3",
              "{\"name\":\"s-0-g-all-all\",\"resourceClaimName\":\"s-0-g-all-all\"}");
    grove_doc_unref(pod);
    grove_doc *claim = body_of(e, GV_KIND_RESOURCECLAIM, "s-0-g-0-w-1-each");
    assert_at(claim, "/metadata/labels/grove.io~1podclique-pod-index", "\"1\"");
    assert_at(claim, "/metadata/ownerReferences/0/kind", "\"PodClique\"");
    assert_at(claim, "/metadata/labels/app.kubernetes.io~1name", "null");
    grove_doc_unref(claim);
    expand_free(e);
}

/* A pod is made from its PodClique as it lives, also when the template has moved on. */
static void pod_of_an_older_podclique(void **state) {
    (void)state;
    expanded *e = expand_new(POD_SET, NULL);
    static const char old[] =
        "{\"metadata\":{\"name\":\"s-0-g-0-w\",\"labels\":{\"grove.io/podgang\":\"s-0\","
        "\"grove.io/pod-template-hash\":\"old\"}},\"spec\":{\"podSpec\":{\"containers\":[{"
        "\"name\":\"c\",\"image\":\"old\"}]}}}";
    grove_doc *pclq = NULL, *pod = NULL;
    grove_builder *b = NULL;
    assert_int_equal(grove_doc_parse_json(e->env, old, strlen(old), 0, &pclq, NULL), 0);
    assert_int_equal(grove_builder_new(e->env, &b), 0);
    gv_pod_args args = {.clique = gv_want_find_clique(e->w, GV_STR("s-0-g-0-w")),
                        .name = GV_STR("p"),
                        .pclq_doc = pclq,
                        .pclq = grove_doc_root(pclq)};
    assert_int_equal(gv_pod_build(e->w, &args, b, NULL), 0);
    assert_int_equal(grove_builder_finish(b, &pod, NULL), 0);
    assert_at(pod, "/spec/containers/0/image", "\"old\"");
    assert_at(pod, "/metadata/labels/grove.io~1pod-template-hash", "\"old\"");
    assert_at(pod, "/spec/initContainers", "null"); /* it waits as its PodClique says */
    assert_at(pod, "/spec/schedulingGates", "null");
    grove_builder_free(b);
    grove_doc_unref(pclq);
    grove_doc_unref(pod);
    expand_free(e);
}

/* ---- MNNVL ---- */

#define GPU "podSpec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}"

static void mnnvl_layers(void **state) {
    (void)state;
    expanded *e = expand_new(
        "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\n"
        "metadata: {name: s, namespace: ns, annotations: {grove.io/mnnvl-group: set}}\n"
        "spec: {replicas: 1, template: {cliques: ["
        "{name: plain, spec: {replicas: 1, " GPU "}}, "
        "{name: own, annotations: {grove.io/mnnvl-group: own}, spec: {replicas: 1, " GPU "}}, "
        "{name: out, annotations: {grove.io/mnnvl-group: none}, spec: {replicas: 1, " GPU "}}, "
        "{name: cpu, spec: {replicas: 1, podSpec: {containers: [{name: c, image: i, resources: "
        "{limits: {nvidia.com/gpu: 0}}}]}}}, "
        "{name: in, spec: {replicas: 1, " GPU
        "}}], podCliqueScalingGroups: [{name: g, cliqueNames: "
        "[in], replicas: 1, minAvailable: 1, annotations: {grove.io/mnnvl-group: group}}]}}",
        "{kind: OperatorConfiguration, apiVersion: operator.config.grove.io/v1alpha1, network: "
        "{autoMNNVLEnabled: true}}");
    static const struct {
        const char *clique, *claim;
    } cases[] = {{"s-0-plain", "\"s-0-set\""},
                 {"s-0-own", "\"s-0-own\""},
                 {"s-0-out", "null"},
                 {"s-0-cpu", "null"},
                 {"s-0-g-0-in", "\"s-0-group\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grove_doc *doc = body_of(e, GV_KIND_PODCLIQUE, cases[i].clique);
        assert_at(doc, "/spec/podSpec/resourceClaims/0/resourceClaimTemplateName", cases[i].claim);
        assert_at(doc, "/spec/podSpec/containers/0/resources/claims",
                  strcmp(cases[i].claim, "null") == 0 ? "null" : "[{\"name\":\"mnnvl-claim\"}]");
        grove_doc_unref(doc);
    }
    grove_doc *doc = body_of(e, GV_KIND_COMPUTEDOMAIN, "s-0-group");
    assert_at(doc, "/metadata/finalizers", "[\"grove.io/computedomain-finalizer\"]");
    grove_doc_unref(doc);
    doc = body_of(e, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g");
    assert_at(doc, "/metadata/annotations", "{\"grove.io/mnnvl-group\":\"group\"}");
    grove_doc_unref(doc);
    assert_int_equal(gv_want_find_object(e->w, GV_KIND_COMPUTEDOMAIN, GV_STR("s-0-none")),
                     GV_NOT_WANTED);
    expand_free(e);
}

/* A claim of that name on the pod: the user has seen to it. On one container only: the others get it. */
static void mnnvl_claims_of_the_user(void **state) {
    (void)state;
    expanded *e = expand_new(
        "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\n"
        "metadata: {name: s, namespace: ns, annotations: {grove.io/mnnvl-group: set}}\n"
        "spec: {replicas: 1, template: {cliques: ["
        "{name: a, spec: {replicas: 1, podSpec: {resourceClaims: [{name: mnnvl-claim, "
        "resourceClaimName: mine}], containers: [{name: c, image: i, resources: {limits: "
        "{nvidia.com/gpu: 1}}}]}}}, "
        "{name: b, spec: {replicas: 1, podSpec: {resourceClaims: [{name: other, resourceClaimName: "
        "o}], containers: [{name: c, image: i, resources: {claims: [{name: mnnvl-claim}], limits: "
        "{nvidia.com/gpu: 1}}}, {name: d, image: i, resources: {claims: [{name: other}], requests: "
        "{nvidia.com/gpu: 1}}}, {name: e, image: i}]}}}]}}",
        NULL);
    grove_doc *doc = body_of(e, GV_KIND_PODCLIQUE, "s-0-a");
    assert_at(doc, "/spec/podSpec/resourceClaims",
              "[{\"name\":\"mnnvl-claim\",\"resourceClaimName\":\"mine\"}]");
    assert_at(doc, "/spec/podSpec/containers/0/resources/claims", "null");
    grove_doc_unref(doc);
    doc = body_of(e, GV_KIND_PODCLIQUE, "s-0-b");
    assert_at(doc, "/spec/podSpec/resourceClaims",
              "[{\"name\":\"other\",\"resourceClaimName\":\"o\"},{\"name\":\"mnnvl-claim\","
              "\"resourceClaimTemplateName\":\"s-0-set\"}]");
    assert_at(doc, "/spec/podSpec/containers/0/resources/claims", "[{\"name\":\"mnnvl-claim\"}]");
    assert_at(doc, "/spec/podSpec/containers/1/resources/claims",
              "[{\"name\":\"other\"},{\"name\":\"mnnvl-claim\"}]");
    assert_at(doc, "/spec/podSpec/containers/2/resources", "null");
    grove_doc_unref(doc);
    expand_free(e);
}

/* ---- gangs and their schedulers ---- */

static const char BINDING[] =
    "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n"
    "scheduler: {profiles: [{name: kai-scheduler}, {name: volcano}, {name: lpx-scheduler}]}\n"
    "topologyAwareScheduling: {enabled: true}\n"
    "---\n"
    "apiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: t}\n"
    "spec: {levels: [{domain: zone, key: k/zone}, {domain: rack, key: k/rack}, {domain: host, key: "
    "k/host}]}\n";

#define ENCODER(scheduler)                                                                       \
    HEAD "spec: {replicas: 1, template: {priorityClassName: high, topologyConstraint: "          \
         "{topologyName: t, pack: {required: zone, preferred: nowhere}}, cliques: ["             \
         "{name: encoder, labels: {kai.scheduler/queue: team-a}, topologyConstraint: {pack: "    \
         "{required: host}}, spec: {replicas: 2, minAvailable: 2, podSpec: "                     \
         "{schedulerName: " scheduler                                                            \
         ", containers: []}}}, {name: decoder, spec: {replicas: 3, minAvailable: 3, "            \
         "podSpec: {schedulerName: " scheduler ", containers: []}}}], podCliqueScalingGroups: "  \
         "[{name: g, cliqueNames: [decoder], replicas: 1, minAvailable: 1, topologyConstraint: " \
         "{pack: {preferred: rack}}}]}}"

static void kai_podgroup(void **state) {
    (void)state;
    expanded *e = expand_new(ENCODER("kai-scheduler"), BINDING);
    grove_doc *doc = body_of(e, GV_KIND_KAI_PODGROUP, "s-0");
    assert_at(doc, "/metadata/ownerReferences/0/kind", "\"PodGang\"");
    assert_at(doc, "/metadata/annotations",
              "{\"grove.io/topology-name\":\"t\",\"kai.scheduler/skip-podgrouper\":\"true\"}");
    assert_at(doc, "/spec",
              "{\"minMember\":5,\"priorityClassName\":\"high\",\"queue\":\"team-a\",\"subGroups\":["
              "{\"minSubGroup\":1,\"name\":\"s-0-g-0\",\"topologyConstraint\":{"
              "\"preferredTopologyLevel\":\"k/rack\",\"topology\":\"t\"}},"
              "{\"minMember\":2,\"name\":\"s-0-encoder\",\"topologyConstraint\":{"
              "\"requiredTopologyLevel\":\"k/host\",\"topology\":\"t\"}},"
              "{\"minMember\":3,\"name\":\"s-0-g-0-decoder\",\"parent\":\"s-0-g-0\"}],"
              "\"topologyConstraint\":{\"requiredTopologyLevel\":\"k/zone\",\"topology\":\"t\"}}");
    grove_doc_unref(doc);
    doc = pod_of(e, "s-0-encoder", 0);
    assert_at(doc, "/metadata/labels/kai.scheduler~1subgroup-name", "\"s-0-encoder\"");
    assert_at(doc, "/metadata/annotations/pod-group-name", "\"s-0\"");
    grove_doc_unref(doc);
    expand_free(e);
}

static void kai_topology(void **state) {
    (void)state;
    expanded *e = expand_new(ENCODER("kai-scheduler"), BINDING);
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    const gv_adapter *kai = gv_adapter_find(GV_STR("kai-scheduler"), false);
    assert_int_equal(grove_builder_new(e->env, &b), 0);
    kai->build_topology(gv_config_binding(e->config, GV_STR("t"))->object, GV_STR("u"), b);
    assert_int_equal(grove_builder_finish(b, &doc, NULL), 0);
    assert_at(doc, "",
              "{\"apiVersion\":\"kai.scheduler/v1alpha1\",\"kind\":\"Topology\",\"metadata\":{"
              "\"name\":\"t\",\"ownerReferences\":[{\"apiVersion\":\"grove.io/v1alpha1\","
              "\"blockOwnerDeletion\":true,\"controller\":true,\"kind\":"
              "\"ClusterTopologyBinding\",\"name\":\"t\",\"uid\":\"u\"}]},\"spec\":{"
              "\"levels\":[{\"nodeLabel\":\"k/zone\"},{\"nodeLabel\":\"k/rack\"},{"
              "\"nodeLabel\":\"k/host\"}]}}");
    grove_builder_free(b);
    grove_doc_unref(doc);
    expand_free(e);
}

static void kai_without_one_queue(void **state) {
    static const char *const queues[] = {"", "labels: {kai.scheduler/queue: a}, ",
                                         "labels: {kai.scheduler/queue: b}, "};
    static const struct {
        int first, second;
        uint32_t problems;
    } cases[] = {{0, 0, 1}, {1, 0, 0}, {0, 2, 0}, {1, 1, 0}, {1, 2, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        gv_fmt(text, sizeof text,
               HEAD "spec: {replicas: 1, template: {cliques: [{name: a, %sspec: {replicas: 1, "
                    "podSpec: {schedulerName: kai-scheduler, containers: []}}}, {name: b, %sspec: "
                    "{replicas: 1, podSpec: {containers: []}}}]}}",
               queues[cases[i].first], queues[cases[i].second]);
        expanded *e = expand_new(text, BINDING);
        assert_int_equal(e->w->n_problems, cases[i].problems);
        assert_int_equal(gv_want_find_object(e->w, GV_KIND_KAI_PODGROUP, GV_STR("s-0")) ==
                             GV_NOT_WANTED,
                         cases[i].problems);
        expand_free(e);
    }
}

static void volcano_podgroup(void **state) {
    (void)state;
    expanded *e = expand_new(ENCODER("volcano"), BINDING);
    grove_doc *doc = body_of(e, GV_KIND_VOLCANO_PODGROUP, "s-0");
    assert_at(doc, "/spec/minMember", "5");
    assert_at(doc, "/spec/queue", "\"default\"");
    assert_at(doc, "/spec/priorityClassName", "\"high\"");
    assert_at(doc, "/spec/subGroupPolicy/2", "null");
    assert_at(doc, "/spec/subGroupPolicy/1/subGroupSize", "3");
    assert_at(doc, "/spec/subGroupPolicy/0",
              "{\"labelSelector\":{\"matchLabels\":{\"grove.io/podclique\":\"s-0-encoder\"}},"
              "\"matchLabelKeys\":[\"grove.io/podclique\"],\"minSubGroups\":1,\"name\":"
              "\"s-0-encoder\",\"subGroupSize\":2}");
    grove_doc_unref(doc);
    doc = pod_of(e, "s-0-encoder", 0);
    assert_at(doc, "/metadata/annotations",
              "{\"scheduling.k8s.io/group-name\":\"s-0\",\"scheduling.volcano.sh/group-name\":"
              "\"s-0\"}");
    grove_doc_unref(doc);
    expand_free(e);
}

static void gang_topology(void **state) {
    (void)state;
    expanded *e = expand_new(ENCODER("lpx-scheduler"), BINDING);
    grove_doc *doc = body_of(e, GV_KIND_PODGANG, "s-0");
    assert_at(doc, "/metadata/labels/grove.io~1scheduler-name", "\"lpx-scheduler\"");
    assert_at(doc, "/spec/topologyConstraint", "{\"packConstraint\":{\"required\":\"k/zone\"}}");
    assert_at(doc, "/spec/topologyConstraintGroupConfigs",
              "[{\"name\":\"s-0-g-0\",\"podGroupNames\":[\"s-0-g-0-decoder\"],"
              "\"topologyConstraint\":{\"packConstraint\":{\"preferred\":\"k/rack\"}}}]");
    assert_int_equal(gv_want_find_object(e->w, GV_KIND_KAI_PODGROUP, GV_STR("s-0")), GV_NOT_WANTED);
    grove_doc_unref(doc);
    expand_free(e);
    /* topology off, or a binding that is not there: nothing of it is left */
    static const char off[] =
        "kind: OperatorConfiguration\napiVersion: operator.config.grove.io/v1alpha1\n"
        "scheduler: {profiles: [{name: lpx-scheduler}]}\n---\n"
        "apiVersion: grove.io/v1alpha1\nkind: ClusterTopologyBinding\nmetadata: {name: t}\n"
        "spec: {levels: [{domain: zone, key: k/zone}]}\n";
    e = expand_new(ENCODER("lpx-scheduler"), off);
    doc = body_of(e, GV_KIND_PODGANG, "s-0");
    assert_at(doc, "/spec/topologyConstraint", "null");
    assert_at(doc, "/spec/topologyConstraintGroupConfigs", "null");
    assert_at(doc, "/metadata/annotations", "null");
    grove_doc_unref(doc);
    expand_free(e);
}

/* A domain that no level has is nothing to pack by; the gang then names no topology either. */
static void unknown_domain(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD
        "spec: {replicas: 1, template: {topologyConstraint: {topologyName: t, pack: {required: "
        "nowhere}}, cliques: [{name: a, spec: {replicas: 1, podSpec: {containers: []}}}]}}",
        BINDING);
    grove_doc *doc = body_of(e, GV_KIND_PODGANG, "s-0");
    assert_at(doc, "/spec/topologyConstraint", "null");
    assert_at(doc, "/metadata/annotations", "null");
    grove_doc_unref(doc);
    expand_free(e);
}

static void volcano_queues(void **state) {
    static const struct {
        const char *set, *clique, *queue;
    } cases[] = {{"", "", "\"default\""},
                 {"scheduling.grove.io/volcano-queue: ' a '", "", "\"a\""},
                 {"", "scheduling.grove.io/volcano-queue: b", "\"b\""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        gv_fmt(
            text, sizeof text,
            "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, annotations: "
            "{%s}}\nspec: {replicas: 1, template: {cliques: [{name: a, annotations: {%s}, spec: "
            "{replicas: 1, podSpec: {schedulerName: volcano, containers: []}}}]}}",
            cases[i].set, cases[i].clique);
        expanded *e = expand_new(text, BINDING);
        grove_doc *doc = body_of(e, GV_KIND_VOLCANO_PODGROUP, "s-0");
        assert_at(doc, "/spec/queue", cases[i].queue);
        grove_doc_unref(doc);
        expand_free(e);
    }
}

static void capabilities(void **state) {
    static const struct {
        const char *name;
        bool gang_scheduling;
        uint32_t caps;
    } cases[] = {
        {"default-scheduler", false, 0},
        {"default-scheduler", true, GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY | GV_ADAPTER_RELEASER},
        {"kai-scheduler", false, GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY},
        {"volcano", false, GV_ADAPTER_GANG},
        {"lpx-scheduler", false, 0},
        {"grove-scheduler", false, GV_ADAPTER_GANG | GV_ADAPTER_TOPOLOGY | GV_ADAPTER_BINDER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gv_adapter *a = gv_adapter_find(gv_str_c(cases[i].name), cases[i].gang_scheduling);
        assert_non_null(a);
        assert_int_equal(a->caps, cases[i].caps);
    }
    assert_null(gv_adapter_find(GV_STR("nobody"), false));
}

/* ---- mirroring ---- */

static void gang_mirrors_foreign_keys_only(void **state) {
    (void)state;
    expanded *e = expand_new(
        "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\n"
        "metadata: {name: s, labels: {team: a, grove.io/own: x}, annotations: {q: b, "
        "grove.io/reconcile-trigger: z}}\n"
        "spec: {replicas: 1, template: {headlessServiceConfig: {publishNotReadyAddresses: false}, "
        "cliques: [{name: a, spec: {replicas: 1, podSpec: {containers: [{name: c}]}}}]}}",
        NULL);
    grove_doc *doc = body_of(e, GV_KIND_PODGANG, "s-0");
    assert_at(doc, "/metadata/namespace", "\"default\"");
    assert_at(doc, "/metadata/labels",
              "{\"app.kubernetes.io/component\":\"podgang\",\"app.kubernetes.io/managed-by\":"
              "\"grove-operator\",\"app.kubernetes.io/part-of\":\"s\",\"grove.io/scheduler-name\":"
              "\"default-scheduler\",\"team\":\"a\"}");
    assert_at(doc, "/metadata/annotations", "{\"q\":\"b\"}");
    grove_doc_unref(doc);
    doc = body_of(e, GV_KIND_SERVICE, "s-0");
    assert_at(doc, "/spec/publishNotReadyAddresses", "null");
    grove_doc_unref(doc);
    doc = body_of(e, GV_KIND_PODCLIQUE, "s-0-a");
    assert_at(doc, "/spec/podSpec", "{\"containers\":[{\"name\":\"c\"}]}");
    grove_doc_unref(doc);
    expand_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pod_metadata),
        cmocka_unit_test(pod_edits),
        cmocka_unit_test(pod_claims),
        cmocka_unit_test(pod_of_an_older_podclique),
        cmocka_unit_test(mnnvl_layers),
        cmocka_unit_test(mnnvl_claims_of_the_user),
        cmocka_unit_test(kai_podgroup),
        cmocka_unit_test(kai_topology),
        cmocka_unit_test(kai_without_one_queue),
        cmocka_unit_test(volcano_podgroup),
        cmocka_unit_test(gang_topology),
        cmocka_unit_test(capabilities),
        cmocka_unit_test(unknown_domain),
        cmocka_unit_test(volcano_queues),
        cmocka_unit_test(gang_mirrors_foreign_keys_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
