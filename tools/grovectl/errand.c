/* SPDX-License-Identifier: Apache-2.0 */
/* One request after the other: see errand.h. */
#include "errand.h"

#include "wait.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE INT64_C(30000000000) /* nanoseconds */

static grove_status on_completion(void *ctx, const grove_completion *c) {
    errand *e = ctx;
    if (c->token == e->token) {
        e->done = 1;
        e->status = c->status;
        e->http = c->http;
        (void)snprintf(e->message, sizeof e->message, "%s", c->message ? c->message : "");
        e->doc = c->object_doc ? grove_doc_ref(c->object_doc) : NULL;
    }
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *event) {
    (void)ctx;
    (void)event;
    return GROVE_OK;
}

grove_status errand_ask(errand *e, grove_op *op) {
    grove_error err = GROVE_ERROR_INIT;
    grove_sink sink = {
        .size = (uint32_t)sizeof sink, .ctx = e, .completion = on_completion, .event = on_event};
    int64_t until = wait_now() + PATIENCE;
    op->size = (uint32_t)sizeof *op;
    op->token = ++e->token;
    e->done = 0;
    grove_doc_unref(e->doc);
    e->doc = NULL;
    grove_status st = e->backend.ops->submit(e->backend.impl, op, &err);
    while (st == GROVE_OK && !e->done && wait_now() < until) {
        int64_t deadline = until;
        st = e->backend.ops->process(e->backend.impl, wait_now(), 0, &sink, &deadline, &err);
        if (st == GROVE_OK && !e->done) {
            wait_backend(&e->backend, deadline < until ? deadline : until, 500);
        }
    }
    if (st < 0) {
        (void)snprintf(e->message, sizeof e->message, "%s", err.message);
    } else if (!e->done) {
        (void)snprintf(e->message, sizeof e->message, "no answer in time");
        st = GROVE_E_TIMEOUT;
    }
    return st < 0 ? st : e->status;
}

const grove_node *errand_answer(const errand *e) {
    return e->doc ? grove_doc_root(e->doc) : NULL;
}

void errand_wait(errand *e, int ms) {
    (void)e;
    (void)poll(NULL, 0, ms);
}

int errand_begin(errand *e, const char *program, const char *kubeconfig, const char *context) {
    grove_error err = GROVE_ERROR_INIT;
    grove_k8s_options o = {.size = (uint32_t)sizeof o,
                           .kubeconfig = kubeconfig,
                           .context = context,
                           .manager = program};
    *e = (errand){0};
    if (grove_env_new(NULL, &e->env) < 0) {
        return -1;
    }
    if (grove_k8s_backend(e->env, &o, &e->backend, &err) < 0) {
        fprintf(stderr, "%s: no cluster: %s\n", program, err.message);
        errand_end(e);
        return -1;
    }
    return 0;
}

void errand_end(errand *e) {
    grove_doc_unref(e->doc);
    if (e->backend.ops) {
        e->backend.ops->destroy(e->backend.impl);
    }
    grove_env_unref(e->env);
    *e = (errand){0};
}
