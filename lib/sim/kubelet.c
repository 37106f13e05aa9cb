/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a pod on its node, step by step. */
#include "sim/kubelet.h"

#include "model/labels.h"
#include "sim/call.h"
#include "sim/meta.h"
#include "sim/node.h"
#include "sim/rules.h"

#define NEVER INT64_MAX

static int64_t later(const grove_sim *sim, int64_t delay) {
    return delay > NEVER - sim->now ? NEVER : sim->now + delay;
}

static int64_t backoff(uint32_t tries) {
    int64_t s = 10;
    for (uint32_t i = 1; i < tries && s < 300; i++) {
        s *= 2;
    }
    return (s > 300 ? 300 : s) * GV_SECOND;
}

/* ---- a run begins and ends ---- */

static void add_containers(gv_sim_pod *run, const grove_node *list, bool init) {
    GV_EACH(spec, list) {
        gv_sim_container c = {.spec = spec, .role = GV_ROLE_MAIN};
        if (init) {
            c.role = gv_str_is(gv_node_get_str(spec, "restartPolicy"), "Always") ? GV_ROLE_SIDECAR
                                                                                 : GV_ROLE_INIT;
            c.waits = gv_str_is(gv_node_get_str(spec, "name"), GV_WAITER_CONTAINER);
        }
        c.due_exit = c.due_restart = c.due_ready = NEVER;
        run->containers.v[run->containers.n++] = c;
    }
}

static grove_status begin(grove_sim *sim, gv_sim_object *o) {
    gv_sim_pod *run = gv_zalloc(sim->env, sizeof *run);
    grove_doc *spec = gv_sim_section_doc(o, "spec");
    const grove_node *root = grove_doc_root(spec);
    const grove_node *init = grove_node_get(root, "initContainers");
    const grove_node *main = grove_node_get(root, "containers");
    size_t n = (size_t)grove_node_size(init) + grove_node_size(main);
    if (!run || !gv_vec_reserve(sim->env, &run->containers, n)) {
        gv_free(sim->env, run, sizeof *run);
        return GROVE_E_NOMEM;
    }
    if (!gv_sim_timer_init(sim, &run->timer, GV_TIMER_POD, run)) {
        gv_vec_fini(sim->env, &run->containers);
        gv_free(sim->env, run, sizeof *run);
        return GROVE_E_NOMEM;
    }
    run->obj = o;
    run->spec = grove_doc_ref(spec);
    run->n_init = grove_node_size(init);
    add_containers(run, init, true);
    add_containers(run, main, false);
    run->due_gone = NEVER;
    run->start_ns = sim->now;
    run->probe = -1;
    run->ip = ++sim->pod_ips;
    gv_sim_rules_apply(sim, o, &run->how);
    run->due_stage = later(sim, run->how.pull_ns);
    o->pod = run;
    return GROVE_OK;
}

void gv_sim_kubelet_forget(grove_sim *sim, gv_sim_object *o) {
    gv_sim_pod *run = o->pod;
    if (!run) {
        return;
    }
    o->pod = NULL;
    gv_sim_timer_fini(sim, &run->timer);
    grove_doc_unref(run->spec);
    gv_vec_fini(sim->env, &run->containers);
    gv_free(sim->env, run, sizeof *run);
}

/* ---- due times ---- */

static int64_t first(int64_t a, int64_t b) {
    return a < b ? a : b;
}

void gv_sim_kubelet_arm(grove_sim *sim, gv_sim_pod *run) {
    int64_t at = run->due_gone;
    if (run->silent) {
        /* Nobody works on that node; the cluster may still drop what it was told to delete. */
        bool keep = (sim->options.flags & GROVE_SIM_KEEP_LOST_PODS) != 0;
        gv_sim_timer_arm(sim, &run->timer, keep ? NEVER : at);
        return;
    }
    at = first(at, run->due_stage);
    for (size_t i = 0; i < run->containers.n; i++) {
        const gv_sim_container *c = &run->containers.v[i];
        at = first(at, first(c->due_exit, first(c->due_restart, c->due_ready)));
    }
    gv_sim_timer_arm(sim, &run->timer, at == NEVER || at > sim->now ? at : sim->now);
}

/* ---- containers ---- */

static void start_container(grove_sim *sim, gv_sim_pod *run, gv_sim_container *c) {
    c->state = GV_STATE_RUNNING;
    c->since = sim->now;
    c->due_restart = NEVER;
    c->started = true;
    c->ready = false;
    if (c->role == GV_ROLE_INIT) {
        c->exit_code = c->waits ? 0 : run->how.init_exit_code;
        c->due_exit = c->waits ? NEVER : later(sim, run->how.init_ns);
        run->waiting = c->waits;
        return;
    }
    const grove_node *probe = grove_node_get(c->spec, "readinessProbe");
    int64_t wait = gv_node_get_int(probe, "initialDelaySeconds", 0) * GV_SECOND;
    int64_t ready = run->how.ready_ns;
    if (run->probe != 0 && ready != NEVER) {
        c->due_ready = later(sim, run->probe == 1 ? 0 : ready + wait);
    }
    bool crashes = run->how.crash_ns != NEVER &&
                   (run->how.crashes == 0 || run->crashes < (uint32_t)run->how.crashes);
    if (c->role == GV_ROLE_MAIN && crashes) {
        c->exit_code = run->how.exit_code;
        c->due_exit = later(sim, run->how.crash_ns);
    }
}

