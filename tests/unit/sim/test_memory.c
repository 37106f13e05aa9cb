/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: a small life under every allocation failure, the same life with each failed call repeated (it must
 * end in the same bytes), and a thousand pods that come and go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/sim.h>

#include "support/files.h"
#include "support/oom.h"

#define SECOND INT64_C(1000000000)

static const char *const objects[] = {
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{\"name\":\"a\"},"
    "\"spec\":{\"replicas\":1}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a0\",\"labels\":{"
    "\"grove.io/podgang\":\"g\",\"grove.io/podclique\":\"x\"}},\"spec\":{\"containers\":[{\"name\":"
    "\"c\",\"image\":\"i\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":2}}}]}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"b-\",\"labels\":{"
    "\"grove.io/podgang\":\"g\",\"grove.io/"
    "podclique\":\"y\"}},\"spec\":{\"initContainers\":[{\"name\":"
    "\"grove-initc\",\"image\":\"w\",\"args\":[\"--podcliques=x:1\"]}],\"containers\":[{\"name\":"
    "\"c\",\"image\":"
    "\"i\"}]}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"t\",\"annotations\":{"
    "\"kubernetes.io/service-account.name\":\"sa\"}},\"type\":"
    "\"kubernetes.io/service-account-token\"}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"sa\"}}",
    "{\"apiVersion\":\"policy/v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"p\"},"
    "\"spec\":{\"minAvailable\":0,\"selector\":{}}}",
};
#define N_OBJECTS (sizeof objects / sizeof *objects)

/* ---- the life ---- */

typedef struct life {
    grove_env *env;
    grove_sim *sim;
    grove_backend client;
    uint32_t deliveries;
    uint32_t patience; /* how often a call that ran out of memory is repeated */
    grove_buf *log;    /* every change, a line each; NULL: not kept */
} life;

static void log_change(void *ctx, int64_t now, const grove_event *e) {
    life *l = ctx;
    const grove_node *meta = grove_node_get(e->object, "metadata");
    char line[200];
    int n = snprintf(line, sizeof line, "%lld %d %s %s %s\n", (long long)(now / 1000000),
                     (int)e->type, grove_node_text(grove_node_get(e->object, "kind")),
                     grove_node_text(grove_node_get(meta, "name")), e->resource_version);
    assert_int_equal(grove_buf_append(l->log, line, (size_t)n), GROVE_OK);
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    life *l = ctx;
    (void)c;
    l->deliveries++;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    life *l = ctx;
    (void)e;
    l->deliveries++;
    return GROVE_OK;
}

static bool again(life *l, grove_status st) {
    return st == GROVE_E_NOMEM && l->patience > 0 && l->patience--;
}

/* Calls until it does not run out of memory any more, unless something failed before. */
#define REPEAT(l, st, call)             \
    do {                                \
        if ((st) == GROVE_OK) {         \
            do {                        \
                (st) = (call);          \
            } while (again((l), (st))); \
        }                               \
    } while (0)

static grove_status live(life *l, int64_t seconds) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, l, on_completion, on_event};
    int64_t to = grove_sim_now(l->sim) + seconds * SECOND, deadline = 0;
    grove_status st = GROVE_OK;
    do {
        st = l->client.ops->process(l->client.impl, to, 0, &sink, &deadline, NULL);
    } while (again(l, st));
    return st;
}

static grove_status apply(life *l, const char *text) {
    grove_doc *doc = NULL;
    grove_status st;
    do {
        st = grove_doc_parse_json(l->env, text, strlen(text), 0, &doc, NULL);
    } while (again(l, st));
    if (st == GROVE_OK) {
        do {
            st = grove_sim_apply(l->sim, doc, NULL, NULL);
        } while (again(l, st));
    }
    grove_doc_unref(doc);
    return st;
}

static grove_status start(life *l) {
    grove_watch w = {.size = sizeof w, .kind = GROVE_KIND_POD, .token = 1};
    grove_sim_rule rule = GROVE_SIM_RULE_INIT;
    grove_status st;
    rule.pod = "a*";
    rule.ready_ns = 2 * SECOND;
    do {
        st = grove_sim_new(l->env, NULL, &l->sim, NULL);
    } while (again(l, st));
    if (st == GROVE_OK && l->log) {
        grove_sim_observe(l->sim, log_change, l);
    }
    REPEAT(l, st, grove_sim_add_nodes(l->sim, "1x1x2x8", NULL));
    REPEAT(l, st, grove_sim_add_rule(l->sim, &rule, NULL));
    REPEAT(l, st, grove_sim_backend(l->sim, &l->client, NULL));
    REPEAT(l, st, l->client.ops->watch(l->client.impl, &w, NULL));
    return st;
}

static grove_status submit(life *l, grove_op *op) {
    grove_status st;
    op->size = (uint32_t)sizeof *op;
    op->ns = "default";
    op->grace_seconds = GROVE_GRACE_DEFAULT;
    do {
        st = l->client.ops->submit(l->client.impl, op, NULL);
    } while (again(l, st));
    return st == GROVE_OK ? live(l, 0) : st;
}

