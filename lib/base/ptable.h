/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash table of pointers whose keys live in the items themselves: no key copies, no order. For indexes
 * over objects; where iteration order matters, use gv_map or keep a list beside it.
 */
#ifndef GV_BASE_PTABLE_H
#define GV_BASE_PTABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

typedef struct gv_ptable_slot {
    uint64_t hash;
    void *item; /* NULL: free */
} gv_ptable_slot;

typedef struct gv_ptable {
    grove_env *env; /* borrowed */
    gv_ptable_slot *slots;
    uint32_t n_slots; /* 0 or a power of two */
    uint32_t live;
} gv_ptable;

typedef bool (*gv_ptable_eq)(const void *item, const void *key);

void gv_ptable_init(gv_ptable *t, grove_env *env);
void gv_ptable_fini(gv_ptable *t); /* frees the table, not the items */
void *gv_ptable_find(const gv_ptable *t, uint64_t hash, gv_ptable_eq eq, const void *key);
/* Room for `more` further items; afterwards that many adds cannot fail. False: out of memory. */
bool gv_ptable_reserve(gv_ptable *t, uint32_t more);
void gv_ptable_add(gv_ptable *t, uint64_t hash, void *item);
void gv_ptable_remove(gv_ptable *t, uint64_t hash, const void *item); /* absent: nothing */

#endif
