/* SPDX-License-Identifier: Apache-2.0 */
/* What a finished assignment is worth: nodes by pod index, levels reached, cost vector, score. */
#include "sched/decision.h"

#include <string.h>

#define MILLION 1000000

/* ---- who is where ---- */

static grove_status lay_out(const gv_problem *p, grove_decision *d) {
    const grove_gang *g = p->gang;
    grove_env *env = p->s->env;
    uint32_t n = (uint32_t)g->podgroups.n, total = 0;
    if (!gv_vec_reserve(env, &d->first, n + 1) || !gv_vec_reserve(env, &d->needed, n)) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        const gv_podgroup *pg = &g->podgroups.v[i];
        d->first.v[i] = total;
        d->needed.v[i] = pg->min > pg->members ? pg->min - pg->members : 0;
        total += pg->count > pg->members ? pg->count - pg->members : 0;
    }
    d->first.v[n] = total;
    d->first.n = n + 1;
    d->needed.n = n;
    if (!gv_vec_reserve(env, &d->nodes, total)) {
        return GROVE_E_NOMEM;
    }
    if (total > 0) { /* nothing reserved: no pointer to hand to memset */
        memset(d->nodes.v, 0xff, total * sizeof *d->nodes.v);
    }
    d->nodes.n = total;
    return GROVE_OK;
}

/* Wishes first, then the rest in order; taken pods are struck off the copy of the puts. */
static void hand_out(const gv_problem *p, grove_decision *d, gv_put *puts, size_t n_puts) {
    const grove_gang *g = p->gang;
    for (size_t i = 0; i < g->sticky.n; i++) {
        const gv_sticky *wish = &g->sticky.v[i];
        uint32_t first = d->first.v[wish->podgroup], end = d->first.v[wish->podgroup + 1];
        if (wish->index >= end - first || d->nodes.v[first + wish->index] != GV_NONE) {
            continue;
        }
        for (size_t k = 0; k < n_puts; k++) {
            if (puts[k].count > 0 && puts[k].node == wish->node &&
                p->parts[puts[k].part].podgroup == wish->podgroup) {
                puts[k].count--;
                d->nodes.v[first + wish->index] = wish->node;
                break;
            }
        }
    }
    for (size_t k = 0; k < n_puts; k++) {
        uint32_t pg = p->parts[puts[k].part].podgroup;
        uint32_t at = d->first.v[pg];
        for (; puts[k].count > 0; puts[k].count--) {
            while (d->nodes.v[at] != GV_NONE) {
                at++;
            }
            d->nodes.v[at] = puts[k].node;
        }
    }
}

/* ---- levels ---- */

static void narrow(const gv_topology *t, uint32_t rep, uint32_t node, uint32_t *level) {
    while (*level > 0 && (gv_topology_dom(t, rep, *level) != gv_topology_dom(t, node, *level) ||
                          (*level <= t->n_levels &&
                           !t->levels[*level].labelled[gv_topology_dom(t, node, *level)]))) {
        (*level)--;
    }
}

typedef struct meet {
    uint32_t rep, level;
} meet;

static void meet_node(const gv_problem *p, meet *m, uint32_t node) {
    if (m->rep == GV_NONE) {
        m->rep = node;
        m->level = p->host;
    }
    narrow(p->t, m->rep, node, &m->level);
}

/* A podgroup's node counts for its groups and the gang as well. */
static void meet_all(const gv_problem *p, meet *m, uint32_t podgroup, uint32_t node) {
    const grove_gang *g = p->gang;
    meet_node(p, &m[0], node);
    meet_node(p, &m[1 + g->groups.n + podgroup], node);
    for (uint32_t at = g->podgroups.v[podgroup].parent; at != GV_NONE;
         at = g->groups.v[at].parent) {
        meet_node(p, &m[1 + at], node);
    }
}

