/* SPDX-License-Identifier: Apache-2.0 */
/* The hook through which somebody else judges writes. */
#ifndef GV_SIM_ADMIT_H
#define GV_SIM_ADMIT_H

#include "sim/call.h"

/* Shows *doc (the object as it would be stored; call->obj is the old one) to the hook; replaces the
 * reference when the hook changed it, refuses when it said no. */
grove_status gv_sim_admit(gv_sim_call *c, grove_verb verb, grove_doc **doc);

grove_status gv_sim_ensure_namespace(grove_sim *sim, gv_str name);

#endif
