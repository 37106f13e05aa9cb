/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from bytes say what documents say: on recorded objects, and on the same after random changes of
 * their text. The document is the oracle.
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

#include "model/extract.h"
#include "support/files.h"
#include "support/oom.h"

typedef struct bench {
    grove_env *env;
    grove_extract *x;
    gv_pod_facts pod;
    gv_node_facts node;
    grove_buf a, b;
    uint64_t random;
    uint32_t objects, refused, compared;
} bench;

static uint32_t dice(bench *t, size_t below) {
    return (uint32_t)(grove_random_next(&t->random) % below);
}

static void open_bench(bench *t) {
    assert_int_equal(grove_env_new(NULL, &t->env), GROVE_OK);
    assert_int_equal(grove_extract_new(t->env, &t->x), GROVE_OK);
    grove_buf_init(&t->a, t->env);
    grove_buf_init(&t->b, t->env);
}

static void close_bench(bench *t) {
    gv_pod_facts_fini(t->env, &t->pod);
    gv_node_facts_fini(t->env, &t->node);
    grove_buf_fini(&t->a);
    grove_buf_fini(&t->b);
    grove_extract_free(t->x);
    grove_env_unref(t->env);
}

static bool says(const grove_node *root, const char *key, const char *word) {
    const grove_node *n = grove_node_get(root, key);
    const char *text = grove_node_type(n) == GROVE_STRING ? grove_node_text(n) : NULL;
    return n == NULL || (text && strcmp(text, word) == 0);
}

/* What the document of this text says, in t->a. */
static grove_status by_document(bench *t, grove_kind kind, const char *text, size_t n,
                                bool *out_other) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(t->env, text, n, 0, &doc, NULL);
    *out_other = false;
    if (st < 0) {
        return st;
    }
    const grove_node *root = grove_doc_root(doc);
    const char *word = kind == GROVE_KIND_POD ? "Pod" : "Node";
    grove_buf_clear(&t->a);
    if (!says(root, "kind", word) || !says(root, "apiVersion", "v1")) {
        st = GROVE_E_INVALID;
    } else if (!grove_node_get(root, "kind") || !grove_node_get(root, "apiVersion")) {
        *out_other = true; /* a document does not know what it is; an item of a list does */
    } else if (kind == GROVE_KIND_POD) {
        st = gv_pod_read(t->env, root, &t->pod, NULL);
        st = st < 0 ? st : gv_pod_facts_write(t->env, &t->pod, &t->a);
    } else {
        st = gv_node_read(t->env, root, &t->node, NULL);
        st = st < 0 ? st : gv_node_facts_write(t->env, &t->node, &t->a);
    }
    grove_doc_unref(doc);
    return st;
}

static void agree(bench *t, grove_kind kind, const char *text, size_t n) {
    bool other;
    char *exact = malloc(n + 1); /* so that a sanitizer sees a step too far */
    assert_non_null(exact);
    memcpy(exact, text, n);
    grove_status a = by_document(t, kind, exact, n, &other);
    char *bytes = realloc(exact, n > 0 ? n : 1);
    assert_non_null(bytes);
    grove_status b = grove_extract_read(t->x, kind, bytes, n, NULL);
    t->objects++;
    if (!other && (a < 0) != (b < 0)) {
        fail_msg("the document answers %d, the extractor %d: %.*s", a, b, (int)n, text);
    }
    if (a == GROVE_OK && b == GROVE_OK && !other) {
        grove_buf_clear(&t->b);
        assert_int_equal(grove_extract_write(t->x, &t->b), GROVE_OK);
        if (t->a.len != t->b.len || memcmp(t->a.data, t->b.data, (size_t)t->a.len) != 0) {
            fail_msg("document:  %s\nextractor: %s\ntext: %.*s", t->a.data, t->b.data, (int)n,
                     text);
        }
        t->compared++;
    }
    t->refused += b < 0 ? 1 : 0;
    free(bytes);
}

/* ---- changes ---- */

