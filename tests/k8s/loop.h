/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest loop around a backend: a clock and a wait. */
#ifndef TESTS_K8S_LOOP_H
#define TESTS_K8S_LOOP_H

#include <grove/sys/backend.h>

#define LOOP_MS INT64_C(1000000)

int64_t loop_now(void);
/* Until a descriptor of the backend is ready, or the time comes; at most a second. Returns the time. */
int64_t loop_wait(const grove_backend *backend, int64_t until);
/* For grove_env_options.log. */
void loop_log(void *ctx, const grove_log_record *record);

#endif
