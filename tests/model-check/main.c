/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: model_check [SCENARIO [FAULTS [LAG [STATES [DEPTH [whole]]]]]]
 *
 * Without arguments: the small sizes, complete, and the planted faults; for every test run (the smallest
 * only where GROVE_MODEL_CHECK is set). With them: that one, with at most so many faults, undelivered
 * events, states and steps; with `whole` every state by itself, and whether merged ones behave alike.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                 \
    "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nmetadata: {name: s, namespace: t}\n" \
    "spec:\n  replicas: 1\n  updateStrategy: {type: RollingRecreate}\n  template:\n"         \
    "    cliqueStartupType: CliqueStartupTypeAnyOrder\n    terminationDelay: 30s\n"          \
    "    headlessServiceConfig: {publishNotReadyAddresses: true}\n    cliques:\n"
#define CLIQUE(name, replicas, least)                                            \
    "    - name: " name "\n      spec: {roleName: " name ", replicas: " replicas \
    ", minAvailable: " least ", podSpec: {containers: [{name: c, image: i}]}}\n"
#define GROUP(cliques, replicas)                                                                   \
    "    podCliqueScalingGroups:\n    - {name: g, cliqueNames: [" cliques "], replicas: " replicas \
    ", minAvailable: 1}\n"

static const char *const scale_out[] = {"pcsg s-0-g {spec: {replicas: 2}}", NULL};
static const char *const scale_clique[] = {"pclq s-0-a {spec: {replicas: 1}}", NULL};
static const char *const delete_set[] = {"pcs s delete", NULL};
static const char *const new_image[] = {
    "pcs s {spec: {template: {cliques: [{name: a, spec: {roleName: a, replicas: 1, minAvailable: "
    "1, "
    "podSpec: {containers: [{name: c, image: j}]}}}, {name: b, spec: {roleName: b, replicas: 1, "
    "minAvailable: 1, podSpec: {containers: [{name: c, image: i}]}}}]}}}",
    NULL};

static const scenario scenarios[] = {
    {"one", HEAD CLIQUE("a", "1", "1"), NULL},
    {"small", HEAD CLIQUE("a", "1", "1") CLIQUE("b", "1", "1") GROUP("b", "1"), NULL},
    {"pair", HEAD CLIQUE("a", "2", "1"), NULL},
    {"shrink", HEAD CLIQUE("a", "2", "1"), scale_clique},
    {"grow", HEAD CLIQUE("a", "1", "1") CLIQUE("b", "1", "1") GROUP("b", "1"), scale_out},
    {"update", HEAD CLIQUE("a", "1", "1") CLIQUE("b", "1", "1") GROUP("b", "1"), new_image},
    {"delete", HEAD CLIQUE("a", "1", "1") CLIQUE("b", "1", "1") GROUP("b", "1"), delete_set},
    {"member", HEAD CLIQUE("a", "1", "1") CLIQUE("b", "2", "2") GROUP("a, b", "1"), NULL},
};

static const scenario *find_scenario(const char *name) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (strcmp(scenarios[i].name, name) == 0) {
            return &scenarios[i];
        }
    }
    fprintf(stderr, "no scenario %s\n", name);
    exit(2);
}

typedef struct plan_of_run {
    const char *scenario;
    uint32_t faults, lag;
    uint64_t states;
    uint32_t depth;
    manner how;
} plan_of_run;

typedef void planted_fault(model *m, const state *s, const write **writes, uint32_t *n);

static void run(const plan_of_run *p, planted_fault *plant, uint64_t plant_at, char *why,
                size_t why_cap, result *r) {
    model *m = model_new(find_scenario(p->scenario), p->lag);
    m->plant = plant;
    m->plant_at = plant_at;
    explore(m, p->how, p->faults, p->states, p->depth, r);
    snprintf(why, why_cap, "%s", m->broken);
    printf("%-8s faults %u, lag %u: %llu states", p->scenario, p->faults, p->lag,
           (unsigned long long)r->states);
    if (p->how == WHOLE) {
        printf(" (%llu merged)", (unsigned long long)r->classes);
    }
    printf(", %llu transitions, %llu plans, depth %u, rounds at most %u, frontier %s%s%s\n",
           (unsigned long long)r->transitions, (unsigned long long)m->n_plans, r->depth, r->rounds,
           r->complete ? "empty" : "not empty", why[0] ? ": " : "", why);
    if (why[0]) {
        printf("   after%s\n", r->trace);
    }
    fflush(stdout);
    model_free(m);
}

/* ---- planted faults: each must be found ---- */

static write copy_write(const write *w) {
    write c = *w;
    c.body = w->body ? grove_doc_ref(w->body) : NULL;
    return c;
}

static void put_write(const write **writes, uint32_t *n, uint32_t at, const write *w) {
    memmove(writes + at + 1, writes + at, (*n - at) * sizeof *writes);
    writes[at] = w;
    (*n)++;
}

/* Pods' names drawn anew by each life of the controller, instead of computed. */
static void plant_names(model *m, const state *s, const write **writes, uint32_t *n) {
    for (uint32_t i = 0; i < *n; i++) {
        if (writes[i]->verb != GROVE_VERB_CREATE || writes[i]->kind != GV_KIND_POD) {
            continue;
        }
        write c = copy_write(writes[i]);
        char text[160];
        snprintf(c.name, sizeof c.name, "%.70s-%u", writes[i]->name, s->faults % 10);
        snprintf(text, sizeof text, "{\"metadata\":{\"name\":\"%s\"}}", c.name);
        c.body = merged(m, c.body, parsed(m, text));
        writes[i] = write_interned(m, &c);
    }
}

