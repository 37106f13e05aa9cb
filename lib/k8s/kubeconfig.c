/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading kubeconfig files: several are merged entry by entry, the first file that defines one wins whole.
 * Messages name file and entry, and never a value that may be secret.
 */
#include <stdio.h>
#include <string.h>

#include <grove/sys/util.h>

#include "access.h"

typedef struct source {
    grove_doc *doc;
    const char *folder; /* relative paths start here */
    const char *name;   /* for messages */
} source;

typedef struct reader {
    grove_env *env;
    gv_k8s_access *out;
    source *sources; /* n of them */
    uint32_t n;
    grove_error *err;
} reader;

/* An entry of clusters, users or contexts. */
typedef struct entry {
    const grove_node *body;
    const source *from;
    const char *name;
} entry;

static entry find(const reader *r, const char *list, const char *member, const char *name) {
    for (uint32_t i = 0; i < r->n; i++) {
        const grove_node *items = grove_node_get(grove_doc_root(r->sources[i].doc), list);
        for (const grove_node *c = grove_node_first(items); c; c = grove_node_next(items, c)) {
            const char *has = gv_k8s_member(c, "name");
            if (has && name && strcmp(has, name) == 0) {
                return (entry){grove_node_get(c, member), &r->sources[i], name};
            }
        }
    }
    return (entry){NULL, NULL, name ? name : ""};
}

static grove_status refuse(const reader *r, const entry *e, const char *what) {
    return gv_k8s_error(r->err, GROVE_E_INVALID, "%s: \"%s\": %s",
                        e->from ? e->from->name : "kubeconfig", e->name, what);
}

/* ---- members ---- */

static grove_status take_text(const reader *r, const entry *e, const char *key, const char **out) {
    const grove_node *node = grove_node_get(e->body, key);
    grove_type type = grove_node_type(node);
    if (type == GROVE_MISSING || type == GROVE_NULL_NODE) {
        return GROVE_OK;
    }
    if (type != GROVE_STRING) {
        char why[120];
        (void)snprintf(why, sizeof why, "%s must be a string", key);
        return refuse(r, e, why);
    }
    const char *text = grove_node_text(node);
    if (!text[0]) {
        return GROVE_OK;
    }
    return gv_k8s_pool_set(&r->out->pool, out, text) ? GROVE_OK : gv_k8s_nomem(r->err);
}

static grove_status join(const reader *r, const char *folder, const char *path, const char **out) {
    if (path[0] == '/' || !folder[0]) {
        return gv_k8s_pool_set(&r->out->pool, out, path) ? GROVE_OK : gv_k8s_nomem(r->err);
    }
    grove_buf b;
    grove_buf_init(&b, r->env);
    grove_status st = gv_k8s_putf(&b, "%s/%s", folder, path);
    if (st == GROVE_OK) {
        st = gv_k8s_pool_set(&r->out->pool, out, b.data) ? GROVE_OK : GROVE_E_NOMEM;
    }
    grove_buf_fini(&b);
    return st < 0 ? gv_k8s_nomem(r->err) : st;
}

static grove_status take_path(const reader *r, const entry *e, const char *key, const char **out) {
    const char *path = NULL;
    grove_status st = take_text(r, e, key, &path);
    return st == GROVE_OK && path ? join(r, e->from->folder, path, out) : st;
}

/* NAME-data (base64) into pem, else NAME into file. */
static grove_status take_pem(const reader *r, const entry *e, const char *key, const char **pem,
                             const char **file) {
    char data_key[64], why[120];
    const char *data = NULL;
    (void)snprintf(data_key, sizeof data_key, "%s-data", key);
    grove_status st = take_text(r, e, data_key, &data);
    if (st < 0 || !data) {
        return st < 0 ? st : take_path(r, e, key, file);
    }
    grove_buf b;
    grove_buf_init(&b, r->env);
    st = gv_k8s_base64_decode(data, strlen(data), &b);
    if (st == GROVE_OK && b.len > 0) {
        *pem = gv_k8s_pool_text(&r->out->pool, b.data, (size_t)b.len);
        st = *pem ? GROVE_OK : GROVE_E_NOMEM;
    }
    gv_k8s_wipe(&b);
    if (st == GROVE_E_PARSE) {
        (void)snprintf(why, sizeof why, "%s is no base64", data_key);
        return refuse(r, e, why);
    }
    return st < 0 ? gv_k8s_nomem(r->err) : st;
}

