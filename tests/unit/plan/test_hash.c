/* SPDX-License-Identifier: Apache-2.0 */
/* Which cliques make equal pods: the classes of the pod-template hash. */
#include "sets.h"

static grove_env *env;

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}
static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

/* clique: {labels, annotations, podSpec} */
static void hash_of(const char *clique, const char *priority, char out[32]) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, clique, strlen(clique), 0, &doc, NULL), 0);
    const grove_node *n = grove_doc_root(doc);
    assert_int_equal(gv_hash_clique(env, grove_node_get(n, "labels"),
                                    grove_node_get(n, "annotations"), grove_node_get(n, "podSpec"),
                                    gv_str_c(priority), out, NULL),
                     0);
    grove_doc_unref(doc);
}

static bool same(const char *a, const char *b) {
    char x[32], y[32];
    hash_of(a, "", x);
    hash_of(b, "", y);
    return strcmp(x, y) == 0;
}

/* Pinned: another form would restart every pod of every set at the next release. */
static void scheme_is_pinned(void **state) {
    char h[32];
    (void)state;
    hash_of("{\"labels\":{\"a\":\"b\"},\"podSpec\":{\"containers\":[{\"name\":\"c\",\"resources\":{"
            "\"limits\":{\"cpu\":\"1500m\"}}}]}}",
            "high", h);
    assert_string_equal(h, "g1cp9lqsbvlfkdbd");
}

#define SPEC(text) "{\"podSpec\":{" text "}}"

static void equal_pods(void **state) {
    (void)state;
    /* order of members, absent, empty and null maps */
    assert_true(same("{\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"podSpec\":{\"x\":1,\"y\":2}}",
                     "{\"podSpec\":{\"y\":2,\"x\":1},\"labels\":{\"b\":\"2\",\"a\":\"1\"}}"));
    assert_true(same("{\"podSpec\":{}}", "{\"podSpec\":{\"x\":null},\"labels\":{}}"));
    /* numbers and quantities by value */
    assert_true(same(SPEC("\"x\":10"), SPEC("\"x\":1e1")));
    assert_true(same(SPEC("\"resources\":{\"limits\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}}"),
                     SPEC("\"resources\":{\"limits\":{\"memory\":\"1024Mi\",\"cpu\":\"1.5\"}}")));
    assert_true(same(SPEC("\"resources\":{\"limits\":{\"cpu\":2}}"),
                     SPEC("\"resources\":{\"limits\":{\"cpu\":\"2\"}}")));
    assert_true(
        same(SPEC("\"overhead\":{\"cpu\":\"1\"}"), SPEC("\"overhead\":{\"cpu\":\"1000m\"}")));
    assert_true(same(SPEC("\"emptyDir\":{\"sizeLimit\":\"1Ki\"}"),
                     SPEC("\"emptyDir\":{\"sizeLimit\":1024}")));
    /* lists whose order means nothing */
    assert_true(same(SPEC("\"volumes\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
                     SPEC("\"volumes\":[{\"name\":\"b\"},{\"name\":\"a\"}]")));
    /* the set's priority class stands in for the pod's */
    assert_true(same(SPEC("\"priorityClassName\":\"x\""), SPEC("")));
}

static void unequal_pods(void **state) {
    char high[32], low[32];
    (void)state;
    assert_false(same(SPEC("\"x\":1"), SPEC("\"x\":2")));
    assert_false(same(SPEC("\"x\":1"), SPEC("\"x\":\"1\"")));
    assert_false(same(SPEC("\"x\":{}"), SPEC("")));
    /* only quantities are taken for quantities */
    assert_false(same(SPEC("\"args\":{\"cpu\":\"1\"}"), SPEC("\"args\":{\"cpu\":\"1000m\"}")));
    assert_false(same(SPEC("\"x\":[]"), SPEC("\"x\":{}")));
    assert_false(same(SPEC("\"x\":true"), SPEC("\"x\":false")));
    assert_false(same("{\"labels\":{\"a\":\"1\"}}", "{\"annotations\":{\"a\":\"1\"}}"));
    assert_false(same("{\"labels\":{\"a\":\"bc\"}}", "{\"labels\":{\"ab\":\"c\"}}"));
    /* order counts where it has a meaning: later variables may use earlier ones */
    assert_false(same(SPEC("\"env\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
                      SPEC("\"env\":[{\"name\":\"b\"},{\"name\":\"a\"}]")));
    assert_false(same(SPEC("\"initContainers\":[{\"name\":\"a\"},{\"name\":\"b\"}]"),
                      SPEC("\"initContainers\":[{\"name\":\"b\"},{\"name\":\"a\"}]")));
    assert_false(same(SPEC("\"x\":[[1],[2]]"), SPEC("\"x\":[[1,2]]")));
    hash_of("{\"podSpec\":{}}", "high", high);
    hash_of("{\"podSpec\":{}}", "low", low);
    assert_string_not_equal(high, low);
}

/* A label value of a known scheme. */
static void form(void **state) {
    char h[32];
    (void)state;
    hash_of("{}", "", h);
    assert_memory_equal(h, "g1", 2);
    assert_int_equal(strlen(h), 16);
    assert_int_equal(strspn(h + 2, "bcdfghjklmnpqrstvwxz2456789"), 14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scheme_is_pinned),
        cmocka_unit_test(equal_pods),
        cmocka_unit_test(unequal_pods),
        cmocka_unit_test(form),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
