/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an object anew as a cluster would store it: unknown fields pruned, nulls dropped, constant
 * defaults filled in and, where the webhook rewrites the object, what its typed structure adds.
 *
 * All steps of grove-api 0.1 (prune, default, webhook, default again) are done in one pass from the
 * submitted object: a default never depends on what a later step adds, and the webhook's rules read
 * submitted values only.
 */
#include "base/mem.h"
#include "model/schema_emit.h"
#include "value/doc.h"

static void emit_default(gv_emitter *e, gv_str key, const char *json, const grove_node *parent) {
    gv_str text = gv_str_c(json);
    grove_builder_position(e->out, parent, 1);
    if (json[0] == '"') { /* defaults hold no escapes: the generator checks it */
        gv_build_string(e->out, key, (gv_str){json + 1, text.n - 2});
    } else {
        bool boolean = json[0] == 't' || json[0] == 'f';
        gv_build_scalar(e->out, key, boolean ? GROVE_BOOL : GROVE_NUMBER, text);
    }
}

static void emit_edit(gv_emitter *e, const gv_schema_edit *edit, const grove_node *parent) {
    grove_builder_position(e->out, parent, 1);
    if (edit->text) {
        grove_builder_string(e->out, edit->member, edit->text);
    } else if (edit->scalar) {
        grove_builder_copy(e->out, edit->member, edit->scalar);
    } else if (edit->true_member) {
        grove_builder_open_object(e->out, edit->member);
        grove_builder_bool(e->out, edit->true_member, 1);
        grove_builder_close(e->out);
    } else {
        grove_builder_int64(e->out, edit->member, edit->number);
    }
}

typedef struct edit_list {
    gv_schema_edit edits[GV_MAX_EDITS];
    uint32_t n;
} edit_list;

static const gv_schema_edit *edit_of(const edit_list *list, gv_str member) {
    for (uint32_t i = 0; i < list->n; i++) {
        if (gv_str_is(member, list->edits[i].member)) {
            return &list->edits[i];
        }
    }
    return NULL;
}

/* The members that were submitted, each with its bit in *seen. */
static void emit_given(gv_emitter *e, const gv_schema_type *type, const grove_node *node,
                       const edit_list *edits, uint64_t *seen) {
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_str key = gv_node_key(m);
        int32_t i = gv_type_find(type, key.p, key.n);
        if (i < 0 || grove_node_type(m) == GROVE_NULL_NODE) {
            continue;
        }
        *seen |= UINT64_C(1) << i;
        const gv_schema_edit *edit = edit_of(edits, key);
        if (edit) {
            emit_edit(e, edit, node);
        } else {
            gv_emit_value(e, key, gv_schema_fields[type->first_field + i].type, m, node);
        }
    }
}

/* The members that were not: edits, defaults, and what a typed structure always writes. */
static void emit_missing(gv_emitter *e, const gv_schema_type *type, const grove_node *at,
                         const edit_list *edits, uint64_t seen) {
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        if (seen >> i & 1) {
            continue;
        }
        gv_str name = {gv_type_text(field->name), field->name_len};
        const gv_schema_edit *edit = edit_of(edits, name);
        if (edit) {
            emit_edit(e, edit, at);
        } else if (field->default_json) {
            emit_default(e, name, gv_type_text(field->default_json), at);
        } else if (e->typed && field->flags & GV_FIELD_WRITTEN) {
            gv_emit_zero(e, name, field->type, at);
        }
    }
}

static void emit_struct(gv_emitter *e, gv_str key, uint16_t row, const grove_node *node,
                        const grove_node *parent) {
    const gv_schema_type *type = gv_type_at(row);
    const grove_node *at = node ? node : parent;
    edit_list edits = {.n = 0};
    if (e->typed && e->edits && !e->metadata) {
        edits.n = e->edits->edit(e->edits->ctx, (gv_schema_type_id)row, parent, node, edits.edits,
                                 GV_MAX_EDITS);
    }
    uint64_t seen = 0;
    grove_builder_position(e->out, at, node == NULL);
    gv_build_open(e->out, key, GROVE_OBJECT);
    emit_given(e, type, node, &edits, &seen);
    emit_missing(e, type, at, &edits, seen);
    grove_builder_close(e->out);
}

static void emit_list(gv_emitter *e, gv_str key, const gv_schema_type *type,
                      const grove_node *node) {
    grove_builder_position(e->out, node, 0);
    gv_build_open(e->out, key, GROVE_ARRAY);
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        bool empty = grove_node_type(m) == GROVE_NULL_NODE;
        if (empty && e->typed) {
            gv_emit_zero(e, GV_NO_KEY, type->elem, node);
        } else if (empty) {
            grove_builder_position(e->out, m, 0);
            gv_build_scalar(e->out, GV_NO_KEY, GROVE_NULL_NODE, GV_STR(""));
        } else {
            gv_emit_value(e, GV_NO_KEY, type->elem, m, node);
        }
    }
    grove_builder_close(e->out);
}

static void emit_map(gv_emitter *e, gv_str key, const gv_schema_type *type,
                     const grove_node *node) {
    grove_builder_position(e->out, node, 0);
    gv_build_open(e->out, key, GROVE_OBJECT);
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        if (grove_node_type(m) != GROVE_NULL_NODE) {
            gv_emit_value(e, gv_node_key(m), type->elem, m, node);
        } else if (e->metadata) {
            gv_emit_zero(e, gv_node_key(m), type->elem, node);
        }
    }
    grove_builder_close(e->out);
}

