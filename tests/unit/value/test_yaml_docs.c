/* SPDX-License-Identifier: Apache-2.0 */
/* docs/reference/yaml.md says what the reader does: its table of words and its examples are tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/files.h"
#include "value/doc.h"
#include "value/yaml_scalar.h"

#define EXAMPLES_AT_LEAST 25

static grove_env *env;
static char *page;

/* The lines between a mark and the next end mark. */
static gv_str section(const char *mark) {
    const char *begin = strstr(page, mark);
    assert_non_null(begin);
    begin = strchr(begin, '\n') + 1;
    const char *end = strstr(begin, "<!-- end -->");
    assert_non_null(end);
    return (gv_str){begin, (size_t)(end - begin)};
}

static gv_str take_line(gv_str *s) {
    const char *end = memchr(s->p, '\n', s->n);
    gv_str line = {s->p, end ? (size_t)(end - s->p) : s->n};
    size_t used = line.n + (end ? 1 : 0);
    *s = (gv_str){s->p + used, s->n - used};
    return line;
}

/* The next `code` of a line; false at its end. */
static bool take_code(gv_str *line, gv_str *out) {
    const char *open = memchr(line->p, '`', line->n);
    if (!open) {
        return false;
    }
    size_t left = line->n - (size_t)(open + 1 - line->p);
    const char *close = memchr(open + 1, '`', left);
    assert_non_null(close);
    *out = (gv_str){open + 1, (size_t)(close - open - 1)};
    *line = (gv_str){close + 1, left - out->n - 1};
    return true;
}

static gv_yaml_type type_of_row(gv_str line) {
    static const struct {
        const char *name;
        gv_yaml_type type;
    } rows[] = {{"| null |", GV_YAML_NULL},
                {"| true |", GV_YAML_TRUE},
                {"| false |", GV_YAML_FALSE},
                {"| infinity |", GV_YAML_INFINITY},
                {"| minus infinity |", GV_YAML_MINUS_INFINITY},
                {"| no number |", GV_YAML_NAN}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (gv_str_starts(line, gv_str_c(rows[i].name))) {
            return rows[i].type;
        }
    }
    return GV_YAML_STRING;
}

static void test_words(void **state) {
    (void)state;
    gv_str rows = section("<!-- words -->");
    size_t n = 1; /* the empty text has no code of its own */
    while (rows.n > 0) {
        gv_str line = take_line(&rows), word;
        const gv_yaml_type type = type_of_row(line);
        while (take_code(&line, &word)) {
            size_t i = 0;
            while (i < gv_yaml_n_words && !gv_str_is(word, gv_yaml_words[i].text)) {
                i++;
            }
            if (i == gv_yaml_n_words || gv_yaml_words[i].type != type) {
                fail_msg("%.*s is not of this type", (int)word.n, word.p);
            }
            n++;
        }
    }
    assert_int_equal(n, gv_yaml_n_words);
}

/* In a cell, \n stands for a line break and \| for a bar. */
static void put_yaml(gv_str cell, grove_buf *out) {
    grove_buf_clear(out);
    assert_int_equal(gv_buf_c(out, ""), GROVE_OK);
    for (size_t i = 0; i < cell.n; i++) {
        char c = cell.p[i];
        if (c == '\\' && i + 1 < cell.n && (cell.p[i + 1] == 'n' || cell.p[i + 1] == '|')) {
            c = cell.p[++i] == 'n' ? '\n' : '|';
        }
        assert_int_equal(gv_buf_char(out, c), GROVE_OK);
    }
}

static void test_examples(void **state) {
    (void)state;
    gv_str rows = section("<!-- examples -->");
    grove_buf yaml, json;
    grove_buf_init(&yaml, env);
    grove_buf_init(&json, env);
    size_t n = 0;
    while (rows.n > 0) {
        gv_str line = take_line(&rows), text, expected = {NULL, 0};
        if (!take_code(&line, &text)) {
            continue;
        }
        const bool refused = gv_str_starts(line, GV_STR(" | error |"));
        if (!refused) {
            assert_true(take_code(&line, &expected));
        }
        grove_doc *doc = NULL;
        put_yaml(text, &yaml);
        grove_buf_clear(&json);
        grove_status st = grove_doc_parse_yaml(env, yaml.data, (size_t)yaml.len, 0, &doc, NULL);
        if (st == GROVE_OK) {
            assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &json, NULL), GROVE_OK);
        }
        if (refused ? st != GROVE_E_PARSE : st < 0 || !gv_str_eq(gv_buf_view(&json), expected)) {
            fail_msg("%.*s: %s %s", (int)text.n, text.p, grove_status_name(st),
                     json.data ? json.data : "");
        }
        grove_doc_unref(doc);
        n++;
    }
    grove_buf_fini(&yaml);
    grove_buf_fini(&json);
    assert_true(n >= EXAMPLES_AT_LEAST);
    print_message("%zu examples\n", n);
}

static int setup(void **state) {
    (void)state;
    page = test_read("docs/reference/yaml.md", NULL);
    return grove_env_new(NULL, &env);
}

static int teardown(void **state) {
    (void)state;
    free(page);
    grove_env_unref(env);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
                                       cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
