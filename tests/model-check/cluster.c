/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster of the model: a server's answers to writes, events on their way, and what happens by itself. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "value/scalar.h"

#define START (INT64_C(1800000000) * 1000000000)
#define NS "t"

/* ---- sorted lists ---- */

static bool before(const content *a, const content *b) {
    return a->kind != b->kind ? a->kind < b->kind : strcmp(a->name, b->name) < 0;
}

static void list_put(version *list, uint32_t *n, uint32_t cap, version v) {
    uint32_t i = 0;
    while (i < *n && before(list[i].is, v.is)) {
        i++;
    }
    if (i == *n || list[i].is->key != v.is->key) {
        if (*n == cap) {
            fprintf(stderr, "model: too many objects\n");
            abort();
        }
        memmove(list + i + 1, list + i, (*n - i) * sizeof *list);
        (*n)++;
    }
    list[i] = v;
}

static void list_drop(version *list, uint32_t *n, uint64_t key) {
    for (uint32_t i = 0; i < *n; i++) {
        if (list[i].is->key == key) {
            memmove(list + i, list + i + 1, (*n - i - 1) * sizeof *list);
            (*n)--;
            return;
        }
    }
}

/* ---- what becomes of a content ---- */

static const content *patched(model *m, const content *c, const char *json, uint64_t which) {
    uint64_t key = gv_mix64(c->hash + which);
    const content *next = table_get(&m->changes, key);
    if (!next) {
        next = content_of(m, c->kind, merged(m, grove_doc_ref(c->doc), parsed(m, json)));
        table_put(&m->changes, key, next);
    }
    return next;
}

/* Kinds whose changes nobody but the planner of the same set reads: their events arrive at once. */
static bool is_prompt(gv_kind kind) {
    return kind > GV_KIND_PODGANG && kind != GV_KIND_POD;
}

static void remember_departed(state *s, const version *pod) {
    for (uint32_t i = 0; i < s->n_departed; i++) {
        const content *d = s->departed[i].is;
        if (d->owner_key == pod->is->owner_key && d->index == pod->is->index) {
            list_drop(s->departed, &s->n_departed, d->key);
            break;
        }
    }
    list_put(s->departed, &s->n_departed, MAX_DEPARTED, *pod);
}

/* Of cliques that are nowhere any more the store forgets the pods as well. */
static void forget_departed(state *s, uint64_t clique) {
    for (uint32_t i = s->n_departed; i-- > 0;) {
        if (s->departed[i].is->owner_key == clique) {
            list_drop(s->departed, &s->n_departed, s->departed[i].is->key);
        }
    }
}

static void show(state *s, const version *v) {
    const version *own = find_version(s->own, s->n_own, v->is->key);
    if (own && (v->gone || v->rv >= own->rv)) {
        list_drop(s->own, &s->n_own, v->is->key);
    }
    if (!v->gone) {
        list_put(s->seen, &s->n_seen, MAX_OBJECTS, *v);
        return;
    }
    list_drop(s->seen, &s->n_seen, v->is->key);
    if (v->is->kind == GV_KIND_POD) {
        remember_departed(s, v);
    } else if (v->is->kind == GV_KIND_PODCLIQUE) {
        forget_departed(s, v->is->uid_key);
    }
}

static void tell(model *m, state *s, version v) {
    if (m->lag == 0 || is_prompt(v.is->kind)) {
        show(s, &v);
        return;
    }
    if (s->n_queue == MAX_QUEUE) {
        fprintf(stderr, "model: too many events\n");
        abort();
    }
    s->queue[s->n_queue++] = v;
}

/* Stores the next version of an object. */
static void store(model *m, state *s, const content *c, uint64_t born, bool gone) {
    version v = {.is = c, .rv = ++m->next_rv, .born = born, .gone = gone};
    v.born = born ? born : v.rv;
    if (gone) {
        list_drop(s->stored, &s->n_stored, c->key);
    } else {
        list_put(s->stored, &s->n_stored, MAX_OBJECTS, v);
    }
    tell(m, s, v);
}

static void store_patched(model *m, state *s, const version *v, const char *json, uint64_t which) {
    store(m, s, patched(m, v->is, json, which), v->born, false);
}

enum { LEAVES = 1, IS_SCHEDULED, IS_READY, IS_UNREADY, HAS_FAILED };
#define LEAVING "{metadata: {deletionTimestamp: \"2027-01-15T08:00:00Z\"}}"

/* A bound pod ends in its own time, and what has finalizers waits for them. */
static void begin_end(model *m, state *s, const version *v) {
    const content *c = v->is;
    if (c->held || (c->kind == GV_KIND_POD && c->bound && !c->failed)) {
        if (!c->dying) {
            store_patched(m, s, v, LEAVING, LEAVES);
        }
        return;
    }
    store(m, s, c, v->born, true);
}

/* ---- writes of the controller ---- */

