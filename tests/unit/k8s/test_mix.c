/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in seeded mixes: a server in the test that loses, delays, refuses and cuts, before and after a write
 * took effect, and a client that wants twenty objects to exist. Once the faults end, all of them do, each made
 * once; requests stay bounded, memory flat; and no write arrives while the Lease may be lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/util.h>

#include "fake.h"
#include "support/oom.h"

#define S INT64_C(1000000000)
#define START (INT64_C(1800000000) * S)
#define N 20
#define QUIET_AT (150 * S)
#define END_AT (420 * S)
#define STREAM (32 * 1024)
#define CHANGES 4000

typedef struct thing {
    bool exists;
    uint32_t rv, made, deleted;
} thing;

typedef struct change {
    char type[10];
    int at;
    uint32_t rv;
} change;

typedef struct world {
    oom_memory memory;
    grove_env *env;
    fake f;
    grove_backend b;
    bool up; /* a process runs */
    uint64_t random, token;
    int64_t clock;
    /* the server */
    thing things[N];
    change changes[CHANGES];
    uint32_t n_changes, rv, oldest; /* watches from before `oldest` are too old */
    char lease[700];
    bool lease_exists;
    char streams[FAKE_REQUESTS][STREAM], text[FAKE_REQUESTS][4096];
    bool stuck[FAKE_REQUESTS]; /* half-open: nothing comes any more */
    uint32_t watch_rv[FAKE_REQUESTS];
    int64_t bookmark_at;
    /* the client */
    bool seen[N], shown[N], pending[N], syncing, synced;
    uint64_t tokens[N];
    int64_t again_at[N];
    uint64_t watch_token;
    bool watch_wanted;
    /* what came of it */
    uint32_t requests, second, most_a_second, lost, faults;
    int64_t second_at;
} world;

static uint32_t dice(world *w, uint32_t below) {
    return (uint32_t)(grove_random_next(&w->random) % below);
}

/* One in `n` while there are faults. */
static bool fault(world *w, uint32_t n) {
    bool yes = w->clock < QUIET_AT && dice(w, n) == 0;
    w->faults += yes;
    return yes;
}

/* ---- the server ---- */

static size_t put_object(char *out, size_t cap, int i, uint32_t rv) {
    return (size_t)snprintf(out, cap,
                            "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                            "\"m%d\",\"uid\":\"u%d\",\"resourceVersion\":\"%u\"}}",
                            i, i, rv);
}

/* Appends a line to an open stream; a stream that is full is cut off. */
static void stream_line(world *w, int slot, const char *type, const char *object) {
    fake_answer *a = &w->f.open[slot].a;
    size_t room = STREAM - a->len;
    if (w->stuck[slot] || room < 600) {
        a->open = a->open && w->stuck[slot];
        return;
    }
    a->len += (size_t)snprintf(w->streams[slot] + a->len, room, "{\"type\":\"%s\",\"object\":%s}\n",
                               type, object);
    a->body = w->streams[slot];
}

static bool is_watch(const world *w, int slot) {
    return w->f.open[slot].started && w->f.open[slot].a.open && w->watch_rv[slot] > 0;
}

static void happens(world *w, const char *type, int i) {
    char object[300];
    thing *t = &w->things[i];
    t->rv = ++w->rv;
    t->exists = strcmp(type, "DELETED") != 0;
    (void)put_object(object, sizeof object, i, t->rv);
    assert_true(w->n_changes < CHANGES);
    change *c = &w->changes[w->n_changes++];
    (void)snprintf(c->type, sizeof c->type, "%s", type);
    c->at = i;
    c->rv = t->rv;
    for (int s = 0; s < FAKE_REQUESTS; s++) {
        if (is_watch(w, s)) {
            stream_line(w, s, type, object);
        }
    }
}

static void status(world *w, int slot, fake_answer *out, int http, const char *reason) {
    out->http = http;
    out->len = (size_t)snprintf(w->text[slot], sizeof w->text[slot],
                                "{\"kind\":\"Status\",\"code\":%d,\"reason\":\"%s\"}", http,
                                reason);
    out->body = w->text[slot];
}

