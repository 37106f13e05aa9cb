/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a backend's descriptors. */
#include "wait.h"

#include <poll.h>
#include <time.h>

#define FDS 32
#define MS INT64_C(1000000)

int64_t wait_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

void wait_backend(const grove_backend *backend, int64_t until, int most_ms) {
    grove_pollfd fds[FDS];
    struct pollfd list[FDS];
    uint32_t n = 0;
    (void)backend->ops->pollfds(backend->impl, fds, FDS, &n);
    n = n < FDS ? n : FDS;
    for (uint32_t i = 0; i < n; i++) {
        int events = ((fds[i].events & GROVE_POLL_IN) ? POLLIN : 0) |
                     ((fds[i].events & GROVE_POLL_OUT) ? POLLOUT : 0);
        list[i] = (struct pollfd){fds[i].fd, (short)events, 0};
    }
    int64_t left = (until - wait_now()) / MS + 1;
    (void)poll(list, n, left < 0 ? 0 : left > most_ms ? most_ms : (int)left);
}