/* ---- clusters ---- */

static grove_status take_server(const reader *r, const entry *e) {
    const char *server = NULL;
    grove_status st = take_text(r, e, "server", &server);
    if (st < 0) {
        return st;
    }
    if (!server) {
        return refuse(r, e, "the cluster has no server");
    }
    if (strncmp(server, "https://", 8) != 0 && strncmp(server, "http://", 7) != 0) {
        return refuse(r, e, "server must begin with https:// or http://");
    }
    size_t n = strlen(server);
    while (n > 0 && server[n - 1] == '/') {
        n--;
    }
    r->out->server = gv_k8s_pool_text(&r->out->pool, server, n);
    return r->out->server ? GROVE_OK : gv_k8s_nomem(r->err);
}

static grove_status take_extension(const reader *r, const entry *e) {
    const grove_node *list = grove_node_get(e->body, "extensions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        const char *name = gv_k8s_member(c, "name");
        if (name && strcmp(name, "client.authentication.k8s.io/exec") == 0) {
            grove_buf b;
            grove_buf_init(&b, r->env);
            grove_status st = grove_node_write_json(grove_node_get(c, "extension"), 0, &b, r->err);
            if (st == GROVE_OK &&
                !gv_k8s_pool_set(&r->out->pool, &r->out->exec.config_json, b.data)) {
                st = gv_k8s_nomem(r->err);
            }
            grove_buf_fini(&b);
            return st;
        }
    }
    return GROVE_OK;
}

static grove_status take_cluster(const reader *r, const entry *e) {
    gv_k8s_access *a = r->out;
    if (!e->body) {
        return refuse(r, e, "there is no cluster of this name");
    }
    a->insecure = grove_node_is_true(grove_node_get(e->body, "insecure-skip-tls-verify")) != 0;
    grove_status st = take_server(r, e);
    st = st < 0 ? st : take_text(r, e, "tls-server-name", &a->tls_server_name);
    st = st < 0 ? st : take_text(r, e, "proxy-url", &a->proxy_url);
    st = st < 0 ? st : take_pem(r, e, "certificate-authority", &a->ca_pem, &a->ca_file);
    st = st < 0 ? st : take_extension(r, e);
    if (st < 0) {
        return st;
    }
    if (a->insecure && (a->ca_pem || a->ca_file)) {
        return refuse(r, e,
                      "insecure-skip-tls-verify and certificate-authority exclude each other");
    }
    const char *p = a->proxy_url;
    if (p && strncmp(p, "http://", 7) != 0 && strncmp(p, "https://", 8) != 0 &&
        strncmp(p, "socks5://", 9) != 0) {
        return refuse(r, e, "proxy-url must begin with http://, https:// or socks5://");
    }
    return GROVE_OK;
}

/* ---- users ---- */

static grove_status take_list(const reader *r, const grove_node *list, const char ***out,
                              uint32_t *out_n) {
    uint32_t n = grove_node_size(list), i = 0;
    if (n == 0) {
        return GROVE_OK;
    }
    const char **texts = grove_memory_alloc(r->env, n * sizeof *texts);
    if (!texts) {
        return gv_k8s_nomem(r->err);
    }
    *out = texts;
    *out_n = n;
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c), i++) {
        const char *text = grove_node_type(c) == GROVE_STRING ? grove_node_text(c) : "";
        if (!gv_k8s_pool_set(&r->out->pool, &texts[i], text)) {
            return gv_k8s_nomem(r->err);
        }
    }
    return GROVE_OK;
}

static gv_k8s_pair *more_pairs(const reader *r, gv_k8s_pair **pairs, uint32_t *n) {
    gv_k8s_pair *more = grove_memory_resize(r->env, *pairs, *n * sizeof *more,
                                            (*n + 1) * sizeof *more);
    if (more) {
        *pairs = more;
        more[*n] = (gv_k8s_pair){"", ""};
        return &more[(*n)++];
    }
    return NULL;
}

