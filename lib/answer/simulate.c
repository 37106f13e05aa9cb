/* SPDX-License-Identifier: Apache-2.0 */
/* grove_simulate: objects on an embedded cluster with Grove, in virtual time. */
#include <grove/admission.h>
#include <grove/engine.h>
#include <grove/kinds.h>
#include <grove/runner.h>
#include <grove/sys/sim.h>
#include <string.h>

#include "answer/answer.h"
#include "base/mem.h"

#define BINDERS "default-scheduler,kai-scheduler,grove-scheduler,lpx-scheduler,volcano"
#define TEN_MINUTES (INT64_C(600) * 1000000000)
#define STUCK_MAX 100 /* turns at one instant: more is a loop that nothing will end */

typedef struct world {
    grove_env *env;
    grove_doc *objects;
    grove_sim *sim;
    grove_engine *engine;
    grove_backend backend;
    int64_t deadline; /* when something happens next */
    grove_error *err;
} world;

static grove_status settle(world *w) {
    int64_t engine = INT64_MAX;
    grove_status st = grove_runner_turn(w->engine, &w->backend, grove_sim_now(w->sim), &engine,
                                        w->err);
    int64_t sim = grove_sim_deadline(w->sim);
    w->deadline = sim < engine ? sim : engine;
    return st;
}

/* ---- admission ---- */

static bool is_judged(const grove_node *object) {
    gv_str kind = gv_node_get_str(object, "kind");
    return strcmp(kind.p, "PodCliqueSet") == 0 || strcmp(kind.p, "ClusterTopologyBinding") == 0;
}

static grove_status first_error(const grove_diags *found, grove_error *err) {
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        if (d->severity == GROVE_SEVERITY_ERROR) {
            return gv_error_at(err, GROVE_E_REFUSED, d->line, d->column, d->path, "%s", d->message);
        }
    }
    return gv_error(err, GROVE_E_REFUSED, "the object is not admitted");
}

/* Defaulted and judged with what the cluster holds by now; NULL in *out_stored for kinds without rules. */
static grove_status judge(world *w, const grove_node *object, grove_doc **out_stored) {
    grove_diags *found = NULL;
    grove_validate_options options = {.size = (uint32_t)sizeof options};
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    if (!is_judged(object)) {
        return GROVE_OK;
    }
    grove_status st = grove_diags_new(w->env, &found);
    st = st < 0 ? st : grove_engine_config(w->engine, &options.config, w->err);
    st = st < 0 ? st
                : grove_validate(w->env, w->objects, object, NULL, NULL, &options, found, &verdict,
                                 w->err);
    if (st == GROVE_OK && !verdict.allowed) {
        st = first_error(found, w->err);
    }
    st = st < 0 ? st
                : grove_default(w->env, w->objects, object, &options, NULL, out_stored, w->err);
    grove_config_unref(options.config);
    grove_diags_free(found);
    return st;
}

static grove_status apply(void *ctx, const grove_node *object) {
    world *w = ctx;
    grove_doc *stored = NULL;
    grove_status st = judge(w, object, &stored);
    if (st == GROVE_OK) {
        st = grove_sim_apply(w->sim, stored ? stored : w->objects, stored ? NULL : object, w->err);
    }
    grove_doc_unref(stored);
    return st < 0 ? st : settle(w);
}

/* ---- life ---- */

