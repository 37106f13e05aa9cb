/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extractor against the document path: the first byte chooses pods or nodes; what a document of the text
 * says the record says, and both refuse the same texts.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "model/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool says(const grove_node *root, const char *key, const char *word) {
    const grove_node *n = grove_node_get(root, key);
    const char *text = grove_node_type(n) == GROVE_STRING ? grove_node_text(n) : NULL;
    return n == NULL || (text && strcmp(text, word) == 0);
}

/* True when *out holds what the document says; *out_other: it does not know what it is, an item of a list does. */
static bool by_document(grove_env *env, grove_kind kind, const char *text, size_t len,
                        grove_buf *out, bool *out_other) {
    grove_doc *doc = NULL;
    gv_pod_facts pod = {0};
    gv_node_facts node = {0};
    bool is_pod = kind == GROVE_KIND_POD;
    *out_other = false;
    if (grove_doc_parse_json(env, text, len, 0, &doc, NULL) < 0) {
        return false;
    }
    const grove_node *root = grove_doc_root(doc);
    bool ok = says(root, "kind", is_pod ? "Pod" : "Node") && says(root, "apiVersion", "v1");
    *out_other = ok && (!grove_node_get(root, "kind") || !grove_node_get(root, "apiVersion"));
    if (ok && !*out_other && is_pod) {
        ok = gv_pod_read(env, root, &pod, NULL) == GROVE_OK &&
             gv_pod_facts_write(env, &pod, out) == GROVE_OK;
    } else if (ok && !*out_other) {
        ok = gv_node_read(env, root, &node, NULL) == GROVE_OK &&
             gv_node_facts_write(env, &node, out) == GROVE_OK;
    }
    gv_pod_facts_fini(env, &pod);
    gv_node_facts_fini(env, &node);
    grove_doc_unref(doc);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_extract *x = NULL;
    if (size < 1) {
        return 0;
    }
    if (grove_env_new(NULL, &env) < 0 || grove_extract_new(env, &x) < 0) {
        abort();
    }
    grove_kind kind = data[0] % 2 == 0 ? GROVE_KIND_POD : GROVE_KIND_NODE;
    const char *text = (const char *)data + 1;
    grove_buf a, b;
    bool other = false;
    grove_buf_init(&a, env);
    grove_buf_init(&b, env);
    bool document = by_document(env, kind, text, size - 1, &a, &other);
    bool record = grove_extract_read(x, kind, text, size - 1, NULL) == GROVE_OK;
    if (!other && document != record) {
        abort();
    }
    if (record && !other &&
        (grove_extract_write(x, &b) < 0 || a.len != b.len ||
         memcmp(a.data, b.data, (size_t)a.len) != 0)) {
        abort();
    }
    grove_buf_fini(&a);
    grove_buf_fini(&b);
    grove_extract_free(x);
    grove_env_unref(env);
    return 0;
}
