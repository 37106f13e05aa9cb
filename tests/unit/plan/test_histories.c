/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories, told whole: the sets of the plays (tests/golden/plan) are scaled, changed, disturbed,
 * refused, placed and deleted, and every byte of every plan and explanation made meanwhile goes into one
 * number a history (tests/golden/plan-histories.txt). A planner without a past must make the same plan, and
 * so must one whose store heard of the objects in another order.
 *
 * When a number changes: PLAN_HISTORY=N prints history N, before and after the change; what differs must be
 * meant. GROVE_UPDATE_GOLDEN=1 writes the numbers anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/prng.h"
#include "base/text.h"
#include "cluster.h"
#include "support/files.h"
#include "value/doc.h"

#define SECOND INT64_C(1000000000)
#define HISTORIES 96u
#define STEPS 40

typedef struct history {
    cluster c;
    gv_prng r;
    grove_buf text;
    uint64_t hash;
    uint32_t plans, actions, waits, images;
    bool told; /* printed, for those who compare */
    grove_refusal refusal;
    grove_placement placement;
    grove_placed_pod placed[8];
    object pods[8]; /* copies: the table of the cluster moves when it grows */
    char gang[128], refused[128];
} history;

static uint32_t below(history *h, uint32_t n) {
    return n ? (uint32_t)gv_prng_below(&h->r, n) : 0;
}

static bool dying(const object *o) {
    return grove_node_at_path(grove_doc_root(o->doc), "/metadata/deletionTimestamp") != NULL;
}

/* Some living object, not on its way out; NULL: none. */
static object *some(history *h, gv_kind kind) {
    object *found = NULL;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < h->c.n; i++) {
        object *o = &h->c.objects[i];
        if (!o->gone && o->kind == kind && !dying(o) && below(h, ++seen) == 0) {
            found = o;
        }
    }
    return found;
}

/* ---- what is told ---- */

static void tell(history *h) {
    h->hash = gv_fnv1a(h->hash, h->text.data, (size_t)h->text.len);
    if (h->told) {
        print_message("%s\n", h->text.data);
    }
    grove_buf_clear(&h->text);
}

/* The plan in the words of `plan`, made by a planner without a past. */
static void compare_fresh(history *h, const grove_plan *plan) {
    grove_planner *planner = h->c.planner;
    grove_buf text;
    assert_int_equal(grove_planner_new(h->c.env, &h->c.planner), 0);
    grove_plan *fresh = cluster_plan(&h->c);
    grove_buf_init(&text, h->c.env);
    assert_int_equal(grove_plan_write_json(fresh, 0, &text, NULL), 0);
    assert_int_equal(grove_plan_write_json(plan, 0, &h->text, NULL), 0);
    assert_string_equal(h->text.data, text.data);
    grove_buf_clear(&h->text);
    grove_buf_fini(&text);
    grove_plan_unref(fresh);
    grove_planner_free(h->c.planner);
    h->c.planner = planner;
}

static int64_t version_of(const object *o) {
    const char *text = grove_node_text(
        grove_node_at_path(grove_doc_root(o->doc), "/metadata/resourceVersion"));
    assert_non_null(text);
    return strtoll(text, NULL, 10);
}

static int by_end(const void *a, const void *b) {
    int64_t x = version_of(*(object *const *)a), y = version_of(*(object *const *)b);
    return (x > y) - (x < y);
}

static void shuffle(gv_prng *r, object **v, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)gv_prng_below(r, i);
        object *swap = v[i - 1];
        v[i - 1] = v[k];
        v[k] = swap;
    }
}

/* Who watched from the beginning and heard of everything in another order: owners and the rest first, then
 * the pods that are gone, whose uids name their successors, then those that are there. */
static void hear_shuffled(history *h, gv_prng *r, grove_store *store) {
    object **v = malloc((h->c.n + 1) * sizeof(object *));
    assert_non_null(v);
    for (int pass = 0; pass < 3; pass++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < h->c.n; i++) {
            object *o = &h->c.objects[i];
            bool pod = o->kind == GV_KIND_POD;
            if (pass == 1 ? pod && o->gone : !o->gone && pod == (pass == 2)) {
                v[n++] = o;
            }
        }
        if (pass == 1) {
            qsort(v, n, sizeof *v, by_end);
        } else {
            shuffle(r, v, n);
        }
        for (uint32_t i = 0; i < n; i++) {
            const grove_node *root = grove_doc_root(v[i]->doc);
            assert_int_equal(grove_store_put(store, v[i]->doc, root, NULL), 0);
            assert_true(pass != 1 || grove_store_remove(store, root, NULL) == GROVE_OK);
        }
    }
    free(v);
}

