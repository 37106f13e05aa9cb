/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as YAML. Oracles: what was read, written and read again is equal; what is JSON as well means
 * the same; a stream and a single document agree.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <grove/doc.h>

#include "value/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SIMPLE_BYTES_MAX 1000 /* readers of YAML look no further for the ':' of a key */

static void check(int ok) {
    if (!ok) {
        abort();
    }
}

/* Written as YAML it reads back equal, strictly. */
static void round_trip(grove_env *env, const grove_node *root) {
    grove_buf out;
    grove_doc *back = NULL;
    grove_buf_init(&out, env);
    grove_status st = grove_node_write_yaml(root, 0, &out, NULL);
    if (st != GROVE_E_RANGE) { /* a number beyond every double has no YAML form */
        check(st == GROVE_OK);
        check(grove_doc_parse_yaml(env, out.data, (size_t)out.len, GROVE_PARSE_STRICT, &back,
                                   NULL) == GROVE_OK);
        check(grove_node_equal(grove_doc_root(back), root));
    }
    grove_doc_unref(back);
    grove_buf_fini(&out);
}

/* JSON of these bytes is YAML too; elsewhere libyaml may refuse it (DEL, surrogate pairs, long keys). */
static int is_simple(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || c == '\\') {
            return 0;
        }
    }
    return len <= SIMPLE_BYTES_MAX;
}

/* Equal, but that numbers beyond every double are strings in YAML. */
static int agree(const grove_node *json, const grove_node *yaml) {
    const grove_type type = grove_node_type(json);
    if (type == GROVE_NUMBER && grove_node_type(yaml) == GROVE_STRING) {
        double value = 0;
        return (grove_node_double(json, &value) == GROVE_E_RANGE || isinf(value)) &&
               gv_str_eq(gv_node_str(json), gv_node_str(yaml));
    }
    if (type != GROVE_ARRAY && type != GROVE_OBJECT) {
        return grove_node_equal(json, yaml);
    }
    if (type != grove_node_type(yaml) || grove_node_size(json) != grove_node_size(yaml)) {
        return 0;
    }
    uint32_t i = 0;
    GV_EACH(child, json) {
        const grove_node *other = type == GROVE_OBJECT ? gv_node_get(yaml, gv_node_key(child))
                                                       : grove_node_at(yaml, i++);
        if (!other || !agree(child, other)) {
            return 0;
        }
    }
    return 1;
}

/* Next line and the separators of lines and paragraphs: characters to JSON, line breaks to YAML 1.1, which folds them. */
static int has_other_breaks(const char *text, size_t len) {
    static const char *const breaks[] = {"\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    for (size_t i = 0; i < len; i++) {
        for (size_t k = 0; k < sizeof breaks / sizeof breaks[0]; k++) {
            size_t n = strlen(breaks[k]);
            if (n <= len - i && memcmp(text + i, breaks[k], n) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static void compare_with_json(grove_env *env, const char *text, size_t len,
                              grove_status yaml_status, const grove_node *yaml) {
    grove_doc *json = NULL;
    if (grove_doc_parse_json(env, text, len, 0, &json, NULL) == GROVE_OK) {
        check(yaml_status == GROVE_OK
                  ? agree(grove_doc_root(json), yaml) || has_other_breaks(text, len)
                  : !is_simple(text, len));
        round_trip(env, grove_doc_root(json));
    }
    grove_doc_unref(json);
}

/* Reads all there is; one document alone must be the one that parse_yaml gave. */
static void read_stream(grove_env *env, const char *text, size_t len, const grove_node *only) {
    grove_stream *stream = NULL;
    grove_doc *first = NULL;
    uint32_t n = 0, refused = 0;
    int out_of_range = 0;
    check(grove_stream_new(env, text, len, 0, &stream, NULL) == GROVE_OK);
    for (;;) {
        grove_doc *doc = NULL;
        grove_error err = GROVE_ERROR_INIT;
        const grove_status st = grove_stream_next(stream, &doc, &err);
        if (st < 0) {
            out_of_range |= st == GROVE_E_RANGE;
            check(err.message[0] != '\0' && !doc);
            refused++;
            continue;
        }
        if (!doc) {
            break;
        }
        round_trip(env, grove_doc_root(doc));
        if (n++ == 0) {
            first = doc;
        } else {
            grove_doc_unref(doc);
        }
    }
    if (only) {
        /* As JSON, a number with an endless exponent is refused; as YAML it is a string. */
        const int is_null = grove_node_type(only) == GROVE_NULL_NODE;
        check(out_of_range || (refused == 0 && n == (is_null ? 0 : 1)));
        check(out_of_range || is_null || agree(grove_doc_root(first), only) ||
              has_other_breaks(text, len));
    }
    grove_doc_unref(first);
    grove_stream_free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    grove_limits limits = {
        .size = sizeof limits, .document_nodes = 20000, .document_bytes = 1 << 18};
    grove_env_options options = {.size = sizeof options, .limits = &limits};
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    check(grove_env_new(&options, &env) == GROVE_OK);
    grove_status st = grove_doc_parse_yaml(env, text, size, 0, &doc, &err);
    if (st == GROVE_OK) {
        round_trip(env, grove_doc_root(doc));
    } else {
        check(err.message[0] != '\0' && (err.line > 0 || st == GROVE_E_LIMIT));
    }
    compare_with_json(env, text, size, st, grove_doc_root(doc));
    read_stream(env, text, size, grove_doc_root(doc));
    grove_doc_unref(doc);
    grove_env_unref(env);
    return 0;
}
