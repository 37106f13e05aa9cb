/* SPDX-License-Identifier: Apache-2.0 */
/* Planning from inside: the public form, with the kinds as the library numbers them. */
#ifndef GV_PLAN_PLAN_H
#define GV_PLAN_PLAN_H

#include <grove/doc.h>
#include <grove/plan.h>

#include "model/kinds.h"
#include "store/store.h"

/* Of a PodGang: with this reason all of it is being evicted, to make room for another gang. */
#define GV_COND_GANG_DISRUPTION "libgrove.io/DisruptionTarget"
/* Of a PodGang that we place: it has found no place since the time of this condition. */
#define GV_COND_GANG_UNPLACED "libgrove.io/Unplaced"
#define GV_REASON_PREEMPTED "PreemptionByScheduler"

static inline gv_kind gv_action_kind(const grove_action *action) {
    return (gv_kind)action->kind;
}

/* The write an action becomes for the store's overlay (gv_store_write_begin). */
gv_write gv_action_write(const grove_action *action, int64_t now);

/* One wait as a member of a list, and as a paragraph; `scratch` is for times. */
grove_status gv_wait_put(grove_builder *b, const grove_wait *w, grove_buf *scratch);
grove_status gv_wait_write(const grove_wait *w, int64_t now, grove_buf *buf);

#endif
