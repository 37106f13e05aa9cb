/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling updates and OnDelete: order, pace, counters, and what is left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cluster.h"
#include "manifests.h"

/* Changes the image of the k-th clique of the template. */
static void change(cluster *c, int k, const char *image) {
    const grove_node *cliques = cluster_node(c, GV_KIND_PODCLIQUESET, c->set,
                                             "/spec/template/cliques");
    grove_buf b;
    grove_buf_init(&b, c->env);
    gv_buf_c(&b, "{\"spec\":{\"template\":{\"cliques\":[");
    int i = 0;
    for (const grove_node *n = grove_node_first(cliques); n; n = grove_node_next(cliques, n), i++) {
        grove_buf one;
        grove_buf_init(&one, c->env);
        grove_node_write_json(n, 0, &one, NULL);
        if (i > 0) {
            gv_buf_c(&b, ",");
        }
        char *at = strstr(one.data, "\"image\":\"");
        assert_non_null(at);
        at += 9;
        char *end = strchr(at, '"');
        if (i == k) {
            grove_buf_append(&b, one.data, (size_t)(at - one.data));
            gv_buf_c(&b, image);
            gv_buf_c(&b, end);
        } else {
            grove_buf_append(&b, one.data, (size_t)one.len);
        }
        grove_buf_fini(&one);
    }
    gv_buf_c(&b, "]}}}");
    cluster_merge(c, GV_KIND_PODCLIQUESET, c->set, b.data);
    grove_buf_fini(&b);
}

static const char *image_of(const object *pod) {
    return grove_node_text(
        grove_node_at_path(grove_doc_root(pod->doc), "/spec/containers/0/image"));
}

static bool pod_ready(const object *o) {
    const grove_node *list = grove_node_at_path(grove_doc_root(o->doc), "/status/conditions");
    const char *s = grove_node_text(grove_node_get(gv_condition_find(list, "Ready"), "status"));
    return s && strcmp(s, "True") == 0;
}

/* Ready pods of the clique. */
static int ready(cluster *c, const char *clique, int n) {
    int k = 0;
    for (int i = 0; i < n; i++) {
        object *o = cluster_pod(c, clique, i);
        k += o && pod_ready(o) ? 1 : 0;
    }
    return k;
}

static int updated_pods(cluster *c, const char *image) {
    int n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        n += !c->objects[i].gone && c->objects[i].kind == GV_KIND_POD &&
                     strcmp(image_of(&c->objects[i]), image) == 0
                 ? 1
                 : 0;
    }
    return n;
}

static bool ended(cluster *c) {
    return cluster_text(c, GV_KIND_PODCLIQUESET, "s", "/status/updateProgress/updateEndedAt")[0] !=
           '\0';
}

static void test_one_pod_at_a_time(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 20);
    assert_string_equal(
        cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/currentPodTemplateHash"),
        cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a",
                     "/metadata/labels/grove.io~1pod-template-hash"));
    change(&c, 0, "j");
    bool done = false;
    for (int i = 0; i < 200 && !done; i++) {
        uint32_t n = cluster_round(&c);
        assert_true(ready(&c, "s-0-a", 3) >= 2);
        if (n == 0) {
            uint32_t before = c.n;
            cluster_run_pods(&c);
            done = ended(&c) && before == c.n && cluster_round(&c) == 0;
        }
    }
    assert_true(done);
    cluster_live(&c, 20);
    assert_int_equal(updated_pods(&c, "j"), 3);
    assert_int_equal(c.creates, 7 + 3 + 3);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 1);
    assert_int_equal(
        cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updateProgress/updatedPodCliquesCount"),
        1);
    assert_null(
        cluster_node(&c, GV_KIND_PODCLIQUESET, "s", "/status/updateProgress/currentlyUpdating"));
    assert_null(cluster_node(&c, GV_KIND_PODCLIQUE, "s-0-a",
                             "/status/updateProgress/readyPodsSelectedToUpdate"));
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/updatedReplicas"), 3);
    cluster_close(&c);
}

/* RU10: the replacement never gets ready: one pod is out, and it stays at one. */
static void test_stalls_at_one(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40);
    assert_int_equal(ready(&c, "s-0-a", 3), 2);
    assert_int_equal(updated_pods(&c, "j"), 1);
    assert_true(cluster_waits(&c, "ReplacementNotReady", "s-0-a", NULL));
    cluster_live(&c, 40);
    assert_int_equal(updated_pods(&c, "j"), 3);
    assert_true(ended(&c));
    cluster_close(&c);
}

