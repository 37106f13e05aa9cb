/* SPDX-License-Identifier: Apache-2.0 */
/* Joins libevent's HTTP server and the front. */
#include "front/server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX (3 * 1024 * 1024) /* as a Kubernetes API server */
#define HEADERS_MAX (64 * 1024)
#define BACKLOG_MAX (64 * 1024 * 1024) /* of one watch whose client does not read */
#define BOOKMARK_SECONDS 60
#define STOP_MICROSECONDS 100000 /* for the last bytes to leave */
#define SIGNALS_MAX 4

/* A watch's open connection. */
typedef struct conn {
    gv_server *server;
    uint64_t watch;
    struct evhttp_request *request;
    struct event *closed;  /* the client has gone */
    struct event *timeout; /* timeoutSeconds */
    struct conn *next;
} conn;

struct gv_server {
    grove_env *env;
    gv_front *front;
    gv_server_hooks hooks;
    struct event_base *base;
    struct evhttp *http;
    struct event *timer;
    struct event *bookmarks;
    struct event *signals[SIGNALS_MAX];
    uint32_t n_signals;
    conn *conns;
    char address[80];
    grove_status failed;
    grove_error err;
};

/* ---- watches ---- */

static conn **place_of(gv_server *s, uint64_t watch) {
    conn **at = &s->conns;
    while (*at && (*at)->watch != watch) {
        at = &(*at)->next;
    }
    return at;
}

static void conn_free(conn *c) {
    conn **at = place_of(c->server, c->watch);
    if (*at) {
        *at = c->next;
    }
    if (c->closed) {
        event_free(c->closed);
    }
    if (c->timeout) {
        event_free(c->timeout);
    }
    free(c);
}

/* The connection broke, or is being freed. */
static void on_connection_end(struct evhttp_connection *connection, void *ctx) {
    conn *c = ctx;
    (void)connection;
    gv_front_unwatch(c->server->front, c->watch);
    conn_free(c);
}

static void on_client_gone(evutil_socket_t fd, short what, void *ctx) {
    conn *c = ctx;
    (void)fd;
    (void)what;
    evhttp_connection_free(evhttp_request_get_connection(c->request)); /* calls on_connection_end */
}

/* The stream ends in order; the connection stays. */
static void finish(conn *c) {
    struct evhttp_request *request = c->request;
    evhttp_connection_set_closecb(evhttp_request_get_connection(request), NULL, NULL);
    conn_free(c);
    evhttp_send_reply_end(request);
}

static void on_timeout(evutil_socket_t fd, short what, void *ctx) {
    conn *c = ctx;
    (void)fd;
    (void)what;
    gv_front_unwatch(c->server->front, c->watch);
    finish(c);
}

static void on_line(void *ctx, uint64_t watch, const char *bytes, size_t len) {
    gv_server *s = ctx;
    conn *c = *place_of(s, watch);
    struct evbuffer *chunk = c ? evbuffer_new() : NULL;
    if (!chunk) {
        return;
    }
    struct evhttp_connection *connection = evhttp_request_get_connection(c->request);
    struct bufferevent *bev = evhttp_connection_get_bufferevent(connection);
    if (evbuffer_add(chunk, bytes, len) < 0 ||
        evbuffer_get_length(bufferevent_get_output(bev)) > BACKLOG_MAX) {
        evhttp_connection_free(connection); /* a hole in a watch would be worse */
    } else {
        evhttp_send_reply_chunk(c->request, chunk);
    }
    evbuffer_free(chunk);
}

static void on_end(void *ctx, uint64_t watch) {
    conn *c = *place_of(ctx, watch);
    if (c) {
        finish(c);
    }
}

/* ---- time ---- */

static void fail(gv_server *s, grove_status st) {
    s->failed = st;
    event_base_loopbreak(s->base);
}

