/* SPDX-License-Identifier: Apache-2.0 */
/* The election on a server: its requests, and the fence in front of writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"
#include "support/oom.h"

#define S INT64_C(1000000000)
#define START (INT64_C(1800000000) * S)

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend b;
    int64_t clock; /* of the lease; the wall clock is START + clock */
    char lease[600];
    bool exists, dead, slow; /* dead: no request reaches the server; slow: answers to writes wait */
    uint32_t version, n, leases_written;
    grove_status status[16];
    uint32_t flags[16];
    char message[16][64];
} world;

static int64_t clock_of(void *ctx) {
    return ((world *)ctx)->clock;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    world *w = ctx;
    w->status[w->n % 16] = c->status;
    w->flags[w->n % 16] = c->flags;
    (void)snprintf(w->message[w->n % 16], sizeof w->message[0], "%s", c->message);
    w->n++;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    (void)ctx;
    (void)e;
    return GROVE_OK;
}

/* What the last lease request wrote, with the server's version put in. */
static void store_lease(world *w, const char *body) {
    const char *spec = strstr(body, "\"spec\":"), *end = strchr(spec, '}') + 1;
    (void)snprintf(w->lease, sizeof w->lease,
                   "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"uid\":\"u1\",\"labels\":{"
                   "\"keep\":\"me\"},\"resourceVersion\":\"%u\"},%.*s}",
                   ++w->version, (int)(end - spec), spec);
    w->exists = true;
    w->leases_written++;
}

static void server(fake *f, const char *method, const char *url, const char *body,
                   fake_answer *out) {
    world *w = f->ctx;
    static const char none[] = "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}";
    static const char plain[] = "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}";
    *out = (fake_answer){.http = 200, .body = plain, .len = sizeof plain - 1};
    if (w->dead) {
        *out = (fake_answer){.how = GV_K8S_END_LOST};
    } else if (!strstr(url, "/leases")) {
        out->open = w->slow && strcmp(method, "GET") != 0;
    } else if (strcmp(method, "GET") == 0 && !w->exists) {
        *out = (fake_answer){.http = 404, .body = none, .len = sizeof none - 1};
    } else {
        if (strcmp(method, "GET") != 0) {
            store_lease(w, body);
        }
        out->body = w->lease;
        out->len = strlen(w->lease);
    }
}

static void turn(world *w) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, w, on_completion, on_event};
    int64_t deadline = 0;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(w->b.ops->process(w->b.impl, START + w->clock, 0, &sink, &deadline, NULL),
                         GROVE_OK);
        if (deadline > START + w->clock) {
            return;
        }
    }
    fail_msg("no rest");
}

static grove_k8s_lease_options options_of(world *w) {
    return (grove_k8s_lease_options){.size = sizeof(grove_k8s_lease_options),
                                     .name = "l",
                                     .ns = "n",
                                     .identity = "me",
                                     .clock = clock_of,
                                     .clock_ctx = w};
}

static void open_world(world *w) {
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    w->f.answer = server;
    w->f.ctx = w;
    w->f.piece = 10000;
    assert_int_equal(fake_backend(w->env, &w->f, NULL, NULL, &w->b), GROVE_OK);
    grove_k8s_lease_options o = options_of(w);
    assert_int_equal(grove_k8s_elect(&w->b, &o, NULL), GROVE_OK);
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    grove_env_unref(w->env);
}

static void submit(world *w, grove_verb verb, const char *name) {
    static uint64_t token = 0;
    grove_op op = {.size = sizeof op, .verb = verb, .kind = GROVE_KIND_POD, .token = ++token};
    op.name = name;
    op.ns = "n";
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    assert_int_equal(w->b.ops->submit(w->b.impl, &op, NULL), GROVE_OK);
}

static grove_k8s_lease_info info_of(const world *w) {
    grove_k8s_lease_info info = {.size = sizeof info};
    assert_int_equal(grove_k8s_lease(&w->b, &info), GROVE_OK);
    return info;
}

static void tick(world *w, int64_t seconds) {
    for (int64_t i = 0; i < seconds * 10; i++) {
        w->clock += S / 10;
        turn(w);
    }
}

static const char held_by_other[] =
    "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"5\",\"labels\":{"
    "\"keep\":\"me\"}},\"spec\":{\"holderIdentity\":\"other\",\"leaseDurationSeconds\":15,"
    "\"acquireTime\":\"2027-01-15T07:00:00.000000Z\",\"renewTime\":\"2020-01-15T07:00:00.000000Z\","
    "\"leaseTransitions\":3,\"strategy\":\"s\"}}";

static void other_holds(world *w) {
    memcpy(w->lease, held_by_other, sizeof held_by_other);
    w->exists = true;
}

/* ---- cases ---- */

