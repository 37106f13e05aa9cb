/* SPDX-License-Identifier: Apache-2.0 */
/* The store: indexes, dirty marks, memory under churn, versions, relists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "support/oom.h"

static grove_status put_text(grove_store *s, grove_env *env, const char *json) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = grove_doc_parse_json(env, json, strlen(json), 0, &doc, &err);
    if (st == GROVE_OK) {
        st = grove_store_put(s, doc, grove_doc_root(doc), &err);
    }
    grove_doc_unref(doc);
    return st;
}

static grove_status remove_text(grove_store *s, grove_env *env, const char *json) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(env, json, strlen(json), 0, &doc, NULL);
    if (st == GROVE_OK) {
        st = grove_store_remove(s, grove_doc_root(doc), NULL);
    }
    grove_doc_unref(doc);
    return st;
}

static const char pcs[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\","
    "\"namespace\":\"t\",\"uid\":\"u-s\",\"resourceVersion\":\"10\"},\"spec\":{\"template\":{"
    "\"priorityClassName\":\"high\",\"topologyConstraint\":{\"topologyName\":\"topo\"},\"cliques\":"
    "[{"
    "\"name\":\"a\",\"resourceSharing\":[{\"name\":\"rct\",\"scope\":\"AllReplicas\"}]}]}}}";

static const char pclq[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{\"name\":\"s-0-a\","
    "\"namespace\":\"t\",\"uid\":\"u-a\",\"resourceVersion\":\"11\",\"labels\":{"
    "\"app.kubernetes.io/managed-by\":\"grove-operator\",\"app.kubernetes.io/part-of\":\"s\"},"
    "\"ownerReferences\":[{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"name\":"
    "\"s\",\"uid\":\"u-s\",\"controller\":true}]},\"spec\":{\"replicas\":2}}";

static void pod_json(char *out, size_t cap, const char *name, const char *uid, int rv,
                     const char *node, const char *phase) {
    snprintf(
        out, cap,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
        "\"t\",\"uid\":\"%s\",\"resourceVersion\":\"%d\",\"labels\":{"
        "\"app.kubernetes.io/managed-by\":\"grove-operator\",\"app.kubernetes.io/part-of\":\"s\","
        "\"grove.io/podclique\":\"s-0-a\",\"grove.io/podgang\":\"s-0\","
        "\"grove.io/podclique-pod-index\":\"1\",\"grove.io/pod-template-hash\":\"h\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\","
        "\"name\":\"s-0-a\",\"uid\":\"u-a\",\"controller\":true}],\"creationTimestamp\":"
        "\"2026-01-02T03:04:05Z\"},\"spec\":{\"hostname\":\"s-0-a-1\",\"nodeName\":\"%s\","
        "\"schedulingGates\":[{\"name\":\"x/y\"},{\"name\":\"grove.io/podgang-pending-creation\"}],"
        "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":"
        "\"2Gi\"},\"limits\":{\"nvidia.com/gpu\":\"4\"}},\"ports\":[{\"containerPort\":80,"
        "\"hostPort\":8080}]},{\"name\":\"d\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}],"
        "\"initContainers\":[{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}},{"
        "\"name\":\"side\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":"
        "\"250m\"}}}]},\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"PodScheduled\","
        "\"status\":\"False\",\"reason\":\"SchedulingGated\"}],\"containerStatuses\":[{\"name\":"
        "\"c\",\"started\":true,\"ready\":false,\"lastState\":{\"terminated\":{\"exitCode\":1}}}]}"
        "}",
        name, uid, rv, node, phase);
}

typedef struct fixture {
    oom_memory memory;
    grove_env *env;
    grove_store *store;
} fixture;

static void begin(fixture *f) {
    oom_memory_init(&f->memory);
    f->env = oom_env(&f->memory, NULL);
    assert_non_null(f->env);
    assert_int_equal(grove_store_new(f->env, &f->store), 0);
}

static void end(fixture *f) {
    grove_store_free(f->store);
    grove_env_unref(f->env);
    assert_int_equal(f->memory.live_blocks, 0);
}

static bool take_dirty(fixture *f, const char *want) {
    const char *ns = NULL, *name = NULL;
    if (!grove_store_next_dirty(f->store, &ns, &name)) {
        return false;
    }
    return strcmp(ns, "t") == 0 && strcmp(name, want) == 0;
}

static void drain(fixture *f) {
    const char *ns = NULL, *name = NULL;
    while (grove_store_next_dirty(f->store, &ns, &name)) {
    }
    gv_store_take_capacity_mark(f->store);
}

static void test_record_of_a_pod(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    pod_json(text, sizeof text, "p", "u-p", 12, "", "Pending");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    gv_object *o = gv_store_get(f.store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
    assert_non_null(o);
    const gv_pod *p = &o->u.pod;
    assert_string_equal(p->head.uid, "u-p");
    assert_string_equal(p->head.owner_uid, "u-a");
    assert_int_equal(p->head.owner_kind, GV_KIND_PODCLIQUE);
    assert_string_equal(p->clique, "s-0-a");
    assert_string_equal(p->gang, "s-0");
    assert_string_equal(p->hash, "h");
    assert_int_equal(p->index, 1);
    assert_int_equal(p->hostname_index, 1);
    assert_int_equal(p->gate_at, 1);
    assert_int_equal(p->n_gates, 2);
    assert_int_equal(p->phase, GV_POD_PHASE_PENDING);
    assert_int_equal(p->flags, GV_POD_GROVE_GATE | GV_POD_FOREIGN_GATE | GV_POD_GATED_COND |
                                   GV_POD_ERRONEOUS | GV_POD_STARTED_NOT_READY |
                                   GV_POD_NOT_STARTED);
    /* cpu: the init container alone needs 4; containers and sidecar together 2.75. */
    assert_int_equal(p->n_requests, 3);
    assert_string_equal(p->requests[0].name, "cpu");
    assert_int_equal(p->requests[0].amount, 4000);
    assert_string_equal(p->requests[1].name, "memory");
    assert_true(p->requests[1].amount == INT64_C(2) << 30);
    assert_string_equal(p->requests[2].name, "nvidia.com/gpu");
    assert_int_equal(p->requests[2].amount, 4);
    assert_int_equal(p->n_ports, 1);
    assert_int_equal(p->ports[0].port, 8080);
    end(&f);
}

