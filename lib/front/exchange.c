/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that are not sent in one piece: watches, and those that a fault was put on. What comes is queued,
 * and flows as the plan lets it: at once, later, drop by drop, up to a byte.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "front/server_parts.h"

#define BACKLOG_MAX (64 * 1024 * 1024) /* of one watch whose client does not read */
#define DRIP_MS 50
#define FLUSH_MS 2 /* between looks whether the last bytes have left */

/* ---- life ---- */

gv_exchange *gv_exchange_of(gv_server *s, uint64_t watch) {
    gv_exchange *x = s->exchanges;
    while (x && (!watch || x->watch != watch)) {
        x = x->next;
    }
    return x;
}

static void free_event(struct event *e) {
    if (e) {
        event_free(e);
    }
}

static void exchange_free(gv_exchange *x) {
    gv_exchange **at = &x->server->exchanges;
    while (*at && *at != x) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = x->next;
    }
    free_event(x->closed);
    free_event(x->timeout);
    free_event(x->later);
    if (x->held) {
        evbuffer_free(x->held);
    }
    free(x);
}

static struct evhttp_connection *connection_of(const gv_exchange *x) {
    return evhttp_request_get_connection(x->request);
}

/* The connection broke, or is being freed. */
static void on_connection_end(struct evhttp_connection *connection, void *ctx) {
    gv_exchange *x = ctx;
    (void)connection;
    if (x->watch) {
        gv_front_unwatch(x->server->front, x->watch);
    }
    exchange_free(x);
}

static void on_client_gone(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    evhttp_connection_free(connection_of(ctx)); /* calls on_connection_end */
}

void gv_exchange_finish(gv_exchange *x) {
    struct evhttp_request *request = x->request;
    evhttp_connection_set_closecb(connection_of(x), NULL, NULL);
    if (x->watch) {
        gv_front_unwatch(x->server->front, x->watch);
    }
    if (!x->started) { /* stopped before anything was said */
        evhttp_send_reply_start(request, x->http, NULL);
    }
    exchange_free(x);
    evhttp_send_reply_end(request);
}

/* ---- ends that are none ---- */

/* So that the other side sees a reset: a mere close would send an orderly end first. */
static void send_reset(evutil_socket_t fd) {
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    (void)connect(fd, &nowhere, sizeof nowhere);
}

static void abort_now(gv_exchange *x) {
    struct evhttp_connection *connection = connection_of(x);
    if (x->plan.reset) {
        send_reset(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)));
    }
    evhttp_connection_free(connection); /* calls on_connection_end */
}

static void arm(gv_exchange *x, uint32_t ms) {
    struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000) * 1000};
    (void)event_add(x->later, &tv);
}

/* Not at once: libevent is still busy with the request, and what was sent must leave first. */
static void abort_soon(gv_exchange *x) {
    x->silent = true;
    x->aborting = true;
    arm(x, 0);
}

static void abort_when_flushed(gv_exchange *x) {
    struct bufferevent *bev = evhttp_connection_get_bufferevent(connection_of(x));
    if (evbuffer_get_length(bufferevent_get_output(bev)) > 0) {
        arm(x, FLUSH_MS);
    } else {
        abort_now(x);
    }
}

/* ---- bytes ---- */

static void send_bytes(gv_exchange *x, uint64_t n) {
    struct evbuffer *chunk = n > 0 ? evbuffer_new() : NULL;
    if (!chunk) {
        return;
    }
    if (evbuffer_remove_buffer(x->held, chunk, (size_t)n) >= 0) {
        x->told += n;
        evhttp_send_reply_chunk(x->request, chunk);
    }
    evbuffer_free(chunk);
}

/* How many of n bytes may still go, if this stops after `after`; true: it stops there. */
static bool stops(const gv_exchange *x, uint64_t after, uint64_t *n) {
    if (x->told + *n < after) {
        return false;
    }
    *n = after > x->told ? after - x->told : 0;
    return true;
}

/* An ERROR event in the middle of a watch, and its end. */
static void tell_error(gv_exchange *x) {
    grove_buf line;
    grove_buf_init(&line, x->server->env);
    if (gv_faults_event(x->server->env, &x->plan, &line) == GROVE_OK) {
        (void)evbuffer_drain(x->held, evbuffer_get_length(x->held));
        (void)evbuffer_add(x->held, line.data, (size_t)line.len);
        send_bytes(x, line.len);
    }
    grove_buf_fini(&line);
    x->ended = true;
}

/* Sends up to n bytes of what is held, as far as the plan goes. */
static void tell(gv_exchange *x, uint64_t n) {
    uint32_t acts = x->plan.acts;
    bool hangs = (acts & GV_FAULT_HANG) && stops(x, x->plan.hang_after, &n);
    bool cut = (acts & GV_FAULT_CUT) && stops(x, x->plan.cut_after, &n);
    bool error = x->watch && (acts & GV_FAULT_ANSWER) && stops(x, x->plan.answer_after, &n);
    send_bytes(x, n);
    if (error) {
        tell_error(x);
    } else if (cut) {
        abort_soon(x);
    } else {
        x->silent = hangs;
    }
}

static void start(gv_exchange *x) {
    x->started = true;
    evhttp_send_reply_start(x->request, x->http, NULL);
}

