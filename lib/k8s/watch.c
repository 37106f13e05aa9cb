/* SPDX-License-Identifier: Apache-2.0 */
/* Watches: opening their streams again and again, telling what they bring. */
#include "watch.h"

#include <stdio.h>
#include <string.h>

#include <grove/kinds.h>
#include <grove/sys/util.h>

#define FIRST_PAUSE (800 * GV_K8S_MS)
#define LONGEST_PAUSE (30 * GV_K8S_SECOND)
#define LOST_PERIOD (10 * GV_K8S_SECOND) /* a kind that is lost again so soon waits */
#define SILENCE (90 * GV_K8S_SECOND)     /* a bookmark comes each minute */
#define SILENCES 3
#define ANSWER (30 * GV_K8S_SECOND)   /* an answer begins at once, whatever there is to watch */
#define OVERTIME (30 * GV_K8S_SECOND) /* beyond the time that the server was asked for */
#define HELD_LIMIT (4 * GV_K8S_DOCUMENT_LIMIT) /* bytes of one watch that wait to be told */

void gv_k8s_watch_pend(gv_k8s_watch *w, grove_event_type type, grove_doc *doc,
                       const grove_node *object, const char *version) {
    w->has_pending = true;
    w->pending_type = type;
    w->pending_doc = doc;
    w->pending = object;
    (void)snprintf(w->pending_version, sizeof w->pending_version, "%s", version);
}

void gv_k8s_watch_pause(gv_k8s_watch *w) {
    int64_t d = FIRST_PAUSE << (w->failures < 6 ? w->failures : 6);
    d = d < LONGEST_PAUSE / 2 ? d : LONGEST_PAUSE / 2;
    w->failures++;
    w->not_before = w->k->now + gv_k8s_random_between(w->k, d, 2 * d);
}

void gv_k8s_watch_stop(gv_k8s_watch *w) {
    if (w->handle) {
        w->k->transport.ops->stop(w->k->transport.impl, w->handle);
        w->handle = NULL;
    }
    w->ended = false;
    gv_k8s_framer_reset(&w->framer, false);
    grove_buf_clear(&w->page);
}

static gv_k8s_mode first_mode(const gv_k8s_watch *w) {
    bool pages = (w->k->flags & GROVE_K8S_NO_WATCHLIST) != 0 || w->k->no_watchlist[w->kind];
    return pages ? GV_K8S_LIST : GV_K8S_STREAM;
}

/* Before anything was told the beginning can begin again unseen. */
void gv_k8s_watch_lost(gv_k8s_watch *w, const char *why, bool pause) {
    bool ends = w->synced || w->told_any;
    int64_t *last = &w->k->lost_at[w->kind];
    if (pause || (ends && *last != 0 && w->k->now - *last < LOST_PERIOD)) {
        gv_k8s_watch_pause(w);
    }
    *last = ends ? w->k->now : *last;
    gv_k8s_log(w->k, GROVE_LOG_INFO, why ? why : "the position of a watch is lost", "kind",
               grove_kind_name(w->kind));
    grove_buf_clear(&w->position);
    w->page_told = w->skip = 0;
    gv_k8s_framer_reset(&w->framer, false);
    w->k->stats.relists++;
    w->k->activity++;
    w->mode = ends ? GV_K8S_GONE : first_mode(w);
}

/* ---- life ---- */

static void watch_free(gv_k8s_watch *w) {
    gv_k8s *k = w->k;
    gv_k8s_watch_stop(w);
    gv_k8s_framer_fini(&w->framer);
    grove_buf_fini(&w->page);
    grove_buf_fini(&w->position);
    grove_buf_fini(&w->list_position);
    grove_extract_free(w->extract);
    grove_doc_unref(w->pending_doc);
    gv_k8s_pool_fini(&w->texts);
    grove_memory_free(k->env, w, sizeof *w);
}

