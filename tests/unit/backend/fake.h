/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that answers every operation with 200 and its body, and tells the events a test gives it. */
#ifndef TESTS_BACKEND_FAKE_H
#define TESTS_BACKEND_FAKE_H

#include <grove/sys/backend.h>

#define FAKE_MAX 64

typedef struct fake {
    grove_env *env;
    grove_op ops[FAKE_MAX]; /* as submitted; texts must be static */
    grove_doc *bodies[FAKE_MAX];
    uint32_t n_ops, told;
    uint64_t watches[FAKE_MAX];
    uint32_t n_watches;
    struct {
        uint64_t token;
        const char *version;
    } events[FAKE_MAX];
    uint32_t n_events, events_told;
    uint32_t cancelled, destroyed;
    grove_doc *object; /* of every event */
} fake;

static inline grove_status fake_submit(void *impl, const grove_op *op, grove_error *err) {
    fake *f = impl;
    (void)err;
    f->ops[f->n_ops] = *op;
    f->bodies[f->n_ops] = op->body_doc ? grove_doc_ref(op->body_doc) : NULL;
    f->n_ops++;
    return GROVE_OK;
}

static inline grove_status fake_cancel(void *impl, uint64_t token, grove_error *err) {
    fake *f = impl;
    (void)err;
    for (uint32_t i = 0; i < f->n_watches; i++) {
        if (f->watches[i] == token) {
            f->watches[i] = f->watches[--f->n_watches];
            f->cancelled++;
            return GROVE_OK;
        }
    }
    return GROVE_E_NOT_FOUND;
}

static inline grove_status fake_watch(void *impl, const grove_watch *w, grove_error *err) {
    fake *f = impl;
    (void)err;
    f->watches[f->n_watches++] = w->token;
    return GROVE_OK;
}

static inline grove_status fake_tell(fake *f, const grove_sink *sink) {
    for (; f->told < f->n_ops; f->told++) {
        grove_completion c = {(uint32_t)sizeof c, GROVE_OK, f->ops[f->told].token, 200};
        c.reason = c.message = "";
        c.object_doc = f->bodies[f->told];
        c.object = c.object_doc ? grove_doc_root(c.object_doc) : NULL;
        grove_status st = sink->completion(sink->ctx, &c);
        if (st < 0) {
            return st;
        }
    }
    for (; f->events_told < f->n_events; f->events_told++) {
        grove_event e = {(uint32_t)sizeof e, GROVE_EVENT_MODIFIED, f->events[f->events_told].token,
                         GROVE_KIND_POD};
        e.object_doc = f->object;
        e.object = grove_doc_root(f->object);
        e.resource_version = f->events[f->events_told].version;
        grove_status st = sink->event(sink->ctx, &e);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

static inline grove_status fake_process(void *impl, int64_t now, uint32_t budget,
                                        const grove_sink *sink, int64_t *out_deadline,
                                        grove_error *err) {
    (void)now;
    (void)budget;
    (void)err;
    *out_deadline = INT64_MAX;
    return fake_tell(impl, sink);
}

static inline void fake_destroy(void *impl) {
    fake *f = impl;
    for (uint32_t i = 0; i < f->n_ops; i++) {
        grove_doc_unref(f->bodies[i]);
    }
    grove_doc_unref(f->object);
    f->destroyed++;
}

static const grove_backend_ops fake_ops = {(uint32_t)sizeof(grove_backend_ops),
                                           0,
                                           fake_submit,
                                           fake_cancel,
                                           fake_watch,
                                           NULL,
                                           fake_process,
                                           NULL,
                                           fake_destroy};

#endif
