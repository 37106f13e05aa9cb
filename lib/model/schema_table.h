/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Form of the generated schema tables (lib/model/gen/schema_tables.c). Rows refer to each other by index
 * and to texts by offset, so that the tables need no relocation when the library is loaded.
 */
#ifndef GV_MODEL_SCHEMA_TABLE_H
#define GV_MODEL_SCHEMA_TABLE_H

#include <stdint.h>

#include "model/gen/schema_ids.h"

typedef enum gv_shape {
    GV_SHAPE_STRING,
    GV_SHAPE_INT32,
    GV_SHAPE_INT64,
    GV_SHAPE_NUMBER,
    GV_SHAPE_BOOL,
    GV_SHAPE_QUANTITY,
    GV_SHAPE_INT_OR_STRING,
    GV_SHAPE_DURATION,
    GV_SHAPE_TIME,
    GV_SHAPE_ANY, /* an object of any content */
    GV_SHAPE_STRUCT,
    GV_SHAPE_MAP,
    GV_SHAPE_LIST
} gv_shape;

/* How the elements of a list relate. */
typedef enum gv_list_kind { GV_LIST_PLAIN, GV_LIST_ATOMIC, GV_LIST_MAP, GV_LIST_SET } gv_list_kind;

typedef struct gv_schema_type {
    uint8_t shape;        /* gv_shape */
    uint8_t list_kind;    /* gv_list_kind */
    uint8_t empty_list;   /* a typed client writes a missing list as [] and not as null */
    uint8_t n_keys;       /* list map: gv_schema_keys[first_key ...] */
    uint8_t n_rules;      /* gv_schema_rules[first_rule ...] */
    uint8_t rules_below;  /* a rule may apply to a part of the value */
    uint16_t limits;      /* row of gv_schema_limits; 0: none */
    uint16_t elem;        /* type of list elements and map values */
    uint16_t first_field; /* struct: gv_schema_fields[first_field ...], sorted by name */
    uint16_t n_fields;
    uint16_t first_key;
    uint16_t first_rule;
    uint32_t name; /* texts: offsets into gv_schema_text; 0 is the empty text */
    uint32_t doc;
} gv_schema_type;

#define GV_FIELD_REQUIRED 0x1u  /* has to be there */
#define GV_FIELD_WRITTEN 0x2u   /* a typed client writes it even when it is empty */
#define GV_FIELD_EXTENSION 0x4u /* libgrove's own: not in the upstream resource definitions */

typedef struct gv_schema_field {
    uint32_t name;
    uint32_t default_json; /* text of a scalar; 0: none */
    uint32_t doc;
    uint16_t type;
    uint16_t
        pod_values; /* row of gv_schema_limits with the values that a pod takes; 0: any. The resource
                            definitions do not know them: a bad one is found when pods are made. */
    uint8_t name_len;
    uint8_t flags;
} gv_schema_field;

/* A field that is more in the extended resource definitions: it stands in place of the type's own. */
typedef struct gv_schema_extension {
    uint16_t type;  /* row of gv_schema_types */
    uint16_t field; /* row of gv_schema_fields, which no type lists */
} gv_schema_extension;

#define GV_NO_LIMIT INT32_MIN

typedef struct gv_schema_limit {
    int32_t min_length, max_length; /* GV_NO_LIMIT: none */
    int32_t min_items, max_items;
    int32_t minimum;
    uint16_t pattern;            /* gv_schema_pattern */
    uint16_t first_enum, n_enum; /* gv_schema_enums[first_enum ...] */
} gv_schema_limit;

/* A CEL rule: the text is for the CRD, `id` names the predicate that stands for it here. */
typedef struct gv_schema_rule {
    uint16_t id; /* gv_schema_rule_id */
    uint16_t optional_old_self;
    uint32_t rule, message, reason, path;
} gv_schema_rule;

typedef struct gv_schema_column_row {
    uint32_t name, type, json_path;
    int32_t priority;
} gv_schema_column_row;

typedef struct gv_schema_root {
    uint16_t kind; /* gv_kind */
    uint16_t type;
    uint16_t first_column, n_columns;
    uint32_t scale_spec, scale_status, scale_selector; /* 0: no scale subresource */
} gv_schema_root;

extern const gv_schema_type gv_schema_types[];
extern const gv_schema_field gv_schema_fields[];
extern const uint16_t gv_schema_keys[]; /* rows of gv_schema_fields */
extern const gv_schema_limit gv_schema_limits[];
extern const uint32_t gv_schema_enums[];
extern const uint32_t gv_schema_patterns[]; /* text by gv_schema_pattern */
extern const gv_schema_rule gv_schema_rules[];
extern const gv_schema_column_row gv_schema_columns[];
extern const gv_schema_root gv_schema_roots[];
extern const uint16_t gv_schema_n_roots;
extern const gv_schema_extension gv_schema_extensions[]; /* by type, then by name */
extern const uint16_t gv_schema_n_extensions;
extern const char gv_schema_text[];

#endif
