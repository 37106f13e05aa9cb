/* SPDX-License-Identifier: Apache-2.0 */
/* The store's front: objects in, objects out, versions, sizes. */
#include "store/inside.h"

grove_status grove_store_new(grove_env *env, grove_store **out_store) {
    if (env == NULL || out_store == NULL) {
        return GROVE_E_INVALID;
    }
    grove_store *s = gv_zalloc(env, sizeof *s);
    if (s == NULL) {
        return GROVE_E_NOMEM;
    }
    s->env = grove_env_ref(env);
    gv_intern_init(&s->pool, env);
    gv_ptable_init(&s->by_name, env);
    gv_ptable_init(&s->by_uid, env);
    gv_ptable_init(&s->buckets, env);
    gv_ptable_init(&s->overlays, env);
    gv_map_init(&s->departed, env);
    *out_store = s;
    return GROVE_OK;
}

void grove_store_free(grove_store *store) {
    if (store == NULL) {
        return;
    }
    grove_env *env = store->env;
    while (store->oldest != NULL) {
        gv_overlay_free(store, store->oldest);
    }
    for (int kind = 0; kind < GV_KIND_COUNT; kind++) {
        for (gv_object *o = store->of_kind[kind].first, *next; o; o = next) {
            next = gv_list_next(o, GV_LIST_KIND);
            gv_object_free(store, o);
        }
    }
    for (uint32_t i = 0; i < store->buckets.n_slots; i++) {
        gv_bucket *b = store->buckets.slots[i].item;
        if (b != NULL) {
            gv_free(env, b, sizeof *b);
        }
    }
    gv_departed_fini(store);
    gv_pod_facts_fini(env, &store->pod);
    gv_node_facts_fini(env, &store->node);
    gv_ptable_fini(&store->by_name);
    gv_ptable_fini(&store->by_uid);
    gv_ptable_fini(&store->buckets);
    gv_ptable_fini(&store->overlays);
    gv_intern_fini(&store->pool);
    gv_free(env, store, sizeof *store);
    grove_env_unref(env);
}

grove_env *gv_store_env(const grove_store *store) {
    return store->env;
}

/* ---- changing what is visible ---- */

/* A pod that stops occupying a node, or a foreign one that begins to, changes what others may get. */
static bool changes_capacity(const gv_object *old, const gv_object *fresh) {
    const gv_object *some = fresh ? fresh : old;
    if (some->u.head.kind != GV_KIND_POD) {
        return false;
    }
    bool before = old != NULL && gv_pod_is_bound(&old->u.pod) && !gv_pod_is_final(&old->u.pod);
    bool after = fresh != NULL && gv_pod_is_bound(&fresh->u.pod) && !gv_pod_is_final(&fresh->u.pod);
    return before != after || (before && after && old->u.pod.node != fresh->u.pod.node);
}

grove_status gv_store_show(grove_store *s, gv_object *old, gv_object *fresh, bool keep_old,
                           grove_error *err) {
    if (old == NULL && fresh == NULL) {
        return GROVE_OK;
    }
    bool same = old != NULL && fresh != NULL && gv_object_same(old, fresh);
    /* Marks first: they are what can fail, and a mark too many does no harm. */
    if (!same && ((old != NULL && !gv_dirty_mark_for(s, old)) ||
                  (fresh != NULL && !gv_dirty_mark_for(s, fresh)))) {
        return gv_error_nomem(err);
    }
    grove_status status = gv_index_swap(s, old, fresh, err);
    if (status < 0) {
        return status;
    }
    if (same) {
        s->n_unchanged++;
    } else if (changes_capacity(old, fresh)) {
        s->capacity_changed = true;
    }
    s->n_replaced += old != NULL && fresh != NULL ? 1u : 0u;
    if (!keep_old) {
        gv_object_free(s, old);
    }
    return GROVE_OK;
}

/* ---- observing ---- */

static bool is_read(gv_kind kind) {
    return kind != GV_KIND_NONE && kind < GV_KIND_COUNT && kind != GV_KIND_EVENT &&
           kind != GV_KIND_LEASE && kind != GV_KIND_CONFIGMAP;
}

