/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens, certificates and credential programs, renewed when they are due. */
#include "identity.h"

#include <stdio.h>
#include <string.h>

#include <grove/sys/util.h>

#define SECOND INT64_C(1000000000)
#define TOKEN_PERIOD (50 * SECOND)  /* a token file is believed for a minute, read 10 s early */
#define FILES_PERIOD (300 * SECOND) /* certificates */
#define MISTRUST_PERIOD (10 * SECOND)
#define PROGRAM_LIMIT (60 * SECOND)
#define FAILURE_PAUSE (5 * SECOND)

static grove_status replace(grove_buf *b, const char *prefix, const char *text, size_t n,
                            bool *changed) {
    size_t have = (size_t)b->len, p = strlen(prefix);
    if (have == p + n && (n == 0 || memcmp(b->data + p, text, n) == 0)) {
        return GROVE_OK;
    }
    grove_buf fresh;
    grove_buf_init(&fresh, b->env);
    grove_status st = gv_k8s_put(&fresh, prefix);
    st = st < 0 ? st : grove_buf_append(&fresh, text, n);
    if (st < 0) {
        gv_k8s_wipe(&fresh);
        return st;
    }
    gv_k8s_wipe(b);
    *b = fresh;
    *changed = true;
    return GROVE_OK;
}

static grove_status use_token(gv_k8s_identity *id, const char *token, size_t n) {
    bool changed = false;
    grove_status st = replace(&id->authorization, "Bearer ", token, n, &changed);
    id->generation += changed ? 1 : 0;
    return st;
}

static grove_status use_basic(gv_k8s_identity *id) {
    const gv_k8s_access *a = id->access;
    grove_buf pair;
    grove_buf_init(&pair, id->env);
    grove_status st = gv_k8s_putf(&pair, "%s:%s", a->user_name ? a->user_name : "",
                                  a->password ? a->password : "");
    st = st < 0 ? st : gv_k8s_put(&id->authorization, "Basic ");
    st = st < 0 ? st : gv_k8s_base64_encode(pair.data, (size_t)pair.len, &id->authorization);
    gv_k8s_wipe(&pair);
    return st;
}

/* ---- files ---- */

/* A file that cannot be read leaves what was there; the first time it is an error. */
static grove_status read_into(gv_k8s_identity *id, const char *path, grove_buf *out,
                              grove_error *err) {
    grove_buf b;
    grove_buf_init(&b, id->env);
    grove_status st = gv_k8s_read_file(path, &b, err);
    if (st == GROVE_OK) {
        st = replace(out, "", b.data, (size_t)b.len, &id->trust_changed);
    } else if (st != GROVE_E_NOMEM && out->len > 0) {
        st = GROVE_OK;
    }
    gv_k8s_wipe(&b);
    return st;
}

static grove_status read_files(gv_k8s_identity *id, grove_error *err) {
    const gv_k8s_access *a = id->access;
    grove_status st = GROVE_OK;
    if (a->ca_file && !a->ca_pem) {
        st = read_into(id, a->ca_file, &id->ca, err);
    }
    if (st == GROVE_OK && a->cert_file && !a->cert_pem) {
        st = read_into(id, a->cert_file, &id->cert, err);
    }
    if (st == GROVE_OK && a->key_file && !a->key_pem) {
        st = read_into(id, a->key_file, &id->key, err);
    }
    return st;
}

static grove_status read_token(gv_k8s_identity *id) {
    grove_buf b;
    grove_buf_init(&b, id->env);
    grove_status st = gv_k8s_read_file(id->access->token_file, &b, NULL);
    if (st == GROVE_OK) {
        size_t from = 0, to = (size_t)b.len;
        while (from < to && strchr(" \t\r\n", b.data[from])) {
            from++;
        }
        while (to > from && strchr(" \t\r\n", b.data[to - 1])) {
            to--;
        }
        st = to > from ? use_token(id, b.data + from, to - from) : GROVE_OK;
    }
    gv_k8s_wipe(&b);
    return st == GROVE_E_NOMEM ? st : GROVE_OK; /* else the last good one stays */
}

/* ---- programs ---- */

