/* SPDX-License-Identifier: Apache-2.0 */
/* Writes CustomResourceDefinitions from the schema tables. */
#include "base/mem.h"
#include "model/schema_walk.h"

static void text(grove_builder *b, const char *key, const char *value) {
    grove_builder_string(b, key, value);
}

typedef struct writer {
    grove_builder *b;
    bool extended; /* with libgrove's own fields */
} writer;

static void schema(const writer *w, const char *key, uint16_t row, const gv_schema_field *field);

static void default_value(grove_builder *b, const char *json) {
    size_t n = strlen(json);
    if (json[0] == '"') {
        grove_builder_stringn(b, "default", json + 1, n - 2);
    } else if (json[0] == 't' || json[0] == 'f') {
        grove_builder_bool(b, "default", json[0] == 't');
    } else {
        grove_builder_number(b, "default", json, n);
    }
}

static void limit(grove_builder *b, const char *key, int32_t value) {
    if (value != GV_NO_LIMIT) {
        grove_builder_int64(b, key, value);
    }
}

static void limits(grove_builder *b, const gv_schema_type *type) {
    const gv_schema_limit *l = &gv_schema_limits[type->limits];
    if (l->n_enum > 0) {
        grove_builder_open_array(b, "enum");
        for (uint16_t i = 0; i < l->n_enum; i++) {
            text(b, NULL, gv_type_text(gv_schema_enums[l->first_enum + i]));
        }
        grove_builder_close(b);
    }
    limit(b, "minLength", l->min_length);
    limit(b, "maxLength", l->max_length);
    limit(b, "minItems", l->min_items);
    limit(b, "maxItems", l->max_items);
    limit(b, "minimum", l->minimum);
    if (l->pattern != GV_PATTERN_NONE) {
        text(b, "pattern", gv_type_text(gv_schema_patterns[l->pattern]));
    }
}

static void int_or_string(grove_builder *b, bool quantity) {
    static const char *const types[] = {"integer", "string"};
    grove_builder_open_array(b, "anyOf");
    for (size_t i = 0; i < 2; i++) {
        grove_builder_open_object(b, NULL);
        text(b, "type", types[i]);
        grove_builder_close(b);
    }
    grove_builder_close(b);
    if (quantity) {
        text(b, "pattern", gv_type_text(gv_schema_patterns[GV_PATTERN_QUANTITY]));
    }
    grove_builder_bool(b, "x-kubernetes-int-or-string", 1);
}

#define MAX_FIELDS 80 /* 64 of a type, and what extends it */

/* The fields of a struct by name; in the extended set a wider one replaces the field it is named after. */
static uint16_t gather(const writer *w, uint16_t row, const gv_schema_field **out) {
    const gv_schema_type *type = gv_type_at(row);
    uint16_t n = 0;
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        if (w->extended || !(field->flags & GV_FIELD_EXTENSION)) {
            out[n++] = field;
        }
    }
    for (uint16_t i = 0; w->extended && i < gv_schema_n_extensions && n < MAX_FIELDS; i++) {
        const gv_schema_field *field = &gv_schema_fields[gv_schema_extensions[i].field];
        uint16_t at = 0;
        if (gv_schema_extensions[i].type != row) {
            continue;
        }
        while (at < n && strcmp(gv_type_text(out[at]->name), gv_type_text(field->name)) < 0) {
            at++;
        }
        if (at == n || strcmp(gv_type_text(out[at]->name), gv_type_text(field->name)) != 0) {
            memmove(out + at + 1, out + at, (size_t)(n - at) * sizeof *out);
            n++;
        }
        out[at] = field;
    }
    return n;
}

static void structure(const writer *w, uint16_t row) {
    const gv_schema_field *fields[MAX_FIELDS];
    grove_builder *b = w->b;
    uint16_t required = 0, n = gather(w, row, fields);
    text(b, "type", "object");
    if (n > 0) {
        grove_builder_open_object(b, "properties");
        for (uint16_t i = 0; i < n; i++) {
            schema(w, gv_type_text(fields[i]->name), fields[i]->type, fields[i]);
            required = (uint16_t)(required + (fields[i]->flags & GV_FIELD_REQUIRED));
        }
        grove_builder_close(b);
    }
    if (required > 0) {
        grove_builder_open_array(b, "required");
        for (uint16_t i = 0; i < n; i++) {
            if (fields[i]->flags & GV_FIELD_REQUIRED) {
                text(b, NULL, gv_type_text(fields[i]->name));
            }
        }
        grove_builder_close(b);
    }
}

