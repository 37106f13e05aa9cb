/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of built-in kinds, as a server's own printers fill them. */
#include "model/table.h"

#include "model/view.h"
#include "value/doc.h"
#include "value/scalar.h"

static gv_str condition_field(const grove_node *object, const char *type, const char *field) {
    return gv_node_get_str(gv_condition_find(gv_node_path(object, "status.conditions"), type),
                           field);
}

static grove_status put_or(gv_str text, const char *otherwise, grove_buf *out) {
    return text.n ? gv_buf_str(out, text) : gv_buf_c(out, otherwise);
}

/* ---- pods ---- */

static grove_status pod_ready(const grove_node *pod, const char *arg, int64_t now, grove_buf *out) {
    uint32_t total = grove_node_size(gv_node_path(pod, "spec.containers")), ready = 0;
    (void)arg;
    (void)now;
    GV_EACH(c, gv_node_path(pod, "status.containerStatuses")) {
        ready += gv_node_get_bool(c, "ready");
    }
    return gv_buf_fmt(out, "%u/%u", ready, total);
}

static gv_str state_reason(const grove_node *status) {
    const grove_node *state = grove_node_get(status, "state");
    gv_str waiting = gv_node_get_str(grove_node_get(state, "waiting"), "reason");
    return waiting.n ? waiting : gv_node_get_str(grove_node_get(state, "terminated"), "reason");
}

/* Progress of the init containers while they run; false when they are through. */
static bool put_init_state(const grove_node *pod, grove_buf *out, grove_status *st) {
    const grove_node *list = gv_node_path(pod, "status.initContainerStatuses");
    uint32_t total = grove_node_size(gv_node_path(pod, "spec.initContainers")), done = 0;
    GV_EACH(c, list) {
        const grove_node *ended = gv_node_path(c, "state.terminated");
        if (ended && gv_node_get_int(ended, "exitCode", 1) == 0) {
            done++;
            continue;
        }
        gv_str reason = state_reason(c);
        *st = reason.n && !gv_str_is(reason, "PodInitializing")
                  ? gv_buf_fmt(out, "Init:%.*s", (int)reason.n, reason.p)
                  : gv_buf_fmt(out, "Init:%u/%u", done, total);
        return true;
    }
    return false;
}

static grove_status pod_status(const grove_node *pod, const char *arg, int64_t now,
                               grove_buf *out) {
    grove_status st = GROVE_OK;
    gv_str phase = gv_node_str(gv_node_path(pod, "status.phase"));
    (void)arg;
    (void)now;
    if (gv_node_path(pod, "metadata.deletionTimestamp")) {
        return gv_buf_c(out, "Terminating");
    }
    if (gv_str_is(condition_field(pod, "PodScheduled", "reason"), "SchedulingGated")) {
        return gv_buf_c(out, "SchedulingGated");
    }
    gv_str own = gv_node_str(gv_node_path(pod, "status.reason"));
    if (own.n) {
        return gv_buf_str(out, own);
    }
    if (gv_str_is(phase, "Pending") && put_init_state(pod, out, &st)) {
        return st;
    }
    GV_EACH(c, gv_node_path(pod, "status.containerStatuses")) {
        gv_str reason = state_reason(c);
        if (reason.n) {
            return gv_buf_str(out, reason);
        }
    }
    return put_or(phase, "Pending", out);
}

static grove_status pod_restarts(const grove_node *pod, const char *arg, int64_t now,
                                 grove_buf *out) {
    int64_t n = 0;
    (void)arg;
    (void)now;
    GV_EACH(c, gv_node_path(pod, "status.containerStatuses")) {
        n += gv_node_get_int(c, "restartCount", 0);
    }
    return gv_buf_fmt(out, "%lld", (long long)n);
}

static grove_status path_or_none(const grove_node *object, const char *arg, int64_t now,
                                 grove_buf *out) {
    (void)now;
    return put_or(gv_node_str(gv_node_path(object, arg)), "<none>", out);
}

static grove_status none(const grove_node *object, const char *arg, int64_t now, grove_buf *out) {
    (void)object;
    (void)arg;
    (void)now;
    return gv_buf_c(out, "<none>");
}

