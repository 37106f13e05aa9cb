/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories against the planner: pods die, fail and hang, everything is scaled, templates change,
 * time jumps, the planner restarts, and only part of a plan is applied. After each step the promises hold;
 * at the end everything settles, and the end does not depend on the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/prng.h"
#include "base/text.h"
#include "cluster.h"
#include "manifests.h"
#include "store/store.h"

#define SECOND INT64_C(1000000000)
#define STEPS 60

typedef struct history {
    cluster c;
    gv_prng r;
    int image;
    bool pairs; /* a Coherent set: often all roles change together, and it is paused at times */
} history;

static uint64_t draw(history *h, uint64_t n) {
    return gv_prng_below(&h->r, n);
}

static object *random_object(history *h, gv_kind kind) {
    uint32_t n = cluster_count(&h->c, kind);
    uint64_t at = n ? draw(h, n) : 0;
    for (uint32_t i = 0; i < h->c.n; i++) {
        object *o = &h->c.objects[i];
        if (!o->gone && o->kind == kind && at-- == 0) {
            return o;
        }
    }
    return NULL;
}

static void scale(history *h, gv_kind kind, uint64_t most) {
    object *o = random_object(h, kind);
    char text[64];
    if (o != NULL && !grove_node_at_path(grove_doc_root(o->doc), "/metadata/deletionTimestamp")) {
        snprintf(text, sizeof text, "{\"spec\":{\"replicas\":%d}}", (int)draw(h, most));
        cluster_merge(&h->c, kind, o->name, text);
    }
}

static void change_template(history *h) {
    const grove_node *cliques = cluster_node(&h->c, GV_KIND_PODCLIQUESET, "s",
                                             "/spec/template/cliques");
    grove_buf b;
    grove_buf_init(&b, h->c.env);
    gv_buf_c(&b, "{\"spec\":{\"template\":{\"cliques\":[");
    uint32_t k = (uint32_t)draw(h, grove_node_size(cliques)), i = 0;
    bool all = h->pairs && draw(h, 2) == 0;
    for (const grove_node *n = grove_node_first(cliques); n; n = grove_node_next(cliques, n), i++) {
        gv_buf_c(&b, i ? "," : "");
        const char *name = grove_node_text(grove_node_get(n, "name"));
        const char *image = grove_node_text(
            grove_node_at_path(n, "/spec/podSpec/containers/0/image"));
        int64_t replicas = 0, minimum = 0;
        grove_node_int64(grove_node_at_path(n, "/spec/replicas"), &replicas);
        grove_node_int64(grove_node_at_path(n, "/spec/minAvailable"), &minimum);
        char fresh[16];
        snprintf(fresh, sizeof fresh, "v%d", ++h->image);
        gv_buf_fmt(
            &b,
            "{\"name\":\"%s\",\"spec\":{\"roleName\":\"%s\",\"replicas\":%d,\"minAvailable\":%d,"
            "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\"}]}}}",
            name, name, (int)replicas, (int)minimum, all || i == k ? fresh : image);
    }
    gv_buf_c(&b, "]}}}");
    cluster_merge(&h->c, GV_KIND_PODCLIQUESET, "s", b.data);
    grove_buf_fini(&b);
}

static void disturb_pod(history *h) {
    object *o = random_object(h, GV_KIND_POD);
    if (o == NULL || grove_node_at_path(grove_doc_root(o->doc), "/metadata/deletionTimestamp")) {
        return;
    }
    switch (draw(h, 5)) {
    case 0:
        cluster_delete(&h->c, GV_KIND_POD, o->name);
        break;
    case 1:
        cluster_merge(&h->c, GV_KIND_POD, o->name,
                      "{\"status\":{\"phase\":\"Failed\",\"conditions\":[]}}");
        break;
    case 2: /* terminates slowly */
        cluster_merge(&h->c, GV_KIND_POD, o->name, "{\"metadata\":{\"finalizers\":[\"x/slow\"]}}");
        cluster_delete(&h->c, GV_KIND_POD, o->name);
        break;
    case 3:
        if (!cluster_gated(o) && !cluster_ended(o)) {
            cluster_ready(&h->c, o, false);
        }
        break;
    default:
        if (!cluster_gated(o) && !cluster_ended(o)) {
            cluster_ready(&h->c, o, true);
        }
        break;
    }
}

