/* SPDX-License-Identifier: Apache-2.0 */
/* An operation that outlives the call that brought it: texts copied, documents pinned. */
#ifndef GV_BACKEND_OPCOPY_H
#define GV_BACKEND_OPCOPY_H

#include <grove/sys/backend.h>

typedef struct gv_op_copy {
    grove_op op;
    grove_env *env; /* borrowed */
    char *text;     /* what op's texts point into */
    size_t text_len;
} gv_op_copy;

/* Checks size, token and verb (GROVE_E_INVALID, GROVE_E_TOO_NEW), then copies. */
grove_status gv_op_copy_make(grove_env *env, const grove_op *op, gv_op_copy **out_copy,
                             grove_error *err);
void gv_op_copy_free(gv_op_copy *copy);

#endif
