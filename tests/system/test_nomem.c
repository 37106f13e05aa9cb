/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a short life on the embedded cluster refused in turn: an error, no leak, no crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "support/oom.h"

static const char set[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"
    "\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":"
    "\"a\",\"replicas\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}}";

static grove_status settle(cluster *c) {
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = GROVE_OK;
    for (int i = 0; st == GROVE_OK && i < 40; i++) {
        st = cluster_settle_now(c, &err);
        if (st == GROVE_OK && c->deadline == INT64_MAX) {
            break;
        }
        if (st == GROVE_OK) {
            st = grove_sim_advance(c->sim, c->deadline, &err);
        }
    }
    return st;
}

/* A pod goes while nobody is in charge; who comes then replaces it. */
static grove_status lose_the_pod(cluster *c) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *list = NULL;
    grove_status st = grove_sim_list(c->sim, GROVE_KIND_POD, NULL, NULL, &list, &err);
    if (st == GROVE_OK) {
        const grove_node *name = grove_node_at_path(grove_doc_root(list), "/items/0/metadata/name");
        st = grove_sim_delete(c->sim, GROVE_KIND_POD, "default", grove_node_text(name), &err);
    }
    grove_doc_unref(list);
    return st == GROVE_OK ? cluster_restart_engine(c, &err) : st;
}

static grove_status live(cluster *c, grove_doc *doc) {
    grove_error err = GROVE_ERROR_INIT;
    grove_status st = cluster_apply(c, doc, NULL, &err);
    st = st == GROVE_OK ? settle(c) : st;
    st = st == GROVE_OK ? lose_the_pod(c) : st;
    st = st == GROVE_OK ? settle(c) : st;
    if (st == GROVE_OK) {
        assert_int_equal(grove_sim_count(c->sim, GROVE_KIND_POD), 1);
    }
    return st;
}

static grove_status life(grove_env *env, void *ctx) {
    cluster *c = NULL;
    grove_doc *doc = NULL;
    cluster_options options = {.nodes = "1x1x1x1"};
    (void)ctx;
    grove_status st = cluster_new(env, &options, &c, NULL);
    if (st == GROVE_OK) {
        st = grove_doc_parse_json(env, set, strlen(set), 0, &doc, NULL);
    }
    if (st == GROVE_OK) {
        st = live(c, doc);
    }
    grove_doc_unref(doc);
    cluster_free(c);
    return st;
}

static void test_life(void **state) {
    (void)state;
    oom_loop("life on the embedded cluster", life, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_life)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
