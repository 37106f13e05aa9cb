/* SPDX-License-Identifier: Apache-2.0 */
/* The decorator under which nothing is written: what would an engine do to this cluster? */
#include <string.h>

#include "backend/held.h"
#include "base/mem.h"
#include "base/vec.h"

typedef struct dry {
    grove_env *env;
    grove_backend inner;
    GV_VEC(gv_held *) held; /* answers of our own */
} dry;

static bool is_write(grove_verb verb) {
    return verb != GROVE_VERB_GET && verb != GROVE_VERB_LIST;
}

/* "Yes, this is what would be stored." */
static grove_status answer(dry *d, const grove_op *op, grove_error *err) {
    if (op->flags & GROVE_OP_NO_REPLY) {
        return GROVE_OK;
    }
    grove_completion c = {(uint32_t)sizeof c, GROVE_OK, op->token};
    bool body = op->verb == GROVE_VERB_CREATE || op->verb == GROVE_VERB_REPLACE ||
                op->verb == GROVE_VERB_APPLY;
    c.http = op->verb == GROVE_VERB_CREATE ? 201 : 200;
    c.reason = c.message = "";
    c.object_doc = body ? op->body_doc : NULL;
    c.object = !c.object_doc ? NULL : op->body ? op->body : grove_doc_root(op->body_doc);
    gv_held *h = NULL;
    if (gv_held_completion(d->env, &c, &h) < 0) {
        return gv_error_nomem(err);
    }
    if (!gv_vec_push(d->env, &d->held, h)) {
        gv_held_free(h);
        return gv_error_nomem(err);
    }
    return GROVE_OK;
}

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    dry *d = impl;
    if (!is_write(op->verb)) {
        return d->inner.ops->submit(d->inner.impl, op, err);
    }
    if (op->verb == GROVE_VERB_EVENT || !(d->inner.caps & GROVE_CAP_DRY_RUN)) {
        return answer(d, op, err);
    }
    grove_op dry_op = {0};
    grove_status st = gv_struct_in(&dry_op, sizeof dry_op, op, op->size, offsetof(grove_op, ns));
    if (st < 0) {
        return gv_error(err, st, "grove_op has an unknown size");
    }
    dry_op.size = (uint32_t)sizeof dry_op;
    dry_op.flags |= GROVE_OP_DRY_RUN;
    return d->inner.ops->submit(d->inner.impl, &dry_op, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    dry *d = impl;
    for (size_t i = 0; i < d->held.n; i++) {
        if (d->held.v[i]->token == token) {
            return GROVE_OK;
        }
    }
    return d->inner.ops->cancel(d->inner.impl, token, err);
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    dry *d = impl;
    return d->inner.ops->watch(d->inner.impl, w, err);
}

static grove_status pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    dry *d = impl;
    if (!d->inner.ops->pollfds) {
        *out_n = 0;
        return GROVE_OK;
    }
    return d->inner.ops->pollfds(d->inner.impl, fds, cap, out_n);
}

static grove_status tell(dry *d, const grove_sink *sink, uint32_t *left) {
    while (d->held.n > 0 && *left > 0) {
        gv_held *h = d->held.v[0];
        grove_status st = gv_held_tell(h, sink);
        if (st < 0) {
            return st;
        }
        d->held.n--;
        memmove(d->held.v, d->held.v + 1, d->held.n * sizeof *d->held.v);
        gv_held_free(h);
        (*left)--;
    }
    return GROVE_OK;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    dry *d = impl;
    uint32_t left = budget > 0 ? budget : UINT32_MAX;
    int64_t deadline = now;
    grove_status st = tell(d, sink, &left);
    if (st == GROVE_OK && left > 0) {
        st = d->inner.ops->process(d->inner.impl, now, left == UINT32_MAX ? 0 : left, sink,
                                   &deadline, err);
    }
    if (st == GROVE_OK && out_deadline) {
        *out_deadline = d->held.n > 0 ? now : deadline;
    }
    return st;
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    dry *d = impl;
    return d->inner.ops->control ? d->inner.ops->control(d->inner.impl, what, arg, err)
                                 : gv_error(err, GROVE_E_UNSUPPORTED, "no control");
}

static void destroy(void *impl) {
    dry *d = impl;
    grove_env *env = d->env;
    for (size_t i = 0; i < d->held.n; i++) {
        gv_held_free(d->held.v[i]);
    }
    gv_vec_fini(env, &d->held);
    d->inner.ops->destroy(d->inner.impl);
    gv_free(env, d, sizeof *d);
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

grove_status grove_backend_dry_run(grove_env *env, const grove_backend *inner,
                                   grove_backend *out_backend, grove_error *err) {
    dry *d = gv_zalloc(env, sizeof *d);
    if (!d) {
        return gv_error_nomem(err);
    }
    d->env = grove_env_ref(env);
    d->inner = *inner;
    *out_backend = (grove_backend){(uint32_t)sizeof *out_backend, inner->caps, &ops, d};
    return GROVE_OK;
}
