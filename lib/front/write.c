/* SPDX-License-Identifier: Apache-2.0 */
/* POST, PUT and PATCH: objects, their status and scale, bindings. */
#include "front/parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ACCEPTED "the body of the request was in an unknown format - accepted media types include: "

/* ---- bodies ---- */

static bool type_is(const char *content_type, const char *want) {
    size_t n = content_type ? strcspn(content_type, "; ") : 0;
    return n == strlen(want) && strncasecmp(content_type, want, n) == 0;
}

static bool is_json(const char *content_type) {
    return !content_type || !content_type[0] || type_is(content_type, "application/json");
}

static bool is_object_text(const char *text, size_t n) {
    while (n > 0 && strchr(" \t\r\n", *text) && *text) {
        text++;
        n--;
    }
    return n > 0 && *text == '{';
}

grove_status gv_front_body(gv_front_call *c, bool yaml, bool patch, grove_doc **out_doc) {
    const gv_front_request *q = c->req;
    grove_error err = GROVE_ERROR_INIT;
    yaml = yaml && !is_object_text(q->body, q->body_len); /* clients send JSON by that name too */
    grove_status st = yaml ? grove_doc_parse_yaml(c->env, q->body, q->body_len, 0, out_doc, &err)
                           : grove_doc_parse_json(c->env, q->body, q->body_len, 0, out_doc, &err);
    if (st == GROVE_OK || st == GROVE_E_NOMEM) {
        return st;
    }
    if (patch) {
        return gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE, "error decoding patch: %s",
                               err.message);
    }
    return gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE,
                           "the object provided is unrecognized (must be of type %s): couldn't get "
                           "version/kind; %s parse error: %s",
                           grove_kind_name(c->route.kind), yaml ? "yaml" : "json", err.message);
}

/* The object as it came, in any of the forms that are understood. */
static grove_status read_object(gv_front_call *c, grove_doc **out_doc) {
    const char *type = c->req->content_type;
    bool yaml = type_is(type, "application/yaml");
    if (yaml || is_json(type)) {
        return gv_front_body(c, yaml, false, out_doc);
    }
    grove_status st = type_is(type, "application/vnd.kubernetes.protobuf")
                          ? gv_front_protobuf(c, out_doc)
                          : GROVE_E_UNSUPPORTED;
    if (st != GROVE_E_UNSUPPORTED) {
        return st;
    }
    return gv_front_refuse(c, 415, "UnsupportedMediaType", GV_DETAILS_NONE,
                           ACCEPTED "application/json, application/yaml, "
                                    "application/vnd.kubernetes.protobuf");
}

/* The object of a POST or PUT. */
static grove_status object_body(gv_front_call *c, grove_doc **out_doc) {
    bool ok = true;
    grove_status st = read_object(c, out_doc);
    if (st == GROVE_OK && *out_doc && !c->route.sub[0]) {
        st = gv_front_check_fields(c, *out_doc, &ok);
    }
    if (!ok) {
        grove_doc_unref(*out_doc);
        *out_doc = NULL;
    }
    return st == GROVE_OK ? gv_front_core_event(c, out_doc) : st;
}

/* ---- what all writes have in common ---- */

grove_status gv_front_dry_run(gv_front_call *c, grove_op *op, bool *out_ok) {
    const char *value = gv_front_query_get(&c->query, "dryRun");
    *out_ok = !value || strcmp(value, "All") == 0;
    op->flags |= value && *out_ok ? GROVE_OP_DRY_RUN : 0;
    if (*out_ok) {
        return GROVE_OK;
    }
    char why[300];
    const char *options = strcmp(c->req->method, "POST") == 0     ? "CreateOptions"
                          : strcmp(c->req->method, "PUT") == 0    ? "UpdateOptions"
                          : strcmp(c->req->method, "DELETE") == 0 ? "DeleteOptions"
                                                                  : "PatchOptions";
    (void)snprintf(why, sizeof why, "Unsupported value: [\"%.200s\"]: supported values: \"All\"",
                   value);
    return gv_front_refuse_option(c, options, "dryRun", "FieldValueNotSupported", why);
}