/* Where a value begins: behind a colon that stands in no string; n: none found. */
static size_t value_at(bench *t, const char *text, size_t n) {
    size_t start = dice(t, n), found = n;
    bool in_string = false;
    for (size_t i = 0; i < n && (i < start || found == n); i++) {
        if (text[i] == '\\' && in_string) {
            i++;
        } else if (text[i] == '"') {
            in_string = !in_string;
        } else if (text[i] == ':' && !in_string && i + 1 < n) {
            found = i + 1;
        }
    }
    return found;
}

static gv_str value_of(bench *t, gv_str text) {
    gv_arena arena;
    gv_scan s;
    size_t at = value_at(t, text.p, text.n);
    gv_arena_init(&arena, t->env);
    gv_scan_begin(&s, (gv_str){text.p + at, text.n - at}, &arena, 100);
    gv_str value = gv_scan_skip(&s);
    gv_arena_fini(&arena);
    return value;
}

static void splice(grove_buf *out, gv_str text, size_t from, size_t to, gv_str fresh) {
    grove_buf_clear(out);
    (void)grove_buf_append(out, text.p, from);
    (void)grove_buf_append(out, fresh.p, fresh.n);
    (void)grove_buf_append(out, text.p + to, text.n - to);
}

/* One change of `text` into *out: of a value, of a member, or of bytes. */
static void change(bench *t, gv_str text, grove_buf *out) {
    static const char *const pool[] = {"null",
                                       "0",
                                       "-1",
                                       "1.5",
                                       "2.0",
                                       "1e3",
                                       "9223372036854775808",
                                       "\"\"",
                                       "\"x\"",
                                       "true",
                                       "false",
                                       "[]",
                                       "{}",
                                       "[{}]",
                                       "[null]",
                                       "\"True\"",
                                       "\"2026-01-02T03:04:05Z\"",
                                       "\"1Gi\"",
                                       "{\"cpu\":\"1\",\"cpu\":\"2\"}",
                                       "\"Ready\"",
                                       "\"\\u0052eady\"",
                                       "[1,[2,{\"a\":[]}]]",
                                       "{\"name\":\"y\"}",
                                       "\"Always\"",
                                       "{\"cpu\":null}",
                                       "65536",
                                       "\"\\ud83d\\ude00\"",
                                       "\"\\ud83d\"",
                                       "\"\xC3\xA9\"",
                                       "\"\xC3\"",
                                       "01",
                                       "1e9999999999",
                                       "nul",
                                       "\"a\nb\""};
    static const char *const keys[] = {"metadata", "spec",        "status",     "labels",
                                       "name",     "conditions",  "containers", "resources",
                                       "requests", "limits",      "phase",      "kind",
                                       "taints",   "allocatable", "capacity",   "type"};
    gv_str value = value_of(t, text), fresh = gv_str_c(pool[dice(t, sizeof pool / sizeof *pool)]);
    size_t at = (size_t)(value.p - text.p);
    char member[200];
    if (value.n == 0) {
        at = dice(t, text.n);
        splice(out, text, at, at + dice(t, text.n - at), GV_STR(""));
        return;
    }
    switch (dice(t, 6)) {
    case 0: /* another value of the same text */
        fresh = value_of(t, text);
        splice(out, text, at, at + value.n, fresh);
        return;
    case 1:
        splice(out, text, at, at + value.n, fresh);
        return;
    case 2: /* one more member: often a key that is there already */
        (void)snprintf(member, sizeof member, ",\"%s\":%s",
                       keys[dice(t, sizeof keys / sizeof *keys)], fresh.p);
        splice(out, text, at + value.n, at + value.n, gv_str_c(member));
        return;
    case 3: /* a key that is written with an escape */
        (void)snprintf(member, sizeof member, ",\"\\u00%02x%s\":%s", 'm', "etadata", fresh.p);
        splice(out, text, at + value.n, at + value.n, gv_str_c(member));
        return;
    case 4: { /* bytes */
        const char byte[1] = {(char)dice(t, 256)};
        size_t i = dice(t, text.n);
        splice(out, text, i, i + dice(t, 2), (gv_str){byte, dice(t, 2)});
        return;
    }
    default:
        at = dice(t, text.n); /* cut off */
        splice(out, text, at, text.n, GV_STR(""));
    }
}

