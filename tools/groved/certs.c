/* SPDX-License-Identifier: Apache-2.0 */
/* The life of the webhooks' certificate: see certs.h. */
#include "certs.h"

#include "../grovectl/io.h"
#include "x509.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define AUTHORITY_DAYS 3650
#define SERVER_DAYS 365
#define RENEW_SECONDS (90 * INT64_C(86400)) /* this long before the end */
#define RETRY_NS (2 * LIVE_SECOND)
#define LOOK_NS (10 * LIVE_SECOND) /* at the files, and at the calendar */
#define STANDBY_SWAP_NS (10 * LIVE_SECOND)

typedef struct material {
    char *ca_crt; /* all authorities to trust, the signing one first */
    char *ca_key;
    char *crt, *key;
} material;

struct certs {
    material now;  /* served */
    material next; /* trusted soon, served then; crt NULL: none */
    SSL_CTX *ctx;
    int64_t expires_s;
    char *version; /* resourceVersion of the Secret; NULL: there is none */
    char host[300];
    char names[900];
    int asked;    /* a request about the Secret is on its way */
    int watching; /* the Secret is watched */
    int checked;  /* the Secret was read */
    int force;    /* make a new authority in any case */
    int registering, registered;
    int64_t retry_at, look_at, swap_at;
    struct timespec file_time;
};

static void material_free(material *m) {
    free(m->ca_crt);
    free(m->ca_key);
    free(m->crt);
    free(m->key);
    *m = (material){0};
}

certs *certs_new(live *d) {
    certs *c = calloc(1, sizeof *c);
    const char *url = d->options->webhook_url;
    if (!c) {
        return NULL;
    }
    c->swap_at = INT64_MAX;
    if (url) { /* https://HOST[:PORT][/...] */
        const char *host = strstr(url, "://");
        host = host ? host + 3 : url;
        (void)snprintf(c->host, sizeof c->host, "%.*s", (int)strcspn(host, ":/"), host);
        int is_address = c->host[strspn(c->host, "0123456789.")] == '\0';
        (void)snprintf(c->names, sizeof c->names, "%s:%s", is_address ? "IP" : "DNS", c->host);
    } else {
        const char *service = d->options->service;
        (void)snprintf(c->host, sizeof c->host, "%s.%s.svc", service, d->ns);
        (void)snprintf(c->names, sizeof c->names, "DNS:%s,DNS:%s.%s,DNS:%s.cluster.local", c->host,
                       service, d->ns, c->host);
    }
    return c;
}

void certs_free(certs *c) {
    if (c) {
        material_free(&c->now);
        material_free(&c->next);
        SSL_CTX_free(c->ctx);
        free(c->version);
        free(c);
    }
}

int certs_are_ready(const certs *c) {
    return c && c->registered && c->ctx;
}

int64_t certs_expire_s(const certs *c) {
    return c ? c->expires_s : 0;
}

SSL_CTX *certs_context(void *ctx) {
    live *d = ctx;
    return d->certs->ctx;
}

int certs_rotate(live *d) {
    if (!d->certs || d->set.manual_certs) {
        return -1;
    }
    d->certs->force = 1;
    d->certs->checked = 0;
    live_wake(d);
    return 0;
}

static void trouble(live *d, const char *what, const char *why) {
    d->metrics.cert_errors++;
    log_write(&d->log, GROVE_LOG_ERROR, what, "error", why, LOG_END);
    d->certs->retry_at = live_now(d) + RETRY_NS;
}

/* ---- taking into use ---- */

static void swap(live *d) {
    certs *c = d->certs;
    SSL_CTX *fresh = x509_context(c->next.crt, c->next.key);
    if (!fresh) {
        trouble(d, "the certificate cannot be used", x509_error());
        return;
    }
    SSL_CTX_free(c->ctx); /* connections hold a reference of their own */
    c->ctx = fresh;
    material_free(&c->now);
    c->now = c->next;
    c->next = (material){0};
    c->swap_at = INT64_MAX;
    c->expires_s = x509_expires(c->now.crt);
    d->metrics.cert_reads++;
    log_write(&d->log, GROVE_LOG_INFO, "certificate in use", "host", c->host, LOG_END);
}

