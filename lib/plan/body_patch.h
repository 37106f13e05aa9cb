/* SPDX-License-Identifier: Apache-2.0 */
/* The patch that makes a live object what it should be. */
#ifndef GV_PLAN_BODY_PATCH_H
#define GV_PLAN_BODY_PATCH_H

#include "plan/work.h"

/* True, and the merge patch in the builder, when something of ours differs; else the builder is untouched. */
bool gv_body_patch(gv_work *w, const gv_object *o, grove_doc *want_doc);
/* The same of the labels alone that say where the object belongs. */
bool gv_identity_patch(gv_work *w, const gv_object *o, const grove_doc *want_doc);

#endif
