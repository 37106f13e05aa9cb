/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and how they are told. */
#include "metrics.h"

#include "text.h"

#include <grove/kinds.h>
#include <grove/version.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLE_NS INT64_C(1000000000)

/* Bounds of the buckets in milliseconds: those of controller-runtime's histograms. */
static const uint32_t bounds_ms[METRICS_BUCKETS] = {1,   2,    5,    10,   25,    50,    100,  250,
                                                    500, 1000, 2500, 5000, 10000, 30000, 60000};

const char *const metrics_hook_names[METRICS_HOOKS] = {
    "/webhooks/default-podcliqueset", "/webhooks/validate-podcliqueset",
    "/webhooks/validate-clustertopology", "/webhooks/authorizer-webhook",
    "/webhooks/validate-scale"};

static const char *const verb_words[GROVE_VERB_COUNT] = {
    [GROVE_VERB_GET] = "GET",     [GROVE_VERB_LIST] = "GET",    [GROVE_VERB_CREATE] = "POST",
    [GROVE_VERB_PATCH] = "PATCH", [GROVE_VERB_APPLY] = "PATCH", [GROVE_VERB_DELETE] = "DELETE",
    [GROVE_VERB_BIND] = "POST",   [GROVE_VERB_EVICT] = "POST",  [GROVE_VERB_EVENT] = "POST",
    [GROVE_VERB_SCALE] = "PATCH", [GROVE_VERB_REPLACE] = "PUT"};

static const char *const code_words[8] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx", "409", "429"};
static const char *const event_words[4] = {"ADDED", "MODIFIED", "DELETED", "GONE"};

/* ---- counting ---- */

void metrics_observe(metrics_histogram *h, int64_t ns) {
    uint32_t i = 0;
    while (i < METRICS_BUCKETS && ns > (int64_t)bounds_ms[i] * 1000000) {
        i++;
    }
    h->in[i]++;
    h->count++;
    h->sum_ns += ns;
}

void metrics_ended(void *ctx, grove_verb verb, grove_kind kind, const grove_completion *c,
                   int64_t took_ns) {
    metrics *m = ctx;
    int32_t http = c->http;
    uint32_t class = http == 409                 ? 6
                     : http == 429               ? 7
                     : http >= 100 && http < 600 ? (uint32_t)http / 100
                                                 : 0;
    if (verb <= GROVE_VERB_NONE || verb >= GROVE_VERB_COUNT) {
        return;
    }
    m->requests[verb][class]++;
    metrics_observe(&m->latency[verb], took_ns);
    bool write = verb > GROVE_VERB_LIST && verb < GROVE_VERB_COUNT;
    if (write && c->status == GROVE_OK && kind > 0 && kind < GROVE_KIND_COUNT) {
        m->writes[verb][kind]++;
    }
}

void metrics_event(void *ctx, const grove_event *event) {
    metrics *m = ctx;
    if (event->type <= GROVE_EVENT_DELETED) {
        m->events[event->kind][event->type - 1]++;
    } else if (event->type == GROVE_EVENT_GONE) {
        m->events[event->kind][3]++;
    }
}

void metrics_sample(metrics *m, const grove_engine *engine, int64_t now, int force) {
    int64_t passed = now - m->sampled_at;
    if (m->sampled_at != 0 && passed < SAMPLE_NS && !force) {
        return;
    }
    if (m->sampled_at != 0 && passed > 0) {
        m->gpu_ms += m->gauges.gpus_held * (uint64_t)(passed / 1000000);
    }
    m->gauges.size = (uint32_t)sizeof m->gauges;
    (void)grove_engine_gauges_get(engine, now, &m->gauges);
    m->sampled_at = now;
}

/* ---- telling ---- */

