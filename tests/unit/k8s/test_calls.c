/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as requests, their order, and what is sent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/kinds.h>

#include "fake.h"
#include "support/oom.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)

typedef struct seen {
    uint32_t n;
    grove_completion c[64];
    uint64_t tokens[64];
} seen;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    seen *s = ctx;
    s->c[s->n % 64] = *c;
    s->n++;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    return GROVE_OK;
}

/* Until nothing is left to do at `now`. */
static int64_t look(grove_backend *b, int64_t now, seen *s) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, s, on_completion, on_event};
    int64_t deadline = 0;
    do {
        assert_int_equal(b->ops->process(b->impl, now, 0, &sink, &deadline, NULL), GROVE_OK);
    } while (deadline <= now);
    return deadline;
}

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend b;
    seen s;
    grove_doc *docs[32];
    uint32_t n_docs;
    uint64_t token;
    fake_answer script[16]; /* of the requests in order; the last one repeats */
    uint32_t n_script, at;
} world;

static const char object[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}";

static void scripted(fake *f, const char *method, const char *url, const char *body,
                     fake_answer *out) {
    world *w = f->ctx;
    (void)method;
    (void)url;
    (void)body;
    *out = (fake_answer){.http = 200, .body = object, .len = sizeof object - 1};
    if (w->n_script > 0) {
        *out = w->script[w->at < w->n_script ? w->at : w->n_script - 1];
        w->at++;
        if (!out->body) {
            out->body = object;
            out->len = sizeof object - 1;
        }
    }
}

static void open_in(world *w, const char *kubeconfig) {
    w->f.answer = scripted;
    w->f.ctx = w;
    w->f.piece = 1000;
    assert_int_equal(fake_backend(w->env, &w->f, kubeconfig, NULL, &w->b), GROVE_OK);
}

static void open_world(world *w, const char *kubeconfig) {
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    open_in(w, kubeconfig);
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    for (uint32_t i = 0; i < w->n_docs; i++) {
        grove_doc_unref(w->docs[i]);
    }
    grove_env_unref(w->env);
}

static grove_op op_of(world *w, grove_verb verb, grove_kind kind, const char *name,
                      const char *body) {
    grove_op op = {.size = sizeof op, .verb = verb, .kind = kind, .name = name, .ns = "n"};
    op.token = ++w->token;
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    if (body) {
        assert_int_equal(grove_doc_parse_json(w->env, body, strlen(body), 0, &op.body_doc, NULL),
                         GROVE_OK);
        w->docs[w->n_docs++] = op.body_doc;
    }
    return op;
}

static void submit(world *w, const grove_op *op) {
    assert_int_equal(w->b.ops->submit(w->b.impl, op, NULL), GROVE_OK);
}

/* ---- forms ---- */

static void expect(world *w, const grove_op *op, const char *request) {
    uint32_t n = w->f.n_sent;
    submit(w, op);
    (void)look(&w->b, START, &w->s);
    assert_int_equal(w->f.n_sent, n + 1);
    assert_string_equal(w->f.log[n % FAKE_REQUESTS], request);
}

static void reads_and_objects(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
    expect(&w, &op, "GET https://h/api/v1/namespaces/n/pods/a ");
    op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_NODE, "a", NULL);
    expect(&w, &op, "GET https://h/api/v1/nodes/a ");
    op = op_of(&w, GROVE_VERB_LIST, GROVE_KIND_PODCLIQUE, NULL, NULL);
    op.label_selector = "a=b,c!=d";
    op.limit = 3;
    op.position = "x/y";
    expect(&w, &op,
           "GET https://h/apis/grove.io/v1alpha1/namespaces/n/podcliques?labelSelector=a%3Db%2Cc%21"
           "%3Dd&limit=3&continue=x%2Fy ");
    op = op_of(&w, GROVE_VERB_CREATE, GROVE_KIND_CONFIGMAP, NULL,
               "{\"metadata\":{\"name\":\"m\"}}");
    op.flags = GROVE_OP_DRY_RUN;
    expect(&w, &op,
           "POST https://h/api/v1/namespaces/n/configmaps?fieldManager=libgrove&dryRun=All "
           "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\"}}");
    op = op_of(&w, GROVE_VERB_APPLY, GROVE_KIND_CONFIGMAP, "m", "{\"data\":{}}");
    op.manager = "me";
    op.flags = GROVE_OP_FORCE;
    expect(
        &w, &op,
        "PATCH https://h/api/v1/namespaces/n/configmaps/m?fieldManager=me&force=true "
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{},\"metadata\":{\"name\":\"m\"}}");
    op = op_of(&w, GROVE_VERB_REPLACE, GROVE_KIND_POD, "a",
               "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}");
    op.resource_version = "9";
    op.subresource = GROVE_SUBRESOURCE_STATUS;
    expect(
        &w, &op,
        "PUT https://h/api/v1/namespaces/n/pods/a/status?fieldManager=libgrove "
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":"
        "\"9\"}}");
    close_world(&w);
}

