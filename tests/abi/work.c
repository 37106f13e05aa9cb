/* SPDX-License-Identifier: Apache-2.0 */
/* Some of the library's work, by functions found by name in a library that was opened by hand. */
#include "work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char set[] =
    "{\"apiVersion\":\"grove.io/v1alpha1\",\"kind\":\"PodCliqueSet\",\"metadata\":{\"name\":\"a\"},"
    "\"spec\":{\"replicas\":2,\"template\":{\"cliques\":[{\"name\":\"w\",\"spec\":{\"roleName\":"
    "\"w\","
    "\"replicas\":3,\"podSpec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}}";

/* The functions by their declared types: a changed signature fails to compile. */
typedef struct {
    __typeof__(grove_env_new) *env_new;
    __typeof__(grove_env_unref) *env_unref;
    __typeof__(grove_doc_parse_json) *parse;
    __typeof__(grove_doc_unref) *doc_unref;
    __typeof__(grove_doc_root) *root;
    __typeof__(grove_default) *fill;
    __typeof__(grove_validate) *validate;
    __typeof__(grove_diags_new) *diags_new;
    __typeof__(grove_diags_free) *diags_free;
    __typeof__(grove_render) *render;
    __typeof__(grove_node_hash) *hash;
} calls;

void *work_open(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
    }
    return library;
}

/* POSIX says that a symbol's address fits a function pointer; ISO C has no cast for it. */
static int find(void *library, const char *name, void *out, size_t size) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, size);
    return symbol != NULL;
}
#define FIND(member, name) find(library, name, &c->member, sizeof c->member)

static int bind_calls(void *library, calls *c) {
    return FIND(env_new, "grove_env_new") && FIND(env_unref, "grove_env_unref") &&
           FIND(parse, "grove_doc_parse_json") && FIND(doc_unref, "grove_doc_unref") &&
           FIND(root, "grove_doc_root") && FIND(fill, "grove_default") &&
           FIND(validate, "grove_validate") && FIND(diags_new, "grove_diags_new") &&
           FIND(diags_free, "grove_diags_free") && FIND(render, "grove_render") &&
           FIND(hash, "grove_node_hash");
}

static int through_the_layers(const calls *c, grove_env *env, uint64_t *out_hash) {
    grove_doc *doc = NULL, *stored = NULL, *list = NULL;
    grove_diags *found = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    int bad = c->parse(env, set, strlen(set), 0, &doc, &err) < 0 || c->diags_new(env, &found) < 0 ||
              c->fill(env, doc, c->root(doc), NULL, found, &stored, &err) < 0 ||
              c->validate(env, stored, c->root(stored), NULL, NULL, NULL, found, &verdict, &err) <
                  0 ||
              !verdict.allowed ||
              c->render(env, stored, c->root(stored), NULL, "default", 0, &list, &err) < 0 ||
              c->hash(c->root(list), out_hash, &err) < 0;
    if (bad) {
        fprintf(stderr, "%d: %s\n", (int)err.status, err.message);
    }
    c->doc_unref(list);
    c->doc_unref(stored);
    c->doc_unref(doc);
    c->diags_free(found);
    doc = NULL;
    return bad || c->parse(env, "{\"a\":", 5, 0, &doc, &err) != GROVE_E_PARSE || err.line != 1;
}

int work_do(void *library, uint64_t *out_hash) {
    calls c;
    grove_env *env = NULL;
    if (!bind_calls(library, &c) || c.env_new(NULL, &env) < 0) {
        fprintf(stderr, "a symbol is missing, or memory\n");
        return 1;
    }
    int bad = through_the_layers(&c, env, out_hash);
    c.env_unref(env);
    return bad;
}
