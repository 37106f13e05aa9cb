/* SPDX-License-Identifier: Apache-2.0 */
/* A table from short rows of words to a number, compared in full: a collision can never answer wrongly. */
#ifndef GV_SCHED_MEMO_H
#define GV_SCHED_MEMO_H

#include <stdint.h>

#include "base/arena.h"

typedef struct gv_memo_entry {
    uint64_t hash;
    const uint64_t *key;
    uint32_t n;
    uint32_t value;
} gv_memo_entry;

typedef struct gv_memo {
    gv_arena *mem;
    gv_memo_entry *slots;
    uint32_t n_slots, used;
} gv_memo;

static inline void gv_memo_init(gv_memo *m, gv_arena *mem) {
    *m = (gv_memo){mem, NULL, 0, 0};
}
/* The entry of the key, or NULL. */
gv_memo_entry *gv_memo_find(const gv_memo *m, const uint64_t *key, uint32_t n);
/* Adds a key that is not there; false: out of memory. */
bool gv_memo_add(gv_memo *m, const uint64_t *key, uint32_t n, uint32_t value);

#endif
