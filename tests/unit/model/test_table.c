/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of `kubectl get` and the cells of a server's Table, case by case against tests/golden/table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/kinds.h>

#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"
#include "value/scalar.h"

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

/* The cells of all objects as one JSON document, a line each. */
static grove_status put_cells(grove_env *e, grove_kind kind, const grove_node *items, int64_t now,
                              grove_buf *out) {
    grove_status st = GROVE_OK;
    GV_EACH(item, items) {
        grove_builder *b = NULL;
        grove_doc *cells = NULL;
        st = st < 0 ? st : grove_builder_new(e, &b);
        if (st == GROVE_OK) {
            grove_builder_open_array(b, NULL);
            st = grove_table_cells(e, kind, item, now, b, NULL);
            grove_builder_close(b);
            st = st < 0 ? st : grove_builder_finish(b, &cells, NULL);
        }
        st = st < 0 ? st : grove_node_write_json(grove_doc_root(cells), 0, out, NULL);
        st = st < 0 ? st : gv_buf_char(out, '\n');
        grove_doc_unref(cells);
        grove_builder_free(b);
    }
    return st;
}

static grove_status tables(grove_env *e, const char *text, grove_buf *out) {
    static const uint32_t flags[] = {0, GROVE_TABLE_WIDE | GROVE_TABLE_NAMESPACE,
                                     GROVE_TABLE_NO_HEADERS};
    grove_doc *doc = NULL;
    int64_t now = 0;
    grove_status st = grove_doc_parse_json(e, text, strlen(text), 0, &doc, NULL);
    const grove_node *root = st == GROVE_OK ? grove_doc_root(doc) : NULL;
    const grove_node *items = root ? grove_node_get(root, "items") : NULL;
    gv_str name = gv_node_get_str(root, "kind");
    grove_kind kind = grove_kind_find(name.p, name.n);
    if (st == GROVE_OK) {
        assert_int_not_equal(kind, GROVE_KIND_NONE);
        assert_int_equal(gv_time_parse(gv_node_get_str(root, "now"), &now, NULL), GROVE_OK);
    }
    for (size_t i = 0; st == GROVE_OK && i < sizeof flags / sizeof *flags; i++) {
        st = grove_table_write(e, kind, items, flags[i], now, out, NULL);
        st = st < 0 ? st : gv_buf_char(out, '\n');
    }
    st = st < 0 ? st : put_cells(e, kind, items, now, out);
    grove_doc_unref(doc);
    return st;
}

static void golden_case(const char *relative, void *ctx) {
    (void)ctx;
    char *text = test_read(relative, NULL);
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(tables(env, text, &out), GROVE_OK);
    test_golden_beside(relative, out.data, (size_t)out.len);
    grove_buf_fini(&out);
    free(text);
}

static void golden(void **state) {
    (void)state;
    assert_int_equal(test_each_file("tests/golden/table", ".json", golden_case, NULL), 11);
}

/* Each column of each kind: what is shown of an object that has nothing. */
static void every_kind_has_a_table(void **state) {
    (void)state;
    grove_doc *doc = NULL;
    const char *text = "[{}]";
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    for (grove_kind kind = GROVE_KIND_NONE + 1; grove_kind_name(kind)[0]; kind++) {
        grove_buf out;
        grove_buf_init(&out, env);
        assert_int_equal(
            grove_table_write(env, kind, grove_doc_root(doc), GROVE_TABLE_WIDE, 0, &out, NULL),
            GROVE_OK);
        assert_non_null(memchr(out.data, '\n', (size_t)out.len));
        grove_buf_fini(&out);
        grove_table_column column = {.size = (uint32_t)sizeof column};
        uint32_t n = 0;
        while (grove_table_column_at(kind, n, &column)) {
            assert_true(column.name[0] && column.type[0]);
            n++;
        }
        assert_true(n >= 1);
        column.size = 4; /* of a caller that is older than the struct */
        assert_int_equal(grove_table_column_at(kind, 0, &column), 0);
    }
    grove_doc_unref(doc);
}

static grove_status write_once(grove_env *e, void *ctx) {
    grove_buf out;
    grove_buf_init(&out, e);
    grove_status st = tables(e, ctx, &out);
    grove_buf_fini(&out);
    return st;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    char *text = test_read("tests/golden/table/cliques.json", NULL);
    oom_loop("tables", write_once, text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(every_kind_has_a_table),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
