/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning: a settled set of 500 cliques, and sets of 1,000 and 10,000 pods from nothing. Only the time
 * inside grove_plan_make counts; a table applies what it says.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "plan/plan.h"

static uint64_t allocations;

static void *count_alloc(void *ctx, size_t n) {
    (void)ctx;
    allocations++;
    return malloc(n);
}
static void *count_resize(void *ctx, void *p, size_t old_n, size_t n) {
    (void)ctx;
    (void)old_n;
    allocations++;
    return realloc(p, n);
}
static void count_release(void *ctx, void *p, size_t n) {
    (void)ctx;
    (void)n;
    free(p);
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef struct bench {
    grove_env *env;
    grove_store *store;
    grove_planner *planner;
    gv_map docs; /* "kind/name" -> document */
    uint64_t version, next_uid;
    int64_t now;
    double spent; /* inside grove_plan_make */
    uint64_t actions, pod_actions;
} bench;

static void fail(const char *what) {
    fprintf(stderr, "bench plan: %s\n", what);
    exit(1);
}

static grove_doc *merge_text(bench *b, grove_doc *doc, const char *json) {
    grove_doc *patch = NULL, *out = NULL;
    if (grove_doc_parse_json(b->env, json, strlen(json), 0, &patch, NULL) < 0 ||
        grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &out,
                                NULL) < 0) {
        fail("merge");
    }
    grove_doc_unref(patch);
    return out;
}

static void keep(bench *b, int32_t kind, const char *name, grove_doc *doc) {
    char key[256];
    size_t n = gv_fmt(key, sizeof key, "%d/%s", (int)kind, name);
    grove_doc_unref(gv_map_get(&b->docs, (gv_str){key, n}));
    if (!gv_map_put(&b->docs, (gv_str){key, n}, doc) ||
        grove_store_put(b->store, doc, grove_doc_root(doc), NULL) < 0) {
        fail("store");
    }
}

static grove_doc *known(bench *b, int32_t kind, const char *name) {
    char key[256];
    size_t n = gv_fmt(key, sizeof key, "%d/%s", (int)kind, name);
    grove_doc *doc = gv_map_get(&b->docs, (gv_str){key, n});
    if (doc == NULL) {
        fail("unknown object");
    }
    return doc;
}

static void apply(bench *b, const grove_action *a) {
    char text[512];
    grove_doc *next = NULL;
    if (a->verb == GROVE_VERB_EVENT) {
        return;
    }
    b->actions++;
    b->pod_actions += a->kind == GROVE_KIND_POD ? 1 : 0;
    if (a->verb == GROVE_VERB_CREATE) {
        snprintf(text, sizeof text,
                 "{\"metadata\":{\"uid\":\"u-%llu\",\"namespace\":\"t\",\"generation\":1,"
                 "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"resourceVersion\":\"%llu\"}}",
                 (unsigned long long)++b->next_uid, (unsigned long long)++b->version);
        keep(b, a->kind, a->name, merge_text(b, a->body, text));
        return;
    }
    grove_doc *doc = known(b, a->kind, a->name);
    grove_status s = a->patch_type == GROVE_PATCH_JSON
                         ? grove_json_patch_apply(doc, grove_doc_root(doc), a->body,
                                                  grove_doc_root(a->body), &next, NULL)
                         : grove_merge_patch_apply(doc, grove_doc_root(doc), a->body,
                                                   grove_doc_root(a->body), &next, NULL);
    if (a->verb != GROVE_VERB_PATCH || s < 0) {
        fail(a->text);
    }
    snprintf(text, sizeof text, "{\"metadata\":{\"resourceVersion\":\"%llu\"}}",
             (unsigned long long)++b->version);
    keep(b, a->kind, a->name, merge_text(b, next, text));
    grove_doc_unref(next);
}

static uint32_t plan_once(bench *b, bool apply_it) {
    grove_plan_request rq = {.size = sizeof rq, .ns = "t", .name = "s", .now_ns = b->now};
    grove_plan *plan = NULL;
    double start = cpu_seconds();
    if (grove_plan_make(b->planner, b->store, &rq, &plan, NULL) < 0) {
        fail("plan");
    }
    b->spent += cpu_seconds() - start;
    uint32_t n = grove_plan_actions(plan);
    for (uint32_t i = 0; apply_it && i < n; i++) {
        apply(b, grove_plan_action(plan, i));
    }
    grove_plan_unref(plan);
    return n;
}

