/* SPDX-License-Identifier: Apache-2.0 */
/* Reading documents inside the library: short forms of <grove/doc.h>. All accept NULL nodes. */
#ifndef GV_VALUE_DOC_H
#define GV_VALUE_DOC_H

#include <stdbool.h>

#include <grove/doc.h>

#include "base/text.h"

/* GV_EACH (child, parent) { use(child); }   over members or elements; nothing for scalars and NULL. */
#define GV_EACH(child, parent)                                      \
    for (const grove_node *child = grove_node_first(parent); child; \
         child = grove_node_next((parent), child))

/* Text of a string, or of a number as written; "" for all else. NUL-terminated. */
gv_str gv_node_str(const grove_node *node);
/* Key of a member; "" for all else. NUL-terminated. */
gv_str gv_node_key(const grove_node *member);
/* Text of a member; "" when absent. */
gv_str gv_node_get_str(const grove_node *object, const char *key);
const grove_node *gv_node_get(const grove_node *object, gv_str key);
/* A member's exact integer; `otherwise` when it is absent or no int64. */
int64_t gv_node_get_int(const grove_node *object, const char *key, int64_t otherwise);
/* True for a member that is the bool true. */
bool gv_node_get_bool(const grove_node *object, const char *key);
/* Walks members by a dotted list of keys, "spec.template.cliques"; keys that hold dots take
 * grove_node_at_path or single steps. NULL when absent. */
const grove_node *gv_node_path(const grove_node *node, const char *dotted);

static inline bool gv_node_is(const grove_node *node, grove_type type) {
    return grove_node_type(node) == type;
}
/* Absent or null. */
static inline bool gv_node_is_nothing(const grove_node *node) {
    return grove_node_type(node) <= GROVE_NULL_NODE;
}
static inline uint32_t gv_node_line(const grove_node *node) {
    uint32_t line = 0;
    uint32_t column = 0;
    grove_node_position(NULL, node, &line, &column);
    return line;
}
static inline uint32_t gv_node_column(const grove_node *node) {
    uint32_t line = 0;
    uint32_t column = 0;
    grove_node_position(NULL, node, &line, &column);
    return column;
}

#endif
