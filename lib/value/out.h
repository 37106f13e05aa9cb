/* SPDX-License-Identifier: Apache-2.0 */
/* Where the JSON writer puts its bytes: into a buffer (the writer sets the final NUL), or only into a hash. */
#ifndef GV_VALUE_OUT_H
#define GV_VALUE_OUT_H

#include "base/hash.h"
#include "base/text.h"

typedef struct gv_out {
    grove_buf *buf; /* NULL: hash */
    uint64_t hash;
} gv_out;

static inline grove_status gv_out_put(gv_out *out, const char *bytes, size_t n) {
    grove_buf *buf = out->buf;
    if (buf && buf->cap - buf->len > n) { /* most pieces are small and fit */
        memcpy(buf->data + buf->len, bytes, n);
        buf->len += n;
        return GROVE_OK;
    }
    if (buf) {
        return grove_buf_append(buf, bytes, n);
    }
    out->hash = gv_fnv1a(out->hash, bytes, n);
    return GROVE_OK;
}
static inline grove_status gv_out_c(gv_out *out, const char *s) {
    return gv_out_put(out, s, strlen(s));
}
static inline grove_status gv_out_char(gv_out *out, char c) {
    return gv_out_put(out, &c, 1);
}

#endif
