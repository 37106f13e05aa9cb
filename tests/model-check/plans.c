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
#include "model/view.h"
#include "store/store.h"

typedef struct cached {
    const write **writes;
    uint32_t n;
    bool explored;
} cached;

/* ---- what is visible ---- */

/* The newer of what was seen and what was answered. */
static uint32_t visible(const state *s, version *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_seen; i++) {
        const version *own = find_version(s->own, s->n_own, s->seen[i].is->key);
        out[n++] = own && own->rv > s->seen[i].rv ? *own : s->seen[i];
    }
    for (uint32_t i = 0; i < s->n_own; i++) {
        if (!find_version(s->seen, s->n_seen, s->own[i].is->key)) {
            out[n++] = s->own[i];
        }
    }
    return n;
}

uint64_t visible_hash(const state *s) {
    version v[2 * MAX_OBJECTS];
    uint32_t n = visible(s, v);
    uint64_t h = gv_mix64((uint64_t)s->now), sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += gv_mix64(v[i].is->hash);
    }
    for (uint32_t i = 0; i < s->n_departed; i++) {
        sum += gv_mix64(s->departed[i].is->uid_key * 3);
    }
    return gv_mix64(h + sum);
}

static void put(grove_store *store, const content *c) {
    must(grove_store_put(store, c->doc, grove_doc_root(c->doc), NULL), "put");
}

static grove_store *build_store(model *m, const state *s, const version *v, uint32_t n) {
    grove_store *store = NULL;
    must(grove_store_new(m->env, &store), "store");
    for (uint32_t i = 0; i < n; i++) {
        put(store, v[i].is);
    }
    for (uint32_t i = 0; i < s->n_departed; i++) {
        const content *d = s->departed[i].is;
        if (!find_version(v, n, d->key)) {
            put(store, d);
            must(grove_store_remove(store, grove_doc_root(d->doc), NULL), "remove");
        }
    }
    return store;
}

/* ---- the judge ---- */

static uint32_t count_pods(const version *v, uint32_t n, const char *clique, bool only_ready) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        const content *c = v[i].is;
        count += c->kind == GV_KIND_POD && pod_is_active(c) && (c->ready || !only_ready) &&
                 strcmp(c->clique, clique) == 0;
    }
    return count;
}

static int64_t number(const content *c, const char *pointer) {
    int64_t n = 0;
    grove_node_int64(member(c, pointer), &n);
    return n;
}

static bool is_initialized(const content *gang) {
    const grove_node *c = gv_condition_find(member(gang, "/status/conditions"), "Initialized");
    const char *status = grove_node_text(grove_node_get(c, "status"));
    return status && strcmp(status, "True") == 0;
}

/* A gate opens when every clique of the gang has its pods and the PodGang lists them, or did so before. */
static void judge_release(model *m, const version *v, uint32_t n, const grove_action *a) {
    const version *pod = find_version(v, n, object_key(GV_KIND_POD, a->name));
    const char *name = pod ? pod->is->gang : "";
    const version *gang = find_version(v, n, object_key(GV_KIND_PODGANG, name));
    if (!pod || !gang) {
        broken(m, "gate of %s opened, and its gang is not there", a->name);
        return;
    }
    /* Pods that have ended carry no gate either: a gang that was released stays so by its condition. */
    bool released = is_initialized(gang->is), complete = true;
    for (uint32_t i = 0; i < n; i++) {
        const content *c = v[i].is;
        if (strcmp(text_of(c, "/metadata/labels/grove.io~1podgang"), name) != 0) {
            continue;
        }
        if (c->kind == GV_KIND_POD) {
            released = released || !c->gated;
        } else if (c->kind == GV_KIND_PODCLIQUE) {
            complete = complete && count_pods(v, n, c->name, false) >= number(c, "/spec/replicas");
        }
    }
    if (!complete && !released) {
        broken(m, "gate of %s opened before gang %s is complete", a->name, name);
    }
    if (!is_listed(gang->is, a->name)) {
        broken(m, "gate of %s opened, and gang %s does not list it", a->name, name);
    }
}

/* Chosen deletions keep minAvailable; gang termination is the one that does not. */
static void judge_delete(model *m, const version *v, uint32_t n, const grove_action *a) {
    const version *pod = find_version(v, n, object_key(GV_KIND_POD, a->name));
    const char *clique = pod ? pod->is->clique : "";
    const version *c = find_version(v, n, object_key(GV_KIND_PODCLIQUE, clique));
    if (!pod || !c || !pod_is_active(pod->is) || !pod->is->ready) {
        return;
    }
    int64_t least = number(c->is, "/spec/minAvailable");
    int64_t is_ready = count_pods(v, n, clique, true);
    if ((strcmp(a->reason, "ScaledIn") == 0 && is_ready <= least &&
         count_pods(v, n, clique, false) <= least) ||
        (strcmp(a->reason, "RollingUpdate") == 0 && is_ready < least)) {
        broken(m, "%s takes %s below minAvailable of %s", a->reason, a->name, clique);
    }
}

