/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of completions and events, and telling them later. */
#include "backend/held.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Room for two texts; *a and *b then point at copies. */
static grove_status hold(grove_env *env, const char **a, const char **b, grove_doc *doc,
                         gv_held **out_held) {
    gv_held *h = gv_zalloc(env, sizeof *h);
    size_t na = strlen(*a) + 1, nb = strlen(*b) + 1;
    if (!h) {
        return GROVE_E_NOMEM;
    }
    h->env = env;
    h->text_len = na + nb;
    h->text = gv_alloc(env, h->text_len);
    if (!h->text) {
        gv_free(env, h, sizeof *h);
        return GROVE_E_NOMEM;
    }
    memcpy(h->text, *a, na);
    memcpy(h->text + na, *b, nb);
    *a = h->text;
    *b = h->text + na;
    h->doc = doc ? grove_doc_ref(doc) : NULL;
    *out_held = h;
    return GROVE_OK;
}

grove_status gv_held_completion(grove_env *env, const grove_completion *c, gv_held **out_held) {
    grove_completion copy = *c;
    copy.reason = copy.reason ? copy.reason : "";
    copy.message = copy.message ? copy.message : "";
    grove_status st = hold(env, &copy.reason, &copy.message, c->object_doc, out_held);
    if (st == GROVE_OK) {
        (*out_held)->token = copy.token;
        (*out_held)->completion = copy;
    }
    return st;
}

grove_status gv_held_event(grove_env *env, const grove_event *e, gv_held **out_held) {
    grove_event copy = *e;
    const char *none = "";
    copy.resource_version = copy.resource_version ? copy.resource_version : "";
    grove_status st = hold(env, &copy.resource_version, &none, e->object_doc, out_held);
    if (st == GROVE_OK) {
        (*out_held)->is_event = true;
        (*out_held)->token = copy.token;
        (*out_held)->event = copy;
    }
    return st;
}

grove_status gv_held_failure(grove_env *env, uint64_t token, grove_status status, int32_t http,
                             uint32_t flags, const char *reason, const char *message,
                             gv_held **out_held) {
    grove_completion c = {(uint32_t)sizeof c, status, token, http, flags};
    c.retry_after_ms = status == GROVE_E_BUSY ? 1000 : 0;
    c.reason = reason;
    c.message = message;
    return gv_held_completion(env, &c, out_held);
}

grove_status gv_held_tell(const gv_held *held, const grove_sink *sink) {
    return held->is_event ? sink->event(sink->ctx, &held->event)
                          : sink->completion(sink->ctx, &held->completion);
}

void gv_held_free(gv_held *held) {
    if (held) {
        grove_doc_unref(held->doc);
        gv_free(held->env, held->text, held->text_len);
        gv_free(held->env, held, sizeof *held);
    }
}
