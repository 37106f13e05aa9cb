/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two laws, verified as the engine goes (GROVE_ENGINE_CHECK). A *quiet period* of a set is the time in which
 * nothing came from outside: no event but the echo of our own writes, no refusal, no answer that tells of
 * another writer, no deadline reached. In one period
 *   (b) the plans of a set come to an empty one after a bounded number of rounds, and
 *   (c) no write brings an object back to what it was before a write of an earlier round; what follows
 *       deeds, as a status or a gang's list of pods does, only if nothing else was written from that round on.
 * What belongs to a period is forgotten with it; a doubt (an echo that cannot be told) begins a new one.
 */
#include "engine/engine.h"

#include "base/hash.h"
#include "value/doc.h"

/* From nothing to a running set of all child kinds takes fewer; a loop takes any number. */
#define MOST_ROUNDS 16
#define ECHOES_KEPT 4096
#define ABSENT 0

/* ---- what an object is, as one number ---- */

static uint64_t hash_text(uint64_t h, const char *text) {
    return gv_fnv1a(h, text, strlen(text) + 1);
}

static bool ends_with(const char *text, const char *tail) {
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* When something was is no part of what it is; versions only count. */
static bool is_part(const char *key) {
    return !ends_with(key, "Time") && !ends_with(key, "Timestamp") && !ends_with(key, "At") &&
           strcmp(key, "resourceVersion") != 0 && strcmp(key, "generation") != 0 &&
           strcmp(key, "managedFields") != 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document, which its reader has bounded */
static uint64_t hash_node(const grove_node *node) {
    uint64_t h = gv_mix64((uint64_t)grove_node_type(node) + 1);
    const char *text = grove_node_text(node);
    if (text) {
        return hash_text(h, text);
    }
    if (grove_node_type(node) == GROVE_BOOL) {
        return gv_mix64(h + (uint64_t)grove_node_is_true(node));
    }
    bool object = grove_node_type(node) == GROVE_OBJECT;
    GV_EACH(child, node) {
        const char *key = object ? grove_node_key(child, NULL) : "";
        if (object && is_part(key)) { /* members have no order */
            h += gv_mix64(hash_text(hash_node(child), key));
        } else if (!object) {
            h = gv_mix64(h ^ hash_node(child)) * 3;
        }
    }
    return h;
}

static uint64_t hash_pod(const gv_pod *pod) {
    uint64_t h = gv_mix64(((uint64_t)pod->flags & GV_POD_GROVE_GATE) + pod->n_gates + 1);
    const char *texts[] = {pod->head.uid, pod->node, pod->gang, pod->base_gang, pod->hash};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        h = hash_text(h, texts[i]);
    }
    return h;
}

/* The visible object, its status apart from the rest. On its way out is as good as gone. */
static uint64_t state_of(const grove_engine *e, const grove_action *a) {
    const gv_object *o = gv_store_get(e->store, (gv_kind)a->kind, gv_str_c(a->ns),
                                      gv_str_c(a->name));
    if (!o || gv_object_is_terminating(o)) {
        return ABSENT;
    }
    const grove_node *root = gv_object_node(o);
    if (!root) {
        return gv_object_is_pod(o) ? hash_pod(&o->u.pod) : 1;
    }
    if (a->subresource == GROVE_SUBRESOURCE_STATUS) {
        return hash_node(grove_node_get(root, "status"));
    }
    uint64_t h = 1;
    GV_EACH(part, root) {
        const char *key = grove_node_key(part, NULL);
        h += strcmp(key, "status") == 0 ? 0 : gv_mix64(hash_text(hash_node(part), key));
    }
    return h;
}

static uint64_t part_written(const grove_action *a) {
    uint64_t h = gv_fnv1a(GV_FNV_START, &a->kind, sizeof a->kind);
    h = hash_text(hash_text(h, a->ns), a->name);
    return h + (a->subresource == GROVE_SUBRESOURCE_STATUS);
}

/* Whether what is written tells of other objects: counters, conditions, the members of a gang. */
static bool follows_deeds(const grove_action *a) {
    gv_kind kind = (gv_kind)a->kind;
    return a->subresource == GROVE_SUBRESOURCE_STATUS || kind == GV_KIND_PODGANG ||
           kind == GV_KIND_KAI_PODGROUP || kind == GV_KIND_VOLCANO_PODGROUP;
}

/* ---- periods ---- */

static bool is_checked(const grove_engine *e) {
    return (e->flags & GROVE_ENGINE_CHECK) != 0;
}

void gv_laws_outside(grove_engine *e) {
    e->outside++;
}

static void begin_period(grove_engine *e, gv_set *set) {
    set->laws.seen = e->outside;
    set->laws.rounds = 0;
    set->laws.writes.n = 0;
}

void gv_laws_set_fini(grove_engine *e, gv_set *set) {
    gv_vec_fini(e->env, &set->laws.writes);
}

void gv_laws_fini(grove_engine *e) {
    gv_vec_fini(e->env, &e->echoes);
}

static bool writes_anything(const grove_plan *plan) {
    for (uint32_t i = 0; i < grove_plan_actions(plan); i++) {
        if (grove_plan_action(plan, i)->verb != GROVE_VERB_EVENT) {
            return true;
        }
    }
    return false;
}

grove_status gv_laws_plan(grove_engine *e, gv_set *set, const grove_plan *plan, int64_t now,
                          grove_error *err) {
    if (!is_checked(e)) {
        return GROVE_OK;
    }
    bool due = now > set->planned_at && now >= set->deadline;
    if (set->laws.seen != e->outside || due || now < set->planned_at) {
        begin_period(e, set);
    }
    if (!writes_anything(plan)) {
        return GROVE_OK;
    }
    set->laws.rounds++;
    if (set->laws.rounds > e->stats.most_rounds) {
        e->stats.most_rounds = set->laws.rounds;
    }
    if (set->laws.rounds > MOST_ROUNDS) {
        const grove_action *a = grove_plan_action(plan, 0);
        return gv_error(err, GROVE_E_INTERNAL,
                        "%s/%s: %u plans in a row without an event in between; now %s %s (%s)",
                        set->ns, set->name, (unsigned)set->laws.rounds, a->kind_name, a->name,
                        a->reason);
    }
    return GROVE_OK;
}

/* ---- writes ---- */

grove_status gv_laws_before_write(grove_engine *e, gv_set *set, const grove_action *a,
                                  grove_error *err) {
    if (!is_checked(e)) {
        return GROVE_OK;
    }
    gv_law_write w = {.part = part_written(a),
                      .before = state_of(e, a),
                      .round = set->laws.rounds,
                      .follows = follows_deeds(a)};
    return gv_vec_push(e->env, &set->laws.writes, w) ? GROVE_OK : gv_error_nomem(err);
}

void gv_laws_not_written(grove_engine *e, gv_set *set) {
    set->laws.writes.n -= is_checked(e) && set->laws.writes.n > 0;
}

/* From this write's round on, to anything but it: facts that its plan did not know. */
static bool writes_elsewhere(const gv_set *set, const gv_law_write *w) {
    for (size_t i = 0; i < set->laws.writes.n; i++) {
        const gv_law_write *other = &set->laws.writes.v[i];
        if (other->round >= w->round && other->part != w->part) {
            return true;
        }
    }
    return false;
}

grove_status gv_laws_after_write(grove_engine *e, gv_set *set, const grove_action *a,
                                 grove_error *err) {
    if (!is_checked(e) || set->laws.writes.n == 0) {
        return GROVE_OK;
    }
    size_t last = set->laws.writes.n - 1;
    const gv_law_write *w = set->laws.writes.v;
    uint64_t now = state_of(e, a);
    if (now == w[last].before) {
        return GROVE_OK; /* it shows no difference */
    }
    for (size_t i = 0; i < last; i++) {
        bool same = w[i].part == w[last].part && w[i].before == now && w[i].round < w[last].round;
        if (same && !(w[last].follows && writes_elsewhere(set, &w[i]))) {
            return gv_error(
                err, GROVE_E_INTERNAL,
                "%s/%s: round %u undoes at %s %s what round %u did, without an event in "
                "between (%s)",
                set->ns, set->name, (unsigned)w[last].round, a->kind_name, a->name,
                (unsigned)w[i].round, a->reason);
        }
    }
    return GROVE_OK;
}

/* ---- echoes ---- */

static uint64_t echo_of(gv_str text) {
    return gv_fnv1a(GV_FNV_START, text.p, text.n);
}

grove_status gv_laws_answer(grove_engine *e, const grove_action *a, const grove_completion *c) {
    const grove_node *meta = grove_node_get(c->object, "metadata");
    gv_str rv = gv_node_get_str(meta, "resourceVersion");
    if (!is_checked(e)) {
        return GROVE_OK;
    }
    if (c->status < 0) {
        gv_laws_outside(e);
        return GROVE_OK;
    }
    if (e->echoes.n >= ECHOES_KEPT) {
        e->echoes.n = 0;
    }
    /* What goes at once, and what answers no object, is known by the uid. */
    bool whole = rv.n > 0 && a->verb != GROVE_VERB_DELETE && a->verb != GROVE_VERB_BIND;
    bool lingers = grove_node_get(meta, "deletionTimestamp") != NULL;
    uint64_t echo = echo_of(whole || lingers ? rv : gv_str_c(a->uid));
    return gv_vec_push(e->env, &e->echoes, echo) ? GROVE_OK : GROVE_E_NOMEM;
}

uint64_t gv_laws_expected(const grove_engine *e, const grove_action *a) {
    return is_checked(e) && a->subresource == GROVE_SUBRESOURCE_STATUS ? state_of(e, a) : 0;
}

void gv_laws_returned(grove_engine *e, const grove_action *a, uint64_t expected) {
    if (gv_laws_expected(e, a) != expected) {
        gv_laws_outside(e);
    }
}

void gv_laws_event(grove_engine *e, gv_str uid, gv_str rv) {
    if (!is_checked(e)) {
        return;
    }
    uint64_t by_rv = echo_of(rv), by_uid = echo_of(uid);
    for (size_t i = 0; i < e->echoes.n; i++) {
        if (e->echoes.v[i] == by_rv || e->echoes.v[i] == by_uid) {
            e->echoes.v[i] = e->echoes.v[--e->echoes.n];
            return;
        }
    }
    gv_laws_outside(e);
}
