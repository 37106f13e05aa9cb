/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grove/cjson.h - documents from and to cJSON trees, for programs that hold `cJSON *`.
 *
 * Header-only: nothing of it is in the library, and only a program that includes it links cJSON.
 *
 *     cJSON *tree = cJSON_Parse(text);
 *     grove_doc *doc = NULL;
 *     grove_cjson_to_doc(env, tree, &doc, &err);
 *     ...
 *     cJSON *back = NULL;
 *     grove_cjson_from_node(grove_doc_root(doc), 0, &back, &err);
 *     cJSON_Delete(back);
 *
 * What a cJSON tree cannot hold, and what becomes of it on the way out of a document:
 *
 *   | in the document                         | without flags       | GROVE_CJSON_LOSSY    |
 *   |-----------------------------------------|---------------------|----------------------|
 *   | integer that no double equals (2^53+1)  | GROVE_E_RANGE       | the nearest double   |
 *   | fraction or exponent (0.1, 1e30)        | the nearest double  | the nearest double   |
 *   | number beyond every double (1e400)      | GROVE_E_RANGE       | GROVE_E_RANGE        |
 *   | NUL in a string or key                  | GROVE_E_UNSUPPORTED | GROVE_E_UNSUPPORTED  |
 *   | nesting beyond CJSON_NESTING_LIMIT      | GROVE_E_LIMIT       | GROVE_E_LIMIT        |
 *   | number texts (0.10, 1e3), line, column  | lost                | lost                 |
 *
 * What cJSON itself did before a document could see it: cJSON_Parse rounds every number to a double, ends
 * strings at \u0000, accepts bytes that are no UTF-8, and reads 1e400 as infinity. Of equal keys it keeps
 * all and finds the first, ignoring case unless asked; a document keeps the last, as
 * grove_doc_parse_json does. Where the text is at hand, parse it with grove_doc_parse_json instead.
 *
 * Threads: as for documents; cJSON's allocation hooks are global to the process.
 */
#ifndef GROVE_CJSON_H
#define GROVE_CJSON_H

#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include <grove/doc.h>

/** Round integers that no double equals, instead of refusing them. Since 0.1. */
#define GROVE_CJSON_LOSSY 0x1u

/* ---- helpers; not for programs ---- */

static inline grove_status grove_cjson_fail_(grove_error *err, const grove_node *at,
                                             grove_status status, const char *message) {
    if (err) {
        memset((char *)err + sizeof err->size, 0, sizeof *err - sizeof err->size);
        err->status = status;
        err->category = status == GROVE_E_NOMEM || status == GROVE_E_LIMIT ? GROVE_CATEGORY_RESOURCE
                                                                           : GROVE_CATEGORY_INPUT;
        grove_node_position(NULL, at, &err->line, &err->column);
        snprintf(err->message, sizeof err->message, "%s", message);
    }
    return status;
}

/* Integers as such; else the shorter of two forms that reads back to the same double, with a point
 * whatever the locale says. */
static inline void grove_cjson_add_double_(grove_builder *b, const char *key, double value) {
    char text[40];
    double back = 0;
    int n;
    if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) {
        const int64_t integer = (int64_t)value;
        if (!((double)integer < value || (double)integer > value)) {
            grove_builder_int64(b, key, integer);
            return;
        }
    }
    n = snprintf(text, sizeof text, "%1.15g", value);
    if (sscanf(text, "%lg", &back) != 1 || back < value || back > value) {
        n = snprintf(text, sizeof text, "%1.17g", value);
    }
    for (int i = 0; i < n; i++) {
        if (!strchr("0123456789+-e", text[i])) {
            text[i] = '.';
        }
    }
    grove_builder_number(b, key, text, (size_t)n);
}

static inline grove_status grove_cjson_add_(grove_env *env, grove_builder *b, const char *key,
                                            const cJSON *item, int depth, grove_error *err);

