/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of field paths: the algebra, and FieldsV1. */
#include "sim/fields.h"

#include <string.h>

#include "value/doc.h"

const gv_fields *gv_fields_get(const gv_fields *set, gv_str step) {
    const gv_fields *c = set ? set->first : NULL;
    while (c && gv_str_cmp(c->step, step) < 0) {
        c = c->next;
    }
    return c && gv_str_eq(c->step, step) ? c : NULL;
}

gv_fields *gv_fields_child(gv_arena *a, gv_fields *set, gv_str step) {
    gv_fields **at = &set->first;
    while (*at && gv_str_cmp((*at)->step, step) < 0) {
        at = &(*at)->next;
    }
    if (*at && gv_str_eq((*at)->step, step)) {
        return *at;
    }
    gv_fields *made = gv_arena_new(a, gv_fields);
    char *copy = made ? gv_arena_dup(a, step) : NULL;
    if (!copy) {
        return NULL;
    }
    made->step = (gv_str){copy, step.n};
    made->next = *at;
    *at = made;
    return made;
}

bool gv_fields_any(const gv_fields *set) {
    if (set->member) {
        return true;
    }
    for (const gv_fields *c = set->first; c; c = c->next) {
        if (gv_fields_any(c)) {
            return true;
        }
    }
    return false;
}

/* Skips children that hold nothing. */
static const gv_fields *filled(const gv_fields *c) {
    while (c && !gv_fields_any(c)) {
        c = c->next;
    }
    return c;
}

bool gv_fields_same(const gv_fields *a, const gv_fields *b) {
    if (a->member != b->member) {
        return false;
    }
    const gv_fields *x = filled(a->first), *y = filled(b->first);
    while (x && y) {
        if (!gv_str_eq(x->step, y->step) || !gv_fields_same(x, y)) {
            return false;
        }
        x = filled(x->next);
        y = filled(y->next);
    }
    return !x && !y;
}

bool gv_fields_add(gv_arena *a, gv_fields *into, const gv_fields *from) {
    into->member = into->member || from->member;
    for (const gv_fields *c = from->first; c; c = c->next) {
        gv_fields *own = gv_fields_child(a, into, c->step);
        if (!own || !gv_fields_add(a, own, c)) {
            return false;
        }
    }
    return true;
}

void gv_fields_drop(gv_fields *set, const gv_fields *what) {
    set->member = set->member && !what->member;
    for (gv_fields *c = set->first; c; c = c->next) {
        const gv_fields *other = gv_fields_get(what, c->step);
        if (other) {
            gv_fields_drop(c, other);
        }
    }
}

void gv_fields_release(gv_fields *set, const gv_fields *what) {
    set->member = set->member && !gv_fields_any(what);
    for (gv_fields *c = set->first; c; c = c->next) {
        const gv_fields *other = gv_fields_get(what, c->step);
        if (other) {
            gv_fields_release(c, other);
        }
    }
}

bool gv_fields_meet(gv_arena *a, const gv_fields *one, const gv_fields *other, gv_fields *out) {
    out->member = one->member && other->member;
    for (const gv_fields *c = one->first; c; c = c->next) {
        const gv_fields *twin = gv_fields_get(other, c->step);
        if (!twin) {
            continue;
        }
        gv_fields *both = gv_fields_child(a, out, c->step);
        if (!both || !gv_fields_meet(a, c, twin, both)) {
            return false;
        }
    }
    return true;
}

/* ---- FieldsV1 ---- */

bool gv_fields_read(gv_arena *a, const grove_node *node, gv_fields *out) {
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        size_t n = 0;
        const char *key = grove_node_key(m, &n);
        if (n == 1 && key[0] == '.') {
            out->member = true;
            continue;
        }
        gv_fields *c = gv_fields_child(a, out, (gv_str){key, n});
        if (!c || !gv_fields_read(a, m, c)) {
            return false;
        }
        c->member = c->member || grove_node_size(m) == 0;
    }
    return true;
}

static void write_below(grove_builder *b, const gv_fields *set) {
    const gv_fields *c = filled(set->first);
    if (c && set->member) {
        grove_builder_open_object(b, ".");
        grove_builder_close(b);
    }
    for (; c; c = filled(c->next)) {
        gv_fields_write(b, c->step.p, c);
    }
}

void gv_fields_write(grove_builder *b, const char *key, const gv_fields *set) {
    grove_builder_open_object(b, key);
    write_below(b, set);
    grove_builder_close(b);
}

/* {"a":1,"b":"c"} as a=1,b="c" */
static grove_status put_keys(gv_str json, grove_buf *path) {
    grove_status st = GROVE_OK;
    bool quoted = false, key = true;
    for (size_t i = 1; st == GROVE_OK && i + 1 < json.n; i++) {
        char c = json.p[i];
        bool edge = c == '"' && json.p[i - 1] != '\\';
        quoted = edge ? !quoted : quoted;
        if (!quoted && c == ':') {
            key = false;
            c = '=';
        } else if (!quoted && c == ',') {
            key = true;
        } else if (edge && key) {
            continue; /* names of keys come bare */
        }
        st = grove_buf_append(path, &c, 1);
    }
    return st;
}

grove_status gv_fields_put_step(gv_str step, grove_buf *path) {
    gv_str rest = step.n > 2 ? (gv_str){step.p + 2, step.n - 2} : (gv_str){"", 0};
    grove_status st = GROVE_OK;
    switch (step.n > 0 ? step.p[0] : 0) {
    case 'f':
        return gv_buf_fmt(path, ".%.*s", (int)rest.n, rest.p);
    case 'k':
        st = grove_buf_append(path, "[", 1);
        st = st < 0 ? st : put_keys(rest, path);
        return st < 0 ? st : grove_buf_append(path, "]", 1);
    default:
        return gv_buf_fmt(path, "[=%.*s]", (int)rest.n, rest.p);
    }
}
