/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of pods and nodes, read from documents. Malformed fields read as absent: the server judged them. */
#include <limits.h>

#include "model/labels.h"
#include "model/records_take.h"
#include "value/scalar.h"

static gv_str text_of(const grove_node *node) {
    size_t n = 0;
    const char *p = grove_node_type(node) == GROVE_STRING ? grove_node_textn(node, &n) : NULL;
    return p != NULL ? (gv_str){p, n} : (gv_str){"", 0};
}

static gv_str text_at(const grove_node *object, const char *key) {
    return text_of(grove_node_get(object, key));
}

/* A member of the other type reads as absent. */
static const grove_node *array_at(const grove_node *object, const char *key) {
    const grove_node *n = grove_node_get(object, key);
    return grove_node_type(n) == GROVE_ARRAY ? n : NULL;
}

static const grove_node *object_at(const grove_node *object, const char *key) {
    const grove_node *n = grove_node_get(object, key);
    return grove_node_type(n) == GROVE_OBJECT ? n : NULL;
}

static int64_t int_at(const grove_node *object, const char *key, int64_t otherwise) {
    int64_t v = otherwise;
    return grove_node_int64(grove_node_get(object, key), &v) == GROVE_OK ? v : otherwise;
}

static int64_t time_at(const grove_node *object, const char *key) {
    int64_t ns = GV_TIME_NONE;
    gv_str text = text_at(object, key);
    if (text.n == 0 || gv_time_parse(text, &ns, NULL) < 0) {
        return GV_TIME_NONE;
    }
    return ns;
}

static const grove_node *controller_of(const grove_node *metadata, uint32_t *out_n) {
    const grove_node *owners = array_at(metadata, "ownerReferences");
    const grove_node *found = NULL;
    *out_n = grove_node_size(owners);
    for (const grove_node *o = grove_node_first(owners); o; o = grove_node_next(owners, o)) {
        if (found == NULL && grove_node_is_true(grove_node_get(o, "controller"))) {
            found = o;
        }
    }
    return found;
}

grove_status gv_head_read(const grove_node *object, gv_head_facts *out, grove_error *err) {
    const grove_node *metadata = grove_node_get(object, "metadata");
    const grove_node *labels = grove_node_get(metadata, "labels");
    gv_head_facts f = {.kind = gv_kind_of(object)};
    f.name = text_at(metadata, "name");
    if (f.kind == GV_KIND_NONE) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "object of a kind that is not read");
    }
    if (f.name.n == 0) {
        return gv_error(err, GROVE_E_INVALID, "object without a name");
    }
    f.ns = gv_kind_get(f.kind)->namespaced ? text_at(metadata, "namespace") : (gv_str){"", 0};
    f.uid = text_at(metadata, "uid");
    f.rv = text_at(metadata, "resourceVersion");
    f.part_of = text_at(labels, GV_LABEL_PART_OF);
    f.generation = int_at(metadata, "generation", 0);
    f.created = time_at(metadata, "creationTimestamp");
    f.deleted = time_at(metadata, "deletionTimestamp");
    const grove_node *owner = controller_of(metadata, &f.n_owners);
    f.owner_uid = text_at(owner, "uid");
    f.owner_name = text_at(owner, "name");
    f.owner_kind = gv_kind_find(text_at(owner, "apiVersion"), text_at(owner, "kind"));
    f.flags = (gv_str_is(text_at(labels, GV_LABEL_MANAGED_BY), GV_MANAGER) ? GV_HEAD_MANAGED : 0u) |
              (text_at(metadata, "deletionTimestamp").n > 0 ? GV_HEAD_TERMINATING : 0u);
    *out = f;
    return GROVE_OK;
}

/* ---- requests ---- */

static int64_t amount_of(const grove_node *quantity, gv_str resource) {
    gv_str text = {NULL, 0};
    text.p = grove_node_textn(quantity, &text.n);
    return gv_request_amount(text, resource);
}

