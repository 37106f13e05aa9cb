/* SPDX-License-Identifier: Apache-2.0 */
/* Where the whole gang may go: domains of the root's level that pass the bounds, best first. */
#include "sched/balance.h"
#include "sched/decision.h"

#include <string.h>

#define ELSEWHERE (UINT64_C(1) << 63) /* not the preferred anchor, or not the least used */
#define UNWISHED (UINT64_C(1) << 62)  /* no sticky node inside */
#define DISLIKE_AT 48                 /* wishes about nodes that do not hold */
#define STRANDS (UINT64_C(1) << 47)   /* too little of another resource is left: see balance.h */
#define MISFIT_BITS 6                 /* among equally tight domains, what strands least */

typedef struct gather_ctx {
    const gv_problem *p;
    uint32_t root;      /* level */
    uint32_t *siblings; /* by domain of the spread level; NULL: no spread asked for */
    uint32_t fewest;
    uint32_t lo, hi; /* range of the candidates */
    /* what the last rank was computed from: empty domains are all alike */
    const int64_t *last_room;
    uint64_t last_rank;
    uint8_t *wished; /* by candidate domain or node; NULL: no wishes */
} gather_ctx;

/* The domain on a broader level that a candidate lies in. */
static uint32_t ancestor(const gather_ctx *c, uint32_t d, uint32_t level) {
    const gv_topology *t = c->p->t;
    uint32_t l = c->root;
    if (l == c->p->host) {
        return gv_topology_dom(t, d, level);
    }
    for (; l > level; l--) {
        d = t->levels[l].parent[d];
    }
    return d;
}

static bool takes_a_pod(const gv_problem *p, uint32_t level, uint32_t d) {
    for (uint32_t k = 0; k < p->n_classes; k++) {
        const gv_column *col = p->classes[k].column;
        if (level == p->host ? col->count[d] > 0 : col->sum[level][d] > 0) {
            return true;
        }
    }
    return false;
}

static grove_status count_siblings(gather_ctx *c, gv_arena *mem) {
    const gv_problem *p = c->p;
    const grove_gang *g = p->gang;
    if (g->spread == GROVE_STRENGTH_NONE || g->spread_level > c->root) {
        return GROVE_OK;
    }
    uint32_t level = g->spread_level;
    uint32_t n = level == p->host ? (uint32_t)p->s->nodes.n : p->t->levels[level].n;
    c->siblings = gv_arena_array(mem, uint32_t, n + 1);
    if (!c->siblings) {
        return GROVE_E_NOMEM;
    }
    for (size_t i = 0; i < g->spread_nodes.n; i++) {
        if (gv_node_live(p->s, g->spread_nodes.v[i])) {
            c->siblings[gv_topology_dom(p->t, g->spread_nodes.v[i], level)]++;
        }
    }
    c->fewest = UINT32_MAX;
    for (uint32_t d = 0; d < n; d++) {
        bool counts = level == p->host ? gv_node_live(p->s, d) : p->t->levels[level].labelled[d];
        if (counts && c->siblings[d] < c->fewest && takes_a_pod(p, level, d)) {
            c->fewest = c->siblings[d];
        }
    }
    return GROVE_OK;
}

static grove_status mark_wishes(gather_ctx *c, gv_arena *mem) {
    const gv_problem *p = c->p;
    const grove_gang *g = p->gang;
    if (g->sticky.n == 0) {
        return GROVE_OK;
    }
    size_t n = c->root == p->host ? p->s->nodes.n : p->t->levels[c->root].n;
    c->wished = gv_arena_array(mem, uint8_t, n + 1);
    if (!c->wished) {
        return GROVE_E_NOMEM;
    }
    for (size_t i = 0; i < g->sticky.n; i++) {
        if (gv_node_live(p->s, g->sticky.v[i].node)) {
            c->wished[gv_topology_dom(p->t, g->sticky.v[i].node, c->root)] = 1;
        }
    }
    return GROVE_OK;
}

static const int64_t *room_of(const gather_ctx *c, uint32_t d) {
    return c->root == c->p->host ? gv_node_free(c->p->s, d)
                                 : c->p->t->levels[c->root].free + (size_t)d * c->p->s->stride;
}

static uint64_t rank(gather_ctx *c, uint32_t d) {
    const gv_problem *p = c->p;
    const grove_gang *g = p->gang;
    const int64_t *room = room_of(c, d);
    if (!c->last_room || memcmp(c->last_room, room, p->n_res * sizeof *room) != 0) {
        c->last_room = room;
        c->last_rank = (uint64_t)gv_share(p, p->rank_res, room[p->rank_res]) << MISFIT_BITS;
        uint32_t misfit = gv_misfit(p, room, p->amounts, 1);
        c->last_rank += misfit + (misfit >= GV_MISFIT_STRANDS ? STRANDS : 0);
    }
    uint64_t key = c->last_rank + (gv_unit_dislike(p, 0, c->root, d) << DISLIKE_AT);
    if (c->wished && !c->wished[d]) {
        key += UNWISHED;
    }
    bool away = false;
    if (g->anchor == GROVE_STRENGTH_PREFERRED && g->anchor_level <= c->root) {
        away = ancestor(c, d, g->anchor_level) !=
               gv_topology_dom(p->t, g->anchor_node, g->anchor_level);
    }
    if (c->siblings && c->siblings[ancestor(c, d, g->spread_level)] > c->fewest) {
        away = true;
    }
    return away ? key | ELSEWHERE : key;
}

