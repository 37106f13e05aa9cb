/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of older releases, for the stages; the rest is grove_migrate. */
#ifndef GV_ADMISSION_MIGRATE_H
#define GV_ADMISSION_MIGRATE_H

#include <grove/doc.h>

/* Today's name of the object's kind, where an older release called it otherwise; NULL: it has none. */
const char *gv_migrate_kind(const grove_node *object);

#endif
