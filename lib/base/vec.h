/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed growable arrays:   GV_VEC(int64_t) ids = {0};
 *                          if (!gv_vec_push(env, &ids, 7)) return GROVE_E_NOMEM;
 *                          for (size_t i = 0; i < ids.n; i++) use(ids.v[i]);
 *                          gv_vec_fini(env, &ids);
 */
#ifndef GV_BASE_VEC_H
#define GV_BASE_VEC_H

#include <stdbool.h>

#include "base/mem.h"

#define GV_VEC(type)   \
    struct {           \
        type *v;       \
        size_t n, cap; \
    }

/* v: address of the array pointer, whatever its type. */
bool gv_vec_grow_(grove_env *env, void *v, size_t *cap, size_t n, size_t elem);

#define gv_vec_reserve(env, vec, want) \
    ((want) <= (vec)->cap || gv_vec_grow_((env), &(vec)->v, &(vec)->cap, (want), sizeof *(vec)->v))
/* False when out of memory; the vector is then unchanged. */
#define gv_vec_push(env, vec, value) \
    (gv_vec_reserve((env), (vec), (vec)->n + 1) ? ((vec)->v[(vec)->n++] = (value), true) : false)
#define gv_vec_fini(env, vec)                                                  \
    (gv_free((env), (vec)->v, (vec)->cap * sizeof *(vec)->v), (vec)->v = NULL, \
     (vec)->n = (vec)->cap = 0)

#endif