/* An answer in place of the real one, before anything took effect. */
static bool refused(world *w, int slot, fake_answer *out) {
    if (!fault(w, 6)) {
        return false;
    }
    static const char html[] = "<html><body>Bad Gateway</body></html>";
    switch (dice(w, 7)) {
    case 0:
        out->how = GV_K8S_END_UNSENT;
        return true;
    case 1:
        status(w, slot, out, 500, "InternalError");
        return true;
    case 2:
        status(w, slot, out, 503, "ServiceUnavailable");
        return true;
    case 3:
        status(w, slot, out, 429, "TooManyRequests");
        return true;
    case 4:
        status(w, slot, out, 429, "TooManyRequests");
        out->header = "retry-after";
        out->value = "2";
        return true;
    case 5:
        *out = (fake_answer){.http = 502, .body = html, .len = sizeof html - 1};
        return true;
    default:
        out->how = GV_K8S_END_LOST;
        return true;
    }
}

/* The answer is lost on its way, after the request took effect. */
static void lose_answer(world *w, fake_answer *out) {
    if (fault(w, 8)) {
        uint32_t how = dice(w, 3);
        out->how = how == 0 ? GV_K8S_END_TIMEOUT : GV_K8S_END_LOST;
        out->len = out->len > 0 ? dice(w, (uint32_t)out->len) : 0;
    }
}

/* The object's version at a point of time; 0: it was not there. All pages of a list show one time. */
static uint32_t version_at(const world *w, int i, uint32_t rv) {
    uint32_t found = 0;
    for (uint32_t k = 0; k < w->n_changes && w->changes[k].rv <= rv; k++) {
        if (w->changes[k].at == i) {
            found = strcmp(w->changes[k].type, "DELETED") == 0 ? 0 : w->changes[k].rv;
        }
    }
    return found;
}

static void list(world *w, int slot, const char *url, fake_answer *out) {
    const char *token = strstr(url, "continue=");
    uint32_t rv = token ? (uint32_t)atoi(token + 9) : w->rv;
    int from = token ? N / 2 : 0;
    int to = strstr(url, "limit=") && from == 0 ? N / 2 : N;
    char *p = w->text[slot];
    size_t n = 0, cap = sizeof w->text[slot];
    if (from > 0 && (rv < w->oldest || fault(w, 5))) {
        status(w, slot, out, 410, "Expired");
        return;
    }
    char more[40] = "";
    if (to < N) {
        (void)snprintf(more, sizeof more, ",\"continue\":\"%u\"", rv);
    }
    n += (size_t)snprintf(p + n, cap - n,
                          "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"%u\"%s},"
                          "\"items\":[",
                          rv, more);
    bool any = false;
    for (int i = from; i < to; i++) {
        uint32_t version = version_at(w, i, rv);
        if (version != 0) {
            n += any ? (size_t)snprintf(p + n, cap - n, ",") : 0;
            n += put_object(p + n, cap - n, i, version);
            any = true;
        }
    }
    n += (size_t)snprintf(p + n, cap - n, "]}");
    out->body = p;
    out->len = n;
    lose_answer(w, out);
}

