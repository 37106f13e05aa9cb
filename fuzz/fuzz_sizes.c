/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The promise about structs that begin with their size, for every public function that is given one: the
 * first byte chooses the function, the next two the size that the caller says (shorter or longer than
 * today's), the rest is what stands behind what the library knows. A caller newer than the library is refused exactly when that is not
 * zero; an older one is never read beyond its end (the block is that long, for a sanitizer); whatever the
 * size, nothing is left behind.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/grove.h>
#include <grove/sys/backend.h>
#include <grove/sys/sim.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_BEYOND 64

typedef struct world {
    grove_env *env;
    grove_doc *set;
    grove_sim *sim;
    grove_sched *sched;
    grove_store *store;
    grove_planner *planner;
    grove_engine *engine;
} world;

typedef grove_status (*call_fn)(world *w, const void *in);

static void require(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "fuzz sizes: %s\n", what);
        abort();
    }
}

static grove_status call_env(world *w, const void *in) {
    (void)w;
    grove_env *env = NULL;
    grove_status status = grove_env_new(in, &env);
    grove_env_unref(env);
    return status;
}

static grove_status call_limits(world *w, const void *in) {
    (void)w;
    grove_env_options options = {.size = sizeof options, .limits = in};
    grove_env *env = NULL;
    grove_status status = grove_env_new(&options, &env);
    grove_env_unref(env);
    return status;
}

static grove_status call_validate(world *w, const void *in) {
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    grove_diags *diags = NULL;
    require(grove_diags_new(w->env, &diags) == GROVE_OK, "no list of findings");
    grove_status status = grove_validate(w->env, w->set, grove_doc_root(w->set), NULL, NULL, in,
                                         diags, &verdict, NULL);
    grove_diags_free(diags);
    return status;
}

static grove_status call_simulate(world *w, const void *in) {
    grove_doc *answer = NULL;
    grove_status status = grove_simulate(w->env, w->set, NULL, in, &answer, NULL);
    grove_doc_unref(answer);
    return status;
}

static grove_status call_plan(world *w, const void *in) {
    grove_plan *plan = NULL;
    grove_status status = grove_plan_make(w->planner, w->store, in, &plan, NULL);
    grove_plan_unref(plan);
    return status;
}

/* What a request points to: read where it stands, so that all of it has to be there. */
static grove_status plan_with(world *w, const void *placement, const void *refusal,
                              const void *disruption) {
    const grove_placement *placements[] = {placement};
    const grove_refusal *refusals[] = {refusal};
    const grove_disruption *disruptions[] = {disruption};
    grove_plan_request rq = {.size = sizeof rq, .ns = "n", .name = "s"};
    rq.placements = placements;
    rq.n_placements = placement != NULL ? 1 : 0;
    rq.refusals = refusals;
    rq.n_refusals = refusal != NULL ? 1 : 0;
    rq.disruptions = disruptions;
    rq.n_disruptions = disruption != NULL ? 1 : 0;
    return call_plan(w, &rq);
}

static grove_status call_placement(world *w, const void *in) {
    return plan_with(w, in, NULL, NULL);
}
static grove_status call_refusal(world *w, const void *in) {
    return plan_with(w, NULL, in, NULL);
}
static grove_status call_disruption(world *w, const void *in) {
    return plan_with(w, NULL, NULL, in);
}

static grove_status call_engine(world *w, const void *in) {
    grove_engine *engine = NULL;
    grove_status status = grove_engine_new(w->env, in, &engine, NULL);
    grove_engine_free(engine);
    return status;
}

static grove_status call_sim(world *w, const void *in) {
    grove_sim *sim = NULL;
    grove_status status = grove_sim_new(w->env, in, &sim, NULL);
    grove_sim_free(sim);
    return status;
}

static grove_status call_rule(world *w, const void *in) {
    return grove_sim_add_rule(w->sim, in, NULL);
}

static grove_status call_execute(world *w, const void *in) {
    grove_sim_result result = {.size = sizeof result};
    grove_status status = grove_sim_execute(w->sim, in, &result);
    grove_doc_unref(result.doc);
    return status;
}

static grove_status call_fault(world *w, const void *in) {
    grove_backend out = {.size = sizeof out};
    grove_backend inner = {.size = sizeof inner};
    require(grove_sim_backend(w->sim, &inner, NULL) == GROVE_OK, "no backend");
    grove_status status = grove_backend_fault(w->env, &inner, in, &out, NULL);
    if (status == GROVE_OK) {
        out.ops->destroy(out.impl);
    } else {
        inner.ops->destroy(inner.impl);
    }
    return status;
}

static grove_status call_sched(world *w, const void *in) {
    grove_sched *sched = NULL;
    grove_status status = grove_sched_new(w->env, in, &sched, NULL);
    grove_sched_free(sched);
    return status;
}

