/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of gangs that belong to queues. */
#ifndef GV_ENGINE_QUEUES_H
#define GV_ENGINE_QUEUES_H

#include "engine/gangs.h"

/* Gives the gangs of `list`, which are in the order that holds inside a queue, their turns in the order of service;
 * at most `limit` of them. */
grove_status gv_queues_serve(grove_engine *e, gv_arena *mem, gv_candidate *const *list, uint32_t n,
                             uint32_t limit, grove_error *err);

#endif
