/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster with Grove in it, watched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

#define HOUR (3600 * SECOND)

#define SET(OF_SET, OF_CLIQUE, OF_GROUP)                                                         \
    "{\"apiVersion\":\"grove.io/"                                                                \
    "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\"},"                        \
    "\"spec\":{\"replicas\":1,\"template\":{\"terminationDelay\":\"1h\"," OF_SET "\"cliques\":[" \
    "{\"name\":\"router\"," OF_CLIQUE                                                            \
    "\"spec\":{\"roleName\":\"router\",\"replicas\":2,\"minAvailable\":1,"                       \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"r:1\"}]}}},"                       \
    "{\"name\":\"pre\",\"spec\":{\"roleName\":\"pre\",\"replicas\":1,"                           \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"p:1\",\"resources\":{\"limits\":"  \
    "{\"nvidia.com/gpu\":\"2\"}}}]}}},"                                                          \
    "{\"name\":\"dec\",\"spec\":{\"roleName\":\"dec\",\"replicas\":2,"                           \
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"d:1\",\"resources\":{\"limits\":"  \
    "{\"nvidia.com/gpu\":\"1\"}}}]}}}],"                                                         \
    "\"podCliqueScalingGroups\":[{\"name\":\"cell\",\"cliqueNames\":[\"pre\",\"dec\"],"          \
    "\"replicas\":2,\"minAvailable\":1" OF_GROUP "}]}}}"

const char world_set[] = SET("", "", "");

/* The same with what libgrove adds to Grove's API, as far as every scheduler can do it. */
const char world_set_extended[] = SET("\"placement\":{\"scaleIn\":\"FreeDomains\"},"
                                      "\"gangWait\":{\"timeout\":\"5m\",\"action\":\"Recreate\"},",
                                      "\"failurePolicy\":{\"backoff\":\"1s\"},",
                                      ",\"failurePolicy\":{\"backoff\":\"5s\"}");

static const char *text_at(const grove_node *object, const char *pointer) {
    const char *text = grove_node_text(grove_node_at_path(object, pointer));
    return text ? text : "";
}

static const char *label(const grove_node *object, const char *key) {
    const char *text = grove_node_text(
        grove_node_get(grove_node_at_path(object, "/metadata/labels"), key));
    return text ? text : "";
}

/* ---- promises that hold at every moment ---- */

void world_broken(world *w, const char *fmt, const char *a, const char *b) {
    if (w->broken++ == 0) {
        snprintf(w->first, sizeof w->first, fmt, a, b);
    }
}

static bool is_active(const grove_node *pod) {
    const char *phase = text_at(pod, "/status/phase");
    return !grove_node_at_path(pod, "/metadata/deletionTimestamp") &&
           strcmp(phase, "Failed") != 0 && strcmp(phase, "Succeeded") != 0;
}

/* Called by the cluster as it stores: must not ask the cluster, so it only notes. */
static void observe(void *ctx, int64_t now, const grove_event *event) {
    world *w = ctx;
    (void)now;
    if (event->kind != GROVE_KIND_POD) {
        return;
    }
    w->pods_changed = true;
    if (event->type == GROVE_EVENT_DELETED) {
        return;
    }
    const grove_node *pod = event->object;
    w->pod_creates += event->type == GROVE_EVENT_ADDED;
    bool gated = grove_node_size(grove_node_at_path(pod, "/spec/schedulingGates")) > 0;
    if (gated && text_at(pod, "/spec/nodeName")[0]) {
        world_broken(w, "pod %s is gated and bound to %s", text_at(pod, "/metadata/name"),
                     text_at(pod, "/spec/nodeName"));
    }
    if (!label(pod, "grove.io/podclique-pod-index")[0]) {
        world_broken(w, "pod %s has no index%s", text_at(pod, "/metadata/name"), "");
    }
}

/* Between instants: no two active pods of one clique share an index. */
static int check_moment(void *ctx, cluster *c) {
    world *w = ctx;
    grove_doc *list = NULL;
    if (!w->pods_changed) {
        return 0;
    }
    w->pods_changed = false;
    if (grove_sim_list(c->sim, GROVE_KIND_POD, NULL, NULL, &list, NULL) < 0) {
        return 1;
    }
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *a = grove_node_first(items); a; a = grove_node_next(items, a)) {
        for (const grove_node *b = grove_node_next(items, a); b; b = grove_node_next(items, b)) {
            bool same = strcmp(label(a, "grove.io/podclique"), label(b, "grove.io/podclique")) ==
                            0 &&
                        strcmp(label(a, "grove.io/podclique-pod-index"),
                               label(b, "grove.io/podclique-pod-index")) == 0 &&
                        strcmp(text_at(a, "/metadata/ownerReferences/0/uid"),
                               text_at(b, "/metadata/ownerReferences/0/uid")) == 0;
            if (same && is_active(a) && is_active(b)) {
                world_broken(w, "pods %s and %s share an index", text_at(a, "/metadata/name"),
                             text_at(b, "/metadata/name"));
            }
        }
    }
    if (w->promise) {
        w->promise(w, items);
    }
    grove_doc_unref(list);
    return 0;
}

