/* SPDX-License-Identifier: Apache-2.0 */
/* What /metrics tells, in Prometheus' text form; names that dashboards of Go operators use are kept. */
#ifndef GROVED_METRICS_H
#define GROVED_METRICS_H

#include <grove/engine.h>

#include "log.h"
#include "tap.h"

#define METRICS_BUCKETS 15
#define METRICS_HOOKS 5

/* Durations by bucket; see metrics.c for the bounds. */
typedef struct metrics_histogram {
    uint64_t in[METRICS_BUCKETS + 1];
    uint64_t count;
    int64_t sum_ns;
} metrics_histogram;

typedef struct metrics {
    uint64_t requests[GROVE_VERB_COUNT]
                     [8]; /* by verb and class of answer: 0 none, 1..5, 6: 409, 7: 429 */
    uint64_t writes[GROVE_VERB_COUNT][GROVE_KIND_COUNT];
    uint64_t events[GROVE_KIND_COUNT][4]; /* ADDED, MODIFIED, DELETED, GONE */
    metrics_histogram latency[GROVE_VERB_COUNT];
    metrics_histogram turns;                  /* a turn of the loop in which something happened */
    uint64_t hook_requests[METRICS_HOOKS][2]; /* by webhook: answered, failed */
    uint64_t hook_refusals[METRICS_HOOKS];
    metrics_histogram hook_latency[METRICS_HOOKS];
    uint64_t foreign_writes; /* of another operator, seen while leading */
    uint64_t cert_reads, cert_errors;
    grove_engine_gauges gauges; /* as of sampled_at */
    int64_t sampled_at;         /* 0: never */
    uint64_t gpu_ms;            /* GPU-milliseconds that incomplete gangs held */
} metrics;

/* What stands at the moment of asking. */
typedef struct metrics_now {
    const grove_engine *engine;
    const tap *tap;
    const daemon_log *log;
    const char *lease; /* its name; NULL: no election */
    int leading;
    int ready;
    int64_t certificate_expires_s; /* Unix time; 0: no certificate */
} metrics_now;

extern const char *const metrics_hook_names[METRICS_HOOKS];

void metrics_observe(metrics_histogram *h, int64_t ns);
/* For tap_observer, with a metrics as context. */
void metrics_ended(void *ctx, grove_verb verb, grove_kind kind, const grove_completion *c,
                   int64_t took_ns);
void metrics_event(void *ctx, const grove_event *event);
/* Looks at what stands, at most once a second but for `force`, and adds up what was held meanwhile. */
void metrics_sample(metrics *m, const grove_engine *engine, int64_t now, int force);
void metrics_write(const metrics *m, const metrics_now *now, grove_buf *out);

#endif
