/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlay: what our own writes will have done, shown before the cluster shows it.
 *
 * For each object there is at most one: while it is there, the indexes hold the expected (or returned)
 * object and the overlay hides what was observed. It ends when an observation reaches the version the
 * server answered with; a failed write ends it at once.
 */
#include "base/hash.h"
#include "store/inside.h"

static bool overlay_is(const void *item, const void *key) {
    const gv_overlay *ov = item;
    const gv_name_key *k = key;
    return ov->kind == k->kind && gv_str_eq(gv_str_c(ov->name), k->name) &&
           gv_str_eq(gv_str_c(ov->ns), k->ns);
}

gv_overlay *gv_overlay_find(const grove_store *s, gv_kind kind, gv_str ns, gv_str name) {
    gv_name_key key = {kind, ns, name};
    return s->overlays.live == 0
               ? NULL
               : gv_ptable_find(&s->overlays, gv_name_hash(&key), overlay_is, &key);
}

/* ---- life of an overlay ---- */

static void set_uid(grove_store *s, gv_overlay *ov, const char *uid) {
    gv_free(s->env, ov->uid, ov->uid_bytes);
    ov->uid = NULL;
    ov->uid_bytes = strlen(uid) + 1;
    if (ov->uid_bytes > 1 && (ov->uid = gv_alloc(s->env, ov->uid_bytes)) != NULL) {
        memcpy(ov->uid, uid, ov->uid_bytes);
    }
    if (ov->uid == NULL) {
        ov->uid_bytes = 0; /* only makes the overlay end by version or age instead of by uid */
    }
}

static void unchain(grove_store *s, gv_overlay *ov) {
    if (ov->prev != NULL) {
        ov->prev->next = ov->next;
    } else {
        s->oldest = ov->next;
    }
    if (ov->next != NULL) {
        ov->next->prev = ov->prev;
    } else {
        s->newest = ov->prev;
    }
    ov->next = ov->prev = NULL;
}

static void chain(grove_store *s, gv_overlay *ov) {
    ov->prev = s->newest;
    if (s->newest != NULL) {
        s->newest->next = ov;
    } else {
        s->oldest = ov;
    }
    s->newest = ov;
}

static gv_overlay *overlay_new(grove_store *s, const gv_write *w) {
    gv_overlay *ov = gv_ptable_reserve(&s->overlays, 1) ? gv_zalloc(s->env, sizeof *ov) : NULL;
    if (ov == NULL) {
        return NULL;
    }
    ov->ns = gv_intern_take(&s->pool, w->ns);
    ov->name = ov->ns ? gv_intern_take(&s->pool, w->name) : NULL;
    if (ov->name == NULL) {
        gv_intern_give(&s->pool, ov->ns);
        gv_free(s->env, ov, sizeof *ov);
        return NULL;
    }
    gv_name_key key = {w->kind, w->ns, w->name};
    ov->hash = gv_name_hash(&key);
    ov->kind = w->kind;
    gv_ptable_add(&s->overlays, ov->hash, ov);
    chain(s, ov);
    s->bytes += sizeof *ov;
    return ov;
}

void gv_overlay_free(grove_store *s, gv_overlay *ov) {
    gv_object_free(s, ov->hidden);
    gv_ptable_remove(&s->overlays, ov->hash, ov);
    unchain(s, ov);
    gv_intern_give(&s->pool, ov->ns);
    gv_intern_give(&s->pool, ov->name);
    gv_free(s->env, ov->uid, ov->uid_bytes);
    gv_free(s->env, ov, sizeof *ov);
    s->bytes -= sizeof *ov;
}

static gv_object *visible_of(const grove_store *s, const gv_overlay *ov) {
    return gv_store_get(s, ov->kind, gv_str_c(ov->ns), gv_str_c(ov->name));
}

/* Shows what was observed instead of what was expected. */
static grove_status lift(grove_store *s, gv_overlay *ov, grove_error *err) {
    if (ov->transparent) {
        return GROVE_OK;
    }
    grove_status status = gv_store_show(s, visible_of(s, ov), ov->hidden, false, err);
    if (status == GROVE_OK) {
        ov->hidden = NULL;
        ov->transparent = true;
    }
    return status;
}

/* ---- the end ---- */

/* Whether the observation has caught up with the write, whatever its answer was or will be. */
static bool observed(const gv_overlay *ov, const gv_object *seen) {
    bool same_uid = seen != NULL && (ov->uid == NULL || strcmp(ov->uid, seen->u.head.uid) == 0);
    switch (ov->verb) {
    case GROVE_VERB_DELETE:
    case GROVE_VERB_EVICT:
        return !same_uid || gv_object_is_terminating(seen);
    case GROVE_VERB_BIND:
        return !same_uid || gv_pod_is_bound(&seen->u.pod);
    case GROVE_VERB_CREATE:
        return seen != NULL &&
               (!ov->answered || ov->want == 0 || seen->u.head.rv_order >= ov->want);
    default:
        if (!same_uid) {
            return true;
        }
        return ov->answered && (ov->want == 0 || seen->u.head.rv_order >= ov->want);
    }
}

