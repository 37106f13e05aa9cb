/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata, which the API server always decodes, writes back and checks itself (grove-api 0.1 step 1 and
 * 4.2.1), for every kind alike.
 */
#include "base/map.h"
#include "model/schema_emit.h"
#include "model/syntax.h"

/* ---- written back ---- */

/* Absent, null, or the empty text. */
static bool is_nothing(const grove_node *node) {
    size_t len = 0;
    if (grove_node_type(node) == GROVE_STRING) {
        grove_node_textn(node, &len);
    }
    return len == 0 &&
           (grove_node_type(node) <= GROVE_NULL_NODE || grove_node_type(node) == GROVE_STRING);
}

static bool is_empty(const grove_node *node) {
    grove_type found = grove_node_type(node);
    bool holds = found == GROVE_ARRAY || found == GROVE_OBJECT;
    return holds ? grove_node_size(node) == 0 : is_nothing(node);
}

/* What an owner is once decoded: unknown members do not count, an absent text is an empty one. */
static grove_status owner_identity(const grove_node *owner, grove_buf *out) {
    const gv_schema_type *type = gv_type_at(GV_TYPE_OWNERREFERENCE);
    grove_status status = GROVE_OK;
    grove_buf_clear(out);
    for (uint16_t i = 0; i < type->n_fields && status == GROVE_OK; i++) {
        const gv_schema_field *field = &gv_schema_fields[type->first_field + i];
        const grove_node *node = grove_node_getn(owner, gv_type_text(field->name), field->name_len);
        if (!is_nothing(node)) {
            status = grove_node_write_json(node, GROVE_WRITE_CANONICAL, out, NULL);
        }
        if (status == GROVE_OK) {
            status = gv_buf_char(out, '\n');
        }
    }
    return status;
}

/* Of several equal owners the first stays. */
static void emit_owners(gv_emitter *e, gv_str key, uint16_t type, const grove_node *owners) {
    gv_map seen;
    gv_map_init(&seen, grove_doc_env(e->doc));
    grove_builder_position(e->out, owners, 0);
    gv_build_open(e->out, key, GROVE_ARRAY);
    for (const grove_node *m = grove_node_first(owners); m; m = grove_node_next(owners, m)) {
        grove_status status = owner_identity(m, &e->text);
        gv_str identity = gv_buf_view(&e->text);
        if (status == GROVE_OK && gv_map_has(&seen, identity)) {
            continue;
        }
        if (status < 0 || !gv_map_put(&seen, identity, &seen)) {
            e->status = status < 0 ? status : GROVE_E_NOMEM;
            break;
        }
        if (grove_node_type(m) == GROVE_NULL_NODE) {
            gv_emit_zero(e, GV_NO_KEY, type, owners);
        } else {
            gv_emit_value(e, GV_NO_KEY, type, m, owners);
        }
    }
    grove_builder_close(e->out);
    gv_map_fini(&seen);
}

static gv_str text_of(const grove_node *node) {
    gv_str s = {"", 0};
    if (grove_node_type(node) == GROVE_STRING) {
        s.p = grove_node_textn(node, &s.n);
    }
    return s;
}

static void emit_members(gv_emitter *e, const grove_node *node) {
    const gv_schema_type *type = gv_type_at(GV_TYPE_OBJECTMETA);
    for (const grove_node *m = grove_node_first(node); m; m = grove_node_next(node, m)) {
        gv_str key = {NULL, 0};
        key.p = grove_node_key(m, &key.n);
        int32_t i = gv_type_find(type, key.p, key.n);
        if (i < 0 || is_empty(m) || gv_str_is(key, "namespace")) {
            continue;
        }
        uint16_t part = gv_schema_fields[type->first_field + i].type;
        uint16_t elem = gv_type_at(part)->elem;
        if (gv_type_at(part)->shape == GV_SHAPE_LIST && elem == GV_TYPE_OWNERREFERENCE) {
            emit_owners(e, key, elem, m);
        } else {
            gv_emit_value(e, key, part, m, node);
        }
    }
}

