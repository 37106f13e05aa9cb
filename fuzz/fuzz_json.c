/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: what is read can be written and reads back equal in every form; a refusal tells a place; and where
 * cJSON can judge (no duplicate keys, no NUL, no very long number), it reads the same tree.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FUZZ_HAVE_CJSON
#include <cjson/cJSON.h>
#endif

#include "value/doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool law) {
    if (!law) {
        abort();
    }
}

#ifdef FUZZ_HAVE_CJSON
#define CJSON_NUMBER_MAX 60 /* it cuts longer ones off */

static bool cjson_can_judge(const grove_node *node) {
    const gv_str key = gv_node_key(node);
    const gv_str text = gv_node_str(node);
    if ((key.n > 0 && memchr(key.p, 0, key.n)) || (text.n > 0 && memchr(text.p, 0, text.n)) ||
        (gv_node_is(node, GROVE_NUMBER) && text.n > CJSON_NUMBER_MAX)) {
        return false;
    }
    GV_EACH(child, node) {
        if (!cjson_can_judge(child)) {
            return false;
        }
    }
    return true;
}

static void compare_with_cjson(const grove_node *node, const cJSON *item) {
    double number = 0;
    const cJSON *other = NULL;
    expect(item != NULL);
    switch (grove_node_type(node)) {
    case GROVE_NULL_NODE:
        expect(cJSON_IsNull(item));
        return;
    case GROVE_BOOL:
        expect(cJSON_IsBool(item) && cJSON_IsTrue(item) == grove_node_is_true(node));
        return;
    case GROVE_STRING:
        expect(cJSON_IsString(item) && gv_str_is(gv_node_str(node), item->valuestring));
        return;
    case GROVE_NUMBER:
        expect(grove_node_double(node, &number) == GROVE_OK);
        expect(cJSON_IsNumber(item) && !(number < item->valuedouble) &&
               !(number > item->valuedouble));
        return;
    default:
        break;
    }
    expect(gv_node_is(node, GROVE_OBJECT) ? cJSON_IsObject(item) : cJSON_IsArray(item));
    other = item->child;
    GV_EACH(child, node) {
        expect(other && (!other->string || gv_str_is(gv_node_key(child), other->string)));
        compare_with_cjson(child, other);
        other = other->next;
    }
    expect(other == NULL);
}

static void ask_cjson(grove_env *env, const char *text, size_t size) {
    grove_doc *doc = NULL;
    if (grove_doc_parse_json(env, text, size, GROVE_PARSE_STRICT, &doc, NULL) == GROVE_OK &&
        cjson_can_judge(grove_doc_root(doc))) {
        const size_t mark = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0
                                ? 3
                                : 0; /* cJSON wants 5 bytes */
        cJSON *tree = cJSON_ParseWithLength(text + mark, size - mark);
        compare_with_cjson(grove_doc_root(doc), tree);
        cJSON_Delete(tree);
    }
    grove_doc_unref(doc);
}
#endif

static void check_form(const grove_doc *doc, uint32_t form) {
    grove_buf out;
    grove_doc *again = NULL;
    uint64_t before = 0;
    uint64_t after = 1;
    grove_buf_init(&out, grove_doc_env(doc));
    expect(grove_node_write_json(grove_doc_root(doc), form, &out, NULL) == GROVE_OK);
    expect(grove_doc_parse_json(out.env, out.data, (size_t)out.len, GROVE_PARSE_STRICT, &again,
                                NULL) == GROVE_OK);
    expect(grove_node_equal(grove_doc_root(doc), grove_doc_root(again)) == 1);
    grove_node_hash(grove_doc_root(doc), &before, NULL);
    grove_node_hash(grove_doc_root(again), &after, NULL);
    expect(before == after);
    grove_doc_unref(again);
    grove_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    const char *text = (const char *)data;
    expect(grove_env_new(NULL, &env) == GROVE_OK);
    const grove_status st = grove_doc_parse_json(env, text, size, 0, &doc, &err);
    if (st == GROVE_OK) {
        check_form(doc, 0);
        check_form(doc, GROVE_WRITE_PRETTY);
        check_form(doc, GROVE_WRITE_CANONICAL);
#ifdef FUZZ_HAVE_CJSON
        ask_cjson(env, text, size);
#endif
    } else {
        expect(err.status == st && err.line > 0 && err.column > 0 && err.message[0] != '\0' &&
               !doc);
    }
    grove_doc_unref(doc);
    grove_env_unref(env);
    return 0;
}
