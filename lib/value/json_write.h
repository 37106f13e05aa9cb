/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the JSON writer that others use. */
#ifndef GV_VALUE_JSON_WRITE_H
#define GV_VALUE_JSON_WRITE_H

#include "value/out.h"

/* Appends s as a JSON string, quotes included. */
grove_status gv_json_write_string(gv_str s, gv_out *out);

#endif
