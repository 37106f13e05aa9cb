/* SPDX-License-Identifier: Apache-2.0 */
/* The schema layer, case by case against tests/golden/schema, and its properties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/schema.h"
#include "model/syntax.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/build.h"
#include "value/doc.h"

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

/* Two of the webhook's rules stand for all: a constant, and one that reads what was submitted. */
static uint32_t edit(void *ctx, gv_schema_type_id type, const grove_node *parent,
                     const grove_node *object, gv_schema_edit *out, uint32_t cap) {
    (void)ctx;
    (void)parent;
    uint32_t n = 0;
    if (type == GV_TYPE_PODCLIQUESPEC && !gv_schema_given(object, "minAvailable") && cap > 0) {
        out[n++] = (gv_schema_edit){.member = "minAvailable",
                                    .number = gv_node_get_int(object, "replicas", 0)};
    } else if (type == GV_TYPE_PODSPEC &&
               gv_syntax_blank(gv_node_get_str(object, "restartPolicy"))) {
        out[n++] = (gv_schema_edit){.member = "restartPolicy", .text = "Always"};
    } else if (type == GV_TYPE_PODCLIQUESETTEMPLATESPEC &&
               !gv_schema_given(object, "headlessServiceConfig")) {
        out[n++] = (gv_schema_edit){.member = "headlessServiceConfig",
                                    .true_member = "publishNotReadyAddresses"};
    }
    return n;
}

typedef struct verdict {
    grove_status status;
    uint32_t errors;
    grove_doc *stored; /* NULL: refused at decoding */
} verdict;

/* One object through all of the layer. */
static verdict judge(grove_doc *doc, const grove_node *request, grove_diags *found) {
    static const gv_schema_edits edits = {NULL, edit};
    const grove_node *object = grove_node_get(request, "object");
    gv_str op = gv_node_get_str(request, "op");
    gv_kind kind = gv_kind_of(object);
    uint32_t flags = gv_str_is(op, "STATUS") ? GV_SCHEMA_KEEP_STATUS : 0;
    verdict v = {0};
    v.status = gv_schema_decode_check(kind, doc, object, GROVE_FIELDS_STRICT, GV_SCHEMA_WEBHOOKS,
                                      found, &v.errors);
    if (v.status < 0 || v.errors > 0) {
        return v;
    }
    v.status = gv_node_get_bool(request, "rewrite")
                   ? gv_schema_roundtrip(kind, doc, object, flags, GV_STR("team"), &edits,
                                         &v.stored, NULL)
                   : gv_schema_default(kind, doc, object, flags, GV_STR("team"), &v.stored, NULL);
    if (v.status == GROVE_OK) {
        v.status = gv_schema_validate(kind, v.stored, grove_doc_root(v.stored),
                                      gv_str_is(op, "CREATE"), false, found, &v.errors);
    }
    return v;
}

static grove_doc *parse_in(grove_env *e, const char *text, size_t len) {
    grove_doc *doc = NULL;
    return grove_doc_parse_json(e, text, len, GROVE_PARSE_STRICT, &doc, NULL) < 0 ? NULL : doc;
}

static void print_found(const grove_diags *found, grove_buf *out) {
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        gv_buf_fmt(out, "%u:%u %s GRV%04u %s %s: %s\n", (unsigned)d->line, (unsigned)d->column,
                   d->severity == GROVE_SEVERITY_ERROR ? "error" : "warning", (unsigned)d->code,
                   d->type, d->path, d->message);
        assert_non_null(grove_code_get(d->code));
    }
}

