/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is a piece of a larger text. */
#ifndef GV_VALUE_JSON_AT_H
#define GV_VALUE_JSON_AT_H

#include <grove/doc.h>

/* grove_doc_parse_json for a piece that begins at line:column of its text; places are those in the text. */
grove_status gv_json_parse_at(grove_env *env, const char *text, size_t len, uint32_t flags,
                              uint32_t line, uint32_t column, grove_doc **out_doc,
                              grove_error *err);

#endif