static void agree_on_changes(bench *t, grove_kind kind, gv_str text, uint32_t rounds) {
    grove_buf bufs[2];
    grove_buf_init(&bufs[0], t->env);
    grove_buf_init(&bufs[1], t->env);
    for (uint32_t i = 0; i < rounds; i++) {
        gv_str now = text;
        uint32_t n = 1 + dice(t, 4);
        for (uint32_t k = 0; k < n && now.n > 0; k++) {
            change(t, now, &bufs[k % 2]);
            now = gv_buf_view(&bufs[k % 2]);
        }
        agree(t, kind, now.p, now.n);
    }
    grove_buf_fini(&bufs[0]);
    grove_buf_fini(&bufs[1]);
}

static uint32_t rounds(uint32_t usual) {
    const char *env = getenv("GROVE_SEEDS");
    return env ? (uint32_t)strtoul(env, NULL, 10) : usual;
}

static void written_objects(void **state) {
    (void)state;
    bench t = {.random = 11};
    size_t n;
    open_bench(&t);
    char *pod = test_read("tests/golden/extract/pod.json", &n);
    agree(&t, GROVE_KIND_POD, pod, n);
    assert_int_equal(t.compared, 1);
    /* what it says: so that both readers do not agree on nothing */
    const char *const words[] = {"\"name\":\"w-0-a1b2c\"",
                                 "\"ownerUid\":\"u-2\"",
                                 "\"index\":12",
                                 "\"hostnameIndex\":12",
                                 "\"gateAt\":1,\"gates\":2",
                                 "\"clique\":\"w-0-c\"",
                                 "\"baseGang\":\"w-b\"",
                                 "\"node\":\"n-1\"",
                                 "{\"name\":\"cpu\",\"amount\":3110}",
                                 "{\"name\":\"memory\",\"amount\":1073741824}",
                                 "{\"name\":\"nvidia.com/gpu\",\"amount\":8}",
                                 "{\"port\":8081,\"protocol\":1}"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strstr(t.b.data, words[i])) {
            fail_msg("%s is not in %s", words[i], t.b.data);
        }
    }
    agree_on_changes(&t, GROVE_KIND_POD, (gv_str){pod, n}, rounds(4000));
    free(pod);
    char *node = test_read("tests/golden/extract/node.json", &n);
    agree(&t, GROVE_KIND_NODE, node, n);
    assert_non_null(strstr(t.b.data, "{\"name\":\"cpu\",\"amount\":63500}"));
    agree_on_changes(&t, GROVE_KIND_NODE, (gv_str){node, n}, rounds(2000));
    free(node);
    printf("%u objects, %u compared, %u refused by both\n", t.objects, t.compared, t.refused);
    assert_true(t.compared > t.objects / 3 && t.refused > t.objects / 10);
    close_bench(&t);
}

/* Each line of a recorded watch, as an event and its object by itself. */
static void agree_on_stream(bench *t, const char *text, size_t n, uint32_t changes) {
    for (const char *line = text, *end; line < text + n; line = end + 1) {
        grove_event_type type = 0;
        const char *object = NULL;
        size_t len = 0;
        end = memchr(line, '\n', n - (size_t)(line - text));
        end = end ? end : text + n;
        if (end == line) {
            continue;
        }
        assert_int_equal(grove_extract_event(t->x, GROVE_KIND_POD, line, (size_t)(end - line),
                                             &type, &object, &len, NULL),
                         GROVE_OK);
        if (type != 0 && type != GROVE_EVENT_BOOKMARK) {
            gv_str of_event = gv_str_c(grove_extract_version(t->x));
            char version[64];
            gv_fmt(version, sizeof version, "%.*s", (int)of_event.n, of_event.p);
            assert_true(of_event.n > 0);
            agree(t, GROVE_KIND_POD, object, len);
            assert_string_equal(grove_extract_version(t->x), version);
            agree_on_changes(t, GROVE_KIND_POD, (gv_str){object, len}, changes);
        }
    }
}

