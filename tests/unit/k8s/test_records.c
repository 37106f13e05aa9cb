/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches of pods as records: the same store as from documents, in any cut of the bytes, and no more memory
 * than the store's while a large list comes in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/store.h>
#include <grove/sys/extract.h>

#include "fake.h"
#include "support/files.h"
#include "support/oom.h"

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1800000000) * SECOND)

typedef struct world {
    grove_env *env;
    fake f;
    grove_backend b;
    grove_store *store;
    const char *text; /* what a watch or the first page answers */
    size_t len;
    const char *more; /* the second page */
    grove_kind kind;  /* 0: pods */
    uint32_t refuse, records, documents, synced, gone, page2;
    size_t cut_at; /* of the second page, the first time; 0: not */
    grove_buf log; /* every event: type, version, record or document */
    char version[64];
} world;

static grove_status on_completion(void *ctx, const grove_completion *c) {
    (void)ctx;
    (void)c;
    return GROVE_OK;
}

static grove_status take(world *w, const grove_event *e) {
    if (e->type == GROVE_EVENT_DELETED) {
        return e->record ? grove_store_remove_record(w->store, e->record, NULL)
                         : grove_store_remove(w->store, e->object, NULL);
    }
    return e->record ? grove_store_put_record(w->store, e->record, NULL)
                     : grove_store_put(w->store, e->object_doc, e->object, NULL);
}

static grove_status on_event(void *ctx, const grove_event *e) {
    world *w = ctx;
    if (w->refuse > 0) {
        w->refuse--;
        return GROVE_E_LIMIT;
    }
    w->synced += e->type == GROVE_EVENT_SYNCED;
    w->gone += e->type == GROVE_EVENT_GONE;
    grove_status st = gv_k8s_putf(&w->log, "%d %s\n", e->type, e->resource_version);
    if (st < 0 || e->type > GROVE_EVENT_DELETED) {
        return st;
    }
    w->records += e->record != NULL;
    w->documents += e->object != NULL;
    assert_true((e->record != NULL) != (e->object != NULL));
    return take(w, e);
}

static void look(world *w, int64_t now) {
    grove_sink sink = {(uint32_t)sizeof sink, 0, w, on_completion, on_event};
    int64_t deadline = 0;
    for (int i = 0; i < 20000; i++) {
        grove_status st = w->b.ops->process(w->b.impl, now, 0, &sink, &deadline, NULL);
        assert_true(st == GROVE_OK || st == GROVE_E_LIMIT);
        if (st == GROVE_OK && deadline > now) {
            return;
        }
    }
    fail_msg("no rest");
}

static void recorded(fake *f, const char *method, const char *url, const char *body,
                     fake_answer *out) {
    world *w = f->ctx;
    bool first = !strstr(url, "watch=1") || strstr(url, "sendInitialEvents") ||
                 strstr(url, "resourceVersion=1000");
    (void)method;
    (void)body;
    *out = (fake_answer){.http = 200, .body = w->text, .len = first ? w->len : 0};
    out->open = !first;
    if (strstr(url, "continue=")) {
        out->body = w->more;
        out->len = strlen(w->more);
        if (w->page2++ == 0 && w->cut_at > 0) {
            out->len = w->cut_at;
            out->how = GV_K8S_END_LOST;
        }
    }
}

static void begin(world *w, uint32_t flags, const char *version, uint32_t k8s_flags) {
    assert_int_equal(grove_store_new(w->env, &w->store), GROVE_OK);
    grove_buf_init(&w->log, w->env);
    w->f.answer = recorded;
    w->f.ctx = w;
    grove_k8s_options o = {.size = sizeof o, .seed = 5, .flags = k8s_flags};
    assert_int_equal(fake_backend(w->env, &w->f, NULL, &o, &w->b), GROVE_OK);
    grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 7, .flags = flags};
    g.kind = w->kind ? w->kind : g.kind;
    g.resource_version = version;
    assert_int_equal(w->b.ops->watch(w->b.impl, &g, NULL), GROVE_OK);
}

static void end(world *w) {
    w->b.ops->destroy(w->b.impl);
    grove_buf_fini(&w->log);
    grove_store_free(w->store);
}

static grove_store_stats stats_of(const world *w) {
    grove_store_stats s = {.size = sizeof s};
    assert_int_equal(grove_store_stats_get(w->store, &s), GROVE_OK);
    return s;
}

/* ---- the same store ---- */

typedef struct stream {
    const char *file, *version; /* version NULL: a WatchList */
    grove_kind kind;
    bool records;  /* pods only: others are documents */
    size_t stride; /* between the bytes where it is cut in two */
} stream;

