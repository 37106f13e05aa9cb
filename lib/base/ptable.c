/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing with backward-shift removal: no tombstones, so that churn leaves no trace. */
#include "base/ptable.h"

#include "base/hash.h"

#define FIRST_SLOTS 16u

void gv_ptable_init(gv_ptable *t, grove_env *env) {
    *t = (gv_ptable){.env = env};
}

void gv_ptable_fini(gv_ptable *t) {
    gv_free(t->env, t->slots, sizeof *t->slots * t->n_slots);
    *t = (gv_ptable){.env = t->env};
}

static uint32_t home(const gv_ptable *t, uint64_t hash) {
    return (uint32_t)gv_mix64(hash) & (t->n_slots - 1);
}

void *gv_ptable_find(const gv_ptable *t, uint64_t hash, gv_ptable_eq eq, const void *key) {
    if (t->live == 0) {
        return NULL;
    }
    for (uint32_t i = home(t, hash); t->slots[i].item != NULL; i = (i + 1) & (t->n_slots - 1)) {
        if (t->slots[i].hash == hash && eq(t->slots[i].item, key)) {
            return t->slots[i].item;
        }
    }
    return NULL;
}

static void place(gv_ptable *t, uint64_t hash, void *item) {
    uint32_t i = home(t, hash);
    while (t->slots[i].item != NULL) {
        i = (i + 1) & (t->n_slots - 1);
    }
    t->slots[i] = (gv_ptable_slot){.hash = hash, .item = item};
}

bool gv_ptable_reserve(gv_ptable *t, uint32_t more) {
    uint64_t want = (uint64_t)t->live + more;
    uint64_t slots = t->n_slots ? t->n_slots : FIRST_SLOTS;
    while (want * 4 > slots * 3) {
        slots *= 2;
    }
    if (slots == t->n_slots) {
        return true;
    }
    if (slots > UINT32_MAX / 2) {
        return false;
    }
    gv_ptable bigger = {.env = t->env, .n_slots = (uint32_t)slots, .live = t->live};
    bigger.slots = gv_zalloc(t->env, sizeof *bigger.slots * (size_t)slots);
    if (bigger.slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < t->n_slots; i++) {
        if (t->slots[i].item != NULL) {
            place(&bigger, t->slots[i].hash, t->slots[i].item);
        }
    }
    gv_free(t->env, t->slots, sizeof *t->slots * t->n_slots);
    *t = bigger;
    return true;
}

void gv_ptable_add(gv_ptable *t, uint64_t hash, void *item) {
    place(t, hash, item);
    t->live++;
}

void gv_ptable_remove(gv_ptable *t, uint64_t hash, const void *item) {
    if (t->live == 0) {
        return;
    }
    uint32_t mask = t->n_slots - 1;
    uint32_t hole = home(t, hash);
    while (t->slots[hole].item != item) {
        if (t->slots[hole].item == NULL) {
            return;
        }
        hole = (hole + 1) & mask;
    }
    t->live--;
    /* Move back whatever sits further on only because the hole was taken. */
    for (uint32_t i = (hole + 1) & mask; t->slots[i].item != NULL; i = (i + 1) & mask) {
        uint32_t wish = home(t, t->slots[i].hash);
        if (((i - wish) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole] = (gv_ptable_slot){0};
}
