/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/sys/util.h - small tools for those who write a backend: the environment's memory and log, errors,
 * size-checked structs, repeatable random numbers.
 *
 *     char *p = grove_memory_alloc(env, n);          // zeroed; NULL: out of memory
 *     if (!p) return grove_error_set(err, GROVE_E_NOMEM, "out of memory");
 *     ...
 *     grove_memory_free(env, p, n);                  // sizes are given back
 *
 * Threads: as the environment's allocator and log.
 */
#ifndef GROVE_SYS_UTIL_H
#define GROVE_SYS_UTIL_H

#include <stddef.h>

#include <grove/env.h>

GROVE_BEGIN_DECLS

/** Zeroed memory of the environment's allocator; NULL: out of memory. n 0 counts as 1. Since 0.1. */
GROVE_API void *grove_memory_alloc(grove_env *env, size_t n);
/** Grows or shrinks; new bytes are not zeroed. NULL: out of memory, p stays as it was. Since 0.1. */
GROVE_API void *grove_memory_resize(grove_env *env, void *p, size_t old_n, size_t n);
/** Gives memory back; p NULL does nothing. Since 0.1. */
GROVE_API void grove_memory_free(grove_env *env, void *p, size_t n);

/** Fills *err (NULL allowed) with the category and flags of the status; returns status. Since 0.1. */
GROVE_API grove_status grove_error_set(grove_error *err, grove_status status, const char *message);

/**
 * The size check of size-prefixed structs: copies what both sides know of `in` into `out`, which the caller
 * has zeroed. GROVE_E_INVALID when in_size is below min_size, GROVE_E_TOO_NEW when fields that this side
 * does not know are set. Since 0.1.
 */
GROVE_API grove_status grove_struct_read(void *out, uint64_t out_size, const void *in,
                                         uint32_t in_size, uint64_t min_size);

/** 1 when records of this level reach the host. Since 0.1. */
GROVE_API int32_t grove_log_enabled(const grove_env *env, grove_log_level level);
/** Hands a record to the host's log; component and message are one line each. Since 0.1. */
GROVE_API void grove_log_write(const grove_env *env, grove_log_level level, const char *component,
                               const char *message, const grove_log_field *fields,
                               uint32_t n_fields);

/** The next number of the sequence that *state began with; the same on every machine. Since 0.1. */
GROVE_API uint64_t grove_random_next(uint64_t *state);

GROVE_END_DECLS
#endif