static void patches_and_pods(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    grove_op op = op_of(&w, GROVE_VERB_PATCH, GROVE_KIND_PODCLIQUE, "a",
                        "{\"spec\":{\"replicas\":0}}");
    op.patch_type = GROVE_PATCH_MERGE;
    op.uid = "u";
    expect(&w, &op,
           "PATCH https://h/apis/grove.io/v1alpha1/namespaces/n/podcliques/a?fieldManager=libgrove "
           "{\"spec\":{\"replicas\":0},\"metadata\":{\"uid\":\"u\"}}");
    op = op_of(&w, GROVE_VERB_PATCH, GROVE_KIND_POD, "a",
               "[{\"op\":\"remove\",\"path\":\"/spec/schedulingGates\"}]");
    op.patch_type = GROVE_PATCH_JSON;
    op.resource_version = "7";
    expect(&w, &op,
           "PATCH https://h/api/v1/namespaces/n/pods/a?fieldManager=libgrove [{\"op\":\"test\","
           "\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},{\"op\":\"remove\",\"path\":"
           "\"/spec/schedulingGates\"}]");
    op = op_of(&w, GROVE_VERB_DELETE, GROVE_KIND_POD, "a", NULL);
    op.uid = "u";
    op.grace_seconds = 0;
    op.propagation = GROVE_PROPAGATION_FOREGROUND;
    expect(&w, &op,
           "DELETE https://h/api/v1/namespaces/n/pods/a {\"apiVersion\":\"v1\",\"kind\":"
           "\"DeleteOptions\",\"propagationPolicy\":\"Foreground\",\"gracePeriodSeconds\":0,"
           "\"preconditions\":{\"uid\":\"u\"}}");
    op = op_of(&w, GROVE_VERB_BIND, GROVE_KIND_NONE, "a", NULL);
    op.target = "node-1";
    op.uid = "u";
    expect(
        &w, &op,
        "POST https://h/api/v1/namespaces/n/pods/a/binding?fieldManager=libgrove {\"apiVersion\":"
        "\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":"
        "\"u\"},"
        "\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"node-1\"}}");
    op = op_of(&w, GROVE_VERB_EVICT, GROVE_KIND_NONE, "a", NULL);
    expect(
        &w, &op,
        "POST https://h/api/v1/namespaces/n/pods/a/eviction {\"apiVersion\":\"policy/v1\",\"kind\":"
        "\"Eviction\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\"},\"deleteOptions\":{"
        "\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\"}}");
    op = op_of(&w, GROVE_VERB_SCALE, GROVE_KIND_PODCLIQUESET, "a", NULL);
    expect(&w, &op,
           "PATCH https://h/apis/grove.io/v1alpha1/namespaces/n/podcliquesets/a/scale?fieldManager="
           "libgrove {\"spec\":{\"replicas\":0}}");
    close_world(&w);
}

static void bad_operations(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    const char *const names[] = {NULL, "", ".", "..", "a/b", "a%2f"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, names[i], NULL);
        assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_E_INVALID);
    }
    grove_op op = op_of(&w, GROVE_VERB_PATCH, GROVE_KIND_POD, "a", "{}");
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_E_INVALID);
    op = op_of(&w, GROVE_VERB_CREATE, GROVE_KIND_POD, "a", NULL);
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_E_INVALID);
    op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_COUNT, "a", NULL);
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, NULL), GROVE_E_INVALID);
    assert_int_equal(w.f.n_sent, 0);
    close_world(&w);
}

/* ---- order ---- */

