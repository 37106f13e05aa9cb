/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domains of a level in the order of what is free of one resource, so that the tightest ones that may
 * hold a gang are found without a look at all the others. Among equals the other resources count, then
 * the id: domains that are free to the same amounts, empty racks say, stand side by side. Like a column
 * it is built when first asked for and replays the journal afterwards.
 */
#include "sched/state.h"

#include <string.h>

void gv_rooms_clear(grove_sched *s, gv_rooms *o) {
    gv_free(s->env, o->dom, o->cap_dom * sizeof *o->dom);
    gv_free(s->env, o->room, o->cap_room * sizeof *o->room);
    o->dom = NULL;
    o->room = NULL;
    o->cap_dom = o->cap_room = 0;
    o->version = 0;
}

int gv_rooms_compare(const gv_rooms *o, const int64_t *a, const int64_t *b) {
    if (a[o->resource] != b[o->resource]) {
        return a[o->resource] < b[o->resource] ? -1 : 1;
    }
    for (uint32_t r = 0; r < o->width; r++) {
        if (a[r] != b[r]) {
            return a[r] < b[r] ? -1 : 1;
        }
    }
    return 0;
}

static bool before(const gv_rooms *o, uint32_t a, uint32_t b) {
    int c = gv_rooms_compare(o, gv_rooms_of(o, a), gv_rooms_of(o, b));
    return c < 0 || (c == 0 && a < b);
}

/* The first place among `n` whose domain does not come before `d`. */
static uint32_t place_of(const gv_rooms *o, uint32_t d, uint32_t n) {
    uint32_t lo = 0;
    while (lo < n) {
        uint32_t mid = lo + (n - lo) / 2;
        if (before(o, o->dom[mid], d)) {
            lo = mid + 1;
        } else {
            n = mid;
        }
    }
    return lo;
}

static void sift(gv_rooms *o, uint32_t at, uint32_t n) {
    uint32_t x = o->dom[at];
    for (uint32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && before(o, o->dom[child], o->dom[child + 1]);
        if (!before(o, x, o->dom[child])) {
            break;
        }
        o->dom[at] = o->dom[child];
        at = child;
    }
    o->dom[at] = x;
}

static bool shape(grove_sched *s, gv_rooms *o, uint32_t n) {
    size_t rooms = (size_t)n * s->resource_names.n;
    if (o->cap_dom < n || o->cap_room < rooms) {
        gv_rooms_clear(s, o);
        o->dom = gv_alloc(s->env, n * sizeof *o->dom);
        o->cap_dom = o->dom ? n : 0;
        o->room = gv_alloc(s->env, rooms * sizeof *o->room);
        o->cap_room = o->room ? rooms : 0;
    }
    o->n = n;
    o->width = (uint32_t)s->resource_names.n;
    return o->cap_dom >= n && o->cap_room >= rooms;
}

static bool build(grove_sched *s, gv_rooms *o, const gv_topology *t) {
    const gv_level *lv = &t->levels[o->level];
    o->version = 0;
    if (!shape(s, o, lv->n)) {
        return false;
    }
    for (uint32_t d = 0; d < o->n; d++) {
        o->dom[d] = d;
        memcpy(o->room + (size_t)d * o->width, lv->free + (size_t)d * s->stride,
               o->width * sizeof *o->room);
    }
    for (uint32_t i = o->n / 2; i-- > 0;) {
        sift(o, i, o->n);
    }
    for (uint32_t i = o->n; i-- > 1;) {
        uint32_t last = o->dom[0];
        o->dom[0] = o->dom[i];
        o->dom[i] = last;
        sift(o, 0, i);
    }
    o->version = t->version;
    o->seen = s->journal_end;
    return true;
}

/* Takes the domain out by its former room and puts it back by its present one. */
static void move(gv_rooms *o, uint32_t d, const int64_t *now) {
    uint32_t from = place_of(o, d, o->n);
    memmove(o->dom + from, o->dom + from + 1, (o->n - from - 1) * sizeof *o->dom);
    memcpy(o->room + (size_t)d * o->width, now, o->width * sizeof *now);
    uint32_t to = place_of(o, d, o->n - 1);
    memmove(o->dom + to + 1, o->dom + to, (o->n - 1 - to) * sizeof *o->dom);
    o->dom[to] = d;
}

static void replay(grove_sched *s, gv_rooms *o, const gv_topology *t) {
    const gv_level *lv = &t->levels[o->level];
    for (; o->seen < s->journal_end; o->seen++) {
        uint32_t node = gv_journal_at(s, o->seen) & ~GV_DESCRIBED;
        uint32_t d = gv_topology_dom(t, node, o->level);
        const int64_t *now = lv->free + (size_t)d * s->stride;
        if (memcmp(gv_rooms_of(o, d), now, o->width * sizeof *now) != 0) {
            move(o, d, now);
        }
    }
}

static gv_rooms *find(grove_sched *s, uint32_t topology, uint32_t level, uint32_t resource) {
    for (size_t i = 0; i < s->rooms.n; i++) {
        gv_rooms *o = &s->rooms.v[i];
        if (o->topology == topology && o->level == level && o->resource == resource) {
            return o;
        }
    }
    gv_rooms fresh = {.topology = topology, .level = level, .resource = resource};
    return gv_vec_push(s->env, &s->rooms, fresh) ? &s->rooms.v[s->rooms.n - 1] : NULL;
}

const gv_rooms *gv_rooms_get(grove_sched *s, uint32_t topology, uint32_t level, uint32_t resource) {
    const gv_topology *t = &s->topologies.v[topology];
    gv_rooms *o = find(s, topology, level, resource);
    if (!o) {
        return NULL;
    }
    if (o->version != t->version || o->width != s->resource_names.n ||
        s->journal_end - o->seen > s->journal_size) {
        return build(s, o, t) ? o : NULL;
    }
    replay(s, o, t);
    return o;
}

uint32_t gv_rooms_from(const gv_rooms *o, int64_t need) {
    uint32_t lo = 0, hi = o->n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (gv_rooms_of(o, o->dom[mid])[o->resource] < need) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

uint32_t gv_rooms_past_equals(const gv_rooms *o, uint32_t at) {
    const int64_t *room = gv_rooms_of(o, o->dom[at]);
    uint32_t step = 1, lo = at + 1;
    while (lo < o->n && gv_rooms_compare(o, gv_rooms_of(o, o->dom[lo]), room) == 0) {
        at = lo;
        lo = o->n - lo > step ? lo + step : o->n;
        step *= 2;
    }
    uint32_t hi = lo; /* not equal, or the end; `at` is the last one known to be equal */
    lo = at + 1;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (gv_rooms_compare(o, gv_rooms_of(o, o->dom[mid]), room) == 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}
