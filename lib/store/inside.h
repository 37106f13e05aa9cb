/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store share among themselves; nobody else includes this. */
#ifndef GV_STORE_INSIDE_H
#define GV_STORE_INSIDE_H

#include "base/map.h"
#include "store/store.h"

/* A list that is found by text: members of a set, of an owner, of a gang, of a node. Lives while it has
 * members or its set waits to be planned. */
typedef struct gv_bucket {
    gv_list list; /* first: a gv_link's list pointer is the bucket's address */
    gv_list_kind which;
    uint64_t hash;
    const char *ns, *key; /* interned; ns "" where it plays no part */
    struct gv_bucket *next_dirty;
    bool dirty;
} gv_bucket;

/* One object with a write of ours in flight, or answered and not yet observed. */
typedef struct gv_overlay {
    struct gv_overlay *next, *prev; /* by age */
    uint64_t hash;
    gv_kind kind;
    const char *ns, *name; /* interned */
    grove_verb verb;
    bool answered;
    bool transparent;  /* what is visible is what was observed; only the answer is still out */
    gv_object *hidden; /* what was observed, behind what is visible; NULL: nothing there */
    uint64_t want;     /* resourceVersion that ends it; 0 unknown */
    char *uid;         /* of the written object; NULL unknown */
    size_t uid_bytes;
    int64_t since;
} gv_overlay;

struct grove_store {
    grove_env *env;
    gv_intern pool;
    gv_ptable by_name, by_uid, buckets, overlays;
    gv_list of_kind[GV_KIND_COUNT];
    uint64_t version[GV_KIND_COUNT];
    uint32_t relist[GV_KIND_COUNT];
    gv_bucket *dirty_first, *dirty_last;
    gv_bucket
        *taken; /* the set last handed out by next_dirty: its texts must hold until the next call */
    gv_overlay *oldest, *newest;
    gv_map departed; /* uid of a clique -> who held its indices; departed.c */
    gv_list empty;
    bool capacity_changed;
    gv_pod_facts pod;   /* work memory */
    gv_node_facts node; /* work memory */
    uint64_t n_objects, n_replaced, n_unchanged, bytes;
};

/* ---- objects.c ---- */

/* Keys of the name table. */
typedef struct gv_name_key {
    gv_kind kind;
    gv_str ns, name;
} gv_name_key;
uint64_t gv_name_hash(const gv_name_key *key);
bool gv_name_is(const void *object, const void *key);

/* Makes an object that is in no index yet. extra_flags are ored to the head's. */
grove_status gv_object_make(grove_store *s, grove_doc *doc, const grove_node *node,
                            uint32_t extra_flags, gv_object **out, grove_error *err);
grove_status gv_object_make_record(grove_store *s, const grove_extract *record, gv_object **out,
                                   grove_error *err);
/* Change of a copy; what is not named stays. */
typedef struct gv_object_change {
    uint32_t set_flags;       /* GV_HEAD_* */
    int64_t deleted;          /* used with GV_HEAD_TERMINATING */
    bool drop_gate;           /* pods: Grove's gate */
    bool unschedulable;       /* pods: the condition that says so */
    gv_str node;              /* pods: n 0 keeps */
    const grove_node *labels; /* pods: those that a merge patch sets; NULL keeps */
    grove_doc *doc;           /* documents: NULL keeps */
    const grove_node *at;     /* with doc */
} gv_object_change;
grove_status gv_object_copy(grove_store *s, const gv_object *from, const gv_object_change *change,
                            gv_object **out, grove_error *err);
void gv_object_free(grove_store *s, gv_object *o);
bool gv_object_same(const gv_object *a, const gv_object *b);

/* ---- index.c ---- */

/* Puts `fresh` (may be NULL: only remove) in the place of `old` (may be NULL: only add). Nothing is changed
 * on failure; only adding can fail. Frees neither. */
grove_status gv_index_swap(grove_store *s, gv_object *old, gv_object *fresh, grove_error *err);
gv_bucket *gv_bucket_find(const grove_store *s, gv_list_kind which, gv_str ns, gv_str key);
gv_bucket *gv_bucket_want(grove_store *s, gv_list_kind which, gv_str ns, gv_str key);
void gv_bucket_release(grove_store *s, gv_bucket *b); /* frees it when nothing holds it */

/* ---- dirty.c ---- */

bool gv_dirty_mark(grove_store *s, gv_str ns, gv_str pcs);
/* Marks whoever must be planned because `o` came, went or changed. */
bool gv_dirty_mark_for(grove_store *s, const gv_object *o);

/* ---- departed.c ---- */

/* An observed object is gone: a pod's index is remembered, a clique's pods are forgotten. */
bool gv_departed_note(grove_store *s, const gv_object *gone);
void gv_departed_fini(grove_store *s);

/* ---- overlay.c ---- */

gv_overlay *gv_overlay_find(const grove_store *s, gv_kind kind, gv_str ns, gv_str name);
/* The observed state of an object under overlay changed; takes `fresh` over (NULL: it is gone). */
grove_status gv_overlay_observe(grove_store *s, gv_overlay *ov, gv_object *fresh, grove_error *err);
void gv_overlay_free(grove_store *s, gv_overlay *ov); /* and what it hides */

/* The visible object changes from `old` to `fresh`; frees old unless kept; marks. */
grove_status gv_store_show(grove_store *s, gv_object *old, gv_object *fresh, bool keep_old,
                           grove_error *err);

#endif