/* An event that was overtaken by what is known of a later moment: by another event, by the answer to a
 * write, or by a read beside a watch that lags. It may be about a former incarnation of the name. */
static bool is_stale(const gv_object *known, const gv_object *fresh) {
    return known != NULL && fresh->u.head.rv_order != 0 &&
           known->u.head.rv_order > fresh->u.head.rv_order;
}

/* Takes `fresh` over, also when it fails. */
static grove_status observe(grove_store *store, gv_object *fresh, grove_error *err) {
    const gv_head *h = &fresh->u.head;
    gv_kind kind = h->kind;
    uint64_t version = h->rv_order;
    gv_overlay *ov = gv_overlay_find(store, kind, gv_str_c(h->ns), gv_str_c(h->name));
    gv_object *visible = gv_store_get(store, kind, gv_str_c(h->ns), gv_str_c(h->name));
    gv_object *known = ov != NULL && !ov->transparent ? ov->hidden : visible;
    fresh->relist = store->relist[kind];
    if (is_stale(known, fresh)) {
        known->relist = store->relist[kind];
        gv_object_free(store, fresh);
        return GROVE_OK;
    }
    bool covered = ov != NULL && !ov->transparent;
    if (known != NULL && strcmp(known->u.head.uid, h->uid) != 0 &&
        !gv_departed_note(store, known)) {
        gv_object_free(store, fresh);
        return gv_error_nomem(err);
    }
    grove_status status = ov != NULL ? gv_overlay_observe(store, ov, fresh, err)
                                     : gv_store_show(store, visible, fresh, false, err);
    if (status < 0) {
        if (!covered) {
            gv_object_free(store, fresh); /* a covering overlay holds it already */
        }
        return status;
    }
    if (version > store->version[kind]) {
        store->version[kind] = version;
    }
    return GROVE_OK;
}

grove_status grove_store_put(grove_store *store, grove_doc *doc, const grove_node *object,
                             grove_error *err) {
    if (store == NULL || doc == NULL || object == NULL) {
        return gv_error(err, GROVE_E_INVALID, "store, document and object are required");
    }
    if (!is_read(gv_kind_of(object))) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "planning reads no objects of this kind");
    }
    gv_object *fresh = NULL;
    grove_status status = gv_object_make(store, doc, object, 0, &fresh, err);
    return status < 0 ? status : observe(store, fresh, err);
}

grove_status grove_store_put_record(grove_store *store, const grove_extract *record,
                                    grove_error *err) {
    if (store == NULL || record == NULL || gv_extract_head(record) == NULL) {
        return gv_error(err, GROVE_E_INVALID, "store and a record are required");
    }
    gv_object *fresh = NULL;
    grove_status status = gv_object_make_record(store, record, &fresh, err);
    return status < 0 ? status : observe(store, fresh, err);
}

static grove_status remove_observed(grove_store *s, gv_kind kind, gv_str ns, gv_str name,
                                    gv_str uid, grove_error *err) {
    gv_overlay *ov = gv_overlay_find(s, kind, ns, name);
    gv_object *visible = gv_store_get(s, kind, ns, name);
    const gv_object *known = ov != NULL && !ov->transparent ? ov->hidden : visible;
    if (known == NULL) {
        /* Gone before we saw it: a create of ours that was answered and deleted since. */
        bool ours = ov != NULL && ov->uid != NULL && gv_str_eq(gv_str_c(ov->uid), uid);
        if (!ours) {
            return GROVE_OK;
        }
        if (visible != NULL && !gv_departed_note(s, visible)) {
            return gv_error_nomem(err);
        }
        grove_status status = gv_store_show(s, visible, NULL, false, err);
        if (status == GROVE_OK) {
            gv_overlay_free(s, ov);
        }
        return status;
    }
    if (uid.n > 0 && known->u.head.uid[0] != '\0' && !gv_str_eq(gv_str_c(known->u.head.uid), uid)) {
        return GROVE_OK;
    }
    if (!gv_departed_note(s, known)) {
        return gv_error_nomem(err);
    }
    return ov != NULL ? gv_overlay_observe(s, ov, NULL, err)
                      : gv_store_show(s, visible, NULL, false, err);
}

