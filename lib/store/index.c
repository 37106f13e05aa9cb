/* SPDX-License-Identifier: Apache-2.0 */
/* The indexes: two tables (name, uid) and the lists an object is in. */
#include "base/hash.h"
#include "store/inside.h"

/* ---- buckets ---- */

typedef struct bucket_key {
    gv_list_kind which;
    gv_str ns, key;
} bucket_key;

static bool bucket_is(const void *item, const void *key) {
    const gv_bucket *b = item;
    const bucket_key *k = key;
    return b->which == k->which && gv_str_eq(gv_str_c(b->key), k->key) &&
           gv_str_eq(gv_str_c(b->ns), k->ns);
}

static uint64_t bucket_hash(const bucket_key *k) {
    uint64_t h = gv_fnv1a(gv_mix64((uint64_t)k->which + 1), k->ns.p, k->ns.n);
    h = gv_fnv1a(h, "/", 1);
    return gv_fnv1a(h, k->key.p, k->key.n);
}

gv_bucket *gv_bucket_find(const grove_store *s, gv_list_kind which, gv_str ns, gv_str key) {
    bucket_key k = {which, ns, key};
    return gv_ptable_find(&s->buckets, bucket_hash(&k), bucket_is, &k);
}

gv_bucket *gv_bucket_want(grove_store *s, gv_list_kind which, gv_str ns, gv_str key) {
    gv_bucket *b = gv_bucket_find(s, which, ns, key);
    if (b != NULL) {
        return b;
    }
    b = gv_ptable_reserve(&s->buckets, 1) ? gv_zalloc(s->env, sizeof *b) : NULL;
    if (b == NULL) {
        return NULL;
    }
    b->which = which;
    b->ns = gv_intern_take(&s->pool, ns);
    b->key = b->ns ? gv_intern_take(&s->pool, key) : NULL;
    if (b->key == NULL) {
        gv_intern_give(&s->pool, b->ns);
        gv_free(s->env, b, sizeof *b);
        return NULL;
    }
    bucket_key k = {which, ns, key};
    b->hash = bucket_hash(&k);
    s->bytes += sizeof *b;
    gv_ptable_add(&s->buckets, b->hash, b);
    return b;
}

void gv_bucket_release(grove_store *s, gv_bucket *b) {
    if (b == NULL || b->list.n > 0 || b->dirty || b == s->taken) {
        return;
    }
    gv_ptable_remove(&s->buckets, b->hash, b);
    gv_intern_give(&s->pool, b->ns);
    gv_intern_give(&s->pool, b->key);
    s->bytes -= sizeof *b;
    gv_free(s->env, b, sizeof *b);
}

/* ---- lists ---- */

static void list_append(gv_list *l, gv_object *o, gv_list_kind which) {
    o->link[which] = (gv_link){.prev = l->last, .list = l};
    if (l->last != NULL) {
        l->last->link[which].next = o;
    } else {
        l->first = o;
    }
    l->last = o;
    l->n++;
}

static void list_remove(gv_object *o, gv_list_kind which) {
    gv_link *k = &o->link[which];
    gv_list *l = k->list;
    if (l == NULL) {
        return;
    }
    if (k->prev != NULL) {
        k->prev->link[which].next = k->next;
    } else {
        l->first = k->next;
    }
    if (k->next != NULL) {
        k->next->link[which].prev = k->prev;
    } else {
        l->last = k->prev;
    }
    l->n--;
    *k = (gv_link){0};
}

/* The new object takes the old one's place, so that a replacement does not change any order. */
static void list_take_place(gv_object *old, gv_object *fresh, gv_list_kind which) {
    gv_link k = old->link[which];
    fresh->link[which] = k;
    if (k.prev != NULL) {
        k.prev->link[which].next = fresh;
    } else {
        k.list->first = fresh;
    }
    if (k.next != NULL) {
        k.next->link[which].prev = fresh;
    } else {
        k.list->last = fresh;
    }
    old->link[which] = (gv_link){0};
}

/* ---- which lists an object belongs to ---- */

static bool list_key(const gv_object *o, gv_list_kind which, gv_str *ns, gv_str *key) {
    const gv_head *h = &o->u.head;
    *ns = (gv_str){"", 0};
    switch (which) {
    case GV_LIST_SET:
        *ns = gv_str_c(h->ns);
        *key = gv_str_c(h->kind == GV_KIND_PODCLIQUESET     ? h->name
                        : (h->flags & GV_HEAD_MANAGED) != 0 ? h->part_of
                                                            : "");
        break;
    case GV_LIST_OWNER:
        *key = gv_str_c(h->owner_uid);
        break;
    case GV_LIST_GANG:
        *ns = gv_str_c(h->ns);
        *key = gv_str_c(h->kind == GV_KIND_POD && (h->flags & GV_HEAD_MANAGED) != 0 ? o->u.pod.gang
                                                                                    : "");
        break;
    case GV_LIST_NODE:
        *key = gv_str_c(h->kind == GV_KIND_POD ? o->u.pod.node : "");
        break;
    case GV_LIST_KIND:
    case GV_LISTS:
    default:
        *key = (gv_str){"", 0};
        break;
    }
    return key->n > 0;
}

