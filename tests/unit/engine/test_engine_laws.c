/* SPDX-License-Identifier: Apache-2.0 */
/* What GROVE_ENGINE_CHECK refuses: endless rounds, and writes that undo one another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "value/doc.h"

/* An engine whose store holds a PodClique as the cluster gave it. */
typedef struct fixture {
    grove_env *env;
    grove_engine *e;
    gv_set *set;
    grove_error err;
} fixture;

static grove_doc *parse(fixture *f, const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(f->env, text, strlen(text), 0, &doc, &f->err), GROVE_OK);
    return doc;
}

static void show(fixture *f, const char *text) {
    grove_doc *doc = parse(f, text);
    assert_int_equal(grove_store_put(f->e->store, doc, grove_doc_root(doc), &f->err), GROVE_OK);
    grove_doc_unref(doc);
}

static fixture start(uint32_t flags) {
    fixture f = {.err = GROVE_ERROR_INIT};
    grove_engine_options o = {.size = (uint32_t)sizeof o, .flags = flags};
    assert_int_equal(grove_env_new(NULL, &f.env), GROVE_OK);
    assert_int_equal(grove_engine_new(f.env, &o, &f.e, &f.err), GROVE_OK);
    f.set = gv_engine_set(f.e, GV_STR("default"), GV_STR("m"));
    assert_non_null(f.set);
    show(&f,
         "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{\"name\":"
         "\"m-0-a\",\"namespace\":\"default\",\"uid\":\"u1\",\"resourceVersion\":\"5\","
         "\"annotations\":{\"k\":\"1\"}},\"spec\":{\"replicas\":1},\"status\":{\"replicas\":0}}");
    return f;
}

static void end(fixture *f) {
    grove_engine_free(f->e);
    grove_env_unref(f->env);
}

static grove_action action(grove_verb verb, grove_subresource part, grove_doc *body) {
    return (grove_action){.size = (uint32_t)sizeof(grove_action),
                          .verb = verb,
                          .kind = GROVE_KIND_PODCLIQUE,
                          .subresource = part,
                          .api_version = "grove.io/v1alpha1",
                          .kind_name = "PodClique",
                          .ns = "default",
                          .name = "m-0-a",
                          .uid = "u1",
                          .resource_version = "",
                          .patch_type = GROVE_PATCH_MERGE,
                          .body = body,
                          .node = "",
                          .reason = "Test",
                          .text = ""};
}

/* One write of a round of its own, answered at once; what the law says of it. */
static grove_status write(fixture *f, grove_verb verb, grove_subresource part, const char *text) {
    grove_doc *body = text ? parse(f, text) : NULL;
    grove_action a = action(verb, part, body);
    f->set->laws.rounds++;
    assert_int_equal(gv_laws_before_write(f->e, f->set, &a, &f->err), GROVE_OK);
    gv_write w = gv_action_write(&a, 1);
    assert_int_equal(gv_store_write_begin(f->e->store, &w, &f->err), GROVE_OK);
    grove_status st = gv_laws_after_write(f->e, f->set, &a, &f->err);
    gv_store_settle(f->e->store, GV_KIND_PODCLIQUE, GV_STR("default"), GV_STR("m-0-a"));
    if (verb == GROVE_VERB_PATCH) { /* as the cluster would show it */
        const gv_object *o = gv_store_get(f->e->store, GV_KIND_PODCLIQUE, GV_STR("default"),
                                          GV_STR("m-0-a"));
        grove_doc *merged = NULL;
        assert_int_equal(grove_merge_patch_apply(o->u.document.doc, o->u.document.node, body,
                                                 grove_doc_root(body), &merged, &f->err),
                         GROVE_OK);
        assert_int_equal(grove_store_put(f->e->store, merged, grove_doc_root(merged), &f->err),
                         GROVE_OK);
        grove_doc_unref(merged);
    }
    grove_doc_unref(body);
    return st;
}

