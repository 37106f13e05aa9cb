/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 on a loopback address before a front: one thread, one event loop. */
#ifndef GV_FRONT_SERVER_H
#define GV_FRONT_SERVER_H

#include "front/faults.h"

typedef struct gv_server gv_server;

typedef struct gv_server_hooks {
    void *ctx;
    /* Lets everything happen that is due; *out_wait_ns: how long nothing more will, INT64_MAX for ever.
     * Called before and after each request and when the wait is over. A failure ends the server. */
    grove_status (*turn)(void *ctx, int64_t *out_wait_ns, grove_error *err);
    /* Told of each request when it was answered; may be NULL. */
    void (*answered)(void *ctx, const char *method, const char *target, int32_t http);
} gv_server_hooks;

typedef struct gv_server_options {
    const char *listen; /* HOST:PORT with a numeric host; port 0 takes a free one */
    gv_server_hooks hooks;
    gv_faults *faults; /* NULL: none */
    bool tls;          /* GROVE_E_UNSUPPORTED when built without it */
} gv_server_options;

/* Env, front and faults outlive the server. */
grove_status gv_server_new(grove_env *env, gv_front *front, const gv_server_options *options,
                           gv_server **out_server, grove_error *err);
/* "127.0.0.1:8001", as it listens. */
const char *gv_server_address(const gv_server *server);
/* The certificate of the authority that clients have to trust, PEM; NULL without TLS. */
const char *gv_server_authority(const gv_server *server);
/* Stops gently when this signal comes: open watches are ended in order. */
grove_status gv_server_stop_on(gv_server *server, int signal_number);
/* Serves until it is stopped, or until a turn fails. */
grove_status gv_server_run(gv_server *server, grove_error *err);
void gv_server_free(gv_server *server);

#endif
