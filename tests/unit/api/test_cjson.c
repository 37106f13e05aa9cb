/* SPDX-License-Identifier: Apache-2.0 */
/* cJSON trees to documents and back, through the public API only. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/cjson.h>

static grove_env *env;

static grove_doc *from_text(const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_json(env, text, strlen(text), 0, &doc, &err) < 0) {
        fail_msg("%s: %s", text, err.message);
    }
    return doc;
}

static void assert_written(const grove_doc *doc, const char *expected) {
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &out, NULL), GROVE_OK);
    assert_string_equal(out.data, expected);
    grove_buf_fini(&out);
}

/* Text -> cJSON -> document. */
static void assert_becomes(const char *text, const char *expected) {
    cJSON *tree = cJSON_Parse(text);
    grove_doc *doc = NULL;
    assert_non_null(tree);
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, NULL), GROVE_OK);
    assert_written(doc, expected);
    grove_doc_unref(doc);
    cJSON_Delete(tree);
}

static void test_to_doc(void **state) {
    (void)state;
    const char all[] =
        "{\"a\":[1,-2,0.5,true,false,null,\"x\\u00e9\"],\"b\":{\"c\":{},\"d\":[]},\"\":\"\"}";
    assert_becomes(
        all,
        "{\"a\":[1,-2,0.5,true,false,null,\"x\xc3\xa9\"],\"b\":{\"c\":{},\"d\":[]},\"\":\"\"}");
    assert_becomes(
        "[0.1,1e3,1e15,9007199254740992,1e20,1e-7,-1.7976931348623157e308,123456.789,4.9e-324]",
        "[0.1,1000,1000000000000000,9007199254740992,1e+20,1e-07,"
        "-1.7976931348623157e+308,123456.789,4.94065645841247e-324]");
    assert_becomes("{\"a\":1,\"A\":2,\"a\":3}", "{\"A\":2,\"a\":3}"); /* the last of equal keys */
    assert_becomes("\"x\"", "\"x\"");
}

/* A comma as decimal point must not get into numbers; skipped where no such locale is installed. */
static void test_locale(void **state) {
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        skip();
    }
    cJSON *tree = cJSON_CreateNumber(0.5);
    grove_doc *doc = NULL;
    grove_status st = grove_cjson_to_doc(env, tree, &doc, NULL);
    setlocale(LC_NUMERIC, "C");
    assert_int_equal(st, GROVE_OK);
    assert_written(doc, "0.5");
    grove_doc_unref(doc);
    cJSON_Delete(tree);
}

static void test_raw_and_refusals(void **state) {
    (void)state;
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    cJSON *tree = cJSON_CreateArray();
    cJSON_AddItemToArray(tree, cJSON_CreateRaw("{\"n\":9007199254740993}"));
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, &err), GROVE_OK);
    assert_written(doc, "[{\"n\":9007199254740993}]");
    grove_doc_unref(doc);
    doc = NULL;
    cJSON_AddItemToArray(tree, cJSON_CreateRaw("{"));
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, &err), GROVE_E_PARSE);
    cJSON_Delete(tree);
    tree = cJSON_CreateNumber((double)INFINITY);
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, &err), GROVE_E_RANGE);
    assert_non_null(strstr(err.message, "infinite"));
    cJSON_Delete(tree);
    tree = cJSON_CreateString("\xff");
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, &err), GROVE_E_INVALID);
    cJSON_Delete(tree);
    tree = cJSON_CreateArray(); /* deeper than cJSON itself reads */
    cJSON *inner = tree;
    for (int i = 0; i <= CJSON_NESTING_LIMIT; i++) {
        cJSON *next = cJSON_CreateArray();
        cJSON_AddItemToArray(inner, next);
        inner = next;
    }
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, &err), GROVE_E_LIMIT);
    cJSON_Delete(tree);
    assert_int_equal(grove_cjson_to_doc(env, NULL, &doc, &err), GROVE_E_INVALID);
    assert_null(doc);
}

typedef struct refusal {
    const char *text;
    grove_status status, lossy;
    uint32_t column;
} refusal;

