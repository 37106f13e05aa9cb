/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials go where they belong and nowhere else: each form into its header over TLS, none without; and
 * everything that is printed while requests fail in every way (log, messages, statistics, a recording) holds neither
 * a credential nor a value of a Secret.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)
#define SECRET "hunter2" /* every secret of this file holds it */

static void write_config(char *out, size_t cap, const char *server, const char *user) {
    (void)snprintf(out, cap,
                   "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"%s\",\"proxy-url\":"
                   "\"http://u:" SECRET
                   "@127.0.0.1:1\"}}],\"users\":[{\"name\":\"u\",\"user\":{%s}}],"
                   "\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\",\"user\":\"u\"}}],"
                   "\"current-context\":\"x\"}",
                   server, user);
}

/* ---- everything that is printed ---- */

typedef struct printed {
    grove_env *plain; /* whose memory holds it */
    grove_buf all;
    uint32_t logged, told;
} printed;

static void print(printed *p, const char *text) {
    assert_int_equal(gv_k8s_put(&p->all, text ? text : ""), GROVE_OK);
    assert_int_equal(gv_k8s_put(&p->all, "\n"), GROVE_OK);
}

static void on_log(void *ctx, const grove_log_record *r) {
    printed *p = ctx;
    p->logged++;
    print(p, r->message);
    for (uint32_t i = 0; i < r->n_fields; i++) {
        print(p, r->fields[i].key);
        print(p, r->fields[i].value);
    }
}

static grove_status on_recorded(void *ctx, const char *bytes, size_t len) {
    return grove_buf_append(&((printed *)ctx)->all, bytes, len);
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    printed *p = ctx;
    p->told++;
    print(p, c->reason);
    print(p, c->message);
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    return GROVE_OK;
}

/* ---- headers ---- */

static void no_answer(fake *f, const char *method, const char *url, const char *body,
                      fake_answer *out) {
    (void)f;
    (void)method;
    (void)url;
    (void)body;
    *out = (fake_answer){.http = 404, .body = "", .len = 0};
}

static void submit(grove_env *env, grove_backend *b, grove_verb verb, uint64_t token) {
    static const char text[] = "{\"metadata\":{\"name\":\"s\"},\"data\":{\"k\":\"" SECRET
                               "\"},\"stringData\":{\"k\":\"" SECRET "\"}}";
    grove_op op = {.size = sizeof op, .verb = verb, .kind = GROVE_KIND_SECRET, .token = token};
    op.ns = "n";
    op.name = "s";
    op.patch_type = verb == GROVE_VERB_PATCH ? GROVE_PATCH_MERGE : 0;
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    assert_int_equal(grove_doc_parse_json(env, text, sizeof text - 1, 0, &op.body_doc, NULL),
                     GROVE_OK);
    assert_int_equal(b->ops->submit(b->impl, &op, NULL), GROVE_OK);
    grove_doc_unref(op.body_doc);
}

