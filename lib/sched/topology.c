/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topologies: label keys from broad to narrow, and the tree of domains that the nodes span. A domain is
 * identified by its path of values, never by a value alone. Every domain is a contiguous range of
 * positions, and children of a domain are contiguous on their level.
 */
#include "sched/state.h"

#include <string.h>

static void level_clear(grove_sched *s, gv_level *lv) {
    size_t n = lv->n;
    gv_free(s->env, lv->lo, n * sizeof *lv->lo);
    gv_free(s->env, lv->hi, n * sizeof *lv->hi);
    gv_free(s->env, lv->parent, n * sizeof *lv->parent);
    gv_free(s->env, lv->first, n * sizeof *lv->first);
    gv_free(s->env, lv->end, n * sizeof *lv->end);
    gv_free(s->env, lv->labelled, n * sizeof *lv->labelled);
    gv_free(s->env, lv->free, n * s->stride * sizeof *lv->free);
    gv_free(s->env, lv->busy, n * sizeof *lv->busy);
    uint32_t key = lv->key;
    memset(lv, 0, sizeof *lv);
    lv->key = key;
}

void gv_topology_clear(grove_sched *s, gv_topology *t) {
    for (uint32_t l = 0; t->levels && l <= t->n_levels; l++) {
        level_clear(s, &t->levels[l]);
    }
    gv_free(s->env, t->order, t->cap_nodes * sizeof *t->order);
    gv_free(s->env, t->pos, t->cap_nodes * sizeof *t->pos);
    gv_free(s->env, t->dom, t->cap_nodes * (t->n_levels + 1) * sizeof *t->dom);
    t->order = t->pos = t->dom = NULL;
    t->cap_nodes = 0;
    t->dirty = true;
}

/* Domains in the order of their first node, before they are numbered depth first. */
typedef struct found {
    uint32_t parent, value;
    uint32_t child, last_child, next; /* children as a list */
    uint32_t size;                    /* nodes below */
    uint32_t number;                  /* final index on the level */
} found;

typedef GV_VEC(found) found_vec;

typedef struct builder {
    grove_sched *s;
    gv_topology *t;
    found_vec *by_level;
    uint32_t *slots; /* open addressing over (level, parent, value) -> level-local index + 1 */
    uint32_t n_slots;
    uint32_t *slot_level;
    uint32_t used;
} builder;

static uint64_t path_hash(uint32_t level, uint32_t parent, uint32_t value) {
    return gv_mix64(((uint64_t)parent << 32 | value) + UINT64_C(0x9e3779b97f4a7c15) * (level + 1));
}

static void builder_fini(builder *b) {
    for (uint32_t l = 0; b->by_level && l <= b->t->n_levels; l++) {
        gv_vec_fini(b->s->env, &b->by_level[l]);
    }
    gv_free(b->s->env, b->by_level, (b->t->n_levels + 1) * sizeof *b->by_level);
    gv_free(b->s->env, b->slots, b->n_slots * sizeof *b->slots);
    gv_free(b->s->env, b->slot_level, b->n_slots * sizeof *b->slot_level);
}

static bool slots_grow(builder *b) {
    uint32_t n = b->n_slots ? b->n_slots * 2 : 256;
    uint32_t *slots = gv_zalloc(b->s->env, n * sizeof *slots);
    uint32_t *levels = slots ? gv_zalloc(b->s->env, n * sizeof *levels) : NULL;
    if (!levels) {
        gv_free(b->s->env, slots, n * sizeof *slots);
        return false;
    }
    for (uint32_t i = 0; i < b->n_slots; i++) {
        if (!b->slots[i]) {
            continue;
        }
        const found *f = &b->by_level[b->slot_level[i]].v[b->slots[i] - 1];
        uint32_t at = (uint32_t)path_hash(b->slot_level[i], f->parent, f->value) & (n - 1);
        while (slots[at]) {
            at = (at + 1) & (n - 1);
        }
        slots[at] = b->slots[i];
        levels[at] = b->slot_level[i];
    }
    gv_free(b->s->env, b->slots, b->n_slots * sizeof *b->slots);
    gv_free(b->s->env, b->slot_level, b->n_slots * sizeof *b->slot_level);
    b->slots = slots;
    b->slot_level = levels;
    b->n_slots = n;
    return true;
}

