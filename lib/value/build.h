/* SPDX-License-Identifier: Apache-2.0 */
/* Building documents inside the library: keys with a length, positions, repeats, own failures. */
#ifndef GV_VALUE_BUILD_H
#define GV_VALUE_BUILD_H

#include <grove/doc.h>

#include "base/text.h"

/* "No key", for array elements and the root. An empty key is GV_STR(""). */
#define GV_NO_KEY ((gv_str){NULL, 0})

/* type: GROVE_ARRAY or GROVE_OBJECT. */
void gv_build_open(grove_builder *b, gv_str key, grove_type type);
/* type: GROVE_NULL_NODE (text ignored), GROVE_BOOL (text "true" or not), GROVE_NUMBER (text must be a
 * JSON number), GROVE_STRING (any bytes that are UTF-8; not checked). */
void gv_build_scalar(grove_builder *b, gv_str key, grove_type type, gv_str text);
void gv_build_string(grove_builder *b, gv_str key, gv_str text);
void gv_build_link(grove_builder *b, gv_str key, grove_doc *doc, const grove_node *node);
void gv_build_copy(grove_builder *b, gv_str key, const grove_node *node);

/* Nodes appended from now on carry this place; 0, 0: none. */
void gv_build_at(grove_builder *b, uint32_t line, uint32_t column);

/* Names the node that the next append makes; a finished subtree can be appended again by its name
 * (aliases: every repeat counts against the limit of nodes). */
uint32_t gv_build_mark(const grove_builder *b);
void gv_build_repeat(grove_builder *b, gv_str key, uint32_t mark);

/* Equal keys in one object: the last one wins, unless strict is set: then GROVE_E_PARSE at the second. */
void gv_build_strict(grove_builder *b, bool strict);

/* Makes the builder fail as if a call of its own had failed; the first failure sticks. */
void gv_build_fail(grove_builder *b, grove_status status, uint32_t line, uint32_t column,
                   const char *fmt, ...) GROVE_PRINTF(5, 6);
grove_status gv_build_status(const grove_builder *b);

#endif
