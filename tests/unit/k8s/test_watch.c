/* SPDX-License-Identifier: Apache-2.0 */
/* Watches over recorded streams in any cut, their ends, and what a server may answer instead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/kinds.h>

#include "fake.h"
#include "support/files.h"
#include "support/oom.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)

/* ---- what a test sees: "ADDED name version\n" ---- */

typedef struct seen {
    char text[4000];
    uint32_t refuse; /* deliveries to refuse */
    uint64_t cancel; /* token to cancel at the first event */
    grove_backend *b;
} seen;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    (void)ctx;
    (void)c;
    return GROVE_OK;
}

static grove_status on_event(void *ctx, const grove_event *e) {
    static const char *const words[] = {"?",        "ADDED",  "MODIFIED", "DELETED",
                                        "BOOKMARK", "SYNCED", "GONE"};
    seen *s = ctx;
    if (s->refuse > 0) {
        s->refuse--;
        return GROVE_E_LIMIT;
    }
    const char *name = gv_k8s_member(grove_node_get(e->object, "metadata"), "name");
    const char *kind = gv_k8s_member(e->object, "kind");
    size_t used = strlen(s->text);
    (void)snprintf(s->text + used, sizeof s->text - used, "%s%s%s%s%s %s\n", words[e->type],
                   kind ? " " : "", kind ? kind : "", name ? "/" : "", name ? name : "",
                   e->resource_version);
    if (s->cancel != 0) {
        uint64_t token = s->cancel;
        s->cancel = 0;
        assert_int_equal(s->b->ops->cancel(s->b->impl, token, NULL), GROVE_OK);
    }
    return GROVE_OK;
}

static int64_t look(grove_backend *b, int64_t now, seen *s) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, s, on_completion, on_event};
    int64_t deadline = 0;
    do {
        grove_status st = b->ops->process(b->impl, now, 0, &sink, &deadline, NULL);
        assert_true(st == GROVE_OK || st == GROVE_E_LIMIT);
    } while (deadline <= now);
    return deadline;
}

static void begin(grove_backend *b, grove_kind kind, const char *version) {
    grove_watch w = {.size = sizeof w, .kind = kind, .token = 7, .ns = "streams"};
    w.resource_version = version;
    w.label_selector = "a in (b,c)";
    assert_int_equal(b->ops->watch(b->impl, &w, NULL), GROVE_OK);
}

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend b;
    seen s;
    char *texts[4];
    size_t lens[4];
} world;

typedef void (*answer_fn)(fake *, const char *, const char *, const char *, fake_answer *);

static void open_world(world *w, answer_fn answer, uint32_t flags) {
    assert_int_equal(grove_env_new(NULL, &w->env), GROVE_OK);
    w->f.answer = answer;
    w->f.ctx = w;
    grove_k8s_options o = {.size = sizeof o, .seed = 5, .flags = flags};
    assert_int_equal(fake_backend(w->env, &w->f, NULL, &o, &w->b), GROVE_OK);
    w->s.b = &w->b;
}

static void close_world(world *w) {
    w->b.ops->destroy(w->b.impl);
    grove_env_unref(w->env);
    for (int i = 0; i < 4; i++) {
        free(w->texts[i]);
    }
}

static void ok(fake_answer *out, const char *body, size_t len, bool open) {
    *out = (fake_answer){.http = 200, .body = body, .len = len, .open = open};
}

/* ---- WatchList ---- */

static void streamed(fake *f, const char *method, const char *url, const char *body,
                     fake_answer *out) {
    const world *w = f->ctx;
    (void)method;
    (void)body;
    bool first = strstr(url, "sendInitialEvents=true") != NULL;
    ok(out, w->texts[0], first ? w->lens[0] : 0, !first);
}

static const char streamed_events[] =
    "ADDED PodClique/small-0-g-0-l 5478\nADDED PodClique/small-0-g-1-l 5872\n"
    "ADDED PodClique/small-0-w 5509\nSYNCED 6756\nMODIFIED PodClique/small-0-g-0-l 6821\n"
    "MODIFIED PodClique/small-0-g-0-l 6828\nBOOKMARK 6828\n";

static void watchlist(void **state) {
    (void)state;
    for (size_t piece = 0; piece < 40; piece++) {
        world w = {.f = {.piece = piece * piece * 3, .seed = piece}};
        w.texts[0] = test_read("tests/golden/k8s/podcliques-watchlist.jsonl", &w.lens[0]);
        w.s.refuse = (uint32_t)piece % 3;
        open_world(&w, streamed, 0);
        begin(&w.b, GROVE_KIND_PODCLIQUE, NULL);
        (void)look(&w.b, START, &w.s);
        assert_string_equal(w.s.text, streamed_events);
        (void)look(&w.b, START + 2 * SECOND, &w.s);
        assert_int_equal(w.f.n_sent, 2); /* it ended, and goes on from where it was */
        assert_non_null(strstr(w.f.log[0], "labelSelector=a%20in%20%28b%2Cc%29"));
        assert_non_null(strstr(w.f.log[1], "resourceVersion=6828"));
        assert_string_equal(w.s.text, streamed_events);
        close_world(&w);
    }
}

