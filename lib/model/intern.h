/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that many records share, kept once and counted. Pointers are equal exactly when texts are. */
#ifndef GV_MODEL_INTERN_H
#define GV_MODEL_INTERN_H

#include <stdbool.h>

#include "base/ptable.h"
#include "base/text.h"

typedef struct gv_intern {
    grove_env *env; /* borrowed */
    gv_ptable table;
    size_t bytes;
} gv_intern;

void gv_intern_init(gv_intern *pool, grove_env *env);
void gv_intern_fini(gv_intern *pool); /* whatever is still held is freed */
/* One more reference; NULL when out of memory. The empty text costs nothing. */
const char *gv_intern_take(gv_intern *pool, gv_str text);
const char *gv_intern_again(const char *text); /* a further reference to a text already taken */
void gv_intern_give(gv_intern *pool, const char *text); /* NULL: nothing */
/* The text if some record holds it, else NULL; takes no reference. */
const char *gv_intern_find(const gv_intern *pool, gv_str text);
size_t gv_intern_len(const char *text);

#endif