static bool spread_forbids(const gather_ctx *c, uint32_t d) {
    const grove_gang *g = c->p->gang;
    if (!c->siblings || g->spread != GROVE_STRENGTH_REQUIRED) {
        return false;
    }
    uint64_t here = c->siblings[ancestor(c, d, g->spread_level)];
    return here + 1 > (uint64_t)c->fewest + g->spread_skew;
}

/* The nearest miss is the one with the smallest shortage in parts of the need. */
static bool nearer(const gv_bound *a, const gv_bound *b) {
    if (b->reason == GROVE_REASON_NONE) {
        return true;
    }
    if (a->reason == GROVE_REASON_CAPABILITY || b->reason == GROVE_REASON_CAPABILITY) {
        /* every sum held there */
        return b->reason != GROVE_REASON_CAPABILITY;
    }
    int64_t part_a = a->have / (a->need / 4096 + 1) * 4096 / (a->need / (a->need / 4096 + 1) + 1);
    int64_t part_b = b->have / (b->need / 4096 + 1) * 4096 / (b->need / (b->need / 4096 + 1) + 1);
    return part_a > part_b;
}

static uint64_t ask_caller(const gather_ctx *c, uint32_t d, uint64_t key) {
    grove_sched *s = c->p->s;
    if (!s->order) {
        return key;
    }
    grove_sched_candidate ask = {.size = (uint32_t)sizeof ask, .topology = c->p->gang->topology};
    ask.level = (grove_level)c->root - 1;
    ask.domain = d;
    ask.rank = (int64_t)(key >> 1);
    int64_t answer = s->order(s->order_ctx, &ask);
    return (uint64_t)answer ^ (UINT64_C(1) << 63); /* signed order kept */
}

static void consider(gather_ctx *c, uint32_t d, gv_candidates *out) {
    const gv_problem *p = c->p;
    if (!gv_domain_seen(p->t, c->root, d, p->units[0].seen_on)) {
        return;
    }
    out->considered++;
    if (spread_forbids(c, d)) {
        out->banned++;
        return;
    }
    gv_bound b;
    gv_bounds_sums(p, 0, d, &b);
    if (b.reason == GROVE_REASON_NONE && p->s->order) {
        gv_bounds_children(p, 0, d, &b); /* the caller is asked about those that pass alone */
    }
    if (b.reason != GROVE_REASON_NONE) {
        if (nearer(&b, &out->nearest)) {
            out->nearest = b;
            out->nearest_domain = d;
        }
        return;
    }
    out->v[out->n++] = (gv_candidate){ask_caller(c, d, rank(c, d)), d};
}

/* The domains in question, and what ranks them. */
static grove_status start(gather_ctx *c, gv_arena *mem) {
    const gv_problem *p = c->p;
    const grove_gang *g = p->gang;
    c->lo = 0;
    c->hi = 1;
    if (p->units[0].pin != GV_NONE) {
        c->lo = c->root == p->host ? p->t->pos[p->units[0].pin] : p->units[0].pin;
        c->hi = c->lo + 1;
    } else if (g->anchor == GROVE_STRENGTH_REQUIRED) {
        gv_problem_range(p->t, g->anchor_level,
                         gv_topology_dom(p->t, g->anchor_node, g->anchor_level), c->root, &c->lo,
                         &c->hi);
    } else {
        gv_problem_range(p->t, 0, 0, c->root, &c->lo, &c->hi);
    }
    grove_status st = count_siblings(c, mem);
    return st < 0 ? st : mark_wishes(c, mem);
}

grove_status gv_candidates_gather(const gv_problem *p, gv_arena *mem, gv_candidates *out) {
    gather_ctx c = {.p = p, .root = p->units[0].level};
    *out = (gv_candidates){.p = p, .nearest_domain = GV_NONE};
    grove_status st = start(&c, mem);
    out->v = st < 0 ? NULL : gv_arena_alloc(mem, ((size_t)c.hi - c.lo + 1) * sizeof *out->v);
    if (!out->v) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = c.lo; i < c.hi; i++) {
        consider(&c, c.root == p->host ? p->t->order[i] : i, out);
    }
    return GROVE_OK;
}

static uint64_t tightness(const gv_problem *p, const int64_t *room) {
    return (uint64_t)gv_share(p, p->rank_res, room[p->rank_res]) << MISFIT_BITS;
}

static bool passes(const gather_ctx *c, uint32_t d) {
    return gv_domain_seen(c->p->t, c->root, d, c->p->units[0].seen_on) && !spread_forbids(c, d) &&
           gv_bounds_hold(c->p, 0, d);
}

