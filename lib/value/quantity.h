/* SPDX-License-Identifier: Apache-2.0 */
/* Beside <grove/quantity.h>: what Kubernetes writes back for a quantity's text. */
#ifndef GV_VALUE_QUANTITY_H
#define GV_VALUE_QUANTITY_H

#include <grove/quantity.h>

#include "base/text.h"

/* Appends the text that a Go program stores after reading this one. Mostly it is the canonical text; but
 * a text that looks canonical to Go ("1.250", "+1", "1e6") comes back as it was. */
grove_status gv_quantity_rewrite(gv_str text, grove_buf *buf, grove_error *err);

#endif