static grove_status annotate(fixture *f, const char *value, const char *rv) {
    char text[160];
    gv_fmt(text, sizeof text,
           "{\"metadata\":{\"resourceVersion\":\"%s\",\"annotations\":{\"k\":\"%s\"}}}", rv, value);
    return write(f, GROVE_VERB_PATCH, GROVE_SUBRESOURCE_NONE, text);
}

static grove_status count(fixture *f, int n, const char *rv) {
    char text[160];
    gv_fmt(text, sizeof text,
           "{\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{\"replicas\":%d}}", rv, n);
    return write(f, GROVE_VERB_PATCH, GROVE_SUBRESOURCE_STATUS, text);
}

static void new_period(fixture *f) {
    grove_plan_request rq = {.size = (uint32_t)sizeof rq, .ns = "default", .name = "nobody"};
    grove_plan *plan = NULL;
    assert_int_equal(grove_plan_make(f->e->planner, f->e->store, &rq, &plan, &f->err), GROVE_OK);
    assert_int_equal(gv_laws_plan(f->e, f->set, plan, 1, &f->err), GROVE_OK);
    grove_plan_unref(plan);
}

static void test_there_and_back(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    (void)state;
    assert_int_equal(annotate(&f, "2", "6"), GROVE_OK);
    assert_int_equal(annotate(&f, "3", "7"), GROVE_OK);
    assert_int_equal(annotate(&f, "1", "8"), GROVE_E_INTERNAL);
    assert_non_null(strstr(f.err.message, "round 3 undoes at PodClique m-0-a what round 1 did"));
    end(&f);
}

static void test_an_event_in_between(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    (void)state;
    assert_int_equal(annotate(&f, "2", "6"), GROVE_OK);
    gv_laws_event(f.e, GV_STR("somebody"), GV_STR("99"));
    new_period(&f);
    assert_int_equal(annotate(&f, "1", "7"), GROVE_OK);
    end(&f);
}

/* The echo of a write's own answer does not excuse the next one. */
static void test_an_echo_is_no_event(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    grove_doc *answer = parse(&f, "{\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"6\"}}");
    grove_action a = action(GROVE_VERB_PATCH, GROVE_SUBRESOURCE_NONE, NULL);
    grove_completion c = {
        .size = (uint32_t)sizeof c, .object_doc = answer, .object = grove_doc_root(answer)};
    (void)state;
    assert_int_equal(annotate(&f, "2", "6"), GROVE_OK);
    assert_int_equal(gv_laws_answer(f.e, &a, &c), GROVE_OK);
    gv_laws_event(f.e, GV_STR("u1"), GV_STR("6"));
    new_period(&f);
    assert_int_equal(annotate(&f, "1", "7"), GROVE_E_INTERNAL);
    grove_doc_unref(answer);
    end(&f);
}

/* A refusal is something that happened. */
static void test_a_refusal_is_an_event(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    grove_action a = action(GROVE_VERB_PATCH, GROVE_SUBRESOURCE_NONE, NULL);
    grove_completion c = {.size = (uint32_t)sizeof c, .status = GROVE_E_CONFLICT};
    (void)state;
    assert_int_equal(annotate(&f, "2", "6"), GROVE_OK);
    assert_int_equal(gv_laws_answer(f.e, &a, &c), GROVE_OK);
    new_period(&f);
    assert_int_equal(annotate(&f, "1", "7"), GROVE_OK);
    end(&f);
}

/* Counters follow deeds, but not one another. */
static void test_status(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    (void)state;
    assert_int_equal(count(&f, 1, "6"), GROVE_OK);
    assert_int_equal(annotate(&f, "2", "7"), GROVE_OK);
    assert_int_equal(count(&f, 0, "8"), GROVE_OK);
    assert_int_equal(count(&f, 1, "9"), GROVE_E_INTERNAL);
    end(&f);
}

