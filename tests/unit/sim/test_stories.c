/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories told to the embedded cluster: tests/golden/sim/<story>.yaml, a list of steps each. What a real API server
 * answers to the same requests was recorded; the stories keep the figures.
 *
 *     - do: PATCH            a verb, with kind, ns, name, sub, patch, body, uid, version, grace,
 *                            propagation, target, replicas, manager, labels, fields, limit, dryRun, force
 *       http: 200            what must come of it; reason: Conflict
 *       has: {/spec/a: 1}    JSON pointers of the answer and their values; null: absent
 *       keep: {u: /metadata/uid}   for later: "$u" in uid and version
 *     - nodes: 2x2x4x8  |  advance: SECONDS  |  failNode, recoverNode, cordon: NAME
 *     - rule: {pod, ns, labels, pullMs, initMs, startMs, readyMs, terminateMs, crashMs, exitCode, crashes,
 *              pullFails, initExitCode}   |  ready/unready: POD  |  crash: POD, exitCode
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/sys/sim.h>

#include "base/map.h"
#include "model/kinds.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"

#define SECOND INT64_C(1000000000)

typedef struct story {
    grove_env *env;
    grove_sim *sim;
    const char *file;
    gv_map kept; /* name -> char *, malloc */
    grove_doc *doc;
} story;

/* ---- words ---- */

static int32_t word(gv_str text, const char *const *words, int32_t otherwise) {
    for (int32_t i = 0; words[i]; i++) {
        if (gv_str_is(text, words[i])) {
            return i;
        }
    }
    return otherwise;
}

static grove_verb verb_of(gv_str text) {
    for (grove_verb v = 1; v < GROVE_VERB_COUNT; v++) {
        if (gv_str_is(text, grove_verb_name(v))) {
            return v;
        }
    }
    fail_msg("unknown verb %s", text.p);
    return 0;
}

static const char *text_of(const grove_node *step, const char *key) {
    return grove_node_text(grove_node_get(step, key));
}

/* A text, or what an earlier step kept under that name. */
static const char *resolved(story *s, const grove_node *step, const char *key) {
    const char *t = text_of(step, key);
    if (!t || t[0] != '$') {
        return t;
    }
    const char *value = gv_map_get(&s->kept, gv_str_c(t + 1));
    assert_non_null(value);
    return value;
}

/* A copy of the body in which "$name" texts are what was kept. */
static void copy_body(story *s, grove_builder *b, const char *key, const grove_node *node) {
    gv_str text = gv_node_str(node);
    if (gv_node_is(node, GROVE_OBJECT) || gv_node_is(node, GROVE_ARRAY)) {
        if (gv_node_is(node, GROVE_OBJECT)) {
            grove_builder_open_object(b, key);
        } else {
            grove_builder_open_array(b, key);
        }
        GV_EACH(child, node) {
            copy_body(s, b, grove_node_key(child, NULL), child);
        }
        grove_builder_close(b);
    } else if (gv_node_is(node, GROVE_STRING) && text.n > 1 && text.p[0] == '$') {
        const char *value = gv_map_get(&s->kept, gv_str_c(text.p + 1));
        assert_non_null(value);
        grove_builder_string(b, key, value);
    } else {
        grove_builder_copy(b, key, node);
    }
}

static grove_status make_body(story *s, const grove_node *step, grove_doc **out_doc) {
    const grove_node *body = grove_node_get(step, "body");
    grove_builder *b = NULL;
    if (!body) {
        return GROVE_OK;
    }
    grove_status st = grove_builder_new(s->env, &b);
    if (st == GROVE_OK) {
        copy_body(s, b, NULL, body);
        st = grove_builder_finish(b, out_doc, NULL);
    }
    grove_builder_free(b);
    return st;
}

/* ---- operations ---- */

