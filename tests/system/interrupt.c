/* SPDX-License-Identifier: Apache-2.0 */
/* Deaths between two writes, and watches that lag. */
#include "interrupt.h"

#include <stdlib.h>

#include "backend/held.h"

typedef struct held_queue {
    gv_held **v;
    size_t n, cap;
} held_queue;

typedef struct wrapper {
    grove_env *env;
    grove_backend inner;
    interrupt *plan;
    held_queue held; /* in the order in which they came */
    int64_t now;
    const grove_sink *sink;
} wrapper;

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    wrapper *w = impl;
    interrupt *p = w->plan;
    if (p->crashed) {
        return GROVE_OK;
    }
    if (op->verb != GROVE_VERB_EVENT && op->verb != GROVE_VERB_GET && op->verb != GROVE_VERB_LIST) {
        p->writes++;
    }
    if (p->crash_at > 0 && p->writes == p->crash_at) {
        p->crashed = true;
        if (!p->after) {
            return GROVE_OK;
        }
    }
    return w->inner.ops->submit(w->inner.impl, op, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    wrapper *w = impl;
    return w->inner.ops->cancel(w->inner.impl, token, err);
}

static grove_status watch(void *impl, const grove_watch *what, grove_error *err) {
    wrapper *w = impl;
    return w->inner.ops->watch(w->inner.impl, what, err);
}

static grove_status hold(wrapper *w, const grove_event *event) {
    if (w->held.n == w->held.cap) {
        size_t cap = w->held.cap ? 2 * w->held.cap : 64;
        gv_held **v = realloc(w->held.v, cap * sizeof *v);
        if (!v) {
            return GROVE_E_NOMEM;
        }
        w->held.v = v;
        w->held.cap = cap;
    }
    gv_held *h = NULL;
    grove_status st = gv_held_event(w->env, event, &h);
    if (st == GROVE_OK) {
        h->due = w->now + w->plan->lag_ns;
        w->held.v[w->held.n++] = h;
    }
    return st;
}

static grove_status on_event(void *ctx, const grove_event *event) {
    wrapper *w = ctx;
    if (w->plan->crashed) {
        return GROVE_OK;
    }
    /* A stand-by has synced long ago: only what happens later comes late. */
    if (w->held.n == 0 && w->plan->lag_ns == 0) {
        return w->sink->event(w->sink->ctx, event);
    }
    return hold(w, event);
}

static grove_status on_completion(void *ctx, const grove_completion *completion) {
    wrapper *w = ctx;
    return w->plan->crashed ? GROVE_OK : w->sink->completion(w->sink->ctx, completion);
}

static grove_status tell_held(wrapper *w) {
    size_t n = 0;
    grove_status st = GROVE_OK;
    while (st == GROVE_OK && n < w->held.n &&
           (w->held.v[n]->due <= w->now || w->plan->lag_ns == 0)) {
        st = w->plan->crashed ? GROVE_OK : gv_held_tell(w->held.v[n], w->sink);
        if (st == GROVE_OK) {
            gv_held_free(w->held.v[n++]);
        }
    }
    for (size_t i = n; i < w->held.n; i++) {
        w->held.v[i - n] = w->held.v[i];
    }
    w->held.n -= n;
    return st;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    wrapper *w = impl;
    grove_sink between = {(uint32_t)sizeof between, 0, w, on_completion, on_event};
    int64_t skew = w->plan->skew_ns ? *w->plan->skew_ns : 0;
    w->now = now - skew; /* the cluster's clock is right */
    w->sink = sink;
    grove_status st = tell_held(w);
    if (st == GROVE_OK) {
        st = w->inner.ops->process(w->inner.impl, w->now, budget, &between, out_deadline, err);
    }
    if (st == GROVE_OK && w->held.n > 0 && w->held.v[0]->due < *out_deadline) {
        *out_deadline = w->held.v[0]->due;
    }
    if (st == GROVE_OK && *out_deadline != INT64_MAX) {
        *out_deadline += skew;
    }
    return st;
}

static void destroy(void *impl) {
    wrapper *w = impl;
    for (size_t i = 0; i < w->held.n; i++) {
        gv_held_free(w->held.v[i]);
    }
    free(w->held.v);
    w->inner.ops->destroy(w->inner.impl);
    grove_env_unref(w->env);
    free(w);
}

grove_status interrupt_wrap(void *ctx, grove_env *env, grove_backend *backend, grove_error *err) {
    static const grove_backend_ops ops = {.size = (uint32_t)sizeof ops,
                                          .submit = submit,
                                          .cancel = cancel,
                                          .watch = watch,
                                          .process = process,
                                          .destroy = destroy};
    wrapper *w = calloc(1, sizeof *w);
    (void)err;
    if (!w) {
        return GROVE_E_NOMEM;
    }
    w->env = grove_env_ref(env);
    w->inner = *backend;
    w->plan = ctx;
    *backend = (grove_backend){(uint32_t)sizeof *backend, backend->caps, &ops, w};
    return GROVE_OK;
}
