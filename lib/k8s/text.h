/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of this backend: pools that die as one (and are wiped), formatted appends, base64, times. */
#ifndef GV_K8S_TEXT_H
#define GV_K8S_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <grove/buf.h>
#include <grove/doc.h>

/* Texts that die together; their memory is overwritten first, for they may be secrets. */
typedef struct gv_k8s_pool {
    grove_env *env;
    struct gv_k8s_block *blocks;
} gv_k8s_pool;

/* A NUL-terminated copy; NULL: out of memory. p NULL with n 0 gives "". */
char *gv_k8s_pool_text(gv_k8s_pool *pool, const char *p, size_t n);
/* The same, of a NUL-terminated text; NULL stays NULL and is no failure. False: out of memory. */
bool gv_k8s_pool_set(gv_k8s_pool *pool, const char **out, const char *text);
void gv_k8s_pool_fini(gv_k8s_pool *pool);

grove_status gv_k8s_put(grove_buf *buf, const char *text);
grove_status gv_k8s_putf(grove_buf *buf, const char *fmt, ...) GROVE_PRINTF(2, 3);
/* Percent-encodes everything but unreserved characters. */
grove_status gv_k8s_put_escaped(grove_buf *buf, const char *text);
/* Overwrites and frees. */
void gv_k8s_wipe(grove_buf *buf);

/* Fills *err; the format is printf's. Returns status. */
grove_status gv_k8s_error(grove_error *err, grove_status status, const char *fmt, ...)
    GROVE_PRINTF(3, 4);
grove_status gv_k8s_nomem(grove_error *err);

/* Appends the bytes of a base64 text (white space allowed). GROVE_E_PARSE when it is none. */
grove_status gv_k8s_base64_decode(const char *text, size_t n, grove_buf *out);
grove_status gv_k8s_base64_encode(const char *bytes, size_t n, grove_buf *out);

/* RFC 3339 to nanoseconds since the epoch; false when it is none. */
bool gv_k8s_time_read(const char *text, int64_t *out_ns);
/* "2026-01-02T03:04:05.123456Z": six digits, as a MicroTime must have. */
void gv_k8s_time_write(int64_t ns, char out[32]);

/* Text of a member, NULL when absent or no string. */
const char *gv_k8s_member(const grove_node *object, const char *key);

/* Whole content of a file. GROVE_E_NOT_FOUND, GROVE_E_IO, GROVE_E_LIMIT beyond 4 MiB. */
grove_status gv_k8s_read_file(const char *path, grove_buf *out, grove_error *err);

static inline bool gv_k8s_empty(const char *text) {
    return !text || !text[0];
}

#endif
