/* SPDX-License-Identifier: Apache-2.0 */
/* The status that a kubelet writes for a pod. */
#include "sim/call.h"
#include "sim/condition.h"
#include "sim/kubelet.h"
#include "sim/meta.h"

/* ---- containers ---- */

static void build_exit(grove_sim *sim, const gv_exit *e) {
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, "terminated");
    grove_builder_int64(b, "exitCode", e->code);
    grove_builder_string(b, "reason", e->code == 0 ? "Completed" : "Error");
    gv_sim_build_time(sim, b, "startedAt", e->started);
    gv_sim_build_time(sim, b, "finishedAt", e->finished);
    grove_builder_close(b);
}

/* A container between two starts is shown waiting once its back-off is longer than a moment. */
static bool backs_off(const gv_sim_container *c) {
    return c->state == GV_STATE_TERMINATED && c->restarts > 0 && c->due_restart != INT64_MAX;
}

static void build_state(grove_sim *sim, const gv_sim_container *c) {
    grove_builder *b = sim->builder;
    grove_builder_open_object(b, "state");
    if (c->state == GV_STATE_RUNNING) {
        grove_builder_open_object(b, "running");
        gv_sim_build_time(sim, b, "startedAt", c->since);
        grove_builder_close(b);
    } else if (c->state == GV_STATE_TERMINATED && !backs_off(c)) {
        build_exit(sim, &c->now);
    } else {
        grove_builder_open_object(b, "waiting");
        grove_builder_string(b, "reason", backs_off(c) ? "CrashLoopBackOff" : c->reason);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "lastState");
    if (backs_off(c)) {
        build_exit(sim, &c->now);
    } else if (c->last.set) {
        build_exit(sim, &c->last);
    }
    grove_builder_close(b);
}

static void build_container(grove_sim *sim, const gv_sim_container *c) {
    grove_builder *b = sim->builder;
    gv_str name = gv_node_get_str(c->spec, "name"), image = gv_node_get_str(c->spec, "image");
    grove_builder_open_object(b, NULL);
    grove_builder_stringn(b, "name", name.p, name.n);
    build_state(sim, c);
    grove_builder_bool(b, "ready", c->ready);
    grove_builder_int64(b, "restartCount", c->restarts);
    grove_builder_stringn(b, "image", image.p, image.n);
    grove_builder_string(b, "imageID", "");
    grove_builder_bool(b, "started", c->started);
    grove_builder_close(b);
}

static void build_containers(grove_sim *sim, const gv_sim_pod *run, const char *key, size_t from,
                             size_t to) {
    if (from == to) {
        return;
    }
    grove_builder_open_array(sim->builder, key);
    for (size_t i = from; i < to; i++) {
        build_container(sim, &run->containers.v[i]);
    }
    grove_builder_close(sim->builder);
}

/* ---- the pod ---- */

static bool initialized(const gv_sim_pod *run) {
    return run->init_at == run->n_init && !run->init_failed;
}

static bool all_ready(const gv_sim_pod *run) {
    bool ready = run->stage == GV_STAGE_RUN;
    for (size_t i = 0; i < run->containers.n; i++) {
        const gv_sim_container *c = &run->containers.v[i];
        ready = ready && (c->role == GV_ROLE_INIT || c->ready);
    }
    return ready;
}

static const char *phase(const gv_sim_pod *run) {
    if (run->stage != GV_STAGE_DONE) {
        return run->ran ? "Running" : "Pending";
    }
    bool failed = run->init_failed;
    for (size_t i = run->n_init; i < run->containers.n; i++) {
        failed = failed || run->containers.v[i].now.code != 0;
    }
    return failed ? "Failed" : "Succeeded";
}

/* "containers with <what> status: [a b]" into the scratch text of the caller. */
static void name_containers(char *out, size_t cap, const char *what, const gv_sim_pod *run,
                            bool init) {
    size_t n = gv_fmt(out, cap, "containers with %s status: [", what);
    bool any = false;
    for (size_t i = 0; i < run->containers.n; i++) {
        const gv_sim_container *c = &run->containers.v[i];
        if ((i < run->n_init) == init && !c->ready && n < cap) {
            n += gv_fmt(out + n, cap - n, "%s%s", any ? " " : "",
                        gv_node_get_str(c->spec, "name").p);
            any = true;
        }
    }
    if (n < cap) {
        (void)gv_fmt(out + n, cap - n, "]");
    }
}

static void build_pod_conditions(grove_sim *sim, const gv_sim_pod *run) {
    char unready[256], incomplete[256];
    bool ready = all_ready(run), init = initialized(run), over = run->stage == GV_STAGE_DONE;
    name_containers(unready, sizeof unready, "unready", run, false);
    name_containers(incomplete, sizeof incomplete, "incomplete", run, true);
    const char *not_ready = over ? "PodCompleted" : "ContainersNotReady";
    const gv_sim_new_condition set[] = {
        {"PodReadyToStartContainers", run->stage > GV_STAGE_PULL && !over ? "True" : "False", NULL,
         NULL},
        {"Initialized", init ? "True" : "False", init ? NULL : "ContainersNotInitialized",
         init ? NULL : incomplete},
        {"Ready", ready ? "True" : "False", ready ? NULL : not_ready, ready ? NULL : unready},
        {"ContainersReady", ready ? "True" : "False", ready ? NULL : not_ready,
         ready ? NULL : unready},
        {"PodScheduled", "True", NULL, NULL},
    };
    gv_sim_build_conditions(sim, sim->builder, gv_sim_root(run->obj), set,
                            sizeof set / sizeof *set);
}

static void build_addresses(grove_sim *sim, const gv_sim_pod *run) {
    if (run->stage == GV_STAGE_PULL) {
        return;
    }
    char ip[32];
    grove_builder *b = sim->builder;
    (void)gv_fmt(ip, sizeof ip, "10.%u.%u.%u", 128 + (unsigned)(run->ip >> 16 & 0x7f),
                 (unsigned)(run->ip >> 8 & 0xff), (unsigned)(run->ip & 0xff));
    grove_builder_string(b, "podIP", ip);
    grove_builder_open_array(b, "podIPs");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "ip", ip);
    grove_builder_close(b);
    grove_builder_close(b);
}

grove_status gv_sim_kubelet_write(grove_sim *sim, gv_sim_pod *run) {
    grove_builder *b = sim->builder;
    gv_str qos = gv_node_get_str(grove_node_get(gv_sim_root(run->obj), "status"), "qosClass");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "phase", phase(run));
    build_pod_conditions(sim, run);
    gv_sim_build_time(sim, b, "startTime", run->start_ns);
    build_addresses(sim, run);
    build_containers(sim, run, "initContainerStatuses", 0, run->n_init);
    build_containers(sim, run, "containerStatuses", run->n_init, run->containers.n);
    if (qos.n > 0) {
        grove_builder_stringn(b, "qosClass", qos.p, qos.n);
    }
    grove_builder_close(b);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(b, &doc, NULL);
    if (st == GROVE_OK) {
        st = gv_sim_put_section(sim, run->obj, "status", doc);
        grove_doc_unref(doc);
    }
    return st;
}
