/* SPDX-License-Identifier: Apache-2.0 */
/* Older forms: each case against tests/golden/migrate; once migrated, nothing is left to migrate. */
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

static grove_status migrate(grove_env *e, const char *yaml, grove_doc **out, grove_diags **found) {
    grove_doc *doc = NULL;
    grove_status status = grove_doc_parse_yaml(e, yaml, strlen(yaml), 0, &doc, NULL);
    if (status == GROVE_OK) {
        status = grove_diags_new(e, found);
    }
    if (status == GROVE_OK) {
        status = grove_migrate(e, doc, grove_doc_root(doc), *found, out, NULL);
    }
    grove_doc_unref(doc);
    return status;
}

/* Without an error the result is today's: it migrates to itself without a word. */
static void check_twice(grove_doc *once) {
    grove_doc *twice = NULL;
    grove_diags *found = NULL;
    assert_int_equal(grove_diags_new(env, &found), 0);
    assert_int_equal(grove_migrate(env, once, grove_doc_root(once), found, &twice, NULL), 0);
    assert_true(grove_node_equal(grove_doc_root(once), grove_doc_root(twice)));
    assert_int_equal(grove_diags_errors(found), 0);
    grove_doc_unref(twice);
    grove_diags_free(found);
}

static void golden_case(const char *relative, void *ctx) {
    (void)ctx;
    char *text = test_read(relative, NULL);
    grove_doc *modern = NULL;
    grove_diags *found = NULL;
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(migrate(env, text, &modern, &found), GROVE_OK);
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        assert_non_null(grove_code_get(d->code));
        gv_buf_fmt(&out, "%u:%u %s GRV%04u %s: %s\n", (unsigned)d->line, (unsigned)d->column,
                   d->severity == GROVE_SEVERITY_ERROR ? "error" : "warning", (unsigned)d->code,
                   d->path, d->message);
    }
    assert_int_equal(grove_node_write_yaml(grove_doc_root(modern), 0, &out, NULL), 0);
    if (grove_diags_errors(found) == 0) {
        check_twice(modern);
    }
    test_golden_beside(relative, out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_doc_unref(modern);
    grove_diags_free(found);
    free(text);
}

static void golden(void **state) {
    (void)state;
    assert_int_equal(test_each_file("tests/golden/migrate", ".yaml", golden_case, NULL), 4);
}

/* The verdict on a file of an older release, with and without leave to read it. */
static grove_status judge(const char *relative, uint32_t flags, grove_admission_verdict *verdict) {
    char *text = test_read(relative, NULL);
    grove_doc *doc = NULL;
    grove_diags *found = NULL;
    grove_config *config = NULL;
    static const char topology[] =
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"ClusterTopologyBinding\",\"metadata\":"
        "{\"name\":\"t\"},\"spec\":{\"levels\":[{\"domain\":\"rack\",\"key\":\"a\"},{\"domain\":"
        "\"host\",\"key\":\"b\"},{\"domain\":\"numa\",\"key\":\"c\"}]}}";
    assert_int_equal(grove_doc_parse_yaml(env, text, strlen(text), 0, &doc, NULL), 0);
    assert_int_equal(grove_diags_new(env, &found), 0);
    assert_int_equal(grove_config_new(env, &config), 0);
    assert_int_equal(grove_config_load(config, topology, sizeof topology - 1, NULL), 0);
    grove_validate_options options = {
        .size = (uint32_t)sizeof options, .flags = flags, .config = config};
    grove_status status = grove_validate(env, doc, grove_doc_root(doc), NULL, NULL, &options, found,
                                         verdict, NULL);
    grove_config_unref(config);
    grove_diags_free(found);
    grove_doc_unref(doc);
    free(text);
    return status;
}

static void legacy_is_read_on_request(void **state) {
    (void)state;
    static const char set[] = "tests/golden/migrate/pod-gang-set.yaml";
    static const char lost[] = "tests/golden/migrate/no-equivalent.yaml";
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    assert_int_equal(judge(set, 0, &verdict), GROVE_OK);
    assert_false(verdict.allowed);
    assert_int_equal(verdict.http_code, 404);
    assert_int_equal(judge(set, GROVE_VALIDATE_LEGACY, &verdict), GROVE_OK);
    assert_true(verdict.allowed);
    assert_int_equal(judge(lost, GROVE_VALIDATE_LEGACY, &verdict), GROVE_OK);
    assert_false(verdict.allowed);
    assert_int_equal(verdict.stage, GROVE_STAGE_DECODE);
}

static grove_status migrate_once(grove_env *e, void *ctx) {
    grove_doc *modern = NULL;
    grove_diags *found = NULL;
    grove_status status = migrate(e, ctx, &modern, &found);
    grove_doc_unref(modern);
    grove_diags_free(found);
    return status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    char *text = test_read("tests/golden/migrate/pod-gang-set.yaml", NULL);
    oom_loop("migrate", migrate_once, text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(legacy_is_read_on_request),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