static const char *text_at(const grove_doc *doc, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(grove_doc_root(doc), pointer));
    return text ? text : "";
}

/* What is written of the object; false: no such subresource. */
static bool subresource(const gv_front_call *c, grove_subresource *out) {
    static const struct {
        const char *name;
        grove_subresource sub;
    } known[] = {{"", GROVE_SUBRESOURCE_NONE},
                 {"status", GROVE_SUBRESOURCE_STATUS},
                 {"scale", GROVE_SUBRESOURCE_SCALE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(c->route.sub, known[i].name) == 0) {
            *out = known[i].sub;
            return true;
        }
    }
    return false;
}

/* Webhooks warn of what reaches them: no namespace, an invalid object, an applier's conflict come before. */
static void drop_early_warnings(gv_front_call *c) {
    int32_t http = c->res->http;
    bool applies = strcmp(c->req->method, "PATCH") == 0;
    if (http == 404 || http == 422 || (http == 409 && applies)) {
        grove_buf_clear(&c->res->warning);
    }
}

/* ---- POST ---- */

static grove_status bind(gv_front_call *c, grove_op *op, const grove_doc *doc) {
    op->verb = GROVE_VERB_BIND;
    op->target = text_at(doc, "/target/name");
    op->uid = text_at(doc, "/metadata/uid");
    op->uid = op->uid[0] ? op->uid : NULL;
    return gv_front_execute(c, op);
}

static grove_status evict(gv_front_call *c, grove_op *op, const grove_doc *doc) {
    const grove_node *options = grove_node_get(grove_doc_root(doc), "deleteOptions");
    const char *uid = grove_node_text(grove_node_at_path(options, "/preconditions/uid"));
    op->verb = GROVE_VERB_EVICT;
    op->uid = uid && uid[0] ? uid : NULL;
    if (grove_node_int64(grove_node_get(options, "gracePeriodSeconds"), &op->grace_seconds) < 0 ||
        op->grace_seconds < 0) {
        op->grace_seconds = GROVE_GRACE_DEFAULT;
    }
    return gv_front_execute(c, op);
}

static grove_status post(gv_front_call *c, grove_op *op, grove_doc *doc) {
    if (strcmp(c->route.sub, "binding") == 0) {
        return bind(c, op, doc);
    }
    if (strcmp(c->route.sub, "eviction") == 0) {
        return evict(c, op, doc);
    }
    op->name = NULL;
    grove_status st = gv_front_execute(c, op);
    drop_early_warnings(c);
    return st;
}

static grove_status create(gv_front_call *c) {
    bool pod_verb = c->route.kind == GROVE_KIND_POD && c->route.name[0] &&
                    (strcmp(c->route.sub, "binding") == 0 || strcmp(c->route.sub, "eviction") == 0);
    if (c->route.name[0] && !pod_verb) {
        return gv_front_no_method(c);
    }
    grove_doc *doc = NULL;
    grove_op op = gv_front_op(c, GROVE_VERB_CREATE);
    bool ok = true;
    grove_status st = gv_front_dry_run(c, &op, &ok);
    st = st < 0 || !ok ? st : object_body(c, &doc);
    if (st == GROVE_OK && doc) {
        op.body_doc = doc;
        st = post(c, &op, doc);
    }
    grove_doc_unref(doc);
    return st;
}

/* ---- PUT ---- */

static grove_status replace(gv_front_call *c) {
    grove_doc *doc = NULL;
    grove_op op = gv_front_op(c, GROVE_VERB_REPLACE);
    bool ok = true;
    if (!c->route.name[0]) {
        return gv_front_no_method(c);
    }
    if (!subresource(c, &op.subresource)) {
        return gv_front_no_subresource(c);
    }
    grove_status st = gv_front_dry_run(c, &op, &ok);
    st = st < 0 || !ok ? st : object_body(c, &doc);
    if (st == GROVE_OK && doc) {
        const char *name = text_at(doc, "/metadata/name");
        op.body_doc = doc;
        st = name[0] && strcmp(name, c->route.name) != 0
                 ? gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE,
                                   "the name of the object (%.250s) does not match the name on the "
                                   "URL (%.250s)",
                                   name, c->route.name)
                 : gv_front_execute(c, &op);
    }
    grove_doc_unref(doc);
    return st;
}

