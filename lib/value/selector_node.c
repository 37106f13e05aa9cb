/* SPDX-License-Identifier: Apache-2.0 */
/* The object form of label selectors: {matchLabels: {...}, matchExpressions: [...]}. */
#include "base/mem.h"
#include "value/label.h"
#include "value/selector.h"

#define PATH_BYTES 256

typedef struct reader {
    gv_selector *selector;
    grove_error *err;
} reader;

static bool is_absent(const grove_node *node) {
    return grove_node_type(node) <= GROVE_NULL_NODE;
}

static grove_status refuse(const reader *r, grove_status status, const char *path,
                           const char *why) {
    return gv_error_at(r->err, status, 0, 0, path, "%s", why);
}

/* A string node as text of the selector; absent is the empty text, as in Go. */
static grove_status take_text(const reader *r, const grove_node *node, const char *path,
                              gv_str *out) {
    gv_str text = {"", 0};
    if (!is_absent(node)) {
        if (grove_node_type(node) != GROVE_STRING) {
            return refuse(r, GROVE_E_TYPE, path, "a string is expected");
        }
        text.p = grove_node_textn(node, &text.n);
    }
    return gv_selector_copy_text(r->selector, text, out) ? GROVE_OK : gv_error_nomem(r->err);
}

static grove_status add_value(const reader *r, gv_requirement *q, const grove_node *node,
                              const char *path) {
    gv_str value = {NULL, 0};
    grove_status st = take_text(r, node, path, &value);
    if (st < 0) {
        return st;
    }
    if (!gv_label_value_ok(value)) {
        return refuse(r, GROVE_E_PARSE, path, "not a valid label value");
    }
    return gv_vec_push(r->selector->env, &q->values, value) ? GROVE_OK : gv_error_nomem(r->err);
}

static grove_status finish(const reader *r, gv_requirement *q, grove_status st) {
    if (st < 0) {
        gv_vec_fini(r->selector->env, &q->values);
        return st;
    }
    return gv_selector_add(r->selector, q) ? GROVE_OK : gv_error_nomem(r->err);
}

static grove_status read_labels(const reader *r, const grove_node *labels) {
    if (is_absent(labels)) {
        return GROVE_OK;
    }
    if (grove_node_type(labels) != GROVE_OBJECT) {
        return refuse(r, GROVE_E_TYPE, "matchLabels", "an object is expected");
    }
    for (const grove_node *c = grove_node_first(labels); c; c = grove_node_next(labels, c)) {
        gv_requirement q = {.op = GV_SELECTOR_EQUALS};
        gv_str key = {NULL, 0};
        char path[PATH_BYTES];
        key.p = grove_node_key(c, &key.n);
        gv_fmt(path, sizeof path, "matchLabels[%.*s]", (int)(key.n < 128 ? key.n : 128), key.p);
        if (!gv_label_key_ok(key)) {
            return refuse(r, GROVE_E_PARSE, path, "not a valid label key");
        }
        if (!gv_selector_copy_text(r->selector, key, &q.key)) {
            return gv_error_nomem(r->err);
        }
        grove_status st = finish(r, &q, add_value(r, &q, c, path));
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

static grove_status read_operator(const reader *r, const grove_node *node, uint32_t i,
                                  gv_selector_op *out) {
    static const struct {
        const char *name;
        gv_selector_op op;
    } operators[] = {{"In", GV_SELECTOR_IN},
                     {"NotIn", GV_SELECTOR_NOT_IN},
                     {"Exists", GV_SELECTOR_EXISTS},
                     {"DoesNotExist", GV_SELECTOR_NOT_EXISTS}};
    gv_str name = {NULL, 0};
    char path[PATH_BYTES];
    name.p = grove_node_type(node) == GROVE_STRING ? grove_node_textn(node, &name.n) : NULL;
    for (size_t k = 0; k < sizeof operators / sizeof operators[0]; k++) {
        if (name.p && gv_str_is(name, operators[k].name)) {
            *out = operators[k].op;
            return GROVE_OK;
        }
    }
    gv_fmt(path, sizeof path, "matchExpressions[%u].operator", i);
    return refuse(r, GROVE_E_PARSE, path, "In, NotIn, Exists or DoesNotExist is expected");
}

static grove_status read_values(const reader *r, const grove_node *values, uint32_t i,
                                gv_requirement *q) {
    char path[PATH_BYTES];
    bool wants_values = q->op == GV_SELECTOR_IN || q->op == GV_SELECTOR_NOT_IN;
    gv_fmt(path, sizeof path, "matchExpressions[%u].values", i);
    if (!is_absent(values) && grove_node_type(values) != GROVE_ARRAY) {
        return refuse(r, GROVE_E_TYPE, path, "an array is expected");
    }
    if (wants_values && grove_node_size(values) == 0) {
        return refuse(r, GROVE_E_PARSE, path, "In and NotIn need at least one value");
    }
    if (!wants_values && grove_node_size(values) > 0) {
        return refuse(r, GROVE_E_PARSE, path, "Exists and DoesNotExist take no values");
    }
    uint32_t k = 0;
    for (const grove_node *c = grove_node_first(values); c; c = grove_node_next(values, c)) {
        gv_fmt(path, sizeof path, "matchExpressions[%u].values[%u]", i, k++);
        grove_status st = add_value(r, q, c, path);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

static grove_status read_expression(const reader *r, const grove_node *node, uint32_t i) {
    gv_requirement q = {0};
    char path[PATH_BYTES];
    gv_fmt(path, sizeof path, "matchExpressions[%u].key", i);
    grove_status st = take_text(r, grove_node_get(node, "key"), path, &q.key);
    if (st < 0) {
        return st;
    }
    if (!gv_label_key_ok(q.key)) {
        return refuse(r, GROVE_E_PARSE, path, "not a valid label key");
    }
    st = read_operator(r, grove_node_get(node, "operator"), i, &q.op);
    if (st == GROVE_OK) {
        st = read_values(r, grove_node_get(node, "values"), i, &q);
    }
    return finish(r, &q, st);
}

static grove_status read_expressions(const reader *r, const grove_node *list) {
    if (is_absent(list)) {
        return GROVE_OK;
    }
    if (grove_node_type(list) != GROVE_ARRAY) {
        return refuse(r, GROVE_E_TYPE, "matchExpressions", "an array is expected");
    }
    uint32_t i = 0;
    for (const grove_node *c = grove_node_first(list); c; c = grove_node_next(list, c)) {
        grove_status st = read_expression(r, c, i++);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

grove_status gv_selector_from_node(grove_env *env, const grove_node *selector, gv_selector **out,
                                   grove_error *err) {
    reader r = {.err = err};
    if (!is_absent(selector) && grove_node_type(selector) != GROVE_OBJECT) {
        return gv_error(err, GROVE_E_TYPE, "a label selector is an object");
    }
    if (gv_selector_new(env, &r.selector) < 0) {
        return gv_error_nomem(err);
    }
    r.selector->nothing = is_absent(selector);
    grove_status st = read_labels(&r, grove_node_get(selector, "matchLabels"));
    if (st == GROVE_OK) {
        st = read_expressions(&r, grove_node_get(selector, "matchExpressions"));
    }
    if (st < 0) {
        gv_selector_free(r.selector);
        return st;
    }
    *out = r.selector;
    return GROVE_OK;
}