/* The domain of `value` below `parent`, made when new; GV_NONE when out of memory. */
static uint32_t find_domain(builder *b, uint32_t level, uint32_t parent, uint32_t value) {
    if (b->used * 2 >= b->n_slots && !slots_grow(b)) {
        return GV_NONE;
    }
    uint32_t at = (uint32_t)path_hash(level, parent, value) & (b->n_slots - 1);
    for (; b->slots[at]; at = (at + 1) & (b->n_slots - 1)) {
        const found *f = &b->by_level[level].v[b->slots[at] - 1];
        if (b->slot_level[at] == level && f->parent == parent && f->value == value) {
            return b->slots[at] - 1;
        }
    }
    found fresh = {parent, value, GV_NONE, GV_NONE, GV_NONE, 0, 0};
    if (!gv_vec_push(b->s->env, &b->by_level[level], fresh)) {
        return GV_NONE;
    }
    uint32_t id = (uint32_t)b->by_level[level].n - 1;
    b->slots[at] = id + 1;
    b->slot_level[at] = level;
    b->used++;
    if (level > 0) {
        found *p = &b->by_level[level - 1].v[parent];
        if (p->child == GV_NONE) {
            p->child = id;
        } else {
            b->by_level[level].v[p->last_child].next = id;
        }
        p->last_child = id;
    }
    return id;
}

static uint32_t label_value(const gv_node *node, uint32_t key) {
    uint32_t lo = 0, hi = node->n_labels;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (node->labels[mid].key < key) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < node->n_labels && node->labels[lo].key == key ? node->labels[lo].value : GV_NONE;
}

static grove_status find_all(builder *b) {
    grove_sched *s = b->s;
    gv_topology *t = b->t;
    uint32_t width = t->n_levels + 1;
    if (find_domain(b, 0, 0, 0) == GV_NONE) {
        return GROVE_E_NOMEM;
    }
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        const gv_node *node = &s->nodes.v[i];
        if (!node->name) {
            continue;
        }
        uint32_t at = 0;
        b->by_level[0].v[0].size++;
        t->dom[(size_t)i * width] = 0;
        for (uint32_t l = 1; l <= t->n_levels; l++) {
            at = find_domain(b, l, at, label_value(node, t->levels[l].key));
            if (at == GV_NONE) {
                return GROVE_E_NOMEM;
            }
            b->by_level[l].v[at].size++;
            t->dom[(size_t)i * width + l] = at;
        }
    }
    return GROVE_OK;
}

static bool level_alloc(grove_sched *s, gv_level *lv, uint32_t n) {
    grove_env *env = s->env;
    lv->n = n;
    lv->lo = gv_zalloc(env, n * sizeof *lv->lo);
    lv->hi = gv_zalloc(env, n * sizeof *lv->hi);
    lv->parent = gv_zalloc(env, n * sizeof *lv->parent);
    lv->first = gv_zalloc(env, n * sizeof *lv->first);
    lv->end = gv_zalloc(env, n * sizeof *lv->end);
    lv->labelled = gv_zalloc(env, n * sizeof *lv->labelled);
    lv->free = gv_zalloc(env, (size_t)n * s->stride * sizeof *lv->free);
    lv->busy = gv_zalloc(env, n * sizeof *lv->busy);
    return lv->lo && lv->hi && lv->parent && lv->first && lv->end && lv->labelled && lv->free &&
           lv->busy;
}

/* Numbers the domains of each level in the order of their parents, and gives each its range. */
static grove_status number_all(builder *b) {
    gv_topology *t = b->t;
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        if (!level_alloc(b->s, &t->levels[l], (uint32_t)b->by_level[l].n)) {
            return GROVE_E_NOMEM;
        }
    }
    t->levels[0].labelled[0] = 1;
    t->gaps = false;
    t->levels[0].hi[0] = b->by_level[0].v[0].size;
    /* parents in final order: order_of[number] = found index, kept in `lo` until overwritten below */
    for (uint32_t l = 0; l < t->n_levels; l++) {
        gv_level *up = &t->levels[l], *down = &t->levels[l + 1];
        uint32_t next = 0;
        for (uint32_t p = 0; p < up->n; p++) {
            uint32_t source = l == 0 ? 0 : up->busy[p]; /* `busy` holds the found index for now */
            uint32_t at = up->lo[p];
            up->first[p] = next;
            for (uint32_t c = b->by_level[l].v[source].child; c != GV_NONE;
                 c = b->by_level[l + 1].v[c].next) {
                found *f = &b->by_level[l + 1].v[c];
                f->number = next;
                down->busy[next] = c;
                down->parent[next] = p;
                down->lo[next] = at;
                at += f->size;
                down->hi[next] = at;
                down->labelled[next] = f->value != GV_NONE;
                t->gaps = t->gaps || f->value == GV_NONE;
                next++;
            }
            up->end[p] = next;
        }
    }
    gv_level *last = &t->levels[t->n_levels];
    for (uint32_t d = 0; d < last->n; d++) {
        last->first[d] = last->lo[d];
        last->end[d] = last->hi[d];
    }
    return GROVE_OK;
}

