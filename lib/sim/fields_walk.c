/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of the fields of objects. Elements of a list are told apart by keys, by value, or not at all (then the
 * list is one field): Grove's kinds by their schema, built-in ones by the keys of strategic merge.
 */
#include "sim/fields.h"

#include <string.h>

#include "base/mem.h"
#include "model/schema_walk.h"
#include "sim/meta.h"
#include "sim/strategic.h"
#include "value/doc.h"

#define KEYS_MAX 4

/* ---- types ---- */

typedef enum list_form { LIST_WHOLE, LIST_KEYED, LIST_SET } list_form;

/* What is known of a value's type. */
typedef struct shape {
    gv_kind kind;
    const gv_schema_type *type; /* of a kind with a schema; NULL: not known */
    const char *member;         /* the name it goes by; "" at the root */
    bool meta;                  /* within metadata */
} shape;

static shape root_of(gv_kind kind) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    return (shape){kind, root ? gv_type_at(root->type) : NULL, "", false};
}

static shape member_of(const shape *s, const char *key) {
    shape m = {s->kind, NULL, key, s->meta || (!s->member[0] && strcmp(key, "metadata") == 0)};
    if (s->type && s->type->shape == GV_SHAPE_STRUCT) {
        int32_t i = gv_type_find(s->type, key, strlen(key));
        m.type = i < 0 ? NULL : gv_type_at(gv_schema_fields[s->type->first_field + i].type);
    } else if (s->type && s->type->shape == GV_SHAPE_MAP) {
        m.type = gv_type_at(s->type->elem);
    }
    return m;
}

static shape element_of(const shape *s) {
    shape e = *s;
    e.type = s->type && s->type->shape == GV_SHAPE_LIST ? gv_type_at(s->type->elem) : NULL;
    return e;
}

/* Maps that are one field. */
static bool is_atomic(const shape *s) {
    static const char *const atomic[] = {"selector", "nodeSelector", "fieldRef",
                                         "resourceFieldRef"};
    for (size_t i = 0; !s->type && i < sizeof atomic / sizeof *atomic; i++) {
        if (strcmp(atomic[i], s->member) == 0) {
            return true;
        }
    }
    return false;
}

static list_form schema_form(const gv_schema_type *t, const char **keys, size_t *n) {
    if (t->list_kind == GV_LIST_SET) {
        return LIST_SET;
    }
    if (t->list_kind != GV_LIST_MAP || t->n_keys > KEYS_MAX) {
        return LIST_WHOLE;
    }
    for (*n = 0; *n < t->n_keys; ++*n) {
        keys[*n] = gv_type_text(gv_schema_fields[gv_schema_keys[t->first_key + *n]].name);
    }
    return LIST_KEYED;
}

static list_form form_of(const shape *s, const char **keys, size_t *n) {
    *n = 0;
    if (s->meta) {
        keys[0] = "uid";
        *n = strcmp(s->member, "ownerReferences") == 0;
        return *n ? LIST_KEYED : strcmp(s->member, "finalizers") == 0 ? LIST_SET : LIST_WHOLE;
    }
    if (gv_schema_has(s->kind)) {
        return s->type && s->type->shape == GV_SHAPE_LIST ? schema_form(s->type, keys, n)
                                                          : LIST_WHOLE;
    }
    const char *key = gv_kind_get(s->kind)->custom ? NULL
                                                   : gv_strategic_merge_key(s->kind, s->member);
    if (!key) {
        return LIST_WHOLE;
    }
    keys[(*n)++] = key;
    if (strcmp(s->member, "ports") == 0) {
        keys[(*n)++] = "protocol";
    }
    return LIST_KEYED;
}

/* ---- steps ---- */

