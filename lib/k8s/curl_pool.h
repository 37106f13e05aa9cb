/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multi handle of libcurl with the descriptors it waits for and the sockets it holds. Each lane has one for
 * new requests and, for a while, older ones whose connections are not to be used again.
 */
#ifndef GV_K8S_CURL_POOL_H
#define GV_K8S_CURL_POOL_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <curl/curl.h>

#include <grove/env.h>

struct gv_k8s_transfer;

typedef struct gv_k8s_curl_pool {
    grove_env *env;
    struct gv_k8s_curl_pool *older;
    CURLM *multi;
    struct pollfd *fds;
    uint32_t n_fds, cap_fds;
    int *sockets; /* all that are open, idle ones too */
    uint32_t n_sockets, cap_sockets;
    struct gv_k8s_transfer *transfers;
    int64_t deadline; /* INT64_MAX: curl waits for descriptors only */
    bool fresh;       /* something was added since the last perform */
    bool worked;      /* a descriptor was ready in this round of perform */
    bool no_memory;   /* a callback had none */
} gv_k8s_curl_pool;

/* NULL: out of memory. */
gv_k8s_curl_pool *gv_k8s_curl_pool_new(grove_env *env);
/* Closes its connections; its transfers must be gone. reset: nothing unsent may leave. */
void gv_k8s_curl_pool_free(gv_k8s_curl_pool *p, bool reset);
/* Sockets of this handle are opened and closed by the pool. */
void gv_k8s_curl_pool_adopt(gv_k8s_curl_pool *p, CURL *easy);
/* Hands curl a descriptor that poll found ready; NULL: its own time has come. */
void gv_k8s_curl_pool_pump(gv_k8s_curl_pool *p, const struct pollfd *ready);

#endif