grove_status gv_k8s_watch_begin(gv_k8s *k, const grove_watch *in, grove_error *err) {
    grove_watch g = {0};
    grove_status st = grove_struct_read(&g, sizeof g, in, in->size, offsetof(grove_watch, ns));
    if (st < 0 || g.token == 0 || g.kind <= GROVE_KIND_NONE || g.kind >= GROVE_KIND_COUNT ||
        gv_k8s_watch_open(k, g.token)) {
        return grove_error_set(err, st < 0 ? st : GROVE_E_INVALID, "not a watch that can begin");
    }
    const char *from = g.resource_version ? g.resource_version : "";
    gv_k8s_watch *w = grove_memory_alloc(k->env, sizeof *w);
    if (!w) {
        return gv_k8s_nomem(err);
    }
    *w = (gv_k8s_watch){.k = k, .token = g.token, .kind = g.kind, .texts = {.env = k->env}};
    gv_k8s_framer_init(&w->framer, k->env);
    grove_buf_init(&w->page, k->env);
    grove_buf_init(&w->position, k->env);
    grove_buf_init(&w->list_position, k->env);
    bool records = (g.flags & GROVE_WATCH_RECORDS) != 0 && grove_extract_takes(g.kind);
    bool ok = (!records || grove_extract_new(k->env, &w->extract) == GROVE_OK) &&
              gv_k8s_pool_set(&w->texts, &w->ns, g.ns) &&
              gv_k8s_pool_set(&w->texts, &w->label_selector, g.label_selector) &&
              gv_k8s_pool_set(&w->texts, &w->field_selector, g.field_selector);
    if (!ok || strlen(from) >= sizeof w->version) {
        watch_free(w);
        return ok ? grove_error_set(err, GROVE_E_INVALID, "resource_version is too long")
                  : gv_k8s_nomem(err);
    }
    memcpy(w->version, from, strlen(from) + 1);
    w->synced = from[0] != '\0';
    w->mode = w->synced ? GV_K8S_WATCH : first_mode(w);
    gv_k8s_watch **at = &k->watches; /* told in the order in which they began */
    while (*at) {
        at = &(*at)->next;
    }
    *at = w;
    k->activity++;
    return GROVE_OK;
}

static gv_k8s_watch *find(const gv_k8s *k, uint64_t token) {
    gv_k8s_watch *w = k->watches;
    while (w && (w->cancelled || w->token != token)) {
        w = w->next;
    }
    return w;
}

bool gv_k8s_watch_open(const gv_k8s *k, uint64_t token) {
    return find(k, token) != NULL;
}

grove_status gv_k8s_watch_cancel(gv_k8s *k, uint64_t token) {
    gv_k8s_watch *w = find(k, token);
    if (!w) {
        return GROVE_E_NOT_FOUND;
    }
    gv_k8s_watch_stop(w);
    w->cancelled = true; /* it may be the one that is told */
    return GROVE_OK;
}

static void sweep(gv_k8s *k) {
    for (gv_k8s_watch **at = &k->watches; *at;) {
        gv_k8s_watch *w = *at;
        if (w->cancelled) {
            *at = w->next;
            watch_free(w);
        } else {
            at = &w->next;
        }
    }
}

void gv_k8s_drop_watches(gv_k8s *k) {
    for (gv_k8s_watch *w = k->watches; w; w = w->next) {
        w->cancelled = true;
    }
    sweep(k);
}

void gv_k8s_watches_lose(gv_k8s *k) {
    for (gv_k8s_watch *w = k->watches; w; w = w->next) {
        gv_k8s_watch_stop(w);
        grove_doc_unref(w->pending_doc);
        w->pending_doc = NULL;
        w->has_pending = w->pending_is_record = false;
        w->mode = GV_K8S_GONE;
        w->not_before = 0;
        k->activity++;
    }
}

/* ---- streams ---- */

static void on_header(void *ctx, int32_t http, const char *name, const char *value) {
    gv_k8s_watch *w = ctx;
    uint32_t ms = gv_k8s_note_header(w->k, http, name, value);
    w->retry_after_ms = ms > 0 ? ms : w->retry_after_ms;
    w->http = http;
    w->heard_at = w->k->now;
}

/*
 * Few bytes on the wire can be many here (gzip), and all of them come before any is told: what grows beyond an
 * event or an item is cut off as soon as that is seen, and so is more than can be meant to be held at once. The
 * events that are whole are told, and the stream goes on behind them.
 */
static grove_status frame(gv_k8s_watch *w, const char *bytes, size_t n) {
    const char *text;
    size_t len;
    const gv_k8s_framer *f = &w->framer;
    grove_status st = gv_k8s_framer_add(&w->framer, bytes, n);
    if (st < 0 || f->bytes.len - f->start <= GV_K8S_DOCUMENT_LIMIT) {
        return st;
    }
    (void)gv_k8s_framer_peek(&w->framer, &text, &len);
    return f->broken || f->bytes.len - f->start > HELD_LIMIT ? GROVE_E_LIMIT : GROVE_OK;
}

