/* SPDX-License-Identifier: Apache-2.0 */
/* What the answers share. */
#include "answer/answer.h"

#include "base/mem.h"

grove_status gv_answer_refuse(grove_error *err, const grove_doc *doc, const grove_node *at,
                              const char *path, const char *message) {
    uint32_t line = 0, column = 0;
    if (at) {
        grove_node_position(doc, at, &line, &column);
    }
    return gv_error_at(err, GROVE_E_INVALID, line, column, path, "%s", message);
}

grove_status gv_answer_begin(grove_env *env, const char *kind, grove_builder **out_b,
                             grove_error *err) {
    grove_status st = grove_builder_new(env, out_b);
    if (st < 0) {
        return gv_error_nomem(err);
    }
    grove_builder_open_object(*out_b, NULL);
    grove_builder_string(*out_b, "apiVersion", "libgrove.io/v1alpha1");
    grove_builder_string(*out_b, "kind", kind);
    return GROVE_OK;
}

grove_status gv_answer_end(grove_builder *b, grove_status status, grove_doc **out_answer,
                           grove_error *err) {
    if (status == GROVE_OK) {
        grove_builder_close(b);
        status = grove_builder_finish(b, out_answer, err);
    }
    grove_builder_free(b);
    return status;
}

grove_status gv_answer_objects(const grove_node *root,
                               grove_status (*take)(void *ctx, const grove_node *object),
                               void *ctx) {
    const grove_node *items = grove_node_get(root, "items");
    const grove_node *many = grove_node_type(root) == GROVE_ARRAY ? root : items;
    if (!many) {
        return take(ctx, root);
    }
    grove_status st = GROVE_OK;
    GV_EACH(object, many) {
        st = st < 0 ? st : take(ctx, object);
    }
    return st;
}
