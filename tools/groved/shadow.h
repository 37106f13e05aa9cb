/* SPDX-License-Identifier: Apache-2.0 */
/* --shadow: plans beside another operator, and prints what it would do; no write leaves this process. */
#ifndef GROVED_SHADOW_H
#define GROVED_SHADOW_H

#include "live.h"

struct shadow *shadow_new(live *d);
void shadow_free(struct shadow *s);
void shadow_event(live *d, const grove_event *event);
/* Plans what changed and prints plans that are not empty, each once. Returns how many actions the sets'
 * latest plans hold. */
uint32_t shadow_step(live *d);

#endif
