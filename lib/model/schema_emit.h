/* SPDX-License-Identifier: Apache-2.0 */
/* The writer behind gv_schema_default and gv_schema_roundtrip: one pass from the object as submitted. */
#ifndef GV_MODEL_SCHEMA_EMIT_H
#define GV_MODEL_SCHEMA_EMIT_H

#include "model/schema_walk.h"
#include "value/build.h"

/* Most changes that the webhook makes to the members of one object. */
#define GV_MAX_EDITS 4

typedef struct gv_emitter {
    grove_builder *out;
    grove_doc *doc; /* the submitted object's */
    const gv_schema_edits *edits;
    uint32_t flags; /* GV_SCHEMA_* */
    gv_str ns;      /* namespace of the request */
    bool namespaced;
    bool typed;          /* the typed structure is written back */
    bool metadata;       /* inside metadata, which the API server writes back itself */
    grove_buf text;      /* scratch for canonical texts */
    grove_status status; /* first failure of scratch work; sticks */
} gv_emitter;

/* Keys keep their length: a label key may hold a NUL, and must not be taken for the part before it. */

/* Writes a value of a type; node NULL: the zero value, its position and `parent` that of the holder. */
void gv_emit_value(gv_emitter *e, gv_str key, uint16_t row, const grove_node *node,
                   const grove_node *parent);
/* schema_roundtrip.c: a scalar in the form of the typed structure. */
void gv_emit_canonical(gv_emitter *e, gv_str key, gv_shape shape, const grove_node *node);
/* What the typed structure writes for a field that it always writes and that was not given. */
void gv_emit_zero(gv_emitter *e, gv_str key, uint16_t row, const grove_node *parent);
/* metadata.c: the members of metadata as the API server writes them back. */
void gv_emit_metadata(gv_emitter *e, gv_str key, const grove_node *node, const grove_node *parent);

#endif
