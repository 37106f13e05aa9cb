/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sys/sim.h - the embedded cluster: a Kubernetes control plane and its nodes, in memory.
 *
 * Not a mock: objects carry resourceVersions and uids, writes conflict, finalizers hold, owners are
 * collected, watches have a history that ends, and a kubelet takes pods through their life. Time is
 * virtual: nothing happens except inside grove_sim_advance and the backend's process, and everything that
 * happens is a function of the calls made and the seed.
 *
 *     grove_sim *sim = NULL;
 *     grove_sim_new(env, NULL, &sim, &err);
 *     grove_sim_add_nodes(sim, "blocks=2,racks=2,nodes=4,gpu=8", &err);
 *     grove_backend cluster;
 *     grove_sim_backend(sim, &cluster, &err);       // hand it to an engine
 *     grove_sim_apply(sim, doc, NULL, &err);        // as kubectl apply would
 *     grove_sim_advance(sim, now + 60 * SECOND, &err);
 *
 * Threads: one thread at a time. This header is for tools and tests; it may change between minor
 * versions.
 */
#ifndef GROVE_SYS_SIM_H
#define GROVE_SYS_SIM_H

#include <grove/sys/backend.h>

GROVE_BEGIN_DECLS

typedef struct grove_sim grove_sim;

/* ---- admission ---- */

/** A write that somebody else may judge and change before it is stored. Since 0.1. */
typedef struct grove_sim_review {
    uint32_t size;
    grove_verb verb; /**< GROVE_VERB_CREATE, GROVE_VERB_REPLACE (any update), GROVE_VERB_DELETE */
    grove_kind kind;
    grove_subresource subresource;
    const char *ns;
    const char *name;
    grove_doc *object_doc; /**< the object as it would be stored; NULL on delete */
    const grove_node *object;
    grove_doc *old_doc; /**< NULL on create */
    const grove_node *old;
    /* the answer */
    grove_doc *out_doc; /**< set: store this instead; the sim takes the reference over */
    int32_t http;       /**< 0: allowed; 403 a webhook's no, 422 invalid, 400 undecodable */
    uint32_t reserved;
    char message[1024]; /**< why not */
    /** Causes of a 422, one a line: field, TAB, cause reason such as FieldValueInvalid, TAB, text. */
    char causes[2048];
} grove_sim_review;

/** Judges a write; a negative status is a failure to judge and fails the operation. */
typedef grove_status (*grove_sim_admit_fn)(void *ctx, grove_sim_review *review);

/* ---- options ---- */

#define GROVE_SIM_NO_KUBELET 0x1u   /**< pods are bound and then stay as they are */
#define GROVE_SIM_NO_GC 0x2u        /**< deleted owners leave their objects behind */
#define GROVE_SIM_NO_SCHEDULER 0x4u /**< nobody binds pods of `scheduler_names` */
#define GROVE_SIM_KEEP_LOST_PODS \
    0x8u /**< pods of a failed node stay terminating until the node is
                                              deleted, as on a cluster without a cloud controller */
#define GROVE_SIM_LONE_PODS \
    0x20u /**< the built-in schedulers pass over pods of a gang, which somebody else places */
#define GROVE_SIM_MANAGED_FIELDS \
    0x40u /**< metadata.managedFields tell which client wrote what; costs time and memory */
#define GROVE_SIM_AUTO_NAMESPACES 0x10u /**< a missing namespace is made on first use */

/** Options of grove_sim_new; zero takes the default in brackets. Times in nanoseconds. Since 0.1. */
typedef struct grove_sim_options {
    uint32_t size;
    uint32_t flags;
    uint64_t seed;
    int64_t start_ns; /**< the clock's start [2026-01-01T00:00:00Z] */
    uint32_t history; /**< events kept per kind before a watch position is GONE [8192] */
    uint32_t reserved;
    int64_t pull_ns;            /**< image pull and sandbox [1 s] */
    int64_t init_ns;            /**< one run of an init container [1 s] */
    int64_t start_container_ns; /**< from the last init container to Running [500 ms] */
    int64_t ready_ns;      /**< from Running to Ready, beside a probe's initialDelaySeconds [1 s] */
    int64_t terminate_ns;  /**< from the deletion mark to gone, at most the grace period [1 s] */
    int64_t node_grace_ns; /**< from a node's failure to NotReady [40 s] */
    int64_t evict_ns;      /**< from NotReady to the deletion of its pods [300 s] */
    /** Comma-separated schedulerNames that the built-in scheduler serves, pod by pod, first fit
     *  [default-scheduler]. */
    const char *scheduler_names;
    /** The same, but a whole PodGang or nothing, without topology [none]. */
    const char *gang_scheduler_names;
    grove_sim_admit_fn admit; /**< NULL: everything is allowed as it is */
    void *admit_ctx;
} grove_sim_options;

