/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/status.h - how a call says that it could not judge, and why.
 *
 * Every fallible function returns a grove_status: 0 when the call could judge (a refused manifest, a
 * gang that does not fit, a plan that waits are *results*, not errors), negative when there is no
 * verdict. Details go into a caller-owned grove_error; NULL is allowed wherever one is asked for.
 *
 *     grove_error err = GROVE_ERROR_INIT;
 *     grove_doc *doc = NULL;
 *     if (grove_doc_parse_json(env, text, len, 0, &doc, &err) < 0)
 *         fprintf(stderr, "%u:%u: %s\n", err.line, err.column, err.message);
 *
 * Filling an error never allocates. Outputs are untouched on failure. Nothing is thread-local.
 */
#ifndef GROVE_STATUS_H
#define GROVE_STATUS_H

#include <stdint.h>

#include <grove/export.h>

GROVE_BEGIN_DECLS

/** Outcome of a call: 0 ok, negative an error of the list below. Since 0.1. */
typedef int32_t grove_status;

#define GROVE_OK 0
#define GROVE_E_NOMEM (-1)        /**< the allocator returned NULL */
#define GROVE_E_INVALID (-2)      /**< an argument breaks the function's contract */
#define GROVE_E_PARSE (-3)        /**< text is not well-formed; line, column and message tell */
#define GROVE_E_LIMIT (-4)        /**< a limit of grove_env was reached */
#define GROVE_E_RANGE (-5)        /**< a number does not fit */
#define GROVE_E_TYPE (-6)         /**< a value has another type than asked for */
#define GROVE_E_NOT_FOUND (-7)    /**< no such key, path or object */
#define GROVE_E_EXISTS (-8)       /**< an object of this name exists already */
#define GROVE_E_CONFLICT (-9)     /**< a precondition or a patch `test` failed */
#define GROVE_E_UNSUPPORTED (-10) /**< built without it, or not offered by this backend */
#define GROVE_E_TOO_NEW (-11)     /**< a sized struct has fields this library does not know */
#define GROVE_E_IO (-12)          /**< the operating system refused; message holds its words */
#define GROVE_E_AUTH (-13)        /**< no or wrong credentials (HTTP 401) */
#define GROVE_E_FORBIDDEN (-14)   /**< the server forbids it (HTTP 403) */
#define GROVE_E_REFUSED (-15)     /**< the server found the object invalid (HTTP 400, 422) */
#define GROVE_E_GONE (-16) /**< the resourceVersion asked for is no longer served (HTTP 410) */
#define GROVE_E_BUSY (-17) /**< too many requests (HTTP 429); retry_after_ms may be set */
#define GROVE_E_UNAVAILABLE (-18) /**< the server cannot answer now (HTTP 5xx, connection lost) */
#define GROVE_E_TIMEOUT (-19)     /**< a deadline passed */
#define GROVE_E_CANCELLED (-20)   /**< the caller cancelled the operation */
#define GROVE_E_INTERNAL (-100)   /**< a bug in libgrove: an invariant does not hold */

/** What kind of remedy an error asks for; see grove_error.category. Since 0.1. */
typedef int32_t grove_category;
#define GROVE_CATEGORY_NONE 0
#define GROVE_CATEGORY_CALLER 1   /**< the program's own mistake */
#define GROVE_CATEGORY_INPUT 2    /**< the document or object is at fault */
#define GROVE_CATEGORY_RESOURCE 3 /**< memory or a limit */
#define GROVE_CATEGORY_REMOTE 4   /**< the cluster refused or failed */
#define GROVE_CATEGORY_BUG 5      /**< libgrove's mistake: please report */

#define GROVE_ERROR_RETRIABLE 0x1u /**< trying the same call again may succeed */
#define GROVE_ERROR_UNCERTAIN 0x2u /**< the operation may have taken effect all the same */

/**
 * Details of a failure. Caller-owned; initialise with GROVE_ERROR_INIT. Texts are NUL-terminated and
 * cut at the end when too long, never in the middle of a UTF-8 sequence. Since 0.1.
 */
typedef struct grove_error {
    uint32_t size;           /**< sizeof(grove_error) as the caller knows it */
    grove_status status;     /**< same value as the call returned */
    grove_category category; /**< who can mend it */
    uint32_t flags;          /**< GROVE_ERROR_* bits */
    uint32_t retry_after_ms; /**< the server's wish; 0: none */
    uint32_t line;           /**< 1-based; 0: unknown */
    uint32_t column;         /**< 1-based, in bytes; 0: unknown */
    uint32_t reserved;       /**< zero */
    char path[256];          /**< Grove field path, or JSON pointer in the document and patch API */
    char message[512];       /**< one impersonal line, no trailing full stop */
} grove_error;

/* clang-format off */
#define GROVE_ERROR_INIT {(uint32_t)sizeof(grove_error), 0, 0, 0, 0, 0, 0, 0, {0}, {0}}
/* clang-format on */

/** The constant name of a status ("GROVE_E_PARSE"); "GROVE_E_?" when unknown. Static storage. Since 0.1. */
GROVE_API const char *grove_status_name(grove_status status);

GROVE_END_DECLS
#endif
