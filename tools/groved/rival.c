/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two signs of another operator: its Lease is fresh though we take part in no election, and the status of
 * managed objects was written a moment ago by somebody else. With an election a fresh Lease is no fault: we
 * wait behind it, and writes that were made before it was given up are old by then.
 */
#include "rival.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Unix time of "2026-11-29T12:00:00.000000Z"; 0: none. */
static int64_t time_of(const char *text) {
    struct tm tm = {0};
    if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)) {
        return 0;
    }
    return (int64_t)timegm(&tm);
}

static void judge_lease(live *d, const grove_node *lease) {
    const grove_node *spec = grove_node_get(lease, "spec");
    const char *holder = grove_node_text(grove_node_get(spec, "holderIdentity"));
    int64_t lasts = 0, renewed = time_of(grove_node_text(grove_node_get(spec, "renewTime")));
    (void)grove_node_int64(grove_node_get(spec, "leaseDurationSeconds"), &lasts);
    if (holder && holder[0] && renewed + lasts > (int64_t)time(NULL)) {
        (void)snprintf(d->lease_rival, sizeof d->lease_rival, "%s holds the Lease %s", holder,
                       d->set.lease_name);
    }
}

static void on_lease(void *ctx, const grove_completion *c) {
    live *d = ctx;
    if (c->status == GROVE_OK && c->object_doc) {
        judge_lease(d, c->object ? c->object : grove_doc_root(c->object_doc));
    }
    d->lease_looked = 2;
    live_wake(d);
}

static void look_at_lease(live *d) {
    grove_error err = GROVE_ERROR_INIT;
    grove_op op = {.verb = GROVE_VERB_GET,
                   .kind = GROVE_KIND_LEASE,
                   .ns = d->set.lease_namespace[0] ? d->set.lease_namespace : d->ns,
                   .name = d->set.lease_name};
    d->lease_looked = tap_ask(d->tap, &op, on_lease, d, &err) == GROVE_OK ? 1 : 2;
}

rival_verdict rival_check(live *d) {
    if (d->options->shadow || d->options->force_takeover) {
        return RIVAL_NONE;
    }
    if (!d->set.leader_election && d->lease_looked == 0) {
        look_at_lease(d);
    }
    if (d->lease_looked == 1) {
        return RIVAL_UNKNOWN;
    }
    /* behind a Lease the other one has stopped before we begin */
    const char *who = d->set.leader_election ? "" : d->lease_rival;
    who = who[0] || d->set.leader_election ? who : sets_rival(d->sets);
    if (!who[0]) {
        return RIVAL_NONE;
    }
    log_write(&d->log, GROVE_LOG_ERROR,
              "another operator is at work: stop it, or start with --force-takeover", "seen", who,
              LOG_END);
    return RIVAL_SEEN;
}