static void recorded_streams(void **state) {
    (void)state;
    bench t = {.random = 12};
    size_t n;
    open_bench(&t);
    char *text = test_read("tests/golden/k8s/pods-watch-selector.jsonl", &n);
    agree_on_stream(&t, text, n, 40);
    assert_true(t.compared >= 2);
    free(text);
    static const char *const streams[] = {"pods-watch.jsonl", "pods-watch-rv0.jsonl",
                                          "pods-watchlist.jsonl"};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        char relative[100];
        (void)snprintf(relative, sizeof relative, "conformance/streams/%s", streams[i]);
        char *path = test_shared_path(relative);
        text = path ? test_read_path(path, &n) : NULL;
        if (text) {
            agree_on_stream(&t, text, n, 2);
        }
        free(text);
        free(path);
    }
    printf("%u objects, %u compared\n", t.objects, t.compared);
    close_bench(&t);
}

static void events(void **state) {
    (void)state;
    bench t = {.random = 1};
    open_bench(&t);
    static const struct {
        const char *text;
        grove_status status;
        grove_event_type type;
    } rows[] = {
        {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}", GROVE_OK, 1},
        {" {\"object\" : {\"metadata\":{\"name\":\"a\"}} , \"type\":\"DELETED\"} ", GROVE_OK, 3},
        {"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":"
         "\"1\"},\"spec\":{\"containers\":null},\"status\":{}}}",
         GROVE_OK, 4},
        {"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}", GROVE_OK, 0},
        {"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Status\",\"metadata\":{\"name\":\"a\"}}}",
         GROVE_E_INVALID, 0},
        {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}", GROVE_E_INVALID, 0},
        {"{\"type\":\"ADDED\"}", GROVE_E_INVALID, 0},
        {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}", GROVE_E_PARSE, 0},
        {"", GROVE_E_PARSE, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grove_event_type type = 0;
        const char *object = NULL;
        size_t len = 0;
        grove_status st = grove_extract_event(t.x, GROVE_KIND_POD, rows[i].text,
                                              strlen(rows[i].text), &type, &object, &len, NULL);
        assert_int_equal(st, rows[i].status);
        assert_int_equal(type, rows[i].type);
        assert_true(st < 0 || (object[0] == '{' && object[len - 1] == '}'));
        grove_buf_clear(&t.b);
        bool holds = st == GROVE_OK && type != 0 && type != GROVE_EVENT_BOOKMARK;
        assert_int_equal(grove_extract_write(t.x, &t.b) == GROVE_OK, holds);
    }
    assert_int_equal(grove_extract_read(t.x, GROVE_KIND_PODCLIQUE, "{}", 2, NULL),
                     GROVE_E_UNSUPPORTED);
    assert_int_equal(grove_extract_takes(GROVE_KIND_SECRET), 0);
    close_bench(&t);
}

/* Depth is bounded by the environment, as for documents. */
static void deep_objects(void **state) {
    (void)state;
    bench t = {.random = 1};
    open_bench(&t);
    for (int depth = 120; depth < 136; depth++) {
        char text[600] =
            "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"},\"x\":";
        size_t n = strlen(text);
        memset(text + n, '[', (size_t)depth);
        memset(text + n + depth, ']', (size_t)depth);
        text[n + 2 * (size_t)depth] = '}';
        agree(&t, GROVE_KIND_POD, text, n + 2 * (size_t)depth + 1);
    }
    assert_int_equal(t.compared, 8); /* 127 and the object itself are 128 */
    close_bench(&t);
}

static grove_status oom_run(grove_env *env, void *ctx) {
    grove_extract *x = NULL;
    const char *const *texts = ctx;
    grove_status st = grove_extract_new(env, &x);
    st = st < 0 ? st : grove_extract_read(x, GROVE_KIND_POD, texts[0], strlen(texts[0]), NULL);
    st = st < 0 ? st : grove_extract_read(x, GROVE_KIND_NODE, texts[1], strlen(texts[1]), NULL);
    grove_extract_free(x);
    return st;
}

static void out_of_memory(void **state) {
    (void)state;
    char *texts[] = {test_read("tests/golden/extract/pod.json", NULL),
                     test_read("tests/golden/extract/node.json", NULL)};
    oom_loop("extract", oom_run, texts);
    free(texts[0]);
    free(texts[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_objects), cmocka_unit_test(recorded_streams),
        cmocka_unit_test(events),          cmocka_unit_test(deep_objects),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
