/* SPDX-License-Identifier: Apache-2.0 */
/* How to reach the server and as whom: what a kubeconfig, or a pod's service account, says. */
#ifndef GV_K8S_ACCESS_H
#define GV_K8S_ACCESS_H

#include <grove/k8s.h>

#include "text.h"

typedef struct gv_k8s_pair {
    const char *name, *value;
} gv_k8s_pair;

/* A program that prints a credential. */
typedef struct gv_k8s_exec {
    const char *command;     /* NULL: none */
    const char *api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    const char **args;       /* n_args */
    uint32_t n_args;
    gv_k8s_pair *env_vars; /* n_env */
    uint32_t n_env;
    bool provide_cluster_info;
    const char *config_json; /* the cluster's extension for it; NULL: none */
} gv_k8s_exec;

/* NULL and 0: not set. All texts belong to the pool. */
typedef struct gv_k8s_access {
    gv_k8s_pool pool;
    const char *server; /* without a slash at the end */
    const char *tls_server_name;
    const char *proxy_url;
    bool insecure;
    const char *ca_pem, *ca_file;
    const char *cert_pem, *cert_file;
    const char *key_pem, *key_file;
    const char *token, *token_file;
    const char *user_name, *password;
    const char *as_user, *as_uid;
    const char **as_groups;
    uint32_t n_as_groups;
    gv_k8s_pair *as_extra;
    uint32_t n_as_extra;
    gv_k8s_exec exec;
    const char *ns; /* never NULL */
} gv_k8s_access;

/* Finds and reads the configuration as grove/k8s.h says. */
grove_status gv_k8s_access_load(grove_env *env, const grove_k8s_options *options,
                                gv_k8s_access *out, grove_error *err);
/* From these files (missing ones are passed over unless `must_exist`), the first winning. */
grove_status gv_k8s_kubeconfig_files(grove_env *env, const char *const *paths, uint32_t n,
                                     bool must_exist, const char *context, gv_k8s_access *out,
                                     grove_error *err);
/* From one text; relative paths are taken from `folder`. */
grove_status gv_k8s_kubeconfig_text(grove_env *env, const char *text, size_t len,
                                    const char *folder, const char *context, gv_k8s_access *out,
                                    grove_error *err);
/* From a pod's environment: host and port, and the folder with token, ca.crt and namespace. */
grove_status gv_k8s_in_cluster(grove_env *env, const char *host, const char *port,
                               const char *folder, gv_k8s_access *out, grove_error *err);
void gv_k8s_access_fini(gv_k8s_access *access);

#endif
