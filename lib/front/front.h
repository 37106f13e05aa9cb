/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Kubernetes API over an embedded cluster, below any socket: requests in, answers and watch lines out.
 *
 * Pure above the cluster: no clock, no descriptor. Whoever owns the sockets (server.c, a test, a fuzzer)
 * lets the cluster's time run, hands requests over and carries bytes away.
 */
#ifndef GV_FRONT_FRONT_H
#define GV_FRONT_FRONT_H

#include <grove/sys/sim.h>

typedef struct gv_front gv_front;

/* A request as it came; everything borrowed, headers may be NULL. */
typedef struct gv_front_request {
    const char *method;
    const char *target; /* path and query, percent-encoded */
    const char *accept;
    const char *content_type;
    const char *body;
    size_t body_len;
    const char *user;  /* whom the client wants to be; NULL: the administrator */
    const char *group; /* the group that goes with it */
    const char *agent; /* User-Agent: up to its slash the field manager, unless one is named */
} gv_front_request;

/* An answer; initialise with gv_front_response_init. */
typedef struct gv_front_response {
    int32_t http;
    uint32_t retry_after_s;   /* 0: none */
    const char *content_type; /* static */
    grove_buf body;
    grove_buf warning; /* texts of Warning headers, one a line; empty: none */
    uint64_t watch;    /* not 0: this watch has begun; its lines come from gv_front_pump */
    int64_t timeout_s; /* of that watch; 0: none was asked for */
} gv_front_response;

void gv_front_response_init(gv_front_response *r, grove_env *env);
void gv_front_response_fini(gv_front_response *r);

/* The sim must outlive the front. */
grove_status gv_front_new(grove_env *env, grove_sim *sim, gv_front **out_front, grove_error *err);
void gv_front_free(gv_front *front);

/* Answers one request. Everything that a client did wrong is an answer; a negative status is a failure of
 * the server itself (no memory), and the answer is then a 500 or empty. */
grove_status gv_front_handle(gv_front *front, const gv_front_request *request,
                             gv_front_response *response);

/* Who carries watches away. */
typedef struct gv_front_sink {
    void *ctx;
    /* A whole line, with its newline, of one watch. */
    void (*line)(void *ctx, uint64_t watch, const char *bytes, size_t len);
    /* Nothing more will come of this watch; it is forgotten already. */
    void (*end)(void *ctx, uint64_t watch);
} gv_front_sink;

/* Hands over what watches have to tell by now. The sink may call gv_front_unwatch. */
grove_status gv_front_pump(gv_front *front, const gv_front_sink *sink, grove_error *err);
/* Ends a watch whose client has gone, or whose time is over. */
void gv_front_unwatch(gv_front *front, uint64_t watch);
/* Lets every watch that asked for them have a bookmark with the next pump. */
grove_status gv_front_bookmark(gv_front *front, grove_error *err);

/* Drops the history: watches that go on from an earlier position are told that it is too old. */
void gv_front_forget(gv_front *front);

#endif