/* Adds each request of `resources` (a limit counts where no request is given) to *list. */
static bool add_requests(grove_env *env, const grove_node *resources, gv_request_facts *list) {
    const grove_node *requests = object_at(resources, "requests");
    const grove_node *both[] = {requests, object_at(resources, "limits")};
    for (int k = 0; k < 2; k++) {
        for (const grove_node *m = grove_node_first(both[k]); m; m = grove_node_next(both[k], m)) {
            gv_str name;
            name.p = grove_node_key(m, &name.n);
            bool counted = k == 1 && grove_node_getn(requests, name.p, name.n) != NULL;
            if (!counted && !gv_request_add(env, list, name, amount_of(m, name))) {
                return false;
            }
        }
    }
    return true;
}

static bool read_init(grove_env *env, const grove_node *pod_spec, gv_request_sums *s) {
    const grove_node *list = array_at(pod_spec, "initContainers");
    bool ok = true;
    for (const grove_node *c = grove_node_first(list); ok && c; c = grove_node_next(list, c)) {
        gv_request_facts own = {0};
        bool sidecar = gv_str_is(text_at(c, "restartPolicy"), "Always");
        ok = add_requests(env, grove_node_get(c, "resources"), &own) &&
             gv_requests_init(env, s, &own, sidecar);
        gv_vec_fini(env, &own);
    }
    return ok;
}

static bool read_overhead(grove_env *env, const grove_node *pod_spec, gv_request_facts *list) {
    const grove_node *overhead = object_at(pod_spec, "overhead");
    bool ok = true;
    for (const grove_node *m = grove_node_first(overhead); ok && m;
         m = grove_node_next(overhead, m)) {
        gv_str name;
        name.p = grove_node_key(m, &name.n);
        ok = gv_request_add(env, list, name, amount_of(m, name));
    }
    return ok;
}

grove_status gv_podspec_requests(grove_env *env, const grove_node *pod_spec, gv_request_facts *out,
                                 grove_error *err) {
    gv_request_sums s = {0};
    gv_request_facts pod = {0}, overhead = {0};
    const grove_node *containers = array_at(pod_spec, "containers");
    bool ok = read_init(env, pod_spec, &s);
    for (const grove_node *c = grove_node_first(containers); ok && c;
         c = grove_node_next(containers, c)) {
        ok = add_requests(env, grove_node_get(c, "resources"), &s.now);
    }
    ok = ok && add_requests(env, grove_node_get(pod_spec, "resources"), &pod) &&
         read_overhead(env, pod_spec, &overhead) &&
         gv_requests_finish(env, &s, &pod, &overhead, out);
    gv_vec_fini(env, &pod);
    gv_vec_fini(env, &overhead);
    gv_requests_fini(env, &s);
    return ok ? GROVE_OK : gv_error_nomem(err);
}

/* ---- pods ---- */

static void read_conditions(const grove_node *status, gv_pod_facts *f) {
    const grove_node *list = array_at(status, "conditions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        gv_pod_take_condition(f, text_at(c, "type"), text_at(c, "status"), text_at(c, "reason"),
                              time_at(c, "lastTransitionTime"));
    }
}

static bool failed_before(const grove_node *status) {
    const grove_node *last = grove_node_get(grove_node_get(status, "lastState"), "terminated");
    return last != NULL && int_at(last, "exitCode", 0) != 0;
}

