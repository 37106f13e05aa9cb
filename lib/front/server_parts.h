/* SPDX-License-Identifier: Apache-2.0 */
/* What the files around the sockets share. */
#ifndef GV_FRONT_SERVER_PARTS_H
#define GV_FRONT_SERVER_PARTS_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdbool.h>

#include "front/faults.h"
#include "front/server.h"

#define GV_SERVER_SIGNALS 4

/* An answer that takes its time: a watch, or one that a fault was put on. */
typedef struct gv_exchange {
    gv_server *server;
    struct evhttp_request *request;
    uint64_t watch; /* 0: an ordinary answer */
    int32_t http;
    gv_fault_plan plan;
    struct event *closed;  /* the client has gone */
    struct event *timeout; /* timeoutSeconds of a watch */
    struct event *later;   /* what was held back is due */
    struct evbuffer *held; /* not sent yet */
    uint64_t told;         /* bytes of the body that were sent */
    bool started, ended, silent, aborting;
    struct gv_exchange *next;
} gv_exchange;

struct gv_server {
    grove_env *env;
    gv_front *front;
    gv_faults *faults;  /* NULL: none */
    struct gv_tls *tls; /* NULL: plain HTTP */
    gv_server_hooks hooks;
    struct event_base *base;
    struct evhttp *http; /* NULL: down for the moment */
    struct event *timer;
    struct event *bookmarks;
    struct event *restart;
    struct event *signals[GV_SERVER_SIGNALS];
    uint32_t n_signals;
    gv_exchange *exchanges;
    char host[64];
    uint16_t port;
    char address[80];
    uint32_t down_ms, rebinds;
    grove_status failed;
    grove_error err;
};

/* ---- server.c ---- */

void gv_server_fail(gv_server *s, grove_status st);
/* Content type, warnings, ... into the request's output. */
void gv_server_put_headers(struct evhttp_request *request, const gv_front_response *r);
/* An evhttp that listens nowhere yet; NULL: no memory. */
struct evhttp *gv_server_make_http(gv_server *s);

/* ---- exchange.c ---- */

/* Takes the request over; NULL: no memory. */
gv_exchange *gv_exchange_new(gv_server *s, struct evhttp_request *request,
                             const gv_fault_plan *plan);
/* Makes it a watch that ends by itself after so many seconds (0: never) and tells its headers. */
void gv_exchange_watch(gv_exchange *x, const gv_front_response *r);
/* An ordinary answer, body and end. May free x. */
void gv_exchange_answer(gv_exchange *x, const gv_front_response *r);
/* No answer: the connection ends, or stays without a word, as the plan says. */
void gv_exchange_refuse(gv_exchange *x);
/* A line of a watch. May free x. */
void gv_exchange_line(gv_exchange *x, const char *bytes, size_t len);
/* Nothing more will come. May free x. */
void gv_exchange_end(gv_exchange *x);
/* Ends it at once, in order, whatever was planned. Frees x. */
void gv_exchange_finish(gv_exchange *x);
gv_exchange *gv_exchange_of(gv_server *s, uint64_t watch);

/* ---- restart.c ---- */

/* Soon: all connections end, and nobody listens for a while. */
void gv_server_restart(gv_server *s, const gv_fault_plan *plan);
bool gv_server_make_restart(gv_server *s);

#endif
