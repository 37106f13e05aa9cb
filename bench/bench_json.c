/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing JSON beside cJSON and jansson in one run: a list of pods as an API server sends it,
 * and one small object. Speed is the best of several rounds; memory and allocations are counted.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef BENCH_HAVE_CJSON
#include <cjson/cJSON.h>
#endif
#ifdef BENCH_HAVE_JANSSON
#include <jansson.h>
#endif

#include <grove/doc.h>

#include "base/text.h"

#define PODS 2650 /* about 6 MB */

/* ---- counting what each library allocates ---- */

typedef struct counter {
    uint64_t allocations, live, peak;
} counter;

static counter count;

static void note(int64_t delta, int allocation) {
    count.allocations += allocation != 0;
    count.live += (uint64_t)delta;
    count.peak = count.live > count.peak ? count.live : count.peak;
}

static void *peer_malloc(size_t n) {
    size_t *p = malloc(n + 16);
    if (!p) {
        return NULL;
    }
    *p = n;
    note((int64_t)n, 1);
    return (char *)p + 16;
}

static void peer_free(void *p) {
    if (p) {
        size_t *block = (size_t *)(void *)((char *)p - 16);
        note(-(int64_t)*block, 0);
        free(block);
    }
}

static void *own_alloc(void *ctx, size_t n) {
    (void)ctx;
    note((int64_t)n, 1);
    return malloc(n);
}

static void *own_resize(void *ctx, void *p, size_t old_n, size_t n) {
    (void)ctx;
    note((int64_t)n - (int64_t)old_n, 1);
    return realloc(p, n);
}

static void own_release(void *ctx, void *p, size_t n) {
    (void)ctx;
    note(-(int64_t)n, 0);
    free(p);
}

/* ---- the text ---- */

static const char *const pod_parts[] = {
    "{\"metadata\":{\"name\":\"serve-0-prefill-%05u\",\"generateName\":\"serve-0-prefill-\","
    "\"namespace\":"
    "\"inference\",\"uid\":\"8b1f6d5e-6a0c-4d0e-9d6e-%012u\",\"resourceVersion\":\"%u\","
    "\"creationTimestamp\":"
    "\"2026-11-29T20:19:59Z\",\"labels\":{\"app.kubernetes.io/managed-by\":\"grove-operator\","
    "\"app.kubernetes.io/part-of\":\"serve\",\"grove.io/podclique\":\"serve-0-prefill\",\"grove.io/"
    "podgang\":"
    "\"serve-0\",\"grove.io/pod-index\":\"%u\",\"grove.io/podcliqueset-replica-index\":\"0\"},"
    "\"annotations\":{\"note\":\"first line\\nsecond "
    "\\\"line\\\"\"},\"ownerReferences\":[{\"apiVersion\":"
    "\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"name\":\"serve-0-prefill\",\"uid\":"
    "\"1d1c9a0e-0000-4000-8000-00000000000a\",\"controller\":true,\"blockOwnerDeletion\":true}]},",
    "\"spec\":{\"containers\":[{\"name\":\"engine\",\"image\":\"registry.example/"
    "engine:1.2.3\",\"command\":"
    "[\"python3\",\"-m\",\"engine.worker\",\"--model\",\"llama\"],\"env\":[{\"name\":\"GROVE_PCS_"
    "NAME\",\"value\":"
    "\"serve\"},{\"name\":\"GROVE_PCLQ_POD_INDEX\",\"value\":\"%u\"},{\"name\":\"NODE\","
    "\"valueFrom\":{\"fieldRef\":"
    "{\"apiVersion\":\"v1\",\"fieldPath\":\"spec.nodeName\"}}}],\"ports\":[{\"containerPort\":8000,"
    "\"protocol\":"
    "\"TCP\"}],\"resources\":{\"limits\":{\"cpu\":\"8\",\"memory\":\"64Gi\",\"nvidia.com/"
    "gpu\":\"8\"},\"requests\":"
    "{\"cpu\":\"4\",\"memory\":\"32Gi\",\"nvidia.com/"
    "gpu\":\"8\"}},\"readinessProbe\":{\"httpGet\":{\"path\":"
    "\"/"
    "health\",\"port\":8000},\"periodSeconds\":10,\"failureThreshold\":3},"
    "\"terminationMessagePath\":"
    "\"/dev/termination-log\",\"imagePullPolicy\":\"IfNotPresent\"}],\"restartPolicy\":\"Always\","
    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\",\"nodeName\":\"gpu-%u\","
    "\"schedulerName\":"
    "\"kai-scheduler\",\"tolerations\":[{\"key\":\"nvidia.com/"
    "gpu\",\"operator\":\"Exists\",\"effect\":"
    "\"NoSchedule\"},{\"key\":\"node.kubernetes.io/"
    "not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
    "\"tolerationSeconds\":300}],\"priority\":0,\"enableServiceLinks\":true,\"hostNetwork\":false}"
    ",",
    "\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
    "\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-29T20:21:07Z\"},{\"type\":"
    "\"PodScheduled\",\"status\":"
    "\"True\",\"lastProbeTime\":null,\"lastTransitionTime\":\"2026-11-29T20:20:01Z\"}],\"hostIP\":"
    "\"10.0.%u.%u\","
    "\"podIP\":\"10.244.%u.%u\",\"startTime\":\"2026-11-29T20:20:01Z\",\"containerStatuses\":[{"
    "\"name\":\"engine\","
    "\"state\":{\"running\":{\"startedAt\":\"2026-11-29T20:20:31Z\"}},\"ready\":true,"
    "\"restartCount\":0,"
    "\"started\":true}],\"qosClass\":\"Burstable\"}}",
};

