/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-safe reference counts for shared immutable objects. */
#ifndef GV_BASE_REFCOUNT_H
#define GV_BASE_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gv_refs {
    atomic_uint_fast32_t n;
} gv_refs;

static inline void gv_refs_init(gv_refs *r) {
    atomic_init(&r->n, 1);
}
static inline void gv_refs_up(gv_refs *r) {
    atomic_fetch_add_explicit(&r->n, 1, memory_order_relaxed);
}
/* True when this was the last reference: the caller then frees the object. */
static inline bool gv_refs_down(gv_refs *r) {
    return atomic_fetch_sub_explicit(&r->n, 1, memory_order_acq_rel) == 1;
}

#endif