static grove_status open_world(world *w, grove_config *config,
                               const grove_simulate_options *options) {
    grove_sim_options sim = {.size = (uint32_t)sizeof sim,
                             .flags = GROVE_SIM_NO_SCHEDULER | GROVE_SIM_AUTO_NAMESPACES,
                             .seed = options->seed};
    grove_engine_options engine = {.size = (uint32_t)sizeof engine,
                                   .config = config,
                                   .bind_schedulers = BINDERS,
                                   .seed = options->seed};
    if (options->flags & GROVE_SIMULATE_INSTANT) { /* one nanosecond: zero would take the default */
        sim.pull_ns = sim.init_ns = sim.start_container_ns = sim.ready_ns = sim.terminate_ns = 1;
    }
    grove_status st = grove_sim_new(w->env, &sim, &w->sim, w->err);
    if (st == GROVE_OK && options->nodes) {
        st = grove_sim_add_nodes(w->sim, options->nodes, w->err);
    }
    st = st < 0 ? st : grove_sim_backend(w->sim, &w->backend, w->err);
    st = st < 0 ? st : grove_engine_new(w->env, &engine, &w->engine, w->err);
    return st < 0 ? st : settle(w);
}

static void close_world(world *w) {
    grove_engine_free(w->engine);
    if (w->backend.ops) {
        w->backend.ops->destroy(w->backend.impl);
    }
    grove_sim_free(w->sim);
}

static grove_status run(world *w, int64_t to_ns) {
    unsigned stuck = 0;
    grove_status st = settle(w);
    while (st == GROVE_OK && w->deadline <= to_ns) {
        stuck = w->deadline <= grove_sim_now(w->sim) ? stuck + 1 : 0;
        if (stuck > STUCK_MAX) {
            return gv_error(w->err, GROVE_E_INTERNAL, "time stands still");
        }
        st = grove_sim_advance(w->sim, w->deadline, w->err);
        st = st < 0 ? st : settle(w);
    }
    return st;
}

/* ---- what is left ---- */

static void put_items(grove_builder *b, const char *key, grove_doc *dump, bool events) {
    grove_builder_open_array(b, key);
    GV_EACH(object, grove_node_get(grove_doc_root(dump), "items")) {
        if ((strcmp(gv_node_get_str(object, "kind").p, "Event") == 0) == events) {
            grove_builder_link(b, NULL, dump, object);
        }
    }
    grove_builder_close(b);
}

static grove_status tell(world *w, int64_t start, grove_doc **out_answer) {
    grove_doc *dump = NULL;
    grove_builder *b = NULL;
    grove_status st = grove_sim_dump(w->sim, &dump, w->err);
    st = st < 0 ? st : gv_answer_begin(w->env, "Simulation", &b, w->err);
    if (st == GROVE_OK) {
        grove_builder_int64(b, "ms", (grove_sim_now(w->sim) - start) / 1000000);
        grove_builder_bool(b, "quiet", w->deadline == INT64_MAX);
        put_items(b, "items", dump, false);
        put_items(b, "events", dump, true);
        st = gv_answer_end(b, st, out_answer, w->err);
    }
    grove_doc_unref(dump);
    return st;
}

grove_status grove_simulate(grove_env *env, grove_doc *objects, grove_config *config,
                            const grove_simulate_options *options, grove_doc **out_answer,
                            grove_error *err) {
    grove_simulate_options o = {0};
    world w = {.env = env, .objects = objects, .err = err};
    if (!env || !objects || !out_answer) {
        return gv_error(err, GROVE_E_INVALID, "environment, objects and answer are required");
    }
    grove_status st = options
                          ? gv_struct_in(&o, sizeof o, options, options->size, sizeof options->size)
                          : GROVE_OK;
    if (st < 0 || o.for_ns < 0) {
        return gv_error(err, st < 0 ? st : GROVE_E_INVALID, "the options are not understood");
    }
    st = open_world(&w, config, &o);
    int64_t start = st < 0 ? 0 : grove_sim_now(w.sim);
    st = st < 0 ? st : gv_answer_objects(grove_doc_root(objects), apply, &w);
    st = st < 0 ? st : run(&w, start + (o.for_ns ? o.for_ns : TEN_MINUTES));
    if (st == GROVE_OK && o.for_ns) {
        st = grove_sim_advance(w.sim, start + o.for_ns, err);
    }
    st = st < 0 ? st : tell(&w, start, out_answer);
    close_world(&w);
    return st;
}
