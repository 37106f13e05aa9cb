/* SPDX-License-Identifier: Apache-2.0 */
/* Every error that a real server was brought to give, and what becomes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "k8s/answer.h"
#include "k8s/text.h"
#include "support/files.h"

/* What the name of a recording begins with decides, but for what is marked by its reason. */
static grove_status expected(int http, const char *reason) {
    static const struct {
        int http;
        grove_status status;
    } rows[] = {{400, GROVE_E_REFUSED},     {401, GROVE_E_AUTH},        {403, GROVE_E_FORBIDDEN},
                {404, GROVE_E_NOT_FOUND},   {405, GROVE_E_UNSUPPORTED}, {406, GROVE_E_UNSUPPORTED},
                {409, GROVE_E_CONFLICT},    {410, GROVE_E_GONE},        {413, GROVE_E_REFUSED},
                {415, GROVE_E_UNSUPPORTED}, {422, GROVE_E_REFUSED},     {500, GROVE_E_UNAVAILABLE},
                {504, GROVE_E_UNAVAILABLE}};
    if (reason && strcmp(reason, "AlreadyExists") == 0) {
        return GROVE_E_EXISTS;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].http == http) {
            return rows[i].status;
        }
    }
    return GROVE_OK;
}

static void check_recording(const grove_node *rec) {
    int64_t http = 0;
    const grove_node *body = grove_node_get(rec, "response");
    const char *method = gv_k8s_member(grove_node_get(rec, "request"), "method");
    const char *after = gv_k8s_member(grove_node_get(rec, "headers"), "Retry-After");
    assert_int_equal(grove_node_int64(grove_node_get(rec, "status"), &http), GROVE_OK);
    bool is_text = grove_node_type(body) == GROVE_STRING;
    gv_k8s_outcome o = {.how = GV_K8S_END_ANSWERED,
                        .http = (int32_t)http,
                        .retry_after_ms = after ? (uint32_t)atoi(after) * 1000 : 0,
                        .is_write = strcmp(method, "GET") != 0,
                        .is_create = strcmp(method, "POST") == 0,
                        .body = is_text ? NULL : body,
                        .text = is_text ? grove_node_text(body) : NULL};
    gv_k8s_verdict v;
    gv_k8s_judge(&o, &v);
    const char *reason = is_text ? NULL : gv_k8s_member(body, "reason");
    grove_status want = http < 300 ? GROVE_OK : expected((int)http, reason);
    if (v.status != want) {
        print_message("%s: %d\n", gv_k8s_member(rec, "name"), v.status);
    }
    assert_int_equal(v.status, want);
    if (reason) {
        assert_string_equal(v.reason, reason);
    }
    if (http == 504) {
        assert_int_equal(v.retry_after_ms, 1000);
        assert_int_equal(v.flags, GROVE_ERROR_RETRIABLE); /* a read is never uncertain */
    }
    if (http == 500) {
        assert_int_equal(v.flags, GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN);
    }
    assert_null(strchr(v.message, '\n'));
}

static void recordings(void **state) {
    (void)state;
    size_t len = 0;
    char *text = test_read("tests/golden/k8s/errors.jsonl", &len);
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    size_t n = 0;
    for (char *line = text; line < text + len; n++) {
        char *end = memchr(line, '\n', (size_t)(text + len - line));
        end = end ? end : text + len;
        grove_doc *doc = NULL;
        assert_int_equal(grove_doc_parse_json(env, line, (size_t)(end - line), 0, &doc, NULL),
                         GROVE_OK);
        check_recording(grove_doc_root(doc));
        grove_doc_unref(doc);
        line = end + 1;
    }
    assert_true(n > 60);
    grove_env_unref(env);
    free(text);
}

static void without_status(void **state) {
    (void)state;
    static const struct {
        gv_k8s_end how;
        int32_t http;
        bool write, create;
        grove_status status;
        uint32_t flags;
    } cases[] = {
        {GV_K8S_END_ANSWERED, 409, true, true, GROVE_E_EXISTS, 0},
        {GV_K8S_END_ANSWERED, 409, true, false, GROVE_E_CONFLICT, 0},
        {GV_K8S_END_ANSWERED, 429, true, false, GROVE_E_BUSY, GROVE_ERROR_RETRIABLE},
        {GV_K8S_END_ANSWERED, 502, true, false, GROVE_E_UNAVAILABLE,
         GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN},
        {GV_K8S_END_ANSWERED, 200, true, false, GROVE_E_UNAVAILABLE, /* a proxy's page */
         GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN},
        {GV_K8S_END_LOST, 0, true, true, GROVE_E_UNAVAILABLE,
         GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN},
        {GV_K8S_END_LOST, 0, false, false, GROVE_E_UNAVAILABLE, GROVE_ERROR_RETRIABLE},
        {GV_K8S_END_UNSENT, 0, true, true, GROVE_E_UNAVAILABLE, GROVE_ERROR_RETRIABLE},
        {GV_K8S_END_TIMEOUT, 0, true, true, GROVE_E_TIMEOUT,
         GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN},
        {GV_K8S_END_UNUSABLE, 0, true, true, GROVE_E_IO, 0},
        {GV_K8S_END_ANSWERED, 418, true, true, GROVE_E_REFUSED, 0},
        {GV_K8S_END_ANSWERED, 302, false, false, GROVE_E_UNAVAILABLE, GROVE_ERROR_RETRIABLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gv_k8s_outcome o = {.how = cases[i].how,
                            .http = cases[i].http,
                            .is_write = cases[i].write,
                            .is_create = cases[i].create,
                            .text = "<html>"};
        gv_k8s_verdict v;
        gv_k8s_judge(&o, &v);
        assert_int_equal(v.status, cases[i].status);
        assert_int_equal(v.flags, cases[i].flags);
        assert_true(v.message[0] != '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings),
        cmocka_unit_test(without_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
