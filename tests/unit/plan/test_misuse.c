/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that cannot be answered are refused and touch nothing; odd clusters of another operator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"
#include "plan/plan.h"
#include "plan/template.h"
#include "support/oom.h"

/* Everything but argument i. */
#define BUT(at, p) (i == (at) ? NULL : (p))

static void test_missing_arguments(void **state) {
    (void)state;
    cluster c;
    grove_buf buf;
    cluster_open(&c, "s");
    grove_buf_init(&buf, c.env);
    grove_plan *plan = cluster_plan(&c), *out = NULL;
    for (int i = 0; i < 2; i++) {
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(grove_plan_write_json(BUT(0, plan), 0, BUT(1, &buf), &err),
                         GROVE_E_INVALID);
        assert_string_equal(err.message, "plan and buffer are required");
        err = (grove_error)GROVE_ERROR_INIT;
        assert_int_equal(grove_plan_explain(BUT(0, plan), 0, NULL, 0, BUT(1, &buf), &err),
                         GROVE_E_INVALID);
        assert_string_equal(err.message, "plan and buffer are required");
    }
    for (int i = 0; i < 4; i++) {
        grove_error err = GROVE_ERROR_INIT;
        grove_plan_request rq = cluster_request(&c);
        assert_int_equal(
            grove_plan_make(BUT(0, c.planner), BUT(1, c.store), BUT(2, &rq), BUT(3, &out), &err),
            GROVE_E_INVALID);
        assert_string_equal(err.message, "planner, store, request and out_plan are required");
        assert_null(out);
    }
    assert_int_equal(buf.len, 0);
    grove_buf_fini(&buf);
    grove_plan_unref(plan);
    cluster_close(&c);
}

static void test_sizes(void **state) {
    (void)state;
    struct {
        grove_plan_request known;
        uint64_t later;
    } rq = {{0}, 0};
    cluster c;
    grove_plan *plan = NULL;
    grove_error err = GROVE_ERROR_INIT;
    cluster_open(&c, "s");
    rq.known = cluster_request(&c);
    rq.known.size = (uint32_t)sizeof rq;
    assert_int_equal(grove_plan_make(c.planner, c.store, &rq.known, &plan, &err), GROVE_OK);
    grove_plan_unref(plan);
    plan = NULL;
    rq.later = 1;
    assert_true(grove_plan_make(c.planner, c.store, &rq.known, &plan, &err) < 0);
    assert_string_equal(err.message, "the request has an unknown size or unknown fields");
    rq.known.size = 8;
    assert_true(grove_plan_make(c.planner, c.store, &rq.known, &plan, &err) < 0);
    assert_null(plan);
    cluster_close(&c);
}

/* What a request points to is read where it stands: all of it has to be there, and nothing beyond. */
static void test_sizes_of_parts(void **state) {
    (void)state;
    struct {
        grove_placement known;
        uint64_t later;
    } part = {{.size = sizeof part.known, .gang = "s-0"}, 0};
    cluster c;
    grove_error err = GROVE_ERROR_INIT;
    cluster_open(&c, "s");
    grove_plan_request rq = cluster_request(&c);
    const grove_placement *placements[] = {&part.known};
    rq.placements = placements;
    rq.n_placements = 1;
    for (int i = 0; i < 4; i++) {
        static const uint32_t sizes[] = {sizeof part.known, sizeof part.known - 8, sizeof part,
                                         sizeof part};
        static const grove_status wanted[] = {GROVE_OK, GROVE_E_INVALID, GROVE_OK, GROVE_E_TOO_NEW};
        grove_plan *plan = NULL;
        part.known.size = sizes[i];
        part.later = i == 3 ? 1 : 0;
        assert_int_equal(grove_plan_make(c.planner, c.store, &rq, &plan, &err), wanted[i]);
        grove_plan_unref(plan);
    }
    assert_string_equal(err.message, "placements[0] has an unknown size or unknown fields");
    cluster_close(&c);
}

/* No webhook looked at the set: children of two cliques would be one object. It can be deleted all the same. */
static void test_names_that_cannot_be(void **state) {
    (void)state;
    static const struct {
        const char *set, *text;
    } cases[] = {
        {SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "1", "1") SET_CLIQUE("a", "2", "1"),
         "spec.template.cliques[1].name: an earlier one has this name"},
        {SET_HEAD("1", "RollingRecreate") SET_CLIQUE("''", "1", "1"),
         "spec.template.cliques[0].name: a name is required"},
        {SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "1", "1") SET_GROUP("''", "a", "1", "1"),
         "spec.template.podCliqueScalingGroups[0].name: a name is required"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, cases[i].set);
        cluster_settle(&c, 5);
        grove_plan *plan = cluster_plan(&c);
        assert_int_equal(grove_plan_waits(plan), 1);
        assert_string_equal(grove_plan_wait(plan, 0)->reason, "InvalidSet");
        assert_string_equal(grove_plan_wait(plan, 0)->text, cases[i].text);
        grove_plan_unref(plan);
        assert_string_equal(
            cluster_text(&c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors/0/description"),
            cases[i].text);
        assert_int_equal(cluster_count(&c, GV_KIND_PODCLIQUE), 0);
        cluster_delete(&c, GV_KIND_PODCLIQUESET, "s");
        cluster_settle(&c, 5);
        cluster_close(&c);
    }
}

