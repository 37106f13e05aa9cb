/* SPDX-License-Identifier: Apache-2.0 */
/* The loop under the conformance checks: submit, process, wait, keep what comes. */
#include "backend/kit.h"

#include <stdarg.h>

#include "base/mem.h"
#include "value/doc.h"

/* ---- verdicts ---- */

void gv_kit_fail(gv_kit *k, const char *text, int line) {
    if (k->failed) {
        return;
    }
    k->failed = true;
    const gv_held *last = k->completions.n ? k->completions.v[k->completions.n - 1] : NULL;
    (void)gv_fmt(k->why, sizeof k->why, "line %d: %s%s%s", line, text,
                 last ? "; last answer: " : "",
                 !last                         ? ""
                 : last->completion.message[0] ? last->completion.message
                                               : grove_status_name(last->completion.status));
}

void gv_kit_skip(gv_kit *k, const char *why) {
    k->skipped = true;
    (void)gv_fmt(k->why, sizeof k->why, "%s", why);
}

static void broke(gv_kit *k, grove_status st) {
    if (k->broken == GROVE_OK) {
        k->broken = st;
    }
    gv_kit_fail(k, grove_status_name(st), 0);
}

void gv_kit_clear(gv_kit *k) {
    for (size_t i = 0; i < k->completions.n; i++) {
        gv_held_free(k->completions.v[i]);
    }
    for (size_t i = 0; i < k->events.n; i++) {
        gv_held_free(k->events.v[i]);
    }
    for (size_t i = 0; i < k->docs.n; i++) {
        grove_doc_unref(k->docs.v[i]);
    }
    gv_vec_fini(k->env, &k->completions);
    gv_vec_fini(k->env, &k->events);
    gv_vec_fini(k->env, &k->docs);
    k->failed = k->skipped = k->delivered_inside = false;
    k->refuse_next = k->n_names = 0;
    k->why[0] = '\0';
}

/* ---- the loop ---- */

static grove_status keep(gv_kit *k, gv_held *h, bool event) {
    bool ok = event ? gv_vec_push(k->env, &k->events, h) : gv_vec_push(k->env, &k->completions, h);
    if (!ok) {
        gv_held_free(h);
        return GROVE_E_NOMEM;
    }
    return GROVE_OK;
}

static bool refused(gv_kit *k) {
    k->delivered_inside = k->delivered_inside || k->inside;
    if (k->refuse_next > 0) {
        k->refuse_next--;
        return true;
    }
    return false;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    gv_kit *k = ctx;
    gv_held *h = NULL;
    if (refused(k)) {
        return GROVE_E_LIMIT;
    }
    grove_status st = gv_held_completion(k->env, c, &h);
    return st < 0 ? st : keep(k, h, false);
}

static grove_status on_event(void *ctx, const grove_event *e) {
    gv_kit *k = ctx;
    gv_held *h = NULL;
    if (refused(k)) {
        return GROVE_E_LIMIT;
    }
    grove_status st = gv_held_event(k->env, e, &h);
    return st < 0 ? st : keep(k, h, true);
}

static grove_status process_once(gv_kit *k, uint32_t budget, int64_t *deadline) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, k, on_completion, on_event};
    return k->backend.ops->process(k->backend.impl, k->now, budget, &sink, deadline, NULL);
}

grove_status gv_kit_process(gv_kit *k, uint32_t budget) {
    int64_t deadline = 0;
    return process_once(k, budget, &deadline);
}

/* Processes once, then lets time pass towards the deadline; false when nothing is to come. */
static bool step(gv_kit *k, int64_t until) {
    int64_t deadline = INT64_MAX;
    size_t before = k->completions.n + k->events.n;
    grove_status st = process_once(k, 0, &deadline);
    if (st < 0) {
        broke(k, st);
        return false;
    }
    bool delivered = k->completions.n + k->events.n > before; /* perhaps what is waited for */
    if (deadline <= k->now || (delivered && k->options.wait)) {
        return true;
    }
    if (k->options.wait) {
        int64_t at = deadline < until ? deadline : until;
        k->now = k->options.wait(k->options.wait_ctx, at);
        return k->now < until;
    }
    if (deadline > until) {
        return false;
    }
    k->now = deadline;
    return true;
}

void gv_kit_settle(gv_kit *k) {
    /* in real time nothing tells that nothing more comes: a part of the patience must do */
    int64_t patience = k->options.wait ? k->options.patience_ns / 8 : k->options.patience_ns;
    int64_t until = k->now + patience;
    while (k->broken == GROVE_OK && step(k, until)) {
    }
}

/* ---- operations ---- */

const char *gv_kit_name(gv_kit *k, char letter) {
    char *out = k->names[k->n_names++ % 8];
    (void)gv_fmt(out, sizeof k->names[0], "check-%u-%c", k->check, letter);
    return out;
}

grove_doc *gv_kit_doc(gv_kit *k, const char *fmt, ...) {
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    size_t n = gv_vfmt(text, sizeof text, fmt, ap);
    va_end(ap);
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(k->env, text, n, 0, &doc, NULL);
    if (st == GROVE_OK && !gv_vec_push(k->env, &k->docs, doc)) {
        grove_doc_unref(doc);
        st = GROVE_E_NOMEM;
    }
    if (st < 0) {
        broke(k, st);
        return NULL;
    }
    return doc;
}

grove_op gv_kit_op(grove_verb verb, grove_kind kind, const char *name) {
    grove_op op = {.size = sizeof op, .verb = verb, .kind = kind, .name = name};
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    return op;
}

