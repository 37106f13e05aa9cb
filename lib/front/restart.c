/* SPDX-License-Identifier: Apache-2.0 */
/* A server that goes away for a while and comes back at the same address, as after an upgrade. */
#include "front/server_parts.h"

#define REBIND_MS 50 /* when somebody else has the port for the moment */
#define REBINDS_MAX 100

static void wait_ms(gv_server *s, uint32_t ms) {
    struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000) * 1000};
    (void)event_add(s->restart, &tv);
}

static void go_down(gv_server *s) {
    evhttp_free(s->http); /* ends connections, which end watches */
    s->http = NULL;
    s->rebinds = 0;
    wait_ms(s, s->down_ms);
}

static void come_up(gv_server *s) {
    s->http = gv_server_make_http(s);
    if (!s->http) {
        gv_server_fail(s, GROVE_E_NOMEM);
    } else if (!evhttp_bind_socket_with_handle(s->http, s->host, s->port)) {
        evhttp_free(s->http);
        s->http = NULL;
        if (++s->rebinds > REBINDS_MAX) {
            gv_server_fail(s, GROVE_E_IO);
        } else {
            wait_ms(s, REBIND_MS);
        }
    }
}

static void on_restart(evutil_socket_t fd, short what, void *ctx) {
    gv_server *s = ctx;
    (void)fd;
    (void)what;
    if (s->http) {
        go_down(s);
    } else {
        come_up(s);
    }
}

bool gv_server_make_restart(gv_server *s) {
    s->restart = evtimer_new(s->base, on_restart, s);
    return s->restart != NULL;
}

void gv_server_restart(gv_server *s, const gv_fault_plan *plan) {
    s->down_ms = plan->down_ms;
    if (plan->forget) {
        gv_front_forget(s->front);
    }
    wait_ms(s, 0); /* not while libevent is busy with a request */
}
