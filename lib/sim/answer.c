/* SPDX-License-Identifier: Apache-2.0 */
/* What a request is answered: objects, Status documents, refusals. */
#include <stdarg.h>

#include "sim/call.h"

/* http and reason -> how a program sees it */
static grove_status status_of(int32_t http, const char *reason) {
    switch (http) {
    case 400:
    case 422:
        return GROVE_E_REFUSED;
    case 401:
        return GROVE_E_AUTH;
    case 403:
        return GROVE_E_FORBIDDEN;
    case 404:
        return GROVE_E_NOT_FOUND;
    case 409:
        return strcmp(reason, "AlreadyExists") == 0 ? GROVE_E_EXISTS : GROVE_E_CONFLICT;
    case 410:
        return GROVE_E_GONE;
    case 405:
    case 415:
        return GROVE_E_UNSUPPORTED;
    case 429:
        return GROVE_E_BUSY;
    default:
        return GROVE_E_UNAVAILABLE;
    }
}

grove_status gv_sim_answer(gv_sim_call *c, int32_t http, grove_doc *doc) {
    c->res->status = GROVE_OK;
    c->res->http = http;
    c->res->doc = doc;
    return GROVE_OK;
}

grove_status gv_sim_answer_object(gv_sim_call *c, int32_t http, const gv_sim_object *o) {
    return gv_sim_answer(c, http, grove_doc_ref(o->doc));
}

static void open_status(grove_builder *b, const char *status) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", "Status");
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_open_object(b, "metadata");
    grove_builder_close(b);
    grove_builder_string(b, "status", status);
}

static void build_cause(grove_builder *b, const gv_sim_cause *cause) {
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "reason", cause->reason);
    grove_builder_string(b, "message", cause->message);
    if (cause->field[0]) {
        grove_builder_string(b, "field", cause->field);
    }
    grove_builder_close(b);
}

/* `kind`: the resource word, or for invalid objects the kind itself. */
static void build_details(gv_sim_call *c, const char *kind, gv_str uid, const gv_sim_cause *causes,
                          size_t n) {
    grove_builder *b = c->sim->builder;
    grove_builder_open_object(b, "details");
    if (c->name.n > 0) {
        grove_builder_stringn(b, "name", c->name.p, c->name.n);
    }
    if (c->info && c->info->group[0]) {
        grove_builder_string(b, "group", c->info->group);
    }
    if (c->info && kind[0]) {
        grove_builder_string(b, "kind", kind);
    }
    if (uid.n > 0) {
        grove_builder_stringn(b, "uid", uid.p, uid.n);
    }
    if (n > 0) {
        grove_builder_open_array(b, "causes");
        for (size_t i = 0; i < n; i++) {
            build_cause(b, &causes[i]);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

grove_status gv_sim_success_doc(gv_sim_call *c, int32_t http, gv_str uid, grove_doc **out_doc) {
    grove_builder *b = c->sim->builder;
    open_status(b, "Success");
    if (uid.n > 0) {
        build_details(c, c->info ? c->info->plural : "", uid, NULL, 0);
    } else {
        grove_builder_int64(b, "code", http);
    }
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

grove_status gv_sim_answer_success(gv_sim_call *c, int32_t http, gv_str uid) {
    grove_doc *doc = NULL;
    grove_status st = gv_sim_success_doc(c, http, uid, &doc);
    return st < 0 ? st : gv_sim_answer(c, http, doc);
}

static grove_status refuse(gv_sim_call *c, int32_t http, const char *reason,
                           const gv_sim_cause *causes, size_t n) {
    grove_builder *b = c->sim->builder;
    grove_sim_result *r = c->res;
    open_status(b, "Failure");
    grove_builder_string(b, "message", r->message);
    grove_builder_string(b, "reason", reason);
    /* What a webhook forbids comes without details. */
    if (http != 400 && http != 415 && (http != 403 || n > 0) && c->info) {
        build_details(c, http == 422 ? c->info->name : c->info->plural, (gv_str){"", 0}, causes, n);
    }
    grove_builder_int64(b, "code", http);
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st < 0) {
        return st;
    }
    grove_doc_unref(r->doc);
    r->doc = doc;
    r->http = http;
    r->status = status_of(http, reason);
    (void)gv_fmt(r->reason, sizeof r->reason, "%s", reason);
    return GROVE_OK;
}

grove_status gv_sim_refuse(gv_sim_call *c, int32_t http, const char *reason,
                           const gv_sim_cause *cause, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    (void)gv_vfmt(c->res->message, sizeof c->res->message, fmt, ap);
    va_end(ap);
    return refuse(c, http, reason, cause, cause ? 1 : 0);
}

/* The word up to `end`, which becomes its end. */
static char *cut(char **at, char end) {
    char *word = *at, *stop = strchr(word, end);
    if (stop) {
        *stop = '\0';
    }
    *at = stop ? stop + 1 : word + strlen(word);
    return word;
}

grove_status gv_sim_refuse_causes(gv_sim_call *c, int32_t http, const char *reason, char *causes,
                                  const char *message) {
    gv_sim_cause list[16];
    size_t n = 0;
    while (*causes && n < sizeof list / sizeof *list) {
        char *line = cut(&causes, '\n');
        list[n].field = cut(&line, '\t');
        list[n].reason = cut(&line, '\t');
        list[n++].message = line;
    }
    (void)gv_fmt(c->res->message, sizeof c->res->message, "%s", message);
    return refuse(c, http, reason, list, n);
}

grove_status gv_sim_refuse_bare(gv_sim_call *c, int32_t http, const char *reason,
                                const char *message) {
    gv_sim_call bare = *c; /* knows neither name nor kind */
    static const gv_kind_info nothing = {.group = "", .name = "", .plural = ""};
    bare.info = &nothing;
    bare.name = (gv_str){"", 0};
    (void)gv_fmt(c->res->message, sizeof c->res->message, "%s", message);
    return refuse(&bare, http, reason, NULL, 0);
}

grove_status gv_sim_bad_request(gv_sim_call *c, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    (void)gv_vfmt(c->res->message, sizeof c->res->message, fmt, ap);
    va_end(ap);
    return refuse(c, 400, "BadRequest", NULL, 0);
}

/* "pods" or "podcliques.grove.io" */
static const char *resource_name(const gv_sim_call *c, char *out, size_t cap) {
    (void)gv_fmt(out, cap, "%s%s%s", c->info->plural, c->info->group[0] ? "." : "", c->info->group);
    return out;
}

grove_status gv_sim_not_found(gv_sim_call *c) {
    char resource[128];
    return gv_sim_refuse(c, 404, "NotFound", NULL, "%s \"%.*s\" not found",
                         resource_name(c, resource, sizeof resource), (int)c->name.n, c->name.p);
}

grove_status gv_sim_conflict(gv_sim_call *c, const char *why) {
    char resource[128];
    return gv_sim_refuse(
        c, 409, "Conflict", NULL, "Operation cannot be fulfilled on %s \"%.*s\": %s",
        resource_name(c, resource, sizeof resource), (int)c->name.n, c->name.p, why);
}

grove_status gv_sim_invalid(gv_sim_call *c, const char *field, const char *cause,
                            const char *text) {
    gv_sim_cause k = {cause, text, field};
    return gv_sim_refuse(c, 422, "Invalid", &k, "%s%s%s \"%.*s\" is invalid: %s: %s", c->info->name,
                         c->info->group[0] ? "." : "", c->info->group, (int)c->name.n, c->name.p,
                         field, text);
}
