/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport over libcurl: one multi handle for watches and one for everything else, so that neither's
 * connections can hold up the other's. HTTP/2 where the server has it. Driven by poll: no loop, no thread.
 */
#define _GNU_SOURCE /* sigtimedwait */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <grove/sys/util.h>

#include "curl_pool.h"
#include "text.h"
#include "transport.h"

#define CONNECT_TIMEOUT_MS 10000L
#define MS INT64_C(1000000)
#define ROUNDS 16 /* of polling without waiting in one perform */

typedef struct gv_k8s_transfer {
    grove_env *env;
    CURL *easy;
    struct curl_slist *headers;
    gv_k8s_request request; /* callbacks only; the texts are gone */
    gv_k8s_curl_pool *pool;
    struct gv_k8s_transfer *next, *prev;
    int32_t http;
    bool stopped; /* by its own callback: freed when perform is done */
    bool failed;  /* a callback refused */
    char error[CURL_ERROR_SIZE];
} transfer;

typedef struct curl_pools {
    grove_env *env;
    gv_k8s_curl_pool *lanes[GV_K8S_LANES]; /* the first of each takes new requests */
    gv_k8s_pool texts;
    gv_k8s_trust trust;
    bool performing;
} curl_pools;

/* ---- no SIGPIPE for the host: blocked in this thread while curl works, and taken when it came ---- */

typedef struct pipe_guard {
    sigset_t before;
    bool was_pending;
} pipe_guard;

static void guard_begin(pipe_guard *g) {
    sigset_t pipe_only, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &g->before);
    g->was_pending = false;
    if (sigismember(&g->before, SIGPIPE) == 1) { /* only then can one have been waiting */
        sigemptyset(&pending);
        (void)sigpending(&pending);
        g->was_pending = sigismember(&pending, SIGPIPE) == 1;
    }
}

