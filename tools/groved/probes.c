/* SPDX-License-Identifier: Apache-2.0 */
/* /healthz, /readyz and /metrics. */
#include "certs.h"
#include "live.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "HOST:PORT" or ":PORT". */
static int split(const char *text, char *host, size_t cap, uint16_t *port) {
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (!colon || n >= cap) {
        return -1;
    }
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        text++;
        n -= 2;
    }
    char *end = NULL;
    unsigned long value = strtoul(colon + 1, &end, 10);
    if (!colon[1] || *end || value > 65535) {
        return -1;
    }
    memcpy(host, text, n);
    host[n] = '\0';
    *port = (uint16_t)value;
    return 0;
}

http_server *probes_open(live *d, const char *what, const char *given,
                         const settings_address *address, http_options *options, int *code) {
    char host[80] = "";
    *code = EXIT_DONE;
    options->host = address->host;
    options->port = (uint16_t)address->port;
    if (given && strcmp(given, "off") == 0) {
        return NULL;
    }
    if (given) {
        if (split(given, host, sizeof host, &options->port) < 0) {
            log_write(&d->log, GROVE_LOG_ERROR, "not HOST:PORT", "address", given, LOG_END);
            *code = EXIT_WRONG_USAGE;
            return NULL;
        }
        options->host = host;
    }
    http_server *server = http_listen(d->base, d->env, options);
    if (!server) {
        log_write(&d->log, GROVE_LOG_ERROR, "cannot listen", "for", what, "error", strerror(errno),
                  LOG_END);
        *code = EXIT_FAILED;
        return NULL;
    }
    log_write(&d->log, GROVE_LOG_INFO, "listening", "for", what, "address", http_address(server),
              LOG_END);
    return server;
}

/* ---- probes ---- */

static void put_check(grove_buf *out, const char *name, int good, int *all) {
    text_put(out, "[%s]%s %s\n", good ? "+" : "-", name, good ? "ok" : "failed");
    *all = *all && good;
}

static void answer_ready(live *d, int verbose, http_answer *a) {
    grove_buf lines;
    int all = 1;
    grove_buf_init(&lines, d->env);
    put_check(&lines, "caches", tap_is_synced(d->tap), &all);
    put_check(&lines, "webhooks", d->options->no_webhooks || certs_are_ready(d->certs), &all);
    put_check(&lines, "running", d->phase != LIVE_STOPPING, &all);
    all = all && d->ready;
    a->code = all ? 200 : 500;
    if (verbose || !all) {
        (void)grove_buf_append(&a->body, lines.data, (size_t)lines.len);
        text_put(&a->body, "readyz check %s\n", all ? "passed" : "failed");
    } else {
        text_put(&a->body, "ok");
    }
    grove_buf_fini(&lines);
}

/* Whoever is answered by this one loop knows that it turns. */
static void on_probe(void *ctx, const char *path, const char *body, size_t len, http_answer *a) {
    live *d = ctx;
    size_t n = strcspn(path, "?");
    (void)body;
    (void)len;
    if ((n == 8 && strncmp(path, "/healthz", n) == 0) ||
        (n == 6 && strncmp(path, "/livez", n) == 0)) {
        a->code = d->failed_turns > 3 ? 500 : 200;
        text_put(&a->body, a->code == 200 ? "ok" : "turns fail");
    } else if (n == 7 && strncmp(path, "/readyz", n) == 0) {
        answer_ready(d, strstr(path + n, "verbose") != NULL, a);
    } else {
        a->code = 404;
        text_put(&a->body, "404 page not found\n");
    }
}

static void on_metrics(void *ctx, const char *path, const char *body, size_t len, http_answer *a) {
    live *d = ctx;
    (void)body;
    (void)len;
    if (strncmp(path, "/metrics", 8) != 0) {
        a->code = 404;
        text_put(&a->body, "404 page not found\n");
        return;
    }
    metrics_sample(&d->metrics, d->engine, live_now(d), 1);
    metrics_now now = {.engine = d->engine,
                       .tap = d->tap,
                       .log = &d->log,
                       .lease = d->set.leader_election ? d->set.lease_name : NULL,
                       .leading = d->phase == LIVE_LEADING,
                       .ready = d->ready,
                       .certificate_expires_s = certs_expire_s(d->certs)};
    a->content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(&d->metrics, &now, &a->body);
}

int probes_listen(live *d) {
    http_options probes = {.handler = on_probe, .ctx = d},
                 numbers = {.handler = on_metrics, .ctx = d};
    int code = EXIT_DONE;
    d->probes = probes_open(d, "probes", d->options->probes, &d->set.probes, &probes, &code);
    if (code == EXIT_DONE) {
        d->metrics_server = probes_open(d, "metrics", d->options->metrics, &d->set.metrics,
                                        &numbers, &code);
    }
    return code;
}
