/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAPI v3 as far as clients decide by it: which paths exist, which query parameters writes take, and the
 * schemas: whole ones of Grove's kinds and of what a pod's spec is, the outline of every other kind.
 */
#include "front/parts.h"

#include <stdio.h>
#include <string.h>

#include <grove/admission.h>

#define GVK "x-kubernetes-group-version-kind"

/* "api/v1" or "apis/grove.io/v1alpha1" */
static void path_of(grove_kind kind, char *out, size_t cap) {
    const char *group = grove_kind_group(kind);
    (void)snprintf(out, cap, "%s%s%s/%s", group[0] ? "apis" : "api", group[0] ? "/" : "", group,
                   grove_kind_version(kind));
}

static bool same_document(grove_kind a, grove_kind b) {
    return strcmp(grove_kind_group(a), grove_kind_group(b)) == 0 &&
           strcmp(grove_kind_version(a), grove_kind_version(b)) == 0;
}

static bool is_first(grove_kind kind) {
    for (grove_kind k = 1; k < kind; k++) {
        if (same_document(k, kind)) {
            return false;
        }
    }
    return true;
}

static void put_index(grove_builder *b) {
    char path[128], url[160];
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "paths");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        if (is_first(k)) {
            path_of(k, path, sizeof path);
            (void)snprintf(url, sizeof url, "/openapi/v3/%s", path);
            grove_builder_open_object(b, path);
            grove_builder_string(b, "serverRelativeURL", url);
            grove_builder_close(b);
        }
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static void put_gvk(grove_builder *b, const char *key, grove_kind kind) {
    grove_builder_open_object(b, key);
    grove_builder_string(b, "group", grove_kind_group(kind));
    grove_builder_string(b, "kind", grove_kind_name(kind));
    grove_builder_string(b, "version", grove_kind_version(kind));
    grove_builder_close(b);
}

static void put_write(grove_builder *b, const char *method, grove_kind kind) {
    static const char *const params[] = {"dryRun", "fieldManager", "fieldValidation"};
    grove_builder_open_object(b, method);
    grove_builder_open_array(b, "parameters");
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "name", params[i]);
        grove_builder_string(b, "in", "query");
        grove_builder_open_object(b, "schema");
        grove_builder_string(b, "type", "string");
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "responses");
    grove_builder_close(b);
    put_gvk(b, GVK, kind);
    grove_builder_close(b);
}

static void put_paths(grove_builder *b, grove_kind kind) {
    char base[128], path[256];
    path_of(kind, base, sizeof base);
    bool namespaced = grove_kind_is_namespaced(kind);
    (void)snprintf(path, sizeof path, "/%s%s/%s", base, namespaced ? "/namespaces/{namespace}" : "",
                   grove_kind_plural(kind));
    grove_builder_open_object(b, path);
    put_write(b, "post", kind);
    grove_builder_close(b);
    size_t n = strlen(path);
    (void)snprintf(path + n, sizeof path - n, "/{name}");
    grove_builder_open_object(b, path);
    put_write(b, "put", kind);
    put_write(b, "patch", kind);
    grove_builder_close(b);
}

/* ---- schemas ---- */

/* The resource definition of a kind; NULL where there is none, or no YAML to read it by. */
static grove_status read_crd(grove_env *env, grove_kind kind, grove_doc **out_doc) {
    grove_buf text;
    grove_buf_init(&text, env);
    grove_status st = grove_crd_write(env, grove_kind_name(kind), GROVE_CRD_UPSTREAM, &text, NULL);
    if (st == GROVE_OK) {
        st = grove_doc_parse_yaml(env, text.data, (size_t)text.len, 0, out_doc, NULL);
    }
    grove_buf_fini(&text);
    return st == GROVE_E_NOMEM ? st : GROVE_OK;
}

/* "io.grove.scheduler.v1alpha1.PodGang": the labels of the group in reverse order. */
static void schema_name(grove_kind kind, char *out, size_t cap) {
    const char *group = grove_kind_group(kind), *end = group + strlen(group);
    size_t at = 0;
    out[0] = '\0';
    while (end > group && at < cap) {
        const char *start = end;
        while (start > group && start[-1] != '.') {
            start--;
        }
        int n = snprintf(out + at, cap - at, "%.*s.", (int)(end - start), start);
        at += n > 0 ? (size_t)n : 0;
        end = start > group ? start - 1 : group;
    }
    if (at < cap) {
        (void)snprintf(out + at, cap - at, "%s.%s", grove_kind_version(kind),
                       grove_kind_name(kind));
    }
}

static void put_property(grove_builder *b, const char *key, const char *type, const char *text) {
    grove_builder_open_object(b, key);
    grove_builder_string(b, "type", type);
    grove_builder_string(b, "description", text);
    grove_builder_close(b);
}

