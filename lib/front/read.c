/* SPDX-License-Identifier: Apache-2.0 */
/* GET: one object, a collection in pages, a subresource. */
#include "front/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Who writes: as it says, else by its program's name. */
static const char *manager_of(gv_front_call *c) {
    const char *manager = gv_front_query_get(&c->query, "fieldManager"), *agent = c->req->agent;
    if (manager && manager[0]) {
        return manager;
    }
    size_t n = agent ? strcspn(agent, "/") : 0;
    (void)snprintf(c->manager, sizeof c->manager, "%.*s", (int)(n < 100 ? n : 100),
                   agent ? agent : "");
    return c->manager[0] ? c->manager : "unknown";
}

grove_op gv_front_op(gv_front_call *c, grove_verb verb) {
    return (grove_op){.size = (uint32_t)sizeof(grove_op),
                      .verb = verb,
                      .token = 1,
                      .kind = c->route.kind,
                      .ns = c->route.ns,
                      .name = c->route.name,
                      .manager = manager_of(c),
                      .grace_seconds = GROVE_GRACE_DEFAULT};
}

grove_status gv_front_execute(gv_front_call *c, const grove_op *op) {
    grove_sim_result res = {.size = (uint32_t)sizeof res};
    grove_status st = grove_sim_execute(c->sim, op, &res);
    return st < 0 ? st : gv_front_result(c, &res);
}

/* The parameter as a number; *out_ok is false when it was refused. */
static grove_status number(gv_front_call *c, const char *key, int64_t *out, bool *out_ok) {
    const char *text = gv_front_query_get(&c->query, key);
    *out_ok = true;
    if (!text || !text[0]) {
        return GROVE_OK;
    }
    char *end = NULL;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (*end || errno) {
        *out_ok = false;
        return gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE,
                               "strconv.ParseInt: parsing \"%.200s\": invalid syntax", text);
    }
    *out = n;
    return GROVE_OK;
}

grove_status gv_front_check_version(gv_front_call *c, bool *out_ok) {
    const char *version = gv_front_query_get(&c->query, "resourceVersion");
    const char *match = gv_front_query_get(&c->query, "resourceVersionMatch");
    const char *why = NULL;
    *out_ok = false;
    if (version && version[strspn(version, "0123456789")]) {
        return gv_front_refuse(c, 400, "BadRequest", GV_DETAILS_NONE,
                               "invalid resource version: resourceVersion: Invalid value: "
                               "\"%.200s\": strconv.ParseUint: parsing \"%.200s\": invalid syntax",
                               version, version);
    }
    if (gv_front_query_get(&c->query, "sendInitialEvents")) {
        why = match && strcmp(match, "NotOlderThan") == 0
                  ? NULL
                  : "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                    "NotOlderThan";
    } else if (match && (!version || !version[0])) {
        why = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
    }
    *out_ok = why == NULL;
    return why ? gv_front_refuse_option(c, "ListOptions", "resourceVersionMatch",
                                        "FieldValueForbidden", why)
               : GROVE_OK;
}

/* Asked for a version that has not come to pass. */
static grove_status refuse_future(gv_front_call *c, const char *version, const char *now) {
    char why[200];
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    (void)snprintf(why, sizeof why, "Too large resource version: %.40s, current: %.40s", version,
                   now);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "Status");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    grove_builder_string(b, "status", "Failure");
    grove_builder_string(b, "message", why);
    grove_builder_string(b, "reason", "Timeout");
    grove_builder_open_object(b, "details");
    grove_builder_open_array(b, "causes");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "reason", "ResourceVersionTooLarge");
    grove_builder_string(b, "message", "Too large resource version");
    grove_builder_close(b);
    grove_builder_close(b);
    grove_builder_int64(b, "retryAfterSeconds", 1);
    grove_builder_close(b);
    grove_builder_int64(b, "code", 504);
    grove_builder_close(b);
    c->res->retry_after_s = 1;
    c->form = GV_FORM_JSON;
    st = gv_front_built(c, 504, b);
    grove_builder_free(b);
    return st;
}

