/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine asks to be told of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <grove/engine.h>

/* The selector of the watch for pods, "" for none. */
static const char *selector(const char *binds) {
    grove_env *env = NULL;
    grove_engine *e = NULL;
    grove_error err = GROVE_ERROR_INIT;
    const grove_watch *w = NULL;
    const char *found = NULL;
    grove_engine_options o = {.size = (uint32_t)sizeof o, .bind_schedulers = binds};
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_engine_new(env, &o, &e, &err), GROVE_OK);
    while (grove_engine_next_watch(e, &w, &err) == GROVE_OK && w) {
        if (w->kind == GROVE_KIND_POD) {
            assert_null(found);
            found = w->label_selector ? w->label_selector : "";
        } else {
            assert_null(w->label_selector);
        }
    }
    grove_engine_free(e);
    grove_env_unref(env);
    assert_non_null(found);
    return found; /* a constant of the library's */
}

/* Tens of thousands of unrelated pods are kept only by who places, for the room they take. */
static void test_pods_of_others(void **state) {
    (void)state;
    assert_string_equal(selector(NULL), "app.kubernetes.io/managed-by=grove-operator");
    assert_string_equal(selector(""), "app.kubernetes.io/managed-by=grove-operator");
    assert_string_equal(selector("grove-scheduler"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pods_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
