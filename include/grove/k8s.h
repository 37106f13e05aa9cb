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

GROVE_END_DECLS
#endif
