/* SPDX-License-Identifier: Apache-2.0 */
/* What the two readers of label selectors share; users need value/scalar.h only. */
#ifndef GV_VALUE_SELECTOR_H
#define GV_VALUE_SELECTOR_H

#include "base/arena.h"
#include "base/vec.h"
#include "value/scalar.h"

typedef enum gv_selector_op {
    GV_SELECTOR_EQUALS,
    GV_SELECTOR_DOUBLE_EQUALS,
    GV_SELECTOR_NOT_EQUALS,
    GV_SELECTOR_IN,
    GV_SELECTOR_NOT_IN,
    GV_SELECTOR_EXISTS,
    GV_SELECTOR_NOT_EXISTS,
    GV_SELECTOR_GREATER,
    GV_SELECTOR_LESS,
} gv_selector_op;

typedef struct gv_requirement {
    gv_str key;
    gv_selector_op op;
    GV_VEC(gv_str) values;
} gv_requirement;

struct gv_selector {
    grove_env *env;
    gv_arena arena; /* all texts */
    bool nothing;   /* matches no labels at all */
    GV_VEC(gv_requirement) requirements;
};

grove_status gv_selector_new(grove_env *env, gv_selector **out);
bool gv_selector_add(gv_selector *s, gv_requirement *r);
bool gv_selector_copy_text(gv_selector *s, gv_str text, gv_str *out);

#endif