static void head(grove_buf *out, const char *name, const char *type, const char *help) {
    text_put(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(grove_buf *out, const char *name, const char *type, const char *help,
                uint64_t value) {
    head(out, name, type, help);
    text_put(out, "%s %llu\n", name, (unsigned long long)value);
}

static void seconds(grove_buf *out, int64_t ns) {
    text_put(out, "%lld.%09lld", (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

/* labels: `verb="GET"` or "". */
static void histogram(grove_buf *out, const char *name, const char *labels,
                      const metrics_histogram *h) {
    const char *comma = labels[0] ? "," : "";
    uint64_t sum = 0;
    for (uint32_t i = 0; i < METRICS_BUCKETS; i++) {
        sum += h->in[i];
        text_put(out, "%s_bucket{%s%sle=\"%u.%03u\"} %llu\n", name, labels, comma,
                 bounds_ms[i] / 1000, bounds_ms[i] % 1000, (unsigned long long)sum);
    }
    text_put(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma,
             (unsigned long long)h->count);
    const char *open = labels[0] ? "{" : "", *close = labels[0] ? "}" : "";
    text_put(out, "%s_count%s%s%s %llu\n%s_sum%s%s%s ", name, open, labels, close,
             (unsigned long long)h->count, name, open, labels, close);
    seconds(out, h->sum_ns);
    text_put(out, "\n");
}

static void tell_requests(const metrics *m, grove_buf *out) {
    head(
        out, "rest_client_requests_total", "counter",
        "Requests by method and class of the answer's code; retries by the client are not counted");
    for (grove_verb v = 1; v < GROVE_VERB_COUNT; v++) {
        for (uint32_t c = 0; c < 8; c++) {
            if (m->requests[v][c]) {
                text_put(out,
                         "rest_client_requests_total{method=\"%s\",verb=\"%s\",code=\"%s\"} %llu\n",
                         verb_words[v], grove_verb_name(v), code_words[c],
                         (unsigned long long)m->requests[v][c]);
            }
        }
    }
    head(out, "rest_client_request_duration_seconds", "histogram", "From submission to completion");
    for (grove_verb v = 1; v < GROVE_VERB_COUNT; v++) {
        char label[40];
        (void)snprintf(label, sizeof label, "verb=\"%s\"", grove_verb_name(v));
        if (m->latency[v].count) {
            histogram(out, "rest_client_request_duration_seconds", label, &m->latency[v]);
        }
    }
    head(out, "grove_writes_total", "counter", "Writes that the server accepted");
    for (grove_verb v = GROVE_VERB_CREATE; v < GROVE_VERB_COUNT; v++) {
        for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
            if (m->writes[v][k]) {
                text_put(out, "grove_writes_total{verb=\"%s\",resource=\"%s\"} %llu\n",
                         grove_verb_name(v), grove_kind_plural(k),
                         (unsigned long long)m->writes[v][k]);
            }
        }
    }
}

static void tell_events(const metrics *m, grove_buf *out) {
    head(out, "grove_watch_events_total", "counter", "Events of watches by kind and type");
    for (grove_kind k = 1; k < GROVE_KIND_COUNT; k++) {
        for (uint32_t t = 0; t < 4; t++) {
            if (m->events[k][t]) {
                text_put(out, "grove_watch_events_total{resource=\"%s\",type=\"%s\"} %llu\n",
                         grove_kind_plural(k), event_words[t], (unsigned long long)m->events[k][t]);
            }
        }
    }
}

static void tell_engine(const metrics *m, const metrics_now *now, grove_buf *out) {
    static const char controller[] = "controller=\"podcliqueset\"";
    grove_engine_stats s = {.size = (uint32_t)sizeof s};
    (void)grove_engine_stats_get(now->engine, &s);
    head(out, "controller_runtime_reconcile_total", "counter", "Plans by result");
    text_put(out, "controller_runtime_reconcile_total{%s,result=\"success\"} %llu\n", controller,
             (unsigned long long)s.plans);
    text_put(out, "controller_runtime_reconcile_total{%s,result=\"error\"} %llu\n", controller,
             (unsigned long long)s.failures);
    head(out, "controller_runtime_reconcile_errors_total", "counter",
         "Operations that ended in an error");
    text_put(out, "controller_runtime_reconcile_errors_total{%s} %llu\n", controller,
             (unsigned long long)s.failures);
    head(out, "controller_runtime_reconcile_time_seconds", "histogram",
         "A turn of the loop: events in, plans, operations out");
    histogram(out, "controller_runtime_reconcile_time_seconds", controller, &m->turns);
    head(out, "controller_runtime_max_concurrent_reconciles", "gauge", "Always 1: one loop");
    text_put(out, "controller_runtime_max_concurrent_reconciles{%s} 1\n", controller);
    one(out, "grove_podcliquesets", "gauge", "PodCliqueSets known", s.sets);
    one(out, "grove_operations_in_flight", "gauge", "Operations without an answer", s.in_flight);
    one(out, "grove_gangs_waiting", "gauge", "Gangs that are complete and have no place",
        s.gangs_waiting);
    one(out, "grove_empty_plans_total", "counter", "Plans that changed nothing", s.empty_plans);
    one(out, "grove_placements_total", "counter", "Placements asked for", s.decisions);
    one(out, "grove_placed_total", "counter", "Placements found", s.placed);
}

static void one_time(grove_buf *out, const char *name, const char *type, const char *help,
                     int64_t ns) {
    head(out, name, type, help);
    text_put(out, "%s ", name);
    seconds(out, ns);
    text_put(out, "\n");
}

static void tell_gauges(const metrics *m, grove_buf *out) {
    const grove_engine_gauges *g = &m->gauges;
    one(out, "grove_pods_gated", "gauge", "Pods of gangs that carry a scheduling gate",
        g->pods_gated);
    one_time(out, "grove_gate_age_seconds", "gauge", "Age of the oldest gated pod",
             g->oldest_gate_ns);
    one(out, "grove_gangs_incomplete", "gauge", "Gangs whose minimum has no nodes",
        g->gangs_incomplete);
    one_time(out, "grove_gang_wait_seconds", "gauge", "Age of the oldest incomplete gang",
             g->longest_gang_wait_ns);
    head(out, "grove_placement_score", "gauge", "Mean score of the gangs that have one, 0 to 1");
    uint64_t mean = g->gangs_scored ? g->score_thousandths / g->gangs_scored : 0;
    text_put(out, "grove_placement_score %llu.%03llu\n", (unsigned long long)(mean / 1000),
             (unsigned long long)(mean % 1000));
    one(out, "grove_incomplete_gang_gpus", "gauge", "GPUs that pods of incomplete gangs hold",
        g->gpus_held);
    head(out, "grove_incomplete_gang_gpu_seconds_total", "counter",
         "GPU-seconds that pods of incomplete gangs held");
    text_put(out, "grove_incomplete_gang_gpu_seconds_total %llu.%03llu\n",
             (unsigned long long)(m->gpu_ms / 1000), (unsigned long long)(m->gpu_ms % 1000));
}

static void tell_hooks(const metrics *m, grove_buf *out) {
    head(out, "controller_runtime_webhook_requests_total", "counter",
         "Requests by webhook and code");
    for (uint32_t i = 0; i < METRICS_HOOKS; i++) {
        text_put(out,
                 "controller_runtime_webhook_requests_total{webhook=\"%s\",code=\"200\"} %llu\n"
                 "controller_runtime_webhook_requests_total{webhook=\"%s\",code=\"500\"} %llu\n",
                 metrics_hook_names[i], (unsigned long long)m->hook_requests[i][0],
                 metrics_hook_names[i], (unsigned long long)m->hook_requests[i][1]);
    }
    head(out, "grove_webhook_refusals_total", "counter",
         "Reviews that were answered with a refusal");
    for (uint32_t i = 0; i < METRICS_HOOKS; i++) {
        text_put(out, "grove_webhook_refusals_total{webhook=\"%s\"} %llu\n", metrics_hook_names[i],
                 (unsigned long long)m->hook_refusals[i]);
    }
    head(out, "controller_runtime_webhook_latency_seconds", "histogram", "Time to judge a review");
    for (uint32_t i = 0; i < METRICS_HOOKS; i++) {
        char label[80];
        (void)snprintf(label, sizeof label, "webhook=\"%s\"", metrics_hook_names[i]);
        histogram(out, "controller_runtime_webhook_latency_seconds", label, &m->hook_latency[i]);
    }
    one(out, "certwatcher_read_certificate_total", "counter", "Certificates taken into use",
        m->cert_reads);
    one(out, "certwatcher_read_certificate_errors_total", "counter", "Certificates found unusable",
        m->cert_errors);
}

static void tell_process(grove_buf *out) {
    struct timespec cpu = {0};
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f) {
        if (fscanf(f, "%*d %ld", &pages) != 1) {
            pages = 0;
        }
        (void)fclose(f);
    }
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory",
        (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE));
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    head(out, "process_cpu_seconds_total", "counter", "CPU time used");
    text_put(out, "process_cpu_seconds_total ");
    seconds(out, (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
    text_put(out, "\n");
}

void metrics_write(const metrics *m, const metrics_now *now, grove_buf *out) {
    uint32_t watches = 0, synced = 0;
    head(out, "grove_build_info", "gauge", "The version");
    text_put(out, "grove_build_info{version=\"%s\"} 1\n", GROVE_VERSION_STRING);
    tell_engine(m, now, out);
    tell_gauges(m, out);
    tell_requests(m, out);
    tell_events(m, out);
    tell_hooks(m, out);
    tap_watches(now->tap, &watches, &synced);
    one(out, "grove_watches", "gauge", "Watches that are open", watches);
    one(out, "grove_watches_synced", "gauge", "Watches whose first list has come", synced);
    one(out, "grove_ready", "gauge", "1: ready", now->ready ? 1 : 0);
    one(out, "grove_foreign_writes_total", "counter",
        "Writes of another operator seen while leading", m->foreign_writes);
    one(out, "grove_webhook_certificate_expires_seconds", "gauge",
        "When the webhooks' certificate ends, Unix time",
        (uint64_t)(now->certificate_expires_s > 0 ? now->certificate_expires_s : 0));
    if (now->lease) {
        head(out, "leader_election_master_status", "gauge", "1: this process leads");
        text_put(out, "leader_election_master_status{name=\"%s\"} %d\n", now->lease, now->leading);
    }
    head(out, "grove_log_lines_total", "counter", "Lines of the log by level");
    for (grove_log_level l = GROVE_LOG_ERROR; l <= GROVE_LOG_DEBUG; l++) {
        text_put(out, "grove_log_lines_total{level=\"%s\"} %llu\n", log_level_name(l),
                 (unsigned long long)now->log->lines[l]);
    }
    tell_process(out);
}
