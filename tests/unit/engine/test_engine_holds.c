/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds a whole set up, and that whoever asks is told what is waited for and until when. Above all: an
 * engine that comes to a set which was there before lists its pods, page by page, before it makes the first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "engine/engine.h"

#define SECOND INT64_C(1000000000)
#define LABELS \
    "\"app.kubernetes.io/managed-by\":\"grove-operator\",\"app.kubernetes.io/part-of\":\"s\""
#define OWNED "\"labels\":{" LABELS "}"
#define PODS_PAGE 500

static const char pcs[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\","
    "\"namespace\":\"t\",\"uid\":\"u-s\",\"resourceVersion\":\"5\",\"generation\":1,\"finalizers\":"
    "["
    "\"grove.io/podcliqueset.grove.io\"]},\"spec\":{\"replicas\":1,\"template\":{\"cliques\":[{"
    "\"name\":\"a\",\"spec\":{\"roleName\":\"a\",\"replicas\":2,\"minAvailable\":2,\"podSpec\":{"
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}}";
static const char clique[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"metadata\":{\"name\":\"s-0-a\","
    "\"namespace\":\"t\",\"uid\":\"u-a\",\"resourceVersion\":\"6\"," OWNED
    ",\"ownerReferences\":[{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\","
    "\"name\":\"s\",\"uid\":\"u-s\",\"controller\":true}]},\"spec\":{\"roleName\":\"a\","
    "\"replicas\":2,\"minAvailable\":2,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":"
    "\"i\"}]}}}";

typedef struct fixture {
    grove_env *env;
    grove_engine *e;
    uint64_t pods; /* token of the watch for pods */
    int64_t now;
    const grove_op *op; /* the last one taken; NULL: none can go now */
    char position[64], selector[128];
    uint32_t creates; /* of pods */
    unsigned version;
} fixture;

static void feed(fixture *f, uint64_t token, grove_kind kind, const char *text) {
    grove_doc *doc = NULL;
    grove_event event = {.size = (uint32_t)sizeof event, .token = token, .kind = kind};
    event.type = text ? GROVE_EVENT_ADDED : GROVE_EVENT_SYNCED;
    if (text) {
        assert_int_equal(grove_doc_parse_json(f->env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
        event.object_doc = doc;
        event.object = grove_doc_root(doc);
    }
    assert_int_equal(grove_engine_feed(f->e, &event, f->now, NULL), GROVE_OK);
    grove_doc_unref(doc);
}

static fixture start(void) {
    fixture f = {.now = 1800000000 * SECOND, .version = 100};
    const grove_watch *w = NULL;
    grove_error err = GROVE_ERROR_INIT;
    assert_int_equal(grove_env_new(NULL, &f.env), GROVE_OK);
    assert_int_equal(grove_engine_new(f.env, NULL, &f.e, &err), GROVE_OK);
    while (grove_engine_next_watch(f.e, &w, &err) == GROVE_OK && w) {
        uint64_t token = w->token;
        grove_kind kind = w->kind;
        f.pods = kind == GROVE_KIND_POD ? token : f.pods;
        if (kind == GROVE_KIND_PODCLIQUESET || kind == GROVE_KIND_PODCLIQUE) {
            feed(&f, token, kind, kind == GROVE_KIND_PODCLIQUESET ? pcs : clique);
        }
        feed(&f, token, kind, NULL);
    }
    return f;
}

static void end(fixture *f) {
    grove_engine_free(f->e);
    grove_env_unref(f->env);
}

static void complete(fixture *f, uint64_t token, grove_status status, grove_doc *doc) {
    grove_completion c = {.size = (uint32_t)sizeof c,
                          .status = status,
                          .token = token,
                          .reason = "",
                          .message = status < 0 ? "no" : "",
                          .object_doc = doc,
                          .object = doc ? grove_doc_root(doc) : NULL};
    assert_int_equal(grove_engine_complete(f->e, &c, f->now, NULL), GROVE_OK);
    grove_doc_unref(doc);
}

static void answer(fixture *f, uint64_t token, grove_status status, const char *text) {
    grove_doc *doc = NULL;
    if (text) {
        assert_int_equal(grove_doc_parse_json(f->env, text, strlen(text), 0, &doc, NULL), GROVE_OK);
    }
    complete(f, token, status, doc);
}

/* The object is as `doc` says, with what a cluster adds. */
static void stored(fixture *f, uint64_t token, bool created, grove_doc *doc,
                   const grove_node *object) {
    grove_doc *patch = NULL, *whole = NULL;
    char text[128];
    f->version++;
    snprintf(text, sizeof text, "{\"metadata\":{\"resourceVersion\":\"%u\"%s%u%s}}", f->version,
             created ? ",\"uid\":\"u" : ",\"generation\":", f->version, created ? "\"" : "");
    assert_int_equal(grove_doc_parse_json(f->env, text, strlen(text), 0, &patch, NULL), GROVE_OK);
    assert_int_equal(
        grove_merge_patch_apply(doc, object, patch, grove_doc_root(patch), &whole, NULL), GROVE_OK);
    grove_doc_unref(patch);
    grove_doc_unref(doc);
    complete(f, token, GROVE_OK, whole);
}

/* The write is done: what the cluster would show then. */
static void done(fixture *f) {
    grove_doc *doc = NULL;
    const grove_node *object = NULL;
    if (f->op->kind == GROVE_KIND_POD && f->op->verb != GROVE_VERB_CREATE) {
        complete(f, f->op->token, GROVE_OK, NULL);
        return;
    }
    if (f->op->verb == GROVE_VERB_CREATE) {
        doc = grove_doc_ref(f->op->body_doc);
        object = f->op->body;
    } else {
        assert_int_equal(
            grove_engine_object(f->e, f->op->kind, f->op->ns, f->op->name, &doc, &object),
            GROVE_OK);
    }
    stored(f, f->op->token, f->op->verb == GROVE_VERB_CREATE, doc, object);
}

/* Everything but lists is done at once; ends with a list, or when nothing can go now. */
static uint64_t until_list(fixture *f) {
    for (int i = 0; i < 100; i++) {
        assert_int_equal(grove_engine_next_op(f->e, f->now, &f->op, NULL), GROVE_OK);
        if (!f->op) {
            return 0;
        }
        if (f->op->verb == GROVE_VERB_LIST) {
            snprintf(f->position, sizeof f->position, "%s", f->op->position ? f->op->position : "");
            snprintf(f->selector, sizeof f->selector, "%s", f->op->label_selector);
            assert_int_equal(f->op->kind, GROVE_KIND_POD);
            assert_int_equal(f->op->limit, PODS_PAGE);
            return f->op->token;
        }
        f->creates += f->op->verb == GROVE_VERB_CREATE && f->op->kind == GROVE_KIND_POD;
        if (!(f->op->flags & GROVE_OP_NO_REPLY)) {
            done(f);
        }
    }
    fail_msg("no end of operations");
    return 0;
}

#define PAGE(next, items) \
    "{\"kind\":\"PodList\",\"metadata\":{\"continue\":\"" next "\"},\"items\":[" items "]}"
#define POD(name)                                                                                 \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                      \
    "\",\"namespace\":\"t\",\"uid\":\"u-" name "\",\"resourceVersion\":\"9\",\"labels\":{" LABELS \
    ",\"grove.io/podclique-pod-index\":\"1\"},\"ownerReferences\":[{\"apiVersion\":"              \
    "\"grove.io/v1alpha1\",\"kind\":\"PodClique\",\"name\":\"s-0-a\",\"uid\":\"u-a\","            \
    "\"controller\":true}]},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
#define FOREIGN                                                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\",\"uid\":\"u-x\"," OWNED \
    ",\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"u-j\",\"controller\":"      \
    "true}]}}"

static void assert_told(fixture *f, grove_kind kind, const char *name, const char *want) {
    grove_buf out;
    grove_buf_init(&out, f->env);
    assert_int_equal(grove_engine_explain(f->e, kind, "t", name, f->now, 0, &out, NULL), GROVE_OK);
    if (want ? strncmp(out.data, want, strlen(want)) != 0
             : out.data && strstr(out.data, "AwaitPodList")) {
        fail_msg("told: %s", out.data ? out.data : "nothing");
    }
    grove_buf_fini(&out);
}

static void assert_told_json(fixture *f, const char *want) {
    grove_buf out;
    grove_buf_init(&out, f->env);
    assert_int_equal(
        grove_engine_explain(f->e, GROVE_KIND_PODCLIQUE, "t", "s-0-a", f->now, 1, &out, NULL),
        GROVE_OK);
    if (!strstr(out.data, want)) {
        fail_msg("told: %s", out.data);
    }
    grove_buf_fini(&out);
}

static void test_pages(void **state) {
    fixture f = start();
    (void)state;
    uint64_t token = until_list(&f);
    assert_int_not_equal(token, 0);
    assert_string_equal(f.position, "");
    assert_string_equal(f.selector,
                        "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=s");
    f.now += 2 * SECOND;
    assert_int_equal(until_list(&f), 0); /* not twice at a time */
    assert_told(&f, GROVE_KIND_PODCLIQUESET, "s",
                "PodCliqueSet s waits: AwaitPodList\n"
                "  pods of the set may exist that are not known here: they are listed before the "
                "first one is made\n"
                "  for: Pod\n  since: 2s ago\n  at the latest in: 28s\n");
    assert_told_json(&f, "\"reason\": \"AwaitPodList\"");
    assert_told_json(&f, "\"deadline\": \"2027-01-15T08:00:30.000000Z\"");
    answer(&f, token, GROVE_OK, PAGE("more", FOREIGN));
    assert_told(&f, GROVE_KIND_PODCLIQUE, "s-0-a", "PodCliqueSet s waits: AwaitPodList\n");
    token = until_list(&f);
    assert_string_equal(f.position, "more");
    assert_int_equal(f.creates, 0);
    answer(&f, token, GROVE_OK, PAGE("", ""));
    assert_int_equal(until_list(&f), 0);
    assert_int_equal(f.creates, 2);
    assert_told(&f, GROVE_KIND_PODCLIQUESET, "s", NULL);
    end(&f);
}

/* A pod on the second page that no event has told of: it is named, and the list begins anew. */
static void test_unknown_pod(void **state) {
    fixture f = start();
    (void)state;
    answer(&f, until_list(&f), GROVE_OK, PAGE("more", ""));
    answer(&f, until_list(&f), GROVE_OK, PAGE("", POD("late")));
    assert_int_equal(until_list(&f), 0);
    assert_told(&f, GROVE_KIND_PODCLIQUESET, "s",
                "PodCliqueSet s waits: AwaitPodList\n"
                "  this pod exists and no event has told of it: it is waited for before the first "
                "one is made\n"
                "  for: Pod late\n  since: 0s ago\n  at the latest in: 1s\n");
    assert_told_json(&f, "\"name\": \"late\"");
    feed(&f, f.pods, GROVE_KIND_POD, POD("late"));
    f.now = grove_engine_deadline(f.e);
    uint64_t token = until_list(&f);
    assert_string_equal(f.position, "");
    assert_int_equal(f.creates, 0);
    answer(&f, token, GROVE_OK, PAGE("", POD("late")));
    assert_int_equal(until_list(&f), 0);
    assert_int_equal(f.creates, 1); /* that one has an index already */
    end(&f);
}

/* The list's position has expired, or the server is away: from the beginning, after a pause. */
static void test_failures(void **state) {
    static const grove_status failures[] = {GROVE_E_GONE, GROVE_E_UNAVAILABLE, GROVE_E_BUSY};
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        fixture f = start();
        answer(&f, until_list(&f), GROVE_OK, PAGE("more", ""));
        answer(&f, until_list(&f), failures[i], NULL);
        assert_int_equal(until_list(&f), 0);
        assert_told(&f, GROVE_KIND_PODCLIQUESET, "s",
                    "PodCliqueSet s waits: AwaitPodList\n"
                    "  the pods of the set could not be listed; none is made before that\n"
                    "  for: Pod\n  since: 0s ago\n  at the latest in: 1s\n");
        f.now = grove_engine_deadline(f.e);
        uint64_t token = until_list(&f);
        assert_string_equal(f.position, "");
        answer(&f, token, GROVE_OK, PAGE("", ""));
        assert_int_equal(until_list(&f), 0);
        assert_int_equal(f.creates, 2);
        end(&f);
    }
}

/* Whoever may not list is not kept waiting for ever. */
static void test_forbidden(void **state) {
    fixture f = start();
    (void)state;
    answer(&f, until_list(&f), GROVE_E_FORBIDDEN, NULL);
    assert_int_equal(until_list(&f), 0);
    assert_int_equal(f.creates, 2);
    end(&f);
}

/* An answer that never comes: asked again by the deadline; should it come after all, it counts for nothing. */
static void test_no_answer(void **state) {
    fixture f = start();
    (void)state;
    uint64_t lost = until_list(&f);
    answer(&f, lost, GROVE_OK, PAGE("more", ""));
    lost = until_list(&f);
    assert_int_equal(grove_engine_deadline(f.e), f.now + 30 * SECOND);
    f.now = grove_engine_deadline(f.e);
    uint64_t token = until_list(&f);
    assert_int_not_equal(token, 0);
    assert_string_equal(f.position, "");
    answer(&f, lost, GROVE_OK, PAGE("", POD("late")));
    answer(&f, token, GROVE_OK, PAGE("", ""));
    assert_int_equal(until_list(&f), 0);
    assert_int_equal(f.creates, 2);
    end(&f);
}

/* The first write that is no list; lists are answered with nothing. */
static void until_write(fixture *f) {
    for (int i = 0; i < 4; i++) {
        assert_int_equal(grove_engine_next_op(f->e, f->now, &f->op, NULL), GROVE_OK);
        assert_non_null(f->op);
        if (f->op->verb != GROVE_VERB_LIST) {
            return;
        }
        answer(f, f->op->token, GROVE_OK, PAGE("", ""));
    }
    fail_msg("only lists");
}

static void test_pause(void **state) {
    fixture f = start();
    (void)state;
    until_write(&f);
    answer(&f, f.op->token, GROVE_E_UNAVAILABLE, NULL);
    assert_told(&f, GROVE_KIND_PODCLIQUE, "s-0-a",
                "PodCliqueSet s waits: BackOff\n"
                "  the last writes failed, or came from a view that was behind: the set is planned "
                "again after a pause\n"
                "  for: PodCliqueSet s\n  at the latest in: 1s\n");
    f.now = grove_engine_deadline(f.e);
    until_write(&f);
    grove_buf out;
    grove_buf_init(&out, f.env);
    assert_int_equal(
        grove_engine_explain(f.e, GROVE_KIND_PODCLIQUESET, "t", "s", f.now, 0, &out, NULL),
        GROVE_OK);
    assert_null(strstr(out.data ? out.data : "", "BackOff"));
    grove_buf_fini(&out);
    end(&f);
}

/* A write that no event shows is read back, and until then the set is not planned. An error says nothing of
 * the object: nothing is written, and the question is put again. */
static void test_read_back(void **state) {
    fixture f = start();
    char asked[128];
    (void)state;
    assert_int_not_equal(until_list(&f), 0);
    f.now += 31 * SECOND;
    assert_told(&f, GROVE_KIND_PODCLIQUESET, "s", "PodCliqueSet s waits: AwaitPodList\n");
    assert_int_equal(grove_engine_next_op(f.e, f.now, &f.op, NULL), GROVE_OK);
    assert_non_null(f.op);
    assert_int_equal(f.op->verb, GROVE_VERB_GET);
    assert_told_json(&f, "\"reason\": \"AwaitReadBack\"");
    assert_told_json(&f, f.op->name);
    snprintf(asked, sizeof asked, "%s", f.op->name);
    answer(&f, f.op->token, GROVE_E_UNAVAILABLE, NULL);
    assert_told_json(&f, "\"deadline\": \"2027-01-15T08:00:31.100000Z\"");
    bool again = false;
    for (int i = 0; i < 8 && !again; i++) {
        assert_int_equal(grove_engine_next_op(f.e, f.now, &f.op, NULL), GROVE_OK);
        if (f.op == NULL) {
            f.now += SECOND;
        } else if (f.op->verb != GROVE_VERB_LIST) { /* the list of pods is overdue, too */
            assert_int_equal(f.op->verb, GROVE_VERB_GET);
            assert_string_equal(f.op->name, asked);
            again = true;
        }
    }
    assert_true(again);
    end(&f);
}

typedef struct create {
    uint64_t token;
    grove_kind kind;
    grove_doc *body;
} create;

static bool is_under_way(const create *all, size_t n, grove_kind kind) {
    size_t i = 0;
    while (i < n && all[i].kind != kind) {
        i++;
    }
    return i < n;
}

/* No creation is answered before the engine has no more to hand out: what names another object is begun when that
 * one is there. */
static void test_names_another(void **state) {
    fixture f = start();
    create late[32];
    size_t n = 0, most = 0;
    bool bindings = false, secrets = false;
    (void)state;
    for (int i = 0; i < 200; i++) {
        assert_int_equal(grove_engine_next_op(f.e, f.now, &f.op, NULL), GROVE_OK);
        if (!f.op && n == 0) {
            break;
        } else if (!f.op) {
            n--;
            stored(&f, late[n].token, true, late[n].body, grove_doc_root(late[n].body));
        } else if (f.op->verb == GROVE_VERB_LIST) {
            answer(&f, f.op->token, GROVE_OK, PAGE("", ""));
        } else if (f.op->verb == GROVE_VERB_CREATE) {
            assert_false(f.op->kind == GROVE_KIND_ROLEBINDING &&
                         is_under_way(late, n, GROVE_KIND_ROLE));
            assert_false(f.op->kind == GROVE_KIND_SECRET &&
                         is_under_way(late, n, GROVE_KIND_SERVICEACCOUNT));
            bindings = bindings || f.op->kind == GROVE_KIND_ROLEBINDING;
            secrets = secrets || f.op->kind == GROVE_KIND_SECRET;
            late[n++] = (create){f.op->token, f.op->kind, grove_doc_ref(f.op->body_doc)};
            most = n > most ? n : most;
        } else if (!(f.op->flags & GROVE_OP_NO_REPLY)) {
            done(&f);
        }
    }
    assert_true(bindings && secrets && most > 1);
    assert_int_equal(n, 0);
    end(&f);
}

/* A set that was never planned has an explanation, too. */
static void test_not_planned(void **state) {
    fixture f = start();
    gv_set *set = gv_engine_set(f.e, GV_STR("t"), GV_STR("s"));
    (void)state;
    assert_non_null(set);
    assert_int_equal(gv_buf_c(&set->fault, "a rule would be broken"), GROVE_OK);
    set->not_before = f.now + 3 * SECOND;
    f.e->now = f.now;
    assert_told(&f, GROVE_KIND_PODCLIQUE, "s-0-a",
                "PodCliqueSet s waits: PlanFailed\n  a rule would be broken\n"
                "  for: PodCliqueSet s\n  at the latest in: 3s\n");
    assert_told_json(&f, "\"reason\": \"PlanFailed\"");
    f.now += 3 * SECOND;
    assert_int_not_equal(until_list(&f), 0);
    assert_told(&f, GROVE_KIND_PODCLIQUESET, "s", "PodCliqueSet s waits: AwaitPodList\n");
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages),         cmocka_unit_test(test_unknown_pod),
        cmocka_unit_test(test_failures),      cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_no_answer),     cmocka_unit_test(test_pause),
        cmocka_unit_test(test_read_back),     cmocka_unit_test(test_not_planned),
        cmocka_unit_test(test_names_another),
    };
    return cmocka_run_group_tests_name("engine holds", tests, NULL, NULL);
}