void gv_emit_value(gv_emitter *e, gv_str key, uint16_t row, const grove_node *node,
                   const grove_node *parent) {
    const gv_schema_type *type = gv_type_at(row);
    gv_shape shape = (gv_shape)type->shape;
    grove_type found = grove_node_type(node);
    if (row == GV_TYPE_OBJECTMETA && !e->metadata) {
        gv_emit_metadata(e, key, node, parent);
    } else if (shape == GV_SHAPE_STRUCT && found == GROVE_OBJECT) {
        emit_struct(e, key, row, node, parent);
    } else if (shape == GV_SHAPE_LIST && found == GROVE_ARRAY) {
        emit_list(e, key, type, node);
    } else if (shape == GV_SHAPE_MAP && found == GROVE_OBJECT) {
        emit_map(e, key, type, node);
    } else if (e->typed && shape < GV_SHAPE_ANY) {
        gv_emit_canonical(e, key, shape, node);
    } else { /* also what is of a wrong type: validation will say so */
        grove_builder_position(e->out, node, 0);
        gv_build_link(e->out, key, e->doc, node);
    }
}

void gv_emit_zero(gv_emitter *e, gv_str key, uint16_t row, const grove_node *parent) {
    const gv_schema_type *type = gv_type_at(row);
    grove_builder_position(e->out, parent, 1);
    switch ((gv_shape)type->shape) {
    case GV_SHAPE_STRING:
    case GV_SHAPE_DURATION:
        gv_build_string(e->out, key, GV_STR(""));
        break;
    case GV_SHAPE_INT32:
    case GV_SHAPE_INT64:
    case GV_SHAPE_NUMBER:
    case GV_SHAPE_INT_OR_STRING:
        gv_build_scalar(e->out, key, GROVE_NUMBER, GV_STR("0"));
        break;
    case GV_SHAPE_BOOL:
        gv_build_scalar(e->out, key, GROVE_BOOL, GV_STR("false"));
        break;
    case GV_SHAPE_QUANTITY:
        gv_build_string(e->out, key, GV_STR("0"));
        break;
    case GV_SHAPE_STRUCT:
        emit_struct(e, key, row, NULL, parent);
        break;
    case GV_SHAPE_LIST:
        if (type->empty_list) {
            gv_build_open(e->out, key, GROVE_ARRAY);
            grove_builder_close(e->out);
            break;
        }
        gv_build_scalar(e->out, key, GROVE_NULL_NODE, GV_STR(""));
        break;
    case GV_SHAPE_TIME:
    case GV_SHAPE_ANY:
    case GV_SHAPE_MAP:
        gv_build_scalar(e->out, key, GROVE_NULL_NODE, GV_STR(""));
        break;
    }
}

static void emit_root(gv_emitter *e, const gv_schema_root *root, const grove_node *object) {
    const gv_schema_type *type = gv_type_at(root->type);
    uint64_t seen = 0;
    grove_builder_position(e->out, object, 0);
    grove_builder_open_object(e->out, NULL);
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        gv_str key = gv_node_key(m);
        int32_t i = gv_type_find(type, key.p, key.n);
        if (i < 0 || grove_node_type(m) == GROVE_NULL_NODE) {
            continue;
        }
        seen |= UINT64_C(1) << i;
        uint16_t part = gv_schema_fields[type->first_field + i].type;
        if (!gv_str_is(key, "status") || e->flags & GV_SCHEMA_KEEP_STATUS) {
            gv_emit_value(e, key, part, m, object);
        }
    }
    for (uint16_t i = 0; i < type->n_fields; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        gv_str name = {gv_type_text(field->name), field->name_len};
        if (seen >> i & 1) {
            continue;
        }
        if (field->type == GV_TYPE_OBJECTMETA) {
            gv_emit_metadata(e, name, NULL, object);
        } else if (e->typed && field->flags & GV_FIELD_WRITTEN) {
            gv_emit_zero(e, name, field->type, object);
        }
    }
    grove_builder_close(e->out);
}

static grove_status emit(gv_emitter *e, gv_kind kind, const grove_node *object, grove_doc **out_doc,
                         grove_error *err) {
    const gv_schema_root *root = gv_schema_root_of(kind);
    if (!root) {
        return gv_error(err, GROVE_E_UNSUPPORTED, "kind without a schema");
    }
    if (grove_node_type(object) != GROVE_OBJECT) {
        return gv_error(err, GROVE_E_TYPE, "must be an object, not %s", gv_node_noun(object));
    }
    grove_env *env = grove_doc_env(e->doc);
    grove_status status = grove_builder_new(env, &e->out);
    if (status < 0) {
        return gv_error_nomem(err);
    }
    e->namespaced = gv_kind_get(kind)->namespaced;
    grove_buf_init(&e->text, env);
    emit_root(e, root, object);
    status = e->status < 0 ? gv_error(err, e->status, "cannot write the object")
                           : grove_builder_finish(e->out, out_doc, err);
    grove_buf_fini(&e->text);
    grove_builder_free(e->out);
    return status;
}

grove_status gv_schema_default(gv_kind kind, grove_doc *doc, const grove_node *object,
                               uint32_t flags, gv_str ns, grove_doc **out_doc, grove_error *err) {
    gv_emitter e = {.doc = doc, .flags = flags, .ns = ns};
    return emit(&e, kind, object, out_doc, err);
}

grove_status gv_schema_roundtrip(gv_kind kind, grove_doc *doc, const grove_node *object,
                                 uint32_t flags, gv_str ns, const gv_schema_edits *edits,
                                 grove_doc **out_doc, grove_error *err) {
    gv_emitter e = {.doc = doc, .flags = flags, .ns = ns, .edits = edits, .typed = true};
    return emit(&e, kind, object, out_doc, err);
}
