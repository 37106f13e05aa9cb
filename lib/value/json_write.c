/* SPDX-License-Identifier: Apache-2.0 */
/* Document to JSON: plain, pretty, canonical. Recursion is bounded by the depth of documents. */
#include "value/json_write.h"

#include "base/mem.h"
#include "value/doc.h"
#include "value/node.h"
#include "value/number.h"

#define INDENT 2

typedef struct writer {
    gv_out *out;
    bool pretty, canonical;
} writer;

static grove_status write_value(const writer *w, const grove_node *node, uint32_t level);

grove_status gv_json_write_string(gv_str s, gv_out *out) {
    static const char hex[] = "0123456789abcdef";
    grove_status st = gv_out_char(out, '"');
    size_t done = 0;
    for (size_t i = 0; i < s.n && st == GROVE_OK; i++) {
        const unsigned char c = (unsigned char)s.p[i];
        if (c >= ' ' && c != '"' && c != '\\') {
            continue;
        }
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        const char *name = c ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;
        size_t n = 6;
        if (name) { /* pairs of character and escape letter */
            escape[1] = name[1];
            n = 2;
        }
        st = gv_out_put(out, s.p + done, i - done);
        st = st == GROVE_OK ? gv_out_put(out, escape, n) : st;
        done = i + 1;
    }
    st = st == GROVE_OK ? gv_out_put(out, s.p + done, s.n - done) : st;
    return st == GROVE_OK ? gv_out_char(out, '"') : st;
}

static grove_status write_text(const writer *w, gv_str text) {
    return gv_out_put(w->out, text.p, text.n);
}

static grove_status line_break(const writer *w, uint32_t level) {
    static const char blanks[] = "                                ";
    if (!w->pretty) {
        return GROVE_OK;
    }
    grove_status st = gv_out_char(w->out, '\n');
    for (size_t left = (size_t)level * INDENT; left > 0 && st == GROVE_OK;) {
        const size_t n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        st = gv_out_put(w->out, blanks, n);
        left -= n;
    }
    return st;
}

static grove_status write_child(const writer *w, const grove_node *child, bool first, bool keyed,
                                uint32_t level) {
    grove_status st = first ? GROVE_OK : gv_out_char(w->out, ',');
    st = st == GROVE_OK ? line_break(w, level) : st;
    if (st == GROVE_OK && keyed) {
        st = gv_json_write_string(gv_node_key(child), w->out);
        st = st == GROVE_OK ? gv_out_c(w->out, w->pretty ? ": " : ":") : st;
    }
    return st == GROVE_OK ? write_value(w, child, level) : st;
}

static grove_status write_sorted(const writer *w, const grove_node *object, uint32_t level) {
    grove_status st = GROVE_OK;
    object = gv_node_target(object);
    if (gv_node_has_index(object)) {
        for (uint32_t i = 0; i < object->b && st == GROVE_OK; i++) {
            st = write_child(w, gv_node_sorted(object, i), i == 0, true, level);
        }
        return st;
    }
    const void *sorted[GV_INDEX_FROM];
    gv_node_sort_small(object, sorted);
    for (uint32_t i = 0; i < object->b && st == GROVE_OK; i++) {
        st = write_child(w, sorted[i], i == 0, true, level);
    }
    return st;
}

static grove_status write_container(const writer *w, const grove_node *node, bool object,
                                    uint32_t level) {
    grove_status st = gv_out_char(w->out, object ? '{' : '[');
    const grove_node *first = grove_node_first(node);
    if (object && w->canonical) {
        st = st == GROVE_OK ? write_sorted(w, node, level + 1) : st;
    } else {
        for (const grove_node *c = first; c && st == GROVE_OK; c = grove_node_next(node, c)) {
            st = write_child(w, c, c == first, object, level + 1);
        }
    }
    if (st == GROVE_OK && first) {
        st = line_break(w, level);
    }
    return st == GROVE_OK ? gv_out_char(w->out, object ? '}' : ']') : st;
}

static grove_status write_value(const writer *w, const grove_node *node, uint32_t level) {
    switch (grove_node_type(node)) {
    case GROVE_OBJECT:
        return write_container(w, node, true, level);
    case GROVE_ARRAY:
        return write_container(w, node, false, level);
    case GROVE_STRING:
        return gv_json_write_string(gv_node_str(node), w->out);
    case GROVE_NUMBER:
        if (w->canonical) {
            const gv_decimal d = gv_decimal_read(gv_node_str(node));
            return gv_decimal_write(&d, w->out);
        }
        return write_text(w, gv_node_str(node));
    case GROVE_BOOL:
        return gv_out_c(w->out, grove_node_is_true(node) ? "true" : "false");
    default:
        return gv_out_c(w->out, "null");
    }
}

grove_status grove_node_write_json(const grove_node *node, uint32_t flags, grove_buf *buf,
                                   grove_error *err) {
    const bool canonical = (flags & GROVE_WRITE_CANONICAL) != 0;
    if (!node || !buf || !buf->env || (flags & ~(GROVE_WRITE_CANONICAL | GROVE_WRITE_PRETTY))) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_node_write_json is invalid");
    }
    gv_out out = {.buf = buf};
    const writer w = {&out, (flags & GROVE_WRITE_PRETTY) && !canonical, canonical};
    const uint64_t before = buf->len;
    const grove_status st = write_value(&w, node, 0);
    buf->len = st < 0 ? before : buf->len;
    if (buf->data) {
        buf->data[buf->len] = '\0';
    }
    return st < 0 ? gv_error_nomem(err) : GROVE_OK;
}

grove_status grove_node_hash(const grove_node *node, uint64_t *out_hash, grove_error *err) {
    if (!node || !out_hash) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_node_hash is invalid");
    }
    gv_out out = {.hash = GV_FNV_START};
    const writer w = {&out, false, true};
    write_value(&w, node, 0); /* needs no memory, so it cannot fail */
    *out_hash = out.hash;
    return GROVE_OK;
}
