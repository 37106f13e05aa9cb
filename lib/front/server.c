/* SPDX-License-Identifier: Apache-2.0 */
/* Joins libevent's HTTP server and the front: requests in, answers out, time. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "front/server_parts.h"
#ifdef GV_FRONT_TLS
#include <event2/bufferevent_ssl.h>

#include "front/tls.h"
#endif

#define BODY_MAX (3 * 1024 * 1024) /* as a Kubernetes API server */
#define HEADERS_MAX (64 * 1024)
#define BOOKMARK_SECONDS 60
#define STOP_MICROSECONDS 100000 /* for the last bytes to leave */

/* ---- watches ---- */

static void on_line(void *ctx, uint64_t watch, const char *bytes, size_t len) {
    gv_exchange *x = gv_exchange_of(ctx, watch);
    if (x) {
        gv_exchange_line(x, bytes, len);
    }
}

static void on_end(void *ctx, uint64_t watch) {
    gv_exchange *x = gv_exchange_of(ctx, watch);
    if (x) {
        gv_exchange_end(x);
    }
}

/* ---- time ---- */

void gv_server_fail(gv_server *s, grove_status st) {
    s->failed = st;
    event_base_loopbreak(s->base);
}

static void turn(gv_server *s) {
    gv_front_sink sink = {s, on_line, on_end};
    int64_t wait = INT64_MAX;
    grove_status st = s->hooks.turn(s->hooks.ctx, &wait, &s->err);
    st = st < 0 ? st : gv_front_pump(s->front, &sink, &s->err);
    if (st < 0) {
        gv_server_fail(s, st);
        return;
    }
    event_del(s->timer);
    if (wait != INT64_MAX) {
        wait = wait < 0 ? 0 : wait + 999; /* whole microseconds, rather late than in vain */
        struct timeval tv = {(time_t)(wait / 1000000000), (suseconds_t)(wait % 1000000000 / 1000)};
        event_add(s->timer, &tv);
    }
}

static void on_timer(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    turn(ctx);
}

static void on_bookmarks(evutil_socket_t fd, short what, void *ctx) {
    gv_server *s = ctx;
    (void)fd;
    (void)what;
    grove_status st = gv_front_bookmark(s->front, &s->err);
    if (st < 0) {
        gv_server_fail(s, st);
        return;
    }
    turn(s);
}

/* ---- requests ---- */

static const char *method_of(struct evhttp_request *request) {
    switch (evhttp_request_get_command(request)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_POST:
        return "POST";
    case EVHTTP_REQ_PUT:
        return "PUT";
    case EVHTTP_REQ_PATCH:
        return "PATCH";
    case EVHTTP_REQ_DELETE:
        return "DELETE";
    default:
        return "OTHER";
    }
}

/* As a quoted string. */
static void put_warning(struct evkeyvalq *headers, const char *line, size_t n) {
    char text[1200];
    size_t at = (size_t)snprintf(text, sizeof text, "299 - \"");
    for (size_t i = 0; i < n && at + 4 < sizeof text; i++) {
        if (line[i] == '"' || line[i] == '\\') {
            text[at++] = '\\';
        }
        text[at++] = line[i];
    }
    (void)snprintf(text + at, sizeof text - at, "\"");
    evhttp_add_header(headers, "Warning", text);
}

void gv_server_put_headers(struct evhttp_request *request, const gv_front_response *r) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    char text[16];
    evhttp_add_header(headers, "Content-Type", r->content_type);
    evhttp_add_header(headers, "Cache-Control", "no-cache, private");
    if (r->retry_after_s) {
        (void)snprintf(text, sizeof text, "%u", r->retry_after_s);
        evhttp_add_header(headers, "Retry-After", text);
    }
    for (size_t at = 0; at < r->warning.len;) {
        const char *line = r->warning.data + at, *end = memchr(line, '\n', r->warning.len - at);
        size_t n = end ? (size_t)(end - line) : r->warning.len - at;
        put_warning(headers, line, n);
        at += n + 1;
    }
}

