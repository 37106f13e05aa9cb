/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of objects without what is secret in them. */
#include "backend/redact.h"

#include <stdbool.h>

#include "value/doc.h"

#define NOTHING "" /* in place of each value */

/* The same keys, without their values. */
static void put_keys(grove_builder *b, const char *key, const grove_node *map) {
    if (grove_node_type(map) != GROVE_OBJECT) {
        grove_builder_string(b, key, NOTHING);
        return;
    }
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(map); m; m = grove_node_next(map, m)) {
        grove_builder_string(b, grove_node_key(m, NULL), NOTHING);
    }
    grove_builder_close(b);
}

static bool is_named(const grove_node *member, const char *name) {
    return gv_str_is(gv_str_c(grove_node_key(member, NULL)), name);
}

/* What was applied before holds the values a second time, among the annotations. */
static void put_metadata(grove_builder *b, const char *key, const grove_node *meta) {
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(meta); m; m = grove_node_next(meta, m)) {
        if (is_named(m, "annotations")) {
            put_keys(b, "annotations", m);
        } else {
            grove_builder_copy(b, grove_node_key(m, NULL), m);
        }
    }
    grove_builder_close(b);
}

static void put_secret(grove_builder *b, const char *key, const grove_node *secret) {
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(secret); m; m = grove_node_next(secret, m)) {
        const char *name = grove_node_key(m, NULL);
        if (is_named(m, "data") || is_named(m, "stringData")) {
            put_keys(b, name, m);
        } else if (is_named(m, "metadata") && grove_node_type(m) == GROVE_OBJECT) {
            put_metadata(b, name, m);
        } else {
            grove_builder_copy(b, name, m);
        }
    }
    grove_builder_close(b);
}

/* The operations of a JSON patch. */
static void put_patch(grove_builder *b, const char *key, const grove_node *patch) {
    grove_builder_open_array(b, key);
    for (const grove_node *o = grove_node_first(patch); o; o = grove_node_next(patch, o)) {
        grove_builder_open_object(b, NULL);
        for (const grove_node *m = grove_node_first(o); m; m = grove_node_next(o, m)) {
            if (is_named(m, "value")) {
                grove_builder_string(b, "value", NOTHING);
            } else {
                grove_builder_copy(b, grove_node_key(m, NULL), m);
            }
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

static void put_list(grove_builder *b, const char *key, const grove_node *list) {
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        if (!is_named(m, "items")) {
            grove_builder_copy(b, grove_node_key(m, NULL), m);
            continue;
        }
        grove_builder_open_array(b, "items");
        for (const grove_node *i = grove_node_first(m); i; i = grove_node_next(m, i)) {
            gv_redact_copy(b, NULL, GROVE_KIND_SECRET, i);
        }
        grove_builder_close(b);
    }
    grove_builder_close(b);
}

void gv_redact_copy(grove_builder *b, const char *key, grove_kind kind, const grove_node *node) {
    gv_str said = gv_node_get_str(node, "kind");
    bool secret = kind == GROVE_KIND_SECRET || gv_str_is(said, "Secret");
    if (gv_str_is(said, "SecretList")) {
        put_list(b, key, node);
    } else if (secret && grove_node_type(node) == GROVE_OBJECT) {
        put_secret(b, key, node);
    } else if (secret && grove_node_type(node) == GROVE_ARRAY) {
        put_patch(b, key, node);
    } else {
        grove_builder_copy(b, key, node);
    }
}
