/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend around another one for tests: it lets an engine die exactly before or after its n-th write,
 * and lets a stand-by's watches lag behind by a fixed time, in order.
 */
#ifndef TESTS_SYSTEM_INTERRUPT_H
#define TESTS_SYSTEM_INTERRUPT_H

#include <stdbool.h>

#include <grove/sys/backend.h>

typedef struct interrupt {
    uint64_t crash_at;      /* number of the write, from 1; 0: never */
    bool after;             /* the cluster carries that write out; nobody hears the answer */
    int64_t lag_ns;         /* events are delivered so long after they happened; 0: at once */
    const int64_t *skew_ns; /* how far the engine's clock is off; NULL: it is right */
    uint64_t writes;        /* submitted so far; EVENTs are not counted */
    bool crashed;           /* nothing passes any more, in either direction */
} interrupt;

/* As cluster_options.wrap: ctx is an interrupt that outlives the backend. */
grove_status interrupt_wrap(void *ctx, grove_env *env, grove_backend *backend, grove_error *err);

#endif
