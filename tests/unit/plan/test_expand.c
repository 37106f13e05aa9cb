/* SPDX-License-Identifier: Apache-2.0 */
/* What should exist: counts, places, gangs, start order, claims, faults. */
#include "sets.h"

#include "model/labels.h"
#include "support/oom.h"

#define HEAD \
    "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, namespace: ns}\n"
#define POD "podSpec: {containers: [{name: c, image: i}]}"

/* Two replicas; router alone; g of w and l, two replicas of which one in the base gang. */
static const char SET[] = HEAD
    "spec:\n"
    "  replicas: 2\n"
    "  template:\n"
    "    cliqueStartupType: CliqueStartupTypeInOrder\n"
    "    cliques:\n"
    "    - {name: router, spec: {replicas: 2, minAvailable: 1, " POD "}}\n"
    "    - {name: w, spec: {replicas: 3, minAvailable: 2, " POD "}}\n"
    "    - {name: l, spec: {replicas: 1, minAvailable: 1, " POD "}}\n"
    "    podCliqueScalingGroups:\n"
    "    - {name: g, cliqueNames: [w, l], replicas: 2, minAvailable: 1}\n";

static void assert_name(gv_str got, const char *want) {
    if (!gv_str_is(got, want)) {
        fail_msg("%.*s is not %s", (int)got.n, got.p, want);
    }
}

static void places(void **state) {
    (void)state;
    expanded *e = expand_new(SET, NULL);
    static const char *const names[] = {"s-0-router", "s-0-g-0-w",  "s-0-g-0-l", "s-0-g-1-w",
                                        "s-0-g-1-l",  "s-1-router", "s-1-g-0-w", "s-1-g-0-l",
                                        "s-1-g-1-w",  "s-1-g-1-l"};
    static const char *const gangs[] = {"s-0", "s-0", "s-0", "s-0-g-0", "s-0-g-0"};
    assert_int_equal(e->w->n_cliques, 10);
    assert_int_equal(e->w->n_gangs, 4);
    assert_int_equal(e->w->n_groups, 2);
    for (uint32_t i = 0; i < 10; i++) {
        const gv_want_clique *c = &e->w->cliques[i];
        assert_name(c->name, names[i]);
        assert_int_equal(gv_want_find_clique(e->w, c->name), i);
        assert_int_equal(c->replica, i / 5);
        assert_int_equal(c->scaled, i % 5 > 2);
        assert_int_equal(c->live_replicas, -1);
        if (i < 5) {
            assert_name(e->w->gangs[c->gang].name, gangs[i]);
        }
    }
    const gv_want_group *g = &e->w->groups[1];
    assert_name(g->name, "s-1-g");
    assert_int_equal(gv_want_member(g, 0, 1), 7);
    assert_int_equal(gv_want_member(g, 1, 0), 8);
    assert_name(e->w->gangs[g->first_gang].name, "s-1-g-0");
    assert_int_equal(e->w->gangs[3].base, 2);
    assert_int_equal(e->w->cliques[1].gang_minimum, 2);
    assert_int_equal(gv_want_find_clique(e->w, GV_STR("s-2-router")), GV_NOT_WANTED);
    assert_int_equal(gv_want_find_object(e->w, GV_KIND_PODGANG, GV_STR("s-0-router")),
                     GV_NOT_WANTED);
    expand_free(e);
}

