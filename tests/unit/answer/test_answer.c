/* SPDX-License-Identifier: Apache-2.0 */
/* The coarse entry points: what they answer, what they refuse with its place, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <grove/grove.h>

#include "support/oom.h"

#define SET(replicas, image)                                                                   \
    "{\"apiVersion\":\"grove.io/"                                                              \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"a\","                       \
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":" replicas                              \
    ",\"template\":{\"cliques\":[{\"name\":\"w\",\"spec\":{\"roleName\":\"w\",\"replicas\":1," \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"" image "\"}]}}}]}}}"

static const char nodes_and_gangs[] =
    "{\"topology\":[\"rack\"],\"explain\":true,\"nodes\":["
    "{\"name\":\"n0\",\"labels\":{\"rack\":\"r0\"},\"capacity\":{\"gpu\":8}},"
    "{\"name\":\"n1\",\"labels\":{\"rack\":\"r0\"},\"capacity\":{\"gpu\":8,\"pods\":1}},"
    "{\"name\":\"n2\",\"labels\":{\"rack\":\"r1\"},\"capacity\":{\"gpu\":8},\"unschedulable\":true}"
    "],"
    "\"gangs\":[{\"name\":\"one\",\"required\":\"rack\",\"podgroups\":["
    "{\"name\":\"l\",\"requests\":{\"gpu\":2}},{\"name\":\"w\",\"count\":3,\"min\":2,"
    "\"requests\":{\"gpu\":4},\"selector\":{\"rack\":\"r0\"}}],"
    "\"groups\":[{\"name\":\"g\",\"podgroups\":[\"l\",\"w\"],\"preferred\":\"host\"}]},"
    "{\"name\":\"two\",\"podgroups\":[{\"name\":\"w\",\"requests\":{\"gpu\":8}}]}]}";

static grove_env *env_of(void) {
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    return env;
}

static grove_doc *parse(grove_env *env, const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    return doc;
}

static const grove_node *at(const grove_doc *doc, const char *pointer) {
    return grove_node_at_path(grove_doc_root(doc), pointer);
}

static void assert_text(const grove_doc *doc, const char *pointer, const char *text) {
    const char *found = grove_node_text(at(doc, pointer));
    assert_string_equal(found ? found : "(none)", text);
}

static int64_t sum(const grove_doc *doc, const char *pointer) {
    const grove_node *of = at(doc, pointer);
    int64_t n = 0, one = 0;
    for (const grove_node *m = grove_node_first(of); m; m = grove_node_next(of, m)) {
        n += grove_node_int64(m, &one) == GROVE_OK ? one : 0;
    }
    return n;
}

static void test_place(void **state) {
    (void)state;
    grove_env *env = env_of();
    grove_doc *request = parse(env, nodes_and_gangs), *answer = NULL;
    assert_int_equal(grove_place(env, request, &answer, NULL), GROVE_OK);
    assert_text(answer, "/kind", "Placements");
    assert_text(answer, "/gangs/0/verdict", "placed");
    assert_int_equal(sum(answer, "/gangs/0/placement/l"), 1);
    assert_int_equal(sum(answer, "/gangs/0/placement/w"), 2); /* one surplus pod has no room */
    assert_null(at(answer, "/gangs/0/placement/w/n2"));
    assert_text(answer, "/gangs/1/verdict", "infeasible"); /* the first gang was committed */
    assert_text(answer, "/gangs/1/explanation/verdict", "infeasible");
    grove_doc_unref(answer);
    grove_doc_unref(request);
    grove_env_unref(env);
}

