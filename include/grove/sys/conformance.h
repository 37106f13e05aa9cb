/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sys/conformance.h - does a backend keep its promises?
 *
 * A kit of checks, each a short story told to a backend through its seven functions only, in a namespace
 * of its own. What a backend does not claim in its capability bits is skipped, and counted as such.
 *
 *     grove_conformance_options o = {sizeof o};
 *     o.wait = my_wait;              // NULL: the backend lives in virtual time
 *     grove_conformance_report report = {sizeof report};
 *     grove_conformance_run(env, &backend, &o, &report, &err);
 *     // report.failed == 0
 */
#ifndef GROVE_SYS_CONFORMANCE_H
#define GROVE_SYS_CONFORMANCE_H

#include <grove/sys/backend.h>

GROVE_BEGIN_DECLS

typedef int32_t grove_check_result;
#define GROVE_CHECK_PASSED 0
#define GROVE_CHECK_FAILED 1
#define GROVE_CHECK_SKIPPED 2

/** Called after each check; message is "" unless failed or skipped. */
typedef void (*grove_conformance_fn)(void *ctx, const char *check, grove_check_result result,
                                     const char *message);
/** Waits until a descriptor of the backend is ready or time `until_ns` comes; returns the time then. */
typedef int64_t (*grove_conformance_wait_fn)(void *ctx, int64_t until_ns);

/** Options of grove_conformance_run. Since 0.1. */
typedef struct grove_conformance_options {
    uint32_t size;
    uint32_t reserved;
    const char *ns; /**< namespace for the objects; made if the backend can [grove-conformance] */
    const char *filter;             /**< only checks whose name contains this; NULL: all */
    int64_t start_ns;               /**< time of the first call [2026-01-01T00:00:00Z] */
    int64_t patience_ns;            /**< how long an answer may take [10 s] */
    grove_conformance_wait_fn wait; /**< NULL: virtual time, jump to the backend's deadline */
    void *wait_ctx;
    grove_conformance_fn report; /**< NULL: none */
    void *report_ctx;
} grove_conformance_options;

/** Counts. Since 0.1. */
typedef struct grove_conformance_report {
    uint32_t size;
    uint32_t passed;
    uint32_t failed;
    uint32_t skipped;
} grove_conformance_report;

/** Number of checks, and the name of the i-th (static storage; NULL when out of range). */
GROVE_API uint32_t grove_conformance_count(void);
GROVE_API const char *grove_conformance_name(uint32_t i);
/** Runs the checks in order; failures are counts, a negative status means the kit could not go on. */
GROVE_API grove_status grove_conformance_run(grove_env *env, const grove_backend *backend,
                                             const grove_conformance_options *options,
                                             grove_conformance_report *out_report,
                                             grove_error *err);

GROVE_END_DECLS
#endif