static grove_status add_pair(const reader *r, gv_k8s_pair **pairs, uint32_t *n, const char *name,
                             const char *value) {
    gv_k8s_pair *p = more_pairs(r, pairs, n);
    if (!p || !gv_k8s_pool_set(&r->out->pool, &p->name, name) ||
        !gv_k8s_pool_set(&r->out->pool, &p->value, value)) {
        return gv_k8s_nomem(r->err);
    }
    return GROVE_OK;
}

static grove_status take_extra(const reader *r, const grove_node *extra) {
    for (const grove_node *c = grove_node_first(extra); c; c = grove_node_next(extra, c)) {
        for (const grove_node *v = grove_node_first(c); v; v = grove_node_next(c, v)) {
            const char *value = grove_node_type(v) == GROVE_STRING ? grove_node_text(v) : "";
            grove_status st = add_pair(r, &r->out->as_extra, &r->out->n_as_extra,
                                       grove_node_key(c, NULL), value);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

/* A bare command is looked up in PATH; one with a slash starts at the file's folder. */
static grove_status take_command(const reader *r, const entry *e) {
    gv_k8s_exec *x = &r->out->exec;
    const char *command = NULL;
    grove_status st = take_text(r, e, "command", &command);
    if (st == GROVE_OK && !command) {
        return refuse(r, e, "exec has no command");
    }
    if (st == GROVE_OK && strchr(command, '/')) {
        return join(r, e->from->folder, command, &x->command);
    }
    x->command = command;
    return st;
}

static grove_status check_interactive(const reader *r, const entry *e, bool is_v1) {
    const char *mode = gv_k8s_member(e->body, "interactiveMode");
    if (!mode) {
        return is_v1 ? refuse(r, e, "exec needs interactiveMode (Never or IfAvailable)") : GROVE_OK;
    }
    if (strcmp(mode, "Always") == 0) {
        return refuse(r, e, "exec wants a terminal (interactiveMode Always), and there is none");
    }
    if (strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0) {
        return refuse(r, e, "exec has an unknown interactiveMode");
    }
    return GROVE_OK;
}

static grove_status take_exec(const reader *r, const entry *user) {
    gv_k8s_exec *x = &r->out->exec;
    entry e = {grove_node_get(user->body, "exec"), user->from, user->name};
    if (grove_node_type(e.body) != GROVE_OBJECT) {
        return GROVE_OK;
    }
    grove_status st = take_text(r, &e, "apiVersion", &x->api_version);
    if (st < 0) {
        return st;
    }
    bool is_v1 = x->api_version && strcmp(x->api_version, "client.authentication.k8s.io/v1") == 0;
    if (!is_v1 &&
        (!x->api_version || strcmp(x->api_version, "client.authentication.k8s.io/v1beta1") != 0)) {
        return refuse(r, &e, "exec needs apiVersion client.authentication.k8s.io/v1 or v1beta1");
    }
    st = check_interactive(r, &e, is_v1);
    st = st < 0 ? st : take_command(r, &e);
    st = st < 0 ? st : take_list(r, grove_node_get(e.body, "args"), &x->args, &x->n_args);
    const grove_node *vars = grove_node_get(e.body, "env");
    for (const grove_node *c = grove_node_first(vars); st == GROVE_OK && c;
         c = grove_node_next(vars, c)) {
        const char *name = gv_k8s_member(c, "name"), *value = gv_k8s_member(c, "value");
        st = name ? add_pair(r, &x->env_vars, &x->n_env, name, value ? value : "")
                  : refuse(r, &e, "exec has an environment variable without a name");
    }
    x->provide_cluster_info = grove_node_is_true(grove_node_get(e.body, "provideClusterInfo")) != 0;
    return st;
}

static grove_status check_user(const reader *r, const entry *e) {
    const gv_k8s_access *a = r->out;
    bool cert = a->cert_pem || a->cert_file, key = a->key_pem || a->key_file;
    if (cert != key) {
        return refuse(r, e, "client-certificate and client-key need each other");
    }
    bool token = a->token || a->token_file, basic = a->user_name || a->password;
    if (token && basic) {
        return refuse(r, e, "a token and a user name with password exclude each other");
    }
    if (!a->as_user && (a->as_uid || a->n_as_groups > 0 || a->n_as_extra > 0)) {
        return refuse(r, e, "as-uid, as-groups and as-user-extra need as");
    }
    return GROVE_OK;
}

static grove_status take_user(const reader *r, const entry *e) {
    gv_k8s_access *a = r->out;
    if (!e->body) {
        return refuse(r, e, "there is no user of this name");
    }
    if (grove_node_type(grove_node_get(e->body, "auth-provider")) == GROVE_OBJECT) {
        return gv_k8s_error(r->err, GROVE_E_UNSUPPORTED,
                            "%s: \"%s\": auth-provider was removed from Kubernetes; use exec",
                            e->from->name, e->name);
    }
    grove_status st = take_pem(r, e, "client-certificate", &a->cert_pem, &a->cert_file);
    st = st < 0 ? st : take_pem(r, e, "client-key", &a->key_pem, &a->key_file);
    st = st < 0 ? st : take_text(r, e, "token", &a->token);
    st = st < 0 ? st : take_path(r, e, "tokenFile", &a->token_file);
    st = st < 0 ? st : take_text(r, e, "username", &a->user_name);
    st = st < 0 ? st : take_text(r, e, "password", &a->password);
    st = st < 0 ? st : take_text(r, e, "as", &a->as_user);
    st = st < 0 ? st : take_text(r, e, "as-uid", &a->as_uid);
    st = st < 0
             ? st
             : take_list(r, grove_node_get(e->body, "as-groups"), &a->as_groups, &a->n_as_groups);
    st = st < 0 ? st : take_extra(r, grove_node_get(e->body, "as-user-extra"));
    st = st < 0 ? st : take_exec(r, e);
    return st < 0 ? st : check_user(r, e);
}

/* ---- the whole ---- */

static const char *current_context(const reader *r) {
    for (uint32_t i = 0; i < r->n; i++) {
        const char *name = gv_k8s_member(grove_doc_root(r->sources[i].doc), "current-context");
        if (!gv_k8s_empty(name)) {
            return name;
        }
    }
    return NULL;
}

static grove_status resolve(const reader *r, const char *context) {
    const char *name = context ? context : current_context(r);
    if (!name) {
        return gv_k8s_error(r->err, GROVE_E_INVALID, "%s: no current-context, and none was named",
                            r->sources[0].name);
    }
    entry c = find(r, "contexts", "context", name);
    if (!c.body) {
        return refuse(r, &c, "there is no context of this name");
    }
    entry cluster = find(r, "clusters", "cluster", gv_k8s_member(c.body, "cluster"));
    grove_status st = take_cluster(r, &cluster);
    const char *user_name = gv_k8s_member(c.body, "user");
    if (st == GROVE_OK && !gv_k8s_empty(user_name)) {
        entry user = find(r, "users", "user", user_name);
        st = take_user(r, &user);
    }
    r->out->ns = "default";
    return st < 0 ? st : take_text(r, &c, "namespace", &r->out->ns);
}

static grove_status parse(grove_env *env, const char *text, size_t len, const char *name,
                          grove_doc **out_doc, grove_error *err) {
    grove_stream *stream = NULL;
    grove_error why = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    grove_status st = grove_stream_new(env, text, len, 0, &stream, &why);
    st = st < 0 ? st : grove_stream_next(stream, &doc, &why);
    grove_stream_free(stream);
    if (st == GROVE_OK && (!doc || grove_node_type(grove_doc_root(doc)) != GROVE_OBJECT)) {
        grove_doc_unref(doc);
        return gv_k8s_error(err, GROVE_E_INVALID, "%s: not a kubeconfig", name);
    }
    if (st < 0) { /* the place only: the parser's words may quote what stands there */
        return st == GROVE_E_NOMEM
                   ? gv_k8s_nomem(err)
                   : gv_k8s_error(err, st, "%s: line %u, column %u: not well-formed", name,
                                  why.line, why.column);
    }
    *out_doc = doc;
    return GROVE_OK;
}

static void drop_sources(reader *r, uint32_t cap) {
    for (uint32_t i = 0; i < r->n; i++) {
        grove_doc_unref(r->sources[i].doc);
    }
    grove_memory_free(r->env, r->sources, cap * sizeof *r->sources);
}

static grove_status finish(reader *r, grove_status st, const char *context, uint32_t cap) {
    st = st < 0 ? st : resolve(r, context);
    drop_sources(r, cap);
    if (st < 0) {
        gv_k8s_access_fini(r->out);
    }
    return st;
}

static grove_status begin(reader *r, grove_env *env, uint32_t cap, gv_k8s_access *out,
                          grove_error *err) {
    *out = (gv_k8s_access){.pool = {.env = env}, .ns = "default"};
    *r = (reader){env, out, grove_memory_alloc(env, cap * sizeof(source)), 0, err};
    return r->sources ? GROVE_OK : gv_k8s_nomem(err);
}

/* The folder of a path: "." for a bare name. */
static const char *folder_of(reader *r, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        return gv_k8s_pool_text(&r->out->pool, ".", 1);
    }
    return gv_k8s_pool_text(&r->out->pool, path, slash == path ? 1 : (size_t)(slash - path));
}

static grove_status add_file(reader *r, const char *path, bool must_exist) {
    grove_buf text;
    grove_buf_init(&text, r->env);
    grove_status st = gv_k8s_read_file(path, &text, r->err);
    source s = {NULL, NULL, path};
    if (st == GROVE_OK) {
        st = parse(r->env, text.data, (size_t)text.len, path, &s.doc, r->err);
    } else if (st == GROVE_E_NOT_FOUND && !must_exist) {
        grove_buf_fini(&text);
        return GROVE_OK;
    }
    gv_k8s_wipe(&text);
    if (st < 0) {
        return st;
    }
    s.folder = folder_of(r, path);
    r->sources[r->n++] = s; /* the document is dropped with the others */
    return s.folder ? GROVE_OK : gv_k8s_nomem(r->err);
}

grove_status gv_k8s_kubeconfig_files(grove_env *env, const char *const *paths, uint32_t n,
                                     bool must_exist, const char *context, gv_k8s_access *out,
                                     grove_error *err) {
    reader r;
    grove_status st = begin(&r, env, n, out, err);
    for (uint32_t i = 0; i < n && st == GROVE_OK; i++) {
        bool seen = false;
        for (uint32_t k = 0; k < i; k++) {
            seen = seen || strcmp(paths[k], paths[i]) == 0;
        }
        st = seen ? GROVE_OK : add_file(&r, paths[i], must_exist);
    }
    if (st == GROVE_OK && r.n == 0) {
        st = gv_k8s_error(err, GROVE_E_NOT_FOUND, "no kubeconfig: none of the files exists");
    }
    return finish(&r, st, context, n);
}

grove_status gv_k8s_kubeconfig_text(grove_env *env, const char *text, size_t len,
                                    const char *folder, const char *context, gv_k8s_access *out,
                                    grove_error *err) {
    reader r;
    grove_status st = begin(&r, env, 1, out, err);
    if (st == GROVE_OK) {
        source s = {NULL, folder ? folder : ".", "kubeconfig"};
        st = parse(env, text, len, s.name, &s.doc, err);
        if (st == GROVE_OK) {
            r.sources[r.n++] = s;
        }
    }
    return finish(&r, st, context, 1);
}

void gv_k8s_access_fini(gv_k8s_access *a) {
    grove_env *env = a->pool.env;
    if (!env) {
        return;
    }
    grove_memory_free(env, a->as_groups, a->n_as_groups * sizeof *a->as_groups);
    grove_memory_free(env, a->as_extra, a->n_as_extra * sizeof *a->as_extra);
    grove_memory_free(env, a->exec.args, a->exec.n_args * sizeof *a->exec.args);
    grove_memory_free(env, a->exec.env_vars, a->exec.n_env * sizeof *a->exec.env_vars);
    gv_k8s_pool_fini(&a->pool);
    *a = (gv_k8s_access){0};
}
