/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that cannot be answered: what is missing, of a wrong size, or none of Grove's kinds is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>

#include "support/oom.h"

#define SET                                                                                     \
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":"   \
    "\"s\"},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{"     \
    "\"roleName\":\"a\",\"replicas\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":" \
    "\"x:1\"}]}}}]}}}"

typedef struct world {
    grove_env *env;
    grove_doc *doc;
    const grove_node *root;
    grove_diags *diags;
    grove_error err;
    grove_admission_verdict verdict;
    grove_doc *out;
} world;

static void open_world(world *w, const char *json) {
    memset(w, 0, sizeof *w);
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    assert_int_equal(grove_doc_parse_json(w->env, json, strlen(json), 0, &w->doc, NULL), GROVE_OK);
    assert_int_equal(grove_diags_new(w->env, &w->diags), GROVE_OK);
    w->root = grove_doc_root(w->doc);
    w->err = (grove_error)GROVE_ERROR_INIT;
    w->verdict = (grove_admission_verdict)GROVE_ADMISSION_VERDICT_INIT;
}

static void close_world(world *w) {
    grove_doc_unref(w->out);
    grove_diags_free(w->diags);
    grove_doc_unref(w->doc);
    grove_env_unref(w->env);
}

/* The call was refused with these words, and has not touched its outputs. */
static void refused(world *w, grove_status got, grove_status want, const char *message) {
    assert_int_equal(got, want);
    assert_string_equal(w->err.message, message);
    assert_null(w->out);
    assert_int_equal(w->verdict.http_code, 0);
    assert_int_equal(grove_diags_count(w->diags), 0);
    w->err = (grove_error)GROVE_ERROR_INIT;
}

/* For i from 0 on, everything but argument i: NULL instead of `p`. */
#define BUT(at, p) (i == (at) ? NULL : (p))

static void test_missing_arguments(void **state) {
    (void)state;
    world w;
    grove_buf buf;
    open_world(&w, SET);
    grove_buf_init(&buf, w.env);
    for (int i = 0; i < 5; i++) {
        grove_status st = grove_validate(BUT(0, w.env), BUT(1, w.doc), BUT(2, w.root), NULL, NULL,
                                         NULL, BUT(3, w.diags), BUT(4, &w.verdict), &w.err);
        refused(&w, st, GROVE_E_INVALID, "grove_validate: an argument is missing");
    }
    for (int i = 0; i < 4; i++) {
        grove_status st = grove_default(BUT(0, w.env), BUT(1, w.doc), BUT(2, w.root), NULL, w.diags,
                                        BUT(3, &w.out), &w.err);
        refused(&w, st, GROVE_E_INVALID, "grove_default: an argument is missing");
        st = grove_lint(BUT(0, w.env), BUT(1, w.doc), BUT(2, w.root), NULL, NULL, BUT(3, w.diags),
                        &w.err);
        refused(&w, st, GROVE_E_INVALID, "grove_lint: an argument is missing");
    }
    for (int i = 0; i < 5; i++) {
        grove_status st = grove_migrate(BUT(0, w.env), BUT(1, w.doc), BUT(2, w.root),
                                        BUT(3, w.diags), BUT(4, &w.out), &w.err);
        refused(&w, st, GROVE_E_INVALID, "grove_migrate: an argument is missing");
    }
    for (int i = 0; i < 4; i++) {
        grove_status st = grove_admission_review(BUT(0, w.env), NULL, BUT(1, "/x"), BUT(2, "{}"), 2,
                                                 BUT(3, &buf), &w.err);
        refused(&w, st, GROVE_E_INVALID, "grove_admission_review: an argument is missing");
    }
    assert_int_equal(buf.len, 0);
    grove_buf_fini(&buf);
    close_world(&w);
}

