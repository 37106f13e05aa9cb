/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grove's webhooks on any bytes. Oracle: an answer is an AdmissionReview that reads back, with the uid of
 * the request and a verdict; nothing else comes out when there is no answer.
 */
#include <stdlib.h>
#include <string.h>

#include <grove/admission.h>

static void require(int holds) {
    if (!holds) {
        abort();
    }
}

static void check_answer(grove_env *env, const grove_buf *out, const char *bytes, size_t len) {
    grove_doc *doc = NULL, *asked = NULL;
    require(grove_doc_parse_json(env, out->data, (size_t)out->len, GROVE_PARSE_STRICT, &doc,
                                 NULL) == GROVE_OK);
    const grove_node *root = grove_doc_root(doc);
    const char *kind = grove_node_text(grove_node_get(root, "kind"));
    require(kind && strcmp(kind, "AdmissionReview") == 0);
    const grove_node *response = grove_node_get(root, "response");
    require(grove_node_type(grove_node_get(response, "allowed")) == GROVE_BOOL);
    require(grove_doc_parse_json(env, bytes, len, 0, &asked, NULL) == GROVE_OK);
    const grove_node *uid = grove_node_at_path(grove_doc_root(asked), "/request/uid");
    require(grove_node_equal(uid, grove_node_get(response, "uid")));
    grove_doc_unref(asked);
    grove_doc_unref(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const paths[] = {"/webhooks/default-podcliqueset",
                                        "/webhooks/validate-podcliqueset",
                                        "/webhooks/validate-clustertopology", "/elsewhere"};
    grove_env *env = NULL;
    grove_config *config = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return 0;
    }
    require(grove_config_new(env, &config) == GROVE_OK);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        grove_buf out;
        grove_buf_init(&out, env);
        grove_status status = grove_admission_review(env, config, paths[i], (const char *)data,
                                                     size, &out, NULL);
        if (status == GROVE_OK) {
            check_answer(env, &out, (const char *)data, size);
        } else {
            require(out.len == 0);
        }
        grove_buf_fini(&out);
    }
    grove_config_unref(config);
    grove_env_unref(env);
    return 0;
}