/* Positions of nodes, final domain numbers, and the sums. */
static void settle(builder *b) {
    grove_sched *s = b->s;
    gv_topology *t = b->t;
    uint32_t width = t->n_levels + 1;
    for (uint32_t l = 0; l <= t->n_levels; l++) {
        memset(t->levels[l].busy, 0, t->levels[l].n * sizeof(uint32_t));
    }
    t->n = b->by_level[0].v[0].size;
    gv_level *last = &t->levels[t->n_levels];
    uint32_t *filled = last->busy; /* zeroed: nodes set so far */
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (!s->nodes.v[i].name) {
            t->pos[i] = GV_NONE;
            continue;
        }
        uint32_t *dom = t->dom + (size_t)i * width;
        for (uint32_t l = 1; l <= t->n_levels; l++) {
            dom[l] = b->by_level[l].v[dom[l]].number;
        }
        uint32_t leaf = dom[t->n_levels];
        t->pos[i] = last->lo[leaf] + filled[leaf]++;
        t->order[t->pos[i]] = i;
    }
    memset(last->busy, 0, last->n * sizeof(uint32_t));
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        if (!s->nodes.v[i].name) {
            continue;
        }
        const int64_t *room = gv_node_free(s, i);
        bool up = gv_node_up(s, i);
        for (uint32_t l = 0; l <= t->n_levels; l++) {
            uint32_t d = t->dom[(size_t)i * width + l];
            int64_t *sum = t->levels[l].free + (size_t)d * s->stride;
            for (size_t r = 0; up && r < s->resource_names.n; r++) {
                sum[r] += room[r] > 0 ? room[r] : 0;
            }
            t->levels[l].busy[d] += s->nodes.v[i].n_pods > 0;
        }
    }
}

grove_status gv_topology_refresh(grove_sched *s, uint32_t topology) {
    gv_topology *t = &s->topologies.v[topology];
    if (!t->dirty) {
        return GROVE_OK;
    }
    gv_topology_clear(s, t);
    size_t n = s->nodes.n ? s->nodes.n : 1;
    t->cap_nodes = n;
    t->order = gv_zalloc(s->env, n * sizeof *t->order);
    t->pos = gv_zalloc(s->env, n * sizeof *t->pos);
    t->dom = gv_zalloc(s->env, n * (t->n_levels + 1) * sizeof *t->dom);
    builder b = {.s = s, .t = t};
    b.by_level = gv_zalloc(s->env, (t->n_levels + 1) * sizeof *b.by_level);
    grove_status st = t->order && t->pos && t->dom && b.by_level ? GROVE_OK : GROVE_E_NOMEM;
    if (st == GROVE_OK) {
        st = find_all(&b);
    }
    if (st == GROVE_OK) {
        st = number_all(&b);
    }
    if (st == GROVE_OK) {
        settle(&b);
        t->dirty = false;
        t->version++;
    }
    builder_fini(&b);
    if (st < 0) {
        gv_topology_clear(s, t);
    }
    return st;
}

grove_status grove_sched_topology(grove_sched *sched, const char *name, const char *const *keys,
                                  uint32_t n_keys, uint32_t *out_topology, grove_error *err) {
    grove_sched *s = sched;
    if (!s || !name || (n_keys && !keys) || n_keys > 30 || !out_topology || s->marks > 0) {
        return gv_error(err, GROVE_E_INVALID, "a topology takes a name and at most 30 keys");
    }
    gv_topology t = {.host_alias = GV_NONE, .dirty = true};
    t.n_levels = n_keys > 0 && strcmp(keys[n_keys - 1], s->host_key) == 0 ? n_keys - 1 : n_keys;
    if (t.n_levels < n_keys) {
        t.host_alias = s->host_key_id;
    }
    t.levels = gv_zalloc(s->env, (t.n_levels + 1) * sizeof *t.levels);
    t.name = gv_sched_dup(s, name);
    bool ok = t.levels && t.name;
    for (uint32_t l = 1; ok && l <= t.n_levels; l++) {
        ok = gv_sched_text(s, keys[l - 1], &t.levels[l].key);
    }
    grove_status st = ok ? GROVE_OK : GROVE_E_NOMEM;
    for (uint32_t l = 1; st == GROVE_OK && l <= t.n_levels; l++) {
        for (uint32_t k = 1; k < l; k++) {
            st = t.levels[k].key == t.levels[l].key ? GROVE_E_INVALID : st;
        }
    }
    if (st == GROVE_OK && !gv_vec_push(s->env, &s->topologies, t)) {
        st = GROVE_E_NOMEM;
    }
    if (st < 0) {
        gv_free(s->env, t.levels, (t.n_levels + 1) * sizeof *t.levels);
        gv_sched_dup_free(s, t.name);
        return st == GROVE_E_NOMEM ? gv_error_nomem(err)
                                   : gv_error(err, st, "a key occurs twice in topology '%s'", name);
    }
    *out_topology = (uint32_t)s->topologies.n - 1;
    return GROVE_OK;
}

