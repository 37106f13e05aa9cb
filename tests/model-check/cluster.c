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

static void must(grove_status st, const char *what) {
    if (st < 0) {
        fprintf(stderr, "model: %s: %s\n", what, grove_status_name(st));
        abort();
    }
}

static grove_doc *parse(model *m, const char *text) {
    grove_doc *doc = NULL;
    must(grove_doc_parse_yaml(m->env, text, strlen(text), 0, &doc, NULL), text);
    return doc;
}

static grove_doc *merge(grove_doc *doc, grove_doc *patch) {
    grove_doc *out = NULL;
    must(
        grove_merge_patch_apply(doc, grove_doc_root(doc), patch, grove_doc_root(patch), &out, NULL),
        "merge");
    return out;
}

/* doc with a few more members; takes doc over. */
static grove_doc *with(model *m, grove_doc *doc, const char *json) {
    grove_doc *patch = parse(m, json), *out = merge(doc, patch);
    grove_doc_unref(patch);
    grove_doc_unref(doc);
    return out;
}

/* ---- sorted lists ---- */

static bool before(const version *a, const version *b) {
    return a->kind != b->kind ? a->kind < b->kind : strcmp(a->name, b->name) < 0;
}

static void list_put(version **list, uint32_t *n, uint32_t cap, version *v) {
    uint32_t i = 0;
    while (i < *n && before(list[i], v)) {
        i++;
    }
    if (i < *n && list[i]->key == v->key) {
        version_unref(list[i]);
    } else {
        if (*n == cap) {
            fprintf(stderr, "model: too many objects\n");
            abort();
        }
        memmove(list + i + 1, list + i, (*n - i) * sizeof *list);
        (*n)++;
    }
    list[i] = version_ref(v);
}

static void list_drop(version **list, uint32_t *n, uint64_t key) {
    for (uint32_t i = 0; i < *n; i++) {
        if (list[i]->key == key) {
            version_unref(list[i]);
            memmove(list + i, list + i + 1, (*n - i - 1) * sizeof *list);
            (*n)--;
            return;
        }
    }
}

/* ---- versions ---- */

static uint64_t hash_of(model *m, const grove_node *node) {
    grove_buf b;
    grove_buf_init(&b, m->env);
    must(grove_node_write_json(node, GROVE_WRITE_CANONICAL, &b, NULL), "write");
    uint64_t h = gv_mix64(gv_fnv1a(GV_FNV_START, b.data, b.len));
    grove_buf_fini(&b);
    return h;
}

/* Takes doc over. */
static version *version_new(model *m, gv_kind kind, grove_doc *doc) {
    version *v = calloc(1, sizeof *v);
    char text[64];
    if (!v) {
        abort();
    }
    doc = with(m, doc, "{metadata: {resourceVersion: null}}");
    v->content = hash_of(m, grove_doc_root(doc));
    for (const grove_node *n = grove_node_first(grove_doc_root(doc)); n;
         n = grove_node_next(grove_doc_root(doc), n)) {
        bool status = strcmp(grove_node_key(n, NULL), "status") == 0;
        bool metadata = strcmp(grove_node_key(n, NULL), "metadata") == 0;
        v->wanted += status || metadata ? 0 : hash_of(m, n);
    }
    static const char *const meta[] = {"/metadata/labels", "/metadata/annotations",
                                       "/metadata/finalizers", "/metadata/uid",
                                       "/metadata/deletionTimestamp"};
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++) {
        const grove_node *n = grove_node_at_path(grove_doc_root(doc), meta[i]);
        v->wanted = gv_mix64(v->wanted + (n ? hash_of(m, n) : i));
    }
    v->refs = 1;
    v->kind = kind;
    v->rv = ++m->next_rv;
    snprintf(text, sizeof text, "{metadata: {resourceVersion: \"%llu\"}}",
             (unsigned long long)v->rv);
    v->doc = with(m, doc, text);
    v->name = grove_node_text(member(v, "/metadata/name"));
    v->uid = grove_node_text(member(v, "/metadata/uid"));
    v->key = object_key(kind, v->name);
    return v;
}

