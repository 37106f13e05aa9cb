/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to events: pages of lists, lines of watches, and the ends of both. */
#include <stdio.h>
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

static const char *kind_of(const grove_node *object) {
    const char *kind = gv_k8s_member(object, "kind");
    return kind ? kind : "";
}

static void set_version(gv_k8s_watch *w, const char *version) {
    size_t n = strlen(version);
    if (n > 0 && n < sizeof w->version) {
        memcpy(w->version, version, n + 1);
    }
}

/* ---- records ---- */

/* Reads the piece at hand, an event or an item; *out_text: its object. */
static grove_status read_record(gv_k8s_watch *w, gv_k8s_piece piece, const char *text, size_t len,
                                grove_event_type *out_type, const char **out_object,
                                size_t *out_len) {
    if (piece == GV_K8S_PIECE_ITEM) {
        *out_type = GROVE_EVENT_ADDED;
        return grove_extract_read(w->extract, w->kind, text, len, NULL);
    }
    return grove_extract_event(w->extract, w->kind, text, len, out_type, out_object, out_len, NULL);
}

grove_status gv_k8s_watch_record(gv_k8s_watch *w) {
    const char *text = NULL, *object = NULL;
    size_t len = 0, object_len = 0;
    grove_event_type type = 0;
    gv_k8s_piece piece = gv_k8s_framer_peek(&w->framer, &text, &len);
    if (text == w->record_text) {
        return GROVE_OK;
    }
    grove_status st = read_record(w, piece, text, len, &type, &object, &object_len);
    w->record_text = st == GROVE_OK ? text : NULL;
    return st;
}

static void pend_record(gv_k8s_watch *w, grove_event_type type, const char *text) {
    w->record_text = text;
    w->pending_is_record = true;
    gv_k8s_watch_pend(w, type, NULL, NULL, grove_extract_version(w->extract));
}

/* ---- lists ---- */

/* Items of built-in lists do not say what they are. Takes `doc` over. */
static grove_status typed_item(gv_k8s_watch *w, grove_doc *doc, grove_doc **out_doc) {
    char version[96];
    grove_builder *b = NULL;
    const grove_node *item = grove_doc_root(doc);
    if (grove_node_get(item, "kind")) {
        *out_doc = doc;
        return GROVE_OK;
    }
    grove_status st = grove_builder_new(w->k->env, &b);
    if (st == GROVE_OK) {
        grove_builder_open_object(b, NULL);
        grove_builder_string(b, "apiVersion", gv_k8s_api_version(w->kind, version));
        grove_builder_string(b, "kind", grove_kind_name(w->kind));
        for (const grove_node *c = grove_node_first(item); c; c = grove_node_next(item, c)) {
            grove_builder_link(b, grove_node_key(c, NULL), doc, c);
        }
        grove_builder_close(b);
        st = grove_builder_finish(b, out_doc, NULL);
        grove_builder_free(b);
    }
    grove_doc_unref(doc);
    return st;
}

static void no_list(gv_k8s_watch *w) {
    gv_k8s_watch_stop(w);
    gv_k8s_watch_lost(w, "the server answered with something that is no list", true);
}

static grove_status item_document(gv_k8s_watch *w, const char *text, size_t len) {
    grove_doc *doc = NULL, *typed = NULL;
    grove_status st = grove_doc_parse_json(w->k->env, text, len, 0, &doc, NULL);
    if (st == GROVE_OK) {
        st = typed_item(w, doc, &typed);
    }
    if (st == GROVE_OK) {
        const grove_node *object = grove_doc_root(typed);
        gv_k8s_watch_pend(w, GROVE_EVENT_ADDED, typed, object, version_of(object));
        gv_k8s_framer_take(&w->framer);
    }
    return st;
}