static void test_from_node(void **state) {
    (void)state;
    static const refusal cases[] = {
        {"[1,-2,0.1,1e3,true,false,null,\"x\",{\"a\":[]},{}]", GROVE_OK, GROVE_OK, 0},
        {"9007199254740992", GROVE_OK, GROVE_OK, 0},
        {"[9007199254740993]", GROVE_E_RANGE, GROVE_OK, 2},
        {"9223372036854775807", GROVE_E_RANGE, GROVE_OK, 1},
        {"-9223372036854775808", GROVE_OK, GROVE_OK, 0},
        {"18446744073709551616", GROVE_E_RANGE, GROVE_OK, 1},
        {"1e30", GROVE_OK, GROVE_OK, 0},
        {"{\"a\":1e400}", GROVE_E_RANGE, GROVE_E_RANGE, 6},
        {"\"a\\u0000b\"", GROVE_E_UNSUPPORTED, GROVE_E_UNSUPPORTED, 1},
        {"{\"a\\u0000b\":1}", GROVE_E_UNSUPPORTED, GROVE_E_UNSUPPORTED, 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grove_doc *doc = from_text(cases[i].text);
        cJSON *tree = NULL;
        grove_error err = GROVE_ERROR_INIT;
        grove_status st = grove_cjson_from_node(grove_doc_root(doc), 0, &tree, &err);
        if (st != cases[i].status || err.column != cases[i].column || (st < 0) != (tree == NULL)) {
            fail_msg("%s: %s at %u", cases[i].text, grove_status_name(st), err.column);
        }
        assert_int_equal(err.status, st);
        cJSON_Delete(tree);
        tree = NULL;
        assert_int_equal(grove_cjson_from_node(grove_doc_root(doc), GROVE_CJSON_LOSSY, &tree, NULL),
                         cases[i].lossy);
        cJSON_Delete(tree);
        grove_doc_unref(doc);
    }
    cJSON *tree = NULL;
    assert_int_equal(grove_cjson_from_node(NULL, 0, &tree, NULL), GROVE_E_INVALID);
    assert_int_equal(grove_cjson_from_node(NULL, 0x40, &tree, NULL), GROVE_E_INVALID);
    assert_null(tree);
}

/* What cJSON prints after a round trip is what it prints of the text itself. */
static void test_round_trip(void **state) {
    (void)state;
    const char text[] = "{\"kind\":\"PodCliqueSet\",\"spec\":{\"replicas\":0,\"list\":[{\"a\":1.5},"
                        "[],\"x\\n\"],\"big\":4294967296}}";
    cJSON *tree = cJSON_Parse(text);
    cJSON *back = NULL;
    grove_doc *doc = NULL;
    assert_int_equal(grove_cjson_to_doc(env, tree, &doc, NULL), GROVE_OK);
    assert_int_equal(grove_cjson_from_node(grove_doc_root(doc), 0, &back, NULL), GROVE_OK);
    assert_true(cJSON_Compare(tree, back, 1));
    char *printed = cJSON_PrintUnformatted(back);
    assert_string_equal(printed, text);
    cJSON_free(printed);
    grove_doc_unref(doc);
    cJSON_Delete(back);
    cJSON_Delete(tree);
}

/* cJSON's hooks refuse one allocation after the other. */
static uint32_t left;

static void *limited_malloc(size_t n) {
    return left > 0 ? (left--, malloc(n)) : NULL;
}

static void test_oom(void **state) {
    (void)state;
    grove_doc *doc = from_text("{\"a\":[1,\"x\",{\"b\":null}],\"c\":true}");
    cJSON_Hooks hooks = {limited_malloc, free};
    uint32_t points = 0;
    cJSON_InitHooks(&hooks);
    for (grove_status st = GROVE_E_NOMEM; st < 0; points++) {
        cJSON *tree = NULL;
        left = points;
        st = grove_cjson_from_node(grove_doc_root(doc), 0, &tree, NULL);
        assert_true(st == GROVE_OK || (st == GROVE_E_NOMEM && !tree));
        cJSON_Delete(tree);
    }
    cJSON_InitHooks(NULL);
    assert_true(points > 10);
    grove_doc_unref(doc);
}

static int setup(void **state) {
    (void)state;
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    grove_env_unref(env);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_doc),           cmocka_unit_test(test_locale),
        cmocka_unit_test(test_raw_and_refusals), cmocka_unit_test(test_from_node),
        cmocka_unit_test(test_round_trip),       cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
