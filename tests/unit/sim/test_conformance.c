/* SPDX-License-Identifier: Apache-2.0 */
/* The conformance kit on the embedded cluster, bare and under decorators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/conformance.h>
#include <grove/sys/sim.h>

static void report(void *ctx, const char *check, grove_check_result result, const char *message) {
    (void)ctx;
    if (result != GROVE_CHECK_PASSED) {
        print_message("%s %s: %s\n", result == GROVE_CHECK_FAILED ? "FAILED" : "skipped", check,
                      message);
    }
}

static grove_status keep(void *ctx, const char *bytes, size_t len) {
    return grove_buf_append(ctx, bytes, len);
}

static void run_kit(grove_env *env, grove_backend *backend, grove_conformance_report *out) {
    grove_conformance_options o = {.size = sizeof o, .report = report};
    grove_error err = GROVE_ERROR_INIT;
    out->size = sizeof *out;
    grove_status st = grove_conformance_run(env, backend, &o, out, &err);
    if (st < 0) {
        print_message("%s\n", err.message);
    }
    assert_int_equal(st, GROVE_OK);
}

static void test_sim(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_backend b;
    grove_conformance_report r = {0};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sim_new(env, NULL, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &b, NULL), GROVE_OK);
    run_kit(env, &b, &r);
    print_message("%u passed, %u failed, %u skipped\n", r.passed, r.failed, r.skipped);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.skipped, 0);
    assert_true(r.passed >= 60);
    assert_int_equal(r.passed, grove_conformance_count());
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
    grove_env_unref(env);
}

/* What the kit did and saw, as a recording. */
static void record_kit(grove_env *env, uint64_t seed, grove_buf *out) {
    grove_sim *sim = NULL;
    grove_backend inner, b;
    grove_conformance_report r = {0};
    grove_sim_options o = {.size = sizeof o, .seed = seed};
    assert_int_equal(grove_sim_new(env, &o, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &inner, NULL), GROVE_OK);
    assert_int_equal(grove_backend_record(env, &inner, keep, out, &b, NULL), GROVE_OK);
    run_kit(env, &b, &r);
    assert_int_equal(r.failed, 0);
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
}

static void test_replay(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_buf first, second, stats;
    grove_backend b;
    grove_conformance_report r = {0};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_buf_init(&first, env);
    grove_buf_init(&second, env);
    grove_buf_init(&stats, env);
    record_kit(env, 7, &first);
    record_kit(env, 7, &second);
    assert_int_equal(first.len, second.len); /* same seed, same bytes */
    assert_memory_equal(first.data, second.data, (size_t)first.len);
    grove_buf_clear(&second);
    record_kit(env, 8, &second);
    assert_true(first.len != second.len || memcmp(first.data, second.data, (size_t)first.len) != 0);
    assert_int_equal(grove_backend_replay(env, first.data, (size_t)first.len, &b, NULL), GROVE_OK);
    run_kit(env, &b, &r);
    assert_int_equal(r.failed, 0);
    assert_int_equal(b.ops->control(b.impl, GROVE_CONTROL_STATS, &stats, NULL), GROVE_OK);
    assert_non_null(strstr(stats.data, "\"played\":true"));
    b.ops->destroy(b.impl);
    grove_buf_fini(&first);
    grove_buf_fini(&second);
    grove_buf_fini(&stats);
    grove_env_unref(env);
}

/* A fault decorator that never strikes is no hindrance. */
static void test_no_faults(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_backend inner, b;
    grove_conformance_report r = {0};
    grove_fault_options o = {.size = sizeof o};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sim_new(env, NULL, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &inner, NULL), GROVE_OK);
    assert_int_equal(grove_backend_fault(env, &inner, &o, &b, NULL), GROVE_OK);
    run_kit(env, &b, &r);
    assert_int_equal(r.failed, 0);
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
    grove_env_unref(env);
}

static void quiet(void *ctx, const char *check, grove_check_result result, const char *message) {
    uint32_t *lines = ctx;
    (void)check;
    assert_true(result == GROVE_CHECK_PASSED || message[0]);
    ++*lines;
}

/* The kit notices a backend that breaks its promises, and comes to an end. */
static void broken(grove_fault_options o, uint32_t at_least) {
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_backend inner, b;
    uint32_t lines = 0;
    grove_conformance_report r = {.size = sizeof r};
    grove_conformance_options k = {.size = sizeof k, .report = quiet, .report_ctx = &lines};
    o.size = (uint32_t)sizeof o;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sim_new(env, NULL, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &inner, NULL), GROVE_OK);
    assert_int_equal(grove_backend_fault(env, &inner, &o, &b, NULL), GROVE_OK);
    assert_int_equal(grove_conformance_run(env, &b, &k, &r, NULL), GROVE_OK);
    assert_true(r.failed >= at_least);
    assert_int_equal(lines, grove_conformance_count());
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
    grove_env_unref(env);
}

static void test_broken(void **state) {
    (void)state;
    broken((grove_fault_options){.lose_reply = 65536}, 60);
    broken((grove_fault_options){.lose_request = 65536}, 60);
    broken((grove_fault_options){.duplicate_event = 65536}, 3);
    broken((grove_fault_options){.gone = 65536}, 4);
    broken((grove_fault_options){.conflict = 65536}, 4);
}

static void test_filter(void **state) {
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_backend b;
    grove_conformance_report r = {.size = sizeof r};
    grove_conformance_options k = {.size = sizeof k, .filter = "watch-"};
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sim_new(env, NULL, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &b, NULL), GROVE_OK);
    b.caps = 0; /* what is not claimed is skipped, and counted */
    assert_int_equal(grove_conformance_run(env, &b, &k, &r, NULL), GROVE_OK);
    assert_int_equal(r.passed, 0);
    assert_true(r.skipped >= 9);
    assert_null(grove_conformance_name(grove_conformance_count()));
    b.ops->destroy(b.impl);
    grove_sim_free(sim);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sim),       cmocka_unit_test(test_replay),
        cmocka_unit_test(test_no_faults), cmocka_unit_test(test_broken),
        cmocka_unit_test(test_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
