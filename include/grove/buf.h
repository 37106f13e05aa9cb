/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/buf.h - a growing byte buffer that the caller owns and the library writes into.
 *
 *     grove_buf out;
 *     grove_buf_init(&out, env);
 *     if (grove_doc_write_json(doc, 0, &out, &err) == 0) fwrite(out.data, 1, (size_t)out.len, stdout);
 *     grove_buf_fini(&out);
 *
 * `data` is always NUL-terminated after a successful append (the NUL is not counted in len). Functions
 * that write append; call grove_buf_clear to start over and keep the memory. One thread at a time.
 */
#ifndef GROVE_BUF_H
#define GROVE_BUF_H

#include <grove/env.h>

GROVE_BEGIN_DECLS

/** Caller-owned buffer; read `data` and `len`, leave the rest alone. Since 0.1. */
typedef struct grove_buf {
    char *data;     /**< NULL while nothing was appended */
    uint64_t len;   /**< bytes in use */
    uint64_t cap;   /**< bytes reserved */
    grove_env *env; /**< referenced from init to fini */
} grove_buf;

GROVE_API void grove_buf_init(grove_buf *buf, grove_env *env);
GROVE_API void grove_buf_fini(grove_buf *buf);
GROVE_API void grove_buf_clear(grove_buf *buf);
GROVE_API grove_status grove_buf_reserve(grove_buf *buf, size_t more);
GROVE_API grove_status grove_buf_append(grove_buf *buf, const char *bytes, size_t n);

GROVE_END_DECLS
#endif