static void golden_case(const char *relative, void *ctx) {
    (void)ctx;
    size_t len = 0;
    char *text = test_read(relative, &len);
    grove_doc *doc = parse_in(env, text, len);
    assert_non_null(doc);
    grove_diags *found = NULL;
    assert_int_equal(grove_diags_new(env, &found), GROVE_OK);
    verdict v = judge(doc, grove_doc_root(doc), found);
    assert_int_equal(v.status, GROVE_OK);
    assert_true(v.errors >= grove_diags_errors(found)); /* a list keeps equal findings once */
    assert_int_equal(v.errors > 0, grove_diags_errors(found) > 0);
    grove_buf out;
    grove_buf_init(&out, env);
    print_found(found, &out);
    if (v.stored) {
        assert_int_equal(
            grove_node_write_json(grove_doc_root(v.stored), GROVE_WRITE_PRETTY, &out, NULL), 0);
        gv_buf_char(&out, '\n');
    }
    test_golden_beside(relative, out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_doc_unref(v.stored);
    grove_diags_free(found);
    grove_doc_unref(doc);
    free(text);
}

static void golden(void **state) {
    (void)state;
    assert_true(test_each_file("tests/golden/schema", ".json", golden_case, NULL) >= 25);
}

/* Writes a value with the members of every object in the opposite order. */
static void reversed(grove_builder *b, gv_str key, const grove_node *node) {
    uint32_t n = grove_node_size(node);
    if (gv_node_is(node, GROVE_OBJECT)) {
        gv_build_open(b, key, GROVE_OBJECT);
        for (uint32_t i = n; i > 0; i--) {
            const grove_node *m = grove_node_at(node, i - 1);
            reversed(b, gv_node_key(m), m);
        }
        grove_builder_close(b);
    } else if (gv_node_is(node, GROVE_ARRAY)) {
        gv_build_open(b, key, GROVE_ARRAY);
        GV_EACH(m, node) {
            reversed(b, GV_NO_KEY, m);
        }
        grove_builder_close(b);
    } else {
        gv_build_copy(b, key, node);
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The findings without their places, sorted. */
static char **sorted_findings(const grove_diags *found) {
    uint32_t n = grove_diags_count(found);
    char **lines = calloc(n + 1, sizeof *lines);
    for (uint32_t i = 0; i < n; i++) {
        const grove_diag *d = grove_diags_at(found, i);
        size_t len = strlen(d->type) + strlen(d->path) + strlen(d->message) + 3;
        lines[i] = malloc(len);
        snprintf(lines[i], len, "%s %s %s", d->type, d->path, d->message);
    }
    qsort(lines, n, sizeof *lines, by_text);
    return lines;
}

/* The same document with every object the other way round. */
static grove_doc *in_reverse(grove_doc *doc) {
    grove_doc *other = NULL;
    grove_builder *b = NULL;
    assert_int_equal(grove_builder_new(env, &b), 0);
    reversed(b, GV_NO_KEY, grove_doc_root(doc));
    assert_int_equal(grove_builder_finish(b, &other, NULL), 0);
    grove_builder_free(b);
    return other;
}

/* The same document by way of YAML. */
static grove_doc *through_yaml(grove_doc *doc) {
    grove_doc *other = NULL;
    grove_buf yaml;
    grove_buf_init(&yaml, env);
    assert_int_equal(grove_node_write_yaml(grove_doc_root(doc), 0, &yaml, NULL), 0);
    assert_int_equal(
        grove_doc_parse_yaml(env, yaml.data, (size_t)yaml.len, GROVE_PARSE_STRICT, &other, NULL),
        0);
    grove_buf_fini(&yaml);
    return other;
}

/* Both forms get the same verdict and are stored the same. */
static void form_case(const char *relative, void *ctx) {
    grove_doc *(*const *change)(grove_doc *) = ctx;
    size_t len = 0;
    char *text = test_read(relative, &len);
    grove_doc *doc = parse_in(env, text, len), *other = (*change)(doc);
    grove_diags *found[2] = {NULL, NULL};
    verdict v[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(grove_diags_new(env, &found[i]), 0);
        grove_doc *d = i ? other : doc;
        v[i] = judge(d, grove_doc_root(d), found[i]);
        assert_int_equal(v[i].status, 0);
    }
    char **a = sorted_findings(found[0]), **z = sorted_findings(found[1]);
    for (uint32_t i = 0; a[i] || z[i]; i++) {
        assert_non_null(a[i]);
        assert_non_null(z[i]);
        assert_string_equal(a[i], z[i]);
        free(a[i]);
        free(z[i]);
    }
    free(a);
    free(z);
    assert_int_equal(v[0].stored != NULL, v[1].stored != NULL);
    if (v[0].stored) {
        assert_true(grove_node_equal(grove_doc_root(v[0].stored), grove_doc_root(v[1].stored)));
    }
    for (int i = 0; i < 2; i++) {
        grove_doc_unref(v[i].stored);
        grove_diags_free(found[i]);
    }
    grove_doc_unref(other);
    grove_doc_unref(doc);
    free(text);
}

static void verdict_ignores_key_order(void **state) {
    (void)state;
    grove_doc *(*change)(grove_doc *) = in_reverse;
    test_each_file("tests/golden/schema", ".json", form_case, &change);
}

static void verdict_ignores_the_language(void **state) {
    (void)state;
#ifndef GV_HAVE_YAML
    print_message("skipped: built without YAML\n");
    skip();
#endif
    grove_doc *(*change)(grove_doc *) = through_yaml;
    test_each_file("tests/golden/schema", ".json", form_case, &change);
}

static void twice_case(const char *relative, void *ctx) {
    (void)ctx;
    size_t len = 0;
    char *text = test_read(relative, &len);
    grove_doc *doc = parse_in(env, text, len), *again = NULL;
    grove_diags *found = NULL;
    assert_int_equal(grove_diags_new(env, &found), 0);
    verdict v = judge(doc, grove_doc_root(doc), found);
    if (v.stored && v.errors == 0) {
        const grove_node *once = grove_doc_root(v.stored);
        assert_int_equal(
            gv_schema_default(gv_kind_of(once), v.stored, once, 0, GV_STR("other"), &again, NULL),
            0);
        assert_true(grove_node_equal(once, grove_doc_root(again)));
    }
    grove_doc_unref(again);
    grove_doc_unref(v.stored);
    grove_diags_free(found);
    grove_doc_unref(doc);
    free(text);
}

static void defaulting_twice_is_once(void **state) {
    (void)state;
    test_each_file("tests/golden/schema", ".json", twice_case, NULL);
}

static grove_status whole_way(grove_env *e, void *ctx) {
    const char *text = ctx;
    grove_doc *doc = NULL;
    grove_diags *found = NULL;
    verdict v = {0};
    v.status = grove_doc_parse_json(e, text, strlen(text), 0, &doc, NULL);
    if (v.status == GROVE_OK) {
        v.status = grove_diags_new(e, &found);
    }
    if (v.status == GROVE_OK) {
        v = judge(doc, grove_doc_root(doc), found);
    }
    grove_doc_unref(v.stored);
    grove_diags_free(found);
    grove_doc_unref(doc);
    return v.status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    static const char *const cases[] = {"duplicates", "zero-values",    "canonical",
                                        "metadata",   "unknown-fields", "clique"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[96];
        snprintf(name, sizeof name, "tests/golden/schema/%s.json", cases[i]);
        char *text = test_read(name, NULL);
        oom_loop(cases[i], whole_way, text);
        free(text);
    }
}

/* Long lists take another way through the uniqueness check; both must agree. */
static void long_lists_find_the_same_duplicates(void **state) {
    (void)state;
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_diags *found = NULL;
    assert_int_equal(grove_builder_new(env, &b), 0);
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "op", "UPDATE");
    grove_builder_open_object(b, "object");
    grove_builder_string(b, "apiVersion", "grove.io/v1alpha1");
    grove_builder_string(b, "kind", "PodClique");
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", "a");
    grove_builder_close(b);
    grove_builder_open_object(b, "spec");
    grove_builder_string(b, "roleName", "a");
    grove_builder_int64(b, "replicas", 1);
    grove_builder_open_object(b, "podSpec");
    grove_builder_open_array(b, "containers");
    for (int i = 0; i < 400; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i % 300);
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "name", name);
        grove_builder_close(b);
    }
    for (int i = 0; i < 5; i++) {
        grove_builder_close(b);
    }
    assert_int_equal(grove_builder_finish(b, &doc, NULL), 0);
    grove_builder_free(b);
    assert_int_equal(grove_diags_new(env, &found), 0);
    verdict v = judge(doc, grove_doc_root(doc), found);
    assert_int_equal(v.errors, 100);
    assert_string_equal(grove_diags_at(found, 0)->path, "spec.podSpec.containers[300]");
    assert_string_equal(grove_diags_at(found, 99)->path, "spec.podSpec.containers[399]");
    grove_doc_unref(v.stored);
    grove_diags_free(found);
    grove_doc_unref(doc);
}

static void columns_and_kinds(void **state) {
    (void)state;
    static const uint32_t counts[] = {0, 8, 8, 9, 2, 2};
    gv_schema_column c;
    for (uint32_t k = GV_KIND_PODCLIQUESET; k <= GV_KIND_PODGANG; k++) {
        uint32_t n = 0;
        while (gv_schema_column_at((gv_kind)k, n, &c)) {
            n++;
        }
        assert_int_equal(n, counts[k]);
        assert_true(gv_schema_has((gv_kind)k));
    }
    assert_false(gv_schema_has(GV_KIND_POD));
    assert_true(gv_schema_column_at(GV_KIND_PODCLIQUE, 6, &c));
    assert_string_equal(c.name, "MinBreached");
    assert_int_equal(c.priority, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(verdict_ignores_key_order),
        cmocka_unit_test(verdict_ignores_the_language),
        cmocka_unit_test(defaulting_twice_is_once),
        cmocka_unit_test(long_lists_find_the_same_duplicates),
        cmocka_unit_test(survives_allocation_failure),
        cmocka_unit_test(columns_and_kinds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
