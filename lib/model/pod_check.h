/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster admits in a podSpec of a PodCliqueSet or PodClique although no pod can be made of it: the
 * resource definition knows types only, the API server checks the rest when the first pod is created, and
 * by then the set exists and nothing runs. Each finding is a warning.
 */
#ifndef GV_MODEL_POD_CHECK_H
#define GV_MODEL_POD_CHECK_H

#include <grove/doc.h>

#include "base/diag.h"
#include "model/field_path.h"

/* `pod_spec` as stored (well-typed); `path` is its place. */
grove_status gv_pod_check(const grove_doc *doc, const grove_node *pod_spec, const gv_path *path,
                          grove_diags *diags);

#endif