static void watch(world *w, int slot, const char *url, fake_answer *out) {
    const char *from = strstr(url, "&resourceVersion=");
    uint32_t rv = from ? (uint32_t)atoi(from + 17) : 0;
    char object[300];
    out->open = true;
    out->body = w->streams[slot];
    w->f.open[slot].a = *out;
    w->stuck[slot] = false;
    w->watch_rv[slot] = 1;
    if (strstr(url, "sendInitialEvents")) {
        for (int i = 0; i < N; i++) {
            if (w->things[i].exists) {
                (void)put_object(object, sizeof object, i, w->things[i].rv);
                stream_line(w, slot, "ADDED", object);
            }
        }
        (void)snprintf(object, sizeof object,
                       "{\"kind\":\"ConfigMap\",\"metadata\":{\"resourceVersion\":\"%u\","
                       "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}",
                       w->rv);
        stream_line(w, slot, "BOOKMARK", object);
    } else if (rv < w->oldest) {
        stream_line(w, slot, "ERROR", "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
        w->f.open[slot].a.open = false;
    } else {
        for (uint32_t k = 0; k < w->n_changes; k++) {
            if (w->changes[k].rv > rv) {
                (void)put_object(object, sizeof object, w->changes[k].at, w->changes[k].rv);
                stream_line(w, slot, w->changes[k].type, object);
            }
        }
    }
    *out = w->f.open[slot].a;
    if (fault(w, 5) && out->len > 0) { /* cut off in the middle of an event */
        out->len = dice(w, (uint32_t)out->len);
        out->open = false;
        out->how = dice(w, 2) ? GV_K8S_END_LOST : GV_K8S_END_ANSWERED;
    } else if (fault(w, 8)) {
        w->stuck[slot] = true;
    }
}

static void create(world *w, int slot, const char *body, fake_answer *out) {
    int i = atoi(strstr(body, "\"name\":\"m") + 9);
    if (w->things[i].exists) {
        status(w, slot, out, 409, "AlreadyExists");
    } else {
        w->things[i].made++;
        happens(w, "ADDED", i);
        out->http = 201;
        out->len = put_object(w->text[slot], sizeof w->text[slot], i, w->things[i].rv);
        out->body = w->text[slot];
    }
    lose_answer(w, out);
}

static void lease(world *w, int slot, const char *method, const char *body, fake_answer *out) {
    if (strcmp(method, "GET") == 0 && !w->lease_exists) {
        status(w, slot, out, 404, "NotFound");
        return;
    }
    if (strcmp(method, "GET") != 0) {
        const char *spec = strstr(body, "\"spec\":"), *end = strchr(spec, '}') + 1;
        (void)snprintf(
            w->lease, sizeof w->lease,
            "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%u\"},"
            "%.*s}",
            ++w->rv, (int)(end - spec), spec);
        w->lease_exists = true;
    }
    memcpy(w->text[slot], w->lease, sizeof w->lease);
    out->body = w->text[slot];
    out->len = strlen(w->lease);
    lose_answer(w, out);
}

static void server(fake *f, const char *method, const char *url, const char *body,
                   fake_answer *out) {
    world *w = f->ctx;
    int slot = 0;
    while (&f->open[slot].a != out) {
        slot++;
    }
    bool is_lease = strstr(url, "/leases") != NULL, get = strcmp(method, "GET") == 0;
    *out = (fake_answer){.http = 200};
    w->watch_rv[slot] = 0;
    w->requests++;
    w->second++;
    if (!get && !is_lease) {
        grove_k8s_lease_info info = {.size = sizeof info};
        assert_int_equal(grove_k8s_lease(&w->b, &info), GROVE_OK);
        assert_true(info.left_ns > 0); /* the fence */
    }
    if (refused(w, slot, out)) {
        return;
    }
    if (is_lease) {
        lease(w, slot, method, body, out);
    } else if (strstr(url, "/events")) {
        status(w, slot, out, 403, "Forbidden"); /* nothing depends on Events */
    } else if (strstr(url, "watch=1")) {
        watch(w, slot, url, out);
    } else if (get) {
        list(w, slot, url, out);
    } else {
        create(w, slot, body, out);
    }
}

/* ---- the client ---- */

static grove_status on_completion(void *ctx, const grove_completion *c) {
    world *w = ctx;
    for (int i = 0; i < N; i++) {
        if (w->pending[i] && w->tokens[i] == c->token) {
            w->pending[i] = false;
            bool there = c->status == GROVE_OK || c->status == GROVE_E_EXISTS;
            w->again_at[i] = w->clock + (there ? 5 : 1) * S;
            assert_true(there || (c->flags & GROVE_ERROR_RETRIABLE) != 0 ||
                        c->status == GROVE_E_CANCELLED);
        }
    }
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    world *w = ctx;
    if (e->token != w->watch_token) {
        return GROVE_OK;
    }
    if (e->type == GROVE_EVENT_GONE) {
        w->watch_wanted = true;
        w->synced = false;
    } else if (e->type == GROVE_EVENT_SYNCED) {
        memcpy(w->seen, w->shown, sizeof w->seen);
        w->synced = true;
    } else if (e->object) {
        const char *name = gv_k8s_member(grove_node_get(e->object, "metadata"), "name");
        int i = atoi(name + 1);
        bool *set = w->synced ? w->seen : w->shown;
        set[i] = e->type != GROVE_EVENT_DELETED;
    }
    return GROVE_OK;
}

static void start_process(world *w) {
    grove_k8s_options o = {.size = sizeof o, .seed = w->random | 1, .page_size = 10};
    o.flags = dice(w, 2) ? GROVE_K8S_NO_WATCHLIST : 0;
    assert_int_equal(fake_backend(w->env, &w->f, NULL, &o, &w->b), GROVE_OK);
    char identity[32];
    (void)snprintf(identity, sizeof identity, "process-%u", w->lost);
    grove_k8s_lease_options e = {.size = sizeof e, .name = "l", .ns = "n", .identity = identity};
    int64_t clock_of(void *ctx);
    e.clock = clock_of;
    e.clock_ctx = w;
    assert_int_equal(grove_k8s_elect(&w->b, &e, NULL), GROVE_OK);
    memset(w->pending, 0, sizeof w->pending);
    memset(w->seen, 0, sizeof w->seen);
    w->synced = false;
    w->watch_wanted = true;
    w->up = true;
}

int64_t clock_of(void *ctx);
int64_t clock_of(void *ctx) {
    return ((world *)ctx)->clock;
}

static void want(world *w, grove_doc **docs) {
    grove_k8s_lease_info info = {.size = sizeof info};
    assert_int_equal(grove_k8s_lease(&w->b, &info), GROVE_OK);
    if (info.state == GROVE_K8S_LEASE_LOST) { /* the process ends, and another begins */
        w->b.ops->destroy(w->b.impl);
        memset(w->f.open, 0, sizeof w->f.open);
        w->lost++;
        start_process(w);
        return;
    }
    if (w->watch_wanted) {
        grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_CONFIGMAP, .token = ++w->token};
        memset(w->shown, 0, sizeof w->shown);
        w->watch_wanted = false;
        w->watch_token = g.token;
        assert_int_equal(w->b.ops->watch(w->b.impl, &g, NULL), GROVE_OK);
    }
    for (int i = 0; i < N; i++) {
        bool due = w->synced && info.state == GROVE_K8S_LEASE_LEADING && w->clock >= w->again_at[i];
        if (due && !w->seen[i] && !w->pending[i]) {
            grove_op op = {.size = sizeof op, .verb = GROVE_VERB_CREATE, .token = ++w->token};
            op.kind = GROVE_KIND_CONFIGMAP;
            op.ns = "n";
            op.body_doc = docs[i];
            assert_int_equal(w->b.ops->submit(w->b.impl, &op, NULL), GROVE_OK);
            w->pending[i] = true;
            w->tokens[i] = op.token;
        }
    }
}

