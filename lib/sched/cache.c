/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same question again: while nothing has changed in the cluster, a gang that was proved not to fit
 * gets the same answer at once. Questions are compared in full, so that no collision can refuse a gang.
 */
#include "sched/decision.h"

#include <string.h>

#define ENTRIES 256u
#define LONGEST 4096u /* words of a question that are worth keeping */

typedef struct gv_cached {
    gv_word_vec question;
    uint64_t journal, version;
    grove_certificate certificate;
    uint64_t steps;
} gv_cached;

struct gv_cache {
    gv_word_vec question; /* of the gang at hand */
    gv_cached entries[ENTRIES];
};

static bool word(gv_word_vec *v, grove_env *env, uint64_t high, uint64_t low) {
    return gv_vec_push(env, v, high << 32 | (low & UINT32_MAX));
}

/* Everything about the gang that decides whether it fits. Names, wishes and priority do not. */
static bool write_question(grove_sched *s, const grove_gang *g, const grove_place_options *o,
                           gv_word_vec *v) {
    grove_env *env = s->env;
    v->n = 0;
    bool ok = word(v, env, g->topology, o->flags) && word(v, env, g->required, g->preferred) &&
              word(v, env, g->podgroups.n, g->groups.n) && word(v, env, o->frontier, 0) &&
              gv_vec_push(env, v, o->steps);
    for (size_t i = 0; ok && i < g->podgroups.n; i++) {
        const gv_podgroup *p = &g->podgroups.v[i];
        ok = word(v, env, p->class_id, p->min) && word(v, env, p->count, p->members) &&
             word(v, env, p->required, p->preferred) && word(v, env, p->parent, 0);
    }
    for (size_t i = 0; ok && i < g->groups.n; i++) {
        const gv_group *q = &g->groups.v[i];
        ok = word(v, env, q->required, q->preferred) && word(v, env, q->parent, q->n);
    }
    for (size_t i = 0; ok && i < g->members.n; i++) {
        ok = word(v, env, g->members.v[i].podgroup, g->members.v[i].node);
    }
    if (ok && g->anchor == GROVE_STRENGTH_REQUIRED) {
        ok = word(v, env, UINT32_MAX, g->anchor_level) && word(v, env, g->anchor_node, 0);
    }
    if (ok && g->spread == GROVE_STRENGTH_REQUIRED) {
        ok = word(v, env, UINT32_MAX - 1, g->spread_level) && word(v, env, g->spread_skew, 0);
        for (size_t i = 0; ok && i < g->spread_nodes.n; i++) {
            ok = word(v, env, g->spread_nodes.v[i], 0);
        }
    }
    return ok;
}

static gv_cached *slot(struct gv_cache *c) {
    uint64_t h = c->question.n;
    for (size_t i = 0; i < c->question.n; i++) {
        h = gv_mix64(h + c->question.v[i] + UINT64_C(0x9e3779b97f4a7c15));
    }
    return &c->entries[h % ENTRIES];
}

bool gv_cache_ask(grove_sched *s, const grove_gang *gang, const grove_place_options *o,
                  grove_decision *d) {
    gv_work *w = (gv_work *)s->work;
    if (!w->cache) {
        w->cache = gv_zalloc(s->env, sizeof *w->cache);
    }
    struct gv_cache *c = w->cache;
    if (!c || !write_question(s, gang, o, &c->question)) {
        return false; /* the answer is found without it */
    }
    gv_cached *e = slot(c);
    size_t bytes = c->question.n * sizeof(uint64_t);
    if (e->journal != s->journal_end || e->version != s->topologies.v[gang->topology].version ||
        e->question.n != c->question.n || memcmp(e->question.v, c->question.v, bytes) != 0) {
        return false;
    }
    gv_decision_clear(d);
    d->verdict = GROVE_INFEASIBLE;
    d->certificate = e->certificate;
    d->steps = e->steps;
    return true;
}

void gv_cache_keep(grove_sched *s, const grove_gang *gang, const grove_decision *d) {
    gv_work *w = (gv_work *)s->work;
    struct gv_cache *c = w->cache;
    if (!c || c->question.n == 0 || c->question.n > LONGEST || d->verdict != GROVE_INFEASIBLE) {
        return;
    }
    gv_cached *e = slot(c);
    e->question.n = 0;
    if (!gv_vec_reserve(s->env, &e->question, c->question.n)) {
        return;
    }
    memcpy(e->question.v, c->question.v, c->question.n * sizeof(uint64_t));
    e->question.n = c->question.n;
    e->journal = s->journal_end;
    e->version = s->topologies.v[gang->topology].version;
    e->certificate = d->certificate;
    e->steps = d->steps;
}

void gv_cache_free(grove_sched *s, struct gv_cache *c) {
    for (uint32_t i = 0; c && i < ENTRIES; i++) {
        gv_vec_fini(s->env, &c->entries[i].question);
    }
    if (c) {
        gv_vec_fini(s->env, &c->question);
        gv_free(s->env, c, sizeof *c);
    }
}
