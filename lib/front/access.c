/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: the administrator, whom everybody is, may everything; whoever a client would rather be
 * (impersonation) may nothing, unless it is of the administrators' group. Reviews say the same.
 */
#include "front/parts.h"

#include <stdio.h>
#include <string.h>

#define MASTERS "system:masters"
#define ADMIN "admin"

bool gv_front_may(const gv_front_call *c) {
    const gv_front_request *q = c->req;
    return !q->user || !q->user[0] || (q->group && strcmp(q->group, MASTERS) == 0);
}

/* ---- refusals ---- */

static const char *verb_of(const gv_front_call *c) {
    const char *method = c->req->method;
    bool whole = !c->route.name[0];
    if (strcmp(method, "GET") == 0) {
        return !whole ? "get" : gv_front_query_true(&c->query, "watch") ? "watch" : "list";
    }
    return strcmp(method, "POST") == 0    ? "create"
           : strcmp(method, "PUT") == 0   ? "update"
           : strcmp(method, "PATCH") == 0 ? "patch"
           : whole                        ? "deletecollection"
                                          : "delete";
}

grove_status gv_front_forbid(gv_front_call *c) {
    const gv_front_route *r = &c->route;
    const char *group = grove_kind_group(r->kind), *plural = grove_kind_plural(r->kind);
    char object[300] = "", place[300] = "at the cluster scope";
    if (r->name[0]) {
        (void)snprintf(object, sizeof object, " \"%.253s\"", r->name);
    }
    if (r->ns[0]) {
        (void)snprintf(place, sizeof place, "in the namespace \"%.253s\"", r->ns);
    }
    return gv_front_refuse(c, 403, "Forbidden", GV_DETAILS_OBJECT,
                           "%s%s%s%s is forbidden: User \"%.100s\" cannot %s resource "
                           "\"%s%s%.60s\" in API group \"%s\" %s",
                           plural, group[0] ? "." : "", group, object, c->req->user, verb_of(c),
                           plural, r->sub[0] ? "/" : "", r->sub, group, place);
}

/* ---- reviews ---- */

typedef struct review {
    const char *group, *plural, *kind;
    void (*put)(const gv_front_call *c, grove_builder *b);
} review;

static void put_access(const gv_front_call *c, grove_builder *b) {
    grove_builder_bool(b, "allowed", gv_front_may(c));
}

static void put_rule(grove_builder *b, const char *verb, const char *const keys[],
                     const char *word) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_array(b, "verbs");
    grove_builder_string(b, NULL, verb);
    grove_builder_close(b);
    for (; *keys; keys++) {
        grove_builder_open_array(b, *keys);
        grove_builder_string(b, NULL, word);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_rules(const gv_front_call *c, grove_builder *b) {
    static const char *const resource[] = {"apiGroups", "resources", NULL};
    static const char *const address[] = {"nonResourceURLs", NULL};
    grove_builder_open_array(b, "resourceRules");
    if (gv_front_may(c)) {
        put_rule(b, "*", resource, "*");
    }
    grove_builder_close(b);
    grove_builder_open_array(b, "nonResourceRules");
    put_rule(b, gv_front_may(c) ? "*" : "get", address, "*");
    grove_builder_close(b);
    grove_builder_bool(b, "incomplete", 0);
}

static void put_user(const gv_front_call *c, grove_builder *b) {
    const gv_front_request *q = c->req;
    bool other = q->user && q->user[0];
    grove_builder_open_object(b, "userInfo");
    grove_builder_string(b, "username", other ? q->user : ADMIN);
    grove_builder_open_array(b, "groups");
    if (!other || (q->group && q->group[0])) {
        grove_builder_string(b, NULL, other ? q->group : MASTERS);
    }
    grove_builder_string(b, NULL, "system:authenticated");
    grove_builder_close(b);
    grove_builder_close(b);
}

static const review reviews[] = {
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview", put_access},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview", put_rules},
    {"authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview", put_user},
};

static const review *find(const gv_front_path *p) {
    bool shape = p->n == 4 && strcmp(p->seg[0], "apis") == 0 && strcmp(p->seg[2], "v1") == 0;
    for (size_t i = 0; shape && i < sizeof reviews / sizeof *reviews; i++) {
        if (strcmp(p->seg[1], reviews[i].group) == 0 && strcmp(p->seg[3], reviews[i].plural) == 0) {
            return &reviews[i];
        }
    }
    return NULL;
}

/* The answer does not depend on what is asked about, so that the body may have any form. */
grove_status gv_front_review(gv_front_call *c, bool *out_done) {
    const review *r = find(&c->path);
    grove_builder *b = NULL;
    char version[64];
    *out_done = r != NULL;
    grove_status st = r ? grove_builder_new(c->env, &b) : GROVE_OK;
    if (st < 0 || !r) {
        return st;
    }
    (void)snprintf(version, sizeof version, "%s/v1", r->group);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", r->kind);
    grove_builder_string(b, "apiVersion", version);
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    if (r->put != put_user) {
        grove_builder_open_object(b, "spec");
        grove_builder_close(b);
    }
    grove_builder_open_object(b, "status");
    r->put(c, b);
    grove_builder_close(b);
    grove_builder_close(b);
    c->form = GV_FORM_JSON;
    st = gv_front_built(c, 201, b);
    grove_builder_free(b);
    return st;
}
