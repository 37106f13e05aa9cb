/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document to YAML, as kubectl prints it: block style, two columns a level, lists as deep as their key.
 * An explicit stack instead of recursion: how deep a document may be is the host's choice.
 */
#include <math.h>

#include "base/mem.h"
#include "base/vec.h"
#include "value/doc.h"
#include "value/number.h"
#include "value/yaml_style.h"

#define INDENT 2
#define SIMPLE_KEY_MAX_BYTES 1000 /* readers look 1,024 characters far for the ':' */

/* A container being written. */
typedef struct frame {
    const grove_node *node;
    const grove_node *child; /* the next one; NULL: done */
    size_t column;           /* of its keys or dashes */
    bool inline_first;       /* its first child goes on in the current line */
} frame;

typedef struct writer {
    grove_buf *out;
    grove_buf key, scratch;
    grove_error *err;
    GV_VEC(frame) stack;
} writer;

/* Where a value begins: behind "key:", behind "- " (or "? " and ": "), or at the start of the text. */
typedef enum place { BEHIND_KEY, BEHIND_DASH, AT_START } place;

/* A number that readers of YAML 1.1 take for one too: its exponent needs a point before and a sign. */
static grove_status put_number(writer *w, gv_str text) {
    gv_decimal d = gv_decimal_read(text);
    if (isinf(gv_decimal_double(&d))) {
        return gv_error(w->err, GROVE_E_RANGE, "%.*s is too large for a YAML number",
                        (int)(text.n < 64 ? text.n : 64), text.p);
    }
    size_t e = 0;
    while (e < text.n && text.p[e] != 'e' && text.p[e] != 'E') {
        e++;
    }
    grove_status st = grove_buf_append(w->out, text.p, e);
    if (e < text.n && st == GROVE_OK) {
        bool sign = text.p[e + 1] == '-' || text.p[e + 1] == '+';
        st = memchr(text.p, '.', e) ? GROVE_OK : gv_buf_c(w->out, ".0");
        st = st < 0 ? st : gv_buf_c(w->out, sign ? "e" : "e+");
        st = st < 0 ? st : grove_buf_append(w->out, text.p + e + 1, text.n - e - 1);
    }
    return st;
}

/* A value without children, without the break behind it. */
static grove_status put_scalar(writer *w, const grove_node *node, size_t block_column) {
    switch (grove_node_type(node)) {
    case GROVE_NUMBER:
        return put_number(w, gv_node_str(node));
    case GROVE_STRING:
        if (gv_yaml_fits_block(gv_node_str(node))) {
            return gv_yaml_put_block(gv_node_str(node), block_column, w->out);
        }
        return gv_yaml_put_line(gv_node_str(node), &w->scratch, w->out);
    case GROVE_BOOL:
        return gv_buf_c(w->out, grove_node_is_true(node) ? "true" : "false");
    case GROVE_ARRAY:
        return gv_buf_c(w->out, "[]");
    case GROVE_OBJECT:
        return gv_buf_c(w->out, "{}");
    default:
        return gv_buf_c(w->out, "null");
    }
}

/* A value; column: that of the key or dash before it. Containers with children go onto the stack. */
static grove_status put_value(writer *w, const grove_node *node, size_t column, place where) {
    grove_status st = GROVE_OK;
    if (grove_node_size(node) == 0) {
        st = where == BEHIND_KEY ? gv_buf_char(w->out, ' ') : GROVE_OK;
        st = st < 0 ? st : put_scalar(w, node, where == AT_START ? INDENT : column + INDENT);
        return st < 0 ? st : gv_buf_char(w->out, '\n');
    }
    const bool list = grove_node_type(node) == GROVE_ARRAY;
    frame f = {node, grove_node_first(node), column + INDENT, where != BEHIND_KEY};
    if (where == AT_START || (where == BEHIND_KEY && list)) {
        f.column = column;
    }
    st = where == BEHIND_KEY ? gv_buf_char(w->out, '\n') : GROVE_OK;
    if (st == GROVE_OK && !gv_vec_push(w->out->env, &w->stack, f)) {
        st = GROVE_E_NOMEM;
    }
    return st;
}

static grove_status put_key(writer *w, gv_str key, place *out_where) {
    grove_buf_clear(&w->key);
    grove_status st = gv_yaml_put_line(key, &w->scratch, &w->key);
    if (st < 0) {
        return st;
    }
    const bool simple = w->key.len <= SIMPLE_KEY_MAX_BYTES;
    *out_where = simple ? BEHIND_KEY : BEHIND_DASH;
    st = simple ? GROVE_OK : gv_buf_c(w->out, "? ");
    st = st < 0 ? st : gv_buf_str(w->out, gv_buf_view(&w->key));
    return st < 0 ? st : gv_buf_c(w->out, simple ? ":" : "\n");
}

static grove_status put_child(writer *w, const grove_node *child, size_t column, bool keyed,
                              bool in_line) {
    place where = BEHIND_DASH;
    grove_status st = in_line ? GROVE_OK : gv_yaml_put_blanks(column, w->out);
    if (st == GROVE_OK && keyed) {
        st = put_key(w, gv_node_key(child), &where);
        if (st == GROVE_OK && where == BEHIND_DASH) {
            st = gv_yaml_put_blanks(column, w->out);
            st = st < 0 ? st : gv_buf_c(w->out, ": ");
        }
    } else if (st == GROVE_OK) {
        st = gv_buf_c(w->out, "- ");
    }
    return st < 0 ? st : put_value(w, child, column, where);
}

static grove_status put_document(writer *w, const grove_node *root) {
    grove_status st = put_value(w, root, 0, AT_START);
    while (st == GROVE_OK && w->stack.n > 0) {
        frame *top = &w->stack.v[w->stack.n - 1];
        const grove_node *child = top->child;
        if (!child) {
            w->stack.n--;
            continue;
        }
        const bool keyed = grove_node_type(top->node) == GROVE_OBJECT;
        const bool in_line = top->inline_first;
        const size_t column = top->column;
        top->child = grove_node_next(top->node, child);
        top->inline_first = false;
        st = put_child(w, child, column, keyed, in_line);
    }
    return st;
}

grove_status grove_node_write_yaml(const grove_node *node, uint32_t flags, grove_buf *buf,
                                   grove_error *err) {
    if (!node || !buf || !buf->env || flags != 0) {
        return gv_error(err, GROVE_E_INVALID, "an argument of grove_node_write_yaml is invalid");
    }
    writer w = {.out = buf, .err = err};
    grove_env *env = grove_env_ref(buf->env);
    const uint64_t before = buf->len;
    grove_buf_init(&w.key, env);
    grove_buf_init(&w.scratch, env);
    grove_status st = put_document(&w, node);
    grove_buf_fini(&w.key);
    grove_buf_fini(&w.scratch);
    gv_vec_fini(env, &w.stack);
    grove_env_unref(env);
    if (st < 0) {
        buf->len = before;
        if (buf->data) {
            buf->data[before] = '\0';
        }
        return st == GROVE_E_NOMEM ? gv_error_nomem(err) : st;
    }
    return GROVE_OK;
}
