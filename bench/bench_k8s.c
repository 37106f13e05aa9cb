/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Kubernetes backend. Without a server: events of pods of 9 kB from bytes into a store. With one
 * (bench_k8s.sh, `GROVE_BENCH_KUBECONFIG`): creates beside a bare libcurl loop, a first list, a burst of
 * watch events, each in CPU time of this process.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include <grove/grove.h>
#include <grove/k8s.h>
#include <grove/sys/extract.h>

#include "k8s/framer.h"

#define MS INT64_C(1000000)
#define REPLAYED 2000 /* events at most: a server keeps those of a minute or so */
#define NS "bench"

static int64_t clock_of(clockid_t id) {
    struct timespec t;
    (void)clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

static int64_t now(void) {
    return clock_of(CLOCK_REALTIME);
}

static int64_t cpu(void) {
    return clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

static long anon_kb(void) {
    char line[200];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        (void)sscanf(line, "RssAnon: %ld", &kb);
    }
    if (f) {
        (void)fclose(f);
    }
    return kb;
}

static void figure(const char *name, double value, const char *unit, const char *setting) {
    printf("%-28s %10.2f %-8s %s\n", name, value, unit, setting);
    printf(
        "{\"bench\":\"k8s\",\"figure\":\"%s\",\"value\":%.2f,\"unit\":\"%s\",\"setting\":\"%s\"}\n",
        name, value, unit, setting);
}

static void need(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench_k8s: %s\n", what);
        exit(1);
    }
}

/* A pod about as large as those of a cluster: 8.7 kB as a server tells it. */
static int pod_text(char *out, size_t cap, int i, const char *managed) {
    char uid[60] = "";
    char env[4200];
    size_t n = 0;
    for (int k = 0; k < 26; k++) {
        n += (size_t)snprintf(
            env + n, sizeof env - n,
            "%s{\"name\":\"SETTING_%02d\",\"value\":\"some value of a usual length, as in "
            "templates, and a little more of it %02d\"}",
            k ? "," : "", k, k);
    }
    if (managed[0]) { /* as the server tells it */
        (void)snprintf(uid, sizeof uid, ",\"uid\":\"5e36463e-fc6c-4e18-bd49-%012d\"", i);
    }
    return snprintf(
        out, cap,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"bench-%d\",\"namespace\":"
        "\"" NS "\"%s%s,\"labels\":{\"app.kubernetes.io/managed-by\":\"grove-operator\","
        "\"app.kubernetes.io/part-of\":\"bench\",\"grove.io/podclique\":\"bench-%d\",\"grove.io/"
        "podgang\":"
        "\"bench-%d\",\"grove.io/"
        "podclique-pod-index\":\"%d\"}},\"spec\":{\"schedulerName\":\"none\","
        "\"containers\":[{\"name\":\"main\",\"image\":\"example.com/"
        "server:1\",\"env\":[%s],\"resources\":{"
        "\"requests\":{\"cpu\":\"2\",\"memory\":\"4Gi\"},\"limits\":{\"memory\":\"8Gi\"}}}]}}",
        i, uid, managed, i / 8, i / 32, i % 8, env);
}

/* ---- without a server ---- */

static void from_bytes(grove_env *env, int events) {
    static char pod[12000], line[13000], managed[4200];
    gv_k8s_framer f;
    grove_extract *x = NULL;
    grove_store *store = NULL;
    memset(managed, 0, sizeof managed);
    size_t at = (size_t)snprintf(managed, sizeof managed,
                                 ",\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:x\":{}");
    for (int k = 0; k < 120; k++) {
        at += (size_t)snprintf(managed + at, sizeof managed - at,
                               ",\"k:{\\\"n\\\":\\\"%03d\\\"}\":{\".\":{}}", k);
    }
    (void)snprintf(managed + at, sizeof managed - at, "}}]");
    need(grove_extract_new(env, &x) == 0 && grove_store_new(env, &store) == 0, "no memory");
    gv_k8s_framer_init(&f, env);
    int64_t spent = 0, bytes = 0;
    for (int i = 0; i < events; i++) {
        (void)pod_text(pod, sizeof pod, i % 1000, managed);
        int n = snprintf(line, sizeof line, "{\"type\":\"MODIFIED\",\"object\":%s}\n", pod);
        const char *text = NULL, *object = NULL;
        size_t len = 0, object_len = 0;
        grove_event_type type = 0;
        int64_t begin = cpu();
        need(gv_k8s_framer_add(&f, line, (size_t)n) == 0, "no memory");
        need(gv_k8s_framer_peek(&f, &text, &len) == GV_K8S_PIECE_DOCUMENT, "no event");
        need(grove_extract_event(x, GROVE_KIND_POD, text, len, &type, &object, &object_len, NULL) ==
                     0 &&
                 grove_store_put_record(store, x, NULL) == 0,
             "no record");
        gv_k8s_framer_take(&f);
        spent += cpu() - begin;
        bytes += n;
    }
    figure("bytes_to_store_us", (double)spent / events / 1000, "us/event",
           "pods of 9 kB, no server");
    figure("bytes_to_store_mb_s", (double)bytes * 1000 / (double)spent, "MB/s",
           "pods of 9 kB, no server");
    gv_k8s_framer_fini(&f);
    grove_extract_free(x);
    grove_store_free(store);
}

