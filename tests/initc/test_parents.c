/* SPDX-License-Identifier: Apache-2.0 */
/* What the start-order waiter counts, when events go on after everybody was ready, come twice or too late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <grove/grove.h>

#include "parents.h"

typedef struct pod_event {
    const char *uid, *clique, *ready;
    int deleted;
} pod_event;

#define CLIQUES 2
static const char *const cliques[CLIQUES] = {"demo-0-a", "demo-0-b"};

static int tell(grove_env *env, parents *p, const pod_event *e) {
    char text[512];
    grove_doc *doc = NULL;
    snprintf(text, sizeof text,
             "{\"metadata\":{\"uid\":\"%s\",\"labels\":{\"grove.io/podclique\":\"%s\"}},"
             "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}}",
             e->uid, e->clique, e->ready);
    assert_int_equal(grove_doc_parse_json(env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    int changed = parents_pod(p, grove_doc_root(doc), e->deleted);
    grove_doc_unref(doc);
    return changed;
}

/* Pods of a clique whose last event of `n` says that they are Ready. */
static int64_t ready_by(const pod_event *const *told, size_t n, const char *clique) {
    int64_t ready = 0;
    for (size_t i = 0; i < n; i++) {
        int last = 1;
        for (size_t k = i + 1; k < n; k++) {
            last = last && strcmp(told[k]->uid, told[i]->uid) != 0;
        }
        ready += last && !told[i]->deleted && strcmp(told[i]->ready, "True") == 0 &&
                 strcmp(told[i]->clique, clique) == 0;
    }
    return ready;
}

static const pod_event both[] = {{"u1", "demo-0-a", "True", 0}, {"u2", "demo-0-b", "True", 0}};
static const pod_event late[] = {{"u1", "demo-0-a", "False", 0},
                                 {"u1", "demo-0-a", "True", 0},
                                 {"u1", "demo-0-a", "True", 1},
                                 {"u3", "demo-0-a", "True", 0},
                                 {"u2", "demo-0-b", "True", 1}};
#define BOTH (sizeof both / sizeof *both)
#define LATE (sizeof late / sizeof *late)

/* All are ready, then late events in the order that `code` spells; the counts stay those of a count anew. */
static void one_order(grove_env *env, size_t code) {
    parents p = {0};
    const pod_event *told[BOTH + LATE];
    size_t n = 0;
    assert_null(parents_add(&p, "demo-0-a:1"));
    assert_null(parents_add(&p, "demo-0-b:1"));
    for (size_t i = 0; i < BOTH; i++) {
        assert_false(parents_are_ready(&p));
        assert_int_equal(tell(env, &p, &both[i]), 1);
        told[n++] = &both[i];
    }
    assert_true(parents_are_ready(&p));
    for (size_t left = LATE; left > 0; left--) {
        size_t pick = code % LATE;
        code /= LATE;
        told[n++] = &late[pick];
        assert_int_not_equal(tell(env, &p, &late[pick]), -1);
        int all = 1;
        for (size_t c = 0; c < CLIQUES; c++) {
            assert_int_equal(p.v[c].ready, ready_by(told, n, cliques[c]));
            all = all && p.v[c].ready >= 1;
        }
        assert_int_equal(parents_are_ready(&p), all);
    }
    parents_forget(&p);
    parents_forget(&p);
    assert_false(parents_are_ready(&p));
    parents_fini(&p);
}

/* Every row of five late events, the same one twice and more often among them. */
static void test_late_events_in_any_order(void **state) {
    grove_env *env = NULL;
    size_t orders = 1;
    (void)state;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (size_t i = 0; i < LATE; i++) {
        orders *= LATE;
    }
    for (size_t code = 0; code < orders; code++) {
        one_order(env, code);
    }
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late_events_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
