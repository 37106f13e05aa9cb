/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth first over all states that the model can reach. In every new state the promises are checked, and
 * that the cluster comes to the one rest there is when nothing goes wrong any more.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define ROUNDS_MAX 20
#define CALM_STEPS 400

enum step_kind { WRITE, LOSE_REQUEST, LOSE_REPLY, DELIVER, HAPPEN, HURT, EDIT, RESTART, CLOCK };
static const char *const step_words[] = {"write", "lost request", "lost reply",
                                         "event", "by itself",    "hurt",
                                         "edit",  "restart",      "clock"};

typedef struct node {
    uint64_t hash;
    uint32_t parent;
    uint16_t depth;
    uint16_t step; /* kind << 12 | argument */
} node;

typedef struct explorer {
    model *m;
    result *r;
    node *nodes;
    size_t n_nodes, cap_nodes;
    uint32_t *slots; /* index + 1 */
    size_t n_slots;
    state **frontier, **next;
    size_t n_frontier, n_next, cap_next;
    table calm;      /* states known to come to rest */
    table classes;   /* WHOLE: of each merged state, what all its states lead to */
    uint64_t *after; /* WHOLE: what the state that is looked at leads to */
    size_t n_after, cap_after;
    manner how;
    uint64_t rest; /* digest; 0 not yet known */
    uint64_t max_states;
} explorer;

static void *grown(void *v, size_t n, size_t *cap, size_t size) {
    if (n < *cap) {
        return v;
    }
    *cap = *cap ? 2 * *cap : 1024;
    v = realloc(v, *cap * size);
    if (!v) {
        abort();
    }
    return v;
}

/* ---- which states are known ---- */

static bool visit(explorer *e, uint64_t hash, uint32_t parent, uint16_t step, uint16_t depth) {
    if (2 * e->n_nodes >= e->n_slots) {
        size_t n = e->n_slots ? 2 * e->n_slots : 4096;
        free(e->slots);
        e->slots = calloc(n, sizeof *e->slots);
        e->n_slots = n;
        for (size_t i = 0; e->slots && i < e->n_nodes; i++) {
            size_t at = e->nodes[i].hash & (n - 1);
            while (e->slots[at]) {
                at = (at + 1) & (n - 1);
            }
            e->slots[at] = (uint32_t)i + 1;
        }
    }
    size_t at = hash & (e->n_slots - 1);
    for (; e->slots[at]; at = (at + 1) & (e->n_slots - 1)) {
        if (e->nodes[e->slots[at] - 1].hash == hash) {
            return false;
        }
    }
    e->nodes = grown(e->nodes, e->n_nodes, &e->cap_nodes, sizeof *e->nodes);
    e->nodes[e->n_nodes] = (node){hash, parent, depth, step};
    e->slots[at] = (uint32_t)++e->n_nodes;
    return true;
}

static uint64_t hash_of(const explorer *e, const state *s) {
    return e->how == WHOLE ? state_hash(s) : merged_hash(s);
}

/* ---- that merged states behave alike ---- */

static int compare_hashes(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every state of a class leads to states of the same classes. */
static void check_class(explorer *e, const state *s) {
    uint64_t class = merged_hash(s), sum = 1, last = 0;
    qsort(e->after, e->n_after, sizeof *e->after, compare_hashes);
    for (size_t i = 0; i < e->n_after; i++) {
        sum = e->after[i] != last ? gv_mix64(sum + e->after[i]) : sum;
        last = e->after[i];
    }
    uintptr_t here = (uintptr_t)(sum | 1);
    const void *known = table_get(&e->classes, class);
    if (!known) {
        table_put(&e->classes, class, (const void *)here);
    } else if ((uintptr_t)known != here) {
        broken(e->m, "states that are merged do not lead to the same");
    }
}

/* ---- promises on what is stored ---- */

static void check_stored(model *m, const state *s) {
    for (uint32_t i = 0; i < s->n_stored; i++) {
        const content *a = s->stored[i].is;
        if (a->kind != GV_KIND_POD || !pod_is_active(a)) {
            continue;
        }
        if (a->gated && a->bound) {
            broken(m, "pod %s is gated and has a node", a->name);
        }
        for (uint32_t k = i + 1; k < s->n_stored; k++) {
            const content *b = s->stored[k].is;
            if (b->kind == GV_KIND_POD && pod_is_active(b) && a->owner_key == b->owner_key &&
                a->index == b->index) {
                broken(m, "pods %s and %s live with one index", a->name, b->name);
            }
        }
    }
}

/* ---- rest ---- */

static uint64_t mix_text(uint64_t h, const char *text) {
    return gv_fnv1a(gv_mix64(h), text, strlen(text) + 1);
}

/* The outcome as users see it: no uid, version, time or random name. */
static uint64_t digest(const state *s) {
    static const char *const facts[] = {"/spec/replicas",
                                        "/status/replicas",
                                        "/status/readyReplicas",
                                        "/status/scheduledReplicas",
                                        "/status/availableReplicas",
                                        "/status/updatedReplicas",
                                        "/status/phase",
                                        "/spec/containers/0/image",
                                        "/metadata/labels/grove.io~1podgang",
                                        "/metadata/labels/grove.io~1podclique"};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n_stored; i++) {
        const content *v = s->stored[i].is;
        uint64_t h = mix_text((uint64_t)v->kind, v->kind == GV_KIND_POD ? "" : v->name);
        for (size_t f = 0; f < sizeof facts / sizeof *facts; f++) {
            h = mix_text(h, text_of(v, facts[f]));
        }
        const grove_node *list = member(v, "/status/conditions");
        uint64_t conditions = 0;
        for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            const char *status = grove_node_text(grove_node_get(c, "status"));
            conditions += mix_text(mix_text(7, grove_node_text(grove_node_get(c, "type"))),
                                   status ? status : "");
        }
        sum += gv_mix64(h + conditions);
    }
    return sum ? sum : 1;
}

