/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An independent judge of an embedded cluster's state, from its objects alone: every set whole, every pod
 * Ready, every required pack constraint kept, no node over its capacity. It shares no code with the
 * engine that placed the pods.
 */
#ifndef GROVECTL_VERDICT_H
#define GROVECTL_VERDICT_H

#include <grove/sys/sim.h>

typedef struct verdict {
    unsigned sets, gangs, pods, constraints; /* looked at */
    unsigned problems;                       /* each printed to standard error */
} verdict;

grove_status verdict_judge(grove_sim *sim, const char *gpu, verdict *out, grove_error *err);

#endif
