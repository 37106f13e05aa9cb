/* SPDX-License-Identifier: Apache-2.0 */
/* The seven functions of the backend: queues of operations, outcomes and watches. */
#include "sim/client.h"

#include "backend/opcopy.h"
#include "sim/call.h"
#include "sim/watch.h"

/* What happened to an operation, waiting to be told. */
typedef struct outcome {
    uint64_t token;
    grove_sim_result res;
} outcome;

typedef struct gv_sim_client {
    grove_sim *sim;
    GV_VEC(gv_op_copy *) ops; /* accepted, not yet carried out */
    size_t ops_head;
    GV_VEC(outcome) outcomes; /* carried out, not yet told; room for all of `ops` */
    size_t outcomes_head;
    GV_VEC(gv_sim_watch *) watches; /* in order of creation */
    bool paused;
    uint64_t n_ops, n_completions, n_events;
} gv_sim_client;

grove_status gv_sim_client_new(grove_sim *sim, struct gv_sim_client **out_client) {
    gv_sim_client *c = gv_zalloc(sim->env, sizeof *c);
    if (!c || !gv_vec_push(sim->env, &sim->clients, c)) {
        gv_free(sim->env, c, sizeof *c);
        return GROVE_E_NOMEM;
    }
    c->sim = sim;
    *out_client = c;
    return GROVE_OK;
}

static void destroy(void *impl) {
    gv_sim_client *c = impl;
    grove_env *env = c->sim->env;
    for (size_t i = c->ops_head; i < c->ops.n; i++) {
        gv_op_copy_free(c->ops.v[i]);
    }
    for (size_t i = c->outcomes_head; i < c->outcomes.n; i++) {
        grove_doc_unref(c->outcomes.v[i].res.doc);
    }
    for (size_t i = 0; i < c->watches.n; i++) {
        gv_sim_watch_free(c->sim, c->watches.v[i]);
    }
    gv_vec_fini(env, &c->ops);
    gv_vec_fini(env, &c->outcomes);
    gv_vec_fini(env, &c->watches);
    for (size_t i = 0; i < c->sim->clients.n; i++) {
        if (c->sim->clients.v[i] == c) {
            c->sim->clients.v[i] = c->sim->clients.v[--c->sim->clients.n];
            break;
        }
    }
    gv_free(env, c, sizeof *c);
}

/* ---- taking orders ---- */

static bool token_used(const gv_sim_client *c, uint64_t token) {
    for (size_t i = 0; i < c->watches.n; i++) {
        if (gv_sim_watch_token(c->watches.v[i]) == token) {
            return true;
        }
    }
    return false;
}

/* Room so that carrying operations out can always be recorded. */
static bool reserve_outcomes(gv_sim_client *c) {
    size_t open = c->ops.n - c->ops_head + 1;
    return gv_vec_reserve(c->sim->env, &c->outcomes, c->outcomes.n + open);
}

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    gv_sim_client *c = impl;
    gv_op_copy *copy = NULL;
    grove_status st = gv_op_copy_make(c->sim->env, op, &copy, err);
    if (st < 0) {
        return st;
    }
    if (!reserve_outcomes(c) || !gv_vec_push(c->sim->env, &c->ops, copy)) {
        gv_op_copy_free(copy);
        return gv_error_nomem(err);
    }
    c->n_ops++;
    return GROVE_OK;
}

static void cancelled(gv_sim_client *c, size_t i) {
    outcome o = {c->ops.v[i]->op.token, {.size = sizeof o.res, .status = GROVE_E_CANCELLED}};
    gv_op_copy_free(c->ops.v[i]);
    memmove(c->ops.v + i, c->ops.v + i + 1, (c->ops.n - i - 1) * sizeof *c->ops.v);
    c->ops.n--;
    c->outcomes.v[c->outcomes.n++] = o; /* room was made by submit */
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    gv_sim_client *c = impl;
    for (size_t i = c->ops_head; i < c->ops.n; i++) {
        if (c->ops.v[i]->op.token == token) {
            cancelled(c, i);
            return GROVE_OK;
        }
    }
    for (size_t i = c->outcomes_head; i < c->outcomes.n; i++) {
        if (c->outcomes.v[i].token == token) {
            return GROVE_OK; /* too late: its completion is on the way */
        }
    }
    for (size_t i = 0; i < c->watches.n; i++) {
        if (gv_sim_watch_token(c->watches.v[i]) == token) {
            gv_sim_watch_free(c->sim, c->watches.v[i]);
            memmove(c->watches.v + i, c->watches.v + i + 1,
                    (c->watches.n - i - 1) * sizeof *c->watches.v);
            c->watches.n--;
            return GROVE_OK;
        }
    }
    return gv_error(err, GROVE_E_NOT_FOUND, "no operation or watch has this token");
}