/* Writes of one object go one after the other, in order, whatever their class. */
static void one_write_an_object(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.script[0] = (fake_answer){.http = 200, .open = true};
    w.n_script = 1;
    grove_op op = op_of(&w, GROVE_VERB_CREATE, GROVE_KIND_CONFIGMAP, NULL,
                        "{\"metadata\":{\"name\":\"a\"}}");
    submit(&w, &op);
    op = op_of(&w, GROVE_VERB_DELETE, GROVE_KIND_CONFIGMAP, "a", NULL);
    submit(&w, &op);
    op = op_of(&w, GROVE_VERB_DELETE, GROVE_KIND_CONFIGMAP, "b", NULL);
    submit(&w, &op);
    op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_CONFIGMAP, "a", NULL);
    submit(&w, &op);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.f.n_sent, 3);
    assert_non_null(strstr(w.f.log[0], "DELETE https://h/api/v1/namespaces/n/configmaps/b"));
    assert_non_null(strstr(w.f.log[1], "GET "));
    assert_non_null(strstr(w.f.log[2], "POST "));
    for (int i = 0; i < 3; i++) { /* now they end */
        w.f.open[i].a.open = false;
    }
    w.script[0].open = false;
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.f.n_sent, 4);
    assert_non_null(strstr(w.f.log[3], "DELETE https://h/api/v1/namespaces/n/configmaps/a"));
    assert_int_equal(w.s.n, 4);
    close_world(&w);
}

/* A status patch whose version is `version`, NULL: of any. */
static uint64_t patch_status(world *w, const char *name, const char *version, const char *body) {
    grove_op op = op_of(w, GROVE_VERB_PATCH, GROVE_KIND_PODCLIQUE, name, body);
    op.subresource = GROVE_SUBRESOURCE_STATUS;
    op.patch_type = GROVE_PATCH_MERGE;
    op.resource_version = version;
    submit(w, &op);
    return op.token;
}

static void end_open(world *w) {
    w->script[0].open = false;
    for (int i = 0; i < FAKE_REQUESTS; i++) {
        w->f.open[i].a.open = false;
    }
    (void)look(&w->b, START, &w->s);
}

/* One status write of an object is on its way; those that come meanwhile go as one, and each is answered. */
static void status_writes_go_as_one(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.script[0] = (fake_answer){.http = 200, .open = true};
    w.n_script = 1;
    (void)patch_status(&w, "a", NULL, "{\"status\":{\"n\":1}}");
    (void)look(&w.b, START, &w.s);
    (void)patch_status(&w, "a", NULL,
                       "{\"status\":{\"n\":2,\"m\":{\"x\":1,\"y\":null},\"c\":[1]}}");
    (void)patch_status(&w, "a", NULL, "{\"status\":{\"n\":3,\"m\":{\"x\":null,\"z\":0}}}");
    uint64_t last = patch_status(&w, "a", NULL, "{\"status\":{\"c\":[2],\"d\":\"e\"}}");
    (void)patch_status(&w, "b", NULL, "{\"status\":{\"n\":7}}");
    assert_int_equal(w.b.ops->cancel(w.b.impl, last, NULL),
                     GROVE_OK); /* it is told what became of it */
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.f.n_sent, 2);
    assert_int_equal(w.s.n, 0);
    end_open(&w);
    assert_int_equal(w.f.n_sent, 3);
    assert_string_equal(
        w.f.log[2],
        "PATCH "
        "https://h/apis/grove.io/v1alpha1/namespaces/n/podcliques/a/status?fieldManager=libgrove "
        "{\"status\":{\"n\":3,\"m\":{\"x\":null,\"y\":null,\"z\":0},\"c\":[2],\"d\":\"e\"}}");
    assert_int_equal(w.s.n, 5);
    bool told[6] = {false};
    for (uint32_t i = 0; i < w.s.n; i++) {
        assert_int_equal(w.s.c[i].status, GROVE_OK);
        assert_false(told[w.s.c[i].token]);
        told[w.s.c[i].token] = true;
    }
    close_world(&w);
}

