/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An operator on the embedded cluster's front with everything that a fault script can do, each fault alone and in
 * seeded mixes, in virtual time: engine and Kubernetes backend on one side, the front on the other. A set is made,
 * scaled and robbed of a pod while faults go on. Once they end everything is as without them, nothing was created
 * twice, requests were bounded, memory stays flat, and no write arrived while the Lease could be lost; a process
 * that lost it has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/grove.h>
#include <grove/sys/util.h>

#include "support/oom.h"
#include "through.h"

#define S INT64_C(1000000000)
#define START (INT64_C(1800000000) * S)
#define MAKE_AT (5 * S)
#define SCALE_AT (50 * S)
#define ROB_AT (90 * S)
#define QUIET_AT (150 * S) /* the faults end */
#define FLAT_AT (360 * S)  /* from here on memory stays as it is */
#define HALF_AT (480 * S)
#define END_AT (600 * S)
#define PODS 10 /* (1 + 2 + 2) twice */

static const char set_text[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\","
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":1,\"template\":{\"terminationDelay\":"
    "\"4h\",\"cliques\":["
    "{\"name\":\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":1,\"minAvailable\":1,"
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"a:1\"}]}}},"
    "{\"name\":\"b\",\"spec\":{\"roleName\":\"b\",\"replicas\":2,\"minAvailable\":1,"
    "\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"b:1\"}]}}}],"
    "\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":[\"b\"],\"replicas\":2,"
    "\"minAvailable\":1}]}}}";

typedef struct world {
    grove_env *server_env, *env; /* env: the client's, counted */
    oom_memory memory;
    through t;
    grove_sim *sim;
    grove_engine *engine;
    grove_backend b;
    gv_faults *faults;
    int64_t clock, second_at;
    uint32_t second, most_a_second, lost, robbed, unfenced;
    uint32_t made[GROVE_KIND_COUNT]; /* objects stored as new */
    bool did_make, did_scale, did_rob;
    const char *name; /* of the script, for messages */
} world;

static int64_t read_clock(void *ctx) {
    return ((const world *)ctx)->clock;
}

/* ---- what the server sees ---- */

static void on_stored(void *ctx, int64_t now, const grove_event *event) {
    world *w = ctx;
    (void)now;
    w->made[event->kind] += event->type == GROVE_EVENT_ADDED;
}

static void on_arrival(void *ctx, const char *method, const char *target) {
    world *w = ctx;
    w->second++;
    if (strcmp(method, "GET") != 0 && !strstr(target, "/leases")) {
        grove_k8s_lease_info info = {.size = sizeof info};
        assert_int_equal(grove_k8s_lease(&w->b, &info), GROVE_OK);
        w->unfenced += info.left_ns <= 0;
    }
}

/* ---- the client's process ---- */

static void start_process(world *w) {
    static const char config[] =
        "{\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://h\"}}],\"contexts\":[{"
        "\"name\":\"x\",\"context\":{\"cluster\":\"c\"}}],\"current-context\":\"x\"}";
    gv_k8s_access access;
    grove_k8s_options o = {.size = sizeof o, .seed = w->t.random | 1, .page_size = 5};
    o.request_timeout_ms = 10000;
    o.flags = grove_random_next(&w->t.random) % 2 ? GROVE_K8S_NO_WATCHLIST : 0;
    assert_int_equal(
        gv_k8s_kubeconfig_text(w->env, config, sizeof config - 1, ".", NULL, &access, NULL),
        GROVE_OK);
    const gv_k8s_transport transport = through_transport(&w->t);
    assert_int_equal(gv_k8s_new(w->env, &o, &access, &transport, &w->b, NULL), GROVE_OK);
    char identity[32];
    (void)snprintf(identity, sizeof identity, "process-%u", w->lost);
    grove_k8s_lease_options e = {.size = sizeof e, .name = "l", .ns = "default"};
    e.identity = identity;
    e.clock = read_clock;
    e.clock_ctx = w;
    assert_int_equal(grove_k8s_elect(&w->b, &e, NULL), GROVE_OK);
    grove_engine_options eo = {.size = sizeof eo, .seed = 1, .flags = GROVE_ENGINE_CHECK};
    assert_int_equal(grove_engine_new(w->env, &eo, &w->engine, NULL), GROVE_OK);
}

static void end_process(world *w) {
    grove_engine_free(w->engine);
    w->b.ops->destroy(w->b.impl);
}

static void end_when_lost(world *w) {
    grove_k8s_lease_info info = {.size = sizeof info};
    assert_int_equal(grove_k8s_lease(&w->b, &info), GROVE_OK);
    if (info.state == GROVE_K8S_LEASE_LOST) {
        end_process(w);
        w->lost++;
        start_process(w);
    }
}

/* ---- what people do meanwhile ---- */

static void apply(const world *w, const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(w->server_env, text, strlen(text), 0, &doc, NULL),
                     GROVE_OK);
    assert_int_equal(grove_sim_apply(w->sim, doc, NULL, NULL), GROVE_OK);
    grove_doc_unref(doc);
}

static void rob(world *w) {
    grove_doc *list = NULL;
    assert_int_equal(grove_sim_list(w->sim, GROVE_KIND_POD, "default", NULL, &list, NULL),
                     GROVE_OK);
    const grove_node *pod = grove_node_first(grove_node_get(grove_doc_root(list), "items"));
    const char *name = grove_node_text(grove_node_at_path(pod, "/metadata/name"));
    if (name) {
        assert_int_equal(grove_sim_delete(w->sim, GROVE_KIND_POD, "default", name, NULL), GROVE_OK);
        w->robbed++;
    }
    grove_doc_unref(list);
}

static void people(world *w) {
    if (!w->did_make && w->clock >= MAKE_AT) {
        w->did_make = true;
        apply(w, set_text);
    }
    if (!w->did_scale && w->clock >= SCALE_AT) {
        w->did_scale = true;
        assert_int_equal(grove_sim_scale(w->sim, GROVE_KIND_PODCLIQUESET, "default", "s", 2, NULL),
                         GROVE_OK);
    }
    if (!w->did_rob && w->clock >= ROB_AT) {
        w->did_rob = true;
        rob(w);
    }
}

/* ---- a run ---- */

static void begin(world *w, const char *script, const char *name, uint64_t seed) {
    static const oom_memory no_memory;
    *w = (world){.name = name, .memory = no_memory};
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_env_new(NULL, &w->server_env), GROVE_OK);
    oom_memory_init(&w->memory);
    w->env = oom_env(&w->memory, NULL);
    grove_sim_options so = {.size = sizeof so, .seed = 3, .start_ns = START};
    assert_int_equal(grove_sim_new(w->server_env, &so, &w->sim, NULL), GROVE_OK);
    assert_int_equal(grove_sim_add_nodes(w->sim, "1x1x4x8", NULL), GROVE_OK);
    grove_sim_observe(w->sim, on_stored, w);
    w->t = (through){.env = w->server_env, .sim = w->sim, .random = seed, .now = START};
    w->t.bookmark_at = START + 60 * S;
    w->t.arrived = on_arrival;
    w->t.ctx = w;
    assert_int_equal(gv_front_new(w->server_env, w->sim, &w->t.front, NULL), GROVE_OK);
    if (script && gv_faults_new(w->server_env, script, strlen(script), &w->faults, &err) < 0) {
        fail_msg("%s: %s\n%s", name, err.message, script);
    }
    w->t.faults = w->faults;
    start_process(w);
}

