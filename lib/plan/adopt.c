/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking over from another operator: its hashes are not ours, but where a PodClique is what we would make
 * of the template, its label stands for our hash. Such pairs are kept as an annotation of the set; objects
 * made for that template carry the other's value from then on, so that going there and back restarts
 * nothing. Only custom resources are compared, which no server defaults behind our back.
 */
#include "plan/delta.h"

/* "own=foreign,own=foreign" */
bool gv_adopted_read(gv_work *w, const gv_alias **out, uint32_t *out_n) {
    const grove_node *annotations = grove_node_at_path(gv_object_node(w->pcs),
                                                       "/metadata/annotations");
    gv_str text = gv_get_str(annotations, GV_ANNOTATION_ADOPTED);
    uint32_t most = 1, n = 0;
    for (size_t i = 0; i < text.n; i++) {
        most += text.p[i] == ',' ? 1 : 0;
    }
    gv_alias *all = gv_arena_array(&w->arena, gv_alias, most);
    for (size_t at = 0; all != NULL && at < text.n;) {
        size_t end = at, mid = text.n;
        for (; end < text.n && text.p[end] != ','; end++) {
            mid = text.p[end] == '=' && mid == text.n ? end : mid;
        }
        if (mid < end && mid > at && mid + 1 < end) {
            all[n++] = (gv_alias){{text.p + at, mid - at}, {text.p + mid + 1, end - mid - 1}};
        }
        at = end + 1;
    }
    *out = all;
    *out_n = n;
    return all != NULL;
}

static bool is_foreign(gv_str hash) {
    return hash.n > 0 && !gv_str_starts(hash, GV_STR(GV_HASH_SCHEME));
}

static const grove_node *meta(const grove_node *object, const char *key) {
    return grove_node_get(grove_node_get(object, "metadata"), key);
}

/* Every entry we want but the hash is there, and so is nothing else. */
static bool same_map(const grove_node *live, const grove_node *want) {
    uint32_t extra = grove_node_get(live, GV_LABEL_TEMPLATE_HASH) != NULL ? 1 : 0;
    uint32_t wanted = grove_node_get(want, GV_LABEL_TEMPLATE_HASH) != NULL ? 1 : 0;
    if (grove_node_size(live) - extra != grove_node_size(want) - wanted) {
        return false;
    }
    for (const grove_node *m = grove_node_first(want); m; m = grove_node_next(want, m)) {
        size_t n = 0;
        const char *key = grove_node_key(m, &n);
        if (strcmp(key, GV_LABEL_TEMPLATE_HASH) != 0 &&
            grove_node_equal(grove_node_getn(live, key, n), m) == 0) {
            return false;
        }
    }
    return true;
}

/* Whether the PodClique is what the template makes, its hash apart. */
static grove_status is_made_of(gv_work *w, uint32_t clique, const gv_object *o, bool *out) {
    const gv_want_clique *c = &w->want->cliques[clique];
    uint32_t object = gv_want_find_object(w->want, GV_KIND_PODCLIQUE, c->name);
    gv_body_args args = {.owner_uid = {"", 0}};
    grove_doc *body = NULL;
    *out = false;
    if (object == GV_NOT_WANTED) {
        return GROVE_OK;
    }
    grove_status status = gv_object_build(w->want, object, &args, w->b, w->err);
    if (status == GROVE_OK) {
        status = grove_builder_finish(w->b, &body, w->err);
    }
    if (status < 0) {
        return status;
    }
    const grove_node *want = grove_doc_root(body), *live = gv_object_node(o);
    *out = grove_node_equal(grove_node_at_path(live, "/spec/podSpec"),
                            grove_node_at_path(want, "/spec/podSpec")) != 0 &&
           same_map(meta(live, "labels"), meta(want, "labels")) &&
           same_map(meta(live, "annotations"), meta(want, "annotations"));
    grove_doc_unref(body);
    return GROVE_OK;
}

typedef struct findings {
    gv_alias *pairs; /* room for one a clique template, and the set's */
    uint32_t n;
    bool all; /* every PodClique that lives is what its template makes */
} findings;

static bool is_known(const findings *f, gv_str own) {
    for (uint32_t i = 0; i < f->n; i++) {
        if (gv_str_eq(f->pairs[i].own, own)) {
            return true;
        }
    }
    return false;
}

static grove_status look_at(gv_work *w, uint32_t clique, findings *f) {
    const gv_want_clique *c = &w->want->cliques[clique];
    const gv_object *o = gv_store_get(w->store, GV_KIND_PODCLIQUE, w->ns, c->name);
    if (o == NULL || gv_object_is_terminating(o)) {
        return GROVE_OK;
    }
    gv_str label = gv_get_str(meta(gv_object_node(o), "labels"), GV_LABEL_TEMPLATE_HASH);
    if (gv_str_eq(label, c->expected_hash)) {
        return GROVE_OK;
    }
    bool same = false;
    grove_status status = is_foreign(label) ? is_made_of(w, clique, o, &same) : GROVE_OK;
    if (status == GROVE_OK && same) {
        gv_str own = gv_template_clique(w->t, c->clique)->own_hash;
        if (!is_known(f, own)) {
            f->pairs[f->n++] = (gv_alias){own, label};
        }
    }
    f->all = f->all && same;
    return status;
}

/* The annotation's text: what it lists already, then what was found. */
static gv_str write_text(gv_work *w, const findings *f) {
    const grove_node *annotations = meta(gv_object_node(w->pcs), "annotations");
    gv_str text = gv_get_str(annotations, GV_ANNOTATION_ADOPTED);
    for (uint32_t i = 0; i < f->n; i++) {
        text = gv_text(w, "%.*s%s%.*s=%.*s", ARG_STR(text), text.n > 0 ? "," : "",
                       ARG_STR(f->pairs[i].own), ARG_STR(f->pairs[i].foreign));
    }
    return text;
}

grove_status gv_adopt(gv_work *w, bool *out_again) {
    gv_str stands = w->memo->status_set_hash;
    *out_again = false;
    if (!is_foreign(stands) || gv_str_eq(stands, w->set_hash)) {
        return GROVE_OK;
    }
    findings f = {.all = true};
    f.pairs = gv_arena_array(&w->arena, gv_alias, (size_t)w->view->n_cliques + 2);
    if (f.pairs == NULL) {
        return gv_work_nomem(w);
    }
    for (uint32_t i = 0; i < w->want->n_cliques; i++) {
        grove_status status = look_at(w, i, &f);
        if (status < 0) {
            return status;
        }
    }
    /* The set's own hash stands for this version only where nothing is left of another one. */
    if (f.all && w->want->n_cliques > 0) {
        f.pairs[f.n++] = (gv_alias){gv_template_own_generation_hash(w->t), stands};
    }
    if (f.n == 0) {
        return GROVE_OK;
    }
    w->adopted = write_text(w, &f);
    *out_again = true;
    return gv_memory_template(w, f.pairs, f.n);
}
