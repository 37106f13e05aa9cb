/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step 4 of grove-api 0.1: what the API server checks before the validating webhook. Error types and
 * paths are the server's.
 */
#include "base/map.h"
#include "model/schema_walk.h"
#include "model/syntax.h"
#include "value/scalar.h"

static gv_str node_text(const grove_node *node) {
    gv_str s = {NULL, 0};
    s.p = grove_node_textn(node, &s.n);
    return s;
}

/* Written with a point or an exponent the server holds a number as a float64. */
static bool is_float(gv_str text) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.' || text.p[i] == 'e' || text.p[i] == 'E') {
            return true;
        }
    }
    return false;
}

/* A whole number as the server's validator takes it: floats only where they are exact. The width of 32
 * bits is for typed clients; the API server does not enforce it. */
static bool is_whole(const grove_node *node) {
    const int64_t exact = INT64_C(1) << 53;
    int64_t value = 0;
    return grove_node_int64(node, &value) == GROVE_OK &&
           (!is_float(node_text(node)) || (value >= -exact && value < exact));
}

/* ---- scalars ---- */

static bool has_type(gv_shape shape, const grove_node *node) {
    grove_type found = grove_node_type(node);
    int64_t value = 0;
    switch (shape) {
    case GV_SHAPE_STRING:
    case GV_SHAPE_DURATION:
        return found == GROVE_STRING;
    case GV_SHAPE_TIME:
        return found == GROVE_STRING && gv_time_parse(node_text(node), &value, NULL) == GROVE_OK;
    case GV_SHAPE_INT32:
    case GV_SHAPE_INT64:
        return found == GROVE_NUMBER && is_whole(node);
    case GV_SHAPE_NUMBER:
        return found == GROVE_NUMBER;
    case GV_SHAPE_BOOL:
        return found == GROVE_BOOL;
    case GV_SHAPE_QUANTITY:
    case GV_SHAPE_INT_OR_STRING:
        return found == GROVE_STRING || (found == GROVE_NUMBER && is_whole(node));
    case GV_SHAPE_LIST:
        return found == GROVE_ARRAY;
    case GV_SHAPE_ANY:
    case GV_SHAPE_STRUCT:
    case GV_SHAPE_MAP:
        break;
    }
    return found == GROVE_OBJECT;
}

static bool matches(uint16_t pattern, gv_str text) {
    switch ((gv_schema_pattern)pattern) {
    case GV_PATTERN_DOMAIN:
        return gv_syntax_domain_form(text);
    case GV_PATTERN_LEVEL_KEY:
        return gv_syntax_level_key(text);
    case GV_PATTERN_CONDITION_TYPE:
        return gv_syntax_condition_type(text);
    case GV_PATTERN_CONDITION_REASON:
        return gv_syntax_condition_reason(text);
    case GV_PATTERN_QUANTITY:
        return gv_syntax_quantity(text);
    case GV_PATTERN_NONE:
    case GV_PATTERN_COUNT:
        break;
    }
    return true;
}

/* The pattern in words. */
static const char *form_of(uint16_t pattern) {
    switch ((gv_schema_pattern)pattern) {
    case GV_PATTERN_DOMAIN:
        return "a lower-case letter, then lower-case letters, digits and '-'";
    case GV_PATTERN_LEVEL_KEY:
        return "a label key: letters, digits, '-', '_' and '.', one '/' at most";
    case GV_PATTERN_CONDITION_TYPE:
        return "a condition type: an optional DNS prefix with '/', then letters, digits, '-', '_', "
               "'.'";
    case GV_PATTERN_CONDITION_REASON:
        return "a letter, then letters, digits, '_', ',' and ':'";
    case GV_PATTERN_QUANTITY:
    case GV_PATTERN_NONE:
    case GV_PATTERN_COUNT:
        break;
    }
    return "a quantity such as \"500m\" or \"16Gi\"";
}

static int64_t characters(gv_str s) {
    int64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    }
    return n;
}

