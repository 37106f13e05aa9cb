/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field paths in Grove's form (spec.template.cliques[0].name), kept as a chain of stack frames while a
 * tree is walked and written out only when there is something to report.
 */
#ifndef GV_MODEL_FIELD_PATH_H
#define GV_MODEL_FIELD_PATH_H

#include "base/text.h"

typedef struct gv_path {
    const struct gv_path *up; /* NULL: the root, which writes nothing */
    gv_str key;               /* p NULL: an index */
    uint32_t index;
} gv_path;

static inline gv_path gv_path_key(const gv_path *up, const char *key, size_t len) {
    return (gv_path){up, {key, len}, 0};
}
static inline gv_path gv_path_index(const gv_path *up, uint32_t index) {
    return (gv_path){up, {NULL, 0}, index};
}
/* Appends the text; "" for the root. */
grove_status gv_path_write(const gv_path *path, grove_buf *buf);

#endif
