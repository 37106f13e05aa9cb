/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cannot be read: unknown fields, and values that the API server or the webhook's typed structure
 * cannot take in (grove-api 0.1, steps 1 and 3). Nulls are no fault here: as a member null is absent, as
 * an entry it is the zero value.
 */
#include "model/schema_walk.h"
#include "value/scalar.h"

typedef struct decoder {
    gv_check check;
    grove_field_validation fields;
    bool upstream; /* libgrove's own fields are unknown ones */
    uint32_t n_unknown;
    bool typed; /* below: values are decoded, not only field names */
} decoder;

#define MAX_ADVICE 100

static void decode(decoder *d, uint16_t row, const grove_node *node, const gv_path *path);

static void unknown(decoder *d, const gv_schema_type *type, const grove_node *member,
                    const gv_path *path) {
    if (d->fields == GROVE_FIELDS_IGNORE) {
        return;
    }
    /* comparing names is dear: a document of a million unknown fields gets no advice on each */
    const char *near = d->n_unknown++ < MAX_ADVICE ? gv_type_nearest(type, path->key, d->upstream)
                                                   : NULL;
    const char *fmt = near ? "unknown field, did you mean \"%s\"?" : "unknown field%s";
    if (d->fields == GROVE_FIELDS_WARN) {
        gv_check_warning(&d->check, GV_CODE_UNKNOWN_FIELD, path, member, fmt, near ? near : "");
    } else {
        gv_check_error(&d->check, GV_CODE_UNKNOWN_FIELD, "Forbidden", path, member, fmt,
                       near ? near : "");
    }
}

/* Below a value of the wrong type nothing is known: pruning finds every member of its objects. */
static void all_unknown(decoder *d, const grove_node *node, const gv_path *path) {
    static const gv_schema_type empty = {.shape = GV_SHAPE_STRUCT};
    uint32_t i = 0;
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        if (grove_node_type(node) == GROVE_OBJECT) {
            gv_path here = gv_path_member(path, m);
            unknown(d, &empty, m, &here);
        } else {
            gv_path here = gv_path_index(path, i++);
            all_unknown(d, m, &here);
        }
    }
}

static void mismatch(decoder *d, gv_shape shape, const grove_node *node, const gv_path *path) {
    if (d->typed) {
        gv_check_error(&d->check, GV_CODE_UNDECODABLE, "TypeInvalid", path, node,
                       "must be %s, not %s", gv_shape_noun(shape), gv_node_noun(node));
    } else {
        all_unknown(d, node, path);
    }
}

static bool is_extension(const gv_schema_type *type, int32_t field) {
    return gv_schema_fields[type->first_field + field].flags & GV_FIELD_EXTENSION;
}

static void decode_struct(decoder *d, uint16_t row, const grove_node *node, const gv_path *path) {
    const gv_schema_type *type = gv_type_at(row);
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_path here = gv_path_member(path, m);
        int32_t field = gv_type_find(type, here.key.p, here.key.n);
        if (field < 0) {
            unknown(d, type, m, &here);
        } else if (d->upstream && is_extension(type, field)) {
            gv_check_error(&d->check, GV_CODE_UNKNOWN_FIELD, "Forbidden", &here, m,
                           "unknown field: Grove does not have it, it is an extension of libgrove");
        } else if (grove_node_type(m) != GROVE_NULL_NODE) {
            uint16_t part = gv_schema_fields[type->first_field + field].type;
            bool outer = d->typed;
            d->typed = outer || part == GV_TYPE_OBJECTMETA; /* always read by the API server */
            decode(d, part, m, &here);
            d->typed = outer;
        }
    }
}

static void decode_list(decoder *d, const gv_schema_type *type, const grove_node *node,
                        const gv_path *path) {
    uint32_t i = 0;
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_path here = gv_path_index(path, i++);
        if (grove_node_type(m) != GROVE_NULL_NODE) {
            decode(d, type->elem, m, &here);
        } else if (d->typed && type->elem == GV_TYPE_PODCLIQUETEMPLATESPEC) {
            gv_check_error(&d->check, GV_CODE_NULL_CLIQUE, "TypeInvalid", path, m,
                           "entry %u is empty", (unsigned)i - 1);
        }
    }
}

static void decode_integer(decoder *d, gv_shape shape, const grove_node *node,
                           const gv_path *path) {
    int64_t value = 0;
    grove_status status = grove_node_int64(node, &value);
    bool fits = status == GROVE_OK &&
                (shape != GV_SHAPE_INT32 || (value >= INT32_MIN && value <= INT32_MAX));
    if (!fits) {
        gv_check_error(&d->check, GV_CODE_UNDECODABLE_RANGE, "TypeInvalid", path, node,
                       "must be a whole number of %d bits, not %s",
                       shape == GV_SHAPE_INT64 ? 64 : 32, gv_show(node).text);
    }
}