/* An answer that takes its time. */
static void send_slowly(gv_server *s, struct evhttp_request *request, const gv_front_response *r,
                        const gv_fault_plan *plan) {
    gv_exchange *x = gv_exchange_new(s, request, plan);
    if (!x) {
        if (r->watch) {
            gv_front_unwatch(s->front, r->watch);
        }
        evhttp_send_error(request, 503, NULL);
    } else if (plan->acts & (GV_FAULT_DROP | GV_FAULT_RESTART)) {
        x->watch = r->watch;
        gv_exchange_refuse(x);
    } else if (r->watch) {
        gv_exchange_watch(x, r);
    } else {
        gv_exchange_answer(x, r);
    }
}

static void send_answer(gv_server *s, struct evhttp_request *request, const gv_front_response *r,
                        const gv_fault_plan *plan) {
    if (r->watch || plan->acts) {
        send_slowly(s, request, r, plan);
        return;
    }
    struct evbuffer *body = evbuffer_new();
    if (!body || evbuffer_add(body, r->body.data, (size_t)r->body.len) < 0) {
        evhttp_send_error(request, 503, NULL);
    } else {
        gv_server_put_headers(request, r);
        evhttp_send_reply(request, r->http, NULL, body);
    }
    if (body) {
        evbuffer_free(body);
    }
}

/* Whether the request takes effect although a fault is planned. */
static bool is_carried_out(const gv_fault_plan *plan) {
    bool unanswered = plan->acts & (GV_FAULT_DROP | GV_FAULT_RESTART);
    if (!unanswered && !(plan->acts & GV_FAULT_ANSWER)) {
        return true;
    }
    /* an event is told by the exchange, when its time comes, in a watch that runs */
    return plan->carried_out || (!unanswered && plan->body == GV_BODY_EVENT);
}

/* What the script says, carried out around the front. */
static grove_status handle(gv_server *s, const gv_front_request *in, const gv_fault_plan *plan,
                           gv_front_response *out) {
    grove_status st = is_carried_out(plan) ? gv_front_handle(s->front, in, out) : GROVE_OK;
    st = st < 0 ? st : gv_faults_stale(s->faults, s->env, in, plan, out);
    if (st < 0 || !(plan->acts & GV_FAULT_ANSWER) || (plan->body == GV_BODY_EVENT && out->watch)) {
        return st;
    }
    if (out->watch) {
        gv_front_unwatch(s->front, out->watch);
        out->watch = 0;
    }
    return gv_faults_answer(s->env, plan, in, out);
}

static void on_request(struct evhttp_request *request, void *ctx) {
    gv_server *s = ctx;
    struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    struct evbuffer *body = evhttp_request_get_input_buffer(request);
    size_t len = evbuffer_get_length(body);
    gv_front_request in = {.method = method_of(request),
                           .target = evhttp_request_get_uri(request),
                           .accept = evhttp_find_header(headers, "Accept"),
                           .content_type = evhttp_find_header(headers, "Content-Type"),
                           .body = len ? (const char *)evbuffer_pullup(body, -1) : "",
                           .body_len = len,
                           .user = evhttp_find_header(headers, "Impersonate-User"),
                           .group = evhttp_find_header(headers, "Impersonate-Group"),
                           .agent = evhttp_find_header(headers, "User-Agent")};
    gv_front_response out;
    gv_fault_plan plan;
    turn(s); /* the present, before anybody asks about it */
    if (s->failed < 0 || !in.body) {
        evhttp_send_error(request, 503, NULL);
        return;
    }
    gv_front_response_init(&out, s->env);
    gv_faults_request(s->faults, &in, &plan);
    grove_status st = handle(s, &in, &plan, &out);
    if (st < 0) {
        evhttp_send_error(request, 500, NULL);
    } else {
        if (s->hooks.answered) {
            s->hooks.answered(s->hooks.ctx, in.method, in.target, out.http);
        }
        if (plan.acts & GV_FAULT_RESTART) {
            gv_server_restart(s, &plan);
        }
        send_answer(s, request, &out, &plan);
    }
    gv_front_response_fini(&out);
    turn(s);
}

