/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays: what a set goes through, step by step, and every word of every plan made meanwhile
 * (tests/golden/plan, whose README.md has the form): order, reason, text, preconditions, event and body of
 * each action, and each wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <grove/kinds.h>

#include "base/text.h"
#include "cluster.h"
#include "support/files.h"
#include "support/oom.h"
#include "value/doc.h"

#define SECOND INT64_C(1000000000)
/* Built twice: with 1 the steps `starve` are taken, which is most of the time. */
#ifndef STARVE
#define STARVE 0
#endif

typedef struct play {
    cluster c;
    grove_buf out;
    grove_refusal refusal;
    grove_placement placement;
    grove_placed_pod placed[8];
    object pods[8]; /* copies: the table of the cluster moves when it grows */
    bool bodies;    /* of what is created, too */
    char *whole;    /* the plan as made with memory enough */
} play;

/* ---- what a plan says ---- */

static void print_json(play *p, const grove_node *node) {
    assert_int_equal(grove_node_write_json(node, 0, &p->out, NULL), 0);
}

static void print_action(play *p, const grove_action *a) {
    static const char *const parts[] = {"", "/status", "/scale"};
    static const char *const patches[] = {"", " merge", " json", " strategic"};
    gv_buf_fmt(&p->out, "  %d %s%s %s%s %s (%s) %s\n", (int)a->order, grove_verb_name(a->verb),
               patches[a->patch_type], a->kind_name, parts[a->subresource], a->name, a->reason,
               a->text);
    gv_buf_fmt(&p->out, "     %s in '%s'%s%s%s%s", a->api_version, a->ns,
               a->uid[0] ? ", if uid" : "", a->resource_version[0] ? ", if version" : "",
               a->node[0] ? ", on " : "", a->node);
    if (a->event[0]) {
        gv_buf_fmt(&p->out, "; event %s of %s %s%s", a->event, grove_kind_name(a->event_kind),
                   a->event_name, a->event_uid[0] ? "" : " without uid");
    }
    gv_buf_c(&p->out, "\n");
    if (a->body && (a->verb != GROVE_VERB_CREATE || p->bodies)) {
        gv_buf_c(&p->out, "     ");
        print_json(p, grove_doc_root(a->body));
        gv_buf_c(&p->out, "\n");
    }
}

static void print_wait(play *p, const grove_wait *w) {
    gv_buf_fmt(&p->out, "  %s %s waits (%s) for %s %s: %s", grove_kind_name(w->kind), w->name,
               w->reason, w->for_kind ? grove_kind_name(w->for_kind) : "no object", w->for_name,
               w->text);
    if (w->since_ns != INT64_MIN) {
        gv_buf_fmt(&p->out, "; since %lld ms ago", (long long)((p->c.now - w->since_ns) / 1000000));
    }
    if (w->deadline_ns != GROVE_NEVER) {
        gv_buf_fmt(&p->out, "; %lld ms left", (long long)((w->deadline_ns - p->c.now) / 1000000));
    }
    gv_buf_c(&p->out, "\n");
}

/* One plan, told and applied; the number of actions but events. */
static uint32_t round_of(play *p, uint32_t number) {
    grove_plan *plan = cluster_plan(&p->c);
    gv_buf_fmt(&p->out, " plan %u\n", (unsigned)number);
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        print_action(p, grove_plan_action(plan, i));
    }
    for (uint32_t i = 0; i < grove_plan_waits(plan); i++) {
        print_wait(p, grove_plan_wait(plan, i));
    }
    if (grove_plan_deadline(plan) != GROVE_NEVER) {
        gv_buf_fmt(&p->out, "  to be made again in %lld ms\n",
                   (long long)((grove_plan_deadline(plan) - p->c.now) / 1000000));
    }
    grove_plan_unref(plan);
    return cluster_round(&p->c);
}

static void settle(play *p) {
    for (uint32_t i = 0; i < 20; i++) {
        if (round_of(p, i) == 0) {
            return;
        }
    }
    fail_msg("no rest after 20 plans");
}

/* ---- the same with too little memory ---- */

static grove_status fill(play *p, grove_store *store) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; i < p->c.n && st == GROVE_OK; i++) {
        const object *o = &p->c.objects[i];
        st = o->gone ? GROVE_OK : grove_store_put(store, o->doc, grove_doc_root(o->doc), NULL);
    }
    return st;
}

