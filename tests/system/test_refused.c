/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cluster refuses costs few requests, is told in lastErrors, and holds up nothing that does not
 * need it; once it is allowed again, all is made good.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>
#include <grove/engine.h>
#include <grove/runner.h>
#include <grove/sys/sim.h>

#include "cluster.h"
#include "world.h"

#define MINUTE (60 * SECOND)
/* Waits double from 0.1 s: ten tries in a minute, and a few that chance adds. */
#define TRIES 14

/* What is refused while `on`. */
typedef struct rule {
    grove_verb verb; /* as reviews name it: CREATE, REPLACE for any update, DELETE */
    grove_kind kind;
    grove_subresource subresource;
    int32_t http;
    const char *name; /* beginning of the names; "": all */
    const char *message;
    bool on;
    unsigned asked;
} rule;

typedef struct bench {
    grove_env *env;
    grove_sim *sim;
    grove_engine *engine;
    grove_backend backend;
    int64_t now;
    rule r;
} bench;

static grove_status judge(void *ctx, grove_sim_review *review) {
    rule *r = ctx;
    if (r->on && review->verb == r->verb && review->kind == r->kind &&
        review->subresource == r->subresource &&
        strncmp(review->name, r->name, strlen(r->name)) == 0) {
        r->asked++;
        review->http = r->http;
        snprintf(review->message, sizeof review->message, "%s", r->message);
    }
    return GROVE_OK;
}

static void open_bench(bench *b, const rule *r, const char *set) {
    grove_error err = GROVE_ERROR_INIT;
    grove_engine_options options = {.size = (uint32_t)sizeof options};
    grove_doc *doc = NULL, *stored = NULL;
    memset(b, 0, sizeof *b);
    b->r = *r;
    grove_sim_options sim_options = {
        .size = (uint32_t)sizeof sim_options, .admit = judge, .admit_ctx = &b->r};
    assert_int_equal(grove_env_new(NULL, &b->env), GROVE_OK);
    assert_int_equal(grove_sim_new(b->env, &sim_options, &b->sim, &err), GROVE_OK);
    assert_int_equal(grove_sim_backend(b->sim, &b->backend, &err), GROVE_OK);
    assert_int_equal(grove_engine_new(b->env, &options, &b->engine, &err), GROVE_OK);
    assert_int_equal(grove_sim_add_nodes(b->sim, "1x1x4x8", &err), GROVE_OK);
    assert_int_equal(grove_doc_parse_json(b->env, set, strlen(set), 0, &doc, &err), 0);
    assert_int_equal(grove_default(b->env, doc, grove_doc_root(doc), NULL, NULL, &stored, &err), 0);
    assert_int_equal(grove_sim_apply(b->sim, stored, NULL, &err), GROVE_OK);
    grove_doc_unref(stored);
    grove_doc_unref(doc);
    b->now = grove_sim_now(b->sim);
}

static void close_bench(bench *b) {
    grove_engine_free(b->engine);
    b->backend.ops->destroy(b->backend.impl);
    grove_sim_free(b->sim);
    grove_env_unref(b->env);
}

static void run(bench *b, int64_t ns) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t end = b->now + ns;
    for (int turns = 0; b->now < end; turns++) {
        int64_t deadline = INT64_MAX;
        assert_true(turns < 20000); /* a storm of requests at one instant */
        assert_int_equal(grove_runner_turn(b->engine, &b->backend, b->now, &deadline, &err), 0);
        b->now = deadline > b->now ? (deadline < end ? deadline : end) : b->now + 1;
    }
}

/* The user's change. */
static void merge(bench *b, grove_kind kind, const char *name, const char *patch) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(b->env, patch, strlen(patch), 0, &doc, NULL), 0);
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_PATCH,
                   .token = 1,
                   .kind = kind,
                   .patch_type = GROVE_PATCH_MERGE,
                   .ns = "default",
                   .name = name,
                   .body_doc = doc};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    assert_int_equal(grove_sim_execute(b->sim, &op, &result), 0);
    grove_doc_unref(result.doc);
    grove_doc_unref(doc);
}

static void assert_text(bench *b, grove_kind kind, const char *name, const char *pointer,
                        const char *want) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_sim_get(b->sim, kind, "default", name, &doc, NULL), 0);
    const char *text = grove_node_text(grove_node_at_path(grove_doc_root(doc), pointer));
    assert_string_equal(text ? text : "", want);
    grove_doc_unref(doc);
}

#define CLIQUE(name, replicas)                                                          \
    "{\"name\":\"" name "\",\"spec\":{\"roleName\":\"" name "\",\"replicas\":" replicas \
    ",\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\"}]}}}"
#define SET(cliques)                                                                          \
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":" \
    "\"s\"},\"spec\":{\"replicas\":1,\"template\":{\"terminationDelay\":\"4h\",\"cliques\":"  \
    "[" cliques "]}}}"

typedef struct row {
    const char *what;
    rule r;
    const char *set;
    const char *change; /* merge patch of the set once all runs; NULL: refused from the start */
    unsigned most;      /* requests in the first minute */
    uint32_t pods;      /* that exist meanwhile */
    grove_kind kind;    /* who tells, and the code */
    const char *name, *code;
    uint32_t pods_after;
} row;

