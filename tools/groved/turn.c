/* SPDX-License-Identifier: Apache-2.0 */
/* One loop: descriptors of the backend and the engine's deadline on libevent. */
#include "live.h"

#include <grove/runner.h>

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 256
#define FAILED_TURNS_MAX 20
#define LONGEST_WAIT (5 * LIVE_SECOND) /* so that a loop that stands still shows */

static int64_t read_clock(clockid_t id) {
    struct timespec ts = {0};
    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * LIVE_SECOND + ts.tv_nsec;
}

int64_t live_now(const live *d) {
    return d->wall_start + (read_clock(CLOCK_MONOTONIC) - d->steady_start);
}

void live_alarm(live *d, int64_t at) {
    d->alarm = at < d->alarm ? at : d->alarm;
}

void live_wake(live *d) {
    struct timeval now = {0, 0};
    d->alarm = INT64_MIN;
    event_add(d->timer, &now);
}

void live_end(live *d, int code) {
    d->code = code;
    event_base_loopbreak(d->base);
}

/* ---- without leading: see everything, write nothing ---- */

typedef struct taking_in {
    live *d;
    int64_t now;
    grove_error *err;
    uint32_t delivered;
} taking_in;

static grove_status take_completion(void *ctx, const grove_completion *c) {
    taking_in *t = ctx;
    t->delivered++;
    return grove_engine_complete(t->d->engine, c, t->now, t->err);
}

static grove_status take_event(void *ctx, const grove_event *event) {
    taking_in *t = ctx;
    t->delivered++;
    return grove_engine_feed(t->d->engine, event, t->now, t->err);
}

/* The runner's turn without asking the engine for operations. */
static grove_status watch_only(live *d, int64_t now, int64_t *out_deadline, grove_error *err) {
    taking_in t = {d, now, err, 0};
    grove_sink sink = {.size = (uint32_t)sizeof sink,
                       .ctx = &t,
                       .completion = take_completion,
                       .event = take_event};
    do {
        const grove_watch *watch = NULL;
        t.delivered = 0;
        grove_status st = grove_engine_next_watch(d->engine, &watch, err);
        while (st == GROVE_OK && watch) {
            st = d->backend.ops->watch(d->backend.impl, watch, err);
            st = st < 0 ? st : grove_engine_next_watch(d->engine, &watch, err);
        }
        if (st == GROVE_OK) {
            st = d->backend.ops->process(d->backend.impl, now, BATCH, &sink, out_deadline, err);
        }
        if (st < 0) {
            return st;
        }
    } while (t.delivered > 0 || *out_deadline <= now);
    return GROVE_OK;
}

/* ---- the loop ---- */

static void turn(live *d);

static void on_ready(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    turn(ctx);
}

/* Before a turn: it may close descriptors, whose numbers are used again. */
static void disarm(live *d) {
    for (uint32_t i = 0; i < d->n_fds; i++) {
        event_del(&d->fds[i]);
    }
    d->n_fds = 0;
    event_del(d->timer);
}

static void arm(live *d, int64_t deadline) {
    grove_pollfd fds[LIVE_FDS];
    uint32_t n = 0;
    (void)d->backend.ops->pollfds(d->backend.impl, fds, LIVE_FDS, &n);
    n = n < LIVE_FDS ? n : LIVE_FDS;
    for (uint32_t i = 0; i < n; i++) {
        short events = EV_PERSIST;
        events = (short)(events | ((fds[i].events & GROVE_POLL_IN) ? EV_READ : 0));
        events = (short)(events | ((fds[i].events & GROVE_POLL_OUT) ? EV_WRITE : 0));
        event_assign(&d->fds[d->n_fds], d->base, fds[i].fd, events, on_ready, d);
        if (event_add(&d->fds[d->n_fds], NULL) == 0) {
            d->n_fds++;
        }
    }
    int64_t at = deadline < d->alarm ? deadline : d->alarm, now = live_now(d);
    int64_t wait = at <= now ? 0 : at - now < LONGEST_WAIT ? at - now + 999 : LONGEST_WAIT;
    struct timeval tv = {(time_t)(wait / LIVE_SECOND), (suseconds_t)(wait % LIVE_SECOND / 1000)};
    event_add(d->timer, &tv);
}

/* A turn that fails is tried again: the engine and the backend lose nothing. Not for ever. */
static int64_t failed_turn(live *d, grove_status st, const grove_error *err) {
    log_write(&d->log, GROVE_LOG_ERROR, "a turn failed", "status", grove_status_name(st), "error",
              err->message, LOG_END);
    if (++d->failed_turns > FAILED_TURNS_MAX) {
        live_end(d, EXIT_FAILED);
    }
    return live_now(d) + LIVE_SECOND;
}

static void turn(live *d) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t deadline = INT64_MAX, now = live_now(d);
    disarm(d);
    d->alarm = INT64_MAX;
    grove_status st = d->phase == LIVE_LEADING
                          ? grove_runner_turn(d->engine, &d->backend, now, &deadline, &err)
                          : watch_only(d, now, &deadline, &err);
    if (st < 0) {
        deadline = failed_turn(d, st, &err);
    } else {
        d->failed_turns = 0;
    }
    metrics_observe(&d->metrics.turns, live_now(d) - now);
    metrics_sample(&d->metrics, d->engine, live_now(d), 0);
    phase_advance(d);
    arm(d, deadline);
}

static void on_signal(evutil_socket_t fd, short what, void *ctx) {
    live *d = ctx;
    (void)fd;
    (void)what;
    if (d->phase == LIVE_STOPPING) {
        log_write(&d->log, GROVE_LOG_WARN, "second signal: ending at once", LOG_END);
        _Exit(EXIT_FAILED);
    }
    phase_stop(d);
    live_wake(d);
}

int turn_init(live *d) {
    d->wall_start = read_clock(CLOCK_REALTIME);
    d->steady_start = read_clock(CLOCK_MONOTONIC);
    d->alarm = INT64_MAX;
    d->base = event_base_new();
    d->timer = d->base ? evtimer_new(d->base, on_ready, d) : NULL;
    if (!d->timer) {
        return EXIT_FAILED;
    }
    d->signals[0] = evsignal_new(d->base, SIGINT, on_signal, d);
    d->signals[1] = evsignal_new(d->base, SIGTERM, on_signal, d);
    for (int i = 0; i < 2; i++) {
        if (!d->signals[i] || event_add(d->signals[i], NULL) < 0) {
            return EXIT_FAILED;
        }
    }
    return EXIT_DONE;
}

void turn_fini(live *d) {
    for (uint32_t i = 0; i < d->n_fds; i++) {
        event_del(&d->fds[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (d->signals[i]) {
            event_free(d->signals[i]);
        }
    }
    if (d->timer) {
        event_free(d->timer);
    }
    if (d->base) {
        event_base_free(d->base);
    }
}