static bool is_later(const char *version, const char *now) {
    size_t n = strlen(version), m = strlen(now);
    return n != m ? n > m : strcmp(version, now) > 0;
}

/* A page that is too old: the Status offers to go on with the list as it is now. */
static grove_status refuse_expired(gv_front_call *c, const grove_sim_result *res,
                                   const char *position) {
    char token[GV_FRONT_TARGET_MAX];
    grove_builder *b = NULL;
    const grove_node *root = grove_doc_root(res->doc);
    grove_status st = grove_builder_new(c->env, &b);
    if (st < 0) {
        return st;
    }
    (void)snprintf(token, sizeof token, "0%s", strchr(position, ':'));
    grove_builder_open_object(b, NULL);
    for (const grove_node *m = grove_node_first(root); m; m = grove_node_next(root, m)) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "metadata") != 0) {
            grove_builder_copy(b, key, m);
            continue;
        }
        grove_builder_open_object(b, key);
        grove_builder_string(b, "continue", token);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    c->form = GV_FORM_JSON;
    st = gv_front_built(c, 410, b);
    grove_builder_free(b);
    return st;
}

/* As asked for, unless it is asked of the future, or of a past that is forgotten. */
static grove_status answer_list(gv_front_call *c, const grove_op *op, const char *version) {
    grove_sim_result res = {.size = (uint32_t)sizeof res};
    grove_status st = grove_sim_execute(c->sim, op, &res);
    if (st < 0) {
        return st;
    }
    const char *now = grove_node_text(
        grove_node_at_path(res.doc ? grove_doc_root(res.doc) : NULL, "/metadata/resourceVersion"));
    if (version && res.status == GROVE_OK && now && is_later(version, now)) {
        char copy[40];
        (void)snprintf(copy, sizeof copy, "%s", now);
        grove_doc_unref(res.doc);
        return refuse_future(c, version, copy);
    }
    if (res.http == 410 && res.doc && gv_front_query_get(&c->query, "continue")) {
        st = refuse_expired(c, &res, op->position);
        grove_doc_unref(res.doc);
        return st;
    }
    return gv_front_result(c, &res);
}

static grove_status list(gv_front_call *c) {
    char exact[64];
    int64_t limit = 0;
    bool ok = true;
    grove_status st = number(c, "limit", &limit, &ok);
    st = st < 0 || !ok ? st : gv_front_check_version(c, &ok);
    if (st < 0 || !ok) {
        return st;
    }
    const char *version = gv_front_query_get(&c->query, "resourceVersion");
    bool any = version && strcmp(version, "0") == 0; /* then everything comes at once */
    grove_op op = gv_front_op(c, GROVE_VERB_LIST);
    op.name = NULL;
    op.limit = any || limit < 0 || limit > UINT32_MAX ? 0 : (uint32_t)limit;
    op.label_selector = gv_front_query_get(&c->query, "labelSelector");
    op.field_selector = gv_front_query_get(&c->query, "fieldSelector");
    op.position = gv_front_query_get(&c->query, "continue");
    const char *match = gv_front_query_get(&c->query, "resourceVersionMatch");
    if (match && strcmp(match, "Exact") == 0 && !op.position) {
        (void)snprintf(exact, sizeof exact, "%.40s:", version); /* a page of it, from the start */
        op.position = exact;
    }
    return answer_list(c, &op, any ? NULL : version);
}

grove_status gv_front_read(gv_front_call *c) {
    if (c->route.name[0] == '\0') {
        return gv_front_query_true(&c->query, "watch") ? gv_front_watch(c) : list(c);
    }
    grove_op op = gv_front_op(c, GROVE_VERB_GET);
    if (strcmp(c->route.sub, "scale") == 0) {
        op.subresource = GROVE_SUBRESOURCE_SCALE;
    } else if (c->route.sub[0] && strcmp(c->route.sub, "status") != 0) {
        return gv_front_no_subresource(c);
    }
    return gv_front_execute(c, &op);
}
