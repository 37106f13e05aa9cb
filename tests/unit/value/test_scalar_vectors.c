/* SPDX-License-Identifier: Apache-2.0 */
/* Durations, times, percentages and selectors mean what Go and Kubernetes' libraries say they mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/oom.h"
#include "value/doc.h"
#include "value/scalar.h"
#include "vectors.h"

static grove_env *env;
static size_t wrong;

/* Notes a difference and goes on, so that one run shows them all. */
static void differs(gv_str input, const char *ours) {
    wrong++;
    if (wrong <= 40) {
        print_error("\"%.*s\": ours %s\n", (int)input.n, input.p, ours);
    }
}

static void finish(const char *what, size_t n, size_t at_least) {
    print_message("%zu %s\n", n, what);
    assert_int_equal(wrong, 0);
    assert_true(n >= at_least);
}

typedef grove_status (*format_fn)(int64_t ns, grove_buf *buf);

static void check_format(format_fn format, int64_t ns, gv_str expected, grove_buf *buf) {
    grove_buf_clear(buf);
    assert_int_equal(format(ns, buf), GROVE_OK);
    if (!gv_str_eq(gv_buf_view(buf), expected)) {
        differs(expected, buf->data);
    }
}

static void test_durations(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/durations.jsonl");
    grove_buf buf;
    grove_buf_init(&buf, env);
    size_t n = 0;
    for (const grove_node *v; (v = vectors_next(&f)); n++) {
        const gv_str text = gv_node_get_str(v, "text");
        int64_t ns = 0, expected = 0;
        const grove_status st = gv_duration_parse(text, &ns, NULL);
        if (gv_node_get_bool(v, "error")) {
            if (st != GROVE_E_PARSE) {
                differs(text, "accepted");
            }
            continue;
        }
        assert_true(gv_str_int64(gv_node_get_str(v, "ns"), &expected));
        if (st < 0 || ns != expected) {
            differs(text, grove_status_name(st));
        }
        check_format(gv_duration_format, expected, gv_node_get_str(v, "format"), &buf);
    }
    grove_buf_fini(&buf);
    finish("durations", n, 4000);
}

static void test_times(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/times.jsonl");
    grove_buf buf;
    grove_buf_init(&buf, env);
    size_t n = 0;
    for (const grove_node *v; (v = vectors_next(&f)); n++) {
        const gv_str text = gv_node_get_str(v, "text");
        int64_t ns = 0, expected = 0;
        const grove_status st = gv_time_parse(text, &ns, NULL);
        const bool fits = gv_str_int64(gv_node_get_str(v, "ns"), &expected);
        const grove_status want = gv_node_get_bool(v, "error") ? GROVE_E_PARSE
                                  : fits                       ? GROVE_OK
                                                               : GROVE_E_RANGE;
        if (st != want || (st == GROVE_OK && ns != expected)) {
            differs(text, grove_status_name(st));
        } else if (st == GROVE_OK) {
            check_format(gv_time_format, ns, gv_node_get_str(v, "seconds"), &buf);
            check_format(gv_microtime_format, ns, gv_node_get_str(v, "micro"), &buf);
        }
    }
    grove_buf_fini(&buf);
    finish("times", n, 1900);
}

static void test_percents(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/percents.jsonl");
    size_t n = 0;
    for (const grove_node *v; (v = vectors_next(&f)); n++) {
        const grove_node *value = grove_node_get(v, "value");
        gv_int_or_string is;
        int32_t up = 0, down = 0;
        assert_int_equal(gv_int_or_string_read(value, &is, NULL), GROVE_OK);
        const int32_t total = (int32_t)gv_node_get_int(v, "total", -1);
        grove_status st = gv_int_or_percent(&is, total, true, &up, NULL);
        if (st == GROVE_OK) {
            st = gv_int_or_percent(&is, total, false, &down, NULL);
        }
        const bool refused = grove_node_get(v, "error") != NULL;
        if ((st < 0) != refused || (st == GROVE_OK && (up != gv_node_get_int(v, "up", -1) ||
                                                       down != gv_node_get_int(v, "down", -1)))) {
            differs(gv_node_str(value), grove_status_name(st));
        }
    }
    finish("percentages", n, 300);
}

