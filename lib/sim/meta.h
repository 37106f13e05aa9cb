/* SPDX-License-Identifier: Apache-2.0 */
/* Object metadata in and out. */
#ifndef GV_SIM_META_H
#define GV_SIM_META_H

#include "sim/state.h"
#include "value/doc.h"

/* Equal by value; NULL equals NULL only. */
bool gv_sim_node_same(const grove_node *a, const grove_node *b);

/* Reads metadata of `object`; empty lists and maps count as absent. */
void gv_sim_meta_read(const grove_node *object, gv_sim_meta *out_meta);
bool gv_sim_has_finalizer(const gv_sim_meta *meta, const char *finalizer);
/* Equal in everything a write can change. */
bool gv_sim_meta_same(const gv_sim_meta *a, const gv_sim_meta *b);

/* Appends the member "metadata"; rv 0 leaves the version out. */
void gv_sim_meta_build(grove_sim *sim, grove_builder *b, const gv_sim_meta *m, uint64_t rv);
void gv_sim_build_time(grove_sim *sim, grove_builder *b, const char *key, int64_t ns);

#endif
