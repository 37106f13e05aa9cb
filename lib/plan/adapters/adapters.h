/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapters share among themselves. */
#ifndef GV_PLAN_ADAPTERS_H
#define GV_PLAN_ADAPTERS_H

#include "plan/adapters/adapter.h"
#include "plan/body.h"

const gv_adapter *gv_adapter_kai(void);
const gv_adapter *gv_adapter_volcano(void);

void gv_mark(gv_pair *list, uint32_t *n, gv_str key, gv_str value);
/* Sum of minReplicas over the gang's PodGroups. */
int64_t gv_gang_minimum(const gv_want *w, uint32_t gang);
/* apiVersion, kind and metadata of an object that carries the gang's name and belongs to it. */
void gv_open_gang_object(const gv_want *w, uint32_t gang, gv_kind kind, gv_str owner_uid,
                         gv_pairs *labels, gv_pairs *annotations, grove_builder *b);

#endif