static void check_enum(gv_check *c, const gv_schema_limit *limit, const grove_node *node,
                       const gv_path *path) {
    char list[256];
    size_t at = 0;
    for (uint16_t i = 0; i < limit->n_enum; i++) {
        const char *value = gv_type_text(gv_schema_enums[limit->first_enum + i]);
        if (grove_node_type(node) == GROVE_STRING && gv_str_is(node_text(node), value)) {
            return;
        }
        at += gv_fmt(list + at, sizeof list - at, "%s%s", i ? ", " : "", value);
    }
    gv_check_error(c, GV_CODE_NOT_SUPPORTED, "NotSupported", path, node, "%s is not one of %s",
                   gv_show(node).text, list);
}

/* The server reports the first of these only. */
static void check_text(gv_check *c, const gv_schema_limit *limit, const grove_node *node,
                       const gv_path *path) {
    gv_str text = node_text(node);
    int64_t n = characters(text);
    if (limit->max_length != GV_NO_LIMIT && n > limit->max_length) {
        gv_check_error(c, GV_CODE_TOO_LONG, "TooLong", path, node,
                       "has %lld characters, at most %d", (long long)n, (int)limit->max_length);
    } else if (limit->min_length != GV_NO_LIMIT && n < limit->min_length) {
        gv_check_error(c, GV_CODE_TOO_SHORT, "Invalid", path, node,
                       n == 0 ? "must not be empty" : "must have at least %d characters",
                       (int)limit->min_length);
    } else if (!matches(limit->pattern, text)) {
        gv_check_error(c, GV_CODE_PATTERN, "Invalid", path, node, "%s is not %s",
                       gv_show(node).text, form_of(limit->pattern));
    }
}

static void check_scalar(gv_check *c, const gv_schema_type *type, const grove_node *node,
                         const gv_path *path) {
    if (type->shape == GV_SHAPE_QUANTITY && grove_node_type(node) == GROVE_STRING &&
        !gv_syntax_quantity(node_text(node))) {
        gv_check_error(c, GV_CODE_PATTERN, "Invalid", path, node,
                       "%s is no quantity such as \"500m\" or \"16Gi\"", gv_show(node).text);
    }
    if (type->limits == 0) {
        return;
    }
    const gv_schema_limit *limit = &gv_schema_limits[type->limits];
    int64_t value = 0;
    if (limit->n_enum > 0) {
        check_enum(c, limit, node, path);
    }
    if (grove_node_type(node) == GROVE_STRING) {
        check_text(c, limit, node, path);
    } else if (limit->minimum != GV_NO_LIMIT && grove_node_int64(node, &value) == GROVE_OK &&
               value < limit->minimum) {
        gv_check_error(c, GV_CODE_BELOW_MINIMUM, "Invalid", path, node, "must be at least %d",
                       (int)limit->minimum);
    }
}

/* ---- list maps and sets ---- */

static const grove_node *key_of(const grove_node *entry, const gv_schema_type *type, uint8_t i) {
    const gv_schema_field *field = &gv_schema_fields[gv_schema_keys[type->first_key + i]];
    return grove_node_getn(entry, gv_type_text(field->name), field->name_len);
}

/* Absent keys are equal to each other. */
static bool same_entry(const gv_schema_type *type, const grove_node *a, const grove_node *b) {
    if (type->list_kind == GV_LIST_SET) {
        return grove_node_equal(a, b) != 0;
    }
    for (uint8_t i = 0; i < type->n_keys; i++) {
        const grove_node *x = key_of(a, type, i), *y = key_of(b, type, i);
        if (x == NULL || y == NULL ? x != y : !grove_node_equal(x, y)) {
            return false;
        }
    }
    return true;
}

static void duplicate(gv_check *c, const gv_schema_type *type, const grove_node *entry,
                      const gv_path *path, uint32_t i) {
    gv_path here = gv_path_index(path, i);
    if (type->list_kind == GV_LIST_SET || type->n_keys == 0) {
        gv_check_error(c, GV_CODE_DUPLICATE, "Duplicate", &here, entry, "%s is given twice",
                       gv_show(entry).text);
        return;
    }
    char keys[256];
    size_t at = 0;
    for (uint8_t k = 0; k < type->n_keys; k++) {
        const gv_schema_field *field = &gv_schema_fields[gv_schema_keys[type->first_key + k]];
        at += gv_fmt(keys + at, sizeof keys - at, "%s%s %s", k ? ", " : "",
                     gv_type_text(field->name), gv_show(key_of(entry, type, k)).text);
    }
    gv_check_error(c, GV_CODE_DUPLICATE, "Duplicate", &here, entry, "%s is given twice", keys);
}

