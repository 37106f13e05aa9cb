/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign and bad objects: told in lastErrors and by one event, and the rest of the set goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "manifests.h"

#define KAI_DEFAULT                                                                \
    "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n" \
    "scheduler: {defaultProfileName: kai-scheduler, profiles: [{name: kai-scheduler}]}\n"
#define FOREIGN(kind, name)                        \
    "apiVersion: " kind "\nmetadata: {name: " name \
    ", labels: {app.kubernetes.io/managed-by: you}}\n"
#define SCHEDULED_BY(name)                                                             \
    SET_HEAD("1", "RollingRecreate")                                                   \
    "    - name: a\n      spec: {roleName: a, replicas: 1, minAvailable: 1, podSpec: " \
    "{schedulerName: " name ", containers: [{name: c, image: i}]}}\n" SET_CLIQUE("b", "1", "1")

typedef struct row {
    const char *what, *config, *set, *foreign;
    gv_kind kind; /* who carries the error */
    const char *name, *code;
    const char *event, *wait;
    uint32_t pods; /* that are made all the same */
} row;

static const row rows[] = {
    {"somebody else's PodClique under our name", NULL, SET_GROUPED("1", "RollingRecreate"),
     FOREIGN("grove.io/v1alpha1\nkind: PodClique", "s-0-r"), GV_KIND_PODCLIQUESET, "s",
     "ERR_SYNC_PODCLIQUE", "NameTaken", "NameTaken", 8},
    {"somebody else's PodGang", NULL, SET_GROUPED("1", "RollingRecreate"),
     FOREIGN("scheduler.grove.io/v1alpha1\nkind: PodGang", "s-0-g-0"), GV_KIND_PODCLIQUESET, "s",
     "ERR_CREATE_OR_PATCH_PODGANG", "NameTaken", "NameTaken", 10},
    {"somebody else's token", NULL, SET_GROUPED("1", "RollingRecreate"),
     FOREIGN("v1\nkind: Secret", "s-ic-sat"), GV_KIND_PODCLIQUESET, "s", "ERR_SECRET_CONFLICT",
     "NameTaken", "NameTaken", 10},
    {"somebody else's Service", NULL, SET_GROUPED("1", "RollingRecreate"),
     FOREIGN("v1\nkind: Service", "s-0"), GV_KIND_PODCLIQUESET, "s",
     "ERR_SYNC_PODCLIQUESET_SERVICE", "NameTaken", "NameTaken", 10},
    {"no queue can be told", KAI_DEFAULT, SET_GROUPED("1", "RollingRecreate"), NULL,
     GV_KIND_PODCLIQUESET, "s", "KAIBackendMappingFailed", "KAIBackendMappingFailed",
     "KAIBackendMappingFailed", 10},
    {"a scheduler that is not configured", NULL, SCHEDULED_BY("nobody"), NULL, GV_KIND_PODCLIQUE,
     "s-0-a", "ERR_BUILD_POD_RESOURCE", "SchedulerUnknown", "SchedulerUnknown", 1},
    {"a set that cannot be read", NULL,
     SET_HEAD("1", "RollingRecreate") SET_CLIQUE("a", "1", "1") SET_GROUP("g", "missing", "1", "1"),
     NULL, GV_KIND_PODCLIQUESET, "s", "ERR_INVALID_SET", "InvalidSet", "InvalidSet", 0},
};

static uint32_t told(cluster *c, const char *event) {
    uint32_t n = 0;
    for (int i = 0; i < 12; i++) {
        grove_plan *plan = cluster_plan(c);
        for (uint32_t k = 0; k < grove_plan_actions(plan); k++) {
            const grove_action *a = grove_plan_action(plan, k);
            n += a->verb == GROVE_VERB_EVENT && strcmp(a->reason, event) == 0 ? 1 : 0;
        }
        grove_plan_unref(plan);
        cluster_round(c);
    }
    return n;
}

