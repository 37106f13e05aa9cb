/* SPDX-License-Identifier: Apache-2.0 */
/* States: copied, and told apart as they are. */
#include "model.h"

#include <stdlib.h>

#include "base/hash.h"

state *state_copy(const state *s) {
    state *c = malloc(sizeof *c);
    if (!c) {
        abort();
    }
    *c = *s;
    return c;
}

/* ---- resourceVersions: only their order within an object counts ---- */

static void note(ranks *r, uint64_t key, uint64_t rv) {
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->v[i].key == key && r->v[i].rv == rv) {
            return;
        }
    }
    r->v[r->n].key = key;
    r->v[r->n++].rv = rv;
}

static void note_all(ranks *r, const version *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        note(r, list[i].is->key, list[i].rv);
    }
}

void ranks_of(ranks *r, const state *s) {
    r->n = 0;
    note_all(r, s->stored, s->n_stored);
    note_all(r, s->seen, s->n_seen);
    note_all(r, s->own, s->n_own);
    note_all(r, s->queue, s->n_queue);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        note(r, s->rest[i]->key, s->rest_rv[i]);
    }
}

uint64_t rank_of(const ranks *r, uint64_t key, uint64_t rv) {
    uint64_t later = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        later += r->v[i].key == key && r->v[i].rv > rv;
    }
    return later;
}

/* ---- the hash ---- */

static void put(uint64_t *h, uint64_t x) {
    *h = gv_mix64(*h ^ (x + UINT64_C(0x9e3779b97f4a7c15) + (*h << 6)));
}

static void put_all(uint64_t *h, const ranks *r, const version *list, uint32_t n) {
    put(h, n);
    for (uint32_t i = 0; i < n; i++) {
        put(h, list[i].is->key);
        put(h, list[i].is->hash + list[i].gone);
        put(h, rank_of(r, list[i].is->key, list[i].rv));
    }
}

static void put_queue(uint64_t *h, const ranks *r, const state *s) {
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) { /* between kinds there is no order */
        for (uint32_t i = 0; i < s->n_queue; i++) {
            if ((int)s->queue[i].is->kind == kind) {
                put_all(h, r, &s->queue[i], 1);
            }
        }
    }
}

uint64_t state_hash(const state *s) {
    ranks r;
    uint64_t h = 1, births = 0; /* a set: in no order */
    ranks_of(&r, s);
    put_all(&h, &r, s->stored, s->n_stored);
    put_all(&h, &r, s->seen, s->n_seen);
    put_all(&h, &r, s->own, s->n_own);
    put_queue(&h, &r, s);
    put(&h, s->n_rest);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        put(&h, s->rest[i]->hash);
        put(&h, rank_of(&r, s->rest[i]->key, s->rest_rv[i]));
    }
    put(&h, s->n_departed);
    for (uint32_t i = 0; i < s->n_departed; i++) {
        put(&h, s->departed[i].is->key);
        put(&h, s->departed[i].is->uid_key);
    }
    for (uint32_t i = 0; i < s->n_births; i++) {
        births += gv_mix64(s->births[i].key + s->births[i].times);
    }
    put(&h, births);
    put(&h, (uint64_t)s->faults << 32 | s->edits);
    put(&h, (uint64_t)s->now);
    return h;
}