static grove_status levels_reached(const gv_problem *p, grove_decision *d) {
    const grove_gang *g = p->gang;
    gv_work *w = gv_work_of(p);
    size_t n = 1 + g->groups.n + g->podgroups.n;
    meet *m = gv_arena_alloc(&w->mem, n * sizeof *m);
    if (!m || !gv_vec_reserve(p->s->env, &d->level, n)) {
        return GROVE_E_NOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        m[i] = (meet){GV_NONE, 0};
    }
    for (size_t i = 0; i < g->members.n; i++) {
        meet_all(p, m, g->members.v[i].podgroup, g->members.v[i].node);
    }
    for (size_t i = 0; i < w->puts.n; i++) {
        meet_all(p, m, p->parts[w->puts.v[i].part].podgroup, w->puts.v[i].node);
    }
    for (size_t i = 0; i < n; i++) {
        d->level.v[i] = m[i].level;
    }
    d->level.n = n;
    d->n_groups = (uint32_t)g->groups.n;
    return GROVE_OK;
}

/* ---- cost ---- */

static bool first_seen(uint32_t *stamps, uint32_t at, uint32_t stamp) {
    bool fresh = stamps[at] != stamp;
    stamps[at] = stamp;
    return fresh;
}

static int64_t part_of_thousand(int64_t have, int64_t of) {
    if (of <= 0 || have <= 0) {
        return 0;
    }
    return have <= INT64_MAX / 1000 ? have * 1000 / of : have / (of / 1000 + 1);
}

static void add_host(const gv_problem *p, gv_work *w, uint32_t node, grove_cost *cost) {
    const gv_topology *t = p->t;
    int64_t weight = 1;
    cost->hosts++;
    cost->broken += p->s->nodes.v[node].n_pods == 0;
    cost->leftover += part_of_thousand(gv_work_room(p, w, node)[p->rank_res],
                                       p->s->cap[(size_t)node * p->s->stride + p->rank_res]);
    for (uint32_t l = t->n_levels; l > 0; l--) {
        uint32_t dom = gv_topology_dom(t, node, l);
        weight = weight < INT64_MAX / 1000000 ? weight * 1000 : weight;
        if (first_seen(w->seen_domain.v, w->level_at.v[l] + dom, w->stamp)) {
            cost->span += l == t->n_levels;
            cost->broken += t->levels[l].busy[dom] == 0 ? weight : 0;
        }
    }
}

static void count_cost(const gv_problem *p, grove_decision *d) {
    gv_work *w = gv_work_of(p);
    const grove_gang *g = p->gang;
    grove_cost *cost = &d->cost;
    w->stamp++;
    for (size_t i = 0; i < w->puts.n; i++) {
        const gv_put *put = &w->puts.v[i];
        uint32_t cls = p->classes[p->parts[put->part].cls].class_id;
        if (first_seen(w->seen_node.v, put->node, w->stamp)) {
            add_host(p, w, put->node, cost);
        }
        if (p->s->classes.v[cls].n_preferred > 0 || p->s->nodes.v[put->node].n_taints > 0) {
            cost->disliked += gv_class_dislike(p->s, cls, put->node) * put->count;
        }
        if (g->anchor == GROVE_STRENGTH_PREFERRED && g->anchor_level != GV_LEVEL_UNKNOWN &&
            gv_topology_dom(p->t, put->node, g->anchor_level) !=
                gv_topology_dom(p->t, g->anchor_node, g->anchor_level)) {
            cost->moved += put->count;
        }
    }
    for (size_t i = 0; i < g->sticky.n; i++) {
        const gv_sticky *wish = &g->sticky.v[i];
        uint32_t first = d->first.v[wish->podgroup], end = d->first.v[wish->podgroup + 1];
        cost->moved += wish->index < end - first && d->nodes.v[first + wish->index] != wish->node &&
                       d->nodes.v[first + wish->index] != GV_NONE;
    }
}

/* ---- score ---- */

/* Whether a podgroup lies in an entity (0 gang, then groups, then podgroups). */
static bool inside(const grove_gang *g, uint32_t podgroup, uint32_t entity) {
    if (entity == 0 || entity == 1 + g->groups.n + podgroup) {
        return true;
    }
    uint32_t at = g->podgroups.v[podgroup].parent;
    while (at != GV_NONE && 1 + at != entity) {
        at = g->groups.v[at].parent;
    }
    return at != GV_NONE;
}

typedef struct extent {
    int64_t hosts, racks;             /* used */
    int64_t least_hosts, least_racks; /* on empty hardware */
} extent;

