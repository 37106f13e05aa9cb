/* SPDX-License-Identifier: Apache-2.0 */
/* Who may change what groved manages: the operator, users that are exempt, everybody where a set says so. */
#include "certs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCOUNT_VARIABLE "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME"
#define ACCOUNT_DEFAULT "grove-operator"

typedef struct verdict {
    int allowed;
    int code;            /* when refused */
    const char *message; /* when refused */
    char warning[400];
} verdict;

static int is_exempt(const live *d, const char *user) {
    char own[400];
    const char *account = getenv(ACCOUNT_VARIABLE);
    (void)snprintf(own, sizeof own, "system:serviceaccount:%s:%s", d->ns,
                   account && account[0] ? account : ACCOUNT_DEFAULT);
    if (strcmp(user, own) == 0) {
        return 1;
    }
    const grove_node *e = grove_node_first(d->set.exempt);
    for (; e; e = grove_node_next(d->set.exempt, e)) {
        const char *name = grove_node_text(e);
        if (name && strcmp(name, user) == 0) {
            return 1;
        }
    }
    return 0;
}

static verdict refuse(int code, const char *message) {
    return (verdict){.code = code, .message = message};
}

/* What was there counts, so that taking a label away does not open the door. */
static const grove_node *judged_object(const grove_node *request, const char *operation) {
    return grove_node_get(request, strcmp(operation, "CREATE") == 0 ? "object" : "oldObject");
}

static verdict judge(const live *d, const grove_node *request) {
    const char *operation = grove_node_text(grove_node_get(request, "operation"));
    const char *user = grove_node_text(grove_node_at_path(request, "/userInfo/username"));
    const char *resource = grove_node_text(grove_node_at_path(request, "/resource/resource"));
    verdict v = {.allowed = 1};
    int unprotected = 0;
    if (!operation || !user || !resource) {
        return refuse(400, "the review names no operation, user or resource");
    }
    if (strcmp(operation, "CONNECT") == 0) {
        return v;
    }
    if (strcmp(operation, "CREATE") != 0 && strcmp(operation, "UPDATE") != 0 &&
        strcmp(operation, "DELETE") != 0) {
        return refuse(500, "the operation is not supported");
    }
    const grove_node *metadata = grove_node_get(judged_object(request, operation), "metadata");
    if (grove_node_type(metadata) != GROVE_OBJECT) {
        return refuse(400, "the object has no metadata");
    }
    size_t set_len = 0, ns_len = 0;
    const char *set = grove_node_textn(
        grove_node_get(grove_node_get(metadata, "labels"), "app.kubernetes.io/part-of"), &set_len);
    const char *ns = grove_node_textn(grove_node_get(metadata, "namespace"), &ns_len);
    if (!set || set_len == 0) {
        (void)snprintf(v.warning, sizeof v.warning,
                       "the label app.kubernetes.io/part-of is missing: no PodCliqueSet protects "
                       "this object");
    } else if (!sets_find(d->sets, ns ? ns : "", ns_len, set, set_len, &unprotected)) {
        (void)snprintf(v.warning, sizeof v.warning, "PodCliqueSet %.200s does not exist", set);
    } else if (!unprotected &&
               !(strcmp(operation, "DELETE") == 0 && strcmp(resource, "pods") == 0) &&
               !is_exempt(d, user)) {
        return refuse(403, "the object is managed by Grove: change the PodCliqueSet instead");
    }
    return v;
}

static void put_answer(grove_builder *b, const grove_node *uid, const verdict *v) {
    size_t n = 0;
    const char *text = grove_node_textn(uid, &n);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "admission.k8s.io/v1");
    grove_builder_string(b, "kind", "AdmissionReview");
    grove_builder_open_object(b, "response");
    grove_builder_stringn(b, "uid", text, n);
    grove_builder_bool(b, "allowed", v->allowed);
    if (!v->allowed) {
        grove_builder_open_object(b, "status");
        grove_builder_int64(b, "code", v->code);
        grove_builder_string(b, "message", v->message);
        grove_builder_close(b);
    }
    if (v->warning[0]) {
        grove_builder_open_array(b, "warnings");
        grove_builder_string(b, NULL, v->warning);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

grove_status authorizer_review(live *d, const char *bytes, size_t len, grove_buf *out,
                               grove_error *err) {
    grove_doc *doc = NULL, *answer = NULL;
    grove_builder *b = NULL;
    grove_status st = grove_doc_parse_json(d->env, bytes, len, 0, &doc, err);
    if (st < 0) {
        return st;
    }
    const grove_node *request = grove_node_get(grove_doc_root(doc), "request");
    const grove_node *uid = grove_node_get(request, "uid");
    if (grove_node_type(uid) != GROVE_STRING) {
        (void)snprintf(err->message, sizeof err->message,
                       "no AdmissionReview: request.uid is missing");
        st = GROVE_E_PARSE;
    }
    st = st < 0 ? st : grove_builder_new(d->env, &b);
    if (st == GROVE_OK) {
        verdict v = judge(d, request);
        put_answer(b, uid, &v);
        st = grove_builder_finish(b, &answer, err);
    }
    if (st == GROVE_OK) {
        st = grove_node_write_json(grove_doc_root(answer), 0, out, err);
    }
    grove_doc_unref(answer);
    grove_builder_free(b);
    grove_doc_unref(doc);
    return st;
}
