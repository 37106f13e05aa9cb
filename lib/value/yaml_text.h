/* SPDX-License-Identifier: Apache-2.0 */
/* Rare forms of YAML scalars: tagged binary and time, float keys. For the files of value only. */
#ifndef GV_VALUE_YAML_TEXT_H
#define GV_VALUE_YAML_TEXT_H

#include <grove/buf.h>

#include "base/text.h"

/* Decodes !!binary into scratch. GROVE_E_PARSE with *out_why when it is no base64 or its bytes no UTF-8. */
grove_status gv_yaml_base64(gv_str text, grove_buf *scratch, gv_str *out, const char **out_why);
/* The forms of !!timestamp that the Go reader takes. */
bool gv_yaml_is_timestamp(gv_str text);
/* A decimal integer within int64. */
static inline bool gv_yaml_is_int64(gv_str text) {
    int64_t ignored = 0;
    return gv_str_int64(text, &ignored);
}
/* A JSON number as a key: Go's shortest float32 text ("1.5", "1e+06", ".inf" when too large). */
grove_status gv_yaml_float_key(gv_str number, grove_buf *scratch, gv_str *out);

#endif