static void list(const writer *w, const gv_schema_type *type) {
    grove_builder *b = w->b;
    static const char *const kinds[] = {
        [GV_LIST_ATOMIC] = "atomic", [GV_LIST_MAP] = "map", [GV_LIST_SET] = "set"};
    text(b, "type", "array");
    schema(w, "items", type->elem, NULL);
    if (type->list_kind == GV_LIST_PLAIN) {
        return;
    }
    if (type->list_kind == GV_LIST_MAP) {
        grove_builder_open_array(b, "x-kubernetes-list-map-keys");
        for (uint8_t i = 0; i < type->n_keys; i++) {
            text(b, NULL, gv_type_text(gv_schema_fields[gv_schema_keys[type->first_key + i]].name));
        }
        grove_builder_close(b);
    }
    text(b, "x-kubernetes-list-type", kinds[type->list_kind]);
}

static void rules(grove_builder *b, const gv_schema_type *type) {
    if (type->n_rules == 0) {
        return;
    }
    grove_builder_open_array(b, "x-kubernetes-validations");
    for (uint8_t i = 0; i < type->n_rules; i++) {
        const gv_schema_rule *rule = &gv_schema_rules[type->first_rule + i];
        grove_builder_open_object(b, NULL);
        text(b, "rule", gv_type_text(rule->rule));
        text(b, "message", gv_type_text(rule->message));
        text(b, "reason", gv_type_text(rule->reason));
        if (rule->path) {
            text(b, "fieldPath", gv_type_text(rule->path));
        }
        if (rule->optional_old_self) {
            grove_builder_bool(b, "optionalOldSelf", 1);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void scalar(grove_builder *b, gv_shape shape) {
    switch (shape) {
    case GV_SHAPE_INT32:
    case GV_SHAPE_INT64:
        text(b, "type", "integer");
        text(b, "format", shape == GV_SHAPE_INT32 ? "int32" : "int64");
        break;
    case GV_SHAPE_NUMBER:
        text(b, "type", "number");
        break;
    case GV_SHAPE_BOOL:
        text(b, "type", "boolean");
        break;
    case GV_SHAPE_TIME:
        text(b, "type", "string");
        text(b, "format", "date-time");
        break;
    case GV_SHAPE_ANY:
        text(b, "type", "object");
        grove_builder_bool(b, "x-kubernetes-preserve-unknown-fields", 1);
        break;
    default:
        text(b, "type", "string");
    }
}

static void schema(const writer *w, const char *key, uint16_t row, const gv_schema_field *field) {
    grove_builder *b = w->b;
    const gv_schema_type *type = gv_type_at(row);
    gv_shape shape = (gv_shape)type->shape;
    uint32_t doc = field && field->doc ? field->doc : type->doc;
    grove_builder_open_object(b, key);
    if (doc) {
        text(b, "description", gv_type_text(doc));
    }
    if (row == GV_TYPE_OBJECTMETA) {
        text(b, "type", "object"); /* the API server knows it */
    } else if (shape == GV_SHAPE_STRUCT) {
        structure(w, row);
    } else if (shape == GV_SHAPE_MAP) {
        text(b, "type", "object");
        schema(w, "additionalProperties", type->elem, NULL);
    } else if (shape == GV_SHAPE_LIST) {
        list(w, type);
    } else if (shape == GV_SHAPE_QUANTITY || shape == GV_SHAPE_INT_OR_STRING) {
        int_or_string(b, shape == GV_SHAPE_QUANTITY);
    } else {
        scalar(b, shape);
    }
    limits(b, type);
    if (field && field->default_json) {
        default_value(b, gv_type_text(field->default_json));
    }
    rules(b, type);
    grove_builder_close(b);
}

static void names(grove_builder *b, const gv_kind_info *info) {
    char list_kind[96];
    gv_fmt(list_kind, sizeof list_kind, "%sList", info->name);
    grove_builder_open_object(b, "names");
    text(b, "kind", info->name);
    text(b, "listKind", list_kind);
    text(b, "plural", info->plural);
    grove_builder_open_array(b, "shortNames");
    text(b, NULL, info->short_names);
    grove_builder_close(b);
    text(b, "singular", info->singular);
    grove_builder_close(b);
}

static void columns(grove_builder *b, gv_kind kind) {
    gv_schema_column column;
    grove_builder_open_array(b, "additionalPrinterColumns");
    for (uint32_t i = 0; gv_schema_column_at(kind, i, &column); i++) {
        grove_builder_open_object(b, NULL);
        text(b, "jsonPath", column.json_path);
        text(b, "name", column.name);
        if (column.priority != 0) {
            grove_builder_int64(b, "priority", column.priority);
        }
        text(b, "type", column.type);
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void subresources(grove_builder *b, const gv_schema_root *root) {
    grove_builder_open_object(b, "subresources");
    if (root->scale_spec) {
        grove_builder_open_object(b, "scale");
        text(b, "labelSelectorPath", gv_type_text(root->scale_selector));
        text(b, "specReplicasPath", gv_type_text(root->scale_spec));
        text(b, "statusReplicasPath", gv_type_text(root->scale_status));
        grove_builder_close(b);
    }
    grove_builder_open_object(b, "status");
    grove_builder_close(b);
    grove_builder_close(b);
}

static void definition(const writer *w, const gv_schema_root *root, const gv_kind_info *info) {
    grove_builder *b = w->b;
    char name[160];
    gv_fmt(name, sizeof name, "%s.%s", info->plural, info->group);
    grove_builder_open_object(b, NULL);
    text(b, "apiVersion", "apiextensions.k8s.io/v1");
    text(b, "kind", "CustomResourceDefinition");
    grove_builder_open_object(b, "metadata");
    text(b, "name", name);
    grove_builder_close(b);
    grove_builder_open_object(b, "spec");
    text(b, "group", info->group);
    names(b, info);
    text(b, "scope", info->namespaced ? "Namespaced" : "Cluster");
    grove_builder_open_array(b, "versions");
    grove_builder_open_object(b, NULL);
    columns(b, info->kind);
    text(b, "name", info->version);
    grove_builder_open_object(b, "schema");
    schema(w, "openAPIV3Schema", root->type, NULL);
    grove_builder_close(b);
    grove_builder_bool(b, "served", 1);
    grove_builder_bool(b, "storage", 1);
    subresources(b, root);
    for (int i = 0; i < 4; i++) {
        grove_builder_close(b); /* version, versions, spec, root */
    }
}

grove_status gv_schema_crd(grove_env *env, gv_kind kind, bool extended, grove_doc **out_crd,
                           grove_error *err) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    writer w = {NULL, extended};
    if (!root) {
        return gv_error(err, GROVE_E_NOT_FOUND, "no resource definition for this kind");
    }
    if (grove_builder_new(env, &w.b) < 0) {
        return gv_error_nomem(err);
    }
    definition(&w, root, gv_kind_get(kind));
    grove_status status = grove_builder_finish(w.b, out_crd, err);
    grove_builder_free(w.b);
    return status;
}

grove_status grove_crd_write(grove_env *env, const char *kind, uint32_t set, grove_buf *buf,
                             grove_error *err) {
    gv_str word = gv_str_c(kind);
    grove_doc *crd = NULL;
    if (set != GROVE_CRD_UPSTREAM && set != GROVE_CRD_EXTENDED) {
        return gv_error(err, GROVE_E_INVALID, "no such set of resource definitions");
    }
    grove_status status = gv_schema_crd(env, gv_kind_by_word(word), set == GROVE_CRD_EXTENDED, &crd,
                                        err);
    if (status == GROVE_OK) {
        status = grove_node_write_yaml(grove_doc_root(crd), 0, buf, err);
    }
    grove_doc_unref(crd);
    return status;
}
