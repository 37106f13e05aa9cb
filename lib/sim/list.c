/* SPDX-License-Identifier: Apache-2.0 */
/* GET of a collection: sorted, selected, in pages that all show the state of the first. */
#include "base/sort.h"
#include "sim/call.h"
#include "sim/select.h"
#include "value/doc.h"

/* One object as it was at the list's version; everything borrowed. */
typedef struct item {
    gv_str key;
    grove_doc *doc;
} item;

typedef struct items {
    GV_VEC(item) all;
    GV_VEC(const void *) order;
} items;

static void items_fini(grove_sim *sim, items *i) {
    gv_vec_fini(sim->env, &i->all);
    gv_vec_fini(sim->env, &i->order);
}

static int by_key(const void *a, const void *b, void *ctx) {
    (void)ctx;
    return gv_str_cmp(((const item *)a)->key, ((const item *)b)->key);
}

static bool add(grove_sim *sim, items *out, gv_str key, grove_doc *doc) {
    item it = {key, doc};
    return gv_vec_push(sim->env, &out->all, it);
}

static gv_str doc_key(grove_doc *doc, char *buf) {
    const grove_node *m = grove_node_get(grove_doc_root(doc), "metadata");
    return gv_sim_key(buf, gv_node_get_str(m, "namespace"), gv_node_get_str(m, "name"));
}

/* The first change after `rv` of each object that changed since: its old state is the one at rv. */
static grove_status changed_since(const gv_sim_table *t, uint64_t rv, gv_map *out) {
    for (size_t i = t->history_head; i < t->history.n; i++) {
        gv_sim_change *c = &t->history.v[i];
        char buf[GV_SIM_KEY_MAX];
        gv_str key = doc_key(c->doc, buf);
        if (c->rv > rv && !gv_map_has(out, key) && !gv_map_put(out, key, c)) {
            return GROVE_E_NOMEM;
        }
    }
    return GROVE_OK;
}

static grove_status collect(grove_sim *sim, const gv_sim_table *t, const gv_map *changed,
                            items *out) {
    gv_map_entry *e;
    for (uint32_t i = 0; (e = gv_map_next(&t->objects, &i));) {
        const gv_sim_object *o = e->value;
        if (!gv_map_has(changed, o->key) && !add(sim, out, o->key, o->doc)) {
            return GROVE_E_NOMEM;
        }
    }
    for (uint32_t i = 0; (e = gv_map_next(changed, &i));) {
        const gv_sim_change *c = e->value;
        if (c->old && !add(sim, out, (gv_str){e->key, e->key_len}, c->old)) {
            return GROVE_E_NOMEM;
        }
    }
    if (!gv_vec_reserve(sim->env, &out->order, out->all.n)) {
        return GROVE_E_NOMEM;
    }
    for (size_t i = 0; i < out->all.n; i++) {
        out->order.v[out->order.n++] = &out->all.v[i];
    }
    gv_sort(out->order.v, out->order.n, by_key, NULL);
    return GROVE_OK;
}

/* ---- pages ---- */

typedef struct page {
    uint64_t rv;
    gv_str after; /* key of the last item of the page before */
} page;

/* "<version>:<key>"; version 0 goes on with the present, inconsistent as that is with the pages before. */
static bool read_position(const char *text, page *out) {
    gv_str s = gv_str_c(text);
    const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
    int64_t rv = 0;
    if (!colon || !gv_str_int64((gv_str){s.p, (size_t)(colon - s.p)}, &rv) || rv < 0) {
        return false;
    }
    out->rv = rv > 0 ? (uint64_t)rv : out->rv;
    out->after = (gv_str){colon + 1, s.n - (size_t)(colon + 1 - s.p)};
    return true;
}

static void list_head(gv_sim_call *c) {
    char text[96];
    grove_builder *b = c->sim->builder;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", gv_kind_api_version(c->kind, text, sizeof text));
    (void)gv_fmt(text, sizeof text, "%sList", c->info->name);
    grove_builder_string(b, "kind", text);
    grove_builder_open_array(b, "items");
}