static const gv_column pods[] = {{"Ready", 0, pod_ready, NULL},
                                 {"Status", 0, pod_status, NULL},
                                 {"Restarts", 0, pod_restarts, NULL},
                                 {"Age", 0, gv_cell_age, NULL},
                                 {"IP", 1, path_or_none, "status.podIP"},
                                 {"Node", 1, path_or_none, "spec.nodeName"},
                                 {"Nominated Node", 1, path_or_none, "status.nominatedNodeName"},
                                 {"Readiness Gates", 1, none, NULL},
                                 {NULL, 0, NULL, NULL}};

/* ---- nodes ---- */

static grove_status node_status(const grove_node *node, const char *arg, int64_t now,
                                grove_buf *out) {
    (void)arg;
    (void)now;
    gv_str ready = condition_field(node, "Ready", "status");
    grove_status st = gv_buf_c(out, gv_str_is(ready, "True") ? "Ready"
                                    : ready.n                ? "NotReady"
                                                             : "Unknown");
    if (st == GROVE_OK && gv_node_get_bool(grove_node_get(node, "spec"), "unschedulable")) {
        st = gv_buf_c(out, ",SchedulingDisabled");
    }
    return st;
}

static grove_status node_address(const grove_node *node, const char *arg, int64_t now,
                                 grove_buf *out) {
    (void)now;
    GV_EACH(address, gv_node_path(node, "status.addresses")) {
        if (gv_str_is(gv_node_get_str(address, "type"), arg)) {
            return gv_buf_str(out, gv_node_get_str(address, "address"));
        }
    }
    return gv_buf_c(out, "<none>");
}

static grove_status path_or_unknown(const grove_node *object, const char *arg, int64_t now,
                                    grove_buf *out) {
    (void)now;
    return put_or(gv_node_str(gv_node_path(object, arg)), "<unknown>", out);
}

static const gv_column nodes[] = {
    {"Status", 0, node_status, NULL},
    {"Roles", 0, none, NULL},
    {"Age", 0, gv_cell_age, NULL},
    {"Version", 0, gv_cell_path, ".status.nodeInfo.kubeletVersion"},
    {"Internal-IP", 1, node_address, "InternalIP"},
    {"External-IP", 1, node_address, "ExternalIP"},
    {"OS-Image", 1, path_or_unknown, "status.nodeInfo.osImage"},
    {"Kernel-Version", 1, path_or_unknown, "status.nodeInfo.kernelVersion"},
    {"Container-Runtime", 1, path_or_unknown, "status.nodeInfo.containerRuntimeVersion"},
    {NULL, 0, NULL, NULL}};

/* ---- others ---- */

static grove_status service_ports(const grove_node *service, const char *arg, int64_t now,
                                  grove_buf *out) {
    const grove_node *ports = gv_node_path(service, "spec.ports");
    grove_status st = grove_node_size(ports) ? GROVE_OK : gv_buf_c(out, "<none>");
    bool first = true;
    (void)arg;
    (void)now;
    GV_EACH(port, ports) {
        gv_str protocol = gv_node_get_str(port, "protocol");
        st = st < 0 ? st
                    : gv_buf_fmt(out, "%s%lld/%s", first ? "" : ",",
                                 (long long)gv_node_get_int(port, "port", 0),
                                 protocol.n ? protocol.p : "TCP");
        first = false;
    }
    return st;
}

static grove_status service_selector(const grove_node *service, const char *arg, int64_t now,
                                     grove_buf *out) {
    const grove_node *labels = gv_node_path(service, arg);
    grove_status st = grove_node_size(labels) ? GROVE_OK : gv_buf_c(out, "<none>");
    bool first = true;
    (void)now;
    GV_EACH(label, labels) {
        gv_str value = gv_node_str(label);
        st = st < 0 ? st
                    : gv_buf_fmt(out, "%s%s=%.*s", first ? "" : ",", grove_node_key(label, NULL),
                                 (int)value.n, value.p);
        first = false;
    }
    return st;
}

