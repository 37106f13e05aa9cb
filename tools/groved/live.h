/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon on a real cluster: what its parts share. */
#ifndef GROVED_LIVE_H
#define GROVED_LIVE_H

#include <event2/event.h>
#include <event2/event_struct.h>

#include <grove/engine.h>
#include <grove/k8s.h>

#include "groved.h"
#include "http.h"
#include "log.h"
#include "metrics.h"
#include "settings.h"
#include "tap.h"

#include <stdio.h>

#define LIVE_SECOND INT64_C(1000000000)
#define LIVE_FDS 64

typedef enum live_phase {
    LIVE_SYNCING,  /* the first lists come in; certificate and webhooks are made ready */
    LIVE_WAITING,  /* warm; another process leads */
    LIVE_LEADING,  /* writes */
    LIVE_SHADOW,   /* beside another operator: nothing is written */
    LIVE_STOPPING, /* writes under way end, the Lease is given back */
} live_phase;

struct certs;
struct control;
struct sets;
struct shadow;

typedef struct live {
    const groved_options *options;
    settings set;
    daemon_log log;
    metrics metrics;
    grove_env *env;
    struct event_base *base;
    struct event *timer;
    struct event *signals[2];
    struct event fds[LIVE_FDS];
    uint32_t n_fds;
    grove_backend k8s;     /* the Kubernetes backend, inside `backend` */
    grove_backend backend; /* what the engine sees; owns the others */
    tap *tap;
    grove_engine *engine;
    const char *ns; /* the daemon's own */
    http_server *probes, *metrics_server, *hooks;
    struct certs *certs;
    struct control *control;
    struct sets *sets;
    struct shadow *shadow; /* NULL: not in shadow mode */
    live_phase phase;
    int ready, elected;
    int64_t wall_start, steady_start, stop_by;
    int64_t leads_since; /* nanoseconds since the epoch */
    int64_t alarm;       /* a part wants a turn by then; INT64_MAX: none does */
    uint32_t failed_turns;
    FILE *recording; /* --record; NULL: none */
    int record_held;
    int64_t events_said_at; /* when it may be said again that events are refused */
    uint64_t writes;        /* accepted so far, for --crash-after */
    int lease_looked;       /* 0 not yet, 1 asked, 2 known */
    char lease_rival[600];  /* who holds the Lease; "" nobody */
    int code;
} live;

/* Nanoseconds since the epoch, going on steadily from the start. */
int64_t live_now(const live *d);
/* A turn is made soon. */
void live_wake(live *d);
/* A turn is made by then at the latest. */
void live_alarm(live *d, int64_t at);
/* Ends the loop with this exit code. */
void live_end(live *d, int code);

/* ---- turn.c: engine, backend and event loop ---- */
int turn_init(live *d);
void turn_fini(live *d);

/* ---- start.c: what comes up, in order, and goes down ---- */
/* Called after each turn: goes on to the next phase when the time has come. */
void phase_advance(live *d);
void phase_stop(live *d);

/* ---- probes.c ---- */
/* An exit code; has logged why it is not EXIT_DONE. */
int probes_listen(live *d);
/* Listens where `given` (HOST:PORT) or the configuration says. NULL with *code set when it cannot, or
 * with EXIT_DONE for "off". */
http_server *probes_open(live *d, const char *what, const char *given,
                         const settings_address *address, http_options *options, int *code);

/* ---- sets.c: the PodCliqueSets that were seen, and who writes to their children ---- */
struct sets *sets_new(void);
void sets_free(struct sets *sets);
void sets_event(live *d, const grove_event *event);
/* 1 known, 0 unknown; *out_unprotected: its annotation switches the authorizer off. */
int sets_find(const struct sets *sets, const char *ns, size_t ns_len, const char *name,
              size_t name_len, int *out_unprotected);
/* Calls back for each, in no particular order. */
void sets_each(const struct sets *sets, void (*fn)(void *ctx, const char *ns, const char *name),
               void *ctx);
/* Who else wrote to managed objects lately; "" when nobody did. */
const char *sets_rival(const struct sets *sets);

#endif
