/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of the model: plans from what is visible, and the judge of its plans. A plan is a function of
 * the visible state, so each is made once; it is made by a planner without memory and by one that is asked
 * about all states in turn, and both must say the same, byte for byte.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/store.h"

typedef struct cached {
    uint64_t key;
    write **writes;
    uint32_t n;
    bool explored;
} cached;

typedef struct table {
    cached *slots;
    size_t n_slots, live;
} table;

/* ---- what is visible ---- */

/* The newer of what was seen and what was answered; one list, sorted. */
static uint32_t visible(const state *s, version **out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_seen; i++) {
        version *own = find_version(s->own, s->n_own, s->seen[i]->key);
        out[n++] = own && own->rv > s->seen[i]->rv ? own : s->seen[i];
    }
    for (uint32_t i = 0; i < s->n_own; i++) {
        if (!find_version(s->seen, s->n_seen, s->own[i]->key)) {
            out[n++] = s->own[i];
        }
    }
    return n;
}

uint64_t visible_hash(const state *s) {
    version *v[2 * MAX_OBJECTS];
    uint32_t n = visible(s, v);
    uint64_t h = gv_mix64((uint64_t)s->now), sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += gv_mix64(v[i]->content ^ v[i]->key);
    }
    for (uint32_t i = 0; i < s->n_departed; i++) {
        sum += gv_mix64(s->departed[i]->key * 3);
    }
    return gv_mix64(h + sum);
}

static void must(grove_status st, const char *what) {
    if (st < 0) {
        fprintf(stderr, "model: %s: %s\n", what, grove_status_name(st));
        abort();
    }
}

static grove_store *build_store(model *m, const state *s, version **v, uint32_t n) {
    grove_store *store = NULL;
    must(grove_store_new(m->env, &store), "store");
    for (uint32_t i = 0; i < n; i++) {
        must(grove_store_put(store, v[i]->doc, grove_doc_root(v[i]->doc), NULL), "put");
    }
    for (uint32_t i = 0; i < s->n_departed; i++) {
        version *d = s->departed[i];
        if (!find_version(v, n, d->key)) {
            must(grove_store_put(store, d->doc, grove_doc_root(d->doc), NULL), "put");
            must(grove_store_remove(store, grove_doc_root(d->doc), NULL), "remove");
        }
    }
    return store;
}

/* ---- the judge ---- */

static uint32_t count_pods(version *const *v, uint32_t n, const char *clique,
                           bool (*is)(const version *)) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        count += v[i]->kind == GV_KIND_POD && pod_is_active(v[i]) && is(v[i]) &&
                 strcmp(text_of(v[i], "/metadata/labels/grove.io~1podclique"), clique) == 0;
    }
    return count;
}

static bool any(const version *pod) {
    (void)pod;
    return true;
}

static bool is_ungated(const version *pod) {
    return !pod_is_gated(pod);
}

static int64_t number(const version *v, const char *pointer) {
    int64_t n = 0;
    grove_node_int64(member(v, pointer), &n);
    return n;
}

/* A gate opens when every clique of the gang has its pods and the PodGang lists them, or did so before. */
static void judge_release(model *m, version *const *v, uint32_t n, const grove_action *a) {
    version *pod = find_version(v, n, object_key(GV_KIND_POD, a->name));
    const char *gang = text_of(pod, "/metadata/labels/grove.io~1podgang");
    version *g = find_version(v, n, object_key(GV_KIND_PODGANG, gang));
    if (!pod || !g) {
        broken(m, "gate of %s opened, and its gang is not there", a->name);
        return;
    }
    bool released = false, complete = true;
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(text_of(v[i], "/metadata/labels/grove.io~1podgang"), gang) != 0) {
            continue;
        }
        if (v[i]->kind == GV_KIND_POD) {
            released = released || is_ungated(v[i]);
        } else if (v[i]->kind == GV_KIND_PODCLIQUE) {
            complete = complete &&
                       count_pods(v, n, v[i]->name, any) >= number(v[i], "/spec/replicas");
        }
    }
    const grove_node *groups = member(g, "/spec/podgroups");
    uint32_t listed = 0;
    for (const grove_node *p = grove_node_first(groups); p; p = grove_node_next(groups, p)) {
        const grove_node *list = grove_node_get(p, "podReferences");
        for (const grove_node *r = grove_node_first(list); r; r = grove_node_next(list, r)) {
            const char *name = grove_node_text(grove_node_get(r, "name"));
            listed += name && strcmp(name, a->name) == 0;
        }
    }
    /* Pods that have ended carry no gate either: a gang that was released stays so by its condition. */
    const char *initialized = "";
    const grove_node *list = member(g, "/status/conditions");
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        if (strcmp(grove_node_text(grove_node_get(c, "type")), "Initialized") == 0) {
            initialized = grove_node_text(grove_node_get(c, "status"));
        }
    }
    if (!complete && !released && strcmp(initialized, "True") != 0) {
        broken(m, "gate of %s opened before gang %s is complete", a->name, gang);
    }
    if (listed == 0) {
        broken(m, "gate of %s opened, and gang %s does not list it", a->name, gang);
    }
}