/* The identity of an entry as text, for lists too long to compare each with each. */
static grove_status identity(const gv_schema_type *type, const grove_node *entry, grove_buf *out) {
    grove_buf_clear(out);
    if (type->list_kind == GV_LIST_SET) {
        return grove_node_write_json(entry, GROVE_WRITE_CANONICAL, out, NULL);
    }
    for (uint8_t i = 0; i < type->n_keys; i++) {
        const grove_node *key = key_of(entry, type, i);
        grove_status status = key ? grove_node_write_json(key, GROVE_WRITE_CANONICAL, out, NULL)
                                  : GROVE_OK;
        if (status == GROVE_OK) {
            status = gv_buf_char(out, '\n');
        }
        if (status < 0) {
            return status;
        }
    }
    return GROVE_OK;
}

static void unique_long(gv_check *c, const gv_schema_type *type, const grove_node *list,
                        const gv_path *path) {
    gv_map seen;
    grove_env *env = grove_doc_env(c->doc);
    grove_buf text;
    void *once = &seen, *twice = &text; /* marks, told apart by address */
    uint32_t i = 0;
    gv_map_init(&seen, env);
    grove_buf_init(&text, env);
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m), i++) {
        grove_status status = identity(type, m, &text);
        if (status == GROVE_OK) {
            void *mark = gv_map_get(&seen, gv_buf_view(&text));
            if (mark == once) {
                duplicate(c, type, m, path, i);
            }
            if (mark != twice && !gv_map_put(&seen, gv_buf_view(&text), mark ? twice : once)) {
                status = GROVE_E_NOMEM;
            }
        }
        if (status < 0) {
            c->status = c->status < 0 ? c->status : status;
            break;
        }
    }
    grove_buf_fini(&text);
    gv_map_fini(&seen);
}

/* A list map holds objects (and nulls); something else ends the search for duplicates. */
static bool only_objects(gv_check *c, const grove_node *list, const gv_path *path) {
    uint32_t i = 0;
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m), i++) {
        grove_type found = grove_node_type(m);
        if (found != GROVE_OBJECT && found != GROVE_NULL_NODE) {
            gv_path here = gv_path_index(path, i);
            gv_check_error(c, GV_CODE_TYPE_INVALID, "Invalid", &here, m,
                           "must be an object in a list that has keys");
            return false;
        }
    }
    return true;
}

/* One error for each key that occurs again, at its second place. */
static void check_unique(gv_check *c, const gv_schema_type *type, const grove_node *list,
                         const gv_path *path) {
    if (type->list_kind == GV_LIST_MAP && !only_objects(c, list, path)) {
        return;
    }
    if (grove_node_size(list) > 32) {
        unique_long(c, type, list, path);
        return;
    }
    uint32_t i = 0;
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m), i++) {
        uint32_t before = 0;
        for (const grove_node *b = grove_node_first(list); b != m && before < 2;
             b = grove_node_next(list, b)) {
            before += same_entry(type, b, m) ? 1 : 0;
        }
        if (before == 1) {
            duplicate(c, type, m, path, i);
        }
    }
}

/* ---- structure ---- */

static void check(gv_check *c, uint16_t row, const grove_node *node, const gv_path *path);

static bool lists(const gv_schema_type *type, const grove_node *value) {
    const gv_schema_limit *limit = &gv_schema_limits[type->limits];
    const char *text = grove_node_text(value);
    bool found = false;
    for (uint16_t i = 0; text && i < limit->n_enum; i++) {
        found = found || strcmp(text, gv_type_text(gv_schema_enums[limit->first_enum + i])) == 0;
    }
    return found;
}

/* The type of a field: the wider one of the extended resource definitions for a value that only it lists. */
static uint16_t part_for(const gv_schema_type *type, const gv_schema_field *own,
                         const grove_node *value) {
    for (uint16_t i = 0; i < gv_schema_n_extensions; i++) {
        const gv_schema_field *field = &gv_schema_fields[gv_schema_extensions[i].field];
        if (gv_type_at(gv_schema_extensions[i].type) == type && field->name_len == own->name_len &&
            memcmp(gv_type_text(field->name), gv_type_text(own->name), own->name_len) == 0 &&
            lists(gv_type_at(field->type), value)) {
            return field->type;
        }
    }
    return own->type;
}

