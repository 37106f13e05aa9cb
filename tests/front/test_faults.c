/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of faults without sockets: which requests they hit, and what memory failures do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "front/faults.h"
#include "support/oom.h"

#define CORE "/api/v1/namespaces/n"

static grove_status read_script(grove_env *env, const char *text, gv_faults **out) {
    return gv_faults_new(env, text, strlen(text), out, NULL);
}

/* Whether a fault of this path and verb hits a request. */
static bool hits(grove_env *env, const char *path, const char *verb, const char *method,
                 const char *target) {
    char text[300];
    gv_faults *faults = NULL;
    gv_fault_plan plan;
    gv_front_request request = {method, target, NULL, NULL, "", 0};
    (void)snprintf(text, sizeof text, "faults: [{do: drop, path: \"%s\", verb: %s}]", path, verb);
    assert_int_equal(read_script(env, text, &faults), GROVE_OK);
    gv_faults_request(faults, &request, &plan);
    gv_faults_free(faults);
    return plan.acts == GV_FAULT_DROP;
}

static void test_requests(void **state) {
    static const struct {
        const char *path, *verb, *method, *target;
        bool hit;
    } cases[] = {
        {"**", "get", "GET", CORE "/pods/a", true},
        {"**", "list", "GET", CORE "/pods/a", false},
        {"**", "list", "GET", CORE "/pods?limit=5", true},
        {"**", "list", "GET", CORE "/pods?watch=0", true},
        {"**", "watch", "GET", CORE "/pods?limit=5&watch=true", true},
        {"**", "watch", "GET", CORE "/pods?watch=1", true},
        {"**", "list", "GET", CORE "/pods?watch=1", false},
        {"**", "get", "GET", "/apis", true},
        {"**", "create", "POST", CORE "/pods/a/binding", true},
        {"**", "update", "PUT", CORE "/pods/a", true},
        {"**", "patch", "PATCH", CORE "/pods/a/status", true},
        {"**", "delete", "DELETE", CORE "/pods/a", true},
        {"**", "deletecollection", "DELETE", CORE "/pods", true},
        {"**", "delete", "DELETE", CORE "/pods", false},
        {"**", "[get, create]", "POST", CORE "/pods", true},
        {"/api/v1/namespaces/*/pods", "any", "GET", CORE "/pods?x=/a", true},
        {"/api/v1/namespaces/*/pods", "any", "GET", "/api/v1/namespaces/n/m/pods", false},
        {"/api/**/pods", "any", "GET", "/api/v1/namespaces/n/m/pods", true},
        {"**/pods", "any", "GET", CORE "/podsx", false},
        {"/api/v1/*", "any", "GET", "/api/v1/", true},
        {"/api/v1", "any", "GET", "/api/v1/pods", false},
        {"*", "any", "GET", "/", false},
    };
    grove_env *env = NULL;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool hit = hits(env, cases[i].path, cases[i].verb, cases[i].method, cases[i].target);
        assert_int_equal(hit, cases[i].hit);
    }
    grove_env_unref(env);
}

static void test_plans(void **state) {
    static const char script[] = "faults:\n"
                                 "- {do: cut, after: 7, how: reset}\n"
                                 "- {do: cut, after: 9}\n"
                                 "- {do: delay, atMostMilliseconds: 50}\n"
                                 "- {do: slow, bytesPerSecond: 100, nth: 2}\n"
                                 "- {do: certificate, certificate: expired, verb: connect}\n";
    grove_env *env = NULL;
    gv_faults *faults = NULL;
    gv_fault_plan plan;
    gv_front_request request = {"GET", CORE "/pods", NULL, NULL, "", 0};
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(read_script(env, script, &faults), GROVE_OK);
    assert_true(gv_faults_need_tls(faults));
    gv_faults_request(faults, &request, &plan);
    assert_int_equal(plan.acts, GV_FAULT_CUT | GV_FAULT_DELAY);
    assert_int_equal(plan.cut_after, 7); /* the first of its kind stands */
    assert_true(plan.reset);
    assert_int_equal(plan.delay_bound_ms, 50);
    assert_true(plan.delay_ms <= 50);
    gv_faults_request(faults, &request, &plan);
    assert_int_equal(plan.acts, GV_FAULT_CUT | GV_FAULT_DELAY | GV_FAULT_SLOW);
    gv_faults_connection(faults, &plan);
    assert_int_equal(plan.acts, GV_FAULT_CERTIFICATE);
    assert_int_equal(plan.certificate, GV_CERT_EXPIRED);
    gv_faults_request(NULL, &request, &plan);
    assert_int_equal(plan.acts, 0);
    gv_faults_free(faults);
    grove_env_unref(env);
}

/* ---- memory ---- */

static grove_status answer(grove_env *env, gv_faults *faults, const char *body) {
    gv_front_request request = {"GET", CORE "/pods?continue=5%3An/a", NULL, NULL, "", 0};
    gv_front_response response;
    gv_fault_plan plan;
    gv_front_response_init(&response, env);
    gv_faults_request(faults, &request, &plan);
    grove_status st = grove_buf_append(&response.body, body, strlen(body));
    st = st < 0 ? st : gv_faults_stale(faults, env, &request, &plan, &response);
    if (st == GROVE_OK && (plan.acts & GV_FAULT_STALE)) {
        assert_int_equal(response.body.len, 1);
        assert_memory_equal(response.body.data, "x", 1);
    }
    if (st == GROVE_OK && (plan.acts & GV_FAULT_ANSWER)) {
        st = gv_faults_answer(env, &plan, &request, &response);
        st = st < 0 ? st : grove_buf_append(&response.body, "", 1);
        if (st == GROVE_OK) {
            assert_non_null(strstr(response.body.data, "\"continue\":\"0:n/a\""));
        }
    }
    gv_front_response_fini(&response);
    return st;
}

static grove_status run(grove_env *env, void *ctx) {
    static const char script[] =
        "faults:\n"
        "- {do: stale, verb: list, nth: 2}\n"
        "- {do: answer, code: 410, reason: Expired, resumable: true, nth: 3}\n";
    gv_faults *faults = NULL;
    (void)ctx;
    grove_status st = read_script(env, script, &faults);
    st = st < 0 ? st : answer(env, faults, "x");
    st = st < 0 ? st : answer(env, faults, "yy");
    st = st < 0 ? st : answer(env, faults, "zzz");
    gv_faults_free(faults);
    return st;
}

static void test_memory(void **state) {
    (void)state;
    oom_loop("faults", run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_requests),
                                       cmocka_unit_test(test_plans), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
