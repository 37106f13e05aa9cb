/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observed cluster from inside: objects, their indexes, and the overlay of writes in flight.
 *
 * What look-ups and lists show is the *visible* state: what was observed, with the expected or returned
 * effect of our own writes laid over it until it is observed too. Lists run in order of arrival; who
 * needs an order that does not depend on events sorts by name.
 */
#ifndef GV_STORE_STORE_H
#define GV_STORE_STORE_H

#include <grove/store.h>
#include <grove/verbs.h>

#include "model/extract.h"
#include "model/records.h"

/* ---- objects and lists ---- */

typedef enum gv_list_kind {
    GV_LIST_KIND = 0, /* all objects of one kind */
    GV_LIST_SET,   /* managed children of one PodCliqueSet (by part-of label), and the set itself */
    GV_LIST_OWNER, /* objects with one controller uid */
    GV_LIST_GANG,  /* pods with one grove.io/podgang label value in one namespace */
    GV_LIST_NODE,  /* pods bound to one node */
    GV_LISTS
} gv_list_kind;

typedef struct gv_object gv_object;
typedef struct gv_list {
    gv_object *first, *last;
    uint32_t n;
} gv_list;

typedef struct gv_link {
    gv_object *next, *prev;
    gv_list *list; /* NULL: in none */
} gv_link;

typedef struct gv_document {
    gv_head head;
    grove_doc *doc;         /* pinned */
    const grove_node *node; /* the object inside it */
} gv_document;

struct gv_object {
    gv_link link[GV_LISTS];
    size_t bytes;    /* of this allocation */
    uint32_t relist; /* the relist of its kind in which it was last observed */
    union {
        gv_head head; /* common beginning */
        gv_document document;
        gv_pod pod;          /* kind GV_KIND_POD */
        gv_node_record node; /* kind GV_KIND_NODE */
    } u;
};

static inline bool gv_object_is_pod(const gv_object *o) {
    return o->u.head.kind == GV_KIND_POD;
}
static inline bool gv_object_is_terminating(const gv_object *o) {
    return (o->u.head.flags & GV_HEAD_TERMINATING) != 0;
}
/* The whole object; NULL for pods and nodes. */
static inline const grove_node *gv_object_node(const gv_object *o) {
    return o->u.head.kind == GV_KIND_POD || o->u.head.kind == GV_KIND_NODE ? NULL
                                                                           : o->u.document.node;
}
static inline gv_object *gv_list_next(const gv_object *o, gv_list_kind which) {
    return o->link[which].next;
}

/* ---- look-ups; all may answer NULL or an empty list, never fail ---- */

gv_object *gv_store_get(const grove_store *store, gv_kind kind, gv_str ns, gv_str name);
gv_object *gv_store_by_uid(const grove_store *store, gv_str uid);
/* Lists are never NULL; for (o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) */
const gv_list *gv_store_of_kind(const grove_store *store, gv_kind kind);
const gv_list *gv_store_of_set(const grove_store *store, gv_str ns, gv_str pcs);
const gv_list *gv_store_owned_by(const grove_store *store, gv_str uid);
const gv_list *gv_store_of_gang(const grove_store *store, gv_str ns, gv_str gang);
const gv_list *gv_store_on_node(const grove_store *store, gv_str node);

/* uid of the latest pod that held this index of the clique and is gone; "" none known. Borrowed until the
 * store changes. */
gv_str gv_store_departed(const grove_store *store, gv_str owner_uid, int64_t index);

grove_env *gv_store_env(const grove_store *store);
/* Highest resourceVersion observed of a kind (bookmarks included); 0: none. */
uint64_t gv_store_version(const grove_store *store, gv_kind kind);
/* A bookmark, or the end of a list: everything up to rv of this kind has been delivered. */
void gv_store_bookmark(grove_store *store, gv_kind kind, gv_str rv);
/* Before a relist: mark; after it: whatever of the kind was not put since is removed. */
void gv_store_relist_begin(grove_store *store, gv_kind kind);
grove_status gv_store_relist_end(grove_store *store, gv_kind kind);

/* ---- who has to be planned ---- */

/* Capacity may have grown or shrunk (node, foreign pod, PodDisruptionBudget) since the last call. */
bool gv_store_take_capacity_mark(grove_store *store);

/* ---- overlay of writes in flight (design: section 8) ---- */

typedef struct gv_write {
    grove_verb
        verb; /* CREATE PATCH APPLY DELETE BIND EVICT SCALE; others have no effect to lay over */
    gv_kind kind;
    gv_str ns, name, uid;
    grove_subresource subresource;
    grove_patch_type patch_type;
    grove_doc *body;          /* pinned as needed; NULL for DELETE and EVICT */
    const grove_node *object; /* NULL: the body's root */
    gv_str node;              /* BIND */
    int64_t now;
} gv_write;

/* Lays the expected effect over what was observed; called when the write is handed to a backend. A
 * second write to an object that has one in flight is GROVE_E_CONFLICT. */
grove_status gv_store_write_begin(grove_store *store, const gv_write *write, grove_error *err);
/*
 * The write's answer. ok: `returned` is the object as the server stored it (NULL: unknown), rv its
 * resourceVersion ("" unknown); the overlay stays until an event reaches that version. Not ok: the
 * overlay is dropped and the observed state shows again. The set is marked either way.
 */
grove_status gv_store_write_end(grove_store *store, gv_kind kind, gv_str ns, gv_str name, bool ok,
                                grove_doc *returned_doc, const grove_node *returned, gv_str rv,
                                int64_t now, grove_error *err);
/* True when a write to the object awaits its answer or its observation. */
bool gv_store_in_flight(const grove_store *store, gv_kind kind, gv_str ns, gv_str name);

#define GV_OVERLAY_LIMIT_NS (INT64_C(30) * 1000 * 1000 * 1000)

/* The oldest write that is older than 30 s or whose resourceVersion went backwards: the object must be
 * read back (gv_store_put or gv_store_remove, then gv_store_settle) before its set is planned. */
bool gv_store_uncertain(const grove_store *store, int64_t now, gv_kind *out_kind,
                        const char **out_ns, const char **out_name);
/* True when some object of this set is uncertain; which one, the oldest first. */
bool gv_store_uncertain_of_set(const grove_store *store, gv_str ns, gv_str pcs, int64_t now,
                               gv_kind *out_kind, const char **out_name);
static inline bool gv_store_set_uncertain(const grove_store *store, gv_str ns, gv_str pcs,
                                          int64_t now) {
    gv_kind kind;
    const char *name;
    return gv_store_uncertain_of_set(store, ns, pcs, now, &kind, &name);
}
/* Drops the object's overlay: what was observed (just read back) is the truth. */
void gv_store_settle(grove_store *store, gv_kind kind, gv_str ns, gv_str name);
/* When the next write becomes uncertain; INT64_MAX: never. */
int64_t gv_store_deadline(const grove_store *store);

#endif