static void unsupported(fake *f, const char *method, const char *url, const char *body,
                        fake_answer *out) {
    const world *w = f->ctx;
    (void)method;
    (void)body;
    if (strstr(url, "sendInitialEvents=true")) {
        ok(out, w->texts[0], w->lens[0], false);
    } else if (strstr(url, "watch=1")) {
        ok(out, "", 0, true);
    } else if (strstr(url, "continue=")) {
        static const char last[] = "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
                                   "\"resourceVersion\":\"6756\"},\"items\":[]}";
        ok(out, last, sizeof last - 1, false);
    } else {
        ok(out, w->texts[1], w->lens[1], false);
    }
}

/* An old etcd behind a new server: a list in pages, whose items learn what they are. */
static void falls_back_to_pages(void **state) {
    (void)state;
    for (size_t piece = 0; piece < 8; piece++) {
        world w = {.f = {.piece = piece * 1000, .seed = piece}};
        w.texts[0] = test_read("tests/golden/k8s/watchlist-unsupported.jsonl", &w.lens[0]);
        w.texts[1] = test_read("tests/golden/k8s/pods-list-limit2-noselector.json", &w.lens[1]);
        open_world(&w, unsupported, 0);
        begin(&w.b, GROVE_KIND_POD, NULL);
        (void)look(&w.b, START, &w.s);
        assert_non_null(strstr(w.s.text, "ADDED Pod/big-0-w-7gjw6 "));
        assert_non_null(strstr(w.s.text, "ADDED Pod/big-0-w-7nt92 "));
        const char *tail = strstr(w.s.text, "SYNCED");
        assert_string_equal(tail, "SYNCED 6756\n");
        assert_int_equal(w.f.n_sent, 4);
        assert_non_null(strstr(w.f.log[1], "limit=500"));
        assert_non_null(strstr(w.f.log[2], "continue=eyJ2"));
        assert_null(strstr(w.f.log[2], "resourceVersion="));
        assert_non_null(strstr(w.f.log[3], "resourceVersion=6756"));
        close_world(&w);
    }
}

/* ---- positions that are lost ---- */

static void too_old(fake *f, const char *method, const char *url, const char *body,
                    fake_answer *out) {
    const world *w = f->ctx;
    (void)method;
    (void)url;
    (void)body;
    ok(out, w->texts[0], w->lens[0], false);
}

static void expired_event(void **state) {
    (void)state;
    world w = {.f = {.piece = 13}};
    w.texts[0] = test_read("tests/golden/k8s/watch-too-old.jsonl", &w.lens[0]);
    open_world(&w, too_old, 0);
    begin(&w.b, GROVE_KIND_POD, "1");
    (void)look(&w.b, START, &w.s);
    assert_string_equal(w.s.text, "GONE \n");
    assert_int_equal(w.b.ops->cancel(w.b.impl, 7, NULL), GROVE_E_NOT_FOUND);
    close_world(&w);
}

static void http_410(fake *f, const char *method, const char *url, const char *body,
                     fake_answer *out) {
    (void)f;
    (void)method;
    (void)url;
    (void)body;
    ok(out, "gone", 4, false);
    out->http = 410;
}

static void expired_status(void **state) {
    (void)state;
    world w = {.f = {.piece = 13}};
    open_world(&w, http_410, 0);
    begin(&w.b, GROVE_KIND_POD, "1");
    (void)look(&w.b, START, &w.s);
    assert_string_equal(w.s.text, "GONE \n");
    close_world(&w);
}

/* A server that loses every position sees a bounded number of requests, too. */
static void always_expired(void **state) {
    (void)state;
    world w = {.f = {.piece = 1000}};
    open_world(&w, http_410, 0);
    int64_t now = START, end = START + 60 * SECOND;
    uint32_t begun = 0;
    while (now < end) {
        if (begun == 0 || strstr(w.s.text, "GONE")) {
            w.s.text[0] = '\0';
            begin(&w.b, GROVE_KIND_POD, "1");
            begun++;
        }
        int64_t next = look(&w.b, now, &w.s);
        now = strstr(w.s.text, "GONE") ? now : next;
    }
    assert_in_range(begun, 10, 80);
    assert_int_equal(w.f.n_sent, begun);
    close_world(&w);
}

/* The second page is gone after the first was told: the beginning cannot be taken back. */
static void page_expires(fake *f, const char *method, const char *url, const char *body,
                         fake_answer *out) {
    const world *w = f->ctx;
    (void)method;
    (void)body;
    ok(out, w->texts[0], w->lens[0], false);
    if (strstr(url, "continue=")) {
        http_410(f, method, url, body, out);
    }
}

