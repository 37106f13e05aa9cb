/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of pods, nodes, namespaces and services: those of single fields are model/served's, here is
 * what depends on the cluster or is made of several fields. */
#include "sim/defaults.h"

#include "model/served.h"
#include "sim/condition.h"
#include "sim/meta.h"

/* A builder with the document that its links point into. */
typedef struct draft {
    grove_sim *sim;
    grove_builder *b;
    grove_doc *doc;
} draft;

static void keep(draft *d, const char *key, const grove_node *node) {
    grove_builder_link(d->b, key, d->doc, node);
}

/* Members of `object` except those of the NULL-ended list. */
static void keep_members(draft *d, const grove_node *object, const char *const *except) {
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        const char *key = grove_node_key(m, NULL);
        bool skip = false;
        for (size_t i = 0; except && except[i]; i++) {
            skip = skip || strcmp(except[i], key) == 0;
        }
        if (!skip) {
            keep(d, key, m);
        }
    }
}

static void text_default(draft *d, const grove_node *object, const char *key, const char *text) {
    if (!grove_node_get(object, key)) {
        grove_builder_string(d->b, key, text);
    }
}

/* ---- pods ---- */

/* A limit without a request is a request too. */
static void container_resources(draft *d, const grove_node *resources) {
    static const char *const except[] = {"requests", NULL};
    const grove_node *limits = grove_node_get(resources, "limits");
    const grove_node *requests = grove_node_get(resources, "requests");
    grove_builder_open_object(d->b, "resources");
    keep_members(d, resources, except);
    grove_builder_open_object(d->b, "requests");
    keep_members(d, requests, NULL);
    for (const grove_node *l = grove_node_first(limits); l; l = grove_node_next(limits, l)) {
        if (!grove_node_get(requests, grove_node_key(l, NULL))) {
            keep(d, grove_node_key(l, NULL), l);
        }
    }
    grove_builder_close(d->b);
    grove_builder_close(d->b);
}

static void containers(draft *d, const grove_node *spec, const char *key) {
    static const char *const except[] = {"resources", NULL};
    const grove_node *list = grove_node_get(spec, key);
    if (!list) {
        return;
    }
    grove_builder_open_array(d->b, key);
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        const grove_node *resources = grove_node_get(c, "resources");
        if (grove_node_type(c) != GROVE_OBJECT || !grove_node_get(resources, "limits")) {
            keep(d, NULL, c);
            continue;
        }
        grove_builder_open_object(d->b, NULL);
        keep_members(d, c, except);
        container_resources(d, resources);
        grove_builder_close(d->b);
    }
    grove_builder_close(d->b);
}

static bool tolerates(const grove_node *list, const char *taint) {
    for (const grove_node *t = grove_node_first(list); t; t = grove_node_next(list, t)) {
        gv_str key = gv_node_get_str(t, "key"), effect = gv_node_get_str(t, "effect");
        if ((key.n == 0 || gv_str_is(key, taint)) &&
            (effect.n == 0 || gv_str_is(effect, "NoExecute"))) {
            return true;
        }
    }
    return false;
}

/* Pods stay five minutes on a node that is not ready or not reachable. */
static void tolerations(draft *d, const grove_node *spec) {
    static const char *const taints[] = {"node.kubernetes.io/not-ready",
                                         "node.kubernetes.io/unreachable"};
    const grove_node *list = grove_node_get(spec, "tolerations");
    grove_builder_open_array(d->b, "tolerations");
    for (const grove_node *t = grove_node_first(list); t; t = grove_node_next(list, t)) {
        keep(d, NULL, t);
    }
    for (size_t i = 0; i < 2; i++) {
        if (!tolerates(list, taints[i])) {
            grove_builder_open_object(d->b, NULL);
            grove_builder_string(d->b, "key", taints[i]);
            grove_builder_string(d->b, "operator", "Exists");
            grove_builder_string(d->b, "effect", "NoExecute");
            grove_builder_int64(d->b, "tolerationSeconds", 300);
            grove_builder_close(d->b);
        }
    }
    grove_builder_close(d->b);
}