/* ---- with a server: the backend ---- */

typedef struct live {
    grove_env *env;
    grove_backend b;
    grove_store *store;
    int done, failed, events, synced, gone;
    char version[64], first[64];
} live;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    live *l = ctx;
    l->done++;
    l->failed += c->status < 0;
    if (c->status < 0) {
        fprintf(stderr, "bench_k8s: %s\n", c->message);
    }
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    live *l = ctx;
    l->synced += e->type == GROVE_EVENT_SYNCED;
    l->gone += e->type == GROVE_EVENT_GONE;
    if (e->type == GROVE_EVENT_SYNCED) {
        (void)snprintf(l->version, sizeof l->version, "%s", e->resource_version);
    }
    if (e->record && e->type != GROVE_EVENT_DELETED) {
        l->events++;
        return grove_store_put_record(l->store, e->record, NULL);
    }
    return GROVE_OK;
}

static void turn(live *l) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, l, on_completion, on_event};
    grove_pollfd fds[16];
    struct pollfd list[16];
    uint32_t n = 0;
    int64_t deadline = 0, at = now();
    need(l->b.ops->process(l->b.impl, at, 0, &sink, &deadline, NULL) == 0, "process failed");
    (void)l->b.ops->pollfds(l->b.impl, fds, 16, &n);
    for (uint32_t i = 0; i < n && i < 16; i++) {
        short in = fds[i].events & GROVE_POLL_IN ? POLLIN : 0,
              out = fds[i].events & GROVE_POLL_OUT ? POLLOUT : 0;
        list[i] = (struct pollfd){fds[i].fd, (short)(in | out), 0};
    }
    int64_t left = (deadline - now()) / MS;
    (void)poll(list, n < 16 ? n : 16, left < 0 ? 0 : left > 100 ? 100 : (int)left);
}

static void op(live *l, grove_verb verb, int i, const char *text, int n) {
    static uint64_t token = 0;
    char name[32];
    grove_doc *body = NULL;
    need(grove_doc_parse_json(l->env, text, (size_t)n, 0, &body, NULL) == 0, "bad body");
    (void)snprintf(name, sizeof name, "bench-%d", i);
    grove_op o = {
        .size = sizeof o, .verb = verb, .kind = GROVE_KIND_POD, .token = ++token, .ns = NS};
    o.name = verb == GROVE_VERB_CREATE ? NULL : name;
    o.patch_type = verb == GROVE_VERB_PATCH ? GROVE_PATCH_MERGE : 0;
    o.body_doc = body;
    need(l->b.ops->submit(l->b.impl, &o, NULL) == 0, "submit failed");
    grove_doc_unref(body);
}

static double create_by_backend(live *l, int from, int n) {
    static char text[12000];
    int64_t begin = now();
    l->done = 0;
    for (int i = from; i < from + n; i++) {
        op(l, GROVE_VERB_CREATE, i, text, pod_text(text, sizeof text, i, ""));
    }
    while (l->done < n) {
        turn(l);
    }
    return n * 1e9 / (double)(now() - begin);
}

/* ---- with a server: a bare loop over libcurl ---- */

typedef struct access {
    char server[200], ca[400], cert[400], key[400];
} access_data;

static void read_access(grove_env *env, const char *path, access_data *a) {
    static char text[20000];
    FILE *f = fopen(path, "r");
    grove_doc *doc = NULL;
    need(f != NULL, "no kubeconfig");
    size_t n = fread(text, 1, sizeof text, f);
    (void)fclose(f);
    need(grove_doc_parse_yaml(env, text, n, 0, &doc, NULL) == 0, "bad kubeconfig");
    const grove_node *root = grove_doc_root(doc);
    const struct {
        const char *at;
        char *to;
        size_t cap;
    } rows[] = {{"/clusters/0/cluster/server", a->server, sizeof a->server},
                {"/clusters/0/cluster/certificate-authority", a->ca, sizeof a->ca},
                {"/users/0/user/client-certificate", a->cert, sizeof a->cert},
                {"/users/0/user/client-key", a->key, sizeof a->key}};
    for (size_t i = 0; i < 4; i++) {
        const char *value = grove_node_text(grove_node_at_path(root, rows[i].at));
        need(value != NULL, "the kubeconfig has no certificate files");
        (void)snprintf(rows[i].to, rows[i].cap, "%s", value);
    }
    grove_doc_unref(doc);
}

