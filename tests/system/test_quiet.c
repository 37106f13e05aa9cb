/* SPDX-License-Identifier: Apache-2.0 */
/* What a set costs in requests, and which statuses wait for the engine's quiet time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <grove/kinds.h>

#include "world.h"

#define MS INT64_C(1000000)
#define QUIET (500 * MS)
#define PODS 10

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

/* ---- requests, counted where engine and cluster meet ---- */

typedef struct counted {
    uint32_t by_verb[GROVE_VERB_COUNT];
    uint32_t status[GROVE_KIND_COUNT]; /* patches of a status, by kind */
    uint32_t all;                      /* without events and binds */
    uint32_t when_released;            /* of these, until the last gate was taken off */
    grove_backend inner;
    grove_backend_ops ops; /* the inner ones but for submit */
} counted;

static counted requests;

static grove_status count_submit(void *impl, const grove_op *op, grove_error *err) {
    requests.by_verb[op->verb]++;
    requests.all += op->verb != GROVE_VERB_EVENT && op->verb != GROVE_VERB_BIND;
    if (op->verb == GROVE_VERB_PATCH && op->kind == GROVE_KIND_POD) {
        requests.when_released = requests.all; /* so far: the last gate counts */
    }
    if (op->verb == GROVE_VERB_PATCH && op->subresource == GROVE_SUBRESOURCE_STATUS) {
        requests.status[op->kind]++;
    }
    return requests.inner.ops->submit(impl, op, err);
}

static grove_status count(void *ctx, grove_env *e, grove_backend *backend, grove_error *err) {
    (void)ctx;
    (void)e;
    (void)err;
    requests = (counted){.inner = *backend, .ops = *backend->ops};
    requests.ops.submit = count_submit;
    backend->ops = &requests.ops;
    return GROVE_OK;
}

static void begin(world *w, int64_t quiet, const char *set) {
    world_start(w, env,
                (cluster_options){.status_quiet_ns = quiet, .wrap = count, .nodes = "4x4x4x8"});
    world_apply(w, set);
    world_settle(w);
}

/* ---- statuses that wait ---- */

static const char one_clique[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
    "\"spec\":{\"replicas\":1,\"template\":{\"terminationDelay\":\"1h\",\"cliques\":["
    "{\"name\":\"work\",\"spec\":{\"roleName\":\"work\",\"replicas\":10,\"minAvailable\":2,"
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\"}]}}}]}}}";

/* Sets the Ready condition of the i-th pod, as a kubelet would. */
static void set_ready(world *w, uint32_t i, const char *status) {
    char name[128], text[320];
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *body = NULL;
    assert_true(world_pod_name(w, NULL, i, name, sizeof name));
    snprintf(text, sizeof text,
             "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\"},"
             "{\"type\":\"Ready\",\"status\":\"%s\"}],\"containerStatuses\":[{\"name\":\"c\","
             "\"started\":true,\"ready\":%s}]}}",
             status, strcmp(status, "True") == 0 ? "true" : "false");
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &body, &err), GROVE_OK);
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_PATCH,
                   .token = 1,
                   .kind = GROVE_KIND_POD,
                   .subresource = GROVE_SUBRESOURCE_STATUS,
                   .patch_type = GROVE_PATCH_MERGE,
                   .ns = "default",
                   .name = name,
                   .body_doc = body};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    assert_int_equal(grove_sim_execute(w->c->sim, &op, &result), GROVE_OK);
    assert_int_equal(result.status, GROVE_OK);
    grove_doc_unref(result.doc);
    grove_doc_unref(body);
}

static int64_t ready_told(world *w) {
    return world_number(w, GROVE_KIND_PODCLIQUE, "s-0-work", "/status/readyReplicas");
}

/* Pods that go one by one, 20 ms apart; returns how many statuses of the clique were written. */
static uint32_t lose_one_by_one(world *w, uint32_t from, uint32_t to) {
    uint32_t before = requests.status[GROVE_KIND_PODCLIQUE];
    for (uint32_t i = from; i < to; i++) {
        set_ready(w, i, "False");
        world_run(w, 20 * MS);
    }
    return requests.status[GROVE_KIND_PODCLIQUE] - before;
}

static void test_without_quiet_every_step_is_written(void **state) {
    world w;
    (void)state;
    begin(&w, 0, one_clique);
    assert_int_equal(lose_one_by_one(&w, 0, 6), 6);
    assert_int_equal(ready_told(&w), 4);
    world_end(&w);
}

/* The step away from all is told at once; those that follow, once in the quiet time, with the last number. */
static void test_counters_wait_and_are_written_once(void **state) {
    world w;
    (void)state;
    begin(&w, QUIET, one_clique);
    assert_int_equal(ready_told(&w), PODS);
    assert_int_equal(lose_one_by_one(&w, 0, 1), 1);
    assert_int_equal(ready_told(&w), PODS - 1);
    assert_int_equal(lose_one_by_one(&w, 1, 6), 0);
    assert_int_equal(ready_told(&w), PODS - 1);
    assert_false(grove_engine_is_idle(w.c->engine));
    uint32_t before = requests.all;
    world_run(&w, QUIET);
    assert_int_equal(ready_told(&w), 4);
    assert_int_equal(requests.all - before, 1);
    world_settle(&w);
    assert_int_equal(requests.all - before, 1);
    world_check_rest(&w);
    world_end(&w);
}