static void compare_shuffled(history *h, const grove_plan *plan) {
    grove_store *store = h->c.store;
    gv_prng r; /* its own: what is drawn here moves nothing of the history */
    gv_prng_seed(&r, h->hash);
    assert_int_equal(grove_store_new(h->c.env, &h->c.store), 0);
    hear_shuffled(h, &r, h->c.store);
    compare_fresh(h, plan);
    grove_store_free(h->c.store);
    h->c.store = store;
}

/* One plan, told and applied, or half of it; the number of actions but events. */
static uint32_t round_of(history *h, uint32_t permille) {
    grove_plan *plan = cluster_plan(&h->c);
    grove_kind kind = (grove_kind)(1 + below(h, 5));
    h->plans++;
    h->actions += grove_plan_actions(plan);
    h->waits += grove_plan_waits(plan);
    assert_int_equal(grove_plan_write_json(plan, 0, &h->text, NULL), 0);
    gv_buf_fmt(&h->text, "\nagain at %lld\n", (long long)grove_plan_deadline(plan));
    grove_plan_explain(plan, below(h, 3) ? GROVE_KIND_NONE : kind, NULL, h->c.now, &h->text, NULL);
    tell(h);
    if (below(h, 4) == 0) {
        compare_fresh(h, plan);
        compare_shuffled(h, plan);
    }
    grove_plan_unref(plan);
    h->c.keep_permille = permille;
    h->c.drop = &h->r;
    return cluster_round(&h->c);
}

/* ---- events: somebody writes ---- */

static void scale(history *h) {
    static const gv_kind kinds[] = {GV_KIND_PODCLIQUE, GV_KIND_PODCLIQUESCALINGGROUP,
                                    GV_KIND_PODCLIQUESET};
    uint32_t which = below(h, 3);
    object *o = some(h, kinds[which]);
    char text[64];
    if (o) {
        snprintf(text, sizeof text, "{\"spec\":{\"replicas\":%u}}", below(h, which == 2 ? 3 : 5));
        cluster_merge(&h->c, o->kind, o->name, text);
    }
}

/* A change of the template of one clique, the rest as it is. */
static void change_clique(history *h) {
    const grove_node *cliques = cluster_node(&h->c, GV_KIND_PODCLIQUESET, "s",
                                             "/spec/template/cliques");
    uint32_t k = below(h, grove_node_size(cliques));
    char text[256];
    switch (below(h, 6)) {
    case 0:
        snprintf(text, sizeof text,
                 "[{\"op\":\"add\",\"path\":\"/spec/template/cliques/%u/labels\",\"value\":"
                 "{\"v\":\"%u\"}}]",
                 k, ++h->images);
        break;
    case 1:
        snprintf(text, sizeof text,
                 "[{\"op\":\"add\",\"path\":\"/spec/template/cliques/%u/annotations\",\"value\":"
                 "{\"v\":\"%u\"}}]",
                 k, ++h->images);
        break;
    case 2: /* live replicas win over it, but for cliques yet to come */
        snprintf(text, sizeof text,
                 "[{\"op\":\"add\",\"path\":\"/spec/template/cliques/%u/spec/replicas\",\"value\":"
                 "%u}]",
                 k, 1 + below(h, 4));
        break;
    default:
        snprintf(text, sizeof text,
                 "[{\"op\":\"add\",\"path\":\"/spec/template/cliques/%u/spec/podSpec/containers/0/"
                 "image\",\"value\":\"v%u\"}]",
                 k, ++h->images);
        break;
    }
    cluster_patch(&h->c, GV_KIND_PODCLIQUESET, "s", text);
}

