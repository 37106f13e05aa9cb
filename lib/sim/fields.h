/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of field paths, as managedFields keep them: who owns which part of an object.
 *
 * A set is a tree of path steps in an arena. Functions that return bool are out of memory when false.
 */
#ifndef GV_SIM_FIELDS_H
#define GV_SIM_FIELDS_H

#include <stdbool.h>

#include "base/arena.h"
#include "model/kinds.h"

typedef struct gv_fields {
    gv_str step;                    /* f:spec, k:{"name":"a"}, v:"x"; "" at the root */
    bool member;                    /* the path up to here is in the set */
    struct gv_fields *first, *next; /* children by step */
} gv_fields;

/* The child of that step; NULL: there is none. */
const gv_fields *gv_fields_get(const gv_fields *set, gv_str step);
/* The same, made when there is none; NULL: no memory. The step is copied. */
gv_fields *gv_fields_child(gv_arena *a, gv_fields *set, gv_str step);
bool gv_fields_any(const gv_fields *set);
bool gv_fields_same(const gv_fields *a, const gv_fields *b);

bool gv_fields_add(gv_arena *a, gv_fields *into, const gv_fields *from); /* union */
void gv_fields_drop(gv_fields *set, const gv_fields *what);              /* difference */
/* Difference, in which a container counts as soon as anything in it does. */
void gv_fields_release(gv_fields *set, const gv_fields *what);
/* What is in both. */
bool gv_fields_meet(gv_arena *a, const gv_fields *one, const gv_fields *other, gv_fields *out);

/* FieldsV1 in and out. */
bool gv_fields_read(gv_arena *a, const grove_node *node, gv_fields *out);
void gv_fields_write(grove_builder *b, const char *key, const gv_fields *set);
/* ".spec.containers[name=\"a\"].image" of a step, appended. */
grove_status gv_fields_put_step(gv_str step, grove_buf *path);

/* ---- sets of objects: how a value's parts are told apart follows from its type ---- */

/* All that an applier claims by this configuration. */
bool gv_fields_of(gv_arena *a, gv_kind kind, const grove_node *object, gv_fields *out);
/* What is new or different in `next` (was NULL: all of it), and what is no longer there. */
bool gv_fields_compare(gv_arena *a, gv_kind kind, const grove_node *was, const grove_node *next,
                       gv_fields *changed, gv_fields *removed);
/* `config` laid over `live`, appended to b as one value. */
void gv_fields_merge(grove_builder *b, gv_kind kind, const grove_node *live,
                     const grove_node *config);
/* `object` without the fields of a set, and without what it empties, appended to b as one value. */
grove_status gv_fields_prune(grove_env *env, grove_builder *b, gv_kind kind,
                             const grove_node *object, const gv_fields *without);

#endif
