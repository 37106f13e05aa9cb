/* SPDX-License-Identifier: Apache-2.0 */
/* The decorator that writes down what passes through it. */
#include "backend/line.h"
#include "base/mem.h"
#include "base/text.h"

typedef struct recorder {
    grove_env *env;
    grove_backend inner;
    grove_builder *b;
    grove_buf line;
    grove_record_fn write;
    void *ctx;
    const grove_sink *sink; /* of the process that is running */
} recorder;

/* The line that `st` says was made goes out. */
static grove_status put(recorder *r, grove_status st) {
    if (st == GROVE_OK) {
        st = gv_buf_char(&r->line, '\n');
    }
    if (st == GROVE_OK) {
        st = r->write(r->ctx, r->line.data, (size_t)r->line.len);
    }
    grove_buf_clear(&r->line);
    return st;
}

/* A call's line carries how the call went, since replay must answer the same. */
static grove_status put_status(recorder *r, grove_status went) {
    return put(r, gv_line_number(r->b, "status", went, &r->line));
}

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    recorder *r = impl;
    grove_op in = {0};
    grove_status st = gv_struct_in(&in, sizeof in, op, op->size, offsetof(grove_op, ns));
    if (st == GROVE_OK) {
        st = put(r, gv_line_submit(r->b, &in, &r->line));
    }
    if (st < 0) {
        return gv_error(err, st, "the operation was not recorded");
    }
    grove_status went = r->inner.ops->submit(r->inner.impl, op, err);
    st = put_status(r, went);
    return st < 0 ? st : went;
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    recorder *r = impl;
    grove_status st = put(r, gv_line_cancel(r->b, token, &r->line));
    if (st < 0) {
        return gv_error(err, st, "the call was not recorded");
    }
    grove_status went = r->inner.ops->cancel(r->inner.impl, token, err);
    st = put_status(r, went);
    return st < 0 ? st : went;
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    recorder *r = impl;
    grove_status st = put(r, gv_line_watch(r->b, w, &r->line));
    if (st < 0) {
        return gv_error(err, st, "the watch was not recorded");
    }
    grove_watch whole = *w;
    whole.flags &= ~GROVE_WATCH_RECORDS; /* objects are recorded */
    grove_status went = r->inner.ops->watch(r->inner.impl, &whole, err);
    st = put_status(r, went);
    return st < 0 ? st : went;
}

/* ---- deliveries ---- */

static grove_status took(recorder *r, grove_status st) {
    if (st < 0) {
        grove_status written = put(r, gv_line_number(r->b, "failed", st, &r->line));
        return written < 0 ? written : st;
    }
    return st;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    recorder *r = ctx;
    grove_status st = put(r, gv_line_completion(r->b, c, &r->line));
    return st < 0 ? st : took(r, r->sink->completion(r->sink->ctx, c));
}

static grove_status on_event(void *ctx, const grove_event *e) {
    recorder *r = ctx;
    grove_status st = put(r, gv_line_event(r->b, e, &r->line));
    return st < 0 ? st : took(r, r->sink->event(r->sink->ctx, e));
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    recorder *r = impl;
    grove_sink between = {(uint32_t)sizeof between, 0, r, on_completion, on_event};
    int64_t deadline = INT64_MAX;
    grove_status st = put(r, gv_line_process(r->b, now, budget, &r->line));
    if (st < 0) {
        return gv_error(err, st, "the call was not recorded");
    }
    r->sink = sink;
    grove_status went = r->inner.ops->process(r->inner.impl, now, budget, &between, &deadline, err);
    r->sink = NULL;
    st = put(r, gv_line_processed(r->b, went, deadline, &r->line));
    if (st < 0) {
        return gv_error(err, st, "the call was not recorded");
    }
    if (went == GROVE_OK && out_deadline) {
        *out_deadline = deadline;
    }
    return went;
}

/* ---- the rest ---- */

static grove_status pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    recorder *r = impl;
    if (!r->inner.ops->pollfds) {
        *out_n = 0;
        return GROVE_OK;
    }
    return r->inner.ops->pollfds(r->inner.impl, fds, cap, out_n);
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    recorder *r = impl;
    if (!r->inner.ops->control) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "no control");
    }
    grove_status st = put(r, gv_line_control(r->b, what, &r->line));
    if (st < 0) {
        return gv_error(err, st, "the call was not recorded");
    }
    grove_status went = r->inner.ops->control(r->inner.impl, what, arg, err);
    st = put_status(r, went);
    return st < 0 ? st : went;
}

static void recorder_free(recorder *r) {
    grove_env *env = r->env;
    grove_builder_free(r->b);
    grove_buf_fini(&r->line);
    gv_free(env, r, sizeof *r);
    grove_env_unref(env);
}

static void destroy(void *impl) {
    recorder *r = impl;
    r->inner.ops->destroy(r->inner.impl);
    recorder_free(r);
}

static const grove_backend_ops ops = {(uint32_t)sizeof(grove_backend_ops),
                                      0,
                                      submit,
                                      cancel,
                                      watch,
                                      pollfds,
                                      process,
                                      control,
                                      destroy};

grove_status grove_backend_record(grove_env *env, const grove_backend *inner, grove_record_fn write,
                                  void *ctx, grove_backend *out_backend, grove_error *err) {
    recorder *r = gv_zalloc(env, sizeof *r);
    if (!r) {
        return gv_error_nomem(err);
    }
    r->env = grove_env_ref(env);
    r->inner = *inner;
    r->write = write;
    r->ctx = ctx;
    grove_buf_init(&r->line, env);
    if (grove_builder_new(env, &r->b) < 0) {
        recorder_free(r);
        return gv_error_nomem(err);
    }
    grove_status st = put(r, gv_line_head(r->b, inner->caps, &r->line));
    if (st < 0) {
        recorder_free(r);
        return gv_error(err, st, "the recording could not be begun");
    }
    *out_backend = (grove_backend){(uint32_t)sizeof *out_backend, inner->caps, &ops, r};
    return GROVE_OK;
}
