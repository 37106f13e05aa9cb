/* SPDX-License-Identifier: Apache-2.0 */
/* Writes field paths. */
#include "model/field_path.h"

/* Depth is bounded by the depth of documents. */
grove_status gv_path_write(const gv_path *path, grove_buf *buf) {
    if (!path) {
        return GROVE_OK;
    }
    grove_status status = gv_path_write(path->up, buf);
    if (status < 0) {
        return status;
    }
    if (!path->key.p) {
        return gv_buf_fmt(buf, "[%u]", (unsigned)path->index);
    }
    if (buf->len > 0 && (status = gv_buf_char(buf, '.')) < 0) {
        return status;
    }
    return gv_buf_str(buf, path->key);
}