typedef struct places {
    gv_list *list[GV_LISTS]; /* NULL: in none */
} places;

static void release_places(grove_store *s, const places *p) {
    for (int w = GV_LIST_SET; w < GV_LISTS; w++) {
        gv_bucket_release(s, (gv_bucket *)(void *)p->list[w]);
    }
}

static bool find_places(grove_store *s, const gv_object *o, places *out) {
    *out = (places){.list = {[GV_LIST_KIND] = &s->of_kind[o->u.head.kind]}};
    for (int w = GV_LIST_SET; w < GV_LISTS; w++) {
        gv_str ns, key;
        if (!list_key(o, (gv_list_kind)w, &ns, &key)) {
            continue;
        }
        gv_bucket *b = gv_bucket_want(s, (gv_list_kind)w, ns, key);
        if (b == NULL) {
            release_places(s, out);
            return false;
        }
        out->list[w] = &b->list;
    }
    return true;
}

/* ---- tables ---- */

static uint64_t object_name_hash(const gv_object *o) {
    const gv_head *h = &o->u.head;
    gv_name_key key = {h->kind, gv_str_c(h->ns), gv_str_c(h->name)};
    return gv_name_hash(&key);
}

static uint64_t uid_hash(gv_str uid) {
    return gv_fnv1a(GV_FNV_START, uid.p, uid.n);
}

static bool uid_is(const void *object, const void *key) {
    const gv_str *uid = key;
    return gv_str_eq(gv_str_c(((const gv_object *)object)->u.head.uid), *uid);
}

gv_object *gv_store_by_uid(const grove_store *store, gv_str uid) {
    return uid.n == 0 ? NULL : gv_ptable_find(&store->by_uid, uid_hash(uid), uid_is, &uid);
}

gv_object *gv_store_get(const grove_store *store, gv_kind kind, gv_str ns, gv_str name) {
    gv_name_key key = {kind, ns, name};
    return gv_ptable_find(&store->by_name, gv_name_hash(&key), gv_name_is, &key);
}

static void table_remove(grove_store *s, gv_object *o) {
    gv_str uid = gv_str_c(o->u.head.uid);
    gv_ptable_remove(&s->by_name, object_name_hash(o), o);
    if (uid.n > 0) {
        gv_ptable_remove(&s->by_uid, uid_hash(uid), o);
    }
}

static void table_add(grove_store *s, gv_object *o) {
    gv_str uid = gv_str_c(o->u.head.uid);
    gv_ptable_add(&s->by_name, object_name_hash(o), o);
    if (uid.n > 0) {
        gv_ptable_add(&s->by_uid, uid_hash(uid), o);
    }
}

grove_status gv_index_swap(grove_store *s, gv_object *old, gv_object *fresh, grove_error *err) {
    places now = {0};
    if (fresh != NULL && (!gv_ptable_reserve(&s->by_name, 1) || !gv_ptable_reserve(&s->by_uid, 1) ||
                          !find_places(s, fresh, &now))) {
        return gv_error_nomem(err);
    }
    if (old != NULL) {
        table_remove(s, old);
    }
    if (fresh != NULL) {
        table_add(s, fresh);
    }
    for (int w = 0; w < GV_LISTS; w++) {
        gv_list *before = old ? old->link[w].list : NULL;
        if (before != NULL && before == now.list[w]) {
            list_take_place(old, fresh, (gv_list_kind)w);
            continue;
        }
        if (before != NULL) {
            list_remove(old, (gv_list_kind)w);
        }
        if (now.list[w] != NULL) {
            list_append(now.list[w], fresh, (gv_list_kind)w);
        }
        if (before != NULL && w != GV_LIST_KIND) {
            gv_bucket_release(s, (gv_bucket *)(void *)before);
        }
    }
    s->n_objects += (fresh != NULL ? 1u : 0u) - (uint64_t)(old != NULL ? 1u : 0u);
    return GROVE_OK;
}

/* ---- reading ---- */

const gv_list *gv_store_of_kind(const grove_store *store, gv_kind kind) {
    return kind > GV_KIND_NONE && kind < GV_KIND_COUNT ? &store->of_kind[kind] : &store->empty;
}

static const gv_list *bucket_list(const grove_store *s, gv_list_kind which, gv_str ns, gv_str key) {
    const gv_bucket *b = key.n > 0 ? gv_bucket_find(s, which, ns, key) : NULL;
    return b ? &b->list : &s->empty;
}

const gv_list *gv_store_of_set(const grove_store *store, gv_str ns, gv_str pcs) {
    return bucket_list(store, GV_LIST_SET, ns, pcs);
}
const gv_list *gv_store_owned_by(const grove_store *store, gv_str uid) {
    return bucket_list(store, GV_LIST_OWNER, (gv_str){"", 0}, uid);
}
const gv_list *gv_store_of_gang(const grove_store *store, gv_str ns, gv_str gang) {
    return bucket_list(store, GV_LIST_GANG, ns, gang);
}
const gv_list *gv_store_on_node(const grove_store *store, gv_str node) {
    return bucket_list(store, GV_LIST_NODE, (gv_str){"", 0}, node);
}
