/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling a set replica by pairs of its roles: see pairs.c and coherent.h. */
#ifndef GV_PLAN_PAIRS_H
#define GV_PLAN_PAIRS_H

#include "plan/work.h"

/* Once all progress is read and opened: takes what goes next, and closes what is through. */
grove_status gv_roll_pairs(gv_work *w);

/* Another replica whose turn it should rather be: its index; -1: none. */
grove_status gv_pairs_yield(gv_work *w, int64_t *out_index);

/* How far it is, in numbers; only while w->pairs.active. */
gv_str gv_pairs_text(gv_work *w);

/* Whether the plan leaves what the floor asks for, whatever order its deletions come in. */
grove_status gv_pairs_kept(gv_work *w, bool *out);

#endif
