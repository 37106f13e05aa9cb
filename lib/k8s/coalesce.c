/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status writes that wait go as one: while a write of the object is on its way, or the window is full, a later
 * merge patch of its status is put over the one that waits. What both say is said by the later; what only the
 * earlier says stays said.
 */
#include <string.h>

#include <grove/sys/util.h>

#include "backend.h"

/*
 * True when one patch can say what the two do one after the other. It cannot where the later merges into what
 * the earlier puts down or takes away: the server would merge into what stood before both.
 */
static bool fits(const grove_node *earlier, const grove_node *later) {
    for (const grove_node *c = grove_node_first(later); c; c = grove_node_next(later, c)) {
        const grove_node *before = grove_node_get(earlier, grove_node_key(c, NULL));
        if (!before || grove_node_type(c) != GROVE_OBJECT) {
            continue;
        }
        if (grove_node_type(before) != GROVE_OBJECT || !fits(before, c)) {
            return false;
        }
    }
    return true;
}

static void put_over(grove_builder *b, const char *key, grove_doc *earlier_doc,
                     const grove_node *earlier, grove_doc *later_doc, const grove_node *later) {
    grove_builder_open_object(b, key);
    for (const grove_node *c = grove_node_first(earlier); c; c = grove_node_next(earlier, c)) {
        const char *name = grove_node_key(c, NULL);
        const grove_node *over = grove_node_get(later, name);
        if (!over) {
            grove_builder_link(b, name, earlier_doc, c);
        } else if (grove_node_type(over) == GROVE_OBJECT) {
            put_over(b, name, earlier_doc, c, later_doc, over);
        } else {
            grove_builder_link(b, name, later_doc, over);
        }
    }
    for (const grove_node *c = grove_node_first(later); c; c = grove_node_next(later, c)) {
        const char *name = grove_node_key(c, NULL);
        if (!grove_node_get(earlier, name)) {
            grove_builder_link(b, name, later_doc, c);
        }
    }
    grove_builder_close(b);
}

/* The same preconditions, or both without: a patch that holds for one state does not speak for another. */
static bool same_state(const grove_node *a, const grove_node *b) {
    static const char *const keys[] = {"uid", "resourceVersion"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *x = gv_k8s_member(grove_node_get(a, "metadata"), keys[i]);
        const char *y = gv_k8s_member(grove_node_get(b, "metadata"), keys[i]);
        if ((x == NULL) != (y == NULL) || (x && strcmp(x, y) != 0)) {
            return false;
        }
    }
    return true;
}

static bool is_status_patch(const gv_k8s_call *c) {
    return c->verb == GROVE_VERB_PATCH && c->class == GV_K8S_CLASS_STATUS &&
           c->owner == GV_K8S_CALLER && c->object != 0 &&
           strcmp(c->content_type, "application/merge-patch+json") == 0;
}

static grove_status merge(gv_k8s *k, gv_k8s_call *waiting, grove_doc *earlier, grove_doc *later) {
    grove_builder *b = NULL;
    grove_doc *both = NULL;
    grove_buf text;
    grove_buf_init(&text, k->env);
    grove_status st = grove_builder_new(k->env, &b);
    if (st == GROVE_OK) {
        put_over(b, NULL, earlier, grove_doc_root(earlier), later, grove_doc_root(later));
        st = grove_builder_finish(b, &both, NULL);
        grove_builder_free(b);
    }
    st = st < 0 ? st : grove_node_write_json(grove_doc_root(both), 0, &text, NULL);
    if (st == GROVE_OK) {
        grove_buf before = waiting->body;
        waiting->body = text;
        text = before;
    }
    grove_doc_unref(both);
    grove_buf_fini(&text);
    return st;
}

grove_status gv_k8s_coalesce(gv_k8s *k, gv_k8s_call *waiting, gv_k8s_call *later, bool *out_done) {
    grove_doc *a = NULL, *b = NULL;
    *out_done = false;
    if (!waiting || !waiting->is_waiting || !is_status_patch(waiting) || !is_status_patch(later) ||
        strcmp(waiting->path.data, later->path.data) != 0) {
        return GROVE_OK;
    }
    grove_status st = grove_doc_parse_json(k->env, waiting->body.data, (size_t)waiting->body.len, 0,
                                           &a, NULL);
    st = st < 0
             ? st
             : grove_doc_parse_json(k->env, later->body.data, (size_t)later->body.len, 0, &b, NULL);
    if (st == GROVE_OK && same_state(grove_doc_root(a), grove_doc_root(b)) &&
        fits(grove_doc_root(a), grove_doc_root(b))) {
        st = merge(k, waiting, a, b);
        *out_done = st == GROVE_OK;
    }
    if (*out_done) {
        gv_k8s_call **at = &waiting->riders;
        while (*at) {
            at = &(*at)->next;
        }
        *at = later;
        k->stats.coalesced++;
    }
    grove_doc_unref(a);
    grove_doc_unref(b);
    return st;
}