static void first_of_all(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    turn(&w);
    assert_string_equal(w.f.log[0],
                        "GET https://h/apis/coordination.k8s.io/v1/namespaces/n/leases/l ");
    assert_string_equal(
        w.f.log[1],
        "POST https://h/apis/coordination.k8s.io/v1/namespaces/n/leases?fieldManager=libgrove "
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"spec\":{"
        "\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"acquireTime\":"
        "\"2027-01-15T08:00:00.000000Z\",\"renewTime\":\"2027-01-15T08:00:00.000000Z\","
        "\"leaseTransitions\":0},\"metadata\":{\"name\":\"l\"}}");
    assert_non_null(strstr(w.f.log[2], "/apis/events.k8s.io/v1/namespaces/n/events"));
    assert_non_null(strstr(w.f.log[2], "\"note\":\"me became leader\""));
    assert_non_null(strstr(w.f.log[2], "\"kind\":\"Lease\""));
    assert_non_null(strstr(w.f.log[2], "\"uid\":\"u1\""));
    grove_k8s_lease_info info = info_of(&w);
    assert_int_equal(info.state, GROVE_K8S_LEASE_LEADING);
    assert_string_equal(info.holder, "me");
    assert_string_equal(info.identity, "me");
    assert_int_equal(info.left_ns, 10 * S);
    /* renewals name the version that was seen, and keep what is not ours */
    tick(&w, 2);
    assert_non_null(strstr(w.f.log[3], "PUT https://h/apis/coordination.k8s.io/v1/namespaces/n/"
                                       "leases/l?fieldManager=libgrove "));
    assert_non_null(strstr(w.f.log[3], "\"resourceVersion\":\"1\""));
    assert_non_null(strstr(w.f.log[3], "\"keep\":\"me\""));
    assert_non_null(strstr(w.f.log[3], "\"acquireTime\":\"2027-01-15T08:00:00.000000Z\","
                                       "\"renewTime\":\"2027-01-15T08:00:02.000000Z\""));
    tick(&w, 60);
    assert_int_equal(w.leases_written, 32); /* one each 2 s, no other request */
    assert_int_equal(w.f.n_sent, 34);
    close_world(&w);
}

/* Who waits writes nothing, reads all it wants, and takes over when the holder has not renewed. */
static void standby(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    other_holds(&w);
    turn(&w);
    submit(&w, GROVE_VERB_DELETE, "a");
    submit(&w, GROVE_VERB_GET, "a");
    turn(&w);
    assert_int_equal(w.n, 2);
    assert_int_equal(w.status[0], GROVE_E_CANCELLED);
    assert_string_equal(w.message[0], "this process does not lead");
    assert_int_equal(w.status[1], GROVE_OK);
    assert_string_equal(info_of(&w).holder, "other");
    tick(&w, 14);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_STANDBY);
    assert_int_equal(w.leases_written, 0);
    tick(&w, 2);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_LEADING);
    assert_non_null(strstr(w.lease, "\"leaseTransitions\":4"));
    assert_non_null(strstr(w.lease, "\"strategy\":\"s\""));
    submit(&w, GROVE_VERB_DELETE, "a");
    turn(&w);
    assert_int_equal(w.status[2], GROVE_OK);
    close_world(&w);
}

/* No renewal gets through: what is on its way is cut off in time, what waits is never sent. */
static void fence(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    turn(&w);
    w.slow = true;
    submit(&w, GROVE_VERB_DELETE, "a");
    submit(&w, GROVE_VERB_DELETE, "a"); /* waits for the first */
    turn(&w);
    w.dead = true;
    tick(&w, 9);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_LEADING);
    assert_int_equal(w.n, 0);
    assert_int_equal(w.f.severed, 0);
    tick(&w, 1);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_LOST);
    assert_int_equal(info_of(&w).left_ns, 0);
    assert_int_equal(w.f.severed, 1);
    assert_int_equal(w.n, 2);
    bool cut = w.status[0] == GROVE_E_UNAVAILABLE; /* told in the order in which they ended */
    assert_int_equal(w.status[cut ? 0 : 1], GROVE_E_UNAVAILABLE);
    assert_true((w.flags[cut ? 0 : 1] & GROVE_ERROR_UNCERTAIN) != 0);
    assert_int_equal(w.status[cut ? 1 : 0], GROVE_E_CANCELLED);
    assert_int_equal(w.flags[cut ? 1 : 0] & GROVE_ERROR_UNCERTAIN, 0);
    w.dead = false;
    uint32_t sent = w.f.n_sent;
    submit(&w, GROVE_VERB_DELETE, "b");
    tick(&w, 60);
    assert_int_equal(w.f.n_sent, sent); /* for good */
    assert_int_equal(w.status[2], GROVE_E_CANCELLED);
    assert_string_equal(w.message[2], "this process leads no more");
    close_world(&w);
}

