/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars as a typed Go structure writes them back: canonical integers, quantities, durations, times. */
#include "model/schema_emit.h"
#include "value/scalar.h"

static void keep(gv_emitter *e, gv_str key, const grove_node *node) {
    grove_builder_position(e->out, node, 0);
    gv_build_link(e->out, key, e->doc, node);
}

/* Writes the scratch text, or keeps the node where the text is already the same. */
static void write_text(gv_emitter *e, gv_str key, const grove_node *node, grove_status status) {
    if (status < 0) {
        if (e->status == GROVE_OK) {
            e->status = status;
        }
        return;
    }
    gv_str text = gv_buf_view(&e->text);
    gv_str given = {NULL, 0};
    given.p = grove_node_textn(node, &given.n);
    if (grove_node_type(node) == GROVE_STRING && gv_str_eq(text, given)) {
        keep(e, key, node);
        return;
    }
    grove_builder_position(e->out, node, 0);
    gv_build_string(e->out, key, text);
}

static gv_str trim_spaces(gv_str s) {
    while (s.n > 0 && s.p[0] == ' ') {
        s = (gv_str){s.p + 1, s.n - 1};
    }
    while (s.n > 0 && s.p[s.n - 1] == ' ') {
        s.n--;
    }
    return s;
}

/* A quantity's text taken apart: sign, digits before the point, whether digits follow it, suffix. */
typedef struct quantity_text {
    bool negative, fraction;
    gv_str digits, suffix;
} quantity_text;

static quantity_text take_apart(gv_str s) {
    quantity_text t = {0};
    size_t i = 0;
    if (i < s.n && (s.p[i] == '+' || s.p[i] == '-')) {
        t.negative = s.p[i++] == '-';
    }
    size_t start = i;
    while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') {
        i++;
    }
    t.digits = (gv_str){s.p + start, i - start};
    if (i < s.n && s.p[i] == '.') {
        size_t point = i++;
        while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') {
            i++;
        }
        t.fraction = i > point + 1;
    }
    t.suffix = (gv_str){s.p + i, s.n - i};
    while (t.digits.n > 1 && t.digits.p[0] == '0') {
        t.digits = (gv_str){t.digits.p + 1, t.digits.n - 1};
    }
    return t;
}

/* "e3", "E+3" and "e03" mean the same. */
static bool same_suffix(gv_str a, gv_str b) {
    bool a_exp = a.n > 1 && (a.p[0] == 'e' || a.p[0] == 'E');
    bool b_exp = b.n > 1 && (b.p[0] == 'e' || b.p[0] == 'E');
    if (!a_exp && !b_exp) {
        return gv_str_eq(a, b);
    }
    int64_t x = 0, y = 0;
    gv_str p = {a.p + 1, a.n ? a.n - 1 : 0}, q = {b.p + 1, b.n ? b.n - 1 : 0};
    p = p.n && p.p[0] == '+' ? (gv_str){p.p + 1, p.n - 1} : p;
    return (a.n == 0 || (a_exp && gv_str_int64(p, &x))) &&
           (b.n == 0 || (b_exp && gv_str_int64(q, &y))) && x == y;
}

/*
 * A text whose whole number and suffix are canonical already keeps its spelling ("+1", "01", "5.",
 * "1E3"): the real type caches the text it was read from.
 */
static bool keeps_spelling(gv_str given, gv_str canonical) {
    quantity_text a = take_apart(given), b = take_apart(canonical);
    return !a.fraction && !b.fraction && a.negative == b.negative &&
           gv_str_eq(a.digits, b.digits) && same_suffix(a.suffix, b.suffix) && b.digits.n > 0 &&
           !gv_str_is(b.digits, "0");
}

static void quantity(gv_emitter *e, gv_str key, const grove_node *node) {
    grove_buf_clear(&e->text);
    grove_status status = GROVE_OK;
    gv_str given = {NULL, 0};
    if (grove_node_type(node) == GROVE_NUMBER) {
        status = gv_number_text(node, &e->text);
    } else {
        given.p = grove_node_textn(node, &given.n);
        status = gv_buf_str(&e->text, trim_spaces(given));
    }
    if (status < 0) {
        write_text(e, key, node, status);
        return;
    }
    gv_str text = gv_buf_view(&e->text);
    size_t end = text.n;
    grove_quantity q;
    if (grove_quantity_parse(text.p, text.n, &q, NULL) < 0) {
        write_text(e, key, node, GROVE_OK); /* beyond 128 bits: written as it is */
        return;
    }
    status = grove_quantity_format(&q, &e->text);
    gv_str both = gv_buf_view(&e->text);
    gv_str first = {both.p, end}, canonical = {both.p + end, both.n - end};
    bool keep_it = status == GROVE_OK && keeps_spelling(first, canonical);
    if (status == GROVE_OK && keep_it) {
        e->text.len = end;
    } else if (status == GROVE_OK) {
        memmove(e->text.data, e->text.data + end, canonical.n);
        e->text.len = canonical.n;
    }
    write_text(e, key, node, status);
}

static void integer(gv_emitter *e, gv_str key, const grove_node *node) {
    int64_t value = 0;
    if (grove_node_int64(node, &value) < 0) {
        keep(e, key, node);
        return;
    }
    char text[24];
    size_t n = gv_fmt(text, sizeof text, "%lld", (long long)value);
    grove_builder_position(e->out, node, 0);
    gv_build_scalar(e->out, key, GROVE_NUMBER, (gv_str){text, n});
}

void gv_emit_canonical(gv_emitter *e, gv_str key, gv_shape shape, const grove_node *node) {
    gv_str text = {NULL, 0};
    text.p = grove_node_textn(node, &text.n);
    grove_type found = grove_node_type(node);
    int64_t ns = 0;
    grove_buf_clear(&e->text);
    if (shape == GV_SHAPE_QUANTITY) {
        quantity(e, key, node);
    } else if (shape == GV_SHAPE_DURATION && gv_duration_parse(text, &ns, NULL) == GROVE_OK) {
        write_text(e, key, node, gv_duration_format(ns, &e->text));
    } else if (shape == GV_SHAPE_TIME && gv_time_parse(text, &ns, NULL) == GROVE_OK) {
        write_text(e, key, node, gv_time_format(ns, &e->text));
    } else if (found == GROVE_NUMBER && shape != GV_SHAPE_NUMBER) {
        integer(e, key, node);
    } else {
        keep(e, key, node);
    }
}