/* One instant; -> when to look again. */
static void step(world *w) {
    grove_error err = GROVE_ERROR_INIT;
    int64_t deadline = 0;
    w->t.now = START + w->clock;
    w->t.faults = w->clock < QUIET_AT ? w->faults : NULL;
    assert_int_equal(grove_sim_advance(w->sim, w->t.now, NULL), GROVE_OK);
    people(w);
    end_when_lost(w);
    if (grove_runner_turn(w->engine, &w->b, w->t.now, &deadline, &err) < 0) {
        fail_msg("%s: %s", w->name, err.message);
    }
    if (w->clock - w->second_at >= S) {
        w->most_a_second = w->second > w->most_a_second ? w->second : w->most_a_second;
        w->second_at = w->clock;
        w->second = 0;
    }
    int64_t next = deadline - START, most = w->clock < QUIET_AT ? S / 5 : S;
    w->clock = next > w->clock + most ? w->clock + most : next > w->clock ? next : w->clock + 1;
}

static uint32_t ready_pods(const world *w) {
    grove_doc *list = NULL;
    uint32_t ready = 0;
    assert_int_equal(grove_sim_list(w->sim, GROVE_KIND_POD, "default", NULL, &list, NULL),
                     GROVE_OK);
    const grove_node *items = grove_node_get(grove_doc_root(list), "items");
    for (const grove_node *p = grove_node_first(items); p; p = grove_node_next(items, p)) {
        const grove_node *all = grove_node_at_path(p, "/status/conditions");
        for (const grove_node *c = grove_node_first(all); c; c = grove_node_next(all, c)) {
            const char *type = gv_k8s_member(c, "type"), *status = gv_k8s_member(c, "status");
            ready += strcmp(type, "Ready") == 0 && strcmp(status, "True") == 0;
        }
    }
    grove_doc_unref(list);
    return ready;
}

