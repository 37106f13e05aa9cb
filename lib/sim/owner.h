/* SPDX-License-Identifier: Apache-2.0 */
/* The garbage collector: what happens to the objects of owners that go. */
#ifndef GV_SIM_OWNER_H
#define GV_SIM_OWNER_H

#include "sim/state.h"

#define GV_SIM_FINALIZER_FOREGROUND "foregroundDeletion"
#define GV_SIM_FINALIZER_ORPHAN "orphan"

/* Looks at an object that changed or went; may delete others, which then come into the queue. */
grove_status gv_sim_collect(grove_sim *sim, gv_sim_object *o);
/* Namespaces that are being deleted lose their objects, then go. */
grove_status gv_sim_collect_namespace(grove_sim *sim, gv_sim_object *ns);

#endif