static grove_status call_node(world *w, const void *in) {
    uint32_t node = 0;
    return grove_sched_node_add(w->sched, in, &node, NULL);
}

static grove_status call_queue(world *w, const void *in) {
    uint32_t queue = 0;
    return grove_sched_queue(w->sched, in, &queue, NULL);
}

static grove_status call_class(world *w, const void *in) {
    uint32_t class_id = 0;
    return grove_sched_class(w->sched, in, &class_id, NULL);
}

static grove_status call_pod(world *w, const void *in) {
    uint32_t pod = 0;
    return grove_sched_pod_add(w->sched, in, &pod, NULL);
}

static grove_status call_lint(world *w, const void *in) {
    grove_diags *diags = NULL;
    require(grove_diags_new(w->env, &diags) == GROVE_OK, "no list of findings");
    grove_status status = grove_lint(w->env, w->set, grove_doc_root(w->set), NULL, in, diags, NULL);
    grove_diags_free(diags);
    return status;
}

static grove_status call_place(world *w, const void *in) {
    grove_gang *gang = NULL;
    grove_decision *decision = NULL;
    static const char *const keys[] = {"rack"};
    uint32_t topology = 0;
    require(grove_sched_topology(w->sched, "t", keys, 1, &topology, NULL) == GROVE_OK &&
                grove_gang_new(w->sched, &gang) == GROVE_OK &&
                grove_gang_begin(gang, topology, "g") == GROVE_OK &&
                grove_decision_new(w->sched, &decision) == GROVE_OK,
            "no gang");
    grove_status status = grove_sched_place(w->sched, gang, in, decision, NULL);
    grove_decision_free(decision);
    grove_gang_free(gang);
    return status;
}

static grove_status call_serve(world *w, const void *in) {
    const grove_served *served = NULL;
    return grove_sched_serve(w->sched, NULL, NULL, 0, in, &served, NULL);
}

static const grove_sim_rule plain_rule = GROVE_SIM_RULE_INIT;

/* What callers hand in: a legal struct of today, all zero where `example` is NULL. */
static const struct {
    const char *name;
    size_t size;
    call_fn call;
    const void *example;
} inputs[] = {
    {"grove_env_options", sizeof(grove_env_options), call_env, NULL},
    {"grove_limits", sizeof(grove_limits), call_limits, NULL},
    {"grove_validate_options", sizeof(grove_validate_options), call_validate, NULL},
    {"grove_lint_options", sizeof(grove_lint_options), call_lint, NULL},
    {"grove_simulate_options", sizeof(grove_simulate_options), call_simulate, NULL},
    {"grove_plan_request", sizeof(grove_plan_request), call_plan, NULL},
    {"grove_placement", sizeof(grove_placement), call_placement, NULL},
    {"grove_refusal", sizeof(grove_refusal), call_refusal, NULL},
    {"grove_disruption", sizeof(grove_disruption), call_disruption, NULL},
    {"grove_engine_options", sizeof(grove_engine_options), call_engine, NULL},
    {"grove_sim_options", sizeof(grove_sim_options), call_sim, NULL},
    {"grove_sim_rule", sizeof(grove_sim_rule), call_rule, &plain_rule},
    {"grove_op", sizeof(grove_op), call_execute, NULL},
    {"grove_fault_options", sizeof(grove_fault_options), call_fault, NULL},
    {"grove_sched_options", sizeof(grove_sched_options), call_sched, NULL},
    {"grove_sched_node", sizeof(grove_sched_node), call_node, NULL},
    {"grove_queue", sizeof(grove_queue), call_queue, NULL},
    {"grove_sched_class_spec", sizeof(grove_sched_class_spec), call_class, NULL},
    {"grove_sched_pod", sizeof(grove_sched_pod), call_pod, NULL},
    {"grove_place_options", sizeof(grove_place_options), call_place, NULL},
    {"grove_serve_options", sizeof(grove_serve_options), call_serve, NULL},
};

static grove_status read_store(world *w, void *out) {
    return grove_store_stats_get(w->store, out);
}
static grove_status read_stats(world *w, void *out) {
    return grove_engine_stats_get(w->engine, out);
}
static grove_status read_gauges(world *w, void *out) {
    return grove_engine_gauges_get(w->engine, 0, out);
}
static grove_status read_error(world *w, void *out) {
    grove_doc *doc = NULL;
    return grove_doc_parse_json(w->env, "{", 1, 0, &doc, out);
}
static grove_status read_verdict(world *w, void *out) {
    grove_diags *diags = NULL;
    require(grove_diags_new(w->env, &diags) == GROVE_OK, "no list of findings");
    grove_status status = grove_validate(w->env, w->set, grove_doc_root(w->set), NULL, NULL, NULL,
                                         diags, out, NULL);
    grove_diags_free(diags);
    return status;
}

