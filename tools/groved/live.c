/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon on a real cluster: makes its parts, turns the loop, takes them down. */
#include "live.h"

#include "certs.h"
#include "control.h"
#include "shadow.h"

#include <grove/kinds.h>
#include <grove/sys/util.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A thousand pods become ready one by one; their cliques' counters are not worth a write each. */
#define STATUS_QUIET_NS LIVE_SECOND
#define MANAGED "app.kubernetes.io/managed-by=grove-operator"

/* ---- what passes through the tap ---- */

/* They are no part of the work and not counted: only that nobody will see them is said. */
static void event_ended(live *d, const grove_completion *c) {
    int64_t now = live_now(d);
    if (c->status == GROVE_E_FORBIDDEN && now >= d->events_said_at) {
        d->events_said_at = now + 60 * LIVE_SECOND;
        log_write(&d->log, GROVE_LOG_WARN, "events cannot be told", "error", c->message, LOG_END);
    }
}

static void on_ended(void *ctx, grove_verb verb, grove_kind kind, const grove_completion *c,
                     int64_t took_ns) {
    live *d = ctx;
    if (verb == GROVE_VERB_EVENT) {
        event_ended(d, c);
        return;
    }
    metrics_ended(&d->metrics, verb, kind, c, took_ns);
    if (d->options->crash_after && verb > GROVE_VERB_LIST && c->status == GROVE_OK &&
        ++d->writes == strtoull(d->options->crash_after, NULL, 10)) {
        (void)raise(SIGKILL);
    }
}

static void on_event(void *ctx, const grove_event *event) {
    live *d = ctx;
    metrics_event(&d->metrics, event);
    sets_event(d, event);
    if (d->shadow) {
        shadow_event(d, event);
    }
}

/* ---- making ---- */

/* What this configuration never needs is not watched: fewer rights, less memory, no traffic at rest. */
static void narrow(const live *d, tap_options *o, int binds) {
    static const grove_kind labelled[] = {GROVE_KIND_SERVICE,
                                          GROVE_KIND_SERVICEACCOUNT,
                                          GROVE_KIND_SECRET,
                                          GROVE_KIND_ROLE,
                                          GROVE_KIND_HPA,
                                          GROVE_KIND_ROLEBINDING,
                                          GROVE_KIND_RESOURCECLAIM,
                                          GROVE_KIND_COMPUTEDOMAIN,
                                          GROVE_KIND_KAI_PODGROUP,
                                          GROVE_KIND_VOLCANO_PODGROUP,
                                          GROVE_KIND_CONTROLLERREVISION};
    o->selector = MANAGED;
    for (size_t i = 0; i < sizeof labelled / sizeof *labelled; i++) {
        o->ours[labelled[i]] = 1;
    }
    o->ours[GROVE_KIND_POD] = !binds; /* whoever binds must know what others take */
    o->without[GROVE_KIND_NODE] = !binds;
    o->without[GROVE_KIND_COMPUTEDOMAIN] = !d->set.mnnvl;
    o->without[GROVE_KIND_KAI_PODGROUP] = !settings_has_profile(&d->set, "kai-scheduler");
    o->without[GROVE_KIND_KAI_TOPOLOGY] = o->without[GROVE_KIND_KAI_PODGROUP];
    o->without[GROVE_KIND_VOLCANO_PODGROUP] = !settings_has_profile(&d->set, "volcano");
    o->without[GROVE_KIND_VOLCANO_QUEUE] = o->without[GROVE_KIND_VOLCANO_PODGROUP];
}

static int says(live *d, const char *what, const grove_error *err) {
    log_write(&d->log, GROVE_LOG_ERROR, what, "error",
              err->message[0] ? err->message : "out of memory", LOG_END);
    return err->status == GROVE_E_INVALID || err->status == GROVE_E_NOT_FOUND ? EXIT_WRONG_USAGE
                                                                              : EXIT_FAILED;
}

static int wrap_recorder(live *d, grove_error *err) {
    grove_backend inner = d->backend;
    if (!d->options->record) {
        return EXIT_DONE;
    }
    d->recording = fopen(d->options->record, "we");
    if (!d->recording) {
        log_write(&d->log, GROVE_LOG_ERROR, "cannot write the recording", "path",
                  d->options->record, LOG_END);
        return EXIT_WRONG_USAGE;
    }
    return grove_backend_record(d->env, &inner, control_record, d, &d->backend, err) < 0
               ? says(d, "cannot record", err)
               : EXIT_DONE;
}

