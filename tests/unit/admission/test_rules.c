/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules at their edges: objects made from one base by small edits (tests/golden/rules, whose README.md has
 * the form), each judged, and every word of every verdict compared. A change is judged both ways; what is
 * judged with one allocation refused fails cleanly or says the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>

#include "base/text.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"

typedef struct table {
    grove_env *env;
    grove_doc *doc;
    const grove_node *base, *nodes;
    grove_config *config;
    grove_buf out;
} table;

/* One judgement, for the loop over refused allocations as well. */
typedef struct question {
    grove_doc *old, *new;
    grove_config *config;
    const grove_node *options; /* the case */
    grove_doc *nodes_doc;
    const grove_node *nodes; /* for the lints; NULL: none are known */
    char *told;              /* the answer without refusals */
} question;

/* ---- objects from edits ---- */

/* {k: the text N times} */
static void put_long(grove_builder *b, const grove_node *text, size_t n) {
    char *all = malloc(n);
    assert_non_null(all);
    memset(all, grove_node_text(text)[0], n);
    grove_builder_open_object(b, "value");
    grove_builder_stringn(b, "k", all, n);
    grove_builder_close(b);
    free(all);
}

/* [[OP, POINTER, VALUE, N]...] as a JSON patch on the base; NULL: the base. */
static grove_doc *edited(table *t, const grove_node *edits) {
    grove_builder *b = NULL;
    grove_doc *patch = NULL, *out = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_builder_new(t->env, &b), 0);
    grove_builder_open_array(b, NULL);
    GV_EACH(edit, edits) {
        const grove_node *value = grove_node_at(edit, 2);
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "op", grove_node_text(grove_node_at(edit, 0)));
        grove_builder_string(b, "path", grove_node_text(grove_node_at(edit, 1)));
        int64_t times = 0;
        if (grove_node_int64(grove_node_at(edit, 3), &times) == GROVE_OK) {
            put_long(b, value, (size_t)times);
        } else if (value) {
            grove_builder_copy(b, "value", value);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
    assert_int_equal(grove_builder_finish(b, &patch, NULL), 0);
    grove_builder_free(b);
    if (grove_json_patch_apply(t->doc, t->base, patch, grove_doc_root(patch), &out, &err) < 0) {
        fail_msg("%s", err.message);
    }
    grove_doc_unref(patch);
    return out;
}

/* What a cluster would hold of it. */
static grove_doc *stored(table *t, grove_doc *doc) {
    grove_doc *out = NULL;
    grove_validate_options o = {.size = (uint32_t)sizeof o, .config = t->config};
    grove_status st = grove_default(t->env, doc, grove_doc_root(doc), &o, NULL, &out, NULL);
    return st == GROVE_OK ? out : grove_doc_ref(doc);
}

/* ---- one judgement ---- */

static grove_status judge(grove_env *env, const question *q, grove_buf *out) {
    grove_diags *found = NULL;
    grove_admission_verdict v = GROVE_ADMISSION_VERDICT_INIT;
    grove_validate_options o = {
        .size = (uint32_t)sizeof o,
        .operation = (grove_operation)gv_node_get_int(q->options, "operation",
                                                      GROVE_OPERATION_AUTO),
        .fields = (grove_field_validation)gv_node_get_int(q->options, "fields", 0),
        .flags = (uint32_t)gv_node_get_int(q->options, "flags", 0),
        .config = q->config};
    grove_lint_options lint = {
        .size = (uint32_t)sizeof lint, .nodes_doc = q->nodes_doc, .nodes = q->nodes};
    o.lint = q->nodes ? &lint : NULL;
    grove_status st = grove_diags_new(env, &found);
    st = st < 0 ? st
                : grove_validate(env, q->new, grove_doc_root(q->new), q->old,
                                 q->old ? grove_doc_root(q->old) : NULL, &o, found, &v, NULL);
    for (uint32_t i = 0; st == GROVE_OK && i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        st = gv_buf_fmt(out, "  %u:%u %s %s GRV%04u %s: %s\n", (unsigned)d->line,
                        (unsigned)d->column,
                        d->severity == GROVE_SEVERITY_ERROR ? "error" : "warning", d->type,
                        (unsigned)d->code, d->path, d->message);
    }
    if (st < 0 && st != GROVE_E_NOMEM) {
        st = gv_buf_fmt(out, "  %s\n", grove_status_name(st));
    }
    st = st < 0 ? st
                : gv_buf_fmt(out, "  %s %s %u\n", v.allowed ? "allowed" : "refused",
                             grove_stage_name(v.stage), (unsigned)v.http_code);
    grove_diags_free(found);
    return st;
}

static grove_status starved(grove_env *env, void *ctx) {
    question *q = ctx;
    grove_buf out;
    grove_buf_init(&out, env);
    grove_status st = judge(env, q, &out);
    if (st == GROVE_OK && q->told == NULL) {
        q->told = malloc((size_t)out.len + 1);
        assert_non_null(q->told);
        memcpy(q->told, out.data, (size_t)out.len + 1);
    } else if (st == GROVE_OK) {
        assert_string_equal(out.data, q->told);
    }
    grove_buf_fini(&out);
    return st;
}