static void guard_end(const pipe_guard *g) {
    sigset_t pipe_only;
    if (!g->was_pending) {
        const struct timespec none = {0, 0};
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        while (sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

/* ---- answers ---- */

static size_t on_header(char *line, size_t size, size_t n, void *ctx) {
    transfer *t = ctx;
    size_t len = size * n;
    char name[64], value[512];
    long http = 0;
    (void)curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &http);
    t->http = (int32_t)http;
    const char *colon = memchr(line, ':', len);
    if (t->stopped || !colon || (size_t)(colon - line) >= sizeof name) {
        return len;
    }
    size_t name_len = (size_t)(colon - line);
    for (size_t i = 0; i < name_len; i++) {
        name[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] + 32 : line[i]);
    }
    name[name_len] = '\0';
    const char *from = colon + 1, *end = line + len;
    while (from < end && (*from == ' ' || *from == '\t')) {
        from++;
    }
    while (end > from && strchr(" \t\r\n", end[-1])) {
        end--;
    }
    (void)snprintf(value, sizeof value, "%.*s", (int)(end - from), from);
    if (t->request.header) {
        t->request.header(t->request.ctx, t->http, name, value);
    }
    return len;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx) {
    transfer *t = ctx;
    size_t len = size * n;
    if (t->stopped) {
        return len;
    }
    if (t->request.data && t->request.data(t->request.ctx, t->http, bytes, len) < 0) {
        t->failed = true;
        return CURL_WRITEFUNC_ERROR;
    }
    return len;
}

static gv_k8s_end end_of(const transfer *t, CURLcode code) {
    switch (code) {
    case CURLE_OK:
        return GV_K8S_END_ANSWERED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
    case CURLE_SSL_CONNECT_ERROR:
        return GV_K8S_END_UNSENT;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CIPHER:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
        return GV_K8S_END_UNUSABLE;
    case CURLE_OPERATION_TIMEDOUT: {
        curl_off_t connected = 0; /* the time-out of connecting has the same code */
        (void)curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
        return connected == 0 ? GV_K8S_END_UNSENT : GV_K8S_END_TIMEOUT;
    }
    case CURLE_HTTP2_STREAM: /* before 8.4 a stream that GOAWAY refused ends like this, too */
        return strstr(t->error, "REFUSED_STREAM") ? GV_K8S_END_UNSENT : GV_K8S_END_LOST;
    default:
        return GV_K8S_END_LOST;
    }
}

/* ---- starting and ending ---- */

static void transfer_free(transfer *t) {
    gv_k8s_curl_pool *p = t->pool;
    if (t->prev) {
        t->prev->next = t->next;
    } else if (p->transfers == t) {
        p->transfers = t->next;
    }
    if (t->next) {
        t->next->prev = t->prev;
    }
    if (t->easy) {
        (void)curl_multi_remove_handle(p->multi, t->easy);
        curl_easy_cleanup(t->easy);
    }
    curl_slist_free_all(t->headers);
    grove_memory_free(t->env, t, sizeof *t);
}

static bool add_header(transfer *t, const char *line) {
    struct curl_slist *more = curl_slist_append(t->headers, line);
    if (more) {
        t->headers = more;
    }
    return more != NULL;
}

static void set_blob(CURL *easy, CURLoption option, const char *text) {
    if (text) {
        struct curl_blob blob = {.len = strlen(text), .flags = CURL_BLOB_COPY};
        memcpy(&blob.data, &text, sizeof text); /* curl only reads it */
        (void)curl_easy_setopt(easy, option, &blob);
    }
}

static void set_trust(transfer *t, const gv_k8s_trust *trust) {
    CURL *e = t->easy;
    set_blob(e, CURLOPT_CAINFO_BLOB, trust->ca_pem);
    set_blob(e, CURLOPT_SSLCERT_BLOB, trust->cert_pem);
    set_blob(e, CURLOPT_SSLKEY_BLOB, trust->key_pem);
    (void)curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, trust->insecure ? 0L : 1L);
    (void)curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, trust->insecure ? 0L : 2L);
    if (trust->proxy) {
        (void)curl_easy_setopt(e, CURLOPT_PROXY, trust->proxy);
        (void)curl_easy_setopt(e, CURLOPT_NOPROXY, ""); /* $NO_PROXY is about $HTTPS_PROXY only */
    } else if (trust->loopback) {
        (void)curl_easy_setopt(e, CURLOPT_PROXY, "");
    }
    if (trust->connect_to) {
        struct curl_slist *to = curl_slist_append(NULL, trust->connect_to);
        (void)curl_easy_setopt(e, CURLOPT_CONNECT_TO, to);
        (void)curl_easy_setopt(e, CURLOPT_PRIVATE, to);
    }
}

static bool set_request(transfer *t, const gv_k8s_request *r, bool plain) {
    CURL *e = t->easy;
    bool ok = curl_easy_setopt(e, CURLOPT_URL, r->url) == CURLE_OK;
    ok = ok && curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method) == CURLE_OK;
    if (r->body) {
        (void)curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
        ok = ok && curl_easy_setopt(e, CURLOPT_COPYPOSTFIELDS, r->body) == CURLE_OK;
        ok = ok && add_header(t, "Expect:");
    }
    for (uint32_t i = 0; i < r->n_headers; i++) {
        ok = ok && add_header(t, r->headers[i]);
    }
    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, t->headers);
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(e, CURLOPT_ACCEPT_ENCODING, "gzip");
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
    (void)curl_easy_setopt(e, CURLOPT_TIMEOUT_MS,
                           r->lane == GV_K8S_LANE_WATCHES ? 0L : (long)r->timeout_ms);
    if (!plain) {
        (void)curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
        (void)curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L);
    }
    gv_k8s_curl_pool_adopt(t->pool, e);
    (void)curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    (void)curl_easy_setopt(e, CURLOPT_HEADERDATA, t);
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, t);
    (void)curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error);
    return ok;
}