static void test_refused_requests(void **state) {
    (void)state;
    static const struct {
        const char *text, *path;
    } wrong[] = {
        {"{}", "gangs"},
        {"{\"gangs\":[{\"name\":\"a\"}]}", "gangs[0]"},
        {"{\"gangs\":[{\"name\":\"a\",\"podgroups\":[{\"count\":1}]}]}", "gangs[0].podgroups[0]"},
        {"{\"gangs\":[{\"name\":\"a\",\"podgroups\":[{\"name\":\"w\",\"count\":2147483648}]}]}",
         "gangs[0].podgroups[0]"},
        {"{\"gangs\":[{\"name\":\"a\",\"podgroups\":[{\"name\":\"w\",\"count\":1,\"min\":2}]}]}",
         "gangs[0].podgroups[0]"},
        {"{\"gangs\":[{\"name\":\"a\",\"podgroups\":[{\"name\":\"w\"}],\"groups\":[{\"name\":\"g\","
         "\"podgroups\":[\"x\"]}]}]}",
         "gangs[0].groups[0]"},
        {"{\"gangs\":[{\"name\":\"a\",\"priority\":4294967296,\"podgroups\":[{\"name\":\"w\"}]}]}",
         "gangs[0]"},
        {"{\"gangs\":[],\"nodes\":[{}]}", "nodes[0]"},
        {"{\"gangs\":[],\"nodes\":[{\"name\":\"n\",\"capacity\":{\"gpu\":1.5}}]}", "nodes[0]"},
        {"{\"gangs\":[],\"nodes\":[{\"name\":\"n\",\"labels\":{\"a\":1}}]}", "nodes[0]"},
        {"{\"gangs\":[],\"topology\":[1]}", "topology"},
    };
    grove_env *env = env_of();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        grove_doc *request = parse(env, wrong[i].text), *answer = NULL;
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(grove_place(env, request, &answer, &err), GROVE_E_INVALID);
        assert_null(answer);
        assert_string_equal(err.path, wrong[i].path);
        assert_true(err.line == 1 && err.column > 0 && err.message[0]);
        grove_doc_unref(request);
    }
    assert_int_equal(grove_place(env, NULL, NULL, NULL), GROVE_E_INVALID);
    grove_env_unref(env);
}

static grove_doc *stored(grove_env *env, const char *text) {
    grove_doc *doc = parse(env, text), *out = NULL;
    assert_int_equal(grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &out, NULL),
                     GROVE_OK);
    grove_doc_unref(doc);
    return out;
}

static void test_diff(void **state) {
    (void)state;
    grove_env *env = env_of();
    grove_doc *one = stored(env, SET("1", "i")), *two = stored(env, SET("2", "j")), *answer = NULL;
    assert_int_equal(grove_diff(env, one, two, NULL, &answer, NULL), GROVE_OK);
    uint32_t created = grove_node_size(at(answer, "/created"));
    uint32_t changed = grove_node_size(at(answer, "/changed"));
    assert_true(created >= 3 && changed >= 2); /* clique, gang, pod, service; the set and its pod */
    assert_int_equal(grove_node_size(at(answer, "/deleted")), 0);
    assert_true(grove_node_size(at(answer, "/changed/0/patch")) > 0);
    grove_doc_unref(answer);
    assert_int_equal(grove_diff(env, two, one, NULL, &answer, NULL), GROVE_OK);
    assert_int_equal(grove_node_size(at(answer, "/deleted")), created);
    assert_int_equal(grove_node_size(at(answer, "/changed")), changed);
    grove_doc_unref(answer);
    assert_int_equal(grove_diff(env, one, one, NULL, &answer, NULL), GROVE_OK);
    assert_int_equal(grove_node_size(at(answer, "/changed")), 0);
    grove_doc_unref(answer);
    grove_doc_unref(two);
    grove_doc_unref(one);
    grove_env_unref(env);
}

static const grove_node *item(const grove_doc *doc, const char *kind) {
    const grove_node *items = at(doc, "/items");
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        const char *found = grove_node_text(grove_node_get(o, "kind"));
        if (found && strcmp(found, kind) == 0) {
            return o;
        }
    }
    return NULL;
}

static void test_simulate_and_explain(void **state) {
    (void)state;
    grove_env *env = env_of();
    grove_doc *set = parse(env, SET("1", "i")), *answer = NULL, *why = NULL;
    grove_simulate_options options = {.size = (uint32_t)sizeof options, .nodes = "nodes=1"};
    assert_int_equal(grove_simulate(env, set, NULL, &options, &answer, NULL), GROVE_OK);
    assert_text(answer, "/kind", "Simulation");
    assert_string_equal(
        grove_node_text(grove_node_at_path(item(answer, "PodGang"), "/status/phase")), "Running");
    assert_true(grove_node_size(at(answer, "/events")) > 0);
    assert_int_equal(
        grove_explain(env, answer, NULL, GROVE_KIND_PODCLIQUESET, NULL, "a", 0, &why, NULL),
        GROVE_OK);
    assert_text(why, "/kind", "Explanation");
    grove_doc_unref(why);
    why = NULL;
    assert_int_equal(
        grove_explain(env, answer, NULL, GROVE_KIND_PODCLIQUESET, NULL, "b", 0, &why, NULL),
        GROVE_E_NOT_FOUND);
    grove_doc_unref(answer);
    answer = NULL;
    options.nodes = NULL; /* nowhere to go: something waits, and is told */
    assert_int_equal(grove_simulate(env, set, NULL, &options, &answer, NULL), GROVE_OK);
    assert_int_equal(
        grove_explain(env, answer, NULL, GROVE_KIND_PODCLIQUESET, NULL, "a", 0, &why, NULL),
        GROVE_OK);
    assert_true(grove_node_size(at(why, "/waits")) > 0);
    grove_doc_unref(why);
    grove_doc_unref(answer);
    grove_doc_unref(set);
    grove_env_unref(env);
}

