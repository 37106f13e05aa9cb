/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport of the Kubernetes backend that leads to the embedded cluster's front in the same process, past a
 * script of faults and without a socket: what a network and a server do to a client, in virtual time.
 */
#ifndef TESTS_FRONT_THROUGH_H
#define TESTS_FRONT_THROUGH_H

#include "front/faults.h"
#include "k8s/backend.h"

#define THROUGH_MOST 96 /* requests at a time */

typedef struct through_exchange {
    gv_k8s_request r;
    gv_fault_plan plan;
    grove_buf held; /* bytes of the answer; those before `told` have been told */
    uint64_t told, watch;
    int64_t timeout_at;    /* the client's */
    int64_t server_end_at; /* the server's, of a watch */
    int64_t ready_at, drip_at;
    int32_t http;
    uint32_t retry_after_s;
    gv_k8s_end how;
    bool used, no_answer, headers_told, ended, silent;
} through_exchange;

typedef struct through {
    grove_env *env; /* the server's memory */
    grove_sim *sim;
    gv_front *front;
    gv_faults *faults; /* NULL: everything works */
    uint64_t random;   /* of the sizes of pieces */
    int64_t now, down_until, bookmark_at;
    uint32_t requests, fired;
    /* Told of each request that arrives; may be NULL. */
    void (*arrived)(void *ctx, const char *method, const char *target);
    void *ctx;
    through_exchange open[THROUGH_MOST];
} through;

/* The transport; `t` outlives it. */
gv_k8s_transport through_transport(through *t);
/* Ends all that is open, as when the client's process ends. */
void through_forget(through *t);

#endif
