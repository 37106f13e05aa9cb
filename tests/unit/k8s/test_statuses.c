/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every refusal that a real server was recorded with, as the answer to an operation of that form: status, whose
 * remedy, what may be tried again, and how often it was sent. tests/golden/k8s/statuses.tsv says what is expected.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/util.h>

#include "fake.h"
#include "support/files.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend b;
    grove_buf reply;
    const grove_node *rec;
    char retry_after[16];
    uint32_t told;
    grove_completion c;
    char reason[60], message[600];
} world;

static void answer(fake *f, const char *method, const char *url, const char *body,
                   fake_answer *out) {
    world *w = f->ctx;
    int64_t http = 0;
    (void)method;
    (void)url;
    (void)body;
    (void)grove_node_int64(grove_node_get(w->rec, "status"), &http);
    *out = (fake_answer){.http = (int32_t)http, .body = w->reply.data, .len = (size_t)w->reply.len};
    out->header = w->retry_after[0] ? "retry-after" : NULL;
    out->value = w->retry_after;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    world *w = ctx;
    w->told++;
    w->c = *c;
    (void)snprintf(w->reason, sizeof w->reason, "%s", c->reason);
    (void)snprintf(w->message, sizeof w->message, "%s", c->message);
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    return GROVE_OK;
}

/* ---- the recorded request as an operation ---- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static grove_verb verb_of(const char *method, const char *path, const char *type) {
    if (strcmp(method, "POST") == 0) {
        return ends_with(path, "/binding")    ? GROVE_VERB_BIND
               : ends_with(path, "/eviction") ? GROVE_VERB_EVICT
                                              : GROVE_VERB_CREATE;
    }
    if (strcmp(method, "PATCH") == 0) {
        return strstr(type, "apply-patch") ? GROVE_VERB_APPLY : GROVE_VERB_PATCH;
    }
    return strcmp(method, "PUT") == 0      ? GROVE_VERB_REPLACE
           : strcmp(method, "DELETE") == 0 ? GROVE_VERB_DELETE
                                           : GROVE_VERB_GET;
}

/* The preconditions that the body holds, wherever this form has them. */
static void take_preconditions(grove_op *op, const grove_node *body) {
    const grove_node *in = grove_node_get(body, "preconditions");
    in = in ? in : grove_node_get(body, "metadata");
    op->uid = gv_k8s_member(in, "uid");
    op->resource_version = op->verb == GROVE_VERB_CREATE ? NULL
                                                         : gv_k8s_member(in, "resourceVersion");
    if (op->patch_type != GROVE_PATCH_JSON) {
        return;
    }
    for (const grove_node *t = grove_node_first(body); t; t = grove_node_next(body, t)) {
        const char *path = gv_k8s_member(t, "path");
        if (path && strcmp(path, "/metadata/uid") == 0) {
            op->uid = gv_k8s_member(t, "value");
        }
    }
}

static grove_op op_of(const grove_node *rec) {
    const grove_node *request = grove_node_get(rec, "request");
    const char *type = gv_k8s_member(grove_node_get(request, "headers"), "Content-Type");
    type = type ? type : "";
    const grove_node *body = grove_node_get(request, "body");
    grove_op op = {.size = sizeof op, .token = 1, .kind = GROVE_KIND_CONFIGMAP};
    op.verb = verb_of(gv_k8s_member(request, "method"), gv_k8s_member(request, "path"), type);
    op.ns = "streams";
    op.name = "a";
    op.target = "node";
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    if (op.verb == GROVE_VERB_PATCH) {
        op.patch_type = strstr(type, "json-patch")  ? GROVE_PATCH_JSON
                        : strstr(type, "strategic") ? GROVE_PATCH_STRATEGIC
                                                    : GROVE_PATCH_MERGE;
    }
    take_preconditions(&op, body);
    return op;
}

/* ---- a row ---- */

typedef struct row {
    char http[8], name[120], status[32], category[16], flags[8];
    unsigned requests;
} row;

static const char *word_of(grove_category category) {
    static const char *const words[] = {
        [GROVE_CATEGORY_CALLER] = "caller",     [GROVE_CATEGORY_INPUT] = "input",
        [GROVE_CATEGORY_RESOURCE] = "resource", [GROVE_CATEGORY_REMOTE] = "remote",
        [GROVE_CATEGORY_BUG] = "bug",
    };
    return category > 0 && category <= GROVE_CATEGORY_BUG ? words[category] : "none";
}