static size_t swallow(char *p, size_t size, size_t n, void *ctx) {
    (void)p;
    (void)ctx;
    return size * n;
}

#define BARE 32 /* requests at once: more are no faster here */

static void bare_start(CURLM *m, CURL *e, const access_data *a, struct curl_slist *headers, int i) {
    static char text[12000], url[300];
    int n = pod_text(text, sizeof text, i, "");
    (void)snprintf(url, sizeof url, "%s/api/v1/namespaces/" NS "/pods", a->server);
    (void)curl_easy_setopt(e, CURLOPT_URL, url);
    (void)curl_easy_setopt(e, CURLOPT_CAINFO, a->ca);
    (void)curl_easy_setopt(e, CURLOPT_SSLCERT, a->cert);
    (void)curl_easy_setopt(e, CURLOPT_SSLKEY, a->key);
    (void)curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L);
    (void)curl_easy_setopt(e, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, swallow);
    (void)curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE, (long)n);
    (void)curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, text);
    (void)curl_multi_add_handle(m, e);
}

static double create_bare(const access_data *a, int from, int n) {
    static CURLM *m = NULL; /* its connection is kept, as the backend's is */
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *easy[BARE];
    int next = from, open = 0, left = 0, running = 0;
    m = m ? m : curl_multi_init();
    (void)curl_multi_setopt(m, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    int64_t begin = now();
    for (int i = 0; i < BARE && next < from + n; i++, open++) {
        easy[i] = curl_easy_init();
        bare_start(m, easy[i], a, headers, next++);
    }
    int handles = open;
    while (open > 0) {
        (void)curl_multi_perform(m, &running);
        for (CURLMsg *msg; (msg = curl_multi_info_read(m, &left)) != NULL;) {
            CURL *e = msg->easy_handle;
            long http = 0;
            (void)curl_easy_getinfo(e, CURLINFO_RESPONSE_CODE, &http);
            need(http == 201, "the bare loop's create failed");
            (void)curl_multi_remove_handle(m, e);
            open--;
            if (next < from + n) {
                bare_start(m, e, a, headers, next++);
                open++;
            }
        }
        (void)curl_multi_poll(m, NULL, 0, 100, NULL);
    }
    double rate = n * 1e9 / (double)(now() - begin);
    for (int i = 0; i < handles; i++) {
        curl_easy_cleanup(easy[i]);
    }
    curl_slist_free_all(headers);
    return rate;
}

/* ---- the live figures ---- */

static void watch_pods(live *l, uint64_t token, const char *version) {
    grove_watch w = {.size = sizeof w, .kind = GROVE_KIND_POD, .token = token, .ns = NS};
    w.flags = GROVE_WATCH_RECORDS;
    w.resource_version = version;
    need(l->b.ops->watch(l->b.impl, &w, NULL) == 0, "watch failed");
}

static void creates(live *l, const access_data *a, int pods) {
    double ours = 0, bare = 0;
    int rounds = 4, n = pods / (2 * rounds);
    char setting[100];
    (void)create_bare(a, 1000000, 50); /* warm */
    (void)create_by_backend(l, 1000100, 50);
    for (int r = 0; r < rounds; r++) { /* in turn, so that both meet the same server */
        bare += create_bare(a, 2 * r * n, n) / rounds;
        ours += create_by_backend(l, (2 * r + 1) * n, n) / rounds;
    }
    need(l->failed == 0, "creates failed");
    (void)snprintf(setting, sizeof setting, "%d pods each in %d rounds, bare loop: %d in flight",
                   n * rounds, rounds, BARE);
    figure("creates_s", ours, "1/s", setting);
    figure("creates_bare_s", bare, "1/s", setting);
    figure("creates_ratio", ours / bare, "", "backend / bare loop, budget >= 0.9");
}

/* The server replays what happened since the list, again and again. */
static void replay(live *l, int updates, const char *prefix) {
    char setting[100], name[40];
    const char *count = getenv("GROVE_BENCH_ROUNDS");
    int rounds = count ? atoi(count) : 5;
    int64_t begin = cpu(), wall = now();
    for (int r = 0; r < rounds; r++) {
        l->events = 0;
        watch_pods(l, (uint64_t)(1000001 + r), l->version);
        while (l->events < updates) {
            need(l->gone == 0, "the server keeps fewer events than were replayed: fewer pods");
            turn(l);
        }
        (void)l->b.ops->cancel(l->b.impl, (uint64_t)(1000001 + r), NULL);
    }
    double us = (double)(cpu() - begin) / updates / rounds / 1000;
    (void)snprintf(setting, sizeof setting,
                   "%d events replayed %d times, TLS, HTTP/2, budget <= 35", updates, rounds);
    double per_s = (double)updates * rounds * 1e9 / (double)(now() - wall);
    (void)snprintf(name, sizeof name, "%s_event_cpu_us", prefix);
    figure(name, us, "us", setting);
    (void)snprintf(name, sizeof name, "%s_events_s_core", prefix);
    figure(name, 1e6 / us, "1/s", "of CPU time, budget >= 25000");
    (void)snprintf(name, sizeof name, "%s_events_s_wall", prefix);
    figure(name, per_s, "1/s", "beside the server on this machine");
}

static void sync_and_burst(live *l, int pods, int updates) {
    char setting[100], patch[120];
    long before_kb = anon_kb();
    int64_t begin = cpu();
    watch_pods(l, 1000000, NULL);
    while (!l->synced) {
        turn(l);
    }
    double ms = (double)(cpu() - begin) / (double)MS;
    (void)snprintf(setting, sizeof setting, "%d pods", l->events);
    grove_store_stats s = {.size = sizeof s};
    (void)grove_store_stats_get(l->store, &s);
    figure("sync_cpu_ms", ms, "ms", setting);
    figure("sync_cpu_ms_10000", ms * 10000 / l->events, "ms",
           "the same for 10,000 pods, budget <= 500");
    figure("store_bytes_a_pod", (double)s.bytes / (double)s.pods, "bytes", "budget <= 700");
    figure("sync_rss_kb", (double)(anon_kb() - before_kb), "kB",
           "RssAnon added by list, watch and store");
    figure("sync_rss_anon_kb", (double)anon_kb(), "kB",
           "RssAnon of this process then, budget <= 12288 with 10,000 pods");
    (void)l->b.ops->cancel(l->b.impl, 1000000, NULL);
    turn(l);
    l->done = 0;
    for (int i = 0; i < updates; i++) {
        int n = snprintf(patch, sizeof patch, "{\"metadata\":{\"annotations\":{\"n\":\"%d\"}}}", i);
        op(l, GROVE_VERB_PATCH, i % (pods / 2), patch, n);
    }
    while (l->done < updates) {
        turn(l);
    }
    need(l->failed == 0, "patches failed");
    replay(l, updates, "watch");
}

/*
 * GROVE_BENCH_PART: "create" or "watch", so that the memory of the second is not that of the first; else both.
 * "stream": events as fast as they are taken, of a server that does nothing else (tests/control-plane/cmd/stream).
 */
int main(void) {
    live l = {0};
    access_data a = {0};
    grove_error err = GROVE_ERROR_INIT;
    const char *kubeconfig = getenv("GROVE_BENCH_KUBECONFIG"), *count = getenv("GROVE_BENCH_PODS");
    const char *events = getenv("GROVE_BENCH_EVENTS"), *part = getenv("GROVE_BENCH_PART");
    int pods = count ? atoi(count) : 2000;
    bool stream = part && strcmp(part, "stream") == 0;
    bool create = !part || strcmp(part, "create") == 0, watch = !stream && (!part || !create);
    need(grove_env_new(NULL, &l.env) == 0, "no memory");
    if (create) {
        from_bytes(l.env, events ? atoi(events) : 20000);
    }
    if (kubeconfig) {
        grove_k8s_options o = {.size = sizeof o, .kubeconfig = kubeconfig};
        need(grove_store_new(l.env, &l.store) == 0, "no memory");
        need(grove_k8s_backend(l.env, &o, &l.b, &err) == 0, err.message);
        if (create) {
            read_access(l.env, kubeconfig, &a);
            creates(&l, &a, pods);
        }
        if (stream) {
            (void)snprintf(l.version, sizeof l.version, "1000");
            replay(&l, REPLAYED, "stream");
        }
        if (watch) {
            sync_and_burst(&l, pods, pods < REPLAYED ? pods : REPLAYED);
        }
        l.b.ops->destroy(l.b.impl);
        grove_store_free(l.store);
    }
    grove_env_unref(l.env);
    return 0;
}
