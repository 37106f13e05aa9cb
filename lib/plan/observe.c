/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "observe": what lives of what is wanted. An object is ours when its name is the wanted one *and* its
 * controller is the wanted owner's uid; a namesake of somebody else is a rival, which is reported and never
 * touched.
 */
#include "base/sort.h"
#include "plan/work.h"

static gv_object *lookup(const gv_work *w, gv_kind kind, gv_str name) {
    return gv_store_get(w->store, kind, w->ns, name);
}

static bool owned_by(const gv_object *o, const gv_object *owner) {
    return owner != NULL && owner->u.head.uid[0] != '\0' &&
           strcmp(o->u.head.owner_uid, owner->u.head.uid) == 0;
}

/* An object with the name we want, split into ours and a rival. An object that we just created and that
 * is not yet observed carries the owner uid we gave it, so it is ours as well. */
static void split(const gv_work *w, gv_kind kind, gv_str name, const gv_object *owner,
                  gv_object **out_ours, gv_object **out_rival) {
    gv_object *o = lookup(w, kind, name);
    *out_ours = o != NULL && owned_by(o, owner) ? o : NULL;
    *out_rival = *out_ours == NULL ? o : NULL;
}

static bool remember(gv_work *w, const gv_object *o, gv_memo **out) {
    if (o == NULL || o->u.head.uid[0] == '\0') {
        return true;
    }
    *out = gv_memory_of(w, o);
    return *out != NULL;
}

static bool observe_groups(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_groups; i++) {
        gv_work_group *g = &w->groups[i];
        g->want = &w->want->groups[i];
        split(w, GV_KIND_PODCLIQUESCALINGGROUP, g->want->name, w->pcs, &g->obj, &g->rival);
        g->dying = g->obj != NULL && gv_object_is_terminating(g->obj);
        if (!remember(w, g->obj, &g->memo)) {
            return false;
        }
    }
    return true;
}

static const grove_placement *placement_of(const gv_work *w, gv_str gang) {
    for (uint32_t i = 0; i < w->request->n_placements; i++) {
        if (gv_str_eq(gv_str_c(w->request->placements[i]->gang), gang)) {
            return w->request->placements[i];
        }
    }
    return NULL;
}

static bool observe_gangs(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_gangs; i++) {
        gv_work_gang *g = &w->gangs[i];
        g->want = &w->want->gangs[i];
        g->placement = w->suspended ? NULL : placement_of(w, g->want->name);
        split(w, GV_KIND_PODGANG, g->want->name, w->pcs, &g->obj, &g->rival);
        g->dying = g->obj != NULL && gv_object_is_terminating(g->obj);
        if (!remember(w, g->obj, &g->memo)) {
            return false;
        }
    }
    return true;
}

/* ---- everything of the set ---- */

static int by_kind_and_name(const void *a, const void *b, void *ctx) {
    const gv_head *x = &((const gv_object *)a)->u.head, *y = &((const gv_object *)b)->u.head;
    (void)ctx;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->name, y->name);
}

const gv_object **gv_work_pick(gv_work *w, gv_pick wanted, uint32_t *out_n) {
    const gv_list *list = gv_store_of_set(w->store, w->ns, w->set);
    const gv_object **picked = NULL;
    uint32_t n = 0;
    *out_n = 0;
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        if (!wanted(w, o)) {
            continue;
        }
        if (picked == NULL &&
            (picked = gv_arena_array(&w->arena, const gv_object *, list->n)) == NULL) {
            *out_n = 1;
            return NULL;
        }
        picked[n++] = o;
    }
    if (n > 1) {
        gv_sort((const void **)(void *)picked, n, by_kind_and_name, NULL);
    }
    *out_n = n;
    return picked;
}

/* ---- pods ---- */

static int compare_text(const char *a, const char *b) {
    int c = strcmp(a, b);
    return (c > 0) - (c < 0);
}

/* By index (pods without one last), then the older, then the name: an order that no event can change. */
static int compare_pods(const gv_pod *a, const gv_pod *b) {
    int64_t ia = a->index < 0 ? INT64_MAX : a->index, ib = b->index < 0 ? INT64_MAX : b->index;
    if (ia != ib) {
        return ia < ib ? -1 : 1;
    }
    if (a->head.created != b->head.created) {
        /* A pod that is not observed yet has no time: it is the youngest. */
        int64_t ca = a->head.created == GV_TIME_NONE ? INT64_MAX : a->head.created;
        int64_t cb = b->head.created == GV_TIME_NONE ? INT64_MAX : b->head.created;
        return ca < cb ? -1 : 1;
    }
    return compare_text(a->head.name, b->head.name);
}

