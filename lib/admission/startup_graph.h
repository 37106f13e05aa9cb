/* SPDX-License-Identifier: Apache-2.0 */
/* The start-order graph of an Explicit set: unknown names and cycles. */
#ifndef GV_ADMISSION_STARTUP_GRAPH_H
#define GV_ADMISSION_STARTUP_GRAPH_H

#include "admission/rules.h"

void gv_rules_startup_graph(gv_rules *r);

#endif
