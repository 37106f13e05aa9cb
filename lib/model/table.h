/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of a `kubectl get` table, kind by kind; table.c lays them out. */
#ifndef GV_MODEL_TABLE_H
#define GV_MODEL_TABLE_H

#include <stdbool.h>

#include <grove/kinds.h>

#include "base/text.h"

typedef struct gv_column {
    const char *title;
    int32_t priority; /* 0: always shown */
    /* Appends the object's cell; `arg` is the column's own. */
    grove_status (*cell)(const grove_node *object, const char *arg, int64_t now_ns, grove_buf *out);
    const char *arg;
    const char *type; /* "integer": a number or nothing; "date": an age; NULL: a string */
} gv_column;

/* Column i of a kind, wide ones included; false past the end. */
bool gv_table_column(grove_kind kind, uint32_t i, gv_column *out);

/* Column i of a kind that has no resource definition of its own here (pods, nodes, ...); NULL past the
 * end. The name is no column, except of events. */
const gv_column *gv_table_builtin_column(grove_kind kind, uint32_t i);
/* "5s", "2m30s", "3h", "4d2h": how long ago, as kubectl says it. */
grove_status gv_table_age(int64_t created_ns, int64_t now_ns, grove_buf *out);
/* The age of metadata.creationTimestamp. */
grove_status gv_cell_age(const grove_node *object, const char *arg, int64_t now_ns, grove_buf *out);
/* A value by the JSONPath of a printer column: members, [*] and [?(@.x=="y")]. */
grove_status gv_cell_path(const grove_node *object, const char *arg, int64_t now_ns,
                          grove_buf *out);

#endif
