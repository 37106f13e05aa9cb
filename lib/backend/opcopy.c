/* SPDX-License-Identifier: Apache-2.0 */
/* Copying an operation into one block. */
#include "backend/opcopy.h"

#include <string.h>

#include "base/mem.h"

/* The members of an operation that are texts. */
static const size_t texts[] = {
    offsetof(grove_op, ns),
    offsetof(grove_op, name),
    offsetof(grove_op, uid),
    offsetof(grove_op, resource_version),
    offsetof(grove_op, target),
    offsetof(grove_op, manager),
    offsetof(grove_op, reason),
    offsetof(grove_op, label_selector),
    offsetof(grove_op, field_selector),
    offsetof(grove_op, position),
};
#define N_TEXTS (sizeof texts / sizeof *texts)

static const char **text_at(grove_op *op, size_t i) {
    return (const char **)(void *)((char *)op + texts[i]);
}

static size_t texts_len(grove_op *op) {
    size_t n = 0;
    for (size_t i = 0; i < N_TEXTS; i++) {
        const char *s = *text_at(op, i);
        n += s ? strlen(s) + 1 : 0;
    }
    return n;
}

static void copy_texts(gv_op_copy *copy) {
    char *at = copy->text;
    for (size_t i = 0; i < N_TEXTS; i++) {
        const char **s = text_at(&copy->op, i);
        if (*s) {
            size_t n = strlen(*s) + 1;
            memcpy(at, *s, n);
            *s = at;
            at += n;
        }
    }
}

grove_status gv_op_copy_make(grove_env *env, const grove_op *op, gv_op_copy **out_copy,
                             grove_error *err) {
    grove_op in = {0};
    grove_status st = gv_struct_in(&in, sizeof in, op, op->size, offsetof(grove_op, ns));
    if (st < 0) {
        return gv_error(err, st, "grove_op has an unknown size");
    }
    if (in.token == 0 || in.verb <= GROVE_VERB_NONE || in.verb >= GROVE_VERB_COUNT) {
        return gv_error(err, GROVE_E_INVALID, "an operation needs a token and a known verb");
    }
    gv_op_copy *copy = gv_zalloc(env, sizeof *copy);
    if (!copy) {
        return gv_error_nomem(err);
    }
    copy->op = in;
    copy->env = env;
    copy->text_len = texts_len(&copy->op);
    copy->text = gv_alloc(env, copy->text_len);
    if (!copy->text) {
        gv_free(env, copy, sizeof *copy);
        return gv_error_nomem(err);
    }
    copy_texts(copy);
    if (copy->op.body_doc) {
        (void)grove_doc_ref(copy->op.body_doc);
    }
    *out_copy = copy;
    return GROVE_OK;
}

void gv_op_copy_free(gv_op_copy *copy) {
    if (copy) {
        grove_doc_unref(copy->op.body_doc);
        gv_free(copy->env, copy->text, copy->text_len);
        gv_free(copy->env, copy, sizeof *copy);
    }
}
