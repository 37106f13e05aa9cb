/* SPDX-License-Identifier: Apache-2.0 */
/* The direct calls: apply, hooks, node specs, histories that end, several clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/sim.h>

#include "value/doc.h"

#define SECOND INT64_C(1000000000)

typedef struct world {
    grove_env *env;
    grove_sim *sim;
} world;

static void open_world(world *w, const grove_sim_options *options) {
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    assert_int_equal(grove_sim_new(w->env, options, &w->sim, NULL), GROVE_OK);
}

static void close_world(world *w) {
    grove_sim_free(w->sim);
    grove_env_unref(w->env);
}

static grove_status apply(world *w, const char *text, grove_error *err) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_yaml(w->env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    grove_status st = grove_sim_apply(w->sim, doc, NULL, err);
    grove_doc_unref(doc);
    return st;
}

/* Compares the text at a pointer of a stored object; want NULL: absent. */
static void check(world *w, grove_kind kind, const char *name, const char *pointer,
                  const char *want) {
    grove_doc *doc = NULL;
    const char *ns = kind == GROVE_KIND_NODE ? "" : "default";
    assert_int_equal(grove_sim_get(w->sim, kind, ns, name, &doc, NULL), GROVE_OK);
    const char *have = grove_node_text(grove_node_at_path(grove_doc_root(doc), pointer));
    if (want) {
        assert_non_null(have);
        assert_string_equal(have, want);
    } else {
        assert_null(have);
    }
    grove_doc_unref(doc);
}

/* ---- apply ---- */

static void test_apply(void **state) {
    world w;
    grove_error err = GROVE_ERROR_INIT;
    (void)state;
    open_world(&w, NULL);
    assert_int_equal(apply(&w,
                           "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {a: b}}, "
                           "data: {x: '1', z: '2'}}",
                           &err),
                     GROVE_OK);
    /* what others wrote stays, what was applied and is left out goes */
    grove_doc *patch = NULL;
    static const char text[] = "{\"data\":{\"mine\":\"3\"}}";
    assert_int_equal(grove_doc_parse_json(w.env, text, strlen(text), 0, &patch, NULL), GROVE_OK);
    grove_op op = {.size = sizeof op, .verb = GROVE_VERB_PATCH, .kind = GROVE_KIND_CONFIGMAP};
    grove_sim_result res = {.size = sizeof res};
    op.ns = "default";
    op.name = "c";
    op.patch_type = GROVE_PATCH_MERGE;
    op.body_doc = patch;
    assert_int_equal(grove_sim_execute(w.sim, &op, &res), GROVE_OK);
    assert_int_equal(res.status, GROVE_OK);
    grove_doc_unref(res.doc);
    grove_doc_unref(patch);
    assert_int_equal(
        apply(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {x: '9'}}", &err),
        GROVE_OK);
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/data/x", "9");
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/data/z", NULL);
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/data/mine", "3");
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/metadata/labels/a", NULL);
    /* lists, other namespaces, unknown kinds */
    assert_int_equal(
        apply(&w,
              "{kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: d, "
              "namespace: fresh}}, {apiVersion: v1, kind: Secret, metadata: {name: e}}]}",
              &err),
        GROVE_OK);
    assert_int_equal(grove_sim_get(w.sim, GROVE_KIND_CONFIGMAP, "fresh", "d", &patch, NULL),
                     GROVE_OK);
    grove_doc_unref(patch);
    assert_int_equal(apply(&w, "{apiVersion: v9, kind: Nothing, metadata: {name: f}}", &err),
                     GROVE_E_UNSUPPORTED);
    assert_int_equal(grove_sim_delete(w.sim, GROVE_KIND_CONFIGMAP, "default", "nosuch", &err),
                     GROVE_E_NOT_FOUND);
    assert_string_equal(err.message, "configmaps \"nosuch\" not found");
    close_world(&w);
}