/* Merge sort: stable, no recursion, work space beside the array. */
static void sort_pods(const gv_pod **v, const gv_pod **tmp, uint32_t n) {
    bool sorted = true;
    for (uint32_t i = 1; i < n && sorted; i++) {
        sorted = compare_pods(v[i - 1], v[i]) <= 0;
    }
    /* Shortcut: what is sorted would be copied to where it is. */
    if (sorted) {
        return;
    }
    const gv_pod **from = v, **to = tmp;
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t lo = 0; lo < n; lo += 2 * width) {
            uint32_t mid = lo + width < n ? lo + width : n;
            uint32_t hi = lo + 2 * width < n ? lo + 2 * width : n;
            uint32_t a = lo, b = mid;
            for (uint32_t k = lo; k < hi; k++) {
                bool left = a < mid && (b >= hi || compare_pods(from[a], from[b]) <= 0);
                to[k] = left ? from[a++] : from[b++];
            }
        }
        const gv_pod **swap = from;
        from = to;
        to = swap;
    }
    if (from != v) {
        memcpy((void *)v, (const void *)from, n * sizeof *v);
    }
}

uint32_t gv_pod_place(const gv_work_clique *c, const gv_pod *p) {
    uint32_t lo = 0, hi = c->n_pods;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = compare_pods(c->pods[mid], p);
        if (order == 0) {
            return mid;
        }
        if (order < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return c->n_pods;
}

static bool observe_pods(gv_work *w, gv_work_clique *c) {
    const gv_list *list = gv_store_owned_by(w->store, gv_str_c(c->obj->u.head.uid));
    if (list->n == 0) {
        return true;
    }
    const gv_pod **all = gv_arena_array(&w->arena, const gv_pod *, 2 * (size_t)list->n);
    if (all == NULL) {
        return false;
    }
    c->goes = gv_arena_array(&w->arena, bool, list->n);
    if (c->goes == NULL) {
        return false;
    }
    c->pods = all;
    c->gone = all + list->n;
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_OWNER)) {
        if (!gv_object_is_pod(o)) {
            continue;
        }
        const gv_pod *p = &o->u.pod;
        c->unsettled = c->unsettled || (p->head.flags & GV_HEAD_EXPECTED) != 0;
        if (gv_pod_is_active(p)) {
            c->pods[c->n_pods++] = p;
        } else {
            c->gone[c->n_gone++] = p;
        }
    }
    if (c->n_pods > 1) {
        const gv_pod **tmp = gv_arena_array(&w->arena, const gv_pod *, c->n_pods);
        if (tmp == NULL) {
            return false;
        }
        sort_pods(c->pods, tmp, c->n_pods);
    }
    if (c->n_gone > 1) {
        const gv_pod **tmp = gv_arena_array(&w->arena, const gv_pod *, c->n_gone);
        if (tmp == NULL) {
            return false;
        }
        sort_pods(c->gone, tmp, c->n_gone);
    }
    return true;
}

static bool observe_cliques(gv_work *w) {
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        gv_work_clique *c = &w->cliques[i];
        c->want = &w->want->cliques[i];
        const gv_object *owner = c->want->group == GV_STANDALONE ? w->pcs
                                                                 : w->groups[c->want->group].obj;
        split(w, GV_KIND_PODCLIQUE, c->want->name, owner, &c->obj, &c->rival);
        if (c->obj == NULL) {
            continue;
        }
        c->dying = gv_object_is_terminating(c->obj);
        if (!remember(w, c->obj, &c->memo)) {
            return false;
        }
        if (c->obj->u.head.uid[0] != '\0' && !observe_pods(w, c)) {
            return false;
        }
    }
    return true;
}

grove_status gv_step_observe(gv_work *w) {
    const gv_want *want = w->want;
    w->cliques = gv_arena_array(&w->arena, gv_work_clique, want->n_cliques + 1);
    w->groups = gv_arena_array(&w->arena, gv_work_group, want->n_groups + 1);
    w->gangs = gv_arena_array(&w->arena, gv_work_gang, want->n_gangs + 1);
    w->replicas = gv_arena_array(&w->arena, gv_work_replica, want->n_replicas + 1);
    if (!w->cliques || !w->groups || !w->gangs || !w->replicas) {
        return gv_work_nomem(w);
    }
    bool ok = observe_groups(w) && observe_cliques(w) && observe_gangs(w);
    return ok ? GROVE_OK : gv_work_nomem(w);
}
