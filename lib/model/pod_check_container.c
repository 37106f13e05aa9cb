/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps an API server from making a pod with a container: names, image, ports, mounts, resources. */
#include <grove/quantity.h>

#include "base/map.h"
#include "model/pod_check_parts.h"
#include "model/syntax.h"

typedef struct container {
    gv_check *c;
    const gv_map *volumes; /* names of the pod's */
    const grove_node *node;
    const gv_path *path;
    bool init; /* runs to its end before the others start */
} container;

static gv_path member(const container *k, const char *name) {
    return gv_path_key(k->path, name, strlen(name));
}

/* ---- names and image ---- */

static void check_identity(const container *k) {
    gv_path name = member(k, "name"), image = member(k, "image");
    gv_str text = gv_node_get_str(k->node, "image");
    const grove_node *at = grove_node_get(k->node, "image");
    if (!gv_syntax_label(gv_node_get_str(k->node, "name"))) {
        gv_check_warning(k->c, GV_CODE_POD_NAME, &name, k->node,
                         "a container's name must be a DNS label");
    }
    if (gv_syntax_blank(text)) {
        gv_check_warning(k->c, GV_CODE_POD_IMAGE, &image, at ? at : k->node,
                         "a container needs an image");
    } else if (text.n != gv_str_trim(text).n) {
        gv_check_warning(k->c, GV_CODE_POD_IMAGE, &image, at, "the image has spaces around it");
    }
}

/* ---- ports ---- */

/* IANA service name: at most 15 lower-case letters, digits and single '-', a letter among them. */
static bool port_name(gv_str s) {
    bool letter = false;
    if (s.n == 0 || s.n > 15 || s.p[0] == '-' || s.p[s.n - 1] == '-') {
        return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        bool lower = s.p[i] >= 'a' && s.p[i] <= 'z';
        bool digit = s.p[i] >= '0' && s.p[i] <= '9';
        letter = letter || lower;
        if ((!lower && !digit && s.p[i] != '-') || (i > 0 && s.p[i] == '-' && s.p[i - 1] == '-')) {
            return false;
        }
    }
    return letter;
}

static void check_port_number(const container *k, const grove_node *port, const gv_path *path) {
    int64_t value = 0;
    if (grove_node_int64(port, &value) == GROVE_OK && (value < 1 || value > 65535)) {
        gv_check_warning(k->c, GV_CODE_POD_PORT, path, port, "a port is 1 to 65535, not %lld",
                         (long long)value);
    }
}

static void check_ports(const container *k) {
    gv_path list = member(k, "ports");
    uint32_t i = 0;
    GV_EACH(p, grove_node_get(k->node, "ports")) {
        gv_path entry = gv_path_index(&list, i++);
        gv_path port = gv_path_key(&entry, "containerPort", 13);
        gv_path host = gv_path_key(&entry, "hostPort", 8);
        gv_path name = gv_path_key(&entry, "name", 4);
        const grove_node *named = grove_node_get(p, "name");
        check_port_number(k, grove_node_get(p, "containerPort"), &port);
        if (gv_node_get_int(p, "hostPort", 0) != 0) {
            check_port_number(k, grove_node_get(p, "hostPort"), &host);
        }
        if (gv_node_str(named).n > 0 && !port_name(gv_node_str(named))) {
            gv_check_warning(k->c, GV_CODE_POD_PORT, &name, named,
                             "a port's name has at most 15 lower-case letters, digits and '-'");
        }
    }
}

/* ---- environment ---- */

static void check_env(const container *k) {
    gv_path list = member(k, "env");
    uint32_t i = 0;
    GV_EACH(e, grove_node_get(k->node, "env")) {
        gv_path entry = gv_path_index(&list, i++), from = gv_path_key(&entry, "valueFrom", 9);
        const grove_node *source = grove_node_get(e, "valueFrom");
        if (source && grove_node_size(source) != 1) {
            gv_check_warning(k->c, GV_CODE_POD_ENV, &from, source, "needs one source, has %u",
                             (unsigned)grove_node_size(source));
        } else if (source && gv_node_get_str(e, "value").n > 0) {
            gv_check_warning(k->c, GV_CODE_POD_ENV, &from, source,
                             "value and valueFrom exclude each other");
        }
    }
}