/* Lets what is held go on its way. May free x. */
static void flow(gv_exchange *x) {
    bool drips = x->plan.acts & GV_FAULT_SLOW;
    uint64_t n = evbuffer_get_length(x->held);
    uint64_t drop = (uint64_t)x->plan.bytes_per_s * DRIP_MS / 1000 + 1;
    if (!x->started) {
        start(x);
    }
    if (!x->silent) {
        tell(x, drips && n > drop ? drop : n);
    }
    n = evbuffer_get_length(x->held);
    if (x->silent) {
        (void)evbuffer_drain(x->held, n);
    } else if (n > 0) {
        arm(x, DRIP_MS);
    } else if (x->ended) {
        gv_exchange_finish(x);
    }
}

static void on_later(evutil_socket_t fd, short what, void *ctx) {
    gv_exchange *x = ctx;
    (void)fd;
    (void)what;
    if (x->aborting) {
        abort_when_flushed(x);
    } else {
        flow(x);
    }
}

/* Something was queued, or the end came. May free x. */
static void go_on(gv_exchange *x) {
    if (event_pending(x->later, EV_TIMEOUT, NULL)) {
        return;
    }
    if (x->plan.acts & GV_FAULT_DELAY) {
        uint32_t bound = x->plan.delay_bound_ms;
        arm(x, bound && x->watch ? gv_faults_draw(x->server->faults, bound) : x->plan.delay_ms);
    } else {
        flow(x);
    }
}

/* ---- what the server does with it ---- */

gv_exchange *gv_exchange_new(gv_server *s, struct evhttp_request *request,
                             const gv_fault_plan *plan) {
    gv_exchange *x = calloc(1, sizeof *x);
    if (!x) {
        return NULL;
    }
    x->server = s;
    x->request = request;
    x->plan = *plan;
    x->held = evbuffer_new();
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    evutil_socket_t fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    x->closed = event_new(s->base, fd, EV_CLOSED, on_client_gone, x);
    x->later = evtimer_new(s->base, on_later, x);
    if (!x->held || !x->closed || !x->later || event_add(x->closed, NULL) < 0) {
        exchange_free(x);
        return NULL;
    }
    x->next = s->exchanges;
    s->exchanges = x;
    evhttp_connection_set_closecb(connection, on_connection_end, x);
    return x;
}

static void on_timeout(evutil_socket_t fd, short what, void *ctx) {
    gv_exchange *x = ctx;
    (void)fd;
    (void)what;
    gv_front_unwatch(x->server->front, x->watch);
    if (!x->silent) { /* a half-open connection never ends */
        gv_exchange_end(x);
    }
}

void gv_exchange_watch(gv_exchange *x, const gv_front_response *r) {
    x->watch = r->watch;
    x->http = r->http;
    x->timeout = evtimer_new(x->server->base, on_timeout, x);
    if (x->timeout && r->timeout_s > 0) {
        struct timeval tv = {(time_t)r->timeout_s, 0};
        event_add(x->timeout, &tv);
    }
    gv_server_put_headers(x->request, r);
    if ((x->plan.acts & GV_FAULT_HANG) && x->plan.hang_whole) {
        x->silent = true;
        return;
    }
    start(x);
    if (x->plan.acts) { /* what stops after no byte stops now */
        flow(x);
    }
}

void gv_exchange_answer(gv_exchange *x, const gv_front_response *r) {
    char length[24];
    x->http = r->http;
    gv_server_put_headers(x->request, r);
    (void)evutil_snprintf(length, sizeof length, "%llu", (unsigned long long)r->body.len);
    evhttp_add_header(evhttp_request_get_output_headers(x->request), "Content-Length", length);
    if ((x->plan.acts & GV_FAULT_HANG) && x->plan.hang_whole) {
        x->silent = true;
        return;
    }
    x->ended = true;
    if (r->body.len && evbuffer_add(x->held, r->body.data, (size_t)r->body.len) < 0) {
        abort_soon(x);
        return;
    }
    go_on(x);
}

void gv_exchange_refuse(gv_exchange *x) {
    abort_soon(x);
}

/* A bookmark that the plan leaves out. */
static bool is_left_out(const gv_exchange *x, const char *bytes, size_t len) {
    static const char head[] = "{\"type\":\"BOOKMARK\"", end[] = "initial-events-end";
    return (x->plan.acts & GV_FAULT_NO_BOOKMARKS) && len > sizeof head &&
           memcmp(bytes, head, sizeof head - 1) == 0 &&
           (x->plan.initial || !memmem(bytes, len, end, sizeof end - 1));
}

void gv_exchange_line(gv_exchange *x, const char *bytes, size_t len) {
    struct bufferevent *bev = evhttp_connection_get_bufferevent(connection_of(x));
    size_t waiting = evbuffer_get_length(bufferevent_get_output(bev)) +
                     evbuffer_get_length(x->held);
    if (x->silent || is_left_out(x, bytes, len)) {
        return;
    }
    if (waiting > BACKLOG_MAX || evbuffer_add(x->held, bytes, len) < 0) {
        abort_now(x); /* a hole in a watch would be worse */
        return;
    }
    go_on(x);
}

void gv_exchange_end(gv_exchange *x) {
    if (!x->silent) {
        x->ended = true;
        go_on(x);
    }
}