/* Gates are opened before the pods stand in their PodGang instead of after. */
static void plant_order(model *m, const state *s, const write **writes, uint32_t *n) {
    static const char patch[] = "[{\"op\":\"remove\",\"path\":\"/spec/schedulingGates/0\"}]";
    for (uint32_t i = 0; i < *n; i++) {
        if (writes[i]->kind != GV_KIND_PODGANG || writes[i]->verb != GROVE_VERB_PATCH ||
            writes[i]->subresource != GROVE_SUBRESOURCE_NONE) {
            continue;
        }
        for (uint32_t k = 0; k < s->n_seen && *n < MAX_REST; k++) {
            const content *pod = s->seen[k].is;
            if (pod->kind != GV_KIND_POD || !pod->gated || !pod_is_active(pod)) {
                continue;
            }
            write w = *writes[i];
            w.kind = GV_KIND_POD;
            w.patch_type = GROVE_PATCH_JSON;
            w.needs_rv = false;
            w.order--;
            snprintf(w.name, sizeof w.name, "%s", pod->name);
            snprintf(w.uid, sizeof w.uid, "%s", pod->uid);
            w.body = parsed(m, patch);
            put_write(writes, n, 0, write_interned(m, &w));
            return;
        }
    }
}

static void plant_twice(model *m, const state *s, const write **writes, uint32_t *n) {
    (void)s;
    for (uint32_t i = 0; i < *n && *n < MAX_REST; i++) {
        if (writes[i]->verb == GROVE_VERB_PATCH) {
            write again = copy_write(writes[i]);
            again.needs_rv = false;
            put_write(writes, n, i + 1, write_interned(m, &again));
            return;
        }
    }
}

/* ---- */

static unsigned passed, failed;

static void verdict(bool ok, const char *what) {
    printf("%s: %s\n", ok ? "ok" : "FAILED", what);
    passed += ok;
    failed += !ok;
}

/* A planted fault is found: everywhere it stands, or in the one state that `at` names. */
static void planted(const plan_of_run *p, const char *what, planted_fault *plant, uint64_t at,
                    uint32_t least_depth) {
    result r;
    char why[512], text[128];
    run(p, plant, at, why, sizeof why, &r);
    snprintf(text, sizeof text, "planted: %s: found at depth %u", what, r.depth);
    verdict(why[0] && r.depth >= least_depth, text);
}

static void every_test_run(void) {
    static const plan_of_run runs[] = {
        {"small", 0, 3, UINT64_MAX, 1000, MERGED},
        {"small", 1, 0, UINT64_MAX, 1000, MERGED},
        {"pair", 1, 0, UINT64_MAX, 1000, MERGED},
    };
    /* Every state by itself: what is merged elsewhere leads to the same. */
    static const plan_of_run whole[] = {
        {"one", 2, 0, UINT64_MAX, 1000, WHOLE},
        {"small", 0, 2, UINT64_MAX, 1000, WHOLE},
        {"pair", 1, 0, UINT64_MAX, 1000, WHOLE},
    };
    static const plan_of_run deep = {"small", 0, 1, UINT64_MAX, 1000, MERGED};
    static const plan_of_run lost = {"pair", 1, 1, UINT64_MAX, 1000, MERGED};
    result r;
    char why[512], text[128];
    bool few = getenv("GROVE_MODEL_CHECK") != NULL;
    for (size_t i = 0; i < sizeof runs / sizeof *runs && !few; i++) {
        run(&runs[i], NULL, 0, why, sizeof why, &r);
        snprintf(text, sizeof text, "%s, %u faults, lag %u", runs[i].scenario, runs[i].faults,
                 runs[i].lag);
        verdict(r.complete && !why[0], text);
    }
    for (size_t i = 0; i < sizeof whole / sizeof *whole && !few; i++) {
        run(&whole[i], NULL, 0, why, sizeof why, &r);
        snprintf(text, sizeof text, "%s, %u faults, lag %u: merged states behave alike",
                 whole[i].scenario, whole[i].faults, whole[i].lag);
        verdict(r.complete && !why[0], text);
    }
    run(&deep, NULL, 0, why, sizeof why, &r);
    verdict(r.complete && !why[0], "small, 0 faults, lag 1");
    result calm = r;
    planted(&lost, "pods' names by chance", plant_names, 0, 0);
    planted(&deep, "gates before membership", plant_order, 0, 0);
    planted(&deep, "gates before membership, in the deepest state with such a plan", plant_order,
            calm.last_membership, calm.last_membership_depth);
    planted(&deep, "a write sent again without its precondition, in the deepest state with a plan",
            plant_twice, calm.last_plan, calm.last_plan_depth);
}

int main(int argc, char **argv) {
    result r;
    char why[512];
    if (argc > 1) {
        plan_of_run p = {argv[1],
                         argc > 2 ? (uint32_t)atoi(argv[2]) : 1,
                         argc > 3 ? (uint32_t)atoi(argv[3]) : 1,
                         argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX,
                         argc > 5 ? (uint32_t)atoi(argv[5]) : 1000,
                         argc > 6 && strcmp(argv[6], "whole") == 0 ? WHOLE : MERGED};
        run(&p, NULL, 0, why, sizeof why, &r);
        return why[0] ? 1 : 0;
    }
    every_test_run();
    printf("%u passed, %u failed\n", passed, failed);
    return failed ? 1 : 0;
}
