/* SPDX-License-Identifier: Apache-2.0 */
/* The framer: one pass over each byte, whatever the cuts. */
#include "framer.h"

#include <string.h>

void gv_k8s_framer_init(gv_k8s_framer *f, grove_env *env) {
    *f = (gv_k8s_framer){0};
    grove_buf_init(&f->bytes, env);
}

void gv_k8s_framer_fini(gv_k8s_framer *f) {
    grove_buf_fini(&f->bytes);
}

void gv_k8s_framer_reset(gv_k8s_framer *f) {
    grove_buf keep = f->bytes;
    grove_buf_clear(&keep);
    *f = (gv_k8s_framer){.bytes = keep};
}

/* Moves what is left to the front once it is the smaller part. */
static void compact(gv_k8s_framer *f) {
    size_t len = (size_t)f->bytes.len;
    if (f->start == 0 || f->start < len - f->start) {
        return;
    }
    memmove(f->bytes.data, f->bytes.data + f->start, len - f->start);
    f->bytes.len = len - f->start;
    f->at -= f->start;
    f->start = 0;
}

grove_status gv_k8s_framer_add(gv_k8s_framer *f, const char *bytes, size_t n) {
    compact(f);
    return grove_buf_append(&f->bytes, bytes, n);
}

/* One byte inside a document; true when it ends it. */
static bool step(gv_k8s_framer *f, char c) {
    if (f->in_string) {
        if (f->escaped) {
            f->escaped = false;
        } else if (c == '\\') {
            f->escaped = true;
        } else {
            f->in_string = c != '"';
        }
        return false;
    }
    switch (c) {
    case '"':
        f->in_string = true;
        return false;
    case '{':
    case '[':
        f->depth++;
        return false;
    case '}':
    case ']':
        return --f->depth == 0;
    default:
        return false;
    }
}

bool gv_k8s_framer_next(gv_k8s_framer *f, const char **out_text, size_t *out_len) {
    const char *p = f->bytes.data;
    size_t len = (size_t)f->bytes.len;
    if (f->depth == 0) {
        f->start = f->at; /* what was handed out last is done with */
    }
    while (f->at < len && !f->broken) {
        char c = p[f->at++];
        if (f->depth == 0) { /* between documents */
            if (c == '{') {
                f->start = f->at - 1;
                f->depth = 1;
            } else if (c != '\n' && c != '\r' && c != ' ' && c != '\t') {
                f->broken = true;
            }
        } else if (step(f, c)) {
            *out_text = p + f->start;
            *out_len = f->at - f->start;
            return true;
        }
    }
    f->broken = f->broken || (f->depth > 0 && f->at - f->start > GV_K8S_DOCUMENT_LIMIT);
    return false;
}