static grove_status on_item(gv_k8s_watch *w, const char *text, size_t len) {
    if (w->skip > 0) { /* told before the page was cut off */
        w->skip--;
        w->page_told++;
        gv_k8s_framer_take(&w->framer);
        return GROVE_OK;
    }
    grove_event_type type;
    const char *object;
    size_t object_len;
    grove_status st = w->extract ? read_record(w, GV_K8S_PIECE_ITEM, text, len, &type, &object,
                                               &object_len)
                                 : item_document(w, text, len);
    if (st == GROVE_E_NOMEM) {
        return st;
    }
    if (st < 0) {
        no_list(w);
        return GROVE_OK;
    }
    if (w->extract) {
        pend_record(w, GROVE_EVENT_ADDED, text);
    }
    w->page_told++;
    return GROVE_OK;
}

static grove_status on_list_metadata(gv_k8s_watch *w, const char *text, size_t len) {
    grove_doc *doc = NULL;
    grove_status st = grove_doc_parse_json(w->k->env, text, len, 0, &doc, NULL);
    if (st == GROVE_E_NOMEM) {
        return st;
    }
    const grove_node *meta = doc ? grove_doc_root(doc) : NULL;
    const char *version = gv_k8s_member(meta, "resourceVersion");
    const char *more = gv_k8s_member(meta, "continue");
    grove_buf_clear(&w->list_position);
    st = gv_k8s_empty(more) ? GROVE_OK : gv_k8s_put(&w->list_position, more);
    if (st == GROVE_OK) {
        (void)snprintf(w->list_version, sizeof w->list_version, "%s", version ? version : "");
        gv_k8s_framer_take(&w->framer);
    }
    grove_doc_unref(doc);
    return st;
}

static void all_pages(gv_k8s_watch *w) {
    w->mode = GV_K8S_WATCH;
    w->k->no_pages[w->kind] = false;
    if (w->absent) {
        w->absent = false;
        gv_k8s_log(w->k, GROVE_LOG_INFO, "the server knows a kind now", "kind",
                   grove_kind_name(w->kind));
    }
    if (!w->synced) {
        gv_k8s_watch_pend(w, GROVE_EVENT_SYNCED, NULL, NULL, w->version);
    }
}