static uint32_t count_birth(state *s, uint64_t key) {
    for (uint32_t i = 0; i < s->n_births; i++) {
        if (s->births[i].key == key) {
            return ++s->births[i].times;
        }
    }
    if (s->n_births == MAX_BORN) {
        fprintf(stderr, "model: too many names\n");
        abort();
    }
    s->births[s->n_births++] = (birth){key, 1};
    return 1;
}

static const content *created(model *m, state *s, gv_kind kind, grove_doc *body, const char *name,
                              uint64_t body_hash) {
    char text[200];
    uint64_t key = object_key(kind, name);
    uint64_t uid = gv_mix64(key + count_birth(s, key));
    uint64_t change = gv_mix64(gv_mix64(body_hash + uid) + (uint64_t)s->now);
    const content *known = table_get(&m->changes, change);
    grove_buf time;
    if (known) {
        return known;
    }
    grove_buf_init(&time, m->env);
    gv_time_format(s->now, &time);
    snprintf(text, sizeof text,
             "{metadata: {namespace: " NS ", uid: \"u%016llx\", generation: 1, creationTimestamp: "
             "\"%s\"}}",
             (unsigned long long)uid, time.data);
    grove_buf_fini(&time);
    known = content_of(m, kind, merged(m, grove_doc_ref(body), parsed(m, text)));
    table_put(&m->changes, change, known);
    return known;
}

static const content refused; /* what a patch makes whose test failed */

static const content *after_patch(model *m, const content *c, const write *w) {
    grove_doc *doc = NULL;
    if (w->patch_type == GROVE_PATCH_JSON) {
        if (grove_json_patch_apply(c->doc, grove_doc_root(c->doc), w->body, grove_doc_root(w->body),
                                   &doc, NULL) < 0) {
            return &refused;
        }
    } else {
        doc = merged(m, grove_doc_ref(c->doc), grove_doc_ref(w->body));
    }
    int64_t generation = 0;
    grove_node_int64(member(c, "/metadata/generation"), &generation);
    if (!grove_node_equal(grove_node_get(grove_doc_root(doc), "spec"), member(c, "/spec"))) {
        char text[64];
        snprintf(text, sizeof text, "{metadata: {generation: %lld}}", (long long)generation + 1);
        doc = merged(m, doc, parsed(m, text));
    }
    return content_of(m, c->kind, doc);
}

static const content *patched_by(model *m, const content *c, const write *w) {
    uint64_t key = gv_mix64(gv_mix64(c->hash) + w->hash);
    const content *next = table_get(&m->changes, key);
    if (!next) {
        next = after_patch(m, c, w);
        table_put(&m->changes, key, next);
    }
    return next;
}

/* A pod is released only when its PodGang lists it: whoever places the gang must know of it. */
static void check_listed(model *m, const state *s, const content *pod) {
    uint64_t key = object_key(GV_KIND_PODGANG, pod->gang);
    const version *gang = find_version(s->stored, s->n_stored, key);
    if (!gang || !is_listed(gang->is, pod->name)) {
        broken(m, "the gate of %s opened, and its stored gang does not list it", pod->name);
    }
}

static bool apply(model *m, state *s, const write *w, uint64_t rv) {
    const version *old = find_version(s->stored, s->n_stored, w->key);
    if (w->verb == GROVE_VERB_CREATE) {
        if (!old) {
            store(m, s, created(m, s, w->kind, w->body, w->name, w->hash), 0, false);
        }
        return !old;
    }
    if (!old || strcmp(old->is->uid, w->uid) != 0 || (rv != 0 && old->rv != rv)) {
        return false;
    }
    if (w->verb == GROVE_VERB_DELETE) {
        begin_end(m, s, old);
        return true;
    }
    const content *next = patched_by(m, old->is, w);
    if (next == &refused) {
        return false;
    }
    if (next == old->is) {
        broken(m, "%s of %s changes nothing", w->reason, w->name);
    }
    if (next->kind == GV_KIND_POD && old->is->gated && !next->gated) {
        check_listed(m, s, next);
    }
    store(m, s, next, old->born, next->dying && !next->held);
    return true;
}

/* What the answer shows: the object as stored, or, of a deletion, as leaving. */
static void hear(model *m, state *s, const write *w) {
    const version *now = find_version(s->stored, s->n_stored, w->key);
    const version *shown = find_version(s->seen, s->n_seen, w->key);
    if (now && (!shown || shown->rv < now->rv)) {
        list_put(s->own, &s->n_own, MAX_OBJECTS, *now);
    } else if (!now && shown && !shown->is->dying) {
        version leaving = {
            .is = patched(m, shown->is, LEAVING, LEAVES), .rv = ++m->next_rv, .born = shown->born};
        list_put(s->own, &s->n_own, MAX_OBJECTS, leaving);
    }
}

bool carry_out(model *m, state *s, const write *w, uint64_t rv, bool heard) {
    bool ok = apply(m, s, w, rv);
    if (ok && heard) {
        hear(m, s, w);
    }
    return ok;
}