static inline grove_status grove_cjson_add_children_(grove_env *env, grove_builder *b,
                                                     const cJSON *item, int depth,
                                                     grove_error *err) {
    const int keyed = cJSON_IsObject(item);
    const cJSON *child = NULL;
    if (depth >= CJSON_NESTING_LIMIT) {
        return grove_cjson_fail_(err, NULL, GROVE_E_LIMIT, "the cJSON tree is nested too deeply");
    }
    cJSON_ArrayForEach(child, item) {
        grove_status st;
        if (keyed && !child->string) {
            return grove_cjson_fail_(err, NULL, GROVE_E_INVALID,
                                     "a member of a cJSON object has no key");
        }
        st = grove_cjson_add_(env, b, keyed ? child->string : NULL, child, depth + 1, err);
        if (st < 0) {
            return st;
        }
    }
    return GROVE_OK;
}

/* Raw items hold JSON text. */
static inline grove_status grove_cjson_add_raw_(grove_env *env, grove_builder *b, const char *key,
                                                const cJSON *item, grove_error *err) {
    grove_doc *doc = NULL;
    const char *text = item->valuestring ? item->valuestring : "";
    const grove_status st = grove_doc_parse_json(env, text, strlen(text), 0, &doc, err);
    if (st == GROVE_OK) {
        grove_builder_copy(b, key, grove_doc_root(doc));
        grove_doc_unref(doc);
    }
    return st;
}

static inline grove_status grove_cjson_add_(grove_env *env, grove_builder *b, const char *key,
                                            const cJSON *item, int depth, grove_error *err) {
    grove_status st = GROVE_OK;
    if (!item) {
        return grove_cjson_fail_(err, NULL, GROVE_E_INVALID, "there is no cJSON item");
    }
    if (cJSON_IsNull(item)) {
        grove_builder_null(b, key);
    } else if (cJSON_IsBool(item)) {
        grove_builder_bool(b, key, cJSON_IsTrue(item));
    } else if (cJSON_IsNumber(item)) {
        const double value = item->valuedouble;
        if (!(value - value >= 0)) { /* infinite or no number */
            return grove_cjson_fail_(err, NULL, GROVE_E_RANGE, "a cJSON number is infinite or NaN");
        }
        grove_cjson_add_double_(b, key, value);
    } else if (cJSON_IsString(item)) {
        grove_builder_string(b, key, item->valuestring ? item->valuestring : "");
    } else if (cJSON_IsArray(item)) {
        grove_builder_open_array(b, key);
        st = grove_cjson_add_children_(env, b, item, depth, err);
        grove_builder_close(b);
    } else if (cJSON_IsObject(item)) {
        grove_builder_open_object(b, key);
        st = grove_cjson_add_children_(env, b, item, depth, err);
        grove_builder_close(b);
    } else if (cJSON_IsRaw(item)) {
        st = grove_cjson_add_raw_(env, b, key, item, err);
    } else {
        st = grove_cjson_fail_(err, NULL, GROVE_E_INVALID, "a cJSON item is of no known type");
    }
    return st;
}

/* Integers by their digits must be held exactly. */
static inline int grove_cjson_is_exact_(const grove_node *number, double value) {
    int64_t integer = 0;
    const char *text = grove_node_text(number);
    if (strpbrk(text, ".eE")) {
        return 1;
    }
    /* 2^63 as a double is one beyond int64, so it may not be cast back. */
    return grove_node_int64(number, &integer) == GROVE_OK && value < 9223372036854775808.0 &&
           (int64_t)value == integer;
}

static inline grove_status grove_cjson_number_(const grove_node *node, uint32_t flags, cJSON **out,
                                               grove_error *err) {
    double value = 0;
    const grove_status st = grove_node_double(node, &value);
    if (st < 0 || !(value - value >= 0)) {
        return grove_cjson_fail_(err, node, GROVE_E_RANGE,
                                 "cJSON cannot hold a number beyond every double");
    }
    if (!(flags & GROVE_CJSON_LOSSY) && !grove_cjson_is_exact_(node, value)) {
        return grove_cjson_fail_(err, node, GROVE_E_RANGE, "cJSON would round this integer");
    }
    *out = cJSON_CreateNumber(value);
    return GROVE_OK;
}

static inline grove_status grove_cjson_make_(const grove_node *node, uint32_t flags, int depth,
                                             cJSON **out, grove_error *err);

