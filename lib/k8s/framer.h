/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a stream of bytes into JSON documents, however the bytes arrive: by depth of brackets outside of
 * strings, so that neither line breaks inside a document nor their absence between two matter.
 */
#ifndef GV_K8S_FRAMER_H
#define GV_K8S_FRAMER_H

#include <stdbool.h>

#include <grove/buf.h>

typedef struct gv_k8s_framer {
    grove_buf bytes;  /* what is not yet taken */
    size_t start, at; /* of the document in work; scanned so far */
    uint32_t depth;
    bool in_string, escaped, broken;
} gv_k8s_framer;

#define GV_K8S_DOCUMENT_LIMIT (UINT64_C(8) << 20)

void gv_k8s_framer_init(gv_k8s_framer *f, grove_env *env);
void gv_k8s_framer_fini(gv_k8s_framer *f);
/* Forgets everything. */
void gv_k8s_framer_reset(gv_k8s_framer *f);
grove_status gv_k8s_framer_add(gv_k8s_framer *f, const char *bytes, size_t n);
/*
 * The next whole document, borrowed until the next call. False: more bytes are needed, or (f->broken) what
 * came is no sequence of JSON objects, or one is too large.
 */
bool gv_k8s_framer_next(gv_k8s_framer *f, const char **out_text, size_t *out_len);

#endif
