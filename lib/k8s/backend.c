/* SPDX-License-Identifier: Apache-2.0 */
/* The seven slots of the backend, and how it is made and ended. */
#define _GNU_SOURCE /* getentropy */
#include "backend.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <grove/sys/util.h>
#include <grove/version.h>

#define ROUNDS 64 /* of one process call */

static grove_status submit(void *impl, const grove_op *op, grove_error *err) {
    return gv_k8s_submit(impl, op, GV_K8S_CALLER, err);
}

static grove_status watch(void *impl, const grove_watch *w, grove_error *err) {
    return gv_k8s_watch_begin(impl, w, err);
}

static grove_status cancel(void *impl, uint64_t token, grove_error *err) {
    gv_k8s *k = impl;
    if (gv_k8s_cancel_call(k, token) == GROVE_OK || gv_k8s_watch_cancel(k, token) == GROVE_OK) {
        return GROVE_OK;
    }
    return grove_error_set(err, GROVE_E_NOT_FOUND, "no operation or watch has this token");
}

static grove_status pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    gv_k8s *k = impl;
    uint32_t n = 0;
    if (!out_n || (!fds && cap > 0)) {
        return GROVE_E_INVALID;
    }
    k->transport.ops->pollfds(k->transport.impl, fds, cap, &n);
    if (k->identity.program.fd >= 0) {
        if (n < cap) {
            fds[n] = (grove_pollfd){k->identity.program.fd, GROVE_POLL_IN};
        }
        n++;
    }
    *out_n = n;
    return GROVE_OK;
}

/*
 * One round: what is due goes out, what came is told. The transport looks for bytes in the first round, later
 * ones are for what the first has caused.
 */
static grove_status round_of(gv_k8s *k, bool first, uint32_t *left, const grove_sink *sink,
                             int64_t *deadline) {
    gv_k8s_readiness ready = GV_K8S_READY;
    const uint64_t started = k->stats.requests;
    grove_status st = gv_k8s_identity_poll(&k->identity, k->now, deadline, &ready);
    if (st == GROVE_OK && k->identity.trust_changed) {
        gv_k8s_trust trust = gv_k8s_identity_trust(&k->identity);
        st = k->transport.ops->trust(k->transport.impl, &trust);
        k->identity.trust_changed = st < 0;
        gv_k8s_watches_reopen(k);
    }
    st = st < 0 ? st : gv_k8s_elect_step(k);
    st = st < 0 ? st : gv_k8s_send_calls(k, ready);
    st = st < 0 ? st : gv_k8s_watches_step(k, ready);
    if (st == GROVE_OK && (first || k->stats.requests != started || k->transport_at <= k->now)) {
        st = k->transport.ops->perform(k->transport.impl, k->now, &k->transport_at);
    }
    st = st < 0 ? st : gv_k8s_judge_calls(k);
    st = st < 0 ? st : gv_k8s_tell_calls(k, sink, left);
    st = st < 0 ? st : gv_k8s_tell_watches(k, sink, left);
    *deadline = k->transport_at < *deadline ? k->transport_at : *deadline;
    return st;
}

static grove_status process(void *impl, int64_t now, uint32_t budget, const grove_sink *sink,
                            int64_t *out_deadline, grove_error *err) {
    gv_k8s *k = impl;
    uint32_t left = budget > 0 ? budget : UINT32_MAX;
    int64_t deadline = INT64_MAX;
    uint64_t before = 0;
    k->now = now;
    for (int i = 0; i < ROUNDS && left > 0 && (i == 0 || k->activity != before); i++) {
        before = k->activity;
        deadline = INT64_MAX;
        grove_status st = round_of(k, i == 0, &left, sink, &deadline);
        if (st < 0) {
            return st == GROVE_E_NOMEM ? gv_k8s_nomem(err) : st;
        }
    }
    int64_t others[] = {gv_k8s_calls_deadline(k), gv_k8s_watches_deadline(k),
                        gv_k8s_elect_deadline(k)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        deadline = others[i] < deadline ? others[i] : deadline;
    }
    if (left == 0 || k->activity != before || deadline < now) {
        deadline = now;
    }
    if (out_deadline) {
        *out_deadline = deadline;
    }
    return GROVE_OK;
}

static grove_status stats(const gv_k8s *k, grove_buf *buf) {
    const gv_k8s_stats *s = &k->stats;
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {{"operations", s->operations},
                {"completions", s->completions},
                {"events", s->events},
                {"requests", s->requests},
                {"retries", s->retries},
                {"errors", s->errors},
                {"busy", s->busy},
                {"coalesced", s->coalesced},
                {"watchesOpened", s->watches_opened},
                {"watchesLost", s->watches_lost},
                {"relists", s->relists},
                {"bytes", s->bytes},
                {"inFlight", k->in_flight},
                {"window", k->window}};
    grove_status st = GROVE_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && st == GROVE_OK; i++) {
        st = gv_k8s_putf(buf, "%s\"%s\":%llu", i == 0 ? "{" : ",", rows[i].name,
                         (unsigned long long)rows[i].value);
    }
    return st < 0 ? st : gv_k8s_put(buf, "}");
}

