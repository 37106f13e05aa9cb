/* SPDX-License-Identifier: Apache-2.0 */
/* Record, replay, fault and dry-run around a backend that does next to nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"

#include "support/oom.h"

#define ALWAYS 65536u

/* ---- what a test sees ---- */

typedef struct seen {
    uint64_t tokens[FAKE_MAX];
    grove_status status[FAKE_MAX];
    uint32_t flags[FAKE_MAX];
    uint32_t n;
    uint64_t watch[FAKE_MAX];
    grove_event_type type[FAKE_MAX];
    char version[FAKE_MAX][16];
    uint32_t n_events;
} seen;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    seen *s = ctx;
    s->tokens[s->n] = c->token;
    s->flags[s->n] = c->flags;
    s->status[s->n++] = c->status;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    seen *s = ctx;
    s->watch[s->n_events] = e->token;
    s->type[s->n_events] = e->type;
    (void)snprintf(s->version[s->n_events++], 16, "%s", e->resource_version);
    return GROVE_OK;
}

static int64_t look(grove_backend *b, int64_t now, seen *s) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, s, on_completion, on_event};
    int64_t deadline = 0;
    assert_int_equal(b->ops->process(b->impl, now, 0, &sink, &deadline, NULL), GROVE_OK);
    return deadline;
}

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend inner, b;
} world;

static void open_world(world *w) {
    static const char text[] = "{\"metadata\":{\"name\":\"p\"}}";
    *w = (world){0};
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    w->f.env = w->env;
    assert_int_equal(grove_doc_parse_json(w->env, text, strlen(text), 0, &w->f.object, NULL),
                     GROVE_OK);
    w->inner = (grove_backend){(uint32_t)sizeof w->inner, 0, &fake_ops, &w->f};
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    assert_int_equal(w->f.destroyed, 1); /* the decorator owns the inner backend */
    grove_env_unref(w->env);
}

static grove_op operation(grove_verb verb, uint64_t token) {
    grove_op op = {.size = sizeof op, .verb = verb, .token = token, .kind = GROVE_KIND_POD};
    op.ns = "default";
    op.name = "p";
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    return op;
}

static void submit(world *w, grove_op op) {
    assert_int_equal(w->b.ops->submit(w->b.impl, &op, NULL), GROVE_OK);
}

static void watch(world *w, uint64_t token) {
    grove_watch in = {.size = sizeof in, .kind = GROVE_KIND_POD, .token = token};
    assert_int_equal(w->b.ops->watch(w->b.impl, &in, NULL), GROVE_OK);
}

static void happen(world *w, uint64_t token, const char *version) {
    w->f.events[w->f.n_events].token = token;
    w->f.events[w->f.n_events++].version = version;
}

/* ---- record and replay ---- */

static grove_status keep(void *ctx, const char *bytes, size_t len) {
    return grove_buf_append(ctx, bytes, len);
}

static void play(world *w, seen *s, const char *reason) {
    grove_op op = operation(GROVE_VERB_DELETE, 1);
    op.reason = reason;
    op.uid = "u-1";
    submit(w, op);
    watch(w, 2);
    assert_int_equal(w->b.ops->cancel(w->b.impl, 99, NULL), GROVE_E_NOT_FOUND);
    (void)look(&w->b, 1000, s);
}

static void record(world *w, grove_buf *out, seen *s) {
    assert_int_equal(grove_backend_record(w->env, &w->inner, keep, out, &w->b, NULL), GROVE_OK);
    happen(w, 2, "7");
    play(w, s, "Because");
}

static const char recorded[] = "{\"recording\":{\"version\":1,\"caps\":0}}\n"
                               "{\"submit\":{\"token\":1,\"verb\":\"DELETE\",\"kind\":\"v1/"
                               "Pod\",\"ns\":\"default\",\"name\":\"p\","
                               "\"uid\":\"u-1\",\"reason\":\"Because\"}}\n"
                               "{\"status\":0}\n"
                               "{\"watch\":{\"token\":2,\"kind\":\"v1/Pod\"}}\n"
                               "{\"status\":0}\n"
                               "{\"cancel\":99}\n"
                               "{\"status\":-7}\n"
                               "{\"process\":{\"now\":1000}}\n"
                               "{\"completion\":{\"token\":1,\"status\":0,\"http\":200}}\n"
                               "{\"event\":{\"type\":\"MODIFIED\",\"token\":2,\"kind\":\"v1/"
                               "Pod\",\"resourceVersion\":\"7\",\"object\":"
                               "{\"metadata\":{\"name\":\"p\"}}}}\n"
                               "{\"processed\":{\"status\":0,\"deadline\":9223372036854775807}}\n";