/* Chosen deletions keep minAvailable; gang termination is the one that does not. */
static void judge_delete(model *m, version *const *v, uint32_t n, const grove_action *a) {
    version *pod = find_version(v, n, object_key(GV_KIND_POD, a->name));
    const char *clique = text_of(pod, "/metadata/labels/grove.io~1podclique");
    version *c = find_version(v, n, object_key(GV_KIND_PODCLIQUE, clique));
    if (!pod || !c || !pod_is_active(pod) || !pod_is_ready(pod)) {
        return;
    }
    int64_t least = number(c, "/spec/minAvailable"),
            is_ready = count_pods(v, n, clique, pod_is_ready);
    if ((strcmp(a->reason, "ScaledIn") == 0 && is_ready <= least &&
         count_pods(v, n, clique, any) <= least) ||
        (strcmp(a->reason, "RollingUpdate") == 0 && is_ready < least)) {
        broken(m, "%s takes %s below minAvailable of %s", a->reason, a->name, clique);
    }
}

static void judge(model *m, version *const *v, uint32_t n, const grove_plan *plan) {
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        const grove_action *a = grove_plan_action(plan, i);
        bool writes = a->verb != GROVE_VERB_EVENT && a->verb != GROVE_VERB_CREATE;
        if (writes && !a->uid[0]) {
            broken(m, "%s of %s without its uid", grove_verb_name(a->verb), a->name);
        }
        if (a->kind == GROVE_KIND_POD && a->verb == GROVE_VERB_PATCH) {
            judge_release(m, v, n, a);
        } else if (a->kind == GROVE_KIND_POD && a->verb == GROVE_VERB_DELETE) {
            judge_delete(m, v, n, a);
        }
    }
}

/* ---- planning ---- */

static write *write_new(model *m, const grove_action *a) {
    write *w = calloc(1, sizeof *w);
    grove_buf b;
    if (!w) {
        abort();
    }
    w->refs = 1;
    w->verb = a->verb;
    w->kind = (gv_kind)a->kind;
    w->subresource = a->subresource;
    w->patch_type = a->patch_type;
    w->order = a->order;
    w->needs_rv = a->resource_version[0] != '\0';
    snprintf(w->name, sizeof w->name, "%s", a->name);
    snprintf(w->uid, sizeof w->uid, "%s", a->uid);
    snprintf(w->reason, sizeof w->reason, "%s", a->reason);
    w->key = object_key(w->kind, w->name);
    w->body = a->body ? grove_doc_ref(a->body) : NULL;
    grove_buf_init(&b, m->env);
    if (a->body) {
        must(grove_node_write_json(grove_doc_root(a->body), 0, &b, NULL), "write");
    }
    w->content = gv_fnv1a(w->key + (uint64_t)w->verb, b.data ? b.data : "", b.len);
    w->content = gv_mix64(gv_fnv1a(w->content, w->uid, strlen(w->uid)) + w->needs_rv);
    grove_buf_fini(&b);
    return w;
}

static void plan_bytes(const grove_plan *plan, grove_buf *b) {
    must(grove_plan_write_json(plan, 0, b, NULL), "plan");
}