/* The step of an element into buf, its values as JSON. */
static grove_status element_step(const grove_node *element, list_form form, const char **keys,
                                 size_t n, grove_buf *buf) {
    grove_buf_clear(buf);
    if (form == LIST_SET) {
        grove_status st = grove_buf_append(buf, "v:", 2);
        return st < 0 ? st : grove_node_write_json(element, 0, buf, NULL);
    }
    grove_status st = grove_buf_append(buf, "k:{", 3);
    size_t put = 0;
    for (size_t i = 0; st == GROVE_OK && i < n; i++) {
        const grove_node *value = grove_node_get(element, keys[i]);
        if (value) {
            st = gv_buf_fmt(buf, "%s\"%s\":", put++ ? "," : "", keys[i]);
            st = st < 0 ? st : grove_node_write_json(value, 0, buf, NULL);
        }
    }
    return st < 0 ? st : grove_buf_append(buf, "}", 1);
}

typedef struct walk {
    gv_arena *a;
    grove_buf step;
    bool containers; /* objects and elements are members of the set by themselves */
} walk;

static gv_fields *member_step(walk *w, gv_fields *at, const char *key, size_t n) {
    grove_buf_clear(&w->step);
    if (grove_buf_append(&w->step, "f:", 2) < 0 || grove_buf_append(&w->step, key, n) < 0) {
        return NULL;
    }
    return gv_fields_child(w->a, at, (gv_str){w->step.data, (size_t)w->step.len});
}

static gv_fields *list_step(walk *w, gv_fields *at, const grove_node *element, list_form form,
                            const char **keys, size_t n) {
    grove_status st = element_step(element, form, keys, n, &w->step);
    return st < 0 ? NULL : gv_fields_child(w->a, at, (gv_str){w->step.data, (size_t)w->step.len});
}

/* The element of a list that goes by the same step; NULL: none. */
static const grove_node *twin_of(const grove_node *list, const grove_node *element, list_form form,
                                 const char **keys, size_t n) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        bool same = form == LIST_SET ? grove_node_equal(e, element) : true;
        for (size_t i = 0; form == LIST_KEYED && same && i < n; i++) {
            same = gv_sim_node_same(grove_node_get(e, keys[i]), grove_node_get(element, keys[i]));
        }
        if (same) {
            return e;
        }
    }
    return NULL;
}

/* Whether every element has a step of its own. */
static bool tells_apart(const grove_node *list, list_form form, const char **keys, size_t n) {
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        bool told = form == LIST_SET && grove_node_type(e) == GROVE_STRING;
        for (size_t i = 0; form == LIST_KEYED && i < n; i++) {
            told = told || grove_node_get(e, keys[i]);
        }
        if (!told) {
            return false;
        }
    }
    return form != LIST_WHOLE;
}

