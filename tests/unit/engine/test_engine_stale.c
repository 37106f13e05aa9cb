/* SPDX-License-Identifier: Apache-2.0 */
/* When a decision about a gang holds no longer: before its first pod has gone out, and after it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"

typedef struct fixture {
    grove_env *env;
    grove_engine *e;
    gv_decided *d;
} fixture;

static grove_doc *parse(fixture *f, const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(f->env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    return doc;
}

static void show(fixture *f, const char *text) {
    grove_doc *doc = parse(f, text);
    assert_int_equal(grove_store_put(f->e->store, doc, grove_doc_root(doc), NULL), GROVE_OK);
    grove_doc_unref(doc);
}

static void hide(fixture *f, const char *text) {
    grove_doc *doc = parse(f, text);
    assert_int_equal(grove_store_remove(f->e->store, grove_doc_root(doc), NULL), GROVE_OK);
    grove_doc_unref(doc);
}

#define NODE(name, version, spec, labels, gpus)                                         \
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" name           \
    "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version "\",\"labels\":{" labels \
    "}},\"spec\":{" spec "},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"" gpus    \
    "\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define POD(name, uid, version, spec)                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                     \
    "\",\"namespace\":\"t\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version                  \
    "\",\"labels\":{\"grove.io/podgang\":\"g\",\"app.kubernetes.io/part-of\":\"s\"}},\"spec\":{" \
    "\"containers\":[{\"name\":\"c\"}]" spec "}}"
#define GANG(version, least, refs)                                                        \
    "{\"apiVersion\":\"scheduler.grove.io/v1alpha1\",\"kind\":\"PodGang\",\"metadata\":{" \
    "\"name\":\"g\",\"namespace\":\"t\",\"uid\":\"u-g\",\"resourceVersion\":\"" version   \
    "\"},\"spec\":{\"podgroups\":[{\"name\":\"a\",\"minReplicas\":" least                 \
    ",\"podReferences\":[" refs "]}]}}"
#define RACK "\"rack\":\"r1\""

/* Two pods, p to m and q to n, as decided. */
static fixture start(void) {
    static const grove_placed_pod pods[] = {{"p", "u-p", "m"}, {"q", "u-q", "n"}};
    fixture f = {0};
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_env_new(NULL, &f.env), GROVE_OK);
    assert_int_equal(grove_engine_new(f.env, NULL, &f.e, &err), GROVE_OK);
    show(&f, NODE("m", "1", "", RACK, "8"));
    show(&f, NODE("n", "1", "", RACK, "8"));
    show(&f, POD("p", "u-p", "1", ""));
    show(&f, POD("q", "u-q", "1", ""));
    show(&f, GANG("1", "2", ""));
    f.d = gv_zalloc(f.env, sizeof *f.d);
    assert_non_null(f.d);
    gv_arena_init(&f.d->arena, f.env);
    uint64_t *sigs = gv_arena_array(&f.d->arena, uint64_t, 2);
    assert_non_null(sigs);
    sigs[0] = gv_engine_node_sig(f.e, "m");
    sigs[1] = gv_engine_node_sig(f.e, "n");
    f.d->node_sigs = sigs;
    f.d->ns = GV_STR("t");
    f.d->set = GV_STR("s");
    f.d->placement = (grove_placement){.size = (uint32_t)sizeof f.d->placement,
                                       .gang = "g",
                                       .verdict = GROVE_VERDICT_PLACED,
                                       .pods = pods,
                                       .n_pods = 2};
    assert_int_equal(gv_engine_gang_terms(f.e, GV_STR("t"), GV_STR("g"), &f.d->terms), GROVE_OK);
    assert_true(gv_map_put(&f.e->decided, GV_STR("t/g"), f.d));
    return f;
}

static bool is_stale(fixture *f, const char *pod, const char *node) {
    grove_action a = {.size = (uint32_t)sizeof a,
                      .verb = GROVE_VERB_BIND,
                      .kind = GROVE_KIND_POD,
                      .ns = "t",
                      .name = pod,
                      .node = node};
    bool stale = false;
    assert_int_equal(gv_engine_follows_stale(f->e, &a, &stale), GROVE_OK);
    return stale;
}

static void end(fixture *f) {
    grove_engine_free(f->e);
    grove_env_unref(f->env);
}

#define UNTOUCHED NODE("n", "1", "", RACK, "8")

static void test_changes(void **state) {
    static const struct {
        const char *what, *shown, *hidden;
        bool before, p_after, q_after; /* stale, by whether p has been bound: of p's gang, of q */
    } rows[] = {
        {"nothing", UNTOUCHED, NULL, false, false, false},
        {"another version of the same", NODE("n", "2", "", RACK, "8"), NULL, false, false, false},
        {"the node is gone", NULL, UNTOUCHED, true, false, true},
        {"it takes no pods", NODE("n", "2", "\"unschedulable\":true", RACK, "8"), NULL, true, false,
         true},
        {"it is tainted",
         NODE("n", "2", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]", RACK, "8"), NULL,
         true, false, true},
        {"it is elsewhere", NODE("n", "2", "", "\"rack\":\"r2\"", "8"), NULL, true, false, true},
        {"it has less", NODE("n", "2", "", RACK, "7"), NULL, true, false, true},
        {"another node changes", NODE("o", "2", "", RACK, "8"), NULL, false, false, false},
        {"a pod is gone", NULL, POD("q", "u-q", "1", ""), true, false, false},
        {"another took its name", POD("q", "u-z", "2", ""), NULL, true, false, false},
        {"the gang needs more", GANG("2", "3", ""), NULL, true, false, false},
        {"its members are written", GANG("2", "2", "{\"namespace\":\"t\",\"name\":\"p\"}"), NULL,
         false, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int begun = 0; begun < 2; begun++) {
            fixture f = start();
            if (begun) {
                show(&f, POD("p", "u-p", "3", ",\"nodeName\":\"m\""));
            }
            if (rows[i].shown) {
                show(&f, rows[i].shown);
            }
            if (rows[i].hidden) {
                hide(&f, rows[i].hidden);
            }
            bool p = is_stale(&f, "p", "m"), q = is_stale(&f, "q", "n");
            bool there = gv_store_get(f.e->store, GV_KIND_POD, GV_STR("t"), GV_STR("q")) != NULL;
            if (p != (begun ? rows[i].p_after : rows[i].before) ||
                (there && q != (begun ? rows[i].q_after : rows[i].before))) {
                fail_msg("%s, %s: p %d, q %d", rows[i].what, begun ? "begun" : "not begun", p, q);
            }
            end(&f);
        }
    }
}

/* An action of a plan before this decision, and one of a decision that was taken back. */
static void test_older_plans(void **state) {
    fixture f = start();
    (void)state;
    assert_false(is_stale(&f, "p", "m"));
    assert_true(is_stale(&f, "p", "n"));
    assert_int_equal(gv_engine_withdraw(f.e, f.d->ns, GV_STR("g")), GROVE_OK);
    assert_true(is_stale(&f, "p", "m"));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes),
                                       cmocka_unit_test(test_older_plans)};
    return cmocka_run_group_tests_name("engine stale", tests, NULL, NULL);
}
