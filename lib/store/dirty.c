/* SPDX-License-Identifier: Apache-2.0 */
/* Which sets must be planned because something changed: the table of docs/reference/dirty-keys.md. */
#include "store/inside.h"

bool gv_dirty_mark(grove_store *s, gv_str ns, gv_str pcs) {
    gv_bucket *b = gv_bucket_want(s, GV_LIST_SET, ns, pcs);
    if (b == NULL) {
        return false;
    }
    if (!b->dirty) {
        b->dirty = true;
        b->next_dirty = NULL;
        if (s->dirty_last != NULL) {
            s->dirty_last->next_dirty = b;
        } else {
            s->dirty_first = b;
        }
        s->dirty_last = b;
    }
    return true;
}

static gv_str text_at(const grove_node *object, const char *key) {
    size_t n = 0;
    const char *p = grove_node_textn(grove_node_get(object, key), &n);
    return p ? (gv_str){p, n} : (gv_str){"", 0};
}

/* ---- which sets name a cluster object ---- */

typedef bool (*names_it)(const grove_node *part, gv_str name);

/* True when the template, one of its scaling groups or one of its cliques says so. */
static bool any_part(const grove_node *pcs, names_it test, gv_str name) {
    static const char *const lists[] = {"podCliqueScalingGroups", "cliques"};
    const grove_node *t = grove_node_at_path(pcs, "/spec/template");
    if (test(t, name)) {
        return true;
    }
    for (int k = 0; k < 2; k++) {
        const grove_node *list = grove_node_get(t, lists[k]);
        for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
            if (test(c, name)) {
                return true;
            }
        }
    }
    return false;
}

static bool names_topology(const grove_node *part, gv_str name) {
    return gv_str_eq(text_at(grove_node_get(part, "topologyConstraint"), "topologyName"), name);
}

static bool names_priority(const grove_node *part, gv_str name) {
    return gv_str_eq(text_at(part, "priorityClassName"), name) ||
           gv_str_eq(text_at(grove_node_at_path(part, "/spec/podSpec"), "priorityClassName"), name);
}

static bool names_claim(const grove_node *part, gv_str name) {
    const grove_node *list = grove_node_get(part, "resourceSharing");
    for (const grove_node *e = grove_node_first(list); e; e = grove_node_next(list, e)) {
        if (gv_str_eq(text_at(e, "name"), name)) {
            return true;
        }
    }
    return false;
}

static bool mark_naming(grove_store *s, names_it test, const char *name) {
    for (gv_object *o = s->of_kind[GV_KIND_PODCLIQUESET].first; o;
         o = gv_list_next(o, GV_LIST_KIND)) {
        const gv_head *h = &o->u.head;
        if (any_part(o->u.document.node, test, gv_str_c(name)) &&
            !gv_dirty_mark(s, gv_str_c(h->ns), gv_str_c(h->name))) {
            return false;
        }
    }
    return true;
}

/* The bindings that make an object of this name, own it, or refer to it: their own keys have no namespace. */
static bool mark_bindings(grove_store *s, const gv_head *topology) {
    for (gv_object *o = s->of_kind[GV_KIND_CLUSTERTOPOLOGYBINDING].first; o;
         o = gv_list_next(o, GV_LIST_KIND)) {
        const gv_head *h = &o->u.head;
        const grove_node *refs = grove_node_at_path(o->u.document.node,
                                                    "/spec/schedulerTopologyBindings");
        bool names = strcmp(h->name, topology->name) == 0 ||
                     (h->uid[0] != '\0' && strcmp(h->uid, topology->owner_uid) == 0);
        for (const grove_node *r = grove_node_first(refs); r; r = grove_node_next(refs, r)) {
            names = names || gv_str_is(text_at(r, "topologyReference"), topology->name);
        }
        if (names && !gv_dirty_mark(s, gv_str_c(h->ns), gv_str_c(h->name))) {
            return false;
        }
    }
    return true;
}

/* ---- children ---- */

/* The set of an object without Grove's labels, through its controllers. */
static const gv_head *set_above(const grove_store *s, const gv_head *h) {
    for (int depth = 0; depth < 4; depth++) {
        if (h->kind == GV_KIND_PODCLIQUESET) {
            return h;
        }
        const gv_object *owner = gv_store_by_uid(s, gv_str_c(h->owner_uid));
        if (owner == NULL) {
            return NULL;
        }
        h = &owner->u.head;
    }
    return NULL;
}

bool gv_dirty_mark_for(grove_store *s, const gv_object *o) {
    const gv_head *h = &o->u.head;
    switch (h->kind) {
    case GV_KIND_PODCLIQUESET:
        return gv_dirty_mark(s, gv_str_c(h->ns), gv_str_c(h->name));
    case GV_KIND_NODE:
    case GV_KIND_PDB:
        s->capacity_changed = true;
        return true;
    case GV_KIND_CLUSTERTOPOLOGYBINDING:
        s->capacity_changed = true;
        return mark_naming(s, names_topology, h->name) &&
               gv_dirty_mark(s, gv_str_c(h->ns), gv_str_c(h->name));
    case GV_KIND_KAI_TOPOLOGY:
        s->capacity_changed = true;
        return mark_naming(s, names_topology, h->name) && mark_bindings(s, h);
    case GV_KIND_PRIORITYCLASS:
        return mark_naming(s, names_priority, h->name);
    case GV_KIND_RESOURCECLAIMTEMPLATE:
        return mark_naming(s, names_claim, h->name);
    default:
        break;
    }
    if ((h->flags & GV_HEAD_MANAGED) != 0 && h->part_of[0] != '\0') {
        return gv_dirty_mark(s, gv_str_c(h->ns), gv_str_c(h->part_of));
    }
    const gv_head *set = set_above(s, h);
    return set == NULL || gv_dirty_mark(s, gv_str_c(set->ns), gv_str_c(set->name));
}

/* ---- public ---- */

int32_t grove_store_next_dirty(grove_store *store, const char **out_namespace,
                               const char **out_name) {
    gv_bucket *before = store->taken;
    store->taken = NULL;
    gv_bucket_release(store, before);
    gv_bucket *b = store->dirty_first;
    if (b == NULL) {
        return 0;
    }
    store->dirty_first = b->next_dirty;
    if (store->dirty_first == NULL) {
        store->dirty_last = NULL;
    }
    b->dirty = false;
    b->next_dirty = NULL;
    store->taken = b;
    *out_namespace = b->ns;
    *out_name = b->key;
    return 1;
}

grove_status grove_store_mark(grove_store *store, const char *ns, const char *name) {
    return gv_dirty_mark(store, gv_str_c(ns), gv_str_c(name)) ? GROVE_OK : GROVE_E_NOMEM;
}

grove_status grove_store_mark_all(grove_store *store) {
    static const gv_kind planned[] = {GV_KIND_CLUSTERTOPOLOGYBINDING, GV_KIND_PODCLIQUESET};
    for (size_t k = 0; k < sizeof planned / sizeof *planned; k++) {
        gv_object *o = store->of_kind[planned[k]].first;
        for (; o; o = gv_list_next(o, GV_LIST_KIND)) {
            if (!gv_dirty_mark(store, gv_str_c(o->u.head.ns), gv_str_c(o->u.head.name))) {
                return GROVE_E_NOMEM;
            }
        }
    }
    return GROVE_OK;
}

bool gv_store_take_capacity_mark(grove_store *store) {
    bool marked = store->capacity_changed;
    store->capacity_changed = false;
    return marked;
}