static void pod_priority(draft *d, const grove_node *spec) {
    if (grove_node_get(spec, "priority")) {
        return;
    }
    int64_t value = 0;
    gv_sim_object *o = gv_sim_find(d->sim, GV_KIND_PRIORITYCLASS, (gv_str){"", 0},
                                   gv_node_get_str(spec, "priorityClassName"));
    if (o && grove_node_int64(grove_node_get(gv_sim_root(o), "value"), &value) < 0) {
        value = 0;
    }
    grove_builder_int64(d->b, "priority", value);
}

static void pod_spec(draft *d, const grove_node *spec) {
    static const char *const except[] = {"containers", "initContainers", "tolerations", NULL};
    grove_builder_open_object(d->b, "spec");
    keep_members(d, spec, except);
    containers(d, spec, "initContainers");
    containers(d, spec, "containers");
    text_default(d, spec, "restartPolicy", "Always");
    text_default(d, spec, "dnsPolicy", "ClusterFirst");
    text_default(d, spec, "schedulerName", "default-scheduler");
    if (!grove_node_get(spec, "terminationGracePeriodSeconds")) {
        grove_builder_int64(d->b, "terminationGracePeriodSeconds", 30);
    }
    if (!grove_node_get(spec, "securityContext")) {
        grove_builder_open_object(d->b, "securityContext");
        grove_builder_close(d->b);
    }
    tolerations(d, spec);
    pod_priority(d, spec);
    grove_builder_close(d->b);
}

static bool is_guaranteed(const grove_node *resources) {
    static const char *const both[] = {"cpu", "memory"};
    const grove_node *limits = grove_node_get(resources, "limits");
    const grove_node *requests = grove_node_get(resources, "requests");
    for (size_t i = 0; i < 2; i++) {
        const grove_node *l = grove_node_get(limits, both[i]);
        const grove_node *r = grove_node_get(requests, both[i]);
        if (!l || (r && !grove_node_equal(l, r))) {
            return false;
        }
    }
    return true;
}

static const char *qos_class(const grove_node *spec) {
    static const char *const lists[] = {"initContainers", "containers"};
    bool any = false, guaranteed = true;
    for (size_t i = 0; i < 2; i++) {
        const grove_node *list = grove_node_get(spec, lists[i]);
        for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            const grove_node *r = grove_node_get(c, "resources");
            any = any || grove_node_size(grove_node_get(r, "limits")) > 0 ||
                  grove_node_size(grove_node_get(r, "requests")) > 0;
            guaranteed = guaranteed && is_guaranteed(r);
        }
    }
    return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

static void pod_status(draft *d, const grove_node *spec) {
    grove_builder_open_object(d->b, "status");
    grove_builder_string(d->b, "phase", "Pending");
    if (grove_node_size(grove_node_get(spec, "schedulingGates")) > 0) {
        gv_sim_new_condition gated = {"PodScheduled", "False", "SchedulingGated",
                                      "Scheduling is blocked due to non-empty scheduling gates"};
        gv_sim_build_conditions(d->sim, d->b, NULL, &gated, 1);
    }
    grove_builder_string(d->b, "qosClass", qos_class(spec));
    grove_builder_close(d->b);
}

static void pod(draft *d, const grove_node *body) {
    static const char *const except[] = {"spec", "status", NULL};
    const grove_node *spec = grove_node_get(body, "spec");
    keep_members(d, body, except);
    pod_spec(d, spec);
    pod_status(d, spec);
}

/* ---- nodes, namespaces, services ---- */

static void node(draft *d, const grove_node *body) {
    static const char *const except[] = {"status", NULL}, *const parts[] = {"conditions", NULL};
    const grove_node *status = grove_node_get(body, "status");
    keep_members(d, body, except);
    grove_builder_open_object(d->b, "status");
    keep_members(d, status, parts);
    if (!grove_node_get(status, "allocatable") && grove_node_get(status, "capacity")) {
        keep(d, "allocatable", grove_node_get(status, "capacity"));
    }
    gv_sim_new_condition ready = {"Ready", "True", "KubeletReady",
                                  "kubelet is posting ready status"};
    bool has = gv_sim_condition(body, "Ready") != NULL;
    gv_sim_build_conditions(d->sim, d->b, body, &ready, has ? 0 : 1);
    grove_builder_close(d->b);
}

