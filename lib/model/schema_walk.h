/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the schema interpreter share: look-ups in the tables and the report of findings. */
#ifndef GV_MODEL_SCHEMA_WALK_H
#define GV_MODEL_SCHEMA_WALK_H

#include <stdbool.h>

#include "base/codes.h"
#include "base/diag.h"
#include "model/field_path.h"
#include "model/schema.h"
#include "model/schema_table.h"

static inline const gv_schema_type *gv_type_at(uint16_t row) {
    return &gv_schema_types[row];
}
static inline const char *gv_type_text(uint32_t offset) {
    return gv_schema_text + offset;
}
/* NULL for a kind without a schema. */
const gv_schema_root *gv_schema_root_of(gv_kind kind);
/* Index of a struct's field within gv_schema_fields[first_field ...]; -1: unknown. */
int32_t gv_type_find(const gv_schema_type *type, const char *key, size_t len);
/* The field of the struct whose name comes nearest to a misspelt one, `upstream` among Grove's own fields; NULL when
 * none is near. */
const char *gv_type_nearest(const gv_schema_type *type, gv_str wrong, bool upstream);

/* The text of a number as the API server writes it on: integers plain, fractions shortest. */
grove_status gv_number_text(const grove_node *number, grove_buf *out);

/* The key and, for lists of objects, the path step of a member or element. */
static inline gv_path gv_path_member(const gv_path *up, const grove_node *member) {
    size_t n = 0;
    const char *key = grove_node_key(member, &n);
    return gv_path_key(up, key, n);
}

/* A walk that reports. */
typedef struct gv_check {
    const grove_doc *doc; /* gives positions */
    grove_diags *diags;
    grove_buf text; /* scratch */
    uint32_t errors;
    bool blocked;        /* an error keeps CEL from being evaluated */
    bool upstream;       /* by Grove's own resource definitions */
    grove_status status; /* first failure; sticks */
} gv_check;

void gv_check_init(gv_check *c, grove_env *env, const grove_doc *doc, grove_diags *diags);
void gv_check_fini(gv_check *c);
/* An error of a Kubernetes type ("Required", ...) at a path; its position is that of `at`. */
void gv_check_error(gv_check *c, gv_code code, const char *type, const gv_path *path,
                    const grove_node *at, const char *fmt, ...) GROVE_PRINTF(6, 7);
void gv_check_warning(gv_check *c, gv_code code, const gv_path *path, const grove_node *at,
                      const char *fmt, ...) GROVE_PRINTF(5, 6);

/* A value for a message: JSON, cut when long. The text is in `out`. */
typedef struct gv_shown {
    char text[80];
} gv_shown;
gv_shown gv_show(const grove_node *node);
/* "a string", "a list", ... */
const char *gv_node_noun(const grove_node *node);
const char *gv_shape_noun(gv_shape shape);

/* metadata.c: what the API server checks in any object's metadata (grove-api 4.2.1). */
void gv_metadata_check(gv_check *c, const grove_node *metadata, bool namespaced);
/* cel_rules.c: whether a rule holds for a value. */
bool gv_rule_holds(gv_schema_rule_id rule, const grove_node *self, bool create);

#endif