static void finish_slow_pods(history *h) {
    for (uint32_t i = 0; i < h->c.n; i++) {
        object *o = &h->c.objects[i];
        if (!o->gone && o->kind == GV_KIND_POD &&
            grove_node_at_path(grove_doc_root(o->doc), "/metadata/deletionTimestamp")) {
            cluster_merge(&h->c, GV_KIND_POD, o->name, "{\"metadata\":{\"finalizers\":null}}");
        }
    }
}

/* Never two active pods with one index in one incarnation of a clique. */
static void check_indices(history *h) {
    for (uint32_t i = 0; i < h->c.n; i++) {
        const object *o = &h->c.objects[i];
        if (o->gone || o->kind != GV_KIND_PODCLIQUE) {
            continue;
        }
        const gv_list *list = gv_store_owned_by(h->c.store, gv_str_c(o->uid));
        for (const gv_object *p = list->first; p; p = gv_list_next(p, GV_LIST_OWNER)) {
            for (const gv_object *q = gv_list_next(p, GV_LIST_OWNER); q;
                 q = gv_list_next(q, GV_LIST_OWNER)) {
                assert_false(gv_pod_is_active(&p->u.pod) && gv_pod_is_active(&q->u.pod) &&
                             p->u.pod.index == q->u.pod.index);
            }
        }
    }
}

static bool has_hash(const object *revision, const char *hash) {
    const grove_node *hashes = grove_node_at_path(grove_doc_root(revision->doc), "/data/hashes");
    for (const grove_node *h = grove_node_first(hashes); h; h = grove_node_next(hashes, h)) {
        if (strcmp(grove_node_text(h), hash) == 0) {
            return true;
        }
    }
    return false;
}

/* What something living was made from is not forgotten, if it ever was written down. */
static void check_history(history *h) {
    const object *revisions[STEPS * 4];
    uint32_t n = 0, n_gone = 0;
    for (uint32_t i = 0; i < h->c.n; i++) {
        const object *o = &h->c.objects[i];
        if (o->kind == GV_KIND_CONTROLLERREVISION && n < sizeof revisions / sizeof *revisions) {
            revisions[n++] = o;
            n_gone += o->gone;
        }
    }
    for (uint32_t i = 0; i < h->c.n; i++) {
        const object *o = &h->c.objects[i];
        const grove_node *root = n_gone > 0 && !o->gone ? grove_doc_root(o->doc) : NULL;
        const char *hash = grove_node_text(
            grove_node_at_path(root, "/metadata/labels/grove.io~1pod-template-hash"));
        if (!hash || cluster_ended(o) || grove_node_at_path(root, "/metadata/deletionTimestamp")) {
            continue;
        }
        bool was = false, is = false;
        for (uint32_t k = 0; k < n; k++) {
            bool told = has_hash(revisions[k], hash);
            was = was || told;
            is = is || (told && !revisions[k]->gone);
        }
        assert_true(is || !was);
    }
}

/* At rest: the template in force has the highest number, and no more than the limit stand beside it. */
static void check_rest(history *h, int64_t limit) {
    const char *hash = grove_node_text(
        cluster_node(&h->c, GV_KIND_PODCLIQUESET, "s", "/status/currentGenerationHash"));
    int64_t highest = 0, number = 0, in_force = -1;
    for (uint32_t i = 0; i < h->c.n; i++) {
        const object *o = &h->c.objects[i];
        if (o->gone || o->kind != GV_KIND_CONTROLLERREVISION) {
            continue;
        }
        assert_int_equal(
            grove_node_int64(grove_node_at_path(grove_doc_root(o->doc), "/revision"), &number), 0);
        assert_int_not_equal(number, highest);
        highest = number > highest ? number : highest;
        in_force = strcmp(o->name + 2, hash) == 0 ? number : in_force;
    }
    assert_int_equal(in_force, highest);
    assert_true(cluster_count(&h->c, GV_KIND_CONTROLLERREVISION) <= limit + 1);
}

static void pause_or_bound(history *h) {
    static const char *const bounds[] = {"{\"paused\":true}", "{\"paused\":false}",
                                         "{\"maxUnavailable\":1}", "{\"maxUnavailable\":\"50%\"}",
                                         "{\"maxUnavailable\":null}"};
    char text[128];
    snprintf(text, sizeof text, "{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":%s}}}",
             bounds[draw(h, 5)]);
    cluster_merge(&h->c, GV_KIND_PODCLIQUESET, "s", text);
}

