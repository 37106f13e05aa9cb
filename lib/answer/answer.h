/* SPDX-License-Identifier: Apache-2.0 */
/* What the answers share: refusing a request with its place, beginning and ending a document. */
#ifndef GV_ANSWER_ANSWER_H
#define GV_ANSWER_ANSWER_H

#include <grove/answer.h>

#include "base/arena.h"
#include "value/doc.h"

/* GROVE_E_INVALID with the path of the request and the node's line and column. */
grove_status gv_answer_refuse(grove_error *err, const grove_doc *doc, const grove_node *at,
                              const char *path, const char *message);
/* An open object with apiVersion and kind. */
grove_status gv_answer_begin(grove_env *env, const char *kind, grove_builder **out_b,
                             grove_error *err);
/* Closes and finishes; frees the builder in any case. A negative `status` is passed on. */
grove_status gv_answer_end(grove_builder *b, grove_status status, grove_doc **out_answer,
                           grove_error *err);
/* Calls `take` for the object, for each item of a List, or each element of an array. */
grove_status gv_answer_objects(const grove_node *root,
                               grove_status (*take)(void *ctx, const grove_node *object),
                               void *ctx);

#endif
