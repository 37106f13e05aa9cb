/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to events: pages of lists, lines of watches, and the ends of both. */
#include <string.h>

#include <grove/kinds.h>

#include "watch.h"

#define INITIAL_END "k8s.io/initial-events-end"
#define ABSENT_PERIOD (60 * GV_K8S_SECOND)
#define SHORT_WATCH GV_K8S_SECOND

static const char *version_of(const grove_node *object) {
    const char *v = gv_k8s_member(grove_node_get(object, "metadata"), "resourceVersion");
    return v ? v : "";
}

static void set_version(gv_k8s_watch *w, const char *version) {
    size_t n = strlen(version);
    if (n > 0 && n < sizeof w->version) {
        memcpy(w->version, version, n + 1);
    }
}

/* ---- lists ---- */

/* Items of built-in lists do not say what they are. */
static grove_status typed_item(gv_k8s_watch *w, const grove_node *item, grove_doc **out_doc) {
    char version[96];
    grove_builder *b = NULL;
    if (grove_node_get(item, "kind")) {
        *out_doc = NULL;
        return GROVE_OK;
    }
    grove_status st = grove_builder_new(w->k->env, &b);
    if (st < 0) {
        return st;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", gv_k8s_api_version(w->kind, version));
    grove_builder_string(b, "kind", grove_kind_name(w->kind));
    for (const grove_node *c = grove_node_first(item); c; c = grove_node_next(item, c)) {
        grove_builder_link(b, grove_node_key(c, NULL), w->list, c);
    }
    grove_builder_close(b);
    st = grove_builder_finish(b, out_doc, NULL);
    grove_builder_free(b);
    return st;
}

static grove_status next_item(gv_k8s_watch *w) {
    grove_doc *doc = NULL;
    grove_status st = typed_item(w, w->item, &doc);
    if (st < 0) {
        return st;
    }
    const grove_node *object = doc ? grove_doc_root(doc) : w->item;
    doc = doc ? doc : grove_doc_ref(w->list);
    gv_k8s_watch_pend(w, GROVE_EVENT_ADDED, doc, object, version_of(w->item));
    w->item = grove_node_next(w->items, w->item);
    return GROVE_OK;
}

static void list_done(gv_k8s_watch *w) {
    grove_doc_unref(w->list);
    w->list = NULL;
    w->items = w->item = NULL;
    w->failures = 0;
    if (!w->list_ends) {
        return; /* the next page is asked for */
    }
    w->list_ends = false;
    w->mode = GV_K8S_WATCH;
    if (w->absent) {
        w->absent = false;
        gv_k8s_log(w->k, GROVE_LOG_INFO, "the server knows a kind now", "kind",
                   grove_kind_name(w->kind));
    }
    if (!w->synced) {
        gv_k8s_watch_pend(w, GROVE_EVENT_SYNCED, NULL, NULL, w->version);
    }
}

static grove_status take_page(gv_k8s_watch *w) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(w->k->env, w->page.data ? w->page.data : "",
                                           (size_t)w->page.len, 0, &doc, NULL);
    if (st == GROVE_E_NOMEM) {
        return st;
    }
    const grove_node *root = doc ? grove_doc_root(doc) : NULL;
    const grove_node *items = grove_node_get(root, "items");
    const char *version = version_of(root);
    if (grove_node_type(items) != GROVE_ARRAY || !version[0]) {
        grove_doc_unref(doc);
        grove_buf_clear(&w->page);
        w->ended = false;
        gv_k8s_watch_lost(w, "the server answered with something that is no list", true);
        return GROVE_OK;
    }
    const char *more = gv_k8s_member(grove_node_get(root, "metadata"), "continue");
    grove_buf_clear(&w->position);
    st = gv_k8s_empty(more) ? GROVE_OK : gv_k8s_put(&w->position, more);
    if (st < 0) {
        grove_doc_unref(doc);
        return st;
    }
    set_version(w, version);
    w->ended = false;
    w->list = doc;
    w->items = items;
    w->item = grove_node_first(items);
    w->list_ends = w->position.len == 0;
    grove_buf_fini(&w->page); /* a page may be large */
    grove_buf_init(&w->page, w->k->env);
    w->k->activity++;
    return GROVE_OK;
}

/* ---- streams ---- */

