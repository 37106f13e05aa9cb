/* SPDX-License-Identifier: Apache-2.0 */
/* Where the access data comes from: options, environment, the pod, the home folder. */
#include "access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grove/sys/util.h>

#define POD_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"
#define MAX_FILES 32

grove_status gv_k8s_in_cluster(grove_env *env, const char *host, const char *port,
                               const char *folder, gv_k8s_access *out, grove_error *err) {
    if (gv_k8s_empty(host) || gv_k8s_empty(port)) {
        return grove_error_set(err, GROVE_E_NOT_FOUND,
                               "not in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set");
    }
    gv_k8s_access a = {.pool = {.env = env}, .ns = "default"};
    grove_buf b;
    grove_buf_init(&b, env);
    bool v6 = strchr(host, ':') != NULL; /* an IPv6 address wants brackets */
    grove_status st = gv_k8s_putf(&b, "https://%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
                                  port);
    st = st == GROVE_OK && gv_k8s_pool_set(&a.pool, &a.server, b.data) ? st : GROVE_E_NOMEM;
    const char **paths[2] = {&a.token_file, &a.ca_file};
    const char *const names[2] = {"token", "ca.crt"};
    for (int i = 0; i < 2 && st == GROVE_OK; i++) {
        grove_buf_clear(&b);
        st = gv_k8s_putf(&b, "%s/%s", folder, names[i]);
        st = st == GROVE_OK && gv_k8s_pool_set(&a.pool, paths[i], b.data) ? st : GROVE_E_NOMEM;
    }
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/namespace", folder);
    grove_buf_clear(&b);
    if (st == GROVE_OK && gv_k8s_read_file(path, &b, NULL) == GROVE_OK && b.len > 0) {
        size_t n = strcspn(b.data, " \t\r\n");
        a.ns = gv_k8s_pool_text(&a.pool, b.data, n);
        st = a.ns ? st : GROVE_E_NOMEM;
    }
    grove_buf_clear(&b);
    if (st == GROVE_OK) { /* a pod without a token cannot do anything: say so now */
        st = gv_k8s_read_file(a.token_file, &b, err);
    } else {
        (void)gv_k8s_nomem(err);
    }
    gv_k8s_wipe(&b);
    if (st < 0) {
        gv_k8s_access_fini(&a);
        return st;
    }
    *out = a;
    return GROVE_OK;
}

/* $KUBECONFIG: a list with colons. The pieces are written into the copy `list`. */
static uint32_t split(char *list, const char **paths) {
    uint32_t n = 0;
    for (char *p = list; *p && n < MAX_FILES;) {
        char *colon = strchr(p, ':');
        if (colon) {
            *colon = '\0';
        }
        if (*p) {
            paths[n++] = p;
        }
        p = colon ? colon + 1 : p + strlen(p);
    }
    return n;
}

static grove_status from_variable(grove_env *env, const char *variable, const char *context,
                                  gv_k8s_access *out, grove_error *err) {
    const char *paths[MAX_FILES];
    gv_k8s_pool pool = {.env = env};
    char *list = gv_k8s_pool_text(&pool, variable, strlen(variable));
    if (!list) {
        return gv_k8s_nomem(err);
    }
    uint32_t n = split(list, paths);
    grove_status st = n > 0 ? gv_k8s_kubeconfig_files(env, paths, n, false, context, out, err)
                            : grove_error_set(err, GROVE_E_NOT_FOUND, "KUBECONFIG names no file");
    gv_k8s_pool_fini(&pool);
    return st;
}

static grove_status from_home(grove_env *env, const char *context, gv_k8s_access *out,
                              grove_error *err) {
    char path[4096];
    const char *home = getenv("HOME");
    if (gv_k8s_empty(home)) {
        return grove_error_set(err, GROVE_E_NOT_FOUND, "no kubeconfig: HOME is not set");
    }
    (void)snprintf(path, sizeof path, "%s/.kube/config", home);
    const char *const paths[1] = {path};
    return gv_k8s_kubeconfig_files(env, paths, 1, true, context, out, err);
}

