/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the test, delivered in pieces. */
#include "fake.h"

#include <stdio.h>
#include <string.h>

#include <grove/sys/util.h>

static grove_status trust(void *impl, const gv_k8s_trust *t) {
    (void)impl;
    (void)t;
    return GROVE_OK;
}

static grove_status start(void *impl, const gv_k8s_request *r, void **out_handle) {
    fake *f = impl;
    uint32_t i = 0;
    while (i < FAKE_REQUESTS && f->open[i].started) {
        i++;
    }
    if (i == FAKE_REQUESTS) {
        return GROVE_E_LIMIT;
    }
    uint32_t n = f->n_sent++ % FAKE_REQUESTS;
    (void)snprintf(f->log[n], sizeof f->log[n], "%s %s %.*s", r->method, r->url, (int)r->body_len,
                   r->body ? r->body : "");
    f->headers[n][0] = '\0';
    for (uint32_t h = 0; h < r->n_headers; h++) {
        size_t used = strlen(f->headers[n]);
        (void)snprintf(f->headers[n] + used, sizeof f->headers[n] - used, "%s\n", r->headers[h]);
    }
    f->open[i] = (fake_request){.r = *r, .started = true, .f = f};
    f->answer(f, r->method, r->url, r->body ? r->body : "", &f->open[i].a);
    *out_handle = &f->open[i];
    return GROVE_OK;
}

static void stop(void *impl, void *handle) {
    (void)impl;
    fake_request *q = handle;
    q->started = false;
}

static grove_status renew(void *impl, gv_k8s_lane lane) {
    fake *f = impl;
    (void)lane;
    f->renewed++;
    return GROVE_OK;
}

static grove_status sever(void *impl, gv_k8s_lane lane) {
    fake *f = impl;
    (void)lane;
    f->severed++;
    return GROVE_OK;
}

static void deliver(fake *f, fake_request *q) {
    size_t n = f->piece > 0 ? f->piece : (size_t)(grove_random_next(&f->seed) % 700 + 1);
    size_t left = q->a.len - q->at;
    n = f->cut == 0 ? n : q->at == 0 ? f->cut : left;
    n = n < left ? n : left;
    if (q->at == 0 && q->a.header) {
        q->r.header(q->r.ctx, q->a.http, q->a.header, q->a.value);
    }
    gv_k8s_end how = q->a.how;
    if (n > 0) {
        const char *from = q->a.body + q->at;
        q->at += n;
        if (q->r.data(q->r.ctx, q->a.http, from, n) < 0) {
            how = GV_K8S_END_LOST;
            q->at = q->a.len;
        }
    }
    if (q->started && q->at == q->a.len && !q->a.open) {
        q->started = false;
        q->r.end(q->r.ctx, how, how == GV_K8S_END_UNSENT ? 0 : q->a.http,
                 how == GV_K8S_END_ANSWERED ? "" : "the fake lost it");
    }
}

static grove_status perform(void *impl, int64_t now, int64_t *out_deadline) {
    fake *f = impl;
    *out_deadline = INT64_MAX;
    for (uint32_t i = 0; i < FAKE_REQUESTS; i++) {
        fake_request *q = &f->open[i];
        if (q->started && (!q->a.open || q->at < q->a.len)) {
            deliver(f, q);
            *out_deadline = now;
        }
    }
    return GROVE_OK;
}

static void pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    (void)impl;
    (void)fds;
    (void)cap;
    *out_n = 0;
}

static void destroy(void *impl) {
    (void)impl;
}

static const gv_k8s_transport_ops ops = {trust, start,   stop,    renew,
                                         sever, perform, pollfds, destroy};

grove_status fake_backend(grove_env *env, fake *f, const char *kubeconfig,
                          const grove_k8s_options *options, grove_backend *out) {
    static const char plain[] =
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://h\"}}],\"contexts\":[{"
        "\"name\":\"x\",\"context\":{\"cluster\":\"c\"}}],\"current-context\":\"x\"}";
    grove_k8s_options o = {.size = sizeof o, .seed = 5};
    const char *text = kubeconfig ? kubeconfig : plain;
    gv_k8s_access access;
    grove_status st = gv_k8s_kubeconfig_text(env, text, strlen(text), ".", NULL, &access, NULL);
    if (st < 0) {
        return st;
    }
    const gv_k8s_transport transport = {&ops, f};
    return gv_k8s_new(env, options ? options : &o, &access, &transport, out, NULL);
}