static grove_status on_data(void *ctx, int32_t http, const char *bytes, size_t n) {
    gv_k8s_watch *w = ctx;
    w->k->stats.bytes += n;
    w->k->activity++;
    w->heard_at = w->k->now;
    w->http = http;
    bool good = http >= 200 && http < 300;
    return good ? frame(w, bytes, n) : gv_k8s_keep(&w->page, http, bytes, n);
}

static void on_end(void *ctx, gv_k8s_end how, int32_t http, const char *message) {
    gv_k8s_watch *w = ctx;
    w->handle = NULL;
    w->ended = true;
    w->how = how;
    w->http = http;
    (void)snprintf(w->message, sizeof w->message, "%s", message);
    w->k->activity++;
}

static grove_status put_query(gv_k8s_watch *w, grove_buf *path) {
    gv_k8s *k = w->k;
    char number[24];
    grove_status st = gv_k8s_put_query(path, "labelSelector", w->label_selector);
    st = st < 0 ? st : gv_k8s_put_query(path, "fieldSelector", w->field_selector);
    if (w->mode == GV_K8S_LIST) {
        (void)snprintf(number, sizeof number, "%u", k->page_size);
        st = st < 0 || k->no_pages[w->kind] ? st : gv_k8s_put_query(path, "limit", number);
        return st < 0 ? st : gv_k8s_put_query(path, "continue", w->position.data);
    }
    int64_t lasts = gv_k8s_random_between(k, 300, 600);
    w->lasts = lasts * GV_K8S_SECOND;
    (void)snprintf(number, sizeof number, "%d", (int)lasts);
    st = st < 0 ? st : gv_k8s_put_query(path, "watch", "1");
    st = st < 0 ? st : gv_k8s_put_query(path, "allowWatchBookmarks", "true");
    st = st < 0 ? st : gv_k8s_put_query(path, "timeoutSeconds", number);
    if (w->mode == GV_K8S_STREAM) {
        st = st < 0 ? st : gv_k8s_put_query(path, "sendInitialEvents", "true");
        return st < 0 ? st : gv_k8s_put_query(path, "resourceVersionMatch", "NotOlderThan");
    }
    return st < 0 ? st : gv_k8s_put_query(path, "resourceVersion", w->version);
}

static grove_status open_stream(gv_k8s_watch *w) {
    gv_k8s *k = w->k;
    grove_buf path;
    grove_buf_init(&path, k->env);
    grove_status st = gv_k8s_put_path(&path, w->kind, w->ns, NULL, NULL);
    st = st < 0 ? st : put_query(w, &path);
    if (st == GROVE_OK) {
        gv_k8s_request r = {.method = "GET",
                            .lane = w->mode == GV_K8S_LIST ? GV_K8S_LANE_REQUESTS
                                                           : GV_K8S_LANE_WATCHES,
                            .timeout_ms = k->request_timeout_ms,
                            .ctx = w,
                            .header = on_header,
                            .data = on_data,
                            .end = on_end};
        st = gv_k8s_start(k, &r, path.data, NULL, &w->handle);
    }
    grove_buf_fini(&path);
    if (st == GROVE_OK) {
        gv_k8s_framer_reset(&w->framer, w->mode == GV_K8S_LIST);
        w->skip = w->page_told;
        w->page_told = 0;
        w->list_version[0] = '\0';
        grove_buf_clear(&w->list_position);
        w->opened_at = w->heard_at = k->now;
        w->heard_event = false;
        w->http = 0;
        w->retry_after_ms = 0;
        w->generation = k->identity.generation;
        k->stats.watches_opened++;
    }
    return st;
}

/*
 * When the stream that runs is given up: after 30 s without an answer; 90 s after its last byte where bookmarks come (or may come: a server
 * that was silent for so long on three streams and never sent one sends none); at any rate when the server
 * should have ended it by itself. A list has a time-out of its own.
 */
static int64_t gives_up_at(const gv_k8s_watch *w) {
    const gv_k8s *k = w->k;
    if (!w->handle || w->mode == GV_K8S_LIST) {
        return INT64_MAX;
    }
    bool timed = w->http == 0 || w->mode == GV_K8S_STREAM || k->bookmarks_seen ||
                 k->silences < SILENCES;
    int64_t silent = timed ? w->heard_at + (w->http == 0 ? ANSWER : SILENCE) : INT64_MAX;
    int64_t over = w->opened_at + w->lasts + OVERTIME;
    return silent < over ? silent : over;
}

