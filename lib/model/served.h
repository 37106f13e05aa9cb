/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an API server does to objects of built-in kinds that are sent to it: fields it fills in, pods it
 * refuses. Only what can be seen from outside and what Grove's children can hold.
 */
#ifndef GV_MODEL_SERVED_H
#define GV_MODEL_SERVED_H

#include <stdbool.h>

#include <grove/doc.h>

#include "model/kinds.h"

/* Appends the object as one value under `key` (NULL in arrays) with the server's defaults filled in;
 * kinds without any are linked as they are. */
void gv_served_write(grove_builder *b, const char *key, grove_doc *doc, const grove_node *object,
                     gv_kind kind);

/* Pod validation would refuse a pod of this spec, though admission of the set does not look that far. */
bool gv_served_refuses_pod(const grove_node *pod_spec);

#endif