static inline grove_status grove_cjson_fill_(const grove_node *node, uint32_t flags, int depth,
                                             cJSON *parent, grove_error *err) {
    const int keyed = grove_node_type(node) == GROVE_OBJECT;
    const grove_node *child;
    if (depth >= CJSON_NESTING_LIMIT) {
        return grove_cjson_fail_(err, node, GROVE_E_LIMIT, "cJSON cannot hold nesting this deep");
    }
    for (child = grove_node_first(node); child; child = grove_node_next(node, child)) {
        cJSON *item = NULL;
        size_t len = 0;
        const char *key = grove_node_key(child, &len);
        grove_status st;
        if (keyed && strlen(key) != len) {
            return grove_cjson_fail_(err, child, GROVE_E_UNSUPPORTED,
                                     "cJSON cannot hold a NUL in a key");
        }
        st = grove_cjson_make_(child, flags, depth + 1, &item, err);
        if (st < 0) {
            return st;
        }
        if (!(keyed ? cJSON_AddItemToObject(parent, key, item)
                    : cJSON_AddItemToArray(parent, item))) {
            cJSON_Delete(item);
            return grove_cjson_fail_(err, child, GROVE_E_NOMEM, "out of memory");
        }
    }
    return GROVE_OK;
}

static inline grove_status grove_cjson_make_(const grove_node *node, uint32_t flags, int depth,
                                             cJSON **out, grove_error *err) {
    grove_status st = GROVE_OK;
    size_t len = 0;
    cJSON *item = NULL;
    const grove_type type = grove_node_type(node);
    if (type == GROVE_NULL_NODE) {
        item = cJSON_CreateNull();
    } else if (type == GROVE_BOOL) {
        item = cJSON_CreateBool(grove_node_is_true(node));
    } else if (type == GROVE_NUMBER) {
        st = grove_cjson_number_(node, flags, &item, err);
    } else if (type == GROVE_STRING) {
        const char *text = grove_node_textn(node, &len);
        if (strlen(text) != len) {
            return grove_cjson_fail_(err, node, GROVE_E_UNSUPPORTED,
                                     "cJSON cannot hold a NUL in a string");
        }
        item = cJSON_CreateString(text);
    } else if (type == GROVE_ARRAY || type == GROVE_OBJECT) {
        item = type == GROVE_ARRAY ? cJSON_CreateArray() : cJSON_CreateObject();
        st = item ? grove_cjson_fill_(node, flags, depth, item, err) : GROVE_OK;
    } else {
        return grove_cjson_fail_(err, node, GROVE_E_INVALID, "no node was given");
    }
    if (st == GROVE_OK && !item) {
        st = grove_cjson_fail_(err, node, GROVE_E_NOMEM, "out of memory");
    }
    if (st < 0) {
        cJSON_Delete(item);
        return st;
    }
    *out = item;
    return GROVE_OK;
}

/* ---- the two directions ---- */

/**
 * Copies a cJSON tree into a document; `item` may be an element or member within a larger tree. Raw items
 * are parsed. GROVE_E_RANGE: an infinite number or NaN; GROVE_E_INVALID: an item without type, a member
 * without key, text that is not UTF-8. The caller owns *out_doc. Since 0.1.
 */
static inline grove_status grove_cjson_to_doc(grove_env *env, const cJSON *item,
                                              grove_doc **out_doc, grove_error *err) {
    grove_builder *b = NULL;
    grove_status st = grove_builder_new(env, &b);
    if (st < 0) {
        return grove_cjson_fail_(err, NULL, st, "no builder could be made");
    }
    st = grove_cjson_add_(env, b, NULL, item, 0, err);
    if (st == GROVE_OK) {
        st = grove_builder_finish(b, out_doc, err);
    }
    grove_builder_free(b);
    return st;
}

/**
 * Copies a node and what is below it into a new cJSON tree; the table above says what is refused.
 * flags: GROVE_CJSON_LOSSY. The caller owns *out_item and frees it with cJSON_Delete. Since 0.1.
 */
static inline grove_status grove_cjson_from_node(const grove_node *node, uint32_t flags,
                                                 cJSON **out_item, grove_error *err) {
    if (flags & ~GROVE_CJSON_LOSSY) {
        return grove_cjson_fail_(err, node, GROVE_E_INVALID, "an unknown flag was given");
    }
    return grove_cjson_make_(node, flags, 0, out_item, err);
}

#endif
