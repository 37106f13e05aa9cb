/* SPDX-License-Identifier: Apache-2.0 */
/* Planning one key: the steps in their order, and the work memory that is kept between plans. */
#include "base/map.h"
#include "plan/binding.h"
#include "plan/result.h"
#include "plan/status.h"
#include "plan/work.h"
#include "value/scalar.h"

struct grove_planner {
    grove_env *env;
    gv_expander *expander;
    gv_map sets; /* "ns/name" -> gv_set_memory */
    grove_config *defaults;
    grove_buf key;
    gv_work w;
};

grove_status grove_planner_new(grove_env *env, grove_planner **out_planner) {
    if (env == NULL || out_planner == NULL) {
        return GROVE_E_INVALID;
    }
    grove_planner *p = gv_zalloc(env, sizeof *p);
    if (p == NULL) {
        return GROVE_E_NOMEM;
    }
    p->env = grove_env_ref(env);
    gv_map_init(&p->sets, env);
    grove_buf_init(&p->key, env);
    p->w.env = env;
    gv_arena_init(&p->w.arena, env);
    grove_buf_init(&p->w.text, env);
    grove_status status = gv_expander_new(env, &p->expander);
    if (status == GROVE_OK) {
        status = grove_builder_new(env, &p->w.b);
    }
    if (status == GROVE_OK) {
        status = grove_config_new(env, &p->defaults);
    }
    if (status < 0) {
        grove_planner_free(p);
        return status;
    }
    *out_planner = p;
    return GROVE_OK;
}

static void drop_acts(gv_work *w) {
    for (size_t i = 0; i < w->acts.n; i++) {
        grove_doc_unref(w->acts.v[i].body);
    }
    w->acts.n = w->waits.n = w->faults.n = 0;
}

void grove_planner_free(grove_planner *planner) {
    if (planner == NULL) {
        return;
    }
    grove_env *env = planner->env;
    gv_work *w = &planner->w;
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&planner->sets, &i));) {
        gv_memory_free(env, e->value);
    }
    gv_map_fini(&planner->sets);
    grove_buf_fini(&planner->key);
    drop_acts(w);
    gv_vec_fini(env, &w->acts);
    gv_vec_fini(env, &w->waits);
    gv_vec_fini(env, &w->faults);
    gv_arena_fini(&w->arena);
    grove_buf_fini(&w->text);
    grove_builder_free(w->b);
    gv_expander_free(planner->expander);
    grove_config_unref(planner->defaults);
    gv_free(env, planner, sizeof *planner);
    grove_env_unref(env);
}

/* ---- the memory of a set ---- */

static bool set_key(grove_planner *p, gv_str ns, gv_str name) {
    grove_buf_clear(&p->key);
    return gv_buf_str(&p->key, ns) == GROVE_OK && gv_buf_char(&p->key, '/') == GROVE_OK &&
           gv_buf_str(&p->key, name) == GROVE_OK;
}

static gv_set_memory *memory_of(grove_planner *p, gv_str ns, gv_str name) {
    if (!set_key(p, ns, name)) {
        return NULL;
    }
    gv_set_memory *m = gv_map_get(&p->sets, gv_buf_view(&p->key));
    if (m == NULL) {
        m = gv_zalloc(p->env, sizeof *m);
        if (m == NULL) {
            return NULL;
        }
        gv_ptable_init(&m->memos, p->env);
        if (!gv_map_put(&p->sets, gv_buf_view(&p->key), m)) {
            gv_memory_free(p->env, m);
            return NULL;
        }
    }
    m->epoch++;
    m->touched = 0;
    return m;
}

static void forget(grove_planner *p, gv_str ns, gv_str name) {
    if (set_key(p, ns, name)) {
        gv_memory_free(p->env, gv_map_remove(&p->sets, gv_buf_view(&p->key)));
    }
}

/* ---- the steps ---- */

/* spec.replicas of a child that lives and is not on its way out. */
static int64_t live_replicas(const void *ctx, gv_kind kind, gv_str name) {
    const gv_work *w = ctx;
    const gv_object *o = gv_store_get(w->store, kind, w->ns, name);
    if (o == NULL || gv_object_is_terminating(o) || !gv_str_is(w->set, o->u.head.part_of)) {
        return -1;
    }
    return gv_opt_or(gv_get_int(grove_node_get(o->u.document.node, "spec"), "replicas"), -1);
}

#define DEFAULT_DELAY_NS (INT64_C(4) * 3600 * GV_NS_PER_S)

