/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds and the ways to find a row of it. */
#include "model/kinds.h"

#define GROVE_GROUP "grove.io"
#define SCHEDULER_GROUP "scheduler.grove.io"

/* Row i describes gv_kind i; row 0 stays empty. */
static const gv_kind_info kinds[GV_KIND_COUNT] = {
    [GV_KIND_PODCLIQUESET] = {GV_KIND_PODCLIQUESET, GROVE_GROUP, "v1alpha1", "PodCliqueSet",
                              "podcliquesets", "podcliqueset", "pcs", true, true, true, true},
    [GV_KIND_PODCLIQUE] = {GV_KIND_PODCLIQUE, GROVE_GROUP, "v1alpha1", "PodClique", "podcliques",
                           "podclique", "pclq", true, true, true, true},
    [GV_KIND_PODCLIQUESCALINGGROUP] = {GV_KIND_PODCLIQUESCALINGGROUP, GROVE_GROUP, "v1alpha1",
                                       "PodCliqueScalingGroup", "podcliquescalinggroups",
                                       "podcliquescalinggroup", "pcsg", true, true, true, true},
    [GV_KIND_CLUSTERTOPOLOGYBINDING] = {GV_KIND_CLUSTERTOPOLOGYBINDING, GROVE_GROUP, "v1alpha1",
                                        "ClusterTopologyBinding", "clustertopologybindings",
                                        "clustertopologybinding", "ct", false, true, false, true},
    [GV_KIND_PODGANG] = {GV_KIND_PODGANG, SCHEDULER_GROUP, "v1alpha1", "PodGang", "podgangs",
                         "podgang", "pg", true, true, false, true},
    [GV_KIND_POD] = {GV_KIND_POD, "", "v1", "Pod", "pods", "pod", "po", true, true, false, false},
    [GV_KIND_NODE] = {GV_KIND_NODE, "", "v1", "Node", "nodes", "node", "no", false, true, false,
                      false},
    [GV_KIND_SERVICE] = {GV_KIND_SERVICE, "", "v1", "Service", "services", "service", "svc", true,
                         true, false, false},
    [GV_KIND_SERVICEACCOUNT] = {GV_KIND_SERVICEACCOUNT, "", "v1", "ServiceAccount",
                                "serviceaccounts", "serviceaccount", "sa", true, false, false,
                                false},
    [GV_KIND_SECRET] = {GV_KIND_SECRET, "", "v1", "Secret", "secrets", "secret", "", true, false,
                        false, false},
    [GV_KIND_ROLE] = {GV_KIND_ROLE, "rbac.authorization.k8s.io", "v1", "Role", "roles", "role", "",
                      true, false, false, false},
    [GV_KIND_ROLEBINDING] = {GV_KIND_ROLEBINDING, "rbac.authorization.k8s.io", "v1", "RoleBinding",
                             "rolebindings", "rolebinding", "", true, false, false, false},
    [GV_KIND_HPA] = {GV_KIND_HPA, "autoscaling", "v2", "HorizontalPodAutoscaler",
                     "horizontalpodautoscalers", "horizontalpodautoscaler", "hpa", true, true,
                     false, false},
    [GV_KIND_RESOURCECLAIM] = {GV_KIND_RESOURCECLAIM, "resource.k8s.io", "v1", "ResourceClaim",
                               "resourceclaims", "resourceclaim", "", true, true, false, false},
    [GV_KIND_RESOURCECLAIMTEMPLATE] = {GV_KIND_RESOURCECLAIMTEMPLATE, "resource.k8s.io", "v1",
                                       "ResourceClaimTemplate", "resourceclaimtemplates",
                                       "resourceclaimtemplate", "", true, false, false, false},
    [GV_KIND_COMPUTEDOMAIN] = {GV_KIND_COMPUTEDOMAIN, "resource.nvidia.com", "v1beta1",
                               "ComputeDomain", "computedomains", "computedomain", "", true, true,
                               false, true},
    [GV_KIND_KAI_PODGROUP] = {GV_KIND_KAI_PODGROUP, "scheduling.run.ai", "v2alpha2", "PodGroup",
                              "podgroups", "podgroup", "", true, true, false, true},
    [GV_KIND_KAI_TOPOLOGY] = {GV_KIND_KAI_TOPOLOGY, "kai.scheduler", "v1alpha1", "Topology",
                              "topologies", "topology", "", false, false, false, true},
    [GV_KIND_VOLCANO_PODGROUP] = {GV_KIND_VOLCANO_PODGROUP, "scheduling.volcano.sh", "v1beta1",
                                  "PodGroup", "podgroups", "podgroup", "vcpg", true, true, false,
                                  true},
    [GV_KIND_VOLCANO_QUEUE] = {GV_KIND_VOLCANO_QUEUE, "scheduling.volcano.sh", "v1beta1", "Queue",
                               "queues", "queue", "q", false, true, false, true},
    [GV_KIND_PRIORITYCLASS] = {GV_KIND_PRIORITYCLASS, "scheduling.k8s.io", "v1", "PriorityClass",
                               "priorityclasses", "priorityclass", "pc", false, false, false,
                               false},
    [GV_KIND_EVENT] = {GV_KIND_EVENT, "", "v1", "Event", "events", "event", "ev", true, false,
                       false, false},
    [GV_KIND_PDB] = {GV_KIND_PDB, "policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets",
                     "poddisruptionbudget", "pdb", true, true, false, false},
    [GV_KIND_NAMESPACE] = {GV_KIND_NAMESPACE, "", "v1", "Namespace", "namespaces", "namespace",
                           "ns", false, true, false, false},
    [GV_KIND_LEASE] = {GV_KIND_LEASE, "coordination.k8s.io", "v1", "Lease", "leases", "lease", "",
                       true, false, false, false},
    [GV_KIND_CONFIGMAP] = {GV_KIND_CONFIGMAP, "", "v1", "ConfigMap", "configmaps", "configmap",
                           "cm", true, false, false, false},
    [GV_KIND_CRD] = {GV_KIND_CRD, "apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                     "customresourcedefinitions", "customresourcedefinition", "crd", false, true,
                     false, false},
    [GV_KIND_MUTATING_WEBHOOK] = {GV_KIND_MUTATING_WEBHOOK, "admissionregistration.k8s.io", "v1",
                                  "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
                                  "mutatingwebhookconfiguration", "", false, false, false, false},
    [GV_KIND_VALIDATING_WEBHOOK] = {GV_KIND_VALIDATING_WEBHOOK, "admissionregistration.k8s.io",
                                    "v1", "ValidatingWebhookConfiguration",
                                    "validatingwebhookconfigurations",
                                    "validatingwebhookconfiguration", "", false, false, false,
                                    false},
    [GV_KIND_CONTROLLERREVISION] = {GV_KIND_CONTROLLERREVISION, "apps", "v1", "ControllerRevision",
                                    "controllerrevisions", "controllerrevision", "", true, false,
                                    false, false},
};

