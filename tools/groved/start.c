/* SPDX-License-Identifier: Apache-2.0 */
/* What comes up in which order, and how it goes down. */
#include "certs.h"
#include "control.h"
#include "live.h"
#include "rival.h"
#include "shadow.h"

#include <stdio.h>

#define STOP_NS (10 * LIVE_SECOND) /* for the writes under way and the Lease */

static grove_k8s_lease_info lease_of(const live *d) {
    grove_k8s_lease_info info = {.size = (uint32_t)sizeof info};
    (void)grove_k8s_lease(&d->k8s, &info);
    return info;
}

static void lead(live *d) {
    d->phase = LIVE_LEADING;
    d->leads_since = live_now(d);
    log_write(&d->log, GROVE_LOG_INFO, "leading", LOG_END);
    live_wake(d);
}

static void become_candidate(live *d) {
    grove_error err = GROVE_ERROR_INIT;
    grove_k8s_lease_options o = {.size = (uint32_t)sizeof o,
                                 .name = d->set.lease_name,
                                 .ns = d->set.lease_namespace[0] ? d->set.lease_namespace : d->ns,
                                 .identity = d->options->identity,
                                 .duration_ns = d->set.lease_ns,
                                 .renew_deadline_ns = d->set.renew_ns,
                                 .retry_ns = d->set.retry_ns};
    if (grove_k8s_elect(&d->k8s, &o, &err) < 0) {
        log_write(&d->log, GROVE_LOG_ERROR, "no election is possible", "error", err.message,
                  LOG_END);
        live_end(d, EXIT_WRONG_USAGE);
        return;
    }
    d->elected = 1;
    d->phase = LIVE_WAITING;
    log_write(&d->log, GROVE_LOG_INFO, "candidate", "lease", d->set.lease_name, "namespace", o.ns,
              "identity", lease_of(d).identity, LOG_END);
    live_wake(d);
}

static void become_ready(live *d) {
    char ms[32];
    (void)snprintf(ms, sizeof ms, "%lld", (long long)((live_now(d) - d->wall_start) / 1000000));
    d->ready = 1;
    log_write(&d->log, GROVE_LOG_INFO, "ready", "after_ms", ms, LOG_END);
}

static void when_synced(live *d) {
    certs_step(d);
    if (!tap_is_synced(d->tap) || (d->certs && !certs_are_ready(d->certs))) {
        return;
    }
    if (!d->ready) {
        become_ready(d);
    }
    switch (rival_check(d)) {
    case RIVAL_UNKNOWN:
        return; /* asked; the answer wakes us */
    case RIVAL_SEEN:
        live_end(d, EXIT_RIVAL);
        return;
    default:
        break;
    }
    if (d->shadow) {
        d->phase = LIVE_SHADOW;
        log_write(&d->log, GROVE_LOG_INFO, "in the shadow: nothing is written", LOG_END);
        live_wake(d);
    } else if (d->set.leader_election) {
        become_candidate(d);
    } else {
        lead(d);
    }
}

static void when_waiting(live *d) {
    grove_k8s_lease_state state = lease_of(d).state;
    certs_step(d);
    if (state == GROVE_K8S_LEASE_LEADING) {
        lead(d);
    } else if (state == GROVE_K8S_LEASE_LOST) {
        live_end(d, EXIT_FAILED);
    }
}

static void when_shadow(live *d) {
    uint32_t actions = shadow_step(d);
    if (d->options->once) {
        live_end(d, actions ? EXIT_DIFFERENCES : EXIT_DONE);
    }
}

static void when_leading(live *d) {
    certs_step(d);
    if (d->elected && lease_of(d).state != GROVE_K8S_LEASE_LEADING) {
        log_write(&d->log, GROVE_LOG_ERROR, "the Lease is lost: ending", "lease", d->set.lease_name,
                  LOG_END);
        live_end(d, EXIT_FAILED);
    }
}

static void when_stopping(live *d) {
    grove_k8s_lease_state state = d->elected ? lease_of(d).state : GROVE_K8S_LEASE_NONE;
    int given_back = state == GROVE_K8S_LEASE_RELEASED || state == GROVE_K8S_LEASE_LOST ||
                     (!d->elected && tap_in_flight(d->tap) == 0);
    if (given_back || live_now(d) >= d->stop_by) {
        log_write(&d->log, GROVE_LOG_INFO, "stopped", "in_order", given_back ? "yes" : "no",
                  LOG_END);
        live_end(d, EXIT_DONE);
    }
    live_alarm(d, d->stop_by);
}

void phase_advance(live *d) {
    switch (d->phase) {
    case LIVE_SYNCING:
        when_synced(d);
        break;
    case LIVE_WAITING:
        when_waiting(d);
        break;
    case LIVE_LEADING:
        when_leading(d);
        break;
    case LIVE_SHADOW:
        when_shadow(d);
        break;
    case LIVE_STOPPING:
        when_stopping(d);
        break;
    }
}

/* No operation is begun any more; the webhooks answer to the end. */
void phase_stop(live *d) {
    log_write(&d->log, GROVE_LOG_INFO, "stopping", LOG_END);
    d->phase = LIVE_STOPPING;
    d->stop_by = live_now(d) + STOP_NS;
    if (d->elected) {
        (void)grove_k8s_resign(&d->k8s, NULL);
    }
}