static void test_indexes_follow_changes(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    assert_int_equal(put_text(f.store, f.env, pcs), 0);
    assert_int_equal(put_text(f.store, f.env, pclq), 0);
    pod_json(text, sizeof text, "p", "u-p", 12, "", "Pending");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    assert_int_equal(gv_store_of_set(f.store, GV_STR("t"), GV_STR("s"))->n, 3);
    assert_int_equal(gv_store_owned_by(f.store, GV_STR("u-a"))->n, 1);
    assert_int_equal(gv_store_of_gang(f.store, GV_STR("t"), GV_STR("s-0"))->n, 1);
    assert_int_equal(gv_store_on_node(f.store, GV_STR("n1"))->n, 0);
    pod_json(text, sizeof text, "p", "u-p", 13, "n1", "Running");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    assert_int_equal(gv_store_on_node(f.store, GV_STR("n1"))->n, 1);
    assert_non_null(gv_store_by_uid(f.store, GV_STR("u-p")));
    /* The same name with another uid is another object. */
    pod_json(text, sizeof text, "p", "u-q", 14, "", "Pending");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    assert_null(gv_store_by_uid(f.store, GV_STR("u-p")));
    assert_int_equal(gv_store_on_node(f.store, GV_STR("n1"))->n, 0);
    /* A deletion of the old one comes late: it is not this one's. */
    pod_json(text, sizeof text, "p", "u-p", 15, "n1", "Running");
    assert_int_equal(remove_text(f.store, f.env, text), 0);
    assert_non_null(gv_store_by_uid(f.store, GV_STR("u-q")));
    pod_json(text, sizeof text, "p", "u-q", 16, "", "Pending");
    assert_int_equal(remove_text(f.store, f.env, text), 0);
    assert_null(gv_store_by_uid(f.store, GV_STR("u-q")));
    assert_int_equal(gv_store_of_set(f.store, GV_STR("t"), GV_STR("s"))->n, 2);
    end(&f);
}

