/* SPDX-License-Identifier: Apache-2.0 */
/* Adding to a list of findings; the public side is <grove/diag.h>. */
#ifndef GV_BASE_DIAG_H
#define GV_BASE_DIAG_H

#include <stdbool.h>

#include <grove/diag.h>

#include "base/text.h"

/* Adds one finding (texts are copied). Identical findings (all of code, path, message) are kept once.
 * False when out of memory. */
bool gv_diag_add(grove_diags *diags, grove_severity severity, uint32_t code, const char *type,
                 gv_str path, uint32_t line, uint32_t column, const char *fmt, ...)
    GROVE_PRINTF(8, 9);

#endif