/* The process stood still: the first thing it does is to cut off, before a byte moves. */
static void stood_still(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    turn(&w);
    w.slow = true;
    submit(&w, GROVE_VERB_DELETE, "a");
    turn(&w);
    uint32_t sent = w.f.n_sent;
    submit(&w, GROVE_VERB_DELETE, "b"); /* planned before, not yet sent */
    w.clock += 20 * S;
    turn(&w);
    assert_int_equal(w.f.n_sent, sent);
    assert_int_equal(w.f.severed, 1);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_LOST);
    close_world(&w);
}

/* In order: no new write, those on their way end, then the Lease is free. */
static void resigning(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    turn(&w);
    w.slow = true;
    submit(&w, GROVE_VERB_DELETE, "a");
    turn(&w);
    uint32_t written = w.leases_written;
    w.slow = false;
    assert_int_equal(grove_k8s_resign(&w.b, NULL), GROVE_OK);
    submit(&w, GROVE_VERB_DELETE, "b");
    tick(&w, 1);
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_RELEASING);
    assert_int_equal(w.status[0], GROVE_E_CANCELLED); /* b */
    assert_int_equal(w.leases_written, written);
    w.f.open[0].a.open = w.f.open[1].a.open = w.f.open[2].a.open = w.f.open[3].a.open = false;
    turn(&w);
    assert_int_equal(w.status[1], GROVE_OK); /* a */
    assert_int_equal(info_of(&w).state, GROVE_K8S_LEASE_RELEASED);
    assert_string_equal(info_of(&w).holder, "");
    assert_non_null(strstr(w.lease, "\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,"));
    bool told = false;
    for (uint32_t i = 0; i < w.f.n_sent && i < FAKE_REQUESTS; i++) {
        told = told || strstr(w.f.log[i], "me stopped leading");
    }
    assert_true(told);
    uint32_t sent = w.f.n_sent;
    tick(&w, 30);
    assert_int_equal(w.f.n_sent, sent);
    close_world(&w);
}

static void bad_options(void **state) {
    (void)state;
    world w = {0};
    open_world(&w);
    grove_error err = GROVE_ERROR_INIT;
    grove_k8s_lease_options o = options_of(&w);
    assert_int_equal(grove_k8s_elect(&w.b, &o, &err), GROVE_E_INVALID); /* twice */
    assert_string_equal(err.message, "this backend is a candidate already");
    close_world(&w);
    world v = {0};
    v.f.answer = server;
    v.f.ctx = &v;
    assert_int_equal(grove_env_new(NULL, &v.env), GROVE_OK);
    assert_int_equal(fake_backend(v.env, &v.f, NULL, NULL, &v.b), GROVE_OK);
    assert_int_equal(info_of(&v).state, GROVE_K8S_LEASE_NONE);
    assert_int_equal(grove_k8s_resign(&v.b, NULL), GROVE_E_INVALID);
    o = options_of(&v);
    o.name = "";
    assert_int_equal(grove_k8s_elect(&v.b, &o, NULL), GROVE_E_INVALID);
    o = options_of(&v);
    o.duration_ns = 10 * S;
    assert_int_equal(grove_k8s_elect(&v.b, &o, &err), GROVE_E_INVALID);
    assert_string_equal(err.message, "the lease must last longer than the renew deadline");
    o = options_of(&v);
    o.identity = NULL; /* found: host name and a random number */
    assert_int_equal(grove_k8s_elect(&v.b, &o, NULL), GROVE_OK);
    assert_true(strlen(info_of(&v).identity) >= 33);
    grove_backend other = {.size = sizeof other};
    assert_int_equal(grove_k8s_elect(&other, &o, NULL), GROVE_E_INVALID);
    grove_k8s_lease_info info = {.size = sizeof info};
    assert_int_equal(grove_k8s_lease(&other, &info), GROVE_E_INVALID);
    close_world(&v);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    world w = {.env = env};
    (void)ctx;
    w.f.answer = server;
    w.f.ctx = &w;
    w.f.piece = 10000;
    grove_status st = fake_backend(env, &w.f, NULL, NULL, &w.b);
    if (st < 0) {
        return st;
    }
    grove_k8s_lease_options o = options_of(&w);
    st = grove_k8s_elect(&w.b, &o, NULL);
    grove_sink sink = {(uint32_t)sizeof sink, 0, &w, on_completion, on_event};
    for (int i = 0; i < 40 && st == GROVE_OK; i++) {
        int64_t deadline = 0;
        w.clock += S / 10;
        st = w.b.ops->process(w.b.impl, START + w.clock, 0, &sink, &deadline, NULL);
        if (i == 30 && st == GROVE_OK) {
            st = grove_k8s_resign(&w.b, NULL);
        }
    }
    w.b.ops->destroy(w.b.impl);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    oom_loop("elect", oom_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_of_all),  cmocka_unit_test(standby),   cmocka_unit_test(fence),
        cmocka_unit_test(stood_still),   cmocka_unit_test(resigning), cmocka_unit_test(bad_options),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
