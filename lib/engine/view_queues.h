/* SPDX-License-Identifier: Apache-2.0 */
/* Queues for the placement engine. Without any in the configuration nothing here does anything. */
#ifndef GV_ENGINE_VIEW_QUEUES_H
#define GV_ENGINE_VIEW_QUEUES_H

#include "engine/view_sched.h"

/* Declares the queues of the configuration, which outlives the view. */
grove_status gv_view_declare_queues(gv_view *v, const grove_config *config, grove_error *err);

/* The queue of a set's gangs and pods. */
typedef struct gv_view_queue {
    uint32_t id;         /* GROVE_QUEUE_NONE: none, or none that they may be in */
    gv_str name;         /* as the set names it; "" where its scheduler has no queues */
    const char *problem; /* why they may not: static text; NULL: nothing is wrong */
} gv_view_queue;
gv_view_queue gv_view_queue_of(const gv_view *v, const grove_store *store, gv_str ns, gv_str set);
/* `otherwise`: of a pod whose set is gone already. It counts where it did until it is gone as well. */
uint32_t gv_view_queue_of_pod(const gv_view *v, const grove_store *store, const gv_pod *pod,
                              uint32_t otherwise);

/* The pods of the set are charged to the queue that is its own now. */
grove_status gv_view_sync_queue(gv_view *v, const grove_store *store, gv_str ns, gv_str set,
                                bool *out_moved, grove_error *err);

#endif
