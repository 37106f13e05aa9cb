/* SPDX-License-Identifier: Apache-2.0 */
/* What programs with one backend and no loop of their own do between two calls of `process`. */
#ifndef TOOLS_COMMON_WAIT_H
#define TOOLS_COMMON_WAIT_H

#include <grove/sys/backend.h>

/* The wall clock, in nanoseconds since the epoch. */
int64_t wait_now(void);
/* Until a descriptor of the backend is ready, `until` comes, or `most_ms` have passed. */
void wait_backend(const grove_backend *backend, int64_t until, int most_ms);

#endif