static void forms(void **state) {
    (void)state;
    static const struct {
        const char *server, *user, *header;
    } cases[] = {
        {"https://h", "\"token\":\"t-" SECRET "\"", "Authorization: Bearer t-" SECRET "\n"},
        {"https://h", "\"username\":\"jo\",\"password\":\"" SECRET "\"",
         "Authorization: Basic am86aHVudGVyMg==\n"},
        {"https://h", "\"username\":\"jo\"", "Authorization: Basic am86\n"},
        {"http://h", "\"token\":\"t-" SECRET "\"", NULL},
        {"http://h", "\"username\":\"jo\",\"password\":\"" SECRET "\"", NULL},
        {"https://h", "\"token\":\"t\",\"as\":\"al\",\"as-uid\":\"u1\",\"as-groups\":[\"g\"]",
         "Impersonate-User: al\nImpersonate-Uid: u1\nImpersonate-Group: g\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grove_env *env = NULL;
        grove_backend b;
        char config[900];
        printed p = {0};
        grove_sink sink = {(uint32_t)sizeof sink, 0, &p, on_completion, on_event};
        fake *f = calloc(1, sizeof *f);
        int64_t deadline = 0;
        assert_non_null(f);
        f->answer = no_answer;
        assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
        grove_buf_init(&p.all, env);
        write_config(config, sizeof config, cases[i].server, cases[i].user);
        assert_int_equal(fake_backend(env, f, config, NULL, &b), GROVE_OK);
        submit(env, &b, GROVE_VERB_GET, 1);
        assert_int_equal(b.ops->process(b.impl, START, 0, &sink, &deadline, NULL), GROVE_OK);
        assert_int_equal(f->n_sent, 1);
        if (cases[i].header) {
            assert_non_null(strstr(f->headers[0], cases[i].header));
        } else {
            assert_null(strstr(f->headers[0], "Authorization"));
        }
        b.ops->destroy(b.impl);
        grove_buf_fini(&p.all);
        grove_env_unref(env);
        free(f);
    }
}

/* A header that could not be written would be left out, and another identity would act. */
static void more_than_a_line(void **state) {
    (void)state;
    static const struct {
        const char *user, *why;
    } cases[] = {
        {"\"as\":\"a\\nb\"", "must be one line"},
        {"\"as\":\"a\",\"as-uid\":\"a\\rb\"", "must be one line"},
        {"\"as\":\"a\",\"as-groups\":[\"g\",\"a\\nb\"]", "must be one line"},
        {"\"as\":\"a\",\"as-user-extra\":{\"k\":[\"a\\nb\"]}", "must be one line"},
        {"\"token\":\"" SECRET "\\nb\"", "a token must be one line"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        grove_env *env = NULL;
        grove_backend b = {0};
        grove_error err = GROVE_ERROR_INIT;
        char config[900];
        assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
        write_config(config, sizeof config, "https://h", cases[i].user);
        grove_k8s_options o = {.size = sizeof o, .kubeconfig_bytes = config};
        o.kubeconfig_len = strlen(config);
        assert_int_equal(grove_k8s_backend(env, &o, &b, &err), GROVE_E_INVALID);
        assert_non_null(strstr(err.message, cases[i].why));
        assert_null(strstr(err.message, SECRET));
        grove_env_unref(env);
    }
}

/* ---- failures ---- */

static void badly(fake *f, const char *method, const char *url, const char *body,
                  fake_answer *out) {
    static const fake_answer answers[] = {
        {.how = GV_K8S_END_UNSENT},
        {.how = GV_K8S_END_LOST},
        {.how = GV_K8S_END_TIMEOUT},
        {.how = GV_K8S_END_UNUSABLE},
        {.http = 401, .body = "{\"kind\":\"Status\",\"code\":401}", .len = 28},
        {.http = 403},
        {.http = 429, .header = "warning", .value = "299 - \"slow down\""},
        {.http = 500, .body = "<html>", .len = 6},
        {.http = 200, .body = "<html>", .len = 6},
        {.http = 410},
    };
    (void)method;
    (void)url;
    (void)body;
    *out = answers[f->n_sent % (sizeof answers / sizeof *answers)];
    out->body = out->body ? out->body : "";
}

static void nothing_is_printed(void **state) {
    (void)state;
    static const char *const users[] = {"\"token\":\"" SECRET "\"",
                                        "\"username\":\"jo\",\"password\":\"" SECRET "\"",
                                        "\"token\":\"" SECRET "\",\"as\":\"jo\""};
    for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
        printed p = {0};
        grove_env *env = NULL;
        grove_backend inner, b;
        char config[900];
        fake *f = calloc(1, sizeof *f);
        assert_non_null(f);
        assert_int_equal(grove_env_new(NULL, &p.plain), GROVE_OK);
        grove_buf_init(&p.all, p.plain);
        grove_env_options eo = {.size = sizeof eo, .log = on_log, .log_ctx = &p};
        eo.log_level = GROVE_LOG_DEBUG;
        assert_int_equal(grove_env_new(&eo, &env), GROVE_OK);
        f->answer = badly;
        write_config(config, sizeof config, "https://h", users[i]);
        assert_int_equal(fake_backend(env, f, config, NULL, &inner), GROVE_OK);
        assert_int_equal(grove_backend_record(env, &inner, on_recorded, &p, &b, NULL), GROVE_OK);
        static const grove_verb verbs[] = {GROVE_VERB_GET, GROVE_VERB_CREATE, GROVE_VERB_PATCH,
                                           GROVE_VERB_REPLACE, GROVE_VERB_DELETE};
        grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_SECRET, .token = 1000};
        assert_int_equal(b.ops->watch(b.impl, &g, NULL), GROVE_OK);
        for (uint64_t k = 0; k < 50; k++) {
            submit(env, &b, verbs[k % 5], k + 1);
        }
        grove_sink sink = {(uint32_t)sizeof sink, 0, &p, on_completion, on_event};
        int64_t now = START, deadline = 0;
        for (int turn = 0; turn < 3000 && p.told < 50; turn++) {
            assert_int_equal(b.ops->process(b.impl, now, 0, &sink, &deadline, NULL), GROVE_OK);
            now = deadline > now && deadline < INT64_MAX ? deadline : now + SECOND;
        }
        assert_int_equal(b.ops->control(b.impl, GROVE_CONTROL_STATS, &p.all, NULL), GROVE_OK);
        assert_int_equal(p.told, 50);
        assert_true(p.logged > 3);
        assert_non_null(strstr(p.all.data, "slow down")); /* it is a log that says something */
        assert_non_null(strstr(p.all.data, "\"data\":{\"k\":\"\"}"));
        assert_null(strstr(p.all.data, SECRET));
        assert_null(strstr(p.all.data, "am86")); /* as Basic has it */
        b.ops->destroy(b.impl);
        grove_env_unref(env);
        grove_buf_fini(&p.all);
        grove_env_unref(p.plain);
        free(f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(more_than_a_line),
                                       cmocka_unit_test(nothing_is_printed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