static const grove_completion *completion_of(const gv_kit *k, uint64_t token) {
    for (size_t i = 0; i < k->completions.n; i++) {
        if (k->completions.v[i]->token == token) {
            return &k->completions.v[i]->completion;
        }
    }
    return NULL;
}

const grove_completion *gv_kit_run(gv_kit *k, grove_op *op) {
    op->token = ++k->next_token;
    op->ns = op->ns ? op->ns : k->ns;
    k->inside = true;
    grove_status st = k->backend.ops->submit(k->backend.impl, op, NULL);
    k->inside = false;
    if (st < 0) {
        if (st == GROVE_E_NOMEM) {
            broke(k, st);
        }
        return NULL;
    }
    const grove_completion *c = NULL;
    int64_t until = k->now + k->options.patience_ns;
    while (k->broken == GROVE_OK && !(c = completion_of(k, op->token)) && step(k, until)) {
    }
    return c ? c : completion_of(k, op->token);
}

const grove_completion *gv_kit_create(gv_kit *k, grove_kind kind, grove_doc *body) {
    grove_op op = gv_kit_op(GROVE_VERB_CREATE, kind, NULL);
    op.body_doc = body;
    return body ? gv_kit_run(k, &op) : NULL;
}

const grove_completion *gv_kit_get(gv_kit *k, grove_kind kind, const char *name) {
    grove_op op = gv_kit_op(GROVE_VERB_GET, kind, name);
    return gv_kit_run(k, &op);
}

const grove_completion *gv_kit_patch(gv_kit *k, grove_kind kind, const char *name,
                                     grove_patch_type type, grove_doc *body) {
    grove_op op = gv_kit_op(GROVE_VERB_PATCH, kind, name);
    op.patch_type = type;
    op.body_doc = body;
    return body ? gv_kit_run(k, &op) : NULL;
}

const grove_completion *gv_kit_delete(gv_kit *k, grove_kind kind, const char *name) {
    grove_op op = gv_kit_op(GROVE_VERB_DELETE, kind, name);
    return gv_kit_run(k, &op);
}

const grove_completion *gv_kit_config_map(gv_kit *k, char letter) {
    return gv_kit_create(
        k, GROVE_KIND_CONFIGMAP,
        gv_kit_doc(k,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
                   "\"labels\":{\"set\":\"%s\"}},\"data\":{\"a\":\"1\"}}",
                   gv_kit_name(k, letter), gv_kit_name(k, 's')));
}

const grove_completion *gv_kit_clique(gv_kit *k, char letter) {
    return gv_kit_create(
        k, GROVE_KIND_PODCLIQUE,
        gv_kit_doc(
            k,
            "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{"
            "\"name\":\"%s\"},\"spec\":{\"roleName\":\"r\",\"replicas\":2,\"minAvailable\":1,"
            "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"example.com/a:1\"}]}},"
            "\"status\":{\"replicas\":7}}",
            gv_kit_name(k, letter)));
}

const grove_completion *gv_kit_pod(gv_kit *k, char letter, bool gated) {
    return gv_kit_create(
        k, GROVE_KIND_POD,
        gv_kit_doc(k,
                   "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},"
                   "\"spec\":{\"schedulerName\":\"nobody\",%s\"containers\":[{\"name\":\"c\","
                   "\"image\":\"example.com/a:1\"}]}}",
                   gv_kit_name(k, letter),
                   gated ? "\"schedulingGates\":[{\"name\":\"example.com/gate\"}]," : ""));
}

gv_str gv_kit_text(const grove_completion *c, const char *pointer) {
    return gv_node_str(grove_node_at_path(c ? c->object : NULL, pointer));
}

int64_t gv_kit_int(const grove_completion *c, const char *pointer) {
    int64_t n = 0;
    const grove_node *node = grove_node_at_path(c ? c->object : NULL, pointer);
    return grove_node_int64(node, &n) == GROVE_OK ? n : -1;
}

bool gv_kit_is(const grove_completion *c, grove_status status, int32_t http) {
    return c && c->status == status && (http == 0 || c->http == http);
}

/* ---- watches ---- */

uint64_t gv_kit_watch(gv_kit *k, grove_kind kind, const char *label_selector, const char *version,
                      grove_status *out_status) {
    grove_watch w = {.size = sizeof w, .kind = kind, .token = ++k->next_token};
    w.ns = k->ns;
    w.label_selector = label_selector;
    w.resource_version = version;
    k->inside = true;
    grove_status st = k->backend.ops->watch(k->backend.impl, &w, NULL);
    k->inside = false;
    if (out_status) {
        *out_status = st;
    } else if (st < 0) {
        broke(k, st);
    }
    return st < 0 ? 0 : w.token;
}

static const grove_event *take_event(gv_kit *k, uint64_t token) {
    for (size_t i = 0; i < k->events.n; i++) {
        gv_held *h = k->events.v[i];
        if (h->token == token && !h->busy) {
            h->busy = true; /* taken */
            if (h->event.type != GROVE_EVENT_BOOKMARK) {
                return &h->event;
            }
        }
    }
    return NULL;
}

const grove_event *gv_kit_event(gv_kit *k, uint64_t token) {
    const grove_event *e = NULL;
    int64_t until = k->now + k->options.patience_ns;
    while (k->broken == GROVE_OK && !(e = take_event(k, token)) && step(k, until)) {
    }
    return e ? e : take_event(k, token);
}

bool gv_kit_synced(gv_kit *k, uint64_t token) {
    const grove_event *e;
    while ((e = gv_kit_event(k, token)) != NULL) {
        if (e->type == GROVE_EVENT_SYNCED) {
            return true;
        }
    }
    return false;
}
