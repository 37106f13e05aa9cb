/* SPDX-License-Identifier: Apache-2.0 */
/* Is there another operator at work? Asked once, before the first write. */
#ifndef GROVED_RIVAL_H
#define GROVED_RIVAL_H

#include "live.h"

typedef enum rival_verdict { RIVAL_NONE, RIVAL_UNKNOWN, RIVAL_SEEN } rival_verdict;

/* Logs what it saw. UNKNOWN: a look at the Lease is on its way. */
rival_verdict rival_check(live *d);

#endif
