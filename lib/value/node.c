/* SPDX-License-Identifier: Apache-2.0 */
/* Reading nodes. Every reader accepts NULL and follows links. */
#include "base/sort.h"
#include "value/doc.h"
#include "value/node.h"
#include "value/number.h"

grove_type grove_node_type(const grove_node *node) {
    node = gv_node_resolve(node);
    return node ? (grove_type)gv_node_raw_type(node) : GROVE_MISSING;
}

static const grove_node *container(const grove_node *node) {
    node = gv_node_resolve(node);
    return node && gv_type_is_container(gv_node_raw_type(node)) ? node : NULL;
}

uint32_t grove_node_size(const grove_node *node) {
    node = container(node);
    return node ? node->b : 0;
}

/* Binary search in the index of a large object. */
static const grove_node *find_sorted(const grove_node *object, gv_str key) {
    uint32_t low = 0;
    uint32_t high = object->b;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const grove_node *m = gv_node_sorted(object, middle);
        const int order = gv_str_cmp((gv_str){gv_node_key_at(m), gv_node_key_len(m)}, key);
        if (order == 0) {
            return m;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const grove_node *grove_node_getn(const grove_node *object, const char *key, size_t key_len) {
    const grove_node *o = container(object);
    if (!o || gv_node_raw_type(o) != GROVE_OBJECT || (!key && key_len > 0)) {
        return NULL;
    }
    if (gv_node_has_index(o)) {
        return find_sorted(o, (gv_str){key, key_len});
    }
    const grove_node *end = o + o->a;
    for (const grove_node *m = o + 1; m < end; m = gv_node_after(m)) {
        if (gv_node_key_len(m) == key_len &&
            (key_len == 0 || memcmp(gv_node_key_at(m), key, key_len) == 0)) {
            return m;
        }
    }
    return NULL;
}

const grove_node *grove_node_get(const grove_node *object, const char *key) {
    return key ? grove_node_getn(object, key, strlen(key)) : NULL;
}

const grove_node *grove_node_at(const grove_node *node, uint32_t i) {
    const grove_node *c = container(node);
    if (!c || i >= c->b) {
        return NULL;
    }
    const grove_node *child = c + 1;
    while (i-- > 0) {
        child = gv_node_after(child);
    }
    return child;
}

const grove_node *grove_node_first(const grove_node *node) {
    const grove_node *c = container(node);
    return c && c->b > 0 ? c + 1 : NULL;
}

const grove_node *grove_node_next(const grove_node *parent, const grove_node *child) {
    const grove_node *c = container(parent);
    if (!c || !child) {
        return NULL;
    }
    const grove_node *next = gv_node_after(child);
    return next < gv_node_end(c) ? next : NULL;
}

const char *grove_node_key(const grove_node *member, size_t *out_len) {
    const bool has_key = member && (member->head & GV_NODE_MEMBER);
    if (out_len) {
        *out_len = has_key ? gv_node_key_len(member) : 0;
    }
    return has_key ? gv_node_key_at(member) : NULL;
}

const char *grove_node_textn(const grove_node *node, size_t *out_len) {
    node = gv_node_resolve(node);
    const uint32_t type = node ? gv_node_raw_type(node) : GROVE_MISSING;
    const bool has_text = type == GROVE_STRING || type == GROVE_NUMBER;
    if (out_len) {
        *out_len = has_text ? node->b : 0;
    }
    return has_text ? gv_node_text_at(node) : NULL;
}

const char *grove_node_text(const grove_node *node) {
    return grove_node_textn(node, NULL);
}

int32_t grove_node_is_true(const grove_node *node) {
    node = gv_node_resolve(node);
    return node && (node->head & GV_NODE_TRUE) != 0;
}

grove_status grove_node_int64(const grove_node *node, int64_t *out_value) {
    node = gv_node_resolve(node);
    if (!out_value) {
        return GROVE_E_INVALID;
    }
    if (!node || gv_node_raw_type(node) != GROVE_NUMBER) {
        return GROVE_E_TYPE;
    }
    const gv_str text = {gv_node_text_at(node), node->b};
    if (node->head & GV_NODE_INTEGER) {
        return gv_str_int64(text, out_value) ? GROVE_OK : GROVE_E_RANGE;
    }
    const gv_decimal d = gv_decimal_read(text);
    bool range;
    if (gv_decimal_int64(&d, out_value, &range)) {
        return GROVE_OK;
    }
    return range ? GROVE_E_RANGE : GROVE_E_TYPE;
}

grove_status grove_node_double(const grove_node *node, double *out_value) {
    node = gv_node_resolve(node);
    if (!out_value) {
        return GROVE_E_INVALID;
    }
    if (!node || gv_node_raw_type(node) != GROVE_NUMBER) {
        return GROVE_E_TYPE;
    }
    const gv_decimal d = gv_decimal_read((gv_str){gv_node_text_at(node), node->b});
    *out_value = gv_decimal_double(&d);
    return GROVE_OK;
}

void grove_node_position(const grove_doc *doc, const grove_node *node, uint32_t *out_line,
                         uint32_t *out_column) {
    (void)doc; /* a node carries its place */
    if (out_line) {
        *out_line = node ? node->line : 0;
    }
    if (out_column) {
        *out_column = node ? node->column : 0;
    }
}

int32_t grove_node_is_defaulted(const grove_node *node) {
    return node && (node->head & GV_NODE_DEFAULTED) != 0;
}

static int compare_keys(const void *a, const void *b, void *ctx) {
    (void)ctx;
    return gv_str_cmp(gv_node_key(a), gv_node_key(b));
}

void gv_node_sort_small(const grove_node *object, const void *sorted[GV_INDEX_FROM]) {
    uint32_t n = 0;
    GV_EACH(member, object) {
        sorted[n++] = member;
    }
    gv_sort(sorted, n, compare_keys, NULL);
}

uint32_t gv_node_depth(const grove_node *node) {
    uint32_t deepest = 0;
    if (!container(node)) {
        return 0;
    }
    GV_EACH(child, node) {
        uint32_t depth = gv_node_depth(child);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

gv_str gv_node_str(const grove_node *node) {
    size_t n = 0;
    const char *text = grove_node_textn(node, &n);
    return text ? (gv_str){text, n} : GV_STR("");
}

gv_str gv_node_key(const grove_node *member) {
    size_t n = 0;
    const char *key = grove_node_key(member, &n);
    return key ? (gv_str){key, n} : GV_STR("");
}

const grove_node *gv_node_get(const grove_node *object, gv_str key) {
    return grove_node_getn(object, key.p, key.n);
}

gv_str gv_node_get_str(const grove_node *object, const char *key) {
    return gv_node_str(grove_node_get(object, key));
}

int64_t gv_node_get_int(const grove_node *object, const char *key, int64_t otherwise) {
    int64_t value;
    return grove_node_int64(grove_node_get(object, key), &value) == GROVE_OK ? value : otherwise;
}

bool gv_node_get_bool(const grove_node *object, const char *key) {
    return grove_node_is_true(grove_node_get(object, key)) != 0;
}

const grove_node *gv_node_path(const grove_node *node, const char *dotted) {
    while (node && *dotted) {
        size_t n = strcspn(dotted, ".");
        node = grove_node_getn(node, dotted, n);
        dotted += n + (dotted[n] == '.');
    }
    return node;
}
