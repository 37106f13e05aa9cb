/* SPDX-License-Identifier: Apache-2.0 */
/* Paths and queries of resources. */
#include <stdio.h>
#include <string.h>

#include <grove/kinds.h>

#include "backend.h"

/* What may stand in a path as one segment. */
static bool is_segment(const char *text) {
    return text[0] && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 && !strpbrk(text, "/%");
}

static grove_status put_segment(grove_buf *out, const char *text) {
    if (!is_segment(text)) {
        return GROVE_E_INVALID;
    }
    grove_status st = gv_k8s_put(out, "/");
    return st < 0 ? st : gv_k8s_put_escaped(out, text);
}

grove_status gv_k8s_put_path(grove_buf *out, grove_kind kind, const char *ns, const char *name,
                             const char *sub) {
    const char *group = grove_kind_group(kind);
    grove_status st = gv_k8s_putf(out, "%s%s/%s", group[0] ? "/apis/" : "/api", group,
                                  grove_kind_version(kind));
    if (st == GROVE_OK && grove_kind_is_namespaced(kind) && !gv_k8s_empty(ns)) {
        st = gv_k8s_put(out, "/namespaces");
        st = st < 0 ? st : put_segment(out, ns);
    }
    st = st < 0 ? st : gv_k8s_putf(out, "/%s", grove_kind_plural(kind));
    if (st == GROVE_OK && name) {
        st = put_segment(out, name);
    }
    if (st == GROVE_OK && sub) {
        st = gv_k8s_putf(out, "/%s", sub);
    }
    return st;
}

grove_status gv_k8s_put_query(grove_buf *out, const char *key, const char *value) {
    if (gv_k8s_empty(value)) {
        return GROVE_OK;
    }
    const char *mark = out->data && strchr(out->data, '?') ? "&" : "?";
    grove_status st = gv_k8s_putf(out, "%s%s=", mark, key);
    return st < 0 ? st : gv_k8s_put_escaped(out, value);
}

const char *gv_k8s_api_version(grove_kind kind, char out[96]) {
    const char *group = grove_kind_group(kind);
    (void)snprintf(out, 96, "%s%s%s", group, group[0] ? "/" : "", grove_kind_version(kind));
    return out;
}
