/* SPDX-License-Identifier: Apache-2.0 */
/* The finished plan. */
#ifndef GV_PLAN_RESULT_H
#define GV_PLAN_RESULT_H

#include "plan/work.h"

/* Orders the actions and copies them with the waits into a plan of its own memory. */
grove_status gv_plan_copy(gv_work *w, grove_plan **out);

#endif