static grove_status from_pod(grove_env *env, gv_k8s_access *out, grove_error *err) {
    return gv_k8s_in_cluster(env, getenv("KUBERNETES_SERVICE_HOST"),
                             getenv("KUBERNETES_SERVICE_PORT"), POD_FOLDER, out, err);
}

static grove_status find(grove_env *env, const grove_k8s_options *o, gv_k8s_access *out,
                         grove_error *err) {
    if ((o->flags & GROVE_K8S_IN_CLUSTER) != 0) {
        return from_pod(env, out, err);
    }
    if (o->kubeconfig_bytes) {
        return gv_k8s_kubeconfig_text(env, o->kubeconfig_bytes, (size_t)o->kubeconfig_len, ".",
                                      o->context, out, err);
    }
    if (o->kubeconfig) {
        return gv_k8s_kubeconfig_files(env, &o->kubeconfig, 1, true, o->context, out, err);
    }
    const char *variable = getenv("KUBECONFIG");
    if (!gv_k8s_empty(variable)) {
        return from_variable(env, variable, o->context, out, err);
    }
    if (!gv_k8s_empty(getenv("KUBERNETES_SERVICE_HOST"))) {
        return from_pod(env, out, err);
    }
    return from_home(env, o->context, out, err);
}

/* The options' impersonation replaces the configuration's. */
static grove_status impersonate(grove_env *env, const grove_k8s_options *o, gv_k8s_access *a,
                                grove_error *err) {
    if (!o->as_user) {
        bool others = o->as_uid || o->n_as_groups > 0;
        return others ? grove_error_set(err, GROVE_E_INVALID, "as_uid and as_groups need as_user")
                      : GROVE_OK;
    }
    grove_memory_free(env, a->as_groups, a->n_as_groups * sizeof *a->as_groups);
    grove_memory_free(env, a->as_extra, a->n_as_extra * sizeof *a->as_extra);
    a->as_groups = NULL;
    a->as_extra = NULL;
    a->n_as_groups = a->n_as_extra = 0;
    bool ok = gv_k8s_pool_set(&a->pool, &a->as_user, o->as_user) &&
              gv_k8s_pool_set(&a->pool, &a->as_uid, o->as_uid);
    if (ok && o->n_as_groups > 0) {
        a->as_groups = grove_memory_alloc(env, o->n_as_groups * sizeof *a->as_groups);
        ok = a->as_groups != NULL;
        a->n_as_groups = ok ? o->n_as_groups : 0;
    }
    for (uint32_t i = 0; i < a->n_as_groups && ok; i++) {
        ok = gv_k8s_pool_set(&a->pool, &a->as_groups[i], o->as_groups[i]);
    }
    return ok ? GROVE_OK : gv_k8s_nomem(err);
}

static bool one_line(const char *text) {
    return !text || !strpbrk(text, "\r\n");
}

/* What cannot stand in a header would be left out of it: another identity would act. */
static grove_status check_headers(const gv_k8s_access *a, grove_error *err) {
    bool ok = one_line(a->as_user) && one_line(a->as_uid);
    for (uint32_t i = 0; i < a->n_as_groups; i++) {
        ok = ok && one_line(a->as_groups[i]);
    }
    for (uint32_t i = 0; i < a->n_as_extra; i++) {
        ok = ok && one_line(a->as_extra[i].value);
    }
    if (!ok) {
        return grove_error_set(err, GROVE_E_INVALID, "who is impersonated must be one line");
    }
    return one_line(a->token) ? GROVE_OK
                              : grove_error_set(err, GROVE_E_INVALID, "a token must be one line");
}

grove_status gv_k8s_access_load(grove_env *env, const grove_k8s_options *options,
                                gv_k8s_access *out, grove_error *err) {
    gv_k8s_access a = {0};
    grove_status st = find(env, options, &a, err);
    if (st < 0) {
        return st;
    }
    st = impersonate(env, options, &a, err);
    st = st < 0 ? st : check_headers(&a, err);
    if (st < 0) {
        gv_k8s_access_fini(&a);
        return st;
    }
    *out = a;
    return GROVE_OK;
}
