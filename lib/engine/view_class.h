/* SPDX-License-Identifier: Apache-2.0 */
/* A pod spec as a class of the placement engine: requests and everything that chooses nodes. */
#ifndef GV_ENGINE_VIEW_CLASS_H
#define GV_ENGINE_VIEW_CLASS_H

#include "engine/view_sched.h"

grove_status gv_view_class(gv_view *v, const grove_node *pod_spec, uint32_t *out_class,
                           grove_error *err);
/* Amounts by resource index, in the scratch; *out_n of them. `asked`: requests, else capacities. */
grove_status gv_view_amounts(gv_view *v, const gv_request *list, uint32_t n, bool asked,
                             int64_t **out, uint32_t *out_n);

#endif