static bool quantity_readable(const grove_node *node) {
    gv_str text = {NULL, 0};
    text.p = grove_node_textn(node, &text.n);
    while (text.n > 0 && text.p[0] == ' ') {
        text = (gv_str){text.p + 1, text.n - 1};
    }
    while (text.n > 0 && text.p[text.n - 1] == ' ') {
        text.n--;
    }
    grove_quantity q;
    grove_status status = grove_quantity_parse(text.p, text.n, &q, NULL);
    return status == GROVE_OK || status == GROVE_E_RANGE; /* the real one has no upper limit */
}

/* Texts that are read as something. */
static void decode_text(decoder *d, gv_shape shape, const grove_node *node, const gv_path *path) {
    gv_str text = {NULL, 0};
    text.p = grove_node_textn(node, &text.n);
    int64_t ns = 0;
    if (shape == GV_SHAPE_DURATION && gv_duration_parse(text, &ns, NULL) < 0) {
        gv_check_error(&d->check, GV_CODE_UNDECODABLE_DURATION, "TypeInvalid", path, node,
                       "%s is no duration such as \"4h\" or \"1m30s\"", gv_show(node).text);
    } else if (shape == GV_SHAPE_TIME && gv_time_parse(text, &ns, NULL) < 0) {
        gv_check_error(&d->check, GV_CODE_UNDECODABLE_TIME, "TypeInvalid", path, node,
                       "%s is no time such as \"2026-01-31T12:00:00Z\"", gv_show(node).text);
    } else if (shape == GV_SHAPE_QUANTITY && !quantity_readable(node)) {
        gv_check_error(&d->check, GV_CODE_UNDECODABLE_QUANTITY, "TypeInvalid", path, node,
                       "%s is no quantity such as \"500m\" or \"16Gi\"", gv_show(node).text);
    }
}

static void decode_scalar(decoder *d, gv_shape shape, const grove_node *node, const gv_path *path) {
    grove_type found = grove_node_type(node);
    switch (shape) {
    case GV_SHAPE_INT32:
    case GV_SHAPE_INT64:
    case GV_SHAPE_INT_OR_STRING:
        if (found == GROVE_NUMBER) {
            decode_integer(d, shape == GV_SHAPE_INT64 ? shape : GV_SHAPE_INT32, node, path);
        } else if (shape != GV_SHAPE_INT_OR_STRING || found != GROVE_STRING) {
            mismatch(d, shape, node, path);
        }
        return;
    case GV_SHAPE_NUMBER:
        if (found != GROVE_NUMBER) {
            mismatch(d, shape, node, path);
        }
        return;
    case GV_SHAPE_BOOL:
        if (found != GROVE_BOOL) {
            mismatch(d, shape, node, path);
        }
        return;
    default:
        if (found == GROVE_STRING || (shape == GV_SHAPE_QUANTITY && found == GROVE_NUMBER)) {
            decode_text(d, shape, node, path);
        } else {
            mismatch(d, shape, node, path);
        }
    }
}

static void decode(decoder *d, uint16_t row, const grove_node *node, const gv_path *path) {
    const gv_schema_type *type = gv_type_at(row);
    gv_shape shape = (gv_shape)type->shape;
    grove_type found = grove_node_type(node);
    if (shape == GV_SHAPE_ANY) {
        return; /* taken as it is */
    }
    if (shape == GV_SHAPE_STRUCT && found == GROVE_OBJECT) {
        decode_struct(d, row, node, path);
    } else if (shape == GV_SHAPE_LIST && found == GROVE_ARRAY) {
        decode_list(d, type, node, path);
    } else if (shape == GV_SHAPE_MAP && found == GROVE_OBJECT) {
        for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
            if (grove_node_type(m) != GROVE_NULL_NODE) {
                gv_path here = gv_path_member(path, m);
                decode(d, type->elem, m, &here);
            }
        }
    } else if (shape >= GV_SHAPE_STRUCT) {
        mismatch(d, shape, node, path);
    } else if (d->typed) {
        decode_scalar(d, shape, node, path);
    } else {
        all_unknown(d, node, path);
    }
}

grove_status gv_schema_decode_check(gv_kind kind, const grove_doc *doc, const grove_node *object,
                                    grove_field_validation fields, uint32_t flags,
                                    grove_diags *diags, uint32_t *out_errors) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    if (!root) {
        return GROVE_E_UNSUPPORTED;
    }
    decoder d = {.fields = fields,
                 .upstream = flags & GV_SCHEMA_UPSTREAM,
                 .typed = flags & GV_SCHEMA_WEBHOOKS && kind == GV_KIND_PODCLIQUESET};
    gv_check_init(&d.check, grove_doc_env(doc), doc, diags);
    if (grove_node_type(object) == GROVE_OBJECT) {
        decode(&d, root->type, object, NULL);
    } else {
        gv_check_error(&d.check, GV_CODE_UNDECODABLE, "TypeInvalid", NULL, object,
                       "must be an object, not %s", gv_node_noun(object));
    }
    grove_status status = d.check.status;
    if (status == GROVE_OK) {
        *out_errors = d.check.errors;
    }
    gv_check_fini(&d.check);
    return status;
}