static void begin(bench *b, int replicas, int cliques, int pods) {
    memset(b, 0, sizeof *b);
    grove_allocator a = {sizeof a, 0, NULL, count_alloc, count_resize, count_release};
    grove_env_options o = {.size = sizeof o, .allocator = &a};
    grove_buf text;
    grove_doc *doc = NULL;
    if (grove_env_new(&o, &b->env) < 0 || grove_store_new(b->env, &b->store) < 0 ||
        grove_planner_new(b->env, &b->planner) < 0) {
        fail("start");
    }
    gv_map_init(&b->docs, b->env);
    b->now = INT64_C(1800000000) * 1000000000;
    b->version = 10;
    grove_buf_init(&text, b->env);
    gv_buf_fmt(
        &text,
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":"
        "\"s\",\"namespace\":\"t\",\"uid\":\"u-s\",\"resourceVersion\":\"9\",\"generation\":1},"
        "\"spec\":{\"replicas\":%d,\"template\":{\"terminationDelay\":\"4h\",\"cliques\":[",
        replicas);
    for (int i = 0; i < cliques; i++) {
        gv_buf_fmt(
            &text,
            "%s{\"name\":\"c%d\",\"spec\":{\"roleName\":\"c%d\",\"replicas\":%d,"
            "\"minAvailable\":%d,\"podSpec\":{\"containers\":[{\"name\":\"main\",\"image\":"
            "\"example.com/i:1\",\"args\":[\"--a\"],\"env\":[{\"name\":\"A\",\"value\":\"b\"}],"
            "\"resources\":{\"limits\":{\"cpu\":\"4\",\"memory\":\"16Gi\",\"nvidia.com/gpu\":"
            "\"1\"}}}]}}}",
            i ? "," : "", i, i, pods, pods);
    }
    gv_buf_c(&text, "]}}}");
    if (grove_doc_parse_json(b->env, text.data, (size_t)text.len, 0, &doc, NULL) < 0) {
        fail("set");
    }
    grove_buf_fini(&text);
    keep(b, GROVE_KIND_PODCLIQUESET, "s", doc);
}

static void end(bench *b) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&b->docs, &i));) {
        grove_doc_unref(e->value);
    }
    gv_map_fini(&b->docs);
    grove_planner_free(b->planner);
    grove_store_free(b->store);
    grove_env_unref(b->env);
}

static void settle(bench *b) {
    for (int round = 0; plan_once(b, true) > 0; round++) {
        if (round > 50) {
            fail("does not settle");
        }
    }
}

static void figure(const char *name, double value, const char *unit, const char *setting) {
    printf("{\"bench\":\"plan\",\"figure\":\"%s\",\"value\":%.3f,\"unit\":\"%s\",\"setting\":\"%"
           "s\"}\n",
           name, value, unit, setting);
}

static void unchanged(void) {
    enum { ROUNDS = 200 };
    const char *setting = "500 set replicas of one clique of 2, settled";
    bench b;
    begin(&b, 500, 1, 2);
    settle(&b);
    uint32_t actions = 0;
    for (int i = 0; i < 3; i++) {
        actions += plan_once(&b, false);
    }
    b.spent = 0;
    uint64_t before = allocations;
    for (int i = 0; i < ROUNDS; i++) {
        actions += plan_once(&b, false);
    }
    figure("unchanged_ms", 1e3 * b.spent / ROUNDS, "ms", setting);
    figure("unchanged_actions", actions, "actions", setting);
    figure("unchanged_allocations", (double)(allocations - before) / ROUNDS, "allocations",
           setting);
    end(&b);
}

static double from_nothing(int replicas, int pods, const char *setting, const char *name) {
    bench b;
    begin(&b, replicas, 1, pods);
    settle(&b);
    double total = (double)replicas * pods;
    figure(name, 1e3 * b.spent, "ms", setting);
    figure("actions_per_pod", (double)b.actions / total, "actions", setting);
    figure("pod_actions_per_pod", (double)b.pod_actions / total, "actions", setting);
    double each = b.spent / total;
    end(&b);
    return each;
}

int main(void) {
    unchanged();
    double small = from_nothing(10, 100, "10 replicas of one clique of 100", "from_nothing_ms");
    double large = from_nothing(100, 100, "100 replicas of one clique of 100",
                                "from_nothing_10000_ms");
    figure("per_pod_ratio", large / small, "ratio", "10,000 pods against 1,000");
    from_nothing(1, 1000, "one clique of 1,000", "one_clique_ms");
    return 0;
}