static const gv_column services[] = {{"Type", 0, path_or_none, "spec.type"},
                                     {"Cluster-IP", 0, path_or_none, "spec.clusterIP"},
                                     {"External-IP", 0, none, NULL},
                                     {"Port(s)", 0, service_ports, NULL},
                                     {"Age", 0, gv_cell_age, NULL},
                                     {"Selector", 1, service_selector, "spec.selector"},
                                     {NULL, 0, NULL, NULL}};

static grove_status hpa_reference(const grove_node *hpa, const char *arg, int64_t now,
                                  grove_buf *out) {
    const grove_node *ref = gv_node_path(hpa, "spec.scaleTargetRef");
    gv_str kind = gv_node_get_str(ref, "kind"), name = gv_node_get_str(ref, "name");
    (void)arg;
    (void)now;
    return gv_buf_fmt(out, "%.*s/%.*s", (int)kind.n, kind.p, (int)name.n, name.p);
}

static grove_status hpa_replicas(const grove_node *hpa, const char *arg, int64_t now,
                                 grove_buf *out) {
    (void)arg;
    (void)now;
    return put_or(gv_node_str(gv_node_path(hpa, "status.currentReplicas")), "0", out);
}

/* Nothing measures: the present value is never known. */
static grove_status hpa_targets(const grove_node *hpa, const char *arg, int64_t now,
                                grove_buf *out) {
    const grove_node *metrics = gv_node_path(hpa, arg);
    grove_status st = grove_node_size(metrics) ? GROVE_OK : gv_buf_c(out, "<none>");
    bool first = true;
    (void)now;
    GV_EACH(metric, metrics) {
        gv_str name = gv_node_str(gv_node_path(metric, "resource.name"));
        gv_str percent = gv_node_str(gv_node_path(metric, "resource.target.averageUtilization"));
        gv_str value = gv_node_str(gv_node_path(metric, "resource.target.averageValue"));
        gv_str target = percent.n ? percent : value;
        st = st < 0 ? st
                    : gv_buf_fmt(out, "%s%.*s: <unknown>/%.*s%s", first ? "" : ", ", (int)name.n,
                                 name.n ? name.p : "", (int)target.n, target.n ? target.p : "",
                                 percent.n ? "%" : "");
        first = false;
    }
    return st;
}

static const gv_column hpas[] = {{"Reference", 0, hpa_reference, NULL},
                                 {"Targets", 0, hpa_targets, "spec.metrics"},
                                 {"MinPods", 0, path_or_none, "spec.minReplicas"},
                                 {"MaxPods", 0, path_or_none, "spec.maxReplicas"},
                                 {"Replicas", 0, hpa_replicas, NULL},
                                 {"Age", 0, gv_cell_age, NULL},
                                 {NULL, 0, NULL, NULL}};

static const gv_column created_at[] = {
    {"Created At", 0, gv_cell_path, ".metadata.creationTimestamp", "date"}, {NULL}};

/* How many members or elements; arg is a path. */
static grove_status count_of(const grove_node *object, const char *arg, int64_t now,
                             grove_buf *out) {
    (void)now;
    return gv_buf_fmt(out, "%u", grove_node_size(gv_node_path(object, arg)));
}

static grove_status path_or_na(const grove_node *object, const char *arg, int64_t now,
                               grove_buf *out) {
    (void)now;
    return put_or(gv_node_str(gv_node_path(object, arg)), "N/A", out);
}

static grove_status role_of(const grove_node *binding, const char *arg, int64_t now,
                            grove_buf *out) {
    const grove_node *ref = grove_node_get(binding, arg);
    (void)now;
    gv_str kind = gv_node_get_str(ref, "kind"), name = gv_node_get_str(ref, "name");
    grove_status st = gv_buf_str(out, kind);
    st = st < 0 ? st : gv_buf_char(out, '/');
    return st < 0 ? st : gv_buf_str(out, name);
}

static const gv_column namespaces[] = {{"Status", 0, gv_cell_path, ".status.phase", NULL},
                                       {"Age", 0, gv_cell_age, NULL, NULL},
                                       {NULL}};
static const gv_column accounts[] = {
    {"Secrets", 0, count_of, "secrets", NULL}, {"Age", 0, gv_cell_age, NULL, NULL}, {NULL}};
