/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/k8s.h - a backend that drives a real Kubernetes cluster (library libgrove-k8s).
 *
 *     grove_k8s_options o = {sizeof o};
 *     o.kubeconfig = "/etc/grove/kubeconfig";    // NULL: found as usual
 *     grove_backend backend;
 *     if (grove_k8s_backend(env, &o, &backend, &err) < 0) ...
 *     ... grove_runner_turn(engine, &backend, now, &deadline, &err), poll its descriptors ...
 *     backend.ops->destroy(backend.impl);
 *
 * It has no loop and no threads of its own: wait for its descriptors (pollfds) or its deadline, then call
 * process. Times are those that `process` is told. It changes no signal disposition, all its descriptors
 * are close-on-exec, and no credential reaches a log, an error or a recording. Memory of libcurl and
 * OpenSSL does not pass through the environment's allocator.
 */
#ifndef GROVE_K8S_H
#define GROVE_K8S_H

#include <grove/sys/backend.h>

GROVE_BEGIN_DECLS

#define GROVE_K8S_IN_CLUSTER 0x1u   /**< the pod's service account, and nothing else */
#define GROVE_K8S_NO_WATCHLIST 0x2u /**< begin watches with lists in pages */

/** Options of grove_k8s_backend. Zero-initialise, set size, then what is wanted. Since 0.1. */
typedef struct grove_k8s_options {
    uint32_t size;  /**< sizeof(grove_k8s_options) */
    uint32_t flags; /**< GROVE_K8S_* */
    /**
     * Path of a kubeconfig. NULL: the files of $KUBECONFIG, else the pod's service account, else
     * ~/.kube/config.
     */
    const char *kubeconfig;
    const char *kubeconfig_bytes; /**< a kubeconfig's text instead of files */
    uint64_t kubeconfig_len;
    const char *context;    /**< NULL: current-context */
    const char *user_agent; /**< NULL: "libgrove/VERSION" */
    const char *manager;    /**< field manager of writes that name none [libgrove] */
    const char *as_user;    /**< impersonation; replaces the kubeconfig's */
    const char *as_uid;
    const char *const *as_groups; /**< n_as_groups entries */
    uint32_t n_as_groups;
    uint32_t max_in_flight;      /**< requests at once [64] */
    uint32_t request_timeout_ms; /**< of one request that is no watch [60,000] */
    uint32_t page_size;          /**< items of a page of the lists that begin watches [500] */
    uint64_t seed;               /**< of delays and time-outs; 0: from the system */
} grove_k8s_options;

/**
 * Reads the access data and makes the backend; connects to nothing yet. Options may be NULL. The caller
 * ends it with out_backend->ops->destroy(out_backend->impl). GROVE_E_NOT_FOUND when there is no
 * configuration, GROVE_E_INVALID when one cannot be used; the message says which file and entry.
 * Since 0.1.
 */
GROVE_API grove_status grove_k8s_backend(grove_env *env, const grove_k8s_options *options,
                                         grove_backend *out_backend, grove_error *err);

/** The namespace that the context or the pod names; "default" when none does. Borrowed. Since 0.1. */
GROVE_API const char *grove_k8s_namespace(const grove_backend *backend);

/* ---- one of several processes leads ---- */

/*
 * With grove_k8s_elect the backend becomes a candidate for a Lease (coordination.k8s.io/v1): `process` asks
 * for it and renews it. From then on writes are sent only while nobody else can hold the Lease; reads and
 * watches go on always, so that a process that waits is warm. What is submitted otherwise ends with
 * GROVE_E_CANCELLED, unsent. Writes that are on their way when the Lease may be lost are cut off, with
 * GROVE_ERROR_UNCERTAIN and their connections reset.
 */
typedef int32_t grove_k8s_lease_state;
#define GROVE_K8S_LEASE_NONE 0    /**< no election: everything may be written */
#define GROVE_K8S_LEASE_STANDBY 1 /**< waiting: another one leads, or the server does not answer */
#define GROVE_K8S_LEASE_LEADING 2 /**< this process leads */
#define GROVE_K8S_LEASE_RELEASING 3 /**< after grove_k8s_resign, until the Lease is given back */
#define GROVE_K8S_LEASE_RELEASED 4  /**< given back: the process can end */
#define GROVE_K8S_LEASE_LOST 5      /**< led, and does no more: the process has to end */

/** Options of grove_k8s_elect. Zero-initialise, set size, then what is wanted. Since 0.1. */
typedef struct grove_k8s_lease_options {
    uint32_t size;             /**< sizeof(grove_k8s_lease_options) */
    uint32_t flags;            /**< zero */
    const char *name;          /**< of the Lease; required */
    const char *ns;            /**< NULL: grove_k8s_namespace() */
    const char *identity;      /**< of this process, unique; NULL: host name and a random number */
    int64_t duration_ns;       /**< whole seconds [15 s] */
    int64_t renew_deadline_ns; /**< without a renewal for so long, the Lease is lost [10 s] */
    int64_t retry_ns;          /**< between renewals, and between looks of those who wait [2 s] */
    /**
     * A clock in nanoseconds that never goes back. NULL: the system's, which also counts while the machine
     * sleeps. Read before each write.
     */
    int64_t (*clock)(void *ctx);
    void *clock_ctx;
} grove_k8s_lease_options;

/** How the election stands. Since 0.1. */
typedef struct grove_k8s_lease_info {
    uint32_t size; /**< sizeof(grove_k8s_lease_info), set by the caller */
    grove_k8s_lease_state state;
    const char *identity; /**< ours; borrowed until the backend ends */
    const char *holder;   /**< the one last seen, "" for nobody; borrowed until the next process */
    int64_t left_ns; /**< how long writes may go on leaving without a renewal; 0: they may not */
} grove_k8s_lease_info;

/**
 * Becomes a candidate, once per backend. Copies the options. GROVE_E_INVALID: a backend of another kind, no
 * name, or times that cannot work (duration > renew deadline > 1.2 retry). Since 0.1.
 */
GROVE_API grove_status grove_k8s_elect(const grove_backend *backend,
                                       const grove_k8s_lease_options *options, grove_error *err);
/**
 * Stops leading in order: no write is begun any more, those under way may end, then the Lease is given back,
 * so that another process can lead at once. Go on with `process` until the state is RELEASED or LOST, which
 * takes one renew deadline at most. Since 0.1.
 */
GROVE_API grove_status grove_k8s_resign(const grove_backend *backend, grove_error *err);
/** Fills *out_info up to its size. GROVE_E_INVALID: a backend of another kind. Since 0.1. */
GROVE_API grove_status grove_k8s_lease(const grove_backend *backend,
                                       grove_k8s_lease_info *out_info);

GROVE_END_DECLS
#endif
