/* SPDX-License-Identifier: Apache-2.0 */
/* The reason of a Status decides first, the HTTP code second; other bodies are taken by the code alone. */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#include "text.h"

#define RETRY GROVE_ERROR_RETRIABLE
#define MAYBE (GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN)

typedef struct row {
    int32_t http; /* the code that stands for this reason when there is none; 0: never */
    const char *reason;
    grove_status status;
    uint32_t flags; /* UNCERTAIN counts for writes only */
} row;

static const row rows[] = {
    {400, "BadRequest", GROVE_E_REFUSED, 0},
    {401, "Unauthorized", GROVE_E_AUTH, 0},
    {403, "Forbidden", GROVE_E_FORBIDDEN, 0},
    {404, "NotFound", GROVE_E_NOT_FOUND, 0},
    {405, "MethodNotAllowed", GROVE_E_UNSUPPORTED, 0},
    {406, "NotAcceptable", GROVE_E_UNSUPPORTED, 0},
    {409, "Conflict", GROVE_E_CONFLICT, 0},
    {0, "AlreadyExists", GROVE_E_EXISTS, 0},
    {410, "Gone", GROVE_E_GONE, 0},
    {0, "Expired", GROVE_E_GONE, 0},
    {413, "RequestEntityTooLarge", GROVE_E_REFUSED, 0},
    {415, "UnsupportedMediaType", GROVE_E_UNSUPPORTED, 0},
    {422, "Invalid", GROVE_E_REFUSED, 0},
    {429, "TooManyRequests", GROVE_E_BUSY, RETRY},
    {500, "InternalError", GROVE_E_UNAVAILABLE, MAYBE},
    {0, "ServerTimeout", GROVE_E_UNAVAILABLE, RETRY}, /* says itself that nothing was done */
    {502, "BadGateway", GROVE_E_UNAVAILABLE, MAYBE},
    {503, "ServiceUnavailable", GROVE_E_UNAVAILABLE, RETRY},
    {504, "Timeout", GROVE_E_UNAVAILABLE, MAYBE},
};

static const row *by_reason(const char *reason) {
    for (size_t i = 0; reason && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].reason, reason) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static const row *by_code(int32_t http, bool is_create) {
    if (http == 409 && is_create) {
        return by_reason("AlreadyExists");
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].http == http) {
            return &rows[i];
        }
    }
    return http >= 500 ? by_reason("InternalError") : http >= 400 ? by_reason("BadRequest") : NULL;
}

bool gv_k8s_has_cause(const grove_node *status, const char *reason, const char *field) {
    const grove_node *causes = grove_node_at_path(status, "/details/causes");
    for (const grove_node *c = grove_node_first(causes); c; c = grove_node_next(causes, c)) {
        const char *r = gv_k8s_member(c, "reason"), *f = gv_k8s_member(c, "field");
        if ((!reason || (r && strcmp(r, reason) == 0)) &&
            (!field || (f && strcmp(f, field) == 0))) {
            return true;
        }
    }
    return false;
}

static void put(char *out, size_t cap, const char *text) {
    (void)snprintf(out, cap, "%s", text ? text : "");
}

/* No answer, or half of one. */
static void judge_loss(const gv_k8s_outcome *o, gv_k8s_verdict *v) {
    static const struct {
        grove_status status;
        uint32_t flags;
    } losses[] = {
        [GV_K8S_END_ANSWERED] = {GROVE_E_UNAVAILABLE, MAYBE},
        [GV_K8S_END_UNSENT] = {GROVE_E_UNAVAILABLE, RETRY},
        [GV_K8S_END_LOST] = {GROVE_E_UNAVAILABLE, MAYBE},
        [GV_K8S_END_TIMEOUT] = {GROVE_E_TIMEOUT, MAYBE},
        [GV_K8S_END_UNUSABLE] = {GROVE_E_IO, 0},
    };
    v->status = losses[o->how].status;
    v->flags = losses[o->how].flags;
    put(v->message, sizeof v->message,
        gv_k8s_empty(o->transport_message) ? "the connection was lost" : o->transport_message);
}

static void judge_failure(const gv_k8s_outcome *o, gv_k8s_verdict *v) {
    const char *kind = gv_k8s_member(o->body, "kind");
    const grove_node *status = kind && strcmp(kind, "Status") == 0 ? o->body : NULL;
    const char *reason = gv_k8s_member(status, "reason");
    const row *r = by_reason(reason);
    r = r ? r : by_code(o->http, o->is_create);
    v->status = r ? r->status : GROVE_E_UNAVAILABLE; /* 1xx, 3xx: nothing we asked for */
    v->flags = r ? r->flags : RETRY;
    put(v->reason, sizeof v->reason, gv_k8s_empty(reason) ? (r ? r->reason : "") : reason);
    const char *message = gv_k8s_member(status, "message");
    put(v->message, sizeof v->message, message ? message : o->text ? o->text : v->reason);
    int64_t seconds = 0;
    const grove_node *after = grove_node_at_path(status, "/details/retryAfterSeconds");
    v->retry_after_ms = o->retry_after_ms;
    if (v->retry_after_ms == 0 && grove_node_int64(after, &seconds) == GROVE_OK && seconds > 0 &&
        seconds <= 3600) {
        v->retry_after_ms = (uint32_t)seconds * 1000;
    }
}

void gv_k8s_judge(const gv_k8s_outcome *o, gv_k8s_verdict *out) {
    *out = (gv_k8s_verdict){.status = GROVE_OK};
    bool success = o->http >= 200 && o->http < 300;
    if (o->how != GV_K8S_END_ANSWERED || (success && !o->body)) {
        judge_loss(o, out);
    } else if (!success) {
        judge_failure(o, out);
    }
    if (!o->is_write) {
        out->flags &= ~GROVE_ERROR_UNCERTAIN;
    }
    for (char *p = out->message; *p; p++) { /* one line */
        if ((unsigned char)*p < 32) {
            *p = ' ';
        }
    }
    size_t n = strlen(out->message);
    while (n > 0 && out->message[n - 1] == ' ') {
        out->message[--n] = '\0';
    }
}
