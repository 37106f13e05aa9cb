/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decorator that breaks things. Everything random comes from one generator, drawn in the order of the
 * calls, so that a seed and a sequence of calls always break the same things.
 */
#include <string.h>

#include "backend/held.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/vec.h"

/* What was decided about an operation when it was submitted. */
typedef struct note {
    uint64_t token;
    bool lose_reply;
    int64_t delay;
} note;

/* What is known of a watch. */
typedef struct watched {
    uint64_t token;
    grove_kind kind;
    int64_t held_until;
} watched;

typedef struct fault {
    grove_env *env;
    grove_backend inner;
    grove_fault_options options;
    gv_prng prng;
    uint64_t dealt;
    int64_t now;
    GV_VEC(note) notes;
    GV_VEC(watched) watches;
    GV_VEC(gv_held *) held; /* in the order in which they came */
    const grove_sink *sink; /* of the process that is running */
} fault;

/* ---- chance ---- */

static bool happens(fault *f, uint32_t chance) {
    bool over = f->options.quiet_after > 0 && f->dealt >= f->options.quiet_after;
    bool yes = chance > 0 && gv_prng_below(&f->prng, 65536) < chance && !over;
    f->dealt += yes ? 1 : 0;
    return yes;
}

static int64_t some_delay(fault *f) {
    int64_t max = f->options.max_delay_ns;
    return max > 0 ? (int64_t)gv_prng_below(&f->prng, (uint64_t)max) + 1 : 0;
}

/* ---- lists ---- */

static void held_remove(fault *f, size_t i) {
    gv_held_free(f->held.v[i]);
    memmove(f->held.v + i, f->held.v + i + 1, (f->held.n - i - 1) * sizeof *f->held.v);
    f->held.n--;
}

static grove_status held_push(fault *f, gv_held *h, int64_t due) {
    h->due = due;
    if (gv_vec_push(f->env, &f->held, h)) {
        return GROVE_OK;
    }
    gv_held_free(h);
    return GROVE_E_NOMEM;
}

static watched *watch_of(fault *f, uint64_t token) {
    for (size_t i = 0; i < f->watches.n; i++) {
        if (f->watches.v[i].token == token) {
            return &f->watches.v[i];
        }
    }
    return NULL;
}

static void forget_watch(fault *f, uint64_t token) {
    watched *w = watch_of(f, token);
    if (w) {
        *w = f->watches.v[--f->watches.n];
    }
    for (size_t i = 0; i < f->held.n;) {
        if (f->held.v[i]->is_event && f->held.v[i]->token == token && !f->held.v[i]->busy) {
            held_remove(f, i);
        } else {
            i++;
        }
    }
}

/* ---- operations ---- */

static bool is_write(grove_verb verb) {
    return verb != GROVE_VERB_GET && verb != GROVE_VERB_LIST;
}

static bool has_precondition(const grove_op *op) {
    return (op->uid && op->uid[0]) || (op->resource_version && op->resource_version[0]) ||
           op->patch_type == GROVE_PATCH_JSON;
}