static cached make(model *m, const state *s) {
    version *v[2 * MAX_OBJECTS];
    uint32_t n = visible(s, v);
    grove_store *store = build_store(m, s, v, n);
    grove_planner *cold = NULL;
    grove_plan *plan = NULL, *again = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_plan_request rq = {.size = sizeof rq, .ns = "t", .name = "s", .now_ns = s->now};
    cached c = {0, NULL, 0, false};
    must(grove_planner_new(m->env, &cold), "planner");
    if (grove_plan_make(cold, store, &rq, &plan, &err) < 0) {
        broken(m, "plan: %s", err.message);
    } else {
        must(grove_plan_make(m->warm, store, &rq, &again, &err), "the same plan");
        grove_buf x, y;
        grove_buf_init(&x, m->env);
        grove_buf_init(&y, m->env);
        plan_bytes(plan, &x);
        plan_bytes(again, &y);
        if (x.len != y.len || memcmp(x.data, y.data, x.len) != 0) {
            broken(m, "a planner with memory plans otherwise");
        }
        grove_buf_fini(&x);
        grove_buf_fini(&y);
        judge(m, v, n, plan);
        c.writes = calloc(grove_plan_actions(plan) + 1, sizeof *c.writes);
        for (uint32_t i = 0; c.writes && i < grove_plan_actions(plan); i++) {
            const grove_action *a = grove_plan_action(plan, i);
            if (a->verb != GROVE_VERB_EVENT) {
                c.writes[c.n++] = write_new(m, a);
            }
        }
        m->n_plans++;
    }
    grove_plan_unref(plan);
    grove_plan_unref(again);
    grove_planner_free(cold);
    grove_store_free(store);
    return c;
}

static cached *slot_of(table *t, uint64_t key) {
    size_t at = key & (t->n_slots - 1);
    while (t->slots[at].writes && t->slots[at].key != key) {
        at = (at + 1) & (t->n_slots - 1);
    }
    return &t->slots[at];
}

static void grow(table *t) {
    table bigger = {calloc(t->n_slots ? 2 * t->n_slots : 1024, sizeof *bigger.slots),
                    t->n_slots ? 2 * t->n_slots : 1024, t->live};
    if (!bigger.slots) {
        abort();
    }
    for (size_t i = 0; i < t->n_slots; i++) {
        if (t->slots[i].writes) {
            *slot_of(&bigger, t->slots[i].key) = t->slots[i];
        }
    }
    free(t->slots);
    *t = bigger;
}

void make_plan(model *m, state *s) {
    if (!m->plans && !(m->plans = calloc(1, sizeof(table)))) {
        abort();
    }
    table *t = m->plans;
    if (2 * t->live >= t->n_slots) {
        grow(t);
    }
    uint64_t key = visible_hash(s);
    cached *c = slot_of(t, key);
    if (!c->writes) {
        cached fresh = make(m, s);
        fresh.key = key;
        if (!fresh.writes) {
            return; /* no plan: told as broken */
        }
        *c = fresh;
        t->live++;
    }
    version *v[2 * MAX_OBJECTS];
    uint32_t n = visible(s, v);
    if (c->n > MAX_REST) {
        fprintf(stderr, "model: a plan of %u writes\n", c->n);
        abort();
    }
    for (uint32_t i = 0; i < c->n; i++) {
        s->rest[i] = write_ref(c->writes[i]);
    }
    s->n_rest = c->n;
    m->first = !m->calm && !c->explored;
    c->explored = c->explored || m->first;
    if (m->plant && !m->calm && (m->plant_at == 0 || m->plant_at == key)) {
        m->plant(m, s, s->rest, &s->n_rest);
    }
    for (uint32_t i = 0; i < s->n_rest; i++) {
        version *now = find_version(v, n, s->rest[i]->key);
        s->rest_rv[i] = s->rest[i]->needs_rv && now ? now->rv : 0;
    }
}

void plans_free(model *m) {
    table *t = m->plans;
    for (size_t i = 0; t && i < t->n_slots; i++) {
        for (uint32_t k = 0; k < t->slots[i].n; k++) {
            write_unref(t->slots[i].writes[k]);
        }
        free(t->slots[i].writes);
    }
    if (t) {
        free(t->slots);
        free(t);
    }
    m->plans = NULL;
}