static void test_stale_events_are_ignored(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    pod_json(text, sizeof text, "p", "u-p", 20, "n1", "Running");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    pod_json(text, sizeof text, "p", "u-p", 19, "", "Pending");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    gv_object *o = gv_store_get(f.store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
    assert_string_equal(o->u.pod.node, "n1");
    assert_int_equal(gv_store_version(f.store, GV_KIND_POD), 20);
    /* A watch that lags tells of the pod that had the name before; the known one was read meanwhile. */
    pod_json(text, sizeof text, "p", "u-former", 18, "n2", "Running");
    assert_int_equal(put_text(f.store, f.env, text), 0);
    o = gv_store_get(f.store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
    assert_string_equal(o->u.head.uid, "u-p");
    assert_string_equal(o->u.pod.node, "n1");
    end(&f);
}

static void test_dirty_keys(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    put_text(f.store, f.env, pcs);
    assert_true(take_dirty(&f, "s"));
    assert_false(take_dirty(&f, "s"));
    put_text(f.store, f.env, pclq);
    pod_json(text, sizeof text, "p", "u-p", 20, "n1", "Running");
    put_text(f.store, f.env, text);
    assert_true(take_dirty(&f, "s")); /* both under one mark */
    assert_false(take_dirty(&f, "s"));
    drain(&f);
    /* Nothing a decision reads has changed. */
    pod_json(text, sizeof text, "p", "u-p", 21, "n1", "Running");
    put_text(f.store, f.env, text);
    assert_false(take_dirty(&f, "s"));
    assert_false(gv_store_take_capacity_mark(f.store));
    pod_json(text, sizeof text, "p", "u-p", 22, "n1", "Succeeded");
    put_text(f.store, f.env, text);
    assert_true(take_dirty(&f, "s"));
    assert_true(gv_store_take_capacity_mark(f.store));
    static const struct {
        const char *json;
        bool dirty, capacity;
    } rows[] = {
        {"{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"}}", false, true},
        {"{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"ClusterTopologyBinding\",\"metadata\":{"
         "\"name\":\"topo\"}}",
         true, true},
        {"{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"ClusterTopologyBinding\",\"metadata\":{"
         "\"name\":\"other\"}}",
         false, true},
        {"{\"apiVersion\":\"scheduling.k8s.io/"
         "v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
         "\"high\"}}",
         true, false},
        {"{\"apiVersion\":\"scheduling.k8s.io/"
         "v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
         "\"low\"}}",
         false, false},
        {"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaimTemplate\",\"metadata\":{"
         "\"name\":\"rct\",\"namespace\":\"t\"}}",
         true, false},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s-0\",\"namespace\":"
         "\"t\",\"ownerReferences\":[{\"apiVersion\":\"grove.io/"
         "v1alpha1\",\"kind\":\"PodCliqueSet\","
         "\"name\":\"s\",\"uid\":\"u-s\",\"controller\":true}]}}",
         true, false},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"x\",\"namespace\":"
         "\"t\"}}",
         false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        drain(&f);
        assert_int_equal(put_text(f.store, f.env, rows[i].json), 0);
        assert_int_equal(take_dirty(&f, "s"), rows[i].dirty);
        assert_int_equal(gv_store_take_capacity_mark(f.store), rows[i].capacity);
    }
    end(&f);
}

/* What names no set marks none, not even the set without a name; whatever else its labels say. */
static void test_no_key_of_nobody(void **state) {
    static const char *const labels[] = {"", "\"app.kubernetes.io/managed-by\":\"grove-operator\"",
                                         "\"app.kubernetes.io/part-of\":\"s\"",
                                         "\"grove.io/podclique\":\"s-0-a\""};
    static const char *const kinds[] = {"Pod", "Service", "Secret"};
    (void)state;
    fixture f;
    begin(&f);
    put_text(f.store, f.env, pcs);
    for (size_t i = 0; i < sizeof labels / sizeof *labels * 3; i++) {
        char text[512];
        drain(&f);
        snprintf(text, sizeof text,
                 "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"x%zu\","
                 "\"namespace\":\"t\",\"uid\":\"u%zu\",\"labels\":{%s}}}",
                 kinds[i % 3], i, i, labels[i / 3]);
        assert_int_equal(put_text(f.store, f.env, text), 0);
        const char *ns = NULL, *name = NULL;
        assert_false(grove_store_next_dirty(f.store, &ns, &name));
    }
    end(&f);
}

