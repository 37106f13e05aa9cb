/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine dies at every boundary between two writes of a set's life: before the cluster has taken the
 * write, and after it with the answer unheard. Nobody ever sees two live pods with one index, and the life
 * ends as it does without a death. GROVE_CRASH_STEP (default 1): only every n-th write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mortal.h"

static void change_image(world *w) {
    static const char patch[] = "[{\"op\":\"replace\",\"path\":\"/spec/template/cliques/0/spec/"
                                "podSpec/containers/0/image\",\"value\":\"r:2\"}]";
    world_json_patch(w, GROVE_KIND_PODCLIQUESET, "s", patch);
}

static void lose_a_pod(world *w) {
    char name[128];
    if (world_pod_name(w, "grove.io/podclique=s-0-router", 0, name, sizeof name)) {
        world_delete(w, GROVE_KIND_POD, name);
    }
}

/* Dies at write k (0: never); returns the writes of the whole life. *out_digest is the caller's. */
static uint64_t live(grove_env *env, uint64_t k, bool after, bool with_standby, char **out_digest) {
    mortal m;
    mortal_start(&m, env, (cluster_options){0}, with_standby);
    if (k > 0) {
        mortal_arm(&m, k, after);
    }
    world_apply(&m.w, world_set);
    mortal_run(&m, 100 * SECOND);
    world_scale(&m.w, GROVE_KIND_PODCLIQUESCALINGGROUP, "s-0-cell", 1);
    mortal_run(&m, 100 * SECOND);
    change_image(&m.w);
    mortal_run(&m, 100 * SECOND);
    lose_a_pod(&m.w);
    mortal_run(&m, 300 * SECOND);
    if (k > 0 && m.deaths != 1) {
        fail_msg("%llu deaths at write %llu", (unsigned long long)m.deaths, (unsigned long long)k);
    }
    uint64_t writes = m.in_charge->writes;
    mortal_settle(&m);
    world_check_rest(&m.w);
    *out_digest = world_digest(&m.w);
    mortal_end(&m);
    return writes;
}

static void every_boundary(bool with_standby) {
    grove_env *env = NULL;
    char *calm = NULL;
    const char *text = getenv("GROVE_CRASH_STEP");
    uint64_t step = text && *text ? strtoull(text, NULL, 10) : 1, lives = 0;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    uint64_t writes = live(env, 0, false, with_standby, &calm);
    for (uint64_t k = 1; k <= writes; k += step) {
        for (int after = 0; after < 2; after++) {
            char *digest = NULL;
            (void)live(env, k, after != 0, with_standby, &digest);
            lives++;
            if (strcmp(calm, digest) != 0) {
                print_error("without a death:\n%s\nwith it:\n%s\n", calm, digest);
                fail_msg("death %s write %llu ends otherwise", after ? "after" : "before",
                         (unsigned long long)k);
            }
            free(digest);
        }
    }
    print_message("%llu writes, %llu lives with a death\n", (unsigned long long)writes,
                  (unsigned long long)lives);
    assert_true(writes > 50);
    free(calm);
    grove_env_unref(env);
}

static void test_new_engine(void **state) {
    (void)state;
    every_boundary(false);
}

static void test_standby_one_minute_old(void **state) {
    (void)state;
    every_boundary(true);
}

static void lose_the_first(mortal *m) {
    char name[128];
    assert_true(world_pod_name(&m->w,
                               "grove.io/podclique=s-0-router,grove.io/podclique-pod-index=0", 0,
                               name, sizeof name));
    world_delete(&m->w, GROVE_KIND_POD, name);
    mortal_run(m, 10 * SECOND);
}

/*
 * A pod goes, so does its replacement, and that is replaced as well; then the stand-by takes over, and sees
 * the first one go. The name that it would give the replacement is free: it must learn of the third.
 */
static void test_standby_missed_a_whole_life(void **state) {
    grove_env *env = NULL;
    mortal m;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    mortal_start(&m, env, (cluster_options){0}, true);
    world_apply(&m.w, world_set);
    mortal_run(&m, 300 * SECOND);
    m.active.lag_ns = 5 * SECOND; /* a replacement is made that much later than its cause */
    lose_the_first(&m);
    lose_the_first(&m);
    uint64_t creates = m.w.pod_creates;
    m.in_charge->crashed = true;
    mortal_run(&m, 300 * SECOND);
    assert_int_equal(m.takeovers, 1);
    mortal_settle(&m);
    world_check_rest(&m.w);
    assert_int_equal(m.w.pod_creates, creates);
    mortal_end(&m);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standby_missed_a_whole_life),
        cmocka_unit_test(test_new_engine),
        cmocka_unit_test(test_standby_one_minute_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
