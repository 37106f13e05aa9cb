/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance kit on a real API server: `conformance KUBECONFIG [FILTER]`. Real time, real descriptors,
 * public headers only. Prints what failed; exit 0 when nothing did.
 */
#define _GNU_SOURCE /* clock_gettime */
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include <grove/grove.h>
#include <grove/k8s.h>
#include <grove/sys/conformance.h>

#define MS INT64_C(1000000)

static int64_t real_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Until a descriptor is ready or the time comes. */
static int64_t wait_for(void *ctx, int64_t until) {
    const grove_backend *backend = ctx;
    grove_pollfd fds[64];
    struct pollfd list[64];
    uint32_t n = 0;
    (void)backend->ops->pollfds(backend->impl, fds, 64, &n);
    n = n < 64 ? n : 64;
    for (uint32_t i = 0; i < n; i++) {
        short events = (fds[i].events & GROVE_POLL_IN) != 0 ? POLLIN : 0;
        events = (short)(events | ((fds[i].events & GROVE_POLL_OUT) != 0 ? POLLOUT : 0));
        list[i] = (struct pollfd){fds[i].fd, events, 0};
    }
    int64_t left = (until - real_now()) / MS + 1;
    (void)poll(list, n, (int)(left < 0 ? 0 : left > 1000 ? 1000 : left));
    return real_now();
}

static void report(void *ctx, const char *check, grove_check_result result, const char *message) {
    (void)ctx;
    static const char *const words[] = {"ok", "FAILED", "skipped"};
    printf("%-8s %s%s%s\n", words[result], check, message[0] ? ": " : "", message);
    fflush(stdout);
}

static void to_stderr(void *ctx, const grove_log_record *r) {
    (void)ctx;
    fprintf(stderr, "%s: %s", r->component, r->message);
    for (uint32_t i = 0; i < r->n_fields; i++) {
        fprintf(stderr, " %s=%s", r->fields[i].key, r->fields[i].value);
    }
    fputc('\n', stderr);
}

static int run(grove_env *env, const grove_backend *backend, const char *filter) {
    char ns[64];
    grove_error err = GROVE_ERROR_INIT;
    (void)snprintf(ns, sizeof ns, "conformance-%llu", (unsigned long long)(real_now() / MS));
    grove_conformance_options o = {.size = sizeof o, .ns = ns, .filter = filter};
    o.start_ns = real_now();
    o.patience_ns = 16000 * MS; /* an eviction that conflicts is answered after 10 s */
    o.wait = wait_for;
    o.wait_ctx = (void *)(uintptr_t)backend;
    o.report = report;
    grove_conformance_report counts = {.size = sizeof counts};
    if (grove_conformance_run(env, backend, &o, &counts, &err) < 0) {
        fprintf(stderr, "conformance: %s\n", err.message);
        return 1;
    }
    grove_buf stats;
    grove_buf_init(&stats, env);
    (void)backend->ops->control(backend->impl, GROVE_CONTROL_STATS, &stats, NULL);
    printf("%s\n%u passed, %u failed, %u skipped\n", stats.data ? stats.data : "", counts.passed,
           counts.failed, counts.skipped);
    grove_buf_fini(&stats);
    return counts.failed > 0 ? 1 : 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: conformance KUBECONFIG [FILTER]\n");
        return 2;
    }
    grove_env *env = NULL;
    grove_env_options eo = {.size = sizeof eo, .log = to_stderr, .log_level = GROVE_LOG_INFO};
    grove_error err = GROVE_ERROR_INIT;
    grove_backend backend;
    if (grove_env_new(&eo, &env) < 0) {
        return 1;
    }
    grove_k8s_options o = {.size = sizeof o, .kubeconfig = argv[1]};
    int rc = 1;
    if (grove_k8s_backend(env, &o, &backend, &err) < 0) {
        fprintf(stderr, "conformance: %s\n", err.message);
    } else {
        rc = run(env, &backend, argc > 2 ? argv[2] : NULL);
        backend.ops->destroy(backend.impl);
    }
    grove_env_unref(env);
    return rc;
}