/* A plan that is given out in spite of a refused allocation is the whole plan. */
static grove_status starved(grove_env *env, void *ctx) {
    play *p = ctx;
    grove_store *store = NULL;
    grove_planner *planner = NULL;
    grove_plan *plan = NULL;
    grove_buf out;
    grove_plan_request rq = cluster_request(&p->c);
    grove_buf_init(&out, env);
    grove_status st = grove_store_new(env, &store);
    st = st < 0 ? st : fill(p, store);
    st = st < 0 ? st : grove_planner_new(env, &planner);
    st = st < 0 ? st : grove_plan_make(planner, store, &rq, &plan, NULL);
    st = st < 0 ? st : grove_plan_write_json(plan, 0, &out, NULL);
    if (st == GROVE_OK && p->whole == NULL) {
        p->whole = malloc((size_t)out.len + 1);
        assert_non_null(p->whole);
        memcpy(p->whole, out.data, (size_t)out.len + 1);
    } else if (st == GROVE_OK && strcmp(out.data, p->whole) != 0) {
        size_t at = 0;
        while (out.data[at] == p->whole[at]) {
            at++;
        }
        at -= at < 60 ? at : 60;
        fail_msg("a plan in want of memory:\n%.160s\ninstead of\n%.160s", out.data + at,
                 p->whole + at);
    }
    grove_buf_fini(&out);
    grove_plan_unref(plan);
    grove_planner_free(planner);
    grove_store_free(store);
    return st;
}

static void starve(play *p) {
    oom_loop("a plan of a play", starved, p);
    free(p->whole);
    p->whole = NULL;
}

/* ---- steps ---- */

static const char *word(const grove_node *step, uint32_t i) {
    const char *text = grove_node_text(grove_node_at(step, i));
    return text ? text : "";
}

static int64_t number(const grove_node *step, uint32_t i) {
    int64_t n = 0;
    assert_int_equal(grove_node_int64(grove_node_at(step, i), &n), 0);
    return n;
}

static gv_kind kind_at(const grove_node *step, uint32_t i) {
    gv_kind kind = gv_kind_by_word(gv_str_c(word(step, i)));
    if (kind == GV_KIND_NONE) {
        fail_msg("no kind %s", word(step, i));
    }
    return kind;
}

static void with_text(cluster *c, const grove_node *node,
                      void (*use)(cluster *, const grove_node *, const char *),
                      const grove_node *step) {
    grove_buf text;
    grove_buf_init(&text, c->env);
    assert_int_equal(grove_node_write_json(node, 0, &text, NULL), 0);
    use(c, step, text.data);
    grove_buf_fini(&text);
}

static void use_object(cluster *c, const grove_node *step, const char *text) {
    (void)step;
    cluster_add(c, text);
}

static void use_patch(cluster *c, const grove_node *step, const char *text) {
    cluster_merge(c, kind_at(step, 1), word(step, 2), text);
}

static object *pod_at(play *p, const grove_node *step) {
    object *pod = cluster_pod(&p->c, word(step, 1), (int)number(step, 2));
    if (pod == NULL) {
        fail_msg("no pod %s/%d", word(step, 1), (int)number(step, 2));
    }
    return pod;
}

/* [refuse, VERB, KIND, NAME, HTTP, SECONDS]: until the clock has gone on so far. */
static void refuse(play *p, const grove_node *step) {
    grove_verb verb = strcmp(word(step, 1), "create") == 0   ? GROVE_VERB_CREATE
                      : strcmp(word(step, 1), "delete") == 0 ? GROVE_VERB_DELETE
                                                             : GROVE_VERB_PATCH;
    p->refusal = (grove_refusal){.size = sizeof p->refusal,
                                 .verb = verb,
                                 .kind = (grove_kind)kind_at(step, 2),
                                 .name = word(step, 3),
                                 .http = (int32_t)number(step, 4),
                                 .message = "the cluster says no",
                                 .at_ns = p->c.now,
                                 .retry_ns = p->c.now + number(step, 5) * SECOND};
    p->c.refusals[0] = &p->refusal;
    p->c.n_refusals = 1;
}

/* [place, GANG, CLIQUE, N, CLIQUE, N...]: the first N pods of each clique, each on a node of its own; 0: the
 * gang is not to be placed. */