static void list_tail(gv_sim_call *c, const page *p, const item *last, int64_t remaining) {
    char text[GV_SIM_KEY_MAX + 32];
    grove_builder *b = c->sim->builder;
    grove_builder_close(b);
    grove_builder_open_object(b, "metadata");
    (void)gv_fmt(text, sizeof text, "%llu", (unsigned long long)p->rv);
    grove_builder_string(b, "resourceVersion", text);
    if (last) {
        (void)gv_fmt(text, sizeof text, "%llu:%.*s", (unsigned long long)p->rv, (int)last->key.n,
                     last->key.p);
        grove_builder_string(b, "continue", text);
    }
    if (remaining > 0) {
        grove_builder_int64(b, "remainingItemCount", remaining);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

static grove_status build(gv_sim_call *c, const page *p, const items *all, const gv_sim_filter *f) {
    uint32_t limit = c->op->limit, n = 0;
    const item *last = NULL;
    int64_t rest = 0;
    list_head(c);
    for (size_t i = 0; i < all->order.n; i++) {
        const item *it = all->order.v[i];
        const grove_node *root = grove_doc_root(it->doc);
        if ((p->after.n > 0 && gv_str_cmp(it->key, p->after) <= 0) ||
            !gv_sim_filter_matches(f, root)) {
            continue;
        }
        if (limit > 0 && n == limit) {
            rest++;
            continue;
        }
        grove_builder_link(c->sim->builder, NULL, it->doc, root);
        last = it;
        n++;
    }
    bool selected = f->labels || f->fields;
    list_tail(c, p, rest > 0 ? last : NULL, selected ? 0 : rest);
    grove_doc *doc = NULL;
    grove_status st = grove_builder_finish(c->sim->builder, &doc, NULL);
    return st < 0 ? st : gv_sim_answer(c, 200, doc);
}

static grove_status list_at(gv_sim_call *c, const page *p, const gv_sim_filter *f) {
    gv_sim_table *t = &c->sim->tables[c->kind];
    if (p->rv > c->sim->rv) {
        gv_sim_cause cause = {"ResourceVersionTooLarge", "Too large resource version", ""};
        return gv_sim_refuse(c, 504, "Timeout", &cause,
                             "Too large resource version: %llu, current: %llu",
                             (unsigned long long)p->rv, (unsigned long long)c->sim->rv);
    }
    if (p->rv < t->lost_rv) {
        return gv_sim_refuse(c, 410, "Expired", NULL,
                             "The provided continue parameter is too old to display a consistent "
                             "list result");
    }
    gv_map changed;
    items all = {0};
    gv_map_init(&changed, c->sim->env);
    grove_status st = p->rv < t->last_rv ? changed_since(t, p->rv, &changed) : GROVE_OK;
    if (st == GROVE_OK) {
        st = collect(c->sim, t, &changed, &all);
    }
    if (st == GROVE_OK) {
        st = build(c, p, &all, f);
    }
    items_fini(c->sim, &all);
    gv_map_fini(&changed);
    return st;
}

grove_status gv_sim_list(gv_sim_call *c) {
    const grove_op *op = c->op;
    grove_error err = GROVE_ERROR_INIT;
    gv_sim_filter f = {0};
    page p = {c->sim->rv, {"", 0}};
    if (op->position && op->position[0] && !read_position(op->position, &p)) {
        return gv_sim_bad_request(c, "invalid continue token");
    }
    grove_status st = gv_sim_filter_make(c->sim->env, c->kind, c->info->namespaced ? op->ns : NULL,
                                         op->label_selector, op->field_selector, &f, &err);
    if (st == GROVE_E_REFUSED) {
        return gv_sim_bad_request(c, "%s", err.message);
    }
    if (st == GROVE_OK) {
        st = list_at(c, &p, &f);
        gv_sim_filter_fini(c->sim->env, &f);
    }
    return st;
}
