/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/kinds.h - the kinds this library knows, by number, name and resource word, and how a list of
 * them is shown as a table.
 *
 *     grove_kind kind = grove_kind_find("pcsg", 4);   // PodCliqueScalingGroup
 *     grove_table_write(env, kind, items, GROVE_TABLE_WIDE, now_ns, &out, &err);
 *
 * Everything is static and may be used from any thread.
 */
#ifndef GROVE_KINDS_H
#define GROVE_KINDS_H

#include <grove/doc.h>
#include <grove/verbs.h>

GROVE_BEGIN_DECLS

/** By what kubectl takes: plural, singular, kind or short name, in any case; NONE when unknown. Since 0.1. */
GROVE_API grove_kind grove_kind_find(const char *word, size_t len);
/** "PodCliqueSet"; "" for an unknown kind. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_name(grove_kind kind);
/** "podcliquesets"; "" for an unknown kind. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_plural(grove_kind kind);
/** "grove.io"; "" for core kinds and unknown ones. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_group(grove_kind kind);
/** The version that is asked for, "v1alpha1"; "" for an unknown kind. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_version(grove_kind kind);
/** 1 when its objects live in namespaces. Since 0.1. */
GROVE_API int32_t grove_kind_is_namespaced(grove_kind kind);

/** "podcliqueset"; "" for an unknown kind. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_singular(grove_kind kind);
/** Short names, comma-separated: "pcs"; "" when there are none. Static storage. Since 0.1. */
GROVE_API const char *grove_kind_short_names(grove_kind kind);
/** 1 when objects of the kind have this subresource. Since 0.1. */
GROVE_API int32_t grove_kind_has_subresource(grove_kind kind, grove_subresource subresource);
/** 1 when a cluster serves it from a resource definition: no strategic merge patch. Since 0.1. */
GROVE_API int32_t grove_kind_is_custom(grove_kind kind);

#define GROVE_TABLE_WIDE 0x1u      /**< columns of lower priority too */
#define GROVE_TABLE_NAMESPACE 0x2u /**< the namespace as first column */
#define GROVE_TABLE_NO_HEADERS 0x4u

/**
 * Appends what `kubectl get` prints for these objects: the columns of the resource definition, ages as of
 * now_ns (nanoseconds since the epoch). `items` is an array of objects of one kind. Since 0.1.
 */
GROVE_API grove_status grove_table_write(grove_env *env, grove_kind kind, const grove_node *items,
                                         uint32_t flags, int64_t now_ns, grove_buf *buf,
                                         grove_error *err);

/** A column of a kind's table; texts are static. Since 0.1. */
typedef struct grove_table_column {
    uint32_t size;
    int32_t priority;      /**< 0: always shown; more: only in wide tables */
    const char *name;      /**< "Replicas" */
    const char *type;      /**< "string", "integer", "date" */
    const char *json_path; /**< where a custom kind's cell comes from; "" for built-in kinds */
} grove_table_column;
/** Column i, in order; 0 past the end. out_column->size must be set. Since 0.1. */
GROVE_API int32_t grove_table_column_at(grove_kind kind, uint32_t i,
                                        grove_table_column *out_column);
/**
 * Appends the cells of one object, wide ones included, to the open array of `b`: integers as numbers,
 * everything else as text, null for what a custom object lacks. Since 0.1.
 */
GROVE_API grove_status grove_table_cells(grove_env *env, grove_kind kind, const grove_node *object,
                                         int64_t now_ns, grove_builder *b, grove_error *err);

GROVE_END_DECLS
#endif