/* A manifest without status leaves the status alone. */
static void test_apply_status(void **state) {
    world w;
    (void)state;
    open_world(&w, NULL);
    assert_int_equal(apply(&w,
                           "{apiVersion: v1, kind: Node, metadata: {name: m}, status: {addresses: "
                           "[{type: A, address: x}, {type: B, address: z}]}}",
                           NULL),
                     GROVE_OK);
    assert_int_equal(
        apply(&w, "{apiVersion: v1, kind: Node, metadata: {name: m, labels: {k: v}}}", NULL),
        GROVE_OK);
    check(&w, GROVE_KIND_NODE, "m", "/metadata/labels/k", "v");
    check(&w, GROVE_KIND_NODE, "m", "/status/addresses/1/address", "z"); /* status is not applied */
    close_world(&w);
}

/* ---- hooks ---- */

static grove_status admit(void *ctx, grove_sim_review *r) {
    int *calls = ctx;
    ++*calls;
    const grove_node *data = grove_node_get(r->object, "data");
    if (r->verb == GROVE_VERB_DELETE) {
        r->http = strcmp(r->name, "kept") == 0 ? 403 : 0;
        (void)snprintf(r->message, sizeof r->message, "it is kept");
        return GROVE_OK;
    }
    if (grove_node_get(data, "bad")) {
        r->http = 403;
        (void)snprintf(r->message, sizeof r->message, "bad data");
        return GROVE_OK;
    }
    assert_true((r->old != NULL) == (r->verb == GROVE_VERB_REPLACE));
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(grove_doc_env(r->object_doc), &b);
    grove_builder_open_object(b, NULL);
    grove_builder_link(b, "metadata", r->object_doc, grove_node_get(r->object, "metadata"));
    grove_builder_open_object(b, "data");
    grove_builder_string(b, "defaulted", "yes");
    grove_builder_close(b);
    grove_builder_close(b);
    st = st < 0 ? st : grove_builder_finish(b, &r->out_doc, NULL);
    grove_builder_free(b);
    return st;
}

static void test_admission(void **state) {
    world w;
    int calls = 0;
    grove_error err = GROVE_ERROR_INIT;
    grove_sim_options o = {.size = sizeof o, .admit = admit, .admit_ctx = &calls};
    (void)state;
    open_world(&w, &o);
    calls = 0;
    assert_int_equal(
        apply(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {x: '1'}}", &err),
        GROVE_OK);
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/data/defaulted", "yes");
    check(&w, GROVE_KIND_CONFIGMAP, "c", "/data/x", NULL);
    assert_int_equal(
        apply(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {bad: '1'}}", &err),
        GROVE_E_FORBIDDEN);
    assert_string_equal(err.message, "bad data");
    assert_int_equal(
        apply(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept}, data: {}}", &err),
        GROVE_OK);
    assert_int_equal(grove_sim_delete(w.sim, GROVE_KIND_CONFIGMAP, "default", "kept", &err),
                     GROVE_E_FORBIDDEN);
    assert_int_equal(grove_sim_delete(w.sim, GROVE_KIND_CONFIGMAP, "default", "c", &err), GROVE_OK);
    assert_int_equal(calls, 5);
    close_world(&w);
}

typedef struct binder {
    int calls;
} binder;

static grove_status schedule(void *ctx, grove_sim *sim, int64_t now) {
    binder *b = ctx;
    grove_doc *list = NULL;
    (void)now;
    b->calls++;
    assert_int_equal(grove_sim_list(sim, GROVE_KIND_POD, NULL, NULL, &list, NULL), GROVE_OK);
    GV_EACH(pod, grove_node_get(grove_doc_root(list), "items")) {
        const grove_node *spec = grove_node_get(pod, "spec");
        if (!grove_node_get(spec, "nodeName")) {
            assert_int_equal(
                grove_sim_bind(sim, "default",
                               grove_node_text(grove_node_at_path(pod, "/metadata/name")),
                               "node-b0-r0-n1", NULL),
                GROVE_OK);
        }
    }
    grove_doc_unref(list);
    return GROVE_OK;
}