/* Changes that never end do not put a write off for ever. */
static void test_the_wait_is_bounded(void **state) {
    world w;
    (void)state;
    begin(&w, QUIET, one_clique);
    (void)lose_one_by_one(&w, 0, 1);
    uint32_t before = requests.status[GROVE_KIND_PODCLIQUE];
    for (uint32_t i = 0; i < 100; i++) { /* two seconds */
        set_ready(&w, 1 + i % 3, i / 3 % 2 ? "True" : "False");
        world_run(&w, 20 * MS);
    }
    uint32_t written = requests.status[GROVE_KIND_PODCLIQUE] - before;
    assert_in_range(written, 2, 4);
    world_end(&w);
}

/* A condition that changes takes the waiting counters with it, at once. */
static void test_conditions_never_wait(void **state) {
    world w;
    char text[32];
    (void)state;
    begin(&w, QUIET, one_clique);
    (void)lose_one_by_one(&w, 0, 5);
    assert_int_equal(ready_told(&w), PODS - 1);
    const char *at = "/status/conditions/0/status";
    world_scale(&w, GROVE_KIND_PODCLIQUE, "s-0-work", 1); /* ScaleBelowMinAvailable appears */
    world_run(&w, 1 * MS);
    assert_string_equal(world_text(&w, GROVE_KIND_PODCLIQUE, "s-0-work", at, text, sizeof text),
                        "True");
    assert_true(ready_told(&w) < PODS - 1);
    world_settle(&w);
    world_check_rest(&w);
    world_end(&w);
}

static const char *breach_told(world *w, char *text, size_t cap) {
    return world_text(w, GROVE_KIND_PODCLIQUE, "s-0-work", "/status/conditions/1/status", text,
                      cap);
}

/* Pods between start and readiness are a breach for a moment, which is told when it stays. */
static void test_a_breach_of_a_moment_is_not_told(void **state) {
    world w;
    char text[32];
    (void)state;
    begin(&w, QUIET, one_clique);
    (void)lose_one_by_one(&w, 0, 1);
    assert_string_equal(breach_told(&w, text, sizeof text), "False");
    assert_int_equal(lose_one_by_one(&w, 1, PODS - 1), 0);
    for (uint32_t i = 0; i < 4; i++) {
        set_ready(&w, i, "True");
    }
    uint32_t before = requests.status[GROVE_KIND_PODCLIQUE];
    world_settle(&w);
    assert_int_equal(requests.status[GROVE_KIND_PODCLIQUE] - before, 1);
    assert_string_equal(breach_told(&w, text, sizeof text), "False");
    assert_int_equal(ready_told(&w), 5);
    (void)lose_one_by_one(&w, 0, 4);
    assert_string_equal(breach_told(&w, text, sizeof text), "False");
    world_run(&w, QUIET);
    assert_string_equal(breach_told(&w, text, sizeof text), "True");
    world_check_rest(&w);
    world_end(&w);
}

/* ---- what a set costs ---- */

#define CLIQUE(name, pods)                                                              \
    "{\"name\":\"" name "\",\"spec\":{\"roleName\":\"" name "\",\"replicas\":" pods "," \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\"}]}}}"
#define SET(replicas, rest)                                                         \
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":" \
    "{\"name\":\"big\"},\"spec\":{\"replicas\":" replicas ",\"template\":{" rest "}}}"

/* Both shapes of a set of a thousand pods, at a fifth. A pod costs a create and its gate, its clique and gang
 * a create each, and the gang its members; what is left of the budget is for statuses. */
static void test_requests_a_pod(void **state) {
    static const struct {
        const char *name, *set;
        uint32_t pods, until_released, until_available;
    } shapes[] = {{"cliques", SET("20", "\"cliques\":[" CLIQUE("work", "10") "]"), 200, 500, 650},
                  {"groups",
                   SET("20", "\"cliques\":[" CLIQUE("route", "2") "," CLIQUE("pre", "1") "," CLIQUE(
                                 "dec", "3") "],\"podCliqueScalingGroups\":[{\"name\":\"cell\","
                                             "\"cliqueNames\":[\"pre\",\"dec\"],\"replicas\":2,"
                                             "\"minAvailable\":1}]"),
                   200, 1000, 1200}};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        world w;
        begin(&w, QUIET, shapes[i].set);
        assert_int_equal(world_ready_pods(&w, NULL), shapes[i].pods);
        print_message("%s: POST %u, PATCH %u (statuses of cliques %u, groups %u, gangs %u, sets "
                      "%u); %u until released, %u until available\n",
                      shapes[i].name, requests.by_verb[GROVE_VERB_CREATE],
                      requests.by_verb[GROVE_VERB_PATCH], requests.status[GROVE_KIND_PODCLIQUE],
                      requests.status[GROVE_KIND_PODCLIQUESCALINGGROUP],
                      requests.status[GROVE_KIND_PODGANG], requests.status[GROVE_KIND_PODCLIQUESET],
                      requests.when_released, requests.all);
        assert_true(requests.when_released <= shapes[i].until_released);
        assert_true(requests.all <= shapes[i].until_available);
        world_check_rest(&w);
        world_end(&w);
    }
}

int main(void) {
#define QUIETLY(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        QUIETLY(test_without_quiet_every_step_is_written),
        QUIETLY(test_counters_wait_and_are_written_once),
        QUIETLY(test_the_wait_is_bounded),
        QUIETLY(test_conditions_never_wait),
        QUIETLY(test_a_breach_of_a_moment_is_not_told),
        QUIETLY(test_requests_a_pod),
    };
    return cmocka_run_group_tests_name("system_quiet", tests, NULL, NULL);
}
