/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of grovectl rollout share. Functions that return an int return an exit code. */
#ifndef GROVECTL_ROLLOUT_H
#define GROVECTL_ROLLOUT_H

#include "io.h"
#include "live.h"

typedef struct rollout_request {
    grove_env *env;
    const char *verb, *set, *cluster_path, *ns;
    int64_t revision;   /* of --revision or --to-revision; 0: not given */
    const char *number; /* which of the two; NULL: none */
    int json;
    live_access access;
    io_objects objects;
} rollout_request;

/* In the namespace that was asked for. */
int rollout_is_in(const rollout_request *q, const grove_node *object);
int64_t rollout_number_at(const grove_node *object, const char *pointer, int64_t otherwise);

/* rollout_history.c */
int rollout_history(const rollout_request *q, const io_object *set);
int rollout_diff(const rollout_request *q, const io_object *set);
int rollout_undo(const rollout_request *q, const io_object *set);

/* rollout_write.c: a merge patch of the set, sent to the running cluster or applied to the file's set, which is
 * printed. `done` is what the line about it ends with. */
int rollout_write(const rollout_request *q, const io_object *set, grove_doc *patch,
                  const char *done);

#endif