const gv_kind_info *gv_kind_get(gv_kind kind) {
    return kind > GV_KIND_NONE && kind < GV_KIND_COUNT ? &kinds[kind] : NULL;
}

static bool api_version_is(const gv_kind_info *info, gv_str api_version) {
    gv_str group = gv_str_c(info->group);
    if (group.n == 0) {
        return gv_str_is(api_version, info->version);
    }
    gv_str version = gv_str_c(info->version);
    return api_version.n == group.n + 1 + version.n &&
           memcmp(api_version.p, group.p, group.n) == 0 && api_version.p[group.n] == '/' &&
           memcmp(api_version.p + group.n + 1, version.p, version.n) == 0;
}

gv_kind gv_kind_find(gv_str api_version, gv_str kind) {
    for (int i = 1; i < GV_KIND_COUNT; i++) {
        if (gv_str_is(kind, kinds[i].name) && api_version_is(&kinds[i], api_version)) {
            return kinds[i].kind;
        }
    }
    return GV_KIND_NONE;
}

static gv_str text_of(const grove_node *node) {
    gv_str s = {"", 0};
    if (grove_node_type(node) == GROVE_STRING) {
        s.p = grove_node_textn(node, &s.n);
    }
    return s;
}

gv_kind gv_kind_of(const grove_node *object) {
    return gv_kind_find(text_of(grove_node_get(object, "apiVersion")),
                        text_of(grove_node_get(object, "kind")));
}

static bool equal_fold(gv_str a, const char *b) {
    if (a.n != strlen(b)) {
        return false;
    }
    for (size_t i = 0; i < a.n; i++) {
        char x = a.p[i], y = b[i];
        x = x >= 'A' && x <= 'Z' ? (char)(x + 32) : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y + 32) : y;
        if (x != y) {
            return false;
        }
    }
    return true;
}

gv_kind gv_kind_by_word(gv_str word) {
    if (word.n == 0) {
        return GV_KIND_NONE;
    }
    /* "podgroups.scheduling.run.ai": a resource with its group, where two kinds share a plural */
    const char *dot = memchr(word.p, '.', word.n);
    gv_str resource = {word.p, dot ? (size_t)(dot - word.p) : word.n};
    gv_str group = dot ? (gv_str){dot + 1, word.n - resource.n - 1} : (gv_str){NULL, 0};
    for (int i = 1; i < GV_KIND_COUNT; i++) {
        const gv_kind_info *k = &kinds[i];
        bool named = equal_fold(resource, k->plural) || equal_fold(resource, k->singular) ||
                     equal_fold(resource, k->short_names);
        if (named && (!dot || equal_fold(group, k->group))) {
            return k->kind;
        }
    }
    return GV_KIND_NONE;
}

const char *gv_kind_api_version(gv_kind kind, char *out, size_t cap) {
    const gv_kind_info *info = gv_kind_get(kind);
    if (!info) {
        gv_fmt(out, cap, "%s", "");
    } else if (info->group[0] == '\0') {
        gv_fmt(out, cap, "%s", info->version);
    } else {
        gv_fmt(out, cap, "%s/%s", info->group, info->version);
    }
    return out;
}