static grove_status write_things(life *l) {
    static const char patch[] = "{\"metadata\":{\"labels\":{\"k\":\"v\"}}}";
    grove_doc *doc = NULL;
    grove_op scale = {.verb = GROVE_VERB_SCALE, .token = 2, .kind = GROVE_KIND_PODCLIQUE};
    grove_op merge = {.verb = GROVE_VERB_PATCH, .token = 3, .kind = GROVE_KIND_PODCLIQUE};
    grove_op list = {.verb = GROVE_VERB_LIST, .token = 4, .kind = GROVE_KIND_POD};
    grove_op evict = {.verb = GROVE_VERB_EVICT, .token = 5, .name = "a0"};
    scale.name = merge.name = "a";
    scale.replicas = 3;
    merge.patch_type = GROVE_PATCH_MERGE;
    list.label_selector = "grove.io/podgang=g";
    grove_status st;
    do {
        st = grove_doc_parse_json(l->env, patch, strlen(patch), 0, &doc, NULL);
    } while (again(l, st));
    merge.body_doc = doc;
    st = st == GROVE_OK ? submit(l, &scale) : st;
    st = st == GROVE_OK ? submit(l, &merge) : st;
    st = st == GROVE_OK ? submit(l, &list) : st;
    st = st == GROVE_OK ? submit(l, &evict) : st;
    grove_doc_unref(doc);
    return st;
}

static grove_status whole(life *l) {
    grove_status st = start(l);
    for (size_t i = 0; i < N_OBJECTS && st == GROVE_OK; i++) {
        st = apply(l, objects[i]);
    }
    st = st == GROVE_OK ? live(l, 10) : st;
    st = st == GROVE_OK ? write_things(l) : st;
    st = st == GROVE_OK ? live(l, 10) : st;
    REPEAT(l, st, grove_sim_fail_node(l->sim, "node-b0-r0-n0", NULL));
    st = st == GROVE_OK ? live(l, 400) : st;
    REPEAT(l, st, grove_sim_delete(l->sim, GROVE_KIND_PODCLIQUE, "default", "a", NULL));
    return st == GROVE_OK ? live(l, 1) : st;
}

static void end(life *l) {
    if (l->client.ops) {
        l->client.ops->destroy(l->client.impl);
    }
    grove_sim_free(l->sim);
}

static grove_status small_life(grove_env *env, void *ctx) {
    life l = {.env = env};
    (void)ctx;
    grove_status st = whole(&l);
    end(&l);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    oom_loop("a small life", small_life, NULL);
}

/* ---- failures that are repeated leave no trace ---- */

static void dump(life *l, grove_buf *out) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_sim_dump(l->sim, &doc, NULL), GROVE_OK);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, out, NULL), GROVE_OK);
    grove_doc_unref(doc);
}

static void test_repeat(void **state) {
    oom_memory m;
    grove_env *own = NULL;
    grove_buf want, got;
    (void)state;
    uint64_t total = 0;
    assert_int_equal(grove_env_new(NULL, &own), GROVE_OK);
    grove_buf_init(&want, own);
    grove_buf_init(&got, own);
    for (uint64_t at = 0; at == 0 || at <= total; at++) {
        oom_memory_init(&m);
        grove_env *env = oom_env(&m, NULL);
        grove_buf_clear(&got);
        life l = {.env = env, .patience = 2, .log = at == 0 ? &want : &got};
        m.fail_at = at == 0 ? 0 : m.allocations + at;
        m.fail_once = true;
        assert_int_equal(whole(&l), GROVE_OK);
        m.fail_at = 0;
        total = at == 0 ? m.allocations : total;
        dump(&l, at == 0 ? &want : &got);
        if (at > 0 && !test_diff(want.data, (size_t)want.len, got.data, (size_t)got.len)) {
            fail_msg("failure of allocation %llu left a trace", (unsigned long long)at);
        }
        end(&l);
        grove_env_unref(env);
    }
    grove_buf_fini(&want);
    grove_buf_fini(&got);
    grove_env_unref(own);
    print_message("%llu allocations in the life\n", (unsigned long long)total);
}

/* ---- a thousand pods ---- */

static void thousand(life *l) {
    char text[400], name[32];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-%d\","
                       "\"labels\":{\"grove.io/podgang\":\"g-%d\"}},\"spec\":{\"containers\":[{"
                       "\"name\":\"c\",\"image\":\"i\"}]}}",
                       i, i / 10);
        assert_int_equal(apply(l, text), GROVE_OK);
    }
    assert_int_equal(live(l, 60), GROVE_OK);
    assert_int_equal(grove_sim_count(l->sim, GROVE_KIND_POD), 1000);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "p-%d", i);
        assert_int_equal(grove_sim_delete(l->sim, GROVE_KIND_POD, "default", name, NULL), GROVE_OK);
    }
    assert_int_equal(live(l, 60), GROVE_OK);
    assert_int_equal(grove_sim_count(l->sim, GROVE_KIND_POD), 0);
    grove_sim_compact(l->sim);
}

static void test_thousand(void **state) {
    oom_memory m;
    (void)state;
    oom_memory_init(&m);
    grove_env *env = oom_env(&m, NULL);
    life l = {.env = env};
    assert_int_equal(start(&l), GROVE_OK);
    thousand(&l);
    uint64_t first = m.live_bytes;
    thousand(&l);
    uint64_t second = m.live_bytes;
    thousand(&l);
    print_message("live bytes after each thousand: %llu %llu %llu, peak %llu\n",
                  (unsigned long long)first, (unsigned long long)second,
                  (unsigned long long)m.live_bytes, (unsigned long long)m.peak_bytes);
    assert_int_equal(m.live_bytes, second);
    end(&l);
    grove_env_unref(env);
    assert_int_equal(m.live_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oom),
        cmocka_unit_test(test_repeat),
        cmocka_unit_test(test_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