/* Kinds whose changes nobody but the planner of the same set reads: their events arrive at once. */
static bool is_prompt(gv_kind kind) {
    return kind > GV_KIND_PODGANG && kind != GV_KIND_POD;
}

static void tell(model *m, state *s, version *v) {
    if (m->lag == 0 || is_prompt(v->kind)) {
        if (v->gone) {
            list_drop(s->seen, &s->n_seen, v->key);
        } else {
            list_put(s->seen, &s->n_seen, MAX_OBJECTS, v);
        }
        list_drop(s->own, &s->n_own, v->key);
        return;
    }
    if (s->n_queue == MAX_QUEUE) {
        fprintf(stderr, "model: too many events\n");
        abort();
    }
    s->queue[s->n_queue++] = version_ref(v);
}

/* Stores the next version of an object; takes v over. */
static void store(model *m, state *s, version *v) {
    if (v->gone) {
        list_drop(s->stored, &s->n_stored, v->key);
    } else {
        list_put(s->stored, &s->n_stored, MAX_OBJECTS, v);
    }
    tell(m, s, v);
    version_unref(v);
}

static version *changed(model *m, const version *v, grove_doc *doc) {
    return version_new(m, v->kind, doc);
}

static void store_merge(model *m, state *s, const version *v, const char *json) {
    store(m, s, changed(m, v, with(m, grove_doc_ref(v->doc), json)));
}

static bool is_held(const version *v) {
    return grove_node_size(member(v, "/metadata/finalizers")) > 0;
}

/* A bound pod ends in its own time, and what has finalizers waits for them. */
static void begin_end(model *m, state *s, version *v) {
    bool bound = v->kind == GV_KIND_POD && text_of(v, "/spec/nodeName")[0] != '\0' &&
                 strcmp(text_of(v, "/status/phase"), "Failed") != 0;
    if (is_held(v) || bound) {
        if (!member(v, "/metadata/deletionTimestamp")) {
            store_merge(m, s, v, "{metadata: {deletionTimestamp: \"2027-01-15T08:00:00Z\"}}");
        }
        return;
    }
    version *last = changed(m, v, grove_doc_ref(v->doc));
    last->gone = true;
    store(m, s, last);
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
    s->births[s->n_births++] = (born){key, 1};
    return 1;
}

static version *create(model *m, state *s, gv_kind kind, grove_doc *body, const char *name) {
    char text[200];
    uint64_t key = object_key(kind, name);
    uint64_t uid = gv_mix64(key + count_birth(s, key));
    grove_buf time;
    grove_buf_init(&time, m->env);
    gv_time_format(s->now, &time);
    snprintf(text, sizeof text,
             "{metadata: {namespace: " NS ", uid: \"u%016llx\", generation: 1, creationTimestamp: "
             "\"%s\"}}",
             (unsigned long long)uid, time.data);
    grove_buf_fini(&time);
    return version_new(m, kind, with(m, grove_doc_ref(body), text));
}

static grove_doc *patched(model *m, const version *v, const write *w) {
    grove_doc *doc = NULL;
    if (w->patch_type == GROVE_PATCH_JSON) {
        if (grove_json_patch_apply(v->doc, grove_doc_root(v->doc), w->body, grove_doc_root(w->body),
                                   &doc, NULL) < 0) {
            return NULL; /* its test failed */
        }
    } else {
        doc = merge(v->doc, w->body);
    }
    int64_t generation = 0;
    grove_node_int64(member(v, "/metadata/generation"), &generation);
    if (!grove_node_equal(grove_node_get(grove_doc_root(doc), "spec"), member(v, "/spec"))) {
        char text[64];
        snprintf(text, sizeof text, "{metadata: {generation: %lld}}", (long long)generation + 1);
        doc = with(m, doc, text);
    }
    return doc;
}

