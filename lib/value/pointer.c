/* SPDX-License-Identifier: Apache-2.0 */
/* JSON pointers (RFC 6901). */
#include "value/pointer.h"

#include <grove/doc.h>

bool gv_pointer_next(gv_str *rest, gv_str *out_token) {
    if (rest->n == 0 || rest->p[0] != '/') {
        return false;
    }
    const char *slash = rest->n > 1 ? memchr(rest->p + 1, '/', rest->n - 1) : NULL;
    const size_t n = slash ? (size_t)(slash - rest->p) : rest->n;
    *out_token = (gv_str){rest->p + 1, n - 1};
    *rest = (gv_str){rest->p + n, rest->n - n};
    return true;
}

bool gv_pointer_is_valid(gv_str pointer) {
    if (pointer.n > 0 && pointer.p[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < pointer.n; i++) {
        if (pointer.p[i] == '~' &&
            (i + 1 == pointer.n || (pointer.p[i + 1] != '0' && pointer.p[i + 1] != '1'))) {
            return false;
        }
    }
    return true;
}

bool gv_pointer_token_is(gv_str token, gv_str key) {
    size_t k = 0;
    for (size_t i = 0; i < token.n; i++, k++) {
        char c = token.p[i];
        if (c == '~' && i + 1 < token.n) {
            c = token.p[++i] == '1' ? '/' : '~';
        }
        if (k >= key.n || key.p[k] != c) {
            return false;
        }
    }
    return k == key.n;
}

bool gv_pointer_token_index(gv_str token, uint32_t *out_index) {
    int64_t index;
    if (token.n == 0 || (token.p[0] == '0' && token.n > 1) || token.p[0] < '0' ||
        token.p[0] > '9' || !gv_str_int64(token, &index) || index >= UINT32_MAX) {
        return false;
    }
    *out_index = (uint32_t)index;
    return true;
}

grove_status gv_pointer_append(grove_buf *pointer, gv_str key) {
    grove_status st = gv_buf_char(pointer, '/');
    for (size_t i = 0; i < key.n && st == GROVE_OK; i++) {
        if (key.p[i] == '~' || key.p[i] == '/') {
            st = gv_buf_c(pointer, key.p[i] == '~' ? "~0" : "~1");
        } else {
            st = gv_buf_char(pointer, key.p[i]);
        }
    }
    return st;
}

grove_status gv_pointer_unescape(gv_str token, grove_buf *key) {
    grove_status st = grove_buf_reserve(key, token.n); /* an empty key is still a key */
    for (size_t i = 0; i < token.n && st == GROVE_OK; i++) {
        char c = token.p[i];
        if (c == '~' && i + 1 < token.n) {
            c = token.p[++i] == '1' ? '/' : '~';
        }
        st = gv_buf_char(key, c);
    }
    return st;
}

const grove_node *gv_pointer_step(const grove_node *node, gv_str token) {
    if (grove_node_type(node) == GROVE_ARRAY) {
        uint32_t index;
        return gv_pointer_token_index(token, &index) ? grove_node_at(node, index) : NULL;
    }
    if (memchr(token.p, '~', token.n) == NULL) {
        return grove_node_getn(node, token.p, token.n);
    }
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        size_t n = 0;
        const char *key = grove_node_key(m, &n);
        if (gv_pointer_token_is(token, (gv_str){key, n})) {
            return m;
        }
    }
    return NULL;
}

const grove_node *gv_pointer_find(const grove_node *node, gv_str pointer) {
    if (!gv_pointer_is_valid(pointer)) {
        return NULL;
    }
    gv_str token;
    while (node && gv_pointer_next(&pointer, &token)) {
        node = gv_pointer_step(node, token);
    }
    return node;
}

const grove_node *grove_node_at_path(const grove_node *node, const char *pointer) {
    return pointer ? gv_pointer_find(node, gv_str_c(pointer)) : NULL;
}
