/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's own decorator: see tap.h. */
#include "tap.h"

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Tokens of the daemon's own; the engine counts up from 1. */
#define OWN (UINT64_C(1) << 62)

typedef struct open_op {
    uint64_t token;
    grove_verb verb;
    grove_kind kind;
    int64_t began_ns;
    tap_done_fn done; /* of the daemon's */
    void *ctx;
} open_op;

typedef struct open_watch {
    uint64_t token;
    grove_kind kind;
    int synced;
    int absent; /* not watched: SYNCED is told by us, and owed when synced is 0 */
    tap_event_fn event;
    void *ctx;
} open_watch;

struct tap {
    grove_env *env;
    grove_backend inner;
    tap_options options;
    open_op *ops;
    uint32_t n_ops, cap_ops;
    open_watch *watches;
    uint32_t n_watches, cap_watches;
    uint64_t next;
    const grove_sink *sink; /* during process */
};

static int64_t steady(void) {
    struct timespec ts = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* ---- tables ---- */

static int make_room(void **v, uint32_t n, uint32_t *cap, size_t size) {
    if (n < *cap) {
        return 0;
    }
    uint32_t more = *cap ? *cap * 2 : 32;
    void *grown = realloc(*v, more * size);
    if (!grown) {
        return -1;
    }
    *v = grown;
    *cap = more;
    return 0;
}

static open_op *find_op(tap *t, uint64_t token) {
    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (t->ops[i].token == token) {
            return &t->ops[i];
        }
    }
    return NULL;
}

static open_watch *find_watch(tap *t, uint64_t token) {
    for (uint32_t i = 0; i < t->n_watches; i++) {
        if (t->watches[i].token == token) {
            return &t->watches[i];
        }
    }
    return NULL;
}

/* ---- the daemon's side ---- */

static grove_status submit_with(tap *t, const grove_op *op, tap_done_fn done, void *ctx,
                                grove_error *err) {
    void *v = t->ops;
    if (make_room(&v, t->n_ops, &t->cap_ops, sizeof *t->ops) < 0) {
        return grove_error_set(err, GROVE_E_NOMEM, "out of memory");
    }
    t->ops = v;
    int answered = !(op->flags & GROVE_OP_NO_REPLY);
    if (answered) {
        t->ops[t->n_ops++] = (open_op){op->token, op->verb, op->kind, steady(), done, ctx};
    }
    grove_status st = t->inner.ops->submit(t->inner.impl, op, err);
    if (st < 0 && answered) {
        t->n_ops--;
    }
    return st;
}

grove_status tap_ask(tap *t, grove_op *op, tap_done_fn done, void *ctx, grove_error *err) {
    op->size = (uint32_t)sizeof *op;
    op->token = OWN | ++t->next;
    return submit_with(t, op, done, ctx, err);
}

static grove_status add_watch(tap *t, const open_watch *w, grove_error *err) {
    open_watch *again = find_watch(t, w->token); /* begun anew after GONE */
    if (again) {
        *again = *w;
        return GROVE_OK;
    }
    void *v = t->watches;
    if (make_room(&v, t->n_watches, &t->cap_watches, sizeof *t->watches) < 0) {
        return grove_error_set(err, GROVE_E_NOMEM, "out of memory");
    }
    t->watches = v;
    t->watches[t->n_watches++] = *w;
    return GROVE_OK;
}

grove_status tap_watch(tap *t, grove_watch *watch, tap_event_fn event, void *ctx,
                       grove_error *err) {
    watch->size = (uint32_t)sizeof *watch;
    watch->token = OWN | ++t->next;
    open_watch w = {.token = watch->token, .kind = watch->kind, .event = event, .ctx = ctx};
    grove_status st = add_watch(t, &w, err);
    return st < 0 ? st : t->inner.ops->watch(t->inner.impl, watch, err);
}

int tap_is_synced(const tap *t) {
    uint32_t all = 0, synced = 0;
    tap_watches(t, &all, &synced);
    return all > 0 && synced == all;
}

void tap_watches(const tap *t, uint32_t *out_all, uint32_t *out_synced) {
    *out_all = t->n_watches;
    *out_synced = 0;
    for (uint32_t i = 0; i < t->n_watches; i++) {
        *out_synced += t->watches[i].synced ? 1 : 0;
    }
}

uint32_t tap_in_flight(const tap *t) {
    return t->n_ops;
}

/* ---- the engine's side ---- */

/* Nobody waits for an event that is told, but the daemon hears whether it may tell them. */
static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    if (op->verb == GROVE_VERB_EVENT && (op->flags & GROVE_OP_NO_REPLY)) {
        grove_op heard = *op;
        heard.flags &= ~GROVE_OP_NO_REPLY;
        return tap_ask(impl, &heard, NULL, NULL, err);
    }
    return submit_with(impl, op, NULL, NULL, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    tap *t = impl;
    return t->inner.ops->cancel(t->inner.impl, token, err);
}

