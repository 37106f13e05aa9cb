/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about podSpecs, case by case against tests/golden/pod. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/pod_check.h"
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

static grove_status warn(grove_env *e, const char *text, grove_diags **out) {
    gv_path root = gv_path_key(NULL, "spec.podSpec", 12);
    grove_doc *doc = NULL;
    grove_status status = grove_doc_parse_json(e, text, strlen(text), 0, &doc, NULL);
    if (status == GROVE_OK) {
        status = grove_diags_new(e, out);
    }
    if (status == GROVE_OK) {
        status = gv_pod_check(doc, grove_doc_root(doc), &root, *out);
    }
    grove_doc_unref(doc);
    return status;
}

static void golden_case(const char *relative, void *ctx) {
    (void)ctx;
    char *text = test_read(relative, NULL);
    grove_diags *found = NULL;
    grove_buf out;
    grove_buf_init(&out, env);
    assert_int_equal(warn(env, text, &found), GROVE_OK);
    assert_int_equal(grove_diags_errors(found), 0);
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        assert_non_null(grove_code_get(d->code));
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
    assert_int_equal(test_each_file("tests/golden/pod", ".json", golden_case, NULL), 4);
}

static grove_status warn_once(grove_env *e, void *ctx) {
    grove_diags *found = NULL;
    grove_status status = warn(e, ctx, &found);
    grove_diags_free(found);
    return status;
}

static void survives_allocation_failure(void **state) {
    (void)state;
    char *text = test_read("tests/golden/pod/everything-wrong.json", NULL);
    oom_loop("pod check", warn_once, text);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden),
        cmocka_unit_test(survives_allocation_failure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