static void check_struct(gv_check *c, const gv_schema_type *type, const grove_node *node,
                         const gv_path *path) {
    uint64_t seen = 0;
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_path here = gv_path_member(path, m);
        int32_t i = gv_type_find(type, here.key.p, here.key.n);
        if (i < 0) {
            continue; /* pruned before, in a document of the cluster's form */
        }
        seen |= UINT64_C(1) << i;
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        uint16_t part = c->upstream ? field->type : part_for(type, field, m);
        if (part != GV_TYPE_OBJECTMETA) {
            check(c, part, m, &here);
        }
    }
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        if (field->flags & GV_FIELD_REQUIRED && !(seen >> i & 1)) {
            gv_path here = gv_path_key(path, gv_type_text(field->name), field->name_len);
            gv_check_error(c, GV_CODE_REQUIRED, "Required", &here, node, "%s is missing",
                           gv_type_text(field->name));
        }
    }
}

static void check_list(gv_check *c, const gv_schema_type *type, const grove_node *node,
                       const gv_path *path) {
    uint32_t n = grove_node_size(node), i = 0;
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_path here = gv_path_index(path, i++);
        check(c, type->elem, m, &here);
    }
    const gv_schema_limit *limit = &gv_schema_limits[type->limits];
    if (limit->min_items != GV_NO_LIMIT && (int64_t)n < limit->min_items) {
        gv_check_error(c, GV_CODE_TOO_FEW, "Invalid", path, node, "needs at least %d entries",
                       (int)limit->min_items);
    }
    if (limit->max_items != GV_NO_LIMIT && (int64_t)n > limit->max_items) {
        gv_check_error(c, GV_CODE_TOO_MANY, "TooMany", path, node, "has %u entries, at most %d",
                       (unsigned)n, (int)limit->max_items);
    }
    if (type->list_kind >= GV_LIST_MAP) {
        check_unique(c, type, node, path);
    }
}

static void check(gv_check *c, uint16_t row, const grove_node *node, const gv_path *path) {
    const gv_schema_type *type = gv_type_at(row);
    gv_shape shape = (gv_shape)type->shape;
    if (!has_type(shape, node)) {
        gv_check_error(c, GV_CODE_TYPE_INVALID, "TypeInvalid", path, node, "must be %s, not %s",
                       gv_shape_noun(shape), gv_show(node).text);
        if (gv_schema_limits[type->limits].n_enum > 0) { /* checked whatever the type */
            check_enum(c, &gv_schema_limits[type->limits], node, path);
        }
    } else if (shape == GV_SHAPE_STRUCT) {
        check_struct(c, type, node, path);
    } else if (shape == GV_SHAPE_LIST) {
        check_list(c, type, node, path);
    } else if (shape == GV_SHAPE_MAP) {
        for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
            gv_path here = gv_path_member(path, m);
            check(c, type->elem, m, &here);
        }
    } else if (shape != GV_SHAPE_ANY) {
        check_scalar(c, type, node, path);
    }
}

/* A count of the scale subresource: an int64 of its own, since 1.0 suits the schema and not this. */
static void check_count(gv_check *c, const grove_node *object, const char *section) {
    const grove_node *holder = grove_node_get(object, section);
    const grove_node *replicas = grove_node_get(holder, "replicas");
    const grove_node *at = replicas ? replicas : holder;
    int64_t value = 0;
    if (!holder || (!replicas && grove_node_type(holder) == GROVE_OBJECT)) {
        return;
    }
    if (grove_node_type(replicas) != GROVE_NUMBER || !gv_str_int64(node_text(replicas), &value) ||
        value < 0 || value > INT32_MAX) {
        gv_path root = gv_path_key(NULL, section, strlen(section));
        gv_path here = gv_path_key(&root, "replicas", 8);
        gv_check_error(c, GV_CODE_NEGATIVE_REPLICAS, "Invalid", &here, at,
                       "must be a whole number of at least 0, not %s", gv_show(at).text);
    }
}

