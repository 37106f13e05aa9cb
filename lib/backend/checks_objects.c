/* SPDX-License-Identifier: Apache-2.0 */
/* Creating, reading, listing, replacing. */
#include "backend/kit.h"
#include "value/doc.h"

static void create_returns_object(gv_kit *k) {
    const grove_completion *c = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(c, GROVE_OK, 201));
    WANT(k, gv_str_is(gv_kit_text(c, "/kind"), "ConfigMap"));
    WANT(k, gv_str_is(gv_kit_text(c, "/apiVersion"), "v1"));
    WANT(k, gv_str_is(gv_kit_text(c, "/data/a"), "1"));
    WANT(k, gv_str_is(gv_kit_text(c, "/metadata/namespace"), k->ns));
}

static void create_stamps(gv_kit *k) {
    const grove_completion *c = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(c, GROVE_OK, 201));
    WANT(k, gv_kit_text(c, "/metadata/uid").n > 0);
    WANT(k, gv_kit_text(c, "/metadata/resourceVersion").n > 0);
    WANT(k, gv_str_ends(gv_kit_text(c, "/metadata/creationTimestamp"), GV_STR("Z")));
}

static void create_twice(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    const grove_completion *c = gv_kit_config_map(k, 'a');
    WANT(k, gv_kit_is(c, GROVE_E_EXISTS, 409));
    WANT(k, gv_str_is(gv_str_c(c->reason), "AlreadyExists"));
}

static grove_doc *generated(gv_kit *k) {
    return gv_kit_doc(k,
                      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                      "\"generateName\":\"gen-%u-\"}}",
                      k->check);
}

static void create_generate_name(gv_kit *k) {
    const grove_completion *a = gv_kit_create(k, GROVE_KIND_CONFIGMAP, generated(k));
    const grove_completion *b = gv_kit_create(k, GROVE_KIND_CONFIGMAP, generated(k));
    char stem[32];
    size_t n = gv_fmt(stem, sizeof stem, "gen-%u-", k->check);
    WANT(k, gv_kit_is(a, GROVE_OK, 201) && gv_kit_is(b, GROVE_OK, 201));
    gv_str name = gv_kit_text(a, "/metadata/name");
    WANT(k, gv_str_starts(name, gv_str_c(stem)) && name.n == n + 5);
    WANT(k, !gv_str_eq(name, gv_kit_text(b, "/metadata/name")));
}

static void create_nameless(gv_kit *k) {
    const grove_completion *c = gv_kit_create(
        k, GROVE_KIND_CONFIGMAP, gv_kit_doc(k, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}"));
    WANT(k, gv_kit_is(c, GROVE_E_REFUSED, 422));
}

static void create_bad_name(gv_kit *k) {
    const grove_completion *c = gv_kit_create(
        k, GROVE_KIND_CONFIGMAP,
        gv_kit_doc(k, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                      "\"name\":\"Bad_Name\"}}"));
    WANT(k, gv_kit_is(c, GROVE_E_REFUSED, 422));
}

static void create_other_kind(gv_kit *k) {
    const grove_completion *c = gv_kit_create(
        k, GROVE_KIND_POD,
        gv_kit_doc(k, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                      "\"metadata\":{\"name\":\"x\"}}"));
    WANT(k, gv_kit_is(c, GROVE_E_REFUSED, 400));
}

static void create_no_namespace(gv_kit *k) {
    grove_op op = gv_kit_op(GROVE_VERB_CREATE, GROVE_KIND_CONFIGMAP, NULL);
    op.ns = "no-such-namespace";
    op.body_doc = gv_kit_doc(k, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                                "\"name\":\"x\"}}");
    WANT(k, op.body_doc && gv_kit_is(gv_kit_run(k, &op), GROVE_E_NOT_FOUND, 404));
}

static void create_unicode(gv_kit *k) {
    grove_doc *body = gv_kit_doc(k,
                                 "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"t\":"
                                 "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\n\"}}",
                                 gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(gv_kit_create(k, GROVE_KIND_CONFIGMAP, body), GROVE_OK, 201));
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_str_is(gv_kit_text(c, "/data/t"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n"));
}

static void get_found(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'));
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_str_eq(gv_kit_text(c, "/metadata/uid"), gv_kit_text(made, "/metadata/uid")));
}

static void get_missing(gv_kit *k) {
    const grove_completion *c = gv_kit_get(k, GROVE_KIND_CONFIGMAP, "nosuch");
    WANT(k, gv_kit_is(c, GROVE_E_NOT_FOUND, 404));
    WANT(k, gv_str_is(gv_str_c(c->reason), "NotFound"));
}

/* ---- lists ---- */

static grove_op list_op(gv_kit *k, char *selector, size_t cap) {
    (void)gv_fmt(selector, cap, "set=%s", gv_kit_name(k, 's'));
    grove_op op = gv_kit_op(GROVE_VERB_LIST, GROVE_KIND_CONFIGMAP, NULL);
    op.label_selector = selector;
    return op;
}

static void three(gv_kit *k) {
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'c'), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'a'), GROVE_OK, 201));
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'b'), GROVE_OK, 201));
}

static void list_selected(gv_kit *k) {
    char selector[80];
    three(k);
    grove_op op = list_op(k, selector, sizeof selector);
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_get(c->object, "items")) == 3);
    WANT(k, gv_kit_text(c, "/metadata/resourceVersion").n > 0);
    WANT(k, gv_str_is(gv_kit_text(c, "/items/0/metadata/name"), gv_kit_name(k, 'a')));
    WANT(k, gv_str_is(gv_kit_text(c, "/items/2/metadata/name"), gv_kit_name(k, 'c')));
}