static void deliver_all(state *s) {
    while (s->n_queue) {
        deliver(s, s->queue[0].is->kind);
    }
}

/* What objects were since the last event. */
typedef struct past {
    struct {
        uint64_t key, content;
    } v[256];
    uint32_t n;
} past;

static bool past_has(const past *p, uint64_t key, uint64_t what) {
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->v[i].key == key && p->v[i].content == what) {
            return true;
        }
    }
    return false;
}

static void past_add(past *p, uint64_t key, uint64_t what) {
    if (p->n < sizeof p->v / sizeof *p->v) {
        p->v[p->n].key = key;
        p->v[p->n++].content = what;
    }
}

/* The quiet time of law (c): what was wanted in it, and what was observed since the last write of wishes. */
typedef struct quiet {
    past wanted, status;
} quiet;

static void quiet_add(quiet *q, const content *c) {
    past_add(&q->wanted, c->key, c->wanted);
    past_add(&q->status, c->key, c->hash);
}

/* No object is brought back to what it was; status may tell back what a write of ours has changed. */
static void check_undone(model *m, quiet *q, const content *c, const write *w) {
    if (w->subresource == GROVE_SUBRESOURCE_STATUS) {
        if (past_has(&q->status, c->key, c->hash)) {
            broken(m, "law (c): status of %s is told back without an event in between", c->name);
        }
        past_add(&q->status, c->key, c->hash);
        return;
    }
    /* A PodGang lists the pods there are: it follows what was written to those. */
    if (c->kind != GV_KIND_PODGANG && past_has(&q->wanted, c->key, c->wanted)) {
        broken(m, "law (c): %s is changed back without an event in between", c->name);
    }
    q->status.n = 0;
    quiet_add(q, c);
}

/* Carries the writes of one plan out, up to the first that is not taken. */
static void carry_out_rest(explorer *e, state *s, quiet *q) {
    model *m = e->m;
    for (uint32_t i = 0; i < s->n_rest; i++) {
        if (!carry_out(m, s, s->rest[i], s->rest_rv[i], true)) {
            break;
        }
        const version *v = find_version(s->stored, s->n_stored, s->rest[i]->key);
        if (v && q) {
            check_undone(m, q, v->is, s->rest[i]);
        }
    }
    s->n_rest = 0;
    deliver_all(s);
}

/* Plans and applies until there is nothing to do; law (b) counts the rounds. */
static void come_quiet(explorer *e, state *s) {
    model *m = e->m;
    quiet q = {.wanted = {.n = 0}};
    uint32_t rounds = 0;
    carry_out_rest(e, s, NULL); /* a plan of before the latest events */
    for (uint32_t i = 0; i < s->n_stored; i++) {
        quiet_add(&q, s->stored[i].is);
    }
    for (make_plan(m, s); s->n_rest > 0 && !m->broken[0]; make_plan(m, s)) {
        carry_out_rest(e, s, &q);
        if (++rounds > ROUNDS_MAX) {
            broken(m, "law (b): no empty plan after %d rounds", ROUNDS_MAX);
            return;
        }
    }
    e->r->rounds = rounds > e->r->rounds ? rounds : e->r->rounds;
}

