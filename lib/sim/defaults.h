/* SPDX-License-Identifier: Apache-2.0 */
/* What the API server adds to or takes from a new object, as far as Grove's behaviour depends on it. */
#ifndef GV_SIM_DEFAULTS_H
#define GV_SIM_DEFAULTS_H

#include "sim/state.h"

grove_status gv_sim_default_new(grove_sim *sim, gv_kind kind, grove_doc *doc,
                                const grove_node *body, grove_doc **out_doc);

#endif