/* The same events and the same store as from documents in one piece. */
static void check_same(const stream *s, const world *whole, world *w) {
    grove_store_stats want = stats_of(whole), got = stats_of(w);
    assert_int_equal(s->records ? w->documents : w->records, 0);
    assert_int_equal(w->documents + w->records, whole->documents);
    assert_string_equal(w->log.data, whole->log.data);
    assert_int_equal(got.pods, want.pods);
    assert_int_equal(got.strings, want.strings);
    assert_int_equal(got.bytes, want.bytes);
    assert_int_equal(got.replaced, want.replaced);
    assert_int_equal(got.unchanged, want.unchanged);
}

static void begin_whole(world *w, grove_env *env, const stream *s, const char *text, size_t len) {
    *w = (world){.env = env, .f = {.piece = len}, .text = text, .len = len, .kind = s->kind};
    begin(w, 0, s->version, 0);
    look(w, START);
    assert_int_equal(w->records, 0);
    assert_true(w->documents > 1);
}

static void in_pieces(const stream *s, const char *text, size_t len, size_t cuts) {
    grove_env *env = NULL;
    world whole;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    begin_whole(&whole, env, s, text, len);
    for (size_t cut = 0; cut < cuts; cut++) {
        world w = {.env = env, .text = text, .len = len, .kind = s->kind};
        w.refuse = (uint32_t)cut;
        w.f.piece = cut < 2 ? 0 : cut * cut * cut + 1;
        w.f.seed = cut + 1;
        begin(&w, s->records ? GROVE_WATCH_RECORDS : 0, s->version, 0);
        look(&w, START);
        check_same(s, &whole, &w);
        end(&w);
    }
    end(&whole);
    grove_env_unref(env);
}

static void same_store(void **state) {
    (void)state;
    size_t len = 0;
    const stream selector = {.version = "1000", .records = true};
    char *text = test_read("tests/golden/k8s/pods-watch-selector.jsonl", &len);
    in_pieces(&selector, text, len, 20);
    free(text);
    static const stream streams[] = {
        {"pods-watch.jsonl", "1000", 0, true, 0},
        {"pods-watchlist.jsonl", NULL, 0, true, 0},
        {"pods-watch-rv0.jsonl", "1000", 0, true, 0},
        {"podgangs-watch.jsonl", "1000", GROVE_KIND_PODGANG, false, 0},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "conformance/streams/%s", streams[i].file);
        char *path = test_shared_path(name);
        text = path ? test_read_path(path, &len) : NULL;
        if (text) {
            in_pieces(&streams[i], text, len, 9);
        }
        free(text);
        free(path);
    }
}

/* Cut in two at each byte (each third or fifth where it is documents, which are slow). */
static void cut_anywhere(void **state) {
    (void)state;
    static const stream streams[] = {
        {"pods-watch-selector.jsonl", "1000", 0, true, 1},
        {"pcs-watch.jsonl", "1000", GROVE_KIND_PODCLIQUESET, false, 3},
        {"podcliques-watchlist.jsonl", NULL, GROVE_KIND_PODCLIQUE, false, 5},
    };
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        const stream *s = &streams[i];
        grove_env *env = NULL;
        world whole;
        char name[80];
        size_t len = 0;
        assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
        (void)snprintf(name, sizeof name, "tests/golden/k8s/%s", s->file);
        char *text = test_read(name, &len);
        begin_whole(&whole, env, s, text, len);
        for (size_t cut = 1; cut < len; cut += s->stride) {
            world w = {.env = env, .f = {.cut = cut}, .text = text, .len = len, .kind = s->kind};
            begin(&w, s->records ? GROVE_WATCH_RECORDS : 0, s->version, 0);
            look(&w, START);
            check_same(s, &whole, &w);
            end(&w);
        }
        end(&whole);
        free(text);
        grove_env_unref(env);
    }
}

/* ---- lists in pages ---- */

static const char page1[] =
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\","
    "\"continue\":"
    "\"x\"},\"items\":[{\"metadata\":{\"name\":\"a\",\"uid\":\"1\",\"resourceVersion\":\"1\"}}]}";
static const char page2[] = "{\"items\":[{\"metadata\":{\"name\":\"b\",\"uid\":\"2\","
                            "\"resourceVersion\":\"2\"}},{\"metadata\":{"
                            "\"name\":\"c\",\"uid\":\"3\",\"resourceVersion\":\"3\"}}],"
                            "\"metadata\":{\"resourceVersion\":\"9\"}}";

