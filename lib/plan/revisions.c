/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step "revisions": each template that a set has had stands in a ControllerRevision named by its hash; the
 * highest number is that of the template in force. A template that comes back gets a new number, not a new
 * object. Those beyond the limit go, oldest first, but none that something living was made from.
 *
 * What exists is taken as it is, whoever made it and wherever an earlier plan was cut off: the number of the
 * next one is read from those that stand. The one of the template in force is created with the other children.
 */
#include "plan/revisions.h"

#include "base/sort.h"
#include "plan/delta.h"

typedef struct revision {
    const gv_object *o;
    int64_t number;
    bool owned, current, in_use;
} revision;

bool gv_revision_is_free(const gv_object *o) {
    return o->u.head.kind == GV_KIND_CONTROLLERREVISION && o->u.head.owner_uid[0] == '\0' &&
           o->u.head.uid[0] != '\0' && !gv_object_is_terminating(o);
}

static bool is_free(const gv_work *w, const gv_object *o) {
    (void)w;
    return gv_revision_is_free(o);
}

static bool is_own(const gv_object *o) {
    return o->u.head.kind == GV_KIND_CONTROLLERREVISION && !gv_object_is_terminating(o);
}

/* ---- what there is ---- */

static void add(const gv_work *w, revision *list, uint32_t *n, const gv_object *o, bool owned) {
    uint32_t at = gv_want_find_object(w->want, GV_KIND_CONTROLLERREVISION,
                                      gv_str_c(o->u.head.name));
    list[(*n)++] = (revision){
        .o = o,
        .number = gv_opt_or(gv_get_int(gv_object_node(o), "revision"), 0),
        .owned = owned,
        .current = at != GV_NOT_WANTED,
    };
}

/* Newest first; of equal ones (somebody wrote a number) the one in force, then by name. */
static int newest_first(const void *a, const void *b, void *ctx) {
    const revision *x = a, *y = b;
    (void)ctx;
    if (x->number != y->number) {
        return x->number > y->number ? -1 : 1;
    }
    return x->current != y->current ? (x->current ? -1 : 1)
                                    : strcmp(x->o->u.head.name, y->o->u.head.name);
}

/* Those of the set, and those without a controller that say they are its. *out_n UINT32_MAX: no memory. */
static revision **collect(gv_work *w, uint32_t *out_n) {
    const gv_list *owned = gv_store_owned_by(w->store, gv_str_c(w->pcs->u.head.uid));
    uint32_t n_free = 0, n = 0;
    const gv_object **loose = gv_work_pick(w, is_free, &n_free);
    *out_n = UINT32_MAX;
    if (n_free > 0 && loose == NULL) {
        return NULL;
    }
    revision *all = gv_arena_array(&w->arena, revision, owned->n + n_free + 1);
    revision **sorted = gv_arena_array(&w->arena, revision *, owned->n + n_free + 1);
    if (all == NULL || sorted == NULL) {
        return NULL;
    }
    for (const gv_object *o = owned->first; o; o = gv_list_next(o, GV_LIST_OWNER)) {
        if (is_own(o)) {
            add(w, all, &n, o, true);
        }
    }
    for (uint32_t i = 0; i < n_free; i++) {
        add(w, all, &n, loose[i], false);
    }
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = &all[i];
    }
    gv_sort((const void **)(void *)sorted, n, newest_first, NULL);
    *out_n = n;
    return sorted;
}

/* ---- number, owner, labels ---- */

static void put_owner(gv_work *w) {
    grove_builder *b = w->b;
    const gv_head *set = &w->pcs->u.head;
    char version[96];
    grove_builder_open_array(b, "ownerReferences");
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion",
                         gv_kind_api_version(GV_KIND_PODCLIQUESET, version, sizeof version));
    grove_builder_string(b, "kind", gv_kind_get(GV_KIND_PODCLIQUESET)->name);
    grove_builder_string(b, "name", set->name);
    grove_builder_string(b, "uid", set->uid);
    grove_builder_bool(b, "controller", 1);
    grove_builder_bool(b, "blockOwnerDeletion", 1);
    grove_builder_close(b);
    grove_builder_close(b);
}