static void run(world *w, const grove_node *rec) {
    const grove_node *body = grove_node_get(rec, "response");
    const char *text = grove_node_type(body) == GROVE_STRING ? grove_node_text(body) : NULL;
    const char *after = gv_k8s_member(grove_node_get(rec, "headers"), "Retry-After");
    grove_doc *doc = NULL;
    int64_t now = START, deadline = START;
    grove_sink sink = {(uint32_t)sizeof sink, 0, w, on_completion, on_event};
    w->rec = rec;
    (void)snprintf(w->retry_after, sizeof w->retry_after, "%s", after ? after : "");
    grove_buf_init(&w->reply, w->env);
    assert_int_equal(text ? gv_k8s_put(&w->reply, text)
                          : grove_node_write_json(body, 0, &w->reply, NULL),
                     GROVE_OK);
    w->f = (fake){.answer = answer, .ctx = w, .seed = 3};
    assert_int_equal(fake_backend(w->env, &w->f, NULL, NULL, &w->b), GROVE_OK);
    grove_op op = op_of(rec);
    const char *of_body = op.patch_type == GROVE_PATCH_JSON ? "[]" : "{}";
    assert_int_equal(grove_doc_parse_json(w->env, of_body, 2, 0, &doc, NULL), GROVE_OK);
    op.body_doc = doc;
    w->told = 0;
    assert_int_equal(w->b.ops->submit(w->b.impl, &op, NULL), GROVE_OK);
    for (int i = 0; i < 2000 && w->told == 0; i++) {
        assert_int_equal(w->b.ops->process(w->b.impl, now, 0, &sink, &deadline, NULL), GROVE_OK);
        now = deadline > now && deadline < INT64_MAX ? deadline : now;
    }
    assert_int_equal(w->told, 1);
    w->b.ops->destroy(w->b.impl);
    grove_buf_fini(&w->reply);
    grove_doc_unref(doc);
}

static void check(world *w, const grove_node *rec, const row *want) {
    grove_error err = GROVE_ERROR_INIT;
    const char *name = gv_k8s_member(rec, "name");
    const grove_node *body = grove_node_get(rec, "response");
    const char *reason = gv_k8s_member(body, "reason"), *message = gv_k8s_member(body, "message");
    assert_string_equal(name, want->name);
    run(w, rec);
    (void)grove_error_set(&err, w->c.status, "");
    char flags[8];
    (void)snprintf(flags, sizeof flags, "%s%s", w->c.flags & GROVE_ERROR_RETRIABLE ? "R" : "",
                   w->c.flags & GROVE_ERROR_UNCERTAIN ? "U" : "");
    if (strcmp(grove_status_name(w->c.status) + 8, want->status) != 0 ||
        strcmp(word_of(err.category), want->category) != 0 ||
        strcmp(flags[0] ? flags : "-", want->flags) != 0 || w->f.n_sent != want->requests) {
        fail_msg("%s: %s %s %s, %u requests", name, grove_status_name(w->c.status),
                 word_of(err.category), flags, w->f.n_sent);
    }
    assert_int_equal(w->c.http, atoi(want->http));
    if (reason) { /* the server's words: one line of them */
        size_t line = strcspn(message, "\n");
        assert_string_equal(w->reason, reason);
        if (strncmp(w->message, message, line < 60 ? line : 60) != 0) {
            fail_msg("%s: %s", name, w->message);
        }
    }
}

/* ---- all of them ---- */

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static bool read_row(const char **at, row *out) {
    while (**at == '#') {
        *at = next_line(*at);
    }
    int n = sscanf(*at, "%7[^\t]\t%119[^\t]\t%31[^\t]\t%15[^\t]\t%7[^\t]\t%u", out->http, out->name,
                   out->status, out->category, out->flags, &out->requests);
    *at = next_line(*at);
    return n == 6;
}

static void every_refusal(void **state) {
    (void)state;
    static const char *const files[] = {"tests/golden/k8s/errors.jsonl",
                                        "tests/golden/k8s/refused.jsonl"};
    char *table = test_read("tests/golden/k8s/statuses.tsv", NULL);
    const char *at = table;
    row want;
    uint32_t n = 0;
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    for (int i = 0; i < 2; i++) {
        char *text = test_read(files[i], NULL);
        for (const char *line = text; *line; line = next_line(line)) {
            grove_doc *doc = NULL;
            int64_t http = 0;
            assert_int_equal(
                grove_doc_parse_json(w->env, line, (size_t)(next_line(line) - line), 0, &doc, NULL),
                GROVE_OK);
            (void)grove_node_int64(grove_node_get(grove_doc_root(doc), "status"), &http);
            if (http >= 300) {
                assert_true(read_row(&at, &want));
                check(w, grove_doc_root(doc), &want);
                n++;
            }
            grove_doc_unref(doc);
        }
        free(text);
    }
    assert_false(read_row(&at, &want)); /* no row is left */
    assert_true(n > 100);
    grove_env_unref(w->env);
    free(w);
    free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_refusal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
