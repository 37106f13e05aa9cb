/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How requests reach the server. The layers above know this table only: libcurl stands behind it, or a
 * recording that a test plays.
 *
 * Nothing is called back from inside start; perform calls back. A request that was stopped is silent.
 */
#ifndef GV_K8S_TRANSPORT_H
#define GV_K8S_TRANSPORT_H

#include <stdbool.h>

#include <grove/sys/backend.h>

/* How a request ended, beyond its HTTP status. */
typedef enum gv_k8s_end {
    GV_K8S_END_ANSWERED, /* the whole answer came */
    GV_K8S_END_UNSENT,   /* the server surely did not process it: no connection, refused stream */
    GV_K8S_END_LOST,     /* it may have: connection lost on the way */
    GV_K8S_END_TIMEOUT,  /* it may have: no answer in time */
    GV_K8S_END_UNUSABLE, /* cannot work as configured: certificate not accepted, bad URL */
} gv_k8s_end;

/* Requests of one lane share connections, those of two never do: none waits behind another lane's. */
typedef enum gv_k8s_lane {
    GV_K8S_LANE_REQUESTS,
    GV_K8S_LANE_WATCHES, /* stream until they end: timeout_ms does not count */
    GV_K8S_LANE_LEASE,
    GV_K8S_LANES
} gv_k8s_lane;

typedef struct gv_k8s_request {
    const char *method;
    const char *url;            /* whole */
    const char *const *headers; /* "Name: value", n_headers of them */
    uint32_t n_headers;
    gv_k8s_lane lane;
    uint32_t timeout_ms; /* 0: none */
    const char *body;    /* copied; NULL: none */
    size_t body_len;
    void *ctx;
    /* A header of the answer (its status is `http`); name in lower case. */
    void (*header)(void *ctx, int32_t http, const char *name, const char *value);
    /* A piece of the body. A failure ends the request as lost. */
    grove_status (*data)(void *ctx, int32_t http, const char *bytes, size_t n);
    /* The end; http is 0 when no answer came. The handle is dead. message holds no secret. */
    void (*end)(void *ctx, gv_k8s_end how, int32_t http, const char *message);
} gv_k8s_request;

/* How to reach and believe the server; all borrowed for the call. NULL: not set. */
typedef struct gv_k8s_trust {
    const char *ca_pem;
    const char *cert_pem;
    const char *key_pem;
    bool insecure;
    const char *proxy;
    const char *connect_to; /* "name:port:realhost:realport" */
    bool loopback;          /* never through a proxy of the environment */
    bool plain;             /* http:// */
} gv_k8s_trust;

typedef struct gv_k8s_transport_ops {
    /* New requests are made with this from now on, over new connections. */
    grove_status (*trust)(void *impl, const gv_k8s_trust *trust);
    grove_status (*start)(void *impl, const gv_k8s_request *request, void **out_handle);
    void (*stop)(void *impl, void *handle);
    /* New requests of the lane go over new connections; those that run may end on theirs. */
    grove_status (*renew)(void *impl, gv_k8s_lane lane);
    /*
     * Resets the connections of a lane whose requests are all stopped: nothing that still waits in a buffer
     * of ours or the system's reaches the server.
     */
    grove_status (*sever)(void *impl, gv_k8s_lane lane);
    /* Moves bytes and calls back. *out_deadline: when to call again at the latest. */
    grove_status (*perform)(void *impl, int64_t now, int64_t *out_deadline);
    void (*pollfds)(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n);
    void (*destroy)(void *impl);
} gv_k8s_transport_ops;

typedef struct gv_k8s_transport {
    const gv_k8s_transport_ops *ops;
    void *impl;
} gv_k8s_transport;

grove_status gv_k8s_curl_new(grove_env *env, gv_k8s_transport *out_transport, grove_error *err);

#endif