/* Gangs of scaled replicas, by minAvailable and live replicas: counts as the reference gives them. */
static void scaled_gangs(void **state) {
    static const struct {
        int min;
        int64_t live;
        uint32_t gangs;
        const char *last;
    } cases[] = {{1, 2, 2, "s-0-g-0"}, {1, 4, 4, "s-0-g-2"}, {2, 3, 2, "s-0-g-0"},
                 {2, 6, 5, "s-0-g-3"}, {1, 5, 5, "s-0-g-3"}, {1, 3, 3, "s-0-g-1"},
                 {2, 2, 1, "s-0"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        gv_fmt(text, sizeof text,
               HEAD "spec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 1, " POD
                    "}}], podCliqueScalingGroups: [{name: g, cliqueNames: [a], replicas: 2, "
                    "minAvailable: %d}]}}",
               cases[i].min);
        expanded *e = expand_new(text, NULL);
        expand_again(e, (live[]){{"s-0-g", cases[i].live}, {NULL, 0}});
        assert_int_equal(e->w->n_gangs, cases[i].gangs);
        assert_int_equal(e->w->n_cliques, cases[i].live);
        assert_int_equal(e->w->gangs[0].n_cliques, cases[i].min);
        assert_name(e->w->gangs[e->w->n_gangs - 1].name, cases[i].last);
        expand_free(e);
    }
}

/* A scale below minAvailable is planned as minAvailable; the live number is told, and kept in bodies. */
static void scaled_below_minimum(void **state) {
    (void)state;
    expanded *e = expand_new(SET, NULL);
    expand_again(e, (live[]){{"s-0-g", 0}, {"s-0-g-0-w", 1}, {"s-1-router", 7}, {NULL, 0}});
    assert_int_equal(e->w->groups[0].replicas, 1);
    assert_int_equal(e->w->groups[0].live_replicas, 0);
    assert_int_equal(e->w->replicas[0].n_gangs, 1);
    const gv_want_clique *w = &e->w->cliques[gv_want_find_clique(e->w, GV_STR("s-0-g-0-w"))];
    assert_int_equal(w->replicas, 2);
    assert_int_equal(w->live_replicas, 1);
    assert_int_equal(e->w->cliques[gv_want_find_clique(e->w, GV_STR("s-1-router"))].replicas, 7);
    grove_doc *doc = body_of(e, GV_KIND_PODCLIQUESCALINGGROUP, "s-0-g");
    assert_at(doc, "/spec/replicas", "0");
    grove_doc_unref(doc);
    doc = body_of(e, GV_KIND_PODCLIQUE, "s-0-g-0-w");
    assert_at(doc, "/spec/replicas", "1");
    grove_doc_unref(doc);
    expand_free(e);
}

static void assert_parents(expanded *e, const char *clique, const char *want) {
    const gv_want_parent *p = NULL;
    uint32_t n = 0;
    char got[256] = "";
    uint32_t at = gv_want_find_clique(e->w, gv_str_c(clique));
    assert_int_not_equal(at, GV_NOT_WANTED);
    assert_int_equal(gv_want_parents(e->w, at, &e->a, &p, &n), 0);
    for (uint32_t i = 0; i < n; i++) {
        size_t len = strlen(got);
        gv_fmt(got + len, sizeof got - len, "%s%.*s:%lld", i ? " " : "", (int)p[i].name.n,
               p[i].name.p, (long long)p[i].ready);
    }
    assert_string_equal(got, want);
}

static void order_in_order(void **state) {
    (void)state;
    expanded *e = expand_new(SET, NULL);
    assert_parents(e, "s-0-router", "");
    assert_parents(e, "s-0-g-0-w", "s-0-router:1");
    assert_parents(e, "s-0-g-0-l", "s-0-g-0-w:2");
    assert_parents(e, "s-0-g-1-w", "");
    assert_parents(e, "s-0-g-1-l", "s-0-g-1-w:2");
    assert_parents(e, "s-1-g-0-w", "s-1-router:1");
    expand_free(e);
}

/* A parent in a group stands for all its copies in the base gang, also for cliques outside. */
static void order_explicit(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD "spec: {replicas: 1, template: {cliqueStartupType: CliqueStartupTypeExplicit, "
             "cliques: [{name: a, spec: {replicas: 2, minAvailable: 2, " POD "}}, "
             "{name: b, spec: {replicas: 1, startsAfter: [a], " POD "}}, "
             "{name: c, spec: {replicas: 1, startsAfter: [a, b], " POD "}}, "
             "{name: d, spec: {replicas: 1, startsAfter: [c], " POD "}}], "
             "podCliqueScalingGroups: [{name: g, cliqueNames: [a, b], replicas: 3, "
             "minAvailable: 2}]}}",
        NULL);
    assert_parents(e, "s-0-g-0-b", "s-0-g-0-a:2 s-0-g-1-a:2");
    assert_parents(e, "s-0-g-2-b", "s-0-g-2-a:2");
    assert_parents(e, "s-0-c", "s-0-g-0-a:2 s-0-g-1-a:2 s-0-g-0-b:1 s-0-g-1-b:1");
    assert_parents(e, "s-0-d", "s-0-c:1");
    expand_free(e);
}

static uint32_t count(const gv_want *w, gv_kind kind, bool blocked) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_objects; i++) {
        n += w->objects[i].kind == kind && w->objects[i].blocked == blocked;
    }
    return n;
}