/* The object's namespace, or the request's where it has none and its kind has one. */
static void emit_namespace(gv_emitter *e, const grove_node *node, const grove_node *at) {
    const grove_node *given = grove_node_get(node, "namespace");
    gv_str text = text_of(given);
    if (!gv_syntax_blank(text)) {
        grove_builder_position(e->out, given, 0);
        grove_builder_stringn(e->out, "namespace", text.p, text.n);
    } else if (e->namespaced && e->ns.n > 0) {
        grove_builder_position(e->out, at, 1);
        grove_builder_stringn(e->out, "namespace", e->ns.p, e->ns.n);
    }
}

void gv_emit_metadata(gv_emitter *e, gv_str key, const grove_node *node, const grove_node *parent) {
    bool typed = e->typed;
    const grove_node *at = node ? node : parent;
    e->typed = e->metadata = true;
    grove_builder_position(e->out, at, node == NULL);
    gv_build_open(e->out, key, GROVE_OBJECT);
    emit_members(e, node);
    emit_namespace(e, node, at);
    grove_builder_close(e->out);
    e->typed = typed;
    e->metadata = false;
}

/* ---- checked ---- */

#define SUBDOMAIN_FORM "lower-case letters, digits, '-' and '.', a letter or digit at both ends"

static void invalid(gv_check *c, gv_code code, const grove_node *metadata, const char *member,
                    const char *what) {
    gv_path root = gv_path_key(NULL, "metadata", 8),
            here = gv_path_key(&root, member, strlen(member));
    const grove_node *node = grove_node_get(metadata, member);
    gv_check_error(c, code, "Invalid", &here, node ? node : metadata, "%s", what);
}

/* A generated name is cut to 58 characters and gets five more. */
static bool generated_name_ok(gv_str prefix) {
    char name[64];
    gv_fmt(name, sizeof name, "%.*sxxxxx", (int)(prefix.n > 58 ? 58 : prefix.n), prefix.p);
    return gv_syntax_subdomain(gv_str_c(name));
}

/* A final '-' and the character before it count as one letter. */
static bool name_prefix_ok(gv_str prefix) {
    char masked[256];
    if (prefix.n < 2 || prefix.p[prefix.n - 1] != '-') {
        return gv_syntax_subdomain(prefix);
    }
    if (prefix.n > sizeof masked - 1) {
        return false;
    }
    memcpy(masked, prefix.p, prefix.n - 2);
    masked[prefix.n - 2] = 'a';
    return gv_syntax_subdomain((gv_str){masked, prefix.n - 1});
}

static void check_names(gv_check *c, const grove_node *metadata, bool namespaced) {
    gv_path root = gv_path_key(NULL, "metadata", 8), here = gv_path_key(&root, "name", 4);
    gv_str name = text_of(grove_node_get(metadata, "name"));
    gv_str prefix = text_of(grove_node_get(metadata, "generateName"));
    const grove_node *ns = grove_node_get(metadata, "namespace");
    if (name.n == 0 && prefix.n == 0) {
        gv_check_error(c, GV_CODE_NAME_MISSING, "Required", &here, metadata,
                       "name or generateName is needed");
    } else if (name.n > 0 ? !gv_syntax_subdomain(name) : !generated_name_ok(prefix)) {
        invalid(c, GV_CODE_NAME_MALFORMED, metadata, "name", "must be at most 253 " SUBDOMAIN_FORM);
    }
    if (prefix.n > 0 && !name_prefix_ok(prefix)) {
        invalid(c, GV_CODE_NAME_MALFORMED, metadata, "generateName", "must be " SUBDOMAIN_FORM);
    }
    if (namespaced && ns && !gv_syntax_label(text_of(ns))) {
        invalid(c, GV_CODE_NAMESPACE_MALFORMED, metadata, "namespace",
                "must be at most 63 lower-case letters, digits and '-'");
    }
}

