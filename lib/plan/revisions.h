/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a set's templates, for the steps beside the one that keeps it. */
#ifndef GV_PLAN_REVISIONS_H
#define GV_PLAN_REVISIONS_H

#include "plan/work.h"

/* A ControllerRevision without a controller: the set of its name takes it over. */
bool gv_revision_is_free(const gv_object *o);

#endif