static void test_record(void **state) {
    world w;
    grove_buf out;
    seen s = {0};
    (void)state;
    open_world(&w);
    grove_buf_init(&out, w.env);
    record(&w, &out, &s);
    assert_string_equal(out.data, recorded);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.n_events, 1);
    grove_buf_fini(&out);
    close_world(&w);
}

static void test_replay(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    assert_int_equal(grove_backend_replay(w.env, recorded, strlen(recorded), &w.b, NULL), GROVE_OK);
    play(&w, &s, "Because");
    assert_int_equal(s.n, 1);
    assert_int_equal(s.tokens[0], 1);
    assert_int_equal(s.n_events, 1);
    assert_int_equal(s.type[0], GROVE_EVENT_MODIFIED);
    assert_string_equal(s.version[0], "7");
    w.b.ops->destroy(w.b.impl);
    fake_destroy(&w.f);
    grove_env_unref(w.env);
}

/* Values of Secrets are in no recording: neither those written nor those that came, and a replay still fits. */
static void test_record_without_secrets(void **state) {
    static const char secret[] =
        "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"annotations\":{\"last\":\"hunter2\"}},"
        "\"data\":{\"k\":\"hunter2\"},\"stringData\":{\"l\":\"hunter2\"},\"type\":\"t\"}";
    static const char *const bodies[] = {
        secret,
        "{\"kind\":\"SecretList\",\"metadata\":{},\"items\":[{\"data\":{\"k\":\"hunter2\"}}]}",
        "{\"data\":\"hunter2\",\"kind\":\"Secret\",\"metadata\":\"m\"}"};
    static const char patch[] = "[{\"op\":\"add\",\"path\":\"/data/k\",\"value\":\"hunter2\"}]";
    world w;
    grove_buf out;
    seen s = {0};
    (void)state;
    open_world(&w);
    grove_buf_init(&out, w.env);
    assert_int_equal(grove_backend_record(w.env, &w.inner, keep, &out, &w.b, NULL), GROVE_OK);
    for (uint64_t i = 0; i < 4; i++) {
        grove_op op = operation(i < 3 ? GROVE_VERB_CREATE : GROVE_VERB_PATCH, i + 1);
        const char *text = i < 3 ? bodies[i] : patch;
        op.kind = GROVE_KIND_SECRET;
        assert_int_equal(grove_doc_parse_json(w.env, text, strlen(text), 0, &op.body_doc, NULL),
                         GROVE_OK);
        submit(&w, op);
        if (i == 2) { /* answers so far; that of a patch is never the patch */
            (void)look(&w.b, 1000, &s);
        }
        grove_doc_unref(op.body_doc);
    }
    assert_null(strstr(out.data, "hunter"));
    assert_non_null(strstr(out.data, "\"annotations\":{\"last\":\"\"}},\"data\":{\"k\":\"\"},"
                                     "\"stringData\":{\"l\":\"\"},\"type\":\"t\"}"));
    assert_non_null(strstr(out.data, "\"items\":[{\"data\":{\"k\":\"\"}}]"));
    assert_non_null(strstr(out.data, "[{\"op\":\"add\",\"path\":\"/data/k\",\"value\":\"\"}]"));
    grove_buf_fini(&out);
    close_world(&w);
}

/* The first call that differs is told, and everything after it fails. */
static void test_replay_differs(void **state) {
    world w;
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    open_world(&w);
    assert_int_equal(grove_backend_replay(w.env, recorded, strlen(recorded), &w.b, NULL), GROVE_OK);
    grove_op op = operation(GROVE_VERB_DELETE, 1);
    op.uid = "u-1";
    op.reason = "Otherwise";
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, &err), GROVE_E_CONFLICT);
    assert_non_null(strstr(err.message, "line 2"));
    assert_non_null(strstr(err.message, "Because"));
    assert_non_null(strstr(err.message, "Otherwise"));
    op.reason = "Because";
    assert_int_equal(w.b.ops->submit(w.b.impl, &op, &err), GROVE_E_CONFLICT);
    w.b.ops->destroy(w.b.impl);
    assert_int_equal(grove_backend_replay(w.env, "{}", 2, &w.b, &err), GROVE_E_UNSUPPORTED);
    assert_int_equal(grove_backend_replay(w.env, "nonsense", 8, &w.b, &err), GROVE_E_PARSE);
    fake_destroy(&w.f);
    grove_env_unref(w.env);
}