static void add_pod(grove_buf *b, unsigned i) {
    gv_buf_fmt(b, pod_parts[0], i, i, 100000 + i, i);
    gv_buf_fmt(b, pod_parts[1], i, i / 8);
    gv_buf_fmt(b, pod_parts[2], i / 250, i % 250, i / 250, i % 250);
}

static void make_list(grove_buf *b) {
    gv_buf_c(b, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                "\"7\"},\"items\":[");
    for (unsigned i = 0; i < PODS; i++) {
        gv_buf_c(b, i > 0 ? "," : "");
        add_pod(b, i);
    }
    gv_buf_c(b, "]}");
}

/* ---- measuring ---- */

/* Processor time: other programs on the machine do not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

typedef struct result {
    double read, write; /* MB/s, best round */
    uint64_t allocations, held, peak;
} result;

typedef struct peer {
    const char *name;
    void *(*parse)(const char *text, size_t len);
    size_t (*print)(void *tree); /* bytes written */
    void (*drop)(void *tree);
} peer;

static grove_env *env;
static grove_buf written;

static void *grove_parse(const char *text, size_t len) {
    grove_doc *doc = NULL;
    return grove_doc_parse_json(env, text, len, 0, &doc, NULL) == GROVE_OK ? doc : NULL;
}

static size_t grove_print(void *tree) {
    grove_buf_clear(&written);
    grove_node_write_json(grove_doc_root(tree), 0, &written, NULL);
    return (size_t)written.len;
}

static void grove_drop(void *tree) {
    grove_doc_unref(tree);
}

#ifdef BENCH_HAVE_CJSON
static void *cjson_parse(const char *text, size_t len) {
    return cJSON_ParseWithLength(text, len);
}

static size_t cjson_print(void *tree) {
    char *text = cJSON_PrintUnformatted(tree);
    const size_t n = text ? strlen(text) : 0;
    cJSON_free(text);
    return n;
}

static void cjson_drop(void *tree) {
    cJSON_Delete(tree);
}
#endif

#ifdef BENCH_HAVE_JANSSON
static void *jansson_parse(const char *text, size_t len) {
    return json_loadb(text, len, 0, NULL);
}

static size_t jansson_print(void *tree) {
    char *text = json_dumps(tree, JSON_COMPACT);
    const size_t n = text ? strlen(text) : 0;
    peer_free(text);
    return n;
}

static void jansson_drop(void *tree) {
    json_decref(tree);
}
#endif

static const peer peers[] = {
    {"libgrove", grove_parse, grove_print, grove_drop},
#ifdef BENCH_HAVE_CJSON
    {"cJSON", cjson_parse, cjson_print, cjson_drop},
#endif
#ifdef BENCH_HAVE_JANSSON
    {"jansson", jansson_parse, jansson_print, jansson_drop},
#endif
};
#define PEERS (sizeof peers / sizeof *peers)

