/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States that differ only in how things are called. A uid stands for the how-manieth of those that are in
 * the state of its name (of a pod: of its clique and index), a pod's name for the pod, a time for its place
 * among the times in the state, a generation for its place among those of its object. What the planner
 * computes from uids is put beside: which names of pods it could choose next are taken.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/names.h"

#define MAX_THINGS 96
#define MAX_INDEX 2 /* no scenario has more pods in a clique */

typedef struct thing {
    const content *is;
    uint64_t born, symbol;
    uint32_t ordinal;
} thing;

typedef struct pair {
    uint64_t key, value;
} pair;

typedef struct merger {
    const state *s;
    ranks r;
    thing things[MAX_THINGS];
    pair names[MAX_THINGS]; /* of pods: what they stand for */
    pair generations[2 * MAX_THINGS];
    int64_t times[16];
    pair known[MAX_THINGS * 2]; /* contents hashed already */
    uint32_t n_things, n_names, n_generations, n_times, n_known, n_lost;
} merger;

static uint64_t mix(uint64_t h, uint64_t x) {
    return gv_mix64(h ^ (x + UINT64_C(0x9e3779b97f4a7c15) + (h << 6)));
}

static void room(uint32_t n, size_t cap) {
    if (n >= cap) {
        fprintf(stderr, "model: more than %zu things in a state\n", cap);
        abort();
    }
}

/* ---- what there is ---- */

static void note_time(merger *g, int64_t time) {
    for (uint32_t i = 0; i < g->n_times; i++) {
        if (g->times[i] == time) {
            return;
        }
    }
    room(g->n_times, sizeof g->times / sizeof *g->times);
    g->times[g->n_times++] = time;
}

static void note_generation(merger *g, uint64_t object, uint64_t value) {
    for (uint32_t i = 0; i < g->n_generations; i++) {
        if (g->generations[i].key == object && g->generations[i].value == value) {
            return;
        }
    }
    room(g->n_generations, sizeof g->generations / sizeof *g->generations);
    g->generations[g->n_generations++] = (pair){object, value};
}

static void note_tokens(merger *g, uint64_t object, const shape *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->tokens[i].kind == TOKEN_TIME) {
            note_time(g, (int64_t)s->tokens[i].value);
        } else if (s->tokens[i].kind == TOKEN_GENERATION) {
            note_generation(g, object, s->tokens[i].value);
        }
    }
}

static const thing *find_thing(const merger *g, uint64_t uid_key) {
    for (uint32_t i = 0; i < g->n_things; i++) {
        if (g->things[i].is->uid_key == uid_key) {
            return &g->things[i];
        }
    }
    return NULL;
}

static void note_thing(merger *g, const version *v) {
    if (!find_thing(g, v->is->uid_key)) {
        room(g->n_things, MAX_THINGS);
        g->things[g->n_things++] = (thing){v->is, v->born, 0, 0};
    }
}

static void note_things(merger *g, const version *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        note_tokens(g, list[i].is->uid_key, &list[i].is->shape);
        note_thing(g, &list[i]);
    }
}

/* Of a pod that is gone only the uid is remembered, as long as its clique is there. */
static void note_departed(merger *g) {
    for (uint32_t i = 0; i < g->s->n_departed; i++) {
        if (find_thing(g, g->s->departed[i].is->owner_key)) {
            note_thing(g, &g->s->departed[i]);
        }
    }
}

static void number_things(merger *g) {
    for (uint32_t i = 0; i < g->n_things; i++) {
        thing *t = &g->things[i];
        for (uint32_t k = 0; k < g->n_things; k++) {
            t->ordinal += g->things[k].is->unit == t->is->unit && g->things[k].born < t->born;
        }
        t->symbol = mix(t->is->unit, t->ordinal);
    }
}

static uint64_t symbol_of(const merger *g, uint64_t uid_key) {
    const thing *t = find_thing(g, uid_key);
    return t ? t->symbol : uid_key; /* of something that is gone: as it is */
}

static pair *find_name(merger *g, uint64_t name) {
    for (uint32_t i = 0; i < g->n_names; i++) {
        if (g->names[i].key == name) {
            return &g->names[i];
        }
    }
    return NULL;
}

static void add_name(merger *g, uint64_t name, uint64_t symbol) {
    room(g->n_names, MAX_THINGS);
    g->names[g->n_names++] = (pair){name, symbol};
}