/* A pod is released only when its PodGang lists it: whoever places the gang must know of it. */
static void check_listed(model *m, const state *s, const version *pod) {
    const version *gang = find_version(
        s->stored, s->n_stored,
        object_key(GV_KIND_PODGANG, text_of(pod, "/metadata/labels/grove.io~1podgang")));
    const grove_node *groups = member(gang, "/spec/podgroups");
    for (const grove_node *g = grove_node_first(groups); g; g = grove_node_next(groups, g)) {
        const grove_node *list = grove_node_get(g, "podReferences");
        for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
            const char *name = grove_node_text(grove_node_get(r, "name"));
            if (name && strcmp(name, pod->name) == 0) {
                return;
            }
        }
    }
    broken(m, "the gate of %s opened, and its stored gang does not list it", pod->name);
}

static bool apply(model *m, state *s, const write *w, uint64_t rv) {
    version *old = find_version(s->stored, s->n_stored, w->key);
    if (w->verb == GROVE_VERB_CREATE) {
        if (!old) {
            store(m, s, create(m, s, w->kind, w->body, w->name));
        }
        return !old;
    }
    if (!old || strcmp(old->uid, w->uid) != 0 || (rv != 0 && old->rv != rv)) {
        return false;
    }
    if (w->verb == GROVE_VERB_DELETE) {
        begin_end(m, s, old);
        return true;
    }
    grove_doc *doc = patched(m, old, w);
    if (!doc) {
        return false;
    }
    version *next = changed(m, old, doc);
    if (next->content == old->content) {
        broken(m, "%s of %s changes nothing", w->reason, w->name);
    }
    if (next->kind == GV_KIND_POD && pod_is_gated(old) && !pod_is_gated(next)) {
        check_listed(m, s, next);
    }
    next->gone = member(next, "/metadata/deletionTimestamp") && !is_held(next);
    store(m, s, next);
    return true;
}

/* What the answer shows: the object as stored, or, of a deletion, as leaving. */
static void hear(model *m, state *s, const write *w) {
    version *now = find_version(s->stored, s->n_stored, w->key);
    version *shown = find_version(s->seen, s->n_seen, w->key);
    if (now && (!shown || shown->rv < now->rv)) {
        list_put(s->own, &s->n_own, MAX_OBJECTS, now);
    } else if (!now && shown && !member(shown, "/metadata/deletionTimestamp")) {
        version *leaving = changed(
            m, shown,
            with(m, grove_doc_ref(shown->doc),
                 "{metadata: {deletionTimestamp: \"2027-01-15T08:00:00Z\"}}"));
        list_put(s->own, &s->n_own, MAX_OBJECTS, leaving);
        version_unref(leaving);
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
        if (s->queue[i]->kind == kind) {
            return true;
        }
    }
    return false;
}

static void remember_departed(state *s, version *pod) {
    const char *owner = text_of(pod, "/metadata/ownerReferences/0/uid");
    const char *index = text_of(pod, "/metadata/labels/grove.io~1podclique-pod-index");
    for (uint32_t i = 0; i < s->n_departed; i++) {
        version *d = s->departed[i];
        if (strcmp(text_of(d, "/metadata/ownerReferences/0/uid"), owner) == 0 &&
            strcmp(text_of(d, "/metadata/labels/grove.io~1podclique-pod-index"), index) == 0) {
            list_drop(s->departed, &s->n_departed, d->key);
            break;
        }
    }
    list_put(s->departed, &s->n_departed, MAX_DEPARTED, pod);
}