static void judge(model *m, const version *v, uint32_t n, const grove_plan *plan) {
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

const write *write_interned(model *m, const write *from) {
    write *w = zeroed(sizeof *w);
    *w = *from;
    if (w->kind == GV_KIND_POD && w->verb == GROVE_VERB_CREATE) {
        const grove_node *labels = grove_node_at_path(grove_doc_root(w->body), "/metadata/labels");
        const char *clique = grove_node_text(grove_node_get(labels, "grove.io/podclique"));
        const char *index = grove_node_text(grove_node_get(labels, "grove.io/podclique-pod-index"));
        w->unit = pod_unit(clique, atoi(index));
        note_pod_name(m, w->name);
    }
    w->key = object_key(w->kind, w->name);
    w->shape = shape_of(m, w->body ? grove_doc_root(w->body) : NULL);
    uint64_t how = (uint64_t)w->verb * 64 + (uint64_t)w->subresource * 16 + w->needs_rv;
    uint64_t h = gv_mix64(w->key + how) + (w->body ? node_hash(m, grove_doc_root(w->body)) : 0);
    w->hash = gv_mix64(gv_fnv1a(h, w->uid, strlen(w->uid)));
    w->next = m->writes;
    m->writes = w;
    return w;
}

static const write *write_of(model *m, const grove_action *a) {
    write w = {.verb = a->verb,
               .kind = (gv_kind)a->kind,
               .subresource = a->subresource,
               .patch_type = a->patch_type,
               .order = a->order,
               .needs_rv = a->resource_version[0] != '\0',
               .body = a->body ? grove_doc_ref(a->body) : NULL};
    snprintf(w.name, sizeof w.name, "%s", a->name);
    snprintf(w.uid, sizeof w.uid, "%s", a->uid);
    snprintf(w.reason, sizeof w.reason, "%s", a->reason);
    return write_interned(m, &w);
}

static void compare_plans(model *m, const grove_plan *plan, const grove_plan *again) {
    grove_buf x, y;
    grove_buf_init(&x, m->env);
    grove_buf_init(&y, m->env);
    must(grove_plan_write_json(plan, 0, &x, NULL), "plan");
    must(grove_plan_write_json(again, 0, &y, NULL), "plan");
    if (x.len != y.len || memcmp(x.data, y.data, x.len) != 0) {
        broken(m, "a planner with memory plans otherwise");
    }
    grove_buf_fini(&x);
    grove_buf_fini(&y);
}

static cached *make(model *m, const state *s) {
    version v[2 * MAX_OBJECTS];
    uint32_t n = visible(s, v);
    grove_store *store = build_store(m, s, v, n);
    grove_planner *cold = NULL;
    grove_plan *plan = NULL, *again = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_plan_request rq = {.size = sizeof rq, .ns = "t", .name = "s", .now_ns = s->now};
    cached *c = zeroed(sizeof *c);
    must(grove_planner_new(m->env, &cold), "planner");
    if (grove_plan_make(cold, store, &rq, &plan, &err) < 0) {
        broken(m, "plan: %s", err.message);
    } else {
        must(grove_plan_make(m->warm, store, &rq, &again, &err), "the same plan");
        compare_plans(m, plan, again);
        judge(m, v, n, plan);
        c->writes = zeroed((grove_plan_actions(plan) + 1) * sizeof *c->writes);
        for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
            const grove_action *a = grove_plan_action(plan, i);
            if (a->verb != GROVE_VERB_EVENT) {
                c->writes[c->n++] = write_of(m, a);
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

void make_plan(model *m, state *s) {
    uint64_t key = visible_hash(s);
    cached *c = table_get(&m->plans, key);
    if (!c) {
        c = make(m, s);
        table_put(&m->plans, key, c);
    }
    if (c->n > MAX_REST) {
        fprintf(stderr, "model: a plan of %u writes\n", c->n);
        abort();
    }
    s->n_rest = c->n;
    for (uint32_t i = 0; i < c->n; i++) {
        s->rest[i] = c->writes[i];
    }
    m->first = !m->calm && !c->explored;
    c->explored = c->explored || m->first;
    if (m->plant && !m->calm && (m->plant_at == 0 || m->plant_at == key)) {
        m->plant(m, s, s->rest, &s->n_rest);
    }
    version v[2 * MAX_OBJECTS];
    uint32_t n = s->n_rest > 0 ? visible(s, v) : 0;
    for (uint32_t i = 0; i < s->n_rest; i++) {
        const version *now = find_version(v, n, s->rest[i]->key);
        s->rest_rv[i] = s->rest[i]->needs_rv && now ? now->rv : 0;
    }
}

void plans_free(model *m) {
    for (size_t i = 0; i < m->plans.n_slots; i++) {
        cached *c = m->plans.slots[i].item;
        if (c) {
            free(c->writes);
            free(c);
        }
    }
    table_fini(&m->plans);
    while (m->writes) {
        write *w = m->writes;
        m->writes = w->next;
        grove_doc_unref(w->body);
        free(w->shape.tokens);
        free(w);
    }
}