/* Names in documents that are of no pod in the state: by where they come first. */
static void note_lost(merger *g, const shape *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        bool is_name = s->tokens[i].kind == TOKEN_POD || s->tokens[i].kind == TOKEN_MEMBER;
        if (is_name && !find_name(g, s->tokens[i].value)) {
            add_name(g, s->tokens[i].value, mix(13, ++g->n_lost));
        }
    }
}

static void note_lost_of(merger *g, const version *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i].is->kind != GV_KIND_POD) {
            note_lost(g, &list[i].is->shape);
        }
    }
}

static void name_pods(merger *g) {
    const state *s = g->s;
    for (uint32_t i = 0; i < g->n_things; i++) {
        const thing *t = &g->things[i];
        uint64_t name = t->is->kind == GV_KIND_POD ? text_key(t->is->name) : 0;
        pair *p = name ? find_name(g, name) : NULL;
        if (p && t->symbol < p->value) {
            p->value = t->symbol; /* one of them, whichever comes first in the lists */
        } else if (name && !p) {
            add_name(g, name, t->symbol);
        }
    }
    for (uint32_t i = 0; i < s->n_rest; i++) {
        const write *w = s->rest[i];
        if (w->unit && !find_name(g, text_key(w->name))) {
            add_name(g, text_key(w->name), mix(11, w->unit));
        }
    }
    note_lost_of(g, s->stored, s->n_stored);
    note_lost_of(g, s->seen, s->n_seen);
    note_lost_of(g, s->own, s->n_own);
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < s->n_queue; i++) {
            if ((int)s->queue[i].is->kind == kind) {
                note_lost_of(g, &s->queue[i], 1);
            }
        }
    }
    for (uint32_t i = 0; i < s->n_rest; i++) {
        note_lost(g, &s->rest[i]->shape);
    }
}

/* ---- what stands for what ---- */

static uint64_t place_of_time(const merger *g, int64_t time) {
    uint64_t later = 0;
    for (uint32_t i = 0; i < g->n_times; i++) {
        later += g->times[i] > time;
    }
    return later;
}

static uint64_t place_of_generation(const merger *g, uint64_t object, uint64_t value) {
    uint64_t later = 0;
    for (uint32_t i = 0; i < g->n_generations; i++) {
        later += g->generations[i].key == object && g->generations[i].value > value;
    }
    return later;
}

static uint64_t name_symbol(merger *g, uint64_t name) {
    const pair *p = find_name(g, name);
    return p ? p->value : name;
}

static uint64_t shape_hash(merger *g, uint64_t object, const shape *s) {
    uint64_t h = s->hash, listed = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const token *t = &s->tokens[i];
        switch (t->kind) {
        case TOKEN_LIST:
            h = mix(h, listed);
            listed = 0;
            break;
        case TOKEN_MEMBER:
            listed += gv_mix64(name_symbol(g, t->value));
            break;
        case TOKEN_UID:
            h = mix(h, symbol_of(g, t->value));
            break;
        case TOKEN_POD:
            h = mix(h, name_symbol(g, t->value));
            break;
        case TOKEN_TIME:
            h = mix(h, place_of_time(g, (int64_t)t->value));
            break;
        case TOKEN_GENERATION:
            h = mix(h, place_of_generation(g, object, t->value));
            break;
        }
    }
    return mix(h, listed);
}

static uint64_t content_hash(merger *g, const content *c) {
    for (uint32_t i = 0; i < g->n_known; i++) {
        if (g->known[i].key == c->hash) {
            return g->known[i].value;
        }
    }
    room(g->n_known, sizeof g->known / sizeof *g->known);
    g->known[g->n_known++] = (pair){c->hash, shape_hash(g, c->uid_key, &c->shape)};
    return g->known[g->n_known - 1].value;
}

static uint64_t version_hash(merger *g, const version *v) {
    return mix(content_hash(g, v->is) + v->gone, rank_of(&g->r, v->is->key, v->rv));
}

/* In no order: lists are sorted by names. */
static uint64_t list_hash(merger *g, const version *list, uint32_t n) {
    uint64_t sum = n;
    for (uint32_t i = 0; i < n; i++) {
        sum += version_hash(g, &list[i]);
    }
    return gv_mix64(sum);
}