void world_check_moment(world *w) {
    (void)check_moment(w, w->c);
}

/* ---- life ---- */

static void must(grove_status st, const grove_error *err, const char *what) {
    if (st < 0) {
        fail_msg("%s: %s: %s", what, grove_status_name(st), err->message);
    }
}

void world_start(world *w, grove_env *env, cluster_options options) {
    grove_error err = GROVE_ERROR_INIT;
    *w = (world){.env = env};
    options.engine_flags |= GROVE_ENGINE_CHECK;
    options.nodes = options.nodes ? options.nodes : "2x2x4x8";
    must(cluster_new(env, &options, &w->c, &err), &err, "cluster_new");
    grove_sim_observe(w->c->sim, observe, w);
}

void world_end(world *w) {
    cluster_free(w->c);
    w->c = NULL;
}

void world_apply(world *w, const char *text) {
    grove_error err = GROVE_ERROR_INIT;
    grove_stream *stream = NULL;
    must(grove_stream_new(w->env, text, strlen(text), 0, &stream, &err), &err, "stream");
    for (;;) {
        grove_doc *doc = NULL;
        must(grove_stream_next(stream, &doc, &err), &err, "parse");
        if (!doc) {
            break;
        }
        must(grove_sim_apply(w->c->sim, doc, NULL, &err), &err, "apply");
        grove_doc_unref(doc);
    }
    grove_stream_free(stream);
}

void world_scale(world *w, grove_kind kind, const char *name, int64_t replicas) {
    grove_error err = GROVE_ERROR_INIT;
    must(grove_sim_scale(w->c->sim, kind, "default", name, replicas, &err), &err, name);
}

void world_delete(world *w, grove_kind kind, const char *name) {
    grove_error err = GROVE_ERROR_INIT;
    must(grove_sim_delete(w->c->sim, kind, "default", name, &err), &err, name);
}

static void patch(world *w, grove_kind kind, const char *name, grove_patch_type type,
                  const char *text) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *body = NULL;
    must(grove_doc_parse_json(w->env, text, strlen(text), 0, &body, &err), &err, "patch");
    grove_op op = {.size = (uint32_t)sizeof op,
                   .verb = GROVE_VERB_PATCH,
                   .token = 1,
                   .kind = kind,
                   .patch_type = type,
                   .ns = "default",
                   .name = name,
                   .body_doc = body};
    grove_sim_result result = {.size = (uint32_t)sizeof result};
    must(grove_sim_execute(w->c->sim, &op, &result), &err, name);
    if (result.status < 0) {
        fail_msg("patch of %s: %s", name, result.message);
    }
    grove_doc_unref(result.doc);
    grove_doc_unref(body);
}

void world_patch(world *w, grove_kind kind, const char *name, const char *merge_patch) {
    patch(w, kind, name, GROVE_PATCH_MERGE, merge_patch);
}

void world_json_patch(world *w, grove_kind kind, const char *name, const char *json_patch) {
    patch(w, kind, name, GROVE_PATCH_JSON, json_patch);
}

/* ---- time ---- */

void world_run(world *w, int64_t ns) {
    grove_error err = GROVE_ERROR_INIT;
    must(cluster_run(w->c, cluster_now(w->c) + ns, check_moment, w, &err), &err, "run");
}

void world_settle(world *w) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t limit = cluster_now(w->c) + HOUR;
    for (;;) {
        must(cluster_settle_now(w->c, &err), &err, "settle");
        check_moment(w, w->c);
        if (w->c->deadline > limit) {
            return;
        }
        must(cluster_run(w->c, w->c->deadline, check_moment, w, &err), &err, "run");
    }
}

/* ---- questions ---- */

static grove_doc *list_pods(world *w, const char *selector) {
    grove_doc *list = NULL;
    grove_error err = GROVE_ERROR_INIT;
    must(grove_sim_list(w->c->sim, GROVE_KIND_POD, NULL, selector, &list, &err), &err, "list");
    return list;
}

static bool is_ready(const grove_node *pod) {
    const grove_node *list = grove_node_at_path(pod, "/status/conditions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        if (strcmp(text_at(c, "/type"), "Ready") == 0) {
            return strcmp(text_at(c, "/status"), "True") == 0;
        }
    }
    return false;
}

uint32_t world_pods(world *w, const char *selector, const char *phase) {
    grove_doc *list = list_pods(w, selector);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    uint32_t n = 0;
    for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
        n += !phase || strcmp(text_at(p, "/status/phase"), phase) == 0;
    }
    grove_doc_unref(list);
    return n;
}

uint32_t world_ready_pods(world *w, const char *selector) {
    grove_doc *list = list_pods(w, selector);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    uint32_t n = 0;
    for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
        n += is_ready(p) && is_active(p);
    }
    grove_doc_unref(list);
    return n;
}

int world_pod_name(world *w, const char *selector, uint32_t i, char *out, size_t cap) {
    grove_doc *list = list_pods(w, selector);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    const grove_node *pod = grove_node_at(items, i);
    snprintf(out, cap, "%s", text_at(pod, "/metadata/name"));
    grove_doc_unref(list);
    return pod != NULL;
}

