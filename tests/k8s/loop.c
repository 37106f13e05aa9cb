/* SPDX-License-Identifier: Apache-2.0 */
/* Real time, poll, and a log on stderr. */
#define _GNU_SOURCE /* clock_gettime */
#include "loop.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

#define MAX_FDS 64

int64_t loop_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 * LOOP_MS + t.tv_nsec;
}

int64_t loop_wait(const grove_backend *backend, int64_t until) {
    grove_pollfd fds[MAX_FDS];
    struct pollfd list[MAX_FDS];
    uint32_t n = 0;
    (void)backend->ops->pollfds(backend->impl, fds, MAX_FDS, &n);
    n = n < MAX_FDS ? n : MAX_FDS;
    for (uint32_t i = 0; i < n; i++) {
        int events = (fds[i].events & GROVE_POLL_IN) != 0 ? POLLIN : 0;
        events |= (fds[i].events & GROVE_POLL_OUT) != 0 ? POLLOUT : 0;
        list[i] = (struct pollfd){fds[i].fd, (short)events, 0};
    }
    int64_t left = (until - loop_now()) / LOOP_MS + 1;
    (void)poll(list, n, (int)(left < 0 ? 0 : left > 1000 ? 1000 : left));
    return loop_now();
}

void loop_log(void *ctx, const grove_log_record *r) {
    (void)ctx;
    fprintf(stderr, "%s: %s", r->component, r->message);
    for (uint32_t i = 0; i < r->n_fields; i++) {
        fprintf(stderr, " %s=%s", r->fields[i].key, r->fields[i].value);
    }
    fputc('\n', stderr);
}
