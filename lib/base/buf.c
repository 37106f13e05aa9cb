/* SPDX-License-Identifier: Apache-2.0 */
/* The growing byte buffer; always NUL-terminated once something was appended. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define FIRST_CAPACITY 64

void grove_buf_init(grove_buf *buf, grove_env *env) {
    if (!buf) {
        return;
    }
    *buf = (grove_buf){.env = grove_env_ref(env)};
}

void grove_buf_fini(grove_buf *buf) {
    if (!buf || !buf->env) {
        return;
    }
    gv_free(buf->env, buf->data, (size_t)buf->cap);
    grove_env_unref(buf->env);
    *buf = (grove_buf){0};
}

void grove_buf_clear(grove_buf *buf) {
    if (buf && buf->data) {
        buf->len = 0;
        buf->data[0] = '\0';
    }
}

grove_status grove_buf_reserve(grove_buf *buf, size_t more) {
    if (!buf || !buf->env) {
        return GROVE_E_INVALID;
    }
    size_t len = (size_t)buf->len;
    size_t cap = (size_t)buf->cap;
    if (more > SIZE_MAX / 2 - len) {
        return GROVE_E_NOMEM;
    }
    size_t need = len + more + 1;
    if (need <= cap) {
        return GROVE_OK;
    }
    size_t want = cap + cap / 2 > FIRST_CAPACITY ? cap + cap / 2 : FIRST_CAPACITY;
    want = want > need ? want : need;
    char *data = gv_realloc(buf->env, buf->data, cap, want);
    if (!data) {
        return GROVE_E_NOMEM;
    }
    buf->data = data;
    buf->cap = want;
    buf->data[len] = '\0';
    return GROVE_OK;
}

grove_status grove_buf_append(grove_buf *buf, const char *bytes, size_t n) {
    if (!buf || (!bytes && n > 0)) {
        return GROVE_E_INVALID;
    }
    if (buf->cap - buf->len <= n) { /* also when both are 0 */
        grove_status st = grove_buf_reserve(buf, n);
        if (st < 0) {
            return st;
        }
    }
    if (n > 0) {
        memcpy(buf->data + buf->len, bytes, n);
    }
    buf->len += n;
    buf->data[buf->len] = '\0';
    return GROVE_OK;
}

grove_status gv_buf_char(grove_buf *buf, char c) {
    return grove_buf_append(buf, &c, 1);
}