static void test_int_or_string(void **state) {
    (void)state;
    static const struct {
        const char *json;
        grove_status status;
    } cases[] = {
        {"1", GROVE_OK},          {"-2147483648", GROVE_OK},
        {"2147483647", GROVE_OK}, {"2.0", GROVE_OK},
        {"1e3", GROVE_OK},        {"2147483648", GROVE_E_RANGE},
        {"1e30", GROVE_E_RANGE},  {"-2147483649", GROVE_E_RANGE},
        {"1.5", GROVE_E_TYPE},    {"\"30%\"", GROVE_OK},
        {"\"\"", GROVE_OK},       {"null", GROVE_E_TYPE},
        {"true", GROVE_E_TYPE},   {"[]", GROVE_E_TYPE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grove_doc *doc = NULL;
        gv_int_or_string v;
        assert_int_equal(
            grove_doc_parse_json(env, cases[i].json, strlen(cases[i].json), 0, &doc, NULL),
            GROVE_OK);
        if (gv_int_or_string_read(grove_doc_root(doc), &v, NULL) != cases[i].status) {
            fail_msg("%s", cases[i].json);
        }
        grove_doc_unref(doc);
    }
    gv_int_or_string v;
    assert_int_equal(gv_int_or_string_read(NULL, &v, NULL), GROVE_E_TYPE);
}

/* ---- selectors ---- */

/* One letter for each label set, as the vectors have it. */
static void judge(const gv_selector *s, const grove_node *sets, char *out) {
    GV_EACH(set, sets) {
        *out++ = gv_selector_matches(s, set) ? 'y' : 'n';
    }
    *out = '\0';
}

static void check_selector(const grove_node *v, const grove_node *sets, grove_buf *buf) {
    const grove_node *text = grove_node_get(v, "text");
    const grove_node *format = grove_node_get(v, "format");
    gv_selector *s = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = text ? gv_selector_parse(env, gv_node_str(text), &s, &err)
                           : gv_selector_from_node(env, grove_node_get(v, "object"), &s, &err);
    grove_buf_clear(buf);
    assert_int_equal(gv_buf_c(buf, ""), GROVE_OK);
    if (!text) {
        assert_int_equal(grove_node_write_json(grove_node_get(v, "object"), 0, buf, NULL),
                         GROVE_OK);
    }
    const gv_str name = text ? gv_node_str(text) : gv_buf_view(buf);
    if ((st < 0) != (grove_node_get(v, "error") != NULL)) {
        differs(name, st < 0 ? err.message : "accepted");
    } else if (st < 0) {
        if (err.message[0] == '\0' || s) {
            differs(name, "no message");
        }
    } else {
        char matches[64];
        assert_true(grove_node_size(sets) < sizeof matches);
        judge(s, sets, matches);
        if (!gv_str_is(gv_node_get_str(v, "matches"), matches)) {
            differs(name, matches);
        }
        grove_buf formatted;
        grove_buf_init(&formatted, env);
        st = gv_selector_format(s, &formatted);
        if (st != (format ? GROVE_OK : GROVE_E_UNSUPPORTED) ||
            (format && !gv_str_eq(gv_buf_view(&formatted), gv_node_str(format)))) {
            differs(name, formatted.data ? formatted.data : "");
        }
        grove_buf_fini(&formatted);
    }
    gv_selector_free(s);
}

static void test_selectors(void **state) {
    (void)state;
    vector_file f = vectors_open(env, "tests/golden/scalars/selectors.jsonl");
    grove_doc *sets = NULL;
    grove_builder *b = NULL;
    grove_buf buf;
    grove_buf_init(&buf, env);
    assert_int_equal(grove_builder_new(env, &b), GROVE_OK);
    grove_builder_copy(b, NULL, grove_node_get(vectors_next(&f), "labels"));
    assert_int_equal(grove_builder_finish(b, &sets, NULL), GROVE_OK);
    grove_builder_free(b);
    size_t n = 0;
    for (const grove_node *v; (v = vectors_next(&f)); n++) {
        check_selector(v, grove_doc_root(sets), &buf);
    }
    grove_doc_unref(sets);
    grove_buf_fini(&buf);
    finish("selectors", n, 1400);
}

static void test_selector_errors(void **state) {
    (void)state;
    gv_selector *s = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(gv_selector_parse(env, GV_STR("a=b,c d"), &s, &err), GROVE_E_PARSE);
    assert_int_equal(err.column, 7);
    assert_non_null(strstr(err.message, "\"d\""));
    const char object[] =
        "{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"b\",\"-\"]}]}";
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(env, object, sizeof object - 1, 0, &doc, NULL), GROVE_OK);
    assert_int_equal(gv_selector_from_node(env, grove_doc_root(doc), &s, &err), GROVE_E_PARSE);
    assert_string_equal(err.path, "matchExpressions[0].values[1]");
    assert_null(s);
    grove_doc_unref(doc);
}

static grove_status read_selectors(grove_env *with, void *ctx) {
    gv_selector *s = NULL;
    grove_doc *doc = NULL;
    const char object[] = "{\"matchLabels\":{\"c\":\"d\",\"a\":\"b\"},\"matchExpressions\":"
                          "[{\"key\":\"b\",\"operator\":\"In\",\"values\":[\"x\",\"y\"]}]}";
    (void)ctx;
    grove_status st = gv_selector_parse(with, GV_STR("c=d,a in (x,y,z),!b"), &s, NULL);
    gv_selector_free(s);
    s = NULL;
    if (st == GROVE_OK) {
        st = grove_doc_parse_json(with, object, sizeof object - 1, 0, &doc, NULL);
    }
    if (st == GROVE_OK) {
        st = gv_selector_from_node(with, grove_doc_root(doc), &s, NULL);
    }
    gv_selector_free(s);
    grove_doc_unref(doc);
    return st;
}

static void test_oom(void **state) {
    (void)state;
    oom_loop("selectors", read_selectors, NULL);
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

static int reset(void **state) {
    (void)state;
    wrong = 0;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_durations, reset),
        cmocka_unit_test_setup(test_times, reset),
        cmocka_unit_test_setup(test_percents, reset),
        cmocka_unit_test(test_int_or_string),
        cmocka_unit_test_setup(test_selectors, reset),
        cmocka_unit_test(test_selector_errors),
        cmocka_unit_test(test_oom),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