/* A set that is marked again while it is being planned comes up again; the texts handed out hold. */
static void test_marks_while_planning(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    const char *ns = NULL, *name = NULL;
    put_text(f.store, f.env, pcs);
    assert_int_equal(grove_store_next_dirty(f.store, &ns, &name), 1);
    assert_int_equal(remove_text(f.store, f.env, pcs), 0); /* its last member: the list is empty */
    assert_string_equal(ns, "t");
    assert_string_equal(name, "s");
    assert_int_equal(grove_store_next_dirty(f.store, &ns, &name), 1);
    assert_string_equal(name, "s");
    assert_int_equal(grove_store_next_dirty(f.store, &ns, &name), 0);
    assert_int_equal(grove_store_mark(f.store, "t", "a"), 0);
    assert_int_equal(grove_store_mark(f.store, "t", "b"), 0);
    assert_int_equal(grove_store_mark(f.store, "t", "a"), 0);
    assert_true(take_dirty(&f, "a")); /* oldest mark first, each once */
    assert_true(take_dirty(&f, "b"));
    assert_false(take_dirty(&f, "a"));
    grove_store_stats stats = {.size = sizeof stats};
    assert_int_equal(grove_store_stats_get(f.store, &stats), 0);
    assert_int_equal(stats.objects, 0);
    assert_int_equal(stats.strings, 0);
    end(&f);
}

static void test_memory_limit(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_store *store = NULL;
    grove_limits limits = {.size = sizeof limits, .store_bytes = 2000};
    grove_env_options options = {.size = sizeof options, .limits = &limits};
    assert_int_equal(grove_env_new(&options, &env), 0);
    assert_int_equal(grove_store_new(env, &store), 0);
    char text[4096];
    grove_status st = GROVE_OK;
    int n = 0;
    for (; st == GROVE_OK && n < 20; n++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", n);
        pod_json(text, sizeof text, name, name, 20 + n, "n1", "Running");
        st = put_text(store, env, text);
    }
    assert_int_equal(st, GROVE_E_LIMIT);
    assert_true(n > 2 && n < 8);
    grove_store_free(store);
    grove_env_unref(env);
}

static void test_relist(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    for (int i = 0; i < 4; i++) {
        char name[8], uid[8];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(uid, sizeof uid, "u%d", i);
        pod_json(text, sizeof text, name, uid, 20 + i, "n1", "Running");
        put_text(f.store, f.env, text);
    }
    gv_store_relist_begin(f.store, GV_KIND_POD);
    pod_json(text, sizeof text, "p1", "u1", 21, "n1", "Running");
    put_text(f.store, f.env, text);
    pod_json(text, sizeof text, "p3", "u3", 30, "n1", "Failed");
    put_text(f.store, f.env, text);
    assert_int_equal(gv_store_relist_end(f.store, GV_KIND_POD), 0);
    assert_int_equal(gv_store_of_kind(f.store, GV_KIND_POD)->n, 2);
    assert_non_null(gv_store_by_uid(f.store, GV_STR("u1")));
    assert_null(gv_store_by_uid(f.store, GV_STR("u0")));
    end(&f);
}

static void is_last(const fixture *f, const char *uid) {
    gv_str last = gv_store_departed(f->store, GV_STR("u-a"), 1);
    assert_string_equal(last.p, uid);
}

/* The latest pod of an index that is gone is remembered, however its end was learnt, while its clique is. */
static void test_departed(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    char text[4096];
    put_text(f.store, f.env, pclq);
    is_last(&f, "");
    pod_json(text, sizeof text, "p0", "u0", 20, "n1", "Running");
    put_text(f.store, f.env, text);
    is_last(&f, "");
    remove_text(f.store, f.env, text);
    is_last(&f, "u0");
    assert_string_equal(gv_store_departed(f.store, GV_STR("u-a"), 0).p, "");
    assert_string_equal(gv_store_departed(f.store, GV_STR("u-b"), 1).p, "");
    pod_json(text, sizeof text, "p1", "u1", 21, "n1", "Running");
    put_text(f.store, f.env, text);
    pod_json(text, sizeof text, "p1", "u2", 22, "n1", "Running"); /* another one of its name */
    put_text(f.store, f.env, text);
    is_last(&f, "u1");
    gv_store_relist_begin(f.store, GV_KIND_POD);
    assert_int_equal(gv_store_relist_end(f.store, GV_KIND_POD), 0);
    is_last(&f, "u2");
    remove_text(f.store, f.env, pclq);
    is_last(&f, "");
    end(&f);
}