/* ---- faults ---- */

static void break_things(world *w, grove_fault_options o) {
    o.size = (uint32_t)sizeof o;
    assert_int_equal(grove_backend_fault(w->env, &w->inner, &o, &w->b, NULL), GROVE_OK);
}

static void test_lost_request(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(&w, (grove_fault_options){.lose_request = ALWAYS});
    submit(&w, operation(GROVE_VERB_GET, 1));
    (void)look(&w.b, 10, &s);
    assert_int_equal(w.f.n_ops, 0);
    assert_int_equal(s.status[0], GROVE_E_UNAVAILABLE);
    assert_true(s.flags[0] & GROVE_ERROR_UNCERTAIN);
    close_world(&w);
}

static void test_lost_reply(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(&w, (grove_fault_options){.lose_reply = ALWAYS});
    submit(&w, operation(GROVE_VERB_DELETE, 1));
    (void)look(&w.b, 10, &s);
    assert_int_equal(w.f.n_ops, 1); /* it took effect */
    assert_int_equal(s.n, 1);
    assert_int_equal(s.status[0], GROVE_E_UNAVAILABLE);
    assert_true(s.flags[0] & GROVE_ERROR_UNCERTAIN);
    close_world(&w);
}

static void test_conflict_and_busy(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(&w, (grove_fault_options){.conflict = ALWAYS});
    grove_op op = operation(GROVE_VERB_PATCH, 1);
    submit(&w, op); /* without a precondition there is nothing to conflict with */
    op.token = 2;
    op.resource_version = "5";
    submit(&w, op);
    (void)look(&w.b, 10, &s);
    assert_int_equal(s.n, 2);
    assert_int_equal(w.f.n_ops, 1);
    uint32_t i = s.tokens[0] == 2 ? 0 : 1;
    assert_int_equal(s.status[i], GROVE_E_CONFLICT);
    assert_int_equal(s.status[1 - i], GROVE_OK);
    close_world(&w);

    seen t = {0};
    open_world(&w);
    break_things(&w, (grove_fault_options){.refuse = ALWAYS, .quiet_after = 1});
    submit(&w, operation(GROVE_VERB_GET, 1));
    submit(&w, operation(GROVE_VERB_GET, 2)); /* the faults have been dealt out */
    (void)look(&w.b, 10, &t);
    assert_int_equal(t.n, 2);
    assert_int_equal(t.status[0], GROVE_E_BUSY);
    assert_int_equal(t.status[1], GROVE_OK);
    close_world(&w);
}

static void test_delay(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(&w, (grove_fault_options){.delay = ALWAYS, .max_delay_ns = 1000});
    submit(&w, operation(GROVE_VERB_GET, 1));
    int64_t deadline = look(&w.b, 10, &s);
    assert_int_equal(s.n, 0);
    assert_true(deadline > 10 && deadline <= 1010);
    assert_true(look(&w.b, deadline - 1, &s) == deadline);
    assert_int_equal(s.n, 0);
    assert_true(look(&w.b, deadline, &s) == INT64_MAX);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.status[0], GROVE_OK);
    close_world(&w);
}