grove_status gv_overlay_observe(grove_store *s, gv_overlay *ov, gv_object *fresh,
                                grove_error *err) {
    if (ov->transparent) {
        return gv_store_show(s, visible_of(s, ov), fresh, false, err);
    }
    gv_object_free(s, ov->hidden);
    ov->hidden = fresh;
    if (!observed(ov, fresh)) {
        return GROVE_OK;
    }
    grove_status status = lift(s, ov, err);
    if (status == GROVE_OK && ov->answered) {
        gv_overlay_free(s, ov);
    }
    return status;
}

/* ---- the beginning ---- */

static grove_status patched(const gv_object *old, const gv_write *w, grove_doc **out,
                            grove_error *err) {
    const gv_document *d = &old->u.document;
    const grove_node *patch = w->object ? w->object : grove_doc_root(w->body);
    return w->patch_type == GROVE_PATCH_JSON
               ? grove_json_patch_apply(d->doc, d->node, w->body, patch, out, err)
               : grove_merge_patch_apply(d->doc, d->node, w->body, patch, out, err);
}

/* A pod's record follows the three pod patches that planning makes: it is told to have no place, which is
 * the only patch of its status, its labels are put back, which is the only merge patch, or Grove's gate is
 * removed. */
static const grove_node *patched_labels(const gv_write *w) {
    const grove_node *patch = w->object ? w->object : grove_doc_root(w->body);
    return w->patch_type == GROVE_PATCH_MERGE ? grove_node_at_path(patch, "/metadata/labels")
                                              : NULL;
}

static bool removes_gate(const gv_write *w) {
    const grove_node *patch = w->object ? w->object : grove_doc_root(w->body);
    if (w->patch_type != GROVE_PATCH_JSON) {
        return false;
    }
    for (const grove_node *op = grove_node_first(patch); op; op = grove_node_next(patch, op)) {
        const char *word = grove_node_text(grove_node_get(op, "op"));
        const char *path = grove_node_text(grove_node_get(op, "path"));
        if (word && path && strcmp(word, "remove") == 0 &&
            gv_str_starts(gv_str_c(path), GV_STR("/spec/schedulingGates"))) {
            return true;
        }
    }
    return false;
}

static grove_status expected(grove_store *s, const gv_write *w, const gv_object *old,
                             gv_object **out, grove_error *err) {
    gv_object_change change = {.set_flags = GV_HEAD_EXPECTED};
    grove_doc *doc = NULL;
    switch (w->verb) {
    case GROVE_VERB_CREATE:
        return gv_object_make(s, w->body, w->object ? w->object : grove_doc_root(w->body),
                              GV_HEAD_EXPECTED, out, err);
    case GROVE_VERB_DELETE:
    case GROVE_VERB_EVICT:
        change.set_flags |= GV_HEAD_TERMINATING;
        change.deleted = w->now;
        break;
    case GROVE_VERB_BIND:
        change.node = w->node;
        break;
    default:
        if (old->u.head.kind == GV_KIND_POD) {
            change.unschedulable = w->subresource == GROVE_SUBRESOURCE_STATUS;
            change.drop_gate = !change.unschedulable && removes_gate(w);
            change.labels = patched_labels(w);
        } else {
            grove_status status = patched(old, w, &doc, err);
            if (status < 0) {
                return status;
            }
            change.doc = doc;
            change.at = grove_doc_root(doc);
        }
        break;
    }
    grove_status status = gv_object_copy(s, old, &change, out, err);
    grove_doc_unref(doc);
    return status;
}

grove_status gv_store_write_begin(grove_store *store, const gv_write *write, grove_error *err) {
    gv_overlay *ov = gv_overlay_find(store, write->kind, write->ns, write->name);
    if (ov != NULL && !ov->answered) {
        return gv_error(err, GROVE_E_CONFLICT, "a write to this object is in flight already");
    }
    gv_object *old = gv_store_get(store, write->kind, write->ns, write->name);
    if (old == NULL && write->verb != GROVE_VERB_CREATE) {
        return gv_error(err, GROVE_E_NOT_FOUND, "the object to be written is not known");
    }
    gv_object *fresh = NULL;
    grove_status status = expected(store, write, old, &fresh, err);
    if (status < 0) {
        return status;
    }
    bool made = ov == NULL;
    if (made && (ov = overlay_new(store, write)) == NULL) {
        gv_object_free(store, fresh);
        return gv_error_nomem(err);
    }
    /* What is visible now was observed unless an earlier, answered write still covers it. */
    bool was_covered = !made && !ov->transparent;
    status = gv_store_show(store, old, fresh, !was_covered, err);
    if (status < 0) {
        gv_object_free(store, fresh);
        if (made) {
            gv_overlay_free(store, ov);
        }
        return status;
    }
    if (!was_covered) {
        ov->hidden = old;
    }
    ov->verb = write->verb;
    ov->answered = ov->transparent = false;
    ov->want = 0;
    ov->since = write->now;
    unchain(store, ov);
    chain(store, ov);
    set_uid(store, ov, write->verb == GROVE_VERB_CREATE || old == NULL ? "" : fresh->u.head.uid);
    return GROVE_OK;
}

