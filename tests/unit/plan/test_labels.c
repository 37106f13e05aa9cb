/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of ours that somebody takes off a child or writes over are restored, on every kind and under both
 * strategies; labels of others stay. The sets are those of the plays (tests/golden/plan).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "cluster.h"
#include "support/files.h"
#include "value/doc.h"

#define HASH "grove.io/pod-template-hash"

/* The configuration and the set that a play begins with. */
static void begin(cluster *c, const char *play, const char *strategy) {
    char path[64], text[96];
    grove_doc *doc = NULL;
    grove_buf b;
    snprintf(path, sizeof path, "tests/golden/plan/%s.yaml", play);
    char *file = test_read(path, NULL);
    assert_int_equal(
        grove_doc_parse_yaml(c->env, file, strlen(file), GROVE_PARSE_STRICT, &doc, NULL), 0);
    grove_buf_init(&b, c->env);
    GV_EACH(one, grove_node_get(grove_doc_root(doc), "steps")) {
        const char *verb = grove_node_text(grove_node_at(one, 0));
        const grove_node *what = grove_node_at(one, 1);
        if (strcmp(verb, "config") == 0) {
            assert_int_equal(grove_config_new(c->env, &c->config), 0);
            GV_EACH(entry, what) {
                assert_int_equal(grove_config_add(c->config, doc, entry, NULL), 0);
            }
        } else if (strcmp(verb, "add") == 0) {
            grove_buf_clear(&b);
            assert_int_equal(grove_node_write_json(what, 0, &b, NULL), 0);
            cluster_add(c, b.data);
        } else if (strcmp(verb, "starve") != 0) {
            break;
        }
    }
    grove_buf_fini(&b);
    grove_doc_unref(doc);
    free(file);
    snprintf(text, sizeof text, "{\"spec\":{\"updateStrategy\":{\"type\":\"%s\"}}}", strategy);
    cluster_merge(c, GV_KIND_PODCLIQUESET, "s", text);
    cluster_live(c, 30);
}

static bool is_child(const object *o) {
    return !o->gone && o->kind != GV_KIND_POD && o->kind != GV_KIND_PODCLIQUESET &&
           grove_node_at_path(grove_doc_root(o->doc), "/metadata/ownerReferences/0/uid") != NULL;
}

static char *labels_of(cluster *c, uint32_t i) {
    grove_buf b;
    grove_buf_init(&b, c->env);
    assert_int_equal(grove_node_write_json(
                         grove_node_at_path(grove_doc_root(c->objects[i].doc), "/metadata/labels"),
                         GROVE_WRITE_CANONICAL, &b, NULL),
                     0);
    char *copy = malloc((size_t)b.len + 1);
    assert_non_null(copy);
    memcpy(copy, b.data, (size_t)b.len + 1);
    grove_buf_fini(&b);
    return copy;
}

/* The label is written over (NULL: taken off), and everything is as before when all rests; no pod goes. */
static void disturb(cluster *c, uint32_t i, const char *key, const char *value) {
    char text[256], name[128];
    char *before = labels_of(c, i);
    uint32_t deletes = c->deletes, creates = c->creates;
    gv_kind kind = c->objects[i].kind;
    snprintf(name, sizeof name, "%s", c->objects[i].name);
    snprintf(text, sizeof text, "{\"metadata\":{\"labels\":{\"%s\":%s%s%s}}}", key,
             value ? "\"" : "", value ? value : "null", value ? "\"" : "");
    cluster_merge(c, kind, name, text);
    cluster_settle(c, 12);
    char *after = labels_of(c, i);
    if (c->objects[i].gone || strcmp(before, after) != 0 || c->deletes != deletes ||
        c->creates != creates) {
        fail_msg("%s %s, label %s = %s: before %s, after %s, %u deletes", gv_kind_get(kind)->name,
                 name, key, value ? value : "none", before, after, c->deletes - deletes);
    }
    free(before);
    free(after);
}

static void assert_foreign_stays(cluster *c, uint32_t i) {
    char name[128];
    gv_kind kind = c->objects[i].kind;
    snprintf(name, sizeof name, "%s", c->objects[i].name);
    cluster_merge(c, kind, name, "{\"metadata\":{\"labels\":{\"example.com/x\":\"y\"}}}");
    cluster_settle(c, 12);
    if (strcmp(cluster_text(c, kind, name, "/metadata/labels/example.com~1x"), "y") != 0) {
        fail_msg("%s %s lost somebody's label", gv_kind_get(kind)->name, name);
    }
    cluster_merge(c, kind, name, "{\"metadata\":{\"labels\":{\"example.com/x\":null}}}");
}

/* Every label of every child; kinds met are noted. */
static void disturb_all(const char *play, const char *strategy, bool met[GV_KIND_COUNT]) {
    cluster c;
    cluster_open(&c, "s");
    begin(&c, play, strategy);
    for (uint32_t i = 0; i < c.n; i++) {
        if (!is_child(&c.objects[i])) {
            continue;
        }
        met[c.objects[i].kind] = true;
        grove_doc *doc = grove_doc_ref(c.objects[i].doc);
        GV_EACH(label, grove_node_at_path(grove_doc_root(doc), "/metadata/labels")) {
            const char *key = grove_node_key(label, NULL);
            if (strcmp(key, HASH) != 0) { /* it says which template, not whose */
                disturb(&c, i, key, NULL);
                disturb(&c, i, key, "theirs");
            }
        }
        grove_doc_unref(doc);
        assert_foreign_stays(&c, i);
    }
    cluster_close(&c);
}