static void test_event_order(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(
        &w, (grove_fault_options){
                .delay_event = 30000, .duplicate_event = 30000, .max_delay_ns = 1000, .seed = 4});
    watch(&w, 1);
    watch(&w, 2);
    static const char *const versions[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    for (int i = 0; i < 8; i++) {
        happen(&w, i % 2 ? 2 : 1, versions[i]);
    }
    int64_t deadline = look(&w.b, 10, &s);
    while (deadline != INT64_MAX) {
        deadline = look(&w.b, deadline, &s);
    }
    assert_true(s.n_events > 8); /* some came twice */
    int last[3] = {0, 0, 0}, distinct = 0;
    for (uint32_t i = 0; i < s.n_events; i++) {
        int v = s.version[i][0] - '0';
        assert_true(v >= last[s.watch[i]]); /* order within a watch is kept */
        distinct += v > last[s.watch[i]] ? 1 : 0;
        last[s.watch[i]] = v;
    }
    assert_int_equal(distinct, 8); /* nothing is dropped */
    close_world(&w);
}

static void test_gone(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    break_things(&w, (grove_fault_options){.gone = ALWAYS, .quiet_after = 1});
    watch(&w, 1);
    happen(&w, 1, "5");
    happen(&w, 1, "6");
    (void)look(&w.b, 10, &s);
    assert_int_equal(s.n_events, 1);
    assert_int_equal(s.type[0], GROVE_EVENT_GONE);
    assert_int_equal(w.f.cancelled, 1);
    assert_int_equal(w.b.ops->cancel(w.b.impl, 1, NULL), GROVE_E_NOT_FOUND);
    watch(&w, 2);
    happen(&w, 2, "7");
    (void)look(&w.b, 11, &s);
    assert_int_equal(s.type[1], GROVE_EVENT_MODIFIED);
    close_world(&w);
}

/* The same seed breaks the same things. */
static void fingerprint(uint64_t seed, seen *s) {
    world w;
    open_world(&w);
    break_things(&w, (grove_fault_options){
                         .seed = seed, .lose_request = 9000, .lose_reply = 9000, .refuse = 9000});
    for (uint64_t i = 1; i <= 40; i++) {
        submit(&w, operation(GROVE_VERB_GET, i));
    }
    (void)look(&w.b, 10, s);
    close_world(&w);
}

static void test_seed(void **state) {
    seen a = {0}, b = {0}, c = {0};
    (void)state;
    fingerprint(1, &a);
    fingerprint(1, &b);
    fingerprint(2, &c);
    assert_int_equal(a.n, 40);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(memcmp(&a, &c, sizeof a) != 0);
}

/* ---- dry run ---- */

static void test_dry_run(void **state) {
    world w;
    seen s = {0};
    (void)state;
    open_world(&w);
    assert_int_equal(grove_backend_dry_run(w.env, &w.inner, &w.b, NULL), GROVE_OK);
    submit(&w, operation(GROVE_VERB_GET, 1));
    submit(&w, operation(GROVE_VERB_DELETE, 2));
    submit(&w, operation(GROVE_VERB_EVENT, 3));
    (void)look(&w.b, 10, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(w.f.n_ops, 1); /* the inner backend cannot dry-run: it only saw the read */
    close_world(&w);

    seen t = {0};
    open_world(&w);
    w.inner.caps = GROVE_CAP_DRY_RUN;
    assert_int_equal(grove_backend_dry_run(w.env, &w.inner, &w.b, NULL), GROVE_OK);
    submit(&w, operation(GROVE_VERB_DELETE, 2));
    (void)look(&w.b, 10, &t);
    assert_int_equal(w.f.n_ops, 1);
    assert_true(w.f.ops[0].flags & GROVE_OP_DRY_RUN);
    close_world(&w);
}

/* ---- memory ---- */

static grove_status stack(grove_env *env, void *ctx) {
    fake f = {.env = env};
    grove_backend inner = {(uint32_t)sizeof inner, 0, &fake_ops, &f}, fault = {0}, rec = {0};
    grove_fault_options o = {.size = sizeof o, .delay = ALWAYS, .max_delay_ns = 5};
    seen s = {0};
    grove_sink sink = {(uint32_t)sizeof sink, 0, &s, on_completion, on_event};
    grove_buf out;
    int64_t deadline = 0;
    (void)ctx;
    grove_buf_init(&out, env);
    grove_status st = grove_backend_fault(env, &inner, &o, &fault, NULL);
    if (st == GROVE_OK) {
        st = grove_backend_record(env, &fault, keep, &out, &rec, NULL);
        if (st < 0) {
            fault.ops->destroy(fault.impl);
        }
    } else {
        fake_destroy(&f);
    }
    if (st == GROVE_OK) {
        grove_op op = operation(GROVE_VERB_DELETE, 1);
        st = rec.ops->submit(rec.impl, &op, NULL);
        for (int64_t now = 10; now < 20 && st == GROVE_OK; now++) {
            st = rec.ops->process(rec.impl, now, 0, &sink, &deadline, NULL);
        }
        rec.ops->destroy(rec.impl);
    }
    grove_buf_fini(&out);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    oom_loop("decorators", stack, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_record_without_secrets),
        cmocka_unit_test(test_replay_differs),
        cmocka_unit_test(test_lost_request),
        cmocka_unit_test(test_lost_reply),
        cmocka_unit_test(test_conflict_and_busy),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_event_order),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