/* The current hashes move when the last pod has, under either strategy. */
static void test_current_hash_moves_last(void **state) {
    (void)state;
    for (int manual = 0; manual < 2; manual++) {
        cluster c;
        char old[64];
        const char *path = "/status/currentPodTemplateHash";
        cluster_open(&c, "s");
        cluster_add(&c, manual ? SET_HEAD("1", "OnDelete") SET_CLIQUE("a", "3", "2") : SET_ONE);
        cluster_live(&c, 20);
        snprintf(old, sizeof old, "%s", cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path));
        change(&c, 0, "j");
        for (int i = 0; i < 3; i++) {
            if (manual) {
                cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-a", i)->name);
            }
            cluster_settle(&c, 40);
            if (i < 2) {
                assert_string_equal(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path), old);
            }
            cluster_run_pods(&c);
        }
        cluster_live(&c, 40);
        assert_string_not_equal(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", path), old);
        cluster_close(&c);
    }
}

/* Which set replica an update begins with: one that runs nothing, then one in breach, then by index. */
static void test_first_replica(void **state) {
    (void)state;
    for (int row = 0; row < 3; row++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_HEAD("3", "RollingRecreate") SET_CLIQUE("a", "2", "2"));
        cluster_live(&c, 20);
        if (row > 0) {
            cluster_ready(&c, cluster_pod(&c, "s-1-a", 0), false); /* in breach */
            cluster_settle(&c, 20);
        }
        if (row > 1) { /* its pods were lost and found no place again */
            cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-2-a", 0)->name);
            cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-2-a", 1)->name);
            cluster_settle(&c, 20);
        }
        change(&c, 0, "j");
        cluster_round(&c);
        assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s",
                                     "/status/updateProgress/currentlyUpdating/0/replicaIndex"),
                         row);
        cluster_live(&c, 60);
        assert_int_equal(updated_pods(&c, "j"), 6);
        cluster_close(&c);
    }
}

/* At most one set replica, in it one pod of a clique and one replica of a group, is down. */
static void check_pace(cluster *c, int replicas) {
    int disturbed = 0;
    for (int i = 0; i < replicas; i++) {
        char a[32], b[64], d[64];
        snprintf(a, sizeof a, "s-%d-a", i);
        int here = 2 - ready(c, a, 2);
        assert_true(here <= 1);
        int groups = 0;
        for (int r = 0; r < 2; r++) {
            snprintf(b, sizeof b, "s-%d-x-%d-b", i, r);
            snprintf(d, sizeof d, "s-%d-x-%d-c", i, r);
            groups += ready(c, b, 1) + ready(c, d, 3) < 4 ? 1 : 0;
        }
        assert_true(groups <= 1);
        disturbed += here + groups > 0 ? 1 : 0;
    }
    assert_true(disturbed <= 1);
}

static void roll(cluster *c, int replicas) {
    for (int i = 0; i < 400; i++) {
        uint32_t n = cluster_round(c);
        check_pace(c, replicas);
        if (n == 0) {
            if (ended(c)) {
                return;
            }
            cluster_run_pods(c);
        }
    }
    fail_msg("the update does not end");
}

static void test_everything_in_order(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("2"));
    cluster_live(&c, 20);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 20);
    change(&c, 0, "j");
    change(&c, 1, "j");
    change(&c, 2, "j");
    roll(&c, 2);
    cluster_live(&c, 20);
    assert_int_equal(updated_pods(&c, "j"), 20);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 2);
    assert_int_equal(
        cluster_int(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-1-x", "/status/updatedReplicas"), 2);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-1-x",
                                 "/status/updateProgress/updatedPodCliquesCount"),
                     4);
    cluster_close(&c);
}

/* Only what changed is renewed. */
static void test_unchanged_cliques_keep_their_pods(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("1"));
    cluster_live(&c, 20);
    char a[32];
    snprintf(a, sizeof a, "%s", cluster_pod(&c, "s-0-a", 0)->uid);
    uint32_t creates = c.creates;
    change(&c, 1, "j");
    roll(&c, 1);
    cluster_live(&c, 20);
    assert_string_equal(cluster_pod(&c, "s-0-a", 0)->uid, a);
    /* Whole group replicas are renewed: 2 x (2 cliques + 4 pods). */
    assert_int_equal(c.creates, creates + 12);
    assert_int_equal(updated_pods(&c, "j"), 2);
    assert_string_equal(
        cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-a", "/status/currentPodCliqueSetGenerationHash"),
        cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/currentGenerationHash"));
    cluster_close(&c);
}