static void test_sizes(void **state) {
    (void)state;
    struct {
        grove_validate_options known;
        uint64_t later;
    } options = {{.size = (uint32_t)sizeof options}, 0};
    static const char words[] = "options have a size this library does not know";
    world w;
    open_world(&w, SET);
    grove_status st = grove_validate(w.env, w.doc, w.root, NULL, NULL, &options.known, w.diags,
                                     &w.verdict, &w.err);
    assert_int_equal(st, GROVE_OK); /* later fields that say nothing are no matter */
    assert_true(w.verdict.allowed);
    grove_diags_clear(w.diags);
    w.verdict = (grove_admission_verdict)GROVE_ADMISSION_VERDICT_INIT;
    options.later = 1;
    st = grove_validate(w.env, w.doc, w.root, NULL, NULL, &options.known, w.diags, &w.verdict,
                        &w.err);
    assert_true(st < 0);
    refused(&w, st, st, words);
    options.known.size = 2;
    st = grove_default(w.env, w.doc, w.root, &options.known, w.diags, &w.out, &w.err);
    assert_true(st < 0);
    refused(&w, st, st, words);
    w.verdict.size--;
    st = grove_validate(w.env, w.doc, w.root, NULL, NULL, NULL, w.diags, &w.verdict, &w.err);
    refused(&w, st, GROVE_E_INVALID, "grove_validate: an argument is missing");
    close_world(&w);
}

static void test_other_kinds(void **state) {
    (void)state;
    world w;
    open_world(&w, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}");
    grove_status st = grove_validate(w.env, w.doc, w.root, NULL, NULL, NULL, w.diags, &w.verdict,
                                     &w.err);
    refused(&w, st, GROVE_E_UNSUPPORTED, "\"Pod\" is none of Grove's kinds");
    st = grove_default(w.env, w.doc, w.root, NULL, w.diags, &w.out, &w.err);
    refused(&w, st, GROVE_E_UNSUPPORTED, "\"Pod\" is none of Grove's kinds");
    st = grove_lint(w.env, w.doc, w.root, NULL, NULL, w.diags, &w.err);
    refused(&w, st, GROVE_E_UNSUPPORTED, "the object is of none of Grove's kinds");
    st = grove_migrate(w.env, w.doc, w.root, w.diags, &w.out, &w.err);
    refused(&w, st, GROVE_E_UNSUPPORTED, "\"Pod\" is and was none of Grove's kinds");
    close_world(&w);
}

/* What grove_default cannot decode is told in the error as well, and no list is needed for it. */
static void test_default_refuses(void **state) {
    (void)state;
    static const char odd[] = "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\n"
                              "\"metadata\":{\"name\":\"s\"},\"spec\":{\"replicas\":\"one\"}}";
    world w;
    for (int i = 0; i < 2; i++) {
        open_world(&w, odd);
        assert_int_equal(grove_default(w.env, w.doc, w.root, NULL, BUT(1, w.diags), &w.out, &w.err),
                         GROVE_E_REFUSED);
        assert_int_equal(w.err.line, 2);
        assert_string_equal(w.err.path, "spec.replicas");
        assert_true(w.err.message[0] != '\0');
        assert_int_equal(grove_diags_count(w.diags), i == 0);
        if (i == 0) { /* the first of this call, not of the list */
            grove_diags_clear(w.diags);
        }
        assert_null(w.out);
        close_world(&w);
    }
}

/* ---- no memory ---- */

static grove_status default_once(grove_env *env, void *ctx) {
    grove_doc *doc = NULL, *out = NULL;
    grove_status st = grove_doc_parse_json(env, ctx, strlen(ctx), 0, &doc, NULL);
    st = st < 0 ? st : grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &out, NULL);
    grove_doc_unref(out);
    grove_doc_unref(doc);
    return st;
}

static grove_status lint_once(grove_env *env, void *ctx) {
    grove_doc *doc = NULL;
    grove_diags *diags = NULL;
    grove_status st = grove_doc_parse_json(env, ctx, strlen(ctx), 0, &doc, NULL);
    st = st < 0 ? st : grove_diags_new(env, &diags);
    st = st < 0 ? st : grove_lint(env, doc, grove_doc_root(doc), NULL, NULL, diags, NULL);
    grove_diags_free(diags);
    grove_doc_unref(doc);
    return st;
}

static void test_no_memory(void **state) {
    (void)state;
    static char set[] = SET;
    oom_loop("default without a list", default_once, set);
    oom_loop("lint without a configuration", lint_once, set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_arguments), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_other_kinds),       cmocka_unit_test(test_default_refuses),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("admission misuse", tests, NULL, NULL);
}
