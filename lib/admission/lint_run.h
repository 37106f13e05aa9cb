/* SPDX-License-Identifier: Apache-2.0 */
/* The lints as the stages see them; their rules share lint.h. */
#ifndef GV_ADMISSION_LINT_RUN_H
#define GV_ADMISSION_LINT_RUN_H

#include <grove/admission.h>

#include "model/kinds.h"

/* Runs them all. `old`: the stored object of an update, or NULL. Other kinds have no lints. */
grove_status gv_lint_run(gv_kind kind, grove_doc *doc, const grove_node *object,
                         const grove_node *old, const grove_config *config,
                         const grove_lint_options *options, grove_diags *diags);

#endif