/* ---- life ---- */

/* "127.0.0.1:8001" or "[::1]:8001" */
static bool split(const char *listen, char *host, size_t cap, uint16_t *port) {
    const char *colon = strrchr(listen, ':');
    if (!colon || colon == listen) {
        return false;
    }
    size_t n = (size_t)(colon - listen);
    if (listen[0] == '[' && listen[n - 1] == ']') {
        listen++;
        n -= 2;
    }
    char *end = NULL;
    unsigned long value = strtoul(colon + 1, &end, 10);
    if (n == 0 || n >= cap || colon[1] == '\0' || *end || value > 65535) {
        return false;
    }
    memcpy(host, listen, n);
    host[n] = '\0';
    *port = (uint16_t)value;
    return true;
}

static grove_status say(grove_error *err, grove_status st, const char *text) {
    if (err) {
        (void)snprintf(err->message, sizeof err->message, "%s", text);
        err->status = st;
    }
    return st;
}

static void note_address(gv_server *s, evutil_socket_t fd) {
    char host[64] = "?";
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0) {
        return;
    }
    if (at.ss_family == AF_INET6) {
        struct sockaddr_in6 six = {0};
        memcpy(&six, &at, sizeof six);
        s->port = ntohs(six.sin6_port);
        (void)snprintf(s->address, sizeof s->address, "[%s]:%u",
                       inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host), s->port);
    } else {
        struct sockaddr_in four = {0};
        memcpy(&four, &at, sizeof four);
        s->port = ntohs(four.sin_port);
        (void)snprintf(s->address, sizeof s->address, "%s:%u",
                       inet_ntop(AF_INET, &four.sin_addr, host, sizeof host), s->port);
    }
}

static grove_status bind_to(gv_server *s, const char *listen, grove_error *err) {
    if (!split(listen, s->host, sizeof s->host, &s->port)) {
        return say(err, GROVE_E_INVALID, "the address must be HOST:PORT, such as 127.0.0.1:0");
    }
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(s->http, s->host, s->port);
    if (!bound) {
        char text[160];
        (void)snprintf(text, sizeof text, "cannot listen on %s", listen);
        return say(err, GROVE_E_IO, text);
    }
    note_address(s, evhttp_bound_socket_get_fd(bound));
    return GROVE_OK;
}

/* ---- TLS ---- */

#ifdef GV_FRONT_TLS
static struct bufferevent *on_connection(struct event_base *base, void *ctx) {
    gv_server *s = ctx;
    gv_fault_plan plan;
    gv_faults_connection(s->faults, &plan);
    SSL *ssl = gv_tls_accept(s->tls, plan.certificate);
    struct bufferevent *bev = ssl ? bufferevent_openssl_socket_new(base, -1, ssl,
                                                                   BUFFEREVENT_SSL_ACCEPTING,
                                                                   BEV_OPT_CLOSE_ON_FREE)
                                  : NULL;
    if (bev) { /* a client that goes without a word of TLS is gone all the same */
        bufferevent_openssl_set_allow_dirty_shutdown(bev, 1);
    }
    return bev;
}

static bool make_tls(gv_server *s) {
    s->tls = gv_tls_new();
    return s->tls != NULL;
}

static void use_tls(gv_server *s, struct evhttp *http) {
    if (s->tls) {
        evhttp_set_bevcb(http, on_connection, s);
    }
}

static void free_tls(gv_server *s) {
    gv_tls_free(s->tls);
}

const char *gv_server_authority(const gv_server *server) {
    return server->tls ? gv_tls_authority(server->tls) : NULL;
}
#else
static bool make_tls(gv_server *s) {
    (void)s;
    return false;
}

