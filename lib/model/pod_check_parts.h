/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files behind pod_check.h. */
#ifndef GV_MODEL_POD_CHECK_PARTS_H
#define GV_MODEL_POD_CHECK_PARTS_H

#include "model/schema_walk.h"
#include "value/doc.h"

/* containers and initContainers of a podSpec. */
void gv_pod_check_containers(gv_check *c, const grove_node *pod, const gv_path *path);

#endif
