/* SPDX-License-Identifier: Apache-2.0 */
/* How answers are written: documents, Status objects, plain text. */
#include "front/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define JSON "application/json"
#define TEXT "text/plain; charset=utf-8"

void gv_front_response_init(gv_front_response *r, grove_env *env) {
    *r = (gv_front_response){.http = 200, .content_type = JSON};
    grove_buf_init(&r->body, env);
    grove_buf_init(&r->warning, env);
}

void gv_front_response_fini(gv_front_response *r) {
    grove_buf_fini(&r->body);
    grove_buf_fini(&r->warning);
}

grove_status gv_front_text(gv_front_call *c, int32_t http, const char *text) {
    c->res->http = http;
    c->res->content_type = TEXT;
    grove_buf_clear(&c->res->body);
    return grove_buf_append(&c->res->body, text, strlen(text));
}

grove_status gv_front_node(gv_front_call *c, int32_t http, const grove_node *node) {
    grove_buf *body = &c->res->body;
    c->res->http = http;
    grove_buf_clear(body);
    if (c->form == GV_FORM_YAML) {
        c->res->content_type = "application/yaml";
        return grove_node_write_yaml(node, 0, body, NULL);
    }
    c->res->content_type = JSON;
    grove_status st = grove_node_write_json(node, 0, body, NULL);
    return st < 0 ? st : grove_buf_append(body, "\n", 1);
}

grove_status gv_front_built(gv_front_call *c, int32_t http, grove_builder *b) {
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_front_node(c, http, grove_doc_root(doc));
        grove_doc_unref(doc);
    }
    return st;
}

static void put_details(const gv_front_call *c, grove_builder *b) {
    const gv_front_route *r = &c->route;
    if (r->name[0]) {
        grove_builder_string(b, "name", r->name);
    }
    if (grove_kind_group(r->kind)[0]) {
        grove_builder_string(b, "group", grove_kind_group(r->kind));
    }
    grove_builder_string(b, "kind", grove_kind_plural(r->kind));
}

static void open_failure(grove_builder *b, const char *message, const char *reason) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "Status");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    grove_builder_string(b, "status", "Failure");
    grove_builder_string(b, "message", message);
    if (reason[0]) {
        grove_builder_string(b, "reason", reason);
    }
}

static grove_status close_failure(gv_front_call *c, int32_t http, grove_builder *b) {
    grove_builder_int64(b, "code", http);
    grove_builder_close(b);
    grove_status st = gv_front_built(c, http, b);
    grove_builder_free(b);
    return st;
}

grove_status gv_front_refuse(gv_front_call *c, int32_t http, const char *reason,
                             gv_front_details details, const char *fmt, ...) {
    char message[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    open_failure(b, message, reason);
    if (details != GV_DETAILS_NONE) {
        grove_builder_open_object(b, "details");
        if (details == GV_DETAILS_OBJECT) {
            put_details(c, b);
        }
        grove_builder_close(b);
    }
    return close_failure(c, http, b);
}

grove_status gv_front_refuse_option(gv_front_call *c, const char *options, const char *field,
                                    const char *cause, const char *why) {
    char message[1024];
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    (void)snprintf(message, sizeof message, "%s.meta.k8s.io \"\" is invalid: %s: %s", options,
                   field, why);
    open_failure(b, message, "Invalid");
    grove_builder_open_object(b, "details");
    grove_builder_string(b, "group", "meta.k8s.io");
    grove_builder_string(b, "kind", options);
    grove_builder_open_array(b, "causes");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "reason", cause);
    grove_builder_string(b, "message", why);
    grove_builder_string(b, "field", field);
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_close(b);
    return close_failure(c, 422, b);
}

grove_status gv_front_not_found(gv_front_call *c) {
    return gv_front_text(c, 404, "404 page not found\n");
}

grove_status gv_front_no_method(gv_front_call *c) {
    return gv_front_refuse(c, 405, "MethodNotAllowed", GV_DETAILS_EMPTY,
                           "the server does not allow this method on the requested resource");
}

grove_status gv_front_no_subresource(gv_front_call *c) {
    return gv_front_refuse(c, 404, "NotFound", GV_DETAILS_EMPTY,
                           "the server could not find the requested resource");
}

/* An object of the kind that was asked for, or its list; not a Status, a Scale, ... */
static bool is_ours(const gv_front_call *c, const grove_node *root) {
    const char *kind = grove_node_text(grove_node_get(root, "kind"));
    const char *name = grove_kind_name(c->route.kind);
    size_t n = strlen(name);
    return kind && strncmp(kind, name, n) == 0 &&
           (kind[n] == '\0' || strcmp(kind + n, "List") == 0);
}

static grove_status put_shaped(gv_front_call *c, int32_t http, grove_doc *doc) {
    const char *include = gv_front_query_get(&c->query, "includeObject");
    gv_front_shape shape = {c->env, c->route.kind, c->form, grove_sim_now(c->sim), {0}};
    (void)snprintf(shape.include, sizeof shape.include, "%s", include ? include : "");
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    st = gv_front_shape_put(&shape, b, NULL, doc, grove_doc_root(doc), true);
    st = st < 0 ? st : gv_front_built(c, http, b);
    grove_builder_free(b);
    return st;
}

grove_status gv_front_result(gv_front_call *c, grove_sim_result *res) {
    grove_status st = GROVE_OK;
    c->res->retry_after_s = (res->retry_after_ms + 999) / 1000;
    if (!res->doc) {
        st = gv_front_refuse(c, res->http ? res->http : 500, res->reason, GV_DETAILS_NONE, "%s",
                             res->message);
    } else if (is_ours(c, grove_doc_root(res->doc))) {
        st = put_shaped(c, res->http, res->doc);
    } else {
        st = gv_front_node(c, res->http, grove_doc_root(res->doc));
    }
    grove_doc_unref(res->doc);
    res->doc = NULL;
    return st;
}