static grove_status watch(void *impl, const grove_watch *in, grove_error *err) {
    gv_sim_client *c = impl;
    grove_watch w = {0};
    grove_status st = gv_struct_in(&w, sizeof w, in, in->size, offsetof(grove_watch, ns));
    if (st < 0 || w.token == 0 || token_used(c, w.token) || !gv_kind_get((gv_kind)w.kind)) {
        return gv_error(err, st < 0 ? st : GROVE_E_INVALID, "not a watch that can begin");
    }
    gv_sim_watch *made = NULL;
    st = gv_sim_watch_make(c->sim, &w, &made, err);
    if (st < 0) {
        return st;
    }
    if (!gv_vec_push(c->sim->env, &c->watches, made)) {
        gv_sim_watch_free(c->sim, made);
        return gv_error_nomem(err);
    }
    return GROVE_OK;
}

/* ---- carrying out ---- */

static grove_status carry_out(gv_sim_client *c, grove_error *err) {
    while (c->ops_head < c->ops.n) {
        gv_op_copy *copy = c->ops.v[c->ops_head];
        outcome o = {copy->op.token, {.size = sizeof o.res}};
        grove_status st = gv_sim_run(c->sim, &copy->op, &o.res);
        if (st == GROVE_E_NOMEM) {
            return gv_error_nomem(err); /* not carried out: tried again by the next call */
        }
        if (st < 0) {
            o.res = (grove_sim_result){.size = sizeof o.res, .status = st};
            (void)gv_fmt(o.res.message, sizeof o.res.message, "%s", grove_status_name(st));
        }
        if (copy->op.flags & GROVE_OP_NO_REPLY) {
            grove_doc_unref(o.res.doc);
        } else {
            c->outcomes.v[c->outcomes.n++] = o;
        }
        gv_op_copy_free(copy);
        c->ops_head++;
    }
    c->ops.n = c->ops_head = 0;
    return GROVE_OK;
}

/* ---- telling ---- */

static grove_status tell_outcome(gv_sim_client *c, const grove_sink *sink) {
    /* A copy: the sink may submit, which may move the queue. */
    outcome o = c->outcomes.v[c->outcomes_head];
    grove_completion done = {(uint32_t)sizeof done, o.res.status, o.token, o.res.http};
    done.flags = o.res.status == GROVE_E_BUSY ? GROVE_ERROR_RETRIABLE : 0;
    done.retry_after_ms = o.res.retry_after_ms;
    done.reason = o.res.reason;
    done.message = o.res.message;
    done.object_doc = o.res.doc;
    done.object = o.res.doc ? grove_doc_root(o.res.doc) : NULL;
    grove_status st = sink->completion(sink->ctx, &done);
    if (st == GROVE_OK) {
        grove_doc_unref(o.res.doc);
        c->outcomes_head++;
        c->n_completions++;
        if (c->outcomes_head == c->outcomes.n) {
            c->outcomes_head = c->outcomes.n = 0;
        }
    }
    return st;
}

static grove_status tell_outcomes(gv_sim_client *c, const grove_sink *sink, uint32_t *budget) {
    grove_status st = GROVE_OK;
    while (st == GROVE_OK && *budget > 0 && c->outcomes_head < c->outcomes.n) {
        st = tell_outcome(c, sink);
        (*budget)--;
    }
    return st;
}

/* The watch whose next event is the oldest; ties go to the watch that was made first. */
static gv_sim_watch *next_watch(gv_sim_client *c) {
    gv_sim_watch *best = NULL;
    uint64_t best_rv = 0;
    for (size_t i = 0; i < c->watches.n; i++) {
        uint64_t rv = 0;
        if (gv_sim_watch_peek(c->sim, c->watches.v[i], &rv) && (!best || rv < best_rv)) {
            best = c->watches.v[i];
            best_rv = rv;
        }
    }
    return best;
}

static void drop_watch(gv_sim_client *c, gv_sim_watch *w) {
    for (size_t i = 0; i < c->watches.n; i++) {
        if (c->watches.v[i] == w) {
            gv_sim_watch_free(c->sim, w);
            memmove(c->watches.v + i, c->watches.v + i + 1,
                    (c->watches.n - i - 1) * sizeof *c->watches.v);
            c->watches.n--;
            return;
        }
    }
}