static void test_scheduler(void **state) {
    world w;
    binder b = {0};
    (void)state;
    open_world(&w, NULL);
    assert_int_equal(grove_sim_add_nodes(w.sim, "1x1x2x8", NULL), GROVE_OK);
    assert_int_equal(grove_sim_set_scheduler(w.sim, "mine", schedule, &b, NULL), GROVE_OK);
    assert_int_equal(apply(&w,
                           "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: "
                           "mine, containers: [{name: c, image: a}]}}",
                           NULL),
                     GROVE_OK);
    assert_int_equal(grove_sim_advance(w.sim, grove_sim_now(w.sim) + 10 * SECOND, NULL), GROVE_OK);
    check(&w, GROVE_KIND_POD, "p", "/spec/nodeName", "node-b0-r0-n1");
    check(&w, GROVE_KIND_POD, "p", "/status/phase", "Running");
    assert_true(b.calls >= 1 && b.calls <= 3);
    close_world(&w);
}

static void test_gang_scheduler(void **state) {
    world w;
    grove_sim_options o = {.size = sizeof o, .gang_scheduler_names = "other, kai-scheduler"};
    (void)state;
    open_world(&w, &o);
    assert_int_equal(grove_sim_add_nodes(w.sim, "nodes=1,gpu=3", NULL), GROVE_OK);
    for (int i = 0; i < 2; i++) {
        char text[300];
        (void)snprintf(
            text, sizeof text,
            "{apiVersion: v1, kind: Pod, metadata: {name: p%d}, spec: {schedulerName: "
            "kai-scheduler, containers: [{name: c, image: a, resources: {limits: {nvidia.com/gpu: "
            "2}}}]}}",
            i);
        assert_int_equal(apply(&w, text, NULL), GROVE_OK);
    }
    assert_int_equal(
        apply(&w,
              "{apiVersion: scheduler.grove.io/v1alpha1, kind: PodGang, metadata: {name: g}, "
              "spec: {podgroups: [{name: a, minReplicas: 2, podReferences: [{namespace: "
              "default, name: p0}, {namespace: default, name: p1}]}]}}",
              NULL),
        GROVE_OK);
    assert_int_equal(grove_sim_advance(w.sim, grove_sim_now(w.sim) + SECOND, NULL), GROVE_OK);
    check(&w, GROVE_KIND_POD, "p0", "/spec/nodeName", NULL); /* whole or nothing */
    assert_int_equal(grove_sim_add_nodes(w.sim, "nodes=1,gpu=2,prefix=more", NULL), GROVE_OK);
    assert_int_equal(grove_sim_advance(w.sim, grove_sim_now(w.sim) + SECOND, NULL), GROVE_OK);
    check(&w, GROVE_KIND_POD, "p0", "/spec/nodeName", "node-b0-r0-n0");
    check(&w, GROVE_KIND_POD, "p1", "/spec/nodeName", "more-b0-r0-n0");
    close_world(&w);
}

/* ---- node specs ---- */

static void test_node_specs(void **state) {
    static const char *const bad[] = {"blocks=0",    "blocks=-1", "blocks=x", "gpus=8",
                                      "gpu=abc",     "2x2x4",     "2x2x4x",   "axbxcxd",
                                      "blocks=2,,x", "prefix=",   "hello"};
    world w;
    grove_doc *list = NULL;
    (void)state;
    open_world(&w, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(grove_sim_node_list(w.env, bad[i], &list, &err), GROVE_E_PARSE);
        assert_non_null(strstr(err.message, "node spec"));
    }
    assert_int_equal(
        grove_sim_node_list(w.env,
                            " zones=2 , blocks=1,racks=1,nodes=3,gpu=0,cpu=8,memory=1Ti,"
                            "rack-key=example.com/rack,prefix=n",
                            &list, NULL),
        GROVE_OK);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    assert_int_equal(grove_node_size(items), 6);
    const grove_node *last = grove_node_at(items, 5);
    assert_string_equal(grove_node_text(grove_node_at_path(last, "/metadata/name")),
                        "n-z1-b0-r0-n2");
    assert_string_equal(
        grove_node_text(grove_node_at_path(last, "/metadata/labels/example.com~1rack")),
        "z1-b0-r0");
    assert_null(grove_node_at_path(last, "/status/capacity/nvidia.com~1gpu"));
    grove_doc_unref(list);
    assert_int_equal(
        grove_sim_add_nodes(w.sim,
                            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\n"
                            "kind: List\nitems:\n- {apiVersion: v1, kind: Node, metadata: "
                            "{name: b}}\n",
                            NULL),
        GROVE_OK);
    assert_int_equal(grove_sim_count(w.sim, GROVE_KIND_NODE), 2);
    assert_int_equal(grove_sim_add_nodes(w.sim, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}", NULL),
                     GROVE_E_INVALID);
    close_world(&w);
}