/* An ERROR event, or the Status of a failed request. */
static void stream_error(gv_k8s_watch *w, const grove_node *status) {
    int64_t code = 0;
    const char *message = gv_k8s_member(status, "message");
    (void)grove_node_int64(grove_node_get(status, "code"), &code);
    gv_k8s_watch_stop(w);
    if (code == 410) {
        gv_k8s_watch_lost(w, message, false);
    } else if (w->mode == GV_K8S_STREAM) {
        w->k->flags |= GROVE_K8S_NO_WATCHLIST; /* an old etcd behind a new server: for all kinds */
        gv_k8s_watch_lost(w, message, w->told_any);
    } else if (w->failures >= 5) {
        gv_k8s_watch_lost(w, message, true);
    } else {
        gv_k8s_watch_pause(w);
    }
}

static void bookmark(gv_k8s_watch *w, const grove_node *object) {
    const char *end = gv_k8s_member(grove_node_at_path(object, "/metadata/annotations"),
                                    INITIAL_END);
    set_version(w, version_of(object));
    w->failures = 0;
    if (w->mode == GV_K8S_STREAM) {
        if (end && strcmp(end, "true") == 0) {
            w->mode = GV_K8S_WATCH;
            gv_k8s_watch_pend(w, GROVE_EVENT_SYNCED, NULL, NULL, w->version);
        }
        return;
    }
    w->k->bookmarks_seen = true;
    gv_k8s_watch_pend(w, GROVE_EVENT_BOOKMARK, NULL, NULL, w->version);
}

