/* SPDX-License-Identifier: Apache-2.0 */
/* The last look at a plan: one that would break a promise is not given out, one that keeps it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/work.h"
#include "support/oom.h"

#define MOST 40u

/* Two cliques of three pods, minimum two, each in a gang of its own. */
typedef struct bench {
    oom_memory memory;
    gv_work w;
    gv_want want;
    gv_want_clique wanted[2];
    gv_work_clique cliques[2];
    gv_work_gang gangs[2];
    gv_pod pods[2];
    gv_act acts[MOST];
    grove_doc *body;
    grove_error err;
    char names[MOST][16];
} bench;

static void open_bench(bench *b) {
    memset(b, 0, sizeof *b);
    b->err = (grove_error)GROVE_ERROR_INIT;
    oom_memory_init(&b->memory);
    b->w.env = oom_env(&b->memory, NULL);
    gv_arena_init(&b->w.arena, b->w.env);
    assert_int_equal(grove_doc_parse_json(b->w.env, "{}", 2, 0, &b->body, NULL), 0);
    b->w.ns = GV_STR("t");
    b->w.set = GV_STR("s");
    b->w.want = &b->want;
    b->w.cliques = b->cliques;
    b->w.gangs = b->gangs;
    b->w.err = &b->err;
    b->w.acts.v = b->acts;
    b->want.n_cliques = 2;
    for (uint32_t i = 0; i < 2; i++) {
        b->wanted[i].gang = i;
        b->wanted[i].min_available = 2;
        b->cliques[i].want = &b->wanted[i];
        b->cliques[i].n_pods = 3;
        b->cliques[i].ready = 3;
        b->pods[i].flags = i ? GV_POD_READY : 0; /* pods[1] is ready, pods[0] is not */
    }
}

static void close_bench(bench *b) {
    gv_arena_fini(&b->w.arena);
    grove_doc_unref(b->body);
    grove_env_unref(b->w.env);
    assert_int_equal(b->memory.live_blocks, 0);
}

static gv_act *add(bench *b, grove_verb verb, gv_kind kind, const char *name, const char *reason) {
    assert_true(b->w.acts.n < MOST);
    gv_act *act = &b->acts[b->w.acts.n++];
    *act = (gv_act){.verb = verb,
                    .kind = kind,
                    .name = gv_str_c(name),
                    .uid = verb == GROVE_VERB_CREATE ? GV_STR("") : GV_STR("u"),
                    .body = verb == GROVE_VERB_CREATE ? b->body : NULL,
                    .reason = reason,
                    .text = GV_STR("the act"),
                    .clique = GV_NOT_WANTED};
    return act;
}

static void add_pod(bench *b, grove_verb verb, const char *reason, uint32_t clique, bool ready) {
    size_t at = b->w.acts.n;
    snprintf(b->names[at], sizeof b->names[at], "pod-%u", (unsigned)at);
    gv_act *act = add(b, verb, GV_KIND_POD, b->names[at], reason);
    act->pod = &b->pods[ready];
    act->clique = clique;
}

/* The finding, "" for none; the bench is empty afterwards. */
static void expect(bench *b, const char *finding) {
    grove_status st = gv_step_check(&b->w);
    if (finding[0] == 0 && st != GROVE_OK) {
        fail_msg("a good plan is refused: %s", b->err.message);
    } else if (finding[0] && (st != GROVE_E_INTERNAL || !strstr(b->err.message, finding))) {
        fail_msg("%s: got %s, %s", finding, grove_status_name(st), b->err.message);
    }
    b->w.acts.n = 0;
    b->err = (grove_error)GROVE_ERROR_INIT;
}

static void test_writes(void **state) {
    (void)state;
    static const grove_verb existing[] = {GROVE_VERB_DELETE, GROVE_VERB_PATCH, GROVE_VERB_BIND};
    bench b;
    open_bench(&b);
    expect(&b, "");
    for (uint32_t i = 0; i < 3; i++) {
        add(&b, existing[i], GV_KIND_SERVICE, "a", "x");
        expect(&b, "");
        add(&b, existing[i], GV_KIND_SERVICE, "a", "x")->uid = GV_STR("");
        expect(&b, "without its uid");
        add(&b, existing[i], GV_KIND_SERVICE, "", "x");
        expect(&b, "without a name");
    }
    add(&b, GROVE_VERB_CREATE, GV_KIND_SERVICE, "a", "x");
    expect(&b, "");
    add(&b, GROVE_VERB_CREATE, GV_KIND_SERVICE, "a", "x")->body = NULL;
    expect(&b, "without a body");
    add(&b, GROVE_VERB_CREATE, GV_KIND_SERVICE, "a", "x");
    add(&b, GROVE_VERB_CREATE, GV_KIND_SERVICE, "b", "x")->body = NULL;
    expect(&b, "without a body");
    close_bench(&b);
}