/* What was read or made; owns m's texts. The first is used at once, later ones when they are trusted. */
static void adopt(live *d, material *m) {
    certs *c = d->certs;
    material_free(&c->next);
    c->next = *m;
    *m = (material){0};
    c->checked = 1;
    c->registered = c->registered && c->now.ca_crt && strcmp(c->now.ca_crt, c->next.ca_crt) == 0;
    if (!c->ctx || c->registered) {
        swap(d);
    }
}

static void on_registered(void *ctx, grove_status st) {
    live *d = ctx;
    certs *c = d->certs;
    c->registering = 0;
    if (st == GROVE_OK) {
        c->registered = 1;
        if (c->next.crt) {
            swap(d);
        }
    } else if (st == GROVE_E_CANCELLED) { /* the leader does it; give it the time to */
        c->registered = 1;
        c->swap_at = live_now(d) + STANDBY_SWAP_NS;
    } else {
        c->retry_at = live_now(d) + RETRY_NS;
    }
    live_wake(d);
}

/* ---- the Secret ---- */

static char *decode(const grove_node *data, const char *key) {
    size_t n = 0;
    const char *text = grove_node_textn(grove_node_get(data, key), &n);
    unsigned char *out = text && n % 4 == 0 ? malloc(n / 4 * 3 + 1) : NULL;
    int got = out ? EVP_DecodeBlock(out, (const unsigned char *)text, (int)n) : -1;
    if (got < 0) {
        free(out);
        return NULL;
    }
    while (n > 0 && text[n - 1] == '=') {
        got--;
        n--;
    }
    out[got] = '\0';
    return (char *)out;
}

static void put_encoded(grove_builder *b, const char *key, const char *text) {
    size_t n = strlen(text);
    char *out = malloc((n + 2) / 3 * 4 + 1);
    if (out) {
        int got = EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
        grove_builder_stringn(b, key, out, (size_t)got);
    }
    free(out);
}

static int is_good(const certs *c, const material *m, int64_t now_s) {
    int64_t expires = 0;
    return m->ca_crt && m->ca_key && m->crt && m->key &&
           x509_check(m->ca_crt, m->crt, m->key, &expires) == 0 && x509_names(m->crt, c->host) &&
           expires > now_s + RENEW_SECONDS && x509_expires(m->ca_crt) > now_s + RENEW_SECONDS;
}

/* A fresh authority, followed by the newest of those trusted so far; freed by the caller. */
static char *trusted(const char *fresh, const char *before) {
    static const char last_line[] = "-----END CERTIFICATE-----\n";
    const char *end = before ? strstr(before, last_line) : NULL;
    size_t n = end ? (size_t)(end - before) + sizeof last_line - 1 : 0;
    size_t own = strlen(fresh);
    char *out = malloc(own + n + 1);
    if (out) {
        memcpy(out, fresh, own);
        if (n > 0) {
            memcpy(out + own, before, n);
        }
        out[own + n] = '\0';
    }
    return out;
}

/* The authority of `old` where that is good for some time yet, else a fresh one. */
static int make_authority(const certs *c, const material *old, int64_t now_s, material *out) {
    if (!c->force && old->ca_crt && old->ca_key &&
        x509_expires(old->ca_crt) > now_s + RENEW_SECONDS) {
        out->ca_crt = strdup(old->ca_crt);
        out->ca_key = strdup(old->ca_key);
    } else {
        char *fresh = NULL, *key = NULL;
        if (x509_make_authority("grove-webhooks-ca", AUTHORITY_DAYS, &fresh, &key) < 0) {
            return -1;
        }
        out->ca_crt = trusted(fresh, old->ca_crt);
        out->ca_key = key;
        free(fresh);
    }
    return out->ca_crt && out->ca_key ? 0 : -1;
}

/* A certificate under its authority; what was made before a failure is the caller's to free, too. */
static int make(const certs *c, const material *old, int64_t now_s, material *out) {
    char *crt = NULL, *key = NULL;
    if (make_authority(c, old, now_s, out) < 0) {
        return -1;
    }
    int status = x509_make_server(out->ca_crt, out->ca_key, c->names, SERVER_DAYS, &crt, &key);
    out->crt = crt;
    out->key = key;
    return status;
}

