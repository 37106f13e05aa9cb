/* SPDX-License-Identifier: Apache-2.0 */
/* A small HTTP or HTTPS server on libevent: a path and a body in, a status and a body out. */
#ifndef GROVED_HTTP_H
#define GROVED_HTTP_H

#include <event2/event.h>
#include <openssl/ssl.h>

#include <grove/buf.h>

typedef struct http_server http_server;

typedef struct http_answer {
    int code;
    const char *content_type; /* static */
    grove_buf body;
} http_answer;

/* Fills the answer (code is 200, text/plain and empty before). `body` is "" without one. */
typedef void (*http_handler)(void *ctx, const char *path, const char *body, size_t len,
                             http_answer *answer);

/* `tls` NULL: plain HTTP; else the context to use for a new connection is asked for each time. */
typedef struct http_options {
    const char *host; /* "": all interfaces */
    uint16_t port;    /* 0: a free one */
    http_handler handler;
    void *ctx;
    SSL_CTX *(*tls)(void *ctx);
} http_options;

/* NULL with errno set when it cannot listen there. */
http_server *http_listen(struct event_base *base, grove_env *env, const http_options *options);
/* "127.0.0.1:9443", as it listens. */
const char *http_address(const http_server *server);
void http_free(http_server *server);

#endif