/* A missing claim template holds up what comes after it, and only that. */
static void missing_claim_template(void **state) {
    static const struct {
        const char *where; /* the entry at set, group or clique level */
        const char *code;
        uint32_t problems, blocked_cliques, blocked_pods, claims;
    } cases[] = {
        {"set", "ERR_SYNC_PCS_RESOURCE_CLAIM", 1, 2, 2, 2},
        {"group", "ERR_SYNC_PCSG_RESOURCE_CLAIM", 1, 1, 1, 2},
        {"clique", "ERR_SYNC_PCLQ_RESOURCE_CLAIM", 1, 0, 1, 2},
    };
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *entry = "resourceSharing: [{name: gone, scope: AllReplicas}, {name: own, "
                            "scope: AllReplicas}], ";
        const char *other = "resourceSharing: [{name: own, scope: AllReplicas}], ";
        char text[1024];
        gv_fmt(text, sizeof text,
               HEAD "spec: {replicas: 1, template: {%s resourceClaimTemplates: [{name: own, "
                    "templateSpec: {spec: {devices: {}}}}], cliques: [{name: a, spec: {replicas: "
                    "1, " POD "}}, {name: b, %s spec: {replicas: 1, " POD "}}], "
                    "podCliqueScalingGroups: [{name: g, %s cliqueNames: [b], replicas: 1, "
                    "minAvailable: 1}]}}",
               i == 0 ? entry : "", i == 2 ? entry : "", i == 1 ? entry : other);
        expanded *e = expand_new(text, NULL);
        assert_int_equal(e->w->n_problems, cases[i].problems);
        assert_string_equal(e->w->problems[0].code, cases[i].code);
        assert_int_equal(count(e->w, GV_KIND_PODCLIQUE, true), cases[i].blocked_cliques);
        assert_int_equal(count(e->w, GV_KIND_SERVICEACCOUNT, false), 1);
        assert_int_equal(e->w->cliques[0].pods_blocked + e->w->cliques[1].pods_blocked,
                         cases[i].blocked_pods);
        expand_free(e);
    }
}

static void unknown_scheduler(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD "spec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 1, podSpec: "
             "{schedulerName: nobody, containers: []}}}, {name: b, spec: {replicas: 1, " POD
             "}}]}}",
        NULL);
    assert_int_equal(e->w->n_problems, 1);
    assert_true(e->w->cliques[0].pods_blocked);
    assert_false(e->w->cliques[1].pods_blocked);
    assert_int_equal(count(e->w, GV_KIND_PODCLIQUE, true), 0);
    expand_free(e);
}

static void refused_autoscaler(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD "spec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 4, "
             "autoScalingConfig: {minReplicas: 4, maxReplicas: 3}, " POD "}}]}}",
        NULL);
    assert_int_equal(e->w->n_problems, 1);
    assert_int_equal(count(e->w, GV_KIND_HPA, false), 0);
    assert_int_equal(count(e->w, GV_KIND_PODCLIQUE, true), 1);
    assert_int_equal(count(e->w, GV_KIND_SERVICE, false), 1);
    expand_free(e);
}

static void nothing_wanted(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD "spec: {replicas: 0, template: {cliques: [{name: a, spec: {replicas: 1, " POD "}}]}}",
        NULL);
    assert_int_equal(e->w->n_cliques, 0);
    assert_int_equal(e->w->n_objects, 4); /* account, role, binding, token */
    expand_free(e);
}

/* The names of worker and pworker: each its own, or as Grove finds them. */
static void suffixes(void **state) {
    static const char text[] = HEAD
        "spec: {replicas: 1, template: {cliques: [{name: worker, spec: {replicas: 1, " POD
        "}}, {name: pworker, spec: {replicas: 2, podSpec: {containers: []}}}]}}";
    (void)state;
    expanded *e = expand_new(text, NULL);
    assert_int_equal(e->w->cliques[1].source, 1);
    assert_int_equal(e->w->cliques[1].replicas, 2);
    gv_template_options o = {.match = GV_MATCH_SUFFIX};
    gv_template_unref(e->t);
    e->t = NULL;
    assert_int_equal(
        gv_template_new(e->env, e->doc, grove_doc_root(e->doc), e->config, &o, &e->t, NULL), 0);
    expand_again(e, NULL);
    const gv_want_clique *c = &e->w->cliques[1];
    assert_int_equal(c->source, 0);
    assert_int_equal(c->clique, 1);
    assert_int_equal(c->replicas, 1);
    assert_int_equal(c->gang_minimum, 2); /* looked up by whole name */
    assert_false(gv_str_eq(c->hash, c->expected_hash));
    expand_free(e);
}