static grove_status fill(story *s, const grove_node *step, grove_op *op) {
    static const char *const subs[] = {"none", "status", "scale", NULL};
    static const char *const patches[] = {"none", "merge", "json", "strategic", NULL};
    static const char *const propagations[] = {"", "Background", "Foreground", "Orphan", NULL};
    op->verb = verb_of(gv_node_get_str(step, "do"));
    op->token = 1;
    op->kind = (grove_kind)gv_kind_by_word(gv_node_get_str(step, "kind"));
    op->ns = text_of(step, "ns") ? text_of(step, "ns") : "default";
    op->name = text_of(step, "name");
    op->subresource = word(gv_node_get_str(step, "sub"), subs, 0);
    op->patch_type = word(gv_node_get_str(step, "patch"), patches, 0);
    op->propagation = word(gv_node_get_str(step, "propagation"), propagations, 0);
    op->uid = resolved(s, step, "uid");
    op->resource_version = resolved(s, step, "version");
    op->target = text_of(step, "target");
    op->manager = text_of(step, "manager");
    op->label_selector = text_of(step, "labels");
    op->field_selector = text_of(step, "fields");
    op->position = resolved(s, step, "position");
    op->limit = (uint32_t)gv_node_get_int(step, "limit", 0);
    op->grace_seconds = gv_node_get_int(step, "grace", GROVE_GRACE_DEFAULT);
    op->replicas = gv_node_get_int(step, "replicas", 0);
    op->flags = (gv_node_get_bool(step, "dryRun") ? GROVE_OP_DRY_RUN : 0) |
                (gv_node_get_bool(step, "force") ? GROVE_OP_FORCE : 0);
    return make_body(s, step, &op->body_doc);
}

static void say(const story *s, const grove_node *step, const grove_sim_result *res) {
    grove_buf b;
    grove_buf_init(&b, s->env);
    (void)grove_node_write_json(step, 0, &b, NULL);
    print_message("%s:%u: %s\n", s->file, gv_node_line(step), b.data);
    if (res) {
        print_message("  answered %d %s: %s\n", res->http, res->reason, res->message);
        grove_buf_clear(&b);
        if (res->doc) {
            (void)grove_node_write_json(grove_doc_root(res->doc), 0, &b, NULL);
            print_message("  %s\n", b.data);
        }
    }
    grove_buf_fini(&b);
}

static bool answer_has(const grove_node *want, const grove_node *object) {
    GV_EACH(w, want) {
        const grove_node *have = grove_node_at_path(object, grove_node_key(w, NULL));
        bool absent = grove_node_type(w) == GROVE_NULL_NODE;
        if (absent ? have != NULL : !have || !grove_node_equal(w, have)) {
            print_message("  at %s\n", grove_node_key(w, NULL));
            return false;
        }
    }
    return true;
}

static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    return strcpy(copy, text);
}

static void keep(story *s, const grove_node *step, const grove_node *object) {
    GV_EACH(k, grove_node_get(step, "keep")) {
        const char *value = grove_node_text(grove_node_at_path(object, grove_node_text(k)));
        assert_non_null(value);
        free(gv_map_remove(&s->kept, gv_node_key(k)));
        assert_true(gv_map_put(&s->kept, gv_node_key(k), copy_of(value)));
    }
}

static grove_status operate(story *s, const grove_node *step) {
    grove_op op = {.size = sizeof op};
    grove_sim_result res = {.size = sizeof res};
    grove_status st = fill(s, step, &op);
    if (st == GROVE_OK) {
        st = grove_sim_execute(s->sim, &op, &res);
    }
    grove_doc_unref(op.body_doc);
    if (st < 0) {
        return st;
    }
    const grove_node *root = res.doc ? grove_doc_root(res.doc) : NULL;
    bool right = res.http == gv_node_get_int(step, "http", 200) &&
                 (!text_of(step, "reason") || strcmp(res.reason, text_of(step, "reason")) == 0);
    if (!right || !answer_has(grove_node_get(step, "has"), root)) {
        say(s, step, &res);
        fail();
    }
    keep(s, step, root);
    grove_doc_unref(res.doc);
    return GROVE_OK;
}

/* ---- other steps ---- */

static int64_t ms(const grove_node *rule, const char *key) {
    const char *t = text_of(rule, key);
    if (t && strcmp(t, "never") == 0) {
        return GROVE_SIM_NEVER;
    }
    int64_t n = gv_node_get_int(rule, key, -1);
    return n < 0 ? GROVE_SIM_KEEP : n * 1000000;
}

static grove_status add_rule(story *s, const grove_node *rule) {
    grove_sim_rule r = GROVE_SIM_RULE_INIT;
    r.ns = text_of(rule, "ns");
    r.pod = text_of(rule, "pod");
    r.label_selector = text_of(rule, "labels");
    r.pull_ns = ms(rule, "pullMs");
    r.init_ns = ms(rule, "initMs");
    r.start_container_ns = ms(rule, "startMs");
    r.ready_ns = ms(rule, "readyMs");
    r.terminate_ns = ms(rule, "terminateMs");
    r.crash_ns = ms(rule, "crashMs");
    r.exit_code = (int32_t)gv_node_get_int(rule, "exitCode", -1);
    r.crashes = (int32_t)gv_node_get_int(rule, "crashes", -1);
    r.pull_fails = (int32_t)gv_node_get_int(rule, "pullFails", -1);
    r.init_exit_code = (int32_t)gv_node_get_int(rule, "initExitCode", -1);
    return grove_sim_add_rule(s->sim, &r, NULL);
}