const char *world_text(world *w, grove_kind kind, const char *name, const char *pointer, char *out,
                       size_t cap) {
    grove_doc *doc = NULL;
    out[0] = '\0';
    if (grove_sim_get(w->c->sim, kind, "default", name, &doc, NULL) == GROVE_OK) {
        snprintf(out, cap, "%s", text_at(grove_doc_root(doc), pointer));
        grove_doc_unref(doc);
    }
    return out;
}

int64_t world_number(world *w, grove_kind kind, const char *name, const char *pointer) {
    char text[64];
    return strtoll(world_text(w, kind, name, pointer, text, sizeof text), NULL, 10);
}

/* ---- the digest ---- */

/* A pod goes by its clique: which index is left after scaling in depends on who was ready then. */
static void put_name(const grove_node *object, const char *kind, char *out, size_t cap) {
    if (strcmp(kind, "Pod") == 0) {
        snprintf(out, cap, "of %s", label(object, "grove.io/podclique"));
    } else {
        snprintf(out, cap, "%s", text_at(object, "/metadata/name"));
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Conditions are a map by type: their order says nothing. */
static void put_conditions(const grove_node *object, char *out, size_t cap) {
    const grove_node *list = grove_node_at_path(object, "/status/conditions");
    char texts[16][128], *sorted[16];
    size_t n = 0, at = strlen(out);
    for (const grove_node *c = grove_node_first(list); c && n < 16; c = grove_node_next(list, c)) {
        sorted[n] = texts[n];
        snprintf(texts[n++], sizeof *texts, " %s=%s", text_at(c, "/type"), text_at(c, "/status"));
    }
    qsort(sorted, n, sizeof *sorted, by_text);
    for (size_t i = 0; i < n && at < cap; i++) {
        int written = snprintf(out + at, cap - at, "%s", sorted[i]);
        at += written > 0 ? (size_t)written : 0;
    }
}

/* Counters, and the images that run: what a user would call the outcome. */
static void put_facts(const grove_node *object, char *out, size_t cap) {
    static const char *const facts[] = {"/spec/replicas",
                                        "/status/replicas",
                                        "/status/readyReplicas",
                                        "/status/scheduledReplicas",
                                        "/status/availableReplicas",
                                        "/status/updatedReplicas",
                                        "/status/phase",
                                        "/spec/containers/0/image",
                                        "/metadata/labels/grove.io~1pod-template-hash",
                                        "/metadata/labels/grove.io~1podgang"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *text = text_at(object, facts[i]);
        size_t at = strlen(out);
        if (text[0] && at < cap) {
            snprintf(out + at, cap - at, " %s=%s", strrchr(facts[i], '/') + 1, text);
        }
    }
}

char *world_digest(world *w) {
    grove_doc *dump = NULL;
    grove_error err = GROVE_ERROR_INIT;
    must(grove_sim_dump(w->c->sim, &dump, &err), &err, "dump");
    const grove_node *items = grove_node_get(grove_doc_root(dump), "items");
    char **lines = calloc(grove_node_size(items) + 1, sizeof *lines);
    size_t n = 0, bytes = 1;
    for (const grove_node *o = grove_node_first(items); lines && o; o = grove_node_next(items, o)) {
        const char *kind = text_at(o, "/kind");
        char line[1024], name[300];
        if (strcmp(kind, "Event") == 0 || strcmp(kind, "Node") == 0) {
            continue;
        }
        put_name(o, kind, name, sizeof name);
        snprintf(line, sizeof line, "%s %s", kind, name);
        put_facts(o, line, sizeof line);
        put_conditions(o, line, sizeof line);
        lines[n] = malloc(strlen(line) + 1);
        if (lines[n]) {
            bytes += strlen(strcpy(lines[n++], line)) + 1;
        }
    }
    qsort(lines, n, sizeof *lines, by_text);
    char *out = calloc(1, bytes);
    for (size_t i = 0, at = 0; out && i < n; i++) {
        at += (size_t)snprintf(out + at, bytes - at, "%s\n", lines[i]);
        free(lines[i]);
    }
    free(lines);
    grove_doc_unref(dump);
    return out;
}

void world_check_rest(world *w) {
    grove_error err = GROVE_ERROR_INIT;
    grove_engine_stats before = {.size = (uint32_t)sizeof before}, after = before;
    if (w->broken) {
        fail_msg("%llu broken promises; the first: %s", (unsigned long long)w->broken, w->first);
    }
    for (int i = 0; i < 3; i++) { /* law (d): three resyncs change nothing */
        grove_engine_stats_get(w->c->engine, &before);
        must(grove_engine_recompute(w->c->engine), &err, "recompute");
        must(cluster_settle_now(w->c, &err), &err, "settle");
        grove_engine_stats_get(w->c->engine, &after);
        if (after.operations != before.operations) {
            fail_msg("a resync at rest led to %llu operations",
                     (unsigned long long)(after.operations - before.operations));
        }
    }
}