static void on_list_end(gv_k8s_watch *w) {
    if (!w->list_version[0]) {
        no_list(w);
        return;
    }
    gv_k8s_framer_take(&w->framer);
    set_version(w, w->list_version);
    grove_buf done = w->position;
    w->position = w->list_position;
    w->list_position = done;
    w->page_told = w->failures = 0;
    w->page_ends = true;
    w->k->activity++;
    if (w->position.len == 0) {
        all_pages(w);
    }
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

static void no_event(gv_k8s_watch *w) {
    gv_k8s_watch_stop(w);
    gv_k8s_watch_lost(w, "the server sent an event that is none", true);
}

static void change(gv_k8s_watch *w, const char *version) {
    if (w->mode == GV_K8S_WATCH) { /* the events that begin a STREAM come in no order */
        set_version(w, version);
    }
    w->heard_event = true;
    w->failures = 0;
}

/* The document of an event, or (bare) of its object alone. */
static void stream_event(gv_k8s_watch *w, grove_doc *doc, bool bare, grove_event_type known) {
    const grove_node *root = grove_doc_root(doc);
    const grove_node *object = bare ? root : grove_node_get(root, "object");
    const char *word = bare ? NULL : gv_k8s_member(root, "type"), *version = version_of(object);
    grove_event_type type = bare ? known : type_of(word);
    bool error = bare ? known == 0 && strcmp(kind_of(object), "Status") == 0
                      : word && strcmp(word, "ERROR") == 0;
    if (error) {
        stream_error(w, object);
    } else if (type == 0 || grove_node_type(object) != GROVE_OBJECT || !version[0]) {
        no_event(w);
    } else if (type == GROVE_EVENT_BOOKMARK) {
        bookmark(w, object);
    } else {
        change(w, version);
        gv_k8s_watch_pend(w, type, grove_doc_ref(doc), object, version);
    }
}

static grove_status on_document(gv_k8s_watch *w, const char *text, size_t len) {
    grove_doc *doc = NULL;
    grove_event_type type = 0;
    const char *object = text;
    size_t object_len = len;
    grove_status st = w->extract ? read_record(w, GV_K8S_PIECE_DOCUMENT, text, len, &type, &object,
                                               &object_len)
                                 : GROVE_OK;
    bool record = w->extract && type != 0 && type != GROVE_EVENT_BOOKMARK;
    if (st == GROVE_OK && record && grove_extract_version(w->extract)[0]) {
        change(w, grove_extract_version(w->extract));
        pend_record(w, type, text);
        return GROVE_OK;
    }
    st = st < 0 || record ? st : grove_doc_parse_json(w->k->env, object, object_len, 0, &doc, NULL);
    if (st == GROVE_E_NOMEM) {
        return st;
    }
    if (!doc) {
        no_event(w);
        return GROVE_OK;
    }
    stream_event(w, doc, w->extract != NULL, type);
    gv_k8s_framer_take(&w->framer);
    grove_doc_unref(doc);
    return GROVE_OK;
}

/* ---- ends ---- */

static void begin_again(gv_k8s_watch *w, bool pause) {
    bool later_page = w->mode == GV_K8S_LIST && w->position.len > 0; /* the same state again */
    if (w->mode == GV_K8S_WATCH || later_page || (!w->told_any && !pause)) {
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
    if (w->how == GV_K8S_END_UNUSABLE) {
        gv_k8s_identity_mistrusted(&w->k->identity, w->k->now);
    }
    switch (v.status) {
    case GROVE_E_GONE:
        w->k->no_pages[w->kind] = w->mode == GV_K8S_LIST && w->position.len > 0;
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
    bool answered = w->how == GV_K8S_END_ANSWERED, opened = w->http >= 200 && w->http < 300;
    w->k->activity++;
    if (!opened) {
        return failed(w);
    }
    w->ended = false;
    if (w->page_ends) { /* the page that ended was whole */
        w->page_ends = false;
        return GROVE_OK;
    }
    gv_k8s_framer_reset(&w->framer, false); /* half an event or page, if anything */
    if (w->mode == GV_K8S_LIST && answered) {
        gv_k8s_watch_lost(w, "the server answered with something that is no list", true);
        return GROVE_OK;
    }
    bool hasty = w->mode == GV_K8S_LIST ||
                 (w->k->now - w->opened_at < SHORT_WATCH && !w->heard_event);
    begin_again(w, hasty || (!answered && w->failures > 0));
    return GROVE_OK;
}

static grove_status next_piece(gv_k8s_watch *w, bool *out_any) {
    const char *text = NULL;
    size_t len = 0;
    gv_k8s_piece piece = gv_k8s_framer_peek(&w->framer, &text, &len);
    *out_any = piece != GV_K8S_PIECE_NONE;
    switch (piece) {
    case GV_K8S_PIECE_DOCUMENT:
        return on_document(w, text, len);
    case GV_K8S_PIECE_ITEM:
        return on_item(w, text, len);
    case GV_K8S_PIECE_METADATA:
        return on_list_metadata(w, text, len);
    case GV_K8S_PIECE_END:
        on_list_end(w);
        return GROVE_OK;
    default:
        break;
    }
    if (w->framer.broken && w->mode == GV_K8S_LIST) {
        no_list(w);
    } else if (w->framer.broken) {
        no_event(w);
    } else if (w->ended) {
        *out_any = true;
        return look_at_end(w);
    }
    *out_any = *out_any || w->framer.broken;
    return GROVE_OK;
}

grove_status gv_k8s_watch_prepare(gv_k8s_watch *w) {
    grove_status st = GROVE_OK;
    bool any = true;
    while (any && !w->has_pending && st == GROVE_OK && !w->cancelled) {
        if (w->mode != GV_K8S_GONE) {
            st = next_piece(w, &any);
        } else if (w->not_before > w->k->now) {
            return GROVE_OK;
        } else {
            gv_k8s_watch_pend(w, GROVE_EVENT_GONE, NULL, NULL, "");
        }
    }
    return st;
}
