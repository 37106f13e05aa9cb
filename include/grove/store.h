/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/store.h - the observed cluster: what watches and lists have shown, indexed for planning.
 *
 * Feed it every object that a watch or list delivers and every deletion; ask it which sets need
 * planning. Custom resources are kept as whole documents (pinned, not copied); pods and nodes only as
 * the fields that decisions read.
 *
 *     grove_store *store = NULL;
 *     grove_store_new(env, &store);
 *     grove_store_put(store, doc, grove_doc_root(doc), &err);
 *     while (grove_store_next_dirty(store, &ns, &name)) ... plan that PodCliqueSet ...
 *     grove_store_free(store);
 *
 * Threads: one thread at a time.
 */
#ifndef GROVE_STORE_H
#define GROVE_STORE_H

#include <grove/doc.h>

GROVE_BEGIN_DECLS

typedef struct grove_store grove_store;
struct grove_extract;

/** Sizes of a store; set size first. Since 0.1. */
typedef struct grove_store_stats {
    uint32_t size;      /**< sizeof(grove_store_stats) */
    uint32_t reserved;  /**< zero */
    uint64_t objects;   /**< visible objects of all kinds */
    uint64_t pods;      /**< visible pods */
    uint64_t nodes;     /**< visible nodes */
    uint64_t strings;   /**< interned texts */
    uint64_t bytes;     /**< memory held, documents not counted */
    uint64_t in_flight; /**< writes whose effect is not yet observed */
    uint64_t replaced;  /**< objects replaced since the store was made */
    uint64_t unchanged; /**< objects put that changed nothing a decision reads */
} grove_store_stats;

/** Makes an empty store. The caller owns it. Since 0.1. */
GROVE_API grove_status grove_store_new(grove_env *env, grove_store **out_store);
/** Frees the store and everything it holds; NULL is allowed. Since 0.1. */
GROVE_API void grove_store_free(grove_store *store);

/**
 * Takes in one object as observed (added, modified or listed). `doc` must be the document `object` was
 * reached from; it is pinned for custom resources and not kept for pods and nodes. An older
 * resourceVersion than the one known is ignored. GROVE_E_UNSUPPORTED for kinds that planning never
 * reads; GROVE_E_LIMIT beyond the environment's store_bytes. Since 0.1.
 */
GROVE_API grove_status grove_store_put(grove_store *store, grove_doc *doc, const grove_node *object,
                                       grove_error *err);
/**
 * Takes in a deletion as observed; `object` is the last state (only its apiVersion, kind, namespace,
 * name and uid are read; a uid that is not the known one is ignored). Since 0.1.
 */
GROVE_API grove_status grove_store_remove(grove_store *store, const grove_node *object,
                                          grove_error *err);

/**
 * The same for a record that was extracted from bytes (grove/sys/extract.h). GROVE_E_INVALID when it holds
 * nothing. Since 0.1.
 */
GROVE_API grove_status grove_store_put_record(grove_store *store,
                                              const struct grove_extract *record, grove_error *err);
GROVE_API grove_status grove_store_remove_record(grove_store *store,
                                                 const struct grove_extract *record,
                                                 grove_error *err);

/**
 * Takes the next PodCliqueSet, or ClusterTopologyBinding (namespace ""), that something changed for,
 * oldest mark first: 1 and borrowed texts (valid until the next call on this store), or 0 when none is
 * marked. Since 0.1.
 */
GROVE_API int32_t grove_store_next_dirty(grove_store *store, const char **out_namespace,
                                         const char **out_name);
/** Marks one PodCliqueSet, or with ns "" one ClusterTopologyBinding, for planning. Since 0.1. */
GROVE_API grove_status grove_store_mark(grove_store *store, const char *ns, const char *name);
/** Marks every known PodCliqueSet and ClusterTopologyBinding (a resync). Since 0.1. */
GROVE_API grove_status grove_store_mark_all(grove_store *store);

/** Fills *out_stats up to its size. Since 0.1. */
GROVE_API grove_status grove_store_stats_get(const grove_store *store,
                                             grove_store_stats *out_stats);

GROVE_END_DECLS
#endif