static void read_template(gv_work *w) {
    w->t = w->memory->template;
    w->view = gv_template_pcs(w->t);
    w->set_hash = gv_template_generation_hash(w->t);
    w->manual = w->view->update == GV_UPDATE_MANUAL;
    w->suspended = gv_set_is_suspended(w->pcs->u.document.node);
    w->by_pairs = w->view->update == GV_UPDATE_PAIRS;
    w->delay = DEFAULT_DELAY_NS;
    if (w->view->termination_delay.n > 0 &&
        gv_duration_parse(w->view->termination_delay, &w->delay, NULL) < 0) {
        w->delay = DEFAULT_DELAY_NS;
    }
    w->gang_wait = 0;
    if (w->view->gang_wait.timeout.n > 0 &&
        gv_duration_parse(w->view->gang_wait.timeout, &w->gang_wait, NULL) < 0) {
        w->gang_wait = 0; /* admission refuses it */
    }
}

static grove_status read_set(gv_work *w) {
    w->memo = gv_memory_of(w, w->pcs);
    if (w->memo == NULL) {
        return gv_work_nomem(w);
    }
    grove_status status = gv_memory_template(w, NULL, 0);
    if (status == GROVE_OK) {
        read_template(w);
    }
    return status;
}

static grove_status expand(grove_planner *p, gv_work *w) {
    gv_expand_input in = {.current = w->t, .live_replicas = live_replicas, .live_ctx = w};
    return gv_expand(p->expander, &in, &w->want, w->err);
}

static grove_status plan_living(grove_planner *p, gv_work *w) {
    static grove_status (*const steps[])(gv_work *) = {
        gv_step_refusals,  gv_step_observe,    gv_step_facts,    gv_step_rollout,
        gv_step_terminate, gv_step_revisions,  gv_step_children, gv_step_failures,
        gv_step_pods,      gv_step_gangs,      gv_step_waits,    gv_step_finalizers,
        gv_step_status,    gv_step_pod_labels,
    };
    bool again = false;
    grove_status status = expand(p, w);
    if (status == GROVE_OK) {
        status = gv_adopt(w, &again);
    }
    if (status == GROVE_OK && again) {
        read_template(w);
        status = expand(p, w);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == GROVE_OK; i++) {
        status = steps[i](w);
    }
    return status;
}

static grove_status plan_set(grove_planner *p, gv_work *w) {
    w->pcs = gv_store_get(w->store, GV_KIND_PODCLIQUESET, w->ns, w->set);
    if (w->pcs != NULL && w->pcs->u.head.uid[0] == '\0') {
        return GROVE_OK; /* about to be created by somebody through this store */
    }
    if (w->pcs == NULL) {
        forget(p, w->ns, w->set);
        return gv_step_finalizers(w);
    }
    w->memory = memory_of(p, w->ns, w->set);
    if (w->memory == NULL) {
        return gv_work_nomem(w);
    }
    if (gv_object_is_terminating(w->pcs)) {
        return gv_step_finalizers(w);
    }
    grove_status status = read_set(w);
    if (status == GROVE_OK) {
        status = plan_living(p, w);
        gv_memory_sweep(w->env, w->memory);
        return status;
    }
    if (status == GROVE_E_NOMEM) {
        return status;
    }
    /* A set that cannot be read holds up nobody else, and says why. */
    const char *why_text = gv_arena_fmt(&w->arena, "%s%s%s", w->err->path,
                                        w->err->path[0] ? ": " : "", w->err->message);
    if (why_text == NULL) {
        return gv_work_nomem(w);
    }
    gv_str why = w->err->message[0] ? gv_str_c(why_text) : GV_STR("not readable");
    bool ok = gv_wait_add(w, GV_KIND_PODCLIQUESET, w->set, "InvalidSet", GV_KIND_PODCLIQUESET,
                          w->set, GV_TIME_NONE, GROVE_NEVER, "%.*s", ARG_STR(why));
    status = ok ? gv_step_finalizers(w) : gv_work_nomem(w);
    return status == GROVE_OK && w->acts.n == 0 ? gv_status_unreadable(w, why) : status;
}

static grove_status plan_binding(grove_planner *p, gv_work *w) {
    const gv_object *o = gv_store_get(w->store, GV_KIND_CLUSTERTOPOLOGYBINDING, w->ns, w->set);
    if (o == NULL) {
        forget(p, w->ns, w->set);
        return GROVE_OK; /* what it made goes with it: garbage collection follows the owner */
    }
    if (o->u.head.uid[0] == '\0' || gv_object_is_terminating(o)) {
        return GROVE_OK;
    }
    w->memory = memory_of(p, w->ns, w->set);
    return w->memory != NULL ? gv_step_binding(w, o) : gv_work_nomem(w);
}