static grove_status act(story *s, const grove_node *step) {
    grove_error err = GROVE_ERROR_INIT;
    const char *first = grove_node_key(grove_node_first(step), NULL);
    const grove_node *value = grove_node_first(step);
    const char *t = grove_node_text(value);
    grove_status st = GROVE_E_UNSUPPORTED;
    if (strcmp(first, "do") == 0) {
        return operate(s, step);
    } else if (strcmp(first, "advance") == 0) {
        double seconds = 0;
        assert_int_equal(grove_node_double(value, &seconds), GROVE_OK);
        int64_t to = grove_sim_now(s->sim) + (int64_t)(seconds * 1000.0) * 1000000;
        st = grove_sim_advance(s->sim, to, &err);
    } else if (strcmp(first, "nodes") == 0) {
        st = grove_sim_add_nodes(s->sim, t, &err);
    } else if (strcmp(first, "failNode") == 0) {
        st = grove_sim_fail_node(s->sim, t, &err);
    } else if (strcmp(first, "recoverNode") == 0) {
        st = grove_sim_recover_node(s->sim, t, &err);
    } else if (strcmp(first, "cordon") == 0) {
        st = grove_sim_cordon(s->sim, t, 1, &err);
    } else if (strcmp(first, "rule") == 0) {
        st = add_rule(s, value);
    } else if (strcmp(first, "ready") == 0 || strcmp(first, "unready") == 0) {
        st = grove_sim_set_ready(s->sim, "default", t, first[0] == 'r', &err);
    } else if (strcmp(first, "crash") == 0) {
        st = grove_sim_crash(s->sim, "default", t, NULL,
                             (int32_t)gv_node_get_int(step, "exitCode", 1), &err);
    }
    if (st < 0 && st != GROVE_E_NOMEM) {
        say(s, step, NULL);
        fail_msg("%s: %s", grove_status_name(st), err.message);
    }
    return st;
}

/* ---- whole stories ---- */

typedef struct script {
    const char *file;
    char *text;
    size_t len;
} script;

/* The whole story in one environment; also what the allocation-failure loop runs. */
static grove_status tell(grove_env *env, void *ctx) {
    script *in = ctx;
    story s = {.env = env, .file = in->file};
    grove_sim_options o = {.size = sizeof o, .seed = 1};
    grove_env *own = NULL; /* the test's own memory never runs out */
    assert_int_equal(grove_env_new(NULL, &own), GROVE_OK);
    gv_map_init(&s.kept, own);
    grove_status st = grove_doc_parse_yaml(env, in->text, in->len, 0, &s.doc, NULL);
    if (st == GROVE_OK) {
        st = grove_sim_new(env, &o, &s.sim, NULL);
    }
    if (st == GROVE_OK) {
        GV_EACH(step, grove_doc_root(s.doc)) {
            st = act(&s, step);
            if (st < 0) {
                break;
            }
        }
    }
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&s.kept, &i));) {
        free(e->value);
    }
    gv_map_fini(&s.kept);
    grove_env_unref(own);
    grove_sim_free(s.sim);
    grove_doc_unref(s.doc);
    return st;
}

static void tell_file(const char *relative, void *ctx) {
    script in = {.file = relative};
    in.text = test_read(relative, &in.len);
    grove_env *env = NULL;
    (void)ctx;
    assert_int_equal(grove_env_new(NULL, &env), GROVE_OK);
    grove_status st = tell(env, &in);
    if (st < 0) {
        fail_msg("%s: %s", relative, grove_status_name(st));
    }
    grove_env_unref(env);
    free(in.text);
}

static void test_stories(void **state) {
    (void)state;
    size_t n = test_each_file("tests/golden/sim", ".yaml", tell_file, NULL);
    print_message("%zu stories\n", n);
    assert_true(n >= 8);
}

static void starve_file(const char *relative, void *ctx) {
    script in = {.file = relative};
    (void)ctx;
    in.text = test_read(relative, &in.len);
    oom_loop(relative, tell, &in);
    free(in.text);
}

static void test_starving(void **state) {
    (void)state;
    assert_true(test_each_file("tests/golden/sim", ".yaml", starve_file, NULL) >= 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stories),
                                       cmocka_unit_test(test_starving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