/* What happens by itself: somebody deletes, streams break, old versions are forgotten. */
static void chance(world *w) {
    int i = (int)dice(w, N), slot = (int)dice(w, FAKE_REQUESTS);
    if (fault(w, 60) && w->things[i].exists) {
        w->things[i].deleted++;
        happens(w, "DELETED", i);
    }
    if (fault(w, 100)) {
        w->oldest = w->rv + 1;
    }
    if (is_watch(w, slot) && fault(w, 10)) {
        w->f.open[slot].a.open = false;
        w->f.open[slot].a.how = GV_K8S_END_LOST;
    }
    if (w->clock >= w->bookmark_at) {
        char object[120];
        w->bookmark_at = w->clock + 60 * S;
        (void)snprintf(object, sizeof object,
                       "{\"kind\":\"ConfigMap\",\"metadata\":{\"resourceVersion\":\"%u\"}}", w->rv);
        for (int s = 0; s < FAKE_REQUESTS; s++) {
            if (is_watch(w, s)) {
                stream_line(w, s, "BOOKMARK", object);
            }
        }
    }
    if (w->clock - w->second_at >= S) {
        w->most_a_second = w->second > w->most_a_second ? w->second : w->most_a_second;
        w->second_at = w->clock;
        w->second = 0;
    }
}