/* H-35: a pod lost in a replica whose turn has not come returns in its own version. */
static void test_waiting_replica_keeps_its_version(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("2", "RollingRecreate") SET_CLIQUE("a", "2", "2"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40); /* replica 0 is at its first pod, which is not ready */
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s",
                                 "/status/updateProgress/currentlyUpdating/0/replicaIndex"),
                     0);
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-1-a", 0)->name);
    cluster_settle(&c, 40);
    assert_string_equal(image_of(cluster_pod(&c, "s-1-a", 0)), "i");
    cluster_live(&c, 60);
    assert_int_equal(updated_pods(&c, "j"), 4);
    cluster_close(&c);
}

/* RU11 and RU12: scaling the set during an update. */
static void test_scale_set_during_update(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("2"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":3}}");
    cluster_live(&c, 60);
    assert_true(ended(&c));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 30);
    assert_int_equal(updated_pods(&c, "j"), 6);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 3);
    change(&c, 0, "k");
    cluster_settle(&c, 40);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s", "{\"spec\":{\"replicas\":1}}");
    cluster_live(&c, 60);
    assert_true(ended(&c));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    assert_int_equal(updated_pods(&c, "k"), 2);
    cluster_close(&c);
}

/* RU14 to RU21: scaling groups and cliques around an update. */
static void test_scale_children_around_update(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("2"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    change(&c, 2, "j");
    cluster_settle(&c, 40);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-x", "{\"spec\":{\"replicas\":3}}");
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-1-x", "{\"spec\":{\"replicas\":3}}");
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-1-a", "{\"spec\":{\"replicas\":4}}");
    cluster_live(&c, 100);
    assert_true(ended(&c));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 30);
    assert_int_equal(updated_pods(&c, "j"), 6 + 18);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 2);
    change(&c, 1, "k");
    cluster_settle(&c, 40);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-x", "{\"spec\":{\"replicas\":2}}");
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-1-x", "{\"spec\":{\"replicas\":2}}");
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-1-a", "{\"spec\":{\"replicas\":2}}");
    cluster_live(&c, 100);
    assert_true(ended(&c));
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 20);
    assert_int_equal(updated_pods(&c, "k"), 4);
    cluster_close(&c);
}

static void test_second_change_restarts(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_TIGHT("2"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40);
    change(&c, 0, "k");
    cluster_live(&c, 100);
    assert_true(ended(&c));
    assert_int_equal(updated_pods(&c, "k"), 4);
    assert_int_equal(updated_pods(&c, "j"), 0);
    cluster_close(&c);
}

/* OD1 to OD3, OD6: nothing is deleted; what is deleted by hand comes back new; outdated pods go first. */
static void test_on_delete(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_GROUPED("1", "OnDelete"));
    cluster_live(&c, 20);
    assert_true(cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-g-0-d",
                             "/status/updateProgress/updateEndedAt")[0]);
    uint32_t deletes = c.deletes;
    change(&c, 0, "j");
    change(&c, 2, "j");
    cluster_live(&c, 20);
    assert_int_equal(c.deletes, deletes);
    assert_true(ended(&c));
    assert_int_equal(updated_pods(&c, "j"), 0);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-r", "/status/updatedReplicas"), 0);
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-r", 0)->name);
    cluster_delete(&c, GV_KIND_POD, cluster_pod(&c, "s-0-g-0-d", 1)->name);
    cluster_live(&c, 20);
    assert_string_equal(image_of(cluster_pod(&c, "s-0-r", 0)), "j");
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-0-d", 1)), "j");
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUE, "s-0-r", "/status/updatedReplicas"), 1);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-r", "{\"spec\":{\"replicas\":1}}");
    cluster_live(&c, 20);
    assert_non_null(cluster_pod(&c, "s-0-r", 0));
    assert_null(cluster_pod(&c, "s-0-r", 1));
    assert_string_equal(
        cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-r", "/status/currentPodTemplateHash"),
        cluster_text(&c, GV_KIND_PODCLIQUE, "s-0-r",
                     "/metadata/labels/grove.io~1pod-template-hash"));
    cluster_close(&c);
}

