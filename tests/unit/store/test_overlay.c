/* SPDX-License-Identifier: Apache-2.0 */
/* The overlay: what our writes will have done is visible until the cluster shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/store.h"
#include "support/oom.h"

#define SECOND INT64_C(1000000000)

typedef struct fixture {
    oom_memory memory;
    grove_env *env;
    grove_store *store;
} fixture;

static void begin(fixture *f) {
    oom_memory_init(&f->memory);
    f->env = oom_env(&f->memory, NULL);
    assert_int_equal(grove_store_new(f->env, &f->store), 0);
}

static void end(fixture *f) {
    grove_store_free(f->store);
    grove_env_unref(f->env);
    assert_int_equal(f->memory.live_blocks, 0);
}

static grove_doc *parse(fixture *f, const char *json) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(f->env, json, strlen(json), 0, &doc, NULL), 0);
    return doc;
}

static void pod_text(char *out, size_t cap, const char *uid, int rv, const char *rest) {
    snprintf(
        out, cap,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"t\","
        "\"uid\":\"%s\",\"resourceVersion\":\"%d\",\"labels\":{"
        "\"app.kubernetes.io/managed-by\":\"grove-operator\",\"app.kubernetes.io/"
        "part-of\":\"s\"}%s}",
        uid, rv, rest);
}
#define GATED "},\"spec\":{\"schedulingGates\":[{\"name\":\"grove.io/podgang-pending-creation\"}]}"
#define OPEN "},\"spec\":{}"
#define BOUND "},\"spec\":{\"nodeName\":\"n1\"}"
#define DYING ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"spec\":{}"

static void put(fixture *f, const char *uid, int rv, const char *rest) {
    char text[1024];
    pod_text(text, sizeof text, uid, rv, rest);
    grove_doc *d = parse(f, text);
    assert_int_equal(grove_store_put(f->store, d, grove_doc_root(d), NULL), 0);
    grove_doc_unref(d);
}

static void gone(fixture *f, const char *uid, int rv) {
    char text[1024];
    pod_text(text, sizeof text, uid, rv, OPEN);
    grove_doc *d = parse(f, text);
    assert_int_equal(grove_store_remove(f->store, grove_doc_root(d), NULL), 0);
    grove_doc_unref(d);
}

static const gv_pod *pod(fixture *f) {
    gv_object *o = gv_store_get(f->store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
    static const gv_pod none = {.head = {.uid = "none", .kind = GV_KIND_NONE}, .node = ""};
    return o ? &o->u.pod : &none;
}

static bool absent(fixture *f) {
    return pod(f)->head.kind == GV_KIND_NONE;
}

static gv_write write_of(grove_verb verb) {
    return (gv_write){.verb = verb,
                      .kind = GV_KIND_POD,
                      .ns = GV_STR("t"),
                      .name = GV_STR("p"),
                      .now = 100 * SECOND};
}

static void answer(fixture *f, bool ok, const char *rv) {
    assert_int_equal(gv_store_write_end(f->store, GV_KIND_POD, GV_STR("t"), GV_STR("p"), ok, NULL,
                                        NULL, gv_str_c(rv), 101 * SECOND, NULL),
                     0);
}

static bool flying(fixture *f) {
    return gv_store_in_flight(f->store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
}

static void open_gate(fixture *f) {
    grove_doc *patch = parse(
        f, "[{\"op\":\"test\",\"path\":\"/spec/schedulingGates/0/name\",\"value\":"
           "\"grove.io/podgang-pending-creation\"},{\"op\":\"remove\",\"path\":"
           "\"/spec/schedulingGates/0\"}]");
    gv_write w = write_of(GROVE_VERB_PATCH);
    w.patch_type = GROVE_PATCH_JSON;
    w.body = patch;
    assert_int_equal(gv_store_write_begin(f->store, &w, NULL), 0);
    grove_doc_unref(patch);
}

static void test_gate_patch(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, GATED);
    open_gate(&f);
    assert_false(pod(&f)->flags & GV_POD_GROVE_GATE);
    assert_true(pod(&f)->head.flags & GV_HEAD_EXPECTED);
    gv_write again = write_of(GROVE_VERB_DELETE);
    assert_int_equal(gv_store_write_begin(f.store, &again, NULL), GROVE_E_CONFLICT);
    put(&f, "u1", 11, GATED); /* an event from before the write */
    assert_false(pod(&f)->flags & GV_POD_GROVE_GATE);
    answer(&f, true, "12");
    assert_true(flying(&f));
    put(&f, "u1", 12, OPEN);
    assert_false(flying(&f));
    assert_false(pod(&f)->head.flags & GV_HEAD_EXPECTED);
    end(&f);
}

