/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from text to pointer that iterates in the order of insertion, so that nothing that is
 * computed from a map depends on a hash seed. Keys are copied; values are the caller's.
 */
#ifndef GV_BASE_MAP_H
#define GV_BASE_MAP_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/text.h"

typedef struct gv_map_entry {
    char *key; /* NUL-terminated copy; NULL: removed */
    size_t key_len;
    uint64_t hash;
    void *value;
} gv_map_entry;

typedef struct gv_map {
    grove_env *env; /* borrowed */
    gv_map_entry *entries;
    uint32_t n_entries, cap_entries; /* removed ones included */
    uint32_t live;
    uint32_t *slots; /* index + 1 into entries */
    uint32_t n_slots;
} gv_map;

void gv_map_init(gv_map *m, grove_env *env);
void gv_map_fini(gv_map *m);
void gv_map_clear(gv_map *m);
void *gv_map_get(const gv_map *m, gv_str key); /* NULL: absent */
bool gv_map_has(const gv_map *m, gv_str key);
bool gv_map_put(gv_map *m, gv_str key, void *value); /* replaces; false: out of memory */
void *gv_map_remove(gv_map *m, gv_str key); /* the value that was there; keeps the others' order */
static inline uint32_t gv_map_size(const gv_map *m) {
    return m->live;
}
/* Iteration: for (uint32_t i = 0; (e = gv_map_next(m, &i));) ... ; the current entry may be removed. */
gv_map_entry *gv_map_next(const gv_map *m, uint32_t *i);

#endif
