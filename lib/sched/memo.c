/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing; keys and slots live in the arena and die with it. */
#include "sched/memo.h"

#include "base/hash.h"

#include <string.h>

static uint64_t row_hash(const uint64_t *key, uint32_t n) {
    uint64_t h = n;
    for (uint32_t i = 0; i < n; i++) {
        h = gv_mix64(h + key[i] + UINT64_C(0x9e3779b97f4a7c15));
    }
    return h;
}

gv_memo_entry *gv_memo_find(const gv_memo *m, const uint64_t *key, uint32_t n) {
    if (m->n_slots == 0) {
        return NULL;
    }
    uint64_t h = row_hash(key, n);
    for (uint32_t at = (uint32_t)h & (m->n_slots - 1); m->slots[at].key;
         at = (at + 1) & (m->n_slots - 1)) {
        gv_memo_entry *e = &m->slots[at];
        if (e->hash == h && e->n == n && memcmp(e->key, key, n * sizeof *key) == 0) {
            return e;
        }
    }
    return NULL;
}

static void place(gv_memo *m, gv_memo_entry e) {
    uint32_t at = (uint32_t)e.hash & (m->n_slots - 1);
    while (m->slots[at].key) {
        at = (at + 1) & (m->n_slots - 1);
    }
    m->slots[at] = e;
}

bool gv_memo_add(gv_memo *m, const uint64_t *key, uint32_t n, uint32_t value) {
    if (m->used * 2 >= m->n_slots) {
        gv_memo grown = {m->mem, NULL, m->n_slots ? m->n_slots * 2 : 256, m->used};
        grown.slots = gv_arena_array(m->mem, gv_memo_entry, grown.n_slots);
        if (!grown.slots) {
            return false;
        }
        for (uint32_t i = 0; i < m->n_slots; i++) {
            if (m->slots[i].key) {
                place(&grown, m->slots[i]);
            }
        }
        *m = grown;
    }
    uint64_t *copy = gv_arena_alloc(m->mem, (n ? n : 1) * sizeof *copy);
    if (!copy) {
        return false;
    }
    memcpy(copy, key, n * sizeof *copy);
    place(m, (gv_memo_entry){row_hash(key, n), copy, n, value});
    m->used++;
    return true;
}