/* ---- hashes in want of memory ---- */

static grove_status hash_once(grove_env *env, void *ctx) {
    grove_doc *doc = ctx;
    const grove_node *n = grove_doc_root(doc);
    char hash[32] = "";
    grove_status st = gv_hash_clique(env, grove_node_get(n, "labels"), NULL,
                                     grove_node_get(n, "podSpec"), GV_STR("high"), hash, NULL);
    assert_true((st == GROVE_OK) == (hash[0] != '\0'));
    return st;
}

static void test_hash_without_memory(void **state) {
    (void)state;
    static const char text[] =
        "{\"labels\":{\"b\":\"1\",\"a\":\"2\"},\"podSpec\":{\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"memory\":\"1Gi\",\"cpu\":\"1\"}}}],\"volumes\":[{\"name\":"
        "\"z\"},{\"name\":\"y\"}]}}";
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    assert_int_equal(grove_doc_parse_json(env, text, sizeof text - 1, 0, &doc, NULL), GROVE_OK);
    oom_loop("hash of a clique", hash_once, doc);
    grove_doc_unref(doc);
    grove_env_unref(env);
}

/* ---- take-over of odd clusters ---- */

/* The router has a template, and so a hash, of its own. */
#define ROUTED                                                                           \
    SET_HEAD("1", "RollingRecreate")                                                     \
    "    - name: r\n      spec: {roleName: r, replicas: 2, minAvailable: 1, podSpec: "   \
    "{containers: "                                                                      \
    "[{name: c, image: router}]}}\n" SET_CLIQUE("p", "1", "1") SET_CLIQUE("d", "3", "2") \
        SET_GROUP("g", "p, d", "2", "1")

/* A settled set with every hash as another operator would have written it. */
static void open_foreign(cluster *c) {
    cluster_open(c, "s");
    cluster_add(c, ROUTED);
    cluster_live(c, 20);
    for (uint32_t i = 0; i < c->n; i++) {
        object *o = &c->objects[i];
        grove_buf b;
        if (o->gone) {
            continue;
        }
        grove_buf_init(&b, c->env);
        grove_node_write_json(grove_doc_root(o->doc), 0, &b, NULL);
        for (char *at = strstr(b.data, "\"g1"); at != NULL; at = strstr(at + 1, "\"g1")) {
            at[1] = 'z';
        }
        cluster_merge(c, o->kind, o->name, b.data);
        grove_buf_fini(&b);
    }
    grove_planner_free(c->planner);
    assert_int_equal(grove_planner_new(c->env, &c->planner), 0);
}

static void test_take_over_of_odd_clusters(void **state) {
    (void)state;
    /* NULL: the clique is gone; it is made anew, and the rest is kept all the same. */
    static const char *const patches[] = {
        NULL, "{\"metadata\":{\"deletionTimestamp\":\"2027-01-15T08:00:00Z\"}}"};
    static const char clique[] = "s-0-g-1-p";
    for (size_t i = 0; i < 2; i++) {
        cluster c;
        open_foreign(&c);
        char uid[32], member[32];
        memcpy(uid, cluster_pod(&c, "s-0-r", 0)->uid, sizeof uid);
        memcpy(member, cluster_pod(&c, clique, 0)->uid, sizeof member);
        if (patches[i] == NULL) {
            cluster_merge(&c, GV_KIND_PODCLIQUE, clique, "{\"metadata\":{\"finalizers\":null}}");
            cluster_delete(&c, GV_KIND_PODCLIQUE, clique);
        } else {
            cluster_merge(&c, GV_KIND_PODCLIQUE, clique, patches[i]);
        }
        cluster_live(&c, 60);
        assert_string_equal(cluster_pod(&c, "s-0-r", 0)->uid, uid);
        assert_string_not_equal(cluster_pod(&c, clique, 0)->uid, member);
        cluster_close(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_arguments),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sizes_of_parts),
        cmocka_unit_test(test_names_that_cannot_be),
        cmocka_unit_test(test_hash_without_memory),
        cmocka_unit_test(test_take_over_of_odd_clusters),
    };
    return cmocka_run_group_tests_name("plan misuse", tests, NULL, NULL);
}
