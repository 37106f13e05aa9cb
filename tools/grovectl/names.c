/* SPDX-License-Identifier: Apache-2.0 */
/* Lists child names: the set is defaulted, scaled to its most, and rendered. */
#include "names.h"

#include <grove/admission.h>
#include <grove/render.h>
#include <string.h>

#include "verbs.h"

static int64_t number(const grove_node *object, const char *key, int64_t otherwise) {
    int64_t value = otherwise;
    return grove_node_int64(grove_node_get(object, key), &value) == GROVE_OK ? value : otherwise;
}

static int is(const grove_node *member, const char *key) {
    const char *own = grove_node_key(member, NULL);
    return own && strcmp(own, key) == 0;
}

typedef void (*write_fn)(grove_builder *b, const char *key, grove_doc *doc, const grove_node *node);

/* An object whose member `key` is written by `write`, the rest linked. */
static void with_member(grove_builder *b, const char *own_key, grove_doc *doc,
                        const grove_node *object, const char *key, write_fn write) {
    grove_builder_open_object(b, own_key);
    for (const grove_node *m = grove_node_first(object); m; m = grove_node_next(object, m)) {
        if (is(m, key)) {
            write(b, key, doc, m);
        } else {
            grove_builder_link(b, grove_node_key(m, NULL), doc, m);
        }
    }
    grove_builder_close(b);
}

/* replicas raised to the autoscaler's most */
static void scaled(grove_builder *b, const char *own_key, grove_doc *doc, const grove_node *owner,
                   const char *scaling) {
    int64_t replicas = number(owner, "replicas", 1);
    int64_t most = number(grove_node_get(owner, scaling), "maxReplicas", 0);
    grove_builder_open_object(b, own_key);
    grove_builder_int64(b, "replicas", most > replicas ? most : replicas);
    for (const grove_node *m = grove_node_first(owner); m; m = grove_node_next(owner, m)) {
        if (!is(m, "replicas")) {
            grove_builder_link(b, grove_node_key(m, NULL), doc, m);
        }
    }
    grove_builder_close(b);
}

static void clique_spec(grove_builder *b, const char *key, grove_doc *doc, const grove_node *spec) {
    scaled(b, key, doc, spec, "autoScalingConfig");
}

static void cliques(grove_builder *b, const char *key, grove_doc *doc, const grove_node *list) {
    grove_builder_open_array(b, key);
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        with_member(b, NULL, doc, m, "spec", clique_spec);
    }
    grove_builder_close(b);
}

static void groups(grove_builder *b, const char *key, grove_doc *doc, const grove_node *list) {
    grove_builder_open_array(b, key);
    for (const grove_node *m = grove_node_first(list); m; m = grove_node_next(list, m)) {
        scaled(b, NULL, doc, m, "scaleConfig");
    }
    grove_builder_close(b);
}

static void template(grove_builder *b, const char *key, grove_doc *doc, const grove_node *t) {
    grove_builder_open_object(b, key);
    for (const grove_node *m = grove_node_first(t); m; m = grove_node_next(t, m)) {
        const char *own = grove_node_key(m, NULL);
        if (is(m, "cliques")) {
            cliques(b, own, doc, m);
        } else if (is(m, "podCliqueScalingGroups")) {
            groups(b, own, doc, m);
        } else {
            grove_builder_link(b, own, doc, m);
        }
    }
    grove_builder_close(b);
}

static void spec(grove_builder *b, const char *key, grove_doc *doc, const grove_node *node) {
    with_member(b, key, doc, node, "template", template);
}

static grove_status at_most(grove_env *env, grove_doc *doc, grove_doc **out, grove_error *err) {
    grove_builder *b = NULL;
    grove_status status = grove_builder_new(env, &b);
    if (status == GROVE_OK) {
        with_member(b, NULL, doc, grove_doc_root(doc), "spec", spec);
        status = grove_builder_finish(b, out, err);
    }
    grove_builder_free(b);
    return status;
}

static grove_status put(grove_buf *out, const char *text) {
    return grove_buf_append(out, text, strlen(text));
}

static grove_status list(const grove_node *items, grove_buf *out) {
    grove_status status = GROVE_OK;
    for (const grove_node *m = grove_node_first(items); m && status == GROVE_OK;
         m = grove_node_next(items, m)) {
        const char *ns = grove_node_text(grove_node_at_path(m, "/metadata/namespace"));
        const char *parts[] = {io_member(m, "kind"), " ",        ns ? ns : "",
                               ns ? "/" : "",        io_name(m), "\n"};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == GROVE_OK; i++) {
            status = put(out, parts[i]);
        }
    }
    return status;
}

int names_of_set(grove_env *env, const io_object *object, grove_config *config, grove_buf *out) {
    grove_error err = GROVE_ERROR_INIT;
    grove_doc *stored = NULL, *most = NULL, *rendered = NULL;
    grove_validate_options options = {.size = (uint32_t)sizeof options, .config = config};
    if (strcmp(io_member(object->node, "kind"), "PodCliqueSet") != 0) {
        return EXIT_OK;
    }
    grove_status status = grove_default(env, object->doc, object->node, &options, NULL, &stored,
                                        &err);
    if (status == GROVE_OK) {
        status = at_most(env, stored, &most, &err);
    }
    if (status == GROVE_OK) {
        status = grove_render(env, most, grove_doc_root(most), config, NULL, 0, &rendered, &err);
    }
    if (status == GROVE_OK) {
        status = list(grove_node_get(grove_doc_root(rendered), "items"), out);
    }
    if (status < 0) {
        io_print_error(object->file, &err);
    }
    grove_doc_unref(rendered);
    grove_doc_unref(most);
    grove_doc_unref(stored);
    return status < 0 ? EXIT_USAGE : EXIT_OK;
}