static void namespace_object(draft *d, const grove_node *body) {
    static const char *const except[] = {"metadata", "spec", "status", NULL};
    static const char *const no_labels[] = {"labels", NULL};
    static const char name_label[] = "kubernetes.io/metadata.name";
    const grove_node *meta = grove_node_get(body, "metadata");
    keep_members(d, body, except);
    grove_builder_open_object(d->b, "metadata");
    keep_members(d, meta, no_labels);
    grove_builder_open_object(d->b, "labels");
    keep_members(d, grove_node_get(meta, "labels"), NULL);
    gv_str name = gv_node_get_str(meta, "name");
    if (!grove_node_get(grove_node_get(meta, "labels"), name_label)) {
        grove_builder_stringn(d->b, name_label, name.p, name.n);
    }
    grove_builder_close(d->b);
    grove_builder_close(d->b);
    grove_builder_open_object(d->b, "spec");
    grove_builder_open_array(d->b, "finalizers");
    grove_builder_string(d->b, NULL, "kubernetes");
    grove_builder_close(d->b);
    grove_builder_close(d->b);
    grove_builder_open_object(d->b, "status");
    grove_builder_string(d->b, "phase", "Active");
    grove_builder_close(d->b);
}

static void service(draft *d, const grove_node *body) {
    static const char *const except[] = {"spec", "status", NULL};
    const grove_node *spec = grove_node_get(body, "spec");
    keep_members(d, body, except);
    grove_builder_open_object(d->b, "spec");
    keep_members(d, spec, NULL);
    text_default(d, spec, "type", "ClusterIP");
    text_default(d, spec, "sessionAffinity", "None");
    if (!grove_node_get(spec, "clusterIP")) {
        char ip[24];
        uint64_t n = d->sim->serial + 1;
        (void)gv_fmt(ip, sizeof ip, "10.96.%u.%u", (unsigned)(n >> 8 & 0xff), (unsigned)(n & 0xff));
        grove_builder_string(d->b, "clusterIP", ip);
    }
    grove_builder_close(d->b);
    grove_builder_open_object(d->b, "status");
    grove_builder_open_object(d->b, "loadBalancer");
    grove_builder_close(d->b);
    grove_builder_close(d->b);
}

static void plain(draft *d, const grove_node *body, bool has_status) {
    static const char *const status[] = {"status", NULL};
    keep_members(d, body, has_status ? status : NULL);
}

/* The object with the defaults of its single fields. */
static grove_status fill_fields(grove_sim *sim, gv_kind kind, grove_doc *doc,
                                const grove_node *body, grove_doc **out_doc) {
    gv_served_write(sim->builder, NULL, doc, body, kind);
    return grove_builder_finish(sim->builder, out_doc, NULL);
}

static grove_status fill_object(grove_sim *sim, gv_kind kind, grove_doc *doc,
                                const grove_node *body, grove_doc **out_doc) {
    draft d = {sim, sim->builder, doc};
    grove_builder_open_object(d.b, NULL);
    switch (kind) {
    case GV_KIND_POD:
        pod(&d, body);
        break;
    case GV_KIND_NODE:
        node(&d, body);
        break;
    case GV_KIND_NAMESPACE:
        namespace_object(&d, body);
        break;
    case GV_KIND_SERVICE:
        service(&d, body);
        break;
    default:
        plain(&d, body, gv_kind_get(kind)->has_status);
        break;
    }
    grove_builder_close(d.b);
    return grove_builder_finish(d.b, out_doc, NULL);
}

grove_status gv_sim_default_new(grove_sim *sim, gv_kind kind, grove_doc *doc,
                                const grove_node *body, grove_doc **out_doc) {
    grove_doc *fields = NULL;
    grove_status st = fill_fields(sim, kind, doc, body, &fields);
    st = st < 0 ? st : fill_object(sim, kind, fields, grove_doc_root(fields), out_doc);
    grove_doc_unref(fields);
    return st;
}
