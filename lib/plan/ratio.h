/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratios between the replicas of two cliques or groups: from the numbers that scalers asked for to those that
 * are planned. The numbers asked for are never written over, so that nobody fights with an autoscaler: what is
 * planned is a function of them alone, and two autoscalers that rest leave it at rest.
 */
#ifndef GV_PLAN_RATIO_H
#define GV_PLAN_RATIO_H

#include "model/view.h"

/* One side of a ratio in one set replica. */
typedef struct gv_ratio_side {
    int64_t asked;
    int64_t least; /* minAvailable: never below */
    int64_t most;  /* maxReplicas of its autoscaler; INT64_MAX: none */
} gv_ratio_side;

/* What became of it: each side's planned number lies between its bounds. */
typedef struct gv_ratio_result {
    int64_t numerator, denominator;
    bool broken; /* the numbers asked for are out of the ratio */
    bool kept;   /* those planned are within it */
} gv_ratio_result;

/*
 * Follow: the numerator is moved into the range that the denominator gives. Clamp: whoever has more than the
 * other allows is taken back, nobody is scaled out. Warn: as asked.
 */
gv_ratio_result gv_ratio_apply(const gv_ratio *ratio, gv_ratio_side numerator,
                               gv_ratio_side denominator);

#endif
