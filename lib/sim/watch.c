/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots and positions in the history. */
#include "sim/watch.h"

#include "base/sort.h"
#include "sim/select.h"
#include "value/doc.h"

struct gv_sim_watch {
    uint64_t token;
    gv_kind kind;
    gv_sim_filter filter;
    GV_VEC(const void *) first; /* documents of the snapshot, held until told */
    size_t first_at;
    uint64_t snapshot_rv;
    bool sync;             /* SYNCED is still to be told */
    bool lost;             /* GONE is to be told */
    bool bookmark;         /* BOOKMARK is to be told once everything else was */
    uint64_t next;         /* number of the change to look at next */
    uint64_t rv;           /* told up to here */
    grove_event_type type; /* of the change at `next`, once peek found it */
};

/* ---- where history stands ---- */

static const gv_sim_change *change_at(const gv_sim_table *t, uint64_t number) {
    return &t->history.v[t->history_head + (size_t)(number - t->dropped)];
}

static uint64_t history_end(const gv_sim_table *t) {
    return t->dropped + (t->history.n - t->history_head);
}

/* Number of the first change after `rv`. */
static uint64_t after(const gv_sim_table *t, uint64_t rv) {
    uint64_t lo = t->dropped, hi = history_end(t);
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (change_at(t, mid)->rv > rv) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

/* ---- making ---- */

static int by_key(const void *a, const void *b, void *ctx) {
    (void)ctx;
    return gv_str_cmp(((const gv_sim_object *)a)->key, ((const gv_sim_object *)b)->key);
}

/* Every object that matches, sorted, as documents with a reference each. */
static grove_status snapshot(grove_sim *sim, gv_sim_watch *w) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&sim->tables[w->kind].objects, &i));) {
        const gv_sim_object *o = e->value;
        if (gv_sim_filter_matches(&w->filter, gv_sim_root(o)) &&
            !gv_vec_push(sim->env, &w->first, o)) {
            w->first.n = 0; /* nothing is held yet */
            return GROVE_E_NOMEM;
        }
    }
    gv_sort(w->first.v, w->first.n, by_key, NULL);
    for (size_t i = 0; i < w->first.n; i++) {
        w->first.v[i] = grove_doc_ref(((const gv_sim_object *)w->first.v[i])->doc);
    }
    w->snapshot_rv = w->rv = sim->rv;
    w->sync = true;
    w->next = history_end(&sim->tables[w->kind]);
    return GROVE_OK;
}

/* GONE when the version is older than what history holds; a version from the future just waits. */
static grove_status resume(grove_sim *sim, gv_sim_watch *w, const char *version, grove_error *err) {
    const gv_sim_table *t = &sim->tables[w->kind];
    int64_t rv = 0;
    if (!gv_str_int64(gv_str_c(version), &rv) || rv < 0) {
        return gv_error(err, GROVE_E_REFUSED, "invalid resource version: %s", version);
    }
    w->rv = (uint64_t)rv;
    w->lost = w->rv < t->lost_rv;
    w->next = after(t, w->rv);
    return GROVE_OK;
}

grove_status gv_sim_watch_make(grove_sim *sim, const grove_watch *in, gv_sim_watch **out_watch,
                               grove_error *err) {
    gv_sim_watch *w = gv_zalloc(sim->env, sizeof *w);
    if (!w) {
        return gv_error_nomem(err);
    }
    w->token = in->token;
    w->kind = (gv_kind)in->kind;
    bool namespaced = gv_kind_get(w->kind)->namespaced;
    grove_status st = gv_sim_filter_make(sim->env, w->kind, namespaced ? in->ns : NULL,
                                         in->label_selector, in->field_selector, &w->filter, err);
    if (st == GROVE_OK) {
        const char *rv = in->resource_version;
        bool fresh = !rv || !rv[0] || strcmp(rv, "0") == 0;
        st = fresh ? snapshot(sim, w) : resume(sim, w, rv, err);
    }
    if (st < 0) {
        gv_sim_watch_free(sim, w);
        return st;
    }
    *out_watch = w;
    return GROVE_OK;
}

static grove_doc *first_doc(const gv_sim_watch *w, size_t i) {
    /* Stored as const void * for the sort; the documents are ours. */
    union {
        const void *in;
        grove_doc *out;
    } u = {w->first.v[i]};
    return u.out;
}

void gv_sim_watch_free(grove_sim *sim, gv_sim_watch *w) {
    for (size_t i = w->first_at; i < w->first.n; i++) {
        grove_doc_unref(first_doc(w, i));
    }
    gv_vec_fini(sim->env, &w->first);
    gv_sim_filter_fini(sim->env, &w->filter);
    gv_free(sim->env, w, sizeof *w);
}