static bool still_there(const gv_sim_client *c, const gv_sim_watch *w) {
    for (size_t i = 0; i < c->watches.n; i++) {
        if (c->watches.v[i] == w) {
            return true;
        }
    }
    return false;
}

static grove_status tell_event(gv_sim_client *c, gv_sim_watch *w, const grove_sink *sink) {
    grove_event e;
    char rv[24];
    grove_status st = gv_sim_watch_event(c->sim, w, &e, rv);
    if (st < 0) {
        return st;
    }
    grove_event_type type = e.type;
    st = sink->event(sink->ctx, &e);
    if (st == GROVE_OK) {
        c->n_events++;
        if (still_there(c, w)) { /* the sink may have cancelled it */
            if (type == GROVE_EVENT_GONE) {
                drop_watch(c, w);
            } else {
                gv_sim_watch_advance(c->sim, w);
            }
        }
    }
    grove_doc_unref(e.object_doc);
    return st;
}

static grove_status tell_events(gv_sim_client *c, const grove_sink *sink, uint32_t *budget) {
    gv_sim_watch *w;
    grove_status st = GROVE_OK;
    while (st == GROVE_OK && *budget > 0 && (w = next_watch(c)) != NULL) {
        st = tell_event(c, w, sink);
        (*budget)--;
    }
    return st;
}

static int64_t client_deadline(gv_sim_client *c) {
    if (c->paused) {
        return grove_sim_deadline(c->sim);
    }
    bool waits = c->ops_head < c->ops.n || c->outcomes_head < c->outcomes.n || next_watch(c);
    return waits ? c->sim->now : grove_sim_deadline(c->sim);
}

/* One instant: what is due, what was ordered, what follows at once, and the news of it. */
static grove_status process_instant(gv_sim_client *c, int64_t at, uint32_t *left,
                                    const grove_sink *sink, grove_error *err) {
    grove_status st = grove_sim_advance(c->sim, at, err);
    if (st < 0 || c->paused) {
        return st;
    }
    st = carry_out(c, err);
    if (st == GROVE_OK) {
        st = grove_sim_advance(c->sim, at, err);
    }
    if (st == GROVE_OK) {
        st = tell_outcomes(c, sink, left);
    }
    return st == GROVE_OK ? tell_events(c, sink, left) : st;
}

/* Instant by instant, so that a long step does not outrun the history that watches read. */
static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    gv_sim_client *c = impl;
    uint32_t left = budget > 0 ? budget : UINT32_MAX;
    grove_status st = GROVE_OK;
    do {
        int64_t next = grove_sim_deadline(c->sim);
        st = process_instant(c, next < now ? next : now, &left, sink, err);
    } while (st == GROVE_OK && left > 0 && c->sim->now < now);
    if (st == GROVE_OK && out_deadline) {
        *out_deadline = client_deadline(c);
    }
    return st;
}

/* ---- the rest ---- */

static grove_status stats(const gv_sim_client *c, grove_buf *buf) {
    return gv_buf_fmt(buf,
                      "{\"operations\":%llu,\"completions\":%llu,\"events\":%llu,\"watches\":%llu}",
                      (unsigned long long)c->n_ops, (unsigned long long)c->n_completions,
                      (unsigned long long)c->n_events, (unsigned long long)c->watches.n);
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    gv_sim_client *c = impl;
    switch (what) {
    case GROVE_CONTROL_FLUSH:
        for (size_t i = 0; i < c->watches.n; i++) { /* nothing is ever held back: say so */
            gv_sim_watch_bookmark(c->watches.v[i]);
        }
        return GROVE_OK;
    case GROVE_CONTROL_STATS:
        return arg ? stats(c, arg) : GROVE_E_INVALID;
    case GROVE_CONTROL_PAUSE:
    case GROVE_CONTROL_RESUME:
        c->paused = what == GROVE_CONTROL_PAUSE;
        return GROVE_OK;
    case GROVE_CONTROL_SYNC_LOST:
        for (size_t i = 0; i < c->watches.n; i++) {
            gv_sim_watch_lose(c->watches.v[i]);
        }
        return GROVE_OK;
    default:
        return gv_error(err, GROVE_E_UNSUPPORTED, "unknown control");
    }
}

const grove_backend_ops gv_sim_client_ops = {
    (uint32_t)sizeof(grove_backend_ops), 0, submit, cancel, watch, NULL, process, control, destroy};