/* What one patch cannot say for two, and what holds for different states, stays apart and in order. */
static void status_writes_stay_apart(void **state) {
    static const struct {
        const char *first, *second, *first_version, *second_version;
    } rows[] = {
        {"{\"status\":{\"m\":null}}", "{\"status\":{\"m\":{\"x\":1}}}", NULL, NULL},
        {"{\"status\":{\"m\":[1]}}", "{\"status\":{\"m\":{\"x\":1}}}", NULL, NULL},
        {"{\"status\":{\"n\":1}}", "{\"status\":{\"n\":2}}", "5", "6"},
        {"{\"status\":{\"n\":1}}", "{\"status\":{\"n\":2}}", "5", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w = {0};
        open_world(&w, NULL);
        w.script[0] = (fake_answer){.http = 200, .open = true};
        w.n_script = 1;
        (void)patch_status(&w, "a", NULL, "{\"status\":{\"q\":1}}");
        (void)look(&w.b, START, &w.s);
        (void)patch_status(&w, "a", rows[i].first_version, rows[i].first);
        (void)patch_status(&w, "a", rows[i].second_version, rows[i].second);
        end_open(&w);
        assert_int_equal(w.f.n_sent, 3);
        assert_int_equal(w.s.n, 3);
        char said[100]; /* without the last brace: preconditions may follow */
        (void)snprintf(said, sizeof said, "%.*s", (int)strlen(rows[i].second) - 2,
                       rows[i].second + 1);
        assert_non_null(strstr(w.f.log[2], said));
        close_world(&w);
    }
}

/* The same preconditions: one write, which can still fail, for all. */
static void status_writes_fail_as_one(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.script[0] = (fake_answer){.http = 200, .open = true};
    w.script[1] = (fake_answer){
        .http = 409, .body = "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"code\":409}"};
    w.script[1].len = strlen(w.script[1].body);
    w.n_script = 2;
    (void)patch_status(&w, "a", NULL, "{\"status\":{\"q\":1}}");
    (void)look(&w.b, START, &w.s);
    (void)patch_status(&w, "a", "5", "{\"status\":{\"n\":1}}");
    (void)patch_status(&w, "a", "5", "{\"status\":{\"n\":2}}");
    end_open(&w);
    assert_int_equal(w.f.n_sent, 2);
    assert_int_equal(w.s.n, 3);
    assert_int_equal(w.s.c[1].status, GROVE_E_CONFLICT);
    assert_int_equal(w.s.c[2].status, GROVE_E_CONFLICT);
    assert_true(w.s.c[1].token != w.s.c[2].token);
    close_world(&w);
}

static void window_holds(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.script[0] = (fake_answer){.http = 200, .open = true};
    w.n_script = 1;
    for (int i = 0; i < 20; i++) {
        grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
        submit(&w, &op);
    }
    grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_LEASE, "l", NULL);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.f.n_sent, 8);
    submit(&w, &op);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.f.n_sent, 9); /* a lease does not wait */
    assert_non_null(strstr(w.f.log[8], "/leases/l"));
    close_world(&w);
}

static void cancelling(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.script[0] = (fake_answer){.http = 200, .open = true};
    w.n_script = 1;
    grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
    submit(&w, &op);
    assert_int_equal(w.b.ops->cancel(w.b.impl, op.token, NULL), GROVE_OK);
    assert_int_equal(w.s.n, 0);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.s.n, 1);
    assert_int_equal(w.s.c[0].status, GROVE_E_CANCELLED);
    assert_int_equal(w.f.n_sent, 0);
    op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
    submit(&w, &op);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.b.ops->cancel(w.b.impl, op.token, NULL), GROVE_OK);
    (void)look(&w.b, START, &w.s);
    assert_int_equal(w.s.n, 2);
    assert_int_equal(w.s.c[1].status, GROVE_E_CANCELLED);
    close_world(&w);
}

/* ---- what is sent again ---- */

static uint32_t run(world *w, const grove_op *op) {
    uint32_t before = w->f.n_sent, told = w->s.n;
    w->at = 0;
    submit(w, op);
    int64_t now = START;
    for (int i = 0; i < 50 && w->s.n == told; i++) {
        now = look(&w->b, now, &w->s);
    }
    assert_int_equal(w->s.n, told + 1);
    return w->f.n_sent - before;
}