uint64_t gv_sim_watch_token(const gv_sim_watch *w) {
    return w->token;
}

void gv_sim_watch_bookmark(gv_sim_watch *w) {
    w->bookmark = true;
}

void gv_sim_watch_lose(gv_sim_watch *w) {
    w->lost = true;
}

/* ---- telling ---- */

/* What a change means under the filter; 0: nothing. */
static grove_event_type meaning(const gv_sim_watch *w, const gv_sim_change *c) {
    bool now = c->type != GROVE_EVENT_DELETED &&
               gv_sim_filter_matches(&w->filter, grove_doc_root(c->doc));
    bool was = c->old && gv_sim_filter_matches(&w->filter, grove_doc_root(c->old));
    return now && was ? GROVE_EVENT_MODIFIED
           : now      ? GROVE_EVENT_ADDED
           : was      ? GROVE_EVENT_DELETED
                      : 0;
}

bool gv_sim_watch_peek(grove_sim *sim, gv_sim_watch *w, uint64_t *out_rv) {
    const gv_sim_table *t = &sim->tables[w->kind];
    *out_rv = 0; /* lists and losses come before changes */
    if (w->lost || w->first_at < w->first.n || w->sync) {
        return true;
    }
    if (w->next < t->dropped) {
        w->lost = true;
        return true;
    }
    for (; w->next < history_end(t); w->next++) {
        const gv_sim_change *c = change_at(t, w->next);
        w->type = c->rv > w->rv ? meaning(w, c) : 0;
        if (w->type != 0) {
            *out_rv = c->rv;
            return true;
        }
    }
    w->type = GROVE_EVENT_BOOKMARK;
    *out_rv = sim->rv;
    return w->bookmark;
}

/* The last state that matched, under the version of the change that made it leave. */
static grove_status farewell(grove_sim *sim, const gv_sim_change *c, const char *rv,
                             grove_doc **out_doc) {
    grove_builder *b = sim->builder;
    const grove_node *root = grove_doc_root(c->old);
    grove_builder_open_object(b, NULL);
    GV_EACH(m, root) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "metadata") != 0) {
            grove_builder_link(b, key, c->old, m);
            continue;
        }
        grove_builder_open_object(b, key);
        GV_EACH(field, m) {
            const char *name = grove_node_key(field, NULL);
            if (strcmp(name, "resourceVersion") == 0) {
                grove_builder_string(b, name, rv);
            } else {
                grove_builder_link(b, name, c->old, field);
            }
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
    return grove_builder_finish(b, out_doc, NULL);
}

grove_status gv_sim_watch_event(grove_sim *sim, const gv_sim_watch *w, grove_event *out_event,
                                char rv[24]) {
    grove_event e = {(uint32_t)sizeof e, GROVE_EVENT_GONE, w->token, (grove_kind)w->kind};
    const gv_sim_change *left = NULL;
    uint64_t version = w->snapshot_rv;
    if (w->lost) {
        version = 0;
    } else if (w->first_at < w->first.n) {
        e.type = GROVE_EVENT_ADDED;
        e.object_doc = first_doc(w, w->first_at);
    } else if (w->sync) {
        e.type = GROVE_EVENT_SYNCED;
    } else if (w->type == GROVE_EVENT_BOOKMARK) {
        e.type = GROVE_EVENT_BOOKMARK;
        version = sim->rv;
    } else {
        const gv_sim_change *c = change_at(&sim->tables[w->kind], w->next);
        e.type = w->type;
        e.object_doc = c->doc;
        version = c->rv;
        left = e.type == GROVE_EVENT_DELETED && c->type != GROVE_EVENT_DELETED ? c : NULL;
    }
    rv[0] = '\0';
    if (version > 0) {
        (void)gv_fmt(rv, 24, "%llu", (unsigned long long)version);
    }
    e.resource_version = rv;
    grove_status st = GROVE_OK;
    if (left) {
        st = farewell(sim, left, rv, &e.object_doc);
    } else if (e.object_doc) {
        (void)grove_doc_ref(e.object_doc);
    }
    if (st == GROVE_OK) {
        e.object = e.object_doc ? grove_doc_root(e.object_doc) : NULL;
        *out_event = e;
    }
    return st;
}

void gv_sim_watch_advance(grove_sim *sim, gv_sim_watch *w) {
    if (w->first_at < w->first.n) {
        grove_doc_unref(first_doc(w, w->first_at++));
    } else if (w->sync) {
        w->sync = false;
    } else if (w->type == GROVE_EVENT_BOOKMARK) {
        w->bookmark = false;
        w->rv = sim->rv;
    } else {
        w->rv = change_at(&sim->tables[w->kind], w->next)->rv;
        w->next++;
    }
}