static grove_status remove_head(grove_store *store, const gv_head_facts *head, grove_error *err) {
    grove_status status = remove_observed(store, head->kind, head->ns, head->name, head->uid, err);
    if (status == GROVE_OK) {
        gv_store_bookmark(store, head->kind, head->rv);
    }
    return status;
}

grove_status grove_store_remove(grove_store *store, const grove_node *object, grove_error *err) {
    if (store == NULL || object == NULL) {
        return gv_error(err, GROVE_E_INVALID, "store and object are required");
    }
    gv_head_facts f;
    grove_status status = gv_head_read(object, &f, err);
    return status < 0 ? status : remove_head(store, &f, err);
}

grove_status grove_store_remove_record(grove_store *store, const grove_extract *record,
                                       grove_error *err) {
    const gv_head_facts *head = store && record ? gv_extract_head(record) : NULL;
    return head ? remove_head(store, head, err)
                : gv_error(err, GROVE_E_INVALID, "store and a record are required");
}

/* ---- versions and relists ---- */

uint64_t gv_store_version(const grove_store *store, gv_kind kind) {
    return kind > GV_KIND_NONE && kind < GV_KIND_COUNT ? store->version[kind] : 0;
}

void gv_store_bookmark(grove_store *store, gv_kind kind, gv_str rv) {
    int64_t n = 0;
    if (kind > GV_KIND_NONE && kind < GV_KIND_COUNT && gv_str_int64(rv, &n) && n > 0 &&
        (uint64_t)n > store->version[kind]) {
        store->version[kind] = (uint64_t)n;
    }
}

void gv_store_relist_begin(grove_store *store, gv_kind kind) {
    if (kind > GV_KIND_NONE && kind < GV_KIND_COUNT) {
        store->relist[kind]++;
    }
}

grove_status gv_store_relist_end(grove_store *store, gv_kind kind) {
    for (gv_object *o = gv_store_of_kind(store, kind)->first, *next; o; o = next) {
        const gv_head *h = &o->u.head;
        next = gv_list_next(o, GV_LIST_KIND);
        const gv_overlay *ov = gv_overlay_find(store, kind, gv_str_c(h->ns), gv_str_c(h->name));
        const gv_object *known = ov != NULL && !ov->transparent ? ov->hidden : o;
        if (known == NULL || known->relist == store->relist[kind]) {
            continue;
        }
        /* Taken over before the removal frees the record that it lives in. */
        gv_str uid = gv_str_c(known->u.head.uid);
        grove_status status = remove_observed(store, kind, gv_str_c(h->ns), gv_str_c(h->name), uid,
                                              NULL);
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

grove_status grove_store_stats_get(const grove_store *store, grove_store_stats *out_stats) {
    if (store == NULL || out_stats == NULL || out_stats->size < 2 * sizeof(uint32_t)) {
        return GROVE_E_INVALID;
    }
    uint64_t tables = ((uint64_t)store->by_name.n_slots + store->by_uid.n_slots +
                       store->buckets.n_slots + store->overlays.n_slots +
                       store->pool.table.n_slots) *
                      sizeof(gv_ptable_slot);
    grove_store_stats full = {
        .size = out_stats->size,
        .objects = store->n_objects,
        .pods = store->of_kind[GV_KIND_POD].n,
        .nodes = store->of_kind[GV_KIND_NODE].n,
        .strings = store->pool.table.live,
        .bytes = store->bytes + store->pool.bytes + tables,
        .in_flight = store->overlays.live,
        .replaced = store->n_replaced,
        .unchanged = store->n_unchanged,
    };
    size_t n = out_stats->size < sizeof full ? out_stats->size : sizeof full;
    memcpy(out_stats, &full, n);
    return GROVE_OK;
}