/* ---- cases ---- */

static void ask(table *t, const grove_node *test, grove_doc *old, grove_doc *new) {
    question q = {.old = old,
                  .new = new,
                  .config = t->config,
                  .options = test,
                  .nodes_doc = t->doc,
                  .nodes = t->nodes};
    assert_int_equal(judge(t->env, &q, &t->out), GROVE_OK);
    if (grove_node_get(test, "starve")) {
        oom_loop("a verdict", starved, &q);
        free(q.told);
    }
}

/* As the webhook at that path is asked by an API server. */
static void review(table *t, const grove_node *test, grove_doc *old, grove_doc *new) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_buf request;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_builder_new(t->env, &b), 0);
    grove_builder_open_object(b, NULL);
    grove_builder_open_object(b, "request");
    grove_builder_string(b, "uid", "u");
    grove_builder_string(b, "namespace", "ns");
    grove_builder_string(b, "operation", old ? "UPDATE" : "CREATE");
    grove_builder_link(b, "object", new, grove_doc_root(new));
    if (old) {
        grove_builder_link(b, "oldObject", old, grove_doc_root(old));
    }
    grove_builder_close(b);
    grove_builder_close(b);
    assert_int_equal(grove_builder_finish(b, &doc, NULL), 0);
    grove_builder_free(b);
    grove_buf_init(&request, t->env);
    assert_int_equal(grove_node_write_json(grove_doc_root(doc), 0, &request, NULL), 0);
    gv_buf_c(&t->out, "  ");
    if (grove_admission_review(t->env, t->config, grove_node_text(grove_node_get(test, "review")),
                               request.data, (size_t)request.len, &t->out, &err) < 0) {
        fail_msg("%s", err.message);
    }
    gv_buf_c(&t->out, "\n");
    grove_buf_fini(&request);
    grove_doc_unref(doc);
}

static void one_case(table *t, const grove_node *test) {
    const grove_node *before = grove_node_get(test, "old");
    grove_doc *new = edited(t, grove_node_get(test, "new")), *old = NULL;
    if (before) {
        grove_doc *raw = edited(t, before);
        old = stored(t, raw);
        grove_doc_unref(raw);
    }
    gv_buf_fmt(&t->out, "%s\n", grove_node_text(grove_node_get(test, "name")));
    if (grove_node_get(test, "review")) {
        review(t, test, old, new);
    } else {
        ask(t, test, old, new);
    }
    if (grove_node_get(test, "defaults")) {
        grove_doc *whole = stored(t, new);
        gv_buf_c(&t->out, "  ");
        assert_int_equal(grove_node_write_json(grove_doc_root(whole), 0, &t->out, NULL), 0);
        gv_buf_c(&t->out, "\n");
        grove_doc_unref(whole);
    }
    if (old && !grove_node_get(test, "review") && !grove_node_get(test, "operation")) {
        grove_doc *there = stored(t, new);
        gv_buf_c(&t->out, " and back\n");
        ask(t, test, there, old);
        grove_doc_unref(there);
    }
    grove_doc_unref(old);
    grove_doc_unref(new);
}

static void one_table(const char *relative, void *ctx) {
    table t = {.env = ctx};
    grove_error err = GROVE_ERROR_INIT;
    char *yaml = test_read(relative, NULL);
    grove_buf_init(&t.out, t.env);
    if (grove_doc_parse_yaml(t.env, yaml, strlen(yaml), GROVE_PARSE_STRICT, &t.doc, &err) < 0) {
        fail_msg("%s:%u: %s", relative, (unsigned)err.line, err.message);
    }
    const grove_node *root = grove_doc_root(t.doc);
    t.base = grove_node_get(root, "base");
    t.nodes = grove_node_get(root, "nodes");
    assert_int_equal(grove_config_new(t.env, &t.config), 0);
    GV_EACH(entry, grove_node_get(root, "config")) {
        assert_int_equal(grove_config_add(t.config, t.doc, entry, NULL), 0);
    }
    GV_EACH(test, grove_node_get(root, "cases")) {
        one_case(&t, test);
    }
    test_golden_beside(relative, t.out.data, (size_t)t.out.len);
    grove_buf_fini(&t.out);
    grove_config_unref(t.config);
    grove_doc_unref(t.doc);
    free(yaml);
}

static void test_tables(void **state) {
    (void)state;
    grove_env *env = NULL;
    oom_memory memory;
    oom_memory_init(&memory); /* never refuses here: it counts, and nothing it gives is zero */
    env = oom_env(&memory, NULL);
    assert_int_equal(test_each_file("tests/golden/rules", ".yaml", one_table, env), 14);
    grove_env_unref(env);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
