/* SPDX-License-Identifier: Apache-2.0 */
/* Law (g): an engine that is played a recording asks for the same, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <grove/runner.h>

#include "world.h"

typedef struct tape {
    grove_buf text;
    int64_t turns[4096]; /* the times at which the runner was called */
    size_t n;
} tape;

static grove_status keep(void *ctx, const char *bytes, size_t len) {
    return grove_buf_append(&((tape *)ctx)->text, bytes, len);
}

static grove_status put_recorder(void *ctx, grove_env *env, grove_backend *backend,
                                 grove_error *err) {
    grove_backend outer;
    grove_status st = grove_backend_record(env, backend, keep, ctx, &outer, err);
    if (st == GROVE_OK) {
        *backend = outer;
    }
    return st;
}

/* As world_settle, noting each turn. */
static void settle_noted(world *w, tape *t) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t limit = cluster_now(w->c) + 3600 * SECOND;
    for (;;) {
        assert_true(t->n < sizeof t->turns / sizeof *t->turns);
        t->turns[t->n++] = cluster_now(w->c);
        assert_int_equal(cluster_settle_now(w->c, &err), GROVE_OK);
        if (w->c->deadline > limit) {
            return;
        }
        assert_int_equal(grove_sim_advance(w->c->sim, w->c->deadline, &err), GROVE_OK);
    }
}

static void record_life(grove_env *env, tape *t) {
    world w;
    cluster_options options = {.wrap = put_recorder, .wrap_ctx = t};
    world_start(&w, env, options);
    world_apply(&w, world_set);
    settle_noted(&w, t);
    world_scale(&w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 3);
    settle_noted(&w, t);
    world_delete(&w, GROVE_KIND_PODCLIQUESET, "s");
    settle_noted(&w, t);
    world_end(&w);
}

static void test_replay_is_equal(void **state) {
    grove_env *env = NULL;
    grove_engine *engine = NULL;
    grove_backend backend;
    grove_error err = GROVE_ERROR_INIT;
    tape *t = calloc(1, sizeof *t);
    (void)state;
    assert_non_null(t);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_buf_init(&t->text, env);
    record_life(env, t);
    assert_true(t->text.len > 10000);
    assert_int_equal(grove_backend_replay(env, t->text.data, (size_t)t->text.len, &backend, &err),
                     GROVE_OK);
    grove_engine_options options = {
        .size = (uint32_t)sizeof options,
        .flags = GROVE_ENGINE_CHECK,
        .bind_schedulers = "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"};
    assert_int_equal(grove_engine_new(env, &options, &engine, &err), GROVE_OK);
    for (size_t i = 0; i < t->n; i++) {
        int64_t deadline = 0;
        if (grove_runner_turn(engine, &backend, t->turns[i], &deadline, &err) < 0) {
            fail_msg("turn %zu of %zu: %s", i, t->n, err.message);
        }
    }
    grove_buf stats;
    grove_buf_init(&stats, env);
    assert_int_equal(backend.ops->control(backend.impl, GROVE_CONTROL_STATS, &stats, &err),
                     GROVE_OK);
    /* Every line was played: the engine asked for all of it, and for nothing else. */
    if (!strstr(stats.data, "\"played\":true")) {
        fail_msg("the recording was not played to its end: %s", stats.data);
    }
    grove_buf_fini(&stats);
    grove_engine_free(engine);
    backend.ops->destroy(backend.impl);
    grove_buf_fini(&t->text);
    grove_env_unref(env);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_replay_is_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