static void retries(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.n_script = 2;
    w.script[1] = (fake_answer){.http = 200};
    grove_op get = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
    grove_op put = op_of(&w, GROVE_VERB_DELETE, GROVE_KIND_POD, "a", NULL);
    w.script[0] = (fake_answer){.how = GV_K8S_END_LOST, .http = 0};
    assert_int_equal(run(&w, &get), 2);
    put.token = 100;
    assert_int_equal(run(&w, &put), 1); /* it may have been done */
    assert_int_equal(w.s.c[1].status, GROVE_E_UNAVAILABLE);
    assert_int_equal(w.s.c[1].flags, GROVE_ERROR_RETRIABLE | GROVE_ERROR_UNCERTAIN);
    w.script[0] = (fake_answer){.how = GV_K8S_END_UNSENT};
    assert_int_equal(run(&w, &put), 2);
    w.script[0] = (fake_answer){.http = 429, .header = "retry-after", .value = "3"};
    assert_int_equal(run(&w, &put), 2);
    w.script[0] = (fake_answer){.http = 429};
    assert_int_equal(run(&w, &put), 1);
    assert_int_equal(w.s.c[w.s.n - 1].status, GROVE_E_BUSY);
    w.script[0] = (fake_answer){.http = 500};
    assert_int_equal(run(&w, &put), 1);
    w.script[0] = (fake_answer){.http = 401};
    assert_int_equal(run(&w, &get), 1); /* there is nothing to refresh */
    assert_int_equal(w.s.c[w.s.n - 1].status, GROVE_E_AUTH);
    w.n_script = 1;
    w.script[0] = (fake_answer){.how = GV_K8S_END_UNSENT};
    assert_in_range(run(&w, &put), 5, 10);
    assert_int_equal(w.s.c[w.s.n - 1].status, GROVE_E_UNAVAILABLE);
    assert_int_equal(w.s.c[w.s.n - 1].flags, GROVE_ERROR_RETRIABLE);
    close_world(&w);
}

static void waits_as_told(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    w.n_script = 2;
    w.script[0] = (fake_answer){.http = 429, .header = "retry-after", .value = "3"};
    w.script[1] = (fake_answer){.http = 200};
    grove_op op = op_of(&w, GROVE_VERB_DELETE, GROVE_KIND_POD, "a", NULL);
    submit(&w, &op);
    assert_int_equal(look(&w.b, START, &w.s), START + 3 * SECOND);
    assert_int_equal(w.s.n, 0);
    (void)look(&w.b, START + 3 * SECOND, &w.s);
    assert_int_equal(w.s.n, 1);
    assert_int_equal(w.s.c[0].status, GROVE_OK);
    close_world(&w);
}

/* ---- events ---- */

static void events_are_counted(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, NULL);
    grove_op op = op_of(&w, GROVE_VERB_EVENT, GROVE_KIND_POD, "a",
                        "{\"type\":\"Warning\",\"reason\":\"R\",\"note\":\"n\"}");
    op.uid = "u";
    assert_int_equal(run(&w, &op), 1);
    assert_non_null(
        strstr(w.f.log[0], "POST https://h/apis/events.k8s.io/v1/namespaces/n/events?"));
    assert_non_null(strstr(w.f.log[0], "{\"eventTime\":\"2027-01-15T08:00:00.000000Z\","));
    assert_int_equal(run(&w, &op), 1);
    assert_non_null(
        strstr(w.f.log[1], "PATCH https://h/apis/events.k8s.io/v1/namespaces/n/events/a."));
    assert_non_null(strstr(w.f.log[1], "\"series\":{\"count\":2,"));
    assert_int_equal(run(&w, &op), 0); /* kept for later */
    assert_int_equal(w.s.c[2].status, GROVE_OK);
    /* another process told it before */
    world v = {0};
    open_world(&v, NULL);
    v.n_script = 2;
    v.script[0] = (fake_answer){.http = 409};
    v.script[1] = (fake_answer){.http = 200};
    op.token = 1;
    static const char exists[] = "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"code\":409}";
    v.script[0].body = exists;
    v.script[0].len = sizeof exists - 1;
    assert_int_equal(run(&v, &op), 2);
    assert_int_equal(v.s.c[0].status, GROVE_OK);
    assert_non_null(strstr(v.f.log[1], "PATCH "));
    close_world(&v);
    close_world(&w);
}