static grove_status start(void *impl, const gv_k8s_request *r, void **out_handle) {
    curl_pools *c = impl;
    transfer *t = grove_memory_alloc(c->env, sizeof *t);
    if (!t) {
        return GROVE_E_NOMEM;
    }
    t->env = c->env;
    t->pool = c->lanes[r->lane];
    t->request = *r;
    t->easy = curl_easy_init();
    if (!t->easy || !set_request(t, r, c->trust.plain)) {
        transfer_free(t);
        return GROVE_E_NOMEM;
    }
    set_trust(t, &c->trust);
    t->next = t->pool->transfers;
    if (t->next) {
        t->next->prev = t;
    }
    t->pool->transfers = t;
    if (curl_multi_add_handle(t->pool->multi, t->easy) != CURLM_OK) {
        transfer_free(t);
        return GROVE_E_NOMEM;
    }
    t->pool->fresh = true;
    *out_handle = t;
    return GROVE_OK;
}

static void drop(transfer *t) {
    struct curl_slist *to = NULL;
    if (t->easy) {
        (void)curl_easy_getinfo(t->easy, CURLINFO_PRIVATE, &to);
    }
    transfer_free(t);
    curl_slist_free_all(to);
}

static void stop(void *impl, void *handle) {
    curl_pools *c = impl;
    transfer *t = handle;
    if (c->performing) {
        t->stopped = true; /* curl may be in the middle of it */
        return;
    }
    pipe_guard g;
    guard_begin(&g);
    drop(t);
    guard_end(&g);
}

/* New requests of the lane go over new connections; those that run may end on theirs. */
static grove_status renew(void *impl, gv_k8s_lane lane) {
    curl_pools *c = impl;
    gv_k8s_curl_pool *fresh = gv_k8s_curl_pool_new(c->env);
    if (!fresh) {
        return GROVE_E_NOMEM;
    }
    fresh->older = c->lanes[lane];
    c->lanes[lane] = fresh;
    return GROVE_OK;
}

static grove_status sever(void *impl, gv_k8s_lane lane) {
    curl_pools *c = impl;
    grove_status st = renew(c, lane);
    if (st < 0) {
        return st;
    }
    pipe_guard g;
    guard_begin(&g);
    for (gv_k8s_curl_pool *p = c->lanes[lane]->older, *next; p; p = next) {
        next = p->older;
        while (p->transfers) {
            drop(p->transfers);
        }
        gv_k8s_curl_pool_free(p, true);
    }
    guard_end(&g);
    c->lanes[lane]->older = NULL;
    return GROVE_OK;
}

/* ---- working ---- */

static void finish(curl_pools *c, transfer *t, CURLcode code) {
    char message[300];
    gv_k8s_request r = t->request;
    bool silent = t->stopped;
    int32_t http = t->http;
    gv_k8s_end how = end_of(t, code);
    if (how == GV_K8S_END_TIMEOUT) { /* the peer may be gone: HTTP/2 would use this connection on */
        (void)renew(c, r.lane);
    }
    const char *why = t->error[0] ? t->error : curl_easy_strerror(code);
    (void)snprintf(message, sizeof message, "%s", code == CURLE_OK ? "" : why);
    c->performing = false; /* the handle is out of curl's hands */
    drop(t);
    if (!silent) {
        r.end(r.ctx, how, http, message);
    }
    c->performing = true;
}

static void take_ended(curl_pools *c, gv_k8s_curl_pool *p) {
    int left = 0;
    const CURLMsg *m;
    while ((m = curl_multi_info_read(p->multi, &left)) != NULL) {
        if (m->msg != CURLMSG_DONE) {
            continue;
        }
        CURL *easy = m->easy_handle;
        CURLcode code = m->data.result;
        transfer *t = p->transfers;
        while (t && t->easy != easy) {
            t = t->next;
        }
        if (t) {
            finish(c, t, code);
        }
    }
    for (transfer *t = p->transfers, *next; t; t = next) {
        next = t->next;
        if (t->stopped) {
            drop(t);
        }
    }
}

