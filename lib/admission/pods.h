/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about pods that a set asks for and that no API server makes. */
#ifndef GV_ADMISSION_PODS_H
#define GV_ADMISSION_PODS_H

#include "base/diag.h"
#include "model/kinds.h"

/* `object` as stored, past the schema stage; kinds without a podSpec have no warnings. */
grove_status gv_admission_pod_warnings(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                       grove_diags *diags);

#endif
