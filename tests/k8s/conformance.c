/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance kit on a server: `conformance KUBECONFIG [PATIENCE_MS [FILTER]]`. Real time, real
 * descriptors, public headers only. Prints what failed; exit 0 when nothing did.
 */
#include <stdio.h>
#include <stdlib.h>

#include <grove/grove.h>
#include <grove/k8s.h>
#include <grove/sys/conformance.h>

#include "loop.h"

static int64_t wait_for(void *ctx, int64_t until) {
    return loop_wait(ctx, until);
}

static void report(void *ctx, const char *check, grove_check_result result, const char *message) {
    (void)ctx;
    static const char *const words[] = {"ok", "FAILED", "skipped"};
    printf("%-8s %s%s%s\n", words[result], check, message[0] ? ": " : "", message);
    fflush(stdout);
}

static int run(grove_env *env, const grove_backend *backend, int64_t patience_ms,
               const char *filter) {
    char ns[64];
    grove_error err = GROVE_ERROR_INIT;
    (void)snprintf(ns, sizeof ns, "conformance-%llu", (unsigned long long)(loop_now() / LOOP_MS));
    grove_conformance_options o = {.size = sizeof o, .ns = ns, .filter = filter};
    o.start_ns = loop_now();
    o.patience_ns = patience_ms * LOOP_MS;
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
        fprintf(stderr, "usage: conformance KUBECONFIG [PATIENCE_MS [FILTER]]\n");
        return 2;
    }
    grove_env *env = NULL;
    grove_env_options eo = {.size = sizeof eo, .log = loop_log, .log_level = GROVE_LOG_INFO};
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
        /* a real server answers an eviction that conflicts after 10 s */
        rc = run(env, &backend, argc > 2 ? atoll(argv[2]) : 16000, argc > 3 ? argv[3] : NULL);
        backend.ops->destroy(backend.impl);
    }
    grove_env_unref(env);
    return rc;
}
