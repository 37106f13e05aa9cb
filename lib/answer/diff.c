/* SPDX-License-Identifier: Apache-2.0 */
/* grove_diff: what becomes of the children when a set changes. */
#include <grove/render.h>
#include <string.h>

#include "answer/answer.h"
#include "base/mem.h"

/* A child is the same one when kind and name are: the order of creation is kept. */
static const grove_node *same_child(const grove_node *items, const grove_node *child) {
    const grove_node *name = grove_node_at_path(child, "/metadata/name");
    GV_EACH(other, items) {
        if (grove_node_equal(grove_node_get(other, "kind"), grove_node_get(child, "kind")) &&
            grove_node_equal(grove_node_at_path(other, "/metadata/name"), name)) {
            return other;
        }
    }
    return NULL;
}

static void put_child(grove_builder *b, const grove_node *child) {
    const char *name = grove_node_text(grove_node_at_path(child, "/metadata/name"));
    const char *kind = grove_node_text(grove_node_get(child, "kind"));
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "kind", kind ? kind : "");
    grove_builder_string(b, "name", name ? name : "");
}

/* Children of `here` that `there` lacks. */
static void put_missing(grove_builder *b, const char *key, const grove_node *here,
                        const grove_node *there) {
    grove_builder_open_array(b, key);
    GV_EACH(child, here) {
        if (!same_child(there, child)) {
            put_child(b, child);
            grove_builder_close(b);
        }
    }
    grove_builder_close(b);
}

static grove_status put_changed(grove_builder *b, grove_doc *old_doc, const grove_node *old,
                                grove_doc *new_doc, const grove_node *new_items, grove_error *err) {
    grove_status st = GROVE_OK;
    grove_builder_open_array(b, "changed");
    GV_EACH(child, new_items) {
        const grove_node *before = same_child(old, child);
        grove_doc *patch = NULL;
        if (st < 0 || !before || grove_node_equal(before, child)) {
            continue;
        }
        st = grove_json_patch_make(old_doc, before, new_doc, child, &patch, err);
        if (st == GROVE_OK) {
            put_child(b, child);
            grove_builder_link(b, "patch", patch, grove_doc_root(patch));
            grove_builder_close(b);
        }
        grove_doc_unref(patch);
    }
    grove_builder_close(b);
    return st;
}

grove_status grove_diff(grove_env *env, grove_doc *old, grove_doc *new_set, grove_config *config,
                        grove_doc **out_answer, grove_error *err) {
    grove_doc *before = NULL, *after = NULL;
    grove_builder *b = NULL;
    if (!env || !old || !new_set || !out_answer) {
        return gv_error(err, GROVE_E_INVALID, "environment, both sets and answer are required");
    }
    grove_status st = grove_render(env, old, grove_doc_root(old), config, NULL,
                                   GROVE_RENDER_EXACT_TEMPLATES, &before, err);
    st = st < 0 ? st
                : grove_render(env, new_set, grove_doc_root(new_set), config, NULL,
                               GROVE_RENDER_EXACT_TEMPLATES, &after, err);
    st = st < 0 ? st : gv_answer_begin(env, "Diff", &b, err);
    if (st == GROVE_OK) {
        const grove_node *was = grove_node_get(grove_doc_root(before), "items");
        const grove_node *is = grove_node_get(grove_doc_root(after), "items");
        put_missing(b, "created", is, was);
        st = put_changed(b, before, was, after, is, err);
        put_missing(b, "deleted", was, is);
        st = gv_answer_end(b, st, out_answer, err);
    }
    grove_doc_unref(after);
    grove_doc_unref(before);
    return st;
}