static void read_containers(const grove_node *spec, const grove_node *status, gv_pod_facts *f) {
    const grove_node *init = array_at(status, "initContainerStatuses");
    for (const grove_node *c = grove_node_first(init); c; c = grove_node_next(init, c)) {
        f->flags |= failed_before(c) ? GV_POD_ERRONEOUS : 0u;
    }
    const grove_node *main_list = array_at(status, "containerStatuses");
    uint32_t started = 0;
    for (const grove_node *c = grove_node_first(main_list); c; c = grove_node_next(main_list, c)) {
        bool is_started = grove_node_is_true(grove_node_get(c, "started")) != 0;
        bool is_ready = grove_node_is_true(grove_node_get(c, "ready")) != 0;
        started += is_started ? 1u : 0u;
        f->flags |= failed_before(c) ? GV_POD_ERRONEOUS : 0u;
        f->flags |= is_started && !is_ready ? GV_POD_STARTED_NOT_READY : 0u;
        int64_t end = time_at(grove_node_get(grove_node_get(c, "state"), "terminated"),
                              "finishedAt");
        f->ended = end > f->ended ? end : f->ended;
    }
    if (started < grove_node_size(array_at(spec, "containers"))) {
        f->flags |= GV_POD_NOT_STARTED;
    }
}

static void read_gates(const grove_node *spec, gv_pod_facts *f) {
    const grove_node *gates = array_at(spec, "schedulingGates");
    uint32_t i = 0;
    for (const grove_node *g = grove_node_first(gates); g; g = grove_node_next(gates, g), i++) {
        if (gv_str_is(text_at(g, "name"), GV_GATE)) {
            f->flags |= GV_POD_GROVE_GATE;
            f->gate_at = (uint16_t)i;
        } else {
            f->flags |= GV_POD_FOREIGN_GATE;
        }
    }
    f->n_gates = (uint16_t)(i < UINT16_MAX ? i : UINT16_MAX);
}

static bool read_ports(grove_env *env, const grove_node *spec, gv_pod_facts *f) {
    static const char *const lists[] = {"containers", "initContainers"};
    bool host_network = grove_node_is_true(grove_node_get(spec, "hostNetwork")) != 0;
    for (int k = 0; k < 2; k++) {
        const grove_node *list = array_at(spec, lists[k]);
        for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            bool stays = k == 0 || gv_str_is(text_at(c, "restartPolicy"), "Always");
            const grove_node *ports = stays ? array_at(c, "ports") : NULL;
            for (const grove_node *p = grove_node_first(ports); p; p = grove_node_next(ports, p)) {
                int64_t port = int_at(p, "hostPort",
                                      host_network ? int_at(p, "containerPort", 0) : 0);
                if (!gv_pod_take_port(env, f, port, text_at(p, "protocol"))) {
                    return false;
                }
            }
        }
    }
    return true;
}

grove_status gv_pod_read(grove_env *env, const grove_node *pod, gv_pod_facts *out,
                         grove_error *err) {
    grove_status s = gv_head_read(pod, &out->head, err);
    if (s < 0) {
        return s;
    }
    const grove_node *labels = grove_node_at_path(pod, "/metadata/labels");
    const grove_node *spec = grove_node_get(pod, "spec");
    const grove_node *status = grove_node_get(pod, "status");
    out->flags = 0;
    out->requests.n = out->ports.n = 0;
    out->gate_at = out->n_gates = 0;
    out->ready_since = out->scheduled_since = out->ended = GV_TIME_NONE;
    out->phase = gv_pod_phase_of(text_at(status, "phase"));
    out->index = gv_pod_index_of(text_at(labels, GV_LABEL_POD_INDEX));
    out->incarnation = gv_pod_incarnation_of(text_at(labels, GV_LABEL_INCARNATION));
    out->hostname_index = gv_pod_hostname_index(text_at(spec, "hostname"));
    out->priority = (int32_t)int_at(spec, "priority", 0);
    out->clique = text_at(labels, GV_LABEL_CLIQUE);
    out->gang = text_at(labels, GV_LABEL_GANG);
    out->base_gang = text_at(labels, GV_LABEL_BASE_GANG);
    out->hash = text_at(labels, GV_LABEL_TEMPLATE_HASH);
    out->node = text_at(spec, "nodeName");
    out->scheduler = text_at(spec, "schedulerName");
    out->priority_class = text_at(spec, "priorityClassName");
    if (grove_node_size(array_at(grove_node_get(pod, "metadata"), "finalizers")) > 0) {
        out->flags |= GV_POD_HAS_FINALIZER;
    }
    out->flags |= gv_pod_refused_of(text_at(status, "reason"));
    read_conditions(status, out);
    read_containers(spec, status, out);
    read_gates(spec, out);
    s = gv_podspec_requests(env, spec, &out->requests, err);
    if (out->requests.n > UINT16_MAX) {
        return gv_error(err, GROVE_E_LIMIT, "pod asks for more than 65535 resources");
    }
    if (s == GROVE_OK && !read_ports(env, spec, out)) {
        s = gv_error_nomem(err);
    }
    return s;
}

