/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managedFields: which manager owns which fields of an object, how writes change that, and who is in an
 * applier's way.
 *
 * With GROVE_SIM_MANAGED_FIELDS objects carry them in their metadata and every client's write counts. Without it
 * only appliers are kept, beside the object: enough to tell a field left out from one never set.
 */
#ifndef GV_SIM_MANAGERS_H
#define GV_SIM_MANAGERS_H

#include "sim/call.h"
#include "sim/fields.h"

bool gv_sim_tracks_fields(const grove_sim *sim);

/* Who owns what once the object is `meta` and `parts`, into meta->managed; `was` NULL: it is created. The caller
 * owns *out_managed, which stays NULL where nothing is tracked or owned. */
grove_status gv_managers_track(gv_sim_call *c, const gv_sim_object *was, const grove_node *had,
                               gv_sim_meta *meta, const gv_sim_parts *parts,
                               grove_doc **out_managed);

/* An apply, step by step. */
typedef struct gv_apply {
    gv_arena arena;
    gv_fields claimed; /* what the configuration says */
    gv_fields let_go;  /* what the manager applied before and nobody claims any more */
} gv_apply;
/* Reads what is claimed and let go. Call gv_apply_fini whatever it returns. */
grove_status gv_apply_begin(gv_sim_call *c, const grove_node *had, gv_apply *out);
/* Refuses (409) when `next` changes what others own, unless forced; else the entries after it. */
grove_status gv_apply_finish(gv_sim_call *c, gv_apply *apply, const grove_node *had,
                             const grove_node *was, const grove_node *next, grove_doc **out_doc);
void gv_apply_fini(gv_apply *apply);

#endif