/* ---- mounts ---- */

static void check_mounts(const container *k) {
    gv_path list = member(k, "volumeMounts");
    uint32_t i = 0;
    GV_EACH(m, grove_node_get(k->node, "volumeMounts")) {
        gv_path entry = gv_path_index(&list, i++), name = gv_path_key(&entry, "name", 4);
        gv_path where = gv_path_key(&entry, "mountPath", 9);
        if (!gv_map_has(k->volumes, gv_node_get_str(m, "name"))) {
            gv_check_warning(k->c, GV_CODE_POD_VOLUME, &name, m, "the pod has no volume %s",
                             gv_show(grove_node_get(m, "name")).text);
        }
        if (gv_node_get_str(m, "mountPath").n == 0) {
            gv_check_warning(k->c, GV_CODE_POD_VOLUME, &where, m, "a mount needs a path");
        }
    }
}

/* ---- resources ---- */

static bool read_quantity(const grove_node *node, grove_quantity *out) {
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    return text && grove_quantity_parse(text, n, out, NULL) == GROVE_OK;
}

/* Resources that cannot be shared between containers: everything but the node's own. */
static bool is_extended(gv_str name) {
    return memchr(name.p, '/', name.n) != NULL && !gv_str_starts(name, GV_STR("kubernetes.io/")) &&
           !gv_str_starts(name, GV_STR("requests."));
}

static bool is_whole(const grove_quantity *q) {
    int64_t units = 0;
    grove_quantity back, rounded = {0, 1000000000, GROVE_QUANTITY_DECIMAL_SI, 0};
    return grove_quantity_units(q, &units) == GROVE_OK &&
           grove_quantity_mul(&rounded, units, &back) == GROVE_OK &&
           grove_quantity_compare(&back, q) == 0;
}

static void check_amount(const container *k, const gv_path *list, const grove_node *amount) {
    gv_path here = gv_path_member(list, amount);
    grove_quantity q, zero = {0};
    if (!read_quantity(amount, &q)) {
        return;
    }
    if (grove_quantity_compare(&q, &zero) < 0) {
        gv_check_warning(k->c, GV_CODE_POD_RESOURCE, &here, amount, "must not be negative");
    } else if (is_extended(here.key) && !is_whole(&q)) {
        gv_check_warning(k->c, GV_CODE_POD_RESOURCE, &here, amount,
                         "devices are counted whole, not %s", gv_show(amount).text);
    }
}

static void compare_with_limit(const container *k, const gv_path *list, const grove_node *request,
                               const grove_node *limits) {
    gv_path here = gv_path_member(list, request);
    const grove_node *limit = gv_node_get(limits, here.key);
    grove_quantity a, b;
    bool extended = is_extended(here.key);
    if (!limit) {
        if (extended) {
            gv_check_warning(k->c, GV_CODE_POD_RESOURCE, &here, request,
                             "devices need a limit, equal to the request");
        }
        return;
    }
    if (!read_quantity(request, &a) || !read_quantity(limit, &b)) {
        return;
    }
    int32_t order = grove_quantity_compare(&a, &b);
    if (order > 0 || (extended && order != 0)) {
        gv_check_warning(k->c, GV_CODE_POD_RESOURCE, &here, request, "%s the limit of %s",
                         order > 0 ? "is more than" : "differs from", gv_show(limit).text);
    }
}

static void check_resources(const container *k) {
    gv_path resources = member(k, "resources");
    gv_path requests = gv_path_key(&resources, "requests", 8);
    gv_path limits = gv_path_key(&resources, "limits", 6);
    const grove_node *node = grove_node_get(k->node, "resources");
    const grove_node *limit_list = grove_node_get(node, "limits");
    GV_EACH(amount, limit_list) {
        check_amount(k, &limits, amount);
    }
    GV_EACH(amount, grove_node_get(node, "requests")) {
        check_amount(k, &requests, amount);
        compare_with_limit(k, &requests, amount, limit_list);
    }
}