static grove_status begin(grove_planner *p, const grove_store *store, const grove_plan_request *rq,
                          grove_error *err) {
    gv_work *w = &p->w;
    drop_acts(w);
    gv_arena_reset(&w->arena);
    w->store = store;
    w->request = rq;
    w->err = err;
    w->ns = gv_str_c(rq->ns);
    w->set = gv_str_c(rq->name);
    w->now = rq->now_ns;
    w->deadline = GROVE_NEVER;
    w->pcs = NULL;
    w->memo = NULL;
    w->memory = NULL;
    w->want = NULL;
    w->cliques = NULL;
    w->t = NULL;
    w->unheld = false;
    w->adopted = (gv_str){"", 0};
    w->starved = false;
    w->pairs = (gv_work_pairs){0};
    grove_buf_clear(&w->text);
    grove_status status = gv_time_format(w->now, &w->text);
    if (status < 0) {
        return gv_error(err, status, "the time of the request cannot be written");
    }
    gv_str view = gv_buf_view(&w->text);
    char *copy = gv_arena_dup(&w->arena, view);
    w->now_text = (gv_str){copy, view.n};
    return copy != NULL ? GROVE_OK : gv_error_nomem(err);
}

/* One of the structs that a request points to, of which all is read. */
static grove_status check_part(const char *list, uint32_t i, const void *part, uint32_t size,
                               size_t known, grove_error *err) {
    grove_status status = part ? gv_struct_check(part, size, known, known) : GROVE_E_INVALID;
    return status < 0 ? gv_error(err, status, "%s[%u] has an unknown size or unknown fields", list,
                                 (unsigned)i)
                      : GROVE_OK;
}

static grove_status check_parts(const grove_plan_request *rq, grove_error *err) {
    grove_status status = GROVE_OK;
    for (uint32_t i = 0; i < rq->n_placements && status == GROVE_OK; i++) {
        const grove_placement *p = rq->placements[i];
        status = check_part("placements", i, p, p ? p->size : 0, sizeof *p, err);
    }
    for (uint32_t i = 0; i < rq->n_refusals && status == GROVE_OK; i++) {
        const grove_refusal *r = rq->refusals[i];
        status = check_part("refusals", i, r, r ? r->size : 0, sizeof *r, err);
    }
    for (uint32_t i = 0; i < rq->n_disruptions && status == GROVE_OK; i++) {
        const grove_disruption *d = rq->disruptions[i];
        status = check_part("disruptions", i, d, d ? d->size : 0, sizeof *d, err);
    }
    return status;
}

grove_status grove_plan_make(grove_planner *planner, const grove_store *store,
                             const grove_plan_request *request, grove_plan **out_plan,
                             grove_error *err) {
    if (planner == NULL || store == NULL || request == NULL || out_plan == NULL) {
        return gv_error(err, GROVE_E_INVALID, "planner, store, request and out_plan are required");
    }
    grove_plan_request rq;
    grove_status status = gv_struct_in(&rq, sizeof rq, request, request->size,
                                       offsetof(grove_plan_request, now_ns));
    if (status < 0) {
        return gv_error(err, status, "the request has an unknown size or unknown fields");
    }
    status = check_parts(&rq, err);
    if (status < 0) {
        return status;
    }
    grove_error local = GROVE_ERROR_INIT;
    grove_error *errors = err != NULL ? err : &local;
    if (rq.config == NULL) {
        rq.config = planner->defaults;
    }
    status = begin(planner, store, &rq, errors);
    if (status == GROVE_OK) {
        gv_work *w = &planner->w;
        status = w->ns.n == 0 ? plan_binding(planner, w) : plan_set(planner, w);
    }
    if (status == GROVE_OK) {
        status = gv_step_hold(&planner->w);
    }
    if (planner->w.starved) { /* whatever a step made of the missing text, memory was the cause */
        status = gv_work_nomem(&planner->w);
    }
    if (status == GROVE_OK) {
        status = gv_step_check(&planner->w);
    }
    if (status == GROVE_OK) {
        status = gv_plan_copy(&planner->w, out_plan);
    }
    if (status < 0) {
        /* What a step left half-built must not leak into the next plan's bodies. */
        grove_doc *rest = NULL;
        if (grove_builder_finish(planner->w.b, &rest, NULL) == GROVE_OK) {
            grove_doc_unref(rest);
        }
    }
    drop_acts(&planner->w);
    return status;
}

gv_write gv_action_write(const grove_action *action, int64_t now) {
    return (gv_write){.verb = action->verb,
                      .kind = (gv_kind)action->kind,
                      .ns = gv_str_c(action->ns),
                      .name = gv_str_c(action->name),
                      .uid = gv_str_c(action->uid),
                      .subresource = action->subresource,
                      .patch_type = action->patch_type,
                      .body = action->body,
                      .node = gv_str_c(action->node),
                      .now = now};
}