/* OD9: back to rolling, the next change rolls what is old. */
static void test_switch_strategy(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_GROUPED("1", "OnDelete"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_live(&c, 20);
    cluster_merge(&c, GV_KIND_PODCLIQUESET, "s",
                  "{\"spec\":{\"updateStrategy\":{\"type\":\"RollingRecreate\"}}}");
    uint32_t creates = c.creates;
    cluster_live(&c, 20);
    assert_int_equal(c.creates, creates);
    change(&c, 1, "k");
    cluster_live(&c, 100);
    assert_true(ended(&c));
    assert_int_equal(updated_pods(&c, "k"), 2);
    assert_int_equal(updated_pods(&c, "j"), 2);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"), 1);
    cluster_close(&c);
}

/* A pod in a state of its own: not ready, or without room. */
static void set_unready(cluster *c, const char *clique, int index, bool no_room) {
    cluster_merge(c, GV_KIND_POD, cluster_pod(c, clique, index)->name,
                  no_room ? "{\"spec\":{\"nodeName\":null},\"status\":{\"phase\":\"Pending\","
                            "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
                            "\"reason\":\"Unschedulable\"}]}}"
                          : "{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":"
                            "\"PodScheduled\",\"status\":\"True\"}]}}");
}

/* Broken pods of the old version go at once, but while their successors are not ready no ready one goes. */
static void test_one_budget(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "4", "2"));
    cluster_live(&c, 20);
    set_unready(&c, "s-0-a", 2, false);
    set_unready(&c, "s-0-a", 3, false);
    cluster_settle(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40);
    assert_int_equal(ready(&c, "s-0-a", 4), 2);
    assert_string_equal(image_of(cluster_pod(&c, "s-0-a", 0)), "i");
    assert_string_equal(image_of(cluster_pod(&c, "s-0-a", 3)), "j");
    assert_true(cluster_waits(&c, "ReplacementNotReady", "s-0-a", NULL));
    /* What the scheduler has no room for does not hold the rest up. */
    set_unready(&c, "s-0-a", 2, true);
    set_unready(&c, "s-0-a", 3, true);
    cluster_settle(&c, 40);
    assert_int_equal(ready(&c, "s-0-a", 4), 1);
    cluster_live(&c, 60);
    assert_int_equal(updated_pods(&c, "j"), 4);
    assert_true(ended(&c));
    cluster_close(&c);
}

static void test_one_budget_of_a_group(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "1", "1")
                        SET_GROUP("g", "p", "3", "1"));
    cluster_live(&c, 20);
    set_unready(&c, "s-0-g-1-p", 0, false);
    cluster_settle(&c, 20);
    change(&c, 0, "j");
    cluster_settle(&c, 40);
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-0-p", 0)), "i");
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-1-p", 0)), "j");
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-2-p", 0)), "i");
    assert_true(cluster_waits(&c, "ReplacementNotReady", "s-0-g", NULL));
    set_unready(&c, "s-0-g-1-p", 0, true);
    cluster_settle(&c, 40);
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-0-p", 0)), "j");
    assert_string_equal(image_of(cluster_pod(&c, "s-0-g-2-p", 0)), "i");
    cluster_live(&c, 60);
    assert_int_equal(updated_pods(&c, "j"), 3);
    assert_true(ended(&c));
    cluster_close(&c);
}

/* A replica of which only one member could be taken down: the rest follows before that one is made anew,
 * for it would be taken down once more. */
static bool takes_down(cluster *c, const char *clique) {
    bool found = false;
    grove_plan *plan = cluster_plan(c);
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        const grove_action *a = grove_plan_action(plan, i);
        found = found || (a->verb == GROVE_VERB_DELETE && strcmp(a->name, clique) == 0);
    }
    grove_plan_unref(plan);
    return found;
}

static bool makes_a_clique(cluster *c) {
    bool found = false;
    grove_plan *plan = cluster_plan(c);
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        const grove_action *a = grove_plan_action(plan, i);
        found = found || (a->verb == GROVE_VERB_CREATE && a->kind == GROVE_KIND_PODCLIQUE);
    }
    grove_plan_unref(plan);
    return found;
}

static void test_taken_down_in_part(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "1", "1")
                        SET_CLIQUE("d", "1", "1") SET_GROUP("g", "p, d", "2", "1"));
    cluster_live(&c, 20);
    change(&c, 1, "j");
    for (int i = 0; i < 20 && !takes_down(&c, "s-0-g-0-p"); i++) {
        cluster_round(&c);
    }
    assert_true(takes_down(&c, "s-0-g-0-p") && takes_down(&c, "s-0-g-0-d"));
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-g-0-p", "{\"metadata\":{\"finalizers\":null}}");
    cluster_delete(&c, GV_KIND_PODCLIQUE, "s-0-g-0-p"); /* the other delete got lost */
    assert_true(takes_down(&c, "s-0-g-0-d"));
    assert_false(makes_a_clique(&c));
    cluster_live(&c, 60);
    assert_int_equal(updated_pods(&c, "j"), 2);
    assert_true(ended(&c));
    cluster_close(&c);
}

