/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/env.h - what the host lends to the library: memory, a log, limits.
 *
 * A grove_env is immutable and reference-counted; every object of the library keeps a reference to the
 * one it was made with. There is no global state and no init call: two environments with different
 * allocators live side by side in one process.
 *
 *     grove_env *env = NULL;
 *     if (grove_env_new(NULL, &env) < 0) return 1;   // malloc, no log, default limits
 *     ...
 *     grove_env_unref(env);
 *
 * Threads: an env may be shared by all threads; its allocator and log callback must then be
 * thread-safe. Allocation through libyaml, libcurl and OpenSSL does not pass through the allocator.
 */
#ifndef GROVE_ENV_H
#define GROVE_ENV_H

#include <stddef.h>
#include <stdint.h>

#include <grove/export.h>
#include <grove/status.h>

GROVE_BEGIN_DECLS

typedef struct grove_env grove_env;

/** Memory functions with a context; sizes are given back on free. All three must be set. Since 0.1. */
typedef struct grove_allocator {
    uint32_t size;                                               /**< sizeof(grove_allocator) */
    uint32_t reserved;                                           /**< zero */
    void *ctx;                                                   /**< handed to each function */
    void *(*alloc)(void *ctx, size_t n);                         /**< NULL: out of memory */
    void *(*resize)(void *ctx, void *p, size_t old_n, size_t n); /**< p may be NULL with old_n 0 */
    void (*release)(void *ctx, void *p, size_t n);               /**< p is never NULL */
} grove_allocator;

typedef int32_t grove_log_level;
#define GROVE_LOG_ERROR 1
#define GROVE_LOG_WARN 2
#define GROVE_LOG_INFO 3
#define GROVE_LOG_DEBUG 4
#define GROVE_LOG_TRACE 5

/** One key and its value of a log record; both borrowed during the callback. Since 0.1. */
typedef struct grove_log_field {
    const char *key;
    const char *value;
} grove_log_field;

/** A log record, valid during the callback only. Since 0.1. */
typedef struct grove_log_record {
    uint32_t size; /**< sizeof(grove_log_record) as the library knows it */
    grove_log_level level;
    const char *component;         /**< "engine", "k8s", ... */
    const char *code;              /**< registry code such as "GRV1201", or "" */
    const char *message;           /**< one line */
    const grove_log_field *fields; /**< n_fields entries */
    uint32_t n_fields;
    uint32_t reserved;
} grove_log_record;

typedef void (*grove_log_fn)(void *ctx, const grove_log_record *record);

/** Upper bounds on what untrusted input may cost. 0 takes the default in brackets. Since 0.1. */
typedef struct grove_limits {
    uint32_t size;           /**< sizeof(grove_limits) */
    uint32_t depth;          /**< nesting of a document [128] */
    uint64_t document_bytes; /**< size of one document's text [64 MiB] */
    uint64_t document_nodes; /**< nodes of one document, aliases expanded [4,194,304] */
    uint32_t diagnostics;    /**< entries of one diagnostics list [1000] */
    uint32_t reserved;       /**< zero */
    uint64_t search_steps;   /**< steps of one placement decision [2,000,000] */
    uint64_t store_bytes;    /**< memory of one store [unlimited] */
} grove_limits;

/** Options of grove_env_new; zero-initialise, set size, then what is wanted. Since 0.1. */
typedef struct grove_env_options {
    uint32_t size;                    /**< sizeof(grove_env_options) */
    grove_log_level log_level;        /**< records above it are not built; 0: GROVE_LOG_INFO */
    const grove_allocator *allocator; /**< copied; NULL: malloc, realloc, free */
    grove_log_fn log;                 /**< NULL: silent */
    void *log_ctx;
    const grove_limits *limits; /**< copied; NULL: defaults */
} grove_env_options;

/** Makes an environment; options may be NULL. The caller owns the one reference in *out_env. Since 0.1. */
GROVE_API grove_status grove_env_new(const grove_env_options *options, grove_env **out_env);
/** Takes a further reference; returns env. Thread-safe. Since 0.1. */
GROVE_API grove_env *grove_env_ref(grove_env *env);
/** Gives a reference back; NULL is allowed. Thread-safe. Since 0.1. */
GROVE_API void grove_env_unref(grove_env *env);

GROVE_END_DECLS
#endif