/* ---- the answer ---- */

static uint64_t order_of(gv_str rv) {
    int64_t n = 0;
    return gv_str_int64(rv, &n) && n > 0 ? (uint64_t)n : 0;
}

/* The server's own words replace what we expected of it. */
static grove_status show_returned(grove_store *s, gv_overlay *ov, grove_doc *doc,
                                  const grove_node *returned, grove_error *err) {
    gv_object *fresh = NULL;
    grove_status status = gv_object_make(s, doc, returned, GV_HEAD_EXPECTED, &fresh, err);
    if (status < 0) {
        return status;
    }
    set_uid(s, ov, fresh->u.head.uid);
    if (ov->verb == GROVE_VERB_DELETE || ov->verb == GROVE_VERB_EVICT) {
        fresh->u.head.flags |= GV_HEAD_TERMINATING;
    }
    status = gv_store_show(s, visible_of(s, ov), fresh, false, err);
    if (status < 0) {
        gv_object_free(s, fresh);
    }
    return status;
}

grove_status gv_store_write_end(grove_store *store, gv_kind kind, gv_str ns, gv_str name, bool ok,
                                grove_doc *returned_doc, const grove_node *returned, gv_str rv,
                                int64_t now, grove_error *err) {
    (void)now;
    gv_overlay *ov = gv_overlay_find(store, kind, ns, name);
    if (ov == NULL || ov->answered) {
        return GROVE_OK; /* settled in the meantime */
    }
    grove_status status = GROVE_OK;
    if (!ok) {
        status = lift(store, ov, err);
        const gv_object *o = visible_of(store, ov);
        if (status == GROVE_OK) {
            status = o == NULL || gv_dirty_mark_for(store, o) ? GROVE_OK : gv_error_nomem(err);
            gv_overlay_free(store, ov);
        }
        return status;
    }
    ov->want = order_of(rv);
    if (!ov->transparent && returned != NULL && gv_kind_of(returned) == kind) {
        status = show_returned(store, ov, returned_doc, returned, err);
        if (status < 0) {
            return status;
        }
    }
    ov->answered = true;
    if (!ov->transparent && observed(ov, ov->hidden)) {
        status = lift(store, ov, err);
    }
    if (ov->transparent) {
        gv_overlay_free(store, ov);
    }
    return status;
}

/* ---- questions ---- */

bool gv_store_in_flight(const grove_store *store, gv_kind kind, gv_str ns, gv_str name) {
    return gv_overlay_find(store, kind, ns, name) != NULL;
}

bool gv_store_uncertain(const grove_store *store, int64_t now, gv_kind *out_kind,
                        const char **out_ns, const char **out_name) {
    const gv_overlay *ov = store->oldest;
    if (ov == NULL || now - ov->since < GV_OVERLAY_LIMIT_NS) {
        return false;
    }
    *out_kind = ov->kind;
    *out_ns = ov->ns;
    *out_name = ov->name;
    return true;
}

bool gv_store_uncertain_of_set(const grove_store *store, gv_str ns, gv_str pcs, int64_t now,
                               gv_kind *out_kind, const char **out_name) {
    for (const gv_overlay *ov = store->oldest; ov && now - ov->since >= GV_OVERLAY_LIMIT_NS;
         ov = ov->next) {
        const gv_object *o = visible_of(store, ov);
        if (o == NULL) {
            o = ov->hidden;
        }
        /* A binding writes itself and objects of its own name. */
        bool itself = (ov->kind == GV_KIND_PODCLIQUESET || ns.n == 0) &&
                      gv_str_eq(gv_str_c(ov->name), pcs);
        if (o != NULL && gv_str_eq(gv_str_c(o->u.head.ns), ns) &&
            (gv_str_eq(gv_str_c(o->u.head.part_of), pcs) || itself)) {
            *out_kind = ov->kind;
            *out_name = ov->name;
            return true;
        }
    }
    return false;
}

void gv_store_settle(grove_store *store, gv_kind kind, gv_str ns, gv_str name) {
    gv_overlay *ov = gv_overlay_find(store, kind, ns, name);
    if (ov == NULL) {
        return;
    }
    /* Showing an object that was indexed before under the same lists may need memory for a bucket; if
     * that fails the overlay stays and the object stays uncertain, to be read back again. */
    if (lift(store, ov, NULL) == GROVE_OK) {
        gv_overlay_free(store, ov);
    }
}

int64_t gv_store_deadline(const grove_store *store) {
    return store->oldest ? store->oldest->since + GV_OVERLAY_LIMIT_NS : INT64_MAX;
}
