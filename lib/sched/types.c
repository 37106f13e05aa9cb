/* SPDX-License-Identifier: Apache-2.0 */
/* Units of equal shape get one type; the types that are open at each level become its dimensions. */
#include "sched/exact.h"

#include <string.h>

static bool same_items(const gv_type *a, const gv_type *b) {
    size_t n = a->n_items * sizeof(uint32_t);
    return a->level == b->level && a->seen_on == b->seen_on && a->pin == b->pin &&
           a->n_items == b->n_items && memcmp(a->item_type, b->item_type, n) == 0 &&
           memcmp(a->item_count, b->item_count, n) == 0;
}

static void add_item(gv_type *t, uint32_t type, uint32_t count) {
    uint32_t at = 0;
    while (at < t->n_items && t->item_type[at] < type) {
        at++;
    }
    if (at < t->n_items && t->item_type[at] == type) {
        t->item_count[at] += count;
        return;
    }
    for (uint32_t i = t->n_items; i > at; i--) {
        t->item_type[i] = t->item_type[i - 1];
        t->item_count[i] = t->item_count[i - 1];
    }
    t->item_type[at] = type;
    t->item_count[at] = count;
    t->n_items++;
}

/*
 * What is to stay empty is a type as well: a domain that holds one of it holds nothing else, and the root asks
 * for some of them.
 */
static uint32_t empty_type(gv_exact *x, uint32_t level, uint32_t most) {
    if (most == 0 || level <= x->p->units[0].level) {
        return GV_NONE;
    }
    gv_type *t = &x->types[x->n_types];
    *t = (gv_type){.level = level, .pin = GV_NONE, .total = most, .empty = true};
    t->amounts = gv_arena_array(x->mem, int64_t, x->p->n_res);
    return t->amounts ? x->n_types++ : GV_NONE;
}

static bool empty_types(gv_exact *x) {
    const gv_spare *cap = &x->w->spare_cap;
    x->empty_domain = empty_type(x, x->p->t->n_levels, cap->domains);
    x->empty_host = empty_type(x, x->p->host, cap->hosts);
    return true;
}

static bool describe(gv_exact *x, uint32_t unit, gv_type *out) {
    const gv_problem *p = x->p;
    const gv_unit *u = &p->units[unit];
    *out = (gv_type){.level = u->level, .seen_on = u->seen_on, .pin = u->pin};
    uint32_t room = u->n_parts + u->n_children + 3;
    out->item_type = gv_arena_array(x->mem, uint32_t, room);
    out->item_count = gv_arena_array(x->mem, uint32_t, room);
    out->amounts = p->amounts + (size_t)unit * p->n_res;
    out->pods = p->totals + (size_t)unit * p->n_classes;
    if (!out->item_type || !out->item_count) {
        return false;
    }
    for (uint32_t i = 0; i < u->n_parts; i++) {
        const gv_part *part = &p->parts[u->first_part + i];
        add_item(out, part->cls, part->need);
    }
    for (uint32_t i = 0; i < u->n_children; i++) {
        const gv_unit *child = &p->units[p->children[u->first_child + i]];
        if (child->pods > 0) {
            add_item(out, child->type, 1);
        }
    }
    if (unit == 0 && x->empty_domain != GV_NONE) {
        add_item(out, x->empty_domain, x->types[x->empty_domain].total);
    }
    if (unit == 0 && x->empty_host != GV_NONE) {
        add_item(out, x->empty_host, x->types[x->empty_host].total);
    }
    return true;
}

static bool pod_types(gv_exact *x) {
    const gv_problem *p = x->p;
    for (uint32_t k = 0; k < p->n_classes; k++) {
        gv_type *t = &x->types[k];
        *t = (gv_type){.pin = GV_NONE, .amounts = gv_arena_array(x->mem, int64_t, p->n_res)};
        if (!t->amounts) {
            return false;
        }
        const gv_class *c = p->classes[k].cls;
        for (uint32_t i = 0; i < c->n_needs; i++) {
            t->amounts[c->needs[i].resource] = c->needs[i].amount;
        }
        t->total = p->classes[k].need;
    }
    x->n_types = p->n_classes;
    return true;
}

static bool unit_types(gv_exact *x) {
    const gv_problem *p = x->p;
    uint32_t first = x->n_types;
    for (uint32_t u = p->n_units; u-- > 0;) {
        gv_type fresh;
        gv_unit *unit = &p->units[u];
        if (unit->pods == 0 && u > 0) {
            continue;
        }
        if (!describe(x, u, &fresh)) {
            return false;
        }
        uint32_t t = first;
        while (t < x->n_types && !same_items(&x->types[t], &fresh)) {
            t++;
        }
        if (t == x->n_types) {
            x->types[x->n_types++] = fresh;
        }
        x->types[t].total++;
        unit->type = t;
    }
    return true;
}

/* How many of `type` are contents of units broader than `level`. */
static uint32_t open_demand(const gv_exact *x, uint32_t type, uint32_t level) {
    uint64_t n = 0;
    for (uint32_t u = x->p->n_classes; u < x->n_types; u++) {
        const gv_type *unit = &x->types[u];
        for (uint32_t i = 0; unit->level < level && i < unit->n_items; i++) {
            if (unit->item_type[i] == type) {
                n += (uint64_t)unit->item_count[i] * unit->total;
            }
        }
    }
    return (uint32_t)n;
}

static bool make_dims(gv_exact *x, uint32_t level, uint32_t *largest) {
    gv_dims *d = &x->dims[level];
    d->type = gv_arena_array(x->mem, uint32_t, x->n_types);
    d->cap = gv_arena_array(x->mem, uint32_t, x->n_types);
    d->index_of = gv_arena_array(x->mem, uint32_t, x->n_types);
    if (!d->type || !d->cap || !d->index_of) {
        return false;
    }
    for (uint32_t t = 0; t < x->n_types; t++) {
        d->index_of[t] = GV_NONE;
        bool open = t < x->p->n_classes || x->types[t].level >= level;
        uint32_t cap = open ? open_demand(x, t, level) : 0;
        if (cap > 0) {
            d->index_of[t] = d->n;
            d->type[d->n] = t;
            d->cap[d->n++] = cap;
            *largest = cap > *largest ? cap : *largest;
        }
    }
    return true;
}

bool gv_types_build(gv_exact *x) {
    const gv_problem *p = x->p;
    uint32_t root = p->units[0].level, largest = 1;
    x->types = gv_arena_array(x->mem, gv_type, p->n_classes + p->n_units + 2);
    x->dims = gv_arena_array(x->mem, gv_dims, p->host + 2);
    if (!x->types || !x->dims || !pod_types(x) || !empty_types(x) || !unit_types(x)) {
        return false;
    }
    for (uint32_t l = root + 1; l <= p->host + 1; l++) {
        if (!make_dims(x, l, &largest)) {
            return false;
        }
    }
    x->lanes = gv_lanes_for(largest);
    x->usable = largest < 32768 && p->n_classes <= 64;
    for (uint32_t l = root + 1; x->usable && l <= p->host + 1; l++) {
        gv_dims *d = &x->dims[l];
        d->words = gv_lanes_words(x->lanes, d->n ? d->n : 1);
        x->usable = d->words <= GV_VSET_WORDS;
        for (uint32_t i = 0; x->usable && i < d->n; i++) {
            gv_lane_add(x->lanes, d->row, i, d->cap[i]);
        }
    }
    return true;
}