/* Of metadata, what clients own. */
static bool is_owned(const shape *up, const char *key) {
    static const char *const owned[] = {"labels", "annotations", "finalizers", "ownerReferences"};
    if (!up->member[0]) {
        return strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0;
    }
    if (strcmp(up->member, "metadata") != 0 || !up->meta) {
        return true;
    }
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        if (strcmp(owned[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* The root and its metadata are nobody's. */
static bool is_frame(const shape *s) {
    return !s->member[0] || (s->meta && strcmp(s->member, "metadata") == 0);
}

/* ---- all of a value ---- */

static bool all_of(walk *w, const shape *s, const grove_node *node, gv_fields *at);

static bool all_members(walk *w, const shape *s, const grove_node *node, gv_fields *at) {
    at->member = (w->containers && !is_frame(s)) || (grove_node_size(node) == 0 && !is_frame(s));
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        size_t n = 0;
        const char *key = grove_node_key(m, &n);
        if (!is_owned(s, key)) {
            continue;
        }
        gv_fields *c = member_step(w, at, key, n);
        shape below = member_of(s, key);
        if (!c || !all_of(w, &below, m, c)) {
            return false;
        }
    }
    return true;
}

static bool all_elements(walk *w, const shape *s, const grove_node *node, gv_fields *at) {
    const char *keys[KEYS_MAX];
    size_t n = 0;
    list_form form = form_of(s, keys, &n);
    if (!tells_apart(node, form, keys, n)) {
        at->member = true;
        return true;
    }
    shape below = element_of(s);
    at->member = w->containers || grove_node_size(node) == 0;
    for (const grove_node *e = grove_node_first(node); e; e = grove_node_next(node, e)) {
        gv_fields *c = list_step(w, at, e, form, keys, n);
        if (!c || !all_of(w, &below, e, c)) {
            return false;
        }
        c->member = true;
    }
    return true;
}

static bool all_of(walk *w, const shape *s, const grove_node *node, gv_fields *at) {
    if (grove_node_type(node) == GROVE_OBJECT && !is_atomic(s)) {
        return all_members(w, s, node, at);
    }
    if (grove_node_type(node) == GROVE_ARRAY) {
        return all_elements(w, s, node, at);
    }
    at->member = true;
    return true;
}

bool gv_fields_of(gv_arena *a, gv_kind kind, const grove_node *object, gv_fields *out) {
    walk w = {.a = a};
    shape s = root_of(kind);
    grove_buf_init(&w.step, a->env);
    bool ok = all_of(&w, &s, object, out);
    grove_buf_fini(&w.step);
    return ok;
}

/* ---- what differs ---- */

typedef struct difference {
    gv_fields *changed, *removed;
} difference;

static bool compare(walk *w, const shape *s, const grove_node *was, const grove_node *next,
                    difference d);

static bool compare_step(walk *w, const shape *below, const grove_node *was, const grove_node *next,
                         gv_fields *changed, gv_fields *removed) {
    return changed && removed && compare(w, below, was, next, (difference){changed, removed});
}

static bool compare_members(walk *w, const shape *s, const grove_node *was, const grove_node *next,
                            difference d) {
    const grove_node *sides[] = {next, was};
    for (size_t side = 0; side < 2; side++) {
        const grove_node *of = sides[side];
        for (const grove_node *m = grove_node_first(of); m; m = grove_node_next(of, m)) {
            size_t n = 0;
            const char *key = grove_node_key(m, &n);
            const grove_node *other = grove_node_getn(side ? next : was, key, n);
            if (!is_owned(s, key) || (side && other) || (other && gv_sim_node_same(m, other))) {
                continue;
            }
            shape below = member_of(s, key);
            if (!compare_step(w, &below, side ? m : other, side ? NULL : m,
                              member_step(w, d.changed, key, n),
                              member_step(w, d.removed, key, n))) {
                return false;
            }
        }
    }
    return true;
}

static bool compare_elements(walk *w, const shape *s, const grove_node *was, const grove_node *next,
                             difference d) {
    const char *keys[KEYS_MAX];
    size_t n = 0;
    list_form form = form_of(s, keys, &n);
    if (!tells_apart(was, form, keys, n) || !tells_apart(next, form, keys, n)) {
        d.changed->member = true;
        return true;
    }
    const grove_node *sides[] = {next, was};
    shape below = element_of(s);
    for (size_t side = 0; side < 2; side++) {
        const grove_node *of = sides[side];
        for (const grove_node *e = grove_node_first(of); e; e = grove_node_next(of, e)) {
            const grove_node *twin = twin_of(side ? next : was, e, form, keys, n);
            if (twin && (side || gv_sim_node_same(e, twin))) {
                continue;
            }
            gv_fields *changed = list_step(w, d.changed, e, form, keys, n);
            gv_fields *removed = list_step(w, d.removed, e, form, keys, n);
            if (!compare_step(w, &below, side ? e : twin, side ? NULL : e, changed, removed)) {
                return false;
            }
            (side ? removed : changed)->member |= !twin;
        }
    }
    return true;
}

static bool compare(walk *w, const shape *s, const grove_node *was, const grove_node *next,
                    difference d) {
    if (!was || !next) {
        return all_of(w, s, was ? was : next, was ? d.removed : d.changed);
    }
    grove_type type = grove_node_type(next);
    if (type == grove_node_type(was) && type == GROVE_OBJECT && !is_atomic(s)) {
        return compare_members(w, s, was, next, d);
    }
    if (type == grove_node_type(was) && type == GROVE_ARRAY) {
        return compare_elements(w, s, was, next, d);
    }
    if (gv_sim_node_same(was, next)) {
        return true;
    }
    return all_of(w, s, next, d.changed);
}

bool gv_fields_compare(gv_arena *a, gv_kind kind, const grove_node *was, const grove_node *next,
                       gv_fields *changed, gv_fields *removed) {
    walk w = {.a = a, .containers = true};
    shape s = root_of(kind);
    grove_buf_init(&w.step, a->env);
    bool ok = compare(&w, &s, was, next, (difference){changed, removed});
    grove_buf_fini(&w.step);
    return ok;
}

/* ---- laying a configuration over an object ---- */

static void merge(grove_builder *b, const char *key, const shape *s, const grove_node *live,
                  const grove_node *config);

static void merge_members(grove_builder *b, const char *key, const shape *s, const grove_node *live,
                          const grove_node *config) {
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(live); m; m = grove_node_next(live, m)) {
        const char *k = grove_node_key(m, NULL);
        shape below = member_of(s, k);
        merge(b, k, &below, m, grove_node_get(config, k));
    }
    for (const grove_node *m = grove_node_first(config); m; m = grove_node_next(config, m)) {
        const char *k = grove_node_key(m, NULL);
        if (!grove_node_get(live, k) && grove_node_type(m) != GROVE_NULL_NODE) {
            grove_builder_copy(b, k, m);
        }
    }
    grove_builder_close(b);
}

static void merge_elements(grove_builder *b, const char *key, const shape *s,
                           const grove_node *live, const grove_node *config, list_form form,
                           const char **keys, size_t n) {
    shape below = element_of(s);
    grove_builder_open_array(b, key);
    for (const grove_node *e = grove_node_first(live); e; e = grove_node_next(live, e)) {
        merge(b, NULL, &below, e, twin_of(config, e, form, keys, n));
    }
    for (const grove_node *e = grove_node_first(config); e; e = grove_node_next(config, e)) {
        if (!twin_of(live, e, form, keys, n)) {
            grove_builder_copy(b, NULL, e);
        }
    }
    grove_builder_close(b);
}

static void merge(grove_builder *b, const char *key, const shape *s, const grove_node *live,
                  const grove_node *config) {
    const char *keys[KEYS_MAX];
    size_t n = 0;
    grove_type type = grove_node_type(config);
    if (type == GROVE_MISSING) {
        grove_builder_copy(b, key, live);
    } else if (type == GROVE_NULL_NODE) {
        return; /* says that it shall not be there */
    } else if (type == GROVE_OBJECT && grove_node_type(live) == GROVE_OBJECT && !is_atomic(s)) {
        merge_members(b, key, s, live, config);
    } else if (type == GROVE_ARRAY && grove_node_type(live) == GROVE_ARRAY) {
        list_form form = form_of(s, keys, &n);
        if (tells_apart(live, form, keys, n) && tells_apart(config, form, keys, n)) {
            merge_elements(b, key, s, live, config, form, keys, n);
        } else {
            grove_builder_copy(b, key, config);
        }
    } else {
        grove_builder_copy(b, key, config);
    }
}

void gv_fields_merge(grove_builder *b, gv_kind kind, const grove_node *live,
                     const grove_node *config) {
    shape s = root_of(kind);
    merge(b, NULL, &s, live, config);
}

/* ---- taking fields out ---- */

typedef struct pruner {
    grove_builder *b;
    grove_buf step;
    grove_status status; /* first failure; sticks */
} pruner;

static void prune(pruner *p, const char *key, const shape *s, const grove_node *node,
                  const gv_fields *without);

static const gv_fields *without_member(const gv_fields *without, const char *key) {
    for (const gv_fields *c = without ? without->first : NULL; c; c = c->next) {
        if (c->step.n > 2 && c->step.p[0] == 'f' && strcmp(c->step.p + 2, key) == 0) {
            return c;
        }
    }
    return NULL;
}

/* The set's part for an element; NULL: none, or a failure, which sticks. */
static const gv_fields *without_element(pruner *p, const gv_fields *without,
                                        const grove_node *element, list_form form,
                                        const char **keys, size_t n) {
    grove_status st = element_step(element, form, keys, n, &p->step);
    p->status = p->status < 0 ? p->status : st;
    return st < 0 ? NULL : gv_fields_get(without, (gv_str){p->step.data, (size_t)p->step.len});
}

static bool elements_vanish(pruner *p, const shape *s, const grove_node *node,
                            const gv_fields *without) {
    const char *keys[KEYS_MAX];
    size_t n = 0;
    list_form form = form_of(s, keys, &n);
    if (!tells_apart(node, form, keys, n)) {
        return without->member;
    }
    for (const grove_node *e = grove_node_first(node); e; e = grove_node_next(node, e)) {
        const gv_fields *of = without_element(p, without, e, form, keys, n);
        if (!of || !of->member) {
            return false;
        }
    }
    return true;
}

/* Whether nothing would be left of a value. */
static bool vanishes(pruner *p, const shape *s, const grove_node *node, const gv_fields *without) {
    if (!without || !gv_fields_any(without)) {
        return false;
    }
    if (grove_node_type(node) == GROVE_ARRAY) {
        return elements_vanish(p, s, node, without);
    }
    if (grove_node_type(node) != GROVE_OBJECT || is_atomic(s)) {
        return without->member;
    }
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        shape below = member_of(s, grove_node_key(m, NULL));
        if (!vanishes(p, &below, m, without_member(without, grove_node_key(m, NULL)))) {
            return false;
        }
    }
    return true;
}

static void prune_elements(pruner *p, const char *key, const shape *s, const grove_node *node,
                           const gv_fields *without) {
    const char *keys[KEYS_MAX];
    size_t n = 0;
    list_form form = form_of(s, keys, &n);
    shape below = element_of(s);
    if (!tells_apart(node, form, keys, n)) {
        grove_builder_copy(p->b, key, node);
        return;
    }
    grove_builder_open_array(p->b, key);
    for (const grove_node *e = grove_node_first(node); e; e = grove_node_next(node, e)) {
        const gv_fields *of = without_element(p, without, e, form, keys, n);
        if (!of || !of->member) {
            prune(p, NULL, &below, e, of);
        }
    }
    grove_builder_close(p->b);
}

static void prune(pruner *p, const char *key, const shape *s, const grove_node *node,
                  const gv_fields *without) {
    if (without && gv_fields_any(without) && grove_node_type(node) == GROVE_OBJECT &&
        !is_atomic(s)) {
        grove_builder_open_object(p->b, key);
        for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
            const char *k = grove_node_key(m, NULL);
            const gv_fields *of = without_member(without, k);
            shape below = member_of(s, k);
            if (!vanishes(p, &below, m, of)) {
                prune(p, k, &below, m, of);
            }
        }
        grove_builder_close(p->b);
    } else if (without && gv_fields_any(without) && grove_node_type(node) == GROVE_ARRAY) {
        prune_elements(p, key, s, node, without);
    } else {
        grove_builder_copy(p->b, key, node);
    }
}

grove_status gv_fields_prune(grove_env *env, grove_builder *b, gv_kind kind,
                             const grove_node *object, const gv_fields *without) {
    pruner p = {.b = b};
    shape s = root_of(kind);
    grove_buf_init(&p.step, env);
    prune(&p, NULL, &s, object, without);
    grove_buf_fini(&p.step);
    return p.status;
}
