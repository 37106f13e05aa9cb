/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's side of the control socket. */
#include "control.h"
#include "certs.h"
#include "text.h"

#include <grove/kinds.h>

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096
#define WORDS_MAX 4

static const char help[] =
    "stats                    counters of engine and backend, as JSON\n"
    "dump                     why each PodCliqueSet waits, as JSON lines\n"
    "explain KIND NS/NAME     why an object waits\n"
    "recompute                plan every set again, from nothing remembered\n"
    "log-level [LEVEL]        tell or set it: error, warn, info, debug\n"
    "record on|off            go on with, or hold, the recording of --record\n"
    "rotate-certificates      a new authority and certificate for the webhooks\n"
    "phase                    syncing, waiting, leading, shadow or stopping\n";

struct control {
    live *d;
    struct evconnlistener *listener;
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* ---- commands ---- */

static void tell_stats(live *d, grove_buf *out) {
    grove_engine_stats s = {.size = (uint32_t)sizeof s};
    (void)grove_engine_stats_get(d->engine, &s);
    text_put(out,
             "{\"engine\":{\"sets\":%u,\"inFlight\":%u,\"gangsWaiting\":%u,\"events\":%llu,"
             "\"plans\":%llu,\"emptyPlans\":%llu,\"operations\":%llu,\"creates\":%llu,"
             "\"patches\":%llu,\"deletes\":%llu,\"binds\":%llu,\"failures\":%llu,"
             "\"decisions\":%llu,\"placed\":%llu},\"backend\":",
             s.sets, s.in_flight, s.gangs_waiting, (unsigned long long)s.events,
             (unsigned long long)s.plans, (unsigned long long)s.empty_plans,
             (unsigned long long)s.operations, (unsigned long long)s.creates,
             (unsigned long long)s.patches, (unsigned long long)s.deletes,
             (unsigned long long)s.binds, (unsigned long long)s.failures,
             (unsigned long long)s.decisions, (unsigned long long)s.placed);
    if (d->backend.ops->control(d->backend.impl, GROVE_CONTROL_STATS, out, NULL) < 0) {
        text_put(out, "null");
    }
    text_put(out, "}\n");
}

static void explain(live *d, grove_kind kind, const char *ns, const char *name, grove_buf *out) {
    grove_error err = GROVE_ERROR_INIT;
    if (grove_engine_explain(d->engine, kind, ns, name, live_now(d), 0, out, &err) < 0) {
        text_put(out, "error: %s\n", err.message);
    } else if (out->len && out->data[out->len - 1] != '\n') {
        text_put(out, "\n");
    }
}

typedef struct dumping {
    live *d;
    grove_buf *out;
} dumping;

/* One line each: {"set":"NS/NAME","explanation":{...}} */
static void dump_one(void *ctx, const char *ns, const char *name) {
    dumping *at = ctx;
    live *d = at->d;
    grove_buf text;
    grove_doc *doc = NULL;
    grove_buf_init(&text, d->env);
    text_put(at->out, "{\"set\":\"%s/%s\",\"explanation\":", ns, name);
    if (grove_engine_explain(d->engine, GROVE_KIND_PODCLIQUESET, ns, name, live_now(d), 1, &text,
                             NULL) < 0 ||
        grove_doc_parse_json(d->env, text.data, (size_t)text.len, 0, &doc, NULL) < 0 ||
        grove_node_write_json(grove_doc_root(doc), 0, at->out, NULL) < 0) {
        text_put(at->out, "null");
    }
    text_put(at->out, "}\n");
    grove_doc_unref(doc);
    grove_buf_fini(&text);
}

static void tell_explanation(live *d, const char *kind_word, char *object, grove_buf *out) {
    grove_kind kind = grove_kind_find(kind_word, strlen(kind_word));
    char *slash = strchr(object, '/');
    if (kind == GROVE_KIND_NONE || !slash) {
        text_put(out, "error: usage: explain KIND NAMESPACE/NAME\n");
        return;
    }
    *slash = '\0';
    explain(d, kind, object, slash + 1, out);
}

static void change_level(live *d, const char *word, grove_buf *out) {
    grove_log_level level = word ? log_level_of(word) : d->log.level;
    if (!level) {
        text_put(out, "error: no such level\n");
        return;
    }
    d->log.level = level;
    text_put(out, "%s\n", log_level_name(level));
}

static void change_recording(live *d, const char *word, grove_buf *out) {
    if (!d->recording) {
        text_put(out, "error: the daemon was started without --record\n");
    } else if (word && (strcmp(word, "on") == 0 || strcmp(word, "off") == 0)) {
        d->record_held = word[1] == 'f';
        (void)fflush(d->recording);
        text_put(out, "recording %s\n", word);
    } else {
        text_put(out, "error: usage: record on|off\n");
    }
}

static void recompute(live *d, grove_buf *out) {
    grove_status st = grove_engine_recompute(d->engine);
    text_put(out, st < 0 ? "error: %s\n" : "ok\n", grove_status_name(st));
    live_wake(d);
}

static void answer(live *d, char *line, grove_buf *out) {
    static const char *const phases[] = {"syncing", "waiting", "leading", "shadow", "stopping"};
    char *words[WORDS_MAX + 1] = {NULL}, *rest = NULL;
    int n = 0;
    for (char *w = strtok_r(line, " \t\r\n", &rest); w && n < WORDS_MAX;
         w = strtok_r(NULL, " \t\r\n", &rest)) {
        words[n++] = w;
    }
    const char *verb = n ? words[0] : "help";
    if (strcmp(verb, "stats") == 0) {
        tell_stats(d, out);
    } else if (strcmp(verb, "dump") == 0) {
        dumping at = {d, out};
        sets_each(d->sets, dump_one, &at);
    } else if (strcmp(verb, "explain") == 0 && n == 3) {
        tell_explanation(d, words[1], words[2], out);
    } else if (strcmp(verb, "recompute") == 0) {
        recompute(d, out);
    } else if (strcmp(verb, "log-level") == 0) {
        change_level(d, words[1], out);
    } else if (strcmp(verb, "record") == 0) {
        change_recording(d, words[1], out);
    } else if (strcmp(verb, "rotate-certificates") == 0) {
        text_put(out, certs_rotate(d) == 0 ? "ok\n" : "error: no certificate of our own\n");
    } else if (strcmp(verb, "phase") == 0) {
        text_put(out, "%s\n", phases[d->phase]);
    } else {
        text_put(out, "%s%s", strcmp(verb, "help") == 0 ? "" : "error: usage:\n", help);
    }
}

/* ---- sockets ---- */

static void on_written(struct bufferevent *bev, void *ctx) {
    (void)ctx;
    bufferevent_free(bev);
}

static void on_line(struct bufferevent *bev, void *ctx) {
    struct control *c = ctx;
    struct evbuffer *in = bufferevent_get_input(bev);
    char *line = evbuffer_readln(in, NULL, EVBUFFER_EOL_LF);
    if (!line) {
        if (evbuffer_get_length(in) > LINE_MAX_BYTES) {
            bufferevent_free(bev);
        }
        return;
    }
    grove_buf out;
    grove_buf_init(&out, c->d->env);
    answer(c->d, line, &out);
    free(line);
    bufferevent_setcb(bev, NULL, on_written, NULL, NULL);
    if (out.len == 0 || bufferevent_write(bev, out.data, (size_t)out.len) < 0) {
        bufferevent_free(bev);
    }
    grove_buf_fini(&out);
}

static void on_gone(struct bufferevent *bev, short what, void *ctx) {
    (void)what;
    (void)ctx;
    bufferevent_free(bev);
}

static void on_caller(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int len, void *ctx) {
    struct control *c = ctx;
    struct bufferevent *bev = bufferevent_socket_new(evconnlistener_get_base(listener), fd,
                                                     BEV_OPT_CLOSE_ON_FREE);
    (void)address;
    (void)len;
    if (!bev) {
        evutil_closesocket(fd);
        return;
    }
    bufferevent_setcb(bev, on_line, NULL, on_gone, c);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
}

struct control *control_listen(live *d, const char *path) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct control *c = calloc(1, sizeof *c);
    if (!c || strlen(path) >= sizeof at.sun_path) {
        log_write(&d->log, GROVE_LOG_ERROR, "the control socket's path is too long", LOG_END);
        free(c);
        return NULL;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    memcpy(c->path, path, strlen(path) + 1);
    c->d = d;
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode)) { /* of a daemon that ended badly */
        (void)unlink(path);
    }
    mode_t before = umask(077); /* whoever may write to it commands the daemon */
    c->listener = evconnlistener_new_bind(d->base, on_caller, c,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 8,
                                          (const struct sockaddr *)&at, (int)sizeof at);
    (void)umask(before);
    if (!c->listener) {
        log_write(&d->log, GROVE_LOG_ERROR, "cannot listen on the control socket", "path", path,
                  "error", strerror(errno), LOG_END);
        free(c);
        return NULL;
    }
    return c;
}

void control_free(struct control *c) {
    if (c) {
        evconnlistener_free(c->listener);
        (void)unlink(c->path);
        free(c);
    }
}

grove_status control_record(void *ctx, const char *bytes, size_t len) {
    live *d = ctx;
    if (d->record_held) {
        return GROVE_OK;
    }
    return fwrite(bytes, 1, len, d->recording) == len ? GROVE_OK : GROVE_E_IO;
}