static grove_status watch(void *impl, const grove_watch *given, grove_error *err) {
    tap *t = impl;
    grove_watch narrowed = *given;
    open_watch w = {.token = given->token, .kind = given->kind};
    w.absent = t->options.without[given->kind];
    if (t->options.ours[given->kind] && !given->label_selector) {
        narrowed.label_selector = t->options.selector;
    }
    grove_status st = add_watch(t, &w, err);
    if (st < 0 || w.absent) {
        return st;
    }
    return t->inner.ops->watch(t->inner.impl, &narrowed, err);
}

static grove_status pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    tap *t = impl;
    *out_n = 0;
    return t->inner.ops->pollfds ? t->inner.ops->pollfds(t->inner.impl, fds, cap, out_n) : GROVE_OK;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    tap *t = ctx;
    const open_op *known = find_op(t, c->token);
    tap_done_fn done = known ? known->done : NULL;
    if (!(c->token & OWN)) {
        grove_status st = t->sink->completion(t->sink->ctx, c);
        if (st < 0) {
            return st; /* told again by the next process */
        }
    }
    open_op *found = find_op(t, c->token); /* the sink may have moved the table */
    if (found) {
        open_op op = *found;
        *found = t->ops[--t->n_ops];
        if (t->options.observer.ended) {
            t->options.observer.ended(t->options.observer.ctx, op.verb, op.kind, c,
                                      steady() - op.began_ns);
        }
        if (done) {
            done(op.ctx, c);
        }
    }
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *event) {
    tap *t = ctx;
    open_watch *w = find_watch(t, event->token), own = {0};
    if (w) {
        w->synced = event->type == GROVE_EVENT_GONE     ? 0
                    : event->type == GROVE_EVENT_SYNCED ? 1
                                                        : w->synced;
        own = *w;
    }
    if (own.event) {
        own.event(own.ctx, event);
        return GROVE_OK;
    }
    if (event->token & OWN) {
        return GROVE_OK;
    }
    grove_status st = t->sink->event(t->sink->ctx, event);
    if (st == GROVE_OK && t->options.observer.event) {
        t->options.observer.event(t->options.observer.ctx, event);
    }
    return st;
}

/* What is not watched is known to be empty. */
static grove_status tell_absent(tap *t) {
    for (uint32_t i = 0; i < t->n_watches; i++) {
        open_watch *w = &t->watches[i];
        if (w->absent && !w->synced) {
            grove_event e = {.size = (uint32_t)sizeof e,
                             .type = GROVE_EVENT_SYNCED,
                             .token = w->token,
                             .kind = w->kind,
                             .resource_version = ""};
            grove_status st = t->sink->event(t->sink->ctx, &e);
            if (st < 0) {
                return st;
            }
            t->watches[i].synced = 1;
        }
    }
    return GROVE_OK;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    tap *t = impl;
    grove_sink own = {
        .size = (uint32_t)sizeof own, .ctx = t, .completion = on_completion, .event = on_event};
    t->sink = sink;
    grove_status st = tell_absent(t);
    if (st == GROVE_OK) {
        st = t->inner.ops->process(t->inner.impl, now, budget, &own, out_deadline, err);
    }
    t->sink = NULL;
    return st;
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    tap *t = impl;
    return t->inner.ops->control ? t->inner.ops->control(t->inner.impl, what, arg, err)
                                 : grove_error_set(err, GROVE_E_UNSUPPORTED, "no control");
}

static void destroy(void *impl) {
    tap *t = impl;
    t->inner.ops->destroy(t->inner.impl);
    grove_env_unref(t->env);
    free(t->ops);
    free(t->watches);
    free(t);
}

static const grove_backend_ops table = {.size = (uint32_t)sizeof table,
                                        .submit = submit,
                                        .cancel = cancel,
                                        .watch = watch,
                                        .pollfds = pollfds,
                                        .process = process,
                                        .control = control,
                                        .destroy = destroy};

grove_status tap_new(grove_env *env, const grove_backend *inner, const tap_options *options,
                     tap **out_tap, grove_backend *out_backend, grove_error *err) {
    tap *t = calloc(1, sizeof *t);
    if (!t) {
        return grove_error_set(err, GROVE_E_NOMEM, "out of memory");
    }
    t->env = grove_env_ref(env);
    t->inner = *inner;
    t->options = *options;
    *out_backend = *inner;
    out_backend->ops = &table;
    out_backend->impl = t;
    *out_tap = t;
    return GROVE_OK;
}