/* `0-b` ends the whole name of b's replica 0 in a group, though not the name of b. */
static void suffix_across_hyphens(void **state) {
    (void)state;
    expanded *e = expand_new(
        HEAD "spec: {replicas: 1, template: {cliques: [{name: 0-b, spec: {replicas: 1, " POD
             "}}, {name: b, spec: {replicas: 1, " POD "}}], podCliqueScalingGroups: [{name: g, "
             "cliqueNames: [b], replicas: 2, minAvailable: 1}]}}",
        NULL);
    gv_template_options o = {.match = GV_MATCH_SUFFIX};
    gv_template_unref(e->t);
    e->t = NULL;
    assert_int_equal(
        gv_template_new(e->env, e->doc, grove_doc_root(e->doc), e->config, &o, &e->t, NULL), 0);
    expand_again(e, NULL);
    assert_int_equal(e->w->cliques[gv_want_find_clique(e->w, GV_STR("s-0-g-0-b"))].source, 0);
    assert_int_equal(e->w->cliques[gv_want_find_clique(e->w, GV_STR("s-0-g-1-b"))].source, 1);
    expand_free(e);
}

/* A replica may be expanded from an older template than the others. */
static void revisions(void **state) {
    (void)state;
    expanded *e = expand_new(SET, NULL),
             *old = expand_new(
                 HEAD
                 "spec: {replicas: 2, template: {cliques: [{name: router, spec: {replicas: 5, " POD
                 "}}]}}",
                 NULL);
    const gv_template *list[] = {NULL, old->t};
    gv_expand_input in = {.current = e->t, .revisions = list, .n_revisions = 2};
    assert_int_equal(gv_expand(e->x, &in, &e->w, NULL), 0);
    assert_int_equal(e->w->n_cliques, 6);
    assert_int_equal(e->w->cliques[5].replicas, 5);
    assert_ptr_equal(e->w->replicas[1].t, old->t);
    grove_doc *doc = body_of(e, GV_KIND_PODCLIQUE, "s-1-router");
    assert_at(doc, "/spec/replicas", "5");
    grove_doc_unref(doc);
    list[0] = old->t; /* the first replica, too, is built from its own revision */
    list[1] = NULL;
    assert_int_equal(gv_expand(e->x, &in, &e->w, NULL), 0);
    doc = body_of(e, GV_KIND_PODCLIQUE, "s-0-router");
    assert_at(doc, "/spec/replicas", "5");
    grove_doc_unref(doc);
    expand_free(e);
    expand_free(old);
}

static int64_t endless(const void *ctx, gv_kind kind, gv_str name) {
    (void)name;
    return kind == *(const gv_kind *)ctx ? INT64_MAX : -1;
}

/* Whoever scales a group to the end of the numbers gets an error, not an overflow. */
static void absurd_sizes(void **state) {
    (void)state;
    expanded *e = expand_new(SET, NULL);
    static const gv_kind kinds[] = {GV_KIND_PODCLIQUESCALINGGROUP, GV_KIND_PODCLIQUE};
    for (int i = 0; i < 2; i++) {
        gv_expand_input in = {.current = e->t, .live_replicas = endless, .live_ctx = &kinds[i]};
        grove_error err = GROVE_ERROR_INIT;
        assert_int_equal(gv_expand(e->x, &in, &e->w, &err), GROVE_E_LIMIT);
    }
    expanded *many = expand_new(
        HEAD "spec: {replicas: 1, template: {cliques: [{name: a, spec: {replicas: 1, " POD "}}]}}",
        NULL);
    static const char set[] = HEAD
        "spec: {replicas: 1000001, template: {cliques: [{name: a, spec: {replicas: 1}}]}}";
    gv_template *t = NULL;
    grove_doc *doc = NULL;
    assert_int_equal(grove_doc_parse_yaml(many->env, set, strlen(set), 0, &doc, NULL), 0);
    assert_int_equal(
        gv_template_new(many->env, doc, grove_doc_root(doc), many->config, NULL, &t, NULL), 0);
    assert_int_equal(gv_expand(many->x, &(gv_expand_input){.current = t}, &many->w, NULL),
                     GROVE_E_LIMIT);
    gv_template_unref(t);
    grove_doc_unref(doc);
    expand_free(many);
    expand_again(e, NULL); /* and the expander lives on */
    assert_int_equal(e->w->n_cliques, 10);
    expand_free(e);
}

