/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording does not keep: the contents of Secrets. Their keys stay, so that a difference still shows. */
#ifndef GV_BACKEND_REDACT_H
#define GV_BACKEND_REDACT_H

#include <grove/sys/backend.h>

/*
 * Copies a node under `key` (NULL: as an element). `kind` is what it belongs to, GROVE_KIND_NONE when the node
 * itself says; of a Secret, a list of them, or a patch of one the values are left out.
 */
void gv_redact_copy(grove_builder *b, const char *key, grove_kind kind, const grove_node *node);

#endif
