/* SPDX-License-Identifier: Apache-2.0 */
/* JSON merge patch (RFC 7396): applying and making. What does not change is linked, not copied. */
#include "base/mem.h"
#include "value/patch.h"
#include "value/pointer.h"

/* ---- apply ---- */

static void apply(grove_builder *b, gv_str key, gv_source target, gv_source patch);

static gv_source member(gv_source object, gv_str key) {
    return (gv_source){object.doc, gv_node_get(object.node, key)};
}

/* Members of the target, each as the patch wants it. */
static void apply_to_members(grove_builder *b, gv_source target, gv_source patch) {
    GV_EACH(old, target.node) {
        const gv_str key = gv_node_key(old);
        const gv_source change = member(patch, key);
        if (!change.node) {
            gv_build_link(b, key, target.doc, old);
        } else if (!gv_node_is(change.node, GROVE_NULL_NODE)) {
            apply(b, key, (gv_source){target.doc, old}, change);
        }
    }
}

static void apply(grove_builder *b, gv_str key, gv_source target, gv_source patch) {
    if (!gv_node_is(patch.node, GROVE_OBJECT)) {
        gv_build_link(b, key, patch.doc, patch.node);
        return;
    }
    const bool onto_object = gv_node_is(target.node, GROVE_OBJECT);
    if (onto_object && grove_node_size(patch.node) == 0) {
        gv_build_link(b, key, target.doc, target.node);
        return;
    }
    gv_build_open(b, key, GROVE_OBJECT);
    if (onto_object) {
        apply_to_members(b, target, patch);
    }
    GV_EACH(added, patch.node) {
        const gv_str name = gv_node_key(added);
        if (!gv_node_is(added, GROVE_NULL_NODE) &&
            !(onto_object && gv_node_get(target.node, name))) {
            apply(b, name, (gv_source){NULL, NULL}, (gv_source){patch.doc, added});
        }
    }
    grove_builder_close(b);
}

grove_status grove_merge_patch_apply(grove_doc *target_doc, const grove_node *target,
                                     grove_doc *patch_doc, const grove_node *patch,
                                     grove_doc **out_doc, grove_error *err) {
    const gv_source t = {target_doc, target};
    const gv_source p = {patch_doc, patch};
    grove_status st = gv_patch_arguments(t, p, out_doc, err);
    grove_builder *b = NULL;
    if (st == GROVE_OK && grove_builder_new(grove_doc_env(target_doc), &b) < 0) {
        return gv_error_nomem(err);
    }
    if (st == GROVE_OK) {
        apply(b, GV_NO_KEY, t, p);
        st = grove_builder_finish(b, out_doc, err);
    }
    grove_builder_free(b);
    return st;
}

/* ---- make ---- */

/* The way from the root down to the members being compared, for error messages. */
typedef struct way {
    const struct way *up;
    gv_str key;
} way;

static size_t write_way(const way *w, char *out, size_t cap) {
    size_t n = w->up ? write_way(w->up, out, cap) : 0;
    if (w->up && n + 1 < cap) {
        out[n++] = '/';
    }
    for (size_t i = 0; i < w->key.n && n + 2 < cap; i++) {
        const char c = w->key.p[i];
        out[n++] = c == '~' || c == '/' ? '~' : c;
        if (c == '~' || c == '/') {
            out[n++] = c == '~' ? '0' : '1';
        }
    }
    return n;
}

static grove_status refuse_null(const way *w, grove_error *err) {
    char path[256];
    path[write_way(w, path, sizeof path)] = '\0';
    return gv_error_at(err, GROVE_E_UNSUPPORTED, 0, 0, path,
                       "a merge patch cannot set a value to null");
}

/* A null in an object (not in an array, which is replaced as a whole) would be taken as a removal. */
static grove_status check_nulls(const grove_node *value, const way *w, grove_error *err) {
    if (gv_node_is(value, GROVE_NULL_NODE)) {
        return refuse_null(w, err);
    }
    if (gv_node_is(value, GROVE_OBJECT)) {
        GV_EACH(child, value) {
            const way below = {w, gv_node_key(child)};
            grove_status st = check_nulls(child, &below, err);
            if (st < 0) {
                return st;
            }
        }
    }
    return GROVE_OK;
}

static grove_status make_object(grove_builder *b, gv_str key, const grove_node *old,
                                gv_source fresh, const way *w, grove_error *err) {
    gv_build_open(b, key, GROVE_OBJECT);
    GV_EACH(gone, old) {
        if (!gv_node_get(fresh.node, gv_node_key(gone))) {
            gv_build_scalar(b, gv_node_key(gone), GROVE_NULL_NODE, GV_STR(""));
        }
    }
    GV_EACH(now, fresh.node) {
        const gv_str name = gv_node_key(now);
        const grove_node *before = gv_node_get(old, name);
        const way below = {w, name};
        grove_status st = GROVE_OK;
        if (before && grove_node_equal(before, now)) {
            continue;
        }
        if (gv_node_is(before, GROVE_OBJECT) && gv_node_is(now, GROVE_OBJECT)) {
            st = make_object(b, name, before, (gv_source){fresh.doc, now}, &below, err);
        } else {
            st = check_nulls(now, &below, err);
            gv_build_link(b, name, fresh.doc, now);
        }
        if (st < 0) {
            return st;
        }
    }
    grove_builder_close(b);
    return GROVE_OK;
}

static grove_status make(grove_builder *b, const grove_node *old, gv_source fresh,
                         grove_error *err) {
    const way root = {NULL, GV_STR("")};
    if (!gv_node_is(fresh.node, GROVE_OBJECT)) {
        gv_build_link(b, GV_NO_KEY, fresh.doc, fresh.node);
        return GROVE_OK;
    }
    return make_object(b, GV_NO_KEY, gv_node_is(old, GROVE_OBJECT) ? old : NULL, fresh, &root, err);
}

grove_status grove_merge_patch_make(grove_doc *a_doc, const grove_node *a, grove_doc *b_doc,
                                    const grove_node *b, grove_doc **out_doc, grove_error *err) {
    const gv_source fresh = {b_doc, b};
    grove_status st = gv_patch_arguments((gv_source){a_doc, a}, fresh, out_doc, err);
    grove_builder *builder = NULL;
    if (st == GROVE_OK && grove_builder_new(grove_doc_env(a_doc), &builder) < 0) {
        return gv_error_nomem(err);
    }
    st = st == GROVE_OK ? make(builder, a, fresh, err) : st;
    st = st == GROVE_OK ? grove_builder_finish(builder, out_doc, err) : st;
    grove_builder_free(builder);
    return st;
}