/* ---- probes ---- */

static void check_probe(const container *k, const char *name) {
    static const char *const handlers[] = {"exec", "grpc", "httpGet", "tcpSocket"};
    const grove_node *probe = grove_node_get(k->node, name);
    gv_path here = member(k, name);
    uint32_t found = 0;
    if (!probe) {
        return;
    }
    if (k->init && !gv_str_is(gv_node_get_str(k->node, "restartPolicy"), "Always")) {
        gv_check_warning(k->c, GV_CODE_POD_PROBE, &here, probe,
                         "an init container that ends takes no probe");
    }
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
        const grove_node *handler = grove_node_get(probe, handlers[i]);
        gv_path up = gv_path_key(&here, handlers[i], strlen(handlers[i]));
        gv_path port = gv_path_key(&up, "port", 4);
        found += handler != NULL;
        check_port_number(k, grove_node_get(handler, "port"), &port);
    }
    if (found != 1) {
        gv_check_warning(k->c, GV_CODE_POD_PROBE, &here, probe,
                         "a probe needs one of exec, grpc, httpGet and tcpSocket, has %u",
                         (unsigned)found);
    }
    bool readiness = strcmp(name, "readinessProbe") == 0;
    gv_path success = gv_path_key(&here, "successThreshold", 16);
    if (!readiness && gv_node_get_int(probe, "successThreshold", 1) > 1) {
        gv_check_warning(k->c, GV_CODE_POD_PROBE, &success, probe, "must be 1 for this probe");
    }
}

/* ---- all of them ---- */

static void check_container(const container *k) {
    check_identity(k);
    check_ports(k);
    check_env(k);
    check_mounts(k);
    check_resources(k);
    check_probe(k, "livenessProbe");
    check_probe(k, "readinessProbe");
    check_probe(k, "startupProbe");
}

/* The names in a list of the pod, as keys. */
static void collect_names(gv_check *c, gv_map *names, const grove_node *list) {
    gv_map_init(names, grove_doc_env(c->doc));
    GV_EACH(entry, list) {
        if (!gv_map_put(names, gv_node_get_str(entry, "name"), names)) {
            c->status = GROVE_E_NOMEM;
            return;
        }
    }
}

/* Init containers share their names with the others; within one list the schema sees to it. */
static void check_shared_names(gv_check *c, const grove_node *pod, const gv_path *path) {
    gv_path list = gv_path_key(path, "initContainers", 14);
    gv_map names;
    uint32_t i = 0;
    collect_names(c, &names, grove_node_get(pod, "containers"));
    GV_EACH(k, grove_node_get(pod, "initContainers")) {
        gv_path entry = gv_path_index(&list, i++), name = gv_path_key(&entry, "name", 4);
        if (gv_map_has(&names, gv_node_get_str(k, "name"))) {
            gv_check_warning(c, GV_CODE_POD_NAME, &name, k, "a container has the name %s too",
                             gv_show(grove_node_get(k, "name")).text);
        }
    }
    gv_map_fini(&names);
}

void gv_pod_check_containers(gv_check *c, const grove_node *pod, const gv_path *path) {
    static const char *const lists[] = {"containers", "initContainers"};
    const grove_node *containers = grove_node_get(pod, lists[0]);
    gv_map volumes;
    collect_names(c, &volumes, grove_node_get(pod, "volumes"));
    for (size_t l = 0; l < 2; l++) {
        gv_path list = gv_path_key(path, lists[l], strlen(lists[l]));
        uint32_t i = 0;
        GV_EACH(node, grove_node_get(pod, lists[l])) {
            gv_path entry = gv_path_index(&list, i++);
            check_container(&(container){c, &volumes, node, &entry, l == 1});
        }
    }
    gv_map_fini(&volumes);
    if (grove_node_size(containers) == 0) {
        gv_path here = gv_path_key(path, lists[0], strlen(lists[0]));
        gv_check_warning(c, GV_CODE_POD_NO_CONTAINERS, &here, containers ? containers : pod,
                         "a pod needs at least one container");
    }
    check_shared_names(c, pod, path);
}
