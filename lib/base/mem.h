/* SPDX-License-Identifier: Apache-2.0 */
/* Memory through the environment's allocator. Sizes are given back on free. */
#ifndef GV_BASE_MEM_H
#define GV_BASE_MEM_H

#include <stddef.h>

#include <grove/env.h>

void *gv_alloc(grove_env *env, size_t n);  /* NULL: out of memory; n 0 counts as 1 */
void *gv_zalloc(grove_env *env, size_t n); /* the same, zeroed */
void *gv_realloc(grove_env *env, void *p, size_t old_n, size_t n);
void gv_free(grove_env *env, void *p, size_t n); /* p NULL: nothing */

const grove_limits *gv_env_limits(const grove_env *env); /* every field filled in */

/* The one size-check for size-prefixed structs: copies the known prefix of `in` into the zeroed `out`.
 * GROVE_E_INVALID when smaller than `min_size`, GROVE_E_TOO_NEW when its unknown tail is not zero. */
grove_status gv_struct_in(void *out, size_t out_size, const void *in, uint32_t in_size,
                          size_t min_size);
/* The same without the copy: for structs that are read where they are, so that `min_size` is all of what
 * is read of them. */
grove_status gv_struct_check(const void *in, uint32_t in_size, size_t known, size_t min_size);

/* Fills *err (NULL allowed) and returns status. The format takes no floating point. */
grove_status gv_error(grove_error *err, grove_status status, const char *fmt, ...)
    GROVE_PRINTF(3, 4);
/* The same with a place. */
grove_status gv_error_at(grove_error *err, grove_status status, uint32_t line, uint32_t column,
                         const char *path, const char *fmt, ...) GROVE_PRINTF(6, 7);
grove_status gv_error_nomem(grove_error *err);

#endif