static void step(history *h) {
    if (h->pairs && draw(h, 6) == 0) {
        pause_or_bound(h);
    }
    switch (draw(h, 12)) {
    case 0:
        scale(h, GV_KIND_PODCLIQUE, 5);
        break;
    case 1:
        scale(h, GV_KIND_PODCLIQUESCALINGGROUP, 4);
        break;
    case 2:
        scale(h, GV_KIND_PODCLIQUESET, 3);
        break;
    case 3:
        change_template(h);
        break;
    case 4:
        h->c.now += (int64_t)draw(h, 40) * SECOND;
        break;
    case 5:
        grove_planner_free(h->c.planner);
        assert_int_equal(grove_planner_new(h->c.env, &h->c.planner), 0);
        break;
    case 6:
        finish_slow_pods(h);
        break;
    default:
        disturb_pod(h);
        break;
    }
}

static void run(uint64_t seed, const char *set, bool pairs) {
    history h;
    memset(&h, 0, sizeof h);
    h.pairs = pairs;
    gv_prng_seed(&h.r, seed);
    cluster_open(&h.c, "s");
    cluster_add(&h.c, set);
    int64_t limit = (int64_t)draw(&h, 3) + 1;
    char text[96];
    snprintf(text, sizeof text, "{\"spec\":{\"updateStrategy\":{\"revisionHistoryLimit\":%d}}}",
             (int)limit);
    cluster_merge(&h.c, GV_KIND_PODCLIQUESET, "s", text);
    for (int i = 0; i < STEPS; i++) {
        step(&h);
        for (uint64_t k = draw(&h, 4); k > 0; k--) {
            h.c.keep_permille = draw(&h, 3) == 0 ? 500 : 1000;
            h.c.drop = &h.r;
            cluster_round(&h.c);
        }
        if (draw(&h, 3) == 0) {
            cluster_run_pods(&h.c);
        }
        check_indices(&h);
        check_history(&h);
    }
    h.c.keep_permille = 1000;
    if (pairs) {
        cluster_merge(&h.c, GV_KIND_PODCLIQUESET, "s",
                      "{\"spec\":{\"updateStrategy\":{\"rollingUpdate\":null}}}");
    }
    finish_slow_pods(&h);
    h.c.now += 60 * SECOND;
    for (int i = 0; i < 3; i++) { /* breaches of the history may run out yet */
        cluster_live(&h.c, 120);
        h.c.now += 40 * SECOND;
    }
    cluster_live(&h.c, 120);
    if (getenv("PLAN_TRACE")) {
        cluster_dump(&h.c);
    }
    int64_t replicas = cluster_int(&h.c, GV_KIND_PODCLIQUESET, "s", "/spec/replicas");
    assert_int_equal(cluster_int(&h.c, GV_KIND_PODCLIQUESET, "s", "/status/availableReplicas"),
                     replicas);
    assert_int_equal(cluster_int(&h.c, GV_KIND_PODCLIQUESET, "s", "/status/updatedReplicas"),
                     replicas);
    assert_null(cluster_node(&h.c, GV_KIND_PODCLIQUESET, "s", "/status/lastErrors"));
    check_rest(&h, limit);
    cluster_delete(&h.c, GV_KIND_PODCLIQUESET, "s");
    cluster_settle(&h.c, 20);
    for (uint32_t i = 0; i < h.c.n; i++) {
        assert_true(h.c.objects[i].gone);
    }
    cluster_close(&h.c);
}

static uint64_t seeds(void) {
    const char *text = getenv("PLAN_SEEDS");
    return text ? (uint64_t)strtoull(text, NULL, 10) : 40;
}

static void test_rolling(void **state) {
    (void)state;
    const char *first = getenv("PLAN_FIRST_SEED");
    for (uint64_t i = first ? strtoull(first, NULL, 10) : 1; i <= seeds(); i++) {
        print_message("seed %llu\n", (unsigned long long)i);
        run(i,
            i % 3 == 0   ? SET_LOOSE("1")
            : i % 3 == 1 ? SET_TIGHT("2")
                         : SET_GROUPED("1", "RollingRecreate"),
            false);
    }
}

/* The planner refuses a plan that leaves fewer whole pairs than the floor: none of these histories makes it. */
static void test_coherent(void **state) {
    (void)state;
    const char *first = getenv("PLAN_FIRST_SEED");
    for (uint64_t i = first ? strtoull(first, NULL, 10) : 1; i <= seeds(); i++) {
        print_message("coherent seed %llu\n", (unsigned long long)i);
        run(i, i % 2 == 0 ? SET_GROUPED("1", "Coherent") : SET_GROUPED("3", "Coherent"), true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_coherent),
    };
    return cmocka_run_group_tests_name("plan chaos", tests, NULL, NULL);
}