static void second_page_expires(void **state) {
    (void)state;
    world w = {.f = {.piece = 5000}};
    w.texts[0] = test_read("tests/golden/k8s/podcliques-list.json", &w.lens[0]);
    open_world(&w, page_expires, GROVE_K8S_NO_WATCHLIST);
    begin(&w.b, GROVE_KIND_PODCLIQUE, NULL);
    (void)look(&w.b, START, &w.s);
    assert_non_null(strstr(w.s.text, "ADDED PodClique/big-12-w "));
    assert_null(strstr(w.s.text, "SYNCED"));
    assert_non_null(strstr(w.s.text, "GONE"));
    close_world(&w);
}

/* ---- other answers ---- */

static void missing(fake *f, const char *method, const char *url, const char *body,
                    fake_answer *out) {
    (void)f;
    (void)method;
    (void)url;
    (void)body;
    ok(out, "404 page not found\n", 19, false);
    out->http = 404;
}

static void kind_unknown(void **state) {
    (void)state;
    world w = {.f = {.piece = 100}};
    open_world(&w, missing, 0);
    begin(&w.b, GROVE_KIND_KAI_PODGROUP, NULL);
    int64_t deadline = look(&w.b, START, &w.s);
    assert_string_equal(w.s.text, "SYNCED 0\n"); /* there are none */
    assert_int_equal(deadline, START + 60 * SECOND);
    uint32_t sent = w.f.n_sent;
    (void)look(&w.b, START + 59 * SECOND, &w.s);
    assert_int_equal(w.f.n_sent, sent);
    (void)look(&w.b, START + 60 * SECOND, &w.s);
    assert_int_equal(w.f.n_sent, sent + 1);
    assert_string_equal(w.s.text, "SYNCED 0\n");
    close_world(&w);
}

/* From the third request on the kind is there. */
static void installed(fake *f, const char *method, const char *url, const char *body,
                      fake_answer *out) {
    static const char list[] =
        "{\"kind\":\"SomeList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[{"
        "\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"8\"}}]}";
    if (f->n_sent < 3) {
        missing(f, method, url, body, out);
    } else if (strstr(url, "watch=1")) {
        ok(out, "", 0, true);
    } else {
        ok(out, list, sizeof list - 1, false);
    }
}