/* Descriptors of all pools, so that one look tells which are ready. */
#define LOOK_MAX 256

typedef struct look {
    struct pollfd fds[LOOK_MAX];
    gv_k8s_curl_pool *pools[LOOK_MAX];
    uint32_t n;
} look;

/* True when curl has something to do: a descriptor is ready, or a pool's own time has come. */
static bool look_at_all(const curl_pools *c, int64_t now, look *l) {
    bool due = false;
    l->n = 0;
    for (int i = 0; i < GV_K8S_LANES; i++) {
        for (gv_k8s_curl_pool *p = c->lanes[i]; p; p = p->older) {
            due = due || p->fresh || now >= p->deadline;
            for (uint32_t k = 0; k < p->n_fds && l->n < LOOK_MAX; k++, l->n++) {
                l->fds[l->n] = p->fds[k];
                l->pools[l->n] = p;
            }
        }
    }
    if (l->n > 0 && poll(l->fds, l->n, 0) > 0) {
        return true;
    }
    l->n = 0;
    return due;
}

static void work(curl_pools *c, const look *l, int64_t now) {
    for (uint32_t k = 0; k < l->n; k++) {
        if (l->fds[k].revents != 0) {
            gv_k8s_curl_pool_pump(l->pools[k], &l->fds[k]);
            l->pools[k]->worked = true;
        }
    }
    for (int i = 0; i < GV_K8S_LANES; i++) {
        gv_k8s_curl_pool *first = c->lanes[i]; /* a callback may put a new one in front */
        for (gv_k8s_curl_pool *p = first; p; p = p->older) {
            long ms = -1;
            if (p->fresh || now >= p->deadline) {
                p->fresh = false;
                gv_k8s_curl_pool_pump(p, NULL);
            } else if (!p->worked) {
                continue;
            }
            p->worked = false;
            take_ended(c, p);
            (void)curl_multi_timeout(p->multi, &ms);
            p->deadline = ms < 0 ? INT64_MAX : now + (int64_t)ms * MS;
        }
    }
}

/* The first older pool of the lane whose requests have all ended: where it is linked. */
static gv_k8s_curl_pool **retiring(const curl_pools *c, int lane) {
    gv_k8s_curl_pool **at = c->lanes[lane] ? &c->lanes[lane]->older : NULL;
    while (at && *at && (*at)->transfers) {
        at = &(*at)->older;
    }
    return at && *at ? at : NULL;
}

/* They go, with their connections. */
static void retire(const curl_pools *c) {
    pipe_guard g;
    for (int i = 0; i < GV_K8S_LANES; i++) {
        for (gv_k8s_curl_pool **at; (at = retiring(c, i)) != NULL;) {
            gv_k8s_curl_pool *p = *at;
            *at = p->older;
            guard_begin(&g);
            gv_k8s_curl_pool_free(p, false);
            guard_end(&g);
        }
    }
}

static grove_status perform(void *impl, int64_t now, int64_t *out_deadline) {
    curl_pools *c = impl;
    grove_status st = GROVE_OK;
    pipe_guard g;
    look l;
    *out_deadline = INT64_MAX;
    for (int i = 0; i < ROUNDS && look_at_all(c, now, &l); i++) {
        if (!c->performing) {
            guard_begin(&g);
            c->performing = true;
        }
        work(c, &l, now);
    }
    if (c->performing) {
        c->performing = false;
        guard_end(&g);
    }
    retire(c);
    for (int i = 0; i < GV_K8S_LANES; i++) {
        for (gv_k8s_curl_pool *p = c->lanes[i]; p; p = p->older) {
            int64_t at = p->fresh ? now : p->deadline;
            *out_deadline = at < *out_deadline ? at : *out_deadline;
            st = p->no_memory ? GROVE_E_NOMEM : st;
            p->no_memory = false;
        }
    }
    return st;
}

