/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sys/extract.h - pods and nodes as records, read straight from the bytes of a list or a watch.
 *
 * A pod of 9 kB is a few hundred bytes of what decisions read. A backend that holds the text of a pod need
 * not make a document of it: it extracts the record and hands that to whoever watches.
 *
 *     grove_extract *x = NULL;
 *     grove_extract_new(env, &x);
 *     if (grove_extract_read(x, GROVE_KIND_POD, text, len, &err) == GROVE_OK) {
 *         event.record = x;                        // and no object
 *         event.resource_version = grove_extract_version(x);
 *         sink->event(sink->ctx, &event);
 *     }
 *     grove_extract_free(x);
 *
 * Only watches that asked for it (GROVE_WATCH_RECORDS) may get records. A record says what a document of the
 * same text would say; what is not well-formed is refused as the document would be.
 *
 * Threads: one at a time.
 */
#ifndef GROVE_SYS_EXTRACT_H
#define GROVE_SYS_EXTRACT_H

#include <grove/sys/backend.h>

GROVE_BEGIN_DECLS

typedef struct grove_extract grove_extract;

/** 1 for kinds of which records are made: Pod and Node. Since 0.1. */
GROVE_API int32_t grove_extract_takes(grove_kind kind);

/** An extractor: work memory, used again for each object. The caller owns it. Since 0.1. */
GROVE_API grove_status grove_extract_new(grove_env *env, grove_extract **out_extract);
/** NULL is allowed. Since 0.1. */
GROVE_API void grove_extract_free(grove_extract *x);

/**
 * Reads one object, a JSON text. Items of lists do not say what they are: `kind` does. The record borrows
 * from the text, which must stay as it is until the next read. GROVE_E_PARSE, GROVE_E_LIMIT as for
 * documents; GROVE_E_INVALID for an object without a name or of another kind; GROVE_E_UNSUPPORTED for kinds
 * of which no records are made. After a failure there is no record. Since 0.1.
 */
GROVE_API grove_status grove_extract_read(grove_extract *x, grove_kind kind, const char *text,
                                          size_t len, grove_error *err);
/**
 * Reads one event of a watch, {"type":...,"object":{...}}. *out_type: ADDED, MODIFIED or DELETED with the
 * record read; BOOKMARK, or 0 for any other type (ERROR), where the object is left to the caller. Members
 * may come in any order. *out_object: the object's text. Since 0.1.
 */
GROVE_API grove_status grove_extract_event(grove_extract *x, grove_kind kind, const char *text,
                                           size_t len, grove_event_type *out_type,
                                           const char **out_object, size_t *out_len,
                                           grove_error *err);

/** resourceVersion of the record; "" when absent. Borrowed until the next read. Since 0.1. */
GROVE_API const char *grove_extract_version(const grove_extract *x);
/** The record as one JSON object, for logs and tests; its members may grow. Since 0.1. */
GROVE_API grove_status grove_extract_write(const grove_extract *x, grove_buf *buf);

GROVE_END_DECLS
#endif