static void check_end(world *w, uint64_t seed, uint64_t settled) {
    for (int i = 0; i < N; i++) {
        const thing *t = &w->things[i];
        if (!w->seen[i] || !t->exists || t->made != t->deleted + 1) {
            fail_msg("seed %llu: object %d: seen %d, exists %d, made %u times, deleted %u",
                     (unsigned long long)seed, i, w->seen[i], t->exists, t->made, t->deleted);
        }
    }
    if (w->most_a_second > 120 || w->requests > 3500) {
        fail_msg("seed %llu: %u requests, up to %u a second", (unsigned long long)seed, w->requests,
                 w->most_a_second);
    }
    if (w->memory.live_bytes > settled + 2000) {
        fail_msg("seed %llu: memory grew from %llu to %llu", (unsigned long long)seed,
                 (unsigned long long)settled, (unsigned long long)w->memory.live_bytes);
    }
}

static void play(uint64_t seed, world *w, uint64_t *faults, uint64_t *lost) {
    static const oom_memory no_memory;
    *w = (world){.random = seed, .memory = no_memory, .rv = 10};
    oom_memory_init(&w->memory);
    w->env = oom_env(&w->memory, NULL);
    w->f.answer = server;
    w->f.ctx = w;
    w->f.seed = seed;
    grove_doc *docs[N];
    for (int i = 0; i < N; i++) {
        char text[100];
        int n = snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"m%d\"}}", i);
        assert_int_equal(grove_doc_parse_json(w->env, text, (size_t)n, 0, &docs[i], NULL),
                         GROVE_OK);
    }
    start_process(w);
    uint64_t settled = 0;
    grove_sink sink = {(uint32_t)sizeof sink, 0, w, on_completion, on_event};
    while (w->clock < END_AT) {
        int64_t deadline = 0;
        want(w, docs);
        assert_int_equal(w->b.ops->process(w->b.impl, START + w->clock, 0, &sink, &deadline, NULL),
                         GROVE_OK);
        chance(w);
        int64_t next = deadline - START, step = w->clock < QUIET_AT ? S / 5 : S;
        w->clock = next > w->clock + step ? w->clock + step : next > w->clock ? next : w->clock + 1;
        settled = w->clock < 300 * S ? w->memory.live_bytes : settled;
    }
    check_end(w, seed, settled);
    *faults += w->faults;
    *lost += w->lost;
    w->b.ops->destroy(w->b.impl);
    for (int i = 0; i < N; i++) {
        grove_doc_unref(docs[i]);
    }
    grove_env_unref(w->env);
    assert_int_equal(w->memory.live_blocks, 0);
}

static void mixes(void **state) {
    (void)state;
    const char *env = getenv("GROVE_SEEDS");
    uint64_t seeds = env ? strtoull(env, NULL, 10) : 200, faults = 0, lost = 0, requests = 0;
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        play(seed, w, &faults, &lost);
        requests += w->requests;
    }
    printf("%llu seeds: %llu faults, %llu requests, the lease lost %llu times\n",
           (unsigned long long)seeds, (unsigned long long)faults, (unsigned long long)requests,
           (unsigned long long)lost);
    assert_true(faults > 50 * seeds);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mixes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
