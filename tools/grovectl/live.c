/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a running cluster by lists. */
#include "live.h"

#include "verbs.h"

#include <stdio.h>
#include <string.h>

int live_option(live_access *access, const char *word, const char *value) {
    const char **place = strcmp(word, "--kubeconfig") == 0 ? &access->kubeconfig
                         : strcmp(word, "--context") == 0  ? &access->context
                                                           : NULL;
    if (place && value) {
        *place = value;
        access->asked = 1;
    }
    return place && value;
}

#ifdef GROVECTL_LIVE
#include "errand.h"

#include <grove/kinds.h>

#include <stdlib.h>

static const grove_kind looked_at[] = {GROVE_KIND_CLUSTERTOPOLOGYBINDING,
                                       GROVE_KIND_PRIORITYCLASS,
                                       GROVE_KIND_RESOURCECLAIMTEMPLATE,
                                       GROVE_KIND_PODCLIQUESET,
                                       GROVE_KIND_PODCLIQUESCALINGGROUP,
                                       GROVE_KIND_PODCLIQUE,
                                       GROVE_KIND_PODGANG,
                                       GROVE_KIND_NODE,
                                       GROVE_KIND_POD};

/* Items of a list do not say what they are: the list does. */
static grove_doc *whole_item(grove_env *env, grove_kind kind, grove_doc *list,
                             const grove_node *item) {
    char api[128];
    const char *group = grove_kind_group(kind);
    grove_builder *b = NULL;
    grove_doc *doc = NULL;
    (void)snprintf(api, sizeof api, "%s%s%s", group, group[0] ? "/" : "", grove_kind_version(kind));
    if (grove_builder_new(env, &b) < 0) {
        return NULL;
    }
    grove_builder_open_object(b, NULL);
    grove_builder_string(b, "apiVersion", api);
    grove_builder_string(b, "kind", grove_kind_name(kind));
    for (const grove_node *m = grove_node_first(item); m; m = grove_node_next(item, m)) {
        const char *key = grove_node_key(m, NULL);
        if (strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0) {
            grove_builder_link(b, key, list, m);
        }
    }
    grove_builder_close(b);
    (void)grove_builder_finish(b, &doc, NULL);
    grove_builder_free(b);
    return doc;
}

static int add(io_objects *objects, grove_doc *doc) {
    if (objects->n == objects->cap) {
        size_t cap = objects->cap ? objects->cap * 2 : 64;
        io_object *grown = realloc(objects->v, cap * sizeof *grown);
        if (!grown) {
            return EXIT_USAGE;
        }
        objects->v = grown;
        objects->cap = cap;
    }
    objects->v[objects->n] = (io_object){doc, grove_doc_root(doc), "cluster", (uint32_t)objects->n};
    objects->n++;
    return EXIT_OK;
}

static int read_kind(grove_env *env, errand *e, grove_kind kind, io_objects *objects) {
    grove_op op = {.verb = GROVE_VERB_LIST, .kind = kind};
    grove_status st = errand_ask(e, &op);
    if (st == GROVE_E_NOT_FOUND) {
        return EXIT_OK; /* the cluster has no such kind */
    }
    if (st < 0) {
        fprintf(stderr, "grovectl: %s: %s\n", grove_kind_plural(kind), e->message);
        return EXIT_USAGE;
    }
    const grove_node *items = grove_node_get(errand_answer(e), "items"), *item;
    for (item = grove_node_first(items); item; item = grove_node_next(items, item)) {
        grove_doc *doc = whole_item(env, kind, e->doc, item);
        if (!doc || add(objects, doc) != EXIT_OK) {
            grove_doc_unref(doc);
            fprintf(stderr, "grovectl: out of memory\n");
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

int live_read(grove_env *env, const live_access *access, io_objects *objects) {
    errand e;
    if (errand_begin(&e, "grovectl", access->kubeconfig, access->context) < 0) {
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < sizeof looked_at / sizeof *looked_at; i++) {
        code = read_kind(env, &e, looked_at[i], objects);
    }
    if (code == EXIT_OK && access->also != GROVE_KIND_NONE) {
        code = read_kind(env, &e, access->also, objects);
    }
    errand_end(&e);
    return code;
}
#else
int live_read(grove_env *env, const live_access *access, io_objects *objects) {
    (void)env;
    (void)access;
    (void)objects;
    fprintf(stderr, "grovectl: built without the Kubernetes backend\n");
    return EXIT_USAGE;
}
#endif

int live_or_file(grove_env *env, const live_access *access, const char *path, io_objects *objects) {
    return access->asked ? live_read(env, access, objects) : io_read_objects(env, path, 0, objects);
}