static uint64_t queue_hash(merger *g) {
    uint64_t h = g->s->n_queue;
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) {
        for (uint32_t i = 0; i < g->s->n_queue; i++) {
            if ((int)g->s->queue[i].is->kind == kind) {
                h = mix(h, version_hash(g, &g->s->queue[i]));
            }
        }
    }
    return h;
}

static uint64_t write_hash(merger *g, uint32_t i) {
    const write *w = g->s->rest[i];
    uint64_t uid = text_key(w->uid), rv = rank_of(&g->r, w->key, g->s->rest_rv[i]);
    uint64_t h = mix(shape_hash(g, uid, &w->shape), w->uid[0] ? symbol_of(g, uid) : 0);
    h = mix(mix(h, (uint64_t)w->kind), name_symbol(g, text_key(w->name)));
    h = mix(h, (uint64_t)w->verb << 32 | (uint64_t)w->subresource << 8 | w->needs_rv);
    return mix(h, rv);
}

/* Pods' writes of one order may go in any order. */
static uint64_t rest_hash(merger *g) {
    uint64_t h = g->s->n_rest;
    for (uint32_t i = 0; i < g->s->n_rest;) {
        const write *first = g->s->rest[i];
        uint64_t sum = write_hash(g, i++);
        for (; i < g->s->n_rest && first->kind == GV_KIND_POD &&
               g->s->rest[i]->kind == GV_KIND_POD && g->s->rest[i]->order == first->order;
             i++) {
            sum += write_hash(g, i);
        }
        h = mix(h, sum);
    }
    return h;
}

/* ---- what is computed from names ---- */

static uint64_t name_after(const content *clique, int64_t index, const char *replaces,
                           uint32_t salt) {
    char name[96], letters[6];
    gv_name_pod_suffix(letters, gv_str_c(clique->uid), index, gv_str_c(replaces), salt);
    snprintf(name, sizeof name, "%s-%s", clique->name, letters);
    return text_key(name);
}

/* Names that a pod of this index could get and that are something's already. */
static uint64_t taken_hash(merger *g, const thing *clique, int64_t index) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i <= g->n_things; i++) {
        const thing *t = i < g->n_things ? &g->things[i] : NULL;
        if (t && (t->is->kind != GV_KIND_POD || t->is->index != index ||
                  t->is->owner_key != clique->is->uid_key)) {
            continue;
        }
        for (uint32_t salt = 0; salt < 2; salt++) {
            const pair *p = find_name(g, name_after(clique->is, index, t ? t->is->uid : "", salt));
            sum += p ? mix(mix(t ? t->symbol : 3, p->value), salt) : 0;
        }
    }
    return sum ? mix(mix(clique->symbol, (uint64_t)index), sum) : 0;
}

static uint64_t names_hash(merger *g) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->n_things; i++) {
        const thing *a = &g->things[i];
        for (int64_t index = 0; a->is->kind == GV_KIND_PODCLIQUE && index < MAX_INDEX; index++) {
            sum += taken_hash(g, a, index);
        }
    }
    return sum;
}

/* ---- */

static uint64_t departed_hash(merger *g) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < g->s->n_departed; i++) {
        const content *c = g->s->departed[i].is;
        sum += find_thing(g, c->owner_key)
                   ? mix(symbol_of(g, c->uid_key), symbol_of(g, c->owner_key))
                   : 0;
    }
    return sum;
}

uint64_t merged_hash(const state *s) {
    static merger g; /* large; one thread */
    g.s = s;
    g.n_things = g.n_names = g.n_generations = g.n_times = g.n_known = g.n_lost = 0;
    ranks_of(&g.r, s);
    note_time(&g, s->now);
    note_things(&g, s->stored, s->n_stored);
    note_things(&g, s->seen, s->n_seen);
    note_things(&g, s->own, s->n_own);
    note_things(&g, s->queue, s->n_queue);
    note_departed(&g);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        note_tokens(&g, text_key(s->rest[i]->uid), &s->rest[i]->shape);
    }
    number_things(&g);
    name_pods(&g);
    uint64_t h = mix((uint64_t)s->faults << 32 | s->edits, list_hash(&g, s->stored, s->n_stored));
    h = mix(h, list_hash(&g, s->seen, s->n_seen));
    h = mix(h, list_hash(&g, s->own, s->n_own));
    h = mix(h, queue_hash(&g));
    h = mix(h, rest_hash(&g));
    h = mix(h, departed_hash(&g));
    h = mix(h, names_hash(&g));
    return mix(h, place_of_time(&g, s->now));
}