/** Makes an empty cluster with the namespaces default and kube-system. options may be NULL. Since 0.1. */
GROVE_API grove_status grove_sim_new(grove_env *env, const grove_sim_options *options,
                                     grove_sim **out_sim, grove_error *err);
/** Frees the cluster; its backends must have been destroyed before. NULL is allowed. Since 0.1. */
GROVE_API void grove_sim_free(grove_sim *sim);

/* ---- time ---- */

/** The virtual clock. */
GROVE_API int64_t grove_sim_now(const grove_sim *sim);
/** When something would happen next; grove_sim_now while work waits, INT64_MAX when nothing would. */
GROVE_API int64_t grove_sim_deadline(const grove_sim *sim);
/**
 * Lets everything happen that is due until `to_ns` and sets the clock to it; an earlier time than now
 * counts as now. After GROVE_E_NOMEM the clock stands where the failure was; call again. Since 0.1.
 */
GROVE_API grove_status grove_sim_advance(grove_sim *sim, int64_t to_ns, grove_error *err);

/* ---- as a backend ---- */

/**
 * A client of the cluster. Any number may exist; ops->destroy ends the client, not the cluster. `process`
 * advances the cluster's clock to its `now`. Since 0.1.
 */
GROVE_API grove_status grove_sim_backend(grove_sim *sim, grove_backend *out_backend,
                                         grove_error *err);

/* ---- direct use: what a person with kubectl would do ---- */

/** Outcome of one operation; zero-initialise, set size. Unref `doc` when done. Since 0.1. */
typedef struct grove_sim_result {
    uint32_t size;
    grove_status status;
    int32_t http;
    uint32_t retry_after_ms;
    grove_doc *doc; /**< the object, List or Status, a reference of the caller's; NULL: none */
    char reason[40];
    char message[1024];
} grove_sim_result;

/**
 * Carries one operation out at once (the token is not looked at). A refused operation is a result; the
 * return value is negative only when the sim could not judge. Since 0.1.
 */
GROVE_API grove_status grove_sim_execute(grove_sim *sim, const grove_op *op,
                                         grove_sim_result *out_result);
/**
 * Create, or update as `kubectl apply` does: three-way merge with what was applied last. Lists are applied
 * item by item. `object` NULL: the root of doc. Objects without a namespace go to "default"; a missing
 * namespace is made. Refusals come back as a negative status with the server's message. Since 0.1.
 */
GROVE_API grove_status grove_sim_apply(grove_sim *sim, grove_doc *doc, const grove_node *object,
                                       grove_error *err);
/** The object, a reference of the caller's; GROVE_E_NOT_FOUND. Since 0.1. */
GROVE_API grove_status grove_sim_get(grove_sim *sim, grove_kind kind, const char *ns,
                                     const char *name, grove_doc **out_doc, grove_error *err);
/** A List; ns NULL: all namespaces; label_selector NULL: all. Sorted by namespace and name. Since 0.1. */
GROVE_API grove_status grove_sim_list(grove_sim *sim, grove_kind kind, const char *ns,
                                      const char *label_selector, grove_doc **out_doc,
                                      grove_error *err);
/** Background deletion with the object's own grace period. Since 0.1. */
GROVE_API grove_status grove_sim_delete(grove_sim *sim, grove_kind kind, const char *ns,
                                        const char *name, grove_error *err);
/** Sets spec.replicas through the scale subresource. Since 0.1. */
GROVE_API grove_status grove_sim_scale(grove_sim *sim, grove_kind kind, const char *ns,
                                       const char *name, int64_t replicas, grove_error *err);
/** Binds a pod. Since 0.1. */
GROVE_API grove_status grove_sim_bind(grove_sim *sim, const char *ns, const char *pod,
                                      const char *node, grove_error *err);
/** Every object there is as one List, by kind, namespace, name. Since 0.1. */
GROVE_API grove_status grove_sim_dump(grove_sim *sim, grove_doc **out_doc, grove_error *err);
/** Objects of a kind; GROVE_KIND_NONE: of all. */
GROVE_API uint32_t grove_sim_count(const grove_sim *sim, grove_kind kind);
/** Drops the watch history: positions before now are GONE, and its memory is given back. Since 0.1. */
GROVE_API void grove_sim_compact(grove_sim *sim);

/** Told of every change as it is stored: for timelines. Must not call the sim. */
typedef void (*grove_sim_observe_fn)(void *ctx, int64_t now, const grove_event *event);
GROVE_API void grove_sim_observe(grove_sim *sim, grove_sim_observe_fn observe, void *ctx);

/* ---- nodes ---- */