static bool restarts(const gv_sim_pod *run, const gv_sim_container *c) {
    gv_str policy = gv_node_get_str(grove_doc_root(run->spec), "restartPolicy");
    if (c->role == GV_ROLE_SIDECAR) {
        return true;
    }
    if (c->role == GV_ROLE_INIT) {
        return c->now.code != 0 && !gv_str_is(policy, "Never");
    }
    return gv_str_is(policy, "Never")       ? false
           : gv_str_is(policy, "OnFailure") ? c->now.code != 0
                                            : true;
}

static void exit_container(grove_sim *sim, gv_sim_pod *run, gv_sim_container *c) {
    c->now = (gv_exit){true, c->exit_code, c->since, sim->now};
    c->state = GV_STATE_TERMINATED;
    c->started = c->ready = false;
    c->due_exit = c->due_ready = NEVER;
    if (c->role == GV_ROLE_MAIN) {
        run->crashes++;
    }
    if (restarts(run, c)) {
        /* the first restart is immediate, later ones wait longer and longer */
        c->due_restart = later(sim, c->restarts == 0 ? GV_SECOND : backoff(c->restarts));
    }
}

static void restart_container(grove_sim *sim, gv_sim_pod *run, gv_sim_container *c) {
    c->last = c->now;
    c->now.set = false;
    c->restarts++;
    start_container(sim, run, c);
}

/* ---- stages: each returns whether anything changed ---- */

static void say_all(gv_sim_pod *run, const char *reason) {
    for (size_t i = 0; i < run->containers.n; i++) {
        run->containers.v[i].reason = reason;
    }
}

static bool step_pull(grove_sim *sim, gv_sim_pod *run) {
    if (run->due_stage > sim->now) {
        return false;
    }
    if (run->how.pull_fails == 1) {
        say_all(run, run->pull_tries == 0 ? "ErrImagePull" : "ImagePullBackOff");
        run->due_stage = later(sim, backoff(++run->pull_tries));
        return true;
    }
    say_all(run, "PodInitializing");
    run->stage = GV_STAGE_INIT;
    run->init_at = 0;
    run->due_stage = sim->now;
    return true;
}

/* The init container whose turn it is starts, waits, ends or is restarted. */
static bool step_init(grove_sim *sim, gv_sim_pod *run) {
    if (run->init_at == run->n_init) {
        run->stage = GV_STAGE_START;
        run->due_stage = later(sim, run->how.start_container_ns);
        return true;
    }
    run->due_stage = NEVER;
    gv_sim_container *c = &run->containers.v[run->init_at];
    if (c->state == GV_STATE_WAITING) {
        start_container(sim, run, c);
        if (c->role == GV_ROLE_SIDECAR) {
            run->init_at++;
            run->due_stage = sim->now;
        }
        return true;
    }
    if (c->state == GV_STATE_RUNNING && c->waits && gv_sim_parents_ready(sim, run, c->spec)) {
        c->due_exit = sim->now;
    }
    if (c->state == GV_STATE_RUNNING && c->due_exit <= sim->now) {
        exit_container(sim, run, c);
        run->waiting = false;
        if (c->now.code == 0) {
            c->ready = true; /* how the kubelet shows a finished init container */
            run->init_at++;
            run->due_stage = sim->now;
        } else if (c->due_restart == NEVER) {
            run->init_failed = true;
            run->stage = GV_STAGE_DONE;
        }
        return true;
    }
    if (c->due_restart <= sim->now) {
        restart_container(sim, run, c);
        return true;
    }
    return false;
}

static bool step_start(grove_sim *sim, gv_sim_pod *run) {
    if (run->due_stage > sim->now) {
        return false;
    }
    for (size_t i = run->n_init; i < run->containers.n; i++) {
        start_container(sim, run, &run->containers.v[i]);
    }
    run->stage = GV_STAGE_RUN;
    run->ran = true;
    run->due_stage = NEVER;
    return true;
}

static bool step_container(grove_sim *sim, gv_sim_pod *run, gv_sim_container *c) {
    if (c->due_exit <= sim->now && c->state == GV_STATE_RUNNING) {
        exit_container(sim, run, c);
        return true;
    }
    if (c->due_restart <= sim->now) {
        restart_container(sim, run, c);
        return true;
    }
    if (c->due_ready <= sim->now) {
        c->due_ready = NEVER;
        c->ready = c->state == GV_STATE_RUNNING;
        return true;
    }
    return false;
}