void gv_pod_facts_fini(grove_env *env, gv_pod_facts *facts) {
    gv_vec_fini(env, &facts->requests);
    gv_vec_fini(env, &facts->ports);
}

/* ---- nodes ---- */

static bool read_labels(grove_env *env, const grove_node *labels, gv_node_facts *f) {
    f->labels.n = 0;
    for (const grove_node *m = grove_node_first(labels); m; m = grove_node_next(labels, m)) {
        gv_label_fact label = {.value = text_of(m)};
        label.key.p = grove_node_key(m, &label.key.n);
        if (!gv_vec_push(env, &f->labels, label)) {
            return false;
        }
    }
    gv_labels_sort(&f->labels);
    return true;
}

static bool read_allocatable(grove_env *env, const grove_node *status, gv_node_facts *f) {
    const grove_node *list = object_at(status, "allocatable");
    if (list == NULL) {
        list = object_at(status, "capacity");
    }
    bool ok = true;
    f->allocatable.n = 0;
    for (const grove_node *m = grove_node_first(list); ok && m; m = grove_node_next(list, m)) {
        gv_request_fact r;
        r.name.p = grove_node_key(m, &r.name.n);
        r.amount = amount_of(m, r.name);
        ok = gv_vec_push(env, &f->allocatable, r);
    }
    gv_requests_sort(&f->allocatable);
    return ok;
}

grove_status gv_node_read(grove_env *env, const grove_node *node, gv_node_facts *out,
                          grove_error *err) {
    grove_status s = gv_head_read(node, &out->head, err);
    if (s < 0) {
        return s;
    }
    const grove_node *spec = grove_node_get(node, "spec");
    const grove_node *status = grove_node_get(node, "status");
    out->flags = 0;
    out->flags |= grove_node_is_true(grove_node_get(spec, "unschedulable")) ? GV_NODE_UNSCHEDULABLE
                                                                            : 0u;
    const grove_node *conditions = array_at(status, "conditions");
    for (const grove_node *c = grove_node_first(conditions); c;
         c = grove_node_next(conditions, c)) {
        if (gv_str_is(text_at(c, "type"), "Ready") && gv_str_is(text_at(c, "status"), "True")) {
            out->flags |= GV_NODE_READY;
        }
    }
    out->taints.n = 0;
    bool ok = read_labels(env, object_at(grove_node_get(node, "metadata"), "labels"), out) &&
              read_allocatable(env, status, out);
    const grove_node *taints = array_at(spec, "taints");
    for (const grove_node *t = grove_node_first(taints); ok && t; t = grove_node_next(taints, t)) {
        gv_taint_fact taint = {text_at(t, "key"), text_at(t, "value"), text_at(t, "effect")};
        ok = gv_vec_push(env, &out->taints, taint);
    }
    return ok ? GROVE_OK : gv_error_nomem(err);
}

void gv_node_facts_fini(grove_env *env, gv_node_facts *facts) {
    gv_vec_fini(env, &facts->labels);
    gv_vec_fini(env, &facts->taints);
    gv_vec_fini(env, &facts->allocatable);
}