grove_level grove_sched_level(const grove_sched *sched, uint32_t topology, const char *key) {
    if (topology >= sched->topologies.n || !key) {
        return GROVE_LEVEL_UNKNOWN;
    }
    const gv_topology *t = &sched->topologies.v[topology];
    uint32_t id = gv_sched_text_find(sched, key);
    for (uint32_t l = 1; id != GV_NONE && l <= t->n_levels; l++) {
        if (t->levels[l].key == id) {
            return (grove_level)l - 1;
        }
    }
    bool host = strcmp(key, sched->host_key) == 0 || strcmp(key, "host") == 0;
    return host ? (grove_level)t->n_levels : GROVE_LEVEL_UNKNOWN;
}

const char *grove_sched_level_key(const grove_sched *sched, uint32_t topology, grove_level level) {
    if (topology >= sched->topologies.n || level < 0) {
        return NULL;
    }
    const gv_topology *t = &sched->topologies.v[topology];
    if ((uint32_t)level < t->n_levels) {
        return sched->texts.v[t->levels[level + 1].key];
    }
    return (uint32_t)level == t->n_levels ? sched->host_key : NULL;
}

grove_level grove_sched_host_level(const grove_sched *sched, uint32_t topology) {
    return topology < sched->topologies.n ? (grove_level)sched->topologies.v[topology].n_levels
                                          : GROVE_LEVEL_UNKNOWN;
}

/* NULL also when there is no memory to build the tree. */
static const gv_topology *fresh_topology(grove_sched *sched, uint32_t topology) {
    if (topology >= sched->topologies.n || gv_topology_refresh(sched, topology) < 0) {
        return NULL;
    }
    return &sched->topologies.v[topology];
}

uint32_t grove_sched_domain_of(grove_sched *sched, uint32_t topology, grove_level level,
                               uint32_t node) {
    const gv_topology *t = fresh_topology(sched, topology);
    if (!t || level < 0 || (uint32_t)level > t->n_levels || !gv_node_live(sched, node)) {
        return GV_NONE;
    }
    uint32_t d = gv_topology_dom(t, node, (uint32_t)level + 1);
    bool seen = (uint32_t)level == t->n_levels || t->levels[level + 1].labelled[d];
    return seen ? d : GV_NONE;
}

uint32_t grove_sched_domain_count(grove_sched *sched, uint32_t topology, grove_level level) {
    const gv_topology *t = fresh_topology(sched, topology);
    if (!t || level < 0 || (uint32_t)level > t->n_levels) {
        return 0;
    }
    return (uint32_t)level == t->n_levels ? t->n : t->levels[level + 1].n;
}

uint32_t grove_sched_topology_conflicts(grove_sched *sched, uint32_t topology, grove_level level) {
    const gv_topology *t = fresh_topology(sched, topology);
    if (!t || level <= 0 || (uint32_t)level >= t->n_levels) {
        return 0;
    }
    /* A value is a conflict when two domains of the level carry it below different parents. */
    const gv_level *lv = &t->levels[level + 1];
    uint32_t conflicts = 0;
    for (uint32_t d = 0; d < lv->n; d++) {
        uint32_t value = label_value(&sched->nodes.v[t->order[lv->lo[d]]], lv->key);
        bool earlier = false, elsewhere = false;
        for (uint32_t e = 0; value != GV_NONE && e < lv->n; e++) {
            uint32_t other = label_value(&sched->nodes.v[t->order[lv->lo[e]]], lv->key);
            if (e != d && other == value) {
                earlier = earlier || e < d;
                elsewhere = elsewhere || lv->parent[e] != lv->parent[d];
            }
        }
        conflicts += !earlier && elsewhere;
    }
    return conflicts;
}