/* ---- watches that come too late ---- */

typedef struct seen {
    int events, gone, synced;
    char last[24];
} seen;

static grove_status on_event(void *ctx, const grove_event *e) {
    seen *s = ctx;
    s->events++;
    s->gone += e->type == GROVE_EVENT_GONE ? 1 : 0;
    s->synced += e->type == GROVE_EVENT_SYNCED ? 1 : 0;
    (void)snprintf(s->last, sizeof s->last, "%s", e->resource_version);
    return GROVE_OK;
}

static grove_status on_completion(void *ctx, const grove_completion *c) {
    (void)ctx;
    (void)c;
    return GROVE_OK;
}

static void look(world *w, grove_backend *b, seen *s) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, s, on_completion, on_event};
    int64_t deadline = 0;
    assert_int_equal(b->ops->process(b->impl, grove_sim_now(w->sim), 0, &sink, &deadline, NULL),
                     GROVE_OK);
}

static void watch(grove_backend *b, uint64_t token, const char *version) {
    grove_watch in = {.size = sizeof in, .kind = GROVE_KIND_CONFIGMAP, .token = token};
    in.resource_version = version;
    assert_int_equal(b->ops->watch(b->impl, &in, NULL), GROVE_OK);
}

static void touch(world *w, int n) {
    char text[120];
    for (int i = 0; i < n; i++) {
        (void)snprintf(text, sizeof text,
                       "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {n: '%d-%d'}}",
                       n, i);
        assert_int_equal(apply(w, text, NULL), GROVE_OK);
    }
}

static void test_history_ends(void **state) {
    world w;
    grove_backend slow, fast;
    seen a = {0}, b = {0};
    grove_sim_options o = {.size = sizeof o, .history = 10};
    (void)state;
    open_world(&w, &o);
    assert_int_equal(grove_sim_backend(w.sim, &slow, NULL), GROVE_OK);
    assert_int_equal(grove_sim_backend(w.sim, &fast, NULL), GROVE_OK);
    watch(&slow, 1, NULL);
    watch(&fast, 1, NULL); /* tokens are each client's own */
    for (int i = 0; i < 5; i++) {
        touch(&w, 5 + i);
        look(&w, &fast, &b);
    }
    assert_int_equal(b.gone, 0);
    assert_int_equal(b.events, 1 + 5 + 6 + 7 + 8 + 9);
    look(&w, &slow, &a); /* the snapshot was empty, what came then is forgotten */
    assert_int_equal(a.gone, 1);
    assert_int_equal(a.synced, 1);
    assert_int_equal(a.events, 2);
    assert_string_equal(a.last, "");
    watch(&slow, 2, "1");
    look(&w, &slow, &a);
    assert_int_equal(a.gone, 2);
    watch(&slow, 3, b.last); /* nothing new since */
    look(&w, &slow, &a);
    assert_int_equal(a.events, 3);
    watch(&slow, 4, "99999999"); /* from the future: silence */
    look(&w, &slow, &a);
    assert_int_equal(a.events, 3);
    grove_sim_compact(w.sim);
    touch(&w, 1);
    look(&w, &slow, &a); /* both positions were at the end: nothing was lost */
    assert_int_equal(a.gone, 2);
    slow.ops->destroy(slow.impl);
    fast.ops->destroy(fast.impl);
    close_world(&w);
}