/* ---- events ---- */

bool has_event(const state *s, gv_kind kind) {
    for (uint32_t i = 0; i < s->n_queue; i++) {
        if (s->queue[i].is->kind == kind) {
            return true;
        }
    }
    return false;
}

void deliver(state *s, gv_kind kind) {
    uint32_t i = 0;
    while (s->queue[i].is->kind != kind) {
        i++;
    }
    version v = s->queue[i];
    memmove(s->queue + i, s->queue + i + 1, (s->n_queue - i - 1) * sizeof *s->queue);
    s->n_queue--;
    show(s, &v);
}

/* ---- by itself ---- */

static const char scheduled[] = "{spec: {nodeName: n1}, status: {phase: Pending, conditions: ["
                                "{type: PodScheduled, status: \"True\"}]}}";
static const char ready[] =
    "{status: {phase: Running, conditions: [{type: PodScheduled, status: \"True\"}, {type: Ready, "
    "status: \"True\"}], containerStatuses: [{name: c, started: true, ready: true}]}}";
static const char unready[] =
    "{status: {phase: Running, conditions: [{type: PodScheduled, status: \"True\"}, {type: Ready, "
    "status: \"False\"}], containerStatuses: [{name: c, started: true, ready: false}]}}";

static bool is_orphan(const state *s, const content *c) {
    static const char none[] = "";
    for (uint32_t i = 0; i < s->n_stored; i++) {
        if (s->stored[i].is->uid_key == c->owner_key) {
            return false;
        }
    }
    return c->owner_key != text_key(none);
}

bool happen(model *m, state *s, uint32_t i) {
    version v = s->stored[i];
    const content *c = v.is;
    if (!c->dying && is_orphan(s, c)) {
        begin_end(m, s, &v);
        return true;
    }
    if (c->kind != GV_KIND_POD || c->failed) {
        return false;
    }
    if (c->dying) {
        store(m, s, c, v.born, true);
        return true;
    }
    if (c->gated || c->ready) {
        return false;
    }
    store_patched(m, s, &v, c->bound ? ready : scheduled, c->bound ? IS_READY : IS_SCHEDULED);
    return true;
}

bool hurt(model *m, state *s, uint32_t i, int how) {
    version v = s->stored[i];
    if (v.is->kind != GV_KIND_POD || !pod_is_active(v.is) || !v.is->bound) {
        return false;
    }
    if (how == 0) {
        store_patched(m, s, &v, "{status: {phase: Failed, conditions: []}}", HAS_FAILED);
    } else if (how == 1 && v.is->ready) {
        store_patched(m, s, &v, unready, IS_UNREADY);
    } else if (how == 2) {
        begin_end(m, s, &v);
    } else {
        return false;
    }
    return true;
}

/* "KIND NAME JSON", or "KIND NAME delete". */
bool edit(model *m, state *s) {
    const char *text = m->what->edits ? m->what->edits[s->edits] : NULL;
    char kind[64], name[64];
    int at = 0;
    if (!text || sscanf(text, "%63s %63s %n", kind, name, &at) != 2) {
        return false;
    }
    gv_kind k = strcmp(kind, "pcs") == 0    ? GV_KIND_PODCLIQUESET
                : strcmp(kind, "pcsg") == 0 ? GV_KIND_PODCLIQUESCALINGGROUP
                                            : GV_KIND_PODCLIQUE;
    const version *old = find_version(s->stored, s->n_stored, object_key(k, name));
    if (!old) {
        return false; /* not there yet */
    }
    version v = *old;
    s->edits++;
    if (strcmp(text + at, "delete") == 0) {
        begin_end(m, s, &v);
        return true;
    }
    write w = {.verb = GROVE_VERB_PATCH,
               .patch_type = GROVE_PATCH_MERGE,
               .hash = text_key(text),
               .body = parsed(m, text + at)};
    store(m, s, patched_by(m, v.is, &w), v.born, false);
    grove_doc_unref(w.body);
    return true;
}

/* ---- the controller ends ---- */

void restart(state *s, bool standby) {
    s->n_rest = s->n_own = 0;
    if (standby) {
        return; /* its caches are as old as the events that are still on their way */
    }
    s->n_departed = s->n_queue = 0;
    s->n_seen = s->n_stored;
    memcpy(s->seen, s->stored, s->n_stored * sizeof *s->stored);
}

state *initial_state(model *m, uint32_t faults) {
    state *s = zeroed(sizeof *s);
    s->now = START;
    s->faults = faults;
    grove_doc *doc = parsed(m, m->what->set);
    store(m, s, created(m, s, GV_KIND_PODCLIQUESET, doc, "s", 1), 0, false);
    grove_doc_unref(doc);
    while (s->n_queue) {
        deliver(s, s->queue[0].is->kind);
    }
    return s;
}
