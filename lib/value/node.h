/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of documents; for the files of value only, everyone else reads through <grove/doc.h>.
 *
 * A document is one block:  [struct grove_doc][pins][text][nodes in pre-order]
 * A node refers to its text by the distance back to it, so the block can move while it grows and nothing
 * needs the document to read a node. Every text is NUL-terminated. A container's children follow it;
 * its `a` leads to the node behind its subtree. A link holds the address of a node in another document.
 * An object with many members ends with index nodes: its members in the order of their keys, as numbers
 * of nodes counted from the object, five a node; they serve look-ups and are no children.
 */
#ifndef GV_VALUE_NODE_H
#define GV_VALUE_NODE_H

#include <stdbool.h>
#include <string.h>

#include <grove/doc.h>

#include "base/refcount.h"
#include "base/text.h"

/* Internal types beside GROVE_NULL_NODE ... GROVE_OBJECT. */
#define GV_LINK 7u
#define GV_INDEX 8u

#define GV_INDEX_FROM 33u /* objects with so many members have an index */
#define GV_INDEX_WIDTH 5u

#define GV_NODE_TYPE 0x0Fu
#define GV_NODE_MEMBER 0x10u    /* has a key */
#define GV_NODE_DEFAULTED 0x20u /* added by defaulting */
#define GV_NODE_INTEGER 0x40u   /* number without fraction and exponent */
#define GV_NODE_TRUE 0x80u
#define GV_KEY_LEN_SHIFT 8
#define GV_KEY_LEN_MAX 0xFFFFFFu

struct grove_node {
    uint32_t head; /* GV_NODE_* and the key's length above them */
    uint32_t key;  /* distance back to the key's text */
    uint32_t
        a; /* string, number: distance back to the text; container: nodes in it, itself included */
    uint32_t
        b; /* string, number: length of the text; container: children. A link: address in a, b */
    uint32_t line; /* 1-based; 0 unknown */
    uint32_t column;
};

struct grove_doc {
    gv_refs refs;
    uint32_t depth;  /* upper bound of its nesting, links included */
    grove_env *env;  /* referenced */
    size_t size;     /* of the block */
    size_t nodes_at; /* byte offset of the root node */
    uint32_t n_nodes;
    uint32_t n_pins;
    grove_doc *next_dead; /* while being freed */
    grove_doc *pins[];    /* documents that links lead to, and theirs in turn; sorted by address */
};

static inline uint32_t gv_node_raw_type(const grove_node *n) {
    return n->head & GV_NODE_TYPE;
}
static inline bool gv_type_is_container(uint32_t type) {
    return type == GROVE_ARRAY || type == GROVE_OBJECT;
}
/* The node itself or what its link leads to; n is not NULL. */
static inline const grove_node *gv_node_target(const grove_node *n) {
    if (gv_node_raw_type(n) == GV_LINK) {
        memcpy(&n, &n->a, sizeof n);
    }
    return n;
}
static inline const grove_node *gv_node_resolve(const grove_node *n) {
    return n ? gv_node_target(n) : NULL;
}
static inline const char *gv_node_text_at(const grove_node *n) {
    return (const char *)n - n->a;
}
static inline size_t gv_node_key_len(const grove_node *n) {
    return n->head >> GV_KEY_LEN_SHIFT;
}
static inline const char *gv_node_key_at(const grove_node *n) {
    return (const char *)n - n->key;
}
static inline const grove_node *gv_node_after(const grove_node *n) {
    return n + (gv_type_is_container(gv_node_raw_type(n)) ? n->a : 1);
}
static inline bool gv_node_has_index(const grove_node *n) {
    return gv_node_raw_type(n) == GROVE_OBJECT && n->b >= GV_INDEX_FROM;
}
static inline uint32_t gv_index_nodes(uint32_t members) {
    return members >= GV_INDEX_FROM ? (members + GV_INDEX_WIDTH - 1) / GV_INDEX_WIDTH : 0;
}
/* Behind the last child of a container. */
static inline const grove_node *gv_node_end(const grove_node *c) {
    return c + c->a - (gv_node_has_index(c) ? gv_index_nodes(c->b) : 0);
}
/* Member i of an object with an index, in the order of keys. */
static inline const grove_node *gv_node_sorted(const grove_node *object, uint32_t i) {
    const grove_node *index = gv_node_end(object) + i / GV_INDEX_WIDTH;
    const uint32_t slots[GV_INDEX_WIDTH] = {index->key, index->a, index->b, index->line,
                                            index->column};
    return object + slots[i % GV_INDEX_WIDTH];
}
static inline grove_node *gv_doc_nodes(grove_doc *doc) {
    return (grove_node *)(void *)((char *)doc + doc->nodes_at);
}

/* The document among `doc` and those it pins whose block holds the node; NULL: none of them. */
grove_doc *gv_doc_owner(grove_doc *doc, const grove_node *node);
/* Members of a resolved object with fewer than GV_INDEX_FROM, in the order of their keys. */
void gv_node_sort_small(const grove_node *object, const void *sorted[GV_INDEX_FROM]);
/* True nesting of a subtree, links followed; a scalar is 0. */
uint32_t gv_node_depth(const grove_node *node);

#endif
