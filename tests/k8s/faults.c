/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst of writes on a server that misbehaves: `faults KUBECONFIG NAMESPACE N`. Wants N ConfigMaps to exist,
 * looks at them by a watch, asks again for what is missing, then deletes them. Exit 0 when all came, were
 * seen and went, with a bounded number of requests. Public headers only.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>
#include <grove/k8s.h>

#include "loop.h"

#define MOST 5000
#define SECONDS INT64_C(1000000000)
#define LABEL "libgrove.io/burst"

typedef struct burst {
    grove_env *env;
    grove_backend b;
    const char *ns;
    char run[32];
    uint32_t n, made, exists, failures, uncertain;
    bool seen[MOST], pending[MOST], synced, watching;
    uint8_t made_times[MOST];
    int64_t now, not_before[MOST];
    uint64_t token, watch_token, tokens[MOST];
} burst;

static int index_of(const grove_node *object) {
    const char *name = grove_node_text(grove_node_at_path(object, "/metadata/name"));
    const char *dash = name ? strrchr(name, '-') : NULL;
    return dash ? atoi(dash + 1) : -1;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    burst *t = ctx;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!t->pending[i] || t->tokens[i] != c->token) {
            continue;
        }
        bool done = c->status == GROVE_OK || c->status == GROVE_E_EXISTS ||
                    c->status == GROVE_E_NOT_FOUND;
        t->pending[i] = false;
        t->made += c->http == 201;
        t->made_times[i] = (uint8_t)(t->made_times[i] + (c->http == 201));
        t->exists += c->status == GROVE_E_EXISTS;
        t->failures += !done;
        t->uncertain += (c->flags & GROVE_ERROR_UNCERTAIN) != 0;
        t->not_before[i] = t->now + (done ? 3 : 1) * SECONDS;
        if (!done && (c->flags & GROVE_ERROR_RETRIABLE) == 0) {
            fprintf(stderr, "faults: %d %s\n", c->status, c->message);
        }
    }
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    burst *t = ctx;
    if (e->type == GROVE_EVENT_GONE) {
        t->watching = t->synced = false;
    } else if (e->type == GROVE_EVENT_SYNCED) {
        t->synced = true;
    } else if (e->object) {
        int i = index_of(e->object);
        if (i >= 0 && (uint32_t)i < t->n) {
            t->seen[i] = e->type != GROVE_EVENT_DELETED;
        }
    }
    return GROVE_OK;
}

static void watch(burst *t) {
    char selector[80];
    (void)snprintf(selector, sizeof selector, LABEL "=%s", t->run);
    grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_CONFIGMAP, .token = ++t->token};
    g.ns = t->ns;
    g.label_selector = selector;
    t->watch_token = g.token;
    memset(t->seen, 0, sizeof t->seen);
    t->watching = t->b.ops->watch(t->b.impl, &g, NULL) == GROVE_OK;
}

static void submit(burst *t, uint32_t i, bool create) {
    char text[300], name[64];
    grove_doc *body = NULL;
    (void)snprintf(name, sizeof name, "burst-%s-%u", t->run, i);
    int n = snprintf(text, sizeof text,
                     "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"" LABEL "\":\"%s\"}},\"data\":{"
                     "\"zero\":\"\"}}",
                     name, t->run);
    grove_op op = {.size = sizeof op, .kind = GROVE_KIND_CONFIGMAP, .token = ++t->token};
    op.verb = create ? GROVE_VERB_CREATE : GROVE_VERB_DELETE;
    op.ns = t->ns;
    op.name = name;
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    if (create && grove_doc_parse_json(t->env, text, (size_t)n, 0, &body, NULL) < 0) {
        return;
    }
    op.body_doc = body;
    t->pending[i] = t->b.ops->submit(t->b.impl, &op, NULL) == GROVE_OK;
    t->tokens[i] = op.token;
    grove_doc_unref(body);
}

/* Until all exist, or none; false when that takes too long. */
static bool reach(burst *t, bool create, int64_t seconds) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, t, on_completion, on_event};
    int64_t end = loop_now() + seconds * SECONDS, deadline = 0;
    memset(t->not_before, 0, sizeof t->not_before);
    for (t->now = loop_now(); t->now < end; t->now = loop_wait(&t->b, deadline)) {
        uint32_t open = 0;
        if (!t->watching) {
            watch(t);
        }
        for (uint32_t i = 0; i < t->n; i++) {
            bool wanted = t->seen[i] != create || t->pending[i];
            open += wanted;
            if (wanted && t->synced && !t->pending[i] && t->now >= t->not_before[i]) {
                submit(t, i, create);
            }
        }
        if (open == 0 && t->synced) {
            return true;
        }
        if (t->b.ops->process(t->b.impl, t->now, 0, &sink, &deadline, NULL) < 0) {
            return false;
        }
        int64_t soon = t->now + SECONDS / 5;
        deadline = deadline < soon ? deadline : soon;
    }
    return false;
}

static int64_t counter(const burst *t, const char *name) {
    grove_buf b;
    grove_doc *doc = NULL;
    int64_t value = -1;
    grove_buf_init(&b, t->env);
    if (t->b.ops->control(t->b.impl, GROVE_CONTROL_STATS, &b, NULL) == GROVE_OK &&
        grove_doc_parse_json(t->env, b.data, (size_t)b.len, 0, &doc, NULL) == GROVE_OK) {
        (void)grove_node_int64(grove_node_get(grove_doc_root(doc), name), &value);
    }
    grove_doc_unref(doc);
    grove_buf_fini(&b);
    return value;
}

static int run(burst *t) {
    bool came = reach(t, true, 240);
    bool went = came && reach(t, false, 240);
    uint32_t twice = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        twice += t->made_times[i] > 1;
    }
    int64_t requests = counter(t, "requests"), bound = 4 * (int64_t)t->n + 100;
    printf("faults: %u wanted: came %d, went %d, made %u (twice %u), there already %u, failures %u "
           "(uncertain %u), requests %lld, retries %lld, relists %lld\n",
           t->n, came, went, t->made, twice, t->exists, t->failures, t->uncertain,
           (long long)requests, (long long)counter(t, "retries"), (long long)counter(t, "relists"));
    return came && went && twice == 0 && requests <= bound ? 0 : 1;
}

int main(int argc, char **argv) {
    static burst t;
    grove_error err = GROVE_ERROR_INIT;
    grove_env_options eo = {.size = sizeof eo, .log = loop_log, .log_level = GROVE_LOG_WARN};
    if (argc < 4 || atoi(argv[3]) < 1 || atoi(argv[3]) > MOST || grove_env_new(&eo, &t.env) < 0) {
        fprintf(stderr, "usage: faults KUBECONFIG NAMESPACE N\n");
        return 2;
    }
    t.ns = argv[2];
    t.n = (uint32_t)atoi(argv[3]);
    (void)snprintf(t.run, sizeof t.run, "%llx", (unsigned long long)(loop_now() / LOOP_MS));
    grove_k8s_options o = {.size = sizeof o, .kubeconfig = argv[1], .request_timeout_ms = 5000};
    int rc = 1;
    if (grove_k8s_backend(t.env, &o, &t.b, &err) < 0) {
        fprintf(stderr, "faults: %s\n", err.message);
    } else {
        rc = run(&t);
        t.b.ops->destroy(t.b.impl);
    }
    grove_env_unref(t.env);
    return rc;
}