static void check_finalizers(gv_check *c, const grove_node *metadata) {
    const grove_node *list = grove_node_get(metadata, "finalizers");
    bool orphan = false, foreground = false, good = true;
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        gv_str text = text_of(m);
        orphan = orphan || gv_str_is(text, "orphan");
        foreground = foreground || gv_str_is(text, "foregroundDeletion");
        good = good && gv_syntax_qualified(text);
    }
    if (!good) {
        invalid(c, GV_CODE_FINALIZERS, metadata, "finalizers", "must have the form of label keys");
    } else if (orphan && foreground) {
        invalid(c, GV_CODE_FINALIZERS, metadata, "finalizers",
                "orphan and foregroundDeletion exclude each other");
    }
}

/* "version" or "group/version" */
static bool api_version_ok(gv_str s) {
    size_t slashes = 0;
    for (size_t i = 0; i < s.n; i++) {
        slashes += s.p[i] == '/';
    }
    return s.n > 0 && slashes <= 1 && s.p[s.n - 1] != '/';
}

static void check_owners(gv_check *c, const grove_node *metadata) {
    const grove_node *list = grove_node_get(metadata, "ownerReferences");
    gv_path root = gv_path_key(NULL, "metadata", 8),
            here = gv_path_key(&root, "ownerReferences", 15);
    uint32_t controllers = 0;
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        gv_str api_version = text_of(grove_node_get(m, "apiVersion"));
        controllers += grove_node_is_true(grove_node_get(m, "controller")) ? 1 : 0;
        if (gv_str_is(api_version, "v1") &&
            gv_str_is(text_of(grove_node_get(m, "kind")), "Event")) {
            gv_check_error(c, GV_CODE_OWNER_REFERENCE, "Invalid", &here, m, "events own nothing");
        }
        if (!api_version_ok(api_version)) {
            gv_path at = gv_path_key(&here, "apiVersion", 10);
            gv_check_error(c, GV_CODE_OWNER_REFERENCE, "Invalid", &at, m,
                           "must be a version or group/version");
        }
        static const char *const named[] = {"kind", "name", "uid"};
        for (size_t i = 0; i < 3; i++) {
            if (text_of(grove_node_get(m, named[i])).n == 0) {
                gv_path at = gv_path_key(&here, named[i], strlen(named[i]));
                gv_check_error(c, GV_CODE_OWNER_REFERENCE, "Invalid", &at, m, "must not be empty");
            }
        }
    }
    if (controllers > 1) {
        gv_check_error(c, GV_CODE_OWNER_REFERENCE, "Invalid", &here, list,
                       "only one owner can be the controller");
    }
}

void gv_metadata_check(gv_check *c, const grove_node *metadata, bool namespaced) {
    check_names(c, metadata, namespaced);
    check_finalizers(c, metadata);
    check_owners(c, metadata);
    if (!gv_syntax_labels(grove_node_get(metadata, "labels"))) {
        invalid(c, GV_CODE_LABELS_MALFORMED, metadata, "labels",
                "a key or value is malformed: at most 63 letters, digits, '-', '_' and '.'");
    }
    uint64_t bytes = 0;
    if (!gv_syntax_annotations(grove_node_get(metadata, "annotations"), &bytes)) {
        invalid(c, GV_CODE_ANNOTATIONS_MALFORMED, metadata, "annotations",
                "a key is malformed: an optional prefix and at most 63 letters, digits, '-', '_' "
                "and '.'");
    }
    if (bytes > GV_ANNOTATIONS_MAX_BYTES) {
        gv_path root = gv_path_key(NULL, "metadata", 8),
                here = gv_path_key(&root, "annotations", 11);
        gv_check_error(c, GV_CODE_ANNOTATIONS_TOO_LARGE, "TooLong", &here,
                       grove_node_get(metadata, "annotations"), "%llu bytes, at most %llu",
                       (unsigned long long)bytes, (unsigned long long)GV_ANNOTATIONS_MAX_BYTES);
    }
}