static void test_every_kind(void **state) {
    static const char *const plays[] = {"rich", "kai", "volcano", "claims", "update"};
    static const gv_kind kinds[] = {GV_KIND_PODCLIQUE,
                                    GV_KIND_PODCLIQUESCALINGGROUP,
                                    GV_KIND_PODGANG,
                                    GV_KIND_SERVICE,
                                    GV_KIND_SERVICEACCOUNT,
                                    GV_KIND_ROLE,
                                    GV_KIND_ROLEBINDING,
                                    GV_KIND_SECRET,
                                    GV_KIND_HPA,
                                    GV_KIND_RESOURCECLAIM,
                                    GV_KIND_COMPUTEDOMAIN,
                                    GV_KIND_KAI_PODGROUP,
                                    GV_KIND_VOLCANO_PODGROUP};
    bool met[GV_KIND_COUNT] = {false};
    (void)state;
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        disturb_all(plays[i], "RollingRecreate", met);
        disturb_all(plays[i], "OnDelete", met);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!met[kinds[i]]) {
            fail_msg("no play has a %s", gv_kind_get(kinds[i])->name);
        }
    }
}

static void assert_writes_nothing(cluster *c) {
    grove_plan *plan = cluster_plan(c);
    assert_int_equal(grove_plan_actions(plan), 0);
    grove_plan_unref(plan);
}

/* Those of a pod's labels that its record holds: put back, and the pod stays. The others of its place come along. */
static void disturb_pod(cluster *c, uint32_t i) {
    static const char *const keys[] = {"app.kubernetes.io/part-of", "grove.io/podclique",
                                       "grove.io/podclique-pod-index", "grove.io/podgang"};
    static const char *const places[] = {"grove.io/podcliqueset-replica-index",
                                         "grove.io/podcliquescalinggroup",
                                         "grove.io/podcliquescalinggroup-replica-index"};
    char name[128], text[256];
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        disturb(c, i, keys[k], NULL);
    }
    disturb(c, i, keys[0], "theirs");
    disturb(c, i, keys[1], "theirs");
    disturb(c, i, keys[2], "seven");
    disturb(c, i, keys[2], "1"); /* of another pod, perhaps: the host name tells whose it is */
    disturb(c, i, keys[2], "0");
    char *before = labels_of(c, i);
    snprintf(name, sizeof name, "%s", c->objects[i].name);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        snprintf(text, sizeof text, "{\"metadata\":{\"labels\":{\"%s\":null}}}", places[k]);
        cluster_merge(c, GV_KIND_POD, name, text);
    }
    assert_writes_nothing(c); /* they are not seen to be gone */
    cluster_merge(c, GV_KIND_POD, name,
                  "{\"metadata\":{\"labels\":{\"grove.io/podclique\":null}}}");
    cluster_settle(c, 12);
    char *after = labels_of(c, i);
    assert_string_equal(after, before);
    assert_writes_nothing(c);
    free(before);
    free(after);
}

static void test_pods(void **state) {
    static const char *const plays[] = {"rich", "kai", "update"};
    (void)state;
    for (size_t k = 0; k < sizeof plays / sizeof *plays; k++) {
        uint32_t met = 0;
        cluster c;
        cluster_open(&c, "s");
        begin(&c, plays[k], "RollingRecreate");
        for (uint32_t i = 0; i < c.n; i++) {
            if (c.objects[i].kind == GV_KIND_POD && !c.objects[i].gone) {
                disturb_pod(&c, i);
                assert_foreign_stays(&c, i);
                met++;
            }
        }
        assert_true(met > 2);
        cluster_close(&c);
    }
}

/* Without the label that watches select by it is out of sight for some: nobody writes to it, and it stays. */
static void test_pod_out_of_sight(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    begin(&c, "rich", "RollingRecreate");
    uint32_t i = 0, deletes = c.deletes;
    while (c.objects[i].kind != GV_KIND_POD || c.objects[i].gone) {
        i++;
    }
    cluster_merge(&c, GV_KIND_POD, c.objects[i].name,
                  "{\"metadata\":{\"labels\":{\"app.kubernetes.io/managed-by\":null,"
                  "\"grove.io/podclique\":null}}}");
    char *bent = labels_of(&c, i);
    cluster_settle(&c, 12);
    char *after = labels_of(&c, i);
    assert_string_equal(after, bent);
    assert_int_equal(c.deletes, deletes);
    free(bent);
    free(after);
    cluster_close(&c);
}

/* Who takes the owner reference off lets the pod go: another one takes its index, nobody touches it. */
static void test_pod_let_go(void **state) {
    (void)state;
    cluster c;
    cluster_open(&c, "s");
    begin(&c, "rich", "RollingRecreate");
    uint32_t i = 0, deletes = c.deletes, creates = c.creates;
    while (c.objects[i].kind != GV_KIND_POD || c.objects[i].gone) {
        i++;
    }
    cluster_merge(&c, GV_KIND_POD, c.objects[i].name,
                  "{\"metadata\":{\"ownerReferences\":null,\"labels\":{"
                  "\"grove.io/podclique-pod-index\":null}}}");
    char *bent = labels_of(&c, i);
    cluster_live(&c, 20);
    char *after = labels_of(&c, i);
    assert_string_equal(after, bent);
    assert_int_equal(c.deletes, deletes);
    assert_int_equal(c.creates, creates + 1);
    free(bent);
    free(after);
    cluster_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind), cmocka_unit_test(test_pods),
        cmocka_unit_test(test_pod_out_of_sight), cmocka_unit_test(test_pod_let_go)};
    return cmocka_run_group_tests_name("plan labels", tests, NULL, NULL);
}