void deliver(model *m, state *s, gv_kind kind) {
    (void)m;
    uint32_t i = 0;
    while (s->queue[i]->kind != kind) {
        i++;
    }
    version *v = s->queue[i];
    memmove(s->queue + i, s->queue + i + 1, (s->n_queue - i - 1) * sizeof *s->queue);
    s->n_queue--;
    if (v->gone) {
        list_drop(s->seen, &s->n_seen, v->key);
        if (kind == GV_KIND_POD) {
            remember_departed(s, v);
        }
    } else {
        list_put(s->seen, &s->n_seen, MAX_OBJECTS, v);
    }
    version *own = find_version(s->own, s->n_own, v->key);
    if (own && (v->gone || v->rv >= own->rv)) {
        list_drop(s->own, &s->n_own, v->key);
    }
    version_unref(v);
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

static bool is_orphan(const state *s, const version *v) {
    const char *owner = text_of(v, "/metadata/ownerReferences/0/uid");
    for (uint32_t i = 0; i < s->n_stored; i++) {
        if (strcmp(s->stored[i]->uid, owner) == 0) {
            return false;
        }
    }
    return owner[0] != '\0';
}

bool happen(model *m, state *s, uint32_t i) {
    version *v = s->stored[i];
    bool dying = member(v, "/metadata/deletionTimestamp") != NULL;
    if (!dying && is_orphan(s, v)) {
        begin_end(m, s, v);
        return true;
    }
    if (v->kind != GV_KIND_POD || strcmp(text_of(v, "/status/phase"), "Failed") == 0) {
        return false;
    }
    if (dying) {
        version *last = changed(m, v, grove_doc_ref(v->doc));
        last->gone = true;
        store(m, s, last);
        return true;
    }
    if (pod_is_gated(v) || pod_is_ready(v)) {
        return false;
    }
    bool bound = text_of(v, "/spec/nodeName")[0] != '\0';
    store_merge(m, s, v, bound ? ready : scheduled);
    return true;
}

bool hurt(model *m, state *s, uint32_t i, int how) {
    version *v = s->stored[i];
    if (v->kind != GV_KIND_POD || !pod_is_active(v) || text_of(v, "/spec/nodeName")[0] == '\0') {
        return false;
    }
    if (how == 0) {
        store_merge(m, s, v, "{status: {phase: Failed, conditions: []}}");
    } else if (how == 1 && pod_is_ready(v)) {
        store_merge(m, s, v, unready);
    } else if (how == 2) {
        begin_end(m, s, v);
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
    version *old = find_version(s->stored, s->n_stored, object_key(k, name));
    if (!old) {
        return false; /* not there yet */
    }
    s->edits++;
    if (strcmp(text + at, "delete") == 0) {
        begin_end(m, s, old);
        return true;
    }
    write w = {
        .verb = GROVE_VERB_PATCH, .patch_type = GROVE_PATCH_MERGE, .body = parse(m, text + at)};
    store(m, s, changed(m, old, patched(m, old, &w)));
    grove_doc_unref(w.body);
    return true;
}

/* ---- the controller ends ---- */

void restart(state *s, bool standby) {
    for (uint32_t i = 0; i < s->n_rest; i++) {
        write_unref(s->rest[i]);
    }
    s->n_rest = 0;
    while (s->n_own) {
        list_drop(s->own, &s->n_own, s->own[0]->key);
    }
    if (standby) {
        return; /* its caches are as old as the events that are still on their way */
    }
    while (s->n_departed) {
        list_drop(s->departed, &s->n_departed, s->departed[0]->key);
    }
    while (s->n_queue) {
        version_unref(s->queue[--s->n_queue]);
    }
    while (s->n_seen) {
        list_drop(s->seen, &s->n_seen, s->seen[0]->key);
    }
    for (uint32_t i = 0; i < s->n_stored; i++) {
        list_put(s->seen, &s->n_seen, MAX_OBJECTS, s->stored[i]);
    }
}

state *initial_state(model *m, uint32_t faults) {
    state *s = calloc(1, sizeof *s);
    if (!s) {
        abort();
    }
    s->now = START;
    s->faults = faults;
    grove_doc *doc = parse(m, m->what->set);
    store(m, s, create(m, s, GV_KIND_PODCLIQUESET, doc, "s"));
    grove_doc_unref(doc);
    while (s->n_queue) {
        deliver(m, s, s->queue[0]->kind);
    }
    return s;
}