/* A set from its text to its last body, whole: what memory runs out at is told, and nothing else. */
static grove_status everything(grove_env *env, void *ctx) {
    grove_doc *doc = NULL;
    grove_config *config = NULL;
    gv_template *t = NULL;
    gv_expander *x = NULL;
    const gv_want *w = NULL;
    grove_builder *b = NULL;
    grove_status s = grove_doc_parse_json(env, ctx, strlen(ctx), 0, &doc, NULL);
    s = s < 0 ? s : grove_config_new(env, &config);
    s = s < 0 ? s : gv_template_new(env, doc, grove_doc_root(doc), config, NULL, &t, NULL);
    s = s < 0 ? s : gv_expander_new(env, &x);
    s = s < 0 ? s : grove_builder_new(env, &b);
    s = s < 0 ? s : gv_expand(x, &(gv_expand_input){.current = t}, &w, NULL);
    for (uint32_t i = 0; s == GROVE_OK && i < w->n_objects; i++) {
        grove_doc *body = NULL;
        assert_int_equal(gv_want_find_object(w, w->objects[i].kind, w->objects[i].name), i);
        s = gv_object_build(w, i, NULL, b, NULL);
        s = s < 0 ? s : grove_builder_finish(b, &body, NULL);
        grove_doc_unref(body);
    }
    grove_builder_free(b);
    gv_expander_free(x);
    gv_template_unref(t);
    grove_config_unref(config);
    grove_doc_unref(doc);
    return s;
}

static void out_of_memory(void **state) {
    char text[] =
        "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{"
        "\"name\":\"s\"},\"spec\":{\"replicas\":3,\"template\":{\"cliques\":[{\"name\":"
        "\"a\",\"spec\":{\"replicas\":2,\"podSpec\":{\"containers\":[]}}},{\"name\":\"b\","
        "\"spec\":{\"replicas\":2,\"startsAfter\":[\"a\"],\"podSpec\":{}}}],"
        "\"podCliqueScalingGroups\":[{\"name\":\"g\",\"cliqueNames\":[\"b\"],\"replicas\":9,"
        "\"minAvailable\":4}]}}}";
    (void)state;
    oom_loop("expand", everything, text);
}

/* 500 cliques, expanded again: not one allocation. */
static void warm_expansion_allocates_nothing(void **state) {
    (void)state;
    oom_memory memory;
    oom_memory_init(&memory);
    grove_env *env = oom_env(&memory, NULL);
    grove_buf text;
    grove_buf_init(&text, env);
    gv_buf_c(&text, HEAD "spec:\n  replicas: 1\n  template:\n    cliques:\n");
    for (int i = 0; i < 500; i++) {
        gv_buf_fmt(&text, "    - {name: c%d, spec: {replicas: 2, " POD "}}\n", i);
    }
    grove_doc *doc = NULL;
    grove_config *config = NULL;
    gv_template *t = NULL;
    gv_expander *x = NULL;
    const gv_want *w = NULL;
    assert_int_equal(grove_doc_parse_yaml(env, text.data, (size_t)text.len, 0, &doc, NULL), 0);
    assert_int_equal(grove_config_new(env, &config), 0);
    assert_int_equal(gv_template_new(env, doc, grove_doc_root(doc), config, NULL, &t, NULL), 0);
    assert_int_equal(gv_expander_new(env, &x), 0);
    gv_expand_input in = {.current = t};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gv_expand(x, &in, &w, NULL), 0);
    }
    uint64_t before = memory.allocations;
    assert_int_equal(gv_expand(x, &in, &w, NULL), 0);
#ifndef GV_DEBUG_ARENA /* there each object is an allocation of its own */
    assert_int_equal(memory.allocations, before);
#endif
    assert_true(memory.allocations >= before);
    assert_int_equal(w->n_cliques, 500);
    gv_expander_free(x);
    gv_template_unref(t);
    grove_config_unref(config);
    grove_doc_unref(doc);
    grove_buf_fini(&text);
    grove_env_unref(env);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(scaled_gangs),
        cmocka_unit_test(scaled_below_minimum),
        cmocka_unit_test(order_in_order),
        cmocka_unit_test(order_explicit),
        cmocka_unit_test(missing_claim_template),
        cmocka_unit_test(unknown_scheduler),
        cmocka_unit_test(refused_autoscaler),
        cmocka_unit_test(nothing_wanted),
        cmocka_unit_test(suffixes),
        cmocka_unit_test(suffix_across_hyphens),
        cmocka_unit_test(revisions),
        cmocka_unit_test(absurd_sizes),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(warm_expansion_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
