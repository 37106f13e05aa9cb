/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two schedulers in two threads, over one environment and one description of the world: the answers are
 * those of one thread, and ThreadSanitizer finds nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "support/sched_drive.h"

#define SEEDS 24
#define THREADS 2

typedef struct shift {
    grove_env *env; /* shared */
    const sc_case *world;
    uint64_t logs[SEEDS];
    uint32_t verdicts[SEEDS];
    uint64_t hash;
} shift;

/* Own random clusters, and gangs on the cluster that both threads are told about. */
static void *work(void *ctx) {
    shift *s = ctx;
    sd_run run;
    grove_env *env = grove_env_ref(s->env);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        s->logs[seed] = sd_decision_log(env, 500 + seed);
    }
    if (sd_start(env, s->world, NULL, &run) == GROVE_OK) {
        for (uint32_t i = 0; i < SEEDS; i++) {
            uint32_t gang;
            if (sd_describe(&run, s->world, NULL) == GROVE_OK &&
                sd_place(&run, 0, 20000) == GROVE_OK) {
                s->verdicts[i] = (uint32_t)grove_decision_verdict(run.d);
            }
            if (s->verdicts[i] == GROVE_PLACED) {
                (void)grove_sched_commit(run.s, run.g, run.d, &gang, NULL);
            }
        }
        s->hash = grove_sched_hash(run.s);
        sd_end(&run);
    }
    grove_env_unref(env);
    return NULL;
}

static void test_two_threads(void **state) {
    (void)state;
    static const sd_shape shape = {2, 3, 4, 2, 3, 2, 10, 0};
    static shift alone, both[THREADS];
    pthread_t threads[THREADS];
    grove_env *env = NULL;
    gv_prng r;
    gv_prng_seed(&r, 11);
    sd_case *d = sd_random(&r, &shape);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    alone = (shift){.env = env, .world = &d->c};
    (void)work(&alone);
    assert_int_equal(alone.verdicts[0], GROVE_PLACED);
    for (int i = 0; i < THREADS; i++) {
        both[i] = (shift){.env = env, .world = &d->c};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &both[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_memory_equal(both[i].logs, alone.logs, sizeof alone.logs);
        assert_memory_equal(both[i].verdicts, alone.verdicts, sizeof alone.verdicts);
        assert_true(both[i].hash == alone.hash);
    }
    sd_free(d);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
