/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs of queues: whose turn it is says the placement engine, after each of them anew. What all queues want is
 * kept beside, as fair shares depend on it. Without queues in the configuration nothing here is called.
 */
#include "engine/queues.h"

#include "engine/view_queues.h"
#include "model/labels.h"
#include "value/doc.h"

/* ---- a set, and what it runs ---- */

/* Its gangs without a place are looked at anew; one that has its places keeps them, wherever they count. */
static grove_status reopen(grove_engine *e, gv_str key, gv_decided *d, uint32_t queue) {
    if (d->placement.verdict == GROVE_VERDICT_PLACED && !d->reserved) {
        d->queue = queue;
        return GROVE_OK;
    }
    if (!gv_map_put(&e->gangs_to_check, key, e)) {
        return GROVE_E_NOMEM;
    }
    gv_gangs_take_back(e, key);
    return GROVE_OK;
}

/* `set` "": all. */
static grove_status follow(grove_engine *e, gv_str ns, gv_str set) {
    gv_map_entry *entry;
    bool any = false;
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        gv_decided *d = entry->value;
        if (set.n && !(gv_str_eq(d->ns, ns) && gv_str_eq(d->set, set))) {
            continue;
        }
        gv_view_queue now = gv_view_queue_of(&e->view, e->store, d->ns, d->set);
        if (now.id != d->queue || d->barred) {
            any = any || now.id != d->queue;
            if (reopen(e, (gv_str){entry->key, entry->key_len}, d, now.id) < 0) {
                return GROVE_E_NOMEM;
            }
        }
    }
    return any ? gv_gangs_mark_waiting(e) : GROVE_OK;
}

static grove_status charge_all(grove_engine *e, grove_error *err) {
    const gv_list *pods = gv_store_of_kind(e->store, GV_KIND_POD);
    grove_status st = GROVE_OK;
    bool moved = false; /* all that wait are looked at in any case */
    for (const gv_object *o = pods->first; o && st == GROVE_OK; o = gv_list_next(o, GV_LIST_KIND)) {
        st = gv_view_charge(&e->view, e->store, &o->u.pod, &moved, err);
    }
    return st;
}

grove_status gv_queues_follow_set(grove_engine *e, gv_str ns, gv_str set, grove_error *err) {
    if (!e->view.queued) {
        return GROVE_OK;
    }
    bool moved = false;
    grove_status st = gv_view_sync_queue(&e->view, e->store, ns, set, &moved, err);
    if (st == GROVE_OK && (follow(e, ns, set) < 0 || (moved && gv_gangs_mark_waiting(e) < 0))) {
        st = gv_error_nomem(err);
    }
    return st;
}

grove_status gv_queues_follow_all(grove_engine *e, grove_error *err) {
    if (!e->view.queued) {
        return GROVE_OK;
    }
    grove_status st = charge_all(e, err);
    if (st == GROVE_OK && (follow(e, GV_STR(""), GV_STR("")) < 0 || gv_gangs_mark_waiting(e) < 0)) {
        st = gv_error_nomem(err);
    }
    return st;
}

/* ---- what is wanted ---- */

typedef struct service {
    grove_engine *e;
    gv_arena *mem;
    gv_candidate *const *list; /* in the order inside a queue */
    uint32_t n;
    gv_candidate **served; /* in the order of service */
    uint32_t n_served;
    uint32_t *gangs; /* by queue: how many wait for their turn */
    int64_t *rows;   /* by queue: what is wanted and not placed */
    uint32_t n_queues, n_res;
    grove_error *err;
} service;

/* What the gang lacks of its minimum; nothing while it is not complete. */
static grove_status measure(service *s, gv_candidate *c) {
    grove_engine *e = s->e;
    const gv_decided *d = gv_map_get(&e->decided, c->key);
    gv_view_gang gang;
    if (c->has_its_least || c->queue == GROVE_QUEUE_NONE) {
        return GROVE_OK;
    }
    if (d && (d->wants || d->reserved)) { /* what is held for it is in use */
        c->n_wants = d->reserved ? 0 : d->n_wants;
        c->wants = gv_arena_array(s->mem, int64_t, c->n_wants + 1);
        if (!c->wants) {
            return gv_error_nomem(s->err);
        }
        for (uint32_t r = 0; r < c->n_wants; r++) {
            c->wants[r] = d->wants[r];
        }
        return GROVE_OK;
    }
    grove_status st = gv_gangs_describe_least(e, c->podgang, &gang, s->err);
    if (st < 0 || !gang.complete) {
        return st;
    }
    c->n_wants = grove_sched_resource_count(e->view.sched);
    c->wants = gv_arena_array(s->mem, int64_t, c->n_wants + 1);
    return c->wants ? grove_gang_needs(e->view.gang, c->wants, c->n_wants) : gv_error_nomem(s->err);
}

static void count(service *s, uint32_t queue, const int64_t *wants, uint32_t n, int sign) {
    for (uint32_t r = 0; wants && r < n && r < s->n_res; r++) {
        s->rows[(size_t)queue * s->n_res + r] += sign * wants[r];
    }
}

