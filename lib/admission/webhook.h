/* SPDX-License-Identifier: Apache-2.0 */
/* Grove's validating webhook: the groups of rules in a cluster's order. */
#ifndef GV_ADMISSION_WEBHOOK_H
#define GV_ADMISSION_WEBHOOK_H

#include "admission/rules.h"
#include "model/kinds.h"

/*
 * Judges the object `root` of `doc` as stored; `old` is the stored object on update, else NULL. Kinds
 * without a webhook have no findings. *out_errors counts the errors added.
 */
grove_status gv_webhook_validate(grove_env *env, const grove_config *config, gv_kind kind,
                                 grove_doc *doc, const grove_node *root, const grove_node *old,
                                 grove_diags *diags, uint32_t *out_errors);

#endif
