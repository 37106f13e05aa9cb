/* SPDX-License-Identifier: Apache-2.0 */
/* Taking over from another operator: its hashes stand for ours, and only what changes rolls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

#define HASH "grove.io~1pod-template-hash"

/* Makes the settled cluster look as if another operator had labelled it: every hash h becomes x<h>y, which
 * is not of our scheme. */
static void disguise(cluster *c) {
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        if (o->gone) {
            continue;
        }
        grove_buf b;
        grove_buf_init(&b, c->env);
        grove_node_write_json(grove_doc_root(o->doc), 0, &b, NULL);
        for (char *at = strstr(b.data, "\"g1"); at != NULL; at = strstr(at + 1, "\"g1")) {
            at[1] = 'z'; /* hashes are the only texts that begin so */
        }
        cluster_merge(c, o->kind, o->name, b.data);
        grove_buf_fini(&b);
    }
}

static void open_foreign(cluster *c, const char *set) {
    cluster_open(c, "s");
    cluster_add(c, set);
    cluster_live(c, 20);
    disguise(c);
    grove_planner_free(c->planner);
    assert_int_equal(grove_planner_new(c->env, &c->planner), 0);
    assert_true(cluster_text(c, GV_KIND_PODCLIQUESET, "s", "/status/currentGenerationHash")[0] ==
                'z');
}

static void change(cluster *c, const char *image) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"spec\":{\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":\"a\","
             "\"replicas\":3,\"minAvailable\":2,\"podSpec\":{\"containers\":[{\"name\":\"c\","
             "\"image\":\"%s\"}]}}}]}}}",
             image);
    cluster_merge(c, GV_KIND_PODCLIQUESET, "s", text);
}

static void test_nothing_restarts(void **state) {
    (void)state;
    cluster c;
    open_foreign(&c, SET_GROUPED("2", "RollingRecreate"));
    uint32_t creates = c.creates, deletes = c.deletes, gates = c.gates;
    cluster_live(&c, 20);
    assert_int_equal(c.creates, creates);
    assert_int_equal(c.deletes, deletes);
    assert_int_equal(c.gates, gates);
    assert_true(strchr(cluster_text(&c, GV_KIND_PODCLIQUESET, "s",
                                    "/metadata/annotations/libgrove.io~1adopted-hashes"),
                       '=') != NULL);
    assert_null(cluster_node(&c, GV_KIND_PODGANG, "s-0",
                             "/metadata/annotations/libgrove.io~1adopted-hashes"));
    /* What is made from now on carries the other's hash, too. */
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":3}}");
    cluster_live(&c, 20);
    assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, "s-2-r", "/metadata/labels/" HASH)[0] == 'z');
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 3);
    cluster_close(&c);
}

static void test_only_changes_roll(void **state) {
    (void)state;
    cluster c;
    open_foreign(&c, SET_ONE);
    cluster_live(&c, 20);
    uint32_t creates = c.creates;
    change(&c, "j");
    cluster_live(&c, 60);
    assert_int_equal(c.creates, creates + 3);
    assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", "/metadata/labels/" HASH)[0] == 'g');
    /* Back to the version that was taken over: the alias still holds. */
    change(&c, "i");
    cluster_live(&c, 60);
    assert_int_equal(c.creates, creates + 6);
    assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", "/metadata/labels/" HASH)[0] == 'z');
    cluster_close(&c);
}

/* A change made while nobody ran: what differs is not taken for the same. */
static void test_changed_meanwhile(void **state) {
    (void)state;
    cluster c;
    open_foreign(&c, SET_ONE);
    change(&c, "j");
    uint32_t creates = c.creates;
    cluster_live(&c, 60);
    assert_int_equal(c.creates, creates + 3);
    cluster_close(&c);
}

/* Resource versions of the pods of every clique but the standalone one, one after the other. */
static void versions_of_others(cluster *c, grove_buf *out) {
    for (uint32_t i = 0; i < c->n; i++) {
        const object *o = &c->objects[i];
        const grove_node *root = grove_doc_root(o->doc);
        const char *clique = grove_node_text(
            grove_node_at_path(root, "/metadata/labels/grove.io~1podclique"));
        if (!o->gone && o->kind == GV_KIND_POD && strstr(clique, "-r") == NULL) {
            gv_buf_fmt(out, "%s %s %s\n", o->name, o->uid,
                       grove_node_text(grove_node_at_path(root, "/metadata/resourceVersion")));
        }
    }
}

/* Somebody edits one clique's template after the other operator's last look and before our first one: that
 * clique rolls, and no pod of another one is written. */
static void test_edited_during_the_handover(void **state) {
    (void)state;
    cluster c;
    grove_buf cliques, before, after;
    open_foreign(&c, SET_GROUPED("2", "RollingRecreate"));
    grove_buf_init(&cliques, c.env);
    grove_buf_init(&before, c.env);
    grove_buf_init(&after, c.env);
    gv_buf_c(&cliques, "{\"spec\":{\"template\":{\"cliques\":");
    grove_node_write_json(cluster_node(&c, GV_KIND_PODCLIQUESET, "s", "/spec/template/cliques"), 0,
                          &cliques, NULL);
    gv_buf_c(&cliques, "}}}");
    char *image = strstr(cliques.data,
                         "\"image\":\"i\""); /* the first is the standalone clique's */
    assert_non_null(image);
    image[strlen("\"image\":\"")] = 'j';
    versions_of_others(&c, &before);
    uint32_t creates = c.creates, deletes = c.deletes;
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", cliques.data);
    cluster_live(&c, 80);
    versions_of_others(&c, &after);
    assert_true(before.len > 0);
    assert_string_equal(after.data, before.data);
    assert_int_equal(c.creates, creates + 4); /* two pods in each of two set replicas */
    assert_int_equal(c.deletes, deletes + 4);
    for (int replica = 0; replica < 2; replica++) {
        char name[16];
        snprintf(name, sizeof name, "s-%d-r", replica);
        for (int index = 0; index < 2; index++) {
            const object *pod = cluster_pod(&c, name, index);
            assert_string_equal(grove_node_text(grove_node_at_path(grove_doc_root(pod->doc),
                                                                   "/spec/containers/0/image")),
                                "j");
        }
        assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, name, "/metadata/labels/" HASH)[0] == 'g');
        snprintf(name, sizeof name, "s-%d-g-0-p", replica);
        assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, name, "/metadata/labels/" HASH)[0] == 'z');
    }
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 2);
    grove_buf_fini(&cliques);
    grove_buf_fini(&before);
    grove_buf_fini(&after);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_restarts),
        cmocka_unit_test(test_only_changes_roll),
        cmocka_unit_test(test_changed_meanwhile),
        cmocka_unit_test(test_edited_during_the_handover),
    };
    return cmocka_run_group_tests_name("plan adoption", tests, NULL, NULL);
}
