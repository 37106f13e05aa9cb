/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that the patch formats share. */
#ifndef GV_VALUE_PATCH_H
#define GV_VALUE_PATCH_H

#include "value/build.h"
#include "value/doc.h"

/* A node together with the document it was reached from: what a link needs. */
typedef struct gv_source {
    grove_doc *doc;
    const grove_node *node;
} gv_source;

/* Fails with GROVE_E_INVALID unless both have a document and a node. */
grove_status gv_patch_arguments(gv_source a, gv_source b, grove_doc **out_doc, grove_error *err);

#endif
