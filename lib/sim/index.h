/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of objects by something they name: their owners' uids, and for pods their gang. */
#ifndef GV_SIM_INDEX_H
#define GV_SIM_INDEX_H

#include "sim/state.h"

/* NULL when nothing stands under the key. */
const gv_sim_objects *gv_sim_index_get(const gv_map *index, gv_str key);

/*
 * Enters `o` under every key that `meta` has and `other` (NULL: nothing) has not; false when out of
 * memory, with some entries made: undo with gv_sim_unindex_object(sim, o, meta, other).
 */
bool gv_sim_index_object(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                         const gv_sim_meta *other);
/* Takes `o` out under every key that `meta` has and `other` has not. */
void gv_sim_unindex_object(grove_sim *sim, gv_sim_object *o, const gv_sim_meta *meta,
                           const gv_sim_meta *other);
void gv_sim_index_fini(grove_sim *sim, gv_map *index);

/* "ns/gang" into a buffer of GV_SIM_KEY_MAX; {"", 0} for a pod without the label. */
gv_str gv_sim_gang_key(char *buf, const gv_sim_meta *meta);

#endif
