/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/doc.h - documents: JSON and YAML as one immutable tree that remembers where it came from.
 *
 * A grove_doc is an immutable, reference-counted tree. It never rewrites what it read: numbers keep
 * their text, `replicas: 0` and unknown fields survive, integers are exact to int64, every node knows
 * its line and column. A node (`const grove_node *`) is borrowed from its document and stays valid
 * until the document's last unref.
 *
 *     grove_doc *doc = NULL;
 *     grove_doc_parse_json(env, text, len, 0, &doc, NULL);
 *     const grove_node *name = grove_node_at_path(grove_doc_root(doc), "/metadata/name");
 *     printf("%s\n", grove_node_text(name));
 *     grove_doc_unref(doc);
 *
 * All grove_node_* readers accept NULL and then answer "nothing" (type GROVE_MISSING, length 0, NULL), so
 * that chains of look-ups need one check at their end.
 *
 * New documents are made with a grove_builder, in document order; a subtree of another document can be
 * linked in without a copy (the new document then pins the other one).
 *
 * Threads: documents and nodes may be read by any number of threads. A builder belongs to one thread at
 * a time.
 */
#ifndef GROVE_DOC_H
#define GROVE_DOC_H

#include <stddef.h>
#include <stdint.h>

#include <grove/buf.h>
#include <grove/env.h>
#include <grove/status.h>

GROVE_BEGIN_DECLS

typedef struct grove_doc grove_doc;
typedef struct grove_node grove_node;

/** Type of a node. Since 0.1. */
typedef int32_t grove_type;
#define GROVE_MISSING 0 /**< no such node (the answer for NULL) */
#define GROVE_NULL_NODE 1
#define GROVE_BOOL 2
#define GROVE_NUMBER 3
#define GROVE_STRING 4
#define GROVE_ARRAY 5
#define GROVE_OBJECT 6

/* ---- reading text ---- */

#define GROVE_PARSE_STRICT 0x1u /**< duplicate keys are errors; without it the last one wins */
/** Refuse numbers that a float64 cannot hold (1e400). */
#define GROVE_PARSE_NUMBERS_AS_FLOAT64 0x2u

/**
 * Parses one JSON text (RFC 8259, UTF-8; a byte order mark in front is passed over). Anything RFC 8259 does
 * not allow is GROVE_E_PARSE with line, column and what was expected; so are invalid UTF-8 and surrogates
 * that stand alone. Exponents beyond nine digits are GROVE_E_RANGE. The caller owns *out_doc. Since 0.1.
 */
GROVE_API grove_status grove_doc_parse_json(grove_env *env, const char *text, size_t len,
                                            uint32_t flags, grove_doc **out_doc, grove_error *err);

/**
 * Parses one YAML document, typed as Kubernetes tools type it (YAML 1.1). GROVE_E_UNSUPPORTED when built
 * without YAML. The text may hold exactly one document; use grove_yaml_stream for more. Since 0.1.
 */
GROVE_API grove_status grove_doc_parse_yaml(grove_env *env, const char *text, size_t len,
                                            uint32_t flags, grove_doc **out_doc, grove_error *err);

/** A multi-document YAML (or JSON) text being read one document at a time. */
typedef struct grove_stream grove_stream;
/** The text must outlive the stream. Detects JSON by its first non-space byte. Since 0.1. */
GROVE_API grove_status grove_stream_new(grove_env *env, const char *text, size_t len,
                                        uint32_t flags, grove_stream **out_stream,
                                        grove_error *err);
/**
 * Next document, or *out_doc = NULL at the end. Empty documents (those that are null) are passed over.
 * After an error of one document's content the next call goes on behind it; after an error of syntax,
 * behind which no document can be told, it finds the end. Since 0.1.
 */
GROVE_API grove_status grove_stream_next(grove_stream *stream, grove_doc **out_doc,
                                         grove_error *err);
/** Number, from 0 on, of the document that the last call gave or refused; empty ones count. Since 0.1. */
GROVE_API uint32_t grove_stream_index(const grove_stream *stream);
GROVE_API void grove_stream_free(grove_stream *stream);

