/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of an object or list: as it is, as a Table, as metadata only. */
#include "front/parts.h"

#include <stdio.h>
#include <string.h>

#define META_VERSION "meta.k8s.io/v1"

static bool is_list(const grove_node *node) {
    return grove_node_type(grove_node_get(node, "items")) == GROVE_ARRAY;
}

/* ---- tables ---- */

static void put_column(grove_builder *b, const grove_table_column *column, bool first) {
    char text[256];
    bool name = first && strcmp(column->name, "Name") == 0;
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "name", column->name);
    grove_builder_string(b, "type", column->type);
    grove_builder_string(b, "format", name ? "name" : "");
    (void)snprintf(text, sizeof text, "Custom resource definition column (in JSONPath format): %s",
                   column->json_path);
    grove_builder_string(b, "description", column->json_path[0] ? text : column->name);
    grove_builder_int64(b, "priority", column->priority);
    grove_builder_close(b);
}

static void put_columns(grove_builder *b, grove_kind kind) {
    grove_table_column column = {.size = (uint32_t)sizeof column};
    grove_builder_open_array(b, "columnDefinitions");
    for (uint32_t i = 0; grove_table_column_at(kind, i, &column); i++) {
        put_column(b, &column, i == 0);
    }
    grove_builder_close(b);
}

static void put_partial(grove_builder *b, const char *key, grove_doc *doc, const grove_node *node) {
    grove_builder_open_object(b, key);
    grove_builder_string(b, "kind", "PartialObjectMetadata");
    grove_builder_string(b, "apiVersion", META_VERSION);
    grove_builder_link(b, "metadata", doc, grove_node_get(node, "metadata"));
    grove_builder_close(b);
}

static grove_status put_row(const gv_front_shape *s, grove_builder *b, grove_doc *doc,
                            const grove_node *object) {
    grove_builder_open_object(b, NULL);
    grove_builder_open_array(b, "cells");
    grove_status st = grove_table_cells(s->env, s->kind, object, s->now, b, NULL);
    grove_builder_close(b);
    if (strcmp(s->include, "Object") == 0) {
        grove_builder_link(b, "object", doc, object);
    } else if (strcmp(s->include, "None") != 0) {
        put_partial(b, "object", doc, object);
    }
    grove_builder_close(b);
    return st;
}

static void put_list_metadata(grove_builder *b, grove_doc *doc, const grove_node *node) {
    const grove_node *meta = grove_node_get(node, "metadata");
    if (is_list(node)) {
        grove_builder_link(b, "metadata", doc, meta);
        return;
    }
    grove_builder_open_object(b, "metadata");
    if (grove_node_get(meta, "resourceVersion")) {
        grove_builder_copy(b, "resourceVersion", grove_node_get(meta, "resourceVersion"));
    }
    grove_builder_close(b);
}

static grove_status put_table(const gv_front_shape *s, grove_builder *b, const char *key,
                              grove_doc *doc, const grove_node *node, bool columns) {
    grove_status st = GROVE_OK;
    grove_builder_open_object(b, key);
    grove_builder_string(b, "kind", "Table");
    grove_builder_string(b, "apiVersion", META_VERSION);
    put_list_metadata(b, doc, node);
    if (columns) {
        put_columns(b, s->kind);
    } else {
        grove_builder_null(b, "columnDefinitions");
    }
    grove_builder_open_array(b, "rows");
    const grove_node *items = is_list(node) ? grove_node_get(node, "items") : NULL;
    for (const grove_node *o = grove_node_first(items); o && st == GROVE_OK;
         o = grove_node_next(items, o)) {
        st = put_row(s, b, doc, o);
    }
    st = items || st < 0 ? st : put_row(s, b, doc, node);
    grove_builder_close(b);
    grove_builder_close(b);
    return st;
}

/* ---- metadata only ---- */

static void put_metadata(grove_builder *b, const char *key, grove_doc *doc,
                         const grove_node *node) {
    if (!is_list(node)) {
        put_partial(b, key, doc, node);
        return;
    }
    const grove_node *items = grove_node_get(node, "items");
    grove_builder_open_object(b, key);
    grove_builder_string(b, "kind", "PartialObjectMetadataList");
    grove_builder_string(b, "apiVersion", META_VERSION);
    grove_builder_link(b, "metadata", doc, grove_node_get(node, "metadata"));
    grove_builder_open_array(b, "items");
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        put_partial(b, NULL, doc, o);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

/* ---- lists of built-in kinds ---- */

/* Their items say neither kind nor version, and the members of the list stand in another order. */
static void put_builtin_list(grove_builder *b, const char *key, grove_doc *doc,
                             const grove_node *node) {
    const grove_node *items = grove_node_get(node, "items");
    grove_builder_open_object(b, key);
    grove_builder_copy(b, "kind", grove_node_get(node, "kind"));
    grove_builder_copy(b, "apiVersion", grove_node_get(node, "apiVersion"));
    grove_builder_link(b, "metadata", doc, grove_node_get(node, "metadata"));
    grove_builder_open_array(b, "items");
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        grove_builder_open_object(b, NULL);
        for (const grove_node *m = grove_node_first(o); m; m = grove_node_next(o, m)) {
            const char *name = grove_node_key(m, NULL);
            if (strcmp(name, "kind") != 0 && strcmp(name, "apiVersion") != 0) {
                grove_builder_link(b, name, doc, m);
            }
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
    grove_builder_close(b);
}

grove_status gv_front_shape_put(const gv_front_shape *s, grove_builder *b, const char *key,
                                grove_doc *doc, const grove_node *node, bool columns) {
    if (s->form == GV_FORM_TABLE) {
        return put_table(s, b, key, doc, node, columns);
    }
    if (s->form == GV_FORM_PARTIAL) {
        put_metadata(b, key, doc, node);
    } else if (is_list(node) && !grove_kind_is_custom(s->kind)) {
        put_builtin_list(b, key, doc, node);
    } else {
        grove_builder_link(b, key, doc, node);
    }
    return GROVE_OK;
}