static bool all_happens(model *m, state *s) {
    bool some = false;
    for (uint32_t i = s->n_stored; i-- > 0;) {
        some = (i < s->n_stored && happen(m, s, i)) || some;
    }
    return some;
}

static void check_rest(explorer *e, const state *s) {
    uint64_t d = digest(s);
    e->r->rests++;
    if (e->rest == 0) {
        e->rest = d;
        for (uint32_t i = 0; i < s->n_stored; i++) {
            if (s->stored[i].is->kind == GV_KIND_POD && !s->stored[i].is->ready) {
                broken(e->m, "at rest pod %s is not ready", s->stored[i].is->name);
            }
        }
    } else if (e->rest != d) {
        broken(e->m, "law (e): another rest than from elsewhere");
    }
}

/* Nothing goes wrong from here on. */
static void check_convergence(explorer *e, const state *from) {
    model *m = e->m;
    state *s = state_copy(from);
    uint64_t chain[CALM_STEPS];
    uint32_t n = 0, ticks = 0;
    s->faults = 0;
    m->calm = true;
    while (!m->broken[0]) {
        uint64_t h = hash_of(e, s);
        if (table_get(&e->calm, h)) {
            break;
        }
        if (n == CALM_STEPS) {
            broken(m, "law (b): does not come to rest");
            break;
        }
        chain[n++] = h;
        come_quiet(e, s);
        if (all_happens(m, s) || edit(m, s)) {
            ticks = 0;
        } else if (ticks++ < 2) {
            s->now += TICK; /* whatever waits for a deadline */
        } else {
            check_rest(e, s);
            break;
        }
    }
    for (uint32_t i = 0; i < n && !m->broken[0]; i++) {
        table_put(&e->calm, chain[i], e);
    }
    m->calm = false;
    free(s);
}

/* ---- steps ---- */

static void tell_trace(explorer *e, uint32_t at) {
    uint16_t steps[512];
    size_t n = 0, used = 0;
    for (; e->nodes[at].parent != UINT32_MAX && n < 512; at = e->nodes[at].parent) {
        steps[n++] = e->nodes[at].step;
    }
    while (n-- > 0 && used + 40 < sizeof e->r->trace) {
        used += (size_t)snprintf(e->r->trace + used, sizeof e->r->trace - used, " %s %u;",
                                 step_words[steps[n] >> 12], steps[n] & 0xfffu);
    }
}

/* Takes s over. */
static void arrive(explorer *e, state *s, uint32_t parent, enum step_kind kind, uint32_t argument) {
    uint16_t step = (uint16_t)((unsigned)kind << 12 | (argument & 0xfff));
    uint16_t depth = parent == UINT32_MAX ? 0 : (uint16_t)(e->nodes[parent].depth + 1);
    e->r->transitions++;
    if (e->how == WHOLE) {
        e->after = grown(e->after, e->n_after, &e->cap_after, sizeof *e->after);
        e->after[e->n_after++] = merged_hash(s);
    }
    if (e->m->broken[0] || !visit(e, hash_of(e, s), parent, step, depth)) {
        if (e->m->broken[0] && !e->r->trace[0] && parent != UINT32_MAX) {
            tell_trace(e, parent);
        }
        free(s);
        return;
    }
    e->r->depth = depth;
    check_stored(e->m, s);
    if (!e->m->broken[0]) {
        check_convergence(e, s);
    }
    if (e->m->broken[0] && !e->r->trace[0]) {
        tell_trace(e, (uint32_t)e->n_nodes - 1);
    }
    e->next = grown(e->next, e->n_next, &e->cap_next, sizeof *e->next);
    e->next[e->n_next++] = s;
}

/* One of the writes that may go now, in one of its outcomes. */
static void take_write(explorer *e, const state *from, uint32_t at, uint32_t i,
                       enum step_kind how) {
    state *s = state_copy(from);
    bool arrives = how != LOSE_REQUEST, heard = how == WRITE;
    bool ok = arrives && carry_out(e->m, s, s->rest[i], s->rest_rv[i], heard);
    s->faults -= how != WRITE;
    if (!ok || !heard) {
        s->n_rest = 0; /* the next plan starts from what is visible then */
    } else {
        memmove(s->rest + i, s->rest + i + 1, (s->n_rest - i - 1) * sizeof *s->rest);
        memmove(s->rest_rv + i, s->rest_rv + i + 1, (s->n_rest - i - 1) * sizeof *s->rest_rv);
        s->n_rest--;
    }
    arrive(e, s, at, how, i);
}

