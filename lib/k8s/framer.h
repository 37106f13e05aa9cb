/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts bytes into JSON values, however they arrive: watch events at their line feed, anything else by depth of
 * brackets outside of strings, so that neither line breaks inside a value nor their absence matter. In two forms: a stream of objects (a
 * watch), and one list, whose items come one by one while the rest is still on its way.
 */
#ifndef GV_K8S_FRAMER_H
#define GV_K8S_FRAMER_H

#include <stdbool.h>

#include <grove/buf.h>

typedef enum gv_k8s_piece {
    GV_K8S_PIECE_NONE,     /* more bytes are needed */
    GV_K8S_PIECE_DOCUMENT, /* of a stream */
    GV_K8S_PIECE_ITEM,     /* of a list */
    GV_K8S_PIECE_METADATA, /* of a list: the value of its `metadata` */
    GV_K8S_PIECE_END,      /* the list is whole */
} gv_k8s_piece;

/* Where a list's text stands. */
typedef enum gv_k8s_place {
    GV_K8S_BEFORE, /* outside of everything */
    GV_K8S_KEYS,   /* in the list, between members */
    GV_K8S_KEY,    /* in a key */
    GV_K8S_COLON,  /* behind a key */
    GV_K8S_SCALAR, /* in a value that is no container */
    GV_K8S_ITEMS,  /* in `items`, between two */
    GV_K8S_INSIDE, /* in a container or an item, counted by depth */
    GV_K8S_DONE,
} gv_k8s_place;

typedef struct gv_k8s_framer {
    grove_buf bytes;       /* what is not yet taken */
    size_t start, at, end; /* of the piece in work; scanned so far; of the piece that is whole */
    uint32_t depth;
    bool in_string, escaped, broken, is_list;
    gv_k8s_piece piece, inside; /* whole; what the container in work will be */
    gv_k8s_place place;
    char key[12];
    uint32_t key_len;
} gv_k8s_framer;

#define GV_K8S_DOCUMENT_LIMIT (UINT64_C(8) << 20)

void gv_k8s_framer_init(gv_k8s_framer *f, grove_env *env);
void gv_k8s_framer_fini(gv_k8s_framer *f);
/* Forgets everything; what comes is a list, or a stream. */
void gv_k8s_framer_reset(gv_k8s_framer *f, bool is_list);
grove_status gv_k8s_framer_add(gv_k8s_framer *f, const char *bytes, size_t n);
/*
 * The piece at hand, the same until it is taken; its text is borrowed until the next call that changes f.
 * NONE: more bytes are needed, or (f->broken) what came is no sequence of objects, no list, or too large.
 */
gv_k8s_piece gv_k8s_framer_peek(gv_k8s_framer *f, const char **out_text, size_t *out_len);
void gv_k8s_framer_take(gv_k8s_framer *f);

#endif