static const gv_column secrets[] = {{"Type", 0, gv_cell_path, ".type", NULL},
                                    {"Data", 0, count_of, "data", NULL},
                                    {"Age", 0, gv_cell_age, NULL, NULL},
                                    {NULL}};
static const gv_column config_maps[] = {
    {"Data", 0, count_of, "data", NULL}, {"Age", 0, gv_cell_age, NULL, NULL}, {NULL}};
/* Names of the subjects of a kind, accounts with their namespace. */
static grove_status subjects_of(const grove_node *binding, const char *arg, int64_t now,
                                grove_buf *out) {
    bool first = true, account = strcmp(arg, "ServiceAccount") == 0;
    grove_status st = GROVE_OK;
    (void)now;
    GV_EACH(subject, grove_node_get(binding, "subjects")) {
        if (!gv_str_is(gv_node_get_str(subject, "kind"), arg)) {
            continue;
        }
        gv_str ns = gv_node_get_str(subject, "namespace"), name = gv_node_get_str(subject, "name");
        st = st < 0 ? st
                    : gv_buf_fmt(out, "%s%.*s%s%.*s", first ? "" : ", ", account ? (int)ns.n : 0,
                                 ns.n ? ns.p : "", account ? "/" : "", (int)name.n,
                                 name.n ? name.p : "");
        first = false;
    }
    return st;
}

static const gv_column role_bindings[] = {
    {"Role", 0, role_of, "roleRef", NULL},
    {"Age", 0, gv_cell_age, NULL, NULL},
    {"Users", 1, subjects_of, "User", NULL},
    {"Groups", 1, subjects_of, "Group", NULL},
    {"ServiceAccounts", 1, subjects_of, "ServiceAccount", NULL},
    {NULL}};
static const gv_column budgets[] = {
    {"Min Available", 0, path_or_na, "spec.minAvailable", NULL},
    {"Max Unavailable", 0, path_or_na, "spec.maxUnavailable", NULL},
    {"Allowed Disruptions", 0, gv_cell_path, ".status.disruptionsAllowed", "integer"},
    {"Age", 0, gv_cell_age, NULL, NULL},
    {NULL}};

/* ---- events ---- */

/*
 * Both forms are shown: the core one (involvedObject, message) and that of events.k8s.io (regarding, note).
 * Of a series the last time and the count are its own.
 */
static const grove_node *about(const grove_node *event) {
    const grove_node *core = grove_node_get(event, "involvedObject");
    return core ? core : grove_node_get(event, "regarding");
}

static grove_status since(gv_str text, int64_t now, grove_buf *out) {
    int64_t at = 0;
    return text.n == 0 || gv_time_parse(text, &at, NULL) < 0 ? gv_buf_c(out, "<unknown>")
                                                             : gv_table_age(at, now, out);
}

static gv_str first_time(const grove_node *event) {
    gv_str first = gv_node_get_str(event, "firstTimestamp");
    return first.n ? first : gv_node_get_str(event, "eventTime");
}

static grove_status first_seen(const grove_node *event, const char *arg, int64_t now,
                               grove_buf *out) {
    (void)arg;
    return since(first_time(event), now, out);
}

static grove_status last_seen(const grove_node *event, const char *arg, int64_t now,
                              grove_buf *out) {
    gv_str last = gv_node_str(gv_node_path(event, "series.lastObservedTime"));
    (void)arg;
    last = last.n ? last : gv_node_get_str(event, "lastTimestamp");
    return since(last.n ? last : first_time(event), now, out);
}

static grove_status event_count(const grove_node *event, const char *arg, int64_t now,
                                grove_buf *out) {
    gv_str count = gv_node_str(gv_node_path(event, "series.count"));
    (void)now;
    return put_or(count.n ? count : gv_node_get_str(event, arg), "1", out);
}