static void change_set(history *h) {
    static const char unpublished[] = "{\"spec\":{\"template\":{\"headlessServiceConfig\":"
                                      "{\"publishNotReadyAddresses\":false}}}}";
    static const char *const changes[] = {
        "{\"spec\":{\"updateStrategy\":{\"type\":\"OnDelete\"}}}",
        "{\"spec\":{\"updateStrategy\":{\"type\":\"RollingRecreate\"}}}",
        "{\"spec\":{\"template\":{\"terminationDelay\":\"5s\"}}}",
        "{\"spec\":{\"template\":{\"terminationDelay\":\"1m\"}}}",
        unpublished,
        "{\"spec\":{\"template\":{\"priorityClassName\":\"other\"}}}",
        "{\"metadata\":{\"labels\":{\"kai.scheduler/queue\":\"z\"}}}",
        "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/queue-name\":\"z\"}}}",
    };
    cluster_merge(&h->c, GV_KIND_PODCLIQUESET, "s",
                  changes[below(h, sizeof changes / sizeof *changes)]);
}

/* Some object that the planner made, pods aside; NULL: none. */
static object *some_child(history *h) {
    object *found = NULL;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < h->c.n; i++) {
        object *o = &h->c.objects[i];
        if (!o->gone && o->kind != GV_KIND_POD && !dying(o) &&
            grove_node_at_path(grove_doc_root(o->doc), "/metadata/ownerReferences/0") &&
            below(h, ++seen) == 0) {
            found = o;
        }
    }
    return found;
}

/* The way to some member below `node` is appended to `path`; the member. */
static const grove_node *some_member(history *h, const grove_node *node, grove_buf *path) {
    while (grove_node_size(node) > 0) {
        uint32_t k = below(h, grove_node_size(node));
        const grove_node *child = grove_node_at(node, k);
        if (grove_node_type(node) == GROVE_ARRAY) {
            gv_buf_fmt(path, "/%u", (unsigned)k);
        } else {
            gv_buf_c(path, "/");
            for (const char *key = grove_node_key(child, NULL); *key; key++) {
                gv_buf_fmt(path, *key == '/' ? "~1" : *key == '~' ? "~0" : "%c", *key);
            }
        }
        node = child;
        if (below(h, 4) == 0) {
            break;
        }
    }
    return node;
}

/* Any member of any child is changed, taken away or joined by another. */
static void edit_child(history *h, const object *o) {
    static const char *const parts[] = {
        "/spec",  "/spec",     "/metadata/labels", "/metadata/annotations",
        "/rules", "/subjects", "/roleRef"};
    grove_buf path, patch;
    grove_buf_init(&path, h->c.env);
    grove_buf_init(&patch, h->c.env);
    gv_buf_c(&path, parts[below(h, 7)]);
    const grove_node *node = some_member(h, grove_node_at_path(grove_doc_root(o->doc), path.data),
                                         &path);
    grove_type type = grove_node_type(node);
    int64_t number = 0;
    grove_node_int64(node, &number);
    uint32_t how = below(h, 3);
    gv_buf_fmt(&patch, "[{\"op\":\"%s\",\"path\":\"%s%s\"", how == 0 ? "remove" : "add", path.data,
               how == 0               ? ""
               : type == GROVE_ARRAY  ? "/-"
               : type == GROVE_OBJECT ? "/mine"
                                      : "");
    if (how > 0 && (type == GROVE_NUMBER || type == GROVE_BOOL)) {
        gv_buf_fmt(&patch, ",\"value\":%lld", (long long)number + 1);
    } else if (how > 0) {
        gv_buf_c(&patch, ",\"value\":\"mine\"");
    }
    gv_buf_c(&patch, "}]");
    if (type != GROVE_MISSING) {
        cluster_patch(&h->c, o->kind, o->name, patch.data);
    }
    grove_buf_fini(&path);
    grove_buf_fini(&patch);
}

/* Somebody touches a child that is not his. */
static void drift(history *h) {
    static const char of_others[] =
        "{\"spec\":{\"reuseReservationRef\":{\"name\":\"x\"},\"queue\":\"theirs\","
        "\"markUnschedulable\":true,\"schedulingBackoff\":1}}";
    static const char *const changes[] = {
        "{\"metadata\":{\"finalizers\":null}}",
        "{\"status\":null}",
        "{\"spec\":{\"minAvailable\":1}}",
        "{\"metadata\":{\"ownerReferences\":null}}",
        of_others,
    };
    object *o = some_child(h);
    uint32_t how = below(h, 12);
    if (o && how < 3) {
        cluster_delete(&h->c, o->kind, o->name);
    } else if (o && how < 6) {
        cluster_merge(&h->c, o->kind, o->name, changes[below(h, 5)]);
    } else if (o) {
        edit_child(h, o);
    }
}