static void use_tls(gv_server *s, struct evhttp *http) {
    (void)s;
    (void)http;
}

static void free_tls(gv_server *s) {
    (void)s;
}

const char *gv_server_authority(const gv_server *server) {
    (void)server;
    return NULL;
}
#endif

struct evhttp *gv_server_make_http(gv_server *s) {
    struct evhttp *http = evhttp_new(s->base);
    if (http) {
        evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                             EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE);
        evhttp_set_max_body_size(http, BODY_MAX);
        evhttp_set_max_headers_size(http, HEADERS_MAX);
        evhttp_set_gencb(http, on_request, s);
        use_tls(s, http);
    }
    return http;
}

static bool make_loop(gv_server *s) {
    s->base = event_base_new();
    s->http = s->base ? gv_server_make_http(s) : NULL;
    s->timer = s->base ? evtimer_new(s->base, on_timer, s) : NULL;
    s->bookmarks = s->base ? event_new(s->base, -1, EV_PERSIST, on_bookmarks, s) : NULL;
    struct timeval tv = {BOOKMARK_SECONDS, 0};
    return s->http && s->timer && s->bookmarks && gv_server_make_restart(s) &&
           event_add(s->bookmarks, &tv) == 0;
}

grove_status gv_server_new(grove_env *env, gv_front *front, const gv_server_options *options,
                           gv_server **out_server, grove_error *err) {
    gv_server *s = calloc(1, sizeof *s);
    if (!s) {
        return GROVE_E_NOMEM;
    }
    s->env = grove_env_ref(env);
    s->front = front;
    s->hooks = options->hooks;
    s->faults = options->faults;
    s->err = (grove_error)GROVE_ERROR_INIT;
    grove_status st = options->tls && !make_tls(s)
                          ? say(err, GROVE_E_UNSUPPORTED, "TLS cannot be had here")
                          : GROVE_OK;
    st = st < 0 ? st : make_loop(s) ? bind_to(s, options->listen, err) : GROVE_E_NOMEM;
    if (st < 0) {
        gv_server_free(s);
        return st;
    }
    *out_server = s;
    return GROVE_OK;
}

const char *gv_server_address(const gv_server *server) {
    return server->address;
}

static void on_signal(evutil_socket_t fd, short what, void *ctx) {
    gv_server *s = ctx;
    struct timeval tv = {0, STOP_MICROSECONDS};
    (void)fd;
    (void)what;
    while (s->exchanges) {
        gv_exchange_finish(s->exchanges);
    }
    event_base_loopexit(s->base, &tv);
}

grove_status gv_server_stop_on(gv_server *server, int signal_number) {
    struct event *e = server->n_signals < GV_SERVER_SIGNALS
                          ? evsignal_new(server->base, signal_number, on_signal, server)
                          : NULL;
    if (!e || event_add(e, NULL) < 0) {
        if (e) {
            event_free(e);
        }
        return GROVE_E_NOMEM;
    }
    server->signals[server->n_signals++] = e;
    return GROVE_OK;
}

grove_status gv_server_run(gv_server *server, grove_error *err) {
    turn(server);
    if (server->failed == GROVE_OK && event_base_dispatch(server->base) < 0) {
        return say(err, GROVE_E_IO, "the event loop failed");
    }
    if (server->failed < 0 && err) {
        *err = server->err;
    }
    return server->failed;
}

void gv_server_free(gv_server *server) {
    if (!server) {
        return;
    }
    if (server->http) {
        evhttp_free(server->http); /* ends connections, which end watches */
    }
    for (uint32_t i = 0; i < server->n_signals; i++) {
        event_free(server->signals[i]);
    }
    struct event *own[] = {server->timer, server->bookmarks, server->restart};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i]) {
            event_free(own[i]);
        }
    }
    if (server->base) {
        event_base_free(server->base);
    }
    free_tls(server);
    grove_env_unref(server->env);
    free(server);
}
