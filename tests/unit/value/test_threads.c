/* SPDX-License-Identifier: Apache-2.0 */
/* Documents and environments shared by threads: for the thread sanitizer, and for the counts. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "value/doc.h"

#define THREADS 4
#define ROUNDS 2000

typedef struct shared {
    grove_env *env;
    grove_doc *doc;
} shared;

/* Reads the shared document, links it into documents of its own, gives every reference back. */
static void *work(void *ctx) {
    const shared *s = ctx;
    uintptr_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) {
        grove_builder *b = NULL;
        grove_doc *own = NULL;
        grove_doc *doc = grove_doc_ref(s->doc);
        wrong += gv_node_get_int(grove_doc_root(doc), "n", 0) != 7;
        if (grove_builder_new(s->env, &b) == GROVE_OK) {
            grove_builder_open_array(b, NULL);
            grove_builder_link(b, NULL, doc, grove_node_get(grove_doc_root(doc), "list"));
            grove_builder_close(b);
            wrong += grove_builder_finish(b, &own, NULL) != GROVE_OK;
        }
        grove_builder_free(b);
        grove_doc_unref(doc);
        wrong += grove_node_size(grove_node_first(grove_doc_root(own))) != 3;
        grove_doc_unref(own);
    }
    return (void *)wrong;
}

static void test_sharing(void **state) {
    (void)state;
    static const char text[] = "{\"n\":7,\"list\":[1,2,3]}";
    shared s = {NULL, NULL};
    pthread_t threads[THREADS];
    assert_int_equal(grove_env_new(NULL, &s.env), GROVE_OK);
    assert_int_equal(grove_doc_parse_json(s.env, text, sizeof text - 1, 0, &s.doc, NULL), GROVE_OK);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &s), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    grove_doc_unref(s.doc);
    grove_env_unref(s.env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sharing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