static bool may_open(const gv_k8s_watch *w) {
    return !w->handle && !w->ended && !w->has_pending && w->mode != GV_K8S_GONE &&
           w->not_before <= w->k->now;
}

void gv_k8s_watches_reopen(gv_k8s *k) {
    for (gv_k8s_watch *w = k->watches; w; w = w->next) {
        if (w->handle && w->mode == GV_K8S_WATCH && !w->has_pending) {
            gv_k8s_watch_stop(w);
            k->activity++;
        }
    }
}

/* Gives up the streams that have fallen silent; false: out of memory. */
static bool drop_silent(gv_k8s *k) {
    bool renew = false;
    for (gv_k8s_watch *w = k->watches; w; w = w->next) {
        if (k->now > gives_up_at(w) && !w->has_pending) {
            gv_k8s_log(k, GROVE_LOG_INFO, "a watch has fallen silent", "kind",
                       grove_kind_name(w->kind));
            gv_k8s_watch_stop(w);
            k->stats.watches_lost++;
            k->silences++;
            renew = true;
            if (w->mode == GV_K8S_STREAM) { /* what began it was not finished: from the start */
                gv_k8s_watch_lost(w, "the beginning of a watch has fallen silent", true);
            }
        }
    }
    return !renew || k->transport.ops->renew(k->transport.impl, GV_K8S_LANE_WATCHES) == GROVE_OK;
}

grove_status gv_k8s_watches_step(gv_k8s *k, gv_k8s_readiness ready) {
    sweep(k);
    if (!drop_silent(k)) {
        return GROVE_E_NOMEM;
    }
    for (gv_k8s_watch *w = k->watches; w; w = w->next) {
        if (may_open(w) && ready == GV_K8S_READY && !k->paused) {
            grove_status st = open_stream(w);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

/* ---- telling ---- */

static void told(gv_k8s_watch *w) {
    if (w->pending_is_record) {
        gv_k8s_framer_take(&w->framer);
    }
    grove_doc_unref(w->pending_doc);
    w->pending_doc = NULL;
    w->pending_is_record = false;
    w->pending = NULL;
    w->has_pending = false;
    w->synced = w->synced || w->pending_type == GROVE_EVENT_SYNCED;
    w->told_any = !w->synced;
    w->cancelled = w->cancelled || w->pending_type == GROVE_EVENT_GONE;
    w->k->stats.events++;
    w->k->activity++;
}

static grove_status tell(gv_k8s_watch *w, const grove_sink *sink, uint32_t *budget) {
    while (*budget > 0 && !w->cancelled) {
        grove_status st = gv_k8s_watch_prepare(w);
        if (st < 0 || !w->has_pending) {
            return st;
        }
        st = w->pending_is_record ? gv_k8s_watch_record(w) : GROVE_OK;
        if (st < 0) {
            return st;
        }
        grove_event e = {(uint32_t)sizeof e, w->pending_type, w->token,          w->kind, 0,
                         w->pending_doc,     w->pending,      w->pending_version};
        e.record = w->pending_is_record ? w->extract : NULL;
        st = sink->event(sink->ctx, &e);
        if (st < 0) {
            return st;
        }
        (*budget)--;
        told(w);
    }
    return GROVE_OK;
}

grove_status gv_k8s_tell_watches(gv_k8s *k, const grove_sink *sink, uint32_t *budget) {
    grove_status st = GROVE_OK;
    for (gv_k8s_watch *w = k->watches; w && st == GROVE_OK && *budget > 0; w = w->next) {
        st = k->paused ? GROVE_OK : tell(w, sink, budget);
    }
    return st;
}

int64_t gv_k8s_watches_deadline(const gv_k8s *k) {
    int64_t at = INT64_MAX;
    for (const gv_k8s_watch *w = k->watches; w; w = w->next) {
        int64_t own = INT64_MAX;
        if (w->cancelled || k->paused) {
            continue;
        }
        if (w->has_pending || w->ended) {
            own = k->now;
        } else if (!w->handle) {
            own = w->not_before;
        } else if (w->mode != GV_K8S_LIST) {
            own = gives_up_at(w) + 1;
        }
        at = own < at ? own : at;
    }
    return at;
}
