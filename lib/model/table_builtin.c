/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of built-in kinds, as a server's own printers fill them. */
#include "model/table.h"
#include "value/doc.h"

static gv_str condition_field(const grove_node *object, const char *type, const char *field) {
    GV_EACH(c, gv_node_path(object, "status.conditions")) {
        if (gv_str_is(gv_node_get_str(c, "type"), type)) {
            return gv_node_get_str(c, field);
        }
    }
    return (gv_str){"", 0};
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

static const gv_column nodes[] = {{"Status", 0, node_status, NULL},
                                  {"Roles", 0, none, NULL},
                                  {"Age", 0, gv_cell_age, NULL},
                                  {"Version", 0, gv_cell_path, ".status.nodeInfo.kubeletVersion"},
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

static const gv_column services[] = {
    {"Type", 0, path_or_none, "spec.type"}, {"Cluster-IP", 0, path_or_none, "spec.clusterIP"},
    {"External-IP", 0, none, NULL},         {"Port(s)", 0, service_ports, NULL},
    {"Age", 0, gv_cell_age, NULL},          {NULL, 0, NULL, NULL}};

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

static const gv_column hpas[] = {{"Reference", 0, hpa_reference, NULL},
                                 {"MinPods", 0, path_or_none, "spec.minReplicas"},
                                 {"MaxPods", 0, path_or_none, "spec.maxReplicas"},
                                 {"Replicas", 0, hpa_replicas, NULL},
                                 {"Age", 0, gv_cell_age, NULL},
                                 {NULL, 0, NULL, NULL}};

static const gv_column created_at[] = {
    {"Created At", 0, gv_cell_path, ".metadata.creationTimestamp"}, {NULL, 0, NULL, NULL}};

static const gv_column age_only[] = {{"Age", 0, gv_cell_age, NULL}, {NULL, 0, NULL, NULL}};

const gv_column *gv_table_builtin_column(grove_kind kind, uint32_t i) {
    const gv_column *list = kind == GROVE_KIND_POD       ? pods
                            : kind == GROVE_KIND_NODE    ? nodes
                            : kind == GROVE_KIND_SERVICE ? services
                            : kind == GROVE_KIND_HPA     ? hpas
                            : kind == GROVE_KIND_ROLE    ? created_at
                                                         : age_only;
    for (uint32_t k = 0; list[k].title; k++) {
        if (k == i) {
            return &list[k];
        }
    }
    return NULL;
}