/* A pod's spec is what a PodClique's template holds. */
static grove_status put_pod_spec(grove_builder *b, grove_env *env) {
    grove_doc *crd = NULL;
    grove_status st = read_crd(env, GROVE_KIND_PODCLIQUE, &crd);
    const grove_node *spec = grove_node_at_path(
        crd ? grove_doc_root(crd) : NULL,
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/podSpec");
    if (spec) {
        grove_builder_link(b, "spec", crd, spec);
    }
    grove_doc_unref(crd);
    return st;
}

/* What an object has where its schema says no more: its members, and for a pod its spec. */
static grove_status put_outline(grove_builder *b, grove_env *env, grove_kind kind) {
    char name[256];
    grove_status st = GROVE_OK;
    schema_name(kind, name, sizeof name);
    grove_builder_open_object(b, name);
    grove_builder_string(b, "type", "object");
    grove_builder_string(b, "description",
                         grove_kind_is_custom(kind) ? "A kind whose fields are not described here."
                                                    : "A built-in kind of Kubernetes.");
    grove_builder_open_object(b, "properties");
    put_property(b, "apiVersion", "string", "Group and version of this form of the object.");
    put_property(b, "kind", "string", "The kind of the object.");
    put_property(b, "metadata", "object", "Name, namespace, labels, owners.");
    if (kind == GROVE_KIND_POD) {
        st = put_pod_spec(b, env);
    } else {
        put_property(b, "spec", "object", "What is wanted.");
    }
    put_property(b, "status", "object", "What is.");
    grove_builder_close(b);
    if (grove_kind_is_custom(kind)) { /* whatever there is, it is not unknown */
        grove_builder_bool(b, "x-kubernetes-preserve-unknown-fields", 1);
    }
    grove_builder_open_array(b, GVK);
    put_gvk(b, NULL, kind);
    grove_builder_close(b);
    grove_builder_close(b);
    return st;
}

static grove_status put_schema(grove_builder *b, grove_env *env, grove_kind kind) {
    char name[256];
    grove_doc *crd = NULL;
    if (!grove_kind_is_custom(kind)) {
        return put_outline(b, env, kind);
    }
    grove_status st = read_crd(env, kind, &crd);
    const grove_node *schema = grove_node_at_path(crd ? grove_doc_root(crd) : NULL,
                                                  "/spec/versions/0/schema/openAPIV3Schema");
    if (st == GROVE_OK && !schema) { /* of somebody else, without a definition of ours */
        st = put_outline(b, env, kind);
    } else if (st == GROVE_OK) {
        schema_name(kind, name, sizeof name);
        grove_builder_open_object(b, name);
        for (const grove_node *m = grove_node_first(schema); m; m = grove_node_next(schema, m)) {
            grove_builder_link(b, grove_node_key(m, NULL), crd, m);
        }
        grove_builder_open_array(b, GVK);
        put_gvk(b, NULL, kind);
        grove_builder_close(b);
        grove_builder_close(b);
    }
    grove_doc_unref(crd);
    return st;
}

static grove_status put_document(grove_builder *b, grove_env *env, grove_kind leader) {
    grove_status st = GROVE_OK;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "openapi", "3.0.0");
    grove_builder_open_object(b, "info");
    grove_builder_string(b, "title", "Kubernetes");
    grove_builder_string(b, "version", "v1.34.0");
    grove_builder_close(b);
    grove_builder_open_object(b, "paths");
    for (grove_kind k = leader; k < GROVE_KIND_COUNT; k++) {
        if (same_document(k, leader)) {
            put_paths(b, k);
        }
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "components");
    grove_builder_open_object(b, "schemas");
    for (grove_kind k = leader; st == GROVE_OK && k < GROVE_KIND_COUNT; k++) {
        st = same_document(k, leader) ? put_schema(b, env, k) : GROVE_OK;
    }
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    return st;
}

/* The kind whose document it is; NONE: no such document. */
static grove_kind document_at(const gv_front_path *p) {
    bool core = p->n == 4 && strcmp(p->seg[2], "api") == 0;
    bool group = p->n == 5 && strcmp(p->seg[2], "apis") == 0;
    for (grove_kind k = 1; (core || group) && k < GROVE_KIND_COUNT; k++) {
        if (strcmp(grove_kind_group(k), core ? "" : p->seg[3]) == 0 &&
            strcmp(grove_kind_version(k), p->seg[core ? 3 : 4]) == 0) {
            return k;
        }
    }
    return GROVE_KIND_NONE;
}

grove_status gv_front_openapi(gv_front_call *c) {
    const gv_front_path *p = &c->path;
    bool v3 = p->n >= 2 && strcmp(p->seg[1], "v3") == 0, index = v3 && p->n == 2;
    grove_kind leader = v3 && !index ? document_at(p) : GROVE_KIND_NONE;
    if (!index && leader == GROVE_KIND_NONE) {
        return gv_front_not_found(c);
    }
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    if (index) {
        put_index(b);
    } else {
        st = put_document(b, c->env, leader);
    }
    c->form = GV_FORM_JSON;
    st = st < 0 ? st : gv_front_built(c, 200, b);
    grove_builder_free(b);
    return st;
}
