/* SPDX-License-Identifier: Apache-2.0 */
/* JSON pointers (RFC 6901), token by token. */
#ifndef GV_VALUE_POINTER_H
#define GV_VALUE_POINTER_H

#include <stdbool.h>

#include <grove/doc.h>

#include "base/text.h"

/* "" or "/...", every ~ followed by 0 or 1. */
bool gv_pointer_is_valid(gv_str pointer);
/* Cuts the first token off, still escaped; false at the end. */
bool gv_pointer_next(gv_str *rest, gv_str *out_token);
/* Does the escaped token mean this key? */
bool gv_pointer_token_is(gv_str token, gv_str key);
/* Array index: decimal, no leading zero. */
bool gv_pointer_token_index(gv_str token, uint32_t *out_index);
/* Appends "/" and the escaped key. */
grove_status gv_pointer_append(grove_buf *pointer, gv_str key);

/* Appends the key that an escaped token means. */
grove_status gv_pointer_unescape(gv_str token, grove_buf *key);

const grove_node *gv_pointer_step(const grove_node *node, gv_str token);
const grove_node *gv_pointer_find(const grove_node *node, gv_str pointer);

#endif
