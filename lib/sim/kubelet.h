/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelets of all nodes: one run per pod on a node, a small state machine with due times.
 *
 *     bound -> images -> init containers one by one -> main containers start -> running -> ready
 *
 * A run keeps what a node would keep in memory; what others may know of it stands in the pod's status.
 */
#ifndef GV_SIM_KUBELET_H
#define GV_SIM_KUBELET_H

#include "sim/state.h"

typedef enum gv_role { GV_ROLE_INIT, GV_ROLE_SIDECAR, GV_ROLE_MAIN } gv_role;
typedef enum gv_run_state { GV_STATE_WAITING, GV_STATE_RUNNING, GV_STATE_TERMINATED } gv_run_state;
typedef enum gv_stage {
    GV_STAGE_PULL,  /* sandbox and images */
    GV_STAGE_INIT,  /* init container number `init_at` */
    GV_STAGE_START, /* main containers are being started */
    GV_STAGE_RUN,
    GV_STAGE_DONE /* nothing runs any more and nothing will be restarted */
} gv_stage;

/* One end of a container. */
typedef struct gv_exit {
    bool set;
    int32_t code;
    int64_t started, finished;
} gv_exit;

typedef struct gv_sim_container {
    const grove_node *spec; /* of the run's spec document */
    gv_role role;
    bool waits; /* the start-order container */
    gv_run_state state;
    const char *reason; /* of waiting; static */
    bool started, ready;
    uint32_t restarts;
    int64_t since; /* running: started at */
    gv_exit now, last;
    int32_t exit_code; /* of the exit that is due */
    int64_t due_exit, due_restart, due_ready;
} gv_sim_container;

typedef struct gv_sim_pod {
    gv_sim_object *obj; /* borrowed: the object owns the run */
    grove_doc *spec;
    gv_sim_timer timer;
    gv_stage stage;
    uint32_t init_at, n_init;
    GV_VEC(gv_sim_container) containers; /* init containers first */
    int64_t due_stage, due_gone;
    int64_t start_ns;
    uint32_t pull_tries;
    uint32_t crashes;
    int32_t probe; /* what somebody made the readiness probe answer; -1: by the rules */
    bool ran;      /* main containers were started once */
    bool init_failed;
    bool silent;  /* its node does not answer */
    bool waiting; /* the start-order container runs */
    bool dirty;   /* something happened that the status does not show yet */
    uint64_t ip;
    gv_sim_behaviour how;
} gv_sim_pod;

/* A pod changed or went. */
grove_status gv_sim_kubelet_look(grove_sim *sim, gv_sim_object *o);
/* The timer of a run went off. */
grove_status gv_sim_kubelet_tick(grove_sim *sim, gv_sim_pod *run);
/* Ends the run of an object that goes; nothing is written. */
void gv_sim_kubelet_forget(grove_sim *sim, gv_sim_object *o);
/* The pod's node fell silent, or speaks again. */
void gv_sim_kubelet_silence(grove_sim *sim, gv_sim_object *o, bool silent);
/* Sets the timer to what is due first. */
void gv_sim_kubelet_arm(grove_sim *sim, gv_sim_pod *run);

/* Writes what the run looks like into the pod's status (status.c of the kubelet). */
grove_status gv_sim_kubelet_write(grove_sim *sim, gv_sim_pod *run);

/* The start-order container: whether every parent has enough ready pods in the pod's gang. */
bool gv_sim_parents_ready(const grove_sim *sim, const gv_sim_pod *run, const grove_node *container);
/* A pod of a gang became ready, unready or went: whoever waits in that gang looks again. */
void gv_sim_wake_gang(grove_sim *sim, const gv_sim_object *o);

#endif
