/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passing over JSON text at the speed of the wire: nothing is kept, and what is accepted is what a document
 * would be made of. The text needs no end mark; nothing at or behind `end` is read.
 */
#ifndef GV_VALUE_JSON_PASS_H
#define GV_VALUE_JSON_PASS_H

#include "base/text.h"

static inline const char *gv_json_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }
    return p;
}

/* p: behind the opening quote. The closing quote; NULL: no text. *out_escaped is set when it holds escapes. */
const char *gv_json_pass_text(const char *p, const char *end, bool *out_escaped);
/* Behind the value that begins at p, containers nested up to `depth` deep; NULL: *out_status says why. */
const char *gv_json_pass(const char *p, const char *end, uint32_t depth, grove_status *out_status);
/* Length of the escape at p, its character in *out; 0: none that is allowed. */
size_t gv_json_escape(const char *p, const char *end, uint32_t *out);

#endif