/* CLI-14: the core group is /api/v1 and no empty part of a path; any other is /apis/GROUP/VERSION. */
static void each_kind_has_its_place(void **state) {
    (void)state;
    world w = {0};
    uint32_t core = 0;
    open_world(&w, NULL);
    for (grove_kind kind = GROVE_KIND_NONE + 1; kind < GROVE_KIND_COUNT; kind++) {
        char want[300];
        const char *group = grove_kind_group(kind);
        core += group[0] == '\0';
        (void)snprintf(want, sizeof want, "GET https://h/%s%s/%s%s/%s/a ",
                       group[0] ? "apis/" : "api", group, grove_kind_version(kind),
                       grove_kind_is_namespaced(kind) ? "/namespaces/n" : "",
                       grove_kind_plural(kind));
        assert_null(strstr(want + strlen("GET https://"), "//"));
        grove_op op = op_of(&w, GROVE_VERB_GET, kind, "a", NULL);
        expect(&w, &op, want);
    }
    assert_true(core > 5);
    grove_op pods = op_of(&w, GROVE_VERB_LIST, GROVE_KIND_POD, NULL, NULL);
    expect(&w, &pods, "GET https://h/api/v1/namespaces/n/pods ");
    close_world(&w);
}

/* What went well is told once for all of its reason, of an object; what failed, by its words. */
static void events_alike_are_one(void **state) {
    (void)state;
    static const char *const types[] = {"Normal", "Warning"};
    for (int i = 0; i < 2; i++) {
        world w = {0};
        char body[100];
        open_world(&w, NULL);
        (void)look(&w.b, START, &w.s); /* it knows the time */
        for (int n = 0; n < 10; n++) {
            (void)snprintf(body, sizeof body,
                           "{\"type\":\"%s\",\"reason\":\"R\",\"note\":\"pod %d\"}", types[i], n);
            grove_op op = op_of(&w, GROVE_VERB_EVENT, GROVE_KIND_PODCLIQUE, "a", body);
            op.uid = "u";
            assert_int_equal(run(&w, &op), i == 0 && n > 1 ? 0 : 1);
        }
        assert_non_null(strstr(w.f.log[0], "POST "));
        assert_non_null(strstr(w.f.log[1], i == 0 ? "\"series\":{\"count\":2," : "POST "));
        close_world(&w);
    }
}

/* CLI-04: the longest names that there may be, whole. */
static void long_names(void **state) {
    (void)state;
    world w = {0};
    char ns[64], name[254], want[500];
    open_world(&w, NULL);
    memset(ns, 'n', 63);
    memset(name, 'g', 253);
    ns[63] = name[253] = '\0';
    grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_PODCLIQUESCALINGGROUP, name, NULL);
    op.ns = ns;
    (void)snprintf(want, sizeof want,
                   "GET https://h/apis/grove.io/v1alpha1/namespaces/%s/podcliquescalinggroups/%s ",
                   ns, name);
    expect(&w, &op, want);
    close_world(&w);
}

/* ---- answers without measure ---- */