/* A hundred thousand replacements leave memory where it was. */
static void test_churn_is_flat(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    enum { PODS = 2000, ROUNDS = 50 };
    grove_doc *docs[2][8];
    char text[4096];
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < 8; i++) {
            char name[16], uid[40];
            snprintf(name, sizeof name, "s-0-a-abcd%d", i);
            snprintf(uid, sizeof uid, "7b0f7ab4-2f8e-4f7b-9d53-00000000000%d", i);
            pod_json(text, sizeof text, name, uid, 1, v ? "n1" : "n2", v ? "Running" : "Pending");
            assert_int_equal(grove_doc_parse_json(f.env, text, strlen(text), 0, &docs[v][i], NULL),
                             0);
        }
    }
    for (int i = 0; i < 16; i++) {
        grove_store_put(f.store, docs[i / 8][i % 8], grove_doc_root(docs[i / 8][i % 8]), NULL);
    }
    drain(&f);
    uint64_t before = f.memory.live_bytes;
    for (int i = 0; i < PODS * ROUNDS; i++) {
        grove_doc *d = docs[(i / 8) % 2][i % 8];
        if (grove_store_put(f.store, d, grove_doc_root(d), NULL) != GROVE_OK) {
            fail();
        }
    }
    drain(&f);
    for (int i = 0; i < 8; i++) {
        grove_store_put(f.store, docs[1][i], grove_doc_root(docs[1][i]), NULL);
    }
    drain(&f);
    assert_true(f.memory.live_bytes <= before);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < 8; i++) {
            grove_doc_unref(docs[v][i]);
        }
    }
    end(&f);
}

/* A pod costs at most 700 bytes, all in. */
static void test_bytes_per_pod(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    uint64_t before = f.memory.live_bytes;
    enum { PODS = 3000 };
    char text[4096], name[64], uid[64];
    for (int i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "inference-0-prefill-12-worker-%05d", i);
        snprintf(uid, sizeof uid, "7b0f7ab4-2f8e-4f7b-9d53-%012d", i);
        pod_json(text, sizeof text, name, uid, 1000000 + i, "gpu-node-0017", "Running");
        assert_int_equal(put_text(f.store, f.env, text), 0);
    }
    uint64_t each = (f.memory.live_bytes - before) / PODS;
    print_message("%llu bytes a pod\n", (unsigned long long)each);
    assert_true(each <= 700);
    end(&f);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    (void)ctx;
    grove_store *s = NULL;
    char text[4096];
    grove_status st = grove_store_new(env, &s);
    const char *ns, *name;
    st = st < 0 ? st : put_text(s, env, pcs);
    st = st < 0 ? st : put_text(s, env, pclq);
    for (int i = 0; i < 3 && st == GROVE_OK; i++) {
        pod_json(text, sizeof text, i == 1 ? "q" : "p", i == 1 ? "u-q" : "u-p", 20 + i,
                 i ? "n1" : "", "Running");
        st = put_text(s, env, text);
    }
    st = st < 0 ? st
                : put_text(
                      s, env,
                      "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\","
                      "\"labels\":{\"a\":\"b\",\"c\":\"d\"}},\"spec\":{\"taints\":[{\"key\":\"k\","
                      "\"effect\":\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"4\"}}}");
    st = st < 0 ? st : remove_text(s, env, text);
    st = st < 0 ? st : grove_store_mark_all(s);
    while (s && st == GROVE_OK && grove_store_next_dirty(s, &ns, &name)) {
    }
    grove_store_free(s);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    oom_loop("store", oom_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_of_a_pod),
        cmocka_unit_test(test_indexes_follow_changes),
        cmocka_unit_test(test_stale_events_are_ignored),
        cmocka_unit_test(test_dirty_keys),
        cmocka_unit_test(test_no_key_of_nobody),
        cmocka_unit_test(test_marks_while_planning),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_relist),
        cmocka_unit_test(test_departed),
        cmocka_unit_test(test_churn_is_flat),
        cmocka_unit_test(test_bytes_per_pod),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
