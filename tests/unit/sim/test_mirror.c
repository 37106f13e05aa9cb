/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever follows a watch knows what a list would say: random writes, a client that mirrors them through a backend
 * that repeats, delays and loses, and at the end the mirror and the list side by side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/sim.h>

#include "base/prng.h"
#include "value/doc.h"

#define NAMES 12

typedef struct mirror {
    grove_backend b;
    char version[NAMES][24]; /* "": not there */
    uint32_t epoch[NAMES], now_epoch;
    uint64_t token;
    bool begin; /* a watch is to be begun */
    bool synced;
    uint32_t gone;
    const char *selector;
} mirror;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    (void)ctx;
    (void)c;
    return GROVE_OK;
}

static int index_of(const grove_event *e) {
    return atoi(grove_node_text(grove_node_at_path(e->object, "/metadata/name")) + 1);
}

static grove_status on_event(void *ctx, const grove_event *e) {
    mirror *m = ctx;
    assert_int_equal(e->token, m->token);
    if (e->type == GROVE_EVENT_GONE) {
        m->begin = true;
        m->synced = false;
        m->gone++;
    } else if (e->type == GROVE_EVENT_SYNCED) {
        m->synced = true;
        for (int i = 0; i < NAMES; i++) { /* not seen again since GONE */
            if (m->epoch[i] != m->now_epoch) {
                m->version[i][0] = '\0';
            }
        }
    } else {
        int i = index_of(e);
        const char *rv = grove_node_text(
            grove_node_at_path(e->object, "/metadata/resourceVersion"));
        (void)snprintf(m->version[i], sizeof m->version[i], "%s",
                       e->type == GROVE_EVENT_DELETED ? "" : rv);
        m->epoch[i] = m->now_epoch;
    }
    return GROVE_OK;
}

static int64_t look(mirror *m, int64_t now) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, m, on_completion, on_event};
    int64_t deadline = 0;
    if (m->begin) {
        grove_watch w = {.size = sizeof w, .kind = GROVE_KIND_CONFIGMAP, .token = ++m->token};
        w.label_selector = m->selector;
        m->now_epoch++;
        m->begin = false;
        assert_int_equal(m->b.ops->watch(m->b.impl, &w, NULL), GROVE_OK);
    }
    assert_int_equal(m->b.ops->process(m->b.impl, now, 0, &sink, &deadline, NULL), GROVE_OK);
    return m->begin ? now : deadline;
}

/* ---- random writes ---- */

static grove_doc *body(grove_env *env, const char *name, uint64_t label, uint64_t data) {
    char text[200];
    grove_doc *doc = NULL;
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"in\":\"%s\"}},\"data\":{\"d\":\"%u\"}}", name,
        label ? "yes" : "no", (unsigned)data);
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    return doc;
}

static void write_something(grove_env *env, grove_sim *sim, gv_prng *r) {
    char name[16];
    (void)snprintf(name, sizeof name, "n%u", (unsigned)gv_prng_below(r, NAMES));
    uint64_t what = gv_prng_below(r, 5);
    grove_op op = {.size = sizeof op, .kind = GROVE_KIND_CONFIGMAP, .ns = "default"};
    grove_sim_result res = {.size = sizeof res};
    op.name = name;
    op.verb = what == 0 ? GROVE_VERB_DELETE : what < 3 ? GROVE_VERB_CREATE : GROVE_VERB_PATCH;
    op.patch_type = GROVE_PATCH_MERGE;
    op.body_doc = body(env, name, gv_prng_below(r, 2), gv_prng_below(r, 3));
    op.grace_seconds = GROVE_GRACE_DEFAULT;
    assert_int_equal(grove_sim_execute(sim, &op, &res), GROVE_OK);
    grove_doc_unref(res.doc);
    grove_doc_unref(op.body_doc);
    if (gv_prng_below(r, 40) == 0) {
        grove_sim_compact(sim);
    }
}

static void compare(grove_sim *sim, const mirror *m) {
    grove_doc *list = NULL;
    bool seen[NAMES] = {false};
    assert_int_equal(grove_sim_list(sim, GROVE_KIND_CONFIGMAP, NULL, m->selector, &list, NULL),
                     GROVE_OK);
    GV_EACH(o, grove_node_get(grove_doc_root(list), "items")) {
        const grove_node *meta = grove_node_get(o, "metadata");
        int i = atoi(gv_node_get_str(meta, "name").p + 1);
        assert_string_equal(m->version[i], gv_node_get_str(meta, "resourceVersion").p);
        seen[i] = true;
    }
    for (int i = 0; i < NAMES; i++) {
        assert_true(seen[i] || m->version[i][0] == '\0');
    }
    grove_doc_unref(list);
}

static uint32_t follow(uint64_t seed, const char *selector) {
    grove_env *env = NULL;
    grove_sim *sim = NULL;
    grove_backend inner;
    mirror m = {.begin = true, .selector = selector};
    gv_prng r;
    grove_sim_options o = {.size = sizeof o, .seed = seed, .history = 20};
    grove_fault_options f = {.size = sizeof f,
                             .seed = seed,
                             .delay_event = 6000,
                             .duplicate_event = 6000,
                             .gone = 1500,
                             .max_delay_ns = 5000};
    gv_prng_seed(&r, seed);
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sim_new(env, &o, &sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(sim, &inner, NULL), GROVE_OK);
    assert_int_equal(grove_backend_fault(env, &inner, &f, &m.b, NULL), GROVE_OK);
    int64_t now = grove_sim_now(sim);
    for (int i = 0; i < 400; i++) {
        write_something(env, sim, &r);
        if (gv_prng_below(&r, 3) == 0) {
            now += 1000;
            (void)look(&m, now);
        }
    }
    for (int64_t next = now; next != INT64_MAX || !m.synced;) {
        now = next == INT64_MAX ? now : next;
        next = look(&m, now);
    }
    compare(sim, &m);
    m.b.ops->destroy(m.b.impl);
    grove_sim_free(sim);
    grove_env_unref(env);
    return m.gone;
}

static void test_mirror(void **state) {
    uint32_t gone = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        gone += follow(seed, NULL);
        gone += follow(seed, "in=yes");
    }
    print_message("seeds 1 to 40, %u positions lost\n", gone);
    assert_true(gone > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mirror)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