/* What the library fills in, up to the size that the caller says. */
static const struct {
    const char *name;
    size_t size;
    grove_status (*read)(world *w, void *out);
} outputs[] = {
    {"grove_store_stats", sizeof(grove_store_stats), read_store},
    {"grove_engine_stats", sizeof(grove_engine_stats), read_stats},
    {"grove_engine_gauges", sizeof(grove_engine_gauges), read_gauges},
    {"grove_error", sizeof(grove_error), read_error},
    {"grove_admission_verdict", sizeof(grove_admission_verdict), read_verdict},
};

#define N_INPUTS (sizeof inputs / sizeof inputs[0])
#define N_OUTPUTS (sizeof outputs / sizeof outputs[0])

static void open_world(world *w) {
    static const char set[] = "{\"apiVersion\":\"grove.io/"
                              "v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"s\","
                              "\"namespace\":\"n\"},\"spec\":{\"template\":{\"cliques\":[{\"name\":"
                              "\"c\",\"spec\":{\"roleName\":"
                              "\"c\",\"replicas\":1,\"podSpec\":{\"containers\":[{\"name\":\"c\","
                              "\"image\":\"i\"}]}}}]}}}";
    memset(w, 0, sizeof *w);
    require(grove_env_new(NULL, &w->env) == GROVE_OK &&
                grove_doc_parse_json(w->env, set, sizeof set - 1, 0, &w->set, NULL) == GROVE_OK &&
                grove_sim_new(w->env, NULL, &w->sim, NULL) == GROVE_OK &&
                grove_sched_new(w->env, NULL, &w->sched, NULL) == GROVE_OK &&
                grove_store_new(w->env, &w->store) == GROVE_OK &&
                grove_planner_new(w->env, &w->planner) == GROVE_OK &&
                grove_engine_new(w->env, NULL, &w->engine, NULL) == GROVE_OK,
            "no world");
}

static void close_world(world *w) {
    grove_engine_free(w->engine);
    grove_planner_free(w->planner);
    grove_store_free(w->store);
    grove_sched_free(w->sched);
    grove_sim_free(w->sim);
    grove_doc_unref(w->set);
    grove_env_unref(w->env);
}

static void *block(size_t n) {
    void *p = calloc(1, n);
    require(p != NULL, "out of memory");
    return p;
}

static void say_size(void *p, size_t n) {
    uint32_t said = (uint32_t)n;
    memcpy(p, &said, sizeof said);
}

static grove_status call_input(size_t which, size_t said, const uint8_t *tail, size_t n_tail) {
    size_t known = inputs[which].size, held = said < sizeof(uint32_t) ? sizeof(uint32_t) : said;
    unsigned char *p = block(held);
    if (inputs[which].example != NULL) {
        memcpy(p, inputs[which].example, held < known ? held : known);
    }
    say_size(p, said);
    if (said > known) {
        memcpy(p + known, tail, n_tail < said - known ? n_tail : said - known);
    }
    world w;
    open_world(&w);
    grove_status status = inputs[which].call(&w, p);
    close_world(&w);
    free(p);
    return status;
}

static void try_input(size_t which, size_t said, const uint8_t *tail, size_t n_tail) {
    size_t known = inputs[which].size, beyond = said > known ? said - known : 0;
    int unknown_wish = 0;
    for (size_t i = 0; i < beyond && i < n_tail; i++) {
        unknown_wish |= tail[i] != 0;
    }
    grove_status status = call_input(which, said, tail, n_tail);
    require((status == GROVE_E_TOO_NEW) == unknown_wish, inputs[which].name);
    if (beyond > 0 && !unknown_wish) {
        require(status == call_input(which, known, NULL, 0), inputs[which].name);
    }
}

/* Nothing is written behind the size that was said. */
static void try_output(size_t which, size_t said) {
    size_t known = outputs[which].size, held = said < sizeof(uint32_t) ? sizeof(uint32_t) : said;
    unsigned char *p = block(held + known);
    memset(p, 0xA5, held + known);
    say_size(p, said);
    world w;
    open_world(&w);
    (void)outputs[which].read(&w, p);
    close_world(&w);
    for (size_t i = held; i < held + known; i++) {
        require(p[i] == 0xA5, outputs[which].name);
    }
    free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) {
        return 0;
    }
    size_t which = data[0] % (N_INPUTS + N_OUTPUTS);
    bool output = which >= N_INPUTS;
    which -= output ? N_INPUTS : 0;
    size_t known = output ? outputs[which].size : inputs[which].size;
    size_t said = data[1] % 2 == 0
                      ? data[2] * sizeof(void *) % known /* callers end behind a member */
                      : known + data[2] % MOST_BEYOND;
    if (output) {
        try_output(which, said);
    } else {
        try_input(which, said, data + 3, size - 3);
    }
    return 0;
}