static extent measure(const gv_problem *p, uint32_t entity, uint64_t *counts) {
    gv_work *w = gv_work_of(p);
    const gv_topology *t = p->t;
    extent e = {0, 0, 1, 1};
    memset(counts, 0, p->n_classes * sizeof *counts);
    w->stamp++;
    for (size_t i = 0; i < w->puts.n; i++) {
        const gv_put *put = &w->puts.v[i];
        const gv_part *part = &p->parts[put->part];
        if (!inside(p->gang, part->podgroup, entity)) {
            continue;
        }
        counts[part->cls] += put->count;
        e.hosts += first_seen(w->seen_node.v, put->node, w->stamp);
        uint32_t rack = w->level_at.v[t->n_levels] + gv_topology_dom(t, put->node, t->n_levels);
        e.racks += first_seen(w->seen_domain.v, rack, w->stamp);
    }
    for (uint32_t k = 0; k < p->n_classes; k++) {
        const uint64_t *empty = p->classes[k].column->empty;
        uint64_t host = empty[t->n_levels + 1], rack = empty[t->n_levels];
        int64_t hosts = host ? (int64_t)((counts[k] + host - 1) / host) : 0;
        int64_t racks = rack ? (int64_t)((counts[k] + rack - 1) / rack) : 0;
        e.least_hosts = hosts > e.least_hosts ? hosts : e.least_hosts;
        e.least_racks = racks > e.least_racks ? racks : e.least_racks;
    }
    return e;
}

static void entity_levels(const grove_gang *g, uint32_t entity, uint32_t *required,
                          uint32_t *preferred) {
    if (entity == 0) {
        *required = g->required;
        *preferred = g->preferred;
    } else if (entity <= g->groups.n) {
        *required = g->groups.v[entity - 1].required;
        *preferred = g->groups.v[entity - 1].preferred;
    } else {
        *required = g->podgroups.v[entity - 1 - g->groups.n].required;
        *preferred = g->podgroups.v[entity - 1 - g->groups.n].preferred;
    }
}

static grove_status score(const gv_problem *p, grove_decision *d) {
    const grove_gang *g = p->gang;
    uint64_t *counts = gv_arena_array(&gv_work_of(p)->mem, uint64_t, p->n_classes + 1);
    if (!counts) {
        return GROVE_E_NOMEM;
    }
    int64_t sum = 0, weights = 0, wished = 0, met = 0;
    for (uint32_t e = 0; e < d->level.n; e++) {
        uint32_t required, preferred;
        entity_levels(g, e, &required, &preferred);
        if (preferred > 0 && preferred != GV_LEVEL_UNKNOWN) {
            wished++;
            met += d->level.v[e] >= preferred;
        }
        if (e > 0 && required == 0 && preferred == 0) {
            continue;
        }
        int64_t weight = e == 0 ? 4 : e <= g->groups.n ? 2 : 1;
        extent x = measure(p, e, counts);
        if (x.hosts > 0) {
            sum += weight * (x.least_hosts * MILLION / x.hosts + x.least_racks * MILLION / x.racks);
            weights += 2 * weight;
        }
    }
    int64_t mean = weights > 0 ? sum / weights : MILLION;
    mean = wished > 0 ? mean * met / wished : mean;
    d->score = (int32_t)(mean < MILLION ? mean : MILLION);
    return GROVE_OK;
}

grove_status gv_decision_fill(const gv_problem *p, grove_decision *d) {
    gv_work *w = gv_work_of(p);
    grove_status st = lay_out(p, d);
    gv_put *copy = gv_arena_alloc(&w->mem, (w->puts.n + 1) * sizeof *copy);
    if (st < 0 || !copy) {
        return GROVE_E_NOMEM;
    }
    if (w->puts.n > 0) {
        memcpy(copy, w->puts.v, w->puts.n * sizeof *copy);
    }
    hand_out(p, d, copy, w->puts.n);
    st = levels_reached(p, d);
    if (st < 0) {
        return st;
    }
    int64_t climbed = d->cost.climbed;
    d->cost = (grove_cost){.size = (uint32_t)sizeof d->cost, .climbed = climbed};
    count_cost(p, d);
    return score(p, d);
}
