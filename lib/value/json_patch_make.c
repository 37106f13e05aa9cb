/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON patch (RFC 6902), making: add, remove and replace in an order that can be applied one by one.
 * Arrays are compared behind their common beginning and before their common end.
 */
#include "base/mem.h"
#include "value/patch.h"
#include "value/pointer.h"

typedef struct maker {
    grove_builder *b;
    grove_doc *doc; /* of the new values */
    grove_buf pointer;
} maker;

static grove_status compare(maker *m, const grove_node *old, const grove_node *fresh);

static void cut_pointer(maker *m, uint64_t len) {
    m->pointer.len = len;
    if (m->pointer.data) {
        m->pointer.data[len] = '\0';
    }
}

static void emit(maker *m, const char *op, const grove_node *value) {
    gv_build_open(m->b, GV_NO_KEY, GROVE_OBJECT);
    gv_build_string(m->b, GV_STR("op"), gv_str_c(op));
    gv_build_string(m->b, GV_STR("path"), gv_buf_view(&m->pointer));
    if (value) {
        gv_build_link(m->b, GV_STR("value"), m->doc, value);
    }
    grove_builder_close(m->b);
}

static grove_status emit_member(maker *m, const char *op, gv_str key, const grove_node *value) {
    const uint64_t len = m->pointer.len;
    const grove_status st = gv_pointer_append(&m->pointer, key);
    if (st == GROVE_OK) {
        emit(m, op, value);
    }
    cut_pointer(m, len);
    return st;
}

static grove_status emit_element(maker *m, const char *op, uint32_t index,
                                 const grove_node *value) {
    char text[16];
    const size_t n = gv_fmt(text, sizeof text, "%u", index);
    return emit_member(m, op, (gv_str){text, n}, value);
}

static grove_status compare_below(maker *m, gv_str key, const grove_node *old,
                                  const grove_node *fresh) {
    const uint64_t len = m->pointer.len;
    grove_status st = gv_pointer_append(&m->pointer, key);
    st = st == GROVE_OK ? compare(m, old, fresh) : st;
    cut_pointer(m, len);
    return st;
}

static grove_status compare_objects(maker *m, const grove_node *old, const grove_node *fresh) {
    grove_status st = GROVE_OK;
    for (const grove_node *c = grove_node_first(old); c && st == GROVE_OK;
         c = grove_node_next(old, c)) {
        if (!gv_node_get(fresh, gv_node_key(c))) {
            st = emit_member(m, "remove", gv_node_key(c), NULL);
        }
    }
    for (const grove_node *c = grove_node_first(fresh); c && st == GROVE_OK;
         c = grove_node_next(fresh, c)) {
        const grove_node *before = gv_node_get(old, gv_node_key(c));
        st = before ? compare_below(m, gv_node_key(c), before, c)
                    : emit_member(m, "add", gv_node_key(c), c);
    }
    return st;
}

/* Elements that are equal at the end of both arrays, at most `most`. Walks both once, from the place
 * where the same number of elements remains. */
static uint32_t common_end(const grove_node *old, const grove_node *fresh, uint32_t most) {
    const grove_node *a = grove_node_at(old, grove_node_size(old) - most);
    const grove_node *b = grove_node_at(fresh, grove_node_size(fresh) - most);
    uint32_t run = 0;
    for (; a && b; a = grove_node_next(old, a), b = grove_node_next(fresh, b)) {
        run = grove_node_equal(a, b) ? run + 1 : 0;
    }
    return run;
}

static grove_status compare_arrays(maker *m, const grove_node *old, const grove_node *fresh) {
    const uint32_t n_old = grove_node_size(old);
    const uint32_t n_fresh = grove_node_size(fresh);
    const grove_node *a = grove_node_first(old);
    const grove_node *b = grove_node_first(fresh);
    uint32_t at = 0;
    for (; a && b && grove_node_equal(a, b); at++) {
        a = grove_node_next(old, a);
        b = grove_node_next(fresh, b);
    }
    const uint32_t shorter = (n_old < n_fresh ? n_old : n_fresh) - at;
    const uint32_t end = shorter > 0 ? common_end(old, fresh, shorter) : 0;
    grove_status st = GROVE_OK;
    for (; at < n_old - end && at < n_fresh - end && st == GROVE_OK; at++) {
        char text[16];
        const size_t n = gv_fmt(text, sizeof text, "%u", at);
        st = compare_below(m, (gv_str){text, n}, a, b);
        a = grove_node_next(old, a);
        b = grove_node_next(fresh, b);
    }
    for (uint32_t i = n_old - end; i > at && st == GROVE_OK; i--) {
        st = emit_element(m, "remove", i - 1, NULL);
    }
    for (; at < n_fresh - end && st == GROVE_OK; at++) {
        st = emit_element(m, "add", at, b);
        b = grove_node_next(fresh, b);
    }
    return st;
}

static grove_status compare(maker *m, const grove_node *old, const grove_node *fresh) {
    const grove_type type = grove_node_type(old);
    if (grove_node_equal(old, fresh)) {
        return GROVE_OK;
    }
    if (type == GROVE_OBJECT && type == grove_node_type(fresh)) {
        return compare_objects(m, old, fresh);
    }
    if (type == GROVE_ARRAY && type == grove_node_type(fresh)) {
        return compare_arrays(m, old, fresh);
    }
    emit(m, "replace", fresh);
    return GROVE_OK;
}

grove_status grove_json_patch_make(grove_doc *a_doc, const grove_node *a, grove_doc *b_doc,
                                   const grove_node *b, grove_doc **out_doc, grove_error *err) {
    grove_status st = gv_patch_arguments((gv_source){a_doc, a}, (gv_source){b_doc, b}, out_doc,
                                         err);
    if (st < 0) {
        return st;
    }
    maker m = {.doc = b_doc};
    if (grove_builder_new(grove_doc_env(a_doc), &m.b) < 0) {
        return gv_error_nomem(err);
    }
    grove_buf_init(&m.pointer, grove_doc_env(a_doc));
    gv_build_open(m.b, GV_NO_KEY, GROVE_ARRAY);
    st = compare(&m, a, b);
    grove_builder_close(m.b);
    st = st < 0 ? gv_error_nomem(err) : grove_builder_finish(m.b, out_doc, err);
    grove_buf_fini(&m.pointer);
    grove_builder_free(m.b);
    return st;
}
