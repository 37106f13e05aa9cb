/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/runner.h - the loop that joins an engine and a backend, one turn at a time.
 *
 *     int64_t deadline;
 *     grove_runner_turn(engine, &backend, now, &deadline, &err);
 *     ... wait for the backend's descriptors or the deadline ...
 *
 * It waits for nothing and owns nothing: embed it in any event loop. Threads: those of its arguments.
 */
#ifndef GROVE_RUNNER_H
#define GROVE_RUNNER_H

#include <grove/engine.h>

GROVE_BEGIN_DECLS

/**
 * Begins watches, submits operations, lets the backend work and feeds what it delivers, until neither has
 * more to do at `now_ns`. *out_deadline: when to call again at the latest; INT64_MAX: only when a
 * descriptor of the backend is ready. Since 0.1.
 */
GROVE_API grove_status grove_runner_turn(grove_engine *engine, const grove_backend *backend,
                                         int64_t now_ns, int64_t *out_deadline, grove_error *err);

GROVE_END_DECLS
#endif
