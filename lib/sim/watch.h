/* SPDX-License-Identifier: Apache-2.0 */
/* One watch: first a snapshot, then the history from there on. */
#ifndef GV_SIM_WATCH_H
#define GV_SIM_WATCH_H

#include "sim/state.h"

typedef struct gv_sim_watch gv_sim_watch;

/* `in` is complete (all fields of this version). GROVE_E_REFUSED for selectors that cannot be read. */
grove_status gv_sim_watch_make(grove_sim *sim, const grove_watch *in, gv_sim_watch **out_watch,
                               grove_error *err);
void gv_sim_watch_free(grove_sim *sim, gv_sim_watch *w);
uint64_t gv_sim_watch_token(const gv_sim_watch *w);
/* Whether there is an event to tell, and the version that decides its turn. */
bool gv_sim_watch_peek(grove_sim *sim, gv_sim_watch *w, uint64_t *out_rv);
/* The event that peek found; its object_doc is a reference of the caller's; rv holds its version's text. */
grove_status gv_sim_watch_event(grove_sim *sim, const gv_sim_watch *w, grove_event *out_event,
                                char rv[24]);
void gv_sim_watch_advance(grove_sim *sim, gv_sim_watch *w);
/* Tells how far the watch is, once it has told everything. */
void gv_sim_watch_bookmark(gv_sim_watch *w);
/* Forgets the position: the next event is GONE. */
void gv_sim_watch_lose(gv_sim_watch *w);

#endif