static grove_status fail_instead(fault *f, const grove_op *op, grove_status status, int32_t http,
                                 uint32_t flags, const char *reason, const char *message) {
    gv_held *h = NULL;
    if (op->flags & GROVE_OP_NO_REPLY) {
        return GROVE_OK;
    }
    grove_status st = gv_held_failure(f->env, op->token, status, http, flags, reason, message, &h);
    return st < 0 ? st : held_push(f, h, f->now);
}

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    fault *f = impl;
    const uint32_t lost = GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN;
    grove_status st;
    if (happens(f, f->options.lose_request)) {
        st = fail_instead(f, op, GROVE_E_UNAVAILABLE, 0, lost, "", "the request was lost");
        return st < 0 ? gv_error_nomem(err) : st;
    }
    if (happens(f, f->options.refuse)) {
        st = fail_instead(f, op, GROVE_E_BUSY, 429, GROVE_ERROR_RETRIABLE, "TooManyRequests",
                          "too many requests");
        return st < 0 ? gv_error_nomem(err) : st;
    }
    if (is_write(op->verb) && has_precondition(op) && happens(f, f->options.conflict)) {
        st = fail_instead(f, op, GROVE_E_CONFLICT, 409, 0, "Conflict",
                          "the object has been modified");
        return st < 0 ? gv_error_nomem(err) : st;
    }
    note n = {op->token, happens(f, f->options.lose_reply), 0};
    n.delay = happens(f, f->options.delay) ? some_delay(f) : 0;
    bool noted = n.lose_reply || n.delay > 0;
    if (noted && !gv_vec_push(f->env, &f->notes, n)) {
        return gv_error_nomem(err);
    }
    st = f->inner.ops->submit(f->inner.impl, op, err);
    if (st < 0 && noted) {
        f->notes.n--;
    }
    return st;
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    fault *f = impl;
    for (size_t i = 0; i < f->held.n; i++) {
        if (!f->held.v[i]->is_event && f->held.v[i]->token == token) {
            return GROVE_OK; /* its completion is on the way */
        }
    }
    grove_status st = f->inner.ops->cancel(f->inner.impl, token, err);
    if (st == GROVE_OK) {
        forget_watch(f, token);
    }
    return st;
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    fault *f = impl;
    watched entry = {w->token, w->kind, 0};
    if (!gv_vec_push(f->env, &f->watches, entry)) {
        return gv_error_nomem(err);
    }
    grove_watch whole = *w;
    whole.flags &= ~GROVE_WATCH_RECORDS; /* what is held back must last: a document does */
    grove_status st = f->inner.ops->watch(f->inner.impl, &whole, err);
    if (st < 0) {
        f->watches.n--;
    }
    return st;
}

/* ---- deliveries ---- */

static grove_status on_completion(void *ctx, const grove_completion *c) {
    fault *f = ctx;
    size_t i = 0;
    while (i < f->notes.n && f->notes.v[i].token != c->token) {
        i++;
    }
    if (i == f->notes.n) {
        return f->sink->completion(f->sink->ctx, c);
    }
    note n = f->notes.v[i];
    gv_held *h = NULL;
    grove_status st = n.lose_reply && c->status != GROVE_E_CANCELLED
                          ? gv_held_failure(f->env, c->token, GROVE_E_UNAVAILABLE, 0,
                                            GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN, "",
                                            "the answer was lost", &h)
                          : gv_held_completion(f->env, c, &h);
    if (st == GROVE_OK) {
        st = held_push(f, h, f->now + n.delay);
    }
    if (st == GROVE_OK) {
        f->notes.v[i] = f->notes.v[--f->notes.n];
    }
    return st;
}

static grove_status hold_event(fault *f, const grove_event *e, int64_t due) {
    gv_held *h = NULL;
    grove_status st = gv_held_event(f->env, e, &h);
    return st < 0 ? st : held_push(f, h, due);
}

/* The watch ends here, as if its position were lost. */
static grove_status lose_watch(fault *f, const grove_event *e) {
    grove_event gone = {(uint32_t)sizeof gone, GROVE_EVENT_GONE, e->token, e->kind};
    gone.resource_version = "";
    gv_held *h = NULL;
    grove_status st = gv_held_event(f->env, &gone, &h);
    if (st < 0) {
        return st;
    }
    (void)f->inner.ops->cancel(f->inner.impl, e->token, NULL);
    forget_watch(f, e->token);
    return held_push(f, h, f->now);
}

/*
 * All events pass through the held list, so that a held watch keeps its order. What was decided about an
 * event stays decided when the sink fails: the event is held by then.
 */
static grove_status on_event(void *ctx, const grove_event *e) {
    fault *f = ctx;
    watched *w = watch_of(f, e->token);
    if (!w) {
        return GROVE_OK; /* the watch was lost a moment ago */
    }
    bool content = e->type <= GROVE_EVENT_DELETED;
    if (content && happens(f, f->options.gone)) {
        return lose_watch(f, e);
    }
    if (happens(f, f->options.delay_event)) {
        int64_t until = f->now + some_delay(f);
        w->held_until = until > w->held_until ? until : w->held_until;
    }
    int64_t due = w->held_until > f->now ? w->held_until : f->now;
    bool twice = content && happens(f, f->options.duplicate_event);
    grove_status st = hold_event(f, e, due);
    return st == GROVE_OK && twice ? hold_event(f, e, due) : st;
}

