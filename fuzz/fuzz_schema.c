/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema layer on any object of Grove's kinds. Oracle: what decodes can be written anew; what was
 * written anew decodes, and comes out the same when written once more; every error has a place.
 */
#include <stdlib.h>

#include "model/schema.h"
#include "value/doc.h"

static void require(int holds) {
    if (!holds) {
        abort();
    }
}

static void check_places(const grove_diags *found) {
    for (uint32_t i = 0; i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        require(d->line > 0 && d->column > 0 && d->message[0] != '\0');
        require(grove_code_get(d->code) != NULL);
    }
}

typedef grove_status (*rewrite)(gv_kind kind, grove_doc *doc, const grove_node *object,
                                grove_doc **out);

static grove_status defaulted(gv_kind kind, grove_doc *doc, const grove_node *object,
                              grove_doc **out) {
    return gv_schema_default(kind, doc, object, GV_SCHEMA_KEEP_STATUS, GV_STR("ns"), out, NULL);
}

static grove_status written_back(gv_kind kind, grove_doc *doc, const grove_node *object,
                                 grove_doc **out) {
    return gv_schema_roundtrip(kind, doc, object, GV_SCHEMA_KEEP_STATUS, GV_STR("ns"), NULL, out,
                               NULL);
}

static void check_rewrite(grove_env *env, gv_kind kind, grove_doc *doc, const grove_node *object,
                          rewrite write) {
    grove_doc *once = NULL, *twice = NULL;
    grove_diags *found = NULL;
    uint32_t errors = 0;
    require(grove_diags_new(env, &found) == GROVE_OK);
    require(write(kind, doc, object, &once) == GROVE_OK);
    const grove_node *root = grove_doc_root(once);
    require(gv_schema_decode_check(kind, once, root, GROVE_FIELDS_STRICT, GV_SCHEMA_WEBHOOKS, found,
                                   &errors) == 0);
    require(errors == 0);
    require(write(kind, once, root, &twice) == GROVE_OK);
    require(grove_node_equal(root, grove_doc_root(twice)));
    require(gv_schema_validate(kind, once, root, true, false, found, &errors) == GROVE_OK);
    check_places(found);
    grove_diags_free(found);
    grove_doc_unref(twice);
    grove_doc_unref(once);
}

static void check_object(grove_env *env, grove_doc *doc, const grove_node *object) {
    gv_kind kind = gv_kind_of(object);
    grove_diags *found = NULL;
    uint32_t errors = 0;
    if (!gv_schema_has(kind) || grove_diags_new(env, &found) < 0) {
        return;
    }
    require(gv_schema_decode_check(kind, doc, object, GROVE_FIELDS_IGNORE, GV_SCHEMA_WEBHOOKS,
                                   found, &errors) == 0);
    check_places(found);
    if (errors == 0) {
        check_rewrite(env, kind, doc, object, defaulted);
        if (kind == GV_KIND_PODCLIQUESET) { /* the only kind whose values were all decoded */
            check_rewrite(env, kind, doc, object, written_back);
        }
    }
    grove_diags_free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    grove_env *env = NULL;
    grove_doc *doc = NULL;
    if (grove_env_new(NULL, &env) < 0) {
        return 0;
    }
    if (grove_doc_parse_json(env, (const char *)data, size, 0, &doc, NULL) == GROVE_OK) {
        const grove_node *root = grove_doc_root(doc);
        check_object(env, doc, root);
        check_object(env, doc, grove_node_get(root, "object"));
    }
    grove_doc_unref(doc);
    grove_env_unref(env);
    return 0;
}
