/* SPDX-License-Identifier: Apache-2.0 */
/* How the YAML writer puts one string: plain, quoted, or as a block. For the files of value only. */
#ifndef GV_VALUE_YAML_STYLE_H
#define GV_VALUE_YAML_STYLE_H

#include <grove/buf.h>

#include "base/text.h"

/* Appends a string on one line: plain where every reader takes it for that string, else quoted. */
grove_status gv_yaml_put_line(gv_str text, grove_buf *scratch, grove_buf *out);
/* True for texts of several lines that a literal block (|) holds exactly. */
bool gv_yaml_fits_block(gv_str text);
/* Appends "|" and the lines, indented by `indent` columns; the last line's break is left to the caller. */
grove_status gv_yaml_put_block(gv_str text, size_t indent, grove_buf *out);
/* Appends blanks. */
grove_status gv_yaml_put_blanks(size_t n, grove_buf *out);

#endif
