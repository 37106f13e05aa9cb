/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API server's defaults of built-in kinds, as a table: which type a member has, and which members
 * a type gets when they are missing.
 */
#include "model/served.h"

#include "base/text.h"
#include "model/view.h"

typedef enum type {
    T_NONE,
    T_POD,
    T_POD_SPEC,
    T_CONTAINER,
    T_PORT,
    T_PROBE,
    T_LIFECYCLE,
    T_HANDLER,
    T_HTTP_GET,
    T_ENV,
    T_ENV_SOURCE,
    T_FIELD_REF,
    T_VOLUME,
    T_FILES, /* a volume source made of files */
    T_FILE_ITEM,
    T_ITEMS,
    T_PROJECTED,
    T_PROJECTION,
    T_TOKEN,
    T_HOST_PATH,
    T_HPA,
    T_HPA_SPEC,
    T_CLAIM,
    T_CLAIM_SPEC,
    T_DEVICES,
    T_REQUEST,
    T_EXACT_REQUEST,
} type;

/* Arrays have the type of their elements. */
typedef struct member {
    type of;
    const char *name;
    type is;
} member;
static const member members[] = {
    {T_POD, "spec", T_POD_SPEC},
    {T_POD_SPEC, "containers", T_CONTAINER},
    {T_POD_SPEC, "initContainers", T_CONTAINER},
    {T_POD_SPEC, "volumes", T_VOLUME},
    {T_CONTAINER, "ports", T_PORT},
    {T_CONTAINER, "readinessProbe", T_PROBE},
    {T_CONTAINER, "livenessProbe", T_PROBE},
    {T_CONTAINER, "startupProbe", T_PROBE},
    {T_CONTAINER, "lifecycle", T_LIFECYCLE},
    {T_CONTAINER, "env", T_ENV},
    {T_PROBE, "httpGet", T_HTTP_GET},
    {T_LIFECYCLE, "postStart", T_HANDLER},
    {T_LIFECYCLE, "preStop", T_HANDLER},
    {T_HANDLER, "httpGet", T_HTTP_GET},
    {T_ENV, "valueFrom", T_ENV_SOURCE},
    {T_ENV_SOURCE, "fieldRef", T_FIELD_REF},
    {T_VOLUME, "secret", T_FILES},
    {T_VOLUME, "configMap", T_FILES},
    {T_VOLUME, "downwardAPI", T_FILES},
    {T_VOLUME, "projected", T_PROJECTED},
    {T_VOLUME, "hostPath", T_HOST_PATH},
    {T_FILES, "items", T_FILE_ITEM},
    {T_FILE_ITEM, "fieldRef", T_FIELD_REF},
    {T_PROJECTED, "sources", T_PROJECTION},
    {T_PROJECTION, "downwardAPI", T_ITEMS},
    {T_PROJECTION, "serviceAccountToken", T_TOKEN},
    {T_ITEMS, "items", T_FILE_ITEM},
    {T_HPA, "spec", T_HPA_SPEC},
    {T_CLAIM, "spec", T_CLAIM_SPEC},
    {T_CLAIM_SPEC, "devices", T_DEVICES},
    {T_DEVICES, "requests", T_REQUEST},
    {T_REQUEST, "exactly", T_EXACT_REQUEST},
    {T_REQUEST, "firstAvailable", T_EXACT_REQUEST},
};

/* A missing member: a text, or a number where there is none. */
typedef struct missing {
    type of;
    const char *name;
    const char *text;
    int64_t number;
} missing;
static const missing defaults[] = {
    {T_PORT, "protocol", "TCP", 0},
    {T_PROBE, "timeoutSeconds", NULL, 1},
    {T_PROBE, "periodSeconds", NULL, 10},
    {T_PROBE, "successThreshold", NULL, 1},
    {T_PROBE, "failureThreshold", NULL, 3},
    {T_HTTP_GET, "scheme", "HTTP", 0},
    {T_HTTP_GET, "path", "/", 0},
    {T_FIELD_REF, "apiVersion", "v1", 0},
    {T_FILES, "defaultMode", NULL, 0644},
    {T_PROJECTED, "defaultMode", NULL, 0644},
    {T_TOKEN, "expirationSeconds", NULL, 3600},
    {T_HOST_PATH, "type", "", 0},
    {T_EXACT_REQUEST, "allocationMode", "ExactCount", 0},
};

typedef struct writer {
    grove_builder *b;
    grove_doc *doc;
    bool host_network;
} writer;

static type type_of(type of, const char *name) {
    for (size_t i = 0; of != T_NONE && i < sizeof members / sizeof *members; i++) {
        if (members[i].of == of && strcmp(members[i].name, name) == 0) {
            return members[i].is;
        }
    }
    return T_NONE;
}

static void fill_in(writer *w, const grove_node *object, type t) {
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        const missing *d = &defaults[i];
        if (d->of != t || grove_node_get(object, d->name)) {
            continue;
        }
        if (d->text) {
            grove_builder_string(w->b, d->name, d->text);
        } else {
            grove_builder_int64(w->b, d->name, d->number);
        }
    }
}