static void test_made_for_nothing(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    grove_doc *body = parse(&f, "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\","
                                "\"metadata\":{\"name\":\"m-0-a\",\"namespace\":\"default\"}}");
    grove_action create = action(GROVE_VERB_CREATE, GROVE_SUBRESOURCE_NONE, body);
    (void)state;
    f.set->laws.rounds = 1;
    f.set->laws.writes.n = 0;
    gv_law_write made = {.part = 0, .before = 0, .round = 1};
    assert_int_equal(gv_laws_before_write(f.e, f.set, &create, &f.err), GROVE_OK);
    made.part = f.set->laws.writes.v[0].part;
    f.set->laws.writes.v[0] = made; /* it was not there before */
    assert_int_equal(write(&f, GROVE_VERB_DELETE, GROVE_SUBRESOURCE_NONE, NULL), GROVE_E_INTERNAL);
    grove_doc_unref(body);
    end(&f);
}

/* ---- rounds ---- */

static grove_plan *plan_of_a_set(fixture *f) {
    grove_plan_request rq = {.size = (uint32_t)sizeof rq, .ns = "default", .name = "m"};
    grove_plan *plan = NULL;
    show(f,
         "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":"
         "\"m\",\"namespace\":\"default\",\"uid\":\"u0\",\"resourceVersion\":\"1\"},\"spec\":{"
         "\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"b\",\"spec\":{\"roleName\":\"b\","
         "\"replicas\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}}");
    assert_int_equal(grove_plan_make(f->e->planner, f->e->store, &rq, &plan, &f->err), GROVE_OK);
    assert_true(grove_plan_actions(plan) > 0);
    return plan;
}

static uint32_t most_rounds(const fixture *f) {
    grove_engine_stats stats = {.size = (uint32_t)sizeof stats};
    assert_int_equal(grove_engine_stats_get(f->e, &stats), GROVE_OK);
    return stats.most_rounds;
}

static void test_rounds_end(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    grove_plan *plan = plan_of_a_set(&f);
    (void)state;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(gv_laws_plan(f.e, f.set, plan, 1, &f.err), GROVE_OK);
    }
    assert_int_equal(most_rounds(&f), 16);
    assert_int_equal(gv_laws_plan(f.e, f.set, plan, 1, &f.err), GROVE_E_INTERNAL);
    assert_non_null(strstr(f.err.message, "17 plans in a row"));
    gv_laws_outside(f.e);
    assert_int_equal(gv_laws_plan(f.e, f.set, plan, 1, &f.err), GROVE_OK);
    grove_plan_unref(plan);
    end(&f);
}

/* Time alone excuses a plan only when the one before asked for it. */
static void test_time_alone(void **state) {
    fixture f = start(GROVE_ENGINE_CHECK);
    grove_plan *plan = plan_of_a_set(&f);
    (void)state;
    assert_int_equal(gv_laws_plan(f.e, f.set, plan, 1, &f.err), GROVE_OK);
    assert_int_equal(gv_laws_plan(f.e, f.set, plan, 7, &f.err), GROVE_OK);
    assert_int_equal(most_rounds(&f), 2);
    f.set->deadline = 9;
    assert_int_equal(gv_laws_plan(f.e, f.set, plan, 9, &f.err), GROVE_OK);
    assert_int_equal(most_rounds(&f), 2);
    grove_plan_unref(plan);
    end(&f);
}

static void test_only_when_asked_for(void **state) {
    fixture f = start(0);
    (void)state;
    assert_int_equal(annotate(&f, "2", "6"), GROVE_OK);
    assert_int_equal(annotate(&f, "1", "7"), GROVE_OK);
    assert_int_equal(most_rounds(&f), 0);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_an_event_in_between),
        cmocka_unit_test(test_an_echo_is_no_event),
        cmocka_unit_test(test_a_refusal_is_an_event),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_made_for_nothing),
        cmocka_unit_test(test_rounds_end),
        cmocka_unit_test(test_time_alone),
        cmocka_unit_test(test_only_when_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