static void test_one_write_an_object(void **state) {
    (void)state;
    static const grove_verb writes[] = {GROVE_VERB_CREATE, GROVE_VERB_PATCH, GROVE_VERB_DELETE,
                                        GROVE_VERB_SCALE, GROVE_VERB_BIND};
    bench b;
    open_bench(&b);
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t k = 0; k < 5; k++) {
            add(&b, writes[i], GV_KIND_SERVICE, "a", "x");
            add(&b, writes[k], GV_KIND_SERVICE, "b", "x");
            add(&b, GROVE_VERB_EVENT, GV_KIND_SERVICE, "a", "x"); /* no write */
            add(&b, writes[k], GV_KIND_SECRET, "a", "x");
            expect(&b, "");
            add(&b, writes[i], GV_KIND_SERVICE, "a", "x");
            add(&b, writes[k], GV_KIND_SERVICE, "a", "x");
            expect(&b, "two writes to one object");
        }
    }
    for (uint32_t i = 0; i < MOST; i++) { /* more than fit the smallest table */
        snprintf(b.names[i], sizeof b.names[i], "n%u", (unsigned)i);
        add(&b, GROVE_VERB_DELETE, GV_KIND_SERVICE, b.names[i], "x");
    }
    expect(&b, "");
    for (uint32_t i = 0; i < MOST; i++) {
        add(&b, GROVE_VERB_DELETE, GV_KIND_SERVICE, b.names[i == MOST - 1 ? 0 : i], "x");
    }
    expect(&b, "two writes to one object");
    close_bench(&b);
}

static void test_gates(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    add_pod(&b, GROVE_VERB_PATCH, "GangComplete", 1, false);
    expect(&b, "before the gang is complete");
    b.gangs[0].complete = true; /* that of the other clique */
    add_pod(&b, GROVE_VERB_PATCH, "GangComplete", 1, false);
    expect(&b, "before the gang is complete");
    b.gangs[1].complete = true;
    add_pod(&b, GROVE_VERB_PATCH, "GangComplete", 1, false);
    expect(&b, "");
    b.gangs[1] = (gv_work_gang){.released = true};
    add_pod(&b, GROVE_VERB_PATCH, "GangComplete", 1, false);
    expect(&b, "");
    close_bench(&b);
}

static void test_pods_taken_down(void **state) {
    (void)state;
    bench b;
    open_bench(&b);
    add_pod(&b, GROVE_VERB_DELETE, "ScaledIn", 0, true); /* three are left two: the minimum */
    add_pod(&b, GROVE_VERB_DELETE, "ScaledIn", 1, true);
    expect(&b, "");
    add_pod(&b, GROVE_VERB_DELETE, "ScaledIn", 1, false);
    add_pod(&b, GROVE_VERB_DELETE, "ScaledIn", 1, false);
    expect(&b, "scaled in below minAvailable");
    add_pod(&b, GROVE_VERB_DELETE, "PodFailed", 1, false); /* not by choice, but it counts */
    add_pod(&b, GROVE_VERB_DELETE, "PodFailed", 1, false);
    expect(&b, "");
    add_pod(&b, GROVE_VERB_DELETE, "PodFailed", 1, false);
    add_pod(&b, GROVE_VERB_DELETE, "ScaledIn", 1, false);
    expect(&b, "scaled in below minAvailable");
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    expect(&b, "");
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 1, true);
    expect(&b, "");
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    expect(&b, "two ready pods of one clique rolled at a time");
    b.cliques[0].ready = 2; /* exactly the minimum may roll one */
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    expect(&b, "");
    b.cliques[0].ready = 1;
    add_pod(&b, GROVE_VERB_DELETE, "RollingUpdate", 0, true);
    expect(&b, "a ready pod rolled below minAvailable");
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_one_write_an_object),
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_pods_taken_down),
    };
    return cmocka_run_group_tests_name("plan invariants", tests, NULL, NULL);
}