static grove_status control(void *impl, grove_control what, void *arg, grove_error *err) {
    gv_k8s *k = impl;
    switch (what) {
    case GROVE_CONTROL_FLUSH:
        return GROVE_OK; /* nothing is held back */
    case GROVE_CONTROL_STATS:
        return arg ? stats(k, arg) : GROVE_E_INVALID;
    case GROVE_CONTROL_PAUSE:
    case GROVE_CONTROL_RESUME:
        k->paused = what == GROVE_CONTROL_PAUSE;
        k->activity++;
        return GROVE_OK;
    case GROVE_CONTROL_SYNC_LOST:
        gv_k8s_watches_lose(k);
        return GROVE_OK;
    default:
        return grove_error_set(err, GROVE_E_UNSUPPORTED, "unknown control");
    }
}

static void destroy(void *impl) {
    gv_k8s *k = impl;
    grove_env *env = k->env;
    gv_k8s_drop_calls(k);
    gv_k8s_drop_watches(k);
    gv_k8s_elect_free(k);
    k->transport.ops->destroy(k->transport.impl);
    gv_k8s_identity_fini(&k->identity);
    gv_k8s_access_fini(&k->access);
    gv_k8s_pool_fini(&k->texts);
    grove_memory_free(env, k, sizeof *k);
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

#define CAPS                                                                      \
    (GROVE_CAP_STATUS | GROVE_CAP_SCALE | GROVE_CAP_STRATEGIC | GROVE_CAP_APPLY | \
     GROVE_CAP_REPLACE | GROVE_CAP_EVICT | GROVE_CAP_DRY_RUN | GROVE_CAP_SELECTORS | GROVE_CAP_GC)

static grove_status take_options(gv_k8s *k, const grove_k8s_options *o, grove_error *err) {
    const char *agent = o->user_agent ? o->user_agent : "libgrove/" GROVE_VERSION_STRING;
    k->flags = o->flags;
    k->max_in_flight = o->max_in_flight > 0 ? o->max_in_flight : 64;
    k->request_timeout_ms = o->request_timeout_ms > 0 ? o->request_timeout_ms : 60000;
    k->page_size = o->page_size > 0 ? o->page_size : 500;
    k->random = o->seed;
    if (o->seed == 0 && getentropy(&k->random, sizeof k->random) != 0) {
        k->random = (uint64_t)getpid();
    }
    if (!gv_k8s_pool_set(&k->texts, &k->user_agent, agent) ||
        !gv_k8s_pool_set(&k->texts, &k->manager, o->manager ? o->manager : "libgrove")) {
        return gv_k8s_nomem(err);
    }
    return GROVE_OK;
}

grove_status gv_k8s_new(grove_env *env, const grove_k8s_options *options, gv_k8s_access *access,
                        const gv_k8s_transport *transport, grove_backend *out_backend,
                        grove_error *err) {
    gv_k8s *k = grove_memory_alloc(env, sizeof *k);
    if (!k) {
        transport->ops->destroy(transport->impl);
        gv_k8s_access_fini(access);
        return gv_k8s_nomem(err);
    }
    k->env = grove_env_ref(env);
    k->texts.env = env;
    k->transport = *transport;
    k->access = *access;
    k->identity.program.fd = -1;
    *access = (gv_k8s_access){0};
    grove_status st = gv_k8s_identity_init(&k->identity, env, &k->access, err);
    st = st < 0 ? st : take_options(k, options, err);
    if (st < 0) {
        destroy(k);
        return st;
    }
    *out_backend = (grove_backend){(uint32_t)sizeof *out_backend, CAPS, &ops, k};
    return GROVE_OK;
}

grove_status grove_k8s_backend(grove_env *env, const grove_k8s_options *options,
                               grove_backend *out_backend, grove_error *err) {
    grove_k8s_options o = {.size = sizeof o};
    if (!env || !out_backend) {
        return grove_error_set(err, GROVE_E_INVALID, "env and out_backend are needed");
    }
    if (options) {
        grove_status st = grove_struct_read(&o, sizeof o, options, options->size,
                                            offsetof(grove_k8s_options, kubeconfig));
        if (st < 0) {
            return grove_error_set(err, st, "grove_k8s_options has an unknown size");
        }
    }
    gv_k8s_access access = {0};
    gv_k8s_transport transport = {0};
    grove_status st = gv_k8s_access_load(env, &o, &access, err);
    if (st < 0) {
        return st;
    }
    st = gv_k8s_curl_new(env, &transport, err);
    if (st < 0) {
        gv_k8s_access_fini(&access);
        return st;
    }
    return gv_k8s_new(env, &o, &access, &transport, out_backend, err);
}

gv_k8s *gv_k8s_of(const grove_backend *backend) {
    return backend && backend->ops == &ops ? backend->impl : NULL;
}

const char *grove_k8s_namespace(const grove_backend *backend) {
    const gv_k8s *k = gv_k8s_of(backend);
    return k ? k->access.ns : "default";
}