static bool step_run(grove_sim *sim, gv_sim_pod *run) {
    bool changed = false, alive = false;
    for (size_t i = 0; i < run->containers.n; i++) {
        gv_sim_container *c = &run->containers.v[i];
        if (c->role != GV_ROLE_INIT) {
            changed = step_container(sim, run, c) || changed;
        }
        alive = alive || (c->role == GV_ROLE_MAIN &&
                          (c->state == GV_STATE_RUNNING || c->due_restart != NEVER));
    }
    if (!alive && run->stage == GV_STAGE_RUN) {
        run->stage = GV_STAGE_DONE;
        for (size_t i = 0; i < run->n_init; i++) {
            gv_sim_container *c = &run->containers.v[i];
            c->due_ready = c->due_restart = c->due_exit = NEVER;
        }
        changed = true;
    }
    return changed;
}

static bool step(grove_sim *sim, gv_sim_pod *run) {
    switch (run->stage) {
    case GV_STAGE_PULL:
        return step_pull(sim, run);
    case GV_STAGE_INIT:
        return step_init(sim, run);
    case GV_STAGE_START:
        return step_start(sim, run);
    case GV_STAGE_RUN:
        return step_run(sim, run);
    case GV_STAGE_DONE:
        break;
    }
    return false;
}

/* ---- the end of a pod ---- */

static void stop_containers(grove_sim *sim, gv_sim_pod *run) {
    for (size_t i = 0; i < run->containers.n; i++) {
        gv_sim_container *c = &run->containers.v[i];
        c->due_restart = c->due_ready = NEVER;
        if (c->state == GV_STATE_RUNNING) {
            c->exit_code = 0;
            exit_container(sim, run, c);
            c->due_restart = NEVER;
        }
    }
    run->stage = GV_STAGE_DONE;
    run->due_stage = NEVER;
}

static grove_status end(grove_sim *sim, gv_sim_pod *run) {
    gv_sim_object *o = run->obj;
    grove_status st = GROVE_OK;
    if (!run->silent && run->ran) {
        stop_containers(sim, run);
        st = gv_sim_kubelet_write(sim, run);
    }
    return st < 0 ? st : gv_sim_finish_delete(sim, o);
}

/* When a pod that is being deleted will be gone. */
static void see_deletion(grove_sim *sim, gv_sim_object *o) {
    gv_sim_pod *run = o->pod;
    gv_sim_meta meta;
    gv_sim_meta_read(gv_sim_root(o), &meta);
    if (meta.deleted_ns == GV_SIM_NO_TIME || (run->due_gone != NEVER && run->silent)) {
        return;
    }
    gv_sim_rules_apply(sim, o, &run->how);
    int64_t own = run->silent ? meta.deleted_ns : later(sim, run->how.terminate_ns);
    run->due_gone = first(run->due_gone, first(own, meta.deleted_ns));
}

/* ---- entry points ---- */

grove_status gv_sim_kubelet_tick(grove_sim *sim, gv_sim_pod *run) {
    if (run->due_gone <= sim->now) {
        return end(sim, run);
    }
    gv_sim_rules_apply(sim, run->obj, &run->how);
    while (!run->silent && step(sim, run)) {
        run->dirty = true;
    }
    gv_sim_kubelet_arm(sim, run);
    if (!run->dirty) {
        return GROVE_OK;
    }
    grove_status st = gv_sim_kubelet_write(sim, run);
    run->dirty = st < 0;
    return st;
}

static grove_status start_run(grove_sim *sim, gv_sim_object *o) {
    grove_status st = begin(sim, o);
    if (st < 0) {
        return st;
    }
    gv_sim_pod *run = o->pod;
    say_all(run, run->n_init > 0 ? "PodInitializing" : "ContainerCreating");
    run->silent = gv_sim_node_silent(sim, o);
    if (!run->silent) {
        st = gv_sim_kubelet_write(sim, run);
        if (st < 0) {
            gv_sim_kubelet_forget(sim, o); /* the whole beginning is tried again */
            sim->pod_ips--;
        }
    }
    return st;
}

grove_status gv_sim_kubelet_look(grove_sim *sim, gv_sim_object *o) {
    if (!o->exists || (sim->options.flags & GROVE_SIM_NO_KUBELET)) {
        bool left_over = o->exists && o->dying;
        return left_over ? gv_sim_finish_delete(sim, o) : GROVE_OK;
    }
    const grove_node *root = gv_sim_root(o);
    if (gv_node_get_str(grove_node_get(root, "spec"), "nodeName").n == 0) {
        return GROVE_OK;
    }
    if (!o->pod) {
        gv_str phase = gv_node_get_str(grove_node_get(root, "status"), "phase");
        bool over = gv_str_is(phase, "Succeeded") || gv_str_is(phase, "Failed");
        grove_status st = over ? GROVE_OK : start_run(sim, o);
        if (st < 0 || !o->pod) {
            return st;
        }
    }
    see_deletion(sim, o);
    gv_sim_kubelet_arm(sim, o->pod);
    return GROVE_OK;
}

void gv_sim_kubelet_silence(grove_sim *sim, gv_sim_object *o, bool silent) {
    if (o->pod && o->pod->silent != silent) {
        o->pod->silent = silent;
        see_deletion(sim, o);
        gv_sim_kubelet_arm(sim, o->pod);
    }
}