/* ---- events: pods ---- */

#define READY_IS(value)                                                                            \
    "{\"type\":\"PodScheduled\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"" value "\"" \
    "}"

static void disturb_pod(history *h) {
    static const char evicted[] = "{\"status\":{\"conditions\":[" READY_IS(
        "False") ",{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
                 "\"EvictionByEvictionAPI\"}]}}";
    static const char unschedulable[] =
        "{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
        "\"Unschedulable\",\"message\":\"no room\"}]}}";
    static const char restarting[] = "{\"status\":{\"phase\":\"Running\",\"conditions\":[" READY_IS(
        "False") "],\"containerStatuses\":[{\"name\":\"c\",\"started\":false,\"ready\":false,"
                 "\"restartCount\":3,\"lastState\":{\"terminated\":{\"exitCode\":1}}}]}}";
    static const char *const changes[] = {
        "{\"status\":{\"phase\":\"Failed\",\"conditions\":[]}}",
        "{\"status\":{\"phase\":\"Succeeded\"}}",
        "{\"status\":{\"phase\":\"Unknown\"}}",
        "{\"metadata\":{\"labels\":{\"grove.io/podclique-pod-index\":\"0\"}}}",
        "{\"metadata\":{\"labels\":{\"grove.io/podclique-pod-index\":\"x\"}}}",
        evicted,
        unschedulable,
        restarting,
    };
    object *o = some(h, GV_KIND_POD);
    if (!o || cluster_ended(o)) {
        return;
    }
    switch (below(h, 8)) {
    case 0:
        cluster_delete(&h->c, GV_KIND_POD, o->name);
        break;
    case 1: /* terminates slowly */
        cluster_merge(&h->c, GV_KIND_POD, o->name, "{\"metadata\":{\"finalizers\":[\"x/slow\"]}}");
        cluster_delete(&h->c, GV_KIND_POD, o->name);
        break;
    case 2:
    case 3:
        if (!cluster_gated(o)) {
            cluster_ready(&h->c, o, below(h, 2));
        }
        break;
    case 4:
        if (!cluster_gated(o)) {
            cluster_bind(&h->c, o);
        }
        break;
    default:
        cluster_merge(&h->c, GV_KIND_POD, o->name, changes[below(h, 8)]);
        break;
    }
}

static void finish_slow_pods(history *h) {
    for (uint32_t i = 0; i < h->c.n; i++) {
        object *o = &h->c.objects[i];
        if (!o->gone && o->kind == GV_KIND_POD && dying(o)) {
            cluster_merge(&h->c, GV_KIND_POD, o->name, "{\"metadata\":{\"finalizers\":null}}");
        }
    }
}

/* ---- events: the cluster and the engine ---- */

static void refuse(history *h) {
    static const gv_kind kinds[] = {GV_KIND_POD, GV_KIND_PODCLIQUE, GV_KIND_PODGANG,
                                    GV_KIND_PODCLIQUESCALINGGROUP};
    static const grove_verb verbs[] = {GROVE_VERB_CREATE, GROVE_VERB_PATCH, GROVE_VERB_DELETE};
    static const int32_t https[] = {403, 409, 422, 500, 0};
    gv_kind kind = kinds[below(h, 4)];
    object *o = some(h, kind);
    h->c.n_refusals = 0;
    if (!o || below(h, 3) == 0) {
        return;
    }
    snprintf(h->refused, sizeof h->refused, "%s", o->name);
    h->refusal = (grove_refusal){.size = sizeof h->refusal,
                                 .kind = (grove_kind)kind,
                                 .name = h->refused,
                                 .message = "the cluster says no",
                                 .at_ns = h->c.now};
    h->refusal.verb = verbs[below(h, 3)];
    h->refusal.http = https[below(h, 5)];
    h->refusal.retry_ns = h->c.now + (1 + below(h, 30)) * SECOND;
    h->refusal.subresource = below(h, 2) ? GROVE_SUBRESOURCE_STATUS : GROVE_SUBRESOURCE_NONE;
    h->c.refusals[0] = &h->refusal;
    h->c.n_refusals = 1;
}

