/* SPDX-License-Identifier: Apache-2.0 */
/* Name syntax, and field paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/field_path.h"
#include "model/syntax.h"

#define A10 "aaaaaaaaaa"
#define A60 A10 A10 A10 A10 A10 A10
#define A63 A60 "aaa"
#define A64 A60 "aaaa"
#define A250 A60 A60 A60 A60 A10

typedef struct row {
    bool (*check)(gv_str s);
    const char *good, *bad; /* separated by '|'; "" is an entry too */
} row;

static const row rows[] = {
    {gv_syntax_label, "a|0|a-b|a--b|" A63, "|-a|a-|A|a.b|a_b|" A64},
    {gv_syntax_subdomain, "a|a.b|0.1|" A64 "|" A250 "abc", "|.|a.|.a|a..b|a.-b|A|" A250 "abcd"},
    {gv_syntax_qualified, "a|A|a.b/C_d|" A63 "|example.com/" A63, "|/a|a/|a/b/c|A/b|-a|a-|" A64},
    {gv_syntax_label_value, "|a|A.b_c-d|" A63, "-a|a-|a b|a/b|" A64},
    {gv_syntax_env_name, "A|_|-|.a|a.b", "|1|.|..|..a|...|a=b|a b"},
    {gv_syntax_domain, "a|rack-|a1|" A63, "|1|-|A|a.b|a_b|" A64},
    {gv_syntax_level_key, "a|a/b|A.b/C|" A64, "|/a|a/|a/b/c|-a|a/-b"},
    {gv_syntax_condition_type, "Ready|a.b/Ready|a/B", "|A/b|a..b/c|a/|-a"},
    {gv_syntax_condition_reason, "A|Because|a_b,c:d|Ab_", "|1|_a|A:|A,|a-b"},
    {gv_syntax_quantity, "0|1|+1|-1|1.5|.5|5.|1m|1Ki|1k|1E|1e3|1E-3|1e+3|1e0.5|1.5Gi|1n|1u",
     "|.|m|1K|1mi|1e|1 | 1|1Gib|--1|1e.|e3|1ki"},
    {gv_syntax_blank, "| |\t\n|\xC2\xA0 \xE2\x80\x83\xE3\x80\x80", "a| a |\xC2\xA1"},
};

static void check_all(bool (*check)(gv_str s), const char *list, bool want) {
    for (const char *at = list;; at++) {
        const char *end = strchr(at, '|');
        gv_str s = {at, end ? (size_t)(end - at) : strlen(at)};
        if (check(s) != want) {
            fail_msg("\"%.*s\" should be %s", (int)s.n, s.p, want ? "good" : "bad");
        }
        if (!end) {
            return;
        }
        at = end;
    }
}

static void names(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_all(rows[i].check, rows[i].good, true);
        check_all(rows[i].check, rows[i].bad, false);
    }
}

static void paths(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_buf out;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    grove_buf_init(&out, env);
    assert_int_equal(gv_path_write(NULL, &out), 0);
    assert_int_equal(out.len, 0);
    gv_path spec = gv_path_key(NULL, "spec", 4), list = gv_path_key(&spec, "cliques", 7);
    gv_path entry = gv_path_index(&list, 12), deep = gv_path_index(&entry, 0);
    gv_path name = gv_path_key(&deep, "grove.io/x", 10);
    assert_int_equal(gv_path_write(&name, &out), 0);
    assert_string_equal(out.data, "spec.cliques[12][0].grove.io/x");
    grove_buf_fini(&out);
    grove_env_unref(env);
}

static void annotations(void **state) {
    (void)state;
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    uint64_t bytes = 0;
    static const char text[] = "[{\"UPPER/Case\":\"x\",\"a\":\"12\"},{\"a b\":\"\"},{}]";
    assert_int_equal(grove_env_new(NULL, &env), 0);
    assert_int_equal(grove_doc_parse_json(env, text, sizeof text - 1, 0, &doc, NULL), 0);
    const grove_node *root = grove_doc_root(doc);
    assert_true(gv_syntax_annotations(grove_node_at(root, 0), &bytes));
    assert_int_equal(bytes, 14);
    assert_false(gv_syntax_labels(grove_node_at(root, 0)));
    assert_false(gv_syntax_annotations(grove_node_at(root, 1), &bytes));
    assert_true(gv_syntax_annotations(grove_node_at(root, 2), &bytes));
    assert_int_equal(bytes, 0);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(paths),
        cmocka_unit_test(annotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
