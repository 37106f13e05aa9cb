/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches: the input is two JSON texts, split at the first line break. A made patch leads from the first
 * to the second; the second taken as a patch of either kind never changes the first.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "value/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef grove_status (*patch_fn)(grove_doc *, const grove_node *, grove_doc *, const grove_node *,
                                 grove_doc **, grove_error *);

static void expect(bool law) {
    if (!law) {
        abort();
    }
}

static void check_law(grove_doc *a, grove_doc *b, patch_fn make, patch_fn apply, bool always) {
    grove_doc *patch = NULL;
    grove_doc *result = NULL;
    const grove_status st = make(a, grove_doc_root(a), b, grove_doc_root(b), &patch, NULL);
    if (st == GROVE_OK) {
        expect(apply(a, grove_doc_root(a), patch, grove_doc_root(patch), &result, NULL) ==
               GROVE_OK);
        expect(grove_node_equal(grove_doc_root(result), grove_doc_root(b)) == 1);
    } else {
        expect(!always && st == GROVE_E_UNSUPPORTED);
    }
    grove_doc_unref(patch);
    grove_doc_unref(result);
}

static void check_use(grove_doc *a, grove_doc *b, patch_fn apply) {
    uint64_t before = 0;
    uint64_t after = 1;
    grove_doc *result = NULL;
    grove_buf out;
    grove_node_hash(grove_doc_root(a), &before, NULL);
    const grove_status st = apply(a, grove_doc_root(a), b, grove_doc_root(b), &result, NULL);
    expect((st == GROVE_OK) == (result != NULL));
    grove_node_hash(grove_doc_root(a), &after, NULL);
    expect(before == after);
    grove_buf_init(&out, grove_doc_env(a));
    if (result) {
        expect(grove_node_write_json(grove_doc_root(result), 0, &out, NULL) == GROVE_OK);
    }
    grove_buf_fini(&out);
    grove_doc_unref(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_doc *a = NULL;
    grove_doc *b = NULL;
    const char *text = (const char *)data;
    const char *split = size > 0 ? memchr(text, '\n', size) : NULL;
    expect(grove_env_new(NULL, &env) == GROVE_OK);
    if (split && grove_doc_parse_json(env, text, (size_t)(split - text), 0, &a, NULL) == GROVE_OK &&
        grove_doc_parse_json(env, split + 1, size - (size_t)(split + 1 - text), 0, &b, NULL) ==
            GROVE_OK) {
        check_law(a, b, grove_merge_patch_make, grove_merge_patch_apply, false);
        check_law(a, b, grove_json_patch_make, grove_json_patch_apply, true);
        check_use(a, b, grove_merge_patch_apply);
        check_use(a, b, grove_json_patch_apply);
    }
    grove_doc_unref(a);
    grove_doc_unref(b);
    grove_env_unref(env);
    return 0;
}
