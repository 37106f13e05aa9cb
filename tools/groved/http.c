/* SPDX-License-Identifier: Apache-2.0 */
/* libevent's HTTP server behind a table of one function. */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define BODY_MAX (8 * 1024 * 1024) /* an object and its old state, as large as etcd takes them */
#define IDLE_SECONDS 90

struct http_server {
    struct event_base *base;
    grove_env *env;
    struct evhttp *http;
    http_options options;
    char address[80];
};

static void on_request(struct evhttp_request *request, void *ctx) {
    http_server *s = ctx;
    struct evbuffer *in = evhttp_request_get_input_buffer(request);
    struct evbuffer *out = evbuffer_new();
    size_t len = evbuffer_get_length(in);
    const char *body = len ? (const char *)evbuffer_pullup(in, -1) : "";
    http_answer answer = {.code = 200, .content_type = "text/plain; charset=utf-8"};
    grove_buf_init(&answer.body, s->env);
    if (out && body) {
        s->options.handler(s->options.ctx, evhttp_request_get_uri(request), body, len, &answer);
    }
    if (!out || !body || evbuffer_add(out, answer.body.data, (size_t)answer.body.len) < 0) {
        evhttp_send_error(request, 503, NULL);
    } else {
        evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type",
                          answer.content_type);
        evhttp_send_reply(request, answer.code, NULL, out);
    }
    grove_buf_fini(&answer.body);
    if (out) {
        evbuffer_free(out);
    }
}

/* A connection takes the certificate of the moment and keeps it to its end. */
static struct bufferevent *on_connection(struct event_base *base, void *ctx) {
    http_server *s = ctx;
    SSL_CTX *now = s->options.tls(s->options.ctx);
    SSL *ssl = now ? SSL_new(now) : NULL;
    if (!ssl) {
        return NULL;
    }
    struct bufferevent *bev = bufferevent_openssl_socket_new(
        base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
    if (!bev) {
        SSL_free(ssl);
        return NULL;
    }
    bufferevent_openssl_set_allow_dirty_shutdown(bev, 1); /* clients seldom say goodbye */
    return bev;
}

static void note_address(http_server *s, evutil_socket_t fd) {
    char host[64] = "?";
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    memset(&at, 0, sizeof at);
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0) {
        return;
    }
    if (at.ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)&at;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        (void)snprintf(s->address, sizeof s->address, "[%s]:%u", host, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const void *)&at;
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        (void)snprintf(s->address, sizeof s->address, "%s:%u", host, ntohs(four->sin_port));
    }
}

http_server *http_listen(struct event_base *base, grove_env *env, const http_options *options) {
    http_server *s = calloc(1, sizeof *s);
    if (!s || !(s->http = evhttp_new(base))) {
        free(s);
        errno = ENOMEM;
        return NULL;
    }
    s->base = base;
    s->env = grove_env_ref(env);
    s->options = *options;
    const char *host = options->host[0] ? options->host : "::";
    struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(s->http, host,
                                                                       options->port);
    if (!bound && !options->host[0]) { /* a machine without IPv6 */
        bound = evhttp_bind_socket_with_handle(s->http, "0.0.0.0", options->port);
    }
    if (!bound) {
        int why = errno;
        http_free(s);
        errno = why;
        return NULL;
    }
    note_address(s, evhttp_bound_socket_get_fd(bound));
    evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST);
    evhttp_set_max_body_size(s->http, BODY_MAX);
    evhttp_set_max_headers_size(s->http, 64 * 1024);
    evhttp_set_timeout(s->http, IDLE_SECONDS);
    evhttp_set_gencb(s->http, on_request, s);
    if (options->tls) {
        evhttp_set_bevcb(s->http, on_connection, s);
    }
    return s;
}

const char *http_address(const http_server *server) {
    return server->address;
}

void http_free(http_server *server) {
    if (server) {
        evhttp_free(server->http);
        grove_env_unref(server->env);
        free(server);
    }
}