static void test_simulate_judges(void **state) {
    (void)state;
    grove_env *env = env_of();
    grove_doc *set = parse(env, SET("\"x\"", "i")), *answer = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_simulate_options options = {.size = (uint32_t)sizeof options, .for_ns = -1};
    assert_int_equal(grove_simulate(env, set, NULL, NULL, &answer, &err), GROVE_E_REFUSED);
    assert_string_equal(err.path, "spec.replicas");
    assert_int_equal(err.line, 1);
    assert_int_equal(grove_simulate(env, set, NULL, &options, &answer, &err), GROVE_E_INVALID);
    assert_null(answer);
    grove_doc_unref(set);
    grove_env_unref(env);
}

static void test_simulate_for_a_time(void **state) {
    (void)state;
    grove_env *env = env_of();
    grove_doc *set = parse(env, SET("1", "i")), *answer = NULL;
    grove_simulate_options options = {.size = (uint32_t)sizeof options,
                                      .flags = GROVE_SIMULATE_INSTANT,
                                      .nodes = "nodes=1",
                                      .for_ns = INT64_C(1500000000)};
    int64_t ms = 0;
    assert_int_equal(grove_simulate(env, set, NULL, &options, &answer, NULL), GROVE_OK);
    assert_int_equal(grove_node_int64(at(answer, "/ms"), &ms), GROVE_OK);
    assert_int_equal(ms, 1500);
    assert_string_equal(
        grove_node_text(grove_node_at_path(item(answer, "PodGang"), "/status/phase")), "Running");
    grove_doc_unref(answer);
    grove_doc_unref(set);
    grove_env_unref(env);
}

/* ---- memory that runs out ---- */

typedef grove_status (*answer_fn)(grove_env *env, grove_doc *request, grove_doc **out);

static grove_status place(grove_env *env, grove_doc *request, grove_doc **out) {
    return grove_place(env, request, out, NULL);
}

static grove_status diff(grove_env *env, grove_doc *request, grove_doc **out) {
    return grove_diff(env, request, request, NULL, out, NULL);
}

static grove_status simulate(grove_env *env, grove_doc *request, grove_doc **out) {
    grove_simulate_options options = {.size = (uint32_t)sizeof options,
                                      .flags = GROVE_SIMULATE_INSTANT,
                                      .nodes = "nodes=1",
                                      .for_ns = 1};
    return grove_simulate(env, request, NULL, &options, out, NULL);
}

static grove_status explain(grove_env *env, grove_doc *request, grove_doc **out) {
    return grove_explain(env, request, NULL, GROVE_KIND_PODCLIQUESET, NULL, "a", 0, out, NULL);
}

typedef struct question {
    answer_fn ask;
    const char *text;
} question;

static grove_status ask(grove_env *env, void *ctx) {
    const question *q = ctx;
    grove_doc *request = NULL, *answer = NULL;
    grove_status st = grove_doc_parse_json(env, q->text, strlen(q->text), 0, &request, NULL);
    st = st < 0 ? st : q->ask(env, request, &answer);
    grove_doc_unref(answer);
    grove_doc_unref(request);
    return st;
}

static void test_nomem(void **state) {
    (void)state;
    question asked[] = {
        {place, nodes_and_gangs}, {simulate, SET("1", "i")}, {explain, SET("1", "i")}};
    const char *const names[] = {"place", "simulate", "explain"};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        oom_loop(names[i], ask, &asked[i]);
    }
}

static grove_status diff_of_stored(grove_env *env, void *ctx) {
    grove_doc *request = NULL, *full = NULL, *answer = NULL;
    const char *text = ctx;
    grove_status st = grove_doc_parse_json(env, text, strlen(text), 0, &request, NULL);
    st = st < 0 ? st
                : grove_default(env, request, grove_doc_root(request), NULL, NULL, &full, NULL);
    st = st < 0 ? st : diff(env, full, &answer);
    grove_doc_unref(answer);
    grove_doc_unref(full);
    grove_doc_unref(request);
    return st;
}

static void test_diff_nomem(void **state) {
    (void)state;
    char text[] = SET("1", "i");
    oom_loop("diff", diff_of_stored, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_refused_requests),
        cmocka_unit_test(test_diff),
        cmocka_unit_test(test_simulate_and_explain),
        cmocka_unit_test(test_simulate_judges),
        cmocka_unit_test(test_simulate_for_a_time),
        cmocka_unit_test(test_nomem),
        cmocka_unit_test(test_diff_nomem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