static void test_old_page(void **state) {
    world w;
    grove_sim_options o = {.size = sizeof o, .history = 4};
    grove_op op = {.size = sizeof op, .verb = GROVE_VERB_LIST, .kind = GROVE_KIND_CONFIGMAP};
    grove_sim_result res = {.size = sizeof res};
    char position[64];
    (void)state;
    open_world(&w, &o);
    touch(&w, 1);
    assert_int_equal(apply(&w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: d}}", NULL),
                     GROVE_OK);
    op.limit = 1;
    assert_int_equal(grove_sim_execute(w.sim, &op, &res), GROVE_OK);
    (void)snprintf(
        position, sizeof position, "%s",
        grove_node_text(grove_node_at_path(grove_doc_root(res.doc), "/metadata/continue")));
    grove_doc_unref(res.doc);
    touch(&w, 9);
    op.position = position;
    res = (grove_sim_result){.size = sizeof res};
    assert_int_equal(grove_sim_execute(w.sim, &op, &res), GROVE_OK);
    assert_int_equal(res.status, GROVE_E_GONE);
    assert_int_equal(res.http, 410);
    grove_doc_unref(res.doc);
    close_world(&w);
}

static void test_bookmark(void **state) {
    world w;
    grove_backend b;
    seen s = {0};
    (void)state;
    open_world(&w, NULL);
    assert_int_equal(grove_sim_backend(w.sim, &b, NULL), GROVE_OK);
    watch(&b, 1, NULL);
    touch(&w, 1);
    assert_int_equal(apply(&w, "{apiVersion: v1, kind: Secret, metadata: {name: s}}", NULL),
                     GROVE_OK);
    assert_int_equal(b.ops->control(b.impl, GROVE_CONTROL_FLUSH, NULL, NULL), GROVE_OK);
    look(&w, &b, &s);
    assert_int_equal(s.events, 3); /* synced, added, bookmark */
    char last[24];
    (void)snprintf(last, sizeof last, "%s", s.last); /* past the Secret: nothing here is older */
    watch(&b, 2, last);
    touch(&w, 2);
    look(&w, &b, &s);
    assert_int_equal(s.events, 7);
    assert_int_equal(s.gone, 0);
    b.ops->destroy(b.impl);
    close_world(&w);
}

static void test_pause(void **state) {
    world w;
    grove_backend b;
    seen s = {0};
    (void)state;
    open_world(&w, NULL);
    assert_int_equal(grove_sim_backend(w.sim, &b, NULL), GROVE_OK);
    watch(&b, 1, NULL);
    assert_int_equal(b.ops->control(b.impl, GROVE_CONTROL_PAUSE, NULL, NULL), GROVE_OK);
    touch(&w, 3);
    look(&w, &b, &s);
    assert_int_equal(s.events, 0);
    assert_int_equal(b.ops->control(b.impl, GROVE_CONTROL_RESUME, NULL, NULL), GROVE_OK);
    look(&w, &b, &s);
    assert_int_equal(s.events, 4);
    b.ops->destroy(b.impl);
    close_world(&w);
}

/* ---- what is seen from outside ---- */

static void count_change(void *ctx, int64_t now, const grove_event *event) {
    int *n = ctx;
    (void)now;
    assert_non_null(event->object);
    ++*n;
}

static void test_observe(void **state) {
    world w;
    int n = 0;
    grove_doc *dump = NULL;
    (void)state;
    open_world(&w, NULL);
    grove_sim_observe(w.sim, count_change, &n);
    touch(&w, 3);
    assert_int_equal(n, 3);
    assert_int_equal(grove_sim_dump(w.sim, &dump, NULL), GROVE_OK);
    assert_int_equal(grove_node_size(grove_node_get(grove_doc_root(dump), "items")),
                     grove_sim_count(w.sim, GROVE_KIND_NONE));
    grove_doc_unref(dump);
    assert_int_equal(grove_sim_deadline(w.sim), grove_sim_now(w.sim)); /* work waits */
    assert_int_equal(grove_sim_advance(w.sim, 0, NULL), GROVE_OK);
    assert_true(grove_sim_deadline(w.sim) == INT64_MAX);
    close_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_apply),          cmocka_unit_test(test_apply_status),
        cmocka_unit_test(test_admission),      cmocka_unit_test(test_scheduler),
        cmocka_unit_test(test_gang_scheduler), cmocka_unit_test(test_node_specs),
        cmocka_unit_test(test_history_ends),   cmocka_unit_test(test_old_page),
        cmocka_unit_test(test_pause),          cmocka_unit_test(test_observe),
        cmocka_unit_test(test_bookmark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