static void turn(gv_server *s) {
    gv_front_sink sink = {s, on_line, on_end};
    int64_t wait = INT64_MAX;
    grove_status st = s->hooks.turn(s->hooks.ctx, &wait, &s->err);
    st = st < 0 ? st : gv_front_pump(s->front, &sink, &s->err);
    if (st < 0) {
        fail(s, st);
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
        fail(s, st);
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

static void put_headers(struct evhttp_request *request, const gv_front_response *r) {
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

static bool watch_connection(gv_server *s, struct evhttp_request *request,
                             const gv_front_response *r) {
    struct evhttp_connection *connection = evhttp_request_get_connection(request);
    conn *c = calloc(1, sizeof *c);
    if (!c) {
        return false;
    }
    c->server = s;
    c->watch = r->watch;
    c->request = request;
    evutil_socket_t fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
    c->closed = event_new(s->base, fd, EV_CLOSED, on_client_gone, c);
    c->timeout = evtimer_new(s->base, on_timeout, c);
    if (!c->closed || !c->timeout || event_add(c->closed, NULL) < 0) {
        conn_free(c);
        return false;
    }
    if (r->timeout_s > 0) {
        struct timeval tv = {(time_t)r->timeout_s, 0};
        event_add(c->timeout, &tv);
    }
    c->next = s->conns;
    s->conns = c;
    evhttp_connection_set_closecb(connection, on_connection_end, c);
    put_headers(request, r);
    evhttp_send_reply_start(request, r->http, NULL);
    return true;
}

static void send_answer(gv_server *s, struct evhttp_request *request, const gv_front_response *r) {
    if (r->watch) {
        if (!watch_connection(s, request, r)) {
            gv_front_unwatch(s->front, r->watch);
            evhttp_send_error(request, 503, NULL);
        }
        return;
    }
    struct evbuffer *body = evbuffer_new();
    if (!body || evbuffer_add(body, r->body.data, (size_t)r->body.len) < 0) {
        evhttp_send_error(request, 503, NULL);
    } else {
        put_headers(request, r);
        evhttp_send_reply(request, r->http, NULL, body);
    }
    if (body) {
        evbuffer_free(body);
    }
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
                           .body_len = len};
    gv_front_response out;
    turn(s); /* the present, before anybody asks about it */
    if (s->failed < 0 || !in.body) {
        evhttp_send_error(request, 503, NULL);
        return;
    }
    gv_front_response_init(&out, s->env);
    grove_status st = gv_front_handle(s->front, &in, &out);
    if (st < 0) {
        evhttp_send_error(request, 500, NULL);
    } else {
        if (s->hooks.answered) {
            s->hooks.answered(s->hooks.ctx, in.method, in.target, out.http);
        }
        send_answer(s, request, &out);
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
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0) {
        return;
    }
    if (at.ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)&at;
        (void)snprintf(s->address, sizeof s->address, "[%s]:%u",
                       inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host),
                       ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const void *)&at;
        (void)snprintf(s->address, sizeof s->address, "%s:%u",
                       inet_ntop(AF_INET, &four->sin_addr, host, sizeof host),
                       ntohs(four->sin_port));
    }
}

static grove_status bind_to(gv_server *s, const char *listen, grove_error *err) {
    char host[64];
    uint16_t port = 0;
    if (!split(listen, host, sizeof host, &port)) {
        return say(err, GROVE_E_INVALID, "the address must be HOST:PORT, such as 127.0.0.1:0");
    }
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(s->http, host, port);
    if (!bound) {
        char text[160];
        (void)snprintf(text, sizeof text, "cannot listen on %s", listen);
        return say(err, GROVE_E_IO, text);
    }
    note_address(s, evhttp_bound_socket_get_fd(bound));
    return GROVE_OK;
}

static bool make_loop(gv_server *s) {
    s->base = event_base_new();
    s->http = s->base ? evhttp_new(s->base) : NULL;
    s->timer = s->base ? evtimer_new(s->base, on_timer, s) : NULL;
    s->bookmarks = s->base ? event_new(s->base, -1, EV_PERSIST, on_bookmarks, s) : NULL;
    struct timeval tv = {BOOKMARK_SECONDS, 0};
    return s->http && s->timer && s->bookmarks && event_add(s->bookmarks, &tv) == 0;
}

grove_status gv_server_new(grove_env *env, gv_front *front, const char *listen,
                           const gv_server_hooks *hooks, gv_server **out_server, grove_error *err) {
    gv_server *s = calloc(1, sizeof *s);
    if (!s) {
        return GROVE_E_NOMEM;
    }
    s->env = grove_env_ref(env);
    s->front = front;
    s->hooks = *hooks;
    s->err = (grove_error)GROVE_ERROR_INIT;
    grove_status st = make_loop(s) ? bind_to(s, listen, err) : GROVE_E_NOMEM;
    if (st < 0) {
        gv_server_free(s);
        return st;
    }
    evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
                                            EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE);
    evhttp_set_max_body_size(s->http, BODY_MAX);
    evhttp_set_max_headers_size(s->http, HEADERS_MAX);
    evhttp_set_gencb(s->http, on_request, s);
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
    while (s->conns) {
        conn *c = s->conns;
        s->conns = c->next;
        gv_front_unwatch(s->front, c->watch);
        finish(c);
    }
    event_base_loopexit(s->base, &tv);
}

grove_status gv_server_stop_on(gv_server *server, int signal_number) {
    struct event *e = server->n_signals < SIGNALS_MAX
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
    if (server->timer) {
        event_free(server->timer);
    }
    if (server->bookmarks) {
        event_free(server->bookmarks);
    }
    if (server->base) {
        event_base_free(server->base);
    }
    grove_env_unref(server->env);
    free(server);
}
