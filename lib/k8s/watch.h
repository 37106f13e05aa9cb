/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch and the streams that feed it. Bytes that came are kept until they are told, so that a sink that
 * refuses gets the same event again.
 *
 *   LIST    pages; then WATCH
 *   STREAM  a watch that begins with what there is (WatchList); after its bookmark it is a WATCH
 *   WATCH   changes after `version`, again and again, for streams end
 *   GONE    the position is lost: told once, then the watch ends
 */
#ifndef GV_K8S_WATCH_H
#define GV_K8S_WATCH_H

#include <grove/sys/extract.h>

#include "backend.h"

typedef enum gv_k8s_mode { GV_K8S_LIST, GV_K8S_STREAM, GV_K8S_WATCH, GV_K8S_GONE } gv_k8s_mode;

typedef struct gv_k8s_watch {
    struct gv_k8s_watch *next;
    gv_k8s *k;
    gv_k8s_pool texts;
    uint64_t token;
    grove_kind kind;
    const char *ns, *label_selector, *field_selector;
    gv_k8s_mode mode;
    bool cancelled;     /* freed at the next opportunity */
    bool synced;        /* SYNCED was told, or was never owed */
    bool told_any;      /* something was told before SYNCED */
    bool absent;        /* the server does not know the kind */
    char version[64];   /* resume from here */
    grove_buf position; /* continue token of the page that runs or comes next; empty: the first */
    bool page_ends;     /* the page that runs is whole */
    uint32_t page_told,
        skip; /* items of this page that were told; of it again: to be passed over */
    /* the request that runs */
    void *handle;
    bool ended; /* its end is not yet looked at */
    gv_k8s_end how;
    int32_t http;
    uint32_t retry_after_ms, generation;
    char message[200];
    int64_t opened_at, lasts, heard_at, not_before; /* lasts: as asked for */
    bool heard_event;
    /* what came and is not yet told */
    gv_k8s_framer framer;
    grove_buf page;          /* the body of a failure */
    char list_version[64];   /* of the page at hand, good once it is whole */
    grove_buf list_position; /* the same */
    bool has_pending, pending_is_record;
    grove_event_type pending_type;
    grove_doc *pending_doc;
    const grove_node *pending;
    char pending_version[64];
    grove_extract *extract;  /* NULL: documents are wanted */
    const char *record_text; /* what the record borrows from; the framer may move it */
    uint32_t failures;       /* in a row */
} gv_k8s_watch;

/* watch_parse.c: the next thing to tell out of what came, as w->pending. */
grove_status gv_k8s_watch_prepare(gv_k8s_watch *w);

/* watch.c: changes of state, used by both. */

/* Tries again later, the longer the more often it failed. */
void gv_k8s_watch_pause(gv_k8s_watch *w);
/* The position is lost, or the beginning cannot be finished: GONE, after `delay`. */
void gv_k8s_watch_lost(gv_k8s_watch *w, const char *why, bool pause);
/* Ends the request that runs. */
void gv_k8s_watch_stop(gv_k8s_watch *w);
void gv_k8s_watch_pend(gv_k8s_watch *w, grove_event_type type, grove_doc *doc,
                       const grove_node *object, const char *version);
/* Before a pending record is told: reads it again if its text has moved. GROVE_E_NOMEM. */
grove_status gv_k8s_watch_record(gv_k8s_watch *w);

#endif
