/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a manifest to everything that comes of it, without a cluster: validate, default, render.
 *
 *     plan_offline set.yaml
 */
#include <stdio.h>
#include <stdlib.h>

#include <grove/grove.h>

static char *read_file(const char *path, size_t *out_len) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        return NULL;
    }
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    *out_len = text ? fread(text, 1, (size_t)size, f) : 0;
    fclose(f);
    return text;
}

static int fail(const char *what, const grove_error *err) {
    fprintf(stderr, "%s: %s%s%s\n", what, err->path, err->path[0] ? ": " : "", err->message);
    return 1;
}

/* Prints the findings; returns whether a cluster would take the object. */
static int allowed(grove_env *env, grove_doc *doc) {
    grove_diags *found = NULL;
    grove_error err = GROVE_ERROR_INIT;
    grove_admission_verdict verdict = GROVE_ADMISSION_VERDICT_INIT;
    if (grove_diags_new(env, &found) < 0 || grove_validate(env, doc, grove_doc_root(doc), NULL,
                                                           NULL, NULL, found, &verdict, &err) < 0) {
        fail("validate", &err);
    }
    for (uint32_t i = 0; found && i < grove_diags_count(found); i++) {
        const grove_diag *d = grove_diags_at(found, i);
        fprintf(stderr, "%u:%u: GRV%04u %s: %s\n", d->line, d->column, d->code, d->path,
                d->message);
    }
    grove_diags_free(found);
    return verdict.allowed;
}

static void print_children(const grove_node *list) {
    const grove_node *items = grove_node_get(list, "items");
    for (const grove_node *o = grove_node_first(items); o; o = grove_node_next(items, o)) {
        printf("%-24s %s\n", grove_node_text(grove_node_get(o, "kind")),
               grove_node_text(grove_node_at_path(o, "/metadata/name")));
    }
}

int main(int argc, char **argv) {
    size_t len = 0;
    char *text = argc == 2 ? read_file(argv[1], &len) : NULL;
    if (!text) {
        fprintf(stderr, "usage: plan_offline set.yaml\n");
        return 2;
    }
    grove_env *env = NULL;
    grove_doc *doc = NULL, *stored = NULL, *list = NULL;
    grove_error err = GROVE_ERROR_INIT;
    int status = 1;
    if (grove_env_new(NULL, &env) < 0 ||
        grove_doc_parse_yaml(env, text, len, GROVE_PARSE_STRICT, &doc, &err) < 0) {
        fail(argv[1], &err);
    } else if (allowed(env, doc)) {
        if (grove_default(env, doc, grove_doc_root(doc), NULL, NULL, &stored, &err) < 0 ||
            grove_render(env, stored, grove_doc_root(stored), NULL, NULL, 0, &list, &err) < 0) {
            fail("render", &err);
        } else {
            print_children(grove_doc_root(list));
            status = 0;
        }
    }
    grove_doc_unref(list);
    grove_doc_unref(stored);
    grove_doc_unref(doc);
    grove_env_unref(env);
    free(text);
    return status;
}