static void pollfds(void *impl, grove_pollfd *fds, uint32_t cap, uint32_t *out_n) {
    curl_pools *c = impl;
    uint32_t n = 0;
    for (int i = 0; i < GV_K8S_LANES; i++) {
        for (const gv_k8s_curl_pool *p = c->lanes[i]; p; p = p->older) {
            for (uint32_t k = 0; k < p->n_fds; k++, n++) {
                if (n < cap) {
                    short events = p->fds[k].events;
                    fds[n].fd = p->fds[k].fd;
                    fds[n].events = (events & POLLIN) != 0 ? GROVE_POLL_IN : 0;
                    fds[n].events |= (events & POLLOUT) != 0 ? GROVE_POLL_OUT : 0;
                }
            }
        }
    }
    *out_n = n;
}

static grove_status set_pools_trust(void *impl, const gv_k8s_trust *trust) {
    curl_pools *c = impl;
    gv_k8s_pool texts = {.env = c->env};
    gv_k8s_trust copy = *trust;
    if (!gv_k8s_pool_set(&texts, &copy.ca_pem, trust->ca_pem) ||
        !gv_k8s_pool_set(&texts, &copy.cert_pem, trust->cert_pem) ||
        !gv_k8s_pool_set(&texts, &copy.key_pem, trust->key_pem) ||
        !gv_k8s_pool_set(&texts, &copy.proxy, trust->proxy) ||
        !gv_k8s_pool_set(&texts, &copy.connect_to, trust->connect_to)) {
        gv_k8s_pool_fini(&texts);
        return GROVE_E_NOMEM;
    }
    gv_k8s_pool_fini(&c->texts);
    c->texts = texts;
    c->trust = copy;
    grove_status st = GROVE_OK; /* no connection that was made with the old certificates is used */
    for (int i = 0; i < GV_K8S_LANES && st == GROVE_OK; i++) {
        st = c->lanes[i]->n_sockets > 0 ? renew(c, (gv_k8s_lane)i) : GROVE_OK;
    }
    return st;
}

static void destroy(void *impl) {
    curl_pools *c = impl;
    pipe_guard g;
    guard_begin(&g);
    for (int i = 0; i < GV_K8S_LANES; i++) {
        for (gv_k8s_curl_pool *p = c->lanes[i], *next; p; p = next) {
            next = p->older;
            while (p->transfers) {
                drop(p->transfers);
            }
            gv_k8s_curl_pool_free(p, false);
        }
    }
    guard_end(&g);
    curl_global_cleanup();
    gv_k8s_pool_fini(&c->texts);
    grove_env *env = c->env;
    grove_memory_free(env, c, sizeof *c);
    grove_env_unref(env);
}

static const gv_k8s_transport_ops ops = {.trust = set_pools_trust,
                                         .start = start,
                                         .stop = stop,
                                         .renew = renew,
                                         .sever = sever,
                                         .perform = perform,
                                         .pollfds = pollfds,
                                         .destroy = destroy};

grove_status gv_k8s_curl_new(grove_env *env, gv_k8s_transport *out_transport, grove_error *err) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return grove_error_set(err, GROVE_E_IO, "libcurl does not start");
    }
    curl_pools *c = grove_memory_alloc(env, sizeof *c);
    if (!c) {
        curl_global_cleanup();
        return gv_k8s_nomem(err);
    }
    c->env = grove_env_ref(env);
    c->texts.env = env;
    bool ok = true;
    for (int i = 0; i < GV_K8S_LANES; i++) {
        c->lanes[i] = gv_k8s_curl_pool_new(env);
        ok = ok && c->lanes[i];
    }
    if (!ok) {
        destroy(c);
        return gv_k8s_nomem(err);
    }
    *out_transport = (gv_k8s_transport){&ops, c};
    return GROVE_OK;
}