/* ---- PATCH ---- */

/* Sets verb and patch type by the content type; false: none of those that are understood. */
static bool patch_kind(const gv_front_call *c, grove_op *op) {
    const char *type = c->req->content_type;
    if (type_is(type, "application/apply-patch+yaml")) {
        op->verb = GROVE_VERB_APPLY;
        op->manager = gv_front_query_get(&c->query, "fieldManager"); /* has to be named */
        op->flags |= gv_front_query_true(&c->query, "force") ? GROVE_OP_FORCE : 0;
        return true;
    }
    op->patch_type = type_is(type, "application/merge-patch+json")  ? GROVE_PATCH_MERGE
                     : type_is(type, "application/json-patch+json") ? GROVE_PATCH_JSON
                     : type_is(type, "application/strategic-merge-patch+json")
                         ? GROVE_PATCH_STRATEGIC
                         : GROVE_PATCH_NONE;
    return op->patch_type != GROVE_PATCH_NONE;
}

/* The object as the patch makes it, before anything is dropped or added; none when it cannot be applied. */
static grove_status patched(gv_front_call *c, const grove_op *op, grove_doc **out_doc) {
    grove_doc *have = NULL, *patch = op->body_doc;
    const grove_node *body = grove_doc_root(patch);
    grove_status st = grove_sim_get(c->sim, op->kind, op->ns, op->name, &have, NULL);
    if (st == GROVE_OK && op->patch_type == GROVE_PATCH_JSON) {
        st = grove_json_patch_apply(have, grove_doc_root(have), patch, body, out_doc, NULL);
    } else if (st == GROVE_OK && op->patch_type != GROVE_PATCH_STRATEGIC) {
        st = grove_merge_patch_apply(have, grove_doc_root(have), patch, body, out_doc, NULL);
    } else if (st == GROVE_E_NOT_FOUND && op->verb == GROVE_VERB_APPLY) {
        *out_doc = grove_doc_ref(patch); /* which creates it */
        st = GROVE_OK;
    }
    grove_doc_unref(have);
    return st == GROVE_E_NOMEM ? st : GROVE_OK;
}

/* Judges the fields of what a patch makes as those of a whole object. *out_ok false: refused. */
static grove_status check_patched(gv_front_call *c, const grove_op *op, bool *out_ok) {
    grove_doc *next = NULL;
    *out_ok = true;
    if (!grove_kind_is_custom(op->kind) || c->route.sub[0]) {
        return GROVE_OK;
    }
    grove_status st = patched(c, op, &next);
    st = st < 0 || !next ? st : gv_front_check_fields(c, next, out_ok);
    grove_doc_unref(next);
    return st;
}

static grove_status patch(gv_front_call *c) {
    grove_doc *doc = NULL;
    grove_op op = gv_front_op(c, GROVE_VERB_PATCH);
    bool ok = true;
    if (!c->route.name[0]) {
        return gv_front_no_method(c);
    }
    if (!subresource(c, &op.subresource)) {
        return gv_front_no_subresource(c);
    }
    if (!patch_kind(c, &op)) {
        return gv_front_refuse(c, 415, "UnsupportedMediaType", GV_DETAILS_EMPTY,
                               "415: Unsupported Media Type");
    }
    grove_status st = gv_front_dry_run(c, &op, &ok);
    st = st < 0 || !ok ? st : gv_front_body(c, op.verb == GROVE_VERB_APPLY, true, &doc);
    if (st == GROVE_OK && doc) {
        op.body_doc = doc;
        st = check_patched(c, &op, &ok);
        st = st < 0 || !ok ? st : gv_front_execute(c, &op);
        drop_early_warnings(c);
    }
    grove_doc_unref(doc);
    return st;
}

grove_status gv_front_write(gv_front_call *c) {
    const char *method = c->req->method;
    return strcmp(method, "POST") == 0  ? create(c)
           : strcmp(method, "PUT") == 0 ? replace(c)
                                        : patch(c);
}