static bool uses_program(const gv_k8s_identity *id) {
    const gv_k8s_access *a = id->access;
    return a->exec.command && !a->token && !a->token_file && !a->user_name && !a->cert_pem &&
           !a->cert_file;
}

static void cluster_info(const gv_k8s_identity *id, grove_builder *b) {
    const gv_k8s_access *a = id->access;
    grove_builder_open_object(b, "cluster");
    grove_builder_string(b, "server", a->server);
    if (a->tls_server_name) {
        grove_builder_string(b, "tls-server-name", a->tls_server_name);
    }
    if (a->insecure) {
        grove_builder_bool(b, "insecure-skip-tls-verify", 1);
    }
    grove_buf ca;
    grove_buf_init(&ca, id->env);
    if (id->ca.len > 0 && gv_k8s_base64_encode(id->ca.data, (size_t)id->ca.len, &ca) == GROVE_OK) {
        grove_builder_string(b, "certificate-authority-data", ca.data);
    }
    grove_buf_fini(&ca);
    if (a->proxy_url) {
        grove_builder_string(b, "proxy-url", a->proxy_url);
    }
    grove_doc *config = NULL;
    if (a->exec.config_json &&
        grove_doc_parse_json(id->env, a->exec.config_json, strlen(a->exec.config_json), 0, &config,
                             NULL) == GROVE_OK) {
        grove_builder_copy(b, "config", grove_doc_root(config));
    }
    grove_doc_unref(config);
    grove_builder_close(b);
}