/* A later page that is cut off anywhere is asked for again, and goes on where it was. */
static void cut_pages(void **state) {
    (void)state;
    grove_env *env = NULL;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    for (size_t cut = 1; cut < sizeof page2 - 1; cut++) {
        world w = {.env = env, .text = page1, .len = sizeof page1 - 1, .more = page2};
        w.cut_at = cut;
        begin(&w, cut % 2 ? GROVE_WATCH_RECORDS : 0, NULL, GROVE_K8S_NO_WATCHLIST);
        look(&w, START);
        look(&w, START + 40 * SECOND);
        assert_int_equal(w.page2, 2);
        assert_string_equal(w.log.data, "1 1\n1 2\n1 3\n5 9\n");
        assert_int_equal(stats_of(&w).pods, 3);
        end(&w);
    }
    grove_env_unref(env);
}

/* ---- memory ---- */

/* A list of n pods of about 9 kB, as one page. */
static char *large_list(grove_env *env, uint32_t n, grove_buf *b) {
    size_t len = 0;
    char *pad = malloc(6001);
    char *pod = test_read("tests/golden/extract/pod.json", &len);
    assert_non_null(pad);
    memset(pad, 'x', 6000);
    pad[6000] = '\0';
    grove_buf_init(b, env);
    assert_int_equal(gv_k8s_put(b, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"9\"},"
                                   "\"items\":["),
                     GROVE_OK);
    const char *rest = strstr(pod, "\"namespace\"");
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(
            gv_k8s_putf(b, "%s{\"metadata\":{\"name\":\"p-%u\",\"note\":\"", i ? "," : "", i),
            GROVE_OK);
        assert_int_equal(gv_k8s_put(b, pad), GROVE_OK);
        assert_int_equal(gv_k8s_put(b, "\","), GROVE_OK);
        assert_int_equal(gv_k8s_put(b, rest), GROVE_OK);
    }
    assert_int_equal(gv_k8s_put(b, "]}"), GROVE_OK);
    free(pod);
    free(pad);
    return b->data;
}

static void memory(void **state) {
    (void)state;
    oom_memory m;
    grove_env *plain = NULL;
    grove_buf b;
    const uint32_t n = 2000;
    assert_int_equal(grove_env_new(NULL, &plain), GROVE_OK);
    char *text = large_list(plain, n, &b);
    oom_memory_init(&m);
    grove_env *env = oom_env(&m, NULL);
    world w = {.env = env, .text = text, .len = (size_t)b.len, .f = {.piece = 16384}};
    begin(&w, GROVE_WATCH_RECORDS, NULL, GROVE_K8S_NO_WATCHLIST);
    grove_buf_fini(&w.log); /* not counted */
    grove_buf_init(&w.log, plain);
    uint64_t before = m.live_bytes;
    look(&w, START);
    assert_int_equal(w.synced, 1);
    assert_int_equal(stats_of(&w).pods, n);
    uint64_t a_pod = (m.live_bytes - before) / n, over = m.peak_bytes - m.live_bytes;
    printf("%llu bytes a pod, %llu above that while %llu kB came\n", (unsigned long long)a_pod,
           (unsigned long long)over, (unsigned long long)b.len / 1024);
    assert_true(a_pod <= 700);
    assert_true(over < 200000);
    end(&w);
    grove_env_unref(env);
    assert_int_equal(m.live_blocks, 0);
    grove_buf_fini(&b);
    grove_env_unref(plain);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    world w = {.env = env, .text = page1, .len = sizeof page1 - 1, .more = page2};
    (void)ctx;
    grove_status st = grove_store_new(env, &w.store);
    grove_buf_init(&w.log, env);
    w.f.answer = recorded;
    w.f.ctx = &w;
    w.f.piece = 37;
    grove_k8s_options o = {.size = sizeof o, .seed = 5, .flags = GROVE_K8S_NO_WATCHLIST};
    st = st < 0 ? st : fake_backend(env, &w.f, NULL, &o, &w.b);
    grove_watch g = {.size = sizeof g, .kind = GROVE_KIND_POD, .token = 7};
    g.flags = GROVE_WATCH_RECORDS;
    st = st < 0 ? st : w.b.ops->watch(w.b.impl, &g, NULL);
    grove_sink sink = {(uint32_t)sizeof sink, 0, &w, on_completion, on_event};
    int64_t deadline = START;
    for (int i = 0; i < 50 && st == GROVE_OK && deadline <= START; i++) {
        st = w.b.ops->process(w.b.impl, START, 0, &sink, &deadline, NULL);
    }
    if (w.b.ops) {
        w.b.ops->destroy(w.b.impl);
    }
    grove_buf_fini(&w.log);
    grove_store_free(w.store);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    oom_loop("records", oom_run, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_store), cmocka_unit_test(cut_anywhere),  cmocka_unit_test(cut_pages),
        cmocka_unit_test(memory),     cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