/* Of a failure's body a megabyte is kept, and what it says holds; a success beyond 64 of them says nothing. */
static void large_answers(void **state) {
    (void)state;
    static const struct {
        int http;
        grove_verb verb;
        size_t mib, peak_mib;
        grove_status status;
        uint32_t flags;
    } rows[] = {
        {403, GROVE_VERB_CREATE, 80, 4, GROVE_E_FORBIDDEN, 0},
        {200, GROVE_VERB_GET, 65, 200, GROVE_E_LIMIT, 0},
        {201, GROVE_VERB_CREATE, 65, 200, GROVE_E_LIMIT, GROVE_ERROR_UNCERTAIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w = {.n_script = 1};
        oom_memory m;
        size_t len = rows[i].mib << 20;
        char *body = malloc(len);
        assert_non_null(body);
        memset(body, ' ', len);
        w.script[0] = (fake_answer){.http = rows[i].http, .body = body, .len = len};
        oom_memory_init(&m);
        w.env = oom_env(&m, NULL);
        open_in(&w, NULL);
        w.f.piece = 1u << 20;
        grove_op op = op_of(&w, rows[i].verb, GROVE_KIND_CONFIGMAP, "m", "{}");
        assert_int_equal(run(&w, &op), 1);
        assert_int_equal(w.s.c[0].status, rows[i].status);
        assert_int_equal(w.s.c[0].flags, rows[i].flags);
        assert_true(m.peak_bytes < rows[i].peak_mib << 20);
        close_world(&w);
        assert_int_equal(m.live_blocks, 0);
        free(body);
    }
}

/* ---- headers ---- */

static void headers(void **state) {
    (void)state;
    world w = {0};
    open_world(&w, "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://h:1/p/\"}}],"
                   "\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"s3cret\",\"as\":\"jo\","
                   "\"as-groups\":[\"g1\",\"g2\"],\"as-user-extra\":{\"Some/Key\":[\"v\"]}}}],"
                   "\"contexts\":[{\"name\":\"x\",\"context\":{\"cluster\":\"c\",\"user\":\"u\"}}],"
                   "\"current-context\":\"x\"}");
    grove_op op = op_of(&w, GROVE_VERB_GET, GROVE_KIND_POD, "a", NULL);
    assert_int_equal(run(&w, &op), 1);
    assert_string_equal(w.f.log[0], "GET https://h:1/p/api/v1/namespaces/n/pods/a ");
    assert_non_null(strstr(w.f.headers[0], "Authorization: Bearer s3cret\n"));
    assert_non_null(strstr(w.f.headers[0],
                           "Impersonate-User: jo\nImpersonate-Group: g1\n"
                           "Impersonate-Group: g2\nImpersonate-Extra-some%2Fkey: v\n"));
    assert_non_null(strstr(w.f.headers[0], "User-Agent: libgrove/"));
    close_world(&w);
}

/* ---- memory ---- */

static grove_status oom_run(grove_env *env, void *ctx) {
    world w = {.env = env};
    (void)ctx;
    w.f.answer = scripted;
    w.f.ctx = &w;
    grove_doc *body = NULL;
    static const char text[] = "{\"reason\":\"R\",\"metadata\":{\"name\":\"a\"}}";
    grove_status st = grove_doc_parse_json(env, text, sizeof text - 1, 0, &body, NULL);
    if (st < 0) {
        return st;
    }
    st = fake_backend(env, &w.f, NULL, NULL, &w.b);
    static const grove_verb verbs[] = {GROVE_VERB_CREATE, GROVE_VERB_EVENT, GROVE_VERB_DELETE,
                                       GROVE_VERB_PATCH, GROVE_VERB_PATCH};
    bool made = st == GROVE_OK;
    for (uint32_t i = 0; i < 5 && st == GROVE_OK; i++) {
        grove_op op = {.size = sizeof op, .verb = verbs[i], .kind = GROVE_KIND_POD, .token = i + 1};
        op.name = "a";
        op.subresource = verbs[i] == GROVE_VERB_PATCH ? GROVE_SUBRESOURCE_STATUS : 0;
        op.patch_type = verbs[i] == GROVE_VERB_PATCH ? GROVE_PATCH_MERGE : 0;
        op.ns = "n";
        op.body_doc = body;
        st = w.b.ops->submit(w.b.impl, &op, NULL);
    }
    grove_sink sink = {(uint32_t)sizeof sink, 0, &w.s, on_completion, on_event};
    int64_t deadline = START;
    for (int i = 0; i < 20 && st == GROVE_OK && deadline <= START; i++) {
        st = w.b.ops->process(w.b.impl, START, 0, &sink, &deadline, NULL);
    }
    if (made) {
        w.b.ops->destroy(w.b.impl);
    }
    grove_doc_unref(body);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    oom_loop("calls", oom_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_objects),
        cmocka_unit_test(patches_and_pods),
        cmocka_unit_test(bad_operations),
        cmocka_unit_test(one_write_an_object),
        cmocka_unit_test(status_writes_go_as_one),
        cmocka_unit_test(status_writes_stay_apart),
        cmocka_unit_test(status_writes_fail_as_one),
        cmocka_unit_test(window_holds),
        cmocka_unit_test(cancelling),
        cmocka_unit_test(retries),
        cmocka_unit_test(waits_as_told),
        cmocka_unit_test(events_are_counted),
        cmocka_unit_test(each_kind_has_its_place),
        cmocka_unit_test(events_alike_are_one),
        cmocka_unit_test(long_names),
        cmocka_unit_test(large_answers),
        cmocka_unit_test(headers),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
