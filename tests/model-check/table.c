/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing by 64-bit hashes. */
#include "model.h"

#include <stdlib.h>

static size_t place(const table *t, uint64_t key) {
    size_t at = key & (t->n_slots - 1);
    while (t->slots[at].item && t->slots[at].key != key) {
        at = (at + 1) & (t->n_slots - 1);
    }
    return at;
}

void *table_get(const table *t, uint64_t key) {
    return t->n_slots ? t->slots[place(t, key)].item : NULL;
}

void table_put(table *t, uint64_t key, const void *item) {
    if (2 * t->live >= t->n_slots) {
        table bigger = {.n_slots = t->n_slots ? 2 * t->n_slots : 1024, .live = t->live};
        bigger.slots = zeroed(bigger.n_slots * sizeof *bigger.slots);
        for (size_t i = 0; i < t->n_slots; i++) {
            if (t->slots[i].item) {
                bigger.slots[place(&bigger, t->slots[i].key)] = t->slots[i];
            }
        }
        free(t->slots);
        *t = bigger;
    }
    size_t at = place(t, key);
    t->live += t->slots[at].item == NULL;
    t->slots[at].key = key;
    t->slots[at].item = (void *)(uintptr_t)item;
}

void table_fini(table *t) {
    free(t->slots);
    *t = (table){0};
}