static void copy_member(writer *w, const grove_node *object, const char *from, const char *to) {
    const grove_node *value = grove_node_get(object, from);
    if (value && !grove_node_get(object, to)) {
        grove_builder_link(w->b, to, w->doc, value);
    }
}

/* CPU at 80 %: what an autoscaler without metrics goes by. */
static void write_default_metrics(grove_builder *b) {
    grove_builder_open_array(b, "metrics");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "type", "Resource");
    grove_builder_open_object(b, "resource");
    grove_builder_string(b, "name", "cpu");
    grove_builder_open_object(b, "target");
    grove_builder_string(b, "type", "Utilization");
    grove_builder_int64(b, "averageUtilization", 80);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
}

/* Defaults that depend on another member. */
static void fill_in_special(writer *w, const grove_node *object, type t) {
    switch (t) {
    case T_POD_SPEC: /* the same thing under its old name */
        copy_member(w, object, "serviceAccountName", "serviceAccount");
        copy_member(w, object, "serviceAccount", "serviceAccountName");
        break;
    case T_PORT:
        if (w->host_network) {
            copy_member(w, object, "containerPort", "hostPort");
        }
        break;
    case T_EXACT_REQUEST: {
        gv_str mode = gv_get_str(object, "allocationMode");
        if ((mode.n == 0 || gv_str_is(mode, "ExactCount")) && !grove_node_get(object, "count")) {
            grove_builder_int64(w->b, "count", 1);
        }
        break;
    }
    case T_HPA_SPEC:
        if (!grove_node_get(object, "metrics")) {
            write_default_metrics(w->b);
        }
        break;
    default:
        break;
    }
}

static void write_value(writer *w, const char *key, const grove_node *node, type t) {
    if (t == T_NONE ||
        (grove_node_type(node) != GROVE_OBJECT && grove_node_type(node) != GROVE_ARRAY)) {
        grove_builder_link(w->b, key, w->doc, node);
        return;
    }
    if (grove_node_type(node) == GROVE_ARRAY) {
        grove_builder_open_array(w->b, key);
        for (const grove_node *e = grove_node_first(node); e; e = grove_node_next(node, e)) {
            write_value(w, NULL, e, t);
        }
        grove_builder_close(w->b);
        return;
    }
    grove_builder_open_object(w->b, key);
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        const char *name = grove_node_key(m, NULL);
        write_value(w, name, m, type_of(t, name));
    }
    fill_in(w, node, t);
    fill_in_special(w, node, t);
    grove_builder_close(w->b);
}

void gv_served_write(grove_builder *b, const char *key, grove_doc *doc, const grove_node *object,
                     gv_kind kind) {
    const grove_node *spec = grove_node_get(object, "spec");
    writer w = {b, doc, grove_node_is_true(grove_node_get(spec, "hostNetwork")) != 0};
    type t = kind == GV_KIND_POD             ? T_POD
             : kind == GV_KIND_HPA           ? T_HPA
             : kind == GV_KIND_RESOURCECLAIM ? T_CLAIM
                                             : T_NONE;
    write_value(&w, key, object, t);
}

/* ---- what is refused ---- */

static bool is_set(const grove_node *object, const char *key) {
    const grove_node *value = grove_node_get(object, key);
    return value && grove_node_type(value) != GROVE_NULL_NODE;
}

static bool names_volume(const grove_node *volumes, gv_str name) {
    for (const grove_node *v = grove_node_first(volumes); v; v = grove_node_next(volumes, v)) {
        if (gv_str_eq(gv_get_str(v, "name"), name)) {
            return true;
        }
    }
    return false;
}

/* No image, or a mount of a volume that the pod does not have. */
static bool refuses_container(const grove_node *container, const grove_node *volumes) {
    const grove_node *mounts = grove_node_get(container, "volumeMounts");
    if (gv_get_str(container, "image").n == 0) {
        return true;
    }
    for (const grove_node *m = grove_node_first(mounts); m; m = grove_node_next(mounts, m)) {
        if (!names_volume(volumes, gv_get_str(m, "name"))) {
            return true;
        }
    }
    return false;
}

/* Only an init container that keeps running (a sidecar) can have probes and hooks. */
static bool refuses_init_container(const grove_node *container) {
    return !gv_str_is(gv_get_str(container, "restartPolicy"), "Always") &&
           (is_set(container, "lifecycle") || is_set(container, "readinessProbe") ||
            is_set(container, "livenessProbe") || is_set(container, "startupProbe"));
}

bool gv_served_refuses_pod(const grove_node *pod_spec) {
    const grove_node *volumes = grove_node_get(pod_spec, "volumes");
    const grove_node *lists[] = {grove_node_get(pod_spec, "containers"),
                                 grove_node_get(pod_spec, "initContainers")};
    if (grove_node_size(lists[0]) == 0) {
        return true;
    }
    for (int l = 0; l < 2; l++) {
        const grove_node *c = grove_node_first(lists[l]);
        for (; c; c = grove_node_next(lists[l], c)) {
            if (refuses_container(c, volumes) || (l == 1 && refuses_init_container(c))) {
                return true;
            }
        }
    }
    return false;
}
