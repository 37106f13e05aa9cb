/* SPDX-License-Identifier: Apache-2.0 */
/* Counted shared texts: the count and the length stand in front of the bytes. */
#include "model/intern.h"

#include <stddef.h>

#include "base/hash.h"

typedef struct entry {
    uint64_t hash;
    uint32_t refs;
    uint32_t len;
    char text[];
} entry;

/* The empty text is the commonest value (no node yet, no base gang): it is never counted. */
static const char empty_text[1] = "";

static entry *entry_of(const char *text) {
    /* The pool hands out pointers to const; behind them the count is its own to change. */
    return (entry *)((uintptr_t)text - offsetof(entry, text));
}

static size_t entry_bytes(size_t len) {
    return offsetof(entry, text) + len + 1;
}

static bool entry_is(const void *item, const void *key) {
    const entry *e = item;
    const gv_str *s = key;
    return e->len == s->n && memcmp(e->text, s->p, s->n) == 0;
}

void gv_intern_init(gv_intern *pool, grove_env *env) {
    pool->env = env;
    pool->bytes = 0;
    gv_ptable_init(&pool->table, env);
}

void gv_intern_fini(gv_intern *pool) {
    for (uint32_t i = 0; i < pool->table.n_slots; i++) {
        entry *e = pool->table.slots[i].item;
        if (e != NULL) {
            gv_free(pool->env, e, entry_bytes(e->len));
        }
    }
    gv_ptable_fini(&pool->table);
    pool->bytes = 0;
}

const char *gv_intern_find(const gv_intern *pool, gv_str text) {
    if (text.n == 0) {
        return empty_text;
    }
    const entry *e = gv_ptable_find(&pool->table, gv_fnv1a(GV_FNV_START, text.p, text.n), entry_is,
                                    &text);
    return e ? e->text : NULL;
}

const char *gv_intern_take(gv_intern *pool, gv_str text) {
    if (text.n == 0) {
        return empty_text;
    }
    uint64_t hash = gv_fnv1a(GV_FNV_START, text.p, text.n);
    entry *e = gv_ptable_find(&pool->table, hash, entry_is, &text);
    if (e != NULL) {
        e->refs++;
        return e->text;
    }
    if (text.n > UINT32_MAX / 2 || !gv_ptable_reserve(&pool->table, 1)) {
        return NULL;
    }
    e = gv_alloc(pool->env, entry_bytes(text.n));
    if (e == NULL) {
        return NULL;
    }
    e->hash = hash;
    e->refs = 1;
    e->len = (uint32_t)text.n;
    memcpy(e->text, text.p, text.n);
    e->text[text.n] = '\0';
    pool->bytes += entry_bytes(text.n);
    gv_ptable_add(&pool->table, hash, e);
    return e->text;
}

const char *gv_intern_again(const char *text) {
    if (text != NULL && text[0] != '\0') {
        entry_of(text)->refs++;
    }
    return text;
}

void gv_intern_give(gv_intern *pool, const char *text) {
    if (text == NULL || text[0] == '\0') {
        return;
    }
    entry *e = entry_of(text);
    if (--e->refs > 0) {
        return;
    }
    gv_ptable_remove(&pool->table, e->hash, e);
    pool->bytes -= entry_bytes(e->len);
    gv_free(pool->env, e, entry_bytes(e->len));
}

size_t gv_intern_len(const char *text) {
    return text == NULL || text[0] == '\0' ? 0 : entry_of(text)->len;
}