/* The engine has decided about some gang: nodes for some of its pods, or none. */
static void decide(history *h) {
    static const char *const nodes[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
    static const uint32_t scores[] = {0, 1, 750, 999, 1000, 1001};
    static const grove_gang_verdict other[] = {GROVE_VERDICT_INFEASIBLE, GROVE_VERDICT_UNKNOWN,
                                               GROVE_VERDICT_NONE};
    object *gang = some(h, GV_KIND_PODGANG);
    uint32_t n = 0, most = below(h, 9);
    h->c.n_placements = 0;
    if (!gang || below(h, 4) == 0) {
        return;
    }
    snprintf(h->gang, sizeof h->gang, "%s", gang->name);
    for (uint32_t i = 0; i < h->c.n && n < most; i++) {
        const object *o = &h->c.objects[i];
        const char *of = grove_node_text(
            grove_node_at_path(grove_doc_root(o->doc), "/metadata/labels/grove.io~1podgang"));
        if (!o->gone && o->kind == GV_KIND_POD && !dying(o) && !cluster_ended(o) && of &&
            strcmp(of, h->gang) == 0) {
            h->pods[n] = *o;
            h->placed[n] = (grove_placed_pod){h->pods[n].name, h->pods[n].uid, nodes[n]};
            n++;
        }
    }
    h->placement = (grove_placement){.size = sizeof h->placement,
                                     .gang = h->gang,
                                     .reason = n ? "" : "InsufficientCapacity",
                                     .text = n ? "" : "two nodes more would do",
                                     .pods = h->placed,
                                     .n_pods = n,
                                     .score = n ? scores[below(h, 6)] : 0,
                                     .retry_ns = GROVE_NEVER};
    h->placement.verdict = n ? GROVE_VERDICT_PLACED : other[below(h, 3)];
    h->c.placements[0] = &h->placement;
    h->c.n_placements = 1;
}

/* The cluster's topology loses levels, or topology is switched off; sometimes all is as it was built in. */
static void reconfigure(history *h) {
    static const char *const levels[] = {
        "{domain: zone, key: x/zone}, {domain: host, key: kubernetes.io/hostname}",
        "{domain: rack, key: x/rack}, {domain: host, key: kubernetes.io/hostname}",
        "{domain: zone, key: x/zone}, {domain: rack, key: x/rack}",
        "{domain: zone, key: y/zone}, {domain: rack, key: x/rack}, {domain: host, key: h}"};
    grove_doc *doc = NULL;
    grove_config_unref(h->c.config);
    h->c.config = NULL;
    if (below(h, 6) == 0) {
        return;
    }
    gv_buf_c(&h->text,
             "[{apiVersion: operator.config.grove.io/v1alpha1, kind: OperatorConfiguration, "
             "topologyAwareScheduling: {enabled: ");
    gv_buf_c(&h->text, below(h, 5) ? "true" : "false");
    gv_buf_c(&h->text,
             "}}, {apiVersion: grove.io/v1alpha1, kind: ClusterTopologyBinding, metadata: "
             "{name: topo}, spec: {levels: [");
    gv_buf_c(&h->text, levels[below(h, 4)]);
    gv_buf_c(&h->text, "]}}]");
    assert_int_equal(
        grove_doc_parse_yaml(h->c.env, h->text.data, (size_t)h->text.len, 0, &doc, NULL), 0);
    grove_buf_clear(&h->text);
    assert_int_equal(grove_config_new(h->c.env, &h->c.config), 0);
    GV_EACH(entry, grove_doc_root(doc)) {
        assert_int_equal(grove_config_add(h->c.config, doc, entry, NULL), 0);
    }
    grove_doc_unref(doc);
}

static void step(history *h) {
    switch (below(h, 16)) {
    case 0:
    case 1:
        scale(h);
        break;
    case 2:
        change_clique(h);
        break;
    case 3:
        change_set(h);
        break;
    case 4:
    case 14:
        drift(h);
        break;
    case 15:
        if (below(h, 3) == 0) {
            reconfigure(h);
        }
        break;
    case 5:
        h->c.now += below(h, 40) * SECOND;
        break;
    case 6:
        grove_planner_free(h->c.planner);
        assert_int_equal(grove_planner_new(h->c.env, &h->c.planner), 0);
        break;
    case 7:
        finish_slow_pods(h);
        break;
    case 8:
        refuse(h);
        break;
    case 9:
        decide(h);
        break;
    default:
        disturb_pod(h);
        break;
    }
}

/* ---- one history ---- */

/* What a play begins with: configuration, nodes, the set. */
static void begin(history *h, const char *name) {
    char path[64];
    grove_doc *doc = NULL;
    snprintf(path, sizeof path, "tests/golden/plan/%s.yaml", name);
    char *text = test_read(path, NULL);
    assert_int_equal(
        grove_doc_parse_yaml(h->c.env, text, strlen(text), GROVE_PARSE_STRICT, &doc, NULL), 0);
    GV_EACH(one, grove_node_get(grove_doc_root(doc), "steps")) {
        const char *verb = grove_node_text(grove_node_at(one, 0));
        const grove_node *what = grove_node_at(one, 1);
        if (strcmp(verb, "config") == 0) {
            assert_int_equal(grove_config_new(h->c.env, &h->c.config), 0);
            GV_EACH(entry, what) {
                assert_int_equal(grove_config_add(h->c.config, doc, entry, NULL), 0);
            }
        } else if (strcmp(verb, "add") == 0) {
            assert_int_equal(grove_node_write_json(what, 0, &h->text, NULL), 0);
            cluster_add(&h->c, h->text.data);
            grove_buf_clear(&h->text);
        } else if (strcmp(verb, "starve") != 0) {
            break;
        }
    }
    grove_doc_unref(doc);
    free(text);
}

static void end(history *h) {
    h->c.n_refusals = h->c.n_placements = 0;
    finish_slow_pods(h);
    for (int i = 0; i < 6 && round_of(h, 1000) > 0; i++) {
        cluster_run_pods(&h->c);
    }
    cluster_delete(&h->c, GV_KIND_PODCLIQUESET, "s");
    for (int i = 0; i < 6; i++) {
        finish_slow_pods(h);
        if (round_of(h, 1000) == 0) {
            break;
        }
    }
}

static void one_history(uint32_t number, grove_buf *out) {
    static const char *const names[] = {"update", "rich",   "kai",      "volcano",
                                        "gates",  "breach", "affinity", "claims"};
    const char *name = names[number % 8], *told = getenv("PLAN_HISTORY");
    static history h;
    memset(&h, 0, sizeof h);
    h.hash = GV_FNV_START;
    h.told = told && strtoul(told, NULL, 10) == number;
    gv_prng_seed(&h.r, 4400 + number);
    cluster_open(&h.c, "s");
    grove_buf_init(&h.text, h.c.env);
    begin(&h, name);
    if (number % 16 >= 8) {
        for (uint32_t i = 0; i < 12 && round_of(&h, 1000) > 0; i++) {
            cluster_run_pods(&h.c);
        }
    }
    for (int i = 0; i < STEPS; i++) {
        step(&h);
        for (uint32_t k = below(&h, 4); k > 0; k--) {
            round_of(&h, below(&h, 3) == 0 ? 500 : 1000);
        }
        if (below(&h, 3) == 0) {
            cluster_run_pods(&h.c);
        }
    }
    end(&h);
    gv_buf_fmt(out, "%u %s: %u plans, %u actions, %u waits, %016llx\n", (unsigned)number, name,
               (unsigned)h.plans, (unsigned)h.actions, (unsigned)h.waits,
               (unsigned long long)h.hash);
    grove_buf_fini(&h.text);
    cluster_close(&h.c);
}

static void test_histories(void **state) {
    (void)state;
    grove_buf out;
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), 0);
    grove_buf_init(&out, env);
    for (uint32_t i = 0; i < HISTORIES; i++) {
        one_history(i, &out);
    }
    test_golden("plan-histories.txt", out.data, (size_t)out.len);
    grove_buf_fini(&out);
    grove_env_unref(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histories),
    };
    return cmocka_run_group_tests_name("plan histories", tests, NULL, NULL);
}