/* What a patch says of labels is seen at once, and no longer when it was refused; what it leaves out stays. */
static void test_label_patch(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, OPEN);
    assert_int_equal(pod(&f)->index, -1);
    for (int accepted = 0; accepted < 2; accepted++) {
        grove_doc *patch = parse(&f, "{\"metadata\":{\"labels\":{\"grove.io/"
                                     "podclique\":\"s-0-a\",\"grove.io/podgang\":\"s-0\","
                                     "\"grove.io/podclique-pod-index\":\"3\"}}}");
        gv_write w = write_of(GROVE_VERB_PATCH);
        w.patch_type = GROVE_PATCH_MERGE;
        w.body = patch;
        assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
        grove_doc_unref(patch);
        assert_int_equal(pod(&f)->index, 3);
        assert_string_equal(pod(&f)->clique, "s-0-a");
        assert_string_equal(pod(&f)->gang, "s-0");
        assert_string_equal(pod(&f)->base_gang, "");
        assert_string_equal(pod(&f)->head.part_of, "s");
        answer(&f, accepted, accepted ? "12" : "");
        assert_int_equal(pod(&f)->index, accepted ? 3 : -1);
        assert_string_equal(pod(&f)->clique, accepted ? "s-0-a" : "");
    }
    end(&f);
}

static void test_event_before_answer(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, GATED);
    open_gate(&f);
    put(&f, "u1", 12, OPEN);
    answer(&f, true, "12");
    assert_false(flying(&f));
    assert_false(pod(&f)->flags & GV_POD_GROVE_GATE);
    end(&f);
}

static void test_failure_shows_what_is(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, GATED);
    open_gate(&f);
    answer(&f, false, "");
    assert_true(pod(&f)->flags & GV_POD_GROVE_GATE);
    assert_false(flying(&f));
    const char *ns, *name;
    assert_int_equal(grove_store_next_dirty(f.store, &ns, &name), 1);
    end(&f);
}

static void test_create(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    grove_doc *body = parse(&f,
                            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\","
                            "\"namespace\":\"t\"},\"spec\":{}}");
    gv_write w = write_of(GROVE_VERB_CREATE);
    w.body = body;
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    assert_false(absent(&f));
    assert_string_equal(pod(&f)->head.uid, "");
    char text[1024];
    pod_text(text, sizeof text, "u1", 20, GATED);
    grove_doc *returned = parse(&f, text);
    assert_int_equal(gv_store_write_end(f.store, GV_KIND_POD, GV_STR("t"), GV_STR("p"), true,
                                        returned, grove_doc_root(returned), GV_STR("20"), 0, NULL),
                     0);
    assert_string_equal(pod(&f)->head.uid, "u1"); /* as the server stored it */
    assert_true(flying(&f));
    gone(&f, "u1", 21); /* deleted before we ever saw it */
    assert_true(absent(&f));
    assert_false(flying(&f));
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    answer(&f, false, "");
    assert_true(absent(&f));
    grove_doc_unref(returned);
    grove_doc_unref(body);
    end(&f);
}

static void test_delete_is_terminating_not_gone(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, OPEN);
    gv_write w = write_of(GROVE_VERB_DELETE);
    w.uid = GV_STR("u1");
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    assert_false(absent(&f));
    assert_true(pod(&f)->head.flags & GV_HEAD_TERMINATING);
    answer(&f, true, "");
    assert_true(pod(&f)->head.flags & GV_HEAD_TERMINATING);
    put(&f, "u1", 11, OPEN); /* an event from before */
    assert_true(pod(&f)->head.flags & GV_HEAD_TERMINATING);
    put(&f, "u1", 12, DYING);
    assert_false(flying(&f));
    gone(&f, "u1", 13);
    assert_true(absent(&f));
    end(&f);
}