static void note_plan(explorer *e, const state *s, uint32_t depth) {
    if (!e->m->first || s->n_rest == 0) {
        return;
    }
    e->r->last_plan = visible_hash(s);
    e->r->last_plan_depth = depth;
    for (uint32_t i = 0; i < s->n_rest; i++) {
        const write *w = s->rest[i];
        if (w->kind == GV_KIND_PODGANG && w->verb == GROVE_VERB_PATCH &&
            w->subresource == GROVE_SUBRESOURCE_NONE) {
            e->r->last_membership = e->r->last_plan;
            e->r->last_membership_depth = depth;
        }
    }
}

/* Pods' writes of one order go in any order; the others one after another. */
static void writes(explorer *e, const state *from, uint32_t at) {
    state *s = state_copy(from);
    if (s->n_rest == 0) {
        make_plan(e->m, s);
        note_plan(e, s, e->nodes[at].depth);
    }
    for (uint32_t i = 0; i < s->n_rest && s->rest[i]->order == s->rest[0]->order; i++) {
        if (i > 0 && s->rest[i]->kind != GV_KIND_POD) {
            break;
        }
        take_write(e, s, at, i, WRITE);
        if (s->faults > 0) {
            take_write(e, s, at, i, LOSE_REQUEST);
            take_write(e, s, at, i, LOSE_REPLY);
        }
    }
    free(s);
}

static void by_itself(explorer *e, const state *from, uint32_t at) {
    for (uint32_t i = 0; i < from->n_stored; i++) {
        state *s = state_copy(from);
        if (happen(e->m, s, i)) {
            arrive(e, s, at, HAPPEN, i);
        } else {
            free(s);
        }
        for (int how = 0; from->faults > 0 && how < 3; how++) {
            s = state_copy(from);
            s->faults--;
            if (hurt(e->m, s, i, how)) {
                arrive(e, s, at, HURT, i * 4 + (uint32_t)how);
            } else {
                free(s);
            }
        }
    }
}

static void outside(explorer *e, const state *from, uint32_t at) {
    state *s = state_copy(from);
    if (edit(e->m, s)) {
        arrive(e, s, at, EDIT, s->edits);
    } else {
        free(s);
    }
    for (int how = 0; from->faults > 0 && how < 3; how++) {
        s = state_copy(from);
        s->faults--;
        if (how < 2) {
            restart(s, how == 1);
        } else {
            s->now += TICK;
        }
        arrive(e, s, at, how < 2 ? RESTART : CLOCK, (uint32_t)how);
    }
}

static void expand(explorer *e, const state *s, uint32_t at) {
    e->n_after = 0;
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) {
        if (has_event(s, (gv_kind)kind)) {
            state *t = state_copy(s);
            deliver(t, (gv_kind)kind);
            arrive(e, t, at, DELIVER, (uint32_t)kind);
        }
    }
    if (s->n_queue <= e->m->lag) {
        writes(e, s, at);
        by_itself(e, s, at);
        outside(e, s, at);
    }
    if (e->how == WHOLE && !e->m->broken[0]) {
        check_class(e, s);
    }
}

void explore(model *m, manner how, uint32_t faults, uint64_t max_states, uint32_t max_depth,
             result *out) {
    explorer e = {.m = m, .how = how, .r = out, .max_states = max_states};
    *out = (result){0};
    arrive(&e, initial_state(m, faults), UINT32_MAX, EDIT, 0);
    size_t first = 0;
    while (e.n_next > 0 && !m->broken[0]) {
        state **level = e.next;
        size_t n = e.n_next;
        if (out->depth >= max_depth || e.n_nodes >= max_states) {
            break;
        }
        e.next = NULL;
        e.n_next = e.cap_next = 0;
        for (size_t i = 0; i < n; i++) {
            if (!m->broken[0]) {
                expand(&e, level[i], (uint32_t)(first + i));
            }
            free(level[i]);
        }
        free(level);
        first += n;
    }
    out->complete = e.n_next == 0 && !m->broken[0];
    out->states = e.n_nodes;
    out->classes = e.classes.live;
    for (size_t i = 0; i < e.n_next; i++) {
        free(e.next[i]);
    }
    free(e.next);
    free(e.nodes);
    free(e.slots);
    free(e.after);
    table_fini(&e.calm);
    table_fini(&e.classes);
}
