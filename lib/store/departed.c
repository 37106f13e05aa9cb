/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who held an index last: for each clique the uid of the latest pod of each index that is gone. A
 * replacement's name is made from its predecessor's uid, and must not depend on whether the predecessor is
 * still seen leaving: one view would name the pod otherwise than the next, and both would be created. Kept
 * as long as the clique, one entry an index.
 */
#include "base/vec.h"
#include "store/inside.h"

typedef struct last_of {
    int32_t index;
    const char *uid; /* interned */
} last_of;

typedef struct departed {
    GV_VEC(last_of) v;
} departed;

static last_of *find(const departed *d, int32_t index) {
    for (size_t i = 0; i < d->v.n; i++) {
        if (d->v.v[i].index == index) {
            return &d->v.v[i];
        }
    }
    return NULL;
}

static departed *of_owner(grove_store *s, gv_str owner) {
    departed *d = gv_map_get(&s->departed, owner);
    if (d == NULL && (d = gv_zalloc(s->env, sizeof *d)) != NULL &&
        !gv_map_put(&s->departed, owner, d)) {
        gv_free(s->env, d, sizeof *d);
        return NULL;
    }
    return d;
}

static void free_departed(grove_store *s, departed *d) {
    if (d == NULL) {
        return;
    }
    for (size_t i = 0; i < d->v.n; i++) {
        gv_intern_give(&s->pool, d->v.v[i].uid);
    }
    gv_vec_fini(s->env, &d->v);
    gv_free(s->env, d, sizeof *d);
}

static bool note_pod(grove_store *s, const gv_pod *pod) {
    gv_str owner = gv_str_c(pod->head.owner_uid);
    if (pod->index < 0 || owner.n == 0 || pod->head.uid[0] == '\0' ||
        gv_store_by_uid(s, owner) == NULL) {
        return true;
    }
    departed *d = of_owner(s, owner);
    const char *uid = d ? gv_intern_take(&s->pool, gv_str_c(pod->head.uid)) : NULL;
    if (uid == NULL) {
        return false;
    }
    last_of *last = find(d, pod->index);
    if (last != NULL) {
        gv_intern_give(&s->pool, last->uid);
        last->uid = uid;
        return true;
    }
    last_of fresh = {pod->index, uid};
    if (gv_vec_push(s->env, &d->v, fresh)) {
        return true;
    }
    gv_intern_give(&s->pool, uid);
    return false;
}

bool gv_departed_note(grove_store *s, const gv_object *gone) {
    if (gv_object_is_pod(gone)) {
        return note_pod(s, &gone->u.pod);
    }
    if (gone->u.head.kind == GV_KIND_PODCLIQUE) {
        free_departed(s, gv_map_remove(&s->departed, gv_str_c(gone->u.head.uid)));
    }
    return true;
}

void gv_departed_fini(grove_store *s) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&s->departed, &i));) {
        free_departed(s, e->value);
    }
    gv_map_fini(&s->departed);
}

gv_str gv_store_departed(const grove_store *store, gv_str owner_uid, int64_t index) {
    const departed *d = gv_map_get(&store->departed, owner_uid);
    const last_of *last = d && index <= INT32_MAX ? find(d, (int32_t)index) : NULL;
    return gv_str_c(last ? last->uid : "");
}
