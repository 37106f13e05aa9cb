/* SPDX-License-Identifier: Apache-2.0 */
/* Insertion-ordered hash map: an array of entries and an open-addressed index into it. */
#include "base/map.h"

#include <string.h>

#include "base/hash.h"

void gv_map_init(gv_map *m, grove_env *env) {
    *m = (gv_map){.env = env};
}

void gv_map_clear(gv_map *m) {
    for (uint32_t i = 0; i < m->n_entries; i++) {
        gv_free(m->env, m->entries[i].key, m->entries[i].key_len + 1);
    }
    m->n_entries = m->live = 0;
    if (m->n_slots > 0) {
        memset(m->slots, 0, m->n_slots * sizeof *m->slots);
    }
}

void gv_map_fini(gv_map *m) {
    if (!m->env) {
        return;
    }
    gv_map_clear(m);
    gv_free(m->env, m->entries, m->cap_entries * sizeof *m->entries);
    gv_free(m->env, m->slots, m->n_slots * sizeof *m->slots);
    gv_map_init(m, m->env);
}

static uint64_t hash_key(gv_str key) {
    return gv_mix64(gv_fnv1a(GV_FNV_START, key.p, key.n));
}

static gv_map_entry *find(const gv_map *m, gv_str key) {
    if (m->live == 0) {
        return NULL;
    }
    const uint64_t hash = hash_key(key);
    const uint32_t mask = m->n_slots - 1;
    for (uint32_t s = (uint32_t)hash & mask; m->slots[s] != 0; s = (s + 1) & mask) {
        gv_map_entry *e = &m->entries[m->slots[s] - 1];
        if (e->key && e->hash == hash && gv_str_eq((gv_str){e->key, e->key_len}, key)) {
            return e;
        }
    }
    return NULL;
}

void *gv_map_get(const gv_map *m, gv_str key) {
    const gv_map_entry *e = find(m, key);
    return e ? e->value : NULL;
}

bool gv_map_has(const gv_map *m, gv_str key) {
    return find(m, key) != NULL;
}

static void index_entry(gv_map *m, uint32_t i) {
    const uint32_t mask = m->n_slots - 1;
    uint32_t s = (uint32_t)m->entries[i].hash & mask;
    while (m->slots[s] != 0) {
        s = (s + 1) & mask;
    }
    m->slots[s] = i + 1;
}

/* Squeezes removed entries out (the order stays) and indexes anew. */
static void rebuild_index(gv_map *m) {
    memset(m->slots, 0, m->n_slots * sizeof *m->slots);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->n_entries; i++) {
        if (m->entries[i].key) {
            m->entries[kept] = m->entries[i];
            index_entry(m, kept++);
        }
    }
    m->n_entries = kept;
}

static bool make_room(gv_map *m) {
    if (m->n_entries < m->cap_entries) {
        return true;
    }
    if (m->live < m->cap_entries - m->cap_entries / 4) { /* enough removed ones to reuse */
        rebuild_index(m);
        return true;
    }
    uint32_t cap = m->cap_entries ? m->cap_entries * 2 : 8;
    if (cap > UINT32_MAX / 4) {
        return false;
    }
    uint32_t *slots = gv_alloc(m->env, (size_t)cap * 2 * sizeof *slots);
    gv_map_entry *entries = slots ? gv_realloc(m->env, m->entries, m->cap_entries * sizeof *entries,
                                               cap * sizeof *entries)
                                  : NULL;
    if (!entries) {
        gv_free(m->env, slots, (size_t)cap * 2 * sizeof *slots);
        return false;
    }
    gv_free(m->env, m->slots, m->n_slots * sizeof *m->slots);
    m->entries = entries;
    m->cap_entries = cap;
    m->slots = slots;
    m->n_slots = cap * 2;
    rebuild_index(m);
    return true;
}

bool gv_map_put(gv_map *m, gv_str key, void *value) {
    gv_map_entry *e = find(m, key);
    if (e) {
        e->value = value;
        return true;
    }
    if (!make_room(m)) {
        return false;
    }
    char *copy = gv_alloc(m->env, key.n + 1);
    if (!copy) {
        return false;
    }
    if (key.n > 0) {
        memcpy(copy, key.p, key.n);
    }
    copy[key.n] = '\0';
    m->entries[m->n_entries] = (gv_map_entry){copy, key.n, hash_key(key), value};
    index_entry(m, m->n_entries++);
    m->live++;
    return true;
}

void *gv_map_remove(gv_map *m, gv_str key) {
    gv_map_entry *e = find(m, key);
    if (!e) {
        return NULL;
    }
    gv_free(m->env, e->key, e->key_len + 1);
    e->key = NULL; /* its slot keeps pointing here, so that probing goes on behind it */
    m->live--;
    return e->value;
}

gv_map_entry *gv_map_next(const gv_map *m, uint32_t *i) {
    while (*i < m->n_entries) {
        gv_map_entry *e = &m->entries[(*i)++];
        if (e->key) {
            return e;
        }
    }
    return NULL;
}