static int make_backend(live *d, int binds) {
    grove_error err = GROVE_ERROR_INIT;
    grove_k8s_options o = {.size = (uint32_t)sizeof o,
                           .kubeconfig = d->options->kubeconfig,
                           .context = d->options->context,
                           .user_agent = "groved",
                           .manager = "groved"};
    if (grove_k8s_backend(d->env, &o, &d->k8s, &err) < 0) {
        return says(d, "no cluster", &err);
    }
    d->backend = d->k8s;
    d->ns = grove_k8s_namespace(&d->k8s);
    int code = wrap_recorder(d, &err);
    tap_options taps = {.observer = {d, on_ended, on_event}};
    narrow(d, &taps, binds);
    grove_backend inner = d->backend;
    if (code == EXIT_DONE && tap_new(d->env, &inner, &taps, &d->tap, &d->backend, &err) < 0) {
        code = says(d, "cannot start", &err);
    }
    return code;
}

static int make_engine(live *d, int binds) {
    grove_error err = GROVE_ERROR_INIT;
    grove_engine_options o = {.size = (uint32_t)sizeof o,
                              .config = d->set.config,
                              .ns = d->options->ns,
                              .bind_schedulers = binds ? "grove-scheduler" : NULL,
                              .status_quiet_ns = STATUS_QUIET_NS,
                              .seed = d->options->seed};
    d->sets = sets_new();
    if (!d->sets || grove_engine_new(d->env, &o, &d->engine, &err) < 0) {
        return says(d, "cannot start", &err);
    }
    return EXIT_DONE;
}

static int make_env(live *d) {
    grove_env_options o = {.size = (uint32_t)sizeof o,
                           .log_level = GROVE_LOG_DEBUG, /* what is written is decided per line */
                           .log = log_record,
                           .log_ctx = &d->log};
    d->log = (daemon_log){.level = GROVE_LOG_INFO};
    if (grove_env_new(&o, &d->env) < 0) {
        groved_say("cannot start: out of memory");
        return EXIT_FAILED;
    }
    int code = settings_read(d->env, d->options->config, &d->set);
    if (code == EXIT_DONE) {
        grove_log_level level = log_level_of(d->set.log_level);
        d->log.level = level ? level : GROVE_LOG_INFO;
        d->log.json = strcmp(d->set.log_format, "json") == 0;
    }
    return code;
}

static int make_parts(live *d) {
    int code = make_env(d);
    int binds = code == EXIT_DONE && settings_binds(&d->set);
    code = code == EXIT_DONE ? turn_init(d) : code;
    code = code == EXIT_DONE ? make_backend(d, binds) : code;
    code = code == EXIT_DONE ? make_engine(d, binds) : code;
    if (code == EXIT_DONE && !d->options->no_webhooks && !d->options->shadow) {
        d->certs = certs_new(d);
        code = d->certs ? EXIT_DONE : EXIT_FAILED;
    }
    if (code == EXIT_DONE && d->options->shadow) {
        d->shadow = shadow_new(d);
        code = d->shadow ? EXIT_DONE : EXIT_FAILED;
    }
    if (code == EXIT_DONE && d->options->control) {
        d->control = control_listen(d, d->options->control);
        code = d->control ? EXIT_DONE : EXIT_FAILED;
    }
    return code == EXIT_DONE ? probes_listen(d) : code;
}

/* Probes and webhooks last: they answer until the end. */
static void take_down(live *d) {
    control_free(d->control);
    grove_engine_free(d->engine);
    if (d->backend.ops) {
        d->backend.ops->destroy(d->backend.impl);
    }
    http_free(d->hooks);
    http_free(d->metrics_server);
    http_free(d->probes);
    certs_free(d->certs);
    sets_free(d->sets);
    shadow_free(d->shadow);
    turn_fini(d);
    settings_fini(&d->set);
    if (d->recording) {
        (void)fclose(d->recording);
    }
    grove_env_unref(d->env);
}

int groved_live(const groved_options *options) {
    live *d = calloc(1, sizeof *d);
    if (!d) {
        return EXIT_FAILED;
    }
    d->options = options;
    (void)signal(SIGPIPE, SIG_IGN);
    d->code = make_parts(d);
    if (d->code == EXIT_DONE) {
        log_write(&d->log, GROVE_LOG_INFO, "starting", "namespace",
                  options->ns ? options->ns : "all", "own_namespace", d->ns, LOG_END);
        live_wake(d);
        if (event_base_dispatch(d->base) < 0) {
            d->code = EXIT_FAILED;
        }
    }
    int code = d->code;
    take_down(d);
    free(d);
    return code;
}