/* Behind `last` (NULL: anything is) and better than `best`. */
static bool improves(gv_candidate one, const gv_candidate *last, gv_candidate best) {
    bool later = !last || one.key > last->key ||
                 (one.key == last->key && one.domain > last->domain);
    return later && (one.key < best.key || (one.key == best.key && one.domain < best.domain));
}

/* The best candidate behind `last`; most domains are passed over by one look. */
static gv_candidate next_of_all(gather_ctx *c, const gv_candidate *last) {
    const gv_problem *p = c->p;
    gv_candidate best = {UINT64_MAX, GV_NONE};
    for (uint32_t i = c->lo; i < c->hi; i++) {
        uint32_t d = c->root == p->host ? p->t->order[i] : i;
        const int64_t *room = room_of(c, d);
        if (room[p->rank_res] < p->amounts[p->rank_res] || tightness(p, room) >= best.key) {
            continue;
        }
        gv_candidate one = {rank(c, d), d};
        if (improves(one, last, best) && passes(c, d)) {
            best = one;
        }
    }
    return best;
}

/*
 * The same by the order of their room: from the tightest that may do to where no better one can follow.
 * Domains that are free to the same amounts have one rank, and the first of them that passes is the best.
 */
static gv_candidate next_in_order(gather_ctx *c, const gv_rooms *o, const gv_candidate *last) {
    const gv_problem *p = c->p;
    gv_candidate best = {UINT64_MAX, GV_NONE};
    for (uint32_t at = gv_rooms_from(o, p->amounts[p->rank_res]); at < o->n;) {
        gv_candidate one = {0, o->dom[at]};
        if (tightness(p, gv_rooms_of(o, one.domain)) > best.key) {
            break;
        }
        if (!passes(c, one.domain)) {
            at++;
            continue;
        }
        one.key = rank(c, one.domain);
        best = improves(one, last, best) ? one : best;
        at = one.key >= best.key ? gv_rooms_past_equals(o, at) : at + 1;
    }
    return best;
}

/* Whether nothing but its room and its number tells one candidate from another. */
static bool by_room_alone(const gather_ctx *c) {
    const gv_problem *p = c->p;
    return c->root <= p->t->n_levels && c->lo == 0 && c->hi == p->t->levels[c->root].n &&
           !c->wished && !p->wishes && !c->siblings && p->gang->anchor != GROVE_STRENGTH_PREFERRED;
}

grove_status gv_candidates_few(const gv_problem *p, gv_arena *mem, uint32_t n, gv_few_fn try_one,
                               bool *out_found, uint32_t *out_tried) {
    gather_ctx c = {.p = p, .root = p->units[0].level};
    gv_candidate last = {0, 0};
    const gv_rooms *o = NULL;
    *out_found = false;
    *out_tried = 0;
    if (start(&c, mem) < 0) {
        return GROVE_E_NOMEM;
    }
    if (by_room_alone(&c)) {
        o = gv_rooms_get(p->s, p->gang->topology, c.root, p->rank_res);
        if (!o) {
            return GROVE_E_NOMEM;
        }
    }
    for (uint32_t i = 0; i < n && !*out_found; i++) {
        const gv_candidate *behind = i > 0 ? &last : NULL;
        gv_candidate now = o ? next_in_order(&c, o, behind) : next_of_all(&c, behind);
        if (now.domain == GV_NONE) {
            break;
        }
        *out_found = try_one(p, now.domain);
        ++*out_tried;
        last = now;
    }
    return GROVE_OK;
}

/* The best of those that are not settled comes next to those that are. */
static void bring_best(gv_candidates *c) {
    uint32_t from = c->settled, best = from;
    for (uint32_t i = from + 1; i < c->n; i++) {
        if (c->v[i].key < c->v[best].key ||
            (c->v[i].key == c->v[best].key && c->v[i].domain < c->v[best].domain)) {
            best = i;
        }
    }
    gv_candidate t = c->v[from];
    c->v[from] = c->v[best];
    c->v[best] = t;
}

static bool first_of_level(const gv_candidates *c, uint32_t d) {
    const gv_topology *t = c->p->t;
    if (c->nearest.reason != GROVE_REASON_CAPABILITY) {
        return true;
    }
    return c->p->units[0].level == c->p->host ? t->pos[d] < t->pos[c->nearest_domain]
                                              : d < c->nearest_domain;
}

/* Units inside are looked at here only: most gangs are placed in one of the first candidates. */
bool gv_candidates_next(gv_candidates *c, uint32_t i) {
    while (i >= c->settled && c->settled < c->n) {
        gv_bound b;
        bring_best(c);
        uint32_t d = c->v[c->settled].domain;
        gv_bounds_children(c->p, 0, d, &b);
        if (b.reason == GROVE_REASON_NONE) {
            c->settled++;
            continue;
        }
        if (first_of_level(c, d)) { /* nearer than any short sum */
            c->nearest = b;
            c->nearest_domain = d;
        }
        c->v[c->settled] = c->v[--c->n];
    }
    return i < c->settled;
}