static grove_status event_object(const grove_node *event, const char *arg, int64_t now,
                                 grove_buf *out) {
    gv_str kind = gv_node_get_str(about(event), "kind");
    gv_str name = gv_node_get_str(about(event), "name");
    grove_status st = GROVE_OK;
    (void)arg;
    (void)now;
    for (size_t i = 0; st == GROVE_OK && i < kind.n; i++) {
        char c = kind.p[i];
        st = gv_buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
    st = st < 0 ? st : gv_buf_char(out, '/');
    return st < 0 ? st : gv_buf_str(out, name);
}

static grove_status event_part(const grove_node *event, const char *arg, int64_t now,
                               grove_buf *out) {
    (void)now;
    return gv_buf_str(out, gv_node_get_str(about(event), arg));
}

static grove_status event_message(const grove_node *event, const char *arg, int64_t now,
                                  grove_buf *out) {
    (void)now;
    gv_str text = gv_node_get_str(event, arg);
    return gv_buf_str(out, text.n ? text : gv_node_get_str(event, "note"));
}

static const gv_column events[] = {{"Last Seen", 0, last_seen, NULL, NULL},
                                   {"Type", 0, gv_cell_path, ".type", NULL},
                                   {"Reason", 0, gv_cell_path, ".reason", NULL},
                                   {"Object", 0, event_object, NULL, NULL},
                                   {"Subobject", 1, event_part, "fieldPath", NULL},
                                   {"Source", 1, gv_cell_path, ".source.component", NULL},
                                   {"Message", 0, event_message, "message", NULL},
                                   {"First Seen", 1, first_seen, NULL, NULL},
                                   {"Count", 1, event_count, "count", NULL},
                                   {"Name", 1, gv_cell_path, ".metadata.name", NULL},
                                   {NULL}};

/* "podcliqueset.grove.io/s", as kubectl names an object of a group */
static grove_status revision_controller(const grove_node *revision, const char *arg, int64_t now,
                                        grove_buf *out) {
    (void)arg;
    (void)now;
    GV_EACH(owner, gv_node_path(revision, "metadata.ownerReferences")) {
        gv_str version = gv_node_get_str(owner, "apiVersion"),
               kind = gv_node_get_str(owner, "kind");
        const char *slash = version.n ? memchr(version.p, '/', version.n) : NULL;
        gv_str name = gv_node_get_str(owner, "name");
        if (!gv_node_get_bool(owner, "controller")) {
            continue;
        }
        grove_status st = GROVE_OK;
        for (size_t i = 0; st == GROVE_OK && i < kind.n; i++) {
            char c = kind.p[i];
            st = gv_buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
        }
        if (st == GROVE_OK && slash) {
            st = gv_buf_fmt(out, ".%.*s", (int)(slash - version.p), version.p);
        }
        return st < 0 ? st : gv_buf_fmt(out, "/%.*s", (int)name.n, name.p);
    }
    return gv_buf_c(out, "<none>");
}

static const gv_column revisions[] = {{"Controller", 0, revision_controller, NULL, NULL},
                                      {"Revision", 0, gv_cell_path, ".revision", NULL},
                                      {"Age", 0, gv_cell_age, NULL, NULL},
                                      {NULL}};

static const gv_column age_only[] = {{"Age", 0, gv_cell_age, NULL, NULL}, {NULL}};

static const gv_column *const by_kind[GROVE_KIND_COUNT] = {
    [GROVE_KIND_POD] = pods,
    [GROVE_KIND_NODE] = nodes,
    [GROVE_KIND_SERVICE] = services,
    [GROVE_KIND_HPA] = hpas,
    [GROVE_KIND_ROLE] = created_at,
    [GROVE_KIND_ROLEBINDING] = role_bindings,
    [GROVE_KIND_SERVICEACCOUNT] = accounts,
    [GROVE_KIND_SECRET] = secrets,
    [GROVE_KIND_CONFIGMAP] = config_maps,
    [GROVE_KIND_NAMESPACE] = namespaces,
    [GROVE_KIND_PDB] = budgets,
    [GROVE_KIND_EVENT] = events,
    [GROVE_KIND_CONTROLLERREVISION] = revisions,
};

const gv_column *gv_table_builtin_column(grove_kind kind, uint32_t i) {
    const gv_column *list = kind > 0 && kind < GROVE_KIND_COUNT ? by_kind[kind] : NULL;
    list = list ? list : age_only;
    for (uint32_t k = 0; list[k].title; k++) {
        if (k == i) {
            return &list[k];
        }
    }
    return NULL;
}