static void remove_told(fault *f, const gv_held *h) {
    size_t i = 0;
    while (f->held.v[i] != h) {
        i++;
    }
    held_remove(f, i);
}

static grove_status tell_held(fault *f, uint32_t *budget) {
    for (size_t i = 0; i<f->held.n && * budget> 0;) {
        gv_held *h = f->held.v[i];
        if (h->due > f->now) {
            i++;
            continue;
        }
        bool gone = h->is_event && h->event.type == GROVE_EVENT_GONE;
        uint64_t token = h->token;
        h->busy = true; /* the sink may cancel the watch */
        grove_status st = gv_held_tell(h, f->sink);
        h->busy = false;
        if (st < 0) {
            return st;
        }
        remove_told(f, h);
        if (gone) {
            forget_watch(f, token);
        }
        (*budget)--;
        i = 0; /* the list may have changed */
    }
    return GROVE_OK;
}

static int64_t first_due(const fault *f) {
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < f->held.n; i++) {
        due = f->held.v[i]->due < due ? f->held.v[i]->due : due;
    }
    return due;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    fault *f = impl;
    uint32_t left = budget > 0 ? budget : UINT32_MAX;
    grove_sink between = {(uint32_t)sizeof between, 0, f, on_completion, on_event};
    int64_t deadline = INT64_MAX;
    f->now = now > f->now ? now : f->now;
    f->sink = sink;
    grove_status st = tell_held(f, &left);
    if (st == GROVE_OK && left > 0) {
        st = f->inner.ops->process(f->inner.impl, now, left, &between, &deadline, err);
    }
    if (st == GROVE_OK) {
        st = tell_held(f, &left);
    }
    f->sink = NULL;
    int64_t due = left > 0 ? first_due(f) : now;
    if (st == GROVE_OK && out_deadline) {
        *out_deadline = due < deadline ? due : deadline;
    }
    return st;
}

static grove_status pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    fault *f = impl;
    if (!f->inner.ops->pollfds) {
        *out_n = 0;
        return GROVE_OK;
    }
    return f->inner.ops->pollfds(f->inner.impl, fds, cap, out_n);
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    fault *f = impl;
    return f->inner.ops->control ? f->inner.ops->control(f->inner.impl, what, arg, err)
                                 : gv_error(err, GROVE_E_UNSUPPORTED, "no control");
}

static void destroy(void *impl) {
    fault *f = impl;
    for (size_t i = 0; i < f->held.n; i++) {
        gv_held_free(f->held.v[i]);
    }
    gv_vec_fini(f->env, &f->held);
    gv_vec_fini(f->env, &f->notes);
    gv_vec_fini(f->env, &f->watches);
    f->inner.ops->destroy(f->inner.impl);
    grove_env *env = f->env;
    gv_free(env, f, sizeof *f);
    grove_env_unref(env);
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

grove_status grove_backend_fault(grove_env *env, const grove_backend *inner,
                                 const grove_fault_options *options, grove_backend *out_backend,
                                 grove_error *err) {
    grove_fault_options o = {0};
    grove_status st = gv_struct_in(&o, sizeof o, options, options->size,
                                   offsetof(grove_fault_options, lose_request));
    if (st < 0) {
        return gv_error(err, st, "grove_fault_options has an unknown size");
    }
    fault *f = gv_zalloc(env, sizeof *f);
    if (!f) {
        return gv_error_nomem(err);
    }
    f->env = grove_env_ref(env);
    f->inner = *inner;
    f->options = o;
    f->now = INT64_MIN;
    gv_prng_seed(&f->prng, o.seed);
    *out_backend = (grove_backend){(uint32_t)sizeof *out_backend, inner->caps, &ops, f};
    return GROVE_OK;
}
