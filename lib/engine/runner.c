/* SPDX-License-Identifier: Apache-2.0 */
/* Joins an engine and a backend: nothing but calls between the two. */
#include <grove/runner.h>

#include <stdbool.h>

/* Items taken from the backend before the engine is asked again. */
#define BATCH 256

typedef struct joint {
    grove_engine *engine;
    int64_t now;
    grove_error *err;
    uint32_t delivered;
} joint;

static grove_status on_completion(void *ctx, const grove_completion *completion) {
    joint *j = ctx;
    j->delivered++;
    return grove_engine_complete(j->engine, completion, j->now, j->err);
}

static grove_status on_event(void *ctx, const grove_event *event) {
    joint *j = ctx;
    j->delivered++;
    return grove_engine_feed(j->engine, event, j->now, j->err);
}

static grove_status begin_watches(joint *j, const grove_backend *backend, bool *progress) {
    for (;;) {
        const grove_watch *watch = NULL;
        grove_status st = grove_engine_next_watch(j->engine, &watch, j->err);
        if (st < 0 || !watch) {
            return st;
        }
        st = backend->ops->watch(backend->impl, watch, j->err);
        if (st < 0) {
            return st;
        }
        *progress = true;
    }
}

/* An operation that the backend does not take has ended there and then. */
static grove_status refuse(joint *j, const grove_op *op, grove_status status) {
    grove_completion completion = {.size = (uint32_t)sizeof completion,
                                   .status = status,
                                   .token = op->token,
                                   .reason = "",
                                   .message = j->err ? j->err->message : ""};
    return grove_engine_complete(j->engine, &completion, j->now, j->err);
}

static grove_status submit_operations(joint *j, const grove_backend *backend, bool *progress) {
    for (;;) {
        const grove_op *op = NULL;
        grove_status st = grove_engine_next_op(j->engine, j->now, &op, j->err);
        if (st < 0 || !op) {
            return st;
        }
        st = backend->ops->submit(backend->impl, op, j->err);
        if (st < 0) {
            st = refuse(j, op, st);
            if (st < 0) {
                return st;
            }
        }
        *progress = true;
    }
}

grove_status grove_runner_turn(grove_engine *engine, const grove_backend *backend, int64_t now_ns,
                               int64_t *out_deadline, grove_error *err) {
    joint j = {.engine = engine, .now = now_ns, .err = err};
    grove_sink sink = {
        .size = (uint32_t)sizeof sink, .ctx = &j, .completion = on_completion, .event = on_event};
    int64_t deadline = INT64_MAX;
    bool progress = true;
    while (progress) {
        progress = false;
        j.delivered = 0;
        grove_status st = begin_watches(&j, backend, &progress);
        if (st == GROVE_OK) {
            st = submit_operations(&j, backend, &progress);
        }
        if (st == GROVE_OK) {
            st = backend->ops->process(backend->impl, now_ns, BATCH, &sink, &deadline, err);
        }
        if (st < 0) {
            return st;
        }
        progress = progress || j.delivered > 0 || deadline <= now_ns;
    }
    int64_t own = grove_engine_deadline(engine);
    *out_deadline = own < deadline ? own : deadline;
    return GROVE_OK;
}