/* The value of KUBERNETES_EXEC_INFO. */
static grove_status exec_info(const gv_k8s_identity *id, grove_buf *out) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    grove_status st = grove_builder_new(id->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", id->access->exec.api_version);
    grove_builder_string(b, "kind", "ExecCredential");
    grove_builder_open_object(b, "spec");
    grove_builder_bool(b, "interactive", 0);
    if (id->access->exec.provide_cluster_info) {
        cluster_info(id, b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
    st = grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(doc), 0, out, NULL);
    grove_doc_unref(doc);
    return st;
}

static void program_failed(gv_k8s_identity *id, int64_t now, const char *why) {
    (void)snprintf(id->why, sizeof id->why, "credential program %s %s", id->access->exec.command,
                   why);
    id->failed_until = now + FAILURE_PAUSE;
    const grove_log_field field = {"program", id->access->exec.command};
    grove_log_write(id->env, GROVE_LOG_WARN, "k8s", id->why, &field, 1);
}

static grove_status start_program(gv_k8s_identity *id, int64_t now) {
    grove_buf info;
    grove_error err = GROVE_ERROR_INIT;
    grove_buf_init(&info, id->env);
    grove_status st = exec_info(id, &info);
    if (st == GROVE_OK) {
        st = gv_k8s_program_start(&id->program, id->env, &id->access->exec, info.data,
                                  now + PROGRAM_LIMIT, &err);
    }
    grove_buf_fini(&info);
    if (st < 0 && st != GROVE_E_NOMEM) {
        program_failed(id, now, "cannot be started");
        return GROVE_OK;
    }
    return st;
}

/* Takes what the program printed into use; *out_why is set when it is no credential. */
static grove_status take_credential(gv_k8s_identity *id, const grove_node *root, int64_t now,
                                    const char **out_why) {
    const char *version = gv_k8s_member(root, "apiVersion"), *kind = gv_k8s_member(root, "kind");
    const grove_node *s = grove_node_get(root, "status");
    const char *token = gv_k8s_member(s, "token");
    const char *cert = gv_k8s_member(s, "clientCertificateData");
    const char *key = gv_k8s_member(s, "clientKeyData");
    const char *expires = gv_k8s_member(s, "expirationTimestamp");
    int64_t end = INT64_MAX;
    if (!kind || strcmp(kind, "ExecCredential") != 0 || !version ||
        strcmp(version, id->access->exec.api_version) != 0) {
        *out_why = "printed no ExecCredential of the apiVersion asked for";
    } else if (gv_k8s_empty(token) && (gv_k8s_empty(cert) || gv_k8s_empty(key))) {
        *out_why = "printed neither a token nor a certificate with its key";
    } else if (gv_k8s_empty(cert) != gv_k8s_empty(key)) {
        *out_why = "printed a certificate or a key without the other";
    } else if (expires && !gv_k8s_time_read(expires, &end)) {
        *out_why = "printed an expirationTimestamp that is no time";
    }
    if (*out_why) {
        return GROVE_OK;
    }
    grove_status st = gv_k8s_empty(token) ? GROVE_OK : use_token(id, token, strlen(token));
    if (st == GROVE_OK && !gv_k8s_empty(cert)) {
        bool changed = false;
        st = replace(&id->cert, "", cert, strlen(cert), &changed);
        st = st < 0 ? st : replace(&id->key, "", key, strlen(key), &changed);
        id->trust_changed = id->trust_changed || changed;
        id->generation += changed ? 1 : 0;
    }
    id->have_exec = st == GROVE_OK;
    id->exec_expires = end;
    id->exec_due = end == INT64_MAX || end <= now ? end : now + (end - now) / 5 * 4;
    return st;
}

static grove_status program_ended(gv_k8s_identity *id, int64_t now) {
    grove_doc *doc = NULL;
    const char *why = NULL;
    grove_buf *out = &id->program.output;
    grove_status st = grove_doc_parse_json(id->env, out->data ? out->data : "", (size_t)out->len, 0,
                                           &doc, NULL);
    if (st == GROVE_OK) {
        st = take_credential(id, grove_doc_root(doc), now, &why);
    } else if (st != GROVE_E_NOMEM) {
        why = "printed no JSON";
        st = GROVE_OK;
    }
    grove_doc_unref(doc);
    gv_k8s_wipe(out);
    grove_buf_init(out, id->env);
    if (why) {
        program_failed(id, now, why);
    }
    return st;
}

static grove_status poll_program(gv_k8s_identity *id, int64_t now, int64_t *deadline) {
    char why[120];
    grove_status st = GROVE_OK;
    if (id->program.pid == 0 && (!id->have_exec || now >= id->exec_due) &&
        now >= id->failed_until) {
        st = start_program(id, now);
    }
    if (st == GROVE_OK && id->program.pid != 0) {
        gv_k8s_progress p = gv_k8s_program_poll(&id->program, now, why, sizeof why);
        if (p == GV_K8S_ENDED) {
            st = program_ended(id, now);
        } else if (p == GV_K8S_FAILED) {
            program_failed(id, now, why);
        }
    }
    if (id->have_exec && now >= id->exec_expires) {
        id->have_exec = false;
    }
    int64_t due = id->have_exec ? id->exec_due : id->failed_until;
    if (id->program.pid != 0) { /* its end shows at the descriptor, its exit a little later */
        due = id->program.fd >= 0 ? id->program.deadline : now + SECOND / 100;
    } else if (due < id->failed_until) {
        due = id->failed_until;
    }
    *deadline = due < *deadline ? due : *deadline;
    return st;
}

/* ---- the whole ---- */

grove_status gv_k8s_identity_poll(gv_k8s_identity *id, int64_t now, int64_t *deadline,
                                  gv_k8s_readiness *out) {
    const gv_k8s_access *a = id->access;
    grove_status st = GROVE_OK;
    *out = GV_K8S_READY;
    if (now >= id->files_due && (a->ca_file || a->cert_file || a->key_file)) {
        st = read_files(id, NULL);
        id->files_read = now;
        id->files_due = now + FILES_PERIOD;
        st = st == GROVE_E_NOMEM ? st : GROVE_OK;
    }
    if (st == GROVE_OK && a->token_file && now >= id->token_due) {
        st = read_token(id);
        id->token_due = now + TOKEN_PERIOD;
    }
    if (st == GROVE_OK && uses_program(id)) {
        st = poll_program(id, now, deadline);
        if (!id->have_exec) {
            *out = id->program.pid != 0 ? GV_K8S_WAITING : GV_K8S_REFUSED;
        }
    }
    return st;
}

bool gv_k8s_identity_rejected(gv_k8s_identity *id, uint32_t generation) {
    if (generation != id->generation) {
        return true; /* renewed since */
    }
    if (uses_program(id)) {
        id->have_exec = false;
        return true;
    }
    id->token_due = 0;
    id->files_due = 0;
    return id->access->token_file != NULL || id->access->cert_file != NULL;
}

void gv_k8s_identity_mistrusted(gv_k8s_identity *id, int64_t now) {
    int64_t at = id->files_read + MISTRUST_PERIOD > now ? id->files_read + MISTRUST_PERIOD : now;
    id->files_due = at < id->files_due ? at : id->files_due;
}

static grove_status make_connect_to(gv_k8s_identity *id) {
    const char *name = id->access->tls_server_name;
    if (!name) {
        return GROVE_OK;
    }
    const char *host = strstr(id->access->server, "://") + 3;
    size_t n = strcspn(host, "/");
    const char *colon = NULL;
    for (size_t i = 0; i < n; i++) { /* the last one outside of brackets */
        colon = host[i] == ':' ? host + i : host[i] == ']' ? NULL : colon;
    }
    bool plain = strncmp(id->access->server, "http://", 7) == 0;
    const char *port = colon ? colon + 1 : plain ? "80" : "443";
    int port_len = colon ? (int)(host + n - port) : (int)strlen(port);
    int host_len = colon ? (int)(colon - host) : (int)n;
    return gv_k8s_putf(&id->connect_to, "%s:%.*s:%.*s:%.*s", name, port_len, port, host_len, host,
                       port_len, port);
}

grove_status gv_k8s_identity_init(gv_k8s_identity *id, grove_env *env, const gv_k8s_access *access,
                                  grove_error *err) {
    *id = (gv_k8s_identity){.env = env, .access = access, .generation = 1, .trust_changed = true};
    grove_buf *buffers[] = {&id->authorization, &id->ca, &id->cert, &id->key, &id->connect_to};
    const char *const pems[] = {NULL, access->ca_pem, access->cert_pem, access->key_pem, NULL};
    grove_status st = GROVE_OK;
    for (int i = 0; i < 5; i++) {
        grove_buf_init(buffers[i], env);
        if (pems[i] && st == GROVE_OK) {
            st = gv_k8s_put(buffers[i], pems[i]);
        }
    }
    gv_k8s_program_init(&id->program, env);
    st = st < 0 ? st : make_connect_to(id);
    if (st == GROVE_OK && access->token) {
        st = use_token(id, access->token, strlen(access->token));
    } else if (st == GROVE_OK && access->user_name) {
        st = use_basic(id);
    }
    if (st < 0) {
        (void)gv_k8s_nomem(err);
    } else {
        st = read_files(id, err);
    }
    if (st < 0) {
        gv_k8s_identity_fini(id);
    }
    return st;
}

void gv_k8s_identity_fini(gv_k8s_identity *id) {
    gv_k8s_program_fini(&id->program);
    gv_k8s_wipe(&id->authorization);
    gv_k8s_wipe(&id->ca);
    gv_k8s_wipe(&id->cert);
    gv_k8s_wipe(&id->key);
    gv_k8s_wipe(&id->connect_to);
}

static bool is_loopback(const char *server) {
    const char *host = strstr(server, "://") + 3;
    size_t n = host[0] == '[' ? strcspn(host, "]/") + 1 : strcspn(host, ":/");
    return (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n) ||
           (n == 5 && strncmp(host, "[::1]", 5) == 0) ||
           (n == 9 && strncmp(host, "localhost", 9) == 0);
}

gv_k8s_trust gv_k8s_identity_trust(gv_k8s_identity *id) {
    const gv_k8s_access *a = id->access;
    gv_k8s_trust t = {0};
    t.ca_pem = id->ca.len > 0 ? id->ca.data : NULL;
    t.cert_pem = id->cert.len > 0 ? id->cert.data : NULL;
    t.key_pem = id->key.len > 0 ? id->key.data : NULL;
    t.insecure = a->insecure;
    t.proxy = a->proxy_url;
    t.connect_to = id->connect_to.len > 0 ? id->connect_to.data : NULL;
    t.loopback = is_loopback(a->server);
    t.plain = strncmp(a->server, "http://", 7) == 0;
    return t;
}