#define QUOTA "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"

static const row rows[] = {
    {.what = "PodCliques in a namespace that is gone",
     .r = {.verb = GROVE_VERB_CREATE,
           .kind = GROVE_KIND_PODCLIQUE,
           .http = 404,
           .name = "",
           .message = "namespaces \"default\" not found"},
     .set = SET(CLIQUE("a", "2")),
     .most = TRIES,
     .kind = GROVE_KIND_PODCLIQUESET,
     .name = "s",
     .code = "ERR_SYNC_PODCLIQUE",
     .pods_after = 2},
    {.what = "pods beyond a quota: one request a try, however many are missing",
     .r = {.verb = GROVE_VERB_CREATE,
           .kind = GROVE_KIND_POD,
           .http = 403,
           .name = "",
           .message = QUOTA},
     .set = SET(CLIQUE("a", "40") "," CLIQUE("b", "40")),
     .most = TRIES,
     .kind = GROVE_KIND_PODCLIQUE,
     .name = "s-0-a",
     .code = "ERR_CREATE_POD",
     .pods_after = 80},
    {.what = "pods of one clique that no server accepts: the others are made",
     .r = {.verb = GROVE_VERB_CREATE,
           .kind = GROVE_KIND_POD,
           .http = 422,
           .name = "s-0-a-",
           .message = "spec: invalid"},
     .set = SET(CLIQUE("a", "10") "," CLIQUE("b", "3")),
     .most = TRIES,
     .pods = 3,
     .kind = GROVE_KIND_PODCLIQUE,
     .name = "s-0-a",
     .code = "ERR_CREATE_POD",
     .pods_after = 13},
    {.what = "an update of a Service",
     .r = {.verb = GROVE_VERB_REPLACE,
           .kind = GROVE_KIND_SERVICE,
           .http = 403,
           .name = "",
           .message = "no"},
     .set = SET(CLIQUE("a", "2")),
     .change = "{\"spec\":{\"template\":{\"headlessServiceConfig\":{\"publishNotReadyAddresses\":"
               "false}}}}",
     .most = TRIES,
     .pods = 2,
     .kind = GROVE_KIND_PODCLIQUESET,
     .name = "s",
     .code = "ERR_SYNC_PODCLIQUESET_SERVICE",
     .pods_after = 2},
    {.what = "deletions of PodCliques: two of them, each with tries of its own",
     .r = {.verb = GROVE_VERB_DELETE,
           .kind = GROVE_KIND_PODCLIQUE,
           .http = 403,
           .name = "",
           .message = "no"},
     .set = SET(CLIQUE("a", "2") "," CLIQUE("b", "2")),
     .change = "{\"spec\":{\"replicas\":0}}",
     .most = 2 * TRIES,
     .pods = 4,
     .kind = GROVE_KIND_PODCLIQUESET,
     .name = "s",
     .code = "ERR_DELETE_PODCLIQUE"},
    {.what = "the gates of pods",
     .r = {.verb = GROVE_VERB_REPLACE,
           .kind = GROVE_KIND_POD,
           .http = 422,
           .name = "",
           .message = "no"},
     .set = SET(CLIQUE("a", "2")),
     .most = 2 * TRIES,
     .pods = 2,
     .kind = GROVE_KIND_PODCLIQUE,
     .name = "s-0-a",
     .code = "ERR_REMOVE_POD_SCHEDULING_GATE",
     .pods_after = 2},
    {.what = "the finalizer of the set: nothing is made for it",
     .r = {.verb = GROVE_VERB_REPLACE,
           .kind = GROVE_KIND_PODCLIQUESET,
           .http = 403,
           .name = "",
           .message = "no"},
     .set = SET(CLIQUE("a", "2")),
     .most = TRIES,
     .kind = GROVE_KIND_PODCLIQUESET,
     .name = "s",
     .code = "ERR_UPDATE_PCS_STATUS",
     .pods_after = 2},
};

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *t = &rows[i];
        bench b;
        print_message("%s\n", t->what);
        open_bench(&b, &t->r, t->set);
        if (t->change != NULL) {
            run(&b, MINUTE);
            merge(&b, GROVE_KIND_PODCLIQUESET, "s", t->change);
        }
        b.r.on = true;
        run(&b, MINUTE);
        print_message("  %u requests\n", b.r.asked);
        assert_true(b.r.asked >= 3);
        assert_true(b.r.asked <= t->most);
        assert_int_equal(grove_sim_count(b.sim, GROVE_KIND_POD), t->pods);
        assert_text(&b, t->kind, t->name, "/status/lastErrors/0/code", t->code);
        b.r.on = false;
        run(&b, 3 * MINUTE);
        assert_int_equal(grove_sim_count(b.sim, GROVE_KIND_POD), t->pods_after);
        assert_text(&b, t->kind, t->name, "/status/lastErrors/0/code", "");
        close_bench(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests_name("refused writes", tests, NULL, NULL);
}
