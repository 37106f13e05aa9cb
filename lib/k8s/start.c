/* SPDX-License-Identifier: Apache-2.0 */
/* What all requests share: the headers that go and those that come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <grove/sys/util.h>

#include "backend.h"

uint64_t gv_k8s_hash(uint64_t start, const char *text) {
    uint64_t h = start ^ UINT64_C(14695981039346656037);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        h = (h ^ *p) * UINT64_C(1099511628211);
    }
    h = (h ^ 255) * UINT64_C(1099511628211); /* so that "ab","c" is not "a","bc" */
    return h ^ h >> 29;
}

int64_t gv_k8s_random_between(gv_k8s *k, int64_t low, int64_t high) {
    return low + (int64_t)(grove_random_next(&k->random) % (uint64_t)(high - low));
}

void gv_k8s_log(const gv_k8s *k, grove_log_level level, const char *message, const char *key,
                const char *value) {
    const grove_log_field field = {key ? key : "", value ? value : ""};
    grove_log_write(k->env, level, "k8s", message, &field, key ? 1 : 0);
}

/* Header lines, one after the other, each with its NUL. */
typedef struct lines {
    grove_buf text;
    uint32_t n;
    grove_status st;
} lines;

static void line_end(lines *l) {
    l->st = l->st < 0 ? l->st : grove_buf_append(&l->text, "", 1);
    l->n++;
}

static void line(lines *l, const char *name, const char *value) {
    if (strpbrk(value, "\r\n")) {
        return; /* would be another header */
    }
    l->st = l->st < 0 ? l->st : gv_k8s_putf(&l->text, "%s: ", name);
    l->st = l->st < 0 ? l->st : gv_k8s_put(&l->text, value);
    line_end(l);
}

static void impersonation(const gv_k8s *k, lines *l) {
    const gv_k8s_access *a = &k->access;
    if (!a->as_user) {
        return;
    }
    line(l, "Impersonate-User", a->as_user);
    if (a->as_uid) {
        line(l, "Impersonate-Uid", a->as_uid);
    }
    for (uint32_t i = 0; i < a->n_as_groups; i++) {
        line(l, "Impersonate-Group", a->as_groups[i] ? a->as_groups[i] : "");
    }
    for (uint32_t i = 0; i < a->n_as_extra; i++) {
        l->st = l->st < 0 ? l->st : gv_k8s_put(&l->text, "Impersonate-Extra-");
        for (const char *p = a->as_extra[i].name; *p; p++) {
            const char lower[2] = {(char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p), '\0'};
            l->st = l->st < 0 ? l->st : gv_k8s_put_escaped(&l->text, lower);
        }
        l->st = l->st < 0 ? l->st : gv_k8s_put(&l->text, ": ");
        const char *value = a->as_extra[i].value;
        l->st = l->st < 0 || strpbrk(value, "\r\n") ? l->st : gv_k8s_put(&l->text, value);
        line_end(l);
    }
}

static void all_lines(const gv_k8s *k, lines *l, const char *content_type) {
    line(l, "Accept", "application/json");
    line(l, "User-Agent", k->user_agent);
    if (content_type) {
        line(l, "Content-Type", content_type);
    }
    /* credentials go over TLS only */
    if (k->identity.authorization.len > 0 && strncmp(k->access.server, "https://", 8) == 0) {
        line(l, "Authorization", k->identity.authorization.data);
    }
    impersonation(k, l);
}

/* The server's address with the name that its certificate must have in place of its own. */
static grove_status put_server(const gv_k8s *k, grove_buf *url) {
    const char *server = k->access.server, *name = k->access.tls_server_name;
    if (!name) {
        return gv_k8s_put(url, server);
    }
    const char *host = strstr(server, "://") + 3;
    size_t n = strcspn(host, "/");
    const char *port = host + n;
    for (const char *p = host; p < host + n; p++) {
        port = *p == ':' ? p : *p == ']' ? host + n : port;
    }
    return gv_k8s_putf(url, "%.*s%s%s", (int)(host - server), server, name, port);
}

grove_status gv_k8s_start(gv_k8s *k, gv_k8s_request *r, const char *path, const char *content_type,
                          void **out_handle) {
    lines l = {.st = GROVE_OK};
    grove_buf url;
    grove_buf_init(&l.text, k->env);
    grove_buf_init(&url, k->env);
    all_lines(k, &l, content_type);
    grove_status st = l.st < 0 ? l.st : put_server(k, &url);
    st = st < 0 ? st : gv_k8s_put(&url, path);
    const char **headers = grove_memory_alloc(k->env, l.n * sizeof *headers);
    if (st == GROVE_OK && headers) {
        const char *at = l.text.data;
        for (uint32_t i = 0; i < l.n; i++) {
            headers[i] = at;
            at += strlen(at) + 1;
        }
        r->url = url.data;
        r->headers = headers;
        r->n_headers = l.n;
        st = k->transport.ops->start(k->transport.impl, r, out_handle);
        r->url = NULL;
        r->headers = NULL;
    } else {
        st = GROVE_E_NOMEM;
    }
    grove_memory_free(k->env, headers, l.n * sizeof *headers);
    gv_k8s_wipe(&l.text);
    grove_buf_fini(&url);
    k->stats.requests += st == GROVE_OK ? 1 : 0;
    k->activity++;
    return st;
}

/* Warning: 299 - "text": each text once. */
static void note_warning(gv_k8s *k, const char *value) {
    uint64_t hash = gv_k8s_hash(3, value);
    uint64_t *seen = &k->warnings[hash % 64];
    if (*seen != hash) {
        *seen = hash;
        gv_k8s_log(k, GROVE_LOG_WARN, "the server warns", "warning", value);
    }
}

uint32_t gv_k8s_note_header(gv_k8s *k, int32_t http, const char *name, const char *value) {
    if (strcmp(name, "warning") == 0) {
        note_warning(k, value);
    } else if (http == 429 && strcmp(name, "x-kubernetes-pf-flowschema-uid") == 0) {
        gv_k8s_log(k, GROVE_LOG_INFO, "the server limits our requests", "flowSchema", value);
    } else if (strcmp(name, "retry-after") == 0) {
        char *end = NULL;
        unsigned long seconds = strtoul(value, &end, 10);
        return end != value && *end == '\0' && seconds <= 3600 ? (uint32_t)seconds * 1000 : 0;
    }
    return 0;
}

grove_status gv_k8s_keep(grove_buf *body, int32_t http, const char *bytes, size_t n) {
    bool good = http >= 200 && http < 300;
    uint64_t room = (good ? GV_K8S_REPLY_LIMIT : GV_K8S_FAILURE_LIMIT) - body->len;
    if (good && n > room) {
        return GROVE_E_LIMIT;
    }
    return grove_buf_append(body, bytes, n < room ? n : (size_t)room);
}