static bool is_listed(const grove_engine *e, gv_str key) {
    return gv_map_has(&e->gangs_to_check, key);
}

/* All that wait: those whose turn is to come, and those that nothing has changed for. */
static grove_status count_all(service *s) {
    grove_engine *e = s->e;
    gv_map_entry *entry;
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < s->n; i++) {
        st = measure(s, s->list[i]);
    }
    if (st < 0) {
        return st;
    }
    s->n_queues = grove_sched_queue_count(e->view.sched);
    s->n_res = grove_sched_resource_count(e->view.sched);
    s->gangs = gv_arena_array(s->mem, uint32_t, s->n_queues);
    s->rows = gv_arena_array(s->mem, int64_t, (size_t)s->n_queues * s->n_res);
    s->served = gv_arena_array(s->mem, gv_candidate *, s->n + 1);
    if (!s->gangs || !s->rows || !s->served) {
        return gv_error_nomem(s->err);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        count(s, s->list[i]->queue, s->list[i]->wants, s->list[i]->n_wants, 1);
    }
    for (uint32_t i = 0; (entry = gv_map_next(&e->decided, &i));) {
        const gv_decided *d = entry->value;
        if (!is_listed(e, (gv_str){entry->key, entry->key_len})) {
            count(s, d->queue, d->wants, d->n_wants, 1);
        }
    }
    return GROVE_OK;
}

/* ---- whose turn ---- */

/* Gangs that wait for nothing, and those of no queue, come last. */
static uint32_t line_of(const gv_candidate *c) {
    return c->wants || c->has_its_least ? c->queue : GROVE_QUEUE_NONE;
}

static grove_status next(service *s, bool starters, gv_candidate **out) {
    uint32_t queue = GROVE_QUEUE_NONE;
    memset(s->gangs, 0, s->n_queues * sizeof *s->gangs);
    for (uint32_t i = 0; i < s->n; i++) {
        const gv_candidate *c = s->list[i];
        s->gangs[line_of(c)] += !c->taken && c->has_its_least != starters;
    }
    grove_status st = grove_sched_next_queue(s->e->view.sched, s->gangs, s->rows, s->n_queues,
                                             &queue, s->err);
    *out = NULL;
    for (uint32_t i = 0; st == GROVE_OK && !*out && i < s->n; i++) {
        gv_candidate *c = s->list[i];
        *out = !c->taken && c->has_its_least != starters && line_of(c) == queue ? c : NULL;
    }
    return st;
}

/* Those that lack their minimum, each in its turn. */
static grove_status serve_starters(service *s, uint32_t limit, bool alone) {
    gv_candidate *c = NULL;
    grove_status st = GROVE_OK;
    while (st == GROVE_OK && s->n_served < limit) {
        st = next(s, true, &c);
        if (st < 0 || !c) {
            return st;
        }
        c->taken = true;
        count(s, c->queue, c->wants, c->n_wants, -1);
        s->served[s->n_served++] = c;
        st = gv_turn_queued(s->e, s->served, s->n_served, alone ? 0 : GV_DESCRIBE_LEAST, s->err);
        if (st == GROVE_OK && gv_turn_waits(s->e, c)) {
            count(s, c->queue, c->wants, c->n_wants, 1); /* its queue still wants it */
        }
    }
    return st;
}

/* What a gang could have beside its minimum. */
static grove_status serve_surplus(service *s, uint32_t limit) {
    grove_status st = GROVE_OK;
    for (uint32_t i = 0; st == GROVE_OK && i < s->n_served; i++) {
        st = gv_turn_grow(s->e, s->served[i], s->err);
    }
    gv_candidate *c = NULL;
    while (st == GROVE_OK && s->n_served < limit) {
        st = next(s, false, &c);
        if (st < 0 || !c) {
            return st;
        }
        c->taken = true;
        s->served[s->n_served++] = c;
        st = gv_turn_take(s->e, c, 0, s->err);
    }
    return st;
}

grove_status gv_queues_serve(grove_engine *e, gv_arena *mem, gv_candidate *const *list, uint32_t n,
                             uint32_t limit, grove_error *err) {
    service s = {.e = e, .mem = mem, .list = list, .n = n, .err = err};
    uint32_t starters = 0;
    for (uint32_t i = 0; i < n; i++) {
        const grove_node *meta = grove_node_get(list[i]->podgang, "metadata");
        gv_str set = gv_node_get_str(grove_node_get(meta, "labels"), GV_LABEL_PART_OF);
        gv_str ns = gv_node_get_str(meta, "namespace");
        list[i]->queue = gv_view_queue_of(&e->view, e->store, ns, set).id;
        starters += !list[i]->has_its_least;
    }
    grove_status st = count_all(&s);
    e->wanted = s.rows;
    st = st < 0 ? st : serve_starters(&s, limit, starters == 1);
    if (st == GROVE_OK && starters <= s.n_served) {
        st = serve_surplus(&s, limit);
    }
    e->wanted = NULL;
    for (uint32_t i = 0; st == GROVE_OK && i < s.n_served; i++) {
        gv_map_remove(&e->gangs_to_check, s.served[i]->key);
    }
    return st;
}