static int64_t available(const world *w) {
    grove_doc *doc = NULL;
    int64_t n = -1;
    assert_int_equal(grove_sim_get(w->sim, GROVE_KIND_PODCLIQUESET, "default", "s", &doc, NULL),
                     GROVE_OK);
    (void)grove_node_int64(grove_node_at_path(grove_doc_root(doc), "/status/availableReplicas"),
                           &n);
    grove_doc_unref(doc);
    return n;
}

static void check_made(const world *w) {
    static const struct {
        grove_kind kind;
        uint32_t n;
    } want[] = {{GROVE_KIND_PODCLIQUESET, 1},
                {GROVE_KIND_PODCLIQUE, 6},
                {GROVE_KIND_PODCLIQUESCALINGGROUP, 2},
                {GROVE_KIND_PODGANG, 4},
                {GROVE_KIND_SERVICE, 2},
                {GROVE_KIND_POD, PODS}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint32_t n = want[i].n + (want[i].kind == GROVE_KIND_POD ? w->robbed : 0);
        if (w->made[want[i].kind] != n) {
            fail_msg("%s: %u of kind %s were made, not %u", w->name, w->made[want[i].kind],
                     grove_kind_name(want[i].kind), n);
        }
    }
}

static void check_end(const world *w, const uint64_t least[2]) {
    if (ready_pods(w) != PODS || grove_sim_count(w->sim, GROVE_KIND_POD) != PODS ||
        available(w) != 2) {
        fail_msg("%s: %u pods, %u of them ready, %lld replicas available", w->name,
                 grove_sim_count(w->sim, GROVE_KIND_POD), ready_pods(w), (long long)available(w));
    }
    check_made(w);
    assert_int_equal(w->unfenced, 0);
    if (w->most_a_second > 200 || w->t.requests > 2000) {
        fail_msg("%s: %u requests, up to %u a second", w->name, w->t.requests, w->most_a_second);
    }
    if (least[1] > least[0] + least[0] / 8) {
        fail_msg("%s: memory grew from %llu to %llu", w->name, (unsigned long long)least[0],
                 (unsigned long long)least[1]);
    }
}

static void finish(world *w) {
    end_process(w);
    gv_front_free(w->t.front);
    gv_faults_free(w->faults);
    grove_sim_free(w->sim);
    grove_env_unref(w->env);
    assert_int_equal(w->memory.live_blocks, 0);
    grove_env_unref(w->server_env);
}

typedef struct tally {
    uint64_t runs, fired, requests, lost;
    uint32_t most_requests, most_a_second;
} tally;

static void play(world *w, const char *script, const char *name, uint64_t seed, tally *sum) {
    uint64_t least[2] = {UINT64_MAX, UINT64_MAX}; /* of the two halves: buffers come and go */
    begin(w, script, name, seed);
    while (w->clock < END_AT) {
        step(w);
        uint64_t *at = &least[w->clock >= HALF_AT];
        *at = w->clock >= FLAT_AT && w->memory.live_bytes < *at ? w->memory.live_bytes : *at;
    }
    check_end(w, least);
    sum->runs++;
    sum->fired += w->t.fired;
    sum->requests += w->t.requests;
    sum->lost += w->lost;
    sum->most_requests = w->t.requests > sum->most_requests ? w->t.requests : sum->most_requests;
    sum->most_a_second = w->most_a_second > sum->most_a_second ? w->most_a_second
                                                               : sum->most_a_second;
    finish(w);
}

static void print_tally(const char *what, const tally *sum) {
    printf("%s: %llu runs, %llu faults, %llu requests (at most %u a run, %u a second), the lease "
           "lost %llu times\n",
           what, (unsigned long long)sum->runs, (unsigned long long)sum->fired,
           (unsigned long long)sum->requests, sum->most_requests, sum->most_a_second,
           (unsigned long long)sum->lost);
}

