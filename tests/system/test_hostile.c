/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What untrusted bytes can cost, as docs/hostile-input.md promises: the most memory held at a time for each byte of
 * input, and the number of allocations, over inputs made to cost much. Each is asked at a size and at four times
 * that size: what grows faster than its input is found by the second. Searches are counted in steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/grove.h>

#include "support/oom.h"

/* The promises, as docs/hostile-input.md has them: bytes held at a time for a byte of input, and a base. */
#define JSON_FACTOR 40
#define YAML_FACTOR 60
#define JUDGE_FACTOR 400
#define BASE_BYTES (256u * 1024)

typedef struct text {
    char *p;
    size_t n;
} text;

static text repeat(const char *head, const char *part, size_t bytes, const char *tail) {
    size_t h = strlen(head), k = strlen(part), t = strlen(tail), times = bytes / k;
    text out = {malloc(h + times * k + t + 1), h + times * k + t};
    assert_non_null(out.p);
    memcpy(out.p, head, h);
    for (size_t i = 0; i < times; i++) {
        memcpy(out.p + h + i * k, part, k);
    }
    memcpy(out.p + h + times * k, tail, t + 1);
    return out;
}

/* Members of different names: `{"k0":0,...`. */
static text members(size_t bytes) {
    text out = {malloc(bytes + 64), 1};
    assert_non_null(out.p);
    out.p[0] = '{';
    for (unsigned i = 0; out.n < bytes; i++) {
        out.n += (size_t)snprintf(out.p + out.n, 32, "%s\"k%u\":%u", i ? "," : "", i, i);
    }
    out.p[out.n++] = '}';
    out.p[out.n] = '\0';
    return out;
}

typedef grove_status (*asked)(grove_env *env, const char *p, size_t n);

static grove_status read_json(grove_env *env, const char *p, size_t n) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(env, p, n, 0, &doc, NULL);
    grove_doc_unref(doc);
    return st;
}

static grove_status read_yaml(grove_env *env, const char *p, size_t n) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_yaml(env, p, n, 0, &doc, NULL);
    grove_doc_unref(doc);
    return st;
}

static grove_status judge(grove_env *env, const char *p, size_t n) {
    grove_doc *doc = NULL, *stored = NULL;
    grove_diags *found = NULL;
    grove_validate_options options = {.size = (uint32_t)sizeof options,
                                      .flags = GROVE_VALIDATE_LINT};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_status st = grove_doc_parse_json(env, p, n, 0, &doc, NULL);
    st = st < 0 ? st : grove_diags_new(env, &found);
    st = st < 0 ? st
                : grove_validate(env, doc, grove_doc_root(doc), NULL, NULL, &options, found,
                                 &verdict, NULL);
    st = st < 0 ? st : grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, NULL);
    grove_doc_unref(stored);
    grove_diags_free(found);
    grove_doc_unref(doc);
    return st;
}

/* Bytes held at most and allocations of one question. */
static oom_memory cost(asked ask, text input) {
    oom_memory m;
    oom_memory_init(&m);
    grove_env *env = oom_env(&m, NULL);
    (void)ask(env, input.p, input.n); /* a refusal costs as well */
    grove_env_unref(env);
    assert_int_equal(m.live_blocks, 0);
    return m;
}

static void bounded(const char *name, asked ask, text small, text large, uint64_t factor) {
    oom_memory one = cost(ask, small), four = cost(ask, large);
    printf("%-28s %8zu bytes: held %9llu (%3llu each), %7llu allocations\n", name, large.n,
           (unsigned long long)four.peak_bytes, (unsigned long long)(four.peak_bytes / large.n),
           (unsigned long long)four.allocations);
#ifdef GV_DEBUG_ARENA /* each arena object is a malloc of its own there, with a head before it */
    factor *= 3;
#endif
    assert_true(one.peak_bytes <= BASE_BYTES + factor * small.n);
    assert_true(four.peak_bytes <= BASE_BYTES + factor * large.n);
    assert_true(four.allocations <= 6 * one.allocations + 1000);
    free(small.p);
    free(large.p);
}

#define SMALL ((size_t)32 * 1024)
#define LARGE (4 * SMALL)
#define REPEATED(name, ask, factor, head, part, tail) \
    bounded(name, ask, repeat(head, part, SMALL, tail), repeat(head, part, LARGE, tail), factor)

static void test_json(void **state) {
    (void)state;
    REPEATED("json, nesting", read_json, JSON_FACTOR, "", "[", "");
    REPEATED("json, empty lists", read_json, JSON_FACTOR, "[[]", ",[]", "]");
    REPEATED("json, zeros", read_json, JSON_FACTOR, "[0", ",0", "]");
    REPEATED("json, one string", read_json, JSON_FACTOR, "\"", "x", "\"");
    REPEATED("json, escapes", read_json, JSON_FACTOR, "\"", "\\u0041", "\"");
    REPEATED("json, digits", read_json, JSON_FACTOR, "[1", "9", "]");
    REPEATED("json, equal keys", read_json, JSON_FACTOR, "{\"a\":0", ",\"a\":0", "}");
    REPEATED("json, blanks", read_json, JSON_FACTOR, "[", " ", "]");
    REPEATED("json, lines", read_json, JSON_FACTOR, "[0", "\n,0", "]");
    bounded("json, keys", read_json, members(SMALL), members(LARGE), JSON_FACTOR);
}

