/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, writes and states: counting, copying, and the hash by which two states are the same. */
#include "model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/view.h"

version *version_ref(version *v) {
    v->refs++;
    return v;
}

void version_unref(version *v) {
    if (v && --v->refs == 0) {
        grove_doc_unref(v->doc);
        free(v);
    }
}

write *write_ref(write *w) {
    w->refs++;
    return w;
}

void write_unref(write *w) {
    if (w && --w->refs == 0) {
        grove_doc_unref(w->body);
        free(w);
    }
}

static void ref_all(version **list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        version_ref(list[i]);
    }
}

static void unref_all(version **list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        version_unref(list[i]);
    }
}

state *state_copy(const state *s) {
    state *c = malloc(sizeof *c);
    if (!c) {
        abort();
    }
    *c = *s;
    ref_all(c->stored, c->n_stored);
    ref_all(c->seen, c->n_seen);
    ref_all(c->own, c->n_own);
    ref_all(c->departed, c->n_departed);
    ref_all(c->queue, c->n_queue);
    for (uint32_t i = 0; i < c->n_rest; i++) {
        write_ref(c->rest[i]);
    }
    return c;
}

void state_free(state *s) {
    unref_all(s->stored, s->n_stored);
    unref_all(s->seen, s->n_seen);
    unref_all(s->own, s->n_own);
    unref_all(s->departed, s->n_departed);
    unref_all(s->queue, s->n_queue);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        write_unref(s->rest[i]);
    }
    free(s);
}

uint64_t object_key(gv_kind kind, const char *name) {
    return gv_mix64(gv_fnv1a((uint64_t)kind + 1, name, strlen(name)));
}

const grove_node *member(const version *v, const char *pointer) {
    return v ? grove_node_at_path(grove_doc_root(v->doc), pointer) : NULL;
}

const char *text_of(const version *v, const char *pointer) {
    const char *t = grove_node_text(member(v, pointer));
    return t ? t : "";
}

version *find_version(version *const *list, uint32_t n, uint64_t key) {
    for (uint32_t i = 0; i < n; i++) {
        if (list[i]->key == key) {
            return list[i];
        }
    }
    return NULL;
}

void broken(model *m, const char *fmt, ...) {
    va_list ap;
    if (m->broken[0] == '\0') {
        va_start(ap, fmt);
        vsnprintf(m->broken, sizeof m->broken, fmt, ap);
        va_end(ap);
    }
}

bool pod_is_active(const version *pod) {
    const char *phase = text_of(pod, "/status/phase");
    return !member(pod, "/metadata/deletionTimestamp") && strcmp(phase, "Failed") != 0;
}

bool pod_is_ready(const version *pod) {
    const grove_node *c = gv_condition_find(member(pod, "/status/conditions"), "Ready");
    const char *status = grove_node_text(grove_node_get(c, "status"));
    return status && strcmp(status, "True") == 0;
}

bool pod_is_gated(const version *pod) {
    return grove_node_size(member(pod, "/spec/schedulingGates")) > 0;
}

/* ---- the hash of a state ---- */

typedef struct seen_rv {
    uint64_t key, rv;
} seen_rv;

typedef struct hasher {
    seen_rv rvs[6 * MAX_OBJECTS];
    uint32_t n;
    uint64_t h;
} hasher;

static void put(hasher *h, uint64_t x) {
    h->h = gv_mix64(h->h ^ (x + UINT64_C(0x9e3779b97f4a7c15) + (h->h << 6)));
}

static void note(hasher *h, uint64_t key, uint64_t rv) {
    h->rvs[h->n++] = (seen_rv){key, rv};
}

static void note_all(hasher *h, version *const *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        note(h, list[i]->key, list[i]->rv);
    }
}

/* How many versions of the object that play a part are later: what is left of a resourceVersion. */
static uint64_t rank(const hasher *h, uint64_t key, uint64_t rv) {
    uint64_t later = 0, last = rv;
    for (;;) {
        uint64_t next = UINT64_MAX;
        for (uint32_t i = 0; i < h->n; i++) {
            if (h->rvs[i].key == key && h->rvs[i].rv > last && h->rvs[i].rv < next) {
                next = h->rvs[i].rv;
            }
        }
        if (next == UINT64_MAX) {
            return later;
        }
        later++;
        last = next;
    }
}

static void put_all(hasher *h, version *const *list, uint32_t n) {
    put(h, n);
    for (uint32_t i = 0; i < n; i++) {
        put(h, list[i]->key);
        put(h, list[i]->content + list[i]->gone);
        put(h, rank(h, list[i]->key, list[i]->rv));
    }
}

static void put_queue(hasher *h, const state *s) {
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) { /* between kinds there is no order */
        for (uint32_t i = 0; i < s->n_queue; i++) {
            if ((int)s->queue[i]->kind == kind) {
                put_all(h, &s->queue[i], 1);
            }
        }
    }
}

uint64_t state_hash(const state *s) {
    hasher h = {.n = 0, .h = 1};
    note_all(&h, s->stored, s->n_stored);
    note_all(&h, s->seen, s->n_seen);
    note_all(&h, s->own, s->n_own);
    note_all(&h, s->queue, s->n_queue);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        note(&h, s->rest[i]->key, s->rest_rv[i]);
    }
    put_all(&h, s->stored, s->n_stored);
    put_all(&h, s->seen, s->n_seen);
    put_all(&h, s->own, s->n_own);
    put_queue(&h, s);
    put(&h, s->n_rest);
    for (uint32_t i = 0; i < s->n_rest; i++) {
        put(&h, s->rest[i]->content);
        put(&h, rank(&h, s->rest[i]->key, s->rest_rv[i]));
    }
    put(&h, s->n_departed);
    for (uint32_t i = 0; i < s->n_departed; i++) {
        put(&h, s->departed[i]->key);
    }
    uint64_t births = 0; /* a set: in no order */
    for (uint32_t i = 0; i < s->n_births; i++) {
        births += gv_mix64(s->births[i].key + s->births[i].times);
    }
    put(&h, births);
    put(&h, (uint64_t)s->faults << 32 | s->edits);
    put(&h, (uint64_t)s->now);
    return h.h;
}