/* ---- the faults ---- */

typedef struct fault {
    const char *name, *what;
} fault;

static const fault faults[] = {
    {"cut", "verb: watch, do: cut, after: 300"},
    {"cut at once", "verb: watch, do: cut, after: 0"},
    {"cut list", "verb: list, do: cut, after: 150"},
    {"reset", "do: cut, after: 40, how: reset"},
    {"half-open", "verb: watch, do: hang, after: 200"},
    {"half-open at once", "do: hang"},
    {"no bookmarks", "verb: watch, do: no-bookmarks"},
    {"no end of the beginning", "verb: watch, do: no-bookmarks, initial: true"},
    {"reordered", "verb: watch, do: delay, atMostMilliseconds: 3000"},
    {"late", "do: delay, milliseconds: 700"},
    {"slow", "do: slow, bytesPerSecond: 4000"},
    {"410 event", "verb: watch, do: answer, code: 410, reason: Expired, body: event"},
    {"410 later", "verb: watch, do: answer, code: 410, reason: Gone, body: event, after: 500"},
    {"410", "verb: watch, do: answer, code: 410, reason: Expired"},
    {"410 page", "verb: list, do: answer, code: 410, reason: Expired, resumable: true"},
    {"no watchlist", "verb: watch, do: answer, code: 500, body: event"},
    {"429 told", "do: answer, code: 429, reason: TooManyRequests, retryAfter: 1"},
    {"429", "do: answer, code: 429, reason: TooManyRequests"},
    {"500 before", "do: answer, code: 500, reason: InternalError"},
    {"500 after", "do: answer, code: 500, reason: InternalError, when: after"},
    {"504", "do: answer, code: 504, reason: Timeout, retryAfter: 1, when: after"},
    {"401", "do: answer, code: 401, reason: Unauthorized"},
    {"403", "verb: [create, patch, delete], do: answer, code: 403, reason: Forbidden"},
    {"409", "verb: [patch, update], do: answer, code: 409, reason: Conflict"},
    {"HTML", "do: answer, code: 502, body: html"},
    {"HTML that says yes", "do: answer, code: 200, body: html"},
    {"empty", "do: answer, code: 200, body: empty, when: after"},
    {"dropped", "do: drop"},
    {"reply lost", "verb: [create, update, patch, delete], do: drop, when: after, how: reset"},
    {"stale", "verb: list, do: stale"},
    {"restart", "times: 6, do: restart, milliseconds: 2000"},
    {"restored", "times: 4, do: restart, milliseconds: 4000, forget: true, when: after"},
    {"expired", "verb: connect, do: certificate, certificate: expired"},
    {"other authority", "verb: connect, do: certificate, certificate: other-authority"},
};
#define FAULTS (sizeof faults / sizeof *faults)

static void each_alone(void **state) {
    (void)state;
    tally sum = {0};
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    play(w, NULL, "none", 1, &sum);
    assert_int_equal(sum.fired, 0);
    for (size_t i = 0; i < FAULTS; i++) {
        for (uint64_t seed = 1; seed <= 2; seed++) {
            char script[300];
            uint64_t before = sum.fired;
            (void)snprintf(script, sizeof script, "seed: %d\nfaults:\n- {probability: 1/%d, %s}\n",
                           (int)seed, seed == 1 ? 3 : 12, faults[i].what);
            play(w, script, faults[i].name, seed, &sum);
            assert_true(seed > 1 || sum.fired > before);
        }
    }
    print_tally("each alone", &sum);
    free(w);
}

/* Two to six of them at a time. */
static void write_mix(char *out, size_t cap, uint64_t seed) {
    uint64_t random = seed;
    size_t at = (size_t)snprintf(out, cap, "seed: %u\nfaults:\n", (unsigned)seed);
    int n = 2 + (int)(grove_random_next(&random) % 5);
    for (int i = 0; i < n; i++) {
        const fault *f = &faults[grove_random_next(&random) % FAULTS];
        at += (size_t)snprintf(out + at, cap - at, "- {probability: 1/%d, %s}\n",
                               4 + (int)(grove_random_next(&random) % 20), f->what);
    }
}