static grove_status set_right(gv_work *w, const revision *r, int64_t number) {
    const grove_node *live = gv_object_node(r->o);
    const grove_node *labels = grove_node_at_path(live, "/metadata/labels");
    if (r->o->u.head.uid[0] == '\0') {
        return GROVE_OK; /* on its way */
    }
    gv_delta d;
    gv_delta_begin(&d, w->b);
    gv_delta_enter(&d, "metadata");
    gv_delta_enter(&d, "labels");
    gv_delta_text(&d, labels, GV_LABEL_COMPONENT, GV_STR(GV_COMPONENT_REVISION));
    gv_delta_text(&d, labels, GV_LABEL_MANAGED_BY, GV_STR(GV_MANAGER));
    gv_delta_text(&d, labels, GV_LABEL_PART_OF, w->set);
    gv_delta_leave(&d);
    if (!r->owned) {
        gv_delta_touch(&d);
        put_owner(w);
    }
    gv_delta_leave(&d);
    gv_delta_int(&d, live, "revision", number);
    if (!gv_delta_end(&d)) {
        return GROVE_OK;
    }
    const gv_head *h = &r->o->u.head;
    gv_act *act = gv_act_add(w, GROVE_VERB_PATCH, h->kind, gv_str_c(h->name), GV_ORDER_PATCH,
                             r->owned ? "Differs" : "Adopted", "%s ControllerRevision %s",
                             r->owned ? "update" : "take over", h->name);
    if (act == NULL) {
        return gv_work_nomem(w);
    }
    act->patch_type = GROVE_PATCH_MERGE;
    act->uid = gv_str_c(h->uid);
    act->rv = gv_str_c(h->rv);
    return gv_act_finish_body(w, act);
}

/* ---- what may go ---- */

/* `clique` "": under whichever name. */
static bool has_hash(const revision *r, gv_str clique, gv_str hash) {
    const grove_node *hashes = grove_node_at_path(gv_object_node(r->o), "/data/hashes");
    if (clique.n > 0) {
        return gv_str_eq(gv_view_str(grove_node_getn(hashes, clique.p, clique.n)), hash);
    }
    for (const grove_node *h = grove_node_first(hashes); h; h = grove_node_next(hashes, h)) {
        if (gv_str_eq(gv_view_str(h), hash)) {
            return true;
        }
    }
    return false;
}

static gv_str hash_of(const gv_object *o) {
    if (gv_object_is_pod(o)) {
        return gv_pod_is_active(&o->u.pod) ? gv_str_c(o->u.pod.hash) : GV_STR("");
    }
    return o->u.head.kind == GV_KIND_PODCLIQUE && !gv_object_is_terminating(o)
               ? gv_get_str(grove_node_at_path(gv_object_node(o), "/metadata/labels"),
                            GV_LABEL_TEMPLATE_HASH)
               : GV_STR("");
}

/* The template's name of the clique that an object is or is of; "": it is not wanted. */
static gv_str clique_of(const gv_work *w, const gv_object *o) {
    gv_str name = gv_str_c(gv_object_is_pod(o) ? o->u.pod.clique : o->u.head.name);
    uint32_t at = gv_want_find_clique(w->want, name);
    return at == GV_NOT_WANTED ? GV_STR("")
                               : gv_template_pcs(w->t)->cliques[w->want->cliques[at].clique].name;
}

/*
 * Whatever lives of the set was made from some revision: of several that say the same of its clique, the
 * newest. Of what is on its way out it is not known which; all of them.
 */
static void find_uses(const gv_work *w, revision **all, uint32_t n) {
    const gv_list *list = gv_store_of_set(w->store, w->ns, w->set);
    for (const gv_object *o = list->first; o; o = gv_list_next(o, GV_LIST_SET)) {
        gv_str hash = hash_of(o);
        gv_str clique = hash.n > 0 ? clique_of(w, o) : GV_STR("");
        bool found = hash.n == 0;
        for (uint32_t i = 0; i < n && !found; i++) {
            bool has = has_hash(all[i], clique, hash);
            all[i]->in_use = all[i]->in_use || has;
            found = has && clique.n > 0;
        }
    }
}

static grove_status remove_old(gv_work *w, revision **all, uint32_t n) {
    int64_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        const revision *r = all[i];
        if (!r->owned || r->current || r->in_use || kept++ < w->view->history) {
            continue;
        }
        grove_status status = gv_act_delete(w, r->o, GV_ORDER_DELETE, "HistoryLimit", NULL,
                                            GV_STR("beyond revisionHistoryLimit"));
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

grove_status gv_step_revisions(gv_work *w) {
    uint32_t n = 0;
    revision **all = collect(w, &n);
    if (n == UINT32_MAX) {
        return gv_work_nomem(w);
    }
    bool on = w->view->history > 0;
    int64_t highest = n > 0 ? all[0]->number : 0, n_old = 0;
    w->next_revision = highest + 1;
    for (uint32_t i = 0; i < n; i++) {
        bool newest = i == 0 && (n == 1 || all[1]->number < highest);
        int64_t number = all[i]->current && !newest ? highest + 1 : all[i]->number;
        n_old += all[i]->owned && !all[i]->current;
        grove_status status = on ? set_right(w, all[i], number) : GROVE_OK;
        if (status < 0) {
            return status;
        }
    }
    if (n_old <= w->view->history) {
        return GROVE_OK;
    }
    if (on) {
        find_uses(w, all, n);
    }
    return remove_old(w, all, n);
}