GROVE_API grove_doc *grove_doc_ref(grove_doc *doc);
GROVE_API void grove_doc_unref(grove_doc *doc);
/** The root node; never NULL for a parsed document. Borrowed. */
GROVE_API const grove_node *grove_doc_root(const grove_doc *doc);
GROVE_API grove_env *grove_doc_env(const grove_doc *doc);
/** Bytes held by the document itself, linked documents not counted. */
GROVE_API uint64_t grove_doc_bytes(const grove_doc *doc);

/* ---- reading nodes; NULL is allowed everywhere ---- */

GROVE_API grove_type grove_node_type(const grove_node *node);
/** Members of an object or elements of an array; else 0. */
GROVE_API uint32_t grove_node_size(const grove_node *node);
/** The value of an object's member, exact and case-sensitive; NULL when absent or not an object. */
GROVE_API const grove_node *grove_node_get(const grove_node *object, const char *key);
GROVE_API const grove_node *grove_node_getn(const grove_node *object, const char *key,
                                            size_t key_len);
/** Element i of an array, or the value of member i of an object; NULL when out of range. O(i): to visit all,
 * use first and next. */
GROVE_API const grove_node *grove_node_at(const grove_node *node, uint32_t i);
/** First child; NULL when empty or a scalar. Iterate: for (c = first(n); c; c = next(n, c)). */
GROVE_API const grove_node *grove_node_first(const grove_node *node);
/** The child of `parent` that follows `child`; NULL at the end. */
GROVE_API const grove_node *grove_node_next(const grove_node *parent, const grove_node *child);
/** Key of a node that is an object's member as reached from first/next/get; NULL otherwise. NUL-terminated. */
GROVE_API const char *grove_node_key(const grove_node *member, size_t *out_len);
/** Follows a JSON pointer (RFC 6901; "" is the node itself). NULL when absent. */
GROVE_API const grove_node *grove_node_at_path(const grove_node *node, const char *pointer);

/** Text of a string, or of a number as it was written; NULL for other types. NUL-terminated, may hold NULs. */
GROVE_API const char *grove_node_text(const grove_node *node);
GROVE_API const char *grove_node_textn(const grove_node *node, size_t *out_len);
/** True (1) for the bool true; 0 for all else. */
GROVE_API int32_t grove_node_is_true(const grove_node *node);
/** Exact integer: an integral number text within int64 (2.0 and 1e3 count). GROVE_E_TYPE, GROVE_E_RANGE. */
GROVE_API grove_status grove_node_int64(const grove_node *node, int64_t *out_value);
/** Nearest double of a number, independent of the locale. */
GROVE_API grove_status grove_node_double(const grove_node *node, double *out_value);
/** Equality by value: key order ignored, numbers by value. 1 equal, 0 not. */
GROVE_API int32_t grove_node_equal(const grove_node *a, const grove_node *b);

/** 1-based line and column (bytes) of the node in its text; 0, 0 when it has none. */
GROVE_API void grove_node_position(const grove_doc *doc, const grove_node *node, uint32_t *out_line,
                                   uint32_t *out_column);
/** 1 when the node was added by defaulting; its position is then its parent's. */
GROVE_API int32_t grove_node_is_defaulted(const grove_node *node);

/* ---- writing text ---- */

#define GROVE_WRITE_PRETTY 0x1u    /**< JSON: two-space indent and line breaks */
#define GROVE_WRITE_CANONICAL 0x2u /**< JSON: keys sorted by bytes, numbers by value, no spaces */

GROVE_API grove_status grove_node_write_json(const grove_node *node, uint32_t flags, grove_buf *buf,
                                             grove_error *err);
/** Block style; reads back to an equal tree under YAML 1.1 and 1.2 readers. */
GROVE_API grove_status grove_node_write_yaml(const grove_node *node, uint32_t flags, grove_buf *buf,
                                             grove_error *err);

/* ---- building ---- */