/* One round: `times` texts one after another. */
static void measure(const peer *p, const char *text, size_t len, unsigned times, result *r) {
    double reading = 0;
    double writing = 0;
    size_t bytes = 0;
    for (unsigned i = 0; i < times; i++) {
        const uint64_t live = count.live;
        const uint64_t allocations = count.allocations;
        count.peak = live;
        const double begin = now();
        void *tree = p->parse(text, len);
        const double parsed = now();
        if (!tree) {
            fprintf(stderr, "bench json: %s does not read the text\n", p->name);
            exit(1);
        }
        r->allocations = count.allocations - allocations;
        r->held = count.live - live;
        r->peak = count.peak - live;
        const double start = now();
        bytes += p->print(tree);
        writing += now() - start;
        const double drop = now();
        p->drop(tree);
        reading += parsed - begin + (now() - drop); /* making and freeing belong together */
    }
    const double read = (double)len * times / reading / 1e6;
    const double write = (double)bytes / writing / 1e6;
    r->read = read > r->read ? read : r->read;
    r->write = write > r->write ? write : r->write;
}

static void figure(const char *peer_name, const char *what, double value, const char *unit,
                   const char *setting) {
    printf("{\"bench\":\"json\",\"figure\":\"%s_%s\",\"value\":%.2f,\"unit\":\"%s\",\"setting\":\"%"
           "s\"}\n",
           peer_name, what, value, unit, setting);
}

static void run(const char *setting, const char *text, size_t len, unsigned times,
                unsigned rounds) {
    result results[PEERS] = {{0}};
    for (unsigned round = 0; round < rounds;
         round++) { /* peers take turns, so that all see the same machine */
        for (size_t i = 0; i < PEERS; i++) {
            measure(&peers[i], text, len, times, &results[i]);
        }
    }
    printf("%s (%zu bytes)\n  %-10s %12s %12s %10s %10s %12s\n", setting, len, "", "read+free",
           "write", "held", "peak", "allocations");
    for (size_t i = 0; i < PEERS; i++) {
        const result *r = &results[i];
        printf("  %-10s %7.0f MB/s %7.0f MB/s %9.2fx %9.2fx %12llu\n", peers[i].name, r->read,
               r->write, (double)r->held / (double)len, (double)r->peak / (double)len,
               (unsigned long long)r->allocations);
    }
    for (size_t i = 0; i < PEERS; i++) {
        const result *r = &results[i];
        figure(peers[i].name, "read_mb_s", r->read, "MB/s", setting);
        figure(peers[i].name, "write_mb_s", r->write, "MB/s", setting);
        figure(peers[i].name, "held_per_input", (double)r->held / (double)len, "x", setting);
        figure(peers[i].name, "peak_per_input", (double)r->peak / (double)len, "x", setting);
        figure(peers[i].name, "allocations", (double)r->allocations, "count", setting);
        if (i > 0) {
            char name[64];
            snprintf(name, sizeof name, "libgrove_vs_%s", peers[i].name);
            figure(name, "read_ratio", results[0].read / r->read, "x", setting);
        }
    }
}

int main(void) {
    const grove_allocator allocator = {
        (uint32_t)sizeof allocator, 0, NULL, own_alloc, own_resize, own_release};
    const grove_env_options options = {.size = (uint32_t)sizeof options, .allocator = &allocator};
    if (grove_env_new(&options, &env) < 0) {
        return 1;
    }
#ifdef BENCH_HAVE_CJSON
    cJSON_Hooks hooks = {peer_malloc, peer_free};
    cJSON_InitHooks(&hooks);
#endif
#ifdef BENCH_HAVE_JANSSON
    json_set_alloc_funcs(peer_malloc, peer_free);
#endif
    grove_buf_init(&written, env);
    grove_buf list;
    grove_buf_init(&list, env);
    make_list(&list);
    run("pod list", list.data, (size_t)list.len, 3, 7);
    grove_buf_clear(&list);
    add_pod(&list, 1);
    run("one pod", list.data, (size_t)list.len, 2000, 5);
    grove_buf_fini(&list);
    grove_buf_fini(&written);
    grove_env_unref(env);
    return 0;
}