static void test_delete_then_new_incarnation(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, OPEN);
    gv_write w = write_of(GROVE_VERB_DELETE);
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    answer(&f, true, "");
    put(&f, "u2", 14, OPEN);
    assert_false(flying(&f));
    assert_false(pod(&f)->head.flags & GV_HEAD_TERMINATING);
    end(&f);
}

static void test_bind(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, OPEN);
    gv_write w = write_of(GROVE_VERB_BIND);
    w.node = GV_STR("n1");
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    assert_string_equal(pod(&f)->node, "n1");
    assert_int_equal(gv_store_on_node(f.store, GV_STR("n1"))->n, 1);
    answer(&f, true, "");
    put(&f, "u1", 11, OPEN);
    assert_string_equal(pod(&f)->node, "n1");
    put(&f, "u1", 12, BOUND);
    assert_false(flying(&f));
    end(&f);
}

static void test_document_patch(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    grove_doc *d = parse(
        &f, "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{"
            "\"name\":\"c\",\"namespace\":\"t\",\"uid\":\"u\",\"resourceVersion\":\"5\"},"
            "\"spec\":{\"replicas\":2}}");
    assert_int_equal(grove_store_put(f.store, d, grove_doc_root(d), NULL), 0);
    grove_doc *patch = parse(&f, "{\"spec\":{\"replicas\":3}}");
    gv_write w = {.verb = GROVE_VERB_SCALE,
                  .kind = GV_KIND_PODCLIQUE,
                  .ns = GV_STR("t"),
                  .name = GV_STR("c"),
                  .patch_type = GROVE_PATCH_MERGE,
                  .body = patch};
    assert_int_equal(gv_store_write_begin(f.store, &w, NULL), 0);
    gv_object *o = gv_store_get(f.store, GV_KIND_PODCLIQUE, GV_STR("t"), GV_STR("c"));
    int64_t n = 0;
    assert_int_equal(grove_node_int64(grove_node_at_path(gv_object_node(o), "/spec/replicas"), &n),
                     0);
    assert_int_equal(n, 3);
    assert_int_equal(gv_store_write_end(f.store, GV_KIND_PODCLIQUE, GV_STR("t"), GV_STR("c"), false,
                                        NULL, NULL, GV_STR(""), 0, NULL),
                     0);
    o = gv_store_get(f.store, GV_KIND_PODCLIQUE, GV_STR("t"), GV_STR("c"));
    assert_int_equal(grove_node_int64(grove_node_at_path(gv_object_node(o), "/spec/replicas"), &n),
                     0);
    assert_int_equal(n, 2);
    grove_doc_unref(patch);
    grove_doc_unref(d);
    end(&f);
}

static void test_uncertain_after_30_seconds(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    put(&f, "u1", 10, GATED);
    open_gate(&f);
    gv_kind kind;
    const char *ns, *name;
    assert_int_equal(gv_store_deadline(f.store), 130 * SECOND);
    assert_false(gv_store_uncertain(f.store, 129 * SECOND, &kind, &ns, &name));
    assert_true(gv_store_uncertain(f.store, 130 * SECOND, &kind, &ns, &name));
    assert_string_equal(name, "p");
    assert_true(gv_store_set_uncertain(f.store, GV_STR("t"), GV_STR("s"), 130 * SECOND));
    put(&f, "u1", 11, GATED); /* read back: the write never took effect */
    gv_store_settle(f.store, GV_KIND_POD, GV_STR("t"), GV_STR("p"));
    assert_true(pod(&f)->flags & GV_POD_GROVE_GATE);
    assert_false(flying(&f));
    assert_true(gv_store_deadline(f.store) == INT64_MAX);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_patch),
        cmocka_unit_test(test_event_before_answer),
        cmocka_unit_test(test_failure_shows_what_is),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_delete_is_terminating_not_gone),
        cmocka_unit_test(test_delete_then_new_incarnation),
        cmocka_unit_test(test_bind),
        cmocka_unit_test(test_label_patch),
        cmocka_unit_test(test_document_patch),
        cmocka_unit_test(test_uncertain_after_30_seconds),
    };
    return cmocka_run_group_tests_name("store overlay", tests, NULL, NULL);
}