typedef struct grove_builder grove_builder;

/*
 * Calls append at the current place. Inside an object each value takes a key; inside an array (and at
 * the root) key is NULL. A failed call sticks: later calls do nothing and grove_builder_finish reports
 * the first failure, so that building code needs no checks in between.
 */
GROVE_API grove_status grove_builder_new(grove_env *env, grove_builder **out_builder);
GROVE_API void grove_builder_free(grove_builder *b);
GROVE_API void grove_builder_open_object(grove_builder *b, const char *key);
GROVE_API void grove_builder_open_array(grove_builder *b, const char *key);
GROVE_API void grove_builder_close(grove_builder *b);
GROVE_API void grove_builder_null(grove_builder *b, const char *key);
GROVE_API void grove_builder_bool(grove_builder *b, const char *key, int32_t value);
GROVE_API void grove_builder_int64(grove_builder *b, const char *key, int64_t value);
/** A number by its text, which must be a JSON number. */
GROVE_API void grove_builder_number(grove_builder *b, const char *key, const char *text,
                                    size_t len);
GROVE_API void grove_builder_string(grove_builder *b, const char *key, const char *text);
GROVE_API void grove_builder_stringn(grove_builder *b, const char *key, const char *text,
                                     size_t len);
/**
 * Appends another document's node without a copy; `doc` must be the document the node was reached
 * from and is pinned by the result. Small scalars may be copied instead.
 */
GROVE_API void grove_builder_link(grove_builder *b, const char *key, grove_doc *doc,
                                  const grove_node *node);
/** Appends a deep copy; the source need not outlive the builder. */
GROVE_API void grove_builder_copy(grove_builder *b, const char *key, const grove_node *node);
/** Nodes appended from now on carry the position of `at` and, if set, the defaulted flag; NULL ends it. */
GROVE_API void grove_builder_position(grove_builder *b, const grove_node *at, int32_t defaulted);
/** Ends the document; the builder is empty afterwards and can be used again. The caller owns *out_doc. */
GROVE_API grove_status grove_builder_finish(grove_builder *b, grove_doc **out_doc,
                                            grove_error *err);

/* ---- changing: always a new document ---- */

/** RFC 7396: `patch` applied to `target`; the result links what did not change. */
GROVE_API grove_status grove_merge_patch_apply(grove_doc *target_doc, const grove_node *target,
                                               grove_doc *patch_doc, const grove_node *patch,
                                               grove_doc **out_doc, grove_error *err);
/**
 * RFC 7396: the smallest patch from a to b. GROVE_E_UNSUPPORTED, with the pointer in err->path, where
 * merge patches cannot say it (a null value in b).
 */
GROVE_API grove_status grove_merge_patch_make(grove_doc *a_doc, const grove_node *a,
                                              grove_doc *b_doc, const grove_node *b,
                                              grove_doc **out_doc, grove_error *err);
/**
 * RFC 6902, atomic: on failure nothing is made. GROVE_E_CONFLICT when a `test` fails, GROVE_E_NOT_FOUND
 * where a pointer leads nowhere, GROVE_E_INVALID for an operation that is none; err->path is the pointer.
 */
GROVE_API grove_status grove_json_patch_apply(grove_doc *target_doc, const grove_node *target,
                                              grove_doc *patch_doc, const grove_node *patch,
                                              grove_doc **out_doc, grove_error *err);
/** RFC 6902 operations (add, remove, replace) that turn a into b. */
GROVE_API grove_status grove_json_patch_make(grove_doc *a_doc, const grove_node *a,
                                             grove_doc *b_doc, const grove_node *b,
                                             grove_doc **out_doc, grove_error *err);

/**
 * 64-bit FNV-1a over the canonical form (GROVE_WRITE_CANONICAL); equal values give equal hashes on every
 * machine. Needs no memory.
 */
GROVE_API grove_status grove_node_hash(const grove_node *node, uint64_t *out_hash,
                                       grove_error *err);

GROVE_END_DECLS
#endif