static void list_field(gv_kit *k) {
    char field[80];
    three(k);
    (void)gv_fmt(field, sizeof field, "metadata.name=%s", gv_kit_name(k, 'b'));
    grove_op op = gv_kit_op(GROVE_VERB_LIST, GROVE_KIND_CONFIGMAP, NULL);
    op.field_selector = field;
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_get(c->object, "items")) == 1);
}

static void list_bad_field(gv_kit *k) {
    grove_op op = gv_kit_op(GROVE_VERB_LIST, GROVE_KIND_CONFIGMAP, NULL);
    op.field_selector = "data.a=1";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_REFUSED, 400));
}

static void list_bad_label(gv_kit *k) {
    grove_op op = gv_kit_op(GROVE_VERB_LIST, GROVE_KIND_CONFIGMAP, NULL);
    op.label_selector = "a===b";
    WANT(k, gv_kit_is(gv_kit_run(k, &op), GROVE_E_REFUSED, 400));
}

static void list_empty(gv_kit *k) {
    char selector[80];
    grove_op op = list_op(k, selector, sizeof selector);
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    const grove_node *items = grove_node_get(c->object, "items");
    WANT(k, grove_node_type(items) == GROVE_ARRAY && grove_node_size(items) == 0);
}

static void list_pages(gv_kit *k) {
    char selector[80], position[700];
    three(k);
    grove_op op = list_op(k, selector, sizeof selector);
    op.limit = 2;
    const grove_completion *c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_get(c->object, "items")) == 2);
    WANT(k, gv_kit_text(c, "/metadata/continue").n > 0);
    (void)gv_fmt(position, sizeof position, "%s", gv_kit_text(c, "/metadata/continue").p);
    WANT(k, gv_kit_is(gv_kit_config_map(k, 'd'), GROVE_OK, 201)); /* not on a page of before */
    op.position = position;
    c = gv_kit_run(k, &op);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, grove_node_size(grove_node_get(c->object, "items")) == 1);
    WANT(k, gv_str_is(gv_kit_text(c, "/items/0/metadata/name"), gv_kit_name(k, 'c')));
}

/* ---- replace ---- */

static const grove_completion *replace(gv_kit *k, const char *name, const char *version) {
    grove_op op = gv_kit_op(GROVE_VERB_REPLACE, GROVE_KIND_CONFIGMAP, name);
    op.body_doc = gv_kit_doc(k,
                             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                             "\"name\":\"%s\",\"resourceVersion\":\"%s\"},\"data\":{\"b\":\"2\"}}",
                             name, version);
    return op.body_doc ? gv_kit_run(k, &op) : NULL;
}

static void replace_whole(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const grove_completion *c = replace(k, gv_kit_name(k, 'a'),
                                        gv_kit_text(made, "/metadata/resourceVersion").p);
    WANT(k, gv_kit_is(c, GROVE_OK, 200));
    WANT(k, gv_kit_text(c, "/data/a").n == 0 && gv_str_is(gv_kit_text(c, "/data/b"), "2"));
    WANT(k, gv_str_eq(gv_kit_text(c, "/metadata/uid"), gv_kit_text(made, "/metadata/uid")));
}

static void replace_stale(gv_kit *k) {
    const grove_completion *made = gv_kit_config_map(k, 'a');
    const char *version = gv_kit_text(made, "/metadata/resourceVersion").p;
    WANT(k, gv_kit_is(replace(k, gv_kit_name(k, 'a'), version), GROVE_OK, 200));
    WANT(k, gv_kit_is(gv_kit_patch(k, GROVE_KIND_CONFIGMAP, gv_kit_name(k, 'a'), GROVE_PATCH_MERGE,
                                   gv_kit_doc(k, "{\"data\":{\"c\":\"3\"}}")),
                      GROVE_OK, 200));
    WANT(k, gv_kit_is(replace(k, gv_kit_name(k, 'a'), version), GROVE_E_CONFLICT, 409));
}

static void replace_missing(gv_kit *k) {
    WANT(k, gv_kit_is(replace(k, gv_kit_name(k, 'z'), "5"), GROVE_E_NOT_FOUND, 404));
}

const gv_check gv_checks_objects[] = {
    {"create-returns-object", 0, create_returns_object},
    {"create-stamps-metadata", 0, create_stamps},
    {"create-twice-exists", 0, create_twice},
    {"create-generates-name", 0, create_generate_name},
    {"create-nameless-refused", 0, create_nameless},
    {"create-bad-name-refused", 0, create_bad_name},
    {"create-other-kind-refused", 0, create_other_kind},
    {"create-missing-namespace", 0, create_no_namespace},
    {"create-keeps-text", 0, create_unicode},
    {"get-found", 0, get_found},
    {"get-missing", 0, get_missing},
    {"list-selected-and-sorted", GROVE_CAP_SELECTORS, list_selected},
    {"list-by-name-field", GROVE_CAP_SELECTORS, list_field},
    {"list-unknown-field-refused", GROVE_CAP_SELECTORS, list_bad_field},
    {"list-bad-selector-refused", GROVE_CAP_SELECTORS, list_bad_label},
    {"list-empty", GROVE_CAP_SELECTORS, list_empty},
    {"list-pages-agree", GROVE_CAP_SELECTORS, list_pages},
    {"replace-whole", GROVE_CAP_REPLACE, replace_whole},
    {"replace-stale-conflicts", GROVE_CAP_REPLACE, replace_stale},
    {"replace-missing", GROVE_CAP_REPLACE, replace_missing},
    {NULL, 0, NULL},
};