static void place(play *p, const grove_node *step) {
    static const char *const nodes[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
    uint32_t n = 0;
    for (uint32_t at = 2; at + 1 < grove_node_size(step); at += 2) {
        for (int i = 0; i < number(step, at + 1); i++, n++) {
            assert_true(n < 8);
            p->pods[n] = *cluster_pod(&p->c, word(step, at), i);
            p->placed[n] = (grove_placed_pod){p->pods[n].name, p->pods[n].uid, nodes[n]};
        }
    }
    p->placement = (grove_placement){.size = sizeof p->placement,
                                     .verdict = n ? GROVE_VERDICT_PLACED : GROVE_VERDICT_INFEASIBLE,
                                     .gang = word(step, 1),
                                     .reason = n ? "" : "InsufficientCapacity",
                                     .text = n ? "" : "two nodes more would do",
                                     .pods = p->placed,
                                     .n_pods = n,
                                     .score = n ? 750 : 0,
                                     .retry_ns = GROVE_NEVER};
    p->c.placements[0] = &p->placement;
    p->c.n_placements = 1;
}

static void configure(play *p, grove_doc *doc, const grove_node *list) {
    grove_config_unref(p->c.config);
    p->c.config = NULL;
    assert_int_equal(grove_config_new(p->c.env, &p->c.config), 0);
    GV_EACH(entry, list) {
        assert_int_equal(grove_config_add(p->c.config, doc, entry, NULL), 0);
    }
}

static bool step_of_pods(play *p, const grove_node *step, const char *verb) {
    if (strcmp(verb, "ready") == 0 || strcmp(verb, "unready") == 0) {
        cluster_ready(&p->c, pod_at(p, step), verb[0] == 'r');
    } else if (strcmp(verb, "bind") == 0) {
        cluster_bind(&p->c, pod_at(p, step));
    } else if (strcmp(verb, "pod") == 0) { /* [pod, CLIQUE, INDEX, PATCH] */
        char name[128];
        snprintf(name, sizeof name, "%s", pod_at(p, step)->name);
        grove_buf text;
        grove_buf_init(&text, p->c.env);
        assert_int_equal(grove_node_write_json(grove_node_at(step, 3), 0, &text, NULL), 0);
        cluster_merge(&p->c, GV_KIND_POD, name, text.data);
        grove_buf_fini(&text);
    } else if (strcmp(verb, "remove") == 0) {
        cluster_delete(&p->c, GV_KIND_POD, pod_at(p, step)->name);
    } else {
        return false;
    }
    return true;
}

static void step_of(play *p, grove_doc *doc, const grove_node *step) {
    const char *verb = word(step, 0);
    if (step_of_pods(p, step, verb)) {
        return;
    }
    if (strcmp(verb, "add") == 0) {
        with_text(&p->c, grove_node_at(step, 1), use_object, step);
    } else if (strcmp(verb, "merge") == 0) {
        with_text(&p->c, grove_node_at(step, 3), use_patch, step);
    } else if (strcmp(verb, "delete") == 0) {
        cluster_delete(&p->c, kind_at(step, 1), word(step, 2));
    } else if (strcmp(verb, "live") == 0) { /* to rest, untold */
        cluster_live(&p->c, 40);
    } else if (strcmp(verb, "run") == 0) {
        cluster_run_pods(&p->c);
    } else if (strcmp(verb, "wait") == 0) {
        p->c.now += number(step, 1) * SECOND;
    } else if (strcmp(verb, "settle") == 0) {
        settle(p);
    } else if (strcmp(verb, "plan") == 0) {
        round_of(p, 0);
    } else if (strcmp(verb, "starve") == 0) {
        if (STARVE) {
            starve(p);
        }
    } else if (strcmp(verb, "refuse") == 0) {
        refuse(p, step);
    } else if (strcmp(verb, "accept") == 0) {
        p->c.n_refusals = 0;
    } else if (strcmp(verb, "place") == 0) {
        place(p, step);
    } else if (strcmp(verb, "config") == 0) {
        configure(p, doc, grove_node_at(step, 1));
    } else {
        fail_msg("no step %s", verb);
    }
}

static void one_play(const char *relative, void *ctx) {
    (void)ctx;
    play p = {0};
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    char *text = test_read(relative, NULL);
    cluster_open(&p.c, "s");
    grove_buf_init(&p.out, p.c.env);
    if (grove_doc_parse_yaml(p.c.env, text, strlen(text), GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("%s:%u: %s", relative, (unsigned)err.line, err.message);
    }
    const grove_node *root = grove_doc_root(doc);
    p.bodies = grove_node_get(root, "bodies") != NULL;
    GV_EACH(step, grove_node_get(root, "steps")) {
        print_json(&p, step);
        gv_buf_c(&p.out, "\n");
        step_of(&p, doc, step);
    }
    test_golden_beside(relative, p.out.data, (size_t)p.out.len);
    grove_buf_fini(&p.out);
    grove_doc_unref(doc);
    cluster_close(&p.c);
    free(text);
}

static void test_plays(void **state) {
    (void)state;
    assert_int_equal(test_each_file("tests/golden/plan", ".yaml", one_play, NULL), 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plays),
    };
    return cmocka_run_group_tests_name("plan plays", tests, NULL, NULL);
}