static void test_yaml(void **state) {
    (void)state;
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    int built = read_yaml(env, "a: 1", 4) == GROVE_OK;
    grove_env_unref(env);
    if (!built) {
        skip();
    }
    REPEATED("yaml, nesting", read_yaml, YAML_FACTOR, "", "[", "");
    REPEATED("yaml, dashes", read_yaml, YAML_FACTOR, "", "- ", "");
    REPEATED("yaml, items", read_yaml, YAML_FACTOR, "", "- a\n", "");
    REPEATED("yaml, one block", read_yaml, YAML_FACTOR, "a: |\n  ", "x", "\n");
    REPEATED("yaml, escapes", read_yaml, YAML_FACTOR, "\"", "\\x41", "\"");
    REPEATED("yaml, aliases", read_yaml, YAML_FACTOR, "- &a x\n", "- *a\n", "");
    REPEATED("yaml, comments", read_yaml, YAML_FACTOR, "a: 1\n", "#x\n", "");
    bounded("yaml, keys", read_yaml, members(SMALL), members(LARGE), YAML_FACTOR);
}

/* A few lines that stand for very many nodes: refused by the limit of nodes, not by memory's end. */
static void test_alias_bomb(void **state) {
    (void)state;
    char bomb[1024] = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; i++) {
        size_t n = strlen(bomb);
        snprintf(bomb + n, sizeof bomb - n, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                 i - 1, i - 1, i - 1, i - 1);
    }
    grove_limits limits = {.size = (uint32_t)sizeof limits, .document_nodes = 10000};
    grove_env_options options = {.size = (uint32_t)sizeof options, .limits = &limits};
    oom_memory m;
    grove_doc *doc = NULL;
    oom_memory_init(&m);
    grove_env *env = oom_env(&m, &options);
    grove_status st = grove_doc_parse_yaml(env, bomb, strlen(bomb), 0, &doc, NULL);
    grove_env_unref(env);
    assert_true(st == GROVE_E_LIMIT || st == GROVE_E_UNSUPPORTED);
    assert_null(doc);
    assert_true(m.peak_bytes <= 10000u * 100 + BASE_BYTES);
}

#define SET_HEAD                                                          \
    "{\"apiVersion\":\"grove.io/"                                         \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"a\"}," \
    "\"spec\":{\"template\":{\"cliques\":["
#define CLIQUE                                                                                     \
    "{\"name\":\"w\",\"spec\":{\"roleName\":\"r\",\"replicas\":1,\"podSpec\":{\"containers\":[]}}" \
    "}"

static void test_admission(void **state) {
    (void)state;
    REPEATED("set, empty cliques", judge, JUDGE_FACTOR, SET_HEAD "{}", ",{}", "]}}}");
    REPEATED("set, equal cliques", judge, JUDGE_FACTOR, SET_HEAD CLIQUE, "," CLIQUE, "]}}}");
    REPEATED("set, unknown members", judge, JUDGE_FACTOR,
             "{\"kind\":\"PodCliqueSet\",\"apiVersion\":\"grove.io/v1alpha1\",\"a\":{}",
             ",\"b\":{}", "}");
    REPEATED("set, wrong types", judge, JUDGE_FACTOR, SET_HEAD "0", ",0", "]}}}");
}

/* However hard the instance: no decision takes more steps than its budget. */
static void test_steps(void **state) {
    (void)state;
    enum { NODES = 40, KINDS = 12, BUDGET = 20000 };
    grove_env *env = NULL;
    grove_sched *s = NULL;
    grove_gang *g = NULL;
    grove_decision *d = NULL;
    uint32_t topo, id, cls;
    grove_place_options options = {.size = (uint32_t)sizeof options, .steps = BUDGET};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_sched_new(env, NULL, &s, NULL), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "a", &id), GROVE_OK);
    assert_int_equal(grove_sched_resource(s, "b", &id), GROVE_OK);
    assert_int_equal(grove_sched_topology(s, "default", NULL, 0, &topo, NULL), GROVE_OK);
    for (int i = 0; i < NODES; i++) {
        char name[16];
        int64_t room[3] = {100, 97 + i % 7, 89 + i % 5};
        snprintf(name, sizeof name, "n%d", i);
        grove_sched_node node = {
            .size = (uint32_t)sizeof node, .name = name, .capacity = room, .n_capacity = 3};
        assert_int_equal(grove_sched_node_add(s, &node, &id, NULL), GROVE_OK);
    }
    assert_int_equal(grove_gang_new(s, &g), GROVE_OK);
    assert_int_equal(grove_decision_new(s, &d), GROVE_OK);
    assert_int_equal(grove_gang_begin(g, topo, "hard"), GROVE_OK);
    for (int k = 0; k < KINDS; k++) {
        char name[16];
        int64_t wants[3] = {1, 23 + 3 * k, 41 - 2 * k};
        grove_sched_class_spec spec = {
            .size = (uint32_t)sizeof spec, .requests = wants, .n_requests = 3};
        snprintf(name, sizeof name, "k%d", k);
        assert_int_equal(grove_sched_class(s, &spec, &cls, NULL), GROVE_OK);
        assert_int_equal(
            grove_gang_podgroup(g, name, cls, 8, 8, GROVE_LEVEL_NONE, GROVE_LEVEL_NONE, &id),
            GROVE_OK);
    }
    assert_int_equal(grove_sched_place(s, g, &options, d, NULL), GROVE_OK);
    printf("hard gang: verdict %d after %llu of %d steps\n", (int)grove_decision_verdict(d),
           (unsigned long long)grove_decision_steps(d), (int)BUDGET);
    assert_true(grove_decision_steps(d) <= BUDGET);
    grove_decision_free(d);
    grove_gang_free(g);
    grove_sched_free(s);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),       cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_alias_bomb), cmocka_unit_test(test_admission),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