static void mixes(void **state) {
    (void)state;
    const char *wanted = getenv("GROVE_THROUGH_SEEDS");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : 200;
    tally sum = {0};
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        char script[1200], name[40];
        write_mix(script, sizeof script, seed);
        (void)snprintf(name, sizeof name, "mix %u", (unsigned)seed);
        play(w, script, name, seed, &sum);
    }
    print_tally("mixes", &sum);
    assert_true(sum.fired > 10 * seeds);
    free(w);
}

/* ---- kinds that the server learns later ---- */

static const char kai_set[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"k\","
    "\"namespace\":\"default\",\"labels\":{\"kai.scheduler/"
    "queue\":\"q\"}},\"spec\":{\"replicas\":1,"
    "\"template\":{\"cliques\":[{\"name\":\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":1,"
    "\"podSpec\":{\"schedulerName\":\"kai-scheduler\",\"containers\":[{\"name\":\"c\",\"image\":"
    "\"a:1\"}]}}}]}}}";

/* What the set says is wrong; "" when nothing is. */
static void last_error(const world *w, char *out, size_t cap) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_sim_get(w->sim, GROVE_KIND_PODCLIQUESET, "default", "k", &doc, NULL),
                     GROVE_OK);
    const char *text = grove_node_text(
        grove_node_at_path(grove_doc_root(doc), "/status/lastErrors/0/description"));
    (void)snprintf(out, cap, "%s", text ? text : "");
    grove_doc_unref(doc);
}

/* A scheduler's kinds are not installed: the set says so, and goes on by itself once they are. */
static void finds_a_kind_later(void **state) {
    (void)state;
    static const char script[] =
        "faults:\n- {path: '/apis/scheduling.run.ai/**', do: answer, code: 404, body: text}\n";
    char text[300];
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    begin(w, script, "KAI", 1);
    w->did_make = w->did_scale = w->did_rob = true;
    apply(w, kai_set);
    while (w->clock < QUIET_AT) {
        step(w);
    }
    last_error(w, text, sizeof text);
    assert_string_equal(text, "PodGroup k-0 was refused: the server does not know podgroups of "
                              "scheduling.run.ai/v2alpha2");
    assert_int_equal(w->made[GROVE_KIND_POD], 1);
    assert_in_range(w->t.requests, 80, 300);
    while (w->clock < QUIET_AT + 70 * S) {
        step(w);
    }
    last_error(w, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(w->made[GROVE_KIND_KAI_PODGROUP], 1);
    finish(w);
    free(w);
}

/* ---- another one leads ---- */

static void write_lease(const world *w, grove_verb verb, const char *text) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_json(w->server_env, text, strlen(text), 0, &doc, NULL),
                     GROVE_OK);
    grove_op op = {.size = sizeof op, .verb = verb, .kind = GROVE_KIND_LEASE, .token = 1};
    op.ns = "default";
    op.name = verb == GROVE_VERB_CREATE ? NULL : "l";
    op.patch_type = verb == GROVE_VERB_PATCH ? GROVE_PATCH_MERGE : 0;
    op.body_doc = doc;
    grove_sim_result r = {.size = sizeof r};
    assert_int_equal(grove_sim_execute(w->sim, &op, &r), GROVE_OK);
    assert_int_equal(r.status, GROVE_OK);
    grove_doc_unref(r.doc);
    grove_doc_unref(doc);
}

/* A process that may not write has work to do: it waits without a hot loop, and begins when it may. */
static void waits_for_the_lease(void **state) {
    (void)state;
    world *w = malloc(sizeof *w);
    assert_non_null(w);
    begin(w, NULL, "standby", 1);
    write_lease(w, GROVE_VERB_CREATE,
                "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"other\","
                "\"leaseDurationSeconds\":100}}");
    uint32_t steps = 0;
    for (; w->clock < 80 * S; steps++) {
        step(w);
    }
    assert_int_equal(w->made[GROVE_KIND_PODCLIQUE], 0);
    assert_int_equal(w->unfenced, 0);
    assert_in_range(steps, 300, 1500); /* one each 200 ms at least */
    write_lease(w, GROVE_VERB_PATCH, "{\"spec\":{\"holderIdentity\":\"\"}}");
    while (w->clock < 95 * S) {
        step(w);
    }
    assert_int_equal(ready_pods(w), PODS);
    assert_int_equal(w->unfenced, 0);
    finish(w);
    free(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_alone), cmocka_unit_test(mixes),
                                       cmocka_unit_test(waits_for_the_lease),
                                       cmocka_unit_test(finds_a_kind_later)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