static grove_doc *secret_of(live *d, const material *m) {
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    certs *c = d->certs;
    if (grove_builder_new(d->env, &b) < 0) {
        return NULL;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", "v1");
    grove_builder_string(b, "kind", "Secret");
    grove_builder_open_object(b, "metadata");
    grove_builder_string(b, "name", d->set.cert_secret);
    grove_builder_string(b, "namespace", d->ns);
    if (c->version) {
        grove_builder_string(b, "resourceVersion", c->version);
    }
    grove_builder_close(b);
    grove_builder_open_object(b, "data");
    put_encoded(b, "ca.crt", m->ca_crt);
    put_encoded(b, "ca.key", m->ca_key);
    put_encoded(b, "tls.crt", m->crt);
    put_encoded(b, "tls.key", m->key);
    grove_builder_close(b);
    grove_builder_close(b);
    (void)grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    return doc;
}

static void ask_secret(live *d);
static void on_secret_read(void *ctx, const grove_completion *completion);

static void on_secret_written(void *ctx, const grove_completion *completion) {
    live *d = ctx;
    certs *c = d->certs;
    c->asked = 0;
    if (completion->status == GROVE_OK) {
        c->force = 0;
        on_secret_read(ctx, completion);
    } else if (completion->status == GROVE_E_EXISTS || completion->status == GROVE_E_CONFLICT) {
        c->force = 0; /* another replica was quicker */
        ask_secret(d);
    } else if (completion->status == GROVE_E_CANCELLED && c->ctx) {
        c->checked = 1; /* the leader renews */
    } else {
        trouble(d, "the certificate's Secret cannot be written", completion->message);
    }
    live_wake(d);
}

static void write_secret(live *d, const material *old) {
    certs *c = d->certs;
    material fresh = {0};
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *doc = NULL;
    if (make(c, old, (int64_t)time(NULL), &fresh) < 0 || !(doc = secret_of(d, &fresh))) {
        trouble(d, "a certificate cannot be made", x509_error());
    } else {
        grove_op op = {.verb = c->version ? GROVE_VERB_PATCH : GROVE_VERB_CREATE,
                       .kind = GROVE_KIND_SECRET,
                       .patch_type = c->version ? GROVE_PATCH_MERGE : GROVE_PATCH_NONE,
                       .ns = d->ns,
                       .name = c->version ? d->set.cert_secret : NULL,
                       .resource_version = c->version,
                       .body_doc = doc};
        c->asked = tap_ask(d->tap, &op, on_secret_written, d, &err) == GROVE_OK;
        if (!c->asked) {
            trouble(d, "the certificate's Secret cannot be written", err.message);
        }
    }
    grove_doc_unref(doc);
    material_free(&fresh);
}

static void take_secret(live *d, const grove_node *secret) {
    certs *c = d->certs;
    const grove_node *data = grove_node_get(secret, "data");
    const char *version = grove_node_text(grove_node_at_path(secret, "/metadata/resourceVersion"));
    material m = {decode(data, "ca.crt"), decode(data, "ca.key"), decode(data, "tls.crt"),
                  decode(data, "tls.key")};
    free(c->version);
    c->version = version ? strdup(version) : NULL;
    if (c->force || !is_good(c, &m, (int64_t)time(NULL))) {
        write_secret(d, &m);
    } else if (!c->now.crt || strcmp(m.crt, c->now.crt) != 0) {
        if (!c->next.crt || strcmp(m.crt, c->next.crt) != 0) {
            adopt(d, &m);
        }
    } else {
        c->checked = 1;
    }
    material_free(&m);
}

static void on_secret_read(void *ctx, const grove_completion *completion) {
    live *d = ctx;
    certs *c = d->certs;
    static const material none = {0};
    c->asked = 0;
    if (completion->status == GROVE_OK) {
        take_secret(d, completion->object ? completion->object
                                          : grove_doc_root(completion->object_doc));
    } else if (completion->status == GROVE_E_NOT_FOUND) {
        free(c->version);
        c->version = NULL;
        write_secret(d, &none);
    } else {
        trouble(d, "the certificate's Secret cannot be read", completion->message);
    }
    live_wake(d);
}

static void ask_secret(live *d) {
    certs *c = d->certs;
    grove_error err = GROVE_ERROR_INIT;
    grove_op op = {
        .verb = GROVE_VERB_GET, .kind = GROVE_KIND_SECRET, .ns = d->ns, .name = d->set.cert_secret};
    c->asked = tap_ask(d->tap, &op, on_secret_read, d, &err) == GROVE_OK;
    if (!c->asked) {
        trouble(d, "the certificate's Secret cannot be read", err.message);
    }
}

/* Another replica made a new one, or somebody deleted it. */
static void on_secret_event(void *ctx, const grove_event *event) {
    live *d = ctx;
    if (event->type <= GROVE_EVENT_DELETED && !d->certs->asked) {
        if (event->type != GROVE_EVENT_DELETED) {
            take_secret(d, event->object ? event->object : grove_doc_root(event->object_doc));
        } else {
            d->certs->checked = 0;
        }
        live_wake(d);
    }
}

static void watch_secret(live *d) {
    char field[300];
    grove_error err = GROVE_ERROR_INIT;
    (void)snprintf(field, sizeof field, "metadata.name=%s", d->set.cert_secret);
    grove_watch w = {.kind = GROVE_KIND_SECRET, .ns = d->ns, .field_selector = field};
    d->certs->watching = 1;
    if (tap_watch(d->tap, &w, on_secret_event, d, &err) < 0) {
        log_write(&d->log, GROVE_LOG_WARN, "the certificate's Secret is not watched", "error",
                  err.message, LOG_END);
    }
}

/* ---- files ---- */

static int read_file(live *d, const char *name, char **out, struct timespec *newest) {
    char path[4096];
    size_t n = 0;
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/%s", d->set.cert_dir, name);
    if (stat(path, &st) != 0 || io_read(path, out, &n) != EXIT_DONE) {
        trouble(d, "a certificate file cannot be read", path);
        return -1;
    }
    if (st.st_mtim.tv_sec > newest->tv_sec ||
        (st.st_mtim.tv_sec == newest->tv_sec && st.st_mtim.tv_nsec > newest->tv_nsec)) {
        *newest = st.st_mtim;
    }
    return 0;
}

static void read_files(live *d) {
    certs *c = d->certs;
    material m = {0};
    int64_t expires = 0;
    struct timespec newest = {0, 0};
    if (read_file(d, "tls.crt", &m.crt, &newest) == 0 &&
        read_file(d, "tls.key", &m.key, &newest) == 0 &&
        read_file(d, "ca.crt", &m.ca_crt, &newest) == 0) {
        int same = c->now.crt && strcmp(c->now.crt, m.crt) == 0 &&
                   strcmp(c->now.ca_crt, m.ca_crt) == 0;
        if (same) {
            c->checked = 1;
        } else if (x509_check(NULL, m.crt, m.key, &expires) < 0) {
            trouble(d, "the certificate in the files is not usable", x509_error());
        } else {
            adopt(d, &m);
        }
    }
    material_free(&m);
}

/* ---- one step after the other ---- */

static void open_hooks(live *d) {
    int code = EXIT_DONE;
    http_options o = {.handler = hooks_handle, .ctx = d, .tls = certs_context};
    d->hooks = probes_open(d, "webhooks", d->options->webhooks, &d->set.webhooks, &o, &code);
    if (!d->hooks) {
        live_end(d, code == EXIT_DONE ? EXIT_WRONG_USAGE : code);
    }
}

static void look_again(live *d, int64_t now) {
    certs *c = d->certs;
    c->look_at = now + LOOK_NS;
    if (d->set.manual_certs) {
        c->checked = 0;
    } else if (c->expires_s && c->expires_s < (int64_t)time(NULL) + RENEW_SECONDS) {
        c->checked = 0;
    }
}

void certs_step(live *d) {
    certs *c = d->certs;
    int64_t now = live_now(d);
    if (!c || now < c->retry_at) {
        live_alarm(d, c ? c->retry_at : INT64_MAX);
        return;
    }
    if (c->checked && now >= c->look_at) {
        look_again(d, now);
    }
    if (!c->checked && !c->asked) {
        if (d->set.manual_certs) {
            read_files(d);
        } else {
            ask_secret(d);
        }
    }
    if (c->ctx && !d->hooks) {
        open_hooks(d);
    }
    if (c->ctx && !c->watching && !d->set.manual_certs) {
        watch_secret(d);
    }
    if (d->hooks && !c->registered && !c->registering) {
        c->registering = 1;
        registration_apply(d, c->next.ca_crt ? c->next.ca_crt : c->now.ca_crt, on_registered, d);
    }
    if (c->next.crt && now >= c->swap_at) {
        swap(d);
    }
    live_alarm(d, c->swap_at);
    live_alarm(d, c->look_at);
}
