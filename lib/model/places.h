/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of the annotation libgrove.io/places: `<clique>:<index>=<node>,<index>=<node>;<clique>:...`,
 * indices rising. Whatever does not read so is passed over: it is a memory, not a wish of somebody.
 */
#ifndef GV_MODEL_PLACES_H
#define GV_MODEL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The part about one clique; n 0: none. */
gv_str gv_places_of(gv_str text, gv_str clique);
/* Takes the next entry off such a part; false: there is none. */
bool gv_places_next(gv_str *rest, int64_t *out_index, gv_str *out_node);

#endif
