/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine on a real cluster: `operator KUBECONFIG NAMESPACE SECONDS` keeps the PodCliqueSets of a
 * namespace as they should be for so long, then prints what it did. Public headers only.
 */
#include <stdio.h>
#include <stdlib.h>

#include <grove/grove.h>
#include <grove/k8s.h>

#include "loop.h"

static int keep(grove_engine *engine, const grove_backend *backend, int64_t seconds) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t now = loop_now(), end = now + seconds * 1000 * LOOP_MS, deadline = 0;
    while (now < end) {
        if (grove_runner_turn(engine, backend, now, &deadline, &err) < 0) {
            fprintf(stderr, "operator: %s\n", err.message);
            return 1;
        }
        now = loop_wait(backend, deadline < end ? deadline : end);
    }
    return 0;
}

static void print_counts(grove_env *env, const grove_engine *engine, const grove_backend *backend) {
    grove_engine_stats s = {.size = sizeof s};
    grove_buf b;
    grove_buf_init(&b, env);
    (void)grove_engine_stats_get(engine, &s);
    (void)backend->ops->control(backend->impl, GROVE_CONTROL_STATS, &b, NULL);
    printf("engine: events %llu, plans %llu, creates %llu, patches %llu, deletes %llu, failures "
           "%llu\n",
           (unsigned long long)s.events, (unsigned long long)s.plans, (unsigned long long)s.creates,
           (unsigned long long)s.patches, (unsigned long long)s.deletes,
           (unsigned long long)s.failures);
    printf("backend: %s\n", b.data ? b.data : "");
    grove_buf_fini(&b);
}

int main(int argc, char **argv) {
    grove_env *env = NULL;
    grove_engine *engine = NULL;
    grove_backend backend = {0};
    grove_error err = GROVE_ERROR_INIT;
    grove_env_options eo = {.size = sizeof eo, .log = loop_log};
    if (argc < 4 || grove_env_new(&eo, &env) < 0) {
        fprintf(stderr, "usage: operator KUBECONFIG NAMESPACE SECONDS\n");
        return 2;
    }
    grove_k8s_options ko = {.size = sizeof ko, .kubeconfig = argv[1]};
    grove_engine_options o = {.size = sizeof o, .ns = argv[2]};
    int rc = 1;
    if (grove_k8s_backend(env, &ko, &backend, &err) < 0) {
        fprintf(stderr, "operator: %s\n", err.message);
    } else if (grove_engine_new(env, &o, &engine, &err) < 0) {
        fprintf(stderr, "operator: %s\n", err.message);
    } else {
        rc = keep(engine, &backend, atoll(argv[3]));
        print_counts(env, engine, &backend);
    }
    grove_engine_free(engine);
    if (backend.ops) {
        backend.ops->destroy(backend.impl);
    }
    grove_env_unref(env);
    return rc;
}