/**
 * Adds nodes from a spec or from a YAML or JSON text of Node objects (one, a List, or a stream).
 *
 *     spec  = "" | term { "," term }
 *     term  = key "=" value
 *     keys  : zones [1], blocks per zone [1], racks per block [1], nodes per rack [1];
 *             gpu [8], cpu [64], memory [512Gi], pods [110], each per node, as quantities;
 *             zone-key, block-key, rack-key, gpu-key: label keys and the resource name;
 *             prefix [node]: first word of the names
 *     short : "2x2x4x8" = blocks=2,racks=2,nodes=4,gpu=8
 *
 * A node is `<prefix>-b<block>-r<rack>-n<node>` with the labels of its zone, block, rack and host name;
 * with more than one zone `-z<zone>` comes before -b. Since 0.1.
 */
GROVE_API grove_status grove_sim_add_nodes(grove_sim *sim, const char *spec, grove_error *err);
/** The same nodes as a List document, without a cluster. Since 0.1. */
GROVE_API grove_status grove_sim_node_list(grove_env *env, const char *spec, grove_doc **out_doc,
                                           grove_error *err);
/** The node falls silent: its kubelet stops; NotReady, taints and evictions follow in time. Since 0.1. */
GROVE_API grove_status grove_sim_fail_node(grove_sim *sim, const char *node, grove_error *err);
/** The node comes back; pods that were not deleted meanwhile go on. Since 0.1. */
GROVE_API grove_status grove_sim_recover_node(grove_sim *sim, const char *node, grove_error *err);
/** Sets or clears spec.unschedulable. Since 0.1. */
GROVE_API grove_status grove_sim_cordon(grove_sim *sim, const char *node, int32_t on,
                                        grove_error *err);

/* ---- what containers do: scripts ---- */

#define GROVE_SIM_KEEP INT64_C(-1) /**< leave this to the options */
#define GROVE_SIM_NEVER INT64_MAX

/**
 * How the pods that match behave; the rule added last wins, field by field. Initialise with
 * GROVE_SIM_RULE_INIT. Since 0.1.
 */
typedef struct grove_sim_rule {
    uint32_t size;
    uint32_t reserved;
    const char *ns;             /**< NULL: any */
    const char *pod;            /**< NULL: any; a trailing * matches any rest */
    const char *label_selector; /**< NULL: any */
    int64_t pull_ns;
    int64_t init_ns;
    int64_t start_container_ns;
    int64_t ready_ns;       /**< GROVE_SIM_NEVER: runs, but never Ready */
    int64_t terminate_ns;   /**< GROVE_SIM_NEVER: until the grace period kills it */
    int64_t crash_ns;       /**< from Running to an exit by itself; NEVER: runs on */
    int32_t exit_code;      /**< of that exit; -1: leave to earlier rules [1] */
    int32_t crashes;        /**< how often per pod; -1: leave; 0: every time */
    int32_t pull_fails;     /**< 1: ErrImagePull until a later rule says 0; -1: leave */
    int32_t init_exit_code; /**< of ordinary init containers; -1: leave [0] */
} grove_sim_rule;
#define GROVE_SIM_RULE_INIT                                                                \
    {                                                                                      \
        (uint32_t)sizeof(grove_sim_rule), 0, 0, 0, 0, GROVE_SIM_KEEP, GROVE_SIM_KEEP,      \
            GROVE_SIM_KEEP, GROVE_SIM_KEEP, GROVE_SIM_KEEP, GROVE_SIM_KEEP, -1, -1, -1, -1 \
    }
GROVE_API grove_status grove_sim_add_rule(grove_sim *sim, const grove_sim_rule *rule,
                                          grove_error *err);
/** What a running pod's readiness probe answers from now on: Ready at once, or not Ready. Since 0.1. */
GROVE_API grove_status grove_sim_set_ready(grove_sim *sim, const char *ns, const char *pod,
                                           int32_t ready, grove_error *err);
/** A container exits now; container NULL: all of them. Since 0.1. */
GROVE_API grove_status grove_sim_crash(grove_sim *sim, const char *ns, const char *pod,
                                       const char *container, int32_t exit_code, grove_error *err);

/* ---- schedulers from outside ---- */

/**
 * Called inside advance, at most once per instant, when pods of this schedulerName wait for a node or
 * nodes changed; may call every function of this header except advance, free and backend: mostly
 * grove_sim_list and grove_sim_bind.
 */
typedef grove_status (*grove_sim_schedule_fn)(void *ctx, grove_sim *sim, int64_t now);
/** Serves `scheduler_name` from now on, in place of the built-in ones. Since 0.1. */
GROVE_API grove_status grove_sim_set_scheduler(grove_sim *sim, const char *scheduler_name,
                                               grove_sim_schedule_fn schedule, void *ctx,
                                               grove_error *err);

GROVE_END_DECLS
#endif
