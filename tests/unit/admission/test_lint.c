/* SPDX-License-Identifier: Apache-2.0 */
/* Lints, case by case against tests/golden/lint; switching them off; an update that edits replicas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/admission.h>

#include "base/codes.h"
#include "base/text.h"
#include "support/files.h"
#include "support/oom.h"

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

/* What a case says of its object. */
static grove_status lint(grove_env *e, const char *yaml, const uint32_t *off, uint32_t n_off,
                         grove_diags **out) {
    grove_doc *doc = NULL;
    grove_config *config = NULL;
    grove_status status = grove_doc_parse_yaml(e, yaml, strlen(yaml), 0, &doc, NULL);
    if (status == GROVE_OK) {
        status = grove_diags_new(e, out);
    }
    if (status == GROVE_OK) {
        status = grove_config_new(e, &config);
    }
    const grove_node *root = doc ? grove_doc_root(doc) : NULL;
    const grove_node *settings = grove_node_get(root, "config");
    if (status == GROVE_OK && settings) {
        status = grove_config_add(config, doc, settings, NULL);
    }
    if (status == GROVE_OK) {
        grove_lint_options options = {(uint32_t)sizeof options, n_off, off, doc,
                                      grove_node_get(root, "nodes")};
        status = grove_lint(e, doc, grove_node_get(root, "object"), config, &options, *out, NULL);
    }
    grove_config_unref(config);
    grove_doc_unref(doc);
    return status;
}

static void golden_case(const char *relative, void *ctx) {
    (void)ctx;
    char *text = test_read(relative, NULL);
    grove_diags *found = NULL;
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(lint(env, text, NULL, 0, &found), GROVE_OK);
    assert_int_equal(grove_diags_errors(found), 0);
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        assert_non_null(grove_code_get(d->code));
        assert_true(d->line > 0);
        gv_buf_fmt(&out, "%u:%u GRV%04u %s: %s\n", (unsigned)d->line, (unsigned)d->column,
                   (unsigned)d->code, d->path, d->message);
    }
    test_golden_beside(relative, out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_diags_free(found);
    free(text);
}

static void golden(void **state) {
    (void)state;
    assert_int_equal(test_each_file("tests/golden/lint", ".yaml", golden_case, NULL), 8);
}

static void lints_can_be_switched_off(void **state) {
    (void)state;
    char *text = test_read("tests/golden/lint/everything.yaml", NULL);
    grove_diags *all = NULL, *some = NULL;
    assert_int_equal(lint(env, text, NULL, 0, &all), GROVE_OK);
    uint32_t off[GV_CODE_LINT_PRIORITY - GV_CODE_LINT_SERVICE_NAME + 1];
    uint32_t n = 0, images = 0;
    for (uint32_t i = 0; i < grove_diags_count(all); i++) {
        images += grove_diags_at(all, i)->code == GV_CODE_LINT_IMAGE;
    }
    for (uint32_t code = GV_CODE_LINT_SERVICE_NAME; code <= GV_CODE_LINT_PRIORITY; code++) {
        if (code != GV_CODE_LINT_IMAGE) {
            off[n++] = code;
        }
    }
    assert_int_equal(lint(env, text, off, n, &some), GROVE_OK);
    assert_true(images > 0 && images < grove_diags_count(all));
    assert_int_equal(grove_diags_count(some), images);
    grove_diags_free(some);
    grove_diags_free(all);
    free(text);
}

#define SET(replicas, group)                                                                      \
    "{\"apiVersion\":\"grove.io/"                                                                 \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"                         \
    "\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":" \
    "\"a\",\"minAvailable\":1,\"replicas\":" replicas                                             \
    ",\"podSpec\":{\"containers\":[{\"name\":\"m\",\"image\":\"x:1\"}]}}}],"                      \
    "\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":[\"a\"],\"replicas\":" group     \
    "}]}}}"

static void edited_replicas_are_told(void **state) {
    (void)state;
    static const char before[] = SET("2", "2"), after[] = SET("3", "2");
    grove_doc *old = NULL, *new = NULL;
    grove_diags *found = NULL;
    grove_validate_options options = {.size = (uint32_t)sizeof options,
                                      .flags = GROVE_VALIDATE_LINT};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    assert_int_equal(grove_doc_parse_json(env, before, sizeof before - 1, 0, &old, NULL), 0);
    assert_int_equal(grove_doc_parse_json(env, after, sizeof after - 1, 0, &new, NULL), 0);
    assert_int_equal(grove_diags_new(env, &found), 0);
    assert_int_equal(grove_validate(env, new, grove_doc_root(new), old, grove_doc_root(old),
                                    &options, found, &verdict, NULL),
                     0);
    assert_true(verdict.allowed);
    uint32_t edits = 0;
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        if (d->code == GV_CODE_LINT_REPLICAS_EDIT) {
            edits++;
            assert_string_equal(d->path, "spec.template.cliques[0].spec.replicas");
        }
    }
    assert_int_equal(edits, 1);
    grove_diags_free(found);
    grove_doc_unref(new);
    grove_doc_unref(old);
}

static grove_status lint_once(grove_env *e, void *ctx) {
    grove_diags *found = NULL;
    grove_status status = lint(e, ctx, NULL, 0, &found);
    grove_diags_free(found);
    return status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    char *text = test_read("tests/golden/lint/everything.yaml", NULL);
    oom_loop("lint", lint_once, text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(lints_can_be_switched_off),
        cmocka_unit_test(edited_replicas_are_told),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