/* A pod that is missing when the update begins is made once, in the new version. */
static void test_no_pod_of_yesterday(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_ONE);
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-a", "{\"spec\":{\"replicas\":4}}");
    uint32_t before = c.creates;
    for (int i = 0; i < 3 && c.creates == before; i++) {
        cluster_round(&c);
    }
    assert_int_equal(c.creates, before + 1);
    assert_string_equal(image_of(cluster_pod(&c, "s-0-a", 3)), "j");
    cluster_live(&c, 60);
    assert_int_equal(c.creates, before + 4);
    assert_true(ended(&c));
    cluster_close(&c);
}

/* Somebody with an older template, to whom all members were as they should be, took the group's update for
 * ended before it was rolled. */
static void test_an_update_ended_by_the_old_template(void **state) {
    (void)state;
    cluster c;
    char progress[256], hash[64];
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "1", "1")
                        SET_GROUP("g", "p", "2", "1"));
    cluster_live(&c, 20);
    change(&c, 0, "j");
    cluster_live(&c, 60);
    snprintf(hash, sizeof hash, "%s",
             cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/currentGenerationHash"));
    change(&c, 0, "i");
    cluster_live(&c, 60);
    snprintf(progress, sizeof progress,
             "{\"status\":{\"updateProgress\":{\"updateStartedAt\":\"2027-01-15T08:00:00Z\","
             "\"updateEndedAt\":\"2027-01-15T08:00:00Z\","
             "\"podCliqueSetGenerationHash\":\"%s\"}}}",
             hash);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", progress);
    change(&c, 0, "j");
    cluster_live(&c, 60);
    assert_int_equal(updated_pods(&c, "j"), 2);
    assert_true(ended(&c));
    cluster_close(&c);
}

/* An update of the group that the set knows nothing of: it waits while members are of another template, and
 * ends where all are as they should be. */
static void test_an_update_not_known(void **state) {
    static const char progress[] =
        "{\"status\":{\"updateProgress\":{\"updateStartedAt\":\"2027-01-15T08:00:00Z\","
        "\"updateEndedAt\":null,\"podCliqueSetGenerationHash\":\"of-another-template\"}}}";
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    cluster_add(&c, SET_HEAD("1", "RollingRecreate") SET_CLIQUE("p", "1", "1")
                        SET_GROUP("g", "p", "2", "1"));
    cluster_live(&c, 20);
    cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", progress);
    cluster_merge(&c, GV_KIND_PODCLIQUE, "s-0-g-1-p",
                  "{\"metadata\":{\"labels\":{\"grove.io/pod-template-hash\":\"other\"}}}");
    assert_false(takes_down(&c, "s-0-g-1-p"));
    cluster_delete(&c, GV_KIND_PODCLIQUE, "s-0-g-1-p");
    cluster_live(&c, 20);
    assert_non_null(cluster_node(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g",
                                 "/status/updateProgress/updateEndedAt"));
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_update_ended_by_the_old_template),
        cmocka_unit_test(test_an_update_not_known),
        cmocka_unit_test(test_taken_down_in_part),
        cmocka_unit_test(test_no_pod_of_yesterday),
        cmocka_unit_test(test_one_pod_at_a_time),
        cmocka_unit_test(test_stalls_at_one),
        cmocka_unit_test(test_current_hash_moves_last),
        cmocka_unit_test(test_first_replica),
        cmocka_unit_test(test_everything_in_order),
        cmocka_unit_test(test_unchanged_cliques_keep_their_pods),
        cmocka_unit_test(test_waiting_replica_keeps_its_version),
        cmocka_unit_test(test_scale_set_during_update),
        cmocka_unit_test(test_scale_children_around_update),
        cmocka_unit_test(test_second_change_restarts),
        cmocka_unit_test(test_one_budget),
        cmocka_unit_test(test_one_budget_of_a_group),
        cmocka_unit_test(test_on_delete),
        cmocka_unit_test(test_switch_strategy),
    };
    return cmocka_run_group_tests_name("plan rollout", tests, NULL, NULL);
}