/* Each kind that a cluster may lack: it is installed while we run, and found, on its own path. */
static void kind_found_later(void **state) {
    (void)state;
    static const struct {
        grove_kind kind;
        const char *path;
    } rows[] = {
        {GROVE_KIND_KAI_PODGROUP, "/apis/scheduling.run.ai/v2alpha2/namespaces/streams/podgroups?"},
        {GROVE_KIND_KAI_TOPOLOGY, "/apis/kai.scheduler/v1alpha1/topologies?"},
        {GROVE_KIND_VOLCANO_PODGROUP,
         "/apis/scheduling.volcano.sh/v1beta1/namespaces/streams/podgroups?"},
        {GROVE_KIND_VOLCANO_QUEUE, "/apis/scheduling.volcano.sh/v1beta1/queues?"},
        {GROVE_KIND_COMPUTEDOMAIN,
         "/apis/resource.nvidia.com/v1beta1/namespaces/streams/computedomains?"},
        {GROVE_KIND_RESOURCECLAIM, "/apis/resource.k8s.io/v1/namespaces/streams/resourceclaims?"},
        {GROVE_KIND_RESOURCECLAIMTEMPLATE,
         "/apis/resource.k8s.io/v1/namespaces/streams/resourceclaimtemplates?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w = {.f = {.piece = 100}};
        char want[100];
        open_world(&w, installed, 0);
        begin(&w.b, rows[i].kind, NULL);
        (void)look(&w.b, START, &w.s);
        (void)look(&w.b, START + 60 * SECOND, &w.s);
        assert_string_equal(w.s.text, "SYNCED 0\n");
        (void)look(&w.b, START + 120 * SECOND, &w.s);
        (void)snprintf(want, sizeof want, "SYNCED 0\nADDED %s/a 8\n",
                       grove_kind_name(rows[i].kind));
        assert_string_equal(w.s.text, want);
        const char *last = w.f.log[w.f.n_sent - 1];
        assert_non_null(strstr(last, rows[i].path));
        assert_non_null(strstr(last, "watch=1"));
        assert_non_null(strstr(last, "resourceVersion=9"));
        close_world(&w);
    }
}

static void down(fake *f, const char *method, const char *url, const char *body, fake_answer *out) {
    (void)f;
    (void)method;
    (void)url;
    (void)body;
    *out = (fake_answer){.how = GV_K8S_END_UNSENT};
}

/* A server that is down sees a bounded number of requests, and nothing is told. */
static void backs_off(void **state) {
    (void)state;
    world w = {.f = {.piece = 100}};
    open_world(&w, down, 0);
    begin(&w.b, GROVE_KIND_POD, NULL);
    int64_t now = START, end = START + 600 * SECOND;
    while (now < end) {
        int64_t next = look(&w.b, now, &w.s);
        assert_true(next > now);
        now = next;
    }
    assert_string_equal(w.s.text, "");
    assert_in_range(w.f.n_sent, 20, 60); /* 0.8 s, doubling, at most 30 s apart */
    close_world(&w);
}

static void nonsense(fake *f, const char *method, const char *url, const char *body,
                     fake_answer *out) {
    (void)method;
    (void)url;
    (void)body;
    (void)f;
    ok(out, "<html>no</html>", 15, false);
}

static void nonsense_is_survived(void **state) {
    (void)state;
    world w = {.f = {.piece = 4}};
    open_world(&w, nonsense, 0);
    begin(&w.b, GROVE_KIND_POD, "5");
    int64_t next = look(&w.b, START, &w.s);
    assert_true(next > START);
    (void)look(&w.b, next, &w.s);
    assert_string_equal(w.s.text, "GONE \n");
    close_world(&w);
}

static void cancels_itself(void **state) {
    (void)state;
    world w = {.f = {.piece = 100000}};
    w.texts[0] = test_read("tests/golden/k8s/podcliques-watchlist.jsonl", &w.lens[0]);
    open_world(&w, streamed, 0);
    begin(&w.b, GROVE_KIND_PODCLIQUE, NULL);
    w.s.cancel = 7;
    (void)look(&w.b, START, &w.s);
    assert_string_equal(w.s.text, "ADDED PodClique/small-0-g-0-l 5478\n");
    close_world(&w);
}

static void silent(fake *f, const char *method, const char *url, const char *body,
                   fake_answer *out) {
    static const char mark[] =
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n";
    (void)f;
    (void)method;
    (void)url;
    (void)body;
    ok(out, mark, sizeof mark - 1, true);
}

/* A connection that is dead without saying so: bookmarks stop. */
static void falls_silent(void **state) {
    (void)state;
    world w = {.f = {.piece = 100000}};
    open_world(&w, silent, 0);
    begin(&w.b, GROVE_KIND_PODCLIQUE, "5");
    int64_t next = look(&w.b, START, &w.s);
    assert_in_range(next - START, 90 * SECOND, 91 * SECOND);
    assert_int_equal(w.f.n_sent, 1);
    (void)look(&w.b, next, &w.s);
    assert_int_equal(w.f.n_sent, 2);
    assert_non_null(strstr(w.f.log[1], "resourceVersion=9"));
    close_world(&w);
}

/* ---- memory ---- */

static grove_status quiet_event(void *ctx, const grove_event *e) {
    (void)e;
    ++*(uint32_t *)ctx;
    return GROVE_OK;
}

static grove_status oom_run(grove_env *env, void *ctx) {
    const world *from = ctx;
    world w = {.f = {.piece = 2000, .answer = unsupported}};
    uint32_t told = 0;
    memcpy(w.texts, from->texts, sizeof w.texts);
    memcpy(w.lens, from->lens, sizeof w.lens);
    w.f.ctx = &w;
    grove_k8s_options o = {.size = sizeof o, .seed = 5};
    grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 7, .ns = "a"};
    grove_status st = fake_backend(env, &w.f, NULL, &o, &w.b);
    if (st < 0) {
        return st;
    }
    st = w.b.ops->watch(w.b.impl, &g, NULL);
    grove_sink sink = {(uint32_t)sizeof sink, 0, &told, on_completion, quiet_event};
    int64_t deadline = START;
    for (int i = 0; st == GROVE_OK && deadline <= START && i < 50; i++) {
        st = w.b.ops->process(w.b.impl, START, 0, &sink, &deadline, NULL);
    }
    w.b.ops->destroy(w.b.impl);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    world w = {0};
    w.texts[0] = test_read("tests/golden/k8s/watchlist-unsupported.jsonl", &w.lens[0]);
    w.texts[1] = test_read("tests/golden/k8s/pods-list-limit2-noselector.json", &w.lens[1]);
    oom_loop("watch", oom_run, &w);
    free(w.texts[0]);
    free(w.texts[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watchlist),
        cmocka_unit_test(falls_back_to_pages),
        cmocka_unit_test(expired_event),
        cmocka_unit_test(expired_status),
        cmocka_unit_test(second_page_expires),
        cmocka_unit_test(kind_unknown),
        cmocka_unit_test(kind_found_later),
        cmocka_unit_test(backs_off),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(cancels_itself),
        cmocka_unit_test(falls_silent),
        cmocka_unit_test(always_expired),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
