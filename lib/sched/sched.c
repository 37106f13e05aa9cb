/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a grove_sched. */
#include "sched/state.h"

static grove_status setup(grove_sched *s, const grove_sched_options *o) {
    gv_map_init(&s->text_ids, s->env);
    gv_map_init(&s->resource_ids, s->env);
    gv_map_init(&s->node_ids, s->env);
    gv_map_init(&s->vector_ids, s->env);
    s->stride = 4;
    s->free_pod = s->free_gang = GV_NONE;
    s->veto = o->veto;
    s->veto_ctx = o->veto_ctx;
    s->order = o->order;
    s->order_ctx = o->order_ctx;
    s->score = o->score;
    s->score_ctx = o->score_ctx;
    s->score_among = o->score_among ? o->score_among : 8;
    s->host_key = gv_sched_dup(s, o->host_key ? o->host_key : "kubernetes.io/hostname");
    s->journal = gv_alloc(s->env, 1024 * sizeof *s->journal);
    s->journal_size = s->journal ? 1024 : 0;
    uint32_t pods;
    if (!s->host_key || !s->journal || !gv_sched_text(s, s->host_key, &s->host_key_id)) {
        return GROVE_E_NOMEM;
    }
    return grove_sched_resource(s, "pods", &pods);
}

grove_status grove_sched_new(grove_env *env, const grove_sched_options *options,
                             grove_sched **out_sched, grove_error *err) {
    grove_sched_options o = {0};
    if (!env || !out_sched) {
        return gv_error(err, GROVE_E_INVALID, "grove_sched_new needs an environment and a result");
    }
    if (options) {
        grove_status st = gv_struct_in(&o, sizeof o, options, options->size, sizeof(uint32_t) * 2);
        if (st < 0) {
            return gv_error(err, st, "grove_sched_options has a wrong size");
        }
    }
    grove_sched *s = gv_zalloc(env, sizeof *s);
    if (!s) {
        return gv_error_nomem(err);
    }
    s->env = grove_env_ref(env);
    gv_arena_init(&s->hunt_mem, env);
    gv_arena_init(&s->waiting_mem, env);
    gv_arena_init(&s->share_mem, env);
    grove_status st = setup(s, &o);
    if (st < 0) {
        grove_sched_free(s);
        return gv_error_nomem(err);
    }
    *out_sched = s;
    return GROVE_OK;
}

static void free_texts(grove_sched *s) {
    for (size_t i = 0; i < s->texts.n; i++) {
        gv_free(s->env, s->texts.v[i], strlen(s->texts.v[i]) + 1);
    }
    gv_vec_fini(s->env, &s->texts);
    for (size_t i = 0; i < s->resource_names.n; i++) {
        gv_free(s->env, s->resource_names.v[i], strlen(s->resource_names.v[i]) + 1);
    }
    gv_vec_fini(s->env, &s->resource_names);
    gv_sched_dup_free(s, s->host_key);
}

void grove_sched_free(grove_sched *sched) {
    grove_sched *s = sched;
    if (!s) {
        return;
    }
    gv_serve_free(s);
    gv_work_free(s);
    gv_undo_clear(s);
    for (size_t i = 0; i < s->columns.n; i++) {
        gv_column_clear(s, s->columns.v[i]);
        gv_free(s->env, s->columns.v[i], sizeof *s->columns.v[i]);
    }
    for (size_t i = 0; i < s->rooms.n; i++) {
        gv_rooms_clear(s, &s->rooms.v[i]);
    }
    for (size_t i = 0; i < s->topologies.n; i++) {
        gv_topology *t = &s->topologies.v[i];
        gv_topology_clear(s, t);
        gv_free(s->env, t->levels, (t->n_levels + 1) * sizeof *t->levels);
        gv_sched_dup_free(s, t->name);
    }
    for (size_t i = 0; i < s->classes.n; i++) {
        gv_class_clear(s, &s->classes.v[i]);
    }
    for (size_t i = 0; i < s->nodes.n; i++) {
        gv_node_clear(s, &s->nodes.v[i]);
    }
    gv_free(s->env, s->free, s->cap_rows * s->stride * sizeof *s->free);
    gv_free(s->env, s->cap, s->cap_rows * s->stride * sizeof *s->cap);
    gv_free(s->env, s->journal, s->journal_size * sizeof *s->journal);
    gv_vec_fini(s->env, &s->columns);
    gv_vec_fini(s->env, &s->rooms);
    gv_vec_fini(s->env, &s->topologies);
    gv_vec_fini(s->env, &s->classes);
    gv_vec_fini(s->env, &s->nodes);
    gv_vec_fini(s->env, &s->request_rows);
    gv_vec_fini(s->env, &s->resource_fixed);
    gv_vec_fini(s->env, &s->pods);
    gv_vec_fini(s->env, &s->gangs);
    gv_vec_fini(s->env, &s->gang_pods);
    gv_vec_fini(s->env, &s->undo);
    gv_queues_free(s);
    gv_arena_fini(&s->hunt_mem);
    gv_arena_fini(&s->waiting_mem);
    gv_arena_fini(&s->share_mem);
    free_texts(s);
    gv_map_fini(&s->text_ids);
    gv_map_fini(&s->resource_ids);
    gv_map_fini(&s->node_ids);
    gv_map_fini(&s->vector_ids);
    grove_env *env = s->env;
    gv_free(env, s, sizeof *s);
    grove_env_unref(env);
}