/* What the server checks of everything that can be scaled. */
static void check_scale(gv_check *c, const gv_schema_root *root, const grove_node *object) {
    const char *selector = gv_type_text(root->scale_selector) + strlen(".status.");
    const grove_node *status = grove_node_get(object, "status");
    const grove_node *node = grove_node_get(status, selector);
    check_count(c, object, "spec");
    check_count(c, object, "status");
    if (node && grove_node_type(node) != GROVE_STRING) {
        gv_path up = gv_path_key(NULL, "status", 6);
        gv_path here = gv_path_key(&up, selector, strlen(selector));
        gv_check_error(c, GV_CODE_TYPE_INVALID, "Invalid", &here, node, "must be a string");
    }
}

/* ---- CEL ---- */

static gv_code rule_code(gv_schema_rule_id rule) {
    switch (rule) {
    case GV_RULE_PACK_NOT_EMPTY:
        return GV_CODE_PACK_EMPTY;
    case GV_RULE_CONSTRAINT_HAS_PACK:
        return GV_CODE_CONSTRAINT_WITHOUT_PACK;
    case GV_RULE_CONSTRAINT_ONE_REQUIRED:
        return GV_CODE_PACK_DOMAIN_TWICE;
    case GV_RULE_NEW_SET_WITHOUT_PACK_DOMAIN:
    case GV_RULE_NEW_CLIQUES_WITHOUT_PACK_DOMAIN:
    case GV_RULE_NEW_GROUPS_WITHOUT_PACK_DOMAIN:
    case GV_RULE_COUNT:
        break;
    }
    return GV_CODE_PACK_DOMAIN_NEW;
}

/* Where a rule's error is found: the part its path names, or what is there of it. */
static const grove_node *rule_place(const grove_node *self, gv_str path) {
    const grove_node *at = self;
    size_t start = 1;
    for (size_t i = 1; i <= path.n; i++) {
        if (i == path.n || path.p[i] == '.') {
            const grove_node *part = grove_node_getn(at, path.p + start, i - start);
            at = part ? part : at;
            start = i + 1;
        }
    }
    return at;
}

static void apply_rule(gv_check *c, const gv_schema_rule *rule, const grove_node *self, bool create,
                       const gv_path *path) {
    if (gv_rule_holds((gv_schema_rule_id)rule->id, self, create)) {
        return;
    }
    const char *reason = gv_type_text(rule->reason) + strlen("FieldValue"); /* FieldValueRequired */
    gv_str below = gv_str_c(gv_type_text(rule->path));
    gv_path here = gv_path_key(path, below.p + 1, below.n - 1); /* its steps are joined already */
    gv_check_error(c, rule_code((gv_schema_rule_id)rule->id), reason, below.n ? &here : path,
                   rule_place(self, below), "%s", gv_type_text(rule->message));
}

static void check_rules(gv_check *c, uint16_t row, const grove_node *node, bool create,
                        const gv_path *path) {
    const gv_schema_type *type = gv_type_at(row);
    if (!type->rules_below) {
        return;
    }
    for (uint8_t i = 0; i < type->n_rules; i++) {
        apply_rule(c, &gv_schema_rules[type->first_rule + i], node, create, path);
    }
    uint32_t index = 0;
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        if (type->shape == GV_SHAPE_LIST) {
            gv_path here = gv_path_index(path, index++);
            check_rules(c, type->elem, m, create, &here);
            continue;
        }
        gv_path here = gv_path_member(path, m);
        int32_t i = gv_type_find(type, here.key.p, here.key.n);
        if (i >= 0) {
            check_rules(c, gv_schema_fields[type->first_field + i].type, m, create, &here);
        }
    }
}

grove_status gv_schema_validate(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                bool create, bool upstream, grove_diags *diags,
                                uint32_t *out_errors) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    if (!root) {
        return GROVE_E_UNSUPPORTED;
    }
    gv_check c;
    gv_check_init(&c, grove_doc_env(doc), doc, diags);
    c.upstream = upstream;
    gv_metadata_check(&c, grove_node_get(object, "metadata"), gv_kind_get(kind)->namespaced);
    check(&c, root->type, object, NULL);
    if (root->scale_spec) {
        check_scale(&c, root, object);
    }
    if (!c.blocked) {
        check_rules(&c, root->type, object, create, NULL);
    }
    grove_status status = c.status;
    if (status == GROVE_OK) {
        *out_errors = c.errors;
    }
    gv_check_fini(&c);
    return status;
}