static grove_event_type type_of(const char *word) {
    static const char *const words[] = {"", "ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
    for (grove_event_type t = GROVE_EVENT_ADDED; word && t <= GROVE_EVENT_BOOKMARK; t++) {
        if (strcmp(words[t], word) == 0) {
            return t;
        }
    }
    return 0;
}

/* Takes doc over. */
static void stream_event(gv_k8s_watch *w, grove_doc *doc) {
    const grove_node *root = grove_doc_root(doc), *object = grove_node_get(root, "object");
    const char *word = gv_k8s_member(root, "type"), *version = version_of(object);
    grove_event_type type = type_of(word);
    if (word && strcmp(word, "ERROR") == 0) {
        stream_error(w, object);
    } else if (type == 0 || grove_node_type(object) != GROVE_OBJECT || !version[0]) {
        gv_k8s_watch_stop(w);
        gv_k8s_watch_lost(w, "the server sent an event that is none", true);
    } else if (type == GROVE_EVENT_BOOKMARK) {
        bookmark(w, object);
    } else {
        if (w->mode == GV_K8S_WATCH) { /* the events that begin a STREAM come in no order */
            set_version(w, version);
        }
        w->heard_event = true;
        w->failures = 0;
        gv_k8s_watch_pend(w, type, grove_doc_ref(doc), object, version);
    }
    grove_doc_unref(doc);
}

static grove_status next_event(gv_k8s_watch *w, bool *out_any) {
    const char *text = NULL;
    size_t len = 0;
    *out_any = gv_k8s_framer_next(&w->framer, &text, &len);
    if (!*out_any) {
        if (w->framer.broken) {
            gv_k8s_watch_stop(w);
            gv_k8s_watch_lost(w, "the server sent something that is no event", true);
        }
        return GROVE_OK;
    }
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(w->k->env, text, len, 0, &doc, NULL);
    if (st == GROVE_E_NOMEM) { /* scanned again next time */
        w->framer.at = w->framer.start;
        w->framer.depth = 0;
        return st;
    }
    if (st < 0) {
        gv_k8s_watch_stop(w);
        gv_k8s_watch_lost(w, "the server sent an event that is no JSON", true);
        return GROVE_OK;
    }
    stream_event(w, doc);
    return GROVE_OK;
}

/* ---- ends ---- */

static void begin_again(gv_k8s_watch *w, bool pause) {
    if (w->mode == GV_K8S_WATCH || (!w->told_any && !pause)) {
        if (pause) {
            gv_k8s_watch_pause(w);
        }
    } else {
        gv_k8s_watch_lost(w, "the list was cut off", pause);
    }
}

/* The server does not know the kind: there are none, until it does. */
static void kind_absent(gv_k8s_watch *w) {
    if (!w->absent) {
        gv_k8s_log(w->k, GROVE_LOG_WARN, "the server does not know a kind", "kind",
                   grove_kind_name(w->kind));
    }
    if (w->mode == GV_K8S_WATCH) { /* it is gone, with all of them */
        gv_k8s_watch_lost(w, "the server does not know the kind any more", true);
        return;
    }
    w->absent = true;
    w->mode = GV_K8S_LIST;
    w->not_before = w->k->now + ABSENT_PERIOD;
    if (!w->synced) {
        gv_k8s_watch_pend(w, GROVE_EVENT_SYNCED, NULL, NULL, "0");
    }
}

static grove_status failed(gv_k8s_watch *w) {
    grove_doc *doc = NULL;
    grove_status st = w->page.len == 0 ? GROVE_OK
                                       : grove_doc_parse_json(w->k->env, w->page.data,
                                                              (size_t)w->page.len, 0, &doc, NULL);
    if (st == GROVE_E_NOMEM) {
        return st;
    }
    gv_k8s_verdict v;
    gv_k8s_outcome o = {w->how,
                        w->http,
                        w->retry_after_ms,
                        false,
                        false,
                        w->message,
                        doc ? grove_doc_root(doc) : NULL,
                        w->page.len > 0 ? w->page.data : NULL};
    gv_k8s_judge(&o, &v);
    grove_doc_unref(doc);
    w->ended = false;
    grove_buf_clear(&w->page);
    switch (v.status) {
    case GROVE_E_GONE:
        w->whole = w->mode == GV_K8S_LIST && w->position.len > 0;
        gv_k8s_watch_lost(w, v.message, !w->synced && !w->told_any);
        break;
    case GROVE_E_REFUSED:
        if (w->mode ==
            GV_K8S_STREAM) { /* the server does not stream lists, or the selector is bad */
            w->k->no_watchlist[w->kind] = true;
            w->mode = GV_K8S_LIST;
        } else {
            w->told_any = true; /* trying again by ourselves is no use */
            gv_k8s_watch_lost(w, v.message, w->failures > 0);
        }
        break;
    case GROVE_E_NOT_FOUND:
        kind_absent(w);
        break;
    case GROVE_E_AUTH:
        (void)gv_k8s_identity_rejected(&w->k->identity, w->generation);
        gv_k8s_log(w->k, GROVE_LOG_WARN, v.message, "kind", grove_kind_name(w->kind));
        begin_again(w, true);
        break;
    default:
        gv_k8s_log(w->k, GROVE_LOG_WARN, v.message, "kind", grove_kind_name(w->kind));
        begin_again(w, true);
        if (v.retry_after_ms > 0) {
            w->not_before = w->k->now + (int64_t)v.retry_after_ms * GV_K8S_MS;
        }
        break;
    }
    return GROVE_OK;
}

static grove_status look_at_end(gv_k8s_watch *w) {
    bool answered = w->how == GV_K8S_END_ANSWERED && w->http >= 200 && w->http < 300;
    w->k->activity++;
    if (w->mode == GV_K8S_LIST) {
        return answered ? take_page(w) : failed(w);
    }
    bool opened = w->http >= 200 && w->http < 300;
    if (!opened) {
        return failed(w);
    }
    w->ended = false;
    gv_k8s_framer_reset(&w->framer); /* half an event, if anything */
    bool hasty = w->k->now - w->opened_at < SHORT_WATCH && !w->heard_event;
    begin_again(w, hasty || (!answered && w->failures > 0));
    return GROVE_OK;
}

grove_status gv_k8s_watch_prepare(gv_k8s_watch *w) {
    grove_status st = GROVE_OK;
    while (!w->has_pending && st == GROVE_OK && !w->cancelled) {
        bool any = true;
        if (w->mode == GV_K8S_GONE) {
            if (w->not_before > w->k->now) {
                return GROVE_OK;
            }
            gv_k8s_watch_pend(w, GROVE_EVENT_GONE, NULL, NULL, "");
        } else if (w->item) {
            st = next_item(w);
        } else if (w->list) {
            list_done(w);
        } else {
            st = next_event(w, &any);
            if (st == GROVE_OK && !any && w->mode != GV_K8S_GONE) {
                if (!w->ended) {
                    return GROVE_OK;
                }
                st = look_at_end(w);
            }
        }
    }
    return st;
}