static void test_table(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        cluster c;
        char path[64];
        print_message("%s\n", r->what);
        cluster_open(&c, "s");
        if (r->config != NULL) {
            assert_int_equal(grove_config_new(c.env, &c.config), 0);
            assert_int_equal(grove_config_load(c.config, r->config, strlen(r->config), NULL), 0);
        }
        if (r->foreign != NULL) {
            cluster_add(&c, r->foreign);
        }
        cluster_add(&c, r->set);
        uint32_t events = told(&c, r->event);
        bool of_gang = strcmp(r->event, "KAIBackendMappingFailed") == 0;
        assert_int_equal(events, of_gang ? 2 : 1); /* a gang each */
        cluster_settle(&c, 12);
        snprintf(path, sizeof path, "/status/lastErrors/0/code");
        assert_string_equal(cluster_text(&c, r->kind, r->name, path), r->code);
        assert_true(cluster_waits(&c, r->wait, NULL, NULL));
        assert_int_equal(cluster_count(&c, GV_KIND_POD), r->pods);
        if (r->foreign != NULL) { /* it goes: all is made good, and the error with it */
            for (uint32_t k = 0; k < c.n; k++) {
                const grove_node *label = grove_node_at_path(
                    grove_doc_root(c.objects[k].doc),
                    "/metadata/labels/app.kubernetes.io~1managed-by");
                const char *text = grove_node_text(label);
                if (text != NULL && strcmp(text, "you") == 0) {
                    cluster_delete(&c, c.objects[k].kind, c.objects[k].name);
                    break;
                }
            }
            cluster_live(&c, 20);
            assert_null(cluster_node(&c, r->kind, r->name, "/status/lastErrors"));
            assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
        }
        cluster_close(&c);
    }
}

/* Labels that somebody bent: such a pod is nobody's, and stops nobody. */
static void test_bent_pods(void **unused) {
    (void)unused;
    static const char *const bends[] = {
        "{\"metadata\":{\"labels\":{\"grove.io/podclique-pod-index\":\"seven\"}}}",
        "{\"metadata\":{\"labels\":{\"grove.io/podclique-pod-index\":null}}}",
        "{\"metadata\":{\"labels\":{\"grove.io/podclique\":\"other\"}}}",
        "{\"metadata\":{\"labels\":{\"grove.io/podgang\":\"other\"}}}",
        "{\"metadata\":{\"labels\":null}}",
        "{\"spec\":{\"hostname\":\"\"}}",
    };
    for (size_t i = 0; i < sizeof bends / sizeof *bends; i++) {
        cluster c;
        cluster_open(&c, "s");
        cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
        cluster_live(&c, 20);
        cluster_merge(&c, GV_KIND_POD, cluster_pod(&c, "s-0-r", 0)->name, bends[i]);
        cluster_live(&c, 20);
        /* The rest is served: another clique scales. */
        cluster_merge(&c, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g", "{\"spec\":{\"replicas\":3}}");
        cluster_live(&c, 20);
        assert_non_null(cluster_pod(&c, "s-0-g-2-d", 2));
        assert_non_null(cluster_pod(&c, "s-0-r", 1));
        cluster_close(&c);
    }
}

/* A set that is deleted and made again under its name is a new one: nothing of the old stands in its way. */
static void test_same_name_again(void **unused) {
    (void)unused;
    cluster c;
    char first[32];
    cluster_open(&c, "s");
    cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
    cluster_live(&c, 20);
    snprintf(first, sizeof first, "%s", cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-r")->uid);
    cluster_delete(&c, GV_KIND_PODCLIQUESET, "s");
    cluster_settle(&c, 20);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 0);
    cluster_add(&c, SET_GROUPED("1", "RollingRecreate"));
    cluster_live(&c, 20);
    assert_int_equal(cluster_count(&c, GV_KIND_POD), 10);
    assert_string_not_equal(cluster_get(&c, GV_KIND_PODCLIQUE, "s-0-r")->uid, first);
    assert_int_equal(cluster_int(&c, GV_KIND_PODCLIQUESET, "s", "/status/availableReplicas"), 1);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_bent_pods),
        cmocka_unit_test(test_same_name_again),
    };
    return cmocka_run_group_tests_name("what is told", tests, NULL, NULL);
}
