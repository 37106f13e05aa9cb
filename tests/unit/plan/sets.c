/* SPDX-License-Identifier: Apache-2.0 */
/* Small sets for the tests of this layer: see sets.h. */
#include "sets.h"

#include <stdlib.h>

#include "plan/template_def.h"

static grove_doc *parse_yaml(grove_env *env, const char *text) {
    grove_doc *doc = NULL;
    grove_error err = GROVE_ERROR_INIT;
    if (grove_doc_parse_yaml(env, text, strlen(text), GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail_msg("%u:%u: %s", err.line, err.column, err.message);
    }
    return doc;
}

expanded *expand_new(const char *set_yaml, const char *config_yaml) {
    expanded *e = calloc(1, sizeof *e);
    grove_error err = GROVE_ERROR_INIT;
    assert_non_null(e);
    assert_int_equal(grove_env_new(NULL, &e->env), 0);
    gv_arena_init(&e->a, e->env);
    e->doc = parse_yaml(e->env, set_yaml);
    assert_int_equal(grove_config_new(e->env, &e->config), 0);
    if (config_yaml) {
        assert_int_equal(grove_config_load(e->config, config_yaml, strlen(config_yaml), &err), 0);
    }
    gv_template_options o = {.match = GV_MATCH_EXACT};
    assert_int_equal(
        gv_template_new(e->env, e->doc, grove_doc_root(e->doc), e->config, &o, &e->t, &err), 0);
    assert_int_equal(gv_expander_new(e->env, &e->x), 0);
    expand_again(e, NULL);
    return e;
}

static int64_t look_up(const void *ctx, gv_kind kind, gv_str name) {
    (void)kind;
    for (const live *l = ctx; l && l->name; l++) {
        if (gv_str_is(name, l->name)) {
            return l->replicas;
        }
    }
    return -1;
}

void expand_again(expanded *e, const live *lives) {
    gv_expand_input in = {.current = e->t, .live_replicas = look_up, .live_ctx = lives};
    assert_int_equal(gv_expand(e->x, &in, &e->w, NULL), 0);
}

void expand_free(expanded *e) {
    gv_expander_free(e->x);
    gv_template_unref(e->t);
    grove_config_unref(e->config);
    grove_doc_unref(e->doc);
    gv_arena_fini(&e->a);
    grove_env_unref(e->env);
    free(e);
}

static grove_doc *finish(grove_builder *b) {
    grove_doc *doc = NULL;
    assert_int_equal(grove_builder_finish(b, &doc, NULL), 0);
    grove_builder_free(b);
    return doc;
}

grove_doc *body_of(expanded *e, gv_kind kind, const char *name) {
    uint32_t at = gv_want_find_object(e->w, kind, gv_str_c(name));
    grove_builder *b = NULL;
    if (at == GV_NOT_WANTED) {
        fail_msg("no %s %s is wanted", gv_kind_get(kind)->name, name);
    }
    assert_int_equal(grove_builder_new(e->env, &b), 0);
    assert_int_equal(gv_object_build(e->w, at, NULL, b, NULL), 0);
    return finish(b);
}

grove_doc *pod_of(expanded *e, const char *clique, int64_t index) {
    grove_doc *pclq = body_of(e, GV_KIND_PODCLIQUE, clique);
    grove_builder *b = NULL;
    assert_int_equal(grove_builder_new(e->env, &b), 0);
    gv_pod_args args = {.clique = gv_want_find_clique(e->w, gv_str_c(clique)),
                        .index = index,
                        .name = GV_STR("the-pod"),
                        .owner_uid = GV_STR("uid-1"),
                        .gated = true,
                        .pclq_doc = pclq,
                        .pclq = grove_doc_root(pclq)};
    assert_int_equal(gv_pod_build(e->w, &args, b, NULL), 0);
    grove_doc *pod = finish(b);
    grove_doc_unref(pclq);
    return pod;
}

void assert_at(const grove_doc *doc, const char *pointer, const char *json) {
    const grove_node *node = grove_node_at_path(grove_doc_root(doc), pointer);
    grove_buf got;
    grove_buf_init(&got, grove_doc_env(doc));
    if (node) {
        assert_int_equal(grove_node_write_json(node, GROVE_WRITE_CANONICAL, &got, NULL), 0);
    }
    if (strcmp(node ? got.data : "null", json) != 0) {
        fail_msg("%s is %s, not %s", pointer, node ? got.data : "absent", json);
    }
    grove_buf_fini(&got);
}
