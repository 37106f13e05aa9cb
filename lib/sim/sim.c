/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster's birth and death. */
#include "sim/admit.h"
#include "sim/apply.h"
#include "sim/call.h"
#include "sim/client.h"
#include "sim/index.h"
#include "sim/rules.h"
#include "sim/scheduler.h"

/* 2026-01-01T00:00:00Z */
#define DEFAULT_START (INT64_C(1767225600) * GV_SECOND)

static void time_default(int64_t *t, int64_t value) {
    if (*t == 0) {
        *t = value;
    }
}

static void fill_options(grove_sim_options *o) {
    time_default(&o->start_ns, DEFAULT_START);
    time_default(&o->pull_ns, GV_SECOND);
    time_default(&o->init_ns, GV_SECOND);
    time_default(&o->start_container_ns, GV_SECOND / 2);
    time_default(&o->ready_ns, GV_SECOND);
    time_default(&o->terminate_ns, GV_SECOND);
    time_default(&o->node_grace_ns, 40 * GV_SECOND);
    time_default(&o->evict_ns, 300 * GV_SECOND);
    o->history = o->history == 0 ? 8192 : o->history;
}

static char *copy_text(grove_env *env, const char *text) {
    size_t n = strlen(text) + 1;
    char *copy = gv_alloc(env, n);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

static void free_text(grove_env *env, char *text) {
    if (text) {
        gv_free(env, text, strlen(text) + 1);
    }
}

static void init_maps(grove_sim *sim) {
    for (int k = 0; k < GV_KIND_COUNT; k++) {
        gv_map_init(&sim->tables[k].objects, sim->env);
    }
    gv_map_init(&sim->by_uid, sim->env);
    gv_map_init(&sim->dependents, sim->env);
    gv_map_init(&sim->gangs, sim->env);
    gv_map_init(&sim->applied, sim->env);
}

static grove_status populate(grove_sim *sim) {
    grove_status st = gv_sim_ensure_namespace(sim, GV_STR("default"));
    return st < 0 ? st : gv_sim_ensure_namespace(sim, GV_STR("kube-system"));
}

grove_status grove_sim_new(grove_env *env, const grove_sim_options *options, grove_sim **out_sim,
                           grove_error *err) {
    grove_sim_options o = {0};
    if (options) {
        grove_status st = gv_struct_in(&o, sizeof o, options, options->size,
                                       offsetof(grove_sim_options, seed));
        if (st < 0) {
            return gv_error(err, st, "grove_sim_options has an unknown size");
        }
    }
    fill_options(&o);
    grove_sim *sim = gv_zalloc(env, sizeof *sim);
    if (!sim) {
        return gv_error_nomem(err);
    }
    sim->env = grove_env_ref(env);
    sim->options = o;
    sim->now = o.start_ns;
    gv_prng_seed(&sim->prng, o.seed);
    grove_buf_init(&sim->scratch, env);
    init_maps(sim);
    sim->scheduler_names = copy_text(env,
                                     o.scheduler_names ? o.scheduler_names : "default-scheduler");
    sim->gang_scheduler_names = copy_text(env,
                                          o.gang_scheduler_names ? o.gang_scheduler_names : "");
    grove_status st = GROVE_E_NOMEM;
    if (sim->scheduler_names && sim->gang_scheduler_names &&
        grove_buf_reserve(&sim->scratch, 512) == GROVE_OK) {
        st = grove_builder_new(env, &sim->builder);
    }
    if (st == GROVE_OK) {
        st = populate(sim);
    }
    if (st < 0) {
        grove_sim_free(sim);
        return gv_error(err, st, "no cluster could be made");
    }
    *out_sim = sim;
    return GROVE_OK;
}

static void table_fini(grove_sim *sim, gv_sim_table *t) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&t->objects, &i));) {
        gv_sim_object_unref(sim, e->value);
    }
    gv_map_fini(&t->objects);
    gv_sim_history_trim(t, 0);
    gv_vec_fini(sim->env, &t->history);
}

void grove_sim_free(grove_sim *sim) {
    if (!sim) {
        return;
    }
    grove_env *env = sim->env;
    while (sim->clients.n > 0) { /* against the contract, but no reason to leak */
        gv_sim_client_ops.destroy(sim->clients.v[sim->clients.n - 1]);
    }
    gv_vec_fini(env, &sim->clients);
    for (; sim->queue_head < sim->queue.n; sim->queue_head++) {
        gv_sim_object_unref(sim, sim->queue.v[sim->queue_head]);
    }
    gv_vec_fini(env, &sim->queue);
    for (int k = 0; k < GV_KIND_COUNT; k++) {
        table_fini(sim, &sim->tables[k]);
    }
    gv_map_fini(&sim->by_uid);
    gv_sim_index_fini(sim, &sim->dependents);
    gv_sim_index_fini(sim, &sim->gangs);
    gv_sim_applied_fini(sim);
    gv_sim_rules_fini(sim);
    gv_sim_schedulers_fini(sim);
    gv_vec_fini(env, &sim->timers);
    grove_builder_free(sim->builder);
    grove_buf_fini(&sim->scratch);
    free_text(env, sim->scheduler_names);
    free_text(env, sim->gang_scheduler_names);
    gv_free(env, sim, sizeof *sim);
    grove_env_unref(env);
}

grove_status grove_sim_backend(grove_sim *sim, grove_backend *out_backend, grove_error *err) {
    struct gv_sim_client *client = NULL;
    if (gv_sim_client_new(sim, &client) < 0) {
        return gv_error_nomem(err);
    }
    *out_backend = (grove_backend){(uint32_t)sizeof(grove_backend),
                                   GROVE_CAP_STATUS | GROVE_CAP_SCALE | GROVE_CAP_STRATEGIC |
                                       GROVE_CAP_APPLY | GROVE_CAP_REPLACE | GROVE_CAP_EVICT |
                                       GROVE_CAP_DRY_RUN | GROVE_CAP_SELECTORS |
                                       (sim->options.flags & GROVE_SIM_NO_GC ? 0 : GROVE_CAP_GC) |
                                       GROVE_CAP_VIRTUAL_TIME | GROVE_CAP_DETERMINISTIC,
                                   &gv_sim_client_ops, client};
    return GROVE_OK;
}

void grove_sim_observe(grove_sim *sim, grove_sim_observe_fn observe, void *ctx) {
    sim->observe = observe;
    sim->observe_ctx = ctx;
}

void grove_sim_compact(grove_sim *sim) {
    for (int k = 0; k < GV_KIND_COUNT; k++) {
        gv_sim_history_trim(&sim->tables[k], 0);
    }
}

uint32_t grove_sim_count(const grove_sim *sim, grove_kind kind) {
    uint32_t n = 0;
    for (int k = 0; k < GV_KIND_COUNT; k++) {
        n += kind == GROVE_KIND_NONE || kind == k ? gv_map_size(&sim->tables[k].objects) : 0;
    }
    return n;
}
