/* SPDX-License-Identifier: Apache-2.0 */
/* Strategic merge patch: merge patch that merges some lists by a key instead of replacing them. */
#ifndef GV_SIM_STRATEGIC_H
#define GV_SIM_STRATEGIC_H

#include "model/kinds.h"

/* Built-in kinds only. GROVE_E_TYPE when the patch is no object or a directive is malformed. */
grove_status gv_strategic_patch_apply(grove_env *env, grove_doc *target_doc,
                                      const grove_node *target, grove_doc *patch_doc,
                                      const grove_node *patch, gv_kind kind, grove_doc **out_doc,
                                      grove_error *err);
/* The member by which elements of a list of that name are told apart; NULL: the list is replaced. */
const char *gv_strategic_merge_key(gv_kind kind, const char *list);

#endif
